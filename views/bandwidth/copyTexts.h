// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "model/bandwidth/copyCharts.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

/// "HtoD", "UVM HtoD", "memset"; "PtoP GPU 0 → 1" where the group tells.
QString kindText(const Trace& trace, const CopyGroup& group);
/// "pageable → device"; "device" of a memset; empty where the group does not tell.
QString memoryText(const CopyGroup& group);
/// "GPU 0 → GPU 1", "GPU 0"; empty where the group does not tell.
QString gpuText(const Trace& trace, const CopyGroup& group);
/// Kind and memory in one, for legends: "HtoD pageable", "DtoD", "HtoH, pageable → pinned".
QString groupText(const Trace& trace, const CopyGroup& group);

/// "55.1 GB/s".
QString rateText(double gigabytesPerSecond);
/// "HtoD pinned → device: 64.0 MiB at 55.1 GB/s in 1.22 ms, at 12.3 ms".
QString copyText(const Trace& trace, const CopyGroup& group, const CopyPoint& copy);

/// "PCIe, nominal", "NVLink, measured".
QString peakText(const CopyPeak& peak);
/// Where the figure of a peak comes from, in a sentence.
QString peakOriginText(const CopyPeak& peak);

/// The colour that the copies have on the timeline.
QColor colorOf(const Theme& theme, const CopyGroup& group);

}  // namespace lanescope::views
