#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""isol-check on described machines, and beside real processes."""

import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import machine
from machine import Machine, Setter, Skip, check, equal, make_journal, on_terminal, repeating

ISOL_CHECK = os.environ['ISOL_CHECK']
GOLDEN = machine.HERE / 'golden' / 'isol-check'
CPU = 'sys/devices/system/cpu'
POLICY = f'{CPU}/cpufreq/policy'
KERNEL = 'proc/sys/kernel'
THP = 'sys/kernel/mm/transparent_hugepage'
WORKQUEUE = 'sys/devices/virtual/workqueue'
ZONE = 'sys/devices/virtual/thermal/thermal_zone0/hwmon0/device'
HWMON = 'sys/class/hwmon/hwmon'
SUPPLY = 'sys/class/power_supply'
CGROUP = 'sys/fs/cgroup'
CLOCK = 'sys/devices/system/clocksource/clocksource0'
BOOT = 'BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro quiet '
VERDICTS = ('ok', 'info', 'unknown', 'risk', 'noise')


def cgroups(**partitions):
    """A cgroup v2 tree with a partition of each name, "state cpus"."""
    files = {f'{CGROUP}/cgroup.controllers': 'cpuset cpu', f'{CGROUP}/cgroup.procs': ''}
    for name, partition in partitions.items():
        state, _, cpus = partition.rpartition(' ')
        files[f'{CGROUP}/{name}.slice/cpuset.cpus.partition'] = state
        files[f'{CGROUP}/{name}.slice/cpuset.cpus.effective'] = cpus
    return files


def v1_cpusets(balance):
    return {
        f'{CGROUP}/cpuset/cpuset.sched_load_balance': balance,
        f'{CGROUP}/cpuset/cpuset.cpu_exclusive': '1',
        f'{CGROUP}/cpuset/shield/cpuset.cpu_exclusive': '1',
        f'{CGROUP}/cpuset/shield/cpuset.cpus': '3',
    }


def steal(ticks):
    return {'proc/stat': 'cpu  220 0 110 80000 10 0 5 0 0 0\n' + ''.join(
        f'cpu{n} 100 0 50 20000 5 0 2 {ticks} 0 0\n' for n in range(4)) + 'intr 1\n'}


def quota(limit, **above):
    """A cgroup with this cpu.max, or with the quota of v1, below one without a limit; `above`: further
    files of the root."""
    if isinstance(limit, int):
        folder = f'{CGROUP}/cpu,cpuacct'
        return {'proc/self/cgroup': '4:cpu,cpuacct:/pod/job\n0::/',
                f'{folder}/cgroup.sane_behavior': '0', f'{folder}/pod/cpu.cfs_quota_us': '-1',
                f'{folder}/pod/cpu.cfs_period_us': '100000',
                f'{folder}/pod/job/cpu.cfs_quota_us': str(limit),
                f'{folder}/pod/job/cpu.cfs_period_us': '100000'}
    return {'proc/self/cgroup': '0::/pod/job', f'{CGROUP}/cgroup.controllers': 'cpu',
            f'{CGROUP}/pod/cpu.max': limit, f'{CGROUP}/pod/job/cpu.max': 'max 100000',
            **{f'{CGROUP}/{name.replace("_", ".")}': text for name, text in above.items()}}


def coretemps(*celsius):
    """The sensors of that many packages."""
    return {f'{HWMON}{n}/{name}': text for n, now in enumerate(celsius)
            for name, text in (('name', 'coretemp'), ('temp1_label', f'Package id {n}'),
                               ('temp1_input', f'{now}000'), ('temp1_crit', '100000'))}


QUIET = 'nohz-pstate'
QUEUES = 'sys/class/net/eth0/queues'
ERRORS = 'sys/devices/system/machinecheck/machinecheck0'
UNCORE = f'{CPU}/intel_uncore_frequency/package_00_die_00'
SCHED_EXT = 'sys/kernel/sched_ext'
RESCTRL = 'sys/fs/resctrl'

