# SPDX-License-Identifier: GPL-2.0-or-later
"""isol-check: its verdicts follow what the machine really is, and --measure what really happens."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile

from lab import (CONFIG, CPUS, ENVIRONMENT, RELEASE, Skip, boots, call, check, equal, fail, heat, limited, note,
                 parse_list, plug, read, succeed, turned, wait_for, write)
from target import up

# The verdicts of these checks must not depend on what the machine does at the moment.
STILL = ('--json', '--watch', '0')
MEASURED = 2    # seconds
ATTEMPTS = 3
SPINNERS = 9    # they leave a tenth of the CPU to isol-check


def look(*arguments, user=None):
    """{check: row}"""
    done = call('isol-check', *STILL, *arguments, user=user)
    check(done.returncode in (0, 3), f'status {done.returncode}: {done.stderr}')
    equal(done.stderr, '', 'standard error')
    return {row['id']: row for row in json.loads(done.stdout)['checks']}


def verdicts(rows, wanted):
    for name, (verdict, said) in wanted.items():
        row = rows[name]
        equal(row['verdict'], verdict, f'verdict of {name}: {row}')
        check(said in f'{row["seen"]} {row["fix"]}', f'{name} does not say {said!r}: {row}')


@boots('plain', 'cgroup-v1')
def test_quota():
    """Of the cgroup above the one of isol-check, which has none itself."""
    verdicts(look('-c', '3'), {'quota': ('ok', 'none')})
    with limited(20) as words:
        done = call(*words, 'isol-check', *STILL, '-c', '3')
    equal(done.returncode, 3, f'{done.stderr}: status')
    verdicts({row['id']: row for row in json.loads(done.stdout)['checks']},
             {'quota': ('noise', '0.2 CPUs')})


def test_a_machine_as_it_comes():
    verdicts(look('-c', '3'), {
        'cpus': ('info', '3 (as asked)'),
        'isolated': ('noise', 'cpu-shield -c 3'),
        'isolcpus': ('info', 'not on the boot line'),
        'nohz-full': ('info', 'the tick runs'),
        'rcu-nocbs': ('info', 'where they arise'),
        'siblings': ('noise', 'CPU 2 shares a core'),
        'half-cores': ('ok', 'no core is isolated'),
        'kthreads': ('risk', 'cpu-shield -c 3'),
        'irq-default': ('risk', 'irq-steer -c 3'),
        'freq-driver': ('info', 'acpi-cpufreq'),
        'freq-range': ('risk', '1.60 GHz to 2.70 GHz'),
        'virtualization': ('risk', 'a machine of its own'),
        'journals': ('ok', ''),
    })
    check(look('-c', '3')['tasks']['verdict'] in ('risk', 'noise'), 'programs may run there')


@boots('isolated')
def test_booted_with_isolated_cpus():
    rows = look()
    verdicts(rows, {
        'cpus': ('info', '1,3 '),
        'isolated': ('ok', 'isolcpus'),
        'isolcpus': ('info', 'isolcpus=domain,1,3'),
        'tasks': ('ok', 'no task of a program'),
        'nohz-full': ('ok', 'no tick'),
        'rcu-nocbs': ('ok', 'rcu_nocbs'),
        'siblings': ('noise', 'CPU 0,2 shares a core'),
        'half-cores': ('risk', 'smt-off -c 1,3'),
        'irqbalance': ('ok', ''),
    })
    # CPU 2 is not isolated.
    verdicts(look('-c', '2'), {
        'isolated': ('noise', 'CPU 2'),
        'nohz-full': ('risk', 'but not 2'),
        'rcu-nocbs': ('risk', 'does not cover 2'),
        'siblings': ('ok', '3 beside these CPUs is isolated'),
    })
    # CPU 0, the other thread of CPU 1's core, cannot go offline.
    with turned('smt-off', '-c', '3'):
        verdicts(look('-c', '3'), {'siblings': ('ok', ''), 'half-cores': ('risk', 'smt-off -c 1')})


@boots('plain', 'isolated')
def test_what_to_boot_with():
    """The advice covers whole cores. Parameters that the machine was booted with are kept, and not
    asked for again."""
    isolated = CONFIG['boot'] == 'isolated'
    line = succeed('isol-check', '--cmdline', '-c', '3')
    cpus = '1-3' if isolated else '2-3'
    equal(line, f'isolcpus=managed_irq,domain,{cpus} nohz_full={cpus} rcu_nocbs={cpus} '
                f'irqaffinity={"0" if isolated else "0-1"}\n', 'for CPU 3')
    if isolated:
        booted = dict(word.split('=', 1) for word in read('/proc/cmdline').split() if '=' in word)
        for name in ('isolcpus', 'nohz_full', 'rcu_nocbs'):
            wanted = dict(word.split('=', 1) for word in line.split())[name].split(',')[-1]
            check(parse_list(booted[name]) < parse_list(wanted), f'{name}: {booted[name]}, {wanted}')
        # With the sibling offline, only the advice on interrupts can remain.
        with turned('smt-off', '-c', '3'):
            line = succeed('isol-check', '--cmdline', '-c', '3')
            check('nohz_full' not in line and 'rcu_nocbs' not in line, line)


def test_a_partition_is_seen():
    with turned('cpu-shield', '-c', '2-3'):
        rows = look('-c', '3')
        verdicts(rows, {
            'isolated': ('ok', 'by the isolated partition /benchmark.slice'),
            'partitions': ('info', '/benchmark.slice: isolated, CPUs 2-3'),
            'tasks': ('ok', 'no task of a program'),
            'kthreads': ('ok', 'cannot be moved'),
            'siblings': ('ok', '2 beside these CPUs is isolated'),
            'half-cores': ('ok', 'with all their threads'),
            'journals': ('info', 'cpu-shield keeps'),
        })
        # The boot line does not have these CPUs, and their tick runs.
        verdicts(rows, {'isolcpus': ('info', 'not on the boot line'), 'nohz-full': ('info', '')})
        verdicts(look('-c', '1'), {'isolated': ('noise', 'CPU 1')})
        # No process can enter the partition from outside; a process inside has no other CPUs.
        equal(parse_list(succeed('isol-check', '--pick').strip()) & {2, 3}, set(), 'from outside')
        equal(succeed('cpu-shield', 'run', '--', 'isol-check', '--pick'), '2-3\n', 'from inside')
        with turned('smt-off', '-c', '3'):
            verdicts(look('-c', '3'), {'isolated': ('ok', ''), 'siblings': ('ok', 'no thread')})
    verdicts(look('-c', '3'), {'isolated': ('noise', ''), 'journals': ('ok', '')})


def test_half_a_core_in_a_partition():
    with turned('cpu-shield', '-c', '3'):
        verdicts(look('-c', '3'), {
            'isolated': ('ok', '/benchmark.slice'),
            'siblings': ('noise', 'CPU 2 shares a core'),
            'half-cores': ('risk', 'smt-off -c 3'),
        })


def test_knobs_are_seen():
    """A verdict changes with the setting that a setter applies, and changes back with restore."""
    before = {name: row['verdict'] for name, row in look('-c', '3').items()}
    # From 6.9 on it governs hrtimers alone, and is no finding.
    by_noise_off = ('workqueue', 'vmstat', *(['timer-migration'] if RELEASE < (6, 9) else []))
    for tool, arguments, names in (
            ('freq-pin', ('-c', '3', 'min'), ('freq-range',)),
            ('irq-steer', ('-c', '3'), ('irq-default',)),
            ('noise-off', ('-c', '3'), by_noise_off),
            ('smt-off', ('-c', '3'), ('siblings',))):
        with turned(tool, *arguments):
            rows = look('-c', '3')
            for name in names:
                check(before[name] in ('risk', 'noise'), f'{name} was {before[name]}')
                check(rows[name]['verdict'] in ('ok', 'info'), f'{tool}: {rows[name]}')
            verdicts(rows, {'journals': ('info', tool)})
    after = look('-c', '3')
    equal({name: after[name]['verdict'] for name in ('freq-range', 'irq-default', 'siblings')},
          {name: before[name] for name in ('freq-range', 'irq-default', 'siblings')}, 'afterwards')


def test_heat_and_power_are_seen():
    """Heat and battery power are found, also on a machine that the target keeps quiet."""
    cool = {'temperature': ('ok', '45 C'), 'power-supply': ('ok', 'on mains')}
    with up('CPUS=2'):
        verdicts(look(), {'cpus': ('info', '2 (those of benchmark.target)'), **cool})
        for change, back, name, wanted in (
                (lambda: heat(115), lambda: heat(45), 'temperature',
                 ('risk', '115 C: the limit of 120 C is near')),
                (lambda: plug(False), lambda: plug(True), 'power-supply', ('noise', 'plug it in'))):
            change()
            try:
                wait_for(lambda: look()[name]['verdict'] != 'ok', name)
                verdicts(look(), {**cool, name: wanted})
            finally:
                back()
            wait_for(lambda: look()[name]['verdict'] == 'ok', f'{name} as before')


@boots('plain', 'isolated')
def test_exit_status():
    equal(call('isol-check', '-c', '3', '--watch', '0').returncode, 3, 'with findings')
    equal(call('isol-check', '-c', '3', '--watch', '0', '--strict').returncode, 3, '--strict')
    fail(2, 'isol-check', '-c', '9')
    write(f'{CPUS}/cpu2/online', '0')
    try:
        verdicts(look('-c', '2'), {'cpus': ('risk', 'offline: 2')})
        check('offline' in fail(2, 'isol-check', '--measure=0.1', '-c', '2'), 'why')
    finally:
        write(f'{CPUS}/cpu2/online', '1')


def test_recorded_here_is_the_same_elsewhere():
    """What --record writes is this machine, and whether anything is unknown decides with --strict."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'machine.tar.gz')
        succeed('isol-check', '--record', path)
        live, recorded = look('-c', '3'), look('--sysroot', path, '-c', '3')
        for name, row in live.items():
            if recorded[name]['verdict'] != 'unknown':
                equal(recorded[name]['verdict'], row['verdict'], f'{name}: {row}, {recorded[name]}')
        unknown = sorted(name for name, row in recorded.items() if row['verdict'] == 'unknown' and
                         live[name]['verdict'] != 'unknown')
        equal(unknown, ['irq-rate', 'irqbalance', 'journals', 'kthreads', 'load', 'locks', 'resctrl', 'rps', 'tasks',
                        'tuners'], 'what a recording cannot know')
        # The machine is quiet, but some checks cannot see: only with --strict is that a finding.
        quiet = unpack_and_calm(path, folder)
        arguments = ('isol-check', '--sysroot', quiet, '--watch', '0', '-c', '3')
        equal(call(*arguments).returncode, 0, f'a calm machine: {call(*arguments).stdout}')
        equal(call(*arguments, '--strict').returncode, 3, 'a calm machine with --strict')


