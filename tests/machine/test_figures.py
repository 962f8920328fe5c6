#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers that programs print, taken by runpinned as figures of its runs (--figure, --figure-json, --harness),
and what bench-report makes of them. The programs here are scripts that print what such programs would.
"""

import csv
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

import machine
from machine import bench_report as report
from machine import check, equal

RUNPINNED = os.environ['RUNPINNED']
SCRATCH = tempfile.TemporaryDirectory(prefix='figures.')
FOLDER = pathlib.Path(SCRATCH.name)
CPU = str(max(os.sched_getaffinity(0)))
RPS = 'rps,1/s,higher=^rps: ([^ ]*)$'
ENVIRONMENT = {**os.environ, 'LC_ALL': 'C', 'HOME': SCRATCH.name, 'XDG_CONFIG_HOME': str(FOLDER / 'config'),
               'XDG_STATE_HOME': str(FOLDER / 'state')}

WRK = '''Running 2s test @ http://127.0.0.1:8080/
  1 threads and 2 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   204.33us   65.81us   2.91ms   96.05%
    Req/Sec     9.77k   504.88    10.44k    66.67%
  Latency Distribution
     50%  190.00us
     99%    1.25ms
  20415 requests in 2.10s, 16.72MB read
Requests/sec:   9721.37
Transfer/sec:      7.96MB
'''


def write(name, text):
    path = FOLDER / name
    path.write_text(text, encoding='utf-8')
    return path


def program(code, name='program'):
    """A script that has the number of its run, from 1, as $n; in an inspection, which comes before it, 1 as well."""
    path = write(name, f'#!/bin/sh\nn=$QUIESCE_RUN\n[ "$n" -gt 0 ] || n=1\n{code}\n')
    path.chmod(0o755)
    return path


def start(*arguments, status=0, says=(), environment=ENVIRONMENT, folder=None):
    """Runs runpinned, which is to end with that status and to say each of these texts. Returns its two outputs."""
    result = subprocess.run([RUNPINNED, '-c', CPU, '-w', '0', *map(str, arguments)], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, env=environment, cwd=folder, timeout=120, check=False)
    equal(result.returncode, status, f'{arguments}: status ({result.stdout} {result.stderr})')
    for text in [says] if isinstance(says, str) else says:
        check(text in result.stderr, f'{arguments}: {text!r} is not in {result.stderr!r}')
    return result.stdout, result.stderr


def run(*arguments, n=2, **how):
    """Returns the only benchmark of the result."""
    benchmarks = json.loads(start('--json', '-n', n, *arguments, **how)[0])['benchmarks']
    equal(len(benchmarks), 1, 'benchmarks')
    return benchmarks[0]


def save(name, *arguments, n=2, **how):
    """The same in a file."""
    path = FOLDER / name
    start('-q', '-n', n, '-o', path, *arguments, **how)
    return path


def benchmarks_of(path):
    return json.loads(path.read_text(encoding='utf-8'))['benchmarks']


def figure(benchmark, name):
    """Its values, one for each run; None for a run that has none."""
    return [each['metadata'].get('quiesce_event_' + name) for each in benchmark['runs']]


def names_of(benchmark):
    """The figures that are declared, and those that some run has; they must be the same."""
    declared = [key.removeprefix('quiesce_unit_') for key in benchmark['metadata'] if key.startswith('quiesce_unit_')]
    there = {key.removeprefix('quiesce_event_') for each in benchmark['runs'] for key in each['metadata']
             if key.startswith('quiesce_event_')}
    equal(set(declared), there, 'figures')
    return declared


def unit(benchmark, name):
    return benchmark['metadata']['quiesce_unit_' + name]


def fails(says, *arguments, **how):
    """runpinned refuses a run, and says so, with the number of the run."""
    start('-q', '-n', 2, '--no-save', *arguments, status=1, says=['failed: ', *([says] if isinstance(says, str)
                                                                             else says)], **how)


def misused(says, *arguments, **how):
    start('-n', 2, '--no-save', *arguments, status=2, says=says, **how)


def rates(name, rate):
    """A program with a rate that is a little different in each run."""
    return program(f'echo "rps: $(({rate} + n * 7 % 5))"', name)


def pair(name, old, new):
    """The result of two programs that are measured in turn, with these rates."""
    return save(name, '--figure', RPS, '--command', f'old={rates("old", old)}', '--name', 'new', rates('new', new),
                n=12)


def compare(*arguments, **how):
    """By the name of the new benchmark"""
    return {each['new']['name']: each for each in json.loads(report('compare', '--json', *arguments, **how))['comparisons']}


def test_streams():
    own = program('echo "rps: 12.5$n"; echo "took 1.$n ms" >&2')
    found = run('--figure', RPS, '--figure', 'took,ms,stderr=^took ([0-9.]+) ms$', own, n=3)
    equal(names_of(found), ['rps', 'took'], 'figures')
    equal(figure(found, 'rps'), [12.51, 12.52, 12.53], 'standard output')
    equal(figure(found, 'took'), [1.1 / 1e3, 1.2 / 1e3, 1.3 / 1e3], 'standard error')
    equal((unit(found, 'rps'), unit(found, 'took')), ('higher, 1/s, step 0.01', 'lower, s, step 0.0001'), 'units')
    # The stream is the one that was named.
    fails('no value of rps: nothing in standard error matches', '--figure', 'rps,higher,stderr=^rps: (.*)$', own)
    fails('no value of took: nothing in standard output matches', '--figure', 'took,ms=^took ([0-9.]+)', own)


def test_time_is_kept():
    """A figure is beside the time of the run, which remains the value that pyperf reads."""
    found = run('--figure', RPS, program('echo rps: 7'))
    for each in found['runs']:
        check(0 < each['values'][0] < 60, each['values'])
    equal(found['metadata']['unit'], 'second', 'the unit of the values')


def test_file():
    output = FOLDER / 'written'
    rule = f'rps,1/s,higher,@{output}=^rps: (.*)$'
    found = run('--figure', rule, program(f'echo "rps: $n" >{output}'), n=3)
    equal(figure(found, 'rps'), [1, 2, 3], 'each run its own')
    # Written anew with the same text: it is written all the same.
    found = run('--figure', rule, program(f'echo "rps: 5" >{output}.new; mv {output}.new {output}'), n=3)
    equal(figure(found, 'rps'), [5, 5, 5], 'the same text')
    output.unlink()
    fails(['run 2 failed: ', f'{output} was not written'], '--figure', rule,
          program(f'if [ $n = 1 ]; then echo "rps: $n" >{output}; fi'))
    # What lay there before the first run is none of it either.
    fails(['run 1 failed: ', f'{output} was not written'], '--figure', rule, 'true')
    output.unlink()
    fails(f'{output}: No such file or directory', '--figure', rule, 'true')
    output.mkdir()
    fails(f'{output} is not a file', '--figure', rule, program(f'touch {output}/more; rm {output}/more'))
    output.rmdir()
    # Nobody waits for a writer.
    os.mkfifo(output)
    fails(f'{output} is not a file', '--figure', rule, program(f'rm {output}; mkfifo {output}'))
    output.unlink()


def test_json():
    own = program('echo \'{"jobs": [{"read": {"bw": 1.\'$n\'5, "clat": {"99.0": 12e-4}}}, {"read": {"bw": "8.25"}}]}\'')
    found = run('--figure-json', 'bw,MB/s,higher=.jobs[0].read.bw', '--figure-json', 'p99,s=.jobs[0].read.clat."99.0"',
                '--figure-json', 'both,MB/s,higher,sum=.jobs[*].read.bw', own)
    equal(figure(found, 'bw'), [1150000, 1250000], 'numbers')
    equal(figure(found, 'p99'), [12e-4] * 2, 'names in quotes')
    equal(figure(found, 'both'), [1.15e6 + 8.25e6, 1.25e6 + 8.25e6], 'a sum, of texts as well')
    equal((unit(found, 'bw'), unit(found, 'p99')), ('higher, B/s', 'lower, s'), 'a number of JSON has no step')
    fails('no value of bw', '--figure-json', 'bw,MB/s,higher=.jobs[0].write.bw', own)
    fails('two values of bw', '--figure-json', 'bw,MB/s,higher=.jobs[*].read.bw', own)
    fails('no JSON', '--figure-json', 'bw,MB/s,higher=.bw', program('echo text'))
    fails('line 2: nothing was expected behind the value', '--figure-json', 'bw,MB/s,higher=.bw',
          program('echo \'{"bw": 1}\'; echo more'))
    output = FOLDER / 'written.json'
    found = run('--figure-json', f'bw,higher,@{output}=.bw', program(f'echo "{{\\"bw\\": $n}}" >{output}'))
    equal(figure(found, 'bw'), [1, 2], 'in a file')
    equal(unit(found, 'bw'), 'higher', 'without a unit')


def test_each():
    own = program('echo "BenchmarkA 100 $n ns/op"; echo "BenchmarkB 100 2.50 us/op"')
    rule = r'\1,\3/op,each=^(Benchmark[A-Z]) [0-9]+ ([0-9.]+) ([nu]s)/op$'
    # The number is the first group, unless a harness says otherwise.
    fails("'BenchmarkA' is not a number", '--figure', rule.replace('each', 'each,lower'), own)
    rule = r'\2,\3/op,each,lower=([0-9.]+) .*#(Benchmark[A-Z]) ([nu]s)'
    own = program('echo "$n #BenchmarkA ns"; echo "2.50 #BenchmarkB us"')
    found = run('--figure', rule.replace(' .*#', ' #'), own)
    equal(names_of(found), ['BenchmarkA', 'BenchmarkB'], 'names')
    equal(figure(found, 'BenchmarkA'), [1 / 1e9, 2 / 1e9], 'A')
    equal(figure(found, 'BenchmarkB'), [2.5 / 1e6] * 2, 'B')
    equal(unit(found, 'BenchmarkB'), 'lower, s/op, step 1e-08', 'a unit that was matched')
    # Several of one name are repeats within the process.
    found = run('--figure', r'\2,s,each=([0-9]+) ([AB])', program('echo $n A; echo 4 A; echo 7 A; echo 5 B'))
    equal((figure(found, 'A'), figure(found, 'B')), ([4, 13 / 3], [5, 5]), 'their mean')
    equal((found['metadata']['quiesce_repeats_A'], 'quiesce_repeats_B' in found['metadata']), (3, False), 'how many')
    check(0.4 < found['metadata']['quiesce_within_A'] < 0.75, found['metadata']['quiesce_within_A'])
    # Each run has what the others have.
    for code in 'echo 1 A; [ $n = 1 ] || exit 0; echo 2 B', 'echo 2 B; [ $n = 1 ] && echo 1 A; exit 0':
        fails(['run 2 failed: ', 'which the runs before had'], '--figure', r'\2,s,each=([0-9]+) ([AB])', program(code))
    fails(['run 2 failed: ', 'a value of B, which the runs before had not'], '--figure', r'\2,s,each=([0-9]+) ([AB])',
          program('echo 1 A; [ $n = 1 ] || echo 2 B'))


def test_sum_and_last():
    own = program('echo "Run Time: real 0.5"; echo "Run Time: real 0.2$n"')
    found = run('--figure', 'real,s,sum=^Run Time: real ([0-9.]+)$', own)
    equal(figure(found, 'real'), [0.5 + 0.21, 0.5 + 0.22], 'sums')
    equal(unit(found, 'real'), 'lower, s, step 0.1', 'the coarsest step')
    equal(figure(run('--figure', 'real,s,last=^Run Time: real ([0-9.]+)$', own), 'real'), [0.21, 0.22], 'last')
    # A line that is written over itself, in colour.
    own = program(r"printf '\033[32mrate 1 of\033[0m\rrate 2 of\rrate 3%s of\n' $n")
    equal(figure(run('--figure', 'rate,higher,last=^rate ([0-9]+) of$', own), 'rate'), [31, 32], 'progress')


def test_no_number():
    for code, says in (
            ('true', "no value of rps: nothing in standard output matches '^rps: ([^ ]*)$'"),
            ('echo rps: 1; echo rps: 2', 'two values of rps: 1 and 2'),
            ('echo rps: fast', "rps: 'fast' is not a number"),
            ('echo rps: nan', "rps: 'nan' is not a number"),
            ('echo rps: inf', "rps: 'inf' is not a number"),
            ('echo rps: 0x10', "rps: '0x10' is not a number"),
            ('echo rps: 1e999', 'not a number'),
            ("echo 'rps: '", "rps: '' is not a number"),
            ('echo rps: 1,234', "rps: '1,234' is not a number"),
            (r"printf 'rps: \033]0;x\a\n'", 'not a number')):
        own = program(code)
        fails(['run 1 failed: ', says], '--figure', RPS, own)
        check('\033' not in start('-q', '--no-save', '-n', 1, '--figure', RPS, own, status=1)[1], code)
    fails(['run 2 failed: ', 'no value of rps'], '--figure', RPS, program('[ $n = 2 ] || echo rps: 1'))
    found = run('--figure', RPS.replace('higher', 'higher,commas'), program('echo rps: 1,234.5'))
    equal(figure(found, 'rps'), [1234.5] * 2, 'commas')
    # It has failed by its status, as ever, whatever it printed.
    start('-q', '--no-save', '-n', 2, '--figure', RPS, program('echo rps: 1; exit 3'), status=1, says='3')


def test_units_of_one_figure():
    """It is one unit however the program prints it; a unit of another kind is refused."""
    rule = r'took,\2,lower=^took ([0-9.]+)([a-z]+)$'
    found = run('--figure', rule, program('if [ $n = 1 ]; then echo took 980us; else echo took 1.02ms; fi'))
    equal(figure(found, 'took'), [980 / 1e6, 1.02 * 0.001], 'values')
    fails('took is in ', '--figure', rule, program('if [ $n = 1 ]; then echo took 980us; else echo took 1mips; fi'))


def test_harness_file():
    harness = write('own.conf', '# A comment\nFail=^error|^warn(ing)?:\n\n[rps]\nMatch=^rps: (.*)$\n'
                    'Unit=k/s\nBetter=higher\n\n[label]\nMatch=^([a-z]+): ([0-9]+) ms$\nName=\\1\nValue=\\2\nUnit=ms\n'
                    'Take=each\nOptional=yes\n')
    found = run('--harness', harness, program('echo "rps: $n"; [ $n = 9 ] || echo "mean: 20 ms"'))
    equal(figure(found, 'rps'), [1000, 2000], 'rps')
    equal(figure(found, 'mean'), [20 * 0.001] * 2, 'mean')
    equal(names_of(run('--harness', harness, program('echo "rps: $n"'))), ['rps'], 'an optional one')
    # In the current folder, by the end of its name.
    found = run('--harness', 'own.conf', program('echo "rps: $n"'), folder=FOLDER)
    equal(figure(found, 'rps'), [1000, 2000], 'in the current folder')
    for stream in '', ' >&2':
        fails(['run 2 failed: ', 'it says: error 7'], '--harness', harness,
              program(f'echo "rps: $n"; [ $n = 1 ] || echo error 7{stream}'))
    said = start('-q', '--no-save', '-n', 1, '--harness', harness, program(r"printf 'rps: 1\nerror \007\n'"), status=1)[1]
    check('\a' not in said, repr(said))
    # One more beside those of the harness, and one of the same name.
    found = run('--harness', harness, '--figure', 'more,s=^more ([0-9]+)', program('echo rps: 1; echo more 5'))
    equal(sorted(names_of(found)), ['more', 'rps'], 'with one more')
    fails('two figures are called rps', '--harness', harness, '--figure', RPS, program('echo rps: 1'))
    for text, says in (('[rps]\nMatch=(x)\nBetter=up\n', 'line 3: Better is lower or higher'),
                       ('[rps]\nMatch=(x)\nBeter=lower\n', 'line 3: unknown key Beter'),
                       ('[rps]\nMatch=(\\d)\nUnit=s\n', 'line 2: '),
                       ('[rps]\nUnit=s\n', 'says nowhere what to look for'),
                       ('Fail=x\n', 'no figure'), ('Program=wrk\n', 'line 1: unknown key Program'), ('rps\n', 'line 1: '), ('', 'no figure')):
        misused(['--harness: ', 'broken.conf', says], '--harness', write('broken.conf', text), 'true')


def test_none_of_a_harness():
    """All figures may be optional, but not absent."""
    harness = write('optional.conf', '[a]\nMatch=^a ([0-9]+)\nUnit=s\nOptional=yes\n\n[b]\nMatch=^b ([0-9]+)\nUnit=s\n'
                    'Optional=yes\n')
    equal(names_of(run('--harness', harness, program('echo b 1'))), ['b'], 'one of them')
    fails('its output has none of the figures of optional', '--harness', harness, 'true')


def test_shipped_harness():
    found = run('--harness', 'wrk', program(f"cat <<'END'\n{WRK}END"))
    equal({name: figure(found, name)[0] for name in names_of(found)},
          {'rps': 9721.37, 'latency': 204.33 / 1e6, 'p50': 190 / 1e6, 'p99': 1.25 / 1e3}, 'figures')
    equal(unit(found, 'rps'), 'higher, requests/s, step 0.01', 'rps')
    equal(unit(found, 'p99').split(',')[0], 'lower', 'p99')
    fails('it says:   Socket errors: connect 0', '--harness', 'wrk',
          program(f"cat <<'END'\n{WRK}  Socket errors: connect 0, read 3, write 0, timeout 0\nEND"))
    fails('no value of rps', '--harness', 'wrk', 'true')
    # Each that is shipped can be read: what fails is the run of a program that is none.
    for path in sorted((machine.HERE.parents[1] / 'harnesses').glob('*.conf')):
        # One that is hosted asks for the benchmarks first.
        hosted = 'Run=' in path.read_text(encoding='utf-8')
        more = ['--benchmark', 'a'] if hosted else []
        said = start('-q', '--no-save', '-n', 1, '--harness', path.stem, *more, 'true', status=1)[1]
        check('failed: ' in said or 'lists no benchmark' in said or 'how many loops' in said, said)
    misused("there is no 'wrkk'", '--harness', 'wrkk', 'true')
    misused('there is no ', '--harness', FOLDER / 'none.conf', 'true')


def test_own_harness():
    """A person's own come first, but only from a folder of theirs."""
    config = FOLDER / 'their-config'
    folder = config / 'quiesce' / 'harnesses'
    folder.mkdir(parents=True)
    environment = {**ENVIRONMENT, 'XDG_CONFIG_HOME': str(config)}
    for name in 'mine', 'wrk':
        (folder / (name + '.conf')).write_text('[own]\nMatch=^own ([0-9]+)$\nUnit=s\n', encoding='utf-8')
    own = program(f"echo own 3; cat <<'END'\n{WRK}END")
    for name in 'mine', 'wrk':
        equal(names_of(run('--harness', name, own, environment=environment)), ['own'], name)
    misused("there is no 'mine'", '--harness', 'mine', own)
    # Where it is by default.
    default = {key: value for key, value in environment.items() if key != 'XDG_CONFIG_HOME'}
    (FOLDER / '.config').symlink_to(config)
    equal(names_of(run('--harness', 'mine', own, environment=default)), ['own'], 'below HOME')
    if os.geteuid() != 0:
        return 'not as root, so without the folder of somebody else'
    os.chown(folder, 65534, 65534)
    misused("there is no 'mine'", '--harness', 'mine', own, environment=environment)
    check('rps' in names_of(run('--harness', 'wrk', own, environment=environment)), 'the one that is shipped')
    return None


