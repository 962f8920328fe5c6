#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a build without libcpupower says and does: it knows no frequencies and no idle states, and
puts back all the same what a build with it has set."""

import json
import os
import subprocess

import machine
from machine import Machine, Setter, check, equal

FREQ_PIN, NOISE_OFF, ISOL_CHECK = (os.environ[name] for name in ('FREQ_PIN', 'NOISE_OFF', 'ISOL_CHECK'))
CPU = 'sys/devices/system/cpu'
POLICY = f'{CPU}/cpufreq/policy2'
WHY = 'built without libcpupower'


def test_freq_pin():
    with Setter(FREQ_PIN, 'amd-smt') as setter:
        before = setter.snapshot()
        for verb in ('status', 'apply'):
            row, = json.loads(setter.succeed(verb, '-c', '2', '--json'))['knobs']
            equal((row['knob'], row['state']), ('frequency', 'unavailable'), verb)
            check(WHY in row['why'], row)
        for word, status in (('--strict', 1), ('2000MHz', 3)):
            equal(setter.run('apply', '-c', '2', word).returncode, status, word)
        setter.same(before, 'changed')
        equal(setter.left_over(), [], 'left in /run/quiesce')


def test_no_cpufreq():
    """A machine without cpufreq is one without the library, too."""
    with Setter(FREQ_PIN, 'vm-plain') as setter:
        row, = json.loads(setter.succeed('apply', '-c', '1', '--json'))['knobs']
        equal(row['state'], 'host-controlled', f'{row}')


def test_restore():
    """What a build with the library has set."""
    with Setter(FREQ_PIN, 'amd-smt') as setter:
        before = setter.snapshot()
        knobs = [(kind, f'/{POLICY}/{name}', (setter.box.root / POLICY / name).read_text().strip(), new)
                 for kind, name, new in (('word', 'scaling_governor', 'performance'),
                                         ('frequency', 'scaling_min_freq', '2000000'),
                                         ('frequency', 'scaling_max_freq', '2000000'))]
        for _, path, _, new in knobs:
            setter.box.write(path[1:], f'{new}\n')
        setter.journal_path.parent.mkdir(parents=True)
        setter.journal_path.write_bytes(machine.make_journal(*knobs, tool='freq-pin'))
        shown = {row['path']: row['state'] for row in json.loads(setter.succeed('status', '--json'))['knobs']}
        for _, path, _, _ in knobs:
            equal(shown.get(path), 'applied', f'status of {path}')
        setter.succeed('apply', '-c', '2')
        setter.restore_all(before)


def test_noise_off():
    limit = f'{CPU}/cpu2/power/pm_qos_resume_latency_us'
    with Setter(NOISE_OFF, 'amd-smt') as setter:
        before = setter.snapshot()
        rows = {row['knob']: row for row in json.loads(setter.succeed('apply', '-c', '2', '--json'))['knobs']}
        equal(rows['pm_qos']['state'], 'unavailable', 'pm_qos')
        check(WHY in rows['pm_qos']['why'], rows['pm_qos'])
        equal(rows['timer_migration']['state'], 'applied', 'the others')
        equal(setter.snapshot()[limit], before[limit], 'the limit')
        setter.restore_all(before)


def test_isol_check():
    with Machine('amd-smt') as box:
        result = subprocess.run([ISOL_CHECK, '--sysroot', box.root, '--json', '-c', '2'],
                                capture_output=True, text=True, check=False)
        check(result.returncode in (0, 3), result.stderr)
        rows = {row['id']: row for row in json.loads(result.stdout)['checks']}
        for name in ('freq-driver', 'boost', 'governor', 'freq-range', 'freq-policies', 'idle-states', 'idle-depth'):
            equal(rows[name]['verdict'], 'unknown', name)
            check(WHY in rows[name]['seen'], rows[name])


if os.environ['LIBCPUPOWER'] == '1':
    machine.skip_all('without libcpupower', 'built with it')
machine.run_tests(machine.tests_of(globals()))
