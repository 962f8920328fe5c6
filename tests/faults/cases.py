# SPDX-License-Identifier: GPL-2.0-or-later
"""Which failures of measure-fault are tried, and which of them in a sample."""

import errno

# Calls do not fail for ever with these errors, because the command rightly tries again: a file is
# locked by another process, or a call was interrupted by a signal.
NEVER_FOREVER = (errno.EINTR, errno.EWOULDBLOCK)


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
