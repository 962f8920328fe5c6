#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""runserved: services that are started anew, put under load in turn, stopped and ended; and each way in which that
could end in a wrong verdict. Services and loads are scripts, all of them at 127.0.0.1.

What must not be a wrong verdict, and the test that fails without the guard:

    an old server holds the port, or the socket     test_port_is_held (alone), test_socket_is_held
    SO_REUSEPORT shares it                          test_port_is_held (shares)
    the port is a client's                          test_port_is_held (client), test_ports
    the service dies under load                     test_service_fails, test_load_ends_with_service, test_listen_fds
    answers that are not 2xx                        test_load_fails, test_http; those of each generator:
                                                    test_harness_programs.py
    the load is dead                                test_load_fails (exit status, signal)
    it hangs                                        test_load_fails (--timeout)
    it is the limit                                 test_saturated_load, test_says_nothing
    it counts wrongly                               test_load_fails (miscounts, dawdles)
    the rate is not held                            test_open_loop
    TIME_WAIT has all ports                         test_time_wait
    the service restarts itself                     test_restarts; workers that are replaced: test_reloads
    warm caches only in the second                  test_cold_starts, test_second_profits
    the first requests after a rest                 test_warm_requests, test_short_slices
    the one at rest is not at rest                  test_rest, test_freeze
    no cgroup of its own, cgroup v1, a container    test_without_cgroups, test_worker_ends
