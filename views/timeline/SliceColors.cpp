#include "views/timeline/SliceColors.h"

namespace lanescope {

void SliceColors::reset(TracePtr trace, const Theme& theme) {
    trace_ = std::move(trace);
    theme_ = theme;
    const size_t nameCount = trace_ ? trace_->strings.size() : 0;
    byKernelName_.assign(nameCount, 0);
    byRangeName_.assign(nameCount, 0);
    for (size_t i = 0; i < byCategory_.size(); ++i) {
        byCategory_[i] = theme_.colorOf(static_cast<SliceCategory>(i)).rgb();
    }
    textByFill_.clear();
}

QRgb SliceColors::fillOf(const Lane& lane, uint32_t slice) {
    const SliceCategory category = lane.category[slice];
    const bool isRange = category == SliceCategory::Nvtx || category == SliceCategory::Projection;
    if (isRange) {
        if (const QRgb color = programColor(lane.event[slice])) return color;
    } else if (category != SliceCategory::Kernel) {
        return fillOf(category);
    }
    const StringIndex name = lane.name[slice];
    auto& known = isRange ? byRangeName_ : byKernelName_;
    if (name >= known.size()) return fillOf(category);
    if (known[name] == 0) known[name] = theme_.colorOf(category, trace_->strings.at(name)).rgb();
    return known[name];
}

QRgb SliceColors::fillOf(SliceCategory category) const {
    const auto index = static_cast<size_t>(category);
    return index < byCategory_.size() ? byCategory_[index] : theme_.mutedText.rgb();
}

QRgb SliceColors::edgeOf(QRgb fill) const {
    // Towards black in either theme: an edge is a shadow. Integers, as this runs for every
    // rectangle.
    return qRgb(qRed(fill) * 3 / 4, qGreen(fill) * 3 / 4, qBlue(fill) * 3 / 4);
}

QRgb SliceColors::textOn(QRgb fill) {
    const auto known = textByFill_.constFind(fill);
    if (known != textByFill_.constEnd()) return *known;
    const QRgb color = theme_.textOn(QColor::fromRgb(fill)).rgb();
    textByFill_.insert(fill, color);
    return color;
}

QRgb SliceColors::programColor(EventRef event) const {
    uint32_t row = event.row();
    if (event.kind() == EventKind::Projection) {
        if (row >= trace_->projections.size()) return 0;
        row = trace_->projections.nvtx[row];
    } else if (event.kind() != EventKind::Nvtx) {
        return 0;
    }
    if (row >= trace_->nvtx.size() || trace_->nvtx.colorArgb[row] == 0) return 0;
    return trace_->nvtx.colorArgb[row] | 0xff000000u;
}

}  // namespace lanescope
