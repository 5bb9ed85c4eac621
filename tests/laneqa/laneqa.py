# SPDX-License-Identifier: Apache-2.0
"""Questions, scoring and the client of LaneQA, for `run` and `replay`."""
import json
import subprocess

QUESTIONS = {
    'cause': 'What makes the mean step longer than it must be? Answer with one word: none; host (host code keeps the GPU '
             'waiting); data (the next batch is missing); sync (the CPU waits for the GPU between launches); copy '
             '(host-to-device copies without overlap); communication (collectives take long although all ranks are on '
             'time); late_rank (one rank is late).',
    'ms': 'How many milliseconds of the mean step does the largest such cause cost, on a waiting rank if one rank is late? '
          'Answer with a number, 0 if there is no such cause.',
    'rank': 'Which rank is later than the others? Answer with its number, none, or unknown if the trace cannot show it.',
    'line': 'Which source line keeps the GPU waiting? Answer as file.py:123, none, or unknown if the trace cannot show it.',
    'known': 'Can this trace show {topic}? Answer yes or no.',
}
BYTES_PER_TOKEN = 4


def question(kind, truth):
    return truth.get('questions', {}).get(kind) or QUESTIONS[kind].format(topic=truth['topic'])


def number_of(answer):
    try:
        return float(answer.split()[0])
    except (ValueError, IndexError):
        return None


def is_right(kind, truth, answer):
    answer = answer.strip().lower()
    if kind == 'ms':
        value = number_of(answer)
        return value is not None and abs(value - truth['ms']) <= max(0.1 * truth['ms'], 0.5)
    if kind == 'line' and ':' in truth['line']:
        return answer.endswith(truth['line'])
    return answer == truth[kind]


def is_false_claim(kind, truth, answer):
    """A wrong answer that asserts a fact, as opposed to an abstention."""
    answer = answer.strip().lower()
    if is_right(kind, truth, answer):
        return False
    if kind == 'ms':
        return (number_of(answer) or 0) > 0.5
    return answer not in ('', 'none', 'unknown', 'no')


def summary(results):
    """The figures of a list of results: dictionaries with kind, right, false and tokens."""
    count = max(1, len(results))
    rows = [f'{len(results)} answers: right {100 * sum(r["right"] for r in results) / count:.1f} %, '
            f'false claims {100 * sum(r["false"] for r in results) / count:.1f} %, '
            f'{sum(r["tokens"] for r in results) / count:.0f} tokens each']
    for kind in QUESTIONS:
        mine = [r for r in results if r['kind'] == kind]
        if mine:
            rows.append(f'  {kind:6} right {sum(r["right"] for r in mine)} of {len(mine)}, '
                        f'false {sum(r["false"] for r in mine)}')
    return '\n'.join(rows)


class Server:
    """`lanescope mcp` and the bytes that its client sends and receives."""
    META = {'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {}}

    def __init__(self, words):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.bytes = 0
        self.number = 0

    def request(self, method, **parameters):
        self.number += 1
        line = json.dumps({'jsonrpc': '2.0', 'id': self.number, 'method': method,
                           'params': dict(parameters, _meta=self.META)}).encode() + b'\n'
        self.process.stdin.write(line)
        self.process.stdin.flush()
        while True:
            answer = self.process.stdout.readline()
            if not answer:
                raise SystemExit('lanescope mcp has ended.')
            message = json.loads(answer)
            if message.get('id') == self.number:
                break
        if 'error' in message:
            raise SystemExit(message['error']['message'])
        return message['result']

    def call(self, tool, **arguments):
        """The text of an answer; counts it and its arguments."""
        result = self.request('tools/call', name=tool, arguments=arguments)
        text = result['content'][0]['text']
        self.bytes += len(text.encode()) + len(json.dumps(arguments))
        return text

    def close(self):
        self.process.stdin.close()
        self.process.wait()
