#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that measure themselves, run by runpinned: the values that they hand over are in the result,
with the evidence of the run, and anything else that they write there does no harm.
"""

import csv
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import machine
from machine import check, equal

RUNPINNED = os.environ['RUNPINNED']
EXAMPLE = os.environ['LOOKUP']
SCRATCH = tempfile.TemporaryDirectory(prefix='program-values.')
CPU = str(min(os.sched_getaffinity(0)))

HEAD = '''quiesce-values 1
name {name}
clock tsc
empty 9000
resolution 300
inner 2
'''


def block(name='mine', lines=('c 1 50', 'w 10 500', 'v 10 400 3 3', 'v 10 600 3 2'), end=None):
    text = HEAD.format(name=name) + ''.join(line + '\n' for line in lines)
    return text + f'end {len(lines) if end is None else end}\n'


def program(code):
    """A program in Python that has the descriptor as `fd`."""
    path = pathlib.Path(SCRATCH.name, 'program.py')
    path.write_text(f'#!{sys.executable}\nimport fcntl, os, sys\n'
                    f'fd = int(os.environ["QUIESCE_VALUES_FD"])\n{code}\n', encoding='utf-8')
    path.chmod(0o755)
    return path


def run(*arguments, status=0):
    """Runs runpinned. Returns its messages, and the benchmarks by name, in their order."""
    result = subprocess.run([RUNPINNED, '-c', CPU, '--json', '-w', '0', *map(str, arguments)],
                            stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            env={**os.environ, 'LC_ALL': 'C',
                                 'XDG_STATE_HOME': SCRATCH.name + '/state'},
                            timeout=120, check=False)
    equal(result.returncode, status, f'status ({result.stderr})')
    benchmarks = json.loads(result.stdout)['benchmarks']
    return result.stderr, {each['metadata']['name']: each for each in benchmarks}


def test_names_are_described():
    """Each column of a table and each name of ours in a result stands in a man page."""
    page = ''.join((machine.HERE.parents[1] / 'man' / name).read_text(encoding='utf-8')
                   for name in ('quiesce-result.5.scd', 'quiesce-evidence.7.scd', 'quiesce-judging.7.scd'))
    named = set(re.findall(r'(?<![\w*])\*(\w+)\*(?!\w)', page))
    check({'reap', 'quiesce_clock'} <= named, named)
    table = pathlib.Path(SCRATCH.name, 'described.csv')
    for arguments in (
            ('--baseline', 'true', '--name', 'new', '--env-pad', 'random', '--max-time', 60, '--prepare', 'true', 'ls'),
            ('--control', '--shell', '--no-aslr', '--timeout', 60, '--ignore-failure=1', 'false'),
            ('--decide', 50, '--max-runs', 500, '--baseline', 'true', 'sleep', '0.01'),
            ('--clear-env', '--until-rel-error', 50, '--max-runs', 3, '--evidence', 'half-core', EXAMPLE)):
        _, found = run('-n', 2, '-w', 1, '--csv', table, *arguments,
                       status=3 if '--decide' in arguments else 0)
        with open(table, newline='', encoding='utf-8') as stream:
            columns = next(csv.reader(stream))
        equal([name for name in columns if name not in named], [], f'{arguments}: columns')
        for benchmark in found.values():
            names = set().union(benchmark['metadata'], *(one.get('metadata', ()) for one in benchmark['runs']))
            equal([name for name in sorted(names) if name.startswith('quiesce_') and name not in named and
                   name.removeprefix('quiesce_') not in named], [], f'{arguments}: names in the result')


def test_example():
    said, result = run('-n', 3, '-w', 1, EXAMPLE, '--min-time=0.001', '--max-time=60', 'lookup/small')
    equal(list(result), ['lookup', 'lookup/small'], 'names')
    outside, inside = result['lookup'], result['lookup/small']
    check('refused' not in said, said)
    equal([len(each.get('values', [])) for each in outside['runs']], [0, 1, 1, 1], 'values outside')
    equal([len(each.get('values', [])) for each in inside['runs']], [0, 50, 50, 50], 'values inside')
    equal(inside['metadata']['inner_loops'], 1024, 'inner loops')
    check('quiesce_clock' not in inside['metadata'], 'the clock of the window is not theirs')
    check(not any(key.startswith('quiesce_floor') for key in inside['metadata']), 'nor its floor')
    check(inside['metadata']['quiesce_stamps_empty'] > 0, 'what an empty region costs')
    check(0 < inside['metadata']['quiesce_stamps_empty_share'] < 0.01, 'what that is of a value')
    check(0 <= inside['metadata'].get('quiesce_waiting', 0) <= 1, 'waiting')
    equal(inside['metadata']['command'], outside['metadata']['command'], 'command')
    for ours, theirs in zip(outside['runs'], inside['runs']):
        evidence = theirs['metadata']
        loops = evidence.pop('loops')
        check(0 <= evidence.pop('quiesce_before_level', 0) <= 50, 'values before the level')
        equal(evidence, ours['metadata'], 'the evidence of the run')
        check('quiesce_window_user' in evidence, 'and there is some')
        for value in theirs.get('values', []):
            check(0 < value * loops * 1024 < evidence['quiesce_window_user'],
                  'a value is shorter than its process')


def test_short_values_are_sound():
    """The values that qs_main() makes by itself are short on purpose, which `check` does not object to."""
    _, result = run('-n', 3, EXAMPLE, 'lookup/small')
    inside = result['lookup/small']
    values = [value * inside['metadata']['inner_loops'] * each['metadata'].get('loops', 1)
              for each in inside['runs'] for value in each.get('values', [])]
    check(0 < min(values) < 0.001, f'short: {min(values)}')
    for each in inside['runs']:
        # What a busy machine adds is not what this is about.
        each['values'] = [5e-5 / inside['metadata']['inner_loops'] * (1 + at % 3 * 1e-5)
                          for at in range(len(each['values']))]
        each['metadata'] = {}
    path = pathlib.Path(SCRATCH.name, 'short.json')
    path.write_text(json.dumps({'version': '1.0', 'benchmarks': [inside]}), encoding='utf-8')
    ended = subprocess.run([os.environ['BENCH_REPORT'], 'check', path], capture_output=True, text=True, check=False)
    equal(ended.returncode, 0, ended.stdout + ended.stderr)
    inside['metadata'].pop('quiesce_stamps_resolution')
    path.write_text(json.dumps({'version': '1.0', 'benchmarks': [inside]}), encoding='utf-8')
    ended = subprocess.run([os.environ['BENCH_REPORT'], 'check', path], capture_output=True, text=True, check=False)
    check(ended.returncode == 3 and 'the shortest measurement took only' in ended.stdout, ended.stdout)


def test_csv():
    """A line for each value, with the evidence of its run; the same values as in the result."""
    path, result = (pathlib.Path(SCRATCH.name, name) for name in ('values.csv', 'values.json'))
    ended = subprocess.run([RUNPINNED, '-c', CPU, '-n', '3', '-w', '1', '-q', '-o', result, '--csv', path,
                            EXAMPLE, '--min-time=0.001'], capture_output=True, text=True, check=False)
    equal(ended.returncode, 0, ended.stderr)
    with path.open(newline='', encoding='utf-8') as stream:
        rows = list(csv.DictReader(stream))
    check(all(None not in row and None not in row.values() for row in rows), 'ragged')
    names = ['lookup', 'lookup/small', 'lookup/large']
    equal(list(dict.fromkeys(row['name'] for row in rows)), names, 'names')
    outside = {(row['run'], row['warmup']): row for row in rows if row['name'] == 'lookup'}
    equal([(row['run'], row['warmup'], row['index'], row['counted'], row['loops'])
           for row in outside.values()],
          [('1', '1', '', '0', ''), ('1', '0', '', '1', ''), ('2', '0', '', '1', ''),
           ('3', '0', '', '1', '')], 'the runs')
    own = ('name', 'index', 'counted', 'loops', 'inner_loops', 'value')
    for benchmark in json.loads(result.read_text(encoding='utf-8'))['benchmarks'][1:]:
        mine = [row for row in rows if row['name'] == benchmark['metadata']['name']]
        equal([float(row['value']) for row in mine if row['counted'] == '1'],
              [value for run in benchmark['runs'] for value in run.get('values', [])], 'values')
        equal([(int(row['loops']), float(row['value'])) for row in mine if row['counted'] == '0'],
              [(loops, value) for run in benchmark['runs'] for loops, value in run.get('warmups', [])],
              'warm-ups')
        equal([int(row['loops']) for row in mine if row['counted'] == '1'],
              [run['metadata']['loops'] for run in benchmark['runs'] for _ in run.get('values', [])],
              'loops')
        equal({row['inner_loops'] for row in mine}, {'1024'}, 'inner loops')
        for row in mine:
            whole = outside[row['run'], row['warmup']]
            equal([(key, row[key]) for key in row if key not in own],
                  [(key, whole[key]) for key in row if key not in own], 'evidence')
        for run in outside:
            equal([int(row['index']) for row in mine if (row['run'], row['warmup']) == run],
                  list(range(1, 1 + sum((row['run'], row['warmup']) == run for row in mine))), 'index')


def test_pyperf_reads_it():
    try:
        import pyperf
    except ImportError:
        raise machine.Skip('no pyperf for ' + sys.executable) from None
    path = pathlib.Path(SCRATCH.name, 'result.json')
    # With --values the time of a busy machine ends no process before its last value.
    text = subprocess.run([RUNPINNED, '-c', CPU, '-n', '3', '-w', '1', '-q', '-o', path, EXAMPLE, '--min-time=0.001',
                           '--values=50'], capture_output=True, text=True, check=False)
    equal(text.returncode, 0, text.stderr)
    suite = pyperf.BenchmarkSuite.load(str(path))
    equal(suite.get_benchmark_names(), ['lookup', 'lookup/small', 'lookup/large'], 'names')
    for name in suite.get_benchmark_names()[1:]:
        equal(suite.get_benchmark(name).get_nvalue(), 150, name)
    for command in ('show', 'stats', 'hist', 'check', 'dump', 'metadata'):
        result = subprocess.run([sys.executable, '-m', 'pyperf', command, path],
                                capture_output=True, text=True, check=False)
        equal((result.returncode, result.stderr), (0, ''), command)


def test_values_are_exact():
    _, result = run('-n', 2, program(f'os.write(fd, {block()!r}.encode())'))
    equal(result['mine']['runs'][0]['values'], [400e-12 / 10 / 2, 600e-12 / 10 / 2], 'values')
    equal(result['mine']['runs'][0]['warmups'], [[1, 50e-12 / 2], [10, 500e-12 / 10 / 2]], 'warm-ups')


def test_facts_of_values():
    """Of a value of 18000 ps, one region is the half; and the program's own figures."""
    lines = ('changed 1', 'v 1 18000 3 3', 'p 1 1250', 'v 1 90000 3 3', 'p 5 -',
             'f 1 4609434218613702656 bytes', 'f 0 13832243856723902464 my figure')
    _, result = run('-n', 2, program(f'os.write(fd, {block(lines=lines, end=2)!r}.encode())'))
    facts = result['mine']['metadata']
    equal(facts['quiesce_stamps_empty_share'], 0.5, 'empty regions')
    equal(facts['quiesce_waiting'], 0.125, 'waiting')
    equal(facts['quiesce_clock_changed'], 1, 'the clock')
    equal(facts['quiesce_amount_bytes'], 1.5, 'an amount')
    equal(facts['quiesce_figure_my figure'], struct.unpack('d', struct.pack('Q', 13832243856723902464))[0],
          'a figure')


