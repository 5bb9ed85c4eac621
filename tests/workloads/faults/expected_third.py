# SPDX-License-Identifier: Apache-2.0
"""As `expected`, for the third blind set; written before any of its programs was recorded on a GPU."""

from .expected import DISK, LAUNCHES, LOADS, WAITS
from .expected_blind import COMPUTES, COPIES, FETCHES, SENDS

# Files forced onto the disk, or processes started, by whatever name.
SAVES = r"torch\.save|\bsav(e[sd]?|ing)\b|checkpoint|fsync|serializ|state_dict"
STARTS = r"\bfork|\bspawn|\bstart(s|ed|ing|-?up)?\b[^.]*\b(worker|process)|\b(worker|process)\w*\b[^.]*\bstart|popen|persistent"

EXPECTED_THIRD = {
    # The waits that nonzero brings, or the call, or the many small kernels that are launched late for it.
    "d01": [[WAITS], ["nonzero"], [LAUNCHES]],
    # All in double precision, by whatever name of the type or of the kernels.
    "d03": [[r"float64|fp64|\bdouble|dgemm|d884|\bf64|64.?bit float"]],
    # The detection, the stacks it keeps, or the waits for what is NaN.
    "d05": [["anomal"], [r"traceback|format_stack|linecache|extract_stack"], [r"isnan|is_nan"], [WAITS]],
    # The bags or their update on the CPU, or that the main thread computes, or the way to the CPU and back.
    "d07": [["embedding"], [COMPUTES, "!pageable"], [r"sparse[^.]*(sgd|update|optimi[sz]er)|\bsgd\b|coalesce|index_select"],
            [r"ping.?pong|round.?trip|back and forth"]],
    # The unpacking, or that the main thread computes.
    "d09": [[r"zlib|decompress|inflate|\bunpack\b"], [r"main thread[^.]*\bpython", "!pageable"], [COMPUTES, "!pageable"]],
    # The DataLoader in the main thread, or the functions of the data set.
    "d11": [[LOADS], [r"num_workers|\bno workers?\b|without workers?|__getitem__|\bcollate|tokens_of|\bfetch\b|dataloader"],
            [r"python", "!pageable"], [COMPUTES, "!pageable"]],
    # The simulator, or NumPy and Python of the main thread, or the waits between the one and the other.
    "d13": [[r"simulat|numpy|\bplay\b"], [r"python", "!pageable"], [COMPUTES, "!pageable"],
            [r"ping.?pong|round.?trip|back and forth"]],
    # The waits in each turn of the loop, or its name, or that its kernels are many and small.
    "d15": [[WAITS], [r"is_nonzero|__bool__|\bsuppress\b"], [LAUNCHES]],
    # The sort, or the call that makes it.
    "d17": [[r"\bunique|radix|\bsort|thrust|\bcub\b"]],
    # Many small kernels, or the update that launches them.
    "d19": [[LAUNCHES], [r"adamw?\b|optimi[sz]er|foreach|\bfused\b"]],
    # The convolution.
    "d21": [[r"depthwise|\bblur\b|grouped|\bgroups\b"], ["conv(olution|2d|_)", "!backward|batch|pageable|launch"]],
    # The copies on the GPU, or the calls that make them.
    "d23": [[r"dtod|device.?to.?device|\bd2d\b|\bclone|copy_\b|copies (with)?in (the )?gpu|on-device cop"]],
    # torch.cat or its kernel.
    "d25": [[r"torch\.cat|aten::cat|\bcat\b|catarray|concat|\bwith_new\b"]],
    # The hooks, or that the steps grow longer, or what the hooks launch more and more of.
    "d27": [["hook"], [r"\bwatch\b"],
            [r"\b(grow|grew|rise|rising|rose|climb|increas|drift|leak)\w*|slow(er|s|ed|ing)? (and|down|with|over|from)|"
             r"longer (and|with|over|from|each|every)|more and more|trend|each step (is|takes) (longer|slower)"]],
    # The garbage collection.
    "d29": [[r"\bgc\b|gc\.|garbage|collect(s|or|ion)?\b"]],
    # The pause of every 20th step, or the saving in it.
    "d31": [[r"every 20\b|20th|twentieth|every twenty"], [SAVES], [DISK]],
    # The GIL, or the thread "tally" that has it.
    "d33": [[r"\bgil\b|interpreter lock"], [r"\btally\b"]],
    # That the main thread has no core to itself.
    "d35": [[r"pre-?empt|runnable|run.?queue|ready to run|descheduled|off.?cpu|"
             r"(waits?|waited|waiting) for (a|the|its) (cpu|core)|"
             r"(cpu|core)\w*[^.]*contention|contention for [^.]*(cpu|core)|oversubscri|(other|another) process|\bpinned to\b|"
             r"affinit|(share|number|lack) of (the )?(cpu|core)|\bone (core|cpu)\b|(cpu|core)s? (is|are|was|were) "
             r"(busy|taken|shared)", r"!futex|\block\b|\bsleep|\bgil\b|interpreter lock|synchroniz"]],
    # The sleep, or that the main thread does nothing but wait.
    "d37": [[r"\bsleep|\bpoll|clock_nanosleep|event\.query|cudaEventQuery"],
            [r"main thread[^.]*(block(s|ed)|\bidle|off.?cpu|asleep)", r"!synchroniz|\block\b|\bgil\b"]],
    # The pause of every 16th step, or the start of processes.
    "d39": [[r"every 16\b|16th|sixteenth|every sixteen"], [STARTS], [LOADS], [r"__iter__|epoch|dataloader|shutdown_workers"]],
    # The small copies, their number or their memory, or the wait for each.
    "d41": [[SENDS, r"small|many|tiny|short|one by one|\b(29|30)\d\b"], ["pageable|not pinned|unpinned|not page.?locked"],
            [WAITS], [r"torch\.tensor|aten::(to|_to_copy|lift_fresh)\b"]],
    # The copies that only change the layout, by whatever name.
    "d43": [[r"contiguous|layout|transpos|nchw|nhwc|channels.?last|permut|memory.?format|strided"],
            [r"\bcop(y|ies)\b", "!htod|dtoh|pageable|host"], ["direct_copy|copy_kernel|aten::copy_|aten::clone"]],
    # The filling of the gradient, or the update of the whole table.
    "d45": [[r"embedding|\bdense\b"], [r"\bfill|memset|\bzero(s|_|ed|ing)?\b"],
            [r"\bsgd\b|optimi[sz]er|multi_tensor|foreach", "!small|tiny|many|launch"]],
    # The pinning of memory, by whatever name.
    "d47": [[r"host_?(un)?register|page.?lock|\bpin(s|ned|ning)?\b[^.]*(anew|each step|every step|again)|"
             r"(un)?register(s|ed|ing)? (the )?(host|memory)|pin_memory|\bmlock", "!pageable|not (page|pinned)|unpinned"]],
}

# Of the programs that were meant to be clean, those that are not, and why.
NOT_CLEAN_THIRD = {}