"""

import json
import os
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import machine
from machine import bench_report as report
from machine import check, equal

RUNSERVED = os.environ['RUNSERVED']
SCRATCH = tempfile.TemporaryDirectory(prefix='serve.')
FOLDER = pathlib.Path(SCRATCH.name)
CPU = str(max(os.sched_getaffinity(0)))
ENVIRONMENT = {**os.environ, 'LC_ALL': 'C', 'HOME': SCRATCH.name, 'XDG_CONFIG_HOME': str(FOLDER / 'config'),
               'XDG_STATE_HOME': str(FOLDER / 'state'), 'TMPDIR': SCRATCH.name}
DEADLINE = 60  # seconds, for what is waited for
PYTHON = f'{sys.executable} -S'

# PORT|SOCKET WORK [WORD]...: answers "PING N" by "PONG", after so much work. The words say how it misbehaves.
SERVICE = '''
import mmap, os, socket, sys, threading, time
port, work, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
at_socket = '/' in port
if 'dies' in words:
    sys.stderr.write('no such database\\n')
    sys.exit(3)
if 'late' in words:
    time.sleep(0.3)
resumed = None
if 'daemonizes' in words and os.fork():
    os._exit(0)
if 'supervises' in words and os.fork():
    # Whatever becomes of the one that serves, there is another one.
    while True:
        os.wait()
        if os.fork() == 0:
            break
if 'RESUME' in os.environ:
    listener, resumed = (socket.socket(fileno=int(fd)) for fd in os.environ['RESUME'].split())
elif 'inherits' in words:
    if (os.environ['LISTEN_FDS'], os.environ['LISTEN_PID']) != ('1', str(os.getpid())):
        sys.exit(4)
    listener = socket.socket(fileno=3)
    if 'slow' in words:
        time.sleep(0.3)
    if 'idle' in words:
        time.sleep(1000)
else:
    listener = socket.socket(socket.AF_UNIX if at_socket else socket.AF_INET)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
if 'shares' in words:
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
if 'deaf' in words:
    time.sleep(1000)
if 'inherits' not in words and not resumed:
    listener.bind(port if at_socket else ('127.0.0.1', int(port)))
    listener.listen(64)
if 'notifies' in words:
    notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    name = os.environ['NOTIFY_SOCKET']
    time.sleep(0.2)
    notes.sendto(b'STATUS=here\\nREADY=1\\n', '\\0' + name[1:])
if 'stubborn' in words:
    import signal
    def ignore(*_):
        for word in words:
            if word.startswith('ends='):
                open(word[5:], 'w').close()
    signal.signal(signal.SIGTERM, ignore)
if 'expires' in words:
    threading.Timer(0.3, os._exit, [6]).start()
if 'stops-child' in words and os.fork() == 0:
    import signal
    # In a session of its own, where no signal of a terminal or a group finds it.
    os.setsid()
    os.kill(os.getpid(), signal.SIGSTOP)
    open(words[-1], 'w').close()
    time.sleep(1000)
for word in words:
    if word.startswith('writes='):
        open(word[7:], 'a').write(f'{os.getpid()} {port}\\n')
if 'forks' in words and os.fork() == 0:
    pass            # both accept: two workers
elif 'forks' in words:
    os.waitpid(-1, 0)
if 'background' in words:
    def spin():
        while True:
            sum(range(1000))
    threading.Thread(target=spin, daemon=True).start()
answered, pipes, left = 0, None, 0


def reap(*_):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


if 'forks-each' in words:
    import signal
    signal.signal(signal.SIGCHLD, signal.SIG_IGN if 'forgets' in words else reap)

def shed():
    """A child works, and ends after 150 requests, within a slice."""
    global pipes, left
    if left == 0:
        there, here = os.pipe(), os.pipe()
        if os.fork() == 0:
            for _ in range(150):
                os.read(there[0], 1)
                sum(range(work))
                os.write(here[1], b'x')
            os._exit(0)
        pipes, left = (there[1], here[0]), 150
    os.write(pipes[0], b'x')
    os.read(pipes[1], 1)
    left -= 1
    if left == 0:
        os.waitpid(-1, 0)


if 'reloads' in words:
    while os.fork():
        os.wait()
while True:
    connection = resumed or listener.accept()[0]
    resumed, dear = None, False
    if 'forks-each' in words and os.fork():
        connection.close()
        continue
    for word in words:
        if word.startswith('caches='):
            with open(word[7:], 'a+') as file:
                dear = file.write('x') and file.tell() % 2 == 1
    while data := connection.recv(64):
        if data == b'WARM':
            began = time.process_time()
            sum(range(1000 * work))
            for word in words:
                if word.startswith('tells='):
                    open(word[6:], 'a').write(f'{time.process_time() - began}\\n')
            connection.sendall(b'PONG')
            continue
        for word in words:
            if word.startswith('dies-after=') and answered >= int(word[11:]):
                sys.stderr.write('out of luck\\n')
                os._exit(5)
        if 'hangs' in words and answered > 30:
            time.sleep(1000)
        if 'sheds' in words:
            shed()
        elif 'threads' in words:
            thread = threading.Thread(target=sum, args=(range(work),))
            thread.start()
            thread.join()
        else:
            sum(range(work))
        for word in words:
            if word.startswith('improves='):
                least, percent = map(int, word[9:].split(','))
                work = max(work * percent // 100, least)
            if word.startswith('maps='):
                with mmap.mmap(-1, int(word[5:]) * mmap.PAGESIZE) as pages:
                    for at in range(0, len(pages), mmap.PAGESIZE):
                        pages[at] = 1
            if word.startswith('cold=') and answered < int(word[5:]):
                sum(range(50 * work))
        if dear:
            sum(range(4 * work))
        answered += 1
        connection.sendall(b'PONG')
        if 'relistens' in words and answered == 300:
            listener.close()
            listener = socket.create_server(('127.0.0.1', int(port)))
        if 'reexecs' in words and answered == 300:
            for one in listener, connection:
                one.set_inheritable(True)
            os.environ['RESUME'] = f'{listener.fileno()} {connection.fileno()}'
            os.execv(sys.executable, [sys.executable, '-S', *(word for word in sys.argv if word != 'reexecs')])
    connection.close()
    if 'forks-each' in words:
        os._exit(0)
    if ('supervises' in words or 'reloads' in words) and answered >= 150:
        os._exit(0)
'''

# PORT|SOCKET N [WORD]...: makes N requests, and says how many, and how long they took.
LOAD = '''
import socket, sys, time
port, n, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
at_socket = '/' in port
def connect():
    connection = socket.socket(socket.AF_UNIX if at_socket else socket.AF_INET)
    connection.connect(port if at_socket else ('127.0.0.1', int(port)))
    return connection


def ask():
    """As clients do that try again over a new connection."""
    global n
    while True:
        try:
            with connect() as connection:
                connection.sendall(b'PING')
                if connection.recv(64) == b'PONG':
                    return
        except ConnectionError:
            time.sleep(0.001)
        except OSError:
            if 'lies' not in words:
                raise
            n -= 1
            return


connection = None if 'again' in words else connect()
times, began = [], time.monotonic()
for i in range(len(range(n))):
    for word in words:
        if word.startswith('rate='):
            time.sleep(max(0, began + i / float(word[5:]) - time.monotonic()))
    if 'dawdles' in words:
        time.sleep(0.001)
    if 'lazy' in words:
        time.sleep(0.01)
    at = time.monotonic()
    if 'again' in words:
        ask()
        times.append(time.monotonic() - at)
        continue
    connection.sendall(b'WARM' if 'warms' in words else b'PING')
    if connection.recv(64) != b'PONG':
        if 'patient' in words:
            time.sleep(100000)
        sys.stderr.write('the connection was closed\\n')
        sys.exit(0 if 'lies' in words else 1)
    times.append(time.monotonic() - at)
seconds = time.monotonic() - began
times.sort()
print(f'{n if "miscounts" not in words else n + 1} requests')
print(f'{n / seconds / (2 if "dawdles" in words else 1):.3f} rps')
for p in 50, 99:
    print(f'p{p}: {0 if "coarse" in words else times[min(n - 1, n * p // 100)] * 1e6:.1f} us')
if 'errors' in words:
    print('7 answers were no 2xx')
'''
HARNESS = '''Fail=answers were no 2xx
[requests]
Match=^([0-9]+) requests$
Better=higher
[rps]
Match=^([0-9.]+) rps$
Unit=1/s
Better=higher
[p]
Match=^p([0-9]+): ([0-9.]+) us$
Name=p\\1
Value=\\2
Unit=us
Take=each
'''


def write(name, text):
    path = FOLDER / name
    path.write_text(text, encoding='utf-8')
    return path


service_file, load_file = write('service.py', SERVICE), write('load.py', LOAD)
write('load.conf', HARNESS)


def service(work=2000, *words, at='{port}'):
    return [*PYTHON.split(), str(service_file), at, str(work), *words]


def load(n=200, *words, at='{port}'):
    return f'{PYTHON} {load_file} {at} {n} {" ".join(words)}'


def command(*arguments, old=None, new=None, how=None):
    old = ['--baseline', ' '.join(old)] if old else []
    # The first sitting takes longer by the slices that tell how many are to make them warm.
    warm = [] if '--warm-slices' in arguments else ['--warm-slices', '1']
    return [RUNSERVED, '-c', CPU, '--harness', str(FOLDER / 'load.conf'), '--load', how or load(), *old, *warm,
            *map(str, arguments), '--', *(new or service())]


def execute(words, status=0, says=(), environment=ENVIRONMENT):
    """Runs it, which is to end with that status, to say each of these texts, and to leave nothing. Returns its two
    outputs."""
    result = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment,
                            timeout=300, check=False)
    equal(result.returncode, status, f'{words}: status ({result.stdout} {result.stderr})')
    for text in [says] if isinstance(says, str) else says:
        check(text in result.stdout + result.stderr, f'{words}: "{text}" in {result.stdout} {result.stderr}')
    nothing_is_left()
    return result


def start(*arguments, status=0, says=(), environment=ENVIRONMENT, **services):
    """Runs runserved on these services."""
    return execute(command(*arguments, **services), status, says, environment)


def mine():
    """The services that there are."""
    found = []
    for folder in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            text = (folder / 'cmdline').read_text(errors='replace')
        except OSError:
            continue
        if str(service_file) in text and RUNSERVED not in text:
            found.append(int(folder.name))
    return found


def nothing_is_left():
    machine.wait_for(lambda: not mine(), 'no service is left', DEADLINE)
    machine.wait_for(lambda: not sockets(), 'no folder of a socket is left', DEADLINE)


def sockets():
    return list(FOLDER.glob('runserved-*'))


def socket_modes(seen):
    for folder in sockets():
        try:
            seen.add(folder.stat().st_mode & 0o777)
        except OSError:
            continue


def result_of(*arguments, **services):
    path = FOLDER / 'result.json'
    path.unlink(missing_ok=True)
    start('-o', path, *arguments, **services)
    return {b['metadata'].get('name', ''): b for b in
            ({**b, 'metadata': {**json.loads(path.read_text()).get('metadata', {}), **b['metadata']}}
             for b in json.loads(path.read_text())['benchmarks'])}


def test_one_service():
    """Without a baseline: its figures. A sitting is a run, whose values are its slices."""
    found = result_of('-n', '2', '--slices', '3')
    equal(len(found), 1, 'benchmarks')
    [one] = found.values()
    equal([len(run['values']) for run in one['runs']], [3, 3], 'slices of each sitting')
    facts = one['metadata']
    equal(facts['quiesce_served_requests'], 2 * 3 * 200, 'requests')
    equal(facts['quiesce_served_slices'], 3, 'slices')
    check(facts['quiesce_served_ready'] > 0, 'the time until it is ready')
    check('{port}' in facts['quiesce_served_load'], 'the load, as it was typed')
    for run in one['runs']:
        cpu = run['metadata']['quiesce_event_cpu']
        check(sorted(run['values'])[1] == cpu, f'the median of the slices: {run}')
        check(1e-6 < cpu < 1, f'CPU time a request: {cpu}')
        # Closed loop, and the same CPU: neither may be compared.
        for name in 'rps', 'p50', 'p99':
            check(f'quiesce_event_{name}' not in run['metadata'], f'{name} may not be compared')
    for name in 'rps', 'p50', 'busy':
        check(facts[f'quiesce_served_{name}'] > 0, f'{name} is kept')


def test_roles():
    """What is known of the service and of the load, and who was at the limit."""
    path = FOLDER / 'roles.json'
    shown = start('-v', '-n', '2', '--slices', '2', '-o', path).stdout
    for text in '  busy ', '  load ', '  limit          ':
        check(text in shown, f'{text}: {shown}')
    [one] = json.loads(path.read_text())['benchmarks']
    for facts in [run['metadata'] for run in one['runs']]:
        cpu = facts['quiesce_user_cpu'] + facts['quiesce_system_cpu']
        check(abs(cpu - facts['quiesce_task_clock']) < 0.03, f'the parts of the CPU time: {facts}')
        check(facts['quiesce_load_cpu'] > 0 and facts['quiesce_load_run_delay'] >= 0, f'of the load: {facts}')
        check(facts['quiesce_involuntary_switches'] + facts['quiesce_voluntary_switches'] > 0, f'switches: {facts}')
        check('quiesce_irq_timer' in facts and 'quiesce_run_delay' in facts, f'of the CPU: {facts}')
        # It is on the same CPU, of which that is told already.
        check('quiesce_load_irq_device' not in facts, f'CPUs of the load: {facts}')
    shown = report('dump', path)
    check('SWITCH' in shown and 'WAITED' in shown, f'dump: {shown}')


def test_ended_threads():
    """What only living threads tell is not known where others had the CPU time."""
    path = FOLDER / 'ended.json'
    for words, known in ((), True), (('threads',), False):
        shown = start('-v', '-n', '1', '--slices', '1', '-o', path, new=service(40000, *words)).stdout
        [run] = json.loads(path.read_text())['benchmarks'][0]['runs']
        equal([text in shown for text in ('switches each', 'waits for CPU')], [known] * 2, f'{words}: {shown}')
        equal([f'quiesce_{name}' in run['metadata'] for name in ('run_delay', 'voluntary_switches')], [known] * 2,
              f'{words}: {run["metadata"]}')


def test_events():
    """-e counts what the service does for a request, in a slice of its own."""
    path = FOLDER / 'events.json'
    few, many = (service(500, f'maps={pages}') for pages in (50, 100))
    started = start('-v', '-v', '-n', '7', '--slices', '1', '-e', 'page-faults,context-switches', '-o', path, old=few,
                    new=many)
    if 'nothing is counted' in started.stderr:
        raise machine.Skip(started.stderr.strip().splitlines()[0])
    equal(started.stderr.count('slice that events are counted in'), 14, 'slices of their own')
    equal(started.stderr.count(': slice of'), 14, 'slices that count')
    check('  page-faults' in started.stdout and '  context-switches' in started.stdout, started.stdout)
    old, new = (statistics.median(run['metadata']['quiesce_event_page-faults'] for run in each['runs'])
                for each in json.loads(path.read_text())['benchmarks'])
    check(50 <= old < 60 and 49 < new - old < 51, f'pages of a request: {old}, {new}')
    report('compare', '--metric', 'page-faults', '--fail-worse', 50, path, status=3)
    start('--by', 'page-faults', '--decide', '20', '--slices', '1', '-e', 'page-faults', status=3, old=few, new=many)
    # None is asked for: nothing is said of a CPU that does not count instructions.
    started = start('-v', '-v', '-n', '1', '--slices', '1', '-e', 'none')
    check('events are counted' not in started.stderr, started.stderr)
    check('note' not in start('-n', '1', '--slices', '1').stderr, 'a note that nobody has asked for')
    start('-e', 'no-such-event', status=2, says='-e: no-such-event: ')
    start('--by', 'page-faults', '-n', '1', status=1, says='no figure called page-faults')
    start('-n', '1', '--slices', '1', '-e', 'page-faults', '--rest', 'stop', says='nothing is counted: the services '
          'have no cgroup of their own')


def test_load_cpus():
    """The load's CPUs are locked as well, together with those of the services, and known by what they did."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise machine.Skip('two CPUs are needed')
    other = str(cpus[0])
    path = FOLDER / 'apart.json'
    process = subprocess.Popen(command('-n', '100', '--load-cpus', other, '-q', '-o', path), env=ENVIRONMENT,
                               stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    machine.wait_for(mine, 'the service is there', 10 * DEADLINE)
    for tool, where in (RUNSERVED, other), (os.environ['RUNPINNED'], other), (RUNSERVED, CPU):
        arguments = ['--http', '/', '--', 'true', '{port}'] if tool == RUNSERVED else ['true']
        result = subprocess.run([tool, '-c', where, '--no-wait', *arguments], env=ENVIRONMENT, capture_output=True,
                                stdin=subprocess.DEVNULL, text=True, timeout=300, check=False)
        equal(result.returncode, 1, f'{tool} -c {where}: {result.stderr}')
        check(f'CPU {where} is taken by runserved' in result.stderr, f'who has it: {result.stderr}')
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=DEADLINE)[1]
    equal(process.returncode, 130, 'status')
    check(re.search(r'stopped by SIGINT after \d+ of 100 sittings', said), said)
    nothing_is_left()
    start('-n', '1', '--slices', '1', '--load-cpus', other, '-o', path)
    [run] = json.loads(path.read_text())['benchmarks'][0]['runs']
    check('quiesce_load_irq_device' in run['metadata'], f'CPUs of the load: {run["metadata"]}')
    start('--load-cpus', '99999', status=2, says='--load-cpus: ')
    plan = start('--by', 'throughput', '--dry-run').stdout
    check(f"load's cpus: {CPU}" not in plan and "load's cpus: " in plan, f'others by default: {plan}')


