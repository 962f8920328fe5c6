#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""runpinned --vary: each run finds what was drawn for it, and only that; bench-report why prints the table."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import machine
from machine import check, equal
from test_figures import CPU, ENVIRONMENT, FOLDER, RUNPINNED, misused, report, start

FOUND = FOLDER / 'found'
TMP = FOLDER / 'tmp'
# What a run finds, as the kernel tells it: a line of JSON for each run.
LOOK = FOLDER / 'look.py'
LOOK.write_text(f'''
import json, os
with open('/proc/self/stat', encoding='utf-8') as file:
    stack = int(file.read().rsplit(')', 1)[1].split()[25])
with open('/proc/self/personality', encoding='utf-8') as file:
    fixed = bool(int(file.read(), 16) & 0x0040000)
with open('/proc/self/cmdline', encoding='utf-8') as file:
    argv0 = file.read().split('\\0')[0]
with open({str(FOUND)!r}, 'a', encoding='utf-8') as file:
    print(json.dumps({{
        'run': int(os.environ['QUIESCE_RUN']), 'stack': stack, 'fixed': fixed, 'argv0': argv0,
        'exe': os.readlink('/proc/self/exe'), 'PWD': os.environ.get('PWD', ''), 'here': os.getcwd(),
        'same': os.path.samefile(os.environ.get('PWD', '/nowhere'), '.') if 'PWD' in os.environ else None,
        'names': sorted(os.environ),
        'PYTHONHASHSEED': os.environ.get('PYTHONHASHSEED'), 'MY_SEED': os.environ.get('MY_SEED')}}), file=file)
''', encoding='utf-8')
PYTHON = os.path.realpath(sys.executable)


def vary(*args, status=0, program=(PYTHON, LOOK), n=40):
    """The result of a measurement with these options, and what its runs that count found."""
    TMP.mkdir(exist_ok=True)
    FOUND.unlink(missing_ok=True)
    said = subprocess.run([RUNPINNED, '-c', CPU, '-n', str(n), '-w', '0', '--evidence', 'none', '--stamps', 'launcher',
                           '-o', FOLDER / 'vary.json', *map(str, args), *map(str, program)],
                          env=dict(ENVIRONMENT, TMPDIR=str(TMP)), capture_output=True, text=True, check=False)
    equal(said.returncode, status, said.stderr)
    equal(os.listdir(TMP), [], 'nothing is left')
    result = json.loads((FOLDER / 'vary.json').read_text(encoding='utf-8'))
    found = [json.loads(line) for line in FOUND.read_text(encoding='utf-8').splitlines()] if FOUND.exists() else []
    return result, [one for one in found if one['run'] > 0], said.stdout


def levels(result, name):
    return [run['metadata'][f'quiesce_event_level_{name}'] for run in result['benchmarks'][0]['runs']]


def metadata(result):
    return {**result.get('metadata', {}), **result['benchmarks'][0].get('metadata', {})}


def test_each_run():
    """All factors at a time: what was drawn is in the result, and is what the run found."""
    result, found, said = vary('--vary=addresses,environment,argv0,directory,file,PYTHONHASHSEED,MY_SEED')
    equal(len(found), 40, 'runs')
    # This interpreter may be one without random addresses only if all are.
    equal([int(not one['fixed']) for one in found], levels(result, 'addresses'), 'addresses')
    equal([len(one['argv0']) for one in found], levels(result, 'argv0'), 'argv0')
    equal([len(one['PWD']) for one in found], levels(result, 'directory'), 'PWD')
    equal([int(one['PYTHONHASHSEED']) for one in found], levels(result, 'PYTHONHASHSEED'), 'hash seed')
    equal([int(one['MY_SEED']) for one in found], levels(result, 'MY_SEED'), 'another seed')
    copies = {(one['exe'], level) for one, level in zip(found, levels(result, 'file'))}
    equal(len(copies), 4, f'each level of file is one copy: {copies}')
    check(all(os.path.realpath(one['argv0']) == PYTHON and os.path.basename(one['exe']) == os.path.basename(PYTHON)
              for one in found), 'other names for the same file')
    check(all(one['same'] and one['here'] == os.getcwd() for one in found), 'other names for the same directory')
    equal(sum('PYTHONHASHSEED' in one['names'] for one in found), 40, 'each variable is there')
    for name, n in (('addresses', 2), ('environment', 8), ('argv0', 4), ('directory', 4), ('file', 4), ('MY_SEED', 8)):
        check(2 <= len(set(levels(result, name))) <= n, f'levels of {name}')
    equal(metadata(result)['quiesce_vary'], 'addresses, environment, argv0, directory, file, PYTHONHASHSEED, MY_SEED', 'factors')
    check('quiesce_vary_held' not in metadata(result), 'nothing is held')
    check('cannot be told from 40 runs' in said, said)
    # No counted event is shown.
    check('level_' not in said, said)


def test_place_of_stack():
    """Where addresses are fixed, the stack lies where the environment's level puts it, whatever the other factors
    have drawn."""
    result, found, _ = vary('--no-aslr', '--vary=environment,argv0,directory,file,PYTHONHASHSEED', n=60)
    places = {}
    for one, level in zip(found, levels(result, 'environment')):
        places.setdefault(level, set()).add(one['stack'])
    check(len(places) > 4 and all(len(place) == 1 for place in places.values()), f'one place for each level: {places}')
    first = min(places)
    for level, place in places.items():
        equal(min(places[first]) - min(place), level - first, 'as many bytes lower')
    equal({level % 64 for level in places}, {0, 16, 32, 48}, 'all places in a line')


