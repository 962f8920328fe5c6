# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian package: the machine is put back before the tools go, or they stay."""

import contextlib
import glob
import os
import pathlib

from lab import PATIENCE, Skip, call, changed, check, equal, fail, note, same, succeed, write
from target import CONF, is_quiet, start, state


def install():
    packages = glob.glob('/opt/lab/packages/quiesce_*.deb')
    if not packages:
        raise Skip('no package for this release: ./bootstrap package makes it for that of the host')
    note(succeed('dpkg', '--install', '--force-confold', *packages, timeout=PATIENCE))


@contextlib.contextmanager
def installed():
    """Runs its block with quiesce as a package in place of the files that the lab has installed,
    which come back in the end."""
    try:
        install()
        equal(call('systemctl', 'is-enabled', 'benchmark.target').stdout, 'disabled\n', 'enabled')
        equal(state('benchmark.target'), 'inactive', 'the target')
        yield
        note(succeed('dpkg', '--purge', 'quiesce', timeout=PATIENCE))
        check(not os.path.exists('/etc/quiesce'), 'purge left /etc/quiesce')
    finally:
        # See image/lab-init.
        succeed('tar', '--keep-directory-symlink', '-xf', '/dev/vdb', '-C', '/')
        succeed('systemctl', 'daemon-reload')


def remove():
    note(succeed('dpkg', '--remove', 'quiesce', timeout=PATIENCE))
    check(not os.path.exists('/run/quiesce'), call('ls', '-la', '/run/quiesce').stdout)
    same('the package left')


def test_target_up():
    """An upgrade starts the target again that was up, and a removal stops it."""
    with installed():
        write(CONF, 'CPUS=2\n')
        start()
        is_quiet()
        install()
        is_quiet()
        equal(glob.glob('/run/quiesce/upgraded'), [], 'a note for the upgrade')
        remove()
        equal(state('benchmark.target'), 'inactive', 'the target')


def test_restore_fails():
    """A package whose tools cannot put back the machine stays, also in an upgrade."""
    with installed():
        succeed('noise-off', '-c', '2')
        journal = pathlib.Path('/run/quiesce/noise-off.journal')
        text = journal.read_bytes()
        journal.write_bytes(text[:-20])
        for command in (('--remove', 'quiesce'),
                        ('--install', *glob.glob('/opt/lab/packages/quiesce_*.deb'))):
            said = fail(1, 'dpkg', *command, timeout=PATIENCE)
            check(str(journal) in said and 'quiesce: stays as it is' in said, said)
        check(changed(), 'the machine is as before')
        journal.write_bytes(text)
        remove()
