#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of several machines: merged with machine, sitting and run kept apart, and compared by machine."""

import gzip
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import tempfile

from machine import check, equal, run_tests

BENCH_REPORT = os.environ['BENCH_REPORT']
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix='fleet.'))


def report(*arguments, status=0, says=None, stdin=subprocess.DEVNULL):
    result = subprocess.run([BENCH_REPORT, *map(str, arguments)], stdin=stdin, capture_output=True,
                            text=True, check=False,
                            env={**os.environ, 'LC_ALL': 'C', 'COLUMNS': '80'})
    equal(result.returncode, status, f'{arguments}: {result.stdout} {result.stderr}')
    if says:
        check(says in result.stderr, f'{arguments}: {result.stderr}')
    return result.stdout


def runs_of(values, **metadata):
    return [{'values': [value], 'metadata': {'date': f'2026-11-20 10:00:{at % 60:02}', **metadata}}
            for at, value in enumerate(values)]


def write(name, benchmarks, packed=False):
    """benchmarks: {name: (metadata, runs)}"""
    path = FOLDER / name
    text = json.dumps({'version': '1.0', 'benchmarks': [
        {'metadata': {'name': key, 'unit': 'second', **metadata}, 'runs': runs}
        for key, (metadata, runs) in benchmarks.items()]}).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    return path


def noise(draw, level, n=25):
    return [level * math.exp(draw.gauss(0, 0.003)) for _ in range(n)]


def find(text, name='x'):
    return next(each for each in json.loads(text)['benchmarks'] if each['metadata']['name'] == name)


def facts(text, key, name='x'):
    """What holds for each run."""
    benchmark = find(text, name)
    return [{**benchmark['metadata'], **run['metadata']}.get(key) for run in benchmark['runs']]


def test_merge():
    """merge keeps machines and sittings apart"""
    files = [
        write('a.json', {'x': ({'hostname': 'a', 'cpu_count': 2, 'quiesce_sitting': 's1'},
                               runs_of([1.0, 2.0]))}),
        write('b.json', {'x': ({'hostname': 'b', 'cpu_count': 4}, runs_of([3.0, 4.0]))}),
        write('c.json.gz', {'y': ({'hostname': 'c', 'cpu_count': 4}, runs_of([5.0])),
                            'x': ({'hostname': 'b', 'cpu_count': 4}, runs_of([6.0, 7.0]))},
              packed=True)]
    text = report('merge', *files)
    equal(facts(text, 'quiesce_hostname'), ['a', 'a', 'b', 'b', 'b', 'b'], 'machines')
    equal(facts(text, 'hostname'), [None] * 6, 'no name that pyperf refuses')
    equal(facts(text, 'quiesce_cpu_count'), [2, 2, 4, 4, 4, 4], 'CPUs')
    sittings = facts(text, 'quiesce_sitting')
    equal(sittings[:2], ['s1', 's1'], 'sitting of the file')
    check(len(set(sittings)) == 3 and None not in sittings, sittings)
    equal([run['values'] for run in find(text)['runs']], [[x] for x in (1., 2., 3., 4., 6., 7.)], '')
    # Alone in its file, it stays what it was.
    equal(facts(text, 'hostname', 'y'), ['c'], 'a benchmark of one machine')
    equal(facts(text, 'quiesce_sitting', 'y'), [None], 'a benchmark of one file')

    # Merged again, or through a pipe, the same file is the same sitting.
    (FOLDER / 'ab.json').write_text(report('merge', *files[:2]))
    with open(files[2], 'rb') as stdin:
        equal(facts(report('merge', FOLDER / 'ab.json', '-', stdin=stdin), 'quiesce_sitting'),
              sittings, 'merged in two steps')


