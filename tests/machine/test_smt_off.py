#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""smt-off on described machines: on plain files, and with what Linux does when CPUs go and come
(hotplug.py)."""

import json
import os
import re
import shutil

import machine
from hotplug import format_list
from machine import Machine, Setter, check, equal, parse_list, simulator

SMT_OFF = os.environ['SMT_OFF']
CPUS = 'sys/devices/system/cpu'
AMD_CORES = [[cpu, cpu + 8] for cpu in range(8)]
NEW, OLD = [6, 12], [6, 1]


def online(cpus, text):
    return {f'{CPUS}/cpu{cpu}/online': text for cpu in parse_list(cpus)}


def listed(*cpus):
    return format_list(cpus)


class Smt(Setter):
    """The machine `amd-smt` with interrupts, on plain files."""

    IRQS = {
        10: range(16),  # anywhere
        11: [3, 11],    # keeps a CPU
        12: [11],       # loses its last one
        13: [9, 10],    # loses all
        14: [3],
        15: [8],
        16: [12],
    }

    def __init__(self, name='amd-smt'):
        super().__init__(SMT_OFF, name)
        if name != 'amd-smt':
            return
        self.box.write('proc/irq/default_smp_affinity', 'ffff\n')
        for number, cpus in self.IRQS.items():
            self.box.write(f'proc/irq/{number}/smp_affinity_list', listed(*cpus) + '\n')

    def affinity(self, number):
        return (self.box.root / f'proc/irq/{number}/smp_affinity_list').read_text().strip()

    def knobs(self, *arguments, **options):
        """The rows of a JSON output that are more than kept: {(knob, cpu): row}."""
        rows = json.loads(self.succeed(*arguments, '--json', **options))['knobs']
        return {(row['knob'], row['cpu']): row for row in rows if row['wanted'] or row['state']}

    def states(self, *arguments, **options):
        return {key: row['state'] for key, row in self.knobs(*arguments, **options).items()}

    def fail(self, status, *arguments, **options):
        """Runs smt-off, which must fail and change nothing. Returns what it says."""
        before = self.snapshot()
        result = self.run(*arguments, **options)
        equal(result.returncode, status, f'status of {arguments}: {result.stderr}')
        self.same(before, f'{arguments} changed')
        equal(result.stdout, '', 'output')
        return result.stderr


class Linux(Smt):
    """`amd-smt` with a kernel behind its files."""

    def __init__(self, release, *, offline=(), **config):
        super().__init__()
        self.config = {'cores': AMD_CORES, 'width': 16, 'release': release, **config}
        self.mountinfo = self.box.root / 'mountinfo'
        self.mountinfo.write_text('21 1 0:20 / /sys rw - sysfs sysfs rw\n')
        for cpu in offline:
            self.write(f'/{CPUS}/cpu{cpu}/online', '0')

    def environment(self, **changes):
        return {'TEST_HOTPLUG': json.dumps({**self.config, **changes}),
                'TEST_MOUNTINFO': str(self.mountinfo)}

    def write(self, path, text):
        """A write by somebody else. Returns its errno."""
        return self.box.run(*simulator('hotplug.py'), path, text, env=self.environment(), root=True).returncode

    def run(self, *arguments, user=False, kernel=None, **options):
        if user:
            return super().run(*arguments, user=True, **options)
        return self.run_with_kernel('hotplug.py', *arguments,
                                    env=self.environment(**(kernel or {})), **options)

    def snapshot(self):
        # Files that the kernel of the test keeps aside until a CPU is back.
        return {path: content for path, content in super().snapshot().items()
                if '/.topology' not in path and '/.policy' not in path}

    def online(self):
        return (self.box.root / CPUS / 'online').read_text().strip()

    def read(self, path):
        return (self.box.root / path).read_text().strip()

    def life(self, *arguments, effect=None):
        """The cycle of a setting. cycle() does not know everything that changes; here it is enough
        that all of it is put back."""
        before = self.snapshot()
        self.succeed(*arguments)
        applied = self.snapshot()
        check(self.difference(before, applied), 'apply changed nothing')
        if effect:
            effect()
        self.succeed(*arguments)
        self.same(applied, 'the second apply changed')
        said = self.run('restore')
        equal((said.returncode, said.stdout, said.stderr), (0, '', ''), 'restore')
        self.same(before, 'restore left')
        equal(self.left_over(), [], 'restore left in /run/quiesce')


# --- Plain files ---

def test_whole_machine():
    with Smt() as smt:
        out = smt.cycle(changes={f'{CPUS}/smt/control': 'off', **online('8-15', 0)})
        for text in ('dry-run', 'status'):
            check('smt/control' in out[text] and '8-15' in out[text], f'{text}:\n{out[text]}')
        check(out['applied'].count('applied') == 2, f'status:\n{out["applied"]}')
        check('interrupt' not in out['applied'], f'kept knobs in the table:\n{out["applied"]}')
        smt.cycle('--all', changes={f'{CPUS}/smt/control': 'off', **online('8-15', 0)})


def test_threads():
    for chosen, gone in (('3', '11'), ('11', '3'), ('2-3', '10-11'), ('0', '8'), ('1,12', '4,9')):
        with Smt() as smt:
            out = smt.cycle('-c', chosen, changes=online(gone, 0))
            check('smt/control' not in out['applied'], f'smt/control in\n{out["applied"]}')
    with Smt() as smt:
        smt.succeed('-c', '3')
        equal(smt.states('status'), {('online', 11): 'applied'}, 'status without -c')
        # The second call adds to the first, and the third knows both.
        smt.succeed('-c', '4')
        equal(smt.states('-c', '3'), {('online', 11): 'applied', ('online', 12): 'applied'}, 'both')
        smt.succeed()
        check('already' not in smt.succeed('status', '-c', '3'), 'CPUs that were only looked after')
        equal(smt.states('status'), {('online', cpu): 'applied' for cpu in range(8, 16)}, 'all')
        smt.succeed('restore')
        smt.succeed()
        equal(smt.states('status', '-c', '3')[('smt/control', None)], 'applied', 'all, of one')
        check('already' not in smt.succeed('status', '-c', '3'), 'CPUs that were only looked after')
        equal(smt.states('status'), {('smt/control', None): 'applied',
                                     **{('online', cpu): 'applied' for cpu in range(8, 16)}}, 'all')
        smt.succeed('restore')


def test_chained_restore():
    with Smt() as smt:
        before = smt.snapshot()
        smt.succeed('-c', '3')
        smt.succeed('--all')
        smt.succeed('restore')
        smt.same(before, 'restore after -c and --all left')


def test_running_target():
    """The CPUs of the target are the default, --all takes all cores, and status shows what was
    done."""
    with Smt() as smt:
        boot = (smt.box.root / 'proc/sys/kernel/random/boot_id').read_text().strip()
        smt.journal_path.parent.mkdir()
        (smt.journal_path.parent / 'target').write_text(
            f'QUIESCE_TARGET=1\nBOOT_ID={boot}\nCPUS=3\n')
        equal(smt.states(), {('online', 11): 'applied'}, 'of the target')
        equal(smt.states('-c', '4')[('online', 12)], 'applied', '-c')
        equal(smt.states('status'), {('online', 11): 'applied', ('online', 12): 'applied'}, 'status')
        smt.succeed('restore')
        equal(smt.states('--all')[('smt/control', None)], 'applied', '--all')
        smt.succeed('restore')


def test_no_cpu_can_be_switched():
    """What is unavailable is said with its reason."""
    with Smt() as smt:
        smt.box.remove(f'{CPUS}/cpu11/online')
        for options in (), ('--dry-run',), ('--json',):
            said = smt.run('-c', '3', *options)
            equal((said.returncode, 'nothing to do' in said.stderr), (0, True), said.stderr)
            check('the kernel does not take this CPU offline: there is no' in ' '.join(said.stdout.split()), said.stdout)
        for options in (), ('--dry-run',):
            said = smt.run('-c', '3', '--strict', *options)
            equal(said.returncode, 1, said.stderr)
            check(f'cannot read online (/{CPUS}/cpu11/online): No such file' in said.stderr, said.stderr)


def test_wrong_use():
    with Smt() as smt:
        for arguments, words in ((('-c', '3,11'), 'CPUs 3 and 11 are threads of one core'),
                                 (('-c', '8'), 'CPU 0'),
                                 (('-c', '8', '--dry-run'), 'CPU 0'),
                                 (('-c', '3', '--all'), '-c and --all'),
                                 (('-c', '16'), 'does not exist'),
                                 (('-c', 'x'), 'not a CPU list'),
                                 (('3',), 'no verb')):
            said = smt.fail(2, *arguments)
            check(words in said and said.count('\n') == 1, f'{arguments}: {said}')
        smt.succeed('-c', '3')
        check('taken offline by smt-off' in smt.fail(2, '-c', '11'), 'taken CPU')
        smt.succeed('restore')
        smt.box.write(f'{CPUS}/cpu11/online', '0\n')
        check('CPU 11 is offline\n' in smt.fail(2, '-c', '11'), 'offline CPU')
        equal(smt.run('status', '--brief', '-c', '11').stderr, '', 'status with an offline CPU')


def test_not_root():
    with Smt() as smt:
        said = smt.fail(1, 'apply', user=True)
        check('needs root' in said and said.count('\n') == 1, said)
        equal(smt.left_over(), [], 'in /run/quiesce')


def test_machines():
    """The state that is shown on machines where there is nothing to do."""
    for name, word, why in (('vm-plain', 'host-controlled', 'kvm'),
                            ('arm-nosmt', 'unavailable', 'one thread each'),
                            ('s390-gaps', 'unavailable', 'one thread each'),
                            ('irqs', 'unavailable', 'one thread each')):
        with Smt(name) as smt:
            before = smt.snapshot()
            result = smt.run()
            equal(result.returncode, 0, f'{name}: status')
            check(word in result.stdout and why in ' '.join(result.stdout.split()), f'{name}:\n{result.stdout}')
            check('nothing to do' in result.stderr, f'{name}: {result.stderr}')
            smt.same(before, f'{name} changed')
            equal(smt.run('--strict').returncode, 1, f'{name}: --strict')
            # All is done where there is nothing that could be; the host may have left something to do.
            equal(smt.run('status', '--brief').returncode, 4 if word == 'host-controlled' else 0,
                  f'{name}: status --brief')
    with Smt('isolated') as smt:
        equal(smt.states(), {('smt/control', None): 'already'}, 'off at boot')
        equal(smt.run('--strict').stderr, '', 'said where it is off already')
        equal(smt.left_over(), [], 'journal of nothing')
    with Smt('intel-hybrid') as smt:
        smt.cycle(changes={f'{CPUS}/smt/control': 'off', **online('1,3,5,7', 0)})
        equal(smt.states('-c', '9'), {('SMT', None): 'already'}, 'efficiency core')
        equal(smt.run('-c', '9', '--strict').stderr, '', 'said of an efficiency core')
        smt.cycle('-c', '2,9', changes=online('3', 0))
    # No smt/control: thread by thread.
    with Smt('old-kernel') as smt:
        smt.cycle(changes=online('4,7', 0))
        smt.cycle('-c', '7', changes=online('3', 0))


def test_control_words():
    for text in ('forceoff', 'notimplemented', 'notsupported', '1', '2', None):
        with Smt() as smt:
            if text is None:
                smt.box.remove(f'{CPUS}/smt/control')
            else:
                smt.box.write(f'{CPUS}/smt/control', f'{text}\n')
            if text == 'forceoff':
                for path, content in online('8-15', 0).items():
                    smt.box.write(path, f'{content}\n')
                equal(smt.states(), {('SMT', None): 'already'}, text)
                continue
            changes = online('8-15', 0)
            if text == '2':
                changes[f'{CPUS}/smt/control'] = 'off'
            smt.cycle(changes=changes)
    # All siblings were taken offline by hand: nothing to do, and restore leaves them offline.
    with Smt() as smt:
        for path, content in online('8-15', 0).items():
            smt.box.write(path, f'{content}\n')
        equal(smt.states(), {('SMT', None): 'already'}, 'by hand')
        equal(smt.left_over(), [], 'journal of nothing')


# --- With a kernel ---

def test_effects():
    """The kernel of the test does what kernel/cpu.c and its neighbours do."""
    for release in (OLD, NEW):
        with Linux(release) as linux:
            def effect():
                equal(linux.online(), '0-7', 'online')
                equal(linux.read(f'{CPUS}/smt/active'), '0', 'smt/active')
                equal([linux.affinity(irq) for irq in (11, 12, 14, 15)],
                      ['3,11', '0-7,12-15', '3', '0-7,9-15'], 'lists')
                check(not (linux.box.root / CPUS / 'cpu9/topology').exists(), 'topology of CPU 9')
                equal(linux.write(f'/{CPUS}/cpu9/online', '1'), 1, 'EPERM for a thread')
            linux.life(effect=effect)
            linux.life('--all')

            def one_thread():
                equal(linux.online(), '0-10,12-15', 'online')
                equal(linux.affinity(12), '0-10,12-15', 'CPUs of 12')
                equal(linux.read(f'{CPUS}/smt/control'), 'on', 'control')
            linux.life('-c', '3', effect=one_thread)
            linux.life('-c', '1,3')


def test_forgotten():
    """A governor without policies forgets what it was told, network cards choose the CPUs of their queues anew,
    a frequency policy forgets that it has no boost, and haltpoll which idle states are disabled."""
    policy, queues = f'{CPUS}/cpufreq/policy', 'sys/class/net/eth0/queues'
    for arguments in [], ['-c', '3'], ['-c', '1,3']:
        with Linux(NEW, virtio=True, mirrors=True) as linux:
            linux.box.write(f'{CPUS}/cpufreq/boost', '1\n')
            for cpu in range(16):
                linux.box.write(f'{policy}{cpu}/boost', f'{int(cpu not in (9, 11))}\n')
            linux.box.write(f'{CPUS}/cpuidle/current_driver', 'haltpoll\n')
            for cpu in range(8, 16):
                for state in range(2):
                    linux.box.write(f'{CPUS}/cpu{cpu}/cpuidle/state{state}/disable', f'{state}\n')
            linux.box.write(f'{policy}11/scaling_governor', 'userspace\n')
            linux.box.write(f'{policy}11/scaling_setspeed', '2200000\n')
            for cpu in range(8, 16):
                if cpu != 11:
                    linux.box.write(f'{policy}{cpu}/scaling_governor', 'ondemand\n')
            linux.box.write(f'{CPUS}/cpufreq/ondemand/up_threshold', '41\n')
            linux.box.write(f'{policy}9/powersave/level', '7\n')
            linux.box.write(f'{policy}9/scaling_governor', 'powersave\n')
            for queue in range(4):
                linux.box.write(f'{queues}/tx-{queue}/xps_cpus', f'{0xf << queue * 4:04x}\n')
            before = linux.snapshot()
            linux.life(*arguments)
            linux.succeed('-c', '3')
            linux.succeed('-c', '1')
            linux.succeed('restore')
            linux.same(before, 'restore after two calls left')


def test_handed_down():
    """A thread that was started meanwhile, as each of these calls is, may lack the CPUs: while they come back all are in
    cpusets of their own, where the kernel gives them back. Not where that could take something from somebody."""
    control = 'sys/fs/cgroup/cgroup.subtree_control'
    for arguments, came in (['-c', '3'], [11]), ([], [*range(8, 16)]):
        for changes in {}, {'isolated': '7'}, {'offline': [5]}, {'denied': True}, {'kill': 11}:
            with Linux(NEW, offline=changes.get('offline', [])) as linux:
                updated = linux.run_directory / 'updated'
                linux.box.write(control, 'cpu memory pids\n')
                linux.box.write(f'{CPUS}/isolated', changes.get('isolated', '') + '\n')
                before = linux.snapshot()
                linux.succeed(*arguments)
                kernel = {name: changes[name] for name in ('denied', 'kill') if name in changes}
                result = linux.run('restore', kernel=kernel)
                equal(result.returncode, 137 if 'kill' in changes else 0, f'restore, {changes}: {result.stderr}')
                equal((result.stdout, result.stderr), ('', ''), 'said')
                if 'kill' in changes:
                    check('cpuset' in linux.read(control), 'not handed down')
                    linux.succeed('restore')
                came_there = sorted(map(int, updated.read_text().split())) if updated.exists() else []
                equal(came_there, came if set(changes) <= {'kill'} else [], f'CPUs that came to cpusets, {changes}')
                linux.same(before, f'restore left, {changes}')
                equal(linux.left_over(), [], 'in /run/quiesce')


def test_offline_by_hand():
    """CPUs that were offline before stay so. One of each core stays online, also of a core whose
    first thread is offline, of which `off` would leave none."""
    for release in (OLD, NEW):
        with Linux(release, offline=[5, 13, 6, 15]) as linux:
            def effect():
                equal((linux.online(), linux.read(f'{CPUS}/smt/control')), ('0-4,7,14', 'on'), 'online')
            linux.life(effect=effect)
            linux.life('--all', effect=effect)
            linux.life('-c', '3')
        # The first thread was taken offline by smt-off.
        with Linux(release) as linux:
            before = linux.snapshot()
            linux.succeed('-c', '10')
            linux.succeed('--all')
            equal(linux.online(), '0-1,3-7,10', 'online')
            linux.succeed('restore')
            linux.same(before, 'restore left')


def test_busy():
    """A thread cannot be taken offline: all others come back at once, and nothing is left in
    /run/quiesce."""
    for release in (OLD, NEW):
        for arguments, offline in (((), []), ((), [5]), (('-c', '1-4'), [5])):
            with Linux(release, offline=offline, busy=[12]) as linux:
                said = linux.fail(3, *arguments)
                check('busy' in said.lower(), said)
                equal(linux.left_over(), [], 'in /run/quiesce')
    # Somebody else's `off` failed: 6.12 says "1" from then on.
    with Linux(NEW, busy=[12]) as linux:
        equal(linux.write(f'/{CPUS}/smt/control', 'off'), 16, 'EBUSY')
        equal(linux.read(f'{CPUS}/smt/control'), '1', 'control')
        linux.config['busy'] = []
        linux.life(effect=lambda: equal(linux.online(), '0-7', 'online'))


def test_killed():
    """smt-off is killed at each CPU, on the way there or back: restore puts everything back."""
    for release in (OLD, NEW):
        for arguments, offline in (((), []), ((), [5, 13]), (('-c', '1,2,4'), [5, 13])):
            for cpu in (9, 10, 12):
                with Linux(release, offline=offline) as linux:
                    before = linux.snapshot()
                    equal(linux.run(*arguments, kernel={'kill': cpu}).returncode, 137, 'apply')
                    linux.succeed('restore')
                    linux.same(before, f'{arguments} killed at {cpu}: restore left')
                    linux.succeed(*arguments)
                    equal(linux.run('restore', kernel={'kill': cpu}).returncode, 137, 'restore')
                    linux.succeed('restore')
                    linux.same(before, f'restore of {arguments} killed at {cpu}: left')
                    equal(linux.left_over(), [], 'in /run/quiesce')


def test_unmovable():
    for release in (OLD, NEW):
        # Managed ones keep their mask and need no write. The kernel shows 6.12's by their mode.
        with Linux(release, managed=[12, 13]) as linux:
            if release == NEW:
                for irq in (12, 13):
                    (linux.box.root / f'proc/irq/{irq}/smp_affinity_list').chmod(0o444)
            linux.life()
        # Moved by hotplug, and refused to everybody else: said, and no failure.
        with Linux(release, pinned=[12]) as linux:
            before = linux.snapshot()
            linux.succeed('-c', '3')
            result = linux.run('restore')
            equal(result.returncode, 0, f'status: {result.stderr}')
            check('interrupt 12' in result.stderr and result.stderr.count('\n') == 1, result.stderr)
            equal(linux.difference(before, linux.snapshot()).count('\n'), 0, 'differences')
            # The kernel may accept the write later. With --once the refusal is said only once.
            equal(linux.left_over(), ['smt-off.journal'], 'in /run/quiesce')
            result = linux.run('restore', '--once')
            equal((result.returncode, result.stderr), (0, ''), 'said once more')
            # From the next apply on, this mask counts as the original.
            linux.succeed('-c', '3')
            linux.succeed('restore')
            equal(linux.left_over(), [], 'in /run/quiesce')
        # The same when a failed apply is rolled back.
        with Linux(release, pinned=[13], busy=[12]) as linux:
            equal(linux.run().returncode, 1, 'status')
            equal(linux.left_over(), ['smt-off.journal'], 'in /run/quiesce after a roll-back')


def test_others_move_interrupts():
    """irqbalance goes on meanwhile: masks that smt-off did not change are neither put back nor
    reported."""
    with Linux(NEW) as linux:
        linux.succeed('-c', '3')
        linux.box.write('proc/irq/14/smp_affinity_list', '4\n')
        result = linux.run('restore')
        equal((result.returncode, result.stderr), (0, ''), 'restore')
        equal(linux.affinity(14), '4', 'CPUs of 14')
        equal(linux.affinity(12), listed(11), 'CPUs of 12')
        equal(linux.left_over(), [], 'in /run/quiesce')
    # A mask that smt-off changed and then somebody else stays, and is named; --force puts it back.
    with Linux(NEW) as linux:
        linux.succeed('-c', '3')
        linux.box.write('proc/irq/12/smp_affinity_list', '4\n')
        result = linux.run('restore')
        equal(result.returncode, 0, 'restore')
        check('interrupt 12' in result.stderr and 'somebody else' in result.stderr, result.stderr)
        equal((linux.affinity(12), linux.online()), ('4', '0-15'), 'CPUs of 12, online')
        linux.succeed('restore', '--force')
        equal((linux.affinity(12), linux.left_over()), (listed(11), []), 'by force')
    # irqbalance moves it because that is what it does: then nobody has chosen.
    with Linux(NEW) as linux:
        linux.succeed('-c', '3')
        linux.box.write('proc/irq/12/smp_affinity_list', '4\n')
        linux.box.write('proc/irq/14/smp_affinity_list', '4\n')
        result = linux.run('restore', before=machine.beside_irqbalance(linux))
        equal((result.returncode, result.stderr), (0, ''), 'restore beside irqbalance')
        equal((linux.affinity(12), linux.affinity(14)), (listed(11), '4'), 'CPUs of 12 and 14')
        equal(linux.left_over(), [], 'in /run/quiesce')


class Steered(Linux):
    """The machine of Linux, where CPU 3 is to be quiet, which shares a core with CPU 11."""

    def __init__(self, **config):
        super().__init__(NEW, **config)
        self.box.write('proc/irq/12/smp_affinity_list', '11\n')
        self.box.write('proc/irq/14/smp_affinity_list', '3,7,11\n')

    def steer(self, *arguments):
        smt_off, self.tool = self.tool, os.environ['IRQ_STEER']
        self.succeed(*arguments)
        self.tool = smt_off

    def may_come(self):
        """The interrupts that may come to CPU 3."""
        return [number for number in self.IRQS if 3 in parse_list(self.affinity(number))]


def test_steered_interrupts():
    """Interrupts that irq-steer keeps away from CPUs stay away where CPUs that go offline have the kernel or a
    driver send them there, and all come back in either order."""
    for spread in [], [10, 11, 13, 14, 15, 16]:
        for order in ('smt', 'steer'), ('steer', 'smt'):
            with Steered(spread=spread) as linux:
                before = linux.snapshot()
                linux.steer('-c', '3')
                equal(linux.may_come(), [], 'before')
                steered = linux.affinity(14)
                equal(steered, '7,11', 'CPUs of 14')
                linux.succeed('-c', '3')
                equal(linux.may_come(), [], f'without CPU 11, {spread}')
                equal(linux.affinity(14), '7' if spread else '7,11', 'CPUs of 14 without CPU 11')
                equal(linux.affinity(12), '0-2,4-10,12-15', 'CPUs of 12, which had none but CPU 11')
                applied = linux.snapshot()
                linux.succeed('-c', '3')
                linux.same(applied, 'the second apply changed')
                for which in order:
                    (linux.steer if which == 'steer' else linux.succeed)('restore')
                linux.same(before, f'restore of {order}, {spread} left')
                equal(linux.left_over(), [], 'in /run/quiesce')
    # What somebody else has moved since is not steered again.
    with Steered() as linux:
        linux.steer('-c', '3')
        linux.succeed('-c', '3')
        linux.box.write('proc/irq/14/smp_affinity_list', '3\n')
        linux.succeed('-c', '3')
        equal(linux.affinity(14), '3', 'CPUs of 14')


def test_steered_meanwhile():
    """irq-steer comes after smt-off, whose restore brings CPUs online: what a driver then makes of its interrupts is
    nobody's choice."""
    for spread in [], [10, 11, 13, 14, 15, 16]:
        for order in ('smt', 'steer'), ('steer', 'smt'):
            with Steered(spread=spread) as linux:
                before = linux.snapshot()
                linux.succeed('-c', '3')
                linux.steer('-c', '3')
                for which in order:
                    (linux.steer if which == 'steer' else linux.succeed)('restore')
                linux.same(before, f'restore of {order}, {spread} left')
                equal(linux.left_over(), [], 'in /run/quiesce')


