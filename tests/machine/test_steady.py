#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where values settle: it is found, said and recorded, and what comes before is left out where that is asked for."""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import machine
from machine import check, equal
from test_hosting import PYPERF
from test_program_values import block

RUNPINNED, BENCH_REPORT = os.environ['RUNPINNED'], os.environ['BENCH_REPORT']
SCRATCH = tempfile.TemporaryDirectory(prefix='steady.')
FOLDER = pathlib.Path(SCRATCH.name)
CPU = str(min(os.sched_getaffinity(0)))
ENVIRONMENT = {**os.environ, 'LC_ALL': 'C', 'HOME': SCRATCH.name, 'XDG_CONFIG_HOME': SCRATCH.name,
               'XDG_STATE_HOME': str(FOLDER / 'state'), 'COLUMNS': '200', 'LOG': str(FOLDER / 'log')}


def call(*words, status=0):
    result = subprocess.run([*map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            env=ENVIRONMENT, timeout=300, check=False)
    equal(result.returncode, status, f'status of {words} ({result.stderr})')
    return result.stdout, result.stderr


def runpinned(*words, status=0):
    """Returns its messages, and the benchmarks by name."""
    said, errors = call(RUNPINNED, '-c', CPU, '-q', '--json', *words, status=status)
    return machine.without_waiting(errors), ({} if status else {each['metadata']['name']: each for each in json.loads(said)['benchmarks']})


def program(code, name='program.py'):
    path = FOLDER / name
    path.write_text(f'#!{sys.executable} -S\nimport os, sys\n{code}\n', encoding='utf-8')
    path.chmod(0o755)
    return path


def values(n, slow, factor=1.3, seed=1):
    draw = random.Random(seed)
    return [0.01 * (factor if i < slow else 1) * draw.gauss(1, 0.01) for i in range(n)]


def result(*runs, name='jit'):
    path = FOLDER / 'result.json'
    path.write_text(json.dumps({'version': '1.0', 'benchmarks': [{
        'metadata': {'name': name, 'unit': 'second'},
        'runs': [{'values': run, 'warmups': [[1, 0.5]], 'metadata': {'date': '2026-11-28 10:00:00'}}
                 for run in runs]}]}))
    return path


def settling(path, *options, status=None):
    said = subprocess.run([BENCH_REPORT, 'check', '--json', *options, path], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, env=ENVIRONMENT, timeout=300, check=False)
    found = json.loads(said.stdout)['benchmarks'][0]
    if status is not None:
        equal(said.returncode, status, 'status')
    return found['settling'], [each['code'] for each in found['findings']]


def test_kinds():
    for name, runs, kind, before in (
            ('flat', [values(50, 0, seed=i) for i in range(10)], 'flat', 0),
            ('each its own', [values(50, 10 + i, seed=i) for i in range(5)], 'warm-up', 12),
            ('a slower level', [values(60, 20, 0.8, seed=i) for i in range(5)], 'warm-up', 20),
            ('one process', [values(200, 60)], 'warm-up', 60),
            ('first values', [values(20, 1, 2, seed=i) for i in range(10)], 'warm-up', 1),
            ('to and fro', [[v * (1 + 0.2 * (i // 12 % 2)) for i, v in enumerate(values(100, 0, seed=k))]
                            for k in range(5)], 'none', None)):
        found, codes = settling(result(*runs))
        equal(found['kind'], kind, name)
        equal(found['runs'], len(runs), name)
        if before is not None:
            equal(found['before'], before, name)
        equal(found['rises'] > found['falls'], name == 'a slower level', name)
        equal(('WARMUP' in codes, 'UNSETTLED' in codes), (kind == 'warm-up', kind == 'none'), name)
    equal(settling(result(values(13, 5), values(13, 5)))[0], None, 'too few values')
    # It is a reason not to trust the result where it moves the median.
    said = call(BENCH_REPORT, 'check', result(*(values(40, 25, seed=i) for i in range(5))), status=3)[0]
    check(re.search(r'warning: a run begins above its level: 25 of 40 values', said), said)
    said = call(BENCH_REPORT, 'check', result(*(values(40, 8, seed=i) for i in range(5))), status=3)[0]
    check(re.search(r'note: a run begins above its level: 8 of 40 values', said), said)


def test_from_level():
    path = result(*(values(50, 10 + i, seed=i) for i in range(5)), values(50, 0, seed=9))
    found = json.loads(call(BENCH_REPORT, 'show', '--json', '--from-level', path)[0])['benchmarks'][0]
    equal((found['settling']['left_out'], found['values'], found['warmups']), (60, 240, 66), 'left out')
    check(found['max'] < 0.0115, 'a value from before the level')
    said = call(BENCH_REPORT, 'show', '--from-level', path)
    check('from-level leaves out 60 of 300 values; 0 of 6 runs are on no level' in said[1], said[1])
    check('warm-up left out: 12 of 50 values (0 .. 14)' in said[0], said[0])
    # Without a level a run keeps its values, and that is said.
    path = result([v * (1 + 0.2 * (i // 12 % 2)) for i, v in enumerate(values(100, 0))])
    said = call(BENCH_REPORT, 'stats', '--from-level', path)
    check('leaves out 0 of 100 values; 1 of 1 run is on no level' in said[1], said[1])
    said = call(BENCH_REPORT, 'stats', '--from-level', result([0.1, 0.2]))[1]
    check('no run has 14 values or more' in said, said)
    call(BENCH_REPORT, 'dump', '--from-level', path, status=2)
    # Versions that warm up for another time are alike on their levels.
    old, new = FOLDER / 'old.json', FOLDER / 'new.json'
    for file, slow in ((old, 30), (new, 2)):
        result(*(values(50, slow, seed=i) for i in range(8))).rename(file)
    said = call(BENCH_REPORT, 'compare', '--json', '--from-level', old, new)[0]
    check(abs(json.loads(said)['comparisons'][0]['ratio'] - 1) < 0.01, said)
    said = call(BENCH_REPORT, 'compare', '--json', old, new)[0]
    check(json.loads(said)['comparisons'][0]['ratio'] < 0.8, said)


COUNT = '''
where = os.environ['LOG'] + '.count'
n = int(open(where).read()) if os.path.exists(where) else 0
open(where, 'w').write(str(n + 1))
'''


def test_whole_programs():
    """Warm-ups until the figure is on one level, which begins behind the sixth run."""
    own = program(COUNT + "print('x:', (300 if n < 6 else 100) + n % 5)")
    figure = ('--figure', r'x,s=x: ([0-9]+)')

    def count(benchmark):
        return sum('values' not in run for run in benchmark['runs'])

    errors, found = runpinned('-n', 3, '-w', 'auto', *figure, own)
    said, n = found['program.py']['metadata']['quiesce_warmup'], count(found['program.py'])
    equal(said, f'{n} runs, 6 before the level', 'said')
    check(16 < n <= 19, n)
    equal(errors, '', 'messages')
    # From here on it is on its level: 14 runs, and the one that is looked at.
    found = runpinned('-n', 2, '-w', 'auto', *figure, own)[1]['program.py']
    equal((count(found), found['metadata']['quiesce_warmup']), (15, '15 runs, 0 before the level'), 'on its level')
    # In turn with one that has no level: there is an end, and it is said.
    wild = program(COUNT + "print('x:', 100 + n * n)", 'wild.py')
    errors, found = runpinned('-n', 2, '-w', 'auto:20', *figure, '--baseline', own, wild)
    equal([count(each) for each in found.values()], [20, 20], 'warm-ups')
    check('warning: wild.py: its times are on no level after 20 warm-ups' in errors, errors)
    equal([each['metadata']['quiesce_warmup'] for each in found.values()],
          ['20 runs, 0 before the level', '20 runs, no level'], 'both')
    for bad in ('auto:3', 'auto:', 'autos', 'auto:x'):
        errors = runpinned('-w', bad, 'true', status=2)[0]
        check('-w: ' in errors or '--warmup' in errors, errors)
    said = call(RUNPINNED, '-c', CPU, '-n', 2, '-w', 'auto:15', *figure, own)[0]
    check(re.search(r'warm-up +15 runs, 0 before the level', said), said)
    said = call(RUNPINNED, '-c', CPU, '--dry-run', '-w', 'auto', own)[0]
    check('after up to 100 warm-ups' in said, said)


SAY = '''
with open(os.environ['QUIESCE_FIGURES'], 'a') as f:
    for i in range(60):
        f.write('BenchmarkX 1 %d ns\\n' % ((3000 if i < 12 else 1000) + i % 7))
'''


def test_figures():
    """Of figures that are the mean of many values: what is left out is told, and one warm-up is enough."""
    own = program(SAY)
    for options, mean, says in (((), 1403, ''), (('-w', 'auto'), 1003, ': left out')):
        found = runpinned('-n', 3, *options, own)[1]['program.py']
        runs = [run['metadata'] for run in found['runs'] if 'values' in run]
        equal([run['quiesce_figure_before_level'] for run in runs], [12, 12, 12], 'recorded')
        check(all(abs(run['quiesce_event_X'] * 1e9 - mean) < 1 for run in runs), runs)
        equal(found['metadata']['quiesce_warmup'], '12 of 60 values of a run come before the level' + says, 'said')
        equal(len(found['runs']), 4 if not options else 5, 'runs')
    # That does not depend on the evidence of the runs.
    found = runpinned('-n', 3, '-w', 'auto', '--evidence', 'none', own)[1]['program.py']
    equal(len(found['runs']), 5, 'runs without evidence')


def test_values_of_libquiesce():
    lines = [f'v 10 {(6000 if i < 8 else 4000) + i % 3 * 10} 3 3' for i in range(40)]
    own = program(f'os.write(int(os.environ["QUIESCE_VALUES_FD"]), {block(lines=lines)!r}.encode())')
    found = runpinned('-n', 3, own)[1]['mine']
    runs = [run for run in found['runs'] if 'values' in run]
    equal([(len(run['values']), run['metadata']['quiesce_before_level']) for run in runs], [(40, 8)] * 3, 'kept')
    check('quiesce_warmup' not in found['metadata'], 'nothing was left out')
    found = runpinned('-n', 3, '-w', 'auto', own)[1]['mine']
    runs = [run for run in found['runs'] if 'values' in run]
    equal([(len(run['values']), len(run['warmups']), run['metadata']['quiesce_before_level']) for run in runs],
          [(32, 8, 8)] * 3, 'left out')
    equal(found['metadata']['quiesce_warmup'], 'in each run', 'said')
    said = call(RUNPINNED, '-c', CPU, '-n', 3, '-w', 'auto', own)[0]
    check('warm-up    mine: 24 values before the level of their run are left out' in said, said)
    said = call(RUNPINNED, '-v', '-c', CPU, '-n', 3, '-w', 'auto', own)[0]
    check('24 values are left out, which came before the level of their run: 8 of 40 values' in said, said)


def test_hosted():
    """pyperf's worker, whose first values are larger: they are warm-ups of their run, and not in the figure."""
    text = PYPERF.format(python=sys.executable, names="['slow']", time='0.001').replace(
        '* (index + 1) * (i + 1) for', '* (3 if i < 12 else 1) * (1 + i % 5 / 1000) for').replace(
        "int(option('--values', 3))", '50')
    own = FOLDER / 'bm_pyperf.py'
    own.write_text(text, encoding='utf-8')
    own.chmod(0o755)
    for options, n, mean in (((), 50, 1.48), (('-w', 'auto'), 38, 1.002)):
        found = runpinned('-n', 3, '--harness', 'pyperf', *options, own)[1]
        (name, found), = found.items()
        runs = [run for run in found['runs'] if 'values' in run]
        equal([len(run['values']) for run in runs], [n] * 3, f'{name}: values')
        equal([run['metadata']['quiesce_before_level'] for run in runs], [12] * 3, 'recorded')
        event = next(key for key in runs[0]['metadata'] if key.startswith('quiesce_event_'))
        check(all(abs(run['metadata'][event] * 1e3 - mean) < 0.01 for run in runs), runs[0]['metadata'])
        equal(len(found['runs']) - 3, 1 if not options else 2, 'warm-ups')


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
