#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The target without systemd: benchmark-target hold, the guardian of runpinned --quiesce, on a
described machine, with the real setters."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

from machine import (Setter, Skip, asan_environment, asan_options, be_alone, check, equal, make_journal, parse_list,
                     repeating, run_tests, wait_for)
from systemd import Systemd

PROGRAM = os.environ['BENCHMARK_TARGET']
# amd-pstate, SMT: CPU 5 has a sibling, 13.
MACHINE = 'amd-smt'

CONFIG = pathlib.Path(os.environ['CONFIGDIR'])
# In a shell: a folder of our own over the one of the configuration, and files that cannot be written.
CONFIGURE = '''
    mount -t tmpfs none "$1" && mkdir -p "$2" && printf %s "$3" >"$2/benchmark.conf" || exit 77
    for file in $4; do
        mount --bind "$file" "$file" && mount -o remount,bind,ro "$file" || exit 77
    done
    shift 4
    exec "$@"
'''


def configure(text, closed=''):
    """What stands in front of a command to give it this benchmark.conf, on a machine that refuses to
    have the files `closed` written."""
    top = next(path for path in CONFIG.parents if path.exists())
    if top == pathlib.Path('/'):
        raise Skip(f'there is no folder above {CONFIG}')
    return ['sh', '-c', CONFIGURE, 'sh', top, CONFIG, text, closed]


