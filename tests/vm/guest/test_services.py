# SPDX-License-Identifier: GPL-2.0-or-later
"""runserved: a service and its load in the shield, with --quiesce, as a member of the group, and in
namespaces; and the experiment of an article that began it all, "Reliably benchmarking small changes": five runs of a
service that answers a ping, before benchmark.target and while it is up."""

import json
import os
import re
import statistics
import tempfile

from lab import boots, call, check, equal, fail, note, parse_list, read, succeed, wait_for
from target import cgroups, inside, moved, state, up

# Seconds for a few sittings in an emulator.
SLOW = 600
# PORT FILE: answers a ping, and tells where it runs when it starts.
SERVICE = '''
import os, socket, sys
def tell():
    status = open('/proc/self/status').read()
    cgroup = open('/proc/self/cgroup').read()
    with open(sys.argv[2], 'a') as file:
        file.write('service ' + status.split('Cpus_allowed_list:')[1].split()[0] + ' '
                   + cgroup.split('0::')[-1].split()[0] + '\\n')
tell()
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(('127.0.0.1', int(sys.argv[1])))
listener.listen(8)
while True:
    connection, _ = listener.accept()
    while connection.recv(64):
        sum(range(300))
        connection.sendall(b'PONG')
    connection.close()
'''
# PORT FILE N: pings, and tells the same.
LOAD = '''
import socket, sys, time
status, cgroup = open('/proc/self/status').read(), open('/proc/self/cgroup').read()
with open(sys.argv[2], 'a') as file:
    file.write('load ' + status.split('Cpus_allowed_list:')[1].split()[0] + ' '
               + cgroup.split('0::')[-1].split()[0] + '\\n')
n = int(sys.argv[3])
connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
began = time.monotonic()
for _ in range(n):
    connection.sendall(b'PING')
    assert connection.recv(64) == b'PONG'
print('requests', n)
print('rps', n / (time.monotonic() - began))
'''
FIGURES = ('--figure', 'requests,higher=^requests ([0-9]+)', '--figure', 'rps,requests/s,higher=^rps ([0-9.]+)')