# Each check: (machine, CPUs, files that are changed, verdict, and what must be said or advised), where
# it finds something and where it does not.
CASES = {
    'cpus': [
        (QUIET, '0', {}, 'risk', 'isol-check --pick=1'),
        (QUIET, '2-3', {}, 'info', '2-3 (as asked)'),
        ('s390-gaps', '4', {f'{CPU}/online': '0-3,8'}, 'risk', 'offline: 4'),
    ],
    'isolated': [
        ('intel-hybrid', '3', {}, 'noise', 'cpu-shield -c 3'),
        (QUIET, '1-2', {}, 'noise', 'CPU 1:'),
        (QUIET, '2-3', {}, 'ok', 'isolcpus'),
        ('intel-hybrid', '3', cgroups(benchmark='isolated 3'), 'ok', '/benchmark.slice'),
        ('intel-hybrid', '3', cgroups(benchmark='root 2-3'), 'ok', 'for one cgroup alone'),
        ('intel-hybrid', '3', cgroups(benchmark='isolated invalid (Parent is not) 3'), 'noise', ''),
        ('intel-hybrid', '3', {f'{CGROUP}/cgroup.controllers': 'cpuset',
                               f'{CGROUP}/cpuset.cpus.isolated': '3'}, 'ok', 'partition'),
        ('intel-hybrid', '3', v1_cpusets('0'), 'ok', 'by the cpuset /shield'),
        ('intel-hybrid', '3', v1_cpusets('1'), 'noise', ''),
    ],
    'isolcpus': [
        (QUIET, '2', {'proc/cmdline': BOOT + 'isolcpus=managed_irq,2-3'}, 'risk',
         'isolcpus=managed_irq,domain,2-3'),
        (QUIET, '2', {'proc/cmdline': BOOT + 'isolcpus=2-x'}, 'risk', 'names no CPU'),
        (QUIET, '2', {'proc/cmdline': BOOT + 'isolcpus='}, 'risk', 'isolcpus=; that names no CPU'),
        (QUIET, '2', {'proc/cmdline': BOOT + 'isolcpus=2,3,'}, 'info', 'isolcpus=domain,2,3'),
        (QUIET, '2', {'proc/cmdline': BOOT + 'isolcpus=1-9', f'{CPU}/isolated': ''}, 'risk', 'refuses such a list'),
        # A kernel that takes those CPUs of such a list that there are.
        (QUIET, '2', {'proc/cmdline': BOOT + 'isolcpus=2-9'}, 'info', 'isolcpus=domain,2-9'),
        (QUIET, '2', {'proc/cmdline': BOOT + 'isolcpus=1-3'}, 'risk', 'has not isolated all'),
        (QUIET, '2', {'proc/cmdline': BOOT + 'quiet -- isolcpus=2-3'}, 'info', 'not on the boot line'),
        (QUIET, '2', {'proc/cmdline': BOOT + 'isolcpus=managed_irq,2-3 isolcpus=domain,2-3'}, 'info',
         'isolcpus=domain,managed_irq,2-3'),
        (QUIET, '2', {'proc/cmdline': BOOT + 'isolcpus=managed_irq,domain,2 isolcpus=3'}, 'risk',
         'isolcpus=domain,managed_irq,2; isolcpus= is given again'),
        (QUIET, '2', {}, 'info', '2-3'),
        ('intel-hybrid', '3', {}, 'info', 'not on the boot line'),
    ],
    'partitions': [
        (QUIET, '2', cgroups(a='isolated invalid (Cpu list in cpuset.cpus not exclusive) 2'),
         'risk', 'not exclusive'),
        (QUIET, '2', cgroups(a='isolated 2'), 'info', '/a.slice: isolated, CPUs 2'),
        ('foreign-partition', '6', {}, 'info', '/ovs.slice/vswitchd.service/dpdk: isolated, CPUs 6-7'),
        (QUIET, '2', cgroups(a='member 2'), 'info', 'no cpuset'),
        (QUIET, '2', v1_cpusets('1'), 'risk', 'exclusive, balanced'),
        (QUIET, '2', v1_cpusets('0'), 'info', '/shield: exclusive, CPUs 3'),
    ],
    'nohz-full': [
        (QUIET, '2-3', {f'{CPU}/nohz_full': '2'}, 'risk', 'but not 3'),
        (QUIET, '2-3', {'proc/cmdline': BOOT + 'nohz_full=2-3 nohz_full=3'}, 'risk',
         'a boot line with one nohz_full='),
        (QUIET, '2-3', {}, 'ok', ''),
        (QUIET, '2-3', {f'{CPU}/nohz_full': ' (null)'}, 'info', 'the tick runs'),
    ],
    'rcu-nocbs': [
        (QUIET, '2-3', {f'{CPU}/nohz_full': '', 'proc/cmdline': BOOT + 'rcu_nocbs=2'}, 'risk',
         'rcu_nocbs=2-3'),
        (QUIET, '2-3', {}, 'ok', 'by nohz_full'),
        ('isolated', '2-3', {}, 'ok', 'rcu_nocbs'),
        ('intel-hybrid', '3', {}, 'info', ''),
        # A kernel that perhaps does not know it: no file nohz_full, and no thread that does the work.
        ('noisy-server', '4', {'proc/cmdline': BOOT + 'rcu_nocbs=4'}, 'unknown', 'cannot be seen'),
    ],
    'nohz-pstate': [
        (QUIET, '2-3', {}, 'risk', 'rcu_nocbs=2-3, or freq-pin -c 2-3'),
        (QUIET, '2-3', {'proc/cmdline': BOOT + 'nohz_full=2-3 rcu_nocbs=2-3'}, 'ok', 'rcu_nocbs'),
        (QUIET, '2-3', {'proc/cmdline': BOOT + 'nohz_full=2-3 rcu_nocbs=2'}, 'risk', 'rcu_nocbs='),
        (QUIET, '2-3', {f'{POLICY}{n}/scaling_min_freq': '3600000' for n in (2, 3)}, 'ok', 'fixed'),
        (QUIET, '2-3', {f'{POLICY}3/scaling_min_freq': '3600000'}, 'risk', 'rcu_nocbs=2,'),
        (QUIET, '0-1', {}, 'ok', ''),
        (QUIET, '2', {f'{POLICY}2/scaling_driver': 'intel_cpufreq'}, 'ok', 'not with intel_pstate'),
        ('isolated', '2-3', {}, 'ok', ''),
    ],
    'siblings': [
        ('amd-smt', '2', {}, 'noise', 'smt-off -c 2'),
        ('amd-smt', '2,10', {}, 'risk', '2,10 share a core'),
        ('amd-smt', '2', {f'{CPU}/isolated': '2,10'}, 'ok', '10 beside these CPUs is isolated'),
        (QUIET, '2', {}, 'ok', ''),
        ('arm-nosmt', '3', {}, 'ok', ''),
        # What the host does not show is not known, but where it shows threads, or is a partition.
        ('vm-plain', '1', {}, 'unknown', 'no thread is shown here'),
        ('vm-plain', '1', {f'{CPU}/smt/control': 'notimplemented'}, 'unknown', 'isol-check --measure'),
        ('vm-plain', '1', {f'{CPU}/smt/control': 'off'}, 'ok', 'no thread beside'),
        ('s390-gaps', '4', {'proc/sysinfo': 'VM00 Control Program: KVM/Linux'}, 'unknown', 'the host'),
        ('s390-gaps', '4', {'proc/sysinfo': 'LPAR Number:          7'}, 'ok', 'no thread beside'),
    ],
    'half-cores': [
        ('amd-smt', '2', {f'{CPU}/isolated': '2'}, 'risk', 'smt-off -c 2'),
        ('amd-smt', '2', {f'{CPU}/isolated': '2,10'}, 'ok', ''),
        (QUIET, '2', {}, 'ok', ''),
    ],
    'smt': [
        ('amd-smt', '2', {}, 'info', 'cores run several threads'),
        (QUIET, '2', {}, 'info', 'control off'),
        ('s390-gaps', '2', {}, 'info', ''),
    ],
    'freq-driver': [
        (QUIET, '2', {}, 'info', 'intel_pstate; mode active'),
        ('isolated', '2', {}, 'info', 'acpi-cpufreq'),
        ('vm-plain', '1', {}, 'unknown', 'hypervisor'),
    ],
    'boost': [
        ('intel-hybrid', '3', {}, 'noise', 'freq-pin -c 3'),
        (QUIET, '2', {}, 'ok', 'off'),
        (QUIET, '2', {f'{CPU}/intel_pstate/no_turbo': '0', f'{POLICY}2/scaling_min_freq': '3600000'},
         'ok', 'below'),
        (QUIET, '2', {f'{CPU}/intel_pstate/no_turbo': '0', f'{POLICY}2/scaling_min_freq': '4200000',
                      f'{POLICY}2/scaling_max_freq': '4200000'}, 'risk', 'freq-pin'),
        ('isolated', '2-3', {f'{CPU}/cpufreq/boost': '1'}, 'risk', ''),
        # The highest frequency of an ACPI table is exceeded, on AMD from the nominal one on.
        ('amd-acpi', '3', {f'{CPU}/cpu3/acpi_cppc/nominal_freq': '3600'}, 'noise', 'follows heat'),
        ('amd-acpi', '6', {f'{CPU}/cpu6/acpi_cppc/nominal_freq': '3600'}, 'ok', 'below'),
        ('amd-acpi', '6', {}, 'ok', 'below'),
        # A driver that has a list of what is boost.
        ('arm-nosmt', '3', {f'{CPU}/cpufreq/boost': '1', f'{POLICY}3/scaling_available_frequencies': '1000000 1512000',
                            f'{POLICY}3/scaling_boost_frequencies': '1800000', f'{POLICY}3/scaling_max_freq': '1512000'},
         'ok', 'below'),
        ('vm-plain', '1', {}, 'unknown', ''),
    ],
    'governor': [
        (QUIET, '2', {}, 'noise', 'powersave'),
        ('isolated', '2', {f'{POLICY}2/scaling_governor': 'powersave',
                           f'{POLICY}2/scaling_min_freq': '1200000'}, 'ok', 'the lowest frequency'),
        ('amd-smt', '2', {}, 'noise', 'powersave: the frequency follows'),
        (QUIET, '2-3', {f'{POLICY}3/scaling_governor': 'performance'}, 'noise',
         'CPU 2: powersave, CPU 3: performance'),
        ('isolated', '2-3', {}, 'ok', 'performance'),
        (QUIET, '2', {f'{POLICY}2/scaling_min_freq': '3600000'}, 'ok', 'nothing to choose'),
    ],
    'freq-range': [
        (QUIET, '2', {}, 'risk', '0.80 GHz to 3.60 GHz'),
        ('isolated', '2', {f'{POLICY}2/bios_limit': '1800000'}, 'risk', 'firmware'),
        ('isolated', '2-3', {}, 'ok', 'pinned at 2.30 GHz'),
    ],
    'epp': [
        (QUIET, '2', {}, 'risk', 'EPP balance_performance'),
        (QUIET, '2', {f'{POLICY}2/energy_performance_preference': 'performance'}, 'ok', ''),
        ('isolated', '2', {}, 'info', ''),
        ('isolated', '2', {f'{CPU}/cpu2/power/energy_perf_bias': '6'}, 'ok', 'EPB 6'),
        ('isolated', '2', {f'{CPU}/cpu2/power/energy_perf_bias': '6',
                           f'{POLICY}2/scaling_min_freq': '1200000'}, 'risk', 'EPB 6'),
    ],
    'freq-policies': [
        (QUIET, '2-3', {f'{POLICY}3/scaling_max_freq': '3000000'}, 'risk', 'differ'),
        ('amd-acpi', '3', {}, 'risk', 'shared with CPU 2, whose load moves it'),
        ('amd-acpi', '2-3', {}, 'ok', ''),
        ('isolated', '2', {f'{POLICY}2/related_cpus': '0 1 2'}, 'info', 'shared with CPU 0-1'),
        ('isolated', '2', {f'{POLICY}2/related_cpus': '2 9'}, 'ok', ''),
        (QUIET, '2-3', {}, 'ok', ''),
    ],
    'core-kind': [
        ('intel-hybrid', '7-8', {}, 'risk', 'CPU 7: performance cores, CPU 8: efficiency cores'),
        ('intel-hybrid', '8', {}, 'info', '--pick=1'),
        ('intel-hybrid', '3', {}, 'ok', ''),
        (QUIET, '2', {}, 'ok', ''),
        ('low-power', '7-8', {}, 'risk', 'CPU 7: efficiency cores, CPU 8: low-power cores'),
        ('low-power', '2,4,9', {}, 'risk', 'CPU 2: performance cores, CPU 4: efficiency cores, CPU 9: low-power'),
        ('low-power', '8-9', {}, 'info', 'low-power cores'),
        # By their frequencies alone, and by capacity within what has one PMU.
        ('arm-nosmt', '2-3', {f'{CPU}/cpu3/cpu_capacity': '200'}, 'risk', 'CPU 2: efficiency cores, CPU 3: low-power'),
        ('intel-hybrid', '9-10', {f'{POLICY}10/cpuinfo_max_freq': '2500000'}, 'risk', 'CPU 10: low-power cores'),
    ],
    'freq-now': [
        ('isolated', '2', {f'{POLICY}2/scaling_cur_freq': '1200000'}, 'risk', '1.20 GHz'),
        ('isolated', '2', {f'{POLICY}2/scaling_cur_freq': '2299999'}, 'ok', ''),
        (QUIET, '2', {}, 'info', ''),
    ],
    'idle-driver': [
        (QUIET, '2', {}, 'info', 'intel_idle, governor menu'),
        ('vm-plain', '1', {}, 'info', 'hypervisor'),
        ('isolated', '2', {}, 'unknown', ''),
    ],
    'idle-states': [
        (QUIET, '2', {}, 'info', 'POLL 0 us, C1 2 us, C6 85 us (disabled)'),
        # How often each was entered, of both CPUs together; what only one tells is not added up.
        (QUIET, '2-3', {f'{CPU}/cpu{cpu}/cpuidle/state{state}/usage': usage for cpu in (2, 3)
                        for state, usage in enumerate(('0', '30', '90'))}, 'info',
         'entered since boot: POLL 0 %, C1 25 %, C6 75 %'),
        (QUIET, '2-3', {f'{CPU}/cpu2/cpuidle/state{state}/usage': '30' for state in range(3)}, 'info',
         '85 us (disabled)'),
        ('isolated', '2', {}, 'info', 'a state without a name 133 us'),
        ('vm-plain', '1', {}, 'unknown', 'the hypervisor puts CPUs to sleep'),
    ],
    'idle-depth': [
        ('noisy-server', '4', {}, 'risk', 'C6, 133 us'),
        ('noisy-server', '4', {f'{CPU}/cpu4/power/pm_qos_resume_latency_us': '2'}, 'ok', 'C1, 2 us'),
        (QUIET, '2', {}, 'ok', 'C1, 2 us'),
        (QUIET, '2', {f'{CPU}/cpu2/cpuidle/state2/disable': '0'}, 'risk', '--only pm_qos'),
        ('isolated', '2', {}, 'ok', 'polling'),
        ('vm-plain', '1', {}, 'unknown', ''),
    ],
    'irq-affinity': [
        ('irqs', '3', {}, 'noise', '27 (nvme0q4)'),
        (QUIET, '1', {}, 'noise', '25 (nvme0q1), 26 (nvme0q2)'),
        (QUIET, '2', {}, 'info', '1 may come here'),
        (QUIET, '2', {'proc/irq/26/smp_affinity_list': '1'}, 'ok', ''),
        ('isolated', '2', {}, 'unknown', '/proc/irq'),
    ],
    'irq-default': [
        ('irqs', '3', {}, 'risk', 'irq-steer -c 3'),
        (QUIET, '2', {}, 'ok', ''),
    ],
    'workqueue': [
        ('noisy-server', '4', {}, 'noise', 'noise-off -c 4 --only workqueue'),
        (QUIET, '2', {}, 'ok', ''),
    ],
    'writeback': [
        ('noisy-server', '4', {}, 'noise', '--only writeback'),
        ('noisy-server', '20', {}, 'ok', ''),
    ],
    'watchdogs': [
        ('noisy-server', '4', {}, 'noise', '--only watchdog_cpumask,nmi_watchdog'),
        (QUIET, '0', {}, 'noise', '--only watchdog_cpumask'),
        (QUIET, '2', {}, 'ok', 'not on these CPUs'),
        (QUIET, '0', {f'{KERNEL}/soft_watchdog': '0'}, 'ok', 'off'),
    ],
    'timer-migration': [
        ('noisy-server', '4', {f'{KERNEL}/osrelease': '6.8.1'}, 'risk', 'noise-off --only timer_migration'),
        (QUIET, '2', {f'{KERNEL}/osrelease': '6.8.1'}, 'ok', ''),
        # From 6.9 on it holds for few timers. Isolated CPUs are left out from 7.0 on.
        (QUIET, '2', {}, 'info', 'whatever that file says'),
        (QUIET, '2', {f'{KERNEL}/timer_migration': '1'}, 'info', 'whatever that file says'),
        (QUIET, '2', {f'{KERNEL}/timer_migration': '1', f'{KERNEL}/osrelease': '7.0.1'}, 'ok', 'isolated'),
        (QUIET, '1', {f'{KERNEL}/timer_migration': '1', f'{KERNEL}/osrelease': '7.0.1'}, 'info', ''),
    ],
    'vmstat': [
        ('noisy-server', '4', {}, 'noise', 'every 1 s'),
        ('noisy-server', '4', {'proc/sys/vm/stat_interval': '120'}, 'ok', ''),
        # Isolated CPUs are left out from 6.12 on.
        (QUIET, '2', {}, 'ok', 'isolated'),
        (QUIET, '2', {f'{KERNEL}/osrelease': '6.1.0-40-amd64'}, 'noise', ''),
        (QUIET, '1', {}, 'noise', ''),
    ],
    'rt-throttling': [
        (QUIET, '2', {f'{KERNEL}/osrelease': '6.11.9'}, 'info', '950000'),
        ('isolated', '2', {f'{KERNEL}/osrelease': '6.1.0'}, 'info', 'never'),
        (QUIET, '2', {}, 'info', '5 %'),
        ('irqs', '3', {}, 'unknown', ''),
    ],
    'thp': [
        ('noisy-server', '4', {}, 'risk', 'noise-off --only thp'),
        ('arm-nosmt', '3', {}, 'risk', 'defrag'),
        (QUIET, '2', {}, 'ok', 'madvise'),
        ('isolated', '2', {}, 'ok', 'never'),
        # From 6.8 on by size.
        (QUIET, '2', {f'{THP}/hugepages-2048kB/enabled': 'always [inherit] madvise never',
                      f'{THP}/hugepages-64kB/enabled': '[always] inherit madvise never'}, 'risk',
         'always for pages of 64kB'),
        ('noisy-server', '4', {f'{THP}/hugepages-2048kB/enabled': 'always inherit [madvise] never',
                               f'{THP}/hugepages-64kB/enabled': 'always inherit madvise [never]'},
         'risk', 'madvise for pages of 2048kB, but defrag always'),
        ('noisy-server', '4', {}, 'risk', 'always: whether'),
        ('noisy-server', '4', {f'{THP}/hugepages-2048kB/enabled': 'always inherit madvise [never]'},
         'ok', 'never'),
        (QUIET, '2', {f'{THP}/hugepages-8kB/shmem_enabled': 'always inherit within_size advise [never]'},
         'ok', 'madvise'),
    ],
    'ksm': [
        ('noisy-server', '4', {}, 'noise', 'noise-off --only ksm'),
        (QUIET, '2', {}, 'ok', ''),
        ('isolated', '2', {}, 'ok', 'nothing is merged'),
    ],
    'numa-balancing': [
        ('noisy-server', '4', {}, 'noise', 'on (2)'),
        (QUIET, '2', {}, 'ok', ''),
    ],
    'swap': [
        ('noisy-server', '4', {}, 'risk', '13 of 9215 MiB'),
        ('noisy-server', '4', {}, 'risk', 'noise-off --only swap'),
        (QUIET, '2', {}, 'ok', 'there is none'),
    ],
    'aslr': [
        ('isolated', '2', {}, 'risk', 'randomize_va_space=2'),
        (QUIET, '2', {}, 'info', ''),
    ],
    'perf-sampling': [
        ('noisy-server', '4', {}, 'info', 'however long'),
        (QUIET, '2', {}, 'info', ''),
        ('irqs', '3', {}, 'unknown', ''),
    ],
    'perf-paranoid': [
        (QUIET, '2', {f'{KERNEL}/perf_event_paranoid': '3'}, 'info', 'perf_event_paranoid=2'),
        (QUIET, '2', {}, 'ok', ''),
    ],
    'rps': [
        (QUIET, '2', {f'{QUEUES}/rx-0/rps_cpus': 'f', f'{QUEUES}/rx-1/rps_cpus': 'c'}, 'risk',
         'packets of rx-0 of eth0 are handed to these CPUs; and of 1 more queues'),
        (QUIET, '2', {f'{QUEUES}/rx-0/rps_cpus': '0', f'{QUEUES}/rx-1/rps_cpus': '3'}, 'ok', ''),
        (QUIET, '2', {f'{QUEUES}/rx-0/rps_cpus': '?'}, 'unknown', ''),
    ],
    'skew-tick': [
        (QUIET, '2', {'proc/cmdline': BOOT + 'skew_tick=1'}, 'info', 'are apart'),
        (QUIET, '2', {'proc/cmdline': BOOT + 'skew_tick=0'}, 'info', 'the same moment'),
    ],
    'rcu-nocb-poll': [
        (QUIET, '2', {'proc/cmdline': BOOT + 'rcu_nocbs=2-3'}, 'info', 'wake the threads'),
        (QUIET, '2', {'proc/cmdline': BOOT + 'rcu_nocbs=2-3 rcu_nocb_poll'}, 'info', 'themselves'),
        ('intel-hybrid', '3', {}, 'info', 'no callbacks'),
    ],
    'machine-checks': [
        (QUIET, '2', {f'{ERRORS}/check_interval': '300'}, 'info', 'every 300 s'),
        (QUIET, '2', {f'{ERRORS}/check_interval': '300', f'{ERRORS}/ignore_ce': '1'}, 'info', 'no CPU looks'),
        (QUIET, '2', {f'{ERRORS}/check_interval': '0'}, 'info', 'no CPU looks'),
        (QUIET, '2', {}, 'info', 'not asked'),
    ],
    'uncore-freq': [
        (QUIET, '2', {f'{UNCORE}/min_freq_khz': '800000', f'{UNCORE}/max_freq_khz': '2400000'}, 'risk',
         '800 to 2400 MHz'),
        (QUIET, '2', {f'{UNCORE}/min_freq_khz': '2000000', f'{UNCORE}/max_freq_khz': '2000000'}, 'ok', '2000 MHz'),
        (QUIET, '2', {}, 'info', 'does not show'),
    ],
    'sched-ext': [
        (QUIET, '2', {f'{SCHED_EXT}/state': 'enabled', f'{SCHED_EXT}/root/ops': 'lavd_1.0.6'}, 'risk', 'lavd_1.0.6'),
        (QUIET, '2', {f'{SCHED_EXT}/state': 'enabled'}, 'risk', 'a program decides'),
        (QUIET, '2', {f'{SCHED_EXT}/state': 'disabled'}, 'ok', 'own scheduler'),
        (QUIET, '2', {}, 'ok', 'this kernel has none'),
    ],
    'resctrl': [
        (QUIET, '2', {f'{RESCTRL}/cpus_list': '0-3'}, 'info', 'what all share'),
        (QUIET, '2', {f'{RESCTRL}/cpus_list': '0-1', f'{RESCTRL}/bench/cpus_list': '2-3'}, 'info',
         'the group bench'),
    ],
    'temperature': [
        ('intel-hybrid', '3', {'sys/devices/platform/coretemp.0/hwmon/hwmon1/temp1_input': '97000'},
         'risk', '97 C'),
        ('intel-hybrid', '3', {}, 'ok', '39 below'),
        # Where the fan is to run at full speed.
        ('intel-hybrid', '3', {'sys/devices/platform/coretemp.0/hwmon/hwmon1/temp1_max': '62000'}, 'ok', '39 below'),
        # A zone whose limit is not in hwmon.
        ('arm-nosmt', '3', {f'{ZONE}/trip_point_0_type': 'passive',
                            f'{ZONE}/trip_point_0_temp': '70000',
                            f'{ZONE}/trip_point_1_type': 'critical',
                            f'{ZONE}/trip_point_1_temp': '110500'}, 'ok', '46 C, 65 below'),
        ('arm-nosmt', '3', {f'{ZONE}/trip_point_0_type': 'critical',
                            f'{ZONE}/trip_point_0_temp': '49000'}, 'risk', 'the limit of 49 C'),
        ('arm-nosmt', '3', {f'{ZONE}/trip_point_0_type': 'passive',
                            f'{ZONE}/trip_point_0_temp': '49000'}, 'info', 'no limit is told'),
        # Two packages: the hotter one counts, and only those that have some of the CPUs.
        ('noisy-server', '1-2,20', coretemps(41, 99), 'risk', '99 C at CPU 20: the limit of 100 C'),
        ('noisy-server', '1-2,20', coretemps(61, 41), 'ok', '61 C at CPU 1-2, 39 below'),
        ('noisy-server', '1-2', coretemps(41, 99), 'ok', '41 C, 59 below'),
        ('noisy-server', '1,20', {**coretemps(41, 99), f'{HWMON}1/temp1_input': '?'}, 'unknown',
         '41 C at CPU 1, 59 below the limit; the temperature of CPU 20 cannot be read'),
        (QUIET, '2', {}, 'unknown', ''),
        ('vm-plain', '1', {}, 'info', ''),
    ],
    'throttled': [
        ('intel-hybrid', '3', {}, 'risk', 'up to 43 times a core, 156 times a package'),
        # Each CPU counts what happens to its package.
        ('intel-hybrid', '0-11', {}, 'risk', 'up to 51 times a core, 156 times a package'),
        (QUIET, '2', {}, 'ok', 'never'),
        ('amd-smt', '2', {}, 'info', ''),
    ],
    'power-supply': [
        (QUIET, '2', {f'{SUPPLY}/BAT0/type': 'Battery', f'{SUPPLY}/BAT0/status': 'Discharging',
                      f'{SUPPLY}/AC/type': 'Mains', f'{SUPPLY}/AC/online': '0'}, 'noise', 'battery'),
        (QUIET, '2', {f'{SUPPLY}/BAT0/type': 'Battery', f'{SUPPLY}/BAT0/status': 'Charging',
                      f'{SUPPLY}/AC/type': 'Mains', f'{SUPPLY}/AC/online': '1'}, 'ok', 'mains'),
        (QUIET, '2', {}, 'ok', 'no battery'),
    ],
    'clocksource': [
        (QUIET, '2', {f'{CLOCK}/current_clocksource': 'hpet'}, 'noise', 'echo tsc'),
        (QUIET, '2', {f'{CLOCK}/current_clocksource': 'hpet',
                      f'{CLOCK}/available_clocksource': 'hpet acpi_pm'}, 'noise', 'given up'),
        # The best that is left, whatever its name.
        ('vm-plain', '1', {f'{CLOCK}/current_clocksource': 'acpi_pm',
                           f'{CLOCK}/available_clocksource': 'kvm-clock acpi_pm'}, 'noise',
         'echo kvm-clock > '),
        ('vm-plain', '1', {f'{CLOCK}/current_clocksource': 'acpi_pm',
                           f'{CLOCK}/available_clocksource': 'hyperv_clocksource_tsc_page acpi_pm'},
         'noise', 'echo hyperv_clocksource_tsc_page > '),
        (QUIET, '2', {}, 'ok', 'tsc'),
    ],
    'virtualization': [
        ('vm-plain', '1', {}, 'risk', 'a machine of its own'),
        (QUIET, '2', {}, 'ok', ''),
    ],
    'steal': [
        (QUIET, '2', steal(250), 'risk', '2.5 s since boot'),
        (QUIET, '2', steal(0), 'ok', ''),
    ],
    'quota': [
        (QUIET, '2', quota('20000 100000'), 'noise', 'a cgroup without a quota'),
        (QUIET, '2-3', quota('150000 100000'), 'noise', '1.5 CPUs'),
        (QUIET, '2', quota('150000 100000'), 'risk', '1.5 CPUs'),
        (QUIET, '2', quota(20000), 'noise', '0.2 CPUs'),
        (QUIET, '2', quota('max 100000', cgroup_type='domain'), 'unknown', 'cannot be seen'),
        (QUIET, '2', quota('20000 100000', cgroup_type='domain'), 'noise', 'there may be others'),
        (QUIET, '2', quota('max 100000'), 'ok', ''),
        (QUIET, '2', quota(-1), 'ok', ''),
    ],
}
# Checks of what happens or runs at the moment have tests of their own below.
LIVELY = ('tasks', 'kthreads', 'irq-managed', 'irqbalance', 'irq-rate', 'load', 'tuners', 'locks',
          'journals')
