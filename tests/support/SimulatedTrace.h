// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/assemble/TraceBuilder.h"

namespace lanescope {

/// A `TraceBuilder` with what tests need often: subjects by default, texts instead of their
/// numbers. The first process is there from the start: "python3", PID 4242. Times are nanoseconds.
class SimulatedTrace : public TraceBuilder {
  public:
    SimulatedTrace();

    static constexpr uint64_t someCommunicator = 0x5ca1ab1e;

    uint32_t addGpu(std::string gpuName = "Simulated H200", int smCount = 132);
    uint32_t addProcess(uint32_t pid, std::string processName, std::optional<int> rank = {});
    uint32_t addThread(uint32_t process, uint32_t tid, std::string threadName = {});
    uint32_t addStream(uint32_t process, uint32_t gpu, int64_t streamId, bool isNullStream = false);
    /// The names of the first process, of a thread of it and of a default stream on GPU 0, made
    /// when first asked for.
    uint32_t defaultThread();
    uint32_t defaultStream();

    EventRef addKernel(uint32_t stream, std::string_view kernelName, int64_t startNs, int64_t endNs,
                       uint32_t correlation = 0);
    EventRef addMemcpy(uint32_t stream, MemcpyKind kind, int64_t bytes, int64_t startNs,
                       int64_t endNs, uint32_t correlation = 0,
                       MemoryKind source = MemoryKind::Pinned,
                       MemoryKind destination = MemoryKind::Device);
    /// A copy from one GPU to another.
    EventRef addPeerCopy(uint32_t stream, uint32_t fromGpu, uint32_t toGpu, int64_t bytes,
                         int64_t startNs, int64_t endNs);
    /// A migration of managed memory.
    EventRef addMigration(uint32_t stream, MemcpyKind kind, uint64_t address, int64_t bytes,
                          int64_t startNs, int64_t endNs,
                          MigrationCause cause = MigrationCause::Coherence);
    EventRef addMemset(uint32_t stream, int64_t bytes, int64_t startNs, int64_t endNs,
                       uint32_t correlation = 0);
    /// A launch of a CUDA graph that was recorded as a whole.
    EventRef addGraph(uint32_t stream, int64_t number, int64_t startNs, int64_t endNs,
                      uint32_t correlation = 0);
    void addAllocation(uint32_t process, uint32_t gpu, MemoryKind kind, uint64_t address,
                       int64_t bytes, int64_t timeNs);
    void addFree(uint32_t process, uint32_t gpu, uint64_t address, int64_t timeNs);
    /// Of a GPU; of the CPU if `gpu` is `noIndex`.
    EventRef addPageFault(uint32_t process, uint32_t gpu, uint64_t address, int64_t count,
                          FaultAccess access, int64_t startNs, int64_t endNs);
    /// The process records in its windows only, from the first such call on.
    void addWindow(uint32_t process, int64_t startNs, int64_t endNs);
    void addGap(uint32_t process, Loss what, int64_t startNs, int64_t endNs, int64_t count);
    EventRef addApi(uint32_t thread, std::string_view callName, int64_t startNs, int64_t endNs,
                    uint32_t correlation = 0);
    EventRef addSync(uint32_t stream, SyncType type, int64_t startNs, int64_t endNs,
                     uint32_t correlation = 0);
    EventRef addNvtx(uint32_t thread, std::string_view text, int64_t startNs, int64_t endNs,
                     NvtxStyle style = NvtxStyle::PushPop, std::string_view domain = {});
    /// A range that was never closed.
    EventRef addOpenNvtx(uint32_t thread, std::string_view text, int64_t startNs);
    /// An NVTX range of NCCL's domain and what is known of the call.
    EventRef addNccl(uint32_t thread, std::string_view operation, int64_t bytes, int64_t startNs,
                     int64_t endNs, uint64_t communicator = someCommunicator,
                     const NcclFacts& facts = {});

    /// The call and the kernel it launches; the call takes 4 us and ends before the kernel starts.
    EventRef launch(uint32_t thread, uint32_t stream, std::string_view kernelName,
                    int64_t callStartNs, int64_t startNs, int64_t endNs);

    /// Finishes it. References handed out above hold only if events were added in order of start.
    /// The builder is used up.
    TracePtr finish(std::string title = "simulated.lanescope");

  private:
    /// As a launch configuration of the builder.
    uint32_t launchOf(std::string_view kernelName);

    uint32_t nextCorrelation_ = 1'000'000;
};

/// A finished trace to change, for what no builder would make: a hostile index, a track of a test's
/// own. Nobody else may have it.
inline Trace& forged(const TracePtr& trace) {
    return const_cast<Trace&>(*trace);
}

}  // namespace lanescope
