#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""benchmark-join moves processes, by a systemd of the test's own (systemd.py), while something fails: each
of its system calls fails once with each error that it can return, and from then on for ever with one of
them; and so does each allocation.

    join-faults.py [--all|--sample N] [--seed N] [--only new|shared] [--at CALL,NUMBER,ERRNO,once|forever]

Two processes ask, of two users where the test is root. Each is moved into its scope, with the limits that
it has in peace, and told "ok"; or it stays where it is, and is told why in words that are true, or that it
is not known whether it will be moved; or its connection is closed, and the server says why. When it asks
again, of the same server after a failure that came once, and of a new one otherwise, it is moved. No other
process is moved, no scope is left without a process, the server is not ended by a signal, and does not end
without a message.

"new": nobody has joined yet. "shared": a process of the same cgroup has, so that its scope is used.
"""

import contextlib
import errno
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'machine'))
from cases import NEVER_FOREVER, list_allocations, list_calls, read_options, run_campaign  # noqa: E402
from machine import Failed, Machine, Skip, check, equal, run_tests  # noqa: E402
from systemd import Systemd  # noqa: E402

PROGRAM = os.environ['BENCHMARK_JOIN']
FAULT = os.environ['MEASURE_FAULT']
MALLOC = os.environ['FAILING_MALLOC']
BOOT_ID = '5e77e12f-0000-4000-8000-000000000001'
EXIT_SKIP = 77
SECONDS = 120
STATES = ('new', 'shared')
# The users that root can be. The server of somebody else's sees itself and all others as root.
USERS = (65533, 65534) if os.geteuid() == 0 else (0,)
# Reasons that are not true in any case here.
UNTRUE = ('has ended', 'limit of tasks', 'is not up', 'not reached')


class Asker:
    """A process that connects whenever it is told to, and tells what it is answered."""

    def __init__(self, user):
        self.user = user
        theirs, self.orders = os.pipe()
        answers, theirs_too = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(self.orders)
                os.close(answers)
                if os.geteuid() == 0:
                    os.setresgid(user, user, user)
                    os.setresuid(user, user, user)
                self.live(os.fdopen(theirs, encoding='utf-8'), theirs_too)
            finally:
                os._exit(1)
        os.close(theirs)
        os.close(theirs_too)
        # Without a buffer, for select().
        self.answers = os.fdopen(answers, 'rb', buffering=0)

    @staticmethod
    def live(orders, answers):
        for path in orders:
            answer = b''
            with socket.socket(socket.AF_UNIX) as door, contextlib.suppress(ConnectionError):
                door.connect(path.strip())
                os.write(answers, b'in\n')
                answer = door.recv(4096)
            os.write(answers, answer or b'\n')

    def ask(self, path):
        os.write(self.orders, f'{path}\n'.encode())
        # The answer to a case that was given up comes when its door is closed.
        while (line := self.read()) != 'in':
            check(line is not None, 'who asks has ended')

    def read(self):
        line = self.answers.readline().decode()
        return line.strip() if line else None

    def end(self):
        os.close(self.orders)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


class Manager(Systemd):
    """It tells the kernel where a process is: a file for each."""

    moves = True

    def __init__(self, box):
        super().__init__(box)
        self.folder = self.root / 'cgroups'
        self.folder.mkdir()
        self.units['benchmark.slice'] = {'ActiveState': 'active'}
        self.units['user.slice'] = {'ActiveState': 'active', 'MemoryMax': 8 << 30}
        for user in USERS:
            self.units[f'user-{user}.slice'] = {'ActiveState': 'active', 'TasksMax': 1000,
                                                'CPUQuotaPerSecUSec': 1500000}

    def moved(self, pid, folder):
        if not self.moves:
            return
        (self.folder / str(pid)).write_text(f'0::/{folder.relative_to(self.cgroups)}\n', encoding='utf-8')

    def started(self):
        """{unit: its properties}, of those that have been started."""
        return {name: unit for name, unit in self.units.items() if name.startswith('benchmark-')}

    def end_all(self):
        for name in sorted(self.started(), reverse=True):
            self.forget(name)


class Door:
    """Where systemd listens for the server."""

    def __init__(self, folder, number):
        self.path = f'{folder}/{number}'
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        os.chmod(self.path, 0o666)
        self.listener.listen(64)

    def close(self):
        """Also ends the servers, with a message."""
        if self.listener.fileno() < 0:
            return
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        os.unlink(self.path)


def cgroup_of(user):
    return f'user.slice/user-{user}.slice/session-1.scope'


class Joining:
    """A machine, and who asks to be let onto its quiet CPUs."""

    def __init__(self, stack):
        self.askers = [Asker(user) for user in USERS]
        self.first = Asker(USERS[0])
        for asker in (*self.askers, self.first):
            stack.callback(asker.end)
        self.box = stack.enter_context(Machine('vm-plain'))
        self.box.write('proc/sys/kernel/random/boot_id', BOOT_ID + '\n')
        self.box.write('run/quiesce/target', f'QUIESCE_TARGET=1\nBOOT_ID={BOOT_ID}\nCPUS=1\n')
        (self.box.root / 'sys/fs/cgroup/benchmark.slice').mkdir(parents=True)
        for user in USERS:
            folder = f'sys/fs/cgroup/{cgroup_of(user)}'
            for name, text in (('pids.max', '300'), ('pids.current', '3'), ('cpu.max', '50000 100000'),
                               ('memory.max', 'max'), ('memory.high', f'{1 << 30}')):
                self.box.write(f'{folder}/{name}', f'{text}\n')
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix='join.')))
        self.folder.chmod(0o755)
        self.report, self.said = self.folder / 'report', self.folder / 'said'
        self.systemd = stack.enter_context(Manager(self.box))
        self.n_doors, self.servers = 0, []
        self.learn()

    def open_door(self):
        self.n_doors += 1
        return Door(self.folder, self.n_doors)

    def serve(self, door, injected=(), preload=(), variables=()):
        command = [os.environ['SYSROOT'], '--root', self.box.root, '--', *injected, '/usr/bin/env',
                   f'LD_PRELOAD={" ".join([os.environ["KERNEL"], os.environ["TIMELESS"], *preload])}',
                   f'TEST_CGROUPS_FOLDER={self.systemd.folder}', *variables, PROGRAM]
        with self.said.open('a') as said:
            server = subprocess.Popen(command, stdin=door.listener, stdout=subprocess.DEVNULL, stderr=said)
        self.servers.append(server)
        return server

    def reset(self, state):
        self.inside = set()
        self.systemd.end_all()
        for asker in (*self.askers, self.first):
            self.systemd.moved(asker.pid, self.systemd.cgroups / cgroup_of(asker.user))
        if state == 'shared':
            for arguments in self.of_first:
                self.systemd.StartTransientUnit(*arguments)
        self.said.write_text('')

    def wait_for_answers(self, askers, door):
        """Their answers. If the server ends, systemd starts it again for those who wait."""
        answers, end = {}, time.monotonic() + SECONDS
        while len(answers) < len(askers):
            waiting = {asker.answers.fileno(): asker for asker in askers if asker not in answers}
            if self.servers[-1].poll() is not None:
                self.serve(door)
            ended = os.pidfd_open(self.servers[-1].pid)
            ready = select.select([*waiting, ended], [], [], max(0, end - time.monotonic()))[0]
            os.close(ended)
            check(ready, 'no answer')
            for fd in waiting:
                if fd in ready:
                    answers[waiting[fd]] = waiting[fd].read()
        return answers

    def end(self, door):
        door.close()
        for server in self.servers:
            try:
                server.wait(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()
                raise Failed('the server does not end') from None
        self.servers.clear()
        self.systemd.settle()

    def ask_once(self, askers, *arguments, **more):
        """What all are answered, and the server that was started for them with these arguments."""
        door = self.open_door()
        for asker in askers:
            asker.ask(door.path)
        server = self.serve(door, *arguments, **more)
        answers = self.wait_for_answers(askers, door)
        self.end(door)
        return list(answers.values()), server

    def join_in_peace(self, askers):
        answers, _ = self.ask_once(askers)
        equal(answers, ['ok'] * len(askers), f'answers in peace: {self.said.read_text()}')

    def learn(self):
        """What is started in peace."""
        self.of_first = ()
        self.reset('new')
        self.join_in_peace([self.first])
        self.of_first = [(name, mode, [('PIDs', [self.first.pid]) if of[0] == 'PIDFDs' else of for of in known],
                          others) for method, name, mode, known, others in
                         (call for call in self.systemd.calls if call[0] == 'StartTransientUnit')]
        self.reset('new')
        self.join_in_peace(self.askers)
        self.limits = {name: self.limits_of(unit) for name, unit in self.systemd.started().items()}
        slices, scopes = {'TasksMax': 1000, 'MemoryMax': 8 << 30, 'CPUQuotaPerSecUSec': 1500000}, \
            {'TasksMax': 300, 'MemoryHigh': 1 << 30, 'CPUQuotaPerSecUSec': 500000}
        equal(sorted(self.limits.values(), key=str), sorted([slices, scopes] * len(USERS), key=str),
              'limits in peace')

    @staticmethod
    def limits_of(unit):
        return {name: value for name, value in unit.items() if isinstance(value, int)}

    def list_cases(self, state):
        self.reset(state)
        answers, server = self.ask_once(self.askers, [FAULT, self.report, '--count', '--'])
        if server.returncode == EXIT_SKIP:
            raise Skip(self.said.read_text().strip())
        equal(answers, ['ok'] * len(USERS), 'nothing fails, and yet')
        # It rightly waits for as long as there is no memory for a connection, and takes the next one
        # after one that is gone already.
        return list_calls(self.report.read_text(encoding='utf-8'),
                          lambda call, error: error == errno.EPERM if call == 'accept4'
                          else error not in NEVER_FOREVER)

    def list_allocations(self, state):
        self.reset(state)
        answers, _ = self.ask_once(self.askers, preload=[MALLOC], variables=[f'FAIL_ALLOC_COUNT={self.report}'])
        equal(answers, ['ok'] * len(USERS), 'nothing fails, and yet')
        return list_allocations(int(self.report.read_text(encoding='utf-8')))

    def serve_with_failure(self, door, case):
        number, failed, error, how = case
        if failed == 'allocation':
            return self.serve(door, preload=[MALLOC], variables=[
                f'FAIL_ALLOC_AT={number}', f'FAIL_ALLOC_FOREVER={int(how == "forever")}'])
        return self.serve(door, [FAULT, self.report, '0', failed, number, error, how, '--'])

    def judge(self, asker, answer):
        with self.systemd.lock:
            units = self.systemd.where(asker.pid)
        if asker in self.inside:
            equal(len(units), 1, 'scopes of a process that was let in')
            return
        if answer == 'ok':
            self.inside.add(asker)
        if answer == 'ok':
            equal([name for name in units if name in self.limits], units, 'where it is')
            check(units, 'it is told "ok" and was not moved')
        elif answer:
            check(not any(reason in answer for reason in UNTRUE), f'it is told "{answer}"')
            check(not units or 'not known' in answer, f'it is told "{answer}" and was moved')
        else:
            said = self.said.read_text()
            check(said, 'turned away, and the server does not say why')
            check(not units or 'cannot answer "ok"' in said, 'it was moved, and not told so')

    def judge_units(self):
        known = {asker.pid for asker in (*self.askers, self.first)}
        with self.systemd.lock:
            for name, unit in self.systemd.started().items():
                equal(self.limits_of(unit), self.limits.get(name), f'limits of {name}')
                if name.endswith('.scope'):
                    check(unit['processes'], f'{name} has no process')
                    check(unit['processes'] <= known, f'{name} has {unit["processes"]}')

    def try_case(self, state, case):
        self.reset(state)
        door = self.open_door()
        for asker in self.askers:
            asker.ask(door.path)
        server = self.serve_with_failure(door, case)
        try:
            answers = self.wait_for_answers(self.askers, door)
            for asker, answer in answers.items():
                self.judge(asker, answer)
            self.judge_units()
            if case[3] == 'forever' or server.poll() is not None:
                self.end(door)
                door = self.open_door()
                self.serve(door)
            # The server's turns differ: a failure that was to come before may come now.
            for again in ('second', 'third'):
                for asker in self.askers:
                    asker.ask(door.path)
                answers = self.wait_for_answers(self.askers, door)
                for asker, answer in answers.items():
                    self.judge(asker, answer)
                if set(answers.values()) == {'ok'}:
                    break
            check(set(answers.values()) == {'ok'}, f'{set(answers.values())} the {again} time')
            self.judge_units()
        except Failed as failure:
            raise Failed(f'{failure}\n  {self.said.read_text().strip()[-600:]}') from failure
        finally:
            self.end(door)
        return self.judge_server(server, case)

    def judge_server(self, server, case):
        status, failed = server.returncode, case[1]
        if failed != 'allocation':
            equal(status, 0, f'measure-fault: {self.said.read_text()}')
            failed, status, outlived = self.report.read_text(encoding='utf-8').split()
            status = int(status)
            equal(outlived, '0', 'processes that outlived it')
        said = self.said.read_text()
        equal(status, 1, f'{failed}: status of the server, which says {said[-600:]}')
        check(said, f'{failed}: the server ends without a message')
        return failed != '-'


def fail(options, state, kind, list_cases):
    with contextlib.ExitStack() as stack:
        joining = Joining(stack)
        return run_campaign(options, f'{state}: {kind}', lambda: list_cases(joining, state),
                            lambda case: joining.try_case(state, case))


def test_process_is_named():
    """systemd is given the process itself, and where it does not take that, its number."""
    with contextlib.ExitStack() as stack:
        joining = Joining(stack)
        asker = joining.askers[0]
        for takes, wanted in (True, ['PIDFDs']), (False, ['PIDFDs', 'PIDs']):
            joining.reset('new')
            joining.systemd.takes_pidfds = takes
            joining.systemd.calls.clear()
            equal(joining.ask_once([asker])[0], ['ok'], 'answer')
            scopes = [dict(call[3]) for call in joining.systemd.calls
                      if call[0] == 'StartTransientUnit' and call[1].endswith('.scope')]
            equal([name for known in scopes for name in known if name.startswith('PID')], wanted, 'given')
            equal(len(joining.systemd.where(asker.pid)), 1, 'scopes of who asked')


def test_move_that_was_none():
    """"ok" is where the kernel says that the process is inside, whatever systemd says."""
    with contextlib.ExitStack() as stack:
        joining = Joining(stack)
        for state in STATES:
            joining.reset(state)
            joining.systemd.moves = False
            equal(joining.ask_once(joining.askers[:1])[0], ['systemd did not move it, and says that it did'],
                  f'{state}: answer')
            joining.systemd.moves = True


def main():
    options = read_options(only=STATES)
    kinds = {'system calls': Joining.list_cases, 'allocations': Joining.list_allocations}
    run_tests([('the process itself is named', test_process_is_named),
               ('a move that was none', test_move_that_was_none),
               *((f'{state}: {kind}',
                  lambda state=state, kind=kind: fail(options, state, kind, kinds[kind]))
                 for state in STATES for kind in kinds if options.only in (None, state))])


if __name__ == '__main__':
    main()
