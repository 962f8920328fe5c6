#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""irq-steer on described machines, with an irqbalance of the test's own where one is to run."""

import json
import os
import re
import shutil
import socket
import struct
import threading
import time

import machine
from hotplug import format_list, parse_mask
from machine import Setter, check, equal
from systemd import MEMBER, NAME, Refused, Systemd

IRQ_STEER = os.environ['IRQ_STEER']
UNWRITABLE = (30, 31)


class Irqs(Setter):
    """The machine `irqs`, with the two files that Linux 6.12 makes unwritable."""

    def __init__(self):
        super().__init__(IRQ_STEER, 'irqs')
        for number in UNWRITABLE:
            (self.box.root / f'proc/irq/{number}/smp_affinity_list').chmod(0o444)

    def affinity(self, number):
        return (self.box.root / f'proc/irq/{number}/smp_affinity_list').read_text().strip()

    def words(self, *arguments):
        """{knob: state}, from the JSON of status."""
        knobs = json.loads(self.succeed('status', '--json', *arguments))['knobs']
        return {knob['knob'].split(' (')[0]: knob['state'] for knob in knobs}


class Irqbalance(threading.Thread):
    """As much of irqbalance as its socket shows: it takes a ban at its next pass, and answers nobody
    for an interval then."""

    def __init__(self, setter, banned, interval=1, deaf=False):
        super().__init__(daemon=True)
        self.banned, self.pending, self.heard = banned, None, []
        self.interval, self.deaf, self.going = interval, deaf, True
        directory = setter.run_directory / 'irqbalance'
        directory.mkdir()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # The socket of a dead irqbalance is there, too.
        dead = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        dead.bind(str(directory / 'irqbalance1.sock'))
        dead.close()
        self.socket.bind(str(directory / 'irqbalance77.sock'))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.settimeout(0.1)
        self.socket.listen()
        self.passed = time.monotonic()
        self.start()

    def run(self):
        while self.going:
            if self.pending is not None and not self.deaf and \
                    time.monotonic() - self.passed >= self.interval:
                self.banned, self.pending = self.pending, None
                time.sleep(self.interval)
                self.passed = time.monotonic()
            try:
                connection, _ = self.socket.accept()
            except TimeoutError:
                continue
            with connection:
                data, ancillary, _, _ = connection.recvmsg(500, socket.CMSG_SPACE(12))
                credentials = [struct.unpack('3i', payload[:12])
                               for _, kind, payload in ancillary if kind == socket.SCM_CREDENTIALS]
                text = data.decode()
                self.heard.append(text)
                if not credentials:
                    continue
                if text == 'setup':
                    connection.send(f'SLEEP {self.interval} BANNED '
                                    f'00000000,{self.banned:08x}'.encode())
                elif text.startswith('settings cpus '):
                    words = text.removeprefix('settings cpus ')
                    self.pending = 0 if words == 'NULL' else \
                        sum(1 << cpu for cpu in machine.parse_list(words))
        self.socket.close()

    def stop(self):
        self.going = False
        self.join()


def test_long_rows():
    """/proc/interrupts is read a part at a time: a row may be longer than that, and the last may have no end."""
    with Irqs() as setter:
        def names():
            rows = json.loads(setter.succeed('-c', '3', '--dry-run', '--json'))['knobs']
            return [row['knob'] for row in rows]
        before = names()
        check(any('(' in name for name in before), f'actions in {before}')
        text = (setter.box.root / 'proc/interrupts').read_text()
        setter.box.write('proc/interrupts', text.rstrip('\n').replace(':', ':' + ' ' * 70000, 12))
        equal(names(), before, 'names')


def test_cycle():
    with Irqs() as setter:
        out = setter.cycle('-c', '3', changes={
            'proc/irq/default_smp_affinity': 'f7',
            'proc/irq/27/smp_affinity_list': '0-2,4-7',
            'proc/irq/28/smp_affinity_list': '0-2,4-7',
            'proc/irq/29/smp_affinity_list': '0-2,4-7',
        })
        check('irq 30 (nvme1q3)' in out['apply'] and 'denied' in out['apply'], out['apply'])
        # This interrupt fires on other CPUs already.
        check('irq 31' not in out['apply'], out['apply'])
        check(all(len(line.rstrip()) <= 80 for line in out['apply'].split('\n')),
              f'wider than 80 columns:\n{out["apply"]}')


