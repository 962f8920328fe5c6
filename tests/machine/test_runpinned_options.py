#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""runpinned's options for what is around the runs: streams, hooks, shells, parameters, limits.

As in test_runs.py, whose helpers these tests use, nothing depends on how fast this machine is.
"""

import json
import os
import pathlib
import pwd
import re
import signal
import subprocess
import time

import machine
from machine import check, equal, on_terminal
from test_runs import (CPU, PATIENCE, RUNPINNED, SCRATCH, as_nobody, await_running, environment, gone, measured,
                       metadata, one_line, processes_with, run, scratch, script, start, tidy)


class Diary:
    """A file to which hooks and programs append their names."""

    def __init__(self, name):
        self.path = scratch(name)
        self.path.unlink(missing_ok=True)
        self.program = script(f'{name}-program', self.add('run'))

    def add(self, word):
        return f'echo {word} >>{self.path}\n'

    def words(self):
        return self.path.read_text(encoding='utf-8').split()


# --- Files ---

def test_a_file_of_the_name_of_a_stream():
    """What is advised where - is refused does what it says."""
    folder = scratch('dash')
    folder.mkdir()
    result = run('-q', '-n', 2, '-o', './-', 'true', cwd=folder)
    equal((result.returncode, result.stdout), (0, ''), result.stderr)
    equal([path.name for path in folder.iterdir()], ['-'], 'files')
    result = run('-q', '-n', 2, '-w', 0, '--csv', '/dev/stdout', 'true', cwd=folder)
    equal(result.returncode, 0, result.stderr)
    check(result.stdout.startswith('run,warmup,value,'), result.stdout)
    equal(len(result.stdout.splitlines()), 3, 'lines')
    for option in '-o', '--csv':
        equal(run('-n', 2, option, '-', 'true', cwd=folder).returncode, 2, option)
    equal([path.name for path in folder.iterdir()], ['-'], 'files')


# --- Variables ---

def test_variables_of_all_programs_and_of_one():
    out = scratch('variables')
    program = script('show-variables', f'echo "$1 ${{A-none}} ${{B-none}} ${{HOME-none}}" >>{out}\n')
    options = ('-n', 1, '-w', 0)

    def told(*arguments, **more):
        out.unlink(missing_ok=True)
        benchmarks = json.loads(run('--json', *options, *arguments, **more).stdout)['benchmarks']
        return (sorted(out.read_text(encoding='utf-8').splitlines()),
                {metadata(one)[0]['name']: metadata(one)[0].get('quiesce_env') for one in benchmarks})

    env = environment(HOME='/home', A='of the caller')
    equal(told(program, 'x', env=env), (['x of the caller none /home'], {program.name: None}), 'without')
    equal(told('--env', 'A=', '--env', 'B=c d=e', program, 'x', env=env),
          (['x  c d=e /home'], {program.name: "A= 'B=c d=e'"}), 'of all')
    equal(told('--env', 'A=1', '--env', 'old:A=2', '--env', f'{program.name}:B=3', '--command', f'old={program} old',
               program, 'new', env=env),
          (['new 1 3 /home', 'old 2 none /home'], {'old': 'A=2', program.name: 'A=1 B=3'}), 'of one')
    equal(told('--clear-env', '--env', 'A=1', program, 'x', env=env)[0], ['x 1 none none'], '--clear-env')
    # Parameters stand there as well, and the control, which is always the same, has none of it.
    equal(told('--env', 'A=n{n}', '-L', 'n=1,2', '--control=' + str(program) + ' control', program, 'x', env=env),
          (['control of the caller none /home', 'x n1 none /home', 'x n2 none /home'],
           {f'{program.name}/n=1': 'A=n1', f'{program.name}/n=2': 'A=n2', 'control': None}), 'parameters')
    plan = run('--dry-run', '--env', 'A=a\tb', 'true')
    check('\nenv: A=a\\x09b\n' in plan.stdout or '\nenv: A=a\\tb\n' in plan.stdout, plan.stdout)


def test_variables_of_the_shell():
    """The shell with nothing to do is started as those of the programs are."""
    out = scratch('shell-variable')
    shell = script('note-shell', f'echo "$A" >>{out}\nexec sh "$@"\n')
    equal(run('-q', '--no-save', '-n', 1, '-w', 0, '--env', 'A=1', f'--shell={shell}', ':').returncode, 0, 'status')
    equal(set(out.read_text(encoding='utf-8').split()), {'1'}, 'A')


def test_variables_that_make_no_sense():
    for words, says in ((['A'], "'A' is neither NAME=VALUE"), (['=1'], "'=1'"), ([':A=1'], "':A=1'"), (['x:=1'], "'x:=1'"),
                        (['A=1', 'A=2'], "two values for 'A'"), (['true:A=1', 'true:A=2'], "two values for 'true:A'"),
                        (['old:A=1'], "'old'"), (['control:A=1'], "'control'"), (['QUIESCE_PAD=x'], 'QUIESCE_PAD'),
                        (['QUIESCE_VALUES_FD=3'], 'QUIESCE_VALUES_FD'), (['QUIESCE_RUN=3'], 'QUIESCE_RUN')):
        one_line(run(*(word for each in words for word in ('--env', each)), '--control', 'true'), 2, '--env', says)


def test_number_of_the_run():
    """The same for the program and for the hooks around the run. What does not count has 0: warm-ups,
    inspections, the runs to find the length of the control, --setup, --cleanup. The environment is as large
    in each run."""
    out = scratch('numbers')
    program = script('note-number', f'echo "run $QUIESCE_RUN $(env | wc -c)" >>{out}\n')

    def told(*arguments, env=None):
        out.unlink(missing_ok=True)
        result = run('--no-save', '-q', *arguments, program, env=env)
        equal(result.returncode, 0, result.stderr)
        return [line.split() for line in out.read_text(encoding='utf-8').splitlines()]

    lines = told('-n', 120, '-w', 2)
    numbers = [int(line[1]) for line in lines]
    equal([number for number in numbers if number], list(range(1, 121)), 'runs that count')
    check(numbers[:2] == [0, 0] and numbers.count(0) >= 2, f'{numbers}')
    equal(len({line[2] for line in lines}), 1, f'sizes of the environment: {lines}')
    hooks = [word for hook in ('setup', 'prepare', 'conclude', 'cleanup')
             for word in (f'--{hook}', f'echo {hook} $QUIESCE_RUN >>{out}')]
    # Also inside of another runpinned's run.
    lines = told('-n', 30, '-w', 1, *hooks, env=environment(QUIESCE_RUN='77', QUIESCE_RUN_FILL='xx'))
    equal((lines[0], lines[-1]), (['setup', '0'], ['cleanup', '0']), 'around all')
    rounds = [lines[i:i + 3] for i in range(1, len(lines) - 1, 3)]
    for each in rounds:
        equal([line[0] for line in each], ['prepare', 'run', 'conclude'], f'{each}')
        equal(len({line[1] for line in each}), 1, f'{each}')
    equal([int(each[0][1]) for each in rounds if each[0][1] != '0'], list(range(1, 31)), 'rounds')
    # Several programs: each has numbers of its own.
    lines = told('-n', 3, '-w', 0, '--control', '--baseline', f'sh -c "{program}"', '--prepare', 'true')
    equal(sorted(int(line[1]) for line in lines if line[1] != '0'), [1, 1, 2, 2, 3, 3], f'{lines}')
    shown = run('-n', 1, '-w', 0, '--no-save', '-q', '--show-output', '--clear-env', 'sh', '-c', 'echo $QUIESCE_RUN')
    equal(shown.stdout.split()[-1], '1', '--clear-env')


# --- Streams ---

def test_input_is_read_from_its_start_by_each_run():
    data = scratch('input')
    data.write_text('x' * 4321, encoding='utf-8')
    out = scratch('counts')
    program = script('count', f'wc -c >>{out}\n')
    benchmark = measured('--input', data, '-n', 3, '-w', 1, program)
    equal(out.read_text(encoding='utf-8').split(), ['4321'] * 4, 'bytes read')
    equal(metadata(benchmark)[0]['quiesce_input'], str(data), 'quiesce_input')
    out.unlink()
    equal(metadata(measured('-n', 2, '-w', 0, program))[0]['quiesce_input'], '/dev/null', 'none')
    equal(out.read_text(encoding='utf-8').split(), ['0'] * 2, 'bytes of /dev/null')
    out.unlink()
    # Both programs read all of it, whichever runs first.
    run('--no-save', '--input', data, '-n', 2, '-w', 0, '--command', f'a={program}', '--command',
        f'b={program}')
    equal(out.read_text(encoding='utf-8').split(), ['4321'] * 4, 'bytes read by two programs')


def test_input_that_cannot_be_read_again():
    fifo = scratch('fifo')
    os.mkfifo(fifo)
    one_line(run('--no-save', '--input', fifo, 'true'), 1, str(fifo), 'from its start')
    one_line(run('--no-save', '--input', SCRATCH.name, 'true'), 1, SCRATCH.name, 'directory')
    one_line(run('--no-save', '--input', '/nowhere', 'true'), 1, '/nowhere', 'No such file')


def test_output_to_a_fifo():
    """-o and --csv do not wait for a reader, which no signal would end, and write to one that is there"""
    fifo = scratch('read-by-nobody')
    os.mkfifo(fifo)
    for option in ('-o', '--csv'):
        one_line(run(option, fifo, '-n', 1, 'true'), 1, str(fifo), 'no process reads from it')
    with subprocess.Popen(['cat', fifo], stdout=subprocess.PIPE, text=True) as reader:
        # cat(1) opens the FIFO only when there is somebody who writes: this process, until then.
        writer = os.open(fifo, os.O_RDWR)
        result = run('-o', fifo, '-n', 3, '-w', 0, 'true')
        os.close(writer)
        text = reader.communicate(timeout=60)[0]
    equal(result.returncode, 0, result.stderr)
    equal(len(json.loads(text)['benchmarks'][0]['runs']), 3, 'runs')


def test_unread_standard_input_is_told():
    command = [RUNPINNED, '-c', CPU, '-q', '-n', '1', '-w', '0', '--no-save', '--evidence', 'none']
    data = scratch('unread')
    data.write_text('data\n', encoding='utf-8')

    def told(*more, **options):
        result = subprocess.run([*command, *more, 'cat'], capture_output=True, text=True,
                                env=environment(), check=True, timeout=60, **options)
        return [line for line in result.stderr.splitlines() if 'standard input' in line]

    with open(data, encoding='utf-8') as stream:
        equal(len(told(stdin=stream)), 1, 'a file')
        check('/dev/stdin' in told(stdin=stream)[0], 'what to type')
        equal(told('--input', '/dev/stdin', stdin=stream), [], 'a file that is read')
    equal(len(told(input='data')), 1, 'a pipe')
    equal(told('--input', '/dev/null', input='data'), [], 'nothing, as asked for')
    equal(told(stdin=subprocess.DEVNULL), [], 'nothing')


def test_output_goes_to_a_file_that_each_run_finds_empty():
    out = scratch('output')
    out.write_text('of old\n' * 1000, encoding='utf-8')
    sizes = scratch('sizes')
    program = script('write', f'stat -c %s {out} >>{sizes}; echo $$\n')
    benchmark = measured('--stdout', out, '-n', 3, '-w', 0, program)
    equal(sizes.read_text(encoding='utf-8').split(), ['0'] * 3, 'sizes before each run')
    check(re.fullmatch(r'\d+\n', out.read_text(encoding='utf-8')), 'the output of the last run')
    equal(metadata(benchmark)[0]['quiesce_output'], str(out), 'quiesce_output')
    one_line(run('--no-save', '--stdout', '/nowhere/x', 'true'), 1, '/nowhere/x')
    one_line(run('--no-save', '--stdout', out, '--input', out, 'true'), 1, 'same file')
    one_line(run('--no-save', '--stdout', SCRATCH.name, 'true'), 1, SCRATCH.name)


def test_a_dry_run_refuses_what_a_run_refuses():
    """And makes nothing."""
    folder = scratch('dry')
    folder.mkdir()
    old = folder / 'old'
    old.write_text('as it was\n', encoding='utf-8')
    for status, words, *arguments in (
            (1, '/nowhere', '--input', '/nowhere'), (1, 'directory', '--input', folder),
            (1, str(folder), '--stdout', folder), (1, '/nowhere/x', '--stdout', '/nowhere/x'),
            (2, "'name'", '--metadata', 'name=x'), (2, "'timer'", '--metadata', 'timer=x'),
            (2, 'commit_date is written', '--metadata', 'commit_date=Fri Nov 20 10:14:10 2026 +0100'),
            (2, 'commit_date is written', '--metadata', 'commit_date=2026-11-31 10:14:10'),
            (2, 'not an integer', '--metadata', 'calibrate_loops=3'),
            (2, 'not an integer', '--metadata', 'mem_max_rss=3'),
            (2, 'not a list of tags', '--metadata', 'tag=all'), (1, '/nowhere/x', '-o', '/nowhere/x'),
            (1, 'append', '--append', '-o', old), (1, '/nowhere/x', '--csv', '/nowhere/x')):
        for more in (), ('--dry-run',):
            one_line(run('-n', 1, *more, *arguments, 'true'), status, words)
    for arguments in ('--stdout', folder / 'new'), ('--stdout', old), ('-o', folder / 'new'), ('-o', old), ():
        state = folder / 'state'
        result = run('--dry-run', *arguments, 'true', env=environment(XDG_STATE_HOME=str(state)))
        equal(result.returncode, 0, result.stderr)
        equal([file.name for file in folder.iterdir()], ['old'], 'files')
    equal(old.read_text(encoding='utf-8'), 'as it was\n', 'what was there')


def test_a_thing_that_is_named_twice():
    """Nothing is run, and neither of both files is made or changed."""
    first, second = scratch('first-of-two'), scratch('second-of-two')
    for option, *values in (('-o', first, second), ('--output', second, second), ('--csv', first, second),
                            ('--input', '/dev/null', '/dev/null'), ('--stdout', first, 'null'), ('--name', 'a', 'b'),
                            ('--user',), ('--shell',)):
        words = [word for value in values for word in (option, value)] or [option, option]
        result = run(*words, '--append', '--no-save', '-n', 1, '-w', 0, 'true')
        equal(result.returncode, 2, f'{words}: {result.stderr}')
        check(re.fullmatch(r'runpinned: --\w+ was given twice: there can be but one\n', result.stderr), result.stderr)
        check(not first.exists() and not second.exists(), f'{words}: a file was made')


def test_output_goes_through_a_pipe():
    kind = scratch('kind')
    # More than a pipe holds, so somebody has to read.
    program = script('pipe', f'echo $(readlink /proc/$$/fd/1) >>{kind}; head -c 300000 /dev/zero\n')
    benchmark = measured('--stdout=pipe', '-n', 3, '-w', 0, program)
    equal(metadata(benchmark)[0]['quiesce_output'], 'pipe', 'quiesce_output')
    kinds = kind.read_text(encoding='utf-8').split()
    equal(len(kinds), 3, 'runs')
    check(all(kind.startswith('pipe:') for kind in kinds), f'what they find: {kinds}')
    kind.unlink()
    measured('--stdout=null', '-n', 1, '-w', 0, program)
    equal(kind.read_text(encoding='utf-8'), '/dev/null\n', 'null')


READERS = '''
cd /proc/$PPID/task && for task in *; do sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' $task/status; done | xargs >>{told}
echo $(readlink /proc/$$/fd/1) $(ls /proc/$$/fd | wc -l) >>{told}.kind
head -c 3000000 /dev/zero
echo again >/dev/stdout
'''


def test_output_is_read_on_the_same_cpu():
    """By a thread of the launcher, whose time is told and is no waiting of the program's."""
    told = scratch('readers')
    program = script('readers-program', READERS.format(told=told))
    result = run('-v', '--json', '--stdout=pipe-here', '-n', 3, '-w', 1, program)
    equal(result.returncode, 0, result.stderr)
    benchmark = json.loads(result.stdout)['benchmarks'][0]
    facts = metadata(benchmark)
    equal(facts[0]['quiesce_output'], 'pipe-here', 'quiesce_output')
    equal(set(told.read_text(encoding='utf-8').splitlines()), {f'{CPU} {CPU}'}, 'where the launcher and its reader run')
    kinds = scratch('readers.kind').read_text(encoding='utf-8').split()
    check(all(kind.startswith('pipe:') for kind in kinds[::2]) and len(set(kinds[1::2])) == 1, f'what it finds {kinds}')
    check(all(one['quiesce_reader_cpu'] > 0 for one in facts), f'{facts}')
    check(re.search('^  reader ', result.stderr, re.M), result.stderr)
    check('quiesce_reader_cpu' not in metadata(measured('--stdout=pipe', '-n', 1, 'true'))[0], 'a reader elsewhere')


