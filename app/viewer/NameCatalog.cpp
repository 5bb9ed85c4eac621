// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/NameCatalog.h"

#include "views/jobs/LatestJob.h"
#include "views/text/fuzzyMatch.h"

namespace lanescope::viewer {

namespace {

/// More than anybody looks through; "step 1" to "step 1000000" are names, too.
constexpr size_t mostNames = 200'000;

}  // namespace

FinderNames distinctNames(const Trace& trace) {
    FinderNames result;
    std::vector<bool> isTaken(trace.strings.size(), false);
    const auto add = [&](StringIndex index, const char* kind) {
        if (index == 0 || index >= isTaken.size() || isTaken[index]) return;
        if (result.names.size() == mostNames) return;
        isTaken[index] = true;
        result.names.push_back({std::string(trace.strings.at(index)), kind});
    };
    for (const LaunchConfig& config : trace.launchConfigs)
        add(config.shortName, QT_TRANSLATE_NOOP("FinderModel", "kernel"));
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row)
        add(trace.nvtx.text[row], QT_TRANSLATE_NOOP("FinderModel", "NVTX range"));
    for (uint32_t row = 0; row < trace.apiCalls.size(); ++row)
        add(trace.apiCalls.name[row], QT_TRANSLATE_NOOP("FinderModel", "CUDA API call"));
    result.lowered.reserve(result.names.size());
    for (const FinderNames::Name& name : result.names)
        result.lowered.push_back(views::lowerAscii(name.text));
    return result;
}

NameCatalog::NameCatalog(QObject* parent) : QObject(parent), job_(new views::LatestJob(this)) {}

void NameCatalog::request(const TracePtr& trace, std::function<void(const Names&)> use) {
    if (!trace) return;
    if (names_ && trace_.lock() == trace) return use(names_);
    job_->start([this, trace, use = std::move(use)]() -> views::LatestJob::Publish {
        auto names = std::make_shared<const FinderNames>(distinctNames(*trace));
        return [this, trace, use, names] {
            trace_ = trace;
            names_ = names;
            use(names);
        };
    });
}

bool NameCatalog::isGathering() const {
    return job_->isRunning();
}

}  // namespace lanescope::viewer
