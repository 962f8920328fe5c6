# SPDX-License-Identifier: GPL-2.0-or-later
"""benchmark.target: one word to be quiet, one word to be back, whatever happens in between."""

import contextlib
import glob
import json
import os
import pwd
import re
import shutil
import subprocess
import time

from lab import (ARGUMENTS, BUSY, CPUS, ENVIRONMENT, PATIENCE, SETTERS, Snapshot, balanced, bound, boots, call,
                 changed, check, equal, interrupts, jobs_done, may_come_to, note, parse_list, programmed, read,
                 reboots, same, seeded, succeed, wait_for, write, written)
from target import (CONF, PARTITION, SERVICES, SLICE, configured, inside, is_quiet,
                    nothing_left, start, state, stop, turned_by_target)


def said(since, unit='benchmark-*'):
    return succeed('journalctl', '--no-pager', '-o', 'cat', '-u', unit, f'--since=@{since:.0f}')


def test_start_and_stop():
    with configured('CPUS=2'), bound() as chosen:
        before = chosen()
        since = time.time()
        start()
        is_quiet()
        check(not any(3 in cpus for cpus in chosen()), f'programs on an offline CPU: {chosen()}')
        for service in SERVICES:
            equal(state(f'benchmark-{service}.service'), 'active', service)
        check(said(since, 'benchmark-check.service').strip(), 'no verdict in the journal')
        check(call('taskset', '-c', '2', 'true').returncode != 0, 'an outsider got in')
        stop()
        equal(chosen(), before, 'CPUs of programs that had chosen')
        same('start and stop left')
        note(said(since, 'benchmark-check.service'))


def test_closed_cgroup():
    """A cgroup that a user has closed, and a program in it that has chosen its CPUs, stop nothing."""
    top = '/sys/fs/cgroup/closed'
    os.makedirs(f'{top}/inner')
    nobody = pwd.getpwnam('nobody')
    with configured('CPUS=2'), subprocess.Popen(['taskset', '-c', '1-2', 'sleep', '10000']) as process:
        try:
            write(f'{top}/inner/cgroup.procs', str(process.pid))
            os.chown(top, nobody.pw_uid, nobody.pw_gid)
            os.chmod(top, 0o700)
            wait_for(lambda: os.sched_getaffinity(process.pid) == {1, 2}, 'the program')
            start()
            is_quiet()
            check(2 not in os.sched_getaffinity(process.pid), 'it is on the quiet CPU')
            stop()
            equal(os.sched_getaffinity(process.pid), {1, 2}, 'its CPUs afterwards')
        finally:
            process.kill()
            process.wait()
            wait_for(lambda: 'populated 0' in read(f'{top}/cgroup.events'), 'its end')
            os.rmdir(f'{top}/inner')
            os.rmdir(top)
    same('it left')


def test_cpus_by_itself():
    start()
    equal(read(PARTITION), 'isolated', 'partition')
    chosen = parse_list(read('/sys/fs/cgroup/benchmark.slice/cpuset.cpus.effective'))
    check(chosen and 0 not in chosen, chosen)
    stop()


def test_cpus_by_itself_under_load():
    """Load on all other cores does not make the target choose a thread of CPU 0's core."""
    with contextlib.ExitStack() as stack:
        for cpu in '2', '3':
            loop = stack.enter_context(subprocess.Popen(['taskset', '-c', cpu, *BUSY]))
            stack.callback(loop.kill)
        succeed('systemctl', 'start', '--no-block', 'benchmark.target')
        # The rest would take minutes under load.
        wait_for(lambda: os.path.exists('/run/quiesce/target'), 'the choice', PATIENCE)
    start()
    chosen = parse_list(read(f'{SLICE}/cpuset.cpus.effective'))
    check(len(chosen) == 1 and chosen < {2, 3}, chosen)
    equal(parse_list(read(f'{CPUS}/online')), {0, 1} | chosen, 'online')
    tells(' 5 of 5 parts', 'how quiet it is')
    stop()


