#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench-report plot: the files that it writes, and what it refuses. How a picture looks cannot be tested
here; the tests check that it is a picture of the right size with each sample in it, that no text is on
another one, and that a real browser (Chromium) shows the page in light and dark without an error."""

import html.parser
import json
import math
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import tempfile
import xml.etree.ElementTree

import machine
from machine import check, equal

REPORT = os.environ['BENCH_REPORT']
SCRATCH = tempfile.TemporaryDirectory(prefix='plot.')
HOSTILE = '<script>alert("x")</script> & \'co\''


def scratch(name):
    return pathlib.Path(SCRATCH.name, name)


def plot(*arguments, status=0, said=False):
    """Returns what plot printed on standard error; with `said`, also on standard output."""
    result = subprocess.run([REPORT, 'plot', *map(str, arguments)], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, env={**os.environ, 'LC_ALL': 'C'},
                            timeout=60, check=False)
    equal(result.returncode, status, f'status ({result.stderr!r})')
    if said:
        return result.stderr, result.stdout
    equal(result.stdout, '', 'nobody asked for it')
    return result.stderr


def drawn(*arguments):
    """What --json says was drawn."""
    errors, output = plot('--json', *arguments, said=True)
    equal(errors, '', 'errors')
    machine.hold_to_schema(['plot'], output)
    return json.loads(output)


def benchmark(name, values, *, warmup=None, flags=None, temperature=None, **metadata):
    runs = []
    if warmup is not None:
        runs.append({'warmups': [[1, warmup]], 'metadata': {'calibrate_warmups': 1}})
    for at, value in enumerate(values):
        more = {}
        if flags and flags[at]:
            more['quiesce_flags'] = flags[at]
        if temperature:
            more['quiesce_temperature_after'] = temperature[at]
        runs.append({'values': [value], 'metadata': more})
    return {'metadata': {'name': name, 'unit': 'second', **metadata}, 'runs': runs}


def write(name, *benchmarks):
    path = scratch(name)
    path.write_text(json.dumps({'version': '1.0', 'benchmarks': benchmarks}), encoding='utf-8')
    return path


class Page(html.parser.HTMLParser):
    """The parts of a page that the tests need: its tags, anchors and links, the titles of the spots, and its
    text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.titles, self.text, self.found = [], [], [], None
        self.ids, self.links, self.narrow = [], [], False
        self.open = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ('meta', 'img', 'br'):
            self.open.append(tag)
        if tag == 'figure':
            self.narrow = dict(attrs).get('class') == 'narrow'
        self.ids += [value for key, value in attrs if key == 'id']
        self.links += [value for key, value in attrs if key == 'href']
        if tag == 'body':
            self.found = json.loads(dict(attrs).get('data-found', 'null'))

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        equal(self.open.pop(), tag, 'closed in order')

    def handle_data(self, data):
        # A picture is there twice, for windows of either width.
        if self.open[-2:] == ['circle', 'title'] and not self.narrow:
            self.titles.append(data)
        self.text.append(data)


def test_svg():
    out = scratch('one.svg')
    plot('-o', out, write('one.json', benchmark('a', [1, 1.1, 1.2])))
    root = xml.etree.ElementTree.parse(out).getroot()
    check(root.tag.endswith('svg'), root.tag)
    equal([re.sub('px$', '', root.get(key)) for key in ('width', 'height')], ['1000', '600'], 'size')


def test_png():
    out, source = scratch('one.png'), write('one.json', benchmark('a', [1, 1.1, 1.2]))
    plot('-o', out, source)
    data = out.read_bytes()
    check(data.startswith(b'\x89PNG\r\n\x1a\n'), data[:8])
    equal(struct.unpack('>II', data[16:24]), (2000, 1200), 'two pixels a point')
    plot('-o', out, '--size', '400x300', source)
    equal(struct.unpack('>II', out.read_bytes()[16:24]), (800, 600), 'as asked for')


def test_page():
    out = scratch('page.html')
    source = write('page.json', benchmark('a', [1, 1.1, 1.2, 1.1], warmup=2, temperature=[50, 51, 52, 53],
                                          flags=['', 'irq', '', ''], cpu_model_name='Model X'))
    plot('-o', out, source)
    page = Page(out.read_text(encoding='utf-8'))
    equal(page.open, [], 'tags left open')
    equal(len(page.titles), 5, 'spots')
    equal(page.titles[0], 'warm-up 1: 2.000 s', 'the warm-up')
    equal(page.titles[2], 'run 2: 1.100 s, 51 \u00b0C, irq', 'a disturbed run')
    check('a: median 1.100 s, 4 runs' in page.text, f'the legend is no text: {page.text}')
    check('Model X' in ''.join(page.text), 'the machine is missing')
    equal(set(re.findall(r'(?:href|src|url|xmlns)\W+(http[^"]*)', out.read_text(encoding='utf-8'))),
          {'http://www.w3.org/2000/svg'}, 'what the page names but does not need')


def test_hostile_names():
    out = scratch('hostile.html')
    source = write('hostile.json', benchmark(HOSTILE, [1, 2], note=HOSTILE),
                   benchmark('\x1b[31mred', [1, 2]))
    plot('-o', out, source)
    text = out.read_text(encoding='utf-8')
    page = Page(text)
    check('script' not in page.tags, 'a tag came through')
    check(HOSTILE in page.text, 'the name is not shown as it is')
    check('\x1b' not in text, 'control characters came through')
    plot('-o', scratch('hostile.svg'), '-b', HOSTILE, source)
    xml.etree.ElementTree.parse(scratch('hostile.svg'))


def test_several_files():
    old, new = write('old.json', benchmark('a', [1, 2])), write('new.json', benchmark('a', [3, 4]))
    out = scratch('files.html')
    plot('--by', 'run', '-o', out, old, new)
    page = Page(out.read_text(encoding='utf-8'))
    equal(page.tags.count('section'), 1, 'pictures')
    equal([title.split(',')[0] for title in page.titles], [str(old)] * 2 + [str(new)] * 2, 'files')


def test_rivals_are_one_picture():
    rivals = {'quiesce_interleaved': 'a, b', 'quiesce_order_seed': 1}
    source = write('rivals.json', benchmark('a', [1, 2], **rivals), benchmark('b', [3, 4], **rivals))
    for by, kind in (('run', 'samples'), ('change', 'comparison')):
        picture, = drawn('--by', by, '-o', scratch('rivals.svg'), source)['pictures']
        equal(picture['kind'], kind, by)


def test_magnitudes():
    """What takes seconds and what takes microseconds have no axis in common, in a picture or in a page."""
    rivals = {'quiesce_interleaved': 'a, b', 'quiesce_order_seed': 1}
    source = write('sizes.json', benchmark('slow', [5, 5.01, 5.02], **rivals),
                   benchmark('fast', [2e-6, 2.01e-6, 2.02e-6], **rivals))
    out = scratch('sizes.html')
    plot('-o', out, '--by', 'run', source)
    page = Page(out.read_text(encoding='utf-8'))
    equal(page.tags.count('section'), 2, 'sections')
    check('fast: median 2.010 us, 3 runs' in page.text, f'the legend: {page.text}')
    equal(page.titles[-1], 'run 3: 2.020 us', 'a sample')
    # Whole runs of 82 ms beside what they measured themselves, which takes 0.5 ns.
    values = [{**rivals, 'quiesce_stamps': 'program'} if ': ' in name else rivals
              for name in ('old', 'new', 'old: v', 'new: v')]
    source = write('lookup.json', *(
        benchmark(name, [(0.5e-9 if ': ' in name else 0.082) * (1 + at / 100) for at in range(9)], warmup=1, **more)
        for name, more in zip(('old', 'new', 'old: v', 'new: v'), values, strict=True)))
    pictures = drawn('--by', 'run', '-o', scratch('lookup.svg'), source)['pictures']
    equal([[series['name'] for series in each['series']] for each in pictures],
          [['old', 'new'], ['old: v', 'new: v']], 'who shares an axis')
    check(pictures[1]['axes']['value']['high'] < 1e-9, pictures[1]['axes'])