def test_misuse():
    own = program('echo rps: 1')
    for rule, says in (('rps,1/s,higher=rps: ([0-9', 'is no extended regular expression'),
                       (r'rps,1/s,higher=rps: (\d+)', r"'\d' has no meaning"),
                       ('rps,1/s=rps: ([0-9]+)', "which way is 'rps' better? lower or higher"),
                       ('rps=rps: ([0-9]+)', "which way is 'rps' better? lower or higher"),
                       ('rps,1/s,higher=rps: [0-9]+', 'has no ( ) around the number'),
                       (r'\2,1/s,higher=rps: ([0-9]+)', r'has no group \2'),
                       ('rps,s,each=rps: ([0-9]+)', "'rps' is the name of each"),
                       ('rps,s,ms=rps: ([0-9]+)', "'ms' is a second unit"),
                       ('rps,,s=rps: ([0-9]+)', 'a word between commas is empty'),
                       ('rps', 'is not NAME=PATTERN'), ('=x', 'is not NAME=PATTERN'), ('rps,s=', 'is not NAME=PATTERN')):
        misused(['--figure: ', says], '--figure', rule, own)
    for rule, says in (('rps,s=rps', 'is no path into JSON'), ('rps,s=.a[', 'is no path into JSON'),
                       (r'\1,s=.a', 'a path has no groups'), ('rps=.a', 'which way'), ('rps', 'is not NAME=.PATH')):
        misused(['--figure-json: ', says], '--figure-json', rule, own)
    for more, says in ((['--show-output'], '--show-output'), (['--stdout', 'pipe'], '--stdout pipe')):
        misused([says, 'figures'], '--figure', RPS, *more, own)
    # Nothing is wanted of standard output here, which may be a pipe then.
    found = run('--figure', 'took,s,stderr=^took (.*)$', '--stdout', 'pipe', program('echo x; echo took 1 >&2'))
    equal(figure(found, 'took'), [1, 1], 'with a pipe')
    misused('--harness', '--harness', 'wrk', '--harness', 'ab', own)


