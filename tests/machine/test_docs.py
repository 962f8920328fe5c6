#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The documents: every link leads somewhere, and every command can be typed as it stands.

    test_docs.py SOURCES BUILD

What is a command:

- in docs/*.md, each line of a block that is fenced as `sh`; one that is fenced as `sh root` may need
  root, systemd, a network or another program;
- in README.md and docs/*.md, and in the EXAMPLES of man pages, each indented line that begins with a program of
  ours or one of examples/, with or without `$ `, sudo and a folder before it.

A setter is root on a described machine (machine.py), where the commands of a document come one after the
other. A document that has a user type one without sudo puts its folder on the path before. What else needs more than a user has is known by what it calls: NEEDS_MORE has the reasons, by which
it is counted as skipped.

All else in a document is text or output. A line that ends in a backslash goes on in the next one.

A command that is run is run by bash in a folder that has what the documents talk of: ./prog, ./old and
./new, results and a small git repository. The path is that of an ordinary user, without sbin. A list of CPUs becomes one that this machine has, runpinned
makes three runs, or ten where the command asks for more, and fifteen at most to settle something, and
isol-check measures for a second.

A command that is not run, and one that is run as well, has each option that it gives to a program
of ours held against that program's --help.
"""

import ast
import collections
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from machine import Failed, Setter, Skip, check, equal, run_tests

SOURCES, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:])
TOOLS = ('runpinned', 'runserved', 'bench-report', 'isol-check', 'cpu-shield', 'freq-pin', 'irq-steer', 'noise-off',
         'smt-off')
SCRIPTS = ('quiesce-gate', 'quiesce-bisect')
EXAMPLES = ('branches', 'copy', 'lookup', 'search')
CPU = str(min(os.sched_getaffinity(0)))
# A finding, or a question that is not settled, is no failure of a command.
MAY_FIND = re.compile(r'--decide|--fail-|isol-check|quiesce-gate|bench-report check')
SETTERS = ('cpu-shield', 'freq-pin', 'irq-steer', 'noise-off', 'smt-off')
SETTERS_MACHINE = 'amd-acpi'  # has all that their examples name
# What puts the folder of the setters on a user's path.
EXTENDS_PATH = re.compile(r'PATH=\$PATH(:[\w/]+/sbin)+')
# What is not run, and why.
NEEDS_MORE = (
    (r'^runserved\b', 'a service and a load, which test_serve.py has'),
    (r'\b(systemctl|journalctl)\b|--quiesce', 'systemd as PID 1, which tests/vm has'),
    (r'\bcpu-shield run\b', 'CPUs that are really shielded, which tests/vm has'),
    (r'\bquiesce-gate\b|\bgit (bisect|checkout)\b|^make\b', 'a project with a history, which test_ci.py has'),
    (r'\b(pyperf|hyperfine|mlr|perf(?!\.)|go test|wrk)\b|\.test\b|runpinned --harness (go|google-benchmark|jmh|pytest-benchmark)\b|\btheirs\.json', 'another program'),
    (r'\b(apt|bootstrap|meson|pkg-config)\b', 'a build of its own'),
    (r'\busermod\b', 'users that may be changed'),
    (r'\bscontrol\b|/usr/libexec/', "a node of Slurm's, which tests/slurm has"),
)
PAGES = sorted(path for path in SOURCES.glob('docs/*.md'))
COMMAND = re.compile(r'([$#] )?(sudo |git bisect run )?(\S*/)?'
                     rf'({"|".join((*TOOLS, *SCRIPTS, *EXAMPLES, "systemctl"))})( |$)')
# What a command says that this machine or this build cannot do. That is counted, and told.
CANNOT = re.compile('(?:user|mount) namespaces?|without libarchive|without cairo|there is only one CPU|'
                    '(?:jq|cc|make|clang): (?:command )?not found|build/examples/search: No such file')

Command = collections.namedtuple('Command', 'text runs')


def reason_not_to_run(text):
    """None for a command that can be run here."""
    return next((why for pattern, why in NEEDS_MORE if re.search(pattern, text)), None)


def setter_words(text):
    """The words of a setter's command that takes root; None of any other."""
    words = shlex.split(text.removeprefix('sudo '), comments=True)
    if not words or words[0] not in SETTERS or reason_not_to_run(text):
        return None
    return None if words[1:] and words[1] in ('list', '--help') else words


def tracked(pattern):
    """Files of the repository, or all where it is a tarball."""
    listed = subprocess.run(['git', '-C', SOURCES, 'ls-files', '-z', pattern], capture_output=True,
                            text=True, check=False)
    names = listed.stdout.split('\0')[:-1] if listed.returncode == 0 else []
    return [SOURCES / name for name in names] or sorted(SOURCES.rglob(pattern))


