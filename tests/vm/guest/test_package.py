# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian packages: the machine is put back before the tools go, or they stay; and their own tests."""

import contextlib
import glob
import os
import pathlib
import re
import tempfile

from lab import ENVIRONMENT, PATIENCE, Skip, call, changed, check, equal, fail, note, same, succeed, write
from target import CONF, is_quiet, start, state


PACKAGES = '/opt/lab/packages'
NAMES = ('libquiesce-dev', 'libquiesce0', 'quiesce')
SOURCE = pathlib.Path('/opt/lab/source')


def install(names='quiesce'):
    packages = glob.glob(f'{PACKAGES}/{names}_*.deb')
    if not packages:
        raise Skip('no package for this release: ./bootstrap package makes it for that of the host')
    note(succeed('dpkg', '--install', '--force-confold', *packages, timeout=PATIENCE))


@contextlib.contextmanager
def installed(names='quiesce'):
    """Runs its block with quiesce as a package in place of the files that the lab has installed,
    which come back in the end."""
    try:
        install(names)
        equal(call('systemctl', 'is-enabled', 'benchmark.target').stdout, 'disabled\n', 'enabled')
        equal(state('benchmark.target'), 'inactive', 'the target')
        yield
        note(succeed('dpkg', '--purge', *NAMES, timeout=PATIENCE))
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
                        ('--install', *glob.glob(f'{PACKAGES}/quiesce_*.deb'))):
            said = fail(1, 'dpkg', *command, timeout=PATIENCE)
            check(str(journal) in said and 'quiesce: stays as it is' in said, said)
        check(changed(), 'the machine is as before')
        journal.write_bytes(text)
        remove()


def test_own_tests():
    """What the package has for autopkgtest, as that runs it: with the packages installed, in a checkout."""
    control = (SOURCE / 'debian/tests/control').read_text()
    names = re.findall(r'^Tests: (.+)$', control, re.MULTILINE)
    equal(sorted(names), sorted({path.name for path in (SOURCE / 'debian/tests').iterdir()} - {'control'}),
          'tests that debian/tests/control names')
    with installed('*'):
        # The one that removes the package comes last.
        for name in sorted(names, key=lambda name: name.startswith('remove')):
            with tempfile.TemporaryDirectory() as scratch:
                succeed(str(SOURCE / 'debian/tests' / name), cwd=SOURCE, timeout=PATIENCE,
                        env={**ENVIRONMENT, 'AUTOPKGTEST_TMP': scratch})
            note(f'{name}: passed')
