# SPDX-License-Identifier: GPL-2.0-or-later
"""cpu-shield with a real systemd: an isolated partition where there is cgroup v2, else cpusets."""

import contextlib
import os
import subprocess
import time

from lab import (CPUS, LONG, PF_WQ_WORKER, WAIT, Skip, Snapshot, bound, boots, call, check, equal, fail,
                 knobs, note, parse_list, read, restored_while_it_waits, same, succeed, turned, wait_for,
                 write, written)
from target import state

SLICE = '/sys/fs/cgroup/benchmark.slice'
PARTITION = f'{SLICE}/cpuset.cpus.partition'
DROPIN = '/run/systemd/system/benchmark.slice.d/50-quiesce.conf'
SYSTEMD_MAKES_PARTITIONS = 261  # the first release of systemd with CPUSetPartition=
PF_NO_SETAFFINITY = 0x04000000  # include/linux/sched.h


def effective(unit):
    return parse_list(read(f'/sys/fs/cgroup/{unit}/cpuset.cpus.effective'))


def shown(prop):
    """A property of the slice, as systemd shows it."""
    return succeed('systemctl', 'show', '--value', '-p', prop, 'benchmark.slice').strip()


def movable_tasks_on(cpus):
    """Programs and kernel threads that may run on these CPUs although they could be moved
    elsewhere, except threads that work off queues (see Snapshot)."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        status, stat = read(f'/proc/{pid}/status') or '', read(f'/proc/{pid}/stat') or ''
        lines = dict(line.split(':', 1) for line in status.splitlines() if ':' in line)
        allowed = parse_list(lines.get('Cpus_allowed_list', '').strip())
        fields = stat[stat.rfind(')') + 2:].split()
        if allowed & cpus and fields and not int(fields[6]) & (PF_NO_SETAFFINITY | PF_WQ_WORKER):
            found.append(f'{lines["Name"].strip()} ({pid}): {sorted(allowed)}')
    return found


def nobody_is_on(cpus):
    """Nobody else may use the shielded CPUs. A kernel thread that is born later, as those of drivers
    that still look for devices after a boot, may use all CPUs until the shield is applied again."""
    end = time.monotonic() + LONG
    while left := movable_tasks_on(cpus):
        check(time.monotonic() < end, left)
        note(f'came later: {left}')
        time.sleep(0.5)
        succeed('cpu-shield', '-c', ','.join(map(str, sorted(cpus))))


def where(*command):
    """The CPUs that a program may use, and the cgroup of the program."""
    text = succeed(*command, 'cat', '/proc/self/status', '/proc/self/cgroup')
    cpus = [line.split()[1] for line in text.splitlines() if line.startswith('Cpus_allowed_list:')]
    return parse_list(cpus[0]), text[text.rindex('0::') + 3:].strip()


def test_who_is_there():
    """No program gets onto the shielded CPUs from outside; a program that is sent there does."""
    with turned('cpu-shield', '-c', '2-3'):
        equal(read(PARTITION), 'isolated', 'partition')
        equal(effective('benchmark.slice'), {2, 3}, 'its CPUs')
        equal((effective('system.slice'), effective('init.scope')), ({0, 1}, {0, 1}), 'the others')
        nobody_is_on({2, 3})
        check(call('taskset', '-c', '2', 'true').returncode != 0, 'taskset got in')
        equal(where('taskset', '-c', '0,2')[0], {0}, 'CPUs of a mask that has both')
        cpus, cgroup = where('cpu-shield', 'run', '-c', '3', '--')
        equal(cpus, {3}, 'CPUs of a program inside')
        check(cgroup.startswith('/benchmark.slice/'), cgroup)


def test_it_survives_systemd():
    with turned('cpu-shield', '-c', '3'):
        for verb in ('daemon-reload', 'daemon-reexec'):
            succeed('systemctl', verb)
            equal(read(PARTITION), 'isolated', f'partition after {verb}')
            equal(effective('benchmark.slice'), {3}, f'CPUs after {verb}')


def test_who_makes_the_partition():
    """A systemd that can make a partition makes it, and has it as a property of the slice.
    Otherwise cpu-shield makes it."""
    version = int(succeed('systemctl', '--version').split()[1])
    if version < SYSTEMD_MAKES_PARTITIONS:
        raise Skip(f'CPUSetPartition= is of systemd {SYSTEMD_MAKES_PARTITIONS}, and this is {version}')
    with turned('cpu-shield', '-c', '2-3'):
        check('CPUSetPartition=isolated' in read(DROPIN), f'drop-in: {read(DROPIN)}')
        equal(shown('CPUSetPartition'), 'isolated', 'property')
        equal(read(PARTITION), 'isolated', 'partition')
        row = knobs('cpu-shield', 'status')['cpuset.cpus.partition', None]
        equal((row['path'], row['now'], row['state']), (f'watched:{PARTITION}', 'isolated', 'applied'), row)
        # systemd would also repair the partition: nobody else writes to its file.
        succeed('systemctl', 'daemon-reload')
        equal((shown('CPUSetPartition'), read(PARTITION)), ('isolated', 'isolated'), 'after a reload')
    check(not os.path.exists(SLICE), 'the slice is still there')
    check(shown('CPUSetPartition') != 'isolated', 'the property is still there')


@contextlib.contextmanager
def another_slice(cpus):
    """Runs its block while another slice has these CPUs. Yields the folder of that slice."""
    group = '/sys/fs/cgroup/lab.slice'
    with written(('lab.slice', f'[Slice]\nAllowedCPUs={cpus}\n')):
        succeed('systemctl', 'start', 'lab.slice')
        try:
            wait_for(lambda: read(f'{group}/cpuset.cpus') == cpus, 'CPUs of the other slice')
            yield group
        finally:
            succeed('systemctl', 'stop', 'lab.slice')


def test_partition_of_somebody_else_stays():
    with another_slice('3') as group:
        write(f'{group}/cpuset.cpus.partition', 'root')
        equal(read(f'{group}/cpuset.cpus.partition'), 'root', 'partition of the other slice')
        said = fail(1, 'cpu-shield', '-c', '2-3')
        check('/lab.slice has CPUs 3 to itself' in said, said)
        equal(read(f'{group}/cpuset.cpus.partition'), 'root', 'partition of the other slice, later')


def test_partition_that_was_given_up():
    """Older kernels make the partition invalid when another cpuset wants the same CPU. The next
    apply asks for the partition again."""
    with turned('cpu-shield', '-c', '2-3'):
        os.mkdir('/sys/fs/cgroup/lab')
        try:
            write('/sys/fs/cgroup/lab/cpuset.cpus', '3')
            note(f'with another cpuset: {read(PARTITION)}')
        finally:
            os.rmdir('/sys/fs/cgroup/lab')
        succeed('cpu-shield', '-c', '2-3')
        equal(read(PARTITION), 'isolated', 'partition')
        equal(effective('benchmark.slice'), {2, 3}, 'its CPUs')


def shielded_and_back():
    """Shields CPUs in a slice that exists already. After restore the slice still exists, and is no
    partition."""
    succeed('systemctl', 'start', 'benchmark.slice')
    try:
        before = Snapshot()
        with turned('cpu-shield', '-c', '2-3'):
            equal(read(PARTITION), 'isolated', 'partition')
            equal(effective('benchmark.slice'), {2, 3}, 'its CPUs')
        same('restore left of the slice', before=before)
    finally:
        succeed('systemctl', 'stop', 'benchmark.slice')


def test_slice_that_was_there():
    shielded_and_back()


def test_slice_that_was_there_beside_another():
    """The other slice keeps the controller cpuset enabled, so that the files of the cpuset stay."""
    with another_slice('0-1'):
        shielded_and_back()


def test_others_may_use_them():
    """Another slice may use all CPUs. It loses the shielded CPUs; kernels up to 6.6 refuse the
    shield."""
    with another_slice('0-3'):
        if not os.path.exists('/sys/fs/cgroup/lab.slice/cpuset.cpus.exclusive'):
            said = fail(3, 'cpu-shield', '-c', '2-3')
            check('Cpu list in cpuset.cpus not exclusive' in said and said.count('\n') == 1, said)
            return
        with turned('cpu-shield', '-c', '2-3'):
            equal(effective('benchmark.slice'), {2, 3}, 'its CPUs')
            equal(effective('lab.slice'), {0, 1}, 'those of the other slice')
            check(call('taskset', '-c', '2', 'true').returncode != 0, 'taskset got in')
            equal(where('cpu-shield', 'run', '--')[0], {2, 3}, 'CPUs of a program inside')
            succeed('cpu-shield', '-c', '3')
            equal((effective('benchmark.slice'), effective('lab.slice')), ({3}, {0, 1, 2}), 'one CPU')
            succeed('systemctl', 'daemon-reload')
            equal(read(PARTITION), 'isolated', 'partition after a reload')


def test_cpu_that_was_offline():
    """A thread that was bound to the CPU is bound to it again when the CPU is back online."""
    with bound() as chosen:
        before = chosen()
        write(f'{CPUS}/cpu3/online', '0')
        try:
            # The kernel tells the cpusets some time later.
            time.sleep(1)
            if chosen() != [cpus - {3} for cpus in before]:
                raise Skip('programs are in cpusets here, whose threads this kernel gives all CPUs')
            succeed('cpu-shield', '-c', '2')
            equal(read(PARTITION), 'isolated', 'partition')
            done = call('cpu-shield', 'restore')
            equal(done.returncode, 0, f'restore: {done.stderr}')
            note(done.stderr)
        finally:
            write(f'{CPUS}/cpu3/online', '1')
        done = call('cpu-shield', 'restore')
        equal((done.returncode, done.stderr), (0, ''), 'restore when it is back')
        equal(chosen(), before, 'CPUs of programs that had chosen')


def test_not_while_a_program_is_in_it():
    succeed('cpu-shield', '-c', '3')
    with subprocess.Popen(['cpu-shield', 'run', '--', 'sleep', '1000']) as process:
        try:
            wait_for(lambda: 'benchmark.slice' in read(f'/proc/{process.pid}/cgroup'), 'the program')
            check('still runs' in fail(1, 'cpu-shield', 'restore'), 'why')
            equal(where('taskset', '-c', '3')[0], {3}, 'CPUs of an outsider after that')
        finally:
            process.kill()
    wait_for(lambda: call('cpu-shield', 'restore').returncode == 0, 'restore')


def test_slice_that_starts_late():
    """systemd may start the slice after a restore, when cpu-shield was killed while it waited for the
    start: so restore has to ask for a stop."""
    with written(('benchmark.slice.d/lab.conf',
                  '[Unit]\nRequires=lab-wait.service\nAfter=lab-wait.service\n'),
                 ('lab-wait.service',
                  f'[Service]\nType=oneshot\nTimeoutSec=infinity\nExecStart={WAIT}\n')):
        restored_while_it_waits('benchmark.slice', 'start', 'cpu-shield', '-c', '3')
        equal(state('benchmark.slice'), 'inactive', 'slice after restore')


def test_all_cpus_is_too_many():
    check('all' in fail(2, 'cpu-shield', '-c', '0-3'), 'why')


# Binds itself to all CPUs over and over, as OpenMP and a JVM do at their start, and is busy.
SELFISH = """
import os
while True:
    try:
        os.sched_setaffinity(0, range(os.cpu_count()))
    except OSError:
        pass
    for _ in range(10000):
        pass