def test_lines_of_cpus():
    """What belongs to the CPUs is left alone, and no failure of --strict."""
    with Setter(IRQ_STEER, 'arm-percpu-irqs', allowed='0-3') as setter:
        (setter.box.root / 'proc/irq/11/smp_affinity_list').chmod(0o444)
        knobs = json.loads(setter.succeed('apply', '--strict', '--json', '-c', '1'))['knobs']
        equal([k['knob'] for k in knobs if k['path'].startswith('/proc/irq/') and 'default' not in k['path']],
              ['irq 31 (fe00b880.mailbox)', 'irq 32 (eth0)'], 'lines')


def test_lines_of_the_kernel():
    """The kernel places them anew after a suspend: nobody is told that somebody has moved them, or that they could
    not be put back."""
    with Irqs() as setter:
        (setter.box.root / 'proc/irq/25/smp_affinity_list').chmod(0o444)
        check('irq 25' not in setter.succeed('-c', '3'), 'the line has a row')
        # It has another number then, too.
        (setter.box.root / 'proc/irq/25').rename(setter.box.root / 'proc/irq/40')
        rows = (setter.box.root / 'proc/interrupts').read_text()
        setter.box.write('proc/interrupts', rows.replace('\n  25:', '\n  40:'))
        setter.box.write('proc/irq/40/smp_affinity_list', '2\n')
        result = setter.run('restore')
        equal((result.returncode, result.stderr, setter.affinity(40)), (0, '', '2'), 'restore')


def test_several_cpus():
    with Irqs() as setter:
        setter.succeed('-c', '2-3,7')
        equal([setter.affinity(number) for number in range(24, 30)],
              ['0', '1', '0-1,4-6', '0-1,4-6', '0-1,4-6', '0-1,4-6'], 'affinities')


def test_nothing_to_do():
    with Irqs() as setter:
        setter.box.write('proc/irq/default_smp_affinity', '7f\n')
        setter.box.write('proc/irq/29/smp_affinity_list', '0-6\n')
        before = setter.snapshot()
        out = setter.succeed('-c', '7')
        setter.same(before, 'changed')
        equal(setter.journal, None, 'journal')
        check('already' in out, out)


def test_moved_lines_that_wait():
    """Files are plain here, so the effective affinity stays, as it does for an idle line."""
    with Irqs() as setter:
        out = setter.succeed('-c', '3')
        check('pending' in out and '(3)' in out, out)
        setter.succeed('restore')
        # A chip that has moved its line before the test looks.
        for number in (27, 28, 29):
            setter.box.write(f'proc/irq/{number}/effective_affinity_list', '0\n')
        check('pending' not in setter.succeed('-c', '3'), 'said of lines that have moved')
        setter.succeed('restore')
        # A line that still waits, and a line whose chip does not tell.
        setter.box.write('proc/irq/27/effective_affinity_list', '3\n')
        setter.box.remove('proc/irq/28/effective_affinity_list')
        out = setter.succeed('-c', '3')
        check(re.search(r'pending .*\n\(1\) ', out), out)


def test_foreign_change():
    with Irqs() as setter:
        setter.succeed('-c', '3')
        setter.box.write('proc/irq/28/smp_affinity_list', '5\n')
        result = setter.run('restore')
        equal(result.returncode, 0, result.stderr)
        check('irq 28' in result.stderr and '--force' in result.stderr, result.stderr)
        equal(setter.affinity(28), '5', 'what somebody else set')
        equal(setter.affinity(27), '3', 'what nobody else set')
        setter.succeed('restore', '--force')
        equal(setter.affinity(28), '3', 'forced')
        equal(setter.journal, None, 'journal')


