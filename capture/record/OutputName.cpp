// SPDX-License-Identifier: Apache-2.0
#include "capture/record/OutputName.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <system_error>
#include <vector>

#include "capture/log/launcherRank.h"
#include "model/format/checkFile.h"

namespace lanescope::capture {

namespace {

std::filesystem::path folderOf(const std::filesystem::path& file) {
    const std::filesystem::path folder = file.parent_path();
    return folder.empty() ? "." : folder;
}

/// Returns true if only the owner of a file can replace it, as in /tmp, and that is another user.
bool isKeptBySticky(const std::filesystem::path& folder, const std::filesystem::path& file) {
    const uid_t user = ::geteuid();
    struct stat place {
    }, status{};
    return user != 0 && ::stat(folder.c_str(), &place) == 0 && ::lstat(file.c_str(), &status) == 0 &&
           (place.st_mode & S_ISVTX) != 0 && place.st_uid != user && status.st_uid != user;
}

struct Placeholder {
    char code = '\0';
    std::string variable;  ///< For %q.
};

/// Reads a placeholder, after its percent sign, from the front of `rest`.
Result<Placeholder> takePlaceholder(std::string_view& rest) {
    Placeholder placeholder;
    if (!rest.empty()) placeholder.code = rest.front();
    if (placeholder.code == '\0' || std::string_view("%pnhq").find(placeholder.code) == rest.npos)
        return fail(
            "Output name: unknown % placeholder. Use %p, %n, %h, %q{{NAME}}, or %% for a percent "
            "sign.");
    rest.remove_prefix(1);
    if (placeholder.code != 'q') return placeholder;
    const size_t end = rest.find('}');
    if (rest.empty() || rest.front() != '{' || end == rest.npos)
        return fail("Output name: %q needs a variable in braces: %q{{NAME}}.");
    placeholder.variable = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    return placeholder;
}

Result<std::string> valueOf(const Placeholder& placeholder, const OutputNameParts& parts) {
    switch (placeholder.code) {
        case 'p': return std::to_string(parts.pid);
        case 'n': return std::to_string(parts.number);
        case 'h': return hostName();
        case 'q': {
            const char* value = std::getenv(placeholder.variable.c_str());
            if (value == nullptr)
                return fail("Output name: the environment variable {} is not set.", placeholder.variable);
            return std::string(value);
        }
        default: return std::string("%");
    }
}

std::vector<Placeholder> placeholdersOf(std::string_view pattern) {
    std::vector<Placeholder> found;
    for (size_t at = pattern.find('%'); at != pattern.npos; at = pattern.find('%')) {
        pattern.remove_prefix(at + 1);
        const auto placeholder = takePlaceholder(pattern);
        if (!placeholder) break;
        found.push_back(*placeholder);
    }
    return found;
}

/// Returns true if a variable has one value for the whole job, judging by its name.
bool isSameForAll(std::string_view variable) {
    static constexpr std::string_view endings[] = {"_SIZE",  "JOB_ID", "JOBID", "JOB_NAME",  "USER",     "STEP_ID",
                                                   "NTASKS", "NNODES", "HOME",  "NUM_NODES", "NUM_TASKS"};
    return std::any_of(std::begin(endings), std::end(endings),
                       [&](std::string_view ending) { return variable.ends_with(ending); });
}

}  // namespace

Result<std::string> expandOutputPattern(std::string_view pattern, const OutputNameParts& parts) {
    std::string name;
    while (!pattern.empty()) {
        const size_t percent = pattern.find('%');
        name += pattern.substr(0, percent);
        if (percent == pattern.npos) break;
        pattern.remove_prefix(percent + 1);
        const auto placeholder = takePlaceholder(pattern);
        if (!placeholder) return fail(placeholder.error());
        auto value = valueOf(*placeholder, parts);
        if (!value) return value;
        name += *value;
    }
    if (name.empty()) return fail("The output name is empty.");
    return name;
}

bool isNumbered(std::string_view pattern) {
    const auto all = placeholdersOf(pattern);
    return std::any_of(all.begin(), all.end(), [](const auto& each) { return each.code == 'n'; });
}

std::string defaultOutputPattern(const std::filesystem::path& program) {
    // Longer names than this leave no room for the endings of files next to the trace.
    constexpr size_t maxNameBytes = 150;
    std::string name;
    for (const char character : program.filename().string().substr(0, maxNameBytes)) {
        if (character == '%') name += '%';
        name += character;
    }
    return fmt::format("lanescope-{}-%n.sqlite", name);
}

Result<void> checkNameOfRank(std::string_view pattern) {
    const log::LauncherRank place = log::launcherRank();
    const std::string& size = place.worldSize;
    if (place.rank.empty() || size.empty() || size == "1") return {};
    for (const Placeholder& each : placeholdersOf(pattern)) {
        if (each.code == 'p' || each.code == 'n') return {};
        if (each.code == 'h' && place.localWorldSize == "1") return {};
        if (each.code == 'q' && !isSameForAll(each.variable)) return {};
    }
    return fail(
        "All {0} ranks of this launch would write {1}. Add %q{{{2}}} to the name, or record the "
        "launcher ('lanescope record -- mpirun ...') to get one trace of all ranks.",
        size, pattern, place.rankVariable);
}

Result<void> checkOutput(const std::filesystem::path& output, bool overwrite) {
    const std::filesystem::path folder = folderOf(output);
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error))
        return fail("{}: no such folder. Create it, or choose another output with -o.", folder.string());
    if (!output.has_filename() || std::filesystem::is_directory(output, error))
        return fail("{}: this is a folder. Name a file for the trace.", output.string());
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        return fail("{}: the folder is not writable: {}.", folder.string(), std::strerror(errno));
    if (!mayExist(output)) return {};
    if (!std::filesystem::is_regular_file(output, error))
        return fail("{}: not a regular file, will not be overwritten. Choose another name with -o.", output.string());
    if (!overwrite)
        return fail("{}: the file exists. Choose another name with -o, or overwrite it with --force.", output.string());
    if (isKeptBySticky(folder, output))
        return fail("{}: a file of another user, cannot be replaced. Choose another name with -o.", output.string());
    return {};
}

std::filesystem::path runFolderFor(const std::filesystem::path& output) {
    return output.parent_path() / fmt::format(".{}.run", output.filename().string());
}

std::filesystem::path outputForRunFolder(const std::filesystem::path& runFolder) {
    // A trailing slash would leave no file name.
    std::filesystem::path folder = runFolder.lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    std::string name = folder.filename().string();
    static constexpr std::string_view ending = ".run";
    if (name.size() > ending.size() + 1 && name.front() == '.' &&
        std::string_view(name).substr(name.size() - ending.size()) == ending)
        return folder.parent_path() / name.substr(1, name.size() - ending.size() - 1);
    if (name.empty() || name == "." || name == "..") return folder / "recovered.sqlite";
    return folder.parent_path() / (name + ".sqlite");
}

std::string hostName() {
    char name[256] = {};
    if (::gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') return "host";
    return name;
}

}  // namespace lanescope::capture
