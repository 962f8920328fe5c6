#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What Linux does when a CPU goes offline or comes back, on the files of a described machine.

How to run it: see server.py. TEST_HOTPLUG is JSON:

    cores    lists of the CPUs of each core; the first of each is its primary thread
    width    bits of a CPU mask
    release  [6, 1] or [6, 12]: what an `off` that fails leaves behind, and which errno a managed
             interrupt answers
    busy     CPUs that refuse to go
    managed  interrupts that cannot be moved
    pinned   interrupts that cannot be moved by users, but are moved by hotplug
    kill     the CPU at whose turn to go or to come the setter is killed
    threads  what becomes of the affinities of all processes there, on real CPUs: "root", as in the
             root cpuset, "cpuset", as in another one up to 6.1, or "late", as in the root cpuset
             for those that came there while the CPU was offline; without it they are left alone
    born     whether a process is started when a CPU has gone, which may run wherever `threads` lets
             it; /run/born has its number
    virtio   whether the network cards give their queues all CPUs anew when a CPU has gone or come
    spread   interrupts that their driver then gives one online CPU each
    spreads  "own": only where the writer is a setter. What a driver makes of CPUs that others switch nobody
             can tell from a choice.
    mirrors  a policy that comes has the boost of all, as in cpufreq_online() of 6.14
    denied   whether cgroups cannot hand a controller down
    chooses  real CPUs that the process in /run/chooser chooses when a CPU has gone