def test_interrupt_that_comes_meanwhile():
    """A driver asks for an interrupt while threads are offline: Linux takes these threads out of
    its mask."""
    with Linux(NEW) as linux:
        linux.box.write('proc/irq/14/smp_affinity_list', listed(*range(16)) + '\n')
        before = linux.snapshot()
        linux.succeed('-c', '3')
        equal(linux.affinity(14), listed(*range(16)), 'CPUs of 14')
        online = set(range(16)) - {11}
        linux.box.write('proc/irq/14/smp_affinity_list', listed(*online) + '\n')
        result = linux.run('restore')
        equal((result.returncode, result.stderr), (0, ''), 'restore')
        linux.same(before, 'restore left')


def test_interrupt_of_a_new_device():
    """It gets no CPU that is offline then, and all that it would have had when they are back."""
    with Linux(NEW) as linux:
        linux.succeed('-c', '3')
        linux.box.write('proc/irq/90/smp_affinity_list', '0-10,12-15\n')
        linux.box.write('proc/irq/91/smp_affinity_list', '0-10\n')
        equal(linux.run('restore').stderr, '', 'restore')
        equal((linux.affinity(90), linux.affinity(91)), ('0-15', '0-10'), 'CPUs of new interrupts')


def test_foreign_online():
    """Somebody has brought our thread back and taken another one offline."""
    with Linux(NEW) as linux:
        linux.succeed('-c', '3')
        linux.write(f'/{CPUS}/cpu11/online', '1')
        linux.write(f'/{CPUS}/cpu4/online', '0')
        linux.succeed('restore')
        equal(linux.online(), '0-3,5-15', 'online')
        equal(linux.affinity(12), listed(11), 'CPUs of 12')
        equal(linux.left_over(), [], 'in /run/quiesce')


