#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The server behind /run/quiesce/join, where there is no systemd to ask: who gets a turn, and when."""

import contextlib
import ctypes
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile

from machine import Skip, check, equal, run_tests, wait_for

PROGRAM = sys.argv[1]
GREEDY, PATIENT = 65533, 65534
KNOCKS, SHARE = 64, 16
SECONDS = 300  # a busy machine, with sanitizers
LIBC, CLONE_NEWUSER = ctypes.CDLL(None, use_errno=True), 0x10000000


class Door:
    """Listens as systemd does. Those who connect are processes of the users that are named."""

    def __enter__(self):
        if os.geteuid() != 0:
            raise Skip('only root can be several users')
        if pathlib.Path('/run/systemd/system').exists():
            raise Skip('there is a systemd, which would be asked')
        self.folder = tempfile.TemporaryDirectory(prefix='join.')
        os.chmod(self.folder.name, 0o755)
        self.path = f'{self.folder.name}/join'
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        os.chmod(self.path, 0o666)
        self.listener.listen(4 * KNOCKS)
        self.children, self.server = [], None
        return self

    def __exit__(self, *_):
        for pid in self.children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        if self.server:
            self.server.kill()
            self.server.communicate()
        self.listener.close()
        self.folder.cleanup()

    def knock(self, user, send=b'', hold=True, namespace=False):
        """A process of that user's, in a user namespace of its own or not, that connects, and holds the
        connection also when it has its answer, or goes away at once. Returns what tells that."""
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.setresgid(user, user, user)
                os.setresuid(user, user, user)
                if namespace and LIBC.unshare(CLONE_NEWUSER) < 0:
                    os._exit(1)
                door = socket.socket(socket.AF_UNIX)
                door.settimeout(SECONDS)
                door.connect(self.path)
                os.write(writer, b'in\n')
                with contextlib.suppress(ConnectionError):  # the server was fast
                    door.sendall(send)
                if hold:
                    try:
                        os.write(writer, door.recv(4096) or b'nothing\n')
                    except ConnectionResetError:
                        os.write(writer, b'nothing\n')
                    except TimeoutError:
                        os.write(writer, b'no answer\n')
                else:
                    door.close()
                    os.write(writer, b'gone\n')
                signal.pause()
            finally:
                os._exit(0)
        os.close(writer)
        self.children.append(pid)
        answers = os.fdopen(reader, encoding='utf-8')
        first = answers.readline()
        if namespace and not first:
            raise Skip('an ordinary user gets no user namespace here')
        equal(first, 'in\n', 'a connection')
        return answers

    def serve(self):
        self.server = subprocess.Popen([PROGRAM], stdin=self.listener, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True)

    def said(self):
        self.server.kill()
        return self.server.communicate(timeout=SECONDS)[1].splitlines()


def test_one_user_keeps_nobody_out():
    """Of many who ask first one user's share gets an answer, and the other's only one is second."""
    with Door() as door:
        greedy = [door.knock(GREEDY) for _ in range(KNOCKS)]
        patient = door.knock(PATIENT)
        door.serve()
        equal(patient.readline(), 'systemd cannot be reached\n', 'answer')
        answers = [answer.readline() for answer in greedy]
        equal(answers, ['systemd cannot be reached\n'] * SHARE + ['nothing\n'] * (KNOCKS - SHARE),
              'answers to the other')
        users = [re.search(r'of user (\d+) ', line)[1] for line in door.said()]
        equal(users, [str(GREEDY), str(PATIENT)] + [str(GREEDY)] * (SHARE - 1), 'turns')


def test_connections_that_are_held():
    """They are no matter to who comes after them, nor is what is sent."""
    with Door() as door:
        door.serve()
        for _ in range(3):
            held = [door.knock(GREEDY, b'\0' * 1000) for _ in range(KNOCKS)]
            equal(door.knock(PATIENT).readline(), 'systemd cannot be reached\n', 'answer')
            for answer in held:
                check(answer.readline(), 'neither an answer nor turned away')


def test_user_namespace():
    """There a user may be any of his subordinate users, who would be as many users as he likes."""
    with Door() as door:
        door.serve()
        stranger, member = door.knock(GREEDY, namespace=True), door.knock(GREEDY)
        equal(stranger.readline(),
              'it is in another user namespace, so that nobody can tell whose it is\n', 'answer')
        equal(member.readline(), 'systemd cannot be reached\n', 'answer in ours')


def test_gone_before_his_turn():
    """Who does not wait has no turn."""
    with Door() as door:
        for _ in range(SHARE):
            equal(door.knock(GREEDY, hold=False).readline(), 'gone\n', 'its end')
        door.serve()
        equal(door.knock(PATIENT).readline(), 'systemd cannot be reached\n', 'answer')
        lines = door.said()
        equal(len(lines), 1, f'turns: {lines}')
        check(f'of user {PATIENT} ' in lines[0], lines)


def test_no_descriptors_left():
    """A shortage is told once, not with each attempt, and whoever waits is answered when it is over."""
    with Door() as door:
        door.serve()
        equal(door.knock(PATIENT).readline(), 'systemd cannot be reached\n', 'answer')
        check(f'of user {PATIENT} ' in door.server.stderr.readline(), 'who was refused')
        status = pathlib.Path(f'/proc/{door.server.pid}/status')
        before = resource.prlimit(door.server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(door.server.pid, resource.RLIMIT_NOFILE, (3, before[1]))
        waiting = door.knock(PATIENT)
        told = door.server.stderr.readline()
        check('cannot accept connections' in told and 'Too many open files' in told, told)

        def attempts():
            """It sleeps between two of them."""
            return int(re.search(r'^voluntary_ctxt_switches:\s*(\d+)', status.read_text(), re.M)[1])
        first = attempts()
        wait_for(lambda: attempts() >= first + 3, 'further attempts', SECONDS)
        resource.prlimit(door.server.pid, resource.RLIMIT_NOFILE, before)
        equal(waiting.readline(), 'systemd cannot be reached\n', 'answer')
        equal([line for line in door.said() if 'accept' in line], [], 'told again')


def test_wrong_use():
    """Whoever starts it by hand is told."""
    done = subprocess.run([PROGRAM], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=SECONDS, check=False)
    equal((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
    done = subprocess.run([PROGRAM, 'now'], capture_output=True, text=True, timeout=SECONDS,
                          check=False)
    equal(done.returncode, 2, done.stderr)


TESTS = (test_one_user_keeps_nobody_out, test_connections_that_are_held, test_user_namespace,
         test_gone_before_his_turn, test_no_descriptors_left, test_wrong_use)
run_tests((test.__doc__.split('.')[0], test) for test in TESTS)
