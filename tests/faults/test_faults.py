#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every system call and every allocation of a setter fails, and the machine is not lost.

    test_faults.py PART PARTS

Which setter: $KILLED. What fails, and what must hold then: faults.c. Of all cases one in $ONE_IN is
taken, chosen by $SEED. Of PARTS parts of the campaign, which take about the same time, this is number
PART, counted from 0.
"""

import itertools
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'machine'))

import machine  # noqa: E402
from machine import check, equal  # noqa: E402
from test_crash import CASES  # noqa: E402

MODES = ('apply', 'again', 'restore')


def test_mode(mode, name, arguments, prepare):
    tool = pathlib.Path(os.environ['KILLED'])
    if tool.name == 'freq-pin':
        machine.want_cpupower()
    with machine.Setter(tool, name) as setter:
        kernel = (prepare(setter.box) if prepare else None) or []
        # The tool sees only the processes of the test: it may bind threads, or look for a daemon.
        result = setter.box.run(*kernel, os.environ['FAULTS'], mode, os.environ['ONE_IN'],
                                os.environ['SEED'],
                                f'{os.environ["TIMELESS"]} {os.environ["FAILING_MALLOC"]}',
                                setter.box.root, tool, *arguments, root=True, alone=True, timeout=None)
        if result.returncode == 77:
            raise machine.Skip(result.stderr.strip())
        check(result.stdout, result.stderr)
        calls, allocations, cases, missed, failures = map(int, result.stdout.split())
        check(failures == 0, f'{failures} of {cases} cases violated\n{result.stderr}')
        equal(result.returncode, 0, result.stderr)
        # A setter that waits looks as often as the machine lets it, so that some of the last calls need not
        # come again.
        check(missed * 2 <= cases, f'the fault did not come in {missed} of {cases} cases')
        check(calls >= 20 and allocations >= 20, f'only {calls} calls, {allocations} allocations')
        return f'{calls} calls, {allocations} allocations, {cases - missed} injected, 0 violated'


def tests():
    cases = CASES[pathlib.Path(os.environ['KILLED']).name]
    for name, arguments, prepare in cases[:1] if os.environ.get('QUICK') else cases:
        for mode in MODES:
            yield (f'{mode} with faults on {name} {" ".join(arguments)}',
                   lambda mode=mode, name=name, arguments=arguments, prepare=prepare:
                   test_mode(mode, name, arguments, prepare))


if __name__ == '__main__':
    part, parts = map(int, sys.argv[1:])
    machine.run_tests(itertools.islice(tests(), part, None, parts), campaign=True)