def test_load_leaves():
    """A load that moves itself to other CPUs than it was given is noticed."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise machine.Skip('two CPUs are needed')
    start('-n', '1', '--slices', '1', how=f'taskset -c {cpus[0]} {load()}', says='was on other CPUs than')


def test_two_services():
    """Five times the work is seen by CPU time a request, and bench-report reads the file as it is."""
    path = FOLDER / 'two.json'
    shown = start('-v', '-n', '6', '--slices', '1', '-o', path, old=service(2000), new=service(10000))
    check('the load has the same CPU' in shown.stdout, f'why requests/s say nothing: {shown.stdout}')
    check('closed loop' in shown.stdout, 'why latencies say nothing')
    check(len([line for line in shown.stdout.splitlines() if line]) < 30, f'a report of one screen: {shown.stdout}')
    text = report('show', '-v', path)
    check('baseline: cpu' in text and ': cpu' in text and 'rps' not in text, f'show: {text}')
    both = json.loads(path.read_text())
    values = [sorted(v for run in b['runs'] for v in run['values']) for b in both['benchmarks']]
    check(values[0][-1] < values[1][0], f'each slice of the new one takes longer: {values}')
    # All services of a sitting began at the same moment.
    dates = [[run['metadata']['date'] for run in b['runs']] for b in both['benchmarks']]
    equal(dates[0], dates[1], 'the moments of the sittings')


def test_verbs():
    """All verbs of bench-report take what runserved has written."""
    path, again, more, both = (FOLDER / name for name in ('verbs.json', 'again.json', 'more.json', 'both.json'))
    rates = ['--by', 'latency=p50', '--rate', '300', '--load-cpus', CPU]
    start('-n', '7', '--slices', '2', '-o', path, old=service(2000), new=service(20000))
    start('-n', '2', '--slices', '2', '-o', again, *rates, old=service(), how=load(60, 'rate={rate}'))
    shown = report('show', '-v', path)
    check('baseline: cpu: 7 runs' in shown and 'switches ' in shown and 'waiting for the CPU' not in shown,
          f'show: {shown}')
    shown = report('compare', '-v', path)
    check('baseline: cpu -> ' in shown and 'worse: more CPU time a request' in shown, f'compare: {shown}')
    check('takes' in shown and 'less CPU time a request than' in shown, f'ranking: {shown}')
    report('compare', '--fail-worse', 5, path, status=3, says='worse by more than 5 % (more CPU time a request): ')
    report('compare', '--fail-worse', 5, path, path)
    for form in '--table', '--markdown':
        check('more CPU time a request' in report('compare', form, path), form)
    found = json.loads(report('compare', '--json', path))['comparisons']
    equal([(one['metric'], one['verdict'], one['design']) for one in found], [('cpu', 'slower', 'in turn')], 'JSON')
    stable = subprocess.run([os.environ['BENCH_REPORT'], 'check', path], capture_output=True, text=True, check=False)
    check('baseline: cpu: ' in stable.stdout and stable.returncode in (0, 3), f'check: {stable}')
    check('7 with values' in report('stats', path), 'stats')
    shown = report('dump', path)
    equal(len(re.findall('^ *[0-9]+ value ', shown, re.M)), 2 * 7 * 2, f'dump: a line for each slice: {shown}')
    check('us: ' in report('hist', path), 'hist')
    check('baseline' in report('slowest', path), 'slowest')
    check('1 machine' in report('fleet', path), 'fleet')
    check(', load_cpu,' not in report('show', '--csv', path) and ',cpu,' in report('show', '--csv', path), 'CSV')
    check('<testcase' in report('compare', '--format', 'junit', path), 'JUnit')
    check('baseline: cpu' in report('trend', path, path), 'trend')
    start('-n', '2', '--slices', '2', '-o', more, old=service(2000), new=service(20000))
    report('merge', '-o', both, path, more)
    check('baseline: cpu: 9 runs' in report('show', '-v', both), 'merge')
    for name, metric, file in (('cpu', 'cpu', path), ('latency', 'p50', again)):
        picture = FOLDER / f'{name}.svg'
        report('plot', '-b', 'baseline', '--metric', metric, '-o', picture, file)
        check(metric in picture.read_text(), f'a picture of {name}')


def test_decide():
    """--decide on sittings, with its exit statuses."""
    started = start('--decide', '20', '--slices', '1', '--max-sittings', '25', status=3, old=service(2000),
                    new=service(20000))
    check('takes more than 10 % more CPU time a request' in started.stdout, f'verdict: {started.stdout}')
    start('--decide', '50', '--slices', '1', '--max-sittings', '40', says='not', old=service(20000),
          new=service(2000))


def test_says_nothing():
    """A figure from which nothing follows decides nothing, and is not compared later either."""
    path = FOLDER / 'nothing.json'
    for words, why in ((['--by', 'throughput', '--load-cpus', CPU], 'the same CPU'),
                       (['--by', 'latency=p50', '--load-cpus', CPU], 'closed loop')):
        shown = start(*words, '--decide', '2', '--slices', '1', '-o', path, status=4, old=service(2000),
                      new=service(20000), says=['says nothing, because', why])
        check('slower' not in shown.stdout, f'no verdict: {shown.stdout}')
        metadata = json.loads(path.read_text())
        text = json.dumps(metadata)
        check('quiesce_served_nothing' in text and 'quiesce_event_rps' not in text and 'quiesce_event_p50' not in text,
              'what says nothing is not compared')


def test_says_nothing_without_decide():
    """Nor is anything else compared in its place."""
    shown = start('--by', 'throughput', '--load-cpus', CPU, '-n', '1', '--slices', '1', old=service(),
                  says='rps says nothing, because')
    check('difference' not in shown.stdout and 'verdict' not in shown.stdout, f'no verdict: {shown.stdout}')


def test_open_loop():
    """Latencies tell where the rate is given and held."""
    path = FOLDER / 'open.json'
    where = ['--load-cpus', CPU]

    def holds():
        """A busy machine holds no rate, and then there is no p50."""
        start('--by', 'latency=p50', '--rate', '200', '-n', '2', '--slices', '1', '-q', '-o', path, *where,
              old=service(), how=load(100, 'rate={rate}'))
        return 'quiesce_event_p50' in path.read_text()

    machine.wait_for(holds, 'p50 is compared', 10 * DEADLINE)
    # One request of a hundred lies beyond p99.
    check('quiesce_event_p99' not in path.read_text(), 'p99 of 100 requests is not known')
    start('--by', 'latency=p50', '--rate', '1000000', '-n', '1', '--slices', '1', *where, old=service(),
          how=load(100, 'rate={rate}'), says='the rate was not held')
    start('--rate', '5', status=2, says='no {rate} in the load')


HTTP_SERVICE = '''
import http.server, os, socket, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    wbufsize = 65536
    def log_message(self, *_): pass
    def do_GET(self):
        sum(range(int(sys.argv[2])))
        self.send_response(500 if self.path == '/broken' else 200)
        self.send_header('Content-Length', '4')
        self.end_headers()
        self.wfile.write(b'PONG')
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_UNIX if '/' in sys.argv[1] else socket.AF_INET6 if '::1' in sys.argv else socket.AF_INET
    def server_bind(self):
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = 'here', 0
    def get_request(self):
        return self.socket.accept()[0], ('here', 0)
Server(sys.argv[1] if '/' in sys.argv[1] else
       ('::1' if '::1' in sys.argv else '127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
'''


def has_v6():
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(('::1', 0))
        except OSError:
            return False
    return True


def test_http():
    """Our own generator, in a closed and in an open loop; answers that are not 2xx are errors."""
    script = write('service.py.http.py', HTTP_SERVICE)

    def serve(path, *words, status=0, says=(), at='{port}', where=()):
        return execute([RUNSERVED, '-c', CPU, '--http', path, '-n', '1', '--slices', '1', '--requests', '300', *words,
                        '--', *PYTHON.split(), str(script), at, '1000', *where], status, says).stdout

    shown = serve('/', '-C', '2')
    check('closed loop' in shown and '300 requests' in shown and 'p50' in shown, f'closed: {shown}')
    shown = serve('/', '--rate', '200', '--by', 'latency=p50', '--load-cpus', CPU)
    check('open loop of 200 requests/s' in shown, f'open: {shown}')
    serve('/broken', '--warm-load', 'none', status=1, says='the load failed')
    shown = serve('/', '-C', '2', at='{socket}')
    check('300 requests, none failed' in shown, f'over a UNIX socket: {shown}')
    if has_v6():
        shown = serve('/', '-C', '2', where=['::1'])
        check('300 requests, none failed' in shown, f'of one that listens at ::1 alone: {shown}')
        serve('/', '--rate', '200', '--by', 'latency=p50', '--load-cpus', CPU, where=['::1'])


def test_answers_in_parts():
    """A service that writes an answer in two parts, without TCP_NODELAY: it is said why it takes 40 ms."""
    script = write('service.py.parts.py', HTTP_SERVICE.replace('wbufsize = 65536', 'wbufsize = 0'))
    path = FOLDER / 'parts.json'
    shown = execute([RUNSERVED, '-c', CPU, '--http', '/', '-n', '1', '--slices', '1', '--requests', '30', '-o', path, '--',
                     *PYTHON.split(), str(script), '{port}', '1000']).stdout
    [one] = json.loads(path.read_text())['benchmarks']
    p50 = one['metadata']['quiesce_served_p50']
    if not 0.039 <= p50 <= 0.05 or 'limit      nobody' not in shown:
        raise machine.Skip(f'the machine is too busy: half of the answers took {p50} s')
    check('TCP_NODELAY is missing' in shown, shown)


HTTP_LOAD = '''
import http.client, sys, urllib.parse
url, n = urllib.parse.urlparse(sys.argv[1]), int(sys.argv[2])
connection = http.client.HTTPConnection(url.hostname, url.port)
for _ in range(n):
    connection.request('GET', url.path)
    connection.getresponse().read()
print(f'{n} requests')
'''


def test_warm_requests():
    """A few requests come before each slice, and do not count: the first ones after a rest take much longer."""
    script = write('service.py.counted.py', HTTP_SERVICE.replace('    def do_GET', f'''
    def parse_request(self):
        open({str(FOLDER / "asked")!r}, 'a').write('x')
        return super().parse_request()
    def do_GET'''))
    http_load = write('http_load.py', HTTP_LOAD)

    def count(*words, status=0, says=()):
        (FOLDER / 'asked').write_text('')
        result = subprocess.run(
            [RUNSERVED, '-c', CPU, '-n', '1', '--slices', '2', '--warm-slices', '1', '--requests', '50', *words, '--', *PYTHON.split(),
             str(script), '{port}', '1000'], env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=300, check=False)
        equal(result.returncode, status, f'{words}: {result.stdout} {result.stderr}')
        for text in says:
            equal((result.stdout + result.stderr).count(text), 1, f'{words}: "{text}" in {result.stdout} {result.stderr}')
        return len((FOLDER / 'asked').read_text())

    def at(path):
        return ['--load', f'{PYTHON} {http_load} http://127.0.0.1:{{port}}{path} 50']

    equal(count('--http', '/'), 3 * (10 + 50), 'of our own')
    equal(count('--http', '/', '-C', '20'), 3 * (20 + 50), 'one of each connection')
    equal(count('--http', '/', '--warm-load', 'none'), 3 * 50, 'none')
    for path in '/', '', '/a/b#c':
        equal(count(*at(path)), 3 * (10 + 50), f'where the load has an URL: {path}')
    equal(count(*at('/broken'), says=['warning: python3: the requests before a slice failed', 'has status 500',
                                      'none are made any more']), 1 + 3 * 50, 'where they are refused')
    equal(count('--load', f'{PYTHON} {http_load} http://10.0.0.1.{{port}}/ 50', status=1, says=['the load failed']), 0,
          'an URL of somebody else')
    count('--http', '/broken', status=1, says=['the requests before a slice failed', 'has status 500'])
    told = FOLDER / 'told'
    told.unlink(missing_ok=True)
    found = result_of('-n', '1', '--slices', '1', '--warm-slices', '1', '--warm-load', load(2, 'warms'), new=service(2000, f'tells={told}'))
    [one] = found.values()
    warm = [float(line) for line in told.read_text().splitlines()]
    equal(len(warm), 2 * 2, 'requests before two slices')
    check(one['runs'][0]['values'][0] * 200 < min(warm), f'they do not count: {one["runs"]}, {warm}')
    check("load.py '{port}' 2 warms" in one['metadata']['quiesce_served_warm_load'], f'what was made: {one["metadata"]}')
    start('-n', '1', '--warm-load', 'false {port}', status=1, says='the requests before a slice failed: exit status 1')
    start('-n', '1', '--warm-load', 'sleep 1000{port}', '--timeout', '1', status=1, says='it has not ended in time')
    start('-n', '1', '--timeout', '10000', '--warm-load', load(300, 'patient'), new=service(2000, 'dies-after=200'),
          status=1, says='it has ended under load: exit status 5')
    start('--warm-load', 'true', status=2, says='has neither {port} nor {socket}')
    start(how='wget http://127.0.0.1:{port}/a?b', status=2, says='quote it, or give it to sh -c')
    start(how='sh -c "ab http://127.0.0.1:{port}/$(cat x)"', status=2, says="give it to sh -c '...'")


def test_short_slices():
    """A slice of few requests in no time is said to be one, as slices of enough are not."""
    for n, is_short in (20, True), (1000, False):
        said = start('-n', '1', '--slices', '1', new=service(0), how=load(n)).stderr
        equal('have the load make 1000 and more' in said, is_short, f'{n} requests: {said}')


def test_warm_slices():
    """A service that gets faster while it runs has slices that do not count until it has, all sittings as many."""
    def warm(*words, **services):
        found = result_of('-n', '2', '--slices', '1', '--warm-load', 'none', *words, **services)
        return ({b['metadata']['quiesce_served_warm_slices'] for b in found.values()},
                [run['values'] for b in found.values() for run in b['runs']])

    # The 460th request takes a hundredth of the first one, and no other less.
    [slices], values = warm('--warm-slices', 'auto', old=service(200000, 'improves=2000,99'), new=service(2000), how=load(100))
    check(5 <= slices <= 10, f'slices that do not count: {slices}')
    check(max(max(values)) < 10 * min(min(values)), f'no slice that counts is cold: {values}')
    [slices], _ = warm('--warm-slices', '1', new=service(2000))
    equal(slices, 1, 'as many as were asked for')
    # Each slice takes half of the time of the one before. What takes the core meanwhile may double it, and ends that.
    machine.wait_for(lambda: 'not after 10 slices: it still took less from slice to slice' in start(
        '-n', '1', '--slices', '1', '--warm-slices', 'auto', '--warm-load', 'none', new=service(10000000, 'improves=1,87'),
        how=load(5)).stdout, 'a service that does not get warm is told', 3 * DEADLINE)
    start('--warm-slices', '0', status=2, says='auto, or a whole number from 1 to 1000')


def test_rest():
    """The one that is not under load is stopped, with all of its processes."""
    seen = {}
    process = subprocess.Popen(command('-n', '1', '--slices', '4', '-q', '--no-save', '--rest', 'stop',
                                       old=service(5000, 'forks'), new=service(5000, 'background')), env=ENVIRONMENT,
                               stdin=subprocess.DEVNULL)
    while process.poll() is None:
        for pid in mine():
            try:
                state = pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0]
            except OSError:
                continue
            seen.setdefault(pid, set()).add(state)
        time.sleep(0.002)
    equal(process.returncode, 0, 'status')
    stopped = [pid for pid, found in seen.items() if 'T' in found]
    check(len(stopped) >= 3, f'three processes of two services are stopped meanwhile: {seen}')
    nothing_is_left()


def groups(process):
    """The cgroups of its services that there are, with what they say of being frozen."""
    found = {}
    # Others come and go meanwhile, which walk() does not mind.
    for folder, _, _ in os.walk('/sys/fs/cgroup'):
        if f'/runserved-{process.pid}-' in folder:
            try:
                found[folder] = 'frozen 1' in pathlib.Path(folder, 'cgroup.events').read_text()
            except OSError:
                continue
    return found


def can_freeze():
    result = subprocess.run(command('-n', '1', '--slices', '1', '--rest', 'freeze', '--no-save'), env=ENVIRONMENT,
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        check('it can have no cgroup of its own' in result.stderr, f'why: {result.stderr}')
    return result.returncode == 0


def test_freeze():
    """Where a cgroup can be made, each service has its own, which is frozen, counts workers that end, and goes with
    the service, also when runserved is killed."""
    if not can_freeze():
        raise machine.Skip('no cgroup of our own may be made here')
    for number in 0, signal.SIGKILL:
        seen = {}
        process = subprocess.Popen(command('-n', '1' if number == 0 else '100', '--slices', '4', '-q', '--no-save',
                                           old=service(5000, 'forks'), new=service(5000, 'background')),
                                   env=ENVIRONMENT, stdin=subprocess.DEVNULL)
        while process.poll() is None:
            for folder, frozen in groups(process).items():
                seen.setdefault(folder, set()).add(frozen)
            if number and len([one for one in seen.values() if True in one]) == 2:
                process.send_signal(number)
            time.sleep(0.002)
        equal(process.returncode, -number, 'status')
        check(len([one for one in seen.values() if True in one]) == 2, f'both are frozen meanwhile: {seen}')
        nothing_is_left()
        machine.wait_for(lambda one=process: not groups(one), 'no cgroup is left', DEADLINE)
    found = result_of('-n', '1', '--slices', '2', new=service(20000, 'sheds'))
    [one] = found.values()
    equal(one['metadata']['quiesce_served_rest'], 'freeze', 'how it rests')
    check(min(one['runs'][0]['values']) > 1e-4, f'the child that worked and ended is counted: {one["runs"]}')


def in_namespaces(*words):
    """In front of a command that is root in namespaces of its own."""
    user = [] if os.geteuid() == 0 else ['--map-root-user']
    result = subprocess.run(['unshare', *user, *words, 'true'], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise machine.Skip(f'no namespaces: {result.stderr.strip()}')
    return ['unshare', *user, *words]


def enclosed(words, script, *arguments, status=0, says=(), **services):
    """As start(), behind a script of sh in namespaces."""
    return execute([*in_namespaces(*words), 'sh', '-c', f'set -e; {script}; exec "$@"', 'sh',
                    *command(*arguments, **services)], status, says)


def test_time_wait():
    """The load has no ports left, because those of its connections are in TIME_WAIT."""
    up = write('up.py', '''
import fcntl, pathlib, socket, struct
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    fcntl.ioctl(one, 0x8914, struct.pack('16sh14x', b'lo', 0x41))  # SIOCSIFFLAGS: IFF_UP | IFF_RUNNING
ipv4 = pathlib.Path('/proc/sys/net/ipv4')
(ipv4 / 'ip_local_port_range').write_text('40000 40019')
(ipv4 / 'tcp_tw_reuse').write_text('0')
''')
    script = f'{PYTHON} {up}'
    enclosed(['--net'], script, '-n', '1', '--slices', '1', how=load(15))
    enclosed(['--net'], script, '-n', '1', status=1, how=load(300, 'again'), says='Cannot assign requested address')
    # One that goes on without a word.
    enclosed(['--net'], script, '-n', '1', '--requests', '300', status=1, how=load(300, 'again', 'lies'),
             says=['it has made ', ' requests, and 300 were wanted'])


def test_without_cgroups():
    """Without cgroup v2, and in a container that may make none, services are stopped by SIGSTOP."""
    for words, script in (
            (['--mount'], 'mount -t tmpfs none /sys/fs/cgroup'),
            (['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'],
             'for at in $(sed -n "s/.* \\([^ ]*\\) .* - cgroup2 .*/\\1/p" /proc/self/mountinfo); do '
             'if test -d $at; then mount --bind $at $at; mount -o remount,bind,ro $at; fi; done')):
        path = FOLDER / 'enclosed.json'
        path.unlink(missing_ok=True)
        enclosed(words, script, '-n', '1', '--slices', '2', '-o', path, old=service(2000, 'forks'),
                 new=service(2000, 'background'))
        equal([{**b['metadata'], **json.loads(path.read_text()).get('metadata', {})}['quiesce_served_rest']
               for b in json.loads(path.read_text())['benchmarks']], ['stop', 'stop'], f'{script}: how they rest')
        enclosed(words, script, '-n', '1', '--rest', 'freeze', status=1, says='it can have no cgroup of its own')
        enclosed(words, script, '-n', '1', '--slices', '1', '--rest', 'auto', status=1, new=service(2000, 'sheds'),
                 says='a process of it has ended under load')


def test_full_disk():
    """The result cannot be written: status 1, and nothing is left."""
    disk = FOLDER / 'disk'
    disk.mkdir(exist_ok=True)
    enclosed(['--mount'], f'mount -t tmpfs -o size=16k none {disk}; head -c 16384 /dev/zero >{disk}/all || :',
             '-n', '1', '--slices', '1', '-o', disk / 'result.json', status=1, says='No space left on device')


def test_cold_starts():
    """What is cold after a start is paid in the slice that does not count."""
    found = result_of('-n', '3', '--slices', '2', '--warm-load', 'none', old=service(2000),
                      new=service(2000, 'cold=150'))
    values = [v for b in found.values() for run in b['runs'] for v in run['values']]
    check(max(values) < 10 * min(values), f'no slice has the cold requests: {values}')


def test_second_profits():
    """Whoever comes second in a round finds what the first one has made warm, such as files in the page cache. The
    order is drawn for each round, so that this makes no version better."""
    path = FOLDER / 'cache'
    path.unlink(missing_ok=True)
    shown = start('--decide', '20', '--slices', '1', '--max-sittings', '12', '--seed', '7', status=4,
                  old=service(5000, f'caches={path}'), new=service(5000, f'caches={path}'))
    check('not settled' in shown.stdout, f'no verdict: {shown.stdout}')


def test_saturated_load():
    """A load that is the limit tells nothing of the service by requests/s."""
    others = os.sched_getaffinity(0) - {int(CPU)}
    if not others:
        raise machine.Skip('there is one CPU')
    start('--by', 'throughput', '--load-cpus', min(others), '--decide', '5', '--slices', '1', status=4, old=service(),
          new=service(4000), how=load(100, 'lazy'), says=['so it was not the limit', 'says nothing, because'])


def test_restarts():
    """A service that restarts itself under load, where the load does not see it."""
    for word, how, why in (('relistens', load(), 'it listens with another socket than before'),
                           ('reexecs', load(), 'its first process has executed a program anew'),
                           ('supervises', load(200, 'again'), 'restart')):
        if word == 'supervises' and not can_freeze():
            continue  # Then it is refused as one of which a process has ended.
        start('-n', '2', '--slices', '3', status=1, new=service(2000, word), how=how,
              says=[why, 'has restarted under load'])


def test_daemonizes():
    start('-n', '1', status=1, new=service(2000, 'daemonizes'),
          says='exit status 0; a service has to stay in the foreground')


def test_reloads():
    """Workers that end and are replaced under load are no restart, and count."""
    if not can_freeze():
        raise machine.Skip('no cgroup of our own may be made here')
    found = result_of('-n', '2', '--slices', '3', old=service(20000, 'forks'), new=service(20000, 'reloads'),
                      how=load(200, 'again'))
    once, reloading = (min(v for run in found[name]['runs'] for v in run['values']) for name in sorted(found))
    check(reloading > 0.7 * once, f'what the workers that have ended have used counts: {found}')


def test_worker_ends():
    """Without a cgroup, nobody knows what a process has used that has ended."""
    start('-n', '1', '--slices', '2', '--rest', 'stop', status=1, new=service(2000, 'sheds'),
          says='a process of it has ended under load')
    # One for each connection, which nobody has seen before it has ended.
    start('-n', '1', '--slices', '2', '--rest', 'stop', status=1, new=service(2000, 'forks-each'),
          how=load(200, 'again'), says='a process of it has ended under load')
    start('-n', '1', '--slices', '2', '--rest', 'stop', status=1, new=service(2000, 'forks-each', 'forgets'),
          how=load(200, 'again'), says='it ignores SIGCHLD')
    if not can_freeze():
        return
    for words in ('forks-each',), ('forks-each', 'forgets'):
        found = result_of('-n', '1', '--slices', '2', new=service(20000, *words), how=load(200, 'again'))
        [one] = found.values()
        check(min(one['runs'][0]['values']) > 1e-4, f'the processes that answer are counted: {one["runs"]}')


def test_load_misses_service():
    """A load that tells of requests which the service has not had."""
    execute([RUNSERVED, '-c', CPU, '-n', '1', '--rest', 'none', '--requests', '100', '--load', 'true {port}', '--',
             *service()], 1, 'it has used no CPU time, while true says that it made 100 requests')


def test_load_complains():
    """Nobody knows the lines about errors of a load that is a script."""
    script = write('complains.py', LOAD.replace('connection = None if', "sys.stderr.write('3 of 9 failed\\n')\nconnection = None if"))
    own = ['--load', f'{PYTHON} {script} {{port}} 200', '--figure', 'requests,higher=^([0-9]+) requests']
    shown = execute([RUNSERVED, '-c', CPU, '-n', '2', '--slices', '1', *own, '--', *service()],
                    says=['nobody knows whether these are errors', '| 3 of 9 failed'])
    equal(shown.stderr.count('3 of 9'), 1, 'it is said once')
    own[1] = load()
    shown = execute([RUNSERVED, '-c', CPU, '-n', '1', '--slices', '1', *own, '--', *service()])
    check('standard error' not in shown.stderr, f'of one that writes nothing: {shown.stderr}')


def test_coarse_latency():
    """A load prints 0 for what is shorter than it can tell."""
    shown = start('-n', '1', '--slices', '1', how=load(200, 'coarse'))
    check('p50' not in shown.stdout, f'no latency of 0: {shown.stdout}')


def test_forks():
    """A service with workers: the CPU time of all of them counts."""
    found = result_of('-n', '1', '--slices', '2', new=service(50000, 'forks'))
    [one] = found.values()
    equal(len(one['runs'][0]['values']), 2, 'slices')
    check(min(one['runs'][0]['values']) > 1e-4, f'the worker that answers is counted: {one["runs"]}')


def test_ready():
    start('-n', '1', '--slices', '1', new=service(2000, 'late'))
    start('-n', '1', '--slices', '1', '--ready', 'notify', new=service(2000, 'notifies'))
    start('-n', '1', '--ready', 'notify', '--ready-timeout', '0.7', status=1,
          says='it has not said READY=1 to $NOTIFY_SOCKET')
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        other = probe.getsockname()[1]
    start('-n', '1', '--ready-timeout', '2', status=1, new=service(2000, at=str(other)),
          says=[f'it listens on port {other}, and was to listen on port'])
    start('-n', '1', '--ready-timeout', '0.7', status=1, new=service(2000, 'deaf'),
          says=['it is not ready after 0.7 s', 'none of its processes listens on its port'])
    start('-n', '1', '--ready-timeout', '0.7', status=1, new=service(2000, 'deaf', at='17'),
          says='is told where to listen by $PORT alone: if it does not read that, {port} or {socket} has to be among')
    start('-n', '1', status=1, new=service(2000, 'dies'),
          says=['it has ended before it was ready: exit status 3', '| no such database'])
    start('-n', '1', status=1, new=['/nowhere/service', '{port}'], says='/nowhere/service')


def test_ready_by_command():
    """A command says when, within the time that there is, and as long as the service lives."""
    mark = FOLDER / 'mark'
    script = write('marking.py', f'''
import sys, threading, time
def mark():
    time.sleep(0.3)
    open({str(mark)!r}, 'w').close()
threading.Thread(target=mark, daemon=True).start()
exec(open({str(service_file)!r}, encoding='utf-8').read())
''')
    marking = [*PYTHON.split(), str(script), '{port}', '2000']
    mark.unlink(missing_ok=True)
    found = result_of('-n', '1', '--slices', '1', '--ready', f'test -e {mark}', new=marking)
    check(found.popitem()[1]['metadata']['quiesce_served_ready'] > 0.3, 'it was waited for')
    probe = write('probe.py', '''
import os, socket, sys
assert os.environ['PORT'] == sys.argv[1]
socket.create_connection(('127.0.0.1', int(sys.argv[1]))).close()
''')
    start('-n', '1', '--slices', '1', '--ready', f'{PYTHON} {probe} {{port}}', old=service())
    for how, why in (('false', 'exit status 1'), ('sleep 1000', 'it has not ended in time'), ('/nowhere/probe', '| runserved: cannot'),
                     ('sh -c "echo no luck >&2; exit 3"', '| no luck')):
        start('-n', '1', '--ready', how, '--ready-timeout', '3', status=1,
              says=['it is not ready after 3 s', 'the command of --ready has not succeeded: ', why])
    start('-n', '1', '--ready', 'sleep 1000', '--ready-timeout', '10000', new=service(2000, 'expires'), status=1,
          says=['it has ended before it was ready: exit status 6'])
    start('--ready', '', status=2, says='port, notify or a command')
    start('--ready', "'", status=2, says='--ready')


def holders(target):
    """The processes that have this open, by what the links in /proc/PID/fd say."""
    found = set()
    for link in pathlib.Path('/proc').glob('[0-9]*/fd/*'):
        try:
            if os.readlink(link) == target:
                found.add(int(link.parts[2]))
        except OSError:
            continue
    return found


def test_listen_fds():
    """The socket is handed to the service, which alone has it then: nobody waits in its queue when it has died."""
    for at in '{port}', '{socket}':
        how = {'how': load(at=at), 'new': service(2000, 'inherits', 'slow', at=at)}
        found = result_of('-n', '1', '--slices', '1', '--listen-fds', **how)
        check(found.popitem()[1]['metadata']['quiesce_served_ready'] > 0.3, f'{at}: it is to accept before')
        start('-n', '1', '--ready-timeout', '0.7', '--listen-fds', status=1,
              new=service(2000, 'inherits', 'idle', at=at), how=load(at=at), says='accepts no connection from the socket')
        start('-n', '1', '--listen-fds', status=1, new=service(2000, 'inherits', 'dies-after=300', at=at),
              how=load(at=at), says='it has ended under load: exit status 5')
    start('-n', '1', '--listen-fds', '--slices', '1', '--ready', 'true', new=service(2000, 'inherits'))
    start('-n', '1', '--listen-fds', status=1, new=service(2000, 'dies'), says='exit status 3')
    # It makes one of its own: SO_REUSEADDR does not help beside one that listens.
    start('-n', '1', '--listen-fds', status=1, new=service(), says='Address already in use')
    process = subprocess.Popen(command('-n', '1', '-q', '--no-save', '--listen-fds', new=service(2000, 'inherits'),
                                       how=load(100000)), env=ENVIRONMENT, stdin=subprocess.DEVNULL)
    machine.wait_for(mine, 'the service is there', 5 * DEADLINE)
    [pid] = mine()
    machine.wait_for(lambda: os.path.exists(f'/proc/{pid}/fd/3'), 'it has the socket', DEADLINE)
    target = os.readlink(f'/proc/{pid}/fd/3')
    machine.wait_for(lambda: holders(target) == {pid}, 'it alone has the socket', DEADLINE)
    process.terminate()
    equal(process.wait(timeout=DEADLINE), 143, 'status')
    nothing_is_left()


def test_load_ends_with_service():
    """A load that waits for ever for one that is dead is not waited for."""
    start('-n', '1', '--timeout', '10000', status=1, new=service(2000, 'dies-after=300'), how=load(200, 'patient'),
          says='it has ended under load: exit status 5')


def test_too_few_descriptors():
    """With each number of descriptors it works, or says why not."""
    def explain(line):
        return line.startswith('runserved: ') and not any(
            word in line for word in (': note:', ': warning:', ' is taken by '))

    words = command('-n', '1', '--slices', '1', '-q', '--no-save', '--ready', 'notify',
                    new=service(2000, 'notifies'))
    for number in range(6, 100):
        result = subprocess.run(['prlimit', f'--nofile={number}', *words], stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, env=ENVIRONMENT, timeout=300, check=False)
        if result.returncode == 0:
            break
        equal(result.returncode, 1, f'{number} descriptors: status ({result.stderr})')
        check(any(explain(line) for line in result.stderr.splitlines()), f'{number} descriptors: {result.stderr!r}')
    equal(result.returncode, 0, 'status with enough descriptors')
    nothing_is_left()


def test_port_is_held():
    """An old server holds the port, alone or by SO_REUSEPORT: what it answers is not the new one's."""
    for word in 'alone', 'shares', 'client':
        with socket.socket() as old:
            if word == 'shares':
                old.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            old.bind(('127.0.0.1', 0))
            old.listen(8)
            port = old.getsockname()[1]
            # It listens where it likes, which is not {port}.
            new = [*PYTHON.split(), str(service_file), str(port), '2000', word]
            start('-n', '1', '--ready-timeout', '1', status=1, new=new)
            # The port that it was given is held: the script gives it away before.
            thief = write('thief.py', '''
import os, socket, sys
holder = socket.socket()
holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
holder.bind(('127.0.0.1', int(sys.argv[1])))
if 'client' in sys.argv:
    holder.connect(('127.0.0.1', int(os.environ['TO'])))
else:
    holder.listen(8)
helper = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
helper.connect(sys.argv[2])
socket.send_fds(helper, [b'x'], [holder.fileno()])
helper.recv(1)
os.execv(sys.executable, [sys.executable, '-S', *sys.argv[3:]])
''')
            path = FOLDER / f'helper-{word}'
            with socket.socket(socket.AF_UNIX) as helper:
                helper.bind(str(path))
                helper.listen(4)
                # Where it is looked at before it has given the socket away, it is ready, and nobody answers.
                process = subprocess.Popen(
                    command('-n', '1', '--timeout', '2',
                            new=[*PYTHON.split(), str(thief), '{port}', str(path), str(service_file), '{port}', '2000',
                                 word]),
                    env={**ENVIRONMENT, 'TO': str(port)}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, text=True)
                connection, _ = helper.accept()
                _, [fd], _, _ = socket.recv_fds(connection, 1, 1)
                connection.send(b'x')
                connection.close()
                out, err = process.communicate(timeout=DEADLINE)
                os.close(fd)
            equal(process.returncode, 1, f'{word}: status ({out} {err})')
            check(('Address already in use' if word == 'client' else f'is held by process {os.getpid()}') in err,
                  f'{word}: who holds the port: {err}')
    nothing_is_left()


