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

/// The pieces of time of which the scheduler tells: from one switch to the next other one.
std::vector<Row> scheduledPieces(uint32_t thread, const std::vector<ThreadSwitch>& switches) {
    std::vector<Row> pieces;
    for (size_t at = 0; at + 1 < switches.size(); ++at) {
        const ThreadSwitch &from = switches[at], &to = switches[at + 1];
        // Of two of a kind in a row one was lost.
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

/// The looks by start; what a file has twice counts once. Of what lies within each other each piece
/// would have to be held against all.
std::vector<Row> inOrder(std::vector<Row> looks) {
    std::ranges::stable_sort(looks, {}, &Row::startNs);
    int64_t untilNs = INT64_MIN;
    std::erase_if(looks, [&](const Row& look) {
        if (look.startNs < untilNs) return true;
        untilNs = look.endNs;
        return false;
    });
    for (Row& look : looks) {
        look.cpuNs = std::clamp<int64_t>(look.cpuNs, 0, greatestTimeNs);
        look.delayNs = std::clamp<int64_t>(look.delayNs, 0, greatestTimeNs);
    }
    return looks;
}

/// What a look knows of a piece that lies within it.
void lend(const Row& look, Row& piece) {
    piece.stack = look.stack;
    if (piece.state != ThreadState::Blocked) return;
    if (isWaiting(look.state)) piece.state = look.state;
    piece.call = look.call;
    piece.holder = look.holder;
    piece.holderStack = look.holderStack;
}

/// Of a look that part of which the scheduler tells nothing; what the kernel counted in it goes
/// there by its share.
Row partOf(const Row& look, int64_t startNs, int64_t endNs) {
    Row part = look;
    const double whole = static_cast<double>(std::max<int64_t>(look.endNs - look.startNs, 1));
    const double share = static_cast<double>(endNs - startNs) / whole;
    part.startNs = startNs;
    part.endNs = endNs;
    part.cpuNs = static_cast<int64_t>(static_cast<double>(look.cpuNs) * share);
    part.delayNs = static_cast<int64_t>(static_cast<double>(look.delayNs) * share);
    return part;
}

/// Which of the looks from `first` on tells most of a piece; `noIndex` if none overlaps it.
size_t lookOf(const std::vector<Row>& looks, size_t first, const Row& piece) {
    size_t best = noIndex;
    int64_t longestNs = 0;
    const bool isOff = piece.state == ThreadState::Blocked;
    for (size_t at = first; at < looks.size() && looks[at].startNs < piece.endNs; ++at) {
        int64_t sharedNs =
            std::min(looks[at].endNs, piece.endNs) - std::max(looks[at].startNs, piece.startNs);
        if (sharedNs < 0) continue;
        // A look at a wait tells what is waited for, however short.
        if (isOff && isWaiting(looks[at].state)) sharedNs += greatestTimeNs / 2;
        if (best == noIndex || sharedNs > longestNs) {
            best = at;
            longestNs = sharedNs;
        }
    }
    return best;
}

/// A thread that slept and was woken may have waited for a core then, of which switches say
/// nothing; the kernel counts it with what it waited after a core was taken from it. What is left
/// of that count goes to the sleeps that ended meanwhile.
void shareDelays(const std::vector<Row>& looks, std::vector<Row>& pieces) {
    size_t first = 0;
    for (const Row& look : looks) {
        while (first < pieces.size() && pieces[first].endNs <= look.startNs) ++first;
        int64_t leftNs = look.delayNs, sleeps = 0;
        size_t last = first;
        for (; last < pieces.size() && pieces[last].startNs < look.endNs; ++last) {
            const Row& piece = pieces[last];
            if (piece.state == ThreadState::Runnable)
                leftNs -= std::min(piece.endNs, look.endNs) - std::max(piece.startNs, look.startNs);
            else if (piece.state != ThreadState::Running && piece.endNs <= look.endNs)
                ++sleeps;
        }
        for (size_t at = first; at < last && leftNs > 0 && sleeps > 0; ++at) {
            Row& piece = pieces[at];
            if (piece.state == ThreadState::Runnable || piece.state == ThreadState::Running ||
                piece.endNs > look.endNs)
                continue;
            piece.delayNs = std::min(leftNs / sleeps, piece.endNs - piece.startNs);
            leftNs -= piece.delayNs;
            --sleeps;
        }
    }
}

}  // namespace

std::vector<Row> exactStates(uint32_t thread, std::vector<Row> looks,
                             std::vector<ThreadSwitch>& switches) {
    std::ranges::stable_sort(switches, {}, &ThreadSwitch::timeNs);
    looks = inOrder(std::move(looks));
    std::vector<Row> pieces = scheduledPieces(thread, switches);
    if (looks.empty()) return pieces;
    std::vector<Row> rows;
    rows.reserve(pieces.size() + looks.size());
    size_t first = 0;
    for (Row& piece : pieces) {
        while (first < looks.size() && looks[first].endNs <= piece.startNs) ++first;
        if (const size_t look = lookOf(looks, first, piece); look != noIndex)
            lend(looks[look], piece);
    }
    shareDelays(looks, pieces);
    // Of looks what lies in no piece.
    size_t piece = 0;
    for (const Row& look : looks) {
        int64_t fromNs = look.startNs;
        while (piece < pieces.size() && pieces[piece].endNs <= fromNs)
            rows.push_back(pieces[piece++]);
        while (piece < pieces.size() && pieces[piece].startNs < look.endNs) {
            if (pieces[piece].startNs > fromNs)
                rows.push_back(partOf(look, fromNs, pieces[piece].startNs));
            fromNs = std::max(fromNs, std::min(pieces[piece].endNs, look.endNs));
            if (pieces[piece].endNs > look.endNs) break;
            rows.push_back(pieces[piece++]);
        }
        if (fromNs < look.endNs) rows.push_back(partOf(look, fromNs, look.endNs));
    }
    while (piece < pieces.size()) rows.push_back(pieces[piece++]);
    return rows;
}

LooksOfThreads readThreadStates(LoadContext& context, FileDirectory& directory) {
    const bool isScheduled = context.database().hasTable(tables::scheduleEvents.tableName());
    LooksOfThreads looks;
    constexpr const auto& t = tables::threadStates;
    TableReader reader(context, t,
                       {t.start, t.end, t.globalTid, t.state, t.callchainId, t.cpuNs, t.delayNs,
                        t.callId, t.holderTid, t.holderCallchainId},
                       "thread states");
    const auto take = [&](uint32_t thread, TimeRange times) {
        const std::optional<int64_t> holder = reader.integer(t.holderTid);
        const kinds::CpuState::Row row{
            .startNs = times.startNs,
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
            looks[thread].push_back(row);
        else
            context.builder().add<kinds::CpuState>(row);
    };
    forEachThreadRow(reader, t, directory.identities, Nameless::Kept, take);
    reader.countAs(kinds::CpuState::plural);
    return looks;
}

CoreTimes readSchedule(LoadContext& context, FileDirectory& directory, LooksOfThreads looks) {
    constexpr const auto& t = tables::scheduleEvents;
    TableReader reader(context, t, {t.start, t.isSchedIn, t.globalTid, t.isPreempted},
                       "switches of threads");
    std::map<uint32_t, std::vector<ThreadSwitch>> switchesOf;
    if (reader.hasTable())
        forEachThreadRow(
            reader, t, directory.identities, Nameless::LeftOut,
            [&](uint32_t thread, TimeRange times) {
                switchesOf[thread].push_back({times.startNs, reader.integerOr(t.isSchedIn, 0) != 0,
                                              reader.integerOr(t.isPreempted, 0) != 0});
            });
    reader.countAs("thread switches");
    for (const auto& [thread, rows] : looks) switchesOf.try_emplace(thread);
    CoreTimes onCore;
    for (auto& [thread, switches] : switchesOf) {
        for (const auto& row : exactStates(thread, std::move(looks[thread]), switches)) {
            if (row.source == StateSource::Scheduler && row.state == ThreadState::Running)
                onCore[thread].push_back({row.startNs, row.endNs});
            context.builder().add<kinds::CpuState>(row);
        }
        switches = {};
    }
    return onCore;
}

}  // namespace lanescope
