// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "model/bandwidth/CopyRangeTable.h"
#include "model/bandwidth/copyCharts.h"

namespace lanescope::views {

/// What the rows of the bandwidth table are.
enum class BandwidthRows : uint8_t {
    Memory,
    Size,
    Device,
    Range,     ///< All instances of an NVTX range together.
    Instance,  ///< Each on its own.
};
/// What the bandwidth chart shows.
enum class BandwidthChart : uint8_t { OverTime, BySize, Histogram };

/// The index of a trace's copies, made when it is first asked for, on the thread that asks.
class SharedCopyIndex {
  public:
    explicit SharedCopyIndex(TracePtr trace) : trace_(std::move(trace)) {}
    /// Others wait while one makes it. O(n log n) once.
    const CopyIndex& get();
    const TracePtr& trace() const { return trace_; }
    /// The NVTX ranges to choose from, found when first asked for. O(ranges) once.
    const std::vector<std::string>& rangeNames();

  private:
    TracePtr trace_;
    std::once_flag once_, namesOnce_;
    std::vector<std::string> rangeNames_;
    std::unique_ptr<CopyIndex> index_;
};

/// All that the bandwidth panel asks the model at once.
struct BandwidthQuestion {
    std::optional<TimeRange> range;  ///< The whole trace if not given.
    BandwidthRows rows = BandwidthRows::Memory;
    std::string rangeName;  ///< Of rows by range; empty for the steps.
    BandwidthChart chart = BandwidthChart::OverTime;
    CopyGrid grid;  ///< What the chart can tell apart.
    int binCount = 40;
};

struct BandwidthAnswer {
    TracePtr trace;
    BandwidthQuestion question;
    TimeRange shown;                           ///< The range of the question, or that of the trace.
    std::vector<CopyStatistics> rows;          ///< Unless rows are ranges or instances.
    std::vector<CopiesOfAllInstances> ranges;  ///< If they are ranges.
    std::vector<CopiesOfRange> instances;      ///< If they are instances.
    std::vector<std::string> rangeNames;       ///< To choose from, in both cases.
    std::vector<BandwidthAdvice> advice;
    std::vector<CopyPeak> peaks;  ///< Of the kinds of copies there are, each once.
    CopyCells cells;              ///< For the charts of points.
    RateHistogram histogram;      ///< For the other.
};

/// Any thread. O(copies in the range).
std::shared_ptr<const BandwidthAnswer> answerBandwidth(SharedCopyIndex& copies,
                                                       const BandwidthQuestion& question);

}  // namespace lanescope::views
