# SPDX-License-Identifier: GPL-2.0-or-later
"""smt-off: threads 0 and 1 are a core, 2 and 3 another."""

import contextlib
import os
import pathlib
import subprocess
import time

from lab import (BUSY, CPUS, balanced, boots, call, check, equal, fail, interrupts, note, read, restore_leaves, same,
                 succeed, turned, wait_for, write)

CGROUPS = pathlib.Path('/sys/fs/cgroup')
# include/linux/sched.h
PF_KTHREAD, PF_NO_SETAFFINITY = 0x00200000, 0x04000000
# The CPUs of programs, and whether they are busy.
CHOICES = {'bound': ({3}, False), 'busy': ({3}, True), 'both threads': ({2, 3}, False),
           'another core': ({0, 1}, False), 'mixed': ({1, 3}, True), 'anywhere': (None, False)}


def online():
    return read(f'{CPUS}/online')


def movable():
    """Interrupts whose mask the kernel lets us write: found by writing the mask that is there."""
    found = []
    for number in interrupts():
        path = f'/proc/irq/{number}/smp_affinity'
        try:
            write(path, read(path))
            found.append(number)
        except OSError:
            pass
    return found


def of_network():
    """Interrupts of network devices, whose drivers set the mask themselves when a CPU comes or goes
    (virtnet_cpu_online() in drivers/net/virtio_net.c)."""
    folders = pathlib.Path('/sys/class/net')
    return {int(path.name) for where in ('device/msi_irqs', 'device/../msi_irqs')
            for path in folders.glob(f'*/{where}/*')}


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
    """The kernel sends an interrupt whose last CPU goes offline to all CPUs, and does not undo
    that."""
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
    # While CPU 1 was offline, a network driver may have set masks itself, which restore then left alone.
    succeed('smt-off', 'restore')


def test_mask_of_somebody_else_stays():
    number = [each for each in movable() if int(each) not in of_network()][-1]
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


# --- Affinities ---

@contextlib.contextmanager
def programs(group=None):
    """The programs of CHOICES, in a cgroup if one is named: {name: process}"""
    running = {}
    try:
        for name, (cpus, busy) in CHOICES.items():
            running[name] = subprocess.Popen(BUSY if busy else ['sleep', '10000'])
            if group:
                write(group / 'cgroup.procs', str(running[name].pid))
            if cpus:
                os.sched_setaffinity(running[name].pid, cpus)
        yield running
    finally:
        for process in running.values():
            process.kill()
            process.wait()


def affinities(running):
    return {name: os.sched_getaffinity(process.pid) for name, process in running.items()}


@contextlib.contextmanager
def cpuset():
    """A cpuset below the root."""
    old = CGROUPS / 'cpuset'
    group = (old if old.exists() else CGROUPS) / 'lab'
    if old.exists():
        group.mkdir()
        write(group / 'cpuset.mems', '0')
        write(group / 'cpuset.cpus', '0-3')
    else:
        write(CGROUPS / 'cgroup.subtree_control', '+cpuset')
        group.mkdir()
    yield group
    wait_for(lambda: not read(group / 'cgroup.procs'), 'programs to end')
    group.rmdir()
    if not old.exists():
        write(CGROUPS / 'cgroup.subtree_control', '-cpuset')


def check_affinities(running, before):
    with turned('smt-off', '-c', '2'):
        # Some threads lose their binding, which the kernel notices when they run.
        time.sleep(1)
        check(not any(3 in cpus for cpus in affinities(running).values()), 'CPU 3 is in use')
    equal(affinities(running), before, 'affinities')


@boots('plain', 'cgroup-v1')
def test_affinities_come_back():
    with programs() as running:
        before = affinities(running)
        equal(before['mixed'], {1, 3}, 'affinity before')
        check_affinities(running, before)
        with turned('smt-off'):
            equal(online(), '0,2', 'online')
        equal(affinities(running), before, 'affinities after all threads')


@boots('plain', 'cgroup-v1')
def test_affinities_in_a_cpuset_come_back():
    with cpuset() as group, programs(group) as running:
        check_affinities(running, affinities(running))


def test_affinity_that_somebody_sets():
    with programs() as running:
        succeed('smt-off', '-c', '2')
        pid = running['busy'].pid
        os.sched_setaffinity(pid, {1})
        restore_leaves('smt-off', f'({pid})')
        equal(affinities(running)['busy'], {1}, 'affinity')
        succeed('smt-off', 'restore', '--force')
        equal(affinities(running)['busy'], {3}, 'affinity by force')


