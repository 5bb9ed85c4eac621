# SPDX-License-Identifier: Apache-2.0
"""Faults of the CPU side: pauses of some steps, threads in each other's way, too few cores."""

import gc
import os
import subprocess
import sys
import tempfile
import threading
import time

from .common import Net, Skipped, busy, program, without_recorder


def every(run, net, period, pause, step_range="step {}", limit=150):
    """Steps with `pause()` after each `period`-th. The cost is that of one such step, and shared out over all."""
    spent = []

    def step(number):
        net.step(number)
        if number % period == period - 1:
            run.sync()
            begin = time.perf_counter()
            pause()
            spent.append((time.perf_counter() - begin) * 1e3)

    truth = run.steps(step, None, step_range, limit)
    each = sum(spent[1:]) / max(len(spent) - 1, 1)
    return {**truth, "every": period, "costOfOneMs": round(each, 3), "costMs": round(each / period, 3)}


@program("periodic-checkpoint", "every 20th step saves the model to disk by torch.save while the GPU waits",
         "after every 20th step: torch.save in the main thread (copies DtoH and writes)")
def _(run):
    net = Net(run, depth=6)
    with tempfile.TemporaryDirectory(dir=os.environ.get("FAULTS_DISK") or "/var/tmp") as folder:
        return every(run, net, 20, lambda: run.torch.save(net.model.state_dict(), os.path.join(folder, "last.pt")))


@program("tokenizer-hiccup", "every 7th step the main thread refills its buffer of tokens, which takes 60 ms of Python",
         "after every 7th step: Python of the main thread")
def _(run):
    return every(run, Net(run), 7, lambda: busy(60))


@program("gc-collect", "every 10th step collects the garbage of a heap of many objects by gc.collect()",
         "after every 10th step: gc.collect() in the main thread")
def _(run):
    heap = [{"number": number, "all": [number]} for number in range(run.size(400_000))]
    net = Net(run)
    truth = every(run, net, 10, gc.collect, "")
    del heap[:]
    return truth


@program("one-slow-step", "step 70 alone takes 400 ms longer, as when a file server does not answer; all others are alike",
         "step 70, counted from 0: the main thread sleeps")
def _(run):
    net = Net(run)
    late = 70 if run.cuda else 8

    def step(number):
        net.step(number)
        if number == late:
            time.sleep(0.4)

    truth = run.steps(step, None, "step {}", 150)
    return {**truth, "slowStep": late, "costOfOneMs": 400, "costMs": round(400 / truth["steps"], 3)}


@program("eval-often", "every 12th step evaluates 15 batches, which take as long as six steps",
         "after every 12th step: the range or the code of the evaluation; GPU busy")
def _(run):
    net = Net(run)
    watch = run.torch.ones((), device=run.device)

    def evaluate():
        with run.range("evaluation"), run.torch.no_grad():
            for number in range(15):
                watch.add_(net.model(net.batch(number)).float().mean())
            watch.item()

    return every(run, net, 12, evaluate)


@program("gil-thread", "a second thread of pure Python holds the GIL, so that the main thread launches late",
         "the whole step: the main thread waits for the GIL")
def _(run):
    net, ends, begins = Net(run, width=1024, depth=24, rows=16384), threading.Event(), threading.Event()

    def count():
        while not ends.is_set():
            begins.wait()
            busy(20)

    other = threading.Thread(target=count, name="metrics", daemon=True)
    other.start()
    first = [True]

    def step(number):
        if first[0]:
            begins.set()
        first[0] = False
        net.step(number)

    truth = run.steps(step, lambda i: net.step(i), "step {}", limit=80)
    ends.set()
    return truth


@program("one-core", "the process has one core, which four busy processes share with it",
         "the whole step: the main thread is ready to run and has no core")
def _(run):
    net = Net(run, width=1024, depth=24, rows=16384)
    others, first = [], [True]
    command = "import os, time\nend = time.time() + 60\nwhile os.getppid() == %d and time.time() < end:\n    sum(range(5000))"

    def crowd():
        core = {sorted(os.sched_getaffinity(0))[0]}
        for thread in os.listdir("/proc/self/task"):
            os.sched_setaffinity(int(thread), core)
        for _ in range(4):
            others.append(subprocess.Popen([sys.executable, "-c", command % os.getpid()], env=without_recorder()))
        time.sleep(0.2)

    def step(number):
        if first[0]:
            crowd()
        first[0] = False
        net.step(number)

    try:
        return run.steps(step, lambda i: net.step(i), "step {}", limit=80)
    finally:
        for each in others:
            each.kill()
            each.wait()


@program("cgroup-limit", "a cgroup gives the process a fifth of one core, so that it is stopped most of the time",
         "the whole step: the main thread is ready to run and may not")
def _(run):
    net, first = Net(run, width=1024, depth=24, rows=16384), [True]
    root = "/sys/fs/cgroup"
    if not run.cuda:
        raise Skipped("makes a cgroup, which is for a machine that is lent for this")
    mine = os.path.join(root, "lanescope-faults-%d" % os.getpid())
    try:
        with open(os.path.join(root, "cgroup.subtree_control"), "w") as file:
            file.write("+cpu")
        os.mkdir(mine)
        with open(os.path.join(mine, "cpu.max"), "w") as file:
            file.write("20000 100000")
    except OSError as error:
        if os.path.isdir(mine):
            os.rmdir(mine)
        raise Skipped(f"no cgroup with a limit of the CPU can be made: {error}") from None

    def move(folder):
        with open(os.path.join(folder, "cgroup.procs"), "w") as file:
            file.write(str(os.getpid()))

    def step(number):
        if first[0]:
            move(mine)
        first[0] = False
        net.step(number)

    try:
        return run.steps(step, lambda i: net.step(i), "step {}", limit=60)
    finally:
        move(root)
        os.rmdir(mine)


@program("lock-wait", "the main thread waits each step for a lock that the thread of the metrics holds for 25 ms",
         "the end of a step: threading.Lock in the main thread")
def _(run):
    net, lock, taken, wanted = Net(run), threading.Lock(), threading.Event(), threading.Event()
    ends = [False]

    def publish():
        while not ends[0]:
            wanted.wait(1)
            wanted.clear()
            with lock:
                taken.set()
                time.sleep(0.025)

    thread = threading.Thread(target=publish, name="metrics", daemon=True)
    thread.start()

    def step(number):
        taken.clear()
        wanted.set()
        taken.wait(1)
        with lock:
            pass
        net.step(number)

    truth = run.steps(step, lambda i: net.step(i), "step {}")
    ends[0] = True
    wanted.set()
    thread.join()
    return truth


@program("sleep", "each step sleeps 25 ms to look for something that is there already", "the end of a step: time.sleep")
def _(run):
    net = Net(run)

    def step(number):
        net.step(number)
        time.sleep(0.025)

    return run.steps(step, lambda i: net.step(i))


@program("fsync-log", "each step appends to a log and waits with os.fsync until the disk has it",
         "the end of a step: the main thread waits for the disk")
def _(run):

    net = Net(run)
    with tempfile.NamedTemporaryFile(dir=os.environ.get("FAULTS_DISK") or "/var/tmp") as file:

        def write(times):
            for _ in range(times):
                file.write(os.urandom(256 << 10))
                file.flush()
                os.fsync(file.fileno())

        begin = time.perf_counter()
        write(4)
        times = max(1, int(4 * 25e-3 / (time.perf_counter() - begin)))

        def step(number):
            net.step(number)
            write(times)

        run.extra = {"fsyncsPerStep": times}
        return run.steps(step, lambda i: net.step(i), "step {}")
