#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a running benchmark.target has chosen, /run/quiesce/target, as runpinned and the units find
it."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import threading

from machine import Setter, Skip, check, equal, run_tests
from systemd import Refused, Systemd

RUNPINNED = os.environ['RUNPINNED']
TARGET = os.environ['BENCHMARK_TARGET']
GOOD = 'QUIESCE_TARGET=1\nBOOT_ID=' + Setter.BOOT_ID + '\nCPUS={}\n'


class Box:
    """A machine with 16 CPUs on which a target is up."""

    def __init__(self, tool, text, allowed='0-15'):
        self.setter = Setter(tool, 'amd-smt', allowed=allowed)
        path = self.setter.run_directory / 'quiesce/target'
        path.parent.mkdir()
        path.write_text(text, encoding='utf-8')
        path.chmod(0o644)

    def __enter__(self):
        return self.setter

    def __exit__(self, *_):
        self.setter.box.holder.cleanup()


def plan(text, *arguments, allowed='0-15'):
    """The lines of runpinned --dry-run by their first word, and its status and messages."""
    with Box(RUNPINNED, text, allowed) as setter:
        result = setter.run('--dry-run', *arguments, 'true')
    lines = dict(line.split(': ', 1) for line in result.stdout.splitlines())
    return lines, result.returncode, result.stderr


def test_chosen():
    """runpinned takes the target's CPUs"""
    for cpus in ('5', '5,7'):
        lines, status, messages = plan(GOOD.format(cpus))
        equal((status, messages), (0, ''), 'status')
        equal(lines['cpus'], f'{cpus} (by benchmark.target)', 'CPUs')
        check('joins' not in lines, 'it need not join')


def test_asked_for():
    """CPUs of -c come before those of the target"""
    lines, status, _ = plan(GOOD.format('5'), '-c', '4')
    equal((status, lines['cpus']), (0, '4 (as asked for)'), 'CPUs')


def test_join():
    """runpinned joins the target where the target keeps its CPUs apart"""
    for arguments in ((), ('-c', '5'), ('-c', '5,7')):
        lines, status, messages = plan(GOOD.format('5,7'), *arguments, allowed='0-4')
        equal((status, messages), (0, ''), 'status')
        equal(lines['joins'], 'benchmark.slice', 'joins')
        # runpinned itself stays outside.
        check(not {'5', '7'} & set(lines['housekeeping'].split(',')), lines['housekeeping'])


def test_quiesce_of_a_user():
    """An ordinary user's --quiesce asks what the target has done, with -c as without"""
    if os.geteuid() != 0:
        raise Skip('only root can be somebody else')
    with Box(RUNPINNED, GOOD.format('5')) as setter:
        folder = setter.run_directory / 'bin'
        folder.mkdir()
        shutil.copy(TARGET, folder)
        for arguments in (), ('-c', '5'):
            said = setter.run('--quiesce', *arguments, '-n', '1', '--no-save', 'true', user=True).stderr
            check('runpinned: shield: left as it is (benchmark.conf)\n' in said, f'{arguments}: {said}')
            check('benchmark-target' not in said, f'{arguments}: {said}')


@contextlib.contextmanager
def door(setter, answers):
    """In the place of systemd and benchmark-join: what each who asks is told, None for no answer in
    this world. A list of those who came."""
    came, held = [], []
    path = setter.run_directory / 'quiesce/join'
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def serve():
        for answer in answers:
            connection, _ = listener.accept()
            came.append(answer)
            if answer is None:
                held.append(connection)
                continue
            connection.sendall(answer)
            connection.close()

    (setter.run_directory / 'systemd/system').mkdir(parents=True)
    listener.bind(str(path))
    path.chmod(0o666)
    listener.listen()
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield came
    finally:
        listener.close()
        for connection in held:
            connection.close()


