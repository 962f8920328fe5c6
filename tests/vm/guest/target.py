# SPDX-License-Identifier: GPL-2.0-or-later
"""Starting and stopping benchmark.target."""

import contextlib
import os
import time

from lab import (CPUS, LONG, PATIENCE, SETTERS, START, Snapshot, call, check, equal, parse_list, programmed,
                 read, succeed, wait_for, write)

CONF = '/etc/quiesce/benchmark.conf'
SLICE = '/sys/fs/cgroup/benchmark.slice'
PARTITION = f'{SLICE}/cpuset.cpus.partition'
SERVICES = ('prepare', 'smt', 'shield', 'irq', 'freq', 'noise', 'check')


@contextlib.contextmanager
def configured(*lines):
    """Runs its block with these lines in benchmark.conf."""
    before = read(CONF)
    write(CONF, '\n'.join(lines) + '\n')
    try:
        yield
    finally:
        write(CONF, before + '\n')


def start():
    succeed('systemctl', 'start', 'benchmark.target', timeout=PATIENCE)


def stop():
    succeed('systemctl', 'stop', 'benchmark.target', timeout=PATIENCE)


@contextlib.contextmanager
def up(*lines):
    """Runs its block while the target is up with these lines in benchmark.conf. After a failure
    lab.put_back() stops the target."""
    with configured(*lines):
        start()
        yield
        stop()


def state(unit):
    return call('systemctl', 'is-active', unit).stdout.strip()


def is_quiet():
    """Checks that CPU 2 is as quiet as the configuration says."""
    equal(state('benchmark.target'), 'active', 'target')
    equal(read(f'{CPUS}/online'), '0-2', 'online')
    equal(read(PARTITION), 'isolated', 'partition')
    equal(parse_list(read(f'{SLICE}/cpuset.cpus.effective')), {2}, 'its CPUs')
    equal(programmed(2), 2700000, 'frequency')
    equal(int(read('/proc/irq/default_smp_affinity').replace(',', ''), 16) & 4, 0, 'interrupts')
    equal(read('/proc/sys/kernel/timer_migration'), '0', 'timers')


def turned_by_target():
    """{path: text before} of the settings that the running target has changed since the test began,
    and that a boot sets anew."""
    before, now = START[-1].texts, Snapshot().texts
    return {path: text for path, text in before.items()
            if path.startswith(('/sys/devices/', '/sys/kernel/', '/proc/')) and now.get(path) != text}


def nothing_left(was):
    """Checks after a boot that nothing is left of a target that was up before the boot."""
    equal(state('benchmark.target'), 'inactive', 'target')
    for tool in SETTERS:
        check(not os.path.exists(f'/run/quiesce/{tool}.journal'), f'a journal of {tool}')
    # Drivers may request their interrupts only now.
    end = time.monotonic() + LONG
    for path, text in was.items():
        while (now := ' '.join((read(path) or '').split())) != text and time.monotonic() < end:
            time.sleep(0.2)
        equal(now, text, path)
    equal(succeed('systemctl', 'list-units', '--failed', '--no-legend', 'benchmark*'), '', 'failed')


def cgroups():
    """{(pid, start): cgroup} of all processes. A process that was moved has another cgroup."""
    found = {}
    for pid in filter(str.isdigit, os.listdir('/proc')):
        stat, cgroup = read(f'/proc/{pid}/stat'), read(f'/proc/{pid}/cgroup')
        if stat and cgroup:
            name = cgroup.split('0::', 1)[-1].splitlines()[0]
            found[int(pid), stat[stat.rindex(')') + 2:].split()[19]] = name
    return found


def moved(before):
    """The processes whose cgroup is not the one that they had before."""
    now = cgroups()
    return [f'process {key[0]}: was in {old}, is in {now[key]}'
            for key, old in sorted(before.items()) if now.get(key, old) != old]


def inside():
    """The processes on the quiet CPUs."""
    return [key[0] for key, name in sorted(cgroups().items())
            if name.startswith('/benchmark.slice')]
