// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "model/assemble/TraceBuilder.h"

namespace lanescope {

/// A `TraceBuilder` with frequent needs of tests: default subjects, and texts instead of their
/// numbers. The first process exists from the start: "python3", PID 4242. Times are nanoseconds.
class SimulatedTrace : public TraceBuilder {
  public:
    SimulatedTrace();

    static constexpr uint64_t someCommunicator = 0x5ca1ab1e;

    uint32_t addGpu(std::string gpuName = "Simulated H200", int smCount = 132);
    uint32_t addProcess(uint32_t pid, std::string processName, std::optional<int> rank = {});
    uint32_t addThread(uint32_t process, uint32_t tid, std::string threadName = {});
    uint32_t addStream(uint32_t process, uint32_t gpu, int64_t streamId, bool isNullStream = false);
    /// The names of the first process, its thread and its default stream on GPU 0, created on first use.
    uint32_t defaultThread(), defaultStream();

    EventRef addKernel(uint32_t stream, std::string_view kernelName, int64_t startNs, int64_t endNs,
                       uint32_t correlation = 0);
    EventRef addMemcpy(uint32_t stream, MemcpyKind kind, int64_t bytes, int64_t startNs, int64_t endNs,
                       uint32_t correlation = 0, MemoryKind source = MemoryKind::Pinned,
                       MemoryKind destination = MemoryKind::Device);
    /// Adds a copy from one GPU to another.
    EventRef addPeerCopy(uint32_t stream, uint32_t fromGpu, uint32_t toGpu, int64_t bytes, int64_t startNs,
                         int64_t endNs);
    /// Adds a migration of managed memory.
    EventRef addMigration(uint32_t stream, MemcpyKind kind, uint64_t address, int64_t bytes, int64_t startNs,
                          int64_t endNs, MigrationCause cause = MigrationCause::Coherence);
    EventRef addMemset(uint32_t stream, int64_t bytes, int64_t startNs, int64_t endNs, uint32_t correlation = 0);
    /// Adds a launch of a CUDA graph that was recorded as a whole.
    EventRef addGraph(uint32_t stream, int64_t number, int64_t startNs, int64_t endNs, uint32_t correlation = 0);
    void addAllocation(uint32_t process, uint32_t gpu, MemoryKind kind, uint64_t address, int64_t bytes,
                       int64_t timeNs);
    void addFree(uint32_t process, uint32_t gpu, uint64_t address, int64_t timeNs);
    /// Adds a page fault of a GPU; of the CPU if `gpu` is `noIndex`.
    EventRef addPageFault(uint32_t process, uint32_t gpu, uint64_t address, int64_t count, FaultAccess access,
                          int64_t startNs, int64_t endNs);
    /// Adds a recording window; from the first call on, the process is recorded only in its windows.
    void addWindow(uint32_t process, int64_t startNs, int64_t endNs);
    void addGap(uint32_t process, Loss what, int64_t startNs, int64_t endNs, int64_t count);
    EventRef addApi(uint32_t thread, std::string_view callName, int64_t startNs, int64_t endNs,
                    uint32_t correlation = 0, uint32_t stack = noIndex);
    /// Returns a stack of one more frame.
    uint32_t frame(std::string_view function, std::string_view file, uint32_t line, uint32_t outer = noIndex);
    EventRef addSync(uint32_t stream, SyncType type, int64_t startNs, int64_t endNs, uint32_t correlation = 0);
    EventRef addNvtx(uint32_t thread, std::string_view text, int64_t startNs, int64_t endNs,
                     NvtxStyle style = NvtxStyle::PushPop, std::string_view domain = {});
    /// Adds ranges "step 0", "step 1"... of a thread, and to each what `work(startNs, step)` or `work(startNs)` adds.
    template <class Work>
    void addSteps(uint32_t thread, int64_t count, int64_t everyNs, int64_t lengthNs, Work work) {
        for (int64_t step = 0; step < count; ++step) {
            addNvtx(thread, "step " + std::to_string(step), step * everyNs, step * everyNs + lengthNs);
            if constexpr (std::is_invocable_v<Work, int64_t>) {
                work(step * everyNs);
            } else {
                work(step * everyNs, step);
            }
        }
    }
    /// Adds a range that was never closed.
    EventRef addOpenNvtx(uint32_t thread, std::string_view text, int64_t startNs);
    /// Adds an NVTX range of NCCL's domain with facts of its call.
    EventRef addNccl(uint32_t thread, std::string_view operation, int64_t bytes, int64_t startNs, int64_t endNs,
                     uint64_t communicator = someCommunicator, const NcclFacts& facts = {});

    /// Adds a call and its kernel; the call takes 4 us and ends before the kernel starts.
    EventRef launch(uint32_t thread, uint32_t stream, std::string_view kernelName, int64_t callStartNs, int64_t startNs,
                    int64_t endNs);

    /// Returns a launch configuration of the builder.
    uint32_t launchOf(std::string_view kernelName);

    /// Finishes the trace. Returned references stay valid only if events were added in order of
    /// start. The builder is used up.
    TracePtr finish(std::string title = "simulated.lanescope");

  private:
    uint32_t nextCorrelation_ = 1'000'000;
};

/// Returns a finished trace for changes that no builder would make: a hostile index, a test's own
/// track. The trace must not be shared.
inline Trace& forged(const TracePtr& trace) { return const_cast<Trace&>(*trace); }

}  // namespace lanescope
