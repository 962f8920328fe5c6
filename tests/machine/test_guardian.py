#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""runpinned --quiesce, without systemd, whose guardian is killed: on a described machine, with the
real guardian and the real setters."""

import fcntl
import os
import pathlib
import signal
import subprocess
import time

from machine import Setter, check, equal, run_tests

RUNPINNED = os.environ['RUNPINNED']
# amd-pstate, SMT: CPU 5 has a sibling, 13.
MACHINE, CPU = 'amd-smt', '5'
SECONDS = 120


class Measurement:
    """A runpinned --quiesce that waits for the lock of its CPU, which the test holds."""

    def __init__(self, setter, *options):
        self.setter = setter
        setter.note_choices()
        self.lock = os.open(setter.box.root / f'sys/devices/system/cpu/cpu{CPU}', os.O_RDONLY)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        environment = ('LC_ALL=C', f'LD_PRELOAD={os.environ["ALLOWED"]}',
                       'TEST_ALLOWED_CPUS=' + '1' * 16, 'ASAN_OPTIONS=verify_asan_link_order=0')
        self.messages = (setter.box.root / 'messages').open('w+', encoding='utf-8')
        self.process = subprocess.Popen(
            [os.environ['SYSROOT'], '--root', setter.box.root, '--', 'env', *environment, RUNPINNED,
             '--quiesce', *options, '-c', CPU, '-n', '1', '--no-save', '/bin/true'],
            stdin=subprocess.DEVNULL, stdout=self.messages, stderr=self.messages)

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
        os.close(self.lock)
        self.setter.render_choices()
        return self.process.returncode, self.said()


def check_put_back(setter, before, said):
    check('guardian' in said and 'killed by signal 9' in said, f'not said: {said}')
    setter.same(before, 'what was there before')
    left = {path.name for path in (setter.run_directory / 'quiesce').iterdir()}
    equal(left - {'lock', 'turn', 'holders'}, set(), 'left in /run/quiesce')


def test_killed_when_quiet():
    """The guardian is killed while the machine is quiet: said, and put back"""
    with Setter(RUNPINNED, MACHINE, allowed='0-15') as setter:
        before = setter.snapshot()
        measurement = Measurement(setter)
        measurement.wait(lambda: 'waiting' in measurement.said(), 'it does not wait for the CPU')
        os.kill(measurement.guardian(), signal.SIGKILL)
        measurement.process.send_signal(signal.SIGINT)
        status, said = measurement.end()
        equal(status, 130, f'status ({said})')
        check_put_back(setter, before, said)


def test_killed_at_the_start():
    """The guardian is killed before the machine is quiet: said, and put back"""
    with Setter(RUNPINNED, MACHINE, allowed='0-15') as setter:
        before = setter.snapshot()
        measurement = Measurement(setter)
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
        measurement = Measurement(setter, '--strict')
        status, said = measurement.end()
        equal(status, 1, f'status ({said})')
        check('--strict: the machine cannot be made as quiet as that' in said, said)
        for part in 'shield', 'SMT', 'interrupts', 'frequency', 'noise':
            check(f'runpinned: {part}: ' in said, said)
        setter.same(before, 'what was there before')


TESTS = (test_killed_when_quiet, test_killed_at_the_start, test_strict)
run_tests((test.__doc__, test) for test in TESTS)
