# SPDX-License-Identifier: GPL-2.0-or-later
"""What a machine does to programs of ours, and to systemd, in the middle of their work: whatever it is,
the machine can be put back, and no program says that it was when it was not."""

import contextlib
import glob
import os
import signal
import subprocess
import time

from lab import (ARGUMENTS, CPUS, LONG, PATIENCE, RESETS, SETTERS, Cut, Skip, call, changed, check,
                 equal, jobs_done, note, read, reboots, same, seeded, succeed, wait_for, write)
from target import (PARTITION, SERVICES, configured, is_quiet, nothing_left, start, state,
                    stop, turned_by_target)

FAULTS = '/sys/kernel/debug'
INJECTIONS = 12  # for each setter and each kind of fault
UNPLUGS = 3  # for each setter
REEXECUTIONS = 2  # while it starts, while it is up, and while it stops
UP = 3  # seconds that the target stays up before it is stopped
# Where a program may leave something that outlives a boot.
DISK = ('/etc', '/var', '/root', '/home', '/usr/lib/systemd', '/usr/local')


def put_back(tool, what):
    """Restores when nothing fails any more, and checks that everything is as before."""
    done = call(tool, 'restore')
    equal(done.returncode, 0, f'{what}: {tool} restore: {done.stderr}')
    same(f'{what}, {tool} left')


# --- Faults in the kernel.

FAILING = ('sh', '-euc', 'echo 1 >/proc/self/make-it-fail; exec "$@"', 'sh')


@contextlib.contextmanager
def failing(kind, number):
    """Runs its block while call `number` of this kind fails, once, in programs that are started by
    FAILING (Documentation/fault-injection/fault-injection.rst)."""
    for name, value in (('task-filter', 'Y'), ('ignore-gfp-wait', 'N'), ('min-order', '0'),
                        ('verbose', '0'), ('times', '1'), ('interval', str(number)),
                        ('probability', '100')):
        if os.path.exists(f'{FAULTS}/{kind}/{name}'):
            write(f'{FAULTS}/{kind}/{name}', value)
    try:
        yield
    finally:
        write(f'{FAULTS}/{kind}/probability', '0')


def test_kernel_fault_injection():
    """An allocation, or a copy from or to a program, fails inside of a system call."""
    kinds = [kind for kind in ('failslab', 'fail_page_alloc', 'fail_usercopy')
             if os.path.isdir(f'{FAULTS}/{kind}')]
    if not kinds:
        raise Skip('this kernel cannot inject faults (CONFIG_FAULT_INJECTION), as none of Debian can')
    random = seeded('faults')
    for kind in kinds:
        for tool in SETTERS:
            failed = 0
            for _ in range(INJECTIONS):
                number = random.randrange(1, 400)
                with failing(kind, number):
                    failed += call(*FAILING, tool, *ARGUMENTS[tool]).returncode != 0
                    failed += call(*FAILING, tool, 'restore').returncode != 0
                put_back(tool, f'{kind} at call {number}')
            note(f'{kind}: {failed} of {2 * INJECTIONS} runs of {tool} failed')


# --- /run is full.

@contextlib.contextmanager
def full(what):
    """Runs its block while /run has no free byte, or no free inode."""
    space = os.statvfs('/run')

    def resize(size, inodes):
        return call('mount', '-o', f'remount,size={size},nr_inodes={inodes}', '/run').returncode == 0

    def shut():
        now = os.statvfs('/run')
        if what == 'bytes':
            return resize((now.f_blocks - now.f_bfree) * now.f_frsize, now.f_files)
        return resize(now.f_blocks * now.f_frsize, now.f_files - now.f_ffree)

    def is_full():
        try:
            write('/run/lab-full', 'x' if what == 'bytes' else '')
        except OSError:
            return True
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink('/run/lab-full')
        return False

    try:
        # Other programs write to /run as well.
        wait_for(lambda: shut() and is_full(), '/run to be full')
        yield
    finally:
        check(resize(space.f_blocks * space.f_frsize, space.f_files), '/run stays full')


def setters_while_full(what):
    for tool in SETTERS:
        with full(what):
            applied = call(tool, *ARGUMENTS[tool])
        put_back(tool, f'apply without {what} in /run, status {applied.returncode}')
        succeed(tool, *ARGUMENTS[tool])
        with full(what):
            restored = call(tool, 'restore')
            left = changed() if restored.returncode == 0 else []
        equal(left, [], f'{tool} restore without {what} in /run has ended with 0, and')
        put_back(tool, f'restore without {what} in /run, status {restored.returncode}')
        note(f'{tool} without {what} in /run: apply {applied.returncode}, '
             f'restore {restored.returncode}')


