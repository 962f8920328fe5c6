# SPDX-License-Identifier: GPL-2.0-or-later
"""Who gets onto the CPUs of benchmark.target: root, and by themselves the members of the group
`benchmark`; nobody else, and nobody who did not ask."""

import contextlib
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time

from lab import (ENVIRONMENT, LONG, PARANOID, become, call, check, equal, fail, measure, note,
                 parse_list, read, succeed, wait_for, write, written)
from target import cgroups, inside, is_quiet, moved, state, up

SOCKET = '/run/quiesce/join'
DOOR = 'benchmark-join.socket'
SERVER = 'benchmark-join.service'
MEMBER = {'user': 'nobody', 'group': 'benchmark'}
STRANGER = {'user': 'nobody'}
# Of another user's: any that a system has.
OTHER_MEMBER = {'user': 'daemon', 'group': 'benchmark'}
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

# Joins, and looks at its limits, at what in its cgroup is its user's, and how many processes it can
# start; and then another one, which has stayed where it was, wants to join as well.
LIMITED = '''
import os, signal, socket, time
def join():
    door = socket.socket(socket.AF_UNIX)
    door.connect('/run/quiesce/join')
    return door.recv(4096).decode().strip()
reader, writer = os.pipe()
go, begin = os.pipe()
started = [os.fork()]
if started == [0]:
    os.read(go, 1)
    os.write(writer, join().encode())
    os._exit(0)
print('answer:', join())
cgroup = open('/proc/self/cgroup').read().split('0::')[1].strip()
print('cgroup:', cgroup)
place = '/sys/fs/cgroup' + cgroup
for name in ('pids.max', 'memory.max', 'memory.high', 'memory.swap.max', 'cpu.max'):
    print(f'{name}:', open(f'{place}/{name}').read().strip())
print('mine:', [name for name in ('.', *os.listdir(place))
                if os.stat(f'{place}/{name}').st_uid == os.getuid()
                or os.access(f'{place}/{name}', os.W_OK)])
try:
    while len(started) < 100:
        started.append(os.fork())
        if not started[-1]:
            time.sleep(1000)
except OSError as error:
    print('not started:', error.strerror)
print('started:', len(started) - 1)
os.write(begin, b'x')
print('one more:', os.read(reader, 4096).decode())
for pid in started:
    os.kill(pid, signal.SIGKILL)
'''

# Makes cgroups in the one that is its user's, and joins from each of them.
DELEGATED = '''
import os, socket
own = '/sys/fs/cgroup' + open('/proc/self/cgroup').read().split('0::')[1].strip()
for name in 'ab':
    os.mkdir(f'{own}/{name}')
    pid = os.fork()
    if pid == 0:
        open(f'{own}/{name}/cgroup.procs', 'w').write('0')
        door = socket.socket(socket.AF_UNIX)
        door.connect('/run/quiesce/join')
        answer = door.recv(4096).decode().strip()
        place = '/sys/fs/cgroup' + open('/proc/self/cgroup').read().split('0::')[1].strip()
        limits = [open(os.path.join(folder, 'memory.max')).read().strip()
                  for folder in (place, os.path.dirname(place))]
        print(f'{name}: {answer} {place} {" ".join(limits)}', flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
'''

LIMITS = ('pids.max', 'memory.max', 'memory.high', 'memory.swap.max', 'cpu.max')

# The process that connected ends at once; its child, which has the connection, reads the answer.
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
# So many connections at any time, until it is killed: each of them a process that asks, and holds its
# connection when it has been answered, or asks again when it has been turned away.
SIEGE = '''
import os, socket, sys, time
for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        while True:
            door = socket.socket(socket.AF_UNIX)
            try:
                door.connect('/run/quiesce/join')
                if door.recv(4096):
                    time.sleep(1000)
            except OSError:
                pass
            time.sleep(0.2)
print('all there', flush=True)
time.sleep(1000)
'''
BESIEGERS = 64


def where(*arguments, **who):
    """The CPUs that a program of runpinned may use, the cgroup of the program, and the number of
    its user."""
    text = succeed('runpinned', *arguments, *WHERE, **who)
    lines = dict(re.findall(r'^(Cpus_allowed_list|Uid|0:):\s*(\S+)', text, re.M))
    return parse_list(lines['Cpus_allowed_list']), lines['0:'], lines['Uid']


