#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs whose time does not depend on their work are noticed, and others are not."""

import json
import os
import shutil
import subprocess
import sys

import machine
from machine import bench_report as report
from machine import check, equal
from test_figures import CPU, ENVIRONMENT, FOLDER, RUNPINNED, WRK, benchmarks_of, program, start, write

SAMPLES = machine.HERE.parent / 'unit' / 'harness'
HARNESSES = machine.HERE.parents[1] / 'harnesses'
SAYS = 'wrk reports its own figures; --harness wrk compares them'
AGREE = 'the times agree, while '
# On a busy machine times of programs that wait for a moment may differ: then it is tried again.
TRIALS = 3
# What it does until the time that it has, in seconds, is over: so much CPU time, as much in all runs.
FIXED = '''
import sys, time
end = time.monotonic() + 0.12
while time.process_time() < float(sys.argv[1]):
    pass
time.sleep(max(end - time.monotonic(), 0))
'''


def wrk(name, rate):
    text = WRK.replace('9721.37', str(rate))
    return program(f"cat <<'END'\n{text}END\nsleep 0.01", name)


def owners(texts):
    """The same of texts by their names."""
    paths = []
    for i, name in enumerate(texts):
        paths.append(FOLDER / f'text{i}')
        paths[-1].write_bytes(texts[name])
    environment = {**ENVIRONMENT, 'XDG_CONFIG_HOME': str(FOLDER / 'recognize')}
    folder = FOLDER / 'recognize' / 'quiesce'
    if not folder.exists():
        folder.mkdir(parents=True)
        (folder / 'harnesses').symlink_to(HARNESSES)
    found = subprocess.run([os.environ['RECOGNIZE'], *paths], stdout=subprocess.PIPE, text=True, env=environment, check=True)
    return {name: None if line == '-' else line for name, line in zip(texts, found.stdout.splitlines(), strict=True)}


def owner(*arguments, **how):
    """Whose figures the output has, as it is kept with the result."""
    found, = json.loads(start('--json', '-n', 1, '-w', 1, *arguments, **how)[0])['benchmarks']
    return found['metadata'].get('quiesce_own_figures')


def fixed(seconds):
    return f"{sys.executable} {write('fixed.py', FIXED)} {seconds}"


def unclear(path, *arguments):
    """Why the comparison of the two programs of the file is unclear, or None."""
    found, = json.loads(report('compare', '--json', *arguments, path))['comparisons']
    return found['unclear'] if found['verdict'] == 'unclear' else None


def test_one_program():
    out, said = start('--no-save', '-n', 2, '-w', 1, wrk('one', 100))
    check(SAYS in out, out)
    check(SAYS not in start('-q', '--no-save', '-n', 2, '-w', 1, wrk('one', 100))[1], said)
    # Whoever takes the figures, names a metric or has no warm-up is told nothing.
    for more in ['--harness', 'wrk'], ['--metric', 'time'], ['-w', '0'], ['--figure', 'rps,1/s,higher=^Requests/sec: +(.*)$']:
        out, said = start('--no-save', '-n', 2, '-w', 1, *more, wrk('one', 100))
        check('its own figures' not in out + said, (more, out, said))


def test_streams():
    """Standard output goes nowhere in runs that count, and standard error is kept anyway."""
    equal(owner(wrk('one', 100)), 'wrk', 'standard output')
    equal(owner(program('test "$(readlink /proc/$$/fd/1)" = /dev/null || [ "$QUIESCE_RUN" = 0 ]')), None, 'where it goes')
    equal(owner('sh', '-c', f'cat {SAMPLES}/stress-ng.txt >&2'), 'stress-ng', 'standard error')
    equal(owner('--stdout', FOLDER / 'out', wrk('one', 100)), 'wrk', 'a file')
    equal(owner('--evidence', 'none', wrk('one', 100)), 'wrk', 'without evidence')
    # Of much output the end is looked at.
    equal(owner(program(f"yes x | head -c 300000; cat <<'END'\n{WRK}END", 'much')), 'wrk', 'much output')
    equal(owner(program(f"cat <<'END'\n{WRK}END\nyes x | head -c 300000", 'much')), None, 'before much output')
    for more in ['--stdout', 'pipe'], ['--stdout', 'terminal']:
        equal(owner(*more, wrk('one', 100)), None, 'output that nobody keeps')


