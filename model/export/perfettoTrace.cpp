// SPDX-License-Identifier: Apache-2.0
#include "model/export/exportTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/export/ProtoWriter.h"
#include "model/export/exportRows.h"
#include "model/roofline/OperatorCall.h"
#include "model/text/formatValue.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/kinds/flows.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

namespace {

enum EventType : uint64_t { Begin = 1, End = 2, Instant = 3, Counter = 4 };
enum TextField : uint32_t { Categories = 1, Names = 2, ArgumentNames = 3 };

constexpr size_t pieceSize = 64 * 1024;
/// All packets are of one writer.
constexpr uint64_t sequence = 1;

/// Writes packets of Perfetto; stops when the sink returns false. Repeated texts are interned.
class PerfettoPackets {
  public:
    /// Arguments of a slice.
    class Arguments {
      public:
        explicit Arguments(PerfettoPackets& packets) : packets_(packets) {}
        Arguments& add(std::string_view name, int64_t value) {
            return added(name, [value](ProtoWriter& argument) { argument.signedNumber(4, value); });
        }
        Arguments& add(std::string_view name, std::string_view value) {
            return added(name, [value](ProtoWriter& argument) { argument.bytes(6, value); });
        }
        Arguments& add(std::string_view name, const std::array<uint32_t, 3>& values) {
            return added(name, [&values](ProtoWriter& argument) {
                for (const uint32_t value : values) {
                    ProtoWriter part;
                    part.number(4, value);
                    argument.message(12, part);
                }
            });
        }
        void flow(uint64_t id) { event_.fixed(47, id); }

      private:
        Arguments& added(std::string_view name, auto write) {
            ProtoWriter argument;
            argument.number(1, packets_.numberOf(packets_.argumentNames_, ArgumentNames, name));
            write(argument);
            event_.message(4, argument);
            return *this;
        }

        friend class PerfettoPackets;
        PerfettoPackets& packets_;
        ProtoWriter event_;
    };

    /// Written times are later by `shiftNs`, as none may be below 0.
    PerfettoPackets(const TextSink& sink, int64_t shiftNs) : sink_(sink), shiftNs_(shiftNs) {}

    /// Writes the time of day of time 0, since 1970.
    void timeOfDay(int64_t utcNs) {
        constexpr uint64_t timeOfDayClock = 1, bootClock = 6;
        ProtoWriter snapshot;
        const auto clock = [&snapshot](uint64_t id, int64_t time) {
            ProtoWriter reading;
            reading.number(1, id);
            reading.signedNumber(2, time);
            snapshot.message(1, reading);
        };
        clock(bootClock, shiftNs_);
        clock(timeOfDayClock, utcNs);
        ProtoWriter content;
        content.message(6, snapshot);
        packet(content);
    }

    /// Tracks are numbered from 1; 0 means no parent.
    void processTrack(uint64_t track, int64_t pid, std::string_view name) {
        ProtoWriter process, whole;
        process.signedNumber(1, pid);
        process.bytes(6, name);
        whole.number(1, track);
        whole.message(3, process);
        descriptor(whole);
    }

    void threadTrack(uint64_t track, uint64_t parent, int64_t pid, int64_t tid, std::string_view name) {
        ProtoWriter thread, whole;
        thread.signedNumber(1, pid);
        thread.signedNumber(2, tid);
        if (!name.empty()) thread.bytes(5, name);
        whole.number(1, track);
        whole.number(5, parent);
        whole.message(4, thread);
        descriptor(whole);
    }

    void plainTrack(uint64_t track, uint64_t parent, std::string_view name) {
        ProtoWriter whole;
        whole.number(1, track);
        if (parent != 0) whole.number(5, parent);
        whole.bytes(2, name);
        descriptor(whole);
    }

    /// `unit` is empty for a count.
    void counterTrack(uint64_t track, uint64_t parent, std::string_view name, std::string_view unit) {
        ProtoWriter counter, whole;
        if (!unit.empty()) counter.bytes(6, unit);
        whole.number(1, track);
        if (parent != 0) whole.number(5, parent);
        whole.bytes(2, name);
        whole.message(8, counter);
        descriptor(whole);
    }

    void begin(uint64_t track, int64_t timeNs, std::string_view category, std::string_view name,
               const Arguments& arguments) {
        event(Begin, track, timeNs, category, name, &arguments);
    }

