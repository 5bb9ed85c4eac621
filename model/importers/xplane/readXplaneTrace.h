// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Memory.h"
#include "model/format/Result.h"
#include "model/importers/events/ImportedEvents.h"
#include "model/importers/events/ProtoCursor.h"
#include "model/numbers/MixedMap.h"

namespace lanescope {

/// Returns the launch, without a name, in a text such as "regs:32 grid:16,1,1 block:512,1,1".
ImportedLaunch launchOf(std::string_view details);

/// The properties of a copy or memset in "kind_src:pinned kind_dst:device size:4096 async:1" and the name of the event.
struct XplaneCopy {
    MemcpyKind kind = MemcpyKind::Unknown;
    MemoryKind source = MemoryKind::Unknown, destination = MemoryKind::Unknown;
    int64_t bytes = 0;
};
XplaneCopy copyOf(std::string_view name, std::string_view details);

/// Returns true if the name of an event on a stream is that of a copy or memset. All others are kernels.
bool isCopyName(std::string_view name);
bool isMemsetName(std::string_view name);

/// `isApiName` returns true for a host function of CUDA or HIP, the other one for a function of CUDA's driver.
bool isApiName(std::string_view name);
bool isDriverName(std::string_view name);

/// Returns the number after `word` in a text such as "Stream #17(Kernel)" or "/device:GPU:3", or -1.
int64_t numberAfter(std::string_view text, std::string_view word);

// The messages of an XPlane file, as views of its bytes.

struct XplaneStat {
    std::string_view name;
    std::string_view text;  ///< Also a text that is stored elsewhere in the plane.
    std::optional<int64_t> number = {};
    std::optional<double> real = {};
};

/// The common properties of all events of one name.
struct XplaneEventKind {
    std::string_view name, displayName;
    std::vector<std::string_view> stats;
};

/// Time and kind of an event. Its stats are parsed on demand.
struct XplaneEvent {
    const XplaneEventKind* kind = nullptr;
    int64_t offsetPs = 0, durationPs = 0;
    bool isAggregated = false;  ///< The number of occurrences is known, but not their times.
    std::string_view message;

    std::string_view name() const { return kind->name; }
};

/// A row of a plane: a stream, a thread, or data derived from others.
struct XplaneLine {
    int64_t id = 0;
    std::string_view name = {}, displayName = {};
    int64_t timeNs = 0;  ///< Base of the offsets of its events.
    std::string_view message;
};

/// A plane: a GPU, a host, or something else. Its bytes must remain valid.
class XplanePlane {
  public:
    /// O(names), which are stored in lists. The last of two with one number counts.
    explicit XplanePlane(std::string_view message);

    std::string_view name() const { return name_; }
    const std::vector<std::string_view>& lines() const { return lines_; }
    /// Number of truncated messages.
    int64_t corruptCount() const { return corruptCount_; }

    XplaneLine line(std::string_view message);
    /// Calls `visit(event)` for each event of a line, in order.
    void forEachEvent(const XplaneLine& line, auto visit) {
        for (const ProtoField& field : ProtoCursor(line.message))
            if (field.number == 4 && field.isBytes()) visit(event(field.bytes));
    }
    /// Calls `visit(stat)` for each stat of an event, then for each stat of its kind.
    void forEachStat(const XplaneEvent& event, auto visit) {
        for (const ProtoField& field : ProtoCursor(event.message))
            if (field.number == 4 && field.isBytes()) visit(stat(field.bytes));
        for (const std::string_view each : event.kind->stats) visit(stat(each));
    }
    void forEachStat(auto visit) {
        for (const std::string_view each : stats_) visit(stat(each));
    }

  private:
    XplaneEvent event(std::string_view message);
    XplaneStat stat(std::string_view message);
    void addEventKind(std::string_view entry);
    void addStatName(std::string_view entry);
    void see(const ProtoCursor& cursor) { corruptCount_ += cursor.isMalformed() ? 1 : 0; }

    std::string_view name_;
    std::vector<std::string_view> lines_, stats_;
    MixedMap<uint64_t, XplaneEventKind> eventKinds_;
    MixedMap<uint64_t, std::string_view> statNames_;
    int64_t corruptCount_ = 0;
};

/// Collects events of a plane in chunks of bounded size. Texts are views, which must be valid until `flush`.
class XplaneChunk {
  public:
    explicit XplaneChunk(ImportedEvents& events) : events_(events) {}

    uint32_t text(std::string_view text) { return chunk_.strings.add(text); }
    /// Keeps a new text until `flush` and returns it.
    std::string_view made(std::string text) { return made_.emplace_back(std::move(text)); }
    uint32_t thread(const ImportedThread& thread) { return indexIn(threads_, chunk_.threads, thread); }
    uint32_t place(const ImportedPlace& place) { return indexIn(places_, chunk_.places, place); }
    uint32_t launch(const ImportedLaunch& launch) { return indexIn(launches_, chunk_.launches, launch); }

