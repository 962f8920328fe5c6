#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What Linux does with cpusets of cgroup v2, or of v1, on the files of a described machine.

How to run it: see server.py; the calls are mkdir and rmdir, and

    cgroups.py make

makes the files of a machine that was booted just now. TEST_CGROUPS is JSON:

    online   CPUs, as a list
    cgroups  those that are there, right below the root
    refuses  words of cpuset.cpus.partition that this kernel does not know
    hides    files that this kernel does not have
    shares   as in 7.2, a partition may have CPUs that others may use: only partitions must be
             exclusive to each other
    stays    as up to 6.1, a partition that is invalid remains so until it is made a member
    reserved CPUs of which one must stay outside of partitions (housekeeping, from 6.12 on)
    forgets  as up to 6.1, every change of a cpuset resets the affinity of all its processes: really,
             of those that can be seen, so that it must run in a namespace of its own
    version  1 for cgroup v1, whose `cgroups` are {name: CPUs}, and in whose root is process 1
    stuck    v1: a process that cannot be moved, as one with a deadline

What it does is from kernel/cgroup/cgroup.c, kernel/cgroup/cgroup-v1.c and kernel/cgroup/cpuset.c.
"""

import errno
import glob
import json
import os
import sys

import server
from hotplug import format_list, parse_list
from server import Refused, put, read, read_optional

# Paths are texts, see server.py.
ROOT = '/sys/fs/cgroup'
REASONS = {
    'empty': 'cpuset.cpus is empty',
    'exclusive': 'Cpu list in cpuset.cpus not exclusive',
    'none': 'Parent unable to distribute cpu downstream',
    'reserved': 'partition config conflicts with housekeeping setup',
}


def cpus_of(path):
    return parse_list(read_optional(path) or '')


class Tree:
    """cgroup v2."""

    def __init__(self, config, root):
        self.config = config
        self.root = root
        self.online = parse_list(config['online'])

    def children(self, folder):
        return sorted(entry.path for entry in os.scandir(folder) if entry.is_dir())

    def bind(self, tid, cpus):
        """The scheduler's part, on real CPUs."""
        if self.config.get('forgets') and cpus:
            try:
                os.sched_setaffinity(int(tid), cpus)
            except OSError:
                pass  # gone

    def members(self, path):
        return read(f'{path}/cgroup.procs').split()

    def has_cpusets(self):
        return 'cpuset' in read(f'{self.root}/cgroup.subtree_control').split()

    def make(self):
        os.makedirs(self.root, exist_ok=True)
        put(f'{self.root}/cgroup.controllers', 'cpuset cpu io memory pids')
        put(f'{self.root}/cgroup.subtree_control', 'memory pids')
        put(f'{self.root}/cgroup.procs', '')
        put(f'{self.root}/cpuset.cpus.effective', format_list(self.online))
        for name in self.config.get('cgroups', ()):
            self.mkdir(f'{self.root}/{name}')

    def mkdir(self, path):
        if os.path.exists(path):
            raise Refused(errno.EEXIST)
        os.mkdir(path)
        for name, text in (('cgroup.type', 'domain'), ('cgroup.procs', ''),
                           ('cgroup.subtree_control', ''), ('cgroup.controllers', 'memory pids'),
                           ('cgroup.events', 'populated 0\nfrozen 0')):
            put(f'{path}/{name}', text)
        if self.has_cpusets():
            self.add_cpuset(path)

    def rmdir(self, path):
        if self.children(path) or self.members(path):
            raise Refused(errno.EBUSY)
        for entry in os.scandir(path):
            os.unlink(entry)
        os.rmdir(path)
        self.settle()

    def add_cpuset(self, path):
        put(f'{path}/cpuset.cpus', '')
        put(f'{path}/cpuset.cpus.effective', '')
        if 'cpuset.cpus.partition' not in self.config.get('hides', ()):
            put(f'{path}/cpuset.cpus.partition', 'member')
        if 'cpuset.cpus.exclusive' not in self.config.get('hides', ()):
            put(f'{path}/cpuset.cpus.exclusive', '')
        self.settle()

    def claim(self, path):
        return cpus_of(f'{path}/cpuset.cpus.exclusive')

    def wish(self, path):
        return self.claim(path) or cpus_of(f'{path}/cpuset.cpus')

    def others(self, path):
        return [other for other in self.children(self.root) if other != path]

    def is_partition(self, path):
        return read_optional(f'{path}/cpuset.cpus.partition') in ('isolated', 'root')

    def why_not(self, path, claimed):
        """What keeps it from being a partition; None for nothing. One that has claimed its CPUs for
        itself, and is one, need not mind who else may use them."""
        wish, online = self.wish(path), self.online
        if not wish:
            return REASONS['empty']
        if not claimed and any(wish & self.wish(other) for other in self.others(path)
                               if not self.config.get('shares') or self.is_partition(other)):
            return REASONS['exclusive']
        if online <= wish:
            return REASONS['none']
        reserved = parse_list(self.config.get('reserved', ''))
        if reserved and reserved <= wish:
            return REASONS['reserved']
        return None

    def settle(self):
        """Judges the partitions, and gives each cgroup its CPUs."""
        taken = set()
        groups = [path for path in self.children(self.root)
                  if os.path.exists(f'{path}/cpuset.cpus.partition')]
        for path in groups:
            kind, *invalid = read(f'{path}/cpuset.cpus.partition').split()
            if kind == 'member' or (invalid and self.config.get('stays')):
                continue
            reason = self.why_not(path, self.is_partition(path) and self.claim(path))
            put(f'{path}/cpuset.cpus.partition', f'{kind} invalid ({reason})' if reason else kind)
            if not reason:
                put(f'{path}/cpuset.cpus.effective', format_list(self.wish(path) & self.online))
                taken |= self.wish(path)
        rest = self.online - taken
        for path in groups:
            if read(f'{path}/cpuset.cpus.partition') not in ('isolated', 'root'):
                put(f'{path}/cpuset.cpus.effective',
                    format_list((self.wish(path) & rest) or rest))
        put(f'{self.root}/cpuset.cpus.effective', format_list(rest))
        if self.config.get('forgets'):
            inside = {tid for path in groups for tid in self.members(path)}
            for process in os.listdir('/proc'):
                if process.isdigit() and process not in inside:
                    self.bind(process, rest)

    def write_control(self, text):
        control = read(f'{self.root}/cgroup.subtree_control').split()
        if text == '+cpuset' and 'cpuset' not in control:
            put(f'{self.root}/cgroup.subtree_control', ' '.join(['cpuset', *control]))
            for path in self.children(self.root):
                self.add_cpuset(path)
            self.settle()
        elif text == '-cpuset' and 'cpuset' in control:
            for path in self.children(self.root):
                if 'cpuset' in read(f'{path}/cgroup.subtree_control').split():
                    raise Refused(errno.EBUSY)
            control.remove('cpuset')
            put(f'{self.root}/cgroup.subtree_control', ' '.join(control))
            for path in self.children(self.root):
                for file in glob.glob(f'{path}/cpuset.*'):
                    os.unlink(file)
            self.settle()
        elif text not in ('+cpuset', '-cpuset'):
            raise Refused(errno.EINVAL)

    def write_claim(self, path, cpus):
        """One that is no partition for want of CPUs of its own becomes one, seen with 6.12."""
        group = os.path.dirname(path)
        file = f'{group}/cpuset.cpus.partition'
        if cpus == self.claim(group):
            return
        for other in self.others(group):
            theirs = cpus_of(f'{other}/cpuset.cpus')
            if cpus & self.claim(other) or (theirs and theirs <= cpus):
                raise Refused(errno.EINVAL)
        put(path, format_list(cpus))
        if cpus and 'not exclusive' in read(file):
            put(file, read(file).split()[0])
        self.settle()

    def write(self, path, text):
        name = os.path.basename(path)
        if path == f'{self.root}/cgroup.subtree_control':
            self.write_control(text)
        elif name == 'cpuset.cpus':
            put(path, format_list(parse_list(text)))
            self.settle()
        elif name == 'cpuset.cpus.exclusive':
            self.write_claim(path, parse_list(text))
        elif name == 'cpuset.cpus.partition':
            if text not in ('member', 'root', 'isolated') or text in self.config.get('refuses', ()):
                raise Refused(errno.EINVAL)
            before = read(path)
            if before == text:
                return
            if 'invalid' in before and text != 'member' and self.config.get('stays'):
                put(path, f'{text} invalid')
                return
            reason = None if text == 'member' else self.why_not(os.path.dirname(path), False)
            put(path, f'{text} invalid ({reason})' if reason else text)
            self.settle()
        elif name == 'cgroup.procs':
            put(path, f'{read(path)}\n{text}'.lstrip())
            put(f'{os.path.dirname(path)}/cgroup.events', 'populated 1\nfrozen 0')
            self.bind(text, cpus_of(f'{os.path.dirname(path)}/cpuset.cpus.effective'))
        else:
            raise Refused(errno.EINVAL)


