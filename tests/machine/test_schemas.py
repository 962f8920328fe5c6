#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/schemas: what each program prints with --json is what its schema says, member by member. Beside what is here,
all that other tests read of bench-report and of setters is held against them (machine.py)."""

import copy
import datetime
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import schema
from machine import SETTERS, Failed, Setter, bench_report, check, equal, run_tests

SOURCES = pathlib.Path(__file__).resolve().parents[2]
TOOLS = {name: os.environ[name.upper().replace('-', '_')] for name in ('runpinned', 'isol-check', *SETTERS)}
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix='schemas.'))
FIRST = datetime.datetime(2026, 11, 1, 2)
seen = {}
# Schemas of what cannot be printed here.
left_out = set()


def note(name, value, found):
    """The names of all members that were there, as paths."""
    if isinstance(value, dict):
        for key, member in value.items():
            found.add(f'{name}.{key}')
            note(f'{name}.{key}', member, found)
    elif isinstance(value, list):
        for item in value:
            note(name, item, found)


def hold(name, text):
    wrong = schema.validate(name, text)
    check(not wrong, f'{name}{wrong}')
    value = json.loads(text)
    note('', value, seen.setdefault(name, set()))
    return value


def report(verb, *arguments, name=None, **options):
    return hold(name or f'bench-report-{verb}', bench_report(verb, '--json', *arguments, **options))


def runpinned(*arguments, status=0):
    result = subprocess.run([TOOLS['runpinned'], *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, check=False, env={**os.environ, 'LC_ALL': 'C'})
    equal(result.returncode, status, f'{arguments}: {result.stderr}')
    return result.stdout


def draw(*arguments):
    """Built without cairo, bench-report draws nothing."""
    if os.environ['HAS_CAIRO'] == '1':
        for form in 'svg', 'pdf', 'html':
            report('plot', '-o', FOLDER / f'picture.{form}', *arguments)


def make_runs(level, days=0, n=25, **metadata):
    draw = random.Random(days)
    return [{'values': [0.02 * level * math.exp(draw.gauss(0, 0.002))],
             'metadata': {'date': (FIRST + datetime.timedelta(days=days, seconds=at)).isoformat(sep=' '), **metadata}}
            for at in range(n)]


def write_runs(name, runs, of_all=None, **metadata):
    """A made-up result: {name of a benchmark: its runs}."""
    path = FOLDER / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({'version': '1.0', 'metadata': of_all or {}, 'benchmarks': [
        {'metadata': {'name': each, 'unit': 'second', **metadata}, 'runs': its} for each, its in runs.items()]}))
    return path


def write(name, level=1.0, days=0, names=('x',), **metadata):
    """A made-up result of that day."""
    of_all = {'hostname': 'metal', 'cpu_model_name': 'Xeon', 'quiesce_kernel': '6.12', **metadata}
    return write_runs(name, {each: make_runs(level, days) for each in names}, of_all)


def test_measured():
    """What is measured here, and all verbs on that"""
    both, scan, vary = (FOLDER / name for name in ('both.json', 'scan.json', 'vary.json'))
    own = FOLDER / 'own.json'
    own.write_text(runpinned('--json', '-q', '-n', 12, '--control', '--shell', 'true'))
    hold('result', own.read_text())
    report('show', own)
    hold('result', runpinned('--json', '-q', '-n', 3, '--figure', 'n,things,lower=^([0-9]+)', 'echo', '17'))
    runpinned('-q', '-n', 12, '-o', both, '--baseline', 'true', '--', 'sh', '-c', ':')
    runpinned('-q', '-n', 3, '-o', scan, '-P', 'n=1..6', '--', 'sh', '-c', 'exec sleep 0.00{n}')
    runpinned('-q', '-n', 200, '-o', vary, '--vary', 'true')
    hold('result', both.read_text())
    for verb in 'show', 'stats', 'hist', 'dump', 'slowest', 'compare':
        report(verb, both)
    # It may object, or not.
    hold('bench-report-check', subprocess.run([os.environ['BENCH_REPORT'], 'check', '--json', both],
                                              capture_output=True, text=True, check=False).stdout)
    report('show', '--metadata', both)
    report('why', vary)
    report('merge', both, name='result')
    report('merge', '-o', FOLDER / 'merged.json', both)
    for file in both, scan:
        draw(file)


def test_made_up():
    """Results of many days, machines and layouts, and decisions"""
    old, new = write('old.json', names=('x', 'y')), write('new.json', 1.05, 1, names=('x', 'y'))
    days = [write(f'days/{at}.json', 1.0 if at < 10 else 1.1, at, commit_id=f'{at:040x}') for at in range(20)]
    earlier = FOLDER / 'earlier.json'
    earlier.write_text(json.dumps(report('trend', *days[1:])))
    report('trend', '--earlier', earlier, *days[:5], *days[6:])
    report('compare', old, new)
    report('compare', '--fail-worse', '2', '-b', 'x', old, new, '--repeats', FOLDER / 'days')
    report('compare', '--old', *days[0:6:2], '--new', *days[1:6:2])
    machines = [write(f'machines/{at}.json', 1.0 + at / 500, hostname=f'n{at}', node=f'n{at}') for at in range(12)]
    more = [write(f'more/{at}.json', 1.0 + at / 500, hostname=f'n{at}', node=f'n{at}') for at in range(12)]
    report('fleet', *machines)
    for name, files in ('merged-old', machines), ('merged-new', more):
        report('merge', '-o', FOLDER / f'{name}.json', *files)
    report('show', FOLDER / 'merged-old.json')
    report('compare', FOLDER / 'merged-old.json', FOLDER / 'merged-new.json')
    hold('result', old.read_text())
    layouts = write_runs('layouts.json', {
        name: [run for at in range(6) for run in make_runs(
            level + at / 500, 2 * at + (level > 1), layout=str(at), hostname='h', quiesce_sitting=f's{at}',
            quiesce_order_seed=at + 1)]
        for name, level in (('old', 1), ('new', 1.05))}, quiesce_interleaved='old, new')
    report('show', layouts)
    report('compare', layouts)
    warming = write_runs('warming.json', {'x': [
        {**run, 'values': [run['values'][0] * (1.5 if at < 12 else 1) * (1 + at % 3 / 1000) for at in range(60)]}
        for run in make_runs(1, n=5)]})
    report('show', warming)
    hold('bench-report-check', subprocess.run([os.environ['BENCH_REPORT'], 'check', '--json', warming],
                                              capture_output=True, text=True, check=False).stdout)
    # What this machine may not have.
    changing = write_runs('changing.json', {'x': [run for at in range(2) for run in make_runs(
        1, at, 10, quiesce_temperature_after=50 + at, quiesce_core_khz=3000000 + 400000 * at,
        quiesce_run_delay=at / 250, quiesce_core_share_before=1 - 0.4 * at, quiesce_core_share_after=1 - 0.4 * at,
        quiesce_event_instructions=1000 + at)]})
    report('show', changing)
    scan = FOLDER / 'scan-made-up.json'
    scan.write_text(json.dumps({'version': '1.0', 'benchmarks': [
        {'metadata': {'name': f'sort/n={size}', 'unit': 'second', 'parameter_n': str(size)},
         'runs': make_runs(size, size)} for size in (100, 1000, 3000, 10000, 100000)]}))
    served = write_runs('served.json', {'x': make_runs(1)}, **{
        f'quiesce_served_{name}': value for name, value in (('p50', 0.001), ('p99', 0.02), ('max', 0.9), ('rps', 1000.0))})
    for words in ((changing,), (scan,), (old, new), (FOLDER / 'days',), ('--by', 'run', old),
                  ('--by', 'latency', served), ('--margin', 2, old, new), ('--margin', 2, '-b', 'x', old, new)):
        draw(*words)
    decided = FOLDER / 'decided.json'
    subprocess.run([TOOLS['runpinned'], '-q', '--decide', '50', '--max-runs', '40', '-o', decided, '--baseline', 'true',
                    '--', 'true'], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    report('show', decided)
    check(report('compare', decided)['comparisons'][0]['decision'], 'no decision')


def test_setters():
    """What setters print"""
    # Where there are no namespaces, this is skipped.
    left_out.update(('setter', 'setter-restore', 'noise-off-list'))
    for tool in SETTERS:
        with Setter(TOOLS[tool], 'amd-acpi') as setter:
            for arguments, name in ((('-c', '3'), 'setter'), (('status',), 'setter'), (('restore',), 'setter-restore')):
                hold(name, setter.run(*arguments, '--json').stdout)
            if tool == 'noise-off':
                hold('noise-off-list', setter.run('list', '--json').stdout)
    left_out.clear()


def test_isol_check():
    """What isol-check prints"""
    for name, arguments in (('isol-check', ()), ('isol-check-measure', ('--measure=1',))):
        result = subprocess.run([TOOLS['isol-check'], '--json', *arguments], capture_output=True, text=True,
                                check=False)
        check(result.returncode in (0, 3), result.stderr)
        hold(name, result.stdout)


def members_of(value, path, found):
    """All members that a schema has, as note() names them."""
    for name, member in value.get('properties', {}).items():
        found.add(f'{path}.{name}')
        members_of(member, f'{path}.{name}', found)
    for inner in (*([value['items']] if 'items' in value else ()), *value.get('anyOf', ())):
        members_of(inner, path, found)


def test_complete():
    """Each member of a schema was there in what was printed"""
    if os.environ['HAS_CAIRO'] == '0':
        left_out.add('bench-report-plot')
    names = {path.name.removesuffix('.schema.json') for path in schema.FOLDER.glob('*')}
    equal(names - set(seen), left_out, 'schemas of which nothing was held')
    missing = []
    for name, found in seen.items():
        members = set()
        members_of(schema.load(name), '', members)
        missing += [f'{name}{member}' for member in sorted(members - found)]
    equal(missing, [], 'members that nothing has printed')


def test_files():
    """The files are what the script writes, and the man page names each member"""
    result = subprocess.run([sys.executable, SOURCES / 'docs/make-schemas', '--check'], capture_output=True, text=True,
                            check=False)
    equal((result.returncode, result.stderr), (0, ''), 'docs/make-schemas --check')
    words = set(re.findall(r'[a-z][a-z0-9_]*', (SOURCES / 'man/quiesce-formats.5.scd').read_text()))
    for path in schema.FOLDER.glob('bench-report-*'):
        members = set()
        members_of(json.loads(path.read_text()), '', members)
        names = {member.rpartition('.')[2] for member in members}
        equal(names - words, set(), f'{path.name}: members that quiesce-formats(5) does not name')


def test_validator():
    """What is not as a schema has it is found; keywords that nothing holds are an error"""
    good = json.loads(bench_report('check', '--json', write('good.json')))
    equal(schema.find_wrong(good, schema.load('bench-report-check')), None, 'a good one')
    for change, says in (
            (lambda b: b.update(new=1), ".benchmarks[0]: has 'new', which is not there"),
            (lambda b: b.pop('sound'), ".benchmarks[0]: lacks ['sound']"),
            (lambda b: b.update(values='25'), ".benchmarks[0].values: '25' is no integer"),
            (lambda b: b.update(values=True), '.benchmarks[0].values: True is no integer'),
            (lambda b: b.update(values=-1), '.benchmarks[0].values: -1 is less than 0'),
            (lambda b: b.update(better='worse'), ".benchmarks[0].better: 'worse' is none of ['lower', 'higher', None]"),
            (lambda b: b['flags'].update(irq='many'), ".benchmarks[0].flags.irq: 'many' is no integer"),
            (lambda b: b.update(findings=[{}]), ".benchmarks[0].findings[0]: lacks ['code', 'warning', 'text']")):
        bad = copy.deepcopy(good)
        change(bad['benchmarks'][0])
        wrong = schema.find_wrong(bad, schema.load('bench-report-check')) or ''
        equal(re.sub(r': +', ': ', wrong), says, 'what is wrong')
    for text, says in (('{"a": NaN}', 'NaN is no JSON'), ('{"a": 1, "a": 2}', 'a member is there twice'),
                       ('{', 'Expecting')):
        check(says in schema.validate('result', text), text)
    for unknown in 'pattern', '$ref', 'oneOf':
        try:
            schema.find_wrong({}, {unknown: {}})
        except KeyError:
            continue
        raise Failed(f'{unknown} is held by nothing')
    try:
        import jsonschema  # pylint: disable=import-outside-toplevel
    except ImportError:
        return 'without python3-jsonschema'
    for path in schema.FOLDER.glob('*'):
        jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text()))
    jsonschema.Draft202012Validator(schema.load('bench-report-check')).validate(good)
    return None


run_tests((function.__doc__, function) for function in (
    test_measured, test_made_up, test_setters, test_isol_check, test_complete, test_files, test_validator))