def python(program, *arguments, **who):
    """Runs a script. Returns what it prints, as {word: text}."""
    text = succeed(sys.executable, '-c', program, *arguments, **who)
    return dict(line.split(': ', 1) for line in text.splitlines() if ': ' in line)


def one_line(text, *words):
    equal(len(text.splitlines()), 1, f'lines of {text!r}')
    for word in words:
        check(word in text, f'{word!r} is not in {text!r}')


@contextlib.contextmanager
def sleeping(**who):
    """A process of that user that sleeps."""
    words = become(who['user'], who.get('group')) if who else ()
    with subprocess.Popen([*words, 'sleep', '1000']) as process:
        try:
            wait_for(lambda: read(f'/proc/{process.pid}/comm') == 'sleep', 'sleep')
            yield process.pid
        finally:
            process.kill()


def taskset_stays_outside():
    """taskset does not get onto the quiet CPUs, whoever calls it."""
    for who in ({}, MEMBER, STRANGER):
        with sleeping(**who) as pid:
            before = os.sched_getaffinity(pid)
            check(before and 2 not in before, f'CPUs of a program outside: {before}')
            said = fail(1, 'taskset', '-pc', '2', str(pid), **who)
            check('Invalid argument' in said, said)
            equal(os.sched_getaffinity(pid), before, 'its CPUs')
            # Of several CPUs the kernel silently keeps those that are allowed.
            succeed('taskset', '-pc', '0,2', str(pid), **who)
            equal(os.sched_getaffinity(pid), {0}, 'its CPUs')
            check('Invalid argument' in fail(1, 'taskset', '-c', '2', 'true', **who), 'why')


def told_clock(who):
    """The clock of a measurement by that user, as runpinned says it."""
    facts, runs = measure('-c', '2', '-n', '1', '-w', '0', '/bin/true', **who)
    equal((facts['quiesce_cpus'], len(runs)), ('2', 1), f'CPUs and runs of {who or "root"}')
    return facts['quiesce_clock']


def clock_is_told():
    """The message names the right clock for each value of perf_event_paranoid."""
    before = read(PARANOID)
    try:
        for level, of_member in (('3', 'user'), ('2', 'kernel'), ('1', 'kernel')):
            write(PARANOID, level)
            for who, clock in ((MEMBER, of_member), ({}, 'kernel')):
                # A run that waited long to be looked at has no window of the kernel's, and on a busy
                # machine that is any.
                wait_for(lambda: told_clock(who) == clock,
                         f'the {clock} clock for {who or "root"} at {level}')
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
            check(re.fullmatch(rf'/benchmark\.slice/benchmark-{uid}\.slice/'
                               rf'benchmark-{uid}-\d+\.scope', cgroup), cgroup)
        said = fail(1, 'runpinned', '-c', '2', *WHERE, **STRANGER)
        one_line(said, OTHERS, '`sudo usermod -aG benchmark nobody`')
        clock_is_told()
        equal(moved(before), [], 'moved')
        wait_for(lambda: not inside(), 'the slice to be empty')
        wait_for(lambda: 'benchmark-' not in succeed('systemctl', 'list-units', '--no-legend',
                                                     '--type=scope'), 'the scopes to go')
        is_quiet()


def test_who_joins_is_who_asked():
    """Only the process that asked is moved, whatever it sends."""
    with up('CPUS=2'), sleeping(**MEMBER) as same_user, sleeping() as of_root:
        before = cgroups()
        for pid in (same_user, of_root):
            ucred = struct.pack('=iII', pid, 0, 0)
            for payload in (b'%d\n' % pid * 5000, struct.pack('=i', pid), ucred):
                said = python(CALLER, payload.hex(), **MEMBER)
                equal(said['answer'], 'ok', f'answer to {payload[:40]!r}')
                check(said['cgroup'].startswith('0::/benchmark.slice/'), said['cgroup'])
                equal(moved(before), [], f'moved by {payload[:40]!r}')
            # Root may claim to be another process; the server moves the process that asked all the same.
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
        # As a subordinate user of the member, who would have limits of his own.
        said = succeed('unshare', '--user', '--map-root-user', sys.executable, '-c', CALLER, '', **MEMBER)
        check('answer: it is in another user namespace' in said and 'benchmark' not in said.split('cgroup:')[1],
              said)
        said = python(ORPHAN, **MEMBER)
        check(said['answer'] != 'ok', said)
        check('benchmark' not in said['cgroup'], said)
        note(f'a connection whose maker is gone: {said["answer"]}')
        equal(moved(before), [], 'moved')
        equal(inside(), [], 'inside')


