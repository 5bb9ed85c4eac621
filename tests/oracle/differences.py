# SPDX-License-Identifier: Apache-2.0
"""Compares two stores of tests/oracle/oracle: numbers exactly, words as sentences."""
import csv
import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from pathlib import Path

CLASSES = ('equal', 'layout', 'words', 'numbers', 'exit', 'missing')  # from harmless to severe
NUMBER = re.compile(r'[+\-−]?\d+(?:[.,:]\d+)*(?:[eE][+-]?\d+)?')
MAX_LISTED = 300
NO_NUMBER = bytes(set(range(256)) - set(b'0123456789.-\n'))  # removed from large outputs to compare their numbers


def judge(a, b):
    """Returns the class of two texts. If the words differ, the numbers may have another order, or a true minus."""
    if a == b:
        return 'equal'
    x, y = ([number.replace('−', '-') for number in NUMBER.findall(text)] for text in (a, b))
    return 'words' if x == y or sorted(x) == sorted(y) and NUMBER.sub('#', a) != NUMBER.sub('#', b) else 'numbers'


def units(text, kind):
    """Returns places and texts: tags and texts of a page, rows and sentences of prose, else lines."""
    if kind == 'html':
        text = re.sub(r"'sha256-[^']+'", "'sha256'", text)  # of its styles and scripts, which are compared themselves
        nodes = (' '.join(node.split()) for node in re.findall(r'<[^>]+>|[^<]+', text))
        return [(f'node {number}', node) for number, node in enumerate(nodes)
                if node and not re.fullmatch(r'</?\w+>', node)]
    found, is_open = [], False
    for number, line in enumerate(text.splitlines(), 1):
        words = re.sub(r'-{3,}', '---', ' '.join(line.split()))
        is_row = kind != 'prose' or '  ' in line.strip() or not words.strip('- ')
        if is_open and words and not is_row:
            found[-1][1] += ' ' + words  # Where a sentence is wrapped does not matter.
        elif words:
            found.append([f'line {number}', words])
        is_open = bool(words) and not is_row
    sentence_end = r'(?<=[.?!]) ' if kind == 'prose' else r'\Z'
    return [(place, sentence) for place, words in found for sentence in re.split(sentence_end, words) if sentence]


def compare_units(a, b):
    """Yields class, place and both texts of each difference."""
    x, y = ([text for _, text in side] for side in (a, b))
    if len(x) == len(y) > 4000:  # difflib is quadratic
        blocks = [('replace', at, at + 1, at, at + 1) for at in range(len(x))]
    else:
        blocks = SequenceMatcher(None, x, y, autojunk=len(x) > 4000).get_opcodes()
    for _, begin, end, other, other_end in blocks:
        left, right = a[begin:end], b[other:other_end]
        joined = [' / '.join(text for _, text in side) for side in (left, right)]
        if left and right and len(left) != len(right) and judge(*joined) == 'words':
            left, right = [(left[0][0], joined[0])], [(right[0][0], joined[1])]
        for number in range(max(len(left), len(right))):
            place, old = left[number] if number < len(left) else (right[number][0], '')
            new = right[number][1] if number < len(right) else ''
            yield judge(old, new), place, old, new


def compare_json(a, b, place=''):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in [*a, *(key for key in b if key not in a)]:
            if key in a and key in b:
                yield from compare_json(a[key], b[key], f'{place}.{key}')
            else:
                yield 'numbers', f'{place}.{key}', *('key' if key in side else 'no key' for side in (a, b))
    elif isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            yield 'numbers', f'{place}.length', str(len(a)), str(len(b))
        for number, (old, new) in enumerate(zip(a, b)):
            yield from compare_json(old, new, f'{place}[{number}]')
    elif type(a) is str and type(b) is str:
        yield judge(a, b), place, a, b
    elif type(a) is not type(b) or a != b:
        yield 'numbers', place, str(a), str(b)


def compare_csv(a, b):
    x, y = (list(csv.reader(text.splitlines(keepends=True))) or [[]] for text in (a, b))
    if x[0] != y[0]:
        yield 'numbers', 'header', ','.join(x[0]), ','.join(y[0])
    if len(x) != len(y):
        yield 'numbers', 'count of rows', str(len(x)), str(len(y))
    for number, (old, new) in enumerate(zip(x[1:], y[1:]), 1):
        if len(old) != len(new):
            yield 'numbers', f'row {number}, count of cells', str(len(old)), str(len(new))
        for column, cells in enumerate(zip(old, new)):
            yield judge(*cells), f'row {number}, {"".join(x[0][column:column + 1])}', *cells


def compare_texts(a, b, kind):
    if kind == 'json':
        try:
            # As bytes, numbers are compared as they are written.
            return compare_json(*(json.loads(text, parse_float=str.encode, parse_int=str.encode) for text in (a, b)))
        except ValueError:
            pass  # An empty output is no JSON.
    return compare_csv(a, b) if kind == 'csv' else compare_units(units(a, kind), units(b, kind))


