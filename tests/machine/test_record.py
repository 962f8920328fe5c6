#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""isol-check --record and --sysroot: what a recording holds, what it must not hold, and that it
shows the machine that it is of."""

import io
import json
import os
import pathlib
import re
import subprocess
import tarfile
import tempfile

import machine
from machine import Machine, check, equal

ISOL_CHECK = os.environ['ISOL_CHECK']
NO_ARCHIVES = 'it has no libarchive'


def isol_check(*arguments, **options):
    """The command on this machine, without the test's namespace around it."""
    return subprocess.run([ISOL_CHECK, *map(str, arguments)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=False, **options)


def needs(result):
    """Skips where this machine or this build lacks something."""
    if NO_ARCHIVES in result.stderr:
        raise machine.Skip('a build without libarchive')
    if 'namespaces' in result.stderr:
        raise machine.Skip(result.stderr.strip())
    return result


def record(box, path):
    result = needs(box.run(ISOL_CHECK, '--record', path))
    equal(result.returncode, 0, result.stderr)
    return pathlib.Path(path).read_bytes()


def contents(data):
    """{path: bytes, or a link's target}"""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {entry.name: entry.linkname if entry.issym() else
                archive.extractfile(entry).read() if entry.isfile() else None
                for entry in archive.getmembers()}


def checks(path, *arguments, **options):
    """{id: finding} of what is recorded there."""
    result = needs(isol_check('--sysroot', path, '--json', '--watch', '0', *arguments,
                              **options))
    check(result.returncode in (0, 3), f'{result.returncode}: {result.stderr}')
    return {finding['id']: finding for finding in json.loads(result.stdout)['checks']}


CGROUPS = re.compile(r'/(ovs\.slice|vswitchd\.service|dpdk|group\d+)')


def test_device_tree():
    """What the device tree says of the cores of a POWER machine is bytes, most of them 0."""
    path = 'sys/firmware/devicetree/base/cpus/PowerPC,POWER9@0/ibm,ppc-interrupt-server#s'
    cells = b''.join(thread.to_bytes(4, 'big') for thread in range(8))
    with Machine('vm-plain') as box, tempfile.TemporaryDirectory() as directory:
        box.write(path, '')
        (box.root / path).write_bytes(cells)
        equal(contents(record(box, f'{directory}/machine.tar.gz'))[path], cells, 'threads of a core')


def test_same(name):
    """A described machine and its recording are judged alike. What the description lacks, and the
    recording has of the machine that the test runs on, is unknown of the first."""
    with Machine(name) as box, tempfile.TemporaryDirectory() as directory:
        path = f'{directory}/machine.tar.gz'
        data = record(box, path)
        described, recorded = checks(box.root), checks(path)
        equal(set(described), set(recorded), 'checks')
        same = 0
        for key, finding in described.items():
            if finding['verdict'] != 'unknown':
                # A cgroup whose name is not a common one has a number in the recording.
                equal(CGROUPS.sub('/group', str(recorded[key])), CGROUPS.sub('/group', str(finding)), key)
                same += 1
        check(same > 10, f'only {same} checks were compared')
        for path, content in contents(data).items():
            check(path.startswith(('sys', 'proc')), path)
            if isinstance(content, str):
                check(not content.startswith('/'), f'{path} leads to {content}')
        return f'{same} checks alike'


def test_host():
    """This machine, and its recording unpacked by somebody else."""
    with tempfile.TemporaryDirectory() as directory:
        path = f'{directory}/host.tar.gz'
        result = needs(isol_check('--record', path))
        equal(result.returncode, 0, result.stderr)
        # Which CPU is picked depends on what runs at the moment.
        cpu = min(os.sched_getaffinity(0))
        here = isol_check('--json', '--watch', '0', '-c', cpu)
        here = {finding['id']: finding for finding in json.loads(here.stdout)['checks']}
        there = checks(path, '-c', cpu)
        same = [key for key, finding in there.items()
                if finding['verdict'] not in ('unknown', here[key]['verdict'])]
        # Figures of the moment may have changed between the two runs.
        equal([key for key in same if key not in ('cpus', 'freq-now', 'steal', 'temperature',
                                                  'throttled', 'virtualization', 'swap')],
              [], 'judged otherwise')
        with tarfile.open(path) as archive:
            archive.extractall(f'{directory}/unpacked')
        equal(checks(f'{directory}/unpacked', '-c', cpu), there, 'the same, unpacked')
        os.rename(f'{directory}/unpacked', f'{directory}/a')
        os.mkdir(f'{directory}/b')
        os.rename(f'{directory}/a', f'{directory}/b/further-down')
        equal(checks(f'{directory}/b', '-c', cpu), there, 'one directory further down')
        return f'{len(there)} checks'


def test_reproducible():
    """The same files make the same bytes; what is written of a recording is the recording."""
    with Machine('noisy-server') as box, tempfile.TemporaryDirectory() as directory:
        first = record(box, f'{directory}/1.tar.gz')
        with tarfile.open(f'{directory}/1.tar.gz') as archive:
            for entry in archive.getmembers():
                equal((entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname),
                      (0, 0, 0, '', ''), entry.name)
            names = archive.getnames()
            equal(names, sorted(names), 'order')
            archive.extractall(f'{directory}/again')
        result = subprocess.run([os.environ['SYSROOT'], f'{directory}/again', '--', ISOL_CHECK,
                                 '--record', f'{directory}/2.tar.gz'],
                                capture_output=True, text=True, check=False)
        equal(result.returncode, 0, result.stderr)
        before, after = contents(first), contents(pathlib.Path(f'{directory}/2.tar.gz').read_bytes())
        for path in box.description.files:
            # Files that the description lacks are those of this machine, and may change.
            equal(after.get(path), before.get(path), path)


# What must not leave the machine, and where it stands.
SECRETS = {
    'sys/devices/system/cpu/cpu0/topology/ppin': '0x5ec4e70001',
    'sys/class/dmi/id/product_serial': 'SERIALDMI1',
    'sys/class/dmi/id/product_uuid': '0f3a2b1c-1111-2222-3333-0123456789ab',
    'sys/class/dmi/id/chassis_asset_tag': 'ASSETTAG1',
    'sys/class/net/officenet0/address': 'b8:27:eb:01:02:03',
    'sys/class/hwmon/hwmon7/device/serial': 'DISKSERIAL1',
    'sys/class/hwmon/hwmon7/device/model': 'DISKMODEL1',
    'sys/class/block/dm-0/dm/name': 'luks-secret',
    'sys/class/power_supply/hid-b8:27:eb:0a:0b:0c-battery/serial_number': 'b8:27:eb:0a:0b:0c',
    'sys/class/power_supply/BAT0/serial_number': 'BATSERIAL1',
    'sys/fs/cgroup/user.slice/user-1000.slice/josphine.scope/cpuset.cpus': '1',
    'sys/fs/cgroup/josphine/cpuset.cpus': '1',
    'sys/kernel/irq/77/actions': 'officenet0-TxRx-0,enxb827eb0d0e0f',
    # Of another network namespace.
    'sys/kernel/irq/78/actions': 'josphine-net-TxRx-0',
    'proc/version': 'Linux version 6.1.0 (josphine@kitchen.lan) (gcc) #1 SMP',
    'proc/cmdline': 'BOOT_IMAGE=/vmlinuz root=UUID=0f3a2b1c-4444-5555-6666-0123456789ab '
                    'ip=10.11.12.13::10.11.12.1 isolcpus=1 systemd.hostname=kitchenpc '
                    'luks.name=secretdisk -- josphine',
    'proc/swaps': 'Filename\tType\tSize\tUsed\tPriority\n/dev/mapper/luks-secret\tpartition\t8\t0\t-2',
    'proc/sys/kernel/hostname': 'kitchenpc',
    'proc/sys/kernel/random/boot_id': '0f3a2b1c-7777-8888-9999-0123456789ab',
    'proc/mounts': '/dev/mapper/luks-secret / ext4',
    'proc/net/dev': 'officenet0: 1',
}
FORBIDDEN = ('5ec4e7', 'SERIAL', 'ASSETTAG', 'DISKMODEL', 'officenet0', 'b8:27', 'b827eb', 'luks',
             'secret', 'josphine', 'kitchen', '0f3a2b1c', '10.11.12', 'boot_id', 'vmlinuz')


def test_privacy():
    with Machine('amd-smt') as box, tempfile.TemporaryDirectory() as directory:
        for path, text in SECRETS.items():
            box.write(path, text + '\n')
        box.write('sys/class/hwmon/hwmon7/name', 'nvme\n')
        box.write('sys/class/power_supply/hid-b8:27:eb:0a:0b:0c-battery/type', 'Battery\n')
        box.write('sys/class/power_supply/BAT0/type', 'Battery\n')
        box.write('sys/fs/cgroup/cgroup.controllers', 'cpuset\n')
        box.write('sys/fs/cgroup/user.slice/cpuset.cpus', '\n')
        interrupts = (box.root / 'proc/interrupts').read_text(encoding='utf-8')
        name = os.uname().nodename
        box.write('proc/interrupts', interrupts +
                  '  77: ' + ' 1' * 16 + f'  PCI-MSI officenet0-TxRx-0 enxb827eb010203 {name}-x\n')
        # A raspberry's, between the lines that are kept.
        cpuinfo = (box.root / 'proc/cpuinfo').read_text(encoding='utf-8')
        box.write('proc/cpuinfo', 'Serial\t\t: 000000005ec4e7ff\n' + cpuinfo)
        # Some paths cannot be bound: /proc/net is a link into the process.
        (box.root / 'proc/net/dev').unlink()
        (box.root / 'proc/net').rmdir()
        (box.root / 'proc/mounts').unlink()
        found = contents(record(box, f'{directory}/machine.tar.gz'))
        for path, content in found.items():
            for text in (path, content if isinstance(content, str) else
                         (content or b'').decode('utf-8')):
                for word in FORBIDDEN:
                    check(word not in text, f'{word} in {path}: {text}')
        last = found['proc/interrupts'].decode('utf-8').splitlines()[-1]
        check(last.endswith('PCI-MSI net0-TxRx-0 enxnumber host-x'), last)
        equal(found['proc/cmdline'], b'isolcpus=1\n', 'cmdline')
        equal(found['proc/version'], b'Linux version 6.1.0 #1 SMP\n', 'version')
        check('sys/class/power_supply/BAT0/type' in found, 'a common name was lost')
        equal(sum(path.startswith('sys/class/power_supply/supply') for path in found), 1,
              'the mouse')
        check(not any('hwmon7' in path for path in found), 'a disk was recorded')
        check(any(path.startswith('sys/fs/cgroup/group') for path in found), 'a cgroup was lost')


def test_quota():
    """The cgroup of who records has another name in the recording, and its limits."""
    described = ({'proc/self/cgroup': '0::/user.slice/tenant-7/job', 'cgroup.controllers': 'cpu',
                  'user.slice/cpu.max': 'max 100000', 'user.slice/tenant-7/cpu.max': '20000 100000'},
                 {'proc/self/cgroup': '5:cpu,cpuacct:/tenant-7/job\n0::/tenant-7',
                  'cpu,cpuacct/cgroup.sane_behavior': '0',
                  'cpu,cpuacct/tenant-7/cpu.cfs_quota_us': '20000',
                  'cpu,cpuacct/tenant-7/cpu.cfs_period_us': '100000',
                  'cpu,cpuacct/tenant-7/job/cpu.cfs_quota_us': '-1',
                  'cpu,cpuacct/tenant-7/job/cpu.cfs_period_us': '100000'},
                 {'proc/self/cgroup': '0::/', 'cgroup.controllers': 'cpu'},
                 {'proc/self/cgroup': '0::/', 'cgroup.controllers': 'cpu', 'cgroup.type': 'domain'})
    named = (b'0::/user.slice/level1/level2\n', b'0::/\n1:cpu,cpuacct:/level0/level1\n', b'0::/\n',
             b'0::/\n')
    verdicts = ('noise', 'noise', 'ok', 'unknown')
    for files, name, verdict in zip(described, named, verdicts):
        with Machine('nohz-pstate') as box, tempfile.TemporaryDirectory() as directory:
            (box.root / 'sys/fs/cgroup').mkdir(parents=True, exist_ok=True)
            for path, text in files.items():
                box.write(path if path.startswith('proc') else f'sys/fs/cgroup/{path}', text + '\n')
            if verdict == 'noise' and 'cgroup.controllers' in files:
                (box.root / 'sys/fs/cgroup/user.slice/tenant-7/job').mkdir()
            path = f'{directory}/machine.tar.gz'
            found = contents(record(box, path))
            equal(found['proc/self/cgroup'], name, 'its name')
            check(not any('tenant' in where or b'tenant' in (text or b'') for where, text in
                          found.items() if not isinstance(text, str)), f'a private name: {found}')
            before, after = checks(box.root)['quota'], checks(path)['quota']
            equal(before['verdict'], verdict, f'{before}')
            equal((after['verdict'], after['seen']), (before['verdict'], before['seen']), 'recorded')


def test_remote_partition():
    """The parents of a remote partition are none, and have only an exclusive list."""
    with Machine('amd-smt') as box, tempfile.TemporaryDirectory() as directory:
        box.write('sys/fs/cgroup/cgroup.controllers', 'cpuset\n')
        for name, state in (('jobs', 'member'), ('jobs/one', 'isolated')):
            box.write(f'sys/fs/cgroup/{name}/cpuset.cpus', '\n')
            box.write(f'sys/fs/cgroup/{name}/cpuset.cpus.exclusive', '2\n')
            box.write(f'sys/fs/cgroup/{name}/cpuset.cpus.partition', state + '\n')
        found = contents(record(box, f'{directory}/machine.tar.gz'))
        equal([text for path, text in found.items()
               if path.startswith('sys/fs/cgroup/group') and path.endswith('.partition')],
              [b'member\n', b'isolated\n'], 'both are recorded')


def test_mode():
    """From Linux 6.12 on it tells whether an interrupt can be moved."""
    with Machine('irqs') as box, tempfile.TemporaryDirectory() as directory:
        paths = sorted((box.root / 'proc/irq').glob('*/smp_affinity_list'))
        paths[0].chmod(0o444)
        record(box, f'{directory}/machine.tar.gz')
        with tarfile.open(f'{directory}/machine.tar.gz') as archive:
            for index, path in enumerate(paths[:2]):
                entry = archive.getmember(str(path.relative_to(box.root)))
                equal(entry.mode, 0o644 if index else 0o444, entry.name)


def test_limit_of_a_zone():
    """Where hwmon does not show it: the same verdict from the recording."""
    zone = 'sys/devices/virtual/thermal/thermal_zone0/hwmon0/device'
    trips = {'trip_point_0_type': 'critical', 'trip_point_0_temp': '49000'}
    with Machine('arm-nosmt') as box, tempfile.TemporaryDirectory() as directory:
        for name, text in trips.items():
            box.write(f'{zone}/{name}', text + '\n')
        box.write(f'{zone}/policy', 'secret\n')
        found = contents(record(box, f'{directory}/machine.tar.gz'))
    kept = {path: text for path, text in found.items() if '/device/' in path and 'hwmon' in path}
    equal(kept, {f'sys/class/hwmon/hwmon0/device/{name}': f'{text}\n'.encode()
                 for name, text in trips.items()}, 'of the zone')


def test_unreadable():
    """What may not be read is not what the machine has not got."""
    denied = {'sys/kernel/mm/ksm/run': 'ksm', 'proc/sys/kernel/numa_balancing': 'numa-balancing',
              'proc/swaps': 'swap', 'sys/devices/system/cpu/isolated': 'half-cores',
              'proc/cmdline': 'isolcpus'}
    with Machine('nohz-pstate') as box, tempfile.TemporaryDirectory() as directory:
        command, user = box.prepare_user(ISOL_CHECK)
        for path in denied:
            (box.root / path).chmod(0)
        os.chmod(directory, 0o777)
        path = f'{directory}/machine.tar.gz'
        result = needs(box.run(*user, command, '--record', path))
        equal(result.returncode, 0, result.stderr)
        found = contents(pathlib.Path(path).read_bytes())
        for name in denied:
            equal(found[name], b'', name)
        rows = checks(path)
        for name, row in denied.items():
            equal(rows[row]['verdict'], 'unknown', f'{name}: {rows[row]}')
        box.remove('sys/kernel/mm/ksm/run')
        record(box, path)
        equal(checks(path)['ksm']['seen'], 'this kernel has none', 'ksm')


def test_refused():
    with tempfile.TemporaryDirectory() as directory:
        good = pathlib.Path(directory, 'sys')
        good.mkdir()
        (pathlib.Path(directory) / 'text').write_text('no archive', encoding='utf-8')
        link = tarfile.TarInfo('sys/x')
        link.type, link.linkname = tarfile.SYMTYPE, '../../etc'
        with tarfile.open(f'{directory}/link.tar.gz', 'w:gz') as archive:
            archive.addfile(link)
        for arguments, status, text in (
                (['--sysroot', f'{directory}/none'], 1, 'No such file'),
                (['--sysroot', '/dev/null'], 1, 'neither a directory nor an archive'),
                (['--sysroot', f'{directory}/text'], 1, 'no .tar.gz'),
                (['--sysroot', f'{directory}/link.tar.gz'], 1, 'a link that leads out'),
                (['--sysroot', good], 1, 'neither a sys/ nor a proc/'),
                (['--record', f'{directory}/none/x.tar.gz'], 1, 'No such file'),
                (['--record', '/dev/full'], 1, 'No space left'),
                (['--record', 'x', '-c', '1'], 2, '-c'),
                (['--record', 'x', '--sysroot', '/'], 2, '--sysroot'),
                (['--record'], 2, 'needs a value')):
            # LeakSanitizer cannot work below a /proc that is that of a recording.
            result = needs(isol_check(*arguments,
                                      env={**os.environ, 'ASAN_OPTIONS': 'detect_leaks=0'}))
            equal(result.returncode, status, f'{arguments}: {result.stderr}')
            check(text in result.stderr, f'{arguments}: {result.stderr}')
            equal(result.stderr.count('\n'), 1, f'lines of {result.stderr}')


def test_mounts():
    """Nothing is left behind, and nothing shows outside."""
    def mounts():
        return pathlib.Path('/proc/self/mountinfo').read_text(encoding='utf-8')

    with Machine('vm-plain') as box:
        before = mounts()
        checks(box.root)
        equal(mounts(), before, 'mounts')


def test_user():
    """An ordinary user needs no help."""
    if os.geteuid() != 0:
        raise machine.Skip('the other tests are this one')
    with Machine('intel-hybrid') as box, tempfile.TemporaryDirectory() as directory:
        for path in (box.root, directory):
            os.chmod(path, 0o755)
        copy = f'{directory}/isol-check'
        pathlib.Path(copy).write_bytes(pathlib.Path(ISOL_CHECK).read_bytes())
        os.chmod(copy, 0o755)
        result = needs(subprocess.run(
            ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', copy, '--sysroot',
             str(box.root), '--json', '--watch', '0'], capture_output=True, text=True,
            check=False))
        check(result.returncode in (0, 3), result.stderr)
        found = {finding['id']: finding for finding in json.loads(result.stdout)['checks']}
        equal(found, checks(box.root), "as root's")


