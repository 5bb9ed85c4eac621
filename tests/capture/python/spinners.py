# SPDX-License-Identifier: Apache-2.0
"""Two threads that both want the GIL all the time; says how long the main thread had a core.

usage: spinners.py SECONDS
"""
import json
import sys
import threading
import time

seconds = float(sys.argv[1])
begun = time.monotonic()


def spin_here():
    while time.monotonic() - begun < seconds:
        pass


other = threading.Thread(target=spin_here)
other.start()
cpu = time.thread_time()
spin_here()
print(json.dumps({"cpu": 100 * (time.thread_time() - cpu) / (time.monotonic() - begun)}))
other.join()