# Those that only inform: nothing is ever wrong with what they show.
INFORMATIVE = ('smt', 'freq-driver', 'idle-driver', 'idle-states', 'rt-throttling', 'perf-sampling', 'skew-tick',
               'rcu-nocb-poll', 'machine-checks', 'resctrl')
# The answers that tests wanted and got: {check: [row]}, for test_both_ways().
ANSWERS = {}
SKIPPED = []


def expect(row, verdict, said='', where=None):
    """Checks that the row of a check has this verdict, and says or advises this."""
    where = f'{row["id"]}{where or ""}: {row}'
    equal(row['verdict'], verdict, where)
    check(said in f'{row["seen"]} {row["fix"]}', where)
    ANSWERS.setdefault(row['id'], []).append(row)


def run(box, *arguments, **more):
    """Runs isol-check on the machine, without the processes of the machine that the test runs
    on."""
    return box.run(ISOL_CHECK, *arguments, **more)


def sanitized(result):
    check('Sanitizer' not in result.stderr, result.stderr)
    return result


def looked(result, allowed=(0, 3)):
    check(result.returncode in allowed, f'exit status {result.returncode}: {result.stderr}')
    rows = json.loads(sanitized(result).stdout)['checks']
    for row in rows:
        equal(list(row), ['id', 'subject', 'verdict', 'cpus', 'seen', 'path', 'fix'], 'keys')
        check(row['verdict'] in VERDICTS, row)
        check(row['id'] and row['subject'] and row['seen'], row)
    equal(len({row['id'] for row in rows}), len(rows), 'ids')
    return {row['id']: row for row in rows}


def record(box, *arguments):
    """Runs isol-check on the machine as a recorded one: it sees nothing of the machine that the
    test runs on."""
    result = subprocess.run([ISOL_CHECK, '--sysroot', box.root, *arguments], capture_output=True,
                            text=True, errors='backslashreplace', timeout=60, check=False)
    if result.returncode == 1 and 'sysroot' in result.stderr:
        raise Skip(result.stderr.strip())
    return result


def look(box, cpus):
    return looked(record(box, '--json', '-c', cpus))


def test_check(name):
    for of, cpus, files, verdict, said in CASES[name]:
        with Machine(of) as box:
            for path, text in files.items():
                box.write(path, text if text.endswith('\n') else text + '\n')
            row = look(box, cpus)[name]
        where = f' on {of}, CPUs {cpus}, {files}'
        expect(row, verdict, said, where)
        # Everything that is wrong has an advice.
        check(row['verdict'] not in ('risk', 'noise') or row['fix'] or name in ('cpus', 'clocksource'),
              f'{where}: {row}')
    return f'{len(CASES[name])} machines'


def test_own_exclusive_cpuset():
    """cpu-shield's exclusive cpuset of cgroup v1 isolates although the root balances load, for all programs
    are in another one; but only when it is whole."""
    with Machine('intel-hybrid') as box:
        for path, text in v1_cpusets('1').items():
            box.write(path.replace('/shield/', '/benchmark.slice/'), f'{text}\n')
        box.write(f'{CGROUP}/cpuset/quiesce-others/cpuset.cpus', '0-2\n')
        box.write(f'{CGROUP}/cpuset/benchmark.slice/cgroup.procs', '')
        for mode, isolated, partitions in (0o644, 'noise', 'risk'), (0o666, 'ok', 'info'):
            os.chmod(box.root / CGROUP / 'cpuset/benchmark.slice/cgroup.procs', mode)
            rows = looked(run(box, '--json', '--watch', '0', '-c', '3'))
            expect(rows['isolated'], isolated, 'quiesce-others' if mode == 0o666 else '', f' with {mode:o}')
            expect(rows['partitions'], partitions, '/benchmark.slice: exclusive, balanced', f' with {mode:o}')


