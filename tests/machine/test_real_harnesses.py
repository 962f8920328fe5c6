#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The real harnesses, where they are installed, hosted by runpinned: pyperf, pytest-benchmark and asv of the python3 that
is the first in PATH, Go, and google-benchmark and Catch2 of the C++ compiler. Those that must be built with packages
of Rust and Java are tried where they were downloaded before: QUIESCE_ONLINE=1 downloads them.
"""

import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import machine
from machine import Skip, check, equal

RUNPINNED = os.environ['RUNPINNED']
SCRATCH = tempfile.TemporaryDirectory(prefix='real-harnesses.')
FOLDER = pathlib.Path(SCRATCH.name)
CPU = str(min(os.sched_getaffinity(0)))
ENVIRONMENT = {**os.environ, 'LC_ALL': 'C', 'XDG_CONFIG_HOME': str(FOLDER / 'config'),
               'XDG_STATE_HOME': str(FOLDER / 'state'), 'PYTHONDONTWRITEBYTECODE': '1'}
ONLINE = os.environ.get('QUIESCE_ONLINE') == '1'


def write(name, text):
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding='utf-8')
    return path


def build(folder, *words, **environment):
    """Runs a builder. Skips the test where it cannot, which is what happens without a network."""
    result = subprocess.run([str(word) for word in words], cwd=folder, env={**os.environ, **environment},
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors='replace', timeout=900, check=False)
    if result.returncode != 0:
        raise Skip(f'{words[0]} cannot build it here: {" | ".join(result.stdout.splitlines()[-3:])}'[:300])
    return result.stdout


def need(program):
    found = shutil.which(program)
    if not found:
        raise Skip(f'no {program}')
    return found


def python_with(module):
    python = need('python3')
    result = subprocess.run([python, '-c', f'import {module}'], capture_output=True, check=False)
    if result.returncode != 0:
        raise Skip(f'{python} has no {module}')
    return python


def host(harness, old, new, *more, n=3, folder=FOLDER, status=0):
    """Hosts two programs, each a list of words. Returns the benchmarks of the result, by name; of a status other than 0
    what was said."""
    text = ' '.join("'" + str(word).replace("'", "'\\''") + "'" for word in old)
    result = subprocess.run([RUNPINNED, '-c', CPU, '-q', '-w', '0', '-n', str(n), '--json', '--harness', harness, *more,
                             '--baseline', text, '--name', 'new', '--', *map(str, new)], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, env=ENVIRONMENT, cwd=folder, timeout=600, check=False)
    equal(result.returncode, status, f'{harness}: {result.stderr}')
    if status != 0:
        return result.stderr
    return {each['metadata']['name']: each for each in json.loads(result.stdout)['benchmarks']}


def look_at(found, names, n_values=1, loops=True, n=3):
    """The benchmarks are these, of both programs; each run has so many values and evidence, and all the same loops."""
    wanted = [name + suffix for suffix in ([f'/benchmark={each}' for each in names] if len(names) > 1 else [''])
              for name in ('baseline', 'new')]
    equal(sorted(found), sorted(wanted), 'benchmarks')
    for name in names if len(names) > 1 else ['']:
        pair = [each for key, each in found.items() if key.endswith(name) or not name]
        told = {each['metadata'].get('loops', 1) for benchmark in pair for each in benchmark['runs']}
        equal(len(told), 1, f'{name}: loops {told}')
        check((max(told) > 1) == loops, f'{name}: loops {told}')
    for name, benchmark in found.items():
        equal(len(benchmark['runs']), n, f'{name}: runs')
        for each in benchmark['runs']:
            equal(len(each['values']), n_values, f'{name}: values')
            check(all(1e-10 < value < 1 for value in each['values']), f'{name}: {each["values"]}')
            check(each['metadata']['quiesce_window_user'] > 0, f'{name}: evidence')
            mean, figure = sum(each['values']) / n_values, each['metadata']['quiesce_event_iteration']
            check(math.isclose(figure, mean, rel_tol=1e-9), f'{name}: the figure {figure} is not the mean {mean}')


def is_slower(found, old='baseline', new='new', by=1.5):
    """The new one does ten times the work: that it is slower by this factor is not lost in any noise."""
    least = [min(value for each in found[name]['runs'] for value in each['values']) for name in (old, new)]
    check(least[1] > by * least[0], f'{old} {least[0]}, {new} {least[1]}')


def test_pyperf():
    python = python_with('pyperf')
    words = [python, '-m', 'pyperf', 'timeit', '--min-time', '0.01']
    found = host('pyperf', [*words, 'sum(range(100))'], [*words, 'sum(range(1000))'])
    look_at(found, ['timeit'], n_values=3)
    is_slower(found)
    # pyperf reads it.
    path = write('pyperf.json', json.dumps({'version': '1.0', 'benchmarks': list(found.values())}))
    text = subprocess.run([python, '-m', 'pyperf', 'stats', '-q', path], capture_output=True, text=True, check=True).stdout
    check('Number of value per run: 3' in text and 'Total number of values: 9' in text, text)
    own = write('several.py', 'import pyperf\nrunner = pyperf.Runner()\nrunner.bench_func("a b", sum, range(100))\n'
                'runner.timeit("t", "x + 1", "x = 1", inner_loops=10)\n')
    words = [python, own, '--min-time', '0.005', '-n', '2']
    look_at(host('pyperf', words, words), ['a b', 't'], n_values=2)
    check('has no' in host('pyperf', words, words, '--benchmark', 'nope', status=2), 'an unknown one')


def test_pyperf_hook():
    """contrib/pyperf, for those who keep pyperf in front: its workers write down evidence, which bench-report reads."""
    python = python_with('pyperf')
    path = FOLDER / 'hook.json'
    environment = {**ENVIRONMENT, 'PYTHONPATH': str(machine.HERE.parents[1] / 'contrib' / 'pyperf')}
    subprocess.run([python, '-m', 'pyperf', 'timeit', '-q', '--hook', 'quiesce', '-p', '3', '-n', '2', '-l', '2000', '-o',
                    path, 'sum(range(1000))'], check=True, env=environment, stdout=subprocess.DEVNULL)
    result = json.loads(path.read_text(encoding='utf-8'))
    for each in result['benchmarks'][0]['runs']:
        facts = {**result['metadata'], **each['metadata']}
        check(facts['quiesce_window_user'] >= 0.9 * sum(each['values']) * 2000, facts)
        check(set(facts['quiesce_flags'].split(',')) <= {'none', 'preempted', 'quota', 'irq'}, facts)
        check(0 <= facts['quiesce_run_delay'] <= facts['quiesce_window_user'] * 1.1, facts)
    check('3 runs' in machine.bench_report('show', path), 'bench-report shows it')


def test_go():
    go = need('go')
    names = ['BenchmarkSum', 'BenchmarkPrints', 'BenchmarkSub/size=10', 'BenchmarkSub/a(b).c-2']
    code = '''package tiny
import (
	"fmt"
	"testing"
)
var sink int
func work(n int) int { s := 0; for i := 0; i < n; i++ { s += i * i }; return s }
func BenchmarkSum(b *testing.B) { for i := 0; i < b.N; i++ { sink += work(FACTOR * 100) } }
func BenchmarkPrints(b *testing.B) { println("one"); fmt.Print("x: 5"); for i := 0; i < b.N; i++ { sink += work(FACTOR * 100) } }
func BenchmarkSub(b *testing.B) {
	for _, name := range []string{"size=10", "a(b).c-2"} {
		b.Run(name, func(b *testing.B) { b.SetBytes(8); for i := 0; i < b.N; i++ { sink += work(FACTOR * 50) } })
	}
}
'''
    write('go/go.mod', 'module tiny\ngo 1.18\n')
    for name, factor in (('old', '1'), ('new', '10')):
        write('go/x_test.go', code.replace('FACTOR', factor))
        build(FOLDER / 'go', go, 'test', '-c', '-o', f'{name}.test', GOCACHE=str(FOLDER / 'go-cache'), GOPROXY='off',
              GOFLAGS='-mod=mod', GOTOOLCHAIN='local')
    found = host('go', ['go/old.test'], ['go/new.test', '-test.benchmem'])
    look_at(found, names)
    for name in names:
        is_slower(found, f'baseline/benchmark={name}', f'new/benchmark={name}')
    equal([key for key in found[f'new/benchmark={names[2]}']['runs'][0]['metadata'] if 'event' in key],
          ['quiesce_event_' + name for name in ('iteration', 'rate', 'bytes', 'allocs')], 'figures')
    found = host('go', ['go/old.test', '-test.count', '3'], ['go/new.test', '-test.count', '3'], '--benchmark', names[3])
    look_at(found, names[3:], n_values=3)
    is_slower(found)
    check('as if there were no benchmark' in host('go', ['go/old.test'], ['go/new.test'], '--benchmark', 'nope', status=1),
          'an unknown one')


def test_google_benchmark():
    compiler = need('c++')
    code = '''#include <benchmark/benchmark.h>
static void BM_sum(benchmark::State &state)
{
    for (auto _ : state) { volatile int t = 0; for (int i = 0; i < FACTOR * state.range(0); i++) t = t + i; }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_sum)->Arg(50)->Arg(70);
BENCHMARK_MAIN();
'''
    for name, factor in (('old', '1'), ('new', '10')):
        write('google.cc', code.replace('FACTOR', factor))
        build(FOLDER, compiler, '-std=c++17', '-O1', 'google.cc', '-o', f'google-{name}', '-lbenchmark', '-lpthread')
    help_text = subprocess.run(['./google-old', '--help'], cwd=FOLDER, capture_output=True, text=True, check=False)
    # Version 1.8 says that a number of iterations may be given.
    told = '<integer>x' in help_text.stdout + help_text.stderr
    found = host('google-benchmark', ['./google-old'], ['./google-new', '--benchmark_repetitions=1'], n=2)
    look_at(found, ['BM_sum/50', 'BM_sum/70'], loops=told, n=2)
    is_slower(found, 'baseline/benchmark=BM_sum/50', 'new/benchmark=BM_sum/50')
    words = ['./google-old', '--benchmark_repetitions=3']
    look_at(host('google-benchmark', words, words, '--benchmark', 'BM_sum/50', n=2), ['BM_sum/50'], n_values=3, loops=told,
            n=2)
    check('as if there were no benchmark' in host('google-benchmark', words, words, '--benchmark', 'BM_sum', status=1),
          'a part of a name')
    return 'which is told its iterations' if told else 'which cannot be told its iterations'


def test_pytest_benchmark():
    python = python_with('pytest_benchmark')
    code = 'import pytest\n@pytest.mark.parametrize("n", [100, 200])\ndef test_sum(benchmark, n):\n' \
           '    benchmark.pedantic(lambda: sum(range(FACTOR * n)), rounds=20, iterations=50)\ndef test_none():\n    pass\n'
    for name, factor in (('old', '1'), ('new', '10')):
        write(f'pytest-{name}/test_it.py', code.replace('FACTOR', factor))
        write(f'pytest-{name}/pytest.ini', '[pytest]\n')
    words = ['sh', '-c', 'cd "$0" && exec "$@"']
    found = host('pytest-benchmark', [*words, 'pytest-old', python, '-m', 'pytest'],
                 [*words, 'pytest-new', python, '-m', 'pytest'], n=2)
    names = [f'test_it.py::test_sum[{n}]' for n in (100, 200)]
    look_at(found, names, loops=False, n=2)
    is_slower(found, f'baseline/benchmark={names[0]}', f'new/benchmark={names[0]}')
    words = [*words, 'pytest-old', python, '-m', 'pytest']
    check('exit status 4' in host('pytest-benchmark', words, words, '--benchmark', 'test_it.py::nope', status=1),
          'an unknown one')


def test_asv():
    python = python_with('asv')
    for name, factor in (('old', '1'), ('new', '10')):
        write(f'asv-{name}/__init__.py', '')
        write(f'asv-{name}/b.py', f'class C:\n    params = [100, 200]\n    def time_x(self, n):\n        sum(range({factor} * n))\n')
    found = host('asv', [python, 'asv-old'], [python, 'asv-new'], '--benchmark', 'b.C.time_x-0', n=2)
    look_at(found, ['b.C.time_x-0'], n_values=3, n=2)
    is_slower(found)


def test_catch2():
    compiler = need('c++')
    code = '''#define CATCH_CONFIG_MAIN
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#include <catch2/catch.hpp>
static int work(int n) { volatile int t = 0; for (int i = 0; i < n; i++) t = t + i; return t; }
TEST_CASE("sum it", "[!benchmark]") { int n = FACTOR; BENCHMARK("sum") { return work(n); }; }
'''
    write('catch2.cc', code.replace('FACTOR', 'getenv("TEN") ? 1000 : 100'))
    build(FOLDER, compiler, '-std=c++14', '-O1', 'catch2.cc', '-o', 'catch2')
    found = host('catch2', ['./catch2'], ['./catch2'], '--benchmark', 'sum it', '--env', 'new:TEN=1', n=2)
    look_at(found, ['sum it'], loops=False, n=2)
    is_slower(found)
    check('failed: ' in host('catch2', ['./catch2'], ['./catch2'], '--benchmark', 'nope', status=1), 'an unknown one')


def test_catch2_3():
    compiler = need('c++')
    write('catch3.cc', '#include <catch2/catch_all.hpp>\n#include <cstdlib>\n'
          'static int work(int n) { volatile int t = 0; for (int i = 0; i < n; i++) t = t + i; return t; }\n'
          'TEST_CASE("sum it", "[!benchmark]") { int n = getenv("TEN") ? 1000 : 100; BENCHMARK("sum") { return work(n); }; }\n')
    build(FOLDER, compiler, '-std=c++17', '-O0', 'catch3.cc', '-o', 'catch3', '-lCatch2Main', '-lCatch2')
    found = host('catch2', ['./catch3'], ['./catch3'], '--benchmark', 'sum it', '--env', 'new:TEN=1', n=2)
    look_at(found, ['sum it'], loops=False, n=2)
    is_slower(found)
    check('failed: ' in host('catch2', ['./catch3'], ['./catch3'], '--benchmark', 'nope', status=1), 'an unknown one')
    host('catch2-xml', ['./catch3', 'sum it', '-r', 'xml'], ['./catch3', 'sum it', '-r', 'xml'], n=2)


def test_nanobench():
    """By the main of docs/from-harnesses.md."""
    compiler = need('c++')
    text = (machine.HERE.parents[1] / 'docs' / 'from-harnesses.md').read_text(encoding='utf-8')
    code, = re.findall(r'^```cpp\n(.*?)^```$', text, re.M | re.S)
    for name, factor in (('old', '100'), ('new', '1000')):
        check('i < 100;' in code, 'the work of the page')
        write('nano.cc', code.replace('i < 100;', f'i < {factor};'))
        build(FOLDER, compiler, '-std=c++17', '-O1', 'nano.cc', '-o', f'nano-{name}')
    found = host('nanobench', ['./nano-old'], ['./nano-new'], n=2)
    names = ['sum', 'log of a number']
    look_at(found, names, n_values=11, n=2)
    is_slower(found, 'baseline/benchmark=sum', 'new/benchmark=sum')
    check('as if there were no benchmark' in host('nanobench', ['./nano-old'], ['./nano-new'], '--benchmark', 'nope', status=1),
          'an unknown one')
    # All of them in one process, as it prints them.
    host('nanobench', ['./nano-old'], ['./nano-new'], '--as-is', n=2)
    # A main of another kind, which knows no --list.
    write('plain.cc', '#define ANKERL_NANOBENCH_IMPLEMENT\n#include <nanobench.h>\nint main() { unsigned x = 0; '
          'ankerl::nanobench::Bench().run("x", [&] { ankerl::nanobench::doNotOptimizeAway(x += x * x); }); }\n')
    build(FOLDER, compiler, '-std=c++17', '-O1', 'plain.cc', '-o', 'plain')
    check('benchmark' in host('nanobench', ['./plain'], ['./plain'], status=1), 'which it does not list')


def rust():
    """The binaries of a crate with a benchmark of criterion and one of divan; of two versions."""
    if hasattr(rust, 'found'):
        return rust.found
    cargo = need('cargo')
    write('rust/Cargo.toml', '[package]\nname = "tiny"\nversion = "0.1.0"\nedition = "2021"\n[dev-dependencies]\n'
          'criterion = { version = "0.5", default-features = false }\ndivan = "0.1"\n'
          '[[bench]]\nname = "crit"\nharness = false\n[[bench]]\nname = "div"\nharness = false\n')
    write('rust/benches/crit.rs', '''use criterion::{criterion_group, criterion_main, Criterion};
fn b(c: &mut Criterion) {
    c.bench_function("sum it", |b| b.iter(|| tiny::work(100)));
    c.benchmark_group("grp").bench_function("other", |b| b.iter(|| tiny::work(50)));
}
criterion_group!(benches, b);
criterion_main!(benches);
''')
    write('rust/benches/div.rs', 'fn main() { divan::main(); }\n#[divan::bench]\nfn sum() -> u64 { tiny::work(100) }\n'
          '#[divan::bench(args = [10, 20])]\nfn size(n: u64) -> u64 { tiny::work(n) }\n')
    found = {}
    for name, factor in (('old', 1), ('new', 10)):
        write('rust/src/lib.rs', 'pub fn work(n: u64) -> u64 {\n    let mut s = 0u64;\n'
              f'    for i in 0..{factor} * n {{ s = s.wrapping_add(std::hint::black_box(i) * i); }}\n    s\n}}\n')
        text = build(FOLDER / 'rust', cargo, 'bench', '--no-run', *([] if ONLINE else ['--offline']), '--message-format',
                     'json')
        for line in text.splitlines():
            message = json.loads(line) if line.startswith('{') else {}
            if message.get('executable') and 'bench' in message['target']['kind']:
                target = message['target']['name']
                shutil.copy(message['executable'], FOLDER / f'{target}-{name}')
                found.setdefault(target, {})[name] = f'./{target}-{name}'
    rust.found = found
    return found


def test_criterion():
    found = rust()['crit']
    result = host('criterion', [found['old']], [found['new']], n=2)
    look_at(result, ['sum it', 'grp/other'], loops=False, n=2)
    is_slower(result, 'baseline/benchmark=sum it', 'new/benchmark=sum it')
    words = [found['old'], '--measurement-time', '0.2', '--warm-up-time', '0.1']
    look_at(host('criterion', words, words, '--benchmark', 'sum it', n=2), ['sum it'], loops=False, n=2)
    check('no value of iteration' in host('criterion', words, words, '--benchmark', 'nope', status=1), 'an unknown one')
    check(not (FOLDER / 'target').exists(), 'it wrote into a folder of its own')


def test_divan():
    found = rust()['div']
    result = host('divan', [found['old']], [found['new']], '--benchmark', 'div::sum', '--benchmark', 'div::size::20', n=2)
    look_at(result, ['div::sum', 'div::size::20'], n=2)
    is_slower(result, 'baseline/benchmark=div::sum', 'new/benchmark=div::sum')
    check('as if there were no benchmark' in host('divan', [found['old']], [found['new']], '--benchmark', 'div::nope',
                                                   status=1), 'an unknown one')


def test_jmh():
    need('java')
    maven = need('mvn')
    write('jmh/pom.xml', '''<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>t</groupId><artifactId>b</artifactId><version>1</version>
<properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target></properties>
<dependencies>
<dependency><groupId>org.openjdk.jmh</groupId><artifactId>jmh-core</artifactId><version>1.37</version></dependency>
<dependency><groupId>org.openjdk.jmh</groupId><artifactId>jmh-generator-annprocess</artifactId><version>1.37</version></dependency>
</dependencies></project>
''')
    write('jmh/src/main/java/t/Sum.java', '''package t;
import org.openjdk.jmh.annotations.*;
@State(Scope.Benchmark)
public class Sum {
    @Param({"100", "1000"}) public int n;
    @Benchmark public long sum() { long s = 0; for (int i = 0; i < n; i++) s += i * i; return s; }
}
''')
    build(FOLDER / 'jmh', maven, '-q', '-B', *([] if ONLINE else ['-o']), 'compile', 'dependency:build-classpath',
          '-Dmdep.outputFile=classpath')
    path = f'jmh/target/classes:{(FOLDER / "jmh/classpath").read_text(encoding="utf-8").strip()}'
    words = ['java', '-cp', path, 'org.openjdk.jmh.Main']
    found = host('jmh', [*words, '-p', 'n=100'], [*words, '-p', 'n=1000'], n=2)
    look_at(found, ['t.Sum.sum'], n_values=3, loops=False, n=2)
    is_slower(found)
    check('# Run progress: 50' in host('jmh', words, words, status=1), 'two values of a parameter in one process')
    check('No matching benchmarks' in host('jmh', words, words, '--benchmark', 't.Nope', status=1), 'an unknown one')


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
