#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/ci on a small repository with a true regression, one that is none, and no change at all."""

import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

import runner
from machine import Skip, check, equal, run_tests

GATE = pathlib.Path(os.environ['QUIESCE_GATE'])
BISECT = GATE.with_name('quiesce-bisect')
# These tell how to bisect.
DOCUMENTS = [GATE.parents[2] / name for name in ('docs/ci.md', 'man/quiesce-gate.1.scd')]
TOOLS = [pathlib.Path(os.environ[name]).resolve() for name in ('RUNPINNED', 'RUNSERVED', 'BENCH_REPORT')]
# A busy machine may leave a comparison unsettled.
ATTEMPTS = 5
# The name of a file, which the program is to read.
STRANGE = "it's & late\n"
PROGRAM = '''
#include <stdio.h>
#include "work.h"

int main(int argc, char *argv[])
{
	volatile unsigned long sum = 0;

	if (argc > 1 && !fopen(argv[1], "r"))
		return 3;
	for (unsigned long i = 0; i < WORK * 1000000UL; i++)
		sum += i;
	return 0;
}
'''


class Repository:
    """Its commits are the branches `first`, `slower` and `same`; the build makes out/prog."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        tools = self.root / 'tools'
        tools.mkdir()
        for tool in (*TOOLS, BISECT):
            (tools / tool.name).symlink_to(tool)
        self.folder = self.root / 'a folder'
        self.folder.mkdir()
        self.environment = {
            'PATH': f'{tools}:{os.environ["PATH"]}', 'LC_ALL': 'C', 'HOME': root, 'TMPDIR': root,
            'XDG_STATE_HOME': f'{root}/state', 'GIT_CONFIG_GLOBAL': '/dev/null',
            'GIT_AUTHOR_NAME': 'a', 'GIT_AUTHOR_EMAIL': 'a@b', 'GIT_COMMITTER_NAME': 'a',
            'GIT_COMMITTER_EMAIL': 'a@b'}
        self.git('init', '-q', '-b', 'first')
        self.write('prog.c', PROGRAM)
        self.write(STRANGE, 'of the tree')
        self.write('build.sh', 'mkdir -p out && ${CC:-cc} -O1 -o out/prog prog.c\n')
        self.commit('first', work=2)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def git(self, *arguments):
        return self.run('git', *arguments, status=0).stdout.strip()

    def commit(self, name, work=None):
        if work:
            self.write('work.h', f'#define WORK {work}\n')
        self.write('log', name)
        self.git('add', '-A', '.', ':!out')
        self.git('commit', '-q', '-m', name)
        return self.git('rev-parse', 'HEAD')

    def run(self, *command, status=None, **environment):
        result = subprocess.run([str(word) for word in command], cwd=self.folder,
                                env={**self.environment, **environment}, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=200, check=False)
        if status is not None:
            equal(result.returncode, status, f'{command}: {result.stdout} {result.stderr}')
        return result

    def gate(self, *arguments, **environment):
        """Again while it is not settled."""
        for _ in range(ATTEMPTS):
            result = self.run(GATE, '-b', 'sh build.sh', '-p', '20', *arguments, **environment)
            if result.returncode != 4:
                break
        left = [path.name for path in self.root.iterdir()
                if path.name not in ('tools', 'a folder', 'state', 'kept', 'own.conf')]
        equal(left, [], 'left behind')
        equal(self.git('worktree', 'list').count('\n'), 0, 'worktrees left')
        return result


def on_repository(function):
    def test():
        if not shutil.which('git') or not shutil.which('cc'):
            raise Skip('git or cc is not installed')
        with tempfile.TemporaryDirectory(prefix='ci & co.') as root:
            return function(Repository(root))
    return test


def check_verdicts(repository):
    repository.commit('slower', work=3)
    slower = repository.git('rev-parse', 'HEAD')
    repository.write('prog.c', PROGRAM.replace('int main', 'int unused(void) { return 1; }\nint main'))
    same = repository.commit('another layout', work=2)
    kept = repository.root / 'kept'
    summary = repository.root / 'kept' / 'step'

    build = f"grep SigIgn /proc/self/status >'{kept}/ignored'; sh build.sh"
    result = repository.gate('-d', kept, '-b', build, 'first~0', slower, '--', 'out/prog', f'{{tree}}/{STRANGE}',
                             GITHUB_STEP_SUMMARY=str(summary))
    equal(result.returncode, 3, result.stdout + result.stderr)
    ignored = int((kept / 'ignored').read_text().split()[1], 16)
    equal([number for number in (signal.SIGINT, signal.SIGQUIT) if ignored >> (number - 1) & 1], [],
          'signals that a build ignores')
    check('**slower by more than 10 %: +' in result.stdout, result.stdout)
    equal(summary.read_text(), (kept / 'summary.md').read_text(), 'the summary')
    check('| ' in result.stdout and slower[:12] in result.stdout, result.stdout)
    kept_result = json.loads((kept / 'result.json').read_text())
    equal(len(kept_result['benchmarks']), 2, 'benchmarks')
    said = {**kept_result.get('metadata', {}), **kept_result['benchmarks'][0].get('metadata', {})}
    equal(said['head_commit'], slower, 'the commit in the result')

    for head in (same, f'{slower}^'):
        result = repository.gate('first' if head != same else f'{slower}^', head, '--', 'out/prog')
        equal(result.returncode, 0, result.stdout + result.stderr)
        check('**not slower by 20 %' in result.stdout, result.stdout)


BESIDE = '''
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Finds a file beside itself, in both ways. */
int main(int argc, char *argv[])
{
	char self[PATH_MAX + 16] = "";
	volatile unsigned sum = 0;

	(void)argc;
	if (readlink("/proc/self/exe", self, PATH_MAX) < 0)
		return 4;
	if (access(strcat(dirname(self), "/beside"), R_OK) < 0 || access(strcat(dirname(argv[0]), "/beside"), R_OK) < 0)
		return 5;
	for (unsigned i = 0; i < 1000000; i++)
		sum += i;
	return 0;
}
'''
LINKED = 'mkdir -p out && ${CC:-cc} -O1 -static -o out/linked prog.c && touch out/beside && rm -f out/prog && '


def check_page_faults(repository, file):
    """Both programs of a result take the same, or one more for chance."""
    compared = json.loads(repository.run('bench-report', 'compare', '--json', file, status=0).stdout)
    faults = [compared['comparisons'][0][side]['minor_faults'] for side in ('old', 'new')]
    check(abs(faults[1] - faults[0]) <= 1, f'page faults {faults}')


def check_layouts(repository):
    """One build links its program and the other one copies it, byte for byte the same: they take the same page
    faults. The program finds a file beside itself."""
    repository.write('prog.c', BESIDE)
    repository.write('build.sh', LINKED + 'mv out/linked out/prog\n')
    linked = repository.commit('linked')
    repository.write('build.sh', LINKED + 'cp out/linked out/prog\n')
    copied = repository.commit('copied')
    kept = repository.root / 'kept'
    repository.gate('-d', kept, linked, copied, '--', 'out/prog')
    check_page_faults(repository, kept / 'result.json')

    # Alone, with what lies beside it, and as a folder. Of what is measured nothing is kept, so a program in the
    # place of runpinned looks at it.
    tool = repository.root / 'tools/runpinned'
    real = tool.resolve()
    tool.unlink()
    tool.write_text(f"""#!/usr/bin/env bash