def test_figures_are_means():
    """Over all runs that count: not of the warm-up, and of a figure that some runs have not, over the
    others."""
    code = f'''
import struct
mark = {str(pathlib.Path(SCRATCH.name, 'figures'))!r}
with open(mark, "a") as stream:
    stream.write("x")
run = os.path.getsize(mark)
lines = ["v 10 400 3 3"]
for kind, name, value in ((1, "bytes", (None, 1000, 1, 5, 6)[run]), (0, "last", 2.5 if run == 4 else None),
                          (0, "odd", (None, None, 1, None, 4)[run])):
    if value is not None:
        lines.append("f %d %d %s" % (kind, struct.unpack("Q", struct.pack("d", value))[0], name))
text = {HEAD.format(name='mine')!r} + "".join(line + "\\n" for line in lines) + "end 1\\n"
os.write(fd, text.encode())
'''
    said, result = run('-n', 3, '-w', 1, program(code))
    check('refused' not in said, said)
    facts = result['mine']['metadata']
    equal([facts['quiesce_amount_bytes'], facts['quiesce_figure_last'], facts['quiesce_figure_odd']],
          [4, 2.5, 2.5], 'figures')


def test_a_child_may_hand_over():
    child = f'import os, sys; os.write(int(os.environ["QUIESCE_VALUES_FD"]), {block()!r}.encode())'
    code = f'os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", {child!r}])'
    _, result = run('-n', 1, program(code))
    equal(len(result['mine']['runs']), 1, 'runs')