def flood(**who):
    """[(answer, cgroup)] of each process in the crowd."""
    text = succeed(sys.executable, '-c', FLOOD, str(CROWD), timeout=3 * LONG, **who)
    lines = text.splitlines()
    equal(len(lines), CROWD, 'answers of the flood')
    return [tuple(line.split(': ', 1)) for line in lines]


def joins(**who):
    """Whether runpinned is let in and runs its program. Where it is turned away, checks the
    message."""
    done = call('runpinned', '-c', '2', *WHERE, **who)
    if done.returncode != 0:
        one_line(done.stderr, 'too many ask at once')
    return done.returncode == 0


def test_flood():
    """Some processes are let in and most are turned away. No process that did not ask is moved, and
    the server goes on."""
    with up('CPUS=2'):
        before = cgroups()
        equal({answer for answer, _ in flood(**STRANGER)}, {'Permission denied'},
              'answers to a stranger')
        equal(state(SERVER), 'inactive', 'server after a stranger')

        answers = flood(**MEMBER)
        served = [cgroup for answer, cgroup in answers if answer == 'ok']
        refused = [cgroup for answer, cgroup in answers if answer != 'ok']
        note(f'{len(served)} let in, {len(refused)} turned away: '
             f'{sorted({answer for answer, _ in answers})}')
        check(served and refused, 'all or none of them')
        equal(len(set(served)), 1, f'scopes of those who come from one place: {set(served)}')
        check(served[0].startswith('/benchmark.slice/benchmark-65534.slice/'), served[0])
        check(not [cgroup for cgroup in refused if 'benchmark' in cgroup], f'turned away: {refused}')
        equal(moved(before), [], 'moved')

        equal((state(DOOR), state(SERVER)), ('active', 'active'), 'socket and server')
        wait_for(lambda: joins(**MEMBER), 'one who comes after the flood')
        wait_for(lambda: not inside(), 'all to have gone', 3 * LONG)
        equal(succeed('systemctl', 'list-units', '--failed', '--no-legend', 'benchmark*'), '', 'failed')
        is_quiet()


def cpu_seconds(pid):
    """The CPU time of a process."""
    stat = read(f'/proc/{pid}/stat')
    user, system = stat[stat.rindex(')') + 2:].split()[11:13]
    return (int(user) + int(system)) / os.sysconf('SC_CLK_TCK')


