// SPDX-License-Identifier: Apache-2.0
#include "capture/watch/watchRequests.h"

#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "capture/log/clocks.h"
#include "capture/record/ChildProcess.h"
#include "capture/record/RunFolder.h"
#include "model/format/OutputFile.h"
#include "model/format/parseNumber.h"

namespace lanescope::capture {

namespace {

constexpr const char* cacheName = "lanescope-watch";
constexpr uint64_t maxFileBytes = 64 << 10;
constexpr size_t maxReasonBytes = 200;
constexpr int64_t maxSteps = 1'000'000;

nlohmann::json parsed(const UniqueFd& file) {
    std::string text(maxFileBytes, '\0');
    text.resize(file >= 0 ? readAllAt(file, text.data(), text.size(), 0) : 0);
    return nlohmann::json::parse(text, nullptr, false);
}

template <class Value>
Value valueOf(const nlohmann::json& json, const char* key, Value other) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    if constexpr (std::is_same_v<Value, bool>)
        return found != json.end() && found->is_boolean() ? found->get<bool>() : other;
    if constexpr (std::is_same_v<Value, int64_t>)
        return found != json.end() && found->is_number_integer() ? found->get<int64_t>() : other;
    if constexpr (std::is_same_v<Value, std::string>)
        return found != json.end() && found->is_string() ? found->get<std::string>() : other;
}

std::string entryBegin() { return hostName() + "."; }

}  // namespace

Result<void> putRequest(const std::filesystem::path& runFolder, const WatchRequest& request) {
    const nlohmann::json json{{"reason", request.reason}, {"steps", request.steps}, {"past", request.hasPast}};
    return writeAtomically(runFolder / fmt::format("{}{}", watchRequestBegin, log::monotonicNs()),
                           json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::vector<WatchRequest> takeRequests(const Folder& runFolder) {
    std::vector<WatchRequest> requests;
    for (const std::string& name : runFolder.names()) {
        // Other names are of files that are still written.
        if (!name.starts_with(watchRequestBegin) ||
            name.find_first_not_of("0123456789-", watchRequestBegin.size()) != std::string::npos)
            continue;
        const nlohmann::json json = parsed(runFolder.openFile(name));
        static_cast<void>(runFolder.removeFile(name));
        if (!json.is_object()) continue;
        WatchRequest request;
        request.reason = valueOf(json, "reason", request.reason).substr(0, maxReasonBytes);
        request.steps = std::clamp<int64_t>(valueOf(json, "steps", request.steps), 0, maxSteps);
        request.hasPast = valueOf(json, "past", request.hasPast);
        requests.push_back(std::move(request));
    }
    return requests;
}

WatchEntry::WatchEntry(const KnownWatch& watch) {
    const Result<Folder> folder = Folder::openCache(cacheName);
    if (!folder) return;
    const nlohmann::json json{{"pid", watch.pid},
                              {"program", watch.program},
                              {"name", watch.name},
                              {"runFolder", watch.runFolder.string()},
                              {"output", watch.output.string()}};
    name_ = entryBegin() + std::to_string(watch.pid);
    static_cast<void>(
        writeAtomically(folder->path() / name_, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

WatchEntry::~WatchEntry() {
    if (name_.empty()) return;
    const Result<Folder> folder = Folder::openCache(cacheName);
    if (folder) static_cast<void>(folder->removeFile(name_));
}

std::vector<KnownWatch> runningWatches() {
    std::vector<KnownWatch> watches;
    const Result<Folder> folder = Folder::openCache(cacheName);
    if (!folder) return watches;
    for (const std::string& name : folder->names()) {
        if (!name.starts_with(entryBegin())) continue;
        const nlohmann::json json = parsed(openTrustedFile(folder->path() / name));
        KnownWatch watch;
        watch.pid = static_cast<int>(valueOf<int64_t>(json, "pid", 0));
        watch.program = static_cast<int>(valueOf<int64_t>(json, "program", 0));
        watch.name = valueOf(json, "name", std::string());
        watch.runFolder = valueOf(json, "runFolder", std::string());
        watch.output = valueOf(json, "output", std::string());
        const bool runs = watch.pid > 0 && (::kill(watch.pid, 0) == 0 || errno == EPERM);
        if (runs && Folder::open(watch.runFolder))
            watches.push_back(std::move(watch));
        else if (!runs)
            static_cast<void>(folder->removeFile(name));
    }
    return watches;
}

Result<KnownWatch> findWatch(const std::string& pidOrName) {
    const std::vector<KnownWatch> watches = runningWatches();
    if (watches.empty()) return fail("No 'lanescope watch' of this user runs on this host.");
    std::vector<KnownWatch> found;
    const int pid = parseNumber<int>(pidOrName).value_or(0);
    std::vector<pid_t> family;  // the process and those above it
    if (pid > 1) {
        family = ancestorsOf(pid);
        family.insert(family.begin(), pid);
        std::erase(family, 1);
    }
    for (const KnownWatch& watch : watches) {
        bool matches = watch.name == pidOrName || watch.output.filename() == pidOrName ||
                       watch.output == (std::filesystem::absolute(pidOrName) / "").lexically_normal().parent_path();
        // The process that the user started is the parent of the watch.
        const std::vector<pid_t> above = ancestorsOf(watch.pid);
        for (const pid_t each : family)
            matches =
                matches || each == watch.pid || each == watch.program || (!above.empty() && each == above.front());
        if (matches) found.push_back(watch);
    }
    if (found.size() == 1) return found.front();
    std::string known;
    for (const KnownWatch& watch : watches)
        known += fmt::format("{}{} (process {})", known.empty() ? "" : ", ", watch.name, watch.program);
    return fail(
        "{}: {}. Running: {}.", pidOrName,
        found.empty() ? "no watched program has this name or process id" : "several watched programs have this name",
        known);
}

}  // namespace lanescope::capture
