#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench-report trend on histories whose changes are known."""

import gzip
import json
import pathlib
import random
import tempfile

from machine import bench_report, check, equal, run_tests

RUNS = 15


def trend(*arguments, **options):
    return bench_report('trend', *arguments, **options)


def trends(*arguments, status=0):
    return json.loads(trend('--json', *arguments, status=status))['trends']


class History:
    """Files in a folder, the first of which has the latest date, so that names do not give the order."""

    def __init__(self, root, draw):
        self.root, self.draw = pathlib.Path(root), draw
        self.n = 0

    def runs(self, day, level):
        return [{'values': [level * (1 + self.draw.gauss(0, 0.004))],
                 'metadata': {'date': f'2026-{1 + day // 28:02}-{1 + day % 28:02} 10:00:{second:02}.5'}}
                for second in range(RUNS)]

    def add(self, day, levels, packed=False, **metadata):
        """levels: {benchmark: median}"""
        result = {'version': '1.0', 'metadata': {'unit': 'second', **metadata},
                  'benchmarks': [{'metadata': {'name': name}, 'runs': self.runs(day, level)}
                                 for name, level in levels.items()]}
        path = self.root / f'{900 - self.n:03}.json{".gz" if packed else ""}'
        text = json.dumps(result).encode()
        path.write_bytes(gzip.compress(text) if packed else text)
        self.n += 1
        return path

    def add_beside(self, day, program, control, name='./old', **metadata):
        """A result of a program and of its control, which has this name."""
        path = self.add(day, {'sort': program, 'control': control}, quiesce_control=name,
                        quiesce_control_hash='ab12', cpu_model_name='EPYC', **metadata)
        result = json.loads(path.read_text())
        result['benchmarks'][1]['metadata']['quiesce_role'] = 'control'
        path.write_text(json.dumps(result))
        return path


def with_history(function):
    def test():
        with tempfile.TemporaryDirectory(prefix='trend.') as root:
            function(History(root, random.Random(1)))
    return test


def check_change(history):
    for day in range(40):
        history.add(day, {'sort': 0.0100 if day < 22 else 0.0106, 'copy': 0.002},
                    packed=day % 2 == 0, hostname='a', cpu_model_name='EPYC',
                    commit_id=f'{day:040x}')
    found = {each['name']: each for each in trends(history.root)}
    equal(sorted(found), ['copy', 'sort'], 'benchmarks')
    equal([level['first'] for level in found['sort']['levels']], [0, 22], 'the change')
    check(abs(found['sort']['levels'][1]['change'] - 0.06) < 0.005, found['sort']['levels'])
    equal(found['sort']['machine'], 'EPYC (a)', 'machine')
    equal(found['sort']['points'][22]['commit'], f'{22:040x}', 'commit')
    equal(found['sort']['points'][22]['date'], '2026-01-23 10:00:00', 'date')
    equal(len(found['copy']['levels']), 1, 'no change')

    text = trend('-b', 'sort', history.root)
    check('sort on EPYC (a): 40 results, 1 change\n' in text, text)
    check('note:' not in text, text)
    check('copy' not in text and all(len(line) <= 80 for line in text.splitlines()), text)
    # One after the other, the files mean the same as their folder.
    equal(trends(*sorted(history.root.iterdir())), trends(history.root), 'files')
    equal(trends(f'{history.root}/'), trends(history.root), 'a folder with its slash')

    for arguments, status in ((('--fail-worse', 3), 3), (('--fail-worse', 7), 0),
                              (('--fail-worse', 3, '--since', '2026-01-23'), 3),
                              (('--fail-worse', 3, '--since', '2026-01-23 11:00:00'), 0)):
        trend(*arguments, history.root, status=status,
              says='sort: +' if status else None)


def check_better(history):
    for day in range(20):
        history.add(day, {'sort': 0.010 if day < 10 else 0.009})
    equal(len(trends('--fail-worse', 0, history.root)[0]['levels']), 2, 'the change')


