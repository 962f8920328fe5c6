#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""runpinned and bench-report while something fails. Each of their system calls fails once, or from then
on for ever, with each error that it can return; and so does each allocation, also those of isol-check.

    measure-faults.py [--all|--sample N] [--seed N] [--only WORD] [--at ROLE,CALL,NUMBER,ERRNO,once|forever]

A command must end with exit status 0 and the whole result, or with another status and a message. No
file may be incomplete: it is the old one, or the new one, or there is none. If a result was written to
another place, a message names that place. The command must not be ended by a signal, no process may
outlive it, and it must not wait for ever. Without --all, a sample is drawn, at first one of each sort of
failure (process, call, error).

Less is required of `bench-report plot`: when memory is short, fontconfig and cairo may end the program
by a signal, and when there is no memory at all, they wait for ever. So only one allocation fails there,
not all that follow. But the picture must be complete, or there must be none.
"""

import argparse
import csv
import errno
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'machine'))
from cases import after_loader, sample, ways  # noqa: E402
from machine import Failed, Skip, check, run_tests  # noqa: E402

SAMPLES = pathlib.Path(__file__).resolve().parents[1] / 'unit' / 'import'
RUNPINNED = os.environ['RUNPINNED']
BENCH_REPORT = os.environ['BENCH_REPORT']
ISOL_CHECK = os.environ['ISOL_CHECK']
FAULT = os.environ['MEASURE_FAULT']
MALLOC = os.environ['FAILING_MALLOC']
EMPTY = os.environ['EMPTY']
LOOKUP = os.environ['LOOKUP']
BENCHMARK = 'lookup/small'
CPUS = sorted(os.sched_getaffinity(0))
RUNS = 2
EXIT_SKIP = 77
SHOWN = 12
OUTLIVE_SECONDS = 5  # as in measure-fault.c


class Violation(Exception):
    pass


def wanted(condition, what):
    if not condition:
        raise Violation(what)


def load_result(path):
    """A result that runpinned has written; other tests check that it follows pyperf's rules."""
    try:
        return json.loads(path.read_text(encoding='utf-8'))
    except ValueError as error:
        raise Violation(f'{path.name} is no JSON: {error}') from error


def values(benchmark):
    return [value for run in benchmark['runs'] for value in run.get('values', ())]


def check_result(path, benchmarks, status):
    """Checks that the file has all new runs, and those that it had before, by the benchmark's name.
    When something fails in the middle of the runs, those made until then are saved and marked as
    incomplete."""
    result = load_result(path)
    found = {}
    for one in result['benchmarks']:
        said = {**one['runs'][-1].get('metadata', {}), **one.get('metadata', {})}
        name, n = said['name'], len(values(one))
        found[name] = n
        if status != 0 and 0 < n < benchmarks.get(name, 0) and 'quiesce_incomplete' in said:
            found[name] = benchmarks[name]
    wanted(found == benchmarks, f'{path.name} has {found}')


# fontconfig keeps what it has read of the fonts, also what it has read while something failed. Root's
# would be the machine's own, in which no program finds a font from then on.
FONTS = '''<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
<dir>/usr/share/fonts</dir>
<cachedir>{cache}</cachedir>
<include ignore_missing="yes">/etc/fonts/conf.d</include>
</fontconfig>
'''


class Place:
    """The folder in which a command runs; it is filled anew for each failure."""

    def __init__(self, root, cpu):
        self.cpu = str(cpu)
        self.root = pathlib.Path(tempfile.mkdtemp(dir=root))
        self.out = self.root / 'out'
        self.tmp = self.root / 'tmp'
        self.state = self.root / 'state'
        self.fonts = self.root / 'fonts'
        (self.root / 'fonts.conf').write_text(FONTS.format(cache=self.fonts), encoding='utf-8')

    def prepare(self, scenario):
        for folder in (self.out, self.tmp, self.state, self.fonts):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        for name, content in scenario.before.items():
            (self.out / name).write_bytes(content)
        for name, content in scenario.fonts.items():
            (self.fonts / name).write_bytes(content)

    def environment(self, **more):
        return {'PATH': os.environ['PATH'], 'LC_ALL': 'C', 'HOME': str(self.root),
                'TMPDIR': str(self.tmp), 'XDG_STATE_HOME': str(self.state), 'COLUMNS': '80',
                'FONTCONFIG_FILE': str(self.root / 'fonts.conf'), **more}


