// SPDX-License-Identifier: Apache-2.0
#include "model/merge/alignClocks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "model/merge/commonTimes.h"

namespace lanescope {

namespace {

constexpr int64_t dayNs = int64_t{86'400} * 1'000'000'000;
/// Fewer may be chance.
constexpr uint32_t minTimes = 3;

/// Sets `zeroNs` from the times of day of the files, relative to the earliest. A file without a
/// time of day begins with the first of the others.
Result<void> readTimesOfDay(std::span<const TracePtr> traces, bool isAsked, AlignedClocks& out) {
    int64_t earliest = std::numeric_limits<int64_t>::max(), latest = 0;
    size_t first = 0, last = 0;
    for (size_t index = 0; index < traces.size(); ++index) {
        const int64_t startNs = traces[index]->startUtcNs;
        out.isTimeOfDayKnown &= startNs > 0;
        if (startNs <= 0) continue;
        if (startNs < earliest) first = index;
        if (startNs > latest) last = index;
        earliest = std::min(earliest, startNs);
        latest = std::max(latest, startNs);
    }
    const bool isAnyKnown = latest > 0;
    if (isAnyKnown && isAsked && latest - earliest > dayNs)
        return fail(
            "{} was recorded {} days after {}: probably different jobs. To merge anyway, use "
            "--align start.",
            traces[last]->title, (latest - earliest) / dayNs, traces[first]->title);
    out.startUtcNs = isAnyKnown ? earliest : 0;
    const int64_t firstEventNs = isAnyKnown ? traces[first]->range.startNs : traces.front()->range.startNs;
    for (const TracePtr& trace : traces)
        out.zeroNs.push_back(trace->startUtcNs > 0 ? trace->startUtcNs - earliest
                                                   : firstEventNs - trace->range.startNs);
    return {};
}

void beginTogether(std::span<const TracePtr> traces, const PlacedParts& placed, AlignedClocks& out) {
    const int64_t firstNs = traces.front()->range.startNs + out.zeroNs.front();
    for (size_t index = 0; index < traces.size(); ++index) {
        AlignedClocks::Clock& clock = out.clocks[placed.parts[index].clock];
        clock.method = ClockMethod::Start;
        out.zeroNs[index] = firstNs - traces[index]->range.startNs;
    }
}

/// Returns true if times of day agree within the known precision; then they are kept.
bool isAsSet(const FittedClock& clock, std::span<const ClockedTrace> traces, uint32_t number) {
    const auto agrees = [&](int64_t timeNs) { return std::abs(clock.map.at(timeNs) - timeNs) <= clock.errorNs; };
    return std::all_of(traces.begin(), traces.end(), [&](const ClockedTrace& each) {
        return each.clock != number ||
               (agrees(each.trace->range.startNs + each.zeroNs) && agrees(each.trace->range.endNs + each.zeroNs));
    });
}

/// Returns true, and uses the fit, if it determines each clock.
bool takeFit(const std::vector<CommonTime>& moments, ClockMethod method, std::span<const ClockedTrace> traces,
             AlignedClocks& out) {
    const ClockFit fit = fitClocks(static_cast<uint32_t>(out.clocks.size()), moments);
    for (size_t clock = 1; clock < fit.clocks.size(); ++clock)
        if (fit.clocks[clock].moments < minTimes) return false;
    for (uint32_t number = 1; number < fit.clocks.size(); ++number) {
        const FittedClock& from = fit.clocks[number];
        AlignedClocks::Clock& to = out.clocks[number];
        to = {method, from.map, from.errorNs, from.moments, false, from.slackNs, from.settings};
        to.isAsSet = out.isTimeOfDayKnown && from.settings.empty() && isAsSet(from, traces, number);
        if (to.isAsSet) to.map = {};
    }
    // The first clock is the reference; if it was set, as it ran before.
    if (const FittedClock& first = fit.clocks.front(); !first.settings.empty())
        out.clocks.front() = {method, first.map, first.errorNs, first.moments, false, std::nullopt, first.settings};
    out.causalTimes = fit.causalTimes;
    out.violations = fit.violations;
    return true;
}

}  // namespace

Result<AlignedClocks> alignClocks(std::span<const TracePtr> traces, const PlacedParts& placed,
                                  std::optional<ClockMethod> method) {
    AlignedClocks out;
    out.clocks.resize(placed.clocks.size());
    const bool isByStart = method == ClockMethod::Start;
    if (auto read = readTimesOfDay(traces, !isByStart, out); !read) return fail(read.error());
    if (isByStart) {
        beginTogether(traces, placed, out);
        return out;
    }
    std::vector<ClockedTrace> clocked;
    for (size_t index = 0; index < traces.size(); ++index)
        clocked.push_back({traces[index].get(), placed.parts[index].clock, out.zeroNs[index]});
    if (method == ClockMethod::BaseTime || placed.clocks.size() < 2) return out;
    if (!method || method == ClockMethod::Collectives) {
        std::vector<CommonTime> moments = commonCollectives(clocked);
        std::vector<CommonTime> messages = commonMessages(clocked);
        out.hasCollectives = !moments.empty();
        out.hasMessages = !messages.empty();
        std::move(messages.begin(), messages.end(), std::back_inserter(moments));
        if (takeFit(moments, ClockMethod::Collectives, clocked, out)) return out;
    }
    if (!method || method == ClockMethod::Steps)
        if (takeFit(commonSteps(clocked), ClockMethod::Steps, clocked, out)) return out;
    if (method)
        return fail(
            "--align: too few common {} to synchronize clocks. Remove --align, or use base-time or "
            "start.",
            *method == ClockMethod::Steps ? "steps" : "collectives and messages");
    return out;
}

}  // namespace lanescope
