// SPDX-License-Identifier: Apache-2.0
#include "model/flame/StackPlaces.h"

#include <fmt/format.h>

#include "model/trace/stacks.h"

namespace lanescope {

namespace {

constexpr std::string_view noStack = "(no Python stack)";

}  // namespace

uint32_t StackPlaces::of(uint32_t stack) {
    if (stack >= trace_.stacks.size())
        return tree_.child(root_, tree_.nameNumber(noStack), {.kind = FrameKind::Unknown});
    std::vector<uint32_t> missing;
    uint32_t at = stack;
    while (at != noIndex && !places_.contains(at)) {
        missing.push_back(at);
        at = outerStack(trace_, at);
    }
    uint32_t place = at == noIndex ? root_ : places_[at];
    for (auto frame = missing.rbegin(); frame != missing.rend(); ++frame)
        place = places_[*frame] = within(place, *frame);
    return place;
}

uint32_t StackPlaces::within(uint32_t outer, uint32_t frame) {
    const std::string_view file = trace_.strings.at(trace_.stacks.file[frame]);
    const bool isLibrary = trace_.stacks.file[frame] != 0 && isLibraryFile(file);
    return tree_.child(
        outer, tree_.nameNumber(nameOf(frame, file)),
        {.kind = isLibrary ? FrameKind::LibraryFunction : FrameKind::Function, .stack = frame});
}

std::string StackPlaces::nameOf(uint32_t frame, std::string_view file) const {
    const std::string_view function = trace_.strings.at(trace_.stacks.function[frame]);
    if (trace_.stacks.file[frame] == 0) return std::string(function);
    return base_ == FlameBase::Lines
               ? fmt::format("{} ({})", function, placeText(trace_, frame))
               : fmt::format("{} ({})", function, file.substr(file.rfind('/') + 1));
}

}  // namespace lanescope
