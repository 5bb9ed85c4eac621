# SPDX-License-Identifier: Apache-2.0
"""What traces say of lines of Python, counted anew from their tables: what lines-gpu prints."""

import bisect
import collections
import csv
import io
import sqlite3

LAUNCHES = "(n.value LIKE 'cuLaunch%' OR n.value LIKE 'cudaLaunch%' OR n.value LIKE 'cuGraphLaunch%')"
OTHERS = ("site-packages", "dist-packages", "/lib/python3", "<frozen", "<string>", "torchinductor", "/triton/")


WORK = "start, \"end\", correlationId, globalPid, graphNodeId, shortName"
TABLES = {"CUPTI_ACTIVITY_KIND_KERNEL": WORK, "CUPTI_ACTIVITY_KIND_MEMCPY": WORK, "CUPTI_ACTIVITY_KIND_MEMSET": WORK,
          "CUPTI_ACTIVITY_KIND_RUNTIME": "start, \"end\", globalTid, correlationId, nameId, callchainId",
          "NVTX_EVENTS": "start, \"end\", text, textId, globalTid",
          "LANESCOPE_STACKS": "id, parentId, functionId, fileId, line", "LANESCOPE_PROPERTIES": "name, value",
          "LANESCOPE_THREAD_STATES": "start, \"end\", globalTid, state, callchainId, cpuNs, delayNs",
          "CUDA_GRAPH_NODE_EVENTS": "start, graphNodeId, originalGraphNodeId",
          "LANESCOPE_GRAPH_NODE_STACKS": "nodeRow, callchainId"}


def opened(trace):
    """A trace has no table of what there was none of; here it has an empty one."""
    database = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)
    there = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
    for table, columns in TABLES.items():
        if table not in there:
            database.execute(f"CREATE TEMP TABLE {table} ({columns})")
    return database


def properties(trace, pattern):
    return dict(opened(trace).execute("SELECT name, value FROM LANESCOPE_PROPERTIES WHERE name LIKE ?", (pattern,)))


def step_windows(database):
    """[(start, end)] of the ranges "step N" that the training counts as such, from 0 on."""
    return sorted(database.execute(
        "SELECT e.start, e.\"end\" FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId"
        " WHERE coalesce(e.text, s.value) LIKE 'step %' AND coalesce(e.text, s.value) NOT LIKE 'step -%'"
        " AND e.\"end\" IS NOT NULL"))


class Frames:
    def __init__(self, database):
        self.frames = {row[0]: row[1:] for row in database.execute(
            "SELECT s.id, s.parentId, g.value, f.value, s.line FROM LANESCOPE_STACKS s"
            " JOIN StringIds f ON f.id = s.functionId LEFT JOIN StringIds g ON g.id = s.fileId")}

    def stack(self, number):
        """[(file, function, line)], the innermost first."""
        stack = []
        while number in self.frames:
            parent, file, function, line = self.frames[number]
            stack.append((file or "", function, line or 0))
            number = parent
        return stack


def launches(trace):
    """Share of launches that carry a stack, of threads that have any."""
    database = opened(trace)
    rows = database.execute(f"SELECT c.globalTid, c.callchainId IS NOT NULL, count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME c"
                            f" JOIN StringIds n ON n.id = c.nameId WHERE {LAUNCHES} GROUP BY 1, 2").fetchall()
    python = {row[0] for row in database.execute(
        "SELECT DISTINCT globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE callchainId IS NOT NULL")}
    of_python = [row for row in rows if row[0] in python]
    count = sum(row[2] for row in of_python)
    carried = sum(row[2] for row in of_python if row[1])
    return {"launches": sum(row[2] for row in rows), "python": count, "carried": carried,
            "ofPython": 100 * carried / max(count, 1)}


def kernels_with_lines(text, trace):
    """Of the report kernels_by_line: how many kernels have a line of their own or one that they were called from."""
    found = collections.Counter()
    for row in csv.DictReader(io.StringIO(text)):
        found[row["How"] if row["Line"] else "none"] += int(row["Instances"])
    kernels = opened(trace).execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]
    with_line = sum(count for how, count in found.items() if how and how != "none")
    return {"kernels": kernels, "how": dict(found), "share": 100 * with_line / max(kernels, 1)}


def gpu_work(database):
    """[(start, end, correlation, process)] of kernels, copies and memsets, by start."""
    parts = [f"SELECT start, \"end\", correlationId, globalPid FROM CUPTI_ACTIVITY_KIND_{kind}"
             for kind in ("KERNEL", "MEMCPY", "MEMSET")]
    return sorted(database.execute(" UNION ALL ".join(parts)))


