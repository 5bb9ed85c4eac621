// SPDX-License-Identifier: Apache-2.0
#include "model/search/NamePattern.h"

#include <re2/re2.h>

#include <algorithm>

#include "model/text/formatValue.h"

namespace lanescope {

namespace {

/// Memory of the compiled expression: enough for any typed one, and a bound for all.
constexpr int64_t maxExpressionBytes = int64_t{8} << 20;

}  // namespace

Result<NamePattern> NamePattern::compile(std::string_view text, PatternKind kind) {
    NamePattern pattern;
    if (kind == PatternKind::Substring) {
        pattern.lowered_ = lowerCase(std::string(text));
        return pattern;
    }
    re2::RE2::Options options;
    options.set_case_sensitive(false);
    options.set_log_errors(false);
    options.set_encoding(re2::RE2::Options::EncodingLatin1);  // names may contain any bytes
    options.set_max_mem(maxExpressionBytes);
    auto expression = std::make_shared<const re2::RE2>(re2::StringPiece(text.data(), text.size()), options);
    if (!expression->ok()) return fail("Not a regular expression: {}.", expression->error());
    pattern.expression_ = std::move(expression);
    return pattern;
}

bool NamePattern::matches(std::string_view name) const {
    if (expression_) return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *expression_);
    return std::search(name.begin(), name.end(), lowered_.begin(), lowered_.end(),
                       [](char a, char b) { return lowerCase(a) == b; }) != name.end();
}

NameTests::NameTests(const Trace& trace, const NamePattern& pattern)
    : trace_(trace),
      pattern_(pattern),
      names_(trace.strings.size(), unknown),
      configs_(trace.launchConfigs.size(), unknown) {
    for (int number = 0; number < memcpyKindCount; ++number) {
        const auto kind = static_cast<MemcpyKind>(number);
        memcpys_[number] = pattern.matches(name(kind)) || pattern.matches(searchName(kind));
    }
    isMemsetHit_ = pattern.matches("memset");
}

bool NameTests::isConfigHit(uint32_t config) {
    if (config >= configs_.size()) return false;
    uint8_t& state = configs_[config];
    if (state == unknown) {
        const LaunchConfigColumn& configs = trace_.launchConfigs;
        state = isHit(configs.shortName(config)) || isHit(configs.demangledName(config)) ? hit : miss;
    }
    return state == hit;
}

}  // namespace lanescope