def test_comparison():
    """Twice the work in the same time."""
    path = FOLDER / 'wrk.json'
    out = start('-n', 10, '-w', 1, '-o', path, '--command', f'old={wrk("old", 100)}', '--name', 'new', wrk('new', 200))[0]
    check('no difference found' not in out and f'unclear    {SAYS}' in out, out)
    equal(unclear(path), SAYS, 'bench-report')
    check(unclear(path, '--metric', 'time') != SAYS, 'who asks for the time has it')
    # A gate on the time.
    found = json.loads(report('compare', '--json', '--fail-slower', '5', path))['comparisons'][0]
    equal(found['gate'], 'unclear', '--fail-slower')
    out = start('-n', 10, '--no-save', '-w', 1, '--harness', 'wrk', '--command', f'old={wrk("old", 100)}', '--name', 'new',
                wrk('new', 200))[0]
    check('times more' in out or 'times as many' in out or '+100' in out, out)


def test_decision():
    pair = ('--command', f'old={wrk("old", 100)}', '--name', 'new', wrk('new', 50))
    out = start('-w', 1, '--no-save', '--decide', 10, *pair, status=4)[0]
    check('not settled' in out and SAYS in out, out)
    check(f'not settled: {SAYS}' in start('-q', '-w', 1, '--no-save', '--decide', 10, *pair, status=4)[1], 'quietly')
    # It ends at once: no number of pairs would settle it.
    path = FOLDER / 'decided.json'
    start('-w', 1, '-o', path, '--decide', 10, *pair, status=4)
    equal([len(each['runs']) for each in benchmarks_of(path)], [2, 2], 'a warm-up and a pair')
    # By its figures it is settled.
    start('-w', 1, '--no-save', '--decide', 10, '--harness', 'wrk', *pair, status=3)
    result = subprocess.run([RUNPINNED, '-c', CPU, '-w', '1', '--no-save', '--decide', '50', '--metric', 'time', '--max-runs', '60',
                             *map(str, pair)], capture_output=True, text=True, env=ENVIRONMENT, check=False)
    check(SAYS not in result.stdout + result.stderr, result.stdout)


def test_timeit():
    out = start('--no-save', '-n', 1, '-w', 1, sys.executable, '-m', 'timeit', '-n', '1000', 'pass')[0]
    check('timeit reports its own figures; --harness timeit compares them' in out, out)
    start('--no-save', '-n', 1, '-w', 1, '--harness', 'timeit', sys.executable, '-m', 'timeit', '-n', '1000', 'pass')


