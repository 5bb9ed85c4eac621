// SPDX-License-Identifier: Apache-2.0
#include "model/importers/sqlite/readers.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/format/tables/Threads.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/numbers/Statistics.h"

namespace lanescope {

namespace {

struct Frame {
    int64_t id;
    int64_t depth;
    StringIndex function, module;
    uint32_t line;
};

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
    if (!stepsNs.empty())
        maxSampleNs =
            std::clamp<int64_t>(2 * std::min(upperMedianOf(std::move(stepsNs)), maxTimestampNs / 4), 1, 10 * aloneNs);
    for (size_t at = 0; at < samples.size(); ++at) {
        int64_t endNs = samples[at].timeNs + maxSampleNs;
        if (at + 1 < samples.size()) endNs = std::min(endNs, samples[at + 1].timeNs);
        endNs = untilLost(onCore, samples[at].timeNs, endNs);
        builder.add<kinds::CpuState>({samples[at].timeNs, endNs}, {.thread = thread,
                                                                   .state = ThreadState::Running,
                                                                   .source = StateSource::Samples,
                                                                   .stack = samples[at].stack});
    }
}

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

using Row = kinds::CpuState::Row;

/// Returns the intervals known from the scheduler, each from one switch to the next of the other kind.
std::vector<Row> scheduledPieces(uint32_t thread, const std::vector<ThreadSwitch>& switches) {
    std::vector<Row> pieces;
    for (size_t at = 0; at + 1 < switches.size(); ++at) {
        const ThreadSwitch &from = switches[at], &to = switches[at + 1];
        // Between two switches of one kind, one was lost.
        if (from.isIn == to.isIn || to.timeNs <= from.timeNs) continue;
        Row piece;
        piece.startNs = from.timeNs;
        piece.endNs = to.timeNs;
        piece.thread = thread;
        piece.source = StateSource::Scheduler;
        const int64_t ns = to.timeNs - from.timeNs;
        if (from.isIn) {
            piece.state = ThreadState::Running;
            piece.cpuNs = ns;
        } else if (from.isPreempted) {
            piece.state = ThreadState::Runnable;
            piece.delayNs = ns;
        } else {
            piece.state = ThreadState::Blocked;
        }
        pieces.push_back(piece);
    }
    return pieces;
}

/// Returns the samples by start, without duplicates and overlaps. Otherwise each interval would
/// have to be compared with all nested samples.
std::vector<Row> inOrder(std::vector<Row> samples) {
    std::ranges::stable_sort(samples, {}, &Row::startNs);
    int64_t untilNs = INT64_MIN;
    std::erase_if(samples, [&](const Row& sample) {
        if (sample.startNs < untilNs) return true;
        untilNs = sample.endNs;
        return false;
    });
    for (Row& sample : samples) {
        sample.cpuNs = std::clamp<int64_t>(sample.cpuNs, 0, maxTimestampNs);
        sample.delayNs = std::clamp<int64_t>(sample.delayNs, 0, maxTimestampNs);
    }
    return samples;
}

/// Copies the properties of a sample to an interval within it.
void copySampled(const Row& sample, Row& piece) {
    piece.stack = sample.stack;
    if (piece.state != ThreadState::Blocked) return;
    if (isWaiting(sample.state)) piece.state = sample.state;
    piece.call = sample.call;
    piece.holder = sample.holder;
    piece.holderStack = sample.holderStack;
}

/// Returns a part of a sample that the scheduler does not cover, with a proportional share of its kernel counts.
Row partOf(const Row& sample, int64_t startNs, int64_t endNs) {
    Row part = sample;
    const double whole = static_cast<double>(std::max<int64_t>(sample.endNs - sample.startNs, 1));
    const double share = static_cast<double>(endNs - startNs) / whole;
    part.startNs = startNs;
    part.endNs = endNs;
    part.cpuNs = static_cast<int64_t>(static_cast<double>(sample.cpuNs) * share);
    part.delayNs = static_cast<int64_t>(static_cast<double>(sample.delayNs) * share);
    return part;
}

/// Returns the sample from `first` on that describes most of an interval, or `noIndex` if none overlaps it.
size_t sampleFor(const std::vector<Row>& samples, size_t first, const Row& piece) {
    size_t best = noIndex;
    int64_t bestNs = 0;
    const bool isOff = piece.state == ThreadState::Blocked;
    for (size_t at = first; at < samples.size() && samples[at].startNs < piece.endNs; ++at) {
        int64_t sharedNs = std::min(samples[at].endNs, piece.endNs) - std::max(samples[at].startNs, piece.startNs);
        if (sharedNs < 0) continue;
        // A sample of a wait is preferred for its reason, however short it is.
        if (isOff && isWaiting(samples[at].state)) sharedNs += maxTimestampNs / 2;
        if (best == noIndex || sharedNs > bestNs) {
            best = at;
            bestNs = sharedNs;
        }
    }
    return best;
}

/// Distributes scheduling delays. A woken thread may wait for a core without a switch. The kernel counts this together
/// with waits after preemption. The rest of that count is assigned to the sleeps that ended meanwhile.
void shareDelays(const std::vector<Row>& samples, std::vector<Row>& pieces) {
    size_t first = 0;
    for (const Row& sample : samples) {
        while (first < pieces.size() && pieces[first].endNs <= sample.startNs) ++first;
        int64_t remainingNs = sample.delayNs, sleeps = 0;
        size_t last = first;
        for (; last < pieces.size() && pieces[last].startNs < sample.endNs; ++last) {
            const Row& piece = pieces[last];
            if (piece.state == ThreadState::Runnable)
                remainingNs -= std::min(piece.endNs, sample.endNs) - std::max(piece.startNs, sample.startNs);
            else if (piece.state != ThreadState::Running && piece.endNs <= sample.endNs)
                ++sleeps;
        }
        for (size_t at = first; at < last && remainingNs > 0 && sleeps > 0; ++at) {
            Row& piece = pieces[at];
            if (piece.state == ThreadState::Runnable || piece.state == ThreadState::Running ||
                piece.endNs > sample.endNs)
                continue;
            piece.delayNs = std::min(remainingNs / sleeps, piece.endNs - piece.startNs);
            remainingNs -= piece.delayNs;
            --sleeps;
        }
    }
}

}  // namespace

