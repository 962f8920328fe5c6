# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds JSON against docs/schemas, by the part of JSON Schema (draft 2020-12) that these use. Any other keyword is an
error: it would be one that nothing holds."""

import functools
import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parents[2] / 'docs/schemas'
TYPES = {'string': str, 'boolean': bool, 'object': dict, 'array': list, 'null': type(None), 'number': (int, float),
         'integer': int}
NOTES = {'$schema', '$id', 'title', 'description'}


def is_of(value, kind):
    # In Python a boolean is a number, too.
    return isinstance(value, TYPES[kind]) and (kind == 'boolean' or not isinstance(value, bool))


def check_enum(value, words, _):
    return None if value in words else f'{value!r} is none of {words}'


def check_type(value, kinds, _):
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return None if any(is_of(value, kind) for kind in kinds) else f'{value!r} is no {" or ".join(kinds)}'


def check_minimum(value, least, _):
    return f'{value!r} is less than {least}' if is_of(value, 'number') and value < least else None


def check_required(value, names, _):
    missing = [name for name in names if isinstance(value, dict) and name not in value]
    return f'lacks {missing}' if missing else None


def check_items(value, schema, _):
    if isinstance(value, list):
        for at, item in enumerate(value):
            wrong = find_wrong(item, schema)
            if wrong:
                return f'[{at}]{wrong}'
    return None


def check_properties(value, properties, _):
    if isinstance(value, dict):
        for name, schema in properties.items():
            wrong = find_wrong(value[name], schema) if name in value else None
            if wrong:
                return f'.{name}{wrong}'
    return None


def check_others(value, schema, whole):
    """additionalProperties: false, or a schema of what has no other."""
    for name in value if isinstance(value, dict) else ():
        if name in whole.get('properties', {}):
            continue
        if schema is False:
            return f' has {name!r}, which is not there'
        wrong = find_wrong(value[name], schema)
        if wrong:
            return f'.{name}{wrong}'
    return None


def check_any(value, schemas, _):
    wrong = [find_wrong(value, schema) for schema in schemas]
    return None if None in wrong else ' and '.join(wrong)


KEYWORDS = {'type': check_type, 'enum': check_enum, 'minimum': check_minimum, 'required': check_required,
            'items': check_items, 'properties': check_properties, 'additionalProperties': check_others,
            'anyOf': check_any}


def find_wrong(value, schema):
    """Where the value is not as the schema has it, and why, as ".runs[3].start: ..."; None where it is."""
    for keyword, argument in schema.items():
        if keyword in NOTES:
            continue
        wrong = KEYWORDS[keyword](value, argument, schema)
        if wrong:
            return wrong if wrong[0] in '.[' else f': {wrong}'
    return None


def reject(word):
    raise ValueError(f'{word} is no JSON')


def reject_twice(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f'a member is there twice: {[name for name, _ in pairs]}')
    return found


@functools.cache
def load(name):
    return json.loads((FOLDER / f'{name}.schema.json').read_text(encoding='utf-8'))


def validate(name, text):
    """What is wrong with the text of a document; None where nothing is."""
    try:
        value = json.loads(text, parse_constant=reject, object_pairs_hook=reject_twice)
    except ValueError as error:
        return str(error)
    return find_wrong(value, load(name))
