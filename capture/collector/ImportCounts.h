#pragma once

#include <array>
#include <cstdint>

namespace lanescope {

enum class EventKind { Kernel, Memcpy, Memset, Api, Sync, CudaEvent, Overhead, Nvtx, Nccl };
inline constexpr int eventKindCount = 9;

/// "kernels", "memcpys", "CUDA API calls": what they are called where they are counted.
constexpr const char* pluralName(EventKind kind) {
    constexpr const char* names[eventKindCount] = {
        "kernels", "memcpys", "memsets", "CUDA API calls", "synchronizations",
        "CUDA events", "profiler overheads", "NVTX ranges and marks", "NCCL operations"};
    return names[static_cast<int>(kind)];
}

/// How many events of each kind were written, and how many of them carry no time.
struct ImportCounts {
    std::array<int64_t, eventKindCount> total{};
    std::array<int64_t, eventKindCount> untimed{};

    int64_t& of(EventKind kind) { return total[static_cast<size_t>(kind)]; }
    int64_t of(EventKind kind) const { return total[static_cast<size_t>(kind)]; }
    int64_t untimedOf(EventKind kind) const { return untimed[static_cast<size_t>(kind)]; }
    /// Events of all kinds; NCCL operations are NVTX ranges and not counted twice.
    int64_t events() const {
        int64_t sum = 0;
        for (const int64_t count : total) sum += count;
        return sum - of(EventKind::Nccl);
    }
    ImportCounts& operator+=(const ImportCounts& other) {
        for (size_t index = 0; index < total.size(); ++index) {
            total[index] += other.total[index];
            untimed[index] += other.untimed[index];
        }
        return *this;
    }
};

}  // namespace lanescope
