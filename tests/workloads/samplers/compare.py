# SPDX-License-Identifier: Apache-2.0
"""Compares what samplers wrote into a trace with what known_copies says that it moved."""

import json
import sqlite3


class Trace:
    def __init__(self, path):
        self.database = sqlite3.connect(path)
        self.start = self.one("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME")

    def rows(self, sql, *values):
        return self.database.execute(sql, values).fetchall()

    def one(self, sql, *values):
        row = self.database.execute(sql, values).fetchone()
        return row[0] if row else None

    def health(self):
        return self.rows("SELECT severity, code, sentence FROM LANESCOPE_HEALTH")

    def properties(self, beginning):
        return self.rows(
            "SELECT name, value FROM LANESCOPE_PROPERTIES WHERE name LIKE ? || '%'", beginning
        )

    def grown(self, name, gpu, start, end, single=False):
        """How much a cumulative counter of a GPU grew, its sum or its links added up, around a time."""
        total = 0
        for (counter,) in self.rows(
            "SELECT counterId FROM LANESCOPE_COUNTERS WHERE source = 'nvml' AND name = ? AND gpuId = ?"
            " AND link IS " + ("NOT NULL" if single else "NULL"), name, gpu
        ):
            before = self.one(
                "SELECT value FROM LANESCOPE_COUNTER_SAMPLES WHERE counterId = ? AND"
                " timestamp <= ? AND value IS NOT NULL ORDER BY timestamp DESC LIMIT 1",
                counter, start,
            )
            after = self.one(
                "SELECT value FROM LANESCOPE_COUNTER_SAMPLES WHERE counterId = ? AND"
                " timestamp >= ? AND value IS NOT NULL ORDER BY timestamp LIMIT 1",
                counter, end,
            )
            if after is None:
                after = self.one(
                    "SELECT value FROM LANESCOPE_COUNTER_SAMPLES WHERE counterId = ? AND"
                    " value IS NOT NULL ORDER BY timestamp DESC LIMIT 1",
                    counter,
                )
            if before is not None and after is not None:
                total += after - before
        return total

    def integral(self, source, name, gpu, start, end):
        """An average rate times its intervals, between two times."""
        rows = self.rows(
            "SELECT s.timestamp, s.value FROM LANESCOPE_COUNTER_SAMPLES s JOIN LANESCOPE_COUNTERS c"
            " USING (counterId) WHERE c.source = ? AND c.name = ? AND c.gpuId = ?"
            " ORDER BY s.timestamp",
            source, name, gpu,
        )
        total = 0
        for (before, _), (time, value) in zip(rows, rows[1:]):
            if value is not None and time > start and before < end:
                total += value * (time - before) / 1e9
        return total

    def amount(self, name, gpu, start, end):
        return self.one(
            "SELECT total(m.value) FROM GPU_METRICS m JOIN TARGET_INFO_GPU_METRICS n USING (typeId,"
            " metricId) WHERE n.metricName = ? AND (m.typeId & 255) = ? AND m.timestamp > ?"
            " AND m.timestamp <= ?",
            name, gpu, start, end,
        )


def percent(measured, known):
    return f"{measured:>18,.0f} of {known:>18,} = {100 * measured / known:8.3f} %"


def phases(trace, output):
    for line in open(output):
        if line.startswith("{"):
            phase = json.loads(line)
            # With the pauses around it, so that slow samplers are whole.
            yield phase["kind"], phase["bytes"], phase["startNs"] - trace.start - 300_000_000, (
                phase["endNs"] - trace.start + 300_000_000
            )


