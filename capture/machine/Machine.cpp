// SPDX-License-Identifier: Apache-2.0
#include "capture/machine/Machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>

#include "capture/machine/NvmlLibrary.h"

namespace lanescope::capture {

namespace {

std::string valueOf(const char* path, std::string_view key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.compare(0, key.size(), key) != 0) continue;
        const size_t begin = line.find_first_not_of(" \t:=\"", key.size());
        const size_t end = line.find_last_not_of(" \t\"");
        if (begin == std::string::npos || end < begin) return {};
        return line.substr(begin, end - begin + 1);
    }
    return {};
}

constexpr unsigned maxLinks = 64;
constexpr size_t affinityWords = 128;  // of 64 processors
constexpr size_t bitsPerWord = 64;
constexpr int64_t bytesPerMb = 1'000'000;
constexpr unsigned maxGpus = 1024;

bool ask(auto function, auto... args) { return function != nullptr && function(args...) == 0; }

/// Returns the text that `function` writes into a buffer; empty on failure.
std::string askText(auto function, auto... args) {
    char buffer[128] = {};
    if (!ask(function, args..., buffer, static_cast<unsigned>(sizeof(buffer)))) return {};
    buffer[sizeof(buffer) - 1] = '\0';
    return buffer;
}

std::string rangesOf(const std::vector<unsigned long>& mask) {
    std::string text;
    const auto isSet = [&](size_t bit) {
        return bit < mask.size() * bitsPerWord && (mask[bit / bitsPerWord] >> (bit % bitsPerWord) & 1) != 0;
    };
    for (size_t bit = 0; bit < mask.size() * bitsPerWord; ++bit) {
        if (!isSet(bit)) continue;
        const size_t first = bit;
        while (isSet(bit + 1)) ++bit;
        text += fmt::format("{}{}", text.empty() ? "" : ",", first);
        if (bit > first) text += fmt::format("-{}", bit);
    }
    return text;
}

std::string busLocation(const NvmlPciInfo& pci) {
    return fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
}

/// Returns the kernel's NUMA node of the device, or -1 if there is one node only.
int numaNodeOf(const std::string& busLocation) {
    std::ifstream file("/sys/bus/pci/devices/" + busLocation + "/numa_node");
    int node = -1;
    return file >> node ? node : -1;
}

MachineGpu describe(const NvmlLibrary& nvml, NvmlLibrary::Device device, unsigned index) {
    MachineGpu gpu{.index = index, .name = askText(nvml.deviceName, device), .uuid = askText(nvml.deviceUuid, device)};
    NvmlPciInfo pci{};
    if (ask(nvml.devicePciInfo, device, &pci)) gpu.busLocation = busLocation(pci);
    NvmlMemory memory{};
    if (ask(nvml.deviceMemory, device, &memory)) gpu.memoryBytes = static_cast<int64_t>(memory.total);
    ask(nvml.deviceComputeCapability, device, &gpu.computeMajor, &gpu.computeMinor);
    const auto number = [device](auto function, auto... which) {
        unsigned value = 0;
        return ask(function, device, which..., &value) ? static_cast<int>(value) : 0;
    };
    gpu.pcieGeneration = number(nvml.devicePcieGeneration);
    gpu.pcieWidth = number(nvml.devicePcieWidth);
    gpu.memoryClockMhz = number(nvml.deviceMaximumClock, int{nvmlMemoryClock});
    gpu.memoryBusBits = number(nvml.deviceMemoryBusWidth);
    std::vector<unsigned long> mask(affinityWords);
    if (ask(nvml.deviceCpuAffinity, device, static_cast<unsigned>(mask.size()), mask.data())) gpu.cpus = rangesOf(mask);
    gpu.numaNode = numaNodeOf(gpu.busLocation);
    return gpu;
}

/// A GPU's handle and the number of its links by destination.
struct Linked {
    NvmlLibrary::Device device = nullptr;
    int toSwitches = 0;
    std::map<std::string, int> toGpus;  ///< By bus location.
};

/// Follows the links of a GPU. Their rate is that of the first active one that reports one.
Linked followLinks(const NvmlLibrary& nvml, NvmlLibrary::Device device, MachineGpu& gpu) {
    Linked ends{device, 0, {}};
    for (unsigned link = 0; link < maxLinks; ++link) {
        unsigned isActive = 0;
        // The first number unknown to the GPU ends the list.
        if (!ask(nvml.deviceLinkState, device, link, &isActive)) break;
        if (isActive == 0) continue;
        ++gpu.nvlinkCount;
        NvmlFieldValue speed{};
        speed.fieldId = nvmlLinkSpeed;
        speed.scopeId = link;
        if (gpu.nvlinkBytesPerSecond == 0 && ask(nvml.deviceFieldValues, device, 1, &speed))
            gpu.nvlinkBytesPerSecond = std::max<int64_t>(numberIn(speed).value_or(0), 0) * bytesPerMb;
        int end = -1;
        ask(nvml.deviceLinkEnd, device, link, &end);
        NvmlPciInfo peer{};
        if (end == nvmlEndSwitch)
            ++ends.toSwitches;
        else if (end == nvmlEndGpu && ask(nvml.deviceLinkPeer, device, link, &peer))
            ++ends.toGpus[busLocation(peer)];
    }
    return ends;
}

