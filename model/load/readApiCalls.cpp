#include <unordered_map>

#include "model/load/TableReader.h"
#include "model/load/apiName.h"
#include "model/load/readers.h"

namespace lanescope {

namespace {

enum Column { start, end, globalTid, correlation, nameId, returnValue, eventClass };

/// `TRACE_PROCESS_EVENT_CUDA_DRIVER` of `ENUM_NSYS_EVENT_CLASS`.
constexpr int64_t driverClass = 1;

}  // namespace

void readApiCalls(LoadContext& context, FileDirectory& directory) {
    TableReader reader(
        context, "CUPTI_ACTIVITY_KIND_RUNTIME",
        {"start", "end", "globalTid", "correlationId", "nameId", "returnValue", "eventClass"},
        "CUDA API calls");
    ApiTable& table = context.trace().apiCalls;
    std::unordered_map<StringIndex, StringIndex> plainNames;
    while (reader.next()) {
        const std::optional<TimeRange> times = reader.times(start, end);
        if (!times) continue;
        const std::optional<int64_t> tid = reader.integer(globalTid);
        const uint32_t thread =
            tid ? directory.identities.thread(*tid) : directory.identities.unnamedThread();
        if (thread == noIndex) {
            reader.skipRow();
            continue;
        }
        const StringIndex entryPoint = reader.string(nameId, directory.strings).value_or(0);
        const auto [name, isNew] = plainNames.try_emplace(entryPoint, 0);
        if (isNew)
            name->second = directory.strings.intern(
                std::string(plainApiName(directory.strings.text(entryPoint))));
        table.startNs.push_back(times->startNs);
        table.endNs.push_back(times->endNs);
        table.name.push_back(name->second);
        table.thread.push_back(thread);
        table.correlation.push_back(reader.unsigned32(correlation));
        table.returnValue.push_back(static_cast<int32_t>(reader.unsigned32(returnValue)));
        table.isDriver.push_back(reader.integerOr(eventClass, 0) == driverClass ? 1 : 0);
    }
    if (reader.hasTable())
        context.trace().counts.push_back(
            {"CUDA API calls", reader.rowCount(), reader.untimedCount()});
}

}  // namespace lanescope