# --- Links. ---


def strip_code(text):
    text = re.sub(r'^```.*?^```$', '', text, flags=re.M | re.S)
    return re.sub(r'`[^`\n]*`', '', re.sub(r'^(    |\t).*$', '', text, flags=re.M))


def anchors(text):
    """As GitHub makes them of headings: small letters, no punctuation, hyphens for blanks."""
    found = set()
    for heading in re.findall(r'^#+ +(.*?)\s*$', re.sub(r'^```.*?^```$', '', text, flags=re.M | re.S), re.M):
        anchor = base = re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')
        number = 0
        while anchor in found:
            number += 1
            anchor = f'{base}-{number}'
        found.add(anchor)
    return found


def bad_links(path, text):
    bad = []
    for target in re.findall(r'\]\(([^)\s]+)\)', strip_code(text)) + re.findall(
            r'(?:src|href)="([^"]+)"', strip_code(text)):
        if re.match(r'[a-z]+:', target):
            continue
        name, _, anchor = target.partition('#')
        there = (path.parent / name).resolve() if name else path
        if not there.exists():
            bad.append(target)
        elif anchor and anchor not in anchors(text if there == path else there.read_text(encoding='utf-8')):
            bad.append(target)
    return bad


def check_links(path):
    text = path.read_text(encoding='utf-8')
    equal(bad_links(path, text), [], 'links that lead nowhere')
    return f'{len(re.findall(r"[]][(]", strip_code(text)))} links'


def check_link_samples():
    path = SOURCES / 'README.md'
    text = '# A `b`, c\n[x](#a-b-c) [y](docs) [z](docs/README.md#no-such) [w](no-such.md) [v](#b)\n'
    equal(bad_links(path, text), ['docs/README.md#no-such', 'no-such.md', '#b'], 'the sample')


# --- The picture of README.md. ---


def check_first_picture():
    """It shows what docs/make-pictures types, and the table below it has the figures that it shows."""
    maker = ast.parse((SOURCES / 'docs/make-pictures').read_text(encoding='utf-8'))
    commands = next(ast.literal_eval(node.value) for node in maker.body
                    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == 'FIRST')
    shown = (SOURCES / 'docs/pictures/first.txt').read_text(encoding='utf-8')
    equal(re.findall(r'^\$ (.*)', shown, re.M), [command for command, _ in commands], 'what is typed')
    shown = re.sub(r'\s', '', shown)  # Long lines are broken there.
    rows = re.findall(r'^\| (hyperfine [\d.]+|quiesce) \| (.*?) \| (.*?) \|$',
                      (SOURCES / 'README.md').read_text(encoding='utf-8'), re.M)
    equal(len(rows), 2, 'rows of the table')
    for tool, *cells in rows:
        for cell in (*cells, tool) if tool != 'quiesce' else cells:
            said = re.sub(r'`(\S+)` ran ([\d.]+) times faster, ± ([\d.]+)', r'\1 ran \2 ± \3 times faster', cell)
            check(re.sub(r'\s', '', said) in shown.replace("'", ''), f'README.md has {said!r}, and the picture has not')


# --- The scripts behind docs/noisy.md. ---


def check_noisy():
    """Each makes the symptom for which it is named. The core, the disk and the layout are as the machine has them."""
    with tempfile.TemporaryDirectory(prefix='docs.', dir=SCRATCH.name) as root:
        desk = Desk(root)
        for kind in ('preempted', 'irq', 'migrated'):
            if kind == 'migrated' and len(os.sched_getaffinity(0)) == 1:
                continue
            result = desk.run(f'examples/noisy -n 5 {kind}')
            equal(result.returncode, 0, f'{kind}: {result.stderr}')
            if 'stamped by the kernel' not in result.stdout:
                raise Skip('the kernel may not be asked for stamps and records here')
            check(re.search(rf'run \d+: .*\b{kind} [\d.]+ %', result.stderr), f'{kind}: {result.stderr}')


# --- Commands. ---


def join_lines(lines):
    return [line for line in re.sub(r'\\\n\s*', '', '\n'.join(lines)).split('\n') if line.strip()]


def fenced_commands(text):
    found = []
    for kind, block in re.findall(r'^```(sh(?: root)?)\n(.*?)^```$', text, re.M | re.S):
        found += [Command(line, kind == 'sh' or not reason_not_to_run(line)) for line in join_lines(block.splitlines())
                  if not line.startswith('#')]
    return found


