#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where runpinned gets no memory, it ends what it has begun before it ends itself: hooks that are due are
run once, nothing is left running, and the guardian of --quiesce has put the machine back. On a described
machine, whose guardian only notes that it has been there.

    test_ending.py N SEED    N allocations that fail, out of all of runpinned's; 0: each of them
"""

import os
import pathlib
import random
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'machine'))
from machine import Failed, Setter, be_alone, check, equal, run_tests  # noqa: E402

RUNPINNED = os.environ['RUNPINNED']
MACHINE = 'amd-smt'
CPU = min(os.sched_getaffinity(0))
# It says that everything is done, and puts back what it has done when its standard input ends. What it is
# asked later, it says at once.
GUARDIAN = """#!/bin/sh
[ "$1" = hold ] || exec printf 'noise: less\\n'
echo quiet >>{log}
printf 'noise: less\\n\\001'
cat >/dev/null
echo back >>{log}
"""
PARTS = 'runpinned', 'runpinned-launcher', 'runpinned-floor'
# What begins something, and what ends it.
HOOKS = {'setup': 'cleanup', 'prepare': 'conclude'}


class Measurement:
    """A runpinned --quiesce with all hooks, each of which is written down when it is run."""

    def __init__(self, setter):
        self.setter = setter
        self.log = setter.run_directory / 'log'
        self.state = setter.run_directory / 'state'
        (setter.run_directory / 'quiesce').mkdir()
        target = setter.run_directory / 'quiesce/target'
        target.write_text(f'QUIESCE_TARGET=1\nBOOT_ID={Setter.BOOT_ID}\nCPUS={CPU}\n', encoding='utf-8')
        target.chmod(0o644)
        folder = setter.run_directory / 'bin'
        folder.mkdir()
        for part in PARTS:
            shutil.copy(pathlib.Path(RUNPINNED).with_name(part), folder)
        guardian = folder / 'benchmark-target'
        guardian.write_text(GUARDIAN.format(log=self.log), encoding='utf-8')
        guardian.chmod(0o755)

    def run(self, **environment):
        """The result, what was done, and the names of the processes that are left."""
        self.log.write_text('', encoding='utf-8')
        shutil.rmtree(self.state, ignore_errors=True)
        hooks = [word for hook in (*HOOKS, *HOOKS.values()) for word in (f'--{hook}', f'echo {hook} >>{self.log}')]
        preloaded = f'{os.environ["ALLOWED"]}:{os.environ["FAILING_MALLOC"]}'
        variables = {'LD_PRELOAD': preloaded, 'FAIL_ALLOC_OF': 'runpinned', 'XDG_STATE_HOME': self.state,
                     **environment}
        result = self.setter.box.run(
            'env', *(f'{name}={value}' for name, value in variables.items()), '/run/bin/runpinned', '--quiesce',
            '-c', CPU, '-n', '2', '-w', '1', *hooks, '/bin/true', allowed='0-15', root=True)
        left = [name for name in names_of_processes() if name.startswith(('quiesce-', 'runpinned', 'benchmark-t'))]
        return result, self.log.read_text(encoding='utf-8').split(), left

    def count(self):
        """How many allocations there are where none fails."""
        counted = self.setter.run_directory / 'count'
        result, done, left = self.run(FAIL_ALLOC_COUNT=counted)
        equal(result.returncode, 0, f'status where nothing fails ({result.stderr})')
        equal(done, ['quiet', 'setup', *['prepare', 'conclude'] * 3, 'cleanup', 'back'], 'what was done')
        equal(left, [], 'left')
        return int(counted.read_text(encoding='utf-8'))


def names_of_processes():
    for entry in pathlib.Path('/proc').iterdir():
        try:
            if entry.name.isdigit():
                yield (entry / 'comm').read_text(errors='replace').strip()
        except OSError:
            pass


def check_end(result, done, left, how):
    # The reader of libsensors' configuration ends the program by itself, in its own words.
    of_library = 'out of dynamic memory in yy' in result.stderr or 'flex scanner failed' in result.stderr
    check(result.returncode in (0, 1) or of_library, f'status {result.returncode}')
    check(result.returncode == 0 or of_library or 'runpinned: ' in result.stderr, 'no message')
    equal(left, [], 'left')
    if 'quiet' in done:
        equal(done[-1], 'back', 'the last of all')
    equal(done.count('back'), done.count('quiet'), 'guardians that have put it back')
    check(done.count('cleanup') <= 1, 'cleanup is run twice')
    for first, last in HOOKS.items():
        # That a hook could not be run, because its shell got no environment, is said.
        if how == 'once' and not any(f"--{hook} 'echo" in result.stderr for hook in (first, last)):
            equal(done.count(last), done.count(first), f'{last} after {first}')


def fail(how, n, draw):
    with Setter(RUNPINNED, MACHINE, allowed='0-15') as setter:
        measurement = Measurement(setter)
        numbers = range(1, measurement.count() + 1)
        ended = 0
        for number in sorted(draw.sample(numbers, n)) if n else numbers:
            outcome = measurement.run(FAIL_ALLOC_AT=number, FAIL_ALLOC_FOREVER=int(how == 'forever'))
            try:
                check_end(*outcome, how)
            except Failed as error:
                raise Failed(f'{number} of {len(numbers)}: {error}\n{outcome[1]}\n{outcome[0].stderr}') from error
            ended += 'quiet' in outcome[1] and 'out of memory' in outcome[0].stderr
        check(ended > 0, 'memory has never ended while the machine was quiet')
        print(f'# {len(numbers)} allocations, ended without memory while the machine was quiet: {ended}')


def main():
    n, seed = map(int, sys.argv[1:])
    draw = random.Random(seed)
    print(f'# seed {seed}')
    run_tests(((f'an allocation fails {how}: all that was begun ends', lambda how=how: fail(how, n, draw))
              for how in ('once', 'forever')), campaign=True)


be_alone()
main()
