#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of several machines: merged with machine, sitting and run kept apart, and compared by machine."""

import csv
import gzip
import io
import json
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile

from machine import bench_report as report
from machine import check, equal, run_tests

BENCH_REPORT = os.environ['BENCH_REPORT']
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix='fleet.'))


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
    # Alone in its file, it stays what it was, and has the sitting of the file.
    equal(facts(text, 'hostname', 'y'), ['c'], 'a benchmark of one machine')
    equal(facts(text, 'quiesce_sitting', 'y'), sittings[-1:], 'a benchmark of one file')

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
    # Whatever the order, and when another machine came between.
    second = write('2.json', {'x': ({'hostname': 'b'}, runs_of([1.0]))})
    other = write('3.json', {'x': ({**here, 'platform': 'Linux 2'}, runs_of([1.0]))})
    report('merge', first, second, other, status=1,
           says="1.json has runs of the same machine with other metadata 'platform'")


def test_merge_twice():
    """merge takes no sitting twice, and not the file that it writes"""
    folder = FOLDER / 'twice'
    folder.mkdir()
    for at in range(3):
        write(f'twice/{at}.json', {'x': ({'hostname': f'm{at}', 'quiesce_sitting': f's{at}'},
                                         runs_of([1.0, 2.0]))})
    output = folder / 'all.json'
    for _ in range(2):
        report('merge', '-o', output, folder)
        equal(len(find(output.read_text())['runs']), 6, 'the output is no input')
    report('merge', output, folder / '1.json', status=1,
           says="all.json has runs of the same sitting (s1)")
    plain = write('plain.json', {'x': ({}, runs_of([1.0]))})
    report('merge', plain, plain, status=1, says='plain.json has runs of the same sitting')
    # Where no file has the benchmark of another one, either is known again as well.
    for name in 'ab':
        write(name, {name: ({}, runs_of([1.0, 2.0]))})
    only = FOLDER / 'only.json'
    report('merge', '-o', only, FOLDER / 'a.json', FOLDER / 'b.json')
    for name in 'ab':
        report('merge', only, FOLDER / f'{name}.json', status=1, says='has runs of the same sitting')
    # Files that were made before this was refused: a sitting is one, however often it stands there.
    runs = [run for at in range(3) for run in runs_of(
        [1.0 + at, 1.1 + at], quiesce_hostname=f'm{at}', quiesce_sitting=f's{at}',
        quiesce_order_seed=at + 1)]
    old, again = (write(name, {key: ({'quiesce_interleaved': 'x, y'}, runs * times)
                               for key in 'xy'}) for name, times in (('old', 1), ('again', 3)))
    for path in old, again:
        found = compare(path)
        equal((found['machines']['machines'], found['machines']['sittings']), (3, 3), path)


def test_merge_packed():
    """A compressed file that is as large as its text is no plain file"""
    text = json.dumps({'version': '1.0', 'benchmarks': [
        {'metadata': {'name': 'x', 'unit': 'second', 'hostname': 'q'},
         'runs': runs_of([1.0, 2.0])}]}).encode()
    packed = gzip.compress(text)
    # A file name in the header (RFC 1952) fills it up.
    packed = packed[:3] + b'\x08' + packed[4:10] + b'n' * (len(text) - len(packed) - 1) + b'\0' + packed[10:]
    equal(len(packed), len(text), 'size')
    (FOLDER / 'packed.json.gz').write_bytes(packed)
    first = write('first.json', {'x': ({'hostname': 'p'}, runs_of([3.0]))})
    equal(len(find(report('merge', first, FOLDER / 'packed.json.gz'))['runs']), 3, 'runs')


