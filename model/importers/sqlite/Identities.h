// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "model/importers/sqlite/LoadContext.h"

namespace lanescope {

/// Finds the processes, threads, streams and GPUs that events refer to by ids of the file. All
/// lookups are O(1), and fast for the last id.
class Identities {
  public:
    explicit Identities(TraceBuilder& builder) : builder_(builder) {}

    /// Reads GPUs, streams, and names of processes and threads.
    void read(LoadContext& context, FileStrings& strings);

    /// Each is `noIndex` if the file has more of them than any real machine.
    uint32_t process(int64_t globalPid) { return builder_.process(globalPid); }
    uint32_t thread(int64_t globalTid) { return builder_.thread(globalTid); }
    uint32_t stream(uint32_t process, int64_t device, int64_t context, int64_t stream);
    /// Returns the GPU with this CUDA ordinal in the process, or `noIndex` if the ordinal is invalid.
    uint32_t gpuOf(uint32_t process, int64_t device);
    /// Returns the CUDA ordinal of the GPU of a context, or -1 if the file names none or several.
    int64_t deviceOf(uint32_t process, int64_t context) const;
    /// Returns the GPU of a displayed number, or `noIndex` if the number is invalid.
    uint32_t gpuNumbered(int64_t gpuId);
    /// Returns the process for events without one: the only process, if any.
    uint32_t unnamedProcess();
    uint32_t unnamedThread();

  private:
    void readGpus(LoadContext& context);
    template <class Table>
    void readGpus(LoadContext& context, const Table& t);
    void readOldGpus(LoadContext& context);
    void readDeviceMap(LoadContext& context);
    void readNullStreams(LoadContext& context);
    void readContexts(LoadContext& context);
    void readNames(LoadContext& context, FileStrings& strings);
    /// Returns the number of the GPU with this CUDA ordinal, or the ordinal if the file has no mapping.
    int64_t gpuIdOf(const Process& process, int64_t device) const;
    bool isNullStream(const Process& process, int64_t context, int64_t stream) const;

    TraceBuilder& builder_;
    /// By PID and CUDA ordinal, then by host, since two hosts may use the same PID.
    std::map<std::pair<uint32_t, int64_t>, std::map<uint32_t, int64_t>> gpuIdOf_;
    /// Hosts by PID, context and stream.
    std::map<std::tuple<uint32_t, int64_t, int64_t>, std::set<uint32_t>> nullStreams_;
    std::map<std::pair<uint32_t, int64_t>, std::set<int64_t>> devicesOf_;  ///< By PID and context.
    struct Device {
        uint32_t process = noIndex;
        int64_t number = 0;
        uint32_t gpu = noIndex;
    };
    Device lastDevice_;
};

}  // namespace lanescope