# --- Another user ---

def nobody():
    if os.geteuid() != 0:
        raise machine.Skip('needs root to become somebody else')
    try:
        return pwd.getpwnam('nobody')
    except KeyError as error:
        raise machine.Skip('there is no user nobody') from error


def own_folder(name, user):
    folder = scratch(name)
    folder.mkdir()
    os.chown(folder, user.pw_uid, user.pw_gid)
    return folder


def of_sudo(user):
    """The variables that sudo(8) sets for this user."""
    return {'SUDO_UID': str(user.pw_uid), 'SUDO_GID': str(user.pw_gid), 'SUDO_USER': user.pw_name,
            'SUDO_COMMAND': 'runpinned', 'MAIL': '/var/mail/root'}


def called_by(user, **more):
    return environment(**of_sudo(user), **more)


def test_another_user():
    """The program, and the commands around it, have nothing of root's, and the files are the user's."""
    user = nobody()
    folder = own_folder('another', user)
    look = script('another-look', f'id -u >>{folder}/who; id -G >>{folder}/groups; ls /proc/self/fd >>{folder}/open\n'
                                  f'echo "$HOME $USER $LOGNAME ${{SUDO_USER-none}} ${{MAIL-none}}" >>{folder}/env\n'
                                  'echo out; echo again >>/dev/stdout; echo err >>/dev/stderr\n')
    options = ['--user', '-n', 2, '-w', 1, '-o', folder / 'r.json', '--csv', folder / 'r.csv', '--stdout',
               folder / 'out', '--setup', f'id -u >>{folder}/setup', '--prepare', f'id -u >>{folder}/prepare',
               '--conclude', f'id -u >>{folder}/prepare', '--cleanup', f'id -u >>{folder}/setup']
    with open('/etc/shadow', 'rb') as root_file:
        result = run(*options, look, env=called_by(user), pass_fds=(root_file.fileno(),))
        equal(result.returncode, 0, result.stderr)
        # The descriptors: the standard ones, that of ls itself, and that for values.
        entries = (folder / 'open').read_text(encoding='utf-8').split()
        check(str(root_file.fileno()) not in entries or root_file.fileno() <= 4, f'descriptors {entries}')
        check(len(entries) == 5 * (folder / 'env').read_text(encoding='utf-8').count('\n'), f'descriptors {entries}')
    for name in 'who', 'setup', 'prepare':
        equal(set((folder / name).read_text(encoding='utf-8').split()), {str(user.pw_uid)}, name)
    groups = os.getgrouplist(user.pw_name, user.pw_gid)
    equal({frozenset(map(int, line.split())) for line in (folder / 'groups').read_text(encoding='utf-8').splitlines()},
          {frozenset(groups)}, 'groups')
    equal(set((folder / 'env').read_text(encoding='utf-8').splitlines()),
          {f'{user.pw_dir} {user.pw_name} {user.pw_name} none none'}, 'environment')
    for path in folder.iterdir():
        equal((path.name, path.stat().st_uid, path.stat().st_gid), (path.name, user.pw_uid, user.pw_gid), 'owner')
    equal((folder / 'out').read_text(encoding='utf-8'), 'out\nagain\n', 'output of the last run')
    benchmark = json.loads((folder / 'r.json').read_text(encoding='utf-8'))['benchmarks'][0]
    equal(metadata(benchmark)[0]['quiesce_user'], user.pw_name, 'metadata')
    # What a program opens again by its name is its own as well.
    for stdout in 'pipe', 'pipe-here', 'terminal':
        result = run('--user=nobody', '--no-save', '-q', '-n', 1, '--stdout', stdout, 'sh', '-c', 'echo >/dev/stdout')
        equal(result.returncode, 0, f'{stdout}: {result.stderr}')
    plan = run('--user', '--dry-run', 'true', env=called_by(user))
    check(f'\nuser: {user.pw_name}\n' in plan.stdout, plan.stdout)


