#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench-report compare --repeats: how much a machine varies, learnt from its own results of other days."""

import csv
import datetime
import io
import json
import math
import pathlib
import random
import shutil
import tempfile

from machine import bench_report as report
from machine import check, equal, run_tests

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix='repeats.'))
FIRST = datetime.datetime(2026, 11, 1, 2)
RUNS = 20


def write(name, draw, days, level=0.0, names=('x',), dated=True, **metadata):
    """A result of that day: sittings vary by 0.4 %, runs by 0.2 %."""
    benchmarks = []
    for each in names:
        here = level + draw.gauss(0, 0.004)
        runs = []
        for at in range(RUNS):
            date = FIRST + datetime.timedelta(days=days, seconds=at)
            runs.append({'values': [0.02 * math.exp(here + draw.gauss(0, 0.002))],
                         'metadata': {'date': date.isoformat(sep=' ')} if dated else {}})
        benchmarks.append({'metadata': {'name': each, 'unit': 'second'}, 'runs': runs})
    path = FOLDER / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({'version': '1.0', 'metadata': {
        'hostname': 'metal', 'cpu_model_name': 'Xeon', 'quiesce_governor': 'performance', 'quiesce_kernel': '6.12',
        **metadata}, 'benchmarks': benchmarks}))
    return path


def make(folder, n=8, slower=0.03, **options):
    """n results in a folder, and OLD and NEW after them."""
    draw = random.Random(3)
    repeats = [write(f'{folder}/{at}.json', draw, at, **options) for at in range(n)]
    return repeats, write(f'{folder}-old.json', draw, 10, **options), \
        write(f'{folder}-new.json', draw, 12, slower, **options)


def compare(*files, **options):
    return json.loads(report('compare', '--json', *files, **options))['comparisons'][0]


def test_learnt():
    """What 20 % hides is found, and the report says from what"""
    repeats, old, new = make('learnt')
    before = compare(old, new)
    equal((before['verdict'], before['repeats']), ('unclear', None), before)
    check(0.2 <= before['resolution'] < 0.21, before)
    for form in (repeats, [FOLDER / 'learnt']):
        found = compare(old, new, '--repeats', *form)
        equal(found['verdict'], 'slower', found)
        check(found['resolution'] < 0.03 and found['ratio_low'] > 1, found)
        equal(found['resolution_why'], 'this machine, by 8 repeats over 7 days,', found)
        learnt = found['repeats']
        equal([learnt[key] for key in ('sittings', 'programs', 'df', 'seconds', 'steady', 'steps')],
              [8, 1, 7, 7 * 86400, None, None], found)
        check(0.001 < learnt['deviation'] < 0.008, found)
        check(learnt['runs_p'] < found['p'] < 0.05, found)
    # --repeats with '=' and several times, and before an option.
    equal(compare(old, new, f'--repeats={repeats[0]}', *repeats[1:4], '--repeats', *repeats[4:], '--sort', 'name'),
          found, 'other ways to name them')
    text = report('compare', '-v', old, new, '--repeats', *repeats)
    check('two results of this machine, by 8 repeats over 7 days, may differ by this much\n' in text, text)
    check('  tests      repeats p ' in text and ', Mann-Whitney p < 0.0001, ' in text, text)
    check('; but for the repeats as if runs were independent\n' in text, text)
    check('  verdict    slower\n' in text, text)


def test_few():
    """Few repeats leave more open, and the report says what to do"""
    repeats, old, new = make('few', slower=0.015)
    found = {n: compare(old, new, '--repeats', *repeats[:n]) for n in (2, 3, 8)}
    equal([each['repeats']['df'] for each in found.values()], [1, 2, 7], found)
    equal(found[2]['verdict'], 'unclear', found)
    check(found[2]['unclear'].startswith('measured one after the other, which shows nothing below about '), found)
    equal(found[2]['remedy'], 'give results of more sittings (--repeats), or measure both in turn (runpinned '
          '--baseline)', found)
    # Student's t with 1 degree of freedom, of the difference of two sittings.
    share = math.expm1(12.7062 * math.sqrt(2) * found[2]['repeats']['deviation'])
    check(abs(found[2]['resolution'] / share - 1) < 1e-4, found)
    equal(compare(old, new, '--repeats', repeats[0],
                  says='warning: --repeats: nothing is learnt for x: one sitting of it counts, and it takes two')
          ['repeats'], None, 'a single one')


