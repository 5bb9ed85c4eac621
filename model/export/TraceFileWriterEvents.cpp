// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/export/TraceFileWriter.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/Hardware.h"
#include "model/format/tables/Ranges.h"
#include "model/format/tables/Session.h"
#include "model/format/tables/Threads.h"
#include "model/trace/counterReadings.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

/// Returns the id of a call's stack, if that is its own.
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

/// Returns nullopt for a number that means unknown.
std::optional<int64_t> known(int64_t number) {
    return number < 0 ? std::nullopt : std::optional(number);
}

/// Returns nullopt for a text that means unknown.
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

/// Waits of streams are linked to the awaited records by numbers from 1.
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

/// Range n is row n + 1 of the file; names of domains and categories follow.
void TraceFileWriter::ranges() {
    constexpr const auto& t = tables::nvtxEvents;
    constexpr const auto& s = tables::nvtxStacks;
    auto rows = into(t);
    auto stacks = into(s);
    const NvtxTable& table = trace_.nvtx;
    // Each process numbers its domains, and these number their categories.
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

/// Not the original readings, but equal in display. Counters computed from other events are
/// recomputed.
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

namespace {

std::string_view identifier(LinkKind kind) {
    switch (kind) {
        case LinkKind::NvLink:
            return "nvlink";
        case LinkKind::Dram:
            return "dram";
        case LinkKind::HostCopy:
            return "host-copy";
        case LinkKind::Pcie:
            break;
    }
    return "pcie";
}

std::optional<std::string_view> identifier(LinkDirection direction) {
    if (direction == LinkDirection::Transmit) return "tx";
    if (direction == LinkDirection::Receive) return "rx";
    return std::nullopt;
}

std::optional<std::string_view> hostMemory(MemoryKind kind) {
    if (kind == MemoryKind::Pinned || kind == MemoryKind::Pageable) return name(kind);
    return std::nullopt;
}

std::optional<int64_t> gpuOrNone(int64_t gpu) {
    return gpu == noGpuId ? std::nullopt : std::optional(gpu);
}

}  // namespace

void TraceFileWriter::graphs() {
    constexpr const auto& t = tables::graphs;
    auto rows = into(t);
    const GraphTable& table = trace_.graphs;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const Place place = placeOf(table.stream[row]);
        rows.insert(t.start = table.startNs[row], t.end = table.endNs[row],
                    t.globalPid = place.process, t.deviceId = place.gpu,
                    t.contextId = place.context, t.streamId = place.stream,
                    t.correlationId = table.correlation[row], t.graphId = table.graph[row],
                    t.graphExecId = table.graph[row]);
    }
}

/// A pool has rows of its own, so memory rows only name their pool.
void TraceFileWriter::memory() {
    constexpr int64_t created = 0, destroyed = 2, ofProcess = 1;
    constexpr const auto& t = tables::memoryEvents;
    constexpr const auto& p = tables::poolEvents;
    auto rows = into(t);
    auto pools = into(p);
    const auto gpuOf = [this](uint32_t gpu) {
        return gpu < trace_.gpus.size() ? trace_.gpus[gpu].id : int64_t{-1};
    };
    const MemoryEventTable& table = trace_.memoryEvents;
    for (uint32_t row = 0; row < table.size(); ++row)
        rows.insert(t.start = table.timeNs[row], t.globalPid = globalPid(table.process[row]),
                    t.deviceId = gpuOf(table.gpu[row]), t.contextId = 0,
                    t.address = table.address[row], t.pc = 0, t.bytes = table.bytes[row],
                    t.memKind = table.kind[row], t.memoryOperationType = table.isFree[row],
                    t.correlationId = table.correlation[row],
                    t.localMemoryPoolAddress =
                        table.isPooled[row] != 0 ? std::optional<int64_t>(0) : std::nullopt);
    const MemoryPoolTable& sizes = trace_.memoryPools;
    for (uint32_t row = 0; row < sizes.size(); ++row)
        pools.insert(p.start = sizes.timeNs[row], p.globalPid = globalPid(sizes.process[row]),
                     p.deviceId = gpuOf(sizes.gpu[row]), p.address = sizes.address[row],
                     p.operationType = sizes.bytes[row] == 0 ? destroyed : created,
                     p.poolType = ofProcess, p.localMemoryPoolSize = sizes.bytes[row]);
}

