// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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
    static constexpr uint32_t noTid = 0xffffffff;
    /// A row of the Chrome trace; `tid` is `noTid` for what finds no room.
    struct Row {
        int64_t pid = 0;
        uint32_t tid = 0;
    };
    struct NamedRow {
        Row row;
        std::string name;
    };

    /// O(n log n) in the events.
    explicit ChromeRows(const Trace& trace);

    /// Of an API call, push/pop range or GPU operation. O(1).
    Row rowOf(EventRef event) const;
    /// Of what a thread does outside of slices: marks and start/end ranges.
    Row rowOfThread(uint32_t thread) const;
    static int64_t pidOfGpu(uint32_t gpu);
    /// Its PID; of hosts beyond the first one that tells them apart.
    static int64_t pidOf(const Process& process);
    /// Every row but those of processes as a whole.
    const std::vector<NamedRow>& names() const { return names_; }

  private:
    void placeCpu();
    void placeGpu();
    uint32_t& tidOf(EventRef event);

    const Trace& trace_;
    /// By kind and row.
    std::array<std::vector<uint32_t>, EventRef::kindLimit> tids_;
    std::vector<NamedRow> names_;
};

}  // namespace lanescope
