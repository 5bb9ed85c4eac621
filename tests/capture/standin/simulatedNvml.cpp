// SPDX-License-Identifier: Apache-2.0
//
// SIMULATED: an NVML for tests of the samplers on machines without a GPU. Its structs are laid out
// by hand from NVIDIA's documentation, so that it shares no mistake with its caller. STANDIN_NVML
// configures it, "name=value,name=value":
//   gpus (2), links (4) of each GPU
//   all counters grow with time, each link at its own rate
//   down=N       link N is not up
//   lost-ms=N    GPU 0 falls off its bus after that time
//   reset-ms=N   after that time all counts restart
//   hang-ms=N    after that time no call returns
//   until-ms=N   but from then on all do
//   init=N       nvmlInit returns N
//   mig=1        a split GPU: no utilization, processes or NVLinks
//   gpm=1        has GPM
//   bare=1       every value except memory is unsupported
//   us-NAME=N    each such call takes that many microseconds of CPU time: us-utilization,
//   us-memory, us-power, us-temperature, us-clock, us-throttle, us-processes, us-energy and us-link
//   (per requested field), us-gpm
//   gpm-dear=N   the first N samples of GPM take 50 times as long
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

// nvmlReturn_t
constexpr int notSupported = 3, insufficientSize = 7, gpuIsLost = 15, wrongVersion = 25;
// NVML_FI_DEV_...
constexpr unsigned totalEnergy = 83, dataTransmitted = 138, dataReceived = 139, linkSpeed = 164;
constexpr unsigned allLinks = 0xffffffff;
constexpr unsigned typeUnsignedLongLong = 3;  // nvmlValueType_t
constexpr int smClock = 1;                    // nvmlClockType_t

/// Writes a struct member at a byte offset.
template <class Value>
void put(void* structure, size_t at, Value value) {
    std::memcpy(static_cast<char*>(structure) + at, &value, sizeof value);
}
template <class Value>
Value get(const void* structure, size_t at) {
    Value value;
    std::memcpy(&value, static_cast<const char*>(structure) + at, sizeof value);
    return value;
}

/// nvmlPciInfo_t: two texts and five numbers; only the bus is set.
void putPciInfo(void* info, unsigned bus) {
    std::memset(info, 0, 68);
    put(info, 20, bus);
}

int64_t now(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

long setting(const char* name, long otherwise) {
    const char* text = std::getenv("STANDIN_NVML");
    const std::string all = "," + std::string(text != nullptr ? text : "");
    const size_t at = all.find("," + std::string(name) + "=");
    return at == std::string::npos ? otherwise : std::atol(all.c_str() + at + std::strlen(name) + 2);
}

int64_t elapsedMs() {
    static const int64_t begun = now(CLOCK_MONOTONIC);
    return now(CLOCK_MONOTONIC) - begun;
}

/// Time on which the counters depend.
int64_t countedMs() {
    const long resetMs = setting("reset-ms", -1);
    const int64_t elapsed = elapsedMs();
    return resetMs >= 0 && elapsed > resetMs ? elapsed - resetMs : elapsed + 1'000'000;
}

/// Uses the CPU for the configured duration of the named call.
void spend(const char* name) {
    const int64_t costNs = setting((std::string("us-") + name).c_str(), 0) * 1000;
    const auto used = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    };
    for (const int64_t begun = used(); used() - begun < costNs;) continue;
}

int indexOf(void* device) { return static_cast<int>(reinterpret_cast<intptr_t>(device)) - 1; }

/// Returns the error of the call, or 0.
int trouble(void* device) {
    const int64_t elapsed = elapsedMs();
    const long hangMs = setting("hang-ms", -1), untilMs = setting("until-ms", -1);
    if (hangMs >= 0 && elapsed > hangMs)
        while (untilMs < 0 || elapsedMs() < untilMs) usleep(10'000);
    const long lostMs = setting("lost-ms", -1);
    return lostMs >= 0 && elapsed > lostMs && indexOf(device) == 0 ? gpuIsLost : 0;
}

int answer(void* device, const char* omittedBy = "bare") {
    if (const int result = trouble(device)) return result;
    return setting(omittedBy, 0) != 0 ? notSupported : 0;
}

}  // namespace