def test_several_names():
    """Each name has a picture of its own in the file, or there is no room, and that is said."""
    out = scratch('names.svg')
    source = write('names.json', benchmark('a', [1, 2]), benchmark('b', [3, 4]), benchmark('c', [1e-6] * 9))
    equal([each['title'] for each in drawn('-o', out, source)['pictures']], ['a', 'b', 'c'], 'pictures')
    found = check_texts(out, 'three names')
    at = {text: (left, top) for text, left, top, _, _ in found if text in 'abc'}
    equal(len({left for left, _ in at.values()}), 2, f'columns: {at}')
    equal(len({top for _, top in at.values()}), 2, f'rows: {at}')
    out.write_text('kept', encoding='utf-8')
    said = plot('-o', out, '--size', '400x300', source, status=1)
    check('3 pictures' in said and '-b' in said and said.count('\n') == 1, said)
    equal(out.read_text(encoding='utf-8'), 'kept', 'the old file')
    plot('-o', out, '-b', 'b', '--size', '400x300', source)
    check(out.read_text(encoding='utf-8') != 'kept', 'not written')
    plot('-o', scratch('names.html'), source)
    equal(Page(scratch('names.html').read_text(encoding='utf-8')).tags.count('section'), 3, 'sections')


def test_pyperf_runs_of_several_values():
    """Warm-ups within a run have no place on the axis; a level begins with a run's first value."""
    runs = [{'warmups': [[1, 9.0]], 'values': [1.0 + run / 1000 + at / 10000 for at in range(3)]}
            for run in range(10)]
    runs += [{'values': [2.0 + run / 1000 + at / 10000 for at in range(3)]} for run in range(10)]
    source = write('pyperf.json', {'metadata': {'name': 'p'}, 'runs': runs})
    out = scratch('pyperf.html')
    plot('-o', out, source)
    page = Page(out.read_text(encoding='utf-8'))
    equal(len(page.titles), 60, 'spots')
    equal(page.titles[0], 'value 1: 1.000 s', 'the first')
    equal(page.titles[59], 'value 60: 2.009 s', 'the last')


def test_many_values():
    values = [0.001 + (at * 7919 % 1000) / 1e7 for at in range(100000)]
    out = scratch('many.svg')
    plot('-o', out, write('many.json', {'metadata': {'name': 'm'}, 'runs': [{'values': values}]}))
    check(out.stat().st_size < 2 << 20, 'the picture grows with the values')


def test_json():
    source = write('json.json', benchmark('a', [1, 1.1, 1.2, 1.1], warmup=2, cpu_model_name='Model X',
                                          temperature=[50, 51, 52.25, 53],
                                          flags=['', 'preempted,irq', '', '']))
    out = scratch('json.png')
    result = drawn('-o', out, '--size', '800x500', source)
    check(out.read_bytes().startswith(b'\x89PNG'), 'the picture is there, too')
    picture, = result.pop('pictures')
    equal(result, {'output': str(out), 'format': 'png', 'width': 800, 'height': 500,
                   'pixels_per_point': 2}, 'the sheet')
    series, = picture.pop('series')
    axes = picture.pop('axes')
    equal(picture, {'kind': 'samples', 'title': 'a', 'subtitle': 'Model X', 'unit': 'second', 'metric': None,
                    'entry': 'run', 'below': 0, 'above': 0}, 'the picture')
    equal(axes['order'], {'low': -0.5, 'high': 4.5, 'unit': 'run'}, 'the order')
    equal(axes['value']['unit'], 'second', 'unit of the values')
    check(0.9 < axes['value']['low'] < 1 and 1.2 < axes['value']['high'] < 1.3, axes)
    equal(axes['temperature']['unit'], 'degree Celsius', 'unit of the temperature')
    check(axes['temperature']['low'] < 50 and axes['temperature']['high'] > 53, axes)
    equal(axes['frequency'], None, 'nothing is known of it')
    samples = series.pop('samples')
    equal(series, {'file': str(source), 'name': 'a', 'label': 'a', 'color': '#0073b3', 'values': 4,
                   'warmups': 1, 'disturbed': 1, 'median': 1.1,
                   'levels': [{'first': 1, 'last': 4, 'median': 1.1}]}, 'the series')
    equal([(each['number'], each['warmup'], each['value']) for each in samples],
          [(0, True, 2), (1, False, 1), (2, False, 1.1), (3, False, 1.2), (4, False, 1.1)], 'samples')
    equal([each['flags'] for each in samples], [[], [], ['preempted', 'irq'], [], []], 'flags')
    equal([each['temperature'] for each in samples], [None, 50, 51, 52.25, 53], 'temperatures')
    equal({each['frequency'] for each in samples}, {None}, 'frequencies')


def test_json_is_what_is_drawn():
    """Outliers at the edge, levels of runs with several values, a panel without enough room."""
    values = [1 + at % 10 / 1000 for at in range(100)]
    values[50] = 1000
    edge = benchmark('a', values, temperature=[50.0] * 100)
    for run in edge['runs']:
        run['metadata']['quiesce_frequency_khz'] = 2000000
    source = write('edge.json', edge)
    picture, = drawn('-o', scratch('edge.svg'), source)['pictures']
    equal((picture['below'], picture['above']), (0, 1), 'beyond the edges')
    check(picture['axes']['value']['high'] < 2, 'the axis')
    check(picture['axes']['temperature'] and picture['axes']['frequency'], 'both rows')
    equal({each['frequency'] for each in picture['series'][0]['samples']}, {2e9}, 'hertz')
    small, = drawn('-o', scratch('edge.svg'), '--size', '320x200', source)['pictures']
    equal(small['axes']['temperature'], None, 'a row that had no room')
    equal(small['axes']['frequency']['unit'], 'hertz', 'one that had')
    runs = [{'values': [level + run / 1000 + at / 10000 for at in range(3)]}
            for level in (1, 2) for run in range(10)]
    source = write('steps.json', {'metadata': {'name': 'p', 'unit': 'byte'}, 'runs': runs})
    picture, = drawn('-o', scratch('steps.svg'), source)['pictures']
    equal((picture['unit'], picture['entry']), ('byte', 'value'), 'what it shows')
    levels = picture['series'][0]['levels']
    equal([(each['first'], each['last']) for each in levels], [(1, 30), (31, 60)], 'levels')
    check(levels[0]['median'] < 1.1 and levels[1]['median'] > 1.9, levels)


def test_waiting():
    """A part of the run, which several tasks together cannot make larger than the whole."""
    source = benchmark('a', [2.0] * 10)
    for at, run in enumerate(source['runs']):
        run['metadata'].update(quiesce_window_user=2.0, quiesce_run_delay=at / 2)
    picture, = drawn('-o', scratch('waiting.svg'), write('waiting.json', source))['pictures']
    check(picture['axes']['waiting'], 'the row')
    equal([each['waiting'] for each in picture['series'][0]['samples']],
          [0, 0.25, 0.5, 0.75, *[1] * 6], 'waiting')


