#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""runpinned runs real programs on the machine that the tests run on.

Nothing here depends on how fast this machine is. The tests check the result, the messages, and what
is left behind.
"""

import contextlib
import csv
import fcntl
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import machine
from machine import Skip, check, equal
from sandbox import forbid

RUNPINNED = os.environ['RUNPINNED']
REPORT = os.environ['BENCH_REPORT']
PROGRAMS = pathlib.Path(os.environ['PROGRAMS'])
SCRATCH = tempfile.TemporaryDirectory(prefix='runs.')
os.chmod(SCRATCH.name, 0o755)
CPU = str(max(os.sched_getaffinity(0)))
# Seconds after which something hangs. The machine may be busy with much else.
PATIENCE = 120


def environment(**more):
    return {**os.environ, 'LC_ALL': 'C', 'XDG_STATE_HOME': SCRATCH.name + '/state', **more}


def run(*arguments, cpu=CPU, env=None, prefix=(), timeout=PATIENCE, waits=False, **options):
    """Runs runpinned on one CPU. Returns its standard output and standard error as text, the latter
    without what it says when somebody else measures on that CPU, but for a test that `waits`."""
    command = [*prefix, RUNPINNED, '-c', cpu, *map(str, arguments)]
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                errors='backslashreplace', env=env or environment(),
                                timeout=timeout, check=False, **options)
    except subprocess.TimeoutExpired as error:
        raise machine.Failed(f'{command} took more than {timeout} s') from error
    if not waits:
        result.stderr = machine.without_waiting(result.stderr)
    return result


def scratch(name):
    return pathlib.Path(SCRATCH.name, name)


def script(name, text):
    """An executable shell script."""
    path = scratch(name)
    path.write_text('#!/bin/sh\n' + text, encoding='utf-8')
    path.chmod(0o755)
    return path


def measured(*arguments, status=0, **options):
    """The only benchmark of the result, as a dictionary."""
    result = run('--json', *arguments, **options)
    equal(result.returncode, status, f'status ({result.stderr})')
    return json.loads(result.stdout)['benchmarks'][0]


def metadata(benchmark):
    """The metadata of each run, including warm-ups, together with those of the benchmark."""
    return [{**benchmark.get('metadata', {}), **run.get('metadata', {})}
            for run in benchmark['runs']]


def values(benchmark):
    return [value for run in benchmark['runs'] for value in run.get('values', [])]


def one_line(result, status, *words):
    """A failure as a user should see it: one line on standard error, and no output."""
    equal(result.returncode, status, f'status ({result.stderr!r})')
    equal(result.stdout, '', 'standard output')
    check(re.fullmatch(r'runpinned: [^\n]+\n', result.stderr), f'not one line: {result.stderr!r}')
    for word in words:
        check(word in result.stderr, f'{word!r} is not in {result.stderr!r}')


def kernel_windows_are_allowed():
    """Whether the kernel of this machine provides windows at all."""
    return metadata(measured('-n', 1, '-w', 0, '/bin/true'))[0]['quiesce_clock'] == 'kernel'


def require_kernel_windows():
    if not kernel_windows_are_allowed():
        raise Skip('perf_event_open(2) is not allowed here')


def processes_with(word):
    """Processes that have this word among their arguments, except zombies, and except runpinned, which
    has the program's arguments behind its own."""
    found = []
    for entry in pathlib.Path('/proc').iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / 'cmdline').read_bytes().split(b'\0')
            if word.encode() in words and os.path.basename(words[0]) != b'runpinned':
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def gone(word):
    """Waits until no process has this word any more. True when that is so."""
    deadline = time.monotonic() + PATIENCE
    while processes_with(word):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.1)
    return True


def await_running(word):
    machine.wait_for(lambda: processes_with(word), f'{word} runs', PATIENCE)


STARTED = []


def start(*arguments, **options):
    process = subprocess.Popen([RUNPINNED, '-c', CPU, *map(str, arguments)],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=environment(), **options)
    STARTED.append(process)
    return process


def tidy(function):
    """Runs the test, and ends whatever it has started, because that would hold the lock of the CPU."""
    def tidied():
        try:
            function()
        finally:
            while STARTED:
                process = STARTED.pop()
                if process.poll() is None:
                    process.kill()
                    process.wait()
    return tidied


# --- The window ---

def test_plain():
    benchmark = measured('-n', 5, '/bin/true')
    equal(len(values(benchmark)), 5, 'values')
    equal(len(benchmark['runs']), 6, 'runs with the warm-up')
    for one in metadata(benchmark):
        check(one['quiesce_window_user'] > 0, 'no window of our own')
        if one['quiesce_clock'] == 'kernel':
            check(0 < one['quiesce_window_kernel'] < one['quiesce_window_user'],
                  'the kernel window does not lie inside ours')


def test_what_an_empty_program_uses():
    """A short program has the launcher's memory in its figure, and CPU time of what is outside of its window."""
    result = run('--json', '-v', '-n', 3, '/bin/true')
    facts = json.loads(result.stdout)['benchmarks'][0]['metadata']
    check(0 < facts['quiesce_floor_max_rss'] < 8 << 20, facts)
    check(0 < facts['quiesce_floor_user_cpu'] + facts['quiesce_floor_system_cpu'] < 1, facts)
    for label in 'CPU time', 'memory':
        check(re.search(rf'^  {label} .*; an empty program [0-9.]+ ', result.stderr, re.M), result.stderr)


def test_sleep_is_measured():
    """A program that takes 50 ms is not measured as less."""
    for value in values(measured('-n', 3, '/bin/sleep', '0.05')):
        check(value >= 0.05, f'{value} s')


def flags(one):
    return set(filter(None, one.get('quiesce_flags', '').split(',')))


def test_main_thread_ends_first():
    """The window ends with the last thread, and the kernel's stamps hold."""
    require_kernel_windows()
    benchmark = measured('-n', 4, PROGRAMS / 'leader-exits-first')
    equal(metadata(benchmark)[0]['quiesce_clock'], 'kernel', 'clock')
    check(min(values(benchmark)) >= 0.1, f'{values(benchmark)}')


def cpu_time(one):
    return one['quiesce_user_cpu'] + one['quiesce_system_cpu']


def test_main_thread_of_a_large_process_ends_first():
    """The address space takes long to be freed, which hides nothing that a thread does before."""
    require_kernel_windows()
    benchmark = measured('-n', 3, PROGRAMS / 'worker', 'large', 0)
    for one in metadata(benchmark):
        # The CPU time also has what freeing the memory takes, after the window.
        asleep = one['quiesce_window_kernel'] + one['quiesce_reap'] - cpu_time(one)
        check(asleep >= 0.02 or 'window' in flags(one), f'only {asleep} s asleep: {one}')


def test_exec_from_second_thread():
    require_kernel_windows()
    benchmark = measured('-n', 4, PROGRAMS / 'exec-from-thread', '/bin/sleep', '0.1')
    equal(metadata(benchmark)[0]['quiesce_clock'], 'kernel', 'clock')
    check(min(values(benchmark)) >= 0.1, f'{values(benchmark)}')


def test_joined_threads_are_trusted():
    require_kernel_windows()
    benchmark = measured('-n', 5, PROGRAMS / 'threads')
    check(min(values(benchmark)) >= 0.005, f'{values(benchmark)}')
    flagged = sum('window' in one.get('quiesce_flags', '') for one in metadata(benchmark))
    # On a busy machine the end of one or two runs may have been delayed.
    check(flagged <= 2, f'{flagged} of 6 runs are not trusted')


# What is attached to the program while it runs: the rings of records that its launcher has mapped. The
# shell's parent is the launcher.
ATTACHED = 'grep -c perf_event /proc/$PPID/maps >>{}; exit 0\n'


def attached(name, measure, *arguments, runs=2):
    """How many rings there were in each run, without those before the first one that counted, and who
    has stamped them."""
    path = scratch(name)
    path.touch()
    path.chmod(0o666)
    result = measure('--json', '-w', 0, '-n', runs, *arguments, script(f'{name}.sh', ATTACHED.format(path)))
    equal(result.returncode, 0, f'status ({result.stderr})')
    benchmark = json.loads(result.stdout)['benchmarks'][0]
    counts = [int(line) for line in path.read_text(encoding='utf-8').split()]
    return counts[-runs:], benchmark['metadata']['quiesce_stamped_by']


def require_tracepoints():
    if metadata(measured('-n', 1, '-w', 0, '/bin/true'))[0]['quiesce_stamped_by'] != 'tracepoints':
        raise Skip('bpf(2) is not allowed here')


def test_nothing_is_attached():
    """Whatever is attached to the program runs inside of its window. So it is attached where the user
    asks for it, and in inspections."""
    require_tracepoints()
    equal(attached('bare', run), ([0, 0], 'tracepoints'), 'by default')
    equal(attached('bare-none', run, '--evidence=none'), ([0, 0], 'tracepoints'), 'without evidence')
    equal(attached('records', run, '--evidence=records'), ([1, 1], 'tracepoints'), 'records')
    equal(attached('task', run, '--stamps=task-event'), ([1, 1], 'task-event'), 'an event')
    equal(attached('both', run, '--stamps=task-event', '--evidence=records'),
          ([2, 2], 'task-event'), 'an event and records')
    equal(attached('launcher', run, '--stamps=launcher'), ([0, 0], 'launcher'), 'no stamps')


# The schedstat files of processes that the launcher has open.
OPENED = "find /proc/$PPID/fd -lname '/proc/*/schedstat' | wc -l >>{}; exit 0\n"


def test_waiting_is_read_when_it_is_needed():
    """The file that tells how long the program has waited takes longer to open than all else that is
    done for a run. So it is open during a run only where there will be something to tell."""
    require_tracepoints()
    for how, wanted in (('full', 1), ('none', 1), ('records', 2)):
        path = scratch(f'opened-{how}')
        result = run('--json', '-w', 0, '-n', 3, f'--evidence={how}',
                     script(f'opened-{how}.sh', OPENED.format(path)))
        equal(result.returncode, 0, f'status ({result.stderr})')
        # The launcher's own is always open, and in inspections the program's.
        counts = [int(line) for line in path.read_text(encoding='utf-8').split()]
        equal(min(counts), 1, f'{how}: the fewest')
        equal(counts.count(2) >= 2, wanted == 2, f'{how}: {counts}')


def test_what_is_attached_for_an_ordinary_user():
    """A shell that starts a program is not worth more than an event; what switches often has none."""
    if stamped_as_nobody(PROGRAMS / 'worker', 'alone', 60) == 'launcher':
        raise Skip('an ordinary user may not have the stamps of the kernel here')
    equal(attached('users-choice', as_nobody, '--stamps=corrected', '--evidence=none')[0][-1:], [0],
          'the last run')
    equal(attached('users-event', as_nobody, '--stamps=task-event'), ([1, 1], 'task-event'), 'an event')


def stamped_as_nobody(*arguments):
    """Who stamps the runs of an ordinary user: one word for all programs."""
    result = as_nobody('--json', '-n', 2, *arguments)
    equal(result.returncode, 0, f'status ({result.stderr})')
    words = {benchmark['metadata']['quiesce_stamped_by']
             for benchmark in json.loads(result.stdout)['benchmarks']}
    equal(len(words), 1, f'who stamps: {words}')
    return words.pop()


def test_programs_share_their_stamps():
    """The way of stamping is that of the most demanding program: a difference between two ways would
    look like a difference between the programs."""
    simple, demanding = (PROGRAMS / 'worker', 'alone', 60), (PROGRAMS / 'forker', 300)
    if stamped_as_nobody(*simple) == 'launcher':
        raise Skip('an ordinary user may not have the stamps of the kernel here')

    def corrects(*arguments):
        """Where a busy machine stretches a run, the event may be no more than half a per cent of it."""
        machine.wait_for(lambda: stamped_as_nobody(*arguments) == 'corrected', f'corrected: {arguments}', 300)

    equal(stamped_as_nobody(*simple), 'task-event', 'a program that computes')
    corrects(*demanding)
    baseline = '--baseline=' + ' '.join(map(str, demanding))
    corrects(baseline, *simple)
    equal(stamped_as_nobody('--stamps=task-event', baseline, *simple), 'task-event', 'as asked for')
    # Without a warm-up, too.
    corrects('-w', 0, *demanding)


def test_corrected_stamps():
    """What is subtracted from the launcher's stamps is the same in all runs, beside what the launcher
    waited in each."""
    result = as_nobody('--json', '-n', 12, '--stamps=corrected', PROGRAMS / 'forker', 100)
    equal(result.returncode, 0, f'status ({result.stderr})')
    runs = [one for one in metadata(json.loads(result.stdout)['benchmarks'][0])]
    if runs[0]['quiesce_stamped_by'] == 'launcher':
        raise Skip('an ordinary user may not have the stamps of the kernel here')
    for one in runs[1:]:
        gap = one['quiesce_window_user'] - one['quiesce_window_kernel']
        check(one['quiesce_gap'] - 2e-9 < gap < one['quiesce_window_user'], f'{gap}: {one}')
        equal('window' in flags(one),
              one['quiesce_gap_spread'] > one['quiesce_window_kernel'] / 200 + 1e-9, 'flag')
        check('quiesce_run_delay' not in one, 'a waiting that nobody knows')


def test_stamps_in_a_pid_namespace():
    """The BPF programs see other numbers of processes than the launcher."""
    require_tracepoints()
    prefix = ('unshare', '--pid', '--fork', '--kill-child')
    if subprocess.run([*prefix, 'true'], capture_output=True, check=False).returncode != 0:
        raise Skip('no PID namespace here')
    runs = metadata(measured('-n', 3, '/bin/sleep', '0.02', prefix=prefix))
    for one in runs:
        equal(one['quiesce_stamped_by'], 'tracepoints', 'who stamps')
        check(0.02 <= one['quiesce_window_kernel'] < one['quiesce_window_user'], f'{one}')


def test_stamps_in_a_time_namespace():
    """Its clocks are not those with which the kernel stamps."""
    if os.geteuid() != 0 or subprocess.run(['unshare', '--time', 'true'], check=False).returncode:
        raise Skip('no time namespace')
    require_kernel_windows()
    for seconds in 1000, -1:
        for stamper in 'auto', 'cpu-events', 'task-event':
            benchmark = measured('-n', 3, '--stamps', stamper, 'sleep', '0.02', prefix=(
                'unshare', '--time', '--fork', '--monotonic', str(seconds)))
            for one in metadata(benchmark):
                check('window' not in flags(one), one)
            for one in metadata(benchmark)[1:]:
                check(0.02 <= one['quiesce_window_kernel'] <= one['quiesce_window_user'], one)


def test_append_goes_on_with_the_stamps_of_the_file():
    require_tracepoints()
    for stamps in ('cpu-events', 'task-event', 'launcher'):
        path = scratch(f'goes-on-{stamps}.json')
        for options in (('--stamps', stamps), ()):
            result = run('-q', '-n', 2, '-o', path, '--append', *options, '/bin/true')
            equal(result.returncode, 0, result.stderr)
        runs = metadata(json.loads(path.read_text(encoding='utf-8'))['benchmarks'][0])
        equal({one['quiesce_stamped_by'] for one in runs}, {stamps}, 'who stamps')


def test_stamps_that_cannot_be_had():
    for stamps, words in (('tracepoints', 'cannot attach to the tracepoints'),
                          ('cpu-events', 'cannot use events of the CPUs')):
        result = as_nobody('--no-save', f'--stamps={stamps}', '/bin/true')
        if 'stamps' not in result.stderr:
            raise Skip('an ordinary user may use them here')
        one_line(result, 1, words)


def test_results_of_all_tasks_are_named():
    """Earlier versions of runpinned attached events to all tasks, and did not write down who stamps."""
    path, old = scratch('stamped.json'), scratch('unstamped.json')
    equal(run('-q', '-n', 3, '-o', path, PROGRAMS / 'worker', 'children', 5).returncode, 0, 'status')
    document = json.loads(path.read_text(encoding='utf-8'))
    del document['benchmarks'][0]['metadata']['quiesce_stamped_by']
    for entry in document['benchmarks'][0]['runs']:
        entry['metadata']['quiesce_voluntary_switches'] = 1000
    old.write_text(json.dumps(document), encoding='utf-8')
    report = subprocess.run([REPORT, 'compare', '-v', old, path], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=PATIENCE, check=False).stdout
    check('quiesce_stamped_by: events of all tasks -> ' in report, report)
    check(re.search(r'old: the values are too long, by about [0-9.]+ %', report), report)
    check('new: the values are too long' not in report, report)
    merged = subprocess.run([REPORT, 'merge', '-o', scratch('stamped-merged.json'), old, path],
                            stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            timeout=PATIENCE, check=False)
    # The same runs twice, but for what was changed by hand, is another matter.
    if merged.returncode == 0:
        check('stamped in another way' in merged.stderr, merged.stderr)


def test_every_way_of_stamping():
    """Threads that outlive the main thread, an exec from a thread, a setuid program and one that
    executes it: whoever can see them does."""
    require_tracepoints()
    wrapper = script('executes-setuid', f'exec {privileged_copy("setuid-late", 0o4755)} 0.1\n')
    for stamps in ('tracepoints', 'cpu-events'):
        for program in ((PROGRAMS / 'leader-exits-first',),
                        (PROGRAMS / 'exec-from-thread', '/bin/sleep', '0.1'), (wrapper,)):
            for one in metadata(measured('-n', 2, f'--stamps={stamps}', *program)):
                check(one['quiesce_window_kernel'] >= 0.1, f'{stamps}: {program}: {one}')
                check('window' not in flags(one), f'{stamps}: {program}: flagged')
                equal(one['quiesce_stamped_by'], stamps, 'who stamps')


