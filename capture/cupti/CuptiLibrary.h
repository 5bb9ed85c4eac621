// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/log/LogFile.h"
#include "capture/log/Records.h"
#include "capture/machine/DynamicLibrary.h"

namespace lanescope::agent {

/// CUPTI functions of this process, looked up by name. Record layouts are those of the loaded
/// library, not of the headers of the build; see `knownRecordBytes`.
struct CuptiLibrary {
    capture::DynamicLibrary handle{};  // before the functions, which it provides
    std::string path{};
    uint32_t version = 0;  ///< 18 = 11.8, 19 = 12.0, 26 = 12.8, then xxyyzz: 130001 = 13.0 update 1.

    decltype(&cuptiGetVersion) getVersion = handle.need("cuptiGetVersion");
    decltype(&cuptiSubscribe) subscribe = handle.need("cuptiSubscribe");
    decltype(&cuptiEnableCallback) enableCallback = handle.need("cuptiEnableCallback");
    decltype(&cuptiActivityRegisterCallbacks) registerCallbacks = handle.need("cuptiActivityRegisterCallbacks");
    decltype(&cuptiActivityEnable) enable = handle.need("cuptiActivityEnable");
    decltype(&cuptiActivityFlushAll) flushAll = handle.need("cuptiActivityFlushAll");
    decltype(&cuptiActivityGetNextRecord) getNextRecord = handle.need("cuptiActivityGetNextRecord");
    decltype(&cuptiGetResultString) getResultString = handle.need("cuptiGetResultString");
    // May be null in older libraries.
    decltype(&cuptiSubscribe_v2) subscribe2 = handle.get("cuptiSubscribe_v2");
    decltype(&cuptiActivityDisable) disable = handle.get("cuptiActivityDisable");
    decltype(&cuptiActivitySetAttribute) setAttribute = handle.get("cuptiActivitySetAttribute");
    decltype(&cuptiSetThreadIdType) setThreadIdType = handle.get("cuptiSetThreadIdType");
    decltype(&cuptiActivityRegisterTimestampCallback) registerTimestamps =
        handle.get("cuptiActivityRegisterTimestampCallback");
    decltype(&cuptiActivityEnableDriverApi) enableDriverApi = handle.get("cuptiActivityEnableDriverApi");
    decltype(&cuptiActivityEnableAllSyncRecords) enableAllSyncRecords = handle.get("cuptiActivityEnableAllSyncRecords");
    decltype(&cuptiActivityGetNumDroppedRecords) getNumDroppedRecords = handle.get("cuptiActivityGetNumDroppedRecords");
    decltype(&cuptiGetCallbackName) getCallbackName = handle.get("cuptiGetCallbackName");
    decltype(&cuptiGetStreamIdEx) getStreamIdEx = handle.get("cuptiGetStreamIdEx");
    decltype(&cuptiGetDeviceId) getDeviceId = handle.get("cuptiGetDeviceId");
    decltype(&cuptiGetGraphNodeId) getGraphNodeId = handle.get("cuptiGetGraphNodeId");
    decltype(&cuptiActivityConfigureUnifiedMemoryCounter) configureUnifiedMemory =
        handle.get("cuptiActivityConfigureUnifiedMemoryCounter");

    /// Functions with a subscriber, for several tools at a time. The headers of the build lack them.
    struct BySubscriber {
        using Handle = CUpti_SubscriberHandle;
        using Request = void(CUPTIAPI*)(uint8_t** buffer, size_t* bytes, size_t* maxRecords, void* info);
        using Complete = void(CUPTIAPI*)(uint8_t* buffer, size_t bytes, size_t validBytes, void* info);
        CUptiResult (*registerCallbacks)(Handle, Request, Complete);
        CUptiResult (*enable)(Handle, CUpti_ActivityKind, void* config);
        CUptiResult (*disable)(Handle, CUpti_ActivityKind, void* config);
        CUptiResult (*setAttribute)(Handle, CUpti_ActivityAttribute, size_t* bytes, void* value);
        CUptiResult (*getNextRecord)(Handle, uint8_t* buffer, size_t validBytes, CUpti_Activity** record);
        CUptiResult (*getNumDroppedRecords)(Handle, CUcontext, uint32_t stream, size_t* count);
        CUptiResult (*enableDriverApi)(Handle, CUpti_CallbackId id, uint8_t isOn);
    } bySubscriber{handle.get("cuptiActivityRegisterCallbacks_v2"), handle.get("cuptiActivityEnable_v2"),
                   handle.get("cuptiActivityDisable_v2"),           handle.get("cuptiActivitySetAttribute_v2"),
                   handle.get("cuptiActivityGetNextRecord_v2"),     handle.get("cuptiActivityGetNumDroppedRecords_v2"),
                   handle.get("cuptiActivityEnableDriverApi_v2")};