def indented_commands(text):
    lines = [line.strip() for line in join_lines(text.splitlines()) if re.match(r' {4}|\t', line)]
    return [Command(re.sub(r'^[$#] ', '', line), not reason_not_to_run(line)) for line in lines
            if COMMAND.match(line)]


def markdown_commands(text):
    return fenced_commands(text) + indented_commands(re.sub(r'^```.*?^```$', '', text, flags=re.M | re.S))


def page_commands(text):
    """Of a man page's source: without its marks, and with the lines that "++" ends as lines."""
    text = re.sub(r'\\\\\+\+\n\s*', '', text)
    text = re.sub(r'^\t\*(.*?)\*?$', r'\t\1', text.replace('++\n', '\n\t'), flags=re.M)
    text = re.sub(r'^```\n(.*?)^```$', lambda block: re.sub('^', '\t', block[1], flags=re.M), text,
                  flags=re.M | re.S)
    parts = re.findall(r'^# (?:MORE )?EXAMPLES\n(.*?)(?=^# |\Z)', text, re.M | re.S)
    return indented_commands(''.join(parts).replace('\\*', '*'))


def help_of(tool):
    if tool not in HELP:
        result = subprocess.run([(SBIN if tool in OF_ROOT else BIN) / tool, '-h'], capture_output=True, text=True, check=True)
        HELP[tool] = result.stdout
        for verb in ('show', 'compare', 'trend', 'plot', 'check', 'slowest', 'fleet', 'merge', 'hist', 'dump',
                     'stats') if tool == 'bench-report' else ():
            HELP[tool] += subprocess.run([BIN / tool, verb, '--help'], capture_output=True, text=True,
                                         check=True).stdout
    return HELP[tool]


def unknown_options(text):
    """Options of our programs in a command that their --help does not have."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = '#'
    tool, unknown = None, []
    for word in lexer:
        name = word.rsplit('/', 1)[-1]
        if name in TOOLS + SCRIPTS:
            tool = name
        elif word in ('--', '|', '||', '&&', ';', '>', '>>') or re.match(r'\.{0,2}/|build/', word):
            tool = None
        elif tool and re.match(r'-[-a-zA-Z]', word):
            option = word.split('=')[0] if word.startswith('--') else word[:2]
            if not re.search(rf'(?<![\w-]){re.escape(option)}(?![\w-])', help_of(tool)):
                unknown.append(f'{tool} {option}')
    return unknown


def not_on_path(commands):
    """Commands that a user would type who does not have their program on the path."""
    extended, found = False, []
    for command in commands:
        extended = extended or EXTENDS_PATH.fullmatch(command.text)
        if command.text.split()[0] in OF_ROOT and not extended:
            found.append(command.text)
    return found


def missing_units(text):
    if not re.search(r'\bsystemctl\b', text):
        return []
    names = re.findall(r'[\w-]+\.(?:target|service|slice)\b', text)
    return [name for name in names if not list(SOURCES.glob(f'systemd/**/{name}*'))]


# --- The folder in which they are run. ---


def add_script(path, text):
    path.write_text('#!/bin/bash\n' + text, encoding='utf-8')
    path.chmod(0o755)


def tools_of_root():
    """Our programs that are installed in a folder that an ordinary user's path may lack."""
    installed = json.loads((BUILD / 'meson-info' / 'intro-installed.json').read_text(encoding='utf-8'))
    return {pathlib.Path(path).name for path in installed.values() if '/sbin/' in path}


def make_bin():
    """The programs; runpinned with few runs. What is typed comes later and takes its place."""
    for tool in TOOLS[1:]:
        ((SBIN if tool in OF_ROOT else BIN) / tool).symlink_to(BUILD / 'src' / tool)
    add_script(BIN / 'runpinned', 'case " $* " in\n'
               '*" --decide "*|*" --until"*|*" --min-time "*) set -- --max-runs 15 "$@" ;;\nesac\n'
               f'exec {BUILD}/src/runpinned -c {CPU} -n 3 -w 0 "$@"\n')
    for script in SCRIPTS:
        (BIN / script).symlink_to(SOURCES / 'contrib' / 'ci' / script)


