// SPDX-License-Identifier: Apache-2.0
#include "model/export/perfettoTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/export/ChromeRows.h"
#include "model/format/perfettoFields.h"
#include "model/format/protoFields.h"
#include "model/trace/kinds/allKinds.h"

namespace lanescope {

namespace {

namespace pf = perfetto;

constexpr size_t pieceSize = 64 * 1024;
constexpr uint64_t sequence = 1;

std::string_view unitName(CounterUnit unit) {
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
        case CounterUnit::Count:
            break;
    }
    return "";
}

/// Writes one packet after the other. Numbers of tracks: processes, GPUs, rows, counters.
class Writer {
  public:
    Writer(const Trace& trace, const TextSink& sink)
        : trace_(trace),
          sink_(sink),
          rows_(trace),
          firstNs_(std::min<int64_t>(0, trace.range.startNs)) {}

    void run() {
        writeStart();
        writeTracks();
        findFlows();
        writeCpu();
        writeGpu();
        writeCounters();
        flush();
    }

  private:
    using RowKey = std::pair<int64_t, uint32_t>;

    void packet(const ProtoMessage& message) {
        if (!isWanted_) return;
        ProtoMessage whole;
        whole.message(pf::trace::packet, message);
        text_ += whole.bytes();
        if (text_.size() >= pieceSize) flush();
    }
    void flush() {
        if (isWanted_ && !text_.empty()) isWanted_ = sink_(text_);
        text_.clear();
    }
    uint64_t timeOf(int64_t timeNs) const { return static_cast<uint64_t>(timeNs - firstNs_); }

    /// Says at which time of day the trace begins.
    void writeStart() {
        ProtoMessage first;
        first.number(pf::packet::sequence, sequence);
        first.number(pf::packet::sequenceFlags, pf::packet::isCleared);
        if (trace_.startUtcNs > 0) {
            ProtoMessage snapshot;
            for (const auto& [id, timeNs] :
                 {std::pair(pf::clocks::boottime, timeOf(0)),
                  std::pair(pf::clocks::realtime, static_cast<uint64_t>(trace_.startUtcNs))}) {
                ProtoMessage clock;
                clock.number(pf::clocks::id, id);
                clock.number(pf::clocks::timestamp, timeNs);
                snapshot.message(pf::clocks::clock, clock);
            }
            first.message(pf::packet::clockSnapshot, snapshot);
        }
        packet(first);
    }

    void track(uint64_t uuid, uint64_t parent, std::string_view name,
               const std::pair<uint32_t, ProtoMessage>& what = {0, {}}) {
        ProtoMessage descriptor, message;
        descriptor.number(pf::track::uuid, uuid);
        if (parent != 0) descriptor.number(pf::track::parent, parent);
        if (!name.empty()) descriptor.text(pf::track::name, name);
        if (what.first != 0) descriptor.message(what.first, what.second);
        message.number(pf::packet::sequence, sequence);
        message.message(pf::packet::trackDescriptor, descriptor);
        packet(message);
    }

    void writeTracks() {
        for (uint32_t index = 0; index < trace_.processes.size(); ++index) {
            const Process& process = trace_.processes[index];
            ProtoMessage about;
            const int64_t pid = ChromeRows::pidOf(process);
            about.number(pf::process::pid, static_cast<uint64_t>(pid));
            about.text(pf::process::name,
                       process.rank ? fmt::format("{} (rank {})", process.name, *process.rank)
                                    : process.name);
            processes_[pid] = ++lastTrack_;
            track(lastTrack_, 0, "", {pf::track::process, about});
        }
        for (uint32_t index = 0; index < trace_.gpus.size(); ++index) {
            gpus_[ChromeRows::pidOfGpu(index)] = ++lastTrack_;
            track(lastTrack_, 0,
                  fmt::format("GPU {} {}", trace_.gpus[index].id, trace_.gpus[index].name));
        }
        for (const ChromeRows::NamedRow& each : rows_.names()) {
            const RowKey key{each.row.pid, each.row.tid};
            if (tracks_.contains(key)) continue;
            const uint64_t uuid = tracks_[key] = ++lastTrack_;
            if (const auto gpu = gpus_.find(each.row.pid); gpu != gpus_.end()) {
                track(uuid, gpu->second, each.name);
                continue;
            }
            ProtoMessage about;
            about.number(pf::thread::pid, static_cast<uint64_t>(each.row.pid));
            about.number(pf::thread::tid, each.row.tid);
            about.text(pf::thread::name, each.name);
            const auto parent = processes_.find(each.row.pid);
            track(uuid, parent != processes_.end() ? parent->second : 0, "",
                  {pf::track::thread, about});
        }
    }

    /// What finds no row gets a track of its own.
    uint64_t trackOf(ChromeRows::Row row) {
        if (row.tid != ChromeRows::noTid)
            if (const auto found = tracks_.find({row.pid, row.tid}); found != tracks_.end())
                return found->second;
        const auto gpu = gpus_.find(row.pid);
        track(++lastTrack_, gpu != gpus_.end() ? gpu->second : processes_[row.pid], "more");
        return lastTrack_;
    }

