# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel behind the files of a described machine, for as long as a command runs there.

    PROGRAM run COMMAND [ARGUMENT...]   on the machine; kernel.c, preloaded to what runs inside of
                                        the command, sends here what it would write
    PROGRAM PATH TEXT [CALL]            one write, or call, by somebody else

where PROGRAM is one of those that call main() (hotplug.py, cpufreq.py, cgroups.py, hugepages.py). The exit status
is that of the command, or the errno of the write.

A request is a packet, PATH\\0TEXT\\0CALL, on a connection of its own to $TEST_KERNEL; the answer is
the errno, an int. One after the other, as if the kernel had one lock for all.
"""

import os
import pathlib
import select
import socket
import struct
import subprocess
import sys

SOCKET = '/run/kernel'
PACKET = 1 << 17  # more than a path and any attribute
BACKLOG = 64


class Refused(Exception):
    """args[0] is the errno."""


# Campaigns come here thousands of times, so files are read and written without pathlib and io, which take
# several times as long as the system calls.
def read(path):
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, PACKET).decode('ascii').strip()
    finally:
        os.close(file)


def read_optional(path):
    """None where the machine does not have it."""
    try:
        return read(path)
    except FileNotFoundError:
        return None


def put(path, text, flags=os.O_CREAT):
    file = os.open(path, os.O_WRONLY | os.O_TRUNC | flags, 0o644)
    try:
        os.write(file, f'{text}\n'.encode('ascii'))
    finally:
        os.close(file)


def put_optional(path, text):
    """Nothing where the machine does not have it."""
    try:
        put(path, text, 0)
    except FileNotFoundError:
        pass


def answer(do, writer, path, text, call=''):
    try:
        do(pathlib.Path(path), text.strip(), call, writer)
    except Refused as refused:
        return refused.args[0]
    except OSError as error:
        return error.errno  # the errno for a file that is not there
    return 0


def serve_one(listener, do):
    with listener.accept()[0] as connection:
        packet = connection.recv(PACKET)
        if not packet:
            return  # the client was killed before it asked
        writer = struct.unpack('3i', connection.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize('3i')))[0]
        error = answer(do, writer, *packet.decode().split('\0'))
        try:
            connection.send(struct.pack('i', error), socket.MSG_NOSIGNAL)
        except BrokenPipeError:
            pass  # the client was killed before it got the answer


def run(do, command, **options):
    """`options` are those of subprocess.Popen()."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        pathlib.Path(SOCKET).unlink(missing_ok=True)
        listener.bind(SOCKET)
        listener.listen(BACKLOG)
        with subprocess.Popen(command, env={**os.environ, 'TEST_KERNEL': SOCKET}, **options) as process:
            ended = os.pidfd_open(process.pid)
            # The write is done also when the client that asked for it is gone.
            while listener in select.select([listener, ended], [], [])[0]:
                serve_one(listener, do)
            os.close(ended)
    pathlib.Path(SOCKET).unlink()
    # As a shell reports a signal.
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def main(do):
    """do(path, text, call, writer) is a write, or the call if that is not empty, by this process, or
    0 for somebody else. It raises Refused."""
    if sys.argv[1] == 'run':
        return run(do, sys.argv[2:])
    return answer(do, 0, *sys.argv[1:])