def begin(setter, *arguments, stdin=subprocess.DEVNULL, configured=()):
    """A running benchmark-target."""
    width = setter.box.description.width
    online = parse_list(setter.allowed)
    environment = {
        **os.environ, 'LC_ALL': 'C', 'LD_PRELOAD': os.environ['ALLOWED'],
        'TEST_ALLOWED_CPUS': ''.join('01'[cpu in online] for cpu in range(width)),
        **asan_environment(),
    }
    command = ['/usr/bin/env', *(f'{key}={environment.pop(key)}' for key in
                        ('LD_PRELOAD', 'TEST_ALLOWED_CPUS', 'ASAN_OPTIONS'))]
    return subprocess.Popen(
        [os.environ['SYSROOT'], '--root', setter.box.root, '--', *configured, *command, PROGRAM,
         *arguments],
        stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


class Guardian:
    """A running guardian, and our end of its socket."""

    def __init__(self, setter, *arguments, configured=()):
        self.setter = setter
        setter.note_choices()
        self.ours, theirs = socket.socketpair()
        self.ours.settimeout(120)
        self.process = begin(setter, 'hold', *arguments, stdin=theirs, configured=configured)
        theirs.close()

    def wait_until_quiet(self):
        """Returns {part: what was done}, and whether that is all."""
        answer = b''
        while not answer.endswith((b'\1', b'\2')):
            more = self.ours.recv(4096)
            if not more:
                raise AssertionError(f'no answer: {answer}, {self.process.communicate()[0]}')
            answer += more
        self.setter.render_choices()
        parts = dict(line.split(': ', 1) for line in answer[:-1].decode().splitlines())
        equal(list(parts), ['shield', 'SMT', 'interrupts', 'frequency', 'noise'], 'parts')
        return parts, answer.endswith(b'\1')

    def leave(self):
        self.ours.close()
        return self.end()

    def end(self):
        output = self.process.communicate(timeout=120)[0]
        self.setter.render_choices()
        return self.process.returncode, output


def machine(name=MACHINE, allowed='0-15'):
    return Setter(PROGRAM, name, allowed=allowed)


def read_target(setter):
    text = (setter.run_directory / 'quiesce/target').read_text(encoding='utf-8')
    return dict(line.split('=', 1) for line in text.splitlines())


def left_over(setter):
    """The files in /run/quiesce, except locks."""
    return {path.name for path in (setter.run_directory / 'quiesce').iterdir()} - {
        'lock', 'turn', 'holders'}


def check_restored(setter, before, guardian_result):
    equal(guardian_result[0], 0, f'exit status ({guardian_result[1]})')
    setter.same(before, 'what was there before')
    equal(left_over(setter), set(), 'left in /run/quiesce')


def test_whole_life():
    """The machine is quiet while the socket is open, and as before when it is closed"""
    with machine() as setter:
        before = setter.snapshot()
        guardian = Guardian(setter, '-c', '5')
        parts, _ = guardian.wait_until_quiet()
        equal(parts['SMT'], 'sibling CPUs are offline', 'SMT')
        check(parts['frequency'].startswith('governor performance, boost 0'), parts)
        check(parts['interrupts'].startswith('default affinity 0-4,6-15, interrupts ('), parts)
        target = read_target(setter)
        equal(target['CPUS'], '5', 'CPUS')
        equal(target['FREQ_OPTIONS'], '-c 5 base', 'FREQ_OPTIONS')
        now = setter.snapshot()
        equal(now['sys/devices/system/cpu/cpu13/online'].strip(), b'0', 'the sibling is offline')
        changed = {path for path in now if now[path] != before.get(path)}
        for part in ('cpufreq', '/irq/', 'proc/sys/kernel/timer_migration'):
            check(any(part in path for path in changed), f'nothing of {part} was changed')
        # Whoever can open these can lock them, and keep others from beginning and ending.
        for name in ('turn', 'holders'):
            mode = (setter.run_directory / 'quiesce' / name).stat().st_mode & 0o777
            equal(mode, 0o600, f'mode of {name}')
        check_restored(setter, before, guardian.leave())


def test_auto():
    """CPUs are chosen where none are named"""
    with machine() as setter:
        before = setter.snapshot()
        guardian = Guardian(setter)
        guardian.wait_until_quiet()
        cpus = parse_list(read_target(setter)['CPUS'])
        equal(len(cpus), 1, 'how many CPUs')
        check(0 not in cpus, 'CPU 0 is chosen')
        check_restored(setter, before, guardian.leave())


def busy(setter, cpus):
    """Runs its block while /proc/stat shows that these CPUs are always busy and all others idle."""
    path = setter.box.root / 'proc/stat'

    def write():
        ticks = int(time.monotonic() * 100)
        lines = [f'cpu{cpu} {ticks if cpu in cpus else 0:12} 0 0 '
                 f'{0 if cpu in cpus else ticks:12} 0 0 0 0 0 0\n' for cpu in range(16)]
        with open(path, 'r+b', buffering=0) as file:
            file.write(''.join(lines).encode())

    path.write_bytes(b'')
    write()
    return repeating(write, 0.01)


def test_auto_under_load():
    """Load on all other cores does not make the guardian choose the thread beside CPU 0"""
    with machine() as setter, busy(setter, set(range(16)) - {0, 8}):
        # A load whose thread gets no turn is not seen.
        end, seen = time.monotonic() + 60, False
        while not seen and time.monotonic() < end:
            guardian = Guardian(setter)
            guardian.wait_until_quiet()
            cpus = parse_list(read_target(setter)['CPUS'])
            status, output = guardian.leave()
            equal(status, 0, f'exit status ({output})')
            check(not {0, 8} & set(cpus), f'CPUs on CPU 0\'s core: {cpus}')
            equal(left_over(setter), set(), 'left in /run/quiesce')
            seen = '% busy' in output
        check(seen, f'the load was not seen: {output}')


def test_isolated_beside_zero():
    """A thread of CPU 0's core is passed over even if it is isolated, which is said"""
    for isolated, chosen in (('5,8', lambda cpus: cpus == [5]),
                             ('8', lambda cpus: not {0, 8} & set(cpus))):
        with machine() as setter:
            setter.box.write('sys/devices/system/cpu/isolated', isolated + '\n')
            guardian = Guardian(setter)
            guardian.wait_until_quiet()
            cpus = parse_list(read_target(setter)['CPUS'])
            status, output = guardian.leave()
            equal(status, 0, f'exit status ({output})')
            check(chosen(cpus), f'CPUs {cpus} with {isolated} isolated')
            check('CPU 8 is not chosen' in output, output)


def test_isolated_siblings():
    """Of isolated CPUs that are siblings, what is said names those that are left"""
    with machine() as setter:
        setter.box.write('sys/devices/system/cpu/isolated', '2-3,10-11\n')
        guardian = Guardian(setter)
        guardian.wait_until_quiet()
        equal(read_target(setter)['CPUS'], '2-3', 'CPUs')
        status, output = guardian.leave()
        equal(status, 0, f'exit status ({output})')
        check('2-3,10-11' in output and 'SMT=siblings leaves 2-3' in output, output)


def test_all_cpus():
    """All CPUs: settings that need another CPU are left out and named, the others are done"""
    with machine('arm-nosmt', '0-7') as setter:
        before = setter.snapshot()
        guardian = Guardian(setter, '-c', '0-7')
        parts, complete = guardian.wait_until_quiet()
        equal(parts['shield'], 'left as it is: there is no other CPU for the rest of the machine',
              'shield')
        check(parts['SMT'].startswith('not here: SMT (the cores of this machine'), parts['SMT'])
        check('masks are left as they are' in parts['noise'] and 'pm_qos' in parts['noise'], parts)
        check(not complete, f'complete: {parts}')
        now = setter.snapshot()
        target = read_target(setter)
        check('SHIELD_OPTIONS' not in target and 'IRQ_OPTIONS' not in target, target)
        path = 'proc/sys/kernel/timer_migration'
        equal(now[path].strip(), b'0', path)
        status, output = guardian.leave()
        check_restored(setter, before, (status, output))
        for part in 'SHIELD', 'IRQ', 'NOISE':
            check(f'{part}: ' in output, output)
        check('failed' not in output, output)


def test_signals():
    """A signal for the caller does not end the guardian"""
    with machine() as setter:
        before = setter.snapshot()
        guardian = Guardian(setter, '-c', '5')
        guardian.wait_until_quiet()
        quiet = setter.snapshot()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            guardian.process.send_signal(number)
        time.sleep(0.5)
        equal(guardian.process.poll(), None, 'it has ended')
        setter.same(quiet, 'a signal changed')
        check_restored(setter, before, guardian.leave())


def test_killed():
    """SIGKILL of the caller ends the guardian like any other end of the caller"""
    with machine() as setter:
        before = setter.snapshot()
        guardian = Guardian(setter, '-c', '5')
        guardian.wait_until_quiet()
        # From then on only the child has the socket.
        holder = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'],
                                  pass_fds=[guardian.ours.fileno()])
        guardian.ours.close()
        time.sleep(0.5)
        equal(guardian.process.poll(), None, 'it has ended')
        holder.kill()
        holder.wait()
        check_restored(setter, before, guardian.end())