@contextlib.contextmanager
def siege(**who):
    """Runs its block while one user holds or tries that many connections."""
    words = become(who['user'], who.get('group'))
    with subprocess.Popen([*words, sys.executable, '-c', SIEGE, str(BESIEGERS)], env=ENVIRONMENT,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        try:
            equal(process.stdout.readline().strip(), 'all there', 'siege')
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_one_member_keeps_nobody_out():
    """While one user has 64 connections, another user gets in soon, each time."""
    with up('CPUS=2'):
        check(joins(**OTHER_MEMBER), 'nobody else there')
        with siege(**MEMBER):
            # Time for the siege to take all connections that it can get.
            time.sleep(5)
            seconds, began, load = [], time.monotonic(), cpu_seconds(1)
            for _ in range(5):
                asked = time.monotonic()
                check(joins(**OTHER_MEMBER), 'not let in beside another one')
                seconds.append(time.monotonic() - asked)
            share = (cpu_seconds(1) - load) / (time.monotonic() - began)
            note(f'let in after {", ".join(f"{s:.1f}" for s in seconds)} s; systemd took '
                 f'{100 * share:.0f} % of a CPU')
        wait_for(lambda: not inside(), 'all to have gone', 3 * LONG)


def test_quota_is_that_of_the_new_place():
    """runpinned reads it where the program runs, and not where it was started itself."""
    with up('CPUS=2'):
        result = json.loads(succeed(
            'systemd-run', '--scope', '-q', '-p', 'CPUQuota=50%', '--', *become(**MEMBER),
            'runpinned', '--json', '-q', '--no-save', '-c', '2', '-n', '1', '-w', '0',
            'sh', '-c', 'i=0; while [ $i -lt 6000 ]; do i=$((i+1)); done', timeout=3 * LONG))
        benchmark = result['benchmarks'][0]
        metadata = {**benchmark['metadata'], **benchmark['runs'][0]['metadata']}
        equal(metadata['cpu_quota'], '0.5 CPUs', 'metadata')
        check(metadata['quiesce_quota_throttled'] > 0.2 * metadata['quiesce_window_user'], metadata)
        check('quota' in metadata['quiesce_flags'], metadata)


def test_limits_come_along():
    """Those of the place where it was, and of its user; what root says of the quiet CPUs is added; and
    whatever is in the cgroups is root's."""
    with written(('user-65534.slice.d/lab.conf', '[Slice]\nTasksMax=40\nMemoryMax=300M\n'),
                 ('benchmark-.slice.d/lab.conf', '[Slice]\nMemoryHigh=250M\n'),
                 ('benchmark-1.slice', '[Slice]\nTasksMax=50\n')), up('CPUS=2'):
        place = ('systemd-run', '--scope', '-q', '-p', 'TasksMax=20', '-p', 'MemoryMax=200M',
                 '-p', 'MemoryHigh=150M', '-p', 'MemorySwapMax=0', '-p', 'CPUQuota=50%', '--')
        text = succeed(*place, *become(**MEMBER), sys.executable, '-c', LIMITED)
        said = dict(line.split(': ', 1) for line in text.splitlines())
        equal(said['answer'], 'ok', 'answer')
        check(said['cgroup'].startswith('/benchmark.slice/benchmark-65534.slice/'), said)
        equal({name: said[name] for name in LIMITS},
              {'pids.max': '20', 'memory.max': str(200 << 20), 'memory.high': str(150 << 20),
               'memory.swap.max': '0', 'cpu.max': '50000 100000'}, 'limits of its scope')
        equal({name: read(f'/sys/fs/cgroup/benchmark.slice/benchmark-65534.slice/{name}')
               for name in LIMITS[:3]},
              {'pids.max': '40', 'memory.max': str(300 << 20), 'memory.high': str(250 << 20)},
              'limits of its user')
        equal(said['mine'], '[]', "what is its user's in its cgroup")
        equal((said['started'], said['not started']),
              ('19', 'Resource temporarily unavailable'), 'processes that it could start')
        one_line(said['one more'], 'TasksMax')
        check(joins(**OTHER_MEMBER), 'let in')
        equal(read('/sys/fs/cgroup/benchmark.slice/benchmark-1.slice/pids.max'), '50',
              'limit of one whose slice has a file')
        wait_for(lambda: not inside(), 'all to have gone')


def test_limits_are_not_multiplied():
    """A user makes as many cgroups as he likes in one that was delegated to him: what joins from all of them
    has its limit once."""
    with up('CPUS=2'):
        text = succeed('systemd-run', '--wait', '--pipe', '-q', '-p', 'User=nobody', '-p', 'Group=benchmark',
                       '-p', 'Delegate=yes', '-p', 'MemoryMax=200M', sys.executable, '-c', DELEGATED)
        found = dict(line.split(': ', 1) for line in text.splitlines())
        equal(sorted(found), ['a', 'b'], text)
        slices = set()
        for said in found.values():
            answer, place, *limits = said.split(' ')
            equal((answer, limits), ('ok', [str(200 << 20)] * 2), f'answer, and limits of {place}')
            check(re.fullmatch(r'/sys/fs/cgroup/benchmark\.slice/benchmark-65534\.slice/'
                               r'benchmark-65534-\d+\.slice/benchmark-65534-\d+\.scope', place), place)
            slices.add(os.path.dirname(place))
        equal(len(slices), 1, f'slices: {slices}')
        wait_for(lambda: not inside(), 'all to have gone')


def test_server_killed():
    """After the server was killed, the next process that asks is let in."""
    with up('CPUS=2'):
        for _ in range(3):
            check(joins(**MEMBER), 'let in')
            call('systemctl', 'kill', '--signal=KILL', SERVER)
        check(joins(**MEMBER), 'let in')
        equal(state(DOOR), 'active', 'socket')


def test_without_the_target():
    check(not os.path.exists(SOCKET), 'there is a socket')
    for who in (MEMBER, STRANGER):
        cpus, cgroup, _ = where('-c', '2', **who)
        equal(cpus, {2}, 'CPUs')
        check('benchmark' not in cgroup, cgroup)