def test_another_user_has_no_other_rights():
    user = nobody()
    folder = own_folder('rights', user)
    secret = scratch('rights-secret')
    secret.write_text('secret\n', encoding='utf-8')
    secret.chmod(0o600)
    mine = scratch('rights-mine')
    mine.mkdir(mode=0o700)
    (mine / 'program').write_text('#!/bin/sh\n', encoding='utf-8')
    (mine / 'program').chmod(0o755)
    (folder / 'link').symlink_to(mine / 'made')
    for arguments in (['--input', secret, 'cat'], ['--stdout', mine / 'out', 'true'], ['-o', mine / 'r.json', 'true'],
                      ['-o', folder / 'link', 'true'], ['--csv', secret, 'true'], [mine / 'program'],
                      ['--prepare', f'cat {secret}', 'true'], ['cat', secret]):
        result = run('--user', '-q', '--no-save', '-n', 1, '-w', 0, *arguments, env=called_by(user))
        equal((result.returncode, bool(re.search('ermission denied|not for you', result.stderr))), (1, True),
              f'{arguments}: {result.stderr}')
    equal(sorted(path.name for path in mine.iterdir()), ['program'], 'files')
    # Also where only the last step fails, root's rights help nobody.
    moved = own_folder('rights-moved', user)
    result = run('--user', '-q', '-n', 1, '-o', moved / 'r.json', '--prepare', f'chmod 500 {moved}', 'true',
                 env=called_by(user, TMPDIR=str(folder)))
    equal(result.returncode, 1, result.stderr)
    check('the result is in' in result.stderr, result.stderr)
    rescued = re.search(r'the result is in (\S+) instead', result.stderr)[1]
    equal(os.stat(rescued).st_uid, user.pw_uid, 'owner of what was rescued')
    os.unlink(rescued)


