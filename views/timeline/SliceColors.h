#pragma once

#include <QColor>
#include <QHash>
#include <vector>

#include "model/trace/Trace.h"
#include "views/theme/Theme.h"

namespace lanescope {

/// The colours of the slices of one trace in one theme, fast enough to be asked for every rectangle
/// of every frame: each name is hashed once, each text colour worked out once.
class SliceColors {
  public:
    void reset(TracePtr trace, const Theme& theme);

    /// Of one slice. NVTX ranges and their projections keep the colour the program gave them.
    QRgb fillOf(const Lane& lane, uint32_t slice);
    /// Of a run of slices of mostly one category.
    QRgb fillOf(SliceCategory category) const;
    /// A line around or beside `fill`.
    QRgb edgeOf(QRgb fill) const;
    QRgb textOn(QRgb fill);

  private:
    QRgb programColor(EventRef event) const;

    TracePtr trace_;
    Theme theme_;
    std::vector<QRgb> byKernelName_;  // by StringIndex; 0 = not asked for yet
    std::vector<QRgb> byRangeName_;
    std::array<QRgb, sliceCategoryCount> byCategory_{};
    QHash<QRgb, QRgb> textByFill_;
};

}  // namespace lanescope