    void end(uint64_t track, int64_t timeNs) { event(End, track, timeNs, {}, {}, nullptr); }
    void mark(uint64_t track, int64_t timeNs, std::string_view category, std::string_view name,
              const Arguments& arguments) {
        event(Instant, track, timeNs, category, name, &arguments);
    }

    void value(uint64_t track, int64_t timeNs, double value) {
        ProtoWriter event, content;
        event.number(9, Counter);
        event.number(11, track);
        event.real(44, value);
        content.signedNumber(8, timeNs + shiftNs_);
        content.message(11, event);
        packet(content);
    }

    bool isWanted() const { return isWanted_; }
    /// Passes the remainder to the sink.
    void flush() {
        if (isWanted_ && !text_.isEmpty()) isWanted_ = sink_(text_.bytes());
        text_.clear();
    }

  private:
    using Numbers = std::unordered_map<std::string, uint64_t>;
    uint64_t numberOf(Numbers& numbers, uint32_t field, std::string_view text) {
        const auto [found, isNew] = numbers.try_emplace(std::string(text), numbers.size() + 1);
        if (isNew) {
            ProtoWriter entry;
            entry.number(1, found->second);
            entry.bytes(2, text);
            interned_.message(field, entry);
        }
        return found->second;
    }

    void descriptor(const ProtoWriter& descriptor) {
        ProtoWriter content;
        content.message(60, descriptor);
        packet(content);
    }

    void event(uint64_t type, uint64_t track, int64_t timeNs, std::string_view category, std::string_view name,
               const Arguments* arguments) {
        ProtoWriter event, content;
        event.number(9, type);
        event.number(11, track);
        if (!category.empty()) event.number(3, numberOf(categories_, Categories, category));
        if (type != End) event.number(10, numberOf(names_, Names, name));
        content.signedNumber(8, timeNs + shiftNs_);
        if (arguments == nullptr)
            content.message(11, event);
        else
            content.bytes(11, event.bytes() + arguments->event_.bytes());
        packet(content);
    }

    void packet(const ProtoWriter& content) {
        if (!isWanted_) return;
        ProtoWriter whole;
        whole.number(10, sequence);
        // The first packet resets the state, the others rely on it.
        whole.number(13, isBegun_ ? 2 : 1);
        isBegun_ = true;
        if (!interned_.isEmpty()) {
            whole.message(12, interned_);
            interned_.clear();
        }
        text_.bytes(1, whole.bytes() + content.bytes());
        if (text_.bytes().size() >= pieceSize) flush();
    }

    const TextSink& sink_;
    const int64_t shiftNs_;
    ProtoWriter text_;
    Numbers categories_, names_, argumentNames_;
    ProtoWriter interned_;  ///< Texts not yet written.
    bool isBegun_ = false;
    bool isWanted_ = true;
};

using Arguments = PerfettoPackets::Arguments;

constexpr std::array slicedKinds{EventKind::Api, EventKind::Nvtx, EventKind::Kernel, EventKind::Memcpy,
                                 EventKind::Memset};

std::string_view unitOf(CounterUnit unit) {
    return enumText(unit, {"", "bytes", "bytes/s", "%", "W", "°C", "Hz", "J", ""});
}

class Writer {
  public:
    Writer(const Trace& trace, const TextSink& sink)
        : trace_(trace), rows_(trace), packets_(sink, std::max<int64_t>(0, -trace.timelineRange().startNs)) {}

    void run() {
        if (trace_.startUtcNs > 0) packets_.timeOfDay(trace_.startUtcNs);
        describeTracks();
        describeGpus();
        writeRows();
        writeLoose();
        writeThreads();
        writeCounters();
        packets_.flush();
    }

  private:
    using Row = ExportRows::Row;
    using Key = std::pair<int64_t, uint32_t>;

    std::string_view text(StringIndex index) const { return trace_.strings.at(index); }

