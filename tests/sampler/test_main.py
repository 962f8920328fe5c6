# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs made by qs_main(), from the command line to the file. A TAP test.

    test_main.py BENCHMARKS EXAMPLE...

Nothing here depends on how fast this machine is.
"""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'machine'))

from machine import Failed, Skip, check, equal, run_tests, tests_of  # noqa: E402
from sandbox import forbid  # noqa: E402

PROGRAM, *EXAMPLES = map(os.path.abspath, sys.argv[1:])
SCRATCH = tempfile.TemporaryDirectory(prefix='main.')
QUICK = ('--processes=2', '--min-time=0.0001')


def run(*arguments, status=0, program=PROGRAM, preexec_fn=None, **environment):
    result = subprocess.run([program, *map(str, arguments)], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=120, check=False,
                            preexec_fn=preexec_fn, env={**os.environ, 'LC_ALL': 'C', **environment})
    equal(result.returncode, status, f'status ({result.stderr})')
    return result


def scratch(name):
    return pathlib.Path(SCRATCH.name, name)


def saved(*arguments, name='result.json', **options):
    """What was saved, by the names of the benchmarks."""
    result = run(*QUICK, '-o', scratch(name), *arguments, **options)
    document = json.loads(scratch(name).read_text(encoding='utf-8'))
    equal(document['version'], '1.0', 'version')
    benchmarks = {each['metadata']['name']: each for each in document['benchmarks']}
    return result, benchmarks


def test_list():
    names = ['spin', 'group/spin "1"', 'group/2', 'pairs', 'grow/8', 'grow/64', 'grow/512',
             'together', 'bad/die', 'bad/leave', 'bad/nothing', 'bad/setup', 'bad/forbidden', 'bad/loops',
             'place', 'alone', 'index[0]', 'slow']
    equal(run('--list').stdout.splitlines(), names, 'all')
    equal(run('--list', 'group/*').stdout.splitlines(), names[1:3], 'of a pattern')
    equal(run('--list', 'place', 'group/?').stdout.splitlines(), ['group/2', 'place'], 'of two')
    equal(run('--list', 'index[0]').stdout.splitlines(), ['index[0]'], 'with the signs of a wildcard')
    equal(run('--list', 'place', PARSED='1').stdout.splitlines(), ['place'], 'after getopt()')


def test_manual_page():
    page = pathlib.Path(__file__).parents[2] / 'man/qs_main.3.scd'
    described = set(re.findall(r'--[a-z-]+', ''.join(
        line for line in page.read_text(encoding='utf-8').splitlines() if line.startswith('*-'))))
    equal(set(re.findall(r' (--[a-z-]+)', run('--help').stdout)), described, 'options')


def test_usage():
    for arguments in (['--values=0'], ['--values=x'], ['--values=-1'], ['--min-time=0'],
                      ['--min-time=1e3'], ['--min-time='], ['--min-time=1.'], ['--processes=0'],
                      ['--loops=0'], ['--loops=9007199254740993'], ['--cpu=-1'], ['--counters=flux'],
                      ['--counters='], ['--counters=r1,r2,r3,r4,r5,r6'], ['-o', ''], ['--flux'],
                      ['--values'], ['nobody'], ['group/*', 'nobody/*']):
        result = run(*arguments, status=2)
        equal(result.stdout, '', f'{arguments}: output')
        check(result.stderr, f'{arguments}: says nothing')
    check("there is no event 'flux'" in run('--counters=r1,flux', status=2).stderr, 'the event is not named')
    check('usage:' in run('--help').stdout, 'no help')
    check('two benchmarks' in run(status=2, LIST='twice').stderr, 'a name twice')
    run(status=2, LIST='nameless')
    for name in ('endless', 'unreadable'):
        check('no valid family, or no size' in run(status=2, LIST=name).stderr, name)


def test_result():
    result, benchmarks = saved('--values=4', '--warmups=2', 'spin', 'group/*')
    equal(list(benchmarks), ['spin', 'group/spin "1"', 'group/2'], 'names')
    for name, benchmark in benchmarks.items():
        check(name in result.stdout, f'{name} is not in the report')
        calibration, *runs = benchmark['runs']
        check('values' not in calibration, 'values in the calibration')
        loops = calibration['metadata']['calibrate_loops']
        equal([pair[0] for pair in calibration['warmups']][-2:], [loops, loops], 'loops')
        equal(len(runs), 2, 'processes')
        for each in runs:
            equal(each['metadata']['loops'], loops, 'loops of a process')
            equal([pair[0] for pair in each['warmups']], [loops] * 2, 'warm-ups')
            equal(len(each['values']), 4, 'values')
            check(all(value > 0 for value in each['values']), 'a value')
            check(each['metadata']['duration'] > 0, 'duration')
    equal(benchmarks['group/spin "1"']['metadata']['inner_loops'], 10, 'inner loops')
    check('8 values of 2 processes' in result.stdout, result.stdout)


def test_values_that_take_long():
    """They are fewer, and so are the processes, unless somebody has asked for a number of values."""
    def counts(*arguments, processes=2):
        result = run(f'--processes={processes}', '-o', scratch('slow.json'), *arguments, 'slow')
        benchmark = json.loads(scratch('slow.json').read_text(encoding='utf-8'))['benchmarks'][0]
        short = benchmark.get('metadata', {}).get('quiesce_ended_by') == '--max-time'
        equal('fewer values' in result.stdout, short, result.stdout)
        return [len(one['values']) for one in benchmark['runs'] if 'values' in one], short

    values, short = counts()
    check(short and len(values) == 2 and all(1 <= n <= 12 for n in values), f'by itself: {values}')
    equal(counts('--values=13'), ([13] * 2, False), 'a number that was asked for')
    # Also where not even the first one has the time.
    equal(counts('--max-time=0.05'), ([1], True), 'a short time')
    values, short = counts('--max-time=1', processes=1000)
    check(short and 1 <= len(values) <= 10 and set(values) == {1}, f'processes: {values}')
    # A nanosecond, of which each process has a part, and none at all.
    equal(counts('--max-time=0.000000001'), ([1], True), 'the shortest time')
    for bad in '0', '', '1e3', '86401', '-1', '0.0000000009', '0.0000000001':
        run(f'--max-time={bad}', 'slow', status=2)


def test_regions_add_up():
    """A region for each loop, with all that is preset: as many as it takes, and what that costs."""
    result = run('--processes=2', '-o', scratch('pairs.json'), 'pairs', 'spin')
    document = json.loads(scratch('pairs.json').read_text(encoding='utf-8'))
    spin, pairs = ([each['metadata']['quiesce_stamps_empty_share'] for each in benchmark['runs'][1:]]
                   for benchmark in document['benchmarks'])
    check(all(share > 0.01 for share in pairs), f'pairs: {pairs}')
    check(all(0 < share < 0.01 for share in spin), f'spin: {spin}')
    equal(result.stdout.count('warning: empty regions are more than 1 %'), 1, result.stdout)
    equal(result.stdout.count('    empty regions '), 2, result.stdout)


def test_waiting():
    result, benchmarks = saved('--values=4', 'spin')
    runs = [each['metadata'] for each in benchmarks['spin']['runs'][1:]]
    if not any('quiesce_waiting' in each for each in runs):
        check('waiting' not in result.stdout, result.stdout)
        raise Skip('this kernel does not tell how long a thread waits')
    check('waiting for the CPU' in result.stdout, result.stdout)
    for each in runs:
        shares = list(map(float, each['quiesce_waiting_values'].split()))
        equal(len(shares), 4, 'values')
        check(all(0 <= share <= 1 for share in shares), f'shares {shares}')
        check(min(shares) <= each['quiesce_waiting'] <= max(shares), f'{each}')


def test_threads():
    result, benchmarks = saved('--values=4', 'together', 'spin')
    runs = benchmarks['together']['runs'][1:]
    equal([len(each['values']) for each in runs], [12, 12], 'a value of each thread')
    equal(benchmarks['together']['metadata']['quiesce_threads'], 3, 'threads')
    check('quiesce_threads' not in benchmarks['spin']['metadata'], 'threads of another')
    check('24 values of 2 processes' in result.stdout, result.stdout)


def test_figures_and_growth():
    result, benchmarks = saved('--values=4', 'grow/*')
    for size in (8, 64, 512):
        facts = benchmarks[f'grow/{size}']['metadata']
        equal((facts['quiesce_family'], facts['quiesce_size'], facts['quiesce_amount_bytes'],
               facts['quiesce_figure_my figure']), ('grow', size, size, -1.25), 'metadata')
    equal(len(re.findall(r'^ +bytes +[0-9.e+]+ [kMGT]?/s$', result.stdout, re.M)), 3, result.stdout)
    equal(len(re.findall(r'^ +my figure +-1.25$', result.stdout, re.M)), 3, result.stdout)
    equal(len(re.findall(r'^growth of grow: .* if it were .*$', result.stdout, re.M)), 1,
          result.stdout)
    result = run(*QUICK, 'grow/8', 'grow/64')
    check('growth of grow: not known with less than 3 sizes' in result.stdout, result.stdout)


def test_lost_output():
    with open('/dev/full', 'w', encoding='utf-8') as full:
        for arguments in (['--help'], ['--list'], [*QUICK, 'spin']):
            result = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE,
                                    text=True, check=False, env={**os.environ, 'LC_ALL': 'C'})
            equal(result.returncode, 1, f'{arguments}: status')
            equal(result.stderr.count('cannot write to standard output'), 1, result.stderr)


def test_closed_output():
    """No file that the program opens becomes its standard output; and what is lost is a failure."""
    path = scratch('closed.json')
    result = subprocess.run([PROGRAM, *QUICK, '-o', path, 'spin'], stderr=subprocess.PIPE, text=True,
                            check=False, env={**os.environ, 'LC_ALL': 'C'},
                            preexec_fn=lambda: os.close(1))
    equal(result.returncode, 1, f'status ({result.stderr})')
    equal(result.stderr.count('cannot write to standard output'), 1, result.stderr)
    equal(len(json.loads(path.read_text(encoding='utf-8'))['benchmarks']), 1, 'saved')


def test_reader_that_leaves():
    """As of `| head -1`: SIGPIPE ends the program, and the result is there by then."""
    path = scratch('piped.json')
    end, output = os.pipe()
    os.close(end)
    result = subprocess.run([PROGRAM, *QUICK, '-o', path, 'spin'], stdout=output, check=False)
    os.close(output)
    equal(result.returncode, -signal.SIGPIPE, 'status')
    equal(len(json.loads(path.read_text(encoding='utf-8'))['benchmarks']), 1, 'saved')


def test_link_to_no_file_yet():
    path, folder = scratch('first.json'), scratch('links')
    folder.mkdir()
    path.symlink_to('links/second.json')
    (folder / 'second.json').symlink_to('third.json')
    run(*QUICK, '-o', path, 'spin')
    check(path.is_symlink() and (folder / 'second.json').is_symlink(), 'the links')
    equal(len(json.loads((folder / 'third.json').read_text(encoding='utf-8'))['benchmarks']), 1, 'saved')


def test_files_that_may_not_be_large():
    """`ulimit -f` is an error with a message, and what was in the file stays there."""
    path = scratch('limited.json')
    path.write_text('old', encoding='utf-8')
    # The values of a process come in a file in memory of 1 MiB.
    for size, says in (1000, 'File too large'), (1 << 20, None):
        result = run(*QUICK, '-o', path, 'spin', status=0 if says is None else 1,
                     preexec_fn=lambda size=size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
        check(says is None or says in result.stderr, result.stderr)
        equal(path.read_text(encoding='utf-8') == 'old', says is not None, 'old')


def few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


def test_without_an_environment():
    """Its processes know what they are all the same. If not, each would start another one; so each, which
    inherits a descriptor from all before, has room for few."""
    program = scratch('without-environment')
    program.symlink_to(PROGRAM)
    result = run(*QUICK, 'spin', program=program, preexec_fn=few_descriptors)
    check('values of 2 processes' in result.stdout, result.stdout)
    result = run('--worker=spin', status=1)
    check('--worker is for processes that this program starts' in result.stderr, result.stderr)


def test_whose_values():
    """Those of the benchmark, whatever else is handed over in its process."""
    _, benchmarks = saved('alone')
    equal(list(benchmarks), ['alone'], 'names')
    _, benchmarks = saved('--values=4', 'spin', START='1')
    equal([len(each.get('values', ())) for each in benchmarks['spin']['runs']], [0, 4, 4], 'values')


def test_cannot_execute():
    result = run(*QUICK, 'spin', status=1, LARGE='1')
    check('cannot execute this program again: Argument list too long' in result.stderr, result.stderr)


def test_long_name():
    name = '/'.join(['x' * 100] * 5)
    result = subprocess.run([name, *QUICK, 'bad/nothing'], executable=PROGRAM, capture_output=True,
                            text=True, check=False)
    equal([line.partition(': ')[0] for line in result.stderr.splitlines()], [name, name], 'who says it')


def test_given_loops():
    _, benchmarks = saved('--loops=7', 'spin')
    equal([each['metadata']['loops'] for each in benchmarks['spin']['runs']], [7, 7], 'loops')


def test_layouts_differ():
    """Each process has its own address space: what it allocates lies elsewhere."""
    if pathlib.Path('/proc/sys/kernel/randomize_va_space').read_text().strip() == '0':
        raise Skip('this machine has no randomisation')
    path = scratch('places')
    run('--loops=1', '--processes=8', '--warmups=0', '--values=1', 'place', PLACES=str(path))
    places = path.read_text(encoding='utf-8').split()
    equal(len(places), 8, 'processes')
    check(len(set(places)) > 1, f'all are at {places}')


def test_cpu():
    cpu = max(os.sched_getaffinity(0))
    _, benchmarks = saved(f'--cpu={cpu}', 'spin')
    for each in benchmarks['spin']['runs'][1:]:
        equal(each['metadata'].get('quiesce_cpu_last', cpu), cpu, 'CPU')
        equal(each['metadata']['quiesce_migrated_values'], 0, 'migrations')
    result = run('--cpu=1023', 'spin', 'group/*', status=1)
    equal(result.stderr, f'{PROGRAM}: cannot run on CPU 1023: it does not exist, or may not be used here\n',
          'said once')


def test_counters():
    result, benchmarks = saved('--counters=task-clock,4294967294:1', 'spin')
    check(result.stdout.count('4294967294:1 cannot be counted') == 1, result.stdout)
    runs = benchmarks['spin']['runs'][1:]
    check(not any('quiesce_event_4294967294:1' in each['metadata'] for each in runs), 'counted')
    if 'task-clock cannot be counted' not in result.stdout:
        check(all(each['metadata']['quiesce_event_task-clock'] > 0 for each in runs), 'task-clock')


def test_collector():
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip('one CPU')
    cpu = max(os.sched_getaffinity(0))
    _, benchmarks = saved('--collect', f'--cpu={cpu}', '--min-time=0.05', 'spin')
    for each in benchmarks['spin']['runs'][1:]:
        check(each['metadata']['quiesce_interrupts'] >= 0, 'interrupts')


def test_failures():
    result, benchmarks = saved('spin', 'bad/*', status=1)
    equal(list(benchmarks), ['spin'], 'saved')
    for words in ('bad/die: killed by signal 11', 'bad/leave: its process ended with status 3',
                  'bad/nothing: no sample was taken', 'bad/setup: No space left on device',
                  'bad/forbidden: Operation not permitted',
                  'bad/nothing: its process ended with status 1', 'bad/loops: more loops take no more time'):
        check(result.stderr.count(words) == 1, f'{words!r}: {result.stderr}')
    check('no value' in result.stdout, result.stdout)


def test_too_many_values():
    """As many as do not find room where a process hands them over."""
    result = run('--processes=1', '--loops=1', '--warmups=0', '--values=100000', '--no-core', 'spin', status=1)
    check('spin: no room for its 100000 values: take fewer of them (--values)' in result.stderr, result.stderr)


def test_errors_of_the_kernel():
    """They are named as the kernel means them; libquiesce has other meanings for some of these values."""
    path = scratch('forbidden.json')
    result = run(*QUICK, '--counters=instructions', 'spin', preexec_fn=forbid('perf_event_open'))
    check('instructions cannot be counted here: Operation not permitted' in result.stdout, result.stdout)
    result = run(*QUICK, '-o', path, 'spin', status=1, preexec_fn=forbid('fsync'))
    check(f'cannot save {path}: Operation not permitted' in result.stderr, result.stderr)
    result = run(*QUICK, 'spin', status=1, preexec_fn=forbid('memfd_create'))
    check('cannot begin: Operation not permitted' in result.stderr, result.stderr)


def test_nothing_to_save():
    path = scratch('old.json')
    path.write_text('old', encoding='utf-8')
    result = run(*QUICK, '-o', path, 'bad/die', status=1)
    check('there is no value' in result.stderr, result.stderr)
    equal(path.read_text(encoding='utf-8'), 'old', 'the old file')


def test_file():
    path = scratch('mode.json')
    saved('spin', name='mode.json')
    umask = os.umask(0)
    os.umask(umask)
    equal(stat.S_IMODE(path.stat().st_mode), 0o666 & ~umask, 'mode of a new file')
    path.chmod(0o640)
    saved('spin', name='mode.json')
    equal(stat.S_IMODE(path.stat().st_mode), 0o640, 'mode of a file that was there')
    scratch('link.json').symlink_to('mode.json')
    path.write_text('', encoding='utf-8')
    saved('spin', name='link.json')
    check(scratch('link.json').is_symlink() and path.stat().st_size > 0, 'through a symbolic link')
    for target, why in ((SCRATCH.name, 'Is a directory'), ('/dev/null', 'it is no regular file'),
                        ('/dev/stdout', 'it is no regular file'),
                        ('/nowhere/result.json', 'No such file or directory')):
        result = run(*QUICK, '-o', target, 'spin', status=1)
        check(f'cannot save {target}: {why}' in result.stderr, result.stderr)
        equal(result.stdout, '', 'it is known before anything is measured')
    equal([name for name in os.listdir(SCRATCH.name) if 'mode.json.' in name], [], 'left over')


def test_interrupted():
    for number in (signal.SIGINT, signal.SIGTERM):
        path = scratch('interrupted.json')
        path.unlink(missing_ok=True)
        process = subprocess.Popen([PROGRAM, '--processes=10000', '--loops=1', '-o', path, 'spin',
                                    'group/2'], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        time.sleep(2)
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
        equal(process.returncode, 128 + number, f'status ({errors})')
        check('ended early' in errors, errors)
        check('spin' in output, output)
        document = json.loads(path.read_text(encoding='utf-8'))
        check(document['benchmarks'], 'nothing saved')


def test_ignored_signals():
    """As by nohup(1), or in the background of a script: they end nothing."""
    numbers = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    try:
        process = subprocess.Popen([PROGRAM, '--processes=20', '--loops=1', 'spin'],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finally:
        for number, handler in zip(numbers, before):
            signal.signal(number, handler)
    for number in numbers:
        process.send_signal(number)
    time.sleep(0.2)
    for number in numbers:
        process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    equal((process.returncode, errors), (0, ''), 'status and messages')
    check('values of 20 processes' in output, output)


def test_no_process_is_left():
    process = subprocess.Popen([PROGRAM, '--processes=1', '--loops=9000000000000000', 'spin'],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    children = pathlib.Path(f'/proc/{process.pid}/task/{process.pid}/children')
    for _ in range(100):
        time.sleep(0.05)
        if not children.exists():
            break
        if children.read_text().split():
            break
    child = children.read_text().split() if children.exists() else []
    process.kill()
    process.wait()
    if not child:
        raise Skip('this kernel does not list children')
    for _ in range(200):
        try:
            if pathlib.Path(f'/proc/{child[0]}/stat').read_text().split()[2] == 'Z':
                return
        except OSError:
            return
        time.sleep(0.05)
    raise Failed(f'process {child[0]} goes on')


def test_locale():
    """The program chooses a locale with another decimal point: the file has numbers all the same."""
    made = subprocess.run(['localedef', '-i', 'de_DE', '-f', 'UTF-8', scratch('de_DE.UTF-8')],
                          capture_output=True, check=False) if shutil.which('localedef') else None
    if not made or not scratch('de_DE.UTF-8').exists():
        raise Skip('no such locale can be made here')
    result, _ = saved('spin', LC_ALL='de_DE.UTF-8', LOCPATH=SCRATCH.name)
    check(re.search(r' \d+,\d+ [munp]?s ', result.stdout), f'not in that locale: {result.stdout}')


def test_wrong_descriptor():
    result = run('spin', status=1, QUIESCE_VALUES_FD='1')
    check('no descriptor' in result.stderr, result.stderr)


def test_under_a_reader_of_values():
    """As runpinned does it."""
    import fcntl
    fd = os.memfd_create('values', os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, 1 << 20)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
    for arguments, status in ((['--min-time=0.0001', 'spin', 'group/2'], 0), (['-o', 'x', 'spin'], 2)):
        result = subprocess.run([PROGRAM, *arguments], pass_fds=(fd,), capture_output=True,
                                text=True, check=False, cwd=SCRATCH.name,
                                env={**os.environ, 'QUIESCE_VALUES_FD': str(fd)})
        equal((result.returncode, result.stdout), (status, ''), f'{arguments} ({result.stderr})')
    lines = os.pread(fd, 1 << 20, 0).rstrip(b'\0').decode().splitlines()
    equal([line for line in lines if line.startswith('name')], ['name spin', 'name group/2'], 'names')
    equal(sum(line.startswith('v ') for line in lines), 100, 'values')


def test_examples():
    for example in EXAMPLES:
        names = run('--list', program=example).stdout.splitlines()
        check(names, f'{example} lists nothing')
        name = pathlib.Path(example).name + '.json'
        run('--processes=1', '--values=2', '--min-time=0.0001', '-o', scratch(name), program=example)
        document = json.loads(scratch(name).read_text(encoding='utf-8'))
        equal([each['metadata']['name'] for each in document['benchmarks']], names, example)


def idiom():
    program = os.environ.get('IDIOM')
    if not program:
        raise Skip('this build has no C++ compiler')
    return program


def test_cpp_names():
    """Each registration makes the benchmarks of its arguments and threads, in their order."""
    names = ['plain', 'repeat', 'sorting/8', 'sorting/16', 'sorting/64', 'sorting/128',
             'converts<int, double>',
             'product/1/5', 'product/1/6', 'product/2/5', 'product/2/6', 'product/7/8',
             'ranges/0/3', 'ranges/1/3', 'ranges/8/3', 'ranges/9/3', 'dense/1/1',
             'dense/0', 'dense/5', 'dense/10', 'dense/99', 'captured/one', 'threads/threads:3',
             'thread_range/threads:1', 'thread_range/threads:2', 'thread_range/threads:4',
             'thread_range/threads:5', 'table/size', 'table/sum/10', 'table/sum/20',
             'bad/fixture/-1', 'bad/throws', 'bad/argument', 'lambda']
    equal(run('--list', program=idiom()).stdout.splitlines(), names, 'names')


def test_cpp_results():
    good = [name for name in run('--list', program=idiom()).stdout.splitlines()
            if not name.startswith('bad/')]
    result, benchmarks = saved('--values=2', *good, program=idiom())
    equal(list(benchmarks), good, 'names')
    facts = {name: each['metadata'] for name, each in benchmarks.items()}
    equal([facts['sorting/64'][f'quiesce_{key}'] for key in (
        'family', 'size', 'amount_items', 'amount_bytes', 'amount_swaps', 'figure_first',
        'figure_last')], ['sorting', 64, 64, 256, 0.5, 0, 63], 'figures')
    equal(facts['repeat']['inner_loops'], 2, 'inner loops')
    equal(facts['product/2/6'].get('quiesce_family'), 'product/n/6', 'a family of two arguments')
    equal(facts['threads/threads:3']['quiesce_threads'], 3, 'threads')
    equal(facts['threads/threads:3']['quiesce_figure_thread'], 1, 'mean over the threads')
    equal([facts[f'table/s{name}'].get('quiesce_figure_s' + name.partition('/')[0]) for name in (
        'ize', 'um/10', 'um/20')], [1, 70, 140], 'fixtures')
    equal(len(re.findall('^growth of sorting: ', result.stdout, re.M)), 1, result.stdout)


def test_cpp_failures():
    result = run(*QUICK, 'bad/*', 'plain', status=1, program=idiom())
    for words in ('bad/fixture/-1: no such table', 'bad/throws: thrown on purpose',
                  'bad/argument: its process ended with status 1'):
        check(words in result.stderr, f'{words!r}: {result.stderr}')
    check(re.search(r'^plain +[0-9]', result.stdout, re.M), result.stdout)


def test_pyperf_reads_it():
    try:
        import pyperf
    except ImportError:
        raise Skip(f'no pyperf for {sys.executable}') from None
    _, benchmarks = saved('--values=3', 'spin', 'group/*')
    suite = pyperf.BenchmarkSuite.load(str(scratch('result.json')))
    equal(suite.get_benchmark_names(), list(benchmarks), 'names')
    for name, benchmark in benchmarks.items():
        values = [value for each in benchmark['runs'] for value in each.get('values', ())]
        equal(list(suite.get_benchmark(name).get_values()), values, f'values of {name}')
    for command in ('show', 'stats', 'hist', 'check', 'dump', 'metadata', 'slowest'):
        result = subprocess.run([sys.executable, '-m', 'pyperf', command, scratch('result.json')],
                                capture_output=True, text=True, check=False)
        equal((result.returncode, result.stderr), (0, ''), command)


if __name__ == '__main__':
    run_tests(tests_of(globals()))
