#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts that are made to harm a terminal, in every place where a tool takes a text from a file: each
string and each name of a result, through every verb of bench-report in every form; each kind of file
of a machine, and each kind of name, through isol-check --sysroot and through what the setters show.
None of them may come out, nor break a line or a JSON document."""

import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree

import machine
from machine import Machine, check, equal

REPORT = os.environ['BENCH_REPORT']
ISOL_CHECK = os.environ['ISOL_CHECK']
RUNPINNED = os.environ['RUNPINNED']
SETTERS = [os.environ[name] for name in
           ('CPU_SHIELD', 'FREQ_PIN', 'IRQ_STEER', 'NOISE_OFF', 'SMT_OFF')]
CORPUS = pathlib.Path(os.environ['CORPUS'])
HAS_CAIRO = os.environ['HAS_CAIRO'] == '1'

# A title, a color, the same in one character, what turns the direction of text, an end of line of
# Unicode's, what is no character of XML's, and DEL.
POISON = 'a\x1b]0;owned\x07\x1b[31mb\x9b31m\x85\u202ec\u2066\u2028\ufffe\uffff\x7f\x08d'
FORGED = 'forged: line'
HARMFUL = re.compile('[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffe\uffff]')
POISON_LINE = f'{POISON}\r\n{FORGED}\n'
# The same in a file that is not JSON, which may hold any bytes.
POISON_BYTES = POISON.encode() + b'\x9b31m\xff\xc0\xaf'


def find_harm(data, what):
    """What of these bytes a terminal would obey, or be deceived by."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise machine.Failed(f'{what}: no UTF-8: {error} in {data!r}') from None
    harm = HARMFUL.search(text)
    if harm:
        at = harm.start()
        raise machine.Failed(f'{what}: U+{ord(text[at]):04X} in {text[max(at - 60, 0):at + 20]!r}')
    if text.startswith(FORGED) or f'\n{FORGED}' in text:
        raise machine.Failed(f'{what}: a line that the file has forged: {text!r}')
    return text


def run(command, what, *, json_out=False, statuses=(0, 1, 3), **options):
    """Runs it; its output is held against the rule. The exit status, and standard output."""
    result = subprocess.run([*map(str, command)], stdin=subprocess.DEVNULL, capture_output=True,
                            env={**os.environ, 'LC_ALL': 'C'}, timeout=120, check=False, **options)
    what = f'{what}: {" ".join(map(str, command[1:]))!r}'
    errors = find_harm(result.stderr, what)
    if 'namespaces' in errors or (result.returncode == 77 and errors.startswith('sysroot: ')):
        raise machine.Skip(errors.strip())
    text = find_harm(result.stdout, what)
    check(result.returncode in statuses, f'{what}: status {result.returncode}: {errors}')
    if json_out and result.returncode != 1:
        json.loads(text)
    return result.returncode, text


# --- Results ---

def make_result():
    """One of ours with all that is shown."""
    result = json.loads((CORPUS / 'reader' / 'own.json').read_text(encoding='utf-8'))
    result['metadata'] = {'tags': ['fast', 'new'], 'platform': 'Linux'}
    for benchmark in result['benchmarks']:
        del benchmark['runs'][6:]
        benchmark['metadata'].update({
            'hostname': 'box', 'cpu_model_name': 'CPU', 'quiesce_cpus': '3',
            'quiesce_cpus_reason': 'because', 'quiesce_version': '1', 'unit': 'second',
            'quiesce_isolated': '3', 'quiesce_environment': 'PATH', 'runnable_threads': 1,
            'loops': 1, 'command': 'sort x', 'quiesce_interleaved': 'a, b'})
        for run_of in benchmark['runs']:
            run_of['metadata']['date'] = '2026-01-01 00:00:00.000000'
    return result


