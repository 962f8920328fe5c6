#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cpu-shield where there are no partitions: real threads are moved by their affinities, and come back.

All of it happens in a PID namespace, in which /proc shows the processes of this test alone, and with a
/run and a /sys/fs/cgroup of its own: no other process of the machine is touched.
"""

import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

from machine import Skip, check, equal, run_tests, skip_all
from sandbox import affinities, enter, forbid, is_real_root

TOOL = os.environ['CPU_SHIELD']
ISOL_CHECK = os.environ['ISOL_CHECK']
RUNPINNED = os.environ['RUNPINNED']
CONFIGDIR = os.environ['CONFIGDIR']
DEADLINE = 60  # seconds
CPUS = sorted(os.sched_getaffinity(0))
JOURNAL = pathlib.Path('/run/quiesce/cpu-shield.journal')
FORKER = '''
import os, random, threading, time
threading.Thread(target=lambda: [time.sleep(0.01) for _ in iter(int, 1)], daemon=True).start()
children = []
while True:
    child = os.fork()
    if child == 0:
        thread = threading.Thread(target=time.sleep, args=(0.3,))
        thread.start()
        thread.join()
        os._exit(0)
    children.append(child)
    if len(children) > 30:
        os.waitpid(children.pop(0), 0)
    time.sleep(0.002)
'''
# Its fork(2) takes some milliseconds, for the tables of its memory are copied after the affinity is.
SLOW_FORKER = '''
import mmap, os, time
memory = mmap.mmap(-1, 1 << 28, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
try:
    memory.madvise(mmap.MADV_NOHUGEPAGE)
except OSError:
    pass
for at in range(0, len(memory), mmap.PAGESIZE):
    memory[at] = 1
children = []
while True:
    child = os.fork()
    if child == 0:
        time.sleep(1)
        os._exit(0)
    children.append(child)
    if len(children) > 30:
        os.waitpid(children.pop(0), 0)
'''
THREADS = '''
import sys, threading, time
wait = threading.Event()
for _ in range(int(sys.argv[1])):
    threading.Thread(target=wait.wait, daemon=True).start()
print('ready', flush=True)
wait.wait()
'''


LOOP = 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'
# Takes a CPU for so many seconds, in one task or in many short ones, and says when it has.
TAKER = '''
import os, sys, time
before = os.times()
def took():
    now = os.times()
    return sum(now[:4]) - sum(before[:4])
while took() < float(sys.argv[1]):
    if sys.argv[2] == 'short' and os.fork() == 0:
        while time.process_time() < 0.02:
            pass
        os._exit(0)
    if sys.argv[2] == 'short':
        os.wait()
print('done', flush=True)
if sys.argv[2] == 'stays':
    time.sleep(1000)
'''


def prepare():
    subprocess.run('mount -t tmpfs none /run && mount -t tmpfs none /sys/fs/cgroup', shell=True,
                   check=True)


class Load:
    """Processes, which end with the block."""

    def __init__(self):
        self.processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # All of this PID namespace, but for this process, whose children the orphans have become.
        if os.getpid() == 1:
            os.kill(-1, signal.SIGKILL)
        for process in self.processes:
            process.wait()
        try:
            while True:
                os.wait()
        except ChildProcessError:
            pass
        shield('restore', '--force', status=None)
        JOURNAL.unlink(missing_ok=True)

    def start(self, *command, cpus=None, **options):
        self.processes.append(subprocess.Popen(
            command, stdin=subprocess.DEVNULL,
            preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None, **options))
        return self.processes[-1].pid


def shield(*arguments, status=0, prefix=(), **options):
    result = subprocess.run([*prefix, TOOL, *arguments], stdin=subprocess.DEVNULL, text=True,
                            capture_output=True, check=False, timeout=DEADLINE, **options)
    if status is not None:
        equal(result.returncode, status, f'{arguments}: {result.stdout} {result.stderr}')
    return result


def may_run_on(cpu):
    return [tid for (tid, _), cpus in affinities().items() if cpu in cpus and tid != os.getpid()]


def wait_for(condition, what):
    deadline = time.monotonic() + DEADLINE
    while True:
        seen = condition()
        if not seen:
            return
        check(time.monotonic() < deadline, f'{what}: {seen}')
        time.sleep(0.01)


def narrow():
    """Threads that may not run on all CPUs."""
    return [tid for (tid, _), cpus in affinities().items() if cpus != frozenset(CPUS)]


def check_cleared():
    """Everybody leaves, and what they chose comes back."""
    with Load() as load:
        follower = load.start('sleep', '1000')
        there = load.start('sleep', '1000', cpus={QUIET})
        elsewhere = load.start('sleep', '1000', cpus={OTHER})
        before = affinities()
        out = shield('-c', str(QUIET)).stdout
        check('shield by affinities' in out, out)
        equal(may_run_on(QUIET), [], 'threads that did not move')
        for pid in follower, there, elsewhere:
            equal(os.sched_getaffinity(pid) & {QUIET}, set(), f'process {pid}')
        rows = json.loads(shield('status', '--json').stdout)
        rows = {row['knob']: row for row in next(iter(rows.values()))}
        equal(rows['shield by affinities']['state'], 'applied', 'status')
        equal(shield('status', '--brief').stdout.partition(';')[0], 'affinities (no partition)', 'degree')
        checks = json.loads(subprocess.run(
            [ISOL_CHECK, '-c', str(QUIET), '--json'], capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, timeout=DEADLINE).stdout)['checks']
        isolated = next(entry for entry in checks if entry['id'] == 'isolated')
        check('kept clear by affinities' in json.dumps(isolated), isolated)
        equal(isolated['verdict'], 'risk', 'verdict of isol-check')
        # Applied again, it changes nothing, also where a benchmark runs there by now.
        load.start('sleep', '1000', cpus={QUIET})
        pid = load.processes[-1].pid
        shield('-c', str(QUIET))
        equal(os.sched_getaffinity(pid), {QUIET}, 'a benchmark')
        shield('restore')
        equal(os.sched_getaffinity(pid), {QUIET}, 'a benchmark, afterwards')
        after = affinities()
        equal({key: after.get(key) for key in before}, before, 'afterwards')
        check(not JOURNAL.exists(), 'the journal is left')


def check_born():
    """What starts meanwhile, from parents that are moved, have chosen, or have ended by then."""
    with Load() as load:
        chosen = load.start('sh', '-c', 'while :; do sleep 0.02; done', cpus={OTHER})
        parent = load.start('sh', '-c', 'sleep 0.5; sleep 1000 & sleep 1000 & wait')
        shield('-c', str(QUIET))
        orphan = orphaned()
        wait_for(lambda: 'no child yet' if len(children(parent)) < 2 else None, 'children')
        for pid in (*children(parent), orphan):
            equal(os.sched_getaffinity(pid) & {QUIET}, set(), f'{pid} inherits')
        shield('restore')
        for pid in (parent, *children(parent), orphan):
            equal(os.sched_getaffinity(pid), set(CPUS), f'{pid} afterwards')
        equal(os.sched_getaffinity(chosen), {OTHER}, 'chosen before')
        for pid in children(chosen):
            try:
                equal(os.sched_getaffinity(pid), {OTHER}, 'a child of one that has chosen')
            except ProcessLookupError:
                pass
        os.kill(orphan, signal.SIGKILL)


def orphaned():
    out = subprocess.run(['sh', '-c', 'sleep 1000 >/dev/null 2>&1 & echo $!'], capture_output=True,
                         text=True, stdin=subprocess.DEVNULL, check=True).stdout
    return int(out)


def children(pid):
    try:
        return [int(word) for word in
                pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text().split()]
    except OSError:
        return []


def check_grown():
    """What started while fewer CPUs were online is given all of them in the end."""
    online = pathlib.Path('/sys/devices/system/cpu/online').read_text(encoding='utf-8').strip()
    grown = f'{online},{int(re.split("[-,]", online)[-1]) + 1}\n'
    born = pathlib.Path('/run/born')
    cpuset = pathlib.Path('/sys/fs/cgroup/cpuset')
    with Load() as load, contextlib.ExitStack() as stack:
        parent = load.start('sh', '-c', f'until [ -e {born} ]; do :; done; sleep 1000 & wait')
        # That CPU is not real: those who were there before get all that a cpuset without it has.
        (cpuset / 'pod').mkdir(parents=True)
        stack.callback(shutil.rmtree, cpuset)
        (cpuset / 'pod/cpuset.cpus').write_text(','.join(map(str, CPUS)) + '\n', encoding='utf-8')
        for pid in os.getpid(), parent:
            stack.enter_context(in_place_of(f'/proc/{pid}/cgroup', '3:cpuset:/pod\n'))
        shield('-c', str(QUIET))
        born.touch()
        orphan = orphaned()
        wait_for(lambda: 'no child yet' if not children(parent) else None, 'children')
        # A CPU that was offline, or that the machine did not have.
        for name in 'online', 'present':
            stack.enter_context(in_place_of(f'/sys/devices/system/cpu/{name}', grown))
        shield('restore')
        for pid in (parent, *children(parent), orphan):
            equal(os.sched_getaffinity(pid), set(CPUS), f'{pid} afterwards')


def check_restless():
    """Processes and threads start and end all the time, while it is applied and put back."""
    with Load() as load:
        for _ in range(2):
            load.start(sys.executable, '-c', FORKER)
        for _ in range(5):
            shield('-c', str(QUIET))
            wait_for(lambda: may_run_on(QUIET), 'threads that may run there')
            shield('restore')
            # The children of what was narrow for a moment have to be wide as well.
            equal(narrow(), [], 'narrow afterwards')
            check(not JOURNAL.exists(), 'the journal is left')


def check_slow_forks():
    """A child that is being made while its parent is put back, and is seen only later, is wide as well."""
    with Load() as load:
        load.start(sys.executable, '-c', SLOW_FORKER)
        for _ in range(10):
            shield('-c', str(QUIET))
            time.sleep(0.05)
            equal(may_run_on(QUIET), [], 'on the quiet CPU')
            shield('restore')
            equal(narrow(), [], 'narrow afterwards')
            # A child that was still being made is visible only now.
            time.sleep(0.05)
            equal(narrow(), [], 'narrow a moment later')


def check_foreign():
    """What somebody sets meanwhile stays, unless it is forced."""
    with Load() as load:
        changed = load.start('sleep', '1000')
        shield('-c', str(QUIET))
        os.sched_setaffinity(changed, {QUIET})
        result = shield('restore', status=None)
        equal(os.sched_getaffinity(changed), {QUIET}, 'what somebody has set')
        check(str(changed) in result.stdout + result.stderr, f'{result.stdout} {result.stderr}')
        shield('restore', '--force')
        equal(os.sched_getaffinity(changed), set(CPUS), 'forced')


def check_killed():
    """Killed at any moment: restore still gives everything back."""
    draw = random.Random(1)
    with Load() as load:
        for _ in range(30):
            load.start('sleep', '1000')
        load.start('sleep', '1000', cpus={QUIET})
        load.start('sleep', '1000', cpus={OTHER})
        before = affinities()
        began = time.monotonic()
        shield('-c', str(QUIET))
        whole = time.monotonic() - began
        shield('restore')
        seen = set()
        for _ in range(60):
            process = subprocess.Popen([TOOL, '-c', str(QUIET)], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(draw.uniform(0, whole))
            process.kill()
            process.wait()
            moved = sum(1 for key, cpus in affinities().items() if cpus != before.get(key, cpus))
            seen.add((JOURNAL.exists(), bool(moved)))
            if draw.random() < 0.3:
                process = subprocess.Popen([TOOL, 'restore'], stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(draw.uniform(0, whole))
                process.kill()
                process.wait()
            shield('restore')
            after = affinities()
            equal({key: after.get(key) for key in before}, before, 'afterwards')
        check((True, True) in seen, f'never killed in the middle: {seen}')


def check_many():
    with Load() as load:
        load.start(sys.executable, '-c', THREADS, '1500', stdout=subprocess.PIPE)
        load.processes[-1].stdout.readline()
        before = affinities()
        check(len(before) > 1500, len(before))
        shield('-c', str(QUIET))
        equal(may_run_on(QUIET), [], 'threads that did not move')
        shield('restore')
        after = affinities()
        equal({key: after.get(key) for key in before}, before, 'afterwards')


def check_refused():
    """A shield that shields nothing is an error, and leaves nothing behind."""
    with Load() as load:
        load.start('sleep', '1000')
        before = affinities()
        result = shield('-c', str(QUIET), status=3, preexec_fn=forbid('sched_setaffinity'))
        check('no thread could be moved away from CPU' in result.stderr, result.stderr)
        equal(result.stderr.count('\n'), 1, result.stderr)
        check(not JOURNAL.exists(), 'the journal is left')
        after = affinities()
        equal({key: after.get(key) for key in before}, before, 'afterwards')


def check_programs():
    """run, and runpinned, on the CPU that everybody has left."""
    with Load() as load:
        load.start('sleep', '1000')
        shield('run', '--', 'true', status=1)
        shield('-c', str(QUIET))
        equal(shield('run', '--', 'sh', '-c', 'taskset -cp $$').stdout.split(': ')[-1].strip(),
              str(QUIET), 'run')
        shield('run', '-c', str(OTHER), '--', 'true', status=2)
        result = subprocess.run([RUNPINNED, '-q', '-c', str(QUIET), '-n', '3', '--json', 'true'],
                                capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                check=False, timeout=DEADLINE)
        equal(result.returncode, 0, result.stderr)
        check(f'"quiesce_cpus": "{QUIET}"' in result.stdout, 'CPU')
        if len(CPUS) > 2:
            said = shield('-c', str(CPUS[-2]), status=1).stderr
            check('kept clear by affinities already' in said, said)


def become_user():
    """The command before one of an ordinary user, his environment, and the directory of his journal."""
    if not is_real_root():
        raise Skip('needs root, to become somebody else')
    own = pathlib.Path('/run/own')
    own.mkdir(exist_ok=True)
    os.chown(own, 12345, 12345)
    own.chmod(0o700)
    return (('setpriv', '--reuid=12345', '--regid=12345', '--clear-groups'),
            {**os.environ, 'XDG_RUNTIME_DIR': str(own)}, own)


def check_user():
    """An ordinary user clears a CPU of his own processes, with a journal of his own."""
    be, environment, own = become_user()
    with Load() as load:
        roots = load.start('sleep', '1000')
        mine = load.start(*be, 'sleep', '1000')
        wait_for(lambda: 'no sleep yet' if command(mine) != 'sleep' else None, 'the program')
        before = affinities()
        nobody = {key: value for key, value in os.environ.items() if key != 'XDG_RUNTIME_DIR'}
        said = shield('-c', str(QUIET), status=1, prefix=be, env=nobody).stderr
        check('XDG_RUNTIME_DIR' in said, said)
        out = shield('-c', str(QUIET), prefix=be, env=environment).stdout
        check('only root can take CPUs from others' in ' '.join(out.split()), out)
        equal(os.sched_getaffinity(mine) & {QUIET}, set(), 'his own process')
        equal(os.sched_getaffinity(roots), set(CPUS), 'a process of root')
        check((own / 'quiesce/cpu-shield.journal').exists() and not JOURNAL.exists(), 'journal')
        out = shield('status', '--brief', prefix=be, env=environment).stdout
        check(out.startswith('affinities (no partition)'), out)
        check('no CPU is shielded' in shield('status').stdout, 'status of root')
        equal(shield('status', '--brief', status=3).stdout, 'no CPU is shielded\n', 'the brief status of root')
        # A shield of root's beside it, which goes first.
        shield('-c', str(QUIET))
        shield('restore')
        equal(os.sched_getaffinity(mine) & {QUIET}, set(), 'his own process, after a shield of root')
        shield('restore', prefix=be, env=environment)
        # A shield of root's alone.
        shield('-c', str(QUIET))
        said = shield('restore', status=1, prefix=be, env=environment).stderr
        equal(said, 'cpu-shield: what root has set only root can put back\n', 'restore of a user')
        shield('restore')
        equal(shield('restore', prefix=be, env=environment).stderr, '', 'restore of a user, of nothing')
        after = affinities()
        equal({key: after.get(key) for key in before}, before, 'afterwards')
        equal(sorted(path.name for path in (own / 'quiesce').iterdir()), ['lock'], 'left behind')


@contextlib.contextmanager
def in_place_of(path, text):
    """A file that reads so until the block ends."""
    other = pathlib.Path('/run/in-place-of', path[1:])
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_text(text, encoding='utf-8')
    subprocess.run(['mount', '--bind', other, path], check=True)
    try:
        yield
    finally:
        subprocess.run(['umount', path], check=True)


def check_user_while_offline():
    """A user's journal does not hold the threads of others that lost a CPU which is offline now."""
    be, environment, own = become_user()
    rest = ','.join(str(cpu) for cpu in CPUS if cpu != QUIET)
    with Load() as load, contextlib.ExitStack() as stack:
        roots = load.start('sleep', '1000', cpus={*CPUS} - {QUIET})
        mine = load.start(*be, 'sleep', '1000')
        wait_for(lambda: 'no sleep yet' if command(mine) != 'sleep' else None, 'the program')
        shield('-c', str(QUIET), prefix=be, env=environment)
        cpuset = pathlib.Path('/sys/fs/cgroup/cpuset')
        cpuset.mkdir()
        (cpuset / 'cpuset.cpus').write_text(','.join(map(str, CPUS)) + '\n', encoding='utf-8')
        stack.callback(shutil.rmtree, cpuset)
        for pid in roots, mine:
            stack.enter_context(in_place_of(f'/proc/{pid}/cgroup', '3:cpuset:/\n'))
        with in_place_of('/sys/devices/system/cpu/online', rest + '\n'):
            said = shield('restore', prefix=be, env=environment).stderr
        check('offline' not in said, said)
        equal(os.sched_getaffinity(mine), set(CPUS), 'his own process')
        equal(sorted(path.name for path in (own / 'quiesce').iterdir()), ['lock'], 'left behind')


