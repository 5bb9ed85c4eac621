// SPDX-License-Identifier: Apache-2.0
// Calls, waits, ranges, NCCL calls and counters.
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "model/export/TraceFileWriter.h"
#include "model/format/tables/ApiCalls.h"
#include "model/format/tables/Counters.h"
#include "model/format/tables/Nccl.h"
#include "model/format/tables/Nvtx.h"
#include "model/format/tables/Syncs.h"
#include "model/trace/counterValues.h"

namespace lanescope {

namespace {

/// The id of the stack of a call if that is its own.
template <class Table>
std::optional<int64_t> ownStack(const Table& table, uint32_t row) {
    if (table.stack[row] == noIndex || table.isStackLent[row] != 0) return std::nullopt;
    return int64_t{table.stack[row]} + 1;
}

NvtxEventType eventType(NvtxStyle style, bool isOpen) {
    switch (style) {
        case NvtxStyle::StartEnd:
            return isOpen ? NvtxEventType::OpenStart : NvtxEventType::StartEnd;
        case NvtxStyle::Mark:
            return NvtxEventType::Mark;
        case NvtxStyle::PushPop:
            break;
    }
    return isOpen ? NvtxEventType::OpenPush : NvtxEventType::PushPop;
}

std::string_view unitText(CounterUnit unit) {
    switch (unit) {
        case CounterUnit::Bytes:
            return "B";
        case CounterUnit::BytesPerSecond:
            return "B/s";
        case CounterUnit::Percent:
            return "%";
        case CounterUnit::Watts:
            return "W";
        case CounterUnit::Celsius:
            return "C";
        case CounterUnit::Hertz:
            return "Hz";
        case CounterUnit::Joules:
            return "J";
        case CounterUnit::Flags:
            return "flags";
        case CounterUnit::Count:
            break;
    }
    return "count";
}

/// Nothing for a number that says that nobody told.
std::optional<int64_t> known(int64_t number) {
    return number < 0 ? std::nullopt : std::optional(number);
}

/// Nothing for a text that says so.
std::optional<std::string_view> known(std::string_view text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

void TraceFileWriter::apiCalls() {
    constexpr const auto& t = tables::apiCalls;
    auto rows = into(t);
    const ApiTable& table = trace_.apiCalls;
    for (uint32_t row = 0; row < table.size(); ++row) {
        rows.insert(t.start = table.startNs[row], t.end = table.endNs[row],
                    t.eventClass = table.isDriver[row],
                    t.globalTid = trace_.threads[table.thread[row]].globalTid,
                    t.correlationId = table.correlation[row], t.nameId = table.name[row],
                    t.returnValue = table.returnValue[row], t.callchainId = ownStack(table, row));
    }
}

/// Waits of streams are joined with the records that they wait for by numbers from 1.
void TraceFileWriter::syncs() {
    constexpr int64_t wholeContext = 0xffffffff;
    constexpr const auto& t = tables::syncs;
    constexpr const auto& recorded = tables::cudaEvents;
    auto rows = into(t);
    auto records = into(recorded);
    std::map<std::pair<uint32_t, uint32_t>, int64_t> waits;  // by stream and correlation
    const StreamWaitTable& ofStreams = trace_.streamWaits;
    for (uint32_t row = 0; row < ofStreams.size(); ++row) {
        const int64_t number = int64_t{row} + 1;
        waits[{ofStreams.waitingStream[row], ofStreams.waitCorrelation[row]}] = number;
        const Place place = placeOf(ofStreams.recordedStream[row]);
        records.insert(recorded.deviceId = place.gpu, recorded.contextId = place.context,
                       recorded.streamId = place.stream,
                       recorded.correlationId = ofStreams.recordCorrelation[row],
                       recorded.globalPid = place.process, recorded.eventId = number,
                       recorded.eventSyncId = number);
    }
    const SyncTable& table = trace_.syncs;
    for (uint32_t row = 0; row < table.size(); ++row) {
        Place place{globalPid(table.process[row]), -1, 0, wholeContext};
        if (table.stream[row] != noIndex) place = placeOf(table.stream[row]);
        const auto wait = waits.find({table.stream[row], table.correlation[row]});
        const bool isJoined = table.type[row] == SyncType::StreamWaitEvent && wait != waits.end();
        rows.insert(t.start = table.startNs[row], t.end = table.endNs[row],
                    t.globalPid = place.process, t.deviceId = place.gpu,
                    t.contextId = place.context, t.streamId = place.stream,
                    t.correlationId = table.correlation[row], t.syncType = table.type[row],
                    t.eventId = isJoined ? wait->second : -1,
                    t.eventSyncId = isJoined ? std::optional(wait->second) : std::nullopt);
    }
}

/// Range n is row n + 1 of the file; names of domains and categories come after them.
void TraceFileWriter::ranges() {
    constexpr const auto& t = tables::nvtxEvents;
    constexpr const auto& s = tables::nvtxStacks;
    auto rows = into(t);
    auto stacks = into(s);
    const NvtxTable& table = trace_.nvtx;
    // Each process has numbers of its own for its domains, and they for their categories.
    std::map<std::pair<uint32_t, StringIndex>, int64_t> domains;
    std::set<std::tuple<int64_t, int64_t, StringIndex>> categories;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const Thread& thread = trace_.threads[table.thread[row]];
        int64_t domain = 0;
        if (table.domain[row] != 0)
            domain = domains
                         .try_emplace({thread.process, table.domain[row]},
                                      static_cast<int64_t>(domains.size()) + 1)
                         .first->second;
        std::optional<int64_t> end, category, color;
        if (table.isOpen[row] == 0 && table.style[row] != NvtxStyle::Mark) end = table.endNs[row];
        if (table.category[row] != 0) {
            category = table.category[row];
            categories.insert({globalPid(thread.process), domain, table.category[row]});
        }
        if (table.colorArgb[row] != 0) color = table.colorArgb[row];
        rows.insert(t.start = table.startNs[row], t.end = end,
                    t.eventType = eventType(table.style[row], table.isOpen[row] != 0),
                    t.text = known(trace_.strings.at(table.text[row])), t.textId = table.text[row],
                    t.globalTid = thread.globalTid, t.domainId = domain, t.category = category,
                    t.color = color, t.jsonText = known(trace_.strings.at(table.payload[row])));
        if (const auto stack = ownStack(table, row))
            stacks.insert(s.nvtxRow = int64_t{row} + 1, s.callchainId = *stack);
    }
    constexpr const auto& b = tables::backwards;
    auto backwards = into(b);
    for (uint32_t row = 0; row < trace_.backwards.size(); ++row)
        backwards.insert(b.forwardRow = int64_t{trace_.backwards.forward[row]} + 1,
                         b.backwardRow = int64_t{trace_.backwards.backward[row]} + 1);
    for (const auto& [key, number] : domains)
        rows.insert(t.start = 0, t.eventType = NvtxEventType::DomainName,
                    t.text = trace_.strings.at(key.second), t.textId = key.second,
                    t.globalTid = globalPid(key.first), t.domainId = number);
    for (const auto& [process, domain, category] : categories)
        rows.insert(t.start = 0, t.eventType = NvtxEventType::CategoryName,
                    t.text = trace_.strings.at(category), t.textId = category,
                    t.globalTid = process, t.domainId = domain, t.category = category);
}

void TraceFileWriter::ncclCalls() {
    constexpr const auto& t = tables::ncclOperations;
    constexpr const auto& more = tables::ncclPluginOperations;
    constexpr const auto& c = tables::ncclCommunicators;
    auto calls = into(t);
    auto told = into(more);
    auto communicators = into(c);
    std::set<std::pair<int64_t, uint64_t>> seen;
    const NcclTable& table = trace_.nccl;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const NcclFacts facts = table.facts[row];
        const Thread& thread = trace_.threads[trace_.nvtx.thread[table.nvtx[row]]];
        const std::string_view operation = trace_.strings.at(table.operation[row]);
        const auto communicator = static_cast<int64_t>(table.communicator[row]);
        calls.insert(t.nvtxRow = int64_t{table.nvtx[row]} + 1, t.globalTid = thread.globalTid,
                     t.operation = operation, t.bytes = known(table.bytes[row]),
                     t.communicator = communicator, t.root = known(facts.root),
                     t.peer = known(facts.peer));
        const int64_t process = globalPid(thread.process);
        if (communicator != 0 && seen.insert({process, table.communicator[row]}).second)
            communicators.insert(c.globalPid = process, c.communicator = communicator,
                                 c.rank = known(facts.rank), c.rankCount = known(facts.rankCount),
                                 c.name = known(trace_.strings.at(facts.communicatorName)));
        const bool isHowKnown = facts.algorithm != 0 || facts.protocol != 0 || facts.channels >= 0;
        if (facts.datatype == 0 && facts.count < 0 && facts.sequence < 0 && !isHowKnown) continue;
        std::optional<int64_t> launchThread, launchStart, launchEnd;
        if (facts.launchThread != noIndex) {
            launchThread = trace_.threads[facts.launchThread].globalTid;
            launchStart = facts.launch.startNs;
            launchEnd = facts.launch.endNs;
        }
        told.insert(more.globalTid = thread.globalTid,
                    more.start = trace_.nvtx.startNs[table.nvtx[row]],
                    more.end = trace_.nvtx.endNs[table.nvtx[row]], more.operation = operation,
                    more.datatype = known(trace_.strings.at(facts.datatype)),
                    more.count = known(facts.count), more.bytes = known(table.bytes[row]),
                    more.communicator = communicator, more.rank = known(facts.rank),
                    more.root = known(facts.root), more.peer = known(facts.peer),
                    more.sequence = known(facts.sequence),
                    more.algorithm = known(trace_.strings.at(facts.algorithm)),
                    more.protocol = known(trace_.strings.at(facts.protocol)),
                    more.channels = known(facts.channels), more.warps = known(facts.warps),
                    more.isCaptured = facts.isCaptured, more.launchGlobalTid = launchThread,
                    more.launchStart = launchStart, more.launchEnd = launchEnd);
    }
}

/// Not as they were read, but so that they are shown alike. What is computed from other events is
/// computed again.
void TraceFileWriter::counters() {
    constexpr const auto& t = tables::counters;
    constexpr const auto& s = tables::counterSamples;
    auto rows = into(t);
    auto samples = into(s);
    int64_t id = 0;
    for (const CounterSeries& series : trace_.counters) {
        if (series.source.empty()) continue;
        ++id;
        std::optional<int64_t> gpu, process, interval;
        if (series.gpu != noIndex) gpu = trace_.gpus[series.gpu].id;
        if (series.process != noIndex) process = globalPid(series.process);
        if (series.intervalNs > 0) interval = series.intervalNs;
        const CounterSamples read = samplesOf(series);
        rows.insert(t.counterId = id, t.source = series.source, t.name = series.key,
                    t.title = series.name, t.unit = unitText(series.unit), t.meaning = read.meaning,
                    t.gpuId = gpu, t.globalPid = process, t.link = known(series.link),
                    t.core = known(series.core), t.device = known(std::string_view(series.device)),
                    t.intervalNs = interval);
        for (size_t sample = 0; sample < read.timesNs.size(); ++sample) {
            std::optional<double> value;
            if (!std::isnan(read.values[sample])) value = static_cast<double>(read.values[sample]);
            samples.insert(s.counterId = id, s.timestamp = read.timesNs[sample], s.value = value);
        }
    }
}

}  // namespace lanescope