def test_names_that_are_taken():
    for name in 'user_cpu', 'max_rss', 'time':
        misused([f'a figure cannot be called {name}'], '--figure', f'{name},s=^([0-9]+)$', program('echo 1'))
        fails(f'a figure cannot be called {name}', '--figure', r'\2,s,each=^([0-9]+) (.*)$',
              program(f'echo 1 {name}'))
    fails('the name of a figure is empty', '--figure', r'\2,s,each=([0-9]+)(x?)', program('echo 1'))
    fails('the name of a figure is too long', '--figure', r'\2,s,each=([0-9]+)(x*)', program(f'echo 1{"x" * 201}'))
    fails('two figures are called rps', '--figure', RPS, '--figure', RPS, program('echo rps: 1'))


def test_name_of_an_event():
    counting = ('--events', 'page-faults')
    found = run(*counting, '--figure', RPS, program('echo rps: $n'))
    equal(figure(found, 'rps'), [1, 2], 'beside an event')
    equal([name for name in found['metadata'] if name.startswith('quiesce_unit_')], ['quiesce_unit_rps'], 'units')
    # It is page-faults:u for whoever may not look into the kernel.
    events = [name.removeprefix('quiesce_event_') for name in found['runs'][0]['metadata']
              if name.startswith('quiesce_event_page-faults')]
    if not events:
        raise machine.Skip('page faults cannot be counted here')
    check(all(each > 0 for each in figure(found, events[0])), 'the event')
    fails(f'an event is called {events[0]} as well', *counting, '--figure', f'{events[0]},1/s,higher=^rps: (.*)$',
          program('echo rps: 1'))


