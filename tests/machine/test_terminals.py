#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""runpinned as a job of a shell at a terminal, and programs that have a terminal of their own.

As in test_runs.py, whose helpers these tests use, nothing depends on how fast this machine is.
"""

import json
import os
import pty
import select
import shutil
import signal
import sys
import time

import machine
from machine import Skip, check, equal
from test_runs import (CPU, PATIENCE, RUNPINNED, await_running, environment, gone, measured, metadata,
                       one_line, processes_with, run, scratch, script, tidy)


class Job:
    """runpinned, started at a terminal in a process group of its own, as a shell does it."""

    def __init__(self, *arguments, background=False):
        read, write = os.pipe()
        self.changes = os.fdopen(read)
        self.said = b''
        self.shell, self.terminal = pty.fork()
        if self.shell == 0:
            try:
                self.be_shell([RUNPINNED, '-c', CPU, *map(str, arguments)], background, write)
            finally:
                os._exit(1)
        os.close(write)
        self.pid = int(self.changes.readline())

    @staticmethod
    def be_shell(words, background, write):
        """Tells the job's number, and each change of its state."""
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            if not background:
                signal.signal(signal.SIGTTOU, signal.SIG_IGN)
                os.tcsetpgrp(0, os.getpid())
                signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.execve(words[0], words, environment(TERM='dumb'))
        os.write(write, b'%d\n' % job)
        status = 0x7f
        while os.WIFSTOPPED(status):
            status = os.waitpid(job, os.WUNTRACED)[1]
            os.write(write, b'stopped\n' if os.WIFSTOPPED(status) else b'%d\n' % os.waitstatus_to_exitcode(status))
        os._exit(0)

    def type(self, keys):
        os.write(self.terminal, keys)

    def change(self):
        """The next change: 'stopped', or the exit status as a text."""
        deadline = time.monotonic() + PATIENCE
        while True:
            ready = select.select([self.changes, self.terminal], [], [], deadline - time.monotonic())[0]
            check(ready, f'nothing happens: {self.said!r}')
            # What was said before the change is to be read first: on a busy machine both are there at once.
            if self.terminal in ready and self.hear():
                continue
            if self.changes in ready:
                return self.changes.readline().strip()

    def hear(self):
        """Whether there was something: the kernel says EIO when all have closed the terminal."""
        try:
            more = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.said += more
        return bool(more)

    def end(self):
        for pid in self.pid, self.shell:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        os.waitpid(self.shell, 0)
        os.close(self.terminal)
        self.changes.close()


def ended(job):
    """The exit status of a job that needs nobody."""
    try:
        return job.change(), job.said
    finally:
        job.end()


def find_bash():
    bash = shutil.which('bash')
    if not bash:
        raise Skip('there is no bash')
    return bash


def test_interactive_shell():
    """It would be stopped where it is not in the foreground of its terminal: it must have none."""
    bash = find_bash()
    for background in False, True:
        for options in ([], ['--show-output'], ['--stdout=terminal'], ['--shell=' + bash + ' --norc -i']):
            words = ['exit'] if '--shell' in ''.join(options) else [bash, '--norc', '-i', '-c', 'exit']
            job = Job('-q', '--no-save', '-n', 2, '-w', 0, *options, *words, background=background)
            status, said = ended(job)
            equal(status, '0', f'{options}, background {background}: {said!r}')


def test_what_is_typed_is_for_runpinned():
    """Ctrl-C ends the program by SIGTERM, as without a terminal, and the result is kept."""
    mark, told, output = f'{os.getpid()}.31', scratch('typed'), scratch('typed.json')
    program = script('typing', f'echo run >>{told}; [ $(wc -l <{told}) -gt 2 ] || exit 0\n'
                               f'trap "echo INT >>{told}" INT; trap "echo TERM >>{told}; exit" TERM\n'
                               f'sleep {mark} & wait; wait\n')
    job = Job('-q', '-n', 9, '-w', 0, '-o', output, program)
    try:
        await_running(mark)
        job.type(b'\x03')
        equal(job.change(), '130', f'status: {job.said!r}')
    finally:
        job.end()
    equal(told.read_text(encoding='utf-8').split(), ['run', 'run', 'run', 'TERM'], 'what the program gets')
    equal(len(json.loads(output.read_text(encoding='utf-8'))['benchmarks'][0]['runs']), 2, 'runs that are kept')
    check(gone(mark), 'the program lives')


