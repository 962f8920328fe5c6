# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots a guest of the lab in QEMU, without KVM, and reads what its tests say."""

import contextlib
import io
import json
import os
import pathlib
import queue
import re
import signal
import socket
import subprocess
import tarfile
import threading
import time

from guests import BOOTS, HERE, TOP, Broken, find_packages, need, say, tail

# Seconds without a word from the guest. It says when a test begins, and ends one that takes longer
# than its own limit (guest/lab.py), which is less than this.
SILENCE = 2000
# Where the kernel says that a task has waited for its disk for so many seconds, the guest says no word any more:
# seen once, while CPUs went on and off.
HUNG = 480
BOOT = 1800  # the first word: one to three minutes, and many more on a machine that is busy


# What a kernel or a C library takes for fast, and the emulation does a byte or a helper at a time, or ends
# a block of translated code for. A boot takes a fifth less without.
SLOW = 'erms=off,fsrm=off,smap=off,smep=off,avx=off,avx2=off,la57=off'


def machine_options(threads, cpus):
    """The options of QEMU for a machine whose CPUs have one thread ("single"), or one each ("multi")."""
    return (f'-accel tcg,thread={threads} -cpu max,vendor=GenuineIntel,{SLOW} -M q35 -m 2048 -smp {cpus} '
            '-device pc-testdev -nodefaults -display none -monitor none '
            '-netdev user,id=net,restrict=on -device virtio-net-pci,netdev=net').split()


# One thread for all CPUs: with several, a CPU of the emulator may run into code that another has just
# patched (the kernel does that for perf events), and the kernel panics.
MACHINE = machine_options('single', '4,sockets=1,cores=2,threads=2')
# tsc=reliable: under emulation the clock of newer kernels else runs wild. iomem=relaxed: the tests
# write to the memory behind the thermal zone and the AC adapter (machine.asl). mitigations=off: what
# the emulation makes of page table isolation costs more than everything else that a guest does.
COMMAND_LINE = ('console=ttyS0 root=/dev/vda rw init=/usr/sbin/lab-init quiet panic=-1 '
                'tsc=reliable iomem=relaxed mitigations=off '
                'modprobe.blacklist=kvm_amd,kvm_intel,psmouse')
# What a boot would take its time for, and no test asks for.
MASKED = ('dev-hugepages.mount dev-mqueue.mount sys-fs-fuse-connections.mount '
          'proc-sys-fs-binfmt_misc.automount systemd-binfmt.service systemd-journal-flush.service '
          'systemd-random-seed.service systemd-update-utmp.service systemd-pstore.service '
          'systemd-logind.service modprobe@drm.service modprobe@efi_pstore.service '
          'modprobe@fuse.service e2scrub_reap.service ldconfig.service '
          'systemd-journal-catalog-update.service systemd-hwdb-update.service').split()
# Nobody logs in; and a busy udev may be too late with the terminal, for which systemd then waits a
# minute and a half.
TERMINALS = ('serial-getty@ttyS0.service', 'getty@tty1.service')


def add_text(archive, name, text, mode=0o644):
    info = tarfile.TarInfo(name)
    data = text.encode()
    info.size, info.mode = len(data), mode
    archive.addfile(info, io.BytesIO(data))


def add_link(archive, name, target):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, target
    archive.addfile(info)


def as_root(info):
    info.uid = info.gid = 0
    info.uname = info.gname = 'root'
    return info


def second_disk(path, cached, installed, config, shell):
    """What is unpacked over the guest when it boots (image/lab-init)."""
    with tarfile.open(path, 'w', format=tarfile.GNU_FORMAT) as archive:
        archive.add(installed, '.', filter=as_root)
        archive.add(HERE / 'guest/lab.service', 'etc/systemd/system/lab.service', filter=as_root)
        archive.add(HERE / 'guest', 'opt/lab', filter=lambda info: (
            None if '__pycache__' in info.name else as_root(info)))
        for package in find_packages(cached.guest.suite, TOP / 'build-package'):
            archive.add(package, f'opt/lab/packages/{package.name}', filter=as_root)
        for folder in ('debian/tests', 'examples'):
            archive.add(TOP / folder, f'opt/lab/source/{folder}', filter=as_root)
        add_text(archive, 'opt/lab/boot.json', json.dumps(config))
        add_text(archive, 'etc/modules-load.d/lab.conf', 'acpi-cpufreq\n')
        if shell:
            add_text(archive, 'etc/systemd/system/serial-getty@ttyS0.service.d/lab.conf',
                     '[Service]\nExecStart=\n'
                     'ExecStart=-/sbin/agetty --autologin root --noclear --keep-baud '
                     '115200,38400,9600 %I $TERM\n')
        else:
            add_link(archive, 'etc/systemd/system/multi-user.target.wants/lab.service',
                     '../lab.service')
        for unit in (*MASKED, *(() if shell else TERMINALS)):
            add_link(archive, f'etc/systemd/system/{unit}', '/dev/null')


