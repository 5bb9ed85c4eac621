// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <string>

namespace lanescope::agent {

/// The functions of the CUPTI that this process has, looked up by name. The record layouts are
/// those of the loaded library, not of the headers this was built with; see `knownRecordBytes`.
struct CuptiLibrary {
    std::string path;
    uint32_t version =
        0;  ///< 18 = 11.8, 19 = 12.0, 26 = 12.8, then xxyyzz: 130001 = 13.0 update 1.

    decltype(&cuptiGetVersion) getVersion = nullptr;
    decltype(&cuptiSubscribe) subscribe = nullptr;
    decltype(&cuptiEnableCallback) enableCallback = nullptr;
    decltype(&cuptiActivityRegisterCallbacks) registerCallbacks = nullptr;
    decltype(&cuptiActivityEnable) enable = nullptr;
    decltype(&cuptiActivityFlushAll) flushAll = nullptr;
    decltype(&cuptiActivityGetNextRecord) getNextRecord = nullptr;
    decltype(&cuptiGetResultString) getResultString = nullptr;
    // These may be absent from older libraries.
    decltype(&cuptiSubscribe_v2) subscribe2 = nullptr;
    decltype(&cuptiActivityDisable) disable = nullptr;
    decltype(&cuptiActivitySetAttribute) setAttribute = nullptr;
    decltype(&cuptiSetThreadIdType) setThreadIdType = nullptr;
    decltype(&cuptiActivityRegisterTimestampCallback) registerTimestamps = nullptr;
    decltype(&cuptiActivityEnableRuntimeApi) enableRuntimeApi = nullptr;
    decltype(&cuptiActivityEnableDriverApi) enableDriverApi = nullptr;
    decltype(&cuptiActivityEnableAllSyncRecords) enableAllSyncRecords = nullptr;
    decltype(&cuptiActivityGetNumDroppedRecords) getNumDroppedRecords = nullptr;
    decltype(&cuptiGetCallbackName) getCallbackName = nullptr;
    decltype(&cuptiGetStreamIdEx) getStreamIdEx = nullptr;
    decltype(&cuptiGetDeviceId) getDeviceId = nullptr;
    decltype(&cuptiGetGraphNodeId) getGraphNodeId = nullptr;
    decltype(&cuptiActivityConfigureUnifiedMemoryCounter) configureUnifiedMemory = nullptr;

    static constexpr uint32_t version11_8 = 18;  // the oldest whose records we can read
    static constexpr uint32_t version12_0 = 19;
    static constexpr uint32_t version12_2 = 20;
    static constexpr uint32_t version12_4 = 22;
    static constexpr uint32_t version12_5 = 23;
    static constexpr uint32_t version12_6 = 24;
    static constexpr uint32_t version12_8 = 26;
    static constexpr uint32_t version13_0_0 = 130000;
    static constexpr uint32_t version13_0_1 = 130001;
    static constexpr uint32_t version13_2 = 130200;
    static constexpr uint32_t version13_3 = 130300;
    static constexpr uint32_t version13_4 = 130400;

    /// What a result means, in CUPTI's words.
    std::string describe(CUptiResult result) const;
};

/// Opens CUPTI and looks its functions up. On failure answers false and puts the reason, as a
/// sentence, into `problem`.
bool openCupti(const std::string& overridePath, CuptiLibrary& library, std::string& problem);

}  // namespace lanescope::agent