class Place:
    """A folder that everybody may read, with the service and the load."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        os.chmod(self.folder.name, 0o777)
        for name, text in (('service.py', SERVICE), ('load.py', LOAD)):
            with open(f'{self.folder.name}/{name}', 'w', encoding='utf-8') as file:
                file.write(text)
        self.told = f'{self.folder.name}/told'
        self.forget()
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def forget(self):
        with open(self.told, 'w', encoding='utf-8'):
            pass
        os.chmod(self.told, 0o666)

    def words(self, *arguments, load=(), n=200):
        load = ' '.join([*load, 'python3', '-S', f'{self.folder.name}/load.py', '{port}', self.told, str(n)])
        return ('runserved', '-q', '--json', '--no-save', '--slices', '1', *FIGURES, '--load', load, *arguments,
                '--', 'python3', '-S', f'{self.folder.name}/service.py', '{port}', self.told)

    def serve(self, *arguments, before=(), **options):
        """Returns the metadata of the one service, and those of each sitting."""
        self.forget()
        result = json.loads(succeed(*before, *self.words(*arguments), timeout=SLOW, **options))
        [benchmark] = result['benchmarks']
        return ({**result.get('metadata', {}), **benchmark['metadata']},
                [run['metadata'] for run in benchmark['runs']])

    def where(self):
        """[(service or load, its CPUs, its cgroup)] of all that were started."""
        return [(who, parse_list(cpus), cgroup) for who, cpus, cgroup in
                (line.split() for line in read(self.told).splitlines())]


def were_in_the_shield(place, cpus=(2,)):
    for who, allowed, cgroup in place.where():
        equal(allowed, set(cpus), f'CPUs of the {who}')
        check(cgroup.startswith('/benchmark.slice'), f'{who} is in {cgroup}')
    equal({who for who, _, _ in place.where()}, {'service', 'load'}, 'who was there')


def has_evidence(runs):
    for facts in runs:
        for name in 'user_cpu', 'system_cpu', 'run_delay', 'irq_timer', 'load_cpu', 'load_run_delay':
            check(facts.get(f'quiesce_{name}', -1) >= 0, f'{name}: {facts}')
        check(facts['quiesce_event_cpu'] > 0, f'CPU time a request: {facts}')


def nothing_is_left():
    wait_for(lambda: not inside(), 'nobody is on the quiet CPUs')


def five_runs(place, what, *arguments):
    """As the article has it: five runs, and the range of what they say as a part of the mean."""
    found = [place.serve('-n', '1', *arguments) for _ in range(5)]
    for facts, runs in found:
        has_evidence(runs)
        check(facts['quiesce_served_requests'] == 200, f'requests: {facts}')
    for name, values in (('requests/s', [facts['quiesce_served_rps'] for facts, _ in found]),
                         ('CPU time a request', [runs[0]['quiesce_event_cpu'] for _, runs in found])):
        note(f'{what}: {name}: ' + ', '.join(f'{value:.4g}' for value in values)
             + f': range {100 * (max(values) - min(values)) / statistics.mean(values):.2f} % of the mean')


def test_the_article():
    """Who runs where, what the evidence says, and the machine as before; how much quieter it was is only told."""
    with Place() as place:
        five_runs(place, 'before', '-c', '2')
        for who, allowed, cgroup in place.where():
            equal(allowed, {2}, f'CPUs of the {who}')
            check(not cgroup.startswith('/benchmark.slice'), f'{who} is in {cgroup}')
        before = cgroups()
        with up('CPUS=2'):
            five_runs(place, 'with benchmark.target')
            were_in_the_shield(place)
            # A load that wants out of the partition cannot.
            said = fail(1, *place.words('-n', '1', load=('taskset', '-c', '0')), timeout=SLOW)
            check('the load failed' in said and 'affinity' in said, f'taskset to outside: {said}')
            nothing_is_left()
            # Members of the group come in by themselves, others do not.
            facts, runs = place.serve('-n', '2', user='nobody', group='benchmark')
            were_in_the_shield(place)
            has_evidence(runs)
            equal(facts['quiesce_served_rest'], 'stop', 'how it would rest')
            said = fail(1, *place.words('-n', '1'), user='nobody', timeout=SLOW)
            check('only members of the group benchmark' in said, f'a stranger: {said}')
            nothing_is_left()
        equal(moved(before), [], 'who is in another cgroup')


def test_quiesce():
    """Quiet for the measurement alone."""
    with Place() as place:
        facts, runs = place.serve('--quiesce', '-c', '2', '-n', '2')
        were_in_the_shield(place)
        has_evidence(runs)
        check('quiesce_served_load_cpus' not in facts, f'they share the CPU: {facts}')
        equal(state('benchmark.target'), 'inactive', 'target')


@boots('plain', 'cgroup-v1')
def test_two_cpus():
    """The load on CPUs of its own, both locked, and known by what they did."""
    with Place() as place:
        facts, runs = place.serve('-c', '2', '--load-cpus', '1', '-n', '2')
        has_evidence(runs)
        equal({(who, tuple(cpus)) for who, cpus, _ in place.where()}, {('service', (2,)), ('load', (1,))}, 'where')
        equal(facts['quiesce_served_load_cpus'], '1', 'the CPUs of the load')
        check(all('quiesce_load_irq_device' in run for run in runs), f'what they did: {runs}')
        check(facts['quiesce_served_rest'] in ('freeze', 'stop'), facts['quiesce_served_rest'])


@boots('plain', 'cgroup-v1')
def test_namespaces():
    """As in a container: a network, processes and mounts of its own."""
    with Place() as place:
        inside_of = ('unshare', '--mount', '--net', '--pid', '--fork', '--mount-proc', 'sh', '-euc',
                     'busybox ip link set lo up; exec "$@"', 'sh')
        _, runs = place.serve('-c', '2', '-n', '2', before=inside_of)
        has_evidence(runs)
        equal({tuple(cpus) for _, cpus, _ in place.where()}, {(2,)}, 'CPUs')
    # Nothing that it has started is left outside.
    check(not re.search(r'service\.py', call('ps', '-eo', 'args').stdout), 'a service is left')
