// SPDX-License-Identifier: Apache-2.0
#include "capture/doctor/measureRoofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace lanescope::capture {

namespace {

using Clock = std::chrono::steady_clock;
using Handle = CudaDriver::Handle;

/// Two kernels. `fill` writes words of a hash of their index, with some of their bits set and cleared, so that they are
/// numbers of one magnitude. `sum` reads 64 bytes a thread and turn, as long as its last read is within the quads
/// (`end` is their number and the distance of two reads less one), and writes only a sum that does not occur.
constexpr const char* kernels = R"(
.version 6.4
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 data, .param .u64 words, .param .u32 keepEven, .param .u32 setEven,
                     .param .u32 keepOdd, .param .u32 setOdd)
{
    .reg .pred %done, %even;
    .reg .b32 %r<16>;
    .reg .b64 %d<8>;
    ld.param.u64 %d1, [data];
    ld.param.u64 %d2, [words];
    ld.param.u32 %r10, [keepEven];
    ld.param.u32 %r11, [setEven];
    ld.param.u32 %r12, [keepOdd];
    ld.param.u32 %r13, [setOdd];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    cvt.u64.u32 %d3, %r3;
    mad.wide.u32 %d3, %r1, %r2, %d3;
    mov.u32 %r4, %nctaid.x;
    mul.wide.u32 %d4, %r4, %r2;
NEXT:
    setp.ge.u64 %done, %d3, %d2;
    @%done bra END;
    cvt.u32.u64 %r5, %d3;
    mul.lo.u32 %r6, %r5, 0x9E3779B1;
    shr.u32 %r7, %r6, 15;
    xor.b32 %r6, %r6, %r7;
    mul.lo.u32 %r6, %r6, 0x85EBCA77;
    shr.u32 %r7, %r6, 13;
    xor.b32 %r6, %r6, %r7;
    and.b32 %r7, %r5, 1;
    setp.eq.u32 %even, %r7, 0;
    selp.b32 %r8, %r10, %r12, %even;
    selp.b32 %r9, %r11, %r13, %even;
    and.b32 %r6, %r6, %r8;
    or.b32 %r6, %r6, %r9;
    shl.b64 %d5, %d3, 2;
    add.u64 %d5, %d1, %d5;
    st.global.u32 [%d5], %r6;
    add.u64 %d3, %d3, %d4;
    bra NEXT;
END:
    ret;
}
.visible .entry sum(.param .u64 data, .param .u64 end)
{
    .reg .pred %done;
    .reg .b32 %r<32>;
    .reg .b64 %d<12>;
    ld.param.u64 %d1, [data];
    ld.param.u64 %d2, [end];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    cvt.u64.u32 %d3, %r3;
    mad.wide.u32 %d3, %r1, %r2, %d3;
    mov.u32 %r4, %nctaid.x;
    mul.wide.u32 %d4, %r4, %r2;
    shl.b64 %d6, %d4, 4;
    shl.b64 %d5, %d3, 4;
    add.u64 %d5, %d1, %d5;
    shl.b64 %d7, %d4, 2;
    mov.u32 %r5, 0;
NEXT:
    add.u64 %d8, %d3, %d7;
    setp.gt.u64 %done, %d8, %d2;
    @%done bra END;
    ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%d5];
    add.u64 %d5, %d5, %d6;
    ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d5];
    add.u64 %d5, %d5, %d6;
    ld.global.v4.u32 {%r14, %r15, %r16, %r17}, [%d5];
    add.u64 %d5, %d5, %d6;
    ld.global.v4.u32 {%r18, %r19, %r20, %r21}, [%d5];
    add.u64 %d5, %d5, %d6;
    xor.b32 %r5, %r5, %r6;
    xor.b32 %r5, %r5, %r7;
    xor.b32 %r5, %r5, %r8;
    xor.b32 %r5, %r5, %r9;
    xor.b32 %r5, %r5, %r10;
    xor.b32 %r5, %r5, %r11;
    xor.b32 %r5, %r5, %r12;
    xor.b32 %r5, %r5, %r13;
    xor.b32 %r5, %r5, %r14;
    xor.b32 %r5, %r5, %r15;
    xor.b32 %r5, %r5, %r16;
    xor.b32 %r5, %r5, %r17;
    xor.b32 %r5, %r5, %r18;
    xor.b32 %r5, %r5, %r19;
    xor.b32 %r5, %r5, %r20;
    xor.b32 %r5, %r5, %r21;
    mov.u64 %d3, %d8;
    bra NEXT;
END:
    setp.ne.u32 %done, %r5, 0x5bd1e995;
    @%done bra OUT;
    st.global.u32 [%d1], %r5;
OUT:
    ret;
}
)";

constexpr unsigned threadsPerBlock = 256, blocks = 132 * 16, sumBlocks = 132 * 8;
/// Quads between two reads of a thread, and bytes that all threads read in a turn.
constexpr size_t sumStride = size_t{sumBlocks} * threadsPerBlock, quadBytes = 16,
                 sumTurnBytes = 4 * sumStride * quadBytes;