def check_rate(history):
    """More of a rate is better: worse is where it falls."""
    rates = [1e9] * 12 + [5e8] * 12 + [1e9] * 12
    for day, rate in enumerate(rates):
        entries = [{'name': 'BM', 'run_type': 'iteration', 'real_time': 10, 'time_unit': 'ns',
                    'bytes_per_second': rate * history.draw.uniform(0.999, 1.001)} for _ in range(5)]
        date = f'2026-{10 + day // 28}-{1 + day % 28:02}T10:00:00+00:00'
        (history.root / f'{day:02}.json').write_text(
            json.dumps({'context': {'date': date}, 'benchmarks': entries}))
    equal([level['first'] for level in trends('--metric', 'bytes_per_second', history.root)[0]['levels']],
          [0, 12, 24], 'levels')
    for limit, since, status in ((45, '2026-01-01', 3), (55, '2026-01-01', 0), (45, '2026-10-14', 0)):
        result = trend('--metric', 'bytes_per_second', '--fail-worse', limit, '--since', since, history.root,
                       status=status, says='BM: -50' if status else None)
        check('+100' in result or '+99' in result, result)


def check_below_zero(history):
    """What is below 0 becomes more where it comes nearer to it; from 0 it is more by any part."""
    draw = history.draw
    for name, levels, change, says in (('rise', (-20, -10), 0.5, 'rise: +50 %'), ('fall', (-10, -20), -1, None),
                                       ('up', (-10, 10), 2, 'up: +200 %'), ('more', (0, 10), None, 'more: from 0')):
        folder = history.root / name
        folder.mkdir()
        for day in range(24):
            level = levels[day >= 12]
            entries = [{'name': name, 'run_type': 'iteration', 'real_time': 10, 'time_unit': 'ns',
                        'balance': level * draw.uniform(0.999, 1.001)} for _ in range(5)]
            (folder / f'{day:02}.json').write_text(json.dumps(
                {'context': {'date': f'2026-10-{1 + day:02}T10:00:00+00:00'}, 'benchmarks': entries}))
        text = trend('--metric', 'balance', '--fail-worse', 5, folder, status=3 if says else 0, says=says)
        check('? %' not in text, text)
        found = trends('--metric', 'balance', folder)[0]['levels'][1]['change']
        check(found is None if change is None else abs(found - change) < 0.01, f'{name}: {found}')


def check_machines(history):
    """Machines in turn, one of them slower: no change in either."""
    for day in range(30):
        history.add(day, {'sort': 0.012 if day % 2 else 0.010}, hostname='ab'[day % 2])
    found = trends(history.root)
    equal({each['machine']: (len(each['points']), len(each['levels'])) for each in found},
          {'a': (15, 1), 'b': (15, 1)}, 'machines')


def check_named_machines(history):
    """The name that the user gave comes first: all containers may be called the same."""
    for day in range(30):
        history.add(day, {'sort': 0.012 if day % 2 else 0.010}, hostname='box', node='ab'[day % 2])
    found = trends(history.root)
    equal({each['machine']: (len(each['points']), len(each['levels'])) for each in found},
          {'a': (15, 1), 'b': (15, 1)}, 'machines')


def check_order(history):
    """By the commits' dates, where all have one: an old commit may be measured late."""
    for day in range(24):
        history.add(40 - day, {'sort': 0.010 if day < 12 else 0.011},
                    commit_date=f'2025-03-{1 + day:02} 00:00:00')
    found, = trends(history.root)
    equal([found['levels'][1]['first'], found['points'][12]['date']], [12, '2025-03-13 00:00:00'],
          'by commit')
    # One without: by the dates of the runs.
    history.add(41, {'sort': 0.010})
    found, = trends(history.root)
    check(found['points'][0]['date'].startswith('2026-01-18') and
          found['levels'][1]['change'] < 0, found['levels'])


def check_containers(history):
    """Each container has a name of its own, and another one the next day; processors are still told apart."""
    for day in range(14):
        for model in 'EPYC', 'Xeon':
            history.add(day, {'sort': 0.010}, hostname=f'{day + 11:012x}', cpu_model_name=model)
    equal([(each['machine'], len(each['points'])) for each in trends(history.root)],
          [('Xeon (containers)', 14), ('EPYC (containers)', 14)], 'containers')
    history.add(15, {'sort': 0.010}, hostname='0123456789ag', cpu_model_name='EPYC')
    check('EPYC (0123456789ag)' in trend(history.root), 'another name')


