// SPDX-License-Identifier: Apache-2.0
// Rules about copies, memsets, allocations and embedding tables: on the GPU, and calls in which the CPU keeps it idle.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/IdleCause.h"
#include "model/analysis/shownNumbers.h"
#include "model/analysis/stepRanges.h"
#include "model/explain/RunFindings.h"
#include "model/explain/findingQueries.h"
#include "model/explain/hostTime.h"
#include "model/explain/programKind.h"
#include "model/explain/rules.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"
#include "model/text/knownRangeName.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// Minimum frees per step for memory to count as freed and allocated again all the time.
constexpr double minFreesPerStep = 1;

bool isAllocatedAgain(const WorkerSummary& worker) {
    const AllocationTimes& all = worker.allocations;
    const auto least = minFreesPerStep * static_cast<double>(worker.steps.size());
    return static_cast<double>(all.frees) >= least && static_cast<double>(all.allocations) >= least;
}

std::string sayAllocations(const FindingText& text) {
    std::string said = fmt::format("The GPU waits {} while memory is allocated or freed: mostly {}, {}.{}", text.time(),
                                   text.main(), text.gaps(), text.place());
    if (!isAllocatedAgain(text.worker())) return said;
    const AllocationTimes& all = text.worker().allocations;
    const auto perStep = [&](int64_t count) {
        return countText(static_cast<double>(count) / static_cast<double>(text.worker().steps.size()));
    };
    said += fmt::format(" {} blocks{} are freed and {} allocated.", perStep(all.frees), text.per(),
                        perStep(all.allocations));
    return all.freedAt.empty() ? said : said + fmt::format(" Most frees are at {}.", printable(all.freedAt.text));
}

std::string adviseAllocations(const FindingText& text) {
    static constexpr std::array<std::string_view, 2> emptyCache{"empty", "cache"};
    const std::vector<std::string> words = wordsOf(text.worker().allocations.freedAt.text);
    if (!std::ranges::search(words, emptyCache).empty())
        return "Do not call torch.cuda.empty_cache() in the steps: it makes the caching allocator free its blocks and "
               "allocate them again.";
    return adviceOf(text.run(), allocationsRule);
}

/// A free waits for the GPU, so that nothing can be launched ahead of it: late launches follow from it.
void putAllocationsBeforeLaunches(const RunSummary& run, std::vector<Finding>& findings) {
    const auto own = std::ranges::find(findings, &allocationsRule, &Finding::rule);
    if (own == findings.end() || !isAllocatedAgain(run.workers[own->worker])) return;
    const auto launches = std::find_if(findings.begin(), own, [&](const Finding& each) {
        return each.worker == own->worker && (each.rule == &launchBoundRule || each.rule == &hostWaitsRule);
    });
    if (launches != own) std::rotate(launches, own, own + 1);
}

/// `calls`: "copies", "memsets".
std::string waitingCalls(const FindingText& text, std::string_view calls) {
    return fmt::format("The GPU is idle {} while the CPU is in blocking {}: mostly {}, {}.{}", text.time(), calls,
                       text.main(), text.gaps(), text.place());
}

/// The copies themselves and the idle time in their calls, which later rules ignore.
void findPageableCopies(RunFindings& run) {
    const int64_t idleNs = run.exposedNs(isInPageableCopy);
    if (run.add(run.exposedNs(isPageable), minShare, run.greatest(isPageable)) == nullptr) return;
    run.accounted.kinds.push_back(isPageable);
    run.accounted.idleNs += idleNs;
}

bool isOtherCopy(const Contributor& each) {
    return each.kind == ContributorKind::Copy && !isPageable(each) && each.part != StepPart::ExposedDtoD;
}

/// Returns true if most time of these copies is of copies to the host.
bool areToHost(const WorkerSummary& worker, IsOf isOf) {
    int64_t toHostNs = 0, othersNs = 0;
    for (const Contributor& each : worker.contributors) {
        if (each.kind != ContributorKind::Copy || !isOf(each)) continue;
        int64_t& ns = each.part == StepPart::ExposedDtoH ? toHostNs : othersNs;
        ns = saturatingSum(ns, each.totalNs);
    }
    return toHostNs > othersNs;
}