def test_users_that_are_refused():
    user = nobody()
    for status, words, arguments, env in (
            (2, 'sudo', ['--user'], environment(SUDO_UID='')), (2, 'no user', ['--user=no-such-user'], None),
            (2, 'without this option', ['--user=0'], None), (2, 'a user', ['--user='], None),
            (2, 'without this option', ['--user'], environment(SUDO_UID='0')),
            (2, 'no user', ['--user'], environment(SUDO_UID='-1'))):
        one_line(run(*arguments, '-n', 1, 'true', env=env), status, '--user', words)
    one_line(as_nobody('--user', 'true', **of_sudo(user)), 1, '--user', 'root')


# --- What fails, and what a shell runs ---

def test_statuses_that_are_no_failures():
    """As grep(1) has them: 1 is no match, 2 is trouble."""
    count = scratch('count')
    program = script('statuses', f'echo >>{count}; exit $(($(wc -l <{count}) % 2))\n')
    benchmark = measured('--ignore-failure=1,77', '-n', 4, '-w', 0, program)
    facts = metadata(benchmark)
    equal(len(facts), 4, 'runs')
    equal(facts[0]['quiesce_ignore_failure'], '1,77', 'quiesce_ignore_failure')
    check(not any('failed' in one.get('quiesce_flags', '') for one in facts), 'no run has failed')
    one_line(run('--no-save', '-q', '--ignore-failure=1,77', 'sh', '-c', 'exit 2'), 1, 'exit status 2')
    one_line(run('--no-save', '-q', '--ignore-failure=9', 'sh', '-c', 'kill -9 $$'), 1, 'signal 9')


def test_a_shell_runs_the_program():
    out = scratch('shelled')
    result = run('-v', '--shell', '-o', scratch('shell.json'), '-n', 3, f'echo a b | wc -w >{out}')
    equal(result.returncode, 0, result.stderr)
    equal(out.read_text(encoding='utf-8').split(), ['2'], 'what the shell has run')
    lines = [line for line in result.stdout.splitlines() if line.startswith('  shell ')]
    equal(len(lines), 1, result.stdout)
    check('with nothing to do' in lines[0], lines[0])
    benchmark = json.loads(scratch('shell.json').read_text(encoding='utf-8'))['benchmarks'][0]
    facts = metadata(benchmark)[0]
    equal(facts['quiesce_shell'], '/bin/sh', 'quiesce_shell')
    equal(facts['name'], f'echo a b | wc -w >{out}', 'the name')
    equal(facts['command'], f"/bin/sh -c 'echo a b | wc -w >{out}'", 'the command')
    check(0 < facts['quiesce_floor_user_before'] and 0 < facts['quiesce_floor_shell_user_before'],
          'both are measured')
    # The report of the file has it as well.
    again = subprocess.run([os.environ['BENCH_REPORT'], 'show', '-v', scratch('shell.json')], text=True,
                           capture_output=True, check=True, env=environment())
    check(lines[0] in again.stdout.splitlines(), again.stdout)


def test_a_shell_runs_all_programs():
    out = scratch('all')
    out.unlink(missing_ok=True)
    result = run('--shell=sh -u', '--no-save', '-q', '-n', 2, '-w', 0, '--stdout', out, '--baseline',
                 'echo $0 old', '--command', 'x=echo $0 new', '--control=echo $0 control', 'echo $0 $((1+1))')
    equal(result.returncode, 0, result.stderr)
    # The shell with nothing to do has not emptied the file.
    check(re.fullmatch(r'sh (old|new|control|2)\n', out.read_text(encoding='utf-8')), 'the last run')
    failed = run('--no-save', '--shell=sh -u', 'echo $unset')
    equal(failed.returncode, 1, 'an option of the shell')
    one_line(run('--no-save', '--shell=/no/such', 'true'), 1, '/no/such')


