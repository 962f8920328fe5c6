# SPDX-License-Identifier: GPL-2.0-or-later
"""What the knobs of noise-off do on this kernel: the effect, not the file. What has none here says so."""

import contextlib
import ctypes
import glob
import mmap
import os
import re
import struct
import subprocess
import sys
import time

from lab import RELEASE, START, Skip, call, check, equal, knobs, note, read, succeed, turned, write

TRACE = '/sys/kernel/tracing'
SPIN = 'import time\nend=time.monotonic()+%d\nwhile time.monotonic()<end: pass'
QUIET = '2'


def tell(knob, without, with_it, unit):
    """A row of the table: knob x kernel."""
    note(f'effect: {knob} on {os.uname().release}: {without} {unit} without, {with_it} with')


@contextlib.contextmanager
def traced(*events):
    """Runs its block while these events are recorded. Yields a function that returns their lines on a
    CPU."""
    instance = f'{TRACE}/instances/effects'
    os.makedirs(instance, exist_ok=True)
    try:
        write(f'{instance}/buffer_size_kb', '4096')
        for event in events:
            write(f'{instance}/events/{event}/enable', '1')
        yield lambda cpu: [line for line in (read(f'{instance}/per_cpu/cpu{cpu}/trace') or '').splitlines()
                           if not line.startswith('#')]
    finally:
        for event in events:
            write(f'{instance}/events/{event}/enable', '0')
        os.rmdir(instance)


def seen(pattern, work, *events):
    """How many recorded lines of the quiet CPU match while the work is done."""
    with traced(*events) as lines:
        work()
        return sum(bool(re.search(pattern, line)) for line in lines(QUIET))


@contextlib.contextmanager
def busy(cpu=QUIET):
    with subprocess.Popen(['taskset', '-c', cpu, sys.executable, '-c', SPIN % 1000]) as process:
        try:
            yield
        finally:
            process.kill()


def compare(knob, count, unit, left=0):
    """Counts without the knob and with it: it must make an end to what there was, but for the part that is `left`."""
    without = count()
    with turned('noise-off', '-c', QUIET, '--only', knob):
        with_it = count()
    tell(knob, without, with_it, unit)
    check(without > 0, f'{knob}: there is nothing that it could end')
    check(with_it <= left * without, f'{knob}: {unit}: {without} without it, {with_it} with it')


def write_much():
    for _ in range(4):
        subprocess.run(['taskset', '-c', '0', 'dd', 'if=/dev/zero', 'of=/var/tmp/effects', 'bs=1M', 'count=16',
                        'conv=fsync'], stderr=subprocess.DEVNULL, check=True)
    os.unlink('/var/tmp/effects')


def test_workqueue():
    """Work that is bound to no CPU."""
    def count():
        # The quiet CPU alone has nothing to do.
        with busy('0'), busy('1'), busy('3'):
            return seen(r'next_comm=kworker/u', write_much, 'sched/sched_switch')
    # The workers of the pools from before wake up once more, to end.
    compare('workqueue,writeback', count, 'runs of kworker/u on the quiet CPU', 0.1)


def test_watchdogs():
    def count():
        return seen('function=watchdog_timer_fn', lambda: time.sleep(13), 'timer/hrtimer_expire_entry')
    compare('watchdog_cpumask', count, 'checks of the watchdog in 13 s')
    compare('soft_watchdog', count, 'checks of the watchdog in 13 s')


def test_stat_interval():
    def count():
        # The present interval ends first.
        time.sleep(3)
        with busy():
            return seen('function=vmstat_update|function vmstat_update', lambda: time.sleep(10),
                        'workqueue/workqueue_execute_start')
    compare('stat_interval', count, 'gatherings of statistics in 10 s')


def test_ksm():
    path = '/sys/kernel/mm/ksm'
    if not os.path.exists(path):
        raise Skip('this kernel has no KSM')
    was = read(f'{path}/run'), read(f'{path}/sleep_millisecs')
    write(f'{path}/sleep_millisecs', '20')
    write(f'{path}/run', '1')
    code = 'import mmap,time\nm=mmap.mmap(-1,4<<20,flags=34)\nm.madvise(12)\nm.write(bytes(4<<20))\ntime.sleep(1000)'
    mergeable = subprocess.Popen([sys.executable, '-c', code])
    try:
        def count():
            began = int(read(f'{path}/full_scans'))
            time.sleep(6)
            return int(read(f'{path}/full_scans')) - began
        compare('ksm', count, 'scans in 6 s')
    finally:
        mergeable.kill()
        mergeable.wait()
        write(f'{path}/run', was[0])
        write(f'{path}/sleep_millisecs', was[1])


