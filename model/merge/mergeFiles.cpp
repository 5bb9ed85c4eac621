// SPDX-License-Identifier: Apache-2.0
#include "model/merge/mergeFiles.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "model/analysis/storedSummary.h"
#include "model/export/traceFile.h"
#include "model/fleet/FleetReport.h"
#include "model/format/ReadWatch.h"
#include "model/format/checksums.h"
#include "model/format/factNames.h"
#include "model/format/files.h"
#include "model/format/optionValues.h"
#include "model/format/text.h"
#include "model/importers/TraceFormat.h"
#include "model/index/openTrace.h"

namespace lanescope {

namespace fs = std::filesystem;

namespace {

/// A job has fewer; a folder with more is something else.
constexpr size_t maxFiles = 4096;

/// Compares names with numbers by value: "rank10" after "rank9".
bool isBefore(const fs::path& a, const fs::path& b) {
    const std::string left = a.filename().string(), right = b.filename().string();
    size_t i = 0, j = 0;
    while (i < left.size() && j < right.size()) {
        if (!isDigit(left[i]) || !isDigit(right[j])) {
            if (left[i] != right[j]) return left[i] < right[j];
            ++i;
            ++j;
            continue;
        }
        const auto numberAt = [](const std::string& name, size_t& at) {
            while (at < name.size() && name[at] == '0') ++at;
            const size_t begin = at;
            while (at < name.size() && isDigit(name[at])) ++at;
            return name.substr(begin, at - begin);
        };
        const std::string one = numberAt(left, i), other = numberAt(right, j);
        if (one.size() != other.size()) return one.size() < other.size();
        if (one != other) return one < other;
    }
    return left.size() - i < right.size() - j;
}

/// Returns the files in `folder` whose name matches one of the patterns, without a report of them all.
Result<std::vector<fs::path>> filesIn(const fs::path& folder, const std::vector<std::string>& patterns) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
        const std::string name = each->path().filename().string();
        std::error_code ignored;
        const bool fits = std::ranges::any_of(
            patterns, [&name](const std::string& pattern) { return matchesPattern(name, pattern); });
        if (!fits || name.starts_with('.') || !each->is_regular_file(ignored)) continue;
        if (each->path().extension() == ".sqlite" && fleet::isFleetReport(each->path())) continue;
        if (files.size() >= maxFiles)
            return fail("{}: more than {} traces. Name the traces that belong together.", folder.string(), maxFiles);
        files.push_back(each->path());
    }
    if (error) return fail("Cannot read {}: {}.", folder.string(), error.message());
    std::ranges::sort(files, isBefore);
    return files;
}

/// Removes packed files whose unpacked file is also in `files`, all of one folder.
std::vector<fs::path> takeTwins(std::vector<fs::path>& files) {
    const std::set<fs::path> all(files.begin(), files.end());
    const auto isTwin = [&all](const fs::path& file) {
        return file.extension() == ".gz" && all.contains(fs::path(file).replace_extension());
    };
    std::vector<fs::path> twins;
    std::copy_if(files.begin(), files.end(), std::back_inserter(twins), isTwin);
    std::erase_if(files, isTwin);
    return twins;
}

std::vector<std::string> namesOfTraces() {
    std::istringstream words(formatPatterns());
    std::vector<std::string> patterns;
    for (std::string word; words >> word;) patterns.push_back(word);
    return patterns;
}

/// Shares of the progress.
constexpr double opened = 0.7, merged = 0.85;
/// Merged traces kept for viewing.
constexpr size_t maxKeptMerges = 8;

int lowestRank(const Trace& trace) {
    int lowest = std::numeric_limits<int>::max();
    for (const Process& process : trace.processes)
        if (process.rank) lowest = std::min(lowest, *process.rank);
    return lowest;
}

