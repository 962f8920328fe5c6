# SPDX-License-Identifier: GPL-2.0-or-later
"""noise-off: the kernel's own work."""

from lab import (CPUS, boots, check, equal, knobs, read, restore_leaves, succeed, turned, write)


@boots('plain', 'isolated', 'cgroup-v1')
def test_what_was_asked_is_so():
    with turned('noise-off', '-c', '2'):
        equal(int(read('/sys/devices/virtual/workqueue/cpumask'), 16) & 4, 0, 'workqueues on CPU 2')
        equal(read('/proc/sys/kernel/timer_migration'), '0', 'timers')
        check(int(read('/proc/sys/vm/stat_interval')) >= 120, 'vmstat')
        equal(read('/sys/kernel/mm/ksm/run'), '0', 'ksm')
        check('[always]' not in read('/sys/kernel/mm/transparent_hugepage/enabled'), 'thp')
        equal(read('/proc/sys/kernel/perf_event_max_sample_rate'), '1', 'sample rate')


def test_no_row_claims_what_the_file_does_not_say():
    with turned('noise-off', '-c', '2'):
        rows = knobs('noise-off', 'status', '-c', '2', '-v')
        applied = [row for row in rows.values()
                   if row['state'] == 'applied' and row['path'].startswith('/')]
        check(len(applied) > 4, rows)
        for row in applied:
            equal(' '.join(read(row['path']).split()), row['now'], row['path'])


def test_what_is_only_done_when_named():
    aslr = read('/proc/sys/kernel/randomize_va_space')
    with turned('noise-off', '-c', '2'):
        equal(read('/proc/sys/kernel/randomize_va_space'), aslr, 'ASLR')
    with turned('noise-off', '-c', '2', '--only', 'aslr'):
        equal(read('/proc/sys/kernel/randomize_va_space'), '0', 'ASLR')


def test_value_of_somebody_else_stays():
    path = '/proc/sys/vm/stat_interval'
    before = read(path)
    succeed('noise-off', '-c', '2')
    write(path, '77')
    restore_leaves('noise-off', path)
    equal(read(path), '77', 'stat_interval')
    write(path, before)
    succeed('noise-off', 'restore')


def test_idle_states():
    """pm_qos: the text 0 means that there is no limit, and n/a a limit of zero."""
    path = f'{CPUS}/cpu2/power/pm_qos_resume_latency_us'
    write(path, '50')
    with turned('noise-off', '-c', '2'):
        pass
    equal(read(path), '50', 'limit')
    write(path, '0')
