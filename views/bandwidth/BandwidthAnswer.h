// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "model/analysis/CopyRangeTable.h"
#include "model/bandwidth/CopyStatistics.h"
#include "model/text/ReportTable.h"
#include "views/tables/ReportView.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

/// The content of the rows of the bandwidth table.
enum class BandwidthRows : uint8_t {
    Memory,
    Size,
    Device,
    Range,     ///< All instances of an NVTX range in one row.
    Instance,  ///< One instance per row.
};
enum class BandwidthChart : uint8_t { OverTime, BySize, Histogram };

/// The index of a trace's copies, built on first use in the calling thread.
class SharedCopyIndex {
  public:
    explicit SharedCopyIndex(TracePtr trace) : trace_(std::move(trace)) {}
    /// Returns the index. Concurrent callers wait while it is built. O(n log n) once.
    const CopyIndex& get();
    const TracePtr& trace() const { return trace_; }
    /// Returns the NVTX ranges to choose from. O(ranges) on first use.
    const std::vector<std::string>& rangeNames();

  private:
    TracePtr trace_;
    std::once_flag once_, namesOnce_;
    std::vector<std::string> rangeNames_;
    std::unique_ptr<CopyIndex> index_;
};

/// One request of the bandwidth panel to the model.
struct BandwidthQuestion {
    std::optional<TimeRange> range;  ///< Unset = the whole trace.
    BandwidthRows rows = BandwidthRows::Memory;
    std::string rangeName;  ///< For rows by range; empty = steps.
    BandwidthChart chart = BandwidthChart::OverTime;
    CopyGrid grid = {};  ///< The resolution of the chart.
    int binCount = 40;
};

struct BandwidthAnswer {
    TracePtr trace;
    BandwidthQuestion question;
    TimeRange shown;                           ///< The range of the question, or that of the trace.
    std::vector<CopyStatistics> rows;          ///< Empty for rows of ranges or instances.
    std::vector<CopiesOfAllInstances> ranges;  ///< For rows of ranges.
    std::vector<CopiesOfRange> instances;      ///< For rows of instances.
    std::vector<std::string> rangeNames;       ///< Choices, for ranges and instances.
    std::vector<BandwidthAdvice> advice;
    std::vector<CopyPeak> peaks;  ///< One per kind of copy present.
    CopyCells cells;              ///< For the scatter charts.
    RateHistogram histogram;      ///< For the histogram.
};

/// Computes the answer. Any thread. O(copies in the range).
std::shared_ptr<const BandwidthAnswer> answerBandwidth(SharedCopyIndex& copies, const BandwidthQuestion& question);

/// Returns, for example, "GPU 0 → GPU 1" or "GPU 0"; empty if unknown.
QString gpuText(const Trace& trace, const CopyGroup& group);
/// Returns kind and memory for legends: "HtoD pageable", "DtoD", "HtoH, pageable → pinned".
QString groupText(const Trace& trace, const CopyGroup& group);

/// Returns, for example, "HtoD pinned → device: 64.0 MiB at 55.1 GB/s in 1.22 ms, at 12.3 ms".
QString copyText(const Trace& trace, const CopyGroup& group, const CopyPoint& copy);

/// Returns, for example, "PCIe, nominal" or "NVLink, measured".
QString peakText(const CopyPeak& peak);

/// Returns the colour that these copies have on the timeline.
QColor colorOf(const Theme& theme, const CopyGroup& group);

/// Returns the rows of an answer as a table: name, count, bytes, busy time, rates, share of the
/// peak, overlap. Unknown values are empty cells.
ReportTable bandwidthTable(const BandwidthAnswer& answer);

/// Returns the range instance of a row, or null.
const RangeInstance* rangeOfRow(const BandwidthAnswer& answer, int row);

/// The model of this table: adds the origin of a peak as a tool tip and sorts sizes by size.
class BandwidthModel : public ReportModel {
    Q_OBJECT
  public:
    explicit BandwidthModel(QObject* parent = nullptr) : ReportModel(parent) {}
    void setAnswer(std::shared_ptr<const BandwidthAnswer> answer) { answer_ = std::move(answer); }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    std::shared_ptr<const BandwidthAnswer> answer_;
};

}  // namespace lanescope::views
