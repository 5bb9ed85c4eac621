// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/CopyGroupSums.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace lanescope {

size_t RankSequence::Level::ones(size_t position) const {
    const size_t word = position / 64, within = position % 64;
    const uint64_t below = within == 0 ? 0 : bits[word] << (64 - within);
    return onesBefore[word] + static_cast<size_t>(std::popcount(below));
}

RankSequence::RankSequence(std::vector<uint32_t> ranks) : size_(ranks.size()) {
    const int bitCount = size_ > 1 ? std::bit_width(size_ - 1) : 0;
    std::vector<uint32_t> sorted(ranks.size());
    for (int shift = bitCount - 1; shift >= 0; --shift) {
        Level level;
        // An additional word, so that the end is a position like any other.
        level.bits.assign(size_ / 64 + 1, 0);
        level.onesBefore.reserve(level.bits.size());
        uint32_t ones = 0;
        for (size_t position = 0; position < size_; ++position) {
            if (position % 64 == 0) level.onesBefore.push_back(ones);
            const uint32_t bit = (ranks[position] >> shift) & 1;
            level.bits[position / 64] |= uint64_t{bit} << (position % 64);
            ones += bit;
        }
        if (size_ % 64 == 0) level.onesBefore.push_back(ones);
        level.zeros = static_cast<uint32_t>(size_) - ones;
        size_t zero = 0, one = level.zeros;
        for (const uint32_t rank : ranks) sorted[((rank >> shift) & 1) != 0 ? one++ : zero++] = rank;
        ranks.swap(sorted);
        levels_.push_back(std::move(level));
    }
}

uint32_t RankSequence::at(size_t position) const {
    uint32_t number = 0;
    for (const Level& level : levels_) {
        const size_t ones = level.ones(position);
        const bool bit = level.bit(position);
        number = (number << 1) | (bit ? 1U : 0U);
        position = bit ? level.zeros + ones : position - ones;
    }
    return number;
}

uint32_t RankSequence::select(size_t first, size_t last, size_t k, std::span<const uint32_t> left) const {
    uint32_t number = 0;
    auto shift = static_cast<int>(levels_.size());
    for (const Level& level : levels_) {
        --shift;
        const size_t firstOnes = level.ones(first), lastOnes = level.ones(last);
        // The remaining ones of `left` agree in all higher bits.
        const auto ones = std::partition_point(left.begin(), left.end(),
                                               [shift](uint32_t each) { return ((each >> shift) & 1) == 0; });
        const auto leftZeros = static_cast<size_t>(ones - left.begin());
        const size_t zeros = (last - first) - (lastOnes - firstOnes) - leftZeros;
        const bool isOne = k >= zeros;
        number = (number << 1) | (isOne ? 1U : 0U);
        if (isOne) {
            k -= zeros;
            first = level.zeros + firstOnes;
            last = level.zeros + lastOnes;
            left = left.subspan(leftZeros);
        } else {
            first -= firstOnes;
            last -= lastOnes;
            left = left.first(leftZeros);
        }
    }
    return number;
}

namespace {

constexpr uint32_t blockSize = 256;
constexpr int64_t maxSum = std::numeric_limits<int64_t>::max() / 4;

using Piece = CopySweep::Piece;

bool hasRate(const Piece& piece) { return piece.endNs > piece.startNs && piece.bytes > 0; }

double rateOf(const Piece& piece) {
    return static_cast<double>(piece.bytes) / static_cast<double>(piece.endNs - piece.startNs);
}

}  // namespace

Piece clippedTo(const TimeRange& range, Piece piece) {
    if (piece.startNs >= range.startNs && piece.endNs <= range.endNs) return piece;
    const int64_t wholeNs = piece.endNs - piece.startNs;
    piece.startNs = std::max(piece.startNs, range.startNs);
    piece.endNs = std::min(piece.endNs, range.endNs);
    piece.bytes = partOfBytes(piece.bytes, piece.endNs - piece.startNs, wholeNs);
    piece.isClipped = true;
    return piece;
}

void CopyGroupSums::Union::add(const Piece& piece) {
    if (!isBusy || piece.startNs > untilNs) {
        busyNs += piece.endNs - piece.startNs;
        overlappedNs += piece.coveredAtEnd - piece.coveredAtStart;
    } else if (piece.endNs > untilNs) {
        busyNs += piece.endNs - untilNs;
        overlappedNs += piece.coveredAtEnd - coveredAtEnd;
    } else {
        return;
    }
    untilNs = piece.endNs;
    coveredAtEnd = piece.coveredAtEnd;
    isBusy = true;
}

