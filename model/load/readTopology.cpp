#include <fmt/format.h>

#include <algorithm>
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

}  // namespace

void readTopology(LoadContext& context) {
    std::map<Pair, Connection> connections;
    TableReader reader(context, "LANESCOPE_TOPOLOGY",
                       {"gpuId", "peerGpuId", "nvlinkCount", "connection"}, "description");
    while (reader.next()) {
        const std::optional<int64_t> gpu = reader.integer(0);
        const std::optional<int64_t> peer = reader.integer(1);
        if (!gpu || !peer || *gpu == *peer || connections.size() >= maximumPairs) {
            reader.skipRow();
            continue;
        }
        // Some files have each pair twice, once from either side.
        connections.try_emplace(std::minmax(*gpu, *peer),
                                Connection{std::string(reader.text(3)), reader.integerOr(2, 0)});
    }
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
