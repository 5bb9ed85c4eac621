// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/perf/AddressSpaces.h"
#include "capture/perf/ElfFile.h"
#include "capture/perf/LibDw.h"

namespace lanescope::capture {

/// A function of a file, as samples met it.
struct NativeFunction {
    std::string name;  ///< As it stands in the file; "[libc.so.6]" if it has none.
    std::string file;  ///< "[kernel]" and its like for what is no file.
    bool isNamed = false;
};

/// The stack of a sample: functions by their number, innermost first.
struct NativeStack {
    std::vector<uint32_t> functions;
    bool isWhole = false;  ///< Down to where the thread began.
};

/// Follows the stacks of samples, and names what is in them by the files that lie on this machine
/// now. One thread.
class PerfStacks {
  public:
    /// `spaces` is sealed and outlives it. With `usesLibDw` stacks are followed by libdw, if it is
    /// there, for `patienceNs` in all, and by frame pointers then.
    PerfStacks(const AddressSpaces& spaces, bool usesLibDw, int64_t patienceNs);
    ~PerfStacks();

    /// Empty for a sample without registers.
    NativeStack of(const PerfSample& sample);
    const NativeFunction& function(uint32_t number) const { return functions_[number]; }
    bool hasLibDw() const { return libDw_ != nullptr; }
    /// So many were followed by frame pointers though libdw is there: it had no more time.
    uint64_t outOfTime() const { return outOfTime_; }

  private:
    ElfFile* fileOf(uint32_t number);
    LibDw::Space* spaceOf(uint32_t number);
    bool isBeginning(uint32_t space, uint64_t address, uint32_t function, bool isInnermost);
    uint32_t functionAt(uint32_t space, uint64_t address);
    uint32_t number(std::string name, const std::string& file, bool isNamed);

    const AddressSpaces& spaces_;
    std::unique_ptr<LibDw> libDw_;  ///< Null without it. Before what was made by it.
    const int64_t patienceNs_;
    int64_t spentNs_ = 0;
    uint64_t outOfTime_ = 0;
    std::unordered_map<uint32_t, std::optional<ElfFile>> files_;
    std::unordered_map<uint32_t, LibDw::SpacePtr> unwound_;  ///< By space.
    std::vector<NativeFunction> functions_;
    std::map<std::pair<std::string, std::string>, uint32_t> numbers_;
    /// Functions by address, of each space.
    std::unordered_map<uint32_t, std::unordered_map<uint64_t, uint32_t>> known_;
    size_t knownCount_ = 0;
};

}  // namespace lanescope::capture