void CopyGroupSums::State::add(const Piece& piece) {
    ++count;
    bytes += piece.bytes;
    const int64_t ns = piece.endNs - piece.startNs;
    if (ns > 0) {
        summedNs += ns;
        all.add(piece);
        gpus[piece.gpu].add(piece);
    }
    if (!hasRate(piece)) {
        ++unrated;
        return;
    }
    ratedNs += ns;
    ratedBytes += piece.bytes;
}

CopyGroupSums::CopyGroupSums(CopyGroup group, std::vector<uint32_t> copies, size_t gpuCount, const CopyLookup& lookup)
    : group_(group), gpuCount_(gpuCount), copies_(std::move(copies)) {
    State state;
    state.gpus.resize(gpuCount);
    std::vector<std::pair<double, uint32_t>> rates;  // and the index among those with a rate
    std::vector<uint32_t> rated;
    int64_t latestStartNs = std::numeric_limits<int64_t>::min();
    for (size_t index = 0; index < copies_.size(); ++index) {
        const Piece piece = lookup.piece(copies_[index]);
        // Adds nothing once it is too large, so that no sum can overflow. Only a corrupt index has
        // copies out of order; binary searches require the order.
        isUsable_ = isUsable_ && piece.bytes >= 0 && piece.bytes < maxSum - state.bytes &&
                    piece.endNs - piece.startNs < maxSum - state.summedNs && piece.startNs >= latestStartNs &&
                    piece.endNs >= piece.startNs;
        if (!isUsable_) return;
        latestStartNs = piece.startNs;
        if (index % blockSize == 0) blocks_.push_back({state, piece.startNs, piece.endNs});
        blocks_.back().latestEndNs = std::max(blocks_.back().latestEndNs, piece.endNs);
        if (hasRate(piece)) {
            rates.emplace_back(rateOf(piece), static_cast<uint32_t>(rated.size()));
            rated.push_back(copies_[index]);
        }
        state.add(piece);
    }
    std::sort(rates.begin(), rates.end());
    std::vector<uint32_t> ranks(rates.size());
    copyOfRank_.reserve(rates.size());
    for (size_t rank = 0; rank < rates.size(); ++rank) {
        ranks[rates[rank].second] = static_cast<uint32_t>(rank);
        copyOfRank_.push_back(rated[rates[rank].second]);
    }
    ranks_ = RankSequence(std::move(ranks));
}

CopyGroupSums::State CopyGroupSums::stateBefore(int64_t timeNs, const CopyLookup& lookup) const {
    const auto after =
        std::partition_point(blocks_.begin(), blocks_.end(), [&](const Block& each) { return each.startNs < timeNs; });
    if (after == blocks_.begin()) return blocks_.front().before;
    State state = std::prev(after)->before;
    const size_t end = std::min<size_t>(state.count + blockSize, copies_.size());
    for (size_t index = state.count; index < end; ++index) {
        const Piece piece = lookup.piece(copies_[index]);
        if (piece.startNs >= timeNs) break;
        state.add(piece);
    }
    return state;
}

CopyGroupSums::State CopyGroupSums::stateAtEnd(const CopyLookup& lookup) const {
    State state = blocks_.back().before;
    for (size_t index = state.count; index < copies_.size(); ++index) state.add(lookup.piece(copies_[index]));
    return state;
}

std::vector<CopyGroupSums::ClippedCopy> CopyGroupSums::endingAfter(int64_t timeNs, uint32_t from, uint32_t to,
                                                                   const CopyLookup& lookup) const {
    std::vector<ClippedCopy> truncates;
    if (from >= to) return truncates;
    for (size_t number = (to - 1) / blockSize + 1; number-- > 0;) {
        const Block& block = blocks_[number];
        if (block.latestEndNs > timeNs) {
            auto index = static_cast<uint32_t>(number * blockSize);
            auto rated = static_cast<uint32_t>(block.before.count - block.before.unrated);
            const uint32_t end = std::min(to, index + blockSize);
            for (; index < end; ++index) {
                const Piece piece = lookup.piece(copies_[index]);
                if (index >= from && piece.endNs > timeNs) truncates.push_back({index, rated, piece});
                rated += hasRate(piece) ? 1 : 0;
            }
        }
        // Nothing further to the left reaches this far.
        const Union& before = block.before.all;
        if (number * blockSize <= from || !before.isBusy || before.untilNs <= timeNs) break;
    }
    return truncates;
}

