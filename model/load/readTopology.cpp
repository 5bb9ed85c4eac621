#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "model/load/TableReader.h"
#include "model/load/readers.h"

namespace lanescope {

namespace {

constexpr size_t maximumPairs = 1 << 12;
constexpr int64_t maximumGpu = 1 << 16;
constexpr size_t maximumShownPairs = 28;  ///< Those of eight GPUs.

/// How two GPUs are joined.
struct Connection {
    std::string name;  ///< "NVLink", "PCIe switch".
    int64_t nvlinks = 0;
    bool operator==(const Connection&) const = default;
};
using Pair = std::pair<int64_t, int64_t>;  ///< Numbers of the two GPUs, the lesser first.

Property describe(const Connection& connection, const std::string& gpus) {
    if (connection.nvlinks <= 0) return {gpus, connection.name};
    return {fmt::format("{} {}", connection.name.empty() ? "NVLink" : connection.name, gpus),
            fmt::format("{} link{}", connection.nvlinks, connection.nvlinks == 1 ? "" : "s")};
}

/// Whether the pairs are all there can be among three or more GPUs, and all joined alike. The GPUs
/// are numbered without a gap.
bool isUniform(const std::map<Pair, Connection>& connections) {
    size_t gpus = 2;
    while (gpus * (gpus - 1) / 2 < connections.size()) ++gpus;
    if (gpus < 3 || gpus * (gpus - 1) / 2 != connections.size()) return false;
    const int64_t first = connections.begin()->first.first;
    for (const auto& [pair, connection] : connections)
        // Differences of hostile numbers would overflow.
        if (connection != connections.begin()->second || pair.first < first || first < 0 ||
            pair.second > maximumGpu || pair.second - first >= static_cast<int64_t>(gpus))
            return false;
    return true;
}

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

void keepConnection(Interconnect& interconnect, RowReader& reader, int64_t gpu, int64_t peer) {
    if (gpu < 0 || peer < 0 || gpu > maximumGpu || peer > maximumGpu) return;
    GpuConnection connection;
    connection.gpu = gpu;
    connection.peer = peer;
    connection.nvlinks =
        static_cast<int32_t>(std::clamp<int64_t>(reader.integerOr(2, 0), 0, maximumGpu));
    connection.name = reader.text(3);
    connection.abbreviation = reader.text(4);
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
    std::map<Pair, Connection> connections;
    TableReader reader(context, "LANESCOPE_TOPOLOGY",
                       {"gpuId", "peerGpuId", "nvlinkCount", "connection", "abbreviation"},
                       "description");
    while (reader.next()) {
        const std::optional<int64_t> gpu = reader.integer(0);
        const std::optional<int64_t> peer = reader.integer(1);
        if (!gpu || !peer || *gpu == *peer || connections.size() >= maximumPairs) {
            reader.skipRow();
            continue;
        }
        keepConnection(context.trace().interconnect, reader, *gpu, *peer);
        // Some files have each pair twice, once from either side.
        connections.try_emplace(std::minmax(*gpu, *peer),
                                Connection{std::string(reader.text(3)), reader.integerOr(2, 0)});
    }
    tidy(context.trace().interconnect.connections);
    std::vector<Property>& properties = context.trace().properties;
    if (isUniform(connections)) {
        const auto gpus = connections.rbegin()->first.second;
        properties.push_back(describe(connections.begin()->second,
                                      fmt::format("between any two of GPU {}\u2013{}",
                                                  connections.begin()->first.first, gpus)));
        return;
    }
    size_t shown = 0;
    for (const auto& [pair, connection] : connections) {
        if (shown++ == maximumShownPairs) break;
        properties.push_back(
            describe(connection, fmt::format("GPU {}\u2013GPU {}", pair.first, pair.second)));
    }
    if (shown > maximumShownPairs)
        properties.push_back(
            {"More pairs of GPUs", fmt::format("{}", connections.size() - maximumShownPairs)});
}

}  // namespace lanescope