def test_json_of_several():
    old, new = (write(name, benchmark('a', [1, 2]), benchmark(HOSTILE, [3, 4]))
                for name in ('old.json', 'new.json'))
    result = drawn('--by', 'run', '-o', scratch('several.html'), old, new)
    equal(result['format'], 'html', 'format')
    equal([picture['title'] for picture in result['pictures']], ['a', HOSTILE], 'titles')
    for picture in result['pictures']:
        equal([series['label'] for series in picture['series']], [str(old), str(new)], 'labels')
        equal(len({series['color'] for series in picture['series']}), 2, 'colours')


def test_json_that_cannot_be_written():
    source = write('full.json', benchmark('a', [1, 2]))
    with open('/dev/full', 'w', encoding='utf-8') as full:
        result = subprocess.run([REPORT, 'plot', '--json', '-o', scratch('full.svg'), source],
                                stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    equal(result.returncode, 1, 'status')
    check('No space left on device' in result.stderr and result.stderr.count('\n') == 1,
          result.stderr)


SVG = '{http://www.w3.org/2000/svg}'


def each_text(element, x=0.0, y=0.0):
    """Each text of a picture with where its origin is: a picture in a picture has one of its own, and what is
    clipped has not."""
    if element.tag == f'{SVG}svg' and not element.get('viewBox'):
        x, y = x + float(element.get('x')), y + float(element.get('y'))
    if element.tag == f'{SVG}text':
        yield element, x, y
    for child in element:
        yield from each_text(child, x, y)


def boxes(path):
    """(text, left, top, right, bottom) of each text of a picture."""
    found = []
    for text, from_x, from_y in each_text(xml.etree.ElementTree.parse(path).getroot()):
        x, y, size, width = (float(text.get(key)) for key in ('x', 'y', 'font-size', 'textLength'))
        x, y = x + from_x, y + from_y
        before = width * {'start': 0, 'middle': 0.5, 'end': 1}[text.get('text-anchor')]
        # Most letters have nothing below the line, and capitals are three quarters of the size.
        along, across = (-before, width - before), (-0.75 * size, 0)
        if text.get('transform'):
            found.append((text.text, x + across[0], y - along[1], x, y - along[0]))
        else:
            found.append((text.text, x + along[0], y + across[0], x + along[1], y))
    return found


def overlaps(found):
    """Pairs of texts of which one is on the other; half a point is not seen."""
    return [(one[0], other[0]) for at, one in enumerate(found) for other in found[:at]
            if one[1] < other[3] - 0.5 and other[1] < one[3] - 0.5
            and one[2] < other[4] - 0.5 and other[2] < one[4] - 0.5]


def check_texts(path, what):
    found = boxes(path)
    equal(overlaps(found), [], f'{what}: texts on each other')
    _, _, width, height = map(float, xml.etree.ElementTree.parse(path).getroot().get('viewBox').split())
    outside = [box for box in found if box[1] < 0 or box[2] < 0 or box[3] > width or box[4] > height]
    equal(outside, [], f'{what}: texts beyond the edge')
    return found


SIZES = ('320x200', '480x320', '1000x600')


def test_no_text_is_on_another():
    check(overlaps([('a', 0, 0, 10, 10), ('b', 9, 9, 20, 20)]), 'the test sees nothing')
    rivals = {'quiesce_interleaved': 'a, b, c', 'quiesce_order_seed': 1}
    for period in (20, 50, 150, 290):
        source = write('steps.json', *(
            benchmark(name, [(1 + factor / 50) * (1.1 if at // period % 2 else 1) * (1 + at % 7 / 1000)
                             for at in range(300)], warmup=1, **rivals)
            for factor, name in enumerate('abc')))
        for size in SIZES:
            out = scratch('steps.svg')
            plot('-o', out, '--size', size, source)
            check_texts(out, f'{size}, comparisons of {period}')
            plot('--by', 'run', '-o', out, '--size', size, source)
            found = check_texts(out, f'{size}, steps of {period}')
    # A label near the right end is placed to the left of its change of level.
    check([box for box in found if box[0].startswith('run 291: ')], f'no label: {found}')


def test_long_numbers():
    """The panel begins where the longest number ends, which is beside the unit and not beyond the edge."""
    for values, unit, wish in (([10.0, 10.2, 10.4] * 3, 'ns', '10200000000'),
                               ([3e14, 3.1e14, 3.2e14] * 3, 's', '3.1e+14'),
                               ([1e-7, 1.00001e-7] * 5, 's', '9.94e-08'),
                               ([1.0, 1.1, 1.2] * 3, 's', '1.10')):
        source = write('long.json', benchmark('a', values))
        for size in SIZES:
            out = scratch('long.svg')
            plot('-o', out, '--unit', unit, '--size', size, source)
            texts = [box[0] for box in check_texts(out, f'{wish}, {size}')]
            check(size != '1000x600' or wish in texts, f'{wish} is not in {texts}')


def many_files(n):
    draw = random.Random(2)
    for at in range(n):
        yield write(f'a-name-that-is-rather-long-for-a-legend-{at}.json', benchmark(
            'parser', [(1 + at / 80) * draw.gauss(1, 0.01) for _ in range(50)], warmup=1.2,
            temperature=[50 + at] * 50, flags=['irq' if run % 20 == at else '' for run in range(50)]))


def test_one_to_ten_files():
    for n in range(1, 11):
        sources = list(many_files(n))
        for size in SIZES:
            out = scratch('ten.svg')
            if n > 1:
                kind = drawn('-o', out, '--size', size, *sources)['pictures'][0]['kind']
                equal(kind, 'comparison' if n == 2 else 'comparisons', f'{n} files')
                check_texts(out, f'{n} files compared, {size}')
            series = drawn('--by', 'run', '-o', out, '--size', size, *sources)['pictures'][0]['series']
            equal(len({each['color'] for each in series}), n, 'colours')
            texts = [box[0] for box in check_texts(out, f'{n} files, {size}')]
            for at in range(n):
                check(any(re.search(rf'(?:legend|\.\.\.).*-{at}\.json', text) for text in texts)
                      or n == 1, f'file {at} of {n} has no name at {size}: {texts}')


def test_short_beside_long():
    """Of few samples each one is drawn, and columns of more are not narrower than a point, whatever is
    beside them."""
    def shapes(shape, color):
        return [each for each in xml.etree.ElementTree.parse(out).iter(
            f'{SVG}{shape}') if each.get('fill') == color]

    out = scratch('both.svg')
    long = write('long.json', benchmark('a', [1 + at % 97 / 1000 for at in range(20000)]))
    for n in 25, 400, 2000:
        short = write('short.json', benchmark('a', [1.2 + at % 7 / 1000 for at in range(n)]))
        plot('--by', 'run', '-o', out, long, short)
        circles, columns = shapes('circle', '#e69e00'), shapes('rect', '#e69e00')
        # One more is in the legend.
        equal(len(circles), n + 1 if n < 2000 else 1, f'samples of {n}')
        # The histograms are at the right. A column is two rectangles: the range, and its inner half.
        widths = [float(each.get('width')) for each in columns if float(each.get('x')) < 700]
        check(65 <= len(widths) / 2 <= 80 if n == 2000 else not widths, f'{len(widths)} columns of {n}')
        check(all(1 <= width < 2 for width in widths), f'columns of {n}: {widths}')
        check(shapes('rect', '#0073b3'), 'no columns of the long one')


def test_what_is_disturbed():
    """Rings around a few runs; where most are disturbed, words and a strip in their place."""
    def rings(path):
        return [circle for circle in xml.etree.ElementTree.parse(path).iter(
            f'{SVG}circle') if circle.get('stroke') == '#d64000']

    out = scratch('rings.svg')
    some = benchmark('a', [1, 1.1, 1.2, 1.1], flags=['', 'irq', '', ''])
    every = benchmark('b', [1, 1.1, 1.2, 1.1], flags=['irq'] * 4)
    plot('-o', out, write('some.json', some))
    equal(len(rings(out)), 2, 'a ring, and one in the legend')
    check('1 of 4 runs disturbed: irq 1' in [box[0] for box in boxes(out)], boxes(out))
    plot('-o', out, write('every.json', every))
    equal(len(rings(out)), 0, 'rings')
    check('all 4 runs disturbed: irq 4' in [box[0] for box in boxes(out)], boxes(out))
    rivals = {'quiesce_interleaved': 'a, b', 'quiesce_order_seed': 1}
    for each in some, every:
        each['metadata'].update(rivals)
    plot('--by', 'run', '-o', out, write('both.json', some, every))
    equal(len(rings(out)), 2, 'a ring of the one that has other runs, and one in the legend')
    check('b: median 1.100 s, 4 runs, all disturbed' in [box[0] for box in boxes(out)], boxes(out))
    many = benchmark('a', [1 + at % 9 / 1000 for at in range(3000)], flags=['irq'] * 3000)
    plot('-o', out, write('many.json', many))
    check('#d64000' not in out.read_text(encoding='utf-8'), 'all columns are marked')
    most = benchmark('a', [1 + at % 9 / 1000 for at in range(40)], flags=['irq' if at % 10 else '' for at in range(40)])
    plot('-o', out, write('most.json', most))
    check('36 of 40 runs disturbed: irq 36' in [box[0] for box in boxes(out)], boxes(out))
    equal(len(rings(out)), 0, 'rings around most')
    low = [rect for rect in xml.etree.ElementTree.parse(out).iter(f'{SVG}rect')
           if rect.get('height') == '5.00' and rect.get('fill') == '#0073b3']
    equal(len(low), 36, 'the strip has the disturbed ones')


def test_long_warm_up():
    """A warm-up of many runs takes no more than a fifth of the axis."""
    runs = [{'warmups': [[1, 9.0]], 'metadata': {'calibrate_warmups': 1}} for _ in range(60)]
    source = write('long-warm.json', {'metadata': {'name': 'a', 'unit': 'second'}, 'runs': [
        *runs, *({'values': [1 + at / 100]} for at in range(40))]})
    picture, = drawn('-o', scratch('long-warm.svg'), source)['pictures']
    equal(picture['axes']['order'], {'low': -9.5, 'high': 40.5, 'unit': 'run'}, 'the axis')
    check('warm-up, the last 10 of 60' in [box[0] for box in boxes(scratch('long-warm.svg'))], 'not said')


def test_warm_up_is_named():
    for warmup in None, 1.0:
        out = scratch('warm.svg')
        plot('-o', out, write('warm.json', benchmark('a', [1.0] * 100, warmup=warmup)))
        equal('warm-up' in [box[0] for box in boxes(out)], warmup is not None, 'its name')


def test_median_has_its_colour():
    dashed = [path.get('stroke') for name in ('a', 'b') for path in xml.etree.ElementTree.fromstring(
        drawn_svg(name)).iter(f'{SVG}path') if path.get('stroke-dasharray')]
    equal(dashed, ['#0073b3', '#e69e00'] * 2, 'medians')


def drawn_svg(name):
    rivals = {'quiesce_interleaved': 'a, b', 'quiesce_order_seed': 1}
    out = scratch(f'{name}.svg')
    plot('--by', 'run', '-o', out,
         write('median.json', benchmark('a', [1] * 9, **rivals), benchmark('b', [2] * 9, **rivals)))
    return out.read_text(encoding='utf-8')


# --- Comparisons ---

RIVALS = {'quiesce_interleaved': 'old, new', 'quiesce_baseline': 'old', 'quiesce_order_seed': 7}


def pair(factor, n=30, *, noise=0.01, seed=1, scale=1.0, flags=None, **metadata):
    """Two programs that were run in turn, the second of which takes `factor` times as long."""
    draw = random.Random(seed)
    machine_is = [draw.gauss(1, noise) for _ in range(n)]
    return [benchmark(name, [scale * times * at * draw.gauss(1, noise / 2) for at in machine_is], flags=flags,
                      **RIVALS, **metadata) for name, times in (('old', 1), ('new', factor))]


def report(*arguments, status=(0,)):
    result = subprocess.run([REPORT, *map(str, arguments)], stdin=subprocess.DEVNULL, check=False,
                            capture_output=True, text=True)
    check(result.returncode in status, f'{arguments}: {result.returncode}: {result.stderr}')
    return result.stdout


def test_change():
    """The picture of a comparison says what compare says, and how that came about."""
    out = scratch('change.svg')
    source = write('change.json', *pair(1.05, cpu_model_name='Model X'))
    picture, = drawn('-o', out, source)['pictures']
    said, = json.loads(report('compare', '--json', source))['comparisons']
    equal((picture['kind'], picture['verdict'], picture['subtitle']), ('comparison', 'slower', 'Model X'), 'kind')
    for ours, theirs in (('change', 'ratio'), ('low', 'ratio_low'), ('high', 'ratio_high')):
        check(abs(picture[ours] + 1 - said[theirs]) < 1e-9, (ours, picture[ours], said[theirs]))
    equal(picture['title'], report('compare', source).splitlines()[0], 'the title is the verdict')
    texts = [box[0] for box in check_texts(out, 'a comparison')]
    check(' '.join(texts).startswith(picture['title']), f'the title is not drawn: {texts}')
    for name, values in ((side, picture[side]['values']) for side in ('old', 'new')):
        equal(len(values), 30, f'runs of {name}')
    equal([round(each, 9) for each in picture['pairs']],
          [round(new / old - 1, 9) for old, new in zip(picture['old']['values'], picture['new']['values'],
                                                      strict=True)], 'pairs')
    steps = picture['estimates']
    equal([each['pairs'] for each in steps], list(range(1, 31)), 'a step for each of few pairs')
    equal((steps[0]['low'], steps[0]['high']), (None, None), 'one pair has no interval')
    equal({key: steps[-1][key] for key in ('change', 'low', 'high')},
          {key: picture[key] for key in ('change', 'low', 'high')}, 'the last one is the verdict')
    check(steps[-1]['high'] - steps[-1]['low'] < steps[9]['high'] - steps[9]['low'], 'it does not close in')
    check('each pair: new against old' in texts and 'pair' in texts, texts)


def test_tall():
    """A long axis has marks up to its end."""
    out = scratch('tall.svg')
    for source, number, tops in (
            (write('tall.json', *pair(1.05)), r'[+-][\d.]+ %', (72, 2028)),
            (write('tall-scan.json', *scan(lambda n: 1e-8 * n, sizes=range(10, 17))), r'[\d.]+ ns', (50,))):
        plot('-o', out, '--size', '1000x4000', source)
        marks = [box[2] for box in boxes(out) if re.fullmatch(number, box[0])]
        for top in tops:
            check(any(top - 10 < mark < top + 200 for mark in marks), f'no mark near {top}: {sorted(marks)}')


def decided(verdict, ratio, low, high, percent=2.0, **more):
    return {'quiesce_decide': percent, 'quiesce_decide_e_wanted': 100.0, 'quiesce_decide_e_slower': 120.0,
            'quiesce_decide_e_not_slower': 0.0, 'quiesce_decide_e_faster': 0.0, 'quiesce_decide_e_not_faster': 0.0,
            'quiesce_decide_ratio': ratio, 'quiesce_decide_ratio_low': low, 'quiesce_decide_ratio_high': high,
            'quiesce_decide_pairs': 30, 'quiesce_decide_settled_after': 30, 'quiesce_decide_verdict': verdict, **more}


def test_change_that_was_decided():
    """The interval and the margin are those of the gate; of a rate, worse is less."""
    out = scratch('decided.svg')
    old, new = pair(1.05)
    new['metadata'].update(decided('slower', 1.05, 1.04, 1.06))
    picture, = drawn('-o', out, write('decided.json', old, new))['pictures']
    equal(picture['verdict'], 'slower', 'the verdict')
    check('slower by more than 1 %: +5' in picture['title'], picture['title'])
    check(abs(picture['margin'] - 0.02) < 1e-9 and abs(picture['low'] - 0.04) < 1e-9, picture['margin'])
    texts = [box[0] for box in check_texts(out, 'a decision')]
    check('the change, its 98 % interval, margin 2 %' in texts, texts)
    new['metadata'].update(decided('not faster', 0.99, 0.98, 1.0, quiesce_decide_for='faster'))
    picture, = drawn('-o', out, write('improve.json', old, new))['pictures']
    check(abs(picture['margin'] + 0.02) < 0.001, picture['margin'])


def figures(name, values):
    """A program whose figure may be below 0."""
    b = benchmark(name, [1.0] * len(values), quiesce_metric='balance', quiesce_unit_balance='higher, EUR', **RIVALS)
    for run, value in zip(b['runs'], values, strict=True):
        run['metadata']['quiesce_event_balance'] = value
    return b


def test_changes_of_any_kind():
    """One run, equal values, values below 0, far outliers, long and hostile names: a picture of each, in any
    size, where no text is on another."""
    flags = ['irq' if at % 10 else '' for at in range(30)]
    far = pair(1.02)
    for at in 3, 9, 17:
        far[1]['runs'][at]['values'] = [40.0]
    named = pair(0.9)
    for each in named:
        each['metadata']['name'] += f' {HOSTILE} \u03c4\u4f60 ' + 'x' * 300
        each['metadata']['quiesce_baseline'] = named[0]['metadata']['name']
    cases = {'one': pair(1.1, 1), 'two': pair(1.1, 2), 'equal': pair(1, noise=0), 'step': pair(2, noise=0),
             'below': [figures(name, values) for name, values in (('old', [-1, 0, 2.0, 1]), ('new', [3, -2, 0.5, 2]))],
             'far': far, 'named': named, 'long': pair(1.01, 800), 'disturbed': pair(1.05, flags=flags),
             'tiny': pair(1.05, scale=5e-10), 'huge': pair(1.05, scale=3e5),
             'hot': pair(1.05, temperature_of=1)}
    for each in cases['hot']:
        for at, run in enumerate(each['runs']):
            run['metadata'].update(quiesce_temperature_after=50 + at % 3, quiesce_frequency_khz=2400000 + at)
    for name, benchmarks in cases.items():
        for size in (*SIZES, '600x800', '900x240'):
            picture, = drawn('-o', scratch('any.svg'), '--size', size, write(f'any-{name}.json', *benchmarks))[
                'pictures']
            check_texts(scratch('any.svg'), f'{name}, {size}')
            equal(picture['kind'], 'comparison', name)
            # On a smaller canvas the pairs are not drawn.
            if name == 'far' and size in ('1000x600', '600x800'):
                equal((picture['below'], picture['above']), (0, 3), 'beyond the axis')
                texts = [box[0] for box in boxes(scratch('any.svg'))]
                check(any(text.startswith('3 above, up to ') for text in texts), texts)
            equal(picture['difference'], name == 'below', f'differences of {name}')
        plot('-o', scratch('any.png'), scratch(f'any-{name}.json'))
        text = (plot('-o', scratch('any.html'), scratch(f'any-{name}.json')),
                scratch('any.html').read_text(encoding='utf-8'))[1]
        check('script' not in Page(text).tags, 'a tag came through')


def test_change_of_two_files():
    """Not in turn: the runs in order, no running estimate, and why it is unclear."""
    draw = random.Random(3)
    old, new = (write(f'{name}.json', benchmark('sort', [level * draw.gauss(1, 0.01) for _ in range(20)]))
                for name, level in (('before', 1.0), ('after', 1.002)))
    out = scratch('files.svg')
    picture, = drawn('-o', out, old, new)['pictures']
    equal((picture['pairs'], picture['estimates']), ([], []), 'pairs')
    equal([picture[side]['label'] for side in ('old', 'new')], [str(old), str(new)], 'labels')
    texts = [box[0] for box in check_texts(out, 'two files')]
    check('the runs in order, ms' in texts or 'the runs in order, s' in texts, texts)


def write_forest():
    draw = random.Random(5)
    return [write(f'{name}.json', *(benchmark(f'bench {at}', [
        10 ** (at - 9) * (1.3 if name == 'new' and at == 3 else 1) * draw.gauss(1, 0.01) for _ in range(12)])
        for at in range(12)), benchmark(f'only {name}', [1.0] * 5)) for name in ('old', 'new')]


def test_forest():
    """Many benchmarks: a line for each, of any magnitude, and a page that leads to each run."""
    files = write_forest()
    out = scratch('forest.svg')
    picture, = drawn('-o', out, *files)['pictures']
    equal((picture['kind'], len(picture['comparisons'])), ('comparisons', 12), 'kind')
    texts = [box[0] for box in check_texts(out, 'a forest')]
    for at in range(12):
        check(f'bench {at}' in texts, f'{at}: {texts}')
    for size in SIZES:
        plot('-o', out, '--size', size, *files)
        check_texts(out, f'a forest, {size}')
    plot('-o', out, '--size', '600x200', *files)
    check(any(text.endswith(' more have no room here') for text, *_ in boxes(out)), boxes(out))
    plot('-o', scratch('forest.html'), *files)
    page = Page(scratch('forest.html').read_text(encoding='utf-8'))
    equal(page.open, [], 'tags left open')
    # The forest, each comparison, the samples of each name, and of the two that only one file has.
    equal(page.tags.count('section'), 1 + 12 + 12 + 2, 'sections')
    equal(len(page.ids), len(set(page.ids)), 'each anchor is there once')
    missing = {link for link in page.links if link[1:] not in page.ids}
    check(len(page.links) > 12 + 12 * 24 and not missing, f'links that lead nowhere: {missing}')


def test_trend():
    """A folder is a history, whose changes have the names of the commits that they begin with."""
    folder = scratch('history')
    folder.mkdir()
    draw = random.Random(8)
    for at in range(40):
        (folder / f'{at:02}.json').write_text(json.dumps({'version': '1.0', 'benchmarks': [benchmark(
            'sort', [(1.2 if at >= 25 else 1) * draw.gauss(1, 0.005) for _ in range(5)],
            commit_date=f'2026-10-{at // 2 + 1:02} 1{at % 2}:00:00', commit_id=f'c0ffee{at:02}')]}),
            encoding='utf-8')
    out = scratch('trend.svg')
    picture, = drawn('-o', out, folder)['pictures']
    equal((picture['kind'], len(picture['points'])), ('trend', 40), 'kind')
    equal([(level['first'], level['last']) for level in picture['levels']], [(1, 25), (26, 40)], 'levels')
    texts = [box[0] for box in check_texts(out, 'a trend')]
    check('2026-10-13 c0ffee25: +20 %' in texts, f'the change has no name: {texts}')
    check(any('40 results, 1 change' in text for text in texts), texts)
    by_date = drawn('--by', 'date', '-o', out, *sorted(folder.iterdir()))['pictures']
    equal([each['levels'] for each in by_date], [picture['levels']], 'the same from files')
    plot('-o', scratch('trend.html'), folder)
    check('c0ffee25' in scratch('trend.html').read_text(encoding='utf-8'), 'the table')


def test_latency():
    """Quantiles over their rarity: of figures by their medians, and of a service as its result has them."""
    def quantile(program, name, center):
        b = benchmark(program, [center * (1 + at / 100) for at in range(9)], quiesce_metric=name)
        b['metadata'][f'quiesce_unit_{name}'] = 'lower, s'
        for run in b['runs']:
            run['metadata'][f'quiesce_event_{name}'] = run['values'][0]
        return b

    single = write('figures.json', quantile('wrk', 'p99', 0.03))
    out = scratch('latency.svg')
    served = {f'quiesce_served_{name}': value
              for name, value in (('p50', 0.001), ('p99', 0.02), ('p999', 0.5), ('max', 0.9), ('rps', 1000.0))}
    service = write('served.json', benchmark('baseline', [1e-5] * 5, **served))
    picture, = drawn('--by', 'latency', '-o', out, service)['pictures']
    equal(picture['kind'], 'latency', 'kind')
    curve, = picture['curves']
    equal([(point['quantile'], point['median']) for point in curve['points']],
          [('p50', 0.001), ('p99', 0.02), ('p99.9', 0.5)], 'points')
    for size in SIZES:
        plot('--by', 'latency', '-o', out, '--size', size, service)
        texts = [box[0] for box in check_texts(out, f'quantiles, {size}')]
        check({'p50', 'p99', 'p99.9', 'baseline'} <= set(texts), texts)
    plot('-o', scratch('latency.html'), service)
    check('p99.9' in scratch('latency.html').read_text(encoding='utf-8'), 'a page has it, too')
    errors = plot('--by', 'latency', '-o', out, single, status=1)
    check('no program has quantiles' in errors, errors)


def test_pdf():
    out = scratch('change.pdf')
    plot('-o', out, write('pdf.json', *pair(1.05)))
    data = out.read_bytes()
    check(data.startswith(b'%PDF-') and data.rstrip().endswith(b'%%EOF'), data[:20])
    check(b'1000 600' in data, 'the size of the page')


# --- In a browser. ---

ASK = """<script>
window.onload = () => {
	const box = text => { const at = text.getBoundingClientRect();
		return [text.textContent, at.left, at.top, at.right, at.bottom]; };
	const selection = document.getSelection();
	selection.selectAllChildren(document.body);
	document.body.dataset.found = JSON.stringify({
		selected: selection.toString(),
		figures: [...document.querySelectorAll('figure')].map(
			figure => [...figure.querySelectorAll('text')].map(box)),
		ink: [...new Set([...document.querySelectorAll('text')].map(text => getComputedStyle(text).fill))],
		paper: [getComputedStyle(document.body).backgroundColor,
			...[...document.querySelectorAll('figure rect:nth-of-type(1)')].map(
				rect => getComputedStyle(rect).fill)]});
};
</script>"""


def browse(page, scheme):
    """What the browser found in the page by the questions above, and the messages of its console."""
    browser = shutil.which('chromium') or shutil.which('chromium-browser')
    if not browser:
        raise machine.Skip('there is no Chromium (package chromium)')
    profile = tempfile.mkdtemp(dir=SCRATCH.name)
    asked = pathlib.Path(profile, 'asked.html')
    asked.write_text(page + ASK, encoding='utf-8')
    try:
        result = subprocess.run(
            [browser, '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
             '--disable-background-networking', '--disable-component-update', '--disable-sync',
             f'--user-data-dir={profile}', '--enable-logging=stderr', '--window-size=1200,900',
             f'--blink-settings=preferredColorScheme={0 if scheme == "dark" else 1}', '--dump-dom',
             asked.as_uri()],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
            env={**os.environ, 'HOME': profile, 'XDG_CONFIG_HOME': profile, 'XDG_CACHE_HOME': profile},
            check=False)
    except subprocess.TimeoutExpired as error:
        raise machine.Skip('Chromium does not come to an end here') from error
    found = Page(result.stdout).found if result.returncode == 0 else None
    if found is None and 'CONSOLE' not in result.stderr:
        raise machine.Skip(f'Chromium does not start here: {result.stderr.strip()[-200:]!r}')
    # Those of Chromium's own pages tell of a slow start.
    return found, [line for line in result.stderr.splitlines() if ':CONSOLE' in line and 'source: chrome://' not in line]


def luminance(color):
    """By WCAG 2."""
    parts = [int(part) / 255 for part in re.findall(r'\d+', color)[:3]]
    return sum(weight * (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4)
               for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def test_browser():
    names = [f'{HOSTILE} \u03c4', 'steps', 'disturbed']
    source = write('browser.json', benchmark(names[0], [1, 1.1, 1.2, 1.1], warmup=2),
                   benchmark(names[1], [1 + (at > 50) / 10 + at % 7 / 1000 for at in range(100)]),
                   benchmark(names[2], [1, 1.1, 1.2, 1.1], flags=['irq'] * 4))
    plot('-o', scratch('browser.html'), source)
    plot('-o', scratch('ten.html'), *many_files(10))
    plot('-o', scratch('scan.html'), write('browser-scan.json', *scan(lambda n: 3e-8 * n)))
    plot('-o', scratch('turn.html'), write('browser-turn.json', *pair(1.05)))
    pages = {name: scratch(f'{name}.html').read_text(encoding='utf-8')
             for name in ('browser', 'ten', 'scan', 'turn')}
    for name, scheme, words in (
            ('browser', 'light', [f'{names[0]}: median 1.100 s, 4 runs', 'run 52: +10 %', 'warm-up',
                                  'all 4 runs disturbed: irq 4', 'steps: the machine and the program']),
            ('browser', 'dark', ['all 4 runs disturbed: irq 4']),
            ('ten', 'dark', ['-9.json: median', '30 of 500 runs disturbed']),
            ('turn', 'dark', ['old -> new: slower, +4.8 % (', 'each pair: new against old', 'new: run by run']),
            ('scan', 'light', ['sort/n={n}: ', ' * n ('])):
        found, messages = browse(pages[name], scheme)
        equal(messages, [], f'messages of the console ({name}, {scheme})')
        for word in words:
            check(word in found['selected'], f'{word!r} cannot be selected in {name}: {found["selected"]}')
        for figure in found['figures']:
            equal(overlaps(figure), [], f'texts on each other ({name}, {scheme})')
        for ink in found['ink']:
            low, high = sorted(luminance(each) for each in (ink, found['paper'][0]))
            check((high + 0.05) / (low + 0.05) >= 4.5, f'{ink} on {found["paper"][0]} is hard to read')
        for paper in found['paper']:
            equal(luminance(paper) < 0.05, scheme == 'dark', f'{paper} is {scheme}')
    _, messages = browse('<!DOCTYPE html><body><script>no.such()</script>', 'light')
    check(any('no is not defined' in message for message in messages), f'an error is not seen: {messages}')


def scan(law, *, sizes=(100, 1000, 3000, 10000, 100000), runs=15, name='sort/n={}', **metadata):
    """A scan whose times follow the law, give or take 1 %."""
    draw = random.Random(1)
    return [benchmark(name.format(size), [law(size) * draw.gauss(1, 0.01) for _ in range(runs)],
                      parameter_n=str(size), **metadata) for size in sizes]


def test_no_characters():
    """What Unicode says are no characters is escaped, for cairo draws no text that has them."""
    for at, code in enumerate((0xfdd0, 0xfdef, 0xfffe, 0x1ffff, 0x2fffe, 0x10ffff)):
        for form in 'svg', 'png', 'html':
            plot('-o', scratch(f'{at}.{form}'), write('none.json', benchmark(f'a{chr(code)}b', [1, 2, 3])))
        escaped = ''.join(f'\\x{byte:02x}' for byte in chr(code).encode())
        check(f'a{escaped}b' in scratch(f'{at}.svg').read_text(encoding='utf-8'), f'{code:x}')


def test_scan():
    """The curve over a parameter, and how it grows."""
    for kind, each, law in (('n^2', 2e-9, lambda n: 1e-3 + 2e-9 * n * n),
                            ('n', 3e-8, lambda n: 3e-8 * n),
                            ('n log n', 5e-9, lambda n: 1e-5 + 5e-9 * n * math.log2(n + 1)),
                            ('1', None, lambda n: 0.01)):
        picture, = drawn('-o', scratch('scan.svg'), write('scan.json', *scan(law)))['pictures']
        curve, = picture.pop('curves')
        equal(picture, {'kind': 'scan', 'title': 'sort/n={n}', 'parameter': 'n', 'unit': 'second', 'metric': None},
              'the picture')
        growth = curve['growth']
        equal((curve['name'], growth['kind']), ('sort/n={n}', kind), f'{growth}')
        check(growth['share'] > 0.8, growth)
        if each:
            check(growth['each_low'] < each < growth['each_high'], growth)
            check(f' * {kind} (' in growth['text'] and 'of resamples' in growth['text'], growth)
        for point, size in zip(curve['points'], (100, 1000, 3000, 10000, 100000), strict=True):
            equal((point['parameter'], point['name']), (size, f'sort/n={size}'), 'a point')
            check(point['interval_low'] < point['median'] < point['interval_high'], point)
        check(xml.etree.ElementTree.parse(scratch('scan.svg')).getroot().tag.endswith('svg'), 'no SVG')


def test_scan_that_does_not_grow():
    """What falls, or falls and rises, is neither the same for all sizes nor one of the growths."""
    sizes = (1, 2, 4, 8, 16)
    for law in lambda n: 0.08 / n, lambda n: 0.01 * (1 + abs(math.log2(n) - 2)), lambda n: 0.01 - 1e-4 * n:
        for runs in 1, 3, 15:
            picture, = drawn('-o', scratch('fall.svg'), write('fall.json', *scan(law, sizes=sizes, runs=runs)))[
                'pictures']
            equal(picture['curves'][0]['growth'], None, f'{runs} runs')
            check('sort/n={n}' in [box[0] for box in boxes(scratch('fall.svg'))], 'a growth is told')
    # Of instructions that are counted, not even the last digit is noise; but what differs by it is the same.
    counted = write('counted.json', *(benchmark(f'sort/n={size}', [1000000 + size % 3] * 9, parameter_n=str(size),
                                                unit='integer') for size in sizes))
    growth = drawn('-o', scratch('counted.svg'), counted)['pictures'][0]['curves'][0]['growth']
    equal(growth['kind'], '1', 'counts')


def test_scan_numbers():
    """The numbers at the left of a scan are those of its marks, in any unit, and none is cut."""
    for law, unit, wish in ((lambda n: 1e-5 * n, 's', ['0.001 s', '0.01 s', '0.1 s', '1 s']),
                            (lambda n: 1e-5 * n, 'ms', ['1 ms', '10 ms', '100 ms', '1000 ms']),
                            (lambda n: 1e-5 * n, None, ['1 ms', '10 ms', '100 ms', '1 s']),
                            (lambda n: 1e-5 * n, 'ns', ['1000000 ns', '1000000000 ns']),
                            (lambda n: 10 + n / 1e5, 'ns', ['10000000000 ns', '11000000000 ns'])):
        for size in SIZES:
            out = scratch('numbers.svg')
            plot('-o', out, *(('--unit', unit) if unit else ()), '--size', size, write('numbers.json', *scan(law)))
            texts = [box[0] for box in check_texts(out, f'{unit}, {size}')]
            for each in wish if size == '1000x600' else ():
                check(each in texts, f'{each} is not in {texts}')
    sizes = write('sizes.json', *scan(lambda n: 5 * n, unit='byte'))
    plot('-o', scratch('sizes.svg'), sizes)
    check({'1000 B', '10000 B', '97.7 KiB'} <= {box[0] for box in boxes(scratch('sizes.svg'))},
          boxes(scratch('sizes.svg')))


def test_scans_of_other_tools():
    """Which part of a name is the value: neither a longer number, nor the count of equal commands."""
    def hyperfine(*commands):
        return {'results': [{'command': command, 'times': [size * draw.gauss(0.01, 1e-4) for _ in range(9)],
                             'parameters': {'n': str(size), **more}} for command, size, more in commands]}

    def google(*names):
        return {'context': {}, 'benchmarks': [
            {'name': name, 'run_type': 'iteration', 'time_unit': 'ns', 'real_time': size * draw.gauss(10, 0.1)}
            for name, size in names for _ in range(9)]}

    draw = random.Random(1)
    sizes = (1, 2, 4, 8)
    for name, document, parameter, curves in (
            ('same', hyperfine(*(('sort', size, {}) for size in sizes)), 'n', ['sort']),
            ('option', hyperfine(*((f'prog {size} -O2 x.2', size, {}) for size in sizes)), 'n',
             ['prog {n} -O2 x.2']),
            ('part', hyperfine(*((f'prog -O{size}', size, {}) for size in sizes)), 'n', ['prog -O{n}']),
            ('named', hyperfine(*((f'prog 2 n={size}', size, {}) for size in sizes)), 'n', ['prog 2 n={n}']),
            ('twice', hyperfine(*((f'prog {size}', size, {'m': m}) for m in 'ab' for size in sizes)), 'n',
             ['prog {n}', 'prog {n} #2']),
            ('google', google(*((f'BM/{size}/repeats:2', size) for size in sizes)), 'arg',
             ['BM/{arg}/repeats:2']),
            ('google-named', google(*((f'BM/size:{size}/repeats:2', size) for size in sizes)), 'size',
             ['BM/size:{size}/repeats:2'])):
        path = scratch(f'{name}.json')
        path.write_text(json.dumps(document), encoding='utf-8')
        for by in ('--by', parameter), ():
            picture, = drawn('-o', scratch('other.svg'), *by, path)['pictures']
            equal([(curve['name'], [point['parameter'] for point in curve['points']])
                   for curve in picture['curves']], [(curve, list(sizes)) for curve in curves], name)


def test_scan_of_several():
    """A curve for each value of the other parameters, which are words, and for each file."""
    both = write('both.json', *(b for kind in 'ab' for b in scan(
        lambda n: 1e-8 * n, name=f'sort/kind={kind} n={{}}', parameter_kind=kind)))
    picture, = drawn('-o', scratch('both.png'), both)['pictures']
    equal([curve['name'] for curve in picture['curves']],
          ['sort/kind=a n={n}', 'sort/kind=b n={n}'], 'curves')
    again = scratch('again.json')
    again.write_bytes(both.read_bytes())
    picture, = drawn('-o', scratch('both.html'), both, again)['pictures']
    equal(len(picture['curves']), 4, 'curves of two files')
    page = Page(scratch('both.html').read_text(encoding='utf-8'))
    check(page.tags.count('section') == 1 and page.open == [], page.tags)
    # One run a size tells nothing of how runs differ.
    growth = drawn('-o', scratch('one.svg'), write('one.json', *scan(
        lambda n: 1e-8 * n, runs=1)))['pictures'][0]['curves'][0]['growth']
    equal((growth['each_low'], growth['share'], 'how runs differ is not known' in growth['text']),
          (None, None, True), 'one run')
    # The growth of what is 0 or below is not known; the picture is drawn.
    below = write('below.json', *scan(lambda n: 0.01 + n * 1e-6, sizes=(-10, 0, 20)))
    equal(drawn('-o', scratch('below.svg'), below)['pictures'][0]['curves'][0]['growth'], None, 'below 0')


def test_scan_without_runs():
    """What `show` has no interval of has none in a curve, and no resamples tell of its growth."""
    def one_run(b):
        return {**b, 'runs': [{'values': [value for run in b['runs'] for value in run['values']]}]}

    def several_machines(b):
        return {**b, 'runs': [{**run, 'metadata': {'quiesce_hostname': f'host-{at % 3}'}}
                              for at, run in enumerate(b['runs'])]}

    whole = scan(lambda n: 3e-8 * n)
    for what, made in (('one run', [*map(one_run, whole)]), ('machines', [*map(several_machines, whole)]),
                       ('a point with one run', [*whole[:-1], one_run(whole[-1])])):
        path = write('without.json', *made)
        picture, = drawn('-o', scratch('without.svg'), path)['pictures']
        shown = json.loads(subprocess.run([REPORT, 'show', '--json', path], check=True, capture_output=True).stdout)
        fleet = what == 'machines'
        equal([(point['median'], point['interval_low']) for point in picture['curves'][0]['points']],
              [(one['runs_median'], None if fleet else one['interval_low']) for one in shown['benchmarks']], what)
        growth = picture['curves'][0]['growth']
        equal((growth['kind'], growth['share'], growth['each_low'], growth['each_high'], growth['other']),
              ('n', None, None, None, None), what)
        check(growth['text'].endswith(' * n, how runs differ is not known'), growth['text'])


def test_scan_or_not():
    """Without numbers, or with too few, the samples are drawn as ever; and where they are asked for."""
    words = write('words.json', *(benchmark('same', [0.01] * 5, parameter_n=word) for word in ['fast']))
    two = write('two.json', *scan(lambda n: 1e-8 * n, sizes=(1, 2), quiesce_interleaved='a, b'))
    whole = write('whole.json', *scan(lambda n: 1e-8 * n, quiesce_interleaved='a, b'))
    for arguments in [words], ['--by', 'run', two], ['--by', 'run', whole]:
        for picture in drawn('-o', scratch('not.svg'), *arguments)['pictures']:
            check('series' in picture, picture)
    check('curves' in drawn('-o', scratch('not.svg'), '--by', 'n', two)['pictures'][0], 'two sizes')
    errors = plot('-o', scratch('not.svg'), '--by', 'm', whole, status=1)
    check("no benchmark was measured with several numbers as 'm'" in errors, errors)
    mixed = write('mixed.json', *scan(lambda n: 1e-8 * n), benchmark('other', [1]))
    errors = plot('-o', scratch('mixed.svg'), '--by', 'n', mixed)
    check("not drawn: 1 benchmark without a number as 'n'" in errors, errors)
    many = write('many.json', *(b for kind in 'abcdefghijk' for b in scan(
        lambda n: 1e-8 * n, name=f'{kind}/n={{}}', sizes=(1, 2, 3))))
    errors = plot('-o', scratch('many.svg'), '--by', 'n', many, status=1)
    check('more than 10 curves belong into one picture' in errors, errors)
    errors = plot('-o', '/no/such/folder/x.svg', whole, status=1)
    check('cannot write /no/such/folder/x.svg' in errors, errors)


def test_margin():
    """What compare --fail-worse would say, of one comparison and of many; in costs, where more is better."""
    out = scratch('margin.svg')
    for factor, limit, gate in ((1.05, 2, 'fails'), (1.05, 8, 'passes'), (1.0, 2, 'passes')):
        source = write('margin.json', *pair(factor))
        picture, = drawn('-o', out, '--margin', limit, source)['pictures']
        said, = json.loads(report('compare', '--json', '--fail-worse', limit, source, status=(0, 3)))['comparisons']
        equal((picture['gate'], said['gate']), (gate, gate), f'{factor}, {limit} %')
        check(abs(picture['gate_at'] - limit / 100) < 1e-9, picture['gate_at'])
        check(picture['title'].endswith(f'; {gate} a gate of {limit} %'), picture['title'])
        check(f'the change, its 95 % interval, gate of {limit} %' in
              [box[0] for box in check_texts(out, 'a gate')], 'the heading')
    old, new = (benchmark(name, [1.0] * 30, quiesce_metric='rate', quiesce_unit_rate='higher, 1/s', **RIVALS)
                for name in ('old', 'new'))
    draw = random.Random(4)
    for each, level in ((old, 100), (new, 90)):
        for run in each['runs']:
            run['metadata']['quiesce_event_rate'] = level * draw.gauss(1, 0.005)
    picture, = drawn('-o', out, '--margin', 5, write('rate.json', old, new))['pictures']
    equal((picture['gate'], round(picture['gate_at'], 6)), ('fails', -0.05), 'a rate')
    many = write_forest()
    errors, output = plot('--json', '-o', out, '--margin', 10, *many, said=True)
    equal(errors.count('not compared'), 2, errors)
    machine.hold_to_schema(['plot'], output)
    picture, = json.loads(output)['pictures']
    said = json.loads(report('compare', '--json', '--fail-worse', 10, *many))['comparisons']
    equal([each['gate'] for each in picture['comparisons']], [each['gate'] for each in said], 'gates of many')
    check(picture['title'].endswith('; 12 unclear for a gate of 10 %'), picture['title'])
    for each, of in zip(picture['comparisons'], said, strict=True):
        check(abs(each['low'] + 1 - of['gate_low']) < 1e-9, f'the interval of the gate: {each["low"]}, {of["gate_low"]}')
    check(plot('-o', scratch('x.svg'), '--margin', 5, '--by', 'run', source, status=2).count('--margin') == 1, 'by run')
    plot('-o', scratch('x.svg'), '--margin', 5, write('alone.json', benchmark('a', [1, 2])), status=1)


def test_refuses():
    source = write('refuses.json', benchmark('a', [1, 2]))
    empty = write('empty.json', {'metadata': {'name': 'a'}, 'runs': [
        {'warmups': [[1, 1.0]], 'metadata': {'calibrate_warmups': 1}}]})
    for arguments, status, word in (
            ((source,), 2, '-o'),
            (('-o', scratch('x.gif'), source), 2, '.svg'),
            (('-o', '.svg', source), 2, '.svg'),
            (('-o', scratch('x.svg'), '--size', '10x10', source), 2, '10x10'),
            (('-o', scratch('x.svg'), '--size', '1000', source), 2, '1000'),
            (('-o', scratch('x.svg'), '--size', '1000x99999', source), 2, '99999'),
            (('-o', scratch('x.svg'), '--table', source), 2, '--table'),
            (('--json', source), 2, '-o'),
            (('-o', scratch('x.svg'), '-b', 'nobody', source), 1, 'nobody'),
            (('-o', scratch('x.svg'), empty), 1, 'no value'),
            (('-o', '/nowhere/x.svg', source), 1, '/nowhere/x.svg'),
            (('-o', scratch('x.svg'), '--by', 'change', source), 1, 'compare wants a second file'),
            (('-o', scratch('x.svg'), scratch('missing.json')), 1, 'missing.json')):
        said = plot(*arguments, status=status)
        check(said.count('\n') == 1 and word in said, said)
        check(not scratch('x.svg').exists(), 'something was written')


if __name__ == '__main__':
    machine.run_tests(machine.tests_of(globals()))
