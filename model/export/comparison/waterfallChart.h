#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lanescope {

/// How one sum becomes another, one addend after the other.
struct Waterfall {
    struct Bar {
        std::string label;
        int64_t ns = 0;  ///< Positive: lost.
    };
    std::string id;     ///< Of the picture on its page; letters and digits.
    std::string title;  ///< For those who do not see it.
    std::string startLabel, endLabel;
    int endColor =
        1;  ///< Number of the run whose colour the last bar has; the first has that of run 0.
    int64_t startNs = 0;
    /// Those of 0 are left out; those too small to be seen beside the others become one.
    std::vector<Bar> bars;
};

/// The picture as an SVG element. Its axis begins at 0 unless the differences would be too small to
/// see; then the full bars are broken and the axis says where it begins. Texts are escaped.
std::string waterfallChart(const Waterfall& waterfall);

}  // namespace lanescope
