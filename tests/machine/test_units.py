#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The units of benchmark.target, as they are installed: what systemd-analyze says of them, and what
must hold between them.

    test_units.py UNIT...
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from machine import Skip, check, equal, run_tests

UNITS = [pathlib.Path(path) for path in sys.argv[1:]]
MAN = pathlib.Path(__file__).resolve().parents[2] / 'man'

# Units of systemd that ours depend on by default.
SYSTEM_UNITS = ('basic.target', 'multi-user.target', 'shutdown.target', 'sockets.target',
                'sysinit.target')
# The greatest exposure, times 10, that systemd-analyze may find.
EXPOSURE = 20
# These see the queues of network cards, and so the network; they have no sockets but AF_UNIX.
SEES_NETWORK = {'benchmark-check.service': 21, 'benchmark-irq.service': 21, 'benchmark-smt.service': 26}
SETTERS = ('shield', 'smt', 'irq', 'freq', 'noise')


def settings(path):
    """The settings of a unit: section.key to the list of its values, in their order."""
    found, section = {}, ''
    for line in path.read_text(encoding='utf-8').splitlines():
        if line.startswith('['):
            section = line.strip('[]')
        elif line and not line.startswith('#'):
            key, value = line.split('=', 1)
            found.setdefault(f'{section}.{key}', []).append(value)
    return found


def words(unit, key):
    return [word for value in unit.get(key, []) for word in value.split()]


def load():
    return {path.name: settings(path) for path in UNITS}


class Root:
    """A system that has our units, what they start, and nothing else."""

    def __enter__(self):
        if not shutil.which('systemd-analyze'):
            raise Skip('systemd-analyze is not installed')
        self.directory = tempfile.TemporaryDirectory(prefix='units.')
        self.root = pathlib.Path(self.directory.name)
        self.units = self.root / 'usr/lib/systemd/system'
        self.units.mkdir(parents=True)
        for name in SYSTEM_UNITS:
            (self.units / name).write_text('[Unit]\nDescription=A stub\n', encoding='utf-8')
        for path in UNITS:
            self.add(path.name, path.read_text(encoding='utf-8'))
        return self

    def __exit__(self, *_):
        self.directory.cleanup()

    def add(self, name, text):
        (self.units / name).write_text(text, encoding='utf-8')
        for match in re.finditer(r'^Exec\w+=[-+!:@]*(\S+)', text, re.M):
            program = match[1] if match[1].startswith('/') else f'/usr/bin/{match[1]}'
            stub = self.root / program[1:]
            stub.parent.mkdir(parents=True, exist_ok=True)
            stub.write_text('#!/bin/sh\n', encoding='utf-8')
            stub.chmod(0o755)

    def analyze(self, *arguments):
        done = subprocess.run(['systemd-analyze', *arguments], capture_output=True, text=True,
                              env={**os.environ, 'LC_ALL': 'C', 'SYSTEMD_COLORS': '0'},
                              timeout=120, check=False)
        return done.returncode, done.stdout + done.stderr

    def verify(self):
        # Man pages are in the build, not in this root.
        paths = [f'/usr/lib/systemd/system/{path.name}' for path in UNITS]
        return self.analyze('verify', '--man=no', f'--root={self.root}',
                            *(str(self.root / path[1:]) for path in paths))

    def exposure(self, name):
        return self.analyze('security', '--offline=yes', f'--root={self.root}',
                            f'--threshold={SEES_NETWORK.get(name, EXPOSURE)}', name)


def test_verify():
    """systemd-analyze verify has nothing to say."""
    with Root() as root:
        status, output = root.verify()
        equal((status, output), (0, ''), 'systemd-analyze verify')


def test_verify_can_fail():
    """It would say something of a key that there is not."""
    with Root() as root:
        name = 'benchmark-freq.service'
        text = (root.units / name).read_text(encoding='utf-8')
        root.add(name, text.replace('RemainAfterExit=', 'RemainAfterExits='))
        check('RemainAfterExits' in root.verify()[1], 'an unknown key goes unseen')


def test_security():
    """systemd-analyze security finds each service locked up."""
    with Root() as root:
        for path in UNITS:
            if path.suffix != '.service':
                continue
            name = path.name.replace('@.', '@1.')
            status, output = root.exposure(name)
            check('Overall exposure level' in output, f'{name}: {output}')
            check(status == 0, f'{name} is too exposed:\n{output}')


