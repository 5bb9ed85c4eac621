#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the copies that a program timed by CUDA events with those in a trace of it.

usage: compare_copies.py COPIES TRACE

COPIES is what `bandwidth` printed: batches of copies. The copies of the trace come in the same
order; a batch took from the start of its first copy to the end of its last. Prints a line for each
kind and size, with the median of single copies beside it; exits with 1 if one of at least 16 MiB differs by more than 1 %, and 2 if
the trace does not hold the same copies.
"""

import collections
import contextlib
import sqlite3
import statistics
import sys

LARGE = 16 << 20
TOLERANCE_PERCENT = 1.0
NVLINK_TOLERANCE_PERCENT = 5.0


def read_copies(path):
    copies = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if len(words) != 8 or words[0] != "copy":
                continue
            _, kind, name, source, target, size, count, milliseconds = words
            copies.append(
                (int(kind), name, int(source), int(target), int(size), int(count), float(milliseconds))
            )
    return copies


def shown(size):
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale:
            return f"{size / scale:g} {unit}"
    return f"{size} B"


def nvlink_bytes(trace, gpu):
    """Growth of a GPU's link counters over the trace: (sent, received).

    The counters of all links together where the GPU has them, else those of each link added up.
    """
    totals, sums = {}, {}
    rows = trace.execute(
        "SELECT c.name, c.link, MIN(s.value), MAX(s.value) FROM LANESCOPE_COUNTERS c"
        " JOIN LANESCOPE_COUNTER_SAMPLES s USING (counterId)"
        " WHERE c.gpuId = ? AND c.name IN ('nvlink.tx', 'nvlink.rx') AND c.meaning = 1"
        " GROUP BY c.counterId",
        (gpu,),
    )
    for name, link, least, greatest in rows:
        if least is None:
            continue
        if link is None:
            sums[name] = greatest - least
        else:
            totals[name] = totals.get(name, 0) + greatest - least
    totals.update(sums)
    return totals.get("nvlink.tx"), totals.get("nvlink.rx")


def main():
    copies = read_copies(sys.argv[1])
    trace = sqlite3.connect(sys.argv[2])
    rows = trace.execute(
        'SELECT start, "end", bytes, copyKind FROM CUPTI_ACTIVITY_KIND_MEMCPY'
        " WHERE copyKind NOT IN (11, 12, 13) ORDER BY start, rowid"
    ).fetchall()
    if [(c[0], c[4]) for c in copies for _ in range(c[5])] != [(r[3], r[2]) for r in rows]:
        print(f"The trace holds other copies than the program made: {len(rows)}.")
        sys.exit(2)
    by_path = collections.OrderedDict()
    next_row = 0
    for _, name, _, _, size, count, milliseconds in copies:
        batch = rows[next_row : next_row + count]
        next_row += count
        start, end = batch[0][0], max(row[1] for row in batch)
        if milliseconds <= 0 or end <= start:
            continue
        events, recorded, single = by_path.setdefault((name, size), ([], [], []))
        events.append(count * size / milliseconds / 1e6)
        recorded.append(count * size / (end - start))
        single += [size / (row[1] - row[0]) for row in batch if row[1] > row[0]]
    print(
        f"{'copy':<14} {'size':>8} {'events GB/s':>12} {'trace GB/s':>12} {'difference':>11}"
        f" {'single copy':>12}"
    )
    worst = 0.0
    for (name, size), (events, recorded, single) in by_path.items():
        event, ours = statistics.median(events), statistics.median(recorded)
        difference = 100 * (ours - event) / event
        if size >= LARGE:
            worst = max(worst, abs(difference))
        print(
            f"{name:<14} {shown(size):>8} {event:>12.3f} {ours:>12.3f} {difference:>9.2f} %"
            f" {statistics.median(single):>12.3f}"
        )
    print(f"\nGreatest difference from 16 MiB on: {worst:.2f} % (at most {TOLERANCE_PERCENT} %)")
    for gpu in (0, 1):
        sent = sum(c[4] * c[5] for c in copies if c[0] == 10 and c[2] == gpu)
        with contextlib.suppress(sqlite3.Error):
            counted, _ = nvlink_bytes(trace, gpu)
            if sent and counted is not None:
                print(
                    f"GPU {gpu}: sent {sent} bytes to its peer; NVLink counted {counted},"
                    f" {100 * (counted - sent) / sent:+.2f} %"
                    f" (at most {NVLINK_TOLERANCE_PERCENT} %)"
                )
    sys.exit(1 if worst > TOLERANCE_PERCENT else 0)


if __name__ == "__main__":
    main()
