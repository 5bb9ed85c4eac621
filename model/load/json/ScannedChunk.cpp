// SPDX-License-Identifier: Apache-2.0
#include "model/load/json/ScannedChunk.h"

namespace lanescope {

JsonTally& JsonTally::operator+=(const JsonTally& other) {
    events += other.events;
    flows += other.flows;
    otherFlows += other.otherFlows;
    overheads += other.overheads;
    overheadNs += other.overheadNs;
    callStacks += other.callStacks;
    untimed += other.untimed;
    negative += other.negative;
    unknown += other.unknown;
    fractions += other.fractions;
    oddWork += other.oddWork;
    return *this;
}

void JsonDamage::add(uint64_t begin, uint64_t end) {
    if (places == 0) firstAt = begin;
    if (places == 0 || begin > lastEnd) ++places;
    bytes += static_cast<int64_t>(end - begin);
    lastEnd = end;
}

}  // namespace lanescope
