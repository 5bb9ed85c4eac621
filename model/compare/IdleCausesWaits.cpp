// SPDX-License-Identifier: Apache-2.0
// What of idle time waits for the GPU make.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "model/compare/IdleCauses.h"
#include "model/trace/categories.h"
#include "model/trace/stacks.h"

namespace lanescope::compare {

namespace {

/// The way from a wait to the next launch, generously. A GPU that ran dry for a wait has to do
/// without work for that long, however far ahead the CPU could have been.
constexpr int64_t afterWaitNs = 100'000;

/// Whether an API call waits for the GPU. `cudaStreamWaitEvent` does not: the stream waits.
bool isWait(std::string_view call) {
    return call.find("Synchronize") != std::string_view::npos;
}

}  // namespace

Stretches IdleCauses::synchronization() {
    Stretches claims = noStretches();
    for (const uint32_t thread : threads_) {
        for (const Stretch& call : run_.calls.callsOf[thread]) {
            if (!isWait(trace_.strings.at(call.label))) continue;
            const RangePaths::Id path = run_.pathAt(thread, worker_.stepThread, call.startNs);
            const uint32_t key = waitKey(call, thread, noIndex);
            claims.push_back(
                {call.startNs, call.endNs, contributor(StepPart::Synchronization, key, path)});
        }
    }
    addAfterWaits(claims);
    return without(withoutOverlaps(std::move(claims)), queuedGaps());
}

const Stretch* IdleCauses::waitAt(uint32_t thread, int64_t timeNs) const {
    const Stretches& calls = run_.calls.callsOf[thread];
    const auto after = std::ranges::upper_bound(calls, timeNs, {}, &Stretch::startNs);
    if (after == calls.begin()) return nullptr;
    const Stretch& call = *std::prev(after);
    return call.endNs >= timeNs && isWait(trace_.strings.at(call.label)) ? &call : nullptr;
}

uint32_t IdleCauses::waitKey(const Stretch& call, uint32_t thread, uint32_t before) {
    const uint32_t stack = stackOf(thread, call);
    const auto [known, isNew] = waitKeys_.try_emplace(
        {call.label, thread, before, stack == noIndex ? noIndex : ownFrame(trace_, stack)});
    if (!isNew) return known->second;
    std::string name =
        fmt::format("{}{}", before == noIndex ? "in " : "after ", trace_.strings.at(call.label));
    if (before != noIndex) {
        const Contributor& work = contributors_.contributors()[before];
        if (work.kind == ContributorKind::Copy) name += fmt::format(" for a copy ({})", work.name);
        name += " " + onThread(trace_, thread);
    }
    if (stack != noIndex) name += " at " + frameText(trace_, ownFrame(trace_, stack));
    known->second = nameKey(name);
    return known->second;
}

/// Where in Python the thread was when it called; `noIndex` if that is not known. O(log n).
uint32_t IdleCauses::stackOf(uint32_t thread, const Stretch& call) const {
    const ApiTable& calls = trace_.apiCalls;
    uint32_t row = static_cast<uint32_t>(
        std::lower_bound(calls.startNs.begin(), calls.startNs.end(), call.startNs) -
        calls.startNs.begin());
    for (; row < calls.size() && calls.startNs[row] == call.startNs; ++row)
        if (calls.thread[row] == thread && calls.name[row] == call.label) return calls.stack[row];
    return noIndex;
}

/// The CPU cannot launch ahead while it waits: had it not, it would be in each gap behind a wait as
/// much earlier as it waited before in that step. What a gap is longer is none of the waits'.
void IdleCauses::addAfterWaits(Stretches& claims) {
    std::map<uint32_t, Lead> leads;  // by thread
    std::map<uint32_t, Stretches> pieces;
    for (const Gap& gap : gaps_) {
        if (!isLate(gap)) continue;
        const uint32_t thread = awaitedThread(gap);
        const Stretch* wait = waitAt(thread, gap.range.startNs);
        if (wait == nullptr) continue;
        Lead& lead = leads[thread];
        const auto step = std::ranges::upper_bound(stepStartsNs_, gap.range.startNs);
        const int64_t sinceNs = step == stepStartsNs_.begin() ? INT64_MIN : *std::prev(step);
        if (std::exchange(lead.sinceNs, sinceNs) != sinceNs) {
            lead.ns = 0;
            // The last one may last into this step.
            if (lead.next > 0) --lead.next;
        }
        const Stretches& calls = run_.calls.callsOf[thread];
        for (; lead.next < calls.size() && calls[lead.next].startNs <= gap.range.startNs;
             ++lead.next) {
            const Stretch& call = calls[lead.next];
            if (call.endNs > sinceNs && isWait(trace_.strings.at(call.label)))
                lead.ns += call.endNs - std::max(call.startNs, sinceNs);
        }
        const int64_t gapNs = gap.range.durationNs();
        const int64_t takenNs = gapNs < afterWaitNs ? gapNs : std::min(gapNs, lead.ns);
        lead.ns = std::max<int64_t>(0, lead.ns - takenNs);
        const int64_t untilNs = gap.range.startNs + takenNs;
        if (untilNs <= wait->endNs) continue;
        const uint32_t key = waitKey(*wait, thread, gap.before);
        append(pieces.try_emplace(thread, noStretches()).first->second,
               ownTime(thread, {wait->endNs, untilNs}, key));
    }
    for (auto& [thread, all] : pieces)
        addByPath(StepPart::Synchronization, thread, withoutOverlaps(std::move(all)), claims);
}

Stretches IdleCauses::ownTime(uint32_t thread, TimeRange range, uint32_t label) {
    Stretches others = noStretches();
    const auto addWithin = [&](const Stretches& calls, auto isOther) {
        auto call = std::ranges::upper_bound(calls, range.startNs, {}, &Stretch::startNs);
        if (call != calls.begin()) --call;
        for (; call != calls.end() && call->startNs < range.endNs; ++call)
            if (isOther(*call)) others.push_back(*call);
    };
    addWithin(run_.calls.callsOf[thread],
              [this](const Stretch& call) { return isAllocation(trace_.strings.at(call.label)); });
    if (const auto copies = pageableCalls_.find(thread); copies != pageableCalls_.end())
        addWithin(copies->second, [](const Stretch&) { return true; });
    words_.forEachIn(thread, range, [&](TimeRange piece, std::string_view words) {
        const std::optional<ThreadState> state = stateTold(words);
        if (isStarvedByTurns(words) ||
            (state && (isWaiting(*state) || *state == ThreadState::Runnable)))
            others.push_back({piece.startNs, piece.endNs, 0});
    });
    return without(Stretches{{range.startNs, range.endNs, label}},
                   withoutOverlaps(std::move(others)));
}

}  // namespace lanescope::compare
