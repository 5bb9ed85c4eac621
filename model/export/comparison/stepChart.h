#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lanescope {

/// The steps of one run, one after the other.
struct StepSeries {
    std::string label;
    std::vector<std::string> names;  ///< Of the steps, for the pointer; as many as `wallNs`.
    std::vector<int64_t> wallNs;
    int color = 0;  ///< Number of the run: 0 the baseline, 1 the first candidate.
    double medianNs = 0;
    double firstQuartileNs = 0, thirdQuartileNs = 0;
};

/// Steps of several runs over their order, as an SVG element: a dot for each step, a line for the
/// median and a band between the quartiles. A run of more than a thousand steps becomes a band from
/// the shortest to the longest of every few steps, with a line along their medians. Steps far
/// longer than the rest stand at the upper edge, as a triangle with its time. Texts are escaped.
std::string stepChart(const std::vector<StepSeries>& runs);

}  // namespace lanescope
