// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/bandwidth/bandwidthTable.h"

#include <array>
#include <utility>

#include "views/bandwidth/copyTexts.h"
#include "views/text/plainToolTip.h"
#include "views/text/toQString.h"

namespace lanescope::views {
namespace {

constexpr auto sizeColumn = "Size";
constexpr auto peakColumn = "Of Peak";
constexpr auto medianBytesColumn = "Bytes Each";
constexpr auto medianBusyColumn = "Busy Each";

Cell textCell(const QString& text) {
    return text.toStdString();
}

Cell numberCell(std::optional<double> number) {
    return number ? Cell(*number) : Cell();
}

void addFigures(std::vector<Cell>& cells, const CopyStatistics& row) {
    cells.insert(cells.end(), {row.count, row.knownBytes() ? Cell(row.bytes) : Cell(), row.busyNs,
                               numberCell(row.meanGBps()), numberCell(row.peakPercent())});
    const auto rate = [&](double CopyRates::*member) {
        return row.rates ? Cell((*row.rates).*member) : Cell();
    };
    cells.insert(cells.end(), {rate(&CopyRates::minimum), rate(&CopyRates::p10),
                               rate(&CopyRates::median), rate(&CopyRates::p90),
                               rate(&CopyRates::maximum), numberCell(row.overlappedPercent())});
}

std::vector<ReportColumn> columnsOf(BandwidthRows rows) {
    std::vector<ReportColumn> columns;
    if (rows == BandwidthRows::Range) columns = {{"Range", Unit::Text}, {"Instances", Unit::Count}};
    if (rows == BandwidthRows::Instance)
        columns = {{"Range", Unit::Text}, {"No.", Unit::Identifier}};
    if (rows == BandwidthRows::Device) columns.push_back({"GPUs", Unit::Text});
    columns.push_back({"Kind", Unit::Text});
    if (rows != BandwidthRows::Instance) columns.push_back({"Memory", Unit::Text});
    if (rows == BandwidthRows::Range) {
        columns.push_back({medianBytesColumn, Unit::Bytes});
        columns.push_back({medianBusyColumn, Unit::Nanoseconds});
    }
    if (rows == BandwidthRows::Size) columns.push_back({sizeColumn, Unit::Text});
    for (const ReportColumn& column :
         std::initializer_list<ReportColumn>{{"Count", Unit::Count},
                                             {"Bytes", Unit::Bytes},
                                             {"Busy", Unit::Nanoseconds},
                                             {"Mean", Unit::GigabytesPerSecond},
                                             {peakColumn, Unit::Percent},
                                             {"Min", Unit::GigabytesPerSecond},
                                             {"P10", Unit::GigabytesPerSecond},
                                             {"Median", Unit::GigabytesPerSecond},
                                             {"P90", Unit::GigabytesPerSecond},
                                             {"Max", Unit::GigabytesPerSecond},
                                             {"Beside Kernels", Unit::Percent}})
        columns.push_back(column);
    return columns;
}

/// What the heads of the columns stand for.
QString columnTip(const std::string& column) {
    static const std::array<std::pair<const char*, const char*>, 10> tips{{
        {medianBytesColumn, "In the median instance; one without such copies counts as 0."},
        {medianBusyColumn, "In the median instance; one without such copies counts as 0."},
        {"Count", "Copies, and memsets. One that the range cuts counts with its part in it."},
        {"Busy", "Time in which at least one of them ran: not their sum."},
        {"Mean", "Bytes over the time of all copies: each byte counts alike."},
        {peakColumn, "The mean rate, of what the link can carry."},
        {"P10", "A tenth of the copies are slower."},
        {"Median", "Half of the copies are slower."},
        {"P90", "A tenth of the copies are faster."},
        {"Beside Kernels", "Share of the busy time in which the same GPU ran a kernel, too."},
    }};
    for (const auto& [name, tip] : tips)
        if (column == name) return QString::fromUtf8(tip);
    return {};
}

}  // namespace

ReportTable bandwidthTable(const BandwidthAnswer& answer) {
    const BandwidthRows kind = answer.question.rows;
    const Trace& trace = *answer.trace;
    ReportTable table;
    table.name = "memcpy_bandwidth";
    table.title = "Memcpy bandwidth";
    table.columns = columnsOf(kind);
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
            std::vector<Cell> cells{range.instance.name, range.instance.number,
                                    textCell(kindText(trace, row.group))};
            addFigures(cells, row);
            table.searches.emplace_back();  // It leads to the instance.
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
        if (!row->peak)
            return plainToolTip(tr("The trace does not tell how fast this link can be."));
        const QString why = toQString(row->whyBeyondPeak());
        const QString origin = peakOriginText(*row->peak);
        return plainToolTip(why.isEmpty() ? origin
                                          : tr("More than the peak: %1. %2").arg(why, origin));
    }
    // A share that cannot be is none; the rates beside it tell what was measured.
    if (isPeak && role == Qt::DisplayRole && !row->whyBeyondPeak().empty()) return tr("> 100 %");
    return ReportModel::data(index, role);
}

QVariant BandwidthModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role == Qt::ToolTipRole && orientation == Qt::Horizontal && section >= 0 &&
        section < columnCount())
        return plainToolTip(columnTip(table().columns[static_cast<size_t>(section)].name));
    return ReportModel::headerData(section, orientation, role);
}

}  // namespace lanescope::views