def test_wrapper_of_a_setuid_program():
    """An ordinary user's event is dropped in the middle, and seems to tell that the program has ended
    there."""
    wrapper = script('wraps-setuid', f'exec {privileged_copy("setuid-wrapped", 0o4755)} 0.05\n')
    result = as_nobody('--json', '-n', 3, wrapper)
    equal(result.returncode, 0, f'status ({result.stderr})')
    benchmark = json.loads(result.stdout)['benchmarks'][0]
    equal(benchmark['metadata']['quiesce_stamped_by'], 'launcher', 'who stamps')
    check(min(values(benchmark)) >= 0.05, f'{values(benchmark)}')
    # Also where somebody insists.
    result = as_nobody('--json', '-n', 3, '--stamps=task-event', wrapper)
    for one in metadata(json.loads(result.stdout)['benchmarks'][0])[1:]:
        check('window' in flags(one), f'{one}')


def test_inspections():
    """They do not count, and tell what the runs that count cannot."""
    require_kernel_windows()
    path = scratch('inspected')
    program = script('inspected.sh', f'echo >>{path}; {PROGRAMS}/worker children 5\n')
    result = run('--json', '-v', '-n', 30, '-w', 1, program)
    equal(result.returncode, 0, result.stderr)
    check(re.search(r"^inspections, which do not count: \d+ tasks, \d+ switches, waited ",
                    result.stderr, re.M), result.stderr)
    benchmark = json.loads(result.stdout)['benchmarks'][0]
    equal(len(values(benchmark)), 30, 'values')
    equal(len(path.read_text(encoding='utf-8')), 32, 'runs: one warm-up, one inspection more')
    facts = benchmark['metadata']
    check(facts['quiesce_inspected_tasks'] >= 3, f'{facts}')
    check(0 <= facts['quiesce_inspected_waited'] <= 1, f'{facts}')
    equal(facts['quiesce_run_delay_of'], 'inspections', 'who waited')
    for one in benchmark['runs'][1:]:
        check('quiesce_run_delay' not in one['metadata'], 'a waiting that nobody knows')
        check('quiesce_off_cpu' in one['metadata'], 'how long it was off its CPU')


def test_price_of_records():
    """Where all runs have records, some that do not count have none, and tell what they take."""
    require_tracepoints()
    # The third one of four is an inspection.
    attached('price', run, '--evidence=records', runs=3)
    counts = scratch('price').read_text(encoding='utf-8').split()
    equal(counts, ['1', '1', '0', '1'], 'records of all runs')
    result = run('--json', '-v', '-n', 5, '--evidence=records', PROGRAMS / 'worker', 'children', 5)
    equal(result.returncode, 0, result.stderr)
    facts = json.loads(result.stdout)['benchmarks'][0]['metadata']
    check(facts['quiesce_inspected_price'] > -1, f'{facts}')
    check(re.search(r'^all runs have records of \d+ tasks, \d+ switches; the records took ',
                    result.stderr, re.M), result.stderr)


def test_full_ring():
    """When the exit record has no room in the ring, the next runs get a larger one. That is said once,
    and the run without the record is flagged."""
    require_kernel_windows()
    result = run('--json', '-n', 3, '-w', 1, '--stamps=task-event', PROGRAMS / 'forker', 3000)
    equal(result.returncode, 0, f'status ({result.stderr})')
    runs = metadata(json.loads(result.stdout)['benchmarks'][0])
    equal(runs[0]['quiesce_clock'], 'kernel', 'clock')
    check('window' in flags(runs[0]), 'not flagged')
    check(0 < runs[0]['quiesce_window_kernel'] < runs[0]['quiesce_window_user'], f'{runs[0]}')
    for one in runs[1:]:
        check('window' not in flags(one), 'flagged')
    equal(result.stderr.count('no room'), 1, f'notes in {result.stderr}')


def test_ring_that_stays_full():
    """The larger ring is bounded. Then the launcher's stamps are used."""
    require_kernel_windows()
    benchmark = measured('-n', 2, '--stamps=task-event', PROGRAMS / 'forker', 12000)
    equal(metadata(benchmark)[0]['quiesce_clock'], 'user', 'clock')
    for one in metadata(benchmark):
        check('window' in flags(one), 'not flagged')


def test_wrapper_that_executes():
    """If a script executes the real program, the window contains both."""
    wrapper = script('wrapper', 'sleep 0.05\nexec /bin/sleep 0.05\n')
    check(min(values(measured('-n', 2, wrapper))) >= 0.1, 'only one of the two was measured')


def copy_programs(name):
    """The folder of a copy of runpinned and of its own programs."""
    copy = scratch(name)
    if not copy.exists():
        copy.mkdir(mode=0o755)
        for program in ('runpinned', 'runpinned-control', 'runpinned-floor', 'runpinned-launcher'):
            shutil.copy(pathlib.Path(RUNPINNED).parent / program, copy)
            (copy / program).chmod(0o755)
    return copy


def test_own_program_that_cannot_run():
    """What cannot be executed is named, also where it is a program of runpinned's own."""
    copy = copy_programs('broken-install')
    (copy / 'runpinned-floor').write_text('no program\n', encoding='utf-8')
    result = subprocess.run([copy / 'runpinned', '-c', CPU, '--no-save', 'true'],
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                            env=environment(), check=False)
    equal(result.returncode, 1, 'status')
    check('cannot execute runpinned-floor: no program of this machine' in result.stderr, result.stderr)


def test_launcher_of_another_version():
    """An update may be at work, or two installations are mixed."""
    copy = copy_programs('mixed-install')
    (copy / 'runpinned-launcher').write_text(
        f'#!{sys.executable} -SE\nimport socket, sys\n'
        'socket.socket(fileno=int(sys.argv[2])).send(b"another report")\n', encoding='utf-8')
    result = subprocess.run([copy / 'runpinned', '-c', CPU, '--no-save', 'true'],
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                            env=environment(), check=False)
    equal((result.returncode, result.stdout), (1, ''), result.stderr)
    check('it is of another version than runpinned' in result.stderr, result.stderr)


def begin_and_fail(copy, marker, *arguments):
    """A command that fails while it describes the machine, and whether it has started a launcher."""
    marker.unlink(missing_ok=True)
    result = subprocess.run([copy / 'runpinned', '-c', CPU, '--no-save', '--metadata', 'hostname=x',
                             *arguments, 'true'], stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, timeout=60, env=environment(), check=False)
    equal((result.returncode, result.stdout, result.stderr),
          (2, '', "runpinned: --metadata: 'hostname' is written by runpinned itself\n"), 'the failure')
    return marker.exists()


def test_launcher_gets_ready_early():
    """The launcher starts while the machine is described, which leaves no trace when that fails. It waits
    where --setup comes before it."""
    copy = copy_programs('early-install')
    marker = scratch('early-launcher')
    (copy / 'runpinned-launcher').write_text(f'#!/bin/sh\n: >{marker}\n', encoding='utf-8')
    equal(begin_and_fail(copy, marker, '--setup', 'true'), False, 'a launcher before --setup')
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip('the machine is described on another CPU')
    deadline = time.monotonic() + PATIENCE
    # Not while another benchmark has the CPU.
    while not begin_and_fail(copy, marker):
        check(time.monotonic() < deadline, 'no launcher is begun early')


def as_nobody(*arguments, **more):
    """Runs runpinned as an ordinary user; only root can do that. It is a copy, because others cannot
    read root's folders. `more` are variables."""
    if os.geteuid() != 0:
        raise Skip('needs root to become somebody else')
    copy = copy_programs('bin')
    command = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', copy / 'runpinned',
               '-c', CPU, *map(str, arguments)]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            env=environment(XDG_STATE_HOME='/nonexistent', **more), timeout=60, check=False)
    result.stderr = machine.without_waiting(result.stderr)
    return result


def privileged_copy(name, mode):
    path = scratch(name)
    path.write_bytes(pathlib.Path('/bin/sleep').read_bytes())
    path.chmod(mode)
    return path


def test_setuid_program():
    path = privileged_copy('setuid-sleep', 0o4755)
    result = as_nobody('--json', '-n', 2, path, '0.05')
    equal(result.returncode, 0, f'status ({result.stderr})')
    benchmark = json.loads(result.stdout)['benchmarks'][0]
    equal(metadata(benchmark)[0]['quiesce_clock'], 'user', 'clock')
    check(min(values(benchmark)) >= 0.05, f'{values(benchmark)}')
    check('setuid' in result.stderr, result.stderr)
    # Not even in a run with an event, which the kernel drops, and tells that as an end: the warm-up.
    for path in path, script('executes-short', f'exec {path} 0.001\n'):
        result = as_nobody('--json', '-n', 2, path, '0.001')
        equal(result.returncode, 0, f'status ({result.stderr})')
        for one in metadata(json.loads(result.stdout)['benchmarks'][0]):
            check('quiesce_window_kernel' not in one and one['quiesce_window_user'] >= 0.001, one)


def test_unreadable_program():
    path = privileged_copy('unreadable-sleep', 0o711)
    result = as_nobody('--json', '-n', 2, path, '0.05')
    equal(result.returncode, 0, f'status ({result.stderr})')
    benchmark = json.loads(result.stdout)['benchmarks'][0]
    equal(metadata(benchmark)[0]['quiesce_clock'], 'user', 'clock')
    check(min(values(benchmark)) >= 0.05, f'{values(benchmark)}')


def test_as_an_ordinary_user():
    result = as_nobody('-n', 3, '/bin/true')
    equal(result.returncode, 0, f'status ({result.stderr})')
    check('3 runs' in result.stdout, result.stdout)


def without_perf(*arguments):
    result = run(*arguments, prefix=(PROGRAMS / 'deny-perf',))
    if result.returncode == 77:
        raise Skip('seccomp filters are not allowed here')
    return result


def test_without_perf():
    """If the kernel provides no windows, the launcher's stamps are used, and that is said once."""
    result = without_perf('--json', '-n', 5, '/bin/sleep', '0.02')
    equal(result.returncode, 0, f'status ({result.stderr})')
    benchmark = json.loads(result.stdout)['benchmarks'][0]
    equal(metadata(benchmark)[0]['quiesce_clock'], 'user', 'clock')
    check(min(values(benchmark)) >= 0.02, f'{values(benchmark)}')
    equal(result.stderr.count('perf_event_paranoid'), 1, f'notes in {result.stderr}')
    check('quiesce_window_kernel' not in benchmark['runs'][1]['metadata'], 'a kernel window')
    check(not any('window' in one.get('quiesce_flags', '') for one in metadata(benchmark)),
          'what nobody can have speaks against no run')


def test_append_with_another_clock():
    """Runs with different clocks are not put into one benchmark, and none of them is lost."""
    require_kernel_windows()
    path = scratch('clocks.json')
    equal(run('-q', '-n', 2, '-o', path, '/bin/true').returncode, 0, 'status')
    before = path.read_bytes()
    result = without_perf('-q', '-n', 3, '-o', path, '--append', '/bin/true')
    equal(result.returncode, 1, f'status ({result.stderr})')
    equal(path.read_bytes(), before, 'the file')
    kept = re.search(r'the result is in (\S+) instead', result.stderr)
    check(kept, result.stderr)
    equal(len(values(json.loads(pathlib.Path(kept.group(1)).read_text())['benchmarks'][0])), 3,
          'values kept')
    os.unlink(kept.group(1))
    # In the other direction the new runs have stamps of both kinds.
    path.unlink()
    equal(without_perf('-q', '-n', 2, '-o', path, '/bin/true').returncode, 0, 'status')
    result = run('-q', '-n', 3, '-o', path, '--append', '/bin/true')
    equal(result.returncode, 0, f'status ({result.stderr})')
    benchmark = json.loads(path.read_text())['benchmarks'][0]
    equal(len(values(benchmark)), 5, 'values')
    equal({one['quiesce_clock'] for one in metadata(benchmark)}, {'user'}, 'clocks')


def test_precise_by_the_clock_of_the_result():
    """By the kernel's stamps all runs are alike. By ours, which the file to append to has, two of five
    take five times as long, because the program stops the launcher at its end."""
    require_kernel_windows()
    path, count = scratch('precise.json'), scratch('precise-count')
    late = script('late', f'echo >>{count}; sleep 0.05\n'
                  f'case $(($(wc -l <{count}) % 5)) in 2|4) (sleep 0.2; kill -CONT $PPID) & kill -STOP $PPID;; esac\n')
    equal(without_perf('-q', '-n', 2, '--name', 'late', '-o', path, 'true').returncode, 0, 'status')
    result = run('-q', '-n', 20, '-w', 0, '--until-rel-error', 50, '--max-runs', 21, '-o', path, '--append', late)
    equal(result.returncode, 0, f'status ({result.stderr})')
    check('the median is not known to 50 % after 21 runs (--max-runs)' in result.stderr, result.stderr)


def test_memory_of_runpinned_does_not_show():
    """A runpinned that holds 512 MiB reports the same peak memory of its child."""
    small = metadata(measured('-n', 3, PROGRAMS / 'empty'))
    hog = environment(LD_PRELOAD=str(PROGRAMS / 'hog.so'), TEST_HOG_MIB='512',
                      **machine.asan_environment())
    large = metadata(measured('-n', 3, PROGRAMS / 'empty', env=hog))
    for before, after in zip(small, large):
        check(after['command_max_rss'] <= before['command_max_rss'] + 512 * 1024,
              f"{before['command_max_rss']} became {after['command_max_rss']}")
        check(after['command_max_rss'] < 16 << 20, f"{after['command_max_rss']}")


# --- What the program finds ---

def shown(*arguments, **options):
    result = run('--show-output', '-q', '-n', 1, '-w', 0, *arguments, **options)
    equal(result.returncode, 0, f'status ({result.stderr})')
    return result.stdout


def test_affinity():
    equal(shown('grep', 'Cpus_allowed_list', '/proc/self/status').split()[1], CPU, 'affinity')


def test_standard_input_is_empty():
    equal(shown('readlink', '/proc/self/fd/0').strip(), '/dev/null', 'standard input')


def test_descriptors_are_passed_on():
    path = scratch('passed')
    path.write_text('through', encoding='utf-8')
    with open(path, encoding='utf-8') as stream:
        fd = stream.fileno()
        equal(shown('cat', f'/proc/self/fd/{fd}', pass_fds=(fd,)), 'through', 'what was read')


def test_no_descriptor_of_ours_leaks():
    listed, passed = shown('sh', '-c', 'echo $(ls /proc/self/fd); echo $QUIESCE_VALUES_FD').split('\n')[:2]
    # One descriptor is opened by ls itself, and one is passed intentionally.
    others = [fd for fd in listed.split() if fd != passed]
    equal((others[:3], len(others)), (['0', '1', '2'], 4), f'descriptors beside {passed}')


def test_signals_are_the_callers():
    def ignored(prefix=()):
        text = subprocess.run([*prefix, 'grep', 'Sig[BI]', '/proc/self/status'], text=True,
                              capture_output=True, check=True).stdout
        return text
    equal(shown('grep', 'Sig[BI]', '/proc/self/status'), ignored(), 'masks')
    trap = ('sh', '-c', 'trap "" INT TERM HUP ALRM PIPE XFSZ; exec "$@"', 'sh')
    equal(shown('grep', 'Sig[BI]', '/proc/self/status', prefix=trap), ignored(trap),
          'masks with ignored signals')


def test_ignored_children():
    """It also works for a caller that ignores SIGCHLD, and then the program ignores it, too."""
    def ignore():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    text = shown('grep', 'SigIgn', '/proc/self/status', preexec_fn=ignore)
    check(int(text.split()[1], 16) & 1 << signal.SIGCHLD - 1, text)


def test_closed_standard_streams():
    path = scratch('closed.json')
    result = subprocess.run(['sh', '-c', 'exec "$@" <&- >&- 2>&-', 'sh', RUNPINNED, '-c', CPU, '-n',
                             '2', '-o', path, '/bin/true'], env=environment(), check=False)
    equal(result.returncode, 0, 'status')
    equal(len(values(json.loads(path.read_text())['benchmarks'][0])), 2, 'values')
    # There the result itself would be lost: nothing is run.
    ran = scratch('closed-ran')
    result = subprocess.run(['sh', '-c', 'exec "$@" >&-', 'sh', RUNPINNED, '-c', CPU, '--json', 'touch', ran],
                            env=environment(), stderr=subprocess.PIPE, text=True, check=False)
    equal(result.returncode, 1, 'status with --json')
    check('--json: standard output is closed' in result.stderr, result.stderr)
    check(not ran.exists(), 'it ran')


def test_many_timeouts():
    """If the timer expires when its run has just ended, it does not kill the next run."""
    benchmark = measured('--timeout', '3ms', '--ignore-failure', '-n', 200, '/bin/sleep', '0.002')
    equal(len(values(benchmark)), 200, 'values')


def test_timeout_without_the_look():
    """The look at the core, which comes before the program, is not in the time of --timeout: a run that
    was killed before it began would have lasted since the machine was booted."""
    benchmark = measured('--evidence', 'core=100ms', '--timeout', '50ms', '--ignore-failure', '-n', 3,
                         '-w', 0, '/bin/true')
    check(max(values(benchmark)) < 10, values(benchmark))


def require_no_leak_checker():
    """Where /proc does not have the program, a leak checker ends it with an error. It would even read its options
    in /proc/self/environ, so they cannot switch it off."""
    if os.environ.get('SANITIZED') == '1':
        raise Skip('the leak checker needs a /proc that has the program')