def command(pid):
    return pathlib.Path(f'/proc/{pid}/comm').read_text(encoding='utf-8').strip()


def quiesce(*options, status=0, **more):
    result = subprocess.run([RUNPINNED, '--quiesce', '-c', str(QUIET), '-n', '3', '--json', *options,
                             'true'], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                            check=False, timeout=DEADLINE, **more)
    equal(result.returncode, status, result.stderr)
    return result


def check_quiesce():
    """runpinned --quiesce tells what it has done and what else ran, and puts it back."""
    configure('SMT=leave', 'IRQ=leave', 'FREQ=leave', 'NOISE=leave')
    with Load() as load:
        load.start('sleep', '1000')
        before = affinities()
        result = quiesce('--strict')
        said = [line.split(': ', 1)[1] for line in result.stderr.splitlines()
                if line.startswith('runpinned: ')]
        check(any(line.startswith('shield: affinities (no partition); affinities of threads (')
                  for line in said), said)
        for part in 'SMT', 'interrupts', 'frequency', 'noise':
            check(f'{part}: left as it is (benchmark.conf)' in said, said)
        check('  meanwhile  visible tasks' in result.stderr, result.stderr)
        document = json.loads(result.stdout)
        facts = {**document.get('metadata', {}), **document['benchmarks'][0]['metadata']}
        equal(facts['quiesce_parts'], 'complete', 'quiesce_parts')
        check(facts['quiesce_part_shield'].startswith('affinities'), facts)
        check(facts['quiesce_meanwhile_interrupts'] >= 0, facts)
        # Nothing but the benchmark can run there.
        equal(facts['quiesce_meanwhile_tasks'], 0, facts['quiesce_meanwhile'])
        after = affinities()
        equal({key: after.get(key) for key in before}, before, 'afterwards')


