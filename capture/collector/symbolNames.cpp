// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/symbolNames.h"

#include "model/format/factNames.h"

namespace lanescope::capture {

namespace {

constexpr size_t none = std::string_view::npos;

/// Returns the length of the bracketed text at the beginning of `text`, such as "<a<b> >"; all of
/// it if the brackets do not close.
size_t bracketedLength(std::string_view text) {
    int depth = 0;
    for (size_t at = 0; at < text.size(); ++at) {
        if (std::string_view("<([{").find(text[at]) != none) ++depth;
        if (std::string_view(">)]}").find(text[at]) != none && --depth == 0) return at + 1;
    }
    return text.size();
}

/// Returns the length of an operator's name at the beginning of `text`, such as "operator()"; 0 if there is none.
size_t operatorLength(std::string_view text) {
    static constexpr std::string_view word = "operator";
    // Longer signs precede their prefixes.
    static constexpr std::string_view signs[] = {"()", "[]", "<=>", "<<=", ">>=", "->*", "<<",
                                                 ">>", "<=", ">=",  "->",  "<",   ">"};
    if (!text.starts_with(word)) return 0;
    for (const std::string_view sign : signs)
        if (text.substr(word.size()).starts_with(sign)) return word.size() + sign.size();
    return 0;
}

}  // namespace

std::string demangled(const std::string& mangledName) { return demangledName(mangledName).value_or(mangledName); }

std::string_view shortFunctionName(std::string_view name) {
    static constexpr std::string_view anonymous = "(anonymous namespace)";
    size_t begin = 0;   // Start of the last part of the name so far.
    size_t end = none;  // Start of its brackets.
    for (size_t at = 0; at < name.size();) {
        const std::string_view rest = name.substr(at);
        const size_t operatorBytes = at == begin ? operatorLength(rest) : 0;
        if (operatorBytes > 0) {
            at += operatorBytes;
        } else if (rest.starts_with(anonymous)) {
            at += anonymous.size();
        } else if (rest.starts_with("::")) {
            at += 2;
            begin = at;
            end = none;
        } else if (rest.front() == ' ') {
            at += 1;
            begin = at;
            end = none;
        } else if (rest.front() == '<' || rest.front() == '[' || rest.front() == '(') {
            if (end == none) end = at;
            at += bracketedLength(rest);
            // Parameters end the name, unless something is defined inside the function.
            if (rest.front() == '(' && !name.substr(at).starts_with("::")) break;
        } else {
            at += rest.front() == '{' ? bracketedLength(rest) : 1;
        }
    }
    const std::string_view brief = name.substr(begin, end == none ? none : end - begin);
    return brief.empty() ? name : brief;
}

}  // namespace lanescope::capture