class Desk:
    def __init__(self, root):
        path = ':'.join(folder for folder in os.environ['PATH'].split(':') if not folder.endswith('/sbin'))
        self.folder = pathlib.Path(root) / 'work'
        self.folder.mkdir()
        self.environment = {**os.environ, 'LC_ALL': 'C', 'PATH': f'{BIN}:{path}',
                            'XDG_STATE_HOME': root, 'TMPDIR': root, 'HOME': root,
                            'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_AUTHOR_NAME': 'a',
                            'GIT_AUTHOR_EMAIL': 'a@b', 'GIT_COMMITTER_NAME': 'a', 'GIT_COMMITTER_EMAIL': 'a@b'}
        (self.folder / 'build').symlink_to(BUILD)
        (self.folder / 'examples').symlink_to(SOURCES / 'examples')
        for name in ('copy', 'lookup'):
            (self.folder / name).symlink_to(BUILD / 'examples' / name)
        for name in ('prog', 'old', 'new', 'prog-old', 'prog-new', 'load.sh'):
            add_script(self.folder / name, 'for ((i = 0; i < 2000; i++)); do :; done; echo hello\n')
        (self.folder / 'file').write_text('needle\n', encoding='utf-8')
        (self.folder / 'Makefile').write_text('all:\n\tmkdir -p $(O) && cp prog $(O)\n', encoding='utf-8')
        (self.folder / 'results').mkdir()
        self.type('runpinned -o old.json --baseline ./old -- ./new')
        for name in ('before', 'result', 'yesterday', 'a1'):
            self.type(f'runpinned -n 10 -o {name}.json --name prog --control ./prog')
        self.type('runpinned -o both.json --command prog=./prog --baseline ./old -- ./new')
        shutil.copy(self.folder / 'old.json', self.folder / 'new.json')
        for copy in ('after', 'today', 'b1', 'old-1', 'new-1', 'results/1', 'results/2'):
            shutil.copy(self.folder / 'before.json', self.folder / f'{copy}.json')

        self.add_files_of_others()

    def add_files_of_others(self):
        """What harnesses have written, under the names that a user would give these files."""
        samples = SOURCES / 'tests' / 'unit' / 'import'
        for name, sample in (('go.txt', 'go.txt'), ('jmh.json', 'jmh.json'), ('saved.json', 'pytest-benchmark.json'),
                             ('of-asv.json', 'asv.json'), ('perf.csv', 'perf-stat.csv'), ('fio.json', 'fio.json'),
                             ('wrk.txt', '../harness/wrk.txt')):
            shutil.copy(samples / sample, self.folder / name)
        for n in range(1, 7):
            for side in ('old', 'new'):
                shutil.copy(samples / 'go.txt', self.folder / f'{side}-{n}.txt')
        shutil.copytree(samples / 'criterion', self.folder / 'target' / 'criterion')
        machine_of_asv = self.folder / 'results' / 'MACHINE'
        machine_of_asv.mkdir()
        shutil.copy(samples / 'asv.json', machine_of_asv / 'commit-environment.json')

    def extend_path(self):
        self.environment['PATH'] += f':{SBIN}'

    def run(self, text):
        return subprocess.run(['bash', '-c', text], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=240, check=False)

    def type(self, text):
        if EXTENDS_PATH.fullmatch(text):
            self.extend_path()
        text = re.sub(r'(-c |--cpus?[= ])\d[\d,-]*(?!\S)', rf'\g<1>{CPU}', text)
        text = re.sub(r'\b(runpinned .*?-n )\d{2,}\b', r'\g<1>10', text)
        text = re.sub(r'--measure=\d+\b', '--measure=1', text)
        result = self.run(text)
        allowed = {0, 3, 4} if MAY_FIND.search(text) else {0}
        if text.endswith('|| exit 1'):
            allowed.add(1)
        why = CANNOT.search(result.stderr)
        if result.returncode not in allowed and why:
            return why[0]
        check(result.returncode in allowed, f'{text}: status {result.returncode}: {result.stderr[-2000:]}')
        return None


class Machines:
    """The setters, each on a machine that stays as it left it."""

    def __init__(self):
        self.setters = {}

    def type(self, words):
        if words[0] not in self.setters:
            self.setters[words[0]] = Setter(BUILD / 'src' / words[0], SETTERS_MACHINE)
        self.setters[words[0]].succeed(*words[1:])

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        for setter in self.setters.values():
            setter.__exit__(*arguments)


def check_setters(commands):
    with Machines() as machines:
        for words in commands:
            machines.type(words)
    return f'{len(commands)} commands ran on a described machine'


def tell_skipped(commands):
    """One skip for a document, with how many there are of each reason."""
    reasons = collections.Counter(reason_not_to_run(command.text) for command in commands)
    raise Skip('; '.join(f'{n} want {why}' for why, n in reasons.items()))