def check_failed(history):
    """A result of google-benchmark in which all failed has no point."""
    for day in range(14):
        row = {'name': 'BM_a', 'run_name': 'BM_a', 'run_type': 'iteration', 'iterations': 9, 'real_time': 20.0 + day % 2,
               'cpu_time': 20.0, 'time_unit': 'ns'}
        if day == 5:
            row = {'name': 'BM_a', 'run_name': 'BM_a', 'run_type': 'iteration', 'error_occurred': True,
                   'error_message': 'no device'}
        (history.root / f'{day:02}.json').write_text(json.dumps({
            'context': {'date': f'2026-01-{1 + day:02}T10:00:00+00:00', 'host_name': '', 'executable': 'a'},
            'benchmarks': [row]}))
    text = trend(history.root, says='05.json:')
    check('13 results' in text, text)
    trend(history.root / '05.json', status=1, says='all in it failed or was skipped')


def check_late(history):
    """A result that comes in between later is said, and the levels are those of the new order."""
    for day in range(24):
        history.add(day, {'sort': 0.010 if day < 12 else 0.011}, commit_date=f'2025-03-{1 + day:02} 00:00:00')
    found, = trends(history.root)
    equal(found['late'], 0, 'in order')
    check('note:' not in trend(history.root), 'in order')
    late = history.add(40, {'sort': 0.010}, commit_date='2025-03-05 12:00:00')
    found, = trends(history.root)
    equal((found['late'], found['points'][5]['file'], found['levels'][1]['first']), (1, str(late), 13), 'late')
    check(f'note: 1 result was measured after one that follows, the last of them {late}: earlier looks did not '
          'have it there\n' in trend(history.root), trend(history.root))


def check_wandering(history):
    """A machine that wanders from day to day makes changes that are none, which is said."""
    wander = 0
    for day in range(100):
        wander = 0.7 * wander + history.draw.gauss(0, 1)
        history.add(day, {'sort': 0.010 * (1 + 0.03 * wander)})
    check(len(trends(history.root)[0]['levels']) > 1, 'its levels')
    check('note: beyond its levels each result is like the one before (correlation 0.' in trend(history.root),
          trend(history.root))


def check_earlier(history):
    """What was there at an earlier look, and is gone or has others between, is said."""
    for day in range(24):
        history.add(day, {'sort': 0.010, 'copy': 0.002})
    answer = history.root.parent / f'{history.root.name}-answer'
    answer.write_text(trend('--json', history.root))
    try:
        history.add(30, {'sort': 0.010})
        found = json.loads(trend('--json', '--earlier', answer, history.root))
        equal((found['gone'], found['between']), ([], []), 'one more')
        check('note:' not in trend('--earlier', answer, history.root), 'one more')
        (history.root / '890.json').unlink()
        late = history.add(5, {'sort': 0.010})
        for arguments in ((), ('-b', 'copy')):
            found = json.loads(trend('--json', '--earlier', answer, *arguments, history.root))
            equal((found['gone'], found['between']), (['890.json'], [] if arguments else [str(late)]), arguments)
        text = trend('--earlier', answer, history.root)
        # Each file once, in the order of the files, although two benchmarks of it came in between.
        more = history.add(4, {'sort': 0.010, 'copy': 0.002})
        found = json.loads(trend('--json', '--earlier', answer, history.root))
        equal(found['between'], sorted([str(late), str(more)]), 'two of two benchmarks')
        more.unlink()
        check('note: 1 of the results of the earlier look is gone: 890.json\nnote: 1 result came in between since the '
              f'earlier look: {late}\n' in text, text)
        for content, says in (('{"benchmarks": []}', 'is no answer of trend --json'), ('{', 'answer: ')):
            answer.write_text(content)
            trend('--earlier', answer, history.root, status=1, says=says)
    finally:
        answer.unlink()
    trend('--earlier', answer, history.root, status=1, says='No such file')


def check_together(history):
    """Many histories that are looked at together, whether or not they are shown, need clearer changes."""
    names = [f'other-{number}' for number in range(60)]
    for day in range(16):
        history.add(day, {'sort': 0.010 if day < 8 else 0.011, **{name: 0.002 for name in names}})
    answer = json.loads(trend('--json', '-b', 'sort', history.root))
    equal((answer['together'], answer['trends'][0]['enough'], len(answer['trends'][0]['levels'])), (61, False, 1),
          'of many')
    for path in history.root.iterdir():
        result = json.loads(path.read_text())
        del result['benchmarks'][1:]
        path.write_text(json.dumps(result))
    answer = json.loads(trend('--json', '-b', 'sort', history.root))
    equal((answer['together'], answer['trends'][0]['enough'], len(answer['trends'][0]['levels'])), (1, True, 2),
          'alone')


