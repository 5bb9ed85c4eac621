// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/CuptiLibrary.h"

#include <cstring>
#include <iterator>

#include "capture/cupti/findCupti.h"

namespace lanescope::agent {

std::string CuptiLibrary::describe(CUptiResult result) const {
    const char* text = nullptr;
    if (getResultString) getResultString(result, &text);
    return std::string(text ? text : "CUPTI error") + " (" + std::to_string(result) + ")";
}

bool CuptiLibrary::maySubscribeWithOthers() const {
    const BySubscriber& by = bySubscriber;
    return version >= version13_5 && subscribe2 && by.registerCallbacks && by.enable && by.disable && by.setAttribute &&
           by.getNextRecord && by.getNumDroppedRecords && by.enableDriverApi;
}

void CuptiLibrary::useSubscriber(CUpti_SubscriberHandle subscriber) {
    static struct {
        BySubscriber by;
        CUpti_SubscriberHandle self;
        CUpti_BuffersCallbackRequestFunc request;
        CUpti_BuffersCallbackCompleteFunc complete;
    } own;  // CUPTI's functions are pointers without an object
    own.by = bySubscriber;
    own.self = subscriber;
    registerCallbacks = [](auto request, auto complete) {
        own.request = request;
        own.complete = complete;
        return own.by.registerCallbacks(
            own.self, [](auto buffer, auto bytes, auto maxRecords, void*) { own.request(buffer, bytes, maxRecords); },
            [](auto buffer, auto bytes, auto validBytes, void*) {
                own.complete(nullptr, 0, buffer, bytes, validBytes);
            });
    };
    enable = [](auto kind) { return own.by.enable(own.self, kind, nullptr); };
    disable = [](auto kind) { return own.by.disable(own.self, kind, nullptr); };
    setAttribute = [](auto attribute, auto bytes, auto value) {
        return own.by.setAttribute(own.self, attribute, bytes, value);
    };
    static constexpr auto set = [](CUpti_ActivityAttribute attribute, auto value) {
        size_t bytes = sizeof value;
        return own.by.setAttribute(own.self, attribute, &bytes, &value);
    };
    setThreadIdType = [](auto type) { return set(threadIdType, type); };
    registerTimestamps = [](auto clock) { return set(timestampCallback, clock); };
    getNextRecord = [](auto buffer, auto bytes, auto record) {
        return own.by.getNextRecord(own.self, buffer, bytes, record);
    };
    getNumDroppedRecords = [](auto context, auto stream, auto count) {
        return own.by.getNumDroppedRecords(own.self, context, stream, count);
    };
    enableDriverApi = [](auto id, auto isOn) { return own.by.enableDriverApi(own.self, id, isOn); };
    enableAllSyncRecords = nullptr;  // They are off by default.
}

bool openCupti(const std::string& overridePath, CuptiLibrary& library, std::string& problem) {
    OpenedCupti opened = findCupti(overridePath);
    if (!opened.handle) {
        problem =
            "No CUPTI library was found; no CUDA activity was recorded. Set LANESCOPE_CUPTI to the path of libcupti.so "
            "(tried " +
            opened.searched + ").";
        return false;
    }
    library = CuptiLibrary{std::move(opened.handle), std::move(opened.path)};
    library.handle.stay();  // it may be the program's own, and makes callbacks until the end
    if (library.handle.missing() != nullptr) {
        problem =
            library.path +
            " lacks required functions; no CUDA activity was recorded. Set LANESCOPE_CUPTI to another libcupti.so.";
        return false;
    }
    library.getVersion(&library.version);
    if (library.version < CuptiLibrary::version11_8) {
        problem = library.path + " is older than CUDA 11.8; no CUDA activity was recorded. Use a newer CUDA toolkit.";
        return false;
    }
    return true;
}

std::vector<std::pair<log::DeviceRecord, std::string>> driverDevices() {
    const capture::DynamicLibrary driver("libcuda.so.1", RTLD_NOLOAD);
    CUresult (*const getCount)(int*) = driver.get("cuDeviceGetCount");
    CUresult (*const getName)(char*, int, CUdevice) = driver.get("cuDeviceGetName");
    // The UUID of a slice of a GPU (MIG), as in CUPTI's records.
    CUresult (*const getUuid)(CUuuid*, CUdevice) = driver.get("cuDeviceGetUuid_v2", "cuDeviceGetUuid");
    CUresult (*const getAttribute)(int*, CUdevice_attribute, CUdevice) = driver.get("cuDeviceGetAttribute");
    std::vector<std::pair<log::DeviceRecord, std::string>> devices;
    int count = 0;
    if (!getCount || !getName || !getUuid || !getAttribute || getCount(&count) != CUDA_SUCCESS) return devices;
    for (CUdevice device = 0; device < count; ++device) {
        const auto valueOf = [&](CUdevice_attribute attribute) {
            int value = 0;
            return getAttribute(&value, attribute, device) == CUDA_SUCCESS ? static_cast<uint32_t>(value) : 0;
        };
        CUuuid uuid{};
        char name[256] = "";
        if (getUuid(&uuid, device) != CUDA_SUCCESS || getName(name, sizeof name - 1, device) != CUDA_SUCCESS) continue;
        log::DeviceRecord record{};
        std::memcpy(record.uuid, uuid.bytes, sizeof record.uuid);
        record.deviceId = static_cast<uint32_t>(device);
        record.computeMajor = valueOf(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        record.computeMinor = valueOf(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        record.smCount = valueOf(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        record.coreClockKHz = valueOf(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
        // Two transfers per clock.
        record.memoryBandwidthKBps = uint64_t{valueOf(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)} * 2 *
                                     (valueOf(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8);
        devices.emplace_back(record, name);
    }
    return devices;
}

uint32_t ApiNames::idOf(uint32_t callbackId, bool isDriver) {
    constexpr uint32_t driverBit = 0x80000000;
    if (std::exchange(generation_, writer_.generation()) != writer_.generation()) ids_.clear();
    const uint32_t key = callbackId | (isDriver ? driverBit : 0);
    if (const auto found = ids_.find(key); found != ids_.end()) return found->second;
    const char* name = nullptr;
    if (cupti_.getCallbackName)
        cupti_.getCallbackName(isDriver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, callbackId, &name);
    const std::string unnamed = (isDriver ? "driver call " : "runtime call ") + std::to_string(callbackId);
    const std::string_view known = name ? std::string_view(name) : std::string_view(unnamed);
    return ids_[key] = writer_.string(isDriver ? known : runtimeCallName(known));
}

std::string_view runtimeCallName(std::string_view callbackName) {
    const size_t at = callbackName.rfind("_v");
    const bool isVersion = at != std::string_view::npos && at + 2 < callbackName.size() &&
                           callbackName.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
    return isVersion ? callbackName.substr(0, at) : callbackName;
}

namespace {

bool always(const HazardFacts&) { return true; }
bool inGraphs(const HazardFacts& facts) { return facts.sawGraphNode; }
bool inLongRuns(const HazardFacts& facts) { return facts.isLong; }

constexpr VersionHazard hazards[] = {
    {CuptiLibrary::version13_0_0, CuptiLibrary::version13_0_1, &always, Severity::Warning, HealthCode::Cupti1300,
     "CUPTI 13.0.0 loses synchronization records and may crash. Use CUDA 13.0 update 1 or newer."},
    {CuptiLibrary::version13_2, CuptiLibrary::version13_3, &always, Severity::Info, HealthCode::Cupti132Slow,
     "CUPTI 13.2 slows down repeated CUDA calls. Use CUDA 13.3 or newer."},
    {0, CuptiLibrary::version13_3, &inGraphs, Severity::Info, HealthCode::CuptiGraphLeak,
     "CUPTI before 13.3 leaks memory with each recorded copy in a CUDA graph. For long runs use --graphs whole."},
    {0, CuptiLibrary::version13_4 + 1, &inLongRuns, Severity::Info, HealthCode::CuptiLongRun,
     "CUPTI before 13.4 update 1 uses more and more CPU time in runs of many hours, and may show wrong kernel names "
     "after modules were reloaded. For such runs use --max-size, or --duration with --kill sigterm."},
};

}  // namespace

const VersionHazard* versionHazard(size_t index) { return index < std::size(hazards) ? &hazards[index] : nullptr; }

bool applies(const VersionHazard& hazard, const HazardFacts& facts) {
    return facts.version >= hazard.firstVersion && facts.version < hazard.endVersion && hazard.matters(facts);
}

bool mayDisableKinds(uint32_t version) { return version != CuptiLibrary::version13_0_0; }

bool crashesOnWholeGraphs(uint32_t version, const std::string& realFileName) {
    const char* fixed = nullptr;
    if (version == CuptiLibrary::version12_4) fixed = ".2024.1.";
    if (version == CuptiLibrary::version12_5) fixed = ".2024.2.";
    if (!fixed) return false;
    const size_t at = realFileName.find(fixed);
    return at == std::string::npos || realFileName.compare(at + 8, std::string::npos, "0") == 0;
}

}  // namespace lanescope::agent
