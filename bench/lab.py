# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a benchmark of this folder in a guest of the lab (tests/vm), which has systemd and cgroup v2 or v1.

What is timed are programs of the build here, so that its C library must not be newer than the guest's.
"""

import contextlib
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

from peers import HERE, HYPERFINE, HYPERFINE_2, Missing, find_hyperfine, find_pyperf, run

sys.path.insert(0, str(HERE.parent / 'tests/vm'))

import guests  # noqa: E402
import qemu  # noqa: E402

# Unlike for tests, each CPU has a thread of its own: what happens on one must not take the time of the
# other. Why tests do without it: MACHINE in qemu.py.
MACHINE = qemu.machine_options('multi', '2,sockets=1,cores=2,threads=1')
PLACE = '/opt/bench'
SERVICE = f"""[Unit]
After=multi-user.target
[Service]
Type=idle
Environment=HOME=/root
ExecStart={PLACE}/run
ExecStopPost=systemctl poweroff --force
TasksMax=infinity
"""
# Not wanted by the target itself, which a program that quiesce starts may wait for.
TIMER = """[Timer]
OnActiveSec=5
AccuracySec=1
"""


def pyperf_folder():
    python = find_pyperf()[0]
    found = run([python, '-c', 'import pyperf; print(pyperf.__path__[0])']).stdout
    return pathlib.Path(found.strip())


def make_disk(path, installed, programs, command):
    """What is unpacked over the guest when it boots."""
    with tarfile.open(path, 'w', format=tarfile.GNU_FORMAT) as archive:
        archive.add(installed, '.', filter=qemu.as_root)
        for script in ('noise', 'peers.py'):
            archive.add(HERE / script, f'{PLACE}/bench/{script}', filter=qemu.as_root)
        for program in programs:
            archive.add(program, f'{PLACE}/build/bench/{program.name}', filter=qemu.as_root)
        qemu.add_link(archive, f'{PLACE}/build/src/runpinned', '/usr/bin/runpinned')
        archive.add(pyperf_folder(), '/usr/lib/python3/dist-packages/pyperf', filter=qemu.as_root)
        for version in HYPERFINE, HYPERFINE_2:
            with contextlib.suppress(Missing):
                archive.add(find_hyperfine(version), f'/root/.cache/quiesce/hyperfine-{version}/bin/hyperfine',
                            filter=qemu.as_root)
        qemu.add_text(archive, f'{PLACE}/run', '#!/bin/sh\nexec >/dev/ttyS1 2>&1\n'
                      f'cd {PLACE} && {command}; echo $? >/dev/ttyS3\n', 0o755)
        qemu.add_text(archive, '/etc/systemd/system/bench.service', SERVICE)
        qemu.add_text(archive, '/etc/systemd/system/bench.timer', TIMER)
        qemu.add_link(archive, '/etc/systemd/system/multi-user.target.wants/bench.timer', '../bench.timer')
        qemu.add_text(archive, '/etc/modules-load.d/lab.conf', 'acpi-cpufreq\n')
        for unit in (*qemu.MASKED, *qemu.TERMINALS):
            qemu.add_link(archive, f'/etc/systemd/system/{unit}', '/dev/null')


def noise(boot, arguments, programs, json):
    """bench/noise with these arguments in a guest that is booted so (BOOTS in guests.py). What it says comes
    here, its figures go to the file `json`. Returns its exit status."""
    cached = guests.Cached('bench')
    command = ' '.join(['python3 bench/noise --here --json /dev/ttyS2', *arguments])
    with cached.ready(), tempfile.TemporaryDirectory(prefix='noise.') as folder:
        folder = pathlib.Path(folder)
        with cached.installed() as installed:
            make_disk(folder / 'second.tar', installed, programs, command)
        serial = [word for name in ('file:' + str(folder / 'console'), 'stdio', f'file:{folder}/json',
                                    f'file:{folder}/status') for word in ('-serial', name)]
        guests.say(f'bench: booting it ({boot}); it takes two CPUs')
        subprocess.run([os.fspath(word) for word in qemu.command(cached, boot, folder, serial, MACHINE)],
                       stdin=subprocess.DEVNULL, check=False)
        status = (folder / 'status').read_text(encoding='ascii').strip()
        if not status:
            raise Missing('the guest ended before its benchmark:\n' + guests.tail(folder / 'console', 30))
        if json:
            json.write_bytes((folder / 'json').read_bytes())
        return int(status)
