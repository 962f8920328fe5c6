#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""freq-pin on described machines: what it sets, what it says, and that it puts all of it back."""

import contextlib
import itertools
import json
import os
import re
import shutil

import machine
from machine import Setter, check, equal

TOOL = os.environ['FREQ_PIN']
POLICY = 'sys/devices/system/cpu/cpufreq/policy'
BOOST = 'sys/devices/system/cpu/cpufreq/boost'
INTEL = 'sys/devices/system/cpu/intel_pstate/'
EPB = 'sys/devices/system/cpu/cpu{}/power/energy_perf_bias'
SHARED_SWITCH = '^freq-pin: boost has one switch for all CPUs: it also changes for CPUs outside of -c\n$'


def pinned(policies, khz, governor='performance'):
    """{path: text} of policies that are held at a frequency."""
    return {f'{POLICY}{number}/{name}': str(value) for number in machine.parse_list(policies)
            for name, value in (('scaling_governor', governor), ('scaling_min_freq', khz),
                                ('scaling_max_freq', khz))}


def table(text, golden, what):
    """Compares a table with the expected one, except blanks at the ends of lines; it must not be
    wider than a terminal."""
    text = '\n'.join(line.rstrip() for line in text.strip().split('\n'))
    check(text == golden.strip(), f'{what}:\n{text}\ninstead of:\n{golden.strip()}')
    for line in text.split('\n'):
        check(len(line) <= 80, f'{what}: {len(line)} columns: {line}')


def unfold(text):
    """A table whose last column may be broken into lines, as one line."""
    return ' '.join(text.split())


def cycle(name, changes, apply, status, *arguments):
    with Setter(TOOL, name) as setter:
        out = setter.cycle(*arguments, changes=changes)
        table(out['apply'], f'{apply.strip()}\n\n`freq-pin restore` puts this back.', f'apply on {name}')
        table(out['applied'], status, f'status on {name}')


def words(output):
    """{knob: states} of a --json output."""
    found = {}
    for row in json.loads(output)['knobs']:
        found.setdefault(row['knob'], set()).add(row['state'])
    return found


# --- The whole cycle ---

def test_intel_hybrid():
    """intel_pstate in active mode: two base frequencies, and turbo by no_turbo."""
    cycle('intel-hybrid', {**pinned('0-7', 1900000), **pinned('8-11', 1400000),
                           INTEL + 'no_turbo': 1}, '''
KNOB              CPUS WANTED      NOW         ORIGINAL  STATE   WHY
governor          0-11 performance performance powersave applied
no_turbo               1           1           0         applied
hwp_dynamic_boost      0           0           0         already
minimum           0-7  1900000     1900000     400000    applied
maximum           0-3  1900000     1900000     5000000   applied shows 1.90 GHz
maximum           4-7  1900000     1900000     5200000   applied shows 1.90 GHz
minimum           8-11 1400000     1400000     400000    applied
maximum           8-11 1400000     1400000     3900000   applied shows 1.40 GHz
''', '''
KNOB              CPUS WANTED      NOW         ORIGINAL  STATE   WHY
governor          0-11 performance performance powersave applied
no_turbo               1           1           0         applied
hwp_dynamic_boost      0           0           0         already
minimum           0-7  1900000     1900000     400000    applied
maximum           0-3  1900000     1900000     5000000   applied
maximum           4-7  1900000     1900000     5200000   applied
minimum           8-11 1400000     1400000     400000    applied
maximum           8-11 1400000     1400000     3900000   applied
''')


def test_intel_passive():
    """intel_cpufreq: no two policies are alike (D15), and all get the same."""
    cycle('intel-passive', {
        **pinned('0-2', 2100000), INTEL + 'no_turbo': 1, INTEL + 'min_perf_pct': 51,
        **{f'{POLICY}{cpu}/energy_performance_preference': 'performance' for cpu in range(3)},
        **{EPB.format(cpu): 0 for cpu in range(3)}}, '''
KNOB         CPUS WANTED      NOW         ORIGINAL  STATE       WHY
governor     0    performance performance schedutil applied
governor     1    performance performance userspace applied
governor     2    performance performance ondemand  applied
no_turbo          1           1           0         applied
EPP          0-1  performance performance power     applied
EPP          2    performance performance 144       applied
EPB          0    0           0           6         applied
EPB          1    0           0           7         applied
EPB          2    0           0           8         applied
min_perf_pct      51          51          60        applied
minimum      0-1  2100000     2100000     400000    applied
maximum      0-1  2100000     2100000     4100000   applied     shows 2.10 GHz
minimum      2    2100000     2100000     2300000   applied
maximum      2    2100000     2100000     2900000   applied     shows 2.10 GHz
frequency    3                                      unavailable offline
''', '''
KNOB      CPUS WANTED      NOW         ORIGINAL  STATE       WHY
governor  0    performance performance schedutil applied
governor  1    performance performance userspace applied
governor  2    performance performance ondemand  applied
no_turbo       1           1           0         applied
EPP       0-1  performance performance power     applied
EPP       2    performance performance 144       applied
EPB       0    0           0           6         applied
EPB       1    0           0           7         applied
EPB       2    0           0           8         applied
minimum   0-1  2100000     2100000     400000    applied
maximum   0-1  2100000     2100000     4100000   applied
minimum   2    2100000     2100000     2300000   applied
maximum   2    2100000     2100000     2900000   applied
frequency 3                                      unavailable offline
''')


def test_amd_acpi():
    """acpi-cpufreq with boost: policies of two CPUs, the highest entry of the table."""
    cycle('amd-acpi', {**pinned('0,2,4,6', 3600000), BOOST: 0}, '''
KNOB     CPUS WANTED      NOW         ORIGINAL  STATE   WHY
governor 0-5  performance performance schedutil applied
governor 6-7  performance performance ondemand  applied
boost         0           0           1         applied
minimum  0-7  3600000     3600000     2200000   applied
maximum  0-5  3600000     3600000     3600000   already shows 3.60 GHz
maximum  6-7  3600000     3600000     2800000   applied shows 3.60 GHz
''', '''
KNOB     CPUS WANTED      NOW         ORIGINAL  STATE   WHY
governor 0-5  performance performance schedutil applied
governor 6-7  performance performance ondemand  applied
boost         0           0           1         applied
minimum  0-7  3600000     3600000     2200000   applied
maximum  0-5  3600000     3600000     3600000   already
maximum  6-7  3600000     3600000     2800000   applied
''')