def test_hotplug():
    """A driver that spreads its line over all CPUs when one goes, and a line that had lost all of its
    own: nobody wanted that, and it is put back."""
    with Irqs() as setter:
        before = setter.snapshot()
        setter.succeed('-c', '3')
        setter.box.write('sys/devices/system/cpu/online', '0,2-7\n')
        setter.box.write('proc/irq/29/smp_affinity_list', '0,2-7\n')
        setter.box.write('proc/irq/26/smp_affinity_list', '0-1,3-7\n')
        result = setter.run('restore')
        equal((result.returncode, result.stderr), (0, ''), 'restore')
        setter.box.write('sys/devices/system/cpu/online', '0-7\n')
        setter.same(before, 'restore left')
    # A move to all CPUs while no CPU is offline, or away from a CPU that cannot go offline, was
        # somebody's wish.
    for line, cpus in ((29, '0-7'), (24, '1-7'), (26, '0-1,3-6')):
        with Irqs() as setter:
            if line == 29:
                setter.box.write('proc/irq/29/smp_affinity_list', '3-4\n')
            setter.succeed('-c', '3')
            setter.box.write(f'proc/irq/{line}/smp_affinity_list', f'{cpus}\n')
            equal(setter.run('restore').returncode, 0, 'status')
            equal(setter.affinity(line), cpus, f'line {line}')


def listed(cpus):
    return ','.join(map(str, cpus)) + '\n'


class Linux(Irqs):
    """The machine `irqs`, whose kernel refuses an interrupt without an online CPU."""

    def run(self, *arguments, before=(), **options):
        config = {'cores': [[cpu] for cpu in range(8)], 'width': 8, 'release': [6, 12]}
        return self.box.run(*machine.simulator('hotplug.py'), 'run', *before, 'env',
                            f'LD_PRELOAD={os.environ["KERNEL"]}', machine.asan_options(), self.tool, *arguments,
                            root=True, alone=True, env={'TEST_HOTPLUG': json.dumps(config)}, **options)

    def switch(self, cpu, is_online):
        self.box.write(f'sys/devices/system/cpu/cpu{cpu}/online', f'{is_online:d}\n')
        self.box.write('sys/devices/system/cpu/online',
                       listed(c for c in range(8) if c != cpu or is_online))

    def wait_for_cpu(self):
        """Has the lines that were on CPU 3 alone, 27 and 28, wait for it."""
        self.succeed('-c', '3')
        self.switch(3, False)
        result = self.run('restore')
        equal((result.returncode, 'because CPU 3 is offline' in result.stderr), (0, True), result.stderr)
        self.switch(3, True)


def test_changed_while_it_waits():
    """What somebody sets while an interrupt waits for its CPU is not taken back."""
    with Linux() as setter:
        setter.wait_for_cpu()
        setter.box.write('proc/irq/27/smp_affinity_list', '5\n')
        status = ' '.join(k['why'] or '' for k in json.loads(setter.succeed('status', '--json'))['knobs'])
        check('changed by somebody else since' in status, status)
        result = setter.run('restore')
        equal(result.returncode, 0, result.stderr)
        check('irq 27 ' in result.stderr and 'stays at 5: somebody else changed it' in result.stderr and
              result.stderr.count('\n') == 1, result.stderr)
        equal((setter.affinity(27), setter.affinity(28)), ('5', '3'), 'affinities')
        setter.succeed('restore', '--force')
        equal((setter.affinity(27), setter.left_over()), ('3', []), 'by force')
    # A driver that spreads its line again when the CPU comes back is nobody.
    with Linux() as setter:
        setter.wait_for_cpu()
        setter.box.write('proc/irq/27/smp_affinity_list', '0-7\n')
        result = setter.run('restore')
        equal((result.returncode, result.stderr), (0, ''), 'restore')
        equal((setter.affinity(27), setter.affinity(28)), ('3', '3'), 'affinities')
    # Nor is irqbalance, which goes on once it has been put back itself.
    with Linux() as setter:
        setter.wait_for_cpu()
        setter.box.write('proc/irq/27/smp_affinity_list', '5\n')
        result = setter.run('restore', before=machine.beside_irqbalance(setter))
        equal((result.returncode, result.stderr), (0, ''), 'restore')
        equal((setter.affinity(27), setter.affinity(28)), ('3', '3'), 'affinities')


