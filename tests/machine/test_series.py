#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How bench/figures redraws recorded series (bench/series.py), on made ones whose truth is known."""

import copy
import json
import pathlib
import random
import shutil
import sys
import tempfile

from machine import HERE, bench_report, check, equal, run_tests

sys.path.insert(0, str(HERE.parents[1] / 'bench'))
import series  # noqa: E402 pylint: disable=wrong-import-position

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix='series.'))
ROUNDS, DRAWN = 16, 10
SIDES = ('baseline', 'same', 'more')


def hosted(draw, rounds=ROUNDS, between=0.02, within=0.01):
    """A result of three programs in turn, the third of which takes 5 % more; processes differ from each other, and a round
    from the other. Each run says which one it is."""
    runs = {name: [{'warmups': [[1, 1.0]], 'metadata': {'loops': 1}}] for name in SIDES}
    for at in range(rounds):
        common = 1e-3 * draw.gauss(1, 0.05)
        for name in SIDES:
            own = common * draw.gauss(1, between) * (1.05 if name == 'more' else 1)
            values = [own * draw.gauss(1, within) for _ in range(3)]
            runs[name].append({'values': values, 'metadata': {'quiesce_event_iteration': sum(values) / 3, 'own': f'{name} {at}'}})
    return {'version': '1.0', 'benchmarks': [
        {'metadata': {'name': name, 'unit': 'second', 'quiesce_interleaved': ', '.join(SIDES), 'quiesce_order_seed': 7,
                      'quiesce_unit_iteration': 'lower, s'}, 'runs': made} for name, made in runs.items()]}


def whose(document, name):
    """(program, round) of each run that counts."""
    return [each['metadata']['own'].split() for each in series.split(series.named(document)[name]['runs'])[1]]


def test_rounds():
    """Of a series in turn rounds are drawn, none of them twice, and their order stays"""
    recorded = hosted(random.Random(1))
    before = copy.deepcopy(recorded)
    draw, seen, changed = random.Random(2), set(), 0
    for _ in range(200):
        for new, alike in (('more', False), ('same', True)):
            made = series.in_turn(recorded, 'baseline', new, DRAWN, draw, alike)
            equal(list(series.named(made)), ['baseline', new], 'programs')
            old, other = whose(made, 'baseline'), whose(made, new)
            rounds = [int(at) for _, at in old]
            equal([int(at) for _, at in other], rounds, 'rounds of both')
            equal((len(set(rounds)), sorted(rounds)), (DRAWN, rounds), 'rounds')
            equal({frozenset(pair) for pair in zip([name for name, _ in old], [name for name, _ in other])},
                  {frozenset(('baseline', new))}, 'whose')
            seen |= set(rounds)
            changed += sum(name == new for name, _ in old) if alike else 0
            check(alike or all(name == 'baseline' for name, _ in old), 'a difference is kept')
            equal([len(series.split(each['runs'])[0]) for each in made['benchmarks']], [1, 1], 'warm-ups')
    equal(seen, set(range(ROUNDS)), 'all rounds are drawn')
    check(0.4 < changed / (200 * DRAWN) < 0.6, f'{changed} are exchanged')
    equal(recorded, before, 'what was recorded')
    try:
        series.in_turn(recorded, 'baseline', 'same', ROUNDS + 1, draw, True)
    except ValueError:
        return
    check(False, 'more than there are')


def test_cut():
    """Several series of one measurement are cut apart, each with the warm-ups"""
    parts = series.cut(hosted(random.Random(1), rounds=3 * ROUNDS), 3)
    for at, part in enumerate(parts):
        for name in SIDES:
            equal(whose(part, name), [[name, str(i)] for i in range(at * ROUNDS, (at + 1) * ROUNDS)], 'rounds')
            equal(len(series.split(series.named(part)[name]['runs'])[0]), 1, 'warm-ups')


def is_part(part, whole):
    """Whether it is in it, in the same order."""
    left = iter(whole)
    return all(each in left for each in part)


