// SPDX-License-Identifier: Apache-2.0
#include "model/merge/rankFiles.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>

#include "model/fleet/readFleetReport.h"
#include "model/format/matchesPattern.h"
#include "model/format/rankInName.h"
#include "model/load/TraceFormat.h"

namespace lanescope {

namespace {

namespace fs = std::filesystem;

/// A job has fewer; a folder with more is something else.
constexpr size_t mostFiles = 4096;

/// Numbers in names by their size: "rank10" behind "rank9".
bool isBefore(const fs::path& a, const fs::path& b) {
    const std::string left = a.filename().string(), right = b.filename().string();
    const auto isDigit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    size_t i = 0, j = 0;
    while (i < left.size() && j < right.size()) {
        if (!isDigit(left[i]) || !isDigit(right[j])) {
            if (left[i] != right[j]) return left[i] < right[j];
            ++i;
            ++j;
            continue;
        }
        const auto numberAt = [&isDigit](const std::string& name, size_t& at) {
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

/// Those in `folder` whose name fits one of the patterns, without a report of them all.
Result<std::vector<fs::path>> filesIn(const fs::path& folder,
                                      const std::vector<std::string>& patterns) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator each(folder, error), end; !error && each != end;
         each.increment(error)) {
        const std::string name = each->path().filename().string();
        std::error_code ignored;
        const bool fits = std::any_of(
            patterns.begin(), patterns.end(),
            [&name](const std::string& pattern) { return matchesPattern(name, pattern); });
        if (!fits || name.starts_with('.') || !each->is_regular_file(ignored)) continue;
        if (each->path().extension() == ".sqlite" && fleet::isFleetReport(each->path())) continue;
        if (files.size() >= mostFiles)
            return fail("{} holds more than {} traces: name those that belong together.",
                        folder.string(), mostFiles);
        files.push_back(each->path());
    }
    if (error) return fail("Cannot read {}: {}.", folder.string(), error.message());
    std::sort(files.begin(), files.end(), isBefore);
    return files;
}

/// Takes out of `files`, which are of one folder, those packed ones that are there unpacked, too.
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

}  // namespace

Result<std::vector<fs::path>> filesMeantBy(std::span<const std::string> words,
                                           std::vector<fs::path>* twins) {
    std::vector<fs::path> files;
    std::set<fs::path> seen;
    for (const std::string& word : words) {
        const fs::path path = word;
        std::error_code error;
        Result<std::vector<fs::path>> meant = std::vector{path};
        const bool isPattern = word.find_first_of("*?") != std::string::npos;
        const bool isFile =
            !fs::is_directory(path, error) && (fs::exists(path, error) || !isPattern);
        if (fs::is_directory(path, error))
            meant = filesIn(path, namesOfTraces());
        else if (!isFile)
            meant = filesIn(path.has_parent_path() ? path.parent_path() : fs::path("."),
                            {path.filename().string()});
        if (!meant) return meant;
        if (meant->empty() && isPattern) return fail("No file is called like {}.", word);
        if (meant->empty()) return fail("{} holds no traces.", word);
        const std::vector<fs::path> packed = isFile ? std::vector<fs::path>{} : takeTwins(*meant);
        if (twins) twins->insert(twins->end(), packed.begin(), packed.end());
        for (fs::path& file : *meant)
            if (seen.insert(fs::weakly_canonical(file, error)).second)
                files.push_back(std::move(file));
    }
    std::error_code error;
    const auto isTaken = [&](const fs::path& twin) {
        return seen.contains(fs::weakly_canonical(twin, error));
    };
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

}  // namespace lanescope
