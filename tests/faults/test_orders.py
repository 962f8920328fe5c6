#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Several setters on one machine, one of them killed in the middle, restored in every order.

Each turns knobs that another one keeps or turns as well: the affinity of new interrupts, and of
each interrupt. Whoever is restored last, the machine is as it was. So it is where one is applied again on
top of another.
"""

import itertools
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'machine'))

import machine  # noqa: E402
from machine import check, equal  # noqa: E402

MACHINE = 'amd-smt'
IRQS = 'proc/irq'


class Setters:
    """The three tools on one machine with one /run."""

    def __init__(self):
        paths = {name: pathlib.Path(os.environ[name.upper().replace('-', '_')])
                 for name in ('smt-off', 'irq-steer', 'noise-off')}
        self.box = machine.Setter(paths['irq-steer'], MACHINE)
        self.tools = {
            'smt-off': [paths['smt-off'], '-c', '0'],
            'irq-steer': [paths['irq-steer'], '-c', '2'],
            'noise-off': [paths['noise-off'], '-c', '3', '--with', 'soft_watchdog,rt_runtime'],
            'smt-off again': [paths['smt-off'], '-c', '0-1'],
            'irq-steer again': [paths['irq-steer'], '-c', '5'],
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.box.box.holder.cleanup()

    def run(self, name, *arguments, env=None):
        tool = self.tools[name]
        command = [tool[0], *arguments] if arguments else tool
        return self.box.box.run(*command, root=True, env=env, alone=True)

    def kill_in_apply(self, name, at):
        """Whether it was killed, right after its write number `at` to a knob."""
        # A shell in between, because the first process of a namespace cannot be killed from inside.
        return self.box.box.run('sh', '-c', '"$@"; exit $?', 'sh', 'env',
                                f'LD_PRELOAD={os.environ["TIMELESS"]}', f'KILL_AFTER_WRITE={at}',
                                *self.tools[name], root=True, alone=True).returncode == 137

    def restore(self, names, before, what):
        """All that they have set is as before, and nothing is left."""
        for name in names:
            result = self.run(name, 'restore')
            equal((result.returncode, result.stderr), (0, ''), f'{name} restore')
        self.box.render_choices()
        self.box.same(before, f'{what}, restored {names}')
        equal(self.box.left_over(), [], f'left in /run/quiesce, restored {names}')


def test_orders(names):
    n = 0
    for killed, at in itertools.product(range(len(names)), (1, 4)):
        for order in itertools.permutations(names):
            with Setters() as setters:
                setters.box.note_choices()
                before = setters.box.snapshot()
                for i, name in enumerate(names):
                    if i != killed:
                        equal(setters.run(name).returncode, 0, f'{name} apply')
                    elif not setters.kill_in_apply(name, at):
                        break  # more writes than any of the tools does
                else:
                    setters.restore(order, before, f'{names}, {names[killed]} killed after write {at}')
                    n += 1
    check(n > 0, 'nobody was killed')
    return f'{n} orders'


def test_again(names):
    """The first is applied once more, for other CPUs, on top of the second."""
    killed = 0
    for kill_at, order in itertools.product((None, 1, 2, 4), itertools.permutations(names)):
        with Setters() as setters:
            setters.box.note_choices()
            before = setters.box.snapshot()
            for name in names:
                equal(setters.run(name).returncode, 0, f'{name} apply')
            again = f'{names[0]} again'
            if kill_at:
                killed += setters.kill_in_apply(again, kill_at)
            else:
                equal(setters.run(again).returncode, 0, again)
            setters.restore(order, before, f'{again} on top of {names[1]}, killed after write {kill_at}')
    check(killed > 0, 'nobody was killed')
    return f'{killed} killed'


def tests():
    for names in itertools.chain(itertools.permutations(('smt-off', 'irq-steer'), 2),
                                 [('smt-off', 'irq-steer', 'noise-off'),
                                  ('noise-off', 'irq-steer', 'smt-off')]):
        yield (f'{", ".join(names)}, restored in every order',
               lambda names=names: test_orders(names))
    for names in itertools.permutations(('smt-off', 'irq-steer')):
        yield (f'{names[0]} again on top of {names[1]}, restored in every order',
               lambda names=names: test_again(names))


if __name__ == '__main__':
    machine.run_tests(tests())
