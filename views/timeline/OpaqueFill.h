// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPainter>
#include <QRgb>
#include <cstddef>

namespace lanescope::views {

/// `over` with `share` of 1 on `under`, as if it were translucent.
inline QRgb blended(QRgb under, QRgb over, double share) {
    const int part = static_cast<int>(256 * share);
    const auto channel = [&](int below, int above) { return below + (above - below) * part / 256; };
    return qRgb(channel(qRed(under), qRed(over)), channel(qGreen(under), qGreen(over)),
                channel(qBlue(under), qBlue(over)));
}

/// Fills many small rectangles with opaque colours: straight into the pixels where the painter
/// paints on an image of 32 bits with nothing but shifting and scaling, else through the painter,
/// with the same result. A timeline far out is tens of thousands of rectangles of a pixel's width,
/// and what QPainter does before it writes one takes ten times as long as writing it.
class OpaqueFill {
  public:
    /// To be made anew whenever the clip or transformation of `painter` changes, or its image.
    explicit OpaqueFill(QPainter& painter);

    /// As `QPainter::fillRect` without antialiasing. `color` is taken as opaque.
    void fill(const QRectF& area, QRgb color) {
        if (pixels_ == nullptr) return painter_.fillRect(area, QColor::fromRgb(color));
        fillPixels(area, color | 0xff000000u);
    }

  private:
    void fillPixels(const QRectF& area, QRgb color);

    QPainter& painter_;
    QRgb* pixels_ = nullptr;       ///< Of the image; null to go through the painter.
    std::ptrdiff_t lineStep_ = 0;  ///< In pixels.
    double scaleX_ = 1, scaleY_ = 1, shiftX_ = 0, shiftY_ = 0;
    int left_ = 0, top_ = 0, right_ = 0, bottom_ = 0;  ///< What may be painted, in device pixels.
};

}  // namespace lanescope::views