/// Returns true if most time of the copies is between host and GPU, where at least half of all bytes are round trips.
bool isRoundTrip(const WorkerSummary& worker, IsOf isOf) {
    double bytes = 0, hostNs = 0, allNs = 0;
    for (const Contributor& each : worker.contributors) {
        if (each.kind != ContributorKind::Copy) continue;
        const bool isOfHost = each.part == StepPart::ExposedHtoD || each.part == StepPart::ExposedDtoH;
        const auto ns = isOf(each) ? static_cast<double>(each.totalNs) : 0;
        bytes += isOfHost ? static_cast<double>(each.bytes) : 0;
        hostNs += isOfHost ? ns : 0;
        allNs += ns;
    }
    const auto returnedBytes = static_cast<double>(worker.hostCopies.returnedBytes);
    return returnedBytes > 0 && 4 * returnedBytes >= bytes && 2 * hostNs > allNs;
}

/// Returns " 65.3 MB per step go to the host, mostly at train.py:67 in load, and come back in ...".
std::string sayRoundTrip(const FindingText& text) {
    const HostCopies& copies = text.worker().hostCopies;
    const auto at = [](const std::string& line) { return line.empty() ? "" : ", mostly at " + printable(line); };
    return fmt::format(" {}{} go to the host{}, and as much comes back in copies of the same sizes{}.",
                       formatBytes(static_cast<int64_t>(static_cast<double>(copies.returnedBytes) / text.stepCount())),
                       text.per(), at(copies.leaveAt), at(copies.returnAt));
}

std::string adviseRoundTrip(const RunSummary& run) {
    return adviceFor(
        run,
        {"If the host does not change this data, keep it on the GPU. For arrays of another framework, "
         "use torch.from_dlpack. For tensors saved for the backward pass, use torch.utils.checkpoint, or hooks that "
         "omit parameters, which stay on the GPU anyway.",
         "If the host does not change this data, keep it on the GPU: jax.dlpack.from_dlpack passes arrays between "
         "frameworks without a copy.",
         "If the host does not change this data, keep it on the GPU. Libraries can share its memory (DLPack)."});
}

/// Returns true if pageable copies are round trips that `exposed_copies` does not report.
bool isOwnRoundTrip(const FindingText& text) {
    return isRoundTrip(text.worker(), isPageable) &&
           !(text.has(exposedCopiesRule) && isRoundTrip(text.worker(), isOtherCopy));
}

std::string sayPageableCopies(const FindingText& text) {
    return text.taking("Pageable-memory copies take") + (isOwnRoundTrip(text) ? sayRoundTrip(text) : std::string());
}

std::string advisePageableCopies(const FindingText& text) {
    const std::string first = isOwnRoundTrip(text) ? adviseRoundTrip(text.run()) + " Otherwise: " : "";
    if (areToHost(text.worker(), isPageable))
        return first +
               adviceFor(
                   text.run(),
                   {"Copy less: keep on the GPU what each step updates (averages of weights), and compute there what "
                    "the host needs (argmax, a mean). Copy the rest into pinned memory that is kept "
                    "(torch.empty(..., pin_memory=True), copy_(..., non_blocking=True)), and read it a step later, "
                    "or less often.",
                    "Copy less: compute what the host needs on the GPU. Read results less often, and those of an "
                    "earlier step (copy_to_host_async).",
                    "Copy less: compute what the host needs on the GPU. Copy the rest into pinned memory that is "
                    "kept ({prefix}HostAlloc) with {prefix}MemcpyAsync, and read it later, or less often."});
    return first + adviceOf(text.run(), pageableCopiesRule);
}

/// From this share of the steps with running copies on, the link is the limit: no other order of work is faster.
constexpr double minLinkShare = 0.9;

/// Returns true if copies that wait for nothing take nearly all of the steps.
bool isLimitedByLink(const WorkerSummary& worker) {
    int64_t copiesNs = 0;
    for (const Contributor& each : worker.contributors)
        if (isOtherCopy(each)) copiesNs = saturatingSum(copiesNs, each.totalNs);
    return static_cast<double>(copiesNs) >= minLinkShare * static_cast<double>(worker.totalWallNs());
}