def test_other_pid_namespace():
    """In a /proc of another PID namespace the numbers of processes are those of others."""
    if os.geteuid() != 0:
        raise Skip('a PID namespace that keeps its /proc needs root')
    require_no_leak_checker()
    result = subprocess.run(['unshare', '--pid', '--fork', RUNPINNED, '-c', str(CPU), '-n', '5', '--json',
                             'sh', '-c', '/bin/true; exit 0'], capture_output=True, text=True,
                            env=environment(), check=False)
    if 'unshare:' in result.stderr:
        raise Skip(f'no PID namespace: {result.stderr.strip()}')
    equal(result.returncode, 0, f'status ({result.stderr})')
    for one in metadata(json.loads(result.stdout)['benchmarks'][0]):
        check('leftover' not in one.get('quiesce_flags', ''), one)
    # What is left behind is found all the same.
    mark = f'{os.getpid()}.4715'
    left = ('--json', '-n', 3, '-w', 0, 'sh', '-c', f'setsid sleep {mark} & exit 0')
    own = run(*left, prefix=('unshare', '--pid', '--fork', '--kill-child'))
    none = run(*left, prefix=('unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh'))
    for result in own, none:
        equal(result.returncode, 0, f'status ({result.stderr})')
        for one in metadata(json.loads(result.stdout)['benchmarks'][0]):
            check('leftover' in flags(one), one)
        equal(processes_with(mark), [], 'processes that live')


def test_without_proc_and_sys():
    """As in a chroot: its own programs are found, and the kernel's stamps are there."""
    if os.geteuid() != 0:
        raise Skip('needs root to take /proc away')
    require_no_leak_checker()
    require_kernel_windows()
    bare = ('unshare', '--mount', 'sh', '-c',
            'mount -t tmpfs none /proc && mount -t tmpfs none /sys && exec "$@"', 'sh')
    for one in metadata(measured('-n', 3, '/bin/true', prefix=bare)):
        equal(one['quiesce_clock'], 'kernel', 'clock')
        check('window' not in flags(one), one)


def without(capability, *more):
    """What goes in front of a command that is to be root's without this capability."""
    if os.geteuid() != 0:
        raise Skip('only root has something to lose')
    words = ['setpriv', f'--bounding-set=-{capability}', f'--inh-caps=-{capability}', *more]
    if subprocess.run([*words, 'true'], capture_output=True, check=False).returncode:
        raise Skip('capabilities cannot be dropped here')
    return words


def test_timeout_that_may_not_kill():
    """A program that has become another user's outlasts --timeout, and may end well: that is no run."""
    words = ('-n', 2, '-w', 0, '--timeout', '300ms', 'setpriv', '--reuid=65534', 'sleep', '1.5')
    result = run(*words, prefix=without('kill'))
    equal(result.returncode, 1, f'status ({result.stderr})')
    check(re.search(r'run 1 failed: took [0-9.]+ s, and may not be killed after 0\.3 s \(--timeout\): '
                    "it is another user's", result.stderr), result.stderr)
    benchmark = measured('--ignore-failure', *words, prefix=without('kill'))
    check(min(values(benchmark)) > 1.4, values(benchmark))
    # What a hook has started is told from what was killed.
    result = run('-n', 1, '-w', 0, '--hook-timeout', '300ms', '--setup', 'setpriv --reuid=65534 sleep 4',
                 'true', prefix=without('kill'))
    equal(result.returncode, 1, f'status ({result.stderr})')
    check('killed after 0.3 s (--hook-timeout), but not all that it has started' in result.stderr,
          result.stderr)


def test_hidden_processes():
    """Where /proc hides the processes of others, what the program leaves behind is found all the same"""
    mark = f'{os.getpid()}.4714'
    # Root's group is the one that sees all by default (proc(5)).
    hidden = ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c',
              'mount -t proc -o hidepid=1 proc /proc && { setpriv --reuid=65534 sleep 1000 & "$@"; '
              'status=$?; kill $!; exit $status; }', 'sh',
              *without('sys_ptrace', '--regid=65534', '--clear-groups')]
    if subprocess.run([*hidden, 'sh', '-c', 'for i in /proc/[0-9]*; do cat $i/stat || exit 0; done; exit 1'],
                      capture_output=True, check=False).returncode:
        raise Skip('processes cannot be hidden here')
    text = run('--json', '-n', 3, '-w', 0, 'sh', '-c', f'sleep {mark} & exit 0', prefix=hidden)
    equal(text.returncode, 0, f'status ({text.stderr})')
    for one in metadata(json.loads(text.stdout)['benchmarks'][0]):
        check('leftover' in flags(one), one)
    equal(processes_with(mark), [], 'processes that live')


def core_runs(*arguments, **options):
    """The runs of a result with what was seen of the core; skips where nothing can be seen."""
    runs = metadata(measured('-n', '15', *arguments, '/bin/true', **options))
    if 'quiesce_core_error' in runs[0]:
        raise Skip(f'the core cannot be looked at: {runs[0]["quiesce_core_error"]}')
    return runs


def core_share(data):
    sides = [data[f'quiesce_core_share_{side}'] for side in ('before', 'after')
             if f'quiesce_core_share_{side}' in data]
    return sum(sides) / len(sides) if sides else None


def test_core():
    state = scratch('core-state')
    state.mkdir()
    known = state / 'quiesce' / 'whole-core'
    env = environment(XDG_STATE_HOME=str(state))
    runs = core_runs(env=env)
    equal(runs[0]['quiesce_whole_core_from'], 'this measurement', 'who knows')
    # An interrupt may spoil a look, but not all of them.
    check(any(core_share(data) for data in runs), f'no share is known: {runs}')
    check(any(data.get('quiesce_core_khz', 0) > 1e5 for data in runs), 'no clock is known')
    for data in runs:
        share = core_share(data)
        check(share is None or 0 < share <= 1, share)
        equal('shared' in data.get('quiesce_flags', '').split(','),
              share is not None and share < 0.9, f'flag at a share of {share}')
    best, model = known.read_text(encoding='utf-8').rstrip('\n').split(' ', 1)
    check(abs(int(best) - runs[0]['quiesce_whole_core'] * 1e4) < 1, best)
    check(model.startswith(runs[0]['cpu_model_name']), model)

    # This machine has once done more than a core can: no run had a whole one.
    known.write_text(f'159999 {model}\n', encoding='utf-8')
    runs = core_runs('--evidence', 'core=50us', env=env)
    equal(runs[0]['quiesce_whole_core_from'], 'earlier measurements', 'who knows')
    for data in runs:
        share = core_share(data)
        check(share is None or share < 0.9 and 'shared' in data['quiesce_flags'], data)
    result = run('-v', '-n', '5', '--no-save', '/bin/true', env=env)
    check(re.search(r'whole core +unknown +0 of \d runs had the core to themselves\n', result.stdout),
          result.stdout)
    equal(known.read_text(encoding='utf-8'), f'159999 {model}\n', 'what is kept')


def test_core_around_every_other_run():
    looked = ['quiesce_core_khz' in data for data in core_runs('--evidence', 'half-core')]
    # The first run is a warm-up. An interrupt may spoil a look, but there is none where none is due.
    equal([at for at, look in enumerate(looked) if look and at % 2], [], 'runs with a look')
    check(any(looked), looked)


def test_core_is_left_alone():
    for data in metadata(measured('-n', '3', '--evidence', 'no-core', '/bin/true')):
        equal(data['quiesce_evidence'], 'no-core', 'the evidence')
        equal([key for key in data if 'core' in key], [], 'what is known of the core')
        check('quiesce_run_delay' in data, 'all other evidence is there')


def test_no_aslr():
    def personality(*options):
        return int(shown(*options, 'cat', '/proc/self/personality'), 16)
    equal(personality() & 0x0040000, 0, 'personality')
    equal(personality('--no-aslr') & 0x0040000, 0x0040000, 'personality with --no-aslr')
    one = measured('--no-aslr', '-n', 1, '/bin/true')['metadata']
    equal(one['aslr'], 'No randomization', 'aslr')


def test_environment_is_passed_on():
    equal(shown('sh', '-c', 'echo $MARK', env=environment(MARK='there')).strip(), 'there', 'MARK')


def test_clear_env():
    listed = shown('--clear-env', 'env').split('\n')[:-1]
    equal([line.split('=')[0] for line in listed], ['QUIESCE_RUN', 'QUIESCE_RUN_FILL', 'PATH', 'QUIESCE_VALUES_FD',
                                                    'QUIESCE_FIGURES'],
          'environment')


def test_env_pad():
    def pad(how):
        text = shown('--env-pad', how, 'sh', '-c', 'printf %s "${QUIESCE_PAD-absent}"')
        return text if text == 'absent' else len(text)
    equal(pad('none'), 'absent', 'none')
    equal(pad('0'), 0, '0')
    equal(pad('1234'), 1234, '1234')
    equal(pad('65536'), 65536, '65536')


def test_env_pad_random():
    def pads(how):
        return [one['quiesce_env_pad']
                for one in metadata(measured('--env-pad', how, '-n', 20, '/bin/true'))]
    first = pads('random:42')
    equal(first, pads('random:42'), 'the same seed')
    check(first != pads('random:43'), 'another seed gave the same')
    check(len(set(first)) > 10 and max(first) < 4096, f'{first}')
    seed = metadata(measured('--env-pad', 'random', '-n', 1, '/bin/true'))[0]['quiesce_env_pad_seed']
    check(isinstance(seed, int) and 0 <= seed < 2 ** 53, f'{seed}')


def test_env_pad_as_recorded():
    """Many runs of a short program are requested at once, and fewer may be made: each run has the
    padding that was drawn for it, and the result says so."""
    path = scratch('pads')
    program = script('pad', f'echo ${{#QUIESCE_PAD}} >> {path}\n')
    # Without inspections, which are runs that are not recorded.
    recorded = [one['quiesce_env_pad'] for one in metadata(
        measured('--env-pad', 'random:7', '-n', 150, '-w', 2, '--evidence=none', program))]
    equal(recorded, [int(line) for line in path.read_text(encoding='utf-8').split()], 'padding')
    again = [one['quiesce_env_pad'] for one in metadata(
        measured('--env-pad', 'random:7', '-n', 150, '-w', 2, '/bin/true'))]
    equal(recorded, again, 'padding of another program')


def test_nice():
    equal(shown('--nice', '5', 'sh', '-c', 'nice').strip(), '5', 'niceness')


def test_fifo():
    result = run('--show-output', '-q', '-n', 1, '-w', 0, '--fifo=7', 'cat', '/proc/self/sched')
    if result.returncode == 1 and 'SCHED_FIFO' in result.stderr:
        check('not permitted' in result.stderr, result.stderr)
        raise Skip('SCHED_FIFO is not allowed here')
    equal(result.returncode, 0, f'status ({result.stderr})')
    if 'policy' not in result.stdout:
        raise Skip('this kernel has no /proc/PID/sched')
    equal(re.search(r'policy\s*:\s*(\d+)', result.stdout).group(1), '1', 'policy')


def test_what_the_kernel_refuses():
    """Names the option."""
    for call, option, words in (
            ('setpriority', '--nice=-5', 'cannot set the niceness (--nice)'),
            ('sched_setscheduler', '--fifo', 'cannot set SCHED_FIFO (--fifo)'),
            ('personality', '--no-aslr', 'cannot switch address-space randomisation off (--no-aslr)')):
        result = run('--no-save', '-n', 2, option, '/bin/true', preexec_fn=forbid(call))
        equal(result.returncode, 1, result.stderr)
        check(f'runpinned: {words}: Operation not permitted\n' in result.stderr, result.stderr)


def test_output_is_not_shown():
    result = run('-q', '-n', 1, 'sh', '-c', 'echo out; echo err >&2')
    equal(result.returncode, 0, f'status ({result.stderr})')
    check('out' not in result.stdout and 'err\n' not in result.stderr, 'something was shown')


def test_reopened_standard_error():
    """`> /dev/stderr` truncates the file: this must work, and the last lines must still be found."""
    talk = script('talk', 'echo one > /dev/stderr\necho two >&2\nexit 9\n')
    result = run('-n', 1, talk)
    check('two' in result.stderr, result.stderr)
    check('exit status 9' in result.stderr, result.stderr)


# --- Failure of the program ---

def test_failing_program():
    result = run('-o', scratch('failing.json'), 'sh', '-c', 'echo "it hurts" >&2; exit 3')
    equal(result.returncode, 1, 'status')
    check('exit status 3' in result.stderr, result.stderr)
    check('it hurts' in result.stderr, result.stderr)
    check(not scratch('failing.json').exists(), 'a file without a counted run')


def test_failure_shows_its_own_run():
    """The output of earlier runs is not shown, also when the runs were made by one request."""
    counter = scratch('talkers')
    talks = script('talks', f'echo x >> {counter}\necho "this is $(wc -l < {counter})" >&2\n'
                   f'[ $(wc -l < {counter}) -lt 9 ]\n')
    result = run('-n', 20, talks)
    equal(result.returncode, 1, 'status')
    equal(re.findall('this is [0-9]+', result.stderr), ['this is 9'], 'what is shown')


def test_failures_that_are_ignored():
    counter = scratch('sometimes')
    fails = script('sometimes-fails', f'echo x >> {counter}\n'
                   f'exit $(($(wc -l < {counter}) % 3 == 0))\n')
    status = [one.get('quiesce_status', 0) for one in metadata(
        measured('-w', 0, '-n', 12, '--ignore-failure', fails))]
    equal(status, [0, 0, 256] * 4, 'statuses')


def test_failure_later_keeps_the_runs():
    counter = scratch('counter')
    fails = script('fails', f'echo x >> {counter}\n[ $(wc -l < {counter}) -lt 4 ]\n')
    result = run('-o', scratch('later.json'), '-n', 10, fails)
    equal(result.returncode, 1, 'status')
    check('run 3 failed: exit status 1' in result.stderr, result.stderr)
    benchmark = json.loads(scratch('later.json').read_text())['benchmarks'][0]
    equal(len(values(benchmark)), 2, 'values')
    check('run 3 failed' in benchmark['metadata']['quiesce_incomplete'], 'not said in the file')


def test_signalled_program():
    result = run('sh', '-c', 'kill -SEGV $$')
    equal(result.returncode, 1, 'status')
    check('signal 11' in result.stderr and 'Segmentation' in result.stderr, result.stderr)


def test_control_characters_are_not_passed_on():
    result = run('sh', '-c', 'printf "\\033[31mred\\007\\n" >&2; exit 1')
    check('\033' not in result.stderr and 'red' in result.stderr, repr(result.stderr))


def test_program_that_stops():
    """Nobody would continue a program that stops itself, so the run has failed."""
    for options in ([], ['--timeout', '500s']):
        result = run('-n', 2, *options, 'sh', '-c', 'echo about to stop >&2; kill -STOP $$',
                     timeout=PATIENCE)
        equal(result.returncode, 1, 'status')
        check('stopped by signal 19' in result.stderr, result.stderr)
        check('| about to stop' in result.stderr, result.stderr)
    benchmark = measured('-n', 2, '-w', 0, '--ignore-failure', 'sh', '-c', 'kill -TSTP $$')
    for one in metadata(benchmark):
        check('failed' in flags(one), 'not flagged')


# Its parent becomes its tracer, to which each of its signals is told first.
TRACED = (sys.executable, '-SEc', 'import ctypes, os\n'
          'ctypes.CDLL(None).ptrace(0, 0, None, None)\nos.kill(os.getpid(), 12)')


def test_program_that_asks_to_be_traced():
    """It stops, as its parent is no debugger, and has not ended with a status that looks like its signal."""
    result = run('-n', 2, *TRACED)
    equal(result.returncode, 1, 'status')
    check('failed: stopped by signal 12 (User defined signal 2), killed; it asks to be traced (ptrace)\n'
          in result.stderr, result.stderr)
    for one in metadata(measured('-n', 2, '-w', 0, '--ignore-failure', *TRACED)):
        equal(set(flags(one)) & {'failed', 'leftover'}, {'failed'}, 'flags')


def test_ignore_failure():
    benchmark = measured('--ignore-failure', '-n', 3, 'sh', '-c', 'exit 3')
    equal(len(values(benchmark)), 3, 'values')
    for one in metadata(benchmark):
        check('failed' in one['quiesce_flags'], 'not flagged')


def test_timeout_kills_the_group():
    mark = f'{os.getpid()}.4711'
    began = time.monotonic()
    result = run('--timeout', '301.5ms', 'sh', '-c', f'sleep {mark} & sleep {mark}')
    equal(result.returncode, 1, 'status')
    check('killed after 0.3015 s (--timeout)' in result.stderr, result.stderr)
    check(time.monotonic() - began < 30, 'it was not killed')
    check(gone(mark), 'a process of the group lives')


# In another process group and session than the program, and not a child of anything that it waits for.
ASIDE = 'setsid sh -c "setsid sleep {mark} & sleep {mark}" &'


def test_timeout_kills_what_left_the_group():
    mark = f'{os.getpid()}.4712'
    result = run('--timeout', '300ms', 'sh', '-c', ASIDE.format(mark=mark) + f' sleep {mark}')
    equal(result.returncode, 1, 'status')
    check('--timeout' in result.stderr, result.stderr)
    equal(processes_with(mark), [], 'processes that live')


def test_timeout_kills_who_left_the_group():
    """The program itself may move to another process group of its session."""
    mark = f'{os.getpid()}.4713'
    leaver = ('import os, sys; os.setpgid(0, os.getpgid(os.getppid())); '
              'os.execvp(sys.argv[1], sys.argv[1:])')
    began = time.monotonic()
    result = run('--timeout', '300ms', sys.executable, '-c', leaver, 'sleep', mark)
    equal(result.returncode, 1, 'status')
    check('--timeout' in result.stderr, result.stderr)
    check(time.monotonic() - began < 30, 'it was not killed')
    equal(processes_with(mark), [], 'processes that live')


