# SPDX-License-Identifier: GPL-2.0-or-later
"""qs_repeat, as the compiler makes code of it with the options that its users have. A TAP test.

    test_repeat.py INCLUDE COMPILER...
"""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'machine'))

from machine import Skip, check, equal, run_tests  # noqa: E402

INCLUDE, *COMPILER = sys.argv[1:]
# Each copy of the work that is in the program puts a byte into the section.
PROGRAM = r'''
#include <quiesce/benchmark.h>
#include <stdio.h>

extern const char __start_copies[], __stop_copies[];

__attribute__((noinline)) static uint64_t work(uint64_t loops)
{
	uint64_t n = 0;

	qs_repeat (loops) {
		__asm__ volatile(".pushsection copies,\"a\"\n.byte 1\n.popsection" : "+r"(n));
		n++;
	}
	return n;
}

__attribute__((noinline)) static uint64_t leave(uint64_t loops, uint64_t at)
{
	uint64_t n = 0;

	qs_repeat (loops) {
		if (n == at)
			break;
		n++;
		if (n % 2)
			continue;
		qs_keep(n);
	}
	return n;
}

__attribute__((noinline)) static uint64_t nest(uint64_t loops)
{
	uint64_t n = 0;

	qs_repeat (loops)
		qs_repeat (3U)
			n++;
	return n;
}

int main(void)
{
	for (uint64_t loops = 0; loops < 40; loops++)
		for (uint64_t at = 0; at < 40; at++)
			if (work(loops) != loops || nest(loops) != 3 * loops ||
				leave(loops, at) != (at < loops ? at : loops))
				return 1;
	printf("%d\n", (int)(__stop_copies - __start_copies));
	return 0;
}
'''


def compiled(text, folder, *options):
    source = pathlib.Path(folder, 'repeat.c')
    source.write_text(text, encoding='utf-8')
    return subprocess.run([*COMPILER, '-std=gnu11', '-Wall', '-Wextra', '-Werror', *options, '-I', INCLUDE, '-o',
                           pathlib.Path(folder, 'repeat'), source], capture_output=True, text=True, check=False)


def count(*options):
    """How many copies of the work the program has, which has counted right."""
    with tempfile.TemporaryDirectory(prefix='repeat.') as folder:
        if compiled('int main(void) { return 0; }\n', folder, *options).returncode != 0:
            raise Skip('the compiler cannot do that')
        made = compiled(PROGRAM, folder, *options)
        equal(made.returncode, 0, made.stderr)
        ran = subprocess.run([pathlib.Path(folder, 'repeat')], capture_output=True, text=True, check=False, timeout=60)
        equal(ran.returncode, 0, 'turns')
        return int(ran.stdout)


def unrolled(*options):
    check(count(*options) >= 8, 'it is not unrolled')


def test_without_optimization():
    equal(count('-O0'), 1, 'copies')


run_tests([('without optimization', test_without_optimization),
           *((' '.join(options), lambda options=options: unrolled(*options))
             for options in (('-O2',), ('-O3',), ('-Os',), ('-O2', '-flto'), ('-Os', '-flto')))])
