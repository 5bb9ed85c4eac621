// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/perf/perfRecords.h"

namespace lanescope::capture {

/// An executable mapping of a piece of a file in the memory of a process.
struct Mapping {
    uint64_t start = 0, end = 0, fileOffset = 0;
    uint32_t file = 0;  ///< A number of `AddressSpaces::file`.
};

/// Mappings of one executed program and of its forks, which have the same libraries at the same
/// addresses. A later mapping replaces an earlier one.
class AddressSpace {
  public:
    void add(Mapping mapping);
    const Mapping* find(uint64_t address) const;
    const std::map<uint64_t, Mapping>& all() const { return mappings_; }

  private:
    std::map<uint64_t, Mapping> mappings_;  ///< By start; they do not overlap.
};

/// Address spaces of all processes of a recording. Accepts records in any order; `seal` sorts them by time.
class AddressSpaces {
  public:
    void add(const PerfMapping& mapping);
    void add(const PerfName& name);
    void add(const PerfFork& fork);
    /// Sorts by time. Call it after the last record and before the first query.
    void seal();

    static constexpr uint32_t none = UINT32_MAX;
    /// Returns the space of a process at a time; `none` if unknown.
    uint32_t of(uint32_t process, int64_t timeNs) const;
    const AddressSpace& space(uint32_t number) const { return spaces_[number]; }
    size_t count() const { return spaces_.size(); }
    const std::string& file(uint32_t number) const { return files_[number]; }
    /// Returns the number of records skipped because of the limits.
    uint64_t skipped() const { return skipped_; }

  private:
    enum class Kind : uint8_t { Map, Exec, Fork };
    struct Change {
        int64_t timeNs;
        uint32_t process, parent;
        Kind kind;
        Mapping mapping;
    };
    struct Since {
        int64_t timeNs;
        uint32_t space;
    };
    bool hasRoom();

    std::vector<Change> changes_;
    std::vector<AddressSpace> spaces_;
    std::unordered_map<uint32_t, std::vector<Since>> spacesOf_;
    std::vector<std::string> files_;
    std::unordered_map<std::string, uint32_t> numbers_;
    uint64_t skipped_ = 0;
};

}  // namespace lanescope::capture
