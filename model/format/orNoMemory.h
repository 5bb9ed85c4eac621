// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <new>
#include <stdexcept>

#include "model/format/Result.h"

namespace lanescope {

/// What `open` answers, a `Result`; that there was not enough memory for `path` where it ran out
/// meanwhile. Other people's files may ask for any amount of it.
template <class Open>
auto orNoMemory(const std::filesystem::path& path, Open open) -> decltype(open()) {
    try {
        return open();
    } catch (const std::bad_alloc&) {
        // What was made so far is gone, so there is some for a sentence.
    } catch (const std::length_error&) {
    }
    return fail("There is not enough memory to open {}.", path.string());
}

}  // namespace lanescope