    /// Describes processes, GPUs, and a track for each row of slices; the own row of a thread is its track.
    void describeTracks() {
        for (uint32_t index = 0; index < trace_.processes.size(); ++index) {
            const Process& process = trace_.processes[index];
            const std::string name =
                process.rank ? fmt::format("{} (rank {})", process.name, *process.rank) : process.name;
            processTracks_.push_back(++lastTrack_);
            packets_.processTrack(lastTrack_, process.pid, name);
        }
        for (uint32_t index = 0; index < trace_.gpus.size(); ++index) {
            const Gpu& gpu = trace_.gpus[index];
            gpuTracks_.push_back(++lastTrack_);
            packets_.plainTrack(
                lastTrack_, 0,
                gpu.name.empty() ? fmt::format("GPU {}", gpu.id) : fmt::format("GPU {}: {}", gpu.id, gpu.name));
        }
        for (const Thread& thread : trace_.threads) {
            const Process& process = trace_.processes[thread.process];
            threadTracks_.push_back(++lastTrack_);
            tracks_[{process.pid, thread.tid}] = lastTrack_;
            packets_.threadTrack(lastTrack_, processTracks_[thread.process], process.pid, thread.tid, thread.name);
        }
        // Rows of threads come before those of GPUs, each after the row that it belongs to.
        uint64_t parent = 0;
        for (const ExportRows::NamedRow& named : rows_.names()) {
            const Key key{named.row.pid, named.row.tid};
            if (const auto found = tracks_.find(key); found != tracks_.end()) {
                parent = found->second;
                continue;
            }
            const int64_t gpu = named.row.pid - ExportRows::pidOfGpu(0);
            const bool isOfGpu = gpu >= 0 && gpu < static_cast<int64_t>(gpuTracks_.size());
            tracks_[key] = ++lastTrack_;
            packets_.plainTrack(lastTrack_, isOfGpu ? gpuTracks_[static_cast<size_t>(gpu)] : parent, named.name);
        }
    }

    /// As the writers of PyTorch profiles do.
    void describeGpus() {
        if (processTracks_.empty()) return;
        Arguments producer(packets_);
        producer.add("producer", trace_.producer);
        packets_.mark(processTracks_.front(), trace_.range.startNs, {}, "trace_metadata", producer);
        if (trace_.gpus.empty()) return;
        std::string list;
        for (const Gpu& gpu : trace_.gpus)
            list += fmt::format(R"({}{{"id": {}, "name": {}, "totalGlobalMem": {}, "computeMajor": {}, )"
                                R"("computeMinor": {}, "numSms": {}}})",
                                list.empty() ? "" : ", ", gpu.id, jsonString(gpu.name), gpu.memoryBytes,
                                gpu.computeMajor, gpu.computeMinor, gpu.smCount);
        Arguments arguments(packets_);
        arguments.add("properties", fmt::format("[{}]", list));
        packets_.mark(processTracks_.front(), trace_.range.startNs, {}, "device_properties", arguments);
    }

    /// Writes all slices of a row in order, each ended before the next begins unless the next is inside it.
    void writeRows() {
        struct Placed {
            uint64_t track;
            EventRef event;
        };
        std::vector<Placed> slices;
        for (const EventKind kind : slicedKinds)
            for (uint32_t row = 0; row < trace_.rowCount(kind); ++row) {
                const EventRef event(kind, row);
                if (kind == EventKind::Nvtx && trace_.nvtx.style[row] != NvtxStyle::PushPop) continue;
                const Row at = rows_.rowOf(event);
                if (at.tid == ExportRows::noTid) {
                    loose_.push_back(event);
                    continue;
                }
                slices.push_back({tracks_[{at.pid, at.tid}], event});
            }
        std::ranges::sort(slices, [this](const Placed& a, const Placed& b) {
            if (a.track != b.track) return a.track < b.track;
            const TimeRange first = trace_.rangeOf(a.event), second = trace_.rangeOf(b.event);
            if (first.startNs != second.startNs) return first.startNs < second.startNs;
            if (first.endNs != second.endNs) return first.endNs > second.endNs;
            return a.event < b.event;
        });
        std::vector<int64_t> open;
        for (size_t at = 0; at < slices.size() && packets_.isWanted(); ++at) {
            const Placed& slice = slices[at];
            if (at > 0 && slices[at - 1].track != slice.track) end(open, slices[at - 1].track, INT64_MAX);
            const TimeRange range = trace_.rangeOf(slice.event);
            end(open, slice.track, range.startNs);
            begin(slice.track, slice.event);
            open.push_back(range.endNs);
        }
        if (!slices.empty()) end(open, slices.back().track, INT64_MAX);
    }