def test_setters_while_run_has_no_bytes():
    setters_while_full('bytes')


def test_setters_while_run_has_no_inodes():
    setters_while_full('inodes')


def test_target_while_run_is_full():
    """The target may start or stop, or fail to. When /run has room again, all is put back."""
    with configured('CPUS=2'):
        for what in ('bytes', 'inodes'):
            with full(what):
                started = call('systemctl', 'start', 'benchmark.target', timeout=PATIENCE).returncode
                jobs_done()
            stop()
            end_of_target(f'start without {what} in /run, status {started}')
            start()
            with full(what):
                stopped = call('systemctl', 'stop', 'benchmark.target', timeout=PATIENCE).returncode
                jobs_done()
            end_of_target(f'stop without {what} in /run, status {stopped}')
            note(f'without {what} in /run: start {started}, stop {stopped}')


def end_of_target(what):
    """Checks the machine after the target has stopped or failed. What a service could not put back,
    the tool of the service puts back."""
    jobs_done()
    equal(state('benchmark.target') in ('inactive', 'failed'), True, f'{what}: target is down')
    for tool in SETTERS[::-1]:
        done = call(tool, 'restore')
        equal(done.returncode, 0, f'{what}: {tool} restore: {done.stderr}')
    call('systemctl', 'reset-failed')
    same(f'{what}: it left')


# --- CPUs come and go.

def plug(cpu, online):
    """Takes a CPU online or offline; repeats that while the kernel is busy with the CPU."""
    def done():
        try:
            write(f'{CPUS}/cpu{cpu}/online', online)
        except OSError:
            return False
        return True
    wait_for(done, f'CPU {cpu} to go to {online}')


def disturbed(random, whole, cpu, online, *command):
    """Runs a command while a CPU goes offline or comes online. Returns the status of the command,
    and what it says."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as process:
        time.sleep(random.uniform(0, whole))
        plug(cpu, online)
        _, said = process.communicate(timeout=LONG)
        return process.returncode, said


def test_cpus_unplugged_at_random():
    """A CPU goes offline while a setter applies, and comes back while the setter restores. When all
    CPUs are back, all is put back."""
    random = seeded('unplug')
    for tool in SETTERS:
        began = time.monotonic()
        succeed(tool, *ARGUMENTS[tool])
        whole = time.monotonic() - began
        put_back(tool, 'undisturbed')
        for _ in range(UNPLUGS):
            cpu, again = random.choice('123'), random.random() < 0.5
            applied = disturbed(random, whole, cpu, '0', tool, *ARGUMENTS[tool])
            if again:
                restored = disturbed(random, whole, cpu, '1', tool, 'restore')
            else:
                done = call(tool, 'restore')
                restored = done.returncode, done.stderr
            for other in '123':
                plug(other, '1')
            what = (f'CPU {cpu} unplugged{" and back" if again else ""}: apply {applied}, '
                    f'restore {restored}')
            note(f'{tool}, {what}')
            put_back(tool, what)


# --- systemd.

def at_random(random, whole, *command):
    """Makes systemd execute itself anew in the middle of a command, which may fail."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as process:
        time.sleep(random.uniform(0, whole))
        succeed('systemctl', 'daemon-reexec', timeout=PATIENCE)
        said = process.communicate(timeout=PATIENCE)[1].strip()
    jobs_done()
    return process.returncode, said.replace('\n', ' / ')


def units():
    """The states of the units of the target."""
    lines = call('systemctl', 'list-units', '--all', '--plain', '--no-legend', 'benchmark*').stdout
    return ', '.join(f'{line.split()[0]} {line.split()[3]}' for line in lines.splitlines())


def test_systemd_reexecuted_at_random():
    """systemd executes itself anew while the target starts, while it is up, and while it stops."""
    random = seeded('reexec')
    with configured('CPUS=2'):
        began = time.monotonic()
        start()
        middle = time.monotonic()
        stop()
        starting, stopping = middle - began, time.monotonic() - middle
        for _ in range(REEXECUTIONS):
            started = at_random(random, starting, 'systemctl', 'start', 'benchmark.target')
            is_up = state('benchmark.target') == 'active'
            if started[0] == 0:
                check(is_up, 'started, and not up')
            note(f'after the start {started}: {units()}')
            if is_up:
                is_quiet()
                succeed('systemctl', 'daemon-reexec', timeout=PATIENCE)
                is_quiet()
            stopped = at_random(random, stopping, 'systemctl', 'stop', 'benchmark.target')
            note(f'systemd executed anew: start {started}, {"up" if is_up else "not up"}, '
                 f'stop {stopped}')
            # A systemctl that has lost its systemd says so, and the job may be lost with it.
            if stopped[0] != 0:
                stop()
            end_of_target('systemd executed anew')