def test_offline_meanwhile():
    """CPUs that somebody else takes offline stay offline. What needs them is put back when they are
    online."""
    for release in (OLD, NEW):
        with Linux(release) as linux:
            before = linux.snapshot()
            linux.succeed('-c', '3')
            linux.write(f'/{CPUS}/cpu12/online', '0')
            equal(linux.affinity(16), '0-10,13-15', 'CPUs of 16, all of whose CPUs are offline')
            status = ' '.join(linux.succeed('status', '-c', '3', '-v').split())
            check('somebody else' not in status, f'status of what hotplug has changed:\n{status}')
            said = linux.run('restore')
            equal((said.returncode, said.stderr),
                  (0, 'smt-off: CPUs of interrupt 16 (/proc/irq/16/smp_affinity_list): not as before, '
                      'because CPU 12 is offline; `smt-off restore` puts back the rest when it is online '
                      'again\n'), 'restore')
            equal((linux.online(), linux.affinity(12)), ('0-11,13-15', listed(11)), 'what is back')
            check('because a CPU of it was offline' in ' '.join(linux.succeed('status', '-v').split()), 'status')
            said = linux.run('restore', '--once')
            equal((said.returncode, said.stderr), (0, ''), 'said once more')
            linux.write(f'/{CPUS}/cpu12/online', '1')
            said = linux.run('restore')
            equal((said.returncode, said.stderr), (0, ''), 'restore with all CPUs')
            linux.same(before, 'restore left')
            equal(linux.left_over(), [], 'in /run/quiesce')


