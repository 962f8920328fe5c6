#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What Linux does when huge pages are switched, on the files of a described machine.

How to run it: see server.py. A file `enabled` that is written raises vm.min_free_kbytes to what the kernel
recommends for huge pages, where it is less and they are on. From mm/huge_memory.c and mm/khugepaged.c.
"""

import errno
import glob
import re
import sys

import server
from server import Refused, put, read, read_optional

THP = '/sys/kernel/mm/transparent_hugepage'
MIN_FREE = '/proc/sys/vm/min_free_kbytes'
RECOMMENDED = 67584
CHOICE = re.compile(r'(?:[\w+-]+ )*\[([\w+-]+)\](?: [\w+-]+)*')


def are_on():
    return any(CHOICE.fullmatch(read(path)).group(1) not in ('never', 'inherit')
               for path in glob.glob(f'{THP}/enabled') + glob.glob(f'{THP}/hugepages-*/enabled'))


def write(path, text):
    """A file, which may show its choices."""
    choice = CHOICE.fullmatch(read(path))
    if choice:
        words = choice.group().replace('[', '').replace(']', '').split()
        if text not in words:
            raise Refused(errno.EINVAL)
        text = ' '.join(f'[{word}]' if word == text else word for word in words)
    put(path, text, 0)
    if path.startswith(f'{THP}/') and path.endswith('/enabled') and are_on() and \
            int(read_optional(MIN_FREE) or RECOMMENDED) < RECOMMENDED:
        put(MIN_FREE, RECOMMENDED)


if __name__ == '__main__':
    sys.exit(server.main(lambda path, text, _call, _writer: write(str(path), text)))