def test_services_killed_while_stopping():
    random = seeded('kill at stop')
    hit = []
    with configured('CPUS=2'):
        for service in random.sample([name for name in SERVICES if name != 'prepare'], 3):
            unit = f'benchmark-{service}.service'
            start()
            with subprocess.Popen(['systemctl', 'stop', 'benchmark.target'],
                                  stderr=subprocess.DEVNULL) as stopping:
                wait_for(lambda: state(unit) != 'active', unit, PATIENCE)
                time.sleep(random.uniform(0, 0.5))
                call('systemctl', 'kill', '--signal=KILL', unit)
                stopping.wait(PATIENCE)
            if call('systemctl', 'show', '-P', 'Result', unit).stdout.strip() == 'signal':
                hit.append(service)
            end_of_target(f'{service} killed while it stops')
    note(f'killed at work: {hit}')


def without_systemd(was):
    """What the setters can do without systemd. Yields what is wrong."""
    for tool in SETTERS[:0:-1]:
        done = call(tool, 'restore')
        if done.returncode != 0:
            yield f'{tool} restore: status {done.returncode}: {done.stderr}'
    # systemd keeps the slice. A setter that cannot ask systemd must not say that it is done.
    try:
        done = call('cpu-shield', 'restore', timeout=3 * LONG)
        note(f'cpu-shield restore: status {done.returncode}: {done.stderr.strip()}')
        if done.returncode == 0 and read(PARTITION) == 'isolated':
            yield 'cpu-shield restore says that it was done'
    except subprocess.TimeoutExpired:
        yield 'cpu-shield restore does not end'
    for path, text in was.items():
        now = ' '.join((read(path) or '').split())
        if now != text:
            yield f'{path}: was {text!r}, is {now!r}'


def after_the_crash(handed):
    equal(handed['wrong'], [], 'what was wrong without systemd')
    nothing_left(handed['was'])


@reboots(after_the_crash)
def test_systemd_crashed():
    """A crashed systemd does nothing any more, and no process takes its place. What needs no
    systemd is put back all the same."""
    with configured('CPUS=2'):
        start()
    was = turned_by_target()
    os.kill(1, signal.SIGSEGV)
    # A systemd that has crashed answers nothing, and does not end.
    wait_for(lambda: call('busctl', '--timeout=3', 'call', 'org.freedesktop.systemd1',
                          '/org/freedesktop/systemd1', 'org.freedesktop.DBus.Peer',
                          'Ping').returncode != 0, 'systemd to crash')
    return Cut(0, lambda: time.sleep(1), {'was': was, 'wrong': list(without_systemd(was))})


# --- The power is cut.

def on_the_disk():
    """The files with our names on the disk, and the whole configuration of systemd."""
    found = succeed('find', *DISK, '-xdev', '(', '-name', '*quiesce*', '-o', '-name', '*benchmark*',
                    ')', '-not', '-path', '/var/log/*').split('\n')
    return {**{name: '' for name in found},
            **{path: read(path) for path in glob.glob('/etc/systemd/**', recursive=True)
               if os.path.isfile(path)}}


def up_and_down():
    with configured('CPUS=2'):
        start()
        is_quiet()
        time.sleep(UP)
        stop()


def next_cut(handed):
    """Cuts the power at a random moment while the target starts, is up, or stops."""
    left = handed['left']
    seconds = seeded(f'cut {left}').uniform(0, handed['seconds'])
    note(f'the power is cut {seconds:.1f} s after the start begins; {left - 1} more')
    return Cut(seconds, up_and_down, {**handed, 'left': left - 1})


def after_the_cut(handed):
    nothing_left(handed['was'])
    found = on_the_disk()
    equal({name: text for name, text in found.items() if handed['disk'].get(name) != text}, {},
          'new on the disk')
    if handed['left'] > 0:
        return next_cut(handed)
    up_and_down()
    return None


@reboots(after_the_cut)
def test_power_cut():
    """At random moments, again and again: after each boot nothing of ours is left, the machine is as
    it was, and the target starts."""
    if RESETS < 1:
        raise Skip('no cut is wanted (--resets)')
    disk = on_the_disk()
    began = time.monotonic()
    with configured('CPUS=2'):
        start()
        was = turned_by_target()
        time.sleep(UP)
        stop()
    return next_cut({'left': RESETS, 'seconds': time.monotonic() - began, 'was': was, 'disk': disk})
