// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/importers/sqlite/LoadContext.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/Tables.h"

namespace lanescope {

/// The shared state of the readers of a database of nvprof or of ROCm's profilers: its texts and its start.
class ProfileContext {
  public:
    explicit ProfileContext(LoadContext& context) : context_(context) {}

    LoadContext& load() { return context_; }
    TraceBuilder& builder() { return context_.builder(); }

    /// Moves the start of the trace to the first row of the table, by that column, if it is earlier.
    void beginWith(const char* table, const char* column);
    /// Calls `take(times)` for each further row with times (`RowReader::times`), on the clock of the trace, which
    /// begins with the first event.
    void forEachTimed(RowReader& reader, int start, int end, auto take) const {
        while (reader.next())
            if (const std::optional<TimeRange> times = reader.times(start, end)) take(times->shifted(-zeroNs()));
    }
    int64_t zeroNs() const { return firstNs_ == never ? 0 : firstNs_; }

    /// Reads texts by number. Number 0 means none. Replaces texts of an earlier table.
    void readTexts(const char* table, const char* numberColumn = "id", const char* textColumn = "string");
    /// Returns 0 for none.
    StringIndex text(int64_t number) const;
    std::string_view wordOf(int64_t number) { return builder().text(text(number)); }

    /// Counts a GPU operation that is not shown.
    void addOther(std::string_view name) { ++others_[std::string(name)]; }
    /// Adds a health note on each name of them.
    void noteOthers();

    /// Sets the names in a launch configuration from the kernel name of the file.
    void nameKernel(LaunchConfig& config, StringIndex name);

  private:
    static constexpr int64_t never = maxTimestampNs;

    LoadContext& context_;
    MixedMap<int64_t, StringIndex> texts_, demangled_;
    std::map<std::string, int64_t> others_;
    int64_t firstNs_ = never;
};

/// Returns the kind for a name of ROCm: "CopyHostToDevice", "MEMORY_COPY_DEVICE_TO_DEVICE". `Unknown` for other names.
MemcpyKind rocmCopyKind(std::string_view name);

}  // namespace lanescope
