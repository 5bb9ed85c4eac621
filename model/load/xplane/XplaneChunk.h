// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "model/load/json/JsonEvents.h"

namespace lanescope {

/// Takes events of a plane a chunk at a time, so that what is under way stays small. Texts are
/// views, which must stay until `flush`.
class XplaneChunk {
  public:
    explicit XplaneChunk(JsonEvents& events) : events_(events) {}

    uint32_t text(std::string_view text) { return chunk_.strings.add(text); }
    /// A text that is made on the way, kept until `flush`.
    std::string_view made(std::string text) { return made_.emplace_back(std::move(text)); }
    uint32_t thread(const JsonThread& thread);
    uint32_t place(const JsonPlace& place);
    uint32_t launch(const JsonLaunch& launch);

    void slice(JsonEventKind kind, const JsonSlice& slice);
    void work(const JsonGpuWork& work);
    void name(const JsonName& name) { chunk_.names.push_back(name); }
    void sample(const JsonCounter& counter, int64_t timeNs, double value);
    JsonTally& tally() { return chunk_.tally; }

    /// Hands over what is here; numbers of texts and all else are new from then on.
    void flush();
    /// Whether there is enough for that.
    bool isFull() const { return count_ >= enough; }

  private:
    static constexpr size_t enough = size_t{1} << 16;

    JsonEvents& events_;
    ScannedChunk chunk_;
    std::deque<std::string> made_;
    std::map<JsonThread, uint32_t> threads_;
    std::map<JsonPlace, uint32_t> places_;
    std::map<JsonLaunch, uint32_t> launches_;
    std::map<JsonCounter, uint32_t> counters_;
    size_t count_ = 0;
};

}  // namespace lanescope