/// Returns the ranks of a file by its own statement, without reading events; empty if unknown.
std::set<int> ranksOf(const fs::path& file) {
    std::set<int> ranks;
    if (const auto summary = analysis::readRunSummary(file))
        for (const analysis::WorkerSummary& worker : summary->workers)
            if (worker.rank) ranks.insert(*worker.rank);
    return ranks;
}

/// Returns the files that may contain a part of the excerpt. A summary lists only ranks with GPU
/// work: a chosen rank in none of them may be in any.
std::vector<fs::path> filesOf(std::span<const fs::path> files, const TraceExcerpt& cut) {
    std::set<int> missing(cut.ranks.begin(), cut.ranks.end());
    std::vector<fs::path> wanted;
    for (const fs::path& file : files) {
        const std::set<int> ranks = cut.ranks.empty() ? std::set<int>() : ranksOf(file);
        if (ranks.empty() ||
            std::ranges::any_of(ranks, [&cut](int rank) { return std::ranges::binary_search(cut.ranks, rank); }))
            wanted.push_back(file);
        for (const int rank : ranks) missing.erase(rank);
    }
    return missing.empty() ? wanted : std::vector<fs::path>(files.begin(), files.end());
}

Result<std::vector<TracePtr>> openAll(std::span<const fs::path> files, bool mayWrite, const LoadProgress& progress) {
    OpenOptions how{.mayWrite = mayWrite};
    std::vector<TracePtr> traces;
    const auto share = opened / static_cast<double>(files.size());
    for (size_t index = 0; index < files.size(); ++index) {
        const auto begin = share * static_cast<double>(index);
        Result<TracePtr> trace = openTrace(files[index], how, partOf(progress, begin, begin + share));
        if (!trace) return fail(trace.error());
        traces.push_back(std::move(*trace));
    }
    std::ranges::stable_sort(traces, {}, [](const TracePtr& each) { return lowestRank(*each); });
    return traces;
}

Result<std::vector<HealthNote>> merge(std::span<const fs::path> files, const fs::path& output,
                                      const MergeOptions& options, const LoadProgress& progress) {
    for (const fs::path& file : files)
        if (const auto found = checkFile(file); !found) return fail(found.error());
    if (files.size() < (options.cut.isWhole() ? 2 : 1))
        return fail("A merge needs two traces or more, and there {}.",
                    files.empty() ? "is none" : "is only " + files.front().string());
    if (const Result<void> place = checkPlaceForTrace(output, files); !place) return fail(place.error());
    Result<std::vector<TracePtr>> traces = openAll(filesOf(files, options.cut), options.mayWriteIndexes, progress);
    if (!traces) return fail(traces.error());
    const auto isWanted = [&progress](double fraction, std::string_view what) {
        return !progress || progress(fraction, what);
    };
    const auto cancelled = [&output] { return fail("{}: merging was cancelled.", output.string()); };
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
    for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
        std::error_code ignored;
        if (each->path() != newest) kept.emplace_back(each->last_write_time(ignored), each->path());
    }
    std::sort(kept.rbegin(), kept.rend());
    const Result<Folder> parent = Folder::open(folder);
    for (size_t index = maxKeptMerges - 1; index < kept.size(); ++index) {
        const fs::path& old = kept[index].second;
        for (fs::directory_iterator each(old, error), end; !error && each != end; each.increment(error))
            if (each->path().extension() == ".sqlite")
                (void)removeIndexes(each->path());  // remaining files are removed with the next
        if (parent) static_cast<void>(parent->removeAll(old.filename()));
    }
}

/// Returns the display name of the merged trace of these files: "ranks, 8 traces.sqlite".
std::string nameOfMerge(std::span<const fs::path> files, const TraceExcerpt& cut) {
    constexpr size_t longest = 150, maxShownBytes = 60;
    const fs::path folder = files.front().parent_path();
    const bool areOfOneFolder =
        std::ranges::all_of(files, [&](const fs::path& file) { return file.parent_path() == folder; });
    std::string name = areOfOneFolder ? folder.filename().string() : std::string();
    if (name.empty() || name == "." || name == "..") name = files.front().stem().string();
    if (name.size() > longest) name = "merged";
    if (!cut.isWhole()) {
        const std::string what = describe(cut);
        return fmt::format("{}, {}.sqlite", name, what.size() > maxShownBytes ? "some ranks" : what);
    }
    return fmt::format("{}, {} traces.sqlite", name, files.size());
}

}  // namespace

