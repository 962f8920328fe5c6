#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""noise-off on described machines."""

import json
import os
import stat

import hugepages
import machine
from machine import Setter, Skip, check, equal

NOISE_OFF = os.environ['NOISE_OFF']
CPU = 'sys/devices/system/cpu'
KERNEL = 'proc/sys/kernel'
MM = 'sys/kernel/mm'
THP = f'{MM}/transparent_hugepage'
WORKQUEUE = 'sys/devices/virtual/workqueue'
NAMES = ('workqueue', 'writeback', 'watchdog_cpumask', 'pm_qos', 'nmi_watchdog', 'soft_watchdog',
         'timer_migration', 'stat_interval', 'numa_balancing', 'ksm', 'thp', 'perf_cpu_percent',
         'perf_sample_rate', 'rt_runtime', 'aslr', 'swap')

# What apply without -c changes, by machine: the kernel's own noise that concerns no CPU. Choices are
# as the kernel shows them.
MACHINE_WIDE = {
    'intel-hybrid': {
        f'{KERNEL}/nmi_watchdog': '0',
        f'{KERNEL}/timer_migration': '0',
        f'{KERNEL}/perf_cpu_time_max_percent': '25',
        f'{KERNEL}/perf_event_max_sample_rate': '1',
        'proc/sys/vm/stat_interval': '120',
        f'{THP}/enabled': 'always [madvise] never',
    },
    'amd-smt': {
        f'{KERNEL}/nmi_watchdog': '0',
        f'{KERNEL}/timer_migration': '0',
        f'{KERNEL}/perf_event_max_sample_rate': '1',
        'proc/sys/vm/stat_interval': '120',
        f'{MM}/ksm/run': '0',
        f'{THP}/enabled': 'always [madvise] never',
        f'{THP}/defrag': 'always defer defer+madvise [madvise] never',
        # The page size that follows `enabled` does not change, nor the size that is off.
        f'{THP}/hugepages-64kB/enabled': 'always inherit [madvise] never',
    },
    'arm-nosmt': {
        f'{KERNEL}/timer_migration': '0',
        f'{KERNEL}/perf_event_max_sample_rate': '1',
        'proc/sys/vm/stat_interval': '120',
        f'{THP}/defrag': 'always defer defer+madvise [madvise] never',
    },
    # All is as quiet as we would make it, or quieter: 300 seconds, `never`, and KSM at 2.
    'isolated': {},
    'vm-plain': {
        f'{KERNEL}/timer_migration': '0',
        f'{KERNEL}/perf_event_max_sample_rate': '1',
        'proc/sys/vm/stat_interval': '120',
    },
    's390-gaps': {
        f'{KERNEL}/timer_migration': '0',
        f'{KERNEL}/perf_event_max_sample_rate': '1',
        'proc/sys/vm/stat_interval': '120',
    },
    'old-kernel': {},
    'noisy-server': {
        f'{KERNEL}/nmi_watchdog': '0',
        f'{KERNEL}/timer_migration': '0',
        f'{KERNEL}/numa_balancing': '0',
        f'{KERNEL}/perf_cpu_time_max_percent': '25',
        f'{KERNEL}/perf_event_max_sample_rate': '1',
        'proc/sys/vm/stat_interval': '120',
        f'{MM}/ksm/run': '0',
        f'{THP}/enabled': 'always [madvise] never',
        f'{THP}/defrag': 'always defer defer+madvise [madvise] never',
    },
}


def masks(workqueue, writeback, watchdog):
    return {
        f'{WORKQUEUE}/cpumask': workqueue,
        f'{WORKQUEUE}/writeback/cpumask': writeback,
        f'{KERNEL}/watchdog_cpumask': watchdog,
    }


def latency(**cpus):
    return {f'{CPU}/{cpu}/power/pm_qos_resume_latency_us': text for cpu, text in cpus.items()}


