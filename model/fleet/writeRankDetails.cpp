// SPDX-License-Identifier: Apache-2.0
#include "model/fleet/RankDetails.h"
#include "model/format/Inserter.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Stored.h"
#include "model/system/clock.h"

namespace lanescope::fleet {

namespace {

std::optional<std::string_view> orNull(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

std::optional<int64_t> orNull(int64_t number) {
    return number < 0 ? std::nullopt : std::optional(number);
}

void writePlaces(const Database& database, const RankDetails& details, bool isHere,
                 FirstError& error) {
    constexpr const auto& t = tables::storedPlaces;
    const system::ClockError clock = isHere ? system::clockError() : system::ClockError{};
    Inserter rows(database, t, error);
    for (const RankPlace& each : details.places)
        rows.insert(t.worker = each.worker, t.host = orNull(each.host),
                    t.bootId = orNull(each.bootId), t.localRank = each.localRank,
                    t.worldSize = each.worldSize, t.gpuUuid = orNull(each.gpuUuid),
                    t.startNs = each.range.startNs, t.endNs = each.range.endNs,
                    t.clockErrorNs = clock.estimatedNs, t.clockMostErrorNs = clock.mostNs);
}

void writeClocks(const Database& database, const RankDetails& details, FirstError& error) {
    constexpr const auto& t = tables::storedClocks;
    Inserter rows(database, t, error);
    for (const ClockPair& each : details.clocks)
        rows.insert(t.worker = each.worker, t.realtimeNs = each.realtimeNs,
                    t.monotonicNs = each.monotonicNs);
}

void writeCommunicators(const Database& database, const RankDetails& details, FirstError& error) {
    constexpr const auto& t = tables::storedCommunicators;
    Inserter rows(database, t, error);
    for (const RankCommunicator& each : details.communicators)
        rows.insert(t.worker = each.worker, t.communicator = static_cast<int64_t>(each.id),
                    t.name = orNull(each.name), t.rank = orNull(each.rank),
                    t.ranks = orNull(each.rankCount), t.calls = each.calls);
}

void writeCollectives(const Database& database, const Trace& trace, const RankDetails& details,
                      FirstError& error) {
    constexpr const auto& t = tables::storedCollectives;
    Inserter rows(database, t, error);
    for (const RankCollective& each : details.collectives) {
        // Emptied rather than left empty: g++ would fear for the value that is not there.
        const TimeRange gpu = each.gpu.value_or(TimeRange{});
        std::optional<int64_t> gpuNs(gpu.startNs), gpuEndNs(gpu.endNs);
        if (!each.gpu) gpuNs = gpuEndNs = std::nullopt;
        rows.insert(
            t.worker = each.worker, t.communicator = static_cast<int64_t>(each.communicator),
            t.operation = trace.strings.at(each.operation), t.place = each.place,
            t.number = each.number, t.isNumbered = each.isNumbered, t.bytes = orNull(each.bytes),
            t.step = each.step == noIndex ? std::nullopt : std::optional(each.step),
            t.callNs = each.call.startNs, t.callEndNs = each.call.endNs, t.gpuNs = gpuNs,
            t.gpuEndNs = gpuEndNs, t.sharedBy = each.sharedBy);
    }
}

void writeKernels(const Database& database, const RankDetails& details, FirstError& error) {
    constexpr const auto& t = tables::storedKernels;
    Inserter rows(database, t, error);
    for (const StepKernels& each : details.kernels)
        rows.insert(t.worker = each.worker, t.name = each.name, t.step = each.step,
                    t.steps = each.steps, t.count = each.count, t.totalNs = each.totalNs,
                    t.mostNs = each.mostNs);
}

void writeCounters(const Database& database, const RankDetails& details, FirstError& error) {
    constexpr const auto& t = tables::storedCounters;
    Inserter rows(database, t, error);
    for (const CounterSummary& each : details.counters)
        rows.insert(t.key = each.key, t.gpuId = each.gpuId, t.gpuUuid = orNull(each.gpuUuid),
                    t.link = each.link, t.device = orNull(each.device), t.mean = each.mean,
                    t.least = each.least, t.greatest = each.greatest);
}

}  // namespace

Result<void> writeRankDetails(Database& database, const Trace& trace, const RankDetails& details,
                              bool isHere) {
    if (auto begun = database.execute("BEGIN"); !begun) return begun;
    FirstError error;
    writePlaces(database, details, isHere, error);
    writeClocks(database, details, error);
    writeCommunicators(database, details, error);
    writeCollectives(database, trace, details, error);
    writeKernels(database, details, error);
    writeCounters(database, details, error);
    if (error) {
        // Why it could not be written is the better answer than that this fails too.
        static_cast<void>(database.execute("ROLLBACK"));
        return fail(*error);
    }
    return database.execute("COMMIT");
}

}  // namespace lanescope::fleet