def compare_hashes(a, b):
    """Yields what differs between outputs of which at least one is not stored whole."""
    if 'pixels' in a and 'pixels' in b:
        if a['pixels'] != b['pixels']:
            yield 'numbers', 'pixels', f'A/{a["file"]}', f'B/{b["file"]}'
    elif 'tables' in a and 'tables' in b:
        yield from compare_json(a['tables'], b['tables'], 'tables')
    elif 'blocks' in a and 'blocks' in b and len(a['blocks']) == len(b['blocks']):
        for number, (old, new) in enumerate(zip(a['blocks'], b['blocks'])):
            if old[0] != new[0]:
                place = f'from line {number * a["blockLines"] + 1} of a large output on'
                yield 'words' if old[1] == new[1] else 'numbers', place, f'block {old[0]}', f'block {new[0]}'
    elif any(a.get(key) != b.get(key) for key in ('sha', 'text', 'pixels', 'tables')):
        yield 'numbers', 'bytes', *(str(side.get('size', 'other kind')) for side in (a, b))


def compare_records(a, b):
    """Returns the class of two records, and their differences."""
    if a == b:
        return 'equal', []
    found = [('exit', 'exit code', str(a['exit']), str(b['exit']))] if a['exit'] != b['exit'] else []
    found += [(each, f'stderr {place}', *both)
              for each, place, *both in compare_units(units(a['stderr'], ''), units(b['stderr'], ''))]
    if 'text' in a and 'text' in b:
        found += compare_texts(a['text'], b['text'], a['kind'])
    elif not found or found[0][0] != 'exit':
        found += compare_hashes(a, b)
    found = [each for each in found if each[0] != 'equal']
    has_layout = any(a.get(key) != b.get(key) for key in ('text', 'stderr'))
    return max((each[0] for each in found), key=CLASSES.index, default='layout' if has_layout else 'equal'), found


def records_of(path):
    lines = gzip.decompress(path.read_bytes()).decode().split('\n')[:-1] if path.exists() else []
    return {(each['command'], each['part']): each for each in map(json.loads, lines)}


def compare_stores(options):
    """Writes the report of two stores: a table, then differing exit codes, sentences and numbers."""
    table, groups, others = defaultdict(Counter), {'words': defaultdict(list), 'numbers': defaultdict(list)}, []
    names = [{path.name for path in Path(store, 'records').iterdir()} for store in (options.a, options.b)]
    for name in sorted(names[0] & names[1] if options.common else names[0] | names[1]):
        a, b = (records_of(Path(store, 'records', name)) for store in (options.a, options.b))
        for key in {**a, **b}:
            if key[0] in options.skip or key[0].split()[0] in options.skip:
                continue
            where = f'{name[:-len(".jsonl.gz")].replace("~", "/")}: {" ".join(key).strip()}'
            if key not in a or key not in b:
                table[key[0]]['missing'] += 1
                others.append(f'{where} is only in {"A" if key in a else "B"}')
                continue
            found, all_found = compare_records(a[key], b[key])
            table[key[0]][found] += 1
            for each, place, old, new in all_found:
                if each == 'exit':
                    others.append(f'{where}: {place} {old} -> {new}')
                else:
                    same = [NUMBER.sub('#', text) for text in ((old, new) if each == 'words' else (*key, place))]
                    groups[each][tuple(same)].append((f'{where}, {place}', old, new))
    table['all'] = sum(table.values(), Counter())
    out = [f'A: {options.a}', f'B: {options.b}', '', f'{"outputs":<22}' + ''.join(f'{each:>9}' for each in CLASSES)]
    for command, counts in table.items():
        out.append(f'{command:<22}' + ''.join(f'{counts[each] or "-":>9}' for each in CLASSES))
    sections = [('Exit codes that differ and missing outputs', others)]
    for each, title in (('words', 'Sentences whose words differ'), ('numbers', 'Numbers, keys, headers and pictures')):
        entries = sorted(groups[each].values(), key=len, reverse=True)
        sections.append((title, [f'{len(entry)} x {where}\n    A: {old[:600]}\n    B: {new[:600]}'
                                 for entry in entries for where, old, new in entry[:1]]))
    for title, entries in sections:
        if entries:
            out += ['', f'{title}: {len(entries)}', '', *entries[:MAX_LISTED]]
            out += [f'... and {len(entries) - MAX_LISTED} more'] * (len(entries) > MAX_LISTED)
    with open(options.report or sys.stdout.fileno(), 'w', encoding='utf-8') as file:
        file.write('\n'.join(out) + '\n')
    classes = {each for each, count in table['all'].items() if count} - {'equal'}
    is_severe = classes if options.same_bytes else classes - {'words', 'layout'}
    return 2 if is_severe else 1 if 'words' in classes else 0
