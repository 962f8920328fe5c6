# SPDX-License-Identifier: GPL-2.0-or-later
"""What it is all for: a measurement on a machine that is busy, without and with the target."""

import contextlib
import glob
import json
import os
import signal
import statistics
import subprocess

from lab import BUSY, ENVIRONMENT, become, check, equal, note, succeed, wait_for
from target import inside, is_quiet, up

LOOPS = 10
PROCESSES = 10
VALUES = 30      # of each
ATTEMPTS = 3
LONGEST = 600    # seconds that one measurement may take
# A few thousandths of a second of an emulated CPU, measured around the loop itself: to start a process
# takes many times as long here.
SOURCE = '''
#include <quiesce/benchmark.h>
static void loop(struct qs_run *run)
{
    uint64_t began = qs_begin(run->sampler);
    for (volatile unsigned i = 0; i < 800000; i++)
        ;
    qs_end(run->sampler, began);
}
int main(int argc, char *argv[])
{
    const struct qs_benchmark benchmarks[] = { { .name = "loop", .run = loop }, { 0 } };
    return qs_main(argc, argv, benchmarks);
}
'''
PROGRAM = '/tmp/loop'


@contextlib.contextmanager
def loops():
    """Starts programs that do nothing but run, on any CPU. Yields them, and a function that sends
    each a signal."""
    processes = [subprocess.Popen([*become('nobody'), *BUSY], env=ENVIRONMENT) for _ in range(LOOPS)]

    def send(number):
        for process in processes:
            process.send_signal(number)
    try:
        yield processes, send
    finally:
        for process in processes:
            process.kill()
            process.wait()


def make_program():
    library = glob.glob('/usr/lib*/libquiesce.a') + glob.glob('/usr/lib/*/libquiesce.a')
    check(library, 'libquiesce is not installed')
    succeed('gcc', '-O1', '-x', 'c', '-', '-x', 'none', library[0], '-o', PROGRAM, '-pthread', '-lm',
            input=SOURCE)


def measure_loop(send, is_there):
    """What runpinned says, of a measurement during which the loops run: as soon as is_there(), since
    they would make a server wait that is started to let it in."""
    words = ['runpinned', '--json', '-q', '--no-save', '-c', '2', '-w', '1', '-n', str(PROCESSES), '--',
             PROGRAM, '--loops=1', f'--values={VALUES}']
    with subprocess.Popen(words, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            wait_for(lambda: is_there() or process.poll() is not None, 'the program')
            send(signal.SIGCONT)
            out, _ = process.communicate(timeout=LONGEST)
            equal(process.returncode, 0, 'status of runpinned')
        finally:
            send(signal.SIGSTOP)
            process.kill()
    return json.loads(out)


def figures(what, send, is_there):
    """Standard deviation, maximum less median (milliseconds), and how often its processes had to
    leave the CPU to somebody else."""
    result = measure_loop(send, is_there)
    equal({**result.get('metadata', {}), **result['benchmarks'][0]['metadata']}['quiesce_cpus'], '2',
          'CPUs')
    # What the program measured itself comes after the program.
    runs = [run for run in result['benchmarks'][1]['runs'] if 'values' in run]
    values = [1000 * value for run in runs for value in run['values']]
    equal((len(runs), len(values)), (PROCESSES, PROCESSES * VALUES), 'processes, values')
    switches = sum(run['metadata']['quiesce_involuntary_switches']
                   for run in result['benchmarks'][0]['runs'] if 'values' in run)
    deviation, median = statistics.stdev(values), statistics.median(values)
    note(f'{what}: median {median:.2f} ms, standard deviation {deviation:.2f} ms, maximum '
         f'{max(values):.2f} ms; switched out {switches} times')
    return deviation, max(values) - median, switches


def ratios(busy, quiet):
    return [was / now for was, now in zip(busy[:2], quiet[:2])]


def test_busy_against_quiet():
    """How much is no matter here: all CPUs take turns in one thread of the machine below, and what that
    does in between shows on both sides."""
    make_program()
    with loops() as (processes, send):
        busy = figures('busy', send, lambda: True)
        # They are there when the target comes, and are sent away; that they ran meanwhile would
        # only make it slow.
        with up('CPUS=2'):
            is_quiet()
            for process in processes:
                check(2 not in os.sched_getaffinity(process.pid), 'a loop may run on the quiet CPU')
            for _ in range(ATTEMPTS):
                quiet = figures('quiet', send, inside)
                if min(ratios(busy, quiet)) >= 1:
                    break
    deviation, extreme = ratios(busy, quiet)
    note(f'busy, the standard deviation is {deviation:.1f} times that of quiet, and the maximum less '
         f'the median {extreme:.1f} times (13 and 63 on isolated CPUs of a real machine)')
    # Not none: threads of the kernel that belong to the CPU come, too, and more where it is slow.
    check(quiet[2] < busy[2] / 4, f'switched out {quiet[2]} times when quiet, {busy[2]} when busy')
    check(min(deviation, extreme) >= 1, f'worse when quiet: {deviation}, {extreme}')