def test_what_to_type_instead():
    for words, typed in (
            (['ls | wc -l'], "runpinned --shell 'ls | wc -l'"),
            (['sleep .01'], 'runpinned sleep .01'),
            (['./prog x'], 'runpinned ./prog x'),
            (['sleep .01', 'sleep .02'], "runpinned --command 1='sleep .01' --command 2='sleep .02'")):
        one_line(run('--no-save', *words), 1, 'no program of that name; ', typed)


# --- Parameters ---

def scanned(*arguments):
    """The benchmarks by their names."""
    file = scratch('scanned.json')
    file.unlink(missing_ok=True)
    result = run('-q', '--evidence', 'none', '-o', file, '-n', 2, '-w', 0, *arguments)
    equal(result.returncode, 0, result.stderr)
    document = json.loads(file.read_text(encoding='utf-8'))
    return {one['metadata']['name']: {**document.get('metadata', {}), **one['metadata'], 'runs': len(one['runs'])}
            for one in document['benchmarks']}


def parameters(facts):
    return {name[len('parameter_'):]: value for name, value in facts.items()
            if name.startswith('parameter_')}


def test_each_combination_is_a_benchmark():
    diary = Diary('scan')
    found = scanned('-L', 'who=a,b c', '-P', 'n=1..2', diary.program, 'x{n}', '{who}', '{other}')
    equal(list(found), [f'scan-program/who={who}/n={n}' for who in ('a', 'b c') for n in (1, 2)], 'names')
    facts = found['scan-program/who=b c/n=2']
    equal(parameters(facts), {'who': 'b c', 'n': '2'}, 'metadata')
    equal(facts['command'], f"{diary.program} x2 'b c' '{{other}}'", 'command')
    check(all(one['runs'] == 2 for one in found.values()), 'runs of each')
    equal(len(diary.words()), 8, 'runs in all')
    check('quiesce_order_seed' in facts, 'in turns')


def test_parameters_in_names_and_hooks():
    diary = Diary('names')
    found = scanned('-P', 'n=8..9', '--setup', diary.add('setup{n}'), '--prepare', diary.add('p{n}'),
                    '--name', 'take {n}', diary.program)
    equal(list(found), ['take 8', 'take 9'], 'names')
    equal(found['take 9']['quiesce_prepare'], diary.add('p9').replace('\n', r'\x0a'), 'the hook')
    words = diary.words()
    equal((words[:2], sorted(words[2::2]), words[3::2]),
          (['setup8', 'setup9'], ['p8', 'p8', 'p9', 'p9'], ['run'] * 4), 'what was done')


def test_programs_without_a_parameter_are_not_repeated():
    found = scanned('-P', 'n=1..2', '-L', 'x=a,b', '--baseline', 'true', '--command', 'one=echo {n}',
                    '--control=echo', '--shell', 'echo {n}{x}')
    equal({name: parameters(facts) for name, facts in found.items()}, {
        'baseline': {}, 'one/n=1': {'n': '1'}, 'echo 1a': {'n': '1', 'x': 'a'},
        'echo 1b': {'n': '1', 'x': 'b'}, 'one/n=2': {'n': '2'}, 'echo 2a': {'n': '2', 'x': 'a'},
        'echo 2b': {'n': '2', 'x': 'b'}, 'control': {}}, 'programs')
    equal(list(found)[0], 'baseline', 'the others are compared with it')


def test_parameters_in_file_names():
    for size in 10, 20:
        scratch(f'in-{size}').write_text('x' * size, encoding='utf-8')
    found = scanned('-P', 'n=10..20:10', '--input', scratch('in-{n}'), '--stdout', scratch('out-{n}'),
                    '--control=cat', '--name', 'count', script('counts', 'wc -c\n'))
    equal({name: (facts['quiesce_input'], facts['quiesce_output']) for name, facts in found.items()},
          {**{f'count/n={size}': (str(scratch(f'in-{size}')), str(scratch(f'out-{size}')))
              for size in (10, 20)}, 'control': ('/dev/null', '/dev/null')}, 'the files of each')
    equal([scratch(f'out-{size}').read_text(encoding='utf-8').strip() for size in (10, 20)], ['10', '20'],
          'what each wrote')
    one_line(run('--no-save', '-L', 'n=a,b', '--stdout', scratch('{n}.json'), '-o', scratch('b.json'), 'true'),
             2, '--stdout names the file of the result')
    one_line(run('--no-save', '-L', 'n=a,none', '--input', scratch('in-1{n}'), 'true'), 1, 'in-1a')


def compared(output):
    """The pairs that a text says were compared, and those of its order."""
    return (re.findall(r'^(.+), compared with (.+):$', output, re.M),
            [tuple(sorted(pair)) for pair in re.findall(
                r'^(?:no difference found between |unclear whether )?(\S+) (?:and|ran [\d.]+ times faster than|'
                r'is faster than) (\S+?)(?::.*|, [\d.]+ \.\. .*)?$', output, re.M)])


def test_scans_are_compared_with_the_same_combination():
    file = scratch('combinations.json')
    for arguments, expected in (
            (('--baseline', 'sleep {t}', '--', 'sleep', '0{t}'),
             [('sleep/t=0.01', 'baseline/t=0.01'), ('sleep/t=0.02', 'baseline/t=0.02')]),
            (('--baseline', 'sleep 0.01', '--', 'sleep', '0{t}'),
             [('sleep/t=0.01', 'baseline'), ('sleep/t=0.02', 'baseline')]),
            (('-L', 'x=a,b', '--baseline', 'sleep {t}', '--', 'sh', '-c', 'sleep 0{t}; : {x}'),
             [('sh/t=0.01/x=a', 'baseline/t=0.01'), ('sh/t=0.01/x=b', 'baseline/t=0.01'),
              ('sh/t=0.02/x=a', 'baseline/t=0.02'), ('sh/t=0.02/x=b', 'baseline/t=0.02')]),
            # With fewer parameters than the first program: the values of those that both have are the same.
            (('-L', 'x=a,b', '--baseline', "sh -c 'sleep {t}; : {x}'", '--', 'sleep', '0{t}'),
             [('sleep/t=0.01', 'baseline/t=0.01/x=a'), ('sleep/t=0.02', 'baseline/t=0.02/x=a')]),
            (('sleep', '{t}'), [('sleep/t=0.02', 'sleep/t=0.01')])):
        result = run('-v', '-o', file, '-n', 5, '-w', 0, '-L', 't=0.01,0.02', *arguments)
        equal(result.returncode, 0, result.stderr)
        pairs, order = compared(result.stdout)
        equal(pairs, expected, f'compared by runpinned {arguments}')
        # The order begins with the fastest, which need not be the one that all are compared with.
        groups = [{old, *(new for new, of in expected if of == old)} for old in {of for _, of in expected}]
        equal([sum(set(pair) <= group for pair in order) for group in groups],
              [len(group) - 1 for group in groups], f'the order: {result.stdout}')
        report = subprocess.run([os.environ['BENCH_REPORT'], 'compare', '--json', file], capture_output=True, text=True, check=True)
        equal([(each['new']['name'], each['old']['name'])
               for each in json.loads(report.stdout)['comparisons']], expected, 'compared by bench-report')


