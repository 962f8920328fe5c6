# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster of Slurm's on this host: the real munged, slurmctld and a slurmd for each node.

Each node is a described machine (tests/machine/machine.py) in namespaces of its own: its slurmd, the
jobs, Prolog and Epilog see its files in the place of /sys, /proc and /run, and no processes but those
of the node. So the setters change described files only, and move processes of the node only. All
of the cluster is in a network namespace that has a loopback device and nothing else.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'machine'))

from machine import Failed, Setter, check, words_alone  # noqa: E402

CONTRIB = HERE.parents[1] / 'contrib/slurm'
PROGRAMS = ('munged', 'slurmctld', 'slurmd', 'srun', 'sbatch', 'scontrol', 'squeue', 'scancel')
MACHINE = 'vm-plain'
FIRST_PORT = 26817
# Far more than anything takes on a busy machine; what takes longer hangs.
PATIENCE = 300  # Slurm itself may try again only after two minutes

CONF = '''\
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={top}/munge/socket
StateSaveLocation={top}/ctld
SlurmdSpoolDir={top}/spool/%n
SlurmctldPidFile={top}/ctld.pid
SlurmdPidFile={top}/spool/%n/pid
ReturnToService=2
MpiDefault=none
SwitchType=switch/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=batch_sched_delay=0,sched_interval=2,nohold_on_prolog_fail
KillWait=2
SlurmdTimeout=10
PrologFlags=Alloc,DeferBatch
PrologEpilogTimeout=60
Prolog={top}/libexec/prolog
Epilog={top}/libexec/epilog
'''
NODE = 'NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs=2 ' \
    'SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=100 Feature=quiet,quieter,fast\n'


