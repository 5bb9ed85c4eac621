// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/Trace.h"
#include "model/trace/fields.h"

namespace lanescope {

// The contents of an index: the lists of members in `trace/fields.h`. Those of event tables are
// next to them in `trace/Tables.h`.

template <Of<TimeRange> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.startNs, s.endNs);
}
template <Of<Gpu> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.id, s.name, s.vendor, s.uuid, s.busLocation, s.memoryBytes, s.memoryBandwidthBytesPerSecond,
              s.smCount, s.computeMajor, s.computeMinor, s.isClockInconsistent);
}
template <Of<Gap> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.what, s.range, s.count);
}
template <Of<Process> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.globalPid, s.pid, s.name, s.rank, s.localRank, s.worldSize, s.endedAbnormally, s.range,
              s.hasWindows, s.windows, s.gaps, s.facts);
}
template <Of<Thread> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.globalTid, s.tid, s.process, s.name);
}
template <Of<Stream> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.process, s.gpu, s.contextId, s.streamId, s.isNullStream);
}
template <Of<HealthNote> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.severity, s.code, s.sentence, s.globalPid, s.timeNs, s.count, s.unknownCode);
}
template <Of<EventCount> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.name, s.total, s.untimed);
}
template <Of<Property> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.name, s.value);
}
template <class Facts, class V>
void visitFacts(Facts& facts, V& visit) {
    forEachFact(facts, [&visit](const FactName&, auto& member) { visit(member); });
}
template <Of<SampledGpuFacts> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.cudaDevice);
    visitFacts(s, visit);
}
template <Of<SamplerFacts> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.host);
    visitFacts(s, visit);
    visitEach(visit, s.gpus);
}
template <Of<HostName> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.number, s.name);
}
template <Of<RunFacts> S, class V>
void forEachField(S& s, V&& visit) {
    visitFacts(s, visit);
    visitEach(visit, s.hosts, s.samplers, s.others);
}
template <Of<ProcessFacts> S, class V>
void forEachField(S& s, V&& visit) {
    visitFacts(s, visit);
    visitEach(visit, s.others);
}
template <Of<GpuFacts> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.gpu);
    visitFacts(s, visit);
    visitEach(visit, s.others);
}
template <Of<LaunchLinks> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.calls, s.kernels, s.memcpys, s.memsets, s.graphs);
}
template <Of<LaneSums> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.listEnd, s.key, s.count, s.totalNs, s.minimumNs, s.maximumNs, s.bytes, s.untimedBytes);
}
template <Of<UnionSums> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.timeNs, s.busyNs);
}
template <Of<TrackSums> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.lanes, s.busy);
}
template <Of<TraceSums> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.tracks);
}

template <Of<LaneTiles::Level> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.shift, s.firstBucket, s.slice, s.busyNs, s.overhangNs, s.longestNs, s.category, s.name);
}
template <Of<LaneTiles::Runs> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.widest, s.longestNs);
}
template <Of<LaneTiles> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.levels, s.runs);
}
template <Of<Lane> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.startNs, s.durationNs, s.name, s.event, s.category, s.busyNs, s.tiles);
}
template <Of<Track> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.kind, s.title, s.subtitle, s.parent, s.depth, s.subject, s.isInitiallyFolded, s.lanes,
              s.unrecorded, s.lossy);
}
template <Of<CounterSeries> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.name, s.key, s.source, s.unit, s.isMeanOfInterval, s.gpu, s.process, s.link, s.core, s.device,
              s.intervalNs);
    CounterSeries::forEachOwnField(s, visit);
}
template <Of<CounterSeries::Level> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.timesNs, s.minValue, s.maxValue);
}

template <Of<LinkPeak> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.kind, s.gpu, s.peer, s.direction, s.memory, s.bytesPerSecond, s.links, s.generation, s.width,
              s.origin);
}
template <Of<Roof> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.kind, s.gpu, s.operation, s.m, s.n, s.k, s.perSecond, s.smClockHz, s.powerMilliwatts,
              s.temperature, s.software);
}
template <Of<GpuConnection> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.gpu, s.peer, s.nvlinks, s.name, s.abbreviation);
}
template <Of<GpuAffinity> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.gpu, s.cpus, s.numaNode);
}
template <Of<SampledRange> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.name, s.occurrence, s.globalPid, s.range, s.startReading, s.endReading);
}
template <Of<GpuProcessUse> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.timeNs, s.gpu, s.pid, s.name, s.bytes, s.smPercent);
}
template <Of<Interconnect> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.peaks, s.roofs, s.connections, s.affinities, s.sampledRanges, s.gpuProcesses);
}

/// All but the path of the trace.
template <Of<Trace> S, class V>
void forEachField(S& s, V&& visit) {
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
