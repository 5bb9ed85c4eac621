// SPDX-License-Identifier: Apache-2.0
#include "model/flame/flameSvg.h"

#include <fmt/format.h>

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
std::string colorOf(const FlameTree::Node& node) {
    Fnv1a sum;
    sum.add(node.name);
    const auto hash = static_cast<unsigned>(sum.value() % 40);
    if (node.depth == 0) return "#d8dde3";
    if (node.children.empty()) return fmt::format("hsl({}, 62%, 72%)", 195 + hash / 2);
    return fmt::format("hsl({}, 78%, 76%)", 18 + hash);
}

class Writer {
  public:
    Writer(const FlameTree& tree, const TextSink& sink) : tree_(tree), sink_(sink) {}

    void write(std::string_view title) {
        const double height = head + rowHeight * (tree_.depth() + 1) + 6;
        sink_(fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
            "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n"
            "<text x=\"6\" y=\"17\" font-weight=\"bold\">{2}</text>\n",
            width, height, markupEscaped(title)));
        writeAll();
        sink_("</svg>\n");
    }

  private:
    /// Without calling itself: a file may hold stacks of any depth.
    void writeAll() {
        struct Place {
            uint32_t node;
            double x;
        };
        std::vector<Place> open{{0, 0}};
        while (!open.empty()) {
            const Place place = open.back();
            open.pop_back();
            const FlameTree::Node& node = tree_.nodes()[place.node];
            if (widthOf(node) < narrowest || !writeFrame(node, place.x)) continue;
            double x = place.x;
            for (const uint32_t child : node.children) {
                open.push_back({child, x});
                x += widthOf(tree_.nodes()[child]);
            }
        }
    }
    double widthOf(const FlameTree::Node& node) const {
        if (tree_.totalNs() <= 0) return node.depth == 0 ? width : 0;
        return width * static_cast<double>(node.totalNs) / static_cast<double>(tree_.totalNs());
    }
    bool writeFrame(const FlameTree::Node& node, double x) {
        const double wide = widthOf(node);
        const double y = head + rowHeight * node.depth;
        const double share = tree_.totalNs() > 0 ? 100 * wide / width : 0;
        std::string text = fmt::format(
            "<g><title>{}: {} ({:.1f} %)</title><rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" "
            "height=\"{}\" fill=\"{}\"/>",
            markupEscaped(node.name), formatDuration(node.totalNs), share, x, y,
            wide > 1 ? wide - 0.5 : wide, rowHeight - 1, colorOf(node));
        const auto letters = static_cast<size_t>(wide / letter);
        if (letters >= 3) {
            const std::string valid = validUtf8(node.name);
            const std::string_view shown = firstOf(valid, letters);
            text += fmt::format("<text x=\"{:.2f}\" y=\"{}\">{}</text>", x + 3, y + 13,
                                markupEscaped(shown));
        }
        return sink_(text + "</g>\n");
    }

    const FlameTree& tree_;
    const TextSink& sink_;
};

}  // namespace

void writeFlameSvg(const FlameTree& tree, std::string_view title, const TextSink& sink) {
    Writer(tree, sink).write(title);
}

}  // namespace lanescope
