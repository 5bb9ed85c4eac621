// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"
#include "model/trace/kinds/workStacks.h"

namespace lanescope {

/// The innermost range of that domain that is open on the thread at that moment; invalid if there
/// is none. Found where it is drawn: O(tracks), and O(log n) in each lane.
EventRef innermostRange(const Trace& trace, uint32_t thread, int64_t timeNs,
                        std::string_view domain);

}  // namespace lanescope

namespace lanescope::kinds {

/// Collects the lines about one event, leaving out what is not known.
class Details {
  public:
    Details(const Trace& trace, EventRef event) : trace_(trace), event_(event) {}

    std::vector<Property> take() { return std::move(lines_); }

    /// Nothing if `value` is empty.
    void add(std::string name, std::string value);
    void addTimes();
    /// The thread and its process.
    void addThread(uint32_t thread);
    void addProcess(uint32_t process);
    void addGpu(uint32_t gpu);
    /// The stream, its GPU and its process.
    void addStream(uint32_t stream);
    /// The call that launched this work, the code around it, and how long the work waited for the
    /// GPU.
    void addLaunch();
    /// The Python lines that led to a call; nothing for `noIndex`. `isLent`: those of the thread
    /// for which it was made.
    void addStack(uint32_t stack, bool isLent);
    void addPlace(const PythonPlace& place);
    /// The line of a stack, and under another name, unless that is empty, all of it; nothing for
    /// `noIndex`.
    void addFrames(std::string line, std::string whole, uint32_t stack);
    void addBandwidth(int64_t bytes);
    /// What NCCL said of the call, a row of `Trace::nccl`; nothing for `noIndex`.
    void addNcclCall(uint32_t call);
    /// The operators whose backward a range of `Trace::nvtx` is, and those that are its backward.
    void addBackward(uint32_t nvtx);
    /// What a range of `Trace::nvtx` has beside its name and times.
    void addRange(uint32_t nvtx);

  private:
    const Trace& trace_;
    EventRef event_;
    std::vector<Property> lines_;
};

/// "9.521234567 s", on the same clock as the ruler of the timeline.
std::string exactSeconds(int64_t timeNs);

}  // namespace lanescope::kinds
