#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""runpinned on described machines.

With --dry-run it says what it would do, and the CPUs of the described machine need not exist. Tests
that run a program use a CPU that really exists.
"""

import os
import re

import machine
from machine import Machine, check, equal

RUNPINNED = os.environ['RUNPINNED']

# The machine, the CPUs that a process may use, those that runpinned has to choose, and the reason.
CHOICES = (
    ('intel-hybrid', '0-11', '6', 'a performance core, idle, its sibling CPU 7 is idle'),
    ('amd-smt', '0-15', '5', 'its sibling CPU 13 is idle'),
    ('arm-nosmt', '0-7', '6', 'a performance core'),
    ('vm-plain', '0-1', '1', 'not CPU 0'),
    # Of the CPUs that it may use. Not CPU 8, which is the SMT sibling of CPU 0.
    ('amd-smt', '0,8', '8', ''),
    ('amd-smt', '0,2,8', '2', ''),
    ('intel-hybrid', '8-11', '9', 'an efficiency core'),
    ('isolated', '0-1,3', '3', 'isolated'),
    ('isolated', '0-1', '1', ''),
    ('isolated', '0-3', '2-3', 'isolated'),
    # A machine on which interrupts of devices have no numbers.
    ('s390-gaps', '1-5,8-19', '9', 'fewest interrupts (10400)'),
    ('old-kernel', '0,1,3-4,6-7', '1', 'fewest interrupts'),
)

# The argument of -c, and what the error message must contain.
REFUSALS = (
    ('vm-plain', '0-1', '2', '2'),
    ('vm-plain', '0-1', '0-7', ''),
    ('intel-hybrid', '0-11', '12', '12'),
    ('s390-gaps', '1-5,8-19', '6', 'offline'),
    ('s390-gaps', '1-5,8-19', '5-8', 'offline'),
    ('s390-gaps', '1-5,8-19', '63', '63'),
    ('old-kernel', '0,1,3-4,6-7', '2', 'offline'),
    ('amd-smt', '0-3', '5', 'allowed'),
    ('amd-smt', '0-15', 'x', "x"),
    ('amd-smt', '0-15', '', ''),
    ('amd-smt', '0-15', '3-1', '3-1'),
)


def plan(box, cpus, allowed):
    """The lines of --dry-run as a dictionary."""
    result = box.run(RUNPINNED, '-v', '-c', cpus, '--dry-run', '/bin/true', allowed=allowed)
    equal(result.returncode, 0, result.stderr)
    return dict(line.split(': ', 1) for line in result.stdout.splitlines() if ': ' in line)


def test_choice(name, allowed, cpus, word):
    with Machine(name) as box:
        line = plan(box, 'auto', allowed).get('cpus', '')
        match = re.fullmatch(r'(\S+) \((.+)\)', line)
        check(match, f'no "cpus: LIST (REASON)": {line!r}')
        equal(match.group(1), cpus, f'CPUs ({match.group(2)})')
        check(word in match.group(2), f'{word!r} is not in {match.group(2)!r}')


def test_refusal(name, allowed, cpus, word):
    with Machine(name) as box:
        result = box.run(RUNPINNED, '-c', cpus, '--dry-run', '/bin/true', allowed=allowed)
        equal(result.returncode, 2, f'status ({result.stderr})')
        equal(result.stdout, '', 'output')
        check(re.fullmatch(r'runpinned: [^\n]+\n', result.stderr), f'one line: {result.stderr!r}')
        check(word in result.stderr, f'{word!r} is not in {result.stderr!r}')


def test_given(name, allowed, cpus):
    """-c overrides the choice, and is used as given."""
    with Machine(name) as box:
        line = plan(box, cpus, allowed).get('cpus', '')
        equal(line.split(' ')[0], cpus, 'CPUs')


def test_enters_the_shield():
    """Without a server that moves the process, which is without systemd."""
    if not {0, 1} <= os.sched_getaffinity(0):
        raise machine.Skip('CPU 0 and 1 are needed')
    with Machine('vm-plain') as box:
        boot_id = '5e77e12f-0000-4000-8000-000000000001'
        box.write('proc/sys/kernel/random/boot_id', boot_id + '\n')
        box.write('run/quiesce/target', f'QUIESCE_TARGET=1\nBOOT_ID={boot_id}\nCPUS=1\n')
        procs = 'sys/fs/cgroup/benchmark.slice/cgroup.procs'
        box.write(procs, '')
        command = (RUNPINNED, '-c', '1', '-n', '1', '-w', '0', '--no-save',
                   'sleep', '0.1')
        result = box.run(*command, allowed='0', root=True)
        equal((result.returncode, result.stderr), (0, ''), 'status, errors')
        equal((box.root / procs).read_text(encoding='utf-8'), '0', 'who was moved')
        box.remove(procs)
        result = box.run(*command, allowed='0', root=True)
        equal(result.returncode, 1, 'status')
        check(re.fullmatch(r'runpinned: [^\n]+\n', result.stderr), f'one line: {result.stderr!r}')
        check('benchmark.slice/cgroup.procs' in result.stderr, result.stderr)


TESTS = [
    *((f'{name}: chooses {cpus} of {allowed}', lambda name=name, allowed=allowed, cpus=cpus, word=word:
       test_choice(name, allowed, cpus, word)) for name, allowed, cpus, word in CHOICES),
    *((f"{name}: refuses -c '{cpus}'", lambda name=name, allowed=allowed, cpus=cpus, word=word:
       test_refusal(name, allowed, cpus, word)) for name, allowed, cpus, word in REFUSALS),
    ('intel-hybrid: takes -c 9-10', lambda: test_given('intel-hybrid', '0-11', '9-10')),
    ('vm-plain: enters a shield without systemd', test_enters_the_shield),
    ('s390-gaps: takes -c 5,8', lambda: test_given('s390-gaps', '1-5,8-19', '5,8')),
]

if __name__ == '__main__':
    machine.run_tests(TESTS)
