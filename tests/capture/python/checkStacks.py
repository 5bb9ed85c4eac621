# SPDX-License-Identifier: Apache-2.0
"""Has its stacks read in many places, and says what Python itself says of them there.

usage: checkStacks.py LIBRARY [ROUNDS]
       checkStacks.py LIBRARY ROUNDS AGENT CUPTI NOTES

The first compares what the walker in LIBRARY reads, and prints one line of JSON: how many stacks were
compared, how many differed, the first that did, and what a walk costs. The second launches a simulated
kernel in each place and leaves in the file NOTES what the agent should have recorded with it.
"""
import asyncio
import collections
import contextlib
import ctypes
import functools
import json
import random
import sys
import threading

library = ctypes.CDLL(sys.argv[1])
launches = len(sys.argv) > 3
if launches:
    library.beginCuda.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    if library.beginCuda(*(argument.encode() for argument in sys.argv[3:5])) != 0:
        sys.exit("no simulated GPU")
else:
    library.stacksHere.restype = ctypes.c_size_t
    library.stacksHere.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.stacksMeasure.argtypes = [ctypes.c_int, ctypes.c_size_t, ctypes.POINTER(ctypes.c_double)]
    library.stacksMeasureRow.restype = ctypes.c_double
    library.stacksMeasureClock.restype = ctypes.c_double
notes = []
qualified = sys.version_info >= (3, 11)
most_frames = 256
counts = collections.Counter()
first_difference = []
lock = threading.Lock()


def noted(frame):
    """What Python says of a stack, the innermost frame first."""
    lines = []
    while frame is not None:
        code = frame.f_code
        name = code.co_qualname if qualified else code.co_name
        lines.append((code.co_filename, name, frame.f_lineno or 0))
        frame = frame.f_back
    return lines


def seen(room=ctypes.create_string_buffer(1 << 18)):
    with lock:
        length = library.stacksHere(room, len(room))
        text = room.raw[:length].decode()
    stack = []
    for line in text.splitlines():
        file, function, number = line.split("\t")
        stack.append((file, function, int(number)))
    return stack


def check(kind):
    if launches:
        correlation = library.launchHere()
        wanted = noted(sys._getframe(1))
        if len(wanted) > most_frames - 1:
            wanted = wanted[: most_frames - 1] + [("", "(frames further out are left out)", 0)]
        notes.append((correlation, wanted))
        return
    # Frame 0 is this one, whose line is another in the next statement.
    mine = seen()[1:]
    wanted = noted(sys._getframe(1))
    # Below it stand the frames of `seen` and of this function.
    mine = mine[1:]
    if len(wanted) > most_frames - 2:
        wanted = wanted[: most_frames - 2] + [("", "(frames further out are left out)", 0)]
    with lock:
        counts[kind] += 1
        if mine != wanted:
            counts["different"] += 1
            if not first_difference:
                first_difference.append([kind, mine[:6], wanted[:6]])


def plain(depth):
    if depth > 0:
        return plain(depth - 1)
    check("plain")
    values = [
        check("over lines"),
        check("over lines"),
        (lambda: check("lambda"))(),
        [check("comprehension") for _ in range(2)],
        list(map(lambda _: check("map"), range(2))),
    ]
    return values


def generator(count):
    for each in range(count):
        check("generator")
        yield each
        check("generator")
    yield from generator(count - 1) if count > 1 else ()


async def agenerator(count):
    for each in range(count):
        check("async generator")
        await asyncio.sleep(0)
        yield each


async def coroutine(depth):
    check("coroutine")
    if depth > 0:
        await asyncio.sleep(0)
        await asyncio.gather(coroutine(depth - 1), coroutine(depth - 2))
    async for _ in agenerator(2):
        check("coroutine")
    check("coroutine")


class Layer:
    def __init__(self, below):
        self.below = below

    def __call__(self, *arguments, **named):
        return self.forward(*arguments, **named)

    @functools.lru_cache(maxsize=None)
    def forward(self, number):
        if self.below is not None:
            self.below(number)
        check("method")
        with self.scope(
            number
        ):
            check("with")

    @contextlib.contextmanager
    def scope(self, number):
        check("context manager")
        try:
            yield number
        finally:
            check("finally")

    def __del__(self):
        check("finalizer")


def deep(depth):
    if depth == 0:
        check("deep")
        return 0
    return deep(depth - 1) + 1


def raising():
    try:
        check("try")
        raise ValueError("expected")
    except ValueError:
        check("except")
    finally:
        check("finally")


def made(number):
    """Code that is made, run and thrown away, so that the next takes its place."""
    lines = "\n" * random.randrange(4)
    text = f"def function():\n{lines}    check('made')\nfunction()\n"
    exec(compile(text, f"<made {number % 3}>", "exec"), {"check": check})


def sorting():
    sorted(range(4), key=lambda each: (check("key"), each)[1])
    class Local:
        check("class body")
        def method(self): check("one line"); return check("one line")
    Local().method()


def native():
    """By way of C: a callback that takes the GIL again."""
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    numbers = (ctypes.c_int * 3)(3, 1, 2)
    def compare(_left, _right):
        check("callback")
        return 0
    ctypes.CDLL(None).qsort(numbers, 3, 4, callback(compare))


def everything(rounds):
    for number in range(rounds):
        plain(number % 30)
        for _ in generator(3):
            check("between")
        raising()
        sorting()
        native()
        Layer(Layer(Layer(None)))(number)
        for each in range(20):
            made(number * 20 + each)


def tähti():
    check("not ASCII")


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    everything(rounds)
    asyncio.run(coroutine(6))
    sys.setrecursionlimit(5000)
    for depth in (100, 240, 250, 251, 252, 253, 254, 255, 256, 300, 1000):
        deep(depth)
    tähti()
    threads = [threading.Thread(target=everything, args=(rounds,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if launches:
        with open(sys.argv[5], "w") as file:
            json.dump(notes, file)
        return

    def at(depth):
        if depth > 0:
            return at(depth - 1)
        count = 20000
        times = (ctypes.c_double * count)()
        library.stacksMeasure(count, 0, times)
        hot = sorted(times)
        library.stacksMeasure(50, 32 << 20, times)
        cold = sorted(times[:50])
        # As much as a launch touches, which is more than the nearest cache has.
        library.stacksMeasure(2000, 128 << 10, times)
        near = sorted(times[:2000])
        row = library.stacksMeasureRow(100000)
        return {"frames": len(noted(sys._getframe())), "medianNs": hot[count // 2], "rowNs": row,
                "p99Ns": hot[count * 99 // 100], "coldMedianNs": cold[25],
                "nearMedianNs": near[1000]}

    walks = [at(depth) for depth in (5, 20, 40, 80)]
    about = ctypes.create_string_buffer(1024)
    library.stacksInterpreter(about, len(about))
    different = counts.pop("different", 0)
    print(json.dumps({
        "python": sys.version.split()[0],
        "interpreter": about.value.decode(),
        "compared": sum(counts.values()),
        "different": different,
        "first": first_difference,
        "kinds": counts,
        "walks": walks,
        "clockNs": sorted(library.stacksMeasureClock() for _ in range(1001))[500],
    }))


if __name__ == "__main__":
    main()