def test_scan():
    path = save('scan.json', '--parameter-scan', 'x=1..3', '--figure', RPS, program('echo "rps: $(($1 * 1000 + n))"'), '{x}')
    equal([figure(each, 'rps') for each in benchmarks_of(path)], [[x * 1000 + 1, x * 1000 + 2] for x in (1, 2, 3)], 'values')
    shown = json.loads(report('show', '--json', path))['benchmarks']
    equal([each['name'] for each in shown], [f'program/x={x}: rps' for x in (1, 2, 3)], 'names')
    if os.environ['HAS_CAIRO'] == '1':
        report('plot', '--by', 'x', '-o', FOLDER / 'scan.svg', path)


def test_of_another_user():
    """Their files are read as them."""
    if os.geteuid() != 0:
        raise machine.Skip('only root runs programs as somebody else')
    FOLDER.chmod(0o755)
    theirs = FOLDER / 'theirs'
    theirs.mkdir(mode=0o700)
    os.chown(theirs, 65534, 65534)
    rule = f'rps,1/s,higher,@{theirs}/written=^rps: (.*)$'
    own = program(f'echo "rps: $n" >{theirs}/written')
    equal(figure(run('--user=65534', '--figure', rule, own), 'rps'), [1, 2], 'figures')
    # What they could not read themselves is not read for them.
    secret = write('secret', 'rps: 1\n')
    secret.chmod(0o600)
    (theirs / 'written').unlink()
    fails('Permission denied', '--user=65534', '--figure', rule, program(f'ln -sf {secret} {theirs}/written'))


def test_number_of_figures():
    def own(n):
        return program(f'i=0; while [ $i -lt {n} ]; do echo "$((i * n)) f$i"; i=$((i + 1)); done')

    rule = r'\2,s,each=^([0-9]+) (f[0-9]+)$'
    path = save('many.json', '--figure', rule, own(48))
    found, = benchmarks_of(path)
    equal(sorted(names_of(found)), sorted(f'f{i}' for i in range(48)), 'names')
    equal([figure(found, f'f{i}') for i in range(48)], [[i, 2 * i] for i in range(48)], 'values')
    shown = json.loads(report('show', '--json', path))['benchmarks']
    equal([each['name'] for each in shown], [f'f{i}' for i in range(48)], 'bench-report')
    fails('more than 48 figures', '--figure', rule, own(49))
    fails('more than 1000 values', '--figure', rule, own(1001))


def test_ignored_failures():
    """A run that has failed has no figure, but stays in the result."""
    rule = ('--ignore-failure', '--figure', RPS)
    # The first one, too, before anything is known of the figure.
    for failed, code in ((2, 'exit 3'), (1, 'exit 3'), (2, ':'), (1, ':'), (2, 'echo rps: none'), (1, 'kill $$')):
        path = save('ignored.json', *rule, program(f'if [ $n = {failed} ]; then {code}; else echo "rps: $((n * 10))"; fi'),
                    n=4)
        found, = benchmarks_of(path)
        wanted = [None if n == failed else n * 10 for n in (1, 2, 3, 4)]
        equal([each or None for each in figure(found, 'rps')], wanted, code)
        equal(len(found['runs']), 4, code)
        check(all(each['values'] for each in found['runs']), code)
        flagged = ['failed' in json.dumps(each['metadata'].get('quiesce_flags', '')) for each in found['runs']]
        equal(flagged, [n == failed for n in (1, 2, 3, 4)], f'{code}: flags')
        shown, = json.loads(report('stats', '--json', path))['benchmarks']
        equal((shown['values'], shown['median']), (3, statistics.median(each for each in wanted if each)), code)
        shown, = json.loads(report('stats', '--json', '--metric', 'time', path))['benchmarks']
        equal(shown['runs'], 4, code)
    # A status that is no failure is none of the figure either.
    found = run('--ignore-failure=3', '--figure', RPS, program('echo rps: $n; exit 3'))
    equal(figure(found, 'rps'), [1, 2], 'a status that is fine')


def test_stdout_file():
    """Where standard output goes to a file, it is read there."""
    output = FOLDER / 'output'
    found = run('--stdout', output, '--figure', RPS, program('echo "rps: $n"'), n=3)
    equal(figure(found, 'rps'), [1, 2, 3], 'figures')
    equal(output.read_text(encoding='utf-8'), 'rps: 3\n', 'the file, of the last run')


def test_values_are_exact():
    texts = ('0.1', '12345.678901234567', '1e-9', '3.3333333333333335', '98765432109876543')
    own = program('case $n in\n' + ''.join(f'{n}) echo rps: {text};;\n' for n, text in enumerate(texts, 1)) + 'esac')
    path = save('exact.json', '--figure', RPS, own, n=len(texts))
    found, = benchmarks_of(path)
    equal(figure(found, 'rps'), [float(text) for text in texts], 'values')
    shown, = json.loads(report('stats', '--json', path))['benchmarks']
    equal((shown['min'], shown['max'], shown['median']), (1e-9, 98765432109876543.0, 3.3333333333333335), 'statistics')
    equal((shown['unit'], shown['metric'], shown['name']), ('1/s', 'rps', 'rps'), 'names')
    # A step is that of the coarsest number.
    equal(unit(found, 'rps'), 'higher, 1/s, step 1', 'step')


def test_large_values():
    """A figure is no count, which ends where an integer does."""
    path, table = FOLDER / 'large.json', FOLDER / 'large.csv'
    start('-q', '-n', 2, '-o', path, '--csv', table, '--figure', RPS, program('echo "rps: ${n}e19"'))
    equal(figure(benchmarks_of(path)[0], 'rps'), [1e19, 2e19], 'values')
    shown, = json.loads(report('stats', '--json', path))['benchmarks']
    equal((shown['min'], shown['max']), (1e19, 2e19), 'statistics')
    with table.open(newline='', encoding='utf-8') as stream:
        equal([float(row['rps']) for row in csv.DictReader(stream)], [1e19, 2e19], 'table')


