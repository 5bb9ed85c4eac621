// SPDX-License-Identifier: Apache-2.0
//
// Compares our declarations of NVML with NVIDIA's header. Nothing runs: a mismatch does not
// compile.

#include <nvml.h>

#include <cstddef>
#include <type_traits>

#include "capture/machine/NvmlLibrary.h"

namespace lanescope::capture {

namespace {

#define SAME_FIELD(Declared, declared, Theirs, theirs)                        \
    static_assert(offsetof(Declared, declared) == offsetof(Theirs, theirs) && \
                  sizeof(Declared::declared) == sizeof(Theirs::theirs))

static_assert(sizeof(NvmlPciInfo) == sizeof(nvmlPciInfo_t));
SAME_FIELD(NvmlPciInfo, busIdLegacy, nvmlPciInfo_t, busIdLegacy);
SAME_FIELD(NvmlPciInfo, domain, nvmlPciInfo_t, domain);
SAME_FIELD(NvmlPciInfo, bus, nvmlPciInfo_t, bus);
SAME_FIELD(NvmlPciInfo, device, nvmlPciInfo_t, device);
SAME_FIELD(NvmlPciInfo, pciDeviceId, nvmlPciInfo_t, pciDeviceId);
SAME_FIELD(NvmlPciInfo, pciSubSystemId, nvmlPciInfo_t, pciSubSystemId);
SAME_FIELD(NvmlPciInfo, busId, nvmlPciInfo_t, busId);

static_assert(sizeof(NvmlMemory) == sizeof(nvmlMemory_t));
SAME_FIELD(NvmlMemory, total, nvmlMemory_t, total);
SAME_FIELD(NvmlMemory, free, nvmlMemory_t, free);
SAME_FIELD(NvmlMemory, used, nvmlMemory_t, used);

static_assert(sizeof(NvmlMemoryInUse) == sizeof(nvmlMemory_v2_t));
SAME_FIELD(NvmlMemoryInUse, version, nvmlMemory_v2_t, version);
SAME_FIELD(NvmlMemoryInUse, total, nvmlMemory_v2_t, total);
SAME_FIELD(NvmlMemoryInUse, reserved, nvmlMemory_v2_t, reserved);
SAME_FIELD(NvmlMemoryInUse, free, nvmlMemory_v2_t, free);
SAME_FIELD(NvmlMemoryInUse, used, nvmlMemory_v2_t, used);
static_assert(nvmlMemoryInUseVersion == nvmlMemory_v2);

static_assert(sizeof(NvmlUtilization) == sizeof(nvmlUtilization_t));
SAME_FIELD(NvmlUtilization, gpu, nvmlUtilization_t, gpu);
SAME_FIELD(NvmlUtilization, memory, nvmlUtilization_t, memory);

static_assert(sizeof(NvmlProcess) == sizeof(nvmlProcessInfo_v2_t));
SAME_FIELD(NvmlProcess, pid, nvmlProcessInfo_v2_t, pid);
SAME_FIELD(NvmlProcess, usedBytes, nvmlProcessInfo_v2_t, usedGpuMemory);
SAME_FIELD(NvmlProcess, gpuInstance, nvmlProcessInfo_v2_t, gpuInstanceId);
SAME_FIELD(NvmlProcess, computeInstance, nvmlProcessInfo_v2_t, computeInstanceId);

static_assert(sizeof(NvmlFieldValue) == sizeof(nvmlFieldValue_t));
SAME_FIELD(NvmlFieldValue, fieldId, nvmlFieldValue_t, fieldId);
SAME_FIELD(NvmlFieldValue, scopeId, nvmlFieldValue_t, scopeId);
SAME_FIELD(NvmlFieldValue, timestampUs, nvmlFieldValue_t, timestamp);
SAME_FIELD(NvmlFieldValue, latencyUs, nvmlFieldValue_t, latencyUsec);
SAME_FIELD(NvmlFieldValue, valueType, nvmlFieldValue_t, valueType);
SAME_FIELD(NvmlFieldValue, result, nvmlFieldValue_t, nvmlReturn);
SAME_FIELD(NvmlFieldValue, value, nvmlFieldValue_t, value);

static_assert(sizeof(NvmlGpmMetric) == sizeof(nvmlGpmMetric_t));
SAME_FIELD(NvmlGpmMetric, id, nvmlGpmMetric_t, metricId);
SAME_FIELD(NvmlGpmMetric, result, nvmlGpmMetric_t, nvmlReturn);
SAME_FIELD(NvmlGpmMetric, value, nvmlGpmMetric_t, value);
SAME_FIELD(NvmlGpmMetric, shortName, nvmlGpmMetric_t, metricInfo.shortName);
SAME_FIELD(NvmlGpmMetric, longName, nvmlGpmMetric_t, metricInfo.longName);
SAME_FIELD(NvmlGpmMetric, unit, nvmlGpmMetric_t, metricInfo.unit);

// The library's own array has grown before, so ours is longer.
static_assert(sizeof(NvmlGpmMetrics) >= sizeof(nvmlGpmMetricsGet_t));
static_assert(offsetof(NvmlGpmMetrics, version) == offsetof(nvmlGpmMetricsGet_t, version));
static_assert(offsetof(NvmlGpmMetrics, count) == offsetof(nvmlGpmMetricsGet_t, numMetrics));
static_assert(offsetof(NvmlGpmMetrics, sample1) == offsetof(nvmlGpmMetricsGet_t, sample1));
static_assert(offsetof(NvmlGpmMetrics, sample2) == offsetof(nvmlGpmMetricsGet_t, sample2));
static_assert(offsetof(NvmlGpmMetrics, metrics) == offsetof(nvmlGpmMetricsGet_t, metrics));
static_assert(sizeof(NvmlGpmSupport) == sizeof(nvmlGpmSupport_t));
SAME_FIELD(NvmlGpmSupport, version, nvmlGpmSupport_t, version);
SAME_FIELD(NvmlGpmSupport, isSupported, nvmlGpmSupport_t, isSupportedDevice);
static_assert(nvmlGpmVersion == NVML_GPM_METRICS_GET_VERSION && nvmlGpmVersion == NVML_GPM_SUPPORT_VERSION);

/// Returns true if one of our numbers equals NVIDIA's.
template <class Theirs>
constexpr bool isSame(auto declared, Theirs theirs) {
    return static_cast<long long>(declared) == static_cast<long long>(theirs);
}

static_assert(isSame(nvmlTotalEnergy, NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION));
static_assert(isSame(nvmlLinkCount, NVML_FI_DEV_NVLINK_LINK_COUNT));
static_assert(isSame(nvmlLinkTransmittedKiB, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX));
static_assert(isSame(nvmlLinkReceivedKiB, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX));
static_assert(isSame(nvmlLinkSpeed, NVML_FI_DEV_NVLINK_GET_SPEED));

static_assert(isSame(nvmlDouble, NVML_VALUE_TYPE_DOUBLE));
static_assert(isSame(nvmlUnsignedInt, NVML_VALUE_TYPE_UNSIGNED_INT));
static_assert(isSame(nvmlUnsignedLong, NVML_VALUE_TYPE_UNSIGNED_LONG));
static_assert(isSame(nvmlUnsignedLongLong, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG));
static_assert(isSame(nvmlSignedLongLong, NVML_VALUE_TYPE_SIGNED_LONG_LONG));
static_assert(isSame(nvmlSignedInt, NVML_VALUE_TYPE_SIGNED_INT));
static_assert(isSame(nvmlUnsignedShort, NVML_VALUE_TYPE_UNSIGNED_SHORT));

static_assert(isSame(nvmlSuccess, NVML_SUCCESS));
static_assert(isSame(nvmlNotSupported, NVML_ERROR_NOT_SUPPORTED));
static_assert(isSame(nvmlNoPermission, NVML_ERROR_NO_PERMISSION));
static_assert(isSame(nvmlInsufficientSize, NVML_ERROR_INSUFFICIENT_SIZE));
static_assert(isSame(nvmlDriverNotLoaded, NVML_ERROR_DRIVER_NOT_LOADED));
static_assert(isSame(nvmlGpuIsLost, NVML_ERROR_GPU_IS_LOST));
static_assert(isSame(nvmlResetRequired, NVML_ERROR_RESET_REQUIRED));
static_assert(isSame(nvmlVersionMismatch, NVML_ERROR_LIB_RM_VERSION_MISMATCH));

static_assert(isSame(nvmlEndGpu, NVML_NVLINK_DEVICE_TYPE_GPU));
static_assert(isSame(nvmlEndSwitch, NVML_NVLINK_DEVICE_TYPE_SWITCH));
static_assert(isSame(nvmlSmClock, NVML_CLOCK_SM));
static_assert(isSame(nvmlMemoryClock, NVML_CLOCK_MEM));

static_assert(isSame(nvmlSameBoard, NVML_TOPOLOGY_INTERNAL));
static_assert(isSame(nvmlOneSwitch, NVML_TOPOLOGY_SINGLE));
static_assert(isSame(nvmlSwitches, NVML_TOPOLOGY_MULTIPLE));
static_assert(isSame(nvmlHostBridge, NVML_TOPOLOGY_HOSTBRIDGE));
static_assert(isSame(nvmlNumaNode, NVML_TOPOLOGY_NODE));
static_assert(isSame(nvmlWholeSystem, NVML_TOPOLOGY_SYSTEM));

static_assert(isSame(nvmlGpmSmActivity, NVML_GPM_METRIC_SM_UTIL));
static_assert(isSame(nvmlGpmSmOccupancy, NVML_GPM_METRIC_SM_OCCUPANCY));
static_assert(isSame(nvmlGpmTensorActivity, NVML_GPM_METRIC_ANY_TENSOR_UTIL));
static_assert(isSame(nvmlGpmDramBandwidth, NVML_GPM_METRIC_DRAM_BW_UTIL));
static_assert(isSame(nvmlGpmFp64Activity, NVML_GPM_METRIC_FP64_UTIL));
static_assert(isSame(nvmlGpmFp32Activity, NVML_GPM_METRIC_FP32_UTIL));
static_assert(isSame(nvmlGpmFp16Activity, NVML_GPM_METRIC_FP16_UTIL));
static_assert(isSame(nvmlGpmPcieTransmitted, NVML_GPM_METRIC_PCIE_TX_PER_SEC));
static_assert(isSame(nvmlGpmPcieReceived, NVML_GPM_METRIC_PCIE_RX_PER_SEC));
static_assert(isSame(nvmlGpmLinksReceived, NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC));
static_assert(isSame(nvmlGpmLinksTransmitted, NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC));

// Numbers of sensors and directions in `NvmlLibrary`.
static_assert(NVML_TEMPERATURE_GPU == 0);
static_assert(NVML_PCIE_UTIL_TX_BYTES == 0 && NVML_PCIE_UTIL_RX_BYTES == 1);

/// Returns true if two types are passed alike: values of one size, or pointers to such.
template <class Declared, class Theirs>
constexpr bool isPassedAlike() {
    if constexpr (std::is_pointer_v<Declared> && std::is_pointer_v<Theirs>) {
        using OurTarget = std::remove_pointer_t<Declared>;
        using TheirTarget = std::remove_pointer_t<Theirs>;
        if constexpr (std::is_void_v<OurTarget> || !requires { sizeof(TheirTarget); })
            return true;  // a handle with a private struct
        else if constexpr (std::is_same_v<OurTarget, NvmlGpmMetrics>)
            return std::is_same_v<TheirTarget, nvmlGpmMetricsGet_t>;
        else
            return sizeof(OurTarget) == sizeof(TheirTarget);
    } else {
        return sizeof(Declared) == sizeof(Theirs) && std::is_pointer_v<Declared> == std::is_pointer_v<Theirs>;
    }
}

/// Returns true if our type of a function matches the header's declaration.
template <class... Declared, class... Theirs>
constexpr bool isCalledAlike(int (*)(Declared...), nvmlReturn_t (*)(Theirs...)) {
    if constexpr (sizeof...(Declared) != sizeof...(Theirs))
        return false;
    else
        return (isPassedAlike<Declared, Theirs>() && ...);
}

#define SAME_CALL(declared, theirs) \
    static_assert(                  \
        isCalledAlike(static_cast<decltype(NvmlLibrary::declared)>(nullptr), static_cast<decltype(&theirs)>(nullptr)))

static_assert(sizeof(nvmlReturn_t) == sizeof(int));
SAME_CALL(systemDriverVersion, nvmlSystemGetDriverVersion);
SAME_CALL(systemCudaVersion, nvmlSystemGetCudaDriverVersion_v2);
SAME_CALL(deviceCount, nvmlDeviceGetCount_v2);
SAME_CALL(deviceByIndex, nvmlDeviceGetHandleByIndex_v2);
SAME_CALL(deviceByUuid, nvmlDeviceGetHandleByUUID);
SAME_CALL(deviceName, nvmlDeviceGetName);
SAME_CALL(deviceUuid, nvmlDeviceGetUUID);
SAME_CALL(devicePciInfo, nvmlDeviceGetPciInfo_v3);
SAME_CALL(deviceMemory, nvmlDeviceGetMemoryInfo);
SAME_CALL(deviceMemoryInUse, nvmlDeviceGetMemoryInfo_v2);
SAME_CALL(deviceComputeCapability, nvmlDeviceGetCudaComputeCapability);
SAME_CALL(devicePcieGeneration, nvmlDeviceGetMaxPcieLinkGeneration);
SAME_CALL(devicePcieWidth, nvmlDeviceGetMaxPcieLinkWidth);
SAME_CALL(deviceMemoryBusWidth, nvmlDeviceGetMemoryBusWidth);
SAME_CALL(deviceMaximumClock, nvmlDeviceGetMaxClockInfo);
SAME_CALL(deviceCpuAffinity, nvmlDeviceGetCpuAffinity);
SAME_CALL(deviceLinkState, nvmlDeviceGetNvLinkState);
SAME_CALL(deviceLinkEnd, nvmlDeviceGetNvLinkRemoteDeviceType);
SAME_CALL(deviceLinkPeer, nvmlDeviceGetNvLinkRemotePciInfo_v2);
SAME_CALL(deviceCommonAncestor, nvmlDeviceGetTopologyCommonAncestor);
SAME_CALL(deviceUtilization, nvmlDeviceGetUtilizationRates);
SAME_CALL(devicePower, nvmlDeviceGetPowerUsage);
SAME_CALL(deviceTemperature, nvmlDeviceGetTemperature);
SAME_CALL(deviceClock, nvmlDeviceGetClockInfo);
SAME_CALL(deviceThrottleReasons, nvmlDeviceGetCurrentClocksEventReasons);
SAME_CALL(devicePcieThroughput, nvmlDeviceGetPcieThroughput);
SAME_CALL(deviceProcesses, nvmlDeviceGetComputeRunningProcesses_v3);
SAME_CALL(deviceFieldValues, nvmlDeviceGetFieldValues);
SAME_CALL(deviceMigMode, nvmlDeviceGetMigMode);
SAME_CALL(gpmSupport, nvmlGpmQueryDeviceSupport);
SAME_CALL(gpmAllocate, nvmlGpmSampleAlloc);
SAME_CALL(gpmFree, nvmlGpmSampleFree);
SAME_CALL(gpmSample, nvmlGpmSampleGet);
SAME_CALL(gpmMetrics, nvmlGpmMetricsGet);

}  // namespace

}  // namespace lanescope::capture
