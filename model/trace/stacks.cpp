// SPDX-License-Identifier: Apache-2.0
#include "model/trace/stacks.h"

#include <fmt/format.h>

#include <utility>

#include "model/numbers/groups.h"

namespace lanescope {

uint32_t outerStack(const Trace& trace, uint32_t stack) {
    const uint32_t parent = trace.stacks.parent[stack];
    // Parents precede their children; in a corrupt index other references are ignored.
    return parent < stack ? parent : noIndex;
}

std::vector<uint32_t> framesOf(const Trace& trace, uint32_t stack) {
    // Limit of frames: the recorder keeps 256, but a file may have any number.
    constexpr size_t maxFrames = 1024;
    std::vector<uint32_t> frames;
    for (; stack < trace.stacks.size() && frames.size() < maxFrames; stack = outerStack(trace, stack))
        frames.push_back(stack);
    return frames;
}

uint32_t ownFrame(const Trace& trace, uint32_t stack) {
    for (uint32_t frame = stack; frame < trace.stacks.size(); frame = outerStack(trace, frame))
        if (!isLibraryFile(trace.strings.at(trace.stacks.file[frame]))) return frame;
    return stack;
}

namespace {

std::string placeOf(const FrameRef& frame) {
    if (frame.file.empty()) return frame.function;
    return frame.line == 0 ? frame.file : fmt::format("{}:{}", frame.file, frame.line);
}

}  // namespace

FrameRef frameRef(const Trace& trace, uint32_t frame) {
    const std::string_view file = trace.strings.at(trace.stacks.file[frame]);
    return {std::string(file.substr(file.rfind('/') + 1)), trace.stacks.line[frame],
            std::string(trace.strings.at(trace.stacks.function[frame]))};
}

std::string FrameRef::text() const {
    return file.empty() ? function : fmt::format("{} in {}", placeOf(*this), function);
}

std::string placeText(const Trace& trace, uint32_t frame) { return placeOf(frameRef(trace, frame)); }

std::string frameText(const Trace& trace, uint32_t frame) { return frameRef(trace, frame).text(); }

uint32_t graphNodeRow(const Trace& trace, uint32_t process, uint64_t node) {
    const GraphNodeTable& nodes = trace.graphNodes;
    const auto keyOf = [&](uint32_t row) {
        return std::pair(trace.threads[nodes.thread[row]].process, nodes.node[row]);
    };
    const uint32_t first =
        firstNotBefore(0u, nodes.size(), [&](uint32_t row) { return keyOf(row) < std::pair(process, node); });
    return first < nodes.size() && keyOf(first) == std::pair(process, node) ? first : noIndex;
}

uint32_t capturedNode(const Trace& trace, uint32_t row) {
    const GraphNodeTable& nodes = trace.graphNodes;
    constexpr int maxCopyChain = 64;  // of copies; a limit for crafted files
    const uint32_t process = trace.threads[nodes.thread[row]].process;
    uint32_t at = graphNodeRow(trace, process, nodes.node[row]);
    for (int copies = 0; at != noIndex && nodes.original[at] != 0 && copies < maxCopyChain; ++copies)
        at = graphNodeRow(trace, process, nodes.original[at]);
    return at != noIndex && nodes.original[at] == 0 ? at : noIndex;
}

FramePlace placeOf(const Trace& trace, uint32_t frame) {
    const StackTable& stacks = trace.stacks;
    return {stacks.function[frame], stacks.file[frame], stacks.line[frame]};
}

}  // namespace lanescope