class OldTree:
    """The hierarchy of cpusets of cgroup v1."""

    def __init__(self, config, root):
        self.config = config
        self.root = root

    def make(self):
        self.add(self.root, self.config['online'], '0', 1)
        put(f'{self.root}/release_agent', '')
        put(f'{self.root}/tasks', '1')
        for name, cpus in self.config.get('cgroups', {}).items():
            self.add(f'{self.root}/{name}', cpus, '0', 0)

    def add(self, path, cpus, mems, exclusive):
        os.makedirs(path)
        for name, text in (('cpuset.cpus', cpus), ('cpuset.mems', mems),
                           ('cpuset.cpu_exclusive', exclusive), ('tasks', ''), ('cgroup.procs', '')):
            put(f'{path}/{name}', text)

    def children(self, folder):
        return sorted(entry.path for entry in os.scandir(folder) if entry.is_dir())

    def all(self):
        return [self.root, *(path for path, folders, files in os.walk(self.root) if path != self.root)]

    def mkdir(self, path):
        if os.path.exists(path):
            raise Refused(errno.EEXIST)
        self.add(path, '', '', 0)

    def rmdir(self, path):
        if self.children(path) or any(os.path.exists(f'/proc/{tid}') for tid in self.members(path)):
            raise Refused(errno.EBUSY)
        for entry in os.scandir(path):
            os.unlink(entry)
        os.rmdir(path)

    def members(self, path):
        return read(f'{path}/tasks').split()

    def judge(self, path, cpus, exclusive):
        """validate_change()"""
        parent = os.path.dirname(path)
        if not cpus <= cpus_of(f'{parent}/cpuset.cpus'):
            raise Refused(errno.EACCES)
        for other in self.children(parent):
            if other != path and cpus & cpus_of(f'{other}/cpuset.cpus') and (
                    exclusive or read(f'{other}/cpuset.cpu_exclusive') == '1'):
                raise Refused(errno.EINVAL)
        if not cpus and self.members(path):
            raise Refused(errno.ENOSPC)

    def move(self, path, tid):
        if tid == self.config.get('stuck'):
            raise Refused(errno.EBUSY)
        if not read(f'{path}/cpuset.cpus') or not read(f'{path}/cpuset.mems'):
            raise Refused(errno.ENOSPC)
        if not os.path.exists(f'/proc/{tid}'):
            raise Refused(errno.ESRCH)
        for other in self.all():
            members = self.members(other)
            if (tid in members) != (other == path):
                members = [*members, tid] if other == path else [one for one in members if one != tid]
                put(f'{other}/tasks', '\n'.join(members))

    def write(self, path, text):
        folder, name = os.path.split(path)
        if name == 'cpuset.cpus':
            self.judge(folder, parse_list(text), read(f'{folder}/cpuset.cpu_exclusive') == '1')
            put(path, format_list(parse_list(text)))
        elif name == 'cpuset.cpu_exclusive':
            self.judge(folder, cpus_of(f'{folder}/cpuset.cpus'), text == '1')
            put(path, text)
        elif name == 'cpuset.mems':
            put(path, text)
        elif name in ('tasks', 'cgroup.procs'):
            self.move(folder, text)
        else:
            raise Refused(errno.EINVAL)


def make_tree():
    config = json.loads(os.environ['TEST_CGROUPS'])
    return OldTree(config, f'{ROOT}/cpuset') if config.get('version') == 1 else Tree(config, ROOT)


def do(path, text, call, _writer):
    tree, path = make_tree(), str(path)
    if call == 'mkdir':
        tree.mkdir(path)
    elif call == 'rmdir':
        tree.rmdir(path)
    else:
        tree.write(path, text)


def main():
    if sys.argv[1:] == ['make']:
        make_tree().make()
        return 0
    return server.main(do)


if __name__ == '__main__':
    sys.exit(main())
