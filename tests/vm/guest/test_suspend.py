# SPDX-License-Identifier: GPL-2.0-or-later
"""The target while the machine is suspended to memory: as far as the kernel tests that, without the last
step (pm_test, Documentation/power/basic-pm-debugging.rst). Its devices and CPUs go, and come back."""

import os
import subprocess

from lab import (CPUS, SETTERS, Skip, call, check, equal, interrupts, note, parse_list, programmed, read, succeed,
                 wait_for, write)
import target


def suspend():
    if not os.path.exists('/sys/power/pm_test'):
        raise Skip('this kernel has no pm_test')
    write('/sys/power/pm_test', 'processors')
    try:
        write('/sys/power/state', 'mem')
    finally:
        write('/sys/power/pm_test', 'none')


def may_come_to(cpu):
    """The interrupts that can be moved and may come to this CPU: {number: action}."""
    found = {}
    for number, action in interrupts().items():
        path = f'/proc/irq/{number}/smp_affinity_list'
        # Queues of disks are the kernel's to place.
        if cpu in parse_list(read(path)) and os.stat(path).st_mode & 0o200 and '-req.' not in action:
            found[number] = action
    return found


def test_target():
    """What the target has set holds after a suspend, and what was there before comes back: also for
    interrupts, which have other numbers then."""
    bound = subprocess.Popen(['taskset', '-c', '1', 'sleep', '100000'])
    try:
        holds(bound.pid)
    finally:
        bound.kill()
        bound.wait()


def holds(pid):
    numbers = interrupts()
    with target.up('CPUS=2'):
        suspend()
        wait_for(lambda: read(f'{CPUS}/online') == '0-2', 'CPUs')
        equal(read(target.PARTITION), 'isolated', 'partition')
        equal(parse_list(read(f'{target.SLICE}/cpuset.cpus.effective')), {2}, 'its CPUs')
        changed = {n for n, action in interrupts().items() if numbers.get(n, action) != action}
        note(f'{os.uname().release}: other interrupts at {sorted(changed)}; to CPU 2 may come {may_come_to(2)}; '
             f'bound to 1: {os.sched_getaffinity(pid)}; frequency {programmed(2)}')
        for tool in SETTERS:
            done = call(tool, 'status', '--brief', timeout=300)
            check('somebody else' not in done.stdout + done.stderr, f'{tool}: {done.stdout}{done.stderr}')
    said = succeed('journalctl', '--no-pager', '-q', '-b', *(f'-t{tool}' for tool in SETTERS))
    check('somebody else' not in said, said)
    equal(os.sched_getaffinity(pid), {1}, 'CPUs of a program that was bound')