def test_own_files():
    """The files of harnesses: each redrawn series has a name of its own, and values of the recorded one in its order"""
    values = list(range(100, 100 + ROUNDS))
    text = 'goos: linux\npkg: tiny\ncpu: x\n' + ''.join(f'BenchmarkA-2 \t 50\t {value} ns/op\n' for value in values) + 'PASS\n'
    lines = series.of_go(text, DRAWN, 30, random.Random(1)).splitlines()
    equal(lines[:3] + lines[-1:], ['goos: linux', 'pkg: tiny', 'cpu: x', 'PASS'], 'of Go')
    google = {'context': {'x': 1}, 'benchmarks': [
        {'name': 'BM_a', 'run_name': 'BM_a', 'run_type': 'iteration', 'repetitions': ROUNDS, 'repetition_index': at,
         'real_time': value} for at, value in enumerate(values)] + [{'name': 'BM_a_mean', 'run_type': 'aggregate', 'real_time': 1}]}
    google = series.of_google(google, DRAWN, 30, random.Random(1))
    equal(google['context'], {'x': 1}, 'of google/benchmark')
    pyperf = {'version': '1.0', 'metadata': {'name': 'a', 'unit': 'second'}, 'benchmarks': [
        {'runs': [{'warmups': [[1, 1.0]]}] + [{'values': [value, value + 0.5]} for value in values]}]}
    pyperf = series.named(series.of_pyperf(pyperf, DRAWN, 30, random.Random(1)))
    for at in range(30):
        found = {
            'go': [int(line.split()[2]) for line in lines if line.startswith(f'BenchmarkR{at}-2 ')],
            'google': [each['real_time'] for each in google['benchmarks'] if each['name'] == f'R{at}'],
            'pyperf': [each['values'][0] for each in series.split(pyperf[f'R{at}']['runs'])[1]]}
        for name, drawn in found.items():
            check(len(drawn) == DRAWN and is_part(drawn, values), f'{name}: {drawn}')
        equal(len(pyperf[f'R{at}']['runs']), DRAWN + 1, 'the calibration stays')
        equal([each['repetition_index'] for each in google['benchmarks'] if each['name'] == f'R{at}'], list(range(DRAWN)), 'index')
    equal(len({tuple(each['real_time'] for each in google['benchmarks'] if each['name'] == f'R{at}') for at in range(30)}), 30,
          'series that differ')


def claims(kind, recorded, redraws, draw):
    path = FOLDER / 'redrawn.json'
    found = []
    for _ in range(redraws):
        path.write_text(json.dumps(series.in_turn(recorded, 'baseline', kind, DRAWN, draw, kind == 'same')), encoding='utf-8')
        said, = json.loads(bench_report('compare', '--json', path))['comparisons']
        found.append((said['verdict'], said['ratio_low'], said['ratio_high']))
    return found


def test_truth():
    """Redrawn series have the truth of those that were made: little is claimed of the same, and 5 % are found"""
    draw = random.Random(4)
    same, more = [], []
    for _ in range(25):
        recorded = hosted(draw)
        same += claims('same', recorded, 12, draw)
        more += claims('more', recorded, 12, draw)
    false = sum(verdict in ('slower', 'faster') for verdict, _, _ in same)
    check(1 <= false <= 0.08 * len(same), f'{false} of {len(same)} are false')
    found = sum(verdict == 'slower' for verdict, _, _ in more)
    check(found >= 0.9 * len(more), f'{found} of {len(more)} are found')
    for what, verdicts, truth in (('same', same, 1), ('more', more, 1.05)):
        holds = sum(low <= truth <= high for _, low, high in verdicts) / len(verdicts)
        check(holds >= 0.9, f'{what}: {holds} of the intervals hold it')


if __name__ == '__main__':
    try:
        run_tests((function.__doc__, function) for function in (test_rounds, test_cut, test_own_files, test_truth))
    finally:
        shutil.rmtree(FOLDER)