def test_waits_for_its_turn():
    """runpinned asks again when it is turned away without a word; a word is final"""
    with Box(RUNPINNED, GOOD.format('5'), '0-4') as setter:
        with door(setter, (b'', b'', b'', b'no cake left\n')) as came:
            result = setter.run('-q', 'true')
        equal((result.returncode, result.stderr),
              (1, 'runpinned: not let onto the CPUs of benchmark.target: no cake left\n'), 'told')
        equal(len(came), 4, 'times that it asked')


def test_stopped_while_it_asks():
    """A signal ends runpinned while it waits to be let in"""
    with Box(RUNPINNED, GOOD.format('5'), '0-4') as setter:
        with door(setter, (b'', None)) as came:
            result = setter.box.run('timeout', '--preserve-status', '--signal=INT', '2', RUNPINNED,
                                    '-q', 'true', allowed='0-4')
        equal((result.returncode, result.stderr), (130, ''), 'status')
        equal(len(came), 2, 'times that it asked')


def test_not_all_apart():
    """CPUs inside and outside are refused together, and another cpuset's CPUs, too"""
    lines, status, messages = plan(GOOD.format('5'), '-c', '4-5', allowed='0-4')
    equal((lines, status), ({}, 2), '-c 4-5')
    check('CPU 5 belongs to benchmark.target, and not all' in messages, messages)
    lines, status, messages = plan(GOOD.format('5'), '-c', '6', allowed='0-4')
    equal((lines, status), ({}, 2), '-c 6')
    check('CPU 6 is not allowed here' in messages, messages)


def test_another_boot():
    """A target of another boot does not count"""
    text = GOOD.format('5').replace(Setter.BOOT_ID, Setter.BOOT_ID.replace('1', '2'))
    lines, status, _ = plan(text)
    equal(status, 0, 'status')
    check('benchmark.target' not in lines['cpus'], lines['cpus'])


def test_damaged():
    """A damaged file does not count as no target"""
    for text in ('', 'CPUS=5\n', GOOD.format(''), GOOD.format('5') + 'CPUS=6\n',
                 GOOD.format('99999'), 'QUIESCE_TARGET=2\nCPUS=5\n'):
        lines, status, messages = plan(text)
        equal((lines, status), ({}, 1), repr(text))
        check('cannot read which CPUs benchmark.target chose (/run/quiesce/target)' in messages,
              messages)


def test_gone():
    """A message about CPUs of the target that are gone names the target"""
    lines, status, messages = plan(GOOD.format('40'))
    equal((lines, status), ({}, 2), 'status')
    check(messages.startswith('runpinned: benchmark.target: CPU 40 does not exist'), messages)


def test_wants():
    """Services ask whether they have something to do, and fail where that is unknown"""
    text = GOOD.format('5') + 'SMT_OPTIONS=-c 5\n'
    for key, content, status, message in (
            ('SMT', text, 0, ''),
            ('FREQ', text, 1, 'FREQ is left as it is'),
            ('NONSENSE', text, 255, "there is no 'NONSENSE'"),
            ('SMT', 'SMT_OPTIONS=-c 5\n', 255, 'cannot read what the target chose')):
        with Box(TARGET, content) as setter:
            result = setter.run('wants', key)
        equal(result.returncode, status, f'wants {key}')
        check(message in result.stderr, result.stderr)


def test_evict_in_the_dark():
    """Nobody is said to be gone while that cannot be read"""
    with Box(TARGET, GOOD.format('5') + 'SHIELD_OPTIONS=-c 5\n') as setter:
        events = setter.box.root / 'sys/fs/cgroup/benchmark.slice/cgroup.events'
        events.parent.mkdir(parents=True)
        events.symlink_to('cgroup.events')
        result = setter.run('evict')
        equal(result.returncode, 1, result.stderr)
        check('cannot find out whether a program runs' in result.stderr, result.stderr)
        events.unlink()
        equal(setter.run('evict').returncode, 0, 'status where there is none')


