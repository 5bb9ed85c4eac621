#include "model/gate/namePattern.h"

#include <string>

#include "model/steps/rangePattern.h"
#include "model/values/kernelName.h"

namespace lanescope {

bool matchesPattern(std::string_view text, std::string_view pattern) {
    size_t at = 0, patternAt = 0;
    // Where to go on when a letter does not fit: the last star takes one letter more.
    size_t starAt = std::string_view::npos, takenAt = 0;
    while (at < text.size()) {
        if (patternAt < pattern.size() && pattern[patternAt] == '*') {
            starAt = patternAt++;
            takenAt = at;
        } else if (patternAt < pattern.size() && pattern[patternAt] == text[at]) {
            ++patternAt;
            ++at;
        } else if (starAt != std::string_view::npos) {
            patternAt = starAt + 1;
            at = ++takenAt;
        } else {
            return false;
        }
    }
    while (patternAt < pattern.size() && pattern[patternAt] == '*') ++patternAt;
    return patternAt == pattern.size();
}

bool namesKernel(std::string_view demangled, std::string_view wanted) {
    return matchesPattern(demangled, wanted) ||
           matchesPattern(withoutParameters(demangled), wanted) ||
           matchesPattern(kernelBaseName(demangled), wanted);
}

bool liesInRange(std::string_view path, std::string_view wanted) {
    const std::string within = "/" + std::string(path) + "/";
    const std::string pattern = rangePattern(wanted);
    return !path.empty() && matchesPattern(within, "*/" + pattern + "/*");
}

}  // namespace lanescope
