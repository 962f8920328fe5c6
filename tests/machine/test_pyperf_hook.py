#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/pyperf, the hook of pyperf, on described files of /proc and /sys, and what bench-report makes of its evidence. The
real pyperf calls it in test_real_harnesses.py.
"""

import json
import pathlib
import sys
import tempfile

import machine
from machine import check, equal

sys.dont_write_bytecode = True
FOLDER = machine.HERE.parents[1] / 'contrib' / 'pyperf'
sys.path.insert(0, str(FOLDER))
import quiesce_pyperf  # noqa: E402  pylint: disable=wrong-import-position,import-error

INTERRUPTS = '''           CPU0       CPU1       CPU3
  1:         10         {}        100   IO-APIC   1-edge      i8042
 38:          0          7          0   PCI-MSI   virtio2-input.0
LOC:        999        999        999   Local timer interrupts
ERR:          0
'''


class Kernel:
    """Files whose contents a test moves on."""

    def __init__(self, folders=('/sys/fs/cgroup', '/sys/fs/cgroup/a')):
        self.interrupts, self.delay_ns, self.switches = 5, 1000, 3
        self.usec = dict.fromkeys(folders, 100)
        self.absent = set()

    def read(self, path):
        if path in self.absent:
            return ''
        if path.endswith('/cpu.stat'):
            folder = path.removesuffix('/cpu.stat')
            return f'usage_usec 9\nthrottled_usec {self.usec[folder]}\n' if folder in self.usec else ''
        return {'/proc/interrupts': INTERRUPTS.format(self.interrupts),
                '/proc/thread-self/schedstat': f'500 {self.delay_ns} 7\n',
                '/proc/self/cgroup': '0::/a\n',
                '/proc/self/status': 'Name:\tx\nvoluntary_ctxt_switches:\t1\n'
                                     f'nonvoluntary_ctxt_switches:\t{self.switches}\n'}.get(path, '')


class Clock:
    def __init__(self):
        self.seconds = 0.0

    def perf_counter(self):
        return self.seconds


def measure(kernel, change, n=2, seconds=1.0):
    """The metadata of a worker of n values, during each of which the kernel's files change."""
    clock = Clock()
    originals = quiesce_pyperf.read, quiesce_pyperf.time
    quiesce_pyperf.read, quiesce_pyperf.time = kernel.read, clock
    try:
        hook = quiesce_pyperf.Evidence()
        hook.cpus = {1}
        for _ in range(n):
            with hook:
                clock.seconds += seconds
                change(kernel)
            clock.seconds += 5  # between two values, which nobody asks about
            kernel.delay_ns += 10**9
        metadata = {'name': 'x'}
        hook.teardown(metadata)
        return metadata
    finally:
        quiesce_pyperf.read, quiesce_pyperf.time = originals


def test_sums():
    def change(kernel):
        kernel.interrupts += 2
        kernel.delay_ns += 5 * 10**8
        kernel.switches += 4
    found = {name: round(value, 9) if isinstance(value, float) else value
             for name, value in measure(Kernel(), change).items()}
    equal(found, {'name': 'x', 'quiesce_irq_device': 4, 'quiesce_run_delay': 1.0, 'quiesce_quota_throttled': 0.0,
                  'quiesce_voluntary_switches': 0, 'quiesce_involuntary_switches': 8, 'quiesce_window_user': 2.0,
                  'quiesce_flags': 'preempted,irq'}, 'metadata')


def test_nothing():
    equal(measure(Kernel(), lambda kernel: None)['quiesce_flags'], 'none', 'a quiet machine')


def test_quota():
    """Of all cgroups above: what it stopped is not called preempted as well."""
    def change(kernel):
        kernel.usec['/sys/fs/cgroup'] += 300000
        kernel.delay_ns += 3 * 10**8
    found = measure(Kernel(), change)
    equal(round(found['quiesce_quota_throttled'], 9), 0.6, 'seconds')
    equal(found['quiesce_flags'], 'quota', 'flags')
    # cgroup v1 has nanoseconds.
    read = {'/c/cpu.stat': 'nr_throttled 2\nthrottled_time 2500000000\n'}
    original = quiesce_pyperf.read
    quiesce_pyperf.read = lambda path: read.get(path, '')
    equal(quiesce_pyperf.throttled(['/c', '/none']), 2.5, 'cgroup v1')
    quiesce_pyperf.read = original


def test_unknown():
    """What cannot be read is absent, and is not zero."""
    kernel = Kernel()
    kernel.absent = {'/proc/interrupts', '/proc/thread-self/schedstat', '/proc/self/cgroup', '/proc/self/status'}
    equal(measure(kernel, lambda _: None), {'name': 'x', 'quiesce_window_user': 2.0}, 'metadata')


def test_entry_point():
    """pyperf finds it by the folder beside the module."""
    import importlib.metadata  # pylint: disable=import-outside-toplevel
    found = [point for each in importlib.metadata.distributions(path=[str(FOLDER)]) for point in each.entry_points]
    equal([(point.group, point.name) for point in found], [('pyperf.hook', 'quiesce')], 'entry points')
    check(found[0].load() is quiesce_pyperf.Evidence, found)


def test_bench_report():
    def change(kernel):
        kernel.delay_ns += 3 * 10**8
    runs = [{'values': [0.5 + 0.001 * i], 'metadata': {key: value for key, value in measure(Kernel(), change, n=1).items()
                                                       if key != 'name'}} for i in range(8)]
    with tempfile.TemporaryDirectory(prefix='pyperf-hook.') as scratch:
        path = pathlib.Path(scratch) / 'x.json'
        path.write_text(json.dumps({'version': '1.0', 'metadata': {'name': 'x', 'unit': 'second', 'loops': 1},
                                    'benchmarks': [{'runs': runs}]}), encoding='utf-8')
        shown = machine.bench_report('show', path)
    check('8 of 8 runs lost' in shown and 'preempted 8' in shown, shown)


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