@contextlib.contextmanager
def started(text, **tools):
    """A machine on which these setters (noise='noise-off') have done what the target's text tells"""
    options = dict(line.split('=', 1) for line in text.splitlines())
    with Box(TARGET, text) as setter:
        for name, tool in tools.items():
            setter.tool = pathlib.Path(TARGET).parent / tool
            setter.succeed(*options[f'{name.upper()}_OPTIONS'].split())
        setter.tool = pathlib.Path(TARGET)
        yield setter


@contextlib.contextmanager
def services(setter, *names):
    """These services have done their work, says systemd"""
    with Systemd(setter.box) as systemd:
        for name in names:
            systemd.units[f'benchmark-{name}.service'] = {'ActiveState': 'active', 'ExecMainCode': 1}
        yield systemd.units


def test_parts_left_out():
    """The verdict counts a part that the configuration wants and that is left out, and tells why"""
    for strict, status, says in (
            ('no', 0, 'degraded, CPU 5, 2 of 3 parts; without SHIELD: no other CPU; NOISE in part: no masks'),
            ('yes', 1, 'STRICT=yes; without SHIELD: no other CPU; NOISE in part: no masks')):
        text = GOOD.format('5') + f'STRICT={strict}\nSHIELD_WHY=no other CPU\nFREQ_OPTIONS=-c 5 base\n' \
            'NOISE_OPTIONS=-c 5\nNOISE_WHY=no masks\n'
        with started(text, noise='noise-off', freq='freq-pin') as setter, services(setter, 'noise', 'freq'):
            result = setter.run('check')
            equal(result.returncode, status, result.stderr)
            check(result.stderr.splitlines()[-1].startswith(f'benchmark-target: {says}'), result.stderr)


def test_check_sees_now():
    """The later verdict is of what is there now, whatever the services did at the start"""
    text = GOOD.format('5') + 'STRICT=no\nFREQ_OPTIONS=-c 5 base\nNOISE_OPTIONS=-c 5 --only thp,ksm\n'
    limit = 'sys/devices/system/cpu/cpu5/cpufreq/scaling_max_freq'
    with started(text, noise='noise-off', freq='freq-pin') as setter, services(setter, 'noise', 'freq') as units:
        def verdict(verb):
            result = setter.run(verb)
            equal(result.returncode, 0, result.stderr)
            line = result.stderr.splitlines()[-1]
            check(re.search(r'; as of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$', line), line)
            return line.removeprefix('benchmark-target: ')

        check(verdict('check').startswith('quiet, but not as quiet as it could be, CPU 5, 2 of 2 parts; isol'), 'at first')
        was = (setter.box.root / limit).read_text()
        setter.box.write(limit, '4000000\n')
        says = 'degraded, CPU 5, 2 of 2 parts; FREQ in part: '
        now = verdict('recheck')
        check(now.startswith(says) and 'not as wanted: maximum' in now, now)
        # What refused at the start is told as long as it is so.
        units['benchmark-freq.service']['StatusText'] = 'maximum: Read-only file system'
        check('; refused at the start: maximum: Read-only file system; ' in verdict('recheck'), 'why')
        setter.box.write(limit, was)
        check(verdict('recheck').startswith('quiet'), 'put right by somebody')
        # One that does not answer is not one that has changed nothing.
        text = text.replace('--only thp,ksm', '--only thp,foo')
        (setter.run_directory / 'quiesce/target').write_text(text)
        check("; NOISE in part: not known: noise-off: --only: there is no 'foo'" in verdict('recheck'), 'not known')


