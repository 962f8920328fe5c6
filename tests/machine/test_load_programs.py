#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Generators of load, which end with status 0 whatever has happened. On each that is installed, by its harness file: a good
run; a service that answers 2 % with 500; one to which nothing listens; one that dies under load; one that stops
answering. Only the first one is no failure, in runpinned and in runserved.
"""

import contextlib
import glob
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

import machine
from machine import Skip, check, equal

RUNPINNED, RUNSERVED = os.environ['RUNPINNED'], os.environ['RUNSERVED']
SCRATCH = tempfile.TemporaryDirectory(prefix='loads.')
FOLDER = pathlib.Path(SCRATCH.name)
CPU = str(min(os.sched_getaffinity(0)))
ENVIRONMENT = {**os.environ, 'LC_ALL': 'C', 'XDG_CONFIG_HOME': str(FOLDER / 'config'),
               'XDG_STATE_HOME': str(FOLDER / 'state')}
QUANTILES = ['p50', 'p90', 'p99']

# PORT [WORD]...: answers HTTP. dies=N: it does after N requests; hangs=N: it answers no more.
SERVER = '''
import asyncio, os, sys
port, words = int(sys.argv[1]), sys.argv[2:]
limits = dict(word.split('=') for word in words if '=' in word)
answered = 0


class Connection(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.text = transport, b''

    def data_received(self, data):
        global answered
        self.text += data
        while b'\\r\\n\\r\\n' in self.text:
            head, _, self.text = self.text.partition(b'\\r\\n\\r\\n')
            answered += 1
            if answered > int(limits.get('dies', 1e9)):
                os._exit(5)
            if answered > int(limits.get('hangs', 1e9)):
                return
            status = b'500 No' if 'errors' in words and answered % 50 == 7 else b'200 OK'
            stays = b'HTTP/1.1' in head or b'keep-alive' in head.lower()
            self.transport.write(b'HTTP/1.1 %s\\r\\nContent-Length: 2\\r\\nConnection: %s\\r\\n\\r\\nok'
                                 % (status, b'keep-alive' if stays else b'close'))
            if not stays or b'connection: close' in head.lower():
                self.transport.close()


async def main():
    server = await asyncio.get_running_loop().create_server(Connection, '127.0.0.1', port)
    await server.serve_forever()

asyncio.run(main())
'''
server_file = FOLDER / 'server.py'
server_file.write_text(SERVER, encoding='utf-8')


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f'no {program}')


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(('127.0.0.1', port)) == 0


@contextlib.contextmanager
def running(*command, port):
    """A server, until the end of the block."""
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        machine.wait_for(lambda: listens(port) or process.poll() is not None, f'{command[0]} listens')
        equal(process.poll(), None, f'{command}: it has ended')
        yield process
    finally:
        process.kill()
        process.wait()


def measure(harness, command, status=0, says=(), timeout='20'):
    """One run by runpinned; the names of its figures, without those that say nothing."""
    result = subprocess.run([RUNPINNED, '-c', CPU, '-n', '1', '-w', '0', '-q', '--json', '--timeout', timeout, '--harness',
                             harness, *map(str, command)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            env=ENVIRONMENT, timeout=300, check=False)
    equal(result.returncode, status, f'{command}: {result.stdout} {result.stderr}')
    check(any(text in result.stderr for text in says) or not says, f'{command}: one of {says} in {result.stderr}')
    if status != 0:
        check('verdict' not in result.stdout, f'{command}: {result.stdout}')
        return {}
    run, = json.loads(result.stdout)['benchmarks'][0]['runs']
    return {key.removeprefix('quiesce_event_'): value for key, value in run['metadata'].items() if 'quiesce_event_' in key}


def serve(command, service, status=0, says=(), more=(), excuse=None):
    """A slice by runserved; the number of requests that were counted. None where it has failed by the excuse."""
    path = FOLDER / 'served.json'
    path.unlink(missing_ok=True)
    text = ' '.join("'" + str(word).replace("'", "'\\''") + "'" for word in command)
    result = subprocess.run([RUNSERVED, '-c', CPU, '-n', '1', '--slices', '1', '-q', '-o', path, *more, '--load', text, '--',
                             *map(str, service)], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=ENVIRONMENT,
                            timeout=300, check=False)
    if excuse and result.returncode == 1 and excuse in result.stderr:
        return None
    equal(result.returncode, status, f'{text}: {result.stdout} {result.stderr}')
    check(any(text in result.stderr for text in says) or not says, f'{text}: one of {says} in {result.stderr}')
    if status != 0:
        return 0
    found = json.loads(path.read_text(encoding='utf-8'))
    return {**found.get('metadata', {}), **found['benchmarks'][0]['metadata']}['quiesce_served_requests']


def try_load(name, *command, figures=(), requests=100, dies=150, hangs=50, served=True, service_command=None, harness=None,
             errors='it says: '):
    """{url} and {port} in the command. requests: at least so many in a slice. errors: what is said of answers of 500."""
    harness = harness or name
    failed = ['it says: ', 'exit status', 'is not a number', 'killed after']

    def fill(port):
        return [str(word).replace('{url}', f'http://127.0.0.1:{port}/').replace('{port}', str(port)) for word in command]

    def against(*words, **how):
        port = free_port()
        with running(sys.executable, '-S', server_file, port, *words, port=port):
            return measure(harness, fill(port), **how)

    found = against()
    check(set(figures) <= set(found), f'{name}: {found}')
    check(found['rps'] > 1, f'{name}: {found}')
    against('errors', status=1, says=[errors])
    measure(harness, fill(free_port()), status=1, says=failed)
    against(f'dies={dies}', status=1, says=failed)
    against(f'hangs={hangs}', status=1, says=failed, timeout='20' if harness == 'wrk2' else '5')
    if served:
        words = [word.replace('{url}', 'http://127.0.0.1:{port}/') for word in map(str, service_command or command)]
        more = ['--harness', harness] if pathlib.Path(words[0]).name != harness else []
        service = [sys.executable, '-S', server_file, '{port}']
        counted = serve(words, service, more=more)
        check(counted >= requests, f'{name}: {counted} requests')
        serve(words, [*service, 'errors'], status=1, says=[errors], more=more)
        serve(words, [*service, f'dies={dies}'], status=1, says=['it has ended under load'], more=more)


def test_wrk():
    """It does not count what nobody has answered, unless it is all: see its file."""
    need('wrk')
    try_load('wrk', 'wrk', '-d1s', '-t1', '-c4', '--latency', '{url}', figures=['latency', *QUANTILES], hangs=0)


def test_wrk2():
    """Its calibration takes 10 s, without which it does not count lost connections; then it is refused."""
    need('wrk2')
    words = ['wrk2', '-t1', '-c4', '-R500', '--latency', '{url}']
    port = free_port()
    with running(sys.executable, '-S', server_file, port, port=port):
        measure('wrk2', [word.replace('{url}', f'http://127.0.0.1:{port}/') for word in [*words, '-d1s']], status=1,
                says=['(wrk2 calibrates itself for 10 s'])
    try_load('wrk2', *words, '-d12s', '--timeout', '1s', figures=['latency', *QUANTILES, 'p999'], requests=3000, dies=1500,
             hangs=1500)


def test_ab():
    need('ab')
    try_load('ab', 'ab', '-q', '-k', '-n', 1000, '-c', 4, '{url}', figures=['latency', *QUANTILES], requests=1000)


def test_h2load():
    need('h2load')
    try_load('h2load', 'h2load', '--h1', '-n', 1000, '-c', 4, '{url}', figures=['latency'], requests=1000)
    port = free_port()
    with running(sys.executable, '-S', server_file, port, port=port):
        measure('h2load', ['h2load', '--h1', '-D', 1, '-c', 4, f'http://127.0.0.1:{port}/'], status=1,
                says=['(with -D it does not count lost connections'])


def test_hey():
    need('hey')
    for amount in ('-n', 1000), ('-z', '1s'):
        try_load('hey', 'hey', *amount, '-c', 4, '-t', 2, '{url}', figures=['latency', *QUANTILES], requests=1000)


def test_vegeta():
    need('vegeta')
    try_load('vegeta', 'sh', '-c', 'echo GET {url} | vegeta attack -duration=1s -rate=300 -timeout=2s | vegeta report',
             figures=['latency', *QUANTILES], requests=100)


def test_bombardier():
    need('bombardier')
    for amount in ('-n', 2000), ('-d', '1s'):
        try_load('bombardier', 'bombardier', '-l', '-c', 4, '-t', '2s', *amount, '{url}', figures=['latency', *QUANTILES],
                 requests=1000)


def test_locust():
    """A request that nobody has answered at the end of its time is not counted, unless it is all: see its file."""
    need('locust')
    path = FOLDER / 'locustfile.py'
    path.write_text('from locust import FastHttpUser, task\nclass User(FastHttpUser):\n    @task\n'
                    '    def get(self):\n        self.client.get("/")\n', encoding='utf-8')
    try_load('locust', 'locust', '-f', path, '--headless', '--only-summary', '-u', 4, '-r', 100, '-t', '5s', '-H',
             'http://127.0.0.1:{port}',
             figures=['latency', *QUANTILES, 'p999'], requests=100, hangs=0, errors='exit status 1')


def test_siege():
    need('siege')
    if subprocess.run(['siege', '-C'], capture_output=True, env=ENVIRONMENT, check=False).returncode != 0:
        raise Skip('siege has no configuration here')
    try_load('siege', 'siege', '-b', '-c', 4, '-r', 200, '{url}', requests=800)


def test_autocannon():
    need('autocannon')
    words = ['autocannon', '-c', 4, '-d', 2, '-t', 1, '{url}']
    try_load('autocannon', *words, figures=['latency', 'p50', 'p99'], requests=500, service_command=[*words, '-j'])
    port = free_port()
    with running(sys.executable, '-S', server_file, port, port=port):
        measure('autocannon', ['autocannon', '-a', 100, f'http://127.0.0.1:{port}/'], status=1, says=['(with -a its rate is'])


def test_httperf():
    need('httperf')
    try_load('httperf', 'httperf', '--server', '127.0.0.1', '--port', '{port}', '--num-conns', 300, figures=['latency'],
             requests=300)


def test_oha():
    need('oha')
    for amount in ('-n', 1000), ('-z', '3s'):
        try_load('oha', 'oha', '--no-tui', '-c', 4, '-t', '1s', *amount, '{url}', figures=['latency', *QUANTILES, 'p999'],
                 requests=500)


def redis(port):
    return ['redis-server', '--port', port, '--save', '', '--bind', '127.0.0.1', '--dir', FOLDER]


def killing(when, name, *words):
    """The command, which ends the process so named after so many seconds, or has it stop."""
    return ['sh', '-c', f'(sleep 0.5; kill -s {when} {name}) & "$@"', 'sh', *words]


def try_redis(name, command, endless, figures, more=()):
    port = free_port()
    with running(*redis(port), port=port) as server:
        found = measure(name, command(port))
        check(set(figures) <= set(found), f'{name}: {found}')
        measure(name, killing('STOP', server.pid, *endless(port)), status=1, says=['killed after'], timeout='4')
        server.send_signal(18)
        measure(name, killing('KILL', server.pid, *endless(port)), status=1, says=['it says: ', 'exit status'])
    measure(name, command(free_port()), status=1, says=['it says: ', 'killed after'], timeout='3')
    counted = serve(command('{port}'), redis('{port}'), more=more)
    check(counted >= 1000, f'{name}: {counted} requests')


def test_redis_benchmark():
    need('redis-benchmark', 'redis-server', 'redis-cli')

    def command(port, *words, n=5000):
        return ['redis-benchmark', '-p', port, '-n', n, '-c', 4, *words]

    for words, figures in ((['-q'], ['GET', 'GET p50']), (['--csv'], ['GET', 'GET p50', 'GET p99']), ([], ['GET'])):
        try_redis('redis-benchmark', lambda port, words=words: command(port, '-t', 'get', *words),
                  lambda port, words=words: command(port, '-t', 'get', *words, n=10**8), figures,
                  ['--requests', '5000'] if words else [])
    port = free_port()
    with running(*redis(port), port=port):
        measure('redis-benchmark', command(port, '-q', 'eval', 'return redis.error_reply("x")', 0), status=1,
                says=['exit status', 'it says: Error from server'])
    serve(command('{port}', '--csv', '-t', 'get,set'), redis('{port}'), status=1, says=['two values of rps'],
          more=['--requests', '10000'])


def test_memtier_benchmark():
    need('memtier_benchmark', 'redis-server', 'redis-cli')

    def command(port, *words):
        return ['memtier_benchmark', '-s', '127.0.0.1', '-p', port, '-c', 2, '-t', 1, '--hide-histogram', *words]

    for amount in ('-n', 1000), ('--test-time', 1):
        try_redis('memtier_benchmark', lambda port, amount=amount: command(port, *amount),
                  lambda port: command(port, '--test-time', 60), ['rps', 'latency', 'p50', 'p99', 'p999'])
    port = free_port()
    with running(*redis(port), '--maxmemory', 1, port=port):
        measure('memtier_benchmark', command(port, '-n', 1000), status=1, says=['it says: '])


def test_pgbench():
    need('pgbench')
    found = sorted(glob.glob('/usr/lib/postgresql/*/bin/initdb'))
    initdb = shutil.which('initdb') or (found[-1] if found else None)
    if not initdb:
        raise Skip('no initdb, of a PostgreSQL server')
    bin_folder, pair = pathlib.Path(initdb).parent, ['-n', '-c', 2]
    # It does not run as root.
    user = ['setpriv', '--reuid', 'nobody', '--clear-groups'] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix='loads-pg.') as name:
        data = pathlib.Path(name) / 'data'
        if user:
            shutil.chown(name, 'nobody')
        made = subprocess.run([*user, initdb, '-D', data, '-A', 'trust', '-U', 'tester', '--no-sync'], capture_output=True,
                              text=True, cwd='/', check=False)
        if made.returncode != 0:
            raise Skip('initdb: ' + made.stderr.strip().splitlines()[-1])

        def command(port, *words):
            return ['pgbench', '-h', '127.0.0.1', '-p', port, '-U', 'tester', *words, 'postgres']

        def server(port):
            return [*user, bin_folder / 'postgres', '-D', data, '-k', name, '-h', '127.0.0.1', '-p', port, '-F']

        port = free_port()
        with running(*server(port), port=port) as process:
            def initialized():
                return subprocess.run(list(map(str, command(port, '-i', '-q'))), capture_output=True, check=False).returncode == 0
            machine.wait_for(initialized, 'pgbench -i')
            figures = measure('pgbench', command(port, *pair, '-S', '-t', 500))
            check({'tps', 'latency'} <= set(figures), figures)
            script = pathlib.Path(name) / 'bad.sql'
            script.write_text('\\set x random(1, 50)\nSELECT 1 / (:x - 1);\n', encoding='utf-8')
            measure('pgbench', command(port, *pair, '-t', 500, '-f', script), status=1, says=['exit status', 'it says: '])
            # What is given up is counted, with status 0: two that want each other's row.
            script.write_text('\\set x random(1, 2)\nBEGIN;\nUPDATE pgbench_tellers SET filler = \'a\' WHERE tid = :x;\n'
                              'UPDATE pgbench_tellers SET filler = \'b\' WHERE tid = 3 - :x;\nEND;\n', encoding='utf-8')
            measure('pgbench', ['env', 'PGOPTIONS=-c deadlock_timeout=1ms -c default_transaction_isolation=serializable',
                                *command(port, *pair, '-t', 300, '-f', script)], status=1, says=['it says: number of failed'])
            # A backend is a child of the first process: it is stopped by what it waits for.
            script.write_text('SELECT pg_sleep(100);\n', encoding='utf-8')
            measure('pgbench', command(port, *pair, '-t', 1, '-f', script), status=1, says=['killed after'], timeout='3')
            measure('pgbench', killing('QUIT', process.pid, *command(port, *pair, '-S', '-T', 60)), status=1,
                    says=['exit status', 'it says: '])
            process.wait(60)
        measure('pgbench', command(free_port(), *pair, '-S', '-t', 100), status=1, says=['exit status', 'it says: '])
        # A backend ends with its connection.
        counted = serve(command('{port}', *pair, '-S', '-t', 500), server('{port}'),
                        excuse='so that its CPU time is not known without a cgroup of its own')
        check(counted in (None, 2 * 500), f'{counted} transactions')
    return None if counted else 'by runpinned: no cgroup may be made here for a service whose backends end'


if __name__ == '__main__':
    # `test_load_programs.py WORD...` runs the tests whose names contain one of the words.
    machine.run_tests(machine.named_tests(machine.tests_of(globals())))
