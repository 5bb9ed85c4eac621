// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/analysis/storedSummary.h"
#include "model/format/TimeRange.h"
#include "model/index/IndexFile.h"
#include "model/text/ReportTable.h"

// The messages between `lanescope serve --stdio` and the viewer, described in `README.md`.
namespace lanescope {

inline constexpr std::string_view wireMagic = "\nLSCPWIRE";
inline constexpr uint32_t wireVersion = 3;
/// Versions that both ends must share.
inline constexpr std::array<uint32_t, 3> wireVersions{wireVersion, indexVersion, analysis::storedVersion};

enum class Message : uint8_t {
    Open,      ///< Number of a file, width of the first picture. Its state of now, opened; again for a growing one.
    Pages,     ///< Runs of pages of a generation.
    View,      ///< Lanes and counters in a range of time, as pages.
    Summary,   ///< The explained run of a generation: `StepSelection`.
    Report,    ///< A report by name, in a range of time.
    Query,     ///< One SQL statement.
    Tables,    ///< The tables for SQL.
    Cancel,    ///< The request of this number is no longer wanted.
    Progress,  ///< From the server: the work for a request goes on.
    Part,      ///< From the server: pages; more follow.
    Answer,    ///< From the server: the last message of a request. A second one follows the pages of `Open`.
    Failure,   ///< From the server: the same, a sentence.
};

constexpr uint32_t pageBytes = 4096;
/// Limits of one message. A server sends pages in parts.
constexpr uint32_t maxRequestBytes = 1u << 20, maxAnswerBytes = 320u << 20;
constexpr uint32_t maxPartPages = 64, maxRequestedPages = 4096, maxViewPages = 2048;
/// Limits of one view.
constexpr uint32_t maxViewLanes = 4096, maxViewWidthPx = 1u << 14;

struct Frame {
    Message type{};
    uint32_t request = 0;
    std::string_view body;
};

/// Writes numbers, texts and lists, little-endian.
class WireWriter {
  public:
    template <class T>
    WireWriter& number(T value) {
        static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    WireWriter& text(std::string_view text) {
        number(static_cast<uint32_t>(text.size()));
        bytes_.append(text);
        return *this;
    }
    WireWriter& range(const std::optional<TimeRange>& range);
    WireWriter& table(const ReportTable& table);
    std::string& bytes() { return bytes_; }

  private:
    std::string bytes_;
};

/// Reads what `WireWriter` wrote. After the end or an invalid value everything reads as empty and `isGood` is false.
class WireReader {
  public:
    explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

    bool isGood() const { return isGood_; }
    bool isAtEnd() const { return isGood_ && bytes_.empty(); }
    template <class T>
    T number() {
        T value{};
        if (!has(sizeof value)) return T{};
        std::memcpy(&value, bytes_.data(), sizeof value);
        bytes_.remove_prefix(sizeof value);
        return value;
    }
    std::string_view text();
    /// Returns the number of elements that follow, which need at least so many bytes each.
    uint32_t count(size_t minBytes);
    /// Returns nullopt for a whole trace. A valid range is not empty and within the times of traces.
    std::optional<TimeRange> range();
    ReportTable table();
    std::string_view rest() { return std::exchange(bytes_, {}); }

  private:
    bool has(size_t bytes) {
        isGood_ = isGood_ && bytes_.size() >= bytes;
        return isGood_;
    }

    std::string_view bytes_;
    bool isGood_ = true;
};

std::string frameOf(Message type, uint32_t request, std::string_view body);

/// Splits a stream of bytes into frames.
class FrameReader {
  public:
    explicit FrameReader(uint32_t maxBytes) : maxBytes_(maxBytes) {}

    void add(std::string_view bytes) { bytes_.append(bytes); }
    /// Returns the next complete frame, valid until the next call of any member; nullopt if there is none yet.
    std::optional<Frame> next();
    /// Returns true after a frame that is too large: nothing more can be read.
    bool isBroken() const { return isBroken_; }

  private:
    const uint32_t maxBytes_;
    std::string bytes_;
    size_t begin_ = 0;
    bool isBroken_ = false;
};

/// Returns deflated bytes. The packed columns of an index gain nothing from more than level 1.
std::string deflated(std::string_view bytes, int level);
/// Returns nullopt unless the result has exactly `bytes` bytes.
std::optional<std::string> inflated(std::string_view deflatedBytes, size_t bytes);

/// Returns the content of an `Answer`: large ones are deflated. `unpackedAnswer` returns nullopt for an invalid one.
std::string packedAnswer(std::string_view body);
std::optional<std::string> unpackedAnswer(std::string_view packed);

struct PageRun {
    uint32_t first = 0, count = 0;
};

/// Returns ascending page numbers as runs.
std::vector<PageRun> runsOf(const std::vector<uint32_t>& pages);

}  // namespace lanescope
