// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lanescope::log {

/// What stands in the place of a secret.
inline constexpr std::string_view maskedSecret = "***";

/// A command line without what looks like a secret, so that a trace can be passed on. Masked is
///
/// - the value of a name with a word for a secret, "--api-key=...", "WANDB_API_KEY=...",
///   "{token: ...}", and the word behind such an option, "--hf-token ...";
/// - what stands behind "Bearer" or "Basic";
/// - the password in "scheme://user:password@host";
/// - a word that begins as well-known services begin their keys, such as "hf_..." or "ghp_...".
///
/// The words for a secret are password, passwd, passphrase, pwd, secret, credential, token, auth,
/// authorization, apikey and, as the last word of a name, key, each also in the plural but for
/// "tokens". Names are told apart into words at signs and at capital letters, so "--max-tokens",
/// "--tokenizer" and "--keyframes" are none. O(length).
std::vector<std::string> maskSecrets(const std::vector<std::string>& words);

}  // namespace lanescope::log
