# SPDX-License-Identifier: GPL-2.0-or-later
"""The sources in another place, and how commands are run on them."""

import filecmp
import os
import pathlib
import shutil
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
# Two builds in these must give the same bytes: environment and umask.
FIRST = ({'TZ': 'UTC', 'LC_ALL': 'C.UTF-8'}, 0o022)
SECOND = ({'TZ': 'Pacific/Auckland', 'LC_ALL': 'C'}, 0o002)


def run(command, cwd=TOP, surroundings=FIRST, **environment):
    """What the command wrote comes back as one text, with its exit status."""
    more, mask = surroundings
    return subprocess.run([str(word) for word in command], cwd=cwd, umask=mask, stdin=subprocess.DEVNULL,
                          env={**os.environ, **more, **environment}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors='replace', check=False)


def failure(result):
    """The end of what a command said that failed; None where it did not."""
    return result.stdout[-3000:] or f'exit status {result.returncode}' if result.returncode else None


def missing(*needs):
    """Of (program, package) pairs the first one that is missing, as a reason to skip; also where this is no
    checkout of git."""
    for program, package in needs:
        if not shutil.which(program, path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin'):
            return f'{package} is not installed'
    return None if run(['git', 'rev-parse']).returncode == 0 else 'this is no checkout of git'


def differing(one, other, is_meant=lambda name: True):
    """Names of the files that are meant, and are not the same below both folders."""
    names = {str(path.relative_to(folder)) for folder in (one, other) for path in folder.rglob('*') if path.is_file()}
    return [name for name in sorted(names) if is_meant(name) and
            not ((one / name).exists() and (other / name).exists() and
                 filecmp.cmp(one / name, other / name, shallow=False))]


def commit_time():
    return run(['git', 'log', '-1', '--format=%ct']).stdout.strip()


def copy_sources(folder):
    """What git knows, as it lies here."""
    for name in run(['git', 'ls-files', '-z']).stdout.split('\0'):
        if name and (TOP / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, folder / name)
