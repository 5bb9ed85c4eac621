// SPDX-License-Identifier: Apache-2.0
#include "model/values/kernelName.h"

namespace lanescope {

std::string_view withoutParameters(std::string_view demangled) {
    if (!demangled.ends_with(')')) return demangled;
    int depth = 0;
    for (size_t at = demangled.size(); at-- > 1;) {
        if (demangled[at] == ')') ++depth;
        if (demangled[at] == '(' && --depth == 0) return demangled.substr(0, at);
    }
    return demangled;
}

std::string_view kernelBaseName(std::string_view demangled) {
    const std::string_view name = withoutParameters(demangled);
    // Outside of template arguments, the last space ends the return type and "::" a namespace; the
    // arguments that follow the name itself end it.
    size_t begin = 0, end = name.size();
    int depth = 0;
    for (size_t at = 0; at < name.size(); ++at) {
        const char c = name[at];
        if (c == '<' || c == '(') {
            if (depth++ == 0 && c == '<') end = at;
        } else if (c == '>' || c == ')') {
            if (depth > 0) --depth;
        } else if (depth == 0 && (c == ' ' || c == ':')) {
            begin = at + 1;
            end = name.size();
        }
    }
    const std::string_view base = name.substr(begin, end > begin ? end - begin : 0);
    return base.empty() ? name : base;
}

}  // namespace lanescope