What it does is from kernel/cpu.c, kernel/irq/cpuhotplug.c, kernel/irq/proc.c, kernel/cgroup/cpuset.c,
kernel/sched/core.c, drivers/base/topology.c, drivers/cpufreq/cpufreq.c, drivers/cpuidle/cpuidle-haltpoll.c,
drivers/net/virtio_net.c, and fs/resctrl/rdtgroup.c.
"""

import contextlib
import errno
import functools
import glob
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import governors
import server
from server import Refused, put, put_optional, read, read_optional

CPUS = '/sys/devices/system/cpu'
IRQS = '/proc/irq'
CPUSETS = pathlib.Path('/sys/fs/cgroup/cpuset')
RESCTRL = '/sys/fs/resctrl'
CONTROL = '/sys/fs/cgroup/cgroup.subtree_control'
UPDATED = '/run/updated'  # the CPUs that came to cpusets other than the root, which give them to their threads
REMEMBERED = pathlib.Path('/run/affinities')  # {process: CPUs} of those that have offline ones


def parse_list(text):
    cpus = set()
    for part in filter(None, text.strip().split(',')):
        first, _, last = part.partition('-')
        cpus |= set(range(int(first), int(last or first) + 1))
    return cpus


def format_list(cpus):
    """As %*pbl prints it."""
    ranges = []
    for cpu in sorted(cpus):
        if ranges and ranges[-1][1] == cpu - 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ','.join(str(a) if a == b else f'{a}-{b}' for a, b in ranges)


def parse_mask(text):
    bits = int(text.strip().replace(',', ''), 16)
    return {cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1}


class Kernel:
    def __init__(self, writer):
        self.writer = writer
        self.config = json.loads(os.environ['TEST_HOTPLUG'])
        self.cores = self.config['cores']
        self.cpus = sorted(cpu for core in self.cores for cpu in core)
        self.primary = {core[0] for core in self.cores}
        self.changed = set()  # CPUs whose going or coming the topology does not show yet

    def format_mask(self, cpus):
        bits, width = sum(1 << cpu for cpu in cpus), self.config['width']
        return ','.join(reversed([f'{bits >> shift & 0xffffffff:0{(min(32, width - shift) + 3) // 4}x}'
                                  for shift in range(0, width, 32)]))

    # --- State, which is in the files ---

    @functools.cached_property
    def online(self):
        return {cpu for cpu in self.cpus if read_optional(f'{CPUS}/cpu{cpu}/online') in (None, '1')}

    @property
    def control(self):
        return read_optional(f'{CPUS}/smt/control') or 'on'

    @control.setter
    def control(self, text):
        put_optional(f'{CPUS}/smt/control', text)

    def die_at(self, cpu):
        if self.config.get('kill') == cpu:
            self.update_topology()
            os.kill(self.writer, signal.SIGKILL)

    def set_online(self, cpu, is_online):
        put_optional(f'{CPUS}/cpu{cpu}/online', int(is_online))
        self.online = self.online | {cpu} if is_online else self.online - {cpu}
        self.changed.add(cpu)

    # --- What a CPU takes with it ---

    def update_topology(self):
        """Nobody reads the topology while a write goes on, which may concern many CPUs. It is updated when
        the write ends, or the writer is killed."""
        if not self.changed:
            return
        online = self.online
        mask, listed = self.format_mask(online), format_list(online)
        put_optional(f'{CPUS}/online', listed)
        put_optional(f'{CPUS}/offline', format_list(set(self.cpus) - online))
        for cpu in self.changed:
            there, hidden = f'{CPUS}/cpu{cpu}/topology', f'{CPUS}/cpu{cpu}/.topology'
            with contextlib.suppress(FileNotFoundError):
                os.rename(*((hidden, there) if cpu in online else (there, hidden)))
        for core in self.cores:
            siblings = set(core) & online
            for cpu in siblings:
                for name in ('core_siblings', 'package_cpus'):
                    put_optional(f'{CPUS}/cpu{cpu}/topology/{name}', mask)
                    put_optional(f'{CPUS}/cpu{cpu}/topology/{name}_list', listed)
            for cpu in siblings if self.changed & set(core) else ():
                for name in ('thread_siblings', 'core_cpus'):
                    put_optional(f'{CPUS}/cpu{cpu}/topology/{name}', self.format_mask(siblings))
                    put_optional(f'{CPUS}/cpu{cpu}/topology/{name}_list', format_list(siblings))
        active = any(len(set(core) & online) > 1 for core in self.cores)
        put_optional(f'{CPUS}/smt/active', int(active))
        self.changed.clear()

    def set_interrupt(self, irq, cpus):
        put_optional(f'{irq}/smp_affinity_list', format_list(cpus))
        put_optional(f'{irq}/smp_affinity', self.format_mask(cpus))

    def bind_threads(self):
        """Each is shown the CPUs of its affinity that are online. One without any gets all, and what
        it had is forgotten."""
        kind, online = self.config.get('threads'), self.online
        if not kind:
            return
        remembered = json.loads(REMEMBERED.read_text()) if REMEMBERED.exists() else {}
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                now = os.sched_getaffinity(int(pid))
                whole = set(remembered.get(pid, ())) | now
                if kind == 'cpuset' or not whole & online:
                    whole = set(self.cpus)
                os.sched_setaffinity(int(pid), whole & online)
                remembered[pid] = sorted(whole & online if kind == 'late' else whole)
            except OSError:
                pass  # gone
        REMEMBERED.write_text(json.dumps(remembered))

    # --- cpufreq: files that cannot be read while all CPUs of their policy are offline are hidden ---

    @staticmethod
    def policy_of(cpu):
        try:
            return os.path.basename(os.readlink(f'{CPUS}/cpu{cpu}/cpufreq'))
        except OSError:
            return None

    def leave_policy(self, cpu):
        policy = self.policy_of(cpu)
        there = f'{governors.CPUFREQ}/{policy}'
        if not policy or not os.path.isdir(there) or any(self.policy_of(other) == policy for other in self.online):
            return
        governor = read_optional(f'{there}/scaling_governor')
        os.rename(there, f'{governors.CPUFREQ}/.{policy}')
        if governor:
            governors.leave(policy, governor)

    def enter_policy(self, cpu):
        policy = self.policy_of(cpu)
        there, hidden = (f'{governors.CPUFREQ}/{dot}{policy}' for dot in ('', '.'))
        if not policy or not os.path.isdir(hidden):
            return
        os.rename(hidden, there)
        governor = read_optional(f'{there}/scaling_governor')
        if self.config.get('mirrors') and os.path.exists(f'{there}/boost'):
            put(f'{there}/boost', read(f'{governors.CPUFREQ}/boost'))
        if governor == 'userspace':
            put_optional(f'{there}/scaling_setspeed', read(f'{there}/scaling_min_freq'))
        if governor:
            governors.enter(policy, governor)

    def spread_queues(self):
        """virtio_net: virtnet_set_affinity(), whenever a CPU has gone or come."""
        for path in sorted(glob.glob('/sys/class/net/*/queues/tx-*/xps_cpus')) if self.config.get('virtio') else ():
            put(path, self.format_mask(self.online))
        online, is_own = sorted(self.online), self.writer or self.config.get('spreads') != 'own'
        for i, irq in enumerate(self.config.get('spread', ()) if is_own else ()):
            self.set_interrupt(f'{IRQS}/{irq}', {online[i % len(online)]})

    def leave(self, cpu):
        if cpu in self.config.get('busy', ()) or self.online == {cpu}:
            raise Refused(errno.EBUSY)
        self.die_at(cpu)
        self.set_online(cpu, False)
        self.leave_policy(cpu)
        if os.path.isdir(f'{CPUS}/cpu{cpu}/cpuidle') and read_optional(f'{CPUS}/cpuidle/current_driver') == 'haltpoll':
            os.rename(f'{CPUS}/cpu{cpu}/cpuidle', f'{CPUS}/cpu{cpu}/.topology-cpuidle')
        self.spread_queues()
        online = self.online
        for irq in filter(str.isdigit, os.listdir(IRQS) if os.path.isdir(IRQS) else ()):
            if int(irq) not in self.config.get('managed', ()) and \
                    not parse_list(read(f'{IRQS}/{irq}/smp_affinity_list')) & online:
                self.set_interrupt(f'{IRQS}/{irq}', online)
        for path in CPUSETS.rglob('cpuset.cpus'):
            put(path, format_list(parse_list(read(path)) & online))
        self.take_from_groups({cpu})
        self.bind_threads()
        if self.config.get('chooses'):
            os.sched_setaffinity(int(read('/run/chooser')), self.config['chooses'])
        if self.config.get('born'):
            # This process has been bound with all others. Nobody waits for its child.
            put('/run/born', subprocess.Popen(['sleep', '1000']).pid)  # pylint: disable=consider-using-with

    def enter(self, cpu):
        self.die_at(cpu)
        self.set_online(cpu, True)
        if 'cpuset' in (read_optional(CONTROL) or '').split():
            put(UPDATED, f'{read_optional(UPDATED) or ""} {cpu}')
        self.enter_policy(cpu)
        if os.path.isdir(f'{CPUS}/cpu{cpu}/.topology-cpuidle'):
            os.rename(f'{CPUS}/cpu{cpu}/.topology-cpuidle', f'{CPUS}/cpu{cpu}/cpuidle')
            for path in glob.glob(f'{CPUS}/cpu{cpu}/cpuidle/state*/disable'):
                put(path, '0')
        self.spread_queues()
        put_optional(CPUSETS / 'cpuset.cpus', format_list(self.online))
        if os.path.exists(f'{RESCTRL}/cpus_list'):
            self.give_to_group(RESCTRL, {cpu})
        self.bind_threads()

    # --- resctrl: a CPU belongs to one group, and to one of those below it that only monitor ---

    @staticmethod
    def take_from_groups(cpus, pattern='**'):
        for path in glob.glob(f'{RESCTRL}/{pattern}/cpus_list', recursive=True):
            put(path, format_list(parse_list(read(path)) - cpus))

    @staticmethod
    def give_to_group(folder, cpus):
        put(f'{folder}/cpus_list', format_list(parse_list(read(f'{folder}/cpus_list')) | cpus))

    def write_group(self, path, text):
        cpus, now, folder = parse_list(text), parse_list(read(path)), str(path.parent)
        above, is_monitor, _ = folder.partition('/mon_groups/')
        if cpus - self.online or (folder == RESCTRL and now - cpus) or \
                (is_monitor and cpus - parse_list(read(f'{above}/cpus_list'))):
            raise Refused(errno.EINVAL)
        if is_monitor:
            self.take_from_groups(cpus - now, f'{above.removeprefix(RESCTRL)}/mon_groups/*')
        else:
            self.take_from_groups(cpus - now)
            self.take_from_groups(now - cpus, f'{folder.removeprefix(RESCTRL)}/mon_groups/*')
            self.give_to_group(RESCTRL, now - cpus)
        put(path, format_list(cpus))

    # --- Writes ---

    def write_control(self, text):
        control, new = self.control, self.config['release'] >= [6, 12]
        if control in ('notsupported', 'notimplemented'):
            raise Refused(errno.ENODEV)
        if control == 'forceoff':
            raise Refused(errno.EPERM)
        if text == 'off':
            if control in ('off', '1'):
                return
            for cpu in sorted(self.online - self.primary):
                try:
                    self.leave(cpu)
                except Refused:
                    if new:
                        self.control = '1'
                    raise
            self.control = 'off'
        elif text == 'on':
            if control == 'on':
                return
            self.control = 'on'
            for cpu in sorted(set(self.cpus) - self.online):
                self.enter(cpu)
        else:
            raise Refused(errno.EINVAL)

    def write_online(self, cpu, text):
        if text == '0' and cpu in self.online:
            self.leave(cpu)
        elif text == '1' and cpu not in self.online:
            if self.control in ('off', 'forceoff') and cpu not in self.primary:
                raise Refused(errno.EPERM)
            self.enter(cpu)

    def write_interrupt(self, irq, text):
        if int(irq.name) in self.config.get('managed', []) + self.config.get('pinned', []):
            raise Refused(errno.EPERM if self.config['release'] >= [6, 12] else errno.EIO)
        cpus = parse_list(text)
        if not cpus & self.online:
            raise Refused(errno.EINVAL)
        self.set_interrupt(irq, cpus)

    def write_cpuset(self, path, text):
        cpus, parent = parse_list(text), path.parent.parent / path.name
        if path.parent == CPUSETS or not cpus <= parse_list(read(parent)):
            raise Refused(errno.EACCES)
        put(path, format_list(cpus & self.online))

    def write(self, path, text):
        cpu = re.fullmatch(rf'{CPUS}/cpu(\d+)/online', str(path))
        if str(path) == f'{CPUS}/smt/control':
            self.write_control(text)
        elif cpu:
            self.write_online(int(cpu.group(1)), text)
        elif path.name == 'smp_affinity_list':
            self.write_interrupt(path.parent, text)
        elif path.name == 'cpuset.cpus':
            self.write_cpuset(path, text)
        elif path.name == 'cpus_list':
            self.write_group(path, text)
        elif path.name in ('default_smp_affinity', 'xps_cpus'):
            put(path, self.format_mask(parse_mask(text)))
        elif str(path) == CONTROL:
            if self.config.get('denied'):
                raise Refused(errno.EBUSY)
            words = set(read(path).split())
            put(path, ' '.join(sorted(words | {text[1:]} if text[0] == '+' else words - {text[1:]})))
        elif path.name in ('boost', 'disable'):
            put(path, text)
        elif path.name == 'scaling_setspeed' and read(path.parent / 'scaling_governor') == 'userspace':
            put(path, text)
        elif not governors.write(str(path), text):
            raise Refused(errno.EINVAL)


def write(path, text, _call, writer):
    kernel = Kernel(writer)
    try:
        kernel.write(path, text)
    finally:
        kernel.update_topology()


if __name__ == '__main__':
    sys.exit(server.main(write))
