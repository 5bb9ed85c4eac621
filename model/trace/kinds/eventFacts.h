// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"
#include "model/trace/kinds/workModules.h"

namespace lanescope {

// Queries of a single event by the description of its kind (`allKinds.h`). An event that is not in
// the trace has no stream, thread or GPU. Each is O(1).

/// Returns every kind but none, in the order in which events that start together are listed.
std::span<const EventKind> kindsInOrder();
/// Returns "Kernel", "CUDA API call"; empty for none.
std::string_view nameOfKind(EventKind kind);
/// Returns true if such events have their own rows in a file.
bool isRecorded(EventKind kind);
/// Returns true for values of counters, which are curves on a timeline and not listed by start.
bool isSampled(EventKind kind);
/// Returns true if tracks of this kind show events of this kind.
bool mayHold(TrackKind track, EventKind events);

/// Returns true for work that a call submitted to a stream of a GPU: kernel, copy, memset or graph.
bool isGpuWork(EventKind kind);
/// Returns an index into `Trace::streams`, or `noIndex`.
uint32_t streamOf(const Trace& trace, EventRef event);
/// Returns an index into `Trace::threads`, or `noIndex`.
uint32_t threadOf(const Trace& trace, EventRef event);
/// Returns an index into `Trace::gpus`, or `noIndex`.
uint32_t gpuOf(const Trace& trace, EventRef event);
/// Returns the number that joins a call and its GPU work within a process; 0 for none.
uint32_t correlationOf(const Trace& trace, EventRef event);
/// Returns the bytes moved or set; nullopt for other kinds of events.
std::optional<int64_t> bytesOf(const Trace& trace, EventRef event);

/// Returns the properties of an event in display order: names, times, place, sizes, bandwidth,
/// payload. Values include their units. Empty for an invalid reference.
std::vector<Property> describe(const Trace& trace, EventRef event);

/// Number of pieces of GPU work launched by calls of a thread that began in an interval.
struct ThreadLaunches {
    uint32_t thread = noIndex;
    int64_t count = 0;
    bool operator==(const ThreadLaunches&) const = default;
};

/// Returns the launches of each thread of the process of `thread`, with `thread` first, then by number; on `stream`
/// only, unless `noIndex`. Empty if the interval has more than `maxScannedCalls` calls, which would take too long to
/// count. O(calls in the interval * log calls).
std::vector<ThreadLaunches> launchesDuring(const Trace& trace, uint32_t thread, TimeRange during,
                                           uint32_t stream = noIndex);
inline constexpr uint32_t maxScannedCalls = 200'000;

/// Returns "204 by this thread, 327 by thread 526 meanwhile"; empty if there are none. NVIDIA's
/// tools count the first only; the second is launched by autograd's thread for the range.
std::string launchesText(const Trace& trace, uint32_t thread, const std::vector<ThreadLaunches>& launches);

/// Returns the row of `trace.nccl` of an NVTX range, or `noIndex`. O(log n).
uint32_t ncclCallOfRange(const Trace& trace, uint32_t nvtx);

/// Thread and time of the launch of an NCCL call.
struct NcclLaunch {
    uint32_t thread = noIndex;
    TimeRange during;
};
/// Returns NCCL's own record of the launch, else the call itself.
NcclLaunch launchOfNcclCall(const Trace& trace, uint32_t row);

/// Returns the row of `trace.nccl` of GPU work, the first if NCCL ran several at once; or
/// `noIndex`. O(log n), and a few thousand earlier calls.
uint32_t ncclCallOfWork(const Trace& trace, EventRef work);

/// Returns the payload of an NVTX range for people, with communicators of NCCL in their display form.
std::string payloadText(const Trace& trace, uint32_t nvtx);

/// Returns the facts of an NCCL call for people.
std::vector<Property> describeNcclCall(const Trace& trace, uint32_t row);

/// Returns the innermost range of that domain that is open on the thread at that time, or an
/// invalid reference. Searches the tracks: O(tracks), and O(log n) in each lane.
EventRef innermostRange(const Trace& trace, uint32_t thread, int64_t timeNs, std::string_view domain);

}  // namespace lanescope

namespace lanescope::kinds {

/// Collects the detail lines of an event, without unknown values.
class Details {
  public:
    Details(const Trace& trace, EventRef event) : trace_(trace), event_(event) {}

    std::vector<Property> take() { return std::move(lines_); }

    /// Adds a line unless `value` is empty.
    void add(std::string name, std::string value);
    void addTimes();
    void addThread(uint32_t thread);
    void addProcess(uint32_t process);
    void addGpu(uint32_t gpu);
    /// Adds the stream, its GPU and its process.
    void addStream(uint32_t stream);
    /// Adds the launching call, the code around it, and the time between launch and start.
    void addLaunch();
    /// Adds the module of a model whose call launched the work, what torch.compile replaced by it, and the ranges that
    /// were open when its CUDA graph was captured.
    void addModule();
    /// Adds the Python stack of a call, unless `noIndex`. `isLent`: the stack of the thread that the call was made for.
    void addStack(uint32_t stack, bool isLent);
    void addPlace(const PythonPlace& place);
    /// Adds the line of a stack, and under another name, unless that is empty, the whole stack; nothing for `noIndex`.
    void addFrames(std::string line, std::string whole, uint32_t stack);
    void addBandwidth(int64_t bytes);
    /// Adds NCCL's facts of a call, a row of `Trace::nccl`; nothing for `noIndex`.
    void addNcclCall(uint32_t call);
    /// Adds the forward and backward operators of a range of `Trace::nvtx`.
    void addBackward(uint32_t nvtx);
    /// Adds the properties of a range of `Trace::nvtx` other than its name and times.
    void addRange(uint32_t nvtx);

  private:
    const Trace& trace_;
    EventRef event_;
    std::vector<Property> lines_;
};

/// Returns "9.521234567 s", on the same clock as the ruler of the timeline.
std::string exactSeconds(int64_t timeNs);

}  // namespace lanescope::kinds