# What changes besides with -c, by (machine, LIST).
WITH_CPUS = {
    ('intel-hybrid', '3'): masks('ff7', 'ff7', '0-2,4-11') | latency(cpu3='1'),
    # Leaving a halt takes an efficiency core longer.
    ('intel-hybrid', '7-8'): masks('e7f', 'e7f', '0-6,9-11') | latency(cpu7='1', cpu8='2'),
    ('intel-hybrid', '1-11'): masks('001', '001', '0') | latency(
        **{f'cpu{n}': '1' if n < 8 else '2' for n in range(1, 12)}),
    ('amd-smt', '2,10'): masks('fbfb', 'fbfb', '0-1,3-9,11-15') | latency(cpu2='1', cpu10='1'),
    ('amd-smt', '15'): masks('7fff', '7fff', '0-14') | latency(cpu15='1'),
    # The large cores have no halt that is fast enough, so they are to poll.
    ('arm-nosmt', '3-4'): masks('e7', 'e7', '0-2,5-7') | latency(cpu3='1', cpu4='n/a'),
    # Somebody else has kept the work from these CPUs already, and set limits that are as tight.
    ('isolated', '2-3'): {},
    # A quiet CPU gets no work: of 0-1 only CPU 0 remains.
    ('isolated', '1'): masks('1', '1', '0') | latency(cpu1='2'),
    # The hypervisor puts CPUs to sleep, so there is nothing to limit.
    ('vm-plain', '1'): masks('1', '1', '0'),
    # CPUs that are offline stay in the masks.
    ('s390-gaps', '4,9'): masks('ffffffff,fffffdef', 'ffffffff,fffffdef', '0-3,5-8,10-63'),
    ('old-kernel', '3'): {},
    # CPU 1 and node 1 are out already, and stay out.
    ('noisy-server', '4,40'): masks('ff,fffffeff,ffffffed', '00,003ffef0,0003ffef',
                                    '0-3,5-39,41-71') | latency(cpu4='2', cpu40='2'),
    ('noisy-server', '31-32,63-64'): masks('fe,7ffffffe,7ffffffd', '00,003ffff0,0003ffff',
                                           '0-30,33-62,65-71') | latency(
        cpu31='2', cpu32='2', cpu63='2', cpu64='2'),
    # All CPUs of the writeback mask are to be quiet: the mask gets all other CPUs.
    ('noisy-server', '0-17,36-53'): masks('ff,ffc0000f,fffc0000', 'ff,ffc0000f,fffc0000',
                                          '18-35,54-71') | latency(
        **{f'cpu{n}': '2' for n in (*range(18), *range(36, 54))}),
}


def expected(name, cpus):
    changes = {**MACHINE_WIDE[name], **(WITH_CPUS[name, cpus] if cpus else {})}
    # A mask that would not change is not written.
    with machine.Machine(name) as box:
        return {path: text for path, text in changes.items()
                if (box.root / path).read_text() != f'{text}\n'}


def test_cycle(name, cpus):
    with Setter(NOISE_OFF, name) as setter:
        out = setter.cycle(*(['-c', cpus] if cpus else []), changes=expected(name, cpus))
    for line in out['apply'].splitlines():
        check(len(line) <= 80 or name == 'noisy-server', f'wider than 80 columns: {line}')


def test_described():
    """Each machine goes through its cycle, also one that is added later and that these tests do not
    know."""
    for name in machine.machines():
        with Setter(NOISE_OFF, name) as setter:
            before = setter.snapshot()
            setter.succeed('apply')
            setter.succeed('apply', '--except', 'thp')
            setter.succeed('restore')
            setter.same(before, f'restore on {name} left')


def knobs(setter, *arguments, **options):
    return json.loads(setter.succeed(*arguments, '--json', **options))['knobs']


def words(setter, *arguments, **options):
    return {knob['knob']: knob['state'] for knob in knobs(setter, *arguments, **options)}


GOLDEN = '''\
KNOB             CPUS WANTED        NOW           ORIGINAL STATE   WHY
workqueue             0-1,3-9,11-15 0-1,3-9,11-15 0-15     applied
writeback             0-1,3-9,11-15 0-1,3-9,11-15 0-15     applied
watchdog_cpumask      0-1,3-9,11-15 0-1,3-9,11-15 0-15     applied
pm_qos           2,10 1             1             0        applied
nmi_watchdog          0             0             1        applied
timer_migration       0             0             1        applied
stat_interval         120           120           1        applied
numa_balancing        0             0             1        applied
ksm                   0             0             1        applied
thp                   madvise       madvise       always   applied
thp defrag            madvise       madvise       defer    applied
perf_cpu_percent      25            25            100      applied
perf_sample_rate      1             1             100000   applied events with a
                                                                   period: one a
                                                                   tick
aslr                                2                      -       left on

`noise-off restore` puts this back.
'''


def test_table():
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        setter.box.write(f'{KERNEL}/osrelease', '6.8.12\n')
        setter.box.write(f'{KERNEL}/numa_balancing', '1\n')
        setter.box.write(f'{KERNEL}/perf_cpu_time_max_percent', '100\n')
        setter.box.write(f'{THP}/defrag', 'always [defer] defer+madvise madvise never\n')
        setter.box.write(f'{THP}/hugepages-64kB/enabled', 'always [inherit] madvise never\n')
        table = setter.succeed('-c', '2,10')
        equal([line.rstrip() for line in table.splitlines()], GOLDEN.splitlines(), 'table')
        check('puts this back' not in setter.succeed('status', '-c', '2,10'), 'status')


