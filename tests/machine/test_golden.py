#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a person sees of the setters: the whole life of their settings on machines of every kind,
against golden/TOOL/MACHINE.txt.

    test_golden.py          compares
    test_golden.py write    writes them anew, to be read before they are committed
"""

import os
import pathlib
import sys

import machine
from machine import Setter, check
from test_cpu_shield import Shield

GOLDEN = pathlib.Path(__file__).resolve().parent / 'golden'

# The machines, and the CPUs that are to be quiet there.
MACHINES = {
    'noisy-server': '4',      # intel_pstate, active; two packages, 72 CPUs
    'intel-passive': '1',     # intel_pstate, passive; a CPU is offline
    'intel-hybrid': '2,9',    # fast and slow cores
    'amd-acpi': '3',          # acpi-cpufreq with boost
    'amd-smt': '5',           # amd-pstate, active
    'arm-nosmt': '6-7',       # cppc_cpufreq
    'vm-plain': '1',          # nothing of all that
}
# The tools, and the arguments of each.
TOOLS = {
    'freq-pin': [],
    'smt-off': ['-c', '{}'],
    'irq-steer': ['-c', '{}'],
    'noise-off': ['-c', '{}'],
    'cpu-shield': ['-c', '{}'],
}


def setter_on(tool, name):
    if tool != 'cpu-shield':
        return Setter(os.environ[tool.replace('-', '_').upper()], name)
    with machine.Machine(name) as box:
        online = (box.root / 'sys/devices/system/cpu/online').read_text(encoding='ascii').strip()
    return Shield(name, cpus=online)


def transcript(tool, name):
    """What apply and all that belongs to it print; and the machine is as before."""
    arguments = [word.format(MACHINES[name]) for word in TOOLS[tool]]
    with setter_on(tool, name) as setter:
        setter.cycle(*arguments, changes=Setter.ANYTHING)
        lines = [line.rstrip() for line in setter.transcript.splitlines()]
    for line in lines:
        # What a tool says on standard error is one line, however long.
        check(len(line) <= 80 or line.startswith(f'{tool}: '), f'too wide: {line}')
    return '\n'.join(lines) + '\n'


def compare(tool, name):
    if tool in ('freq-pin', 'noise-off'):
        machine.want_cpupower()
    path = GOLDEN / tool / f'{name}.txt'
    text, golden = transcript(tool, name), path.read_text(encoding='utf-8')
    check(text == golden, f'{path.relative_to(GOLDEN)}:\n{text}instead of:\n{golden}')


def write(tool, name):
    path = GOLDEN / tool / f'{name}.txt'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(transcript(tool, name), encoding='utf-8')


def main():
    todo = write if sys.argv[1:] == ['write'] else compare
    machine.run_tests((f'{tool} on {name}', lambda tool=tool, name=name: todo(tool, name))
                      for tool in TOOLS for name in MACHINES)


if __name__ == '__main__':
    main()
