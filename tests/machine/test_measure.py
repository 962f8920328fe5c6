#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""isol-check --measure on this machine: what is found when somebody else is on the CPU. How much of
it is found depends on the machine, and is not asked for."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import machine
from machine import Skip, check, equal

ISOL_CHECK = os.environ['ISOL_CHECK']
STATE = tempfile.TemporaryDirectory(prefix='measure.')
os.environ['XDG_STATE_HOME'] = STATE.name
SPIN = 'import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass'


def isol_check(*arguments):
    return subprocess.run([ISOL_CHECK, *map(str, arguments)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=False)


@contextlib.contextmanager
def busy(cpu):
    with subprocess.Popen([sys.executable, '-c', SPIN, str(cpu)]) as process:
        try:
            # The program must run before it can disturb.
            while os.sched_getaffinity(process.pid) != {cpu}:
                time.sleep(0.01)
            yield process.pid
        finally:
            process.kill()


def rows(result):
    """{(cpu, subject): {name: value}} of the JSON."""
    equal((result.returncode, result.stderr), (0, ''), 'status and standard error')
    found = {}
    for row in json.loads(result.stdout)['measure']:
        found.setdefault((row['cpu'], row['subject']), {})[row['name']] = row['value']
    return found


def sound(found, cpu):
    """The numbers of one CPU agree with each other."""
    gaps, times = found[cpu, 'gaps'], found[cpu, 'time']
    equal(sum(found[cpu, 'histogram'].values()), gaps['count'], 'gaps in the histogram')
    check(times['threshold'] >= 1000, times)
    check(times['readings'] > 0 and times['measured'] > 0, times)
    check(0 <= gaps['stolen'] <= times['measured'], gaps)
    if gaps['count']:
        check(gaps['longest'] >= times['threshold'], gaps)


def test_core():
    """What the core was like, and what a whole one does, which is known the next time."""
    cpu = max(os.sched_getaffinity(0))
    for known in (0, 1):
        found = rows(isol_check('--measure=0.3', '-c', cpu, '--json'))
        if (cpu, 'core') not in found:
            raise Skip('the core of this machine cannot be looked at')
        core = found[cpu, 'core']
        check(core['looks'] > 0, core)
        check(0 < core['share'] <= 1 and 0 <= core['shared'] <= 1, core)
        check(1e8 < core['lowest clock'] <= core['clock'] <= core['highest clock'], core)
        equal(core['whole core known'], known, 'is it known what a whole core does')
    text = isol_check('--measure=0.1', '-c', cpu).stdout
    check('of a whole one in the mean,\n' in text and 'it seems' not in text, text)


def test_busy():
    """A task on the same CPU makes gaps, and the scheduler tells of it."""
    cpu = max(os.sched_getaffinity(0))
    with busy(cpu) as pid:
        found = rows(isol_check('--measure=0.5', '-c', cpu, '--json'))
        text = isol_check('--measure=0.5', '-c', cpu)
    sound(found, cpu)
    check(found[cpu, 'gaps']['count'] > 0, 'no gap')
    check(found[cpu, 'gaps']['stolen'] > 0, 'no time was stolen')
    check(found[cpu, 'scheduler']['preempted'] > 0, 'nobody came first')
    # Without schedstats the kernel does not say.
    check(found[cpu, 'scheduler'].get('waited', 1) > 0, 'it did not wait')
    check(found.get((cpu, 'interrupt')), 'no interrupt')
    if 'waited' in found[cpu, 'scheduler']:
        tasks = found[cpu, 'task']
        check(any(name.endswith(f' ({pid})') and ran > 0 for name, ran in tasks.items()), tasks)
    equal((text.returncode, text.stderr), (0, ''), 'as text')
    for words in (f'CPU {cpu}: ', ' gaps of ', 'us: ', 'another task came first'):
        check(words in text.stdout, text.stdout)
    for line in text.stdout.splitlines():
        check(len(line) <= 80, f'{len(line)} columns: {line}')


def test_tracer():
    """The kernel's own tracer is used, or it is said why not; without root it never is."""
    cpu = max(os.sched_getaffinity(0))
    users = [[]]
    if os.geteuid() == 0:
        users.append(['setpriv', '--reuid=65534', '--clear-groups'])
    for user in users:
        result = subprocess.run([*user, ISOL_CHECK, '--measure=0.05', '-c', str(cpu), '--json'],
                                capture_output=True, text=True, check=False)
        if user and result.returncode == 126:
            raise machine.Skip('the program cannot be read by others')
        found = rows(result)
        notes = [name for name in found.get((None, 'note'), ()) if 'osnoise' in name]
        if user or os.geteuid() != 0:
            equal(notes, ['the osnoise tracer was not used: only root may use it'], 'as a user')
        else:
            check(len(notes) == (0 if (cpu, 'osnoise') in found else 1), f'{notes} {found}')
            check(not notes or notes[0].startswith('the osnoise tracer was not used: '), notes)


def test_all():
    """All CPUs at once, as a table."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        raise machine.Skip('one CPU')
    found = rows(isol_check('--measure=0.1', '-c', f'{cpus[0]},{cpus[1]}', '--json'))
    for cpu in cpus:
        sound(found, cpu)
    text = isol_check('--measure=0.1', '-c', f'{cpus[0]},{cpus[1]}')
    check('STOLEN' in text.stdout, text.stdout)


def test_interrupted():
    """What was found until then is shown, and the status tells."""
    cpu = max(os.sched_getaffinity(0))
    for number in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen([ISOL_CHECK, '--measure=600', '-c', str(cpu), '--json'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            # The second thread measures. Once it is there, isol-check waits for the signal.
            while len(os.listdir(f'/proc/{process.pid}/task')) < 2:
                time.sleep(0.01)
            process.send_signal(number)
            out, err = process.communicate(timeout=120)
        equal((process.returncode, err), (128 + number, ''), 'status and standard error')
        measured = [row['value'] for row in json.loads(out)['measure'] if row['name'] == 'measured']
        check(len(measured) == 1 and measured[0] < 600, measured)


def test_refused():
    for arguments, status, text in (
            (['--measure=0'], 2, 'is not a time'),
            (['--measure=x'], 2, 'is not a time'),
            (['--measure', '-c', '8000'], 2, 'does not exist'),
            (['--measure', '--strict'], 2, '--strict'),
            (['--measure', '--sysroot', '/'], 2, '--sysroot'),
            (['--measure', '--pick'], 2, 'exclude each other')):
        result = isol_check(*arguments)
        equal(result.returncode, status, f'{arguments}: {result.stderr}')
        check(text in result.stderr, f'{arguments}: {result.stderr}')


def test_denied():
    """Of two CPUs one is kept from us, by our affinity or our cpuset; the former does not count."""
    cpus = sorted(os.sched_getaffinity(0))
    result = subprocess.run(['taskset', '-c', str(cpus[0]), ISOL_CHECK, '--measure=0.05', '-c',
                             str(cpus[-1]), '--json'], capture_output=True, text=True, check=False)
    sound(rows(result), cpus[-1])


def test_keeps_away():
    """isol-check runs all of its threads on other CPUs while it watches some."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) == 1:
        raise Skip('there is no other CPU')
    with subprocess.Popen([ISOL_CHECK, '--watch', '60', '-c', str(cpus[-1])],
                          stdout=subprocess.DEVNULL) as process:
        try:
            for _ in range(1000):
                if os.sched_getaffinity(process.pid) == set(cpus[:-1]):
                    break
                time.sleep(0.01)
            for task in os.listdir(f'/proc/{process.pid}/task'):
                with contextlib.suppress(ProcessLookupError):
                    equal(os.sched_getaffinity(int(task)), set(cpus[:-1]), 'CPUs of a thread')
        finally:
            process.kill()
    # All CPUs are watched, so isol-check has to run on one of them.
    result = isol_check('--watch', '0', '-c', ','.join(map(str, cpus)))
    check(result.returncode in (0, 3), result.stderr)


TESTS = [
    ('the core', test_core),
    ('a busy task is found', test_busy),
    ('several CPUs', test_all),
    ('the tracer, or why not', test_tracer),
    ('ended by a signal', test_interrupted),
    ('wrong use', test_refused),
    ('bound elsewhere by its caller', test_denied),
    ('stays off the CPUs that it watches', test_keeps_away),
]

if __name__ == '__main__':
    machine.run_tests(TESTS)