class Scenario:
    """A command, and the files that it has to write."""

    program = 'runpinned'
    # For lack of memory, or wait for ever: fontconfig 2.14 waits for a lock of its own then.
    may_crash = False
    fine = (0,)  # the statuses that need no message

    def __init__(self, name, arguments, before=None):
        self.name = name
        self.arguments = arguments
        self.before = before or {}
        self.fonts = {}  # what fontconfig has kept after a run in which nothing fails

    def command(self, place):
        return [RUNPINNED, '-q', '-c', place.cpu, '-n', str(RUNS), '-w', '0',
                *(word.format(out=place.out) for word in self.arguments), EMPTY]

    def check_file(self, path, status):
        if path.suffix == '.csv':
            with path.open(newline='', encoding='utf-8') as file:
                rows = list(csv.DictReader(file))
            whole = len(rows) == RUNS if status == 0 else 0 < len(rows) <= RUNS
            wanted(whole and all(row['value'] for row in rows), f'{path.name}: {rows}')
            return
        there = {'old': 1} if self.name == 'append' and path.name == 'result.json' else {}
        check_result(path, {**there, 'empty': RUNS}, status)

    def check_end(self, place, status, stdout, stderr):
        files = {'-o': 'result.json', '--csv': 'runs.csv'}
        for option, name in files.items():
            if option not in self.arguments:
                continue
            path = place.out / name
            if status == 0:
                wanted(path.exists(), f'status 0 without {name}')
            if not path.exists():
                wanted(name not in self.before, f'the old {name} is gone')
            elif status == 0 or path.read_bytes() != self.before.get(name):
                self.check_file(path, status)
        others = [path.name for path in place.out.iterdir()
                  if path.name not in (*files.values(), *self.before)]
        wanted(not others, f'left in the folder: {others}')
        for path in place.tmp.iterdir():
            wanted(str(path) in stderr, f'{path} was not named')
            check_result(path, {'empty': RUNS}, status)
        for path in place.state.rglob('*.*'):
            wanted(path.name == 'last.json', f'left in the state folder: {path.name}')
            check_result(path, {'empty': RUNS}, status)


class Rescued(Scenario):
    """runpinned whose result cannot be written where it was to be: its folder is gone."""

    fine = (1,)

    def __init__(self):
        super().__init__('rescued', ['-o', '{out}/gone/result.json', '--cleanup', 'rm -rf {out}/gone'])

    def command(self, place):
        (place.out / 'gone').mkdir(exist_ok=True)
        return super().command(place)

    def check_end(self, place, status, stdout, stderr):
        wanted(status != 0 and (status != 1 or 'runpinned: ' in stderr), f'status {status}, and {stderr!r}')
        for path in place.tmp.iterdir():
            wanted(str(path) in stderr, f'{path} was not named')
            check_result(path, {'empty': RUNS}, status)


class Library(Scenario):
    """A program that measures itself by libquiesce."""

    program = 'lookup'

    def __init__(self):
        super().__init__('saved', ['-o', '{out}/result.json'])

    def command(self, place):
        return [LOOKUP, '-q', '--processes=2', '--values=2', '--warmups=0', '--loops=1',
                f'--cpu={place.cpu}', *(word.format(out=place.out) for word in self.arguments), BENCHMARK]

    def check_file(self, path, status):
        # When a process fails, the values of the others are saved.
        found = [len(values(one)) for one in load_result(path)['benchmarks']]
        wanted(found == [4] or (status != 0 and found == [2]), f'status {status}, {found} values')


