// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "model/importers/events/ImportedEvents.h"
#include "model/importers/events/JsonCursor.h"

namespace lanescope {

/// Converts the events of a trace, one JSON object at a time, and adds them to a chunk. The texts
/// of the chunk are views into the text of the cursors.
class EventDecoder {
  public:
    explicit EventDecoder(ImportedChunk& chunk) : chunk_(chunk) {}

    struct Argument {
        std::string_view key;
        JsonValue value = {};
    };
    /// The members of an event. Times are in microseconds.
    struct Event {
        std::string_view phase;
        JsonValue category, name, process, thread, time, duration, id;
    };

    /// Reads the next object. An incomplete object is not added.
    JsonStatus take(JsonCursor& cursor);
    /// Adds an event of another file format. Its texts must outlive this object.
    void take(const Event& event, const std::vector<Argument>& arguments);

  private:
    struct Times {
        int64_t startNs = 0, durationNs = 0;
    };

    JsonStatus takeMember(std::string_view key, JsonCursor& cursor);
    JsonStatus takeArguments(JsonCursor& cursor);
    void keep();
    void keepComplete();
    void keepSlice(ImportedEventKind kind, Times times);
    void keepOperator(ImportedSlice slice);
    uint32_t shapesOf(const JsonValue& shapes, const JsonValue* types, const JsonValue* values);
    void keepSequence(const JsonValue& number, const JsonValue* forwardThread);
    bool keepGpuWork(ImportedEventKind kind, Times times);
    void keepMark();
    void keepMemory(int64_t timeNs);
    void keepCounters();
    void keepFlow();
    void keepFlowEnd();
    void keepName();
    void keepEdge(char phase);

    std::optional<int64_t> timeOf(const JsonValue& value);
    std::optional<int64_t> startTime();
    const JsonValue* argument(std::string_view key) const;
    std::optional<int64_t> wholeNumber(std::string_view key) const;
    int64_t numberOr(std::string_view key, int64_t otherwise) const;
    uint32_t textOf(std::string_view key);
    uint32_t correlation() const;
    ImportedEventKind kindOfEvent();
    uint32_t thread();
    uint32_t place(const ImportedPlace& place);
    uint32_t launch();
    void addSample(const ImportedCounter& counter, int64_t timeNs, double value);

    ImportedChunk& chunk_;
    Event event_;
    std::vector<Argument> arguments_;  ///< Current event. Kept to reuse its memory.
    // Values seen before, the last one first.
    std::string_view lastCategory_;
    ImportedEventKind lastKind_ = ImportedEventKind::Other;
    ImportedThread lastThread_;
    uint32_t lastThreadIndex_ = 0;
    std::map<ImportedThread, uint32_t> threads_;
    std::map<ImportedPlace, uint32_t> places_;
    std::map<ImportedLaunch, uint32_t> launches_;
    std::map<ImportedCounter, uint32_t> counters_;
};

}  // namespace lanescope
