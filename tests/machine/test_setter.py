#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What all setters share, by a setter of the test's own (programs/mini-setter.c)."""

import contextlib
import fcntl
import json
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

import machine
from machine import check, equal
from test_crash import CPU, THP, mini_files

NMI = 'proc/sys/kernel/nmi_watchdog'
APPLIED = {
    THP: 'always [madvise] never',
    NMI: '0',
    'proc/sys/kernel/watchdog_cpumask': '0',
    f'{CPU}/cpu1/power/pm_qos_resume_latency_us': 'n/a',
    f'{CPU}/cpu1/cpufreq/scaling_max_freq': '2000000',
}
BOOT = 'proc/sys/kernel/random/boot_id'


@contextlib.contextmanager
def mini():
    with machine.Setter(os.environ['MINI_SETTER'], 'vm-plain') as setter:
        mini_files(setter.box)
        yield setter


def refused(setter, *arguments, status, says, **options):
    """Checks that the tool fails with one line that says this, prints nothing else and changes
    nothing."""
    before, journal = setter.snapshot(), setter.journal
    result = setter.run(*arguments, **options)
    equal((result.returncode, result.stdout), (status, ''), f'{arguments}')
    lines = result.stderr.splitlines()
    check(len(lines) == 1 and lines[0].startswith('mini-setter: ') and says in lines[0],
          f'{arguments}: {says!r} is not in {result.stderr!r}')
    setter.same(before, f'{arguments} changed')
    equal(setter.journal, journal, f'journal after {arguments}')


def test_cycle():
    with mini() as setter:
        out = setter.cycle('-c', 1, changes=APPLIED)
        check('applied' in out['applied'] and 'host-controlled' in out['applied'], out['applied'])
        check('applied' not in out['status'] + out['dry-run'], out['status'])


def test_usage():
    with mini() as setter:
        for words, says in (
                (['frobnicate'], 'frobnicate'),
                (['apply', 'never', 'madvise'], 'one word too many'),
                (['status', 'status'], 'status'),
                (['restore', 'never'], 'one word too many'),
                (['-x'], 'option -x'),
                (['--frob'], '--frob'),
                (['--json=1'], '--json'),
                (['-c'], 'needs a value'),
                (['--cpus'], 'needs a value'),
                (['-c', ''], 'CPU'),
                (['-c', '1-'], 'CPU list'),
                (['-c', 'x'], 'CPU list'),
                (['-c', '99'], 'CPU'),
                (['-c', '-1'], 'CPU list'),
                (['-c', '1\n2'], 'CPU list'),
                (['--force'], '--force is for restore'),
                (['status', '--force'], '--force is for restore'),
                (['--once'], '--once is for restore'),
                (['restore', '--dry-run'], '--dry-run is for apply'),
                (['status', '--dry-run'], '--dry-run is for apply'),
                # What would have no effect: nobody shall think that the rest stays as it is.
                (['restore', '-c', '0'], '--cpus is not for restore, which puts back everything'),
                (['restore', '--gate'], '--gate is not for restore'),
                (['restore', '--strict'], '--strict is for apply'),
                (['status', '--strict=refused'], '--strict is for apply'),
                (['--strict=x'], "--strict: 'x' is not 'refused', the only value"),
                (['apply', 'status'], "'status' is one word too many; see"),
                (['restore', 'statuss'], '(did you mean status?)')):
            refused(setter, *words, status=2, says=says)
        equal(setter.left_over(), [], 'left in /run/quiesce')


def test_help():
    with mini() as setter:
        text = setter.succeed('--help', user=True)
        for word in ('Usage: mini-setter', '[never|madvise]', '--gate', '--cpus', '--dry-run',
                     '--strict', '--force', '--once', '--json', '--verbose', '--version', 'restore'):
            check(word in text, f'--help lacks {word}')
        check(max(map(len, text.splitlines())) <= 80, 'too wide')
        check(setter.succeed('-V').startswith('mini-setter (quiesce) '), 'version')
        equal(setter.succeed('-h'), text, '-h')


def rows(text):
    return {row['path']: row for row in json.loads(text)['knobs']}