def test_all_checks_have_cases():
    with Machine(QUIET) as box:
        ids = set(look(box, '2'))
        equal(ids, set(CASES) | set(LIVELY), 'checks and their cases')
        for name in ids:
            result = run(box, '--explain', name)
            equal(result.returncode, 0, result.stderr)
            check('Source: ' in result.stdout or name == 'half-cores',
                  f'{name} without a source: {result.stdout}')
            check(max(map(len, result.stdout.splitlines())) <= 79, result.stdout)
    return f'{len(ids)} checks'


def lacking(ids, answers):
    """The checks that no test has seen both ways: {check: what is lacking}. A check fires when it
    finds something wrong, or something to do; one that only informs must have said two things."""
    found = {}
    for name in ids:
        rows = answers.get(name, [])
        fires = [row for row in rows if row['verdict'] in ('risk', 'noise')]
        if name in INFORMATIVE:
            if fires:
                found[name] = 'is no check that only informs'
            elif len({row['seen'] for row in rows if row['verdict'] == 'info'}) < 2:
                found[name] = 'never says another thing'
        elif not fires and not any(row['fix'] for row in rows):
            found[name] = 'never fires'
        elif not any(row['verdict'] in ('ok', 'info') and not row['fix'] for row in rows):
            found[name] = 'always fires'
    return found


def test_both_ways():
    """Some test has seen each check find something, and some test has seen it find nothing."""
    with Machine(QUIET) as box:
        ids = set(look(box, '2'))
    found = lacking(ids, ANSWERS)
    if SKIPPED and set(found) <= set(LIVELY):
        raise Skip(f'without these tests: {", ".join(SKIPPED)}')
    equal(found, {}, 'checks that were not seen both ways')
    # A new check without tests is found, and a check that has lost a test.
    equal(lacking({*ids, 'new'}, ANSWERS), {'new': 'never fires'}, 'a new check')
    for name in ids - set(INFORMATIVE):
        for fired, what in ((True, 'never fires'), (False, 'always fires')):
            left = [row for row in ANSWERS[name] if fired != bool(
                row['verdict'] in ('risk', 'noise') or row['fix'])]
            equal(lacking({name}, {name: left}), {name: what}, f'{name} without its cases')
    for name in INFORMATIVE:
        equal(lacking({name}, {name: ANSWERS[name][:1]}), {name: 'never says another thing'}, name)
    return f'{len(ids)} checks, {sum(map(len, ANSWERS.values()))} answers'


def test_other_recordings():
    """A recording made by another program has the files that it chose: a file that is missing there
    proves nothing."""
    left = ('online', 'possible', 'present', 'core_id', 'physical_package_id', 'thread_siblings_list')
    known = {'cpus', 'siblings', 'core-kind', 'isolated', 'freq-driver'}
    for of, cpus, more, wanted in (
            (QUIET, '2', (), {'siblings': 'ok', 'isolated': 'unknown'}),
            (QUIET, '2', ('isolated',), {'isolated': 'ok', 'half-cores': 'ok'}),
            (QUIET, '2', ('isolated', 'nohz_full'),
             {'isolated': 'ok', 'half-cores': 'ok', 'nohz-full': 'ok', 'rcu-nocbs': 'unknown'}),
            ('amd-smt', '2', (), {'siblings': 'noise', 'half-cores': 'unknown'})):
        with Machine(of) as box:
            for top in ('sys', 'proc'):
                for where, _, files in os.walk(box.root / top):
                    for name in files:
                        if name not in left + more:
                            os.unlink(os.path.join(where, name))
            for gone in ('proc/sys', 'proc/irq'):
                shutil.rmtree(box.root / gone, ignore_errors=True)
            (box.root / 'sys/class/dmi').mkdir(parents=True, exist_ok=True)
            (box.root / 'sys/kernel/mm/hugepages').mkdir(parents=True, exist_ok=True)
            rows = look(box, cpus)
        for name, row in rows.items():
            if name in wanted:
                expect(row, wanted[name], where=f' on {of} with {more}')
            else:
                check(name in known or row['verdict'] == 'unknown', f'{of} with {more}: {row}')


def test_width():
    """A wide terminal shows each path on one line, a terminal of 80 columns breaks it."""
    with Machine(QUIET) as box:
        for columns, whole in ((80, False), (132, True)):
            shown = record_on_terminal(box, columns, '-c', '2')
            path = '/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor'
            equal(path in shown, whole, f'{columns} columns: {shown}')
            check(max(map(len, shown.splitlines())) <= columns, f'{columns} columns: {shown}')


def test_colors():
    """A terminal gets colors, unless it is dumb or they are not wanted."""
    with Machine(QUIET) as box:
        for colored, environment in ((True, {'TERM': 'xterm'}), (False, {'TERM': 'dumb'}),
                                     (False, {'TERM': 'xterm', 'NO_COLOR': '1'})):
            shown = record_on_terminal(box, 80, '-c', '2', **{'NO_COLOR': '', **environment})
            equal('\x1b' in shown, colored, f'{environment}: {shown}')


def record_on_terminal(box, columns, *arguments, **environment):
    """The output on a terminal of that width, without colors."""
    return on_terminal([ISOL_CHECK, '--sysroot', box.root, *arguments], columns,
                       env={**os.environ, 'NO_COLOR': '1', **environment})[1]


def test_all_cpus():
    """No advice is given that cannot be followed: there are no other CPUs."""
    with Machine(QUIET) as box:
        equal(look(box, '0-2')['cpus']['fix'], 'isol-check --pick=3', 'one is left')
        row = look(box, '0-3')['cpus']
        equal((row['verdict'], row['fix']), ('risk', None), f'{row}')
        box.write(f'{CPU}/online', '0-1\n')
        equal(look(box, '0-3')['cpus']['fix'], None, 'two of them offline')


def test_lines_of_cpus():
    """Timers, counters and messages of the CPUs are nobody's to move: before 6.12 their files look
    like those of devices, later like those of queues that the kernel manages."""
    with Machine('arm-percpu-irqs') as box:
        rows = look(box, '2-3')
        expect(rows['irq-affinity'], 'ok')
        expect(rows['irq-managed'], 'ok')
        # A line of a device, among the chip's shared ones.
        box.write('proc/irq/32/effective_affinity_list', '2\n')
        box.write('proc/irq/32/smp_affinity_list', '0-2\n')
        expect(look(box, '2-3')['irq-affinity'], 'noise', '1 goes here: 32 (eth0)')
    # The last words are those of 6.12, with chips in /sys/kernel/irq in place of rows.
    for chip, hwirq, action, verdict in (('xen-percpu', '', 'timer2', 'ok'), ('GICv3', '27', 'vtimer', 'ok'),
                                         ('XIVE-IPI', '0', 'IPI-0', 'ok'), ('AIC', '131073', 'arch_timer', 'ok'),
                                         ('RISC-V INTC', '13', 'riscv-pmu', 'ok'), ('GICv3', '1057', 'x', 'ok'),
                                         ('GICv3', '49', 'arm-pmu', 'ok'), ('GICv3', '33', 'eth0', 'risk'),
                                         ('xen-dyn', '', 'eth0', 'risk'), ('XICS', '2', 'IPI', 'ok'),
                                         ('XICS', '40', 'nvme0q1', 'risk')):
        with Machine(QUIET) as box:
            box.write('proc/irq/26/effective_affinity_list', '2\n')
            box.write('proc/cmdline', BOOT + 'isolcpus=domain,2-3\n')
            box.write('sys/kernel/irq/26/actions', action + '\n')
            box.write('sys/kernel/irq/26/chip_name', chip + '\n')
            box.write('sys/kernel/irq/26/hwirq', hwirq + '\n')
            (box.root / 'proc/irq/26/smp_affinity_list').chmod(0o444)
            expect(look(box, '2')['irq-managed'], verdict)
            (box.root / 'proc/irq/26/smp_affinity_list').chmod(0o644)
            expect(look(box, '2')['irq-affinity'], 'noise' if verdict == 'risk' else 'ok')


def test_managed():
    """From 6.12 on the file of an interrupt that the kernel manages has no mode bit for writing."""
    with Machine(QUIET) as box:
        box.write('proc/irq/26/effective_affinity_list', '2\n')
        (box.root / 'proc/irq/26/smp_affinity_list').chmod(0o444)
        row = look(box, '2')['irq-managed']
        expect(row, 'ok', '26 (nvme0q2)')
        check('managed_irq' in row['seen'], row)
        # managed_irq holds no other lines that cannot be moved.
        box.write('sys/kernel/irq/26/actions', 'hpet2\n')
        expect(look(box, '2')['irq-managed'], 'unknown', '1 that cannot be moved; whether managed_irq')
        box.write('sys/kernel/irq/26/actions', 'nvme0q2\n')
        box.write('proc/cmdline', BOOT + 'isolcpus=domain,2-3\n')
        rows = look(box, '2')
        expect(rows['irq-managed'], 'risk', 'isolcpus=managed_irq,domain,2-3')
        expect(rows['irq-affinity'], 'ok')
        (box.root / 'proc/irq/26/smp_affinity_list').chmod(0o644)
        rows = look(box, '2')
        expect(rows['irq-managed'], 'ok')
        expect(rows['irq-affinity'], 'noise')
        # Before 6.12 the mode says nothing, but the names of such queues are known.
        box.write(f'{KERNEL}/osrelease', '6.1.0-40-amd64\n')
        rows = look(box, '2')
        expect(rows['irq-managed'], 'risk', 'isolcpus=managed_irq,domain,2-3')
        check('26 (nvme0q2)' in rows['irq-managed']['seen'], rows['irq-managed'])
        expect(rows['irq-affinity'], 'ok')


def test_exit_status():
    with Machine('isolated') as box:
        box.write(f'{KERNEL}/randomize_va_space', '2\n')
        result = record(box, '-c', '2-3')
        equal(result.returncode, 0, result.stdout + result.stderr)
        # What could not be seen is a finding only with --strict.
        equal(record(box, '-c', '2-3', '--strict').returncode, 3, '--strict')
        box.write(f'{KERNEL}/randomize_va_space', '0\n')
        equal(record(box, '-c', '2-3').returncode, 3, 'a risk')


