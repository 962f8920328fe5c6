#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures that a program says itself, in the file that QUIESCE_FIGURES names, or by quiesce-figure."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import machine
from machine import check, equal
from test_figures import (CPU, ENVIRONMENT, FOLDER, RPS, RUNPINNED, benchmarks_of, fails, figure, misused, names_of, program,
                          report, run, start, unit)

FIGURE = os.environ['QUIESCE_FIGURE']
PAGE = pathlib.Path(os.environ['RESULT_PAGE'])
SAY = 'say() { echo "$1" >>"$QUIESCE_FIGURES"; }; '


WHERE = FOLDER / 'where'
TELL = f'echo "$QUIESCE_FIGURES" >{WHERE}; '


def folder():
    """That of a program which has told it (TELL); others may measure at the same time."""
    return pathlib.Path(WHERE.read_text(encoding='utf-8').strip()).parent


def test_lines():
    own = program(SAY + 'say "BenchmarkRps 1 $((n * 10)) 1/s"; say "BenchmarkTook 5 1.$n ms 16 B/op"; say "PASS"')
    found = run(own, n=3)
    equal(names_of(found), ['Rps', 'Took', 'Took B/op'], 'figures')
    equal(figure(found, 'Rps'), [10, 20, 30], 'each run its own')
    equal(figure(found, 'Took'), [1.1 / 1e3, 1.2 / 1e3, 1.3 / 1e3], 'times')
    equal((unit(found, 'Rps'), unit(found, 'Took'), unit(found, 'Took B/op')),
          ('higher, 1/s, step 1', 'lower, s, step 0.0001', 'lower, B/op, step 1'), 'units')
    check(all(0 < each['values'][0] < 60 for each in found['runs']), 'the time stays')
    # Beside what is looked for in the output, and what is counted.
    found = run('--figure', RPS, program(SAY + 'say "BenchmarkA 1 $n s"; echo "rps: $n"'), n=2)
    equal((figure(found, 'A'), figure(found, 'rps')), ([1, 2], [1, 2]), 'with a figure of the output')
    fails('two figures are called rps', '--figure', RPS, program(SAY + 'say "Benchmarkrps 1 1 s"; echo "rps: $n"'))
    # Lines of one name are repeats within the run, also those of children.
    found = run(program(SAY + 'say "BenchmarkA 1 $n s"; (say "BenchmarkA 1 5 s") & wait'), n=2)
    equal(figure(found, 'A'), [3, 3.5], 'a mean')


def test_many_short_runs():
    """Runs that follow one another without a pause, of which only some say something: that is an error; and all of
    them, which none sees of another."""
    code = SAY + 'say "BenchmarkA 1 $n s"'
    equal(figure(run(program(code), n=100), 'A'), list(range(1, 101)), 'values')
    fails(['run 70 failed: ', 'a value of A, which the runs before had not'], '-n', 90, '-w', '1',
          program(f'[ $n != 70 ] || {{ {code}; }}'))
    fails(['run 70 failed: ', 'no value of A, which the runs before had'], '-n', 90, program(f'[ $n = 70 ] || {{ {code}; }}'))
    fails(['run 1 failed: ', 'a value of A, which the runs before had not'], '-w', '1', program(f'[ $QUIESCE_RUN = 0 ] || {{ {code}; }}'))


def test_broken_lines():
    for text, says in (('hello', r"line 2: 'hello' is no line of Go's benchmark format"),
                       ('BenchmarkA 1 x s', "A: 'x' is not a number"), ('BenchmarkA 1 5 MIPS', 'which way is MIPS better?'),
                       ('BenchmarkA 1 5', 'A: 5 has no unit'), ('Benchmarkuser_cpu 1 5 s', 'a figure cannot be called user_cpu'),
                       ('FAIL', "'FAIL' is no line")):
        fails(['run 2 failed: $QUIESCE_FIGURES: ' if 'called' not in says else 'run 2 failed: ', says],
              program(SAY + f'say "BenchmarkA 1 1 s"; [ $n = 1 ] || say "{text}"'))
    fails('its last line has no end', program('printf "BenchmarkA 1 5 s" >"$QUIESCE_FIGURES"'))
    said = start('-q', '--no-save', '-n', 1, program(r'''printf '\033[31m\n' >"$QUIESCE_FIGURES"'''), status=1)[1]
    check('\033' not in said, repr(said))
    fails('more than 1 MiB', program('yes "BenchmarkA 1 5 s" | head -c 2000000 >"$QUIESCE_FIGURES"'))
    fails('more than 48 figures', program('for i in $(seq 49); do echo "BenchmarkA$i 1 5 s"; done >"$QUIESCE_FIGURES"'))
    # A run that has failed says nothing; the others do.
    found = run('--ignore-failure', program(SAY + 'say "BenchmarkA 1 $n s"; [ $n != 2 ]'), n=3)
    equal([each or None for each in figure(found, 'A')], [1, None, 3], 'a failure')
    found = run('--ignore-failure', program('[ $n = 2 ] && echo x >"$QUIESCE_FIGURES" || echo "BenchmarkA 1 $n s" >"$QUIESCE_FIGURES"'), n=3)
    equal([each or None for each in figure(found, 'A')], [1, None, 3], 'a broken line')


