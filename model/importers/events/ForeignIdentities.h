// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/importers/events/ForeignEvents.h"
#include "model/numbers/MixedMap.h"

namespace lanescope {

/// Whose the events of a file are: its processes, threads and streams as those of the trace. Files
/// call processes and threads what they like; numbers that are none of the system's get one that is
/// free, and keep their name.
class JsonIdentities {
  public:
    JsonIdentities(const JsonEvents& events, TraceBuilder& builder);

    /// A thread of `JsonEvents::threads`.
    uint32_t thread(uint32_t number);
    /// The same, if something of it was asked for before; else `noIndex`.
    uint32_t knownThread(uint32_t number) const { return threads_[number]; }
    /// A thread for what is of no thread: work on that stream, as far as the file says.
    uint32_t threadOfPlace(uint32_t place);
    /// What the file calls so.
    uint32_t process(const std::string& name);
    /// The process that most of the calls are of; where there are none, most of anything.
    uint32_t mainProcess() { return process(mainProcess_); }
    /// The process that made the call with that correlation.
    uint32_t processOfWork(uint32_t correlation);
    /// A stream of `JsonEvents::places`, or `noIndex` if the place names none.
    uint32_t stream(uint32_t place, uint32_t process);

  private:
    static constexpr uint32_t greatestId = 0xffffff;
    /// Ids that are in use, and the next that is not, from the greatest down.
    struct Ids {
        std::set<uint32_t> used;
        uint32_t free = greatestId;
        uint32_t take(std::optional<uint32_t> wanted);
    };
    int64_t packedProcess(const std::string& name);
    int64_t packedThread(int64_t process, const std::string& name);
    void findMainProcess();

    const JsonEvents& events_;
    TraceBuilder& builder_;
    std::string mainProcess_;
    std::map<std::string, int64_t> processes_;
    std::map<int64_t, Ids> threadIds_;  ///< Of each process.
    Ids processIds_;
    std::vector<uint32_t> threads_;
    std::map<uint32_t, uint32_t> threadsOfPlaces_;
    bool areCallsOfSeveral_ = false;
    MixedMap<uint32_t, uint32_t> callers_;  ///< By correlation, where several processes call.
};

}  // namespace lanescope
