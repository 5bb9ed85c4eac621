// SPDX-License-Identifier: Apache-2.0
#include "capture/record/PerfWatch.h"

#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "capture/perf/PerfEvents.h"
#include "capture/record/OutputName.h"
#include "capture/record/Recorder.h"

namespace lanescope::capture {

namespace {

constexpr uint64_t maximumFileBytes = uint64_t{4} << 30;

Error without(const Error& error) {
    return {error.sentence + " Without --cpu-samples it is recorded all the same."};
}

}  // namespace

Result<void> PerfWatch::check(const RecordOptions& options) {
    if (options.cpuSamplesHz <= 0) return {};
    if (auto allowed = tryPerfEvents(); !allowed) return fail(without(allowed.error()));
    return {};
}

Result<PerfWatch> PerfWatch::open(const RecordOptions& options, pid_t program,
                                  const std::filesystem::path& runFolder) {
    PerfWatch watch;
    if (options.cpuSamplesHz <= 0) return watch;
    PerfSettings settings;
    settings.hz = options.cpuSamplesHz;
    auto events = PerfEvents::open(program, settings);
    if (!events) return fail(without(events.error()));
    auto log =
        PerfLog::create(runFolder / fmt::format("{}.-.{}{}", hostName(), ::getpid(), perfLogEnding),
                        events->settings(), maximumFileBytes);
    if (!log) return fail(log.error());
    watch.drain_ = std::make_unique<PerfDrain>(std::move(*events), std::move(*log));
    return watch;
}

void PerfWatch::start(Collector& collector) {
    if (!drain_ || drain_->start()) return;
    drain_.reset();
    collector.note(HealthCode::SamplerAbsent,
                   "Samples and switches of threads are not recorded: there is no thread or memory "
                   "to be had for it.");
}

void PerfWatch::end(Collector& collector) {
    if (!drain_ || drain_->end()) return;
    collector.note(
        HealthCode::SamplerAbsent,
        fmt::format(
            "The last samples and switches of threads are missing: the disk did not take "
            "them within {} s.",
            std::chrono::duration_cast<std::chrono::seconds>(PerfDrain::usualPatience).count()));
}

}  // namespace lanescope::capture
