# SPDX-License-Identifier: Apache-2.0
"""Traces of events in JSON with something of all that is read: what PyTorch writes, what any program may, and damage."""

import json

PLACE = {"pid": 7, "tid": 7}


def complete(category, name, at, duration=5, **arguments):
    return {"ph": "X", "cat": category, "name": name, **PLACE, "ts": at, "dur": duration, "args": arguments}


def torch():
    """Operators, calls, work on the GPU, collectives, the allocator's memory and arrows."""
    events = [
        {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "python3"}},
        {"ph": "M", "name": "process_labels", "pid": 7, "tid": 0, "args": {"labels": "CPU"}},
        {"ph": "M", "name": "thread_name", **PLACE, "args": {"name": "thread 7 (pt_autograd_0)"}},
        {"ph": "M", "name": "thread_name", "pid": "GPU 0", "tid": "stream 7", "args": {"name": ""}},
        complete("user_annotation", "ProfilerStep#3", 1, 900), complete("gpu_user_annotation", "nccl:all_reduce", 20, 9,
                                                                      **{"External id": 3}),
        complete("Trace", "PyTorch Profiler (0)", 0, 999), complete("overhead", "Activity Buffer Request", 2, 3),
        complete("python_function", "train.py(5): step", 2, 800, **{"Python id": 1, "Python parent id": None}),
        {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", **PLACE, "ts": 3, "s": "t", "args": {
            "Device Type": 1, "Device Id": 0, "Bytes": -512, "Total Allocated": 4096, "Total Reserved": 8192}},
        {"ph": "i", "name": "[memory]", **PLACE, "ts": 4, "args": {"Device Type": 0, "Device Id": -1, "Bytes": 64}},
        {"ph": "i", "name": "[memory]", "pid": 7, "tid": 7, "ts": "odd", "args": {"Bytes": 1.5}},
        {"ph": "i", "name": "Record Window End", **PLACE, "ts": 990}, {"ph": "i", "name": "a mark", **PLACE, "ts": 5},
        complete("cpu_op", "aten::add", 10, 20, **{"Sequence number": 5, "Fwd thread id": 0, "Input Dims": [[2, 3], []],
                                                   "Call stack": "a;b"}),
        complete("cpu_op", "AddBackward0", 60, 20, **{"Sequence number": 5, "Fwd thread id": 7}),
        complete("cuda_runtime", "cudaMemcpyAsync", 12, 2, correlation=4),
        complete("cuda_driver", "cuLaunchKernel", 14, 2, correlation=5),
        complete("cuda_runtime", "cudaLaunchKernel", 16, 2, correlation=99),
        complete("kernel", "gemm", 20, 5, device=0, context=1, stream=7, correlation=5, **{
            "grid": [1, 2], "block": ["x", 1, 1], "registers per thread": 32, "shared memory": 64, "graph node id": 7}),
        complete("kernel", "overlapping", 22, 5, device=0, context=1, stream=7, correlation=77),
        complete("kernel", "nowhere", 22, 5),
        complete("gpu_memcpy", "Memcpy PtoP (Device -> Device)", 30, 5, device=0, context=1, stream=7, correlation=4,
                 bytes=64, fromDevice=0, toDevice=1),
        complete("gpu_memcpy", "CopyHostToDevice", 36, 1, device=0, stream=7, bytes=-5, correlation=4),
        complete("gpu_memcpy", "Memcpy odd (Odd", 37, 1, device=0, stream=7, bytes=5),
        complete("gpu_memset", "Memset (Device)", 38, 1, device=0, context=1, stream=7, bytes=5, correlation=4),
        complete("cuda_sync", "Stream Wait Event", 40, 1, device=0, context=1, stream=7, correlation=8, **{
            "cuda_sync_kind": "Stream Wait Event", "wait_on_cuda_event_record_corr_id": 4, "wait_on_stream": 9}),
        complete("cuda_sync", "Context Sync", 42, 1, device=0, context=1, stream=-1, correlation=8),
        complete("cuda_sync", "odd", 42, 1, device=5000, stream="x"),
        {"ph": "s", "id": 5, "cat": "fwdbwd", "name": "fwdbwd", **PLACE, "ts": 11},
        {"ph": "f", "id": 5, "cat": "fwdbwd", "name": "fwdbwd", **PLACE, "ts": 61, "bp": "e"},
        {"ph": "s", "id": 6, "cat": "fwdbwd", "name": "fwdbwd", **PLACE, "ts": 12},
        {"ph": "f", "id": 9, "cat": "async_gpu", "name": "x", **PLACE, "ts": 61},
        complete("cpu_op", "negative", 70, -5), {"ph": "X", "name": "untimed", **PLACE}, {"ph": "X", "ts": 5, "dur": "x"},
    ]
    return json.dumps({
        "schemaVersion": 1, "trace_id": "77", "cuda_runtime_version": 13010, "cupti_version": 26, "record_shapes": 1,
        "with_stack": 1, "baseTimeNanoseconds": 1000, "displayTimeUnit": "ms",
        "deviceProperties": [{"id": 0, "name": "GPU", "totalGlobalMem": 1000, "computeMajor": 9, "numSms": 4}, {"id": "x"}, 5],
        "distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 4, "nccl_version": "2.28",
                            "pg_config": [{"pg_name": "0", "ranks": [0, 1, 2, 3]}]},
        "traceEvents": events})


