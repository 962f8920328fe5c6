# SPDX-License-Identifier: GPL-2.0-or-later
"""What benchmarks beside other tools share: running commands, and finding or installing them."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 600  # seconds, for one command


class Missing(Exception):
    """Why a tool cannot take part."""


def run(command, **options):
    result = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=TIMEOUT, check=False, **options)
    if result.returncode != 0:
        last = (result.stderr.strip() or result.stdout.strip() or 'no message').split('\n')[-1]
        raise Missing(f'{pathlib.Path(command[0]).name} failed ({result.returncode}): {last}')
    return result


def find(name):
    path = shutil.which(name)
    if not path:
        raise Missing('not installed')
    return path


def cache_of(name):
    """What is installed, or fetched, stays in a folder of its own below a cache directory."""
    return pathlib.Path(os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache') / 'quiesce' / name


def install(package):
    """The folder of the programs of a package of PyPI, in a virtual environment of its own below a
    cache directory."""
    venv = cache_of(package)
    if not (venv / 'complete').exists():
        print(f'installing {package} into {venv}', file=sys.stderr)
        try:
            run([sys.executable, '-m', 'venv', '--clear', venv])
            run([venv / 'bin/python', '-m', 'pip', 'install', '--quiet', package])
            (venv / 'complete').touch()
        except OSError as error:
            raise Missing(f'not installed, and no place for it: {error}') from error
        except Missing as reason:
            raise Missing(f'not installed, and cannot be: {reason}') from reason
    return venv / 'bin'


def clone(name, url, tag=None):
    """The folder of a repository, at a tag if there is one, below a cache directory."""
    folder = cache_of(name)
    if not folder.exists():
        print(f'cloning {url} into {folder}', file=sys.stderr)
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            run(['git', 'clone', '--quiet', '--depth=1', *([f'--branch={tag}'] if tag else []), url, folder])
        except (OSError, Missing) as reason:
            raise Missing(f'not here, and cannot be cloned: {reason}') from reason
    return folder


def find_pyperf():
    """The command that runs pyperf, installed into a cache directory if need be."""
    # The second one is what ./bootstrap test keeps.
    for python in (sys.executable, HERE.parent / 'build-pyperf/bin/python'):
        # Not --version, which only some releases of pyperf know.
        if pathlib.Path(python).exists() and subprocess.run(
                [python, '-c', 'import pyperf'], capture_output=True, check=False).returncode == 0:
            return [python, '-m', 'pyperf']
    return [install('pyperf') / 'python', '-m', 'pyperf']


def perf_stat(runs):
    """The command that measures so many runs of what follows. Without an event of its own choice it opens hardware
    events, which virtual machines lack."""
    return [find('perf'), 'stat', '-r', runs, '--table', '-e', 'task-clock']


def perf_stat_times(result, runs):
    """What it has found, in seconds."""
    times = [float(value) for value in re.findall(r'^\s+(\d+\.\d+) \([+-]', result.stderr, re.MULTILINE)]
    if len(times) != runs:
        raise Missing(f'its table has {len(times)} of {runs} runs')
    return times


def percentile(values, percent):
    """Nearest rank."""
    return sorted(values)[max(0, -(-len(values) * percent // 100) - 1)]


def progress(text):
    """On a terminal, what is being done; '' at the end."""
    if sys.stderr.isatty():
        print(f'\r\033[K{text}', end='', file=sys.stderr, flush=True)


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError('must be at least 1')
    return value
