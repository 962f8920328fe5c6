#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/slurm and runpinned with the real Slurm, on nodes that are described machines: however a job,
its scripts or its node end, the machine is in the end as it was, or the node is drained and says why."""

import json
import os
import pathlib
import time

from cluster import CONTRIB, Cluster, need, wait_until
from machine import Skip, check, equal, run_tests

RUNPINNED = os.environ['RUNPINNED']
BENCH_REPORT = os.environ['BENCH_REPORT']
QUIET = ('--constraint=quiet', '--exclusive')
LONG = 'sleep 1000\n'


def start(cluster, script=LONG, *options):
    """A job that runs, on a quiet machine."""
    job = cluster.submit(script, *(options or QUIET))
    cluster.wait_state(job, 'RUNNING')
    node = cluster.nodes[0]
    # The batch script waits for the Prolog, the state does not.
    wait_until(lambda: node.is_quiet() and node.record() == job and steps(node, job),
               lambda: f'job {job} on a quiet machine: {node.record()}\n{cluster.log()}')
    return job, node


def steps(node, job):
    return node.host_pid(f'slurmstepd: [{job}.')


def check_over(cluster, job, *states):
    """The job has ended so, the machine is as it was, and the node takes jobs."""
    cluster.wait_state(job, *states)
    cluster.wait_as_it_was()
    cluster.wait_idle()


def said(cluster):
    return (cluster.top / 'log/quiesce').read_text(errors='replace')


def output(cluster, job):
    return (cluster.top / f'log/job-{job}').read_text()


def test_whole_job():
    """A job that asks for it finds a quiet machine, measures there, and leaves it as it was"""
    with Cluster() as cluster:
        result = cluster.top / 'result.json'
        job = cluster.submit(f'ls /run/quiesce\n{RUNPINNED} -n 3 -o {result} sleep 0.01\n', *QUIET)
        check_over(cluster, job, 'COMPLETED')
        text = output(cluster, job)
        check('irq-steer.journal' in text and 'slurm-job' in text, text)
        metadata = json.loads(result.read_text())['benchmarks'][0]['metadata']
        equal({name: metadata.get(name) for name in (
            'quiesce_cpus', 'quiesce_cpus_reason', 'quiesce_slurm_job', 'quiesce_node',
            'quiesce_slurm_partition', 'quiesce_slurm_cluster')},
            {'quiesce_cpus': '1', 'quiesce_cpus_reason': 'by benchmark.target',
             'quiesce_slurm_job': str(job), 'quiesce_node': 'n1', 'quiesce_slurm_partition': 'main',
             'quiesce_slurm_cluster': 'test'}, 'metadata')


def test_user():
    """A user needs no root: not for the quiet machine, nor to measure there"""
    with Cluster() as cluster:
        os.chmod(cluster.top / 'log', 0o1777)
        folders = ('/', *map(str, reversed(pathlib.Path(RUNPINNED).parents)))
        if not all(os.stat(path).st_mode & 0o001 for path in folders):
            raise Skip(f'{RUNPINNED} is not for everybody')
        script = cluster.top / 'script'
        script.write_text(f'#!/bin/sh\nid -u\n{RUNPINNED} -n 3 --json sleep 0.01\n')
        job = int(cluster.run('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'sbatch',
                              '--parsable', f'--output={cluster.top}/log/user', *QUIET, script, cwd='/'))
        check_over(cluster, job, 'COMPLETED')
        text = (cluster.top / 'log/user').read_text()
        check(text.startswith('65534\n') and '"quiesce_cpus_reason": "by benchmark.target"' in text and
              f'"quiesce_slurm_job": "{job}"' in text, text)


def test_step():
    """runpinned keeps to the CPUs of its step, of a job that shares its node"""
    with Cluster() as cluster:
        cluster.run('srun', '--ntasks=2', '--cpu-bind=map_cpu:1,0', 'sh', '-c',
                    f'{RUNPINNED} -v --dry-run true >{cluster.top}/plan.$SLURM_PROCID')
        for task, cpu in enumerate('10'):
            plan = (cluster.top / f'plan.{task}').read_text()
            check(f'cpus: {cpu} (' in plan and 'housekeeping: none left' in plan, plan)


def test_not_asked():
    """A job that does not ask for it finds the machine as it is; words are whole"""
    with Cluster() as cluster:
        for words, wanted in (('', False), ('quieter', False), ('quieter|fast', False),
                              ('fast&quiet', True), ('fast|quiet', True), ('[quiet|quieter]', True),
                              ('quiet*1', True)):
            options = ['--exclusive', *([f'--constraint={words}'] if words else [])]
            job = cluster.submit('ls /run/quiesce 2>/dev/null\ntrue\n', *options)
            check_over(cluster, job, 'COMPLETED')
            equal('slurm-job' in output(cluster, job), wanted, f'quiet for {words!r}')


def test_not_alone():
    """A quiet job that may share its node is cancelled and told why; the node goes on"""
    with Cluster() as cluster:
        job = cluster.submit('true\n', '--constraint=quiet', '--ntasks=1')
        check_over(cluster, job, 'CANCELLED')
        shown = cluster.run('scontrol', 'show', 'job', job)
        check('AdminComment=quiesce: --constraint=quiet needs --exclusive' in shown, shown)
        equal(cluster.node_state('n1')[0], 'IDLE', 'the node')
        # One task of an array, which has the number of the array, and not the others.
        job = cluster.submit(LONG, '--constraint=fast|quiet', '--ntasks=1', '--array=1-2')
        cluster.run('scontrol', 'update', f'JobId={job}_1', 'Features=fast')
        cluster.wait_state(f'{job}_2', 'CANCELLED')
        cluster.wait_state(f'{job}_1', 'RUNNING')
        cluster.run('scancel', job)


def test_submit_plugin():
    """job_submit.lua gives a quiet job its node for itself, and no other job"""
    if not list(pathlib.Path('/usr/lib').glob('*/slurm-wlm/job_submit_lua.so')):
        raise Skip('Slurm has no job_submit/lua here')
    with Cluster(conf='JobSubmitPlugins=lua\n', files=[CONTRIB / 'job_submit.lua']) as cluster:
        for options, shared in ((['--constraint=quiet'], 'NO'), ([], 'OK'), (['--constraint=fast|quiet'], 'NO')):
            job = cluster.submit('ls /run/quiesce 2>/dev/null\n', '--hold', '--ntasks=1', *options)
            equal(cluster.run('squeue', '-h', '-j', job, '-o', '%h'), shared, f'shared with {options}')
            cluster.run('scancel', job)
        job = cluster.submit('ls /run/quiesce\n', '--constraint=quiet', '--ntasks=1')
        check_over(cluster, job, 'COMPLETED')
        check('slurm-job' in output(cluster, job), 'quiet')


def test_cancel():
    """A job that is cancelled, also one that does not want to end, leaves the machine as it was"""
    for script in (LONG, 'trap "" TERM\nwhile :; do sleep 1; done\n'):
        with Cluster() as cluster:
            job, _ = start(cluster, script)
            cluster.run('scancel', job)
            check_over(cluster, job, 'CANCELLED')


def test_time_limit():
    """A job that runs into its time limit leaves the machine as it was"""
    with Cluster() as cluster:
        job, _ = start(cluster, LONG, *QUIET, '--time=1')
        check_over(cluster, job, 'TIMEOUT')


def test_cancel_in_prolog():
    """A job that is cancelled while its Prolog works leaves the machine as it was"""
    with Cluster() as cluster:
        (cluster.top / 'wait-make-quiet').touch()
        job = cluster.submit(LONG, *QUIET)
        wait_until((cluster.top / 'waits-make-quiet').exists, 'the Prolog')
        cluster.run('scancel', job)
        (cluster.top / 'wait-make-quiet').unlink()
        check_over(cluster, job, 'CANCELLED')


def test_requeue():
    """A job that is requeued finds a quiet machine again, and leaves it as it was"""
    with Cluster() as cluster:
        job, node = start(cluster)
        cluster.run('scontrol', 'requeue', job)
        cluster.wait_state(job, 'PENDING')
        cluster.wait_as_it_was()
        # A requeue puts it off by two minutes. Not by less than a second: a slurmd that ended a job
        # in this second starts it again without a Prolog (22.05.8).
        time.sleep(2)
        cluster.run('scontrol', 'update', f'JobId={job}', 'StartTime=now')
        cluster.wait_state(job, 'RUNNING')
        wait_until(node.is_quiet, lambda: f'quiet again\n{cluster.log()}')
        cluster.run('scancel', job)
        check_over(cluster, job, 'CANCELLED')


def test_slurmd_killed():
    """slurmd is killed and comes back: the job goes on in quiet, and the machine is put back after it"""
    with Cluster() as cluster:
        job, node = start(cluster, f'while [ ! -e {cluster.top}/go ]; do sleep 0.1; done\n')
        old = node.host_pid('slurmd -D')
        node.signal('slurmd -D')
        wait_until(lambda: set(node.host_pid('slurmd -D')) - set(old), 'a new slurmd')
        check(node.is_quiet(), 'quiet no longer')
        (cluster.top / 'go').touch()
        check_over(cluster, job, 'COMPLETED')


def test_slurmstepd_killed():
    """slurmstepd is killed: what it ran goes on, in quiet, until slurmd notices; then it is put back"""
    with Cluster() as cluster:
        job, node = start(cluster)
        node.signal('slurmstepd: [')
        # Two rounds of the guard.
        looked = said(cluster).count('gone')
        wait_until(lambda: not steps(node, job), 'its end')
        time.sleep(3)
        check(node.is_quiet() and said(cluster).count('gone') == looked, 'quiet no longer')
        node.signal('slurmd -D')
        wait_until(lambda: not node.difference(), lambda: f'{node.difference()}\n{cluster.log()}')


def test_node_lost():
    """slurmd stays away and the job is run elsewhere: the guard puts the machine back without slurmd"""
    with Cluster(2) as cluster:
        job, node = start(cluster)
        (node.run / 'stay-down').touch()
        node.signal('slurmd -D')
        node.signal('slurmstepd: [')
        wait_until(lambda: cluster.run('squeue', '-h', '-w', 'n1', '-o', '%A') == '',
                   lambda: f'n1 is given up\n{cluster.log()}')
        cluster.wait_as_it_was(node)
        check(f'job {job} is gone, and the machine still quiet' in said(cluster), said(cluster))


def test_epilog_killed():
    """The Epilog dies with its slurmd, and never runs again: the guard puts the machine back"""
    with Cluster() as cluster:
        job, node = start(cluster)
        (cluster.top / 'wait-put-back').touch()
        cluster.run('scancel', job)
        wait_until((cluster.top / 'waits-put-back').exists, 'the Epilog')
        (node.run / 'stay-down').touch()
        node.signal('slurmd -D')
        for pattern in (f'bash {cluster.top}/libexec/quiesce-slurm epilog',
                        f'/usr/bin/env bash {cluster.top}/libexec/quiesce-slurm epilog',
                        f'/bin/sh {cluster.top}/bin/benchmark-target put-back'):
            for pid in node.host_pid(pattern):
                os.kill(pid, 9)
        check(node.is_quiet() and node.record() == job, 'somebody has put it back')
        (cluster.top / 'wait-put-back').unlink()
        (node.run / 'stay-down').unlink()
        check_over(cluster, job, 'CANCELLED')
        check(f'job {job} is gone, and the machine still quiet' in said(cluster), said(cluster))


def test_epilog_fails():
    """What cannot be put back drains the node with the reason; the next Prolog tries it again"""
    with Cluster() as cluster:
        job, node = start(cluster)
        (cluster.top / 'fail-put-back').touch()
        cluster.run('scancel', job)
        wait_until(lambda: 'DRAIN' in cluster.node_state('n1')[0], lambda: f'a drained node\n{cluster.log()}')
        cluster.wait_state(job, 'CANCELLED')
        reason = f'quiesce: the machine could not be put back after job {job}: benchmark-target: it is broken'
        check(cluster.node_state('n1')[1].startswith(reason), cluster.node_state('n1')[1])
        equal(node.record(), job, 'the record')
        # An admin looks, and does not see all of it.
        cluster.run('scontrol', 'update', 'NodeName=n1', 'State=RESUME')
        second = cluster.submit('true\n', '--ntasks=1')
        wait_until(lambda: 'DRAIN' in cluster.node_state('n1')[0], lambda: f'drained again\n{cluster.log()}')
        check(cluster.node_state('n1')[1].startswith(reason), cluster.node_state('n1')[1])
        (cluster.top / 'fail-put-back').unlink()
        cluster.run('scontrol', 'update', 'NodeName=n1', 'State=RESUME')
        # It is requeued after its node was drained, which puts it off by two minutes.
        cluster.wait_state(second, 'PENDING')
        cluster.run('scontrol', 'update', f'JobId={second}', 'StartTime=now', status=None)
        check_over(cluster, second, 'COMPLETED')


def test_prolog_fails():
    """A machine that cannot be made quiet drains its node with the reason; the job waits for another one"""
    with Cluster(2) as cluster:
        (cluster.top / 'fail-make-quiet').touch()
        job = cluster.submit('true\n', *QUIET)
        wait_until(lambda: 'DRAIN' in cluster.node_state('n1')[0], lambda: f'a drained node\n{cluster.log()}')
        reason = 'quiesce: the machine cannot be made quiet: benchmark-target: it is broken'
        check(cluster.node_state('n1')[1].startswith(reason), cluster.node_state('n1')[1])
        cluster.wait_state(job, 'PENDING')
        cluster.wait_as_it_was()
        (cluster.top / 'fail-make-quiet').unlink()
        cluster.run('scontrol', 'update', f'JobId={job}', 'StartTime=now')
        cluster.wait_state(job, 'COMPLETED')
        cluster.run('scontrol', 'update', 'NodeName=n1', 'State=RESUME')
        check_over(cluster, job, 'COMPLETED')


def test_controller_away():
    """While the controller is away nobody takes the quiet from a job"""
    with Cluster() as cluster:
        job, node = start(cluster, f'while [ ! -e {cluster.top}/go ]; do sleep 0.1; done\n')
        controller = cluster.processes[1]
        controller.kill()
        controller.wait()
        node.signal('slurmstepd: [')
        time.sleep(3)
        check(node.is_quiet(), 'quiet no longer')
        cluster.spawn(['slurmctld', '-D'], 'slurmctld')
        wait_until(lambda: cluster.state(job), 'the controller')
        node.signal('slurmd -D')
        wait_until(lambda: not node.difference(), lambda: f'{node.difference()}\n{cluster.log()}')


def test_suspended():
    """A quiet job is not run in the place of a suspended one, whose machine stays quiet"""
    with Cluster() as cluster:
        job, node = start(cluster)
        cluster.run('scontrol', 'suspend', job)
        second = cluster.submit('true\n', *QUIET)
        wait_until(lambda: 'DRAIN' in cluster.node_state('n1')[0], lambda: f'a drained node\n{cluster.log()}')
        reason = f'quiesce: job {job}, for which it is quiet, is still on it'
        check(cluster.node_state('n1')[1].startswith(reason), cluster.node_state('n1')[1])
        check(node.is_quiet() and node.record() == job and steps(node, job), 'quiet no longer')
        cluster.run('scancel', second)
        cluster.run('scontrol', 'resume', job)
        cluster.run('scancel', job)
        cluster.run('scontrol', 'update', 'NodeName=n1', 'State=RESUME')
        check_over(cluster, job, 'CANCELLED')


def test_kept_by_admin():
    """What an admin has made quiet stays quiet after the job"""
    with Cluster() as cluster:
        node = cluster.nodes[0]
        prefix = ['nsenter', f'--target={node.host_pid("sh -c while")[0]}', '--mount', '--pid']
        cluster.run(*prefix, os.environ['BENCHMARK_TARGET'], 'make-quiet')
        check(node.is_quiet(), 'quiet')
        job = cluster.submit('ls /run/quiesce\n', *QUIET)
        cluster.wait_state(job, 'COMPLETED')
        cluster.wait_idle()
        check('target' in output(cluster, job) and 'slurm-job' not in output(cluster, job), 'in the job')
        check(node.is_quiet(), 'quiet no longer')
        cluster.run(*prefix, os.environ['BENCHMARK_TARGET'], 'put-back')
        cluster.wait_as_it_was()


def test_array():
    """An array of benchmarks on four nodes, one of which has its power cut: one merged verdict, and
    machines as they were"""
    with Cluster(4) as cluster:
        script = (f'echo >>{cluster.top}/begun.$SLURMD_NODENAME\n'
                  f'{RUNPINNED} -n 12 -o {cluster.top}/result.$SLURM_ARRAY_TASK_ID.json '
                  '--baseline "sleep 0.04" --name sleeper -- sleep 0.06\n')
        job = cluster.submit(script, *QUIET, '--array=1-4')
        for node in cluster.nodes:
            wait_until((cluster.top / f'begun.{node.name}').exists, lambda: f'tasks\n{cluster.log()}')
        lost = cluster.nodes[2]
        check(lost.is_quiet(), 'the machine that is lost was quiet')
        lost.cut_power()
        lost.start()

        def waits():
            """A requeued task is put off for two minutes."""
            for line in cluster.run('squeue', '-h', '-r', '-o', '%A %t').splitlines():
                if line.endswith(' PD'):
                    cluster.run('scontrol', 'update', f'JobId={line.split()[0]}', 'StartTime=now', status=None)
            return cluster.run('squeue', '-h') == ''

        wait_until(waits, lambda: f'the end: {cluster.run("squeue")}\n{cluster.log()}')
        cluster.wait_as_it_was()
        equal(len((cluster.top / 'begun.n3').read_text()) +
              sum(len((cluster.top / f'begun.n{i}').read_text()) for i in (1, 2, 4)), 5, 'begun tasks')
        results = [cluster.top / f'result.{task}.json' for task in range(1, 5)]
        merged = cluster.top / 'merged.json'
        cluster.run(BENCH_REPORT, 'merge', '-o', merged, *results)
        metadata = [json.loads(path.read_text())['benchmarks'][0]['metadata'] for path in results]
        equal([one['quiesce_slurm_array_task'] for one in metadata], ['1', '2', '3', '4'], 'tasks')
        equal({one['quiesce_slurm_array_job'] for one in metadata}, {str(job)}, 'the array')
        text = cluster.run(BENCH_REPORT, 'compare', merged)
        check('slower' in text and 'sleeper' in text, text)


TESTS = (test_whole_job, test_user, test_step, test_not_asked, test_not_alone, test_submit_plugin,
         test_cancel, test_time_limit, test_cancel_in_prolog, test_requeue, test_slurmd_killed,
         test_slurmstepd_killed, test_node_lost, test_epilog_killed, test_epilog_fails,
         test_prolog_fails, test_controller_away, test_suspended, test_kept_by_admin, test_array)

if __name__ == '__main__':
    WHY = need()
    ONLY = os.environ.get('ONLY', '')
    if WHY:
        print(f'1..0 # SKIP {WHY}')
    else:
        run_tests((test.__doc__.split('\n')[0], test) for test in TESTS if ONLY in test.__name__)
