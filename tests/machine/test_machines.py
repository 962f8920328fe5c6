#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The descriptions themselves, the language they are written in, and sysroot."""

import os
import pathlib
import subprocess
import tempfile

import machine
from machine import Machine, check, equal


def describe(text):
    """The files of a description given as text."""
    with tempfile.NamedTemporaryFile('w', suffix='.machine') as file:
        file.write(text)
        file.flush()
        return machine.Description(file.name).files


def reads(text, path, wanted):
    equal(describe(text)[path], wanted, path)


def refuses(text, where):
    try:
        describe(text)
    except ValueError as error:
        check(where in str(error), f'{where!r} is not in {str(error)!r}')
    else:
        raise machine.Failed(f'accepted: {text!r}')


def test_values():
    reads('width 4\nsys/a =\n', 'sys/a', b'\n')
    reads('width 4\nsys/a =  (null)\n', 'sys/a', b' (null)\n')
    reads('# b\n\nwidth 4\nproc/a = b = c -> d\n', 'proc/a', b'b = c -> d\n')
    reads('width 4\nsys/a -> ../b\n', 'sys/a', '../b')
    reads('width 4\nsys/a/\n', 'sys/a', None)


def test_names():
    files = describe('width 40\nsys/{a:0-1,3}/{b:8} = {a*10+b%5} {a-1}\nsys/l{c:2} -> x{c//2}\n')
    equal(files, {'sys/0/8': b'3 -1\n', 'sys/1/8': b'13 0\n', 'sys/3/8': b'33 2\n',
                  'sys/l2': 'x1'}, 'files')


def test_masks():
    reads("width 4\nsys/a = {mask(0, 3)}\n", 'sys/a', b'9\n')
    reads("width 12\nsys/a = {mask('1-3,11')}\n", 'sys/a', b'80e\n')
    reads("width 32\nsys/a = {mask(31)}\n", 'sys/a', b'80000000\n')
    reads("width 33\nsys/a = {mask(32, 0)}\n", 'sys/a', b'1,00000001\n')
    reads("width 96\nsys/a = {mask(40)}\n", 'sys/a', b'00000000,00000100,00000000\n')


def test_blocks():
    reads('width 4\nproc/a =\n\tcpu{c:0,2} {c+1}\n\t\tx\n', 'proc/a', b'cpu0 1\ncpu2 3\n\tx\n')
    reads('width 4\nproc/a = each c:0-1\n\tp\t: {c}\n\tq\n', 'proc/a',
          b'p\t: 0\nq\n\np\t: 1\nq\n\n')
    reads('width 4\n'
          'proc/a = table 0,3\n\t7: 3:12 a  b\n\tLOC: *:5 3:6 Local\n\tERR: =9\n', 'proc/a',
          b'            CPU0       CPU3 \n'
          b'   7:          0         12  a b\n'
          b' LOC:          5          6  Local\n'
          b' ERR:          9\n')


def test_errors():
    refuses('sys/a = 1\n', ':1: needs its width')
    refuses('width 4\n\nsys/a\n', ':3: neither file')
    refuses('width 4\netc/a = 1\n', ':2: neither file')
    refuses('width 4\nsys/a ->\n', ':2: neither file')
    refuses('width 4\nsys/a = 1\nsys/a = 2\n', ':3: sys/a once more')
    refuses('width 4\nsys/a = {b}\n', ':2: {b}')
    refuses('width 4\nsys/{a:0-1} = {a//0}\n', ':2: {a//0}')
    refuses('width 4\nsys/{a:0-1} = {open(a)}\n', ':2: {open(a)}')
    refuses('width 4\nsys/{a:0-1} = {a.b}\n', ':2: {a.b}')
    refuses('width 4\nsys/a = {mask(4)}\n', ':2: CPU 4')
    refuses('width 4\nsys/a = tabel 0-1\n\tx\n', ':2: a block behind')
    refuses('width 4\nproc/a = table 0-1\n\tLOC: 2:1 x\n', ':2: CPU 2 has no column')
    refuses('width 4\n\tsys/a = 1\n', ':1: a block without its file')
    refuses('\tsys/a = 1\n', ':1: a block without its file')
    refuses('width 4\nsys/a -> b\n\tc\n', ':2: a block without its file')
    refuses('width x\n', ':1: needs its width')
    refuses('width 4\n', 'describes nothing')


def cat(box, path):
    result = box.run('cat', path)
    equal(result.stderr, '', path)
    return result.stdout