def test_offline_for_a_while():
    """A CPU goes offline for a moment, which moves an interrupt: that is nobody's wish, and the
    mask is put back."""
    for release in (OLD, NEW):
        with Linux(release) as linux:
            def effect():
                linux.write(f'/{CPUS}/cpu12/online', '0')
                linux.write(f'/{CPUS}/cpu12/online', '1')
                equal(linux.affinity(16), '0-10,13-15', 'CPUs of 16')
            before = linux.snapshot()
            linux.succeed('-c', '3')
            effect()
            equal(linux.run('restore').stderr, '', 'said')
            linux.same(before, 'restore left')


def test_offline_stays():
    """A CPU that somebody took offline stays offline, also where smt/control brings it back with
    all others."""
    for release in (OLD, NEW):
        with Linux(release) as linux:
            linux.succeed('--all')
            linux.write(f'/{CPUS}/cpu5/online', '0')
            said = linux.run('restore')
            equal((said.returncode, said.stderr), (0, ''), 'restore')
            equal(linux.online(), '0-4,6-15', 'online')
            equal(linux.left_over(), [], 'in /run/quiesce')
        # It is not one that smt-off took, whatever else is applied later.
        with Linux(release) as linux:
            linux.succeed('--all')
            linux.write(f'/{CPUS}/cpu5/online', '0')
            check('CPU 5 is offline' in linux.fail(2, '-c', '5'), 'what is said of CPU 5')
            linux.write(f'/{CPUS}/smt/control', 'on')
            linux.write(f'/{CPUS}/cpu5/online', '0')
            linux.succeed('-c', '3')
            equal(linux.online(), '0-4,6-10,12-15', 'online')
            said = linux.run('restore')
            equal((said.returncode, said.stderr), (0, ''), 'restore')
            equal(linux.online(), '0-4,6-15', 'online')
            equal(linux.left_over(), [], 'in /run/quiesce')


