// SPDX-License-Identifier: Apache-2.0
#include "model/format/sourceNames.h"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <memory>

namespace lanescope {

namespace {

/// What follows a folder and its slash in a path below it; empty if it is not below it.
std::string_view below(std::string_view path, std::string_view folder) {
    while (folder.ends_with('/')) folder.remove_suffix(1);
    if (!folder.starts_with('/') || path.size() <= folder.size() + 1 || !path.starts_with(folder) ||
        path[folder.size()] != '/')
        return {};
    return path.substr(folder.size() + 1);
}

/// Whether a path within a folder cannot be taken for anything else.
bool isPlain(std::string_view rest) {
    return !rest.empty() && !rest.starts_with('~') && !rest.starts_with('<') &&
           !rest.starts_with('/');
}

}  // namespace

bool isLibraryFile(std::string_view file) {
    // What people type has such names, and so has what packages make up.
    if (file.starts_with('<'))
        return !file.starts_with("<stdin>") && !file.starts_with("<string>") &&
               !file.starts_with("<ipython-input");
    // The last is what PyTorch writes when it compiles.
    for (const std::string_view folder : {"/site-packages/", "/dist-packages/", "/lib/python3",
                                          "/torch/_", "/torch/nn/", "/torchinductor_"})
        if (file.find(folder) != std::string_view::npos) return true;
    return file.empty();
}

std::string shortSourcePath(std::string_view path, const SourceFolders& folders) {
    std::string_view given = path;
    while (given.starts_with("./") && isPlain(given.substr(2))) given.remove_prefix(2);
    // A folder that is called so is no home.
    std::string brief = given.starts_with('~') ? "./" + std::string(given) : std::string(given);
    if (const std::string_view rest = below(given, folders.working); isPlain(rest))
        brief = rest;
    else if (const std::string_view inHome = below(given, folders.home); isPlain(inHome))
        brief = "~/" + std::string(inHome);
    return isLibraryFile(brief) == isLibraryFile(path) ? brief : std::string(path);
}

std::string fullSourcePath(std::string_view path, const SourceFolders& folders) {
    const auto in = [](std::string_view folder, std::string_view rest) {
        while (folder.ends_with('/')) folder.remove_suffix(1);
        return std::string(folder) + "/" + std::string(rest);
    };
    if (path.starts_with("~/"))
        return folders.home.empty() ? std::string(path) : in(folders.home, path.substr(2));
    if (!isPlain(path) || folders.working.empty()) return std::string(path);
    return in(folders.working, path);
}

namespace {

/// A longer name is not worth the demangler's time, which can be quadratic.
constexpr size_t longestDemangled = 32 * 1024;

}  // namespace

/// What a name refers back to with "S_", "S3_" or "T_" holds at most all that stands before it, so
/// each of these doubles it at most.
bool mayDemangleLong(std::string_view mangled) {
    constexpr size_t mostBytes = size_t{1} << 20;
    size_t bytes = mangled.size();
    for (size_t at = 2; at < mangled.size() && bytes <= mostBytes; ++at) {
        if (mangled[at] != 'S' && mangled[at] != 'T') continue;
        size_t end = at + 1;
        while (end < mangled.size() && std::isalnum(static_cast<unsigned char>(mangled[end])))
            ++end;
        if (end < mangled.size() && mangled[end] == '_') bytes *= 2;
    }
    return bytes > mostBytes;
}

std::optional<std::string> demangledName(const std::string& mangled) {
    if (!mangled.starts_with("_Z") || mangled.size() > longestDemangled) return mangled;
    if (mayDemangleLong(mangled)) return std::nullopt;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text != nullptr ? std::string(text.get()) : mangled;
}

}  // namespace lanescope
