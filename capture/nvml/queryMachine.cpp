#include "capture/nvml/queryMachine.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "capture/nvml/NvmlLibrary.h"

namespace lanescope {

namespace {

constexpr unsigned maximumLinks = 36;
constexpr unsigned maximumGpus = 1024;

/// Calls `function` if the driver has it; true if it has and it succeeded.
template <class Function, class... Args>
bool ask(Function function, Args... args) {
    return function != nullptr && function(args...) == 0;
}

/// A text that `function` writes into a buffer; empty if it does not.
template <class Function, class... Args>
std::string askText(Function function, Args... args) {
    char buffer[128] = {};
    if (!ask(function, args..., buffer, static_cast<unsigned>(sizeof(buffer)))) return {};
    buffer[sizeof(buffer) - 1] = '\0';
    return buffer;
}

MachineGpu describe(const NvmlLibrary& nvml, NvmlLibrary::Device device, unsigned index) {
    MachineGpu gpu;
    gpu.index = index;
    gpu.name = askText(nvml.deviceName, device);
    gpu.uuid = askText(nvml.deviceUuid, device);
    NvmlPciInfo pci{};
    if (ask(nvml.devicePciInfo, device, &pci))
        gpu.busLocation = fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
    NvmlMemory memory{};
    if (ask(nvml.deviceMemory, device, &memory))
        gpu.memoryBytes = static_cast<int64_t>(memory.total);
    ask(nvml.deviceComputeCapability, device, &gpu.computeMajor, &gpu.computeMinor);
    unsigned value = 0;
    if (ask(nvml.devicePcieGeneration, device, &value))
        gpu.pcieGeneration = static_cast<int>(value);
    if (ask(nvml.devicePcieWidth, device, &value)) gpu.pcieWidth = static_cast<int>(value);
    return gpu;
}

/// Where the links of one GPU end.
struct LinkEnds {
    int active = 0;
    int toSwitches = 0;
    std::map<std::string, int> toGpus;  ///< By bus location.
};

LinkEnds followLinks(const NvmlLibrary& nvml, NvmlLibrary::Device device) {
    LinkEnds ends;
    for (unsigned link = 0; link < maximumLinks; ++link) {
        unsigned isActive = 0;
        // The first number that the GPU does not know ends the list.
        if (!ask(nvml.deviceLinkState, device, link, &isActive)) break;
        if (isActive == 0) continue;
        ++ends.active;
        int end = -1;
        ask(nvml.deviceLinkEnd, device, link, &end);
        NvmlPciInfo peer{};
        if (end == nvmlEndSwitch)
            ++ends.toSwitches;
        else if (end == nvmlEndGpu && ask(nvml.deviceLinkPeer, device, link, &peer))
            ++ends.toGpus[fmt::format("{:04x}:{:02x}:{:02x}.0", peer.domain, peer.bus,
                                      peer.device)];
    }
    return ends;
}

/// Numbers of `nvmlGpuTopologyLevel_t`.
const char* connectionName(int commonAncestor) {
    switch (commonAncestor) {
        case 0:
            return "same board";
        case 10:
            return "PCIe switch";
        case 20:
            return "PCIe switches";
        case 30:
            return "host bridge";
        case 40:
            return "NUMA node";
        case 50:
            return "system";
        default:
            return "unknown";
    }
}

MachineLink describeLink(const NvmlLibrary& nvml, const MachineGpu& gpu, const MachineGpu& peer,
                         NvmlLibrary::Device device, NvmlLibrary::Device peerDevice,
                         const LinkEnds& ends, const LinkEnds& peerEnds) {
    MachineLink link{gpu.index, peer.index, 0, {}};
    if (const auto direct = ends.toGpus.find(peer.busLocation); direct != ends.toGpus.end()) {
        link.nvlinkCount = direct->second;
        link.connection = "NVLink";
    } else if (ends.toSwitches > 0 && peerEnds.toSwitches > 0) {
        link.nvlinkCount = ends.toSwitches;
        link.connection = "NVSwitch";
    } else {
        int ancestor = -1;
        ask(nvml.deviceCommonAncestor, device, peerDevice, &ancestor);
        link.connection = connectionName(ancestor);
    }
    return link;
}

}  // namespace

Machine queryMachine() {
    Machine machine;
    const std::optional<NvmlLibrary> nvml = NvmlLibrary::open();
    if (!nvml) return machine;
    machine.driverVersion = askText(nvml->systemDriverVersion);
    int cudaVersion = 0;
    if (ask(nvml->systemCudaVersion, &cudaVersion))
        machine.cudaVersion = fmt::format("{}.{}", cudaVersion / 1000, cudaVersion % 1000 / 10);
    unsigned count = 0;
    if (!ask(nvml->deviceCount, &count) || count > maximumGpus) return machine;
    std::vector<NvmlLibrary::Device> devices;
    std::vector<LinkEnds> ends;
    for (unsigned index = 0; index < count; ++index) {
        NvmlLibrary::Device device = nullptr;
        if (!ask(nvml->deviceByIndex, index, &device)) continue;
        devices.push_back(device);
        machine.gpus.push_back(describe(*nvml, device, index));
        ends.push_back(followLinks(*nvml, device));
        machine.gpus.back().nvlinkCount = ends.back().active;
    }
    for (size_t gpu = 0; gpu < devices.size(); ++gpu)
        for (size_t peer = 0; peer < devices.size(); ++peer)
            if (gpu != peer)
                machine.links.push_back(describeLink(*nvml, machine.gpus[gpu], machine.gpus[peer],
                                                     devices[gpu], devices[peer], ends[gpu],
                                                     ends[peer]));
    return machine;
}

}  // namespace lanescope