def check_zones(history):
    """Dates of commits are those of UTC, in whatever zone and form they are written."""
    for day in range(24):
        zone = ('+01:00', '-0800', 'Z', '')[day % 4]
        history.add(40 - day, {'sort': 0.010 if day < 12 else 0.011},
                    commit_date=f'2025-03-{1 + day:02}{"T "[day // 2 % 2]}12:00:00{zone}')
    found, = trends(history.root)
    equal([found['levels'][1]['first'], found['points'][12]['date'], found['points'][13]['date'],
           found['points'][14]['date']],
          [12, '2025-03-13 11:00:00', '2025-03-14 20:00:00', '2025-03-15 12:00:00'], 'in UTC')
    for since, status in (('2025-03-13 11:00', 3), ('2025-03-13T12:00:00+01:00', 3),
                          ('2025-03-13 11:00:01', 0), ('2025-03-13T12:00:00+00:30', 0)):
        trend('--fail-worse', 5, '--since', since, history.root, status=status)


def check_unreadable_date(history):
    """git's default form begins with the day of the week, which is no order."""
    for day in range(24):
        history.add(day, {'sort': 0.010 if day < 12 else 0.011},
                    commit_date=f'{("Mon", "Tue", "Wed")[day % 3]} Mar {1 + day} 12:00:00 2025 +0100')
    equal([level['first'] for level in trends(history.root)[0]['levels']], [0, 12], 'by the runs')
    trend('--fail-worse', 5, '--since', '2026-01-02', history.root, status=3,
          says='warning: sort: in the order of the first runs, for the commit_date of')


def check_no_date(history):
    """A change of which nobody knows when it was is no change before --since."""
    for day in range(24):
        path = history.add(day, {'sort': 0.010 if day < 12 else 0.011})
        result = json.loads(path.read_text())
        for run in result['benchmarks'][0]['runs']:
            del run['metadata']
        path.rename(history.root / f'{day:02}.json').write_text(json.dumps(result))
    trend('--fail-worse', 5, '--since', '2026-11-20', history.root, status=3, says='an unknown date')


def check_control(history):
    """The machine is 8 % slower on some days, and so is the control: that is no change. At last, the
    program alone is 3 % slower."""
    for day in range(30):
        slow = 1.08 if 10 <= day < 20 else 1
        path = history.add_beside(day, 0.010 * slow * (1.03 if day >= 24 else 1), 0.008 * slow,
                                  'runpinned-control 64', quiesce_interleaved=2, quiesce_clock='kernel')
        result = json.loads(path.read_text())
        for at, benchmark in enumerate(result['benchmarks']):
            for order, run in enumerate(benchmark['runs']):
                run['metadata'].update(quiesce_start=2.0 * order + at, quiesce_order_seed=7)
        path.write_text(json.dumps(result))
    found, = trends(history.root)
    equal((found['by_control'], [level['first'] for level in found['levels']]), (True, [0, 24]),
          f'{found["levels"]}')
    equal((found['control_slope'], found['left_out']), (1, 0), found)
    trend('-b', 'control', history.root, status=1, says="trend: 'control' is a control, which has no history")
    # A result with another control: by the values.
    path = history.add(31, {'sort': 0.0103}, cpu_model_name='EPYC', quiesce_clock='kernel')
    found, = trends(history.root)
    equal((found['by_control'], len(found['levels']) > 2), (False, True), 'without')


def check_sensitive(history):
    """The machine slows the program down half as much as its control, for days on end: that is no change of
    the program. One that comes together with one of the control is left out."""
    draw = random.Random(3)
    for day in range(40):
        slow = draw.gauss(0, 0.03) + (0.1 if day >= 20 else 0)
        history.add_beside(day, 0.010 * (1 + slow / 2), 0.008 * (1 + slow),
                           quiesce_interleaved=2, quiesce_clock='kernel', quiesce_order_seed=7)
    found, = trends(history.root)
    equal((found['by_control'], len(found['levels'])), (True, 1), found['levels'])
    check(0.4 < found['control_slope'] < 0.65, found['control_slope'])
    text = trend(history.root)
    check('note: the machine slows it down 0.5' in text and ' times as much as its control' in text, text)
    trend('--fail-worse', 1, history.root)


