// SPDX-License-Identifier: Apache-2.0
#include "model/format/tables/TableWriter.h"

#include "model/format/tables/Cuda.h"
#include "model/format/tables/Ranges.h"
#include "model/format/tables/Session.h"
#include "model/format/tables/Threads.h"

namespace lanescope {

void TableWriter::add(const StackRow& row) {
    constexpr const auto& t = tables::stacks;
    add(t, t.id = row.id, t.parentId = nullIfZero(row.parent), t.functionId = row.function,
        t.fileId = nullIfZero(row.file), t.line = nullIfZero(row.line), t.moduleId = nullIfZero(row.module),
        t.operatorsId = nullIfZero(row.operators), t.codeId = nullIfZero(row.code));
}

void TableWriter::add(const GraphNodeRow& row) {
    constexpr const auto& t = tables::graphNodes;
    add(t, t.start = row.timeNs, t.end = row.timeNs, t.eventClass = tables::GraphNodes::nodeCreation,
        t.globalTid = row.globalTid, t.nameId = row.nameId, t.graphNodeId = row.node,
        t.originalGraphNodeId = nullIfZero(row.original));
    if (!row.stack) return;
    constexpr const auto& s = tables::graphNodeStacks;
    add(s, s.nodeRow = database_->lastRowId(), s.callchainId = *row.stack);
}

void TableWriter::addThreadName(int64_t globalTid, int64_t nameId, int64_t priority) {
    constexpr const auto& t = tables::threadNames;
    add(t, t.nameId = nameId, t.priority = priority, t.globalTid = globalTid);
}

void TableWriter::addHealth(Severity severity, std::string_view code, std::string_view sentence,
                            std::optional<int64_t> globalPid, std::optional<int64_t> timeNs,
                            std::optional<int64_t> count) {
    constexpr const auto& t = tables::health;
    add(t, t.severity = severity, t.code = code, t.globalPid = globalPid, t.timestamp = timeNs, t.count = count,
        t.sentence = sentence);
}

void TableWriter::addProperty(std::optional<int64_t> globalPid, std::string_view name, std::string_view value) {
    constexpr const auto& t = tables::properties;
    add(t, t.globalPid = globalPid, t.name = name, t.value = value);
}

void TableWriter::addRangeName(int64_t timeNs, int64_t globalTid, int64_t domain, std::optional<int64_t> category,
                               std::string_view name, std::optional<int64_t> nameId) {
    constexpr const auto& t = tables::nvtxEvents;
    add(t, t.start = timeNs, t.eventType = category ? NvtxEventType::CategoryName : NvtxEventType::DomainName,
        t.category = category, t.text = name, t.textId = nameId, t.globalTid = globalTid, t.domainId = domain);
}

RowInserter& TableWriter::inserterOf(const tables::Table& table) {
    const auto known = inserters_.find(&table);
    if (known != inserters_.end()) return known->second;
    return inserters_.try_emplace(&table, *database_, table, *error_).first->second;
}

}  // namespace lanescope
