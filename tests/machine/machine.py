# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines described in text, and tests that run a command on them.

A description, machines/NAME.machine, is a list of files below sys/ and proc/:

    # A comment; blank lines are free.
    width 12                                        CPU masks have this many bits (required)
    sys/.../cpu/online = 0-11                       a file with this text and a newline
    sys/.../cpu/cpu{c:0-11}/topology/core_id = {c//2}
                                                    twelve files; {...} computes
    sys/.../cpu0/cpufreq -> ../cpufreq/policy0      a symbolic link
    sys/.../hotplug/                                an empty directory
    proc/stat =                                     a file of several lines, indented by a tab;
            cpu{c:0-11} 10 0 20 3000 0 0 0 0 0 0    a line with a list becomes several lines
    proc/cpuinfo = each c:0-11                      the block once for each, an empty line between
            processor	: {c}
    proc/interrupts = table 0-11                    a column for each CPU:
            LOC: *:5000 3:20  Local timer interrupts    5000 on every CPU, but 20 on CPU 3
            ERR: =0                                     one column, whatever the CPUs

{name:LIST} takes all numbers of a list in kernel syntax (0-3,8) in turn; several of them make all
combinations. {EXPRESSION} may use those names, whole numbers, + - * // % and parentheses, and
mask(LIST, ...), a mask as the kernel prints it: mask(c, c + 8) or mask('0-7').
"""

import ast
import contextlib
import fcntl
import itertools
import operator
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

import schema

HERE = pathlib.Path(__file__).resolve().parent
# Under nohup, and behind some CI's runners, signals are ignored that tests send to our programs, which
# leave an ignored signal ignored.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
# What prints by docs/schemas/setter.schema.json.
SETTERS = ('cpu-shield', 'freq-pin', 'irq-steer', 'noise-off', 'smt-off')
LIST = r'\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*'
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def parse_list(text):
    """[0, 1, 2, 8] of '0-2,8', in the order written."""
    numbers = []
    for part in text.split(','):
        first, _, last = part.partition('-')
        numbers += range(int(first), int(last or first) + 1)
    return numbers


class Description:
    """One description being read. A mistake raises ValueError and names its line."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.width = None
        self.files = {}  # path: bytes, or a str for a link's target, or None for a directory
        lines = self.path.read_text(encoding='utf-8').split('\n')
        index = 0
        while index < len(lines):
            line, self.line = lines[index], index + 1
            index += 1
            if not line.strip() or line.startswith('#'):
                continue
            block = []
            while index < len(lines) and lines[index].startswith('\t'):
                block.append(lines[index][1:])
                index += 1
            self.read(line, block)
        if not self.files:
            self.fail('describes nothing')

    def fail(self, what):
        raise ValueError(f'{self.path}:{self.line}: {what}')

    # --- Expressions ---

    def mask(self, *cpus):
        """As %*pb prints it: hexadecimal words of 32 bits, the highest first."""
        bits = 0
        for cpu in itertools.chain.from_iterable(
                parse_list(cpu) if isinstance(cpu, str) else [cpu] for cpu in cpus):
            if cpu >= self.width:
                self.fail(f'CPU {cpu} is beyond the width')
            bits |= 1 << cpu
        words = []
        for shift in range(0, self.width, 32):
            digits = (min(32, self.width - shift) + 3) // 4
            words.append(f'{bits >> shift & 0xffffffff:0{digits}x}')
        return ','.join(reversed(words))

    def compute(self, text, names):
        def value(node):
            if isinstance(node, ast.Constant) and isinstance(node.value, (int, str)):
                return node.value
            if isinstance(node, ast.Name) and node.id in names:
                return names[node.id]
            if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
                return OPERATORS[type(node.op)](value(node.left), value(node.right))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) \
                    and node.func.id == 'mask':
                return self.mask(*map(value, node.args))
            raise SyntaxError(ast.dump(node))

        try:
            return str(value(ast.parse(text.strip(), mode='eval').body))
        except (SyntaxError, TypeError, ZeroDivisionError) as error:
            return self.fail(f'{{{text}}}: {error}')

    def fill(self, text, names):
        """The text with names and expressions in it replaced."""
        text = re.sub(rf'\{{(\w+):{LIST}\}}', lambda match: str(names[match.group(1)]), text)
        return re.sub(r'\{([^{}]*)\}', lambda match: self.compute(match.group(1), names), text)

    def combinations(self, text, names):
        """All settings of the {name:LIST} in the text, on top of those given."""
        found = re.findall(rf'\{{(\w+):({LIST})\}}', text)
        for values in itertools.product(*(parse_list(numbers) for _, numbers in found)):
            yield {**names, **dict(zip((name for name, _ in found), values))}

    # --- Files ---

    def read(self, line, block):
        if line.startswith('\t') or (block and ' =' not in line):
            self.fail('a block without its file')
        if re.fullmatch(r'width \d+', line):
            self.width = int(line.split()[1])
            return
        if self.width is None:
            self.fail('needs its width first')
        match = re.fullmatch(r'((?:sys|proc)/\S+) (=|->)(?: (.*))?', line)
        for names in self.combinations(line.partition(' ')[0], {}):
            if match and match.group(2) == '->' and match.group(3):
                self.add(match.group(1), names, self.fill(match.group(3), names))
            elif match and match.group(2) == '=':
                self.add(match.group(1), names,
                         self.content(match.group(3), block, names).encode('utf-8'))
            elif re.fullmatch(r'(?:sys|proc)/\S+/', line):
                self.add(line.rstrip('/'), names, None)
            else:
                self.fail(f'neither file, link nor directory: {line}')

    def add(self, path, names, content):
        path = self.fill(path, names)
        if path in self.files:
            self.fail(f'{path} once more')
        self.files[path] = content

    def content(self, text, block, names):
        if not block:
            return self.fill(text or '', names) + '\n'
        kind, _, argument = (text or '').partition(' ')
        if kind == '':
            return ''.join(self.fill(line, inner) + '\n' for line in block
                           for inner in self.combinations(line, names))
        if kind == 'each':
            name, _, numbers = argument.partition(':')
            return '\n'.join(''.join(self.fill(line, {**names, name: number}) + '\n'
                                     for line in block) for number in parse_list(numbers)) + '\n'
        if kind == 'table':
            return self.table(parse_list(argument), block)
        return self.fail(f'a block behind "{text}"')

    def table(self, cpus, block):
        rows = [' ' * 5 + ''.join(f'{"CPU%d" % cpu:>11}' for cpu in cpus) + ' ']
        for line in block:
            label, *words = line.split()
            if words and words[0].startswith('='):
                rows.append(f'{label:>5}{words[0][1:]:>11}')
                continue
            counts = dict.fromkeys(cpus, 0)
            while words and re.fullmatch(rf'(?:\*|{LIST}):\d+', words[0]):
                which, _, count = words.pop(0).partition(':')
                for cpu in cpus if which == '*' else parse_list(which):
                    if cpu not in counts:
                        self.fail(f'CPU {cpu} has no column')
                    counts[cpu] = int(count)
            rows.append(f'{label:>5}' + ''.join(f'{count:11}' for count in counts.values())
                        + '  ' + ' '.join(words))
        return '\n'.join(rows) + '\n'

    def write(self, directory):
        made = set()
        for path, content in self.files.items():
            target = os.path.join(directory, path)
            folder = target if content is None else os.path.dirname(target)
            if folder not in made:
                os.makedirs(folder, exist_ok=True)
                made.add(folder)
            if isinstance(content, str):
                os.symlink(content, target)
            elif content is not None:
                with open(target, 'wb', buffering=0) as file:
                    file.write(content)