def test_amd_pstate():
    """amd-pstate-epp: CPPC's nominal frequency, which is given in MHz."""
    cycle('amd-smt', {**pinned('0-15', 4201000), BOOST: 0}, '''
KNOB     CPUS WANTED      NOW         ORIGINAL  STATE   WHY
governor 0-15 performance performance powersave applied
boost         0           0           1         applied
minimum  0-15 4201000     4201000     3006000   applied
maximum  0-15 4201000     4201000     5450000   applied shows 4.20 GHz
''', '''
KNOB     CPUS WANTED      NOW         ORIGINAL  STATE   WHY
governor 0-15 performance performance powersave applied
boost         0           0           1         applied
minimum  0-15 4201000     4201000     3006000   applied
maximum  0-15 4201000     4201000     5450000   applied
''')


def test_arm_cppc():
    """cppc_cpufreq with boost off, which makes the maximum the base: only the minimum moves."""
    cycle('arm-nosmt', {**pinned('0-3', 2808000), **pinned('4-7', 3900000)}, '''
KNOB     CPUS WANTED      NOW         ORIGINAL    STATE   WHY
governor 0-7  performance performance performance already
boost         0           0           0           already
minimum  0-3  2808000     2808000     338000      applied
maximum  0-3  2808000     2808000     2808000     already shows 2.81 GHz
minimum  4-7  3900000     3900000     338000      applied
maximum  4-7  3900000     3900000     3900000     already shows 3.90 GHz
''', '''
KNOB     CPUS WANTED      NOW         ORIGINAL    STATE   WHY
governor 0-7  performance performance performance already
boost         0           0           0           already
minimum  0-3  2808000     2808000     338000      applied
maximum  0-3  2808000     2808000     2808000     already
minimum  4-7  3900000     3900000     338000      applied
maximum  4-7  3900000     3900000     3900000     already
''')


def nothing(name, golden):
    """Nothing to turn: it succeeds, says so, and leaves no journal."""
    with Setter(TOOL, name) as setter:
        before = setter.snapshot()
        for verb in ('apply', 'status', 'restore'):
            result = setter.run(verb)
            equal(result.returncode, 0, verb)
            if verb != 'restore':
                table(result.stdout, golden, verb)
            equal('nothing to do' in result.stderr, verb == 'apply', result.stderr)
        equal(setter.run('--strict').returncode, 1, '--strict')
        # What was asked for by name, and not as the default.
        for what in 'min', 'max', '99GHz':
            for options in (), ('--dry-run',):
                result = setter.run(what, *options)
                equal((result.returncode, 'nothing to do' in result.stderr), (3, True), f'{what} {options}')
        for options in (), ('--dry-run',):
            equal(setter.run('base', *options).returncode, 0, f'base {options}')
            equal(setter.run('base', '--strict', *options).returncode, 1, f'base --strict {options}')
        setter.same(before, 'changed')
        equal(setter.left_over(), [], 'left over')


def test_vm():
    nothing('vm-plain', '''
KNOB      CPUS WANTED NOW ORIGINAL STATE           WHY
frequency 0-1                      host-controlled the host decides (hypervisor:
                                                   kvm)
''')


def test_s390():
    nothing('s390-gaps', '''
KNOB      CPUS     WANTED NOW ORIGINAL STATE       WHY
frequency 1-5,8-19                     unavailable no cpufreq driver: the kernel
                                                   does not set it
frequency 0,6-7                        unavailable offline
''')


def test_already():
    """freq-pin writes nothing, and no journal, on a machine that is as wanted."""
    with Setter(TOOL, 'isolated') as setter:
        times = setter.times()
        equal(words(setter.succeed('--json')), dict.fromkeys(
            ('governor', 'boost', 'minimum', 'maximum'), {'already'}), 'words')
        equal(setter.times(), times, 'written')
        equal(setter.left_over(), [], 'left over')


# --- What is chosen ---

def applies(name, arguments, changes, said=None, prepare=None):
    """Checks that apply changes exactly this, and that restore puts it back. Returns what was said
    on standard error."""
    with Setter(TOOL, name) as setter:
        if prepare:
            prepare(setter.box)
        before = setter.snapshot()
        result = setter.run(*arguments)
        equal(result.returncode, 0, f'{arguments}: {result.stderr}')
        setter.same({**before, **{path: f'{text}\n'.encode() for path, text in changes.items()}},
                    f'{arguments} (wanted, got)')
        if said is not None:
            check(re.search(said, result.stderr) if said else not result.stderr,
                  f'{arguments}: {result.stderr}')
        setter.succeed('restore')
        setter.same(before, f'{arguments}: restore')
        return result.stdout


def test_frequencies():
    """min, max and numbers. Boost is switched where they need it."""
    applies('intel-hybrid', ['max'], {**pinned('0-3', 5000000), **pinned('4-7', 5200000),
                                      **pinned('8-11', 3900000)}, '')
    applies('intel-hybrid', ['min'], {**pinned('0-11', 400000), INTEL + 'no_turbo': 1,
                                      INTEL + 'min_perf_pct': 7}, 'instead of')
    applies('intel-hybrid', ['1.2GHz'], {**pinned('0-11', 1200000), INTEL + 'no_turbo': 1})
    # Between the two base frequencies: the efficiency cores need turbo.
    applies('intel-hybrid', ['1500MHz'], pinned('0-11', 1500000))
    applies('amd-acpi', ['2800000'], {**pinned('0,2,4,6', 2800000), BOOST: 0})
    applies('amd-smt', ['5GHz'], pinned('0-15', 5000000))
    # Boost was off, and max needs it.
    applies('amd-smt', ['max'], {**pinned('0-15', 5450000), BOOST: 1},
            prepare=lambda box: box.write(BOOST, '0\n'))


