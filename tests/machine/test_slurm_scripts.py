#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/slurm/quiesce-slurm, with what slurmd hands to it and programs that stand in for Slurm's and
ours: who asks for quiet, and what strange values do. With the real Slurm: tests/slurm."""

import pathlib
import subprocess
import tempfile

from machine import check, equal, run_tests

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / 'contrib/slurm/quiesce-slurm'
PROGRAMS = {
    'benchmark-target': 'echo "$@" >>{top}/calls; exit $(cat {top}/status)',
    'squeue': 'cat {top}/jobs',
    'scontrol': 'printf "%s|" scontrol "$@" >>{top}/calls; echo >>{top}/calls',
    'scancel': 'echo scancel "$@" >>{top}/calls',
    'pgrep': 'exit 1',
    'logger': ':',
    'setsid': 'echo guard >>{top}/calls',
}
# SLURM_JOB_CONSTRAINTS, and whether that asks for quiet.
WORDS = (
    ('quiet', True), ('quiet&fast', True), ('fast&quiet', True), ('fast|quiet', True),
    ('[quiet|fast]', True), ('[a*2&quiet*4]', True), ('(a|b)&(quiet)', True), ('quiet,fast', True),
    ('', False), ('quieter', False), ('unquiet', False), ('no-quiet&fast', False), ('quiet_amd', False),
    ('QUIET', False), ('*', False), ('$(touch {top}/evil)', False), ('`touch {top}/evil`', False),
    ('a\nquiet\nb', False), ('; touch {top}/evil; quiet', False),
)


class Node:
    def __enter__(self):
        self.holder = tempfile.TemporaryDirectory(prefix='slurm.')
        self.top = pathlib.Path(self.holder.name)
        self.calls = self.top / 'calls'
        (self.top / 'bin').mkdir()
        for name, text in PROGRAMS.items():
            path = self.top / 'bin' / name
            path.write_text(f'#!/bin/sh\n{text.format(top=self.top)}\n')
            path.chmod(0o755)
        text = SCRIPT.read_text()
        for old, new in (('\nPATH=', f'\nPATH={self.top}/bin:'),
                         ('\ndirectory=/run/quiesce\n', f'\ndirectory={self.top}/run\n')):
            check(old in text, f'{old!r} is not in the script')
            text = text.replace(old, new, 1)
        self.script = self.top / 'quiesce-slurm'
        self.script.write_text(text)
        self.record = self.top / 'run/slurm-job'
        self.prepare()
        return self

    def __exit__(self, *_):
        self.holder.cleanup()

    def prepare(self, jobs='17 NO 17\n', status=0):
        self.calls.write_text('')
        (self.top / 'jobs').write_text(jobs)
        (self.top / 'status').write_text(f'{status}\n')

    def run(self, *arguments, **env):
        """As slurmd does, without a PATH."""
        done = subprocess.run(['/bin/bash', self.script, *arguments], env={
            'SLURM_JOB_ID': '17', 'SLURMD_NODENAME': 'n1', **env}, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=60, check=False)
        check(not (self.top / 'evil').exists(), f'{env}: was run')
        return done.returncode, self.calls.read_text(), done.stderr


def test_words():
    """Whole words of the constraints ask for quiet; nothing of them is run"""
    with Node() as node:
        for words, wanted in WORDS:
            node.prepare()
            status, calls, said = node.run('prolog', SLURM_JOB_CONSTRAINTS=words.format(top=node.top))
            equal((status, calls), (0, 'make-quiet\nguard\n' if wanted else ''), f'{words!r} ({said})')
            node.prepare()
            equal(node.run('epilog')[:2], (0, 'put-back\n' if wanted else ''), f'Epilog of {words!r}')
            check(not node.record.exists(), 'a record is left')


def test_strange_values():
    """A job or a node that cannot be Slurm's is refused"""
    with Node() as node:
        for env in ({'SLURM_JOB_ID': value} for value in ('', '-1', '17;id', '../x', '12345678901', '1 2')):
            for verb in 'prolog', 'epilog':
                status, calls, said = node.run(verb, SLURM_JOB_CONSTRAINTS='quiet', **env)
                equal((status, calls), (1, ''), f'{env}: {said}')
        status, calls, _ = node.run('prolog', SLURM_JOB_CONSTRAINTS='quiet', SLURMD_NODENAME='n1 State=DOWN')
        equal((status, calls), (1, ''), 'a node')
        for arguments in ((), ('guard', '1', '2'), ('nothing', )):
            equal(node.run(*arguments)[0], 2, f'status of {arguments}')


def test_not_alone():
    """The job is cancelled by the name that is its own; where Slurm does not tell, the Prolog fails"""
    with Node() as node:
        node.prepare(jobs='16 OK 16_1\n17 OK 16_2\n')
        status, calls, _ = node.run('prolog', SLURM_JOB_CONSTRAINTS='quiet')
        equal(status, 0, 'status')
        check(calls.endswith('scancel 16_2\n') and 'make-quiet' not in calls, calls)
        node.prepare(jobs='171 NO 171\n')
        status, calls, _ = node.run('prolog', SLURM_JOB_CONSTRAINTS='quiet')
        equal((status, calls), (1, ''), 'an unknown job')


def test_failures():
    """What fails drains the node; the record stays until all is put back"""
    drained = 'scontrol|update|NodeName=n1|State=DRAIN|Reason=quiesce: '
    with Node() as node:
        node.prepare(status=1)
        status, calls, _ = node.run('prolog', SLURM_JOB_CONSTRAINTS='quiet')
        equal(status, 1, 'Prolog')
        check(f'{drained}the machine cannot be made quiet' in calls and node.record.exists(), calls)
        node.prepare(status=3)
        equal(node.run('epilog')[0], 1, 'Epilog')
        check(drained in node.calls.read_text() and node.record.exists(), node.calls.read_text())
        # Of another job: the Epilog leaves it, and the guard while that job is here.
        node.prepare(jobs='17 NO 17\n')
        equal(node.run('epilog', SLURM_JOB_ID='18')[:2], (0, ''), 'Epilog of another job')
        equal(node.run('check')[:2], (0, ''), 'the job is here')
        node.prepare(jobs='171 NO 171\n')
        equal(node.run('check')[:2], (0, 'put-back\n'), 'the job is gone')
        check(not node.record.exists(), 'a record is left')
        # Quiet by somebody else.
        node.prepare(status=3)
        equal(node.run('prolog', SLURM_JOB_CONSTRAINTS='quiet')[:2], (0, 'make-quiet\n'), 'quiet already')
        check(not node.record.exists(), 'a record is left')


TESTS = (test_words, test_strange_values, test_not_alone, test_failures)

if __name__ == '__main__':
    run_tests((test.__doc__, test) for test in TESTS)
