#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How every tool answers whoever does not know it yet: its help, and what it says of options that
there are not. usage: test_help.py TOOL..."""

import os
import pathlib
import re
import subprocess
import sys

import machine
from machine import check, equal


def run(tool, *arguments, stdout=subprocess.PIPE):
    return subprocess.run([tool, *arguments], stdin=subprocess.DEVNULL, stdout=stdout,
                          stderr=subprocess.PIPE, text=True, check=False)


def read_help(tool):
    result = run(tool, '--help')
    equal((result.returncode, result.stderr), (0, ''), '--help')
    return result.stdout


def check_tool(tool):
    name = pathlib.Path(tool).name
    text = read_help(tool)
    check(text.startswith(f'Usage: {name} '), 'it does not begin with the usage')
    for line in text.splitlines():
        check(len(line) <= 80, f'too wide: {line}')
        equal(line, line.rstrip(), 'blanks at the end')
    equal(run(tool, '-h').stdout, text, '-h')
    result = run(tool, '--version')
    equal((result.returncode, result.stderr), (0, ''), '--version')
    missing = os.environ['BUILT_WITHOUT']
    check(re.fullmatch(rf'{name} \(quiesce\) [0-9.]+\n', result.stdout.replace(f'built without {missing}\n', ''))
          and (not missing or f'\nbuilt without {missing}\n' in result.stdout), f'--version: {result.stdout}')
    for option in '--help', '--version':
        with open('/dev/full', 'w', encoding='utf-8') as full:
            result = run(tool, option, stdout=full)
        closed = run('sh', '-c', 'exec "$@" >&-', 'sh', tool, option)
        for where, result in ('a full disk', result), ('nothing', closed):
            equal(result.returncode, 1, f'{option} to {where}')
            check(f'{name}: cannot write to standard output: ' in result.stderr, f'{option}: {result.stderr}')
    for arguments, says in ((['--no-such-option'], 'there is no option --no-such-option'),
                            (['--hepl'], 'there is no option --hepl (did you mean --help?)'),
                            (['-Z'], 'there is no option -Z'),
                            (['--help=now'], '--help takes no value'),
                            (['--version', '-Z'], None)):
        result = run(tool, *arguments)
        if says is None:
            equal(result.returncode, 0, 'the first of two that end it')
            continue
        equal((result.returncode, result.stdout), (2, ''), f'{arguments}')
        equal(result.stderr, f'{name}: {says}; see {name} --help\n', f'{arguments}')
    # A word that is none, which runpinned takes for a program, and runserved for a service.
    needed = ['--load', 'load {port}', '--requests', '1'] if name == 'runserved' else []
    result = run(tool, *needed, 'no-such-word')
    equal((result.returncode, result.stdout), (1 if name.startswith('run') else 2, ''), 'a wrong word')
    check(re.fullmatch(rf"{name}: [^\n]*no-such-word[^\n]*\n", result.stderr), result.stderr)
    # Each option that the help lists exists.
    listed = re.findall(r'^  (?:-\w, |    )(--[a-z-]+)', text, re.MULTILINE)
    check('--version' in listed, 'the help does not list --version')
    for option in listed:
        said = run(tool, f'{option}=').stderr
        check('there is no option' not in said, f'{option}: {said}')


def check_formats(tool):
    """The help of a verb names the formats that the verb takes, and no others."""
    for verb in 'show', 'stats', 'check', 'compare':
        text = run(tool, verb, '--help').stdout
        for form in 'github-action-benchmark', 'customBiggerIsBetter', 'bencher', 'junit':
            is_taken = 'does not take' not in run(tool, verb, '--format', form).stderr
            equal(form in text, is_taken, f'{verb} --format {form}')


def check_verbs(tool):
    """The help of a verb has what it needs, and what status 3 means; what is no verb has none."""
    for verb, says in (('compare', '--fail-worse found one, or --fail-unclear one that is unclear'),
                       ('trend', '--fail-worse found a change'), ('fleet', 'a machine differs')):
        check(f'\nExit status 3: {says}.\n' in run(tool, verb, '--help').stdout, verb)
    check('xit status 3' in run(tool, 'check', '--help').stdout, 'check')
    check('status 3' not in run(tool, 'show', '--help').stdout, 'show')
    check(run(tool, 'plot', '--help').stdout.startswith('Usage: bench-report plot [OPTIONS] -o FILE FILE|FOLDER...\n'),
          'plot without -o')
    for word, says in (('export', "'export' is no verb"), ('comapre', "'comapre' is no verb (did you mean compare?)")):
        for arguments in (word, '--help'), (word, 'show', '--help'), (word, '-h'):
            result = run(tool, *arguments)
            equal((result.returncode, result.stdout), (2, ''), f'{arguments}')
            equal(result.stderr, f'bench-report: {says}; see bench-report --help\n', f'{arguments}')
    equal(run(tool, '-b', 'export', '--help').stdout, read_help(tool), 'the value of an option')


TESTS = [(f'formats of the verbs of {pathlib.Path(tool).name}', lambda tool=tool: check_formats(tool))
         for tool in sys.argv[1:] if pathlib.Path(tool).name == 'bench-report']
TESTS += [(f'help of the verbs of {pathlib.Path(tool).name}', lambda tool=tool: check_verbs(tool))
          for tool in sys.argv[1:] if pathlib.Path(tool).name == 'bench-report']
machine.run_tests(TESTS + [(f'help of {pathlib.Path(tool).name}', lambda tool=tool: check_tool(tool))
                           for tool in sys.argv[1:]])