constexpr size_t workspaceBytes = size_t{64} << 20;
constexpr double batchSeconds = 0.04;  ///< Long enough for a clock and power reading meanwhile.
constexpr int batches = 4;

/// Sizes of the products. Skinny: 64 rows, as in decoding with a batch of 64.
constexpr GemmShape shapes[] = {{8192, 8192, 8192}, {4096, 4096, 4096}, {16384, 64, 8192}};

/// The two kernels on one GPU, compiled by its driver.
class Kernels {
  public:
    explicit Kernels(const CudaDriver& driver) : driver_(driver) {
        if (driver.loadModule(&module_, kernels) != 0) {
            module_ = nullptr;
            return;
        }
        if (driver.findFunction(&fill_, module_, "fill") != 0) fill_ = nullptr;
        if (driver.findFunction(&sum_, module_, "sum") != 0) sum_ = nullptr;
    }
    ~Kernels() {
        if (module_ != nullptr) driver_.unloadModule(module_);
    }
    Kernels(const Kernels&) = delete;
    Kernels& operator=(const Kernels&) = delete;

    bool canSum() const { return sum_ != nullptr; }
    bool canFill() const { return fill_ != nullptr; }
    /// Reads whole turns: `bytes` must be a multiple of `sumTurnBytes`.
    int sum(CudaDriver::Pointer data, size_t bytes, Handle stream) const {
        uint64_t end = bytes / quadBytes + sumStride - 1;
        void* arguments[] = {&data, &end};
        return driver_.launch(sum_, sumBlocks, 1, 1, threadsPerBlock, 1, 1, 0, stream, arguments, nullptr);
    }
    /// Fills memory with numbers between 0.5 and 1 of either sign; with zeros if nothing can be compiled.
    int fill(GemmPrecision precision, CudaDriver::Pointer data, size_t bytes, Handle stream) const {
        struct Pattern {
            uint32_t keepEven, setEven, keepOdd, setOdd;
        };
        const auto pattern = [precision]() -> Pattern {
            switch (precision) {
                case GemmPrecision::Bf16: return {0x807f807f, 0x3f003f00, 0x807f807f, 0x3f003f00};
                case GemmPrecision::Fp16: return {0x83ff83ff, 0x38003800, 0x83ff83ff, 0x38003800};
                case GemmPrecision::Fp8: return {0x87878787, 0x30303030, 0x87878787, 0x30303030};
                case GemmPrecision::Tf32:
                case GemmPrecision::Fp32: return {0x807fffff, 0x3f000000, 0x807fffff, 0x3f000000};
                case GemmPrecision::Fp64: return {0xffffffff, 0, 0x800fffff, 0x3fe00000};
            }
            return {};
        };
        uint64_t words = bytes / 4;
        if (fill_ == nullptr) return driver_.setWords(data, 0, words, stream);
        Pattern each = pattern();
        void* arguments[] = {&data, &words, &each.keepEven, &each.setEven, &each.keepOdd, &each.setOdd};
        return driver_.launch(fill_, blocks, 1, 1, threadsPerBlock, 1, 1, 0, stream, arguments, nullptr);
    }

  private:
    const CudaDriver& driver_;
    Handle module_ = nullptr, fill_ = nullptr, sum_ = nullptr;
};

/// Runs warmed batches of one operation until `end`, at least one.
class Batches {
  public:
    Batches(const RoofPlace& place, Clock::time_point end) : place_(place), end_(end) {}

    /// Fills `perSecond` and the state of the GPU into `roof`; 0 if the operation fails. `amount` is done by each call
    /// of `run`.
    template <class Run>
    void measure(MeasuredRoof& roof, double amount, Run run) const {
        double onceNs = place_.gpu.timeNs(run);
        if (onceNs > 0) onceNs = place_.gpu.timeNs(run);
        if (onceNs <= 0) return;
        const int repeats = std::clamp(static_cast<int>(std::lround(batchSeconds * 1e9 / onceNs)), 1, 5000);
        for (int batch = 0; batch < batches; ++batch) {
            if (batch > 1 && Clock::now() >= end_) return;
            GpuState state;
            const double ns = place_.gpu.timeNs(
                [&] {
                    for (int repeat = 0; repeat < repeats; ++repeat)
                        if (const int status = run(); status != 0) return status;
                    return 0;
                },
                [&] {
                    if (place_.state) state = place_.state(place_.uuid);
                });
            const double perSecond = ns > 0 ? amount * repeats * 1e9 / ns : 0;
            if (perSecond <= static_cast<double>(roof.perSecond)) continue;
            roof.perSecond = static_cast<int64_t>(perSecond);
            roof.smClockMhz = state.smClockMhz;
            roof.powerMilliwatts = state.powerMilliwatts;
            roof.temperature = state.temperature;
        }
    }

  private:
    const RoofPlace& place_;
    Clock::time_point end_;
};

Clock::time_point after(std::chrono::duration<double> share) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(share);
}