def test_stubborn():
    """One that does not end in time is killed, and -v says why sittings take so long."""
    for words in (), ('-v',):
        shown = start('-n', '1', '--slices', '1', '--end-timeout', '0.2', *words, new=service(2000, 'stubborn'))
        equal('it was there for 0.2 s after SIGTERM, and is killed' in shown.stderr, bool(words), f'{words}: {shown.stderr}')


def test_service_fails():
    """It dies, or hangs, under load."""
    for words in ([], ['lies']):
        start('-n', '3', status=1, new=service(2000, 'dies-after=300'), how=load(200, *words),
              says=['it has ended under load: exit status 5', '| out of luck'])
    start('-n', '1', '--timeout', '1', status=1, new=service(2000, 'hangs'), says='killed after 1 s')


def test_load_fails():
    """Exit status 0 of a load proves nothing."""
    start('-n', '1', status=1, how=load(200, 'errors'), says='it says: 7 answers were no 2xx')
    start('-n', '1', '--requests', '200', status=1, how=load(200, 'miscounts'),
          says='it has made 201 requests, and 200 were wanted')
    start('-n', '1', status=1, how=load(1000, 'dawdles'), says='it says that its 1000 requests took ')
    start('-n', '1', status=1, how='sh -c "kill -9 \\$\\$" {port}', says='signal 9')
    start('-n', '1', status=1, how=f'{sys.executable} -c pass {{port}}', says='no value of requests')
    start('-n', '1', status=1, how=f'{sys.executable} -c "exit(9)" {{port}}', says='exit status 9')
    start('-n', '1', '--timeout', '1', status=1, how='sleep 100{port}', says='killed after 1 s')
    start(status=2, how='true', says='has neither {port} nor {socket}')
    start(status=1, how='/nowhere/load {port}', says='/nowhere/load')


