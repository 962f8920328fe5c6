# SPDX-License-Identifier: GPL-2.0-or-later
"""Each capability of each unit is needed: what it is for fails without it. The units have these
capabilities and no others (tests/machine/test_units.py)."""

import contextlib
import os
import pwd
import shutil
import subprocess
import time

# Not by a name that begins as those of tests do.
import test_target as whole
from lab import (ENVIRONMENT, FORGETS, START, Skip, Snapshot, become, boots, check, equal, jobs_done, note,
                 put_back, read, same, wait_for, write)
import target

BIN = '/var/tmp/lab-bin'  # where programs may be executed


def turns(path, text, quiet, *lines):
    """The target, with these lines as well, writes this file and puts it back. The kernel asks for a
    capability, although the file is root's."""
    before = read(path)
    write(path, text)
    try:
        with target.up('CPUS=2', *lines):
            equal(read(path), quiet, f'{path} meanwhile')
        equal(read(path), text, f'{path} afterwards')
    finally:
        put_back()
        write(path, before)


def balancing_off():
    turns('/proc/sys/kernel/numa_balancing', '1', '0')


def packets_are_kept_away():
    """net/core/net-sysfs.c asks for it."""
    turns('/sys/class/net/lo/queues/rx-0/rps_cpus', 'f', 'b', 'SMT=leave')


def irqbalance_is_asked():
    """The environment of a process that may do more is closed to root."""
    os.makedirs(BIN)
    shutil.copy(shutil.which('sleep'), f'{BIN}/irqbalance')
    try:
        with subprocess.Popen([f'{BIN}/irqbalance', '10000'],
                              env={**ENVIRONMENT, 'IRQBALANCE_BANNED_CPULIST': '2'}) as process:
            try:
                since = time.time()
                with target.up('CPUS=2', 'IRQ=leave'):
                    check('may bring interrupts here' not in whole.said(since, 'benchmark-check.service'),
                          'irqbalance is not believed')
            finally:
                process.kill()
    finally:
        shutil.rmtree(BIN)


@contextlib.contextmanager
def of_user():
    """A cpuset of cgroup v1 that belongs to a user, and nobody else may write; a program in it."""
    folder, nobody = '/sys/fs/cgroup/cpuset/delegated', pwd.getpwnam('nobody')
    os.makedirs(folder)
    for name, text in ('cpuset.mems', '0'), ('cpuset.cpus', '2-3'):
        write(f'{folder}/{name}', text)
    os.chown(f'{folder}/cpuset.cpus', nobody.pw_uid, nobody.pw_gid)
    with subprocess.Popen([*become('nobody'), 'sleep', '10000']) as process:
        try:
            write(f'{folder}/tasks', str(process.pid))
            yield f'{folder}/cpuset.cpus'
        finally:
            process.kill()
            process.wait()
            wait_for(lambda: not read(f'{folder}/tasks'), 'its end')
            os.rmdir(folder)


def cpuset_of_user_comes_back():
    """Hotplug takes a CPU from it, and root alone may not write it."""
    with of_user() as path:
        with target.up('CPUS=2', 'SHIELD=leave'):
            equal(read(path), '2', 'the cpuset meanwhile')
        equal(read(path), '2-3', 'the cpuset afterwards')
        equal(target.state('benchmark-smt.service'), 'inactive', 'SMT')


# The unit, the capability, and what fails without it.
NEEDED = (
    ('check', 'CAP_SYS_PTRACE', irqbalance_is_asked),
    ('irq', 'CAP_NET_ADMIN', packets_are_kept_away),
    ('noise', 'CAP_SYS_ADMIN', balancing_off),
    ('shield', 'CAP_DAC_OVERRIDE', whole.test_cgroup_v1),
    ('shield', 'CAP_SYS_NICE', whole.test_start_and_stop),
    ('smt', 'CAP_DAC_OVERRIDE', cpuset_of_user_comes_back),
    ('smt', 'CAP_SYS_NICE', whole.test_start_and_stop),
)

# What no guest can show: it takes a card with several queues, whose driver chooses their CPUs anew at each
# hotplug (drivers/net/virtio_net.c: virtnet_set_affinity()).
NOT_SEEN = (
    ('smt', 'CAP_NET_ADMIN'),
)


def fails_without(service, capability, work):
    with whole.dropin(service, f'CapabilityBoundingSet=~{capability}'):
        START.append(Snapshot())
        try:
            work()
        except AssertionError as error:
            note(f'{service} without {capability}: {error}')
        else:
            raise AssertionError(f'benchmark-{service}.service does not need {capability}')
        finally:
            put_back()
            jobs_done()
            START.pop()


def make(service, capability, work):
    @boots('cgroup-v1' if work in (cpuset_of_user_comes_back, whole.test_cgroup_v1) else 'plain')
    def test():
        if capability == 'CAP_SYS_NICE' and not FORGETS:
            raise Skip('this kernel remembers affinities: of threads that are not root\'s none is moved')
        # What no other test does must work where nothing is missing.
        if work.__module__ == __name__:
            work()
            same('it left')
        fails_without(service, capability, work)
    return test


for _service, _capability, _work in NEEDED:
    globals()[f'test_{_service}_needs_{_capability[4:].lower()}'] = make(_service, _capability, _work)