def test_target():
    """The CPUs of a running benchmark.target are the default of -c; what is wrong with its file is a
    failure, for nobody knows what is meant to be quiet."""
    latency = {cpu: f'{CPU}/cpu{cpu}/power/pm_qos_resume_latency_us' for cpu in (0, 1)}
    with mini() as setter:
        boot = (setter.box.root / BOOT).read_text().strip()
        target = setter.run_directory / 'quiesce/target'
        text = f'QUIESCE_TARGET=1\nBOOT_ID={boot}\nCPUS=1\n'
        target.parent.mkdir()
        target.write_text(text)
        before = setter.snapshot()
        check(latency[0] not in setter.succeed('--dry-run', '--json', user=True), 'CPU 0 in the dry run')
        setter.succeed()
        setter.same({**before, **{path: f'{value}\n'.encode() for path, value in APPLIED.items()}},
                    'not the CPUs of the target')
        setter.succeed('restore')
        setter.succeed('-c', '0')
        equal(setter.snapshot()[latency[0]], b'n/a\n', '-c over the target')
        setter.succeed('restore')
        setter.same(before, 'restore left')
        for damaged in (text[:-1], text.replace('=1\n', '=7\n', 1), text.replace('CPUS', 'CPU')):
            target.write_text(damaged)
            refused(setter, status=1, says='quiesce/target')
            refused(setter, 'status', status=1, says='quiesce/target')
        # A target of another boot does not count: the default is all CPUs.
        target.write_text(text.replace(boot, boot[::-1]))
        check(latency[0] in setter.succeed('--dry-run', '--json'), 'a target of another boot')


def test_json():
    with mini() as setter:
        setter.box.remove('proc/sys/kernel/watchdog_cpumask')
        path, gone = '/' + THP, '/proc/sys/kernel/watchdog_cpumask'
        got = rows(setter.succeed('status', '--json', '-c', 1))
        equal((got[path]['wanted'], got[path]['now'], got[path]['original'], got[path]['state']),
              ('madvise', '[always] madvise never', None, None), 'status before')
        equal(got[gone]['state'], 'unavailable', 'one that is not there')
        equal(got['/sys/nowhere']['state'], 'host-controlled', "the host's")
        equal(got[f'/{CPU}/cpu1/power/pm_qos_resume_latency_us']['cpu'], 1, 'CPU')
        equal(rows(setter.succeed('--dry-run', '--json', '-c', 1))[path]['state'], None, 'dry run')
        equal(rows(setter.succeed('--json', '-c', 1))[path]['state'], 'applied', 'apply')
        got = rows(setter.succeed('status', '--json', user=True))
        equal((got[path]['now'], got[path]['original'], got[path]['state']),
              ('always [madvise] never', '[always] madvise never', 'applied'), 'status after')
        check(json.loads(setter.succeed('restore', '--json')), 'restore')
        equal(rows(setter.succeed('status', '--json'))[path]['state'], None, 'status at the end')


def test_brief():
    """One line; of status, an exit status that tells whether all is as wanted."""
    with mini() as setter:
        out = setter.succeed('--brief', '-c', 1)
        equal(out.count('\n'), 1, out)
        check('NMI watchdog 0' in out and "not possible here: the host's" in out, out)
        result = setter.run('status', '--brief', '-c', 1)
        equal(result.returncode, 3, f'status, with a knob of the host ({result.stdout})')
        check(result.stdout.startswith('huge pages madvise, NMI watchdog 0'), result.stdout)
        setter.box.write(NMI, '1\n')
        result = setter.run('status', '--brief', '-c', 1)
        equal(result.returncode, 3, f'status of a changed knob ({result.stdout})')
        check('not as wanted: NMI watchdog 0' in result.stdout, result.stdout)
        setter.succeed('restore', '--force')
        for options in (['--brief', '--json'], ['--brief', '-v'], ['restore', '--brief']):
            refused(setter, *options, status=2, says='--brief is for apply and status')
        setter.box.remove(NMI)
        out = setter.run('status', '--brief', '-c', 1).stdout
        check('NMI' not in out, f'a knob that is not there: {out}')