def collectives():
    """Each operation of a process group, and groups of which little is known."""
    said = {"dtype": "BFloat16", "Process Group Name": "0", "Process Group Description": "data_parallel",
            "Process Group Ranks": "[0, 1, 2, 3]", "In msg nelems": 64, "Out msg nelems": 256, "Group size": 4, "Seq": 3,
            "Src Rank": 2, "Dst Rank": 3}
    events = []
    for number, operation in enumerate(("allreduce", "all_gather", "reduce_scatter", "alltoallv", "alltoall", "broadcast",
                                        "reduce", "gather", "scatter", "send", "recv", "barrier")):
        more = [{}, {"dtype": "Odd"}, {"Process Group Ranks": "[0, 5, ...]"}, {"Process Group Description": "undefined"},
                {"Process Group Ranks": "odd", "Group size": 0}][number % 5]
        events.append(complete("cpu_op", "record_param_comms", 10 * number, 8, **{
            "Collective name": operation, **said, **more}))
    events.append(complete("cpu_op", "record_param_comms", 500, 8, **{"Collective name": "allreduce", "dtype": "Float"}))
    events.append(complete("cpu_op", "record_param_comms", 510, 8, **{
        "Collective name": "allreduce", "Process Group ID": "0x00000000000000ab", "In msg nelems": 2**62, "dtype": "Float"}))
    return json.dumps({"distributedInfo": {"rank": 1, "world_size": 4}, "traceEvents": events})


def plain():
    """What other programs write: a bare list, begins and ends, counters, names instead of numbers."""
    edges = [{"ph": phase, "name": name, "cat": "c", "id": number, "pid": "GPU 1 Counters", "tid": "worker", "ts": at}
             for phase, name, number, at in (("B", "outer", 0, 1), ("B", "inner", 0, 2), ("E", "", 0, 3), ("E", "", 0, 4),
                                             ("E", "lost", 0, 5), ("b", "loose", 1, 6), ("b", "loose", 2, 7),
                                             ("e", "loose", 1, 8), ("e", "loose", 9, 9), ("B", "open", 0, 10))]
    counters = [{"ph": "C", "name": "memory", "pid": pid, "ts": at, "args": value} for pid, at, value in (
        ("GPU 1 Counters", 1, {"value": 5}), ("GPU x", 2, {"a": 1.5, "b": "7"}), (7, 3, {"memory": 1e300}),
        (7, 4, {"odd": "x", "none": None}), (7, "x", {"a": 1}), ("", 5, {"deep": {"a": [1, 2]}}))]
    others = [{"ph": phase, "name": "p", "pid": 7, "tid": 7, "ts": 20} for phase in ("I", "R", "n", "P", "", "OO", "N", "t")]
    texts = [{"ph": "X", "name": "\u00e4\ud83d\ude00\n\"\\/\b", "pid": 7, "tid": 2**40, "ts": "1.5e3", "dur": "2.25"},
             {"ph": "X", "name": "\\ud83d", "pid": -7, "tid": -1, "ts": 1e400, "dur": 1e-9},
             {"ph": "X", "name": 5, "pid": None, "tid": True, "ts": 12345678901234567890, "dur": 0.0005}]
    return json.dumps(edges + counters + others + texts)


def all_inputs():
    whole, bare = torch(), plain()
    middle = len(whole) // 2
    return {
        "torch": whole, "collectives": collectives(), "plain": bare, "lines": bare.replace("}, {", "},\n{"),
        "cut": whole[:middle], "cut-plain": bare[:-40], "hole": whole[:middle] + "\0" * 60 + whole[middle:],
        "doubled": whole + whole, "no-end": bare[:-1], "odd-key": whole.replace('"traceEvents"', '"trac:Events'),
        "odd-fact": whole.replace('"schemaVersion": 1', '"schemaVersion": [1, {'),
        "escaped": '[{"ph":"X","name":"\\u0041\\ud83d\\ude00\\ud83d\\n\\q","cat":"\\u00e4","pid":"a\\tb","tid":1,"ts":1,"dur":1}]',
        "deep": '{"a": ' + "[" * 300 + "]" * 300 + ', "traceEvents": [{"ph":"X","ts":1,"args":{"a":' + "[" * 300 + "}}]}",
        "empty": '{"traceEvents": []}', "spaces": "[ , , {}, {} , ]  x",
    }