def test_list():
    with Setter(NOISE_OFF, 'vm-plain') as setter:
        text = setter.succeed('list', user=True)
        rows = json.loads(setter.succeed('list', '--json'))['noise']
        equal(setter.left_over(), [], 'list left in /run/quiesce')
        equal(setter.run('list', 'thp').returncode, 2, 'list with a word too many')
    equal(tuple(row['name'] for row in rows), NAMES, 'names in JSON')
    lines = text.splitlines()
    equal(tuple(line.split()[0] for line in lines[1:]), NAMES, 'names')
    check(all(len(line) <= 80 for line in lines), f'wider than 80 columns:\n{text}')
    for row in rows:
        check(row['why'] and row['turned'] in ('always', 'with -c', 'if named', 'shown'), row)


def test_only():
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        setter.cycle('--only', 'ksm,timer_migration', changes={
            f'{MM}/ksm/run': '0', f'{KERNEL}/timer_migration': '0'})
        equal(list(words(setter, 'status', '--only', 'ksm,timer_migration')),
              ['timer_migration', 'ksm'], 'rows')
        # With a mask as well, and again with a name that is there twice.
        setter.cycle('-c', '5', '--only', 'workqueue,ksm,workqueue', changes={
            f'{MM}/ksm/run': '0', f'{WORKQUEUE}/cpumask': 'ffdf'})


def test_except():
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        changes = dict(MACHINE_WIDE['amd-smt'])
        del changes[f'{MM}/ksm/run'], changes[f'{KERNEL}/nmi_watchdog']
        out = setter.cycle('--except', 'ksm', '--except', 'nmi_watchdog,aslr', changes=changes)
        for name in ('ksm', 'nmi_watchdog', 'aslr'):
            check(name not in out['status'], f'{name} is shown:\n{out["status"]}')


def test_if_named():
    """Knobs that cost more than the noise is worth are turned only if they are named."""
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        setter.box.write(f'{KERNEL}/osrelease', '6.11.0\n')
        setter.cycle('--with', 'rt_runtime,soft_watchdog', changes={
            **MACHINE_WIDE['amd-smt'],
            f'{KERNEL}/sched_rt_runtime_us': '-1',
            f'{KERNEL}/soft_watchdog': '0',
        })
        for arguments in (['--only', 'aslr'], ['--aslr=off', '--only', 'aslr']):
            setter.cycle(*arguments, changes={f'{KERNEL}/randomize_va_space': '0'})
        setter.cycle('--aslr', 'off', changes={
            **MACHINE_WIDE['amd-smt'], f'{KERNEL}/randomize_va_space': '0'})
        setter.cycle('--aslr', 'keep', changes=MACHINE_WIDE['amd-smt'])


def test_kernels():
    """Where a knob does not do what it did on older kernels, its row says what disturbs all the same."""
    fair = 'sys/kernel/debug/sched/fair_server'
    for release, isolated, timers in (('6.8.1', '', None), ('6.9.0', '', 'timers of idle CPUs still come'),
                                      ('7.0.1', '', 'timers of idle CPUs still come'), ('7.0.1', '2', None)):
        with Setter(NOISE_OFF, 'amd-smt') as setter:
            setter.box.write(f'{KERNEL}/osrelease', f'{release}\n')
            setter.box.write(f'{CPU}/isolated', f'{isolated}\n')
            for verb in 'apply', 'status':
                row, = knobs(setter, verb, '-c', '2', '--only', 'timer_migration')
                equal((row['state'], row['now']), ('applied', '0'), release)
                check(timers in row['why'] if timers else row['why'] is None, f'{release}: {row}')
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        setter.box.write(f'{KERNEL}/osrelease', '6.12.48\n')
        row, = knobs(setter, 'apply', '-c', '2', '--only', 'stat_interval')
        equal(row['why'], None, 'a knob that works on all kernels')
        result = setter.run('--only', 'rt_runtime', '-c', '2', '--json')
        equal(result.returncode, 3, result.stderr)
        row, = json.loads(result.stdout)['knobs']
        check(row['state'] == 'unavailable' and '5 %' in row['why'], row)
        setter.succeed('restore')
        for cpu in range(16):
            setter.box.write(f'{fair}/cpu{cpu}/runtime', '50000000\n')
        setter.cycle('--with', 'rt_runtime', '-c', '2,10', changes={
            **expected('amd-smt', '2,10'), f'{fair}/cpu2/runtime': '0', f'{fair}/cpu10/runtime': '0'})