def test_twice_and_again():
    with configured('CPUS=2'):
        start()
        start()
        is_quiet()
        succeed('systemctl', 'daemon-reload')
        succeed('systemctl', 'restart', 'benchmark.target', timeout=PATIENCE)
        is_quiet()
        succeed('systemctl', 'daemon-reload')
        stop()
        same('restart left')
        stop()


def test_failed_start():
    """Nothing is left of a start that failed."""
    with configured('CPUS=9'):
        since = time.time()
        check(call('systemctl', 'start', 'benchmark.target', timeout=PATIENCE).returncode != 0,
              'started')
        check('9' in said(since), 'the journal does not say why')
        jobs_done()
        succeed('systemctl', 'reset-failed')
        same('a failed start left')


def told():
    """The last line below the target in `systemctl status`, which is what a person sees."""
    return call('systemctl', 'status', '--full', 'benchmark.target').stdout.rstrip().splitlines()[-1]


def tells(text, what):
    """Waits for the verdict, which comes a moment after the target."""
    try:
        wait_for(lambda: text in told(), what)
    finally:
        note(told())


def does_not_start(text):
    """The target does not start, says why, and leaves nothing."""
    check(call('systemctl', 'start', 'benchmark.target', timeout=PATIENCE).returncode != 0, 'started')
    jobs_done()
    tells(text, 'why it does not start')
    check('not started' in told(), told())
    succeed('systemctl', 'reset-failed')
    same(f'a start that failed ({text}) left')


@contextlib.contextmanager
def dropin(service, *lines):
    """Runs its block while a service has these lines as well."""
    text = '\n'.join(['[Service]', *lines]) + '\n'
    try:
        with written((f'benchmark-{service}.service.d/test.conf', text)):
            yield Snapshot()
    finally:
        call('systemctl', 'reset-failed')


def test_wrong_values():
    """Values that only the machine can refuse: the target begins nothing."""
    since = time.time()
    for line, why in (('NOISE=foo', "NOISE: noise-off: --only: there is no 'foo'"),
                      ('FREQ=99GHz', 'FREQ: freq-pin: '),
                      ('CPUS=1', "CPU 0 is a thread of CPU 1's core")):
        with configured(*{'CPUS': 'CPUS=2', line.split('=')[0]: line}.values()):
            does_not_start(why)
    check('WANTED' not in said(since), 'a setter has begun')


def test_tool_that_cannot_work():
    """A tool is missing, is killed, or cannot write its journal: the target fails, whatever STRICT=
    is."""
    with configured('CPUS=2'):
        tool = shutil.which('freq-pin', path=ENVIRONMENT['PATH'])
        os.rename(tool, tool + '.away')
        try:
            does_not_start('cannot run freq-pin')
        finally:
            os.rename(tool + '.away', tool)
        for service, lines, why in (
                ('freq', ['ExecStart=', 'ExecStart=sh -c "kill -KILL $$$$"'],
                 'without FREQ: benchmark-freq.service did not do its work (signal)'),
                ('noise', ['ReadOnlyPaths=/run/quiesce'], 'without NOISE: ')):
            with dropin(service, *lines) as before:
                check(call('systemctl', 'start', 'benchmark.target',
                           timeout=PATIENCE).returncode != 0, 'started')
                jobs_done()
                tells(why, 'why it does not start')
                call('systemctl', 'reset-failed')
                same(f'a start that failed ({why}) left', before=before)