def test_offline_stays_at_last():
    """A CPU that somebody took offline, and that cannot go again after smt/control has brought it back: that
    is said, and the next restore takes it offline."""
    for release in (OLD, NEW):
        with Linux(release) as linux:
            linux.succeed('--all')
            linux.write(f'/{CPUS}/cpu5/online', '0')
            linux.config['busy'] = [5]
            for _ in range(2):
                said = linux.run('restore')
                equal((said.returncode, said.stderr),
                      (1, f'smt-off: online (/{CPUS}/cpu5/online) could not be put back to 0: '
                          'Device or resource busy\n'), 'restore')
                equal(linux.online(), '0-15', 'online')
            linux.config['busy'] = []
            said = linux.run('restore')
            equal((said.returncode, said.stderr), (0, ''), 'restore')
            equal(linux.online(), '0-4,6-15', 'online')
            equal(linux.left_over(), [], 'in /run/quiesce')


def test_cpusets():
    """cgroup v1: the kernel takes CPUs out of cpusets and does not put them back."""
    for release in (OLD, NEW):
        with Linux(release) as linux:
            for folder, cpus in (('', '0-15'), ('/bench', '3,11'), ('/bench/inner', '11'),
                                 ('/a b', '8-15'), ('/empty', '')):
                linux.box.write(f'sys/fs/cgroup/cpuset{folder}/cpuset.cpus', f'{cpus}\n')
            linux.mountinfo.write_text(
                '21 1 0:20 / /sys rw - sysfs sysfs rw\n'
                '30 21 0:27 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n'
                '31 21 0:28 / /sys/fs/cgroup/cpuset rw shared:10 - cgroup cgroup rw,cpuset\n'
                '32 21 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,cpuset\n')

            def effect():
                equal(linux.read('sys/fs/cgroup/cpuset/bench/cpuset.cpus'), '3', 'cpus of bench')
                equal(linux.read('sys/fs/cgroup/cpuset/a b/cpuset.cpus'), '', 'cpus of a b')
            linux.life(effect=effect)
            linux.life('-c', '3')


