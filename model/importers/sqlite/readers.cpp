// SPDX-License-Identifier: Apache-2.0
#include "model/importers/sqlite/readers.h"

#include "model/format/tables/Cuda.h"
#include "model/format/tables/Enums.h"
#include "model/format/tables/Threads.h"

namespace lanescope {

namespace {

/// Reads rows of `ENUM_*` tables by the name of the constant. Skips unknown names.
template <class Kind>
MixedMap<int64_t, Kind> readNames(LoadContext& context, const tables::Enum& table, int count) {
    MixedMap<int64_t, Kind> kinds;
    TableReader reader(context, table, {table.id, table.name}, "names of kinds");
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(table.id);
        if (!id) continue;
        for (int number = 0; number < count; ++number)
            if (reader.text(table.name) == enumName(static_cast<Kind>(number))) kinds[*id] = static_cast<Kind>(number);
    }
    return kinds;
}

/// Returns true if kinds are CUPTI's. Copies from host to device end in device memory, which is 2
/// in Nsight Systems and 3 in CUPTI.
bool copiesCountFromOne(LoadContext& context) {
    constexpr int64_t maxSampledRows = 100'000;
    constexpr const auto& table = tables::memcpys;
    TableReader reader(context, table, {table.copyKind, table.srcKind, table.dstKind}, "memory kinds");
    int64_t three = 0;
    int64_t two = 0;
    for (int64_t row = 0; row < maxSampledRows && reader.next(); ++row) {
        const MemcpyKind kind = memcpyKindFrom(reader.integerOr(table.copyKind, 0));
        if (kind != MemcpyKind::HtoD && kind != MemcpyKind::DtoH) continue;
        const int64_t memory =
            kind == MemcpyKind::HtoD ? reader.integerOr(table.dstKind, -1) : reader.integerOr(table.srcKind, -1);
        two += memory == 2 ? 1 : 0;
        three += memory == 3 ? 1 : 0;
    }
    return three > two;
}

}  // namespace

void MemoryKinds::read(LoadContext& context) {
    memcpyKinds_ = readNames<MemcpyKind>(context, tables::memcpyKinds, memcpyKindCount);
    memoryKinds_ = readNames<MemoryKind>(context, tables::memoryKinds, memoryKindCount);
    if (memoryKinds_.empty()) countsFromOne_ = copiesCountFromOne(context);
}

MemcpyKind MemoryKinds::memcpyKind(int64_t number) const {
    if (memcpyKinds_.empty()) return memcpyKindFrom(number);
    const auto found = memcpyKinds_.find(number);
    return found != memcpyKinds_.end() ? found->second : MemcpyKind::Unknown;
}

MemoryKind MemoryKinds::memoryKind(int64_t number) const {
    if (memoryKinds_.empty()) return memoryKindFrom(countsFromOne_ && number >= 0 ? number - 1 : number);
    const auto found = memoryKinds_.find(number);
    return found != memoryKinds_.end() ? found->second : MemoryKind::Unknown;
}

void readStacks(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::stacks;
    TableReader reader(context, t, "Python stacks");
    const auto text = [&](const auto& column) { return reader.string(column, directory.strings).value_or(0); };
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(t.id);
        const std::optional<int64_t> parent = reader.integer(t.parentId);
        const auto outer = parent ? directory.stacks.find(*parent) : directory.stacks.end();
        if (reader.skipRowIf(!id || (parent && outer == directory.stacks.end()))) continue;
        const uint32_t stack =
            context.builder().stack(parent ? outer->second : noIndex, text(t.functionId), text(t.fileId),
                                    reader.unsigned32(t.line), text(t.moduleId), text(t.operatorsId));
        if (!reader.skipRowIf(stack == noIndex)) directory.stacks.try_emplace(*id, stack);
    }
}

}  // namespace lanescope
