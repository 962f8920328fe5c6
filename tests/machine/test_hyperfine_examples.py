#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples of hyperfine in docs/from-hyperfine.md, each typed as it stands there.

The programs that they name are stand-ins that write down how they were called, and do nothing else:
the examples are about options. None of them may drop the caches of this machine, either.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import machine
from machine import check, equal

RUNPINNED = os.environ['RUNPINNED']
REPORT = os.environ['BENCH_REPORT']
PAGE = pathlib.Path(sys.argv[1])
SCRATCH = tempfile.TemporaryDirectory(prefix='hyperfine.')
CPU = str(min(os.sched_getaffinity(0)))
STANDINS = ('hexdump', 'xxd', 'make', 'gcc', 'clang', 'sudo', 'sync')
# What each of them makes at least of a program; what is typed comes later and takes its place.
RUNS = 2


def read_examples():
    """Pairs: what hyperfine's users type, and what is typed here."""
    section = PAGE.read_text(encoding='utf-8').split('## The examples of its manual\n')[1]
    pairs = []
    for line in re.sub(r'\\\n\s+', '', section.split('```text\n')[1].split('```\n')[0]).splitlines():
        if line.startswith('    '):
            pairs[-1].append(line.strip())
        else:
            pairs.append([line])
    return [tuple(pair) for pair in pairs]


class Desk:
    """A folder with the files of the examples, and the stand-ins in PATH."""

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(dir=SCRATCH.name))
        self.folder = self.root / 'work'
        self.bin = self.root / 'bin'
        self.folder.mkdir()
        self.bin.mkdir()
        self.log = self.root / 'log'
        self.log.touch()
        for name in STANDINS:
            self.add_script(self.bin / name, f'echo {name} "$@" >>{self.log}\n')
        # Some shell that has {1..10000}, whatever this machine has.
        (self.bin / 'zsh').symlink_to(shutil.which('bash'))
        # Front options: those that are typed take their place, but there can be one result alone.
        self.result = self.root / 'result.json'
        self.add_script(self.bin / 'runpinned',
                        f'case " $* " in *" -o "*) ;; *) set -- -o {self.result} "$@" ;; esac\n'
                        f'exec {RUNPINNED} -c {CPU} -n {RUNS} -w 0 --evidence none "$@"\n',
                        shell=shutil.which('bash'))
        self.add_script(self.bin / 'bench-report', f'exec {REPORT} "$@"\n')
        self.add_script(self.folder / 'prog', f'echo prog "$@" >>{self.log}; echo out of prog\n')
        (self.folder / 'file').write_text('needle: a test\n', encoding='utf-8')
        (self.folder / 'main.cpp').write_text('int main() {}\n', encoding='utf-8')

    @staticmethod
    def add_script(path, text, shell='/bin/sh'):
        """Bash for what is to hand on an exported function, which other shells drop."""
        path.write_text(f'#!{shell}\n{text}', encoding='utf-8')
        path.chmod(0o755)

    def type(self, line):
        environment = {**os.environ, 'LC_ALL': 'C', 'XDG_STATE_HOME': str(self.root),
                       'PATH': f'{self.bin}:{os.environ["PATH"]}'}
        return subprocess.run(['bash', '-c', line], cwd=self.folder, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                              check=False)

    def calls(self):
        return self.log.read_text(encoding='utf-8').splitlines()

    def benchmarks(self, path=None):
        """Names and numbers of runs, those that count and those that do not."""
        document = json.loads((path or self.result).read_text(encoding='utf-8'))
        facts = document.get('metadata', {})
        found = {}
        for one in document['benchmarks']:
            name = {**facts, **one.get('metadata', {})}['name']
            counted = sum(len(run.get('values', [])) for run in one['runs'])
            found[name] = (counted, len(one['runs']) - counted)
        return found

    def facts(self):
        document = json.loads(self.result.read_text(encoding='utf-8'))
        return {**document.get('metadata', {}), **document['benchmarks'][0].get('metadata', {})}


def each(*names, runs=RUNS, warmups=0):
    """The check that these were measured, each with as many runs."""
    def check_desk(desk, _result):
        equal(desk.benchmarks(), {name: (runs, warmups) for name in names}, 'benchmarks')
    return check_desk


def also(first, more):
    """Both checks."""
    def check_desk(desk, result):
        first(desk, result)
        more(desk, result)
    return check_desk


def called(*calls):
    return lambda desk, _result: equal(desk.calls(), list(calls), 'what was called')


def called_in_any_order(*calls):
    return lambda desk, _result: equal(sorted(desk.calls()), sorted(calls), 'what was called')


def fact(name, value):
    return lambda desk, _result: equal(desk.facts()[name], value, name)


def check_threads(desk, _result):
    equal(desk.benchmarks(), {f'make/num_threads={n}': (RUNS, 0) for n in range(1, 13)}, 'benchmarks')
    calls = desk.calls()
    equal(calls[::2], ['make clean'] * 24, 'before each')
    equal(sorted(calls[1::2]), sorted(f'make -j {n}' for n in range(1, 13) for _ in range(RUNS)), 'runs')