def test_thp():
    path = '/sys/kernel/mm/transparent_hugepage/enabled'
    was = re.search(r'\[(\w+)\]', read(path)).group(1)
    write(path, 'always')
    code = ('import mmap,re\nm=mmap.mmap(-1,32<<20,flags=34)\nfor i in range(0,32<<20,4096): m[i]=1\n'
            'print(sum(int(n) for n in re.findall(r"AnonHugePages:\\s+(\\d+)",open("/proc/self/smaps").read())))')
    try:
        compare('thp', lambda: int(succeed(sys.executable, '-c', code)), 'KiB in huge pages')
    finally:
        write(path, was)


def test_aslr():
    def count():
        return len({re.search(r'(\w+)-\w+ .*\[stack\]', succeed('cat', '/proc/self/maps')).group(1)
                    for _ in range(4)}) - 1
    compare('aslr', count, 'other layouts in 4 runs')


def test_swap():
    succeed('sh', '-c', 'dd if=/dev/zero of=/var/tmp/swap bs=1M count=8 2>/dev/null && chmod 600 /var/tmp/swap && '
            'mkswap -q /var/tmp/swap && swapon /var/tmp/swap')
    try:
        compare('swap', lambda: len(read('/proc/swaps').splitlines()) - 1, 'swap areas')
    finally:
        call('swapoff', '/var/tmp/swap')
        os.unlink('/var/tmp/swap')


# --- Profilers ---

class Profiler:
    """An event that samples the clock of the quiet CPU, by a frequency or a period."""

    def __init__(self, frequency=None, period_ns=None):
        attr = struct.pack('IIQQQQQ', 1, 128, 0, frequency or period_ns, 1, 0, 1 << 10 if frequency else 0)
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.syscall(298, attr.ljust(128, b'\0'), -1, int(QUIET), -1, 8)
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), 'perf_event_open')
        self.ring = mmap.mmap(self.fd, 257 * 4096)

    def samples(self, seconds):
        """How many a second."""
        began = struct.unpack_from('Q', self.ring, 1024)[0]
        time.sleep(seconds)
        end = struct.unpack_from('Q', self.ring, 1024)[0]
        size = 1 << 20
        at, n = began, 0
        while at < end:
            # Records and the ring are multiples of 8 bytes, so that no header wraps.
            kind, _, length = struct.unpack_from('IHH', self.ring, 4096 + at % size)
            n += kind == 9  # PERF_RECORD_SAMPLE
            at += length
        struct.pack_into('Q', self.ring, 1032, end)
        return n / seconds

    def close(self):
        self.ring.close()
        os.close(self.fd)


def test_profilers():
    """A frequency is limited to one sample a second; who has a period, or runs already, to one a tick."""
    row = knobs('noise-off', 'status', '-c', QUIET)['perf_sample_rate', None]
    check('a tick' in row['why'], row)
    with busy(), contextlib.closing(Profiler(period_ns=500000)) as free:
        without = free.samples(5)
        with turned('noise-off', '-c', QUIET, '--only', 'perf_cpu_percent,perf_sample_rate'):
            with_it = free.samples(5)
            try:
                Profiler(frequency=1000).close()
                refused = False
            except OSError:
                refused = True
    tell('perf_sample_rate', f'{without:.0f}', f'{with_it:.0f}', 'samples a second with a period of 0.5 ms')
    check(refused, 'a profiler got a frequency above the limit')
    # Fewer than one a tick (250 a second), where there may be two thousand.
    check(with_it < without, (without, with_it))


# --- Timers, and real time ---

def test_timer_migration():
    """From 6.9 on the knob holds for few timers, and says so. How many timers come is noted: too few of
    them are armed by idle CPUs here to judge by."""
    def count():
        with busy():
            return seen('timer_expire_entry', lambda: time.sleep(15), 'timer/timer_expire_entry')
    without = count()
    with turned('noise-off', '-c', QUIET, '--only', 'timer_migration'):
        with_it = count()
        row = knobs('noise-off', 'status', '-c', QUIET)['timer_migration', None]
    tell('timer_migration', without, with_it, 'timers on the quiet CPU in 15 s')
    if RELEASE >= (6, 9):
        check(row['why'] and 'idle CPUs' in row['why'], row)
    else:
        equal(row['why'], None, 'why')


