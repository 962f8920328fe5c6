# SPDX-License-Identifier: GPL-2.0-or-later
"""The large machine that our benchmarks run on."""

import sys

from peers import HERE

sys.path.insert(0, str(HERE.parent / 'tests/machine'))
import machine  # noqa: E402  pylint: disable=wrong-import-position

INTERRUPTS = 4096
FIRST_INTERRUPT = 24


def describe():
    """The machine of large.machine with its interrupts: most go to one CPU each, every eighth to any."""
    description = machine.Description(HERE / 'large.machine')
    rows = []
    anywhere = (description.mask(f'0-{description.width - 1}'), f'0-{description.width - 1}')
    for index in range(INTERRUPTS):
        cpu, number = index % description.width, FIRST_INTERRUPT + index
        mask, cpus = (description.mask(cpu), str(cpu)) if index % 8 else anywhere
        for name, text in (('smp_affinity', mask), ('smp_affinity_list', cpus),
                           ('effective_affinity_list', str(cpu))):
            description.files[f'proc/irq/{number}/{name}'] = f'{text}\n'.encode()
        rows.append(f'{number}: {cpu}:1000 IR-PCI-MSIX-0000:3b:00.0 {index}-edge '
                    f'eth{index // 64}-TxRx-{index % 64}')
    description.files['proc/interrupts'] = description.table(list(range(description.width)),
                                                             rows).encode()
    return description
