#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the shells themselves offer after a TAB. usage: test_completions.py TOOL..."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

from machine import Skip, check, equal, run_tests

TOOLS = {pathlib.Path(tool).name: pathlib.Path(tool).resolve() for tool in sys.argv[1:]}
FILES = {shell: pathlib.Path(os.environ[f'COMPLETION_{shell.upper()}'])
         for shell in ('bash', 'fish', 'zsh')}
BASH_LIBRARY = pathlib.Path('/usr/share/bash-completion/bash_completion')
DEADLINE = 60  # seconds
END = '<<<end>>>'
ZSH = tempfile.TemporaryDirectory(prefix='zsh.')
# What git allows in the name of a branch, and no shell may run.
HOSTILE = 'to$(id>pwned)`id>pwned`'


def find(shell):
    path = shutil.which(shell)
    if not path:
        raise Skip(f'{shell} is not installed')
    return path


def environment(home):
    """The tools are found by their names, as when they are installed."""
    folder = pathlib.Path(home, 'bin')
    folder.mkdir()
    for name, tool in TOOLS.items():
        (folder / name).symlink_to(tool)
    pathlib.Path(home, 'result.json').touch()
    pathlib.Path(home, 'folder').mkdir()
    if shutil.which('git'):
        for words in (['init', '-b', 'topic'], ['commit', '--allow-empty', '-m', 'first'], ['tag', 'v1'],
                      ['branch', HOSTILE]):
            subprocess.run(['git', '-c', 'user.name=x', '-c', 'user.email=x', '-c', 'init.defaultBranch=x',
                            *words], cwd=home, env={**os.environ, 'HOME': home}, check=True,
                           capture_output=True)
    return {'PATH': f'{folder}:/usr/bin:/bin:/usr/sbin:/sbin', 'HOME': home, 'LC_ALL': 'C.UTF-8',
            'TERM': 'dumb', 'XDG_CONFIG_HOME': home, 'XDG_DATA_HOME': home, 'ZDOTDIR': home,
            'PS1': '> '}


# Each answers with what is offered at the end of the line: the words, without descriptions.

def ask_bash(line, home, env):
    if not BASH_LIBRARY.exists():
        raise Skip('bash-completion is not installed')
    words = line.split(' ')
    # As readline cuts the line into words, "=" is a word of its own.
    cut = [part for word in words for part in (re.findall(r'=|[^=]+', word) or [''])]
    script = '''
        . "$1"; . "$2"; shift 2
        COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9 COMP_KEY=9; shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        compopt() { :; }
        _quiesce "$1" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
        printf '%s\\n' "${COMPREPLY[@]}"
    '''
    result = subprocess.run([find('bash'), '--norc', '-c', script, 'bash', BASH_LIBRARY, FILES['bash'],
                             line, *cut], cwd=home, env=env, stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=DEADLINE, check=False)
    equal(result.stderr, '', f'bash: {line}')
    return {word.strip() for word in result.stdout.splitlines()} - {''}


def ask_fish(line, home, env):
    result = subprocess.run([find('fish'), '--no-config', '-c',
                             'source $argv[1]; complete -C $argv[2]', FILES['fish'], line],
                            cwd=home, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, timeout=DEADLINE, check=False)
    equal(result.stderr, '', f'fish: {line}')
    return {each.split('\t')[0] for each in result.stdout.splitlines()}


def ask_zsh(line, home, env):
    """zsh completes at a terminal only. What it would insert is taken from compadd by a function
    of the same name, which asks the built-in one. The list of all completions, which takes zsh a quarter
    of a second, is made for the first line and kept for the others."""
    folder = pathlib.Path(ZSH.name, 'functions')
    folder.mkdir(exist_ok=True)
    shutil.copy(FILES['zsh'], folder / '_quiesce')
    out = pathlib.Path(home, 'offered')
    out.write_text('')
    pathlib.Path(home, '.zshrc').write_text(f'''
        fpath=({folder} $fpath)
        autoload -Uz compinit; compinit -u -d {ZSH.name}/dump
        unsetopt beep; setopt no_auto_menu
        compadd() {{
            if [[ ${{@[1,(i)(-|--)]}} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
            local -a offered; builtin compadd -A offered "$@"
            print -rl -- $offered >>{out}
            builtin compadd "$@"
        }}
        done-with-it() {{ zle complete-word; print -r -- '{END}' >>{out}; BUFFER=; zle send-break }}
        zle -N done-with-it; bindkey '^I' done-with-it
        print READY
    ''')
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(home)
        os.execve(find('zsh'), ['zsh', '-i'], env)
    try:
        said, deadline = b'', time.monotonic() + DEADLINE
        sent = False
        while END not in out.read_text():
            check(time.monotonic() < deadline, f'zsh: {line}: nothing is offered: {said[-500:]!r}')
            if select.select([terminal], [], [], 0.05)[0]:
                try:
                    said += os.read(terminal, 4096)
                except OSError as error:
                    raise AssertionError(f'zsh has ended: {said[-500:]!r}') from error
            if not sent and b'READY' in said:
                os.write(terminal, line.encode() + b'\t')
                sent = True
    finally:
        os.close(terminal)
        os.kill(child, 9)
        os.waitpid(child, 0)
    return set(out.read_text().replace(END, '').split('\n')) - {''}


