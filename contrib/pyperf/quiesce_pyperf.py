# SPDX-License-Identifier: GPL-2.0-or-later
"""A hook of pyperf (2.8 and later): each worker writes down what disturbed its values, under the names that
quiesce-result(5) has for the runs of runpinned, so that bench-report shows it and reckons with it.

pyperf enters and leaves a hook around each value, and hands it the metadata of the worker in the end: once for the
warm-ups, and once more, by a new object, for the values. What stands here is about the values, added up.
"""

import os
import time

PART = 0.01  # of the values' time: a run is flagged for what took more, as runpinned does
STATUS = {'voluntary_ctxt_switches': 'voluntary_switches', 'nonvoluntary_ctxt_switches': 'involuntary_switches'}


def read(path):
    try:
        with open(path, encoding='ascii', errors='replace') as file:
            return file.read()
    except OSError:
        return ''


def interrupts_of_devices(table, cpus):
    """Those lines of /proc/interrupts that begin with a number; the others are the kernel's own."""
    lines = table.splitlines()
    columns = [i for i, name in enumerate(lines[0].split()) if int(name[3:]) in cpus]
    rows = [line.split() for line in lines[1:]]
    return sum(int(row[1 + i]) for row in rows if row and row[0][:-1].isdigit() for i in columns)


def quota_folders():
    """The cgroup of the process and all above it, any of which may have a quota."""
    folders = set()
    for line in read('/proc/self/cgroup').splitlines():
        number, controllers, path = line.split(':', 2)
        if number == '0':
            tops = '/sys/fs/cgroup', '/sys/fs/cgroup/unified'
        elif 'cpu' in controllers.split(','):
            tops = '/sys/fs/cgroup/' + controllers, '/sys/fs/cgroup/cpu'
        else:
            continue
        parts = [part for part in path.split('/') if part]
        folders.update(os.path.realpath('/'.join([top, *parts[:n]])) for top in tops for n in range(len(parts) + 1))
    return sorted(folders)


def throttled(folders):
    """Seconds: usec of cgroup v2, ns of v1."""
    rows = [row.split() for folder in folders for row in read(folder + '/cpu.stat').splitlines()]
    return sum(int(row[1]) / {'throttled_usec': 1e6, 'throttled_time': 1e9}[row[0]] for row in rows
               if row and row[0] in ('throttled_usec', 'throttled_time'))


class Evidence:
    """What is not known here has no metadata: absent is not zero."""

    def __init__(self):
        self.cpus = os.sched_getaffinity(0)
        self.folders = quota_folders()
        self.before = {}
        self.sums = {}

    def now(self):
        table = read('/proc/interrupts')
        facts = {'irq_device': interrupts_of_devices(table, self.cpus)} if table else {}
        words = read('/proc/thread-self/schedstat').split()
        if len(words) > 1:
            facts['run_delay'] = int(words[1]) / 1e9
        if self.folders:
            facts['quota_throttled'] = throttled(self.folders)
        for line in read('/proc/self/status').splitlines():
            name, _, value = line.partition(':')
            if name in STATUS:
                facts[STATUS[name]] = int(value)
        return facts

    def __enter__(self):
        self.before = self.now()
        self.before['window_user'] = time.perf_counter()
        return self

    def __exit__(self, *_):
        end = time.perf_counter()
        after = {**self.now(), 'window_user': end}
        for name in after.keys() & self.before.keys():
            self.sums[name] = self.sums.get(name, 0) + after[name] - self.before[name]

    def teardown(self, metadata):
        for name, value in self.sums.items():
            metadata['quiesce_' + name] = value
        if 'run_delay' not in self.sums:
            return  # Whether it waited is not known: there are no flags, which is not the flag 'none'.
        least = PART * self.sums.get('window_user', 0)
        waited, stopped = self.sums['run_delay'], self.sums.get('quota_throttled', 0)
        flags = [flag for flag, is_set in (('preempted', waited - stopped >= least > 0), ('quota', stopped >= least > 0),
                                           ('irq', self.sums.get('irq_device', 0) > 0)) if is_set]
        metadata['quiesce_flags'] = ','.join(flags) or 'none'
