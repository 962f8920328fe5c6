# SPDX-License-Identifier: GPL-2.0-or-later
"""Who gets onto the CPUs of benchmark.target: root, and by themselves the members of the group
`benchmark`; nobody else, and nobody who did not ask."""

import contextlib
import os
import re
import struct
import subprocess
import sys

from lab import (ENVIRONMENT, LONG, PARANOID, become, call, check, equal, fail, measure, note,
                 parse_list, read, succeed, wait_for, write)
from target import cgroups, inside, is_quiet, moved, state, up

SOCKET = '/run/quiesce/join'
DOOR = 'benchmark-join.socket'
MEMBER = {'user': 'nobody', 'group': 'benchmark'}
STRANGER = {'user': 'nobody'}
WHERE = ('--no-save', '--show-output', '-n', '1', '-w', '0', '--',
         'cat', '/proc/self/status', '/proc/self/cgroup')
OTHERS = 'only members of the group benchmark may use the CPUs of benchmark.target'

# What a caller of the socket does: connects, sends, reads the answer, and tells that and where it is.
CALLER = '''
import os, socket, sys
door = socket.socket(socket.AF_UNIX)
door.connect('/run/quiesce/join')
payload = bytes.fromhex(sys.argv[1])
try:
    if len(sys.argv) > 2:
        credentials = bytes.fromhex(sys.argv[2])
        door.sendmsg([payload], [(socket.SOL_SOCKET, 2, credentials)])
    else:
        door.sendall(payload)
except OSError as error:
    print('send:', error.strerror)
try:
    door.shutdown(socket.SHUT_WR)
    print('answer:', door.recv(4096).decode().strip())
except ConnectionResetError:
    print('answer: none')
print('cgroup:', open('/proc/self/cgroup').read().strip())
'''

# Its maker ends at once; who is left with the connection reads the answer.
ORPHAN = '''
import os, socket
door = socket.socket(socket.AF_UNIX)
door.connect('/run/quiesce/join')
if os.fork():
    os._exit(0)
print('answer:', door.recv(4096).decode().strip())
print('cgroup:', open('/proc/self/cgroup').read().strip())
'''


# Very many, each a process of its own, at the same time. Tells of each what it was answered, and its
# cgroup; and then calls on them once more from one process, which does not stay for the answer.
FLOOD = '''
import os, socket, sys
number = int(sys.argv[1])
def knock():
    door = socket.socket(socket.AF_UNIX)
    door.connect('/run/quiesce/join')
    return door
ready, begin = os.pipe()
for _ in range(number):
    if os.fork() == 0:
        os.close(begin)
        os.read(ready, 1)
        try:
            answer = knock().recv(4096).decode().strip() or 'nothing'
        except OSError as error:
            answer = error.strerror
        cgroup = open('/proc/self/cgroup').read().split('0::')[1].strip()
        os.write(1, f'{answer}: {cgroup}\\n'.encode())
        os._exit(0)
os.close(begin)
for _ in range(number):
    os.wait()
for _ in range(number):
    try:
        knock().close()
    except OSError:
        pass
'''
CROWD = 300


def where(*arguments, **who):
    """The CPUs that a program of runpinned's may use, its cgroup, and its user's number."""
    text = succeed('runpinned', *arguments, *WHERE, **who)
    lines = dict(re.findall(r'^(Cpus_allowed_list|Uid|0:):\s*(\S+)', text, re.M))
    return parse_list(lines['Cpus_allowed_list']), lines['0:'], lines['Uid']


def python(program, *arguments, **who):
    """Runs it. Returns what it says, as {word: text}."""
    text = succeed(sys.executable, '-c', program, *arguments, **who)
    return dict(line.split(': ', 1) for line in text.splitlines() if ': ' in line)


def one_line(text, *words):
    equal(len(text.splitlines()), 1, f'lines of {text!r}')
    for word in words:
        check(word in text, f'{word!r} is not in {text!r}')


@contextlib.contextmanager
def sleeping(**who):
    """A process of that user's that does nothing."""
    words = become(who['user'], who.get('group')) if who else ()
    with subprocess.Popen([*words, 'sleep', '1000']) as process:
        try:
            wait_for(lambda: read(f'/proc/{process.pid}/comm') == 'sleep', 'sleep')
            yield process.pid
        finally:
            process.kill()


def taskset_stays_outside():
    """Whoever does it."""
    for who in ({}, MEMBER, STRANGER):
        with sleeping(**who) as pid:
            before = os.sched_getaffinity(pid)
            check(before and 2 not in before, f'CPUs of a program outside: {before}')
            said = fail(1, 'taskset', '-pc', '2', str(pid), **who)
            check('Invalid argument' in said, said)
            equal(os.sched_getaffinity(pid), before, 'its CPUs')
            # Of several the kernel leaves those that may be had, and says nothing.
            succeed('taskset', '-pc', '0,2', str(pid), **who)
            equal(os.sched_getaffinity(pid), {0}, 'its CPUs')
            check('Invalid argument' in fail(1, 'taskset', '-c', '2', 'true', **who), 'why')


def clock_is_told():
    """By which clock, at each setting of what perf allows."""
    before = read(PARANOID)
    try:
        for level, of_member in (('3', 'user'), ('2', 'kernel'), ('1', 'kernel')):
            write(PARANOID, level)
            for who, clock in ((MEMBER, of_member), ({}, 'kernel')):
                facts, runs = measure('-c', '2', '-n', '1', '-w', '0', '/bin/true', **who)
                equal((facts['quiesce_clock'], facts['quiesce_cpus'], len(runs)), (clock, '2', 1),
                      f'clock, CPUs and runs of {who or "root"} at {level}')
    finally:
        write(PARANOID, before)