def test_pyperf_reads_it():
    try:
        import pyperf
    except ImportError:
        raise machine.Skip('no pyperf for ' + sys.executable) from None
    path = pair('pyperf.json', 1000, 2000)
    suite = pyperf.BenchmarkSuite.load(str(path))
    equal(suite.get_benchmark_names(), ['old', 'new'], 'names')
    for name, found in zip(('old', 'new'), benchmarks_of(path)):
        equal(list(suite.get_benchmark(name).get_values()), [value for each in found['runs'] for value in each['values']],
              'the times')
    for command in ('show', 'stats', 'hist', 'check', 'dump', 'metadata'):
        result = subprocess.run([sys.executable, '-m', 'pyperf', command, path], capture_output=True, text=True, check=False)
        equal((result.returncode, result.stderr), (0, ''), command)


def test_append_and_merge():
    path = FOLDER / 'appended.json'
    for name, rate in ('one', 10), ('two', 20):
        start('-q', '-n', 3, '-o', path, '--append', '--figure', RPS, '--name', name, rates(name, rate))
    check([each['metadata']['name'] for each in benchmarks_of(path)] == ['one', 'two'], 'names')
    wanted = [[rate + n * 7 % 5 for n in (1, 2, 3)] for rate in (10, 20)]
    equal([figure(each, 'rps') for each in benchmarks_of(path)], wanted, 'appended')
    # A program without figures, as well.
    start('-q', '-n', 2, '-o', path, '--append', '--name', 'three', 'true')
    equal([figure(each, 'rps') for each in benchmarks_of(path)], [*wanted, [None] * 2], 'one without')
    shown = json.loads(report('show', '--json', path))['benchmarks']
    equal([each['name'] for each in shown][:2], ['one: rps', 'two: rps'], 'shown')
    other = save('other.json', '--figure', RPS, '--name', 'four', rates('four', 40), n=3)
    merged = FOLDER / 'merged.json'
    report('merge', '-o', merged, path, other)
    found = {each['metadata']['name']: each for each in benchmarks_of(merged)}
    equal([figure(found[name], 'rps') for name in ('one', 'two', 'four')], [*wanted, [40 + n * 7 % 5 for n in (1, 2, 3)]],
          'merged')
    equal({unit(found[name], 'rps') for name in ('one', 'two', 'four')}, {'higher, 1/s, step 1'}, 'units')


def test_csv():
    table = FOLDER / 'table.csv'
    start('-q', '-n', 3, '--no-save', '--csv', table, '--figure', RPS, '--figure', r'\2 x,ms,each=([0-9.]+) ms (a|"b,")',
          program('echo "rps: $n.25"; echo 1.5 ms a; echo \'2 ms "b,"\''))
    with table.open(newline='', encoding='utf-8') as stream:
        rows = list(csv.DictReader(stream))
    check(all(None not in row and None not in row.values() for row in rows), 'ragged')
    equal([float(row['rps']) for row in rows], [1.25, 2.25, 3.25], 'rps')
    equal([(float(row['a x']), float(row['"b," x'])) for row in rows], [(0.0015, 0.002)] * 3, 'others')
    # A run without a figure has an empty field.
    start('-q', '-n', 2, '--no-save', '--csv', table, '--ignore-failure', '--figure', RPS,
          program('[ $n = 1 ] || echo rps: 7'))
    with table.open(newline='', encoding='utf-8') as stream:
        equal([row['rps'] for row in csv.DictReader(stream)], ['', '7'], 'of a failed run')


def test_own_report():
    """What runpinned itself says of them, each by its name, with no word of the time's floor."""
    said, _ = start('-v', '-n', 12, '--no-save', '--figure', RPS, '--command', f'old={rates("old", 1000)}', '--name', 'new',
                    rates('new', 2000))
    for text in 'old: rps', 'new: rps', '1/s', 'verdict    better: higher', 'new: rps is ', 'times higher than old: rps':
        check(text in said, f'{text!r}: {said}')
    check('floor' not in said and 'faster' not in said and 'slower' not in said, said)
    said, _ = start('-n', 3, '--no-save', '--figure', RPS, rates('alone', 1000))
    check('rps' in said and '1/s' in said, said)
    check('floor' not in said, f'an empty program has no rate: {said}')


def test_compare():
    path = pair('pair.json', 100000, 200000)
    found = compare(path)
    equal(list(found), ['new: rps'], 'comparisons')
    found = found['new: rps']
    equal((found['old']['name'], found['unit'], found['metric'], found['verdict']), ('old: rps', '1/s', 'rps', 'faster'),
          'more is better')
    check(1.9 < found['ratio'] < 2.1, found['ratio'])
    text = report('compare', path)
    check(text.startswith('old -> new: rps: better: higher, +'), text)
    check('  verdict    better: higher' in report('compare', '-v', path), 'all of it')
    check('faster' not in text and 'slower' not in text, text)
    report('compare', '--fail-slower', 5, '--fail-unclear', path)
    report('compare', '--fail-slower', 5, '--metric', 'rps', path)
    back = pair('back.json', 200000, 100000)
    found = compare(back)['new: rps']
    equal(found['verdict'], 'slower', 'less is worse')
    check(0.45 < found['ratio'] < 0.55, found['ratio'])
    text = report('compare', '--fail-slower', 5, back, status=3, says='old: rps -> new: rps is lower by more than 5 %: ')
    check(text.startswith('old -> new: rps: worse: lower, -'), text)
    report('compare', '--fail-slower', 5, '--metric', 'rps', back, status=3)
    # By half, and no more.
    report('compare', '--fail-slower', 60, back)
    few = save('few.json', '--figure', RPS, '--command', f'old={rates("old", 2000)}', '--name', 'new', rates('new', 1000))
    report('compare', '--fail-slower', 5, '--fail-unclear', few, status=3,
           says='unclear for 1 of 1 benchmarks whether they are lower by more than 5 %: ')
    for arguments, key in (('--table', 'rps'), ('--markdown', 'rps'), ('--csv', 'faster'), ('--format', 'junit')):
        check('rps' in report('compare', *([arguments, key] if key == 'junit' else [arguments]), path), arguments)


def loader(name, rate, noise='n * 7 % 5'):
    """A load generator that says how many requests it served, and how long the slowest took."""
    noise = noise.replace('RATE', str(rate * 7919 % 1009))
    return program(f'r=$(({rate} + {noise}))\necho "served $r a second"; echo "p99 $((1000000000 / r)) us"', name)


FIGURES = ('--figure', 'rps,requests/s,higher=^served ([0-9]+)', '--figure', 'p99,us=^p99 ([0-9]+) us$')


def decide(name, old, new, *arguments, status, noise='n * 7 % 5'):
    """--decide 2 of two load generators with these rates. Returns its line, and the file."""
    path = FOLDER / name
    said, _ = start('-o', path, '--decide', 2, *FIGURES, *arguments, '--command', f'old={loader("old", old, noise)}',
                    '--name', 'new', loader('new', new, noise), status=status)
    lines = [line for line in said.splitlines() if line.startswith('new, compared with old: ')]
    equal(len(lines), 1, f'lines about the decision: {said}')
    return lines[0].partition(': ')[2], path