def test_held():
    """What is held by other options, or cannot be varied, is told, and an error where it was asked for."""
    script = FOLDER / 'script'
    script.write_text('#!/bin/sh\n:\n', encoding='utf-8')
    script.chmod(0o755)
    result, _, said = vary('--vary', '--no-aslr', '--env-pad', 16, '--env', 'PYTHONHASHSEED=1', '--env', 'PWD=/',
                           program=[script])
    equal(metadata(result)['quiesce_vary'], 'argv0, PERL_HASH_SEED', 'what is left')
    equal(metadata(result)['quiesce_vary_held'], 'addresses (--no-aslr), environment (--env-pad), directory (--env PWD), '
          'file (it is a script), PYTHONHASHSEED (--env)', 'what is not varied')
    check('not varied: addresses (--no-aslr)' in said or 'cannot be told' in said, said)
    # A program of $PATH stays where it is, unless it is asked for.
    result, _, _ = vary('--vary', program=['true'], n=3)
    check('file (the program is one of those in $PATH' in metadata(result)['quiesce_vary_held'], 'a program of $PATH')
    for args, says in ((('--no-aslr', '--vary=addresses'), '--vary addresses: --no-aslr'),
                       (('--env', 'A=1', '--vary=A'), '--vary A: --env'), (('--vary=file', script), '--vary file: it is a script')):
        said = start('-q', '--no-save', '-n', 1, *args, 'true', status=1)[1]
        check(says in said, said)


def test_seed():
    one, _, _ = vary('--vary', '--seed', 77, n=20)
    two, _, _ = vary('--vary', '--seed', 77, n=20)
    for name in ('addresses', 'environment', 'argv0', 'PYTHONHASHSEED'):
        equal(levels(one, name), levels(two, name), name)
    equal(metadata(one)['quiesce_vary_seed'], 77, 'the seed')
    other, _, _ = vary('--vary', n=20)
    check(levels(one, 'environment') != levels(other, 'environment'), 'another seed')


def test_misuse():
    for args, says in ((('--baseline', 'true'), '--vary is about one program, and there are 2'),
                       (('-P', 'n=1..2', '--env', 'N={n}'), '--vary is about one program, and there are 2'),
                       (('--control',), '--vary is about one program'), (('--shell',), '--vary is about a program'),
                       (('--append', '-o', 'x.json'), '--append')):
        misused(says, '--vary', *args, 'true')
    for word in ('stack-size', 'addresses,addresses', '', 'QUIESCE_RUN', '1A'):
        misused('--vary', f'--vary={word}', 'true')


def test_killed():
    """The folder is removed by the keeper where runpinned was killed."""
    mark = FOLDER / 'killed'
    TMP.mkdir(exist_ok=True)
    with subprocess.Popen([RUNPINNED, '-c', CPU, '-q', '--no-save', '-w', '0', '--vary=file,directory', '/bin/sh', '-c',
                           f'echo >{mark}; exec sleep 600'], env=dict(ENVIRONMENT, TMPDIR=str(TMP))) as measuring:
        machine.wait_for(mark.exists, 'it measures', 300)
        check(len(os.listdir(TMP)) == 1, 'there is a folder')
        measuring.send_signal(signal.SIGKILL)
    machine.wait_for(lambda: not os.listdir(TMP), 'the folder is removed', 300)


def test_table():
    """A program says more with some of the seeds: the table names this, and nothing is lost in the file."""
    talker = FOLDER / 'talker'
    talker.write_text('#!/bin/sh\n'
                      'echo "BenchmarkTook 1 $((100 + MY_SEED % 3 * 20 + QUIESCE_RUN * 37 % 11)) ms" >>"$QUIESCE_FIGURES"\n',
                      encoding='utf-8')
    talker.chmod(0o755)
    for seed in range(1, 20):  # whose numbers are not all the same by that
        result, _, said = vary('--vary=MY_SEED,PERL_HASH_SEED', '--seed', seed, program=[talker], n=80)
        if len({level % 3 for level in levels(result, 'MY_SEED')}) > 1:
            break
    table = report('why', FOLDER / 'vary.json')
    check(table.partition(': ')[2].strip() in said, f'the same table: {table} {said}')
    check(max(map(len, table.splitlines())) <= 80, '80 columns')
    check('--env MY_SEED=' in table and '--vary=MY_SEED' in table, table)
    rows = json.loads(report('why', '--json', FOLDER / 'vary.json'))['benchmarks'][0]
    equal(rows['runs'], 80, 'runs')
    first = rows['rows'][0]
    equal((first['factor'], first['kind'], first['found']), ('MY_SEED', 'factor', True), 'the first row')
    check(first['share'] > 0.5 and first['low'] <= first['share'] <= first['high'], str(first))
    check(first['highest'] % 3 > first['lowest'] % 3 and first['change'] > 0.1, str(first))
    equal([row['kind'] for row in rows['rows']].count('rest'), 1, 'the rest')
    # By another figure than the first.
    check('PERL_HASH_SEED' in report('why', '--metric', 'time', FOLDER / 'vary.json'), 'of the time')
    # Without --vary there is nothing to tell.
    start('-n', 3, '-o', FOLDER / 'plain.json', 'true')
    report('why', FOLDER / 'plain.json', status=1, says='nothing was varied')


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
