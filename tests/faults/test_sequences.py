#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random sequences of calls of setters, see ../machine/sequences.py.

    test_sequences.py N SEED
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'machine'))

import machine  # noqa: E402
from machine import Setter, check  # noqa: E402


def test_sequences(n, seed):
    with Setter(os.environ['FREQ_PIN'], 'small-smt') as setter:
        for queue in range(3):
            setter.box.write(f'sys/class/net/eth0/queues/tx-{queue}/xps_cpus', '3f\n')
        result = setter.box.run(*machine.simulator('sequences.py'), setter.box.root, n, seed, root=True,
                                alone=True, timeout=None)
        check(result.returncode == 0, result.stdout + result.stderr)
        return f'{result.stdout.strip()}, seed {seed}'


if __name__ == '__main__':
    machine.run_tests([('sequences of calls, and all restored', lambda: test_sequences(*sys.argv[1:3]))],
                      campaign=True)