def unpack_and_calm(path, folder):
    """Unpacks the recording into a directory and changes its files until nothing is found any
    more."""
    root = os.path.join(folder, 'calm')
    os.mkdir(root)
    succeed('tar', 'xzf', path, '-C', root)
    if 'sys' not in os.listdir(root):
        root = os.path.join(root, os.listdir(root)[0])
    for where, _, files in os.walk(root):
        for name in files:
            os.chmod(os.path.join(where, name), 0o644)
    cpuinfo = os.path.join(root, 'proc/cpuinfo')
    write(cpuinfo, open(cpuinfo, encoding='utf-8').read().replace(' hypervisor', ''))
    policy = os.path.join(root, 'sys/devices/system/cpu/cpufreq/policy3')
    for name, text in (('scaling_min_freq', '1600000'), ('scaling_max_freq', '1600000'),
                       ('scaling_cur_freq', '1600000')):
        write(os.path.join(policy, name), text + '\n')
    for name, text in (
            ('sys/devices/system/cpu/isolated', '2-3'),
            ('sys/devices/virtual/workqueue/cpumask', '3'),
            ('sys/devices/virtual/workqueue/writeback/cpumask', '3'),
            ('sys/kernel/mm/transparent_hugepage/enabled', 'always madvise [never]'),
            ('proc/irq/default_smp_affinity', '3'),
            ('proc/sys/kernel/nmi_watchdog', '0'),
            ('proc/sys/kernel/soft_watchdog', '0'),
            ('proc/sys/kernel/timer_migration', '0'),
            ('proc/sys/kernel/numa_balancing', '0'),
            ('proc/sys/vm/stat_interval', '120'),
            ('sys/devices/system/clocksource/clocksource0/current_clocksource', 'tsc'),
            ('sys/devices/system/cpu/cpufreq/boost', '0'),
            # A virtual machine is known by them, too.
            *((f'sys/class/dmi/id/{name}', 'none')
              for name in ('sys_vendor', 'product_name', 'board_vendor', 'bios_vendor'))):
        if os.path.exists(os.path.join(root, name)):
            write(os.path.join(root, name), text + '\n')
    numbers = os.path.join(root, 'proc/irq')
    for number in filter(str.isdigit, os.listdir(numbers)):
        for name in ('smp_affinity', 'smp_affinity_list', 'effective_affinity',
                     'effective_affinity_list'):
            file = os.path.join(numbers, number, name)
            if os.path.exists(file):
                write(file, ('0' if name.endswith('list') else '1') + '\n')
    return root


