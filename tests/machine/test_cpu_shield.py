#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cpu-shield on described machines, with what Linux does with cpusets (cgroups.py).

Every run sees processes of its own only: this tool binds threads.
"""

import errno
import json
import os
import re
import shutil

import machine
from machine import Setter, check, equal, simulator
from systemd import Systemd

TOOL = os.environ['CPU_SHIELD']
CGROUP = 'sys/fs/cgroup'
SHIELD = f'{CGROUP}/benchmark.slice'
V1 = f'{CGROUP}/cpuset'
CPUS = 'sys/devices/system/cpu'


class Shield(Setter):
    """A machine with 16 CPUs, with cgroups below a root that nobody manages."""

    def __init__(self, name='amd-smt', *, cpus='0-15', version=2, fake_threads=True, **config):
        super().__init__(TOOL, name)
        self.config = {'online': cpus, 'cgroups': ['system', 'user'] if version == 2 else {},
                       'version': version, **config}
        # All threads may run anywhere, for this machine has other CPUs than the real one.
        self.fake_threads = fake_threads
        self.cgroup = self.box.root / 'cgroup'
        self.cgroup.write_text('0::/\n' if version == 2 else '3:cpuset:/\n0::/\n')
        self.kernel('make')

    def environment(self):
        libraries = [os.environ['KERNEL']]
        if self.fake_threads:
            libraries.append(os.environ['ALLOWED'])
        online = machine.parse_list(self.config['online'])
        return [f'LD_PRELOAD={" ".join(libraries)}', f'TEST_CGROUP={self.cgroup}',
                'TEST_ALLOWED_CPUS=' + ''.join('01'[c in online] for c in range(max(online) + 1)),
                machine.asan_options()]

    def kernel(self, *arguments):
        """A call by somebody else. Returns its errno."""
        return self.run_with_cgroups(*arguments).returncode

    def run_with_cgroups(self, *arguments, **options):
        return self.box.run(*simulator('cgroups.py'), *arguments, root=True, alone=True,
                            env={'TEST_CGROUPS': json.dumps(self.config)}, **options)

    def run(self, *arguments, user=False, **options):
        if user:
            return super().run(*arguments, user=True, **options)
        result = self.run_with_cgroups('run', 'env', *self.environment(), self.tool, *arguments,
                                       **options)
        self.note_run(arguments, result)
        return result

    def shell(self, script):
        """Runs lines of a shell in which `shield` is the tool, all on one machine. Returns the
        output."""
        words = ' '.join(f"'{word}'" for word in self.environment())
        result = self.run_with_cgroups(
            'run', 'sh', '-c', f'shield() {{ env {words} {self.tool} "$@"; }}\n{script}')
        equal(result.returncode, 0, f'status of the shell: {result.stderr}')
        return result.stdout

    def read(self, path):
        return (self.box.root / path).read_text().strip()

    def rows(self, *arguments, **options):
        rows = json.loads(self.succeed(*arguments, '--json', **options))['knobs']
        return {row['knob']: row for row in rows if row['wanted'] or row['state']}

    def refused(self, status, *arguments):
        """Runs an apply that must fail and leave the machine and /run as they were. Returns what it
        says."""
        before = self.snapshot()
        result = self.run(*arguments)
        equal(result.returncode, status, f'status of {arguments}: {result.stdout}{result.stderr}')
        self.same(before, f'{arguments} left')
        equal(self.left_over(), [], f'{arguments} left in /run/quiesce')
        return result.stderr


# --- cgroup v2 ---

def test_life():
    with Shield() as shield:
        out = shield.cycle('-c', '2-3')
        check('isolated' in out['dry-run'] and 'member' in out['dry-run'], out['dry-run'])
        states = re.findall(r'(?:applied|already|unavailable|denied)', out['applied'])
        equal(states, ['applied'] * 4, out['applied'])


def test_effect():
    with Shield() as shield:
        shield.succeed('-c', '2-3')
        equal(shield.read(f'{SHIELD}/cpuset.cpus.partition'), 'isolated', 'partition')
        equal(shield.read(f'{SHIELD}/cpuset.cpus.effective'), '2-3', 'CPUs of the shield')
        for other in ('', 'system/', 'user/'):
            equal(shield.read(f'{CGROUP}/{other}cpuset.cpus.effective'), '0-1,4-15', other)
        rows = shield.rows('status', user=True)
        equal({row['state'] for row in rows.values()}, {'applied'}, 'states')
        equal(rows['cpuset.cpus']['now'], '2-3', 'status without -c')


def test_controller_was_there():
    """A controller that was enabled before stays enabled."""
    with Shield() as shield:
        shield.kernel(f'/{CGROUP}/cgroup.subtree_control', '+cpuset')
        out = shield.cycle('-c', '1,5,9-11')
        check('already' in out['apply'], out['apply'])
        equal(shield.read(f'{CGROUP}/cgroup.subtree_control'), 'cpuset memory pids', 'controllers')


def test_controller_that_others_need():
    """A controller that somebody else has come to need stays enabled, which is said and no failure."""
    with Shield() as shield:
        shield.succeed('-c', '2-3')
        (shield.box.root / CGROUP / 'system/cgroup.subtree_control').write_text('cpuset\n')
        result = shield.run('restore')
        equal((result.returncode, result.stderr),
              (0, 'cpu-shield: controller cpuset (controller:cpuset) stays at enabled: '
                  'others may need it by now\n'), 'restore')
        equal(shield.left_over(), [], 'in /run/quiesce')


def test_other_cpus():
    """Shields fewer CPUs, more CPUs, and none: the partition exists all the time in between."""
    with Shield() as shield:
        before = shield.snapshot()
        shield.succeed('-c', '2-3')
        path = shield.box.root / SHIELD / 'cpuset.cpus.partition'
        for cpus in ('3', '3,8-9', '4'):
            shield.succeed('-c', cpus)
            equal(path.read_text(), 'isolated\n', 'partition')
            equal(shield.read(f'{SHIELD}/cpuset.cpus.effective'), cpus, 'CPUs')
        shield.succeed('restore')
        shield.same(before, 'restore left')


def test_never_toggled():
    """No word is written to a partition that is as wanted, not even the same word."""
    with Shield() as shield:
        shield.succeed('-c', '2-3')
        path = shield.box.root / SHIELD / 'cpuset.cpus.partition'
        before = path.stat().st_mtime_ns
        shield.succeed('-c', '2-3')
        equal(path.stat().st_mtime_ns, before, 'time of the last write')


def test_became_invalid():
    """Another apply asks again for a partition that the kernel has made invalid."""
    with Shield() as shield:
        before = shield.snapshot()
        shield.succeed('-c', '2-3')
        shield.kernel(f'/{CGROUP}/user/cpuset.cpus', '3')
        row = shield.rows('status')['cpuset.cpus.partition']
        check('not exclusive' in row['now'] and row['state'] is None, f'{row}')
        result = shield.run('-c', '2-3')
        equal(result.returncode, 3, 'status')
        check('Cpu list in cpuset.cpus not exclusive' in result.stderr, result.stderr)
        shield.kernel(f'/{CGROUP}/user/cpuset.cpus', '')
        shield.succeed('-c', '2-3')
        equal(shield.rows('status')['cpuset.cpus.partition']['state'], 'applied', 'state')
        shield.succeed('restore')
        shield.same(before, 'restore left')
    with Shield(stays=True, hides=['cpuset.cpus.exclusive']) as shield:
        before = shield.snapshot()
        shield.succeed('-c', '2-3')
        shield.kernel(f'/{CGROUP}/user/cpuset.cpus', '3-4')
        shield.kernel(f'/{CGROUP}/user/cpuset.cpus', '')
        row = shield.rows('status')['cpuset.cpus.partition']
        check('invalid' in row['now'] and row['state'] is None, f'{row}')
        shield.succeed('-c', '2-3')
        equal(shield.rows('status')['cpuset.cpus.partition']['state'], 'applied', 'state')
        shield.succeed('restore')
        shield.same(before, 'restore left')


def test_refused_by_kernel():
    with Shield(reserved='2-3') as shield:
        said = shield.refused(3, '-c', '2-3')
        check('isolated invalid (partition config conflicts with housekeeping setup)' in said, said)
        check(said.count('\n') == 1, said)
    with Shield() as shield:
        shield.kernel(f'/{CGROUP}/cgroup.subtree_control', '+cpuset')
        shield.kernel(f'/{CGROUP}/user/cpuset.cpus', '3-4')
        # The other cgroup would have no CPU left.
        said = shield.refused(3, '-c', '2-4')
        check('isolated invalid (Cpu list in cpuset.cpus not exclusive)' in said, said)
        check(said.count('\n') == 1, said)
        shield.kernel(f'/{CGROUP}/user/cpuset.cpus.partition', 'root')
        said = shield.refused(1, '-c', '2-3')
        check('the cgroup /user has CPUs 3-4 to itself' in said and said.count('\n') == 1, said)
    # Without the file, nothing is shielded, whatever the rest says.
    with Shield(hides=['cpuset.cpus.partition']) as shield:
        said = shield.refused(3, '-c', '3')
        check('were not taken from the rest' in said, said)


def test_others_may_use_them():
    """Another cgroup has some of the shielded CPUs in its cpuset.cpus, and other CPUs."""
    def meet(**config):
        shield = Shield(**config)
        shield.kernel(f'/{CGROUP}/cgroup.subtree_control', '+cpuset')
        shield.kernel(f'/{CGROUP}/user/cpuset.cpus', '0-5')
        return shield
    with meet() as shield:
        shield.cycle('-c', '2-3')
        before = shield.snapshot()
        for cpus, left in (('2-3', '0-1,4-5'), ('3', '0-2,4-5'), ('3-4,8', '0-2,5')):
            for _ in range(2):
                shield.succeed('-c', cpus)
                equal(shield.read(f'{SHIELD}/cpuset.cpus.partition'), 'isolated', cpus)
                equal(shield.read(f'{SHIELD}/cpuset.cpus.effective'), cpus, 'CPUs of the shield')
                equal(shield.read(f'{CGROUP}/user/cpuset.cpus.effective'), left, 'CPUs of the other')
        # The kernel gave the partition up, and apply asks for it again.
        shield.box.write(f'{SHIELD}/cpuset.cpus.partition', 'isolated invalid\n')
        shield.succeed('-c', '3-4,8')
        equal(shield.read(f'{SHIELD}/cpuset.cpus.partition'), 'isolated', 'once more')
        shield.succeed('restore')
        shield.same(before, 'restore left')
    # The earlier shield stays, without the CPUs that were added.
    with meet() as shield:
        shield.kernel(f'/{SHIELD}', '', 'mkdir')
        shield.cycle('-c', '2-3')
        # A kernel that refused before refuses again.
        shield.kernel(f'/{SHIELD}/cpuset.cpus', '2-3')
        shield.kernel(f'/{SHIELD}/cpuset.cpus.partition', 'isolated')
        check('not exclusive' in shield.read(f'{SHIELD}/cpuset.cpus.partition'), 'it is a partition')
        shield.cycle('-c', '2-3')
    # Up to 6.6.
    with meet(hides=['cpuset.cpus.exclusive']) as shield:
        said = shield.refused(3, '-c', '2-3')
        check('isolated invalid (Cpu list in cpuset.cpus not exclusive)' in said, said)
    with meet(shares=True) as shield:
        shield.succeed('-c', '2-3')
        equal(shield.read(f'{SHIELD}/cpuset.cpus.partition'), 'isolated', 'partition')
        equal(shield.read(f'{SHIELD}/cpuset.cpus.exclusive'), '', 'what is not needed')


def test_wrong_cpus():
    with Shield() as shield:
        check('all CPUs' in shield.refused(2, '-c', '0-15'), 'all CPUs')
        check('CPU 16 does not exist' in shield.refused(2, '-c', '16'), 'no such CPU')
        check('-c LIST is needed' in shield.refused(2), 'no -c')
        shield.box.write(f'{CPUS}/online', '0-4,6-15\n')
        shield.box.write(f'{CPUS}/cpu5/online', '0\n')
        check('CPU 5 is offline' in shield.refused(2, '-c', '4-5'), 'offline')
        check('CPU 5 is offline' in shield.refused(2, '--dry-run', '-c', '4-5'), 'offline')
        # It may have gone offline while it was shielded.
        check('offline' not in shield.run('status', '-c', '4-5').stderr, 'status')
        check('all CPUs' in shield.refused(2, '-c', '0-4,6-15'), 'all that are online')


def by_affinities(shield, why):
    """test_affinity.py has what that does; here the threads are no real ones."""
    before = shield.snapshot()
    rows = shield.rows('-c', '3')
    equal(rows['shield by affinities']['state'], 'applied', 'word')
    check(why in rows['shield by affinities']['why'], rows['shield by affinities']['why'])
    shield.succeed('restore')
    shield.same(before, 'it changed')
    equal(shield.left_over(), [], 'left in /run/quiesce')


def test_no_partitions():
    with Shield() as shield:
        shield.box.write(f'{CGROUP}/cgroup.type', 'domain\n')
        by_affinities(shield, 'container')
    with Shield() as shield:
        shield.box.write(f'{CGROUP}/cgroup.controllers', 'cpu io memory\n')
        by_affinities(shield, 'no cpusets')
    # A container that sees a cpuset of the host.
    with Shield(version=1) as shield:
        shield.box.remove(f'{V1}/release_agent')
        by_affinities(shield, 'container')
    # The reason is that there are no cpusets, or that this is a container, as the test may be in one.
    with Shield(version=1) as shield:
        shutil.rmtree(shield.box.root / V1)
        by_affinities(shield, '')


def test_kernel_without_partitions():
    """Before 6.1 the kernel does not know the word. Whatever was made for the partition is undone, and the
    shield stays one by affinities for as long as it is up."""
    with Shield(refuses=['isolated'], stays=True, hides=['cpuset.cpus.exclusive']) as shield:
        before = shield.snapshot()
        for _ in range(2):
            by_affinities(shield, 'this kernel has no isolated partitions')
        shield.succeed('-c', '2-3', '--strict')
        shield.same(before, 'what is left of the partition that was tried')
        check('affinities (no partition)' in shield.succeed('-c', '2-3', '--brief'), 'the headline')
        for rows in shield.rows('-c', '2-3'), shield.rows('status'):
            equal(rows['shield by affinities']['state'], 'applied', 'state')
            check('cpuset.cpus.partition' not in rows, f'{list(rows)}')
        equal(shield.run('-c', '4').returncode, 1, 'other CPUs')
        shield.succeed('restore')
        shield.same(before, 'restore left')
        equal(shield.left_over(), [], 'left in /run/quiesce')


def test_hybrid():
    """cgroup v2 is mounted elsewhere, and the cpusets are those of cgroup v1."""
    with Shield(version=1) as shield:
        shield.box.write(f'{CGROUP}/unified/cgroup.controllers', '\n')
        shield.cycle('-c', '2-3')
    # Or v2 has the name, and v1 the cpusets.
    with Shield(version=1) as shield:
        shield.box.write(f'{CGROUP}/cgroup.controllers', 'cpu io memory\n')
        shield.cycle('-c', '2-3')


# --- cgroup v1 ---

def test_exclusive():
    """An exclusive cpuset for the CPUs, another one for all programs, and everything back."""
    with Shield(version=1, cgroups={'docker': '0-1,4-7'}) as shield:
        out = shield.cycle('-c', '2-3')
        check('exclusive cpuset' in out['dry-run'] and 'none' in out['dry-run'], out['dry-run'])
        shield.succeed('-c', '2-3')
        equal([shield.read(f'{V1}/benchmark.slice/cpuset.{name}') for name in ('cpus', 'mems', 'cpu_exclusive')],
              ['2-3', '0', '1'], 'the shield')
        equal([shield.read(f'{V1}/quiesce-others/cpuset.{name}') for name in ('cpus', 'mems', 'cpu_exclusive')],
              ['0-1,4-15', '0', '0'], 'the others')
        equal([shield.read(f'{V1}/{name}tasks') for name in ('', 'docker/', 'quiesce-others/')],
              ['', '', '1'], 'where the program is')
        row = shield.rows('status', user=True)['exclusive cpuset']
        equal((row['now'], row['original'], row['state']), ('2-3', 'none', 'applied'), f'{row}')
        check('an exclusive cpuset of cgroup v1' in shield.succeed('status', '--brief'), 'the headline')
        # What others make meanwhile has to stay away.
        shield.kernel(f'/{V1}/lxc', '', 'mkdir')
        equal(shield.kernel(f'/{V1}/lxc/cpuset.cpus', '0-15'), errno.EINVAL, 'all CPUs')
        equal(shield.kernel(f'/{V1}/lxc/cpuset.cpus', '4-5'), 0, 'other CPUs')
        # The CPUs cannot be had then, and those that the shield has stay.
        result = shield.run('-c', '3-4')
        check(result.returncode == 3 and 'Invalid argument' in result.stderr, result.stderr)
        equal(shield.rows('status')['exclusive cpuset']['now'], '2-3', 'status after that')
        shield.succeed('restore')
        equal(shield.read(f'{V1}/lxc/cpuset.cpus'), '4-5', 'the cpuset of somebody else')


def test_exclusive_other_cpus():
    """Other CPUs, fewer and more of them; what restore puts back is from before the first."""
    with Shield(version=1) as shield:
        before = shield.snapshot()
        for cpus, others in (('2-3', '0-1,4-15'), ('3', '0-2,4-15'), ('4-5', '0-3,6-15'), ('0,4', '1-3,5-15')):
            shield.succeed('-c', cpus)
            equal([shield.read(f'{V1}/{name}/cpuset.cpus') for name in ('benchmark.slice', 'quiesce-others')],
                  [cpus, others], 'CPUs')
            equal(shield.rows('status')['exclusive cpuset']['now'], cpus, 'status without -c')
        shield.succeed('restore')
        shield.same(before, 'restore left')


def test_exclusive_that_others_changed():
    """Hotplug takes CPUs out of cpusets of cgroup v1 for good, and anybody who is root may change them."""
    with Shield(version=1) as shield:
        before = shield.snapshot()
        shield.succeed('-c', '2-3')
        for path, text in (('benchmark.slice/cpuset.cpus', '2'), ('benchmark.slice/cpuset.cpus', ''),
                           ('benchmark.slice/cpuset.cpu_exclusive', '0'),
                           ('quiesce-others/cpuset.cpus', '0-1')):
            equal(shield.kernel(f'/{V1}/{path}', text), 0, path)
            check(shield.rows('status', '-c', '2-3')['exclusive cpuset']['state'] is None or
                  'others' in path, path)
            shield.succeed('-c', '2-3')
            equal(shield.rows('status')['exclusive cpuset']['state'], 'applied', 'once more')
        shield.kernel(f'/{V1}/benchmark.slice/cpuset.cpus', '2')
        equal(shield.run('restore').stderr, '', 'what restore says')
        shield.same(before, 'restore left')


def test_exclusive_cannot_be():
    """Others have the CPUs, or the name, or there is a program that cannot be moved: affinities."""
    with Shield(version=1, cgroups={'docker': '0-15'}) as shield:
        by_affinities(shield, 'the cpuset /docker of cgroup v1 has some of these CPUs')
    for name in ('benchmark.slice', 'quiesce-others'):
        with Shield(version=1, cgroups={name: '4'}) as shield:
            by_affinities(shield, f'somebody else has made /{V1}/{name}')
    with Shield(version=1, stuck='1') as shield:
        by_affinities(shield, 'an exclusive cpuset cannot be made here')
    with Shield(version=1) as shield:
        shield.box.write(f'{V1}/tasks', '0\n1\n')
        by_affinities(shield, 'programs that cannot be seen')


def test_exclusive_is_not_emptied():
    """A cpuset that somebody has made below ours keeps it: restore fails, says why, and can be repeated."""
    with Shield(version=1) as shield:
        before = shield.snapshot()
        shield.succeed('-c', '2-3')
        shield.kernel(f'/{V1}/quiesce-others/lxc', '', 'mkdir')
        result = shield.run('restore')
        equal(result.returncode, 1, 'status')
        check('there are cgroups of others' in result.stderr, result.stderr)
        shield.kernel(f'/{V1}/quiesce-others/lxc', '', 'rmdir')
        shield.succeed('restore')
        shield.same(before, 'restore left')
        equal(shield.left_over(), [], 'restore left in /run/quiesce')


def test_exclusive_run():
    """Everybody may take his own processes there; restore ends none of them."""
    with Shield(version=1) as shield:
        before = shield.snapshot()
        out = shield.shell(f'''
            shield -c 2-3 >/dev/null
            stat -c %a /{V1}/benchmark.slice/cgroup.procs
            shield run -- sh -c 'echo $$; exec sleep 1000' & sleep 1
            cat /{V1}/benchmark.slice/tasks
            shield restore; echo "status $?"
            kill $!
        ''').split('\n')
        equal((out[0], out[1], out[3]), ('666', out[2], 'status 0'), f'{out}')
        shield.box.write(f'{V1}/tasks', '1\n')
        shield.same(before, 'restore left')


def test_not_root():
    with Shield() as shield:
        before = shield.snapshot()
        if os.geteuid() != 0:
            raise machine.Skip('somebody else than root is wanted')
        result = shield.run('-c', '2', user=True)
        equal((result.returncode, result.stdout, result.stderr.count('\n')), (1, '', 1), 'apply')
        check('needs root' in result.stderr, result.stderr)
        shield.same(before, 'it changed')


# --- With systemd ---

class SlowSlice(Systemd):
    """systemd, of which benchmark.slice does not start in time. Later it would."""

    dropins = {'benchmark.slice': '/run/systemd/system/benchmark.slice.d/50-quiesce.conf'}

    def StartUnit(self, _unit, _mode):
        return 'timeout'


def test_slice_that_starts_late():
    """The slice may start when cpu-shield no longer waits for it. So apply fails, and has had it
    stopped."""
    with Shield() as shield, SlowSlice(shield.box) as systemd:
        systemd.units['benchmark.slice'] = {'ActiveState': 'inactive'}
        said = shield.refused(3, '-c', '2-3')
        check('cannot set benchmark.slice to active' in said, said)
        equal([call[:2] for call in systemd.calls if call[0] != 'Reload'],
              [('StartUnit', 'benchmark.slice'), ('StopUnit', 'benchmark.slice')], 'calls')
        check(not (shield.run_directory / 'systemd/system/benchmark.slice.d').exists(), 'settings are left')


def test_slice_that_may_have_programs():
    """systemd would end the programs of a slice that is stopped. So it is not stopped as long as nobody
    knows whether there are any."""
    with Shield() as shield, Systemd(shield.box) as systemd:
        systemd.units['benchmark.slice'] = {'ActiveState': 'active'}
        events = shield.box.root / SHIELD / 'cgroup.events'
        events.parent.mkdir()
        events.symlink_to('cgroup.events')
        shield.journal_path.parent.mkdir()
        shield.journal_path.write_bytes(machine.make_journal(
            ('word', 'slice:benchmark.slice', 'inactive', 'active'), tool='cpu-shield'))
        result = shield.run('restore')
        check(result.returncode == 1 and 'Too many levels' in result.stderr, result.stderr)
        equal(systemd.calls, [], 'calls')
        check(shield.journal, 'the journal is gone')


# --- run ---

def test_run():
    with Shield() as shield:
        result = shield.run('run', '--', 'true')
        equal((result.returncode, result.stdout), (1, ''), 'without a shield')
        check('no CPU is shielded' in result.stderr, result.stderr)
        shield.succeed('-c', '2-3')
        out = shield.shell('''
            echo $(shield run -- sh -c 'echo $$')
            cat /sys/fs/cgroup/benchmark.slice/cgroup.procs
            shield run -- sh -c 'exit 7'; echo "status $?"
            shield run -- sh -c 'kill -TERM $$'; echo "status $?"
            shield run -c 2 -- /nonexistent; echo "status $?"
            shield run -c 4 -- true; echo "status $?"
            shield run; echo "status $?"
        ''').split('\n')
        equal(out[0], out[1], 'process in the shield')
        equal(out[-6:-1], [f'status {n}' for n in (7, 143, 127, 2, 2)], f'{out}')


def test_program_still_runs():
    """Restore ends no program: it fails, says why, and can be repeated."""
    with Shield() as shield:
        before = shield.snapshot()
        shield.succeed('-c', '2-3')
        shield.box.write(f'{SHIELD}/cgroup.procs', '4711\n')
        shield.box.write(f'{SHIELD}/cgroup.events', 'populated 1\nfrozen 0\n')
        result = shield.run('restore')
        equal(result.returncode, 1, 'status')
        check('a program still runs in benchmark.slice' in result.stderr, result.stderr)
        check(shield.journal is not None, 'the journal went')
        shield.box.write(f'{SHIELD}/cgroup.procs', '')
        shield.box.write(f'{SHIELD}/cgroup.events', 'populated 0\nfrozen 0\n')
        shield.succeed('restore')
        shield.same(before, 'restore left')
        equal(shield.left_over(), [], 'restore left in /run/quiesce')


# --- Affinities ---

THREADS = machine.THREE_THREADS + '''
    show
'''


def test_affinities():
    """A kernel that forgets affinities: threads get back what they had chosen, and during the
    shield they keep those of their CPUs that are not shielded."""
    machine.two_cpus()
    with Shield('vm-plain', cpus='0-1', fake_threads=False, forgets=True) as shield:
        before = shield.snapshot()
        out = shield.shell(THREADS + '''
            shield -c 1 > /dev/null || exit 1
            show
            shield -c 1 > /dev/null || exit 1
            show
            shield restore || exit 1
            show
            kill $a $b $c
        ''').split('\n')
        equal(out[:4], ['0 1 0,1 ', '0 0 0 ', '0 0 0 ', '0 1 0,1 '], 'affinities')
        shield.same(before, 'restore left')
        equal(shield.left_over(), [], 'restore left in /run/quiesce')


def test_thread_ends():
    machine.two_cpus()
    with Shield('vm-plain', cpus='0-1', fake_threads=False, forgets=True) as shield:
        shield.shell(THREADS + '''
            shield -c 1 > /dev/null || exit 1
            kill $b; wait $b
            shield status > /dev/null || exit 1
            shield restore || exit 1
            kill $a $c
        ''')
        equal(shield.left_over(), [], 'restore left in /run/quiesce')


def main():
    machine.run_tests([
        ('the whole life of a shield', test_life),
        ('CPUs are taken from all others', test_effect),
        ('a controller that was enabled stays so', test_controller_was_there),
        ('a controller that others need stays', test_controller_that_others_need),
        ('other CPUs, without giving the partition up', test_other_cpus),
        ('a partition that is right is not written', test_never_toggled),
        ('a partition that became invalid', test_became_invalid),
        ('the kernel refuses, and its reason is told', test_refused_by_kernel),
        ('CPUs that others may use as well', test_others_may_use_them),
        ('CPUs that cannot be shielded', test_wrong_cpus),
        ('machines without partitions', test_no_partitions),
        ('a kernel without isolated partitions', test_kernel_without_partitions),
        ('cgroup v1: an exclusive cpuset', test_exclusive),
        ('cgroup v1: other CPUs', test_exclusive_other_cpus),
        ('cgroup v1: a cpuset that others have changed', test_exclusive_that_others_changed),
        ('cgroup v1: cpusets of others are in the way', test_exclusive_cannot_be),
        ('cgroup v1: a cpuset below ours', test_exclusive_is_not_emptied),
        ('cgroup v1: programs on the CPUs', test_exclusive_run),
        ('a hybrid of both versions', test_hybrid),
        ('an ordinary user', test_not_root),
        ('a slice that starts late', test_slice_that_starts_late),
        ('a slice that may have programs', test_slice_that_may_have_programs),
        ('a program in the shield', test_run),
        ('a program that still runs', test_program_still_runs),
        ('affinities that the kernel forgets', test_affinities),
        ('a thread that ends meanwhile', test_thread_ends),
    ])


if __name__ == '__main__':
    main()
