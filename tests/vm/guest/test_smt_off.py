# SPDX-License-Identifier: GPL-2.0-or-later
"""smt-off: threads 0 and 1 are a core, 2 and 3 another."""

import contextlib
import os
import pathlib
import subprocess
import time

from lab import (BUSY, CPUS, boots, check, equal, fail, interrupts, read, restore_leaves, same, succeed,
                 turned, wait_for, write)

CGROUPS = pathlib.Path('/sys/fs/cgroup')
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


def test_shield_that_ends_first():
    """The shield ends before the siblings are back, which is the wrong order: the kernel gives all
    programs only the CPUs that are online at that moment."""
    succeed('cpu-shield', '-c', '2-3')
    succeed('smt-off', '-c', '2')
    succeed('cpu-shield', 'restore')
    succeed('smt-off', 'restore')
    same('shield and SMT')