@contextlib.contextmanager
def busy(cpu):
    """Runs its block while programs do nothing but run on this CPU."""
    spin = 'import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass'
    spinners = [subprocess.Popen([sys.executable, '-c', spin, str(cpu)], env=ENVIRONMENT)
                for _ in range(SPINNERS)]
    try:
        for spinner in spinners:
            wait_for(lambda pid=spinner.pid: os.sched_getaffinity(pid) == {cpu}, 'the spinner')
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def measured(cpu, *before):
    """The shares of time, in per cent, that were stolen and that other tasks had; and the names of
    those tasks."""
    text = succeed(*before, 'isol-check', f'--measure={MEASURED}', '-c', str(cpu), '--json')
    found = {}
    for row in json.loads(text)['measure']:
        if row['cpu'] == cpu:
            found.setdefault(row['subject'], {})[row['name']] = row['value']
    whole = found['time']['measured']
    return (100 * found['gaps']['stolen'] / whole,
            100 * found['scheduler'].get('waited', 0) / whole, found.get('task', {}))


@boots('plain', 'isolated')
def test_measure_tells_busy_from_quiet():
    """A CPU with programs on it loses most of its time. The same CPU shielded loses it to the
    emulation at most, which the machine below may keep waiting: so what is compared is the time that
    is left, of which the emulation takes the same share from both, and what the kernel here says that
    other tasks had, which is nothing."""
    with busy(3):
        stolen, waited, tasks = measured(3)
    note(f'busy: {stolen:.2f} % stolen, {waited:.2f} % by other tasks')
    check(stolen > 80 and waited > 80, f'{stolen} % stolen, {waited} % by other tasks')
    check(len([name for name, ran in tasks.items() if ran > 0]) >= SPINNERS, tasks)

    shield = CONFIG['boot'] == 'plain'
    with turned('cpu-shield', '-c', '2-3') if shield else contextlib.nullcontext():
        quiet = [measured(3, *(('cpu-shield', 'run', '-c', '3', '--') if shield else ()))
                 for _ in range(ATTEMPTS)]
    least = min(row[0] for row in quiet)
    idle = min(row[1] for row in quiet)
    note('quiet: ' + ', '.join(f'{row[0]:.2f} %' for row in quiet) +
         f' stolen; {idle:.3f} % by other tasks')
    check(100 - least > 3 * (100 - stolen), f'{stolen} % stolen when busy, {least} % when quiet')
    check(waited > 50 * idle, f'{waited} % by other tasks when busy, {idle} % when quiet')


