// SPDX-License-Identifier: Apache-2.0
#include "capture/record/recover.h"

#include <algorithm>

#include "capture/log/LogReader.h"
#include "capture/log/namesIn.h"
#include "capture/perf/readPerfLog.h"
#include "capture/record/OutputName.h"
#include "capture/record/RunFolder.h"

namespace lanescope::capture {

namespace {

struct FoundLogs {
    int count = 0;
    int readable = 0;
    int64_t earliestNs = 0;  ///< When the first of them was begun; 0 if none says.
};

FoundLogs findLogs(const std::filesystem::path& folder) {
    FoundLogs found;
    log::RecordVisitor ignoreRecords;
    for (const std::string& name : log::namesIn(folder)) {
        const std::filesystem::path path = folder / name;
        if (path.extension() == perfLogEnding) {
            ++found.count;
            if (PerfLogFile::open(path)) ++found.readable;
            continue;
        }
        if (path.extension() != ".log") continue;
        ++found.count;
        auto reader = log::LogReader::open(path);
        if (!reader || !reader->poll(ignoreRecords, 0) || !reader->header()) continue;
        ++found.readable;
        const int64_t begunNs = reader->header()->realtimeNs;
        if (found.earliestNs == 0 || begunNs < found.earliestNs) found.earliestNs = begunNs;
    }
    return found;
}

}  // namespace

Result<CollectedRun> recover(const RecoverOptions& options) {
    const auto folder = RunFolder::takeOver(options.runFolder);
    if (!folder) return fail(folder.error());
    const FoundLogs logs = findLogs(folder->path());
    if (logs.count == 0)
        return fail("The folder {} holds no log: there is nothing to recover.",
                    options.runFolder.string());
    if (logs.readable == 0)
        return fail(
            "The folder {} holds no Lanescope log that can be read: what is there is cut in "
            "its first bytes or something else.",
            options.runFolder.string());
    const std::filesystem::path output =
        options.output.empty() ? outputForRunFolder(options.runFolder) : options.output;
    if (auto possible = checkOutput(output, options.overwrite); !possible)
        return fail(possible.error());

    // Without what `record` knew of the run, time 0 is where the first log begins.
    RunInfo info;
    for (const char* file : {runInfoFileName, runInfoWithMachineFileName})
        if (auto known = RunInfo::load(folder->path() / file); known) info = *known;
    if (info.startRealtimeNs == 0) info.startRealtimeNs = logs.earliestNs;
    auto collector = Collector::begin(folder->path(), output, std::move(info));
    if (!collector) return fail(collector.error());
    return (*collector)->finish(std::nullopt, options.overwrite, options.closing);
}

}  // namespace lanescope::capture
