#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""benchmark-target makes a described machine quiet, and puts it back, while something fails: each of its
system calls fails once with each error that it can return, and from then on for ever (then those of the
setters, too) with one of them; and so does each allocation, with the same one of each setter that it
starts. The setters' own calls are those of test_faults.py.

    target-faults.py [--all|--sample N] [--seed N] [--at CALL,NUMBER,ERRNO,once|forever]

`make-quiet` with a failure ends with 0, or says why not; if it says no more than in peace, it has done no
less. `put-back` in peace then succeeds, and the machine is as it was. `put-back` with a failure ends with
0 and has put everything back, or says why not; then `put-back` in peace does it. Nobody is ended by a
signal, no process outlives them, and nothing but locks is left in /run/quiesce.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'machine'))
from cases import list_allocations, list_calls, read_options, run_campaign  # noqa: E402
from machine import Failed, Skip, be_alone, check, run_tests  # noqa: E402
from test_hold import begin, left_over, machine  # noqa: E402

FAULT = os.environ['MEASURE_FAULT']
MALLOC = os.environ['FAILING_MALLOC']
# Preloaded to all that is run here: the scheduler allows the machine's CPUs, and waiting takes no time.
PRELOADED = f'{os.environ["ALLOWED"]}:{os.environ["TIMELESS"]}'
EXIT_SKIP = 77
VERBS = {'make-quiet': ('make-quiet', '-c', '2'), 'put-back': ('put-back',)}


class Machine:
    """The machine, which each case leaves as it was."""

    def __init__(self, setter, folder):
        self.setter = setter
        self.report = pathlib.Path(folder, 'report')
        self.before = setter.snapshot()
        # What make-quiet says and does in peace, and that put-back undoes it.
        result = self.peacefully('make-quiet')
        self.said, self.quiet = result.stdout + result.stderr, setter.snapshot()
        self.put_back()

    def peacefully(self, verb):
        result = self.setter.run(*VERBS[verb])
        check(result.returncode == 0, f'{verb} in peace: status {result.returncode}: {result.stderr}')
        return result

    def put_back(self):
        self.peacefully('put-back')
        self.is_as_before('put-back in peace')

    def is_as_before(self, what):
        self.setter.same(self.before, f'{what}, and the machine is not as before')
        check(not left_over(self.setter), f'{what} left {left_over(self.setter)} in /run/quiesce')

    def run(self, verb, configured):
        self.setter.note_choices()
        process = begin(self.setter, *VERBS[verb], configured=configured)
        try:
            said = process.communicate(timeout=300)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        self.setter.render_choices()
        return process.returncode, said

    def inject(self, verb, *arguments):
        """What measure-fault reports, and what the command said."""
        status, said = self.run(verb, [FAULT, self.report, *arguments, '--'])
        if status == EXIT_SKIP:
            raise Skip(said.strip())
        check(status == 0, f'measure-fault: {status} {said}')
        return self.report.read_text(encoding='utf-8'), said

    def run_short_of_memory(self, verb, **environment):
        os.environ['ALLOWED'] = f'{PRELOADED}:{MALLOC}'
        try:
            return self.run(verb, ['/usr/bin/env', *(f'FAIL_ALLOC_{key}={value}'
                                                     for key, value in environment.items())])
        finally:
            os.environ['ALLOWED'] = PRELOADED

    def list_allocations(self, verb):
        if verb == 'put-back':
            self.peacefully('make-quiet')
        # Written by each process at its end, and by this one last.
        status, said = self.run_short_of_memory(verb, COUNT=self.report)
        check(status == 0, f'nothing fails, and yet: {status} {said}')
        self.put_back()
        return list_allocations(int(self.report.read_text(encoding='utf-8')))

    def list_cases(self, verb):
        if verb == 'put-back':
            self.peacefully('make-quiet')
        report, _ = self.inject(verb, '--count')
        self.put_back()
        return list_calls(report)

    def try_case(self, verb, case):
        number, failed, error, how = case
        if verb == 'put-back':
            self.peacefully('make-quiet')
        if failed == 'allocation':
            status, said = self.run_short_of_memory(verb, AT=number, FOREVER=int(how == 'forever'))
            outlived = '0'
        else:
            report, said = self.inject(verb, '0', failed, number, error, how)
            failed, status, outlived = report.split()
            status = int(status)
        try:
            check(0 <= status < 128, f'status {status}')
            check(outlived == '0', f'{outlived} processes outlived it')
            check(status == 0 or said.strip(), f'status {status} without a word')
            if status == 0 and verb == 'put-back':
                self.is_as_before('put-back with status 0')
            if status == 0 and verb == 'make-quiet' and said == self.said:
                self.setter.same(self.quiet, 'it says what it says in peace, and did less')
        except Failed as failure:
            raise Failed(f'{failed}: {failure}\n  {said.strip()[-600:]}') from failure
        finally:
            self.put_back()
        return failed != '-'


def fail(options, verb, kind, list_cases):
    with machine('small-smt', allowed='0-5') as setter, tempfile.TemporaryDirectory(prefix='faults.') as folder:
        target = Machine(setter, folder)
        return run_campaign(options, f'{verb}: {kind}', lambda: list_cases(target, verb),
                            lambda case: target.try_case(verb, case))


def main():
    options = read_options(only=VERBS)
    be_alone()
    os.environ['ALLOWED'] = PRELOADED
    kinds = {'system calls': Machine.list_cases, 'allocations': Machine.list_allocations}
    run_tests([(f'{verb}: {kind}', lambda verb=verb, kind=kind: fail(options, verb, kind, kinds[kind]))
               for verb in VERBS for kind in kinds if options.only in (None, verb)])


if __name__ == '__main__':
    main()
