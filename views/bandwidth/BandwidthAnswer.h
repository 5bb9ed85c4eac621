// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "model/analysis/CopyRangeTable.h"
#include "model/bandwidth/copyCharts.h"
#include "model/text/ReportTable.h"
#include "views/tables/ReportModel.h"
#include "views/theme/Theme.h"

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

/// The rows of an answer as a table: what, count, bytes, busy time, rates, share of the peak,
/// overlap. Cells of what is not known are empty.
ReportTable bandwidthTable(const BandwidthAnswer& answer);

/// The statistics behind row `row` of that table, or null.
const CopyStatistics* statisticsOfRow(const BandwidthAnswer& answer, int row);
/// The instance of a range that the row is about, or null.
const RangeInstance* rangeOfRow(const BandwidthAnswer& answer, int row);

/// Shows that table: says where a peak comes from, and sorts sizes by size.
class BandwidthModel : public ReportModel {
    Q_OBJECT
  public:
    explicit BandwidthModel(QObject* parent = nullptr) : ReportModel(parent) {}
    void setAnswer(std::shared_ptr<const BandwidthAnswer> answer) { answer_ = std::move(answer); }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

  private:
    std::shared_ptr<const BandwidthAnswer> answer_;
};

}  // namespace lanescope::views