def test_forms():
    """The table, Markdown, CSV, JUnit and the gate go by the same"""
    _, old, new = make('forms', names=('x', 'y'), slower=0.04)
    folder = ('--repeats', FOLDER / 'forms')
    for form in '--table', '--markdown':
        equal((report('compare', form, old, new).count('unclear'), report('compare', form, old, new, *folder)
               .count('slower')), (2, 2), form)
    row = next(csv.DictReader(io.StringIO(report('compare', '--csv', old, new, *folder))))
    found = compare(old, new, *folder)
    equal((float(row['resolution']), row['verdict']), (found['resolution'], 'slower'), row)
    check('by 8 repeats over 7 days,' in report('compare', '--format', 'junit', old, new, *folder), 'JUnit')
    report('compare', '--fail-slower', 1, old, new)
    report('compare', '--fail-slower', 1, old, new, *folder, status=3, says='x is slower by more than 1 %: +')
    # The interval holds the limit: a gate cannot tell.
    report('compare', '--fail-slower', 4, '--fail-unclear', old, new, *folder, status=3,
           says='unclear for 2 of 2 benchmarks whether they are slower by more than 4 %')
    report('compare', '--fail-slower', 20, '--fail-unclear', old, new, *folder)
    report('compare', '--fail-slower', 20, '--fail-unclear', old, new, status=3)
    found = compare('--fail-slower', 1, old, new, *folder, status=3)
    equal((found['fails'], found['gate']), (True, 'fails'), found)
    check(1.01 < found['gate_low'] <= found['ratio_low'], found)


def test_other():
    """Repeats of other machines, settings and times do not count, and that is said"""
    draw = random.Random(4)
    repeats, old, new = make('other', n=4)
    for key, value in (('hostname', 'other'), ('cpu_model_name', 'Epyc'), ('quiesce_governor', 'powersave'),
                       ('quiesce_kernel', '6.1'), ('quiesce_isolated', '3')):
        other = write('odd.json', draw, 5, **{key: value})
        common = {} if key != 'quiesce_isolated' else {'quiesce_isolated': '2-3'}
        if common:
            repeats, old, new = make('other', n=4, **common)
        found = compare(old, new, '--repeats', *repeats, other,
                        says=f'warning: --repeats: {other} does not count: it was measured differently, {key}: ')
        equal(found['repeats']['sittings'], 4, key)
    repeats, old, new = make('other', n=4)
    undated = write('odd.json', draw, 5, dated=False)
    found = compare(old, new, '--repeats', *repeats, undated,
                    says=f'{undated} does not count: it does not tell when it was measured')
    equal(found['repeats']['sittings'], 4, 'without dates')
    near = write('odd.json', draw, 1 + 1 / 24)
    found = compare(old, new, '--repeats', *repeats, near,
                    says='1 sitting does not count: it began less than 12 hours after another one, and what is '
                    'compared is farther apart')
    equal(found['repeats']['sittings'], 4, 'an hour after another one')
    # What was measured differently, is not judged by repeats of one of them.
    other = write('odd.json', draw, 13, 0.03, quiesce_governor='powersave')
    found = compare(old, other, '--repeats', *repeats,
                    says='nothing is learnt for x: the two were measured differently')
    equal((found['repeats'], found['resolution_why']), (None, 'machines or measurements that differ'), found)
    # Another version of Python is another program, and no other way to measure.
    repeats, old, _ = make('other', n=4, python_version='3.13')
    new = write('odd.json', draw, 13, 0.1, python_version='3.14')
    found = compare(old, new, '--repeats', *repeats)
    equal((found['repeats']['sittings'], found['verdict']), (4, 'slower'), found)


def test_own():
    """A folder may hold OLD and NEW, and a file may be named twice"""
    repeats, old, new = make('own', n=4)
    for each in old, new:
        shutil.copy(each, FOLDER / 'own')
    found = compare(old, new, '--repeats', FOLDER / 'own', repeats[0],
                    says=f'{FOLDER}/own/own-new.json does not count: it is what is judged')
    equal(found['repeats']['sittings'], 5, 'with OLD, without NEW')
    with new.open(encoding='utf-8') as stream:
        compare(old, new, '--repeats', *repeats, '-', stdin=stream,
                says='--repeats: standard input does not count: it is what is judged')
    shutil.rmtree(FOLDER / 'own')


