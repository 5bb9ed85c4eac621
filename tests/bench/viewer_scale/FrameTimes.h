// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <functional>

#include "model/format/TimeRange.h"
#include "tests/bench/viewer_scale/Times.h"

namespace lanescope {

/// Frame times, with details of the slowest frame.
class FrameTimes {
  public:
    /// Paints a frame: `move` changes the view, `paint` paints, `shown` describes the visible part.
    void paint(const std::function<void()>& move, const std::function<void()>& paint,
               const std::function<TimeRange()>& shown);

    const Times& cpu() const { return cpu_; }  ///< CPU times of all threads.
    const Times& wall() const { return wall_; }
    int64_t maxFaults() const { return maxFaults_; }  ///< Pages that were in RAM.
    int64_t maxReads() const { return maxReads_; }    ///< Pages read from the disk.
    /// Number and visible range of the slowest frame, and its CPU time by place.
    const QString& slowest() const { return slowest_; }

  private:
    Times cpu_, wall_;
    int64_t maxFaults_ = 0, maxReads_ = 0;
    double slowestMs_ = 0;
    int count_ = 0;
    QString slowest_;
};

}  // namespace lanescope