def test_merge_refuses():
    """merge refuses runs that do not belong together"""
    here = {'hostname': 'a', 'platform': 'Linux 1'}
    first = write('1.json', {'x': (here, runs_of([1.0]))})
    for name, other in (('platform', {**here, 'platform': 'Linux 2'}),
                        ('aslr', {**here, 'hostname': 'b', 'aslr': 'No randomization'}),
                        ('inner_loops', {**here, 'hostname': 'b', 'inner_loops': 7})):
        report('merge', '-o', FOLDER / 'none.json', first, write('2.json', {'x': (other, runs_of([1.0]))}),
               status=1, says=f"2.json: benchmark 'x': metadata '{name}' differ")
    check(not (FOLDER / 'none.json').exists(), 'nothing is written')


def test_changed():
    """A file that changes while it is merged is an error"""
    first, second = (write(f'{name}.json', {'x': ({'hostname': name}, runs_of([1.0] * 9))})
                     for name in 'pq')
    output = FOLDER / 'fifo'
    os.mkfifo(output)
    # The last file is read to its end before the first one is read again, and a pipe waits for us.
    with subprocess.Popen([BENCH_REPORT, 'merge', first, second, output], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        with open(output, 'w', encoding='utf-8') as pipe:
            # Here merge has opened the pipe, and is through with the files before.
            second.write_text(first.read_text().replace('1.0,', '1.00,'))
            pipe.write(first.read_text())
        _, errors = process.communicate()
    equal(process.returncode, 1, errors)
    check('q.json has changed while it was merged' in errors, errors)


def make_fleet(draw, n_machines, n_sittings, change, in_turn, prefix='m', only=None):
    """A merged file for each side, or one for both."""
    sides = ([], [])
    for at in range(n_machines):
        machine = draw.gauss(0, 0.03)
        for sitting in range(n_sittings):
            state = [draw.gauss(0, 0.01)] * 2
            if not in_turn:
                state[1] = draw.gauss(0, 0.01)
            for side in range(2):
                seed = {'quiesce_order_seed': 100 * at + sitting + 1} if in_turn else {}
                sides[side].extend(runs_of(
                    noise(draw, 0.01 * math.exp(machine + state[side] + change * side)),
                    quiesce_hostname=f'{prefix}{at}', **seed,
                    quiesce_sitting=f'{prefix}{at}.{sitting}' + ('' if in_turn else '.on'[side + 1])))
    if in_turn:
        together = {'quiesce_interleaved': 'old, new'}
        return [write('both.json', {'old': (together, sides[0]), 'new': (together, sides[1])})]
    return [write(f'{prefix}{side}.json', {'x': ({}, sides[side])}) for side in range(2)
            if only in (None, side)]


def compare(*files, **options):
    return json.loads(report('compare', '--json', *files, **options))['comparisons'][0]


def test_within():
    """Machines that have both are compared with themselves"""
    draw = random.Random(1)
    for n_sittings in (1, 3):
        files = make_fleet(draw, 8, n_sittings, math.log(1.02), in_turn=False)
        found = compare(*files)
        equal(found['design'], 'within machines', n_sittings)
        equal(found['machines']['machines'], 8, n_sittings)
        check(found['ratio_low'] < 1.02 < found['ratio_high'], found)
        # 25 runs of 0.3 % would give an interval of 0.1 %.
        check(found['ratio_high'] - found['ratio_low'] > 0.005, found)
    check(0.005 < found['machines']['spread_sittings'] < 0.025, found['machines'])
    check(0.002 < found['machines']['spread_runs'] < 0.006, found['machines'])
    text = report('compare', *files)
    check('on each of 8 machines' in text and '8, in 24 sittings of 25 runs (1 would do)' in text, text)
    check(all(len(line) <= 80 for line in text.splitlines()), text)


def test_in_turn():
    """What was run in turn needs no more machines than two"""
    found = compare(*make_fleet(random.Random(2), 4, 2, math.log(1.01), in_turn=True))
    equal(found['design'], 'within machines', '')
    equal(found['verdict'], 'slower', found)
    check(found['ratio_high'] - found['ratio_low'] < 0.005, found)


def test_between():
    """Machines that are others: one number a machine"""
    draw = random.Random(3)
    old = make_fleet(draw, 5, 2, 0, in_turn=False, prefix='a')[0]
    new = make_fleet(draw, 5, 2, 0, in_turn=False, prefix='b')[1]
    found = compare(old, new)
    equal(found['design'], 'between machines', '')
    equal(found['verdict'], 'same', found)
    check(found['ratio_high'] - found['ratio_low'] > 0.03, found)
    # One machine tells nothing of the next one.
    alone = make_fleet(draw, 1, 3, 0, in_turn=False, prefix='c')[1]
    found = compare(old, alone)
    equal((found['verdict'], found['ratio_low']), ('unclear', None), found)
    check('fewer than two machines' in found['unclear'], found)


def test_names():
    """A machine has the name that the user, or else the cluster, gives it"""
    draw = random.Random(9)
    for names, n_machines in (({'node': 'a'}, 1), ({'node': 'ab'}, 2), ({'quiesce_node': 'ab'}, 2),
                              ({'quiesce_node': 'a', 'node': 'ab'}, 2), ({}, 1)):
        runs = [run for at in range(2) for run in runs_of(
            noise(draw, 0.01), hostname='h', quiesce_sitting=str(at),
            **{key: value[at % len(value)] for key, value in names.items()})]
        found = fleet(write('names.json', {'x': ({}, runs)}))[0]
        equal(len(found['machines']), n_machines, names)
        equal(found['machines'][0]['node'], 'a' if names else 'h', names)


def test_left_out():
    """Machines that have one of both alone are left out, and counted"""
    draw = random.Random(4)
    both = make_fleet(draw, 4, 1, 0, in_turn=False)
    more = make_fleet(draw, 3, 1, 0.5, in_turn=False, prefix='z')
    (FOLDER / 'more.json').write_text(report('merge', both[1], more[1]))
    text = report('compare', both[0], FOLDER / 'more.json')
    check('without 3 that have one of both alone' in text, text)
    equal(compare(*both)['ratio'], compare(both[0], FOLDER / 'more.json')['ratio'], 'the same change')


def test_files():
    """--old and --new with files of several machines"""
    draw = random.Random(5)
    files = {'old': [], 'new': []}
    for machine in range(4):
        level = 0.01 * math.exp(draw.gauss(0, 0.05))
        for side, change in (('old', 1), ('new', 1.01)):
            files[side].append(write(f'{side}{machine}.json', {
                'x': ({'hostname': f'm{machine}'}, runs_of(noise(draw, level * change)))}))
    found = compare('--old', *files['old'], '--new', *files['new'])
    equal((found['design'], found['verdict']), ('within machines', 'slower'), found)
    for side, names in files.items():
        (FOLDER / f'{side}.json').write_text(report('merge', *names))
    merged = compare(FOLDER / 'old.json', FOLDER / 'new.json')
    equal((merged['ratio'], merged['p']), (found['ratio'], found['p']), 'merged or not')


def test_show():
    """show tells the spread of each level, and no interval of pooled runs"""
    files = make_fleet(random.Random(6), 6, 3, 0, in_turn=False)
    found = json.loads(report('show', '--json', files[0]))['benchmarks'][0]
    check(found['interval_high'] / found['interval_low'] > 1.02, found)
    check(found['machines']['machines'] == 6 and found['machines']['sittings'] == 18, found)
    check(found['machines']['plan']['machines'] > 6, found)
    equal([each['code'] for each in found['findings']], [], 'what lies between sittings is no finding')
    text = report('show', files[0])
    check("holds such machines' mean with 95 % certainty" in text, text)
    check(all(len(line) <= 80 for line in text.splitlines()), text)


def machine_runs(draw, host, level=0.01, spread=0.003, **metadata):
    return runs_of([level * math.exp(draw.gauss(0, spread)) for _ in range(25)],
                   quiesce_hostname=host, quiesce_sitting=host, **metadata)


def fleet(*arguments, **options):
    found = json.loads(report('fleet', '--json', *arguments, **options))
    return found, {each['node']: each['odd'] for each in found['machines'] if each['odd']}


def test_odd():
    """fleet names the machine that is slower, noisier, shared, hotter or of another clock"""
    draw = random.Random(7)
    good = {'quiesce_core_khz': 3650000, 'quiesce_core_share_before': 1.0,
            'quiesce_core_share_after': 1.0, 'quiesce_temperature_after': 50.0}
    kinds = {
        'm1': (['slower'], {'level': 0.0104}),
        'm2': (['noisier'], {'spread': 0.02}),
        'm3': (['shared'], {'quiesce_core_share_before': 0.6, 'quiesce_core_share_after': 0.6}),
        'm4': (['clock'], {'quiesce_core_khz': 3300000}),
        'm5': (['hotter'], {'quiesce_temperature_after': 71.0}),
        'm6': (['faster'], {'level': 0.0096}),
    }
    for odd, (words, changes) in kinds.items():
        runs = [run for at in range(9)
                for run in machine_runs(draw, f'm{at}',
                                        **{**good, **(changes if f'm{at}' == odd else {})})]
        path = write('fleet.json', {'x': ({}, runs)})
        found, machines = fleet(path, status=3)
        equal(machines, {odd: words}, odd)
        equal(found['machines'][0]['node'], odd, 'odd ones come first')
    text = report('fleet', path, status=3)
    check('9 machines, 1 benchmark: 1 not as the others' in text, text)
    check(all(len(line) <= 80 for line in text.splitlines()), text)
    equal(len(fleet('-n', 2, path, status=3)[0]['machines']), 2, '--count')


def test_not_odd():
    """fleet finds nothing among equals, nor among too few"""
    draw = random.Random(8)
    folder = FOLDER / 'nodes'
    folder.mkdir()
    for at in range(12):
        (folder / f'{at}.json').write_text(json.dumps({'version': '1.0', 'benchmarks': [
            {'metadata': {'name': name, 'unit': 'second', 'hostname': f'm{at}'},
             'runs': runs_of(noise(draw, level))} for name, level in (('x', 0.01), ('y', 0.5))]}))
    found, odd = fleet(folder)
    equal((odd, found['enough'], found['benchmarks'], len(found['machines'])), ({}, True, 2, 12), found)
    # Merged, the folder is the same.
    (FOLDER / 'nodes.json').write_text(report('merge', folder))
    merged, _ = fleet(FOLDER / 'nodes.json')
    equal([each['level'] for each in merged['machines']],
          [each['level'] for each in found['machines']], 'merged')
    few = write('few.json', {'x': ({}, [run for at in range(3)
                                        for run in machine_runs(draw, f'm{at}', level=0.01 + at)])})
    equal(fleet(few)[0]['enough'], False, 'three machines')
    check('too few to tell an odd one' in report('fleet', few), 'said')
    report('fleet', '-b', 'nothing', few, status=1, says="no benchmark is named 'nothing'")


def test_zeros():
    """Values of 0 have no ratio: unclear, and no error"""
    path = write('zeros.json', {'x': ({}, [
        {'values': [0.01], 'metadata': {'quiesce_hostname': host, 'quiesce_sitting': host,
                                        'quiesce_major_faults': 0}}
        for host in 'ab' for _ in range(9)])})
    found = compare('--metric', 'major_faults', path, path)
    equal(found['verdict'], 'unclear', found)


if __name__ == '__main__':
    try:
        run_tests((test.__doc__, test) for test in (
            test_merge, test_merge_refuses, test_changed, test_within, test_in_turn, test_between,
            test_names, test_left_out, test_files, test_show, test_odd, test_not_odd, test_zeros))
    finally:
        shutil.rmtree(FOLDER)
