#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The reports that are printed without -v, on terminals of 80 and of 60 columns: the answer stands in the first line,
a comparison has at most 15 lines and a single program or service 12, and no line is wider than the terminal, whatever
names, figures and warnings there are. Which warnings there are, and that each is met, is in tests/unit/test-brief.c.
"""

import json
import os
import pathlib
import random
import re
import sys
import tempfile
import unicodedata

import machine
from machine import check, equal
from test_serve import HARNESS, LOAD, SERVICE

RUNPINNED, RUNSERVED, BENCH_REPORT = (os.environ[name] for name in ('RUNPINNED', 'RUNSERVED', 'BENCH_REPORT'))
SCRATCH = tempfile.TemporaryDirectory(prefix='brief.')
FOLDER = pathlib.Path(SCRATCH.name)
CPU = str(max(os.sched_getaffinity(0)))
WIDTHS = 80, 60
COMPARISON, ALONE = 15, 12

# What people call programs.
NAMES = ('sort', 'x' * 300, 'a name of many short words ' * 20, '/a/path/that/is/long' * 8 + '/a --with=an --option',
         '\u6587\u5b57' * 90, '\u6587\u5b57 ' * 60, 'e\u0301o\u0308' * 90, '\x1b[31mred\x1b[0m' * 12, 'a\ttab, and more' * 9)


def columns_of(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in line)


def shown(words, columns, status=0):
    """The lines that a command prints on a terminal, without its messages, which go elsewhere. It ends with that
    status, or with any."""
    environment = {**os.environ, 'LC_ALL': 'C.UTF-8', 'TERM': 'dumb', 'HOME': SCRATCH.name,
                   'XDG_STATE_HOME': str(FOLDER / 'state')}
    with tempfile.TemporaryFile('w+') as messages:
        found, text = machine.on_terminal(words, columns, stderr=messages, env=environment)
        messages.seek(0)
        equal(found, found if status is None else status, f'{words}: status {messages.read()} {text}')
    return text.rstrip('\n').split('\n')


def fits(lines, columns, limit):
    what = '\n'.join(lines)
    check(len(lines) <= limit, f'{len(lines)} lines, of {limit}:\n{what}')
    for line in lines:
        # The path is to be copied, and no terminal breaks what is one word in its selection.
        check(columns_of(line) <= columns or line.startswith('saved in'), f'{columns} columns: {line!r} in\n{what}')
    for head, row in zip(lines, lines[1:]):
        check(not re.match(' +median +MAD', head) or re.match('  (?!-v|medians |instead )', row),
              f'a head without a row:\n{what}')
    return what


def benchmark(name, values, unit='second', events=(), **metadata):
    """One of a result; the runs are its values. events: of each run, {name: value}."""
    return {'metadata': {'name': name, 'unit': unit, **metadata}, 'runs': [
        {'values': [value], 'metadata': {'quiesce_start': float(i), **{f'quiesce_event_{event}': each
                                                                       for event, each in events}}}
        for i, value in enumerate(values)]}


def result(*benchmarks):
    path = FOLDER / 'result.json'
    path.write_text(json.dumps({'version': '1.0', 'benchmarks': benchmarks}), encoding='utf-8')
    return path


def values_of(seed, mean, spread=0.01, n=25):
    draw = random.Random(seed)
    return [mean * draw.uniform(1 - spread, 1 + spread) for _ in range(n)]


def test_names():
    """Whatever programs are called, both are told apart, and their figures stand in a line each."""
    for name in NAMES:
        # What differs is the end, the beginning, or what lies between these.
        for old, new in ((name, f'{name} 2'), (f'old {name}', f'new {name}'), (f'{name}-old-{name}', f'{name}-new-{name}')):
            path = result(*(benchmark(each, values_of(at, mean), quiesce_interleaved='a, b', quiesce_order_seed=1,
                                      quiesce_cpus=','.join(map(str, range(0, 400, 2))))
                            for at, each, mean in ((1, old, 0.01), (2, new, 0.02))))
            for columns in WIDTHS:
                lines = shown([BENCH_REPORT, 'compare', path], columns)
                text = fits(lines, columns, COMPARISON)
                equal(shown([BENCH_REPORT, 'show', path], columns), lines, 'show')
                rows = [line for line in lines if ' ms ' in line and line.startswith('  ') and '+' not in line]
                equal(len(rows), 2, f'a line for each program:\n{text}')
                check(rows[0].split(' ms ')[0][:-8] != rows[1].split(' ms ')[0][:-8], f'they look alike:\n{text}')
                check('slower, +' in ' '.join(text.split()), f'the verdict:\n{text}')
    for name in NAMES:
        path = result(benchmark(name, values_of(1, 0.01), quiesce_cpus=','.join(map(str, range(0, 400, 2)))))
        for columns in WIDTHS:
            fits(shown([BENCH_REPORT, 'show', path], columns), columns, ALONE)


def test_figures():
    """Huge and tiny ones, and units that are long words."""
    unit = 'lower, requests-a-fortnight-and-user'
    for size in 1e-300, 1e-12, 1e-9, 0.99995, 1, 1e5, 1e12, 1e300:
        for kind in 'second', 'byte', 'integer', 'figure':
            values = values_of(3, size)
            if kind == 'integer' or kind == 'byte':
                values = [max(1, round(min(value, 1e15))) for value in values]
            if kind == 'figure':
                both = [benchmark(name, values_of(seed, 0.01), **{'quiesce_unit_score-of-all': unit})
                        for seed, name in ((1, 'a'), (2, 'b'))]
                for each in both:
                    for run, value in zip(each['runs'], values_of(len(each['metadata']['name']), size)):
                        run['metadata']['quiesce_event_score-of-all'] = value
            else:
                both = [benchmark(name, values, unit=kind) for name in ('a', 'b')]
            path = result(*both)
            for columns in WIDTHS:
                name = 'a: score-of-all' if kind == 'figure' else 'a'
                fits(shown([BENCH_REPORT, 'show', '-b', name, path], columns), columns, ALONE)
                single = [(FOLDER / f'{at}.json') for at in range(2)]
                for at, file in enumerate(single):
                    file.write_text(json.dumps({'version': '1.0', 'benchmarks': [
                        {**both[at], 'metadata': {**both[at]['metadata'], 'name': 'same'}}]}), encoding='utf-8')
                fits(shown([BENCH_REPORT, 'compare', *single], columns), columns, COMPARISON)


def test_counted():
    """What -e has counted, of which there may be more than there are lines."""
    events = [(f'a_counter_with_a_long_name_{at}', 10 ** 15 + at) for at in range(30)]
    path = result(benchmark('a', values_of(1, 0.01), events=events))
    for columns in WIDTHS:
        fits(shown([BENCH_REPORT, 'show', path], columns), columns, ALONE)


def test_many():
    """Of twelve programs all verdicts are there, and come first."""
    both = [benchmark(f'program-{at}', values_of(at, 0.01 * (1 + at / 20)), quiesce_interleaved='all',
                      quiesce_order_seed=1, quiesce_baseline='program-0') for at in range(12)]
    path = result(*both)
    for columns in WIDTHS:
        lines = shown([BENCH_REPORT, 'compare', path], columns)
        verdicts = [line for line in lines if line.startswith('program-')]
        equal(len(verdicts), 11, f'verdicts: {lines}')
        check(lines[0] == verdicts[0] and lines.index(verdicts[-1]) < 2 * 11, f'the verdicts come first: {lines}')
        fits(lines, columns, 2 * 11 + 5)


def test_warned():
    """Of some programs that vary much, where their warnings take the lines of the table."""
    for n in range(2, 8):
        draw = random.Random(n)
        names = [f'{"a-new-program" if at else "baseline"}/benchmark=Benchmark{"Sum" * at}: iteration' for at in range(n)]
        path = result(*(benchmark(name, [0.01 * draw.lognormvariate(0, 0.9) for _ in range(10)], quiesce_interleaved='all',
                                  quiesce_order_seed=1, quiesce_baseline=names[0]) for name in names))
        for columns in WIDTHS:
            fits(shown([BENCH_REPORT, 'compare', path], columns), columns, max(COMPARISON, 4 * n + 5))


def pinned(*words, status=0, limit=COMPARISON, first=''):
    for columns in WIDTHS:
        lines = shown([RUNPINNED, '-c', CPU, *words], columns, status)
        check(first in lines[0], f'{first!r} in the first line: {lines}')
        fits(lines, columns, limit)


def test_runpinned():
    """The same at the end of a measurement."""
    long = 'a-long-name-without-any-blank' * 9
    pinned('-n', '3', '-w', '0', '--name', long, 'true', limit=ALONE, first='...')
    pinned('-n', '3', '-w', '0', '-o', FOLDER / 'a.json', '-e', 'task-clock,page-faults,context-switches', 'true',
           limit=ALONE, first='true: 3 runs on CPU')
    pinned('-n', '8', '-w', '0', '--baseline', 'true', '--', 'true', first='true, compared with baseline: ')
    pinned('-n', '2', '-w', '0', '--command', f'{long}=true', '--command', f'{long}2=true', first='...')
    pinned('-w', '0', '--decide', '1', '--max-runs', '10', '--baseline', 'true', '--', 'sh', '-c', 'exit 0',
           status=None, first='sh, compared with baseline: ')
    pinned('--until-rel-error', '0.001', '-n', '5', '--max-runs', '6', '-w', '0', 'true', limit=ALONE,
           first='true: 6 runs on CPU')


def test_runserved():
    """The same of services: the CPU time of a request first, then a line for each of them."""
    for name, text in ('service.py', SERVICE), ('load.py', LOAD), ('load.conf', HARNESS):
        (FOLDER / name).write_text(text, encoding='utf-8')
    python = f'{sys.executable} -S'
    load = ['--harness', FOLDER / 'load.conf', '--load', f'{python} {FOLDER}/load.py {{port}} 100', '--slices', '1']
    service = [*python.split(), f'{FOLDER}/service.py', '{port}', '1000']
    long = 'service-with-a-name-of-many-letters' * 4
    path = FOLDER / 'served.json'
    for columns in WIDTHS:
        lines = shown([RUNSERVED, '-c', CPU, '-n', '2', *load, '-o', path, '--', *service], columns)
        text = fits(lines, columns, ALONE)
        check(': 2 runs on CPU' in lines[0] and 'CPU time a request' in ' '.join(text.split()), f'one service:\n{text}')
        for word in 'requests/s', 'p50', 'busy', '  load ', '  limit ':
            check(word in text, f'{word} in\n{text}')
        # The path is the first that gives way to what a busy machine has to say.
        check('saved in' in text or '  -v         has ' in text, f'saved in\n{text}')
        shown_later = fits(shown([BENCH_REPORT, 'show', path], columns), columns, ALONE)
        check('requests/s' in shown_later and '  limit ' in shown_later, f'show:\n{shown_later}')
        both = ['--command', f'{long}={" ".join(service)}', '--command', f'{long}2={" ".join(service)}']
        for words, status, first in ((['-n', '2', *both], 0, 'service-with'),
                                     (['-n', '2', '--baseline', ' '.join(service), '--', *service], 0, 'baseline: '),
                                     (['--decide', '1', '--max-sittings', '10', '--baseline', ' '.join(service), '--',
                                       *service], None, 'baseline: '),
                                     (['-n', '2', '--by', 'rps', '--load-cpus', CPU, '--baseline', ' '.join(service),
                                       '--', *service], 0, 'rps says nothing, because')):
            lines = shown([RUNSERVED, '-c', CPU, *load, '-o', path, *words], columns, status)
            text = fits(lines, columns, COMPARISON)
            check(first in lines[0], f'{first!r} in the first line:\n{text}')
            head = [at for at, line in enumerate(lines) if 'CPU/request' in line]
            check(len(head) == 1 and all(' us ' in line or ' ms ' in line for line in lines[head[0] + 1:head[0] + 3]),
                  f'a line for each service:\n{text}')
            fits(shown([BENCH_REPORT, 'compare', path], columns), columns, COMPARISON)


if __name__ == '__main__':
    machine.run_tests(machine.named_tests(machine.tests_of(globals())))