def test_forbidden():
    """Where there may be no user namespaces, that is what is said."""
    with Machine('vm-plain') as box:
        result = subprocess.run(
            ['unshare', '--user', '--map-root-user', 'sh', '-c',
             'echo 0 > /proc/sys/user/max_user_namespaces && '
             'exec setpriv --bounding-set=-all --inh-caps=-all "$@"', 'sh', ISOL_CHECK,
             '--sysroot', str(box.root)], capture_output=True, text=True, check=False)
        if 'isol-check' not in result.stderr:
            raise machine.Skip(result.stderr.strip())
        equal(result.returncode, 1, result.stderr)
        check('max_user_namespaces is 0' in result.stderr, result.stderr)


TESTS = [
    *((f'{name}: its recording is judged as it is', lambda name=name: test_same(name))
      for name in machine.machines()),
    ('this machine and its recording', test_host),
    ('the same machine makes the same file', test_reproducible),
    ('nothing private is recorded', test_privacy),
    ('a CPU quota', test_quota),
    ('a remote partition', test_remote_partition),
    ('what cannot be written stays so', test_mode),
    ('the limit of a thermal zone', test_limit_of_a_zone),
    ('what may not be read stays so', test_unreadable),
    ('what is wrong is said in a line', test_refused),
    ('no mounts are left', test_mounts),
    ('an ordinary user', test_user),
    ('the device tree of POWER', test_device_tree),
    ('where user namespaces are forbidden', test_forbidden),
]

if __name__ == '__main__':
    machine.run_tests(TESTS)