CopyRates CopyGroupSums::ratesOfRange(size_t first, size_t last, std::vector<uint32_t> left, std::vector<double> added,
                                      const CopyLookup& lookup) const {
    std::sort(left.begin(), left.end());
    std::sort(added.begin(), added.end());
    const size_t kept = last - first - left.size();
    const auto keptRate = [&](size_t place) {
        return rateOf(lookup.piece(copyOfRank_[ranks_.select(first, last, place, left)]));
    };
    const auto rateAt = [&](size_t place) {
        // This many of the added ones are among the `place` slowest of all.
        size_t low = place > kept ? place - kept : 0;
        size_t high = std::min(place, added.size());
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (added[middle] < keptRate(place - middle - 1))
                low = middle + 1;
            else
                high = middle;
        }
        if (place - low >= kept) return added[low];
        const double rate = keptRate(place - low);
        return low < added.size() ? std::min(rate, added[low]) : rate;
    };
    const size_t count = kept + added.size();
    const auto quantile = [&](double share) {
        const double place = share * static_cast<double>(count - 1);
        const auto low = static_cast<size_t>(place);
        const double fraction = place - static_cast<double>(low);
        const double value = rateAt(low);
        if (fraction == 0 || low + 1 >= count) return value;
        return value + fraction * (rateAt(low + 1) - value);
    };
    return {rateAt(0), quantile(0.1), quantile(0.5), quantile(0.9), rateAt(count - 1)};
}

std::optional<CopyStatistics> CopyGroupSums::sumUp(std::optional<TimeRange> range, const CopyLookup& lookup) const {
    if (copies_.empty()) return std::nullopt;
    const State from = range ? stateBefore(range->startNs, lookup) : blocks_.front().before;
    const State to = range ? stateBefore(range->endNs, lookup) : stateAtEnd(lookup);
    std::vector<ClippedCopy> fromLeft, toRight;
    if (range) {
        fromLeft = endingAfter(range->startNs, 0, from.count, lookup);
        toRight = endingAfter(range->endNs, from.count, to.count, lookup);
    }
    CopyStatistics sum;
    sum.group = group_;
    sum.count = int64_t{to.count} - from.count + static_cast<int64_t>(fromLeft.size());
    if (sum.count == 0) return std::nullopt;
    sum.clippedCount = static_cast<int64_t>(fromLeft.size() + toRight.size());
    sum.bytes = to.bytes - from.bytes;
    sum.summedNs = to.summedNs - from.summedNs;
    sum.unratedCount = to.unrated - from.unrated;
    sum.ratedBytes = to.ratedBytes - from.ratedBytes;
    sum.ratedNs = to.ratedNs - from.ratedNs;
    std::vector<uint32_t> left;
    for (const ClippedCopy& cut : toRight) {
        const int64_t ns = cut.whole.endNs - cut.whole.startNs;
        sum.bytes -= cut.whole.bytes;
        sum.summedNs -= ns;
        if (!hasRate(cut.whole)) {
            --sum.unratedCount;
            continue;
        }
        sum.ratedBytes -= cut.whole.bytes;
        sum.ratedNs -= ns;
        left.push_back(ranks_.at(cut.rated));
    }
    std::vector<double> added;
    for (const std::vector<ClippedCopy>* const truncates : {&fromLeft, &toRight}) {
        for (const ClippedCopy& cut : *truncates) {
            const Piece piece = clippedTo(*range, cut.whole);
            const int64_t ns = piece.endNs - piece.startNs;
            sum.bytes += piece.bytes;
            sum.summedNs += ns;
            if (!hasRate(piece)) {
                ++sum.unratedCount;
                continue;
            }
            sum.ratedBytes += piece.bytes;
            sum.ratedNs += ns;
            added.push_back(rateOf(piece));
        }
    }
    const size_t firstRated = from.count - static_cast<size_t>(from.unrated);
    const size_t lastRated = to.count - static_cast<size_t>(to.unrated);
    if (lastRated - firstRated - left.size() + added.size() > 0)
        sum.rates = ratesOfRange(firstRated, lastRated, std::move(left), std::move(added), lookup);
    // The union of copies that began before an edge covers one interval after it.
    const auto beyond = [](const Union& each, int64_t edgeNs) {
        return each.isBusy ? std::max<int64_t>(0, each.untilNs - edgeNs) : 0;
    };
    sum.busyNs = to.all.busyNs - from.all.busyNs;
    if (range) sum.busyNs += beyond(from.all, range->startNs) - beyond(to.all, range->endNs);
    for (uint32_t gpu = 0; gpu < gpuCount_; ++gpu) {
        const Union& before = from.gpus[gpu];
        const Union& after = to.gpus[gpu];
        sum.gpuBusyNs += after.busyNs - before.busyNs;
        sum.overlappedNs += after.overlappedNs - before.overlappedNs;
        if (!range) continue;
        sum.gpuBusyNs += beyond(before, range->startNs) - beyond(after, range->endNs);
        if (beyond(before, range->startNs) > 0)
            sum.overlappedNs += before.coveredAtEnd - lookup.kernelNsBefore(gpu, range->startNs);
        if (beyond(after, range->endNs) > 0)
            sum.overlappedNs -= after.coveredAtEnd - lookup.kernelNsBefore(gpu, range->endNs);
    }
    return sum;
}

}  // namespace lanescope