def compare(path, output):
    trace = Trace(path)
    for kind, size, start, end in phases(trace, output):
        if kind == "epoch PtoP":
            for gpu, direction in ((0, "tx"), (1, "rx")):
                print(f"  NVML nvlink.{direction} GPU {gpu}:  "
                      + percent(trace.grown("nvlink." + direction, gpu, start, end), size))
                print("       its links added up:  "
                      + percent(trace.grown("nvlink." + direction, gpu, start, end, True), size))
                print(f"  GPM  nvlink.{direction} GPU {gpu}:  "
                      + percent(trace.integral("gpm", "nvlink." + direction, gpu, start, end), size))
                name = f"NVLink {direction.upper()} User Data Bytes [B]"
                print(f"  PM   nvlink.{direction} GPU {gpu}:  "
                      + percent(trace.amount(name, gpu, start, end), size))
        if kind in ("epoch HtoD", "epoch DtoH"):
            direction, name = (
                ("rx", "PCIe Read Bytes [B]") if kind == "epoch HtoD" else
                ("tx", "PCIe Write Bytes [B]")
            )
            print(f"  GPM  pcie.{direction} {kind}:    "
                  + percent(trace.integral("gpm", "pcie." + direction, 0, start, end), size))
            print(f"  PM   {name} {kind}: "
                  + percent(trace.amount(name, 0, start, end), size))
            other = "PCIe Write Bytes [B]" if "Read" in name else "PCIe Read Bytes [B]"
            print(f"       ({other} meanwhile: {trace.amount(other, 0, start, end):,.0f})")
        if kind == "epoch kernel":
            print(f"  the kernels read and wrote {size:,} bytes each")
            print("  PM   greatest SMs Active, DRAM Read, DRAM Write:", trace.rows(
                "SELECT n.metricName, max(m.value) FROM GPU_METRICS m JOIN TARGET_INFO_GPU_METRICS"
                " n USING (typeId, metricId) WHERE m.timestamp > ? AND m.timestamp < ?"
                " AND n.metricName LIKE '%[Throughput \\%]' ESCAPE '\\' AND (m.typeId & 255) = 0"
                " GROUP BY 1", start, end))
    alignment(trace)
    summary(trace)


def alignment(trace):
    """When the first and the last busy sample lie against the kernels that made the GPU busy."""
    kernels = trace.rows("SELECT min(start), max(\"end\") FROM CUPTI_ACTIVITY_KIND_KERNEL")[0]
    if kernels[0] is None:
        return
    busy = trace.rows(
        "SELECT min(m.timestamp), max(m.timestamp) FROM GPU_METRICS m JOIN TARGET_INFO_GPU_METRICS"
        " n USING (typeId, metricId) WHERE n.metricName LIKE 'SMs Active%' AND m.value > 50"
        " AND (m.typeId & 255) = 0 AND m.timestamp BETWEEN ? - 100000000 AND ? + 100000000",
        kernels[0], kernels[1],
    )[0]
    if busy[0] is not None:
        print(f"  clocks: first busy sample ends {(busy[0] - kernels[0]) / 1e6:.3f} ms after the"
              f" first kernel begins, the last {(busy[1] - kernels[1]) / 1e6:.3f} ms after the last"
              " ends")


def moments(trace):
    """How late counters were read for the ends of ranges, and whether each reading has values."""
    rows = trace.rows("SELECT range, occurrence, globalPid, isEnd, timestamp, readStart, readEnd"
                      " FROM LANESCOPE_SAMPLING_MOMENTS ORDER BY timestamp")
    if not rows:
        return
    ends = {}
    for name, occurrence, process, is_end, *times in rows:
        ends.setdefault((name, occurrence, process), {})[is_end] = times
    sums = trace.rows("SELECT counterId, name, gpuId FROM LANESCOPE_COUNTERS WHERE source = 'nvml'"
                      " AND (name LIKE 'nvlink%' AND link IS NULL OR name = 'energy')")
    late = sorted((start - time) / 1e6 for *_, time, start, _ in rows)
    long = sorted((end - start) / 1e6 for *_, start, end in rows)
    middle = len(rows) // 2
    print(f"  moments: {len(rows)} of {len(ends)} ranges of {len({key[2] for key in ends})} processes,"
          f" {len({row[5] for row in rows})} readings; a reading begins {late[middle]:.2f} ms after"
          f" its moment (median; most {late[-1]:.2f}) and takes {long[middle]:.2f} ms (most"
          f" {long[-1]:.2f})")
    for counter, name, gpu in sums:
        times = [row[0] for row in trace.rows(
            "SELECT timestamp FROM LANESCOPE_COUNTER_SAMPLES WHERE counterId = ? AND value IS NOT"
            " NULL ORDER BY 1", counter)]
        has = sum(any(start <= time <= end for time in times) for *_, start, end in rows)
        print(f"    {name} GPU {gpu}: a value in {has} of {len(rows)} readings")