def idle(trace):
    """Idle time of one GPU within the steps: that of gaps from 20 us on whose next work has a line, or was called from one;
    and that of gaps from 10 ms on for which a state of the main thread is known all along, and a line, too."""
    database = opened(trace)
    windows = step_windows(database)
    if not windows:
        return {"line": 0.0, "lineMs": 0.0, "state": 0.0, "stateMs": 0.0, "gaps": 0}
    begin, end = windows[0][0], windows[-1][1]
    calls = {row[0]: row[1:] for row in database.execute(
        "SELECT correlationId, globalTid, start, callchainId FROM CUPTI_ACTIVITY_KIND_RUNTIME")}
    main = database.execute("SELECT globalTid, count(*) n FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE callchainId IS NOT NULL"
                            " GROUP BY 1 ORDER BY n DESC").fetchone()
    main = main[0] if main else None
    own = sorted(row[0] for row in database.execute(
        "SELECT start FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE globalTid = ? AND callchainId IS NOT NULL", (main,)))
    states = database.execute("SELECT start, \"end\", state, callchainId FROM LANESCOPE_THREAD_STATES WHERE globalTid = ?"
                              " ORDER BY start", (main,)).fetchall()
    starts = [row[0] for row in states]
    sums, counts, busy_until = collections.Counter(), collections.Counter(), None
    for start, stop, correlation, _process in gpu_work(database):
        if busy_until is not None and start > busy_until and begin <= busy_until and start <= end:
            gap = start - busy_until
            thread, called, stack = calls.get(correlation, (None, None, None))
            has_line = stack is not None or (called is not None and bisect.bisect_left(own, called) > 0)
            if gap >= 20_000:
                counts["gaps"] += 1
                sums["line"] += gap
                sums["line found"] += gap * has_line
            if gap >= 10_000_000:
                counts["long"] += 1
                sums["state"] += gap
                known = has_stack = 0
                for row in states[max(0, bisect.bisect_right(starts, busy_until) - 1):]:
                    if row[0] >= start:
                        break
                    part = min(start, row[1]) - max(busy_until, row[0])
                    if part > 0 and row[2] != 0:
                        known += part
                        has_stack += part * (row[3] is not None)
                sums["state found"] += gap * (has_line and known >= 0.9 * gap and has_stack > 0)
        busy_until = stop if busy_until is None else max(busy_until, stop)

    def share(name):
        return 100 * sums[f"{name} found"] / sums[name] if sums[name] else 100.0

    return {"line": share("line"), "lineMs": sums["line"] / 1e6, "state": share("state"), "stateMs": sums["state"] / 1e6,
            "gaps": counts["gaps"], "longGaps": counts["long"], "mainThreadStates": len(states)}


# What schedule.py and spinners.py call what they do.
SCHEDULED = {"spin", "nap", "wait_for_lock", "wait_for_input", "spin_here"}


def scheduled(trace):
    """{state: per cent} of the main thread of such a program, from the first to the last that was seen of its turns."""
    database = opened(trace)
    frames = Frames(database)
    rows = database.execute("SELECT start, \"end\", state, callchainId, cpuNs, delayNs, globalTid FROM LANESCOPE_THREAD_STATES"
                            " ORDER BY start").fetchall()
    turns = [row for row in rows if any(frame[1] in SCHEDULED for frame in frames.stack(row[3])[:1])]
    if not turns:
        return {}
    main = min(row[6] for row in turns)
    begin, end = (edge(row[place] for row in turns if row[6] == main) for edge, place in ((min, 0), (max, 1)))
    times = collections.Counter()
    for start, stop, state, _stack, cpu, delay, thread in rows:
        if thread == main and start >= begin and stop <= end:
            times[1] += cpu
            times[2] += delay
            times[0 if state == 1 else state] += stop - start - cpu - delay
    whole, waits = sum(times.values()), sum(time for state, time in times.items() if state > 2)
    # What it waited between two looks that saw it run, like what was seen of its waits.
    return {state: 100 * time * (1 + (times[0] / waits if state > 2 else 0)) / whole
            for state, time in times.items() if state}


def is_others(file):
    return any(part in file for part in OTHERS)


def place(frame):
    return f"{frame[0].rsplit('/', 1)[-1]}:{frame[2]} in {frame[1].rsplit('.', 1)[-1]}"


def graphs(trace):
    """Stacks of kernels in CUDA graphs, from where they were captured; and of Triton's kernels, wherever they are."""
    database = opened(trace)
    frames = Frames(database)
    nodes = {}
    for node, original, stack in database.execute(
            "SELECT e.graphNodeId, e.originalGraphNodeId, s.callchainId FROM CUDA_GRAPH_NODE_EVENTS e"
            " LEFT JOIN LANESCOPE_GRAPH_NODE_STACKS s ON s.nodeRow = e.rowid ORDER BY e.start, e.rowid"):
        if stack is not None:
            nodes.setdefault(node, stack)
        # A node of an executable graph is a copy of one that was captured, and says more by that.
        if original in nodes:
            nodes[node] = nodes[original]
    calls = dict(database.execute("SELECT correlationId, callchainId FROM CUPTI_ACTIVITY_KIND_RUNTIME"))
    result, places, triton_places = collections.Counter(), collections.Counter(), collections.Counter()
    for node, correlation, name in database.execute(
            "SELECT k.graphNodeId, k.correlationId, n.value FROM CUPTI_ACTIVITY_KIND_KERNEL k"
            " JOIN StringIds n ON n.id = k.shortName"):
        stack = frames.stack(nodes.get(node) if node else calls.get(correlation))
        if node:
            result["inGraphs"] += 1
            result["withStack"] += bool(stack)
            own = next((frame for frame in stack if not is_others(frame[0])), None)
            if own:
                places[place(own)] += 1
        if name.startswith("triton_"):
            result["triton"] += 1
            at = next((i for i, frame in enumerate(stack) if "torchinductor" in frame[0]), None)
            below = next((frame for frame in stack[at:] if not is_others(frame[0])), None) if at is not None else None
            result["tritonGenerated"] += at is not None
            result["tritonUser"] += below is not None
            if below:
                triton_places[f"{place(stack[at])} below {place(below)}"] += 1
    return {**{key: result[key] for key in ("inGraphs", "withStack", "triton", "tritonGenerated", "tritonUser")},
            "nodes": len(nodes), "places": places.most_common(10), "tritonPlaces": triton_places.most_common(10)}
