# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of bench/perturb. The first word of a command is a file whose name the arbiter knows."""

import os
import shutil
import sys

from peers import Missing, find

PREFIX = 'ptb-'  # of the names that the arbiter looks for; the kernel keeps 15 characters of them

# The system's Python, where there is one: not everybody may execute what is in somebody's home.
PYTHON = '/usr/bin/python3' if os.access('/usr/bin/python3', os.X_OK) else sys.executable
SCRIPTS = {
    'python': (PYTHON, '''
import queue, threading
there, back = queue.Queue(), queue.Queue()
def answer():
    while (item := there.get()) is not None:
        back.put(item + 1)
thread = threading.Thread(target=answer)
thread.start()
for number in range(500):
    there.put(number)
    back.get()
there.put(None)
thread.join()
'''),
    'pipeline': ('sh', 'seq 1 50000 | sort -n | tail -1 >/dev/null\n'),
    'sh-loop': ('sh', 'i=0\nwhile [ $i -lt 100 ]; do /bin/true; i=$((i + 1)); done\n'),
    'node': ('node', 'let x = 0;\nfor (let i = 0; i < 1e6; i++) x = (x * 31 + i) % 1000003;\n'),
    'java': ('sh', 'exec java --version >/dev/null\n'),
}


def copied(context, name, source, *arguments):
    path = context.scratch / f'{PREFIX}{name}'
    shutil.copy(source, path)
    path.chmod(0o755)
    return [path, *arguments]


def empty(context, name):
    return copied(context, name, context.build / 'bench/empty')


def compiled(context, name):
    return copied(context, name, context.build / 'bench/perturb-program', name)


def setuid(context, name):
    """Executes one that belongs to root and has its rights."""
    path = context.scratch / 'spin-of-root'
    shutil.copy(context.build / 'bench/perturb-program', path)
    path.chmod(0o4755)
    if os.statvfs(path).f_flag & os.ST_NOSUID:
        raise Missing(f'{context.scratch} is on a file system without setuid')
    return copied(context, name, context.build / 'bench/perturb-program', 'exec', path, 'spin')


def script(context, name):
    interpreter, text = SCRIPTS[name]
    if name == 'java':
        find('java')
    path = context.scratch / f'{PREFIX}{name}'
    path.write_text(f'#!{os.path.realpath(find(interpreter))}\n{text}', encoding='utf-8')
    path.chmod(0o755)
    return [path]


# Name, how it is made, whether it has more than one thread or process.
PROGRAMS = {
    'empty': (empty, False),
    'spin': (compiled, False),
    'memory': (compiled, False),
    'pingpong': (compiled, True),
    'server': (compiled, True),
    'threads': (compiled, True),
    'pool': (compiled, True),
    'leader': (compiled, True),
    'forks': (compiled, True),
    'vforks': (compiled, True),
    'daemon': (compiled, True),
    'setuid': (setuid, False),
    'sh-loop': (script, True),
    'pipeline': (script, True),
    'python': (script, True),
    'node': (script, True),
    'java': (script, True),
}
