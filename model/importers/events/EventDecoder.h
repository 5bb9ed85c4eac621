// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "model/importers/events/ForeignChunk.h"
#include "model/importers/events/JsonCursor.h"

namespace lanescope {

/// Takes events of a trace, one object after the other, into a chunk, whose texts are views of what
/// the cursors go through.
class EventTaker {
  public:
    explicit EventTaker(ScannedChunk& chunk) : chunk_(chunk) {}

    struct Argument {
        std::string_view key;
        JsonValue value;
    };
    /// The members of an event; times are microseconds.
    struct Event {
        std::string_view phase;
        JsonValue category, name, process, thread, time, duration, id;
    };

    /// Takes the object that comes next. If it is not whole, nothing of it is taken.
    JsonLook take(JsonCursor& cursor);
    /// Takes an event of a file of another form; what it is made of must stay as long as this.
    void take(const Event& event, const std::vector<Argument>& arguments);

  private:
    /// Start and duration.
    struct Times {
        int64_t startNs = 0, durationNs = 0;
    };

    JsonLook takeMember(std::string_view key, JsonCursor& cursor);
    JsonLook takeArguments(JsonCursor& cursor);
    void keep();
    void keepComplete();
    void keepSlice(JsonEventKind kind, Times times);
    void keepOperator(JsonSlice slice);
    void keepSequence(const JsonValue& number, const JsonValue* forwardThread);
    bool keepGpuWork(JsonEventKind kind, Times times);
    void keepMark();
    void keepMemory(int64_t timeNs);
    void keepCounters();
    void keepFlow();
    void keepArrowEnd();
    void keepName();
    void keepEdge(char phase);

    std::optional<int64_t> timeOf(const JsonValue& value);
    std::optional<int64_t> startTime();
    const JsonValue* argument(std::string_view key) const;
    const JsonValue* argument(std::string_view key, std::string_view olderKey) const;
    std::optional<int64_t> wholeNumber(std::string_view key) const;
    int64_t numberOr(std::string_view key, int64_t otherwise) const;
    uint32_t textOf(std::string_view key);
    uint32_t correlation() const;
    JsonEventKind kindOfEvent();
    uint32_t thread();
    uint32_t place(const JsonPlace& place);
    uint32_t launch();
    void addSample(const JsonCounter& counter, int64_t timeNs, double value);

    ScannedChunk& chunk_;
    Event event_;
    std::vector<Argument> arguments_;  ///< Of the event, kept to be filled again.
    // What was seen already, the last first looked at.
    std::string_view lastCategory_;
    JsonEventKind lastKind_ = JsonEventKind::Other;
    JsonThread lastThread_;
    uint32_t lastThreadIndex_ = 0;
    std::map<JsonThread, uint32_t> threads_;
    std::map<JsonPlace, uint32_t> places_;
    std::map<JsonLaunch, uint32_t> launches_;
    std::map<JsonCounter, uint32_t> counters_;
};

}  // namespace lanescope
