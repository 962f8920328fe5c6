#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of other tools: what all verbs of bench-report make of them, and of what the real programs write, where
these are installed.
"""

import gzip
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import machine
from machine import Skip, check, equal
from machine import bench_report as report

SAMPLES = pathlib.Path(os.environ['SAMPLES'])
SCRATCH = tempfile.TemporaryDirectory(prefix='imports.')
FOLDER = pathlib.Path(SCRATCH.name)
ALL = sorted(path for path in [*SAMPLES.glob('*.*'), SAMPLES / 'criterion'] if path.name != 'custom-score.json')


def write(name, text):
    path = FOLDER / name
    path.write_text(text, encoding='utf-8')
    return path


def start(*words, folder=FOLDER, **environment):
    """Runs a program, which is to succeed. Returns its standard output."""
    result = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, check=False, timeout=300,
                            env={**os.environ, 'LC_ALL': 'C', **environment}, stdin=subprocess.DEVNULL)
    equal(result.returncode, 0, f'{words}: {result.stdout} {result.stderr}')
    return result.stdout


def find(program, *folders):
    found = shutil.which(program) or next((str(path / program) for path in folders if (path / program).exists()), None)
    if not found:
        raise Skip(f'{program} is not installed')
    return found


def find_module(name):
    if not importlib.util.find_spec(name):
        raise Skip(f'python3 has no {name}')


def shown(*arguments):
    """What `show --json` has of each benchmark, by name."""
    return {each['name']: each for each in json.loads(report('show', '--json', *arguments))['benchmarks']}


def test_all_verbs():
    """Each of them takes each sample."""
    for path in ALL:
        for verb in ('show', 'stats', 'hist', 'dump', 'slowest'):
            check(report(verb, path), f'{verb} {path}')
            json.loads(report(verb, '--json', path))
        check(report('show', '--csv', path), path)
        check(' 1 ' in report('show', '--format', 'benchfmt', path), path)
        compared = json.loads(report('compare', '--json', path, path))['comparisons']
        check(compared and all(each['ratio'] in (1, None) for each in compared), path)
        if path.is_file():
            check(report('trend', path), path)


def test_one_process():
    """Of one process each, nothing is known of how processes differ, and the verdict says so."""
    for name in ('go.txt', 'go-events.json', 'pytest-benchmark.json', 'criterion'):
        path = SAMPLES / name
        check('one process tells nothing of the next one' in report('show', '-v', path), name)
        text = report('compare', path, path)
        check(re.search('unclear .* how much runs differ is not known from a single one', text), text)
    both = report('show', '-v', SAMPLES / 'jmh.json')
    check('4 values in 2 runs, each the mean of an iteration of 50 ms' in both, both)


def test_directions():
    """A change is for the worse in the direction of its figure, and a gate goes by that."""
    old, new = [], []
    for n in range(8):
        # 10 % longer, 10 % fewer, and twice the bytes.
        line = 'goos: linux\nBenchmarkA-4 100 {} ns/op {} MB/s {} B/op 3 allocs/op {} hits\nUnit hits better=higher\nPASS\n'
        old.append(write(f'old{n}.txt', line.format(1000 + n, 100 + n / 10, 16, 5)))
        new.append(write(f'new{n}.txt', line.format(1100 + n, 90 + n / 10, 32, 9)))
    compared = json.loads(report('compare', '--json', '--fail-slower', '5', '--old', *old, '--new', *new, status=3,
                                 says='BenchmarkA'))['comparisons']
    found = {each['old']['name']: (each['unit'], round(each['ratio'], 2), each['gate']) for each in compared}
    equal(found['BenchmarkA'][:2], ('second', 1.1), 'time')
    equal(found['BenchmarkA: B/s'][:2], ('B/s', 0.9), 'rate')
    equal(found['BenchmarkA: B/op'][1:], (2, 'fails'), 'bytes')
    equal(found['BenchmarkA: allocs/op'][1:], (1, 'passes'), 'no change')
    equal(found['BenchmarkA: hits'][1], 1.8, 'hits')
    check(found['BenchmarkA: hits'][2] == 'passes', f'more hits are better: {found}')
    text = report('compare', '--old', *old, '--new', *new)
    check(re.search(r'BenchmarkA: hits: .*5.0 hits -> 9.0 hits', text), text)
    metric = report('compare', '--metric', 'B/op', '--old', *old, '--new', *new)
    check('BenchmarkA (B/op)' in metric and 'allocs' not in metric, metric)
    report('show', '--metric', 'rps', old[0], status=1, says="has no metric 'rps', but B/s, B/op, allocs/op, hits")


def test_merged():
    """What was imported is a result: it can be merged, keeps its figures, and processes of several files are runs."""
    merged = FOLDER / 'merged.json'
    report('merge', '-o', merged, SAMPLES / 'go-processes.txt', SAMPLES / 'jmh.json')
    for path in (SAMPLES / 'go-processes.txt', SAMPLES / 'jmh.json'):
        before, after = shown(path), shown(merged)
        for name, each in before.items():
            for key in ('unit', 'metric', 'runs', 'values', 'median', 'max'):
                equal(after[name][key], each[key], f'{name}: {key}')
    more = FOLDER / 'more.json'
    report('merge', '-o', more, SAMPLES / 'go-processes.txt', SAMPLES / 'go.txt')
    equal(shown(more)['BenchmarkSum: B/op']['runs'], 4, 'processes')
    find_module('pyperf')
    said = start(sys.executable, '-m', 'pyperf', 'show', merged)
    check('BenchmarkSum' in said and 't.Sum.sum(n=100) thrpt' in said, said)


def test_parameters():
    """Where names of parameters are known, a scan is a curve."""
    data = json.loads((SAMPLES / 'pytest-benchmark.json').read_text(encoding='utf-8'))
    data['benchmarks'].append({'fullname': 'test_b.py::test_sum[40]', 'params': {'n': 40}, 'stats': {'data': [3e-7], 'iterations': 1}})
    path = write('scan.json', json.dumps(data))
    if os.environ['HAS_CAIRO'] != '1':
        raise Skip('built without cairo')
    picture = FOLDER / 'scan.svg'
    drawn = json.loads(report('plot', '--json', '-o', picture, path))
    curve = drawn['pictures'][0]['curves'][0]
    equal([point['parameter'] for point in curve['points']], [10, 20, 40], 'points')


def test_history():
    """Commit and date of pytest-benchmark and asv order a history."""
    data = json.loads((SAMPLES / 'pytest-benchmark.json').read_text(encoding='utf-8'))
    paths = []
    for day in (3, 1, 2):
        data['commit_info'].update(id=f'c{day}', time=f'2026-11-0{day}T10:00:00Z')
        paths.append(write(f'day{day}.json', json.dumps(data)))
    trend = json.loads(report('trend', '--json', *paths))['trends'][0]
    equal([point['commit'] for point in trend['points']], ['c1', 'c2', 'c3'], 'commits')


def test_results_of_asv():
    """A folder of asv's, as asv leaves it: environments are histories of their own, and a commit of which all failed tells
    nothing.
    """
    folder = FOLDER / 'asv'
    folder.mkdir()
    data = json.loads((SAMPLES / 'asv.json').read_text(encoding='utf-8'))
    for day in range(20):
        for python in '3.11', '3.12':
            data.update(commit_hash=f'{day:040x}', date=1795861652000 + day * 86400000, env_name=f'conda-py{python}')
            value = (1 if python == '3.11' else 2) * (1.5 if day >= 10 else 1) * (1 + day * 7 % 20 / 1000)
            data['results'] = {'b.time_sum': [[value], [], 'v', 1795862586281, 1], 'b.time_gone': [None, [], 'v']}
            (folder / f'{day:08x}-conda-py{python}.json').write_text(json.dumps(data), encoding='utf-8')
    data['results'] = {'b.time_sum': [None, [], 'v']}
    (folder / '00000014-conda-py3.11.json').write_text(json.dumps(data), encoding='utf-8')
    (folder / 'machine.json').write_text(json.dumps({'arch': 'x86_64', 'machine': 'host', 'version': 1}), encoding='utf-8')
    found = json.loads(report('trend', '--json', folder))['trends']
    equal([(each['environment'], len(each['points']), [level['first'] for level in each['levels']]) for each in found],
          [('conda-py3.11', 20, [0, 10]), ('conda-py3.12', 20, [0, 10])], 'histories')
    text = report('trend', folder, says='left out: 33 more benchmarks of 33 files, which failed or have no value')
    check('b.time_sum on CPU MODEL (host), in conda-py3.12: 20 results, 1 change\n' in text, text)
    # One file alone has nothing to tell.
    for verb in 'trend', 'show':
        report(verb, folder / '00000014-conda-py3.11.json', status=1, says='all in it is left out (b.time_sum failed)')


def test_unknown():
    """What is read is said, where it is none of that, once, with the harness for what programs print."""
    report('show', write('hello.txt', 'hello\n'), status=1,
           says='hello.txt:1:1: this is no JSON; what is read: results of runpinned, pyperf, hyperfine, ')
    report('merge', FOLDER / 'hello.txt', status=1, says='this is no JSON; what is read: results of runpinned')
    text = write('wrk.txt', 'Requests/sec:   9721.37\n    Latency   204.33us   65.81us   2.91ms   96.05%\n')
    report('show', text, status=1, says='--harness NAME')
    equal(shown('--harness', 'wrk', text)['rps']['median'], 9721.37, 'rps')
    check('rate' not in shown('--harness', 'go', SAMPLES / 'go.txt'), 'a figure of hosting')
    report('show', '--harness', 'sqlite3', text, status=1, says='no value of real: nothing in the file matches')
    report('show', '--harness', 'pyperf', text, status=2, says="'pyperf' has no figure of what its program prints")
    report('show', '--harness', 'nobody', text, status=2, says="--harness: there is no 'nobody'")
    report('show', write('score.json', '[{"name": "a", "unit": "points", "value": 3}]'), status=1,
           says='--harness custom-bigger or --harness custom-smaller')
    equal(report('compare', '--table', '--harness', 'custom-bigger', FOLDER / 'score.json', FOLDER / 'score.json').count('points'),
          2, 'points')
    report('show', write('cut.json', (SAMPLES / 'jmh.json').read_text(encoding='utf-8')[:900]), status=1, says='cut.json:1:')
    report('show', FOLDER, status=1, says='Is a directory')
    # What a harness that is known prints is told, from a file and from a pipe.
    printed = SAMPLES.parent / 'harness' / 'sysbench.txt'
    hint = 'it is what sysbench prints, which --harness sysbench reads'
    report('show', printed, status=1, says=hint)
    report('merge', printed, status=1, says=hint)
    with open(printed, encoding='utf-8') as file:
        report('show', '-', status=1, says=hint, stdin=file)


def test_hostile():
    """No text of a file reaches the terminal, a table or a result as it is."""
    evil = 'x\x1b[31m\n\u202e=1+1,"'
    texts = {
        'evil.json': json.dumps([{'jmhVersion': evil, 'benchmark': evil, 'mode': evil, 'params': {evil: evil}, 'primaryMetric': {
            'scoreUnit': 'ns/op', 'rawData': [[1, 2], [3, 4]]}, 'secondaryMetrics': {evil: {
                'scoreUnit': evil[:8], 'rawData': [[1, 2], [3, 4]]}}}]),
        'evil.list': json.dumps([{'name': evil, 'unit': 'ns', 'value': 1}]),
        'evil.saved': json.dumps({'machine_info': {'node': evil}, 'benchmarks': [
            {'fullname': evil, 'params': {evil: evil}, 'stats': {'data': [1, 2], 'iterations': 3}}]}),
        'evil.txt': 'pkg: \x1b[1m\ncpu: \x1b[2m\nBenchmarkA\x1b[1m 1 2 ns/op 3 \x1b[1mx 4 \u202ey\n',
        'evil.csv': '1,,\x1b[1m,5,100.00,,\n',
    }
    for name, text in texts.items():
        path = write(name, text)
        for arguments in (['show', '--metadata'], ['show', '--csv'], ['show', '--markdown'], ['show', '--format', 'benchfmt'],
                          ['show', '--json', '--metadata'], ['stats'], ['hist'], ['dump'], ['check'], ['merge'], ['trend'],
                          ['compare', str(path)]):
            result = subprocess.run([os.environ['BENCH_REPORT'], *arguments, path], capture_output=True, text=True, check=False)
            check(result.returncode in (0, 3), f'{arguments} {name}: {result.stderr}')
            check(not re.search('[\x00-\x09\x0b-\x1f\x7f\u202e]', result.stdout + result.stderr), f'{arguments} {name}: {result}')


def test_standard_input():
    """Through a pipe, and compressed, it is the same."""
    with open(SAMPLES / 'go.txt', encoding='utf-8') as file:
        plain = report('show', '-', stdin=file)
    equal(plain, report('show', SAMPLES / 'go.txt'), 'standard input')
    packed = subprocess.run(['gzip', '-c', SAMPLES / 'go.txt'], capture_output=True, check=True).stdout
    (FOLDER / 'go.txt.gz').write_bytes(packed)
    equal(report('show', FOLDER / 'go.txt.gz'), plain, 'gzip')
    marked = b'\xef\xbb\xbf' + (SAMPLES / 'go.txt').read_bytes().replace(b'\n', b'\r\n')
    for data in marked, gzip.compress(marked):
        (FOLDER / 'marked.txt').write_bytes(data)
        equal(report('show', FOLDER / 'marked.txt'), plain, 'a byte order mark')
    (FOLDER / 'cut.gz').write_bytes(packed[:200])
    report('show', FOLDER / 'cut.gz', status=1, says='cut.gz: the compressed data are damaged or cut off')


def test_benchfmt():
    """What is written is read again, a line for each process."""
    text = report('show', '--format', 'benchfmt', SAMPLES / 'go-processes.txt')
    lines = text.splitlines()
    equal(len([line for line in lines if re.fullmatch(
        r'BenchmarkSum 1 [0-9.]+ ns/op [0-9.e+]+ B/s 0 B/op 0 allocs/op', line)]), 3, text)
    check('Unit B/s better=higher' in lines and 'Unit allocs/op better=lower' in lines, text)
    again = shown(write('again.txt', text))
    equal((again['BenchmarkSum']['values'], again['BenchmarkSum: B/s']['values']), (3, 3), 'values')
    # Runs of two files stay apart, although their benchmarks have one name.
    twice = report('show', '--format', 'benchfmt', SAMPLES / 'go-processes.txt', SAMPLES / 'go-processes.txt')
    runs = [line for line in lines if line.startswith('Benchmark')]
    equal([line for line in twice.splitlines() if line.startswith('Benchmark')], runs * 2, 'two files')
    for path in ALL:
        for line in report('show', '--format', 'benchfmt', path).splitlines():
            check(re.fullmatch(r'Unit \S+ better=(higher|lower)|Benchmark[^\sa-z]\S* 1( [0-9.e+-]+ \S+)+', line), line)


GO = '''package tiny

import "testing"

var sink int

func BenchmarkSum(b *testing.B) {
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		for k := 0; k < %d; k++ {
			sink += k ^ i
		}
	}
}
'''


def go_binary(name, n):
    """A test binary of Go with a loop of so many steps."""
    folder = FOLDER / name
    folder.mkdir(exist_ok=True)
    (folder / 'go.mod').write_text('module tiny\n\ngo 1.18\n', encoding='utf-8')
    (folder / 'x_test.go').write_text(GO % n, encoding='utf-8')
    start(find('go'), 'test', '-c', '-o', 'bench', folder=folder, GOFLAGS='-mod=mod', GOPROXY='off')
    return folder / 'bench'


def go_files():
    """Eight processes of a program and of one with ten times the work, by turns."""
    binaries = {'short': go_binary('short', 1000), 'long': go_binary('long', 10000)}
    files = {name: [] for name in binaries}
    for n in range(8):
        for name, binary in binaries.items():
            files[name].append(write(f'{name}{n}.txt', start(
                binary, '-test.run', '^$', '-test.bench', '.', '-test.benchtime', '200x', '-test.count', '2')))
    return files


def test_go():
    """The real one: ten times the work is found, and allocations are the same; benchstat finds what is written."""
    files = go_files()
    compared = json.loads(report('compare', '--json', '--old', *files['short'], '--new', *files['long']))['comparisons']
    found = {each['old']['name']: each for each in compared}
    check(found['BenchmarkSum']['ratio'] > 3, found)
    equal(found['BenchmarkSum: allocs/op']['verdict'], 'same', 'allocations')
    events = start('go', 'test', '-json', '-run', '^$', '-bench', '.', '-benchtime', '200x', folder=FOLDER / 'short',
                   GOFLAGS='-mod=mod', GOPROXY='off')
    check('BenchmarkSum' in shown(write('events.json', events)), events)
    benchstat = find('benchstat', pathlib.Path(start('go', 'env', 'GOPATH').strip()) / 'bin')
    texts = {}
    for name, paths in files.items():
        merged = FOLDER / f'{name}.all'
        merged.write_text(''.join(path.read_text(encoding='utf-8') for path in paths), encoding='utf-8')
        equal(shown(merged)['BenchmarkSum']['runs'], 8, 'processes in one file')
        texts[name] = write(f'{name}.fmt', report('show', '--format', 'benchfmt', merged))
    said = start(benchstat, texts['short'], texts['long'])
    # What it concludes is its own affair, and depends on who else is on the machine.
    check(re.search(r'Sum .* n=8\)', said) and 'allocs/op' in said, said)


def test_benchstat_units():
    """benchstat takes what any sample becomes, and a name of each."""
    gopath = start(find('go'), 'env', 'GOPATH').strip()
    benchstat = find('benchstat', pathlib.Path(gopath) / 'bin')
    for path in ALL:
        text = write('any.txt', report('show', '--format', 'benchfmt', path))
        said = subprocess.run([benchstat, text], capture_output=True, text=True, check=True, timeout=60)
        for line in text.read_text(encoding='utf-8').splitlines():
            if line.startswith('Benchmark'):
                check(line.split()[0].removeprefix('Benchmark') in said.stdout, f'{line}: {said.stdout} {said.stderr}')


def test_pytest():
    find_module('pytest_benchmark')
    write('test_sum.py', 'def test_sum(benchmark):\n    benchmark(sum, range(100))\n')
    start(sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'test_sum.py', '--benchmark-json=saved.json',
          '--benchmark-max-time=0.01')
    each = shown(FOLDER / 'saved.json')['test_sum.py::test_sum']
    check(each['runs'] == 1 and each['values'] >= 5 and 1e-8 < each['median'] < 1e-3, each)


def test_fio():
    path = FOLDER / 'fio.json'
    start(find('fio'), '--name=r', '--filename=data', '--size=256k', '--rw=randrw', '--bs=4k', '--output-format=json',
          f'--output={path}')
    found = shown(path)
    check(found['r: read-iops']['unit'] == '1/s' and found['r: write-p99']['unit'] == 'second', found)


def test_perf():
    found = find('perf')
    for how in (['-x', ','], ['-x', ';', '-r', '2'], ['-j'], ['-j', '-r', '2']):
        path = FOLDER / 'perf.out'
        result = subprocess.run([found, 'stat', *how, '-o', path, '-e', 'task-clock,page-faults', 'true'], check=False,
                                capture_output=True, text=True)
        if result.returncode != 0:
            raise Skip(f'perf stat does not count here: {result.stderr.splitlines()[:1]}')
        each = shown(path)
        check(each['task-clock']['unit'] == 'second' and each['page-faults']['median'] > 1, f'{how}: {each}')
        means = 'the mean of several processes' in report('show', path)
        equal(means, '-r' in how, how)


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