def test_lines_that_vanish():
    with Irqs() as setter:
        setter.succeed('-c', '3')
        for name in ('smp_affinity_list', 'smp_affinity', 'effective_affinity_list'):
            setter.box.remove(f'proc/irq/28/{name}')
        setter.succeed('restore')
        equal(setter.affinity(27), '3', 'the others')
        equal(setter.journal, None, 'journal')


def test_device_that_goes():
    """A device goes away for good with all of its interrupts: one line says so, and nothing is kept
    of them."""
    with Irqs() as setter:
        setter.succeed('-c', '3')
        for number in (27, 28):
            shutil.rmtree(setter.box.root / f'proc/irq/{number}')
        result = setter.run('restore')
        equal((result.returncode, result.stderr.count('\n')), (0, 1), f'said: {result.stderr}')
        check(result.stderr.startswith('irq-steer: irq 27') and ' and 1 more: gone' in result.stderr,
              result.stderr)
        equal(setter.left_over(), [], 'in /run/quiesce')


def set_up(setter, number, node=-1, cpus=None):
    """The kernel sets up an interrupt of a device, or, as somebody else has it, with those CPUs."""
    given = parse_mask((setter.box.root / 'proc/irq/default_smp_affinity').read_text())
    near = {0, 1, 2, 3} if node == 0 else {4, 5, 6, 7} if node == 1 else given
    setter.box.write(f'proc/irq/{number}/smp_affinity_list', f'{cpus or format_list(given & near or given)}\n')
    setter.box.write(f'proc/irq/{number}/node', f'{node}\n')


def test_set_up_meanwhile():
    """Interrupts that are set up while CPUs are kept free get the CPUs that they would have had, unless somebody has
    moved them, or they cannot be moved."""
    for node in range(2):
        with Irqs() as setter:
            for other, cpus in enumerate(('0-3', '4-7')):
                setter.box.write(f'sys/devices/system/node/node{other}/cpulist', f'{cpus}\n')
            setter.succeed('-c', '3-5')
            set_up(setter, 90)
            set_up(setter, 91, node)
            set_up(setter, 92, cpus='6')
            set_up(setter, 93)
            (setter.box.root / 'proc/irq/93/smp_affinity_list').chmod(0o444)
            equal(setter.affinity(90), '0-2,6-7', 'CPUs of a new one')
            equal((setter.run('restore').stderr, setter.left_over()), ('', []), 'restore')
            equal([setter.affinity(number) for number in range(90, 94)],
                  ['0-7', ('0-3', '4-7')[node], '6', '0-2,6-7'], 'CPUs after restore')


def test_set_up_between():
    """The second apply finds an interrupt that is where the first one let it go, which was not its choice."""
    for second in ('3-5', '1', '6'):
        with Irqs() as setter:
            setter.succeed('-c', '3-5')
            set_up(setter, 90)
            set_up(setter, 91, cpus='0-1')
            setter.succeed('-c', second)
            set_up(setter, 92)
            equal((setter.run('restore').stderr, setter.left_over()), ('', []), 'restore')
            equal([setter.affinity(number) for number in range(90, 93)], ['0-7', '0-1', '0-7'], f'CPUs, -c {second}')


def test_all_cpus():
    with Irqs() as setter:
        result = setter.run('-c', '0-7')
        equal(result.returncode, 2, result.stderr)
        check('online' in result.stderr, result.stderr)


def test_usage():
    with Irqs() as setter:
        for arguments, word in (((), '-c'), (('-c', '9'), 'CPU 9'), (('-c', 'x'), "'x'"),
                                (('-c', '3', 'what'), "'what'")):
            result = setter.run(*arguments)
            equal(result.returncode, 2, f'{arguments}: {result.stderr}')
            check(word in result.stderr and result.stderr.count('\n') == 1, result.stderr)


