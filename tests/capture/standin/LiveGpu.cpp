// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/standin/LiveGpu.h"

#include <cupti.h>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace lanescope::standin {

namespace {

constexpr int64_t kernelNs = 1'000;

int64_t nowNs() {
    timespec time;
    ::clock_gettime(CLOCK_REALTIME, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

void LiveGpu::begin(const std::string& path, int64_t delayUs, bool reservesRecordEarly, bool overtakes) {
    delayNs_ = delayUs * 1'000;
    reservesRecordEarly_ = reservesRecordEarly;
    overtakes_ = overtakes;
    void* library = path.empty() ? nullptr : ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    simulateRecord_ = reinterpret_cast<SimulateRecordFunction*>(::dlsym(library, "simulateRecord"));
    simulateDriverCall_ = reinterpret_cast<SimulateDriverCallFunction*>(::dlsym(library, "simulateDriverCall"));
}

void LiveGpu::callDriver(uint32_t callbackId, uint32_t correlation) {
    if (simulateDriverCall_) simulateDriverCall_(callbackId, correlation, nullptr);
}

uint32_t LiveGpu::nextCorrelation() {
    const uint32_t call = lastCorrelation_++;
    return (overtakes_ ? call ^ 1 : call) + 1;
}

void LiveGpu::launch(int thread, int step) {
    emitDue();
    const uint32_t correlation = nextCorrelation();
    CUpti_ActivityAPI call{};
    call.kind = CUPTI_ACTIVITY_KIND_DRIVER;
    call.cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
    call.start = static_cast<uint64_t>(nowNs());
    callDriver(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, correlation);
    const int64_t launchedNs = nowNs();
    call.end = static_cast<uint64_t>(launchedNs);
    call.correlationId = correlation;
    call.threadId = static_cast<uint32_t>(::syscall(SYS_gettid));
    if (simulateRecord_) simulateRecord_(&call);
    Kernel kernel{launchedNs + delayNs_, correlation, thread, step};
    {
        const std::lock_guard lock(mutex_);
        // A stream runs one kernel after the other.
        kernel.startNs = std::max(kernel.startNs, freeNs_);
        freeNs_ = kernel.startNs + kernelNs;
        running_.push_back(kernel);
    }
    if (reservesRecordEarly_) emit(kernel);
}

void LiveGpu::emitDue() {
    for (;;) {
        Kernel done;
        {
            const std::lock_guard lock(mutex_);
            if (running_.empty() || running_.front().startNs + kernelNs > nowNs()) return;
            done = running_.front();
            running_.pop_front();
        }
        if (!reservesRecordEarly_) emit(done);
    }
}

void LiveGpu::emit(const Kernel& done) const {
    CUpti_ActivityKernel10 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.start = static_cast<uint64_t>(done.startNs);
    kernel.end = kernel.start + kernelNs;
    kernel.contextId = 1;
    kernel.streamId = 7;
    kernel.correlationId = done.correlation;
    kernel.name = "simulated_live";
    kernel.gridX = 1;
    kernel.gridY = done.step + 1;
    kernel.gridZ = done.thread + 1;
    if (simulateRecord_) simulateRecord_(&kernel);
}

void LiveGpu::waitForContext() {
    synchronize();
    callDriver(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, nextCorrelation());
}

void LiveGpu::startProfiler() { callDriver(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, nextCorrelation()); }

void LiveGpu::stopProfiler() { callDriver(CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, nextCorrelation()); }

void LiveGpu::synchronize() {
    for (;;) {
        emitDue();
        {
            const std::lock_guard lock(mutex_);
            if (running_.empty()) return;
        }
        ::usleep(200);
    }
}

}  // namespace lanescope::standin