def test_brief_reasons():
    """Each reason stands behind those that have it."""
    with mini() as setter:
        setter.box.remove(NMI)
        (setter.box.root / NMI).mkdir()
        for path in ('proc/sys/kernel/watchdog_cpumask', f'{CPU}/cpu1/cpufreq/scaling_max_freq'):
            setter.box.remove(path)
            (setter.box.root / path).symlink_to(path.split('/')[-1])
        loop = 'Too many levels of symbolic links'
        out = setter.run('status', '--brief', '-c', 1).stdout
        check(f'stays as it is: NMI watchdog 0 (Is a directory), watchdog 0, maximum 2000000 ({loop}); ' in out, out)


def test_user():
    """A user who is not root can read; one line says that the rest needs root."""
    with mini() as setter:
        refused(setter, user=True, status=1, says='needs root')
        refused(setter, 'restore', user=True, status=1, says='needs root')
        before = setter.snapshot()
        check('madvise' in setter.succeed('--dry-run', user=True), 'dry run')
        setter.same(before, 'changed')
        equal(setter.left_over(), [], 'left in /run/quiesce')


def test_second_apply_keeps_the_first_old():
    with mini() as setter:
        before = setter.snapshot()
        setter.succeed('-c', 1)
        setter.succeed('never', '-c', 0)
        row = rows(setter.succeed('status', '--json', 'never', '-c', '0-1'))['/' + THP]
        equal((row['now'], row['original']), ('always madvise [never]', '[always] madvise never'),
              'old value')
        setter.succeed('restore')
        setter.same(before, 'restore left')


def test_already():
    """A machine that is as wanted: no journal, and nothing to put back."""
    with mini() as setter:
        for path, text in APPLIED.items():
            setter.box.write(path, text + '\n')
        before, times = setter.snapshot(), setter.times()
        check('already' in setter.succeed('-c', 1), 'word')
        equal((setter.left_over(), setter.times()), ([], times), 'journal and writes')
        setter.succeed('restore')
        setter.same(before, 'changed')


def test_strict():
    with mini() as setter:
        for path in (NMI, 'proc/sys/kernel/watchdog_cpumask'):
            setter.box.remove(path)
        setter.succeed('-c', 1)
        setter.succeed('restore')
        refused(setter, '--strict', '-c', 1, status=1, says='NMI watchdog')


def test_refused():
    """A knob that refuses has its own exit status, and systemd is told why. A missing knob does not
    count as refusing."""
    with mini() as setter, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(setter.run_directory / 'notify'))
        systemd.settimeout(60)
        refused(setter, '--fail', '-c', 1, status=3, says='cannot set broken gate',
                env={'NOTIFY_SOCKET': '/run/notify'})
        told = systemd.recv(4096).decode()
        check(told.startswith('STATUS=cannot set broken gate') and told.count('\n') == 1, told)
        for path in (NMI, 'proc/sys/kernel/watchdog_cpumask'):
            setter.box.remove(path)
        setter.succeed('--strict=refused', '-c', 1)
        setter.succeed('restore')
        refused(setter, '--strict=nonsense', '-c', 1, status=2, says="'nonsense' is not 'refused', the only value")


def test_lost():
    """A service that is gone in the middle is no machine that refuses."""
    with mini() as setter:
        before = setter.snapshot()
        refused(setter, '--lose', '-c', 1, status=1, says='cannot set lost gate')
        setter.same(before, 'changed')
        equal(setter.left_over(), [], 'journal')


def test_nothing_there():
    with machine.Setter(os.environ['MINI_SETTER'], 'vm-plain') as setter:
        for path in APPLIED:
            (setter.box.root / path).unlink(missing_ok=True)
        before = setter.snapshot()
        result = setter.run('-c', 1)
        equal(result.returncode, 0, 'status')
        check('nothing to do' in result.stderr, result.stderr)
        equal(setter.run('--strict', '-c', 1).returncode, 1, 'strict')
        setter.same(before, 'changed')
        equal(setter.left_over(), [], 'left in /run/quiesce')


