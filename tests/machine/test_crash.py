#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A setter is killed at every system call that writes, and restore gives the machine back.

Which setter: $KILLED. What is killed, and what must hold then: crash.c.
"""

import json
import os
import pathlib

import machine
from machine import check, equal

THP = 'sys/kernel/mm/transparent_hugepage/enabled'
CPU = 'sys/devices/system/cpu'


def mini_files(box):
    """A small machine with all that the mini-setter turns."""
    box.write(THP, '[always] madvise never\n')
    box.write('proc/sys/kernel/nmi_watchdog', '1\n')
    box.write('proc/sys/kernel/watchdog_cpumask', '0-1\n')
    box.write('sys/kernel/mm/ksm/run', '1\n')
    for cpu in range(2):
        box.write(f'{CPU}/cpu{cpu}/power/pm_qos_resume_latency_us', '0\n')
        box.write(f'{CPU}/cpu{cpu}/cpufreq/scaling_max_freq', '3000000\n')


def cgroups(box, *, of='0::/\n', **config):
    """A machine with cgroup v2 that nobody manages, and Linux behind its files."""
    config = json.dumps({'online': '0-5', 'cgroups': ['system'], **config})
    kernel = ['env', f'TEST_CGROUPS={config}', *machine.simulator('cgroups.py')]
    box.write('cgroup', of)
    made = box.run(*kernel, 'make', root=True)
    equal(made.returncode, 0, f'making cgroups: {made.stderr}')
    return [*kernel, 'run', 'env', f'LD_PRELOAD={os.environ["KERNEL"]} {os.environ["ALLOWED"]}',
            f'TEST_ALLOWED_CPUS={6 * "1"}', f'TEST_CGROUP={box.root / "cgroup"}']


def old_cgroups(box):
    """The same before 6.1: by affinities in the end."""
    return cgroups(box, refuses=['isolated'], stays=True, hides=['cpuset.cpus.exclusive'])


def cpusets(box):
    """A machine with cgroup v1, where a container has a cpuset that is not in the way."""
    return cgroups(box, of='3:cpuset:/\n0::/\n', version=1, cgroups={'docker': '0,3-5'})


def threads(box):
    """A core whose second thread goes offline, which threads do not get over by themselves."""
    machine.two_cpus()
    config = json.dumps({**machine.make_core(box), 'threads': 'late'})
    (box.root / 'mountinfo').write_text('21 1 0:20 / /sys rw - sysfs sysfs rw\n')
    return ['env', f'TEST_HOTPLUG={config}', *machine.simulator('hotplug.py'), 'run', 'env',
            f'LD_PRELOAD={os.environ["KERNEL"]}', f'TEST_MOUNTINFO={box.root / "mountinfo"}']


def offline(box):
    """Linux behind the files of a machine that has a cpuset of cgroup v1, and of which somebody has
    taken a CPU offline."""
    for folder, cpus in (('', '0-5'), ('/bench', '2-3')):
        box.write(f'sys/fs/cgroup/cpuset{folder}/cpuset.cpus', f'{cpus}\n')
    (box.root / 'mountinfo').write_text(
        '31 21 0:28 / /sys/fs/cgroup/cpuset rw shared:10 - cgroup cgroup rw,cpuset\n')
    config = json.dumps({'cores': [[cpu, cpu + 3] for cpu in range(3)], 'width': 6, 'release': [6, 12]})
    kernel = ['env', f'TEST_HOTPLUG={config}', *machine.simulator('hotplug.py')]
    taken = box.run(*kernel, f'/{CPU}/cpu5/online', '0', root=True)
    equal(taken.returncode, 0, f'taking a CPU offline: {taken.stderr}')
    return [*kernel, 'run', 'env', f'LD_PRELOAD={os.environ["KERNEL"]} {os.environ["ALLOWED"]}',
            f'TEST_ALLOWED_CPUS={6 * "1"}', f'TEST_MOUNTINFO={box.root / "mountinfo"}']


# The machines and arguments of each tool: few CPUs, because each system call that writes costs a
# dozen processes, and in tests/faults each system call dozens of them.
CASES = {
    'mini-setter': [('vm-plain', ['-c', '0-1'], mini_files)],
    'irq-steer': [('irqs', ['-c', '1'], None)],
    'smt-off': [('small-smt', ['-c', '0,1'], offline), ('small-smt', ['--all'], None),
                ('vm-plain', ['-c', '0'], threads)],
    'noise-off': [('noisy-server', ['-c', '1'], None)],
    'cpu-shield': [('small-smt', ['-c', '1-2'], cgroups), ('small-smt', ['-c', '1-2'], old_cgroups),
                   ('small-smt', ['-c', '1-2'], cpusets)],
    'freq-pin': [('intel-hybrid', ['-c', '0,8'], None), ('arm-nosmt', ['-c', '1'], None)],
}
MODES = {
    'apply': 'apply killed, restored',
    'again': 'apply killed, applied again, restored',
    'restore': 'restore killed, restored again',
}


def test_mode(mode, name, arguments, prepare):
    tool = pathlib.Path(os.environ['KILLED'])
    if tool.name == 'freq-pin':
        machine.want_cpupower()
    with machine.Setter(tool, name) as setter:
        kernel = (prepare(setter.box) if prepare else None) or []
        # The leak checker would trace the process, as this test does already.
        # The tool sees only the processes of the test: it may bind threads, or look for a daemon.
        result = setter.box.run(*kernel, os.environ['CRASH'], mode, setter.box.root, tool,
                                *arguments, root=True, alone=True,
                                env=machine.asan_environment('detect_leaks=0'), timeout=600)
        if result.returncode == 77:
            raise machine.Skip(result.stderr.strip())
        check(result.returncode == 0, result.stdout + result.stderr)
        calls, kills, failures = map(int, result.stdout.split())
        equal((kills, failures), (2 * calls, 0), 'kills and failures')
        # The journal, the lock, at least one knob: fewer would be a tool that does nothing.
        check(calls >= (4 if mode == 'restore' else 9), f'only {calls} calls that write')
        return f'{calls} calls, {kills} kills'


def tests():
    cases = CASES[pathlib.Path(os.environ['KILLED']).name]
    for name, arguments, prepare in cases[:1] if os.environ.get('QUICK') else cases:
        for mode, title in MODES.items():
            yield (f'{title}: on {name} {" ".join(arguments)}',
                   lambda mode=mode, name=name, arguments=arguments, prepare=prepare:
                   test_mode(mode, name, arguments, prepare))


if __name__ == '__main__':
    machine.run_tests(tests())