def test_marker():
    """The first of 2701000 2700000 asks for turbo, and is no frequency to hold."""
    def prepare(box):
        for number in (0, 2, 4, 6):
            box.write(f'{POLICY}{number}/scaling_available_frequencies',
                      '2701000 2700000 2200000 1200000 \n')
            for name in ('scaling_max_freq', 'cpuinfo_max_freq', 'bios_limit'):
                box.write(f'{POLICY}{number}/{name}', '2701000\n')
            box.write(f'{POLICY}{number}/scaling_cur_freq', '2700000\n')
            box.remove(f'{POLICY}{number}/cpb')

    applies('amd-acpi', [], {**pinned('0,2,4,6', 2700000), BOOST: 0}, '', prepare)
    applies('amd-acpi', ['max'], pinned('0,2,4,6', 2701000), '', prepare)


def test_boost_table():
    """A frequency of scaling_boost_frequencies cannot be held either, but max is one of them."""
    def prepare(box):
        for number in (0, 2, 4, 6):
            box.write(f'{POLICY}{number}/scaling_boost_frequencies', '4400000 4200000 \n')

    applies('amd-acpi', [], {**pinned('0,2,4,6', 3600000), BOOST: 0}, '', prepare)
    applies('amd-acpi', ['max'], pinned('0,2,4,6', 4400000), '', prepare)
    applies('amd-acpi', ['4200MHz'], pinned('0,2,4,6', 4200000), '', prepare)


def test_no_base():
    """Nothing tells what can be held: boost goes off, and limits are left alone."""
    def prepare(box):
        for number in range(12):
            box.remove(f'{POLICY}{number}/base_frequency')

    out = applies('intel-hybrid', [], {
        **{path: text for path, text in pinned('0-11', 0).items() if 'governor' in path},
        INTEL + 'no_turbo': 1}, '', prepare)
    check('frequency 0-11 unavailable the base frequency is not known' in unfold(out), out)
    # A frequency that is given as a number is held all the same, and boost stays as it is.
    applies('intel-hybrid', ['3GHz'], pinned('0-11', 3000000), '', prepare)


def test_base_of_drivers():
    """What else tells the base: powernv, whose table has turbo, and intel_pstate without HWP."""
    def powernv(box):
        for number in range(0, 8, 2):
            box.write(f'{POLICY}{number}/scaling_driver', 'powernv-cpufreq\n')
            box.write(f'{POLICY}{number}/scaling_cur_freq', '2800000\n')
            box.write(f'{POLICY}{number}/cpuinfo_nominal_freq', '2800000\n')
    applies('amd-acpi', [], {**pinned('0,2,4,6', 2800000), BOOST: 0}, '', powernv)

    def no_hwp(box):
        for number in range(12):
            box.remove(f'{POLICY}{number}/base_frequency')
            box.write(f'{POLICY}{number}/cpuinfo_min_freq', '1200000\n')
            box.write(f'{POLICY}{number}/cpuinfo_max_freq', '3200000\n')
        box.write(INTEL + 'num_pstates', '21\n')
        box.write(INTEL + 'turbo_pct', '39\n')
    applies('intel-hybrid', [], {**pinned('0-11', 2400000), INTEL + 'no_turbo': 1}, '', no_hwp)


def test_no_switch():
    """amd_pstate of some kernels has no switch for boost: the maximum holds it."""
    def prepare(box):
        box.remove(BOOST)
        for number in range(16):
            box.remove(f'{POLICY}{number}/boost')

    out = applies('amd-smt', [], pinned('0-15', 4201000), '', prepare)
    check('boost 0-15 unavailable no switch: only the maximum' in unfold(out), out)


def test_policy_switch():
    """Only the policies have a switch."""
    def prepare(box):
        box.remove(BOOST)

    applies('amd-smt', [], {**pinned('0-15', 4201000),
                            **{f'{POLICY}{number}/boost': 0 for number in range(16)}}, '', prepare)
    applies('amd-acpi', [], {**pinned('0,2,4,6', 3600000),
                             **{f'{POLICY}{number}/cpb': 0 for number in (0, 2, 4, 6)}}, '',
            prepare)


def test_percentages():
    """max_perf_pct would hold the CPUs below the target."""
    applies('intel-hybrid', [], {**pinned('0-7', 1900000), **pinned('8-11', 1400000),
                                 INTEL + 'no_turbo': 1, INTEL + 'max_perf_pct': 100}, '',
            lambda box: box.write(INTEL + 'max_perf_pct', '30\n'))


def test_bios_limit():
    """Firmware that allows less: freq-pin sets the highest frequency that the firmware allows, and
    says so."""
    def prepare(box):
        box.write(POLICY + '2/bios_limit', '2800000\n')

    wanted = {**pinned('0,4,6', 3600000), **pinned('2', 2800000), BOOST: 0}
    applies('amd-acpi', [], wanted,
            r'CPUs 2-3: the firmware allows no more than 2\.8 GHz', prepare)
    applies('amd-acpi', ['3.6GHz'], {**pinned('0,2,4,6', 3600000), BOOST: 0},
            r'CPUs 2-3: the firmware allows no more than 2\.8 GHz', prepare)


def test_auto_select():
    applies('arm-nosmt', ['-c', '1'], pinned('1', 2808000),
            r'CPU 1: the firmware picks the frequency by itself',
            lambda box: box.write(POLICY + '1/auto_select', '1\n'))


# --- -c ---

def test_subset():
    """Policies of -c are set as a whole, other policies are left alone, and freq-pin says both."""
    applies('amd-acpi', ['-c', '3'], {**pinned('2', 3600000), BOOST: 0},
            r'this CPU shares a policy with CPUs of -c, and is set together with them: 2\n')
    applies('amd-acpi', ['-c', '2-3', '2.2GHz'], {**pinned('2', 2200000), BOOST: 0},
            r'these CPUs share a clock with CPUs of -c, and may still ask for a higher frequency: 0-1\n')
    applies('intel-hybrid', ['-c', '8,10'], {**pinned('8,10', 1400000), INTEL + 'no_turbo': 1},
            SHARED_SWITCH)
    # Where each policy has a switch of its own, the switches of other policies stay.
    applies('amd-smt', ['-c', '3,11'], {
        **pinned('3,11', 4201000), POLICY + '3/boost': 0, POLICY + '11/boost': 0}, '')
    # The switch of a policy has no effect while the global switch is off.
    applies('amd-smt', ['-c', '3'], pinned('3', 4201000), '',
            lambda box: box.write(BOOST, '0\n'))


