// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/perf/LibDw.h"
#include "capture/perf/perfAttributes.h"

namespace lanescope::capture {

/// A program or library file: addresses of its segments and names of its functions. Accepts any
/// bytes; the time is bounded.
class ElfFile {
  public:
    /// Maps the file. Returns nullopt if it is no 64-bit file for this machine. The first query reads the names.
    static std::optional<ElfFile> open(const std::string& path);
    /// Uses an image in memory that outlives the object.
    static std::optional<ElfFile> at(std::span<const std::byte> bytes);
    ElfFile(ElfFile&& other) noexcept;
    ElfFile& operator=(ElfFile&&) = delete;
    ~ElfFile();

    /// Returns the difference between addresses in memory and as linked, if the piece from
    /// `fileOffset` on is mapped at `address`. Returns nullopt if no executable segment is there.
    std::optional<uint64_t> bias(uint64_t address, uint64_t fileOffset) const;
    /// Returns the linked address of its first segment, a whole number of pages.
    uint64_t firstAddress() const { return firstAddress_; }
    /// Returns the linked address of the entry point; for a library perhaps 0.
    uint64_t entry() const { return entry_; }

    /// Returns the name in the file of the function at that linked address, at most 64 KiB of it;
    /// empty if there is none. The first call is O(n log n) in the symbols, then O(log n).
    std::string_view nameAt(uint64_t address);

  private:
    struct Part {
        uint64_t offset, address, fileBytes;
    };
    struct Symbol {
        uint64_t address;
        uint64_t bytes;
        uint64_t name;  ///< Offset in the file.
    };
    explicit ElfFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
    bool readHeads();
    void readSymbols();
    void readTable(uint64_t symbols, uint64_t symbolBytes, uint64_t names, uint64_t nameBytes, size_t& left);

    std::span<const std::byte> bytes_;
    bool isMapped_ = false, hasSymbols_ = false;
    std::vector<Part> executable_;
    uint64_t firstAddress_ = 0, entry_ = 0;
    std::vector<Symbol> symbols_;  ///< By address.
};

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

/// A function of a file, found in samples.
struct NativeFunction {
    std::string name;  ///< Name in the file; "[libc.so.6]" if it has none.
    std::string file;  ///< "[kernel]" and similar if it is no file.
    bool isNamed = false;
};

/// Stack of a sample: function numbers, innermost first.
struct NativeStack {
    std::vector<uint32_t> functions;
    bool isWhole = false;  ///< Complete to the beginning of the thread.
};

/// Unwinder of the stacks of samples, which names functions by the files that are on this machine now. One thread.
class PerfStacks {
  public:
    /// `spaces` is sealed and outlives it. With `usesLibDw`, stacks are unwound by libdw, if
    /// available, for `unwindBudgetNs` in total, and by frame pointers afterwards.
    PerfStacks(const AddressSpaces& spaces, bool usesLibDw, int64_t unwindBudgetNs);
    ~PerfStacks();

    NativeStack of(const PerfSample& sample);
    const NativeFunction& function(uint32_t number) const { return functions_[number]; }
    bool hasLibDw() const { return libDw_ != nullptr; }
    /// Returns the number of stacks unwound by frame pointers because libdw had no time left.
    uint64_t outOfTime() const { return outOfTime_; }

  private:
    ElfFile* fileOf(uint32_t number);
    LibDw::Space* spaceOf(uint32_t number);
    bool isBeginning(uint32_t space, uint64_t address, uint32_t function, bool isInnermost);
    uint32_t functionAt(uint32_t space, uint64_t address);
    uint32_t number(std::string name, const std::string& file, bool isNamed);

    const AddressSpaces& spaces_;
    std::unique_ptr<LibDw> libDw_;  ///< Null without libdw. Declared before the objects made by it.
    const int64_t unwindBudgetNs_;
    int64_t spentNs_ = 0;
    uint64_t outOfTime_ = 0;
    std::unordered_map<uint32_t, std::optional<ElfFile>> files_;
    std::unordered_map<uint32_t, LibDw::SpacePtr> unwound_;  ///< By space.
    std::vector<NativeFunction> functions_;
    std::map<std::pair<std::string, std::string>, uint32_t> numbers_;
    /// Functions by address, per space.
    std::unordered_map<uint32_t, std::unordered_map<uint64_t, uint32_t>> known_;
    size_t knownCount_ = 0;
};

}  // namespace lanescope::capture
