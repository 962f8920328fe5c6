# SPDX-License-Identifier: GPL-2.0-or-later
"""A systemd for the programs on a described machine: it listens at the private socket, and speaks as
much of D-Bus (the D-Bus Specification) and of org.freedesktop.systemd1(5) as src/unit asks for.

    with Systemd(box) as systemd:
        systemd.units['a.service'] = {'ActiveState': 'active'}
        box.run(...)
        systemd.calls                   [('StopUnit', 'a.service', 'replace'), ...]

Units are dictionaries of their properties; a name that is missing in `units` is a unit that does not
exist, unless it is a slice, which exists always. A subclass may change what a job does.
"""

import itertools
import os
import pathlib
import re
import shutil
import socket
import struct
import threading

NAME = 'org.freedesktop.systemd1'
MANAGER = '/org/freedesktop/systemd1'
CALL, RETURN, ERROR, SIGNAL = 1, 2, 3, 4
PATH, INTERFACE, MEMBER, ERROR_NAME, REPLY_SERIAL, SENDER, SIGNATURE = 1, 2, 3, 4, 5, 7, 8
FIELDS = {PATH: 'o', INTERFACE: 's', MEMBER: 's', ERROR_NAME: 's', REPLY_SERIAL: 'u', SENDER: 's',
          SIGNATURE: 'g'}
FIXED = {'y': 'B', 'b': 'I', 'n': 'h', 'q': 'H', 'i': 'i', 'u': 'I', 'x': 'q', 't': 'Q', 'd': 'd', 'h': 'I'}
INFINITE = 2 ** 64 - 1
# Of properties; all others are numbers (t), and unlimited unless the unit says something else.
TYPES = {'LoadState': 's', 'ActiveState': 's', 'DropInPaths': 'as', 'NeedDaemonReload': 'b',
         'Job': '(uo)', 'Conflicts': 'as', 'Result': 's', 'StatusText': 's', 'ExecMainCode': 'i',
         'ExecMainStatus': 'i'}
DEFAULTS = {'s': '', 'as': [], 'b': False, 'i': 0, '(uo)': (0, '/'), 't': INFINITE}
# The files of a cgroup for these properties.
LIMITS = {'TasksMax': 'pids.max', 'MemoryMax': 'memory.max', 'MemoryHigh': 'memory.high',
          'MemorySwapMax': 'memory.swap.max'}


class Refused(Exception):
    """args: the name of the error behind "org.freedesktop.", and a message."""


# --- Values ---

def end_of_type(signature, at):
    if signature[at] == 'a':
        return end_of_type(signature, at + 1)
    depth = 0
    for at in range(at, len(signature)):
        depth += (signature[at] in '({') - (signature[at] in ')}')
        if depth == 0:
            return at + 1
    raise ValueError(signature)


def types_of(signature):
    at = 0
    while at < len(signature):
        end = end_of_type(signature, at)
        yield signature[at:end]
        at = end


def alignment(kind):
    if kind[0] in FIXED:
        return struct.calcsize(FIXED[kind[0]])
    return {'s': 4, 'o': 4, 'a': 4, 'g': 1, 'v': 1, '(': 8, '{': 8}[kind[0]]


class Writer:
    def __init__(self):
        self.data = bytearray()

    def align(self, n):
        self.data += bytes(-len(self.data) % n)

    def put(self, kind, value):
        self.align(alignment(kind))
        if kind in FIXED:
            self.data += struct.pack(f'<{FIXED[kind]}', value)
        elif kind in 'sog':
            text = value.encode()
            self.data += struct.pack('<B' if kind == 'g' else '<I', len(text)) + text + b'\0'
        elif kind == 'v':
            self.put('g', value[0])
            self.put(*value)
        elif kind[0] == 'a':
            at = len(self.data)
            self.data += bytes(4)
            self.align(alignment(kind[1:]))
            begin = len(self.data)
            for item in value:
                self.put(kind[1:], item)
            struct.pack_into('<I', self.data, at, len(self.data) - begin)
        else:
            for inner, item in zip(types_of(kind[1:-1]), value):
                self.put(inner, item)


class Reader:
    def __init__(self, data, at):
        self.data = data
        self.at = at

    def align(self, n):
        self.at += -self.at % n

    def take(self, kind):
        self.align(alignment(kind))
        if kind in FIXED:
            value, = struct.unpack_from(f'<{FIXED[kind]}', self.data, self.at)
            self.at += struct.calcsize(FIXED[kind])
            return value
        if kind in 'sog':
            length = self.take('y' if kind == 'g' else 'u')
            self.at += length + 1
            return self.data[self.at - length - 1:self.at - 1].decode()
        if kind == 'v':
            return self.take(self.take('g'))
        if kind[0] == 'a':
            length = self.take('u')
            self.align(alignment(kind[1:]))
            end, items = self.at + length, []
            while self.at < end:
                items.append(self.take(kind[1:]))
            return items
        return tuple(self.take(inner) for inner in types_of(kind[1:-1]))


