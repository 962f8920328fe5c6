#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where runpinned finds its other programs and its data: relative to where it lies, wherever that is, as
long as nobody else can have put them there."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from machine import Skip, check, equal, memory_directory, named_tests, run_tests

RUNPINNED = pathlib.Path(os.environ['RUNPINNED'])
STRANGER = 65534


class Tree:
    """runpinned as it is installed, in a folder of its own below one that has all modes of /tmp; and what
    stands in for the launcher, which tells that it was started."""

    def __init__(self):
        self.root = tempfile.TemporaryDirectory(prefix='install.', dir=memory_directory())
        self.around = pathlib.Path(self.root.name, 'around')
        self.around.mkdir()
        self.around.chmod(0o1777)
        self.top = self.around / 'quiesce'
        self.bin, self.libexec, self.harnesses = (
            self.top / folder for folder in ('bin', 'libexec/quiesce', 'share/quiesce/harnesses'))
        for folder in self.bin, self.libexec, self.harnesses:
            folder.mkdir(parents=True)
            folder.chmod(0o755)
        shutil.copy(RUNPINNED, self.bin)
        for name in 'runpinned-launcher', 'runpinned-floor':
            shutil.copy(RUNPINNED.parent / name, self.libexec)
        (self.harnesses / 'moved.conf').write_text('[seconds]\nMatch=took ([0-9]+) s\nUnit=s\n', encoding='utf-8')
        self.started = pathlib.Path(self.root.name, 'started')

    def run(self, *arguments):
        return subprocess.run([self.bin / 'runpinned', '-n', '2', '-w', '0', *arguments],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              env={**os.environ, 'XDG_STATE_HOME': self.root.name})

    def pretend(self, folder):
        """Puts in `folder` what stands in for the launcher, and returns the file."""
        folder.mkdir(exist_ok=True)
        file = folder / 'runpinned-launcher'
        # One that is being executed cannot be written to.
        file.unlink(missing_ok=True)
        file.write_text(f'#!/bin/sh\n: >{self.started}\n', encoding='utf-8')
        file.chmod(0o755)
        return file

    def is_taken(self):
        self.started.unlink(missing_ok=True)
        result = self.run('true')
        check(result.returncode == 1, result.stderr)
        if not self.started.exists():
            check('must belong to root or to the owner of runpinned' in result.stderr, result.stderr)
        return self.started.exists()


def make_strangers(*paths):
    try:
        for path in paths:
            os.chown(path, STRANGER, -1)
    except OSError as error:
        raise Skip(f'no file can be given to another user here: {error.strerror}') from error


def test_moved():
    """a tree that was moved finds its programs and its data"""
    tree = Tree()
    result = tree.run('true')
    equal(result.returncode, 0, result.stderr)
    result = tree.run('--harness', 'moved', 'echo', 'took 3 s')
    equal(result.returncode, 0, result.stderr)
    check('seconds' in result.stdout, result.stdout)
    tree.pretend(tree.libexec)
    check(tree.is_taken(), 'it is not the one beside it that is started')


def test_modes():
    """no program is started that everybody may write to or replace"""
    tree = Tree()
    file = tree.pretend(tree.libexec)
    file.chmod(0o757)
    check(not tree.is_taken(), 'the program may be written to')
    # As on a file system that has no modes.
    (tree.bin / 'runpinned').chmod(0o757)
    check(tree.is_taken(), 'so may runpinned')
    (tree.bin / 'runpinned').chmod(0o755)
    file.chmod(0o775)
    check(tree.is_taken(), 'a group is the choice of the owner')
    tree.libexec.chmod(0o777)
    check(not tree.is_taken(), 'the program may be replaced')
    tree.libexec.chmod(0o1777)
    check(tree.is_taken(), 'in a sticky folder it may not')


def test_strangers():
    """no program and no data of a stranger's are taken, also where they lie beside the tree"""
    tree = Tree()
    file = tree.pretend(tree.libexec)
    make_strangers(file)
    check(not tree.is_taken(), 'the program is of a stranger')
    file = tree.pretend(tree.libexec)
    make_strangers(tree.libexec)
    check(not tree.is_taken(), 'the folder is of a stranger')
    # bin/../../sbin, where benchmark-target finds the setters.
    file = tree.pretend(tree.around / 'sbin')
    (tree.libexec / 'runpinned-floor').rename(file.parent / 'runpinned-floor')
    shutil.rmtree(tree.libexec)
    check(tree.is_taken(), 'it is looked for beside the tree')
    make_strangers(file, file.parent)
    check(not tree.is_taken(), 'the folder beside the tree is of a stranger')
    make_strangers(tree.harnesses)
    check("there is no 'moved'" in tree.run('--harness', 'moved', 'true').stderr, 'data of a stranger')


def test_others_run_it():
    """root runs the tree of a user with what lies in it"""
    tree = Tree()
    file = tree.pretend(tree.libexec)
    make_strangers(*(path for path in tree.top.rglob('*')))
    check(tree.is_taken(), 'all is of one owner')
    os.chown(file, 0, -1)
    check(tree.is_taken(), 'and of root')


TESTS = (test_moved, test_modes, test_strangers, test_others_run_it)
run_tests(named_tests((test.__doc__, test) for test in TESTS))