def command(cached, boot, folder, serial, machine=MACHINE):
    """The command line of QEMU. It dies with us, also when we are killed."""
    tables = folder / 'machine.aml'
    subprocess.run([need('iasl', 'acpica-tools'), '-p', tables, HERE / 'machine.asl'], check=True,
                   stdout=subprocess.DEVNULL)
    return [need('setpriv', 'util-linux'), '--pdeathsig', 'KILL',
            need('qemu-system-x86_64', 'qemu-system-x86'), *machine, *serial,
            '-acpitable', f'file={tables}',
            '-kernel', cached.dir / 'vmlinuz', '-initrd', cached.dir / 'initrd.img',
            '-drive', f'file={cached.dir}/root.img,if=virtio,format=raw,snapshot=on',
            '-drive', f'file={folder}/second.tar,if=virtio,format=raw,readonly=on',
            '-append', f'{COMMAND_LINE} {BOOTS[boot]}']


def read_lines(stream, lines):
    for line in stream:
        lines.put(line.decode(errors='replace').rstrip('\r\n'))
    lines.put(None)


HANGS = re.compile(r'blocked in I/O wait for more than (\d+) seconds')  # kernel/hung_task.c of 7.2
KINDS = ('up', 'begin', 'note', 'ok', 'not ok', 'skip', 'cut', 'end')


def cut_power(monitor):
    """Resets the machine as the button does: whatever its memory and its disk's cache hold is lost.
    By QMP (docs/interop/qmp-spec in QEMU)."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as control:
        control.settimeout(60)
        control.connect(str(monitor))
        with control.makefile('rw', encoding='utf-8') as stream:
            stream.readline()  # its greeting
            for name in ('qmp_capabilities', 'system_reset'):
                stream.write(json.dumps({'execute': name}) + '\n')
                stream.flush()
                while 'return' not in json.loads(stream.readline() or '{"return": {}}'):
                    pass


def wait_for_line(lines, patience, console):
    """The next line of the guest, None at its end. Raises Broken after `patience` seconds without one, and where the
    kernel says that it hangs."""
    end = time.monotonic() + patience
    while True:
        try:
            return lines.get(timeout=min(60, max(1, end - time.monotonic())))
        except queue.Empty:
            text = console.read_text(encoding='utf-8', errors='replace') if console.exists() else ''
            hung = any(int(seconds) >= HUNG for seconds in HANGS.findall(text))
            if hung or time.monotonic() > end:
                raise Broken(f'{"it hangs" if hung else f"no word for {patience} s"}, killed; its console:\n'
                             + tail(console, 30)) from None


def boot_and_test(cached, boot, folder, config):
    """Boots, and yields what the tests say, as pairs: ('up', ''), ('begin', name), ('note', text),
    ('ok', name), ('not ok', name), ('skip', 'name # reason'), ('end', ''). Raises Broken when the
    guest falls silent, or ends before its tests."""
    folder = pathlib.Path(folder)
    with cached.installed() as installed:
        second_disk(folder / 'second.tar', cached, installed, {'boot': boot, **config}, False)
    console = folder / 'console.log'
    monitor = folder / 'monitor'
    serial = ['-serial', f'file:{console}', '-chardev', 'stdio,id=words,signal=off',
              '-serial', 'chardev:words', '-qmp', f'unix:{monitor},server=on,wait=off']
    say(f'{cached.guest.name}: booting it ({boot})')
    began, before = time.monotonic(), os.times()
    with subprocess.Popen(command(cached, boot, folder, serial), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as qemu:
        lines = queue.Queue()
        reader = threading.Thread(target=read_lines, args=(qemu.stdout, lines))
        reader.start()
        said, ended, patience = [], False, BOOT
        try:
            while True:
                line = wait_for_line(lines, patience, console)
                if line is None:
                    break
                kind, separator, text = line.partition(': ')
                if not separator or kind not in KINDS:
                    said.append(line)
                    continue
                ended = ended or kind == 'end'
                patience = SILENCE
                if kind == 'cut':
                    time.sleep(float(text))
                    cut_power(monitor)
                else:
                    yield kind, text
            if not ended:
                raise Broken('it ended before its tests:\n' + '\n'.join(said[-15:]) + '\n'
                             + tail(console, 30))
        finally:
            if qemu.poll() is None:
                qemu.kill()
            qemu.wait()
            reader.join()
    after = os.times()
    cpu = sum(after[2:4]) - sum(before[2:4])  # of children that have ended
    say(f'{cached.guest.name}: done with it ({boot}) after {time.monotonic() - began:.0f} s, of which '
        f'it ran {cpu:.0f} s')


def shell(cached, boot, folder):
    """Boots with the console here: root, no password, Ctrl-A x ends."""
    folder = pathlib.Path(folder)
    with cached.installed() as installed:
        second_disk(folder / 'second.tar', cached, installed, {'boot': boot, 'run': [''], 'seed': 0}, True)
    say(f'{cached.guest.name}: booting it ({boot}); `poweroff` or Ctrl-A x ends it, and it forgets')
    ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        arguments = command(cached, boot, folder, ['-serial', 'mon:stdio'])
        return subprocess.run([str(a) for a in arguments], check=False).returncode
    finally:
        signal.signal(signal.SIGINT, ignored)
