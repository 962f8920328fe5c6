#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Harnesses that ship, on the real programs: each gives figures, and is noticed where nobody takes them. What is not
installed is skipped; what all of them print is in the unit tests, as samples."""

import http.server
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

import machine
from machine import check, equal
from test_figures import ENVIRONMENT, FOLDER, RUNPINNED, figure, names_of

HARNESSES = machine.HERE.parents[1] / 'harnesses'
SHELL = 'sh', '-c'
CPU = str(min(os.sched_getaffinity(0)))
TRIED = set()


class Quiet(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'ok')

    def log_message(self, format, *args):
        pass


def serve():
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f'http://127.0.0.1:{server.server_address[1]}/'


def measure(*arguments):
    """The metadata, the only run that counts, and the names of its figures."""
    result = subprocess.run([RUNPINNED, '-c', CPU, '-n', '1', '--json', *map(str, arguments)], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, env=ENVIRONMENT, timeout=600, check=False)
    equal(result.returncode, 0, f'{arguments}: {result.stderr}')
    found, = json.loads(result.stdout)['benchmarks']
    return found


def try_harness(name, *command, figures=(), noticed=True):
    """figures: names that have to be there."""
    found = measure('-w', '0', '--harness', name, *command)
    names = names_of(found)
    check(names and set(figures) <= set(names), f'{name}: {names}')
    check(all(value is not None for each in names for value in figure(found, each)), f'{name}: {names}')
    owner = measure('-w', '1', *command)['metadata'].get('quiesce_own_figures')
    equal(owner, name if noticed else None, f'{name}: whose output it is')
    TRIED.add(name)


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise machine.Skip(f'no {program}')


def test_wrk():
    need('wrk')
    try_harness('wrk', 'wrk', '-d1s', '-t1', '-c2', '--latency', serve(), figures=('rps', 'latency', 'p50', 'p99'))


def test_ab():
    need('ab')
    try_harness('ab', 'ab', '-n', 50, serve(), figures=('rps', 'latency'))


def test_h2load():
    need('h2load')
    try_harness('h2load', 'h2load', '--h1', '-n', 50, '-c', 2, serve(), figures=('rps', 'latency'))


def test_hey():
    need('hey')
    try_harness('hey', 'hey', '-n', 50, '-c', 2, serve(), figures=('rps', 'latency'))


def test_httperf():
    need('httperf')
    port = re.search(r':([0-9]+)/', serve()).group(1)
    try_harness('httperf', 'httperf', '--server', '127.0.0.1', '--port', port, '--num-conns', 10, figures=('rps', 'latency'))


def test_vegeta():
    need('vegeta')
    try_harness('vegeta', *SHELL, f'echo GET {serve()} | vegeta attack -duration=1s -rate=20 | vegeta report',
                figures=('rps', 'latency', 'p99'))


def test_autocannon():
    need('autocannon')
    try_harness('autocannon', 'autocannon', '-c', 1, '-d', 2, serve(), figures=('rps', 'latency'))


def test_fio():
    need('fio')
    command = ('fio', '--name=r', '--size=1M', '--io_size=1M', f'--directory={FOLDER}')
    try_harness('fio', *command, '--rw=randread', figures=('read-iops', 'READ'))
    try_harness('fio', *command, '--rw=randrw', '--numjobs=2', figures=('read-iops', 'write-iops', 'READ', 'WRITE'))


def test_sysbench():
    need('sysbench')
    try_harness('sysbench', 'sysbench', 'cpu', '--time=0', '--events=50', 'run', figures=('events', 'elapsed'))
    try_harness('sysbench', 'sysbench', 'memory', '--memory-total-size=1M', '--time=0', 'run', figures=('rate', 'elapsed'))
    try_harness('sysbench', 'sysbench', 'threads', '--time=0', '--events=20', 'run', figures=('total', 'elapsed'))


def test_openssl():
    need('openssl')
    command = ('openssl', 'speed', '-seconds', 1, '-bytes', 1024)
    try_harness('openssl-speed', *command, 'sha256', figures=('sha256',))
    try_harness('openssl-speed', *command, '-evp', 'aes-128-gcm', figures=('AES-128-GCM',))
    try_harness('openssl-speed', *command, 'ecdsap256', 'ecdhx25519',
                figures=('256 bits ecdsa (nistp256) sign', '256 bits ecdsa (nistp256) verify', '253 bits ecdh (X25519)'))
    try_harness('openssl-speed-mr', *command, '-mr', 'sha256', figures=('sha256',))


def test_stress_ng():
    need('stress-ng')
    try_harness('stress-ng', 'stress-ng', '--cpu', 1, '--cpu-ops', 20, '--metrics', figures=('cpu',))


def test_7z():
    need('7z')
    try_harness('7z', '7z', 'b', 1, '-md18', '-mmt1', figures=('rating',))


def test_iperf():
    iperf3 = ['iperf3', '-s', '-1']
    for name, server, client, figures in (
            ('iperf3', iperf3, ['iperf3', '-t', '1', '-P', '2', '-c', '127.0.0.1'], ('rate',)),
            ('iperf3', iperf3, ['iperf3', '-t', '1', '--bidir', '-c', '127.0.0.1'], ('rate TX', 'rate RX')),
            ('iperf3-json', iperf3, ['iperf3', '-J', '-t', '1', '-P', '2', '-c', '127.0.0.1'], ('rate',)),
            ('iperf', ['iperf', '-s'], ['iperf', '-t', '1', '-c', '127.0.0.1'], ('rate',)),
            ('sockperf', ['sockperf', 'server'], ['sockperf', 'ping-pong', '-t', '1', '-i', '127.0.0.1'],
             ('latency', 'p50', 'p99'))):
        if not shutil.which(server[0]):
            continue
        # Each of the two measurements makes two connections, or one.
        wrapped = 'p=$1; shift; "$@" >/dev/null 2>&1 & s=$!; sleep 0.5; ' + ' '.join(client) + ' -p $p; r=$?; kill $s; exit $r'
        try_harness(name, *SHELL, wrapped, 'sh', 20000 + os.getpid() % 20000, *server, '-p', 20000 + os.getpid() % 20000,
                    figures=figures)
    need('iperf3', 'iperf', 'sockperf')


def test_perf():
    need('perf')
    if subprocess.run(['perf', '--version'], capture_output=True, check=False).returncode != 0:
        raise machine.Skip('perf does not run here')
    try_harness('perf-bench', 'perf', 'bench', 'syscall', 'basic', '-l', 1000, figures=('total', 'per_op'))
    try_harness('perf-bench', 'perf', 'bench', 'sched', 'messaging', '-g', 1, '-l', 10, figures=('total',))
    try_harness('perf-bench', 'perf', 'bench', 'mem', 'memcpy', '-s', '64KB', figures=('default',))
    try_harness('perf-bench', 'perf', 'bench', 'futex', 'wake', '-t', 2, figures=('Wokeup',))
    if subprocess.run(['perf', 'stat', '-x,', '-e', 'task-clock', 'true'], capture_output=True, check=False).returncode == 0:
        try_harness('perf-stat', 'perf', 'stat', '-x,', '-e', 'task-clock,page-faults', 'true', figures=())


def test_memory():
    need('mbw')
    try_harness('mbw', 'mbw', '-n', 2, 4, figures=('MEMCPY', 'DUMB', 'MCBLOCK'))


def test_ioping():
    need('ioping')
    try_harness('ioping', 'ioping', '-c', 4, '-i', '0.01', '-q', FOLDER, figures=('latency', 'iops'))


def test_cyclictest():
    need('cyclictest')
    try_harness('cyclictest', 'cyclictest', '-q', '-l', 100, figures=('T0 avg', 'T0 max'))


def node_module(name):
    """Where it is: of a folder of NODE_PATH, or of those that npm has installed for all."""
    need('node', 'npm')
    found = subprocess.run(['npm', 'root', '-g'], capture_output=True, text=True, check=False).stdout.strip()
    for folder in [*os.environ.get('NODE_PATH', '').split(os.pathsep), found]:
        if folder and (pathlib.Path(folder) / name).exists():
            return pathlib.Path(folder) / name
    raise machine.Skip(f'no {name} for node')


JAVASCRIPT = """
const work = n => { let sum = 0; for (let i = 0; i < n * (process.env.FACTOR || 1); i++) sum += i * i; return sum; };
"""


def try_javascript(name, file, code, sign):
    """Ten times the work is told: the rate is less, or the time more. sign: 1 where more is better."""
    script = FOLDER / file
    script.write_text(JAVASCRIPT + code, encoding='utf-8')
    try_harness(name, 'node', script, figures=('sum small', 'sum big'))
    result = subprocess.run([RUNPINNED, '-c', CPU, '-n', '2', '-w', '0', '--json', '--harness', name, '--baseline', f'node {script}',
                             '--env', 'new:FACTOR=10', '--name', 'new', 'node', script], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, env=ENVIRONMENT, timeout=600, check=False)
    equal(result.returncode, 0, result.stderr)
    old, new = json.loads(result.stdout)['benchmarks']
    for each in 'sum small', 'sum big':
        ratio = max(figure(new, each)) / max(figure(old, each)) if sign > 0 else min(figure(new, each)) / min(figure(old, each))
        check(ratio < 0.6 if sign > 0 else ratio > 1.6, f'{name}: {each}: {ratio}')


def test_benchmark_js():
    module = node_module('benchmark')
    try_javascript('benchmark-js', 'benchmark.js', f"""
