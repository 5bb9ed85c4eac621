// SPDX-License-Identifier: Apache-2.0
#include "model/explain/rules.h"

#include <iterator>

namespace lanescope::explain {

namespace {

constexpr RuleFacts rules[]{
    {"late_rank",
     "The other ranks wait and exchange data for at least 3 % of the step more than one rank.",
     "Look at what that rank does more than the others: its share of the data, its GPU, its host.",
     "SELECT text, start, end - start AS ns FROM NVTX_EVENTS "
     "WHERE text LIKE 'nccl%' ORDER BY ns DESC LIMIT 20"},
    {"input_data", "The GPU waits at least 3 % of the step for the next batch.",
     "More loader workers, pinned batches, prefetching, or cheaper preprocessing.", ""},
    {"host_sync",
     "The GPU is idle at least 3 % of the step while the CPU waits for it, or because it waited "
     "and "
     "so could not launch ahead.",
     "Read results less often and without waiting (.item(), .cpu(), printing a loss); copy much at "
     "once, from pinned memory and with non_blocking=True; let the CPU run ahead.",
     "SELECT s.value AS call, count(*) AS calls, sum(r.end - r.start) AS ns FROM "
     "CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId WHERE s.value LIKE "
     "'%Synchronize%' GROUP BY 1 ORDER BY ns DESC"},
    {"launch_bound",
     "The GPU is idle at least 15 % of the step, and of the median step, because work was launched "
     "too late.",
     "Fused or larger kernels, a larger batch, less Python between launches; CUDA graphs "
     "(torch.compile with mode=\"reduce-overhead\") for what is in none yet.",
     "SELECT s.value AS kernel, count(*) AS launches, avg(k.end - k.start) AS mean_ns FROM "
     "CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName GROUP BY 1 ORDER BY "
     "launches DESC LIMIT 20"},
    {"allocations", "The GPU is idle at least 3 % of the step while memory is allocated or freed.",
     "Allocate once, or through a caching allocator; no cudaMalloc and cudaFree inside of steps.",
     "SELECT s.value AS call, count(*) AS calls, sum(r.end - r.start) AS ns FROM "
     "CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId WHERE s.value LIKE "
     "'%Malloc%' OR s.value LIKE '%Free%' OR s.value LIKE '%HostAlloc%' GROUP BY 1 ORDER BY ns "
     "DESC"},
    {"pageable_copies",
     "Copies from or to pageable memory, and what the GPU waits for calls of them that should "
     "return "
     "at once, take at least 3 % of the step.",
     "Pin the host memory (DataLoader(pin_memory=True), tensor.pin_memory()) and copy with "
     "non_blocking=True.",
     "SELECT copyKind, srcKind, dstKind, count(*) AS copies, sum(bytes) AS bytes, "
     "count(*) - count(bytes) AS of_unknown_size, sum(end - start) "
     "AS ns FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE srcKind = 0 OR dstKind = 0 GROUP BY 1, 2, 3"},
    {"exposed_copies", "Copies from or to a GPU that nothing hides take at least 3 % of the step.",
     "Copy the next batch on a stream of its own while this one is computed.",
     "SELECT copyKind, srcKind, dstKind, count(*) AS copies, sum(bytes) AS bytes, "
     "count(*) - count(bytes) AS of_unknown_size, sum(end - start) "
     "AS ns FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY 1, 2, 3 ORDER BY ns DESC"},
    {"nvlink_unused", "GPUs that NVLink joins exchange data over something else.",
     "See NCCL_P2P_DISABLE, NCCL_P2P_LEVEL, container settings and `lanescope info --topology`.",
     ""},
    {"exposed_communication", "GPUs only exchange data for at least 10 % of the step.",
     "Start collectives earlier and in buckets, so that backward hides them; fewer bytes (bf16, "
     "accumulated gradients).",
     "SELECT s.value AS kernel, count(*) AS launches, sum(k.end - k.start) AS ns FROM "
     "CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName WHERE s.value LIKE "
     "'nccl%' GROUP BY 1 ORDER BY ns DESC"},
    {"odd_steps", "Steps far longer than the others cost at least 3 % of the mean step.",
     "Look at one of them: checkpoints, evaluation, garbage collection, a late batch.", ""},
    {"memsets",
     "Memsets and kernels that only set memory, which nothing hides, take at least 3 % of the "
     "step.",
     "torch.empty for what is written before it is read, buffers that stay, "
     "zero_grad(set_to_none=True); fewer and larger ones.",
     "SELECT memKind, count(*) AS memsets, sum(bytes) AS bytes, count(*) - count(bytes) AS "
     "of_unknown_size, sum(end - start) AS ns FROM CUPTI_ACTIVITY_KIND_MEMSET GROUP BY 1 UNION "
     "ALL SELECT s.value, count(*), NULL, count(*), sum(k.end - k.start) FROM "
     "CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName WHERE s.value LIKE "
     "'%FillFunctor%' GROUP BY 1"},
    {"queued_idle", "The GPU is idle at least 10 % of the step though work was launched in time.",
     "Streams that wait for each other, tiny kernels one behind the other, or too little work a "
     "launch: fuse, or use CUDA graphs.",
     ""},
    {"step_pattern",
     "Some steps of a rank take longer in an order (every third, from one on, ever longer) and "
     "cost "
     "at least 2 % of the mean step.",
     "Look at one of them beside its neighbour: what runs only every so often, or since then?", ""},
    {"unbalanced_ranks",
     "One rank computes for longer than the mean of all by at least 3 % of the step.",
     "Give all ranks as much work: experts by load, sequences by length, layers by cost.",
     "SELECT k.globalPid, s.value AS kernel, count(*) AS launches, sum(k.end - k.start) AS ns FROM "
     "CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName GROUP BY 1, 2 ORDER BY "
     "ns DESC LIMIT 40"},
    {"sync_copies",
     "The GPU is idle at least 3 % of the step while the CPU is in copies that wait for it.",
     "cudaMemcpyAsync on a stream, from and to pinned memory (non_blocking=True in PyTorch).",
     "SELECT s.value AS call, count(*) AS calls, sum(r.end - r.start) AS ns FROM "
     "CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId WHERE s.value LIKE "
     "'%Memcpy%' AND s.value NOT LIKE '%Async%' GROUP BY 1 ORDER BY ns DESC"},
    {"sync_memsets",
     "The GPU is idle at least 3 % of the step while the CPU is in memsets that wait for it.",
     "cudaMemsetAsync on the stream that uses the memory.",
     "SELECT s.value AS call, count(*) AS calls, sum(r.end - r.start) AS ns FROM "
     "CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId WHERE s.value LIKE "
     "'%Memset%' AND s.value NOT LIKE '%Async%' GROUP BY 1 ORDER BY ns DESC"},
    {"host_waits",
     "The GPU is idle at least 3 % of the step because the thread that launches its work sleeps, "
     "waits for something else than the GPU, or gets no core.",
     "See what it waits for at that line: if for requests from outside, that is no loss. Else take "
     "the sleep or the wait out of the step, do it on another thread, or launch it earlier. "
     "Who gets no core needs more cores, a higher limit of its control group, or fewer threads.",
     "SELECT globalTid, state, count(*) AS times, sum(\"end\" - start) AS ns FROM "
     "LANESCOPE_THREAD_STATES GROUP BY 1, 2 ORDER BY ns DESC LIMIT 20"},
    {"gpu_throttled",
     "The GPU runs below its clocks, for a reason that its driver gives and that is not its power "
     "cap alone, which is estimated to take at least 3 % of the step.",
     "Heat asks for cooling and airflow; a power brake for who shares the supply "
     "(nvidia-smi -q -d PERFORMANCE,POWER,TEMPERATURE). One GPU held alone is one to have looked "
     "at.",
     "SELECT c.gpuId, c.name, s.timestamp, s.value FROM LANESCOPE_COUNTERS c JOIN "
     "LANESCOPE_COUNTER_SAMPLES s ON s.counterId = c.counterId WHERE c.name IN "
     "('throttle.reasons', 'clock.sm') ORDER BY s.timestamp"},
    {"idle_between_steps",
     "The GPU has no work for at least 3 % of the step between steps, as around evaluations and "
     "checkpoints, or where code is loaded at first use.",
     "Do it less often or beside the training: checkpoints on another thread or process, "
     "evaluation on other GPUs, its data loaded before. Code that is loaded at first use "
     "(cuLibraryLoadData) belongs into a warm-up before the steps.",
     ""},
    {"gpu_idle",
     "The GPU has no work for at least 15 % of the step, for known causes that are each too small "
     "for a rule of their own.",
     "No one cause stands out: a larger batch, fewer and larger pieces of work, or CUDA graphs.",
     "SELECT deviceId, start, idle_ns FROM (SELECT deviceId, start, start - max(\"end\") OVER "
     "(PARTITION BY deviceId ORDER BY start ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS "
     "idle_ns FROM CUPTI_ACTIVITY_KIND_KERNEL) WHERE idle_ns > 0 ORDER BY idle_ns DESC LIMIT 20"},
    {"host_work",
     "The GPU is idle at least 3 % of the step, half a millisecond and more at a time, because the "
     "thread that launches its work runs something else.",
     "Do less there, do it on another thread or process (what makes batches belongs into loader "
     "workers), or launch the next work before it, so that the GPU works meanwhile; compile once, "
     "not for every shape. Fewer launches do not help.",
     "SELECT globalTid, state, count(*) AS times, sum(\"end\" - start) AS ns FROM "
     "LANESCOPE_THREAD_STATES GROUP BY 1, 2 ORDER BY ns DESC LIMIT 20"},
    {"long_kernel",
     "One kernel takes a fifth of the step or more each time that it is launched, ten times as "
     "long "
     "as "
     "the mean of the many others at least.",
     "See what holds it up: additions to the same places one after the other (atomics), few blocks "
     "that work while the rest of the GPU does not, memory that is read out of order; another "
     "operation, layout or algorithm, or what it does in pieces. A profiler of kernels looks into "
     "it.",
     "SELECT s.value AS kernel, count(*) AS launches, max(k.end - k.start) AS longest_ns, "
     "k.gridX * k.gridY * k.gridZ AS blocks FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON "
     "s.id = k.shortName GROUP BY 1, 4 ORDER BY longest_ns DESC LIMIT 20"},
    {"data_movement",
     "Copies within the GPU that nothing hides, and kernels that only move values, take at least a "
     "third of the step.",
     "Write results where they are wanted (out=, a buffer that is made once instead of "
     "concatenating what grows), keep one memory format, views instead of clones, and convert "
     "types once.",
     "SELECT s.value AS kernel, count(*) AS launches, sum(k.end - k.start) AS ns FROM "
     "CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName WHERE s.value LIKE "
     "'%copy%' OR s.value LIKE '%nchw%' OR s.value LIKE '%transpose%' GROUP BY 1 UNION ALL SELECT "
     "'memcpy DtoD', count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 8 "
     "HAVING count(*) > 0 ORDER BY ns DESC LIMIT 20"},
    {"double_precision",
     "Matrix products in double precision take at least 10 % of the step, beside others that are "
     "not.",
     "Where that is not meant, convert where the first of it comes from (arrays of NumPy are "
     "float64): all that is computed with it is in double precision, too.",
     "SELECT s.value AS kernel, count(*) AS launches, sum(k.end - k.start) AS ns FROM "
     "CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName WHERE s.value LIKE "
     "'%f64f64%' OR s.value LIKE '%dgemm%' OR s.value LIKE '%d884gemm%' GROUP BY 1 ORDER BY ns "
     "DESC"},
};
static_assert(std::size(rules) == ruleCount);

}  // namespace

const RuleFacts& factsOf(Rule rule) {
    return rules[static_cast<size_t>(rule)];
}

std::optional<Rule> ruleCalled(std::string_view identifier) {
    for (size_t index = 0; index < ruleCount; ++index)
        if (rules[index].identifier == identifier) return static_cast<Rule>(index);
    return std::nullopt;
}

}  // namespace lanescope::explain