    /// Writes ranges that may overlap in any way, waits, and events without a row: on additional
    /// tracks of their owner, without overlaps within a track.
    void writeLoose() {
        for (uint32_t row = 0; row < trace_.nvtx.size() && packets_.isWanted(); ++row) {
            const EventRef event(EventKind::Nvtx, row);
            if (trace_.nvtx.style[row] == NvtxStyle::StartEnd) loose_.push_back(event);
            if (trace_.nvtx.style[row] != NvtxStyle::Mark) continue;
            Arguments arguments(packets_);
            const Shown what = shownOf(event, arguments);
            packets_.mark(threadTracks_[trace_.nvtx.thread[row]], trace_.nvtx.startNs[row], what.category, what.name,
                          arguments);
        }
        for (uint32_t row = 0; row < trace_.syncs.size(); ++row)
            if (trace_.syncs.stream[row] != noIndex) loose_.push_back(EventRef(EventKind::Sync, row));
        std::ranges::stable_sort(loose_, {}, [this](EventRef event) { return trace_.rangeOf(event).startNs; });
        // For each owner the end of the last event on each of its tracks.
        std::map<std::pair<uint64_t, bool>, std::vector<std::pair<int64_t, uint64_t>>> lanes;
        for (const EventRef event : loose_) {
            if (!packets_.isWanted()) return;
            const TimeRange range = trace_.rangeOf(event);
            const uint32_t thread = threadOf(trace_, event);
            const uint64_t parent = thread != noIndex ? threadTracks_[thread] : gpuTracks_[gpuOf(trace_, event)];
            const bool isWait = event.kind() == EventKind::Sync;
            auto& ofParent = lanes[{parent, isWait}];
            auto free = std::ranges::find_if(ofParent, [&](const auto& lane) { return lane.first <= range.startNs; });
            if (free == ofParent.end()) {
                ofParent.push_back({0, ++lastTrack_});
                free = ofParent.end() - 1;
                packets_.plainTrack(lastTrack_, parent, isWait ? "Waits" : "Ranges");
            }
            begin(free->second, event);
            packets_.end(free->second, range.endNs);
            free->first = range.endNs;
        }
    }

    /// Writes the activity of threads on tracks within theirs: their states, and below each its stack.
    void writeThreads() {
        forEachThreadRow(trace_, [&](const ThreadRow& row) {
            packets_.plainTrack(++lastTrack_, threadTracks_[row.thread], row.name);
            std::vector<int64_t> open;
            for (const ThreadRow::Slice& slice : row.slices) {
                if (!packets_.isWanted()) return;
                end(open, lastTrack_, slice.times.startNs);
                Arguments arguments(packets_);
                if (!row.isStack)
                    for (const auto& [what, fact] : threadStateFacts(trace_, slice.event.row()))
                        arguments.add(what, fact);
                packets_.begin(lastTrack_, slice.times.startNs, row.isStack ? stackDomain : threadStateDomain,
                               text(slice.name), arguments);
                open.push_back(slice.times.endNs);
            }
            end(open, lastTrack_, INT64_MAX);
        });
    }

    void writeCounters() {
        for (const CounterSeries& counter : trace_.counters) {
            const uint64_t parent = counter.gpu != noIndex       ? gpuTracks_[counter.gpu]
                                    : counter.process != noIndex ? processTracks_[counter.process]
                                                                 : 0;
            packets_.counterTrack(++lastTrack_, parent, counter.name, unitOf(counter.unit));
            for (uint32_t sample = 0; sample < counter.size() && packets_.isWanted(); ++sample)
                if (const double value = counter.value(sample); value == value)
                    packets_.value(lastTrack_, counter.timeNs(sample), value);
        }
    }

    /// Name of a slice, and torch.profiler's category.
    struct Shown {
        std::string category, name;
    };

    void addPlace(EventRef event, Arguments& arguments) {
        const Stream& stream = trace_.streams[streamOf(trace_, event)];
        arguments.add("device", trace_.gpus[stream.gpu].id)
            .add("context", stream.contextId)
            .add("stream", stream.streamId)
            .add("correlation", int64_t{correlationOf(trace_, event)});
        if (!isGpuWork(event.kind())) return;
        if (const EventRef call = trace_.launchingCall(event); call.isValid()) arguments.flow(flowOf(call));
    }

    /// Returns the id of the flows from that call to its work; no possible correlation number.
    static uint64_t flowOf(EventRef call) { return uint64_t{1} << 32 | call.row(); }
    /// Returns the id of the flow from an operator to its backward, a row of `Trace::backwards`.
    static uint64_t flowOfPair(uint32_t pair) { return uint64_t{2} << 32 | pair; }

    Shown shown(kinds::Kernel, uint32_t row, Arguments& arguments) {
        const LaunchConfig config = trace_.launchConfigs[trace_.kernels.config[row]];
        addPlace(EventRef(EventKind::Kernel, row), arguments);
        arguments.add("grid", config.grid)
            .add("block", config.block)
            .add("registers per thread", int64_t{config.registersPerThread})
            .add("shared memory", int64_t{config.staticSharedBytes} + config.dynamicSharedBytes);
        if (const uint64_t node = trace_.kernels.graphNode[row]; node != 0)
            arguments.add("graph node id", static_cast<int64_t>(node));
        const StringIndex name = config.demangledName != 0 ? config.demangledName : config.shortName;
        return {"kernel", std::string(text(name))};
    }

