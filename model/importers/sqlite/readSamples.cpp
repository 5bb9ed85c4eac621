// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/format/tables/Threads.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/importers/sqlite/eventRows.h"
#include "model/importers/sqlite/readers.h"
#include "model/numbers/Statistics.h"
#include "model/trace/kinds/CpuState.h"

namespace lanescope {

/// The native stacks of a table of Nsight Systems, with a row of `Trace::stacks` for each frame.
/// Stacks with equal outer frames share them. The file of a frame is its library.
class CallchainStacks {
  public:
    /// Reads the table. O(rows) time and temporary memory.
    CallchainStacks(LoadContext& context, FileDirectory& directory, const tables::Callchains& table);

    uint32_t of(int64_t id) const {
        const auto found = stacks_.find(id);
        return found == stacks_.end() ? noIndex : found->second;
    }

  private:
    std::unordered_map<int64_t, uint32_t> stacks_;
};

namespace {

struct Frame {
    int64_t id;
    int64_t depth;
    StringIndex function, module;
    uint32_t line;
};

}  // namespace

CallchainStacks::CallchainStacks(LoadContext& context, FileDirectory& directory, const tables::Callchains& table) {
    TableReader reader(context, table, {table.id, table.symbol, table.module, table.stackDepth, table.line},
                       "call stacks");
    std::vector<Frame> frames;
    while (reader.next()) {
        const auto id = reader.integer(table.id);
        const auto function = reader.string(table.symbol, directory.strings);
        if (!id || !function) {
            reader.skipRow();
            continue;
        }
        frames.push_back({*id, reader.integerOr(table.stackDepth, 0), *function,
                          reader.string(table.module, directory.strings).value_or(0), reader.unsigned32(table.line)});
    }
    // The outermost frame of each stack first.
    std::ranges::stable_sort(
        frames, [](const Frame& a, const Frame& b) { return a.id != b.id ? a.id < b.id : a.depth > b.depth; });
    std::map<std::tuple<uint32_t, StringIndex, StringIndex, uint32_t>, uint32_t> known;
    uint32_t stack = noIndex;
    for (size_t at = 0; at < frames.size(); ++at) {
        const Frame& frame = frames[at];
        if (at == 0 || frames[at - 1].id != frame.id) stack = noIndex;
        const auto [place, isNew] = known.try_emplace({stack, frame.function, frame.module, frame.line}, 0);
        if (isNew) place->second = context.builder().stack(stack, frame.function, frame.module, frame.line);
        stack = place->second;
        stacks_.insert_or_assign(frame.id, stack);
    }
}

namespace {

struct Sample {
    int64_t timeNs;
    uint32_t stack;
};

/// Returns the time at which the thread lost the core that it had at `timeNs`, or `endNs` if unknown.
int64_t untilLost(std::span<const TimeRange> onCore, int64_t timeNs, int64_t endNs) {
    const auto next = std::ranges::upper_bound(onCore, timeNs, {}, &TimeRange::startNs);
    if (next == onCore.begin()) return endNs;
    const int64_t lostNs = std::prev(next)->endNs;
    return lostNs > timeNs ? std::min(endNs, lostNs) : endNs;
}

/// Adds the samples of a thread. A sample lasts until the next one, but at most twice the median
/// interval and not beyond the time on the core.
void emitSamples(TraceBuilder& builder, uint32_t thread, std::vector<Sample>& samples,
                 std::span<const TimeRange> onCore) {
    std::ranges::stable_sort(samples, {}, &Sample::timeNs);
    std::vector<int64_t> stepsNs;
    for (size_t at = 1; at < samples.size(); ++at) stepsNs.push_back(samples[at].timeNs - samples[at - 1].timeNs);
    constexpr int64_t aloneNs = 1'000'000;
    int64_t maxSampleNs = aloneNs;
    if (!stepsNs.empty()) {
        maxSampleNs =
            std::clamp<int64_t>(2 * std::min(upperMedianOf(std::move(stepsNs)), maxTimestampNs / 4), 1, 10 * aloneNs);
    }
    for (size_t at = 0; at < samples.size(); ++at) {
        int64_t endNs = samples[at].timeNs + maxSampleNs;
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
    forEachThreadRow(reader, t, directory.identities, UnnamedRows::Skipped, [&](uint32_t thread, TimeRange times) {
        samplesOf[thread].push_back({times.startNs, stacks.of(reader.integerOr(t.id, -1))});
    });
    reader.countAs("thread samples");
    for (auto& [thread, samples] : samplesOf) {
        const auto times = onCore.find(thread);
        emitSamples(context.builder(), thread, samples,
                    times == onCore.end() ? std::span<const TimeRange>() : times->second);
    }
}

namespace {

/// Returns the reason of a wait in a system library function, by parts of its name.
ThreadState reasonOf(std::string_view name) {
    using enum ThreadState;
    constexpr auto reasons = std::to_array<std::pair<std::string_view, ThreadState>>(
        {{"waitpid", Child}, {"waitid", Child}, {"wait4", Child}, {"sleep", Sleep},    {"mutex", Lock},
         {"cond_", Lock},    {"rwlock", Lock},  {"sem_", Lock},   {"barrier", Lock},   {"pthread_", Lock},
         {"futex", Lock},    {"ioctl", Device}, {"fsync", Disk},  {"fdatasync", Disk}, {"sync", Disk},
         {"open", Disk},     {"poll", Poll},    {"select", Poll}, {"read", Poll},      {"write", Poll},
         {"recv", Poll},     {"send", Poll},    {"accept", Poll}, {"connect", Poll}});
    for (const auto& [part, reason] : reasons)
        if (name.find(part) != std::string_view::npos) return reason;
    return Blocked;
}

}  // namespace

void readSystemCalls(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::systemCalls;
    TableReader reader(context, t, {t.start, t.end, t.globalTid, t.nameId, t.callchainId},
                       "calls of the operating system");
    if (!reader.hasTable()) return;
    const CallchainStacks stacks(context, directory, tables::systemCallchains);
    std::unordered_map<StringIndex, ThreadState> reasons;
    const auto take = [&](uint32_t thread, TimeRange times) {
        const StringIndex name = reader.string(t.nameId, directory.strings).value_or(0);
        const auto [reason, isNew] = reasons.try_emplace(name, ThreadState::Blocked);
        if (isNew) reason->second = reasonOf(directory.strings.text(name));
        context.builder().add<kinds::CpuState>({.startNs = times.startNs,
                                                .endNs = times.endNs,
                                                .thread = thread,
                                                .state = reason->second,
                                                .source = StateSource::Calls,
                                                .call = name,
                                                .stack = stacks.of(reader.integerOr(t.callchainId, -1))});
    };
    forEachThreadRow(reader, t, directory.identities, UnnamedRows::Skipped, take);
}

}  // namespace lanescope