/// Kinds that know their tables.
void TraceFileWriter::otherKinds() {
    const auto rowsOf = [this](const auto& table) { return into(table); };
    forEachKind([&](auto each) {
        if constexpr (requires { each.write(trace_, rowsOf); }) each.write(trace_, rowsOf);
    });
}

void TraceFileWriter::recordedTime() {
    constexpr const auto& w = tables::windows;
    constexpr const auto& g = tables::gaps;
    auto windows = into(w);
    auto gaps = into(g);
    for (const Process& process : trace_.processes) {
        int64_t number = 0;
        for (const TimeRange& window : process.windows)
            windows.insert(w.globalPid = process.globalPid, w.index = number++,
                           w.startNs = window.startNs, w.endNs = window.endNs);
        for (const Gap& gap : process.gaps)
            gaps.insert(g.globalPid = process.globalPid, g.what = gap.what,
                        g.startNs = gap.range.startNs, g.endNs = gap.range.endNs,
                        g.count = gap.count);
    }
}

void TraceFileWriter::links() {
    constexpr const auto& t = tables::topology;
    constexpr const auto& a = tables::affinities;
    constexpr const auto& p = tables::linkPeaks;
    auto connections = into(t);
    auto affinities = into(a);
    auto peaks = into(p);
    for (const GpuConnection& each : trace_.interconnect.connections)
        connections.insert(t.gpuId = each.gpu, t.peerGpuId = each.peer,
                           t.nvlinkCount = each.nvlinks, t.connection = each.name,
                           t.abbreviation = each.abbreviation);
    for (const GpuAffinity& each : trace_.interconnect.affinities)
        affinities.insert(
            a.gpuId = each.gpu, a.cpus = each.cpus,
            a.numaNode = each.numaNode < 0 ? std::nullopt : std::optional<int64_t>(each.numaNode));
    for (const LinkPeak& each : trace_.interconnect.peaks)
        peaks.insert(p.kind = identifier(each.kind), p.gpuId = gpuOrNone(each.gpu),
                     p.peerGpuId = gpuOrNone(each.peer), p.direction = identifier(each.direction),
                     p.memory = hostMemory(each.memory), p.bytesPerSecond = each.bytesPerSecond,
                     p.links = each.links, p.generation = each.generation, p.width = each.width,
                     p.origin = each.origin == PeakOrigin::Measured ? "measured" : "nvml");
}

void TraceFileWriter::readings() {
    constexpr const auto& m = tables::samplingMoments;
    constexpr const auto& u = tables::gpuProcesses;
    auto moments = into(m);
    auto uses = into(u);
    for (const SampledRange& each : trace_.interconnect.sampledRanges) {
        const auto insert = [&](int64_t timeNs, bool isEnd, TimeRange reading) {
            std::optional<int64_t> process, readStart, readEnd;
            if (each.globalPid != 0) process = each.globalPid;
            if (!reading.isEmpty()) {
                readStart = reading.startNs;
                readEnd = reading.endNs;
            }
            moments.insert(m.timestamp = timeNs, m.range = each.name,
                           m.occurrence = each.occurrence, m.isEnd = isEnd, m.globalPid = process,
                           m.readStart = readStart, m.readEnd = readEnd);
        };
        insert(each.range.startNs, false, each.startReading);
        insert(each.range.endNs, true, each.endReading);
    }
    for (const GpuProcessUse& each : trace_.interconnect.gpuProcesses) {
        std::optional<std::string_view> name;
        std::optional<int64_t> bytes;
        std::optional<double> percent;
        if (!each.name.empty()) name = each.name;
        if (each.bytes >= 0) bytes = each.bytes;
        if (each.smPercent >= 0) percent = each.smPercent;
        uses.insert(u.timestamp = each.timeNs, u.gpuId = each.gpu, u.pid = each.pid, u.name = name,
                    u.bytes = bytes, u.smPercent = percent);
    }
}

