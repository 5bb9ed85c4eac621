// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/export/TextSink.h"
#include "model/flame/FlameTree.h"

namespace lanescope {

/// Writes a frame of the tree and what is in it as a picture: a row for each depth, that frame (0
/// for all) at the top, each frame as wide as its share of its time, with its name and time as the
/// title that browsers show under the pointer. What would be narrower than a third of a pixel is
/// left out. Names are set as text only. Needs nothing beside it and has no script. O(nodes).
void writeFlameSvg(const FlameTree& tree, uint32_t root, std::string_view title,
                   const TextSink& sink);

}  // namespace lanescope