def check_left_out(history):
    """The program changes on the day on which its control does."""
    for day in range(40):
        history.add_beside(day, 0.010 if day < 20 else 0.0105, 0.008 if day < 20 else 0.0088,
                           quiesce_interleaved=2, quiesce_clock='kernel', quiesce_order_seed=7)
    found, = trends(history.root)
    equal((found['left_out'], len(found['levels'])), (1, 1), found)
    text = trend(history.root)
    check('note: 1 change is left out, which may be what a change of the control leaves\n' in text, text)


def check_clock(history):
    """Another clock is another history: what a program takes by it differs, with a control or without."""
    for day in range(32):
        user = day >= 16
        history.add_beside(day, 0.0018 if user else 0.001, 0.0058 if user else 0.005,
                           'runpinned-control 64', quiesce_clock='user' if user else 'kernel',
                           quiesce_order_seed=7)
    found = {(each['clock'], each['by_control'], len(each['points']), len(each['levels']))
             for each in trends('--fail-worse', 5, history.root)}
    equal(found, {('kernel', True, 16, 1), ('user', True, 16, 1)}, 'by their control')
    text = trend(history.root)
    check('sort on EPYC, clock kernel: 16 results by their control, 0 changes\n' in text, text)
    for path in history.root.iterdir():
        result = json.loads(path.read_text())
        del result['benchmarks'][1]
        path.write_text(json.dumps(result))
    equal([len(each['levels']) for each in trends('--fail-worse', 5, history.root)], [1, 1], 'by their values')


def check_merged(history):
    """A result of several machines is of none of them."""
    for day in range(12):
        history.add(day, {'sort': 0.010}, hostname='a')
        path = history.add(day, {'sort': 0.020})
        result = json.loads(path.read_text())
        for at, run in enumerate(result['benchmarks'][0]['runs']):
            run['metadata']['quiesce_hostname'] = 'abc'[at // 5]
        path.write_text(json.dumps(result))
    equal({each['machine']: (len(each['points']), len(each['levels'])) for each in trends(history.root)},
          {'a': (12, 1), '3 machines': (12, 1)}, 'machines')


def check_nothing(history):
    """Files without a value are no history without a change."""
    for at in range(12):
        (history.root / f'{at}.json').write_text(json.dumps({'version': '1.0', 'benchmarks': [
            {'metadata': {'name': 'sort', 'unit': 'second'},
             'runs': [{'warmups': [[1, 0.01]], 'metadata': {'calibrate_warmups': 1}}]}]}))
    for arguments in (), ('--json',), ('--fail-worse', 3), ('-b', 'sort'):
        equal(trend(*arguments, history.root, status=1, says='the files have no values'), '', arguments)


def check_refused(history):
    empty = history.root / 'empty'
    empty.mkdir()
    for arguments, status, says in (
            ((), 2, 'no file is named'),
            ((empty,), 1, 'no result there ends in .json'),
            ((history.root / 'no-such',), 1, 'No such file'),
            (('--since', 'yesterday', empty), 2, '--since: '),
            (('--since', '2026-1-1', empty), 2, '--since: '),
            (('--since', '2026-99-99', '--fail-worse', 3, empty), 2, '--since: '),
            (('--since', '2026-11-31', '--fail-worse', 3, empty), 2, '--since: '),
            (('--since', '2026-11-20 10', '--fail-worse', 3, empty), 2, '--since: '),
            (('--since', '2026-11-20 10:00+1', '--fail-worse', 3, empty), 2, '--since: '),
            (('--since', '2026-11-20 10:00 ', '--fail-worse', 3, empty), 2, '--since: '),
            (('--since', '2026-11-20 25:00', '--fail-worse', 3, empty), 2, '--since: '),
            (('--since', '2026-11-20', empty), 2, '--fail-worse'),
            (('--fail-worse', 'x', empty), 2, '--fail-worse: '),
            (('--table', empty), 2, 'trend does not take --table')):
        trend(*arguments, status=status, says=says)
    history.add(1, {'sort': 1})
    trend('-b', 'x', history.root, status=1, says="no benchmark is named 'x'")
    check('too few to find changes: that takes 13' in trend(history.root), 'too few')
    (history.root / 'broken.json').write_text('{')
    trend(history.root, status=1, says='broken.json:')


run_tests((function.__name__[6:], with_history(function)) for function in (
    check_change, check_better, check_rate, check_below_zero, check_machines, check_named_machines, check_order,
    check_containers, check_failed, check_late, check_wandering, check_earlier, check_together, check_zones, check_unreadable_date, check_no_date, check_control,
    check_sensitive, check_left_out, check_clock, check_merged, check_nothing, check_refused))