def test_scans_are_decided():
    """Each combination is compared with the same one, and where both are slower, each wants less."""
    result = run('--json', '--max-runs', 60, '-w', 0, '-L', 't=0.001,0.01', '--decide', 10, '--baseline',
                 'sleep {t}', '--', 'sh', '-c', 'sleep {t}; sleep 0.003')
    equal(result.returncode, 3, result.stderr)
    for line in ('sh/t=0.001, compared with baseline: slower by more than 5 %',
                 'sh/t=0.01, compared with baseline: slower by more than 5 %'):
        check(line in result.stdout + result.stderr, result.stderr)
    found = {one['metadata']['name']: one['metadata'] for one in json.loads(result.stdout)['benchmarks']}
    equal([(facts['quiesce_baseline'], facts.get('quiesce_decide_e_wanted')) for facts in found.values()],
          [('baseline/t=0.001', None), ('baseline/t=0.001', 100), ('baseline/t=0.01', None),
           ('baseline/t=0.01', 100)], 'metadata')


def test_each_combination_of_a_scan():
    equal(len(scanned('-P', 'a=1..8', '-P', 'b=1..8', 'echo', '{a}{b}')), 64, 'benchmarks')


def test_many_programs_need_many_open_files():
    """runpinned takes them; programs and hooks have the limit of the caller."""
    said = scratch('limits-of-files')
    many = ['-n', 1, '-w', 0, '-P', 'a=1..40', '--prepare', f'ulimit -Sn >>{said}', '--', 'sh', '-c',
            f'ulimit -Sn >>{said}; true {{a}}']
    limited = 'ulimit -{which}n {n} && exec "$@"'
    for which, status in (('S', 0), ('', 1)):
        said.write_text('', encoding='utf-8')
        result = subprocess.run(['sh', '-c', limited.format(which=which, n=200), 'sh', os.environ['RUNPINNED'],
                                 '--no-save', '-q', *map(str, many)], capture_output=True, text=True, check=False)
        equal(result.returncode, status, result.stderr)
        equal(said.read_text(encoding='utf-8').split(), ['200'] * 80 if status == 0 else [], 'limits')
    check('runpinned: 40 programs need 368 open files, and 200 are allowed (ulimit -Hn)\n' in result.stderr,
          result.stderr)


def test_few_open_files():
    """A small limit is that of the programs, and not that of what is known of the runs."""
    said = scratch('limit-of-few-files')
    for number in 16, 20, 64:
        said.write_text('', encoding='utf-8')
        result = subprocess.run(['prlimit', f'--nofile={number}:4096', os.environ['RUNPINNED'], '--no-save', '-q',
                                 '-n', '2', '-w', '0', '--setup', f'ulimit -n >>{said}', '--', 'sh', '-c',
                                 f'ulimit -n >>{said}'], capture_output=True, text=True, check=False)
        equal(result.returncode, 0, f'{number}: {result.stderr}')
        equal(said.read_text(encoding='utf-8').split(), [str(number)] * 3, 'limits')
        check('open files' not in result.stderr and 'changed' not in result.stderr, result.stderr)


# --- Time boxes ---

def test_at_least_this_long():
    began = time.monotonic()
    facts = metadata(measured('--evidence', 'none', '-n', 1, '-w', 0, '--min-time', '500ms', 'true'))
    check(time.monotonic() - began >= 0.5, 'it took as long')
    check(len(facts) > 1, 'more runs than -n')
    equal((facts[0]['quiesce_min_time'], 'quiesce_ended_by' in facts[0]), (0.5, False), 'metadata')
    facts = metadata(measured('-n', 1, '-w', 0, '--min-time', '1h', '--max-runs', 3, 'true'))
    equal(len(facts), 3, '--max-runs')


def test_no_longer_than_this():
    result = run('--json', '-n', 1000, '-w', 7, '--max-time', '300ms', 'sleep', '0.1')
    equal(result.returncode, 0, result.stderr)
    runs = metadata(json.loads(result.stdout)['benchmarks'][0])
    check(1 <= len(runs) < 1007, f'{len(runs)} runs')
    equal(runs[0]['quiesce_ended_by'], '--max-time', 'quiesce_ended_by')
    check(re.search(r'--max-time is over after \d+ of 1000 runs', result.stderr), result.stderr)
    result = run('--no-save', '-n', 1, '-w', 0, '--until-rel-error', 0.001, '--max-runs', 100000,
                 '--max-time', '300ms', 'sleep', '0.05')
    check('(--max-time)' in result.stdout, result.stdout)


def test_at_least_one_run_of_each_counts():
    result = run('--json', '-n', 1, '-w', 1000, '--max-time', '300ms', 'sleep', '0.1')
    check(re.search(r'--max-time is over after \d+ of 1000 warm-ups', result.stderr), result.stderr)
    equal([one['quiesce_ended_by'] for one in metadata(json.loads(result.stdout)['benchmarks'][0])][-1:], ['--max-time'],
          'quiesce_ended_by')
    found = scanned('-n', 5, '-w', 5, '--max-time', '1ms', '--baseline', 'sleep 0.05', 'true')
    check(all(one['quiesce_ended_by'] == '--max-time' for one in found.values()), found)
    # Of the warm-ups there may be one: the time is over behind it at the latest.
    equal({one['runs'] for one in found.values()} <= {1, 2}, True, 'runs of each')


# --- What is kept ---

