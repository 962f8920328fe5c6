# SPDX-License-Identifier: GPL-2.0-or-later
"""The target while the machine is suspended to memory: as far as the kernel tests that, without the last
step (pm_test, Documentation/power/basic-pm-debugging.rst). Its devices and CPUs go, and come back."""

import os
import time

from lab import (CPUS, SETTERS, START, Skip, bound, call, check, equal, interrupts, may_come_to, note, parse_list,
                 programmed, read, succeed, wait_for, write)
import target


def suspend():
    if not os.path.exists('/sys/power/pm_test'):
        raise Skip('this kernel has no pm_test')
    write('/sys/power/pm_test', 'processors')
    try:
        write('/sys/power/state', 'mem')
    finally:
        write('/sys/power/pm_test', 'none')


def test_target():
    """What the target has set holds after a suspend, and what was there before comes back: also for
    interrupts, which have other numbers then."""
    # The kernel gives its own queues other CPUs when it wakes up.
    for number in interrupts():
        file = f'/proc/irq/{number}/smp_affinity'
        if not os.stat(file).st_mode & 0o222:
            del START[-1].texts[file]
    with bound() as chosen:
        before, numbers, since = chosen(), interrupts(), time.time()
        with target.up('CPUS=2'):
            suspend()
            wait_for(lambda: read(f'{CPUS}/online') == '0-2', 'CPUs')
            equal(read(target.PARTITION), 'isolated', 'partition')
            equal(parse_list(read(f'{target.SLICE}/cpuset.cpus.effective')), {2}, 'its CPUs')
            changed = {n for n, action in interrupts().items() if numbers.get(n, action) != action}
            note(f'{os.uname().release}: other interrupts at {sorted(changed)}; to CPU 2 may come {may_come_to(2)}; '
                 f'bound: {chosen()}; frequency {programmed(2)}')
            for tool in SETTERS:
                done = call(tool, 'status', '--brief', timeout=300)
                # 4: what is missing is the hypervisor's to do.
                check(done.returncode in (0, 3, 4), f'{tool}: status {done.returncode}: {done.stdout}{done.stderr}')
                check('somebody else' not in done.stdout + done.stderr, f'{tool}: {done.stdout}{done.stderr}')
        said = succeed('journalctl', '--no-pager', '-q', f'--since=@{since}', *(f'-t{tool}' for tool in SETTERS))
        check(said and 'somebody else' not in said, f'in the journal: {said}')
        equal(chosen(), before, 'CPUs of programs that were bound')
