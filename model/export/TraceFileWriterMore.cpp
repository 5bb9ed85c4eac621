// SPDX-License-Identifier: Apache-2.0
// What only SQLite files hold: memory, graphs as a whole, Python stacks, links and what was read
// beside counters, and when processes recorded.
#include <optional>
#include <string_view>
#include <vector>

#include "model/export/TraceFileWriter.h"
#include "model/format/tables/Counters.h"
#include "model/format/tables/Graphs.h"
#include "model/format/tables/Links.h"
#include "model/format/tables/MemoryEvents.h"
#include "model/format/tables/Recording.h"
#include "model/format/tables/Stacks.h"
#include "model/format/tables/ThreadStates.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/stacks.h"

namespace lanescope {

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

/// A pool is told of by rows of its own, so those of memory only say that they are of one.
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

/// Kinds that know how files hold them.
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
        // What is lent or that of another is found again.
        if (!original && made.stack[row] != noIndex && made.isStackLent[row] == 0)
            nodeStacks.insert(s.nodeRow = int64_t{row} + 1,
                              s.callchainId = int64_t{made.stack[row]} + 1);
    }
}

/// What looks found, and the scheduler told: that a thread had a core or wanted one for the whole
/// of a row says the same. Calls of libraries have no table of ours.
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

/// Each stack once, by the number of its row.
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
