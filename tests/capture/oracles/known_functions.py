# SPDX-License-Identifier: Apache-2.0
"""Is in known functions on three threads, and says for how long by its own clock.

usage: known_functions.py SECONDS
"""
import json
import sys
import threading
import time

seconds = float(sys.argv[1])
sums, numbers = {}, {}


def is_over():
    return time.monotonic() - begun >= seconds


def grind():
    end = time.monotonic() + 0.120
    while time.monotonic() < end:
        pass


def sift():
    end = time.monotonic() + 0.060
    while time.monotonic() < end:
        pass


def doze():
    time.sleep(0.080)


def linger():
    time.sleep(0.180)


def timed(thread, work):
    before = time.monotonic()
    work()
    sums.setdefault(thread, {}).setdefault(work.__name__, []).append(time.monotonic() - before)


def turns(name, works):
    numbers[name] = threading.get_native_id()
    while not is_over():
        for work in works:
            timed(name, work)


begun = time.monotonic()
threads = [threading.Thread(target=turns, args=each) for each in (("first", (sift, doze)), ("second", (linger, sift)))]
for thread in threads:
    thread.start()
turns("main", (grind, doze))
for thread in threads:
    thread.join()
whole = time.monotonic() - begun
print(json.dumps({str(numbers[thread]): {name: 100 * sum(times) / whole for name, times in works.items()}
                  for thread, works in sums.items()}))