# --- Tests ---

def simulator(source):
    """How to start one of the Python programs here, as quickly as Python can be started."""
    return [sys.executable, '-SE', HERE / source]


class Skip(Exception):
    """What this machine lacks for a test."""


class Failed(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failed(what)


def equal(got, wanted, what):
    check(got == wanted, f'{what}: {got!r} instead of {wanted!r}')


def asan_environment(*more, environment=os.environ):
    """For a program into which a library is preloaded: it comes before the sanitizer's, which refuses to
    start unless it is told to accept that."""
    options = [environment.get('ASAN_OPTIONS'), *more, 'verify_asan_link_order=0']
    return {'ASAN_OPTIONS': ':'.join(filter(None, options))}


def asan_options(environment=os.environ):
    """The same as a word for env(1)."""
    return f'ASAN_OPTIONS={asan_environment(environment=environment)["ASAN_OPTIONS"]}'


def memory_directory():
    """Where files are in memory: machines are thousands of them, and disks take their time. None,
    which is the usual place, where there is none that takes a few machines, or programs."""
    try:
        shm = os.statvfs('/dev/shm')
    except OSError:
        return None
    if not os.access('/dev/shm', os.W_OK | os.X_OK) or shm.f_flag & os.ST_NOEXEC or \
            shm.f_bavail * shm.f_frsize < 256 << 20:
        return None
    return '/dev/shm'


def words_alone(as_root=False):
    """What goes in front of a command that sees no processes but its own, and ends with them. An ordinary
    user stays that user, or is root there."""
    user = [] if os.geteuid() == 0 else ['--map-root-user' if as_root else '--map-current-user']
    return ['unshare', *user, '--pid', '--fork', '--kill-child', '--mount-proc']


def be_alone():
    """Goes on where a test sees no processes but its own, if it may: setters look at all processes;
    those of the host take time, and one of them may be an irqbalance."""
    alone = words_alone()
    if 'IS_ALONE' in os.environ or subprocess.run([*alone, 'true'], capture_output=True, check=False).returncode:
        return
    os.environ['IS_ALONE'] = '1'
    # The shell waits for processes whose parents have ended.
    os.execvp(alone[0], [*alone, 'sh', '-c', '"$@"; exit $?', 'sh', sys.executable, *sys.argv])


def beside_irqbalance(setter, user=''):
    """The words in front of a command that runs beside an irqbalance without a socket, which `user` (setpriv
    and its options) starts."""
    program = setter.run_directory / 'irqbalance'
    if not program.exists():
        shutil.copy(shutil.which('sleep'), program)
    script = user + ''' /run/irqbalance 1000 &
        until grep -qx irqbalance /proc/$!/comm; do sleep 0.05; done
        exec "$@"'''
    return ['sh', '-c', script, 'sh']


@contextlib.contextmanager
def repeating(work, pause):
    """Calls work() again and again, in another thread, while its block runs; each time after a pause."""
    done = threading.Event()

    def repeat():
        while not done.wait(pause):
            work()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


class Machine:
    """A described machine, as files in a directory of its own until it is closed."""

    def __init__(self, name):
        self.name = name
        self.holder = tempfile.TemporaryDirectory(prefix=f'{name}.', dir=memory_directory())
        self.root = pathlib.Path(self.holder.name)
        self.description = Description(HERE / 'machines' / f'{name}.machine')
        self.description.write(self.root)
        # An empty one hides the cgroups of the machine that the test runs on.
        (self.root / 'sys/fs').mkdir(parents=True, exist_ok=True)
        self.written = []  # what write() was called with

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.holder.cleanup()

    def write(self, path, text):
        """Changes one file of the machine, or adds it."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding='utf-8')
        self.written.append(path)

    def remove(self, path):
        (self.root / path).unlink()

    def prepare_user(self, program):
        """For run(): the program, and the words in front of it that make it somebody's who is not
        root, whoever runs the test."""
        if os.geteuid() != 0:
            return program, []
        # A copy, for root's folders are closed to others.
        self.root.chmod(0o755)
        copy = self.root / pathlib.Path(program).name
        shutil.copy(program, copy)
        return copy, ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']

    def run(self, *command, allowed=None, env=None, timeout=60, root=False, alone=False):
        """Runs a command on the machine. `allowed`, a CPU list, is what the scheduler says there
        (allowed.c); without it the real CPUs show through. With `root` the command is root there,
        whoever runs the test. `alone`: it sees no processes but its own, and ends with them."""
        environment = {**os.environ, 'LC_ALL': 'C', **(env or {})}
        wrapper = [os.environ['SYSROOT'], *(['--root'] if root else []), str(self.root), '--']
        if alone:
            wrapper = [*words_alone(), *wrapper]
        if allowed is not None:
            cpus = parse_list(allowed)
            digits = ''.join('01'[cpu in cpus] for cpu in range(self.description.width))
            # Preloaded by env(1), so that sysroot itself is not affected.
            wrapper += ['env', f'LD_PRELOAD={os.environ["ALLOWED"]}',
                        f'TEST_ALLOWED_CPUS={digits}', asan_options(environment)]
        result = subprocess.run([*wrapper, *map(str, command)], stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, errors='backslashreplace',
                                env=environment, timeout=timeout, check=False)
        if (result.returncode == 77 and result.stderr.startswith('sysroot: ')) or \
                (alone and result.stderr.startswith('unshare: ')):
            raise Skip(result.stderr.strip())
        return result


class Setter:
    """A setter on a described machine, which has a /run of its own: what it changes there, and
    whether it puts that back.

    The machine's files are plain: nothing clamps or refuses, and a choice ("always [madvise] never")
    that is overwritten by one of its words is shown as the kernel would show it only after the
    tool has ended. self.box is the machine, to be changed before the first run.
    """

    CHOICE = re.compile(rb'(?:[\w+-]+ )*\[([\w+-]+)\](?: [\w+-]+)*\n?')
    ANYTHING = object()
    BOOT_ID = '5e77e12f-0000-4000-8000-000000000001'
    RESOLUTION_NS = 50 * 1000 * 1000  # several ticks of the slowest kernel
    # A tool that moves threads must see only the processes of the test, and so must one that looks for an
    # irqbalance: one of this machine, or of another test beside this one, is not meant.
    ALONE = ('smt-off', 'cpu-shield', 'irq-steer')

    def __init__(self, tool, name, *, allowed=None):
        self.tool = pathlib.Path(tool)
        self.alone = self.tool.name in self.ALONE
        self.allowed = allowed
        self.box = Machine(name)
        self.run_directory = self.box.root / 'run'
        self.run_directory.mkdir()
        # A setter must not find settings of the machine that the test runs on, let alone write
        # them: an empty one hides those that are not described. proc/sys is there in any case, for
        # the boot id.
        for directory in ('sys/kernel', 'proc/irq'):
            (self.box.root / directory).mkdir(parents=True, exist_ok=True)
        if not (self.box.root / 'proc/swaps').exists():
            self.box.write('proc/swaps', 'Filename\tType\tSize\tUsed\tPriority\n')
        boot_id = 'proc/sys/kernel/random/boot_id'
        if not (self.box.root / boot_id).exists():
            self.box.write(boot_id, self.BOOT_ID + '\n')
        self.choices = {}
        self.n_noted = None  # of box.written
        self.entries = {}
        self.transcript = ''  # what a person would have seen: commands, and what they printed

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.box.holder.cleanup()

    # --- What there is ---

    def walk(self):
        """(path, os.DirEntry) of all that there is."""
        folders = ['sys', 'proc']
        while folders:
            folder = folders.pop()
            with os.scandir(f'{self.box.root}/{folder}') as entries:
                for entry in entries:
                    path = f'{folder}/{entry.name}'
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(path)
                    yield path, entry

    def snapshot(self):
        """{path: bytes of a file, text of a link's target, or None of a directory}"""
        tree = {}
        for name, entry in self.walk():
            if entry.is_symlink():
                tree[name] = os.readlink(entry)
            elif entry.is_dir():
                tree[name] = None
            else:
                tree[name] = self.read_entry(name, entry)
        return tree

    def read_entry(self, name, entry):
        """The bytes of a file, which is read anew only when it was touched: most files are the same in
        all snapshots of a test. The time of a file tells that once it is older than its resolution."""
        st = entry.stat(follow_symlinks=False)
        seen = st.st_ino, st.st_size, st.st_ctime_ns
        known = self.entries.get(name)
        if known and known[0] == seen:
            return known[1]
        now = time.time_ns()
        with open(entry, 'rb', buffering=0) as file:
            content = file.read()
        if st.st_ctime_ns < now - self.RESOLUTION_NS:
            self.entries[name] = seen, content
        return content

    def times(self):
        """When each file was written last."""
        return {name: entry.stat(follow_symlinks=False).st_mtime_ns for name, entry in self.walk()}

    @staticmethod
    def difference(before, after):
        """A line for each path whose entries differ; '' for none."""
        def show(tree, path):
            content = tree.get(path, 'nothing')
            if path not in tree:
                return 'nothing'
            return 'a directory' if content is None else repr(content)

        return '\n'.join(f'{path}: {show(before, path)} became {show(after, path)}'
                         for path in sorted({*before, *after})
                         if path not in before or path not in after or before[path] != after[path])

    def same(self, before, what):
        """Fails with what differs from an earlier snapshot()."""
        difference = self.difference(before, self.snapshot())
        check(not difference, f'{what}:\n{difference}')

    @property
    def journal_path(self):
        return self.run_directory / 'quiesce' / f'{self.tool.name}.journal'

    @property
    def journal(self):
        """Its bytes; None when there is none."""
        return self.journal_path.read_bytes() if self.journal_path.exists() else None

    def left_over(self):
        """What stands in /run/quiesce beside the lock."""
        if not self.journal_path.parent.exists():
            return []
        return sorted(set(os.listdir(self.journal_path.parent)) - {'lock'})

    # --- Running it ---

    def note_choices(self):
        """Which files show a choice: of all files at first, later of those that the test has written."""
        if self.n_noted is None:
            files = self.snapshot()
        else:
            paths = ((name, self.box.root / name) for name in self.box.written[self.n_noted:])
            files = {name: path.read_bytes() for name, path in paths if path.is_file()}
        self.n_noted = len(self.box.written)
        for name, content in files.items():
            if isinstance(content, bytes) and b'[' in content and self.CHOICE.fullmatch(content):
                self.choices.setdefault(name, re.findall(rb'[\w+-]+', content))

    def render_choices(self):
        for name, words in self.choices.items():
            path = self.box.root / name
            word = path.read_bytes().strip() if path.is_file() else None
            if word in words:
                path.write_bytes(b' '.join(b'[%b]' % other if other == word else other
                                           for other in words) + b'\n')

    def run(self, *arguments, user=False, **options):
        """Runs the tool as root, or as somebody who is not."""
        self.note_choices()
        command = [self.tool]
        if user and os.geteuid() == 0:
            # A copy, for root's folders are closed to others.
            copy = self.run_directory / 'bin' / self.tool.name
            copy.parent.mkdir(exist_ok=True)
            copy.parent.chmod(0o755)
            shutil.copy(self.tool, copy)
            command = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups',
                       f'/run/bin/{self.tool.name}']
        result = self.box.run(*command, *arguments, allowed=self.allowed, root=not user,
                              **{'alone': self.alone, **options})
        self.render_choices()
        self.note_run(arguments, result, user=user)
        if self.tool.name in SETTERS and '--json' in arguments and result.stdout and 'list' not in arguments:
            wrong = schema.validate('setter-restore' if 'restore' in arguments else 'setter', result.stdout)
            check(not wrong, f'{arguments}: not as docs/schemas has it: {wrong}')
        return result

    def note_run(self, arguments, result, user=False):
        """What a person would have seen of a run, into the transcript."""
        prompt = '$' if user else '#'
        self.transcript += '\n' * bool(self.transcript)
        self.transcript += ' '.join([prompt, self.tool.name, *map(str, arguments)]) + '\n'
        self.transcript += result.stderr + result.stdout

    def run_with_kernel(self, source, *arguments, env=None, before=(), **options):
        """Runs the tool as root with a kernel behind the files: `source`, one of the Python programs
        here, see server.py. `before`: words in front of the command."""
        return self.box.run(*simulator(source), 'run', *before, 'env', f'LD_PRELOAD={os.environ["KERNEL"]}',
                            asan_options(), self.tool, *arguments, root=True, env=env,
                            alone=self.alone, **options)

    def succeed(self, *arguments, **options):
        """run() with exit status 0; its standard output."""
        result = self.run(*arguments, **options)
        check(result.returncode == 0,
              f'{arguments}: status {result.returncode}\n{result.stdout}{result.stderr}')
        return result.stdout

    def restore_all(self, before, what='restore'):
        """`restore`, which has nothing to say, and leaves nothing."""
        result = self.run('restore')
        equal((result.returncode, result.stderr), (0, ''), what)
        self.same(before, f'{what} left')
        equal(self.left_over(), [], f'{what}: left over')

    def cycle(self, *arguments, changes=None):
        """The whole life of a setting: status, --dry-run, apply, apply, status, restore, restore.

        `changes`, {path: text without its newline}, is all that apply is to change; None: anything,
        but something; ANYTHING: or nothing. Returns what status, dry-run, apply, again, applied (a status) and
        restore (with --verbose) printed, by these names."""
        before, times = self.snapshot(), self.times()
        out = {'status': self.succeed('status', *arguments, user=True)}
        out['dry-run'] = self.succeed('apply', '--dry-run', *arguments)
        self.same(before, 'status and --dry-run changed')
        equal(self.times(), times, 'status or --dry-run wrote')
        equal(self.left_over(), [], 'status or --dry-run left in /run/quiesce')

        out['apply'] = self.succeed('apply', *arguments)
        applied, times, journal = self.snapshot(), self.times(), self.journal
        if changes is None:
            check(self.difference(before, applied), 'apply changed nothing')
        elif changes is not self.ANYTHING:
            wanted = {**before, **{path: f'{text}\n'.encode() for path, text in changes.items()}}
            self.same(wanted, 'apply (wanted, got)')
        equal(journal is not None, before != applied, 'there is a journal')

        out['again'] = self.succeed('apply', *arguments)
        self.same(applied, 'apply changed, the second time')
        equal(self.times(), times, 'apply wrote, the second time')
        equal(self.journal, journal, 'journal after the second apply')
        out['applied'] = self.succeed('status', *arguments, user=True)
        self.same(applied, 'status changed')

        out['restore'] = self.succeed('restore', '--verbose')
        self.same(before, 'restore left')
        equal(self.left_over(), [], 'restore left in /run/quiesce')
        result = self.run('restore')
        equal((result.returncode, result.stdout, result.stderr), (0, '', ''), 'restore again')
        self.same(before, 'the second restore changed')
        return out


def seal_journal(text):
    """The bytes of a journal that was changed, with the checksum that it should have."""
    body = text[:text.rindex(b'\t') + 1]
    checksum = 0xcbf29ce484222325
    for byte in body:
        checksum = (checksum ^ byte) * 0x100000001b3 % 2 ** 64
    return body + b'%016x\n' % checksum


def make_journal(*knobs, tool, boot=Setter.BOOT_ID):
    """The bytes of a journal; each knob is (kind, path, old value, new value)."""
    lines = ['quiesce journal 2', f'boot\t{boot}', f'tool\t{tool}']
    lines += ['\t'.join(('knob', '0', '1', kind, path, 'a knob', old, new))
              for kind, path, old, new in knobs]
    return seal_journal('\n'.join([*lines, f'end\t{len(knobs)}\t']).encode())


def wait_for(state, what, seconds=60):
    """Waits until state() is true; a failure that says what, when that takes too long."""
    deadline = time.monotonic() + seconds
    while not state():
        check(time.monotonic() < deadline, f'not within {seconds} s: {what}')
        time.sleep(0.02)


def on_terminal(command, columns=80, stream='stdout', **options):
    """The exit status of a command that has a terminal of that width as its stdout, or as another stream, and what it
    writes there."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    written = b''
    with subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, **{stream: theirs},
                          **options) as process:
        os.close(theirs)
        # When nobody has the other side open any more, Linux says EIO, and not that this is the end.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 65536):
                written += part
        process.wait(60)
    os.close(ours)
    return process.returncode, written.decode().replace('\r\n', '\n')


def two_cpus():
    """Skips a test that binds threads, unless it has the real CPUs for it."""
    if not {0, 1} <= os.sched_getaffinity(0):
        raise Skip('the real CPUs 0 and 1 are wanted')


# In a shell: three threads, of which two have chosen a CPU, and what shows where they may run. A
# thread has its CPU and its name once it is sleep(1), and no longer taskset(1) or the shell.
THREE_THREADS = '''
    show() { for p in $a $b $c; do taskset -pc $p | sed 's/.*: //'; done | tr '\\n' ' '; echo; }
    taskset -c 0 sleep 1000 & a=$!
    taskset -c 1 sleep 1000 & b=$!
    sleep 1000 & c=$!
    for p in $a $b $c; do until grep -qx sleep /proc/$p/comm; do sleep 0.05; done; done
'''


def make_core(box):
    """Has the two CPUs of `vm-plain` be threads of a core, which can go offline. What hotplug.py is
    to know of them."""
    cpus = 'sys/devices/system/cpu'
    box.write(f'{cpus}/smt/control', 'on\n')
    box.write(f'{cpus}/smt/active', '1\n')
    for cpu in (0, 1):
        for name in ('thread_siblings', 'core_cpus'):
            box.write(f'{cpus}/cpu{cpu}/topology/{name}', '3\n')
            box.write(f'{cpus}/cpu{cpu}/topology/{name}_list', '0-1\n')
    return {'cores': [[0, 1]], 'width': 2, 'release': [6, 12]}


def machines():
    return sorted(path.stem for path in (HERE / 'machines').glob('*.machine'))


def tests_of(names):
    """The tests among the global names of a file: test_a_b() is "a b"."""
    return [(name[5:].replace('_', ' '), function) for name, function in names.items()
            if name.startswith('test_')]


def skip_all(name, why):
    """Ends the program as a TAP test that could not be run."""
    def test():
        raise Skip(why)
    run_tests([(name, test)])


def want_cpupower():
    """Skips a test in a build that cannot read what the test is about: test_without_cpupower.py has what such a
    build says and does."""
    if os.environ['LIBCPUPOWER'] == '0':
        raise Skip('built without libcpupower')


def skip_without_cpupower(name):
    """The same for a whole program of tests, which ends."""
    try:
        want_cpupower()
    except Skip as reason:
        skip_all(name, reason)


def bench_report(*arguments, status=0, says=None, stdin=subprocess.DEVNULL):
    """Standard output of bench-report, which is to end with that status and to say that."""
    result = subprocess.run([os.environ['BENCH_REPORT'], *map(str, arguments)], stdin=stdin,
                            capture_output=True, text=True, check=False,
                            env={**os.environ, 'LC_ALL': 'C', 'COLUMNS': '80'})
    equal(result.returncode, status, f'{arguments}: {result.stdout} {result.stderr}')
    if says:
        check(says in result.stderr, f'{arguments}: {result.stderr}')
    if '--json' in arguments and result.stdout:
        hold_to_schema(arguments, result.stdout)
    return result.stdout


def hold_to_schema(arguments, text):
    """What bench-report has printed is what docs/schemas says of that verb."""
    verb = arguments[0]
    if verb == 'merge' and not any(str(word).startswith(('-o', '--output')) for word in arguments):
        name = 'result'
    else:
        name = f'bench-report-{verb}'
    wrong = schema.validate(name, text)
    check(not wrong, f'{arguments}: not as docs/schemas has it: {wrong}')


def named_tests(tests):
    """Of (name, function) pairs those whose names contain one of the words on the command line; all
    where there is no word."""
    words = sys.argv[1:]
    return [test for test in tests if not words or any(word in test[0] for word in words)]


def without_waiting(said):
    """What runpinned says without that another test has the CPU."""
    return re.sub(r'^runpinned: CPU \d+ is taken by .*: waiting\n', '', said, flags=re.M)


def campaign_is_over():
    """$CAMPAIGNS_UNTIL is in seconds since the epoch. ./bootstrap test --full sets it: on a slow machine the campaigns
    would leave no time for the other tests."""
    return time.time() > float(os.environ.get('CAMPAIGNS_UNTIL') or 'inf')


def run_tests(tests, campaign=False):
    """Runs (name, function) pairs as a TAP test and ends the program. Those of a campaign begin only while it has time."""
    tests = list(tests)
    failed = False
    print(f'1..{len(tests)}')
    for number, (name, function) in enumerate(tests, 1):
        try:
            if campaign and campaign_is_over():
                raise Skip('the time that campaigns have is over')
            # A test may return a text that says how much it did.
            done = function()
            print(f'ok {number} - {name}{f": {done}" if isinstance(done, str) else ""}')
        except Skip as reason:
            print(f'ok {number} - {name} # SKIP {reason}')
        except Exception as error:  # pylint: disable=broad-except
            failed = True
            print(f'not ok {number} - {name}')
            for line in f'{type(error).__name__}: {error}'.split('\n'):
                print('#', line)
        sys.stdout.flush()
    sys.exit(failed)
