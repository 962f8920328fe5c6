#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""runpinned on described machines.

With --dry-run it says what it would do, and the CPUs of the described machine need not exist. Tests
that run a program use a CPU that really exists.
"""

import json
import os
import re
import subprocess

import machine
from machine import Machine, check, equal

RUNPINNED = os.environ['RUNPINNED']

# The machine, the CPUs that a process may use, those that runpinned has to choose, and the reason.
CHOICES = (
    ('intel-hybrid', '0-11', '6', 'a performance core, idle, its sibling CPU 7 is idle'),
    ('amd-smt', '0-15', '5', 'its sibling CPU 13 is idle'),
    ('arm-nosmt', '0-7', '6', 'a performance core'),
    ('vm-plain', '0-1', '1', 'not CPU 0'),
    # Of the CPUs that it may use. Not CPU 8, which is the SMT sibling of CPU 0.
    ('amd-smt', '0,8', '8', ''),
    ('amd-smt', '0,2,8', '2', ''),
    ('intel-hybrid', '8-11', '9', 'an efficiency core'),
    ('isolated', '0-1,3', '3', 'isolated'),
    ('isolated', '0-1', '1', ''),
    ('isolated', '0-3', '2-3', 'isolated'),
    # A machine on which interrupts of devices have no numbers.
    ('s390-gaps', '1-5,8-19', '9', 'fewest interrupts (10400)'),
    ('old-kernel', '0,1,3-4,6-7', '1', 'fewest interrupts'),
    # Its list of CPUs that are online is not the kernel's.
    ('lxcfs', '9', '9', 'the only CPU allowed here'),
    ('lxcfs', '1,9', '1', 'not CPU 0'),
    ('lxcfs', '9-10', '10', 'fewest interrupts'),
)

# The argument of -c, and what the error message must contain.
REFUSALS = (
    ('vm-plain', '0-1', '2', '2'),
    ('vm-plain', '0-1', '0-7', ''),
    ('intel-hybrid', '0-11', '12', '12'),
    ('s390-gaps', '1-5,8-19', '6', 'offline'),
    ('s390-gaps', '1-5,8-19', '5-8', 'offline'),
    ('s390-gaps', '1-5,8-19', '63', '63'),
    ('old-kernel', '0,1,3-4,6-7', '2', 'offline'),
    ('amd-smt', '0-3', '5', 'allowed'),
    ('amd-smt', '0-15', 'x', "x"),
    ('amd-smt', '0-15', '', ''),
    ('amd-smt', '0-15', '3-1', '3-1'),
    ('lxcfs', '9-10', '12', 'offline'),
    ('lxcfs', '9-10', '1', 'allowed'),
    ('lxcfs', '9-10', '5', 'allowed'),
)


# In a job of Slurm's: the machine, the cpuset, what the step is bound to, -c, the CPUs that runpinned has
# to choose or what the error message must contain, and those that are left for runpinned itself.
STEPS = (
    ('amd-smt', '0-15', '2-3,10-11', 'auto', '11', '2,10'),
    ('amd-smt', '0-15', '2-3,10-11', 'all', '2-3,10-11', 'none left'),
    ('amd-smt', '0-15', '2-3,10-11', '2,10', '2,10', '3,11'),
    ('amd-smt', '0-15', '7', 'auto', '7', 'none left'),
    ('amd-smt', '0-15', '2-3,10-11', '5', "job 17 has CPUs 2-3,10-11 only", None),
    ('amd-smt', '0-15', '2-3,10-11', '99', 'does not exist', None),
    ('isolated', '0-3', '0-2', 'auto', '2', '0-1'),
)


def plan(box, cpus, allowed, env=None):
    """The lines of --dry-run as a dictionary."""
    result = box.run(RUNPINNED, '-v', '-c', cpus, '--dry-run', '/bin/true', allowed=allowed, env=env)
    equal(result.returncode, 0, result.stderr)
    return dict(line.split(': ', 1) for line in result.stdout.splitlines() if ': ' in line)


def test_choice(name, allowed, cpus, word):
    with Machine(name) as box:
        line = plan(box, 'auto', allowed).get('cpus', '')
        match = re.fullmatch(r'(\S+) \((.+)\)', line)
        check(match, f'no "cpus: LIST (REASON)": {line!r}')
        equal(match.group(1), cpus, f'CPUs ({match.group(2)})')
        check(word in match.group(2), f'{word!r} is not in {match.group(2)!r}')


# On the machine "irqs", to choose among CPUs 0, 2 and 3: the release of the kernel, which files of
# interrupts it makes read-only, new names in /proc/interrupts, the choice and a part of its reason.
OLD, NEW = '6.11.9', '6.12.0'
FIXED = (
    (NEW, (), {}, '2', 'fewest interrupts of its like (110)'),
    # A queue for CPU 2 alone is used by CPU 2 alone.
    (NEW, (26,), {}, '2', 'fewest interrupts of its like (110)'),
    (NEW, (31,), {}, '3', 'fewest interrupts that cannot be moved (0)'),
    (NEW, (30, 31), {}, '2', 'fewest interrupts of its like that cannot be moved (10)'),
    # It may go to CPU 3, and goes to CPU 2.
    (OLD, (), {'nvme1q3': 'eth1-rx'}, '3', 'fewest interrupts that cannot be moved (0)'),
    (OLD, (), {'nvme1q3': 'eth1-rx', 'nvme1q2': 'virtio1-req.0'}, '3', 'cannot be moved (0)'),
    (OLD, (), {'nvme1q3': 'eth1-rx', 'nvme1q2': 'virtio1-request'}, '3', 'cannot be moved (0)'),
    (OLD, (), {'nvme1q3': 'eth1-rx', 'nvme1q2': 'virtio1-requests'}, '2', 'fewest interrupts of its like (110)'),
    (OLD, (), {'nvme1q3': 'eth1-rx', 'nvme1q2': 'nvme1q0'}, '2', 'fewest interrupts of its like (110)'),
    (OLD, (), {'nvme1q3': 'eth1-rx', 'nvme1q2': 'nvme1q0, nvme1q1'}, '2', 'fewest interrupts of its like (110)'),
    (OLD, (), {}, '2', 'fewest interrupts of its like that cannot be moved (10)'),
)


def test_fixed(release, fixed, names, cpus, word):
    """Of two CPUs, the one without interrupts that nobody can move."""
    with Machine('irqs') as box:
        box.write('proc/sys/kernel/osrelease', f'{release}\n')
        table = (box.root / 'proc/interrupts').read_text()
        for old, new in names.items():
            table = table.replace(f' {old}\n', f'  {new}\n')
        box.write('proc/interrupts', table)
        for number in fixed:
            (box.root / f'proc/irq/{number}/smp_affinity_list').chmod(0o444)
        line = plan(box, 'auto', '0,2-3').get('cpus', '')
        equal(line.split(' ')[0], cpus, line)
        check(word in line, f'{word!r} is not in {line!r}')


def test_refusal(name, allowed, cpus, word):
    with Machine(name) as box:
        result = box.run(RUNPINNED, '-c', cpus, '--dry-run', '/bin/true', allowed=allowed)
        equal(result.returncode, 2, f'status ({result.stderr})')
        equal(result.stdout, '', 'output')
        check(re.fullmatch(r'runpinned: [^\n]+\n', result.stderr), f'one line: {result.stderr!r}')
        check(word in result.stderr, f'{word!r} is not in {result.stderr!r}')


def test_given(name, allowed, cpus):
    """-c overrides the choice, and is used as given."""
    with Machine(name) as box:
        line = plan(box, cpus, allowed).get('cpus', '')
        equal(line.split(' ')[0], cpus, 'CPUs')


def test_step(name, allowed, step, cpus, wanted, housekeeping):
    """In a job, nothing runs on CPUs of others, whatever the cpuset would allow."""
    with Machine(name) as box:
        mask = machine.parse_list(step)
        env = {'TEST_AFFINITY': ''.join('01'[cpu in mask] for cpu in range(box.description.width))}
        if housekeeping is None:
            result = box.run(RUNPINNED, '-c', cpus, '--dry-run', '/bin/true', allowed=allowed,
                             env={**env, 'SLURM_JOB_ID': '17'})
            equal(result.returncode, 2, f'status ({result.stderr})')
            check(wanted in result.stderr, f'{wanted!r} is not in {result.stderr!r}')
            return
        lines = plan(box, cpus, allowed, {**env, 'SLURM_JOB_ID': '17'})
        equal(lines['cpus'].split(' ')[0], wanted, 'CPUs')
        equal(lines['housekeeping'], housekeeping, 'housekeeping')


def test_no_step():
    """What is no job of Slurm's has the whole cpuset, as anybody whose affinity was inherited."""
    with Machine('amd-smt') as box:
        for job in (None, '', '17;reboot', '-1', '99999999999'):
            env = {'TEST_AFFINITY': '0011'.ljust(16, '0'), **({'SLURM_JOB_ID': job} if job else {})}
            equal(plan(box, 'auto', '0-15', env)['cpus'].split(' ')[0], '5', f'job {job!r}')