EXPORTED int nvmlInit_v2() {
    elapsedMs();
    return static_cast<int>(setting("init", 0));
}
EXPORTED int nvmlShutdown() { return 0; }
EXPORTED int nvmlSystemGetDriverVersion(char* text, unsigned size) {
    std::snprintf(text, size, "999.1");
    return 0;
}
EXPORTED int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = static_cast<unsigned>(setting("gpus", 2));
    return 0;
}
EXPORTED int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
    *device = reinterpret_cast<void*>(intptr_t{index} + 1);
    return 0;
}
EXPORTED int nvmlDeviceGetName(void*, char* text, unsigned size) {
    std::snprintf(text, size, "Simulated GPU");
    return 0;
}
EXPORTED int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
    std::snprintf(text, size, "GPU-00000000-0000-0000-0000-00000000000%d", indexOf(device));
    return 0;
}
EXPORTED int nvmlDeviceGetPciInfo_v3(void* device, void* info) {
    putPciInfo(info, static_cast<unsigned>(indexOf(device)) + 16);
    return 0;
}
EXPORTED int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* value) {
    *value = 5;
    return 0;
}
EXPORTED int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* value) {
    *value = 16;
    return 0;
}
EXPORTED int nvmlDeviceGetMemoryBusWidth(void*, unsigned* bits) {
    *bits = 6016;
    return 0;
}
EXPORTED int nvmlDeviceGetMaxClockInfo(void*, int, unsigned* megahertz) {
    *megahertz = 3201;
    return 0;
}
EXPORTED int nvmlDeviceGetCpuAffinity(void* device, unsigned words, unsigned long* mask) {
    std::memset(mask, 0, words * sizeof *mask);
    mask[0] = indexOf(device) == 0 ? 0xffff : 0x10f0000;
    return 0;
}
EXPORTED int nvmlDeviceGetTopologyCommonAncestor(void*, void*, int* level) {
    *level = 50;
    return 0;
}
EXPORTED int nvmlDeviceGetNvLinkState(void*, unsigned link, unsigned* isActive) {
    if (setting("mig", 0) != 0) return notSupported;
    if (static_cast<long>(link) >= setting("links", 4)) return 2;
    *isActive = static_cast<long>(link) != setting("down", -1);
    return 0;
}
EXPORTED int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int* kind) {
    *kind = 0;  // a GPU
    return 0;
}
EXPORTED int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned, void* info) {
    putPciInfo(info, static_cast<unsigned>(1 - indexOf(device)) + 16);
    return 0;
}