def test_tricks():
    """What a program may do to the file."""
    equal(names_of(run(program('rm "$QUIESCE_FIGURES"; echo "BenchmarkA 1 $n s" >"$QUIESCE_FIGURES"'))), ['A'], 'made anew')
    equal(names_of(run(program('echo "BenchmarkA 1 $n s" >"$QUIESCE_FIGURES".new; mv "$QUIESCE_FIGURES".new "$QUIESCE_FIGURES"'))),
          ['A'], 'replaced')
    secret = FOLDER / 'lines'
    secret.write_text('BenchmarkA 1 5 s\n', encoding='utf-8')
    fails('$QUIESCE_FIGURES: ', program(f'ln -sf {secret} "$QUIESCE_FIGURES"'))
    fails('not a file any more', program('rm "$QUIESCE_FIGURES"; mkfifo "$QUIESCE_FIGURES"'))
    fails('No such file or directory', program('rm "$QUIESCE_FIGURES"'))
    said = start('--no-save', '-n', 1, program(TELL + 'touch "$QUIESCE_FIGURES".more'))[1]
    check(f'note: {folder()} is left' in said, said)
    (folder() / 'figures.more').unlink()
    folder().rmdir()
    # A process of the run before, which nobody can end in time, writes to a file that nobody reads.
    keep = 'exec 9>>"$QUIESCE_FIGURES"; [ $n != 1 ] || { (trap "" TERM; sleep 0.1; echo x >&9) & }; echo "BenchmarkA 1 $n s" >&9'
    equal(figure(run(program(keep), n=3), 'A'), [1, 2, 3], 'a process that is left')


def test_nothing_is_left():
    run(program(TELL + SAY + 'say "BenchmarkA 1 $n s"'))
    check(not folder().exists(), 'after figures')
    start('-q', '--no-save', '-n', 1, program(TELL + 'exit 3'), status=1)
    check(not folder().exists(), 'after a failure')
    for number in signal.SIGTERM, signal.SIGKILL:
        WHERE.unlink()
        own = program(f'echo "$QUIESCE_FIGURES" >{WHERE}.new; mv {WHERE}.new {WHERE}; sleep 60')
        with subprocess.Popen([RUNPINNED, '-q', '-c', CPU, '-w', '0', '--no-save', own], stderr=subprocess.DEVNULL,
                              env=ENVIRONMENT) as process:
            await_file(WHERE)
            check((folder() / 'figures').exists(), 'while it runs')
            process.send_signal(number)
            process.wait()
        await_gone(folder())


def await_file(path):
    deadline = time.monotonic() + 60
    while not path.exists():
        check(time.monotonic() < deadline, f'no {path}')
        time.sleep(0.01)


def await_gone(path):
    deadline = time.monotonic() + 60
    while path.exists():
        check(time.monotonic() < deadline, f'{path} is still there')
        time.sleep(0.01)


def test_environment():
    """The variable is there in each run of each program, and always as long; it is no other runpinned's."""
    seen = FOLDER / 'seen'
    seen.unlink(missing_ok=True)
    own = program(f'echo "$QUIESCE_FIGURES $(stat -c %s "$QUIESCE_FIGURES") $(tr -d "\\0" </proc/self/environ | wc -c)" >>{seen}')
    inner = {**ENVIRONMENT, 'QUIESCE_FIGURES': '/nowhere'}
    for more in [], ['--clear-env'], ['--evidence', 'none']:
        seen.unlink(missing_ok=True)
        start('-q', '--no-save', '-n', 3, '-w', '1', *more, '--command', f'old={own}', own, environment=inner)
        lines = [line.split() for line in seen.read_text(encoding='utf-8').splitlines()]
        check(len(lines) >= 8, lines)
        equal(len({line[0] for line in lines}), 1, 'the name')
        equal({line[1] for line in lines}, {'0'}, 'it is empty')
        check(re.fullmatch(r'/(dev/shm|tmp)/quiesce-\w{6}/figures', lines[0][0]), lines[0])
    misused('--env: QUIESCE_FIGURES is set by runpinned itself', '--env', 'QUIESCE_FIGURES=x', 'true')
    # Of commands around the runs it is none.
    start('-q', '--no-save', '-n', 1, '--prepare', '[ -z "$QUIESCE_FIGURES" ]', 'true', environment=inner)