def test_decide():
    """In either direction of a figure, and right."""
    for old, new, status, says in ((10000, 9500, 3, 'more than 1 % fewer requests/s: -5.0 %'),
                                   (10000, 10500, 0, 'not 2 % fewer requests/s, and more than 1 % more requests/s: +5.0 %'),
                                   (10000, 10000, 0, 'not 2 % fewer requests/s: 0 %')):
        said, path = decide('decided.json', old, new, status=status)
        check(said.startswith(says), said)
        metadata = benchmarks_of(path)[1]['metadata']
        equal((metadata['quiesce_decide_figure'], metadata['quiesce_decide_verdict']),
              ('rps', 'slower' if status else 'not slower'), 'metadata')
        check(abs(metadata['quiesce_decide_ratio'] - new / old) < 0.001, metadata['quiesce_decide_ratio'])
        # The other figure is compared as ever, and not by what was decided about this one.
        found = compare(path)
        equal([each['decision'] is not None for each in (found['new: rps'], found['new: p99'])], [True, False], 'JSON')
        equal(report('compare', '-v', path).count(f'decided    {said[:20]}'), 1, 'compare')
        check(report('compare', path).startswith(f'old -> new: rps: {said[:20]}'), 'in place of a comparison')
        report('compare', '--metric', 'rps', '--fail-worse', 2, path, status=status)
        report('compare', '--metric', 'rps', '--fail-worse', 6, path)
        check('decided' not in report('compare', '-v', '--metric', 'time', path), 'of the time')
    for old, new, status, says in ((10000, 9500, 3, 'p99 longer by more than 1 %: +5.3 %'),
                                   (10000, 10500, 0, 'p99 not longer by 2 %, and p99 shorter by more than 1 %: -4.8 %')):
        said, path = decide('decided.json', old, new, '--metric', 'p99', status=status)
        check(said.startswith(says), said)
        equal(benchmarks_of(path)[1]['metadata']['quiesce_metric'], 'p99', 'which was asked for')
    # Where the first runs have failed, the first figure is that of the first run that has not.
    for rate, status in (9500, 3), (10500, 0):
        said, _ = start('--no-save', '--decide', 2, '--ignore-failure', *FIGURES, '--command',
                        f'old={program("[ $QUIESCE_RUN -gt 2 ] || exit 1; echo served 10000 a second; echo p99 10 us", "old")}',
                        '--name', 'new', program(f'[ $QUIESCE_RUN -gt 3 ] || exit 1; echo served {rate} a second; '
                                                 'echo p99 10 us', 'new'), status=status)
        check('requests/s: ' in said, said)
    # 1.5 % are within the zone, where both are true.
    decide('decided.json', 100000, 98500, status=3)
    # Noise as large as the difference, and not settled by so few pairs.
    said, _ = decide('decided.json', 10000, 9950, '-v', '--max-runs', 12, noise='n * RATE % 1009', status=4)
    check(said.startswith('not settled: '), said)
    check('"more than 1 % fewer requests/s" has ' in said, said)


def test_decide_time():
    """The time by its name, and what is known of any run."""
    path = FOLDER / 'time.json'
    sleeper = program('sleep 0.05; echo served 20000 a second; echo p99 10 us', 'new')
    said, _ = start('-o', path, '--decide', 50, *FIGURES, '--metric', 'time', '--baseline', loader('old', 10000), sleeper,
                    status=3)
    check('slower by more than 25 %: +' in said, said)
    check('quiesce_decide_figure' not in benchmarks_of(path)[1]['metadata'], 'the time is no figure')
    check('decided    slower' in report('compare', '-v', '--metric', 'time', path), 'of the time')
    check('decided' not in report('compare', '-v', path), 'and not of the figures')
    said, _ = start('-v', '--no-save', '-n', 3, *FIGURES, '--metric', 'max_rss', loader('new', 10000))
    check('new: max_rss: 3 runs' in said and 'rps' not in said, said)
    for more in ('--decide', 2, '--baseline', loader('old', 1)), ('--until-rel-error', 5), ():
        start('--no-save', '-n', 3, *more, *FIGURES, '--metric', 'tps', loader('new', 1), status=1,
              says='no tps is known of it, by which programs are judged; it has a figure called rps')


def test_decide_append():
    """What is appended to a decided result is compared in the same direction."""
    _, path = decide('appended.json', 10000, 9500, status=3)
    start('-q', '-n', 8, '--append', '-o', path, *FIGURES, '--command', f'old={loader("old", 10000)}', '--name', 'new',
          loader('new', 9500))
    found = compare(path)
    equal([(each['metric'], each['better'], each['verdict']) for each in found.values()],
          [('rps', 'higher', 'slower'), ('p99', 'lower', 'slower')], 'comparisons')
    check(found['new: rps']['new']['runs'] >= 18, found)


def test_append_of_other_digits():
    """A figure stays one where a sitting gives more digits, with the larger step; not in another direction."""
    path = FOLDER / 'digits.json'
    path.unlink(missing_ok=True)
    for text in 'rps: 10', 'rps: 10.25', 'rps: 10.5':
        start('-q', '-n', 3, '--append', '-o', path, '--figure', RPS, '--name', 'x', program(f'echo {text}'))
    shown = json.loads(report('show', '--json', path))['benchmarks']
    equal([(each['name'], each['unit'], each['runs']) for each in shown], [('rps', '1/s', 9)], 'appended')
    equal(compare(path, path)['rps']['step'], 1 / 10.25, 'its step')
    merged = FOLDER / 'merged.json'
    report('merge', '-o', merged, path, save('other.json', '--figure', RPS, '--name', 'x', program('echo rps: 10.125')))
    shown = json.loads(report('show', '--json', merged))['benchmarks']
    equal([(each['name'], each['runs']) for each in shown], [('rps', 11)], 'merged')
    start('-q', '-n', 3, '--append', '-o', path, '--figure', RPS.replace('higher', 'lower'), '--name', 'x',
          program('echo rps: 10'))
    shown = json.loads(report('show', '--json', path))['benchmarks']
    equal([each['name'] for each in shown], ['x'], 'of two directions it is no figure')


def test_lines_of_runs():
    """With -vv each run shows the figure that counts, and a decision what it is about."""
    for more, says in ((), 'run 1: 10002.0 requests/s'), (('--metric', 'p99'), 'run 1: 99.9'):
        check(says in start('-vv', '-n', 2, '--no-save', *FIGURES, *more, loader('new', 10000))[1], says)
    said, _ = start('--dry-run', '--decide', 2, '--metric', 'p99', *FIGURES, '--baseline', 'true', 'true')
    check('until 2 % is settled of p99' in said, said)


def test_until_rel_error():
    """Of the figure, whatever the time does."""
    found = run('--until-rel-error', 1, '--max-runs', 60, *FIGURES, loader('new', 10000), n=6)
    check(len(found['runs']) <= 10, len(found['runs']))
    _, said = start('-v', '-n', 6, '--no-save', '--until-rel-error', 1, '--max-runs', 12, *FIGURES,
                    loader('new', 10000, 'n % 2 * 3000'), says='warning: the median of rps is not known to 1 % after 12 runs')
    check('slow' not in said, said)
    start('-v', '-n', 6, '--no-save', '--until-rel-error', 1, '--max-runs', 12, '--figure', 'took,s=^took ([0-9.]+)$',
          program('echo took 1.2', 'coarse'),
          says='warning: the median of took is not known to 1 % after 6 runs (it is counted in steps of 8.3 %)')