/// Connection of two GPUs by their common ancestor, and its abbreviation of nvidia-smi topo -m; empty if unknown.
struct Connection {
    int commonAncestor;
    const char *name, *abbreviation;
};
constexpr Connection connections[] = {
    {nvmlSameBoard, "same board", "PIX"},   {nvmlOneSwitch, "PCIe switch", "PIX"},
    {nvmlSwitches, "PCIe switches", "PXB"}, {nvmlHostBridge, "host bridge", "PHB"},
    {nvmlNumaNode, "NUMA node", "NODE"},    {nvmlWholeSystem, "system", "SYS"},
};

MachineLink describeLink(const NvmlLibrary& nvml, const MachineGpu& gpu, const MachineGpu& peer, const Linked& ends,
                         const Linked& peerEnds) {
    MachineLink link{gpu.index, peer.index, 0, {}, {}};
    if (const auto direct = ends.toGpus.find(peer.busLocation); direct != ends.toGpus.end()) {
        link.nvlinkCount = direct->second;
        link.connection = "NVLink";
    } else if (ends.toSwitches > 0 && peerEnds.toSwitches > 0) {
        link.nvlinkCount = ends.toSwitches;
        link.connection = "NVSwitch";
    } else {
        int ancestor = -1;
        ask(nvml.deviceCommonAncestor, ends.device, peerEnds.device, &ancestor);
        const auto* const known = std::ranges::find(connections, ancestor, &Connection::commonAncestor);
        const bool isKnown = known != std::end(connections);
        link.connection = isKnown ? known->name : "unknown";
        link.abbreviation = isKnown ? known->abbreviation : "";
    }
    if (link.nvlinkCount > 0) link.abbreviation = fmt::format("NV{}", link.nvlinkCount);
    return link;
}

}  // namespace

HostFacts queryHostFacts() {
    HostFacts facts{.operatingSystem = valueOf("/etc/os-release", "PRETTY_NAME"),
                    .cpu = valueOf("/proc/cpuinfo", "model name")};
    utsname system{};
    if (::uname(&system) == 0) facts.kernel = system.release;
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) facts.cpuCount = CPU_COUNT(&allowed);
    struct sysinfo memory {};
    if (::sysinfo(&memory) == 0) facts.memoryBytes = static_cast<int64_t>(memory.totalram) * memory.mem_unit;
    return facts;
}

Machine queryMachine() {
    Machine machine;
    const std::unique_ptr<NvmlLibrary> nvml = NvmlLibrary::open();
    if (!nvml) return machine;
    machine.driverVersion = askText(nvml->systemDriverVersion);
    if (int cudaVersion = 0; ask(nvml->systemCudaVersion, &cudaVersion))
        machine.cudaVersion = fmt::format("{}.{}", cudaVersion / 1000, cudaVersion % 1000 / 10);
    unsigned count = 0;
    if (!ask(nvml->deviceCount, &count) || count > maxGpus) return machine;
    std::vector<Linked> ends;
    for (unsigned index = 0; index < count; ++index) {
        NvmlLibrary::Device device = nullptr;
        if (!ask(nvml->deviceByIndex, index, &device)) continue;
        machine.gpus.push_back(describe(*nvml, device, index));
        ends.push_back(followLinks(*nvml, device, machine.gpus.back()));
    }
    for (size_t gpu = 0; gpu < ends.size(); ++gpu)
        for (size_t peer = 0; peer < ends.size(); ++peer)
            if (gpu != peer)
                machine.links.push_back(
                    describeLink(*nvml, machine.gpus[gpu], machine.gpus[peer], ends[gpu], ends[peer]));
    return machine;
}

std::optional<unsigned> gpuUtilization(const std::string& uuid) {
    const std::unique_ptr<NvmlLibrary> nvml = NvmlLibrary::open();
    NvmlLibrary::Device device = nullptr;
    NvmlUtilization busy{};
    if (!nvml || !ask(nvml->deviceByUuid, uuid.c_str(), &device) || !ask(nvml->deviceUtilization, device, &busy))
        return std::nullopt;
    return busy.gpu;
}

GpuState gpuState(const std::string& uuid) {
    constexpr int gpuSensor = 0;
    // Read while the GPU works: opening takes longer than that.
    static const std::unique_ptr<NvmlLibrary> nvml = NvmlLibrary::open();
    NvmlLibrary::Device device = nullptr;
    if (!nvml || !ask(nvml->deviceByUuid, uuid.c_str(), &device)) return {};
    const auto read = [&](auto function, auto... sensor) {
        unsigned value = 0;
        return ask(function, device, sensor..., &value) ? int64_t{value} : 0;
    };
    return {read(nvml->deviceClock, int{nvmlSmClock}), read(nvml->devicePower),
            read(nvml->deviceTemperature, gpuSensor)};
}

std::string formatGpuUuid(std::span<const uint8_t, 16> uuid) {
    std::string text = "GPU-";
    for (size_t index = 0; index < uuid.size(); ++index) {
        if (index == 4 || index == 6 || index == 8 || index == 10) text += '-';
        text += fmt::format("{:02x}", uuid[index]);
    }
    return text;
}

void raiseFileLimit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

}  // namespace lanescope::capture
