#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/agent/RecordWriter.h"
#include "capture/cupti/ApiNames.h"
#include "capture/cupti/CuptiLibrary.h"

namespace lanescope {

/// Reads the records of a CUPTI buffer and writes them to the log, names interned. Writer thread
/// only.
class ActivityDecoder {
  public:
    ActivityDecoder(const CuptiLibrary& cupti, RecordWriter& writer)
        : cupti_(cupti), writer_(writer), apiNames_(cupti, writer) {}

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

    const CuptiLibrary& cupti_;
    RecordWriter& writer_;
    ApiNames apiNames_;
};

}  // namespace lanescope
