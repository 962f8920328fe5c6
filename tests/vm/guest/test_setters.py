# SPDX-License-Identifier: GPL-2.0-or-later
"""What all setters promise: exactly back, whatever happened in between."""

import subprocess
import time

from lab import (ARGUMENTS, SETTERS, boots, call, changed, check, equal, fail, note, same,
                 seeded, succeed)

KILLS = 6  # of each


@boots('plain', 'isolated', 'cgroup-v1')
def test_each_puts_back():
    for tool in SETTERS:
        succeed(tool, *ARGUMENTS[tool])
        check(changed(), f'{tool} changed nothing')
        succeed(tool, *ARGUMENTS[tool])
        succeed(tool, 'restore')
        same(f'{tool} left')
        equal(call(tool, 'restore').stderr, '', f'{tool} restore, again')


@boots('plain', 'isolated', 'cgroup-v1')
def test_all_together():
    for tool in SETTERS:
        succeed(tool, *ARGUMENTS[tool])
    succeed('cpu-shield', 'run', '-c', '2', '--', 'runpinned', '-c', '2', '-n', '2', '--no-save',
            '/bin/true')
    for tool in SETTERS[::-1]:
        succeed(tool, 'restore')
    same('they left')


def killed(tool):
    random = seeded(tool)
    began = time.monotonic()
    succeed(tool, *ARGUMENTS[tool])
    whole = time.monotonic() - began
    succeed(tool, 'restore')
    died = 0
    for number in range(KILLS):
        process = subprocess.Popen([tool, *ARGUMENTS[tool]], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0, whole))
        process.kill()
        died += process.wait() < 0
        done = call(tool, 'restore')
        equal(done.returncode, 0, f'restore after kill {number}: {done.stderr}')
        same(f'{tool}, killed for the {number + 1}. time, left')
    note(f'{died} of {KILLS} died in the middle; it takes {whole:.2f} s')


@boots('plain', 'cgroup-v1')
def test_cpu_shield_killed():
    killed('cpu-shield')


def test_freq_pin_killed():
    killed('freq-pin')


def test_irq_steer_killed():
    killed('irq-steer')


def test_noise_off_killed():
    killed('noise-off')


def test_smt_off_killed():
    killed('smt-off')


def test_restore_killed():
    """Another restore puts back what a killed restore has left half done."""
    random = seeded('restore')
    for tool in SETTERS:
        for number in range(2):
            succeed(tool, *ARGUMENTS[tool])
            process = subprocess.Popen([tool, 'restore'], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0, 0.3))
            process.kill()
            process.wait()
            done = call(tool, 'restore')
            equal(done.returncode, 0, f'{tool} restore: {done.stderr}')
            same(f'{tool} restore, killed for the {number + 1}. time, left')


def test_ordinary_user():
    for tool in SETTERS:
        check('root' in fail(1, tool, *ARGUMENTS[tool], user='nobody'), 'why')
        fail(1, tool, 'restore', user='nobody')
        succeed(tool, 'status', *ARGUMENTS[tool], user='nobody')
    same('a user changed')