def test_status_of_nothing():
    """Without CPUs and without an earlier apply it says so, and what else to ask."""
    with Irqs() as setter:
        said = 'nothing was changed; `irq-steer status -c LIST` shows what apply would change\n'
        equal(setter.succeed('status'), said, 'status')
        brief = setter.run('status', '--brief')
        equal((brief.returncode, brief.stdout), (3, said), 'status --brief')
        equal(json.loads(setter.succeed('status', '--json')), {'knobs': []}, 'status --json')
        setter.succeed('-c', '3')
        check('default affinity' in setter.succeed('status'), 'what an earlier apply did')


def test_moved_elsewhere():
    """An interrupt that irqbalance moves from one of the other CPUs to another is as wanted, one that comes to
    the quiet CPU is not."""
    with Irqs() as setter:
        setter.succeed('-c', '3')
        for where, status in (('5', 0), ('3', 3), ('6', 0)):
            setter.box.write('proc/irq/29/smp_affinity_list', f'{where}\n')
            result = setter.run('status', '--brief', '-c', '3')
            equal(result.returncode, status, f'on {where}: {result.stdout}')
            check(('not as wanted: irq 29' in result.stdout) == (status == 3), result.stdout)


def test_refused_on_an_old_kernel():
    """Before 6.12 only an attempt tells which lines cannot be moved: one that refused is no line that could be
    moved again. (No file refuses here: the line comes when the others are steered.)"""
    for release, status, says in (('6.1.0-13-amd64', 0, ', irq 77 (managed by the kernel, or per CPU)'),
                                  ('6.12.48', 3, '; not as wanted: irq 77')):
        with Irqs() as setter:
            setter.box.write('proc/sys/kernel/osrelease', release + '\n')
            setter.succeed('-c', '3')
            equal(setter.run('status', '--brief', '-c', '3').returncode, 0, 'without it')
            setter.box.write('proc/irq/77/smp_affinity_list', '3\n')
            setter.box.write('sys/kernel/irq/77/actions', 'late\n')
            result = setter.run('status', '--brief', '-c', '3')
            check(says in result.stdout, result.stdout)
            equal(result.returncode, status, f'status on {release}')
            check('irq 77' in setter.succeed('-c', '3', '--dry-run'), 'apply tries it')


def test_list_longer_than_a_page():
    """As on a machine of thousands of CPUs whose lines go to every other one."""
    long = listed(range(3, 8192, 2))
    with Irqs() as setter:
        setter.box.write('proc/irq/29/smp_affinity_list', long)
        before = setter.snapshot()
        setter.succeed('-c', '3')
        equal(setter.affinity(29) + '\n', listed(range(5, 8192, 2)), 'affinity')
        setter.succeed('restore')
        setter.same(before, 'restore left')


def test_as_an_ordinary_user():
    with Irqs() as setter:
        before = setter.snapshot()
        result = setter.run('-c', '3', user=True)
        equal(result.returncode, 1, result.stderr)
        check('root' in result.stderr and result.stderr.count('\n') == 1, result.stderr)
        setter.same(before, 'changed')


def test_no_interrupts_at_all():
    """A container may have an empty /proc/irq."""
    with Setter(IRQ_STEER, 's390-gaps') as setter:
        result = setter.run('-c', '4')
        equal(result.returncode, 0, result.stderr)
        check('nothing to do' in result.stderr, result.stderr)


def test_irqbalance_is_told():
    with Irqs() as setter:
        daemon = Irqbalance(setter, 0x80)
        try:
            setter.succeed('-c', '3')
            equal(daemon.banned, 0x88, 'banned')
            equal(setter.words('-c', '3')['irqbalance banned CPUs'], 'applied', 'word')
            setter.succeed('restore')
            equal(daemon.banned, 0x80, 'banned after restore')
            check('settings cpus 7' in daemon.heard, f'{daemon.heard}')
        finally:
            daemon.stop()