def test_bound(name):
    """Everything described can be read at its place, and the roots are still the kernel's."""
    with Machine(name) as box:
        result = box.run('stat', '-f', '-c', '%T', '/sys', '/proc')
        equal(result.stdout, 'sysfs\nproc\n', 'file systems')
        check(cat(box, '/proc/self/comm') == 'cat\n', '/proc/self is not the process itself')
        equal(box.run('id', '-u').stdout, f'{os.getuid()}\n', 'user')
        for path, content in box.description.files.items():
            if isinstance(content, bytes):
                equal(pathlib.Path(box.root, path).read_bytes(), content, path)
        for path in ('/sys/devices/system/cpu/cpu1/online', '/proc/stat', '/proc/interrupts'):
            content = box.description.files[path[1:]]
            equal(cat(box, path), content.decode('utf-8'), path)


def test_allowed():
    """The preloaded scheduler answers for the machine; nproc(1) and taskset(1) show it."""
    with Machine('s390-gaps') as box:
        real = len(os.sched_getaffinity(0))
        equal(box.run('nproc').stdout, f'{real}\n', 'without')
        equal(box.run('nproc', allowed='1-5,8-19').stdout, '17\n', 'with')
        # The program that taskset executes is preloaded anew, so the report of that program counts.
        bound = box.run('taskset', '-pc', '0-4,12,60', '1', allowed='1-5,8-19')
        check(bound.stdout.endswith(': 1-4,12\n'), bound.stdout)
        check(': 1-5,8-19\n' in bound.stdout, bound.stdout)
        check(box.run('taskset', '-pc', '0,6', '1', allowed='1-5').returncode != 0, 'bound to none')


def test_changes():
    with Machine('vm-plain') as box:
        box.write('sys/devices/system/cpu/isolated', '1\n')
        box.remove('sys/devices/system/cpu/offline')
        equal(cat(box, '/sys/devices/system/cpu/isolated'), '1\n', 'isolated')
        check(box.run('cat', '/sys/devices/system/cpu/offline').returncode != 0, 'offline is there')
        equal(pathlib.Path('/sys/devices/system/cpu/isolated').read_bytes() == b'1\n', False,
              'the change shows outside')


def test_status():
    """sysroot passes the command's exit status on and tells its own troubles apart."""
    sysroot = os.environ['SYSROOT']
    with Machine('vm-plain') as box, tempfile.TemporaryDirectory() as other:
        equal(box.run('sh', '-c', 'exit 5').returncode, 5, 'status')
        equal(box.run('/nonexistent').returncode, 127, 'no such command')
        for words, status, text in (
                ([], 2, 'usage'),
                ([box.root, 'true'], 2, 'usage'),
                ([box.root, '--'], 2, 'usage'),
                ([other, '--', 'true'], 1, 'neither sys/ nor proc/'),
                ([f'{other}/none', '--', 'true'], 1, 'neither sys/ nor proc/')):
            result = subprocess.run([sysroot, *words], capture_output=True, text=True, check=False)
            equal(result.returncode, status, f'{words}')
            check(text in result.stderr, result.stderr)
        (pathlib.Path(other) / 'proc').mkdir()
        (pathlib.Path(other) / 'proc/stat').mkdir()
        result = subprocess.run([sysroot, other, '--', 'true'], capture_output=True, text=True,
                                check=False)
        equal((result.returncode, 'one is a directory' in result.stderr), (1, True), 'mismatch')


def test_run():
    """A machine with a run/ has a /run of its own, in which a setter's journals would stand."""
    with Machine('vm-plain') as box:
        outside = sorted(os.listdir('/run'))
        equal(box.run('ls', '/run').stdout.split(), outside, '/run without run/')
        (box.root / 'run').mkdir()
        equal(box.run('sh', '-c', 'ls /run; echo x > /run/kept; pwd').stdout, f'{os.getcwd()}\n',
              '/run at first, and the working directory')
        equal((box.root / 'run/kept').read_text(), 'x\n', 'what was written to /run')
        equal(cat(box, '/run/kept'), 'x\n', 'the next command')
        equal(sorted(os.listdir('/run')), outside, 'outside')
        equal(box.run('stat', '-f', '-c', '%T', '/sys', '/proc').stdout, 'sysfs\nproc\n', 'roots')