Result<std::vector<fs::path>> filesMeantBy(std::span<const std::string> words, std::vector<fs::path>* twins) {
    std::vector<fs::path> files;
    std::set<fs::path> seen;
    for (const std::string& word : words) {
        const fs::path path = word;
        std::error_code error;
        Result<std::vector<fs::path>> meant = std::vector{path};
        const bool isPattern = word.find_first_of("*?") != std::string::npos;
        const bool isFile = !fs::is_directory(path, error) && (fs::exists(path, error) || !isPattern);
        if (fs::is_directory(path, error))
            meant = filesIn(path, namesOfTraces());
        else if (!isFile)
            meant = filesIn(path.has_parent_path() ? path.parent_path() : fs::path("."), {path.filename().string()});
        if (!meant) return meant;
        if (meant->empty() && isPattern) return fail("No file matches {}.", word);
        if (meant->empty()) return fail("{}: no traces in this folder.", word);
        const std::vector<fs::path> packed = isFile ? std::vector<fs::path>{} : takeTwins(*meant);
        if (twins) twins->insert(twins->end(), packed.begin(), packed.end());
        for (fs::path& file : *meant)
            if (seen.insert(fs::weakly_canonical(file, error)).second) files.push_back(std::move(file));
    }
    std::error_code error;
    const auto isTaken = [&](const fs::path& twin) { return seen.contains(fs::weakly_canonical(twin, error)); };
    if (twins) std::erase_if(*twins, isTaken);
    return files;
}

bool seemRanksOfOneJob(std::span<const TracePtr> traces) {
    constexpr int64_t hourNs = int64_t{3600} * 1'000'000'000;
    std::set<int> ranks;
    std::set<int> sizes;
    int64_t firstNs = 0, lastNs = 0;
    for (const TracePtr& trace : traces) {
        std::set<int> own;
        for (const Process& process : trace->processes) {
            if (process.rank) own.insert(*process.rank);
            if (process.worldSize) sizes.insert(*process.worldSize);
        }
        if (own.empty() && trace->processes.size() == 1)
            if (const std::optional<int> rank = rankInName(trace->title)) own.insert(*rank);
        if (own.empty()) return false;
        for (const int rank : own)
            if (!ranks.insert(rank).second) return false;
        if (trace->startUtcNs == 0) continue;
        if (firstNs == 0 || trace->startUtcNs < firstNs) firstNs = trace->startUtcNs;
        lastNs = std::max(lastNs, trace->startUtcNs);
    }
    return traces.size() > 1 && sizes.size() < 2 && lastNs - firstNs < hourNs;
}

Result<std::vector<HealthNote>> mergeFiles(std::span<const fs::path> files, const fs::path& output,
                                           const MergeOptions& options, const LoadProgress& progress) {
    return orOutOfMemory(output, [&] { return merge(files, output, options, progress); });
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
        for (const auto part : {static_cast<int64_t>(key->bytes), key->modifiedNs, key->fingerprint})
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
        return fail("No cache folder: name a file with lanescope merge -o FILE.");
    }
    if (const Result<Folder> cache = Folder::openCache("merged"); !cache) return fail(cache.error());
    if (const UniqueFd earlier = openTrustedFile(*path); earlier >= 0) return *path;
    if (const Result<void> made = makePrivateFolders(path->parent_path()); !made) return fail(made.error());
    removeOld(path->parent_path().parent_path(), path->parent_path());
    const auto notes = mergeFiles(files, *path, options, progress);
    if (!notes) return fail(notes.error());
    return *path;
}

}  // namespace lanescope
