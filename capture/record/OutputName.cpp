#include "capture/record/OutputName.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace lanescope {

namespace {

std::filesystem::path folderOf(const std::filesystem::path& file) {
    const std::filesystem::path folder = file.parent_path();
    return folder.empty() ? "." : folder;
}

bool isThere(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::symlink_status(path, error).type() !=
           std::filesystem::file_type::not_found;
}

/// Reads "{NAME}" at `rest`, and moves `rest` behind it.
Result<std::string> environmentValue(std::string_view& rest) {
    const size_t end = rest.find('}');
    if (rest.empty() || rest.front() != '{' || end == std::string_view::npos)
        return fail("In the output name, %q needs a variable in braces: %q{{NAME}}.");
    const std::string name(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
    const char* value = std::getenv(name.c_str());
    if (value == nullptr)
        return fail("The output name asks for the environment variable {}, which is not set.",
                    name);
    return std::string(value);
}

}  // namespace

Result<std::string> expandOutputPattern(std::string_view pattern, int pid) {
    std::string name;
    while (!pattern.empty()) {
        const char character = pattern.front();
        pattern.remove_prefix(1);
        if (character != '%') {
            name += character;
            continue;
        }
        const char code = pattern.empty() ? '\0' : pattern.front();
        if (code != '\0') pattern.remove_prefix(1);
        switch (code) {
            case '%':
                name += '%';
                break;
            case 'p':
                name += std::to_string(pid);
                break;
            case 'h':
                name += hostName();
                break;
            case 'q': {
                auto value = environmentValue(pattern);
                if (!value) return value;
                name += *value;
                break;
            }
            default:
                return fail(
                    "The output name has a % that means nothing: use %p, %h, %q{{NAME}} or "
                    "%% for a percent sign.");
        }
    }
    if (name.empty()) return fail("The output name is empty.");
    return name;
}

std::filesystem::path firstFreeOutput(const std::filesystem::path& folder,
                                      const std::filesystem::path& program) {
    for (int number = 1;; ++number) {
        std::filesystem::path path =
            folder / fmt::format("lanescope-{}-{}.sqlite", program.filename().string(), number);
        if (!isThere(path) && !isThere(runFolderFor(path))) return path;
    }
}

Result<void> checkOutput(const std::filesystem::path& output, bool overwrite) {
    const std::filesystem::path folder = folderOf(output);
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error))
        return fail("There is no folder {}: create it, or name another output with -o.",
                    folder.string());
    if (!output.has_filename() || std::filesystem::is_directory(output, error))
        return fail("{} is a folder: name a file for the trace.", output.string());
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        return fail("Cannot write into the folder {}: {}.", folder.string(), std::strerror(errno));
    if (!isThere(output)) return {};
    if (!overwrite)
        return fail("The file {} exists: give another name with -o, or overwrite it with --force.",
                    output.string());
    if (!std::filesystem::is_regular_file(output, error))
        return fail("{} is no regular file, so it will not be overwritten.", output.string());
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

}  // namespace lanescope