def test_usage():
    with Machine(QUIET) as box:
        for arguments in (['-c', 'x'], ['-c', ''], ['-c', '9'], ['--pick=0'], ['--pick=x'],
                          ['--watch', '-1'], ['--watch', 'x'], ['--explain', 'nothing'],
                          ['--explain'], ['--unknown'], ['word'], ['--pick', '--cmdline'],
                          ['--pick', '-c', '2'], ['--cmdline', '--json'],
                          ['--pick', '--strict'], ['--explain', 'smt', '-c', '2'],
                          ['--explain', 'smt', '--explain', 'smt'],
                          ['--record', '/nowhere/a', '--record', '/nowhere/b'],
                          ['--sysroot', '/', '--sysroot', '/']):
            result = run(box, *arguments)
            equal(result.returncode, 2, f'{arguments}: {result.stdout}')
            equal(len(result.stderr.splitlines()), 1, f'{arguments}: {result.stderr}')
            equal(result.stdout, '', arguments)
        for arguments in (['--help'], ['--version']):
            equal(run(box, *arguments).returncode, 0, arguments)
        equal(run(box, '--pick=5', allowed='0-3').returncode, 1, 'more than there are')
        for arguments in ((), ('--json',), ('--cmdline',), ('--explain', 'smt')):
            with open('/dev/full', 'wb') as full:
                of = () if '--explain' in arguments else ('--watch', '0', '-c', '2')
                result = subprocess.run([os.environ['SYSROOT'], box.root, '--', ISOL_CHECK, *of, *arguments],
                                        stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            equal(result.returncode, 1, f'{arguments}: nowhere to write to')
            equal(result.stderr, 'isol-check: cannot write to standard output: No space left on device\n',
                  arguments)
    with Machine('intel-passive') as box:
        result = run(box, '--measure=1', '-c', '2-3')
        equal((result.returncode, result.stdout), (2, ''), '--measure on an offline CPU')
        check(result.stderr.startswith('isol-check: cannot measure: CPU 3 is offline (online: 0-2'),
              result.stderr)


def test_pick():
    for of, arguments, allowed, wanted in (
            ('isolated', ['--pick'], '0-3', '2-3'),
            ('isolated', ['--pick=1'], '0-3', '3'),
            ('isolated', ['--pick=3'], '0-3', '1-3'),
            ('isolated', ['--pick=1'], '0-1', '1'),
            ('intel-hybrid', ['--pick'], '0-11', '6'),
            # Whole cores: no two threads of one, and no efficiency core.
            ('intel-hybrid', ['--pick=3'], '0-11', '2,5-6'),
            # As many as are alike, rather than faster ones among them.
            ('low-power', ['--pick=2'], '0-9', '1,3'),
            ('low-power', ['--pick=3'], '0-9', '5-7'),
            ('low-power', ['--pick=5'], '4-9', '4-7,9'),
            ('low-power', ['--pick=2'], '7-9', '8-9'),
            ('amd-smt', ['--pick=2'], '0-15', '5,15'),
            ('noisy-server', ['--pick=2'], '0-71', '70-71')):
        with Machine(of) as box:
            result = run(box, *arguments, allowed=allowed)
            equal(result.returncode, 0, result.stderr)
            equal(result.stdout.strip(), wanted, f'{of} {arguments}')
            equal(result.stderr, '', 'without -v')
            result = run(box, '-v', *arguments, allowed=allowed)
            equal(result.stdout.strip(), wanted, f'{of} {arguments} -v')
            check('CPU' in result.stderr, result.stderr)


def test_cmdline_of_many_cpus():
    """The kernel cuts off a boot line of more than 2047 characters, which the numbers of 500 CPUs have."""
    with Machine('vm-plain') as box:
        for name in 'online', 'present', 'possible':
            box.write(f'{CPU}/{name}', '0-1023\n')
        for cpus, wanted, irqs in (
                (range(3, 1024, 2), '3-1023:1/2', '0-2,4-1022:1/2'),
                ([cpu for cpu in range(8, 1024) if cpu % 8 > 3], '12-1023:4/8', '0-11,16-1019:4/8'),
                ([*range(100, 500, 4), *range(600, 1000, 4), 1001, 1022], '100-496:1/4,600-996:1/4,1001,1022',
                 '0-99,101-495:3/4,497-599,601-995:3/4,997-1000,1002-1021,1023')):
            result = run(box, '--cmdline', '-c', ','.join(map(str, cpus)))
            equal((result.returncode, result.stderr), (0, ''), 'status')
            equal(result.stdout, f'isolcpus=managed_irq,domain,{wanted} rcu_nocbs={wanted} irqaffinity={irqs}\n',
                  wanted)
            # What it has printed means these CPUs.
            box.write('proc/cmdline', BOOT + result.stdout)
            equal(run(box, '--cmdline', '-c', ','.join(map(str, cpus))).stdout, '\n', 'after a boot with it')
            box.write('proc/cmdline', BOOT + '\n')
        # Squares, which have no strides.
        some = sorted({cpu * cpu * 7 % 1021 for cpu in range(1, 700)} - {0})
        result = run(box, '--cmdline', '-c', ','.join(map(str, some)))
        check('most kernels cut off what is behind 2047' in result.stderr and len(result.stdout) > 2047, result.stderr)


def test_cmdline():
    for of, cpus, files, wanted in (
            ('isolated', '2-3', {}, ''),
            ('isolated', '2', {}, ''),
            ('isolated', '1', {}, 'isolcpus=managed_irq,domain,1-3 nohz_full=1-3 rcu_nocbs=1-3 '
                                  'irqaffinity=0'),
            (QUIET, '2-3', {}, 'rcu_nocbs=2-3'),
            # CPU 0 keeps its tick.
            (QUIET, '0', {}, 'isolcpus=managed_irq,domain,0,2-3 irqaffinity=1'),
            (QUIET, '2', {'proc/cmdline': BOOT + 'isolcpus=nohz,2-3'},
             'isolcpus=nohz,managed_irq,domain,2-3 rcu_nocbs=2 irqaffinity=0-1'),
            # Kernels before 5.18 refuse a nohz_full that is not the isolcpus.
            (QUIET, '2', {'proc/sys/kernel/osrelease': '5.15.0-91-generic', 'proc/cmdline': BOOT +
                          'isolcpus=managed_irq,domain,1-3 nohz_full=2'},
             'nohz_full=1-3 rcu_nocbs=2 irqaffinity=0'),
            (QUIET, '2', {'proc/sys/kernel/osrelease': '5.15.0-91-generic', 'proc/cmdline': BOOT + 'nohz_full=3'},
             'isolcpus=managed_irq,domain,2-3 nohz_full=2-3 rcu_nocbs=2 irqaffinity=0-1,3'),
            # A list for a bigger machine is refused; what stands behind -- the kernel does not read.
            (QUIET, '2', {'proc/cmdline': BOOT + 'isolcpus=managed_irq,domain,2-9', f'{CPU}/isolated': ''},
             'isolcpus=managed_irq,domain,2 nohz_full=2 rcu_nocbs=2 irqaffinity=0-1,3'),
            (QUIET, '2', {'proc/cmdline': BOOT + '-- isolcpus=managed_irq,domain,2 rcu_nocbs=2'},
             'isolcpus=managed_irq,domain,2 nohz_full=2 rcu_nocbs=2 irqaffinity=0-1,3'),
            # Both threads of the core. A kernel without nohz_full gets no advice to use it.
            ('noisy-server', '4', {}, 'isolcpus=managed_irq,domain,4,40 rcu_nocbs=4,40 '
                                      'irqaffinity=0-3,5-39,41-71'),
            ('intel-hybrid', '3', {}, 'isolcpus=managed_irq,domain,2-3 nohz_full=2-3 '
                                      'rcu_nocbs=2-3 irqaffinity=0-1,4-11')):
        with Machine(of) as box:
            for path, text in files.items():
                box.write(path, text + '\n')
            result = run(box, '--cmdline', '-c', cpus)
            equal(result.returncode, 0, result.stderr)
            equal(result.stdout, wanted + '\n', f'{of} {cpus} {files}')
            equal(result.stderr, '', 'without -v')
            # A machine that was booted with this line needs nothing more.
            box.write('proc/cmdline', BOOT + wanted + '\n')
            if wanted.startswith('isolcpus'):
                equal(run(box, '--cmdline', '-c', cpus).stdout, '\n', 'after a boot with it')
    # Some CPU is left for everything else: the kernel would leave CPU 0 alone out of the list.
    for of, cpus, wanted, spared in (
            (QUIET, '0-3', 'isolcpus=managed_irq,domain,1-3 nohz_full=1-3 rcu_nocbs=1-3 irqaffinity=0', '0'),
            (QUIET, '0-1', 'isolcpus=managed_irq,domain,1-3 nohz_full=1-3 rcu_nocbs=1 irqaffinity=0', '0'),
            ('amd-smt', '0-7', 'isolcpus=managed_irq,domain,1-7,9-15 nohz_full=1-7,9-15 '
             'rcu_nocbs=1-7,9-15 irqaffinity=0,8', '0,8')):
        with Machine(of) as box:
            result = run(box, '--cmdline', '-c', cpus)
            equal(result.returncode, 0, result.stderr)
            equal(result.stdout, wanted + '\n', f'{of} {cpus}')
            equal(result.stderr, f'isol-check: without CPU {spared}, the core of CPU 0: some CPU has to do '
                  'everything else\n', f'{of} {cpus}')
    # Siblings that are offline: the kernel does not list them, but POWER's device tree tells how many threads a
    # core has (here by the length of a line).
    for tree, wanted, said in (
            ('1234567', 'isolcpus=managed_irq,domain,8-15 rcu_nocbs=8-15 irqaffinity=0-7', ''),
            (None, 'isolcpus=managed_irq,domain,8 rcu_nocbs=8 irqaffinity=0-7,9-15',
             'isol-check: CPU 1-7,9-15 is offline, and the kernel does not tell of which core: name it, too, if it '
             'shares one with these\n')):
        with Machine('amd-smt') as box:
            box.write(f'{CPU}/smt/control', 'on\n')
            box.write(f'{CPU}/online', '0,8\n')
            box.remove(f'{CPU}/nohz_full')
            for cpu in range(16):
                if cpu % 8:
                    box.write(f'{CPU}/cpu{cpu}/online', '0\n')
                    shutil.rmtree(box.root / CPU / f'cpu{cpu}/topology')
                else:
                    for name in ('thread_siblings_list', 'core_cpus_list'):
                        box.write(f'{CPU}/cpu{cpu}/topology/{name}', f'{cpu}\n')
                if tree and cpu % 8 == 0:
                    box.write(f'sys/firmware/devicetree/base/cpus/PowerPC,POWER9@{cpu:x}/ibm,ppc-interrupt-server#s',
                              4 * tree + '123\n')
            result = run(box, '--cmdline', '-c', '8')
            equal((result.stdout, result.stderr), (wanted + '\n', said), 'siblings that are offline')
    with Machine('vm-plain') as box:
        for name in ('thread_siblings_list', 'core_cpus_list'):
            for cpu in (0, 1):
                box.write(f'{CPU}/cpu{cpu}/topology/{name}', '0-1\n')
        result = run(box, '--cmdline', '-c', '1')
        equal(result.stdout, '\n', 'one core has to do it all')
        check(result.stderr.startswith('isol-check: without CPU 0-1'), result.stderr)


def rewritten(*changes):
    """Meanwhile the files are written anew all the time, as on a machine that is not idle: each change
    is a path and a function from the number of the turn to the text."""
    turns = itertools.count(1)

    def happen():
        n = next(turns)
        for path, text in changes:
            # Written in place, because this very file is bound into the machine.
            with open(path, 'r+', encoding='utf-8') as file:
                file.write(text(n))

    happen()
    return repeating(happen, 0.02)


def test_default_cpus():
    with Machine('isolated') as box:
        equal(looked(run(box, '--json', '--watch', '0', allowed='0-3'))['cpus']['cpus'], '2-3', '')
    with Machine('intel-hybrid') as box:
        row = looked(run(box, '--json', '--watch', '0', allowed='0-11'))['cpus']
        equal(row['cpus'], '6', row)
    # The load of the only other CPU can be moved away, the work of CPU 0 cannot.
    with Machine('vm-plain') as box:
        stat = (box.root / 'proc/stat').read_text()
        check('cpu1 3807 ' in stat, stat)
        with rewritten((box.root / 'proc/stat',
                        lambda n: stat.replace('cpu1 3807 ', f'cpu1 {3807 + 20 * n} '))):
            row = looked(run(box, '--json', '--watch', '0', allowed='0-1'))['cpus']
            equal((row['cpus'], row['verdict']), ('1', 'info'), row)
            check('(CPU 1: not CPU 0, ' in row['seen'] and '% busy' in row['seen'], row)
            result = run(box, '--cmdline', allowed='0-1')
            equal((result.returncode, result.stderr), (0, ''), result)
            check(result.stdout.startswith('isolcpus=managed_irq,domain,1 '), result)
            # What is measured now is better off beside the kernel's work than beside this.
            result = run(box, '-v', '--pick', allowed='0-1')
            equal((result.returncode, result.stdout), (0, '0\n'), result)
            check('CPU 0: the others are busy' in result.stderr, result)


# --- What happens while it looks ---

def test_watched():
    """Counters move while isol-check watches, as on a machine that is not idle."""
    with Machine('isolated') as box:
        stat = (box.root / 'proc/stat').read_text()
        interrupts = (box.root / 'proc/interrupts').read_text()

        def busy(n):
            text = stat.replace('cpu2 10 0 5 20000 0 0 0 0 0 0',
                                f'cpu2 {10 + 20 * n} 0 5 20000 0 0 0 {10 * n} 0 0')
            check(text != stat, 'the file is not as expected')
            return text

        def fired(n):
            text = interrupts.replace('0      12000          0', f'0      12000 {10 * n:10}')
            check(text != interrupts, 'the file is not as expected')
            return text

        with rewritten((box.root / 'proc/stat', busy), (box.root / 'proc/interrupts', fired)):
            rows = looked(run(box, '--json', '--watch', '1', '-c', '2'))
            all_rows = looked(run(box, '--json', '--watch', '1', '-c', '0-3'))
        for name, said in (('irq-rate', 'most: 26: PCI-MSI'), ('load', '% busy'),
                           ('steal', '% of the time')):
            expect(rows[name], 'noise', said)
        check('irq-steer -c 2' in rows['irq-rate']['fix'], rows['irq-rate'])
        # The worst CPU counts, however many are beside it.
        for name, said in (('irq-rate', 'CPU 2, a second: '), ('load', 'CPU 2 is '),
                           ('steal', ' % of the time of CPU 2')):
            check(said in all_rows[name]['seen'] and all_rows[name]['cpus'] == '2', all_rows[name])
        # Nothing has happened on the other CPU.
        rows = looked(run(box, '--json', '--watch', '0.1', '-c', '3'))
        expect(rows['irq-rate'], 'ok')
        expect(rows['load'], 'info', 'these are idle')


class Processes:
    """A machine with no processes but those that are started on it: a PID namespace."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory()
        probe = self.shell('true')
        if probe.returncode != 0:
            raise Skip(f'no PID namespace with a /proc of its own: {probe.stderr.strip()}')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.directory.cleanup()

    def shell(self, script):
        script = f'taskset -p -c 0 $$ >/dev/null; {script}'
        return subprocess.run(['unshare', '--fork', '--pid', '--mount-proc',
                               *([] if os.geteuid() == 0 else ['--map-root-user']),
                               'sh', '-c', script], cwd=self.directory.name, capture_output=True,
                              text=True, timeout=60, check=False)

    def program(self, name):
        """A shell line that starts a process of that name, which sleeps on the CPU of the shell."""
        shutil.copy(shutil.which('sleep'), pathlib.Path(self.directory.name, name))
        return f'./{name} 60 & '

    def kernel_thread(self):
        """A shell line that starts a kernel thread on CPU 0: it only shows that kernel threads can
        be seen."""
        return self.program('hog') + self.disguise('kthreadd', 0x04200000)

    @staticmethod
    def asleep(cpu, pid='$!'):
        """Waits until the process has executed its program and sleeps on that CPU, for half a
        minute at most."""
        return ('n=0; until awk \'{ exit !($2 != "(sh)" && $3 == "S" && $39 == '
                f'{cpu}) }}\' /proc/{pid}/stat; do '
                f'n=$((n + 1)); [ $n -lt 600 ] || {{ cat /proc/{pid}/stat >&2; exit 98; }}; '
                'sleep 0.05; done; ')

    # Who sleeps already when its CPUs change stays where it is until it is woken up.
    WAKE = 'kill -STOP $!; kill -CONT $!;'

    def free(self):
        """Lets the program that was started last run on both CPUs, where it has last run on CPU 0. Since
        Linux 6.12 one that has just gone to sleep may still be in a queue, which a busy CPU gives away: it
        is woken up on CPU 0 then, and all begins anew."""
        return (f'm=0; until taskset -p -c 0 $! >/dev/null; {self.WAKE} {self.asleep(0)} '
                'taskset -p -c 0,1 $! >/dev/null; sleep 0.3; awk \'{ exit $39 != 0 }\' /proc/$!/stat; do '
                'm=$((m + 1)); [ $m -lt 50 ] || exit 98; done; ')

    @staticmethod
    def ended(file):
        """Waits until the process whose number the file holds is a zombie, for half a minute at most."""
        return ('n=0; until awk \'{ exit $3 != "Z" }\' '
                f'/proc/$(cat {file})/stat; do n=$((n + 1)); [ $n -lt 600 ] || exit 98; '
                'sleep 0.05; done; ')

    def disguise(self, name, flags):
        """The process that was started last as a thread of the kernel: $thread, in its own line of
        /proc. The scheduler knows better, and where it may run is real."""
        stat = '/proc/$thread/stat'
        # Before its exec(2) the process is still a copy of the shell.
        return (f'thread=$!; {self.asleep(0)} awk \'{{ $2 = "({name})"; $9 = {flags}; print }}\' {stat} '
                f'>stat && mount --bind stat {stat} || exit 99; ')

    def look(self, script, cpus, program=ISOL_CHECK):
        result = self.shell(f'{script} {program} --json --watch 0 -c {cpus}')
        if result.returncode == 99:
            raise Skip(f'nothing can be mounted over /proc here: {result.stderr.strip()}')
        check(result.returncode != 98, f'did not come to sleep there in time: {result.stderr}')
        return looked(result)


def need_two_cpus():
    if not {0, 1} <= os.sched_getaffinity(0):
        raise Skip('CPUs 0 and 1 are not both allowed')


def test_tasks():
    need_two_cpus()
    with Processes() as processes:
        kernel = processes.kernel_thread()
        rows = processes.look(kernel, 1)
        expect(rows['tasks'], 'ok')
        # A program that ran on CPU 1 has ended, and its parent does not wait for it: it ends when the
        # shell, which would, has become that parent.
        rows = processes.look(
            f'{kernel} (taskset -c 1 sh -c "until grep -q hog /proc/\\$PPID/comm; do sleep 0.01; done" & '
            f'echo $! >child; exec {processes.program("hog")[:-2]}) &'
            f'{processes.asleep(0)} {processes.ended("child")}', 1)
        expect(rows['tasks'], 'ok')
        # Where only the processes of a container or of a user can be seen, finding none proves nothing.
        rows = processes.look('', 1)
        for name in ('tasks', 'kthreads', 'irqbalance', 'tuners', 'locks'):
            expect(rows[name], 'unknown')
        # The program may run on both CPUs, and is on CPU 0 while it sleeps.
        rows = processes.look(processes.program('hog') + processes.free(), 1)
        expect(rows['tasks'], 'risk', '1 tasks may run here; none ran here last')
        rows = processes.look(f'{processes.program("hog")} taskset -p -c 1 $! >/dev/null;'
                              f'{processes.WAKE} {processes.asleep(1)}', 1)
        expect(rows['tasks'], 'noise', '1 tasks may run here, 1 ran here last')
        check('hog' in rows['tasks']['seen'], rows['tasks'])
        equal(rows['tasks']['fix'], 'cpu-shield -c 1', rows['tasks'])


def test_hidden():
    """A process that is closed to the user counts as one that cannot be seen; a process that has ended since
    its name was read in /proc does not."""
    need_two_cpus()
    with Machine(QUIET) as box, Processes() as processes:
        # What has ended has no files any more.
        kernel = processes.kernel_thread()
        gone = (f'{processes.program("gone")}{processes.asleep(0)} mkdir nothing; '
                'mount --bind nothing /proc/$! || exit 99;')
        row = processes.look(f'{kernel}{gone}', 1)['tasks']
        expect(row, 'ok')
        equal(row['seen'], 'no task of a program may run here', f'{row}')
        if os.geteuid() != 0:
            raise Skip('only root can be two users')
        program, user = box.prepare_user(ISOL_CHECK)
        row = processes.look(f'{kernel} mount -o remount,hidepid=1 /proc || exit 99;', 1,
                             ' '.join([*user, str(program)]))['tasks']
        expect(row, 'unknown', 'processes cannot be seen')


def test_kernel_threads():
    """Kernel threads that may run here and can be moved, that cannot be moved, and workers, which
    belong to their queue."""
    need_two_cpus()
    with Processes() as processes:
        kthread, bound, worker = 0x00200000, 0x04000000, 0x00000020
        for flags, cpus, verdict, said in (
                (kthread, '0,1', 'risk', '1 movable kernel thread may run here: kswapd0'),
                (kthread, '1', 'risk', 'cpu-shield -c 1'),
                (kthread, '0', 'ok', '0 belong to these CPUs'),
                (kthread | bound, '1', 'ok', '1 belong to these CPUs and cannot be moved'),
                (kthread | worker, '0,1', 'ok', '0 belong to these CPUs'),
                (kthread | worker, '1', 'risk', 'kswapd0')):
            script = processes.program('hog') + processes.disguise('kswapd0', flags)
            rows = processes.look(f'{script} taskset -p -c {cpus} $thread >/dev/null;', 1)
            expect(rows['kthreads'], verdict, said, f' with {flags:#x} on {cpus}')
            # A kernel thread is not counted among the programs.
            expect(rows['tasks'], 'ok')


def test_real_kernel_threads():
    """The kernel threads of the machine that the test runs on: CPU 0 has some of its own."""
    if not os.path.exists('/proc/2/stat') or '(kthreadd)' not in open('/proc/2/stat').read():
        raise Skip('no threads of the kernel are to be seen here')
    result = subprocess.run([ISOL_CHECK, '--json', '--watch', '0', '-c', '0'],
                            capture_output=True, text=True, check=False)
    row = looked(result)['kthreads']
    check(row['verdict'] in ('ok', 'risk'), row)
    check('belong to these CPUs' in row['seen'], row)
    count = int(row['seen'].split('; ')[-1].split()[0])
    check(count >= 1, row)


def test_irqbalance_was_told():
    """irq-steer has told irqbalance; an irqbalance that was started later does not know it."""
    with Processes() as processes:
        boot = pathlib.Path(f'/{KERNEL}/random/boot_id').read_text(encoding='ascii').strip()
        pathlib.Path(processes.directory.name, 'journal').write_text(
            journal(('mask', 'irqbalance:banned', '0', '1'), tool='irq-steer', boot=boot), encoding='ascii')
        script = (processes.kernel_thread() + processes.program('irqbalance') + processes.asleep(0) +
                  'mount -t tmpfs -o mode=755 none /run; mkdir -m 755 /run/quiesce; '
                  'cp journal /run/quiesce/irq-steer.journal; ')
        for more, verdict, said in (('sleep 0.1; touch', 'ok', 'irq-steer told it to leave these alone'),
                                    ('touch -d yesterday', 'risk', 'is not the one that irq-steer told')):
            row = processes.look(f'{script} {more} /run/quiesce/irq-steer.journal;', 0)['irqbalance']
            expect(row, verdict, said)
            check((verdict == 'risk') == (row.get('fix') == 'irq-steer -c 0'), row)


def test_irqbalance_environment():
    """What an admin has banned in the environment of irqbalance takes the place of what it bans by default."""
    with Processes() as processes:
        for ban, verdict, said in (('IRQBALANCE_BANNED_CPUS=1', 'ok', 'its environment bans these'),
                                   ('IRQBALANCE_BANNED_CPULIST=0-1', 'ok', 'its environment bans these'),
                                   ('IRQBALANCE_BANNED_CPULIST=1', 'risk', 'may bring interrupts here'),
                                   ('IRQBALANCE_BANNED_CPUS=0', 'risk', 'may bring interrupts here')):
            script = f'{processes.kernel_thread()} {ban} {processes.program("irqbalance")} {processes.asleep(0)}'
            expect(processes.look(script, 0)['irqbalance'], verdict, said)
    for ban, verdict in ('IRQBALANCE_BANNED_CPUS=0', 'risk'), ('OTHER=0', 'ok'):
        with Machine('isolated') as box:
            (box.root / 'run').mkdir()
            shutil.copy(shutil.which('sleep'), box.root / 'run/irqbalance')
            script = (f'{ban} /run/irqbalance 60 & until grep -q irqbalance /proc/$!/comm; do sleep 0.05; done; '
                      f'{ISOL_CHECK} --json --watch 0 -c 2-3')
            result = box.run('sh', '-c', script, allowed='0-3', root=True, alone=True)
            rows = {row['id']: row for row in json.loads(result.stdout)['checks']}
            expect(rows['irqbalance'], verdict)


def test_tuners():
    with Processes() as processes:
        rows = processes.look(processes.kernel_thread(), 0)
        for name in ('tuners', 'irqbalance'):
            expect(rows[name], 'ok')
        rows = processes.look(processes.program('tuned') + processes.asleep(0) +
                              processes.program('irqbalance') + processes.asleep(0), 0)
        expect(rows['tuners'], 'risk')
        equal(rows['tuners']['fix'], 'systemctl stop tuned', rows['tuners'])
        expect(rows['irqbalance'], 'risk')
        equal(rows['irqbalance']['fix'], 'irq-steer -c 0', rows['irqbalance'])
        # A unit of the user's.
        rows = processes.look(processes.program('gamemoded') + processes.asleep(0), 0)
        equal(rows['tuners']['fix'], 'systemctl --user stop gamemoded', rows['tuners'])


def test_locks():
    """The lock of another process is found, whether or not that process can be seen."""
    lock = 'flock -n -E 77 /sys/devices/system/cpu/cpu0'
    with Processes() as processes:
        # Somebody else who measures on CPU 0 meanwhile ends some time.
        deadline = time.monotonic() + 30
        while True:
            free = processes.look(processes.kernel_thread(), 0)['locks']
            shown, held = (processes.shell(f'{lock} {command}')
                           for command in ('cat /proc/locks', f'{ISOL_CHECK} --json --watch 0 -c 0'))
            if 77 not in (shown.returncode, held.returncode) and free['verdict'] == 'ok':
                break
            if time.monotonic() > deadline:
                if 77 in (shown.returncode, held.returncode):
                    raise Skip('somebody measures on CPU 0')
                break
            time.sleep(0.1)
        expect(free, 'ok')
        if 'FLOCK' not in shown.stdout:
            raise Skip(f'/proc/locks does not show locks here: {shown.stdout!r}')
        expect(looked(held)['locks'], 'risk', 'flock (')


BOOT_ID = Setter.BOOT_ID


def journal(*knobs, boot=BOOT_ID, tool='noise-off'):
    return make_journal(*knobs, tool=tool, boot=boot).decode()


def test_journals():
    knob = ('number', f'/{KERNEL}/timer_migration', '1', '0')
    mask = ('mask', f'/{WORKQUEUE}/cpumask', 'f', '3')
    with Machine(QUIET) as box:
        box.write(f'{KERNEL}/random/boot_id', BOOT_ID + '\n')
        (box.root / 'run').mkdir()

        def row():
            return looked(run(box, '--json', '--watch', '0', '-c', '2'))['journals']

        expect(row(), 'ok', where=' without any')
        for text, verdict, said in (
                (journal(knob, mask), 'info', 'noise-off keeps 2 knobs'),
                # A value that the setter has not set, and then the value from before.
                (journal((*knob[:3], '5'), mask), 'risk', '1 no longer has the value that was set'),
                (journal(knob, (*mask[:2], '3', 'c')), 'risk', '1 no longer has the value that was set'),
                # The kernel lowers this value by itself.
                (journal(('rate', f'/{KERNEL}/perf_event_max_sample_rate', '1', '200000')), 'info', ''),
                (journal(('word', '/sys/nowhere', 'a', 'b'), ('word', 'irqbalance:banned', '0', 'c')),
                 'info', '2 knobs'),
                (journal(knob, boot=BOOT_ID[:-1] + '2'), 'risk', 'an earlier boot'),
                (journal(knob)[:-9], 'risk', 'damaged'),
                (journal(knob, tool='freq-pin'), 'risk', 'belongs to freq-pin')):
            box.write('run/quiesce/noise-off.journal', text)
            now = row()
            expect(now, verdict, said, f' with {text}')
            check('/run/quiesce/noise-off.journal' in now['path'], now)
            check(verdict == 'info' or now['fix'].startswith('noise-off '), now)
        # What one kept and another has set since is in good hands, and what somebody else set is not.
        box.write('run/quiesce/noise-off.journal', journal(knob, (*mask[:2], 'f', 'b')))
        equal(row()['verdict'], 'risk', 'set by nobody that is known')
        box.write('run/quiesce/irq-steer.journal', journal(mask, tool='irq-steer'))
        equal(row()['verdict'], 'info', 'set by irq-steer')
        box.write('run/quiesce/irq-steer.journal', journal((*mask[:3], '1'), tool='irq-steer'))
        equal(row()['verdict'], 'risk', 'set by irq-steer, and changed since')
        # smt-off keeps the mask of an interrupt, irq-steer sets the list of the same CPUs.
        (box.root / 'run/quiesce/noise-off.journal').unlink()
        irq = '/proc/irq/26/smp_affinity'
        box.write(irq[1:], '2\n')
        box.write(irq[1:] + '_list', '1\n')
        box.write('run/quiesce/smt-off.journal', journal(('mask', irq, 'f', 'f'), tool='smt-off'))
        box.write('run/quiesce/irq-steer.journal', journal(knob, tool='irq-steer'))
        equal(row()['verdict'], 'risk', 'a mask set by nobody that is known')
        for cpus, verdict in (('1', 'info'), ('0-1', 'risk')):
            box.write('run/quiesce/irq-steer.journal',
                      journal(('list', irq + '_list', '0-3', cpus), tool='irq-steer'))
            equal(row()['verdict'], verdict, f'irq-steer has set {cpus}')
        equal(looked(record(box, '--json', '-c', '2'))['journals']['verdict'], 'unknown', 'recorded')


# --- Odd machines ---

ODD = {
    'empty': b'',
    'newline': b'\n',
    'huge': b'7' * 100000,
    'long list': b','.join(b'%d' % n for n in range(0, 8000, 2)) + b'\n',
    'garbage': bytes(range(256)) * 16,
    'minus': b'-1\n',
    'far': b'4294967295-18446744073709551616\n',
    'words': b'one two [three] (null) <unsupported>\n' * 3,
    'null': b' (null)\n',
}


def spoil(box, text, directory=False):
    """Writes this text into every file of the machine except those that say which CPUs there
    are."""
    for top in ('sys', 'proc'):
        for where, _, files in os.walk(box.root / top):
            for name in files:
                path = pathlib.Path(where, name)
                if path.is_symlink() or name in ('online', 'possible', 'present'):
                    continue
                if directory and path.parent != box.root / 'proc':
                    path.unlink()
                    path.mkdir()
                else:
                    path.write_bytes(text)


def bear(box, cpus):
    for arguments in (['--json'], ['--cmdline']):
        result = sanitized(run(box, '-c', cpus, '--watch', '0.001', *arguments))
        check(result.returncode in (0, 1, 3), f'{result.returncode} {result.stderr}')


def test_odd(what):
    with Machine(QUIET) as box:
        spoil(box, ODD[what])
        bear(box, '2')


def test_odd_machine(of):
    cpus = {'noisy-server': '4,40', 's390-gaps': '4,9'}.get(of, '1')
    with Machine(of) as box:
        spoil(box, ODD['garbage'])
        bear(box, cpus)
    with Machine(of) as box:
        spoil(box, b'', directory=True)
        bear(box, cpus)


def test_bytes():
    """Every file is cut short, and every file has one byte changed."""
    with Machine('nohz-pstate') as box:
        originals = {path: path.read_bytes() for top in ('sys', 'proc')
                     for path in (box.root / top).rglob('*')
                     if path.is_file() and not path.is_symlink()}
        for turn in range(8):
            for path, text in originals.items():
                at = (turn * 7919 + len(path.name) * 31) % max(len(text), 1)
                path.write_bytes(text[:at] if turn % 2 else
                                 text[:at] + bytes([turn * 23 % 256]) + text[at + 1:])
            result = sanitized(run(box, '--json', '--watch', '0', '-c', '2'))
            check(result.returncode in (0, 1, 2, 3), f'{result.returncode} {result.stderr}')


# --- What cannot be seen ---

# What a check's answer rests on: {check: [(machine, CPUs, files that are changed, the file)]}. Where
# that file is empty, cut off, garbage or cannot be read, nothing is known, nor where it is gone. With
# words behind it, its absence says that the kernel has not got it, and they are what is said then.
# CUT: what is left where it is cut off cannot be told from a whole one, or says enough.
CUT = object()
NOHZ = f'{CPU}/nohz_full'
EVIDENCE = {
    'isolated': [(QUIET, '2', {}, f'{CPU}/isolated'),
                 ('intel-hybrid', '3', cgroups(a='isolated 3'),
                  f'{CGROUP}/a.slice/cpuset.cpus.partition', 'noise'),
                 ('intel-hybrid', '3', v1_cpusets('0'),
                  f'{CGROUP}/cpuset/cpuset.sched_load_balance', CUT)],
    'isolcpus': [(QUIET, '2', {}, 'proc/cmdline')],
    'partitions': [(QUIET, '2', cgroups(a='isolated 2'), f'{CGROUP}/a.slice/cpuset.cpus.effective'),
                   (QUIET, '2', cgroups(a='isolated 2'), f'{CGROUP}/a.slice/cpuset.cpus.partition',
                    'no cpuset')],
    'nohz-full': [(QUIET, '2', {}, NOHZ, 'always has its tick')],
    'rcu-nocbs': [(QUIET, '2', {}, NOHZ, 'where they arise'), (QUIET, '2', {}, 'proc/cmdline')],
    'nohz-pstate': [(QUIET, '2', {}, NOHZ, 'not with nohz_full'), (QUIET, '2', {}, 'proc/cmdline'),
                    (QUIET, '2', {}, f'{POLICY}2/scaling_driver', 'not with intel_pstate', CUT),
                    (QUIET, '2', {}, f'{POLICY}2/scaling_max_freq', CUT)],
    'siblings': [(QUIET, '2', {f'{CPU}/cpu2/topology/thread_siblings': None},
                  f'{CPU}/cpu2/topology/thread_siblings_list'),
                 ('amd-smt', '2', cgroups(a='isolated 10'), f'{CGROUP}/a.slice/cpuset.cpus.partition',
                  'noise')],
    'half-cores': [(QUIET, '2', {}, f'{CPU}/isolated'),
                   ('amd-smt', '2', {f'{CPU}/isolated': '3,11',
                                     f'{CPU}/cpu3/topology/thread_siblings': None},
                    f'{CPU}/cpu3/topology/thread_siblings_list')],
    'smt': [(QUIET, '2', {}, f'{CPU}/smt/control', 'no switch')],
    'freq-driver': [(QUIET, '2', {}, f'{POLICY}2/scaling_driver', 'nothing is known', CUT)],
    'boost': [(QUIET, '2', {}, f'{CPU}/intel_pstate/no_turbo', 'no switch', CUT),
              ('isolated', '2', {}, f'{CPU}/cpufreq/boost', 'no switch', CUT),
              ('intel-hybrid', '3', {}, f'{POLICY}3/scaling_max_freq', CUT)],
    'governor': [(QUIET, '2', {}, f'{POLICY}2/scaling_governor', CUT),
                 ('isolated', '2-3', {}, f'{POLICY}2/scaling_governor', CUT)],
    'freq-range': [('isolated', '2', {}, f'{POLICY}2/scaling_min_freq', CUT),
                   ('isolated', '2-3', {}, f'{POLICY}2/scaling_max_freq', CUT)],
    'epp': [(QUIET, '2', {}, f'{POLICY}2/energy_performance_preference', 'no such', CUT)],
    'freq-policies': [(QUIET, '2-3', {}, f'{POLICY}{cpu}/{name}', CUT)
                      for cpu in (2, 3) for name in ('scaling_governor', 'scaling_max_freq',
                                                     'energy_performance_preference')],
    'core-kind': [(QUIET, '2', {}, f'{POLICY}2/cpuinfo_max_freq', CUT),
                  ('arm-nosmt', '3', {}, f'{CPU}/cpu3/cpu_capacity', CUT)],
    'freq-now': [('isolated', '2', {}, f'{POLICY}2/scaling_cur_freq', CUT),
                 ('isolated', '2-3', {}, f'{POLICY}3/scaling_cur_freq', CUT)],
    'idle-driver': [(QUIET, '2', {}, f'{CPU}/cpuidle/current_driver')],
    'idle-states': [(QUIET, '2', {}, f'{CPU}/cpu2/cpuidle/state{state}/latency', CUT) for state in (0, 1)],
    'idle-depth': [(QUIET, '2', {}, f'{CPU}/cpu2/cpuidle/state1/latency', CUT),
                   (QUIET, '2', {}, f'{CPU}/cpu2/cpuidle/state2/latency', CUT),
                   # Kernels that cannot disable one have no such file.
                   (QUIET, '2', {}, f'{CPU}/cpu2/cpuidle/state2/disable', 'C6', CUT)],
    'irq-affinity': [(QUIET, '2', {}, 'proc/irq/24/smp_affinity_list'),
                     (QUIET, '2', {}, 'proc/irq/26/effective_affinity_list', '1 goes here')],
    'irq-managed': [(QUIET, '2', {}, 'proc/irq/25/smp_affinity_list')],
    'irq-default': [(QUIET, '2', {}, 'proc/irq/default_smp_affinity')],
    'workqueue': [(QUIET, '2', {}, f'{WORKQUEUE}/cpumask')],
    'writeback': [(QUIET, '2', {}, f'{WORKQUEUE}/writeback/cpumask')],
    'watchdogs': [(QUIET, '0', {f'{KERNEL}/soft_watchdog': '0'}, f'{KERNEL}/nmi_watchdog', 'off'),
                  (QUIET, '2', {}, f'{KERNEL}/soft_watchdog', 'off'),
                  (QUIET, '2', {}, f'{KERNEL}/watchdog_cpumask', 'every few seconds')],
    'timer-migration': [(QUIET, '2', {f'{KERNEL}/osrelease': '6.8.1'}, f'{KERNEL}/timer_migration'),
                        (QUIET, '2', {f'{KERNEL}/osrelease': '6.8.1'}, f'{KERNEL}/osrelease')],
    'rps': [(QUIET, '2', {f'{QUEUES}/rx-0/rps_cpus': '3'}, f'{QUEUES}/rx-0/rps_cpus',
             'no packets are handed')],
    'skew-tick': [(QUIET, '2', {}, 'proc/cmdline', CUT)],
    'rcu-nocb-poll': [(QUIET, '2', {}, 'proc/cmdline', CUT)],
    'machine-checks': [(QUIET, '2', {f'{ERRORS}/check_interval': '300'}, f'{ERRORS}/check_interval', 'not asked',
                        CUT)],
    # An empty list is one: all CPUs are in groups.
    'resctrl': [(QUIET, '2', {f'{RESCTRL}/cpus_list': '0-3'}, f'{RESCTRL}/cpus_list', 'not in use',
                 'what all share')],
    'uncore-freq': [(QUIET, '2', {f'{UNCORE}/{name}_freq_khz': '2000000' for name in ('min', 'max')},
                     f'{UNCORE}/min_freq_khz', CUT)],
    'sched-ext': [(QUIET, '2', {f'{SCHED_EXT}/state': 'disabled'}, f'{SCHED_EXT}/state',
                   'this kernel has none')],
    'vmstat': [(QUIET, '2', {}, 'proc/sys/vm/stat_interval'), (QUIET, '2', {}, f'{CPU}/isolated'),
               (QUIET, '2', {}, f'{KERNEL}/osrelease')],
    'rt-throttling': [(QUIET, '2', {}, f'{KERNEL}/sched_rt_runtime_us')],
    'thp': [(QUIET, '2', {}, 'sys/kernel/mm/transparent_hugepage/enabled', 'this kernel has none'),
            (QUIET, '2', {}, 'sys/kernel/mm/transparent_hugepage/defrag'),
            # Sizes of shared memory alone have no such file.
            (QUIET, '2', {f'{THP}/hugepages-64kB/enabled': 'always inherit madvise [never]'},
             f'{THP}/hugepages-64kB/enabled', 'madvise')],
    'ksm': [(QUIET, '2', {}, 'sys/kernel/mm/ksm/run', 'this kernel has none')],
    'numa-balancing': [(QUIET, '2', {}, f'{KERNEL}/numa_balancing', 'this kernel has none')],
    'swap': [(QUIET, '2', {}, 'proc/swaps'), ('noisy-server', '4', {}, 'proc/swaps')],
    'aslr': [(QUIET, '2', {}, f'{KERNEL}/randomize_va_space')],
    'perf-sampling': [(QUIET, '2', {}, f'{KERNEL}/perf_event_max_sample_rate')],
    'perf-paranoid': [(QUIET, '2', {}, f'{KERNEL}/perf_event_paranoid')],
    'temperature': [('intel-hybrid', '3', {},
                     'sys/devices/platform/coretemp.0/hwmon/hwmon1/temp1_input', CUT)],
    'throttled': [(QUIET, '2-3', {}, f'{CPU}/cpu{cpu}/thermal_throttle/core_throttle_count', CUT)
                  for cpu in (2, 3)],
    # A supply without a type does not count.
    'power-supply': [(QUIET, '2', {f'{SUPPLY}/BAT0/type': 'Battery',
                                   f'{SUPPLY}/BAT0/status': 'Charging'}, *path)
                     for path in ((f'{SUPPLY}/BAT0/status',),
                                  (f'{SUPPLY}/BAT0/type', 'no battery', CUT))],
    'clocksource': [(QUIET, '2', {}, f'{CLOCK}/current_clocksource')],
    'virtualization': [(QUIET, '2', {}, 'proc/cpuinfo', CUT)],
    'steal': [(QUIET, '2', {}, 'proc/stat', CUT)],
    # A cgroup for which the controller is not enabled has no limit.
    'quota': [(QUIET, '2', quota('max 100000'), f'{CGROUP}/pod/cpu.max', 'none'),
              (QUIET, '2', quota(-1), f'{CGROUP}/cpu,cpuacct/pod/job/cpu.cfs_period_us')],
}
# Of the target's CPUs nothing is ever fine, and which there are several files say.
NO_EVIDENCE = ('cpus',)


def spoilt(box, path, how):
    """Makes the file worthless as evidence. Returns its text."""
    target = box.root / path
    text = target.read_bytes()
    if how == 'gone':
        target.unlink()
    elif how == 'unreadable':
        target.unlink()
        target.mkdir()
    else:
        target.write_bytes({'empty': b'', 'cut': text.rstrip(b'\n')[:(len(text) + 1) // 2],
                            'garbage': b'\x01\xff-[ ?,,\n'}[how])
    return text


def respoil(box, path, text):
    """Writes the text of the file back."""
    target = box.root / path
    if target.is_dir():
        target.rmdir()
    target.write_bytes(text)


def test_evidence(name):
    """A check says that it does not know when the file on which its answer rests is worthless."""
    done = 0
    for of, cpus, files, path, *more in EVIDENCE[name]:
        words = [word for word in more if word is not CUT]
        with Machine(of) as box:
            for changed, text in files.items():
                if text is None:
                    box.remove(changed)
                else:
                    box.write(changed, text + '\n')
            before = look(box, cpus)
            for how in ('gone', 'empty', 'cut', 'garbage', 'unreadable'):
                if how == 'cut' and CUT in more:
                    continue
                where = f' on {of}, CPUs {cpus}, {path} {how}'
                text = spoilt(box, path, how)
                row = look(box, cpus)[name]
                if how == 'gone' and words:
                    check(words[0] in f'{row["verdict"]} {row["seen"]}', f'{where}: {row}')
                else:
                    equal(row['verdict'], 'unknown', f'{where}: {row}')
                respoil(box, path, text)
                done += 1
            equal(look(box, cpus)[name], before[name], f'{name}, as it was')
    return f'{done} times'


def test_evidence_is_whole():
    equal(set(EVIDENCE) | set(NO_EVIDENCE), set(CASES) | {'irq-managed'}, 'checks and their evidence')


def test_denied():
    """The same for a user who may not read the file; isol-check says so."""
    with Machine(QUIET) as box:
        command, user = box.prepare_user(ISOL_CHECK)
        paths = {f'{KERNEL}/numa_balancing': 'numa-balancing', 'proc/swaps': 'swap',
                 'sys/kernel/mm/ksm/run': 'ksm', f'{CPU}/smt/control': 'smt', NOHZ: 'nohz-full',
                 f'{POLICY}2/scaling_governor': 'governor', 'proc/irq/default_smp_affinity':
                 'irq-default', 'proc/stat': 'steal', f'{KERNEL}/soft_watchdog': 'watchdogs',
                 f'{CPU}/isolated': 'half-cores'}
        for path, name in paths.items():
            mode = (box.root / path).stat().st_mode
            (box.root / path).chmod(0)
            result = box.run(*user, command, '--json', '--watch', '0', '-c', '2')
            row = looked(result)[name]
            equal(row['verdict'], 'unknown', f'{path}: {row}')
            check('ermission' in row['seen'] or name in ('governor', 'watchdogs'), f'{path}: {row}')
            (box.root / path).chmod(mode)
    return f'{len(paths)} files'


def test_no_affinities():
    """The folders of interrupts do not say to which CPUs the interrupts go."""
    with Machine(QUIET) as box:
        for path in (box.root / 'proc/irq').glob('*/*'):
            path.unlink()
        rows = look(box, '2')
        for name in ('irq-affinity', 'irq-managed'):
            expect(rows[name], 'unknown', 'where 3 of 3 go cannot be seen')
        for path in (box.root / 'proc/irq').glob('[0-9]*'):
            path.rmdir()
        rows = look(box, '2')
        for name in ('irq-affinity', 'irq-managed'):
            expect(rows[name], 'unknown', 'no interrupts')


def test_never_better(of, cpus):
    """Each file in turn, whatever it is: no check that was not content before is content now, but
    where the kernel has not got what would be wrong."""
    known = {('nohz-pstate', 'not with nohz_full'), ('nohz-pstate', 'not with intel_pstate'),
             ('thp', 'this kernel has none'), ('ksm', 'this kernel has none'),
             ('numa-balancing', 'this kernel has none'), ('watchdogs', 'off')}
    done = 0
    with Machine(of) as box:
        before = look(box, cpus)
        quiet = machine.parse_list(cpus)
        for path, content in box.description.files.items():
            number = re.search(r'/(?:cpu|policy)(\d+)/', path)
            if not isinstance(content, bytes) or (number and int(number.group(1)) not in quiet):
                continue
            for how in ('gone', 'empty', 'garbage', 'unreadable'):
                text = spoilt(box, path, how)
                for name, row in look(box, cpus).items():
                    check(row['verdict'] != 'ok' or before[name]['verdict'] == 'ok' or
                          (how == 'gone' and (name, row['seen']) in known),
                          f'{path} {how}: {before[name]} is now {row}')
                respoil(box, path, text)
                done += 1
    return f'{done} times'


# --- As it looks ---

GOLDENS = {
    'amd-acpi': '3', 'amd-smt': '2', 'arm-nosmt': '3-4', 'intel-hybrid': '3,9',
    'intel-passive': '1', 'irqs': '3', 'isolated': '2-3', 'noisy-server': '4',
    'nohz-pstate': '2-3', 'old-kernel': '3', 's390-gaps': '4,9', 'vm-plain': '1',
}


def test_golden(of):
    """UPDATE_GOLDEN=1 writes the files anew; read them before you commit them."""
    with Machine(of) as box:
        result = record(box, '-c', GOLDENS[of])
    equal(result.returncode, 3, result.stderr)
    path = GOLDEN / f'{of}.txt'
    for line in result.stdout.splitlines():
        check(len(line) <= 80, f'wider than 80 columns: {line}')
    # The lines of subjects have empty cells.
    shown = ''.join(line.rstrip() + '\n' for line in result.stdout.splitlines())
    if os.environ.get('UPDATE_GOLDEN'):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(shown, encoding='utf-8')
        return 'written'
    wanted = path.read_text(encoding='utf-8')
    for got, line in zip(shown.splitlines(), wanted.splitlines()):
        equal(got, line, f'{of}: a line')
    equal(shown, wanted, of)
    return None


def noting(test):
    """Wraps a test so that test_both_ways() knows when the test was skipped."""
    def run_test():
        try:
            return test()
        except Skip:
            SKIPPED.append(test.__name__)
            raise
    return run_test


if __name__ == '__main__':
    machine.skip_without_cpupower('isol-check')
    machine.run_tests(
        [('all checks have cases', test_all_checks_have_cases),
         ('recordings of others', test_other_recordings),
         ('as wide as the terminal', test_width),
         ('colors', test_colors)]
        + [(f'check {name}', lambda name=name: test_check(name)) for name in CASES]
        + [('an exclusive cpuset of our own', test_own_exclusive_cpuset),
           ('all CPUs', test_all_cpus),
           ('interrupts that belong to the CPUs', test_lines_of_cpus),
           ('interrupts that the kernel manages', test_managed),
           ('exit status', test_exit_status),
           ('wrong use', test_usage),
           ('--pick', test_pick),
           ('--cmdline', test_cmdline),
           ('--cmdline of many CPUs', test_cmdline_of_many_cpus),
           ('default CPUs', test_default_cpus),
           ('what happens meanwhile', noting(test_watched)),
           ('tasks', noting(test_tasks)),
           ('tasks that cannot be seen', test_hidden),
           ('threads of the kernel', noting(test_kernel_threads)),
           ('threads of this kernel', test_real_kernel_threads),
           ('irqbalance that was told', noting(test_irqbalance_was_told)),
           ('environment of irqbalance', noting(test_irqbalance_environment)),
           ('tuners', noting(test_tuners)),
           ('locks', noting(test_locks)),
           ('journals', noting(test_journals)),
           ('every check fires, and does not', test_both_ways)]
        + [(f'odd files: {what}', lambda what=what: test_odd(what)) for what in ODD]
        + [(f'odd files on {of}', lambda of=of: test_odd_machine(of)) for of in machine.machines()]
        + [('bytes', test_bytes),
           ('evidence of every check', test_evidence_is_whole)]
        + [(f'evidence of {name}', lambda name=name: test_evidence(name)) for name in EVIDENCE]
        + [('evidence that may not be read', test_denied),
           ('interrupts without affinities', test_no_affinities)]
        + [(f'never better on {of}', lambda of=of, cpus=cpus: test_never_better(of, cpus))
           for of, cpus in ((QUIET, '2'), ('intel-hybrid', '3'))]
        + [(f'golden {of}', lambda of=of: test_golden(of)) for of in GOLDENS])