def test_programs_end_first():
    """Nothing is put back before a program that was measured has ended"""
    with machine() as setter:
        events = 'sys/fs/cgroup/benchmark.slice/cgroup.events'
        setter.box.write(events, 'populated 0\nfrozen 0\n')
        before = setter.snapshot()
        setter.box.write(events, 'populated 1\nfrozen 0\n')
        guardian = Guardian(setter, '-c', '5')
        guardian.wait_until_quiet()
        quiet = setter.snapshot()
        guardian.ours.close()
        time.sleep(0.5)
        equal(guardian.process.poll(), None, 'it has ended')
        setter.same(quiet, 'too early it changed')
        setter.box.write(events, 'populated 0\nfrozen 0\n')
        check_restored(setter, before, guardian.end())


def test_leaving_early():
    """A caller that leaves before the machine is quiet finds the machine as it was"""
    with machine() as setter:
        before = setter.snapshot()
        guardian = Guardian(setter, '-c', '5')
        check_restored(setter, before, guardian.leave())


def test_two():
    """The last caller to leave puts everything back"""
    with machine() as setter:
        before = setter.snapshot()
        first = Guardian(setter, '-c', '5')
        first.wait_until_quiet()
        quiet = setter.snapshot()
        second = Guardian(setter, '-c', '5')
        second.wait_until_quiet()
        setter.same(quiet, 'the second changed')
        equal(first.leave()[0], 0, 'the first')
        setter.same(quiet, 'the first, leaving, changed')
        check_restored(setter, before, second.leave())


def test_left_by_another():
    """A setting that was quiet before stays quiet"""
    with machine() as setter:
        first = Guardian(setter, '-c', '5')
        first.wait_until_quiet()
        quiet = setter.snapshot()
        # As if somebody had changed the setting by hand.
        (setter.run_directory / 'quiesce/held').unlink()
        second = Guardian(setter, '-c', '5')
        second.wait_until_quiet()
        equal(second.leave()[0], 0, 'the second')
        setter.same(quiet, 'the second, leaving, changed')
        equal(first.leave()[0], 0, 'the first')
        setter.same(quiet, 'the first, leaving, changed')


def test_refused():
    """A wrong list of CPUs is refused with a message, and nothing is changed"""
    for cpus, what in (('99', 'CPU 99 does not exist'), ('5,13', 'threads of one core'),
                       ('8', "CPU 0 is a thread of CPU 8's core, and never goes offline"),
                       ('x', "'x' is no CPU list")):
        with machine() as setter:
            before = setter.snapshot()
            guardian = Guardian(setter, '-c', cpus)
            equal(guardian.ours.recv(1), b'', 'an answer')
            status, output = guardian.leave()
            equal(status, 1, 'exit status')
            check(what in output, f'-c {cpus}: {output}')
            setter.same(before, 'what was there before')
            equal(left_over(setter), set(), 'left in /run/quiesce')


def test_wanted_in_vain():
    """What a setter cannot do is found before anything is changed, and then there is no target"""
    for text, what in (('NOISE=foo\n', "NOISE: noise-off: --only: there is no 'foo'"),
                       ('FREQ=99GHz\n', 'FREQ: freq-pin: 99 GHz is not among the frequencies'),
                       ('NOISE=ksm\n', None)):
        with machine() as setter:
            before = setter.snapshot()
            result = setter.box.run(*configure('CPUS=5\n' + text), PROGRAM, 'prepare',
                                    allowed=setter.allowed, root=True)
            equal(result.returncode, 1 if what else 0, f'{text}: {result.stderr}')
            check(not what or what in result.stderr, result.stderr)
            equal('nothing has been changed' in result.stderr, bool(what), result.stderr)
            equal((setter.run_directory / 'quiesce/target').exists(), not what, f'{text}: a target')
            setter.same(before, 'what was there before')


def chosen(setter):
    """The CPUs that `prepare` chooses by itself."""
    result = setter.box.run(PROGRAM, 'prepare', allowed=setter.allowed, root=True)
    equal(result.returncode, 0, result.stderr)
    text = (setter.run_directory / 'quiesce/target').read_text(encoding='utf-8')
    return re.search('^CPUS=(.*)$', text, re.MULTILINE)[1]