@boots('cgroup-v1')
def test_shield_by_affinities():
    """The shield holds where the kernel forgets the affinities of programs, in a cpuset and out of it."""
    with cpuset() as group, programs(group) as inside, programs() as outside:
        before = affinities(inside), affinities(outside)
        with turned('cpu-shield', '-c', '2'):
            shielded = affinities(inside), affinities(outside)
            with turned('smt-off', '-c', '2'):
                time.sleep(1)
                for running in inside, outside:
                    there = {name: cpus for name, cpus in affinities(running).items() if cpus & {2, 3}}
                    equal(there, {}, 'may run on the quiet CPU')
            equal((affinities(inside), affinities(outside)), shielded, 'affinities with all CPUs')
        equal((affinities(inside), affinities(outside)), before, 'affinities')


def kernel_threads_on(cpu):
    """{name (number): CPUs} of the kernel threads that can be moved, and may come to this CPU."""
    found = {}
    for path in pathlib.Path('/proc').glob('[0-9]*/stat'):
        try:
            told = path.read_text()
            number, name, fields = path.parent.name, told.split('(')[1].split(')')[0], told.rpartition(')')[2].split()
            cpus = os.sched_getaffinity(int(number))
        except (OSError, ValueError):
            continue  # it has ended
        flags = int(fields[6])
        if flags & PF_KTHREAD and not flags & PF_NO_SETAFFINITY and cpu in cpus:
            found[f'{name} ({number})'] = sorted(cpus)
    return found


def test_shield_by_a_partition():
    """When a CPU goes or comes, the kernel binds some of its threads anew, whatever partitions there are: none
    of them gets the quiet CPU back."""
    with turned('cpu-shield', '-c', '2'):
        before = kernel_threads_on(2)
        note(f'with the shield: {before}')
        with turned('smt-off', '-c', '2'):
            equal(kernel_threads_on(2), before, 'without CPU 3')
        equal(kernel_threads_on(2), before, 'with CPU 3')
        # The same by somebody else, until the shield is asked for again.
        write(f'{CPUS}/cpu3/online', '0')
        write(f'{CPUS}/cpu3/online', '1')
        note(f'with CPU 3 off and on by others: {kernel_threads_on(2)}')
        succeed('cpu-shield', '-c', '2')
        equal(kernel_threads_on(2), before, 'shielded again')


def test_steered_interrupts():
    """Network drivers send their interrupts elsewhere when a CPU goes or comes; so does the kernel with those
    that had no other CPU. None of those that irq-steer keeps away from the quiet CPU comes to it."""
    alone = [n for n in movable() if int(n) not in of_network()][-1]
    path = f'/proc/irq/{alone}/smp_affinity'
    was = read(path)
    write(path, '8')
    before = {n: mask(n) for n in movable()}
    with turned('irq-steer', '-c', '2'):
        steered = {n: mask(n) for n in movable()}
        equal([n for n in steered if steered[n] & 4], [], 'steered')
        with turned('smt-off', '-c', '2'):
            note(f'without CPU 3: {({n: mask(n) for n in before if mask(n) != steered[n]})}')
            equal([n for n in steered if mask(n) & 4], [], 'may come to CPU 2 without CPU 3')
        equal({n: mask(n) for n in steered}, steered, 'with CPU 3')
        succeed('smt-off', '-c', '2')
    # The one that was applied last has them all.
    succeed('smt-off', 'restore')
    equal({n: mask(n) for n in before}, before, 'in the other order')
    write(path, was)


def test_beside_irqbalance():
    """What irqbalance has moved meanwhile was not chosen by anybody: nothing is said, and no journal stays."""
    with balanced():
        succeed('smt-off', '-c', '2')
        time.sleep(25)  # two of its passes
        said = call('smt-off', 'restore')
        equal((said.returncode, said.stdout, said.stderr), (0, '', ''), 'restore')
        equal(list(pathlib.Path('/run/quiesce').glob('*.journal')), [], 'left')


def test_shield_that_ends_first():
    """The shield ends before the siblings are back, which is the wrong order: the kernel gives all
    programs only the CPUs that are online at that moment."""
    succeed('cpu-shield', '-c', '2-3')
    succeed('smt-off', '-c', '2')
    succeed('cpu-shield', 'restore')
    succeed('smt-off', 'restore')
    same('shield and SMT')
