# SPDX-License-Identifier: Apache-2.0
"""Calls NVTX and NCCL's profiler plugin, and captures and launches CUDA graphs, from known lines.

usage: callPlaces.py LIBRARY AGENT CUPTI nvtx|nccl|graphs|fork|switch|cost

LIBRARY plays NVTX's and CUDA's callers; what AGENT is loaded by stands in the environment.
"""
import ctypes
import os
import sys
import threading

library = ctypes.CDLL(sys.argv[1])
library.beginCuda.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
library.startHere.restype = ctypes.c_uint64
library.endHere.argtypes = library.captureHere.argtypes = library.launchGraphHere.argtypes = [ctypes.c_uint64]
library.copyNode.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
library.pushRow.restype = ctypes.c_double


def begin_cuda():
    if library.beginCuda(sys.argv[2].encode(), sys.argv[3].encode()) != 0:
        sys.exit("no simulated GPU")


def call_nvtx():
    library.pushHere(b"pushed")  # NVTX: push
    library.markHere(b"marked")  # NVTX: mark
    library.popHere()
    library.endHere(library.startHere(b"started"))  # NVTX: start


def switch_stacks():
    stacks = ctypes.CDLL(sys.argv[2]).lanescopeStacks
    library.markHere(b"before")
    assert stacks(0) == 1
    library.markHere(b"without")
    assert stacks(1) == 1
    library.markHere(b"again")  # NVTX: again


def call_nccl():
    plugin = ctypes.CDLL(sys.argv[2])
    table = (ctypes.c_void_p * 6).in_dll(plugin, "ncclProfiler_v5")
    pointer, number = ctypes.c_void_p, ctypes.c_int
    init = ctypes.CFUNCTYPE(number, ctypes.POINTER(pointer), ctypes.c_uint64, ctypes.POINTER(number),
                            ctypes.c_char_p, number, number, number, pointer)(table[1])
    start = ctypes.CFUNCTYPE(number, pointer, ctypes.POINTER(pointer), pointer)(table[2])
    stop = ctypes.CFUNCTYPE(number, pointer)(table[3])
    context, handle, mask = pointer(), pointer(), number()
    assert init(context, 0xABC, mask, b"simulated", 1, 2, 0, None) == 0

    class Call(ctypes.Structure):
        _fields_ = [("type", ctypes.c_uint64), ("parent", pointer), ("rank", number), ("function", ctypes.c_char_p),
                    ("count", ctypes.c_size_t), ("datatype", ctypes.c_char_p), ("root", number),
                    ("stream", pointer), ("captured", ctypes.c_bool), ("rest", ctypes.c_uint8 * 128)]

    call = Call(type=512, function=b"AllReduce", count=1024, datatype=b"ncclFloat32")

    def all_reduce():
        assert start(context, handle, ctypes.addressof(call)) == 0  # NCCL: call
        assert stop(handle) == 0

    all_reduce()


def forward():
    library.captureHere(11)  # graph: capture


def instantiate():
    library.copyNode(21, 11)
    library.copyNode(31, 21)
    library.copyNode(41, 40)


def replay():
    for node in (21, 31, 41, 51):
        library.launchGraphHere(node)  # graph: launch


def call_graphs():
    begin_cuda()
    forward()
    instantiate()
    replay()


def fork():
    library.pushHere(b"parent")
    library.popHere()
    if os.fork() == 0:
        call_nvtx()
        sys.exit(0)
    assert os.wait()[1] == 0


def cost():
    """Nanoseconds of a pair of push and pop below `depth` frames, and on a thread without Python frames to speak of."""
    def below(depth, count):
        return library.pushRow(count) if depth == 0 else below(depth - 1, count)

    times = []
    for depth in (5, 20, 40):
        below(depth, 200)
        rounds = []
        for _ in range(15):
            threading.Event().wait(0.06)  # the ring is emptied meanwhile
            rounds.append(below(depth, 2000))
        times.append(f"{depth} frames: {sorted(rounds)[7]:.0f} ns")
    print("; ".join(times))


if __name__ == "__main__":
    {"nvtx": call_nvtx, "nccl": call_nccl, "graphs": call_graphs, "fork": fork, "switch": switch_stacks,
     "cost": cost}[sys.argv[4]]()