def test_security_can_fail():
    """The test of security fails for a unit that is not secure."""
    with Root() as root:
        root.add('loose.service', '[Service]\nExecStart=/usr/bin/true\n')
        status, output = root.exposure('loose.service')
        check('Overall exposure level' in output and status != 0, output)


def test_never_by_accident():
    """Only the target can be enabled, and delays nothing; `systemctl isolate` is refused."""
    units = load()
    for name, unit in units.items():
        if name != 'benchmark.target':
            check(not any(key.startswith('Install.') for key in unit), f'{name}: [Install]')
        check('Unit.AllowIsolate' not in unit, f'{name}: AllowIsolate=')
    wanted = words(units['benchmark.target'], 'Install.WantedBy')
    equal(wanted, ['multi-user.target'], 'who wants it when it is enabled')
    # Without After= multi-user.target would wait for the target, of which the service takes long.
    for name in ('benchmark.target', 'benchmark-begin.service'):
        check(set(wanted) <= set(words(units[name], 'Unit.After')), f'{name} delays {wanted}')
    preset = pathlib.Path(__file__).resolve().parents[2] / 'systemd/quiesce.preset'
    check('\ndisable benchmark.target\n' in preset.read_text(encoding='utf-8'), 'preset')


def test_order():
    """Each after all that it needs: so they are also undone in the right order."""
    units = load()

    def before(name, seen):
        for other in words(units[name], 'Unit.After'):
            if other in units and other not in seen:
                seen.add(other)
                before(other, seen)
        return seen

    chain = [f'benchmark-{name}.service' for name in ('prepare', *SETTERS, 'check')]
    for i, name in enumerate(chain):
        missing = set(chain[:i]) - before(name, set())
        check(not missing, f'{name} is not after {missing}')
        if i > 0:
            check('benchmark-tuners.service' in before(name, set()), f'{name} before tuners')
            check('benchmark-prepare.service' in words(units[name], 'Unit.Requires'),
                  f'{name} does not stop with benchmark-prepare.service')
            check('benchmark-tuners.service' in words(units[name], 'Unit.PartOf'),
                  f'{name} does not stop before a tuner starts')
    # systemd stops in the reverse order: the unit that is to be stopped last is not after the others.
    target = units['benchmark.target']
    equal(words(target, 'Unit.Before'), ['benchmark-end.service', 'benchmark-verdict.service'],
          'what stops first')
    for name in ('benchmark.target', 'benchmark-join.socket'):
        check('benchmark-tuners.service' in words(units[name], 'Unit.PartOf'),
              f'{name} stays up when a tuner starts')
    for name in chain:
        check(name not in before('benchmark.target', set()), f'{name} stops after the target')
    # If the target is stopped while it starts, the job that `start` waits for is taken back, which
    # only `begun` can tell from a failure.
    start, judged = units['benchmark-begin.service']['Service.ExecStart']
    check(start.startswith('-') and judged.endswith(' begun') and judged[0] != '-', (start, judged))
    # benchmark-join lets no process in once the shield begins to end.
    server = units['benchmark-join.service']
    equal(words(server, 'Unit.Requires'), ['benchmark-join.socket'], 'what the server stops with')
    check('benchmark-shield.service' in words(server, 'Unit.After'), 'the shield ends before the server')


def test_setters():
    """Every setter is restored by whatever ended it, and the one as the other."""
    units = load()
    for name in SETTERS:
        unit = units[f'benchmark-{name}.service']
        key = name.upper()
        start, = unit['Service.ExecStart']
        tool = start.split()[0]
        equal(start, f'{tool} apply ${key}_OPTIONS', 'ExecStart=')
        # No program may run in the shield when it is to end.
        first = [line for line in unit['Service.ExecStop'] if line.endswith(' evict')]
        equal(len(first), int(name == 'shield'), 'who is to be gone')
        equal(unit['Service.ExecStop'], [*first, f'{tool} restore'], 'ExecStop=')
        condition, = unit['Service.ExecCondition']
        target = condition.split()[0]
        equal(condition, f'{target} wants {key}', 'ExecCondition=')
        # It also runs where ExecCondition= has skipped the service.
        equal(unit['Service.ExecStopPost'], [*first, f'{target} restore {key}'], 'ExecStopPost=')
        # A missing file would keep ExecStopPost= from running.
        check(words(unit, 'Service.EnvironmentFile')[0].startswith('-'), 'EnvironmentFile=')
        check(f'benchmark-{name}.service' in words(units['benchmark-check.service'], 'Unit.Wants'),
              f'nobody wants {name}')
    for name in ('prepare', *SETTERS, 'check'):
        unit = units[f'benchmark-{name}.service']
        equal(unit['Service.SuccessExitStatus'], ['SIGTERM'], f'{name}, stopped while it starts')
        equal(unit['Service.NotifyAccess'], ['exec'], f'who may tell what has come of {name}')


