// SPDX-License-Identifier: Apache-2.0
#include "capture/machine/MeasuredPeaks.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include "model/format/optionValues.h"

#include "model/format/OutputFile.h"
#include "model/format/files.h"

namespace lanescope::capture {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t maxPeaks = 1 << 14;
constexpr uint64_t maxFileBytes = 16u << 20;
constexpr int version = 1;

std::string textIn(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int64_t numberIn(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

}  // namespace

Result<std::filesystem::path> MeasuredPeaks::defaultFile() {
    if (const std::string state = environment("XDG_STATE_HOME"); !state.empty())
        return std::filesystem::path(state) / "lanescope" / "peaks.json";
    if (const std::string home = environment("HOME"); !home.empty())
        return std::filesystem::path(home) / ".local" / "state" / "lanescope" / "peaks.json";
    return fail("No place for measured peaks: set XDG_STATE_HOME or HOME.");
}

Result<MeasuredPeaks> MeasuredPeaks::load(const std::filesystem::path& file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error))
        return fail("{}: not found. Run 'lanescope doctor --measure'.", file.string());
    const Result<std::string> text = readRegularFile(file, maxFileBytes);
    if (!text) return fail(text.error());
    const Json json = Json::parse(*text, nullptr, false);
    const auto peaks = json.is_object() ? json.find("peaks") : json.end();
    if (!json.is_object() || peaks == json.end() || !peaks->is_array() || numberIn(json, "version") != version)
        return fail("{}: no measured peaks in it. Remove it and measure again.", file.string());
    MeasuredPeaks result{.measuredAtUtcNs = numberIn(json, "measuredAtUtcNs")};
    for (const Json& each : *peaks) {
        if (!each.is_object() || result.peaks.size() >= maxPeaks) continue;
        MeasuredPeak peak{textIn(each, "kind"),      textIn(each, "gpuUuid"), textIn(each, "peerUuid"),
                          textIn(each, "direction"), textIn(each, "memory"),  numberIn(each, "bytesPerSecond")};
        if (!peak.kind.empty() && !peak.gpuUuid.empty() && peak.bytesPerSecond > 0)
            result.peaks.push_back(std::move(peak));
    }
    if (const auto roofs = json.find("roofs"); roofs != json.end() && roofs->is_array())
        for (const Json& each : *roofs) {
            if (!each.is_object() || result.roofs.size() >= maxPeaks) continue;
            MeasuredRoof roof{
                textIn(each, "kind"),          textIn(each, "gpuUuid"),      textIn(each, "operation"),
                numberIn(each, "m"),           numberIn(each, "n"),          numberIn(each, "k"),
                numberIn(each, "perSecond"),   numberIn(each, "smClockMhz"), numberIn(each, "powerMilliwatts"),
                numberIn(each, "temperature"), textIn(each, "software")};
            // Faster than any GPU, so that the file is wrong.
            constexpr int64_t maxMhz = 1'000'000;
            roof.smClockMhz = std::clamp<int64_t>(roof.smClockMhz, 0, maxMhz);
            if (!roof.kind.empty() && !roof.gpuUuid.empty() && roof.perSecond > 0)
                result.roofs.push_back(std::move(roof));
        }
    return result;
}

Result<void> MeasuredPeaks::save(const std::filesystem::path& file) const {
    Json list = Json::array();
    for (const MeasuredPeak& peak : peaks)
        list.push_back({{"kind", peak.kind},
                        {"gpuUuid", peak.gpuUuid},
                        {"peerUuid", peak.peerUuid},
                        {"direction", peak.direction},
                        {"memory", peak.memory},
                        {"bytesPerSecond", peak.bytesPerSecond}});
    Json rates = Json::array();
    for (const MeasuredRoof& roof : roofs)
        rates.push_back({{"kind", roof.kind},
                         {"gpuUuid", roof.gpuUuid},
                         {"operation", roof.operation},
                         {"m", roof.m},
                         {"n", roof.n},
                         {"k", roof.k},
                         {"perSecond", roof.perSecond},
                         {"smClockMhz", roof.smClockMhz},
                         {"powerMilliwatts", roof.powerMilliwatts},
                         {"temperature", roof.temperature},
                         {"software", roof.software}});
    const Json all{{"version", version},
                   {"measuredAtUtcNs", measuredAtUtcNs},
                   {"peaks", std::move(list)},
                   {"roofs", std::move(rates)}};
    if (file.has_parent_path())
        if (const Result<void> made = makePrivateFolders(file.parent_path()); !made) return made;
    return writeAtomically(file, all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n",
                           AtomicFile::defaultMode);
}

void MeasuredPeaks::merge(const MeasuredPeaks& newer) {
    std::set<std::string> measured;
    for (const MeasuredPeak& peak : newer.peaks) measured.insert(peak.gpuUuid);
    for (const MeasuredRoof& roof : newer.roofs) measured.insert(roof.gpuUuid);
    std::erase_if(peaks, [&](const MeasuredPeak& peak) { return measured.contains(peak.gpuUuid); });
    peaks.insert(peaks.end(), newer.peaks.begin(), newer.peaks.end());
    std::erase_if(roofs, [&](const MeasuredRoof& roof) { return measured.contains(roof.gpuUuid); });
    roofs.insert(roofs.end(), newer.roofs.begin(), newer.roofs.end());
    measuredAtUtcNs = newer.measuredAtUtcNs;
}

}  // namespace lanescope::capture
