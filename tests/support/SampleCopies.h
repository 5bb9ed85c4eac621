// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <filesystem>
#include <string>

#include "tests/support/TemporaryFolder.h"

namespace lanescope {

/// Copies of the sample traces, for programs that leave an index next to their input; removed at
/// the end with their folder.
class SampleCopies {
  public:
    SampleCopies() {
        for (const auto& each : std::filesystem::directory_iterator(LANESCOPE_SAMPLES))
            if (each.path().extension() == ".gz")
                std::filesystem::copy_file(each.path(), folder_.path() / each.path().filename());
    }
    /// Selected by a part of the name: "nvlink".
    QString operator()(const std::string& name) const {
        const std::string file = "resnet152-" + name + ".sqlite.gz";
        return QString::fromStdString(folder_ / file.c_str());
    }

  private:
    TemporaryFolder folder_;
};

}  // namespace lanescope