def places(node, path=()):
    """The paths of all strings; a name of an object is its path and then None."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield (*path, key, None)
            yield from places(value, (*path, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from places(value, (*path, index))
    elif isinstance(node, str):
        yield path


def kinds(node):
    """One place of each kind: which run it is of does not matter."""
    found = {}
    for path in places(node):
        found.setdefault(tuple('*' if isinstance(part, int) else part for part in path), path)
    return list(found.values())


def poison(result, path, text):
    """A copy with that text in the place, behind what stands there; in all runs alike."""
    result = copy.deepcopy(result)

    def change(node, rest):
        if isinstance(node, list):
            for index, value in enumerate(node):
                if len(rest) == 1:
                    node[index] = value + text
                else:
                    change(value, rest[1:])
        elif len(rest) == 2 and rest[1] is None:
            if rest[0] in node:
                node[rest[0] + text] = node.pop(rest[0])
        elif len(rest) == 1:
            if rest[0] in node:
                node[rest[0]] += text
        elif rest[0] in node:
            change(node[rest[0]], rest[1:])

    change(result, path)
    check(json.dumps(result).count('owned') > 0, f'{path} was not changed')
    return result


def forms(hostile, clean, out):
    """Every verb in every form: (words, is it JSON?)."""
    for verb in ('show', 'stats', 'dump', 'hist', 'check', 'slowest'):
        yield [verb, clean, hostile], False
        yield [verb, '--json', hostile], True
    yield ['show', '--metadata', hostile], False
    yield ['show', '--json', '--metadata', hostile], True
    yield ['compare', hostile, clean], False
    yield ['compare', '--json', clean, hostile], True
    yield ['compare', '--table', clean, hostile, hostile], False
    yield ['compare', '--markdown', clean, hostile, hostile], False
    yield ['merge', clean, hostile], True
    yield ['merge', '--json', '-o', out / 'merged.json', hostile, clean], True
    if HAS_CAIRO:
        yield ['plot', '--json', '-o', out / 'picture.svg', hostile], True
        yield ['plot', '--json', '-o', out / 'picture.html', hostile, clean], True


def run_forms(hostile, clean, out, what, *, lines=False):
    """How many outputs there were. What one verb refuses, all but merge refuse alike. lines: only what
    has lines that could be forged."""
    n = 0
    refused, _ = run([REPORT, 'check', hostile], what)
    for words, is_json in forms(hostile, clean, out):
        if (refused == 1 and words[0] not in ('show', 'merge')) or (lines and is_json):
            continue
        run([REPORT, *words], what, json_out=is_json)
        n += 1
        for path in out.iterdir():
            find_harm(path.read_bytes(), f'{what}: {path.name}')
            path.unlink()
    return n, refused != 1


def test_results(text, least):
    """Each string and each name in turn."""
    result = make_result()
    with tempfile.TemporaryDirectory(dir=machine.memory_directory()) as directory:
        out, hostile = pathlib.Path(directory, 'out'), pathlib.Path(directory, 'hostile.json')
        clean = pathlib.Path(directory, 'clean.json')
        out.mkdir()
        clean.write_text(json.dumps(result))
        total = accepted = 0
        found = kinds(result)
        check(len(found) > 50, f'only {len(found)} places')
        for index, path in enumerate(found):
            # Escaped or as it is: a file may have either.
            hostile.write_text(json.dumps(poison(result, path, text), ensure_ascii=index % 2 == 0))
            n, good = run_forms(hostile, clean, out, f'{path}', lines='\n' in text)
            total += n
            accepted += good
        check(accepted >= least, f'only {accepted} of {len(found)} were no refusal')
        return f'{len(found)} places, {accepted} of them accepted, {total} outputs'


def test_bytes():
    """What is no UTF-8, in the whole file's place and in a string's."""
    text = json.dumps(make_result()).encode()
    with tempfile.TemporaryDirectory() as directory:
        out, hostile = pathlib.Path(directory, 'out'), pathlib.Path(directory, 'hostile.json')
        clean = pathlib.Path(directory, 'clean.json')
        out.mkdir()
        clean.write_bytes(text)
        for content in (POISON_BYTES, text.replace(b'because', POISON_BYTES),
                        text.replace(b'"hostname"', b'"' + POISON_BYTES + b'"')):
            hostile.write_bytes(content)
            run_forms(hostile, clean, out, repr(content[:40]))


def test_file_names():
    """The name of a file is no better than what stands in it."""
    with tempfile.TemporaryDirectory() as directory:
        out = pathlib.Path(directory, 'out')
        out.mkdir()
        clean = pathlib.Path(directory, 'clean.json')
        clean.write_text(json.dumps(make_result()))
        total = 0
        for name in (POISON + '.json', os.fsdecode(POISON_BYTES) + '.json',
                     f'a\n{FORGED}\n.json'):
            hostile = pathlib.Path(directory, name)
            shutil.copy(clean, hostile)
            total += run_forms(hostile, clean, out, 'the name')[1]
            hostile.write_text('no result')
            run_forms(hostile, clean, out, 'the name of a file that is refused')
            hostile.unlink()
            run_forms(hostile, clean, out, 'the name of a file that is not there')
        equal(total, 3, 'names')


def test_markup():
    """A name is text in Markdown and in XML, too."""
    name = '<b onclick="x">|`*[a](http://b)&c\\ \ufffe\uffff'
    with tempfile.TemporaryDirectory() as directory:
        path, svg = pathlib.Path(directory, 'markup.json'), pathlib.Path(directory, 'markup.svg')
        path.write_text(json.dumps({'version': '1.0', 'benchmarks': [
            {'metadata': {'name': name}, 'runs': [{'values': [1]}, {'values': [2]}]}]}))
        _, text = run([REPORT, 'show', '--markdown', path], 'Markdown', statuses=(0,))
        check('| &lt;b onclick="x"&gt;\\|\\`\\*\\[a](http://b)&amp;c\\\\ \\\\xef' in text, text)
        _, text = run([REPORT, 'check', '--format', 'junit', path], 'XML')
        case, = xml.etree.ElementTree.fromstring(text).iter('testcase')
        equal(case.get('name').split(' ')[:2], name.split(' ')[:2], 'the name in XML')
        if HAS_CAIRO:
            run([REPORT, 'plot', '-o', svg, path], 'a picture', statuses=(0,))
            xml.etree.ElementTree.parse(svg)


# --- Machines ---

def file_kinds(root):
    """A file of each kind: which CPU or line it is of does not matter."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = pathlib.Path(folder, name)
            if not path.is_symlink():
                found.setdefault(re.sub(r'\d+', 'N', str(path.relative_to(root))), []).append(path)
    return found


