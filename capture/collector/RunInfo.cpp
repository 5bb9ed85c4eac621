// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/RunInfo.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "model/format/OutputFile.h"
#include "model/format/text.h"

namespace lanescope::capture {

namespace {

using nlohmann::json;

/// More than the facts of any run need; a longer file is not ours.
constexpr std::streamsize maxFileBytes = 16 << 20;

void write(JsonText& text, const Machine& machine) {
    text.object("machine")
        .member("driverVersion", machine.driverVersion)
        .member("cudaVersion", machine.cudaVersion)
        .list("gpus");
    for (const MachineGpu& gpu : machine.gpus)
        text.object()
            .member("index", gpu.index)
            .member("name", gpu.name)
            .member("uuid", gpu.uuid)
            .member("busLocation", gpu.busLocation)
            .member("memoryBytes", gpu.memoryBytes)
            .member("computeMajor", gpu.computeMajor)
            .member("computeMinor", gpu.computeMinor)
            .member("pcieGeneration", gpu.pcieGeneration)
            .member("pcieWidth", gpu.pcieWidth)
            .member("nvlinkCount", gpu.nvlinkCount)
            .member("nvlinkBytesPerSecond", gpu.nvlinkBytesPerSecond)
            .member("memoryClockMhz", gpu.memoryClockMhz)
            .member("memoryBusBits", gpu.memoryBusBits)
            .member("cpus", gpu.cpus)
            .member("numaNode", gpu.numaNode)
            .end();
    text.end().list("links");
    for (const MachineLink& link : machine.links)
        text.object()
            .member("gpu", link.gpu)
            .member("peer", link.peer)
            .member("nvlinkCount", link.nvlinkCount)
            .member("connection", link.connection)
            .member("abbreviation", link.abbreviation)
            .end();
    text.end().end();
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

json arrayOf(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_array() ? *found : json::array();
}

void write(JsonText& text, const HostFacts& facts) {
    text.object("hostFacts")
        .member("operatingSystem", facts.operatingSystem)
        .member("kernel", facts.kernel)
        .member("cpu", facts.cpu)
        .member("cpuCount", facts.cpuCount)
        .member("memoryBytes", facts.memoryBytes)
        .end();
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
    JsonText text;
    text.object()
        .member("startRealtimeNs", startRealtimeNs)
        .member("startMonotonicNs", startMonotonicNs)
        .list("commandLine");
    for (const std::string& word : commandLine) text.item(word);
    text.end()
        .member("workingDirectory", workingDirectory)
        .member("homeDirectory", homeDirectory)
        .member("host", host)
        .member("version", version)
        .member("options", options)
        .member("recordsCuda", recordsCuda)
        .member("rank", rank)
        .member("worldSize", worldSize);
    write(text, hostFacts);
    write(text, machine);
    text.end();
    return writeAtomically(path, text.text() + "\n");
}

Result<RunInfo> RunInfo::load(const std::filesystem::path& path) {
    // Opening a pipe would wait for its writer, and a link may lead anywhere.
    std::error_code error;
    if (std::filesystem::symlink_status(path, error).type() != std::filesystem::file_type::regular)
        return fail("{} is not a regular file.", path.string());
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) return fail("Cannot read {}: {}.", path.string(), std::strerror(errno));
    if (file.tellg() > maxFileBytes) return fail("{} is far too long.", path.string());
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
