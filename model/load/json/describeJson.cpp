// SPDX-License-Identifier: Apache-2.0
#include "model/load/json/describeJson.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "model/format/rankInName.h"
#include "model/load/json/decimalOf.h"

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

}  // namespace lanescope