def test_programs_in_turn():
    path = FOLDER / 'turns.json'
    old = program(SAY + 'say "BenchmarkRps 1 $((1000 + n * 7 % 5)) 1/s"', 'old')
    new = program(SAY + 'say "BenchmarkRps 1 $((2000 + n * 7 % 5)) 1/s"', 'new')
    start('-q', '-n', 12, '-o', path, '--command', f'old={old}', '--name', 'new', new)
    equal([figure(each, 'Rps')[0] for each in benchmarks_of(path)], [1002, 2002], 'values')
    found = {each['new']['name']: each for each in json.loads(report('compare', '--json', path))['comparisons']}
    equal(found['new: Rps']['verdict'], 'faster', 'more is better')


def test_of_another_user():
    if os.geteuid() != 0:
        raise machine.Skip('only root runs programs as somebody else')
    FOLDER.chmod(0o755)
    seen = FOLDER / 'rights'
    seen.touch()
    seen.chmod(0o666)
    WHERE.touch()
    WHERE.chmod(0o666)
    own = program(TELL + SAY + f'say "BenchmarkA 1 $n s"; stat -c "%u %a" "$QUIESCE_FIGURES" "$(dirname "$QUIESCE_FIGURES")" >{seen}')
    equal(figure(run('--user=65534', own, n=3), 'A'), [1, 2, 3], 'figures')
    equal(seen.read_text(encoding='utf-8').split(), ['65534', '600', '65534', '700'], 'whose it is')
    secret = FOLDER / 'secret-lines'
    secret.write_text('BenchmarkA 1 5 s\n', encoding='utf-8')
    secret.chmod(0o600)
    for trick in f'ln -sf {secret} "$QUIESCE_FIGURES"', f'ln -f {secret} "$QUIESCE_FIGURES"':
        result = subprocess.run([RUNPINNED, '-q', '-c', CPU, '-w', '0', '-n', '1', '--json', '--user=65534', program(TELL + trick)],
                                capture_output=True, text=True, env=ENVIRONMENT, check=False)
        check('quiesce_event_A' not in result.stdout, trick)
        check(not folder().exists(), 'nothing is left')


def test_quiesce_figure():
    def say(*words, status=0, environment=None):
        result = subprocess.run([FIGURE, *words], capture_output=True, text=True, env=environment or ENVIRONMENT,
                                stdin=subprocess.DEVNULL, check=False)
        equal((result.returncode, result.stdout), (status, ''), f'{words}')
        return result.stderr.removeprefix('quiesce-figure: ').rstrip('\n')

    found = run(program(f'{FIGURE} rps $((n * 100)) 1/s; {FIGURE} took 2.5 ms; {FIGURE} --higher hits 17 hits; '
                        f'{FIGURE} change -0.5 B'))
    equal({name: figure(found, name)[0] for name in names_of(found)}, {'rps': 100, 'took': 2.5 / 1e3, 'hits': 17, 'change': -0.5},
          'figures')
    equal([unit(found, name).split(',')[0] for name in ('rps', 'took', 'hits')], ['higher', 'lower', 'higher'], 'directions')
    # Many at a time.
    own = program(f'for i in 1 2 3 4 5 6 7 8; do {FIGURE} rps "$i" 1/s & done; wait')
    # The order of the lines decides how the mean is rounded.
    equal([round(value, 9) for value in figure(run(own), 'rps')], [4.5, 4.5], 'side by side')
    # By hand.
    bare = {key: value for key, value in ENVIRONMENT.items() if key != 'QUIESCE_FIGURES'}
    for environment in bare, {**bare, 'QUIESCE_FIGURES': ''}:
        equal(say('rps', '12.5', '1/s', environment=environment), 'rps: 12.5 1/s (no runpinned runs this)', 'by hand')
    for words, says in ((['rps', 'x', 's'], "rps: 'x' is not a number"), (['rps', '1', 'a b'], "rps: 'a b' is no unit"),
                        (['rps', '1', ''], "rps: '' is no unit"), (['a b', '1', 's'], "'a b' is not one word of up to 200 bytes"),
                        (['', '1', 's'], "'' is not one word of up to 200 bytes"),
                        (['rps', '1', 'MIPS'], 'which way is MIPS better? --higher or --lower says it'),
                        (['rps', '1'], "'1': a figure is NAME VALUE UNIT"),
                        (['rps', '1', 's', 'x'], "'x': a figure is NAME VALUE UNIT"), ([], 'a figure is NAME VALUE UNIT'),
                        (['--lower', '--higher', 'rps', '1', 's'], '--lower and --higher exclude each other')):
        equal(say(*words, status=2), says, f'{words}')
    check('No such file' in say('rps', '1', 's', status=1, environment={**ENVIRONMENT, 'QUIESCE_FIGURES': '/nowhere/x'}), 'no file')