def test_failure():
    """The last knob fails: all others are turned back, and the earlier entries of the journal
    stay."""
    with mini() as setter:
        refused(setter, '--fail', '-c', 1, status=3, says='cannot set broken gate')
        equal(setter.left_over(), [], 'journal')
        before = setter.snapshot()
        setter.succeed('-c', 1)
        refused(setter, 'never', '--fail', '-c', '0-1', status=3, says='cannot set broken gate')
        setter.succeed('restore')
        setter.same(before, 'restore left')


def test_doubt():
    """The setter itself finds that its settings do not work: this apply is turned back, and no
    earlier one."""
    with mini() as setter:
        refused(setter, '--doubt', '-c', 1, status=3, says='did not do what it should')
        equal(setter.left_over(), [], 'journal')
        before = setter.snapshot()
        setter.succeed('-c', 1)
        refused(setter, 'never', '--doubt', '-c', '0-1', status=3, says='did not do what')
        refused(setter, '--doubt', '-c', 1, status=3, says='did not do what')
        setter.succeed('restore')
        setter.same(before, 'restore left')


def test_foreign():
    with mini() as setter:
        before = setter.snapshot()
        setter.succeed('-c', 1)
        setter.box.write('proc/sys/kernel/watchdog_cpumask', '2\n')
        check('somebody else' in setter.succeed('status', '--json', '-c', 1), 'status')
        result = setter.run('restore')
        equal(result.returncode, 0, 'status')
        check('watchdog ' in result.stderr and 'stays at 2' in result.stderr
              and '--force' in result.stderr, result.stderr)
        check(setter.journal.count(b'\nknob\t') == 1, 'what is left in the journal')
        changed = {**before, 'proc/sys/kernel/watchdog_cpumask': b'2\n'}
        setter.same(changed, 'restore left')
        check('stays at 2' in setter.run('restore').stderr, 'asked again, it does not say it again')
        equal(setter.run('restore', '--once').stderr, '', 'what --once says of it')
        setter.succeed('restore', '--force')
        setter.same(before, 'restore --force left')
        equal(setter.left_over(), [], 'journal')


def test_foreign_once():
    """With --once, too, restore says what no restore has said before."""
    with mini() as setter:
        setter.succeed('-c', 1)
        setter.box.write('proc/sys/kernel/watchdog_cpumask', '2\n')
        check('stays at 2' in setter.run('restore', '--once').stderr, 'the first does not say it')
        equal(setter.run('restore', '--once').stderr, '', 'the second')


def test_foreign_is_kept():
    """A value that restore has left alone counts as the original from then on: the next restore
    puts it back."""
    with mini() as setter:
        before = setter.snapshot()
        setter.succeed('-c', 1)
        setter.box.write('proc/sys/kernel/watchdog_cpumask', '2\n')
        setter.run('restore')
        setter.succeed('-c', 1)
        equal(setter.run('restore').stderr, '', 'of what is put back')
        setter.same({**before, 'proc/sys/kernel/watchdog_cpumask': b'2\n'}, 'restore left')
        equal(setter.left_over(), [], 'journal')