def test_resctrl():
    """Groups of resctrl lose the CPU as well, and the one at the root has it when it is back."""
    resctrl = 'sys/fs/resctrl'
    groups = {'': '0,2,4-8,10,12-15', '/mon_groups/some': '8', '/bench': '1,3,9,11',
              '/bench/mon_groups/a': '11', '/bench/mon_groups/b': '3,9'}
    for arguments in [], ['-c', '3']:
        with Linux(NEW) as linux:
            for folder, cpus in groups.items():
                linux.box.write(f'{resctrl}{folder}/cpus_list', f'{cpus}\n')

            def effect():
                equal(linux.read(f'{resctrl}/bench/mon_groups/a/cpus_list'), '', 'CPUs of a')
            linux.life(*arguments, effect=effect)
    # One that somebody else takes offline meanwhile is lacking, and is given back when it is there.
    with Linux(NEW) as linux:
        for folder, cpus in groups.items():
            linux.box.write(f'{resctrl}{folder}/cpus_list', f'{cpus}\n')
        before = linux.snapshot()
        linux.succeed('-c', '3')
        linux.write(f'/{CPUS}/cpu9/online', '0')
        said = linux.run('restore').stderr
        check('CPU 9' in said and 'somebody else' not in said, f'restore without CPU 9: {said}')
        equal(linux.read(f'{resctrl}/bench/cpus_list'), '1,3,11', 'CPUs of the group without CPU 9')
        linux.write(f'/{CPUS}/cpu9/online', '1')
        equal(linux.run('restore').stderr, '', 'the second restore')
        linux.same(before, 'restore left')


