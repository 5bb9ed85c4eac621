// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>
#include <array>

#include "views/timeline/OpaqueFill.h"

namespace lanescope::views {

/// Fills what is too small to be told apart in one lane: neighbouring pixels with slices in them,
/// from left to right. Those that look alike become one fill. How much of a pixel is busy is the
/// height of a bar where there is room to read it, else the strength of its colour.
class RunPainter {
  public:
    RunPainter(OpaqueFill& fill, const QRectF& area, QRgb background);

    /// A rectangle of which `coverage` is busy.
    void add(double left, double right, QRgb color, float coverage) {
        const int level = levelOf(coverage);
        const bool continues =
            right_ > left_ && color == color_ && level == level_ && left - right_ <= 0.01;
        if (!continues) {
            flush();
            left_ = left;
            color_ = color;
            level_ = level;
        }
        right_ = right;
    }
    /// Fills what was added last; before something else is painted, and at the end.
    void flush();

  private:
    /// Few levels make long fills.
    static constexpr int levelCount = 12;
    static int levelOf(float coverage) {
        // Rounded up, without a call: this runs for every rectangle.
        const float exact = coverage * levelCount;
        const auto whole = static_cast<int>(exact);
        const int level = static_cast<float>(whole) < exact ? whole + 1 : whole;
        return level < 1 ? 1 : level > levelCount ? levelCount : level;
    }

    OpaqueFill& fill_;
    QRectF area_;
    QRgb background_;
    bool isTall_;
    std::array<double, levelCount + 1> heights_{};  ///< Of a bar, by level.

    double left_ = 0, right_ = 0;  ///< Of what is not filled yet.
    QRgb color_ = 0;
    int level_ = 0;
};

}  // namespace lanescope::views
