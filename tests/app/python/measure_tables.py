#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long it takes to have all kernels of a trace in Arrow, and the same columns by Python's sqlite3.

usage: PYTHONPATH=STAGE measure_tables.py TRACE      a trace as lanescope-generate-trace writes, and needs pyarrow
"""

import resource
import sqlite3
import sys
import time

import pyarrow
import pyarrow.compute

import lanescope

# The columns of the file that make what `kernels()` has of them.
COLUMNS = ("start, end, end - start, s.value, d.value, gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread, "
           "staticSharedMemory, dynamicSharedMemory, graphNodeId, deviceId, streamId, globalPid >> 24 & 16777215, correlationId")

def timed(what, work):
    begun = time.perf_counter()
    result = work()
    print(f"{what}: {time.perf_counter() - begun:.2f} s")
    return result

path = sys.argv[1]
trace = timed("open", lambda: lanescope.open(path))
kernels = timed("kernels()", trace.kernels)
for _ in range(3):
    table = timed("pyarrow.table(kernels)", lambda: pyarrow.table(kernels))
print(f"{table.num_rows:,} kernels, {table.num_columns} columns, {table.nbytes / 2**20:.0f} MiB")

del table
print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10:.0f} MiB")
reader = pyarrow.RecordBatchReader.from_stream(kernels)
total = timed("batch by batch, summing durations", lambda: sum(
    pyarrow.compute.sum(batch.column("duration_ns")).as_py() for batch in reader))
database = sqlite3.connect(path)
rows = timed("sqlite3, row by row, kept nowhere", lambda: sum(1 for _ in database.execute(
    f"SELECT {COLUMNS} FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName "
    "JOIN StringIds d ON d.id = k.demangledName")))
assert rows == len(kernels)