# --- Threads ---

class Threads(Linux):
    """A core with two threads, which the machine that the test runs on has as well."""

    def __init__(self, threads):
        machine.two_cpus()
        Smt.__init__(self, 'vm-plain')
        self.config = {**machine.make_core(self.box), 'threads': threads}
        self.mountinfo = self.box.root / 'mountinfo'
        self.mountinfo.write_text('21 1 0:20 / /sys rw - sysfs sysfs rw\n')

    def shell(self, script):
        """Runs lines of a shell in which `smt` is the tool, all on one machine. Returns what they
        print."""
        words = f"LD_PRELOAD={os.environ['KERNEL']} {machine.asan_options()}"
        result = self.box.run(
            *simulator('hotplug.py'), 'run', 'sh', '-c',
            f'smt() {{ env {words} {self.tool} "$@"; }}\n{machine.THREE_THREADS}\nshow\n{script}',
            env=self.environment(), root=True, alone=True)
        equal(result.returncode, 0, f'status of the shell: {result.stderr}')
        return result.stdout.split('\n')


def test_affinities():
    """Affinities are put back, whatever the kernel did to them."""
    for kind, meanwhile in (('root', '0 0 0 '), ('cpuset', '0 0 0 '), ('late', '0 0 0 ')):
        with Threads(kind) as smt:
            before = smt.snapshot()
            out = smt.shell('''
                smt > /dev/null || exit 1
                show
                smt > /dev/null || exit 1
                smt restore || exit 1
                show
                kill $a $b $c
            ''')
            equal(out[:3], ['0 1 0,1 ', meanwhile, '0 1 0,1 '], f'affinities ({kind})')
            smt.same(before, 'restore left')
            equal(smt.left_over(), [], 'restore left in /run/quiesce')


def test_affinity_of_somebody_else():
    """A thread that somebody gave another affinity meanwhile keeps it, and smt-off says so."""
    with Threads('cpuset') as smt:
        out = smt.shell('''
            smt > /dev/null || exit 1
            taskset -pc 0,1 $b > /dev/null
            smt restore 2>&1 | sed "s/$b/B/g"
            show
            smt restore --force || exit 1
            show
            kill $a $b $c
        ''')
        check('affinity of sleep (B)' in out[1] and 'stays at 0-1: somebody else' in out[1], out[1])
        equal(out[2:4], ['0 0,1 0,1 ', '0 1 0,1 '], 'affinities')
        equal(smt.left_over(), [], 'in /run/quiesce')


def test_threads_that_end():
    """Threads that have ended are not reported, and nothing is kept of them."""
    with Threads('root') as smt:
        out = smt.shell('''
            smt > /dev/null || exit 1
            kill $b; wait $b
            smt status --json | grep -c sleep
            smt restore 2>&1
            kill $a $c
        ''')
        equal(out[1:], ['0', ''], 'rows of single threads, and what restore says')
        equal(smt.left_over(), [], 'in /run/quiesce')


def test_many_threads():
    """All threads together are one row, except with --verbose."""
    with Threads('root') as smt:
        out = '\n'.join(smt.shell('''
            smt --dry-run | grep threads
            smt --json | grep -c 'affinities of threads'
            smt status -v | grep -c '^affinity of sleep'
            smt restore || exit 1
            kill $a $b $c
        '''))
        # The shell, its parent, the three and sed.
        rows = re.findall(r'^affinities of threads \((\d+)\) +- +kept for restore$', out, re.M)
        check(len(rows) == 1 and int(rows[0]) >= 5, out)
        check('\n1\n3\n' in out, out)


class Shielded(Threads):
    """CPU 1, which is to be quiet, shares a core with CPU 2, which is not real: so threads may still run
    elsewhere when CPU 2 is gone. Without CPU 2 only those threads follow a cpuset that are shown
    to be in one: the third of THREE_THREADS, and the thread that is born."""

    def __init__(self):
        super().__init__('cpuset')
        self.config.update(cores=[[0], [1, 2]], width=3, born=True)
        for name in ('online', 'possible', 'present'):
            self.box.write(f'{CPUS}/{name}', '0-2\n')
        self.box.write(f'{CPUS}/cpu2/online', '1\n')
        for cpu, siblings in ((0, '0'), (1, '1-2'), (2, '1-2')):
            mask = f'{sum(1 << sibling for sibling in parse_list(siblings)):x}'
            for name in ('thread_siblings', 'core_cpus'):
                self.box.write(f'{CPUS}/cpu{cpu}/topology/{name}', mask + '\n')
                self.box.write(f'{CPUS}/cpu{cpu}/topology/{name}_list', siblings + '\n')
        self.box.write('sys/fs/cgroup/cpuset/pod/cpuset.cpus', '0-1\n')

    def shell(self, script):
        return super().shell(f'''
            join() {{ echo 3:cpuset:/pod > /run/cgroup && mount --bind /run/cgroup /proc/$1/cgroup; }}
            join $c || exit 1
            shield() {{ env {machine.asan_options()} {os.environ["CPU_SHIELD"]} "$@"; }}
            born() {{ taskset -pc $(cat /run/born) | sed 's/.*: //'; }}
            {script}''')