def test_cpus_of_others():
    """What others have isolated for their programs is not chosen"""
    with Setter(PROGRAM, 'foreign-partition', allowed='0-5') as setter:
        equal(chosen(setter), '5', 'beside a partition three levels down')
    # The same before 6.7, without the list of the root.
    with Setter(PROGRAM, 'foreign-partition', allowed='0-7') as setter:
        setter.box.remove('sys/fs/cgroup/cpuset.cpus.isolated')
        equal(chosen(setter), '5', 'beside a partition that the root does not list')
    # Ours, of a cpu-shield, is.
    with Setter(PROGRAM, 'foreign-partition', allowed='0-5') as setter:
        slice_ = 'sys/fs/cgroup/benchmark.slice/cpuset.cpus'
        setter.box.write(f'{slice_}.partition', 'isolated\n')
        setter.box.write(f'{slice_}.effective', '4\n')
        setter.box.write('sys/fs/cgroup/cpuset.cpus.isolated', '4,6-7\n')
        equal(chosen(setter), '4', 'in the partition of ours')


def test_unreadable_boot_id():
    """Without the boot's id, which the file of the target begins with, says what cannot be read"""
    with machine() as setter:
        setter.box.write('proc/sys/kernel/random/boot_id', '')
        before = setter.snapshot()
        status, output = Guardian(setter, '-c', '5').end()
        equal(status, 1, 'exit status')
        check('cannot read which boot this is (/proc/sys/kernel/random/boot_id): No data available\n' in output,
              output)
        setter.same(before, 'what was there before')


POLICY = '/sys/devices/system/cpu/cpufreq/policy5'


def test_machine_refuses():
    """A setting that the machine refuses is done without, and ends the target with STRICT=yes"""
    # Without the first one there is nothing to the part; without the second one there is.
    for closed, part_fails in ((f'{POLICY}/scaling_max_freq', True),
                               (f'{POLICY}/scaling_governor', False)):
        with machine() as setter:
            before = setter.snapshot()
            guardian = Guardian(setter, configured=configure('CPUS=5\n', closed))
            parts, complete = guardian.wait_until_quiet()
            equal(complete, False, f'{closed}: complete with {parts}')
            status, output = guardian.leave()
            check_restored(setter, before, (status, output))
            equal('freq-pin: the machine refuses: going on without it' in output, part_fails, output)
        with machine() as setter:
            before = setter.snapshot()
            guardian = Guardian(setter, configured=configure('CPUS=5\nSTRICT=yes\n', closed))
            equal(guardian.ours.recv(1), b'', 'an answer')
            status, output = guardian.leave()
            equal(status, 1, f'{closed}: exit status ({output})')
            check('freq-pin failed (STRICT=yes)\n' in output, output)
            check(output.endswith('benchmark-target: everything is put back\n'), output)
            check(closed in output, output)
            setter.same(before, f'{closed}: what was there before')
            equal(left_over(setter), set(), 'left in /run/quiesce')


def test_strict():
    """With STRICT=yes the same is done and told as without, where the machine refuses nothing"""
    answers = []
    for strict in ('no', 'yes'):
        with machine() as setter:
            before = setter.snapshot()
            guardian = Guardian(setter, configured=configure(f'CPUS=5\nSTRICT={strict}\n'))
            parts, complete = guardian.wait_until_quiet()
            # Which threads stay on the CPU is another thing each time.
            check(parts['shield'].startswith('affinities'), parts)
            answers.append(({**parts, 'shield': ''}, complete))
            equal('--strict=refused' in read_target(setter)['FREQ_OPTIONS'], strict == 'yes',
                  'FREQ_OPTIONS')
            check_restored(setter, before, guardian.leave())
    equal(answers[1], answers[0], 'what is told with STRICT=yes')
    check('not known' not in str(answers), answers)


def test_setter_fails():
    """A setter that fails by itself ends the target, also without STRICT=yes"""
    with machine() as setter:
        # Of another boot, so it counts for nothing; but it cannot be replaced.
        journal = setter.run_directory / 'quiesce/freq-pin.journal'
        journal.parent.mkdir(mode=0o755)
        journal.write_bytes(make_journal(tool='freq-pin', boot=setter.BOOT_ID[:-1] + '2'))
        before = setter.snapshot()
        guardian = Guardian(setter, configured=configure(
            'CPUS=5\n', '/run/quiesce/freq-pin.journal'))
        equal(guardian.ours.recv(1), b'', 'an answer')
        status, output = guardian.leave()
        equal(status, 1, f'exit status ({output})')
        check('freq-pin: cannot write the journal /run/quiesce/freq-pin.journal, so nothing is touched' in output, output)
        check('freq-pin failed\n' in output, output)
        # Nor can it be removed.
        check(output.endswith('benchmark-target: not everything is put back\n'), output)
        setter.same(before, 'what was there before')


