// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lanescope {

/// What a communicator is called wherever it is shown: "0x02e5d1c8a1b2c3d4". SQLite reads that as
/// the number that stands in the file.
std::string communicatorId(uint64_t hash);

/// The communicator that is called so; nothing for any other text.
std::optional<uint64_t> communicatorFrom(std::string_view id);

/// A payload of NCCL's ranges as it is shown, in which communicators are called as elsewhere:
/// `{"NCCL communicator ID":"0x02e5d1c8a1b2c3d4","Root":0}`. O(length).
std::string withCommunicatorIds(std::string_view payload);

}  // namespace lanescope
