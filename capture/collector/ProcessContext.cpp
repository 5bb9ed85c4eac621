// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/ProcessContext.h"

#include <fmt/format.h>

#include "capture/collector/symbolNames.h"

namespace lanescope::capture {

namespace {

constexpr std::string_view lostName = "[name lost]";

}  // namespace

std::string_view LogStrings::text(uint32_t id) const {
    const auto found = strings_.find(id);
    return found == strings_.end() ? std::string_view{} : found->second.text;
}

int64_t LogStrings::traceId(uint32_t id) {
    const auto found = strings_.find(id);
    if (found == strings_.end()) return trace_.intern(lostName);
    Entry& entry = found->second;
    if (entry.traceId == 0) entry.traceId = trace_.intern(entry.text);
    return entry.traceId;
}

LogStrings::KernelNames LogStrings::kernelNames(uint32_t id) {
    if (const auto known = kernels_.find(id); known != kernels_.end()) return known->second;
    const auto found = strings_.find(id);
    const std::string mangled = found == strings_.end() ? std::string(lostName) : found->second.text;
    const std::string full = demangled(mangled);
    const KernelNames names{trace_.intern(mangled), trace_.intern(full), trace_.intern(shortFunctionName(full))};
    if (found != strings_.end()) kernels_.emplace(id, names);
    return names;
}

void LogStacks::add(const log::StackRecord& record, LogStrings& strings) {
    if (record.stack == 0) return;  // 0 stands for no stack
    const std::string_view file = strings.text(record.file);
    ids_[record.stack] = trace_.intern({.parent = traceId(record.parent).value_or(0),
                                        .function = strings.traceId(record.function),
                                        .file = file.empty() ? 0 : trace_.internSource(file),
                                        .line = record.line,
                                        .module = record.module == 0 ? 0 : strings.traceId(record.module)});
}

std::optional<int64_t> LogStacks::traceId(uint32_t stack) const {
    const auto found = ids_.find(stack);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

void reportLogCorruption(const log::LogReader& reader, const std::optional<Error>& problem, TraceWriter& trace,
                         std::optional<int64_t> process) {
    const std::string file = reader.name();
    if (problem) trace.health(Severity::Error, HealthCode::LogUnreadable, problem->sentence, process);
    const log::LogReader::Progress& progress = reader.progress();
    const uint64_t bytes = problem ? 0 : reader.bytesNotUnderstood();
    trace.healthCount(reader.isCorrupt() ? Severity::Error : Severity::Warning,
                      reader.isCorrupt() ? HealthCode::LogDamaged : HealthCode::LogCut, bytes,
                      fmt::format("Log {1}: the last {0} bytes could not be read ({2}).", bytes, file,
                                  reader.isCorrupt() ? "corrupt" : "incomplete"),
                      process);
    trace.healthCount(Severity::Error, HealthCode::LogGap, progress.lostBlocks,
                      fmt::format("Log {1}: {0} blocks are missing.", progress.lostBlocks, file), process);
    trace.healthCount(Severity::Warning, HealthCode::LogOddRecords, progress.oddRecords,
                      fmt::format("Log {1}: skipped {0} invalid records.", progress.oddRecords, file), process);
}

}  // namespace lanescope::capture