def check_csv(desk, _result):
    lines = (desk.folder / 'results.csv').read_text(encoding='utf-8').splitlines()
    equal(len(lines), 1 + RUNS, lines)
    check('value' in lines[0].split(','), lines[0])


def check_markdown(desk, _result):
    lines = (desk.folder / 'results.md').read_text(encoding='utf-8').splitlines()
    check(any(line.startswith('|') and 'sleep' in line for line in lines), lines)


FULL = 'my_function() { sleep 1; }; my_function'
DROP = ['sync', 'sudo tee /proc/sys/vm/drop_caches'] * RUNS
CHECKS = {
    "hyperfine 'sleep 0.3'": each('sleep'),
    "hyperfine --runs 5 'sleep 0.3'": each('sleep', runs=5),
    "hyperfine 'hexdump file' 'xxd file'": also(
        each('hexdump', 'xxd'), called_in_any_order(*['hexdump file', 'xxd file'] * RUNS)),
    "hyperfine -n old './prog 1' -n new './prog 2'": also(
        each('old', 'new'), called_in_any_order(*['prog 1', 'prog 2'] * RUNS)),
    "hyperfine --reference './prog 1' './prog 2'": also(
        each('baseline', 'prog'), called_in_any_order(*['prog 1', 'prog 2'] * RUNS)),
    "hyperfine --warmup 3 'grep -R needle *'": each('grep -R needle *', warmups=3),
    "hyperfine --prepare 'sync; echo 3 | sudo tee /proc/sys/vm/drop_caches' 'grep -R needle *'": also(
        each('grep -R needle *'), called(*DROP)),
    "hyperfine --prepare 'make clean' --parameter-scan num_threads 1 12 'make -j {num_threads}'":
        check_threads,
    "hyperfine --parameter-scan delay 0.3 0.7 -D 0.2 'sleep {delay}'":
        each('sleep/delay=0.3', 'sleep/delay=0.5', 'sleep/delay=0.7'),
    "hyperfine -L compiler gcc,clang '{compiler} -O2 main.cpp'": also(
        each('gcc', 'clang'), called_in_any_order(*['gcc -O2 main.cpp', 'clang -O2 main.cpp'] * RUNS)),
    "hyperfine --setup 'make prog' --cleanup 'make clean' './prog 1'":
        called('make prog', *['prog 1'] * RUNS, 'make clean'),
    "hyperfine --prepare 'make prog' --conclude 'make clean' './prog 1'":
        called(*['make prog', 'prog 1', 'make clean'] * RUNS),
    "hyperfine --shell zsh 'for i in {1..10000}; do echo test; done'": also(
        each('for i in {1..10000}; do echo test; done'), fact('quiesce_shell', 'zsh')),
    "hyperfine -N 'grep needle file'": each('grep'),
    'my_function() { sleep 1; }; export -f my_function; hyperfine --shell=bash my_function': also(
        each('my_function'), fact('command', 'bash -c my_function')),
    f"hyperfine '{FULL}'": each(FULL),
    "hyperfine --ignore-failure 'grep nothing file'": each('grep'),
    "hyperfine --ignore-failure=1 'grep nothing file'": each('grep'),
    "hyperfine --input file 'wc -c'": also(each('wc'), fact('quiesce_input', 'file')),
    "hyperfine --output=pipe 'grep -R needle .'": also(each('grep'), fact('quiesce_output', 'pipe')),
    "hyperfine --show-output './prog 1'":
        lambda desk, result: equal(result.stdout.count('out of prog\n'), RUNS, 'output'),
    "hyperfine --export-json results.json 'sleep 0.3'":
        lambda desk, _: equal(desk.benchmarks(desk.folder / 'results.json'), {'sleep': (RUNS, 0)}, 'file'),
    "hyperfine --export-csv results.csv 'sleep 0.3'": check_csv,
    "hyperfine --export-markdown results.md 'sleep 0.3'": check_markdown,
    "hyperfine --time-unit millisecond 'sleep 0.3'":
        lambda desk, result: check(re.search(r'median +\d+\S* ms', result.stdout), result.stdout),
    "hyperfine --min-benchmarking-time 1 'sleep 0.3'": fact('quiesce_min_time', 1),
}


def test_example(theirs, ours):
    desk = Desk()
    result = desk.type(ours)
    equal(result.returncode, 0, f'status of {ours} ({result.stderr})')
    CHECKS[theirs](desk, result)


def test_all_are_there():
    equal([theirs for theirs, _ in EXAMPLES], list(CHECKS), 'the examples of the page')


EXAMPLES = read_examples()
TESTS = [('the page has all examples', test_all_are_there),
         *((theirs, lambda theirs=theirs, ours=ours: test_example(theirs, ours))
           for theirs, ours in EXAMPLES)]

if __name__ == '__main__':
    machine.run_tests(TESTS)
