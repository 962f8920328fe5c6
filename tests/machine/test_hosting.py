#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Harnesses that runpinned hosts: each benchmark in processes of its own. The harnesses here are scripts that take the
options of the real ones, print what these print, and write down how they were called.
"""

import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import machine
from machine import check, equal

RUNPINNED = os.environ['RUNPINNED']
SCRATCH = tempfile.TemporaryDirectory(prefix='hosting.')
FOLDER = pathlib.Path(SCRATCH.name)
LOG = FOLDER / 'log'
CPU = str(min(os.sched_getaffinity(0)))
ENVIRONMENT = {**os.environ, 'LC_ALL': 'C', 'HOME': SCRATCH.name, 'XDG_CONFIG_HOME': str(FOLDER / 'config'),
               'XDG_STATE_HOME': str(FOLDER / 'state'), 'LOG': str(LOG)}

# The worker of pyperf: one benchmark of a list, by its number; a number behind the last one writes no file.
PYPERF = '''#!{python}
import json, os, sys
def option(name, other=None):
    return sys.argv[len(sys.argv) - sys.argv[::-1].index(name)] if name in sys.argv else other
with open(os.environ['LOG'], 'a') as log:
    log.write(json.dumps(sys.argv) + '\\n')
assert '--worker' in sys.argv
names, output, loops = {names}, option('-o'), int(option('--loops', 0))
assert not os.path.exists(output), 'it refuses a file that is there'
index = int(option('--worker-task'))
if index < len(names):
    metadata, run = {{'name': names[index]}}, {{}}
    if '--calibrate-loops' in sys.argv:
        metadata['calibrate_loops'] = 4096 * (index + 1)
        run['warmups'] = [[1, 0.25]]
    else:
        run['values'] = [{time} * (index + 1) * (i + 1) for i in range(int(option('--values', 3)))]
    with open(output, 'w') as file:
        json.dump({{'version': '1.0', 'benchmarks': [{{'runs': [run]}}], 'metadata': metadata}}, file)
'''

# A test binary of Go, which takes an expression for each level of a name.
GO = '''#!{python}
import json, os, re, sys
def option(name, other=None):
    name, words = name.lstrip('-'), [word.lstrip('-') for word in sys.argv]
    words = [part for word in words for part in (word.split('=', 1) if word.startswith(name + '=') else [word])]
    return words[len(words) - words[::-1].index(name)] if name in words else other
with open(os.environ['LOG'], 'a') as log:
    log.write(json.dumps(sys.argv) + '\\n')
levels = option('-test.bench').split('/')
procs = option('-test.cpu', '2')
print('goos: linux\\npkg: tiny\\ncpu: CPU MODEL')
for name, ns in {benchmarks}:
    words = name.split('/')
    if not all(re.search(level, word) for level, word in zip(levels, words)):
        continue
    time = option('-test.benchtime')
    count = int(time[:-1]) if time.endswith('x') else 5000
    for i in range(int(option('-test.count', 1))):
        print('%s%s \\t%8d\\t%10.1f ns/op\\t%8.2f MB/s\\t%8d B/op\\t%8d allocs/op'
              % (name, '' if procs == '1' else '-' + procs, count, ns * (i + 1), 8, 16, 1))
print('PASS')
'''

# google-benchmark; `old` is one that cannot be told the number of iterations.
GOOGLE = '''#!{python}
import json, os, re, sys
with open(os.environ['LOG'], 'a') as log:
    log.write(json.dumps(sys.argv) + '\\n')
options = dict(word[2:].split('=', 1) if '=' in word else (word[2:], '') for word in sys.argv[1:])
names = ['BM_a/8', 'BM_b']
if 'benchmark_list_tests' in options:
    print('\\n'.join(names))
    sys.exit()
least = options.get('benchmark_min_time', '0.5')
if {old} and least.endswith('x'):
    sys.exit('the value of flag --benchmark_min_time is expected to be a double')
found = []
for name in names:
    if re.search(options.get('benchmark_filter', '.'), name):
        count = int(least[:-1]) if least.endswith('x') else 700
        for i, suffix in enumerate(['', '', '', '_mean', '_cv']):
            found.append(dict(name=name + suffix, iterations=count, real_time=30.5 + i, cpu_time=20.25 + i, time_unit='ns'))
            if name == 'BM_b':
                found[-1]['items_per_second'] = 1e9 + i
        print('%s      30.5 ns         20.2 ns      %d' % (name, count))
if 'benchmark_out' in options:
    with open(options['benchmark_out'], 'w') as file:
        if found:
            json.dump({{'context': {{}}, 'benchmarks': found}}, file)
'''


def write(name, text):
    path = FOLDER / name
    path.write_text(text, encoding='utf-8')
    path.chmod(0o755)
    return path


def pyperf(name='script', names=('sum', 'a b'), seconds='0.001'):
    return write(name, PYPERF.format(python=sys.executable, names=repr(list(names)), time=seconds))


def go(name='own.test', benchmarks=(('BenchmarkSum', 1500), ('BenchmarkSub/size=8', 10), ('BenchmarkSub/a(b).c', 20))):
    return write(name, GO.format(python=sys.executable, benchmarks=repr(benchmarks)))


def google(name='google', old=False):
    return write(name, GOOGLE.format(python=sys.executable, old=old))


def start(*arguments, status=0, says=(), environment=ENVIRONMENT):
    """Runs runpinned, which is to end with that status, to say each of these texts, and to leave no file. Returns its two
    outputs."""
    LOG.unlink(missing_ok=True)
    temporary = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
    result = subprocess.run([RUNPINNED, '-c', CPU, '-w', '0', *map(str, arguments)], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, env={**environment, 'TMPDIR': str(temporary)}, timeout=300,
                            check=False)
    equal(result.returncode, status, f'{arguments}: status ({result.stdout} {result.stderr})')
    for text in [says] if isinstance(says, str) else says:
        check(text in result.stderr, f'{arguments}: {text!r} is not in {result.stderr!r}')
    equal(list(temporary.iterdir()), [], f'{arguments}: files that are left')
    return result.stdout, result.stderr


def run(*arguments, n=2, **how):
    """The benchmarks of the result, by name."""
    result = json.loads(start('--json', '-n', n, *arguments, **how)[0])
    return {each['metadata']['name']: each for each in result['benchmarks']}


def calls(word=None):
    """How the programs were called, in their order: those with that word."""
    found = [json.loads(line) for line in LOG.read_text(encoding='utf-8').splitlines()]
    return [each for each in found if word is None or word in each]


def option_of(call, name):
    return call[call.index(name) + 1]


def values(benchmark):
    return [each['values'] for each in benchmark['runs']]


def figure(benchmark, name='iteration'):
    return [each['metadata'].get('quiesce_event_' + name) for each in benchmark['runs']]


def test_pyperf():
    own = pyperf()
    found = run('--harness', 'pyperf', own, '--values', 3)
    equal(list(found), ['script/benchmark=sum', 'script/benchmark=a b'], 'benchmarks')
    first, second = found.values()
    equal(values(first), [[0.001, 0.002, 0.003]] * 2, 'values of each process')
    equal(figure(first), [0.002] * 2, 'their mean')
    equal(figure(second), [0.004] * 2, 'the mean of the other one')
    equal([each['metadata']['loops'] for each in first['runs'] + second['runs']], [4096, 4096, 8192, 8192], 'loops')
    equal(first['metadata']['quiesce_unit_iteration'], 'lower, s', 'the figure')
    equal(first['metadata']['command'], f'{own} --values 3', 'the words of the user')
    equal(first['metadata']['parameter_benchmark'], 'sum', 'the parameter')
    equal(first['metadata']['quiesce_harness'], 'pyperf', 'the harness')
    # Each has the evidence of its process.
    for each in first['runs']:
        check(each['metadata']['quiesce_window_user'] > 0 and 'quiesce_user_cpu' in each['metadata'], each)
    check(not {'quiesce_clock', 'quiesce_stamps', 'timer'} & set(first['metadata']), 'whose stamps')
    # Words are added behind those of the user; there is one run that calibrates each benchmark.
    equal([option_of(call, '--worker-task') for call in calls('--calibrate-loops')], ['0', '1'], 'calibrations')
    for call in calls('--loops'):
        equal(call[1:4], ['--values', '3', '--worker'], 'words')


def test_turns():
    """The loops are found once, and are those of both versions; so is the benchmark, whatever its number there."""
    old, new = pyperf('old', ('a', 'b', 'gone')), pyperf('new', ('b', 'a', 'more'), '0.0015')
    output, said = start('--harness', 'pyperf', '-n', 8, '--json', '--baseline', old, '--', new)
    check('note: left out, because not all programs have it: gone, more' in said, said)
    for name in 'ab':
        check(f'new/benchmark={name}: iteration, compared with baseline: ' in said, said)
    check('compared with baseline/' not in said, said)
    found = {each['metadata']['name']: each for each in json.loads(output)['benchmarks']}
    equal(sorted(found), ['baseline/benchmark=a', 'baseline/benchmark=b', 'new/benchmark=a', 'new/benchmark=b'], 'names')
    equal(values(found['baseline/benchmark=a'])[0][0], 0.001, 'a of old')
    equal(values(found['new/benchmark=a'])[0][0], 0.003, 'a of new, its second one')
    equal(found['new/benchmark=b']['metadata']['quiesce_baseline'], 'baseline/benchmark=b', 'the old one')
    equal([(call[0], option_of(call, '--worker-task')) for call in calls('--calibrate-loops')],
          [(str(old), '0'), (str(old), '1')], 'calibrations')
    runs = [call for call in calls('--loops') if '--warmups' not in call]
    for benchmark, loops in (('a', '4096'), ('b', '8192')):
        for name in 'baseline', 'new':
            equal({each['metadata']['loops'] for each in found[f'{name}/benchmark={benchmark}']['runs']}, {int(loops)},
                  f'{name} {benchmark}')
    equal({option_of(call, '--loops') for call in runs}, {'4096', '8192'}, 'what they were told')


def test_one_benchmark():
    """It is no parameter then."""
    found = run('--harness', 'pyperf', '--baseline', pyperf('old', ('timeit',)), '--', pyperf('new', ('timeit',)))
    equal(list(found), ['baseline', 'new'], 'names')
    equal(found['new']['metadata']['quiesce_baseline'], 'baseline', 'compared')
    found = run('--harness', 'pyperf', '--benchmark', 'a b', pyperf('script', ('sum', 'a b')))
    equal(list(found), ['script'], 'one that was named')
    equal(values(found['script'])[0][0], 0.002, 'the second one')


def test_warmups():
    """Those of runpinned are processes; they are recorded, not counted."""
    found = run('--harness', 'pyperf', '-w', 1, pyperf('script', ('sum',)))['script']
    equal(found['runs'][0].get('values'), None, 'no value')
    equal(found['runs'][0]['warmups'], [[4096, 0.001], [4096, 0.002], [4096, 0.003]], 'warm-ups')
    equal(len(found['runs']), 3, 'runs')


def test_go():
    own = go()
    found = run('--harness', 'go', own, '-test.benchmem')
    equal(list(found), [f'own.test/benchmark={name}' for name in
                        ('BenchmarkSum', 'BenchmarkSub/size=8', 'BenchmarkSub/a(b).c')], 'benchmarks')
    one = found['own.test/benchmark=BenchmarkSub/a(b).c']
    equal(values(one), [[20 / 1e9]] * 2, 'values')
    equal({name: figure(one, name)[0] for name in ('iteration', 'rate', 'bytes', 'allocs')},
          {'iteration': 20 / 1e9, 'rate': 8e6, 'bytes': 16, 'allocs': 1}, 'figures')
    equal(one['metadata']['quiesce_unit_rate'], 'higher, B/s, step 10000', 'a rate')
    equal(one['runs'][0]['metadata']['loops'], 5000, 'loops')
    listed, *others = calls()
    equal(listed[1:3] + listed[-2:], ['-test.benchmem', '-test.bench=.', '-test.cpu', '1'], 'the list, whose names have no -2')
    # Levels of a name are expressions of their own, and nothing in a name has a meaning there.
    check([r'^BenchmarkSub$/^a\(b\)\.c$'] == list({option_of(call, '-test.bench') for call in others if 'a' in call[5]}
                                                    & {r'^BenchmarkSub$/^a\(b\)\.c$'}), others)
    equal([word for word in others[0] if 'benchtime' in word], ['-test.benchtime=100ms'], 'calibrated')
    equal({option_of(call, '-test.benchtime') for call in others[1:] if '-test.benchtime' in call}, {'5000x'}, 'then told')
    # Several values of a process are repeats in it.
    one = run('--harness', 'go', '--benchmark', 'BenchmarkSum', own, '-test.count', 3)['own.test']
    equal(values(one)[1], [1.5e-6, 3e-6, 4500 / 1e9], 'values of a process')
    equal(figure(one)[1], 3e-6, 'their mean')
    # A benchmark that is named need not be listed, which takes a run of all.
    equal([call for call in calls() if '1x' in call], [], 'no list')
    # The user's own choice is that of the list, and how long a process measures is that of the calibration.
    calls()
    found = run('--harness', 'go', own, '-test.bench', 'Sum', '--test.benchtime=10ms')
    equal(list(found), ['own.test'], 'a choice by the program itself')
    equal([word for call in calls() for word in call if word.endswith('ms')][1:], ['--test.benchtime=10ms'] * 3, 'its time')


def test_google():
    for old in False, True:
        own = google(old=old)
        found = run('--harness', 'google-benchmark', own)
        equal(list(found), ['google/benchmark=BM_a/8', 'google/benchmark=BM_b'], 'benchmarks')
        one = found['google/benchmark=BM_b']
        equal(values(one), [[30.5 / 1e9, 31.5 / 1e9, 32.5 / 1e9]] * 2, 'values, without means')
        equal((figure(one)[0], figure(one, 'cpu')[0], figure(one, 'items')[0]), (31.5 / 1e9, 21.25 / 1e9, 1e9 + 1),
              'figures')
        equal(figure(found['google/benchmark=BM_a/8'], 'items'), [None, None], 'one that it does not have')
        equal([each['metadata'].get('loops', 1) for each in one['runs']], [1, 1] if old else [700, 700], 'loops')
        least = [word for call in calls() for word in call if 'min_time' in word and not word.endswith('=0.1')]
        equal(set(least), {'--benchmark_min_time=700x'}, 'what it was told')
        # The one that refuses is asked once.
        check(len(least) == 1 if old else len(least) >= 5, least)
        run('--harness', 'google-benchmark', '--benchmark', 'BM_b', own, '--benchmark_min_time=0.02')
        least = {word for call in calls() for word in call if 'min_time' in word and not word.endswith('x')}
        equal(least, {'--benchmark_min_time=0.02'}, 'what the user says')


def test_unknown_benchmark():
    """Harnesses end with status 0 when they have no benchmark of that name."""
    start('--no-save', '-n', 1, '--harness', 'pyperf', '--benchmark', 'nope', pyperf(), status=2,
          says="--benchmark: script has no 'nope', but sum, a b")
    for name, program in (('go', go()), ('google-benchmark', google())):
        start('--no-save', '-n', 1, '--harness', name, '--benchmark', 'nope', program, status=1,
              says="as if there were no benchmark 'nope'")
    # It is in the old version alone, and was not listed.
    start('--no-save', '-n', 1, '--harness', 'go', '--benchmark', 'BenchmarkSum', '--baseline', go('old'), '--',
          go('new', (('BenchmarkOther', 1),)), status=1, says='no value of iteration')
    start('--no-save', '-n', 1, '--harness', 'pyperf', '--baseline', pyperf('old', ('a',)), '--', pyperf('new', ('b',)),
          status=2, says='no benchmark is in all programs: they have a, b')
    for name in 'pyperf', 'go':
        start('--no-save', '-n', 1, '--harness', name, 'true', status=1, says=f'true lists no benchmark ({name})')


def test_failing_list():
    own = write('failing', '#!/bin/sh\necho no way >&2\nexit 3\n')
    start('--no-save', '-n', 1, '--harness', 'go', own, status=1,
          says=['failed, which was to list the benchmarks: exit status 3', 'no way'])
    start('--no-save', '-n', 1, '--harness', 'go', FOLDER / 'nobody', status=1, says='No such file or directory')
    own = write('several', '#!/bin/sh\necho \'{"metadata": {"name": "a"}}\' >"$3"\n')
    harness = write('several.conf', 'List={command} {index} -o {file}\nNamesPath=.metadata.name\n'
                    'Run={command} {index}\n[iteration]\nMatch=(x)\nUnit=s\n')
    start('--no-save', '-n', 1, '--harness', harness, own, status=2,
          says=f'benchmark 1 of {own} has the name of another one')


def test_values_that_are_none():
    start('--no-save', '-n', 1, '--harness', 'pyperf', pyperf(seconds='0'), status=1, says='iteration is 0')
    start('--no-save', '-n', 1, '--harness', 'pyperf', pyperf(seconds='"x"'), status=1, says='is not a number')
    # The program runs more than the benchmark that it was asked for.
    own = write('both', '#!/bin/sh\nprintf "BenchmarkA\\t1\\t2.5 ns/op\\nBenchmarkB\\t1\\t3.5 ns/op\\n"\n')
    start('--no-save', '-n', 1, '--harness', 'go', '--benchmark', 'BenchmarkA', own, status=1,
          says='values of two benchmarks, BenchmarkA and BenchmarkB')


def test_parameters():
    """A scan of one program is calibrated for each value; of two programs, for both alike."""
    own = pyperf('script', ('sum',))
    found = run('--harness', 'pyperf', '-L', 'n=1,2', own, '--values', '{n}')
    equal([(name, len(values(each)[0])) for name, each in found.items()], [('script/n=1', 1), ('script/n=2', 2)], 'scan')
    equal(len(calls('--calibrate-loops')), 2, 'calibrations of one program')
    run('--harness', 'pyperf', '-L', 'n=1,2', '--baseline', f'{own} --values {{n}}', '--', own, '--values', '{n}')
    equal(len(calls('--calibrate-loops')), 2, 'calibrations of two programs')
    # Two benchmarks of one program are not compared with each other.
    said = start('--harness', 'pyperf', '-n', 7, '--no-save', pyperf())[0]
    check('compared' not in said and 'ran' not in said.split(), said)
    start('--no-save', '--harness', 'pyperf', '-L', 'benchmark=1,2', pyperf(), '{benchmark}', status=2,
          says="there are two parameters 'benchmark'")
    # Braces of the user's that name no parameter are the user's, also where the harness has such a placeholder.
    found = run('--harness', 'pyperf', own, '{loops}', '{file}', '{x}')
    equal(calls('--loops')[-1][1:4], ['{loops}', '{file}', '{x}'], 'words of the user')


def test_hooks_and_variables():
    prepared = FOLDER / 'prepared'
    own = write('own.test', '#!/bin/sh\necho "$WORD $OTHER $QUIESCE_RUN" >>"$LOG"\n[ -z "$(ls "$HOME_OF_IT")" ] || exit 7\n'
                'touch "$HOME_OF_IT/left"; mkdir "$HOME_OF_IT/deep"; touch "$HOME_OF_IT/deep/er"\n'
                'ln -s / "$HOME_OF_IT/root"\n[ "$1" != -l ] || { echo one; exit; }\necho "took 5 ms, $1"\n')
    harness = write('own.conf', 'List={command} -l\nNames=^(.*)$\nRun={command} {benchmark}\nEnv=HOME_OF_IT={folder}\n'
                    'Env=WORD={benchmark}\n[iteration]\nMatch=^took ([0-9]+) ms, one$\nUnit=ms\nTake=values\n')
    found = run('--harness', harness, '--env', 'OTHER=x', '--prepare', f'echo p >>{prepared}', own)
    equal(values(found['own.test']), [[0.005]] * 2, 'values')
    lines = LOG.read_text(encoding='utf-8').splitlines()
    equal(lines[-2:], ['one x 1', 'one x 2'], 'variables of the runs')
    check(prepared.read_text(encoding='utf-8').count('p') >= 2, 'hooks')
    # --env wins.
    found = run('--harness', harness, '--env', 'WORD=mine', own)
    equal(LOG.read_text(encoding='utf-8').splitlines()[-1], 'mine  2', 'a variable of --env')
    # There is only one of the name: of two, a shell takes the last, and getenv(3) the first.
    found = run('--harness', harness, '--env', 'WORD=mine', write('own.test', own.read_text(encoding='utf-8').replace(
        '"$WORD ', '"$(grep -zc ^WORD= /proc/$$/environ) ')))
    equal(LOG.read_text(encoding='utf-8').splitlines()[-1], '1  2', 'how many there are')


def test_trial_has_the_file_of_figures():
    """All programs have it; what is said there before the runs is not of one of them."""
    own = write('own.test', '#!/bin/sh\necho "$*${QUIESCE_FIGURES:+ has}" >>"$LOG"\ncase "$1" in -l) echo one;; '
                '-f) echo "loops: 3"; echo "BenchmarkA 1 5 s" >>"$QUIESCE_FIGURES";; *) echo "took 5 ms";; esac\n')
    harness = write('own.conf', 'List={command} -l\nNames=^(.*)$\nCalibrate={command} -f\nLoops=^loops: ([0-9]+)$\n'
                    'Run={command} {benchmark} {loops}\n[iteration]\nMatch=^took ([0-9]+) ms$\nUnit=ms\nTake=values\n')
    found = run('--harness', harness, own)['own.test']
    equal(LOG.read_text(encoding='utf-8').splitlines(), ['-l', '-f has', 'one 3 has', 'one 3 has'], 'calls')
    equal([key for key in found['metadata'] if key.startswith('quiesce_unit_')], ['quiesce_unit_iteration'], 'figures')


def test_ignored_failure():
    """A run that has failed has no values, and not those of the run before."""
    own = write('own.test', '#!/bin/sh\n[ "$1" != -l ] || { echo one; exit; }\necho "took $QUIESCE_RUN ms"\n'
                '[ "$QUIESCE_RUN" != 2 ]\n')
    harness = write('own.conf', 'List={command} -l\nNames=^(.*)$\nRun={command} {benchmark}\n'
                    '[iteration]\nMatch=^took ([0-9]+) ms$\nUnit=ms\nTake=values\n')
    found = run('--harness', harness, '--ignore-failure', own, n=3)['own.test']
    equal(values(found), [[0.001], [0.003]], 'values')
    equal([each['metadata'].get('quiesce_turn') for each in found['runs']], [None, 2], 'which run is missing')


def test_control():
    """Its length is found by runs of the first program, which are told their loops and find no file."""
    found = run('--harness', 'pyperf', '--control', pyperf('script', ('sum',)))
    equal(values(found['script']), [[0.001, 0.002, 0.003]] * 2, 'values')
    equal({option_of(call, '--loops') for call in calls('--loops')}, {'1', '4096'}, 'loops of the list and of runs')
    # The values of the harness are none of the control's, whose runs have one each: how long they took.
    equal([len(each) for each in values(found['control'])], [1, 1], 'the control')
    check('quiesce_clock' in found['control']['metadata'], found['control']['metadata'])


def test_options():
    own = go()
    start('--no-save', '--benchmark', 'a', own, status=2, says='--benchmark needs a --harness')
    start('--no-save', '--harness', 'wrk', '--benchmark', 'a', own, status=2, says='--benchmark needs a --harness')
    start('--no-save', '--harness', 'wrk', '--as-is', own, status=2, says='--as-is needs a --harness')
    start('--no-save', '--harness', 'go', '--benchmark', 'a', '--benchmark', 'a', own, status=2, says='given twice')
    start('--no-save', '--harness', 'go', '--benchmark', 'a', '--as-is', own, status=2, says='give one of them')
    start('--no-save', '--harness', 'go', '--shell', f'{own}', status=2, says='leave --shell out')
    start('--no-save', '--harness', 'pyperf', '--as-is', own, status=2, says='leave --as-is out')
    found = run('--harness', 'go', '--as-is', own, '-test.bench', '.', '-test.benchtime', '7x')['own.test']
    equal(figure(found, 'BenchmarkSum-2'), [1.5e-6] * 2, 'all benchmarks in one process')
    equal([call for call in calls() if '1x' in call or '100ms' in call], [], 'neither list nor calibration')
    found = run('--harness', 'go', '--as-is', '--shell', f'{own} -test.bench Sum -test.benchtime 7x')
    equal(len(found), 1, 'a shell')
    harness = write('nolist.conf', 'Run={command} {benchmark}\n[iteration]\nMatch=^([0-9]+)$\nUnit=s\n')
    start('--no-save', '--harness', harness, 'echo', status=2, says='name those to run by --benchmark')
    equal(values(run('--harness', harness, '--benchmark', '5', 'echo')['echo'])[0][0] > 0, True, 'one value is the figure')


def test_dry_run():
    output = start('--dry-run', '--harness', 'pyperf', pyperf(), 'x y')[0]
    check(not LOG.exists(), 'nothing is started')
    words = next(line for line in output.splitlines() if line.startswith('command: '))
    equal(shlex.split(words)[2:], ['x y', '--worker', '--worker-task', '{index}', '--loops', '{loops}', '-o', '{file}'],
          'words')
    output = start('--dry-run', '--harness', 'go', '--benchmark', 'BenchmarkA/b', go())[0]
    check('^BenchmarkA$/^b$' in output, output)


def test_one_cpu():
    said = start('-n', 1, '--no-save', '--harness', 'go', '--benchmark', 'BenchmarkSum', go())[1]
    check('note: goroutines and the garbage collector take turns' in said, said)
    said = start('-n', 1, '--no-save', '-q', '--harness', 'go', '--benchmark', 'BenchmarkSum', go())[1]
    check('goroutines' not in said, said)


def test_appended():
    """A second sitting is added to the file, whatever its loops are."""
    path = FOLDER / 'appended.json'
    for _ in range(2):
        start('-q', '-n', 2, '-o', path, '--append', '--harness', 'pyperf', pyperf('script', ('sum',)))
    benchmark, = json.loads(path.read_text(encoding='utf-8'))['benchmarks']
    equal(values(benchmark), [[0.001, 0.002, 0.003]] * 4, 'values')
    shown = machine.bench_report('show', path)
    check('script: iteration' in shown or 'iteration' in shown, shown)
    stats = json.loads(machine.bench_report('stats', '--json', path))
    check('iteration' in json.dumps(stats), stats)


def test_stopped():
    """A signal while benchmarks are listed, and during runs: nothing is left."""
    for code in 'sleep 60', 'case "$*" in *1x*) printf "BenchmarkA\\t1\\t2 ns/op\\n";; *) sleep 60;; esac':
        started, temporary = FOLDER / 'started', pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
        started.unlink(missing_ok=True)
        own = write('slow', f'#!/bin/sh\ncase "$*" in *{"1x" if code == "sleep 60" else "ms"}*) touch {started};; esac\n{code}\n')
        process = subprocess.Popen([RUNPINNED, '-c', CPU, '-w', '0', '-n', '1', '--no-save', '--harness', 'go', own],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**ENVIRONMENT, 'TMPDIR': str(temporary)})
        deadline = time.monotonic() + 60
        while not started.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        check(started.exists(), 'it was started')
        process.send_signal(signal.SIGTERM)
        equal(process.wait(60), 128 + signal.SIGTERM, 'status')
        equal(list(temporary.iterdir()), [], 'files that are left')


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
