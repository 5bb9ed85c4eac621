// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QHash>
#include <QPainter>
#include <QRgb>
#include <QString>
#include <cstddef>
#include <string>
#include <vector>

#include "model/trace/Trace.h"
#include "views/theme/Theme.h"

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

/// The meaning of a slice's colour.
enum class ColorMode : uint8_t {
    Name,            ///< Kernels by name, everything else by kind.
    Kind,            ///< Kernels, copies by direction, waits, ranges, ...
    Stream,          ///< GPU work by its stream.
    NcclOperation,   ///< NCCL calls and kernels by operation; everything else is grey.
    PythonLine,      ///< Calls and GPU work by their Python line.
    PythonFunction,  ///< The same by Python function.
};

/// A colour per name of a trace, 0 until set. Stored in blocks that are allocated when one of their
/// names is used: of millions of names, only few are ever drawn.
class NameColors {
  public:
    void reset(size_t nameCount) {
        nameCount_ = nameCount;
        pieces_.clear();
        pieces_.resize((nameCount + pieceSize - 1) / pieceSize);
    }
    /// Null for a name that the trace does not have. O(1).
    QRgb* at(StringIndex name) {
        if (name >= nameCount_) return nullptr;
        std::vector<QRgb>& piece = pieces_[name / pieceSize];
        if (piece.empty()) piece.resize(pieceSize);
        return &piece[name % pieceSize];
    }

  private:
    static constexpr size_t pieceSize = 1024;
    size_t nameCount_ = 0;
    std::vector<std::vector<QRgb>> pieces_;
};

/// The colours of the slices of one trace in one theme, fast enough for every rectangle of every
/// frame: each name is hashed once, each text colour computed once.
class SliceColors {
  public:
    void reset(TracePtr trace, const Theme& theme, ColorMode mode = ColorMode::Name);

    struct DrawnSlice {
        uint32_t slice = 0;  ///< The slice, or the first of a run.
        SliceCategory category = SliceCategory::Busy;
        StringIndex name = 0;
    };
    /// Returns the colour of one slice. NVTX ranges and their projections keep the colour set by the program.
    QRgb fillOf(const Lane& lane, const DrawnSlice& drawn);
    QRgb fillOf(const Lane& lane, uint32_t slice) {
        return fillOf(lane, {slice, lane.category[slice], lane.name[slice]});
    }
    /// Returns the colour of a run of slices: that of the longest of them.
    QRgb fillOfRun(const Lane& lane, const DrawnSlice& drawn);
    /// Returns the meaning of the slice's colour for a legend: "stream 7"; empty if it is the name.
    QString meaningOf(const Lane& lane, uint32_t slice) const;
    /// Returns the colour of one category in every mode.
    QRgb fillOf(SliceCategory category) const;
    /// Returns the colour of a line around or next to `fill`.
    QRgb edgeOf(QRgb fill) const;
    QRgb textOn(QRgb fill);

  private:
    QRgb programColor(EventRef event) const;
    QRgb colorByName(const Lane& lane, const DrawnSlice& drawn);
    QRgb colorByStream(const Lane& lane, uint32_t slice) const;
    QRgb colorByOperation(const DrawnSlice& drawn);
    QRgb colorByPython(EventRef event);
    /// Returns the frame of the Python line of an event, or `noIndex`.
    uint32_t placeOf(EventRef event) const;
    std::string operationOf(SliceCategory category, StringIndex name) const;

    TracePtr trace_;
    Theme theme_;
    ColorMode mode_ = ColorMode::Name;
    QRgb grey_ = 0;
    NameColors byKernelName_, byRangeName_, byOperation_;
    NameColors byPlace_;            ///< By row of `Trace::stacks`.
    std::vector<uint32_t> places_;  ///< `ownPlaces`, while colours are by Python.
    std::array<QRgb, sliceCategoryCount> byCategory_{};
    QHash<StringIndex, StringIndex> operations_;  ///< By name of a communicating kernel, while colours are by it.
    QHash<QRgb, QRgb> textByFill_;
};

}  // namespace lanescope::views