def tracing():
    """Everything that --measure changes in tracefs, as text."""
    base = '/sys/kernel/tracing'
    return {name: read(f'{base}/{name}') for name in
            ('current_tracer', 'osnoise/options', 'osnoise/cpus', 'set_event', 'tracing_on',
             'tracing_cpumask', 'buffer_size_kb')} | {'instances': os.listdir(f'{base}/instances')}


def traced(found, what):
    """{name: seconds} of the tasks that the tracer saw on CPU 3."""
    return {row['name']: row['value'] for row in found if row['cpu'] == 3 and row['subject'] == what}


def test_who_took_it_by_the_tracer():
    """Where the kernel has the tracer: it names the tasks that ran, but not isol-check. The tracer
    is as before in the end."""
    if 'osnoise' not in read('/sys/kernel/tracing/available_tracers').split():
        said = json.loads(succeed('isol-check', '--measure=0.2', '-c', '3', '--json'))['measure']
        notes = [row['name'] for row in said if row['subject'] == 'note']
        check(any(name.endswith('the kernel was built without it') for name in notes), notes)
        raise Skip('this kernel has no osnoise tracer, and isol-check says so')
    before = tracing()
    with busy(3):
        found = json.loads(succeed('isol-check', f'--measure={MEASURED}', '-c', '3',
                                   '--json'))['measure']
        text = succeed('isol-check', '--measure=1', '-c', '3')
        equal(tracing(), before, 'tracing, after it')
        with subprocess.Popen(['isol-check', '--measure=60', '-c', '3'], env=ENVIRONMENT,
                              stdout=subprocess.DEVNULL) as process:
            wait_for(lambda: len(os.listdir('/sys/kernel/tracing/instances')) > len(before['instances']),
                     'the tracer')
            process.send_signal(signal.SIGINT)
        equal(tracing(), before, 'tracing, after it was interrupted')
    by = traced(found, 'osnoise')
    note(', '.join(f'{name} {took:.3f} s' for name, took in
                   sorted(by.items(), key=lambda item: -item[1])[:5]))
    check(not [name for name in by if 'isol-check' in name], by)
    programs = {name: took for name, took in by.items() if name.startswith('thread ')}
    check(sum(programs.values()) > MEASURED / 2, by)
    check(any(name.startswith('irq ') for name in by), by)
    for name, longest in traced(found, 'osnoise longest').items():
        check(0 < longest <= by[name] * 1e9 * 1.001, f'{name}: {longest} ns of {by[name]} s')
    check("who took it, by the kernel's osnoise tracer:" in text, text)
