// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/export/TextSink.h"
#include "model/flame/FlameTree.h"

namespace lanescope {

/// Writes the tree as a picture: a row for each depth, the root at the top, each frame as wide as
/// its share of the time, with its name and time as the title that browsers show under the pointer.
/// What would be narrower than a third of a pixel is left out. Names are set as text only. Needs
/// nothing beside it and has no script. O(nodes).
void writeFlameSvg(const FlameTree& tree, std::string_view title, const TextSink& sink);

}  // namespace lanescope
