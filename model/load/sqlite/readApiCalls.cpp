// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "model/format/tables/ApiCalls.h"
#include "model/load/sqlite/ThreadRows.h"
#include "model/load/sqlite/apiName.h"
#include "model/load/sqlite/readers.h"
#include "model/trace/kinds/Api.h"

namespace lanescope {

namespace {

/// `TRACE_PROCESS_EVENT_CUDA_DRIVER` of `ENUM_NSYS_EVENT_CLASS`.
constexpr int64_t driverClass = 1;

}  // namespace

void readApiCalls(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::apiCalls;
    TableReader reader(context, t,
                       {t.start, t.end, t.globalTid, t.correlationId, t.nameId, t.returnValue,
                        t.eventClass, t.callchainId},
                       "CUDA API calls");
    std::unordered_map<StringIndex, StringIndex> plainNames;
    const auto take = [&](uint32_t thread, TimeRange times) {
        const StringIndex entryPoint = reader.string(t.nameId, directory.strings).value_or(0);
        const auto [name, isNew] = plainNames.try_emplace(entryPoint, 0);
        if (isNew)
            name->second = directory.strings.intern(
                std::string(plainApiName(directory.strings.text(entryPoint))));
        context.builder().add<kinds::Api>(
            {.startNs = times.startNs,
             .endNs = times.endNs,
             .name = name->second,
             .thread = thread,
             .correlation = reader.unsigned32(t.correlationId),
             .returnValue = static_cast<int32_t>(reader.unsigned32(t.returnValue)),
             .isDriver = reader.integerOr(t.eventClass, 0) == driverClass,
             .stack = directory.stackOf(reader.integer(t.callchainId))});
    };
    forEachThreadRow(reader, t, directory.identities, Nameless::Kept, take);
    reader.countAs(kinds::Api::plural);
}

}  // namespace lanescope
