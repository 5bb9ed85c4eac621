# SPDX-License-Identifier: Apache-2.0
"""Lets the programs run on a machine without a GPU, so that what is wrong in them shows there. Nothing is measured by
that."""

import contextlib


class Nothing:
    """Stands for a stream, an event or a graph."""

    def __init__(self, *_, **__):
        pass

    def __getattr__(self, _):
        return lambda *_, **__: None

    def query(self):
        return True


def stand_in(torch):
    cuda = torch.cuda
    context = lambda *_, **__: contextlib.nullcontext()
    nothing = lambda *_, **__: None
    cuda.synchronize = cuda.empty_cache = cuda.set_per_process_memory_fraction = nothing
    cuda.nvtx.range, cuda.stream, cuda.graph = context, context, context
    cuda.Stream = cuda.Event = cuda.CUDAGraph = Nothing
    cuda.current_stream = lambda *_: Nothing()
    cuda.memory_stats = lambda *_: {"num_alloc_retries": 0}
    cuda.get_device_properties = lambda *_: type("Card", (), {"total_memory": 1 << 30})
    torch.Tensor.record_stream = nothing
    torch.set_num_threads(1)
