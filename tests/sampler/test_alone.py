# SPDX-License-Identifier: GPL-2.0-or-later
"""What an installation of libquiesce alone has: headers, libraries and the pages that are about them.
A TAP test.

    test_alone.py SOURCES MESON
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'machine'))

from machine import Skip, check, equal, run_tests, tests_of  # noqa: E402

SOURCES, MESON = sys.argv[1:]


def would_install(*options):
    """The names of the files by the last part of their folder: {'man3': {'qs_main.3', ...}}."""
    with tempfile.TemporaryDirectory(prefix='alone.') as build:
        result = subprocess.run([MESON, 'setup', '-Dtests=false', *options, build, SOURCES], text=True,
                                stdin=subprocess.DEVNULL, capture_output=True, check=False)
        check(result.returncode == 0, result.stdout + result.stderr)
        result = subprocess.run([MESON, 'introspect', '--installed', build], text=True, capture_output=True,
                                check=True)
    found = {}
    for path in map(pathlib.Path, json.loads(result.stdout).values()):
        found.setdefault(path.parent.name, set()).add(path.name)
    return found


def test_library_alone():
    found = would_install('-Dtools=false')
    equal(found['quiesce'], {'benchmark.h', 'benchmark.hpp', 'sampler.h'}, 'headers')
    equal(found['pkgconfig'], {'quiesce.pc'}, 'for pkg-config')
    equal([name for name in found if name in ('bin', 'sbin', 'man1', 'man5', 'man7', 'man8')], [], 'of the tools')


def test_pages_of_the_library():
    if not shutil.which('scdoc'):
        raise Skip('scdoc is not installed')
    pages = {path.name.removesuffix('.scd') for path in pathlib.Path(SOURCES, 'man').glob('*.3.scd')}
    check('qs_main.3' in pages, pages)
    equal(would_install('-Dtools=false').get('man3'), pages, 'pages')
    equal(would_install('-Dtools=false', '-Dman=disabled').get('man3'), None, 'pages that nobody wants')


if __name__ == '__main__':
    run_tests(tests_of(globals()))
