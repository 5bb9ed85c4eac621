// SPDX-License-Identifier: Apache-2.0
#include "model/compare/sameRecording.h"

#include "model/format/TimeRange.h"

namespace lanescope::compare {

namespace {

/// From the start of its first compared step to the end of its last, since 1970.
TimeRange utcOf(const SummaryFacts& facts, const WorkerSummary& worker) {
    const StepSummary& last = worker.steps.back();
    return {facts.startUtcNs + worker.steps.front().startNs,
            facts.startUtcNs + last.startNs + last.wallNs};
}

bool overlap(TimeRange one, TimeRange other) {
    return one.startNs < other.endNs && other.startNs < one.endNs;
}

}  // namespace

bool isSameRecording(const RunSummary& one, const RunSummary& other) {
    const SummaryFacts &a = one.facts, &b = other.facts;
    if (a.contentHash == 0 || b.contentHash == 0) return false;
    if (a.contentHash == b.contentHash) return true;
    if (a.startUtcNs == 0 || b.startUtcNs == 0) return false;
    if (!a.host.empty() && !b.host.empty() && a.host != b.host) return false;
    for (const WorkerSummary& mine : one.workers)
        for (const WorkerSummary& theirs : other.workers)
            if (mine.pid == theirs.pid && !mine.steps.empty() && !theirs.steps.empty() &&
                overlap(utcOf(a, mine), utcOf(b, theirs)))
                return true;
    return false;
}

}  // namespace lanescope::compare
