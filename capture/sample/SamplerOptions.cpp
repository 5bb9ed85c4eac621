// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/SamplerOptions.h"

#include <fmt/format.h>

#include <charconv>

namespace lanescope::capture {

std::vector<std::string> SamplerOptions::words() const {
    return {"folder=" + runFolder.string(),         "host=" + host,
            fmt::format("recorder={}", recorder),   fmt::format("counters={}", counterHz),
            fmt::format("gpm={}", usesGpm ? 1 : 0), fmt::format("metrics={}", metricsHz),
            fmt::format("clock={}", eventOffsetNs), "program=" + program};
}

Result<SamplerOptions> SamplerOptions::fromWords(const std::vector<std::string>& words) {
    SamplerOptions options;
    for (const std::string& word : words) {
        const size_t equals = word.find('=');
        const std::string_view name = std::string_view(word).substr(0, equals);
        const std::string_view value =
            equals == std::string::npos ? "" : std::string_view(word).substr(equals + 1);
        double number = 0;
        std::from_chars(value.data(), value.data() + value.size(), number);
        if (name == "folder") options.runFolder = value;
        if (name == "host") options.host = value;
        if (name == "recorder") options.recorder = static_cast<pid_t>(number);
        if (name == "counters") options.counterHz = number;
        if (name == "gpm") options.usesGpm = number != 0;
        if (name == "metrics") options.metricsHz = number;
        if (name == "program") options.program = value;
        if (name == "clock")
            std::from_chars(value.data(), value.data() + value.size(), options.eventOffsetNs);
    }
    if (options.runFolder.empty() || options.host.empty() || options.recorder <= 0)
        return fail("{} is for 'lanescope record' alone.", samplerCommand);
    return options;
}

}  // namespace lanescope::capture
