// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/pythonCuptiFolders.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>
#include "capture/log/namesIn.h"
#include "model/format/environment.h"

namespace lanescope::capture {

namespace {

using std::filesystem::path;

constexpr size_t longestFirstLine = 512;

/// Where a program that is called by that name lies; empty if it is not there.
path placeOf(const std::string& program) {
    if (program.empty()) return {};
    if (program.find('/') != std::string::npos)
        return ::access(program.c_str(), X_OK) == 0 ? path(program) : path();
    std::istringstream folders(environment("PATH"));
    for (std::string folder; std::getline(folders, folder, ':');)
        if (const path candidate = path(folder) / program;
            !folder.empty() && ::access(candidate.c_str(), X_OK) == 0)
            return candidate;
    return {};
}

bool isPython(const path& program) {
    return program.filename().string().starts_with("python");
}

/// What the first line of a script names; empty if it is none.
path interpreterOf(const path& script) {
    std::ifstream file(script, std::ios::binary);
    std::string line(longestFirstLine, '\0');
    file.read(line.data(), static_cast<std::streamsize>(line.size()));
    line.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    line = line.substr(0, line.find('\n'));
    if (!line.starts_with("#!")) return {};
    std::istringstream words(line.substr(2));
    std::string word;
    words >> word;
    if (path(word).filename() == "env") words >> word;
    return placeOf(word);
}

class Folders {
  public:
    /// Of a Python whose programs are in `prefix`/bin.
    void addPrefix(const path& prefix) {
        if (prefix.empty()) return;
        for (const char* library : {"lib", "lib64", "local/lib"}) {
            for (const std::string& name : log::namesIn(prefix / library)) {
                const path folder = prefix / library / name;
                if (!isPython(folder)) continue;
                addPackages(folder / "site-packages");
                addPackages(folder / "dist-packages");
            }
        }
    }

    /// The interpreter, and that which it is a link to: a virtual environment may use its packages.
    void addPython(const path& python) {
        if (python.empty()) return;
        addPrefix(python.parent_path().parent_path());
        std::error_code error;
        const path real = std::filesystem::canonical(python, error);
        if (!error) addPrefix(real.parent_path().parent_path());
    }

    void addPackages(const path& packages) {
        for (const char* each : {"nvidia/cu13/lib", "nvidia/cuda_cupti/lib"}) {
            std::error_code error;
            const path folder = packages / each;
            if (std::filesystem::is_directory(folder, error) &&
                std::find(found_.begin(), found_.end(), folder) == found_.end())
                found_.push_back(folder);
        }
    }

    std::vector<path> take() { return std::move(found_); }

  private:
    std::vector<path> found_;
};

}  // namespace

std::vector<path> pythonCuptiFolders(const std::string& program) {
    Folders folders;
    const path place = placeOf(program);
    const path interpreter = isPython(place) ? place : interpreterOf(place);
    if (isPython(interpreter)) folders.addPython(interpreter);
    std::istringstream paths(path(environment("PYTHONPATH")).string());
    for (std::string folder; std::getline(paths, folder, ':');)
        if (!folder.empty()) folders.addPackages(folder);
    folders.addPrefix(path(environment("VIRTUAL_ENV")));
    folders.addPrefix(path(environment("CONDA_PREFIX")));
    folders.addPython(placeOf("python3"));
    if (const path home = path(environment("HOME")); !home.empty())
        folders.addPrefix(home / ".local");
    return folders.take();
}

}  // namespace lanescope::capture