def pack(kind, serial, fields, signature='', body=()):
    arguments, head = Writer(), Writer()
    for inner, value in zip(types_of(signature), body):
        arguments.put(inner, value)
    if signature:
        fields = {**fields, SIGNATURE: signature}
    for inner, value in zip('yyyyuu', (ord('l'), kind, 0, 1, len(arguments.data), serial)):
        head.put(inner, value)
    head.put('a(yv)', [(code, (FIELDS[code], value)) for code, value in fields.items()])
    head.align(8)
    return bytes(head.data + arguments.data)


class Connection:
    """One client. Nobody else's."""

    def __init__(self, client):
        self.client = client
        self.pending = b''
        self.descriptors = []  # those that came with the message
        self.serial = 0

    def receive(self, n):
        while len(self.pending) < n:
            more, descriptors, _, _ = socket.recv_fds(self.client, 1 << 16, 16)
            self.descriptors += descriptors
            if not more:
                raise ConnectionError
            self.pending += more
        data, self.pending = self.pending[:n], self.pending[n:]
        return data

    def authenticate(self):
        self.receive(1)
        while True:
            line = b''
            while not line.endswith(b'\r\n'):
                line += self.receive(1)
            word, _, rest = line.strip().partition(b' ')
            if word == b'BEGIN':
                return
            answers = {b'AUTH': b'OK %032x' % 1 if rest != b'EXTERNAL' else b'DATA',
                       b'DATA': b'OK %032x' % 1, b'NEGOTIATE_UNIX_FD': b'AGREE_UNIX_FD'}
            self.client.sendall(answers.get(word, b'ERROR') + b'\r\n')

    def read_message(self):
        """(serial, fields, the arguments)"""
        head = self.receive(16)
        length, serial, of_fields = struct.unpack_from('<III', head, 4)
        rest = self.receive(-(-of_fields // 8) * 8 + length)
        reader = Reader(head + rest, 12)
        fields = dict(reader.take('a(yv)'))
        body = Reader(rest, -(-of_fields // 8) * 8)
        return serial, fields, [body.take(kind) for kind in types_of(fields.get(SIGNATURE, ''))]

    def close_descriptors(self):
        while self.descriptors:
            os.close(self.descriptors.pop())

    def send(self, kind, fields, signature='', body=()):
        self.serial += 1
        self.client.sendall(pack(kind, self.serial, {**fields, SENDER: NAME}, signature, body))


# --- systemd ---

def unit_of(path):
    """The name of a unit in an object path: 2e is a dot."""
    return re.sub('_([0-9a-f]{2})', lambda match: chr(int(match[1], 16)), path.rsplit('/', 1)[1])


def process_of(fd):
    """The process of a pidfd, -1 of one that has ended, None of another descriptor."""
    match = re.search(r'^Pid:\s*(-?\d+)$', pathlib.Path(f'/proc/self/fdinfo/{fd}').read_text(encoding='utf-8'), re.M)
    return int(match[1]) if match else None


class Systemd:
    takes_pidfds = True  # from 254 on
    dropins = {}  # {unit: the drop-in that it is found to have, or not, when systemd is told to look}

    def __init__(self, box):
        self.root = pathlib.Path(box.root)
        self.cgroups = self.root / 'sys/fs/cgroup'
        run = self.root / 'run/systemd'
        (run / 'system').mkdir(parents=True, exist_ok=True)
        self.path = run / 'private'
        self.units, self.calls = {}, []
        self.processes = []  # those of the message's descriptors
        self.jobs = itertools.count(1)
        self.lock = threading.Lock()
        self.clients = []

    def __enter__(self):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen(64)
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()
        self.path.unlink()

    def listen(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return  # __exit__()
            thread = threading.Thread(target=self.serve, args=(client,), daemon=True)
            thread.start()
            self.clients.append(thread)

    def settle(self):
        """To be called when the clients have ended: until what they have asked for is done."""
        while self.clients:
            self.clients.pop().join()

    def serve(self, client):
        with client:
            connection = Connection(client)
            try:
                connection.authenticate()
                while True:
                    self.answer(connection, *connection.read_message())
                    connection.close_descriptors()
            except OSError:
                pass  # the client is gone
            finally:
                connection.close_descriptors()

    def answer(self, connection, serial, fields, arguments):
        try:
            with self.lock:
                self.processes = [process_of(fd) for fd in connection.descriptors]
                signature, body, job = self.do(fields, arguments)
        except Refused as refused:
            connection.send(ERROR, {REPLY_SERIAL: serial, ERROR_NAME: f'org.freedesktop.{refused.args[0]}'},
                            's', [refused.args[1]])
            return
        connection.send(RETURN, {REPLY_SERIAL: serial}, signature, body)
        if job:
            connection.send(SIGNAL, {PATH: MANAGER, INTERFACE: f'{NAME}.Manager', MEMBER: 'JobRemoved'},
                            'uoss', job)

    def do(self, fields, arguments):
        """The signature of the reply, what is in it, and the job that ended, or None."""
        if fields[MEMBER] == 'Get':
            kind, value = self.read(unit_of(fields[PATH]), *arguments)
            return 'v', [(kind, value)], None
        self.calls.append((fields[MEMBER], *arguments))
        method = getattr(self, fields[MEMBER], None)
        if not method:
            raise Refused('DBus.Error.UnknownMethod', fields[MEMBER])
        result = method(*arguments)
        if result is None:
            return '', [], None
        number = next(self.jobs)
        job = f'{MANAGER}/job/{number}'
        return 'o', [job], [number, job, arguments[0], result]

    def read(self, unit, _interface, name):
        kind = TYPES.get(name, 't')
        known = self.units.get(unit, {})
        if name == 'LoadState':
            return 's', known.get(name, 'loaded' if unit in self.units or unit.endswith('.slice')
                                  else 'not-found')
        if name == 'ActiveState':
            return 's', known.get(name, 'inactive')
        if name == 'CPUSetPartition' and name not in known:
            raise Refused('DBus.Error.UnknownProperty', name)
        return kind, known.get(name, DEFAULTS[kind])

    # --- Methods; what they return is the result of a job ---

    def Reload(self):
        for unit, file in self.dropins.items():
            self.units[unit]['DropInPaths'] = [file] if (self.root / file.lstrip('/')).exists() else []

    def StartUnit(self, unit, _mode):
        self.set_state(unit, 'active')
        return 'done'

    def StopUnit(self, unit, _mode):
        self.set_state(unit, 'inactive')
        return 'done'

    def set_state(self, unit, state):
        if unit not in self.units:
            raise Refused('systemd1.NoSuchUnit', f'Unit {unit} not loaded.')
        self.units[unit]['ActiveState'] = state

    def StartTransientUnit(self, name, _mode, properties, _others):
        if self.units.get(name, {}).get('ActiveState') == 'active':
            raise Refused('systemd1.UnitExists', f'Unit {name} was already loaded or has a fragment file.')
        known = dict(properties)
        if 'PIDFDs' in known and not self.takes_pidfds:
            raise Refused('DBus.Error.PropertyReadOnly', 'Cannot set property PIDFDs, or unknown property.')
        for index in known.pop('PIDFDs', ()):
            known.setdefault('PIDs', []).append(self.processes[index])
        self.units[name] = {**known, 'ActiveState': 'active', 'processes': set()}
        folder = self.cgroup(name)
        folder.mkdir(parents=True)
        for limit, file in LIMITS.items():
            text = str(known[limit]) if known.get(limit, INFINITE) != INFINITE else 'max'
            (folder / file).write_text(f'{text}\n', encoding='utf-8')
        quota = known.get('CPUQuotaPerSecUSec', INFINITE)
        (folder / 'cpu.max').write_text(
            'max 100000\n' if quota == INFINITE else f'{quota // 10} 100000\n', encoding='utf-8')
        (folder / 'pids.current').write_text('0\n', encoding='utf-8')
        for pid in known.get('PIDs', ()):
            self.move(pid, name)
        return 'done'

    def AttachProcessesToUnit(self, name, _subcgroup, pids):
        if self.units.get(name, {}).get('ActiveState') != 'active':
            raise Refused('systemd1.NoSuchUnit', f'Unit {name} not loaded.')
        for pid in pids:
            self.move(pid, name)

    # --- Processes ---

    def cgroup(self, unit):
        """benchmark-1000.slice is below benchmark.slice."""
        if not unit.endswith('.slice'):
            return self.cgroup(self.units[unit]['Slice']) / unit
        parts = unit.removesuffix('.slice').split('-')
        return self.cgroups.joinpath(*(f'{"-".join(parts[:n])}.slice' for n in range(1, len(parts) + 1)))

    def move(self, pid, unit):
        for other in self.units.values():
            other.get('processes', set()).discard(pid)
        self.units[unit]['processes'].add(pid)
        count = len(self.units[unit]['processes'])
        (self.cgroup(unit) / 'pids.current').write_text(f'{count}\n', encoding='utf-8')
        self.moved(pid, self.cgroup(unit))

    def moved(self, pid, folder):
        """For a subclass: the process is in another cgroup now."""

    def forget(self, unit):
        """As if the unit had never been started."""
        if unit in self.units:
            shutil.rmtree(self.cgroup(unit), ignore_errors=True)
            del self.units[unit]

    def where(self, pid):
        """The units that have this process."""
        return [name for name, unit in self.units.items() if pid in unit.get('processes', ())]
