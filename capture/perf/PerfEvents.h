// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capture/perf/PerfLog.h"
#include "capture/perf/perfAttributes.h"
#include "model/format/Result.h"
#include "model/format/UniqueFd.h"

namespace lanescope::capture {

/// A ring buffer that the kernel writes and this process reads. One thread.
class PerfRing {
  public:
    /// Maps the buffer of an event, `dataBytes` long, a power of two of pages. On failure the
    /// object converts to false and errno is set.
    PerfRing(int event, size_t dataBytes);
    /// Uses a mapped buffer at `page`, with its data at `data`: for tests.
    PerfRing(perf_event_mmap_page* page, std::byte* data, size_t dataBytes)
        : page_(page), data_(data), dataBytes_(dataBytes) {}
    PerfRing(PerfRing&& other) noexcept
        : page_(std::exchange(other.page_, nullptr)),
          data_(other.data_),
          dataBytes_(other.dataBytes_),
          mappedBytes_(std::exchange(other.mappedBytes_, 0)) {}
    PerfRing& operator=(PerfRing&&) = delete;
    ~PerfRing();

    explicit operator bool() const { return page_ != nullptr; }
    size_t dataBytes() const { return dataBytes_; }

    /// Passes new data to `take(first, rest)`, two pieces of which the second may be empty, and
    /// then returns the space to the kernel. Does not call `take` without new data.
    void drain(auto take) {
        const auto [first, rest, head] = waiting();
        if (first.empty()) return;
        take(first, rest);
        release(head);
    }

  private:
    struct Waiting {
        std::span<const std::byte> first, rest;
        uint64_t head;
    };
    Waiting waiting() const;
    void release(uint64_t head);

    perf_event_mmap_page* page_ = nullptr;
    std::byte* data_ = nullptr;
    size_t dataBytes_ = 0, mappedBytes_ = 0;
};

/// Perf events of a process that is about to run a program, and of all its descendants. One per
/// core, since the kernel allows only those to be inherited and read. Nothing runs inside the
/// program; the cost there is the kernel's. One thread.
class PerfEvents {
  public:
    /// Opens the events of `process`, a child of ours that has not run its program yet. Fails with
    /// the refusing setting and the remedy.
    static Result<PerfEvents> open(pid_t process, PerfSettings settings);
    const PerfSettings& settings() const { return settings_; }
    const std::vector<UniqueFd>& descriptors() const { return descriptors_; }
    std::vector<PerfRing>& rings() { return rings_; }

  private:
    PerfEvents() = default;

    PerfSettings settings_;
    std::vector<UniqueFd> descriptors_;
    std::vector<PerfRing> rings_;
};

/// Checks that this process may open such events, by trying it on itself. Fails like `open`. The
/// granted settings may exclude the kernel.
Result<PerfSettings> tryPerfEvents();

/// Returns the reason of a refusal, and the remedy. `paranoid` is the content of /proc/sys/kernel/perf_event_paranoid,
/// empty if missing; `isFiltered` is true if a seccomp filter is active.
std::string perfRefusal(int error, const std::string& paranoid, bool isFiltered);

/// Writer of the kernel's records to a file, on a thread of its own that takes no signals. Needs
/// only the memory of the rings and a copy of one.
class PerfDrain {
  public:
    static constexpr std::chrono::milliseconds defaultTimeout{30'000};

    PerfDrain(PerfEvents events, PerfLog log);
    /// Starts the thread. Returns false without a thread or memory; from then on it allocates nothing.
    bool start();
    /// Writes the rest and the end. Waits for the disk, but at most `timeout`. Returns false on
    /// timeout; the thread then keeps its file, without an end. Once; the destructor does it too.
    [[nodiscard]] bool end(std::chrono::milliseconds timeout = defaultTimeout);
    ~PerfDrain();

  private:
    struct Work;

    std::shared_ptr<Work> work_;  ///< Shared with the thread, which may be abandoned.
    std::thread thread_;
};

}  // namespace lanescope::capture