EXPORTED int nvmlDeviceGetMemoryInfo(void* device, void* memory) {
    spend("memory");
    if (const int result = trouble(device)) return result;
    const unsigned long long numbers[] = {1000, 600, 400};  // total, free, used
    std::memcpy(memory, numbers, sizeof numbers);
    return 0;
}
EXPORTED int nvmlDeviceGetMemoryInfo_v2(void* device, void* memory) {
    if (setting("old", 0) != 0) return notSupported;
    spend("memory");
    if (const int result = trouble(device)) return result;
    constexpr unsigned secondOf40Bytes = 0x2000028;
    unsigned version = 0;
    std::memcpy(&version, memory, sizeof version);
    if (version != secondOf40Bytes) return 25;                  // the library's answer to a wrong argument version
    const unsigned long long numbers[] = {1000, 50, 600, 350};  // total, reserved, free, used
    std::memcpy(static_cast<char*>(memory) + sizeof numbers[0], numbers, sizeof numbers);
    return 0;
}
EXPORTED int nvmlDeviceGetUtilizationRates(void* device, void* busy) {
    spend("utilization");
    put(busy, 0, 77u);  // of the GPU
    put(busy, 4, 33u);  // of its memory
    if (setting("mig", 0) != 0) return notSupported;
    return answer(device);
}
EXPORTED int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
    *current = *pending = static_cast<unsigned>(setting("mig", 0));
    return 0;
}
EXPORTED int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
    spend("power");
    *milliwatts = 412'500;
    return answer(device);
}
EXPORTED int nvmlDeviceGetTemperature(void* device, int, unsigned* celsius) {
    spend("temperature");
    *celsius = 61;
    return answer(device);
}
EXPORTED int nvmlDeviceGetClockInfo(void* device, int which, unsigned* megahertz) {
    spend("clock");
    *megahertz = which == smClock ? 1980 : 3201;
    return answer(device);
}
EXPORTED int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
    spend("throttle");
    *reasons = 4;
    return answer(device);
}
EXPORTED int nvmlDeviceGetPcieThroughput(void* device, int direction, unsigned* kbPerSecond) {
    *kbPerSecond = direction == 0 ? 1000 : 2000;
    return answer(device);
}
EXPORTED int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, void* processes) {
    spend("processes");
    if (setting("mig", 0) != 0) return notSupported;
    if (const int result = answer(device)) return result;
    if (*count < 1) return insufficientSize;
    *count = 1;
    put(processes, 0, 4242u);
    put(processes, 8, 123'456'789ull);  // bytes
    put(processes, 16, ~0u);            // instances
    put(processes, 20, ~0u);
    return 0;
}
EXPORTED int nvmlDeviceGetFieldValues(void* device, int count, void* values) {
    constexpr size_t fieldValueBytes = 40;
    if (const int result = trouble(device)) return result;
    for (int at = 0; at < count; ++at) {
        char* const value = static_cast<char*>(values) + fieldValueBytes * static_cast<size_t>(at);
        const auto field = get<unsigned>(value, 0), scope = get<unsigned>(value, 4);
        spend(field == totalEnergy ? "energy" : "link");
        const auto ms = static_cast<unsigned long long>(countedMs());
        const auto links = static_cast<unsigned long long>(setting("links", 4));
        const unsigned long long share = scope == allLinks ? links * (links + 1) / 2 : scope + 1ull;
        int result = setting("bare", 0) != 0 ? notSupported : 0;
        unsigned long long answered = 0;
        if (field == totalEnergy)
            answered = ms * 400;
        else if (field == dataTransmitted)
            answered = ms * share;
        else if (field == dataReceived)
            answered = ms * share * 2;
        else if (field == linkSpeed)
            answered = 26'562;
        else
            result = notSupported;
        put<long long>(value, 8, now(CLOCK_REALTIME) * 1000);
        put(value, 24, typeUnsignedLongLong);
        put(value, 28, result);
        put(value, 32, answered);
    }
    return 0;
}

EXPORTED int nvmlGpmQueryDeviceSupport(void*, void* support) {
    if (get<unsigned>(support, 0) != 1) return wrongVersion;
    put(support, 4, static_cast<unsigned>(setting("gpm", 0)));
    return 0;
}
EXPORTED int nvmlGpmSampleAlloc(void** sample) {
    *sample = new int64_t(0);
    return 0;
}
EXPORTED int nvmlGpmSampleFree(void* sample) {
    delete static_cast<int64_t*>(sample);
    return 0;
}
EXPORTED int nvmlGpmSampleGet(void* device, void* sample) {
    static long calls = 0;
    const int times = calls++ < setting("gpm-expensive", 0) ? 50 : 1;
    for (int time = 0; time < times; ++time) spend("gpm");
    *static_cast<int64_t*>(sample) = now(CLOCK_MONOTONIC);
    return trouble(device);
}
/// Returns zeros, like a real GPU, if the samples are too close; and occasionally without a reason.
EXPORTED int nvmlGpmMetricsGet(void* metrics) {
    constexpr size_t firstMetric = 24, metricBytes = 40;
    static int calls = 0;
    if (get<unsigned>(metrics, 0) != 1) return wrongVersion;
    const int64_t between =
        *static_cast<int64_t*>(get<void*>(metrics, 16)) - *static_cast<int64_t*>(get<void*>(metrics, 8));
    const bool isArtefact = between < 95 || ++calls % 4 == 0;
    for (unsigned at = 0; at < get<unsigned>(metrics, 4); ++at) {
        char* const metric = static_cast<char*>(metrics) + firstMetric + metricBytes * at;
        const auto id = get<unsigned>(metric, 0);
        put(metric, 4, id == 13 ? notSupported : 0);
        put(metric, 8, isArtefact ? 0.0 : double(id));
    }
    return 0;
}