/// Returns true if most time of the copies is of those to the GPU that a wait of the program delayed. XLA makes its
/// own.
bool isDelayedByWait(const FindingText& text) {
    int64_t copiesNs = 0;
    for (const Contributor& each : text.worker().contributors)
        if (isOtherCopy(each)) copiesNs = saturatingSum(copiesNs, each.totalNs);
    const int64_t delayedNs = text.worker().hostCopies.delayedNs;
    return delayedNs > 0 && delayedNs >= copiesNs / 2 &&
           programKindOf(text.run()).framework != ProgramKind::Framework::Jax;
}

std::string sayExposedCopies(const FindingText& text) {
    if (text.worker().streams.streams == 0 && isLimitedByLink(text.worker()))
        return fmt::format(
            "The link is the limit: copies run during nearly all of the step, {} of it without other work: mostly {}.",
            text.time(), text.main());
    std::string said = text.taking("Copies without overlap take");
    if (const StreamOrder& order = text.worker().streams; order.streams > 0) {
        const std::string count = countText(static_cast<double>(order.operations) / text.stepCount());
        said += fmt::format(
            " Work of {} streams hardly overlaps. {} operation{}{} on the default stream wait{} for the other streams, "
            "and the other streams wait for the default stream, unless these streams are non-blocking.",
            order.streams, count, count == "1" ? "" : "s", text.per(), count == "1" ? "s" : "");
    } else if (isRoundTrip(text.worker(), isOtherCopy)) {
        said += sayRoundTrip(text);
    } else if (isDelayedByWait(text)) {
        const HostCopies& copies = text.worker().hostCopies;
        said += fmt::format(" Most of these copies use another stream than most kernels, but wait for stream {}: {}.",
                            copies.awaitedStream, printable(copies.waitsAt));
    }
    return said;
}

std::string adviseExposedCopies(const FindingText& text) {
    if (text.worker().streams.streams > 0)
        return adviceFor(
            text.run(),
            {exposedCopiesRule.advice, exposedCopiesRule.advice,
             "Put the operations of the default stream on the streams of the work that needs them, make these streams "
             "non-blocking ({prefix}StreamCreateWithFlags), or compile with --default-stream per-thread."});
    if (isLimitedByLink(text.worker()))
        return "Copy fewer bytes: smaller types, compressed data, or data that stays on the GPU. Another order of the "
               "work gains nothing.";
    if (isRoundTrip(text.worker(), isOtherCopy)) return adviseRoundTrip(text.run());
    if (isDelayedByWait(text))
        return "Wait only for the last work that uses the memory that the copy overwrites, not for all work of the "
               "stream. With two buffers that work is of an earlier step, and the copy can overlap this one.";
    if (areToHost(text.worker(), isOtherCopy))
        return "Copy results on a stream of their own while the next step is computed, fewer of them, or less often.";
    return std::string(exposedCopiesRule.advice);
}

/// Without memory that a compiled program sets for its own operations.
bool setsMemory(const Contributor& each) {
    return (each.part == StepPart::Memset || isFill(each)) && !isWithinXlaProgram(each.path);
}

using Sets = std::vector<std::string>;

/// Returns the copies, and the gaps in their calls.
Evidence pageableEvidence(const FindingText& text) {
    const EvidenceQuery query(text);
    Evidence made{query.exposed(Sets{query.copies("k.srcKind = 0 OR k.dstKind = 0")}, Sets{query.otherKernels()}),
                  sumNs(text.worker(), isPageable)};
    if (sumNs(text.worker(), isInPageableCopy) == 0) return made;
    // Whatever another thread waits for meanwhile.
    EvidenceQuery gaps(text);
    gaps.addCalls("calls", callsOf(text.worker(), isInPageableCopy));
    made.sql = fmt::format("SELECT start, ns, name FROM ({})\nUNION ALL SELECT start, ns, call FROM ({})", made.sql,
                           gaps.gaps("g.late AND p.calls > 0"));
    return made;
}

