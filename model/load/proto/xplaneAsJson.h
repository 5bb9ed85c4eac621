// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/format/TimeRange.h"
#include "model/format/protoFields.h"

namespace lanescope {

/// An XPlane profile of JAX or TensorFlow as the same events in JSON, piece by piece, so that one
/// reader knows what they mean: work on GPUs by its streams, calls by the threads of the host, and
/// the lines of operators, modules and steps as ranges. What is damaged is left out.
class XplaneAsJson {
  public:
    /// The whole profile, which must outlive this. O(bytes).
    explicit XplaneAsJson(std::string_view space);

    /// The next bytes of JSON; 0 at the end.
    size_t read(std::span<char> bytes);
    /// How much of the profile was taken, in [0, 1].
    double fractionRead() const {
        return space_.empty() ? 1
                              : static_cast<double>(taken_) / static_cast<double>(space_.size());
    }

  private:
    using Names = std::unordered_map<uint64_t, std::string_view>;
    /// A fact of an event or of a plane.
    struct Stat {
        std::string_view name, text;
        int64_t number = 0;
        bool isNumber = false;
    };
    /// Whose the events of a line are.
    struct Place {
        std::string pid, tid;  ///< As JSON.
        std::string line;
        std::optional<int64_t> gpu, stream;
    };
    /// What an event says of the work that it is.
    struct Details {
        std::string_view kernel, copy, memset;
        std::optional<int64_t> correlation;
    };

    void step();
    void put(const std::string& event);
    void readNames(std::string_view message);
    Stat statOf(std::string_view message) const;
    void findStart(std::string_view message);
    void beginPlane(std::string_view message);
    void describeGpu(std::string_view message, int64_t gpu);
    void beginLine(std::string_view message);
    void writeEvent(std::string_view message);
    void writeWork(std::string_view name, const Details& details, TimeRange range);
    void writeSlice(std::string_view name, const Details& details, TimeRange range);
    void give(std::string_view category, std::string_view name, TimeRange range,
              const std::string& arguments);

    std::string_view space_;
    ProtoFields planes_, lines_{{}}, events_{{}};  ///< Where it is.
    std::string_view planeName_;
    Place place_;
    int64_t zeroNs_ = 0;
    Names eventNames_, statNames_;  ///< Of the plane that is being read.
    std::string text_, devices_;
    size_t at_ = 0, written_ = 0, taken_ = 0;
    bool isFirst_ = true, isEnded_ = false;
    int64_t startNs_ = 0;  ///< Since 1970; 0 if unknown.
};

}  // namespace lanescope
