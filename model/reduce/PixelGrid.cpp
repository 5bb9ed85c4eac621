// SPDX-License-Identifier: Apache-2.0
#include "model/reduce/PixelGrid.h"

namespace lanescope {

namespace {

/// A grid of as many steps a pixel, or of up to twice as many.
constexpr int64_t stepsPerPixel = 2;

}  // namespace

PixelGrid::PixelGrid(TimeRange range, int pixelWidth) {
    const int64_t durationNs = range.durationNs();
    const int64_t wholeNs = durationNs / pixelWidth;
    const int64_t restNs = durationNs % pixelWidth;
    while (int64_t{stepsPerPixel} << (shift_ + 1) <= wholeNs) ++shift_;
    const int64_t step = int64_t{1} << shift_;
    const auto down = [step](int64_t timeNs) { return timeNs & -step; };

    edges_.reserve(static_cast<size_t>(pixelWidth) + 1);
    edges_.push_back(down(range.startNs));
    // The edge before rounding is `timeNs + part / pixelWidth`, exactly.
    int64_t timeNs = range.startNs;
    int64_t part = 0;
    for (int pixel = 0; pixel < pixelWidth; ++pixel) {
        timeNs += wholeNs;
        part += restNs;
        if (part >= pixelWidth) {
            part -= pixelWidth;
            ++timeNs;
        }
        edges_.push_back(down(timeNs + (part > 0 ? 1 : 0) + step - 1));
    }
}

}  // namespace lanescope