def result_beside(kind, seconds):
    """What runpinned --quiesce tells of a task that takes so many seconds of its CPU: facts, runs, and
    the seconds that all of it took at most."""
    configure('SMT=leave', 'IRQ=leave', 'FREQ=leave', 'NOISE=leave')
    with Load() as load:
        load.start('sleep', '1000')
        began = time.monotonic()
        runpinned = subprocess.Popen(
            [RUNPINNED, '--quiesce', '-c', str(QUIET), '-q', '-n', '1000000', '--json', '--', 'sh', '-c',
             LOOP], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        load.processes.append(runpinned)

        def nothing_runs():
            for (tid, _), cpus in affinities().items():
                with contextlib.suppress(OSError):
                    if cpus == {QUIET} and command(tid) == 'sh':
                        return False
            return True
        wait_for(nothing_runs, 'no run has begun')
        with subprocess.Popen([sys.executable, '-c', TAKER, str(seconds), kind], text=True,
                              stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              preexec_fn=lambda: os.sched_setaffinity(0, {QUIET})) as taker:
            equal(taker.stdout.readline(), 'done\n', 'the taker')
            if kind != 'stays':
                taker.wait()
            runpinned.send_signal(signal.SIGINT)
            out, said = runpinned.communicate(timeout=DEADLINE)
            taker.kill()
        equal(runpinned.returncode, 130, said)
        benchmark = json.loads(out)['benchmarks'][0]
        runs = [run for run in benchmark['runs'] if 'values' in run]
        return benchmark['metadata'], runs, time.monotonic() - began


def check_meanwhile():
    """The CPU time of a task is told: while it lives as that of the task, else as that of what
    cannot be seen; and the runs have waited for it."""
    taken = 2
    for kind, key in (('stays', 'tasks'), ('ends', 'other'), ('short', 'other')):
        facts, runs, seconds = result_beside(kind, taken)
        told = facts[f'quiesce_meanwhile_{key}']
        check(told >= 100 * 0.6 * taken / seconds, f'{kind}: {facts["quiesce_meanwhile"]}')
        waited = sum(run['metadata'].get('quiesce_run_delay', 0) for run in runs)
        check(waited >= 0.6 * taken, f'{kind}: the runs waited for {waited} s')
        for data in (run['metadata'] for run in runs):
            # Nobody waits and runs for longer than he is there. The records are microseconds late.
            window = data.get('quiesce_window_kernel', data['quiesce_window_user'])
            check(data['quiesce_run_delay'] + data.get('quiesce_task_clock', 0) <= 1.01 * window + 1e-4,
                  f'{kind}: more than all of it: {data}')
        if kind == 'stays':
            check(told <= 100 * 1.1 * taken / sum(run['values'][0] for run in runs),
                  f'{told} % of {seconds} s: {facts["quiesce_meanwhile"]}')
            check('python' in facts['quiesce_meanwhile'], facts['quiesce_meanwhile'])


def check_many_programs():
    """The processes that runpinned has for its programs are its own, however many there are."""
    configure('SMT=leave', 'IRQ=leave', 'FREQ=leave', 'NOISE=leave')
    with Load() as load:
        load.start('sleep', '1000')
        result = subprocess.run([RUNPINNED, '--quiesce', '-c', str(QUIET), '-q', '-n', '1', '-w', '0',
                                 '--json', '-P', 'n=1..40', '--', 'true', '{n}'], text=True,
                                capture_output=True, stdin=subprocess.DEVNULL, check=False,
                                timeout=DEADLINE)
        equal(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        facts = {**document.get('metadata', {}), **document['benchmarks'][0]['metadata']}
        equal(facts['quiesce_meanwhile_tasks'], 0, facts['quiesce_meanwhile'])


def check_quiesce_refused():
    """Where nobody can be moved, runpinned --quiesce measures nothing."""
    with Load() as load:
        load.start('sleep', '1000')
        said = quiesce(status=1, preexec_fn=forbid('sched_setaffinity')).stderr
        check('no thread could be moved away from CPU' in said, said)
        check('without it nothing is quiet' in said, said)
        left = {path.name for path in JOURNAL.parent.iterdir()} - {'lock', 'turn', 'holders'}
        equal(left, set(), 'left in /run/quiesce')


def configure(*lines):
    """Into the folder of benchmark.conf, in place of what the machine has there."""
    folder = pathlib.Path(CONFIGDIR)
    there = next(path for path in (folder, *folder.parents) if path.is_dir())
    if there in map(pathlib.Path, ('/', '/etc', '/usr')):
        raise Skip(f'no place for {folder}/benchmark.conf that may be covered')
    subprocess.run(['mount', '-t', 'tmpfs', 'none', there], check=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'benchmark.conf').write_text('\n'.join(lines) + '\n', encoding='utf-8')


enter('threads are moved')
if len(CPUS) < 2:
    skip_all('threads are moved', 'one CPU only')
prepare()
QUIET, OTHER = CPUS[-1], CPUS[0]
run_tests((function.__name__[6:], function) for function in (
    check_cleared, check_born, check_grown, check_restless, check_slow_forks, check_foreign, check_killed,
    check_many, check_refused, check_programs, check_user, check_user_while_offline, check_quiesce,
    check_meanwhile, check_many_programs, check_quiesce_refused))
