// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanescope::agent {

/// How many ranges are open on a thread, by the number of their domain. Takes memory from the
/// system alone, where a program has more than a few domains, and never throws. One thread.
class OpenRanges {
  public:
    OpenRanges() = default;
    OpenRanges(const OpenRanges&) = delete;
    OpenRanges& operator=(const OpenRanges&) = delete;
    ~OpenRanges();

    /// The count of a domain; null if there is no memory for it.
    int32_t* of(uint32_t domain) {
        if (domain < fewDomains) [[likely]]
            return &few_[domain];
        return domain < capacity_ || grow(domain) ? &many_[domain] : nullptr;
    }
    /// No range is open any more.
    void clear();

  private:
    static constexpr uint32_t fewDomains = 64;
    bool grow(uint32_t domain);

    int32_t few_[fewDomains] = {};
    int32_t* many_ = nullptr;  // by domain, the first ones unused
    size_t capacity_ = 0;
};

}  // namespace lanescope::agent