Evidence copiesEvidence(const FindingText& text) {
    const EvidenceQuery query(text);
    const std::string others = "k.copyKind <> 8 AND COALESCE(k.srcKind, -1) <> 0 AND COALESCE(k.dstKind, -1) <> 0";
    return {query.exposed(Sets{query.copies(others)}, Sets{query.otherKernels()}), sumNs(text.worker(), isOtherCopy)};
}

Evidence memsetsEvidence(const FindingText& text) {
    const EvidenceQuery query(text);
    const Sets fills = namesOf(text.worker(), isFill);
    // Rows of compiled programs have the same names.
    const bool isAll = std::ranges::none_of(text.worker().contributors, isWithinXlaProgram, &Contributor::path);
    return {query.exposed(Sets{query.memsets(), query.kernelsNamed(fills)},
                          Sets{query.otherKernels(fills), query.copies()}),
            isAll ? sumNs(text.worker(), setsMemory) : 0};
}

}  // namespace

const Rule allocationsRule{
    .id = "allocations",
    .title = "GPU waits for memory allocations",
    .finds = "The GPU is idle at least 3 % of the step while memory is allocated or freed.",
    .advice =
        "Allocate once, and keep the sizes of tensors, so that the caching allocator reuses its blocks; no "
        "{prefix}Malloc and {prefix}Free inside of steps.",
    .jaxAdvice =
        "Let XLA keep its memory: unset XLA_PYTHON_CLIENT_PREALLOCATE and XLA_PYTHON_CLIENT_ALLOCATOR. Donate "
        "arguments (donate_argnums), so that results reuse their memory.",
    .otherAdvice = "Allocate once, or through a caching allocator; no {prefix}Malloc and {prefix}Free inside of steps.",
    .subject = causality::Subject::Allocation,
    .find = [](RunFindings& run) { run.addKind(isAllocation); },
    .say = sayAllocations,
    .evidence = [](const FindingText& text) { return gapsInCalls(text, isAllocation); },
    .advise = adviseAllocations,
    .order = putAllocationsBeforeLaunches,
};

const Rule syncCopiesRule{
    .id = "sync_copies",
    .title = "GPU waits for blocking copies",
    .finds = "The GPU is idle at least 3 % of the step while the CPU is in blocking copies.",
    .advice = "{prefix}MemcpyAsync on a stream, from and to pinned memory (non_blocking=True in PyTorch).",
    .jaxAdvice = "Read results less often, and those of an earlier step.",
    .otherAdvice = "{prefix}MemcpyAsync on a stream, from and to pinned memory.",
    .subject = causality::Subject::Sync,
    .find = [](RunFindings& run) { run.addKind(isSynchronousCopy); },
    .say = [](const FindingText& text) { return waitingCalls(text, "copies"); },
    .evidence = [](const FindingText& text) { return gapsInCalls(text, isSynchronousCopy); },
};

const Rule syncMemsetsRule{
    .id = "sync_memsets",
    .title = "GPU waits for blocking memsets",
    .finds = "The GPU is idle at least 3 % of the step while the CPU is in blocking memsets.",
    .advice = "Call {prefix}MemsetAsync on the stream that uses the memory.",
    .subject = causality::Subject::Sync,
    .find = [](RunFindings& run) { run.addKind(isSynchronousMemset); },
    .say = [](const FindingText& text) { return waitingCalls(text, "memsets"); },
    .evidence = [](const FindingText& text) { return gapsInCalls(text, isSynchronousMemset); },
};

const Rule pageableCopiesRule{
    .id = "pageable_copies",
    .title = "Copies of pageable memory",
    .finds =
        "Copies from or to pageable memory, with the idle time of the GPU in their calls, take at least 3 % of the "
        "step.",
    .advice = "Pin the host memory (DataLoader(pin_memory=True), tensor.pin_memory()) and copy with non_blocking=True.",
    .jaxAdvice = "Call jax.device_put for the next batch before this step ends, so that its copy overlaps.",
    .otherAdvice = "Pin the host memory ({prefix}HostAlloc, {prefix}HostRegister) and copy with {prefix}MemcpyAsync.",
    .find = findPageableCopies,
    .say = sayPageableCopies,
    .evidence = pageableEvidence,
    .advise = advisePageableCopies,
};

