#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Where slices stand in a Chrome trace. Slices of one row (one tid) must nest or not touch at all,
/// else viewers draw them wrong; so what overlaps goes to further rows: "Stream 7 (2)". GPU work
/// never nests, calls and push/pop ranges do.
class ChromeRows {
  public:
    static constexpr uint32_t noRow = 0xffffffff;
    /// A row of the Chrome trace; `tid` is `noRow` for what finds no room.
    struct Place {
        int64_t pid = 0;
        uint32_t tid = 0;
    };
    struct NamedPlace {
        Place place;
        std::string name;
    };

    /// O(n log n) in the events.
    explicit ChromeRows(const Trace& trace);

    /// Of an API call, push/pop range or GPU operation. O(1).
    Place placeOf(EventRef event) const;
    /// Of what a thread does outside of slices: marks and start/end ranges.
    Place placeOfThread(uint32_t thread) const;
    static int64_t pidOfGpu(uint32_t gpu);
    /// Every row but those of processes as a whole.
    const std::vector<NamedPlace>& names() const { return names_; }

  private:
    void placeCpu();
    void placeGpu();
    std::vector<uint32_t>& tidsOf(EventKind kind);
    const std::vector<uint32_t>& tidsOf(EventKind kind) const;

    const Trace& trace_;
    std::vector<uint32_t> apiTid_, nvtxTid_, kernelTid_, memcpyTid_, memsetTid_;
    std::vector<NamedPlace> names_;
};

}  // namespace lanescope
