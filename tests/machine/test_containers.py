#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Containers, user namespaces and sandboxes: what is measured there is measured, what cannot be made
quiet is said, and nothing is called quiet that is not.

Each environment is made of namespaces, read-only mounts, missing capabilities and seccomp, as Docker,
Podman and build services make it. In all of them /proc/sys, /proc/irq and /sys are read-only, so that
no setting of this machine can change, and a PID namespace shows only the processes of this test.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

from machine import Skip, check, equal, run_tests, skip_all
from sandbox import affinities, enter, forbid

TOOLS = {name: os.environ[name.upper().replace('-', '_')] for name in (
    'runpinned', 'isol-check', 'cpu-shield', 'smt-off', 'irq-steer', 'freq-pin', 'noise-off')}
RUNPINNED = TOOLS['runpinned']
DEADLINE = 120  # seconds
CPUS = sorted(os.sched_getaffinity(0))
SHIELD = 'shield: affinities (no partition); affinities of threads ('
# What Docker leaves to root in a container, as setpriv(1) names it.
DOCKER = ('-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,'
          '+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap')


def prepare():
    """Makes the settings of the machine read-only, and hides its cgroups and /run."""
    subprocess.run(['sh', '-euc', '''
        mount -t tmpfs none /run
        for path in /proc/sys /proc/irq; do
            mount --bind $path $path
            mount -o remount,bind,ro $path
        done
        mount -t tmpfs none /sys/fs/cgroup
        mount -o remount,bind,ro /sys || mount -t sysfs -o ro none /sys'''], check=True)
    for path in '/proc/sys/kernel/timer_migration', '/proc/irq/default_smp_affinity':
        if pathlib.Path(path).exists() and os.access(path, os.W_OK):
            raise RuntimeError(f'{path} is not read-only')


class Container:
    """An environment: the words before a command, and what the kernel forbids its processes."""

    def __init__(self, *prefix, calls=()):
        self.prefix = prefix
        self.prepare = forbid(*calls) if calls else None
        self.others = []

    def __enter__(self):
        self.start('sleep', '1000')
        self.before = affinities()
        return self

    def __exit__(self, *_):
        for process in self.others:
            process.kill()
            process.wait()

    def start(self, *command, **options):
        """Another process of the container; returns when it has become the program."""
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, **options)
        self.others.append(process)
        deadline = time.monotonic() + DEADLINE
        comm = pathlib.Path(f'/proc/{process.pid}/comm')
        while comm.read_text(encoding='utf-8').strip() != command[-2]:
            check(time.monotonic() < deadline, f'{command} does not start')
            time.sleep(0.01)

    def call(self, *command):
        result = subprocess.run([*self.prefix, *command], capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, check=False, timeout=DEADLINE,
                                preexec_fn=self.prepare)
        check(result.returncode >= 0, f'{command}: a signal ended it: {result}')
        for sign in 'AddressSanitizer', 'runtime error:':
            check(sign not in result.stderr, result.stderr)
        return result

    def measure(self, *options):
        """runpinned of a program that works for a moment; the figures and facts of the result."""
        result = self.call(RUNPINNED, '-n', '5', '--json', *options, '--', 'sh', '-c', ':')
        if result.returncode != 0:
            return result, None, {}
        document = json.loads(result.stdout)
        benchmark = document['benchmarks'][0]
        values = [value for run in benchmark['runs'] for value in run.get('values', ())]
        equal(len(values), 5, f'values: {result.stderr}')
        check(all(0 < value < DEADLINE for value in values), values)
        return result, values, {**document.get('metadata', {}), **benchmark['metadata']}

    def same(self):
        now = affinities()
        equal({key: now.get(key) for key in self.before}, self.before, 'affinities afterwards')
        folder = pathlib.Path('/run/quiesce')
        left = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        equal(left - {'lock', 'turn', 'holders'}, set(), 'left in /run/quiesce')

    def look(self):
        """What only looks works everywhere, and no tool crashes or says nothing."""
        for name in TOOLS.keys() - {'runpinned', 'isol-check'}:
            arguments = ('-c', str(CPUS[-1])) + (('base',) if name == 'freq-pin' else ())
            result = self.call(TOOLS[name], 'status', *arguments)
            equal(result.returncode, 0, f'{name} status: {result.stderr}')
            check(result.stdout, f'{name} status says nothing')
        result = self.call(TOOLS['isol-check'], '--json')
        check(result.returncode in (0, 3), f'isol-check: {result.stderr}')
        check(json.loads(result.stdout)['checks'], 'isol-check has no checks')
        result, values, facts = self.measure()
        check(values, f'nothing is measured: {result.stderr}')
        return facts


def said(result):
    return [line.split(': ', 1)[1] for line in result.stderr.splitlines() if ': ' in line]


def check_quiet_in_part(container):
    """--quiesce shields the CPU by affinities, and says that the rest is not to be had."""
    result, values, facts = container.measure('--quiesce', '-c', str(CPUS[-1]))
    check(values, f'nothing is measured: {result.stderr}')
    equal(facts['quiesce_parts'], 'in part', f'quiesce_parts: {result.stderr}')
    check(any(line.startswith(SHIELD) for line in said(result)), result.stderr)
    for part in 'interrupts', 'noise':
        line = next(line for line in said(result) if line.startswith(part + ': '))
        check('stays as it is' in line or 'not possible here' in line or 'not as wanted' in line, line)
    container.same()
    result = container.call(RUNPINNED, '--quiesce', '--strict', '-c', str(CPUS[-1]), '-n', '1',
                            '--no-save', 'true')
    equal(result.returncode, 1, f'--strict: {result.stderr}')
    check('--strict: the setters have not done all that benchmark.conf asks for' in result.stderr, result.stderr)
    container.same()
    return facts