def test_merged():
    """The sittings of a merged file are repeats"""
    repeats, old, new = make('merged', n=5)
    merged = FOLDER / 'all.json'
    report('merge', '-o', merged, *repeats)
    equal(compare(old, new, '--repeats', merged), compare(old, new, '--repeats', *repeats), 'merged')
    other = write('odd.json', random.Random(1), 6, quiesce_governor='powersave')
    report('merge', '-o', merged, *repeats, other)
    equal(compare(old, new, '--repeats', merged,
                  says=f'{merged} does not count: it does not tell quiesce_governor for all of its sittings')
          ['repeats'], None, 'of two governors')


def test_programs():
    """Programs are told apart by their commit"""
    draw = random.Random(6)
    _, old, new = make('programs', n=0)
    files = [write(f'programs-{at}.json', draw, at, 0.5 * (at % 2), commit_id='ab'[at % 2]) for at in range(8)]
    found = compare(old, new, '--repeats', *files)
    equal([found['repeats'][key] for key in ('sittings', 'programs', 'df')], [8, 2, 6], found)
    check(found['resolution'] < 0.04, found)
    # A history of commits: what they changed is in it.
    files = [write(f'programs-{at}.json', draw, at, 0.002 * at, commit_id=str(at)) for at in range(8)]
    found = compare(old, new, '--repeats', *files)
    equal([found['repeats'][key] for key in ('sittings', 'programs', 'df')], [8, 8, 7], found)
    check('by 8 repeats of 8 programs over 7 days,' in report('compare', old, new, '--repeats', *files), found)


def test_steps():
    """A level that changes is said"""
    draw = random.Random(6)
    files = [write(f'steps-{at}.json', draw, at, 0.05 * (at >= 10)) for at in range(20)]
    old, new = (write(f'steps-{name}.json', draw, day) for name, day in (('old', 30), ('new', 31)))
    found = compare(old, new, '--repeats', *files)
    equal(found['repeats']['steady'], False, found)
    check(found['repeats']['steps'].endswith(' from 2026-11-11 on'), found)
    text = report('compare', old, new, '--repeats', *files)
    check(' from 2026-11-11 on: if the program was another one before, leave those out\n' in text, text)
    equal(compare(old, new, '--repeats', *files[10:])['repeats']['steady'], None, 'too few to tell')


def test_results():
    """Several results of each that were not measured by turns"""
    draw = random.Random(8)
    repeats = [write(f'results-{at}.json', draw, at) for at in range(8)]
    old = [write(f'results-old{at}.json', draw, 20 + at) for at in range(5)]
    new = [write(f'results-new{at}.json', draw, 30 + at, 0.05) for at in range(5)]
    before = compare('--old', *old, '--new', *new)
    equal((before['design'], before['verdict']), ('results in sequence', 'unclear'), before)
    found = compare('--old', *old, '--new', *new, '--repeats', *repeats, *old)
    equal((found['verdict'], found['repeats']['sittings']), ('slower', 13), found)
    found = compare('--old', *old, '--new', *new, '--repeats', *repeats, *new, says=f'{new[4]} does not count')
    equal(found['repeats']['sittings'], 8, 'none of NEW')
    # By turns, it takes none.
    mixed = [write(f'results-mixed{at}.json', draw, 20 + at / 5, 0.05 * (at % 2)) for at in range(10)]
    found = compare('--old', *mixed[::2], '--new', *mixed[1::2], '--repeats', *repeats,
                    says='warning: --repeats changes nothing: it is for what was measured one after the other')
    equal((found['repeats'], found['verdict']), (None, 'slower'), found)


def test_use():
    """Wrong use"""
    repeats, old, new = make('use', n=2)
    report('compare', '--repeats', *repeats, old, new, status=2,
           says='no file is named before --repeats, which takes all behind it')
    report('show', old, '--repeats', *repeats, status=2, says='show does not take --repeats')
    report('compare', old, new, '--repeats', FOLDER / 'none', status=1, says='none: No such file or directory')
    report('compare', '-', new, '--repeats', '-', status=2, says='standard input can be read only once')
    check('--repeats FILE...' in report('compare', '--help'), '--help')


if __name__ == '__main__':
    try:
        run_tests((function.__doc__, function) for function in (
            test_learnt, test_few, test_forms, test_other, test_own, test_merged, test_programs, test_steps,
            test_results, test_use))
    finally:
        shutil.rmtree(FOLDER)
