// SPDX-License-Identifier: Apache-2.0
#include "model/merge/mergeFiles.h"

#include <algorithm>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

#include "model/compare/storedSummary.h"
#include "model/export/traceFile.h"
#include "model/format/Fnv1a.h"
#include "model/format/checkFile.h"
#include "model/format/orNoMemory.h"
#include "model/index/indexPath.h"
#include "model/index/openTrace.h"
#include "model/merge/rankFiles.h"

namespace lanescope {

namespace {

namespace fs = std::filesystem;

/// Shares of the progress.
constexpr double opened = 0.7, merged = 0.85;
/// Merged traces that are kept for looking at.
constexpr size_t mostKept = 8;

int lowestRank(const Trace& trace) {
    int lowest = std::numeric_limits<int>::max();
    for (const Process& process : trace.processes)
        if (process.rank) lowest = std::min(lowest, *process.rank);
    return lowest;
}

/// The ranks that a file says it is of, without its events being read; none if it does not say.
std::set<int> ranksOf(const fs::path& file) {
    std::set<int> ranks;
    if (const auto summary = compare::readRunSummary(file))
        for (const compare::WorkerSummary& worker : summary->workers)
            if (worker.rank) ranks.insert(*worker.rank);
    return ranks;
}

/// The files in which something of the cut may be. A summary tells of ranks with work on a GPU
/// alone: where one that is asked for stands in none, it may be in any.
std::vector<fs::path> filesOf(std::span<const fs::path> files, const TraceCut& cut) {
    std::set<int> missing(cut.ranks.begin(), cut.ranks.end());
    std::vector<fs::path> wanted;
    for (const fs::path& file : files) {
        const std::set<int> ranks = cut.ranks.empty() ? std::set<int>() : ranksOf(file);
        if (ranks.empty() || std::any_of(ranks.begin(), ranks.end(), [&cut](int rank) {
                return std::binary_search(cut.ranks.begin(), cut.ranks.end(), rank);
            }))
            wanted.push_back(file);
        for (const int rank : ranks) missing.erase(rank);
    }
    return missing.empty() ? wanted : std::vector<fs::path>(files.begin(), files.end());
}

Result<std::vector<TracePtr>> openAll(std::span<const fs::path> files, bool mayWrite,
                                      const LoadProgress& progress) {
    OpenOptions how;
    how.mayWrite = mayWrite;
    std::vector<TracePtr> traces;
    const auto share = opened / static_cast<double>(files.size());
    for (size_t index = 0; index < files.size(); ++index) {
        const auto begin = share * static_cast<double>(index);
        Result<TracePtr> trace =
            openTrace(files[index], how, partOf(progress, begin, begin + share));
        if (!trace) return fail(trace.error());
        traces.push_back(std::move(*trace));
    }
    std::stable_sort(traces.begin(), traces.end(), [](const TracePtr& a, const TracePtr& b) {
        return lowestRank(*a) < lowestRank(*b);
    });
    return traces;
}

Result<std::vector<HealthNote>> merge(std::span<const fs::path> files, const fs::path& output,
                                      const MergeOptions& options, const LoadProgress& progress) {
    for (const fs::path& file : files)
        if (const auto found = checkFile(file); !found) return fail(found.error());
    if (files.size() < (options.cut.isWhole() ? 2 : 1))
        return fail("Merging takes two traces or more, and there {}.",
                    files.empty() ? "is none" : "is only " + files.front().string());
    if (const Result<void> place = checkPlaceForTrace(output, files); !place)
        return fail(place.error());
    Result<std::vector<TracePtr>> traces =
        openAll(filesOf(files, options.cut), options.mayWriteIndexes, progress);
    if (!traces) return fail(traces.error());
    const auto isWanted = [&progress](double fraction, std::string_view what) {
        return !progress || progress(fraction, what);
    };
    const auto cancelled = [&output] {
        return fail("Merging to {} was cancelled.", output.string());
    };
    if (!isWanted(opened, "merging")) return cancelled();
    Result<TraceBuilder> builder = mergeTraces(*traces, options);
    if (!builder) return fail(builder.error());
    for (const TracePtr& trace : *traces)
        if (const Result<void> sound = checkIndex(*trace); !sound) return fail(sound.error());
    traces->clear();
    builder->setPath(output);
    if (!isWanted(merged, "writing the trace")) return cancelled();
    if (const Result<void> written = writeSealedTraceFile(builder->trace(), output); !written)
        return fail(written.error());
    return builder->trace().health;
}

void removeOld(const fs::path& folder, const fs::path& newest) {
    std::vector<std::pair<fs::file_time_type, fs::path>> kept;
    std::error_code error;
    for (fs::directory_iterator each(folder, error), end; !error && each != end;
         each.increment(error)) {
        std::error_code ignored;
        if (each->path() != newest) kept.emplace_back(each->last_write_time(ignored), each->path());
    }
    std::sort(kept.rbegin(), kept.rend());
    for (size_t index = mostKept - 1; index < kept.size(); ++index) {
        const fs::path& old = kept[index].second;
        for (fs::directory_iterator each(old, error), end; !error && each != end;
             each.increment(error))
            if (each->path().extension() == ".sqlite")
                (void)removeIndexes(each->path());  // what stays is removed with the next
        fs::remove_all(old, error);
    }
}

/// What the merged trace of these files is called on a screen: "ranks, 8 traces.sqlite".
std::string nameOfMerge(std::span<const fs::path> files, const TraceCut& cut) {
    constexpr size_t longest = 150, mostSaid = 60;
    const fs::path folder = files.front().parent_path();
    const bool areOfOneFolder = std::all_of(files.begin(), files.end(), [&](const fs::path& file) {
        return file.parent_path() == folder;
    });
    std::string name = areOfOneFolder ? folder.filename().string() : std::string();
    if (name.empty() || name == "." || name == "..") name = files.front().stem().string();
    if (name.size() > longest) name = "merged";
    if (!cut.isWhole()) {
        const std::string what = describe(cut);
        return fmt::format("{}, {}.sqlite", name, what.size() > mostSaid ? "some ranks" : what);
    }
    return fmt::format("{}, {} traces.sqlite", name, files.size());
}

}  // namespace

Result<std::vector<HealthNote>> mergeFiles(std::span<const fs::path> files, const fs::path& output,
                                           const MergeOptions& options,
                                           const LoadProgress& progress) {
    return orNoMemory(output, [&] { return merge(files, output, options, progress); });
}

std::optional<fs::path> keptMerge(std::span<const fs::path> files, const MergeOptions& options) {
    const std::optional<fs::path> folder = cacheFolder("merged");
    if (!folder || files.empty()) return std::nullopt;
    Fnv1a hash;
    for (const fs::path& file : files) {
        const std::optional<SourceKey> key = sourceKeyOf(file);
        std::error_code error;
        if (!key) return std::nullopt;
        hash.add(fs::weakly_canonical(file, error).string());
        for (const auto part :
             {static_cast<int64_t>(key->bytes), key->modifiedNs, key->fingerprint})
            hash.add(static_cast<uint64_t>(part));
    }
    hash.add(static_cast<uint64_t>(options.method ? static_cast<int>(*options.method) + 1 : 0));
    if (!options.cut.isWhole()) hash.add(describe(options.cut));
    return *folder / fmt::format("{:016x}", hash.value()) / nameOfMerge(files, options.cut);
}

Result<fs::path> openableMerge(std::span<const fs::path> files, const MergeOptions& options,
                               const LoadProgress& progress) {
    const std::optional<fs::path> path = keptMerge(files, options);
    if (!path) {
        for (const fs::path& file : files)
            if (!sourceKeyOf(file)) return fail("Cannot read {}.", file.string());
        return fail("There is no folder for caches; name a file with lanescope merge -o FILE.");
    }
    std::error_code error;
    if (fs::exists(*path, error)) return *path;
    fs::create_directories(path->parent_path(), error);
    removeOld(path->parent_path().parent_path(), path->parent_path());
    const auto notes = mergeFiles(files, *path, options, progress);
    if (!notes) return fail(notes.error());
    return *path;
}

}  // namespace lanescope
