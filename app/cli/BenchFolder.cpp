// SPDX-License-Identifier: Apache-2.0
#include "app/cli/BenchFolder.h"

#include <fmt/format.h>

#include <system_error>
#include <vector>

namespace lanescope::cli {

namespace {

namespace fs = std::filesystem;

std::string letter(BenchSide side) {
    return side == BenchSide::Baseline ? "A" : "B";
}

}  // namespace

Result<BenchFolder> BenchFolder::make(const std::string& folder) {
    BenchFolder made;
    std::error_code error;
    for (int number = 1; folder.empty(); ++number) {
        made.path_ = fmt::format("lanescope-bench-{}", number);
        // False, and no error, if it is there.
        if (fs::create_directory(made.path_, error)) return made;
        if (error) return fail("Cannot make {}: {}.", made.path_.string(), error.message());
    }
    made.path_ = folder;
    fs::create_directories(made.path_, error);
    if (error) return fail("Cannot make the folder {}: {}.", folder, error.message());
    if (!fs::is_empty(made.path_, error) || error)
        return fail("The folder {} is not empty: name another with -o.", folder);
    return made;
}

std::string BenchFolder::runName(BenchSide side, int round) {
    return fmt::format("{}{}", letter(side), round);
}

std::filesystem::path BenchFolder::trace(BenchSide side, int round) const {
    return path_ / (runName(side, round) + ".sqlite");
}

std::filesystem::path BenchFolder::log(BenchSide side, int round) const {
    return path_ / (runName(side, round) + ".log");
}

std::filesystem::path BenchFolder::warmUpLog(BenchSide side) const {
    return path_ / (letter(side) + "-warm-up.log");
}

void BenchFolder::removeTrace(BenchSide side, int round) const {
    const std::string name = trace(side, round).filename().string();
    std::vector<fs::path> left;
    std::error_code error;
    for (fs::directory_iterator at(path_, error), end; !error && at != end; at.increment(error)) {
        const std::string each = at->path().filename().string();
        if (each.starts_with(name) || each.starts_with("." + name)) left.push_back(at->path());
    }
    for (const fs::path& each : left) fs::remove_all(each, error);
}

}  // namespace lanescope::cli
