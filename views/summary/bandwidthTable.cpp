#include "views/summary/bandwidthTable.h"

#include <string>

#include "views/text/toQString.h"

namespace lanescope {

ReportTable bandwidthTable(const std::vector<BandwidthRow>& rows) {
    ReportTable table;
    table.name = "memcpy_bandwidth";
    table.title = "Memcpy bandwidth";
    table.columns = {
        {"Kind", Unit::Text},       {"Memory", Unit::Text},
        {"Count", Unit::Count},     {"Bytes", Unit::Bytes},
        {"Time", Unit::Nanoseconds}, {"Mean", Unit::GigabytesPerSecond},
        {"Min", Unit::GigabytesPerSecond}, {"Median", Unit::GigabytesPerSecond},
        {"Max", Unit::GigabytesPerSecond},
    };
    table.rows.reserve(rows.size());
    for (const BandwidthRow& row : rows) {
        table.rows.push_back({std::string(name(row.kind)), memoryKinds(row).toStdString(),
                              row.count, row.bytes, row.timeNs, row.meanGBps(), row.minimumGBps,
                              row.medianGBps, row.maximumGBps});
    }
    return table;
}

QString memoryKinds(const BandwidthRow& row) {
    return toQString(name(row.sourceMemory)) + QStringLiteral(" → ") +
           toQString(name(row.destinationMemory));
}

}  // namespace lanescope
