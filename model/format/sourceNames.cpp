// SPDX-License-Identifier: Apache-2.0
#include "model/format/sourceNames.h"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <memory>

namespace lanescope {

namespace {

/// Returns the part of a path after a folder and its slash; empty if the path is not below the folder.
std::string_view below(std::string_view path, std::string_view folder) {
    while (folder.ends_with('/')) folder.remove_suffix(1);
    if (!folder.starts_with('/') || path.size() <= folder.size() + 1 || !path.starts_with(folder) ||
        path[folder.size()] != '/')
        return {};
    return path.substr(folder.size() + 1);
}

/// Returns true if a path within a folder is unambiguous.
bool isPlain(std::string_view rest) {
    return !rest.empty() && !rest.starts_with('~') && !rest.starts_with('<') && !rest.starts_with('/');
}

}  // namespace

bool isLibraryFile(std::string_view file) {
    // Interactive input and generated code of packages have such names.
    if (file.starts_with('<'))
        return !file.starts_with("<stdin>") && !file.starts_with("<string>") && !file.starts_with("<ipython-input");
    // The last one is the cache of PyTorch's compiler.
    for (const std::string_view folder :
         {"/site-packages/", "/dist-packages/", "/lib/python3", "/torch/_", "/torch/nn/", "/torchinductor_"})
        if (file.find(folder) != std::string_view::npos) return true;
    return file.empty();
}

std::string shortSourcePath(std::string_view path, const SourceFolders& folders) {
    std::string_view given = path;
    while (given.starts_with("./") && isPlain(given.substr(2))) given.remove_prefix(2);
    // A folder named "~" is not the home folder.
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
    if (path.starts_with("~/")) return folders.home.empty() ? std::string(path) : in(folders.home, path.substr(2));
    if (!isPlain(path) || folders.working.empty()) return std::string(path);
    return in(folders.working, path);
}

namespace {

/// Limit of a mangled name in bytes, because the demangler's time can be quadratic.
constexpr size_t maxMangledBytes = 32 * 1024;

}  // namespace

/// A back reference "S_", "S3_" or "T_" expands to at most all that precedes it, so each one at
/// most doubles the length.
bool mayDemangleLong(std::string_view mangled) {
    constexpr size_t maxDemangledBytes = size_t{1} << 20;
    size_t bytes = mangled.size();
    for (size_t at = 2; at < mangled.size() && bytes <= maxDemangledBytes; ++at) {
        if (mangled[at] != 'S' && mangled[at] != 'T') continue;
        size_t end = at + 1;
        while (end < mangled.size() && std::isalnum(static_cast<unsigned char>(mangled[end]))) ++end;
        if (end < mangled.size() && mangled[end] == '_') bytes *= 2;
    }
    return bytes > maxDemangledBytes;
}

std::optional<std::string> demangledName(const std::string& mangled) {
    if (!mangled.starts_with("_Z") || mangled.size() > maxMangledBytes) return mangled;
    if (mayDemangleLong(mangled)) return std::nullopt;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text != nullptr ? std::string(text.get()) : mangled;
}

}  // namespace lanescope
