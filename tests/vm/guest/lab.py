# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests in a guest of the lab have in common.

A test is a function test_NAME in a file test_SUBJECT.py. It calls our programs as a person would, and
looks at the machine itself, not at what the programs say of it. After each the machine must be as it
was before: `run` compares every knob (Snapshot), so that a test need not.

The guest has four CPUs; 0 and 1 are threads of a core, 2 and 3 of another. Tests make CPU 2 or 3
quiet. Its registers are the tests' to write: heat(), plug().
"""

import contextlib
import glob
import grp
import json
import os
import pathlib
import pwd
import random
import re
import stat
import subprocess
import time

BOOT = pathlib.Path('/opt/lab/boot.json')
CONFIG = json.loads(BOOT.read_text(encoding='utf-8')) if BOOT.exists() else {}  # --list, on the host
CPUS = '/sys/devices/system/cpu'
RELEASE = tuple(map(int, os.uname().release.split('.')[:2]))
# Kernels before 6.2 forget affinities whenever a cpuset changes.
FORGETS = RELEASE < (6, 2)
SETTERS = ('cpu-shield', 'smt-off', 'irq-steer', 'freq-pin', 'noise-off')  # in the target's order
ARGUMENTS = {  # as they are called for CPU 2
    'smt-off': ['-c', '2'],
    'cpu-shield': ['-c', '2'],
    'irq-steer': ['-c', '2'],
    'freq-pin': ['-c', '2', 'min'],
    'noise-off': ['-c', '2'],
}
# How often the power is cut in the test of that.
RESETS = CONFIG.get('resets', 0)
# On the disk, which outlives a reboot, and goes with the guest: what a test hands to its second half.
REBOOT = pathlib.Path('/var/lib/lab-reboot.json')
PF_WQ_WORKER = 0x20  # include/linux/sched.h
# A CPU of the emulation had no turn for long (Documentation/admin-guide/tainted-kernels.rst).
TAINTED = '/proc/sys/kernel/tainted'
TAINT_SOFTLOCKUP = 1 << 14
PARANOID = '/proc/sys/kernel/perf_event_paranoid'
# Seconds after which a program hangs. The machine below may be busy with other things.
LONG = 120
# Seconds that a start or a stop of the target may take. Seven minutes have been seen without KVM, on a
# host that was busy.
PATIENCE = 900


class Skip(Exception):
    """The test cannot run here; the message says why."""


def boots(*names):
    """The command lines with which a test is run; without this it is `plain` only."""
    def mark(function):
        function.boots = names
        return function
    return mark


def reboots(then):
    """After the test the machine reboots, and it ends with `then`, which is given what it returned."""
    def mark(function):
        function.then = then
        return function
    return mark


class Cut:
    """What a test returns that wants the power cut: `handed` goes to what comes after it (`reboots`),
    as with an orderly reboot, and may be cut again. Meanwhile `work` is done, over and over; what it
    raises is the test's failure. The host cuts the power that many seconds after the work began."""

    def __init__(self, seconds, work, handed):
        self.seconds, self.work, self.handed = seconds, work, handed


def note(text):
    """Writes figures for a person into the log."""
    for line in str(text).splitlines():
        print(f'note: {line}', flush=True)


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def equal(found, wanted, what):
    check(found == wanted, f'{what}: found {found!r}, wanted {wanted!r}')