def needed():
    """{(unit, capability)} of the tests that show in a guest what fails without one, and of those that no guest
    can show."""
    text = (MAN.parent / 'tests/vm/guest/test_rights.py').read_text(encoding='utf-8')
    tables = re.findall(r'^(?:NEEDED|NOT_SEEN) = \((.*?)^\)', text, re.DOTALL | re.MULTILINE)
    return re.findall(r"^    \('(\w+)', '(CAP_\w+)'(?:, [\w.]+)?\),$", ''.join(tables), re.MULTILINE)


def test_rights():
    """No unit has a capability that is not said to be needed, and shown to be by a test in a guest."""
    tested = needed()
    equal(len(tested), len(set(tested)), 'a capability twice')
    found = []
    for path in UNITS:
        name, unit = path.name, settings(path)
        reasons = re.findall(r'^# (CAP_\w+): \S', path.read_text(encoding='utf-8'), re.MULTILINE)
        equal(sorted(reasons), sorted(words(unit, 'Service.CapabilityBoundingSet')), f'{name}: capabilities, reasons')
        if name.endswith('.service'):
            check('Service.CapabilityBoundingSet' in unit, f'{name} has all capabilities')
        found += [(re.fullmatch(r'benchmark-(\w+)\.service', name)[1], capability)
                  for capability in words(unit, 'Service.CapabilityBoundingSet')]
    equal(sorted(found), sorted(tested), 'capabilities of the units, and those that tests show to be needed')


def test_slice():
    """Whoever measures may not fill the machine with processes."""
    tasks, = load()['benchmark.slice']['Slice.TasksMax']
    check(re.fullmatch(r'[1-9]\d?%', tasks), f'TasksMax={tasks}')


def test_tuners():
    """Whoever makes way is stopped, and not started before all is restored."""
    unit = load()['benchmark-tuners.service']
    equal(words(unit, 'Unit.Conflicts'), words(unit, 'Unit.Before'), 'Conflicts= and Before=')
    check('tuned.service' in words(unit, 'Unit.Conflicts'), 'tuned.service')
    # isol-check warns of the same ones, and of a user's unit and one that would turn its knobs anew
    # when it is started again.
    source = (MAN.parent / 'src/look/isol-check/system.c').read_text(encoding='utf-8')
    daemons = re.search(r'daemons\[\] = \{(.*?)\};', source, re.DOTALL)[1]
    services = re.search(r'services\[\] = \{(.*?)\};', source, re.DOTALL)[1]
    known = re.findall(r'\{ "[^"]+", "([^"]+)"', daemons) + re.findall(r'"([^"]+)"', services)
    equal({f'{name}.service' for name in known} - {'gamemoded.service', 'cpupower.service'},
          set(words(unit, 'Unit.Conflicts')), 'tuners')


def test_documentation():
    """Every man page that a unit names is ours, and is there."""
    for name, unit in load().items():
        pages = words(unit, 'Unit.Documentation')
        check(pages, f'{name} has no Documentation=')
        for page in pages:
            match = re.fullmatch(r'man:([-.\w]+)\((\d)\)', page)
            check(match, f'{name}: {page}')
            check((MAN / f'{match[1]}.{match[2]}.scd').exists(), f'{name}: {page} is not there')


TESTS = (test_verify, test_verify_can_fail, test_security, test_security_can_fail,
         test_never_by_accident, test_order, test_setters, test_rights, test_slice, test_tuners, test_documentation)
run_tests((test.__doc__.split('.')[0], test) for test in TESTS)