def tests_of(path, commands):
    name = path.relative_to(SOURCES)
    setters = [words for words in (setter_words(command.text) for command in commands) if words]
    left_out = [command for command in commands if not command.runs]
    yield f'commands of {name}', lambda: check_commands(path, commands)
    if setters:
        yield f'setters of {name}', lambda: check_setters(setters)
    if left_out:
        yield f'commands of {name} that are not run', lambda: tell_skipped(left_out)


def check_commands(path, commands):
    ran, cannot = 0, []
    user = [command.runs and not setter_words(command.text) for command in commands]
    with tempfile.TemporaryDirectory(prefix='docs.', dir=SCRATCH.name) as root:
        desk = Desk(root) if any(user) else None
        if path.suffix == '.md':
            equal(not_on_path(commands), [], 'commands that a user does not have')
        elif desk:
            desk.extend_path()  # The pages of the setters are root's.
        for command, runs in zip(commands, user, strict=True):
            equal(unknown_options(command.text), [], f'options that are not there, in {command.text}')
            equal(missing_units(command.text), [], f'units that are not there, in {command.text}')
            if runs:
                ran += 1
                cannot += filter(None, [desk.type(command.text)])
    impossible = f', {len(cannot)} could not be done here ({", ".join(cannot)})' if cannot else ''
    return f'{ran} of {len(commands)} commands ran here{impossible}'


def check_command_samples():
    text = '```sh\nrunpinned -n 3 \\\n    ./prog\n```\n\n```sh root\nsystemctl x\n```\n```text\nno\n```\n'
    equal(fenced_commands(text), [('runpinned -n 3 ./prog', True), ('systemctl x', False)], 'fenced')
    equal(indented_commands('    $ bench-report show x\n    sudo runpinned ./p\n    sort: 3 runs\nrunpinned x\n'),
          [('bench-report show x', True), ('sudo runpinned ./p', True)], 'indented')
    equal(page_commands('\n# EXAMPLES\n\n\t# smt-off++\n# smt-off restore\n\n# MORE EXAMPLES\n\n\t*cpu-shield run -- x*++\n'
                        '*cpu-shield status*\n\n# SEE ALSO\n\n\tisol-check\n'),
          [('smt-off', True), ('smt-off restore', True), ('cpu-shield run -- x', False),
           ('cpu-shield status', True)], 'of a page')
    equal([setter_words(text) for text in ('sudo freq-pin base -c 3  # all', 'cpu-shield run -- x', 'smt-off --help',
                                           'bench-report show freq-pin')],
          [['freq-pin', 'base', '-c', '3'], None, None, None], 'setters')
    try:
        check_setters([['freq-pin', '--no-such']])
    except Failed:
        pass
    else:
        check(False, 'a setter that fails is not seen')
    equal(unknown_options('sudo runpinned --no-such -n 3 --decide 2 ./prog --own && bench-report show --nor'),
          ['runpinned --no-such', 'bench-report --nor'], 'options')
    typed = [Command(text, True) for text in ('sudo smt-off', 'smt-off status', 'PATH=$PATH:/usr/sbin', 'noise-off list')]
    equal(not_on_path(typed), ['smt-off status'], 'what is not on the path')
    equal(missing_units('systemctl start benchmark.target no-such.service'), ['no-such.service'], 'units')
    with tempfile.TemporaryDirectory(prefix='docs.', dir=SCRATCH.name) as root:
        desk = Desk(root)
        try:
            desk.type('runpinned --no-such ./prog')
        except Failed:
            return
    check(False, 'a command that fails is not seen')


SCRATCH = tempfile.TemporaryDirectory(prefix='docs.')
BIN, SBIN = (pathlib.Path(SCRATCH.name) / name for name in ('bin', 'sbin'))
BIN.mkdir()
SBIN.mkdir()
OF_ROOT = tools_of_root()
make_bin()
HELP = {}
DOCUMENTS = {path: markdown_commands(path.read_text(encoding='utf-8')) for path in (*PAGES, SOURCES / 'README.md')}
DOCUMENTS.update({path: page_commands(path.read_text(encoding='utf-8'))
                  for path in sorted(SOURCES.glob('man/*.scd'))})

run_tests([('links that lead nowhere are found', check_link_samples),
           ('the picture of README.md', check_first_picture),
           ('what examples/noisy is for', check_noisy),
           ('commands are found, and what is wrong with them', check_command_samples),
           *((f'links of {path.relative_to(SOURCES)}', lambda path=path: check_links(path))
             for path in tracked('*.md')),
           *(test for path, commands in DOCUMENTS.items() if commands
             for test in tests_of(path, commands))])