def test_setter_fails_twice():
    """What a setter that failed has left set is not said to be put back"""
    with machine() as setter:
        # Of a setter that is not called before the end.
        journal = setter.run_directory / 'quiesce/noise-off.journal'
        journal.parent.mkdir(mode=0o755)
        path = '/proc/sys/kernel/timer_migration'
        journal.write_bytes(make_journal(('number', path, '0', '1'), tool='noise-off'))
        guardian = Guardian(setter, configured=configure(
            'CPUS=5\nSTRICT=yes\n', f'{POLICY}/scaling_max_freq {path}'))
        equal(guardian.ours.recv(1), b'', 'an answer')
        status, output = guardian.leave()
        equal(status, 1, f'exit status ({output})')
        check('freq-pin failed (STRICT=yes)\n' in output, output)
        check(output.endswith('benchmark-target: not everything is put back\n'), output)


SLICE = 'sys/fs/cgroup/benchmark.slice'


def evict(setter, *before):
    """The end of benchmark-target's wait for what runs on the quiet CPUs: (status, messages)."""
    result = setter.box.run(*before, PROGRAM, 'evict', root=True)
    return result.returncode, result.stderr


def test_evict():
    """What is left on the quiet CPUs is killed by its cgroup, and not forgotten where that fails"""
    with machine() as setter:
        equal(evict(setter), (0, ''), 'without a slice')
        setter.box.write(f'{SLICE}/cgroup.events', 'populated 0\nfrozen 0\n')
        setter.box.write(f'{SLICE}/cgroup.kill', '')
        equal(evict(setter), (0, ''), 'with nobody')
        equal((setter.box.root / f'{SLICE}/cgroup.kill').read_text(), '', 'killed nobody')

        setter.box.write(f'{SLICE}/cgroup.events', 'populated 1\nfrozen 0\n')
        # The kernel kills what is there, and tells when it is gone.
        results = []
        ending = threading.Thread(target=lambda: results.append(evict(setter)))
        ending.start()
        kill = setter.box.root / f'{SLICE}/cgroup.kill'
        wait_for(lambda: kill.read_text() == '1' or not ending.is_alive(), 'it kills them')
        check(ending.is_alive(), f'ended too early: {results}')
        setter.box.write(f'{SLICE}/cgroup.events', 'populated 0\nfrozen 0\n')
        ending.join()
        equal(results, [(0, 'benchmark-target: what still runs on the quiet CPUs is ended\n')], 'it')
        equal(kill.read_text(), '1', 'how it was killed')

        # A process that hangs in the kernel. The half minute of waiting takes no time here.
        setter.box.write(f'{SLICE}/cgroup.events', 'populated 1\nfrozen 0\n')
        status, said = evict(setter, 'env', f'LD_PRELOAD={os.environ["TIMELESS"]}',
                             asan_options())
        equal(status, 1, said)
        check('did not end after SIGKILL' in said, said)
        # A kernel without that file.
        setter.box.remove(f'{SLICE}/cgroup.kill')
        status, said = evict(setter)
        equal(status, 1, said)
        check('cannot kill what runs on the quiet CPUs' in said, said)


def test_not_root():
    """Only root may hold"""
    with machine() as setter:
        before = setter.snapshot()
        result = setter.run('hold', user=True)
        equal((result.returncode, result.stderr), (1, 'benchmark-target: this needs root\n'), 'hold')
        setter.same(before, 'what was there before')


def set_by_hand(setter, tool, *arguments):
    """Runs another setter, which lies beside benchmark-target in the build, on the same machine."""
    path = pathlib.Path(PROGRAM).parent / tool
    result = setter.box.run(path, *arguments, allowed=setter.allowed, root=True)
    equal(result.returncode, 0, f'{tool}: {result.stderr}')


PIN = ('freq-pin', '-c', '3', 'min')


def write_target(setter, *lines):
    """A target of systemd's that is up, with these options of setters."""
    boot = (setter.box.root / 'proc/sys/kernel/random/boot_id').read_text().strip()
    target = setter.run_directory / 'quiesce/target'
    target.parent.mkdir(mode=0o755, exist_ok=True)
    target.write_text('\n'.join(['QUIESCE_TARGET=1', f'BOOT_ID={boot}', 'CPUS=5', 'STRICT=no', *lines]) + '\n')


