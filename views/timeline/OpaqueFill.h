// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPainter>
#include <QRgb>
#include <cstddef>

namespace lanescope::views {

/// Mixes `share` (up to 1) of `over` into `under`, like a translucent layer.
inline QRgb blended(QRgb under, QRgb over, double share) {
    const int part = static_cast<int>(256 * share);
    const auto channel = [&](int below, int above) { return below + (above - below) * part / 256; };
    return qRgb(channel(qRed(under), qRed(over)), channel(qGreen(under), qGreen(over)),
                channel(qBlue(under), qBlue(over)));
}

/// Fills many small rectangles with opaque colours. Writes directly into the pixels if the painter paints on a 32-bit
/// image with only translation and scaling, else uses the painter, with the same result. A zoomed-out timeline has tens
/// of thousands of rectangles one pixel wide, and QPainter's setup takes ten times as long as writing one.
class OpaqueFill {
  public:
    /// Construct a new one after each change of the painter's clip, transformation or image.
    explicit OpaqueFill(QPainter& painter);

    /// Works like `QPainter::fillRect` without antialiasing. `color` is treated as opaque.
    void fill(const QRectF& area, QRgb color) {
        if (pixels_ == nullptr) return painter_.fillRect(area, QColor::fromRgb(color));
        fillPixels(area, color | 0xff000000u);
    }

  private:
    void fillPixels(const QRectF& area, QRgb color);

    QPainter& painter_;
    QRgb* pixels_ = nullptr;       ///< The image's pixels; null to use the painter.
    std::ptrdiff_t lineStep_ = 0;  ///< In pixels.
    double scaleX_ = 1, scaleY_ = 1, shiftX_ = 0, shiftY_ = 0;
    int left_ = 0, top_ = 0, right_ = 0, bottom_ = 0;  ///< The clip in device pixels.
};

}  // namespace lanescope::views
