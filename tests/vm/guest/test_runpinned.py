# SPDX-License-Identifier: GPL-2.0-or-later
"""runpinned with a kernel that stamps, and with one that may not."""

import json
import subprocess
import time

from lab import (PARANOID, boots, check, equal, fail, heat, limited, measure, note, plug, read, succeed,
                 wait_for, write)


@boots('plain', 'isolated', 'cgroup-v1')
def test_root_is_stamped_by_the_kernel():
    facts, runs = measure('-c', '2', '-n', '3', '/bin/true')
    equal((facts['quiesce_clock'], len(runs)), ('kernel', 3), 'clock, runs')
    equal(facts['quiesce_cpus'], '2', 'CPUs')


# Touches its memory, and leaves it to the kernel to free: page by page, because huge pages, of which there are
# sometimes enough, are freed at once.
LARGE = """import mmap, os
memory = mmap.mmap(-1, 150 << 20)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for at in range(0, len(memory), mmap.PAGESIZE):
    memory[at] = 1
os._exit(0)"""


def gap(stamps, *program):
    """How much our own stamps have beyond the kernel's window, the shortest of some runs."""
    facts, runs = measure('-c', '2', '-n', '4', f'--stamps={stamps}', *program)
    equal(facts['quiesce_stamped_by'], stamps, 'who stamps')
    for run in runs:
        equal(run['metadata'].get('quiesce_flags', '').count('window'), 0, f'{stamps}: flags')
    return min(run['metadata']['quiesce_window_user'] - run['metadata']['quiesce_window_kernel']
               for run in runs)


def test_window_ends_before_the_memory_is_freed():
    """Where the tracepoint of the exit lies behind the end of the address space (before Linux 6.16),
    another place is stamped."""
    facts, _ = measure('-c', '2', '-n', '1', '/bin/true')
    equal(facts['quiesce_stamped_by'], 'tracepoints', 'who stamps by default')
    small = gap('tracepoints', '/bin/true')
    large = {stamps: gap(stamps, 'python3', '-c', LARGE)
             for stamps in ('tracepoints', 'cpu-events')}
    note(f'beyond the window, in us: {small * 1e6:.0f} of /bin/true; of a large program ' +
         ', '.join(f'{value * 1e6:.0f} ({stamps})' for stamps, value in large.items()))
    for stamps, value in large.items():
        check(value > 2 * small, f'{stamps}: the end of the address space is in the window')


def test_user_and_what_perf_allows():
    before = read(PARANOID)
    try:
        for level, clock in (('3', 'user'), ('2', 'kernel'), ('1', 'kernel')):
            write(PARANOID, level)
            facts, runs = measure('-c', '2', '-n', '2', '/bin/true', user='nobody')
            equal((facts['quiesce_clock'], len(runs)), (clock, 2), f'clock, runs at {level}')
    finally:
        write(PARANOID, before)


BUSY = ('sh', '-c', 'i=0; while [ $i -lt 6000 ]; do i=$((i+1)); done')


@boots('plain', 'isolated', 'cgroup-v1')
def test_quota_is_evidence():
    """The limit is that of the cgroup above the one in which all is run, which has none itself."""
    arguments = ('--no-save', '-c', '2', '-n', '2', '-w', '0', *BUSY)
    with limited(20) as words:
        result = json.loads(succeed(*words, 'runpinned', '--json', '-q', *arguments))
    benchmark = result['benchmarks'][0]
    equal({**result.get('metadata', {}), **benchmark['metadata']}['cpu_quota'], '0.2 CPUs', 'metadata')
    for run in benchmark['runs']:
        metadata = {**benchmark['metadata'], **run['metadata']}
        part = metadata['quiesce_quota_throttled'] / metadata['quiesce_window_user']
        note(f'{metadata["quiesce_window_user"]:.2f} s, throttled for {100 * part:.0f} % of it; '
             f'flags {metadata.get("quiesce_flags")}')
        check(part > 0.5, f'throttled for {part} of a run')
        check('quota' in metadata['quiesce_flags'], metadata['quiesce_flags'])
    facts, runs = measure(*arguments)
    equal(facts.get('cpu_quota'), None, 'a quota where there is none')
    for run in runs:
        check('quota' not in json.dumps({**facts, **run['metadata']}), f'{facts} {run}')


def test_program_stays_on_its_cpu():
    out = '/tmp/where'
    succeed('runpinned', '-c', '3', '-n', '2', '--no-save', 'sh', '-c',
            f'grep Cpus_allowed_list /proc/self/status >{out}')
    equal(read(out).split()[-1], '3', 'CPU')


@boots('isolated')
def test_takes_an_isolated_cpu_by_itself():
    facts, _ = measure('-n', '2', '/bin/true')
    check(facts['quiesce_cpus'] in ('1', '3', '1,3'), facts['quiesce_cpus'])


def test_cpu_that_is_not_there():
    fail(2, 'runpinned', '-c', '9', '-n', '1', '/bin/true')
    write('/sys/devices/system/cpu/cpu3/online', '0')
    fail(2, 'runpinned', '-c', '3', '-n', '1', '/bin/true')
    write('/sys/devices/system/cpu/cpu3/online', '1')


def test_power_supply_is_noted():
    facts, _ = measure('-c', '2', '-n', '1', '/bin/true')
    equal(facts['quiesce_power_supply'], 'ac', 'plugged in')
    plug(False)
    try:
        wait_for(lambda: measure('-c', '2', '-n', '1', '/bin/true')[0]['quiesce_power_supply']
                 != 'ac', 'the loss of the AC adapter')
    finally:
        plug(True)
    wait_for(lambda: measure('-c', '2', '-n', '1', '/bin/true')[0]['quiesce_power_supply']
             == 'ac', 'the AC adapter')


def test_cooldown_waits_for_the_package():
    """The first run heats the package. The next run does not begin until the package has been
    cooled."""
    heat(45)
    counter = '/tmp/runs'
    write(counter, '')
    # The first run heats, and lasts long enough for the zone to be read again.
    program = (f'echo x >>{counter}; [ "$(wc -l <{counter})" -ne 2 ] || '
               'busybox devmem 0xff000000 32 3500; sleep 3')
    process = subprocess.Popen(['runpinned', '-c', '2', '-n', '3', '--cooldown', '--no-save',
                                'sh', '-c', program], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: len(read(counter).split()) == 2, 'the run that heats')
        time.sleep(15)
        equal(len(read(counter).split()), 2, 'runs while it is hot')
        check(process.poll() is None, 'it ended while it was hot')
        heat(45)
        out, err = process.communicate(timeout=120)
        equal(process.returncode, 0, err)
        check(len(read(counter).split()) >= 4, f'runs: {read(counter)!r}')
        note(out.splitlines()[0])
    finally:
        process.kill()
        heat(45)