def need():
    """Why Slurm cannot be tried here, or None; starts the program again in namespaces of its own."""
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        return f'Slurm is not installed ({", ".join(missing)})'
    if os.geteuid() != 0:
        return 'slurmd changes users, for which it needs root'
    if 'SLURM_TEST_INSIDE' in os.environ:
        return None
    # Where 127.0.0.1 is the only address, getaddrinfo(3) has none for those who ask by AI_ADDRCONFIG.
    network = 'ip link set lo up && ip address add 192.0.2.1/32 dev lo'
    inside = ['unshare', '--mount', '--net', '--ipc', '--pid', '--fork', '--kill-child',
              '--mount-proc', '--']
    probe = subprocess.run([*inside, 'sh', '-c', network], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        return f'no namespaces of its own: {probe.stderr.strip()}'
    os.execvpe('unshare', [*inside, 'sh', '-c', network + ' && exec "$@"', 'sh', sys.executable, *sys.argv], {**os.environ, 'SLURM_TEST_INSIDE': '1'})


def wait_until(condition, what, seconds=PATIENCE):
    """The first true answer."""
    end = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > end:
            raise Failed(f'not within {seconds} s: {what() if callable(what) else what}')
        time.sleep(0.1)


class Node:
    """A node and its described machine."""

    def __init__(self, cluster, name, port):
        self.cluster, self.name, self.port = cluster, name, port
        self.setter = Setter(os.environ['BENCHMARK_TARGET'], MACHINE)
        self.setter.note_choices()
        self.before = self.setter.snapshot()
        self.process = None

    def start(self):
        command = [*words_alone(), os.environ['SYSROOT'], self.setter.box.root, '--', 'sh', '-c',
                   # The first process of the namespace: what is orphaned comes to it. Whoever ends
                   # slurmd does not end the node.
                   'while :; do slurmd -D -N "$1" & echo $! >/run/slurmd.pid; wait $!; '
                   'while [ -e /run/stay-down ]; do sleep 0.1; done; done', 'sh', self.name]
        # A process group of its own, for close().
        self.process = self.cluster.spawn(command, f'{self.name}.log')

    def kill(self):
        """All of the node's processes end."""
        self.process.kill()
        self.process.wait()

    def cut_power(self):
        """And what it was told is gone, as its /run is."""
        self.kill()
        for name, content in self.before.items():
            if isinstance(content, bytes):
                (self.setter.box.root / name).write_bytes(content)
        for path in self.run.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    @property
    def run(self):
        return self.setter.run_directory

    def host_pid(self, pattern):
        """The processes of this node whose command line begins with this text."""
        found = []
        for path in pathlib.Path('/proc').glob('[0-9]*'):
            try:
                if os.readlink(path / 'ns/pid') == self.namespace() and \
                        (path / 'cmdline').read_bytes().replace(b'\0', b' ').decode().startswith(pattern):
                    found.append(int(path.name))
            except OSError:
                continue
        return found

    def namespace(self):
        child = subprocess.run(['ps', '-o', 'pid=', '--ppid', str(self.process.pid)], text=True,
                               capture_output=True, check=True).stdout.split()
        return os.readlink(f'/proc/{child[0]}/ns/pid')

    def signal(self, pattern, number=signal.SIGKILL):
        pids = self.host_pid(pattern)
        check(pids, f'{self.name}: nobody is {pattern}')
        for pid in pids:
            os.kill(pid, number)

    def record(self):
        """The job that the machine is quiet for, or None."""
        try:
            return int((self.run / 'quiesce/slurm-job').read_text().split()[0])
        except FileNotFoundError:
            return None

    def is_quiet(self):
        """Whether the target is up, and interrupts and the kernel's work have left CPU 1."""
        root = self.setter.box.root
        return (self.run / 'quiesce/target').exists() and \
            (root / 'proc/irq/default_smp_affinity').read_text().strip() == '1' and \
            (root / 'proc/sys/kernel/timer_migration').read_text().strip() == '0'

    def difference(self):
        """How the machine differs from what it was at first; '' for as it was."""
        self.setter.render_choices()
        left = [path.name for path in (self.run / 'quiesce').glob('*')
                if path.name not in ('lock', 'turn', 'holders', 'slurm-turn', 'slurm-guard')]
        return self.setter.difference(self.before, self.setter.snapshot()) or ' '.join(left)

    def close(self):
        if self.process:
            self.kill()
        self.setter.box.holder.cleanup()


class Cluster:
    """A running cluster. `conf` is added to slurm.conf; a file of `files` is put into the folder of
    slurm.conf."""

    def __init__(self, n_nodes=1, conf='', files=()):
        self.holder = tempfile.TemporaryDirectory(prefix='slurm.')
        self.top = pathlib.Path(self.holder.name)
        self.top.chmod(0o755)
        for name in ('etc', 'munge', 'ctld', 'spool', 'libexec', 'bin', 'log'):
            (self.top / name).mkdir()
        self.processes = []
        self.nodes = [Node(self, f'n{i}', FIRST_PORT + i) for i in range(1, n_nodes + 1)]
        self.env = {**os.environ, 'SLURM_CONF': str(self.top / 'etc/slurm.conf'), 'LC_ALL': 'C'}
        self.write_programs()
        (self.top / 'etc/cgroup.conf').write_text('CgroupPlugin=cgroup/v1\n')
        for path in files:
            shutil.copy(path, self.top / 'etc')
        for node in self.nodes:
            (self.top / 'spool' / node.name).mkdir()
        (self.top / 'etc/slurm.conf').write_text(
            CONF.format(top=self.top, port=FIRST_PORT) + conf +
            ''.join(NODE.format(name=node.name, port=node.port) for node in self.nodes) +
            f'PartitionName=main Nodes=n[1-{n_nodes}] Default=YES MaxTime=60 State=UP\n')

    def write_programs(self):
        """contrib/slurm as it is installed, but with our build on its path, and a log of its own."""
        for name in ('prolog', 'epilog', 'quiesce-slurm'):
            shutil.copy(CONTRIB / name, self.top / 'libexec')
        script = self.top / 'libexec/quiesce-slurm'
        text = script.read_text()
        check('\nPATH=/' in text and '\n1guard) guard 20 ;;\n' in text, 'what is to be replaced')
        script.write_text(text.replace('\nPATH=/', f'\nPATH={self.top}/bin:/', 1)
                          .replace('\n1guard) guard 20 ;;\n', '\n1guard) guard 1 ;;\n'))
        # Waits while there is a file wait-VERB, and fails where there is one fail-VERB.
        target = self.top / 'bin/benchmark-target'
        target.write_text(f'''#!/bin/sh
if [ -e {self.top}/wait-$1 ]; then
	touch {self.top}/waits-$1
	while [ -e {self.top}/wait-$1 ]; do sleep 0.1; done
fi
if [ -e {self.top}/fail-$1 ]; then
	echo "benchmark-target: it is broken" >&2
	exit 1
fi
exec {os.environ['BENCHMARK_TARGET']} "$@"
''')
        target.chmod(0o755)
        logger = self.top / 'bin/logger'
        logger.write_text('#!/bin/sh\n'
                          f'echo "${{SLURMD_NODENAME-guard}} $4" >>{self.top}/log/quiesce\n')
        logger.chmod(0o755)

    def spawn(self, command, log):
        with open(self.top / 'log' / log, 'ab') as file:
            process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=file,
                                       stderr=subprocess.STDOUT, env=self.env)
        self.processes.append(process)
        return process

    def __enter__(self):
        munge = self.top / 'munge'
        (munge / 'key').write_bytes(os.urandom(1024))
        (munge / 'key').chmod(0o600)
        try:
            self.spawn(['munged', '--foreground', '--num-threads=1', f'--key-file={munge}/key',
                        f'--socket={munge}/socket', f'--pid-file={munge}/pid',
                        f'--log-file={munge}/log', f'--seed-file={munge}/seed'], 'munged')
            wait_until((munge / 'socket').exists, 'munged')
            self.spawn(['slurmctld', '-D'], 'slurmctld')
            for node in self.nodes:
                node.start()
            self.wait_idle()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.close()
        for process in reversed(self.processes):
            if process.poll() is None:
                process.kill()
                process.wait()
        self.holder.cleanup()

    # --- What users and admins type ---

    def run(self, *command, status=0, **options):
        result = subprocess.run(list(map(str, command)), text=True, capture_output=True, env=self.env,
                                stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False, **options)
        check(status is None or result.returncode == status,
              f'{" ".join(map(str, command))}: status {result.returncode}: {result.stderr}{result.stdout}')
        return result.stdout.strip() if status is not None else result

    def submit(self, script, *options):
        """The number of the job."""
        path = self.top / f'job-{time.monotonic_ns()}'
        path.write_text('#!/bin/sh\n' + script)
        return int(self.run('sbatch', '--parsable', f'--output={self.top}/log/job-%j', *options, path))

    def state(self, job):
        """RUNNING, COMPLETED, ..."""
        text = self.run('scontrol', '--oneliner', 'show', 'job', job, status=None).stdout
        return text.partition('JobState=')[2].split(' ')[0]

    def node_state(self, name):
        text = self.run('scontrol', '--oneliner', 'show', 'node', name)
        return text.partition('State=')[2].split(' ')[0], text.partition(' Reason=')[2].strip()

    def log(self):
        """What everybody has said, for a test that fails."""
        return '\n'.join(f'== {path.name}\n' + '\n'.join(path.read_text(errors='replace').splitlines()[-40:])
                         for path in sorted((self.top / 'log').iterdir()))

    def wait_state(self, job, *states):
        return wait_until(lambda: self.state(job) in states,
                          lambda: f'job {job} is {self.state(job)}, not {states}\n{self.log()}')

    def wait_idle(self):
        wait_until(lambda: set(self.run('sinfo', '-h', '-N', '-o', '%T', status=None).stdout.split()) == {'idle'},
                   lambda: self.run('sinfo', '-N', '-o', '%N %T %E', status=None).stdout + self.log())

    def wait_as_it_was(self, *nodes):
        for node in nodes or self.nodes:
            wait_until(lambda node=node: not node.difference(),
                       lambda node=node: f'{node.name} differs: {node.difference()}\n{self.log()}')