def test_status_of_a_user_beside_irqbalance():
    """Only root can ask irqbalance; to others, status tells what the journal has."""
    if os.geteuid() != 0:
        raise machine.Skip('only root can be somebody else')
    with Irqs() as setter:
        daemon = Irqbalance(setter, 0x80)
        try:
            setter.succeed('-c', '3')
            root, user = (setter.run('status', '--brief', '-c', '3', user=user) for user in (False, True))
            check('irqbalance banned CPUs 3,7' in root.stdout, root.stdout)
            equal((user.returncode, user.stderr), (0, ''), 'for a user')
            equal(sorted(re.split(', |; ', user.stdout.strip())), sorted(re.split(', |; ', root.stdout.strip())),
                  'for a user')
            knobs = json.loads(setter.succeed('status', '--json', user=True))['knobs']
            banned, = (knob for knob in knobs if knob['knob'] == 'irqbalance banned CPUs')
            equal((banned['state'], banned['now']), ('applied', None), 'for a user')
            check('only root can ask' in banned['why'], banned)
        finally:
            daemon.stop()


def test_irqbalance_gets_its_own_judgement_back():
    with Irqs() as setter:
        daemon = Irqbalance(setter, 0)
        try:
            setter.succeed('-c', '3')
            equal(daemon.banned, 8, 'banned')
            setter.succeed('restore')
            equal(daemon.banned, 0, 'banned after restore')
            equal([text for text in daemon.heard if text != 'setup'],
                  ['settings cpus 3', 'settings cpus NULL'], 'what it was told')
        finally:
            daemon.stop()


def test_receive_packet_steering():
    """Masks of queues that hand packets to CPUs are masks like any other; those that hand nothing on stay. A card
    may be called as a folder is."""
    queues = 'sys/class/net/eth0/queues'
    with Irqs() as setter:
        for queue, mask in enumerate(('ff', '00', '08', '07')):
            setter.box.write(f'{queues}/rx-{queue}/rps_cpus', f'{mask}\n')
        setter.box.write(f'{queues}/tx-0/xps_cpus', 'ff\n')
        setter.box.write('sys/class/net/queues/queues/rx-0/rps_cpus', 'ff\n')
        before = setter.snapshot()
        setter.succeed('-c', '3')
        equal([(setter.box.root / f'{queues}/rx-{n}/rps_cpus').read_text().strip() for n in range(4)],
              ['f7', '00', 'f7', '07'], 'masks')
        for card in 'eth0', 'queues':
            equal(setter.words('-c', '3')[f'rx-0 of {card}'], 'applied', 'word')
        setter.succeed('restore')
        setter.same(before, 'restore left')


DROPIN = '/run/systemd/system/irqbalance.service.d/50-quiesce.conf'


def test_ban_belongs_to_the_service():
    """A service that is started anew bans the CPUs, too, also those that were banned before; if that
    happened, restore has it started once more."""
    for started, calls in (1, []), (2 ** 62, ['StopUnit', 'StartUnit']):
        with Irqs() as setter, Systemd(setter.box) as systemd:
            systemd.dropins = {'irqbalance.service': DROPIN}
            unit = systemd.units['irqbalance.service'] = {'ActiveState': 'active',
                                                          'ExecMainStartTimestamp': started}
            daemon = Irqbalance(setter, 0x80)
            try:
                setter.succeed('-c', '3')
                file = setter.box.root / DROPIN.lstrip('/')
                lines = file.read_text().splitlines()
                equal(lines[1:], ['[Service]', f'EnvironmentFile={DROPIN}', '[X-Environment]',
                                  'IRQBALANCE_BANNED_CPUS=88', 'IRQBALANCE_BANNED_CPULIST=3,7'], 'drop-in')
                equal(setter.words('-c', '3')['settings of irqbalance.service'], 'applied', 'word')
                setter.succeed('restore')
                check(not file.parent.exists(), 'the drop-in is still there')
                equal((daemon.banned, unit['DropInPaths']), (0x80, []), 'after restore')
                equal([call[0] for call in systemd.calls if call[0] != 'Reload'], calls, 'calls')
            finally:
                daemon.stop()


def listen_at_last(daemon):
    """Lets the daemon take what it was told in the meantime. Returns the CPUs that it bans then."""
    daemon.deaf = False
    machine.wait_for(lambda: daemon.pending is None, 'irqbalance takes what it was told')
    return daemon.banned