def test_leftover_process():
    """A process that was left behind is reported and ended before the next run, wherever it moved."""
    for command in ('sleep {mark} &', ASIDE, f'{sys.executable} -c "{DAEMON}" sleep {{mark}} &&'):
        mark = f'1000.{os.getpid()}'
        benchmark = measured('-n', 2, '-w', 0, 'sh', '-c',
                             command.format(mark=mark) + ' exit 0')
        for one in metadata(benchmark):
            check('leftover' in one.get('quiesce_flags', ''), f'{command}: not flagged')
        equal(processes_with(mark), [], f'{command}: processes that live')


def test_leftover_that_ends_before_it_is_killed():
    """The keeper may have to wait for a CPU. Here it stands still until what is left behind has ended."""
    leaves = script('leaves-and-stops', 'keeper=$(cut -d" " -f4 /proc/$PPID/stat)\n'
                    'kill -STOP $keeper\n(sleep 0.1; kill -CONT $keeper) &\n')
    for one in metadata(measured('-n', 3, leaves)):
        check('leftover' in flags(one), one)


def test_leftover_child_of_the_launcher():
    """With CLONE_PARENT a program leaves a process behind that is no orphan."""
    mark = f'2000.{os.getpid()}'
    benchmark = measured('-n', 2, '-w', 0, PROGRAMS / 'stranger', shutil.which('sleep'), mark)
    for one in metadata(benchmark):
        check('leftover' in flags(one), 'not flagged')
    equal(processes_with(mark), [], 'processes that live')


# Like daemon(3), and a little more.
DAEMON = ('import os, sys; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); '
          'os.execvp(sys.argv[1], sys.argv[1:])')


def test_nothing_is_left():
    """A process that ends by itself is no leftover, and it is reaped at once, as init would do."""
    wait = 'while kill -0 $pid 2>/dev/null; do sleep 0.01; done'
    benchmark = measured('-n', 3, '--timeout', '20s', 'sh', '-c',
                         f'pid=$(sleep 0.05 >/dev/null & echo $!); {wait}')
    for one in metadata(benchmark):
        check('leftover' not in one.get('quiesce_flags', ''), 'flagged')


def test_not_a_program():
    text = scratch('text')
    text.write_text('neither ELF nor #!\n', encoding='utf-8')
    text.chmod(0o755)
    one_line(run(text), 1, 'text', '#!')
    text.chmod(0o644)
    one_line(run(text), 1, 'not executable')
    one_line(run(SCRATCH.name), 1, 'directory')
    one_line(run('no-such-program-anywhere'), 1, 'PATH')
    one_line(run('./no-such-program-anywhere'), 1, 'No such file')
    for line, says in ((f'#!/{"x" * 298}\necho\n', 'the path in its #! line is too long'),
                       ('#!  \necho\n', 'its #! line names no interpreter')):
        text.chmod(0o755)
        text.write_text(line, encoding='utf-8')
        one_line(run(text), 1, 'text', says)
    broken = scratch('broken')
    broken.write_text('#!/no/such/interpreter\n', encoding='utf-8')
    broken.chmod(0o755)
    one_line(run(broken), 1, 'interpreter')


# --- Waiting for the CPU ---

@contextlib.contextmanager
def busy_neighbour():
    """Another process that takes the CPU whenever it gets it."""
    process = subprocess.Popen(['sh', '-c', 'echo begun; while :; do :; done'], stdout=subprocess.PIPE,
                               preexec_fn=lambda: os.sched_setaffinity(0, {int(CPU)}))
    try:
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.wait()


def test_waiting_of_all_tasks():
    """What a neighbour takes from a program is known, whatever tasks the program has: the window
    without it is about what the tasks ran. And a program's tasks that take the CPU from each other
    are no neighbours."""
    require_kernel_windows()
    for how in ('alone', 'threads', 'children', 'shell'):
        with busy_neighbour():
            runs = metadata(measured('-n', 5, '--evidence=records', PROGRAMS / 'worker', how, 60))
        flagged = [one for one in runs if 'preempted' in flags(one)]
        check(len(flagged) >= 3, f'{how}: {len(flagged)} of {len(runs)} runs are flagged')
        for one in runs:
            equal(one['quiesce_run_delay_of'], 'all tasks', 'who waited')
            ran = one['quiesce_window_kernel'] - one['quiesce_run_delay']
            check(ran >= 0.8 * one['quiesce_task_clock'], f'{how}: more than all waited: {one}')
        # The busiest test machine gives half of a CPU to somebody.
        window = sum(one['quiesce_window_kernel'] for one in runs)
        known = sum(one['quiesce_run_delay'] + one['quiesce_task_clock'] for one in runs)
        check(known >= 0.7 * window, f'{how}: only {known} of {window} s are explained')


def test_waiting_of_a_single_task():
    """Without records it is known of a program of one task: nothing where it was never off its CPU, and
    else nearly all of the time that it was."""
    require_tracepoints()
    for one in metadata(measured('-n', 20, '/bin/true')):
        if (one['quiesce_voluntary_switches'], one['quiesce_involuntary_switches']) == (1, 0):
            equal(one['quiesce_run_delay'], 0, f'{one}')
    with busy_neighbour():
        runs = metadata(measured('-n', 5, PROGRAMS / 'worker', 'alone', 60))
    off = sum(one['quiesce_off_cpu'] for one in runs)
    waited = sum(one['quiesce_run_delay'] for one in runs)
    check(off > 0.02, f'the neighbour took {off} s')
    check(0.9 * off <= waited <= off, f'{waited} of {off} s')


def test_waiting_of_tasks_that_nobody_waits_for():
    """Their CPU time is in no sum (wait4(2)): then nothing follows from what is missing to the run."""
    require_kernel_windows()
    alone = (sys.executable, '-SEc', 'import os, signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n'
             'if os.fork() == 0:\n    sum(range(5000000))\n    os._exit(0)\n'
             'try:\n    os.wait()\nexcept ChildProcessError:\n    pass')
    for one in metadata(measured('-n', 3, *alone))[1:]:
        check('quiesce_off_cpu' not in one and 'quiesce_run_delay' not in one, one)


def test_tasks_that_take_turns():
    """Four tasks on one CPU wait most of the time: for each other. That is in no figure."""
    require_kernel_windows()
    for how in ('threads', 'children'):
        runs = metadata(measured('-n', 5, '--evidence=records', PROGRAMS / 'worker', how, 60))
        for one in runs:
            window = one['quiesce_window_kernel']
            idle = window - one['quiesce_task_clock']
            # Between the records of a switch no task runs, and yet its clock does.
            switching = 5e-6 * (one['quiesce_voluntary_switches'] + one['quiesce_involuntary_switches'])
            check(one['quiesce_run_delay'] <= idle + 0.02 * window + switching, f'{how}: {one}')


def away(benchmark, excused=0):
    """All runs are flagged. Excused are the first so many of those with more switches than the records
    have room for at first, about 250: after such a run there is room for thousands."""
    for one in metadata(benchmark):
        if excused and one['quiesce_voluntary_switches'] + one['quiesce_involuntary_switches'] > 200:
            excused -= 1
            continue
        check('migrated' in flags(one), f'not flagged: {one}')


def test_elsewhere_in_the_middle():
    """A run that began and ended on its CPU, and was on another one in the meantime."""
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip('needs two CPUs')
    require_kernel_windows()
    away(measured('-n', 3, '--evidence=records', PROGRAMS / 'worker', 'away', 60))
    result = as_nobody('--json', '-n', 3, '--evidence=records', PROGRAMS / 'worker', 'away', 60)
    equal(result.returncode, 0, f'status ({result.stderr})')
    # An ordinary user may not count the moves: only the records tell.
    away(json.loads(result.stdout)['benchmarks'][0], excused=1)


# It takes the CPU for a while on another one than the first word says: the main thread, another thread, or a
# child of a shell.
LEAVE = '''
import os, sys, threading, time
def leave():
    os.sched_setaffinity(0, {int(sys.argv[2])})
    until = time.thread_time() + 0.05
    while time.thread_time() < until:
        pass
if sys.argv[1] == 'thread':
    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
else:
    leave()
'''
OF_THE_CPU = ('steal', 'frequency_khz', 'core_khz', 'core_share_before', 'core_share_after', 'throttles', 'irq_device',
              'irq_timer', 'irq_ipi', 'irq_other', 'irq_lines', 'softirqs', 'deep_idle', 'mean_khz', 'frequency_changes')


def test_what_is_known_of_a_program_that_leaves():
    """What was read of the CPU is not of a program that was on another one, also where only inspections
    show that, and where the main thread stays."""
    others = os.sched_getaffinity(0) - {int(CPU)}
    if not others:
        raise Skip('needs two CPUs')
    require_kernel_windows()
    other = str(min(others))
    for stamps in ('auto', 'launcher'):
        for who in ('main', 'thread', 'child'):
            words = [sys.executable, '-c', LEAVE, who, other]
            if who == 'child':
                words = ['sh', '-c', '"$@"; :', 'sh', *words]
            result = run('-v', '--json', '--stamps', stamps, '-n', 2, '-w', 1, *words)
            equal(result.returncode, 0, result.stderr)
            benchmark = json.loads(result.stdout)['benchmarks'][0]
            for one in metadata(benchmark):
                case = f'{stamps}, {who}: {one}'
                equal(one.get('quiesce_elsewhere'), 1, case)
                check('migrated' in flags(one), case)
                check(not {f'quiesce_{name}' for name in OF_THE_CPU} & set(one), case)
                check(who == 'main' or 'quiesce_run_delay' not in one, case)
                check(who != 'main' or one['quiesce_cpu_last'] == int(other), case)
            check(f'2 runs begun on CPU {CPU}' in result.stderr, result.stderr)
            check('whole core' not in result.stderr and re.search('elsewhere +2 runs', result.stderr), result.stderr)
    # Many tasks are not elsewhere.
    for one in metadata(measured('-n', 2, PROGRAMS / 'worker', 'threads', 60)):
        check('quiesce_elsewhere' not in one and 'migrated' not in flags(one), one)


# --- Signals to runpinned ---

def stopped_by(number, status):
    mark = f'{os.getpid()}.{number}'
    output = scratch(f'stopped-{number}.json')
    script_path = script(f'third-sleeps-{number}',
                         f'echo x >> {output}.count\n'
                         f'[ $(wc -l < {output}.count) -lt 4 ] || exec sleep {mark}\n')
    process = start('-n', 10, '-o', output, script_path)
    await_running(mark)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=PATIENCE)
    equal(process.returncode, status, f'status ({stderr})')
    check('after 2 of 10 runs' in stderr, stderr)
    check('2 runs' in stdout, stdout)
    check(gone(mark), 'the program lives')
    benchmark = json.loads(output.read_text())['benchmarks'][0]
    equal(len(values(benchmark)), 2, 'values')
    check('after 2 of 10' in benchmark['metadata']['quiesce_incomplete'], 'not said in the file')


def test_stopped_between_short_runs():
    output, path = scratch('short.json'), scratch('short-runs')
    process = start('-n', 1000000, '--evidence=none', '-o', output,
                    script('short', f'echo >> {path}\n'))
    until = time.monotonic() + PATIENCE
    while not path.exists() or path.stat().st_size < 150:
        check(time.monotonic() < until, 'it makes no runs')
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=PATIENCE)
    equal(process.returncode, 130, f'status ({stderr})')
    said = re.search(r'stopped by SIGINT after ([0-9]+) of 1000000 runs', stderr)
    check(said, stderr)
    benchmark = json.loads(output.read_text())['benchmarks'][0]
    equal(len(values(benchmark)), int(said[1]), 'values')
    # The runs that were made, including the warm-up, except one that was ended together with runpinned.
    check(0 < path.stat().st_size - int(said[1]) <= 2, f'{path.stat().st_size} runs, {said[1]} kept')