def test_units_leave_alone():
    """What systemd runs where a service is skipped does not undo what was set by hand, and ends nobody"""
    with machine() as setter:
        setter.box.write(f'{SLICE}/cgroup.events', 'populated 0\nfrozen 0\n')
        setter.box.write(f'{SLICE}/cgroup.kill', '')
        before = setter.snapshot()
        set_by_hand(setter, *PIN)
        setter.box.write(f'{SLICE}/cgroup.events', 'populated 1\nfrozen 0\n')
        by_hand = setter.snapshot()
        write_target(setter, 'SMT_OPTIONS=-c 5')
        for verb in (['evict'], ['restore', 'SHIELD'], ['restore', 'FREQ']):
            result = setter.run(*verb)
            equal((result.returncode, result.stderr), (0, ''), f'{verb}')
            setter.same(by_hand, f'before {verb}')
        setter.box.write(f'{SLICE}/cgroup.events', 'populated 0\nfrozen 0\n')
        # What the target wants, and what it may have wanted, is restored.
        write_target(setter, 'FREQ_OPTIONS=-c 5 base')
        setter.succeed('restore', 'FREQ')
        setter.same(before, 'what was there before')
        set_by_hand(setter, *PIN)
        (setter.run_directory / 'quiesce/target').unlink()
        setter.succeed('restore', 'FREQ')
        setter.same(before, 'what was there before')
        result = setter.run('restore', 'NONSENSE')
        equal((result.returncode, result.stderr), (2, "benchmark-target: there is no 'NONSENSE'\n"), 'a wrong key')


def test_left_alone():
    """What the configuration leaves as it is stays as it was set by hand, and put-back undoes it"""
    with machine() as setter:
        before = setter.snapshot()
        set_by_hand(setter, *PIN)
        by_hand = setter.snapshot()
        guardian = Guardian(setter, configured=configure('CPUS=5\nFREQ=leave\n'))
        guardian.wait_until_quiet()
        status, output = guardian.leave()
        equal(status, 0, output)
        setter.same(by_hand, 'what was set by hand')
        setter.succeed('put-back')
        setter.same(before, 'what was there before')


def test_put_back():
    """put-back ends what is held and what was set by hand, and may be called again"""
    with machine() as setter:
        before = setter.snapshot()
        guardian = Guardian(setter, '-c', '5')
        guardian.wait_until_quiet()
        set_by_hand(setter, 'freq-pin', '-c', '3', 'min')
        for _ in range(2):
            setter.succeed('put-back')
            setter.same(before, 'what was there before')
            equal(left_over(setter), set(), 'left in /run/quiesce')
        check_restored(setter, before, guardian.leave())


def test_make_quiet():
    """make-quiet leaves the machine quiet until put-back"""
    with machine() as setter:
        before = setter.snapshot()
        setter.succeed('make-quiet', '-c', '5')
        equal(read_target(setter)['CPUS'], '5', 'CPUS')
        check(any('cpufreq' in path for path, text in setter.snapshot().items()
                  if text != before.get(path)), 'nothing was changed')
        # Nobody who holds it meanwhile ends it, and nobody else does it twice.
        guardian = Guardian(setter, '-c', '5')
        guardian.wait_until_quiet()
        quiet = setter.snapshot()
        equal(guardian.leave()[0], 0, 'the guardian')
        setter.same(quiet, 'the guardian changed')
        result = setter.run('make-quiet')
        equal((result.returncode, result.stderr),
              (3, 'benchmark-target: somebody else has made the machine quiet already\n'), 'again')
        setter.succeed('put-back')
        setter.same(before, 'what was there before')
        equal(left_over(setter), set(), 'left in /run/quiesce')


def test_make_quiet_untouched():
    """make-quiet tells by status 4 that it has failed and that there is nothing to be put back"""
    with machine() as setter:
        directory = setter.run_directory / 'quiesce'
        directory.mkdir(mode=0o755)
        (directory / 'turn').symlink_to('nowhere')
        before = setter.snapshot()
        result = setter.run('make-quiet')
        equal(result.returncode, 4, f'status ({result.stderr})')
        check('cannot make the machine quiet: ' in result.stderr, result.stderr)
        setter.same(before, 'what was there before')


def test_without_units():
    """A systemd that has no units of ours: that is said, and nothing is changed or put back"""
    with machine() as setter, Systemd(setter.box) as systemd:
        before = setter.snapshot()
        says = ('benchmark-target: systemd knows no benchmark.target: it is installed with -Dunits=true, and known '
                'after `systemctl daemon-reload`\n')
        result = setter.run('make-quiet')
        equal((result.returncode, result.stderr), (4, says), 'make-quiet')
        equal(Guardian(setter).leave(), (1, says), 'hold')
        setter.same(before, 'what was there before')
        equal(left_over(setter), set(), 'left in /run/quiesce')
        equal(systemd.calls, [], 'what systemd was told to do')
        setter.succeed('put-back')


def test_stopped_shield():
    """A target that is up while its shield was stopped is not taken for a quiet machine"""
    for state, is_shielded in (('active', True), ('inactive', False), ('deactivating', False)):
        with machine() as setter, Systemd(setter.box) as systemd:
            systemd.units['benchmark.target'] = {'ActiveState': 'active'}
            systemd.units['benchmark-shield.service'] = {'ActiveState': state}
            write_target(setter, 'SHIELD_OPTIONS=-c 5')
            result = setter.run('make-quiet')
            says = 'somebody else has made the machine quiet already' if is_shielded else \
                f'no CPU is shielded: benchmark-shield.service is {state}'
            equal((result.returncode, result.stderr), (3 if is_shielded else 4, f'benchmark-target: {says}\n'), state)
            equal(systemd.calls, [], 'what systemd was told to do')


