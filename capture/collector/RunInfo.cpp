// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/RunInfo.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "model/format/AtomicFile.h"

namespace lanescope::capture {

namespace {

using nlohmann::json;

/// More than any run's facts need; a longer file is not ours.
constexpr std::streamsize maximumFileBytes = 16 << 20;

json toJson(const Machine& machine) {
    json gpus = json::array();
    for (const MachineGpu& gpu : machine.gpus)
        gpus.push_back({{"index", gpu.index},
                        {"name", gpu.name},
                        {"uuid", gpu.uuid},
                        {"busLocation", gpu.busLocation},
                        {"memoryBytes", gpu.memoryBytes},
                        {"computeMajor", gpu.computeMajor},
                        {"computeMinor", gpu.computeMinor},
                        {"pcieGeneration", gpu.pcieGeneration},
                        {"pcieWidth", gpu.pcieWidth},
                        {"nvlinkCount", gpu.nvlinkCount},
                        {"nvlinkBytesPerSecond", gpu.nvlinkBytesPerSecond},
                        {"memoryClockMhz", gpu.memoryClockMhz},
                        {"memoryBusBits", gpu.memoryBusBits},
                        {"cpus", gpu.cpus},
                        {"numaNode", gpu.numaNode}});
    json links = json::array();
    for (const MachineLink& link : machine.links)
        links.push_back({{"gpu", link.gpu},
                         {"peer", link.peer},
                         {"nvlinkCount", link.nvlinkCount},
                         {"connection", link.connection},
                         {"abbreviation", link.abbreviation}});
    return {{"driverVersion", machine.driverVersion},
            {"cudaVersion", machine.cudaVersion},
            {"gpus", std::move(gpus)},
            {"links", std::move(links)}};
}

template <class T>
void read(const json& object, const char* key, T& value) {
    const auto found = object.find(key);
    if (found == object.end()) return;
    if constexpr (std::is_same_v<T, std::string>) {
        if (found->is_string()) value = found->get<std::string>();
    } else if constexpr (std::is_same_v<T, bool>) {
        if (found->is_boolean()) value = found->get<bool>();
    } else {
        if (found->is_number_integer()) value = found->get<T>();
    }
}

/// The array under `key`, or an empty one.
json arrayOf(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_array() ? *found : json::array();
}

json toJson(const HostFacts& facts) {
    return {{"operatingSystem", facts.operatingSystem},
            {"kernel", facts.kernel},
            {"cpu", facts.cpu},
            {"cpuCount", facts.cpuCount},
            {"memoryBytes", facts.memoryBytes}};
}

HostFacts hostFactsFrom(const json& object) {
    HostFacts facts;
    read(object, "operatingSystem", facts.operatingSystem);
    read(object, "kernel", facts.kernel);
    read(object, "cpu", facts.cpu);
    read(object, "cpuCount", facts.cpuCount);
    read(object, "memoryBytes", facts.memoryBytes);
    return facts;
}

Machine machineFrom(const json& object) {
    Machine machine;
    read(object, "driverVersion", machine.driverVersion);
    read(object, "cudaVersion", machine.cudaVersion);
    for (const json& each : arrayOf(object, "gpus")) {
        if (!each.is_object()) continue;
        MachineGpu gpu;
        read(each, "index", gpu.index);
        read(each, "name", gpu.name);
        read(each, "uuid", gpu.uuid);
        read(each, "busLocation", gpu.busLocation);
        read(each, "memoryBytes", gpu.memoryBytes);
        read(each, "computeMajor", gpu.computeMajor);
        read(each, "computeMinor", gpu.computeMinor);
        read(each, "pcieGeneration", gpu.pcieGeneration);
        read(each, "pcieWidth", gpu.pcieWidth);
        read(each, "nvlinkCount", gpu.nvlinkCount);
        read(each, "nvlinkBytesPerSecond", gpu.nvlinkBytesPerSecond);
        read(each, "memoryClockMhz", gpu.memoryClockMhz);
        read(each, "memoryBusBits", gpu.memoryBusBits);
        read(each, "cpus", gpu.cpus);
        read(each, "numaNode", gpu.numaNode);
        machine.gpus.push_back(std::move(gpu));
    }
    for (const json& each : arrayOf(object, "links")) {
        if (!each.is_object()) continue;
        MachineLink link;
        read(each, "gpu", link.gpu);
        read(each, "peer", link.peer);
        read(each, "nvlinkCount", link.nvlinkCount);
        read(each, "connection", link.connection);
        read(each, "abbreviation", link.abbreviation);
        machine.links.push_back(std::move(link));
    }
    return machine;
}

}  // namespace

Result<void> RunInfo::save(const std::filesystem::path& path) const {
    const json object{{"startRealtimeNs", startRealtimeNs},
                      {"startMonotonicNs", startMonotonicNs},
                      {"commandLine", commandLine},
                      {"workingDirectory", workingDirectory},
                      {"homeDirectory", homeDirectory},
                      {"host", host},
                      {"version", version},
                      {"options", options},
                      {"recordsCuda", recordsCuda},
                      {"rank", rank},
                      {"worldSize", worldSize},
                      {"hostFacts", toJson(hostFacts)},
                      {"machine", toJson(machine)}};
    const std::string text = object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
    return writeAtomically(path, text);
}

Result<RunInfo> RunInfo::load(const std::filesystem::path& path) {
    // Opening a pipe would wait for its writer, and a link may lead anywhere.
    std::error_code error;
    if (std::filesystem::symlink_status(path, error).type() != std::filesystem::file_type::regular)
        return fail("{} is not a regular file.", path.string());
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) return fail("Cannot read {}: {}.", path.string(), std::strerror(errno));
    if (file.tellg() > maximumFileBytes) return fail("{} is far too long.", path.string());
    file.seekg(0);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const json object = json::parse(text, nullptr, false);
    if (!object.is_object()) return fail("{} is damaged: it holds no JSON object.", path.string());
    RunInfo info;
    read(object, "startRealtimeNs", info.startRealtimeNs);
    read(object, "startMonotonicNs", info.startMonotonicNs);
    for (const json& argument : arrayOf(object, "commandLine"))
        if (argument.is_string()) info.commandLine.push_back(argument.get<std::string>());
    read(object, "workingDirectory", info.workingDirectory);
    read(object, "homeDirectory", info.homeDirectory);
    read(object, "host", info.host);
    read(object, "version", info.version);
    read(object, "options", info.options);
    read(object, "recordsCuda", info.recordsCuda);
    read(object, "rank", info.rank);
    read(object, "worldSize", info.worldSize);
    if (const auto facts = object.find("hostFacts"); facts != object.end() && facts->is_object())
        info.hostFacts = hostFactsFrom(*facts);
    if (const auto machine = object.find("machine");
        machine != object.end() && machine->is_object())
        info.machine = machineFrom(*machine);
    return info;
}

}  // namespace lanescope::capture