"""
# A fixed amount of work. Prints the milliseconds for which it had the CPU, and for which it waited for it.
WORK = """
for _ in range(500000):
    pass
ran, waited, _ = map(int, open('/proc/self/schedstat').read().split())
print(ran // 1000000, waited // 1000000)
"""
V1 = '/sys/fs/cgroup/cpuset'
DEGREES = 'an exclusive cpuset of cgroup v1', 'affinities (no partition)'


@contextlib.contextmanager
def other_cpuset(cpus):
    """A container has these CPUs. With CPU 2 or 3 among them there can be no exclusive cpuset of these."""
    os.mkdir(f'{V1}/lab')
    try:
        for name, text in ('mems', '0'), ('cpus', cpus):
            write(f'{V1}/lab/cpuset.{name}', text)
        yield
    finally:
        wait_for(lambda: call('rmdir', f'{V1}/lab').returncode == 0, 'the end of the cpuset')


def in_the_way(degree):
    """What keeps cpu-shield from a higher degree than this one."""
    return other_cpuset('2-3') if degree == DEGREES[1] else contextlib.nullcontext()


@contextlib.contextmanager
def by(degree):
    """Shields CPUs 2 and 3 to this degree."""
    with in_the_way(degree), turned('cpu-shield', '-c', '2-3'):
        check(degree in call('cpu-shield', 'status', '--brief').stdout, 'degree')
        yield


@contextlib.contextmanager
def selfish(n):
    """Runs its block beside selfish programs, which were there before."""
    started = [subprocess.Popen(['python3', '-c', SELFISH]) for _ in range(n)]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


def inside(*command):
    """The CPUs that a program may use, started with the words before it."""
    text = succeed(*command, 'cat', '/proc/self/status')
    return parse_list(next(line for line in text.splitlines() if line.startswith('Cpus_allowed_list:')).split()[1])


@boots('cgroup-v1')
def test_cgroup_v1():
    """By an exclusive cpuset or by affinities: nobody is on the CPUs, and everybody comes back."""
    for degree in DEGREES:
        with by(degree):
            nobody_is_on({2, 3})
            equal(inside('cpu-shield', 'run', '-c', '3', '--'), {3}, 'CPUs of a program in the shield')
            equal(inside('setpriv', '--reuid=nobody', '--clear-groups', 'cpu-shield', 'run', '-c', '3', '--'),
                  {3}, 'CPUs of a program of nobody')
            for options in {}, {'user': 'nobody'}:
                succeed('runpinned', '-c', '3', '-n', '1', '-w', '0', '--no-save', '/bin/true', **options)
            equal(inside('sh', '-c', 'exec "$@"', 'sh'), {0, 1}, 'CPUs of a program outside')
            if degree == DEGREES[0]:
                # Whoever is not root may take neither others there, nor himself back to where all CPUs are.
                for words in f'echo 1 >{V1}/benchmark.slice/cgroup.procs', f'echo 0 >{V1}/tasks':
                    check(call('sh', '-c', words, user='nobody').returncode != 0, words)
                check(':cpuset:/quiesce-others\n' in read('/proc/1/cgroup'), read('/proc/1/cgroup'))
            can = call('taskset', '-c', '3', 'true').returncode == 0
            equal(can, degree == DEGREES[1], f'whether taskset gets in: {degree}')
            said = call('isol-check', '-c', '2-3', '--watch', '0').stdout
            check(('quiesce-others' in said) == (degree == DEGREES[0]), said)
        equal(inside(), {0, 1, 2, 3}, 'CPUs of a program afterwards')


@boots('cgroup-v1')
def test_cgroup_v1_selfish():
    """A program that binds itself comes back to a CPU that is cleared by affinities, and not to one of an
    exclusive cpuset; so work there is not slower."""
    waited = {}
    # In this order, because a machine that has just booted becomes faster.
    for degree, n in (*((DEGREES[i], 0) for i in (0, 1, 1, 0)), *((DEGREES[i], 6) for i in (1, 0))):
        with selfish(n) as others, by(degree):
            time.sleep(1)
            are_there = [bool(os.sched_getaffinity(process.pid) & {2, 3}) for process in others]
            equal(are_there, [degree == DEGREES[1]] * n, f'who is on the CPUs: {degree}')
            figures = [tuple(map(int, succeed('cpu-shield', 'run', '-c', '3', '--', 'python3', '-c', WORK)
                                 .split())) for _ in range(3)]
            note(f'{degree}, beside {n} selfish programs: ms that work ran and waited: {figures}')
            waited[degree, n] = sum(figure[1] for figure in figures)
    check(waited[DEGREES[0], 6] < waited[DEGREES[1], 6], 'it waits no less than with affinities')


@boots('cgroup-v1')
def test_cgroup_v1_beside_other_cpusets():
    """The programs in cpusets of others stay there, and so do their CPUs."""
    with other_cpuset('0-1'), subprocess.Popen(['sleep', '1000']) as process:
        write(f'{V1}/lab/tasks', str(process.pid))
        before = read(f'/proc/{process.pid}/cgroup'), os.sched_getaffinity(process.pid)
        with by(DEGREES[0]):
            equal((read(f'/proc/{process.pid}/cgroup'), os.sched_getaffinity(process.pid)), before, 'it')
            succeed('cpu-shield', '-c', '3')
            check(call('sh', '-c', f'echo 0-3 >{V1}/lab/cpuset.cpus').returncode != 0, 'it got the CPU')
        equal((read(f'/proc/{process.pid}/cgroup'), read(f'{V1}/lab/cpuset.cpus')), (before[0], '0-1'),
              'it, afterwards')
        process.kill()


@boots('cgroup-v1')
def test_cgroup_v1_with_smt_off():
    """Hotplug takes CPUs out of cpusets of cgroup v1 for good; in whichever order the two are put back."""
    for order in ('cpu-shield', 'smt-off'), ('smt-off', 'cpu-shield'):
        for back in order, order[::-1]:
            before = Snapshot()
            for tool in order:
                succeed(tool, '-c', '2')
            equal(inside('cpu-shield', 'run', '--'), {2}, 'CPUs in the shield')
            equal(inside(), {0, 1}, 'CPUs outside')
            for tool in back:
                done = call(tool, 'restore')
                # smt-off keeps the lists of all cpusets, and says which are gone.
                check(done.returncode == 0 and (not done.stderr or 'list of cpuset' in done.stderr),
                      f'{tool} restore, {order}, back {back}: {done.stderr}')
            same(f'{order}, back {back}, left', before=before)
            equal(inside(), {0, 1, 2, 3}, 'CPUs afterwards')


@boots('cgroup-v1')
def test_another_cpu_goes_offline():
    """Threads that were moved have one CPU less then, which nobody has chosen: they get all CPUs back."""
    for degree in DEGREES:
        with in_the_way(degree):
            another_cpu_goes_offline()


def another_cpu_goes_offline():
    process = subprocess.Popen(['sleep', '1000'])
    try:
        succeed('cpu-shield', '-c', '3')
        write(f'{CPUS}/cpu1/online', '0')
        try:
            # The kernel tells the cpusets some time later.
            time.sleep(1)
            equal(os.sched_getaffinity(process.pid), {0, 2}, 'a thread without CPUs 1 and 3')
            said = call('cpu-shield', 'status').stdout
            check('somebody else' not in said, said)
            said = call('cpu-shield', 'restore').stderr
            check('somebody else changed' not in said, said)
        finally:
            write(f'{CPUS}/cpu1/online', '1')
        wait_for(lambda: call('cpu-shield', 'restore').returncode == 0, 'restore when it is back')
        equal(os.sched_getaffinity(process.pid), {0, 1, 2, 3}, 'the thread afterwards')
    finally:
        process.kill()
        process.wait()