    void slice(ImportedEventKind kind, const ImportedSlice& slice) {
        chunk_.slices[static_cast<size_t>(kind)].push_back(slice);
        ++count_;
    }
    void work(const ImportedGpuWork& work) {
        chunk_.gpuWork.push_back(work);
        ++count_;
    }
    void name(const ImportedName& name) { chunk_.names.push_back(name); }
    void sample(const ImportedCounter& counter, int64_t timeNs, double value) {
        chunk_.samples.push_back({timeNs, value, indexIn(counters_, chunk_.counters, counter)});
        ++count_;
    }
    ImportedTally& tally() { return chunk_.tally; }

    /// Adds the contents to the events of the file. Indexes of texts and all else start again.
    void flush();
    /// Returns true if the chunk should be flushed.
    bool isFull() const { return count_ >= flushThreshold; }

  private:
    static constexpr size_t flushThreshold = size_t{1} << 16;

    ImportedEvents& events_;
    ImportedChunk chunk_;
    std::deque<std::string> made_;
    std::map<ImportedThread, uint32_t> threads_;
    std::map<ImportedPlace, uint32_t> places_;
    std::map<ImportedLaunch, uint32_t> launches_;
    std::map<ImportedCounter, uint32_t> counters_;
    size_t count_ = 0;
};

struct XplaneGpu {
    int64_t number = 0;
    std::string name = {}, vendor = {};
    int64_t memoryBytes = 0, bytesPerSecond = 0, cores = 0, major = 0, minor = 0;
};

class XplaneReader {
  public:
    explicit XplaneReader(ImportedEvents& events) : chunk_(events) {}

    /// Reads a plane without keeping its bytes. GPUs must come before hosts, as in files, since
    /// calls get their operation from the work that they launched.
    void take(std::string_view plane);

    const std::vector<XplaneGpu>& gpus() const { return gpus_; }
    /// Returns the start of the profiler since 1970; 0 if unknown.
    int64_t beganNs() const { return beganNs_; }
    /// Number of events without times, and of truncated messages.
    int64_t aggregated() const { return aggregated_; }
    int64_t corruptCount() const { return corruptCount_; }

  private:
    /// An operation of a compiled program, or an interval of several.
    struct Operation {
        std::string_view operation, module;
        int64_t startNs = 0, endNs = 0;
    };
    struct Stats {
        std::string_view kernel, copy, memset, operation, module, allocator;
        bool isCopy = false, isMemset = false;
        int64_t correlation = 0, context = 0, graphNode = 0;
        std::optional<int64_t> step, allocated;
    };

    void describe(XplanePlane& plane);
    void takeGpu(XplanePlane& plane, int64_t number);
    void takeStream(XplanePlane& plane, const XplaneLine& line, int64_t gpu, int64_t stream);
    void takeThread(XplanePlane& plane, const XplaneLine& line, const ImportedThread& thread, std::string name,
                    std::string_view domain);
    void takeHostEvent(const XplaneEvent& event, const Stats& stats, ImportedSlice slice, std::string_view domain);
    void emitOperations(std::vector<Operation>& operations, const ImportedThread& thread);
    void emitRange(const Operation& range, std::string_view name, std::string_view domain,
                   const ImportedThread& thread);
    Stats statsOf(XplanePlane& plane, const XplaneEvent& event);
    const std::string* keptName(std::string_view name);
    bool timesOf(const XplaneLine& line, const XplaneEvent& event, int64_t& startNs, int64_t& durationNs);
    void flushIfFull() {
        if (chunk_.isFull()) chunk_.flush();
    }

    XplaneChunk chunk_;
    /// Texts that the chunk has views of until the end of a plane.
    std::deque<std::string> threadsOfPlane_;
    std::vector<XplaneGpu> gpus_;
    /// Operation and module of GPU work by correlation, as pointers into `names_`.
    MixedMap<int64_t, std::pair<const std::string*, const std::string*>> operationsOf_;
    std::set<std::string, std::less<>> names_;
    int64_t beganNs_ = 0;
    int64_t aggregated_ = 0, corruptCount_ = 0;
};

/// Returns true if the first bytes begin a plane with a name of known profilers.
bool startsLikeXplane(std::string_view start);

/// Reads a trace of the profilers of JAX and TensorFlow (XSpace) into a builder with the path of the file.
/// `fractionRead` returns the fraction of the source that was read. Keeps one plane at a time in the memory of the
/// builder. Fails if nothing can be read. If cancelled, events are missing.
Result<void> readXplaneTrace(const ByteSource& source, TraceBuilder& builder,
                             const std::function<double()>& fractionRead, const LoadProgress& progress);

}  // namespace lanescope
