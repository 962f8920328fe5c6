# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests that move real threads: namespaces, in which /proc shows the processes of the test alone;
system calls that fail; and what shows where all threads may run."""

import ctypes
import glob
import os
import pathlib
import platform
import struct
import subprocess
import sys

from machine import Skip, skip_all, words_alone

INSIDE = 'QUIESCE_TEST_INSIDE'
NUMBERS = {'x86_64': {'perf_event_open': 298, 'sched_setaffinity': 203, 'personality': 135,
                      'setpriority': 141, 'sched_setscheduler': 144, 'fsync': 74, 'memfd_create': 319},
           'aarch64': {'perf_event_open': 241, 'sched_setaffinity': 122, 'personality': 92,
                       'setpriority': 140, 'sched_setscheduler': 119, 'fsync': 82, 'memfd_create': 279}}


def enter(name):
    """Goes on in namespaces of its own; without them the tests are skipped. An ordinary user is root
    there."""
    if INSIDE in os.environ:
        return
    command, is_root = words_alone(as_root=True), os.geteuid() == 0
    if subprocess.run([*command, 'true'], capture_output=True, check=False).returncode != 0:
        skip_all(name, 'no namespaces here')
    os.environ[INSIDE] = 'root' if is_root else 'user'
    os.execvp(command[0], [*command, sys.executable, *sys.argv])


def is_real_root():
    """Whether this process, which has entered, was root before."""
    return os.environ[INSIDE] == 'root'


def forbid(*calls):
    """A function for a child, for which these system calls then fail with EPERM (seccomp)."""
    numbers = NUMBERS.get(platform.machine())
    if numbers is None:
        raise Skip('the numbers of system calls are not known here')
    code = [(0x20, 0, 0, 0)]
    for left, call in zip(range(len(calls), 0, -1), calls):
        code.append((0x15, left, 0, numbers[call]))
    code += [(0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, 0x00050001)]

    def apply():
        program = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *line) for line in code))
        head = struct.pack('HP', len(code), ctypes.addressof(program))
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, head) != 0:
            os._exit(99)
    return apply


def affinities():
    """{(tid, start): CPUs}, of all threads but zombies."""
    found = {}
    # Threads end meanwhile, which glob(3) takes for a folder without entries.
    for name in glob.glob('/proc/[0-9]*/task/[0-9]*'):
        task = pathlib.Path(name)
        try:
            fields = (task / 'stat').read_text().rsplit(')', 1)[1].split()
            if fields[0] not in 'ZX':
                found[int(task.name), fields[19]] = frozenset(os.sched_getaffinity(int(task.name)))
        except (OSError, IndexError):
            pass
    return found
