#include "capture/collector/symbolNames.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace lanescope {

namespace {

/// A longer name is not worth the demangler's time, which can be quadratic.
constexpr size_t longestDemangled = 32 * 1024;

bool startsWith(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

std::string demangled(const std::string& mangledName) {
    if (!startsWith(mangledName, "_Z") || mangledName.size() > longestDemangled) return mangledName;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(mangledName.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text != nullptr ? std::string(text.get()) : mangledName;
}

std::string_view shortFunctionName(std::string_view name) {
    static constexpr std::string_view anonymous = "(anonymous namespace)";
    static constexpr std::string_view operatorWord = "operator";
    size_t begin = 0;
    size_t end = name.size();
    int depth = 0;
    for (size_t at = 0; at < name.size(); ++at) {
        const std::string_view rest = name.substr(at);
        if (depth == 0 && startsWith(rest, anonymous)) {
            at += anonymous.size() - 1;
            continue;
        }
        if (depth == 0 && at == begin && startsWith(rest, operatorWord) && rest.size() > 8 &&
            std::string_view("<>(=-").find(rest[8]) != std::string_view::npos) {
            // Its brackets are part of the name: operator(), operator<, operator->.
            at += operatorWord.size();
            while (at + 1 < name.size() && std::string_view("<>()=-").find(name[at]) !=
                                               std::string_view::npos &&
                   name[at + 1] != '(')
                ++at;
            end = at + 1;
            const bool isLast = name.find("::", end) == std::string_view::npos;
            if (isLast) return name.substr(begin, end - begin);
            end = name.size();
            continue;
        }
        const char character = name[at];
        if (character == '<' || character == '{' || character == '[') {
            if (depth == 0 && character != '{') end = std::min(end, at);
            ++depth;
        } else if (character == '>' || character == '}' || character == ']') {
            if (depth > 0) --depth;
        } else if (character == '(') {
            if (depth == 0) {
                // A call operator or a local name may follow the parameters: f(int)::{lambda()#1}.
                size_t close = at;
                for (int open = 0; close < name.size(); ++close) {
                    if (name[close] == '(') ++open;
                    if (name[close] == ')' && --open == 0) break;
                }
                if (close + 2 >= name.size() || name.substr(close + 1, 2) != "::") {
                    end = std::min(end, at);
                    break;
                }
                at = close;
            } else {
                ++depth;
            }
        } else if (character == ')') {
            if (depth > 0) --depth;
        } else if (depth == 0 && character == ' ') {
            begin = at + 1;
            end = name.size();
        } else if (depth == 0 && startsWith(rest, "::")) {
            begin = at + 2;
            end = name.size();
            ++at;
        }
    }
    const std::string_view result = begin < end ? name.substr(begin, end - begin) : name;
    return result.empty() ? name : result;
}

}  // namespace lanescope
