#pragma once

#include <cstdint>

namespace lanescope {

/// Something that is read again and again, on one thread.
class Sampler {
  public:
    virtual ~Sampler() = default;
    /// "nvml": the `source` of its counters.
    virtual const char* source() const = 0;
    /// For people: "NVML".
    virtual const char* title() const = 0;
    /// Looks for what can be read and announces it. False if there is nothing; what keeps it from
    /// being there is then a note in the log.
    virtual bool begin() = 0;
    /// Reads once. False if there will be nothing more.
    virtual bool sample() = 0;
    /// Reads what belongs to the moment at which a chosen range began or ended.
    virtual void sampleMoment() {}
    /// After the last reading, if the thread ends in good order.
    virtual void end() {}
};

}  // namespace lanescope
