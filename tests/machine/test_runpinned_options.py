#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""runpinned's options for what is around the runs: streams, hooks, shells, parameters, limits.

As in test_runs.py, whose helpers these tests use, nothing depends on how fast this machine is.
"""

import os
import re
import subprocess
import sys

import machine
from machine import check, equal
from test_runs import (CPU, RUNPINNED, SCRATCH, environment, measured, metadata, one_line, run,
                       scratch, script, tidy)


def test_input_is_read_from_its_start_by_each_run():
    data = scratch('input')
    data.write_text('x' * 4321, encoding='utf-8')
    out = scratch('counts')
    program = script('count', f'wc -c >>{out}\n')
    benchmark = measured('--input', data, '-n', 3, '-w', 1, program)
    equal(out.read_text(encoding='utf-8').split(), ['4321'] * 4, 'bytes read')
    equal(metadata(benchmark)[0]['quiesce_input'], str(data), 'quiesce_input')
    out.unlink()
    equal(metadata(measured('-n', 2, '-w', 0, program))[0]['quiesce_input'], '/dev/null', 'none')
    equal(out.read_text(encoding='utf-8').split(), ['0'] * 2, 'bytes of /dev/null')
    out.unlink()
    # Both programs read all of it, whichever runs first.
    run('--no-save', '--input', data, '-n', 2, '-w', 0, '--command', f'a={program}', '--command',
        f'b={program}')
    equal(out.read_text(encoding='utf-8').split(), ['4321'] * 4, 'bytes read by two programs')


def test_input_that_cannot_be_read_again():
    fifo = scratch('fifo')
    os.mkfifo(fifo)
    one_line(run('--no-save', '--input', fifo, 'true'), 1, str(fifo), 'from its start')
    one_line(run('--no-save', '--input', SCRATCH.name, 'true'), 1, SCRATCH.name, 'directory')
    one_line(run('--no-save', '--input', '/nowhere', 'true'), 1, '/nowhere', 'No such file')


def test_unread_standard_input_is_told():
    command = [RUNPINNED, '-c', CPU, '-q', '-n', '1', '-w', '0', '--no-save', '--evidence', 'none']
    data = scratch('unread')
    data.write_text('data\n', encoding='utf-8')

    def told(*more, **options):
        result = subprocess.run([*command, *more, 'cat'], capture_output=True, text=True,
                                env=environment(), check=True, timeout=60, **options)
        return [line for line in result.stderr.splitlines() if 'standard input' in line]

    with open(data, encoding='utf-8') as stream:
        equal(len(told(stdin=stream)), 1, 'a file')
        check('/dev/stdin' in told(stdin=stream)[0], 'what to type')
        equal(told('--input', '/dev/stdin', stdin=stream), [], 'a file that is read')
    equal(len(told(input='data')), 1, 'a pipe')
    equal(told('--input', '/dev/null', input='data'), [], 'nothing, as asked for')
    equal(told(stdin=subprocess.DEVNULL), [], 'nothing')


def test_output_goes_to_a_file_that_each_run_finds_empty():
    out = scratch('output')
    out.write_text('of old\n' * 1000, encoding='utf-8')
    sizes = scratch('sizes')
    program = script('write', f'stat -c %s {out} >>{sizes}; echo $$\n')
    benchmark = measured('--stdout', out, '-n', 3, '-w', 0, program)
    equal(sizes.read_text(encoding='utf-8').split(), ['0'] * 3, 'sizes before each run')
    check(re.fullmatch(r'\d+\n', out.read_text(encoding='utf-8')), 'the output of the last run')
    equal(metadata(benchmark)[0]['quiesce_output'], str(out), 'quiesce_output')
    one_line(run('--no-save', '--stdout', '/nowhere/x', 'true'), 1, '/nowhere/x')
    one_line(run('--no-save', '--stdout', out, '--input', out, 'true'), 1, 'same file')
    one_line(run('--no-save', '--stdout', SCRATCH.name, 'true'), 1, SCRATCH.name)


def test_output_goes_through_a_pipe():
    kind = scratch('kind')
    # More than a pipe holds, so somebody has to read.
    program = script('pipe', f'echo $(readlink /proc/$$/fd/1) >>{kind}; head -c 300000 /dev/zero\n')
    benchmark = measured('--stdout=pipe', '-n', 3, '-w', 0, program)
    equal(metadata(benchmark)[0]['quiesce_output'], 'pipe', 'quiesce_output')
    kinds = kind.read_text(encoding='utf-8').split()
    equal(len(kinds), 3, 'runs')
    check(all(kind.startswith('pipe:') for kind in kinds), f'what they find: {kinds}')
    kind.unlink()
    measured('--stdout=null', '-n', 1, '-w', 0, program)
    equal(kind.read_text(encoding='utf-8'), '/dev/null\n', 'null')


TESTS = [(name[5:].replace('_', ' '), function) for name, function in list(globals().items())
         if name.startswith('test_')]

if __name__ == '__main__':
    # `test_runpinned_options.py WORD...` runs the tests whose names contain one of the words.
    if len(sys.argv) > 1:
        TESTS = [test for test in TESTS if any(word in test[0] for word in sys.argv[1:])]
    machine.run_tests((name, tidy(function)) for name, function in TESTS)
