// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/RunPainter.h"

#include <algorithm>
#include <cmath>

#include "views/timeline/blend.h"

namespace lanescope::views {
namespace {

// Sparse runs must still be seen, so they never get fainter than this.
constexpr double faintest = 0.35;
constexpr double leastBarHeight = 12;

}  // namespace

RunPainter::RunPainter(OpaqueFill& fill, const QRectF& area, QRgb background)
    : fill_(fill), area_(area), background_(background), isTall_(area.height() >= leastBarHeight) {
    for (int level = 1; level < levelCount; ++level)
        heights_[static_cast<size_t>(level)] =
            std::max(1.0, std::round(area.height() * level / levelCount));
    heights_[levelCount] = area.height();
}

void RunPainter::flush() {
    const double width = right_ - left_;
    if (width <= 0) return;
    if (isTall_) {
        const double height = heights_[static_cast<size_t>(level_)];
        if (level_ < levelCount)
            fill_.fill(QRectF(left_, area_.top(), width, area_.height() - height),
                       blended(background_, color_, faintest));
        fill_.fill(QRectF(left_, area_.bottom() - height, width, height), color_);
    } else {
        const double share = double(level_) / levelCount;
        fill_.fill(QRectF(left_, area_.top(), width, area_.height()),
                   blended(background_, color_, faintest + (1 - faintest) * share));
    }
    right_ = left_;
}

}  // namespace lanescope::views
