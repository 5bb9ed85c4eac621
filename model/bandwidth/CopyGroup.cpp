// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/CopyGroup.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace lanescope {

namespace {

constexpr int smallestShift = 12;  // 4 KiB
constexpr int shiftsPerBucket = 2;

/// "4 KiB": bounds are powers of two and want no fraction.
std::string boundName(int64_t bytes) {
    if (bytes >= int64_t{1} << 30) return fmt::format("{} GiB", bytes >> 30);
    if (bytes >= int64_t{1} << 20) return fmt::format("{} MiB", bytes >> 20);
    return fmt::format("{} KiB", bytes >> 10);
}

}  // namespace

int sizeBucketOf(int64_t bytes) {
    if (bytes < int64_t{1} << smallestShift) return 0;
    const int width = std::bit_width(static_cast<uint64_t>(bytes)) - 1;
    return std::min((width - smallestShift) / shiftsPerBucket + 1, sizeBucketCount - 1);
}

int64_t sizeBucketStart(int bucket) {
    return bucket <= 0 ? 0 : int64_t{1} << (smallestShift + shiftsPerBucket * (bucket - 1));
}

int64_t sizeBucketEnd(int bucket) {
    return bucket >= sizeBucketCount - 1 ? 0 : sizeBucketStart(bucket + 1);
}

std::string sizeBucketName(int bucket) {
    if (bucket == anySize) return {};
    if (bucket <= 0) return "< 4 KiB";
    if (bucket >= sizeBucketCount - 1) return boundName(sizeBucketStart(bucket)) + " and more";
    return fmt::format("{} to {}", boundName(sizeBucketStart(bucket)),
                       boundName(sizeBucketEnd(bucket)));
}

MemoryKind hostSideOf(const CopyGroup& group) {
    const bool isFromGpu = group.kind == MemcpyKind::DtoH || group.kind == MemcpyKind::AtoH;
    return isFromGpu ? group.destination : group.source;
}

std::string_view CopyGroup::kindName() const {
    return isMemset ? std::string_view("memset") : name(kind);
}

std::string CopyGroup::searchName() const {
    return isMemset ? std::string(kindName()) : lanescope::searchName(kind);
}

}  // namespace lanescope