def test_stopped_by_a_key():
    """Ctrl-Z stops runpinned: the run goes on to its end, and no other is begun until runpinned goes on."""
    mark, told, go = f'{os.getpid()}.32', scratch('key-told'), scratch('key-go')
    program = script('key', f'echo run >>{told}; [ -e {go} ] || sleep {mark}\n')
    job = Job('-q', '--no-save', '-n', 3, '-w', 0, '--ignore-failure', program)
    try:
        await_running(mark)
        job.type(b'\x1a')
        equal(job.change(), 'stopped', 'after Ctrl-Z')
        equal(len(processes_with(mark)), 1, 'the program goes on')
        go.touch()
        for pid in processes_with(mark):
            os.kill(pid, signal.SIGTERM)
        check(gone(mark), 'the program has not ended')
        time.sleep(0.3)
        equal(told.read_text(encoding='utf-8').split(), ['run'], 'runs while it is stopped')
        os.kill(job.pid, signal.SIGCONT)
        equal(job.change(), '0', f'status: {job.said!r}')
    finally:
        job.end()
    equal(told.read_text(encoding='utf-8').split(), ['run'] * 3, 'runs')


def test_timeout_at_a_terminal():
    """Also of a shell that gives each of its jobs a process group."""
    mark = f'{os.getpid()}.33'
    for stdout in 'null', 'terminal':
        job = Job('-q', '--no-save', '-n', 1, '-w', 0, '--timeout', '500ms', '--stdout', stdout, find_bash(), '--norc',
                  '-i', '-m', '-c', f'sleep {mark} & sleep {mark}')
        status, said = ended(job)
        equal(status, '1', said)
        check(b'--timeout' in said, said)
        check(gone(mark), 'the program lives')


LOOK = '''
import os, sys, termios
out = open(sys.argv[1], 'a')
tty = os.open('/dev/tty', os.O_RDWR)
found = [os.isatty(0), os.isatty(1), os.isatty(2), os.tcgetpgrp(tty) == os.getpgrp(), *os.get_terminal_size(1)]
mode = termios.tcgetattr(0)
print(*found, bool(mode[3] & termios.ICANON), file=out)
mode[3] &= ~(termios.ICANON | termios.ECHO)
termios.tcsetattr(0, termios.TCSANOW, mode)
termios.tcsetwinsize(0, (10, 20)) if hasattr(termios, 'tcsetwinsize') else None
# More than a terminal holds, so somebody has to read.
os.write(1, b'x' * 300000)
'''


def test_terminal_of_its_own():
    """A program such as vim waits for two seconds where its input and output are none."""
    told = scratch('own')
    benchmark = measured('--stdout=terminal', '-n', 3, '-w', 1, sys.executable, '-c', LOOK, told)
    equal([metadata(benchmark)[0][f'quiesce_{name}'] for name in ('input', 'output')], ['terminal'] * 2, 'metadata')
    lines = told.read_text(encoding='utf-8').splitlines()
    check(len(lines) >= len(benchmark['runs']), f'runs: {lines}')
    equal(set(lines), {'True True False True 80 24 True'}, 'what each run finds')
    told.unlink()
    data = scratch('own-data')
    data.write_text('12345', encoding='utf-8')
    measured('--stdout=terminal', '--input', data, '-n', 2, '-w', 0, 'sh', '-c',
             f't=none; test -t 1 && t=terminal; echo $(cat) $t >>{told}')
    equal(set(told.read_text(encoding='utf-8').splitlines()), {'12345 terminal'}, '--input')


def test_no_terminal_but_its_own():
    """The same with and without a terminal around runpinned, and with the output shown there."""
    told = scratch('none-told')
    look = script('none', f'(exec 3</dev/tty) 2>/dev/null && echo terminal >>{told} || echo none >>{told}\n')
    for options in ([], ['--show-output']):
        status, said = ended(Job('-q', '--no-save', '-n', 1, '-w', 0, *options, look))
        equal(status, '0', said)
        run('-q', '--no-save', '-n', 1, '-w', 0, *options, look)
    equal(set(told.read_text(encoding='utf-8').split()), {'none'}, 'the controlling terminal')
    one_line(run('--stdout=terminal', '--show-output', 'true'), 2, '--show-output', '--stdout')


TESTS = machine.tests_of(globals())

if __name__ == '__main__':
    # `test_terminals.py WORD...` runs the tests whose names contain one of the words.
    machine.run_tests((name, tidy(function)) for name, function in machine.named_tests(TESTS))