def test_machine_refuses():
    """A knob that is there refuses. With STRICT=no the other settings stay and the refusal is
    reported; with STRICT=yes all are put back."""
    # A knob without which its service fails, and a knob without which the service goes on.
    for path, verdict in (
            (f'{CPUS}/cpufreq/policy2/scaling_max_freq',
             'up: degraded, CPU 2, 4 of 5 parts; without FREQ: '),
            (f'{CPUS}/cpufreq/policy2/scaling_governor',
             'up: degraded, CPU 2, 5 of 5 parts; FREQ in part: ')):
        with dropin('freq', f'ReadOnlyPaths={path}') as before:
            with configured('CPUS=2'):
                start()
                equal(read(PARTITION), 'isolated', 'partition')
                tells(verdict, 'how quiet it is')
                check(path.rsplit('/', maxsplit=1)[1] in told(), told())
                check('Read-only file system' in told(), told())
                stop()
                call('systemctl', 'reset-failed')
                same('a target without a part left', before=before)
            with configured('CPUS=2', 'STRICT=yes'):
                check(call('systemctl', 'start', 'benchmark.target',
                           timeout=PATIENCE).returncode != 0, 'strict, and started')
                jobs_done()
                tells(path.rsplit('/', maxsplit=1)[1], 'why it does not start')
                check(told().endswith('; everything is put back'), told())
                call('systemctl', 'reset-failed')
                same('a strict target left', before=before)


def test_full_run():
    """Without a place for the journals nothing is changed."""
    with configured('CPUS=2'):
        with open('/run/filler', 'wb', buffering=0) as filler:
            with contextlib.suppress(OSError):
                while True:
                    filler.write(bytes(1 << 12))
        try:
            check(call('systemctl', 'start', 'benchmark.target', timeout=PATIENCE).returncode != 0,
                  'started')
            jobs_done()
        finally:
            os.unlink('/run/filler')
        call('systemctl', 'reset-failed')
        same('a start with /run full left')