def test_garbage():
    good = block('good')
    for name, text in {
            # A byte of 0 ends the text, so that it must not be the first one.
            'noise': 'b"\\xff" + os.urandom(5000)',
            'text': 'b"hello\\n"',
            'unfinished': f'{block(end=5)!r}.encode()',
            'control characters': f'{block(chr(27) + "[31m")!r}.encode()',
            'a number too large': f'{block(lines=["v 1 99999999999999999999 0 0"])!r}.encode()',
            'a line without end': 'b"quiesce-values 1\\nname " + b"x" * 100000',
            'full': 'b"v 1 1 0 0\\n" * 104857',
    }.items():
        said, result = run('-n', 2, program(f'os.write(fd, {good!r}.encode())\nos.write(fd, {text})'
                                            if name != 'full' else f'os.write(fd, {text})'))
        equal(said.count('refused'), 1, f'{name}: {said!r}')
        check('\033' not in said, f'{name}: {said!r}')
        equal(list(result), ['program.py'] + (['good'] if name != 'full' else []), name)
        main = result['program.py']
        equal(main['metadata']['quiesce_values_refused'], 2, name)
        equal(len(main['runs']), 2, name)


def test_the_descriptor_is_ours():
    """A program cannot make the file larger or smaller, or seal it; and each run finds it empty."""
    code = f'''
def refused(call, *arguments):
    try:
        call(*arguments)
    except OSError:
        return
    sys.exit(9)
refused(os.ftruncate, fd, 0)
refused(os.ftruncate, fd, 1 << 30)
refused(fcntl.fcntl, fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
refused(os.pwrite, fd, b"x", 1 << 20)
if os.pread(fd, 1, 0) != bytes(1) or os.lseek(fd, 0, os.SEEK_CUR) != 0:
    sys.exit(8)
os.write(fd, {block()!r}.encode())
os.lseek(fd, 12345, os.SEEK_SET)
'''
    _, result = run('-n', 3, program(code))
    equal([len(each['values']) for each in result['mine']['runs']], [2, 2, 2], 'values')