def test_root_of_a_container():
    """Root without the capabilities that Docker takes away"""
    with Container('setpriv', '--bounding-set', DOCKER, '--inh-caps', DOCKER, '--ambient-caps', '-all',
                   calls=('perf_event_open',)) as container:
        facts = container.look()
        check('stamps' in facts['timer'], facts['timer'])
        check_quiet_in_part(container)


def test_others_in_a_container():
    """Without CAP_SYS_NICE, processes of other users stay where they are, and are named"""
    with Container('setpriv', '--bounding-set', DOCKER, '--inh-caps', DOCKER, '--ambient-caps', '-all',
                   ) as container:
        container.start('setpriv', '--reuid=12345', '--regid=12345', '--clear-groups', 'sleep', '1001')
        container.before = affinities()
        result, values, facts = container.measure('--quiesce', '-c', str(CPUS[-1]))
        check(values, f'nothing is measured: {result.stderr}')
        line = next(line for line in said(result) if line.startswith('shield: '))
        check('sleep' in line and str(container.others[-1].pid) in line, line)
        equal(facts['quiesce_parts'], 'in part', line)
        container.same()


def test_user_namespace():
    """Root of a user namespace of an ordinary user"""
    with Container('setpriv', '--reuid=12346', '--regid=12346', '--clear-groups', 'unshare', '--user',
                   '--map-root-user') as container:
        probe = container.call('true')
        if probe.returncode != 0:
            raise Skip(f'no user namespaces for ordinary users: {probe.stderr.strip()}')
        container.look()
        # The directory of the journals is root's: without a journal nothing is changed.
        result, values, _ = container.measure('--quiesce', '-c', str(CPUS[-1]))
        check(values is None, 'a user without a journal has made the machine quiet')
        equal(result.returncode, 1, result.stderr)
        container.same()


def test_ordinary_user():
    """An ordinary user: measures, and is told what --quiesce needs"""
    with Container('setpriv', '--reuid=12347', '--regid=12347', '--clear-groups',
                   calls=('perf_event_open',)) as container:
        container.look()
        result, values, _ = container.measure('--quiesce', '-c', str(CPUS[-1]))
        check(values is None and '--quiesce needs root' in result.stderr, result.stderr)
        container.same()


def test_no_affinities():
    """A sandbox in which nobody may change an affinity: runpinned says that it cannot pin"""
    with Container(calls=('sched_setaffinity', 'perf_event_open')) as container:
        result, values, _ = container.measure()
        check(values or 'sched_setaffinity' in result.stderr or 'not permitted' in result.stderr,
              f'{result.returncode}: {result.stderr}')
        result, values, _ = container.measure('--quiesce', '-c', str(CPUS[-1]))
        check(values is None, 'a machine where nobody moves is called quiet')
        check('no thread could be moved away from CPU' in result.stderr, result.stderr)
        container.same()


def nspawn():
    """A container of systemd-nspawn's with the programs of the machine, and a network of its own: without
    one it would share the lock of the CPU with the machine, and wait for those who measure there. Each
    command gets a new one."""
    if not shutil.which('systemd-nspawn'):
        raise Skip('systemd-nspawn is not installed')
    # It looks at cgroups, which prepare() has hidden.
    container = Container('unshare', '--mount', 'sh', '-c', 'umount /sys/fs/cgroup; exec "$@"', 'sh',
                          'systemd-nspawn', '--quiet', '--register=no', '--keep-unit', '--private-network',
                          '--directory=/', '--volatile=yes', '--pipe', '--as-pid2',
                          f'--bind-ro={os.path.commonpath(TOOLS.values())}', '--')
    probe = container.call('true')
    if probe.returncode != 0:
        raise Skip(f'systemd-nspawn cannot start a container here: {probe.stderr.strip()}')
    return container


def test_nspawn():
    """A container of systemd-nspawn's"""
    with nspawn() as container:
        container.look()
        check_quiet_in_part(container)


def test_nspawn_beside_the_host():
    """What the host runs on the CPU cannot be seen in a container of systemd-nspawn's, and is told"""
    with nspawn() as container:
        busy = subprocess.Popen(['sh', '-c', 'while :; do :; done'], stdin=subprocess.DEVNULL,
                                preexec_fn=lambda: os.sched_setaffinity(0, {CPUS[-1]}))
        container.others.append(busy)
        container.before = affinities()
        result = container.call(RUNPINNED, '--quiesce', '-c', str(CPUS[-1]), '-n', '25', '--json', '--',
                                'sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done')
        equal(result.returncode, 0, result.stderr)
        benchmark = json.loads(result.stdout)['benchmarks'][0]
        facts = benchmark['metadata']
        check(facts['quiesce_meanwhile_other'] > 0, facts['quiesce_meanwhile'])
        check('what cannot be seen' in facts['quiesce_meanwhile'], facts['quiesce_meanwhile'])
        flags = [run['metadata'].get('quiesce_flags', '') for run in benchmark['runs'] if 'values' in run]
        check(any('preempted' in flag for flag in flags), flags)
        container.same()


if os.geteuid() != 0:
    skip_all('containers', 'needs root, to become root without capabilities')
enter('containers')
if len(CPUS) < 2:
    skip_all('containers', 'one CPU only')
prepare()
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
TESTS = (test_root_of_a_container, test_others_in_a_container, test_user_namespace, test_ordinary_user,
         test_no_affinities, test_nspawn, test_nspawn_beside_the_host)
run_tests((test.__doc__, test) for test in TESTS)
