// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/sample/ProcFile.h"
#include "capture/sample/SampleLog.h"

namespace lanescope::capture {

/// What the control group that we are in allows and uses: processor time and memory, of version 1
/// or
/// 2. Where there is no limit there is no counter of it.
class CgroupLimits {
  public:
    explicit CgroupLimits(SampleLog& log) : log_(log) {}

    /// Looks for the files; true if any can be read.
    bool begin();
    void sample(SampleBatch& batch, std::vector<char>& buffer);

  private:
    struct Value {
        ProcFile file;
        uint32_t counter = 0;
        std::string_view key;  ///< Of the line whose number it is; empty: the first number.
        double factor = 1;     ///< From the file's unit to ours; 0 for "quota period".
    };
    void add(const std::string& path, std::string_view key, double factor, const char* name,
             const char* title, const char* unit, log::CounterMeaning meaning);
    bool read(const Value& value, std::vector<char>& buffer, double& number) const;

    SampleLog& log_;
    std::vector<Value> values_;
    ProcFile period_;  ///< Version 1 only.
};

}  // namespace lanescope::capture
