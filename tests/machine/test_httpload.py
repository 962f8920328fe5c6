#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The generator of `runserved --http`: what it asks, what it counts, and which answers it does not take. The
services are threads of this test, so that each can be told to answer wrongly at the right moment.
"""

import json
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import time

import machine
from machine import check, equal

HTTPLOAD = os.environ['HTTPLOAD']
SCRATCH = tempfile.TemporaryDirectory(prefix='httpload.')
OK = b'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'
CLOSING = b'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello'
PATIENCE = 120


class Service:
    """Answers each request by what `answer(number of the request, number within its connection)` returns: bytes,
    or None to close the connection without a word. Keeps the requests."""

    def __init__(self, answer, family=socket.AF_INET, address=('127.0.0.1', 0)):
        self.answer, self.requests, self.connections = answer, [], 0
        self.lock = threading.Lock()
        self.socket = socket.socket(family)
        self.socket.bind(address)
        self.socket.listen(128)
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def place(self):
        name = self.socket.getsockname()
        if self.socket.family == socket.AF_UNIX:
            return ['--unix', name]
        return ['--port', str(name[1]), *(['--host', name[0]] if self.socket.family == socket.AF_INET6 else [])]

    def accept(self):
        while True:
            try:
                connection = self.socket.accept()[0]
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        text, n = b'', 0
        with connection:
            while True:
                while b'\r\n\r\n' not in text:
                    try:
                        more = connection.recv(65536)
                    except ConnectionResetError:
                        return
                    if not more:
                        return
                    text += more
                request, text = text.split(b'\r\n\r\n', 1)
                with self.lock:
                    number = len(self.requests)
                    self.requests.append(request.decode())
                answer = self.answer(number, n)
                n += 1
                if answer is None:
                    return
                try:
                    connection.sendall(answer)
                except (BrokenPipeError, ConnectionResetError):
                    return
                if answer == CLOSING or b'Content-Length' not in answer:
                    return


def load(service, *arguments, status=0, says=''):
    """What httpload prints, as a dictionary."""
    result = subprocess.run([HTTPLOAD, *service.place(), *map(str, arguments)], capture_output=True, text=True,
                            timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL)
    equal(result.returncode, status, f'{arguments}: status ({result.stderr})')
    check(says in result.stderr, f'{says!r} is not in {result.stderr!r}')
    if not says:
        equal(result.stderr, '', 'standard error')
    equal(result.stdout.count('\n'), 1, 'lines')
    return json.loads(result.stdout)


def always(answer):
    return lambda number, within: answer


def test_closed_loop():
    with Service(always(OK)) as service:
        found = load(service, '-n', 300, '-C', 3, '/a?b=c')
        equal(found['requests'], 300, 'requests')
        equal(found['errors'], 0, 'errors')
        equal(len(service.requests), 300, 'requests that came')
        equal(service.connections, 3, 'connections')
        lines = service.requests[0].split('\r\n')
        equal(lines[0], 'GET /a?b=c HTTP/1.1', 'request')
        check(f'Host: 127.0.0.1:{service.place()[1]}' in lines, lines)
        equal(found['bytes'], 300 * len(OK), 'bytes')
        check(abs(found['rps'] * found['seconds'] - 300) < 0.01, found)
        check(0 < found['p50'] <= found['p90'] <= found['max'] <= found['seconds'], found)
        check('p99' not in found and 'p999' not in found, 'three of 300 requests tell no quantile')
        check(0 < found['cpu_seconds'] <= found['seconds'] + 0.01, found)


def test_by_time():
    with Service(always(OK)) as service:
        began = time.monotonic()
        found = load(service, '--seconds', '300ms', '/')
        check(time.monotonic() - began >= 0.3, 'it ended too early')
        equal(found['requests'], len(service.requests), 'requests')
        check(found['requests'] > 1 and found['seconds'] >= 0.25, found)


def test_open_loop():
    """The requests are due one after the other, and a stall counts for all that were due meanwhile."""
    def stall(number, _):
        if number == 50:
            time.sleep(0.4)
        return OK

    with Service(stall) as service:
        found = load(service, '--rate', 500, '-n', 400, '/')
        equal(found['requests'], 400, 'requests')
        equal(found['rate'], 500, 'rate')
        # Due within 0.4 s: 200 requests, of which half waited for more than 0.2 s.
        check(found['late'] >= 150, found)
        check(found['p90'] > 0.1 and found['max'] >= 0.4, found)
        check(found['seconds'] >= 399 / 500, found)
        closed = load(service, '-n', 400, '/')
        check('rate' not in closed and 'late' not in closed, closed)


def test_open_loop_is_on_time():
    """Each request is sent when it is due, not only when something else wakes the load. A busy machine delays some."""
    deadline = time.monotonic() + PATIENCE
    with Service(always(OK)) as service:
        while True:
            found = load(service, '--rate', 200, '-n', 100, '-C', 4, '/')
            if found['late'] < 80:
                return
            check(time.monotonic() < deadline, found)


def test_other_places():
    for family, address in ((socket.AF_UNIX, str(pathlib.Path(SCRATCH.name) / 'socket')),
                            (socket.AF_INET6, ('::1', 0))):
        try:
            service = Service(always(OK), family, address)
        except OSError as error:
            print(f'# {address} cannot be had here: {error}')
            continue
        with service:
            equal(load(service, '-n', 20, '-C', 2, '-H', 'Cookie: a=b', '/')['requests'], 20, 'requests')
            check('Cookie: a=b' in service.requests[-1].split('\r\n'), service.requests[-1])
            check(('Host: localhost' if family == socket.AF_UNIX else 'Host: [::1]:') in service.requests[0],
                  service.requests[0])


def test_connections_that_end():
    """An answer may say so, or the service does it between two requests."""
    with Service(always(CLOSING)) as service:
        found = load(service, '-n', 50, '/')
        equal((found['requests'], found['errors'], found['reconnects']), (50, 0, 0), 'counts')
        equal(service.connections, 50, 'connections')
    with Service(lambda number, within: OK if within < 10 else None) as service:
        found = load(service, '-n', 50, '/')
        equal((found['requests'], found['errors'], found['reconnects']), (50, 0, 4), 'counts')
    with Service(always(b'HTTP/1.1 200 OK\r\n\r\nuntil the end')) as service:
        equal(load(service, '-n', 5, '/')['requests'], 5, 'requests')


def test_failures():
    """The load ends at once, and what has been counted is told."""
    for answer, says in ((b'HTTP/1.1 500 Oops\r\nContent-Length: 5\r\n\r\nhello', 'an answer has status 500'),
                         (b'HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n', 'an answer has status 301'),
                         (b'no such thing\r\nContent-Length', 'is not HTTP/1.1'),
                         (OK + OK, 'is not HTTP/1.1'),
                         (b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhello', 'no answer in time')):
        with Service(lambda number, within, answer=answer: OK if number < 20 else answer) as service:
            found = load(service, '-n', 100, '--timeout', 1, '/', status=1, says=says)
            equal(found['requests'] - found['non2xx'], 20, f'{says}: good answers')
            equal(found['errors'], 1, f'{says}: errors')
            check(len(service.requests) <= 21, len(service.requests))
    with Service(always(None)) as service:
        load(service, '-n', 10, '/', status=1, says='the service has closed a connection')
    with Service(always(b'HTTP/1.1 200 OK\r\nContent-')) as service:
        load(service, '-n', 10, '/', status=1, says='an answer ends in the middle')
    service = Service(always(OK))
    place = service.place()
    # A thread that waits in accept() keeps it open beyond close().
    service.socket.shutdown(socket.SHUT_RDWR)
    service.socket.close()
    service.place = lambda: place
    for arguments in (('-n', 10), ('-n', 10, '-w', 5), ('-s', 1, '-r', 100)):
        result = subprocess.run([HTTPLOAD, *place, *map(str, arguments), '/'], capture_output=True, text=True,
                                timeout=PATIENCE, check=False)
        equal(result.returncode, 1, f'{arguments}: status')
        check('Connection refused' in result.stderr, result.stderr)


def test_follow():
    with Service(always(OK)) as service, subprocess.Popen(
            [HTTPLOAD, *service.place(), '--follow', '-n', '40', '-C', '4', '-w', '10', '/'], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for _ in range(3):
            print('warm', file=process.stdin, flush=True)
            equal(process.stdout.readline(), 'ready\n', 'answer')
            before = len(service.requests)
            print('load', file=process.stdin, flush=True)
            equal(json.loads(process.stdout.readline())['requests'], 40, 'requests')
            equal(len(service.requests) - before, 40, 'requests that came')
        process.stdin.close()
        equal(process.wait(timeout=PATIENCE), 0, 'status')
        equal(service.connections, 4, 'connections')
        equal(len(service.requests), 3 * 50, 'requests')


def test_usage():
    for arguments in ((), ('/',), ('-n', 1, '/'), ('-p', 1, '/'), ('-n', 1, '-s', 1, '-p', 1, '/'), ('-n', 1, '-p', 1),
                      ('-n', 1, '-p', 1, 'no-path'), ('-n', 1, '-p', 1, '/a b'), ('-n', 1, '-p', 1, '/', '/'),
                      ('-n', 0, '-p', 1, '/'), ('-n', 1, '-p', 65536, '/'), ('-n', 1, '-p', 1, '--unix', 'x', '/'),
                      ('-n', 1, '-p', 1, '--host', 'localhost', '/'), ('-n', 1, '-p', 1, '-H', 'x', '/'),
                      ('-n', 1, '-p', 1, '-H', 'x: y\r\nz: 1', '/'), ('-n', 1, '-p', 1, '-C', 0, '/'),
                      ('-n', 1, '-p', 1, '-r', 0, '/')):
        result = subprocess.run([HTTPLOAD, *map(str, arguments)], capture_output=True, text=True, check=False,
                                timeout=PATIENCE, stdin=subprocess.DEVNULL)
        equal(result.returncode, 2, f'{arguments}: status ({result.stderr})')
        equal(result.stdout, '', 'standard output')
        equal(result.stderr.count('\n'), 1, result.stderr)
    with open('/dev/full', 'w', encoding='utf-8') as full, Service(always(OK)) as service:
        result = subprocess.run([HTTPLOAD, *service.place(), '-n', '1', '/'], stdout=full, stderr=subprocess.PIPE,
                                text=True, check=False, timeout=PATIENCE)
        equal(result.returncode, 1, 'status')
        check('No space left' in result.stderr, result.stderr)


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