const Rule exposedCopiesRule{
    .id = "exposed_copies",
    .title = "Copies without overlap",
    .finds = "Copies from or to a GPU without overlap take at least 3 % of the step.",
    .advice = "Copy the next batch on a stream of its own while this one is computed.",
    .find =
        [](RunFindings& run) {
            const auto isOwn = [&run](const Contributor& each) { return isOtherCopy(each) && !run.isReported(each); };
            run.add(run.exposedNs(isOwn), minShare, run.greatest(isOwn));
        },
    .say = sayExposedCopies,
    .evidence = copiesEvidence,
    .advise = adviseExposedCopies,
};

const Rule memsetsRule{
    .id = "memsets",
    .title = "Memsets without overlap",
    .finds = "Memsets and kernels that only set memory, without overlap, take at least 3 % of the step.",
    .advice =
        "torch.empty for what is written before it is read, buffers that stay, zero_grad(set_to_none=True); fewer and "
        "larger ones.",
    .jaxAdvice = "Create arrays within jax.jit, so that XLA fuses their initial values, and keep buffers.",
    .otherAdvice = "Do not set memory that is written before it is read, and keep buffers; fewer and larger memsets.",
    .subject = causality::Subject::Memset,
    .find =
        [](RunFindings& run) {
            if (!run.has(denseEmbeddingsRule)) run.add(run.exposedNs(setsMemory), minShare, run.greatest(setsMemory));
        },
    .say = [](const FindingText& text) { return text.taking("Setting memory without overlap takes"); },
    .evidence = memsetsEvidence,
};

namespace {

/// Minimum share of the step for updates of embedding tables to be a finding.
constexpr double minUpdateShare = 0.25;
/// Minimum time of fills, as a share of the time of the optimizer. A fill writes each row once, Adam reads and writes
/// it seven times. With fewer fills, the optimizer mostly updates other parameters than embeddings.
constexpr double minFillShare = 0.05;
/// The same for single operations (foreach), which move about twenty values.
constexpr double minFillShareOfForeach = 0.02;

bool isOptimizer(const KernelGroup& each) { return each.family == KernelFamily::Optimizer; }
bool isForeach(const KernelGroup& each) { return isOptimizer(each) && each.trait == KernelTrait::Foreach; }
bool isFill(const KernelGroup& each) { return each.family == KernelFamily::Fill; }
bool isTableUpdate(const KernelGroup& each) { return isOptimizer(each) || isFill(each); }

void findDenseEmbeddings(RunFindings& run) {
    const auto isGradient = [](const KernelGroup& each) { return each.trait == KernelTrait::SortedGradient; };
    if (std::ranges::none_of(run.kernels(), isGradient)) return;
    const auto updateNs = static_cast<double>(run.kernelNs(isOptimizer));
    const auto foreachNs = static_cast<double>(run.kernelNs(isForeach));
    const double minFillNs = minFillShare * (updateNs - foreachNs) + minFillShareOfForeach * foreachNs;
    if (static_cast<double>(run.kernelNs(isFill)) >= minFillNs && updateNs > 0)
        run.addKernels(isTableUpdate, minUpdateShare);
}

}  // namespace

const Rule denseEmbeddingsRule{
    .id = "dense_embeddings",
    .title = "All rows of embedding tables are updated",
    .finds =
        "An optimizer and fills take at least 25 % of the step, next to gradients of embeddings, and fills take at "
        "least 5 % of the optimizer's time (2 % of single operations): dense gradients of large tables.",
    .advice =
        "nn.Embedding(sparse=True) with torch.optim.SparseAdam or Adagrad updates only the rows of the batch. Keep the "
        "optimizer of the other parameters. TorchRec's fused optimizers store no gradient of the table.",
    .find = findDenseEmbeddings,
    .say =
        [](const FindingText& text) {
            return fmt::format(
                "The optimizer and fills of dense gradients write whole embedding tables, also rows that the batch "
                "does not use, for {}: mostly {}.",
                text.time(), text.main());
        },
    .evidence = [](const FindingText& text) { return evidenceByName(text, isTableUpdate); },
    .isEstimate = true,
};

}  // namespace lanescope::explain
