# SPDX-License-Identifier: Apache-2.0
"""As `expected`, for the second blind set; written before any of its programs was recorded on a GPU."""

from .expected import ALLOCATES, DISK, LAUNCHES, LOADS, WAITS
from .expected_blind import COMPUTES, COPIES, FETCHES, SENDS

EXPECTED_SECOND = {
    # The wait for the GPU in each iteration, by whatever name of the call that makes it.
    "c07": [[WAITS], ["is_nonzero|__bool__"]],
    # The waits that choosing by a mask brings, or the call that makes them.
    "c12": [[WAITS], ["nonzero|masked_select"]],
    # The waits for one number a parameter, or the copies of these numbers.
    "c19": [[WAITS], [r"__float__|float\("], [FETCHES, r"small|many|tiny|short|one by one|\b1[23]\d\b"]],
    # The batch is copied from memory that is not pinned.
    "c02": [["pageable|not pinned|unpinned|not page.?locked"]],
    # The copy of the scores to the CPU, or that it goes to pageable memory, or the wait in .cpu().
    "c24": [[FETCHES], ["pageable"], [WAITS, r"\bcpu\(|\.cpu\b|aten::(to|copy_|_to_copy)|" + COPIES]],
    # The copies to and fro, either or both of them, beside which no kernel runs.
    "c33": [[FETCHES], [SENDS], [r"ping.?pong|round.?trip|back and forth"], [COPIES, "overlap|serial|exposed|no kernel"]],
    # The main thread waits for the DataLoader, or the workers are too slow or too few.
    "c06": [[LOADS], [r"\bworkers?\b|\bnext batch|\bqueue\b|queues?\.py|input pipeline"]],
    # NumPy or Python of the main thread at the start of a step is what the GPU waits for.
    "c31": [[r"python|numpy|\bcrop|augment|prepar|preprocess", COMPUTES, "!pageable"]],
    # The pause of every 12th step, or the parsing in it.
    "c21": [[r"every 12\b|12th|twelfth|every twel"], [r"json|\brefill\b|raw_decode|\bdecoder?\b|parse"]],
    # The pause of every 16th step, or the evaluation in it.
    "c30": [[r"every 16\b|16th|sixteenth|every sixteen"], [r"evaluat|tolist|\bsort(ed|ing)?\b"]],
    # The writing, or the functions that open and write the file.
    "c40": [[DISK], [r"\blog\b|\blogging\b|\bopen(s|at|ing)?\b"]],
    # Python of the main thread, or the function with the loop.
    "c16": [[r"python|\bweigh\b|interpreter", COMPUTES, "!pageable"], [r"\bweigh\b"]],
    # The lock, or the thread "metrics" that has it.
    "c37": [[r"(?<!interpreter )\block(s|ed)?\b|mutex|futex|acquire|sem_\w*wait|semaphore"], [r"\bmetrics\b"]],
    # The GIL, or the thread "indexer" that has it.
    "c03": [[r"\bgil\b|interpreter lock"], [r"\bindexer\b"]],
    # That the main thread does nothing but wait: an event, a sleep, or the call by which Python waits.
    "c26": [[r"\bsleep|\bpauses?\b|threading\.py|event\.wait|\bstop\.wait|sem_\w*wait|cond_\w*wait|futex|lock\.acquire"],
            ["main thread", r"block(s|ed)|\bidle|off.(the.)?cpu|waits? (for|in|at|on) (an? |the )?(event|signal|lock|condition)"]],
    # The writing of JSON in the main thread.
    "c44": [[r"json|\bdumps\b|iterencode|encoder|seriali[sz]"], [r"python|\bstate\b", COMPUTES]],
    # That some steps take much longer because of the main thread, or the function that does it.
    "c13": [[r"\btidy\b"], [r"\bsteps?\b", r"slow|long|outlier|irregular|odd|uneven|var(y|ies|iation)|stall",
                            r"main thread|python|comput|\bcpu\b"]],
    # The one slow kernel of index_add.
    "c09": [[r"index_?(add|func)|indexing|atomic"]],
    # Too many launches of small kernels, or the loop that makes them.
    "c25": [[LAUNCHES], [r"by_hand"]],
    # The kernel of cdist, by its name or what it computes.
    "c36": [["cdist|distance"]],
    # Memory that is given back to the driver and taken anew.
    "c42": [[ALLOCATES]],
    # That the streams do not overlap, or the kernel that leaves most of the GPU idle while it is alone.
    "c18": [[r"logcumsumexp|tensor_kernel_scan|scan_outer|\bscan"],
            ["streams?", "overlap|serial|one after|concurren|at a time|parallel|waits? for"],
            [r"few (blocks|threads|sms)|small grid|\bone block|under.?(used|utili[sz]ed|filled)|part of the gpu"]],
}

# Meant to be clean, and not so on an H200 that records: the GPU waits for more than a fifth of the step, mostly as kernels are
# launched too late. Written down after judging.
NOT_CLEAN_SECOND = {
    "c14": "idle for 6.7 of 23.1 ms (29 %), 5.9 ms of it as 392 kernels of 42 us are launched too late",
    "c15": "idle for 18.5 of 36.7 ms (50 %), 17.9 ms of it as 284 kernels of 64 us are launched too late",
    "c20": "idle for 5.4 of 17.8 ms (30 %), 5.0 ms of it as 238 kernels of 52 us are launched too late",
    "c27": "idle for 7.2 of 20.0 ms (36 %), 6.6 ms of it as 235 kernels of 55 us are launched too late",
}
