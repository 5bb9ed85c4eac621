// SPDX-License-Identifier: Apache-2.0
#include "model/remote/wire.h"

#include <zlib.h>

#include <bit>

namespace lanescope {

static_assert(std::endian::native == std::endian::little, "messages are little-endian");

namespace {

constexpr size_t frameHeaderBytes = 9;
constexpr uint8_t noCell = 0, wholeCell = 1, realCell = 2, textCell = 3;

}  // namespace

WireWriter& WireWriter::range(const std::optional<TimeRange>& range) {
    number<uint8_t>(range ? 1 : 0);
    return range ? number(range->startNs).number(range->endNs) : *this;
}

WireWriter& WireWriter::table(const ReportTable& table) {
    const auto texts = [this](const std::vector<std::string>& list) {
        number(static_cast<uint32_t>(list.size()));
        for (const std::string& each : list) text(each);
    };
    text(table.name).text(table.title).number(table.style).number(static_cast<uint32_t>(table.columns.size()));
    for (const ReportColumn& column : table.columns) text(column.name).number(column.unit);
    texts(table.notes);
    texts(table.searches);
    number(static_cast<uint32_t>(table.rows.size()));
    for (const std::vector<Cell>& row : table.rows)
        for (const Cell& cell : row) {
            number(static_cast<uint8_t>(cell.index()));
            if (const auto* whole = std::get_if<int64_t>(&cell)) number(*whole);
            if (const auto* real = std::get_if<double>(&cell)) number(*real);
            if (const auto* words = std::get_if<std::string>(&cell)) text(*words);
        }
    return *this;
}

std::string_view WireReader::text() {
    const auto size = number<uint32_t>();
    if (!has(size)) return {};
    const std::string_view text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return text;
}

uint32_t WireReader::count(size_t minBytes) {
    const auto count = number<uint32_t>();
    isGood_ = isGood_ && count <= bytes_.size() / minBytes;
    return isGood_ ? count : 0;
}

std::optional<TimeRange> WireReader::range() {
    if (number<uint8_t>() == 0) return std::nullopt;
    TimeRange range{.startNs = number<int64_t>(), .endNs = number<int64_t>()};
    isGood_ =
        isGood_ && range.startNs >= -maxTimestampNs && range.endNs <= maxTimestampNs && range.startNs < range.endNs;
    return isGood_ ? range : TimeRange{0, 1};
}

ReportTable WireReader::table() {
    const auto texts = [this] {
        std::vector<std::string> list;
        for (uint32_t left = count(sizeof(uint32_t)); left > 0 && isGood_; --left) list.emplace_back(text());
        return list;
    };
    ReportTable table{.name = std::string(text()), .title = std::string(text()), .style = number<ReportStyle>()};
    for (uint32_t left = count(sizeof(uint32_t) + 1); left > 0 && isGood_; --left) {
        ReportColumn& column = table.columns.emplace_back();
        column.name = text();
        column.unit = number<Unit>();
        isGood_ = isGood_ && column.unit <= Unit::Timestamp;
    }
    table.notes = texts();
    table.searches = texts();
    const size_t columns = table.columns.size();
    isGood_ = isGood_ && table.style <= ReportStyle::Tree;
    for (uint32_t left = columns > 0 ? count(columns) : 0; left > 0 && isGood_; --left) {
        std::vector<Cell>& row = table.rows.emplace_back(columns);
        for (Cell& cell : row) {
            const auto kind = number<uint8_t>();
            isGood_ = isGood_ && kind <= textCell;
            if (kind == wholeCell) cell = number<int64_t>();
            if (kind == realCell) cell = number<double>();
            if (kind == textCell) cell = std::string(text());
        }
    }
    isGood_ = isGood_ && (table.searches.empty() || table.searches.size() == table.rows.size());
    if (!isGood_) return {};
    return table;
}

std::string frameOf(Message type, uint32_t request, std::string_view body) {
    WireWriter writer;
    writer.bytes().reserve(frameHeaderBytes + body.size());
    writer.number(static_cast<uint32_t>(body.size())).number(type).number(request);
    return std::move(writer.bytes()) + std::string(body);
}

std::optional<Frame> FrameReader::next() {
    // The last frame is no longer used.
    if (begin_ > (size_t{1} << 16) || begin_ == bytes_.size()) bytes_.erase(0, std::exchange(begin_, 0));
    WireReader reader(std::string_view(bytes_).substr(begin_));
    const auto size = reader.number<uint32_t>();
    const Frame frame{reader.number<Message>(), reader.number<uint32_t>(), {}};
    if (!reader.isGood()) return std::nullopt;
    isBroken_ = isBroken_ || size > maxBytes_;
    if (isBroken_ || bytes_.size() - begin_ - frameHeaderBytes < size) return std::nullopt;
    const std::string_view body = std::string_view(bytes_).substr(begin_ + frameHeaderBytes, size);
    begin_ += frameHeaderBytes + size;
    return Frame{frame.type, frame.request, body};
}

std::string packedAnswer(std::string_view body) {
    constexpr size_t minBytes = 1024;
    constexpr int answerLevel = 6;
    WireWriter writer;
    const bool isPacked = body.size() >= minBytes;
    writer.number(isPacked ? static_cast<uint32_t>(body.size()) : 0).bytes() +=
        isPacked ? deflated(body, answerLevel) : std::string(body);
    return std::move(writer.bytes());
}

std::optional<std::string> unpackedAnswer(std::string_view packed) {
    WireReader reader(packed);
    const auto bytes = reader.number<uint32_t>();
    if (!reader.isGood() || bytes > maxAnswerBytes) return std::nullopt;
    return bytes > 0 ? inflated(reader.rest(), bytes) : std::string(reader.rest());
}

std::string deflated(std::string_view bytes, int level) {
    uLongf size = compressBound(bytes.size());
    std::string packed(size, '\0');
    const int code = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), level);
    packed.resize(code == Z_OK ? size : 0);
    return packed;
}

std::optional<std::string> inflated(std::string_view deflatedBytes, size_t bytes) {
    std::string text(bytes, '\0');
    uLongf size = bytes;
    const int code = uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                                reinterpret_cast<const Bytef*>(deflatedBytes.data()), deflatedBytes.size());
    if (code != Z_OK || size != bytes) return std::nullopt;
    return text;
}

std::vector<PageRun> runsOf(const std::vector<uint32_t>& pages) {
    std::vector<PageRun> runs;
    for (const uint32_t page : pages) {
        if (!runs.empty() && runs.back().first + runs.back().count == page)
            ++runs.back().count;
        else
            runs.push_back({page, 1});
    }
    return runs;
}

}  // namespace lanescope
