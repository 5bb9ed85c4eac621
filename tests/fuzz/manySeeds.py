# SPDX-License-Identifier: Apache-2.0
"""Inputs with many rows or events, in order and in none: what sorts, grows and packs does so only from some size on."""

import json
import pathlib
import random

TIMES = ("start", "end", "timestamp", "time", "rawTimestamp")
NUMBERS = ("id", "_id_", "correlationId", "parentId", "eventId", "api_id", "op_id", "event_id", "index")
FORMS = {"few": (40, "+", False), "ordered": (700, "+", False), "scattered": (700, "?", False), "varied": (300, "?", True)}
ROWS_OF_A_TABLE = 2
# Enough for levels of detail and for sums of blocks; of one table at a time, and of few others.
LONG, LONG_FORMS = 9000, {"long": ("+", False), "long-scattered": ("?", True)}

NAMES = pathlib.Path(__file__).resolve().parent.parent / "model" / "kernelNames.tsv"


def kernel_names():
    """Names of kernels as profilers wrote them, of each kind of library and compiler."""
    return [line.partition("\t")[2] for line in NAMES.read_text().splitlines() if line and not line.startswith("#")]


def named_sheet(strings, kernels, row):
    """A sheet with as many kernels as there are names; `{at}` and `{name}` of `row` are replaced."""
    lines = []
    for number, name in enumerate(kernel_names()):
        text = "".join(letter if 32 < ord(letter) < 127 and letter != "%" else f"%{ord(letter):02x}" for letter in name)
        lines.append(f"R {number + 1} '{text}")
    rows = ["R " + row.format(at=1000 * number, end=1000 * number + 500, name=number + 1) for number in range(len(lines))]
    return "\n".join([*([strings] if strings else []), *lines, kernels, *rows]) + "\n"


def named():
    """{target: {name: input}} of kernels with these names."""
    cupti = ("T CUPTI_ACTIVITY_KIND_KERNEL start end deviceId contextId streamId correlationId globalPid shortName demangledName",
             "{at} {end} 0 1 7 {name} 281475060137984 {name} {name}")
    of_nvprof = ("start", "end", "deviceId", "contextId", "streamId", "correlationId", "name")
    events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 10 * number, "dur": 5,
               "args": {"device": 0, "context": 1, "stream": 7, "correlation": number}}
              for number, name in enumerate(kernel_names())]
    return {
        "trace": named_sheet("T StringIds id value", *cupti), "nsight": named_sheet("T StringIds id value", *cupti),
        "nvprof": named_sheet("", " ".join(["T CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", *of_nvprof]), "{at} {end} 0 1 7 {name} {name}"),
        "rocm": named_sheet("T rocpd_string id string",
                            "T rocpd_api id pid tid start end apiName_id args_id\nR 1 7 7 1 2 1 ~\n"
                            "T rocpd_op id gpuId queueId start end description_id opType_id", "{name} 0 1 {at} {end} {name} 3"),
        "jsontrace": json.dumps({"traceEvents": events})}


def repeated(columns, row, count, sign, is_varied):
    """A line of a sheet (targets/Sheet.h) with as many rows like this one."""
    words = []
    for column, word in zip(columns, row):
        if not word.isdigit():
            words.append(word)
        elif column in TIMES or column.endswith(("Start", "End", "Ns")):
            words.append(f"{word}+{700 if sign == '+' else 1}" if sign == "+" else f"{word}?500000")
        elif column in NUMBERS:
            words.append(f"{word}{sign}{1 if sign == '+' else count}")
        else:
            words.append(f"{word}?7" if is_varied else word)
    return " ".join(["M", str(count), *words])


def many(sheet):
    """{form: the sheet with many more rows of each table}."""
    result = {}
    for form, (count, sign, is_varied) in FORMS.items():
        lines, columns, left = [], [], 0
        for line in sheet.splitlines():
            words = line.split()
            lines.append(line)
            if words and words[0] == "T":
                columns, left = words[2:], ROWS_OF_A_TABLE
            elif words and words[0] == "R" and left > 0:
                left -= 1
                lines.append(repeated(columns, words[1:], count, sign, is_varied))
        result[form] = "\n".join(lines) + "\n"
    return result


def long(sheet):
    """{table and form: the sheet with very many rows of that table}."""
    lines, result, columns, table, has_row = sheet.splitlines(), {}, [], "", True
    for at, line in enumerate(lines):
        words = line.split()
        if words and words[0] == "T":
            table, columns, has_row = words[1], words[2:], False
        elif words and words[0] == "R" and not has_row:
            has_row = True
            for form, (sign, is_varied) in LONG_FORMS.items():
                row = repeated(columns, words[1:], LONG, sign, is_varied)
                result[f"{table}-{form}"] = "\n".join([*lines[:at + 1], row, *lines[at + 1:]]) + "\n"
    return result


def many_events(text, most):
    """The same of a trace in JSON: its events again and again, at other times and with other numbers."""
    trace, drawn = json.loads(text), random.Random(1)
    events = trace if isinstance(trace, list) else trace["traceEvents"]
    beside = {} if isinstance(trace, list) else {name: value for name, value in trace.items() if name != "traceEvents"}
    result = {}
    for form in ("ordered", "scattered"):
        made = []
        for number in range(max(1, most // len(events))):
            at = 1000 * number if form == "ordered" else drawn.randrange(100_000)
            for event in events:
                event = {**event, "args": dict(event["args"])} if isinstance(event.get("args"), dict) else dict(event)
                for place in (event, event.get("args", {})):
                    if not isinstance(place, dict):
                        continue
                    for name in ("ts", "id", "correlation", "External id", "Sequence number"):
                        if type(place.get(name)) is int:
                            place[name] += at if name == "ts" else 100 * number
                made.append(event)
        result[form] = json.dumps({**beside, "traceEvents": made})
    return result
