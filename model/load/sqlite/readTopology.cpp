// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "model/format/tables/Links.h"
#include "model/load/sqlite/TableReader.h"
#include "model/load/sqlite/readers.h"

namespace lanescope {

namespace {

constexpr size_t maximumConnections = 1 << 13;
constexpr int64_t maximumGpu = 1 << 16;
constexpr const auto& k = tables::topology;

/// nvidia-smi's word for a connection of a file that does not have it.
std::string abbreviationOf(std::string_view name, int32_t nvlinks) {
    if (nvlinks > 0) return fmt::format("NV{}", nvlinks);
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> words{
        {{"same board", "PIX"},
         {"PCIe switch", "PIX"},
         {"PCIe switches", "PXB"},
         {"host bridge", "PHB"},
         {"NUMA node", "NODE"},
         {"system", "SYS"}}};
    for (const auto& [connection, word] : words)
        if (connection == name) return std::string(word);
    return {};
}

void keepConnection(Interconnect& interconnect, TableReader<tables::Topology>& reader, int64_t gpu,
                    int64_t peer) {
    if (gpu < 0 || peer < 0 || gpu > maximumGpu || peer > maximumGpu) return;
    GpuConnection connection;
    connection.gpu = gpu;
    connection.peer = peer;
    connection.nvlinks = static_cast<int32_t>(
        std::clamp<int64_t>(reader.integerOr(k.nvlinkCount, 0), 0, maximumGpu));
    connection.name = reader.text(k.connection);
    connection.abbreviation = reader.text(k.abbreviation);
    if (connection.abbreviation.empty())
        connection.abbreviation = abbreviationOf(connection.name, connection.nvlinks);
    interconnect.connections.push_back(std::move(connection));
}

/// Sorts them, adds the way back where a file has one way only, and leaves out what stands twice.
void tidy(std::vector<GpuConnection>& connections) {
    const size_t count = connections.size();
    for (size_t index = 0; index < count; ++index) {
        connections.push_back(connections[index]);
        std::swap(connections.back().gpu, connections.back().peer);
    }
    const auto key = [](const GpuConnection& each) { return std::pair(each.gpu, each.peer); };
    std::stable_sort(connections.begin(), connections.end(),
                     [&key](const auto& a, const auto& b) { return key(a) < key(b); });
    const auto last =
        std::unique(connections.begin(), connections.end(),
                    [&key](const auto& a, const auto& b) { return key(a) == key(b); });
    connections.erase(last, connections.end());
}

}  // namespace

void readTopology(LoadContext& context) {
    Interconnect& interconnect = context.description().interconnect;
    TableReader reader(context, k,
                       {k.gpuId, k.peerGpuId, k.nvlinkCount, k.connection, k.abbreviation},
                       "description");
    while (reader.next()) {
        const std::optional<int64_t> gpu = reader.integer(k.gpuId);
        const std::optional<int64_t> peer = reader.integer(k.peerGpuId);
        if (!gpu || !peer || *gpu == *peer ||
            interconnect.connections.size() >= maximumConnections) {
            reader.skipRow();
            continue;
        }
        keepConnection(interconnect, reader, *gpu, *peer);
    }
    tidy(interconnect.connections);
}

}  // namespace lanescope
