# SPDX-License-Identifier: GPL-2.0-or-later
"""cpu-shield with a real systemd: an isolated partition where there is cgroup v2, else cpusets."""

import os
import subprocess

from lab import (PF_WQ_WORKER, boots, call, check, equal, fail, parse_list, read, succeed, turned, wait_for)

SLICE = '/sys/fs/cgroup/benchmark.slice'
PF_NO_SETAFFINITY = 0x04000000  # include/linux/sched.h


def effective(unit):
    return parse_list(read(f'/sys/fs/cgroup/{unit}/cpuset.cpus.effective'))


def movable_tasks_on(cpus):
    """Programs and threads of the kernel that may run there although they could be elsewhere (those
    that work off queues aside, see Snapshot)."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        status, stat = read(f'/proc/{pid}/status') or '', read(f'/proc/{pid}/stat') or ''
        lines = dict(line.split(':', 1) for line in status.splitlines() if ':' in line)
        allowed = parse_list(lines.get('Cpus_allowed_list', '').strip())
        fields = stat[stat.rfind(')') + 2:].split()
        if allowed & cpus and fields and not int(fields[6]) & (PF_NO_SETAFFINITY | PF_WQ_WORKER):
            found.append(f'{lines["Name"].strip()} ({pid}): {sorted(allowed)}')
    return found


def where(*command):
    """The CPUs that a program may use, and its cgroup."""
    text = succeed(*command, 'cat', '/proc/self/status', '/proc/self/cgroup')
    cpus = [line.split()[1] for line in text.splitlines() if line.startswith('Cpus_allowed_list:')]
    return parse_list(cpus[0]), text[text.rindex('0::') + 3:].strip()


def test_nobody_else_is_there():
    with turned('cpu-shield', '-c', '2-3'):
        equal(read(f'{SLICE}/cpuset.cpus.partition'), 'isolated', 'partition')
        equal(effective('benchmark.slice'), {2, 3}, 'its CPUs')
        equal((effective('system.slice'), effective('init.scope')), ({0, 1}, {0, 1}), 'the others')
        check(not movable_tasks_on({2, 3}), movable_tasks_on({2, 3}))


def test_outsider_does_not_get_in():
    with turned('cpu-shield', '-c', '2-3'):
        check(call('taskset', '-c', '2', 'true').returncode != 0, 'taskset got in')
        equal(where('taskset', '-c', '0,2')[0], {0}, 'CPUs of a mask that has both')


def test_a_program_gets_in():
    with turned('cpu-shield', '-c', '2-3'):
        cpus, cgroup = where('cpu-shield', 'run', '-c', '3', '--')
        equal(cpus, {3}, 'CPUs')
        check(cgroup.startswith('/benchmark.slice/'), cgroup)


def test_it_survives_systemd():
    with turned('cpu-shield', '-c', '3'):
        for verb in ('daemon-reload', 'daemon-reexec'):
            succeed('systemctl', verb)
            equal(read(f'{SLICE}/cpuset.cpus.partition'), 'isolated', f'partition after {verb}')
            equal(effective('benchmark.slice'), {3}, f'CPUs after {verb}')


def test_not_while_a_program_is_in_it():
    succeed('cpu-shield', '-c', '3')
    with subprocess.Popen(['cpu-shield', 'run', '--', 'sleep', '1000']) as process:
        try:
            wait_for(lambda: 'benchmark.slice' in read(f'/proc/{process.pid}/cgroup'), 'the program')
            check('still runs' in fail(1, 'cpu-shield', 'restore'), 'why')
        finally:
            process.kill()
    wait_for(lambda: call('cpu-shield', 'restore').returncode == 0, 'restore')


def test_all_cpus_is_too_many():
    check('all' in fail(2, 'cpu-shield', '-c', '0-3'), 'why')


@boots('cgroup-v1')
def test_cgroup_v1():
    """Only if asked for, by two cpusets."""
    check('--legacy' in succeed('cpu-shield', '-c', '2-3'), 'that there is --legacy')
    check(call('taskset', '-c', '2', 'true').returncode == 0, 'it did something')
    with turned('cpu-shield', '--legacy', '-c', '2-3'):
        # kthreadd only starts others, and the kernel lets nobody move it between cpusets.
        left = [task for task in movable_tasks_on({2, 3}) if not task.startswith('kthreadd (2):')]
        check(not left, left)
