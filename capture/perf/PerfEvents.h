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

namespace lanescope::capture {

/// A ring buffer that the kernel writes records into, and we read. One thread.
class PerfRing {
  public:
    /// Maps the buffer of an event, `dataBytes` long, a power of two of pages. What it holds is
    /// false if it cannot; `errno` says why.
    PerfRing(int event, size_t dataBytes);
    /// One that lies at `page` already, its data at `data`: for tests.
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

    /// Hands what is new to `take(first, rest)`, two pieces of which the second may be empty, and
    /// gives the room back to the kernel after that. `take` is not called if there is nothing.
    template <class Take>
    void drain(Take take) {
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

/// The events of a process that is about to run a program, and of all that comes of it: one for
/// each core, since the kernel lets no other be inherited and read. Nothing of it is in the
/// program; what it costs there is the kernel's. One thread.
class PerfEvents {
  public:
    /// Opens them for `process`, which has to be a child of ours that has not run its program yet.
    /// Fails with what refuses them and what would allow it.
    static Result<PerfEvents> open(pid_t process, PerfSettings settings);
    PerfEvents(PerfEvents&& other) noexcept = default;
    PerfEvents& operator=(PerfEvents&&) = delete;
    ~PerfEvents();

    /// As they were granted.
    const PerfSettings& settings() const { return settings_; }
    const std::vector<int>& descriptors() const { return descriptors_; }
    std::vector<PerfRing>& rings() { return rings_; }

  private:
    PerfEvents() = default;

    PerfSettings settings_;
    std::vector<int> descriptors_;
    std::vector<PerfRing> rings_;
};

/// Whether this process may have such events: tries it on itself. Fails as `open` does. What is
/// granted may leave the kernel out.
Result<PerfSettings> tryPerfEvents();

/// What refuses events, and what would allow them. `paranoid` is what stands in
/// /proc/sys/kernel/perf_event_paranoid, empty if it is not there; `isFiltered` whether a seccomp
/// filter is upon us.
std::string perfRefusal(int error, const std::string& paranoid, bool isFiltered);

/// Writes what the kernel tells into a file, on a thread of its own that takes no signals. It holds
/// no more memory than the rings and a copy of one.
class PerfDrain {
  public:
    static constexpr std::chrono::milliseconds usualPatience{30'000};

    PerfDrain(PerfEvents events, PerfLog log);
    /// Begins. False if no thread or memory can be had; from then on it takes no more of that.
    bool start();
    /// Takes what is left and writes the end. Waits for the disk, but not for longer than
    /// `patience`: false then, and the thread is left with its file, of which the end is missing.
    /// Once; the destructor does it, too.
    [[nodiscard]] bool end(std::chrono::milliseconds patience = usualPatience);
    ~PerfDrain();
    PerfDrain(const PerfDrain&) = delete;

  private:
    struct Work;

    std::shared_ptr<Work> work_;  ///< The thread's, too, which may be left.
    std::thread thread_;
};

}  // namespace lanescope::capture