def test_left_behind():
    """Programs that do not leave the quiet CPUs, one of which ignores SIGTERM, are ended, and all
    is put back."""
    program = ('import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); '
               'print("here", flush=True); time.sleep(10000)')
    with configured('CPUS=2'):
        start()
        running = []
        try:
            for words in (['sleep', '10000'], ['setsid', '--fork', 'sleep', '10000'],
                          ['python3', '-c', program]):
                running.append(subprocess.Popen(
                    ['systemd-run', '--quiet', '--scope', '--slice=benchmark.slice', *words],
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
            equal(running[2].stdout.readline(), b'here\n', 'the one that does not want to')
            # `setsid --fork` ends at once, and leaves its program.
            running[1].wait(PATIENCE)
            wait_for(lambda: len(inside()) == 3, 'programs on the quiet CPU')
            check('33%' in succeed('systemctl', 'cat', 'benchmark.slice'), 'TasksMax=')
            check(succeed('systemctl', 'show', '-P', 'TasksMax', 'benchmark.slice').strip()
                  != 'infinity', 'TasksMax=')
            since = time.time()
            stop()
            for process in running:
                process.wait(PATIENCE)
            equal(inside(), [], 'on the quiet CPU')
            equal(state('benchmark-shield.service'), 'inactive', 'shield')
            check('what still runs on the quiet CPUs is ended' in said(since), said(since))
            check('not everything' not in told(), told())
        finally:
            for process in running:
                process.kill()
                process.wait()
                process.stdout.close()
    same('programs that were left behind left')


def test_stopped_while_it_starts():
    """The target is stopped at a random moment of its start."""
    random = seeded('stop')
    with configured('CPUS=2'):
        for service in random.sample(SERVICES, 3):
            succeed('systemctl', 'start', '--no-block', 'benchmark.target')
            wait_for(lambda: state(f'benchmark-{service}.service') != 'inactive', service, PATIENCE)
            time.sleep(random.uniform(0, 1))
            stop()
            jobs_done()
            same(f'stopped at {service}, it left')


def kill_at(service, random):
    """Sends SIGKILL to all processes of a service while the target starts. Returns whether there
    were any."""
    unit = f'benchmark-{service}.service'
    with subprocess.Popen(['systemctl', 'start', 'benchmark.target'],
                          stderr=subprocess.DEVNULL) as starting:
        wait_for(lambda: state(unit) != 'inactive', unit, PATIENCE)
        time.sleep(random.uniform(0, 0.5))
        call('systemctl', 'kill', '--signal=KILL', unit)
        starting.wait(PATIENCE)
    return call('systemctl', 'show', '-P', 'Result', unit).stdout.strip() == 'signal'


def test_services_killed():
    random = seeded('kill')
    hit = []
    with configured('CPUS=2'):
        for service in random.sample(SERVICES, 4):
            hit += [service] if kill_at(service, random) else []
            stop()
            jobs_done()
            call('systemctl', 'reset-failed')
            same(f'{service} killed, it left')
    note(f'killed at work: {hit}')
    check(hit, 'none was killed')


def test_change_of_somebody_else_stays():
    path = '/proc/sys/vm/stat_interval'
    with configured('CPUS=2'):
        before, since = read(path), time.time()
        start()
        write(path, '77')
        stop()
        equal(read(path), '77', 'stat_interval')
        lines = [line for line in said(since).splitlines() if 'somebody else' in line]
        equal(len(lines), 1, f'how often the journal says so: {lines}')
        write(path, before)
        succeed('noise-off', 'restore')


def waiting(since):
    """What the setters have said since then of CPUs that are offline, at most a line each. Nothing
    has failed, and nobody else is said to have done anything."""
    lines = said(since).splitlines()
    found = [line for line in lines if 'offline' in line and 'put' in line]
    note('\n'.join(found))
    equal([line for line in lines if 'somebody else' in line or 'could not' in line], [], 'said')
    equal(len({line.split(':')[0] for line in found}), len(found), f'tools that said: {found}')
    equal(succeed('systemctl', 'list-units', '--failed', '--plain', '--no-legend'), '', 'failed units')
    return found


def put_back_the_rest():
    """When the CPUs are online again, restore has nothing more to report."""
    for tool in SETTERS[::-1]:
        done = call(tool, 'restore')
        equal((done.returncode, done.stderr), (0, ''), f'{tool} restore')


def test_cpu_unplugged_meanwhile():
    """A CPU that somebody took offline stays offline. The settings that need this CPU are put back
    when it is online again."""
    with configured('CPUS=2'), bound() as chosen:
        before = chosen()
        start()
        since = time.time()
        write(f'{CPUS}/cpu1/online', '0')
        stop()
        equal(read(f'{CPUS}/online'), '0,2-3', 'online')
        check(waiting(since), 'not a word of a program that is bound to CPU 1')
        write(f'{CPUS}/cpu1/online', '1')
        put_back_the_rest()
        equal(chosen(), before, 'CPUs of programs that had chosen')
        same('a CPU that was offline when the target stopped')


def test_its_own_cpu_stays_unplugged():
    """And the target starts once more without this CPU."""
    with bound() as chosen:
        before = chosen()
        with configured('CPUS=2-3', 'SMT=leave'):
            start()
            since = time.time()
            write(f'{CPUS}/cpu3/online', '0')
            stop()
            check(any(line.startswith('freq-pin') for line in waiting(since)),
                  'not a word of the frequency of CPU 3')
        with configured('CPUS=2', 'SMT=leave'):
            start()
            is_quiet()
            stop()
        equal(read(f'{CPUS}/online'), '0-2', 'online')
        write(f'{CPUS}/cpu3/online', '1')
        put_back_the_rest()
        equal(chosen(), before, 'CPUs of programs that had chosen')
        same('its own CPU that was offline when the target stopped')


def test_interrupt_that_comes_meanwhile():
    """A driver asks for an interrupt while the sibling is offline, so that the interrupt does not
    have the sibling in its mask."""
    driver, mask = '/sys/bus/pnp/drivers/rtc_cmos', '/proc/irq/8/smp_affinity_list'
    device, = (name for name in os.listdir(driver) if name.startswith('00:'))
    check(interrupts().get(8) == 'rtc0', 'the clock has no interrupt')
    write(f'{driver}/unbind', device)
    try:
        check(interrupts().get(8) != 'rtc0', 'the clock keeps its interrupt')
        with configured('CPUS=2'):
            before = read(mask)
            start()
            since = time.time()
            write(f'{driver}/bind', device)
            check(interrupts().get(8) == 'rtc0', 'the clock has no interrupt again')
            check('3' not in read(mask), f'it may go to the sibling: {read(mask)}')
            stop()
            equal(read(mask), before, 'mask of the interrupt')
            check('somebody else' not in said(since), said(since))
    finally:
        if interrupts().get(8) != 'rtc0':
            write(f'{driver}/bind', device)


def test_its_own_cpu_unplugged_meanwhile():
    with configured('CPUS=2-3', 'SMT=leave'):
        start()
        write(f'{CPUS}/cpu3/online', '0')
        write(f'{CPUS}/cpu3/online', '1')
        stop()


def after_the_reboot(was):
    nothing_left(was)
    with configured('CPUS=2'):
        start()
        is_quiet()
        stop()


@reboots(after_the_reboot)
def test_reboot_in_between():
    """Somebody reboots in the middle of a benchmark, and systemd stops the target."""
    with configured('CPUS=2'):
        start()
    is_quiet()
    return turned_by_target()


def after_the_boot(_):
    """The target is up, and the boot has not waited for it."""
    try:
        wait_for(lambda: state('benchmark.target') == 'active', 'the target', PATIENCE)
        is_quiet()
        reached, began = (
            int(succeed('systemctl', 'show', '-P', name, unit)) for name, unit in (
                ('ActiveEnterTimestampMonotonic', 'multi-user.target'),
                ('InactiveExitTimestampMonotonic', 'benchmark-begin.service')))
        check(0 < reached <= began, f'multi-user.target at {reached}, we began at {began}')
        equal(succeed('systemctl', 'is-enabled', 'benchmark.target').strip(), 'enabled', 'state')
        stop()
    finally:
        call('systemctl', 'disable', 'benchmark.target')
        os.rename(CONF + '.before', CONF)


@reboots(after_the_boot)
def test_enabled():
    """The enabled target is up from the boot on."""
    equal(call('systemctl', 'is-enabled', 'benchmark.target').stdout.strip(), 'disabled', 'state')
    succeed('systemctl', 'preset', 'benchmark.target')
    equal(call('systemctl', 'is-enabled', 'benchmark.target').stdout.strip(), 'disabled', 'preset')
    shutil.copy(CONF, CONF + '.before')
    write(CONF, 'CPUS=2\n')
    succeed('systemctl', 'enable', 'benchmark.target')
    os.sync()
    equal(state('benchmark.target'), 'inactive', 'it needs a boot')


def may_be_moved(number):
    """Whether the interrupt takes a mask: its own, which changes nothing."""
    path = f'/proc/irq/{number}/smp_affinity_list'
    try:
        write(path, read(path))
    except OSError:
        return False
    return os.stat(path).st_mode & 0o200 != 0


def verdict_now():
    """The verdict after `systemctl reload benchmark-check`, which the target's journal and the status of the
    service have both."""
    since = told()
    succeed('systemctl', 'reload', 'benchmark-check', timeout=PATIENCE)
    wait_for(lambda: told() != since and ' now: ' in told(), 'a new verdict')
    line = told().partition(' now: ')[2]
    equal(succeed('systemctl', 'show', '-P', 'StatusText', 'benchmark-check').strip(), line, 'status of the service')
    note(line)
    return line


def lacks(verdict, key, knob):
    """Whether the verdict names the knob as one that is not as wanted."""
    part = re.search(rf'; {key} in part: (.*?)(?=; [A-Z]+ in part: |; isol-check |; as of )', verdict)
    return part is not None and knob in part[1].partition('not as wanted: ')[2]


def test_verdict_follows():
    """What others change while the target is up is in the verdict as soon as it is asked for, and is in it no
    more when they have changed it back."""
    interrupt = next(n for n in sorted(interrupts()) if may_be_moved(n))
    changes = [('FREQ', 'governor', f'{CPUS}/cpufreq/policy2/scaling_governor', 'powersave'),
               ('IRQ', f'irq {interrupt}', f'/proc/irq/{interrupt}/smp_affinity_list', '2'),
               ('NOISE', 'timer_migration', '/proc/sys/kernel/timer_migration', '1'),
               ('SMT', 'online', f'{CPUS}/cpu3/online', '1')]
    changes += [('IRQ', 'rx-0 of ', path, 'f') for path in glob.glob('/sys/class/net/*/queues/rx-0/rps_cpus')[:1]]
    with configured('CPUS=2'):
        start()
        first = verdict_now()
        check(', CPU 2, 5 of 5 parts' in first, first)
        for key, knob, path, text in changes:
            check(not lacks(first, key, knob), f'{knob} at first: {first}')
            was = read(path)
            write(path, text)
            now = verdict_now()
            check(now.startswith('degraded, CPU 2, 5 of 5 parts; ') and lacks(now, key, knob), f'{path}: {now}')
            write(path, was)
            check(not lacks(verdict_now(), key, knob), f'{path} as before')
        stop()
    same('the target left')


def test_verdict_with_a_new_irqbalance():
    """An irqbalance that is started anew, as by an upgrade, changes nothing of the verdict."""
    with balanced(), configured('CPUS=2'):
        start()
        # Two of its passes.
        time.sleep(25)
        note(f'may come to CPU 2: {may_come_to(2)}')
        first = verdict_now()
        pid = succeed('pidof', 'irqbalance')
        succeed('systemctl', 'restart', 'irqbalance')
        wait_for(lambda: call('pidof', 'irqbalance').stdout not in ('', pid), 'the new irqbalance')
        time.sleep(25)
        note(f'may come to CPU 2: {may_come_to(2)}')
        now = verdict_now()
        check('; IRQ in part: ' not in now, f'with a new irqbalance: {now} (at first: {first})')
        stop()
        equal(glob.glob('/run/quiesce/*.journal'), [], 'left')


def test_other_tuners_make_way():
    """Other tuners are stopped, and started again. (Only their units are looked at.)"""
    governor = f'{CPUS}/cpufreq/policy2/scaling_governor'
    before = read(governor)
    with written(('tuned.service', '[Service]\nExecStart=sleep infinity\n')), configured('CPUS=2'):
        succeed('systemctl', 'start', 'tuned.service')
        try:
            start()
            equal(state('tuned.service'), 'inactive', 'tuned while the target is up')
            stop()
            equal(state('tuned.service'), 'active', 'tuned after it')
            start()
            succeed('systemctl', 'start', 'tuned.service', timeout=PATIENCE)
            # tuned waits until all settings are back, but not until the target is inactive.
            check(not os.path.exists('/sys/fs/cgroup/benchmark.slice'), 'the shield is up with tuned')
            equal(read(governor), before, 'governor with tuned')
            wait_for(lambda: state('benchmark.target') == 'inactive', 'end of the target')
        finally:
            succeed('systemctl', 'stop', 'tuned.service')


def test_all_is_left_alone_if_configured_so():
    with configured('CPUS=2', 'SMT=leave', 'FREQ=leave', 'IRQ=leave', 'SHIELD=leave', 'NOISE=leave'):
        start()
        left = [line for line in changed() if not line.startswith(('unit new: benchmark', '/run/'))]
        equal(left, [], 'changed')
        stop()


def test_what_was_set_by_hand_is_left_alone():
    """A target that leaves everything as it is does not touch what somebody has set before, nor the
    program that runs behind a shield made by hand."""
    for tool in SETTERS:
        succeed(tool, *ARGUMENTS[tool])
    with configured('CPUS=2', 'SMT=leave', 'FREQ=leave', 'IRQ=leave', 'SHIELD=leave', 'NOISE=leave'), \
            subprocess.Popen(['systemd-run', '--quiet', '--scope', '--slice=benchmark.slice',
                              'sleep', '10000']) as process:
        try:
            wait_for(inside, 'the program on the quiet CPU', PATIENCE)
            before = Snapshot()
            start()
            equal(process.poll(), None, 'the program has ended')
            stop()
            equal(process.poll(), None, 'the program has ended')
            same('a target that leaves everything', before=before)
        finally:
            process.kill()
            process.wait()
        wait_for(lambda: not inside(), 'the end of the program', PATIENCE)
    for tool in SETTERS[::-1]:
        succeed(tool, 'restore')


@boots('isolated')
def test_isolated_at_boot():
    """`auto` takes the CPUs that were isolated at boot."""
    isolated = {1, 3}
    equal(parse_list(read(f'{CPUS}/isolated')), isolated, 'isolated at boot')
    start()
    equal(read(PARTITION), 'isolated', 'partition')
    equal(parse_list(read(f'{SLICE}/cpuset.cpus.effective')), isolated, 'shielded')
    # All other CPUs are threads of the same cores: without them no CPU would be left.
    equal(read(f'{CPUS}/online'), '0-3', 'online')
    equal({cpu: programmed(cpu) for cpu in isolated}, {1: 2700000, 3: 2700000}, 'frequency')

    rows = {row['id']: row for row in
            json.loads(call('isol-check', '--json', '--watch', '0').stdout)['checks']}
    check('1,3 (those of benchmark.target)' in rows['cpus']['seen'], rows['cpus'])
    for name in ('isolated', 'tasks', 'nohz-full', 'rcu-nocbs', 'freq-range', 'irq-default'):
        equal(rows[name]['verdict'], 'ok', f'verdict: {rows[name]}')

    for arguments, wanted in (((), isolated), (('-c', '3'), {3})):
        text = succeed('runpinned', *arguments, '--no-save', '--show-output', '-n', '1', '-w', '0',
                       '--', 'cat', '/proc/self/status', '/proc/self/cgroup')
        lines = dict(re.findall(r'^(Cpus_allowed_list|0:):\s*(\S+)', text, re.M))
        equal(parse_list(lines['Cpus_allowed_list']), wanted, f'CPUs of a program with {arguments}')
        check(lines['0:'].startswith('/benchmark.slice/'), lines['0:'])
    check('Invalid argument' in call('taskset', '-c', '3', 'true').stderr, 'an outsider got in')
    stop()
    equal(parse_list(read(f'{CPUS}/isolated')), isolated, 'isolated after it')
    same('start and stop left')


@boots('cgroup-v1')
def test_cgroup_v1():
    """The target shields by an exclusive cpuset, and root and members measure there."""
    with configured('CPUS=2'):
        start()
        check('an exclusive cpuset of cgroup v1' in succeed('cpu-shield', 'status', '--brief', '-c', '2'),
              'degree')
        equal(parse_list(succeed('taskset', '-cp', '1').rsplit(':', 1)[1].strip()), {0, 1},
              'CPUs of PID 1')
        for options in {}, {'user': 'nobody'}:
            text = succeed('runpinned', '-n', '1', '-w', '0', '--no-save', '--show-output', '--', 'cat',
                           '/proc/self/status', **options)
            check('Cpus_allowed_list:\t2\n' in text, f'a program of {options or "root"}: {text}')
        equal(read(f'{CPUS}/online'), '0-2', 'online')
        equal(programmed(2), 2700000, 'frequency')
        stop()
