// SPDX-License-Identifier: Apache-2.0
#include "model/flame/WorkNames.h"

#include <string>

#include "model/trace/kinds/allKinds.h"

namespace lanescope {

namespace {

/// Work of equal keys is called the same.
uint64_t keyOf(const Trace& trace, kinds::Kernel, uint32_t row) {
    return trace.kernels.config[row];
}
uint64_t keyOf(const Trace& trace, kinds::Memcpy, uint32_t row) {
    return static_cast<uint64_t>(trace.memcpys.kind[row]);
}
template <class Kind>
uint64_t keyOf([[maybe_unused]] const Trace& trace, Kind, [[maybe_unused]] uint32_t row) {
    if constexpr (requires { Kind::nameKey(trace, row); })
        return Kind::nameKey(trace, row);
    else
        return 0;  // one name for all of the kind
}

/// Copies are called what they are searched by.
std::string textOf(const Trace& trace, kinds::Memcpy, uint32_t row) {
    return std::string(searchName(trace.memcpys.kind[row]));
}
std::string textOf(const Trace&, kinds::Memset, uint32_t) {
    return "memset";
}
template <class Kind>
std::string textOf(const Trace& trace, Kind, uint32_t row) {
    return Kind::nameOf(trace, row);
}

}  // namespace

uint32_t WorkNames::numberOf(EventRef work) {
    return visitKind(work.kind(), [&](auto each) {
        const uint64_t key =
            keyOf(trace_, each, work.row()) << 8 | static_cast<uint64_t>(work.kind());
        const auto [known, isNew] = known_.try_emplace(key, 0);
        if (isNew) known->second = tree_.nameNumber(textOf(trace_, each, work.row()));
        return known->second;
    });
}

FlameTree::Frame WorkNames::frameOf(EventRef work) const {
    return visitKind(work.kind(), [&](auto each) {
        return FlameTree::Frame{.kind = FrameKind::Work,
                                .category = each.categoryOf(trace_, work.row())};
    });
}

}  // namespace lanescope
