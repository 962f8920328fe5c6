# SPDX-License-Identifier: GPL-2.0-or-later
"""runpinned --quiesce: quiet for one measurement, and back however that ends; with systemd, and
without."""

import contextlib
import os
import re
import signal
import subprocess

from lab import CPUS, ENVIRONMENT, call, check, equal, fail, read, same, succeed, wait_for, write, written
from target import PARTITION, configured, inside, start, state, stop

# Seconds for a start and a stop of the target, where the machine below is busy.
SLOW = 900
TARGET = '/run/quiesce/target'
HELD = '/run/quiesce/held'
MAKE_QUIET = ('/usr/libexec/quiesce/benchmark-target', 'make-quiet')
RUN = ('runpinned', '--quiesce', '-n', '1', '-w', '0', '--no-save')
# Hides systemd where everybody looks for it (sd_booted(3)), in a mount namespace of its own.
ALONE = ('unshare', '--mount', 'sh', '-euc',
         'mount -t tmpfs none /run/systemd; exec "$@"', 'sh')
LOOK = ('--show-output', '--', 'sh', '-c',
        f'cat /proc/self/status /proc/self/cgroup; echo partition: $(cat {PARTITION}); '
        f'echo online: $(cat {CPUS}/online); '
        f'echo frequency: $(cat {CPUS}/cpu2/cpufreq/scaling_cur_freq)')
SLEEP = ('--', 'sleep', '1000')
STUBBORN = ('--', 'sh', '-c', 'trap "" TERM; while :; do sleep 1; done')


def look(*arguments):
    """What a program sees while runpinned --quiesce measures it: {word: text}."""
    text = succeed(*arguments, *LOOK, timeout=SLOW)
    return dict(re.findall(r'^(Cpus_allowed_list|0:|partition|online|frequency):\s*(.*)', text, re.M))


def was_quiet(seen, cpu=2):
    equal(seen['Cpus_allowed_list'], str(cpu), 'its CPUs')
    check(seen['0:'].startswith('/benchmark.slice'), seen['0:'])
    equal(seen['partition'], 'isolated', 'partition')
    equal(seen['online'], {2: '0-2', 3: '0-1,3'}[cpu], 'online')
    if cpu == 2:
        equal(seen['frequency'], '2700000', 'frequency')


def comm(pid):
    return read(f'/proc/{pid}/comm')


@contextlib.contextmanager
def running(*arguments):
    """Starts runpinned; yields the process of runpinned itself, whatever stands before it in
    `arguments`."""
    with subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def wait_for_program(name='sleep'):
    """Waits until the program runs on the quiet CPU."""
    wait_for(lambda: any(comm(pid) == name for pid in inside()), f'{name} on the quiet CPU', SLOW)


def guardian():
    """The process that will put everything back."""
    for pid in filter(str.isdigit, os.listdir('/proc')):
        words = (read(f'/proc/{pid}/cmdline') or '').split('\0')
        if words[0].endswith('benchmark-target') and words[1:2] == ['hold']:
            return int(pid)
    return None


def back(what):
    """Waits until the guardian has ended, and checks that everything is as before."""
    wait_for(lambda: guardian() is None, 'the guardian to end', SLOW)
    check(not os.path.exists(TARGET) and not os.path.exists(HELD), 'the target is still there')
    same(what)


def end_by(number, status, prefix=(), program=SLEEP):
    """Sends a signal to runpinned while its program runs. (After SIGKILL the guardian ends the
    program.)"""
    with running(*prefix, *RUN, *program) as process:
        wait_for_program()
        process.send_signal(number)
        _, said = process.communicate(timeout=SLOW)
        equal(process.returncode, status, f'{said}: status')
        if number != signal.SIGKILL:
            equal(guardian(), None, 'the guardian when runpinned has ended')
    back(f'after signal {number} it left')


def test_target_for_its_own_duration():
    with configured('CPUS=2'):
        was_quiet(look(*RUN))
        equal(state('benchmark.target'), 'inactive', 'target')
        back('it left')
        # -c holds for this run only.
        was_quiet(look(*RUN, '-c', '3'), 3)
        back('with -c it left')


def test_interrupted():
    with configured('CPUS=2'):
        end_by(signal.SIGINT, 128 + signal.SIGINT)


def test_killed():
    with configured('CPUS=2'):
        end_by(signal.SIGKILL, -signal.SIGKILL)
        equal(state('benchmark.target'), 'inactive', 'target')


def test_start_that_takes_long():
    """The start takes longer than any single service of the target may take."""
    slow = '[Service]\nExecStartPre=sleep 45\n'
    with written(*((f'benchmark-{name}.service.d/slow.conf', slow) for name in ('irq', 'freq', 'noise'))), \
            configured('CPUS=2'):
        was_quiet(look(*RUN))
        equal(state('benchmark.target'), 'inactive', 'target')
    back('it left')


def test_target_of_somebody_else():
    """A target that somebody else is still starting, as systemd does at boot, is waited for and left to
    him."""
    slow = '[Service]\nExecStartPre=sleep 10\n'
    for use in lambda: equal(call(*MAKE_QUIET, timeout=SLOW).returncode, 3, 'status'), lambda: was_quiet(look(*RUN)):
        with written(('benchmark-prepare.service.d/slow.conf', slow)), configured('CPUS=2'):
            succeed('systemctl', 'start', '--no-block', 'benchmark.target')
            equal(state('benchmark.target'), 'inactive', 'the target at first')
            use()
            equal(state('benchmark.target'), 'active', 'the target')
            stop()
    back('it left')


def test_target_without_a_shield():
    """make-quiet fails with a target of somebody else's that has no shield, and leaves that to him."""
    # As where the machine refuses.
    broken = '[Service]\nExecStart=\nExecStart=sh -c "exit 3"\n'
    with written(('benchmark-shield.service.d/broken.conf', broken)), configured('CPUS=2'):
        start()
        done = call(*MAKE_QUIET, timeout=SLOW)
        equal((done.returncode, state('benchmark.target')), (4, 'active'), f'status and target ({done.stderr})')
        check('no CPU is shielded' in done.stderr, done.stderr)
        stop()
    call('systemctl', 'reset-failed')
    back('it left')


def test_without_systemd():
    with configured('CPUS=2'):
        was_quiet(look(*ALONE, *RUN))
        back('it left')
        fail(1, *ALONE, *RUN, '--', 'false', timeout=SLOW)
        back('a failure left')


def test_without_systemd_interrupted():
    with configured('CPUS=2'):
        end_by(signal.SIGINT, 128 + signal.SIGINT, ALONE)


def test_without_systemd_killed():
    with configured('CPUS=2'):
        end_by(signal.SIGKILL, -signal.SIGKILL, ALONE)


def test_without_systemd_killed_with_a_stubborn_program():
    """The program ignores SIGTERM, so that its cgroup cannot be removed at once."""
    with configured('CPUS=2'):
        end_by(signal.SIGKILL, -signal.SIGKILL, ALONE, STUBBORN)
