# SPDX-License-Identifier: GPL-2.0-or-later
"""The static library gives the program that links it no names but its own. A TAP test.

    test_names.py NM LIBRARY
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'machine'))

from machine import check, equal, run_tests, tests_of  # noqa: E402

NM, LIBRARY = sys.argv[1:]


def test_names():
    output = subprocess.run([NM, '-g', '--defined-only', LIBRARY], capture_output=True, text=True,
                            check=True).stdout
    names = [line.split()[2] for line in output.splitlines() if len(line.split()) == 3]
    check('qs_open_as' in names and len(names) > 30, f'{names}')
    # The compiler's own, which are hidden, begin with two underscores.
    equal([name for name in names if not name.startswith(('qs_', '__'))], [], 'names (src/library/private.h)')


if __name__ == '__main__':
    run_tests(tests_of(globals()))
