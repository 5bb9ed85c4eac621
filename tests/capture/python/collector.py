# SPDX-License-Identifier: Apache-2.0
"""Collects garbage and computes by turns, and says for which share of the time it did the first.

usage: collector.py SECONDS
"""
import gc
import json
import sys
import threading
import time

seconds = float(sys.argv[1])
gc.disable()


class Node:
    def __init__(self):
        self.itself = self


kept = [Node() for _ in range(300_000)]


def collect_here():
    gc.collect()


def compute_here(until):
    while time.monotonic() < until:
        pass


def idle_here(over):
    over.wait()


over = threading.Event()
other = threading.Thread(target=idle_here, args=(over,), daemon=True)
other.start()
begun = time.monotonic()
collected = 0
while time.monotonic() - begun < seconds:
    before = time.monotonic()
    collect_here()
    collected += time.monotonic() - before
    compute_here(time.monotonic() + 0.03)
whole = time.monotonic() - begun
over.set()
print(json.dumps({"collecting": 100 * collected / whole}))