def test_a_result_that_cannot_be_kept_is_a_warning():
    state = scratch('no-folder')
    state.write_text('a file, where the folder should be', encoding='utf-8')
    result = run('-q', '-n', 9, '-w', 0, 'true', env=environment(XDG_STATE_HOME=str(state)))
    equal(result.returncode, 0, 'status')
    lines = [line for line in result.stderr.splitlines() if 'not kept' in line]
    equal(len(lines), 1, result.stderr)
    check(lines[0].startswith('runpinned: warning: ') and '-o FILE' in lines[0], lines[0])
    quiet = run('-q', '-n', 9, '-w', 0, '--no-save', 'true', env=environment(XDG_STATE_HOME=str(state)))
    check('not kept' not in quiet.stderr, quiet.stderr)


def drawn(term):
    """What is written to a terminal of this kind."""
    status, text = on_terminal([RUNPINNED, '-c', CPU, '--no-save', '-n', '3', '-w', '0', 'sleep', '0.1'], stream='stderr',
                               stdout=subprocess.DEVNULL, env=environment(TERM=term))
    equal(status, 0, 'status')
    return text


def test_progress_needs_a_terminal_that_can_go_back():
    check('\x1b' in drawn('vt100'), 'a bar is drawn')
    check('\x1b' not in drawn('dumb'), 'escapes on a dumb terminal')


# --- Hooks ---

def test_hooks_are_run_around_the_runs():
    diary = Diary('hooks')
    hooks = [word for kind in ('setup', 'prepare', 'conclude', 'cleanup')
             for word in (f'--{kind}', diary.add(kind))]
    facts = metadata(measured(*hooks, '-n', 2, '-w', 1, diary.program))[0]
    equal(diary.words(), ['setup', *['prepare', 'run', 'conclude'] * 3, 'cleanup'], 'in order')
    for kind in ('setup', 'prepare', 'conclude', 'cleanup'):
        equal(facts[f'quiesce_{kind}'], diary.add(kind).replace('\n', r'\x0a'), 'metadata')


def test_hooks_of_several_programs():
    diary = Diary('several')
    programs = ('--command', f'a={diary.program} 1', '--command', f'b={diary.program} 2')
    once = ('--setup', diary.add('setup'), '--cleanup', diary.add('cleanup'))
    each = ('--prepare', diary.add('a'), '--prepare', diary.add('b'))
    result = run('--no-save', '-q', '-n', 3, '-w', 0, *programs, *once, *each)
    equal(result.returncode, 0, result.stderr)
    words = diary.words()
    equal((words[0], words[-1]), ('setup', 'cleanup'), 'once for both')
    equal(words[2:-1:2], ['run'] * 6, 'runs')
    equal(sorted(words[1:-1:2]), ['a'] * 3 + ['b'] * 3, 'each its own')


def test_control_has_no_hooks():
    diary = Diary('control')
    run('--no-save', '-q', '-n', 2, '-w', 0, '--control', '--control-length', 1, '--prepare',
        diary.add('prepare'), diary.program)
    equal(diary.words(), ['prepare', 'run'] * 2, 'in turn with a control')


