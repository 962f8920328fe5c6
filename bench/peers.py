# SPDX-License-Identifier: GPL-2.0-or-later
"""What benchmarks beside other tools share: running commands, and finding or installing them."""

import argparse
import atexit
import contextlib
import fcntl
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 600  # seconds, for one command
# What a comparison is with: the newest ones of November 2026, and not those of a distribution. hyperfine 1.20 and 2.0 are
# both in use.
PYPERF, HYPERFINE, HYPERFINE_2 = '2.11.0', '1.20.0', '2.0.0'
versions = set()


class Missing(Exception):
    """Why a tool cannot take part."""


def run(command, **options):
    result = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=TIMEOUT, check=False, **options)
    if result.returncode != 0:
        lines = (result.stderr.strip() or result.stdout.strip() or 'no message').split('\n')
        # cargo says what is wrong before what would be right.
        said = next((line for line in lines if line.startswith('error')), lines[-1])
        raise Missing(f'{pathlib.Path(command[0]).name} failed ({result.returncode}): {said}')
    return result


def note_version(name, version):
    """A figure of another tool means nothing without its version: all of them are printed at the end."""
    if not versions:
        atexit.register(lambda: print(f'measured with {", ".join(sorted(versions))}'))
    versions.add(f'{name} {version}')


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
    name = package.split('=')[0]
    note_version(name, run([venv / 'bin/python', '-c',
                            f'import importlib.metadata; print(importlib.metadata.version("{name}"))']).stdout.strip())
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
    note_version(name, tag.removeprefix('v') if tag else
                 run(['git', '-C', folder, 'rev-parse', '--short', 'HEAD']).stdout.strip())
    return folder


@functools.cache
def find_go():
    go = find('go')
    note_version('Go', run([go, 'version']).stdout.split()[2].removeprefix('go'))
    return go


def note_google_benchmark(document):
    """By what a program has written that was linked with it."""
    note_version('google/benchmark', document['context'].get('library_version', 'before 1.8').removeprefix('v'))


@functools.cache
def find_pyperf():
    """The command that runs pyperf, installed into a cache directory if need be."""
    # The second one is what ./bootstrap test keeps.
    for python in (sys.executable, HERE.parent / 'build-pyperf/bin/python'):
        # Not --version, which only some releases of pyperf know.
        if pathlib.Path(python).exists() and subprocess.run(
                [python, '-c', 'import pyperf; print(pyperf.__version__)'], capture_output=True, text=True,
                check=False).stdout.strip() == PYPERF:
            break
    else:
        python = install(f'pyperf=={PYPERF}') / 'python'
    note_version('pyperf', PYPERF)
    return [python, '-m', 'pyperf']


@functools.cache
def find_hyperfine(version=HYPERFINE):
    """hyperfine of that version, compiled by cargo into a cache directory if need be."""
    program = shutil.which('hyperfine')
    if not program or run([program, '--version']).stdout.split()[-1] != version:
        folder = cache_of(f'hyperfine-{version}')
        program = folder / 'bin/hyperfine'
        if not program.exists():
            print(f'compiling hyperfine {version} into {folder}', file=sys.stderr)
            try:
                run([find('cargo'), 'install', '--quiet', '--locked', '--root', folder, f'hyperfine@{version}'])
            except (OSError, Missing) as reason:
                raise Missing(f'hyperfine {version} is not here, and cargo cannot compile it: {reason}') from reason
    note_version('hyperfine', version)
    return program


def hyperfine_command(version, runs, output):
    """What measures so many runs of each of the commands that follow, each of which is one word, and one more before."""
    return [find_hyperfine(version), '-N', '--style', 'none', '--warmup', '1', '--runs', runs, '--export-json', output]


def hyperfine_times(path):
    """A list of the times of each command that it has measured, in seconds. 2.0 has another form than those before."""
    return [result['times'] if 'times' in result else
            [each['time_wall_clock']['value'] for each in result['measurements']]
            for result in json.loads(path.read_text(encoding='utf-8'))['results']]


@functools.cache
def find_perf():
    program = find('perf')
    note_version('perf', run([program, '--version']).stdout.split()[-1])
    return program


def perf_stat(runs):
    """The command that measures so many runs of what follows. Without an event of its own choice it opens hardware
    events, which virtual machines lack."""
    return [find_perf(), 'stat', '-r', runs, '--table', '-e', 'task-clock']


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


def load():
    return ' '.join(f'{average:.2f}' for average in os.getloadavg())


def print_table(table):
    """Rows of as many cells each."""
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for row in table:
        print('  '.join(f'{cell:<{width}}' for cell, width in zip(row, widths)).rstrip(), flush=True)


def ask_verdicts(build, questions):
    """What bench/verdicts.c answers: of each question a list of (verdict, after how many pairs or p, change)."""
    said = subprocess.run([build / 'bench/verdicts'], input='\n'.join(questions) + '\n', capture_output=True, text=True,
                          timeout=10 * TIMEOUT, check=True).stdout
    made = [line.split() for line in said.splitlines()]
    return [[(words[at], float(words[at + 1]), float(words[at + 2])) for at in range(0, len(words), 3)] for words in made]


def wait_for_cpu(cpus):
    """The first that no runpinned has."""
    with contextlib.ExitStack() as stack:
        files = [os.open(f'/sys/devices/system/cpu/cpu{cpu}', os.O_RDONLY | os.O_CLOEXEC) for cpu in cpus]
        for file in files:
            stack.callback(os.close, file)
        while True:
            for cpu, file in zip(cpus, files):
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return cpu
            time.sleep(0.01)


def run_pinned(build, cpus, options):
    """runpinned, on the first of these CPUs that no other one has. Returns its exit status, which is that of a measurement, and
    the seconds, without those that it waited for the CPU."""
    while True:
        command = [build / 'src/runpinned', '-q', '--no-save', '--no-wait', '-c', wait_for_cpu(cpus), *options]
        begin = time.perf_counter()
        result = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=10 * TIMEOUT, check=False)
        seconds = time.perf_counter() - begin
        if ' is taken by ' not in result.stderr:
            break
    if result.returncode not in (0, 3, 4):
        raise Missing(f'runpinned failed ({result.returncode}): {result.stderr.strip()}')
    return result.returncode, seconds