def test_changed():
    """A file that changes while others are merged is merged as it was read"""
    first, second = (write(f'{name}.json', {'x': ({'hostname': name}, runs_of([1.0] * 9))})
                     for name in 'pq')
    output = FOLDER / 'fifo'
    os.mkfifo(output)
    # Nothing is written before the last file has been read, and a pipe waits for us.
    with subprocess.Popen([BENCH_REPORT, 'merge', first, second, output], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        with open(output, 'w', encoding='utf-8') as pipe:
            # Here merge has opened the pipe, and is through with the files before.
            second.write_text(first.read_text().replace('[1.0]', '[5.0]'))
            pipe.write(first.read_text().replace('[1.0]', '[2.0]'))
        text, errors = process.communicate()
    equal(process.returncode, 0, errors)
    equal([run['values'] for run in find(text)['runs']], [[1.0]] * 18 + [[2.0]] * 9, 'values')


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
    check('on each of 8 machines' in text and '8, in 24 and 24 sittings of 25 runs (1 would do)' in text, text)
    check(all(len(line) <= 80 for line in text.splitlines()), text)


def test_joined():
    """Where one side has more sittings, a sitting has as many runs as it has"""
    files = make_fleet(random.Random(8), 5, 2, 0, in_turn=False)
    old = json.loads(files[0].read_text())
    runs = old['benchmarks'][0]['runs']
    runs[:] = [run for run in runs if run['metadata']['quiesce_sitting'].endswith('.0o')]
    files[0].write_text(json.dumps(old))
    text = report('compare', *files)
    check('5, in 5 and 10 sittings of 25 runs' in text, text)
    found = compare(*files)['machines']
    equal((round(found['runs_each'], 9), found['sittings']), (25, 15), found)


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
    text = report('compare', old, new)
    check('5 and 5, in 10 and 10 sittings' in text and ' machines on either side' in text, text)
    # One machine tells nothing of the next one.
    alone = make_fleet(draw, 1, 3, 0, in_turn=False, prefix='c')[1]
    found = compare(old, alone)
    equal((found['verdict'], found['ratio_low']), ('unclear', None), found)
    equal(found['unclear'], 'fewer than two machines have both programs, and one of the programs is on fewer '
          'than two machines', found)


def make_layouts(draw, changes, name='layouts.json', machines='h'):
    """Layouts of both programs that were run in turn; machine k measures every layout if there are several."""
    sides = ([], [])
    for at, change in enumerate(changes):
        for machine in machines:
            for side in range(2):
                sides[side].extend(runs_of(
                    noise(draw, 0.01 * math.exp(change * side)), layout=str(at + 1), hostname=machine,
                    quiesce_sitting=f'{machine}{at}', quiesce_order_seed=at + 1))
    together = {'quiesce_interleaved': 'old, new'}
    return write(name, {'old': (together, sides[0]), 'new': (together, sides[1])})


def test_layouts():
    """Layouts are counted as machines are, where they were run in turn on one machine"""
    draw = random.Random(10)
    luck = [math.log(1.02) + (0.01 if at % 2 else -0.01) for at in range(8)]
    file = make_layouts(draw, luck)
    found = compare(file)
    equal((found['design'], found['verdict'], found['machines']), ('within layouts', 'slower', None), found)
    check(found['ratio_low'] < 1.02 < found['ratio_high'] and found['ratio_high'] - found['ratio_low'] > 0.01, found)
    layouts = found['layouts']
    equal((layouts['layouts'], layouts['sittings'], layouts['within']), (8, 8, True), layouts)
    check(0.008 < layouts['spread_layouts'] < 0.014 and layouts['spread_sittings'] is None, layouts)
    check(layouts['plan']['layouts'] > 8, layouts)
    text = report('compare', '-v', file)
    check('in each of 8 layouts of both, and their mean' in text and "Student's t of the layouts" in text, text)
    check(re.search(r'\n  layouts    8, in 8 sittings of 25 runs .*\n  spread     between layouts 1.* runs .*\n'
                    r'  for        \+-.*: [0-9]+ layouts', text), text)
    check('  layouts    8, in 8 sittings of 25 runs' in report('show', file), 'of one program')
    equal(len(fleet(file)[0]['machines']), 1, 'machines')

    # A gate passes where enough layouts say so: the same margin, with a few and with many of them.
    # The ends of what two layouts allow are far away.
    for n, status, says in ((2, 3, '2 layouts allow -'), (8, 0, '')):
        file = make_layouts(draw, [change - math.log(1.02) for change in luck[:n]])
        report('compare', '--fail-worse', '2', '--fail-unclear', file, status=status, says=says)
        report('compare', '--fail-worse', '2', file)
    report('compare', '--fail-worse', '0.5', make_layouts(draw, luck), status=3, says='new')

    # Several machines are what is counted, and layouts are sittings of them.
    found = compare(make_layouts(draw, luck, machines='pq'))
    equal((found['design'], found['layouts']), ('within machines', None), found)
    equal((found['machines']['machines'], found['machines']['sittings']), (2, 16), found)

    # A change of the machine is in all layouts alike where they were not measured in turn.
    both = json.loads(make_layouts(draw, luck).read_text())['benchmarks']
    sides = []
    for side in range(2):
        runs = [{**run, 'metadata': {**run['metadata'], 'quiesce_sitting': f'{side}{at // 25}'}}
                for at, run in enumerate(both[side]['runs'])]
        sides.append(write(f'layouts{side}.json', {'x': ({}, runs)}))
    found = compare(*sides)
    equal((found['design'], found['verdict'], found['layouts']), ('between layouts', 'unclear', None), found)
    check('run in turn' in found['unclear'], found)
    check('of layouts that were not measured in turn' in report('compare', '-v', *sides), 'the design')


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
    """Machines that have only one of both programs are left out, and counted"""
    draw = random.Random(4)
    both = make_fleet(draw, 4, 1, 0, in_turn=False)
    more = make_fleet(draw, 3, 1, 0.5, in_turn=False, prefix='z')
    (FOLDER / 'more.json').write_text(report('merge', both[1], more[1]))
    text = report('compare', both[0], FOLDER / 'more.json')
    check('\n             without 3 machines that have only one of the two programs\n' in text, text)
    equal(compare(*both)['ratio'], compare(both[0], FOLDER / 'more.json')['ratio'], 'the same change')
    one = make_fleet(draw, 1, 1, 0.5, in_turn=False, prefix='y')
    (FOLDER / 'more.json').write_text(report('merge', both[1], one[1]))
    text = report('compare', both[0], FOLDER / 'more.json')
    check('without 1 machine that has only one of the two programs\n' in text, text)


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
    # All old results of one machine, and all new ones of another.
    names = {side: [write(f'{side}-alone{at}.json', {'x': ({'hostname': host}, [
        {**run, 'metadata': {'date': f'2026-11-20 1{at}:{minute}:00'}}
        for run in runs_of(noise(draw, level))])}) for at in range(5)]
             for side, host, level, minute in (('old', 'm0', 0.01, 10), ('new', 'm1', 0.02, 30))}
    found = compare('--fail-slower', 2, '--old', *names['old'], '--new', *names['new'])
    equal((found['verdict'], found['gate'], found['differences']),
          ('unclear', 'unclear', ['hostname: m0 -> m1']), found)


def test_show():
    """show tells the spread of each level, and no interval of pooled runs"""
    files = make_fleet(random.Random(6), 6, 3, 0, in_turn=False)
    found = json.loads(report('show', '--json', files[0]))['benchmarks'][0]
    check(found['interval_high'] / found['interval_low'] > 1.02, found)
    check(found['machines']['machines'] == 6 and found['machines']['sittings'] == 18, found)
    check(found['machines']['plan']['machines'] > 6, found)
    equal([each['code'] for each in found['findings']], [], 'what lies between sittings is no finding')
    text = report('show', '-v', files[0])
    check("holds such machines' mean with 95 % certainty" in text, text)
    check(all(len(line) <= 80 for line in text.splitlines()), text)
    limits = found['interval_low'], found['interval_high']
    for verb in 'show', 'stats':
        row = next(csv.DictReader(io.StringIO(report(verb, '--csv', files[0]))))
        equal((float(row['interval_low']), float(row['interval_high'])), limits, f'{verb} --csv')
    given = json.loads(report('show', '--format', 'bencher', files[0]))['x']['latency']
    check(all(math.isclose(given[key], limit * 1e9) for key, limit in zip(('lower_value', 'upper_value'), limits)),
          given)
    given = json.loads(report('show', '--format', 'github-action-benchmark', files[0]))[0]
    check(given['range'].endswith(' %'), given)
    shown = re.search(r'interval +(.*? .. .*?) {2}', text)[1]
    check(f'| {shown} |' in report('show', '--markdown', files[0]), shown)


def test_findings():
    """What differs from machine to machine is no finding, and what differs within one is"""
    draw = random.Random(3)

    def fleet_of(levels, spread):
        return write('findings.json', {'x': ({}, [
            run for at, level in enumerate(levels) for run in machine_runs(draw, f'm{at}', level, spread)])})

    for levels, spread, codes in (((0.010, 0.020, 0.040), 0.003, set()),
                                  ((0.010, 0.010, 0.010), 0.3, {'STDEV', 'MINIMUM', 'MAXIMUM'})):
        text = report('check', '--json', fleet_of(levels, spread), status=3 if codes else 0)
        found = {each['code'] for each in json.loads(text)['benchmarks'][0]['findings']}
        check(codes <= found if codes else not found, f'{levels}, {spread}: {found}')
    # The values of a run are multiplied by the factor of the run.
    runs = [{**run, 'values': [value, value * 1.001]} for at in range(3)
            for run in machine_runs(draw, f'm{at}', 0.01 * 2 ** at) for value in run['values']]
    report('check', write('several.json', {'x': ({}, runs)}))


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
    check('9 machines, 1 benchmark: 1 odd' in text, text)
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


def test_unlike():
    """fleet says nothing from too few machines, of bytes, or of runs that do not count"""
    draw = random.Random(11)
    runs = {name: [run for at in machines for run in machine_runs(
        draw, f'm{at}', level=0.01 * (1 + 0.1 * (at == 9)))]
            for name, machines in (('x', range(8)), ('y', range(8, 10)))}
    found, odd = fleet(write('unlike.json', {name: ({}, one) for name, one in runs.items()}))
    equal(odd, {}, 'two machines cannot tell which of them is odd')
    equal([each['level'] is None for each in found['machines']], [False] * 8 + [True] * 2, found)
    runs = {name: [run for at in range(8) for run in machine_runs(draw, f'm{at}')] for name in 'abc'}
    found, _ = fleet(write('sittings.json', {name: ({}, one) for name, one in runs.items()}))
    equal({each['sittings'] for each in found['machines']}, {1}, 'sittings, not times benchmarks')
    bulky = write('bytes.json', {'x': ({'unit': 'byte'}, [
        run for at in range(8) for run in machine_runs(draw, f'm{at}', level=1e6 * (1 + (at == 3)))])})
    equal(fleet(bulky)[1], {}, 'bytes are not slow')
    # The values of one run are one number, of the machine on which they were made.
    calibration = {'warmups': [[1, 1.0]], 'metadata': {'quiesce_hostname': 'a'}}
    values = {'values': [1.0, 1.1, 1.2], 'metadata': {'quiesce_hostname': 'b'}}
    found, _ = fleet(write('one.json', {'x': ({}, [calibration, values])}))
    equal({each['node']: each['runs'] for each in found['machines']}, {'a': 0, 'b': 1}, found)


def test_equal_values():
    """What is equal is equal, whatever arithmetic does to it"""
    for value in 1036288.0, 1048576.0, 1110016.0:
        runs = [[run for at in range(4) for sitting in range(n) for run in runs_of(
            [value] * 3, quiesce_hostname=f'm{at}', quiesce_sitting=f'{side}{at}.{sitting}')]
                for side, n in enumerate((3, 1))]
        found = compare(*(write(f'equal{side}.json', {'x': ({'unit': 'byte'}, one)})
                          for side, one in enumerate(runs)))
        equal((found['verdict'], found['p']), ('same', 1), found)


def test_controls():
    """Controls do not turn machines into pooled runs"""
    draw = random.Random(12)
    both = {'quiesce_interleaved': 'x, c', 'cpu_model_name': 'M', 'quiesce_control': 'c',
            'quiesce_control_hash': '1'}
    control = {**both, 'quiesce_role': 'control'}
    files = []
    for side in range(2):
        runs = {'x': [], 'c': []}
        for at in range(4):
            change = draw.gauss(0, 0.01)
            for name, items in runs.items():
                items += runs_of(noise(draw, 0.01 * math.exp(change * (name == 'x'))),
                                 quiesce_hostname=f'm{at}', quiesce_order_seed=at + 1,
                                 quiesce_sitting=f'{side}.{at}')
        files.append(write(f'control{side}.json', {
            'x': (both, runs['x']), 'c': (control, runs['c'])}))
    found = compare(*files, says='compared without a control: the results are of several')
    equal(found['design'], 'within machines', found)
    check('with 95 % certainty), ' not in report('show', files[0]), 'no interval of pooled rounds')


def test_rows():
    """The rows about machines say what is known, and only that"""
    runs = [run for at in range(5) for run in runs_of(
        [1.0 + at / 10], quiesce_hostname=f'm{at}', quiesce_sitting=f's{at}')]
    text = report('show', write('rows.json', {'x': ({}, runs)}))
    check('5, in 5 sittings of 1 run\n' in text and 'no number' not in text, text)
    found = json.loads(report('show', '--json', FOLDER / 'rows.json'))['benchmarks'][0]['machines']
    equal((found['plan']['sittings'], found['plan']['runs']), (None, None), found)
    same = [run for at in range(3) for run in runs_of(
        [1.0] * 3, quiesce_hostname=f'm{at}', quiesce_sitting=f's{at}')]
    text = report('show', write('rows.json', {'x': ({}, same)}))
    check('  for ' not in text, text)


def test_differences():
    """What differs is said of one machine, not of two that are others"""
    files = {side: [write(f'd{side}{at}.json', {'x': (
        {'hostname': f'm{at}', 'quiesce_governor': side}, runs_of([1.0 + at / 10, 1.1 + at / 10]))})
                    for at in range(3)] for side in ('old', 'new')}
    found = compare('--old', *files['old'], '--new', *reversed(files['new']))
    equal(found['differences'], ['quiesce_governor: old -> new'], found)


def test_zeros():
    """Values of 0 have no ratio: unclear, and no error"""
    path = write('zeros.json', {'x': ({}, [
        {'values': [0.01], 'metadata': {'quiesce_hostname': host, 'quiesce_sitting': host,
                                        'quiesce_major_faults': 0}}
        for host in 'ab' for _ in range(9)])})
    found = compare('--metric', 'major_faults', path, path)
    equal(found['verdict'], 'unclear', found)
    equal((found['design'], found['ratio'], found['old']['median']), ('between machines', None, 0), found)
    text = report('compare', '--metric', 'major_faults', path, path)
    check('nan' not in text and 'one after the other' not in text and '  tests ' not in text, text)


if __name__ == '__main__':
    try:
        run_tests((test.__doc__, test) for test in (
            test_merge, test_merge_refuses, test_merge_twice, test_merge_packed, test_changed, test_within,
            test_joined, test_in_turn, test_between, test_layouts, test_names, test_left_out, test_files, test_show,
            test_findings, test_odd, test_not_odd, test_unlike, test_equal_values, test_controls, test_rows,
            test_differences, test_zeros))
    finally:
        shutil.rmtree(FOLDER)
