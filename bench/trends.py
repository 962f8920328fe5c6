# SPDX-License-Identifier: GPL-2.0-or-later
"""Where histories change, by bench-report trend and by Apache Otava, each with its defaults.

A history is a list of numbers, one of each result. A change is the place of the first result of a new level.
"""

import json
import pathlib
import subprocess
import tempfile

from peers import run

TOLERANCE = 5  # a change is found when one is told within so many results of it
OTAVA = '''
import json, sys
from otava.analysis import compute_change_points
json.dump([[int(point.index) for point in compute_change_points(values)[0]]
           for values in json.load(sys.stdin)], sys.stdout)
'''


def write_files(folder, series):
    """A file for each result, with all histories that are so long."""
    for at in range(max(map(len, series))):
        result = {'version': '1.0', 'metadata': {'unit': 'second'}, 'benchmarks': [
            {'metadata': {'name': str(i)}, 'runs': [{'values': [values[at]]}]}
            for i, values in enumerate(series) if at < len(values)]}
        pathlib.Path(folder, f'{at:06}.json').write_text(json.dumps(result), encoding='utf-8')


def ours(program, series):
    with tempfile.TemporaryDirectory(prefix='trend.') as folder:
        write_files(folder, series)
        said = json.loads(run([program, 'trend', '--json', folder]).stdout)
    return [[level['first'] for level in each['levels'][1:]] for each in said['trends']]


def otava(python, series):
    return json.loads(subprocess.run([python, '-c', OTAVA], input=json.dumps(series), text=True,
                                     capture_output=True, check=True).stdout)


def count_right(found, changes):
    """Each change takes the nearest one that is told and is not taken yet."""
    free, right = set(found), 0
    for change in changes:
        near = [at for at in free if abs(at - change) <= TOLERANCE]
        if near:
            free.remove(min(near, key=lambda at, change=change: abs(at - change)))
            right += 1
    return right
