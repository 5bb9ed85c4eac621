// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "model/bandwidth/linkPeaks.h"
#include "model/format/Memory.h"
#include "model/trace/EventRef.h"

namespace lanescope {

/// By how much copies are told apart; each level tells all that the ones before it do.
enum class CopyGrouping : uint8_t {
    Kind,    ///< HtoD, DtoD, memset; PtoP by the two GPUs.
    Memory,  ///< And by the kinds of memory at both ends.
    Device,  ///< And by the GPU.
    Size,    ///< `Memory`, and by size.
};

inline constexpr size_t copyGroupingCount = 4;

/// Sizes of copies fall into buckets, each four times the one before: below 4 KiB, 4 to 16 KiB ...
/// 256 MiB to 1 GiB, 1 GiB and more.
inline constexpr int sizeBucketCount = 11;
inline constexpr int anySize = -1;
int sizeBucketOf(int64_t bytes);
/// Smallest size in the bucket, and the first that is too large (0 for the last, which has none).
int64_t sizeBucketStart(int bucket);
int64_t sizeBucketEnd(int bucket);
/// "< 4 KiB", "4 to 16 KiB", "1 GiB and more".
std::string sizeBucketName(int bucket);

/// What the copies of a row have in common.
struct CopyGroup {
    bool isMemset = false;
    MemcpyKind kind = MemcpyKind::Unknown;
    MemoryKind source = MemoryKind::Unknown, destination = MemoryKind::Unknown;
    /// Indices into `Trace::gpus`; `noIndex` where the grouping does not tell them apart. Equal
    /// unless it is a copy from one GPU to another.
    uint32_t gpu = noIndex, peer = noIndex;
    int sizeBucket = anySize;
    auto operator<=>(const CopyGroup&) const = default;

    /// "HtoD", "PtoP", "memset".
    std::string_view kindName() const;
    /// By what a search finds such copies: "memcpy HtoD", "memset".
    std::string searchName() const;
};

/// The kind of memory on the host's side of a copy from or to a GPU.
MemoryKind hostSideOf(const CopyGroup& group);

}  // namespace lanescope
