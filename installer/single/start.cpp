// SPDX-License-Identifier: Apache-2.0
// The first part of the one file that holds the viewer: unpacks the rest and becomes the viewer.
// Linked statically, so that it starts everywhere and can say what is wrong.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "installer/single/Place.h"
#include "installer/single/unpack.h"

namespace {

namespace fs = std::filesystem;
using namespace lanescope::single;

int complain(const std::string& problem) {
    std::fprintf(stderr, "lanescope-viewer: %s.\n", problem.c_str());
    return 1;
}

/// `--extract FOLDER`: for who wants to look inside, or to put another Qt there.
int extract(const Payload& payload, const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || !fs::is_empty(folder, error) || error) return complain(folder.string() + " is not an empty folder");
    if (const std::string problem = unpack(payload, folder); !problem.empty())
        return complain("cannot unpack this file: " + problem);
    std::printf("%s\n", (folder / "bin/lanescope-viewer").c_str());
    return 0;
}

/// Where there are no fonts, those that are packed have to do.
void provideFonts(const fs::path& folder) {
    std::error_code error;
    if (fs::exists("/etc/fonts/fonts.conf", error) && fs::exists("/usr/share/fonts", error)) return;
    ::setenv("FONTCONFIG_FILE", (folder / "share/fonts/fonts.conf").c_str(), 0);
}

[[noreturn]] void becomeViewer(const fs::path& folder, char** arguments) {
    provideFonts(folder);
    // They name plugins of another Qt.
    ::unsetenv("QT_PLUGIN_PATH");
    ::unsetenv("QT_QPA_PLATFORM_PLUGIN_PATH");
    const fs::path program = folder / "bin/lanescope-viewer";
    ::execv(program.c_str(), arguments);
    std::exit(complain(program.string() + " cannot be started: " + std::strerror(errno)));
}

}  // namespace

int main(int argc, char** argv) {
    std::string problem;
    const Payload payload = findPayload(problem);
    if (payload.file < 0) return complain(problem);
    if (argc == 3 && std::string_view(argv[1]) == "--extract") return extract(payload, argv[2]);
    std::string problems;
    for (const fs::path& place : possiblePlaces()) {
        if (const auto folder = unpackedIn(place, payload, problem)) becomeViewer(*folder, argv);
        problems += (problems.empty() ? "" : "; ") + problem;
    }
    return complain("cannot unpack this file: " + problems +
                    "; set TMPDIR to a folder with 200 MB of space, or use --extract FOLDER");
}
