#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random sequences of calls of setters, with a kernel behind the files; then all is restored.

    sequences.py ROOT N SEED    on a machine described in ROOT, with the tools and libraries in the environment

Between the calls others write to knobs and take CPUs offline, and calls are killed. In the end the machine
must be what it would be without the setters, by the same writes of others: all files, and what the kernel was
asked for and does not show. What differs must have been said: by a row of `restore --json`. Sequence I has
the seed SEED + I, which makes it again; each failure prints its seed, what was done, and what differs.

The kernel is that of cpufreq.py, hotplug.py and hugepages.py together.
"""

import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sys

import server
from server import Refused, put, read, read_optional

os.environ['TEST_CPUFREQ'] = '{}'
os.environ['TEST_HOTPLUG'] = '{}'

import cpufreq  # noqa: E402
import governors  # noqa: E402
import hotplug  # noqa: E402
import hugepages  # noqa: E402

CPUS = '/sys/devices/system/cpu'
POLICY = f'{CPUS}/cpufreq/policy'
INTEL = f'{CPUS}/intel_pstate'
IRQS = (0, 7, 42, 43, 60, 61)
NEW_IRQ = '/proc/irq/90/smp_affinity_list'  # is set up when it is written
N = 6  # CPUs: three cores of two threads
BOOST, BASE, LOWEST = 5000000, 3000000, 400000
NO_LIMIT = 2147483647
TOOLS = ('freq-pin', 'smt-off', 'irq-steer', 'noise-off')
# A policy that came back while boost was off does not show a maximum above what that allows.
HIDDEN_MAXIMUM = re.compile(r'CPUs? ([\d,-]+): something else limits the frequency .* restore will leave none')
SAID = ('foreign', 'gone', 'waiting', 'refused', 'failed')
STATES = ('cpufreq.json', 'governors.json')  # of the kernel, in /run


# --- The kernel ---

def write(path, text, _call='', writer=0):
    path, name = str(path), os.path.basename(path)
    if path == NEW_IRQ and not os.path.exists(path):
        given = hotplug.parse_mask(read('/proc/irq/default_smp_affinity')) & hotplug.parse_list(read(f'{CPUS}/online'))
        os.mkdir(os.path.dirname(path))
        put(path, hotplug.format_list(given))
        return
    if path.startswith((f'{CPUS}/cpufreq/', f'{INTEL}/')):
        cpufreq.write(pathlib.Path(path), text)
        return
    if path.startswith('/proc/irq/') or name in ('online', 'control', 'xps_cpus', 'cpus_list'):
        hotplug.write(pathlib.Path(path), text, '', writer)
        # What a policy shows that was away follows what was switched meanwhile.
        for policy in cpufreq.requests():
            if os.path.isdir(f'{CPUS}/cpufreq/{policy}'):
                cpufreq.refresh(policy)
        return
    hugepages.write(path, text)


# --- The machine ---

class Tree:
    """The files of the machine, which are put back before each sequence."""

    def __init__(self, root):
        self.root = root
        self.tops = [top for top in ('sys', 'proc/irq', 'proc/sys') if os.path.isdir(f'{root}/{top}')]
        self.original = self.snapshot()

    def snapshot(self):
        tree, folders = {}, list(self.tops)
        while folders:
            folder = folders.pop()
            with os.scandir(f'{self.root}/{folder}') as entries:
                for entry in entries:
                    name = f'{folder}/{entry.name}'
                    if entry.is_symlink():
                        tree[name] = os.readlink(entry)
                    elif entry.is_dir():
                        tree[name] = None
                        folders.append(name)
                    else:
                        with open(entry, 'rb', buffering=0) as file:
                            tree[name] = file.read()
        return tree

    def reset(self, wanted):
        now = self.snapshot()
        for name in sorted(set(now) - set(wanted), reverse=True):
            path = f'{self.root}/{name}'
            if now[name] is None:
                os.rmdir(path)
            else:
                os.unlink(path)
        for name in sorted(wanted):
            path, content = f'{self.root}/{name}', wanted[name]
            if name in now and now[name] == content:
                continue
            if isinstance(content, str) and name in now:
                os.unlink(path)
            if content is None:
                os.mkdir(path)
            elif isinstance(content, str):
                os.symlink(content, path)
            else:
                with open(path, 'wb', buffering=0) as file:
                    file.write(content)

    def set(self, name, text):
        path = f'/{name.lstrip("/")}'
        os.makedirs(os.path.dirname(path), exist_ok=True)
        put(path, text)


def forget():
    """What is in /run, of the kernel and of setters."""
    for name in STATES:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f'/run/{name}')
    shutil.rmtree('/run/quiesce', ignore_errors=True)


def make(tree, draw):
    """Makes one of several kinds of machines, and what somebody has set there. Returns what it is."""
    kind = draw.choice(('amd', 'amd-global', 'hwp', 'no-hwp', 'passive', 'acpi'))
    policies = range(3) if kind == 'acpi' else range(N)
    config = {'qos': True, 'floor': draw.choice((8, 60)), 'boost': {f'policy{p}': BOOST for p in policies},
              'base': {f'policy{p}': BASE for p in policies}, 'overwrites': kind == 'acpi'}
    intel = kind in ('hwp', 'no-hwp', 'passive')
    for cpu in range(N):
        os.unlink(f'{CPUS}/cpu{cpu}/cpufreq')
        os.symlink(f'../cpufreq/policy{cpu % 3 if kind == "acpi" else cpu}', f'{CPUS}/cpu{cpu}/cpufreq')
        if kind != 'amd' or cpu not in policies:
            shutil.rmtree(f'{POLICY}{cpu}')
    if intel:
        os.unlink(f'{CPUS}/cpufreq/boost')
        for name, text in (('no_turbo', 0), ('max_perf_pct', 100), ('min_perf_pct', 20), ('status', 'active')):
            tree.set(f'{INTEL}/{name}', text)
    has_boost = draw.random() < 0.75
    for p in policies:
        choices = 'performance powersave' if kind not in ('passive', 'acpi') else \
            'conservative ondemand userspace powersave performance schedutil'
        files = {
            'affected_cpus': f'{p} {p + 3}' if kind == 'acpi' else p,
            'related_cpus': f'{p} {p + 3}' if kind == 'acpi' else p,
            'cpuinfo_max_freq': BOOST, 'cpuinfo_min_freq': LOWEST, 'scaling_max_freq': BOOST,
            'scaling_min_freq': LOWEST, 'scaling_cur_freq': 1200000, 'scaling_setspeed': '<unsupported>',
            'scaling_available_governors': choices, 'scaling_governor': draw.choice(choices.split()),
            'scaling_driver': {'passive': 'intel_cpufreq', 'acpi': 'acpi-cpufreq'}.get(
                kind, 'intel_pstate' if intel else 'amd-pstate-epp'),
        }
        if kind in ('hwp', 'passive'):
            files['base_frequency'] = BASE
        if kind in ('amd', 'amd-global'):
            files['amd_pstate_max_freq'] = BOOST
        if kind == 'amd':
            files['boost'] = 1
        if kind != 'acpi' and kind != 'no-hwp':
            governor = files['scaling_governor']
            files['energy_performance_preference'] = 'performance' if governor == 'performance' else \
                draw.choice(('power', 'balance_power'))
            files['energy_performance_available_preferences'] = 'default performance balance_power power'
        if files['scaling_governor'] == 'userspace':
            files['scaling_setspeed'] = draw.choice((1200000, 4400000 if has_boost else 2200000))
        for name, text in files.items():
            tree.set(f'{POLICY}{p}/{name}', text)
    for cpu in range(N):
        tree.set(f'{CPUS}/cpu{cpu}/acpi_cppc/nominal_freq', BASE // 1000)
        if kind == 'no-hwp':
            os.unlink(f'{CPUS}/cpu{cpu}/acpi_cppc/nominal_freq')
    for governor, names in (('schedutil', ['rate_limit_us']), ('ondemand', ['up_threshold', 'io_is_busy']),
                            ('conservative', ['down_threshold', 'up_threshold'])):
        for p in policies:
            folder = f'{POLICY}{p}/{governor}' if kind == 'acpi' else f'{CPUS}/cpufreq/{governor}'
            if read(f'{POLICY}{p}/scaling_governor') == governor and not os.path.isdir(folder):
                for name in names:
                    tree.set(f'{folder}/{name}', 97 + names.index(name))
    for irq in IRQS:
        if draw.random() < 0.5:
            cpus = set(draw.sample(range(N), draw.randrange(1, N)))
            tree.set(f'/proc/irq/{irq}/smp_affinity_list', hotplug.format_list(cpus))
            tree.set(f'/proc/irq/{irq}/smp_affinity', f'{sum(1 << cpu for cpu in cpus):02x}')
    for queue in range(3):
        tree.set(f'/sys/class/net/eth0/queues/tx-{queue}/xps_cpus', f'{draw.randrange(1, 64):02x}')
    if draw.random() < 0.5:
        group = set(draw.sample(range(N), draw.randrange(1, N)))
        for folder, cpus in (('', set(range(N)) - group), ('/group', group),
                             ('/group/mon_groups/part', set(draw.sample(sorted(group), 1))), ('/mon_groups/none', ())):
            tree.set(f'{hotplug.RESCTRL}{folder}/cpus_list', hotplug.format_list(cpus))
    tree.set(hugepages.MIN_FREE, draw.choice((20000, hugepages.RECOMMENDED)))
    cpufreq.CONFIG = config
    os.environ['TEST_HOTPLUG'] = json.dumps({
        'cores': [[cpu, cpu + 3] for cpu in range(3)], 'width': N, 'release': draw.choice(([6, 1], [6, 12])),
        'virtio': draw.random() < 0.3, 'mirrors': draw.random() < 0.3,
        'spread': IRQS[2:] if draw.random() < 0.5 else (), 'spreads': 'own'})
    cpufreq.requests()
    # What somebody has set. What the hardware or another limit hides nobody can know.
    if not has_boost:
        write(*((f'{INTEL}/no_turbo', '1') if intel else (f'{CPUS}/cpufreq/boost', '0')))
    for p in policies:
        if draw.random() < 0.2:
            write(f'{POLICY}{p}/scaling_max_freq', str(draw.choice((2000000, 3900000 if has_boost else 2900000))))
        if draw.random() < 0.1:
            write(f'{POLICY}{p}/scaling_min_freq', str(draw.choice((600000, 1500000))))
        if kind == 'amd' and has_boost and draw.random() < 0.2:
            write(f'{POLICY}{p}/boost', '0')
    if draw.random() < 0.25:
        write(f'{CPUS}/cpu{draw.randrange(1, N)}/online', '0')
    return kind


# --- What is done there ---

class Sequence:
    def __init__(self, tree, seed):
        self.draw = random.Random(seed)
        forget()
        tree.reset(tree.original)
        self.tree, self.kind = tree, make(tree, self.draw)
        self.start, self.states = tree.snapshot(), self.read_states()
        self.log = []  # what was done, as text
        self.theirs = []  # what others have written
        self.said = {}  # {(tool, path): state}
        self.left = set()  # (tool, path) that a restore has left to somebody else, and said so
        self.noted = set()  # paths that a call has found changed by somebody else, and said so
        self.killed = set()  # tools that do not know how far they came
        self.writes, self.kill_at, self.after = 0, 0, False

    @staticmethod
    def read_states():
        return {name: read_optional(f'/run/{name}') for name in STATES}

    # --- Setters ---

    def do(self, path, text, call, writer):
        self.writes += 1
        if self.writes == self.kill_at and not self.after:
            os.kill(writer, signal.SIGKILL)
            return
        try:
            write(path, text, call, writer)
        finally:
            if self.writes == self.kill_at:
                os.kill(writer, signal.SIGKILL)

    def note_hidden(self):
        """What was written to a policy whose CPUs go offline then shows to nobody."""
        self.noted |= {path for path, _ in self.theirs if path.startswith(POLICY) and not os.path.exists(path)}

    def call(self, tool, *arguments, kill_at=0):
        self.writes, self.kill_at, self.after = 0, kill_at, self.draw.random() < 0.5
        preload = f'{os.environ["KERNEL"]} {os.environ["TIMELESS"]}'
        with open('/run/out', 'w+b', buffering=0) as out, open('/run/err', 'w+b', buffering=0) as err:
            status = server.run(self.do, ['env', f'LD_PRELOAD={preload}', 'TEST_MOUNTINFO=/run/mountinfo',
                                          os.environ[tool.upper().replace('-', '_')], *arguments],
                                stdin=-3, stdout=out, stderr=err)
            printed, said = (pathlib.Path(f'/run/{name}').read_text(encoding='utf-8') for name in ('out', 'err'))
        killed = kill_at and status == 128 + signal.SIGKILL
        self.log.append(f'{tool} {" ".join(arguments)}{f" (killed at write {kill_at})" if killed else ""}'
                        f': {status} {said.strip()}')
        if status >= 128 and not killed:
            raise AssertionError(f'{tool} crashed')
        for cpus in HIDDEN_MAXIMUM.findall(said):
            self.noted |= {f'{POLICY}{self.policy_of(cpu)}/scaling_max_freq' for cpu in hotplug.parse_list(cpus)}
        if killed:
            self.killed.add(tool)
            self.noted |= {path for path, _ in self.theirs}  # it has had no time to say so
        self.note_hidden()
        if not os.path.exists(f'/run/quiesce/{tool}.journal'):
            self.killed.discard(tool)
        return status, printed

    def restore(self, tool, kill_at=0):
        _, printed = self.call(tool, 'restore', '--json', kill_at=kill_at)
        for row in json.loads(printed or '{"knobs": []}')['knobs']:
            self.said.pop((tool, row['path']), None)
            if row['result'] == 'foreign':
                self.left.add((tool, row['path']))
            if row['result'] in SAID:
                self.said[tool, row['path']] = row['result']

    def policy_of(self, cpu):
        return cpu % 3 if self.kind == 'acpi' else cpu

    def some_cpus(self, least=1):
        return hotplug.format_list(self.draw.sample(range(N), self.draw.randrange(least, 4)))

    def kill_number(self):
        return self.draw.randrange(1, 25) if self.draw.random() < 0.15 else 0

    def apply(self):
        tool = self.draw.choice(('freq-pin', 'freq-pin', *TOOLS))
        arguments = ['-c', self.some_cpus()] if self.draw.random() < 0.6 else []
        if tool == 'freq-pin':
            arguments += self.draw.choice(([], [], ['min'], ['max'], ['2000000'], ['4000000']))
        elif tool == 'smt-off':
            arguments = self.draw.choice((['--all'], ['-c', str(self.draw.randrange(N))], arguments))
        elif not arguments:
            arguments = ['-c', self.some_cpus()]
        # What a restore has left to somebody is the original of the next apply.
        self.noted |= {path for by, path in self.left if by == tool}
        _, printed = self.call(tool, '--json', *arguments, kill_at=self.kill_number())
        for row in json.loads(printed or '{"knobs": []}')['knobs']:
            if 'changed by somebody else' in (row['why'] or ''):
                self.noted.add(row['path'])

    def look(self):
        before = self.tree.snapshot()
        arguments = ['-c', self.some_cpus()] if self.draw.random() < 0.5 else []
        self.call(self.draw.choice(TOOLS), 'status', *arguments)
        if self.tree.snapshot() != before:
            raise AssertionError('status changed something')

    # --- Others ---

    def let_them(self, path, text):
        """Somebody else writes. What the kernel refuses, or is so already, was no change."""
        now = read_optional(path)
        if now is None or text == now or f'[{text}]' in now:
            return
        # What does not show nobody can know: neither that it was written over what a call has left behind that
        # was killed, nor what the limits hide.
        name = os.path.basename(path)
        if self.killed or (name == 'scaling_min_freq' and
                           int(text) > int(read(os.path.dirname(path) + '/scaling_max_freq'))):
            return
        try:
            write(path, text)
        except Refused:
            return
        self.theirs.append((path, text))
        self.note_hidden()
        self.log.append(f'somebody: {text} > {path}')

    def others(self):
        draw = self.draw
        policy = f'{POLICY}{draw.randrange(3 if self.kind == "acpi" else N)}'
        what = draw.randrange(6)
        if what == 0:
            self.let_them(f'{policy}/scaling_max_freq', str(draw.choice((1700000, 1900000))))
        elif what == 1:
            self.let_them(f'{policy}/scaling_min_freq', str(draw.choice((700000, 900000))))
        elif what == 2:
            irq = f'/proc/irq/{draw.choice(IRQS)}/smp_affinity_list'
            others = hotplug.parse_list(read(f'{CPUS}/online')) - hotplug.parse_list(read(irq))
            # All of them, or the only one, could be what the kernel makes when CPUs go.
            if len(others) > 2:
                self.let_them(irq, str(draw.choice(sorted(others))))
        elif what == 3:
            self.let_them('/sys/kernel/mm/ksm/run', '2')
        elif what == 4:
            self.let_them('/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled',
                          draw.choice(('inherit', 'never')))
        else:
            self.let_them(f'{CPUS}/cpu{draw.randrange(1, N)}/online', draw.choice('01'))

    def plug_in(self):
        """A device that comes. Which CPUs its interrupt got nobody can tell where others switch CPUs."""
        if not any(path.endswith('/online') for path, _ in self.theirs):
            write(NEW_IRQ, '')
            self.theirs.append((NEW_IRQ, ''))
            self.log.append('somebody plugs in a device')

    def bring_back(self):
        """Those that others took offline come back, for what waits for them."""
        for cpu in range(1, N):
            path = f'{CPUS}/cpu{cpu}/online'
            if any(theirs == path for theirs, _ in self.theirs):
                self.let_them(path, '1')

    # --- All of it ---

    def run(self):
        for _ in range(self.draw.randrange(2, 9)):
            action = self.draw.choices((self.apply, self.look, self.others, None), (5, 1, 2, 2))[0]
            if action:
                action()
            else:
                self.restore(self.draw.choice(TOOLS), self.kill_number())
        if self.draw.random() < 0.5:
            self.plug_in()
        for again in range(2):
            if again:
                self.bring_back()
            for tool in self.draw.sample(TOOLS, len(TOOLS)):
                self.restore(tool)
        got = self.what_is()
        left = sorted(set(os.listdir('/run/quiesce')) - {'lock'}) if os.path.isdir('/run/quiesce') else []
        forget()
        self.tree.reset(self.start)
        before = {f'/{path}': content for path, content in self.start.items()}
        for name, text in self.states.items():
            if text:
                put(f'/run/{name}', text)
        for path, text in self.theirs:
            with contextlib.suppress(Refused, FileNotFoundError):
                write(path, text)
        self.compare(self.what_is(), got, left, before)

    def what_is(self):
        """{path: text} of all that there is, and of what the kernel was asked for."""
        found = {f'/{path}': content for path, content in self.tree.snapshot().items()
                 if '/.policy' not in path and '/.topology' not in path}
        for policy, (minimum, maximum, speed) in cpufreq.requests().items():
            # A kernel that asks for what boost allows by itself has made no difference.
            most = NO_LIMIT
            if cpufreq.CONFIG['overwrites'] and os.path.isdir(f'{CPUS}/cpufreq/{policy}'):
                most = int(read(f'{CPUS}/cpufreq/{policy}/cpuinfo_max_freq'))
            limit = None if maximum and maximum >= most else maximum
            # A speed beyond the limits shows as what they allow, and nobody can read more.
            speed = speed and max(minimum, min(speed, maximum or NO_LIMIT))
            for name, asked in (('min_freq', minimum), ('max_freq', limit), ('setspeed', speed)):
                found[f'{CPUS}/cpufreq/{policy}/scaling_{name} was asked for'] = asked
        return found

    def as_they_want(self, got):
        """The files that are as somebody has left them, though hotplug has moved them since."""
        return {path for path, text in self.theirs if got.get(path) == f'{text}\n'.encode()}

    @staticmethod
    def file_of(path):
        """The file that a setter would name: what is another view of it, or follows from it, counts as it."""
        path = path.partition(' ')[0]
        path = path.replace('scaling_setspeed', 'scaling_max_freq')
        return f'{path}_list' if path.endswith('/smp_affinity') else path

    def compare(self, wanted, got, left, before):
        # An interrupt whose CPUs others have taken offline goes to those that are online then, and stays there: its
        # own are lost without the setters as well, and which it has now depends on what was online.
        lost = {path for path in before if path.startswith('/proc/irq/') and wanted.get(path) != before[path]}
        excused = {path for _, path in self.said} | self.noted | self.as_they_want(got) | set(map(self.file_of, lost))
        differences = []
        for path in sorted({*wanted, *got}):
            text = got.get(path, 'none')
            if text not in (wanted.get(path, 'none'), before.get(path)) and self.file_of(path) not in excused:
                differences.append(f'{path}: {text!r} instead of {wanted.get(path)!r}')
        if differences:
            raise AssertionError('\n'.join(differences))
        if left and not self.said:
            raise AssertionError(f'left in /run/quiesce: {left}')


def main():
    root, n, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    tree, failed, calls = Tree(root), 0, 0
    pathlib.Path('/run/mountinfo').write_text('21 1 0:20 / /sys rw - sysfs sysfs rw\n', encoding='utf-8')
    for number in range(n):
        sequence = Sequence(tree, seed + number)
        try:
            sequence.run()
        except AssertionError as error:
            failed += 1
            done = '\n'.join(sequence.log)
            print(f'seed {seed + number} ({sequence.kind}):\n{done}\nsaid: {sequence.said}\n{error}\n', flush=True)
        calls += len(sequence.log)
    print(f'{n} sequences, {calls} steps, {failed} failed', flush=True)
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