class Report(Scenario):
    """bench-report: its output is the same as without a failure, or it reports the failure."""

    program = 'bench-report'

    def __init__(self, name, arguments, before, output=None):
        super().__init__(name, arguments, before)
        self.output = output
        self.may_crash = name == 'plot'
        self.whole = None  # standard output, and the file, of a run in which nothing fails

    def command(self, place):
        return [BENCH_REPORT, *(word.format(out=place.out) for word in self.arguments)]

    def outcome(self, place, stdout):
        path = place.out / self.output if self.output else None
        text = stdout.replace(str(place.out), 'OUT')
        return text, path.read_bytes() if path and path.exists() else None

    def check_end(self, place, status, stdout, stderr):
        text, content = self.outcome(place, stdout)
        # If a font cannot be read, the picture uses another one.
        if self.name == 'plot' and content and content.rstrip().endswith(b'</svg>'):
            content = self.whole[1]
        if status == 0:
            wanted((text, content) == self.whole, f'status 0, and another outcome: {text[-300:]!r}')
        if self.output:
            wanted(content in (None, self.whole[1]), f'{self.output} is neither whole nor missing')
        others = {path.name for path in place.out.iterdir()} - {*self.before, self.output}
        wanted(not others, f'left in the folder: {others}')
        for name, before in self.before.items():
            wanted((place.out / name).read_bytes() == before, f'{name} was changed')


class Look(Scenario):
    """isol-check: it does all of its work, or ends with one message. What the C library has no memory for,
    a folder or a stream, is not known: so the findings of a whole output may be others."""

    program = 'isol-check'
    fine = (0, 3)
    # The first one is ours. A folder of a recording, a thread, glob(), the configuration of libsensors, and
    # an archive, which does not tell why it cannot be written, are those of libraries.
    ENDS = re.compile(r'isol-check: out of memory\n|isol-check: cannot show .*: Cannot allocate memory\n|'
                      r'isol-check: cannot measure CPU \d+: Resource temporarily unavailable\n|'
                      r'free\(\): double free detected.*\n|out of dynamic memory in yy.*\n|.*flex scanner failed\n|'
                      r'Fatal Internal Error in libarchive: Out of memory\n|'
                      r'isol-check: cannot write .*: Input/output error\n')

    def __init__(self, name, arguments, output=None):
        super().__init__(name, arguments)
        self.output = output
        self.may_crash = True
        self.whole = None

    def command(self, place):
        return [ISOL_CHECK, *(word.format(out=place.out, cpu=place.cpu) for word in self.arguments)]

    def outcome(self, _, stdout):
        """Which checks there are, or which kinds of figures; else the first line, without its numbers."""
        if not stdout.startswith('{'):
            lines = [line for line in stdout.splitlines() if line and not line.startswith('note:')]
            return re.sub(r'[\d.]+', 'N', lines[0]) if lines else ''
        rows, = json.loads(stdout).values()
        return {row.get('id') or row['subject'] for row in rows} - {'softirq', 'interrupt', 'task', 'note'}

    def check_end(self, place, status, stdout, stderr):
        path = place.out / self.output if self.output else None
        others = {each.name for each in place.out.iterdir()} - {self.output}
        wanted(not others, f'left in the folder: {others}')
        if status not in self.fine:
            wanted(self.ENDS.fullmatch(stderr), f'status {status}, another message')
            wanted(not path or not path.exists(), f'{self.output} was written')
            return
        wanted(self.outcome(place, stdout) == self.whole, f'status {status}, and another outcome: {stdout[-300:]!r}')
        if path:
            with tarfile.open(path) as recording:
                wanted(len(recording.getmembers()) > 100, 'a part of the recording')


