// SPDX-License-Identifier: Apache-2.0
#include "capture/log/maskSecrets.h"

#include <algorithm>
#include <array>

#include "model/format/text.h"

namespace lanescope::log {

namespace {

constexpr std::array secretWords{"password", "passwords",     "passwd",     "passphrase",  "pwd",
                                 "secret",   "secrets",       "credential", "credentials", "token",
                                 "auth",     "authorization", "apikey",     "apikeys"};
constexpr std::array keyWords{"key", "keys"};

/// Prefix of a service's keys, and their minimum length.
struct KnownKey {
    std::string_view beginning;
    size_t minBytes;
};
constexpr std::array knownKeys{
    KnownKey{"hf_", 20},         KnownKey{"ghp_", 20},   KnownKey{"gho_", 20}, KnownKey{"ghs_", 20},
    KnownKey{"github_pat_", 20}, KnownKey{"glpat-", 20}, KnownKey{"sk-", 20},  KnownKey{"xoxb-", 20},
    KnownKey{"xoxp-", 20},       KnownKey{"AKIA", 20},   KnownKey{"ASIA", 20}, KnownKey{"AIza", 30},
    KnownKey{"npm_", 20},        KnownKey{"pypi-", 20},  KnownKey{"eyJ", 30},
};

bool isOfName(char c) { return isLetter(c) || isDigit(c) || c == '_' || c == '-' || c == '.'; }
/// Returns true if `c` ends an unquoted value.
bool endsValue(char c) {
    return isSpace(c) || c == '&' || c == ';' || c == ',' || c == '"' || c == '\'' || c == '}' || c == ')';
}

/// Returns the words of a name in small letters: "hfToken", "--hf-token" and "HF_TOKEN" are "hf", "token".
std::vector<std::string> wordsOf(std::string_view name) {
    std::vector<std::string> words;
    bool isInWord = false;
    for (size_t at = 0; at < name.size(); ++at) {
        const char c = name[at];
        if (!isLetter(c)) {
            isInWord = false;
            continue;
        }
        const bool beginsByCapital = isUpper(c) && at > 0 && isLetter(name[at - 1]) && !isUpper(name[at - 1]);
        if (!isInWord || beginsByCapital) words.emplace_back();
        isInWord = true;
        words.back() += lowerCase(c);
    }
    return words;
}

template <size_t count>
bool isAmong(const std::string& word, const std::array<const char*, count>& all) {
    return std::find(all.begin(), all.end(), word) != all.end();
}

bool namesASecret(std::string_view name) {
    const std::vector<std::string> words = wordsOf(name);
    const auto isSecret = [](const std::string& word) { return isAmong(word, secretWords); };
    return !words.empty() && (isAmong(words.back(), keyWords) || std::ranges::any_of(words, isSecret));
}

bool isKnownKey(std::string_view word) {
    return std::any_of(knownKeys.begin(), knownKeys.end(), [word](const KnownKey& key) {
        return word.size() >= key.minBytes && word.starts_with(key.beginning);
    });
}

/// Copies one word of a command line and masks secrets. The word may be a script with several words.
class Masker {
  public:
    explicit Masker(std::string_view text) : text_(text) {}

    std::string masked() {
        while (at_ < text_.size()) {
            if (text_.substr(at_).starts_with("://"))
                copyAddress();
            else if (isOfName(text_[at_]))
                copyName();
            else
                copy(1);
        }
        return std::move(result_);
    }

  private:
    void copy(size_t bytes) {
        result_ += text_.substr(at_, bytes);
        at_ += bytes;
    }
    void mask(size_t bytes) {
        if (bytes > 0) result_ += maskedSecret;
        at_ += bytes;
    }

    /// Masks the password of "://user:password@".
    void copyAddress() {
        copy(3);
        const std::string_view rest = text_.substr(at_);
        const size_t end = std::min(rest.find_first_of("/ \t\n\"'"), rest.size());
        const size_t at = rest.substr(0, end).rfind('@');
        const size_t colon = rest.find(':');
        if (at == std::string_view::npos || colon >= at) return;
        copy(colon + 1);
        mask(at - colon - 1);
    }

    void copyName() {
        size_t end = at_;
        while (end < text_.size() && isOfName(text_[end])) ++end;
        const std::string_view name = text_.substr(at_, end - at_);
        if (isKnownKey(name)) return mask(name.size());
        copy(name.size());
        if (name == "Bearer" || name == "bearer" || name == "Basic") {
            copySpaces();
            return maskValue();
        }
        if (!namesASecret(name)) return;
        // A quote may close the name, and another open the value.
        size_t sign = at_;
        if (sign < text_.size() && (text_[sign] == '"' || text_[sign] == '\'')) ++sign;
        while (sign < text_.size() && isSpace(text_[sign])) ++sign;
        const bool isOption = name.starts_with('-');
        const bool hasSign =
            sign < text_.size() && (text_[sign] == '=' || text_[sign] == ':') && !text_.substr(sign).starts_with("://");
        if (hasSign) {
            copy(sign + 1 - at_);
        } else if (!isOption || at_ >= text_.size() || !isSpace(text_[at_])) {
            return;
        }
        copySpaces();
        if (!hasSign && at_ < text_.size() && text_[at_] == '-') return;
        const std::string_view rest = text_.substr(at_);
        // Keeps the scheme and masks the credentials.
        for (const std::string_view scheme : {"Bearer ", "bearer ", "Basic "})
            if (rest.starts_with(scheme)) copy(scheme.size());
        maskValue();
    }
    void copySpaces() {
        while (at_ < text_.size() && isSpace(text_[at_])) copy(1);
    }
    void maskValue() {
        if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
            const char quote = text_[at_];
            copy(1);
            mask(std::min(text_.find(quote, at_), text_.size()) - at_);
            return;
        }
        size_t end = at_;
        while (end < text_.size() && !endsValue(text_[end])) ++end;
        mask(end - at_);
    }

    std::string_view text_;
    size_t at_ = 0;
    std::string result_;
};

}  // namespace

std::vector<std::string> maskSecrets(const std::vector<std::string>& words) {
    std::vector<std::string> masked;
    bool isSecret = false;  // the preceding option marks this word as one
    for (const std::string& word : words) {
        if (isSecret && !word.empty() && word.front() != '-')
            masked.emplace_back(maskedSecret);
        else
            masked.push_back(Masker(word).masked());
        isSecret = word.starts_with('-') && std::all_of(word.begin(), word.end(), isOfName) && namesASecret(word);
    }
    return masked;
}

}  // namespace lanescope::log
