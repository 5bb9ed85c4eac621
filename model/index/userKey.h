// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/format/Result.h"
#include "model/format/SipHash.h"

namespace lanescope {

// The key of the user, `index/key` in the cache folder, authenticates the indexes that this user
// wrote. Only this user can read it. Any thread and process.

/// Returns the key; nullopt if none is stored.
std::optional<SipHash::Key> userKey();

/// Returns the key, created if missing. Fails without a cache folder.
Result<SipHash::Key> ensureUserKey();

}  // namespace lanescope