def run(command, place, may_hang=False, **environment):
    # The messages of the program go to a file in memory, so that a full disk does not matter.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            status = subprocess.run(command, cwd=place.root, stdin=subprocess.DEVNULL, stdout=out,
                                    stderr=err, env=place.environment(**environment), check=False,
                                    timeout=60 if may_hang else 300).returncode
        except subprocess.TimeoutExpired:
            if not may_hang:
                raise
            status = -signal.SIGKILL
        out.seek(0)
        err.seek(0)
        return (status, out.read().decode(errors='replace'),
                err.read().decode(errors='replace'))


def injector(command, place, *arguments):
    """Returns what measure-fault reports, and the output of the command."""
    report = place.root / 'report'
    status, stdout, stderr = run([FAULT, report, *arguments, '--', *command], place)
    return status, report.read_text(), stdout, stderr


def judge(scenario, place, status, outlived, stdout, stderr):
    wanted(status >= 0, 'it did not end')
    wanted(status < 128 or scenario.may_crash, f'it ended by signal {status - 128}')
    wanted(outlived == 0, f'{outlived} processes outlived it')
    said = re.search(rf'^(?:/.*/)?{scenario.program}: .', stderr, re.MULTILINE)
    # The dynamic loader, of which not all messages have a name before them; the reader of libsensors'
    # configuration and libarchive, which end the program by themselves.
    others = (status == 127 and stderr) or 'flex scanner failed' in stderr \
        or stderr.startswith(('out of dynamic memory in yy', 'Fatal Internal Error in libarchive'))
    wanted(status in scenario.fine or status > 128 or said or others,
           f'status {status} without a message ({stderr!r})')
    scenario.check_end(place, status, stdout, stderr)


# --- System calls ---

def list_calls(scenario, place):
    place.prepare(scenario)
    status, said, _, stderr = injector(scenario.command(place), place, '--count')
    if status == EXIT_SKIP:
        raise Skip(stderr.strip())
    check(status == 0, f'nothing fails, and yet: {status} {stderr}')
    return [line.split() for line in said.splitlines()]


def list_cases(calls):
    """All failures, each as (role, number, call, errno, "once" or "forever")."""
    cases = []
    for role, number, name, *numbers in calls:
        for error in map(int, numbers):
            cases += [(role, number, name, error, how) for how in ways(error)]
    return cases


def try_call(scenario, place, case):
    """Returns whether the call was made, and the violation or None."""
    role, number, call, error, how = case
    place.prepare(scenario)
    status, said, stdout, stderr = injector(
        scenario.command(place), place, role, call, number, str(error), how)
    if status != 0:
        return False, f'measure-fault: {status} {stderr}'
    failed, status, outlived = said.split()
    try:
        judge(scenario, place, int(status), int(outlived), stdout, stderr)
    except Violation as violation:
        return failed != '-', f'{failed}: {violation}\n  {stderr.strip()[-400:]}'
    return failed != '-', None


class Counted(Scenario):
    """runpinned with a counter, and enough runs that the middle one of the launcher's calls is of one."""

    COUNT = 'quiesce_event_page-faults'
    RUNS = 40

    def __init__(self):
        super().__init__('counted', ['-o', '{out}/result.json', '-n', str(self.RUNS), '-e', 'page-faults'])

    def counts(self, place):
        return [run.get('metadata', {}).get(self.COUNT)
                for one in load_result(place.out / 'result.json')['benchmarks'] for run in one['runs']]