def test_just_being_stopped():
    """A target that is being stopped is waited for, and is down then; one that is started anew is up"""
    class Busy(Systemd):
        left, then = 3, 'inactive'

        def read(self, unit, interface, name):
            if (unit, name) == ('benchmark.target', 'Job') and self.left > 0:
                self.left -= 1
                if self.left == 0:
                    self.units[unit]['ActiveState'] = self.then
                return '(uo)', (7, '/org/freedesktop/systemd1/job/7')
            return super().read(unit, interface, name)

    for then, status, calls in (('inactive', 0, ['StartUnit']), ('active', 3, [])):
        with machine() as setter, Busy(setter.box) as systemd:
            systemd.then = then
            systemd.units['benchmark.target'] = {'ActiveState': 'active'}
            systemd.units['benchmark-shield.service'] = {'ActiveState': 'active'}
            write_target(setter, 'SHIELD_OPTIONS=-c 5')
            result = setter.run('make-quiet')
            equal((result.returncode, [call[0] for call in systemd.calls]), (status, calls), result.stderr)
            equal(systemd.left, 0, 'not asked any more')


def test_not_started():
    """A start that failed is said to be put back only where it is"""
    class Failing(Systemd):
        def StartUnit(self, unit, _mode):
            self.set_state('benchmark-check.service', 'failed')
            return 'failed'

    for journal, result, says in ((None, 'success', 'everything is put back'),
                                  ('freq-pin', 'exec-condition', 'everything is put back'),
                                  ('freq-pin', 'success', 'not everything is put back: see `freq-pin restore`')):
        with machine() as setter, Failing(setter.box) as systemd:
            for unit in ('benchmark.target', 'benchmark-prepare.service', 'benchmark-begin.service'):
                systemd.units[unit] = {}
            systemd.units['benchmark-check.service'] = {'StatusText': 'STRICT=yes; without FREQ: it refuses'}
            systemd.units['benchmark-freq.service'] = {'Result': result}
            if journal:
                path = setter.run_directory / f'quiesce/{journal}.journal'
                path.parent.mkdir(mode=0o755)
                path.write_bytes(make_journal(tool=journal))
            result = setter.run('make-quiet')
            equal((result.returncode, result.stderr),
                  (1, 'benchmark-target: benchmark.target does not start: STRICT=yes; without FREQ: it refuses; '
                   f'{says}\n'), f'{journal}')


def test_not_put_back():
    """The target's journal tells of each setter that has failed and still has something set"""
    with machine() as setter, Systemd(setter.box) as systemd:
        for tool in 'freq-pin', 'noise-off':
            path = setter.run_directory / f'quiesce/{tool}.journal'
            path.parent.mkdir(mode=0o755, exist_ok=True)
            path.write_bytes(make_journal(tool=tool))
        for name, state in (('shield', 'failed'), ('smt', 'active'), ('irq', 'active'), ('freq', 'failed'),
                            ('noise', 'active')):
            systemd.units[f'benchmark-{name}.service'] = {
                'ActiveState': state, 'ExecMainCode': 1, 'ExecMainStatus': 1, 'StatusText': f'why {name} failed'}
        path = setter.run_directory / 'systemd/journal/socket'
        path.parent.mkdir()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journal:
            journal.bind(str(path))
            setter.succeed('release')
            journal.settimeout(60)
            said = journal.recv(4096).decode()
        check('MESSAGE=not everything is put back; FREQ: why freq failed\n' in said, said)
        check('OBJECT_SYSTEMD_UNIT=benchmark.target\n' in said, said)


def test_put_back_signals():
    """A signal for the caller of put-back does not end it half-way"""
    with machine() as setter:
        setter.box.write(f'{SLICE}/cgroup.events', 'populated 0\nfrozen 0\n')
        setter.box.write(f'{SLICE}/cgroup.kill', '')
        before = setter.snapshot()
        setter.succeed('make-quiet', '-c', '5')
        # It waits for a program on the quiet CPUs, which it kills.
        setter.box.write(f'{SLICE}/cgroup.events', 'populated 1\nfrozen 0\n')
        with begin(setter, 'put-back') as process:
            wait_for(lambda: (setter.box.root / f'{SLICE}/cgroup.kill').read_text() == '1', 'it kills them')
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
                process.send_signal(number)
            setter.box.write(f'{SLICE}/cgroup.events', 'populated 0\nfrozen 0\n')
            said = process.communicate(timeout=120)[0]
        equal(process.returncode, 0, said)
        setter.box.write(f'{SLICE}/cgroup.kill', '')
        setter.render_choices()
        setter.same(before, 'what was there before')
        equal(left_over(setter), set(), 'left in /run/quiesce')