def test_layouts():
    """A value of randomize_va_space that is not the default is put back, too. Without aslr the
    value is only shown."""
    for value in ('0', '1', '2'):
        with Setter(NOISE_OFF, 'amd-smt') as setter:
            setter.box.write(f'{KERNEL}/randomize_va_space', f'{value}\n')
            row = next(k for k in knobs(setter, 'status') if k['knob'] == 'aslr')
            equal((row['now'], row['wanted'], row['state']), (value, None, None), 'aslr')
            setter.cycle('--aslr=off', '--only', 'aslr', changes={
                f'{KERNEL}/randomize_va_space': '0'})


def test_status_of_more():
    """status without options shows what an earlier apply was asked for."""
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        setter.succeed('-c', '2-3', '--aslr=off')
        shown = {(k['knob'], k['cpu']): k['state'] for k in knobs(setter, 'status')}
        for key in (('aslr', None), ('workqueue', None), ('pm_qos', 2), ('pm_qos', 3)):
            equal(shown.get(key), 'applied', f'{key} in the status')
        check('pm_qos           2-3' in setter.succeed('status', user=True), 'CPUs of pm_qos')


def test_wrong_use():
    cases = (
        (['--only', 'kms'], "there is no 'kms' (did you mean ksm?); there are"),
        (['--except', 'ksm,'], "there is no ''"),
        (['--with', 'KSM'], "there is no 'KSM'"),
        (['--only', 'ksm', '--except', 'thp'], 'exclude each other'),
        (['--with', 'ksm', '--except', 'ksm'], 'ksm is both'),
        (['--aslr=off', '--except', 'aslr'], 'aslr is both'),
        (['--aslr=off', '--aslr=keep'], 'aslr is both'),
        (['--aslr=keep', '--with', 'aslr'], 'aslr is both'),
        (['--aslr=on'], "'on' is neither off nor keep"),
        (['--aslr'], 'needs a value'),
        (['--only', 'workqueue'], 'workqueue needs -c LIST'),
        (['--with', 'pm_qos'], 'pm_qos needs -c LIST'),
        (['-c', '0-15'], 'names all CPUs that are online'),
        (['-c', '16'], 'CPU 16 does not exist'),
        (['-c', 'x'], 'is not a CPU list'),
        (['madvise'], 'no verb'),
        (['--force'], '--force is for restore'),
        (['list', '--dry-run'], '--dry-run is for apply'),
        (['list', '-v'], '--verbose is for apply, status and restore'),
    )
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        before = setter.snapshot()
        for arguments, message in cases:
            result = setter.run(*arguments)
            equal((result.returncode, result.stdout), (2, ''), f'{arguments}: {result.stderr}')
            check(message in result.stderr, f'{arguments}: {result.stderr}')
            equal(result.stderr.count('\n'), 1, f'lines for {arguments}')
        result = setter.run('--only', 'ksm,nosuch')
        check(all(name in result.stderr for name in NAMES), f'names are missing: {result.stderr}')
        setter.same(before, 'wrong use changed')
        equal(setter.left_over(), [], 'wrong use left')


def test_last_cpus():
    """A CPU that is offline does no housekeeping; idle CPUs may be limited all the same."""
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        setter.box.write(f'{CPU}/online', '0-13\n')
        setter.box.write(f'{CPU}/offline', '14-15\n')
        result = setter.run('-c', '0-13')
        equal(result.returncode, 2, 'exit status')
        setter.succeed('-c', '0-13', '--dry-run', '--only', 'pm_qos')
        # Offline CPUs get no work either.
        for path in ('cpumask', 'writeback/cpumask'):
            setter.box.write(f'{WORKQUEUE}/{path}', 'c001\n')
        setter.cycle('-c', '0', '--only', 'workqueue,writeback', changes={
            f'{WORKQUEUE}/cpumask': 'fffe', f'{WORKQUEUE}/writeback/cpumask': 'fffe'})


def test_halt_without_latency():
    """Some firmware says that a halt takes no time. A limit of 0 would mean no limit, and `n/a`
    would mean polling."""
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        setter.box.write(f'{CPU}/cpu2/cpuidle/state1/latency', '0\n')
        setter.cycle('-c', '2', '--only', 'pm_qos', changes=latency(cpu2='1'))


def test_more_cpus_later():
    """A second apply adds CPUs to the quiet ones, and restore puts back the settings of all."""
    with Setter(NOISE_OFF, 'intel-hybrid') as setter:
        before = setter.snapshot()
        setter.succeed('-c', '3')
        setter.succeed('-c', '7')
        for path, text in (masks('f77', 'f77', '0-2,4-6,8-11')
                           | latency(cpu3='1', cpu7='1')).items():
            equal((setter.box.root / path).read_text(), f'{text}\n', path)
        setter.succeed('restore')
        setter.same(before, 'restore left')