def test_trials_for_the_length_of_the_control_have_hooks():
    diary = Diary('trials')
    once = ('--no-save', '-q', '-n', 1, '-w', 0, '--control', '--prepare', diary.add('prepare'), '--conclude',
            diary.add('conclude'))
    result = run(*once, diary.program)
    equal(result.returncode, 0, result.stderr)
    words = diary.words()
    check(len(words) > 3 and words == ['prepare', 'run', 'conclude'] * (len(words) // 3), words)
    # A trial that fails is no length, and is told.
    diary = Diary('trial-fails')
    failing = script('failing-trial', f'{diary.add("run")}echo no luck >&2\nexit 3\n')
    result = run('--no-save', '-q', '--control', '--conclude', diary.add('conclude'), '--cleanup',
                 diary.add('cleanup'), failing)
    equal(result.returncode, 1, 'status')
    equal(result.stderr, f'runpinned: {failing}: a run to find the length of the control failed: exit status 3\n'
          '  | no luck\n', 'what is said')
    equal(diary.words(), ['run', 'conclude', 'cleanup'], 'in order')
    result = run('--no-save', '-q', '-n', 1, '-w', 0, '--control', '--ignore-failure=3', failing)
    equal(result.returncode, 0, result.stderr)


def test_a_trial_that_is_stopped_is_concluded():
    mark, made = '86399.5', scratch('made-for-a-trial')
    process = start('--no-save', '-q', '--control', '--prepare', f'mkdir {made}', '--conclude', f'rmdir {made}',
                    'sleep', mark)
    await_running(mark)
    process.terminate()
    _, errors = process.communicate(timeout=PATIENCE)
    equal(process.returncode, 143, f'status ({errors})')
    check(not made.exists(), f'--conclude was not run ({errors})')


def test_setup_makes_the_program():
    made = scratch('made')
    result = run('--no-save', '-q', '-n', 1, '-w', 0, '--setup',
                 f"printf '#!/bin/sh\\n' >{made}; chmod +x {made}", '--cleanup', f'rm {made}', made)
    equal((result.returncode, made.exists()), (0, False), result.stderr)
    one_line(run('--no-save', '--setup', 'true', made), 1, str(made))
    plan = run('--dry-run', '--setup', 'touch x\ny', made)
    check('\nsetup: touch x\\x0ay\n' in plan.stdout, plan.stdout)


def test_a_hook_that_fails_ends_the_series():
    for kind, runs, words in (
            ('setup', None, ['failed', 'cleanup']), ('prepare', 2, ['run', 'run', 'failed', 'cleanup']),
            ('conclude', 2, ['run', 'run', 'failed', 'cleanup']), ('cleanup', 5, ['run'] * 5 + ['failed'])):
        diary = Diary(f'fails-{kind}')
        fail = f'echo no luck >&2; {diary.add("failed")}exit 3'
        if kind in ('prepare', 'conclude'):
            # Both after the second run: one of them before the third.
            fail = f'test "$(cat {diary.path} 2>&1 | grep -c run)" != 2 || {{ {fail}; }}'
        more = () if kind == 'cleanup' else ('--cleanup', diary.add('cleanup'))
        file = scratch(f'fails-{kind}.json')
        result = run('-o', file, '-q', '-n', 5, '-w', 0, f'--{kind}', fail, *more, diary.program)
        equal(result.returncode, 1, f'status of --{kind}')
        lines = result.stderr.splitlines()
        check(lines[0].startswith(f'runpinned: --{kind} ') and lines[0].endswith('exit status 3'), lines)
        equal(lines[1], '  | no luck', 'what it says')
        equal(diary.words(), words, f'--{kind}')
        equal(file.exists(), runs is not None, 'the result is kept')
        if runs is not None:
            benchmark = json.loads(file.read_text(encoding='utf-8'))['benchmarks'][0]
            facts = metadata(benchmark)
            equal(len(facts), runs, 'runs')
            equal('quiesce_incomplete' in facts[0], kind != 'cleanup', 'incomplete')
            if kind != 'cleanup':
                check(f'--{kind} failed: exit status 3' in facts[0]['quiesce_incomplete'], facts[0])


def test_conclude_and_cleanup_after_a_run_that_failed():
    diary = Diary('concluded')
    program = script('failing', diary.add('run') + 'exit 1\n')
    result = run('--no-save', '-q', '-w', 0, '--conclude', diary.add('conclude'), '--cleanup',
                 diary.add('cleanup'), program)
    equal(result.returncode, 1, 'status')
    equal(diary.words(), ['run', 'conclude', 'cleanup'], 'in order')


def test_a_hook_that_takes_too_long_is_killed_with_all_it_started():
    mark = '86399.125'
    result = run('--no-save', '-q', '-w', 0, '--hook-timeout', '300ms', '--prepare',
                 f'setsid sleep {mark} & sleep {mark}; true', 'true')
    equal(result.returncode, 1, 'status')
    check('--hook-timeout' in result.stderr, result.stderr)
    check(not processes_with(mark), 'nothing is left')


def test_a_hook_is_stopped_with_runpinned():
    mark = '86399.25'
    diary = Diary('stopped')
    process = start('--no-save', '-w', 0, '--prepare', f'sleep {mark}; true', '--cleanup',
                    diary.add('cleanup'), 'true')
    await_running(mark)
    process.terminate()
    process.communicate(timeout=PATIENCE)
    equal(process.returncode, 143, 'status')
    equal(diary.words(), ['cleanup'], 'cleanup is run')
    check(not processes_with(mark), 'nothing is left')
    process = start('--no-save', '-w', 0, '--prepare', f'sleep {mark}; true', 'true')
    await_running(mark)
    process.kill()
    process.communicate(timeout=PATIENCE)
    check(gone(mark), 'nothing is left after SIGKILL')


def test_a_cleanup_that_fails_is_told_after_a_stop_as_well():
    mark = '86399.375'
    process = start('--no-save', '-q', '-w', 0, '--cleanup', 'echo no luck >&2; exit 4', 'sleep', mark)
    await_running(mark)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    equal(process.returncode, 130, 'status')
    check('--cleanup' in errors and 'exit status 4' in errors and '  | no luck' in errors, errors)


def test_hooks_run_on_the_other_cpus():
    if len(os.sched_getaffinity(0)) < 2:
        raise machine.Skip('two CPUs are needed')
    where = scratch('where')
    run('--no-save', '-q', '-n', 1, '-w', 0, '--prepare', f'grep Cpus_allowed_list: /proc/self/status >{where}',
        'true')
    check(not re.search(rf'\b{CPU}$', where.read_text(encoding='utf-8')), where.read_text(encoding='utf-8'))


def test_what_a_hook_does_is_not_the_runs():
    """Its faults and switches, and its time, are not in the evidence of the run."""
    benchmark = measured('-n', 3, '-w', 0, '--prepare', 'sleep 0.3', 'true')
    check(all(value < 0.3 for run in benchmark['runs'] for value in run['values']), 'values')


def test_habits_of_hyperfine_users():
    """What another tool calls otherwise is named as it is here, and a program that would be the argument of
    another one is pointed out, but for programs that are for that."""
    for option, said in (('-r', 'no option -r: how many runs is -n (--runs)'),
                         ('-N', 'no option -N: there is no shell unless --shell asks for one'),
                         ('--export-json=x.json', 'no option --export-json: write -o FILE (--output)'),
                         ('--time-unit', 'no option --time-unit: write --unit'),
                         ('--min-runs', 'no option --min-runs: write -n'),
                         ('--reference', 'no option --reference: write --baseline'),
                         ('-qr', 'no option -r: how many runs is -n')):
        one_line(run(option, '5', 'true'), 2, said)
    folder = scratch('habits')
    folder.mkdir()
    for name in 'old', 'new', 'python3.99', 'plain':
        (folder / name).write_bytes(b'#!/bin/sh\n' if name == 'plain' else pathlib.Path('/bin/true').read_bytes())
        (folder / name).chmod(0o755)
    (folder / 'data').write_text('1\n', encoding='ascii')
    said = 'note: ./new is an argument of ./old; to compare the two: runpinned --baseline ./old -- ./new 1\n'

    def notes(*words, **options):
        result = run('--dry-run', '--no-save', *words, cwd=folder, **options)
        equal(result.returncode, 0, result.stderr)
        return ''.join(line for line in result.stderr.splitlines(keepends=True) if 'to compare' in line)

    equal(notes('./old', './new', '1'), f'runpinned: {said}', 'of two programs')
    for words in (('--', './old', './new'), ('./old', 'data'), ('./old',), ('./plain', './new'), ('./python3.99', './new'),
                  ('env', './old', './new'), ('sh', './old', './new'), ('-q', './old', './new'),
                  ('--baseline', './old', './new')):
        equal(notes(*words), '', words)
    for words, named in ((('./new', '--baseline', './old'), '--baseline'), (('./new', '1', '--decide=2'), '--decide'),
                         (('--baseline', './old', './new', '--max-runs', '3'), '--max-runs')):
        check(f'runpinned: note: {named} is an argument of ./new: options of runpinned stand before the program\n' in
              run('--dry-run', '--no-save', *words, cwd=folder).stderr, words)
    for words in (('--', './new', '--decide'), ('./plain', '--decide'), ('env', './new', '--decide'),
                  ('./new', '-n', '--decided'), ('--decide', '2', '--baseline', './old', './new')):
        equal('stand before' in run('--dry-run', '--no-save', *words, cwd=folder).stderr, False, words)
    one_line(run('--no-save', 'old', cwd=folder), 1, 'no program of that name in PATH (did you mean ./old?)')
    one_line(run('--no-save', '-e', 'cache-mises', 'true'), 2, '(did you mean cache-misses?)')
    one_line(run('--no-save', '-e', 'zzzzzz', 'true'), 2, '; there are: task-clock, cpu-clock, page-faults, ')


TESTS = machine.tests_of(globals())

if __name__ == '__main__':
    # `test_runpinned_options.py WORD...` runs the tests whose names contain one of the words.
    machine.run_tests((name, tidy(function)) for name, function in machine.named_tests(TESTS))