def cputime(pid):
    return int(read(f'/proc/{pid}/schedstat').split()[0]) / 1e9


def share():
    """The part of the quiet CPU, in per cent, that an ordinary program gets beside a real-time one."""
    words = ['taskset', '-c', QUIET]
    with subprocess.Popen([*words, 'chrt', '-f', '10', sys.executable, '-c', SPIN % 1000]) as first, \
            subprocess.Popen([*words, sys.executable, '-c', SPIN % 1000]) as second:
        try:
            time.sleep(4)
            began, before = time.monotonic(), cputime(second.pid)
            time.sleep(6)
            return (cputime(second.pid) - before) / (time.monotonic() - began) * 100
        finally:
            first.kill()
            second.kill()


def test_rt_runtime():
    """Up to 6.11 by the limit of real-time programs, and from 6.12 on by the server of others."""
    without = share()
    done = call('noise-off', '-c', QUIET, '--only', 'rt_runtime')
    if 'denied' in done.stdout:
        # As 6.12 does, whose own account of the servers is wrong then, which it warns of.
        tell('rt_runtime', f'{without:.2f}', 'denied', '% for an ordinary program')
        warned = [line for line in call('dmesg').stdout.splitlines() if 'WARNING:' in line]
        for line in warned[:3]:
            note(line)
        if warned and RELEASE < (7, 0):
            check(all('deadline' in line for line in warned), warned)
            START[-1].note_tainted()
        check(RELEASE >= (6, 12) and 'busy' in done.stdout, done.stdout)
        succeed('noise-off', 'restore')
        return
    with turned('noise-off', '-c', QUIET, '--only', 'rt_runtime'):
        with_it = share()
        paths = {row['path'] for row in knobs('noise-off', 'status', '-c', QUIET).values()
                 if row['knob'] == 'rt_runtime'}
    tell('rt_runtime', f'{without:.2f}', f'{with_it:.2f}', '% for an ordinary program')
    check(without > 1 and with_it < 0.5, (without, with_it))
    equal('fair_server' in ' '.join(paths), RELEASE >= (6, 12), f'which knob: {paths}')


# --- Packets ---

def test_receive_packet_steering():
    """irq-steer: packets between programs on another CPU are not handed to the quiet one."""
    path = '/sys/class/net/lo/queues/rx-0/rps_cpus'
    succeed('busybox', 'ip', 'link', 'set', 'lo', 'up')
    was = read(path)
    write(path, 'f')
    code = ('import socket\ns=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\ns.bind(("127.0.0.1",0))\n'
            'cs=[socket.socket(socket.AF_INET,socket.SOCK_DGRAM) for _ in range(16)]\n'
            'for i in range(2000):\n cs[i%16].sendto(b"x",s.getsockname());s.recv(9)\n')

    def count():
        def packets():
            return int(re.search(r'NET_RX:(.*)', read('/proc/softirqs')).group(1).split()[int(QUIET)])
        before = packets()
        succeed('taskset', '-c', '0', sys.executable, '-c', code)
        return packets() - before
    try:
        without = count()
        with turned('irq-steer', '-c', QUIET):
            equal(int(read(path), 16) & 4, 0, 'the mask')
            with_it = count()
        tell('irq-steer, RPS', without, with_it, 'NET_RX of 2000 datagrams')
        equal(int(read(path), 16), 15, 'the mask afterwards')
        # Some other packet may come.
        check(without > 100 and with_it < without / 10, (without, with_it))
    finally:
        write(path, was)


def test_no_such_knob_here():
    """A machine without the hardware: the word says so, and nothing more."""
    rows = {row['knob']: row for row in knobs('noise-off', 'status', '-c', QUIET).values()}
    for name, there in (('pm_qos', glob.glob('/sys/devices/system/cpu/cpu2/cpuidle/state*')),
                        ('numa_balancing', len(glob.glob('/sys/devices/system/node/node*')) > 1)):
        note(f'effect: {name} on {os.uname().release}: {rows[name]["state"]}')
        if not there:
            check(rows[name]['state'] in ('unavailable', 'host-controlled', 'already', None), rows[name])
