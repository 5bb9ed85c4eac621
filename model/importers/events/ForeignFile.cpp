// SPDX-License-Identifier: Apache-2.0
#include "model/importers/events/ForeignFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "model/format/sourceNames.h"
#include "model/importers/events/JsonCursor.h"
#include "model/text/formatTable.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace {

using Json = nlohmann::json;

/// The fact as JSON; null if there is none, or none that is sound.
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

/// The first of the keys that is there; versions call some things otherwise.
int64_t numberIn(const Json& object, std::initializer_list<const char*> keys) {
    for (const char* key : keys)
        if (const std::optional<int64_t> number = numberIn(object, key))
            return std::max<int64_t>(0, *number);
    return 0;
}

int smallNumber(int64_t value) {
    return value <= INT32_MAX ? static_cast<int>(value) : 0;
}

/// "13.0" of 13000, as CUDA writes its versions.
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

void describeRank(const TopLevelFacts& facts, JsonGiving& giving) {
    const uint32_t main = giving.identities.mainProcess();
    if (main == noIndex) return;
    Process& process = giving.builder.processes()[main];
    if (giving.rank >= 0) process.rank = giving.rank;
    const std::optional<int64_t> size = numberIn(parsed(facts, "distributedInfo"), "world_size");
    if (size && *size > 0) process.worldSize = smallNumber(*size);
}

/// What the profiler was told to record beside times.
std::string options(const TopLevelFacts& facts) {
    constexpr std::array<std::string_view, 5> names{"record_shapes", "with_stack", "profile_memory",
                                                    "with_modules", "with_flops"};
    std::string list;
    for (const std::string_view name : names)
        if (facts.contains(name)) list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
    return list;
}

void addOther(const TopLevelFacts& facts, std::string_view key, std::string_view shown,
              TraceDescription& trace) {
    const auto found = facts.find(key);
    if (found != facts.end() && !found->second.empty())
        trace.facts.others.push_back({std::string(shown), found->second});
}

}  // namespace

int rankOf(const TopLevelFacts& facts, const std::filesystem::path& path) {
    constexpr int mostRanks = 1 << 24;
    const Json distributed = parsed(facts, "distributedInfo");
    if (const std::optional<int64_t> rank = numberIn(distributed, "rank"))
        return *rank >= 0 && *rank < mostRanks ? static_cast<int>(*rank) : -1;
    return rankInName(path.filename().string()).value_or(-1);
}

