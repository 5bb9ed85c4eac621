// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/bandwidth/BandwidthAnswer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "model/analysis/stepRanges.h"
#include "model/text/formatValue.h"
#include "model/trace/Track.h"
#include "views/text/shownText.h"
#include "views/timeline/scales.h"

namespace lanescope::views {
namespace {

constexpr size_t maxRangeNames = 500;

CopyGrouping groupingOf(BandwidthRows rows) {
    switch (rows) {
        case BandwidthRows::Size: return CopyGrouping::Size;
        case BandwidthRows::Device: return CopyGrouping::Device;
        case BandwidthRows::Memory:
        case BandwidthRows::Range:
        case BandwidthRows::Instance: break;
    }
    return CopyGrouping::Memory;
}

std::vector<CopyPeak> distinctPeaks(const std::vector<CopyStatistics>& rows) {
    std::vector<CopyPeak> peaks;
    for (const CopyStatistics& row : rows) {
        if (!row.peak || !row.rates) continue;
        const auto same = [&](const CopyPeak& peak) {
            return peak.link == row.peak->link && peak.origin == row.peak->origin &&
                   peak.gigabytesPerSecond == row.peak->gigabytesPerSecond;
        };
        if (std::none_of(peaks.begin(), peaks.end(), same)) peaks.push_back(*row.peak);
    }
    return peaks;
}

const QString arrow = QStringLiteral(" \u2192 ");

QString gpuNumber(const Trace& trace, uint32_t gpu) {
    return gpu < trace.gpus.size() ? QString::number(trace.gpus[gpu].id) : QStringLiteral("?");
}

/// Returns, for example, "HtoD", "UVM HtoD", "memset"; "PtoP GPU 0 → 1" if the group has the GPUs.
QString kindText(const Trace& trace, const CopyGroup& group) {
    const QString kind = toQString(group.kindName());
    if (group.gpu == noIndex || group.gpu == group.peer) return kind;
    return QStringLiteral("%1 GPU %2").arg(kind, gpuNumber(trace, group.gpu)) + arrow + gpuNumber(trace, group.peer);
}

/// Returns, for example, "pageable → device"; "device" for a memset; empty if unknown.
QString memoryText(const CopyGroup& group) {
    if (group.source == MemoryKind::Unknown && group.destination == MemoryKind::Unknown) return {};
    if (group.isMemset) return toQString(name(group.destination));
    return toQString(name(group.source)) + arrow + toQString(name(group.destination));
}

constexpr auto sizeColumn = "Size";
constexpr auto peakColumn = "Of Peak";
constexpr auto medianBytesColumn = "Bytes Each";
constexpr auto medianBusyColumn = "Busy Each";

Cell textCell(const QString& text) { return text.toStdString(); }

Cell numberCell(std::optional<double> number) { return number ? Cell(*number) : Cell(); }

void addFigures(std::vector<Cell>& cells, const CopyStatistics& row) {
    cells.insert(cells.end(), {row.count, row.knownBytes() ? Cell(row.bytes) : Cell(), row.busyNs,
                               numberCell(row.meanGBps()), numberCell(row.peakPercent())});
    const auto rate = [&](double CopyRates::*member) { return row.rates ? Cell((*row.rates).*member) : Cell(); };
    cells.insert(cells.end(), {rate(&CopyRates::minimum), rate(&CopyRates::p10), rate(&CopyRates::median),
                               rate(&CopyRates::p90), rate(&CopyRates::maximum), numberCell(row.overlappedPercent())});
}

std::vector<ReportColumn> columnsOf(BandwidthRows rows) {
    std::vector<ReportColumn> columns;
    if (rows == BandwidthRows::Range) columns = {{"Range", Unit::Text}, {"Instances", Unit::Count}};
    if (rows == BandwidthRows::Instance) columns = {{"Range", Unit::Text}, {"No.", Unit::Identifier}};
    if (rows == BandwidthRows::Device) columns.push_back({"GPUs", Unit::Text});
    columns.push_back({"Kind", Unit::Text});
    if (rows != BandwidthRows::Instance) columns.push_back({"Memory", Unit::Text});
    if (rows == BandwidthRows::Range) {
        columns.push_back({medianBytesColumn, Unit::Bytes});
        columns.push_back({medianBusyColumn, Unit::Nanoseconds});
    }
    if (rows == BandwidthRows::Size) columns.push_back({sizeColumn, Unit::Text});
    columns.insert(columns.end(), {{"Count", Unit::Count},
                                   {"Bytes", Unit::Bytes},
                                   {"Busy", Unit::Nanoseconds},
                                   {"Mean", Unit::GigabytesPerSecond},
                                   {peakColumn, Unit::Percent}});
    for (const char* rate : {"Min", "P10", "Median", "P90", "Max"}) columns.push_back({rate, Unit::GigabytesPerSecond});
    columns.push_back({"Overlapped by Kernels", Unit::Percent});
    return columns;
}

/// Explains a column head.
QString columnTip(const std::string& column) {
    static const std::array<std::pair<const char*, const char*>, 10> tips{{
        {medianBytesColumn, "In the median instance; one without such copies counts as 0."},
        {medianBusyColumn, "In the median instance; one without such copies counts as 0."},
        {"Count", "Copies and memsets. A copy that crosses an end of the range counts with its part inside the range."},
        {"Busy", "Time in which at least one of them ran: not their sum."},
        {"Mean", "Bytes over the time of all copies: each byte counts alike."},
        {peakColumn, "The mean as a share of the rate that the link or memory can carry."},
        {"P10", "A tenth of the copies are slower."},
        {"Median", "Half of the copies are slower."},
        {"P90", "A tenth of the copies are faster."},
        {"Overlapped by Kernels", "Share of the busy time in which the same GPU ran a kernel, too."},
    }};
    for (const auto& [name, tip] : tips)
        if (column == name) return QString::fromUtf8(tip);
    return {};
}

/// Returns, for example, "55.1 GB/s".
QString rateText(double gigabytesPerSecond) {
    return toQString(formatCell(Cell(gigabytesPerSecond), Unit::GigabytesPerSecond));
}

/// Returns the source of a peak's figure as a sentence.
QString peakOriginText(const CopyPeak& peak) {
    const QString rate = rateText(peak.gigabytesPerSecond);
    if (peak.origin == PeakOrigin::Measured)
        return QStringLiteral("Peak: %1, measured on this machine by lanescope doctor --measure.").arg(rate);
    switch (peak.link) {
        case LinkKind::NvLink:
            return QStringLiteral("Peak: %1, NVLinks times the rate of each. No copy quite reaches it.").arg(rate);
        case LinkKind::Dram:
            return QStringLiteral(
                       "Peak: %1, by clock and width of the GPU's memory, of which a copy reads and writes each byte.")
                .arg(rate);
        case LinkKind::Pcie:
        case LinkKind::HostCopy: break;
    }
    return QStringLiteral(
               "Peak: %1, PCIe lanes times the rate of each. No copy quite reaches it; lanescope doctor --measure "
               "measures the real peak.")
        .arg(rate);
}

/// Returns the statistics of row `row` of the table, or null.
const CopyStatistics* statisticsOfRow(const BandwidthAnswer& answer, int row) {
    if (row < 0) return nullptr;
    auto at = static_cast<size_t>(row);
    if (at < answer.ranges.size()) return &answer.ranges[at].total;
    for (const CopiesOfRange& range : answer.instances) {
        if (at < range.rows.size()) return &range.rows[at];
        at -= range.rows.size();
    }
    return at < answer.rows.size() ? &answer.rows[at] : nullptr;
}

}  // namespace

const CopyIndex& SharedCopyIndex::get() {
    std::call_once(once_, [this] { index_ = std::make_unique<CopyIndex>(trace_); });
    return *index_;
}

const std::vector<std::string>& SharedCopyIndex::rangeNames() {
    std::call_once(namesOnce_, [this] { rangeNames_ = rangeChoices(*trace_, maxRangeNames); });
    return rangeNames_;
}

std::shared_ptr<const BandwidthAnswer> answerBandwidth(SharedCopyIndex& copies, const BandwidthQuestion& question) {
    const CopyIndex& index = copies.get();
    auto answer = std::make_shared<BandwidthAnswer>();
    answer->trace = copies.trace();
    answer->question = question;
    answer->shown = question.range.value_or(answer->trace->range);
    CopyIndex::Query byMemory;
    byMemory.grouping = CopyGrouping::Memory;
    byMemory.range = question.range;
    if (question.rows == BandwidthRows::Range || question.rows == BandwidthRows::Instance) {
        const bool isEach = question.rows == BandwidthRows::Instance;
        const CopyGrouping grouping = isEach ? CopyGrouping::Kind : CopyGrouping::Memory;
        answer->rangeNames = copies.rangeNames();
        answer->instances =
            copiesByRange(index, rangeInstances(*answer->trace, question.rangeName), grouping, question.range);
        if (!isEach) {
            answer->ranges = copiesOfAllInstances(index, answer->instances, grouping, question.range);
            answer->instances.clear();
        }
        answer->peaks = distinctPeaks(index.statistics(byMemory));
    } else {
        CopyIndex::Query query = byMemory;
        query.grouping = groupingOf(question.rows);
        answer->rows = index.statistics(query);
        answer->peaks = distinctPeaks(answer->rows);
    }
    answer->advice = index.advice(question.range);
    if (question.chart == BandwidthChart::Histogram)
        answer->histogram = rateHistogram(index, byMemory, question.binCount);
    else
        answer->cells = copyCells(index, byMemory, question.grid);
    return answer;
}

QString gpuText(const Trace& trace, const CopyGroup& group) {
    if (group.gpu == noIndex) return {};
    const QString first = QStringLiteral("GPU ") + gpuNumber(trace, group.gpu);
    if (group.gpu == group.peer || group.peer == noIndex) return first;
    return first + arrow + QStringLiteral("GPU ") + gpuNumber(trace, group.peer);
}

QString groupText(const Trace& trace, const CopyGroup& group) {
    const QString kind = kindText(trace, group);
    // Only the host's memory kind adds to the copy kind.
    if (group.kind == MemcpyKind::HtoD && group.destination == MemoryKind::Device)
        return kind + QLatin1Char(' ') + toQString(name(group.source));
    if (group.kind == MemcpyKind::DtoH && group.source == MemoryKind::Device)
        return kind + QLatin1Char(' ') + toQString(name(group.destination));
    const bool isWithinGpus = group.source == MemoryKind::Device && group.destination == MemoryKind::Device;
    const QString memory = memoryText(group);
    return memory.isEmpty() || isWithinGpus ? kind : kind + QStringLiteral(", ") + memory;
}

QString copyText(const Trace& trace, const CopyGroup& group, const CopyPoint& copy) {
    return QStringLiteral("%1: %2 at %3 in %4, at %5")
        .arg(groupText(trace, group), toQString(formatBytes(copy.bytes)), rateText(copy.gigabytesPerSecond),
             shortDuration(copy.endNs - copy.startNs), formatTime(copy.startNs));
}

QString peakText(const CopyPeak& peak) {
    QString link;
    switch (peak.link) {
        case LinkKind::Pcie: link = QStringLiteral("PCIe"); break;
        case LinkKind::NvLink: link = QStringLiteral("NVLink"); break;
        case LinkKind::Dram: link = QStringLiteral("GPU memory"); break;
        case LinkKind::HostCopy: link = QStringLiteral("Host copy"); break;
    }
    return link + QStringLiteral(", ") + toQString(name(peak.origin));
}

QColor colorOf(const Theme& theme, const CopyGroup& group) {
    return theme.colorOf(group.isMemset ? SliceCategory::Memset : memcpyCategory(group.kind));
}

ReportTable bandwidthTable(const BandwidthAnswer& answer) {
    const BandwidthRows kind = answer.question.rows;
    const Trace& trace = *answer.trace;
    ReportTable table{.name = "memcpy_bandwidth", .title = "Memcpy bandwidth", .columns = columnsOf(kind)};
    for (const CopiesOfAllInstances& range : answer.ranges) {
        std::vector<Cell> cells{range.range,
                                range.instanceCount,
                                textCell(kindText(trace, range.total.group)),
                                textCell(memoryText(range.total.group)),
                                range.medianBytes,
                                range.medianBusyNs};
        addFigures(cells, range.total);
        table.searches.push_back(range.total.group.searchName());
        table.rows.push_back(std::move(cells));
    }
    for (const CopiesOfRange& range : answer.instances) {
        for (const CopyStatistics& row : range.rows) {
            std::vector<Cell> cells{range.instance.name, range.instance.number, textCell(kindText(trace, row.group))};
            addFigures(cells, row);
            table.searches.emplace_back();  // The row leads to the instance.
            table.rows.push_back(std::move(cells));
        }
    }
    for (const CopyStatistics& row : answer.rows) {
        std::vector<Cell> cells;
        if (kind == BandwidthRows::Device) cells.push_back(textCell(gpuText(trace, row.group)));
        cells.push_back(kind == BandwidthRows::Device ? Cell(std::string(row.group.kindName()))
                                                      : textCell(kindText(trace, row.group)));
        cells.push_back(textCell(memoryText(row.group)));
        if (kind == BandwidthRows::Size) cells.push_back(sizeBucketName(row.group.sizeBucket));
        addFigures(cells, row);
        table.searches.push_back(row.group.searchName());
        table.rows.push_back(std::move(cells));
    }
    return table;
}

const RangeInstance* rangeOfRow(const BandwidthAnswer& answer, int row) {
    if (row < 0) return nullptr;
    auto at = static_cast<size_t>(row);
    for (const CopiesOfRange& range : answer.instances) {
        if (at < range.rows.size()) return &range.instance;
        at -= range.rows.size();
    }
    return nullptr;
}

QVariant BandwidthModel::data(const QModelIndex& index, int role) const {
    const bool isSpecial = role == Qt::ToolTipRole || role == SortRole || role == Qt::DisplayRole;
    if (!isSpecial || !answer_ || !index.isValid() || index.column() >= columnCount())
        return ReportModel::data(index, role);
    const CopyStatistics* row = statisticsOfRow(*answer_, index.row());
    const std::string& column = table().columns[static_cast<size_t>(index.column())].name;
    if (role == SortRole && row && column == sizeColumn) return row->group.sizeBucket;
    const bool isPeak = row && column == peakColumn;
    if (isPeak && role == Qt::ToolTipRole) {
        if (!row->peak) return plainToolTip(tr("The peak of this link is not in the trace."));
        const QString why = toQString(row->whyBeyondPeak());
        const QString origin = peakOriginText(*row->peak);
        return plainToolTip(why.isEmpty() ? origin : tr("More than the peak: %1. %2").arg(why, origin));
    }
    // A share above 100 % is impossible and is not shown; the rates next to it show the measurement.
    if (isPeak && role == Qt::DisplayRole && !row->whyBeyondPeak().empty()) return tr("> 100 %");
    return ReportModel::data(index, role);
}

QVariant BandwidthModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role == Qt::ToolTipRole && orientation == Qt::Horizontal && section >= 0 && section < columnCount())
        return plainToolTip(columnTip(table().columns[static_cast<size_t>(section)].name));
    return ReportModel::headerData(section, orientation, role);
}

}  // namespace lanescope::views