def hostile_words(content):
    """The words of a file with the poison behind each, so that its numbers are still read."""
    return re.sub(rb'[A-Za-z_]{3,}', lambda match: match.group() + POISON_BYTES, content)


def hostile_contents(content):
    """What a file may hold instead."""
    yield hostile_words(content).rstrip(b'\n') + b' ' + POISON_BYTES + b'\n'
    yield POISON_BYTES + b'\n'


def look(root, what, *forms):
    """isol-check at what stands in a directory. How many outputs."""
    for form in ('--verbose', '--json', *forms):
        run([ISOL_CHECK, '--sysroot', root, '--watch', '0', '-c', '1', form], what,
            json_out=form == '--json', statuses=(0, 1, 2, 3))
    return 2 + len(forms)


def test_machine(name):
    """Each kind of file of a machine in turn, then all at once, then the names of directories."""
    with Machine(name) as box:
        total = 0
        found = file_kinds(box.root)
        for kind, paths in sorted(found.items()):
            contents = [path.read_bytes() for path in paths]
            for index in range(2):
                for path, content in zip(paths, contents):
                    path.write_bytes(list(hostile_contents(content))[index])
                total += look(box.root, kind)
            for path, content in zip(paths, contents):
                path.write_bytes(content)
        for paths in found.values():
            for path in paths:
                path.write_bytes(hostile_words(path.read_bytes()))
        total += look(box.root, 'all of them', '--cmdline', '--pick')
        return f'{len(found)} kinds of files, {total} outputs'


def test_names(name):
    """Names in /sys and /proc: of devices, of sensors, of interrupts' actions, of cgroups."""
    with Machine(name) as box:
        folders = sorted({folder for folder, names, files in os.walk(box.root)
                          if names or files}, key=len)
        total, seen = 0, set()
        for folder in folders:
            kind = re.sub(r'\d+', 'N', folder)
            entries = sorted(os.listdir(folder))
            if kind in seen or not entries or folder == str(box.root):
                continue
            seen.add(kind)
            source = pathlib.Path(folder, entries[-1])
            target = os.fsencode(source) + POISON_BYTES.replace(b'/', b'') + b'\n' + FORGED.encode()
            if source.is_symlink():
                os.symlink(os.readlink(source), target)
            elif source.is_dir():
                shutil.copytree(os.fsencode(source), target, symlinks=True)
            else:
                shutil.copy(source, target)
            total += look(box.root, f'a name in {folder}')
            if os.path.isdir(target) and not os.path.islink(target):
                shutil.rmtree(target)
            else:
                os.unlink(target)
        return f'{len(seen)} kinds of folders, {total} outputs'


