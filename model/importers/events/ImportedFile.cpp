// SPDX-License-Identifier: Apache-2.0
#include "model/importers/events/ImportedFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "model/format/factNames.h"
#include "model/importers/events/JsonCursor.h"
#include "model/text/formatValue.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Memcpy.h"

namespace lanescope {

ImportedFile endOf(const ProtoStream& stream, ImportedEvents& events) {
    ImportedFile file{.bytes = stream.bytesRead(), .readError = stream.readError()};
    file.isClosed = stream.end() == ProtoStream::End::Complete || stream.end() == ProtoStream::End::Malformed;
    file.isTooLong = stream.end() == ProtoStream::End::TooLong;
    if (stream.end() == ProtoStream::End::Malformed) events.addCorruption(stream.fieldAt(), stream.bytesRead());
    return file;
}

namespace {

using Json = nlohmann::json;

/// Returns the fact as JSON, or null if it is missing or invalid.
Json parsed(const TopLevelFacts& facts, std::string_view name) {
    const auto found = facts.find(name);
    if (found == facts.end()) return nullptr;
    Json value = Json::parse(found->second, nullptr, false);
    return value.is_discarded() ? Json(nullptr) : value;
}

std::optional<int64_t> numberIn(const Json& object, const char* key) {
    if (!object.is_object()) return std::nullopt;
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<int64_t>();
}

/// Returns the value of the first existing key. Versions use different names.
int64_t numberIn(const Json& object, std::initializer_list<const char*> keys) {
    for (const char* key : keys)
        if (const std::optional<int64_t> number = numberIn(object, key)) return std::max<int64_t>(0, *number);
    return 0;
}

int smallNumber(int64_t value) { return value <= INT32_MAX ? static_cast<int>(value) : 0; }

/// Returns "13.0" for 13000, CUDA's notation of versions.
std::string cudaVersion(const std::string& text) {
    const std::optional<int64_t> number = decimalOf(text, 0);
    if (!number || *number < 1000) return text;
    return fmt::format("{}.{}", *number / 1000, *number % 1000 / 10);
}

void describeGpus(const TopLevelFacts& facts, TraceBuilder& builder) {
    Json devices = parsed(facts, "deviceProperties");
    if (!devices.is_array()) devices = parsed(facts, "computeProperties");
    if (!devices.is_array()) return;
    for (Gpu& gpu : builder.gpus())
        for (const Json& device : devices) {
            if (numberIn(device, "id") != gpu.id) continue;
            const auto name = device.find("name");
            if (name != device.end() && name->is_string()) gpu.name = name->get<std::string>();
            gpu.memoryBytes = numberIn(device, {"totalGlobalMem"});
            gpu.smCount = smallNumber(numberIn(device, {"numSms", "multiProcessorCount"}));
            gpu.computeMajor = smallNumber(numberIn(device, {"computeMajor", "major"}));
            gpu.computeMinor = smallNumber(numberIn(device, {"computeMinor", "minor"}));
        }
}

void describeRank(const TopLevelFacts& facts, EmitContext& output) {
    const uint32_t main = output.identities.mainProcess();
    if (main == noIndex) return;
    Process& process = output.builder.processes()[main];
    if (output.rank >= 0) process.rank = output.rank;
    const std::optional<int64_t> size = numberIn(parsed(facts, "distributedInfo"), "world_size");
    if (size && *size > 0) process.worldSize = smallNumber(*size);
}

/// Returns the profiler's options for recording more than times.
std::string options(const TopLevelFacts& facts) {
    constexpr std::array<std::string_view, 5> names{"record_shapes", "with_stack", "profile_memory", "with_modules",
                                                    "with_flops"};
    std::string list;
    for (const std::string_view name : names)
        if (facts.contains(name)) list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
    return list;
}

void addOther(const TopLevelFacts& facts, std::string_view key, std::string_view shown, TraceDescription& trace) {
    const auto found = facts.find(key);
    if (found != facts.end() && !found->second.empty())
        trace.facts.others.push_back({std::string(shown), found->second});
}

void noteCorruption(const ImportedFile& file, const CorruptionTally& corruption, HealthCode code,
                    TraceBuilder& builder) {
    builder.noteSome(corruption.places, Severity::Warning, code,
                     fmt::format("The file is corrupt in {} place{}: {} bytes could not be read, the first at byte {}. "
                                 "The intact part is shown.",
                                 formatCount(corruption.places), corruption.places == 1 ? "" : "s",
                                 formatCount(corruption.bytes), formatCount(static_cast<int64_t>(corruption.firstAt))));
    if (file.isTopLevelCorrupt)
        builder.note(Severity::Warning, code,
                     "Some metadata of the file is corrupt; GPUs, ranks or the time of day may be missing.");
    if (file.isTooLong)
        noteTooLong(builder, file.bytes);
    else if (!file.isClosed)
        noteTruncation(builder, file.bytes, file.areEventsComplete ? "facts about GPUs and ranks" : "events",
                       file.readError);
}

/// Notes calls whose work is missing, unless all of them are (`checkLaunches`).
void noteCallsWithoutWork(const EmitFindings& findings, bool isWhole, TraceBuilder& builder) {
    // A few in the middle may be launches of nothing.
    constexpr int64_t minLostDivisor = 20;
    const int64_t count = findings.callsWithoutWork;
    if (count == 0 || count == findings.launches) return;
    if (findings.callsWithoutWorkBetween * minLostDivisor >= findings.launches) {
        builder.note(Severity::Warning, HealthCode::CallsWithoutWork,
                     fmt::format("{} of {} calls that launch GPU work have none in the file, {} of them before others "
                                 "that have: the profiler lost it. Idle time may be such work.",
                                 formatCount(count), formatCount(findings.launches),
                                 formatCount(findings.callsWithoutWorkBetween)),
                     count);
        return;
    }
    builder.note(Severity::Info, HealthCode::CallsWithoutWork,
                 fmt::format("{} calls launch GPU work that is not in the file: {}.", formatCount(count),
                             isWhole ? "the profiler omits work that ran after it stopped"
                                     : "missing, or omitted by the profiler"),
                 count);
}

/// Counts events with those that have no time, which `noteMissingEvents` reports.
void countUntimed(const ImportedTally& tally, TraceBuilder& builder) {
    const Trace& trace = builder.trace();
    const auto count = [&](std::string_view name, int64_t rows, int64_t untimed) {
        if (untimed > 0) builder.count(name, rows + untimed, untimed);
    };
    count(kinds::Kernel::plural, trace.kernels.size(), tally.untimedKernels);
    count(kinds::Memcpy::plural, trace.memcpys.size(), tally.untimedCopies);
    count(kinds::Memset::plural, trace.memsets.size(), tally.untimedMemsets);
}

/// `isWhole` means that no part of the file is known to be missing.
void noteFit(const EmitFindings& findings, bool isWhole, TraceBuilder& builder) {
    noteCallsWithoutWork(findings, isWhole, builder);
    builder.noteSome(
        findings.workWithoutCall, Severity::Info, HealthCode::WorkWithoutCall,
        fmt::format("{} GPU operations have no call in the file: launched before the profiler started, or by "
                    "a CUDA graph{}.",
                    formatCount(findings.workWithoutCall), isWhole ? "" : ", or their call is missing"));
    builder.noteSome(
        findings.unmatchedFlowEnds, Severity::Info, HealthCode::BackwardUnknown,
        fmt::format("{} ends of flow events between forward and backward operators are ignored: they have no "
                    "other end, several ends, or no operator around them.",
                    formatCount(findings.unmatchedFlowEnds)));
    builder.noteSome(
        findings.unmatchedBackwards, Severity::Info, HealthCode::BackwardUnknown,
        fmt::format("{} backward operators have no flow event, because their forward operators ran before the "
                    "profiler started, or have ambiguous numbers.",
                    formatCount(findings.unmatchedBackwards)));
    builder.noteSome(
        findings.overlaps, Severity::Info, HealthCode::StreamOverlap,
        fmt::format("{} GPU operations start before the previous one on their stream ends, by up to {}; they "
                    "are drawn below it.",
                    formatCount(findings.overlaps), formatDuration(findings.maxOverlapNs)));
}

}  // namespace

int rankOf(const TopLevelFacts& facts, const std::filesystem::path& path) {
    constexpr int maxRank = 1 << 24;
    const Json distributed = parsed(facts, "distributedInfo");
    if (const std::optional<int64_t> rank = numberIn(distributed, "rank"))
        return *rank >= 0 && *rank < maxRank ? static_cast<int>(*rank) : -1;
    return rankInName(path.filename().string()).value_or(-1);
}

void describeImportedFile(const ImportedFile& file, EmitContext& output) {
    const TopLevelFacts& facts = file.facts;
    TraceDescription& trace = output.builder.description();
    const bool isOfTorch =
        facts.contains("schemaVersion") || facts.contains("deviceProperties") || facts.contains("distributedInfo");
    trace.producer = isOfTorch ? "torch.profiler" : "a JSON trace";
    const auto base = facts.find("baseTimeNanoseconds");
    const int64_t baseNs = base != facts.end() ? decimalOf(base->second, 0).value_or(0) : int64_t{0};
    // Older files have no base time and count since 1970. Times of newer files are far smaller.
    constexpr int64_t minUnixTimeNs = int64_t{1'000'000'000} * 1'000'000'000;
    constexpr int64_t maxTimeNs = int64_t{1} << 62;
    if (baseNs > 0 && baseNs < maxTimeNs && output.zeroNs < maxTimeNs - baseNs)
        trace.startUtcNs = baseNs + output.zeroNs;
    else if (output.zeroNs > minUnixTimeNs)
        trace.startUtcNs = output.zeroNs;
    describeGpus(facts, output.builder);
    describeRank(facts, output);
    if (const auto host = facts.find("host_name"); host != facts.end()) trace.facts.host = host->second;
    if (const auto version = facts.find("cuda_driver_version"); version != facts.end())
        trace.facts.driverCudaVersion = cudaVersion(version->second);
    trace.facts.recordOptions = options(facts);
    if (const auto version = facts.find("cuda_runtime_version"); version != facts.end())
        trace.facts.others.push_back({"CUDA runtime", cudaVersion(version->second)});
    addOther(facts, "cupti_version", "CUPTI", trace);
    addOther(facts, "hip_runtime_version", "HIP runtime", trace);
    addOther(facts, "roctracer_version", "roctracer", trace);
    addOther(facts, "trace_id", "Trace id", trace);
    addOther(facts, "PT_PROFILER_JOB_NAME", "Job", trace);
    const Json distributed = parsed(facts, "distributedInfo");
    if (distributed.is_object() && distributed.contains("nccl_version") && distributed["nccl_version"].is_string())
        trace.facts.others.push_back({"NCCL", distributed["nccl_version"].get<std::string>()});
}

void noteImportedFile(const ImportedFile& file, const EmitFindings& findings, EmitContext& output,
                      HealthCode corruption) {
    TraceBuilder& builder = output.builder;
    const ImportedTally& tally = output.events.tally;
    noteCorruption(file, output.events.corruption(), corruption, builder);
    noteFit(findings,
            file.isClosed && !file.isTooLong && output.events.corruption().places == 0 &&
                tally.untimed + output.events.skippedCount() == 0,
            builder);
    countUntimed(tally, builder);
    builder.skip("events without a time", tally.untimed);
    builder.skip("events", output.events.skippedCount());
    builder.skip("ends of ranges without a start", findings.unmatchedEdges);
    builder.ignore("durations below 0", tally.negative);
    if (tally.overheadNs > 0)
        builder.note(Severity::Info, HealthCode::ProfilerOverhead,
                     fmt::format("Profiler overhead: {1} in {0} intervals.", formatCount(tally.overheads),
                                 formatDuration(tally.overheadNs)));
    if (tally.fractions == 0 && !output.events.isEmpty())
        builder.note(Severity::Info, HealthCode::CoarseTimes,
                     "All times of the file are whole microseconds; shorter durations are shown as 0 or 1 \u00b5s.");
    builder.noteNotShown(tally.callStacks, "call stacks of operators");
    builder.noteNotShown(tally.otherFlows, "ends of flow events");
    builder.noteNotShown(tally.unknown, "events of an unknown kind");
}

void noteCorruptParts(std::string_view what, int64_t count, TraceBuilder& builder) {
    builder.noteSome(
        count, Severity::Warning, HealthCode::FileDamaged,
        fmt::format("The file is corrupt: {} of its {} could not be read. The intact part is shown. Copy it again.",
                    formatCount(count), what));
}

void noteTruncation(TraceBuilder& builder, uint64_t bytes, std::string_view what,
                    const std::optional<Error>& readError) {
    builder.note(
        Severity::Warning, HealthCode::FileCut,
        fmt::format("The file is truncated after {} bytes: {} are missing at its end. {}",
                    formatCount(static_cast<int64_t>(bytes)), what,
                    readError ? readError->sentence : "Copy it again, after the program that writes it has ended."));
}

void noteTooLong(TraceBuilder& builder, uint64_t bytes) {
    builder.note(Severity::Warning, HealthCode::FileCut,
                 fmt::format("Only the first {} of the file are shown.", formatBytes(static_cast<int64_t>(bytes))));
}

}  // namespace lanescope