def test_irqbalance_goes_on():
    """Masks that irqbalance has written in the meantime are not somebody's choice: all are put
    back, without a word."""
    with Irqs() as setter:
        before = setter.snapshot()
        daemon = Irqbalance(setter, 0)
        try:
            setter.succeed('-c', '3')
            setter.box.write('proc/irq/27/smp_affinity_list', '5\n')
            check('somebody else' not in setter.succeed('status'), 'status')
            result = setter.run('restore')
            equal((result.returncode, 'somebody' in result.stderr), (0, False), result.stderr)
            setter.same(before, 'restore left')
            equal(setter.left_over(), [], 'in /run/quiesce')
        finally:
            daemon.stop()
    # Without irqbalance, somebody has written that mask.
    with Irqs() as setter:
        setter.succeed('-c', '3')
        setter.box.write('proc/irq/27/smp_affinity_list', '5\n')
        check('somebody else' in setter.run('restore').stderr, 'not said')
        equal(setter.affinity(27), '5', 'interrupt 27')


def test_asked_for_while_a_cpu_is_offline():
    """Linux takes the offline CPU out of the mask of an interrupt that a driver asks for: that is
    no choice of somebody, and the mask is put back."""
    with Irqs() as setter:
        before = setter.snapshot()
        setter.succeed('-c', '3')
        equal(setter.affinity(27), '0-2,4-7', 'interrupt 27')
        setter.box.write('sys/devices/system/cpu/online', '0-6\n')
        setter.box.write('proc/irq/27/smp_affinity_list', '0-2,4-6\n')
        result = setter.run('restore')
        equal((result.returncode, result.stderr), (0, ''), 'restore')
        setter.box.write('sys/devices/system/cpu/online', '0-7\n')
        setter.same(before, 'restore left')


def test_irqbalance_that_does_not_listen():
    """A deaf irqbalance would move the interrupts back, and may take the ban when irq-steer no
    longer waits for it. So apply fails, and has told irqbalance its former ban again."""
    with Irqs() as setter:
        daemon = Irqbalance(setter, 0x80, deaf=True)
        before = setter.snapshot()
        try:
            result = setter.run('-c', '3')
            equal(result.returncode, 3, 'status')
            check('cannot set irqbalance banned CPUs' in result.stderr, result.stderr)
            setter.same(before, 'the failed apply left')
            equal(setter.left_over(), [], 'left in /run/quiesce')
            equal(listen_at_last(daemon), 0x80, 'banned')
            check('settings cpus 3,7' in daemon.heard, f'{daemon.heard}')
        finally:
            daemon.stop()


def test_irqbalance_that_listens_after_a_kill():
    """A setter that is killed while it waits for the ban has written into its journal that the ban
    may come."""
    with Irqs() as setter:
        daemon = Irqbalance(setter, 0x80, interval=5, deaf=True)
        before = setter.snapshot()
        try:
            setter.box.run('timeout', '--signal=KILL', '8', setter.tool, '-c', '3', root=True)
            check('settings cpus 3,7' in daemon.heard, f'{daemon.heard}')
            check(setter.journal, 'no journal')
            setter.succeed('restore')
            setter.same(before, 'restore left')
            equal(listen_at_last(daemon), 0x80, 'banned')
        finally:
            daemon.stop()


def test_unreadable_line():
    """An interrupt whose affinity cannot be read has a row that says so."""
    with Irqs() as setter:
        path = setter.box.root / 'proc/irq/27/smp_affinity_list'
        path.unlink()
        path.symlink_to('smp_affinity_list')
        out = setter.succeed('-c', '3')
        check(re.search(r'irq 27 .*denied +Too many levels', out), out)


class Stopping(Systemd):
    """systemd, of which irqbalance does not stop in time. Later it would."""

    def StopUnit(self, _unit, _mode):
        return 'timeout'


class Reexecuting(Systemd):
    """systemd that executes itself anew when it is asked to stop something, and the answers of dbus-daemon
    while it is not there."""
    left = None

    def do(self, fields, arguments):
        if self.left is None and fields[MEMBER] == 'StopUnit':
            self.left = 6
            raise Refused('DBus.Error.NoReply',
                          'Message recipient disconnected from message bus without replying')
        if self.left:
            self.left -= 1
            raise Refused('DBus.Error.Spawn.ChildExited', f'Process {NAME} exited with status 1')
        return super().do(fields, arguments)


