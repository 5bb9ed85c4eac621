// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

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

}  // namespace lanescope::capture