void TraceFileWriter::stacks() {
    constexpr const auto& t = tables::stacks;
    auto rows = into(t);
    const StackTable& table = trace_.stacks;
    for (uint32_t row = 0; row < table.size(); ++row) {
        std::optional<int64_t> parent, file, line;
        if (table.parent[row] != noIndex) parent = int64_t{table.parent[row]} + 1;
        if (table.file[row] != 0) file = table.file[row];
        if (table.line[row] != 0) line = table.line[row];
        rows.insert(t.id = int64_t{row} + 1, t.parentId = parent,
                    t.functionId = table.function[row], t.fileId = file, t.line = line);
    }
    constexpr const auto& n = tables::graphNodes;
    constexpr const auto& s = tables::graphNodeStacks;
    auto nodes = into(n);
    auto nodeStacks = into(s);
    const GraphNodeTable& made = trace_.graphNodes;
    for (uint32_t row = 0; row < made.size(); ++row) {
        std::optional<int64_t> original;
        if (made.original[row] != 0) original = static_cast<int64_t>(made.original[row]);
        nodes.insert(
            n.start = made.timeNs[row], n.end = made.timeNs[row],
            n.eventClass = tables::GraphNodes::nodeCreation,
            n.globalTid = trace_.threads[made.thread[row]].globalTid, n.nameId = graphNodeName_,
            n.graphNodeId = static_cast<int64_t>(made.node[row]), n.originalGraphNodeId = original);
        // Borrowed stacks are derived again.
        if (!original && made.stack[row] != noIndex && made.isStackLent[row] == 0)
            nodeStacks.insert(s.nodeRow = int64_t{row} + 1,
                              s.callchainId = int64_t{made.stack[row]} + 1);
    }
}

/// Samples of threads, with data of the scheduler: it is equivalent that a thread had a core or
/// wanted one during a whole row. Library calls have no table of ours.
void TraceFileWriter::threadStates() {
    constexpr const auto& t = tables::threadStates;
    auto rows = into(t);
    const CpuStateTable& table = trace_.cpuStates;
    const auto threadIn = [this](uint32_t thread) {
        return thread == noIndex ? std::nullopt : std::optional(trace_.threads[thread].globalTid);
    };
    const auto stackIn = [](uint32_t stack) {
        return stack == noIndex ? std::nullopt : std::optional(int64_t{stack} + 1);
    };
    for (uint32_t row = 0; row < table.size(); ++row) {
        if (table.source[row] == StateSource::Calls || table.source[row] == StateSource::Samples)
            continue;
        std::optional<int64_t> call;
        if (table.call[row] != 0) call = table.call[row];
        rows.insert(t.start = table.startNs[row], t.end = table.endNs[row],
                    t.globalTid = trace_.threads[table.thread[row]].globalTid,
                    t.state = table.state[row], t.callchainId = stackIn(table.stack[row]),
                    t.cpuNs = table.cpuNs[row], t.delayNs = table.delayNs[row], t.callId = call,
                    t.holderTid = threadIn(table.holder[row]),
                    t.holderCallchainId = stackIn(table.holderStack[row]));
    }
}

/// Writes each stack once, by the number of its row.
void TraceFileWriter::samples() {
    constexpr const auto& t = tables::sampleEvents;
    constexpr const auto& c = tables::samplingCallchains;
    auto rows = into(t);
    auto frames = into(c);
    const CpuStateTable& table = trace_.cpuStates;
    const auto unlessZero = [](int64_t value) {
        return value == 0 ? std::nullopt : std::optional(value);
    };
    std::vector<bool> isWritten(trace_.stacks.size());
    for (uint32_t row = 0; row < table.size(); ++row) {
        if (table.source[row] != StateSource::Samples) continue;
        const uint32_t stack = table.stack[row];
        const int64_t id = stack == noIndex ? 0 : int64_t{stack} + 1;
        rows.insert(t.id = id, t.start = table.startNs[row],
                    t.globalTid = trace_.threads[table.thread[row]].globalTid);
        if (stack == noIndex || isWritten[stack]) continue;
        isWritten[stack] = true;
        int64_t depth = 0;
        for (const uint32_t frame : framesOf(trace_, stack))
            frames.insert(c.id = id, c.symbol = trace_.stacks.function[frame],
                          c.module = trace_.stacks.file[frame], c.stackDepth = depth++,
                          c.line = unlessZero(trace_.stacks.line[frame]));
    }
}

}  // namespace lanescope