    struct Flow {
        uint64_t first = 0, count = 0;
    };
    void findFlows() {
        forEachLaunch(trace_, [this](uint32_t call, EventRef work) {
            Flow& flow = ofCalls_[call];
            if (flow.count++ == 0) flow.first = lastFlow_ + 1;
            ofWork_[work.bits()] = ++lastFlow_;
        });
    }

    /// The number of a text; where it is new, what says so goes into `interned`.
    uint64_t numbered(std::unordered_map<std::string, uint64_t>& known, uint32_t field,
                      std::string_view text) {
        const auto [found, isNew] = known.try_emplace(std::string(text), known.size() + 1);
        if (isNew) {
            ProtoMessage entry;
            entry.number(pf::interned::id, found->second);
            entry.text(pf::interned::text, text);
            interned_.message(field, entry);
        }
        return found->second;
    }

    /// An annotation of the event that is made next.
    void annotate(ProtoMessage& event, std::string_view name, int64_t value) {
        ProtoMessage annotation;
        annotation.number(pf::annotation::nameId,
                          numbered(annotations_, pf::interned::annotationNames, name));
        annotation.integer(pf::annotation::integer, value);
        event.message(pf::event::annotations, annotation);
    }
    void annotate(ProtoMessage& event, std::string_view name, std::string_view value) {
        if (value.empty()) return;
        ProtoMessage annotation;
        annotation.number(pf::annotation::nameId,
                          numbered(annotations_, pf::interned::annotationNames, name));
        annotation.text(pf::annotation::text, value);
        event.message(pf::event::annotations, annotation);
    }

    void send(int64_t timeNs, ProtoMessage& event, uint64_t uuid, uint64_t type) {
        event.number(pf::event::type, type);
        event.number(pf::event::track, uuid);
        ProtoMessage message;
        message.number(pf::packet::timestamp, timeOf(timeNs));
        message.number(pf::packet::sequence, sequence);
        message.number(pf::packet::sequenceFlags, pf::packet::needsState);
        if (!interned_.empty()) message.message(pf::packet::internedData, interned_);
        interned_.clear();
        message.message(pf::packet::trackEvent, event);
        packet(message);
    }

    ProtoMessage named(std::string_view category, std::string_view name) {
        ProtoMessage event;
        event.number(pf::event::categoryIds,
                     numbered(categories_, pf::interned::categories, category));
        event.number(pf::event::nameId, numbered(names_, pf::interned::names, name));
        return event;
    }

    void slice(uint64_t uuid, TimeRange range, ProtoMessage& event) {
        send(range.startNs, event, uuid, pf::event::begin);
        ProtoMessage end;
        send(range.endNs, end, uuid, pf::event::end);
    }

    /// Calls and ranges share rows, so both come by start, what contains others first.
    void writeCpu() {
        std::vector<EventRef> events;
        for (uint32_t row = 0; row < trace_.apiCalls.size(); ++row)
            events.emplace_back(EventKind::Api, row);
        for (uint32_t row = 0; row < trace_.nvtx.size(); ++row)
            events.emplace_back(EventKind::Nvtx, row);
        std::stable_sort(events.begin(), events.end(), [this](EventRef a, EventRef b) {
            const TimeRange x = trace_.rangeOf(a), y = trace_.rangeOf(b);
            return x.startNs != y.startNs ? x.startNs < y.startNs : x.endNs > y.endNs;
        });
        for (const EventRef each : events) {
            if (!isWanted_) return;
            each.kind() == EventKind::Api ? writeCall(each) : writeRange(each);
        }
    }

    void writeCall(EventRef each) {
        const ApiTable& calls = trace_.apiCalls;
        const uint32_t row = each.row();
        ProtoMessage event = named(calls.isDriver[row] != 0 ? "cuda_driver" : "cuda_runtime",
                                   trace_.strings.at(calls.name[row]));
        annotate(event, "correlation", calls.correlation[row]);
        if (const auto flow = ofCalls_.find(row); flow != ofCalls_.end())
            for (uint64_t id = 0; id < flow->second.count; ++id)
                event.fixed64(pf::event::flows, flow->second.first + id);
        slice(trackOf(rows_.rowOf(each)), trace_.rangeOf(each), event);
    }

    void writeRange(EventRef each) {
        const NvtxTable& nvtx = trace_.nvtx;
        const uint32_t row = each.row();
        ProtoMessage event = named("nvtx", trace_.strings.at(nvtx.text[row]));
        annotate(event, "domain", trace_.strings.at(nvtx.domain[row]));
        annotate(event, "payload", trace_.strings.at(nvtx.payload[row]));
        if (nvtx.style[row] == NvtxStyle::Mark)
            return send(nvtx.startNs[row], event, trackOf(rows_.rowOfThread(nvtx.thread[row])),
                        pf::event::instant);
        slice(nvtx.style[row] == NvtxStyle::PushPop ? trackOf(rows_.rowOf(each))
                                                    : looseTrack(nvtx.thread[row], each),
              trace_.rangeOf(each), event);
    }