case " $* " in *" --dry-run "*) exec {shlex.quote(str(real))} "$@" ;; esac
exec {shlex.quote(str(real))} "${{@//--no-save/"--output=$SAVED"}}"
""")
    tool.chmod(0o755)
    good = repository.root / 'good'
    repository.run('sh', 'build.sh', status=0)
    shutil.copytree(repository.folder / 'out', good)
    for number, given in enumerate((good / 'prog', good)):
        saved = repository.root / f'saved-{number}.json'
        for _ in range(ATTEMPTS):
            saved.unlink(missing_ok=True)
            result = repository.run(BISECT, '-b', LINKED + 'mv out/linked out/prog', '-p', '20', given, 'out/prog',
                                    SAVED=saved)
            if result.returncode != 125:
                break
        equal(result.returncode, 0, result.stderr)
        check_page_faults(repository, saved)
        equal(list(repository.root.glob('quiesce-bisect.*')), [], 'left behind')


# Its functions are linked in an order that depends on the seed; other words go to the compiler.
SHUFFLE = '''mkdir -p out
seed=$1
[ $# -eq 0 ] || shift
for i in $(seq 6 | awk -v s="$seed" '{ print $1 * s % 7, $1 }' | sort -n | cut -d' ' -f2); do
	echo "int f$i(int a) { return a + $i; }"
done >out/order.c
${CC:-cc} -O1 "$@" -o out/prog prog.c out/order.c
'''
NO_LAYOUTS = (
    (('--layouts', '2'), 2, '--layouts 2: a number from 3 to 9999 is wanted; see quiesce-gate --help'),
    (('--layouts=3',), 2, 'needs {layout} or {seed}'),
    (('--seed', '3'), 2, '--linker and --seed are for --layouts'),
    (('--layouts=3', '--seed=0', '-b', '{seed}'), 2, '--seed 0: a number from 1'),
    (('--layouts=3', '--linker', 'bfd', '-b', '{layout}'), 2, '--linker bfd: mold or lld is wanted'),
    (('--layouts=3', '-p', 'x', '-b', '{seed}'), 2, "--decide: 'x' is not"),
    (('--layouts=3', '-n', '0', '-b', '{seed}'), 2, "-n: '0' is not"),
    (('--layouts=3', '-u', '/', '-b', '{seed}'), 2, '--layouts is for programs, and not for the services of -l and -u'),
    (('--layouts=3', '-l', 'load {port}', '-b', '{seed}'), 2, '--layouts is for programs, and not for the services of -l'),
    (('--layouts=3', '-b', 'sh build.sh 1; true {seed}'), 2, 'nothing shuffles: base ('),
    (('--layouts=3', '-b', 'exit 3; {seed}'), 1, 'cannot be built by: exit 3; '),
)


def check_many_layouts(repository):
    """Each commit is built several times, and the seeds are kept; where nothing has moved, that is an error."""
    repository.write('build.sh', SHUFFLE)
    base = repository.commit('shuffled', work=2)
    head = repository.commit('slower', work=8)
    kept = repository.root / 'kept'
    builds = ('-b', 'sh build.sh {seed}', '-p', '50', '-n', '5')
    result = repository.gate('--layouts', '4', '--seed=11', '-d', kept, *builds, base, head, '--', 'out/prog')
    equal(result.returncode, 3, result.stdout + result.stderr)
    check('**slower by more than 25 %, by 4 layouts of each**' in result.stdout, result.stdout)
    check('Layouts: `--layouts 4 --seed 11`' in result.stdout and '  spread     between layouts ' in result.stdout,
          result.stdout)
    if shutil.which('nm'):
        check(re.search('of base [1-9][0-9]* of [0-9]+ functions have moved', result.stdout), result.stdout)
    runs = [run['metadata'] for run in json.loads((kept / 'result.json').read_text())['benchmarks'][1]['runs']
            if 'values' in run]
    equal({(run['layout'], run['layout_seed']) for run in runs}, {(str(at + 1), str(11 + at)) for at in range(4)}, 'seeds')
    equal(len(runs), 20, 'runs')
    result = repository.gate('--layouts=4', *builds, base, base, '--', 'out/prog')
    equal(result.returncode, 0, result.stdout + result.stderr)
    check('**not slower by 50 %, by 4 layouts of each**' in result.stdout, result.stdout)

    for tool, status in (GATE, 2), (BISECT, 128):
        result = repository.run(tool, '--layouts', status=status)
        check('--layouts needs a value' in result.stderr, result.stderr)
    result = repository.run(BISECT, '--layouts', '3', '-u', '/', base, 'out/prog', status=128)
    check('--layouts is for programs, and not for the services' in result.stderr, result.stderr)
    for arguments, status, says in NO_LAYOUTS:
        result = repository.gate(*arguments, base, head, '--', 'out/prog')
        equal(result.returncode, status, f'{arguments}: {result.stdout} {result.stderr}')
        check(says in result.stderr, f'{arguments}: {result.stderr}')
    # Each build differs, but nothing has moved.
    repository.write('prog.c', PROGRAM.replace('WORK *', '(WORK + 0 * sizeof(stamp)) *').replace(
        'int main', 'volatile long stamp = STAMP;\nint main'))
    stamped = repository.commit('stamped', work=2)
    if shutil.which('nm'):
        result = repository.gate('--layouts=3', '-b', 'sh build.sh 1 -DSTAMP={seed}', stamped, stamped, '--', 'out/prog')
        equal(result.returncode, 2, result.stdout + result.stderr)
        check('functions of out/prog lie in the same order' in result.stderr, result.stderr)
    # Without names that is not known.
    result = repository.gate('--layouts=3', *builds, '-b', 'sh build.sh {seed} -s -DSTAMP=$(date +%s%N)',
                             stamped, stamped, '--', 'out/prog')
    check('of base it is not known whether anything has moved' in result.stdout, result.stdout + result.stderr)

    # A figure of a script, of which the seed is all that changes.
    script = "mkdir -p out; printf '#!/bin/sh\\n# {seed}\\necho served %s\\n' $(cat rate) >out/prog; chmod +x out/prog"
    rates = []
    for rate in 1000, 700:
        repository.write('rate', str(rate))
        rates.append(repository.commit(f'rate {rate}'))
    for commits, status, says in ((rates, 3, '**worse by more than 10 %, by 3 layouts of each**'),
                                  (rates[::-1], 0, '**not worse by 20 %, by 3 layouts of each**')):
        result = repository.gate('--layouts=3', '-n', '3', '-b', script, '-f', 'rps,requests/s,higher=^served ([0-9]+)',
                                 '-m', 'rps', *commits, '--', 'out/prog')
        equal(result.returncode, status, result.stdout + result.stderr)
        check(says in result.stdout, result.stdout)

    for good, status in ((base, 1), ('no-such', 128)):
        for _ in range(ATTEMPTS):
            repository.git('checkout', '-q', head)
            result = repository.run(BISECT, '-b', 'sh build.sh {seed}', '-p', '50', '--layouts', '4', good, 'out/prog')
            if result.returncode != 125:
                break
        equal(result.returncode, status, result.stdout + result.stderr)


def check_linkers(repository):
    """Linkers that shuffle: the option of each is one that it knows, and by which functions move."""
    functions = ''.join(f'int f{at}(int a) {{ return a + {at}; }}\n' for at in range(20))
    repository.write('prog.c', functions + PROGRAM)
    base = repository.commit('functions', work=2)
    linkers = [name for name, program in (('mold', 'mold'), ('lld', 'ld.lld')) if shutil.which(program)]
    # gcc knows -fuse-ld=mold since version 12.
    if not linkers or not shutil.which('nm') or repository.run(
            'cc', '-ffunction-sections', f'-fuse-ld={linkers[0]}', '-DWORK=1', '-o', '/dev/null', 'prog.c').returncode:
        raise Skip('neither mold nor lld is there, or known to the compiler, or nm is not')
    build = 'mkdir -p out && cc -O1 -ffunction-sections {layout} -o out/prog prog.c'
    for linker in linkers:
        result = repository.gate('--layouts', '3', '-n', '2', '--linker', linker, '-b', build, base, base, '--', 'out/prog')
        moved = re.search('of base ([0-9]+) of ([0-9]+) functions have moved', result.stdout)
        check(moved and int(moved[1]) >= 15, result.stdout + result.stderr)


def check_failures(repository):
    repository.write('prog.c', 'this is no C')
    broken = repository.commit('broken')
    repository.write('prog.c', 'int main(void) { return 5; }')
    failing = repository.commit('failing')
    for arguments, status, says in (
            ((f'{broken}^', broken, '--', 'out/prog'), 1, 'head'),
            ((broken, f'{broken}^', '--', 'out/prog'), 1, 'base'),
            ((f'{broken}^', failing, '--', 'out/prog'), 1, 'exit status 5'),
            ((f'{broken}^', f'{broken}^', '--', 'out/no-such'), 1, 'leaves no program out/no-such'),
            (('no-such', broken, '--', 'out/prog'), 2, 'there is no commit no-such'),
            (('--', 'out/prog'), 2, 'BASE [HEAD] -- PROGRAM is wanted; see quiesce-gate --help'),
            ((broken, broken, '--'), 2, 'BASE [HEAD] -- PROGRAM is wanted'),
            ((broken, '--'), 2, 'BASE [HEAD] -- PROGRAM is wanted'),
            ((broken, broken, broken, '--', 'out/prog'), 2, 'BASE [HEAD] -- PROGRAM is wanted'),
            (('--improve', '3', broken, broken, '--', 'out/prog'), 2, '-p and --improve ask two questions'),
            (('--session',), 2, '--session needs a value'),
            (('--session=x', '-u', '/', broken, broken, '--', 'out/prog'), 2, '--session are for programs, and not'),
            (('--session', 'x', '--layouts=3', broken, broken, '--', 'out/prog'), 2, 'and not for --layouts'),
            (('-x', broken, broken, '--', 'out/prog'), 2, 'there is no option -x'),
            (('--frob', broken, broken, '--', 'out/prog'), 2, 'there is no option --frob'),
            (('-p',), 2, '-p needs a value'),
            (('-d', '/dev/null', broken, broken, '--', 'out/prog'), 1, 'the folder /dev/null cannot be made'),
            # Before anything is built.
            (('-p', 'x', broken, broken, '--', 'out/prog'), 2, "--decide: 'x' is not"),
            (('-n', '0', broken, broken, '--', 'out/prog'), 2, "--max-runs: '0' is not"),
            (('-n', '9', broken, broken, '--', 'out/prog'), 2,
             '--max-runs 9: a decision takes at least 10 pairs')):
        result = repository.gate(*arguments)
        equal(result.returncode, status, f'{arguments}: {result.stdout} {result.stderr}')
        check(says in result.stderr, f'{arguments}: {result.stderr}')
    for tool in (GATE, BISECT):
        # Where README.md has the tools on the path, these two are, too.
        copied = TOOLS[0].with_name(tool.name)
        equal((copied.read_bytes(), os.access(copied, os.X_OK)), (tool.read_bytes(), True), f'{copied}')
        result = repository.run(tool, '--help', status=0)
        check(all(len(line) <= 80 for line in result.stdout.splitlines()), 'too wide')
        equal(repository.run(tool, '-h', status=0).stdout, result.stdout, '-h')
        version = repository.run(tool, '--version', status=0).stdout
        check(re.fullmatch(rf'{tool.name} \(quiesce\) [0-9.]+\n', version), version)
        for option in '--help', '--version':
            for target in '>/dev/full', '>&-':
                result = repository.run('sh', '-c', f'"$0" {option} {target}', tool)
                equal((result.returncode, result.stderr), (
                    1 if tool == GATE else 128, f'{tool.name}: cannot write to standard output\n'), target)
    outside = subprocess.run([GATE, 'first', 'first', '--', 'out/prog'], cwd=repository.root,
                             env={**repository.environment, 'GIT_CEILING_DIRECTORIES': '/'},
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    equal(outside.returncode, 2, outside.stderr)
    check('is in no git repository' in outside.stderr, outside.stderr)


def check_interrupted(repository):
    """Ctrl-C while a program is built, or runs, or a signal to the script alone: nothing is left."""
    for send in (os.killpg, os.kill):
        for build in ('sh build.sh; touch ../started; sleep 100', 'sh build.sh; touch ../started'):
            number = signal.SIGINT if send == os.killpg else signal.SIGTERM
            check_interrupted_in(repository, build, send, number)


def check_interrupted_in(repository, build, send, number):
    process = subprocess.Popen([GATE, '-b', build, '-p', '1', 'first', 'first', '--', 'out/prog'],
                               cwd=repository.folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=repository.environment, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list(repository.root.glob('quiesce-gate.*/started')):
        check(time.monotonic() < deadline and process.poll() is None, 'it did not begin')
        time.sleep(0.01)
    send(process.pid, number)
    process.wait(timeout=60)
    equal(process.returncode, 128 + number, 'status')
    equal(list(repository.root.glob('quiesce-gate.*')), [], 'left behind')
    equal(repository.git('worktree', 'list').count('\n'), 0, 'worktrees left')


def read_recipe():
    """The commands of the documents, for the repository above, which may be busy."""
    commands = re.compile(r'^git checkout v1.0 .*^git bisect reset [^\n]*', re.M | re.S)
    recipe, other = (commands.search(path.read_text())[0] for path in DOCUMENTS)
    equal(recipe, other, 'the documents')
    for old, new in ((' make ', ' sh build.sh '), ('quiesce-bisect', "quiesce-bisect -b 'sh build.sh' -p 20"),
                     ('build/prog', 'out/prog'), ('--size 1000', shlex.quote(STRANGE))):
        check(old in recipe, f'{old!r} is not in {recipe}')
        recipe = recipe.replace(old, new)
    return recipe


def check_bisection(repository):
    """The commit that made it slower is found among 20, one of which cannot be built, as documents say."""
    repository.git('tag', 'v1.0')
    for number in range(1, 20):
        repository.write('prog.c', 'broken' if number == 9 else PROGRAM)
        commit = repository.commit(f'commit {number}', work=2 if number < 13 else 3)
        if number == 13:
            wanted = commit
    repository.git('branch', '-m', 'main')
    recipe = read_recipe()
    for _ in range(ATTEMPTS):
        result = repository.run('bash', '-c', recipe)
        found = re.search('([0-9a-f]{40}) is the first bad commit', result.stdout)
        if found:
            break
    equal(found and found[1], wanted, result.stdout + result.stderr)
    good = repository.root / 'good-prog'
    for arguments, says in (((), 'GOOD PROGRAM is wanted'), (('-x',), 'there is no option -x'),
                            (('/no/such', 'out/prog'), 'there is no program /no/such'),
                            ((repository.root, 'out/prog'), 'there is no program'),
                            (('-p', 'x', good, 'out/prog'), "--decide: 'x' is not")):
        result = repository.run(BISECT, '-b', 'touch ../built', *arguments)
        equal(result.returncode, 128, f'{arguments}: {result.stderr}')
        check(says in result.stderr, f'{arguments}: {result.stderr}')
    check(not (repository.root / 'built').exists(), 'it was built')
    result = repository.run(BISECT, '-b', 'true', good, 'no-such')
    equal(result.returncode, 125, result.stderr)
    check('the build leaves no program ./no-such' in result.stderr, result.stderr)
    # A program at the top of the tree is a path, too.
    for _ in range(ATTEMPTS):
        result = repository.run(BISECT, '-b', f"cp '{good}' prog", '-p', '20', good, 'prog')
        if result.returncode != 125:
            break
    equal(result.returncode, 0, result.stderr)


def check_figures(repository):
    """A program that measures for a time of its own is judged by what it says, also by the files of harnesses."""
    served = ('-f', 'rps,requests/s,higher=^served ([0-9]+)')
    harness = repository.root / 'own.conf'
    harness.write_text('[rps]\nMatch=^served ([0-9]+)\nUnit=requests/s\nBetter=higher\n[p99]\nMatch=^p99 ([0-9]+)\n'
                       'Unit=us\n')
    repository.write('build.sh', 'mkdir -p out && cp prog.sh out/prog && chmod +x out/prog\n')

    def commit(name, rate, latency):
        repository.write('prog.sh', f'#!/bin/sh\nsleep 0.01\necho served {rate}\necho p99 {latency}\n')
        return repository.commit(name)

    old, fewer, more = commit('old', 1000, 500), commit('fewer', 700, 500), commit('more', 1400, 900)
    for options, head, status, says in (
            (served, fewer, 3, 'more than 10 % fewer requests/s: -30 %'),
            (served, more, 0, 'not 20 % fewer requests/s, and more than 10 % more requests/s: +40 %'),
            (('-H', harness), fewer, 3, 'more than 10 % fewer requests/s: -30 %'),
            (('-H', harness, '-m', 'p99'), fewer, 0, 'p99 not longer by 20 %: 0 %'),
            (('-H', harness, '-m', 'p99'), more, 3, 'p99 longer by more than 10 %: +80 %')):
        result = repository.gate(*options, old, head, '--', 'out/prog')
        equal(result.returncode, status, f'{options}: {result.stdout} {result.stderr}')
        check(f'**{says}' in result.stdout, f'{options}: {result.stdout}')
    result = repository.run(GATE, '-H', 'no such', old, fewer, '--', 'out/prog', status=2)
    check("there is no 'no such'" in result.stderr, result.stderr)
    good = repository.root / 'good-prog'
    good.write_text('#!/bin/sh\necho served 1000; echo p99 500\n')
    good.chmod(0o755)
    for options, status in ((served, 0), (('-H', harness), 0), (('-H', harness, '-m', 'p99'), 1)):
        result = repository.run(BISECT, '-b', 'sh build.sh', *options, good, 'out/prog')
        equal(result.returncode, status, f'{options}: {result.stderr}')


RATED = '''#!/bin/sh
at=$(cat "$0.at" 2>/dev/null || echo 0)
echo $((at + 1)) >"$0.at"
read -r times rate <"$0.luck"
[ "$at" -lt "$times" ] || rate=1000
echo served "$rate"
'''
WITH_LUCK = 'mkdir -p out && cp luck out/prog.luck && cp prog.sh out/prog && chmod +x out/prog\n'
SERVED = ('-f', 'rps,requests/s,higher=^served ([0-9]+)')


def commit_rated(repository, times, rate):
    """A program whose first runs serve so many requests, and each later one 1000."""
    repository.write('build.sh', WITH_LUCK)
    repository.write('prog.sh', RATED)
    repository.write('luck', f'{times} {rate}\n')
    return repository.commit(f'{times} times {rate}')


def read_files(folder):
    return {path.relative_to(folder): (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes())
            for path in folder.rglob('*') if path.is_file() and not path.is_symlink()}


def check_working_tree(repository):
    """Without HEAD, BASE is compared with what lies in the working tree, of which nothing is changed."""
    folder, kept = repository.folder, repository.root / 'kept'
    kept.mkdir()
    repository.write('.gitignore', 'ignored\n/out\n')
    repository.write('gone', 'a file\n')
    repository.write('becomes a link', 'a file\n')
    (folder / 'sub').mkdir()
    repository.write('sub/folder', 'a file\n')
    for name in 'module', 'same module':
        other = repository.root / 'kept' / name
        repository.run('git', 'init', '-q', other, status=0)
        repository.run('git', '-C', other, 'commit', '-q', '--allow-empty', '-m', 'first', status=0)
        repository.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, name)
    base = commit_rated(repository, 1000, 1000)

    build = f"sh build.sh; git status --porcelain -uall >'{kept}'/status-${{PWD##*/}}; " \
        f"find . -path ./.git -prune -o -printf '%P\\0' >'{kept}'/files-${{PWD##*/}}"
    command = ('-b', build, *SERVED, '-d', kept, base, '--', 'out/prog')
    result = repository.gate(*command)
    equal(result.returncode, 0, f'no change: {result.stdout} {result.stderr}')
    check(f'warning: the working tree is as {base}: nothing has changed' in result.stderr, result.stderr)
    check(f'### prog: base {base[:12]}, head {base[:12]}\n' in result.stdout, result.stdout)

    # Changed, staged and changed again, staged and gone, of another kind, untracked, ignored.
    repository.write('luck', '1000 700\n')
    repository.write('staged', 'as it was staged')
    repository.write('staged and gone', '')
    repository.git('add', 'staged', 'staged and gone')
    (folder / 'staged').unlink()
    (folder / 'staged').symlink_to('gone')
    for name in 'gone', 'staged and gone', 'becomes a link', 'sub/folder':
        (folder / name).unlink()
    (folder / 'becomes a link').symlink_to('/no/such')
    (folder / 'sub/folder').mkdir()
    for name in '-untracked\n', 'sub/folder/untracked', 'ignored', 'out/ignored':
        (folder / name).parent.mkdir(exist_ok=True)
        repository.write(name, 'new\n')
    (folder / '-untracked\n').chmod(0o755)
    repository.run('git', 'init', '-q', 'own', status=0)
    repository.run('git', '-C', 'own', 'commit', '-q', '--allow-empty', '-m', 'first', status=0)
    repository.run('git', '-C', 'module', 'commit', '-q', '--allow-empty', '-m', 'second', status=0)
    status = repository.run('git', 'status', '--porcelain', '-uall', status=0).stdout
    before = read_files(folder)
    for where in '.', 'sub':
        for path in kept.glob('files-*'):
            path.unlink()
        result = repository.gate(*command) if where == '.' else repository.run(
            'sh', '-c', 'cd sub && exec "$@"', 'sh', GATE, '-p', '20', *command)
        equal(result.returncode, 3, f'{where}: {result.stdout} {result.stderr}')
        check('**more than 10 % fewer requests/s: -30 %' in result.stdout, result.stdout)
        check(f'### prog: base {base[:12]}, head the working tree on {base[:12]}\n' in result.stdout, result.stdout)
        equal(sorted(line for line in result.stderr.splitlines() if 'warning: ' in line), [
            'quiesce-gate: warning: module is a submodule: its changes are not compared',
            'quiesce-gate: warning: own/ is a repository of its own, and is not compared'], 'warnings')
        equal(read_files(folder), before, 'the tree, its index and its objects')
        files = set((kept / 'files-head').read_text().split('\0'))
        wanted = {'-untracked\n', 'sub/folder/untracked', 'staged', 'becomes a link', STRANGE, 'luck', 'module'}
        equal(wanted - files, set(), 'files that are not compared')
        equal({'ignored', 'out/ignored', 'gone', 'staged and gone', 'own'} & files, set(), 'files that are compared')
        check('gone' in (kept / 'files-base').read_text().split('\0'), 'the files of the base')
    said = json.loads((kept / 'result.json').read_text())
    facts = {**said.get('metadata', {}), **said['benchmarks'][-1]['metadata']}
    equal(facts['head_commit'], f'{base}-dirty', 'the commit')
    # What has changed is the same for git in the copy, but for what is staged and for repositories in it.
    equal({line[3:] for line in (kept / 'status-head').read_text().splitlines()},
          {line[3:] for line in status.splitlines()} - {'module', 'own/', '"staged and gone"'}, 'changes')

    bare = repository.root / 'kept/bare'
    repository.git('clone', '-q', '--bare', '.', bare)
    result = repository.run('git', '-C', bare, '-c', f'alias.gate=!"{GATE}" {base} -- out/prog', 'gate', status=2)
    check('there is no working tree here: name a HEAD' in result.stderr, result.stderr)


def check_sessions(repository):
    """Of patches that change nothing, whose first runs have luck, alone each is called better, and in a session none;
    a good one is."""
    session = repository.root / 'kept'
    session.write_text('quiesce session 1\n' + ''.join(
        f'begin {number} 2026-01-31T12:00:00Z {100 * number * (number + 1)} x\nend {number} not faster\n'
        for number in range(1, 50)))
    base = commit_rated(repository, 1000, 1000)
    heads = [commit_rated(repository, times, 1400) for times in (15, 16, 17)]
    good = commit_rated(repository, 1000, 1400)
    builds = (GATE, '-b', 'sh build.sh', *SERVED)

    def improve(head, *options):
        """Again while it is not settled; the last exit status and what was said."""
        for _ in range(ATTEMPTS):
            result = repository.run(*builds, '--improve=20', *options, base, head, '--', 'out/prog')
            if result.returncode != 4:
                break
        return result.returncode, result.stdout + result.stderr

    better = '**more than 10 % more requests/s: +40 %'
    for head in heads:
        status, said = improve(head)
        check(status == 0 and better in said, f'alone: {said}')
        status, said = improve(head, '--session', session)
        check(status in (3, 4) and '; try ' in said, f'in a session: {said}')
    status, said = improve(good, '--session', session)
    check(status == 0 and better in said, f'a good one: {said}')
    check(re.search(r'; try [0-9]+ of its session\*\*\n', said), said)
    equal(len(re.findall('^end [0-9]+ faster$', session.read_text(), re.M)), 1, 'finds')
    result = repository.run(*builds, '--session', session, '-n', '10', good, base, '--', 'out/prog')
    equal(result.returncode, 1, f'too few pairs: {result.stdout} {result.stderr}')
    check(f'--max-runs 10: the next try of {session} takes at least 2' in result.stderr, result.stderr)
    # A commit that cannot be built is no try, and one that is bad is one.
    result = repository.run(*builds, '-b', 'false', '--session', session, good, base, '--', 'out/prog', status=1)
    before = session.read_text()
    rated = repository.root / 'rated'
    rated.mkdir()
    for name, text in (('prog', RATED), ('prog.luck', '1000 1400\n')):
        (rated / name).write_text(text)
    (rated / 'prog').chmod(0o755)
    repository.git('checkout', '-q', base)
    result = repository.run(BISECT, '-b', 'sh build.sh', *SERVED, '--session', session, rated, 'out/prog', status=1)
    lines = session.read_text()[len(before):].splitlines()
    number = before.count('begin ') + 1
    check(re.fullmatch(rf'begin {number} \S+ [0-9]+ prog', lines[0]), session.read_text())
    equal(lines[1:], [f'end {number} slower'], 'what the bisection has counted')
    result = repository.run(BISECT, '--session=x', '-u', '/', rated, 'out/prog', status=128)
    check('--session is for single builds of programs' in result.stderr, result.stderr)


SUITE = '''#!/bin/sh
case $1 in
--list) echo bench sort; echo bench find ;;
--only) read -r sort find <"$0.times"; [ "$2" = sort ] && echo "time $sort" || echo "time $find" ;;
esac
'''
HOSTED = '''List={command} --list
Names=^bench ([a-z]+)$
Run={command} --only {benchmark}

[iteration]
Match=^time ([0-9]+)$
Unit=ms
'''


def check_suites(repository):
    """Of a harness with two benchmarks the headline says what became of both; of one of them, what became of it."""
    harness = repository.root / 'own.conf'
    harness.write_text(HOSTED)
    repository.write('build.sh', 'mkdir -p out && cp prog.sh out/prog && cp times out/prog.times && chmod +x out/prog\n')
    repository.write('prog.sh', SUITE)

    def commit(sort, find):
        repository.write('times', f'{sort} {find}\n')
        return repository.commit(f'{sort} and {find}')

    old, one, faster = commit(10, 5), commit(20, 5), commit(10, 4)
    for head, status, says in ((one, 3, '2 comparisons: 1 worse, 1 not worse, 0 not settled, by [0-9]+ pairs'),
                               (faster, 0, '2 comparisons: 0 worse, 2 not worse, 0 not settled, by [0-9]+ pairs')):
        result = repository.gate('-H', harness, old, head, '--', 'out/prog')
        equal(result.returncode, status, result.stdout + result.stderr)
        check(re.search(rf'^\*\*{says}\*\*$', result.stdout, re.M), result.stdout)
        equal(result.stdout.count('| baseline/benchmark='), 2, f'lines of benchmarks: {result.stdout}')
        equal(result.stdout.count('**'), 2, f'headlines: {result.stdout}')
    # Each build is another one, though nothing can lie elsewhere in a script.
    layouts = ('--layouts=3', '-n', '3', '-b', 'sh build.sh; echo "# {seed}" >>out/prog')
    for head, status, says in ((one, 3, 'of 2 comparisons at least one is worse by more than 10 %'),
                               (faster, 0, 'of 2 comparisons none is worse by 20 %')):
        result = repository.gate(*layouts, '-H', harness, old, head, '--', 'out/prog')
        equal(result.returncode, status, result.stdout + result.stderr)
        check(f'**{says}, by 3 layouts of each**' in result.stdout, result.stdout)

    # A suite of one.
    repository.write('prog.sh', SUITE.replace('; echo bench find', ''))
    old, one = commit(10, 5), commit(20, 5)
    result = repository.gate('-H', harness, old, one, '--', 'out/prog')
    equal(result.returncode, 3, result.stdout + result.stderr)
    check('**iteration longer by more than 10 %: +100 %' in result.stdout, result.stdout)

    # The tree that is checked out has two again.
    good = repository.root / 'good'
    good.mkdir()
    (good / 'prog').write_text(SUITE)
    (good / 'prog').chmod(0o755)
    (good / 'prog.times').write_text('10 5\n')
    repository.write('prog.sh', SUITE)
    for times, status in (('20 5', 1), ('10 4', 0)):
        repository.write('times', f'{times}\n')
        result = repository.run(BISECT, '-b', 'sh build.sh', '-p', '20', '-H', harness, good, 'out/prog')
        equal(result.returncode, status, f'{times}: {result.stdout} {result.stderr}')


SERVICE = '''#!{python} -S
import socket, sys, threading
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(('127.0.0.1', int(sys.argv[1])))
listener.listen(8)
work = int(open(sys.argv[2]).read())
def serve(connection):
    while connection.recv(4096):
        sum(range(work))
        connection.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n')
while True:
    threading.Thread(target=serve, args=listener.accept()[:1], daemon=True).start()
'''


def check_services(repository):
    """The services of two commits are started, put under load, and judged by what they take for a request."""
    repository.write('build.sh', 'mkdir -p out && cp service.py out/service && chmod +x out/service\n')
    repository.write('service.py', SERVICE.format(python=sys.executable))
    repository.write('work', '3000')
    old = repository.commit('old')
    repository.write('work', '30000')
    new = repository.commit('new')
    repository.write('service.py', '#!/bin/sh\nexit 7\n')
    broken = repository.commit('broken')
    program = ('out/service', '{port}', '{tree}/work')
    kept = repository.root / 'kept'
    result = repository.gate('-u', '/', '-d', kept, old, new, '--', *program)
    equal(result.returncode, 3, f'a service that takes more: {result.stdout} {result.stderr}')
    for text in '**takes more than 10 % more CPU time a request: +', '| ', old[:12]:
        check(text in result.stdout, f'{text}: {result.stdout}')
    said = json.loads((kept / 'result.json').read_text())
    facts = {**said.get('metadata', {}), **said['benchmarks'][-1]['metadata']}
    equal((facts['head_commit'], facts['quiesce_decide_figure']), (new, 'cpu'), 'the result')
    result = repository.gate('-u', '/', old, broken, '--', *program)
    equal(result.returncode, 1, f'a service that ends: {result.stdout} {result.stderr}')
    check('exit status 7' in result.stderr, f'a service that ends: {result.stderr}')
    for words, says in ((('-l', 'true'), 'has neither {port}'), (('-u', '/', '-n', '3'), '--max-sittings')):
        result = repository.run(GATE, *words, old, new, '--', *program, status=2)
        check(says in result.stderr, f'{words}: {result.stderr}')
    # In the tree that is checked out, and beside a copy of the program.
    good = repository.root / 'good-service'
    good.write_text(SERVICE.format(python=sys.executable))
    good.chmod(0o755)
    light = repository.root / 'light'
    light.write_text('3000')
    repository.git('checkout', '-q', old)
    for _ in range(ATTEMPTS):
        result = repository.run(BISECT, '-u', '/', '-p', '20', '-b', 'sh build.sh', good, 'out/service', '{port}', light)
        if result.returncode != 125:
            break
    equal(result.returncode, 0, f'bisect: {result.stderr}')


# What ./bootstrap build leaves, for an action in a folder of the test's own.
BOOTSTRAP = '''#!/bin/sh
[ "$*" = build ] && mkdir -p build/src && ln -sf {} build/src
'''
SWINGING = '''#!/bin/sh
at=$(cat "$0.at" 2>/dev/null || echo 0)
echo $((at + 1)) >"$0.at"
[ $((at % 2)) -eq "$(cat "$0.luck")" ] && echo served 700 || echo served 1300
'''


class Workplace:
    """What GitHub has: an action, a clone, and events. Its project has a pull request, whose base has gone on."""

    def __init__(self, repository):
        self.repository, self.number = repository, 0
        self.root = repository.root / 'kept'
        self.path = runner.path_without('runpinned')
        self.action = self.root / 'action'
        for name in 'action.yml', 'packaging/github-action', 'contrib/ci/quiesce-gate':
            (self.action / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(GATE.parents[2] / name, self.action / name)
        (self.action / 'bootstrap').write_text(BOOTSTRAP.format(' '.join(shlex.quote(str(tool)) for tool in TOOLS)))
        (self.action / 'bootstrap').chmod(0o755)
        self.began = commit_rated(repository, 1000, 1000)
        self.tip = commit_rated(repository, 1000, 500)
        repository.git('checkout', '-q', '-b', '$(touch${IFS}pwned)', self.began)

    def run(self, head, base=None, base_input='', head_input='', **inputs):
        """A pull request where there is a base; the names of inputs have _ in place of -."""
        self.number += 1
        folder = self.root / str(self.number)
        folder.mkdir()
        event = {'ref': 'refs/heads/$(touch${IFS}pwned)'}
        if base:
            event = {'pull_request': {'title': '`touch pwned`', 'base': {'sha': base}, 'head': {'sha': head}}}
        words = '\n'.join(SERVED) + '\n' + inputs.pop('options', '')
        inputs = {'program': 'out/prog', 'build': 'sh build.sh', 'margin': '20', 'options': words, 'base': base_input,
                  'head': head_input, 'folder': f'{folder}/kept', **{name.replace('_', '-'): value for name, value in inputs.items()}}
        run = runner.Run(self.action, inputs, folder, self.repository.folder, event, {
            **self.repository.environment, 'PATH': self.path, 'GITHUB_SHA': head,
            'GITHUB_SERVER_URL': 'https://git.example', 'GITHUB_REPOSITORY': 'a/b', 'GITHUB_RUN_ID': '17'})
        equal(list(self.repository.root.rglob('pwned')), [], f'what a shell has run of {inputs}: {run.said}')
        return run

    def make_release(self, *tools):
        folder = self.root / 'release'
        (folder / 'quiesce-1/bin').mkdir(parents=True)
        for tool in tools:
            path = folder / 'quiesce-1/bin' / tool.name
            path.write_text(f'#!/bin/sh\nexec {shlex.quote(str(tool))} "$@"\n')
            path.chmod(0o755)
        archive = self.root / 'quiesce.tar.gz'
        self.repository.run('tar', '-czf', archive, '-C', folder, 'quiesce-1', status=0)
        shutil.rmtree(folder)
        return archive, hashlib.sha256(archive.read_bytes()).hexdigest()


def check_action(repository):
    """The action of GitHub: a slower head, an equal one, one that cannot be built, one that fails, one not settled."""
    place = Workplace(repository)
    fewer = commit_rated(repository, 1000, 700)
    # It was compared with the commit that it has begun from: of the base as it is now, it would be better.
    run = place.run(fewer, base=place.tip)
    equal((run.status, run.outputs['status']), (3, '3'), run.said)
    check(run.outputs['verdict'].startswith('more than 10 % fewer requests/s: -30 %'), f'{run.outputs}')
    equal(run.annotations, [('error', run.outputs['verdict'])], 'annotations')
    summary, comment = (pathlib.Path(run.outputs[name]).read_text() for name in ('summary', 'comment'))
    equal(run.summary, summary, 'the summary of the job')
    check(f'base {place.began[:12]}, head {fewer[:12]}' in summary, summary)
    equal(comment, f'<!-- quiesce-gate out/prog -->\n{summary}\nThe [job](https://git.example/a/b/actions/runs/17) '
          'has the runs.\n', 'the comment')
    # Built without cairo, bench-report draws nothing.
    if os.environ.get('HAS_CAIRO') == '1':
        check(xml.etree.ElementTree.parse(run.outputs['picture']).getroot().tag.endswith('}svg'), 'the picture')
    else:
        equal(run.outputs['picture'], '', 'the picture')
    check((pathlib.Path(run.outputs['folder']) / 'result.json').exists(), 'the result')

    archive, digest = place.make_release(*TOOLS)
    run = place.run(place.began, base_input='HEAD~1', release=str(archive), sha256=digest)
    equal((run.status, run.outputs['status']), (0, '0'), run.said)
    check(run.outputs['verdict'].startswith('not 20 % fewer requests/s'), f'{run.outputs}')
    equal(run.annotations[-1], ('notice', run.outputs['verdict']), 'annotations')

    repository.write('build.sh', 'echo "this is no C" >&2; exit 7\n')
    broken = repository.commit('broken')
    repository.write('build.sh', 'mkdir -p out && printf "#!/bin/sh\\nexit 5\\n" >out/prog && chmod +x out/prog\n')
    failing = repository.commit('failing')
    for head, says in ((broken, f'quiesce-gate: head ({broken}) cannot be built by: sh build.sh'),
                       (failing, 'quiesce-gate: the programs could not be measured')):
        run = place.run(head, base=place.tip)
        equal((run.status, run.outputs['status'], run.outputs['picture']), (1, '1', ''), run.said)
        equal((run.outputs['verdict'], run.annotations), (says, [('error', says)]), 'the verdict')
        check(f'**not measured**: {says}\n' in pathlib.Path(run.outputs['comment']).read_text(), run.said)
        check(('this is no C' if head == broken else 'exit status 5') in run.said, run.said)

    repository.write('build.sh', WITH_LUCK)
    repository.write('prog.sh', SWINGING)
    swinging = []
    for luck in '01':
        repository.write('luck', luck)
        swinging.append(repository.commit(f'swinging {luck}'))
    for not_settled, status, kind in (('pass', 0, 'warning'), ('fail', 4, 'error')):
        run = place.run(swinging[1], base=swinging[0], options='-n\n10', not_settled=not_settled)
        equal((run.status, run.outputs['status']), (status, '4'), run.said)
        equal(run.annotations[-1], (kind, run.outputs['verdict']), 'annotations')
        check('e-value' not in pathlib.Path(run.outputs['summary']).read_text(), f'words for -v: {run.outputs}')


def check_action_inputs(repository):
    """What is wrong is said, and nothing that is put in is run by a shell."""
    place = Workplace(repository)
    archive, digest = place.make_release(*TOOLS[1:])
    good, sums = archive.read_bytes(), digest
    for inputs, status, says in (
            ({'program': ''}, 2, 'program: a path within the tree is wanted'),
            ({'not_settled': 'maybe'}, 2, 'not-settled: pass or fail is wanted, and not maybe'),
            ({'options': '--'}, 2, 'options: -- ends the options of quiesce-gate'),
            ({'options': '--frob'}, 2, 'there is no option --frob'),
            ({'margin': '$(touch pwned)'}, 2, "'$(touch pwned)' is not"),
            ({'directory': '/no/such'}, 2, 'directory: there is no /no/such'),
            ({'folder': '/dev/null/x'}, 2, 'folder: /dev/null/x cannot be made'),
            ({'base_input': '-btouch pwned'}, 2, 'base: there is no commit -btouch pwned in this clone'),
            ({'head_input': '--help'}, 2, 'head: there is no commit --help in this clone'),
            ({'head_input': 'HEAD\n::error::100%'}, 2, 'head: there is no commit HEAD\n::error::100% in this clone'),
            ({'base_input': ''}, 2, 'base: this is no pull request'),
            ({'program': 'out/prog; touch pwned'}, 1, 'the build leaves no program out/prog; touch pwned'),
            ({'program': '$(touch pwned)`touch pwned`'}, 1, 'the build leaves no program $(touch pwned)`touch pwned`'),
            ({'release': 'http://127.0.0.1/x'}, 2, 'is no file, and no address that begins with https://'),
            ({'release': 'https://127.0.0.1/x'}, 2, 'sha256: of a release that is downloaded its sum is wanted'),
            ({'release': '/no/such'}, 2, 'release: /no/such cannot be read'),
            ({'release': str(archive), 'sha256': 'A' * 64}, 2, 'sha256: 64 digits and letters a to f are wanted'),
            ({'release': str(archive), 'sha256': '0' * 64}, 2, f'has another sha256 than {"0" * 64}'),
            ({'release': str(archive), 'sha256': digest}, 2, 'has no bin/runpinned'),
            ({'release': '/dev/null'}, 2, '')):
        run = place.run(place.began, **{'base_input': place.began, **inputs})
        equal(run.status, status, f'{inputs}: {run.said}')
        errors = [text for kind, text in run.annotations if kind == 'error']
        check(any(says in text for text in (*errors, run.said.split('::')[0])), f'{inputs}: {errors} {run.said}')
    # Arguments are words, whatever is in them.
    result = place.run(place.began, base_input=place.began, arguments='a b\n$(touch pwned)\n; touch pwned\n')
    equal(result.status, 0, result.said)

    # A download, by a curl that has what was asked for.
    archive, digest = place.make_release(*TOOLS)
    curl = repository.root / 'kept/bin/curl'
    curl.parent.mkdir()
    curl.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >"$0.asked"\n'
                    'while [ "$1" != --output ]; do shift; done\ncp "$0.served" "$2"\n')
    curl.chmod(0o755)
    place.path = f'{curl.parent}:{place.path}'
    for served, status in ((archive.read_bytes(), 0), (good, 2)):
        curl.with_name('curl.served').write_bytes(served)
        run = place.run(place.began, base_input=place.began, release='https://git.example/q.tar.gz', sha256=digest)
        equal(run.status, status, f'a download: {run.said}')
        asked = curl.with_name('curl.asked').read_text().splitlines()
        equal((asked[-2:], '=https' in asked), (['--', 'https://git.example/q.tar.gz'], True), 'what curl was asked')
    check(sums != digest, 'two releases have one sum')


def check_workflows(repository):
    """The workflow for GitHub gives what the action takes; the job of GitLab is run as its runner does."""
    workflow = runner.load(GATE.with_name('github-workflow.yml'))
    steps = workflow['jobs']['gate']['steps']
    own = [step for step in steps if step['uses'].startswith('./')]
    checkouts = [step['with'] for step in steps if 'repository' in step.get('with', {})]
    equal([step['uses'] for step in own], [f'./{checkout["path"]}' for checkout in checkouts], 'where the action is')
    action = runner.load(GATE.parents[2] / 'action.yml')
    equal(set(own[0]['with']) - set(action['inputs']), set(), 'inputs that the action lacks')
    check({name for name, entry in action['inputs'].items() if entry.get('required')} <= set(own[0]['with']), 'inputs')
    text = GATE.with_name('github-workflow.yml').read_text()
    outputs = set(re.findall(r'steps\.gate\.outputs\.([\w-]+)', text))
    check(outputs and outputs <= set(action['outputs']), f'outputs: {outputs}')
    equal(workflow['permissions'], {'contents': 'read'}, 'permissions')
    check('secrets' not in text and not [line for line in text.splitlines() if 'run:' in line and '${{' in line], text)

    began, slower = commit_rated(repository, 1000, 1000), commit_rated(repository, 1000, 700)
    repository.write('build.sh', 'false\n')
    broken = repository.commit('broken')
    job = runner.load(GATE.with_name('gitlab-ci.yml'))['benchmark']
    # It is for another project, where programs take their time.
    script = '\n'.join(job['script'])
    for old, new in ((' -p 2 ', ' -p 20 ' + shlex.join(SERVED) + ' '), (' -b make ', " -b 'sh build.sh' "),
                     (' build/prog', ' out/prog')):
        equal(script.count(old), 1, f'{old} in {script}')
        script = script.replace(old, new)
    (repository.root / 'tools/quiesce-gate').symlink_to(GATE)
    for head, status, kept in ((began, 0, True), (slower, 3, True), (broken, 1, False)):
        folder = repository.folder / job['artifacts']['paths'][0]
        shutil.rmtree(folder, ignore_errors=True)
        result = repository.run('bash', '-c', f'set -eo pipefail; set +o noclobber\n{script}',
                                CI_MERGE_REQUEST_DIFF_BASE_SHA=began, CI_COMMIT_SHA=head)
        equal(result.returncode, status, f'{head}: {result.stdout} {result.stderr}')
        equal((folder / 'summary.md').exists(), kept, 'the summary')
        equal((folder / 'runs.svg').exists(), kept and os.environ.get('HAS_CAIRO') == '1', 'the picture')
    equal(job['allow_failure']['exit_codes'], 4, 'what blocks nobody')


run_tests((('verdicts', on_repository(check_verdicts)), ('failures', on_repository(check_failures)),
           ('layouts', on_repository(check_layouts)),
           ('many layouts', on_repository(check_many_layouts)), ('linkers', on_repository(check_linkers)),
           ('interrupted', on_repository(check_interrupted)),
           ('bisection', on_repository(check_bisection)), ('figures', on_repository(check_figures)),
           ('working tree', on_repository(check_working_tree)), ('sessions', on_repository(check_sessions)),
           ('suites', on_repository(check_suites)),
           ('services', on_repository(check_services)), ('workflows', on_repository(check_workflows)),
           ('action', on_repository(check_action)), ('inputs of the action', on_repository(check_action_inputs))))
