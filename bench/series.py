# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded series, redrawn: smaller series out of a larger one, as often as one likes.

A series is what a harness gave of two programs. Some of it is chosen without replacement and stays in its order, so
that a redrawn series is what a shorter measurement could have been: with replacement there would be values twice, and
the chance of the series that was recorded would come on top of that of the drawing, so that a test that is right would
claim too much. What belongs together stays together: of a series in turn a round is chosen, with the runs of both
programs, and a process with all its values and its evidence.
"""

import copy
import json
import re


def choose(draw, recorded, drawn):
    """Positions, ascending."""
    if recorded < drawn:
        raise ValueError(f'{drawn} of {recorded} cannot be drawn')
    return sorted(draw.sample(range(recorded), drawn))


def named(document):
    """{name: benchmark} of a result of ours or of pyperf."""
    common = document.get('metadata', {})
    return {{**common, **benchmark.get('metadata', {})}['name']: benchmark for benchmark in document['benchmarks']}


def split(runs):
    """Runs without values, which are warm-ups and calibrations, and those that count."""
    return [each for each in runs if not each.get('values')], [each for each in runs if each.get('values')]


def cut(document, parts):
    """A result with so many times as many rounds, as results one after the other, each with all warm-ups."""
    made = []
    for part in range(parts):
        benchmarks = []
        for benchmark in document['benchmarks']:
            other, counted = split(benchmark['runs'])
            size = len(counted) // parts
            benchmarks.append({**benchmark, 'runs': other + counted[part * size:(part + 1) * size]})
        made.append({**document, 'benchmarks': benchmarks})
    return made


def in_turn(document, old, new, drawn, draw, alike):
    """A result of runpinned with these two programs alone, and of their rounds so many. Where the programs are alike,
    which of the two runs of a round is whose is drawn anew, as their order was."""
    benchmarks = named(document)
    sides = [copy.copy(benchmarks[name]) for name in (old, new)]
    parts = [split(side['runs']) for side in sides]
    counted = [part[1] for part in parts]
    if len(counted[0]) != len(counted[1]):
        raise ValueError(f'{old} and {new} have {len(counted[0])} and {len(counted[1])} runs')
    rounds = [[runs[at] for runs in counted] for at in choose(draw, len(counted[0]), drawn)]
    if alike:
        for each in rounds:
            if draw.random() < 0.5:
                each.reverse()
    for at, side in enumerate(sides):
        side['runs'] = parts[at][0] + [each[at] for each in rounds]
        side['metadata'] = {**side['metadata'], 'quiesce_interleaved': f'{old}, {new}'}
    return {**document, 'benchmarks': sides}


def of_go(text, drawn, times, draw):
    """The lines of one benchmark in a text of go test, redrawn: each time under a name of its own."""
    lines = text.splitlines()
    values = [line for line in lines if re.match(r'Benchmark\S*\s+[0-9]+\s', line)]
    made = [line for line in lines if re.match(r'[a-z]+: ', line)]
    for at in range(times):
        made += [re.sub(r'^\S+?(-[0-9]+)?(?=\s)', rf'BenchmarkR{at}\1', values[i]) for i in choose(draw, len(values), drawn)]
    return '\n'.join([*made, 'PASS', ''])


def of_google(document, drawn, times, draw):
    """The same of a file of google/benchmark."""
    values = [each for each in document['benchmarks'] if each.get('run_type', 'iteration') == 'iteration']
    made = []
    for at in range(times):
        for repetition, i in enumerate(choose(draw, len(values), drawn)):
            made.append({**values[i], 'name': f'R{at}', 'run_name': f'R{at}', 'family_index': at, 'repetitions': drawn,
                         'repetition_index': repetition})
    return {**document, 'benchmarks': made}


def of_pyperf(document, drawn, times, draw):
    """The same of a file of pyperf: processes, each with its values."""
    benchmark, = document['benchmarks']
    other, values = split(benchmark['runs'])
    return {**document, 'benchmarks': [
        {**benchmark, 'metadata': {**benchmark.get('metadata', {}), 'name': f'R{at}'},
         'runs': other + [values[i] for i in choose(draw, len(values), drawn)]} for at in range(times)]}


def read(path):
    return json.loads(path.read_text(encoding='utf-8'))


def write(path, document):
    path.write_text(json.dumps(document), encoding='utf-8')