def test_shared_switch():
    """A boost switch of all CPUs that changes because of -c is reported, whichever way it changes."""
    def switch_off(box):
        box.write(BOOST, '0\n')

    def turbo_off(box):
        box.write(INTEL + 'no_turbo', '1\n')

    applies('amd-acpi', ['-c', '2-3'], {**pinned('2', 3600000), BOOST: 0}, SHARED_SWITCH)
    applies('amd-acpi', ['-c', '6-7', 'max'], {**pinned('6', 3600000), BOOST: 1}, SHARED_SWITCH, switch_off)
    applies('amd-smt', ['-c', '3', 'max'], {**pinned('3', 5450000), BOOST: 1}, SHARED_SWITCH, switch_off)
    applies('intel-hybrid', ['-c', '8', 'max'], {**pinned('8', 3900000), INTEL + 'no_turbo': 0},
            SHARED_SWITCH, turbo_off)
    # It does not change, or there are no others.
    applies('amd-acpi', ['-c', '2-3'], pinned('2', 3600000), '', switch_off)
    applies('amd-acpi', ['-c', '0-7'], {**pinned('0,2,4,6', 3600000), BOOST: 0}, '')
    applies('intel-hybrid', ['-c', '8'], pinned('8', 1400000), '', turbo_off)
    applies('intel-hybrid', ['-c', '0-11'], {**pinned('0-7', 1900000), **pinned('8-11', 1400000),
                                             INTEL + 'no_turbo': 1}, '')


def test_offline():
    """The policy of an offline CPU cannot be set, which is no failure."""
    with Setter(TOOL, 'intel-passive') as setter:
        before = setter.snapshot()
        result = setter.run('-c', '3')
        equal(result.returncode, 0, result.stderr)
        check('frequency 3 unavailable offline' in unfold(result.stdout), result.stdout)
        setter.same(before, 'changed')
        equal(setter.run('-c', '3', '--strict').returncode, 1, '--strict')
        equal(setter.run('-c', '4').returncode, 2, 'a CPU that does not exist')


# --- Errors ---

def refuses(name, arguments, status, said):
    with Setter(TOOL, name) as setter:
        before = setter.snapshot()
        result = setter.run(*arguments)
        equal((result.returncode, result.stdout), (status, ''), f'{arguments}: {result.stderr}')
        equal(result.stderr, said, f'{arguments}')
        setter.same(before, f'{arguments} changed')
        equal(setter.left_over(), [], f'{arguments} left')


def test_errors():
    refuses('intel-hybrid', ['5.1GHz'], 2,
            'freq-pin: 5.1 GHz is not among the frequencies of CPUs 0-3: 0.4 to 5 GHz\n'
            'freq-pin: 5.1 GHz is not among the frequencies of CPUs 8-11: 0.4 to 3.9 GHz\n')
    refuses('intel-hybrid', ['-c', '9', '399999'], 2,
            'freq-pin: 0.4 GHz is not among the frequencies of CPU 9: 0.4 to 3.9 GHz\n')
    refuses('amd-acpi', ['2.5GHz'], 2,
            'freq-pin: 2.5 GHz is not among the frequencies of CPUs 0-7: 3.6, 2.8 or 2.2 GHz\n')
    for text in ('fast', '2.7', '', '-1GHz', '2.7GHz '):
        refuses('amd-acpi', ['--', text], 2,
                f"freq-pin: '{text}' is no frequency: base, min, max, 2.7GHz, 2700MHz, or a number "
                'of kHz\n')
    refuses('amd-acpi', ['stauts'], 2,
            "freq-pin: 'stauts' is no frequency (did you mean status?): base, min, max, 2.7GHz, "
            '2700MHz, or a number of kHz\n')
    refuses('amd-acpi', ['base', 'max'], 2,
            "freq-pin: 'max' is one word too many; see freq-pin --help\n")


def test_not_root():
    with Setter(TOOL, 'amd-acpi') as setter:
        before = setter.snapshot()
        for verb in ('apply', 'restore'):
            result = setter.run(verb, user=True)
            equal((result.returncode, result.stdout), (1, ''), verb)
            equal(result.stderr.count('\n'), 1, result.stderr)
        setter.same(before, 'changed')


# --- Again, and back ---

def test_again():
    """After several applies with different targets and CPUs, restore puts back the very first
    values."""
    for name, applies_ in (
            ('intel-hybrid', (['base'], ['max'], ['-c', '8-9', 'min'], ['1.2GHz'])),
            ('intel-passive', (['max', '-c', '2'], ['base'], ['min', '-c', '1'], ['3GHz'])),
            ('amd-acpi', (['-c', '6', 'max'], ['min'], ['base', '-c', '0-3'])),
            ('amd-smt', (['-c', '3', 'max'], ['-c', '5'], ['base'], ['-c', '3', 'max']))):
        with Setter(TOOL, name) as setter:
            before = setter.snapshot()
            for arguments in applies_:
                setter.succeed(*arguments)
            applied = setter.snapshot()
            check(applied != before, 'nothing was applied')
            setter.succeed('restore')
            setter.same(before, f'{name}: restore left')
            equal(setter.left_over(), [], f'{name}: left over')


def test_foreign():
    """A value that somebody else changed stays, is named, and is overwritten only with --force."""
    with Setter(TOOL, 'intel-passive') as setter:
        before = setter.snapshot()
        setter.succeed()
        setter.box.write(POLICY + '1/scaling_max_freq', '3000000\n')
        setter.box.write(POLICY + '0/scaling_governor', 'powersave\n')
        status = setter.succeed('status')
        check('3000000 4100000 - changed by somebody' in unfold(status), status)
        result = setter.run('restore')
        equal(result.returncode, 0, result.stderr)
        check('3000000' in result.stderr and 'powersave' in result.stderr, result.stderr)
        setter.same({**before, POLICY + '1/scaling_max_freq': b'3000000\n',
                     POLICY + '0/scaling_governor': b'powersave\n'}, 'restored (wanted, got)')
        setter.succeed('restore', '--force')
        setter.same(before, 'restore --force left')


