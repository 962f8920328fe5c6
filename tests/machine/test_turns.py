#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench-report compare on a file of programs that were run in turn: who ran before whom."""

import datetime
import json
import pathlib
import random
import shutil
import tempfile

from machine import bench_report as report
from machine import check, equal, run_tests

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix='turns.'))


def write(name, programs, rounds, after, left_out=()):
    """Rounds, each a list of programs in their order. `after`: by how much longer (before, program) takes."""
    draw = random.Random(5)
    runs = {program: [] for program in programs}
    at, before = datetime.datetime(2026, 11, 20, 10), None
    for order in rounds:
        for program in order:
            value = 0.02 * (1 + after.get((before, program), 0)) * (1 + draw.gauss(0, 0.005))
            runs[program].append({'values': [value], 'metadata': {
                'date': at.isoformat(sep=' ', timespec='microseconds')}})
            at, before = at + datetime.timedelta(milliseconds=100), program
    path = FOLDER / name
    path.write_text(json.dumps({'version': '1.0', 'benchmarks': [
        {'metadata': {'name': program, 'unit': 'second', 'quiesce_interleaved': ', '.join(programs),
                      'quiesce_order_seed': 7}, 'runs': made}
        for program, made in runs.items() if program not in left_out]}))
    return path


def compare(path):
    """By the name of the new program"""
    return {each['new']['name']: each
            for each in json.loads(report('compare', '--json', path))['comparisons']}


def draw_rounds(orders, n):
    draw = random.Random(3)
    return [draw.choice(orders) for _ in range(n)]


def test_innocent():
    """A program that is slowed down by what the other one leaves behind is not called slower"""
    rounds = draw_rounds((['old', 'new'], ['new', 'old']), 30)
    path = write('innocent.json', ('old', 'new'), rounds, {('old', 'new'): 0.05})
    found = compare(path)['new']
    equal(found['verdict'], 'unclear', found)
    check(found['ratio'] > 1.01, found)
    check('have a hook remove what a program leaves' in found['remedy'], found)
    text = report('compare', path)
    check('new: unclear, ' in text and 'make more runs' in text, text)
    # With a margin that the change exceeds: what the gate cannot know, it says.
    report('compare', '--fail-slower', 1, '--fail-unclear', path, status=3, says='unclear for 1 of 1 benchmarks')
    path = write('guilty.json', ('old', 'new'), rounds,
                 {(before, 'new'): 0.05 for before in ('old', 'new', None)})
    equal(compare(path)['new']['verdict'], 'slower', 'guilty')


def test_third():
    """Who ran before may be a third program, and what it leaves is not laid to the one that ran before that"""
    rounds = draw_rounds((['old', 'new', 'third'], ['new', 'third', 'old']), 40)
    after = {('third', program): 0.1 for program in ('old', 'new')}
    programs = ('old', 'new', 'third')
    equal(compare(write('third.json', programs, rounds, after))['new']['carryover'], None, 'with the third')
    # Without it in the file, nobody can know.
    found = compare(write('two.json', programs, rounds, after, ['third']))['new']
    check(found['carryover'] and found['carryover'] > 1.05, found)


if __name__ == '__main__':
    try:
        run_tests((function.__doc__, function) for function in (test_innocent, test_third))
    finally:
        shutil.rmtree(FOLDER)