def test_damaged_journal():
    """Every verb refuses a damaged journal, leaves it in place, and changes nothing."""
    with mini() as setter:
        before = setter.snapshot()
        setter.succeed('-c', 1)
        whole = setter.journal
        other = setter.box.root / BOOT
        for text, says in (
                (whole[:-1], 'damaged'),
                (whole[:len(whole) // 2], ''),
                (whole[:20], 'damaged'),
                (b'', 'no journal'),
                (whole.replace(b'madvise', b'mad\0ise', 1), 'NUL'),
                (whole.replace(b'journal 2', b'journal 1', 1), 'another version'),
                (whole.replace(b'tool\tmini-setter', b'tool\tsmt-off', 1), 'belongs to smt-off')):
            check(text != whole, 'not damaged')
            setter.journal_path.write_bytes(text)
            for verb in (['apply', 'never'], ['status'], ['restore'], ['restore', '--force']):
                refused(setter, *verb, status=1, says=says)
        setter.journal_path.write_bytes(whole)
        other.write_text('5e77e12f-0000-4000-8000-00000000000f\n')
        setter.succeed('restore')
        equal(setter.left_over(), [], 'a journal of another boot')
        check(setter.difference(before, setter.snapshot()), 'and nothing is put back by it')


@contextlib.contextmanager
def started(setter, *arguments):
    """Starts a run that waits at its gate; yields the process. The gate opens at the end."""
    waiting, go = setter.run_directory / 'at-gate', setter.run_directory / 'go'
    for path in (waiting, go):
        path.unlink(missing_ok=True)
    command = [os.environ['SYSROOT'], '--root', setter.box.root, '--', setter.tool, *arguments]
    setter.note_choices()
    with subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            end = time.monotonic() + 30
            while not waiting.exists():
                check(process.poll() is None and time.monotonic() < end, 'never got to its gate')
                time.sleep(0.005)
            yield process
        finally:
            go.touch()
            process.said = process.communicate(timeout=60)[1]
            setter.render_choices()


def test_journal_that_may_not_be_written():
    """`ulimit -f` is an error with a message, and nothing is changed without a journal."""
    with mini() as setter:
        before, journal = setter.snapshot(), setter.journal
        result = setter.box.run('sh', '-c', 'ulimit -f 0; exec "$@"', 'sh', setter.tool, '-c', 1, root=True)
        equal(result.returncode, 1, f'status ({result.stderr})')
        check('mini-setter: ' in result.stderr and 'File too large' in result.stderr, result.stderr)
        setter.same(before, 'changed')
        equal(setter.journal, journal, 'journal')


def test_signals():
    """Ctrl-C in the middle of apply or restore: the change is finished, and not left half done."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        with mini() as setter:
            before = setter.snapshot()
            with started(setter, '--gate', '-c', '1') as process:
                check(not setter.difference(before, {**setter.snapshot(),
                                                     THP: before[THP], NMI: before[NMI],
                                                     'proc/sys/kernel/watchdog_cpumask':
                                                     b'0-1\n'}), 'beyond the gate')
                process.send_signal(number)
                time.sleep(0.05)
                equal(process.poll(), None, f'{number} ended it')
            equal(process.returncode, 0, 'status')
            applied = {**before, **{path: f'{text}\n'.encode() for path, text in APPLIED.items()}}
            setter.same(applied, 'half done')

            with started(setter, 'restore') as process:
                check(setter.difference(applied, setter.snapshot()), 'nothing was put back yet')
                check(setter.difference(before, setter.snapshot()), 'beyond the gate')
                check(setter.journal, 'no journal')
                process.send_signal(number)
                time.sleep(0.05)
                equal(process.poll(), None, f'{number} ended restore')
            equal(process.returncode, 0, 'status of restore')
            setter.same(before, 'half restored')
            equal(setter.left_over(), [], 'left in /run/quiesce')


def test_killed():
    """The journal is there after SIGKILL in the middle of apply, or of restore."""
    with mini() as setter:
        before = setter.snapshot()
        for arguments in (['--gate', '-c', '1'], ['restore']):
            with started(setter, *arguments) as process:
                process.kill()
                process.wait()
            check(setter.difference(before, setter.snapshot()), 'nothing was changed yet')
            check(setter.journal, 'no journal')
        setter.succeed('restore')
        setter.same(before, 'restore left')
        equal(setter.left_over(), [], 'left in /run/quiesce')


def test_signals_while_waiting():
    """Ctrl-C at once ends a tool that waits for another tool, because it has not begun."""
    with mini() as setter:
        setter.succeed('-c', 1)
        applied, journal = setter.snapshot(), setter.journal
        with open(setter.run_directory / 'quiesce/lock', 'w', encoding='ascii') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            for arguments in (['restore'], ['never', '-c', '0']):
                command = [os.environ['SYSROOT'], '--root', setter.box.root, '--', setter.tool]
                with subprocess.Popen(list(map(str, [*command, *arguments]))) as process:
                    end = time.monotonic() + 30
                    # A tool that waits has the file of the lock open.
                    while not any(os.path.realpath(path).endswith('quiesce/lock')
                                  for path in open_files(process.pid)):
                        check(process.poll() is None and time.monotonic() < end, 'never waited')
                        time.sleep(0.005)
                    process.send_signal(signal.SIGINT)
                    equal(process.wait(timeout=20), -signal.SIGINT, f'{arguments}')
        setter.same(applied, 'changed')
        equal(setter.journal, journal, 'journal')


def open_files(pid):
    return list(pathlib.Path(f'/proc/{pid}/fd').iterdir())


def test_restore_fails():
    """A value that could not be put back is named once, stays in the journal, and is put back
    later."""
    with mini() as setter:
        before = setter.snapshot()
        setter.succeed('-c', 1)
        gate = setter.run_directory / 'gate-main'
        (setter.run_directory / 'go').touch()
        setter.succeed('--gate', '-c', 1)
        # A directory: the gate can neither be read nor opened.
        gate.unlink()
        gate.mkdir()
        result = setter.run('restore')
        lines = result.stderr.splitlines()
        equal((result.returncode, len(lines)), (1, 1), result.stderr)
        check(lines[0].startswith('mini-setter: gate (gate:main) could not be put back to open: '),
              lines[0])
        # And the two knobs of groups that are undone later, which the gate might change.
        equal(setter.journal.count(b'\nknob\t'), 3, 'what is left in the journal')
        setter.same(before, 'restore left')
        gate.rmdir()
        gate.write_text('closed')
        equal(setter.run('restore').returncode, 0, 'restore again')
        check(not gate.exists(), 'the gate stays closed')
        equal(setter.left_over(), [], 'left in /run/quiesce')


def test_lock_held():
    """The process that holds the lock is named. Only root can hold it, also if the file was
    readable for everybody before."""
    with mini() as setter:
        before = setter.snapshot()
        setter.succeed('-c', 1)
        lock = setter.run_directory / 'quiesce/lock'
        equal(lock.stat().st_mode & 0o777, 0o600, 'mode of the lock')
        lock.chmod(0o644)
        with open(lock, 'w', encoding='ascii') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            # Here the half minute that the tool waits takes no time.
            result = setter.box.run('env', f'LD_PRELOAD={os.environ["TIMELESS"]}',
                                    machine.asan_options(), setter.tool, 'restore', root=True)
            equal(result.returncode, 1, 'status')
            check(f'(process {os.getpid()}) holds /run/quiesce/lock' in result.stderr,
                  result.stderr)
        equal(lock.stat().st_mode & 0o777, 0o600, 'mode of the lock, mended')
        setter.succeed('restore')
        setter.same(before, 'restore left')


def test_lock():
    """Of two tools at the same time the second waits for the first."""
    with mini() as setter:
        before = setter.snapshot()
        with started(setter, '--gate', '-c', '1') as process:
            results = []
            second = threading.Thread(target=lambda: results.append(setter.run('restore')))
            second.start()
            time.sleep(0.3)
            equal(results, [], 'the second did not wait')
            check('closed' in setter.succeed('status'), 'status waits for nobody')
        second.join()
        equal((process.returncode, results[0].returncode), (0, 0), 'both')
        setter.same(before, 'restore left')
        equal(setter.left_over(), [], 'left in /run/quiesce')

        with open(setter.run_directory / 'quiesce/lock', 'w', encoding='ascii') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            timer = threading.Timer(0.3, lambda: fcntl.flock(file, fcntl.LOCK_UN))
            timer.start()
            begin = time.monotonic()
            setter.succeed('-c', 1)
            check(time.monotonic() - begin >= 0.25, 'did not wait')
            timer.join()
        setter.succeed('restore')


def test_gone_meanwhile():
    """A CPU is taken away in the middle: that is said, and the settings of the other CPUs are put
    back."""
    with mini() as setter:
        before = setter.snapshot()
        cpufreq = setter.box.root / 'sys/devices/system/cpu/cpu1/cpufreq'
        hidden = cpufreq.with_name('hidden')
        with started(setter, '--gate', '-c', '0-1') as process:
            cpufreq.rename(hidden)
        equal(process.returncode, 0, process.said)
        equal(process.said, 'mini-setter: maximum (/sys/devices/system/cpu/cpu1/cpufreq/'
              'scaling_max_freq): gone since mini-setter began to set it\n', 'what is said')
        hidden.rename(cpufreq)
        setter.succeed('restore')
        setter.same(before, 'restore left')
        equal(setter.left_over(), [], 'left in /run/quiesce')


def test_directory_of_others():
    """Journals are refused where somebody else than root may write to /run/quiesce."""
    with mini() as setter:
        (setter.run_directory / 'quiesce').mkdir()
        (setter.run_directory / 'quiesce').chmod(0o777)
        refused(setter, '-c', 1, status=1, says="of root's alone")
        refused(setter, 'restore', status=1, says="of root's alone")


def test_no_place_for_the_journal():
    """/run is full, or cannot be written to: one line says so, and nothing is changed."""
    for options, says in (('ro', 'Read-only file system'),
                          ('nr_inodes=3', 'No space left on device')):
        with mini() as setter:
            before, times = setter.snapshot(), setter.times()
            result = setter.box.run('sh', '-c', f'mount -t tmpfs -o {options} none /run && '
                                    f'exec {setter.tool} -c 1', root=True)
            equal((result.returncode, result.stdout), (1, ''), f'{options}: {result.stderr}')
            lines = result.stderr.splitlines()
            check(len(lines) == 1 and lines[0].startswith('mini-setter: ') and says in lines[0],
                  f'{options}: {result.stderr}')
            setter.same(before, f'{options}: changed')
            equal(setter.times(), times, f'{options}: written')


def test_unreadable_boot_id():
    """Says what cannot be read: a journal names the boot that it is of."""
    boot_id = 'proc/sys/kernel/random/boot_id'
    cannot = f'cannot read which boot this is (/{boot_id})'
    with mini() as setter:
        known = (setter.box.root / boot_id).read_text()
        setter.box.write(boot_id, '')
        refused(setter, '-c', 1, status=1, says=f'{cannot}, so nothing is touched: No data available')
        setter.box.write(boot_id, known)
        setter.succeed('-c', 1)
        setter.box.write(boot_id, '')
        for verb in 'restore', 'status':
            refused(setter, verb, status=1, says=f'{cannot}: No data available')
        setter.box.write(boot_id, known)
        setter.succeed('restore')


def test_full_output():
    """Output that cannot be printed is a failure, but the journal is there all the same."""
    with mini() as setter:
        before = setter.snapshot()
        result = setter.box.run('sh', '-c', f'exec {setter.tool} -c 1 > /dev/full', root=True)
        equal(result.returncode, 1, result.stderr)
        check(setter.journal, 'no journal')
        puts_back = 'mini-setter: `mini-setter restore` puts back what is still set\n'
        check(result.stderr.endswith(puts_back), result.stderr)
        # The second apply leaves something set, too, and the third nothing of its own.
        setter.box.write(NMI, '1\n')
        for is_set in (True, False):
            result = setter.box.run('sh', '-c', f'exec {setter.tool} -c 1 > /dev/full', root=True)
            equal((result.returncode, result.stderr.endswith(puts_back)), (1, is_set), result.stderr)
        setter.note_choices()
        setter.choices[THP] = [b'always', b'madvise', b'never']
        setter.succeed('restore')
        setter.same(before, 'restore left')


def test_closed_streams():
    """No file that is opened becomes a standard stream, and gets what is printed."""
    with mini() as setter:
        for closed in ('<&- >&- 2>&-', '>&- 2>&-', '<&- >&-', '<&- 2>&-', '<&-'):
            is_printed = '>&-' not in closed.replace('2>&-', '')
            for verb in ('-c 1', 'status -c 1', 'restore --json'):
                result = setter.box.run('sh', '-c', f'exec {setter.tool} {verb} {closed}', root=True)
                equal((result.returncode, bool(result.stdout)), (0 if is_printed else 1, is_printed), f'{verb} {closed}')
            equal((setter.run_directory / 'quiesce/lock').read_bytes(), b'', f'printed into the lock, {closed}')
            equal(setter.left_over(), [], closed)


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
