# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest itself: without its knobs the other tests would have nothing to test."""

import glob
import re

from lab import (CONFIG, CPUS, boots, check, equal, heat, interrupts, plug, programmed, read, succeed,
                 wait_for, write)

ALL = ('plain', 'isolated', 'cgroup-v1')


@boots(*ALL)
def test_has_what_is_turned():
    equal(read(f'{CPUS}/online'), '0-3', 'CPUs')
    equal(read(f'{CPUS}/smt/control'), 'on', 'SMT')
    equal([read(f'{CPUS}/cpu{c}/topology/thread_siblings_list') for c in range(4)],
          ['0-1', '0-1', '2-3', '2-3'], 'threads')
    for cpu in range(4):
        equal(read(f'{CPUS}/cpufreq/policy{cpu}/scaling_driver'), 'acpi-cpufreq', 'driver')
        equal(read(f'{CPUS}/cpufreq/policy{cpu}/scaling_available_frequencies').split(),
              ['2701000', '2700000', '2000000', '1600000'], 'frequencies')
    check(len([n for n in interrupts() if n > 20]) > 3, f'few interrupts: {interrupts()}')
    version = 1 if CONFIG['boot'] == 'cgroup-v1' else 2
    equal('cgroup.controllers' in str(glob.glob('/sys/fs/cgroup/*')), version == 2, 'cgroup v2')


def test_frequency_follows():
    """The driver programs each CPU by itself."""
    folder = f'{CPUS}/cpufreq/policy3'
    lowest, highest = read(f'{folder}/scaling_min_freq'), read(f'{folder}/scaling_max_freq')
    write(f'{folder}/scaling_max_freq', '1600000')
    wait_for(lambda: programmed(3) == 1600000, 'CPU 3 at 1.6 GHz')
    write(f'{folder}/scaling_max_freq', highest)
    write(f'{folder}/scaling_min_freq', '2700000')
    wait_for(lambda: programmed(3) >= 2700000, 'CPU 3 at 2.7 GHz')
    write(f'{folder}/scaling_min_freq', lowest)


def test_temperature_follows():
    zone = '/sys/class/thermal/thermal_zone0/temp'
    for celsius in (70, 45):
        heat(celsius)
        wait_for(lambda c=celsius: abs(int(read(zone)) - 1000 * c) < 1000, f'{celsius} degrees')


def test_power_follows():
    online = glob.glob('/sys/class/power_supply/*/online')[0]
    battery = glob.glob('/sys/class/power_supply/BAT*/status')[0]
    plug(False)
    wait_for(lambda: (read(online), read(battery)) == ('0', 'Discharging'), 'AC gone')
    plug(True)
    wait_for(lambda: read(online) == '1', 'AC back')


@boots('isolated')
def test_is_isolated():
    equal(read(f'{CPUS}/isolated'), '1,3', 'isolcpus')
    equal(read(f'{CPUS}/nohz_full'), '1,3', 'nohz_full')


@boots(*ALL)
def test_our_programs_start():
    for program in ('runpinned', 'freq-pin', 'irq-steer', 'noise-off', 'smt-off'):
        check(re.search(r'\d+\.\d+', succeed(program, '--version')), program)