def test_offline_meanwhile():
    """Settings of a CPU that went offline are kept until the CPU is back; all others are put back
    at once."""
    with Setter(TOOL, 'intel-passive') as setter:
        before = setter.snapshot()
        setter.succeed()
        policy, hidden = (setter.box.root / POLICY.removesuffix('/policy') / name
                          for name in ('policy1', 'hidden'))
        online = setter.box.root / 'sys/devices/system/cpu/online'
        cpus = online.read_text()
        policy.rename(hidden)
        online.write_text('0,2\n')
        result = setter.run('restore')
        equal(result.returncode, 0, result.stderr)
        check(result.stderr.count('\n') == 1 and 'CPU 1 is offline' in result.stderr and
              ' more: not as before' in result.stderr, result.stderr)
        equal(setter.run('restore', '--once').stderr, '', 'said once more')
        hidden.rename(policy)
        online.write_text(cpus)
        result = setter.run('restore')
        equal((result.returncode, result.stderr), (0, ''), 'restore')
        setter.same(before, 'restore left')
        equal(setter.left_over(), [], 'in /run/quiesce')


def test_shared_policy_offline_meanwhile():
    """A policy is named after its first CPU, which may have been offline all the time: its settings wait for
    those that went since."""
    with Setter(TOOL, 'arm-nosmt') as setter:
        cpus = setter.box.root / 'sys/devices/system/cpu'
        policy, hidden = cpus / 'cpufreq/policy4', cpus / 'hidden'
        for cpu in range(5, 8):
            shutil.rmtree(cpus / f'cpufreq/policy{cpu}')
            (cpus / f'cpu{cpu}/cpufreq').unlink()
            (cpus / f'cpu{cpu}/cpufreq').symlink_to('../cpufreq/policy4')
        (policy / 'related_cpus').write_text('4 5 6 7\n')
        (policy / 'affected_cpus').write_text('5 6 7\n')
        (cpus / 'online').write_text('0-3,5-7\n')
        before = setter.snapshot()
        setter.succeed('min')
        policy.rename(hidden)
        (cpus / 'online').write_text('0-3\n')
        result = setter.run('restore')
        equal(result.returncode, 0, result.stderr)
        check('because CPU 5 is offline' in result.stderr and result.stderr.count('\n') == 1, result.stderr)
        hidden.rename(policy)
        (cpus / 'online').write_text('0-3,5-7\n')
        result = setter.run('restore')
        equal((result.returncode, result.stderr), (0, ''), 'restore')
        setter.same(before, 'restore left')
        equal(setter.left_over(), [], 'in /run/quiesce')


def test_side_effects():
    """What the kernel does along the way, done here by hand, is put back: EPP is forced under
    performance, min_perf_pct is clamped, the policies' boost follows the global one, a
    speed set by hand is lost with its governor."""
    effects = {
        'intel-hybrid': {POLICY + '5/energy_performance_preference': 'performance',
                         INTEL + 'min_perf_pct': '8'},
        'amd-smt': {**{f'{POLICY}{number}/boost': '0' for number in range(16)},
                    POLICY + '7/energy_performance_preference': 'performance'},
        'amd-acpi': {POLICY + '4/cpb': '0'},
        'intel-passive': {POLICY + '1/scaling_setspeed': '<unsupported>'},
    }
    for name, changes in effects.items():
        with Setter(TOOL, name) as setter:
            before = setter.snapshot()
            setter.succeed()
            # As if freq-pin had found these values when it read back what it had set.
            journal = setter.journal.decode('utf-8')
            for path, text in changes.items():
                setter.box.write(path, text + '\n')
                journal, found = re.subn(rf'(\t/{re.escape(path)}\t.*\t)[^\t\n]*\n',
                                         lambda match, text=text: match.group(1) + text + '\n',
                                         journal)
                equal(found, 1, f'{path} in the journal')
            setter.journal_path.write_bytes(machine.seal_journal(journal.encode()))
            setter.succeed('restore')
            setter.same(before, f'{name}: restore left')


def test_shown():
    """A frequency above the target gives a warning that names boost; one below gives none."""
    applies('amd-acpi', [], {**pinned('0,2,4,6', 3600000), BOOST: 0},
            r'CPUs 4-5: the kernel shows up to 4\.30 GHz instead of 3\.6 GHz; is boost',
            lambda box: box.write(POLICY + '4/scaling_cur_freq', '4300000\n'))
    applies('amd-acpi', [], {**pinned('0,2,4,6', 3600000), BOOST: 0}, '',
            lambda box: box.write(POLICY + '4/scaling_cur_freq', '1800000\n'))
    # Some kernels show the measured frequency.
    applies('amd-acpi', [], {**pinned('0,2,4,6', 3600000), BOOST: 0}, r'up to 4\.30 GHz',
            lambda box: box.write(POLICY + '4/cpuinfo_avg_freq', '4300000\n'))
    applies('amd-acpi', [], {**pinned('0,2,4,6', 3600000), BOOST: 0}, '',
            lambda box: box.write(POLICY + '4/scaling_cur_freq', '<unknown>\n'))
    with Setter(TOOL, 'amd-acpi') as setter:
        rows = json.loads(setter.succeed('--json', '--verbose'))['knobs']
        shown = [row['why'] for row in rows if row['knob'] == 'maximum']
        equal(shown, ['shows 3.60 GHz'] * 4, 'shown')


# --- With a kernel, see cpufreq.py ---

class Linux(Setter):
    """A machine whose files do what the kernel does. boost and base: {CPU list: kHz}."""

    def __init__(self, name, boost, base, **config):
        super().__init__(TOOL, name)
        self.config = {'qos': True, 'floor': 8, **config}
        for key, speeds in (('boost', boost), ('base', base)):
            self.config[key] = {f'policy{number}': khz for numbers, khz in speeds.items()
                                for number in machine.parse_list(numbers)}

    def run(self, *arguments, user=False, **options):
        if user:
            return super().run(*arguments, user=True, **options)
        return self.run_with_kernel('cpufreq.py', *arguments,
                                    env={'TEST_CPUFREQ': json.dumps(self.config)}, **options)

    def write(self, path, text):
        """A write by somebody else."""
        result = self.box.run(*machine.simulator('cpufreq.py'), f'/{path}', text, root=True,
                              env={'TEST_CPUFREQ': json.dumps(self.config)})
        equal(result.returncode, 0, f'{text} > {path}: {result.stderr}')