JOB = {
    'SLURM_JOB_ID': '4711', 'SLURM_ARRAY_JOB_ID': '4700', 'SLURM_ARRAY_TASK_ID': '11',
    'SLURM_STEP_ID': '0', 'SLURM_JOB_PARTITION': 'bench-2', 'SLURM_CLUSTER_NAME': 'lab.example',
    'SLURMD_NODENAME': 'n1',
}
NAMES = ('quiesce_slurm_job', 'quiesce_slurm_array_job', 'quiesce_slurm_array_task', 'quiesce_slurm_step',
         'quiesce_slurm_partition', 'quiesce_slurm_cluster', 'quiesce_node')


def test_metadata():
    """A result tells its job and its node, and nothing that cannot be Slurm's."""
    def read(variables):
        env = {name: value for name, value in os.environ.items() if not name.startswith('SLURM')}
        result = subprocess.run([RUNPINNED, '-n', '1', '-w', '0', '-q', '--json', 'true'], text=True,
                                env={**env, **variables}, capture_output=True, check=False)
        equal(result.returncode, 0, f'status ({result.stderr})')
        metadata = json.loads(result.stdout)['benchmarks'][0]['metadata']
        return {name: metadata[name] for name in NAMES if name in metadata}

    equal(read(JOB), dict(zip(NAMES, JOB.values())), 'a task of an array')
    equal(read({**JOB, 'SLURM_JOB_ID': '$(reboot)'}), {}, 'no job')
    for variable, name in zip(JOB, NAMES):
        for value in ('', 'a b', 'a\nb', '$(reboot)', '\x1b[2J', 'x' * 256):
            if variable != 'SLURM_JOB_ID':
                wanted = dict(zip(NAMES, JOB.values()))
                del wanted[name]
                equal(read({**JOB, variable: value}), wanted, f'{variable}={value!r}')