size_t bytesOf(GemmPrecision precision, GemmShape shape) {
    const auto count = [](int64_t rows, int64_t columns) { return static_cast<size_t>(rows * columns); };
    const size_t input = CublasLt::inputBytes(precision), output = CublasLt::outputBytes(precision);
    return std::max(count(shape.m, shape.k) * input,
                    count(shape.k, shape.n) * input + count(shape.m, shape.n) * output + workspaceBytes);
}

/// Returns the fastest of the algorithms that fit into the time, or none if each fails. The library recommends the
/// first.
std::optional<size_t> fastest(const RoofPlace& place, const CublasLt::Gemm& gemm, Clock::time_point end) {
    std::optional<size_t> best;
    double bestNs = 0;
    for (size_t each = 0; each < gemm.algorithmCount() && (!best || Clock::now() < end); ++each) {
        const auto run = [&] { return gemm.run(each, place.gpu.stream()); };
        double ns = place.gpu.timeNs(run);
        for (int repeat = 0; ns > 0 && repeat < 2; ++repeat) ns = std::min(ns, place.gpu.timeNs(run));
        if (ns <= 0 || (best && ns >= bestNs)) continue;
        best = each;
        bestNs = ns;
    }
    return best;
}

}  // namespace

std::vector<MeasuredRoof> measureMemory(const RoofPlace& place) {
    std::vector<MeasuredRoof> roofs;
    if (!place.gpu.enter()) return roofs;
    const Kernels compiled(place.driver);
    const auto bytes = static_cast<double>(place.bytes);
    const auto keep = [&](const char* operation, double amount, auto run) {
        if (place.progress && !place.progress(fmt::format("memory, {}", operation))) return false;
        MeasuredRoof roof;
        roof.kind = "dram";
        roof.gpuUuid = place.uuid;
        roof.operation = operation;
        Batches(place, after(place.budget / 3)).measure(roof, amount, run);
        if (roof.perSecond > 0) roofs.push_back(std::move(roof));
        return true;
    };
    const Handle stream = place.gpu.stream();
    const bool goesOn =
        keep("write", bytes, [&] { return place.driver.setWords(place.first, 0, place.bytes / 4, stream); }) &&
        keep("copy", 2 * bytes,
             [&] { return place.driver.copyOnDevice(place.second, place.first, place.bytes, stream); });
    const size_t readBytes = place.bytes / sumTurnBytes * sumTurnBytes;
    if (goesOn && compiled.canSum() && readBytes > 0)
        keep("read", static_cast<double>(readBytes), [&] { return compiled.sum(place.first, readBytes, stream); });
    if (!compiled.canSum() && place.note) place.note("reading of memory is not measured: it compiles no PTX.");
    return roofs;
}

std::vector<MeasuredRoof> measureProducts(const RoofPlace& place, CublasLt& library) {
    std::vector<MeasuredRoof> roofs;
    if (!place.gpu.enter()) return roofs;
    const auto note = [&](const char* sentence) {
        if (place.note) place.note(sentence);
    };
    if (!library.start()) {
        note("matrix products are not measured: cuBLASLt does not start on it.");
        return roofs;
    }
    const Kernels compiled(place.driver);
    if (!compiled.canFill())
        note("matrix products are of zeros, which take less power than other numbers: it compiles no PTX.");
    const auto share = place.budget / static_cast<double>(gemmPrecisions.size() * std::size(shapes));
    for (const GemmPrecision precision : gemmPrecisions) {
        for (const GemmShape& shape : shapes) {
            if (bytesOf(precision, shape) > place.bytes) continue;
            compiled.fill(precision, place.first, place.bytes, place.gpu.stream());
            compiled.fill(precision, place.second, place.bytes, place.gpu.stream());
            const std::string what = fmt::format("GEMM {} {} x {} x {}", name(precision), shape.m, shape.n, shape.k);
            if (place.progress && !place.progress(what)) return roofs;
            const Clock::time_point end = after(share);
            const size_t output = static_cast<size_t>(shape.k * shape.n) * CublasLt::inputBytes(precision);
            CublasLt::Buffers buffers{place.first, place.second, place.second + output,
                                      place.second + place.bytes - workspaceBytes, workspaceBytes};
            const std::unique_ptr<CublasLt::Gemm> gemm = library.makeGemm(precision, shape, buffers);
            const std::optional<size_t> algorithm = gemm ? fastest(place, *gemm, end) : std::nullopt;
            if (!algorithm) continue;
            MeasuredRoof roof;
            roof.kind = "gemm";
            roof.gpuUuid = place.uuid;
            roof.operation = name(precision);
            roof.m = shape.m;
            roof.n = shape.n;
            roof.k = shape.k;
            roof.software = library.version();
            Batches(place, end).measure(roof, shape.flops(), [&] { return gemm->run(*algorithm, place.gpu.stream()); });
            if (roof.perSecond > 0) roofs.push_back(std::move(roof));
        }
    }
    return roofs;
}

}  // namespace lanescope::capture
