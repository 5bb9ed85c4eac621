// SPDX-License-Identifier: Apache-2.0
#include "model/importers/sqlite/readThreadStates.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "model/format/tables/Threads.h"
#include "model/importers/sqlite/eventRows.h"
#include "model/importers/sqlite/readers.h"
#include "model/trace/kinds/CpuState.h"

namespace lanescope {

namespace {

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
    TableReader reader(context, t,
                       {t.start, t.end, t.globalTid, t.state, t.callchainId, t.cpuNs, t.delayNs, t.callId, t.holderTid,
                        t.holderCallchainId},
                       "thread states");
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