def hybrid(**config):
    return Linux('intel-hybrid', {'0-3': 5000000, '4-7': 5200000, '8-11': 3900000},
                 {'0-7': 2500000, '8-11': 2000000}, **config)


def test_kernel_intel():
    """Linux 6.12: limits move with turbo, EPP is forced, min_perf_pct clamped."""
    changes = {
        **pinned('0-7', 1900000), **pinned('8-11', 1400000),
        INTEL + 'no_turbo': 1, INTEL + 'min_perf_pct': 8,
        **{f'{POLICY}{cpu}/energy_performance_preference': 'performance' for cpu in range(12)},
        **{f'{POLICY}{cpu}/cpuinfo_max_freq': 2500000 if cpu < 8 else 2000000
           for cpu in range(12)}}
    with hybrid() as linux:
        linux.cycle(changes=changes)
        linux.cycle('-c', '9', '1.1GHz')


def test_kernel_late():
    """A limit that was written is shown only after a while."""
    with hybrid(late=0.02) as linux:
        before = linux.snapshot()
        out = linux.succeed('-c', '0,8')
        check(re.search(r'maximum +0 +1900000 +1900000 +5000000 +applied', out), out)
        check(re.search(r'maximum +8 +1400000 +1400000 +3900000 +applied', out), out)
        linux.succeed('restore')
        linux.same(before, 'restore left')


def test_kernel_again():
    """Limits of an earlier apply that moved when a later apply switched turbo are ours."""
    with hybrid() as linux:
        before = linux.snapshot()
        linux.succeed('-c', '0-3', 'max')
        linux.succeed('-c', '8', 'base')
        linux.restore_all(before)


def test_kernel_other_cpus():
    """A switch that all CPUs share moves the limits of those that a call is not for, and of those that it
    leaves alone because their base is not known. What a later call finds there is no original."""
    intel, amd = {'0-7': 2500000, '8-11': 2000000}, {'0-15': 4201000}
    for name, boost, base, forget, calls in (
            ('intel-hybrid', {'0-3': 5000000, '4-7': 5200000, '8-11': 3900000}, intel, '', (['-c', '3'], ['-c', '4'])),
            ('intel-hybrid', {'0-3': 5000000, '4-7': 5200000, '8-11': 3900000}, intel, '', (['-c', '3'], [])),
            ('intel-hybrid', {'0-3': 5000000, '4-7': 5200000, '8-11': 3900000}, intel, 'base_frequency',
             (['-c', '3'], ['-c', '3', '2.4GHz'], ['-c', '9', '1.1GHz'])),
            ('intel-passive', {'0-2': 4100000}, {'0-2': 1500000}, '', (['-c', '0'], ['-c', '2'], ['-c', '1'])),
            # Kernels before 6.12 have no switch in each policy.
            ('amd-smt', {'0-15': 5450000}, amd, 'boost', (['-c', '3'], ['-c', '5', 'max'], ['-c', '5'], [])),
            ('amd-smt', {'0-15': 5450000}, amd, '', (['-c', '3'], [], ['-c', '4', 'max']))):
        for limit in ('', '3200000'):
            with Linux(name, boost, base, floor=51) as linux:
                cpus = [number for numbers in boost for number in machine.parse_list(numbers)]
                for number in cpus if forget else ():
                    linux.box.remove(f'{POLICY}{number}/{forget}')
                if limit:
                    linux.box.write(f'{POLICY}{cpus[-1]}/scaling_max_freq', f'{limit}\n')
                before = linux.snapshot()
                for arguments in calls:
                    linux.succeed(*arguments)
                linux.restore_all(before, f'{name}: restore after {calls}')


@contextlib.contextmanager
def offline(box, cpu, left):
    """Meanwhile the CPU, whose policy is its own, is offline, and `left` are online."""
    policy, hidden = (box.root / f'{POLICY}{name}' for name in (cpu, '.hidden'))
    online = box.root / 'sys/devices/system/cpu/online'
    all_cpus = online.read_text()
    policy.rename(hidden)
    online.write_text(f'{left}\n')
    yield
    hidden.rename(policy)
    online.write_text(all_cpus)


def make_tunables(box, folders):
    """What an admin has told governors; {folder: {file: text}}."""
    for folder, files in folders.items():
        for name, text in files.items():
            box.write(f'{POLICY.removesuffix("policy")}{folder}/{name}', f'{text}\n')


def test_kernel_tunables():
    """The last policy that leaves a governor takes its folder away, and with it what the governor was told."""
    shared = {'schedutil': {'rate_limit_us': 33333}, 'ondemand': {'up_threshold': 41, 'io_is_busy': 0}}
    own = {'policy0/schedutil': {'rate_limit_us': 33333}, 'policy2/ondemand': {'powersave_bias': 100}}
    for told, calls in itertools.product((shared, own), (
            [[]], [['-c', '0']], [['-c', '0'], ['-c', '2'], []], [['-c', '2', 'max'], ['-c', '2']])):
        with Linux('intel-passive', {'0-2': 4100000}, {'0-2': 4100000}, floor=60) as linux:
            make_tunables(linux.box, told)
            before = linux.snapshot()
            for arguments in calls:
                linux.succeed(*arguments)
            check('rate_limit_us' not in linux.succeed('status'), 'kept, and shown')
            linux.restore_all(before, f'restore after {calls}')


def test_kernel_tunables_in_no_order():
    """A threshold that is refused until another one is back."""
    with Linux('intel-passive', {'0-2': 4100000}, {'0-2': 4100000}, floor=60) as linux:
        linux.box.write(f'{POLICY}0/scaling_governor', 'conservative\n')
        make_tunables(linux.box, {'conservative': {'down_threshold': 97, 'up_threshold': 99}})
        before = linux.snapshot()
        linux.succeed()
        linux.restore_all(before)


def test_tunables_that_wait():
    """A governor that only an offline CPU has comes back with it."""
    with Linux('intel-passive', {'0-2': 4100000}, {'0-2': 4100000}, floor=60) as linux:
        make_tunables(linux.box, {'ondemand': {'up_threshold': 41}})
        before = linux.snapshot()
        linux.succeed()
        with offline(linux.box, 2, '0-1'):
            result = linux.run('restore')
            check(result.returncode == 0 and 'CPU 2 is offline' in result.stderr and
                  'gone' not in result.stderr, result.stderr)
        linux.restore_all(before)


