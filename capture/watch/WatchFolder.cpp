// SPDX-License-Identifier: Apache-2.0
#include "capture/watch/WatchFolder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "capture/record/RunFolder.h"
#include "model/format/OutputFile.h"

namespace lanescope::capture {

namespace {

constexpr const char* stepsName = "steps.jsonl";
constexpr const char* olderStepsName = "steps.1.jsonl";
constexpr const char* metricsName = "metrics.prom";
constexpr const char* dumpName = "dump";
constexpr double firstBucketSeconds = 0.001;  // each following one is twice as long

double milliseconds(int64_t ns) { return std::round(static_cast<double>(ns) / 1e3) / 1e3; }
double seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

std::string_view nameOf(WatchCause cause) {
    static constexpr std::array<std::string_view, watchCauseCount> names{"slow-step",  "level-change",  "hang",
                                                                         "nccl-abort", "out-of-memory", "mark",
                                                                         "request",    "process-died",  "failed"};
    return names[static_cast<size_t>(cause)];
}

Result<WatchFolder> WatchFolder::claim(const std::string& pattern, int pid) {
    for (int number = 1;; ++number) {
        const auto name = expandOutputPattern(pattern, {pid, number});
        if (!name) return fail(name.error());
        const std::filesystem::path wanted = std::filesystem::absolute(*name);
        Result<Folder> made = Folder::createUnnamed(wanted.parent_path());
        if (!made) return fail(made.error());
        // An empty folder could be replaced by another watch that begins now.
        const UniqueFd first = made->createFile(metricsName);
        const int problem = first >= 0 ? made->assignName(wanted) : errno;
        if (problem == 0) return WatchFolder(std::move(*made));
        static_cast<void>(made->removeFile(metricsName));
        static_cast<void>(made->removeSelf());
        if (problem != EEXIST && problem != ENOTEMPTY)
            return fail("{}: cannot create the folder: {}.", wanted.string(), std::strerror(problem));
        if (!isNumbered(pattern))
            return fail("{}: the folder exists and is not empty. Choose another one with -o.", wanted.string());
    }
}

void WatchFolder::addStep(const MeasuredStep& step, const StepContext& context) {
    Sums& sums = sums_[context.rank];
    ++sums.steps;
    sums.ns += step.durationNs();
    sums.busyNs += step.busyNs;
    // The collectives and copies inside of a whole graph are unknown.
    const bool hasKinds = step.graphs == 0;
    if (hasKinds) {
        sums.communicationNs += step.communicationNs;
        sums.exposedNs += step.exposedNs;
        sums.copyNs += step.copyNs;
    }
    if (context.lateRank == context.rank) sums.lateNs += context.lateNs;
    const double bucket = std::ceil(std::log2(std::max(seconds(step.durationNs()) / firstBucketSeconds, 1.0)));
    ++sums.buckets[std::min<size_t>(static_cast<size_t>(bucket), sums.buckets.size() - 1)];

    nlohmann::ordered_json line{{"time", seconds(step.startNs)},
                                {"step", step.number},
                                {"name", step.name},
                                {"process", context.processId},
                                {"ms", milliseconds(step.durationNs())}};
    if (context.rank >= 0) line["rank"] = context.rank;
    line["level"] = context.level;
    // Without kernels in the log the GPU's times are unknown, not 0.
    if (context.level == "kernels" || context.level == "all") {
        line["busy_ms"] = milliseconds(step.busyNs);
        line[hasKinds ? "kernels" : "graphs"] = hasKinds ? step.kernels : step.graphs;
    }
    if (line.contains("kernels")) {
        line["communication_ms"] = milliseconds(step.communicationNs);
        line["exposed_communication_ms"] = milliseconds(step.exposedNs);
        line["copy_ms"] = milliseconds(step.copyNs);
    }
    if (context.lateRank >= 0) {
        line["late_rank"] = context.lateRank;
        line["late_ms"] = milliseconds(context.lateNs);
    }
    if (context.medianNs > 0) line["median_ms"] = milliseconds(context.medianNs);
    if (context.isSlow) line["slow"] = true;
    for (const auto& [name, share] : {std::pair("tensor_activity", context.tensorActivity), {"mfu", context.mfu}})
        if (std::isfinite(share)) line[name] = std::round(share * 1e3) / 1e3, line["mfu_steps"] = context.readSteps;
    if (std::isfinite(context.mfu)) sums.mfu = context.mfu;
    const std::string text = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    if (stepBytes_ + text.size() > maxStepBytes && steps_ >= 0) {
        steps_.reset();
        static_cast<void>(folder_->moveTo(stepsName, *folder_, olderStepsName));
    }
    if (steps_ < 0) {
        steps_ = folder_->createFile(stepsName, Folder::Access::Append);
        stepBytes_ = 0;
    }
    // On a full disk the line is lost, and only that.
    if (steps_ >= 0 && writeAll(steps_, text.data(), text.size()))
        stepBytes_ += text.size();
    else if (steps_ >= 0)
        static_cast<void>(::ftruncate(steps_, static_cast<off_t>(stepBytes_)));
}

void WatchFolder::writeMetrics(std::string_view level, bool hangs) {
    std::string text;
    const auto family = [&text](std::string_view name, std::string_view type, std::string_view help) {
        text += fmt::format("# TYPE lanescope_{0} {1}\n# HELP lanescope_{0} {2}\n", name, type, help);
    };
    family("step_seconds", "histogram", "Duration of steps by rank.");
    for (const auto& [rank, sums] : sums_) {
        int64_t count = 0;
        for (size_t bucket = 0; bucket < sums.buckets.size(); ++bucket) {
            count += sums.buckets[bucket];
            const bool isLast = bucket + 1 == sums.buckets.size();
            const std::string bound =
                isLast ? "+Inf" : fmt::format("{:.3f}", firstBucketSeconds * std::pow(2, static_cast<double>(bucket)));
            text += fmt::format("lanescope_step_seconds_bucket{{rank=\"{}\",le=\"{}\"}} {}\n", rank, bound, count);
        }
        text += fmt::format(
            "lanescope_step_seconds_sum{{rank=\"{0}\"}} {1:.6f}\nlanescope_step_seconds_count{{rank=\"{0}\"}} {2}\n",
            rank, seconds(sums.ns), sums.steps);
    }
    const auto total = [&](std::string_view name, std::string_view help, int64_t Sums::*member) {
        family(name, "counter", help);
        for (const auto& [rank, sums] : sums_)
            text += fmt::format("lanescope_{}_total{{rank=\"{}\"}} {:.6f}\n", name, rank, seconds(sums.*member));
    };
    total("gpu_busy_seconds", "Time of steps in which the GPU worked.", &Sums::busyNs);
    total("communication_seconds", "Time in which a collective ran, without steps with whole CUDA graphs.",
          &Sums::communicationNs);
    total("exposed_communication_seconds", "Time in which only collectives ran, without such steps.", &Sums::exposedNs);
    total("copy_seconds", "Time in which a copy ran, without such steps.", &Sums::copyNs);
    total("late_seconds", "Time for which other ranks waited for this one in collectives.", &Sums::lateNs);
    family("mfu", "gauge", "Share of the peak of the data sheet in the latest step with readings.");
    for (const auto& [rank, sums] : sums_)
        if (std::isfinite(sums.mfu)) text += fmt::format("lanescope_mfu{{rank=\"{}\"}} {:.3f}\n", rank, sums.mfu);
    family("traces", "counter", "Traces of the ring by cause.");
    for (size_t cause = 0; cause < watchCauseCount; ++cause)
        text += fmt::format("lanescope_traces_total{{cause=\"{}\"}} {}\n", nameOf(static_cast<WatchCause>(cause)),
                            traces_[cause]);
    family("recording_level", "gauge", "1 for the present level of recording.");
    for (const std::string_view each : {"asleep", "steps", "kernels", "all"})
        text += fmt::format("lanescope_recording_level{{level=\"{}\"}} {}\n", each, each == level ? 1 : 0);
    family("hang", "gauge", "1 while no rank makes progress.");
    text += fmt::format("lanescope_hang {}\n# EOF\n", hangs ? 1 : 0);
    writeFile(metricsName, text);
}

void WatchFolder::writeFile(const std::string& name, std::string_view text) {
    // On a full disk the former file stays.
    static_cast<void>(writeAtomically(folder_->presentPath() / name, text));
}

void WatchFolder::addHang(const std::string& name, std::string_view text, std::string_view json) {
    writeFile(name + ".txt", text);
    writeFile(name + ".json", json);
    hangs_.push_back(name);
    if (hangs_.size() <= maxHangs) return;
    for (const char* ending : {".txt", ".json"}) static_cast<void>(folder_->removeFile(hangs_.front() + ending));
    hangs_.pop_front();
}

std::filesystem::path WatchFolder::freeTrace(const std::string& name) const {
    std::string file = name + ".sqlite";
    for (int number = 2; folder_->contains(file); ++number) file = fmt::format("{}-{}.sqlite", name, number);
    return folder_->presentPath() / file;
}

void WatchFolder::keepTrace(const std::filesystem::path& trace, size_t maxCount) {
    kept_.push_back(trace);
    while (kept_.size() > maxCount) {
        const std::string name = kept_.front().filename().string();
        for (const std::string& each : {name, name + ".lanescope-index"}) static_cast<void>(folder_->removeFile(each));
        kept_.pop_front();
    }
}

bool WatchFolder::takeDumpFile() const { return folder_->contains(dumpName) && folder_->removeFile(dumpName) == 0; }

}  // namespace lanescope::capture
