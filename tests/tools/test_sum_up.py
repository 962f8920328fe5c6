#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sum-up decides whether all tests passed: what it must count, and what it must not overlook."""

import pathlib
import subprocess
import sys
import tempfile

SUM_UP = pathlib.Path(__file__).resolve().with_name('sum-up')

# As meson 1.0 writes them, and 1.7 with the suites in front of the names.
JUNIT = '''<?xml version='1.0' encoding='utf-8'?>
<testsuites tests="6" errors="1" failures="1">
<testsuite name="quiesce.{prefix}parse">
 <testcase name="1 - good" classname="x" />
 <testcase name="2 - bad" classname="x">{bad}</testcase>
 <testcase name="3 - lacks" classname="x"><skipped /><system-out>no knob</system-out></testcase>
 <system-out>ok 1 - good {control}
not ok 2 - bad
# Failed: 1 &lt; 0
# really
ok 3 - lacks # SKIP no knob
# another's</system-out>
</testsuite>
<testsuite name="quiesce">
 <testcase name="{prefix}alone" classname="quiesce" />
 <testcase name="{prefix}absent" classname="quiesce"><skipped />
  <system-out>1..0 # SKIP nothing here</system-out></testcase>
</testsuite>
</testsuites>
'''
JSON = '{{"name": "quiesce:unit / parse", "result": "{result}"}}\n'


def sum_up(*directories, broken=(), untried=(), bad='', result='OK', prefix='', control='',
           setup=''):
    """Status and output lines of sum-up on directories; 'none' has no log, 'cut' half a one."""
    with tempfile.TemporaryDirectory() as top:
        for name in directories:
            name, _, base = name.partition(':')
            base = base or 'testlog'
            logs = pathlib.Path(top, name, 'meson-logs')
            logs.mkdir(parents=True, exist_ok=True)
            text = JUNIT.format(bad=bad, prefix=prefix, control=control)
            if name != 'none':
                text = text[:len(text) // 2] if name == 'cut' else text
                (logs / f'{base}{setup}.junit.xml').write_text(text)
                (logs / f'{base}{setup}.json').write_text(JSON.format(result=result))
        done = subprocess.run([sys.executable, SUM_UP, *(f'--broken={what}' for what in broken),
                               *(f'--skipped={what}' for what in untried),
                               *directories], cwd=top, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines() + done.stderr.splitlines()


SKIPPED = ['skipped {}: parse: 3 - lacks (no knob)', 'skipped {}: absent (nothing here)']
FAILED = ['FAILED  a: parse: 2 - bad', '           # Failed: 1 < 0', '           # really']


def skipped(directory):
    return [line.format(directory) for line in SKIPPED]


CASES = [
    ('all is well', sum_up('a'), (0, [*skipped('a'), '3 passed, 0 failed, 2 skipped'])),
    ('a test setup of its own', sum_up('a', setup='-full'),
     (0, [*skipped('a'), '3 passed, 0 failed, 2 skipped'])),
    ('several builds', sum_up('a', 'b'),
     (0, [*skipped('a'), *skipped('b'), '6 passed, 0 failed, 4 skipped'])),
    ('two logs of a build', sum_up('a', 'a:beside', setup='-full'),
     (0, [*skipped('a'), *skipped('a:beside'), '6 passed, 0 failed, 4 skipped'])),
    ('a subtest failed, which counts once', sum_up('a', bad='<failure />', result='FAIL'),
     (1, [*skipped('a'), *FAILED, '2 passed, 1 failed, 2 skipped'])),
    ('the same by newer meson',
     sum_up('a', bad='<failure />', result='ERROR', prefix='quiesce:unit / '),
     (1, [*skipped('a'), *FAILED, '2 passed, 1 failed, 2 skipped'])),
    ('a subtest with an error', sum_up('a', bad='<error />', result='ERROR'),
     (1, [*skipped('a'), *FAILED, '2 passed, 1 failed, 2 skipped'])),
    ('a crash behind the last subtest', sum_up('a', result='ERROR'),
     (1, [*skipped('a'), 'FAILED  a: parse (error)', '3 passed, 1 failed, 2 skipped'])),
    ('control characters in the log', sum_up('a', control='\x1b[31m'),
     (0, [*skipped('a'), '3 passed, 0 failed, 2 skipped'])),
    ('a build that broke', sum_up('a', broken=['build of b']),
     (1, [*skipped('a'), 'FAILED  build of b', '3 passed, 1 failed, 2 skipped'])),
    ('a build that was not tried', sum_up('a', untried=['build of b (no b)']),
     (0, ['skipped build of b (no b)', *skipped('a'), '3 passed, 0 failed, 3 skipped'])),
    ('nothing at all', sum_up(), (1, ['0 passed, 0 failed, 0 skipped'])),
]


def main():
    results = [(name, got == wanted, f'{got} instead of {wanted}') for name, got, wanted in CASES]
    for name in ('none', 'cut'):
        status, lines = sum_up(name)
        good = (status == 1 and lines[0].startswith(f'FAILED  {name}: no test log: ')
                and lines[1:] == ['0 passed, 1 failed, 0 skipped'])
        results.append((f'no log: {name}', good, str(lines)))
    with tempfile.TemporaryDirectory() as top:
        # The log of others is not taken for one that is missing.
        logs = pathlib.Path(top, 'meson-logs')
        logs.mkdir()
        (logs / 'testlog.junit.xml').write_text(JUNIT.format(bad='', prefix='', control=''))
        (logs / 'testlog.json').write_text(JSON.format(result='OK'))
        done = subprocess.run([sys.executable, SUM_UP, f'{top}:beside'], capture_output=True, text=True,
                              check=False)
        good = done.returncode == 1 and done.stdout.startswith(f'FAILED  {top}:beside: no test log: ')
        results.append(('no log beside another one', good, done.stdout))
    print(f'1..{len(results)}')
    for number, (name, good, what) in enumerate(results, 1):
        print(f'ok {number} - {name}' if good else f'not ok {number} - {name}\n# {what}')
    return 0 if all(good for _, good, _ in results) else 1


if __name__ == '__main__':
    sys.exit(main())
