// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "model/format/tables/ThreadStates.h"
#include "model/load/sqlite/CallchainStacks.h"
#include "model/load/sqlite/ThreadRows.h"
#include "model/trace/kinds/CpuState.h"

namespace lanescope {

namespace {

struct Sample {
    int64_t timeNs;
    uint32_t stack;
};

/// When the core was lost on which a thread was at `timeNs`; `endNs` where that is not known.
int64_t untilLost(std::span<const TimeRange> onCore, int64_t timeNs, int64_t endNs) {
    const auto next = std::ranges::upper_bound(onCore, timeNs, {}, &TimeRange::startNs);
    if (next == onCore.begin()) return endNs;
    const int64_t lostNs = std::prev(next)->endNs;
    return lostNs > timeNs ? std::min(endNs, lostNs) : endNs;
}

/// A sample stands until the next, but no longer than twice what lies between most, nor than its
/// thread had the core.
void giveSamples(TraceBuilder& builder, uint32_t thread, std::vector<Sample>& samples,
                 std::span<const TimeRange> onCore) {
    std::ranges::stable_sort(samples, {}, &Sample::timeNs);
    std::vector<int64_t> stepsNs;
    for (size_t at = 1; at < samples.size(); ++at)
        stepsNs.push_back(samples[at].timeNs - samples[at - 1].timeNs);
    constexpr int64_t aloneNs = 1'000'000;
    int64_t longestNs = aloneNs;
    if (!stepsNs.empty()) {
        const auto middle = stepsNs.begin() + static_cast<std::ptrdiff_t>(stepsNs.size() / 2);
        std::ranges::nth_element(stepsNs, middle);
        longestNs = std::clamp<int64_t>(2 * std::min(*middle, greatestTimeNs / 4), 1, 10 * aloneNs);
    }
    for (size_t at = 0; at < samples.size(); ++at) {
        int64_t endNs = samples[at].timeNs + longestNs;
        if (at + 1 < samples.size()) endNs = std::min(endNs, samples[at + 1].timeNs);
        endNs = untilLost(onCore, samples[at].timeNs, endNs);
        builder.add<kinds::CpuState>({.startNs = samples[at].timeNs,
                                      .endNs = endNs,
                                      .thread = thread,
                                      .state = ThreadState::Running,
                                      .source = StateSource::Samples,
                                      .stack = samples[at].stack});
    }
}

}  // namespace

void readSamples(LoadContext& context, FileDirectory& directory, const CoreTimes& onCore) {
    constexpr const auto& t = tables::sampleEvents;
    TableReader reader(context, t, {t.id, t.start, t.globalTid}, "samples of threads");
    if (!reader.hasTable()) return;
    const CallchainStacks stacks(context, directory, tables::samplingCallchains);
    std::map<uint32_t, std::vector<Sample>> samplesOf;
    forEachThreadRow(
        reader, t, directory.identities, Nameless::LeftOut, [&](uint32_t thread, TimeRange times) {
            samplesOf[thread].push_back({times.startNs, stacks.of(reader.integerOr(t.id, -1))});
        });
    reader.countAs("thread samples");
    for (auto& [thread, samples] : samplesOf) {
        const auto times = onCore.find(thread);
        giveSamples(context.builder(), thread, samples,
                    times == onCore.end() ? std::span<const TimeRange>() : times->second);
    }
}

}  // namespace lanescope
