// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "model/importers/sqlite/FileStrings.h"
#include "model/importers/sqlite/LoadContext.h"

namespace lanescope {

/// Finds the processes, threads, streams and GPUs that events name in the words of the file. All
/// lookups are O(1), and quick for the one asked for last.
class Identities {
  public:
    explicit Identities(TraceBuilder& builder) : builder_(builder) {}

    /// Reads what the file says about GPUs, streams, names of processes and of threads.
    void read(LoadContext& context, FileStrings& strings);

    /// Each `noIndex` if the file names more of them than any real machine has.
    uint32_t process(int64_t globalPid) { return builder_.process(globalPid); }
    uint32_t thread(int64_t globalTid) { return builder_.thread(globalTid); }
    uint32_t stream(uint32_t process, int64_t device, int64_t context, int64_t stream);
    /// The GPU that the process calls `device`; `noIndex` for what is no number of a device.
    uint32_t gpuOf(uint32_t process, int64_t device);
    /// The GPU of that number on screen; `noIndex` for what is no number of a GPU.
    uint32_t gpuNumbered(int64_t gpuId);
    /// The process of events that name none: the only one there is, if any.
    uint32_t unnamedProcess();
    uint32_t unnamedThread();

  private:
    void readGpus(LoadContext& context);
    template <class Table>
    void readGpus(LoadContext& context, const Table& t);
    void readOldGpus(LoadContext& context);
    void readDeviceMap(LoadContext& context);
    void readNullStreams(LoadContext& context);
    void readNames(LoadContext& context, FileStrings& strings);
    /// The GPU that a process calls `device`; the same number where the file does not say.
    int64_t gpuIdOf(const Process& process, int64_t device) const;
    bool isNullStream(const Process& process, int64_t context, int64_t stream) const;

    TraceBuilder& builder_;
    /// By PID and CUDA ordinal, and then by host: two hosts may use the same PID.
    std::map<std::pair<uint32_t, int64_t>, std::map<uint32_t, int64_t>> gpuIdOf_;
    /// Hosts by PID, context and stream.
    std::map<std::tuple<uint32_t, int64_t, int64_t>, std::set<uint32_t>> nullStreams_;
    struct Device {
        uint32_t process = noIndex;
        int64_t number = 0;
        uint32_t gpu = noIndex;
    };
    Device lastDevice_;
};

}  // namespace lanescope