def test_only_some_runs():
    mark = pathlib.Path(SCRATCH.name, 'mark')
    code = f'''
if not os.path.exists({str(mark)!r}):
    open({str(mark)!r}, "w")
    os.write(fd, {block()!r}.encode())
'''
    _, result = run('-n', 3, program(code))
    equal(len(result['program.py']['runs']), 3, 'runs')
    equal(len(result['mine']['runs']), 1, 'runs with values')


def test_other_work_of_the_same_name():
    mark = pathlib.Path(SCRATCH.name, 'other')
    code = f'''
text = {block()!r}
if os.path.exists({str(mark)!r}):
    text = text.replace("inner 2", "inner 3")
open({str(mark)!r}, "w")
os.write(fd, text.encode())
'''
    said, result = run('-n', 2, program(code))
    check('inner loops' in said, said)
    equal(len(result['mine']['runs']), 1, 'runs with values')


def test_names_are_unique():
    _, result = run('-n', 1, program(f'os.write(fd, {block("program.py")!r}.encode())'))
    equal(list(result), ['program.py', 'program.py: program.py'], 'names')
    # pyperf strips blanks of all kinds, so these would be no names of their own.
    for name in 'program.py\u2003', '\u2003':
        _, result = run('-n', 1, program(f'os.write(fd, {block(name)!r}.encode())'))
        equal(list(result), ['program.py', f'program.py: {name}'], 'names')


def test_several_programs():
    _, result = run('-n', 1, '--command', 'first=' + EXAMPLE + ' --min-time=0.001 lookup/small',
                    program(f'os.write(fd, {block()!r}.encode())'))
    names = list(result)
    check('first: lookup/small' in names, names)
    check('program.py: mine' in names, names)


