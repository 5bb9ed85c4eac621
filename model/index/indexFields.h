// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/Trace.h"
#include "model/trace/fields.h"

namespace lanescope {

// The contents of an index: the lists of members in `trace/fields.h`. Those of event tables are
// next to them in `trace/Tables.h`.

template <class S>
requires Of<S, RecordColumn<typename S::value_type>>
void forEachField(S& s, auto&& visit) {
    for (auto& column : s.fields()) visit(column);
}
void forEachField(Of<TimeRange> auto& s, auto&& visit) { visitEach(visit, s.startNs, s.endNs); }
void forEachField(Of<Gpu> auto& s, auto&& visit) {
    visitEach(visit, s.id, s.name, s.vendor, s.uuid, s.busLocation, s.memoryBytes, s.memoryBandwidthBytesPerSecond,
              s.smCount, s.computeMajor, s.computeMinor, s.isClockInconsistent);
}
void forEachField(Of<Gap> auto& s, auto&& visit) { visitEach(visit, s.what, s.range, s.count); }
void forEachField(Of<Process> auto& s, auto&& visit) {
    visitEach(visit, s.globalPid, s.pid, s.name, s.rank, s.localRank, s.worldSize, s.endedAbnormally, s.range,
              s.hasWindows, s.windows, s.gaps, s.facts);
}
void forEachField(Of<Thread> auto& s, auto&& visit) { visitEach(visit, s.globalTid, s.tid, s.process, s.name); }
void forEachField(Of<Stream> auto& s, auto&& visit) {
    visitEach(visit, s.process, s.gpu, s.contextId, s.streamId, s.isNullStream);
}
void forEachField(Of<HealthNote> auto& s, auto&& visit) {
    visitEach(visit, s.severity, s.code, s.sentence, s.globalPid, s.timeNs, s.count, s.unknownCode);
}
void forEachField(Of<EventCount> auto& s, auto&& visit) { visitEach(visit, s.name, s.total, s.untimed); }
void forEachField(Of<Property> auto& s, auto&& visit) { visitEach(visit, s.name, s.value); }
void visitFacts(auto& facts, auto& visit) {
    forEachFact(facts, [&visit](const FactName&, auto& member) { visit(member); });
}
void forEachField(Of<SampledGpuFacts> auto& s, auto&& visit) {
    visitEach(visit, s.cudaDevice);
    visitFacts(s, visit);
}
void forEachField(Of<SamplerFacts> auto& s, auto&& visit) {
    visitEach(visit, s.host);
    visitFacts(s, visit);
    visitEach(visit, s.gpus);
}
void forEachField(Of<HostName> auto& s, auto&& visit) { visitEach(visit, s.number, s.name); }
void forEachField(Of<RunFacts> auto& s, auto&& visit) {
    visitFacts(s, visit);
    visitEach(visit, s.hosts, s.samplers, s.others);
}
void forEachField(Of<ProcessFacts> auto& s, auto&& visit) {
    visitFacts(s, visit);
    visitEach(visit, s.others);
}
void forEachField(Of<GpuFacts> auto& s, auto&& visit) {
    visitEach(visit, s.gpu);
    visitFacts(s, visit);
    visitEach(visit, s.others);
}
void forEachField(Of<LaunchLinks> auto& s, auto&& visit) {
    visitEach(visit, s.calls, s.kernels, s.memcpys, s.memsets, s.graphs);
}
void forEachField(Of<LaneSums> auto& s, auto&& visit) {
    visitEach(visit, s.listEnd, s.key, s.count, s.totalNs, s.minimumNs, s.maximumNs, s.bytes, s.untimedBytes);
}
void forEachField(Of<UnionSums> auto& s, auto&& visit) { visitEach(visit, s.timeNs, s.busyNs); }
void forEachField(Of<TrackSums> auto& s, auto&& visit) { visitEach(visit, s.lanes, s.busy); }
void forEachField(Of<TraceSums> auto& s, auto&& visit) { visitEach(visit, s.tracks); }

void forEachField(Of<LaneTiles::Level> auto& s, auto&& visit) {
    visitEach(visit, s.shift, s.firstBucket, s.slice, s.busyNs, s.overhangNs, s.longestNs, s.category, s.name);
}
void forEachField(Of<LaneTiles::Runs> auto& s, auto&& visit) { visitEach(visit, s.widest, s.longestNs); }
void forEachField(Of<LaneTiles> auto& s, auto&& visit) { visitEach(visit, s.levels, s.runs); }
void forEachField(Of<Lane> auto& s, auto&& visit) {
    visitEach(visit, s.startNs, s.durationNs, s.name, s.event, s.category, s.busyNs, s.tiles);
}
void forEachField(Of<Track> auto& s, auto&& visit) {
    visitEach(visit, s.kind, s.title, s.subtitle, s.parent, s.depth, s.subject, s.isInitiallyFolded, s.lanes,
              s.unrecorded, s.lossy);
}
void forEachField(Of<CounterSeries> auto& s, auto&& visit) {
    visitEach(visit, s.name, s.key, s.source, s.unit, s.isMeanOfInterval, s.gpu, s.process, s.link, s.core, s.device,
              s.intervalNs);
    CounterSeries::forEachOwnField(s, visit);
}
void forEachField(Of<CounterSeries::Level> auto& s, auto&& visit) {
    visitEach(visit, s.timesNs, s.minValue, s.maxValue);
}

void forEachField(Of<LinkPeak> auto& s, auto&& visit) {
    visitEach(visit, s.kind, s.gpu, s.peer, s.direction, s.memory, s.bytesPerSecond, s.links, s.generation, s.width,
              s.origin);
}
void forEachField(Of<Roof> auto& s, auto&& visit) {
    visitEach(visit, s.kind, s.gpu, s.operation, s.m, s.n, s.k, s.perSecond, s.smClockHz, s.powerMilliwatts,
              s.temperature, s.software);
}
void forEachField(Of<GpuConnection> auto& s, auto&& visit) {
    visitEach(visit, s.gpu, s.peer, s.nvlinks, s.name, s.abbreviation);
}
void forEachField(Of<GpuAffinity> auto& s, auto&& visit) { visitEach(visit, s.gpu, s.cpus, s.numaNode); }
void forEachField(Of<SampledRange> auto& s, auto&& visit) {
    visitEach(visit, s.name, s.occurrence, s.globalPid, s.range, s.startReading, s.endReading);
}
void forEachField(Of<GpuProcessUse> auto& s, auto&& visit) {
    visitEach(visit, s.timeNs, s.gpu, s.pid, s.name, s.bytes, s.smPercent);
}
void forEachField(Of<Interconnect> auto& s, auto&& visit) {
    visitEach(visit, s.peaks, s.roofs, s.connections, s.affinities, s.sampledRanges, s.gpuProcesses);
}

/// All but the path of the trace.
void forEachField(Of<Trace> auto& s, auto&& visit) {
    visitEach(visit, s.producer, s.producerKind, s.gpuApi, s.range, s.startUtcNs, s.facts, s.gpuFacts, s.health,
              s.counts, s.strings, s.gpus, s.interconnect, s.processes, s.threads, s.streams, s.launchConfigs);
    forEachTable(s, visit);
    visitEach(visit, s.counters, s.counterRows, s.tracks, s.links, s.sums);
}

/// Makes a trace from an index safe, whatever the file contains. Checks small parts, and bounds the values of every
/// mapped column. A corrupt index then refers to another row, but never outside of its table. Returns false if the
/// small parts are inconsistent. `rows` must live as long as the trace. O(tracks).
bool boundTrace(Trace& trace, RowCounts& rows);

}  // namespace lanescope
