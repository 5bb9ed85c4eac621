// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/format/tables/PageFaults.h"
#include "model/load/sqlite/TableReader.h"
#include "model/load/sqlite/readers.h"
#include "model/trace/kinds/PageFault.h"
#include "model/values/Statistics.h"

namespace lanescope {

namespace {

FaultAccess accessFrom(int64_t number) {
    const bool isKnown = number >= 0 && number <= static_cast<int64_t>(FaultAccess::Prefetch);
    return isKnown ? static_cast<FaultAccess>(number) : FaultAccess::Unknown;
}

template <class Table>
uint32_t processIn(TableReader<Table>& reader, const Table& table, Identities& identities) {
    const std::optional<int64_t> pid = reader.integer(table.globalPid);
    return pid ? identities.process(*pid) : identities.unnamedProcess();
}

void readOfCpu(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::cpuPageFaults;
    TableReader reader(context, t, {t.start, t.globalPid, t.address, t.cpuInstruction},
                       "page faults");
    while (reader.next()) {
        const std::optional<int64_t> timeNs = reader.time(t.start);
        if (!timeNs) continue;
        const uint32_t process = processIn(reader, t, directory.identities);
        if (process == noIndex) {
            reader.skipRow();
            continue;
        }
        context.builder().add<kinds::PageFault>(
            {.startNs = *timeNs,
             .endNs = *timeNs,
             .address = static_cast<uint64_t>(reader.integerOr(t.address, 0)),
             .process = process,
             .instruction = reader.string(t.cpuInstruction, directory.strings).value_or(0)});
    }
    if (reader.rowCount() > 0) reader.countAs(tables::cpuFaultsCounted);
}

void readOfGpus(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::gpuPageFaults;
    TableReader reader(context, t,
                       {t.start, t.end, t.globalPid, t.deviceId, t.address, t.numberOfPageFaults,
                        t.faultAccessType},
                       "page faults");
    int64_t faults = 0, untimed = 0;  // a row stands for several
    while (reader.next()) {
        const int64_t of = std::max<int64_t>(0, reader.integerOr(t.numberOfPageFaults, 1));
        const int64_t untimedRows = reader.untimedCount();
        const std::optional<TimeRange> times = reader.times(t.start, t.end);
        faults = saturatingSum(faults, of);
        if (reader.untimedCount() > untimedRows) untimed = saturatingSum(untimed, of);
        if (!times) continue;
        const uint32_t process = processIn(reader, t, directory.identities);
        const uint32_t gpu = process == noIndex ? noIndex
                                                : directory.identities.gpuOf(
                                                      process, reader.integerOr(t.deviceId, -1));
        if (gpu == noIndex) {
            reader.skipRow();
            continue;
        }
        context.builder().add<kinds::PageFault>(
            {.startNs = times->startNs,
             .endNs = times->endNs,
             .address = static_cast<uint64_t>(reader.integerOr(t.address, 0)),
             .count = of,
             .access = accessFrom(reader.integerOr(t.faultAccessType, 0)),
             .process = process,
             .gpu = gpu});
    }
    if (reader.rowCount() > 0) context.builder().count(tables::gpuFaultsCounted, faults, untimed);
}

}  // namespace

void readUnifiedMemory(LoadContext& context, FileDirectory& directory) {
    readOfCpu(context, directory);
    readOfGpus(context, directory);
}

}  // namespace lanescope