const benchmark = require({json.dumps(str(module))});
benchmark.options.maxTime = 0.2;
new benchmark.Suite().add('sum small', () => work(100)).add('sum big', () => work(1000))
    .on('cycle', event => console.log(String(event.target))).run();
""", 1)


def test_tinybench():
    module = node_module('tinybench')
    try_javascript('tinybench', 'tinybench.mjs', f"""
const {{ Bench }} = await import({json.dumps(str(module / 'dist' / 'index.js'))});
const bench = new Bench({{ time: 100 }});
bench.add('sum small', () => {{ work(100); }}).add('sum big', () => {{ work(1000); }});
await bench.run();
console.table(bench.table());
""", -1)


def test_mitata():
    module = node_module('mitata')
    try_javascript('mitata', 'mitata.mjs', f"""
const {{ bench, run }} = await import({json.dumps(str(module / 'src' / 'main.mjs'))});
bench('sum small', () => work(100));
bench('sum big', () => work(1000));
await run();
""", -1)


def test_redis():
    need('redis-benchmark', 'redis-server')
    port = 20000 + os.getpid() % 20000
    server = subprocess.Popen(['redis-server', '--port', str(port), '--save', '', '--bind', '127.0.0.1', '--dir', str(FOLDER)],
                              stdout=subprocess.DEVNULL)
    try:
        check(any(subprocess.run(['redis-cli', '-p', str(port), 'ping'], capture_output=True, check=False).stdout == b'PONG\n'
                  for _ in range(500)), 'no redis-server')
        try_harness('redis-benchmark', 'redis-benchmark', '-p', port, '-q', '-n', 1000, '-t', 'set,get', figures=('SET', 'GET'))
    finally:
        server.terminate()
        server.wait()


def test_hyperfine():
    need('hyperfine')
    try_harness('hyperfine', 'hyperfine', '-N', '-r', 3, 'true', figures=('mean',))
    try_harness('hyperfine', 'hyperfine', '-N', '-r', 1, 'true', figures=('single',))


def test_timeit():
    try_harness('timeit', sys.executable, '-m', 'timeit', '-n', 1000, 'pass', figures=('loop',))


def test_pytest_benchmark():
    for module in 'pytest', 'pytest_benchmark':
        if not importlib.util.find_spec(module):
            raise machine.Skip(f'no {module} for {sys.executable}')
    code = FOLDER / 'test_sum.py'
    code.write_text('import pytest\n@pytest.mark.parametrize("n", [10, 100])\ndef test_sum(benchmark, n):\n'
                    '    benchmark(lambda: sum(range(n)))\n', encoding='utf-8')
    command = (sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--benchmark-max-time', '0.02',
               '--benchmark-min-rounds', '2', code)
    try_harness('pytest-benchmark-text', *command, figures=('test_sum[10]', 'test_sum[100]'))


def test_pyperf():
    if not importlib.util.find_spec('pyperf'):
        raise machine.Skip('no pyperf for ' + sys.executable)
    try_harness('pyperf-text', sys.executable, '-m', 'pyperf', 'timeit', '-p', '1', '-n', '2', '-w', '1', '-l', '10', '--name', 'sum',
                'sum(range(100))', figures=('sum: mean',))


def test_go():
    need('go')
    folder = FOLDER / 'go'
    folder.mkdir()
    (folder / 'go.mod').write_text('module tiny\n\ngo 1.18\n', encoding='utf-8')
    (folder / 'tiny_test.go').write_text(
        'package tiny\nimport "testing"\nvar sink int\nfunc BenchmarkSum(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n'
        '\t\tsink += i\n\t}\n}\n', encoding='utf-8')
    environment = {**ENVIRONMENT, 'GOCACHE': str(FOLDER / 'gocache'), 'GOFLAGS': '-mod=mod', 'GOPROXY': 'off', 'GOTOOLCHAIN': 'local'}
    built = subprocess.run(['go', 'test', '-c', '-o', FOLDER / 'sum'], cwd=folder, env=environment, capture_output=True, text=True,
                           check=False)
    if built.returncode != 0:
        raise machine.Skip('go cannot build a test: ' + built.stderr.strip().splitlines()[-1])
    try_harness('go', FOLDER / 'sum', '-test.bench', '.', '-test.benchtime', '1000x')


def compiled(source, name, *libraries):
    """A program of C++, skipped where its headers are not there."""
    need('c++')
    path = FOLDER / (name + '.cc')
    path.write_text(source, encoding='utf-8')
    built = subprocess.run(['c++', '-O1', '-o', FOLDER / name, path, *libraries], capture_output=True, text=True, check=False)
    if built.returncode != 0:
        raise machine.Skip(f'{name} cannot be compiled: ' + built.stderr.strip().splitlines()[0])
    return FOLDER / name


def test_google_benchmark():
    own = compiled('#include <benchmark/benchmark.h>\nstatic void BM_sum(benchmark::State &s) { for (auto _ : s) '
                   'benchmark::DoNotOptimize(s.iterations()); }\nBENCHMARK(BM_sum)->Arg(100);\nBENCHMARK_MAIN();\n', 'google',
                   '-lbenchmark', '-lpthread')
    try_harness('google-benchmark', own, '--benchmark_min_time=0.01')


def test_catch2():
    own = compiled('#define CATCH_CONFIG_MAIN\n#define CATCH_CONFIG_ENABLE_BENCHMARKING\n#include <catch2/catch.hpp>\n'
                   'TEST_CASE("sums") { BENCHMARK("sum 100") { volatile int s = 0; for (int i = 0; i < 100; i++) s = s + i; '
                   'return s; }; }\n', 'catch2')
    try_harness('catch2-xml', own, '-r', 'xml', '--benchmark-samples', 5, figures=('sum 100',))


def test_sqlite3():
    need('sqlite3')
    script = FOLDER / 'script.sql'
    script.write_text('.timer on\nSELECT count(*) FROM sqlite_master;\n', encoding='utf-8')
    found = measure('-w', '0', '--harness', 'sqlite3', '--input', script, 'sqlite3', ':memory:')
    equal(names_of(found), ['real'], 'sqlite3')
    TRIED.add('sqlite3')


def test_dd_and_time():
    try_harness('dd', 'dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1M', 'count=100', figures=('elapsed',), noticed=False)
    if not pathlib.Path('/usr/bin/time').exists():
        return 'without /usr/bin/time'
    return try_harness('time', '/usr/bin/time', '-p', 'sleep', '0.02', figures=('real',), noticed=False)


def test_what_is_left():
    """Those that a test cannot have: libraries that are compiled from a registry, and servers of databases."""
    left = {path.stem for path in HARNESSES.glob('*.conf')} - TRIED
    check('timeit' not in left, left)
    return 'on samples only: ' + ', '.join(sorted(left)) if left else None


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
