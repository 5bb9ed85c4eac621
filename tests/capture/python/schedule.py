# SPDX-License-Identifier: Apache-2.0
"""Runs, sleeps, waits for a lock and for input, in turns, and says for how long each took.

usage: schedule.py SECONDS
"""
import json
import os
import select
import sys
import threading
import time

seconds = float(sys.argv[1])
begun = time.monotonic()
sums = {}
reader, writer = os.pipe()
turn = threading.Lock()


def is_over():
    return time.monotonic() - begun >= seconds


def helper():
    while not is_over():
        turn.acquire()
        time.sleep(0.043)
        turn.release()
        os.write(writer, b"x")
        time.sleep(0.037)


def spin(until):
    while time.thread_time() < until:
        pass


def nap():
    time.sleep(0.019)


def wait_for_lock():
    turn.acquire()
    turn.release()


def wait_for_input():
    select.select([reader], [], [], 0.2)
    os.read(reader, 1)


def timed(name, work, *arguments):
    before = time.monotonic()
    work(*arguments)
    sums[name] = sums.get(name, 0) + time.monotonic() - before


thread = threading.Thread(target=helper, daemon=True)
thread.start()
first = time.monotonic()
cpu = time.thread_time()
os.set_blocking(reader, False)
while not is_over():
    timed("spin", spin, time.thread_time() + 0.023)
    timed("nap", nap)
    timed("lock", wait_for_lock)
    try:
        timed("input", wait_for_input)
    except BlockingIOError:
        pass
whole = time.monotonic() - first
sums["cpu"] = time.thread_time() - cpu
print(json.dumps({"shares": {name: 100 * sum / whole for name, sum in sums.items()},
                  "begin": first, "end": first + whole}))