/// The native stacks of a table of Nsight Systems, with a row of `Trace::stacks` for each frame.
/// Stacks with equal outer frames share them. The file of a frame is its library.
class CallchainStacks {
  public:
    /// Reads the table. O(rows) time and temporary memory.
    CallchainStacks(LoadContext& context, FileDirectory& directory, const tables::Callchains& table) {
        TableReader reader(context, table, {table.id, table.symbol, table.module, table.stackDepth, table.line},
                           "call stacks");
        std::vector<Frame> frames;
        while (reader.next()) {
            const auto id = reader.integer(table.id);
            const auto function = reader.string(table.symbol, directory.strings);
            if (reader.skipRowIf(!id || !function)) continue;
            frames.push_back({*id, reader.integerOr(table.stackDepth, 0), *function,
                              reader.string(table.module, directory.strings).value_or(0),
                              reader.unsigned32(table.line)});
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

    uint32_t of(int64_t id) const { return valueOr(stacks_, id, noIndex); }

  private:
    std::unordered_map<int64_t, uint32_t> stacks_;
};

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
    for (auto& [thread, samples] : samplesOf)
        emitSamples(context.builder(), thread, samples, valueOr(onCore, thread, std::span<const TimeRange>()));
}

void readSystemCalls(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::systemCalls;
    TableReader reader(context, t, "calls of the operating system");
    if (!reader.hasTable()) return;
    const CallchainStacks stacks(context, directory, tables::systemCallchains);
    std::unordered_map<StringIndex, ThreadState> reasons;
    const auto take = [&](uint32_t thread, TimeRange times) {
        const StringIndex name = reader.string(t.nameId, directory.strings).value_or(0);
        const auto [reason, isNew] = reasons.try_emplace(name, ThreadState::Blocked);
        if (isNew) reason->second = reasonOf(directory.strings.text(name));
        context.builder().add<kinds::CpuState>(times, {.thread = thread,
                                                       .state = reason->second,
                                                       .source = StateSource::Calls,
                                                       .call = name,
                                                       .stack = stacks.of(reader.integerOr(t.callchainId, -1))});
    };
    forEachThreadRow(reader, t, directory.identities, UnnamedRows::Skipped, take);
}

std::vector<Row> exactStates(uint32_t thread, std::vector<Row> samples, std::vector<ThreadSwitch>& switches) {
    std::ranges::stable_sort(switches, {}, &ThreadSwitch::timeNs);
    samples = inOrder(std::move(samples));
    std::vector<Row> pieces = scheduledPieces(thread, switches);
    if (samples.empty()) return pieces;
    std::vector<Row> rows;
    rows.reserve(pieces.size() + samples.size());
    size_t first = 0;
    for (Row& piece : pieces) {
        while (first < samples.size() && samples[first].endNs <= piece.startNs) ++first;
        if (const size_t sample = sampleFor(samples, first, piece); sample != noIndex)
            copySampled(samples[sample], piece);
    }
    shareDelays(samples, pieces);
    // The parts of samples outside of all intervals.
    size_t piece = 0;
    for (const Row& sample : samples) {
        int64_t fromNs = sample.startNs;
        while (piece < pieces.size() && pieces[piece].endNs <= fromNs) rows.push_back(pieces[piece++]);
        while (piece < pieces.size() && pieces[piece].startNs < sample.endNs) {
            if (pieces[piece].startNs > fromNs) rows.push_back(partOf(sample, fromNs, pieces[piece].startNs));
            fromNs = std::max(fromNs, std::min(pieces[piece].endNs, sample.endNs));
            if (pieces[piece].endNs > sample.endNs) break;
            rows.push_back(pieces[piece++]);
        }
        if (fromNs < sample.endNs) rows.push_back(partOf(sample, fromNs, sample.endNs));
    }
    while (piece < pieces.size()) rows.push_back(pieces[piece++]);
    return rows;
}

SampledStates readThreadStates(LoadContext& context, FileDirectory& directory) {
    const bool isScheduled = context.database().hasTable(tables::scheduleEvents.tableName());
    SampledStates samples;
    constexpr const auto& t = tables::threadStates;
    TableReader reader(context, t, "thread states");
    const auto take = [&](uint32_t thread, TimeRange times) {
        const std::optional<int64_t> holder = reader.integer(t.holderTid);
        const kinds::CpuState::Row row{.startNs = times.startNs,
                                       .endNs = times.endNs,
                                       .thread = thread,
                                       .state = threadStateFrom(reader.integerOr(t.state, 0)),
                                       .cpuNs = reader.integerOr(t.cpuNs, 0),
                                       .delayNs = reader.integerOr(t.delayNs, 0),
                                       .call = reader.string(t.callId, directory.strings).value_or(0),
                                       .stack = directory.stackOf(reader.integer(t.callchainId)),
                                       .holder = holder ? directory.identities.thread(*holder) : noIndex,
                                       .holderStack = directory.stackOf(reader.integer(t.holderCallchainId))};
        if (isScheduled)
            samples[thread].push_back(row);
        else
            context.builder().add<kinds::CpuState>(row);
    };
    forEachThreadRow(reader, t, directory.identities, UnnamedRows::Kept, take);
    reader.countAs(kinds::CpuState::plural);
    return samples;
}

CoreTimes readSchedule(LoadContext& context, FileDirectory& directory, SampledStates samples) {
    constexpr const auto& t = tables::scheduleEvents;
    TableReader reader(context, t, {t.start, t.isSchedIn, t.globalTid, t.isPreempted}, "switches of threads");
    std::map<uint32_t, std::vector<ThreadSwitch>> switchesOf;
    if (reader.hasTable())
        forEachThreadRow(reader, t, directory.identities, UnnamedRows::Skipped, [&](uint32_t thread, TimeRange times) {
            switchesOf[thread].push_back(
                {times.startNs, reader.integerOr(t.isSchedIn, 0) != 0, reader.integerOr(t.isPreempted, 0) != 0});
        });
    reader.countAs("thread switches");
    for (const auto& [thread, rows] : samples) switchesOf.try_emplace(thread);
    CoreTimes onCore;
    for (auto& [thread, switches] : switchesOf) {
        for (const auto& row : exactStates(thread, std::move(samples[thread]), switches)) {
            if (row.source == StateSource::Scheduler && row.state == ThreadState::Running)
                onCore[thread].push_back({row.startNs, row.endNs});
            context.builder().add<kinds::CpuState>(row);
        }
        switches = {};
    }
    return onCore;
}

}  // namespace lanescope
