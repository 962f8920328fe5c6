# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the steps of a composite action as GitHub's runner does: expressions are replaced in texts, each step has files
of its own for its outputs, its summary and what it adds to the environment and the path, and the first one that fails
is the last one. What the runner would not know, or would only warn of, is an error here."""

import json
import os
import pathlib
import re
import subprocess

from machine import Skip, check, equal

ACTION_KEYS = {'name', 'description', 'inputs', 'outputs', 'runs'}
INPUT_KEYS = {'description', 'required', 'default'}
STEP_KEYS = {'id', 'shell', 'env', 'run'}
UNESCAPED = (('%0D', '\r'), ('%0A', '\n'), ('%25', '%'))


def load(path):
    try:
        import yaml  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise Skip('python3-yaml is not installed') from None
    return yaml.safe_load(pathlib.Path(path).read_text(encoding='utf-8'))


def read_settings(text):
    """The lines NAME=VALUE, and NAME<<WORD with the lines up to that word, of GITHUB_OUTPUT and GITHUB_ENV."""
    settings, lines = {}, iter(text.split('\n')[:-1])
    check(not text or text.endswith('\n'), f'a line without an end: {text!r}')
    for line in lines:
        name, sign, value = re.fullmatch(r'([\w-]+)(=|<<)(.*)', line).groups()
        if sign == '<<':
            word, value = value, '\n'.join(iter(lambda: next(lines), value))
        settings[name] = value
    return settings


class Run:
    """What became of an action: its exit status, what it printed, its outputs, its summary, and its annotations
    (error, warning and notice) as pairs of kind and text."""

    def __init__(self, action, inputs, folder, workspace, event, environment):
        self.folder, self.workspace = pathlib.Path(folder), workspace
        description = load(action / 'action.yml')
        equal(set(description) - ACTION_KEYS, set(), 'keys of the action')
        equal(description['runs']['using'], 'composite', 'what the action uses')
        self.contexts = {'github': {'event': event, 'sha': environment.get('GITHUB_SHA', '')}, 'steps': {},
                         'inputs': self.take_inputs(description['inputs'], inputs)}
        self.environment = {'GITHUB_ACTION_PATH': str(action), 'GITHUB_WORKSPACE': str(workspace), **environment}
        self.status, self.said, self.summary = 0, '', ''
        (self.folder / 'event.json').write_text(json.dumps(event))
        (self.folder / 'temp').mkdir()
        for number, step in enumerate(description['runs']['steps']):
            equal(set(step) - STEP_KEYS, set(), 'keys of a step')
            equal(step['shell'], 'bash', 'the shell')
            check('${{' not in step['run'], f'an expression becomes a part of a command: {step["run"]}')
            self.status = self.run_step(number, step)
            if self.status:
                break
        self.outputs = {name: self.fill(output['value']) for name, output in description['outputs'].items()}
        self.annotations = [(kind, self.unescape(text)) for kind, text in
                            re.findall('^::(error|warning|notice) title=quiesce-gate::(.*)$', self.said, re.M)]

    @staticmethod
    def take_inputs(described, given):
        equal(set(given) - set(described), set(), 'inputs that the action lacks')
        for name, entry in described.items():
            equal(set(entry) - INPUT_KEYS, set(), f'keys of the input {name}')
            check(entry.get('required') or isinstance(entry['default'], str), f'{name}: a default is a text')
            check(name in given or not entry.get('required'), f'{name} is required')
        return {name: given.get(name, entry.get('default')) for name, entry in described.items()}

    @staticmethod
    def unescape(text):
        for escaped, character in UNESCAPED:
            text = text.replace(escaped, character)
        return text

    def look_up(self, expression):
        """inputs.x, steps.y.outputs.z or github.event...: empty where an event, or a step, has no such thing."""
        context, *path = expression.split('.')
        value = self.contexts[context]
        if context == 'inputs':
            check(path[0] in value, f'there is no input {path[0]}')
        for name in path:
            value = (value or {}).get(name)
        return '' if value is None else str(value)

    def fill(self, text):
        return re.sub(r'\$\{\{ ([\w.-]+) \}\}', lambda match: self.look_up(match[1]), text)

    def run_step(self, number, step):
        files = {name: self.folder / f'{number}-{name}' for name in (
            'GITHUB_ENV', 'GITHUB_OUTPUT', 'GITHUB_PATH', 'GITHUB_STEP_SUMMARY')}
        for path in files.values():
            path.touch()
        script = self.folder / f'{number}.sh'
        script.write_text(step['run'])
        environment = {**self.environment, **{name: self.fill(str(text)) for name, text in step['env'].items()},
                       **{name: str(path) for name, path in files.items()}, 'RUNNER_TEMP': str(self.folder / 'temp'),
                       'GITHUB_EVENT_PATH': str(self.folder / 'event.json')}
        done = subprocess.run(['bash', '--noprofile', '--norc', '-eo', 'pipefail', script], cwd=self.workspace,
                              env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
        self.said += done.stdout
        self.summary += files['GITHUB_STEP_SUMMARY'].read_text()
        self.environment.update(read_settings(files['GITHUB_ENV'].read_text()))
        for line in files['GITHUB_PATH'].read_text().splitlines():
            self.environment['PATH'] = f'{line}:{self.environment["PATH"]}'
        if 'id' in step:
            self.contexts['steps'][step['id']] = {'outputs': read_settings(files['GITHUB_OUTPUT'].read_text())}
        return done.returncode


def path_without(program):
    """The path, without folders that have this program."""
    return ':'.join(folder for folder in os.environ['PATH'].split(':') if not os.path.exists(f'{folder}/{program}'))