void describeJson(const JsonFile& file, JsonGiving& giving) {
    const TopLevelFacts& facts = file.facts;
    TraceDescription& trace = giving.builder.description();
    const bool isOfTorch = facts.contains("schemaVersion") || facts.contains("deviceProperties") ||
                           facts.contains("distributedInfo");
    trace.producer = isOfTorch ? "torch.profiler" : "a JSON trace";
    const auto base = facts.find("baseTimeNanoseconds");
    const int64_t baseNs =
        base != facts.end() ? decimalOf(base->second, 0).value_or(0) : int64_t{0};
    // Before files had a base, times were since 1970; later ones are far from that without it.
    constexpr int64_t leastSince1970 = int64_t{1'000'000'000} * 1'000'000'000;
    constexpr int64_t most = int64_t{1} << 62;
    if (baseNs > 0 && baseNs < most && giving.zeroNs < most - baseNs)
        trace.startUtcNs = baseNs + giving.zeroNs;
    else if (giving.zeroNs > leastSince1970)
        trace.startUtcNs = giving.zeroNs;
    describeGpus(facts, giving.builder);
    describeRank(facts, giving);
    if (const auto host = facts.find("host_name"); host != facts.end())
        trace.facts.host = host->second;
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
    if (distributed.is_object() && distributed.contains("nccl_version") &&
        distributed["nccl_version"].is_string())
        trace.facts.others.push_back({"NCCL", distributed["nccl_version"].get<std::string>()});
}

namespace {

class Notes : public FileNotes {
  public:
    using FileNotes::FileNotes;

    /// `rows` of what is in the file and not in the trace.
    void notShown(int64_t rows, std::string_view what) {
        if (rows > 0)
            add(Severity::Info, HealthCode::NotShown,
                fmt::format("Not shown here: {} {}.", formatCount(rows), what), rows);
    }
};

void noteDamage(const JsonFile& file, const JsonDamage& damage, HealthCode code, Notes& notes) {
    if (damage.places > 0)
        notes.add(Severity::Warning, code,
                  fmt::format("The file is damaged in {} place{}: {} bytes in all could not be "
                              "read, the first of them at byte {}. What is whole is shown.",
                              formatCount(damage.places), damage.places == 1 ? "" : "s",
                              formatCount(damage.bytes),
                              formatCount(static_cast<int64_t>(damage.firstAt))),
                  damage.places);
    if (file.isBesideDamaged)
        notes.add(
            Severity::Warning, code,
            "Some of what the file says beside its events is damaged, so that it may be shown "
            "without GPUs, ranks or its time of day.");
    if (file.isTooLong)
        notes.add(Severity::Warning, HealthCode::FileCut,
                  fmt::format("Only the first {} of the file are shown.",
                              formatBytes(static_cast<int64_t>(file.bytes))));
    else if (!file.isClosed)
        notes.cut(file.bytes, "events", file.readError);
}

/// `isWhole`: nothing is known to be missing from the file.
void noteFit(const JsonFindings& findings, bool isWhole, Notes& notes) {
    if (findings.callsWithoutWork > 0)
        notes.add(Severity::Info, HealthCode::CallsWithoutWork,
                  fmt::format("{} calls launch GPU work that is not in the file: {}.",
                              formatCount(findings.callsWithoutWork),
                              isWhole ? "the profiler leaves out what ran when it had ended"
                                      : "what is missing of it, or what the profiler left out"),
                  findings.callsWithoutWork);
    if (findings.workWithoutCall > 0)
        notes.add(Severity::Info, HealthCode::WorkWithoutCall,
                  fmt::format("{} pieces of GPU work have no call in the file: what was launched "
                              "before the profiler began, or by a CUDA graph{}.",
                              formatCount(findings.workWithoutCall),
                              isWhole ? "" : ", or whose call is missing"),
                  findings.workWithoutCall);
    if (findings.arrowEndsLeft > 0)
        notes.add(
            Severity::Info, HealthCode::BackwardUnknown,
            fmt::format("{} ends of arrows between an operator and its backward have no other "
                        "end, several of them, or no operator around them; they join "
                        "nothing.",
                        formatCount(findings.arrowEndsLeft)),
            findings.arrowEndsLeft);
    if (findings.backwardsAlone > 0)
        notes.add(Severity::Info, HealthCode::BackwardUnknown,
                  fmt::format("{} operators are the backward of others that are not known: these "
                              "ran before the profiler began, or their numbers are those of "
                              "several threads.",
                              formatCount(findings.backwardsAlone)),
                  findings.backwardsAlone);
    if (findings.overlaps > 0)
        notes.add(
            Severity::Info, HealthCode::StreamOverlap,
            fmt::format("{} pieces of GPU work begin before the one before them on their "
                        "stream ends, by up to {}; they are drawn below it.",
                        formatCount(findings.overlaps), formatDuration(findings.longestOverlapNs)),
            findings.overlaps);
}

}  // namespace

void noteJson(const JsonFile& file, const JsonFindings& findings, JsonGiving& giving,
              HealthCode damage) {
    Notes notes(giving.builder);
    const JsonTally& tally = giving.events.tally;
    noteDamage(file, giving.events.damage(), damage, notes);
    noteFit(findings,
            file.isClosed && !file.isTooLong && giving.events.damage().places == 0 &&
                tally.untimed + giving.events.leftOut() == 0,
            notes);
    giving.builder.skip("events without a time", tally.untimed);
    giving.builder.skip("events", giving.events.leftOut());
    giving.builder.skip("ends of ranges that never began", findings.edgesWithoutOther);
    giving.builder.ignore("durations below 0", tally.negative);
    if (tally.overheadNs > 0)
        notes.add(Severity::Info, HealthCode::ProfilerOverhead,
                  fmt::format("The profiler itself took {} now and then, {} in all.",
                              formatCount(tally.overheads), formatDuration(tally.overheadNs)));
    if (tally.fractions == 0 && !giving.events.isEmpty())
        notes.add(Severity::Info, HealthCode::CoarseTimes,
                  "All times of the file are whole microseconds: what takes less is shown as 0 or "
                  "1 \u00b5s.");
    notes.notShown(tally.callStacks, "call stacks of operators");
    notes.notShown(tally.otherFlows, "ends of arrows between events");
    notes.notShown(tally.unknown, "events of a kind that this program does not know");
}

void noteDamagedParts(std::string_view what, int64_t count, TraceBuilder& builder) {
    if (count == 0) return;
    builder.note(
        {Severity::Warning,
         HealthCode::FileDamaged,
         fmt::format("The file is damaged: {} of its {} could not be read. What is whole is "
                     "shown. Copy it again.",
                     formatCount(count), what),
         {},
         {},
         count});
}

}  // namespace lanescope
