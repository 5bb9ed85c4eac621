// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lanescope::log {

inline constexpr std::string_view maskedSecret = "***";

/// Returns the command line without apparent secrets, so that a trace can be shared. Masks
///
/// - the value of a name with a word for a secret, "--api-key=...", "WANDB_API_KEY=...",
///   "{token: ...}", and the word after such an option, "--hf-token ...";
/// - the text after "Bearer" or "Basic";
/// - the password in "scheme://user:password@host";
/// - a word that begins like the keys of well-known services, such as "hf_..." or "ghp_...".
///
/// The words for a secret are password, passwd, passphrase, pwd, secret, credential, token, auth, authorization, apikey
/// and, as the last word of a name, key. Plurals count too, except "tokens". Names are split into words at signs and at
/// capital letters, so "--max-tokens", "--tokenizer" and "--keyframes" are not masked. O(length).
std::vector<std::string> maskSecrets(const std::vector<std::string>& words);

}  // namespace lanescope::log
