# SPDX-License-Identifier: GPL-2.0-or-later
"""freq-pin with the driver acpi-cpufreq: 2701 (boost), 2700, 2000 and 1600 MHz."""

import shlex

from lab import (BUSY, CPUS, call, check, equal, fail, knobs, measure, note, programmed, read, restore_leaves, same, succeed,
                 turned, wait_for, write)


def policy(cpu, name):
    return read(f'{CPUS}/cpufreq/policy{cpu}/{name}')


def runs_at(cpu, khz):
    wait_for(lambda: programmed(cpu) == khz, f'CPU {cpu} at {khz} kHz', 20)
    equal((policy(cpu, 'scaling_min_freq'), policy(cpu, 'scaling_max_freq')),
          (str(khz), str(khz)), f'limits of CPU {cpu}')


def test_base_is_without_boost():
    with turned('freq-pin'):
        for cpu in range(4):
            runs_at(cpu, 2700000)
            equal(policy(cpu, 'scaling_governor'), 'performance', 'governor')


def test_each_frequency():
    with turned('freq-pin', 'max'):
        for word, khz in (('min', 1600000), ('2GHz', 2000000), ('2700MHz', 2700000)):
            succeed('freq-pin', word)
            for cpu in range(4):
                runs_at(cpu, khz)


def test_only_the_cpus_that_are_named():
    others = [(policy(cpu, 'scaling_max_freq'), policy(cpu, 'scaling_governor')) for cpu in range(3)]
    with turned('freq-pin', '-c', '3', '1600000'):
        runs_at(3, 1600000)
        equal([(policy(cpu, 'scaling_max_freq'), policy(cpu, 'scaling_governor'))
               for cpu in range(3)], others, 'other CPUs')


def test_what_it_shows():
    with turned('freq-pin', '-c', '2', 'min'):
        words = {row['state'] for row in knobs('freq-pin', 'status', '-c', '2', 'min').values()}
        check('applied' in words and words <= {'applied', 'already', 'unavailable', None}, words)
        check('applied' in succeed('freq-pin', 'status', user='nobody'), 'status of a user')


def test_a_frequency_that_it_has_not():
    said = fail(2, 'freq-pin', '2.3GHz')
    check('2.7' in said and '1.6' in said, f'those that it has are not listed: {said}')
    same('a refused frequency changed')


def test_limit_of_somebody_else_stays():
    limit = f'{CPUS}/cpufreq/policy2/scaling_max_freq'
    before = read(limit)
    succeed('freq-pin', '-c', '2', 'min')
    write(limit, '2000000')
    wait_for(lambda: read(limit) == '2000000', 'the other limit')
    restore_leaves('freq-pin', limit)
    equal(read(limit), '2000000', 'the limit of somebody else')
    write(limit, before)
    succeed('freq-pin', 'restore')


def test_force_overrules_somebody_else():
    limit = f'{CPUS}/cpufreq/policy2/scaling_max_freq'
    succeed('freq-pin', '-c', '2', 'min')
    write(limit, '2000000')
    wait_for(lambda: read(limit) == '2000000', 'the other limit')
    succeed('freq-pin', 'restore', '--force')


def test_with_a_cpu_offline():
    write(f'{CPUS}/cpu3/online', '0')
    try:
        with turned('freq-pin', 'min'):
            runs_at(2, 1600000)
    finally:
        write(f'{CPUS}/cpu3/online', '1')


def test_cpu_unplugged_meanwhile():
    """The policy of the CPU may come back with other limits. That is no error, and everything is
    put back."""
    succeed('freq-pin', 'min')
    write(f'{CPUS}/cpu3/online', '0')
    write(f'{CPUS}/cpu3/online', '1')
    equal(call('freq-pin', 'restore', '--force').returncode, 0, 'restore')


def busy(seconds):
    return f'timeout {seconds} {shlex.join(BUSY)}; :'


def limited(khz, *which):
    return [f'echo {khz} > {CPUS}/cpufreq/policy2/scaling_{name}_freq' for name in which]


def test_time_at_frequencies_is_evidence():
    """What the kernel counts of the frequencies between two runs: one of them, and two."""
    def figures(what, *program):
        _, runs = measure('-c', '2', '-n', '1', '-w', '0', 'sh', '-c', '; '.join(program))
        one = runs[0]['metadata']
        found = [one.get(f'quiesce_{name}') for name in ('mean_khz', 'frequency_changes', 'deep_idle')]
        note(f'{what}: mean, changes, deep idle: {found}')
        return found

    with turned('freq-pin', '-c', '2', 'min'):
        runs_at(2, 1600000)
        mean, changes, idle = figures('1 s at 1.6 GHz', busy(1))
        equal((mean, changes), (1600000, 0), 'held at one frequency')
        check(idle is None or 0 <= idle < 2, f'idle for {idle} s')
        mean, changes, _ = figures('2 s at 2 GHz, 2 s at 1.6', *limited(2000000, 'max', 'min'), busy(2),
                                   *limited(1600000, 'min', 'max'), busy(2))
        check(changes is not None and 2 <= changes <= 4, f'there and back: {changes} changes')
        check(mean is not None and 1600000 < mean < 2000000, f'a part of the time at each: {mean}')
        runs_at(2, 1600000)