def test_enters_the_shield():
    """Without a server that moves the process, which is without systemd."""
    if not {0, 1} <= os.sched_getaffinity(0):
        raise machine.Skip('CPU 0 and 1 are needed')
    with Machine('vm-plain') as box:
        boot_id = '5e77e12f-0000-4000-8000-000000000001'
        box.write('proc/sys/kernel/random/boot_id', boot_id + '\n')
        box.write('run/quiesce/target', f'QUIESCE_TARGET=1\nBOOT_ID={boot_id}\nCPUS=1\n')
        procs = 'sys/fs/cgroup/benchmark.slice/cgroup.procs'
        box.write(procs, '')
        command = (RUNPINNED, '-c', '1', '-n', '1', '-w', '0', '--no-save',
                   'sleep', '0.1')
        result = box.run(*command, allowed='0', root=True)
        equal((result.returncode, result.stderr), (0, ''), 'status, errors')
        equal((box.root / procs).read_text(encoding='utf-8'), '0', 'who was moved')
        box.remove(procs)
        result = box.run(*command, allowed='0', root=True)
        equal(result.returncode, 1, 'status')
        check(re.fullmatch(r'runpinned: [^\n]+\n', result.stderr), f'one line: {result.stderr!r}')
        check('benchmark.slice/cgroup.procs' in result.stderr, result.stderr)


