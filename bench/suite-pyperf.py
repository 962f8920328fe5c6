# SPDX-License-Identifier: GPL-2.0-or-later
"""The quick benchmarks of pyperformance as one script of pyperf's, which bench/suite starts: those that need no other package
and no options, and of which a loop takes less than a tenth of a second.

A worker runs the file of its benchmark alone, so that it does not import all others; the manager, which starts the workers,
runs all files with one Runner.
"""

import argparse
import importlib.util
import pathlib
import runpy
import sys

import pyperf

# The files, and how many benchmarks each has.
FILES = {'comprehensions': 1, 'coroutines': 1, 'deepcopy': 3, 'deltablue': 1, 'gc_collect': 1, 'gc_traversal': 1, 'generators': 1,
         'json_loads': 1, 'regex_v8': 1, 'sqlite_synth': 1, 'telco': 1, 'typing_runtime_protocols': 1}
FOLDER = pathlib.Path(importlib.util.find_spec('pyperformance').origin).parent / 'data-files/benchmarks'


def run(name):
    path = FOLDER / f'bm_{name}/run_benchmark.py'
    sys.path.insert(0, str(path.parent))
    runpy.run_path(str(path), run_name='__main__')
    sys.path.pop(0)


def main():
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument('--worker-task', type=int)
    wanted, rest = parser.parse_known_args()
    if wanted.worker_task is None:
        runner = pyperf.Runner()
        pyperf.Runner = lambda *_, **_options: runner
        for name in FILES:
            run(name)
        return
    tasks = [(name, task) for name, n in FILES.items() for task in range(n)]
    if wanted.worker_task < len(tasks):
        name, task = tasks[wanted.worker_task]
        sys.argv[1:] = [*rest, f'--worker-task={task}']
        run(name)


if __name__ == '__main__':
    main()