def test_exact():
    """A single difference of what is exact is one, and it is the same in all runs of a program."""
    rule = ('--figure', 'bytes,B,exact=^bytes ([0-9]+)$')
    old, new = program('echo bytes 1000', 'old'), program('echo bytes 1001', 'new')
    path = save('exact.json', *rule, '--command', f'old={old}', '--name', 'new', new, n=1)
    equal(unit(benchmarks_of(path)[0], 'bytes'), 'lower, exact, B, step 1', 'the result')
    found = compare(path)['new: bytes']
    equal((found['verdict'], found['p'], found['ratio']), ('slower', 0, 1.001), 'a difference')
    report('compare', '--fail-worse', 0, path, status=3, says='old: bytes -> new: bytes is higher by more than 0 %: ')
    report('compare', '--fail-worse', 1, '--fail-unclear', path)
    same = save('same.json', *rule, '--command', f'old={old}', '--name', 'new', old, n=1)
    found = compare(same)['new: bytes']
    equal((found['verdict'], found['p']), ('same', 1), 'no difference')
    report('compare', '--fail-worse', 0, '--fail-unclear', same)
    said, _ = start('--no-save', '--decide', 0.1, *rule, '--baseline', old, new, status=3)
    check('more than 0.05 % higher bytes: +0.10 %' in said and 'settled after 1 pair' in said, said)
    start('--no-save', '--decide', 0.1, *rule, '--baseline', new, old)
    fails(['run 2 failed: ', 'bytes is to be exact, and is 2 after 1 in the run before'], *rule, program('echo bytes $n'))
    # Of two sittings, neither of which saw the other.
    path = save('sittings.json', *rule, '--name', 'x', old, n=2)
    start('-q', '-n', 2, '--append', '-o', path, *rule, '--name', 'x', new)
    found = compare(path, save('alone.json', *rule, '--name', 'x', old, n=2))['bytes']
    equal((found['verdict'], found['unclear']), ('unclear', 'it is to be exact, and differs between the runs of bytes'),
          'a result of two')


def test_steps():
    """A step above the margin leaves the verdict open, unless the change is beyond it by more than the step."""
    rule = ('--figure', 'took,ms=^took ([0-9]+)$')

    def ended(old, new, margin, status):
        said, _ = start('--no-save', '--decide', margin, *rule, '--command', f'old={program(f"echo took {old}", "old")}',
                        '--name', 'new', program(f'echo took {new}', 'new'), status=status)
        return said

    check('it is counted in steps of 5.0 %' in ended(20, 20, 2, 4), 'equal')
    ended(20, 20, 10, 0)
    ended(20, 21, 2, 4)
    ended(20, 40, 2, 3)
    ended(40, 20, 2, 0)
    path = save('steps.json', *rule, '--command', f'old={program("echo took 20", "old")}', '--name', 'new',
                program('echo took 21', 'new'), n=12)
    check('step       5.0 %' in report('compare', path), 'compare')
    equal(compare(path)['new: took']['step'], 0.05, 'JSON')
    report('compare', '--fail-worse', 2, path)
    report('compare', '--fail-worse', 2, '--fail-unclear', path, status=3, says='it is counted in steps of 5.0 %')


def test_control():
    """A rate is corrected by the control's time, in the direction in which a machine changes it."""
    path = save('control.json', *FIGURES, '--control', loader('new', 10000), n=8)
    names = [each['metadata']['name'] for each in benchmarks_of(path)]
    equal(names, ['new', 'control'], 'the control beside it')
    text = report('show', path)
    check('in the time of runpinned-control' in text, text)
    again = FOLDER / 'again.json'
    document = json.loads(path.read_text(encoding='utf-8'))
    # On a busy machine the times of the control say anything. These are those of a quiet one.
    for number, each in enumerate(document['benchmarks'][1]['runs']):
        if 'values' in each:
            each['values'] = [0.001 * (1 + number % 3 / 1000)]
    path.write_text(json.dumps(document), encoding='utf-8')
    document = json.loads(re.sub('"quiesce_order_seed": [0-9]+', '"quiesce_order_seed": 1',
                                 path.read_text(encoding='utf-8')))
    # The whole machine is twice as slow: half as many requests, and a control that takes twice as long.
    for benchmark in document['benchmarks']:
        for each in benchmark['runs']:
            data = each['metadata']
            if 'quiesce_event_rps' in data:
                data['quiesce_event_rps'] /= 2
                data['quiesce_event_p99'] *= 2
            each['values'] = [value * 2 for value in each.get('values', [])] or None
            if each['values'] is None:
                del each['values']
    again.write_text(json.dumps(document), encoding='utf-8')
    found = compare(path, again)
    for name in 'rps', 'p99':
        equal(found[name]['design'], 'by a control', name)
        check(abs(found[name]['ratio'] - 1) < 0.02, found[name])
    # Only the program is.
    for each in document['benchmarks'][1]['runs']:
        if 'values' in each:
            each['values'] = [value / 2 for value in each['values']]
    again.write_text(json.dumps(document), encoding='utf-8')
    found = compare(path, again)
    check(abs(found['rps']['ratio'] - 0.5) < 0.01 and abs(found['p99']['ratio'] - 2) < 0.04, found)
    equal([found[name]['verdict'] for name in ('rps', 'p99')], ['slower', 'slower'], 'verdicts')


def test_compare_costs():
    """The other way round where less is better; as with a time."""
    rule = 'took,ms=^rps: (.*)$'
    path = save('costs.json', '--figure', rule, '--command', f'old={rates("old", 100000)}', '--name', 'new',
                rates('new', 200000), n=12)
    found = compare(path)['new: took']
    equal(found['verdict'], 'slower', 'more is worse')
    report('compare', '--fail-slower', 5, path, status=3)


def test_compare_files():
    old, new = (save(name, '--figure', RPS, '--name', 'same', rates(name, rate), n=12)
                for name, rate in (('before', 100000), ('after', 200000)))
    found = compare(old, new)
    equal([(name, each['verdict']) for name, each in found.items()], [('rps', 'faster')], 'comparisons')
    report('compare', '--fail-slower', 5, old, new)
    report('compare', '--fail-slower', 5, new, old, status=3)


def not_compared(rule, says):
    """A file with this figure, of the same program, has nothing in common with one of RPS."""
    old = save('before.json', '--figure', RPS, '--name', 'same', rates('before', 100000), n=12)
    other = save('renamed.json', '--figure', rule, '--name', 'same', rates('other', 5), n=12)
    result = subprocess.run([os.environ['BENCH_REPORT'], 'compare', old, other], env=ENVIRONMENT,
                            capture_output=True, text=True, check=False)
    check(result.returncode == 1 and says in result.stderr, f'{rule}: {result}')


def test_compare_units():
    not_compared(RPS.replace('1/s,higher', 's'), 'it is in 1/s in ')
    not_compared(RPS.replace('1/s', 'B/s'), 'it is in 1/s in ')


def test_compare_directions():
    """Where the files say that more is better and that less is, nobody knows which one it is."""
    not_compared(RPS.replace('higher', 'lower'), 'rps')


def test_compare_other_figures():
    """They are not the same one, even if each file has one benchmark of one figure."""
    not_compared(RPS.replace('rps,', 'other,', 1), 'no benchmark in common')


