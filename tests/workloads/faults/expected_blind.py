# SPDX-License-Identifier: Apache-2.0
"""As `expected`, for the blind programs; written before any of them was recorded on a GPU."""

from .expected import ALLOCATES, DISK, LAUNCHES, NO_CORE, WAITS

COPIES = r"cop(y|ies|ied)|memcpy|transfer"
FETCHES = r"dtoh|d2h|device.to.host|to the (host|cpu)|from the gpu"
SENDS = r"htod|h2d|host.to.device|to the gpu"
COMPUTES = r"main thread|comput|\bcpu\b|\bruns\b|\brunning\b"

EXPECTED_BLIND = {
    # Reading the loss each step makes the thread wait for the GPU, by whatever name: .item(), formatting, a synchronise.
    "b01": [[WAITS], [r"__format__"]],
    # The batch is copied from memory that is not pinned.
    "b02": [["pageable|not pinned|unpinned|not page.?locked"]],
    # Hundreds of small copies, or the wait that each of them brings.
    "b05": [[COPIES, r"small|many|tiny|short|one by one|\b6[34]\d\b|\d[\d,]{2,} (\w+ )?cop"], [COPIES, WAITS],
            [COPIES, "pageable"]],
    # The main thread waits for the next batch, at the queue or for the thread "loader".
    "b08": [[r"loader|data.?load|\bloading|\bqueue\b|queue\.py|decompress|zlib|inflat|next batch|input pipeline"]],
    # NumPy or Python of the main thread at the start of a step is what the GPU waits for.
    "b13": [["python|numpy|augment|prepar|preprocess|standard_normal", COMPUTES, "!pageable"]],
    # The round trips between the policy and the world: the waits, or the copies to and fro.
    "b26": [[WAITS], [FETCHES], [SENDS, "small|many|tiny|short|pageable"], ["ping.?pong|round.?trip|back and forth"]],
    # The copy of activations to the CPU, or that it goes to pageable memory, or the wait in .cpu().
    "b29": [[FETCHES], ["pageable"], [WAITS, r"\bcpu\(|\.cpu\b|aten::(to|copy_|_to_copy)|" + COPIES]],
    # The copy to the GPU is not overlapped, or the two streams wait for each other.
    "b32": [[SENDS, COPIES, "!pageable"], ["stream", "overlap|serial|one after|concurren|at a time|parallel|waits? for"]],
    # The pause of every 15th step, or the saving in it.
    "b10": [[r"every 15\b|15th|fifteenth"], [r"\bsav(e|es|ing)\b|checkpoint|pickle|\bkeep\b|" + DISK]],
    # The pause of every 9th step, or the Python that splits the text in it.
    "b15": [[r"every 9\b|9th|ninth|every nine"], ["split_text|findall|setdefault|tokeni[sz]"]],
    # The GIL, or the thread "monitor" that has it.
    "b19": [[r"\bgil\b|interpreter lock"], [r"\bmonitor\b"]],
    # Too many threads for the cores: that threads have no core, or the team of OpenMP as such.
    "b21": [[NO_CORE], [r"openmp|\bomp\b|gomp|num_threads|(too many|more) threads|intra.?op"]],
    # The collection of garbage.
    "b22": [[r"\bgc\b|gc\.collect|garbage"]],
    # The pause of every 11th step, or the histograms in it.
    "b24": [[r"every 11\b|11th|eleventh"], ["histogram"]],
    # NumPy or Python of the main thread at the start of a step is what the GPU waits for.
    "b34": [[r"python|numpy|\btable\b|constant", COMPUTES, "!pageable"]],
    # Too many launches of small kernels, or the optimizer that makes them.
    "b37": [[LAUNCHES], ["optimi[sz]er|by_hand|\\bfuse|foreach"]],
    # The waits for the GPU between the blocks.
    "b12": [[WAITS]],
    # cudaMalloc and cudaFree within the steps.
    "b16": [[r"cuda_?malloc|cuda_?free|\balloc|\bfrees\b"]],
    # Too many launches of small kernels.
    "b17": [[LAUNCHES]],
    # The product in double precision; the names of such kernels say so, too.
    "b18": [[r"float64|double|fp64|f64|dgemm|d884"]],
    # The waits for the answer of the GPU.
    "b20": [[WAITS], ["is_nonzero"]],
    # The one slow kernel of the backward of indexing.
    "b25": [["index"]],
    # The clearing of the large cache.
    "b33": [[r"memset|fillfunctor|\bfill|zero_|zeros|\bclear"]],
    # cuDNN's search for an algorithm, or what it brings within the convolutions: waits, allocations, the thread's time.
    "b39": [[r"benchmark|auto.?tun|heuristic|\balgorithm"],
            ["cudnn|convolution", WAITS + "|" + ALLOCATES + "|main thread|shape"]],
}

# Programs that were meant to be clean, and in whose recordings the GPU has no work for a fifth of the step or more: what
# is said of that is so. Written after they were judged as clean, and found wrong, once; the figures are of an H200.
NOT_CLEAN_BLIND = {
    "b06": "idle for 3.4 of 11.8 ms (28.7 %), 3.0 ms of it as 243 kernels of 34 us are launched too late",
    "b07": "idle for 4.8 of 13.7 ms (34.8 %), 4.4 ms of it as 337 kernels of 26 us are launched too late",
    "b11": "idle for 1.9 of 8.2 ms (22.8 %), 1.6 ms of it as 210 kernels of 30 us are launched too late",
    "b27": "idle for 6.6 of 14.1 ms (47.1 %), 6.3 ms of it as 312 kernels of 24 us are launched too late",
}
