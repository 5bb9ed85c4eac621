// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QHash>
#include <QString>
#include <string>
#include <vector>

#include "model/trace/Trace.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

/// What the colour of a slice tells.
enum class ColorMode : uint8_t {
    Name,            ///< Kernels by name, everything else by kind.
    Kind,            ///< Kernels, copies by direction, waits, ranges, ...
    Stream,          ///< GPU work by its stream.
    NcclOperation,   ///< NCCL calls and kernels by operation; everything else is grey.
    PythonLine,      ///< Calls and GPU work by the line of Python that led to them.
    PythonFunction,  ///< The same by its function.
};

/// A colour for each name of a trace, 0 until somebody sets it. Kept in pieces that are made when
/// one of their names is asked for: there may be millions of names, of which few are ever seen.
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

/// The colours of the slices of one trace in one theme, fast enough to be asked for every rectangle
/// of every frame: each name is hashed once, each text colour worked out once.
class SliceColors {
  public:
    void reset(TracePtr trace, const Theme& theme, ColorMode mode = ColorMode::Name);

    /// A slice as it is drawn.
    struct Look {
        uint32_t slice = 0;  ///< It, or the first of a run.
        SliceCategory category = SliceCategory::Busy;
        StringIndex name = 0;
    };
    /// Of one slice. NVTX ranges and their projections keep the colour the program gave them.
    QRgb fillOf(const Lane& lane, const Look& look);
    QRgb fillOf(const Lane& lane, uint32_t slice) {
        return fillOf(lane, {slice, lane.category[slice], lane.name[slice]});
    }
    /// Of a run of slices, drawn as the longest of them.
    QRgb fillOfRun(const Lane& lane, const Look& look);
    /// What the colour of the slice means, for a legend: "stream 7"; empty where it is its name.
    QString meaningOf(const Lane& lane, uint32_t slice) const;
    /// Of one category, whatever the mode.
    QRgb fillOf(SliceCategory category) const;
    /// A line around or beside `fill`.
    QRgb edgeOf(QRgb fill) const;
    QRgb textOn(QRgb fill);

  private:
    QRgb programColor(EventRef event) const;
    QRgb colorByName(const Lane& lane, const Look& look);
    QRgb colorByStream(const Lane& lane, uint32_t slice) const;
    QRgb colorByOperation(const Look& look);
    QRgb colorByPython(EventRef event);
    /// The frame that stands for the Python line of an event, or `noIndex`.
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
    QHash<QRgb, QRgb> textByFill_;
};

}  // namespace lanescope::views
