# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian packages: the machine is put back before the tools go, or they stay; and their own tests.

One test, for an emulated machine takes a quarter of a minute to install, remove or purge a package."""

import contextlib
import glob
import os
import pathlib
import re
import tempfile

from lab import ENVIRONMENT, PATIENCE, Skip, call, changed, check, equal, fail, note, same, succeed
from target import configured, is_quiet, start, state, stop


PACKAGES = '/opt/lab/packages'
NAMES = ('libquiesce-dev', 'libquiesce0', 'quiesce')
SOURCE = pathlib.Path('/opt/lab/source')


def install(names='quiesce'):
    packages = glob.glob(f'{PACKAGES}/{names}_*.deb')
    if not packages:
        raise Skip('no package for this release: ./bootstrap package makes it for that of the host')
    note(succeed('dpkg', '--install', '--force-confold', *packages, timeout=PATIENCE))


@contextlib.contextmanager
def installed():
    """Runs its block with quiesce as packages in place of the files that the lab has installed, which
    come back in the end."""
    try:
        install('*')
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


def stays_where_it_cannot_put_back():
    """Removal and upgrade fail, and leave all as it is, where the machine could not be put back."""
    journal = pathlib.Path('/run/quiesce/noise-off.journal')
    text = journal.read_bytes()
    journal.write_bytes(text[:-20])
    turned = changed()
    for command in ('--remove', 'quiesce'), ('--install', *glob.glob(f'{PACKAGES}/quiesce_*.deb')):
        said = fail(1, 'dpkg', *command, timeout=PATIENCE)
        check(str(journal) in said and 'quiesce: stays as it is' in said, said)
    check(turned, 'the machine is as before')
    equal(changed(), turned, 'what is turned')
    journal.write_bytes(text)


def starts_again_what_was_up():
    """An upgrade puts the machine back, and starts the target again that was up."""
    install()
    is_quiet()
    equal(glob.glob('/run/quiesce/upgraded'), [], 'a note for the upgrade')


def passes_its_own_tests():
    """What the package has for autopkgtest, as that runs it: with the packages installed, in a checkout.
    The one that removes the package while the target is up comes last."""
    control = (SOURCE / 'debian/tests/control').read_text()
    names = re.findall(r'^Tests: (.+)$', control, re.MULTILINE)
    equal(sorted(names), sorted({path.name for path in (SOURCE / 'debian/tests').iterdir()} - {'control'}),
          'tests that debian/tests/control names')
    for name in sorted(names, key=lambda name: name.startswith('remove')):
        with tempfile.TemporaryDirectory() as scratch:
            succeed(str(SOURCE / 'debian/tests' / name), cwd=SOURCE, timeout=PATIENCE,
                    env={**ENVIRONMENT, 'AUTOPKGTEST_TMP': scratch})
        note(f'{name}: passed')


def test_from_installation_to_purge():
    with installed():
        succeed('noise-off', '-c', '2')
        stays_where_it_cannot_put_back()
        remove()
        install()
        with configured('CPUS=2'):
            start()
            is_quiet()
            starts_again_what_was_up()
            stop()
        same('an upgrade of the package left')
        passes_its_own_tests()
        equal(state('benchmark.target'), 'inactive', 'the target')
        check(not os.path.exists('/run/quiesce'), call('ls', '-la', '/run/quiesce').stdout)
        same('the package left')
