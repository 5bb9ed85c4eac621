// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/format/protoFields.h"
#include "model/load/json/readJsonEvents.h"

namespace lanescope {

/// A Perfetto trace with TrackEvents as the same events in JSON, piece by piece, so that one reader
/// knows what they mean. Slices are put together from their ends; calls and work that only arrows
/// join get numbers by which they are joined. Whatever is untrusted or damaged is left out.
class PerfettoAsJson {
  public:
    explicit PerfettoAsJson(ByteSource source) : source_(std::move(source)) {}

    /// The next bytes of JSON; 0 at the end. Errors are those of the source.
    Result<size_t> read(std::span<char> bytes);

  private:
    struct Track {
        uint64_t parent = 0;
        std::string name;
        int64_t pid = -1, tid = -1;  ///< -1 if the descriptor does not say.
        bool isCounter = false;
    };
    /// What a sequence of packets says once and refers to later.
    struct Sequence {
        std::unordered_map<uint64_t, std::string> categories, names, annotationNames, texts;
        uint64_t track = 0, clock = 0;
    };
    struct Clock {
        int64_t aheadNs = 0;  ///< Of what the trace counts its times by.
        int64_t multiplier = 1;
        int64_t lastValue = 0;
        bool isIncremental = false;
    };
    struct Event {
        std::string category, name, arguments;
        uint64_t type = 0, track = 0, flow = 0;
        double counterValue = 0;
        bool hasCorrelation = false;
    };
    struct Open {
        int64_t startNs = 0;
        Event event;
    };
    /// Whose events of a track are, as JSON has it.
    struct Row {
        std::string pid, tid;
    };

    Result<bool> fill();
    Result<bool> nextPacket(std::string& packet);
    Result<bool> take(size_t bytes);
    void takePacket(std::string_view packet);
    void takeClocks(std::string_view snapshot, uint64_t sequence);
    void takeInterned(std::string_view data, Sequence& sequence);
    void takeTrack(std::string_view descriptor);
    Event eventOf(std::string_view event, const Sequence& sequence) const;
    void takeAnnotation(std::string_view annotation, const Sequence& sequence, Event& event) const;
    std::string valueOf(std::string_view annotation, const Sequence& sequence, int depth) const;
    int64_t timeOf(uint64_t timestamp, uint64_t clock, uint64_t sequence);
    void give(Event event, int64_t timeNs);
    void giveSlice(const Open& open, int64_t endNs);
    void give(std::string_view phase, const Event& event, int64_t timeNs,
              const std::string& more = {});
    const Row& rowOf(uint64_t track);
    void put(const std::string& event);

    ByteSource source_;
    std::string in_;  ///< Read and not taken yet, from `inAt_` on.
    size_t inAt_ = 0;
    std::string out_;  ///< Made and not given out yet, from `outAt_` on.
    size_t outAt_ = 0;
    bool isBegun_ = false, isFirst_ = true, isEnded_ = false, isSourceEnded_ = false;
    std::map<uint64_t, Sequence> sequences_;
    std::map<std::pair<uint64_t, uint64_t>, Clock> clocks_;  ///< By sequence, or 0, and number.
    std::unordered_map<uint64_t, Track> tracks_;
    std::unordered_map<uint64_t, Row> rows_;
    std::unordered_map<uint64_t, std::vector<Open>> open_;  ///< By track, the innermost last.
    size_t openCount_ = 0;
    std::unordered_map<uint64_t, uint32_t> flows_;
    int64_t utcAheadNs_ = 0;
    size_t takenBytes_ = 0, madeBytes_ = 0;
};

}  // namespace lanescope