def test_journal_of_before():
    """A journal of the version before, which did not tell what was only kept, or was no limit."""
    for again in None, [], ['-c', '4', 'max']:
        with hybrid() as linux:
            before = linux.snapshot()
            linux.succeed('-c', '3')
            journal = re.sub(rb'^(kept|same)\t', b'knob\t', linux.journal, flags=re.M)
            journal = re.sub(rb'\tfree$', b'', journal, flags=re.M)
            check(journal != linux.journal, 'the journal is of the version before already')
            linux.journal_path.write_bytes(machine.seal_journal(journal))
            if again is not None:
                linux.succeed(*again)
            linux.restore_all(before, f'restore after {again}')


def test_kernel_no_limit():
    """A maximum that was no limit is none afterwards: who switches boost on later gets it. So is a minimum that
    was below what boost allows."""
    for calls in ([['min']], [['min'], []], [[], ['min'], []], [['max']], [['max'], []], [['-c', '3', 'min'], []]):
        with hybrid() as linux:
            linux.write(INTEL + 'no_turbo', '1')
            before = linux.snapshot()
            for arguments in calls:
                linux.succeed(*arguments)
            linux.restore_all(before, f'restore after {calls}')
            linux.write(INTEL + 'no_turbo', '0')
            limits = {(linux.box.root / f'{POLICY}{cpu}/scaling_{limit}_freq').read_text()
                      for cpu in range(4) for limit in ('min', 'max')}
            equal(limits, {'400000\n', '5000000\n'}, f'limits after {calls}, with boost')


def test_kernel_killed_when_it_wrote_again():
    """A maximum that had the wanted value was moved by the switch and written again, and the call was killed before
    the journal knew."""
    with hybrid() as linux:
        linux.write(INTEL + 'no_turbo', '1')
        before = linux.snapshot()
        linux.succeed('max')
        journal, found = re.subn(rb'^knob(\t.*/policy1/scaling_max_freq\t.*\t)\d+\tfree$', rb'same\1\\?\tfree',
                                 linux.journal, flags=re.M)
        equal(found, 1, 'the maximum of CPU 1 in the journal')
        linux.journal_path.write_bytes(machine.seal_journal(journal))
        linux.succeed('-c', '3', '2GHz')
        linux.restore_all(before)
        linux.write(INTEL + 'no_turbo', '0')
        equal((linux.box.root / f'{POLICY}1/scaling_max_freq').read_text(), '5000000\n', 'maximum with boost')


def test_kernel_first_seen_without_boost():
    """A CPU that was offline when boost was switched off: what it allows then is no limit either."""
    with hybrid() as linux:
        before = linux.snapshot()
        with offline(linux.box, 5, '0-4,6-11'):
            linux.succeed('-c', '3')
        # What the kernel makes of it meanwhile.
        for name in ('scaling_max_freq', 'cpuinfo_max_freq'):
            linux.box.write(f'{POLICY}5/{name}', '2500000\n')
        linux.succeed('-c', '5')
        linux.restore_all(before)


def cooled(kind, **limits):
    """A machine whose CPU 3 gets too hot, and the file that tells its cooling device so."""
    device = 'sys/class/thermal/cooling_device7/'
    linux = hybrid(cooling={'policy3': {'cooling_device7': 1500000}})
    linux.box.write(f'{device}type', f'{kind}\n')
    linux.box.write(f'{device}cur_state', '0\n')
    for limit, khz in limits.items():
        linux.box.write(f'{POLICY}3/scaling_{limit}_freq', f'{khz}\n')
    return linux, f'{device}cur_state'


def test_kernel_throttled():
    """What shows while a CPU is too hot is not what somebody has asked for."""
    for kind in 'cpufreq-cpu3', 'Processor', 'thermal-cpufreq-0':
        linux, state = cooled(kind)
        with linux:
            before = linux.snapshot()
            linux.write(state, '2')
            said = linux.run('-c', '3', '1.2GHz').stderr
            check('CPU 3: something else limits' in said, said)
            linux.write(state, '0')
            linux.restore_all(before)


def test_kernel_throttled_at_last():
    """A limit that is put back while the CPU is too hot does not show, and nobody has changed it."""
    linux, state = cooled('cpufreq-cpu3', max=3000000)
    with linux:
        before = linux.snapshot()
        linux.succeed('-c', '3')
        linux.write(state, '2')
        result = linux.run('restore')
        check(result.returncode == 0 and 'stays at 1500000: a cooling device limits it' in result.stderr and
              'somebody' not in result.stderr, result.stderr)
        equal(linux.run('restore', '--once').stderr, '', 'said again')
        linux.write(state, '0')
        linux.restore_all(before)
    # Another CPU's cooling device does not count.
    linux, state = cooled('cpufreq-cpu4')
    with linux:
        linux.succeed('-c', '3')
        linux.write(state, '2')
        check('somebody else' in linux.run('restore').stderr, 'a value of somebody else')


def test_kernel_offline_meanwhile():
    """A policy that was away when the switch of all was turned comes back as that makes it: that is no choice of
    anybody, and no original."""
    for calls in ([['-c', '3,5', 'max'], ['max', '-c', '3'], []], [[], ['-c', '1', 'max'], []],
                  [['-c', '3'], [], ['-c', '5']]):
        with Linux('amd-smt', {'0-15': 5450000}, {'0-15': 4201000}) as linux:
            is_new = calls[-1] == ['-c', '5']  # what was asked for has never been seen
            linux.box.write(f'{POLICY}5/scaling_max_freq', f'{5450000 if is_new else 4900000}\n')
            before = linux.snapshot()
            for number, arguments in enumerate(calls):
                # CPU 5 is offline during the second call.
                away = number == 1
                with offline(linux.box, 5, '0-4,6-15') if away else contextlib.nullcontext():
                    said = linux.run(*arguments).stderr
                equal('CPU 5: something else limits' in said, is_new and number == 2, said)
                if away:
                    linux.write(BOOST, (linux.box.root / BOOST).read_text().strip())
            linux.restore_all(before, f'restore after {calls}')


