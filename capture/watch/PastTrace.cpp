// SPDX-License-Identifier: Apache-2.0
#include "capture/watch/PastTrace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "capture/log/LogReader.h"
#include "capture/record/RunFolder.h"
#include "model/format/ReadWatch.h"

namespace lanescope::capture {

namespace {

/// Returns the files of logs that have a later part.
std::set<std::string> olderParts(const std::vector<std::string>& names) {
    std::map<std::string, std::pair<uint32_t, std::string>> latest;  // by log: number and name of a part
    std::set<std::string> older;
    for (const std::string& name : names) {
        const auto part = log::logPart(name);
        if (!part) continue;
        const auto [at, isNew] = latest.try_emplace(part->log, part->part, name);
        if (isNew) continue;
        older.insert(part->part > at->second.first ? at->second.second : name);
        if (part->part > at->second.first) at->second = {part->part, name};
    }
    return older;
}

}  // namespace

Result<PastTrace> PastTrace::begin(const Folder& logs, const RunInfo& info, std::filesystem::path trace, bool withPast,
                                   bool goesOn) {
    Result<Folder> links = Folder::createUnnamed(logs.path().parent_path());
    if (!links) return fail(links.error());
    // Named after the ring, so that a left one is found.
    for (int number = 1;
         links->assignName(fmt::format("{}{}{}", logs.path().string(), linksMark, number)) != 0 && number < 100;)
        ++number;
    PastTrace past(std::move(*links), std::move(trace));
    RunInfo known = info;
    if (auto withMachine = RunInfo::load(logs, runInfoWithMachineFileName)) known = std::move(*withMachine);
    known.goesOn = goesOn;
    if (auto saved = known.save(*past.links_, runInfoFileName); !saved) return fail(saved.error());
    if (!withPast) past.linked_ = olderParts(logs.names());
    past.extend(logs);
    if (past.count_ == 0)
        return fail("{}: the logs cannot be linked: {}. Choose another folder with --ring-on.", logs.path().string(),
                    std::strerror(errno));
    return past;
}

PastTrace::~PastTrace() {
    if (!links_) return;
    recover_.reset();
    for (const std::string& name : links_->names()) static_cast<void>(links_->removeFile(name));
    static_cast<void>(links_->removeSelf());
}

void PastTrace::extend(const Folder& logs) {
    for (const std::string& name : logs.names()) {
        if (linked_.contains(name)) continue;
        const bool isLog = isLogFile(name) || name == endFileName;
        if (isLog && ::linkat(logs.descriptor(), name.c_str(), links_->descriptor(), name.c_str(), 0) == 0)
            ++count_, linked_.insert(name);
    }
}

void PastTrace::make(const std::filesystem::path& program) {
    recover_.emplace(Subprocess::spawn(program,
                                       {"lanescope", "recover", "-o", trace_.string(), links_->path().string()},
                                       {.hasOwnGroup = true, .hasDefaultSignals = true}));
}

std::optional<bool> PastTrace::outcome(bool mayWait) {
    if (!recover_) return std::nullopt;
    if (recover_->pid() >= 0) {
        // The watch reaps all children, so the status may be lost. The file gets its name last.
        if (mayWait)
            recover_->wait();
        else if (!recover_->poll())
            return std::nullopt;
    }
    std::error_code error;
    const bool isMade = std::filesystem::is_regular_file(trace_, error);
    if (!isMade) static_cast<void>(removeFile(trace_.string() + std::string(unfinishedEnding)));
    return isMade;
}

}  // namespace lanescope::capture