def miss_reading(campaign):
    """A counter that cannot be read after a run: that run has no count, and the next one not that of both."""
    scenario, place = Counted(), campaign.places[0]
    of_launcher = [call for call in list_calls(scenario, place) if call[0] == '2']
    # More than the calls of two runs.
    middle = of_launcher[len(of_launcher) // 2:][:100]
    most = max(filter(None, scenario.counts(place)), default=None)
    if not most:
        raise Skip('page faults are not counted here')
    missed = 0
    for role, number, call, *_ in middle:
        if call != 'read':
            continue
        place.prepare(scenario)
        injector(scenario.command(place), place, role, call, number, str(errno.EIO), 'once')
        counts = scenario.counts(place)
        check(len(counts) == scenario.RUNS, f'{len(counts)} runs')
        missed += None in counts
        check(all(count is None or count < 1.7 * most for count in counts), f'{counts}, of {most} at most')
    check(missed > 0, 'no reading of a counter has failed')


# --- Allocations ---

def count_left(place):
    """How many processes are in the folder, where all that the command starts begins, and stay there: what ends when
    the command does needs a moment on a busy machine."""
    until = time.monotonic() + OUTLIVE_SECONDS
    while True:
        found = 0
        for entry in pathlib.Path('/proc').glob('[0-9]*'):
            try:
                found += os.readlink(entry / 'cwd') == str(place.root)
            except OSError:
                pass
        if not found or time.monotonic() >= until:
            return found
        time.sleep(0.02)


def try_allocation(scenario, place, case):
    number, how = case
    place.prepare(scenario)
    status, stdout, stderr = run(scenario.command(place), place, scenario.may_crash,
                                 LD_PRELOAD=MALLOC, FAIL_ALLOC_AT=str(number),
                                 FAIL_ALLOC_FOREVER='1' if how == 'forever' else '0')
    try:
        judge(scenario, place, status if status >= 0 else 128 - status, count_left(place), stdout, stderr)
        if isinstance(scenario, Report) and not scenario.may_crash and status not in scenario.fine:
            # What it warns of before depends on the runs, which others may have disturbed.
            said = [line for line in stderr.splitlines() if not line.startswith('bench-report: warning: ')]
            wanted(status == 127 or said == ['bench-report: out of memory'], f'status {status}, another message')
    except Violation as violation:
        return True, f'{violation}\n  {stderr.strip()[-400:]}'
    return True, None


def list_allocations(scenario, place):
    place.prepare(scenario)
    count = place.root / 'allocations'
    # isol-check may have gone where that file cannot be seen; the output is there all the same.
    is_look = isinstance(scenario, Look)
    status, _, stderr = run(scenario.command(place), place, LD_PRELOAD=MALLOC,
                            FAIL_ALLOC_COUNT='/proc/self/fd/2' if is_look else str(count))
    check(status in scenario.fine, f'nothing fails, and yet: {status} {stderr}')
    return [(number, how) for number in range(1, int(stderr if is_look else count.read_text()) + 1)
            for how in (('once',) if scenario.program == 'bench-report' and scenario.may_crash
                        else ('once', 'forever'))]


class Shown(Scenario):
    """runpinned with a report. `kept`: how often its memory ended once the result was saved."""

    def __init__(self):
        super().__init__('shown', ['-o', '{out}/result.json'])
        self.kept = 0

    def command(self, place):
        return [word for word in super().command(place) if word != '-q']

    def check_end(self, place, status, stdout, stderr):
        super().check_end(place, status, stdout, stderr)
        self.kept += status == 1 and 'runpinned: out of memory' in stderr and (place.out / 'result.json').exists()


def report_without_memory(campaign):
    """The result is saved before it is reported, which takes the last allocations of all."""
    scenario = Shown()
    cases = [case for case in list_allocations(scenario, campaign.places[0]) if case[1] == 'forever'][-60:]
    campaign.run_all(scenario, cases, try_allocation)
    check(scenario.kept >= 5, f'the result was kept {scenario.kept} times')
    print(f'# {scenario.name}: kept {scenario.kept} times')


# --- All failures ---

class Campaign:
    def __init__(self, options):
        self.options = options
        self.draw = random.Random(options.seed)
        self.holder = tempfile.TemporaryDirectory(prefix='faults.')
        self.places = [Place(self.holder.name, cpu) for cpu in CPUS]

    def run_all(self, scenario, cases, attempt):
        """The commands are distributed over the CPUs; on the same CPU they would wait for each other."""
        left, lock = list(reversed(cases)), threading.Lock()
        counts = {'injected': 0, 'missed': 0}
        violations = []

        def work(place):
            while True:
                with lock:
                    if not left:
                        return
                    case = left.pop()
                try:
                    came, violation = attempt(scenario, place, case)
                except Exception as error:  # pylint: disable=broad-except
                    came, violation = False, repr(error)
                with lock:
                    counts['injected' if came else 'missed'] += 1
                    if sum(counts.values()) % 500 == 0:
                        print(f'# {scenario.name}: {sum(counts.values())} of {len(cases)}', flush=True)
                    if violation:
                        violations.append((case, violation))
                        print(f'# violated: {" ".join(map(str, case))}', flush=True)

        threads = [threading.Thread(target=work, args=(place,)) for place in self.places]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(f'# {scenario.name}: {counts["injected"]} injected, {len(violations)} violated'
              + (f', {counts["missed"]} did not come' if counts['missed'] else ''))
        text = '\n'.join(f'{" ".join(map(str, case))}: {what}' for case, what in violations[:SHOWN])
        check(not violations, f'{len(violations)} violations, --seed {self.options.seed}:\n{text}')

    def learn(self, scenario):
        """What bench-report and isol-check do when nothing fails."""
        if not isinstance(scenario, (Report, Look)) or scenario.whole:
            return
        place = self.places[0]
        place.prepare(scenario)
        status, stdout, stderr = run(scenario.command(place), place)
        if '--sysroot' in scenario.arguments and status == 1:
            raise Skip(stderr.strip())
        check(status in scenario.fine, f'nothing fails, and yet: {status} {stderr}')
        scenario.whole = scenario.outcome(place, stdout)
        if isinstance(scenario, Report):
            scenario.fonts = {path.name: path.read_bytes() for path in place.fonts.iterdir()}
            check(scenario.fonts or scenario.name != 'plot', 'fontconfig keeps the fonts elsewhere')

    def fail_calls(self, scenario, further):
        self.learn(scenario)
        if self.options.at:
            role, call, number, error, how = self.options.at.split(',')
            cases = [(role, number, call, int(error), how)]
        else:
            calls = list_calls(scenario, self.places[0])
            if isinstance(scenario, Library):
                own = [call for call in calls if call[0] == '0']
                calls = [call for call in calls if call[0] != '0'] \
                    + own[after_loader([name for _, _, name, *_ in own]):]
            cases = list_cases(calls)
            if not self.options.all:
                cases = sample(cases, self.draw, further, lambda case: (case[0], *case[2:]))
        self.run_all(scenario, cases, try_call)

    def fail_allocations(self, scenario, further):
        self.learn(scenario)
        cases = list_allocations(scenario, self.places[0])
        if not self.options.all:
            cases = self.draw.sample(cases, min(further, len(cases)))
        self.run_all(scenario, cases, try_allocation)


def make_result(*arguments):
    """A result that is appended to and reported on."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, 'result.json')
        command = [RUNPINNED, '-q', '-c', str(CPUS[-1]), '-w', '0', '-o', path, *arguments, EMPTY]
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                check=False)
        check(result.returncode == 0, result.stderr)
        return path.read_bytes()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--all', action='store_true')
    parser.add_argument('--sample', type=int)
    parser.add_argument('--seed', type=int, default=random.randrange(10 ** 6))
    parser.add_argument('--only', default='')
    parser.add_argument('--at')
    options = parser.parse_args()
    campaign = Campaign(options)
    old, new = make_result('-n', '1', '--name', 'old'), make_result('-n', '30', '--name', 'new')
    other, third = (make_result('-n', '30', '--name', 'new') for _ in range(2))
    # Unpacked, because libarchive ends a program by itself where memory is short, or crashes.
    machine = os.path.join(campaign.holder.name, 'machine')
    record = [ISOL_CHECK, '--record', '/dev/stdout']
    with subprocess.Popen(record, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process, \
            tarfile.open(fileobj=process.stdout, mode='r|*') as recording:
        recording.extractall(machine)
    # The number of failures of each kind in a sample.
    scenarios = (
        (Scenario('new', ['-o', '{out}/result.json', '--csv', '{out}/runs.csv']), 80, 20),
        (Scenario('append', ['--append', '-o', '{out}/result.json'], {'result.json': old}), 30, 10),
        (Scenario('newest', []), 10, 5),
        (Scenario('around', ['-o', '{out}/result.json', '--prepare', 'true', '--cleanup', 'true', '--input',
                             '/dev/zero', '--stdout=pipe', '--shell', '--name', 'empty']), 40, 10),
        (Scenario('terminal', ['-o', '{out}/result.json', '--stdout=terminal']), 20, 5),
        (Scenario('reader', ['-o', '{out}/result.json', '--stdout=pipe-here']), 20, 5),
        (Rescued(), 0, 10),
        (Library(), 40, 40),
        (Report('show', ['show', '{out}/new.json'], {'new.json': new}), 15, 300),
        (Report('compare', ['compare', '{out}/new.json', '{out}/other.json'],
                {'new.json': new, 'other.json': other}), 15, 300),
        (Report('repeats', ['compare', '{out}/new.json', '{out}/other.json', '--repeats', '{out}/new.json',
                            '{out}/third.json'],
                {'new.json': new, 'other.json': other, 'third.json': third}), 5, 100),
        (Report('dump', ['dump', '{out}/new.json'], {'new.json': new}), 5, 5),
        (Report('import', ['compare', '{out}/jmh.json', '{out}/go.txt', '{out}/jmh.json'],
                {name: (SAMPLES / name).read_bytes() for name in ('jmh.json', 'go.txt')}), 5, 60),
        (Report('merge', ['merge', '-o', '{out}/merged.json', '{out}/new.json', '{out}/old.json'],
                {'new.json': new, 'old.json': old}, 'merged.json'), 20, 15),
        (Report('plot', ['plot', '-o', '{out}/picture.svg', '{out}/new.json'], {'new.json': new},
                'picture.svg'), 10, 10),
        (Look('checks', ['--sysroot', machine, '-c', '{cpu}']), 0, 100),
        (Look('json', ['--json', '-c', '{cpu}', '--watch', '0.01']), 0, 100),
        (Look('cmdline', ['--sysroot', machine, '--cmdline']), 0, 20),
        (Look('pick', ['--pick']), 0, 20),
        (Look('measure', ['--measure=0.01', '--json', '-c', '{cpu}']), 0, 50),
        (Look('text', ['--measure=0.01', '-c', '{cpu}']), 0, 20),
        (Look('record', ['--record', '{out}/machine.tar.gz'], output='machine.tar.gz'), 0, 100),
    )
    tests = []
    for scenario, calls, allocations in scenarios:
        if options.sample:
            calls, allocations = min(calls, 1) * options.sample, options.sample
        # Of isol-check, which reads hundreds of files, any of which may be missing, no call fails.
        if calls > 0:
            tests.append((f'{scenario.program} {scenario.name}: system calls',
                          lambda s=scenario, n=calls: campaign.fail_calls(s, n)))
        if not options.at:
            tests.append((f'{scenario.program} {scenario.name}: allocations',
                          lambda s=scenario, n=allocations: campaign.fail_allocations(s, n)))
    tests.append(('runpinned counted: a reading of a counter', lambda: miss_reading(campaign)))
    tests.append(('runpinned shown: a report without memory', lambda: report_without_memory(campaign)))
    print(f'# --seed {options.seed}')
    run_tests([test for test in tests if options.only in test[0]])


main()
