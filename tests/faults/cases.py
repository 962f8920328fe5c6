# SPDX-License-Identifier: GPL-2.0-or-later
"""Which failures of measure-fault and failing-malloc are tried, and which of them in a sample; and a
campaign of them."""

import argparse
import errno
import os
import random

from machine import Failed, Skip, campaign_is_over, check

# Calls do not fail for ever with these errors, because the command rightly tries again: a file is
# locked by another process, or a call was interrupted by a signal.
NEVER_FOREVER = (errno.EINTR, errno.EWOULDBLOCK)
# What runs before main() is not the command's own. env sets the environment of some tests. The dynamic
# loader may crash where there is no memory.
LOADER = {'access', 'arch_prctl', 'brk', 'fstat', 'mmap', 'mprotect', 'newfstatat', 'openat', 'pread64',
          'prlimit64', 'read', 'readlink', 'rseq', 'set_robust_list', 'set_tid_address'}
SHOWN = 8


def ways(error):
    return ('once',) if error in NEVER_FOREVER else ('once', 'forever')


def sample(cases, draw, n, sort):
    """A random sample: one failure of each sort, as sort() tells it, and some more."""
    sorts = {}
    for case in cases:
        sorts.setdefault(sort(case), []).append(case)
    chosen = [draw.choice(group) for group in sorts.values()]
    if len(chosen) > n:
        return draw.sample(chosen, n)
    rest = [case for case in cases if case not in set(chosen)]
    return chosen + draw.sample(rest, min(n - len(chosen), len(rest)))


# A case is (number, call, errno, "once" or "forever").

def after_loader(names, first=0):
    """The index of the first call that is not the dynamic loader's, which begins at `first`."""
    return next(i for i in range(first, len(names)) if names[i] not in LOADER)


def list_calls(report, may_last=lambda name, error: error not in NEVER_FOREVER):
    """The cases of what `measure-fault --count` has written: those of the command itself, after what
    loads it. Each call fails once with each of its errors. Calls that fail for ever are about how the
    command cleans up after a failure, which hardly depends on the error: of those that
    may_last(name, errno) allows one is tried, in turn, or with $EVERY_CASE each of them."""
    calls = [line.split()[1:] for line in report.splitlines() if line.startswith('0 ')]
    names = [name for _, name, *_ in calls]
    first = after_loader(names, max(i for i, name in enumerate(names) if name == 'execve') + 1)
    cases = []
    for turn, (number, name, *errors) in enumerate(calls[first:]):
        cases += [(number, name, error, 'once') for error in errors]
        lasting = [error for error in errors if may_last(name, int(error))]
        if lasting and not os.environ.get('EVERY_CASE'):
            lasting = [lasting[turn % len(lasting)]]
        cases += [(number, name, error, 'forever') for error in lasting]
    return cases


def list_allocations(n):
    """Each fails once; and, for the same reason as above, each second one and all that follow."""
    return [(str(number), 'allocation', 'ENOMEM', how) for number in range(1, n + 1)
            for how in ('once', 'forever') if how == 'once' or number % 2 or os.environ.get('EVERY_CASE')]


def read_options(**more):
    """Those of a campaign; `more`, {option: its values}."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--all', action='store_true')
    parser.add_argument('--sample', type=int, default=50)
    parser.add_argument('--seed', type=int, default=random.randrange(10 ** 6))
    parser.add_argument('--at')
    for option, values in more.items():
        parser.add_argument(f'--{option}', choices=values)
    return parser.parse_args()


def run_campaign(options, name, list_cases, try_case):
    """Tries all cases, or a sample, or that of --at. try_case() tells whether the failure came, and
    raises Failed for a violation. Returns the counts."""
    injected, violations = 0, []
    if options.at:
        call, number, error, how = options.at.split(',')
        cases = [(number, call, error, how)]
    else:
        cases = list_cases()
        n_all = len(cases)
        if not options.all:
            cases = sample(cases, random.Random(options.seed), options.sample, lambda case: case[1:])
        print(f'# {name}: {len(cases)} of {n_all} cases', flush=True)
    for number, case in enumerate(cases):
        if campaign_is_over() and not violations:
            raise Skip(f'the time that campaigns have is over: {number} of {len(cases)} cases, none violated')
        try:
            injected += try_case(case)
        except Failed as failure:
            injected += 1
            violations.append(f'{" ".join(case)}: {failure}')
            print(f'# violated: {" ".join(case)}', flush=True)
    counts = f'injected {injected}, violated {len(violations)}'
    check(not violations, f'{counts}, --seed {options.seed}:\n' + '\n'.join(violations[:SHOWN]))
    return counts