def test_kernel_overwrites():
    """Some drivers ask for what boost allows as soon as it is switched, in place of what somebody had asked for."""
    with hybrid(overwrites=True) as linux:
        linux.box.write(f'{POLICY}4/scaling_max_freq', '3200000\n')
        before = linux.snapshot()
        linux.succeed('-c', '3')
        linux.restore_all(before)
        linux.succeed('-c', '3')
        linux.write(f'{POLICY}5/scaling_max_freq', '1700000')
        result = linux.run('restore')
        check('stays at 1700000: somebody else' in result.stderr, result.stderr)
        linux.same({**before, f'{POLICY}5/scaling_max_freq': b'1700000\n'}, 'restore left')


def test_kernel_kept():
    """What is only written down is no setting: the status shows it with --verbose, and says nothing of what it
    is to be."""
    with hybrid() as linux:
        linux.succeed('-c', '3')
        out = linux.succeed('status', '-c', '3')
        check('5200000' not in out and '5000000' in out, out)
        rows = json.loads(linux.succeed('status', '-c', '3', '--json', '--verbose'))['knobs']
        kept = [(row['wanted'], row['original']) for row in rows if row['path'] == f'/{POLICY}4/scaling_max_freq']
        equal(kept, [(None, '5200000')], 'row of a limit that is only kept')


def test_kernel_without_base():
    """Where the base frequency is not known, only turbo is turned off. That lowers min_perf_pct, and the
    limits of an earlier apply."""
    with hybrid() as linux:
        for number in range(12):
            linux.box.remove(f'{POLICY}{number}/base_frequency')
        before = linux.snapshot()
        out = linux.succeed()
        check('the base frequency is not known' in unfold(out), out)
        equal((linux.box.root / INTEL / 'min_perf_pct').read_text(), '8\n', 'what the kernel lowers')
        for again in (), ('-c', '0-7', '4.5GHz'), ('max',):
            if again:
                linux.succeed(*again)
                linux.succeed()
            linux.restore_all(before, f'restore after {again}')


def test_kernel_amd():
    """Policies' boost cannot be written while the global one is off."""
    with Linux('amd-smt', {'0-15': 5450000}, {'0-15': 4201000}) as linux:
        linux.cycle()
        linux.cycle('-c', '3')
        before = linux.snapshot()
        linux.succeed()
        linux.succeed('max', '-c', '5')
        linux.succeed('restore')
        linux.same(before, 'restore left')


def guided(**config):
    """amd-pstate without CPPC's nominal frequency, whose maximum is the base while boost is off."""
    linux = Linux('amd-smt', {'0-15': 5450000}, {'0-15': 4201000}, **config)
    for number in range(16):
        linux.box.remove(f'sys/devices/system/cpu/cpu{number}/acpi_cppc/nominal_freq')
    return linux


def limits_of(linux, number):
    return [int((linux.box.root / f'{POLICY}{number}/scaling_{name}_freq').read_text()) for name in ('min', 'max')]


def test_kernel_base_shows_late():
    """One apply does what two did: it pins at a base that shows only without boost."""
    with guided() as linux:
        before = linux.snapshot()
        out = unfold(linux.succeed('--dry-run'))
        check('frequency 0-15 unavailable the base frequency shows only while boost is off' in out, out)
        for arguments, others in ([], 4201000), (['-c', '3'], 5450000):
            out = linux.succeed(*arguments)
            check('4201000' in out and '5450000' in out and 'unavailable' not in out, out)
            equal(limits_of(linux, 3), [4201000, 4201000], 'pinned')
            equal(limits_of(linux, 5)[1], others, 'others')
            applied = linux.snapshot()
            linux.succeed(*arguments)
            linux.same(applied, 'a second apply changed')
            linux.restore_all(before)
        # With the settings of an earlier call.
        linux.succeed('-c', '2', 'max')
        linux.succeed('-c', '3')
        linux.restore_all(before)


def test_kernel_maximum_shows_late():
    """And at a maximum that shows only with boost."""
    with guided() as linux:
        for number in range(16):
            linux.box.remove(f'{POLICY}{number}/amd_pstate_max_freq')
        linux.write(BOOST, '0')
        before = linux.snapshot()
        result = linux.run('-c', '3', 'max')
        equal(result.returncode, 0, result.stderr)
        check('again' not in result.stderr, result.stderr)
        equal(limits_of(linux, 3), [5450000, 5450000], 'pinned')
        linux.restore_all(before)


def refused(linux, before, what):
    """An apply that cannot write `what` fails, leaves the machine as it was before, and no journal."""
    result = linux.run()
    equal(result.returncode, 3, result.stderr)
    check(what in result.stderr, result.stderr)
    linux.same(before, 'failed apply left')
    equal(linux.left_over(), [], 'left over')


def test_kernel_refuses_late():
    """What the second half of an apply cannot do is put back with the first."""
    with guided(broken=[f'/{POLICY}11/scaling_min_freq']) as linux:
        before = linux.snapshot()
        refused(linux, before, 'scaling_min_freq')
        linux.succeed('-c', '3')
        applied = linux.snapshot()
        equal(linux.run('-c', '11').returncode, 3, 'status')
        linux.same(applied, 'failed apply left')
        linux.restore_all(before)


def test_kernel_old():
    """Before 5.3 a minimum above the maximum was refused, on the way there as on the way back."""
    with Linux('intel-passive', {'0-2': 4100000}, {'0-2': 4100000}, qos=False,
               floor=60) as linux:
        for target in ('min', 'max', 'base', '2.6GHz', '4.0GHz'):
            linux.cycle(target)
        before = linux.snapshot()
        for target in ('max', 'min', 'max', 'base'):
            linux.succeed(target)
        linux.succeed('restore')
        linux.same(before, 'restore left')


def test_kernel_refuses():
    """One limit cannot be set: everything is as before, and no journal is left."""
    with hybrid(broken=[f'/{POLICY}11/scaling_max_freq']) as linux:
        refused(linux, linux.snapshot(), 'scaling_max_freq')


machine.skip_without_cpupower('freq-pin')
machine.run_tests(machine.tests_of(globals()))
