// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <functional>

#include "model/format/TimeRange.h"
#include "tests/bench/viewer_scale/Times.h"

namespace lanescope {

/// What frames took, and what is worth knowing of the one that took longest.
class FrameTimes {
  public:
    /// Paints a frame: `move` says what changes, `paint` paints, `shown` tells what is visible
    /// then.
    void paint(const std::function<void()>& move, const std::function<void()>& paint,
               const std::function<TimeRange()>& shown);

    const Times& cpu() const { return cpu_; }  ///< Of all threads.
    const Times& wall() const { return wall_; }
    int64_t mostFaults() const { return mostFaults_; }  ///< Pages that were in RAM.
    int64_t mostReads() const { return mostReads_; }    ///< Pages that came from the disk.
    /// Number and visible range of the slowest frame, and where its CPU time went.
    const QString& slowest() const { return slowest_; }

  private:
    Times cpu_, wall_;
    int64_t mostFaults_ = 0;
    int64_t mostReads_ = 0;
    double slowestMs_ = 0;
    int count_ = 0;
    QString slowest_;
};

}  // namespace lanescope