def test_go():
    """A test binary with ten times the work, which says nothing of it by its time."""
    if not shutil.which('go'):
        raise machine.Skip('no go')
    for name, loops in ('old', 1000), ('new', 10000):
        folder = FOLDER / ('go-' + name)
        folder.mkdir()
        (folder / 'go.mod').write_text('module tiny\n\ngo 1.18\n', encoding='utf-8')
        (folder / 'tiny_test.go').write_text(
            'package tiny\nimport "testing"\nvar sink int\nfunc BenchmarkSum(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n'
            f'\t\tfor k := 0; k < {loops}; k++ {{ sink += k }}\n\t}}\n}}\n', encoding='utf-8')
        environment = {**ENVIRONMENT, 'GOCACHE': str(FOLDER / 'gocache'), 'GOFLAGS': '-mod=mod', 'GOPROXY': 'off',
                       'GOTOOLCHAIN': 'local'}
        result = subprocess.run(['go', 'test', '-c', '-o', FOLDER / ('sum-' + name)], cwd=folder, env=environment,
                                capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise machine.Skip('go cannot build a test: ' + result.stderr.strip().splitlines()[-1])
    options = ('-test.bench', '.', '-test.benchtime', '50ms')
    old = ' '.join(map(str, (FOLDER / 'sum-old', *options)))
    out = start('--no-save', '-w', 1, '--decide', 10, '--baseline', old, '--', FOLDER / 'sum-new', *options, status=4)[0]
    check('go reports its own figures; --harness go compares them' in out, out)
    start('--no-save', '-w', 1, '--decide', 10, '--harness', 'go', '--baseline', old, '--', FOLDER / 'sum-new', *options, status=3)


def made_up(name, times, cpu_times, metadata=({}, {}), runs=({}, {})):
    """The result of two programs with these times and CPU times, which vary by a thousandth."""
    path = FOLDER / name
    start('-q', '-n', 12, '-o', path, '--command', 'old=true', '--name', 'new', 'true')
    result = json.loads(path.read_text(encoding='utf-8'))
    for i, benchmark in enumerate(result['benchmarks']):
        benchmark['metadata'].update(metadata[i])
        benchmark['metadata'].pop('quiesce_flags', None)
        for k, each in enumerate(benchmark['runs']):
            vary = 1 + (k * 7 % 5 - 2) / 1000
            each['values'] = [times[i] * vary]
            each['metadata'].update({'duration': times[i] * vary, 'quiesce_window_kernel': times[i] * vary,
                                     'quiesce_window_user': times[i] * vary, 'quiesce_user_cpu': cpu_times[i] * vary,
                                     'quiesce_system_cpu': 0.001}, **{key: value * vary for key, value in runs[i].items()})
            each['metadata'].pop('quiesce_flags', None)
    path.write_text(json.dumps(result), encoding='utf-8')
    return path


def doubted(*arguments, **how):
    why = unclear(made_up('made-up.json', *arguments, **how)) or ''
    return why.removeprefix(AGREE).split(' is ')[0] if why.startswith(AGREE) else None


def test_cpu_time():
    equal(doubted((0.1, 0.1), (0.04, 0.08)), 'CPU time', 'twice the work')
    equal(doubted((0.1, 0.1), (0.08, 0.04)), 'CPU time', 'half the work')
    path = FOLDER / 'made-up.json'
    check('--figure' in unclear(path), unclear(path))
    for metric in 'time', 'user_cpu':
        check(not (unclear(path, '--metric', metric) or '').startswith(AGREE), f'who asks for {metric}')
    equal(doubted((0.1, 0.1), (0.04, 0.045)), None, 'less than a fifth')
    equal(doubted((0.1, 0.1), (0.0001, 0.0002)), None, 'less than the times leave open')
    equal(doubted((0.1, 0.1), (0.08, 0.08)), None, 'the same work')
    equal(doubted((0.1, 0.15), (0.04, 0.08)), None, 'other times')
    equal(doubted((0.1, 0.1), (0.04, 0.08), metadata=({'quiesce_cpus': '0-1'}, {'quiesce_cpus': '0-1'})), None, 'two CPUs')


def test_instructions():
    runs = ({'quiesce_event_instructions': 1e6}, {'quiesce_event_instructions': 2e6})
    equal(doubted((0.1, 0.1), (0.04, 0.04), runs=runs), 'the number of instructions', 'twice as many')
    equal(doubted((0.1, 0.1), (0.098, 0.098), runs=runs), None, 'by programs that worked all the time')
    equal(doubted((0.1, 0.1), (0.04, 0.04), runs=(runs[0], runs[0])), None, 'as many')


def test_output():
    def sizes(old, new):
        return {'quiesce_output_size': old}, {'quiesce_output_size': new}

    equal(doubted((0.1, 0.1), (0.09, 0.09), metadata=sizes(100000, 200000)), 'the output', 'twice as much')
    equal(doubted((0.1, 0.1), (0.09, 0.09), metadata=sizes(100, 200)), None, 'a little')
    equal(doubted((0.1, 0.1), (0.09, 0.09), metadata=sizes(100000, 130000)), None, 'not much more')
    equal(doubted((0.1, 0.1), (0.09, 0.09), metadata=sizes(0, 130000)), None, 'a program that is quiet')
    equal(benchmarks_of(save_output())[0]['metadata']['quiesce_output_size'], 12345, 'it is kept')


def save_output():
    path = FOLDER / 'output.json'
    start('-q', '-n', 1, '-w', 1, '-o', path, 'head', '-c', 12345, '/dev/zero')
    return path


def test_fixed_time():
    """A real program that works for a part of the time that it has."""
    for _ in range(TRIALS):
        result = subprocess.run([RUNPINNED, '-c', CPU, '-w', '1', '--no-save', '--decide', '40', '--max-runs', '60', '--command',
                                 f'old={fixed(0.01)}', '--name', 'new', *fixed(0.09).split()], capture_output=True, text=True,
                                env=ENVIRONMENT, check=False)
        if AGREE in result.stdout:
            equal(result.returncode, 4, 'not settled')
            return
    raise machine.Skip('the times of programs that wait for a moment differ too much on this machine')


def test_equal_times_are_no_sign():
    path = FOLDER / 'equal.json'
    for command in 'sleep 0.02', fixed(0.05), 'true':
        start('-q', '-n', 12, '-w', 1, '-o', path, '--command', f'old={command}', '--name', 'new', *command.split())
        why = unclear(path) or ''
        check(AGREE not in why and 'own figures' not in why, f'{command}: {why}')


ORDINARY = '''
ls -la /usr/bin
ls -sh /usr/lib
ls -R /usr/share/doc
du -ah /usr/share/perl
df -h
df -k
ps aux
ps -ef
cat /proc/cpuinfo
cat /proc/meminfo
cat /proc/interrupts
cat /proc/diskstats
cat /proc/stat
vmstat 1 1
free -h
uptime
uname -a
env
id
date
lscpu
lsblk
mount
ip -s link
ss -s
netstat -s
wc /etc/passwd /etc/services
head -c 100000 /bin/ls
od -A d -t x1 /bin/true
sha256sum /bin/ls /bin/cat
md5sum /bin/ls
seq 1 10000
factor 1234567890123
sort /etc/services
grep -n tcp /etc/services
awk {print} /etc/services
dd if=/dev/zero of=/dev/null bs=1M count=10
time -p true
getconf -a
locale -a
dpkg -l
apt-cache stats
file /bin/ls
stat /bin/ls
readelf -a /bin/true
objdump -h /bin/ls
nm -D /bin/ls
size /bin/ls
strings /bin/ls
gcc --version
gcc -v
gcc -dumpspecs
gcc -ftime-report -x c -c -o /dev/null /usr/include/stdio.h
gcc -Q --help=optimizers
clang --version
make -p -f /dev/null
cmake --help
ninja --version
git log --stat -5
git status
openssl version -a
openssl ciphers -v
openssl speed -help
wrk --version
fio --version
fio --help
sysbench --version
sysbench --help
hyperfine --help
perf --help
perf list
perf stat true
redis-benchmark --help
pgbench --help
iperf3 --help
stress-ng --help
stress-ng --cpu 1 --cpu-ops 10
7z
7z l /dev/null
sqlite3 --help
sqlite3 :memory: .help
go version
go env
go help test
cargo --version
rustc --version
java -version
node --version
python3 --version
python3 -c import\\tthis
python3 -m this
python3 -m unittest --help
python3 -m timeit --help
python3 -m pydoc time
python3 -m sysconfig
python3 -X importtime -c pass
python3 -m cProfile -c pass
python3 -m dis /dev/null
perl -V
bash --help
curl --version
tar tvf /dev/null
gzip -lv /dev/null
xz --robot --list /dev/null
zstd -vb1 /bin/ls
rsync --version
systemctl --version
journalctl --version
'''


def test_ordinary_programs():
    """Nothing is said of what ordinary programs print, of this project's documents, and of the sources of the patterns."""
    root, texts = machine.HERE.parents[1], {}
    for line in filter(None, ORDINARY.splitlines()):
        words = [word.replace('\\t', ' ') for word in line.split()]
        if shutil.which(words[0]):
            result = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                                    env=ENVIRONMENT, cwd=FOLDER, check=False)
            texts[line] = result.stdout
    check(len(texts) > 30, texts.keys())
    for path in [*(root / 'docs').glob('*.md'), *root.glob('*.md'), *(root / 'man').glob('*.scd'), *HARNESSES.glob('*.conf'),
                 *(root / 'tests' / 'unit').glob('*.c'), *(root / 'src').glob('*/*/*.c')]:
        texts[str(path.relative_to(root))] = path.read_bytes()
    wrong = {name: found for name, found in owners(texts).items() if found}
    equal(wrong, {}, 'what is taken for that of a harness')
    # And what is one: the samples of the unit tests. NAME-WORD is one of NAME, of which not all have the signs.
    samples = {path.stem: path.read_bytes() for path in SAMPLES.glob('*.txt')}
    harnesses = {path.stem: 'Sign=' in path.read_text(encoding='utf-8') for path in HARNESSES.glob('*.conf')}
    for name, found in owners(samples).items():
        if name in harnesses:
            equal(found, name if harnesses[name] else None, name)
        else:
            of = max((each for each in harnesses if name.startswith(each + '-')), key=len)
            check(found in (of, None), f'{name}: {found}')


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
