#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What Linux does when cpufreq is written to, on the files of a described machine.

How to run it: see server.py. TEST_CPUFREQ is JSON:

    qos     limits are requests, as since 5.3: any is taken, and what shows is what they come to,
            which also moves with the maximum of the hardware; else a minimum above the
            maximum is refused
    late    seconds after which a limit shows: the kernel's work item
    boost   {policy: maximum with boost}; without boost it is
    base    {policy: maximum without boost}
    overwrites  switching boost takes the place of what was asked for as the maximum, as in
            cpufreq_boost_set_sw() and cppc_cpufreq
    floor   what min_perf_pct cannot be above while turbo is off
    cooling {policy: {cooling device: the maximum that it allows while its cur_state is not 0}}
    broken  paths whose write fails with EIO

From drivers/cpufreq/cpufreq.c, intel_pstate.c and amd-pstate.c.
"""

import errno
import json
import os
import pathlib
import sys
import threading

import governors
import server
from server import Refused, read, read_optional

CPUFREQ = pathlib.Path('/sys/devices/system/cpu/cpufreq')
INTEL = pathlib.Path('/sys/devices/system/cpu/intel_pstate')
STATE = pathlib.Path('/run/cpufreq.json')
CONFIG = json.loads(os.environ['TEST_CPUFREQ'])
SPEED = 2  # its place in requests()
LOCK = threading.RLock()  # limits that show late, and everything else


def put(path, text):
    """At once, for somebody may be reading it."""
    new = path.with_name(f'.{path.name}.{os.getpid()}')
    new.write_text(f'{text}\n', encoding='utf-8')
    os.replace(new, path)


def number(path):
    return int(path.read_text(encoding='utf-8'))


def requests():
    """{policy: [minimum, maximum, speed] that were asked for}; None is no request."""
    asked = json.loads(STATE.read_text(encoding='utf-8')) if STATE.exists() else {}
    new = [policy for policy in CONFIG['boost'] if policy not in asked and (CPUFREQ / policy).exists()]
    if not new:
        return asked
    for policy in new:
        directory = CPUFREQ / policy
        maximum, speed = number(directory / 'scaling_max_freq'), read_optional(directory / 'scaling_setspeed')
        asked[policy] = [number(directory / 'scaling_min_freq'),
                         maximum if maximum < number(directory / 'cpuinfo_max_freq') else None,
                         int(speed) if speed and speed.isdigit() else None]
    put(STATE, json.dumps(asked))
    return asked


def cooled(policy):
    """What a cooling device allows, None where none is at work."""
    for device, allowed in CONFIG.get('cooling', {}).get(policy, {}).items():
        if read(f'/sys/class/thermal/{device}/cur_state') != '0':
            return allowed
    return None


def show_late(policy):
    with LOCK:
        show(policy)


def show(policy):
    """The limits that follow from what was asked for, as cpufreq_set_policy() has them."""
    directory = CPUFREQ / policy
    low, high = number(directory / 'cpuinfo_min_freq'), number(directory / 'cpuinfo_max_freq')
    minimum, maximum, speed = requests()[policy]
    maximum = max(low, min(high, maximum or high, cooled(policy) or high))
    minimum = max(low, min(maximum, minimum))
    put(directory / 'scaling_max_freq', maximum)
    put(directory / 'scaling_min_freq', minimum)
    # Governor `userspace` shows the speed that its limits allow, and remembers what it was asked for.
    if speed and read(directory / 'scaling_governor') == 'userspace':
        put(directory / 'scaling_setspeed', max(minimum, min(maximum, speed)))


def set_boost(policy, on):
    directory = CPUFREQ / policy
    asked = requests()  # what there was before, at the first time
    if policy not in asked or not directory.exists():
        return
    if (directory / 'boost').exists():
        put(directory / 'boost', int(on))
    most = CONFIG['boost' if on else 'base'][policy]
    if CONFIG.get('overwrites') and most != number(directory / 'cpuinfo_max_freq'):
        asked[policy][1] = most
        put(STATE, json.dumps(asked))
    put(directory / 'cpuinfo_max_freq', most)
    show(policy)


def refresh(policy):
    """A policy that was not there while something was switched."""
    switch = read_optional(INTEL / 'no_turbo')
    on = switch == '0' if switch else read_optional(CPUFREQ / 'boost') != '0'
    own = read_optional(CPUFREQ / policy / 'boost')
    set_boost(policy, on and (own != '0' or switch is not None))


def set_all_boost(on):
    for policy in CONFIG['boost']:
        set_boost(policy, on)


def set_governor(directory, new):
    """A governor that goes takes what it was told with it."""
    asked, policy, old = requests(), directory.name, read(directory / 'scaling_governor')
    if old == new:
        return
    put(directory / 'scaling_governor', new)
    governors.leave(policy, old)
    governors.enter(policy, new)
    if (directory / 'scaling_setspeed').exists() and policy in asked:
        asked[policy][SPEED] = number(directory / 'scaling_cur_freq') if new == 'userspace' else None
        put(STATE, json.dumps(asked))
        put(directory / 'scaling_setspeed', asked[policy][SPEED] or '<unsupported>')
        show(policy)
    if new == 'performance' and (directory / 'energy_performance_preference').exists():
        put(directory / 'energy_performance_preference', 'performance')


def write_limit(path, text):
    policy, high = path.parent.name, path.name == 'scaling_max_freq'
    asked = requests()
    if CONFIG['qos']:
        asked[policy][high] = int(text)
        put(STATE, json.dumps(asked))
        if CONFIG.get('late'):
            threading.Timer(CONFIG['late'], show_late, [policy]).start()
        else:
            show(policy)
        return
    new = [number(path.parent / name) for name in ('scaling_min_freq', 'scaling_max_freq')]
    new[high] = int(text)
    if new[0] > new[1]:
        raise Refused(errno.EINVAL)
    put(path, text)


def write(path, text):
    directory = path.parent
    if governors.write(str(path), text):
        return
    if str(path) in CONFIG.get('broken', ()):
        raise Refused(errno.EIO)
    if path.name in ('scaling_min_freq', 'scaling_max_freq'):
        write_limit(path, text)
        return
    if path.name == 'scaling_governor':
        set_governor(directory, text)
        return
    if path.name == 'scaling_setspeed':
        if read(directory / 'scaling_governor') != 'userspace':
            raise Refused(errno.EINVAL)
        asked = requests()
        asked[directory.name][SPEED] = int(text)
        put(STATE, json.dumps(asked))
        show(directory.name)
        return
    if path.name == 'energy_performance_preference':
        if read(directory / 'scaling_governor') == 'performance' and text != 'performance':
            raise Refused(errno.EBUSY)
    if path.name == 'boost' and directory != CPUFREQ:
        if number(CPUFREQ / 'boost') == 0:
            raise Refused(errno.EINVAL)
        set_boost(directory.name, int(text))
        return
    if path == INTEL / 'min_perf_pct' and number(INTEL / 'no_turbo'):
        text = str(min(int(text), CONFIG['floor']))
    put(path, text)
    for policy in CONFIG.get('cooling', {}) if path.name == 'cur_state' else ():
        show(policy)
    if path.name == 'no_turbo':
        if int(text):
            put(INTEL / 'min_perf_pct', min(number(INTEL / 'min_perf_pct'), CONFIG['floor']))
        set_all_boost(not int(text))
    if path == CPUFREQ / 'boost':
        set_all_boost(int(text))


def do(path, text, _call, _writer):
    with LOCK:
        write(path, text)


if __name__ == '__main__':
    sys.exit(server.main(do))
