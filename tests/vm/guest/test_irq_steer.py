# SPDX-License-Identifier: GPL-2.0-or-later
"""irq-steer: MSI interrupts that move, queues of the disk that the kernel manages, and irqbalance."""

import os
import re
import shutil
import time

from lab import (WAIT, balanced, boots, call, check, equal, fail, interrupts, knobs, may_come_to, note, parse_list,
                 read, restore_leaves, restored_while_it_waits, succeed, wait_for, write, written)
from target import state


def effective(number):
    return parse_list(read(f'/proc/irq/{number}/effective_affinity_list'))


def counts(cpu):
    """How often each interrupt has fired on a CPU."""
    lines = read('/proc/interrupts').splitlines()
    column = lines[0].split().index(f'CPU{cpu}')
    return {int(line.split(':')[0]): int(line.split()[1 + column]) for line in lines[1:]
            if line.split(':')[0].strip().isdigit()}


def total():
    return {n: sum(counts(cpu)[n] for cpu in range(4)) for n in counts(0)}


def work():
    """Makes the disk, the serial line and the timer fire interrupts."""
    with open('/var/tmp/work', 'wb') as file:
        for _ in range(16):
            file.write(os.urandom(65536))
            file.flush()
            os.fsync(file.fileno())
    os.unlink('/var/tmp/work')
    note('the serial line has something to do, too')


def steer(cpu):
    """Applies. Returns the numbers of the interrupts that moved or were elsewhere, and the rows of
    those that the kernel does not let it move."""
    rows = {int(name.split()[1]): row for (name, _), row in
            knobs('irq-steer', '-c', str(cpu), '-v').items() if name.startswith('irq ')}
    movable = [number for number, row in rows.items() if row['state'] in ('applied', 'already')]
    return movable, [row for number, row in rows.items() if number not in movable]


@boots('plain', 'isolated', 'cgroup-v1')
def test_interrupts_land_elsewhere():
    """Checks the mask of each interrupt, the CPU that the chip tells, and the CPU on which the
    interrupt really fires."""
    for cpu in (2, 3):
        movable, _ = steer(cpu)
        check(len(movable) > 5, f'only {movable} move')
        for number in movable:
            check(cpu not in parse_list(read(f'/proc/irq/{number}/smp_affinity_list')),
                  f'mask of {number}')
        check(cpu not in mask('default_smp_affinity'), 'default mask')
        # Some chips move a line with its next interrupt, which still fires where it was.
        began, before = total(), counts(cpu)
        work()
        work()
        after = counts(cpu)
        equal({n: after[n] - before.get(n, 0) for n in movable
               if after.get(n, 0) > before.get(n, 0) + 1}, {},
              f'interrupts that fired on CPU {cpu}')
        fired = {n: count - began.get(n, 0) for n, count in total().items() if n in movable}
        # Those of disks are the kernel's to place, from 6.12 on.
        check(any(fired.values()), f'none of {sorted(fired)} fired')
        for number, count in fired.items():
            # A line whose last move the chip has not finished waits for one interrupt more
            # (kernel/irq/migration.c: -EBUSY), and the round before has just moved them twice.
            check(count < 4 or cpu not in effective(number),
                  f'interrupt {number} goes to CPU {cpu} after {count} more')
        succeed('irq-steer', 'restore')


def mask(name):
    bits = int(read(f'/proc/irq/{name}').replace(',', ''), 16)
    return {cpu for cpu in range(64) if bits >> cpu & 1}


def test_managed_interrupts_are_told():
    _, refused = steer(3)
    check(any('virtio' in row['knob'] for row in refused),
          f'a queue of the disk should be managed by the kernel: {refused}')
    check(all(row['why'] for row in refused), refused)
    succeed('irq-steer', 'restore')
    fail(1, 'irq-steer', '-c', '3', '--strict')


def test_mask_of_somebody_else_stays():
    succeed('irq-steer', '-c', '2')
    path = '/proc/irq/default_smp_affinity'
    write(path, '3')
    restore_leaves('irq-steer', path)
    equal(mask('default_smp_affinity'), {0, 1}, 'default mask')
    write(path, 'f')
    succeed('irq-steer', 'restore')


def environment(name):
    """The variables of a running program about banned CPUs."""
    pid = succeed('pidof', name).strip()
    return [word for word in read(f'/proc/{pid}/environ').split('\0') if word.startswith('IRQBALANCE_BANNED')]


def succeed_or_find(*arguments):
    """The lines of a program that may also find something (exit status 3)."""
    done = call(*arguments)
    check(done.returncode in (0, 3), done.stderr)
    return done.stdout.splitlines()


def test_irqbalance_keeps_away():
    """irq-steer tells irqbalance over its socket which CPUs to leave alone, and tells it the former
    ones in the end. An irqbalance that is started anew meanwhile, as by an upgrade, leaves them alone,
    too."""
    with balanced():
        pid = succeed('pidof', 'irqbalance')
        succeed('irq-steer', '-c', '3')
        rows = knobs('irq-steer', 'status', '-c', '3')
        banned = [row for (name, _), row in rows.items() if 'irqbalance' in name]
        equal([row['state'] for row in banned], ['applied', 'applied'], f'banned CPUs: {banned}')
        succeed('irq-steer', 'restore')
        equal(succeed('pidof', 'irqbalance'), pid, 'irqbalance itself')
        succeed('irq-steer', '-c', '3')
        before = may_come_to(3)
        succeed('systemctl', 'restart', 'irqbalance')
        wait_for(lambda: not call('pidof', 'irqbalance').returncode, 'the new irqbalance')
        equal(environment('irqbalance'), ['IRQBALANCE_BANNED_CPUS=8', 'IRQBALANCE_BANNED_CPULIST=3'],
              'its environment')
        # Two of its passes.
        time.sleep(25)
        equal(may_come_to(3).keys() - before.keys(), set(), 'interrupts that may come to the quiet CPU')
        rows = [line for line in succeed_or_find('isol-check', '-c', '3') if re.match(r' *irqbalance +\w+ ', line)]
        check(any(re.match(' *irqbalance +ok ', row) for row in rows), rows)
        succeed('irq-steer', 'restore')
        equal(environment('irqbalance'), [], 'the environment of irqbalance after restore')


def test_irqbalance_that_stops_late():
    """irq-steer asks systemd to stop an irqbalance without a socket. The service runs until the stop
    is carried out, which may be after a restore: so restore has to ask for a start."""
    equal(state('irqbalance'), 'inactive', 'irqbalance')
    program = '/var/tmp/irqbalance'
    shutil.copy('/usr/bin/sleep', program)
    try:
        # A stop of irqbalance stops the other unit first.
        with written(('irqbalance.service', f'[Service]\nExecStart={program} infinity\n'),
                     ('lab-wait.service', '[Unit]\nPartOf=irqbalance.service\nAfter=irqbalance.service\n'
                      '[Service]\nType=oneshot\nRemainAfterExit=yes\nTimeoutSec=infinity\n'
                      f'ExecStart=true\nExecStop={WAIT}\n')):
            succeed('systemctl', 'start', 'irqbalance', 'lab-wait')
            try:
                restored_while_it_waits('irqbalance.service', 'stop', 'irq-steer', '-c', '3')
                equal(state('irqbalance'), 'active', 'irqbalance after restore')
            finally:
                succeed('systemctl', 'stop', 'irqbalance', 'lab-wait')
    finally:
        os.unlink(program)