def read(path):
    """A file as text without its newline, or None."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        parts = iter(lambda: os.read(file, 1 << 16), b'')
        return b''.join(parts).decode(errors='replace').rstrip('\n')
    except OSError:
        return None
    finally:
        os.close(file)


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def parse_list(text):
    """'0-2,5' as a set."""
    cpus = set()
    for part in (text or '').split(','):
        first, _, last = part.strip().partition('-')
        if first:
            cpus |= set(range(int(first), int(last or first) + 1))
    return cpus


ENVIRONMENT = {**os.environ, 'LC_ALL': 'C.UTF-8', 'HOME': '/tmp',
               'PATH': '/usr/bin:/usr/sbin:/bin:/sbin'}

BUSY = ('sh', '-c', 'while :; do :; done')


def become(user, group=None):
    """The words before a command that make it one of this user's, who is in no group but his own
    and, if one is named, that."""
    own = pwd.getpwnam(user).pw_gid
    return ('setpriv', f'--reuid={user}', f'--regid={own}',
            f'--groups={grp.getgrnam(group).gr_gid}' if group else '--clear-groups')


def call(*arguments, user=None, group=None, timeout=LONG, **options):
    """Runs a program to its end, as another user if one is named. Returns the finished process."""
    if user:
        arguments = (*become(user, group), *arguments)
    options.setdefault('env', ENVIRONMENT)
    if 'input' not in options:
        options['stdin'] = subprocess.DEVNULL
    return subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=timeout, check=False, **options)


def succeed(*arguments, **options):
    """As call(), of a program that must succeed. Returns its output."""
    done = call(*arguments, **options)
    equal(done.returncode, 0, f'{" ".join(arguments)}: {done.stderr.strip()}: status')
    return done.stdout


def fail(status, *arguments, **options):
    """As call(), of a program that must fail with this status. Returns what it says."""
    done = call(*arguments, **options)
    equal(done.returncode, status, f'{" ".join(arguments)}: {done.stderr.strip()}: status')
    return done.stderr


def knobs(tool, *arguments, **options):
    """The table of a setter: {(knob, CPU): row}."""
    rows = json.loads(succeed(tool, *arguments, '--json', **options))['knobs']
    return {(row['knob'], row['cpu']): row for row in rows}


def measure(*arguments, **options):
    """Measures with runpinned. Returns the metadata of the benchmark, and those of each counted
    run."""
    result = json.loads(succeed('runpinned', '--json', '-q', *arguments, **options))
    benchmark = result['benchmarks'][0]
    runs = [run for run in benchmark['runs'] if 'values' in run]
    return {**result.get('metadata', {}), **benchmark.get('metadata', {})}, runs


@contextlib.contextmanager
def turned(tool, *arguments):
    """Runs its block while the settings of a setter hold. Putting them back must print nothing."""
    succeed(tool, *arguments)
    yield
    done = call(tool, 'restore')
    equal((done.returncode, done.stderr), (0, ''), f'{tool} restore')


def restore_leaves(tool, what):
    """Restores after somebody else changed `what`: the tool must leave that change as it is, and
    say so."""
    done = call(tool, 'restore')
    equal(done.returncode, 0, f'{tool} restore: {done.stderr}')
    check(what in done.stderr and 'somebody else' in done.stderr,
          f'{tool} restore does not say that it leaves {what}: {done.stderr!r}')


def wait_for(condition, what, timeout=LONG):
    """Waits until condition() is true: the kernel and systemd do some things later."""
    end = time.monotonic() + timeout
    while not condition():
        check(time.monotonic() < end, f'waited {timeout} s for {what}')
        time.sleep(0.1)


@contextlib.contextmanager
def limited(percent):
    """A cgroup with this CPU quota, and one without a quota of its own below it. Yields the words before a
    command that is to be in the latter."""
    v1 = '/sys/fs/cgroup/cpu,cpuacct'
    root = v1 if os.path.isdir(v1) else '/sys/fs/cgroup'
    control = f'{root}/cgroup.subtree_control'
    top = f'{root}/labquota'
    enable = root != v1 and 'cpu' not in read(control).split()
    os.makedirs(f'{top}/job')
    try:
        if enable:
            write(control, '+cpu')
        if root == v1:
            write(f'{top}/cpu.cfs_quota_us', str(percent * 1000))
        else:
            write(f'{top}/cpu.max', f'{percent * 1000} 100000')
            write(f'{top}/cgroup.subtree_control', '+cpu')
        yield ('sh', '-c', 'echo $$ >"$0" && exec "$@"', f'{top}/job/cgroup.procs')
    finally:
        # What is orphaned there ends a little later.
        wait_for(lambda: not read(f'{top}/job/cgroup.procs').split(), 'the cgroup to be empty')
        os.rmdir(f'{top}/job')
        os.rmdir(top)
        if enable:
            write(control, '-cpu')


@contextlib.contextmanager
def bound():
    """Programs, of root and of another user, that are bound to CPUs. Yields a function that returns
    the CPUs of each."""
    running = []
    try:
        for words in (), become('nobody'):
            for cpus in '0', '1', '3', '1,3', '0-2':
                running.append(subprocess.Popen([*words, 'taskset', '-c', cpus, 'sleep', '10000']))
        # The kernel gives a running program other CPUs when its own CPU goes offline.
        wait_for(lambda: all('(sleep) S' in read(f'/proc/{process.pid}/stat') for process in running),
                 'programs')
        yield lambda: [os.sched_getaffinity(process.pid) for process in running]
    finally:
        for process in running:
            process.kill()
            process.wait()


@contextlib.contextmanager
def written(*files):
    """Runs its block with these files for systemd: (name, text)."""
    folders = set()
    try:
        for name, text in files:
            path = f'/run/systemd/system/{name}'
            if not os.path.isdir(os.path.dirname(path)):
                folders.add(os.path.dirname(path))
                os.makedirs(os.path.dirname(path))
            write(path, text)
        succeed('systemctl', 'daemon-reload')
        yield
    finally:
        for name, _ in files:
            os.unlink(f'/run/systemd/system/{name}')
        for folder in folders:
            os.rmdir(folder)
        succeed('systemctl', 'daemon-reload')


def jobs():
    """What systemd is to do: {unit: 'start', 'stop' or another kind of job}."""
    lines = call('systemctl', 'list-jobs', '--no-legend', '--plain').stdout.splitlines()
    return dict(line.split()[1:3] for line in lines)


def jobs_done():
    """Waits until systemd has done all jobs."""
    wait_for(lambda: not jobs(), 'jobs of systemd', PATIENCE)


# What a unit runs that is to keep the jobs of other units waiting until restored_while_it_waits()
# lets them go on.
GO = pathlib.Path('/run/lab-go')
WAIT = f"sh -c 'until [ -e {GO} ]; do sleep 1; done'"


def restored_while_it_waits(unit, job, tool, *arguments):
    """Kills a setter while the job that it has asked systemd for still waits, and restores meanwhile.
    Returns when all jobs are done."""
    GO.unlink(missing_ok=True)
    try:
        with subprocess.Popen([tool, *arguments], stdout=subprocess.DEVNULL) as process:
            try:
                wait_for(lambda: jobs().get(unit) == job, f'{job} of {unit}')
            finally:
                process.kill()
        process = subprocess.Popen([tool, 'restore'])
        # Another job replaces the one that waits, and may have to wait, too.
        wait_for(lambda: process.poll() is not None or jobs().get(unit) != job, 'restore')
    finally:
        GO.touch()
    equal(process.wait(LONG), 0, f'{tool} restore')
    jobs_done()


def seeded(name):
    """A random number generator for one test. The seed is printed, and `lab --seed` takes it."""
    note(f'seed {CONFIG["seed"]}')
    return random.Random(f'{CONFIG["seed"]} {name}')


def heat(celsius):
    """Sets the temperature of the ACPI thermal zone (in tenths of a kelvin)."""
    succeed('busybox', 'devmem', '0xff000000', '32', str(round(celsius * 10 + 2732)))


def plug(plugged):
    """Plugs the AC adapter in, or pulls it out."""
    succeed('busybox', 'devmem', '0xff000004', '32', '0' if plugged else '1')


def programmed(cpu):
    """The frequency in kHz that the driver has programmed into a CPU, from its register itself:
    scaling_cur_freq is but what the kernel believes."""
    port = os.open('/dev/port', os.O_RDONLY | os.O_CLOEXEC)
    try:
        state = os.pread(port, 1, 0xe0 + cpu)[0]
    finally:
        os.close(port)
    return {0x1b: 2701000, 0x1a: 2700000, 0x14: 2000000, 0x10: 1600000}.get(state, state)


def interrupts():
    """{number: name} of the interrupts that have a handler."""
    found = {}
    for line in (read('/proc/interrupts') or '').splitlines()[1:]:
        number, _, rest = line.strip().partition(':')
        if number.isdigit():
            found[int(number)] = rest.split()[-1]
    return found


@contextlib.contextmanager
def balanced():
    """Runs its block while irqbalance runs. What that moved is put back: irq-steer does not do it."""
    equal(call('systemctl', 'is-active', 'irqbalance').stdout, 'inactive\n', 'irqbalance')
    masks = {n: read(f'/proc/irq/{n}/smp_affinity') for n in interrupts()}
    default = read('/proc/irq/default_smp_affinity')
    succeed('systemctl', 'start', 'irqbalance')
    try:
        time.sleep(5)
        if call('pidof', 'irqbalance').returncode:
            raise Skip('irqbalance does not stay: ' + ' '.join(call(
                'journalctl', '-u', 'irqbalance', '-o', 'cat', '-n', '3').stdout.split()))
        wait_for(lambda: glob.glob('/run/irqbalance/*.sock'), 'the socket of irqbalance')
        yield
    finally:
        succeed('systemctl', 'stop', 'irqbalance')
        wait_for(lambda: call('pidof', 'irqbalance').returncode, 'the end of irqbalance')
        write('/proc/irq/default_smp_affinity', default)
        for number, text in masks.items():
            try:
                write(f'/proc/irq/{number}/smp_affinity', text)
            except OSError:
                pass


def may_come_to(cpu):
    """{number: name} of those interrupts whose mask has this CPU."""
    return {number: name for number, name in interrupts().items()
            if cpu in parse_list(read(f'/proc/irq/{number}/smp_affinity_list'))}


class Snapshot:
    """Every file that a program of ours might write, and what depends on them: {what: text}."""

    # All that can be written below these, whatever it is.
    TREES = (CPUS, '/sys/devices/virtual/workqueue', '/proc/irq', '/sys/class/net/*/queues', '/sys/kernel/debug/sched',
             '/sys/fs/cgroup')
    # And what else is turned, or follows.
    FILES = (
        '/sys/kernel/mm/ksm/run',
        '/sys/kernel/mm/transparent_hugepage/*',
        '/sys/kernel/mm/transparent_hugepage/hugepages-*/enabled',
        '/sys/kernel/mm/transparent_hugepage/khugepaged/*',
        '/sys/devices/system/clocksource/clocksource0/current_clocksource',
        # From 6.12 on nobody may write those of some interrupts.
        '/proc/irq/*/smp_affinity',
        '/proc/sys/kernel/*',
        '/proc/sys/vm/*',
        '/sys/fs/cgroup/cpuset.*',
        '/sys/fs/cgroup/*.slice/cpuset.*',
        '/run/quiesce/**/*.journal',
        '/run/systemd/system.control/**',
        '/run/systemd/system/**',
    )
    # They change by themselves.
    MOVING = re.compile(r'/(scaling_cur_freq|khugepaged/(full_scans|pages_collapsed)|ns_last_pid|stat_refresh|'
                        r'use_zero_page_count|max_newidle_lb_cost|byte_queue_limits/limit|cgroup\.(procs|threads)|tasks|'
                        r'\w+\.(memory_pressure|pressure|peak|swap\.peak|failcnt|usage)|'
                        r'memory\.[\w.]*(max_usage_in_bytes|failcnt))$')
    # Where new files are of interest. Elsewhere they are of a driver that comes late.
    OURS = ('/run/', '/sys/fs/cgroup/')
    # Units come and go, and their cgroups a moment after them; but no slice does, nor what is in ours.
    OTHERS = re.compile(r'/sys/fs/cgroup/(?!benchmark).*\.(service|scope|socket|mount|swap)/')
    UNITS = ('service', 'socket', 'target', 'slice', 'timer')

    def __init__(self):
        self.texts = {}
        for path in {*self.find_files(), *self.find_writable()}:
            text = None if self.MOVING.search(path) else read(path)
            if text is not None:
                self.texts[path] = ' '.join(text.split())
        self.note_tainted()
        self.lines = interrupts()
        self.texts['units'] = self.units()
        self.tasks = self.affinities()

    def note_tainted(self):
        """Of what the kernel has warned. That it is slow is the emulator's fault."""
        self.texts[TAINTED] = str(int(read(TAINTED)) & ~TAINT_SOFTLOCKUP)

    def find_files(self):
        for pattern in self.FILES:
            yield from (path for path in glob.iglob(pattern, recursive=True) if os.path.isfile(path))

    def find_writable(self):
        folders = [folder for pattern in self.TREES for folder in glob.iglob(pattern)]
        while folders:
            try:
                with os.scandir(folders.pop()) as entries:
                    for entry in entries:
                        try:
                            mode = entry.stat(follow_symlinks=False).st_mode
                        except FileNotFoundError:
                            continue  # what has gone meanwhile; the rest of the folder has not
                        if stat.S_ISDIR(mode):
                            folders.append(entry.path)
                        elif stat.S_ISREG(mode) and mode & 0o222 and mode & 0o444:
                            yield entry.path
            except FileNotFoundError:
                pass  # a cgroup that has gone meanwhile

    def units(self):
        listed = succeed('systemctl', 'list-units', '--plain', '--no-legend', '--no-pager',
                         '--state=active,failed', '--type=' + ','.join(self.UNITS))
        return sorted(line.split()[0] + ' ' + line.split()[2] for line in listed.splitlines())

    @staticmethod
    def affinities():
        """{(pid, start): (name, CPUs, cgroups)} of all tasks but those that work off queues of the kernel (a
        kworker has the mask of its work, a rescuer that of the work it helped with last), those
        of interrupts, which go where these go, and the tests themselves."""
        tasks = {}
        for path in glob.iglob('/proc/[0-9]*'):
            told, status = read(path + '/stat'), read(path + '/status')
            allowed = re.search(r'^Cpus_allowed_list:\s*(\S*)', status or '', re.M)
            if not told or not allowed:
                continue
            fields = told[told.rindex(')') + 2:].split()
            if not int(fields[6]) & PF_WQ_WORKER and int(path[6:]) != os.getpid():
                name = told[told.index('(') + 1:told.rindex(')')]
                if name.startswith('irq/'):
                    continue
                tasks[int(path[6:]), fields[19]] = name, allowed.group(1), read(path + '/cgroup')
        return tasks

    def by_action(self):
        """The texts, with the action of an interrupt in place of its number, which a suspend changes."""
        named, seen = {}, {}
        for what, text in sorted(self.texts.items()):
            number, _, file = what.removeprefix('/proc/irq/').partition('/')
            action = self.lines.get(int(number)) if number.isdigit() else None
            if action:
                seen[action, file] = seen.get((action, file), 0) + 1
                what = f'/proc/irq/{action}, {seen[action, file]}. of them/{file}'
            named[what] = text
        return named

    def differences(self, later):
        lines, mine, others = [], self.by_action(), later.by_action()
        for what in sorted(mine.keys() | others.keys()):
            before, after = mine.get(what), others.get(what)
            if what == 'units' and before != after:
                lines += [f'unit gone: {unit}' for unit in before if unit not in after]
                lines += [f'unit new: {unit}' for unit in after if unit not in before]
            elif None in (before, after) and self.OTHERS.match(what):
                continue
            elif before != after and (before is not None or what.startswith(self.OURS)):
                lines.append(f'{what}: was {before!r}, is {after!r}')
        for task, (name, *before) in sorted(self.tasks.items()):
            _, *after = later.tasks.get(task, (name, *before))
            for what, was, now in zip(('CPUs', 'cgroups'), before, after):
                if was != now:
                    lines.append(f'{what} of {name} ({task[0]}): were {was!r}, are {now!r}')
        return lines


START = []  # the snapshot that `run` has taken: the machine as it was before the test


def changed(before=None):
    """What differs at this moment from that snapshot, or from the start of the test."""
    return (before or START[-1]).differences(Snapshot())


def same(what, patience=20, before=None):
    """Nothing may differ from that snapshot, or from the start of the test. Some of what the kernel or
    systemd do comes a moment later."""
    end = time.monotonic() + patience
    while found := changed(before):
        check(time.monotonic() < end, f'{what}:\n' + '\n'.join(found))
        time.sleep(0.5)


def put_back():
    """Puts everything back after a failed test, so that the next test does not fail for the same
    reason."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        call('systemctl', 'stop', 'benchmark.target', timeout=PATIENCE)
    for tool in SETTERS[::-1]:
        call(tool, 'restore', '--force')
    for name in ('target', 'held'):
        pathlib.Path('/run/quiesce', name).unlink(missing_ok=True)
    call('systemctl', 'reset-failed')
    heat(45)
    plug(True)