ASK = {'bash': ask_bash, 'fish': ask_fish, 'zsh': ask_zsh}


def offered(shell, line):
    with tempfile.TemporaryDirectory(prefix='completions.') as home:
        found = ASK[shell](line, home, environment(home))
        check(not pathlib.Path(home, 'pwned').exists(), f'{line!r} runs the name of a branch')
    # zsh may offer an option with the sign that joins its value, or without.
    return {word.rstrip('=') if word.startswith('--') and shell == 'zsh' else word for word in found}


def options_of(tool):
    text = subprocess.run([TOOLS[tool], '--help'], capture_output=True, text=True,
                          check=True).stdout
    return set(re.findall(r'^  (?:(?:-.,|   ) (?=--)|(?=-(?:.|-[a-z-]+) [A-Z]))(--?[A-Za-z-]+)', text, re.MULTILINE))


def check_options(shell):
    for tool in TOOLS:
        options = options_of(tool)
        check(len(options) >= 3, f'{tool}: {options}')
        found = {re.sub('=$', '', word) for dashes in ('-', '--')
                 for word in offered(shell, f'{tool} {dashes}')}
        missing = options - found
        check(not missing, f'{tool}: not offered: {missing}')
        strange = {word for word in found if word.startswith('--')} - options
        check(not strange, f'{tool}: offered, and not there: {strange}')


def has(shell, line, *words, never=()):
    found = offered(shell, line)
    check(set(words) <= found, f'{line!r}: {words} are not in {sorted(found)[:40]}')
    check(not set(never) & found, f'{line!r}: {never} are in {sorted(found)[:40]}')


def check_verbs(shell):
    has(shell, 'freq-pin ', 'apply', 'status', 'restore', 'base', never=['result.json'])
    has(shell, 'freq-pin st', 'status', never=['restore'] if shell != 'fish' else [])
    has(shell, 'bench-report ', 'show', 'compare', 'plot')
    has(shell, 'bench-report show ', 'result.json')
    has(shell, 'cpu-shield ', 'run', 'status')


def check_commits(shell):
    """quiesce-gate takes one or two commits, and behind "--" a program, which quiesce-bisect has at once."""
    find('git')
    has(shell, 'quiesce-gate ', 'topic', 'v1', never=['result.json', 'bisect'])
    quoted = re.sub(r'([$()>`])', r'\\\1', HOSTILE) if shell != 'fish' else HOSTILE
    has(shell, 'quiesce-gate -p 3 v1 to', 'topic', quoted, never=['result.json'])
    if shell == 'bash':
        has(shell, f'quiesce-gate {quoted[:6]}', quoted, never=['topic'])
    has(shell, 'quiesce-gate v1 topic -- res', 'result.json', never=['topic'])
    has(shell, 'quiesce-gate v1 -- res', 'result.json', never=['topic'])
    has(shell, 'quiesce-gate --s', '--session', '--seed')
    has(shell, 'quiesce-gate --session ', 'result.json', never=['topic'])
    has(shell, 'quiesce-bisect res', 'result.json', never=['topic', 'bisect'])
    folder = 'folder/' if shell == 'fish' else 'folder'
    has(shell, 'quiesce-gate -d ', folder, never=['result.json'])


def check_values(shell):
    first = re.match('[0-9]+', pathlib.Path('/sys/devices/system/cpu/online').read_text())[0]
    has(shell, 'runpinned -c ', first, 'auto')
    has(shell, 'runpinned --cpus ', first, 'auto')
    has(shell, 'quiesce-gate -c ', first, 'auto')
    for tool in ('freq-pin', 'isol-check'):
        has(shell, f'{tool} -c ', first, never=['auto'])
    has(shell, 'runpinned -o ', 'result.json')
    has(shell, 'runpinned --output ', 'result.json')
    joined = '' if shell != 'fish' else '--strict='
    has(shell, 'freq-pin --strict=', f'{joined}refused')
    joined = '' if shell != 'fish' else '--output='
    has(shell, 'runpinned --output=res', f'{joined}result.json')


def check_programs(shell):
    """A program to run, and what the program takes: here a folder, which cd alone would take."""
    has(shell, 'runpinned -n 5 isol-ch', 'isol-check')
    has(shell, 'runpinned -n 5 -- isol-ch', 'isol-check')
    has(shell, 'runpinned -n 5 isol-check --exp', '--explain')
    has(shell, 'cpu-shield run -c 1 -- isol-ch', 'isol-check')


run_tests((f'{shell}: {what}', lambda shell=shell, function=function: (find(shell), function(shell))[1])
          for shell in ASK
          for what, function in (('options', check_options), ('verbs', check_verbs), ('commits', check_commits),
                                 ('values', check_values), ('programs', check_programs)))