def test_requested():
    """From 6.12 on the requested mask counts, and the CPUs of isolated partitions are not in the mask
    that is written."""
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        setter.box.remove(f'{WORKQUEUE}/cpumask_requested')
        setter.box.write(f'{WORKQUEUE}/cpumask_requested', '7fff\n')
        setter.box.write(f'{WORKQUEUE}/cpumask', '7f0f\n')
        setter.box.write(f'{WORKQUEUE}/cpumask_isolated', '00f0\n')
        row = knobs(setter, 'apply', '--dry-run', '-c', '2', '--only', 'workqueue')[0]
        equal((row['now'], row['wanted']), ('7fff', '7f0b'), 'now and wanted')
        # All other CPUs are isolated: the mask gets them, because it must not be empty.
        setter.box.write(f'{WORKQUEUE}/cpumask_isolated', 'fffb\n')
        row = knobs(setter, 'apply', '--dry-run', '-c', '2', '--only', 'workqueue')[0]
        equal(row['wanted'], '7ffb', 'wanted')


def test_foreign():
    """A value that somebody else has changed stays and is reported; --force overwrites it."""
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        before = setter.snapshot()
        setter.succeed('-c', '2')
        setter.box.write('proc/sys/vm/stat_interval', '30\n')
        setter.box.write(f'{WORKQUEUE}/cpumask', '000f\n')
        setter.box.write(f'{THP}/enabled', 'always madvise [never]\n')
        shown = setter.succeed('status', '-c', '2', '--json')
        check(shown.count('changed by somebody else') == 3, shown)
        result = setter.run('restore')
        for name, text in (('stat_interval', 'stays at 30:'), ('workqueue', 'stays at 000f:'),
                           ('thp', 'stays at always madvise [never]:')):
            check(any(line.startswith(f'noise-off: {name} ') and text in line
                      for line in result.stderr.splitlines()), f'{name}: {result.stderr}')
        equal(result.stderr.count('\n'), 3, 'lines')
        left = {**before, 'proc/sys/vm/stat_interval': b'30\n', f'{WORKQUEUE}/cpumask': b'000f\n',
                f'{THP}/enabled': b'always madvise [never]\n'}
        setter.same(left, 'restore (wanted, got)')
        setter.succeed('restore', '--force')
        setter.same(before, 'restore --force left')
        equal(setter.left_over(), [], 'in /run/quiesce')


def test_lowered():
    """The kernel lowers the sample rate of perf by itself, which is nobody's change."""
    with Setter(NOISE_OFF, 'noisy-server') as setter:
        before = setter.snapshot()
        rate = f'{KERNEL}/perf_event_max_sample_rate'
        setter.succeed('--only', 'perf_cpu_percent')
        equal((setter.box.root / rate).read_text(), '100000\n', 'rate')
        setter.box.write(rate, '63000\n')
        check('somebody' not in setter.succeed('status', '--only', 'perf_cpu_percent', '-v'),
              'status takes it for a foreign change')
        equal(setter.run('restore').stderr, '', 'restore said')
        setter.same(before, 'restore left')
        # A higher rate is somebody's change, and stays.
        setter.succeed('--only', 'perf_cpu_percent')
        setter.box.write(rate, '200000\n')
        setter.succeed('restore')
        setter.same({**before, rate: b'200000\n'}, 'restore (wanted, got)')
        setter.succeed()
        setter.box.write(rate, '50000\n')
        check('stays at 50000' in setter.run('restore').stderr, 'not said')


def test_perf_order():
    """The kernel takes a rate only while the percentage is neither 0 nor 100: it is set after that
    and put back before."""
    with Setter(NOISE_OFF, 'intel-hybrid') as setter:
        setter.succeed('--only', 'perf_sample_rate,perf_cpu_percent')
        order = [line.split('\t')[4] for line in setter.journal.decode().splitlines()
                 if line.startswith('knob')]
        equal(order, [f'/{KERNEL}/perf_cpu_time_max_percent',
                      f'/{KERNEL}/perf_event_max_sample_rate'], 'order')
        rows = json.loads(setter.succeed('restore', '--json'))['knobs']
        equal([row['knob'] for row in rows], ['perf_sample_rate', 'perf_cpu_percent'], 'order')
        result = setter.run('--only', 'perf_sample_rate')
        equal(result.returncode, 2, 'exit status for the rate alone')
        check('together with perf_cpu_percent' in result.stderr, result.stderr)
        equal(words(setter, 'apply', '--except', 'perf_cpu_percent')['perf_sample_rate'], 'denied',
              'the rate without the percentage')
        setter.succeed('restore')


