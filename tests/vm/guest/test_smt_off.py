# SPDX-License-Identifier: GPL-2.0-or-later
"""smt-off: threads 0 and 1 are a core, 2 and 3 another."""

from lab import (CPUS, boots, check, equal, fail, interrupts, read, restore_leaves, succeed, turned,
                 write)


def online():
    return read(f'{CPUS}/online')


def movable():
    """Interrupts whose mask the kernel lets us write: it is asked by writing what is there."""
    found = []
    for number in interrupts():
        path = f'/proc/irq/{number}/smp_affinity'
        try:
            write(path, read(path))
            found.append(number)
        except OSError:
            pass
    return found


def mask(number):
    return int(read(f'/proc/irq/{number}/smp_affinity').replace(',', ''), 16)


@boots('plain', 'isolated', 'cgroup-v1')
def test_thread_beside_a_cpu():
    for cpu, left in ((2, '0-2'), (3, '0-1,3'), (0, '0,2-3')):
        with turned('smt-off', '-c', str(cpu)):
            equal(online(), left, f'online beside CPU {cpu}')
            equal(read(f'{CPUS}/smt/control'), 'on', 'SMT as a whole')
        equal(online(), '0-3', 'online again')


@boots('plain', 'cgroup-v1')
def test_whole_machine():
    with turned('smt-off'):
        equal((online(), read(f'{CPUS}/smt/control')), ('0,2', 'off'), 'online, control')


def test_cpu_0_stays():
    check('CPU 0' in fail(2, 'smt-off', '-c', '1'), 'why')
    equal(online(), '0-3', 'online')


def test_masks_of_interrupts_come_back():
    """The kernel sends an interrupt that loses its last CPU to all, and leaves it there."""
    before = {number: read(f'/proc/irq/{number}/smp_affinity') for number in movable()}
    for number in before:
        write(f'/proc/irq/{number}/smp_affinity', '8')
    for arguments in (['-c', '2'], ['--all']):
        with turned('smt-off', *arguments):
            check(any(not mask(number) & 8 for number in before), 'all stay on a CPU that is gone')
        equal({number: mask(number) for number in before}, dict.fromkeys(before, 8), 'masks')
    for number, text in before.items():
        write(f'/proc/irq/{number}/smp_affinity', text)


def test_cpu_that_was_offline_stays_so():
    write(f'{CPUS}/cpu1/online', '0')
    with turned('smt-off'):
        equal(online(), '0,2', 'online')
    equal(online(), '0,2-3', 'online again')
    write(f'{CPUS}/cpu1/online', '1')


def test_cpu_that_somebody_brought_back():
    succeed('smt-off', '-c', '2')
    write(f'{CPUS}/cpu3/online', '1')
    write(f'{CPUS}/cpu1/online', '0')
    succeed('smt-off', 'restore')
    equal(online(), '0,2-3', 'online: the other one is not ours')
    write(f'{CPUS}/cpu1/online', '1')
    # Meanwhile the masks that a network driver sets by itself were those of somebody else.
    succeed('smt-off', 'restore')


def test_mask_of_somebody_else_stays():
    number = movable()[-1]
    path = f'/proc/irq/{number}/smp_affinity'
    before = read(path)
    write(path, '8')
    succeed('smt-off', '-c', '2')
    write(path, '2')
    restore_leaves('smt-off', path)
    equal(mask(number), 2, 'mask')
    write(path, '8')
    succeed('smt-off', 'restore')
    write(path, before)
