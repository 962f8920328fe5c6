#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs get the flags that they should, and no others.

The program that is measured is a script that changes the described machine while it runs, in one of
its runs: a counter moves, the package gets hot, somebody sets another governor.
"""

import json
import os
import re
import threading
import time

import machine
from machine import Machine, Skip, check, equal

RUNPINNED = os.environ['RUNPINNED']
# CPUs 0 and 1 exist on each described machine; the run itself needs a real CPU.
CPU = 1 if 1 in os.sched_getaffinity(0) else 0
WARMUPS, RUNS, CHANGED = 1, 9, 5
COUNTER = 'runs-made'
# So many interrupts are worth a line in the report however long a busy machine makes the run last.
FLOOD = 1700000
# Flags that a run may get on a busy test machine, or on a core that it shares.
OTHERS = {'preempted', 'window', 'shared', 'clock'}


def measure(box, change, *options, made=WARMUPS + CHANGED, words=()):
    """Runs a script that does `change` (shell, below the machine's directory) only in that run of
    all that are `made`; `words` come before runpinned. Returns the result, the flags of each counted
    run, and the messages."""
    script = box.root / 'program'
    script.write_text(f'''#!/bin/sh
cd {box.root}
echo x >> {COUNTER}
[ $(wc -l < {COUNTER}) -eq {made} ] || exit 0
{change}
''', encoding='utf-8')
    script.chmod(0o755)
    result = box.run(*words, RUNPINNED, '-c', CPU, '-n', RUNS, '-w', WARMUPS, '--json', *options, script,
                     env={'XDG_STATE_HOME': str(box.root)})
    equal(result.returncode, 0, f'status ({result.stderr})')
    benchmark = json.loads(result.stdout)['benchmarks'][0]
    flags = []
    for one in benchmark['runs']:
        if 'values' in one:
            text = {**benchmark['metadata'], **one['metadata']}.get('quiesce_flags', '')
            flags.append(set(filter(None, text.split(','))) - OTHERS)
    return benchmark, flags, result.stderr


def expect(name, flag, change):
    """Only run CHANGED has a flag, and it is this one."""
    with Machine(name) as box:
        _, flags, said = measure(box, change)
        check(flag in flags[CHANGED - 1], f'not flagged: {flags} {said}')
        for number, other in enumerate(flags, 1):
            if number != CHANGED:
                equal(other, set(), f'flags of run {number}')
        check(re.search(rf'(disturbed|or more): .*{flag} 1\b', said), f'not in the report: {said}')


def test_quiet():
    for name in ('intel-hybrid', 'amd-smt', 'vm-plain'):
        with Machine(name) as box:
            _, flags, said = measure(box, ':')
            equal(flags, [set()] * RUNS, f'flags on {name}')
            check('changed' not in said, said)


def replace(path, old, new):
    """Shell code that writes another text into a file, in place: its inode is bound over the real
    one."""
    return f"new=$(sed 's/{old}/{new}/' {path}); printf '%s\\n' \"$new\" > {path}"


def fire(rows, counts, tail):
    """Shell code that raises the counters of an interrupt, and with them the total of the machine and
    the number of a device: without these the interrupts are not read one by one."""
    return '; '.join((replace('proc/interrupts', rows, f'{counts} {tail}'),
                      replace('proc/stat', 'intr [0-9]*', 'intr 99999999 7')))


def test_irq():
    expect('vm-plain', 'irq',
           fire(' 26:.*', f' 26: {FLOOD * (1 - CPU)} {FLOOD * CPU}', 'IO-APIC 4-edge ttyS0'))


def test_irq_that_takes_no_time():
    """One interrupt is a flag and no disturbance: it is a ten thousandth of a run."""
    with Machine('vm-plain') as box:
        # The described machine has none at all, and a run takes long enough.
        _, flags, said = measure(box, fire(' 26:.*', f' 26: {1 - CPU} {15 + CPU}', 'IO-APIC 4-edge ttyS0')
                                 + '; sleep 0.05')
        check('irq' in flags[CHANGED - 1], f'not flagged: {flags} {said}')
        check(not re.search(r'\birq \d', said), f'in the report: {said}')


def test_irq_that_the_total_leaves_out():
    """A total that does not change is not believed for long."""
    with Machine('vm-plain') as box:
        _, flags, said = measure(box, replace(
            'proc/interrupts', ' 26:.*', f' 26: {17 * (1 - CPU)} {17 * CPU} IO-APIC 4-edge ttyS0')
            + '; sleep 0.1')
        check('irq' in flags[CHANGED - 1], f'not flagged: {flags} {said}')


def test_irq_in_the_first_run():
    """What was read for the floor, which no run needs, is read again for the first run."""
    with Machine('vm-plain') as box:
        _, flags, said = measure(box, fire(' 26:.*', f' 26: {FLOOD * (1 - CPU)} {FLOOD * CPU}',
                                           'IO-APIC 4-edge ttyS0'), '-w', '0', made=1)
        equal(flags, [{'irq'}] + [set()] * (RUNS - 1), f'flags ({said})')


def test_irq_is_named():
    with Machine('vm-plain') as box:
        benchmark, _, _ = measure(box, fire(' 26:.*', ' 26: 99 99', 'IO-APIC 4-edge ttyS0'))
        lines = [one['metadata'].get('quiesce_irq_lines', '') for one in benchmark['runs']]
        check(any('ttyS0' in line for line in lines), f'{lines}')


def test_ticks_are_no_devices():
    with Machine('vm-plain') as box:
        benchmark, flags, _ = measure(box, fire('LOC:.*', 'LOC: 99999 99999',
                                                'Local timer interrupts'))
        equal(flags, [set()] * RUNS, 'flags')
        lines = [one['metadata'].get('quiesce_irq_lines', '') for one in benchmark['runs']]
        check(any('LOC' in line for line in lines), f'{lines}')


def test_steal():
    expect('vm-plain', 'steal', replace('proc/stat', rf'^cpu{CPU} .*',
                                        f'cpu{CPU} 9000 0 9000 99999 420 0 82 999 0 0'))


def test_steal_of_another_cpu():
    with Machine('vm-plain') as box:
        _, flags, _ = measure(box, replace('proc/stat', rf'^cpu{1 - CPU} .*',
                                           f'cpu{1 - CPU} 9000 0 9000 99999 420 0 82 999 0 0'))
        equal(flags, [set()] * RUNS, 'flags')


LIMITED = 'sys/fs/cgroup/pod'
V2 = {'sys/fs/cgroup/cgroup.controllers': 'cpu', f'{LIMITED}/cpu.max': '20000 100000',
      f'{LIMITED}/cpu.stat': 'nr_throttled 3\nthrottled_usec 5',
      f'{LIMITED}/job/cpu.max': 'max 100000', f'{LIMITED}/job/cpu.stat': 'throttled_usec 0',
      'proc/self/cgroup': '0::/pod/job'}
V1 = {'sys/fs/cgroup/cpu/cgroup.sane_behavior': '0',
      'sys/fs/cgroup/cpu/pod/cpu.cfs_quota_us': '150000',
      'sys/fs/cgroup/cpu/pod/cpu.cfs_period_us': '100000',
      'sys/fs/cgroup/cpu/pod/cpu.stat': 'throttled_time 5', 'proc/self/cgroup': '2:cpu:/pod\n0::/'}


def measure_limited(box, files, change):
    """The same, in cgroups that these files describe. The processes of runpinned share one."""
    for path, text in files.items():
        box.write(path, text + '\n')
    return measure(box, change, words=(
        'env', f'LD_PRELOAD={os.environ["KERNEL"]}', machine.asan_options(),
        f'TEST_OWN_CGROUP={box.root / "proc/self/cgroup"}'))


def test_quota():
    """The limit is that of a cgroup further up, on each kind of cgroups, and the files tell how long in
    units of their own."""
    for files, change, limit, warned in (
            (V2, f"echo 'throttled_usec 900005' > {LIMITED}/cpu.stat", '0.2 CPUs', True),
            (V1, 'echo throttled_time 900000005 > sys/fs/cgroup/cpu/pod/cpu.stat', '1.5 CPUs', False),
            ({**V2, f'{LIMITED}/job/cpu.stat.local': 'throttled_usec 7'},
             f'echo throttled_usec 900007 > {LIMITED}/job/cpu.stat.local', '0.2 CPUs', True)):
        with Machine('vm-plain') as box:
            # What it was stopped for is no more than what it was off its CPU.
            benchmark, flags, said = measure_limited(box, files, f'{change}; sleep 0.1')
            equal(flags, [{'quota'} if number == CHANGED else set() for number in range(1, RUNS + 1)],
                  f'flags ({said})')
            check(re.search(r'(disturbed|or more): .*quota 1\b', said), said)
            equal(benchmark['metadata'].get('cpu_quota'), limit, 'metadata')
            equal('a quota of' in said, warned, said)
            told = [{**benchmark['metadata'], **one['metadata']}['quiesce_quota_throttled']
                    for one in benchmark['runs'] if 'values' in one]
            equal(told, [0.9 if number == CHANGED else 0 for number in range(1, RUNS + 1)], 'seconds')


def test_no_quota():
    """Without a limit nothing is read, and nothing is said."""
    with Machine('vm-plain') as box:
        benchmark, flags, said = measure_limited(
            box, {**V2, f'{LIMITED}/cpu.max': 'max 100000'},
            f"echo 'throttled_usec 900005' > {LIMITED}/cpu.stat; sleep 0.1")
        equal(flags, [set()] * RUNS, 'flags')
        check('quota' not in json.dumps(benchmark) + said, f'{benchmark} {said}')


def test_quota_that_comes_or_goes():
    for before, after, change in (
            ('max 100000', '50000 100000', "cpu_quota was '', is '0.5 CPUs'"),
            ('50000 100000', 'max 100000', "cpu_quota was '0.5 CPUs', is ''")):
        with Machine('vm-plain') as box:
            benchmark, _, said = measure_limited(
                box, {**V2, f'{LIMITED}/cpu.max': before}, f"echo '{after}' > {LIMITED}/cpu.max")
            check(change in said, said)
            check('cpu_quota' in benchmark['metadata']['quiesce_changed'], 'metadata')


def test_throttled():
    expect('intel-hybrid', 'throttled', 'echo 1000 > '
           f'sys/devices/system/cpu/cpu{CPU}/thermal_throttle/core_throttle_count')


def test_freq():
    with Machine('intel-hybrid') as box:
        path = f'sys/devices/system/cpu/cpufreq/policy{CPU}/scaling_cur_freq'
        # The frequency changes from that run on. The reading after the run sees it.
        _, flags, _ = measure(box, f'echo 1700000 > {path}')
        marked = [number for number, flag in enumerate(flags, 1) if 'freq' in flag]
        # Runs 5 to 9 are the majority, which decides the median; 1 to 4 differ from it.
        equal(marked, [1, 2, 3, 4], 'flagged runs')


# The counters of the two deep states of the CPU, and of its policy.
IDLE = f'sys/devices/system/cpu/cpu{CPU}/cpuidle'
STATS = f'sys/devices/system/cpu/cpufreq/policy{CPU}/stats'


def count_states(box):
    """A machine whose kernel counts the time in idle states and at frequencies."""
    machine.want_cpupower()
    for path, text in ((f'{IDLE}/state2/time', '1000'), (f'{IDLE}/state3/time', '500'),
                       (f'{STATS}/total_trans', '7'), (f'{STATS}/time_in_state', '3000000 900\n1000000 80')):
        box.write(path, f'{text}\n')


def in_states(benchmark):
    """What each counted run has of them."""
    runs = [{**benchmark['metadata'], **one['metadata']} for one in benchmark['runs'] if 'values' in one]
    return [tuple(one.get(f'quiesce_{name}') for name in ('deep_idle', 'mean_khz', 'frequency_changes'))
            for one in runs]


def measure_states(box, change):
    """As measure(), of runs that are long enough for this to be read. `n` is the number of the run."""
    script = box.root / 'program'
    script.write_text(f"""#!/bin/sh
cd {box.root}
echo x >> {COUNTER}
n=$(wc -l < {COUNTER})
{change}
sleep 0.02
""", encoding='utf-8')
    script.chmod(0o755)
    result = box.run(RUNPINNED, '-c', CPU, '-n', RUNS, '-w', WARMUPS, '--json', script,
                     env={'XDG_STATE_HOME': str(box.root)})
    equal(result.returncode, 0, result.stderr)
    return in_states(json.loads(result.stdout)['benchmarks'][0])


def test_time_in_states():
    """The script is the CPU that sleeps, and the governor."""
    with Machine('intel-hybrid') as box:
        count_states(box)
        found = measure_states(box, f"""[ $n -eq {WARMUPS + CHANGED} ] && {{
            echo 251000 > {IDLE}/state2/time
            echo 750 > {IDLE}/state3/time
            echo 10 > {STATS}/total_trans
            printf '3000000 1200\\n1000000 380\\n' > {STATS}/time_in_state; }}""")
        rest = (0, None, 0)
        equal(found, [rest] * (CHANGED - 1) + [(0.25025, 2000000, 3)] + [rest] * (RUNS - CHANGED), 'runs')


def test_frequency_of_a_whole_run():
    """The mean of each run, however often the frequency has changed: three seconds at 1 GHz in one of them."""
    with Machine('intel-hybrid') as box:
        count_states(box)
        found = measure_states(box, f"""[ $n -lt {WARMUPS + CHANGED} ] && low=80 || low=380
            echo $n > {STATS}/total_trans
            printf '3000000 %d\\n1000000 %d\\n' $((900 + 500 * n)) $low > {STATS}/time_in_state""")
        equal([khz for _, khz, _ in found],
              [3000000] * (CHANGED - 1) + [2250000] + [3000000] * (RUNS - CHANGED), 'means')


def test_states_of_short_runs():
    """Of runs that would wait for as long as they take, it is not read."""
    with Machine('intel-hybrid') as box:
        count_states(box)
        result = box.run(RUNPINNED, '-c', CPU, '-n', 200, '--json', 'true', env={'XDG_STATE_HOME': str(box.root)})
        equal(result.returncode, 0, result.stderr)
        found = in_states(json.loads(result.stdout)['benchmarks'][0])
        check((None, None, None) in found, f'{found}')


def test_counters_that_tell_nothing():
    """A counter that begins anew, or that is no number, is no time."""
    with Machine('intel-hybrid') as box:
        count_states(box)
        found = measure_states(box, f"""[ $n -eq {WARMUPS + CHANGED} ] && {{
            echo 9 > {IDLE}/state2/time; echo x > {STATS}/total_trans; echo > {STATS}/time_in_state; }}""")
        equal(found[CHANGED - 1], (None, None, None), 'that run')
        # The counters of frequencies remain what they are.
        equal(found[CHANGED:], [(0, None, None)] * (RUNS - CHANGED), 'those after it')


def sensor(name):
    return {'intel-hybrid': 'sys/devices/platform/coretemp.0/hwmon/hwmon1/temp1_input'}[name]


def has_sensors():
    with Machine('intel-hybrid') as box:
        one = measure(box, ':')[0]['metadata']
        if 'quiesce_sensor' not in one:
            raise Skip('this build reads no temperatures (libsensors)')
        equal(one['quiesce_sensor'], 'coretemp: Package id 0', 'sensor')


def test_hot():
    has_sensors()
    with Machine('intel-hybrid') as box:
        # The sensor is read once a second, so the run takes longer than that.
        _, flags, _ = measure(box, f'echo 101000 > {sensor("intel-hybrid")}; sleep 1.2')
        check('hot' in flags[CHANGED - 1], f'{flags}')
        check(not any('hot' in flag for flag in flags[:CHANGED - 1]), f'{flags}')


def test_temperature_in_the_result():
    has_sensors()
    with Machine('intel-hybrid') as box:
        benchmark, _, _ = measure(box, ':')
        for one in benchmark['runs']:
            both = {**benchmark['metadata'], **one['metadata']}
            equal(both['quiesce_temperature_after'], 61.0, 'temperature')


def test_cooldown():
    """After a hot run the next one waits until the package is cool again."""
    has_sensors()
    with Machine('intel-hybrid') as box:
        path = box.root / sensor('intel-hybrid')
        cooled = []

        def cool():
            while path.read_text() != '90000\n':
                time.sleep(0.02)
            time.sleep(2.5)
            with open(path, 'w', encoding='utf-8') as stream:
                stream.write('62000\n')
            cooled.append(time.monotonic())

        helper = threading.Thread(target=cool)
        helper.start()
        benchmark, _, _ = measure(box, f'echo 90000 > {sensor("intel-hybrid")}', '--cooldown')
        helper.join()
        starts = [one['metadata']['quiesce_start'] for one in benchmark['runs']]
        waited = starts[WARMUPS + CHANGED] - starts[WARMUPS + CHANGED - 1]
        check(waited >= 2, f'it waited {waited} s')
        check(cooled, 'it did not wait for the cooling')


def test_cooldown_after_setup():
    """The start of --cooldown is before --setup, which may heat the package."""
    has_sensors()
    with Machine('intel-hybrid') as box:
        path = box.root / sensor('intel-hybrid')
        heated = box.root / 'heated'

        def cool():
            machine.wait_for(heated.exists, '--setup is run')
            time.sleep(2.5)
            path.write_text('62000\n', encoding='utf-8')

        helper = threading.Thread(target=cool)
        helper.start()
        # The sensor is read once a second at most.
        result = box.run(RUNPINNED, '-c', CPU, '-n', 1, '-w', 0, '--json', '--cooldown', '--setup',
                         f'sleep 1.1; echo 90000 > {path}; touch {heated}', 'true',
                         env={'XDG_STATE_HOME': str(box.root)})
        helper.join()
        equal(result.returncode, 0, f'status ({result.stderr})')
        check('quiesce_temperature_before' in result.stdout, result.stdout)
        before = json.loads(result.stdout)['benchmarks'][0]
        before = {**before['metadata'], **before['runs'][0]['metadata']}['quiesce_temperature_before']
        check(before < 66, f'the first run began at {before} C')


def test_stopped_while_it_cools_down():
    """--conclude removes what --prepare has made for the run that is not made."""
    has_sensors()
    with Machine('intel-hybrid') as box:
        made = box.root / 'made'
        # The hook's parent watches it, and is a child of runpinned.
        prepare = (f'mkdir {made}; echo 90000 > {box.root}/{sensor("intel-hybrid")}; '
                   'runpinned=$(cut -d " " -f 4 /proc/$PPID/stat); (sleep 1; kill $runpinned) &')
        result = box.run(RUNPINNED, '-c', CPU, '-n', 1, '-w', 0, '--no-save', '--cooldown', '--prepare', prepare,
                         '--conclude', f'rmdir {made}', 'true', env={'XDG_STATE_HOME': str(box.root)})
        equal(result.returncode, 143, f'status ({result.stderr})')
        check(not made.exists(), f'--conclude was not run ({result.stderr})')


def test_cooldown_without_a_sensor():
    with Machine('vm-plain') as box:
        said = measure(box, ':', '--cooldown')[2]
        equal(len(re.findall('--cooldown', said)), 1, f'notes in {said}')


def test_changed_governor():
    machine.want_cpupower()
    with Machine('intel-hybrid') as box:
        path = f'sys/devices/system/cpu/cpufreq/policy{CPU}/scaling_governor'
        benchmark, _, said = measure(box, f'echo performance > {path}')
        check('changed meanwhile' in said and 'performance' in said, said)
        check('performance' in benchmark['metadata']['quiesce_changed'], 'not in the result')


def test_changed_clocksource():
    with Machine('vm-plain') as box:
        said = measure(box, 'echo acpi_pm > sys/devices/system/clocksource/clocksource0/'
                       'current_clocksource')[2]
        check('kvm-clock' in said and 'acpi_pm' in said, said)


def test_evidence_none():
    with Machine('vm-plain') as box:
        benchmark, flags, _ = measure(box, replace('proc/stat', rf'^cpu{CPU} .*',
                                                   f'cpu{CPU} 9 0 9 9 4 0 8 999 0 0'),
                                      '--evidence', 'none')
        equal(flags, [set()] * RUNS, 'flags')
        check(not any('quiesce_steal' in one['metadata'] for one in benchmark['runs']), 'evidence')


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