def counters(trace):
    """How often each counter of a GPU was read."""
    by_name = {}
    for name, source, gpu, link, kept, interval in trace.rows(
        "SELECT name, source, gpuId, link, count(*), intervalNs FROM LANESCOPE_COUNTERS JOIN"
        " LANESCOPE_COUNTER_SAMPLES USING (counterId) WHERE gpuId IS NOT NULL GROUP BY counterId"
    ):
        key = f"{source} {name}" + (" (a link)" if link is not None else "")
        by_name.setdefault(key, []).append((gpu, kept, interval))
    for name, each in by_name.items():
        intervals = [interval / 1e6 for *_, interval in each if interval]
        print(f"    {name}: {len(each)} counters, samples kept"
              f" {min(kept for _, kept, _ in each)} to {max(kept for _, kept, _ in each)}, "
              + (f"read every {min(intervals):.0f} to {max(intervals):.0f} ms" if intervals
                 else "read once"))


def lost(trace, gpu):
    """How far samples of the hardware counters are apart, and where some are missing."""
    rows = trace.rows("SELECT timestamp, value IS NULL FROM GPU_METRICS WHERE metricId = 0 AND"
                      " (typeId & 255) = ? ORDER BY 1", gpu)
    steps = [(after - before, before, unknown)
             for (before, _), (after, unknown) in zip(rows, rows[1:])]
    if not steps:
        return
    known = sorted(step for step, _, unknown in steps if not unknown)
    gaps = sorted(((step, at) for step, at, unknown in steps if unknown), reverse=True)
    print(f"         {known[0] / 1e3:.1f} to {known[-1] / 1e3:.1f} us apart, median"
          f" {known[len(known) // 2] / 1e3:.1f}; {len(gaps)} gaps of"
          f" {sum(step for step, _ in gaps) / 1e6:.1f} ms in all"
          + "".join(f", {step / 1e6:.1f} ms at {at / 1e9:.3f} s" for step, at in gaps[:5]))


def summary(trace):
    print("  counters:", trace.rows(
        "SELECT source, count(DISTINCT counterId), count(*), sum(value IS NULL) FROM"
        " LANESCOPE_COUNTERS JOIN LANESCOPE_COUNTER_SAMPLES USING (counterId) GROUP BY 1"))
    for gpu, metrics, samples, length in trace.rows(
        "SELECT typeId & 255, count(DISTINCT metricId), count(DISTINCT timestamp),"
        " (max(timestamp) - min(timestamp)) / 1e9 FROM GPU_METRICS WHERE value IS NOT NULL"
        " GROUP BY 1"
    ):
        print(f"  GPU {gpu}: {metrics} metrics, {samples} samples in {length:.2f} s ="
              f" {samples / max(length, 1e-9):.1f} Hz")
        lost(trace, gpu)
    print("  metrics:", [row[0] for row in trace.rows(
        "SELECT DISTINCT metricName FROM TARGET_INFO_GPU_METRICS ORDER BY metricId")])
    print("  peaks:", trace.rows("SELECT kind, gpuId, peerGpuId, bytesPerSecond, links, generation,"
                                 " width, origin FROM LANESCOPE_LINK_PEAKS"))
    print("  affinity:", trace.rows("SELECT * FROM LANESCOPE_GPU_AFFINITY"))
    print("  topology:", trace.rows("SELECT gpuId, peerGpuId, abbreviation FROM LANESCOPE_TOPOLOGY"))
    moments(trace)
    counters(trace)
    for beginning in ("sampler", "gpuMetrics"):
        for name, value in trace.properties(beginning):
            print(f"  {name}: {value}")
    for severity, code, sentence in trace.health():
        print(f"  health {severity} {code}: {sentence}")