def test_make_quiet_takes_over():
    """make-quiet takes the machine over from a guardian, which leaves it quiet"""
    with machine() as setter:
        before = setter.snapshot()
        guardian = Guardian(setter, '-c', '5')
        guardian.wait_until_quiet()
        quiet = setter.snapshot()
        result = setter.run('make-quiet', '-c', '5')
        equal((result.returncode, result.stderr), (0, ''), 'for the same CPUs')
        equal(guardian.leave()[0], 0, 'the guardian')
        setter.same(quiet, 'the guardian changed')
        setter.succeed('put-back')
        setter.same(before, 'what was there before')
        equal(left_over(setter), set(), 'left in /run/quiesce')
        guardian = Guardian(setter, '-c', '5')
        guardian.wait_until_quiet()
        result = setter.run('make-quiet', '-c', '6')
        equal((result.returncode, result.stderr),
              (0, 'benchmark-target: the machine is quiet already, for CPU 5 and not for 6\n'), 'for others')
        equal(guardian.leave()[0], 0, 'the guardian')
        setter.succeed('put-back')


def test_make_quiet_fails():
    """make-quiet that cannot be done puts everything back and says why"""
    for arguments, closed, what in ((['-c', '99'], '', 'CPU 99 does not exist'),
                                    ([], '/sys/devices/system/cpu/cpufreq/policy5/scaling_max_freq',
                                     'freq-pin failed (STRICT=yes)\nbenchmark-target: everything is put back\n')):
        with machine() as setter:
            before = setter.snapshot()
            result = setter.box.run(*configure('CPUS=5\nSTRICT=yes\n', closed), PROGRAM, 'make-quiet',
                                    *arguments, allowed=setter.allowed, root=True)
            equal(result.returncode, 1, f'status ({result.stderr})')
            check(what in result.stderr, result.stderr)
            setter.same(before, 'what was there before')
            equal(left_over(setter), set(), 'left in /run/quiesce')


def test_put_back_foreign():
    """put-back tells by status 3 of a journal that is kept for what somebody else has changed"""
    with machine() as setter:
        guardian = Guardian(setter, '-c', '5')
        guardian.wait_until_quiet()
        before, knob = setter.snapshot(), 'proc/sys/kernel/timer_migration'
        equal(before[knob].strip(), b'0', knob)
        setter.box.write(knob, '2\n')
        result = setter.run('put-back')
        equal(result.returncode, 3, f'status ({result.stderr})')
        check('/run/quiesce/noise-off.journal' in result.stderr and
              '`noise-off restore --force`' in result.stderr, result.stderr)
        equal(left_over(setter), {'noise-off.journal'}, 'left in /run/quiesce')
        equal(setter.snapshot()[knob], b'2\n', knob)
        equal(guardian.leave()[0], 0, 'the guardian')


def test_put_back_fails():
    """put-back fails where a journal is damaged, keeps that, and puts back all the rest"""
    with machine() as setter:
        before = setter.snapshot()
        guardian = Guardian(setter, '-c', '5')
        guardian.wait_until_quiet()
        journal = setter.run_directory / 'quiesce/freq-pin.journal'
        text = journal.read_bytes()
        journal.write_bytes(text[:-20])
        result = setter.run('put-back')
        equal(result.returncode, 1, f'status ({result.stderr})')
        check('freq-pin.journal' in result.stderr, result.stderr)
        check('freq-pin.journal' in left_over(setter), 'the journal is gone')
        now = setter.snapshot()
        check(any('cpufreq' in path for path in now if now[path] != before.get(path)), 'nothing is left')
        equal([path for path in now if now[path] != before.get(path) and 'cpufreq' not in path], [],
              'left of other tools')
        # Put right, it goes.
        journal.write_bytes(text)
        setter.succeed('put-back')
        check_restored(setter, before, guardian.leave())


TESTS = (test_whole_life, test_auto, test_auto_under_load, test_isolated_beside_zero, test_isolated_siblings, test_all_cpus,
         test_signals, test_killed, test_programs_end_first, test_leaving_early, test_two,
         test_left_by_another, test_refused, test_wanted_in_vain, test_cpus_of_others, test_unreadable_boot_id, test_machine_refuses,
         test_strict, test_setter_fails, test_setter_fails_twice, test_evict, test_not_root, test_units_leave_alone, test_left_alone, test_put_back,
         test_make_quiet, test_make_quiet_untouched, test_without_units, test_stopped_shield, test_just_being_stopped, test_not_started, test_not_put_back, test_put_back_signals, test_make_quiet_takes_over, test_make_quiet_fails,
         test_put_back_foreign, test_put_back_fails)
if __name__ == '__main__':
    be_alone()
    run_tests((test.__doc__, test) for test in TESTS)