def with_service(setter, *arguments, user=''):
    return setter.box.run(*machine.beside_irqbalance(setter, user), setter.tool, *arguments, root=True, alone=True)


def test_service_is_stopped():
    for state in ('active', 'refreshing'):
        with Irqs() as setter, Systemd(setter.box) as systemd:
            unit = systemd.units['irqbalance.service'] = {'ActiveState': state}
            result = with_service(setter, '-c', '3')
            equal(result.returncode, 0, result.stderr)
            equal(unit['ActiveState'], 'inactive', f'irqbalance, which was {state}')
            setter.succeed('restore')
            equal(unit['ActiveState'], 'active', 'irqbalance after restore')


class Refusing(Systemd):
    """systemd that answers no questions."""

    def read(self, unit, _interface, name):
        raise Refused('DBus.Error.AccessDenied', f'{name} of {unit} is nobody\'s business')


def test_service_that_nobody_knows_of():
    """Where systemd does not answer, nobody is told that irqbalance is no service of it."""
    with Irqs() as setter, Refusing(setter.box):
        result = with_service(setter, '-c', '3')
        equal(result.returncode, 0, result.stderr)
        said = ' '.join(result.stdout.split())
        check('irqbalance' in said and 'no systemd service' not in said and 'denied' in said, said)
        why = {k['knob']: k['why'] for k in
               json.loads(with_service(setter, 'status', '--json', '-c', '3').stdout)['knobs']}
        check('systemd does not tell whether it could stop it (Permission denied)' in
              why['irqbalance banned CPUs'], why)


def test_service_of_a_stranger():
    """Anybody may call a program irqbalance, which moves no interrupts and keeps nobody from anything."""
    if os.geteuid() != 0:
        raise machine.Skip('only root can start programs of other users')
    with Irqs() as setter:
        result = with_service(setter, '--strict=refused', '-c', '3',
                              user='setpriv --reuid=65534 --regid=65534 --clear-groups')
        equal(result.returncode, 0, result.stderr)
        check('irqbalance' not in result.stdout + result.stderr, result.stdout + result.stderr)


def test_service_that_stops_late():
    """irqbalance may stop when irq-steer no longer waits for it. So apply fails, and has started it
    again."""
    with Irqs() as setter, Stopping(setter.box) as systemd:
        systemd.units['irqbalance.service'] = {'ActiveState': 'active'}
        before = setter.snapshot()
        result = with_service(setter, '-c', '3')
        check(result.returncode != 0, result.stdout)
        check('cannot set irqbalance to stopped' in result.stderr, result.stderr)
        setter.same(before, 'the failed apply left')
        equal(setter.left_over(), [], 'left in /run/quiesce')
        equal([call[:2] for call in systemd.calls],
              [('StopUnit', 'irqbalance.service'), ('StartUnit', 'irqbalance.service')], 'calls')


def test_service_and_systemd_executes_itself_anew():
    with Irqs() as setter, Reexecuting(setter.box) as systemd:
        unit = systemd.units['irqbalance.service'] = {'ActiveState': 'active'}
        result = with_service(setter, '-c', '3')
        equal(result.returncode, 0, result.stderr)
        equal((systemd.left, unit['ActiveState']), (0, 'inactive'), 'irqbalance')
        setter.succeed('restore')
        equal(unit['ActiveState'], 'active', 'irqbalance after restore')


def test_4096_interrupts():
    """4096 interrupts are each written once. (The time is a matter of the benchmarks.)"""
    with Irqs() as setter:
        for number in range(100, 4196):
            setter.box.write(f'proc/irq/{number}/smp_affinity_list', '0-7\n')
        before = setter.snapshot()
        out = setter.succeed('-c', '3')
        check(re.search(r'\(409\d\)', out), out)
        equal(setter.affinity(4195), '0-2,4-7', 'the last one')
        setter.succeed('restore')
        setter.same(before, 'restore')


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