def test_root():
    """--root makes root of anybody, over the files of the machine."""
    with Machine('vm-plain') as box:
        (box.root / 'run').mkdir()
        result = box.run('sh', '-c', 'id -u; echo 1 > /sys/devices/system/cpu/isolated; '
                         'mkdir /run/new; stat -c %u /run /run/new', root=True)
        equal((result.stdout, result.stderr), ('0\n0\n0\n', ''), 'as root')
        equal(cat(box, '/sys/devices/system/cpu/isolated'), '1\n', 'written')


# A setter of three lines, for the helper that tests setters must object to what is wrong with it.
TOY = """#!/bin/sh
set -eu
thp=/sys/kernel/mm/transparent_hugepage/enabled journal=/run/quiesce/toy.journal
case "$1 ${2-}" in
    "apply --dry-run") %(dry_run)s ;;
    apply*) [ -e "$journal" ] && { %(again)s; exit; }
        mkdir -p /run/quiesce; echo always > "$journal"; %(apply)s ;;
    restore*) [ -e "$journal" ] || exit 0; %(restore)s; rm "$journal" ;;
    status*) %(status)s ;;
esac
"""
THP = 'sys/kernel/mm/transparent_hugepage/enabled'


def toy(**changes):
    steps = {'dry_run': 'echo dry', 'again': 'echo again', 'status': 'id -u',
             'apply': 'echo madvise > "$thp"', 'restore': 'cat "$journal" > "$thp"', **changes}
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / 'toy'
        path.write_text(TOY % steps)
        path.chmod(0o755)
        with machine.Setter(path, 'vm-plain') as setter:
            setter.box.write(THP, '[always] madvise never\n')
            return setter.cycle(changes={THP: 'always [madvise] never'})


def test_setter():
    out = toy()
    equal((out['dry-run'], out['again']), ('dry\n', 'again\n'), 'output')
    check(out['status'] != '0\n', 'status ran as root')
    for changes, what in (
            ({'dry_run': 'echo never > "$thp"'}, 'status and --dry-run changed'),
            ({'dry_run': 'echo always > "$thp"'}, 'wrote'),
            ({'dry_run': 'mkdir -p /run/quiesce; touch "$journal"'}, '--dry-run left'),
            ({'status': 'exit 1'}, 'status 1'),
            ({'apply': ':'}, "enabled: b'always [madvise] never\\n' became b'[always]"),
            ({'apply': 'echo madvise > "$thp"; mkdir /sys/kernel/mm/new'}, 'became a directory'),
            ({'apply': 'echo madvise > "$thp"; ln -s x /sys/kernel/mm/new'}, "became 'x'"),
            ({'again': 'echo always > "$thp"'}, 'apply changed, the second time'),
            ({'again': 'echo >> "$journal"'}, 'journal after the second apply'),
            ({'restore': ':'}, 'restore left'),
            ({'restore': 'cat "$journal" > "$thp"; rm "$journal"; exit 0; :'}, None),
            ({'restore': 'cat "$journal" > "$thp"; exit 0'}, 'restore left in /run/quiesce'),
            ({'restore': 'rm "$thp"'}, 'became nothing')):
        try:
            toy(**changes)
        except machine.Failed as error:
            check(what and what in str(error), f'{changes}: {error}')
        else:
            check(what is None, f'accepted: {changes}')


def test_no_place():
    """Where this kernel has no such entry, 77 says so: that is no failure."""
    with Machine('vm-plain') as box:
        box.run('true')  # the inner command is skipped where nothing can be bound
        box.write('sys/no-such-entry', 'x\n')
        try:
            box.run('true')
        except machine.Skip as reason:
            check('no-such-entry' in str(reason), str(reason))
        else:
            raise machine.Failed('bound over nothing')


TESTS = [
    ('description: values, links and directories', test_values),
    ('description: lists make files', test_names),
    ('description: masks as the kernel prints them', test_masks),
    ('description: blocks and tables', test_blocks),
    ('description: mistakes are named with their line', test_errors),
    *((f'{name}: everything is in its place', lambda name=name: test_bound(name))
      for name in machine.machines()),
    ('the CPUs that are allowed follow', test_allowed),
    ('a test can change its machine', test_changes),
    ('sysroot: exit status', test_status),
    ('sysroot: what cannot be bound', test_no_place),
    ('sysroot: a /run of its own', test_run),
    ('sysroot: root for everybody', test_root),
    ('a setter is held to its cycle', test_setter),
]

if __name__ == '__main__':
    machine.run_tests(TESTS)
