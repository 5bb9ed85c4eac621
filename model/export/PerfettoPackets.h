// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/export/ProtoWriter.h"
#include "model/export/TextSink.h"

namespace lanescope {

/// Writes packets of Perfetto one after the other; stops once the sink wants no more. Texts that
/// come again are written once, as numbers.
class PerfettoPackets {
  public:
    /// What a slice says beside its name.
    class Arguments {
      public:
        explicit Arguments(PerfettoPackets& packets) : packets_(packets) {}
        Arguments& add(std::string_view name, int64_t value);
        Arguments& add(std::string_view name, std::string_view value);
        Arguments& add(std::string_view name, const std::array<uint32_t, 3>& values);
        void flow(uint64_t id) { event_.fixed(47, id); }

      private:
        friend class PerfettoPackets;
        PerfettoPackets& packets_;
        ProtoWriter event_;
    };

    /// Times that are written are later by `shiftNs`, as none may be below 0.
    PerfettoPackets(const TextSink& sink, int64_t shiftNs) : sink_(sink), shiftNs_(shiftNs) {}

    /// That time 0 is that moment since 1970.
    void timeOfDay(int64_t utcNs);
    /// Tracks have numbers of their own, from 1 on; 0 as a parent is none.
    void processTrack(uint64_t track, int64_t pid, std::string_view name);
    void threadTrack(uint64_t track, uint64_t parent, int64_t pid, int64_t tid,
                     std::string_view name);
    void plainTrack(uint64_t track, uint64_t parent, std::string_view name);
    /// `unit` is empty for a count.
    void counterTrack(uint64_t track, uint64_t parent, std::string_view name,
                      std::string_view unit);

    void begin(uint64_t track, int64_t timeNs, std::string_view category, std::string_view name,
               const Arguments& arguments);
    void end(uint64_t track, int64_t timeNs);
    void mark(uint64_t track, int64_t timeNs, std::string_view category, std::string_view name,
              const Arguments& arguments);
    void value(uint64_t track, int64_t timeNs, double value);

    bool isWanted() const { return isWanted_; }
    /// Hands over what is left.
    void flush();

  private:
    using Numbers = std::unordered_map<std::string, uint64_t>;
    uint64_t numberOf(Numbers& numbers, uint32_t field, std::string_view text);
    void descriptor(const ProtoWriter& descriptor);
    void event(uint64_t type, uint64_t track, int64_t timeNs, std::string_view category,
               std::string_view name, const Arguments* arguments);
    void packet(const ProtoWriter& content);

    const TextSink& sink_;
    const int64_t shiftNs_;
    ProtoWriter text_;
    Numbers categories_, names_, argumentNames_;
    ProtoWriter interned_;  ///< Texts that were not written yet.
    bool isBegun_ = false;
    bool isWanted_ = true;
};

}  // namespace lanescope
