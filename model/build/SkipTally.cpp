// SPDX-License-Identifier: Apache-2.0
#include "model/build/SkipTally.h"

#include <fmt/format.h>

#include "model/values/formatTable.h"

namespace lanescope {

namespace {

HealthNote counted(Severity severity, HealthCode code, std::string sentence, int64_t count) {
    return {severity, code, std::move(sentence), {}, {}, count};
}

}  // namespace

void SkipTally::addRows(std::string_view where, int64_t rows) {
    if (rows > 0) byPlace_.try_emplace(std::string(where)).first->second.rows += rows;
}

void SkipTally::addValues(std::string_view where, int64_t values) {
    if (values > 0) byPlace_.try_emplace(std::string(where)).first->second.values += values;
}

void SkipTally::addCounter(const CounterValues& values) {
    resets_ += values.resetCount;
    wraps_ += values.wrapCount;
}

void SkipTally::note(std::vector<HealthNote>& health) const {
    if (resets_ > 0)
        health.push_back(counted(
            Severity::Warning, HealthCode::CountersReset,
            fmt::format("Sampled counters went backwards {} time{}, as after a reset of the GPU; "
                        "what they counted in those intervals is unknown.",
                        formatCount(resets_), resets_ == 1 ? "" : "s"),
            resets_));
    if (wraps_ > 0)
        health.push_back(counted(
            Severity::Info, HealthCode::CountersWrapped,
            fmt::format("Sampled counters reached their end and went on from 0 {} time{}; that is "
                        "made up for.",
                        formatCount(wraps_), wraps_ == 1 ? "" : "s"),
            wraps_));
    for (const auto& [where, tally] : byPlace_) {
        if (tally.rows > 0)
            health.push_back(
                counted(Severity::Warning, HealthCode::RowsLeftOut,
                        fmt::format("{} {} left out: what {} makes no sense there.",
                                    formatCount(tally.rows),
                                    tally.rows == 1 ? fmt::format("row of {} was", where)
                                                    : fmt::format("rows of {} were", where),
                                    tally.rows == 1 ? "it holds" : "they hold"),
                        tally.rows));
        if (tally.values > 0)
            health.push_back(counted(
                Severity::Warning, HealthCode::ValuesIgnored,
                fmt::format("{} in {} {} of the wrong kind or out of range.",
                            tally.values == 1 ? "1 value" : formatCount(tally.values) + " values",
                            where,
                            tally.values == 1 ? "was ignored: it is" : "were ignored: they are"),
                tally.values));
    }
}

}  // namespace lanescope
