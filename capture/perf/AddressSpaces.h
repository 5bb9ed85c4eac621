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

/// A piece of a file that lies in the memory of a process, to be executed.
struct Mapping {
    uint64_t start = 0, end = 0, fileOffset = 0;
    uint32_t file = 0;  ///< A number of `AddressSpaces::file`.
};

/// What is mapped where, in one program that was executed, and in what it forked: these have the
/// same libraries at the same addresses. Where one took the place of another the later one counts.
class AddressSpace {
  public:
    void add(Mapping mapping);
    /// The one that holds `address`; null if there is none. O(log n).
    const Mapping* find(uint64_t address) const;
    const std::map<uint64_t, Mapping>& all() const { return mappings_; }

  private:
    std::map<uint64_t, Mapping> mappings_;  ///< By start; they do not overlap.
};

/// The address spaces of all processes of a recording. Takes what it is told in any order; `seal`
/// puts it in that of time.
class AddressSpaces {
  public:
    void add(const PerfMapping& mapping);
    void add(const PerfName& name);
    void add(const PerfFork& fork);
    /// After the last of them, before the first question.
    void seal();

    static constexpr uint32_t none = UINT32_MAX;
    /// Which space a process had then; `none` if it is not known.
    uint32_t of(uint32_t process, int64_t timeNs) const;
    const AddressSpace& space(uint32_t number) const { return spaces_[number]; }
    size_t count() const { return spaces_.size(); }
    const std::string& file(uint32_t number) const { return files_[number]; }
    size_t fileCount() const { return files_.size(); }
    /// What was not kept, since it was too much.
    uint64_t leftOut() const { return leftOut_; }

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
    std::unordered_map<uint32_t, std::vector<Since>> spacesOf_;  ///< By process.
    std::vector<std::string> files_;
    std::unordered_map<std::string, uint32_t> numbers_;
    uint64_t leftOut_ = 0;
};

}  // namespace lanescope::capture