def test_changed_during_the_runs():
    """What a setter had done and somebody changes during the runs is told after them, and is in the result"""
    cpu = max(os.sched_getaffinity(0) & set(range(16)))
    limit = f'sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_max_freq'
    text = GOOD.format(cpu) + f'FREQ_OPTIONS=-c {cpu} base\n'
    for change, changed in (('true', None), (f'echo 4000000 >{limit}', 'not as wanted: maximum'),
                            ('rm -f run/quiesce/target', 'what the setters had done is not known after the runs')):
        with started(text, freq='freq-pin') as setter:
            setter.allowed = None
            setter.tool = pathlib.Path(RUNPINNED)
            result = setter.run('--quiesce', '-n', '2', '--json', '--evidence', 'none',
                                '--', 'sh', '-c', f'cd {setter.box.root}; {change}')
            equal(result.returncode, 0, result.stderr)
            facts = json.loads(result.stdout)['benchmarks'][0]['metadata']
            said = re.findall('warning: the machine was changed meanwhile: (.*)', result.stderr)
            if not changed:
                equal((said, facts.get('quiesce_changed')), ([], None), 'where nothing was changed')
                continue
            check(len(said) == 1 and changed in said[0], result.stderr)
            equal(said[0], facts['quiesce_changed'], 'in the result')


def test_parts_of_offline_cpus():
    """A CPU that goes offline while the target is up does not keep the setters from telling what is done"""
    options = 'SHIELD_OPTIONS=-c 5\nSMT_OPTIONS=-c 5\nNOISE_OPTIONS=-c 5 --only foo\n'
    with Box(TARGET, GOOD.format('5') + options) as setter:
        setter.box.write('sys/devices/system/cpu/online', '0-4,6-15\n')
        setter.box.write('sys/devices/system/cpu/cpu5/online', '0\n')
        result = setter.run('parts')
        lines = dict(line.split(': ', 1) for line in result.stdout.splitlines())
        for part in 'shield', 'SMT':
            check('not known' not in lines[part], result.stdout)
        # In its own words, where one cannot.
        check(lines['noise'].startswith("not known: noise-off: --only: there is no 'foo'"), result.stdout)
        equal(result.returncode, 3, result.stderr)


class Picky(Systemd):
    """systemd, which starts no unit that is in `refusals`."""
    refusals = {}

    def StartUnit(self, unit, mode):
        if unit not in self.refusals:
            return super().StartUnit(unit, mode)
        raise Refused(*self.refusals[unit])


def test_tuners_that_do_not_start():
    """Services that could not be started again are started when the target stops the next time"""
    tuners = ('a.service', 'b.service', 'gone.service', 'c.service')
    refused = {'b.service': ('systemd1.LoadFailed', 'its file is broken'),
               'gone.service': ('systemd1.NoSuchUnit', 'Unit gone.service not found.')}
    with Box(TARGET, GOOD.format('5')) as setter, Picky(setter.box) as systemd:
        file = setter.run_directory / 'quiesce/tuners'
        file.write_text(''.join(f'{name}\n' for name in tuners), encoding='utf-8')
        systemd.units = {name: {'ActiveState': 'inactive'} for name in tuners[:2] + tuners[3:]}
        systemd.refusals = refused
        result = setter.run('return-tuners')
        equal(result.returncode, 1, result.stderr)
        for said in ('a.service is started again', 'c.service is started again',
                     'b.service is not started again: its file is broken',
                     'gone.service is not started again: Unit gone.service not found.'):
            check(said in result.stderr, result.stderr)
        equal(file.read_text(encoding='utf-8'), 'b.service\n', 'still to be started')
        systemd.refusals = {}
        result = setter.run('return-tuners')
        equal((result.returncode, result.stderr.count('\n')), (0, 1), result.stderr)
        equal(systemd.units['b.service']['ActiveState'], 'active', 'b.service')
        check(not file.exists(), 'nothing is left to be started')


TESTS = (test_chosen, test_asked_for, test_join, test_quiesce_of_a_user, test_waits_for_its_turn,
         test_stopped_while_it_asks,
         test_not_all_apart, test_another_boot, test_damaged, test_gone, test_wants,
         test_evict_in_the_dark, test_parts_left_out, test_check_sees_now,
         test_changed_during_the_runs, test_parts_of_offline_cpus, test_tuners_that_do_not_start)
run_tests((test.__doc__, test) for test in TESTS)
