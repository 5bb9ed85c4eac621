# SPDX-License-Identifier: Apache-2.0
"""Spends known shares of its time in Python functions, some of it in C that they call, and prints by its own clock how
much processor time each took, in nanoseconds.

usage: known_functions.py SECONDS
"""

import json
import sys
import time
import zlib

TAKEN = {"known_python": 0, "known_zlib": 0, "known_sort": 0}
DATA = bytes(range(256)) * 1024


def known_python():
    total = 0
    for number in range(60_000):
        total += number * number
    return total


def known_zlib():
    return zlib.compress(DATA, 6)


def known_sort():
    return sorted(range(12_000), key=known_key)


def known_key(number):
    return -number


def main():
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        for function in (known_python, known_zlib, known_sort):
            begun = time.thread_time_ns()
            function()
            TAKEN[function.__name__] += time.thread_time_ns() - begun
        time.sleep(0.001)
    print(json.dumps(TAKEN))


if __name__ == "__main__":
    main()
