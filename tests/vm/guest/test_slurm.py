# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/slurm with systemd and cgroup v2: a cluster of one node, which is this guest. With many nodes
and all that can go wrong there, but without systemd: tests/slurm."""

import contextlib
import os
import pathlib
import shutil
import time

from lab import PATIENCE, Skip, call, check, equal, read, succeed, wait_for
from target import configured, is_quiet, state

RECORD = '/run/quiesce/slurm-job'
QUIET = ('--constraint=quiet', '--exclusive')
CONF = '''\
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation=/var/lib/slurm-test
SlurmdSpoolDir=/var/lib/slurm-test/spool
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ReturnToService=2
MpiDefault=none
SwitchType=switch/none
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=batch_sched_delay=0,sched_interval=2
MessageTimeout=100
SlurmdTimeout=600
PrologFlags=Alloc,DeferBatch
Prolog=/usr/libexec/quiesce/slurm-prolog
Epilog=/usr/libexec/quiesce/slurm-epilog
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 CPUs=4 SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=2 RealMemory=100 Feature=quiet
PartitionName=main Nodes=n1 Default=YES State=UP
'''
CGROUP = 'CgroupPlugin=cgroup/v2\nConstrainCores=yes\n'
# munge.service runs since boot.
SERVICES = ('slurmctld.service', 'slurmd.service')


def squeue(*options):
    return succeed('squeue', '--noheader', *options).strip()


def job_state(job):
    return succeed('scontrol', '--oneliner', 'show', 'job', str(job)).partition('JobState=')[2].split(' ')[0]


def wait_state(job, *wanted):
    wait_for(lambda: job_state(job) in wanted, f'job {job}: {wanted}', PATIENCE)


@contextlib.contextmanager
def cluster():
    if not shutil.which('slurmctld'):
        raise Skip('Slurm is not in this guest (tests/vm/lab --guest slurm)')
    etc = pathlib.Path('/etc/slurm')
    etc.mkdir(exist_ok=True)
    (etc / 'slurm.conf').write_text(CONF, encoding='utf-8')
    (etc / 'cgroup.conf').write_text(CGROUP, encoding='utf-8')
    os.makedirs('/var/lib/slurm-test/spool', exist_ok=True)
    drop_in = pathlib.Path('/run/systemd/system/slurmd.service.d')
    drop_in.mkdir(parents=True, exist_ok=True)
    (drop_in / 'name.conf').write_text('[Service]\nExecStart=\nExecStart=/usr/sbin/slurmd -D -N n1\n',
                                       encoding='utf-8')
    succeed('systemctl', 'daemon-reload')
    # With nothing but 127.0.0.1, getaddrinfo(3) has no address for those who ask by AI_ADDRCONFIG.
    call('ip', 'address', 'add', '192.0.2.1/32', 'dev', 'lo')
    try:
        for service in SERVICES:
            succeed('systemctl', 'start', service, timeout=PATIENCE)
        wait_for(lambda: call('sinfo', '-h', '-o', '%T').stdout.strip() == 'idle', 'an idle node', PATIENCE)
        yield
    except BaseException:
        print(call('journalctl', '--no-pager', '-n', '80', '-u', 'slurm*', '-u', 'quiesce*', '-t',
                   'quiesce-slurm').stdout, flush=True)
        raise
    finally:
        # The scope is where slurmd puts what runs its jobs.
        for unit in (*reversed(SERVICES), 'n1_slurmstepd.scope'):
            call('systemctl', 'stop', unit, timeout=PATIENCE)
        call('ip', 'address', 'del', '192.0.2.1/32', 'dev', 'lo')
        shutil.rmtree(drop_in)
        shutil.rmtree('/var/lib/slurm-test')
        succeed('systemctl', 'daemon-reload')


def submit(script):
    path = pathlib.Path('/var/lib/slurm-test/job')
    path.write_text(f'#!/bin/sh\n{script}', encoding='utf-8')
    return int(succeed('sbatch', '--parsable', '--output=/var/lib/slurm-test/output', *QUIET, str(path)))


def test_whole_job():
    """A job measures on a quiet machine, which is as it was before when the job is over."""
    with configured('CPUS=2'), cluster():
        job = submit('systemctl is-active benchmark.target\nrunpinned -n 2 --json sleep 0.01\n')
        wait_state(job, 'COMPLETED')
        text = read('/var/lib/slurm-test/output')
        check(text.startswith('active\n') and '"quiesce_cpus_reason": "by benchmark.target"' in text and
              f'"quiesce_slurm_job": "{job}"' in text, text)
        wait_for(lambda: squeue() == '' and not os.path.exists(RECORD), 'the Epilog', PATIENCE)
        equal(state('benchmark.target'), 'inactive', 'the target')


def test_job_lost():
    """slurmd and the job are killed, and no Epilog runs: the guard puts the machine back."""
    with configured('CPUS=2'), cluster():
        job = submit('sleep 10000\n')
        wait_state(job, 'RUNNING')
        wait_for(lambda: call('pgrep', '-f', rf'^slurmstepd: \[{job}\.').returncode == 0, 'the job', PATIENCE)
        is_quiet()
        guard = f'quiesce-slurm-{job}.service'
        equal(state(guard), 'active', 'the guard')
        succeed('systemctl', 'kill', '--kill-who=all', '--signal=KILL', 'slurmd.service')
        call('pkill', '-KILL', '-f', rf'^slurmstepd: \[{job}\.')
        # Two looks of the guard: the controller says that the job is there.
        time.sleep(45)
        is_quiet()
        succeed('scontrol', 'update', 'NodeName=n1', 'State=DOWN', 'Reason=test')
        wait_for(lambda: not os.path.exists(RECORD), 'the guard', PATIENCE)
        equal(state('benchmark.target'), 'inactive', 'the target')
        wait_for(lambda: state(guard) == 'inactive', 'the end of the guard', PATIENCE)
        call('pkill', '-KILL', '-f', 'sleep 10000')
        succeed('scancel', str(job))
        succeed('systemctl', 'reset-failed', 'slurmd.service')
