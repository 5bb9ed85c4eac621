// SPDX-License-Identifier: Apache-2.0
// Rules about what keeps the launching thread from launching, whatever its state: the compiler and the GIL.

#include <fmt/format.h>

#include <algorithm>

#include "model/analysis/IdleCause.h"
#include "model/analysis/ThreadActivities.h"
#include "model/explain/FindingText.h"
#include "model/explain/RunFindings.h"
#include "model/explain/findingQueries.h"
#include "model/explain/hostTime.h"
#include "model/explain/rules.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// A program that compiles in its steps does so for new shapes or constants. The samples of one compilation show a
/// thread that runs, one that waits for the compiler's threads, and times between: all are one finding.
void findCompiling(RunFindings& run) { run.addKind(isCompilation); }

std::string sayCompiling(const FindingText& text) {
    return fmt::format("The GPU waits {} while the program compiles code: mostly {}.", text.time(), text.main());
}

/// Minimum share of the mean step. It is larger than for other waits, because samples only estimate waits for the GIL.
constexpr double minGilShare = 0.10;

void findGilWaits(RunFindings& run) {
    run.accounted.hasGilWaits = run.addIdleTimeOf(gilWaitNs, minGilShare) != nullptr;
}

std::string sayGilWaits(const FindingText& text) {
    return fmt::format(
        "The GPU waits about {} for a thread that cannot launch while another thread has the GIL, as samples suggest: "
        "mostly {}.",
        text.time(), text.main());
}

/// Returns the late launches at which the layer "seen" of the trace has samples. The time between samples counts to the
/// finding too, so that the rows do not sum to it.
template <class Add>
Evidence lateGapsSeen(const FindingText& text, Add add) {
    EvidenceQuery query(text);
    if (text.run().facts.producerKind != ProducerKind::Lanescope) return {query.gaps("g.late")};
    add(query);
    return {query.gaps("g.late AND p.seen > 0")};
}

Evidence compilingEvidence(const FindingText& text) {
    return lateGapsSeen(text, [](EvidenceQuery& query) { query.addFunctionsOf("seen", compilerFiles()); });
}

Evidence gilEvidence(const FindingText& text) {
    return lateGapsSeen(text, [](EvidenceQuery& query) { query.addStates("seen", {ThreadState::Gil}, 0, false); });
}

/// Work that is captured in each step is also launched there to warm up, for which a graph is no remedy.
void putCapturesBeforeLaunches(const RunSummary&, std::vector<Finding>& findings) {
    const auto launches = std::ranges::find(findings, &launchBoundRule, &Finding::rule);
    std::stable_partition(launches, findings.end(),
                          [](const Finding& each) { return each.rule == &graphCapturesRule; });
}

bool isCapturing(const Contributor& each) { return each.name.idle.kind == CauseKind::CapturingGraph; }

Evidence captureEvidence(const FindingText& text) {
    EvidenceQuery query(text);
    query.addCaptures("captures");
    return {query.gaps("g.late AND p.captures > 0"), sumNs(text.worker(), isCapturing)};
}

}  // namespace

const Rule graphCapturesRule{
    .id = "graph_captures",
    .title = "CUDA graphs are captured in the steps",
    .finds = "The GPU waits for at least 3 % of the step while the program captures CUDA graphs.",
    .advice =
        "Capture a graph once for each shape and keep it: pad lengths and batches to a few sizes, and copy the inputs "
        "into buffers that stay. A graph that is used once costs more than its launches.",
    .find = [](RunFindings& run) { run.addKind(isCapturing); },
    .say =
        [](const FindingText& text) {
            return fmt::format("The GPU waits {} while CUDA graphs are captured and instantiated: mostly {}.",
                               text.time(), text.main());
        },
    .evidence = captureEvidence,
    .order = putCapturesBeforeLaunches,
    .part = StepPart::LaunchBound,
};

const Rule compilingRule{
    .id = "compiling",
    .title = "The program compiles in its steps",
    .finds = "The GPU waits for at least 3 % of the step while the program compiles code.",
    .advice =
        "Compile once: constant shapes (pad, or torch.compile(dynamic=True)), no Python numbers that change in "
        "compiled code (pass them as tensors or arrays; JAX: no static arguments that change), a warm-up for each "
        "shape before the steps. TORCH_LOGS=recompiles or JAX_EXPLAIN_CACHE_MISSES=1 prints the reason.",
    .find = findCompiling,
    .say = sayCompiling,
    .evidence = compilingEvidence,
    .part = StepPart::LaunchBound,
};

const Rule gilWaitsRule{
    .id = "gil_waits",
    .title = "Another thread has the GIL",
    .finds =
        "The launching thread waits for the GIL, which a thread that launches nothing has, for at least 10 % of the "
        "step. Estimated by samples.",
    .advice =
        "Move the work of the other thread to another process (multiprocessing), or into code that releases the GIL "
        "(NumPy, C extensions), or do it less often. Fewer launches do not help.",
    .find = findGilWaits,
    .say = sayGilWaits,
    .evidence = gilEvidence,
    .part = StepPart::LaunchBound,
};

}  // namespace lanescope::explain