    /// Start/end ranges may overlap in any way: each goes to the first track of its thread where
    /// none is open.
    uint64_t looseTrack(uint32_t thread, EventRef each) {
        const TimeRange range = trace_.rangeOf(each);
        std::vector<std::pair<uint64_t, int64_t>>& ends = loose_[thread];
        for (auto& [uuid, endNs] : ends)
            if (endNs <= range.startNs) {
                endNs = range.endNs;
                return uuid;
            }
        const auto process = processes_.find(rows_.rowOfThread(thread).pid);
        track(++lastTrack_, process != processes_.end() ? process->second : 0,
              fmt::format("{} ranges", trace_.threads[thread].name));
        ends.emplace_back(lastTrack_, range.endNs);
        return lastTrack_;
    }

    void work(EventRef each, ProtoMessage& event, uint32_t stream, uint32_t correlation) {
        annotate(event, "device", trace_.gpus[trace_.streams[stream].gpu].id);
        annotate(event, "stream", trace_.streams[stream].streamId);
        annotate(event, "correlation", correlation);
        if (const auto flow = ofWork_.find(each.bits()); flow != ofWork_.end())
            event.fixed64(pf::event::lastFlows, flow->second);
        slice(trackOf(rows_.rowOf(each)), trace_.rangeOf(each), event);
    }

    void writeGpu() {
        const KernelTable& kernels = trace_.kernels;
        for (uint32_t row = 0; row < kernels.size() && isWanted_; ++row) {
            const LaunchConfig& config = trace_.launchConfigs[kernels.config[row]];
            ProtoMessage event = named("kernel", trace_.strings.at(config.demangledName));
            annotate(event, "grid", fmt::format("[{}]", fmt::join(config.grid, ", ")));
            annotate(event, "block", fmt::format("[{}]", fmt::join(config.block, ", ")));
            annotate(event, "registers per thread", config.registersPerThread);
            annotate(event, "shared memory",
                     int64_t{config.staticSharedBytes} + config.dynamicSharedBytes);
            work({EventKind::Kernel, row}, event, kernels.stream[row], kernels.correlation[row]);
        }
        const MemcpyTable& memcpys = trace_.memcpys;
        for (uint32_t row = 0; row < memcpys.size() && isWanted_; ++row) {
            ProtoMessage event =
                named("gpu_memcpy", fmt::format("Memcpy {} ({} -> {})", name(memcpys.kind[row]),
                                                longName(memcpys.sourceMemory[row]),
                                                longName(memcpys.destinationMemory[row])));
            annotate(event, "bytes", memcpys.bytes[row]);
            work({EventKind::Memcpy, row}, event, memcpys.stream[row], memcpys.correlation[row]);
        }
        const MemsetTable& memsets = trace_.memsets;
        for (uint32_t row = 0; row < memsets.size() && isWanted_; ++row) {
            ProtoMessage event =
                named("gpu_memset", fmt::format("Memset ({})", longName(memsets.memory[row])));
            annotate(event, "bytes", memsets.bytes[row]);
            work({EventKind::Memset, row}, event, memsets.stream[row], memsets.correlation[row]);
        }
    }

    void writeCounters() {
        for (const CounterSeries& series : trace_.counters) {
            if (!isWanted_) return;
            uint64_t parent = 0;
            if (series.gpu != noIndex)
                parent = gpus_[ChromeRows::pidOfGpu(series.gpu)];
            else if (series.process != noIndex)
                parent = processes_[ChromeRows::pidOf(trace_.processes[series.process])];
            ProtoMessage about;
            about.text(pf::counter::unitName, unitName(series.unit));
            const uint64_t uuid = ++lastTrack_;
            track(uuid, parent, series.name, {pf::track::counter, about});
            for (uint32_t sample = 0; sample < series.size(); ++sample) {
                if (std::isnan(series.value(sample))) continue;
                ProtoMessage event;
                event.real(pf::event::realCounterValue, series.value(sample));
                send(series.timeNs(sample), event, uuid, pf::event::counter);
            }
        }
    }

    const Trace& trace_;
    const TextSink& sink_;
    const ChromeRows rows_;
    const int64_t firstNs_;  ///< Times of the file are not below 0.
    std::string text_;
    bool isWanted_ = true;
    uint64_t lastTrack_ = 0, lastFlow_ = 0;
    std::map<int64_t, uint64_t> processes_, gpus_;  ///< Tracks, by the PIDs of `ChromeRows`.
    std::map<RowKey, uint64_t> tracks_;
    std::unordered_map<uint32_t, std::vector<std::pair<uint64_t, int64_t>>> loose_;
    std::unordered_map<uint32_t, Flow> ofCalls_;
    std::unordered_map<uint32_t, uint64_t> ofWork_;
    std::unordered_map<std::string, uint64_t> categories_, names_, annotations_;
    ProtoMessage interned_;
};

}  // namespace

void writePerfettoTrace(const Trace& trace, const TextSink& sink) {
    Writer(trace, sink).run();
}

}  // namespace lanescope
