# SPDX-License-Identifier: GPL-2.0-or-later
"""The two programs of docs/from-google-benchmark.md, and those of the manual pages and the headers of
libquiesce, built and run. A TAP test.

    test_page.py PAGE LIBRARY INCLUDE COMPILER...

Odd blocks of code are google/benchmark's program, even ones libquiesce's.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'machine'))

from machine import Skip, check, run_tests, tests_of  # noqa: E402

PAGE, LIBRARY, INCLUDE, *COMPILER = sys.argv[1:]
SCRATCH = tempfile.TemporaryDirectory(prefix='page.')
ENVIRONMENT = {**os.environ, 'LD_LIBRARY_PATH': os.path.dirname(LIBRARY)}


def run(*command):
    result = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, check=False, timeout=120, env=ENVIRONMENT)
    check(result.returncode == 0, f'{command[0]}: {result.returncode}: {result.stderr}')
    return result.stdout


def build(side, *arguments):
    """The path of the program of one column."""
    blocks = re.findall(r'^```cpp\n(.*?)^```$', pathlib.Path(PAGE).read_text(encoding='utf-8'),
                        re.M | re.S)
    check(len(blocks) > 2 and len(blocks) % 2 == 0, f'{len(blocks)} blocks')
    source = pathlib.Path(SCRATCH.name, f'program-{side}.cc')
    source.write_text('\n'.join(blocks[side::2]), encoding='utf-8')
    program = source.with_suffix('')
    run(*COMPILER, '-std=c++17', '-O2', '-Wall', '-Wextra', '-Werror', '-Wno-sign-compare',
        '-o', program, source, *arguments, '-lpthread')
    return program


def build_ours():
    return build(1, f'-I{INCLUDE}', LIBRARY)


def build_theirs():
    flags = subprocess.run(['pkg-config', '--cflags', '--libs', 'benchmark'], capture_output=True,
                           text=True, check=False)
    if flags.returncode != 0:
        raise Skip('no google/benchmark here (libbenchmark-dev)')
    return build(0, *flags.stdout.split())


def test_ours():
    program = build_ours()
    output = run(program, '--processes=1', '--values=2', '--warmups=0', '--min-time=0.00001')
    for name in run(program, '--list').splitlines():
        check(re.search(rf'^{re.escape(name)} +[0-9.]+ [munp]?s ', output, re.M), f'{name}: {output}')
    for line in (r'^ +bytes +[0-9.]+ ', r'^ +items +[0-9.]+ ', r'^ +sum +1792$', '^growth of copy: '):
        check(re.search(line, output, re.M), f'{line}: {output}')


def test_theirs():
    output = run(build_theirs(), '--benchmark_min_time=0.0001')
    for line in ('^copy_BigO ', '^sort/1000 ', '^table/sum/256 .*sum=1.792k'):
        check(re.search(line, output, re.M), f'{line}: {output}')


def test_same_names():
    theirs = run(build_theirs(), '--benchmark_list_tests').splitlines()
    ours = run(build_ours(), '--list').splitlines()
    check(ours == theirs, f'{ours} and {theirs}')


def build_example(name, language, text):
    """With the warnings that careful users have."""
    source = pathlib.Path(SCRATCH.name, name)
    source.write_text(text, encoding='utf-8')
    program = source.with_suffix('.program')
    run(*COMPILER, '-x', language, f'-std={"c++11" if language == "c++" else "c11"}', '-O2', '-Wall', '-Wextra',
        '-Wconversion', '-Wsign-conversion', '-Wshadow', '-Werror', f'-I{INCLUDE}', '-o', program, source,
        '-x', 'none', LIBRARY)
    return program


def test_headers():
    """The program in the first comment of each."""
    for name, language, include in (('benchmark.h', 'c', 'string.h'), ('benchmark.hpp', 'c++', 'cstring')):
        text = pathlib.Path(INCLUDE, 'quiesce', name).read_text(encoding='utf-8').partition(' */\n#ifndef')[0]
        code = re.findall(r'^ \*(\t.*)$', text, re.M)
        check(len(code) > 10, f'{name}: {code}')
        program = build_example(name.replace('.', '-'), language, '\n'.join(
            [f'#include <quiesce/{name}>', f'#include <{include}>', *code, '']))
        run(program, '--processes=1', '--values=1', '-q')


def test_manual_pages():
    """What is an example there is a program: as it stands, in C or C++."""
    built = 0
    for page in sorted((pathlib.Path(__file__).parents[2] / 'man').glob('*.3.scd')):
        text = page.read_text(encoding='utf-8')
        for block in re.findall(r'^```\n(#include.*?)^```$', text, re.M | re.S):
            language = 'c++' if '.hpp>' in block else 'c'
            # scdoc takes a backslash for itself.
            program = build_example(f'example-{built}', language, block.replace('\\\\', '\\'))
            run(program, *(['--processes=1', '--values=1', '-q'] if 'qs_main' in page.name else []))
            built += 1
    check(built >= 3, f'{built} examples')


if __name__ == '__main__':
    run_tests(tests_of(globals()))