def test_a_control_is_no_second_program():
    """So the names are what they are without it, and results with and without it can be compared. What
    the control measures itself has its name."""
    own = program(f'os.write(fd, {block()!r}.encode())')
    _, result = run('-n', 2, '--control', '--control-length', 1, own)
    equal(list(result), ['program.py', 'mine', 'control'], 'names')
    equal(result['mine']['metadata']['quiesce_control'], 'runpinned-control 1', 'control of the values')
    _, result = run('-n', 2, f'--control={own}', '/bin/true')
    equal(list(result), ['true', 'control', 'control: mine'], 'names')
    own = program(f'os.write(fd, {block("control")!r}.encode())')
    _, result = run('-n', 2, '--control', '--control-length', 1, own)
    equal(list(result), ['program.py', 'program.py: control', 'control'], 'names')


def test_a_name_that_is_taken():
    """By a program that comes later: the values are left out, which is said, and the result is kept."""
    own = program(f'os.write(fd, {block("x")!r}.encode())')
    said, result = run('-n', 1, '--command', f'a={own}', '--name', 'a: x', '/bin/true')
    equal(list(result), ['a', 'a: x'], 'names')
    check("a: values that it calls 'a: x' are left out" in said, said)


def test_compared_in_turn():
    """Whole runs with whole runs, and the values with those of the same name."""
    example = f'{EXAMPLE} --min-time=0.001 lookup/small'
    result = subprocess.run(
        [RUNPINNED, '-v', '-c', CPU, '-w', '0', '-n', '6', '--no-save', '--baseline', example, '--name',
         'new', *example.split()], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        env={**os.environ, 'LC_ALL': 'C'}, timeout=120, check=False)
    compared = re.findall('(.*), compared with (.*):', result.stdout)
    equal(compared, [('new', 'baseline'), ('new: lookup/small', 'baseline: lookup/small')],
          f'comparisons ({result.stdout}{result.stderr})')


def test_pairs_are_of_one_round():
    """Also where one of two programs hands over nothing in some rounds: new takes twice as long as old in
    each round, and a pair of two rounds would show another ratio."""
    own = program(f'''
count = {SCRATCH.name!r} + "/count-" + sys.argv[1]
done = os.path.getsize(count) if os.path.exists(count) else 0
open(count, "a").write("x")
time = (1 + done * done) * 1000000000 * (2 if sys.argv[1] == "new" else 1)
if sys.argv[1] == "old" or done not in (2, 5, 6):
    os.write(fd, {block(lines=['v 1 TIME 3 3'])!r}.replace("TIME", str(time)).encode())
''')
    result = pathlib.Path(SCRATCH.name, 'rounds.json')
    measured = subprocess.run(
        [RUNPINNED, '-v', '-c', CPU, '-w', '0', '-n', '12', '-o', result, '--command', f'old={own} old', '--name', 'new',
         own, 'new'], stdin=subprocess.DEVNULL, capture_output=True, text=True, env={**os.environ, 'LC_ALL': 'C'},
        timeout=120, check=False)
    equal(measured.returncode, 0, measured.stderr)
    reported = subprocess.run([os.environ['BENCH_REPORT'], 'compare', '-v', result], capture_output=True, text=True,
                              env={**os.environ, 'LC_ALL': 'C'}, timeout=60, check=False)
    for said in measured.stdout, reported.stdout:
        ours = re.search(r'(?:new: mine, compared with old: mine:|old: mine -> new: mine)\n((?:  .*\n)+)', said)
        check(ours, said)
        check(re.search('9 pairs|pairs +9', ours.group(1)), ours.group(1))
        check('+100 % .. +100 %' in ours.group(1), ours.group(1))
    runs = json.loads(result.read_text(encoding='utf-8'))['benchmarks']
    turns = [run['metadata'].get('quiesce_turn') for bench in runs if bench['metadata']['name'] == 'new: mine'
             for run in bench['runs']]
    equal(turns, [None, None, 3, 4, 7, 8, 9, 10, 11], 'turns')


def test_cleared_environment():
    code = f'''
if set(os.environ) - {{"PATH", "QUIESCE_VALUES_FD", "QUIESCE_FIGURES", "QUIESCE_RUN", "QUIESCE_RUN_FILL", "LC_CTYPE"}}:
    sys.exit(7)
os.write(fd, {block()!r}.encode())
'''
    _, result = run('-n', 1, '--clear-env', program(code))
    check('mine' in result, list(result))


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
