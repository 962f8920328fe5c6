# SPDX-License-Identifier: GPL-2.0-or-later
"""Who gets onto the CPUs of benchmark.target: root, and by themselves the members of the group
`benchmark`; nobody else, and nobody who did not ask."""

import contextlib
import os
import re
import struct
import subprocess
import sys

from lab import become, check, equal, fail, note, parse_list, read, succeed, wait_for
from target import cgroups, inside, is_quiet, moved, up

SOCKET = '/run/quiesce/join'
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


def test_who_gets_in():
    with up('CPUS=2'):
        before = cgroups()
        for who, arguments, number in ((MEMBER, ('-c', '2'), '65534'), (MEMBER, (), '65534'),
                                       ({}, ('-c', '2'), '0')):
            cpus, cgroup, uid = where(*arguments, **who)
            equal((cpus, uid), ({2}, number), 'CPUs, user')
            check(re.fullmatch(r'/benchmark\.slice/benchmark-\d+-\d+\.scope', cgroup), cgroup)
        said = fail(1, 'runpinned', '-c', '2', *WHERE, **STRANGER)
        one_line(said, OTHERS, '`sudo usermod -aG benchmark nobody`')
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


def test_without_the_target():
    check(not os.path.exists(SOCKET), 'there is a socket')
    for who in (MEMBER, STRANGER):
        cpus, cgroup, _ = where('-c', '2', **who)
        equal(cpus, {2}, 'CPUs')
        check('benchmark' not in cgroup, cgroup)
