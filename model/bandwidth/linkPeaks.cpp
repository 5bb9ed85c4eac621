// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/linkPeaks.h"

#include <algorithm>
#include <cstdint>

#include "model/format/factNames.h"

namespace lanescope {

namespace {

/// Returns bytes per second of one NVLink and direction, by the GPU's compute capability.
double bytesPerNvlink(int computeMajor) {
    if (computeMajor == 6) return 20e9;
    if (computeMajor >= 7 && computeMajor <= 9) return 25e9;
    if (computeMajor == 10) return 50e9;
    return 0;
}

const Gpu* gpuNumbered(const Trace& trace, int64_t id) {
    const auto found = std::ranges::find_if(trace.gpus, [id](const Gpu& gpu) { return gpu.id == id; });
    return found == trace.gpus.end() ? nullptr : &*found;
}

/// Returns the facts of the GPU of that number; empty if unknown.
GpuFacts factsOf(const Trace& trace, int64_t gpu) {
    for (const GpuFacts& each : trace.gpuFacts)
        if (each.gpu == gpu) return each;
    return {};
}

int toInt(const std::optional<int64_t>& value) {
    return static_cast<int>(std::clamp<int64_t>(value.value_or(0), 0, INT32_MAX));
}

CopyPeak peakFrom(double bytesPerSecond, PeakOrigin origin, LinkKind link) {
    return {bytesPerSecond / 1e9, origin, link};
}

/// Returns the best peak for which `fits` is true: measured ones first.
template <class Fits>
const LinkPeak* findPeak(const Trace& trace, LinkKind kind, int64_t gpu, Fits fits) {
    const LinkPeak* best = nullptr;
    for (const LinkPeak& peak : trace.interconnect.peaks) {
        if (peak.kind != kind || peak.gpu != gpu || !fits(peak)) continue;
        const bool isBetter = best == nullptr || peak.origin > best->origin;
        if (isBetter) best = &peak;
    }
    return best;
}

std::optional<CopyPeak> peakOfHostCopy(const Trace& trace, LinkDirection direction, MemoryKind memory, int64_t gpu) {
    const LinkPeak* const measured = findPeak(trace, LinkKind::HostCopy, gpu, [&](const LinkPeak& peak) {
        return peak.direction == direction && peak.memory == memory;
    });
    if (measured) return peakFrom(static_cast<double>(measured->bytesPerSecond), measured->origin, LinkKind::HostCopy);
    return peakOfPcie(trace, gpu);
}

std::optional<CopyPeak> peakOfMemory(const Trace& trace, int64_t gpu, double accesses) {
    const LinkPeak* const peak = findPeak(trace, LinkKind::Dram, gpu, [](const LinkPeak&) { return true; });
    if (peak) return peakFrom(static_cast<double>(peak->bytesPerSecond) / accesses, peak->origin, LinkKind::Dram);
    const Gpu* const info = gpuNumbered(trace, gpu);
    if (!info || info->memoryBandwidthBytesPerSecond <= 0) return std::nullopt;
    return peakFrom(static_cast<double>(info->memoryBandwidthBytesPerSecond) / accesses, PeakOrigin::Nominal,
                    LinkKind::Dram);
}

}  // namespace

const GpuConnection* connectionOf(const Trace& trace, int64_t gpu, int64_t peer) {
    const auto& connections = trace.interconnect.connections;
    const auto found = std::ranges::find_if(
        connections, [&](const GpuConnection& each) { return each.gpu == gpu && each.peer == peer; });
    return found == connections.end() ? nullptr : &*found;
}

std::optional<CopyPeak> peakOfPcie(const Trace& trace, int64_t gpu) {
    const LinkPeak* const peak =
        findPeak(trace, LinkKind::Pcie, gpu, [](const LinkPeak& each) { return each.peer == noGpuId; });
    if (peak) return peakFrom(static_cast<double>(peak->bytesPerSecond), peak->origin, LinkKind::Pcie);
    const GpuFacts facts = factsOf(trace, gpu);
    const int64_t nominal = pcieBytesPerSecond(toInt(facts.pcieGeneration), toInt(facts.pcieWidth));
    if (nominal <= 0) return std::nullopt;
    return peakFrom(static_cast<double>(nominal), PeakOrigin::Nominal, LinkKind::Pcie);
}

std::optional<CopyPeak> peakOfNvlink(const Trace& trace, int64_t gpu, int64_t peer) {
    const LinkPeak* found = nullptr;
    if (peer != noGpuId)
        found = findPeak(trace, LinkKind::NvLink, gpu, [&](const LinkPeak& each) { return each.peer == peer; });
    const GpuConnection* const connection = peer == noGpuId ? nullptr : connectionOf(trace, gpu, peer);
    const LinkPeak* const whole =
        findPeak(trace, LinkKind::NvLink, gpu, [](const LinkPeak& each) { return each.peer == noGpuId; });
    if (!found && whole) {
        // With direct links a pair has only some of those of the GPU.
        const bool isPart =
            connection && connection->nvlinks > 0 && whole->links > 0 && connection->nvlinks < whole->links;
        const double share = isPart ? static_cast<double>(connection->nvlinks) / whole->links : 1.0;
        return peakFrom(static_cast<double>(whole->bytesPerSecond) * share, whole->origin, LinkKind::NvLink);
    }
    if (found) return peakFrom(static_cast<double>(found->bytesPerSecond), found->origin, LinkKind::NvLink);
    const Gpu* const info = gpuNumbered(trace, gpu);
    const int links = connection ? connection->nvlinks : toInt(factsOf(trace, gpu).nvlinkCount);
    const double nominal = info ? nominalNvlinkBytesPerSecond(info->computeMajor, links) : 0;
    if (nominal <= 0) return std::nullopt;
    return peakFrom(nominal, PeakOrigin::Nominal, LinkKind::NvLink);
}

std::optional<CopyPeak> peakOfCopy(const Trace& trace, MemcpyKind kind, MemoryKind hostMemory, int64_t gpu,
                                   int64_t peer) {
    switch (kind) {
        case MemcpyKind::HtoD:
        case MemcpyKind::HtoA: return peakOfHostCopy(trace, LinkDirection::Receive, hostMemory, gpu);
        case MemcpyKind::DtoH:
        case MemcpyKind::AtoH: return peakOfHostCopy(trace, LinkDirection::Transmit, hostMemory, gpu);
        case MemcpyKind::UvmHtoD:
        case MemcpyKind::UvmDtoH: return peakOfPcie(trace, gpu);
        case MemcpyKind::DtoD:
        case MemcpyKind::AtoA:
        case MemcpyKind::AtoD:
        case MemcpyKind::DtoA: return peakOfMemory(trace, gpu, 2);
        case MemcpyKind::PtoP:
        case MemcpyKind::UvmDtoD: {
            if (peer == noGpuId || peer == gpu) return std::nullopt;
            const GpuConnection* const connection = connectionOf(trace, gpu, peer);
            const bool isConnected = connection && connection->nvlinks > 0;
            if (isConnected) return peakOfNvlink(trace, gpu, peer);
            const LinkPeak* const measured =
                findPeak(trace, LinkKind::Pcie, gpu, [&](const LinkPeak& e) { return e.peer == peer; });
            if (measured)
                return peakFrom(static_cast<double>(measured->bytesPerSecond), measured->origin, LinkKind::Pcie);
            if (const auto peak = peakOfNvlink(trace, gpu, peer)) return peak;
            return connection ? peakOfPcie(trace, gpu) : std::nullopt;
        }
        case MemcpyKind::HtoH:
        case MemcpyKind::Unknown: break;
    }
    return std::nullopt;
}

std::optional<CopyPeak> peakOfMemset(const Trace& trace, int64_t gpu) { return peakOfMemory(trace, gpu, 1); }

double nominalNvlinkBytesPerSecond(int computeMajor, int links) {
    return links > 0 ? bytesPerNvlink(computeMajor) * links : 0;
}

int32_t nvlinksOf(const Trace& trace, int64_t gpu) {
    int32_t links = toInt(factsOf(trace, gpu).nvlinkCount);
    for (const LinkPeak& peak : trace.interconnect.peaks)
        if (peak.kind == LinkKind::NvLink && peak.gpu == gpu) links = std::max(links, peak.links);
    for (const GpuConnection& each : trace.interconnect.connections)
        if (each.gpu == gpu) links = std::max(links, each.nvlinks);
    return links;
}

bool isMigDevice(const Gpu& gpu) { return isMigUuid(gpu.uuid) || isMigName(gpu.name); }

std::string_view name(PeakOrigin origin) { return origin == PeakOrigin::Measured ? "measured" : "nominal"; }

}  // namespace lanescope