def test_harness_of_the_load():
    """It is the one that is called as the load. Who says where figures are still has the number of requests from it, and what
    it knows of failures."""
    write('loader', f'#!/bin/sh\nexec {PYTHON} {load_file} "$@"\n').chmod(0o755)
    harness = FOLDER / 'config' / 'quiesce' / 'harnesses' / 'loader.conf'
    harness.parent.mkdir(parents=True, exist_ok=True)
    harness.write_text(HARNESS.replace('2xx\n', '2xx\nBecause=ask its log\n', 1)
                       .replace('[requests]\n', '[requests]\nWhen=served\nOptional=yes\n'), encoding='utf-8')

    def use(*words, how='', status=0, says=()):
        result = subprocess.run([RUNSERVED, '-c', CPU, '-n', '1', '--slices', '1', '--json', *words, '--load',
                                 f'{FOLDER}/loader {{port}} 200 {how}', '--', *service()], env=ENVIRONMENT,
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
        equal(result.returncode, status, f'{words}: {result.stdout} {result.stderr}')
        check(not says or says in result.stderr, f'{words}: {result.stderr}')
        return result.stdout

    for words in [], ['--figure', 'mine,1/s,higher=^([0-9.]+) rps$'], ['--figure', 'requests,higher=^([0-9]+) requests$']:
        found = use(*words)
        check('"quiesce_served_requests": 200' in found, f'{words}: {found}')
        equal('"quiesce_served_p50"' in found, not words, f'{words}: whose figures ({found})')
        use(*words, how='errors', status=1, says='it says: 7 answers were no 2xx (ask its log)')
    harness.write_text(harness.read_text(encoding='utf-8').replace('^([0-9]+) requests$', '^([0-9]+) wishes$'), encoding='utf-8')
    use(status=1, says='it does not say how many requests it has made: give --requests N')
    check('"quiesce_served_requests": 200' in use('--requests', '200'), 'who says it')
    harness.unlink()
    nothing_is_left()


def test_failed_sitting():
    """What was measured before is kept, and a sitting that failed leaves nothing."""
    path = FOLDER / 'some.json'
    counter = FOLDER / 'starts'
    script = write('third.py', f'''
import sys
path = {str(counter)!r}
n = len(open(path, 'a+').write('x') and open(path).read())
sys.argv[3:] = ['dies-after=450'] if n > 2 else []
exec(open({str(service_file)!r}).read())
''')
    counter.unlink(missing_ok=True)
    start('-n', '5', '--slices', '3', '-o', path, status=1,
          new=[*PYTHON.split(), str(script), '{port}', '2000'], says='out of luck')
    [one] = json.loads(path.read_text())['benchmarks']
    equal([len(run['values']) for run in one['runs']], [3, 3], 'two whole sittings')
    # The third one ended in its second slice that counts.
    text = path.read_text()
    check(f'"quiesce_served_requests": {2 * 3 * 200},' in text, f'requests of the two: {text}')
    check('sitting 3 failed' in text, 'why it is incomplete')


def test_interrupted():
    """Ctrl-C, SIGTERM and SIGKILL leave nothing behind: neither what is stopped nor what ignores SIGTERM."""
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)):
        process = subprocess.Popen(
            command('-n', '100', '--end-timeout', '0.2', old=service(2000, 'stubborn', 'forks'),
                    new=service(2000, 'background')), env=ENVIRONMENT, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # Somebody else may have the CPU before.
        machine.wait_for(lambda: len(mine()) >= 3, 'the services are there', 5 * DEADLINE)
        time.sleep(0.2)
        process.send_signal(number)
        equal(process.wait(timeout=DEADLINE), status, f'status after signal {number}')
        nothing_is_left()


def test_sockets():
    """A service at a UNIX socket, in a folder of its own that is closed to others, and goes with it."""
    at = {'new': service(2000, at='{socket}'), 'how': load(at='{socket}')}
    start('-n', '2', '--slices', '1', old=service(2000, at='{socket}'), **at)
    for word, says in ('late', None), ('dies', 'exit status 3'):
        start('-n', '1', '--slices', '1', status=0 if says is None else 1, says=says or (),
              new=service(2000, word, at='{socket}'), how=load(at='{socket}'))
    # It listens on its port instead, or leaves files beside its socket.
    start('-n', '1', '--ready-timeout', '0.7', status=1, new=service(), how=load(at='{socket}'),
          says='none of its processes listens at its socket')
    script = write('littering.py', f'''
import os, sys
path = os.environ['SOCKET']
os.makedirs(path + '.d/deep')
open(path + '.d/deep/file', 'w').close()
sys.argv[1] = path
exec(open({str(service_file)!r}, encoding='utf-8').read())
''')
    start('-n', '1', '--slices', '1', how=load(at='{socket}'), new=[*PYTHON.split(), str(script), '-', '2000'])
    # The same where runserved is killed.
    seen = set()
    process = subprocess.Popen(command('-n', '100', **at), env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    machine.wait_for(lambda: mine() and sockets(), 'the service is there', 5 * DEADLINE)
    socket_modes(seen)
    process.kill()
    process.wait()
    nothing_is_left()
    equal(seen, {0o700}, 'modes of the folders')
    start(status=2, how='true {port} {socket}', says='both {port} and {socket}')
    start('-n', '1', status=1, environment={**ENVIRONMENT, 'TMPDIR': '/' + 'x' * 100}, says='too long for a socket',
          **at)


def test_socket_is_held():
    """A socket in its place that is none of its own: its file is where it was told, and answers."""
    script = write('usurped.py', f'''
import os, socket, sys
path = os.environ['SOCKET']
helper = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
helper.connect(sys.argv[2])
helper.sendall(path.encode())
helper.recv(1)
listener = socket.socket(socket.AF_UNIX)
os.rename(path, path + '.old')
listener.bind(path)
listener.listen(8)
listener.accept()
''')
    path = FOLDER / 'helper-socket'
    with socket.socket(socket.AF_UNIX) as helper, socket.socket(socket.AF_UNIX) as old:
        helper.bind(str(path))
        helper.listen(1)
        process = subprocess.Popen(
            command('-n', '1', new=[*PYTHON.split(), str(script), '{socket}', str(path)], how=load(at='{socket}')),
            env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        connection, _ = helper.accept()
        old.bind(connection.recv(200).decode())
        old.listen(8)
        connection.send(b'x')
        connection.close()
        out, err = process.communicate(timeout=DEADLINE)
    equal(process.returncode, 1, f'status ({out} {err})')
    check(f'is held by process {os.getpid()}' in err, f'who holds the socket: {err}')
    nothing_is_left()


def processes():
    """All that has to do with this test: each runserved names a file of its folder."""
    found = []
    for folder in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            if SCRATCH.name in (folder / 'cmdline').read_text(errors='replace'):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def test_ended_at_each_stage():
    """Ctrl-C, SIGTERM and SIGKILL while a service starts, is probed, gets requests that do not count, is under load
    beside one that is frozen, in a session of its own with a child that it has stopped, or does not end: nothing
    is left, neither a process nor a cgroup nor a folder."""
    sleeper = write('sleeper.py', f'''
import sys, time
open(sys.argv[2], 'w').close()
time.sleep(100000)
''')
    mark = FOLDER / 'stage'

    def sleep(at='{port}'):
        return f'{PYTHON} {sleeper} {at} {mark}'

    def under_load():
        return mark.exists()

    stages = {
        'start': ([], {'new': service(2000, 'deaf')}, mine),
        'probe': (['--ready', sleep(), '--ready-timeout', '100000'], {}, under_load),
        'warm': (['--warm-load', sleep()], {'old': service()}, under_load),
        'load': ([], {'old': service(2000, 'stubborn'), 'new': service(2000, 'inherits', 'stubborn'),
                      'how': sleep()}, under_load),
        'load, stopped': (['--rest', 'stop'], {'old': service(2000, 'stops-child', '/dev/null'), 'how': sleep()},
                          under_load),
        'end': (['--slices', '1', '--end-timeout', '100000'], {'new': service(2000, 'stubborn', f'ends={mark}')},
                under_load),
    }
    for stage, (words, services, is_reached) in stages.items():
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)):
            mark.unlink(missing_ok=True)
            more = ['--listen-fds'] if 'inherits' in services.get('new', ()) else []
            if more:
                services['old'] = service(2000, 'stubborn', 'inherits')
            process = subprocess.Popen(
                command('-n', '100', '--timeout', '100000', '--end-timeout', '0.2', *more, *words, **services),
                env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # Somebody else may have the CPU before.
            machine.wait_for(is_reached, f'{stage}: it is there', 5 * DEADLINE)
            process.send_signal(number)
            equal(process.wait(timeout=DEADLINE), status, f'{stage}: status after signal {number}')
            machine.wait_for(lambda: not processes(), f'{stage}: no process is left after signal {number}', DEADLINE)
            machine.wait_for(lambda: not groups(process) and not sockets(), f'{stage}: no cgroup or folder is left',
                             DEADLINE)


def test_keeper_is_killed():
    """Without the process that keeps them, services are ended as well, also one that is frozen with its workers."""
    if not can_freeze():
        raise machine.Skip('no cgroup of our own may be made here')
    process = subprocess.Popen(
        command('-n', '100', '--timeout', '100000', old=service(2000, 'forks'), new=service(2000, 'forks'),
                how=load(10000000)), env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True)
    machine.wait_for(lambda: len(mine()) == 4 and True in groups(process).values(), 'one is frozen', 5 * DEADLINE)
    for pid in mine():
        try:
            parent = int(pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[1])
            if pathlib.Path(f'/proc/{parent}/comm').read_text() == 'quiesce-keeper\n':
                os.kill(parent, signal.SIGKILL)
        except OSError:
            continue
    said = process.communicate(timeout=DEADLINE)[1]
    equal(process.returncode, 1, f'status: {said}')
    nothing_is_left()
    machine.wait_for(lambda: not groups(process), 'no cgroup is left', DEADLINE)


def test_stopped_child():
    """A child that the service has stopped itself stays so, and is ended with it."""
    mark = FOLDER / 'went-on'
    for rest in ['stop'] + ['freeze'] * can_freeze():
        start('-n', '2', '--slices', '2', '--rest', rest, old=service(), new=service(2000, 'stops-child', str(mark)))
        check(not mark.exists(), f'--rest {rest}: the child was not continued')


def test_others_are_left_alone():
    """Only services of its own are stopped or ended, whatever others are called."""
    other = subprocess.Popen(['sleep', '1000'])
    try:
        start('-n', '1', '--slices', '1', old=service())
        state = pathlib.Path(f'/proc/{other.pid}/stat').read_text().rpartition(')')[2].split()[0]
        equal(state, 'S', 'another process goes on')
    finally:
        other.kill()
        other.wait()


def test_ports():
    """Each start has a port of its own, below those of clients."""
    path = FOLDER / 'ports'
    path.unlink(missing_ok=True)
    start('-n', '3', '--slices', '1', old=service(2000, f'writes={path}'), new=service(2000, f'writes={path}'))
    ports = [int(line.split()[1]) for line in path.read_text().splitlines()]
    equal(len(set(ports)), 6, f'ports differ: {ports}')
    low = int(pathlib.Path('/proc/sys/net/ipv4/ip_local_port_range').read_text().split()[0])
    check(max(ports) < low, f'ports below {low}: {ports}')


def test_seed():
    """The seed of a measurement draws the same orders again, also those of the slices."""
    path = FOLDER / 'seed.json'

    def orders(*arguments):
        said = start('-n', '2', '--slices', '8', '-v', '-v', '-o', path, *arguments, old=service(), how=load(20)).stderr
        return [line.partition(' of ')[2].partition(':')[0] for line in said.splitlines() if 'slice of ' in line]

    first = orders()
    equal(len(first), 2 * 2 * (1 + 8), 'slices')
    result = json.loads(path.read_text())
    facts = {**result.get('metadata', {}), **result['benchmarks'][0]['metadata']}
    equal(orders('--seed', facts['quiesce_order_seed']), first, 'the same orders')


def test_misuse():
    start('--slices', '0', status=2)
    start('--max-sittings', '5', status=2, says='--max-sittings bounds')
    start('--until-rel-error', '1', '--max-sittings', '3', '-n', '5', status=2, says='--max-sittings 3 is less than -n 5')
    start('--decide', '2', '--max-sittings', '5', status=2, old=service(), says='--max-sittings 5: a decision takes')
    start('--decide', '2', status=2, says='--decide compares')
    start('--http', '/', status=2, says='give one of them')
    for path in 'index.html', '/a b':
        execute([RUNSERVED, '--http', path, '--', *service()], 2, 'is no path, which begins with / and has no blanks')
    start('-C', '1025', status=2, says='a whole number from 1 to 1024')
    start('--by', 'nothing', '-n', '1', '--slices', '1', status=1, says='no figure called nothing')
    plan = start('--dry-run', '-n', '4', old=service()).stdout
    for text in 'load: ', 'slices: 3 of each', 'they are stopped':
        check(text in plan, f'--dry-run: {text} in {plan}')
    plan = start('--dry-run', '--decide', '2', old=service(), new=service()).stdout
    check('runs: 2 to 100 ' in plan, f'--dry-run --decide: {plan}')


if __name__ == '__main__':
    # `test_serve.py WORD...` runs the tests whose names contain one of the words.
    # Those that take longest are left out of the quick tests.
    LONG = ('warm requests', 'saturated load', 'second profits') if os.environ.get('QUICK') else ()
    machine.run_tests(test for test in machine.named_tests(machine.tests_of(globals())) if test[0] not in LONG)