def test_setters(name):
    """What the setters show and say on such a machine."""
    with Machine(name) as box:
        boot_id = box.root / 'proc/sys/kernel/random/boot_id'
        if not boot_id.exists():
            box.write('proc/sys/kernel/random/boot_id', '5e77e12f-0000-4000-8000-000000000001\n')
        (box.root / 'run').mkdir(exist_ok=True)
        found = file_kinds(box.root)
        total = 0

        def show(what, *forms):
            for setter in SETTERS:
                for words in forms:
                    run([os.environ['SYSROOT'], '--root', box.root, '--', setter, *words], what,
                        json_out='--json' in words, statuses=(0, 1, 2, 3))
            return len(SETTERS) * len(forms)

        for kind, paths in sorted(found.items()):
            contents = [path.read_bytes() for path in paths]
            for path, content in zip(paths, contents):
                path.write_bytes(hostile_words(content) if any(map(str.isalpha, content.decode()))
                                 else POISON_BYTES + b'\n')
            total += show(kind, ['status'])
            for path, content in zip(paths, contents):
                path.write_bytes(content)
        for paths in found.values():
            for path in paths:
                path.write_bytes(hostile_words(path.read_bytes()))
        total += show('all of them', ['status'], ['status', '--json'], ['status', '-v'],
                      ['apply', '--dry-run', '-c', '1'])
        return f'{len(found)} kinds of files, {total} outputs'


# What a journal of each setter may not name, though a setter has knobs of that form. Of the files of
# the kernel, unit/test-journal.c has those that are refused in all journals.
STRANGE_KNOBS = {
    'cpu-shield': ('folder:/tmp/x', 'folder:/sys/fs/cgroup/../../../tmp/x', 'cgroup:/etc/passwd',
                   'cgroup:/proc/sys/kernel/core_pattern', 'watched:/sys/kernel/mm/ksm/run',
                   'controller:memory', 'dropin:ssh.service', 'slice:system.slice', 'tasks:/etc',
                   'inheritors:x', 'service:irqbalance.service'),
    'freq-pin': ('service:irqbalance.service', 'swap:/etc/passwd'),
    'irq-steer': ('service:ssh.service', 'dropin:ssh.service', 'irqbalance:x', 'slice:benchmark.slice'),
    'noise-off': ('service:irqbalance.service', 'folder:/sys/fs/cgroup/x'),
    'smt-off': ('service:irqbalance.service', 'swap:/etc/passwd'),
}


def test_strange_journals():
    """A journal that is whole, and has root turn what the setter of its name never turns."""
    for tool in SETTERS:
        with machine.Setter(tool, 'noisy-server') as setter:
            before = setter.snapshot()
            setter.journal_path.parent.mkdir(mode=0o755)
            for path in STRANGE_KNOBS[setter.tool.name]:
                journal = machine.make_journal(('word', path, 'running', 'stopped'),
                                               tool=setter.tool.name)
                setter.journal_path.write_bytes(journal)
                result = setter.run('restore')
                equal(result.returncode, 1, f'{setter.tool.name}, {path}: {result.stderr}')
                check(f'{setter.tool.name} never writes {path}' in result.stderr, result.stderr)
                setter.same(before, f'{path} changed')
                equal(setter.journal, journal, 'the journal')


def test_program():
    """A program that is measured, fails, and says such things; and its name."""
    with tempfile.TemporaryDirectory() as directory:
        program = os.path.join(os.fsencode(directory), POISON_BYTES.replace(b'/', b''))
        with open(program, 'wb') as file:
            file.write(b'#!/bin/sh\nprintf "%s\\n" "$1" >&2\nexit 7\n')
        os.chmod(program, 0o755)
        command = [os.fsdecode(program), os.fsdecode(POISON_BYTES)]
        cpu = str(min(os.sched_getaffinity(0)))
        _, text = run([RUNPINNED, '--dry-run', '-c', cpu, '--', *command], 'the plan',
                      statuses=(0,))
        check('owned' in text, text)
        result = subprocess.run([RUNPINNED, '-c', cpu, '-n', '2', '-w', '0', '--', *command],
                                capture_output=True, timeout=120, check=False)
        equal(result.returncode, 1, result.stderr)
        text = find_harm(result.stderr + result.stdout, 'a failed program')
        check('\n  | a\\x1b]0;owned' in text, text)


TESTS = [
    ('results, a text in one line', lambda: test_results(POISON, 35)),
    ('results, a text with line ends', lambda: test_results(POISON_LINE, 15)),
    ('results, no UTF-8', test_bytes),
    ('names of files', test_file_names),
    ('a name in markup', test_markup),
    ('isol-check, files', lambda: test_machine('noisy-server')),
    ('isol-check, names', lambda: test_names('noisy-server')),
    ('setters', lambda: test_setters('noisy-server')),
    ('journals', test_strange_journals),
    ('runpinned', test_program),
]

# These take long, and resemble the others.
LONG = ('results, a text with line ends', 'isol-check, names')

machine.run_tests(test for test in TESTS if not (os.environ.get('QUICK') and test[0] in LONG))
