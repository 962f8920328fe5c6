#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""runpinned --quiesce, without systemd: what it does while somebody else has the CPU, and when its
guardian is killed. On a described machine, with the real guardian and the real setters."""

import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from machine import Setter, asan_options, be_alone, check, equal, run_tests

RUNPINNED = os.environ['RUNPINNED']
# amd-pstate, SMT: CPU 5 has a sibling, 13.
MACHINE, CPU = 'amd-smt', '5'
SECONDS = 120


class Measurement:
    """A runpinned --quiesce, which is at --setup until it is stopped, once the machine is quiet and its
    CPU is locked. No program can be run: the CPUs of the description are not there."""

    def __init__(self, setter, *options, taken=(), quiesce=('--quiesce',)):
        """taken: the CPUs on which somebody else, the test, measures already."""
        self.setter = setter
        setter.note_choices()
        self.locks = [self.open_lock(cpu) for cpu in taken]
        for lock in self.locks:
            fcntl.flock(lock, fcntl.LOCK_EX)
        environment = ('LC_ALL=C', f'LD_PRELOAD={os.environ["ALLOWED"]}',
                       'TEST_ALLOWED_CPUS=' + '1' * 16, asan_options())
        self.messages = (setter.box.root / 'messages').open('w+', encoding='utf-8')
        self.at_setup = setter.box.root / 'at-setup'
        self.process = subprocess.Popen(
            [os.environ['SYSROOT'], '--root', setter.box.root, '--', 'env', *environment, RUNPINNED,
             *quiesce, *options, '-n', '1', '--no-save', '--setup',
             f'>{self.at_setup}; exec sleep 1000', '/bin/true'],
            stdin=subprocess.DEVNULL, stdout=self.messages, stderr=self.messages)

    def open_lock(self, cpu):
        return os.open(self.setter.box.root / f'sys/devices/system/cpu/cpu{cpu}', os.O_RDONLY)

    def can_lock(self, cpu):
        lock = self.open_lock(cpu)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(lock)
        return True

    def give_way(self):
        while self.locks:
            os.close(self.locks.pop())

    def wait_for_setup(self):
        self.wait(self.at_setup.exists, 'it does not begin')

    def said(self):
        return pathlib.Path(self.messages.name).read_text(encoding='utf-8')

    def wait(self, condition, what):
        over = time.monotonic() + SECONDS
        while not condition():
            check(self.process.poll() is None and time.monotonic() < over,
                  f'{what}: {self.process.poll()} {self.said()}')
            time.sleep(0.01)

    def guardian(self):
        """The process of the guardian, once it is benchmark-target and no longer a copy of
        runpinned."""
        for entry in pathlib.Path('/proc').iterdir():
            try:
                if entry.name.isdigit():
                    comm, _, rest = (entry / 'stat').read_text(errors='replace').rpartition(')')
                    if comm.endswith('(benchmark-targe') and int(rest.split()[1]) == self.process.pid:
                        return int(entry.name)
            except OSError:
                pass
        return None

    def end(self):
        self.process.wait(timeout=SECONDS)
        self.give_way()
        self.setter.render_choices()
        return self.process.returncode, self.said()


def left_over(setter):
    """The files in /run/quiesce, except locks."""
    folder = setter.run_directory / 'quiesce'
    left = {path.name for path in folder.iterdir()} if folder.exists() else set()
    return left - {'lock', 'turn', 'holders'}


def check_put_back(setter, before, said):
    check('guardian' in said and 'killed by signal 9' in said, f'not said: {said}')
    setter.same(before, 'what was there before')
    equal(left_over(setter), set(), 'left in /run/quiesce')


def check_waits(setter, measurement, before):
    """It waits, with the machine as it was, and makes it quiet when it may."""
    measurement.wait(lambda: 'waiting' in measurement.said(), 'it does not wait for the CPU')
    setter.render_choices()
    setter.same(before, 'while it waits')
    equal(left_over(setter), set(), 'in /run/quiesce while it waits')
    setter.note_choices()
    measurement.give_way()
    measurement.wait_for_setup()
    check('noise-off.journal' in left_over(setter), f'not quiet: {left_over(setter)}')


def test_taken():
    """While somebody else measures on its CPU, the machine is as it was"""
    with Setter(RUNPINNED, MACHINE, allowed='0-15') as setter:
        before = setter.snapshot()
        measurement = Measurement(setter, '-c', CPU, taken=[CPU])
        check_waits(setter, measurement, before)
        check(not measurement.can_lock(CPU), 'the CPU is not locked')
        measurement.process.send_signal(signal.SIGINT)
        status, said = measurement.end()
        equal(status, 130, f'status ({said})')
        setter.same(before, 'what was there before')
        equal(left_over(setter), set(), 'left in /run/quiesce')


def test_taken_no_wait():
    """With --no-wait it fails, and has changed nothing"""
    with Setter(RUNPINNED, MACHINE, allowed='0-15') as setter:
        before = setter.snapshot()
        measurement = Measurement(setter, '-c', CPU, '--no-wait', taken=[CPU])
        status, said = measurement.end()
        equal(status, 1, f'status ({said})')
        check(f'CPU {CPU} is taken by' in said, said)
        check('noise: ' not in said, f'made quiet: {said}')
        setter.same(before, 'what was there before')


def test_chosen_is_taken():
    """Where the target chooses a CPU that is taken, the machine is put back while that is waited for"""
    with Setter(RUNPINNED, MACHINE, allowed='0-15') as setter:
        before = setter.snapshot()
        measurement = Measurement(setter, taken=range(16))
        check_waits(setter, measurement, before)
        cpu = re.search(r'CPU (\d+) is taken by', measurement.said()).group(1)
        target = (setter.run_directory / 'quiesce/target').read_text(encoding='utf-8').splitlines()
        check(f'CPUS={cpu}' in target, f'CPU {cpu}: {target}')
        check(not measurement.can_lock(cpu), 'the CPU is not locked')
        measurement.process.send_signal(signal.SIGINT)
        status, said = measurement.end()
        equal(status, 130, f'status ({said})')
        setter.same(before, 'what was there before')


def test_killed_when_quiet():
    """The guardian is killed while the machine is quiet: said, and put back"""
    with Setter(RUNPINNED, MACHINE, allowed='0-15') as setter:
        before = setter.snapshot()
        measurement = Measurement(setter, '-c', CPU)
        measurement.wait_for_setup()
        os.kill(measurement.guardian(), signal.SIGKILL)
        measurement.process.send_signal(signal.SIGINT)
        status, said = measurement.end()
        equal(status, 130, f'status ({said})')
        check_put_back(setter, before, said)


def test_killed_at_the_start():
    """The guardian is killed before the machine is quiet: said, and put back"""
    with Setter(RUNPINNED, MACHINE, allowed='0-15') as setter:
        before = setter.snapshot()
        measurement = Measurement(setter, '-c', CPU)
        journals = setter.run_directory / 'quiesce'
        measurement.wait(lambda: list(journals.glob('*.journal')), 'nothing is changed')
        os.kill(measurement.guardian(), signal.SIGKILL)
        status, said = measurement.end()
        equal(status, 1, f'status ({said})')
        check_put_back(setter, before, said)


def test_strict():
    """With --strict, a machine that can be made quiet in part only is an error, and put back"""
    with Setter(RUNPINNED, MACHINE, allowed='0-15') as setter:
        setter.box.remove('sys/devices/system/cpu/cpu5/cpufreq/scaling_max_freq')
        before = setter.snapshot()
        measurement = Measurement(setter, '-c', CPU, '--strict')
        status, said = measurement.end()
        equal(status, 1, f'status ({said})')
        check('--strict: the setters have not done all that benchmark.conf asks for' in said, said)
        for part in 'shield', 'SMT', 'interrupts', 'frequency', 'noise':
            check(f'runpinned: {part}: ' in said, said)
        setter.same(before, 'what was there before')


def start_target(setter, cpu):
    path = setter.run_directory / 'quiesce/target'
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'QUIESCE_TARGET=1\nBOOT_ID={Setter.BOOT_ID}\nCPUS={cpu}\n', encoding='utf-8')
    path.chmod(0o644)
    return path


def test_target_comes_and_goes():
    """Without --quiesce it takes the CPUs of the target that is up when it need not wait any more"""
    # One that it does not choose by itself.
    cpu = 2
    for up, text in ((True, 'goes'), (False, 'comes')):
        with Setter(RUNPINNED, MACHINE, allowed='0-15') as setter:
            target = start_target(setter, cpu)
            if not up:
                target.unlink()
            measurement = Measurement(setter, taken=[cpu] if up else set(range(16)) - {cpu}, quiesce=())
            measurement.wait(lambda: 'waiting' in measurement.said(), 'it does not wait for the CPU')
            if up:
                target.unlink()
            else:
                start_target(setter, cpu)
            measurement.give_way()
            measurement.wait_for_setup()
            locked = [one for one in range(16) if not measurement.can_lock(one)]
            check(len(locked) == 1 and (locked == [cpu]) != up, f'the target {text}: {locked} are locked')
            measurement.process.send_signal(signal.SIGINT)
            status, said = measurement.end()
            equal(status, 130, f'status ({said})')


def install_guardian(setter, script):
    """runpinned as /run/bin/runpinned, with this in place of its guardian"""
    folder = setter.run_directory / 'bin'
    folder.mkdir()
    for part in 'runpinned', 'runpinned-launcher', 'runpinned-floor':
        shutil.copy(pathlib.Path(RUNPINNED).with_name(part), folder)
    guardian = folder / 'benchmark-target'
    guardian.write_text('#!/bin/sh\n' + script, encoding='utf-8')
    guardian.chmod(0o755)


def test_put_back_in_vain():
    """A machine that could not be put back is an error, beside a verdict as well"""
    cpu = min(os.sched_getaffinity(0))
    for failure, wanted in ((0, 3), (1, 1)):
        with Setter(RUNPINNED, MACHINE, allowed='0-15') as setter:
            start_target(setter, cpu)
            # It says that everything is done, and ends with its standard input; after the runs it is asked again.
            install_guardian(setter, "[ $1 = parts ] && exit\nprintf '\\001'\ncat >/dev/null\n"
                             f'exit {failure}\n')
            result = setter.box.run('/run/bin/runpinned', '--quiesce', '-c', cpu, '-q', '--no-save', '--evidence',
                                    'none', '--decide', 10, '--baseline', 'sleep 0.01', 'sleep', '0.03',
                                    allowed='0-15', root=True)
            equal(result.returncode, wanted, f'status after a guardian with status {failure} ({result.stderr})')


def test_no_answer():
    """A signal ends the question what is still done, where nobody answers it: after the runs, and of a user"""
    cpu = min(os.sched_getaffinity(0))
    ask = '[ $1 = parts ] && { kill -TERM $PPID; exec sleep 1000; }\n'
    for root, wanted in ((True, 0), (False, 143)):
        with Setter(RUNPINNED, MACHINE, allowed='0-15') as setter:
            start_target(setter, cpu)
            install_guardian(setter, ask + "printf 'noise: less\\n\\001'\ncat >/dev/null\n"
                             f'>{setter.run_directory}/back\n')
            user = [] if root or os.geteuid() else ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
            result = setter.box.run(*user, '/run/bin/runpinned', '--quiesce', '-c', cpu, '-n', 2, '--json',
                                    '--evidence', 'none', '/bin/true', allowed='0-15', root=root)
            equal(result.returncode, wanted, f'status ({result.stderr})')
            check('guardian' not in result.stderr, result.stderr)
            if root:
                benchmark, = json.loads(result.stdout)['benchmarks']
                equal(benchmark['metadata']['quiesce_changed'],
                      'what the setters had done is not known after the runs', 'in the result')
            equal((setter.run_directory / 'back').exists(), root, 'put back')


TESTS = (test_taken, test_taken_no_wait, test_chosen_is_taken, test_target_comes_and_goes,
         test_put_back_in_vain, test_no_answer, test_killed_when_quiet, test_killed_at_the_start, test_strict)
be_alone()
run_tests((test.__doc__, test) for test in TESTS)
