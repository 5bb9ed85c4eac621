#pragma once

#include <filesystem>

#include "capture/sample/SampleLog.h"

namespace lanescope {

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
    /// Writes the moments that wait into the log. True if there were any.
    bool take(SampleLog& log);

  private:
    int descriptor_ = -1;
};

}  // namespace lanescope