def test_who_gets_in():
    with up('CPUS=2'):
        taskset_stays_outside()
        equal(inside(), [], 'inside')
        before = cgroups()
        for who, arguments, number in ((MEMBER, ('-c', '2'), '65534'), (MEMBER, (), '65534'),
                                       ({}, ('-c', '2'), '0')):
            cpus, cgroup, uid = where(*arguments, **who)
            equal((cpus, uid), ({2}, number), 'CPUs, user')
            check(re.fullmatch(r'/benchmark\.slice/benchmark-\d+-\d+\.scope', cgroup), cgroup)
        said = fail(1, 'runpinned', '-c', '2', *WHERE, **STRANGER)
        one_line(said, OTHERS, '`sudo usermod -aG benchmark nobody`')
        clock_is_told()
        equal(moved(before), [], 'moved')
        wait_for(lambda: not inside(), 'the slice to be empty')
        wait_for(lambda: 'benchmark-' not in succeed('systemctl', 'list-units', '--no-legend',
                                                     '--type=scope'), 'the scopes to go')
        is_quiet()


def test_who_joins_is_who_asked():
    """Whatever is sent."""
    with up('CPUS=2'), sleeping(**MEMBER) as same_user, sleeping() as of_root:
        before = cgroups()
        for pid in (same_user, of_root):
            ucred = struct.pack('=iII', pid, 0, 0)
            for payload in (b'%d\n' % pid * 5000, struct.pack('=i', pid), ucred):
                said = python(CALLER, payload.hex(), **MEMBER)
                equal(said['answer'], 'ok', f'answer to {payload[:40]!r}')
                check(said['cgroup'].startswith('0::/benchmark.slice/'), said['cgroup'])
                equal(moved(before), [], f'moved by {payload[:40]!r}')
            # The kernel lets root say so, and the server does not ask.
            said = python(CALLER, '00', ucred.hex(), **MEMBER)
            equal(said['send'], 'Operation not permitted', 'credentials of somebody else')
            said = python(CALLER, '00', ucred.hex())
            equal(said['answer'], 'ok', 'answer')
            check(said['cgroup'].startswith('0::/benchmark.slice/'), said['cgroup'])
            equal(moved(before), [], 'moved by credentials')


def test_who_cannot_ask():
    with up('CPUS=2'):
        before = cgroups()
        said = fail(1, sys.executable, '-c', CALLER, '', **STRANGER)
        check('PermissionError: [Errno 13]' in said, said)
        said = python(ORPHAN, **MEMBER)
        check(said['answer'] != 'ok', said)
        check('benchmark' not in said['cgroup'], said)
        note(f'a connection whose maker is gone: {said["answer"]}')
        equal(moved(before), [], 'moved')
        equal(inside(), [], 'inside')


def told_of_socket():
    """(connections at this moment, connections ever)"""
    lines = succeed('systemctl', 'show', '-p', 'NConnections', '-p', 'NAccepted', DOOR)
    told = dict(line.split('=') for line in lines.splitlines())
    return int(told['NConnections']), int(told['NAccepted'])


def flood(**who):
    """[(answer, cgroup)] of each in the crowd, and how many had a server at the same time."""
    words = become(who['user'], who.get('group'))
    most = 0
    with subprocess.Popen([*words, sys.executable, '-c', FLOOD, str(CROWD)], env=ENVIRONMENT,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            most = max(most, told_of_socket()[0])
        lines = process.stdout.read().splitlines()
    equal((process.returncode, len(lines)), (0, CROWD), 'status and answers of the flood')
    return [tuple(line.split(': ', 1)) for line in lines], most


def joins():
    """A member, in the orderly way."""
    done = call('runpinned', '-c', '2', *WHERE, **MEMBER)
    if done.returncode != 0:
        one_line(done.stderr, 'too many ask at once')
    return done.returncode == 0


def test_flood():
    """Some are let in, most turned away, and those only who asked; and the door stays open."""
    with up('CPUS=2'):
        before = cgroups()
        began = told_of_socket()
        answers, most = flood(**STRANGER)
        equal({answer for answer, _ in answers}, {'Permission denied'}, 'answers to a stranger')
        equal((told_of_socket(), most), (began, 0), 'servers for a stranger')

        answers, most = flood(**MEMBER)
        served = [cgroup for answer, cgroup in answers if answer == 'ok']
        refused = [cgroup for answer, cgroup in answers if answer != 'ok']
        note(f'{len(served)} let in, {len(refused)} turned away, at most {most} servers at a time: '
             f'{sorted({answer for answer, _ in answers})}')
        check(served and refused and most <= 16, 'all or none of them')
        for cgroup in served:
            check(cgroup.startswith('/benchmark.slice/benchmark-'), f'let in, and in {cgroup}')
        check(not [cgroup for cgroup in refused if 'benchmark' in cgroup], f'turned away: {refused}')
        equal(moved(before), [], 'moved')

        equal(state(DOOR), 'active', 'socket')
        wait_for(joins, 'one who comes after the flood')
        wait_for(lambda: told_of_socket()[0] == 0 and not inside(), 'all to have gone', 3 * LONG)
        equal(succeed('systemctl', 'list-units', '--failed', '--no-legend', 'benchmark*'), '', 'failed')
        is_quiet()


def test_without_the_target():
    check(not os.path.exists(SOCKET), 'there is a socket')
    for who in (MEMBER, STRANGER):
        cpus, cgroup, _ = where('-c', '2', **who)
        equal(cpus, {2}, 'CPUs')
        check('benchmark' not in cgroup, cgroup)
