// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "capture/log/MomentMessage.h"

namespace lanescope::capture {

/// The reading end of the pipe through which agents tell that a chosen range began or ended.
class MomentPipe {
  public:
    /// Opens the pipe of a run, which must be there; without it nothing ever comes.
    explicit MomentPipe(const std::filesystem::path& runFolder);
    MomentPipe(const MomentPipe&) = delete;
    MomentPipe& operator=(const MomentPipe&) = delete;
    ~MomentPipe();

    /// Readable when there is a moment; -1 without a pipe.
    int descriptor() const { return descriptor_; }
    /// Adds the moments that wait.
    void take(std::vector<log::MomentMessage>& moments);

  private:
    int descriptor_ = -1;
};

}  // namespace lanescope::capture
