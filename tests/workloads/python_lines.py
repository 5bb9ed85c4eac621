# SPDX-License-Identifier: Apache-2.0
"""Trains a small network on a GPU and holds the Python stacks that were recorded against Python's own.

usage: python_lines.py train NOTES [STEPS]     as the recorded program
       python_lines.py check TRACE NOTES

`train` runs some steps in which every operation of PyTorch notes the stack that it was called from, under an
NVTX range with the note's number, and then as many steps as they are, for what comes from each line. `check`
prints one line of JSON: launches inside noted operations and how many of them have another stack than noted;
calls of the plain steps with a stack, with one of the main thread's, and without; and GPU time by line.
"""
import bisect
import collections
import json
import sqlite3
import sys


def train(notes_file, steps):
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    notes = []

    def noted(frame):
        stack = []
        while frame is not None:
            code = frame.f_code
            name = code.co_qualname if hasattr(code, "co_qualname") else code.co_name
            stack.append([code.co_filename, name, frame.f_lineno or 0])
            frame = frame.f_back
        return stack

    class Noting(TorchDispatchMode):
        def __torch_dispatch__(self, function, _types, arguments=(), named=None):
            number = len(notes)
            notes.append(noted(sys._getframe()))
            torch.cuda.nvtx.range_push(f"note {number}")
            notes[number][0][2] = sys._getframe().f_lineno + 1
            result = function(*arguments, **(named or {}))
            torch.cuda.nvtx.range_pop()
            return result

    class Block(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.first = torch.nn.Linear(width, 4 * width)
            self.second = torch.nn.Linear(4 * width, width)

        def forward(self, values):
            hidden = torch.nn.functional.gelu(self.first(values))
            return values + self.second(hidden)

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(_context, values):
            return values * 0.5

        @staticmethod
        def backward(_context, gradient):
            return gradient * 0.5

    model = torch.nn.Sequential(*(Block(256) for _ in range(6))).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def batches():
        while True:
            yield torch.randn(64, 256, device="cuda")

    data = batches()

    def step():
        values = next(data)
        output = Scaled.apply(model(values))
        loss = (output - values).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    torch.cuda.synchronize()
    with Noting():
        for _ in range(steps):
            step()
    torch.cuda.synchronize()
    for number in range(steps):
        torch.cuda.nvtx.range_push(f"plain {number}")
        step()
        torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()
    with open(notes_file, "w") as file:
        json.dump(notes, file)


class Recorded:
    """What a trace says."""

    def __init__(self, path):
        self.database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.frames = {
            row[0]: row[1:]
            for row in self.database.execute(
                "SELECT s.id, s.parentId, g.value, f.value, s.line FROM LANESCOPE_STACKS s"
                " JOIN StringIds f ON f.id = s.functionId LEFT JOIN StringIds g ON g.id = s.fileId")
        }
        self.calls = self.database.execute(
            "SELECT c.start, c.globalTid, c.callchainId, n.value FROM CUPTI_ACTIVITY_KIND_RUNTIME c"
            " JOIN StringIds n ON n.id = c.nameId ORDER BY c.start").fetchall()
        ranges = collections.defaultdict(list)
        for start, end, thread, text in self.database.execute(
                "SELECT e.start, e.\"end\", e.globalTid, coalesce(e.text, s.value) AS name FROM NVTX_EVENTS e"
                " LEFT JOIN StringIds s ON s.id = e.textId WHERE name LIKE 'note %' OR name LIKE 'plain %' ORDER BY 1"):
            ranges[thread].append((start, end, text))
        self.ranges = ranges

    def stack(self, number):
        stack = []
        while number:
            parent, file, function, line = self.frames[number]
            stack.append([file or "", function, line or 0])
            number = parent
        return stack

    def innermost(self, thread, time, prefix):
        """The text of the range of the thread around a time."""
        ranges = self.ranges[thread]
        at = bisect.bisect_right(ranges, (time, float("inf"), ""))
        for start, end, text in reversed(ranges[max(0, at - 40):at]):
            if start <= time < (end or time + 1) and text.startswith(prefix):
                return text
        return None


def check(trace, notes_file):
    recorded = Recorded(trace)
    with open(notes_file) as file:
        notes = json.load(file)
    result = collections.Counter()
    first = None

    def same(found, wanted):
        """Files below the folder of the recording are stored without it, and a home folder as ~."""
        return len(found) == len(wanted) and all(
            ours[1:] == noted[1:] and noted[0].endswith(ours[0].removeprefix("~")) for ours, noted in zip(found, wanted))
    for start, thread, number, name in recorded.calls:
        if not name.startswith("cuLaunch"):
            continue
        text = recorded.innermost(thread, start, "note ")
        if text is None:
            continue
        wanted = notes[int(text.split()[1])]
        # Operations that Python itself dispatches again stand further in.
        found = recorded.stack(number)
        result["noted"] += 1
        if not same(found[-len(wanted):], wanted):
            result["different"] += 1
            first = first or [name, found[:6], wanted[:6]]
    windows = [(start, end) for ranges in recorded.ranges.values() for start, end, text in ranges
               if text.startswith("plain ")]
    main_threads = {thread for thread, ranges in recorded.ranges.items()
                    if any(text.startswith("plain ") for _, _, text in ranges)}
    lines = collections.Counter()
    for start, thread, number, name in recorded.calls:
        if not any(begin <= start < end for begin, end in windows):
            continue
        result["plain calls"] += 1
        if number:
            result["with a stack"] += 1
            own = next((frame for frame in recorded.stack(number)
                        if "site-packages" not in frame[0] and "/lib/python3" not in frame[0]),
                       None)
            if own:
                lines[f"{own[0].rsplit('/', 1)[-1]}:{own[2]} in {own[1]}"] += 1
        elif thread in main_threads:
            result["without, on the main thread"] += 1
        else:
            result["without, on other threads"] += 1
    stacks, strings = len(recorded.frames), recorded.database.execute(
        "SELECT count(*) FROM StringIds").fetchone()[0]
    print(json.dumps({**result, "first": first, "stacks": stacks, "strings": strings,
                      "calls by line": lines.most_common(12)}))
    return 1 if result["different"] or not result["noted"] else 0


if __name__ == "__main__":
    if sys.argv[1] == "train":
        train(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 20)
    else:
        sys.exit(check(sys.argv[2], sys.argv[3]))