    Shown shown(kinds::Memcpy, uint32_t row, Arguments& arguments) {
        const MemcpyTable& memcpys = trace_.memcpys;
        addPlace(EventRef(EventKind::Memcpy, row), arguments);
        arguments.add("bytes", memcpys.bytes[row]);
        return {"gpu_memcpy",
                fmt::format("Memcpy {} ({} -> {})", name(memcpys.kind[row]), longName(memcpys.sourceMemory[row]),
                            longName(memcpys.destinationMemory[row]))};
    }

    Shown shown(kinds::Memset, uint32_t row, Arguments& arguments) {
        addPlace(EventRef(EventKind::Memset, row), arguments);
        arguments.add("bytes", trace_.memsets.bytes[row]);
        return {"gpu_memset", fmt::format("Memset ({})", longName(trace_.memsets.memory[row]))};
    }

    Shown shown(kinds::Sync, uint32_t row, Arguments& arguments) {
        const std::string wait(torchName(trace_.syncs.type[row]));
        arguments.add("cuda_sync_kind", wait);
        addPlace(EventRef(EventKind::Sync, row), arguments);
        return {"cuda_sync", wait};
    }

    Shown shown(kinds::Api, uint32_t row, Arguments& arguments) {
        const EventRef call(EventKind::Api, row);
        arguments.add("correlation", int64_t{trace_.apiCalls.correlation[row]});
        if (!trace_.launchedWork(call).empty()) arguments.flow(flowOf(call));
        return {trace_.apiCalls.isDriver[row] != 0 ? "cuda_driver" : "cuda_runtime",
                std::string(text(trace_.apiCalls.name[row]))};
    }

    static void addPayload(bool isOperator, const std::string& payload, Arguments& arguments) {
        const auto [shapes, types, values] = payloadLists(payload);
        if (!isOperator || shapes.empty()) {
            arguments.add(isOperator ? "Input Dims" : "payload", payload);
            return;
        }
        arguments.add("Input Dims", shapes);
        if (!types.empty()) arguments.add("Input type", types);
        if (!values.empty()) arguments.add("Concrete Inputs", values);
    }

    Shown shown(kinds::Nvtx, uint32_t row, Arguments& arguments) {
        const std::string_view domain = text(trace_.nvtx.domain[row]);
        if (trace_.nvtx.payload[row] != 0) addPayload(domain == operatorDomain, payloadText(trace_, row), arguments);
        for (const uint32_t pair : pairsOf(trace_, row)) arguments.flow(flowOfPair(pair));
        const std::string_view category = domain == annotationDomain ? "user_annotation"
                                          : domain == operatorDomain ? "cpu_op"
                                          : domain == pythonDomain   ? "python_function"
                                                                     : domain;
        return {std::string(category), std::string(text(trace_.nvtx.text[row]))};
    }

    /// For kinds without slices.
    Shown shown(auto, uint32_t, Arguments&) { return {}; }

    Shown shownOf(EventRef event, Arguments& arguments) {
        return visitKind(trace_, event, [&](auto kind, uint32_t row) { return shown(kind, row, arguments); });
    }

    /// Ends the open slices of a track that end by then, the innermost first.
    void end(std::vector<int64_t>& open, uint64_t track, int64_t untilNs) {
        for (; !open.empty() && open.back() <= untilNs; open.pop_back()) packets_.end(track, open.back());
    }

    void begin(uint64_t track, EventRef event) {
        Arguments arguments(packets_);
        const Shown what = shownOf(event, arguments);
        packets_.begin(track, trace_.rangeOf(event).startNs, what.category, what.name, arguments);
    }

    const Trace& trace_;
    const ExportRows rows_;
    PerfettoPackets packets_;
    std::vector<uint64_t> processTracks_, gpuTracks_, threadTracks_;
    std::map<Key, uint64_t> tracks_;  ///< Tracks of rows.
    std::vector<EventRef> loose_;
    uint64_t lastTrack_ = 0;
};

}  // namespace

void writePerfettoTrace(const Trace& trace, const TextSink& sink) { Writer(trace, sink).run(); }

}  // namespace lanescope
