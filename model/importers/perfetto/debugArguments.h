// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/importers/events/EventDecoder.h"
#include "model/importers/perfetto/PacketSequence.h"
#include "model/numbers/MixedMap.h"

namespace lanescope {

/// Distinct copies of texts of released packets.
class KeptTexts {
  public:
    /// Returns the text, valid for the lifetime of this object.
    std::string_view kept(std::string_view text) {
        const auto [found, isNew] = texts_.emplace(text);
        if (isNew) bytes_ += text.size();
        return *found;
    }
    size_t bytes() const { return bytes_; }

  private:
    struct Hash {
        size_t operator()(const std::string& text) const { return static_cast<size_t>(mixed(std::string_view(text))); }
    };
    std::unordered_set<std::string, Hash> texts_;
    size_t bytes_ = 0;
};

/// Reads a DebugAnnotation as an argument of an event: numbers and texts as they are, lists and
/// groups as JSON. Parts that are nested too deeply are skipped.
void takeDebugArgument(std::string_view message, const PacketSequence& sequence, KeptTexts& keeper,
                       std::vector<EventDecoder::Argument>& arguments);

}  // namespace lanescope