def test_waiting():
    """A hosted figure that waiting for the CPU makes vary: compare points to the processor time, where the harness was told
    how much to do."""
    def write(loops=1000, unit='lower, s/op', key='quiesce_run_delay'):
        draw, benchmarks = random.Random(3), []
        for name, work in ('baseline', 0.1), ('new', 0.105):
            runs = []
            for at in range(12):
                took, waited = work * draw.gauss(1, 0.002), 0.1 * draw.expovariate(1)
                figure = (took + waited) / 1000
                runs.append({'values': [figure], 'metadata': {
                    'quiesce_event_iteration': figure, 'loops': loops if loops else 900 + at, 'quiesce_user_cpu': took,
                    'quiesce_system_cpu': 0.0, 'duration': took + waited, 'quiesce_window_kernel': took + waited, key: waited}})
            benchmarks.append({'metadata': {'name': name, 'unit': 'second', 'quiesce_evidence': 'full',
                                            'quiesce_interleaved': 'baseline, new', 'quiesce_order_seed': 7,
                                            'quiesce_unit_iteration': unit}, 'runs': runs})
        path = FOLDER / 'waiting.json'
        path.write_text(json.dumps({'version': '1.0', 'benchmarks': benchmarks}), encoding='utf-8')
        return path

    said = '--metric task_clock'
    path = write()
    check(said in report('compare', path) and said in report('check', path, status=3), 'what was told')
    verdict, = json.loads(report('compare', '--json', '--metric', 'task_clock', path))['comparisons']
    check(1.04 < verdict['ratio_low'] < verdict['ratio_high'] < 1.06, verdict)
    # Of threads that have ended the kernel does not tell it.
    check(said in report('compare', write(key='quiesce_off_cpu')), 'off the CPU')
    for what, path in (('loops of its own', write(loops=0)), ('one loop', write(loops=1)), ('a rate', write(unit='higher, 1/s')),
                       ('unknown', write(key='quiesce_reap'))):
        check(said not in report('compare', path), what)


def test_metric_time():
    path = pair('time.json', 1000, 2000)
    found = compare('--metric', 'time', path)
    equal(list(found), ['new'], 'comparisons')
    equal((found['new']['unit'], found['new']['old']['name']), ('second', 'old'), 'of the time')
    times = [each['values'][0] for each in benchmarks_of(path)[1]['runs']]
    equal(found['new']['new']['median'], statistics.median(times), 'median')
    shown = json.loads(report('show', '--json', '--metric', 'time', path))['benchmarks']
    equal([each['name'] for each in shown], ['old', 'new'], 'show')
    report('show', '--metric', 'nothing', path, status=1, says='nothing')


def test_verbs():
    path = pair('verbs.json', 1000, 2000)
    old, new = (sorted(figure(each, 'rps')) for each in benchmarks_of(path))
    shown = json.loads(report('stats', '--json', path))['benchmarks']
    equal([(each['name'], each['unit'], each['min'], each['median'], each['max']) for each in shown],
          [('old: rps', '1/s', old[0], statistics.median(old), old[-1]),
           ('new: rps', '1/s', new[0], statistics.median(new), new[-1])], 'stats')
    for verb in 'show', 'stats', 'hist', 'trend':
        text = report(verb, path)
        check('old: rps' in text and 'new: rps' in text and '1/s' in text, f'{verb}: {text}')
        check('rps' in report(verb, '--metric', 'rps', path), verb)
    report('slowest', path)
    text = report('dump', path)
    check('rps' in text.splitlines()[1] and f'{old[0]:.0f}.' in text, f'the figure beside the time: {text}')
    # The costs of a rate: a machine with half the rate takes twice as long, and its runs count once.
    folder = FOLDER / 'fleet'
    folder.mkdir()
    # The same runs on each, so that nothing but the rate tells one machine from another.
    measured = pair('machine.json', 1000, 2000).read_text(encoding='utf-8')
    for i in range(4):
        document = json.loads(measured)
        for each in [document, *document['benchmarks']]:
            if 'hostname' in each.get('metadata', {}):
                each['metadata']['hostname'] = f'm{i}'
        for each in (each for benchmark in document['benchmarks'] for each in benchmark['runs']):
            each['metadata']['quiesce_event_rps'] *= 0.5 if i == 3 else 1
        (folder / f'{i}.json').write_text(json.dumps(document), encoding='utf-8')
    machines = {each['node']: each for each in json.loads(report('fleet', '--json', folder, status=3))['machines']}
    check(0.98 < machines['m3']['level'] < 1.02 and machines['m3']['odd'] == ['slower'], machines['m3'])
    equal([each['runs'] for each in machines.values()], [24] * 4, 'runs')
    # A service alarms where there is more, or where there is less.
    for more in (), ('--metric', 'rps'):
        for form, said in (('github-action-benchmark', 'the tool of the action is customBiggerIsBetter'),
                           ('customBiggerIsBetter', None)):
            result = subprocess.run([os.environ['BENCH_REPORT'], 'show', '--format', form, *more, path], env=ENVIRONMENT,
                                    capture_output=True, text=True, check=False)
            equal(result.returncode, 0, result.stderr)
            check(said in result.stderr if said else not result.stderr, f'{form}: {result.stderr}')
            equal({each['unit'] for each in json.loads(result.stdout)}, {'1/s'}, form)
        report('show', '--format', 'customSmallerIsBetter', *more, path, status=1, says='more is better of all figures')
    both = save('both-ways.json', '--figure', RPS, '--figure', 'late,ms=^late: ([0-9.]+)$',
                program('echo "rps: $((100 + n))"; echo "late: $((200 + n))"', 'both-ways'), n=3)
    report('show', '--format', 'github-action-benchmark', both, status=1,
           says="less is better of 'late', and more of 'rps': write two lists, --format customSmallerIsBetter "
           'and --format customBiggerIsBetter')
    for form, name in ('customSmallerIsBetter', 'late'), ('customBiggerIsBetter', 'rps'):
        equal([each['name'] for each in json.loads(report('show', '--format', form, both))], [name], form)
    late = json.loads(report('show', '--format', 'github-action-benchmark', '--metric', 'late', both))
    equal([each['unit'] for each in late], ['ns'], 'one of both by --metric')
    small = save('small.json', '--figure', RPS, program('echo "rps: 0.00$((100 + n * 7 % 5))"'), n=12)
    # The machine that it ran on may be one to object to.
    for more in (), ('--json',), ('--metric', 'rps'):
        result = subprocess.run([os.environ['BENCH_REPORT'], 'check', *more, path, small], env=ENVIRONMENT, capture_output=True,
                                text=True, check=False)
        check(result.returncode in (0, 3) and not result.stderr and 'rps' in result.stdout, result)
        # A rate of 0.001 is no short time.
        check('the shortest measurement' not in result.stdout, result)
    shown = json.loads(report('trend', '--json', path))
    check('old: rps' in json.dumps(shown), shown)
    if os.environ['HAS_CAIRO'] == '1':
        for more in (), ('--metric', 'rps'), ('--metric', 'time'):
            picture = FOLDER / 'picture.svg'
            report('plot', '-o', picture, *more, path)
            text = picture.read_text(encoding='utf-8')
            check(text.startswith(('<?xml', '<svg ')) and text.rstrip().endswith('</svg>'), f'{more}: {text[:100]}')
            picture.unlink()


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