def test_shield_by_affinities():
    """Threads that the kernel sends to a CPU that is kept clear leave it again, and all come back."""
    with Shielded() as smt:
        out = smt.shell('''
            shield -c 1 > /dev/null || exit 1
            show
            smt -c 1 > /dev/null || exit 1
            show; born
            join $(cat /run/born) || exit 1
            smt -c 1 > /dev/null || exit 1
            show; born
            smt restore || exit 1
            show
            shield restore || exit 1
            show; born
            kill $a $b $c $(cat /run/born)
        ''')
        equal(out[:3], ['0 1 0,1 ', '0 0 0 ', '0 0 0 '], 'affinities with CPU 2, and without it')
        equal(out[3:6], ['0', '0 0 0 ', '0'], 'what was born meanwhile, and a second time')
        equal(out[6:], ['0 0 0 ', '0 1 0,1 ', '0,1', ''], 'put back')
        equal(smt.left_over(), [], 'restore left in /run/quiesce')


def test_shield_leaves_choices_alone():
    """A thread that has chosen others than the quiet CPUs since smt-off wrote down what it had keeps them."""
    with Shielded() as smt:
        smt.config.update(threads=None, chooses=[0, 1])
        out = smt.shell('''
            echo $a > /run/chooser
            shield -c 2 > /dev/null || exit 1
            show
            smt -c 2 > /dev/null || exit 1
            show
            kill $a $b $c $(cat /run/born)
        ''')
        equal(out[1:3], ['0 1 0,1 ', '0,1 1 0,1 '], 'affinities before, and when the first has chosen')


def test_choice_while_cpus_go():
    """A thread that chooses other CPUs while smt-off is at work keeps them, in a cpuset that it has followed, or
    bound before; also where the kernel forgets what threads have chosen, of those whose cpusets are known."""
    for who, release, join in (('c', '6.12.48', ''), ('a', '6.12.48', ''), ('c', '6.1.0', ''),
                               ('a', '6.1.0', 'join $a || exit 1')):
        with Shielded() as smt:
            smt.box.write('proc/sys/kernel/osrelease', f'{release}\n')
            smt.config.update(threads=None, chooses=[0] if who == 'c' else [1], born=False)
            out = smt.shell(f'''
                {join}
                echo ${who} > /run/chooser
                smt -c 1 > /dev/null || exit 1
                show
                smt restore || exit 1
                show
                kill $a $b $c
            ''')
            chosen = '0 1 0 ' if who == 'c' else '1 1 0,1 '
            equal(out[:3], ['0 1 0,1 ', chosen, chosen], f'affinities on {release}')
            equal(smt.left_over(), [], 'left in /run/quiesce')


# --- Hardware that goes ---

def test_unplugged():
    """Hardware that was to be put back is gone: one line says so, and nothing is kept of it."""
    with Linux(NEW) as linux:
        for folder, cpus in (('', '0-15'), ('/bench', '3,11')):
            linux.box.write(f'sys/fs/cgroup/cpuset{folder}/cpuset.cpus', f'{cpus}\n')
        linux.mountinfo.write_text(
            '31 21 0:28 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n')
        linux.succeed('-c', '3')
        shutil.rmtree(linux.box.root / f'{CPUS}/cpu11')
        shutil.rmtree(linux.box.root / 'proc/irq/14')
        linux.box.write(f'{CPUS}/present', '0-10,12-15\n')
        linux.config['cores'] = [core for core in AMD_CORES if 11 not in core] + [[3]]
        result = linux.run('restore')
        equal((result.returncode, result.stderr.count('\n')), (0, 1), f'said: {result.stderr}')
        # The CPU, interrupt 14, and the mask of interrupt 12, which had no other CPU.
        check(result.stderr.startswith('smt-off: ') and ' and 2 more: gone' in result.stderr,
              result.stderr)
        equal((linux.read('sys/fs/cgroup/cpuset/bench/cpuset.cpus'), linux.affinity(12)),
              ('3', '0-10,12-15'), 'what is left of cpusets and interrupts')
        equal(linux.left_over(), [], 'in /run/quiesce')
        equal(linux.run('restore').stderr, '', 'said once more')


def test_large():
    """512 CPUs, 4096 interrupts."""
    with Smt() as smt:
        for cpu in range(16, 512):
            smt.box.write(f'{CPUS}/cpu{cpu}/online', '1\n')
        for cpu in range(512):
            smt.box.write(f'{CPUS}/cpu{cpu}/topology/thread_siblings_list',
                          f'{cpu % 256},{cpu % 256 + 256}\n')
        for name in ('online', 'present', 'possible'):
            smt.box.write(f'{CPUS}/{name}', '0-511\n')
        for number in range(4096):
            smt.box.write(f'proc/irq/{number}/smp_affinity_list', f'{number % 512}\n')
        smt.cycle(changes={f'{CPUS}/smt/control': 'off', **online('256-511', 0)})
        smt.cycle('-c', '1-255', changes=online('257-511', 0))


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
