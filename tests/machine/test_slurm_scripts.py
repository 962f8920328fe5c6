#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/slurm/quiesce-slurm, with what slurmd hands to it and programs that stand in for Slurm's and
ours: who asks for quiet, and what strange values do. With the real Slurm: tests/slurm."""

import pathlib
import subprocess
import tempfile

from machine import check, equal, run_tests, wait_for

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / 'contrib/slurm/quiesce-slurm'
PROGRAMS = {
    'benchmark-target': 'echo "$@" >>{top}/calls; exit $(cat {top}/status)',
    'squeue': 'cat {top}/jobs',
    'scontrol': 'printf "%s|" scontrol "$@" >>{top}/calls; echo >>{top}/calls',
    'scancel': 'echo scancel "$@" >>{top}/calls',
    'pgrep': 'exit 1',
    'logger': ':',
    'setsid': 'echo guard >>{top}/calls',
    'systemd-run': 'printf "%s|" systemd-run "$@" >>{top}/calls; echo >>{top}/calls',
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
                         ('\ndirectory=/run/quiesce\n', f'\ndirectory={self.top}/run\n'),
                         ('\nlock_seconds=300\n', '\nlock_seconds=1\n'),
                         (' /run/systemd/system ', f' {self.top}/systemd ')):
            check(old in text, f'{old!r} is not in the script')
            text = text.replace(old, new, 1)
        self.script = self.top / 'quiesce-slurm'
        self.script.write_text(text)
        self.script.chmod(0o755)
        self.record = self.top / 'run/slurm-job'
        self.prepare()
        return self

    def __exit__(self, *_):
        self.holder.cleanup()

    def prepare(self, jobs='17 NO 17\n', status=0):
        self.calls.write_text('')
        (self.top / 'jobs').write_text(jobs)
        (self.top / 'status').write_text(f'{status}\n')

    def start(self, *arguments, **env):
        """As slurmd does, without a PATH."""
        return subprocess.Popen(['/bin/bash', self.script, *arguments], env={
            'SLURM_JOB_ID': '17', 'SLURMD_NODENAME': 'n1', **env}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)

    def run(self, *arguments, **env):
        process = self.start(*arguments, **env)
        said = process.communicate(timeout=60)[1]
        check(not (self.top / 'evil').exists(), f'{env}: was run')
        return process.returncode, self.calls.read_text(), said

    def make_record(self, job=17):
        self.record.parent.mkdir(mode=0o755, exist_ok=True)
        self.record.write_text(f'{job} n1\n')


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
        # Up by somebody else, and of no use: no put-back, which would take it from him.
        node.prepare(status=4)
        status, calls, _ = node.run('prolog', SLURM_JOB_CONSTRAINTS='quiet')
        equal((status, node.record.exists()), (1, False), 'of no use')
        check(f'{drained}the machine cannot be made quiet' in calls and 'put-back' not in calls, calls)
        # Quiet by somebody else.
        node.prepare(status=3)
        equal(node.run('prolog', SLURM_JOB_CONSTRAINTS='quiet')[:2], (0, 'make-quiet\n'), 'quiet already')
        check(not node.record.exists(), 'a record is left')


def test_locks():
    """No user can take the locks; a guard that does not get the turn tries again"""
    with Node() as node:
        node.make_record()
        node.prepare(jobs='')
        equal(node.run('check')[0], 0, 'check')
        turn = node.record.parent / 'slurm-turn'
        equal(turn.stat().st_mode & 0o777, 0o600, turn)
        node.make_record()
        with subprocess.Popen(['flock', turn, 'sh', '-c', 'echo; read _'], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as holder:
            holder.stdout.readline()
            equal(node.run('epilog')[0], 1, 'an Epilog without the turn')
            guard = node.start('guard', '0.1')
            line = guard.stderr.readline()
            check('another Prolog, Epilog or guard does not end' in line, line)
            check(node.record.exists(), 'put back without the turn')
            holder.communicate('\n')
        said = guard.communicate(timeout=60)[1]
        equal((guard.returncode, node.record.exists()), (0, False), f'the guard, and a record: {said}')
        equal((node.record.parent / 'slurm-guard').stat().st_mode & 0o777, 0o600, 'slurm-guard')


def test_one_guard():
    """Of many guards one stays, and minds whatever record there is"""
    with Node() as node:
        node.make_record()
        first = node.start('guard', '0.1')
        wait_for((node.record.parent / 'slurm-guard').exists, 'a guard')
        # Whichever of the two is the guard.
        second = node.start('guard', '0.1')
        wait_for(lambda: first.poll() is not None or second.poll() is not None, 'the end of one of them')
        over, guard = (first, second) if first.poll() is not None else (second, first)
        equal((over.communicate()[1], over.returncode), ('', 0), 'the one too many')
        node.make_record(18)
        (node.top / 'jobs').write_text('18 NO 18\n')
        equal(node.run('check')[1], '', 'the job is here')
        equal(guard.poll(), None, 'the guard')
        (node.top / 'jobs').write_text('')
        said = guard.communicate(timeout=60)[1]
        equal((guard.returncode, node.calls.read_text()), (0, 'put-back\n'), said)
        check('job 18 is gone' in said, said)


def test_guard_of_systemd():
    """systemd runs the same script for the same cluster; without the controller the guard says so once"""
    with Node() as node:
        (node.top / 'systemd').mkdir()
        status, calls, said = node.run('prolog', SLURM_JOB_CONSTRAINTS='quiet', SLURM_CONF='/a b/slurm.conf')
        equal(status, 0, said)
        check('systemd-run|' in calls and '|--unit=quiesce-slurm-17|' in calls and
              f'|--setenv=SLURM_CONF=/a b/slurm.conf|--|{node.script}|guard|\n' in calls, calls)
        (node.top / 'bin/squeue').write_text(
            f'#!/bin/sh\necho >>{node.top}/asked\necho "squeue: error: no such cluster" >&2\nexit 1\n')
        guard = node.start('guard', '0.1')
        asked = node.top / 'asked'
        wait_for(lambda: asked.exists() and len(asked.read_text()) >= 3, 'three questions')
        check(node.record.exists(), 'put back')
        node.record.unlink()
        equal((guard.communicate(timeout=60)[1], guard.returncode), (
            'quiesce-slurm: the controller does not tell of job 17: squeue: error: no such cluster\n', 0), 'guard')


def test_suspended():
    """A machine that is quiet for a job that is still here stays quiet; a requeued job is the same job"""
    with Node() as node:
        node.make_record(16)
        node.prepare(jobs='16 NO 16\n17 NO 17\n')
        status, calls, said = node.run('prolog', SLURM_JOB_CONSTRAINTS='quiet')
        equal((status, node.record.read_text()), (1, '16 n1\n'), said)
        check('State=DRAIN' in calls and 'job 16' in calls and 'put-back' not in calls, calls)
        for before in 16, 17:
            node.make_record(before)
            node.prepare()
            equal(node.run('prolog', SLURM_JOB_CONSTRAINTS='quiet')[:2], (0, 'put-back\nmake-quiet\nguard\n'),
                  f'after job {before}')
            equal(node.record.read_text(), '17 n1\n', 'the record')


def test_beside():
    """benchmark-target is found beside the script, whatever folder that is"""
    with Node() as node:
        (node.top / 'bin/benchmark-target').rename(node.top / 'benchmark-target')
        status, calls, said = node.run('prolog', SLURM_JOB_CONSTRAINTS='quiet')
        equal((status, calls), (0, 'make-quiet\nguard\n'), said)


def test_upgrade():
    """A job that ends while quiesce is replaced: postinst does not start the target again"""
    with Node() as node:
        node.make_record()
        upgraded = node.record.parent / 'upgraded'
        upgraded.touch()
        equal(node.run('epilog', SLURM_JOB_ID='18')[0], 0, 'Epilog of another job')
        check(upgraded.exists(), 'another job has ended')
        equal(node.run('epilog')[:2], (0, 'put-back\n'), 'Epilog')
        check(not upgraded.exists() and not node.record.exists(), 'the target would be started')


TESTS = (test_words, test_strange_values, test_not_alone, test_failures, test_locks, test_one_guard,
         test_guard_of_systemd, test_suspended, test_beside, test_upgrade)

if __name__ == '__main__':
    run_tests((test.__doc__, test) for test in TESTS)