def test_lxcfs():
    """What lxcfs says of a CPU by its own number is not taken for what the kernel's CPU of that number did."""
    note = 'runpinned: note: /sys and /proc/stat show other CPUs than this process may use'
    with Machine('lxcfs') as box:
        for allowed, shown in (('0-1', False), ('1,9', True), ('9-10', True)):
            result = box.run(RUNPINNED, '-v', '--dry-run', '/bin/true', allowed=allowed)
            equal(note in result.stderr, shown, f'{allowed}: {result.stderr!r}')
            equal('idle' in result.stdout, not shown, f'{allowed}: {result.stdout!r}')
            # Their siblings are online, though not in that list, of which nothing else tells that it is not the
            # kernel's where the numbers are the same.
            result = box.run(
                'sh', '-c', """mkdir -p /run/lxcfs && mount -t tmpfs none /run/lxcfs && echo 0-1 > /run/lxcfs/online &&
                    mount --bind /run/lxcfs/online /sys/devices/system/cpu/online && exec "$@" """,
                'sh', RUNPINNED, '-v', '--dry-run', '/bin/true', allowed=allowed, root=True)
            equal(result.returncode, 0, result.stderr)
            check('no sibling' not in result.stdout, f'{allowed}: {result.stdout!r}')
        # The row of CPU 1 is there, and would be taken.
        result = box.run(RUNPINNED, '-c', '1', '-n', '1', '-w', '0', '-q', '--json', 'true', allowed='1,9')
        equal(result.returncode, 0, result.stderr)
        for metadata in (run['metadata'] for run in json.loads(result.stdout)['benchmarks'][0]['runs']):
            check('quiesce_steal' not in metadata, f'steal: {metadata}')


def test_no_sys():
    """It measures without /sys, says what it cannot know, and claims nothing of it."""
    def run(*words, more=''):
        result = subprocess.run(
            [*machine.words_alone(as_root=True), 'unshare', '--mount', 'sh', '-c',
             f'mount -t tmpfs none /sys && {more}exec "$@"', 'sh', RUNPINNED, '-v', '-n', '2', '-w', '0', '--no-save',
             *words, 'true'], capture_output=True, text=True, check=False)
        if result.stderr.startswith(('unshare: ', 'mount: ')):
            raise machine.Skip(result.stderr.strip())
        equal(result.returncode, 0, result.stderr)
        check('runpinned: note: there is no /sys here' in result.stderr, result.stderr)
        check('no sibling' not in result.stdout, result.stdout)
        check('show other CPUs' not in result.stderr, result.stderr)
        return result.stderr

    cpu = max(os.sched_getaffinity(0))
    check(f'cannot lock /sys/devices/system/cpu/cpu{cpu}: No such file' in run('-c', str(cpu)), 'the lock')
    run()
    # Nor does /proc say which CPUs there are: the scheduler does.
    run(more='mount --bind /dev/null /proc/stat && ')


TESTS = [
    *((f'{name}: chooses {cpus} of {allowed}', lambda name=name, allowed=allowed, cpus=cpus, word=word:
       test_choice(name, allowed, cpus, word)) for name, allowed, cpus, word in CHOICES),
    *((f'irqs: Linux {fixed[0]}, fixed: {fixed[1]} {fixed[2]}', lambda fixed=fixed: test_fixed(*fixed))
      for fixed in FIXED),
    *((f"{name}: refuses -c '{cpus}'", lambda name=name, allowed=allowed, cpus=cpus, word=word:
       test_refusal(name, allowed, cpus, word)) for name, allowed, cpus, word in REFUSALS),
    ('intel-hybrid: takes -c 9-10', lambda: test_given('intel-hybrid', '0-11', '9-10')),
    *((f'{step[0]}: a step on CPUs {step[2]}, -c {step[3]}', lambda step=step: test_step(*step))
      for step in STEPS),
    ('amd-smt: no job of Slurm\'s', test_no_step),
    ('the metadata of a job', test_metadata),
    ('vm-plain: enters a shield without systemd', test_enters_the_shield),
    ('lxcfs: its numbers of CPUs are not believed', test_lxcfs),
    ('without /sys', test_no_sys),
    ('s390-gaps: takes -c 5,8', lambda: test_given('s390-gaps', '1-5,8-19', '5,8')),
]

if __name__ == '__main__':
    machine.run_tests(TESTS)