def test_min_free():
    """The kernel raises vm.min_free_kbytes when huge pages are switched, and leaves it so."""
    path, chosen = 'proc/sys/vm/min_free_kbytes', 20000

    def call(*arguments):
        result = setter.run_with_kernel('hugepages.py', *arguments)
        equal(result.returncode, 0, f'{arguments}: {result.stderr}')
        return result.stdout + result.stderr

    with Setter(NOISE_OFF, 'small-smt') as setter:
        setter.box.write(path, f'{chosen}\n')
        before = setter.snapshot()
        check('min_free' not in call(), 'it is in the table')
        equal((setter.box.root / path).read_text(), f'{hugepages.RECOMMENDED}\n', 'what the kernel made of it')
        call('--except', 'thp')
        equal(call('restore'), '', 'restore said')
        setter.same(before, 'restore left')
        call()
        setter.box.write(path, '30000\n')
        check('stays at 30000' in call('restore'), 'not said that somebody else has changed it')
        setter.same({**before, path: b'30000\n'}, 'restore (wanted, got)')
        call('restore', '--force')
        setter.same(before, 'restore --force left')


def test_ksm_2():
    with Setter(NOISE_OFF, 'isolated') as setter:
        row = next(k for k in knobs(setter, 'apply') if k['knob'] == 'ksm')
        equal((row['now'], row['state']), ('2', 'already'), 'KSM at 2')
        setter.succeed('restore')


def preload():
    """swapon() and swapoff() of the described machine, see swaps.c."""
    return {'LD_PRELOAD': os.environ['SWAPS'], **machine.asan_environment()}


def areas(setter):
    """[(path, priority)] of /proc/swaps, in its order."""
    lines = (setter.box.root / 'proc/swaps').read_text().splitlines()[1:]
    return [(line.split()[0], int(line.split()[4])) for line in lines]


def test_swap_off():
    """Swap is switched off only if it is named, and on again with the same order and priorities."""
    with Setter(NOISE_OFF, 'noisy-server') as setter:
        swaps = (setter.box.root / 'proc/swaps').read_text() + '/dev/zram0 partition 4194300 0 100\n'
        setter.box.write('proc/swaps', swaps)
        setter.box.write('proc/meminfo', 'MemTotal: 9000000 kB\nMemFree: 1 kB\nMemAvailable: 90000 kB\n')
        before = dict(areas(setter))
        off = ['--only', 'swap']
        dry = words(setter, '--dry-run', *off, env=preload())
        equal(set(dry), {'swap /dev/zram0', 'swap /dev/dm-1', 'swap /swap file'}, 'dry run')
        equal(dict(areas(setter)), before, 'after a dry run')
        got = words(setter, *off, env=preload())
        equal(got, {'swap /dev/zram0': 'applied', 'swap /dev/dm-1': 'applied',
                    'swap /swap file': 'applied'}, 'words')
        equal(areas(setter), [], 'areas')
        equal(words(setter, *off, env=preload()), got, 'again')
        equal(words(setter, 'status'), {**words(setter, 'status'), **got}, 'status')
        setter.succeed('restore', env=preload())
        equal(dict(areas(setter)), before, 'after restore')
        equal((setter.run_directory / 'swapon').read_text(),
              '/dev/zram0 0x8064\n/dev/dm-1 0\n/swap file 0\n', 'what swapon() was told')
        equal(setter.left_over(), [], 'left over')
        # One area cannot be switched off: the other areas are switched on again.
        for stuck in ('/dev/zram0', '/dev/dm-1', '/swap file'):
            result = setter.run(*off, env={**preload(), 'TEST_SWAP_STUCK': stuck})
            equal(result.returncode, 1, result.stderr)
            check(f'cannot set swap {stuck} to off' in result.stderr, result.stderr)
            equal(dict(areas(setter)), before, 'after a failure')
            equal(setter.left_over(), [], 'left over')
        # Where it cannot be read how they discard, they could not be put on again as they were.
        without = {**preload(), 'TEST_FSTAB': '/no/fstab'}
        equal(words(setter, '--dry-run', *off, env=without), dry, 'without fstab')
        refused = {**preload(), 'TEST_FSTAB': '/'}
        result = setter.run(*off, '--json', env=refused)
        equal((result.returncode, {k['knob']: k['state'] for k in json.loads(result.stdout)['knobs']}),
              (3, {name: 'denied' for name in dry}), 'fstab')
        equal(dict(areas(setter)), before, 'after an fstab that cannot be read')
        # Too little memory: said before anything is touched.
        setter.box.write('proc/swaps', swaps)
        setter.box.write('proc/meminfo', 'MemTotal: 9000000 kB\nMemFree: 1 kB\nMemAvailable: 70000 kB\n')
        result = setter.run(*off, env=preload())
        equal((result.returncode, result.stdout), (1, ''), result.stderr)
        check('13 MiB are swapped out' in result.stderr and result.stderr.count('\n') == 1,
              result.stderr)
        equal(dict(areas(setter)), before, 'without memory')
    with Setter(NOISE_OFF, 'vm-plain') as setter:
        equal(words(setter, *off, env=preload()), {'swap': 'already'}, 'none')


