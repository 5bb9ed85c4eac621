// SPDX-License-Identifier: Apache-2.0
#include "model/answers/FolderGate.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace lanescope::answers {

namespace fs = std::filesystem;

Result<FolderGate> FolderGate::of(const std::vector<std::string>& folders) {
    FolderGate gate;
    for (const std::string& folder : folders) {
        std::error_code error;
        gate.folders_.push_back(fs::canonical(folder, error));
        if (error || !fs::is_directory(gate.folders_.back(), error)) return fail("{}: no folder. Name one.", folder);
    }
    return gate;
}

bool FolderGate::contains(const fs::path& resolved) const {
    return std::ranges::any_of(folders_, [&resolved](const fs::path& folder) {
        return std::ranges::mismatch(folder, resolved).in1 == folder.end();
    });
}

std::string FolderGate::refusal(const std::string& name) const {
    std::string list;
    for (const fs::path& folder : folders_) list += (list.empty() ? "" : ", ") + folder.string();
    constexpr size_t maxShownName = 200;
    return fmt::format("{}: no such file in the folders of this server ({}).", name.substr(0, maxShownName), list);
}

Result<fs::path> FolderGate::find(const std::string& name) const {
    for (const fs::path& folder : folders_) {
        std::error_code error;
        const fs::path resolved = fs::canonical(folder / name, error);
        if (error || !contains(resolved)) continue;
        if (fs::is_regular_file(resolved, error) || fs::is_directory(resolved, error)) return resolved;
    }
    return fail("{}", refusal(name));
}

Result<fs::path> FolderGate::findNew(const std::string& name) const {
    const fs::path wanted = name;
    std::error_code error;
    for (const fs::path& folder : folders_) {
        const fs::path parent = fs::canonical((folder / wanted).parent_path(), error);
        if (error || !contains(parent) || !wanted.has_filename() || wanted.filename() == "..") continue;
        const fs::path target = parent / wanted.filename();
        if (fs::exists(fs::symlink_status(target, error)))
            return fail("{}: the file exists. Choose another name.", name);
        return target;
    }
    return fail("{}", refusal(name));
}

std::vector<fs::path> FolderGate::traces(const fs::path& folder, size_t most) const {
    constexpr size_t maxScanned = 20'000;
    std::vector<fs::path> found;
    std::error_code error;
    size_t scanned = 0;
    fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error), end;
    for (; !error && entry != end && ++scanned < maxScanned; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        const bool isTrace = name.ends_with(".sqlite") || name.ends_with(".sqlite.gz") ||
                             name.ends_with(".pt.trace.json") || name.ends_with(".pt.trace.json.gz");
        if (isTrace && fs::is_regular_file(entry->symlink_status(error))) found.push_back(entry->path());
    }
    std::ranges::sort(found);
    if (found.size() > most) found.resize(most);
    return found;
}

}  // namespace lanescope::answers
