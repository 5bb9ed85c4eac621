# SPDX-License-Identifier: Apache-2.0
"""The rules of rule-agent: from the answer of `explain` to the answer of a question. No model."""
import json
import re

CAUSES = (('waiting_for_ranks', 'late_rank'), ('data_loading_idle', 'data'), ('synchronization_idle', 'sync'),
          ('launch_bound_idle', 'host'), ('exposed_htod', 'copy'), ('exposed_communication', 'communication'))
MIN_SHARE = 0.04  # of the mean step; a smaller part is no cause

# Cannot be answered without thread states.
HOST_LINES = 'host line and state'


class Facts:
    """What the rules need of an answer, and the texts that they stand on."""

    def __init__(self, workers, findings, unknown):
        self.workers = workers    # (label, mean ms, parts in ms, text of the answer)
        self.findings = findings  # sentences, or by MCP the places that are lines
        self.unknown = unknown    # questions that cannot be answered; None if the answer does not list them


def of_mcp(text):
    answer = json.loads(text)
    steps = answer['mean_step_ms']
    if isinstance(steps, dict):
        workers = [('', steps['mean'], steps, '"mean_step_ms":{"mean":')]
    else:
        header, *rows = steps
        workers = [(f'rank {row[0]}', row[1], dict(zip(header, row)), f'[{row[0]},') for row in rows if row[0] != 'mean']
    lines = [re.search(r'\bline (\S+:\d+)', row[2]) for row in answer['causes_ms']]
    return Facts(workers, [found.group(1) for found in lines if found],
                 {each.partition(':')[0] for each in answer['cannot_answer']})


def of_command(text):
    answer = json.loads(text)
    workers = [(each['label'], each['meanStepNs'] / 1e6, {name: ns / 1e6 for name, ns in each['partsNs'].items()},
                each['label']) for each in answer['workers']]
    return Facts(workers, [each['sentence'] for each in answer['findings']], None)


def rank_of(label):
    found = re.match(r'rank (\d+)', label)
    return found.group(1) if found else None


def cause_of(facts):
    """The cause, its milliseconds, and the worker that shows it."""
    best = ('none', 0.0, facts.workers[0])
    for worker in facts.workers:
        for part, cause in CAUSES:
            ms = worker[2].get(part, 0)
            if ms > best[1] and ms > MIN_SHARE * worker[1]:
                best = (cause, ms, worker)
    return best


def answer(kind, topic, facts):
    """The answer, and the texts in the answer of the tool on which it stands."""
    cause, ms, worker = cause_of(facts)
    if kind == 'cause':
        return cause, [worker[3]]
    if kind == 'ms':
        return f'{ms:.3f}', [worker[3]]
    if kind == 'rank':
        if len(facts.workers) < 2:
            return 'unknown', [worker[3]]
        if cause != 'late_rank':
            return 'none', [worker[3]]
        late = min(facts.workers, key=lambda each: each[2].get('waiting_for_ranks', 0))
        return rank_of(late[0]), [late[3]]
    if kind == 'line':
        for sentence in facts.findings:
            found = re.search(r'[\w.]+\.py:\d+', sentence)
            if found:
                return found.group(), [found.group()]
        isKnown = facts.unknown is not None and HOST_LINES not in facts.unknown
        return ('none' if cause == 'none' and isKnown else 'unknown'), []
    return known(topic, facts), []


def known(topic, facts):
    if 'last week' in topic:
        return 'no'
    if 'allocates' in topic:
        return 'no' if facts.unknown is None or 'allocated bytes' in facts.unknown else 'yes'
    if 'Python line' in topic:
        return 'no' if facts.unknown is None or HOST_LINES in facts.unknown else 'yes'
    if 'later than the others' in topic:
        return 'yes' if len(facts.workers) > 1 else 'no'
    return 'yes' if facts.workers else 'no'
