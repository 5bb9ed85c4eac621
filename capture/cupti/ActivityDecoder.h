#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "capture/agent/RecordWriter.h"
#include "capture/cupti/CuptiLibrary.h"

namespace lanescope {

/// Reads the records of a CUPTI buffer and writes them to the log, names interned. Writer thread
/// only.
class ActivityDecoder {
  public:
    ActivityDecoder(const CuptiLibrary& cupti, RecordWriter& writer)
        : cupti_(cupti), writer_(writer) {}

    /// Decodes the records in the first `validBytes` of `buffer`.
    void decode(uint8_t* buffer, size_t validBytes);

  private:
    void decodeRecord(const CUpti_Activity& record);
    void kernel(const CUpti_Activity& record);
    void memcpy(const CUpti_Activity& record);
    void peerMemcpy(const CUpti_Activity& record);
    void memset(const CUpti_Activity& record);
    void api(const CUpti_Activity& record, bool isDriver);
    void synchronization(const CUpti_Activity& record);
    void cudaEvent(const CUpti_Activity& record);
    void overhead(const CUpti_Activity& record);
    void device(const CUpti_Activity& record);
    void context(const CUpti_Activity& record);
    void stream(const CUpti_Activity& record);
    uint32_t apiName(uint32_t callbackId, bool isDriver);

    const CuptiLibrary& cupti_;
    RecordWriter& writer_;
    std::unordered_map<uint32_t, uint32_t> apiNames_;  // callback id (top bit: driver) to string id
    uint32_t namesGeneration_ = 0;
};

}  // namespace lanescope
