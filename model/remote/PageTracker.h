// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lanescope {

/// Returns the numbers of the pages of `mapping` that `work` reads, ascending, in pages of the system. The mapping is
/// unreadable until its pages are read one by one, so no other thread may use it meanwhile. One call at a time.
/// O(pages), and some microseconds for each page that is read.
std::vector<uint32_t> pagesReadBy(std::span<const std::byte> mapping, const std::function<void()>& work);

}  // namespace lanescope