def examples():
    """Those of the page, by their language."""
    text = PAGE.read_text(encoding='utf-8')
    return dict(re.findall(r'^In (?:a )?(\w+):\n\n```\n(.*?)^```$', text, re.MULTILINE | re.DOTALL))


def test_examples_of_the_page():
    found = examples()
    equal(sorted(found), ['Python', 'shell'], 'languages')
    script = FOLDER / 'example.py'
    script.write_text(found['Python'], encoding='utf-8')
    result = run(sys.executable, script)
    equal(names_of(result), ['Loop'], 'Python')
    check(unit(result, 'Loop').startswith('higher, 1/s') and all(each > 1000 for each in figure(result, 'Loop')), result)
    script = FOLDER / 'example.sh'
    script.write_text(found['shell'], encoding='utf-8')
    tools = FOLDER / 'tools'
    tools.mkdir()
    (tools / 'quiesce-figure').symlink_to(FIGURE)
    result = run('sh', script, environment={**ENVIRONMENT, 'PATH': f'{tools}:{os.environ["PATH"]}'})
    equal({name: figure(result, name) for name in names_of(result)}, {'wait': [0.25] * 2, 'Queue': [17] * 2}, 'shell')
    # And without runpinned.
    for command in [sys.executable, FOLDER / 'example.py'], ['sh', script]:
        environment = {**ENVIRONMENT, 'PATH': f'{tools}:{os.environ["PATH"]}'}
        equal(subprocess.run(command, env=environment, stderr=subprocess.DEVNULL, check=False).returncode, 0, 'by hand')


def test_nothing_while_it_waits():
    """While another one has the CPU there is nothing that SIGKILL would leave behind: no keeper is there yet."""
    own = ['unshare', '-r', '-m', 'sh', '-c', 'mount -t tmpfs none /dev/shm && exec "$@"', 'sh']
    if subprocess.run([*own, 'true'], capture_output=True, check=False).returncode:
        raise machine.Skip('no mount namespace of a user is allowed here')
    command = [RUNPINNED, '-c', CPU, '-q', '--no-save', '-w', '0', '-n', '1']
    mark = FOLDER / 'holds'
    with subprocess.Popen([*command, 'sh', '-c', f'echo >{mark}; exec sleep 600'], env=ENVIRONMENT) as holder:
        try:
            machine.wait_for(mark.exists, 'the first one has the CPU', 300)
            with subprocess.Popen([*own, *command, 'true'], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as waiter:
                try:
                    line = waiter.stderr.readline()
                    check('is taken by' in line, line)
                    equal(os.listdir(f'/proc/{waiter.pid}/root/dev/shm'), [], '/dev/shm')
                finally:
                    waiter.kill()
        finally:
            holder.terminate()


def test_languages():
    """Descriptors that node and Java close are none; a file stays."""
    node = FOLDER / 'figure.js'
    node.write_text("require('fs').appendFileSync(process.env.QUIESCE_FIGURES, 'BenchmarkA 1 5 s\\n')\n", encoding='utf-8')
    tried = []
    for command in (['node', node], ['perl', '-e', 'open F, ">>", $ENV{QUIESCE_FIGURES}; print F "BenchmarkA 1 5 s\\n"'],
                    [sys.executable, '-c', 'import subprocess; subprocess.run(["sh", "-c", '
                     '"echo BenchmarkA 1 5 s >>$QUIESCE_FIGURES"])']):
        if subprocess.run(['sh', '-c', f'command -v {command[0]}'], stdout=subprocess.DEVNULL, check=False).returncode == 0:
            equal(figure(run(*command), 'A'), [5, 5], command[0])
            tried.append(command[0])
    return None if len(tried) == 3 else f'only with {", ".join(map(str, tried))}'


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
