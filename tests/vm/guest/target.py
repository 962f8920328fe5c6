# SPDX-License-Identifier: GPL-2.0-or-later
"""Starting and stopping benchmark.target."""

import contextlib

from lab import CPUS, call, equal, parse_list, programmed, read, succeed, wait_for, write

CONF = '/etc/quiesce/benchmark.conf'
PARTITION = '/sys/fs/cgroup/benchmark.slice/cpuset.cpus.partition'
SERVICES = ('prepare', 'smt', 'shield', 'irq', 'freq', 'noise', 'check')


@contextlib.contextmanager
def configured(*lines):
    """With these lines in benchmark.conf."""
    before = read(CONF)
    write(CONF, '\n'.join(lines) + '\n')
    try:
        yield
    finally:
        write(CONF, before + '\n')


def start():
    succeed('systemctl', 'start', 'benchmark.target', timeout=400)


def stop():
    succeed('systemctl', 'stop', 'benchmark.target', timeout=400)


def state(unit):
    return call('systemctl', 'is-active', unit).stdout.strip()


def is_quiet():
    """CPU 2, as configured."""
    equal(state('benchmark.target'), 'active', 'target')
    equal(read(f'{CPUS}/online'), '0-2', 'online')
    equal(read(PARTITION), 'isolated', 'partition')
    equal(parse_list(read('/sys/fs/cgroup/benchmark.slice/cpuset.cpus.effective')), {2}, 'its CPUs')
    equal(programmed(2), 2700000, 'frequency')
    equal(int(read('/proc/irq/default_smp_affinity').replace(',', ''), 16) & 4, 0, 'interrupts')
    equal(read('/proc/sys/kernel/timer_migration'), '0', 'timers')


def jobs_done():
    """systemd has done all that it was asked for."""
    wait_for(lambda: not call('systemctl', 'list-jobs', '--no-legend').stdout, 'jobs of systemd')