def test_unreadable_swap():
    """A list of swap areas that cannot be read is no machine without swap."""
    with Setter(NOISE_OFF, 'vm-plain') as setter:
        setter.box.write('proc/swaps', '/swap file 4096 0 -2\n' * (1 << 16))
        result = setter.run('--only', 'swap', env=preload())
        equal((result.returncode, result.stdout), (1, ''), result.stderr)
        check('File too large' in result.stderr, result.stderr)


def test_swap():
    with Setter(NOISE_OFF, 'noisy-server') as setter:
        row = next(k for k in knobs(setter, 'status') if k['knob'] == 'swap')
        equal((row['now'], row['state']), ('13 of 9215 MiB', None), 'swap')
        setter.box.write('proc/swaps', 'Filename Type Size Used Priority\n')
        check('swap' not in words(setter, 'status'), 'a machine without swap shows some')


# A root directory with all that is in the real one, but not the mark of a container.
BARE_ROOT = ('root=$(mktemp -d) && mount -t tmpfs none "$root" && for entry in /*; do '
             'if [ -L "$entry" ]; then cp -P "$entry" "$root$entry"; '
             'elif [ -d "$entry" ]; then mkdir "$root$entry" && '
             'mount --rbind "$entry" "$root$entry"; fi || exit 77; done && '
             'exec chroot "$root" "$@"')
READ_ONLY = ('mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys && '
             'exec "$@"')


def run_read_only(setter, *arguments, bare=False):
    """On the machine, but with /proc/sys as a container's manager or a unit's hardening has it;
    `bare` hides that the test itself runs in a container."""
    setter.note_choices()
    command = ['sh', '-c', READ_ONLY, 'sh', NOISE_OFF, *arguments]
    if bare and os.path.exists('/.dockerenv'):
        command = ['sh', '-c', BARE_ROOT, 'sh', *command]
    result = setter.box.run(*command, root=True)
    setter.render_choices()
    return result


def test_size_without_switch():
    """A size of huge pages that only shared memory can have is no knob, and no failure of --strict."""
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        setter.box.write(f'{THP}/hugepages-8kB/shmem_enabled', 'always inherit [never]\n')
        before = setter.snapshot()
        check('8kB' not in setter.succeed('--strict', '--only', 'thp', '-v'), 'a row for 8kB')
        setter.succeed('restore')
        setter.same(before, 'restore left')


def test_container():
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        setter.box.write('run/systemd/container', 'docker\n')
        before = setter.snapshot()
        result = run_read_only(setter, '-c', '2', '--json')
        equal((result.returncode, result.stderr), (0, ''), 'apply in a container')
        rows = {k['knob']: k for k in json.loads(result.stdout)['knobs']}
        for name in ('watchdog_cpumask', 'nmi_watchdog', 'timer_migration', 'stat_interval',
                     'perf_sample_rate'):
            equal((rows[name]['state'], rows[name]['why']),
                  ('host-controlled', 'closed by docker'), name)
            check(rows[name]['now'] is not None, f'{name} is not shown')
        # Knobs that can be written are turned.
        equal((rows['ksm']['state'], rows['workqueue']['state']), ('applied', 'applied'), 'open')
        setter.succeed('restore')
        # A closed one that has the value is as wanted: so is nmi_watchdog on a kernel without that watchdog.
        setter.box.write(f'{KERNEL}/nmi_watchdog', '0\n')
        before = setter.snapshot()
        result = run_read_only(setter, '-c', '2', '--json')
        rows = {k['knob']: k for k in json.loads(result.stdout)['knobs']}
        equal(rows['nmi_watchdog']['state'], 'already', 'nmi_watchdog, which is 0')
        setter.succeed('restore')
        setter.same(before, 'restore left')
        # Nothing at all of what was named can be turned.
        result = run_read_only(setter, '--only', 'stat_interval')
        equal(result.returncode, 3, 'nothing to turn')
        check('nothing to do' in result.stderr, result.stderr)
        equal(run_read_only(setter, '--only', 'stat_interval', '--strict').returncode, 1,
              'nothing to turn, strictly')


