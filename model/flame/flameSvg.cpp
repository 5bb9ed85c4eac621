// SPDX-License-Identifier: Apache-2.0
#include "model/flame/flameSvg.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

#include "model/format/Fnv1a.h"
#include "model/format/utf8.h"
#include "model/values/formatValue.h"
#include "model/values/markupText.h"

namespace lanescope {

namespace {

constexpr double width = 1200;
constexpr double rowHeight = 18;
constexpr double head = 26;
constexpr double letter = 6.6;  ///< Of the font below, about.
constexpr double narrowest = 0.33;

/// The first letters, so many bytes at most; no letter is cut.
std::string_view firstOf(std::string_view text, size_t bytes) {
    if (text.size() <= bytes) return text;
    while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
    return text.substr(0, bytes);
}

/// What runs on the GPU is blue, what led to it of warm colours; equal names look alike.
std::string colorOf(const FlameTree& tree, uint32_t index) {
    Fnv1a sum;
    sum.add(tree.nameOf(index));
    const auto hash = static_cast<unsigned>(sum.value() % 40);
    switch (tree.nodes()[index].frame.kind) {
        case FrameKind::All:
            return "#d8dde3";
        case FrameKind::Work:
            return fmt::format("hsl({}, 62%, 72%)", 195 + hash / 2);
        default:
            return fmt::format("hsl({}, 78%, 76%)", 18 + hash);
    }
}

/// A picture of a frame and what is in it.
class Writer {
  public:
    Writer(const FlameTree& tree, uint32_t root, const TextSink& sink)
        : tree_(tree), root_(tree.nodes()[root]), sink_(sink) {}

    void write(std::string_view title) {
        const double height = head + rowHeight * rowCount() + 6;
        sink_(fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
            "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n"
            "<text x=\"6\" y=\"17\" font-weight=\"bold\">{2}</text>\n",
            width, height, markupEscaped(title)));
        writeRows();
        sink_("</svg>\n");
    }

  private:
    /// The frames of a depth that stand in the picture, whatever their width.
    std::span<const uint32_t> row(uint32_t depth) const {
        const std::span<const uint32_t> all = tree_.row(depth);
        const auto begin = std::partition_point(all.begin(), all.end(), [this](uint32_t each) {
            return tree_.nodes()[each].startNs < root_.startNs;
        });
        const auto end = std::partition_point(begin, all.end(), [this](uint32_t each) {
            return tree_.nodes()[each].startNs < root_.endNs();
        });
        return {begin, end};
    }
    uint32_t rowCount() const {
        uint32_t count = 1;
        while (!row(root_.depth + count).empty()) ++count;
        return count;
    }
    void writeRows() {
        for (uint32_t depth = root_.depth; depth <= tree_.depth(); ++depth)
            for (const uint32_t each : row(depth))
                if (widthOf(tree_.nodes()[each]) >= narrowest && !writeFrame(each)) return;
    }
    double share(int64_t ns) const {
        return root_.totalNs > 0 ? static_cast<double>(ns) / static_cast<double>(root_.totalNs) : 0;
    }
    double widthOf(const FlameTree::Node& node) const {
        return tree_.isEmpty() ? width : width * share(node.totalNs);
    }
    bool writeFrame(uint32_t index) {
        const FlameTree::Node& node = tree_.nodes()[index];
        const double wide = widthOf(node);
        const double x = width * share(node.startNs - root_.startNs);
        const double y = head + rowHeight * (node.depth - root_.depth);
        std::string text = fmt::format(
            "<g><title>{}: {} ({:.1f} %)</title><rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" "
            "height=\"{}\" fill=\"{}\"/>",
            markupEscaped(tree_.nameOf(index)), formatDuration(node.totalNs),
            100 * share(node.totalNs), x, y, wide > 1 ? wide - 0.5 : wide, rowHeight - 1,
            colorOf(tree_, index));
        const auto letters = static_cast<size_t>(wide / letter);
        if (letters >= 3) {
            const std::string valid = validUtf8(tree_.nameOf(index));
            const std::string_view shown = firstOf(valid, letters);
            text += fmt::format("<text x=\"{:.2f}\" y=\"{}\">{}</text>", x + 3, y + 13,
                                markupEscaped(shown));
        }
        return sink_(text + "</g>\n");
    }

    const FlameTree& tree_;
    const FlameTree::Node& root_;
    const TextSink& sink_;
};

}  // namespace

void writeFlameSvg(const FlameTree& tree, uint32_t root, std::string_view title,
                   const TextSink& sink) {
    Writer(tree, root, sink).write(title);
}

}  // namespace lanescope
