// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "model/importers/sqlite/LoadContext.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/Tables.h"

namespace lanescope {

/// What the readers of a file of ROCm's profilers share: its texts, and when it begins. Times are
/// since the machine was started.
class RocmContext {
  public:
    explicit RocmContext(LoadContext& context) : context_(context) {}

    LoadContext& load() { return context_; }
    TraceBuilder& builder() { return context_.builder(); }

    /// Lets the trace begin no later than the first row of the table, by that column.
    void beginWith(const char* table, const char* column);
    /// A time of the file by the clock of the trace, which begins with the first event.
    TimeRange shifted(TimeRange times) const {
        return {times.startNs - zeroNs(), times.endNs - zeroNs()};
    }
    int64_t zeroNs() const { return firstNs_ == never ? 0 : firstNs_; }

    /// Texts by number, from a table with the columns `id` and `string`; those of another table are
    /// forgotten.
    void readTexts(const char* table);
    /// 0 for none.
    StringIndex text(int64_t number) const;
    std::string_view wordOf(int64_t number) { return builder().text(text(number)); }

    /// Names of a kernel for its launch configuration, from what the file calls it.
    void nameKernel(LaunchConfig& config, StringIndex name);

  private:
    static constexpr int64_t never = greatestTimeNs;

    LoadContext& context_;
    MixedMap<int64_t, StringIndex> texts_, demangled_;
    int64_t firstNs_ = never;
};

/// A copy by what ROCm calls it: "CopyHostToDevice", "MEMORY_COPY_DEVICE_TO_DEVICE". `Unknown` for
/// what is none.
MemcpyKind rocmCopyKind(std::string_view name);

}  // namespace lanescope
