// SPDX-License-Identifier: Apache-2.0
#include "model/text/programOf.h"

#include <algorithm>
#include <array>

namespace lanescope {

namespace {

constexpr std::string_view python = "python";
constexpr std::array<std::string_view, 7> scriptEndings{".py", ".sh", ".jl", ".lua", ".pl", ".rb", ".js"};

std::string_view baseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Returns the next word and removes it.
std::string_view takeWord(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    return word;
}

bool isScript(std::string_view word) {
    return std::ranges::any_of(scriptEndings, [word](std::string_view ending) { return word.ends_with(ending); });
}

}  // namespace

std::string programOf(std::string_view command) {
    const std::string_view first = baseName(takeWord(command));
    std::string program(first.starts_with(python) ? python : first);
    for (std::string_view word = takeWord(command); !word.empty(); word = takeWord(command)) {
        if (word == "-m") program.append(" -m ").append(takeWord(command));
        if (!isScript(word)) continue;
        return program.append(" ").append(baseName(word));
    }
    return program;
}

}  // namespace lanescope
