// SPDX-License-Identifier: Apache-2.0
//
// Target for the JSON files that `record` and `doctor` leave.

#include "capture/collector/RunInfo.h"
#include "capture/machine/MeasuredPeaks.h"
#include "tests/fuzz/targets/Scratch.h"
#include "tests/fuzz/targets/targets.h"
#include "tests/support/files.h"

namespace lanescope::fuzz {

void readJson(Bytes bytes) {
    static const Scratch scratch;
    const auto path = scratch.write("file.json", textOf(bytes));
    const auto info = capture::RunInfo::load(folderOf(path), "file.json");
    require(info.has_value() || !info.error().sentence.empty(), "It was refused without a word.");
    if (info) {
        std::error_code ignored;
        std::filesystem::remove(scratch / "again.json", ignored);
        require(info->save(folderOf(path), "again.json").has_value(), "It cannot be written again.");
    }
    auto peaks = capture::MeasuredPeaks::load(path);
    require(peaks.has_value() || !peaks.error().sentence.empty(), "It was refused without a word.");
    if (peaks) peaks->merge(*capture::MeasuredPeaks::load(path));
}

}  // namespace lanescope::fuzz
