# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel does with the files of a cpufreq governor, for cpufreq.py and hotplug.py.

The folder of a governor, cpufreq/GOVERNOR or cpufreq/policyN/GOVERNOR, is there while a policy uses it:
the last one that leaves takes it away, and the first one that comes makes it, as it is by default. A
described machine without such folders has governors without files. From
drivers/cpufreq/cpufreq_governor.c and kernel/sched/cpufreq_schedutil.c.
"""

import errno
import glob
import json
import os
import shutil

from server import Refused, put, read, read_optional

CPUFREQ = '/sys/devices/system/cpu/cpufreq'
GONE = '/run/governors.json'  # {folder that is gone: names of its files}
DEFAULTS = {'rate_limit_us': 15, 'up_threshold': 95, 'down_threshold': 20}
DEFAULT = 1


def folders(policy, governor):
    return f'{CPUFREQ}/{policy}/{governor}', f'{CPUFREQ}/{governor}'


def read_gone():
    return json.loads(read_optional(GONE) or '{}')


def is_used(governor):
    return any(read(path) == governor for path in glob.glob(f'{CPUFREQ}/policy*/scaling_governor'))


def leave(policy, governor):
    """The policy, which may be hidden, does not use the governor any more."""
    own, shared = folders(policy, governor)
    gone = read_gone()
    for folder in (own, *([] if is_used(governor) else [shared])):
        if os.path.isdir(folder):
            gone[folder] = sorted(os.listdir(folder))
            shutil.rmtree(folder)
    put(GONE, json.dumps(gone))


def enter(policy, governor):
    gone = read_gone()
    for folder in folders(policy, governor):
        if folder in gone and not os.path.isdir(folder):
            os.mkdir(folder)
            for name in gone[folder]:
                put(f'{folder}/{name}', DEFAULTS.get(name, DEFAULT))


def write(path, text):
    """Whether it is a file of a governor, which takes that."""
    folder = os.path.dirname(path)
    name = os.path.basename(folder)
    if not folder.startswith(f'{CPUFREQ}/') or name.startswith('policy'):
        return False
    thresholds = {key: read_optional(f'{folder}/{key}') for key in ('down_threshold', 'up_threshold')}
    thresholds[os.path.basename(path)] = text
    if name == 'conservative' and int(thresholds['down_threshold']) >= int(thresholds['up_threshold']):
        raise Refused(errno.EINVAL)
    put(path, text, 0)
    return True
