# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of others that are bound to CPUs before, while, and after the machine is made quiet, with
children: each ends where its owner put it. Kernels before 6.2 forget that whenever a cpuset changes."""

# A program that binds itself, and whose cpuset changes before anybody has looked at it since, cannot get
# back what nobody knows. So of those that do it while the machine is made quiet or put back, a part may
# end with all CPUs on these kernels: less than half, however busy the machine is. Without the setters'
# help all of them would. And who is bound to just those CPUs that all have meanwhile looks like all.

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import threading
import time

from lab import (FORGETS, PATIENCE, SETTERS, become, boots, check, equal, note, parse_list, read, succeed, wait_for,
                 written)
import target

# Seconds between two births, twice as long after each FEWER. All live until the end, so that on a slow machine the setters
# would have more and more of them to look at, and be slower still.
EVERY, FEWER = 1, 60
UP = 4  # seconds for which the machine is quiet

# Starts a child over and over, and tells the number of each.
FORKER = f'''
import itertools, os, time
for n in itertools.count():
    pid = os.fork()
    if pid == 0:
        os.close(1)
        os.execv("/usr/bin/sleep", ["sleep", "100000"])
    print(pid, flush=True)
    time.sleep({EVERY} * 2 ** (n // {FEWER}))
'''


def allowed(pid):
    """The CPUs that a process may use, with those that are offline."""
    for line in (read(f'/proc/{pid}/status') or '').splitlines():
        if line.startswith('Cpus_allowed_list:'):
            return parse_list(line.split()[1])
    return None


class Bystanders:
    """`wanted`: {process number: (who it is, CPUs that its owner gave it)}."""

    def __init__(self):
        self.wanted = {}
        self.forkers = []
        self.started = []
        self.ends = threading.Event()
        self.phase = 'before'
        self.moment = set()  # who was started while cpusets were changing
        self.alike = set()  # who was bound to all CPUs that there were then
        self.lost = 0  # how many of them nobody can know, as wrong() has seen it
        self.threads = []
        self.raised = []  # what has ended threads too soon

    def start(self, cpus, user=None, command=('sleep', '100000'), **options):
        words = [*(become(user) if user else ()), 'taskset', '-c', cpus, *command]
        process = subprocess.Popen(words, **options)
        self.started.append(process)
        return process

    def bind_more(self):
        """Starts programs that are bound, and some that are not, one after the other."""
        kinds = ('1', 'root'), ('0', 'nobody'), ('0-1', 'root'), (None, 'root')
        for n, (cpus, user) in enumerate(itertools.cycle(kinds)):
            if self.ends.wait(EVERY * 2 ** (n // FEWER)):
                return
            phase = self.phase
            if cpus:
                process = self.start(cpus, user if user != 'root' else None)
            else:
                process = subprocess.Popen(['sleep', '100000'])
                self.started.append(process)
            who = f'bound to {cpus} by {user}' if cpus else 'bound to nothing'
            self.wanted[process.pid] = f'{who}, {phase}', parse_list(cpus or '0-3')
            if cpus and phase.startswith('while'):
                self.moment.add(process.pid)
            if cpus and parse_list(cpus) == os.sched_getaffinity(0):
                self.alike.add(process.pid)

    def bind_again(self, pid):
        """The owner of a program binds it to one CPU, then to another, and so on."""
        for cpu in itertools.cycle((0, 1)):
            if self.ends.wait(EVERY / 3):
                return
            os.sched_setaffinity(pid, {cpu})
            self.wanted[pid] = 'bound again and again', {cpu}

    def work(self, code, *arguments):
        """What a thread does. An exception there would end nothing but the thread: stop() tells it."""
        try:
            code(*arguments)
        except Exception as error:
            self.raised.append(error)

    def __enter__(self):
        for cpus in '0', '1', '2', '3', '1,3', '1-2', '0-2':
            process = self.start(cpus)
            self.wanted[process.pid] = f'bound to {cpus} before', parse_list(cpus)
        for cpus, user in ('1,3', None), ('1-2', 'nobody'), ('0-3', None):
            process = self.start(cpus, user, (sys.executable, '-c', FORKER), stdout=subprocess.PIPE)
            self.forkers.append((process, cpus))
        process = self.start('1')
        wait_for(lambda: allowed(process.pid) == {1}, 'the last program')
        for code, arguments in (self.bind_more, ()), (self.bind_again, (process.pid,)):
            self.threads.append(threading.Thread(target=self.work, args=(code, *arguments)))
            self.threads[-1].start()
        time.sleep(4 * EVERY)
        return self

    def are_bound(self):
        """Whether all that were started until now, and are bound to CPUs that others may have, are. What has
        become of those that were started while cpusets changed nobody can know."""
        return all(allowed(pid) is None or not cpus - {2, 3} or allowed(pid) <= cpus
                   for pid, (who, cpus) in list(self.wanted.items())
                   if cpus and 'again' not in who and pid not in self.moment)

    def end(self):
        """No more are born."""
        if not self.ends.is_set():
            self.ends.set()
            for thread in self.threads:
                thread.join()
            for process, cpus in self.forkers:
                self.wanted[process.pid] = f'parent bound to {cpus}', parse_list(cpus)
                process.send_signal(signal.SIGSTOP)
                os.set_blocking(process.stdout.fileno(), False)
                for line in (process.stdout.read() or b'').split():
                    self.wanted[int(line)] = f'child of a parent bound to {cpus}', parse_list(cpus)

    def stop(self):
        """No more are born, and all that were to be are there. Returns how many."""
        self.end()
        check(not self.raised, f'not all could be started, or bound: {self.raised}')
        return len(self.wanted)

    def wrong(self):
        """{who, what he should have, what he has: how many}."""
        # One may have been born of a fork(2) that lost its CPU for longer than the setters wait: cpu-shield(8).
        found, self.lost, late = {}, 0, False
        for pid, (who, wanted) in self.wanted.items():
            has = allowed(pid)
            if has is not None and has != wanted:
                if FORGETS and has == {0, 1, 2, 3} and pid in self.moment | self.alike:
                    self.lost += pid in self.moment
                    continue
                if who.startswith('child') and has < wanted and not late:
                    late = True
                    continue
                key = who, str(sorted(wanted)), str(sorted(has))
                found[key] = found.get(key, 0) + 1
        # Of very few of them it may be too many by chance.
        if self.lost > 1 + len(self.moment) / 2:
            found['bound while cpusets changed', 'their CPUs', 'all'] = self.lost
        return found

    def __exit__(self, *_):
        self.end()
        for pid in self.wanted:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for process in self.started:
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()
        for pid in self.wanted:
            wait_for(lambda p=pid: not os.path.exists(f'/proc/{p}'), 'the end of all')


@contextlib.contextmanager
def put_back_again():
    """Afterwards nobody is left to whom a setter has left his own choice, and no journal either."""
    yield
    for tool in SETTERS:
        succeed(tool, 'restore', timeout=PATIENCE)


def lasting(wrong):
    """What wrong() still finds after a while: a program that was just started has yet to bind itself."""
    end = time.monotonic() + 20
    while (found := wrong()) and time.monotonic() < end:
        time.sleep(0.5)
    return found


@contextlib.contextmanager
def bystanders():
    """Runs its block, which makes the machine quiet and puts it back, among bystanders. It is given
    what to call when the phase changes."""
    with put_back_again(), Bystanders() as them:
        def phase(name):
            them.phase = name
            if name == 'meanwhile':
                time.sleep(UP)
            else:
                # Who was started before has bound himself by then.
                wait_for(them.are_bound, 'programs that bind themselves')
        phase('while it begins')
        yield phase
        them.phase = 'after'
        time.sleep(2 * EVERY)
        n = them.stop()
        wrong = lasting(them.wrong)
        note(f'{os.uname().release}: {n} programs, {sum(wrong.values())} of them wrong; of '
             f'{len(them.moment)} bound while cpusets changed {them.lost} could not be known')
        check(not wrong, '\n'.join(f'{number} {who}: wanted {wanted}, have {has}'
                                   for (who, wanted, has), number in sorted(wrong.items())))


@contextlib.contextmanager
def in_cpusets():
    """As everybody is where some unit has AllowedCPUs=."""
    if not os.path.exists('/sys/fs/cgroup/cgroup.controllers'):
        yield
        return
    with written(('lab.slice', '[Slice]\nAllowedCPUs=0-3\n')):
        succeed('systemctl', 'start', 'lab.slice')
        wait_for(lambda: read('/sys/fs/cgroup/system.slice/cpuset.cpus.effective'), 'cpusets')
        try:
            yield
        finally:
            succeed('systemctl', 'stop', 'lab.slice')


@contextlib.contextmanager
def held(tool, *arguments):
    succeed(tool, *arguments, timeout=PATIENCE)
    yield
    succeed(tool, 'restore', timeout=PATIENCE)


def quiet(phase, tool, *arguments):
    with held(tool, *arguments):
        phase('meanwhile')
        phase('while it ends')


@boots('plain', 'cgroup-v1')
def test_shield():
    with bystanders() as phase:
        quiet(phase, 'cpu-shield', '-c', '2')


@boots('plain', 'cgroup-v1')
def test_smt():
    with bystanders() as phase:
        quiet(phase, 'smt-off', '-c', '2')


def test_smt_in_cpusets():
    with in_cpusets(), bystanders() as phase:
        quiet(phase, 'smt-off', '-c', '2')


@boots('plain', 'cgroup-v1')
def test_both():
    with bystanders() as phase, held('cpu-shield', '-c', '2'):
        quiet(phase, 'smt-off', '-c', '2')


def test_both_begun_in_the_wrong_order():
    with bystanders() as phase, held('smt-off', '-c', '2'):
        quiet(phase, 'cpu-shield', '-c', '2')


def test_both_ended_in_the_wrong_order():
    with bystanders() as phase:
        for tool in ('cpu-shield', 'smt-off'):
            succeed(tool, '-c', '2', timeout=PATIENCE)
        phase('meanwhile')
        phase('while it ends')
        for tool in ('cpu-shield', 'smt-off'):
            succeed(tool, 'restore', timeout=PATIENCE)


def test_target():
    with bystanders() as phase, target.up('CPUS=2'):
        phase('meanwhile')
        phase('while it ends')


def test_while_it_is_up():
    """What the shield has kept smt-off keeps, too."""
    with put_back_again(), Bystanders() as them, held('cpu-shield', '-c', '2'), held('smt-off', '-c', '2'):
        time.sleep(1)
        them.stop()

        def wrong():
            all_of_them = [(who, wanted, allowed(pid)) for pid, (who, wanted) in them.wanted.items()]
            return [(who, wanted - {2, 3}, has - {2, 3}) for who, wanted, has in all_of_them
                    if has is not None and wanted - {2, 3} and has - {2, 3} != wanted - {2, 3}]
        equal(lasting(wrong), [], 'who, what he should have of the other CPUs, and what he has')
