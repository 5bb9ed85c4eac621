#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "model/trace/Trace.h"

namespace lanescope {

/// Makes a trace in memory, event by event in any order, for tests. The first process is there from
/// the start: "python3", PID 4242. Times are nanoseconds.
class TraceBuilder {
  public:
    TraceBuilder();

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
                          MigrationCause cause = MigrationCause::PageFault);
    EventRef addMemset(uint32_t stream, int64_t bytes, int64_t startNs, int64_t endNs,
                       uint32_t correlation = 0);
    /// A launch of a CUDA graph that was recorded as a whole.
    EventRef addGraph(uint32_t stream, int64_t graph, int64_t startNs, int64_t endNs,
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
    /// An NVTX range of NCCL's domain and the row of `Trace::nccl` that goes with it.
    EventRef addNccl(uint32_t thread, std::string_view operation, int64_t bytes, int64_t startNs,
                     int64_t endNs, uint64_t communicator = 0x5ca1ab1e);

    /// The call and the kernel it launches; the call takes 4 us and ends before the kernel starts.
    EventRef launch(uint32_t thread, uint32_t stream, std::string_view kernelName,
                    int64_t callStartNs, int64_t startNs, int64_t endNs);

    /// Builds ranges, links, projections and tracks. References handed out above hold only if
    /// events were added in order of start. The builder is used up.
    TracePtr finish(std::string title = "simulated.lanescope");

    /// For what has no call of its own.
    Trace& trace() { return *trace_; }

  private:
    uint32_t configFor(std::string_view kernelName);

    std::shared_ptr<Trace> trace_;
    std::map<std::string, uint32_t, std::less<>> configs_;
    uint32_t nextCorrelation_ = 1'000'000;
};

}  // namespace lanescope