    static constexpr uint32_t version11_8 = 18;  // the oldest version with readable records
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
    static constexpr uint32_t version13_5 = 130500;

    static constexpr auto wholeGraphsForAll = static_cast<CUpti_ActivityAttribute>(20);
    static constexpr auto threadIdType = static_cast<CUpti_ActivityAttribute>(21);
    static constexpr auto timestampCallback = static_cast<CUpti_ActivityAttribute>(22);

    std::string describe(CUptiResult result) const;
    /// Returns true if other tools may record in this process, too. Earlier versions than 13.5 lack attributes.
    bool maySubscribeWithOthers() const;
    /// Replaces the functions by those of one of several subscribers. Once per process.
    void useSubscriber(CUpti_SubscriberHandle subscriber);
};

/// Opens CUPTI and looks up its functions. On failure returns false and puts the reason, as a sentence, into `problem`.
bool openCupti(const std::string& overridePath, CuptiLibrary& library, std::string& problem);

/// Returns the devices of this process with their names, as the loaded driver reports them; empty without a driver.
/// CUPTI reports a device only to tools that were there before. Takes microseconds per device.
std::vector<std::pair<log::DeviceRecord, std::string>> driverDevices();

/// Names of CUDA calls as strings of the log; CUPTI is asked once per call. Writer thread.
class ApiNames {
  public:
    ApiNames(const CuptiLibrary& cupti, log::RecordWriter& writer) : cupti_(cupti), writer_(writer) {}

    /// Returns the string id of the call that CUPTI numbers `callbackId`, in the domain of the
    /// driver or of the runtime. Amortized constant time.
    uint32_t idOf(uint32_t callbackId, bool isDriver);

  private:
    const CuptiLibrary& cupti_;
    log::RecordWriter& writer_;
    std::unordered_map<uint32_t, uint32_t> ids_;
    uint32_t generation_ = 0;
};

/// Returns the name that programs use for a CUPTI name: "cudaGetDevice" for "cudaGetDevice_v3020".
/// For runtime calls only; in a driver call's name "_v2" is part of the name.
std::string_view runtimeCallName(std::string_view callbackName);

/// Facts of a run that determine which faults of its CUPTI matter.
struct HazardFacts {
    uint32_t version = 0;
    bool sawGraphNode = false;  ///< Work inside a CUDA graph, recorded node by node.
    bool isLong = false;        ///< Recording for hours.
};

/// A known fault of some CUPTI versions, by NVIDIA's release notes.
struct VersionHazard {
    uint32_t firstVersion, endVersion;  ///< Range of affected versions, `endVersion` excluded.
    bool (*matters)(const HazardFacts& facts);
    Severity severity;
    HealthCode code;
    const char* sentence;
};

/// Returns the fault at `index`, or null past the last.
const VersionHazard* versionHazard(size_t index);
bool applies(const VersionHazard& hazard, const HazardFacts& facts);

/// Returns true if kinds can be disabled while the program works. In CUPTI 13.0.0 that can lock up
/// CUPTI and the program.
bool mayDisableKinds(uint32_t version);

/// Returns true if recording whole CUDA graphs crashes this CUPTI: 12.4 and 12.5 before their updates. Only the name of
/// the library file distinguishes these ("libcupti.so.2024.1.0"; update 1 is ".1").
bool crashesOnWholeGraphs(uint32_t version, const std::string& realFileName);

}  // namespace lanescope::agent