def test_read_only():
    """Read-only without a container: each knob is refused by itself, and a refused knob that was named
    is a failure, which leaves nothing behind."""
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        before = setter.snapshot()
        result = run_read_only(setter, '--json', bare=True)
        equal(result.returncode, 0, 'exit status')
        if 'closed by' in result.stdout:
            raise Skip('this machine is a container, and says so')
        rows = {k['knob']: k for k in json.loads(result.stdout)['knobs']}
        equal((rows['timer_migration']['state'], rows['timer_migration']['why'],
               rows['ksm']['state']), ('denied', 'Read-only file system', 'applied'), 'states')
        setter.succeed('restore')
        setter.same(before, 'restore left')
        for status, *arguments in ((3, '--with', 'timer_migration'), (3, '--strict=refused'),
                                   (1, '--strict')):
            result = run_read_only(setter, *arguments, bare=True)
            equal(result.returncode, status, f'exit status of {arguments}')
            check('Read-only file system' in result.stderr, result.stderr)
            setter.same(before, f'{arguments} left')
            equal(setter.left_over(), [], f'{arguments} left')


def test_not_root():
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        before = setter.snapshot()
        for verb in ('apply', 'restore'):
            result = setter.run(verb, user=True)
            equal((result.returncode, result.stdout, result.stderr.count('\n')), (1, '', 1), verb)
            check('needs root' in result.stderr, result.stderr)
        setter.same(before, 'an ordinary user changed')


def test_unreadable():
    """A knob that is there and cannot be read is denied, not unavailable."""
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        path = setter.box.root / KERNEL / 'numa_balancing'
        # The helper reads all files, too, which only root can then.
        if os.geteuid() == 0:
            path.chmod(stat.S_IWUSR)
            shown = json.loads(setter.succeed('status', '--json', user=True))['knobs']
            equal({k['knob']: k['state'] for k in shown}['numa_balancing'], 'denied', 'state')
            path.chmod(0o644)
        setter.box.remove(f'{KERNEL}/numa_balancing')
        equal(words(setter, 'status')['numa_balancing'], 'unavailable', 'state')


def test_odd_idle_states():
    """If only the polling state, or no idle state at all, can be read, there may still be a halt state: a CPU
    that polls instead would heat its package."""
    for state in ('state1', 'state0'):
        with Setter(NOISE_OFF, 'amd-smt') as setter:
            setter.box.write(f'{CPU}/cpu2/power/pm_qos_resume_latency_us', '100\n')
            setter.box.write(f'{CPU}/cpu2/cpuidle/{state}/latency', 'x\n')
            before = setter.snapshot()
            shown = {k['cpu']: k for k in knobs(setter, '-c', '2-3') if k['knob'] == 'pm_qos'}
            equal((shown[2]['state'], shown[2]['why'], shown[3]['state']),
                  ('denied', 'its idle states cannot be read', 'applied'), state)
            equal(setter.snapshot()[f'{CPU}/cpu2/power/pm_qos_resume_latency_us'], b'100\n', state)
            setter.succeed('restore')
            # Asked for by its name, it is a failure.
            result = setter.run('-c', '2', '--only', 'pm_qos')
            equal((result.returncode, 'Bad message' in result.stderr), (1, True), result.stderr)
            setter.same(before, f'{state}: changed')


def test_odd_values():
    """A value that noise-off does not understand is not taken for another value."""
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        setter.box.write('proc/sys/vm/stat_interval', '0\n')
        setter.box.write(f'{KERNEL}/watchdog_cpumask', '\n')
        setter.box.write(f'{WORKQUEUE}/cpumask_isolated', 'odd\n')
        setter.cycle('-c', '2', '--only', 'stat_interval,watchdog_cpumask,workqueue',
                     changes={
                         'proc/sys/vm/stat_interval': '120',
                         f'{KERNEL}/watchdog_cpumask': '0-1,3-15',
                         f'{WORKQUEUE}/cpumask': 'fffb',
                     })


machine.skip_without_cpupower('noise-off')
TESTS = [(f'{name}{f" -c {cpus}" if cpus else ""}',
          lambda name=name, cpus=cpus: test_cycle(name, cpus))
         for name, cpus in (*((name, None) for name in MACHINE_WIDE), *WITH_CPUS)]
TESTS += [test for test in machine.tests_of(globals()) if test[0] != 'cycle']
machine.run_tests(TESTS)