def test_ignored_signals_stay_ignored():
    """nohup(1) has it go on when the terminal is closed, and a script's & when Ctrl-C is for others."""
    go, output = scratch('ignoring-go'), scratch('ignoring.json')
    mark = f'{os.getpid()}.77'
    program = script('ignoring', f'[ -e {go} ] || exec sleep {mark}\n')

    def ignore():
        for number in (signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
    process = start('-n', 2, '-w', 0, '--ignore-failure', '-o', output, program, preexec_fn=ignore)
    await_running(mark)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    go.touch()
    for pid in processes_with(mark):
        os.kill(pid, signal.SIGTERM)
    _, stderr = process.communicate(timeout=PATIENCE)
    equal(process.returncode, 0, f'status ({stderr})')
    equal(len(values(json.loads(output.read_text())['benchmarks'][0])), 2, 'values')


def test_stopped_in_cleanup():
    mark, output = f'{os.getpid()}.78', scratch('stopped-in-cleanup.json')
    process = start('-n', 2, '-o', output, '--cleanup', f'sleep {mark}', '/bin/true')
    await_running(mark)
    process.send_signal(signal.SIGTERM)
    stdout, stderr = process.communicate(timeout=PATIENCE)
    equal(process.returncode, 143, f'status ({stderr})')
    check('stopped in --cleanup, after all runs' in stderr, stderr)
    check('2 runs' in stdout, stdout)
    equal(len(values(json.loads(output.read_text())['benchmarks'][0])), 2, 'values')


def test_stubborn_program():
    """A program that ignores SIGTERM is killed after some time, or by a second signal at once."""
    mark = f'{os.getpid()}.99'
    process = start('-n', 10, 'sh', '-c', f'trap "" TERM; sleep {mark} & wait; sleep {mark}')
    await_running(mark)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    equal(process.returncode, 130, 'status')
    check(gone(mark), 'the program lives')


def test_a_signal_to_the_whole_group():
    """As timeout(1) and those who run jobs send it. It counts once, and a program that ends by itself at
    SIGTERM has the time to do so."""
    for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
        mark, cleaned = f'{os.getpid()}.97', scratch(f'cleaned-{number}')
        process = start('-n', 1, '-w', 0, 'sh', '-c',
                        f'trap "sleep 0.5; echo >{cleaned}; exit" TERM; sleep {mark} & wait',
                        start_new_session=True)
        await_running(mark)
        os.killpg(process.pid, number)
        _, stderr = process.communicate(timeout=PATIENCE)
        equal(process.returncode, status, f'status ({stderr})')
        check(cleaned.exists(), f'the program was killed ({stderr})')
        check(gone(mark), 'the program lives')


def test_a_signal_to_helpers_alone():
    """Only runpinned decides that the runs end."""
    mark, go = f'{os.getpid()}.98', scratch('helpers-go')
    program = script('helpers', f'[ -e {go} ] || exec sleep {mark}\n')
    process = start('-n', 2, '-w', 0, '--ignore-failure', program)
    await_running(mark)
    keeper = children_of(process.pid)[0]
    for pid in keeper, *children_of(keeper):
        os.kill(pid, signal.SIGTERM)
    time.sleep(0.3)
    equal(len(processes_with(mark)), 1, 'programs that run')
    go.touch()
    for pid in processes_with(mark):
        os.kill(pid, signal.SIGTERM)
    stdout, stderr = process.communicate(timeout=PATIENCE)
    equal(process.returncode, 0, f'status ({stderr})')
    check('2 runs' in stdout, stdout)


def test_killed_runpinned():
    mark = f'{os.getpid()}.9'
    process = start('-n', 10, '-o', scratch('killed.json'), 'sleep', mark)
    await_running(mark)
    process.kill()
    process.communicate(timeout=PATIENCE)
    check(gone(mark), 'the program lives on without runpinned')
    check(not scratch('killed.json').exists(), 'a result of nothing')
    # Also a program that ignores SIGTERM: no process is left that would send a second one.
    process = start('-n', 10, 'sh', '-c', f'trap "" TERM; sleep {mark} & wait; sleep {mark}')
    await_running(mark)
    process.kill()
    process.communicate(timeout=PATIENCE)
    check(gone(mark), 'a stubborn program lives on without runpinned')


def children_of(parent):
    found = []
    for entry in pathlib.Path('/proc').iterdir():
        try:
            if entry.name.isdigit():
                state = (entry / 'stat').read_text(errors='replace').rpartition(')')[2].split()
                if int(state[1]) == parent:
                    found.append(int(entry.name))
        except OSError:
            pass
    return found


def killed_helper(choose):
    """If one of its helper processes dies, runpinned gives up, and no process of the program goes on."""
    mark = f'{os.getpid()}.15'
    process = start('-n', 10, 'sh', '-c', ASIDE.format(mark=mark) + f' sleep {mark}')
    machine.wait_for(lambda: len(processes_with(mark)) == 3, 'all of the program runs', PATIENCE)
    os.kill(choose(process.pid), signal.SIGKILL)
    stderr = process.communicate(timeout=PATIENCE)[1]
    equal(process.returncode, 1, 'status')
    check('launcher' in stderr, stderr)
    check(gone(mark), 'the program lives on')


def test_killed_keeper():
    killed_helper(lambda runpinned: children_of(runpinned)[0])


def test_killed_launcher():
    killed_helper(lambda runpinned: children_of(children_of(runpinned)[0])[0])


def test_killed_helpers():
    """If both die at once, nobody is left to end the program but the kernel."""
    mark = f'{os.getpid()}.16'
    process = start('-n', 10, 'sleep', mark)
    await_running(mark)
    keeper = children_of(process.pid)[0]
    launcher = children_of(keeper)[0]
    # The keeper first stands still, so that it does not end what the launcher leaves.
    os.kill(keeper, signal.SIGSTOP)
    os.kill(launcher, signal.SIGKILL)
    os.kill(keeper, signal.SIGKILL)
    stderr = process.communicate(timeout=PATIENCE)[1]
    equal(process.returncode, 1, 'status')
    check('launcher' in stderr, stderr)
    check(gone(mark), 'the program lives on')


# --- One benchmark a CPU ---

def test_lock():
    mark = f'3.{os.getpid()}'
    first = start('-n', 1, '-w', 0, 'sleep', mark)
    await_running(mark)
    one_line(run('--no-wait', '/bin/true'), 1, f'CPU {CPU}', f'process {first.pid}')
    second = run('-n', 1, '-e', 'cycles', '/bin/true', waits=True)
    equal(second.returncode, 0, f'status ({second.stderr})')
    check(second.stderr.count('is not counted') < 2, f'said before and after the wait: {second.stderr}')
    check('waiting' in second.stderr and str(first.pid) in second.stderr, second.stderr)
    check(first.poll() is not None, 'it did not wait')
    first.communicate()


def test_lock_beside_a_script():
    """Who waits gets the CPU between two benchmarks of a script, which leave it free for a millisecond."""
    command = ' '.join(map(str, (RUNPINNED, '-q', '-c', CPU, '-n', 1500, '-w', 0, '--no-save', '/bin/true')))
    others = subprocess.Popen(('sh', '-c', f'for i in $(seq 6); do {command}; done'), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        deadline = time.monotonic() + PATIENCE
        said = 'nobody has the CPU'
        while 'waiting' not in said and others.poll() is None and time.monotonic() < deadline:
            said = run('-n', 1, '-w', 0, '--no-save', '/bin/true', waits=True).stderr
        check('waiting' in said, 'the script never had the CPU')
        equal(others.poll(), None, 'status of the script, which was to be at work still')
    finally:
        if others.poll() is None:
            os.killpg(others.pid, signal.SIGTERM)
            others.wait(timeout=PATIENCE)


def test_lock_of_an_ancestor():
    """runpinned that runs itself on the same CPU would wait for itself for ever, with the message hidden:
    as its program, or in a hook, and whatever stands between them."""
    inner = f'{RUNPINNED} -c {CPU} -n 1 -w 0 --no-save'
    for arguments in (inner.split() + ['true'], ['sh', '-c', f'{inner} true; exit $?'],
                      ['--prepare', f'setsid -w {inner} true', 'true'], inner.split() + ['--no-wait', 'true']):
        result = run('-n', 1, '-w', 0, '-q', '--no-save', *arguments)
        equal(result.returncode, 1, f'{arguments}: {result.stderr}')
        check(re.search(rf'\| runpinned: CPU {CPU} is taken by runpinned \(process \d+ of .*\), which waits for '
                        r'this one to end: .*-c', result.stderr), f'{arguments}: {result.stderr}')
    # Somebody else than runpinned may keep the lock.
    lock = f'/sys/devices/system/cpu/cpu{CPU}'
    result = run('--no-save', '/bin/true', prefix=('flock', lock))
    one_line(result, 1, 'taken by flock', 'which waits')


def test_signal_while_waiting_for_the_lock():
    mark = f'20.{os.getpid()}'
    first = start('-n', 1, '-w', 0, 'sleep', mark)
    await_running(mark)
    second = start('-n', 1, '/bin/true')
    line = second.stderr.readline()
    check('waiting' in line, line)
    # It wakes up now and then, which would be in the time of the first one.
    allowed = os.sched_getaffinity(0)
    equal(os.sched_getaffinity(second.pid), allowed - {int(CPU)} or allowed, 'CPUs of one that waits')
    second.send_signal(signal.SIGINT)
    second.communicate(timeout=PATIENCE)
    equal(second.returncode, 130, 'status')
    first.terminate()
    first.communicate(timeout=PATIENCE)
    equal(first.returncode, 143, 'status of the first')


# --- Results ---

def test_append():
    path = scratch('append.json')
    for name in ('one', 'two', 'one'):
        result = run('-q', '-n', 3, '-o', path, '--append', '--name', name, '/bin/true')
        equal(result.returncode, 0, f'status ({result.stderr})')
    benchmarks = json.loads(path.read_text())['benchmarks']
    equal([len(values(one)) for one in benchmarks], [6, 3], 'values of the benchmarks')


def test_append_at_once():
    """Nothing is lost that several processes append."""
    for there in (False, True):
        path = scratch(f'at-once-{there}.json')
        if there:
            equal(run('-q', '-n', 1, '-o', path, '--name', 'old', '/bin/true').returncode, 0, 'status')
        names = [f'n{number}' for number in range(4)]
        # All but one wait for the CPU.
        processes = [start('-q', '-n', 1, '-w', 0, '-o', path, '--append', '--name', name, 'sleep', '0.3')
                     for name in names]
        for process in processes:
            stderr = process.communicate(timeout=60)[1]
            equal(process.returncode, 0, f'status ({stderr})')
        found = [benchmark['runs'][0].get('metadata', {}).get('name') or benchmark['metadata']['name']
                 for benchmark in json.loads(path.read_text())['benchmarks']]
        equal(sorted(found), sorted(names + ['old'] * there), 'benchmarks')


def test_append_to_what_came_meanwhile():
    """The file has been read before the runs, and is read again before it is written."""
    path, other = scratch('meanwhile.json'), scratch('other.json')
    equal(run('-q', '-n', 1, '-o', other, '--name', 'other', '/bin/true').returncode, 0, 'status')
    result = run('-q', '-n', 1, '-w', 0, '-o', path, '--append', '--name', 'mine', 'cp', other, path)
    equal(result.returncode, 0, f'status ({result.stderr})')
    found = [benchmark['runs'][0].get('metadata', {}).get('name') or benchmark['metadata']['name']
             for benchmark in json.loads(path.read_text())['benchmarks']]
    equal(found, ['other', 'mine'], 'benchmarks')


def test_append_while_locked():
    """While another process has the folder locked, even for reading alone, nothing is written: it may
    have read the file, and be about to replace it. The half minute of waiting takes no time here."""
    folder = scratch('locked')
    folder.mkdir()
    path = folder / 'result.json'
    equal(run('-q', '-n', 1, '-o', path, '/bin/true').returncode, 0, 'status')
    before = path.read_bytes()
    timeless = environment(LD_PRELOAD=os.environ['TIMELESS'], **machine.asan_environment(),
                           TMPDIR=SCRATCH.name)
    lock = os.open(folder, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_SH)
    result = run('-q', '-n', 1, '-o', path, '--append', '/bin/true', env=timeless)
    equal(result.returncode, 1, f'status ({result.stderr})')
    check('another process keeps its folder locked' in result.stderr, result.stderr)
    equal(path.read_bytes(), before, 'the file')
    place = re.search(r'the result is in (\S+) instead', result.stderr)
    check(place, result.stderr)
    equal(len(json.loads(pathlib.Path(place[1]).read_text())['benchmarks']), 1, 'what was kept')
    os.close(lock)
    result = run('-q', '-n', 1, '-o', path, '--append', '/bin/true', env=timeless)
    equal(result.returncode, 0, f'status ({result.stderr})')


def test_append_to_something_else():
    for name, content in (('empty', ''), ('text', 'not JSON\n'), ('other', '{"version": "2.0"}'),
                          ('list', '[]'), ('cut', '{"version": "1.0", "benchmarks": [')):
        path = scratch(f'not-ours-{name}')
        path.write_text(content, encoding='utf-8')
        one_line(run('-o', path, '--append', '/bin/true'), 1, f'not-ours-{name}')
        equal(path.read_text(), content, 'the file')


def test_output_is_replaced_whole():
    path = scratch('replaced.json')
    path.write_text('old', encoding='utf-8')
    path.chmod(0o640)
    run('-q', '-n', 1, '-o', path, '/bin/true')
    json.loads(path.read_text())
    equal(path.stat().st_mode & 0o777, 0o640, 'mode')
    equal([entry.name for entry in path.parent.iterdir() if 'replaced' in entry.name],
          ['replaced.json'], 'files left')


def test_unwritable_output():
    mark = scratch('was-run')
    touch = script('touch', f'touch {mark}\n')
    one_line(run('-o', '/nonexistent/x.json', touch), 1, '/nonexistent/x.json', 'No such file')
    one_line(run('-o', SCRATCH.name, touch), 1, SCRATCH.name, 'directory')
    one_line(run('--csv', '/proc/x.csv', touch), 1, '/proc/x.csv')
    check(not mark.exists(), 'the program was run')


def test_full_disk():
    """The result of a long measurement is not lost when the disk is full at the end, and no part of it
    has its name."""
    # Below /sys, where a mount can be hidden from others without making the root directory private,
    # which is not a mount in a chroot.
    small, rescue = pathlib.Path('/sys/fs'), scratch('rescue')
    rescue.mkdir()
    space = ['unshare', '-m', '--propagation', 'unchanged']
    if os.geteuid() != 0:
        space.append('-r')
    mount = f'mount --make-rprivate /sys && mount -t tmpfs -o size=16k none {small}'
    if subprocess.run([*space, 'sh', '-c', mount], capture_output=True, check=False).returncode:
        raise Skip('mounting is not allowed here')
    inner = (f'{mount} && head -c 16384 /dev/zero > {small}/filler && {{ "$@"; status=$?; ls {small}; '
             'exit $status; }')
    for option, name in (('-o', 'x.json'), ('--csv', 'x.csv')):
        result = run('-n', 30, option, small / name, '/bin/true',
                     prefix=(*space, 'sh', '-c', inner, 'sh'),
                     env=environment(TMPDIR=str(rescue)))
        equal(result.returncode, 1, f'status ({result.stderr})')
        check(f'cannot write {small / name}: No space left' in result.stderr, result.stderr)
        equal(result.stdout.splitlines()[-1], 'filler', 'files on the full disk')
        kept = list(rescue.iterdir())
        equal(len(kept), 1, f'files kept ({result.stderr})')
        check(f'the result is in {kept[0]} instead' in result.stderr, result.stderr)
        equal(len(values(json.loads(kept[0].read_text())['benchmarks'][0])), 30, 'values')
        kept[0].unlink()


def limited(size):
    """Makes a process have files of at most this many bytes, as `ulimit -f` does."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_small_stack():
    """`ulimit -s 256` is enough, and the program has that limit, too."""
    if os.environ.get('SANITIZED') == '1':
        raise Skip('a sanitizer needs more stack')
    size = 256 * 1024
    said = scratch('small-stack')
    result = run('-n', 2, '-w', 0, '-q', '--json', '--baseline', f'sh -c "ulimit -s >>{said}"', '--', 'true',
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (size, size)))
    equal(result.returncode, 0, f'status ({result.stderr})')
    equal([len(values(one)) for one in json.loads(result.stdout)['benchmarks']], [2, 2], 'values')
    equal(said.read_text(encoding='utf-8').split(), ['256', '256'], 'limits')


def test_files_that_may_not_be_large():
    """`ulimit -f` is an error with a message, which leaves what was there before. The program has the
    limit, and the signal, as its caller has them."""
    path, ran = scratch('limited.json'), scratch('limited-ran')
    path.write_text('old', encoding='utf-8')
    program = script('limited', f'touch {ran}\n')
    for size in 0, 100 << 10, (1 << 20) - 1024:
        one_line(run('-o', path, program, preexec_fn=limited(size)), 1, 'ulimit -f')
    check(not ran.exists(), 'the program was run')
    some = 17 << 16
    result = run('--no-save', '-q', 'sh', '-c', 'head -c 3000000 /dev/zero >$0; kill -XFSZ $$', scratch('zeros'),
                 preexec_fn=limited(some))
    equal(result.returncode, 1, result.stderr)
    check(f'signal {signal.SIGXFSZ.value} ' in result.stderr, result.stderr)
    equal(scratch('zeros').stat().st_size, some, 'bytes that the program wrote')
    # The result is larger, and the folder of the last resort has the same limit.
    long = [word for i in range(12) for word in ('--metadata', f'long_{i}={"x" * 120000}')]
    result = run('-q', '-n', 2, '-o', path, *long, program, preexec_fn=limited(some))
    equal(result.returncode, 1, result.stderr)
    check(f'cannot write {path}: File too large' in result.stderr, result.stderr)
    check('to a temporary folder either: File too large' in result.stderr, result.stderr)
    equal(path.read_text(encoding='utf-8'), 'old', 'file')
    equal([entry.name for entry in path.parent.iterdir() if 'limited.json' in entry.name], ['limited.json'], 'files')


def test_report_of_one():
    """Of two that are asked for, the last one is not taken for both."""
    for option in ('-b', '--metric', '-o', '--by', '--earlier', '--since', '--size'):
        result = subprocess.run([REPORT, 'plot', option, 'a', option, 'b', 'x.json'], capture_output=True, text=True,
                                check=False)
        equal(result.returncode, 2, result.stderr)
        check(re.fullmatch(r'bench-report: --\w+ was given twice: [^\n]*\n', result.stderr), result.stderr)


def test_merged_file_that_may_not_be_large():
    old, merged = scratch('small.json'), scratch('merged.json')
    run('-q', '-n', 3, '-o', old, '/bin/true')
    merged.write_text('old', encoding='utf-8')
    for arguments in (['-o', merged], []):
        with open(scratch('merged-output'), 'wb') as output:
            result = subprocess.run([REPORT, 'merge', *arguments, old], stdout=output, stderr=subprocess.PIPE,
                                    text=True, env=environment(), preexec_fn=limited(1024), check=False)
        equal(result.returncode, 1, f'status of merge {arguments} ({result.stderr})')
        check(re.fullmatch(r'bench-report: [^\n]*File too large\n', result.stderr), result.stderr)
    equal(merged.read_text(encoding='utf-8'), 'old', 'file')


def test_nowhere_to_write():
    """Where the result cannot be kept anywhere, that is said. Mounts in a user namespace do not show
    outside of it."""
    mount = 'mount -t tmpfs -o size=16k none /sys/fs'
    for folder in '/tmp', '/var/tmp', '/dev/shm':
        if RUNPINNED.startswith(folder):
            raise Skip(f'runpinned itself lies in {folder}')
        mount += f' && mount -t tmpfs -o ro none {folder}'
    space = ['unshare', '-r', '-m', '--propagation', 'unchanged', 'sh', '-c']
    if subprocess.run([*space, mount], capture_output=True, check=False).returncode:
        raise Skip('mounting is not allowed here')
    inner = f'{mount} && head -c 16384 /dev/zero >/sys/fs/filler && exec "$@"'
    result = run('-q', '-n', 30, '-o', '/sys/fs/x.json', '/bin/true', prefix=(*space, inner, 'sh'),
                 env=environment(TMPDIR='/tmp'))
    equal(result.returncode, 1, f'status ({result.stderr})')
    check('cannot write /sys/fs/x.json: No space left' in result.stderr, result.stderr)
    check('to a temporary folder either: Read-only file system\n' in result.stderr, result.stderr)


def test_full_standard_output():
    with open('/dev/full', 'w', encoding='utf-8') as full:
        result = subprocess.run([RUNPINNED, '-c', CPU, '-n', '2', '--json', '/bin/true'],
                                stdout=full, stderr=subprocess.PIPE, text=True,
                                env=environment(), check=False)
    equal(result.returncode, 1, 'status')
    check('No space left' in result.stderr, result.stderr)


def say_into_a_full_pipe():
    """The status of runpinned whose standard error has room for 300 bytes, and what it said."""
    read_end, write_end = os.pipe()
    with open(read_end, 'rb') as reader, open(write_end, 'wb', buffering=0) as writer:
        os.set_blocking(writer.fileno(), False)
        page = os.sysconf('SC_PAGE_SIZE')
        # A write of up to PIPE_BUF bytes is taken whole or not at all (pipe(7)).
        before = fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, page) - 300
        equal(writer.write(b'x' * before), before, 'bytes in the pipe')
        # One run alone has no spread, whose warnings on a busy machine take the room of the message.
        result = subprocess.run([RUNPINNED, '-v', '-c', CPU, '--json', '-n', '1', '/bin/true'], check=False,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=writer,
                                env=environment(), timeout=PATIENCE)
        writer.close()
        return result.returncode, reader.read()[before:].decode()


def test_report_that_cannot_be_written():
    """With --json the report goes to standard error. A pipe that is nearly full has no room for it, and
    some for the message that it is lost."""
    deadline = time.monotonic() + PATIENCE
    status, said = say_into_a_full_pipe()
    # Another test that had the CPU has taken the room.
    while 'is taken by' in said and time.monotonic() < deadline:
        status, said = say_into_a_full_pipe()
    equal(status, 1, f'status ({said})')
    check('runpinned: cannot write to standard error: ' in said, said)


def test_closed_pipe():
    process = start('-n', 2, '-o', scratch('pipe.json'), '/bin/true')
    process.stdout.close()
    process.wait(timeout=PATIENCE)
    check(scratch('pipe.json').exists(), 'the result was lost')


def test_closed_pipe_of_messages():
    """A reader that goes away while runs are made, such as head(1), costs neither runs nor --cleanup."""
    path, cleaned, signals = scratch('messages.json'), scratch('cleaned'), scratch('hook-signals')
    process = start('-vv', '-n', 5, '-w', 0, '-o', path, '--setup', f'grep SigIgn /proc/$$/status >{signals}',
                    '--cleanup', f'touch {cleaned}', '/bin/true')
    process.stderr.close()
    equal(process.wait(timeout=PATIENCE), 0, 'status')
    equal(len(values(json.loads(path.read_text())['benchmarks'][0])), 5, 'values')
    check(cleaned.exists(), 'no --cleanup')
    check(not int(signals.read_text().split()[1], 16) & 1 << signal.SIGPIPE - 1, 'hooks ignore SIGPIPE')
    cleaned.unlink()
    # And when a run has failed.
    process = start('--no-save', '--setup', 'true', '--cleanup', f'touch {cleaned}', '/bin/false')
    process.stderr.close()
    equal(process.wait(timeout=PATIENCE), 1, 'status')
    check(cleaned.exists(), 'no --cleanup after a failure')


def test_one_run_may_not_be_relied_upon():
    path = scratch('one.json')
    for n, status in ((1, 3), (2, None)):
        equal(run('-q', '-n', n, '-w', 0, '-o', path, 'sleep', '0.01').returncode, 0, 'status')
        result = subprocess.run([REPORT, 'check', path], capture_output=True, text=True, check=False)
        equal('one value tells nothing' in result.stdout, n == 1, result.stdout)
        check(status in (None, result.returncode), result.stdout)
    run('-q', '-n', 1, '-w', 0, '-o', path, 'sleep', '0.01')
    result = subprocess.run([REPORT, 'check', '--format', 'junit', path], capture_output=True, text=True,
                            check=False)
    check(result.returncode == 3 and '<failure message="one value tells' in result.stdout, result.stdout)


def test_csv():
    path = scratch('runs.csv')
    equal(run('-q', '-n', 4, '-w', 2, '--csv', path, '/bin/true').returncode, 0, 'status')
    with open(path, newline='', encoding='utf-8') as stream:
        rows = list(csv.reader(stream))
    equal(len(rows), 1 + 6, 'rows')
    check(all(len(row) == len(rows[0]) for row in rows), 'ragged')


def test_program_that_vanishes():
    """Which run could not be made is said, and the runs before it are kept."""
    path, counter = scratch('vanishes.json'), scratch('vanish-count')
    for ruin, words in (('rm', 'it, its interpreter or its loader is not there'),
                        ('chmod a-x', 'Permission denied'),
                        ('printf "no program" >', 'no program of this machine, and no #! line')):
        for options in (), ('--prepare', 'true'):
            counter.write_text('', encoding='utf-8')
            # It is the third time that ruins it: after a warm-up, in the second run.
            program = script('vanishing', f'echo >>{counter}\n[ $(wc -l <{counter}) -lt 3 ] || {ruin} "$0"\n')
            result = run('-n', 9, '-w', 1, '-o', path, *options, program)
            equal(result.returncode, 1, result.stderr)
            check(f'runpinned: run 3: cannot execute {program}: {words}\n' in result.stderr, result.stderr)
            equal(len(values(json.loads(path.read_text())['benchmarks'][0])), 2, 'values')
            path.unlink()


def test_last_result_is_kept():
    state = scratch('fresh-state')
    state.mkdir()
    result = run('-n', 2, '/bin/true', env=environment(XDG_STATE_HOME=str(state)))
    path = state / 'quiesce' / 'last.json'
    check(str(path) in result.stdout, result.stdout)
    json.loads(path.read_text())
    path.unlink()
    run('-n', 2, '--no-save', '/bin/true', env=environment(XDG_STATE_HOME=str(state)))
    check(not path.exists(), 'kept in spite of --no-save')


def test_last_result_that_cannot_be_kept():
    """Says why, and in which folder."""
    not_kept = 'the result is not kept, and -o FILE would keep it: '
    nowhere = environment(HOME='/nonexistent')
    nowhere.pop('XDG_STATE_HOME', None)
    for env, words in (
            ({name: value for name, value in nowhere.items() if name != 'HOME'},
             'HOME: not in the environment'),
            (nowhere, '/nonexistent: No such file or directory'),
            ({**nowhere, 'XDG_STATE_HOME': '/proc'}, '/proc/quiesce: No such file or directory')):
        result = run('-n', 2, '/bin/true', env=env)
        equal(result.returncode, 0, result.stderr)
        check(not_kept + words in result.stderr, result.stderr)


def test_json_alone_on_standard_output():
    result = run('--json', '-n', 2, '/bin/true')
    json.loads(result.stdout)
    check('2 runs' in result.stderr, 'no report on standard error')


def test_odd_names():
    """Arguments that are not UTF-8, or contain newlines or quotes, reach the program and the file."""
    name = os.fsencode(SCRATCH.name) + b'/odd\xff\n"name'
    with open(name, 'w', encoding='utf-8') as stream:
        stream.write('#!/bin/sh\n[ "$1" = "a b" ]\n')
    os.chmod(name, 0o755)
    result = subprocess.run([os.fsencode(RUNPINNED), b'-c', CPU.encode(), b'-n', b'1', b'--json',
                             name, b'a b'], capture_output=True, env=environment(), check=False)
    equal(result.returncode, 0, f'status ({result.stderr})')
    command = json.loads(result.stdout)['benchmarks'][0]['metadata']['command']
    check("'a b'" in command, command)


def test_more_runs_until_precise():
    benchmark = measured('-n', 6, '--until-rel-error', '0.001', '--max-runs', 40, '/bin/true')
    count = len(values(benchmark))
    check(6 <= count <= 40, f'{count} runs')
    # Long compared with the delays of a busy machine.
    benchmark = measured('-n', 6, '--until-rel-error', '100', '--max-runs', 40, 'sleep', '0.3')
    equal(len(values(benchmark)), 6, 'runs where anything is precise enough')


def test_precise_when_it_ends():
    """Runs beyond those that were precise enough, for --min-time, may show that the median is not known."""
    count = scratch('grows-count')
    grows = script('grows', f'echo >>{count}\nif [ $(wc -l <{count}) -le 10 ]; then sleep 0.02; else sleep 0.1; fi\n')
    result = run('-q', '-n', 10, '-w', 0, '--until-rel-error', 20, '--min-time', '1h', '--max-runs', 20,
                 '-o', scratch('grows.json'), grows)
    equal(result.returncode, 0, f'status ({result.stderr})')
    check('the median is not known to 20 % after 20 runs (--max-runs)' in result.stderr, result.stderr)


def test_counts():
    benchmark = measured('-n', 3, '-e', 'task-clock,minor-faults', '/bin/true')
    for one in metadata(benchmark):
        check(one['quiesce_event_task-clock'] > 0, 'no task-clock')


def test_counts_on_a_busy_cpu():
    """Another process on the CPU causes switches between the launcher and its child. The counters must
    survive that: without care the scheduler swaps the perf contexts of the two, and one of them
    ends."""
    busy = ['timeout', '60', 'sh', '-c', 'while :; do :; done']
    hogs = [subprocess.Popen(['taskset', '-c', CPU, *busy]) for _ in range(2)]
    try:
        benchmark = measured('-n', 150, '-e', 'minor-faults,task-clock', '/bin/true')
    finally:
        for hog in hogs:
            hog.terminate()
            hog.wait()
    for at, one in enumerate(metadata(benchmark)):
        check(one.get('quiesce_event_minor-faults', 0) > 0, f'run {at} has no count')
        check(one.get('quiesce_event_task-clock', 0) > 0, f'run {at} has no task-clock')


def test_what_cannot_be_counted():
    """An event that this machine cannot count is said once and left out."""
    result = run('--json', '-n', 3, '-e', 'cycles,task-clock', '/bin/true')
    equal(result.returncode, 0, f'status ({result.stderr})')
    one = metadata(json.loads(result.stdout)['benchmarks'][0])[0]
    if 'quiesce_event_cycles' in one:
        raise Skip('this machine can count cycles')
    equal(len([line for line in result.stderr.split('\n') if 'cycles' in line]), 1, 'notes')


# --- Several programs in turn ---

def several(*arguments, **options):
    """All benchmarks of the result, by name."""
    result = run('--json', *arguments, **options)
    equal(result.returncode, 0, f'status ({result.stderr})')
    return {benchmark['metadata']['name']: benchmark
            for benchmark in json.loads(result.stdout)['benchmarks']}


def order_of_starts(benchmarks):
    starts = [(one['quiesce_start'], name) for name, benchmark in benchmarks.items()
              for one in metadata(benchmark)]
    return [name for _, name in sorted(starts)]


def test_baseline():
    found = several('-n', 6, '-w', 2, '--baseline', "/bin/sh -c 'exit 0'", '--', '/bin/sleep', 0.01)
    equal(list(found), ['baseline', 'sleep'], 'names')
    equal(found['baseline']['metadata']['command'], "/bin/sh -c 'exit 0'", 'command')
    equal(found['sleep']['metadata']['command'], '/bin/sleep 0.01', 'command')
    for benchmark in found.values():
        equal(len(values(benchmark)), 6, 'runs')
        equal(len(benchmark['runs']), 8, 'runs and warm-ups')
        equal(benchmark['metadata']['quiesce_interleaved'], 'baseline, sleep', 'rivals')
    check(min(values(found['sleep'])) >= 0.01, 'the programs are mixed up')
    order = order_of_starts(found)
    for at in range(0, len(order), 2):
        equal(sorted(order[at:at + 2]), ['baseline', 'sleep'], f'round {at // 2}')


def test_order_by_seed():
    three = ('--command', 'a=/bin/true', '--command', 'b=/bin/true', '--name', 'c', '/bin/true')
    first = several('-n', 12, '-w', 0, *three)
    seed = first['a']['metadata']['quiesce_order_seed']
    equal(list(first), ['a', 'b', 'c'], 'names')
    again = several('-n', 12, '-w', 0, '--seed', seed, *three)
    equal(order_of_starts(again), order_of_starts(first), 'order by the same seed')
    # A round has six possible orders; the same one twelve times has a probability of 1 in 10^9.
    rounds = {tuple(order_of_starts(first)[at:at + 3]) for at in range(0, 36, 3)}
    check(len(rounds) > 1, f'always {rounds}')
    other = several('-n', 12, '-w', 0, '--seed', seed + 1, *three)
    check(order_of_starts(other) != order_of_starts(first), 'the seed has no effect')


def test_rounds_share_the_padding():
    found = several('-n', 5, '--env-pad', 'random:3', '--baseline', '/bin/true', '/bin/echo')
    pads = [[one['quiesce_env_pad'] for one in metadata(found[name])]
            for name in ('baseline', 'echo')]
    equal(pads[0], pads[1], 'padding of the runs of a round')
    check(len(set(pads[0])) > 1, 'always the same padding')


def test_launchers_leave_the_cpu_to_each_other():
    """With several commands, a launcher does not poll for its next request while another one uses the
    CPU: it sleeps."""
    path, program = scratch('yields'), PROGRAMS / 'yield'
    result = run('-q', '-n', 40, '--command', f'a={program}', '--command', f'b={program}',
                 '--command', f'c={program}', prefix=(PROGRAMS / 'yields', path))
    if result.returncode == 77:
        raise Skip('the kernel does not let a process watch what others call')
    equal(result.returncode, 0, f'status ({result.stderr})')
    calls = [line.split(' ', 1) for line in path.read_text(encoding='utf-8').splitlines()]
    programs = [at for at, (_, name) in enumerate(calls) if name == 'yield']
    # One warm-up, and an inspection in the middle.
    equal(len(programs), 3 * 42, 'programs')
    children = {calls[at][0] for at in programs}
    # Before the first program the floor was measured, by one launcher after the other. And a child
    # may run before its launcher has told it to go on.
    looks = [pid for pid, name in calls[programs[0]:programs[-1]]
             if name.startswith('runpinned-') and pid not in children]
    equal(looks, [], 'launchers that look')


def test_several_appended():
    path = scratch('several.json')
    for _ in range(2):
        result = run('-n', 3, '--append', '-o', path, '--baseline', '/bin/true', '/bin/echo')
        equal(result.returncode, 0, f'status ({result.stderr})')
    document = json.loads(path.read_text(encoding='utf-8'))
    equal([len(values(benchmark)) for benchmark in document['benchmarks']], [6, 6], 'runs')


def test_pairs_survive_an_append():
    """What is appended is another measurement: the pairs of the first one stay, and the new ones are
    pairs among themselves."""
    path = scratch('append-pairs.json')
    rivals = ('--baseline', '/bin/sleep 0.005', '--name', 'longer', '/bin/sleep', 0.15)
    alone = ('--name', 'baseline', '/bin/sleep', 0.005)
    for what, pairs in ((rivals, 6), (alone, 6), (rivals, 12)):
        result = run('-q', '-n', 6, '--append', '-o', path, *what)
        equal(result.returncode, 0, f'status ({result.stderr})')
        report = subprocess.run([REPORT, 'compare', '--json', path], capture_output=True,
                                text=True, check=False)
        equal(report.returncode, 0, f'status after {what} ({report.stderr})')
        compared = json.loads(report.stdout)['comparisons']
        equal([one['pairs'] for one in compared], [pairs], f'pairs after {what}')
        equal(compared[0]['verdict'], 'slower', 'verdict')


def test_csv_of_several():
    path = scratch('several.csv')
    result = run('-n', 3, '--csv', path, '--baseline', '/bin/true', '--name', 'a,b', '/bin/echo')
    equal(result.returncode, 0, f'status ({result.stderr})')
    with path.open(newline='', encoding='utf-8') as stream:
        rows = list(csv.DictReader(stream))
    equal([row['name'] for row in rows], ['baseline'] * 4 + ['a,b'] * 4, 'names')
    equal([row['run'] for row in rows], ['1', '1', '2', '3'] * 2, 'runs')


def test_failure_of_one_ends_all():
    path = scratch('several-failed.json')
    counter = scratch('several-count')
    failing = script('fails-third.sh', f'echo >> {counter}; [ $(wc -l < {counter}) -lt 3 ]\n')
    result = run('-n', 9, '-w', 0, '-o', path, '--baseline', '/bin/true', failing)
    equal(result.returncode, 1, 'status')
    check('fails-third.sh: run 3 failed: exit status 1' in result.stderr, result.stderr)
    found = {benchmark['metadata']['name']: benchmark
             for benchmark in json.loads(path.read_text(encoding='utf-8'))['benchmarks']}
    equal(len(values(found['fails-third.sh'])), 2, 'runs of the one that failed')
    check(len(values(found['baseline'])) in (2, 3), 'runs of the other')
    check('fails-third.sh' in found['baseline']['metadata']['quiesce_incomplete'],
          'the other does not say why it ended')


def test_comparison_at_the_end():
    """One program sleeps 10 ms, another 60 ms: a busy machine may make the shorter one longer in a pair
    or two, of which 16 pairs take no harm."""
    result = run('-v', '-n', 16, '--baseline', '/bin/sleep 0.01', '--command', 'same=/bin/sleep 0.01',
                 '--name', 'longer', '/bin/sleep', 0.06)
    equal(result.returncode, 0, f'status ({result.stderr})')
    text = result.stdout[result.stdout.index('same, compared with baseline:'):]
    check('longer, compared with baseline:' in text, text)
    check('measured in turn, 16 pairs' in text, text)
    check(text.count('verdict') == 2 and 'verdict    slower' in text, text)
    check(re.search(r'^(baseline|same) ran [0-9.]+ times faster than longer, [0-9.]+ \.\. [0-9.]+$',
                    text, re.MULTILINE), text)
    result = run('-v', '-n', 16, '-w', 0, '--unit', 'us', '--sort', 'command', '--command',
                 'slow=/bin/sleep 0.08', '--command', 'middle=/bin/sleep 0.05', '--name', 'fast',
                 '/bin/sleep', 0.001)
    equal(re.findall(r'^fast ran [0-9.]+ times faster than (.*), [0-9.]+ \.\.', result.stdout,
                     re.MULTILINE), ['slow', 'middle'], 'the order of --sort command')
    equal(set(re.findall(r'^  median .* ([mun]?s)(?= |$)', result.stdout, re.MULTILINE)), {'us'},
          'units')
    check('compared with' not in run('-q', '-n', 3, '--baseline', '/bin/true', '/bin/echo').stdout,
          '-q is not quiet')


def test_report_of_several_names_them():
    result = run('-v', '-n', 3, '--baseline', '/bin/true', '--name', 'new', '/bin/true')
    equal(result.returncode, 0, f'status ({result.stderr})')
    check('baseline: 3 runs' in result.stdout and 'new: 3 runs' in result.stdout, result.stdout)
    for line in result.stderr.splitlines():
        if 'warning: the shortest' in line:
            check(re.search('warning: (baseline|new): the shortest', line), line)


# --- Until it is settled ---

# Far enough from each other for a machine that is busy.
SHORT, LONG, LONGER = 'sleep 0.02', 'sleep 0.06', 'sleep 0.08'


def decided(*arguments, status, **options):
    """Standard output and the benchmarks by name, of a measurement with --decide."""
    path = scratch('decided.json')
    result = run('-o', path, '--decide', *arguments, **options)
    equal(result.returncode, status, f'status ({result.stdout}{result.stderr})')
    return result.stdout, {benchmark['metadata']['name']: benchmark for benchmark in
                           json.loads(path.read_text(encoding='utf-8'))['benchmarks']}


def test_decided_slower():
    output, found = decided(10, '--baseline', SHORT, '--name', 'new', '--', *LONG.split(), status=3)
    line = re.search(r'^new, compared with baseline: slower by more than 5 %: '
                     r'\+[\d.]+ % \(\+[\d.]+ % \.\. \+[\d.]+ %\), settled after (\d+) pairs\n', output)
    check(line, output)
    one = found['new']['metadata']
    equal(one['quiesce_decide'], 10, 'margin')
    equal(one['quiesce_decide_verdict'], 'slower', 'verdict')
    equal(one['quiesce_decide_pairs'], int(line.group(1)), 'pairs')
    equal(one['quiesce_decide_settled_after'], int(line.group(1)), 'pairs until it was settled')
    check(one['quiesce_decide_e_slower'] >= one['quiesce_decide_e_wanted'] == 100, one)
    for benchmark in found.values():
        equal(len(values(benchmark)), int(line.group(1)), 'runs')
    check('quiesce_decide_verdict' not in found['baseline']['metadata'], 'the baseline has a verdict')
    # Neither a test that counts on a fixed number of runs, nor a complaint about their number.
    check('verdict' not in output, output)


def test_decided_not_slower():
    output, found = decided(10, '--baseline', LONG, '--name', 'new', '--', *SHORT.split(), status=0)
    check('new, compared with baseline: not slower by 10 %, and faster by more than 5 %: -' in output,
          output)
    equal(found['new']['metadata']['quiesce_decide_verdict'], 'not slower', 'verdict')


def test_not_settled():
    """Two of ten pairs speak against what the others say, and fewer pairs cannot settle anything,
    whatever their signs."""
    counter = scratch('turns-of-new')
    twice_short = script('twice-short.sh', 'echo >> $1; [ $(wc -l < $1) -le 2 ]\n'
                         'case $? in 0) sleep 0.02;; *) sleep 0.2;; esac\n')
    output, found = decided(10, '--max-runs', 10, '-w', 0, '--baseline', LONGER, '--name', 'new', '--',
                            twice_short, counter, status=4)
    check('new, compared with baseline: not settled: +' in output and ', after 10 pairs\n' in output,
          output)
    one = found['new']['metadata']
    equal(one['quiesce_decide_verdict'], 'not settled', 'verdict')
    equal(one['quiesce_max_runs'], 10, 'limit')
    check('quiesce_decide_settled_after' not in one, one)

    output, found = decided(10, '--max-time', 0.5, '--baseline', SHORT, '--name', 'new', '--',
                            *LONG.split(), status=4)
    one = found['new']['metadata']
    check(re.search(r'new, compared with baseline: not settled: \+.*, after \d pairs?\n', output), output)
    equal(one['quiesce_decide_verdict'], 'not settled', 'verdict')
    check('quiesce_decide_settled_after' not in one and 'quiesce_decide_ratio_low' not in one, one)
    equal(one['quiesce_ended_by'], '--max-time', 'what ended the runs')
    told = run('--help').stdout.partition(' 4 not settled ')[2]
    check('--max-runs' in told and '--max-time' in told, 'the help does not tell what ends them')


def test_decided_of_several():
    """All have to be settled, the worst gives the status, and one alone wants more evidence."""
    output, found = decided(10, '--baseline', SHORT, '--command', f'long={LONG}', '--command',
                            f'longer={LONGER}', '-n', 15, status=3)
    for name in ('long', 'longer'):
        check(f'{name}, compared with baseline: slower by more than 5 %: +' in output, output)
        one = found[name]['metadata']
        equal(one['quiesce_decide_e_wanted'], 100, 'wanted by one of two that are both slower')
        check(one['quiesce_decide_settled_after'] >= 10 and one['quiesce_decide_pairs'] >= 15, one)
    check('\n2 comparisons: 2 slower, 0 not slower, 0 not settled, by ' in output, output)
    # One that is settled as slower outweighs one that is not settled.
    decided(10, '--max-time', 1, '--baseline', SHORT, '--command', f'long={LONG}', '--command',
            f'longer={LONGER}', status=4)


def test_a_suite_ends_piece_by_piece():
    """Each comparison ends when it is settled, with as many runs of the old program as of the new."""
    unsure = script('unsure.sh', 'case $1 in 2) exec sleep 0.02;; esac\necho >>"$2"\n'
                    '[ $(($(wc -l <"$2") / 2 % 2)) = 1 ] && exec sleep 0.03\nexec sleep 0.12\n')
    output, found = decided(10, '--max-runs', 30, '-w', 0, '-L', 'which=1,2', '--baseline',
                            'sh -c "exec sleep 0.06" {which}', '--name', 'new', '--', unsure, '{which}', scratch('unsure-runs'), status=4)
    counts = {name: len(values(benchmark)) for name, benchmark in found.items()}
    equal(counts['baseline/which=1'], 30, f'runs of one that is open ({counts})')
    equal(counts['new/which=1'], 30, f'runs of one that is open ({counts})')
    equal(counts['new/which=2'], counts['baseline/which=2'], f'runs of the other ({counts})')
    check(counts['new/which=2'] < 30, counts)
    check('\n2 comparisons: 0 slower, 1 not slower, 1 not settled, by ' in output, output)


def test_a_suite_is_a_table():
    """Of five comparisons and more: one line for all, and a row for each that is worse or not settled."""
    # Two are worse, one is now and now not.
    work = script('suite.sh', 'case $1$2 in new[35]) echo cost 20000; exit;; new2) ;; *) echo cost 10000; exit;; esac\n'
                  'echo >>"$3"\n[ $(($(wc -l <"$3") % 2)) = 1 ] && echo cost 8000 || echo cost 12000\n')
    words = f'{work} {{}} {{which}} {scratch("suite-runs")}'
    command = ['--decide', 10, '--max-runs', 40, '-w', 0, '-L', 'which=1,2,3,4,5', '--figure', 'cost,ns,lower=^cost ([0-9]+)',
               '-o', scratch('suite.json'), '--baseline', words.format('old', which='{which}'),
               '--command', f'new={words.format("new", which="{which}")}']
    result = run(*command)
    equal(result.returncode, 3, f'status ({result.stderr})')
    lines = result.stdout.splitlines()
    check(re.fullmatch(r'5 comparisons: 2 worse, 2 not worse, 1 not settled, by \d+ pairs', lines[0]), result.stdout)
    for line, which in (lines[1], 3), (lines[2], 5):
        check(re.fullmatch(rf'  worse +\+100 % +\(\+100 % \.\. \+100 %\) +\d+ pairs  new/which={which}', line), result.stdout)
    check(re.fullmatch(r'  not settled .* 40 pairs  new/which=2', lines[3]), result.stdout)
    check('which=1' not in ''.join(lines[:4]) and '  instead    allow more runs' in result.stdout, result.stdout)
    check('  -v         lists all of them' in lines, result.stdout)
    shown = run(*command, '-v').stdout
    equal(shown.count(', compared with baseline/which='), 5, f'comparisons ({shown})')


def improved(*arguments, status):
    """Standard output, and the metadata of the new program."""
    path = scratch('improved.json')
    result = run('-o', path, '--improve', *arguments)
    equal(result.returncode, status, f'status ({result.stdout}{result.stderr})')
    [_, new] = json.loads(path.read_text(encoding='utf-8'))['benchmarks']
    return result.stdout, new['metadata']


def test_improve():
    """The mirrored question."""
    output, one = improved(10, '--baseline', LONG, '--name', 'new', '--', *SHORT.split(), status=0)
    check(re.search(r'^new, compared with baseline: faster by more than 5 %: -[\d.]+ % \(-[\d.]+ % \.\. -[\d.]+ %\), '
                    r'settled after \d+ pairs\n', output), output)
    equal([one['quiesce_decide_verdict'], one['quiesce_decide_for'], one['quiesce_decide']],
          ['faster', 'faster', 10], 'metadata')
    shown = subprocess.run([REPORT, 'compare', '--json', scratch('improved.json')], capture_output=True,
                           text=True, check=True)
    [found] = json.loads(shown.stdout)['comparisons']
    equal([found['decision']['asked'], found['decision']['verdict']], ['faster', 'faster'], 'bench-report')
    output, one = improved(10, '--baseline', SHORT, '--name', 'new', '--', *LONG.split(), status=3)
    check('new, compared with baseline: not faster by 10 %, and slower by more than 5 %: +' in output, output)
    # Whether the gate fails does not depend on which question was asked.
    gate = subprocess.run([REPORT, 'compare', '--fail-slower', '5', scratch('improved.json')],
                          capture_output=True, text=True, check=False)
    equal(gate.returncode, 3, gate.stdout)


def test_a_session_counts_its_tries():
    path = scratch('tries')
    for number, wanted in (1, 200), (2, 600):
        output, one = improved(10, '--session', path, '--baseline', SHORT, '--name', f'patch {number}', '--',
                               *LONG.split(), status=3)
        check(f'  session    patch {number} is try {number} of it\n' in output, output)
        check(re.search(r'^  session    a find by the next try takes at least 1\d pairs$', output, re.MULTILINE), output)
        equal(one['quiesce_decide_e_wanted'], 100, 'for not faster')
    output, one = improved(10, '--session', path, '--baseline', LONG, '--name', 'good', '--', *SHORT.split(), status=0)
    equal(one['quiesce_decide_e_wanted'], 1200, 'the third one')
    output, one = improved(10, '--session', path, '--baseline', LONG, '--name', 'also', '--', *SHORT.split(), status=0)
    equal(one['quiesce_decide_e_wanted'], 1000, 'the fourth one, after a find')
    text = path.read_text(encoding='utf-8')
    lines = re.sub(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ', 'TIME', text).splitlines()
    equal(lines, ['quiesce session 1', 'begin 1 TIME 200 patch 1', 'end 1 not faster', 'begin 2 TIME 600 patch 2',
                  'end 2 not faster', 'begin 3 TIME 1200 good', 'end 3 faster', 'begin 4 TIME 1000 also',
                  'end 4 faster'], 'lines')
    # One that is refused is none, one that is broken off is one.
    least = run('--no-save', '--improve', 10, '--session', path, '--max-runs', 10, '--baseline', 'true', 'true')
    one_line(least, 1, 'the next try of', 'takes at least 1')
    equal(path.read_text(encoding='utf-8'), text, 'after a refusal')
    failed = run('--no-save', '--improve', 10, '--session', path, '--baseline', 'true', 'false')
    equal(failed.returncode, 1, failed.stderr)
    equal(path.read_text(encoding='utf-8').splitlines()[-1], 'end 5 not settled', 'a failure')
    path.write_text('{}\n', encoding='utf-8')
    one_line(run('--no-save', '--improve', 10, '--session', path, '--baseline', 'true', 'true'), 1, 'line 1 is none')
    equal(path.read_text(encoding='utf-8'), '{}\n', 'a foreign file')


def test_a_session_that_is_locked():
    """Whoever may read the file can lock it. That is no reason to wait for ever, and Ctrl-C unheard. The half minute of
    waiting takes no time here."""
    path = scratch('locked-tries')
    path.write_text('quiesce session 1\n', encoding='utf-8')
    timeless = environment(LD_PRELOAD=os.environ['TIMELESS'], **machine.asan_environment())
    with path.open(encoding='utf-8') as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        result = run('--no-save', '--improve', 10, '--session', path, '--baseline', 'true', 'true', env=timeless)
    one_line(result, 1, 'another process keeps it locked')
    equal(path.read_text(encoding='utf-8'), 'quiesce session 1\n', 'the file')


def test_order_of_pairs_is_drawn():
    """The bound on false claims rests on it: each round has a coin of its own."""
    _, found = decided(10, '--max-runs', 40, '-n', 40, '-w', 0, '--baseline', 'true', '--name', 'new',
                       '--seed', 5, '--', 'sleep', '0.001', status=3)
    order = order_of_starts(found)
    firsts = ''.join(order[at][0] for at in range(0, len(order), 2))
    equal(len(firsts), 40, 'pairs')
    check(10 <= firsts.count('b') <= 30, firsts)
    changes = sum(a != b for a, b in zip(firsts, firsts[1:]))
    check(8 <= changes <= 31, firsts)


def test_decide_quietly():
    result = run('--no-save', '-q', '--decide', 10, '--baseline', SHORT, *LONG.split())
    equal((result.returncode, result.stdout), (3, ''), 'status and output')
    result = run('--json', '--decide', 10, '--baseline', SHORT, *LONG.split())
    equal(result.returncode, 3, 'status')
    equal(len(json.loads(result.stdout)['benchmarks']), 2, 'benchmarks')
    check('compared with baseline: slower' in result.stderr, result.stderr)


def test_decide_fails():
    """Neither a failure nor a result that cannot be kept is a verdict."""
    counter = scratch('decide-count')
    failing = script('fails-12th.sh', f'echo >> {counter}; [ $(wc -l < {counter}) -lt 12 ]\n')
    result = run('--no-save', '-w', 0, '-n', 30, '--decide', 10, '--baseline', 'true', failing)
    equal(result.returncode, 1, f'status ({result.stderr})')
    check('run 12 failed' in result.stderr, result.stderr)
    if os.path.exists('/dev/full'):
        path = scratch('full.json')
        path.symlink_to('/dev/full')
        result = run('--csv', path, '--decide', 10, '--baseline', SHORT, *LONG.split())
        equal(result.returncode, 1, f'status ({result.stderr})')


def test_decide_stopped():
    """Of two programs that are the slower one in turn none is found slower before the signal."""
    turn = script('turn.sh', 'echo >> $1; [ $(($(wc -l < $1) % 2)) -eq 0 ]\n'
                  'case $? in 0) sleep $2;; *) sleep $3;; esac\n')
    program, baseline = scratch('turns-of-program'), scratch('turns-of-baseline')
    process = start('--no-save', '-n', 1000, '-w', 0, '--decide', 10,
                    '--baseline', f'{turn} {baseline} 0.01 0.05', turn, program, '0.05', '0.01')
    machine.wait_for(lambda: program.exists() and len(program.read_bytes()) >= 8, '8 runs', PATIENCE)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    equal(process.returncode, 130, f'status ({errors})')
    check(re.search(r'stopped by SIGINT after \d+ runs\n', errors), errors)
    check('compared with baseline: not settled' in output, output)


def test_stopped_in_one_of_several():
    """Whose run it was that a signal has ended: the message and the metadata of all name the signal."""
    for slow in 'baseline', 'program':
        mark, output = scratch(f'stopped-{slow}'), scratch(f'stopped-{slow}.json')
        waits = script(f'waits-{slow}.sh', f'echo >{mark}; exec sleep 100\n')
        baseline, program = ('true', waits) if slow == 'program' else (waits, 'true')
        process = start('-n', 10, '-w', 0, '-o', output, '--baseline', baseline, program)
        machine.wait_for(mark.exists, 'the slow program runs', PATIENCE)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        equal(process.returncode, 130, f'status ({errors})')
        check('runpinned: stopped by SIGINT after ' in errors, errors)


def test_plan_of_the_number_of_runs():
    for arguments, planned in (
            (('-n', 5, '-w', 0), '5 after 0 warm-up'),
            (('--baseline', 'true'), '25 after 1 warm-up, of each in turn'),
            (('--decide', 2.5, '--max-runs', 70, '--baseline', 'true'),
             '1 to 70 after 1 warm-up, until 2.5 % is settled, of each in turn'),
            (('--until-rel-error', 0.5, '--max-runs', 500),
             '25 to 500 after 1 warm-up, until the median is known to 0.5 %'),
            (('--until-rel-error', 0.5, '--min-time', '2min', '--max-time', '1h'),
             '25 to 1000 after 1 warm-up, until the median is known to 0.5 %, and 120 s are over, '
             'none begins after 3600 s'),
            (('--min-time', '500ms'), '25 or more after 1 warm-up, until 0.5 s are over'),
            (('--max-time', 5), '25 after 1 warm-up, none begins after 5 s')):
        result = run('--dry-run', *arguments, 'true')
        equal(result.returncode, 0, result.stderr)
        equal([line for line in result.stdout.splitlines() if line.startswith('runs:')], [f'runs: {planned}'],
              'runs')


def test_plan_of_a_quiet_machine():
    """Which CPUs benchmark.target will choose is not known before; without root it is not to be had."""
    if pathlib.Path('/run/quiesce/target').exists():
        raise machine.Skip('a benchmark.target is up here')
    if os.geteuid() != 0:
        one_line(run('--dry-run', '--quiesce', 'true'), 1, '--quiesce needs root')
        return
    result = run('--dry-run', '--quiesce', 'true')
    equal(result.returncode, 0, result.stderr)
    check(f'cpus: {CPU} (as asked for)\n' in result.stdout, result.stdout)
    by = 'benchmark.target is started' if pathlib.Path('/run/systemd/system').exists() else 'the setters are run'
    check(f'quiesce: {by} before' in result.stdout, result.stdout)
    result = subprocess.run([RUNPINNED, '--dry-run', '--quiesce', 'true'], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, env=environment(), timeout=PATIENCE, check=False)
    equal(result.returncode, 0, result.stderr)
    check('cpus: those that benchmark.target chooses' in result.stdout, result.stdout)
    check('housekeeping' not in result.stdout, result.stdout)


# --- A control ---

def test_control():
    path = scratch('control.json')
    result = run('-n', 6, '-o', path, '--control', '--name', 'prog', '--', '/bin/sleep', '0.01')
    equal(result.returncode, 0, f'status ({result.stderr})')
    found = {benchmark['metadata']['name']: benchmark for benchmark in
             json.loads(path.read_text(encoding='utf-8'))['benchmarks']}
    equal(list(found), ['prog', 'control'], 'benchmarks')
    for benchmark in found.values():
        equal(len(values(benchmark)), 6, 'runs')
        one = benchmark['metadata']
        equal(one['quiesce_interleaved'], 'prog, control', 'in turn')
        check(re.fullmatch(r'runpinned-control \d+', one['quiesce_control']), one['quiesce_control'])
        length = int(one['quiesce_control'].split()[1])
        while length > 1 and length % 4 == 0:
            length //= 4
        equal(length, 1, 'what is left of a power of 4')
        check(re.fullmatch(r'[0-9a-f]{16}', one['quiesce_control_hash']), one['quiesce_control_hash'])
    equal(found['control']['metadata']['command'], found['prog']['metadata']['quiesce_control'],
          'command of the control')
    equal(found['control']['metadata'].get('quiesce_role'), 'control', 'role')
    check('quiesce_role' not in found['prog']['metadata'], 'the program is no control')
    check(re.search(r'^prog: [0-9.]+ of runpinned-control \d+ \([0-9.]+ \.\. [0-9.]+ with 95 % '
                    r'certainty\), 6 rounds\n', result.stdout), result.stdout)
    check('compared with' not in result.stdout, 'the control is a rival')
    order = order_of_starts(found)
    for at in range(0, len(order), 2):
        equal(sorted(order[at:at + 2]), ['control', 'prog'], f'round {at // 2}')


def test_length_of_the_control():
    """It is what was asked for, or follows from the first program."""
    found = several('-n', 2, '--control', '--control-length', 3, '/bin/true')
    equal(found['control']['metadata']['quiesce_control'], 'runpinned-control 3', 'control')
    program = pathlib.Path(RUNPINNED).parent / 'runpinned-control'
    short, long = (int(several('-n', 2, '--control', program, rounds)
                       ['control']['metadata']['quiesce_control'].split()[1]) for rounds in (16, 4096))
    check(4 <= short <= 64 and 1024 <= long <= 16384, f'{short} and {long} rounds')


def test_own_control():
    """A person's own: the file's hash tells whether it is still the same."""
    program = script('own-control.sh', 'exit 0\n')
    hashes = []
    for text in ('exit 0\n', 'exit 0\n', 'exit 0 # no more\n'):
        program.write_text('#!/bin/sh\n' + text, encoding='utf-8')
        found = several('-n', 2, f'--control={program} x', '--baseline', 'true', '/bin/echo')
        equal(list(found), ['baseline', 'echo', 'control'], 'benchmarks')
        equal(found['echo']['metadata']['quiesce_control'], f'{program} x', 'control')
        hashes.append(found['echo']['metadata']['quiesce_control_hash'])
    check(hashes[0] == hashes[1] != hashes[2], hashes)


def test_control_and_precision():
    """The control needs no precision of its own: it differs by half from run to run."""
    counter = scratch('unsteady-count')
    unsteady = script('unsteady.sh', f'echo >> {counter}\n'
                      f'[ $(($(wc -l < {counter}) % 2)) = 0 ] && exec sleep 0.1\nexec sleep 0.2\n')
    result = run('--json', '-n', 8, '--until-rel-error', 30, '--max-runs', 9, f'--control={unsteady}',
                 'sleep', '0.2')
    equal(result.returncode, 0, f'status ({result.stderr})')
    check('is not known to' not in result.stderr, result.stderr)


def test_appended_control():
    """The control is as long as the control of the runs in the file, however long the program takes today."""
    path = scratch('appended-control.json')
    equal(run('-q', '-n', 2, '-w', 0, '--control', '--control-length', 2, '--name', 'program', '-o', path,
              'true').returncode, 0, 'status')
    result = run('-q', '-n', 2, '-w', 0, '--control', '--name', 'program', '--append', '-o', path, 'sleep', '0.1')
    equal(result.returncode, 0, f'status ({result.stderr})')
    before = path.read_bytes()
    for control in ('--control', '--control-length=8'), ('--control=/bin/true',):
        result = run('-q', '-n', 2, '-w', 0, *control, '--name', 'program', '--append', '-o', path, 'true')
        equal(result.returncode, 1, f'status ({result.stderr})')
        check("the control of its runs is 'runpinned-control 2', and the control of these runs is" in result.stderr,
              result.stderr)
        equal(path.read_bytes(), before, 'the file')
    # The control of another program is in the same benchmark.
    result = run('-q', '-n', 2, '-w', 0, '--control', '--name', 'another', '--append', '-o', path, 'sleep', '0.1')
    equal(result.returncode, 0, f'status ({result.stderr})')
    benchmarks = json.loads(path.read_text(encoding='utf-8'))['benchmarks']
    equal([len(each['runs']) for each in benchmarks], [4, 6, 2], 'runs')
    equal({run['metadata'].get('quiesce_control', each['metadata'].get('quiesce_control'))
           for each in benchmarks for run in each['runs']}, {'runpinned-control 2'}, 'controls')
    result = run('-q', '-n', 2, '-w', 0, '--name', 'program', '--append', '-o', path, 'true')
    check('these runs have none' in result.stderr, result.stderr)


def test_control_fails():
    result = run('--no-save', '-n', 3, '--control=/bin/false', '/bin/true')
    equal(result.returncode, 1, f'status ({result.stderr})')
    check('/bin/false: warm-up run 1 failed' in result.stderr, result.stderr)
    one_line(run('--control=/no/such', '/bin/true'), 1, '/no/such')
    one_line(run('--control', '/no/such'), 1, '/no/such')
    # What cannot be run while the length is looked for is said by the first run.
    broken = scratch('broken-program')
    broken.write_bytes(b'\x7fELF')
    broken.chmod(0o755)
    result = run('--no-save', '--control', broken)
    equal(result.returncode, 1, f'status ({result.stderr})')
    check('cannot execute' in result.stderr, result.stderr)
    equal(subprocess.run([pathlib.Path(RUNPINNED).parent / 'runpinned-control', '0'],
                         capture_output=True, check=False).returncode, 2, 'status of the control')


def test_stopped_while_looking_for_the_length():
    process = start('--no-save', '--control', 'sleep', '7.77')
    await_running('7.77')
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    equal(process.returncode, 130, 'status')
    check(gone('7.77'), 'the program is still there')


def test_notes_are_said_once():
    """Not again while the length of the control is looked for."""
    path = scratch('setuid-with-control')
    path.write_bytes(pathlib.Path('/bin/sleep').read_bytes())
    path.chmod(0o4755)
    result = as_nobody('--no-save', '-n', 2, '--control', path, '0.05')
    equal(result.returncode, 0, f'status ({result.stderr})')
    equal(result.stderr.count('the kernel does not stamp it'), 1, f'notes ({result.stderr})')


def test_plan_of_a_control():
    for option, line in ((('--control',), 'command: runpinned-control, as long as the first program\n'),
                         (('--control', '--control-length=9'), 'command: runpinned-control 9\n'),
                         (('--control=true x',), 'command: true x\n')):
        result = run('--dry-run', *option, '/bin/echo')
        equal(result.returncode, 0, result.stderr)
        check('name: control\n' + line in result.stdout, result.stdout)


# --- Wrong use ---

USAGE = (
    (('-n', '0', '/bin/true'), '-n', "'0'"),
    (('-n', 'x', '/bin/true'), '-n', "'x'"),
    (('-n', '-1', '/bin/true'), '-n', "'-1'"),
    (('-n', '25x', '/bin/true'), "'25x'"),
    (('-n', '99999999999999999999', '/bin/true'), '-n'),
    (('-w', '1.5', '/bin/true'), '-w'),
    (('--timeout', '0', '/bin/true'), '--timeout'),
    (('--timeout', '5 s', '/bin/true'), '--timeout'),
    (('--fifo=100', '/bin/true'), '--fifo'),
    (('--nice', '20', '/bin/true'), '--nice'),
    (('--env-pad', '65537', '/bin/true'), '--env-pad'),
    (('--env-pad', 'random:x', '/bin/true'), '--env-pad'),
    (('--evidence', 'some', '/bin/true'), '--evidence'),
    (('--evidence', 'core=', '/bin/true'), '10us to 100ms'),
    (('--evidence', 'core=1us', '/bin/true'), '10us to 100ms'),
    (('--evidence', 'core=1s', '/bin/true'), '10us to 100ms'),
    (('--until-rel-error', '0', '/bin/true'), '--until-rel-error'),
    (('--max-runs', '5', '/bin/true'), '--until-rel-error', '--decide'),
    (('--control',), 'program'),
    (('--control', '--control=x', '/bin/true'), '--control', 'twice'),
    (('--control=', '/bin/true'), '--control', 'no program'),
    (('--control', '--name', 'control', '/bin/true'), "'control'", '--name'),
    (('--control-length', '4', '/bin/true'), '--control-length', '--control'),
    (('--control=true', '--control-length', '4', '/bin/true'), '--control-length'),
    (('--control', '--control-length', '0', '/bin/true'), '--control-length'),
    (('--control', '--decide', '2', '--baseline', 'true', '/bin/echo'), '--decide', '--control'),
    (('--decide', '2', '/bin/true'), '--baseline'),
    (('--decide', '0', '--baseline', 'true', '/bin/echo'), '--decide'),
    (('--decide', '51', '--baseline', 'true', '/bin/echo'), '--decide'),
    (('--decide', 'x', '--baseline', 'true', '/bin/echo'), '--decide'),
    (('--decide', '2', '--until-rel-error', '1', '--baseline', 'true', 'ls'), '--until-rel-error'),
    (('--decide', '2', '--improve', '1', '--baseline', 'true', 'ls'), '--decide and --improve'),
    (('--improve', '2', '--append', '-o', 'x', '--baseline', 'true', 'ls'), '--improve judges'),
    (('--improve', '2', 'ls'), '--improve compares'),
    (('--improve', '51', '--baseline', 'true', 'ls'), '--improve'),
    (('--session', 'x', '--baseline', 'true', 'ls'), '--session'),
    (('--decide', '2', '-o', 'x', '--append', '--baseline', 'true', 'ls'), '--append'),
    (('--decide', '2', '-n', '9', '--max-runs', '5', '--baseline', 'true', 'ls'), '--max-runs'),
    (('--decide', '2', '--max-runs', '9', '--baseline', 'true', 'ls'), '--max-runs 9', 'at least 10 pairs'),
    (('--until-rel-error', '1', '--max-runs', '5', '/bin/true'), '--max-runs'),
    (('--append', '/bin/true'), '-o'),
    (('-e', 'cycles', '-e', 'faults', '/bin/true'), '--events', 'twice'),
    (('-o', '-', '/bin/true'), '-o', '--json', './-'),
    (('--csv', '-', '/bin/true'), '--csv', '/dev/stdout', '--json', './-'),
    (('-o', 'x', '--csv', 'x', '/bin/true'), '--csv'),
    (('--cooldown', '--evidence', 'none', '/bin/true'), '--cooldown'),
    (('--json', '--show-output', '/bin/true'), 'standard output'),
    (('--stdout', 'pipe', '--show-output', '/bin/true'), '--show-output', '--stdout'),
    (('--stdout', 'x', '-o', 'x', '/bin/true'), '--stdout', '-o'),
    (('--stdout', 'x', '--csv', 'x', '/bin/true'), '--stdout', '--csv'),
    (('--stdout', './x', '-o', 'x', '/bin/true'), '--stdout', '-o'),
    (('-o', 'x', '--csv', f'../{os.path.basename(os.getcwd())}/x', '/bin/true'), '--csv'),
    (('--stdout', '', '/bin/true'), '--stdout', 'pipe'),
    (('--input', '', '/bin/true'), '--input'),
    (('--setup', '', '/bin/true'), '--setup'),
    (('--min-time', '0', '/bin/true'), '--min-time'),
    (('--max-time', 'x', '/bin/true'), '--max-time'),
    (('--max-time', '1', '--min-time', '2', '/bin/true'), '--min-time', '--max-time'),
    (('--min-time', '1', '--decide', '1', '--baseline', 'true', '/bin/echo'), '--min-time', '--decide'),
    (('-L', 'x', '/bin/true'), '-L', 'NAME='),
    (('-P', 'x=1', '/bin/true'), '-P', 'FROM..TO'),
    (('-L', 'x=1,2', '/bin/true'), '{x}'),
    (('-L', 'x=1,2', '--control=echo {x}', '/bin/true'), '{x}', '--control'),
    (('-L', 'x=1,2', '--control=echo {x}', 'echo', '{x}'), '{x}', '--control'),
    (('-L', 'x=1,2,1', 'echo', '{x}'), "'1'", "'x'", 'twice'),
    (('-P', 'x=1..16', '-P', 'y=1..32', '--baseline', 'true', 'echo', '{x}{y}'), '512'),
    (('-P', 'x=1..2', '--metadata', 'parameter_x=1', 'echo', '{x}'), 'parameter_x'),
    (('--ignore-failure=0', '/bin/true'), '--ignore-failure', "'0'"),
    (('--ignore-failure=1,', '/bin/true'), '--ignore-failure'),
    (('--ignore-failure=256', '/bin/true'), '--ignore-failure'),
    (('--shell=', 'true'), '--shell'),
    (('--shell=|', 'true'), '--shell'),
    (('--shell', 'a', 'b'), '--shell', "'b'", 'quotes'),
    (('--hook-timeout', '0', '/bin/true'), '--hook-timeout'),
    (('--prepare', 'a', '--prepare', 'b', '/bin/true'), '--prepare', '2 times', '1 program'),
    (('--setup', 'a', '--setup', 'b', '--command', 'a=true', '--command', 'b=true', '/bin/true'),
     '--setup', '2 times', '3 programs'),
    (('--no-such-option', '/bin/true'), '--no-such-option'),
    (('-Z', '/bin/true'), '-Z'),
    (('-n',), '-n', 'value'),
    ((), 'program'),
    (('--',), 'program'),
    (('',), 'empty'),
    (('-e', 'no-such-event-at-all', '/bin/true'), 'no-such-event-at-all'),
    (('-e', ',', '/bin/true'), '-e'),
    (('--name', '', '/bin/true'), '--name'),
    (('--baseline', '/bin/true'), '--baseline', 'PROGRAM'),
    (('--baseline', 'a', '--baseline', 'b', '/bin/true'), '--baseline', 'twice'),
    (('--baseline', '', '/bin/true'), '--baseline', 'no program'),
    (('--baseline', "''", '/bin/true'), '--baseline', 'no program'),
    (('--baseline', "a 'b", '/bin/true'), '--baseline', 'quote'),
    (('--baseline', 'a | b', '/bin/true'), '--baseline', 'shell'),
    (('--baseline', 'a $HOME', '/bin/true'), '--baseline', 'shell'),
    (('--command', 'x', '/bin/true'), '--command', 'NAME=COMMAND'),
    (('--command', '=x', '/bin/true'), '--command', 'NAME=COMMAND'),
    (('--command', 'true=/bin/echo', '/bin/true'), "'true'", '--name'),
    (('--command', 'x=true', '--command', 'x =true'), "'x '", '--name'),
    (('-L', 'x=a,a ', 'echo', '{x}'), "'echo/x=a '", '--name'),
    (('--command', 'x\x01=true', '--command', 'x\\x01=true'), "'x\\x01'", '--name'),
    (('--command', '\u2003=true', '/bin/true'), 'blank', '--command'),
    (('--name', ' ', '/bin/true'), 'blank', '--name'),
    (('--shell', ' '), 'blank', '--name'),
    (('--command', 'a=/bin/echo', '--name', 'x'), '--name'),
    (('--seed', '1', '/bin/true'), '--seed'),
    (('--seed', 'x', '--baseline', 'a', '/bin/true'), '--seed'),
    ((*('--command=%d=/bin/true' % i for i in range(512)), '/bin/true'), '512'),
)


def test_usage(arguments, words):
    one_line(run(*arguments), 2, *words)


def test_usage_cpus():
    for cpus, word in (('x', 'x'), ('99999', '99999'), ('', "''"), ('1-0', '1-0'), ('0,,1', ','),
                       ('0 1', ' '), ('-1', '-')):
        one_line(run('/bin/true', cpu=cpus), 2, word)


def test_help_and_version():
    for option in ('--help', '-h'):
        result = run(option)
        equal(result.returncode, 0, 'status')
        check(result.stdout.startswith('Usage: runpinned'), result.stdout[:80])
        check(all(len(line) <= 80 for line in result.stdout.split('\n')), 'wider than 80 columns')
    result = run('--version')
    check(re.fullmatch(r'runpinned \(quiesce\) \d+\.\d+\.\d+\n', result.stdout), result.stdout)


# --- pyperf ---

def pyperf(*arguments):
    """Runs pyperf itself, if it is installed; otherwise the test is skipped."""
    program = os.environ.get('PYPERF', '')
    if not program or not os.access(program, os.X_OK):
        raise Skip('pyperf is not installed (PYPERF names no program)')
    result = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                            env=environment(), check=False)
    equal(result.returncode, 0, f'pyperf {arguments[0]}: {result.stdout}{result.stderr}')
    return result.stdout


def test_pyperf_reads_results():
    old, new = scratch('old.json'), scratch('new.json')
    for path in (old, new):
        result = run('-n', 10, '-w', 2, '-o', path, '--name', 'sleep', '-e', 'task-clock',
                     '--env-pad', 'random', '/bin/sleep', '0.01')
        equal(result.returncode, 0, f'status ({result.stderr})')
    stats = pyperf('stats', old)
    check(re.search(r'values? per run: 1\b', stats), stats)
    check(re.search(r'Total number of values: 10\b', stats), stats)
    for command in ('show', 'hist', 'metadata', 'dump', 'check', 'slowest'):
        check(pyperf(command, old), f'{command} says nothing')
    check('Mean +- std dev' in pyperf('compare_to', '-v', old, new), 'compare_to says nothing')
    # Only metadata that are the same in all runs: pyperf shows no others.
    check(f'cpu_affinity: {CPU}' in pyperf('metadata', old), 'no metadata')


def test_pyperf_agrees():
    """Median, MAD, mean and standard deviation, to the digits that pyperf prints."""
    path = scratch('agrees.json')
    text = run('-v', '-n', 9, '-o', path, '/bin/sleep', '0.01').stdout
    stats = pyperf('stats', path)
    for ours, theirs in ((r'median +([\d.]+) ms +MAD', r'Median \+- MAD: +([\d.]+) ms'),
                         (r'mean +([\d.]+) ms +stdev', r'Mean \+- std dev: +([\d.]+) ms')):
        mine = float(re.search(ours, text).group(1))
        printed = re.search(theirs, stats).group(1)
        digits = len(printed.partition('.')[2])
        check(abs(mine - float(printed)) <= 10 ** -digits, f'{mine} is not {printed}')


TESTS = [test for test in machine.tests_of(globals()) if test[0] != 'usage']
TESTS += [(f'usage: {" ".join(arguments) or "nothing"}',
           lambda arguments=arguments, words=words: test_usage(arguments, words))
          for arguments, *words in USAGE]
TESTS += [('stopped by SIGINT', lambda: stopped_by(signal.SIGINT, 130)),
          ('stopped by SIGTERM', lambda: stopped_by(signal.SIGTERM, 143)),
          ('stopped by SIGHUP', lambda: stopped_by(signal.SIGHUP, 129))]

if __name__ == '__main__':
    # `test_runs.py WORD...` runs the tests whose names contain one of the words.
    machine.run_tests((name, tidy(function)) for name, function in machine.named_tests(TESTS))
