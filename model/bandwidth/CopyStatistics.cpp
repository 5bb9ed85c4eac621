// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/CopyStatistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "model/numbers/Statistics.h"
#include "model/numbers/groups.h"

namespace lanescope {

namespace {

std::optional<CopyPeak> peakOnGpu(const Trace& trace, const CopyGroup& group, uint32_t gpu, uint32_t peer) {
    const int64_t id = trace.gpus[gpu].id;
    if (group.isMemset) return peakOfMemset(trace, id);
    return peakOfCopy(trace, group.kind, hostSideOf(group), id, peer == gpu ? noGpuId : trace.gpus[peer].id);
}

constexpr uint32_t blockSize = 256;
constexpr int64_t maxSum = std::numeric_limits<int64_t>::max() / 4;

using Piece = CopySweep::Piece;

bool hasRate(const Piece& piece) { return piece.endNs > piece.startNs && piece.bytes > 0; }

double rateOf(const Piece& piece) {
    return static_cast<double>(piece.bytes) / static_cast<double>(piece.endNs - piece.startNs);
}

constexpr int minBucketShift = 12;  // 4 KiB
constexpr int shiftsPerBucket = 2;

/// "4 KiB": bounds are powers of two and need no fraction.
std::string boundName(int64_t bytes) {
    if (bytes >= int64_t{1} << 30) return fmt::format("{} GiB", bytes >> 30);
    if (bytes >= int64_t{1} << 20) return fmt::format("{} MiB", bytes >> 20);
    return fmt::format("{} KiB", bytes >> 10);
}

/// Returns the value below which `share` of the values in `[first, last)` are, interpolated between
/// neighbours. Values left of its position are smaller, values right of it greater.
double quantile(std::vector<double>& values, size_t first, size_t last, double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<size_t>(place);
    const double fraction = place - static_cast<double>(low);
    const auto at = [&](size_t index) { return values.begin() + static_cast<ptrdiff_t>(index); };
    std::nth_element(at(first), at(low), at(last));
    const double value = *at(low);
    if (fraction == 0 || low + 1 >= values.size()) return value;
    const double next = *std::min_element(at(low + 1), at(last));
    return value + fraction * (next - value);
}

std::optional<double> percent(double part, double whole) {
    if (!(whole > 0)) return std::nullopt;
    return 100 * part / whole;
}

/// A larger excess is no rounding error.
constexpr double beyondPeakPercent = 100.5;

constexpr int64_t tinyBytes = 4096;
/// Copies of at least this size show the speed of their kind of memory.
constexpr int64_t largeBytes = 1 << 20;

/// Keeps an event and its time if that is longer.
void keepLonger(int64_t ns, EventRef event, int64_t& longestNs, EventRef& longest) {
    if (ns <= longestNs) return;
    longestNs = ns;
    longest = event;
}

}  // namespace

int64_t partOfBytes(int64_t bytes, int64_t partNs, int64_t wholeNs) {
    const long double part =
        static_cast<long double>(bytes) * static_cast<long double>(partNs) / static_cast<long double>(wholeNs);
    return static_cast<int64_t>(std::llround(part));
}

std::optional<CopyPeak> peakOfGroup(const Trace& trace, const CopyGroup& group) {
    if (group.gpu != noIndex) return peakOnGpu(trace, group, group.gpu, group.peer == noIndex ? group.gpu : group.peer);
    std::optional<CopyPeak> common;
    for (uint32_t gpu = 0; gpu < trace.gpus.size(); ++gpu) {
        const std::optional<CopyPeak> peak = peakOnGpu(trace, group, gpu, gpu);
        if (!peak) return std::nullopt;
        // GPUs of a machine are measured one by one and differ a little; the best one counts.
        const bool isLike = !common || (common->origin == peak->origin &&
                                        std::abs(common->gigabytesPerSecond - peak->gigabytesPerSecond) <=
                                            0.1 * peak->gigabytesPerSecond);
        if (!isLike) return std::nullopt;
        if (!common || peak->gigabytesPerSecond > common->gigabytesPerSecond) common = peak;
    }
    return common;
}

bool CopySweep::Stretch::extend(const Piece& piece) {
    if (!isBusy || piece.startNs > endNs) return false;
    if (piece.endNs > endNs) {
        endNs = piece.endNs;
        coveredAtEnd = piece.coveredAtEnd;
    }
    return true;
}

void CopySweep::Stretch::begin(const Piece& piece) {
    *this = {piece.startNs, piece.endNs, piece.coveredAtStart, piece.coveredAtEnd, true};
}

CopySweep::CopySweep(size_t groupCount, size_t gpuCount, bool bySize)
    : bucketCount_(bySize ? sizeBucketCount : 1),
      gpuCount_(gpuCount),
      slots_(groupCount * bucketCount_),
      intervals_(slots_.size() * (gpuCount + 1)) {}

void CopySweep::add(uint32_t group, int bucket, const Piece& piece) {
    const size_t index = group * bucketCount_ + static_cast<size_t>(bucket);
    Slot& slot = slots_[index];
    CopyStatistics& sum = slot.sum;
    ++sum.count;
    if (piece.isClipped) ++sum.clippedCount;
    sum.bytes = saturatingSum(sum.bytes, piece.bytes);
    const int64_t ns = piece.endNs - piece.startNs;
    if (ns <= 0) {
        ++sum.unratedCount;
        return;
    }
    Stretch& all = intervalsOf(index)[0];
    if (!all.extend(piece)) {
        closeAll(sum, all);
        all.begin(piece);
    }
    Stretch& ofGpu = intervalsOf(index)[piece.gpu + 1];
    if (!ofGpu.extend(piece)) {
        closeGpu(sum, ofGpu);
        ofGpu.begin(piece);
    }
    sum.summedNs = saturatingSum(sum.summedNs, ns);
    if (piece.bytes <= 0) {
        ++sum.unratedCount;
        return;
    }
    sum.ratedNs = saturatingSum(sum.ratedNs, ns);
    sum.ratedBytes = saturatingSum(sum.ratedBytes, piece.bytes);
    slot.rates.push_back(static_cast<double>(piece.bytes) / static_cast<double>(ns));
}

void CopySweep::closeAll(CopyStatistics& sum, const Stretch& stretch) {
    if (stretch.isBusy) sum.busyNs += stretch.endNs - stretch.startNs;
}

void CopySweep::closeGpu(CopyStatistics& sum, const Stretch& stretch) {
    if (!stretch.isBusy) return;
    sum.gpuBusyNs = saturatingSum(sum.gpuBusyNs, stretch.endNs - stretch.startNs);
    sum.overlappedNs = saturatingSum(sum.overlappedNs, stretch.coveredAtEnd - stretch.coveredAtStart);
}

std::vector<CopyStatistics> CopySweep::finish(const std::vector<CopyGroup>& groups) {
    std::vector<CopyStatistics> rows;
    for (size_t index = 0; index < slots_.size(); ++index) {
        Slot& slot = slots_[index];
        if (slot.sum.count == 0) continue;
        closeAll(slot.sum, intervalsOf(index)[0]);
        for (size_t gpu = 0; gpu < gpuCount_; ++gpu) closeGpu(slot.sum, intervalsOf(index)[gpu + 1]);
        if (!slot.rates.empty()) slot.sum.rates = ratesOf(slot.rates);
        slot.sum.group = groups[index / bucketCount_];
        if (bucketCount_ > 1) slot.sum.group.sizeBucket = static_cast<int>(index % bucketCount_);
        rows.push_back(std::move(slot.sum));
    }
    return rows;
}

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
        const auto ones =
            std::ranges::partition_point(left, [shift](uint32_t each) { return ((each >> shift) & 1) == 0; });
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
        // Ends before a sum can overflow. Binary searches require the order, which only a corrupt index lacks.
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
    std::ranges::sort(rates);
    std::vector<uint32_t> ranks(rates.size());
    copyOfRank_.reserve(rates.size());
    for (size_t rank = 0; rank < rates.size(); ++rank) {
        ranks[rates[rank].second] = static_cast<uint32_t>(rank);
        copyOfRank_.push_back(rated[rates[rank].second]);
    }
    ranks_ = RankSequence(std::move(ranks));
}

CopyGroupSums::State CopyGroupSums::stateBefore(int64_t timeNs, const CopyLookup& lookup) const {
    const auto after = std::ranges::partition_point(blocks_, [&](const Block& each) { return each.startNs < timeNs; });
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
    std::ranges::sort(left);
    std::ranges::sort(added);
    const size_t kept = last - first - left.size();
    const auto keptRate = [&](size_t place) {
        return rateOf(lookup.piece(copyOfRank_[ranks_.select(first, last, place, left)]));
    };
    const auto rateAt = [&](size_t place) {
        // This many of the added ones are among the `place` slowest of all.
        const size_t low = firstNotBefore(place > kept ? place - kept : 0, std::min(place, added.size()),
                                          [&](size_t among) { return added[among] < keptRate(place - among - 1); });
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
    CopyStatistics sum{.group = group_,
                       .count = int64_t{to.count} - from.count + static_cast<int64_t>(fromLeft.size())};
    if (sum.count == 0) return std::nullopt;
    sum.clippedCount = static_cast<int64_t>(fromLeft.size() + toRight.size());
    sum.bytes = to.bytes - from.bytes;
    sum.summedNs = to.summedNs - from.summedNs;
    sum.unratedCount = to.unrated - from.unrated;
    sum.ratedBytes = to.ratedBytes - from.ratedBytes;
    sum.ratedNs = to.ratedNs - from.ratedNs;
    // Adds (1) or removes (-1) a piece; returns true if it has a rate.
    const auto count = [&sum](const Piece& piece, int64_t sign) {
        const int64_t ns = piece.endNs - piece.startNs;
        sum.bytes += sign * piece.bytes;
        sum.summedNs += sign * ns;
        if (!hasRate(piece)) {
            sum.unratedCount += sign;
            return false;
        }
        sum.ratedBytes += sign * piece.bytes;
        sum.ratedNs += sign * ns;
        return true;
    };
    std::vector<uint32_t> left;
    for (const ClippedCopy& cut : toRight)
        if (count(cut.whole, -1)) left.push_back(ranks_.at(cut.rated));
    std::vector<double> added;
    for (const std::vector<ClippedCopy>* const truncates : {&fromLeft, &toRight}) {
        for (const ClippedCopy& cut : *truncates) {
            const Piece piece = clippedTo(*range, cut.whole);
            if (count(piece, 1)) added.push_back(rateOf(piece));
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

int sizeBucketOf(int64_t bytes) {
    if (bytes < int64_t{1} << minBucketShift) return 0;
    const int width = std::bit_width(static_cast<uint64_t>(bytes)) - 1;
    return std::min((width - minBucketShift) / shiftsPerBucket + 1, sizeBucketCount - 1);
}

int64_t sizeBucketStart(int bucket) {
    return bucket <= 0 ? 0 : int64_t{1} << (minBucketShift + shiftsPerBucket * (bucket - 1));
}

int64_t sizeBucketEnd(int bucket) { return bucket >= sizeBucketCount - 1 ? 0 : sizeBucketStart(bucket + 1); }

std::string sizeBucketName(int bucket) {
    if (bucket == anySize) return {};
    if (bucket <= 0) return "< 4 KiB";
    if (bucket >= sizeBucketCount - 1) return boundName(sizeBucketStart(bucket)) + " and more";
    return fmt::format("{} to {}", boundName(sizeBucketStart(bucket)), boundName(sizeBucketEnd(bucket)));
}

MemoryKind hostSideOf(const CopyGroup& group) {
    const bool isFromGpu = group.kind == MemcpyKind::DtoH || group.kind == MemcpyKind::AtoH;
    return isFromGpu ? group.destination : group.source;
}

std::string_view CopyGroup::kindName() const { return isMemset ? std::string_view("memset") : name(kind); }

std::string CopyGroup::searchName() const { return isMemset ? std::string(kindName()) : lanescope::searchName(kind); }

CopyRates ratesOf(std::vector<double>& values) {
    if (values.empty()) return {};
    CopyRates rates;
    const size_t count = values.size();
    const auto [least, greatest] = std::ranges::minmax_element(values);
    rates.minimum = *least;
    rates.maximum = *greatest;
    rates.median = quantile(values, 0, count, 0.5);
    // After the median every value is on its side of it.
    const auto middle = static_cast<size_t>(0.5 * static_cast<double>(count - 1));
    rates.p10 = quantile(values, 0, std::min(middle + 2, count), 0.1);
    rates.p90 = quantile(values, middle, count, 0.9);
    return rates;
}

std::optional<int64_t> CopyStatistics::knownBytes() const {
    if (bytes == 0 && count > 0 && unratedCount == count) return std::nullopt;
    return bytes;
}

std::optional<double> CopyStatistics::meanGBps() const {
    if (!rates || ratedNs <= 0) return std::nullopt;
    return static_cast<double>(ratedBytes) / static_cast<double>(ratedNs);
}

std::optional<double> CopyStatistics::peakPercent() const {
    const std::optional<double> mean = meanGBps();
    if (!mean || !peak) return std::nullopt;
    return percent(*mean, peak->gigabytesPerSecond);
}

std::string_view CopyStatistics::whyBeyondPeak() const {
    const std::optional<double> share = peakPercent();
    if (!share || *share <= beyondPeakPercent) return {};
    switch (peak->link) {
        case LinkKind::Dram: return "served by the L2 cache of the GPU, which is faster than the memory of the peak";
        case LinkKind::HostCopy: return "faster than the large copies that measured the peak";
        case LinkKind::Pcie:
        case LinkKind::NvLink: break;
    }
    return "so small that buffers accept them before the link has carried them";
}

std::optional<double> CopyStatistics::overlappedPercent() const {
    return percent(static_cast<double>(overlappedNs), static_cast<double>(gpuBusyNs));
}

void CopyTally::add(const CopyGroup& group, const TalliedCopy& copy) {
    ++count;
    keepLonger(copy.partNs, copy.event, longestNs, longest);
    const bool isDtoH = group.kind == MemcpyKind::DtoH;
    const bool holds = isDtoH && copy.holdsCaller;
    if (copy.bytes < tinyBytes) {
        if (!tinyExample.isValid()) tinyExample = copy.event;
        ++tinyCount;
        tinyGpuNs = saturatingSum(tinyGpuNs, copy.partNs);
        // A call that waits for the GPU takes as long as the GPU does, however small the copy.
        if (!holds) tinyCallNs = saturatingSum(tinyCallNs, copy.callNs);
    }
    // The time of the copy itself is no wait for the work before it.
    const int64_t waitedNs = copy.callNs - copy.when.durationNs();
    if (holds && waitedNs > 0) {
        ++holdingCount;
        holdingCallNs = saturatingSum(holdingCallNs, waitedNs);
        if (waitedNs >= longestHoldNs) {
            longestHoldNs = waitedNs;
            holdingExample = copy.event;
        }
    }
    if (group.kind != MemcpyKind::HtoD && !isDtoH) return;
    const MemoryKind host = hostSideOf(group);
    if (host == MemoryKind::Pageable) keepLonger(copy.partNs, copy.event, slowestPageableNs, slowestPageable);
    if (host == MemoryKind::Pinned && copy.bytes >= largeBytes && copy.when.durationNs() > 0) {
        pinnedBytes = saturatingSum(pinnedBytes, copy.bytes);
        pinnedNs = saturatingSum(pinnedNs, copy.when.durationNs());
    }
}

void CopyTally::append(const CopyTally& later) {
    count += later.count;
    if (!tinyExample.isValid()) tinyExample = later.tinyExample;
    tinyCount += later.tinyCount;
    tinyGpuNs = saturatingSum(tinyGpuNs, later.tinyGpuNs);
    tinyCallNs = saturatingSum(tinyCallNs, later.tinyCallNs);
    keepLonger(later.longestNs, later.longest, longestNs, longest);
    holdingCount += later.holdingCount;
    holdingCallNs = saturatingSum(holdingCallNs, later.holdingCallNs);
    if (later.holdingCount > 0 && later.longestHoldNs >= longestHoldNs) {
        longestHoldNs = later.longestHoldNs;
        holdingExample = later.holdingExample;
    }
    keepLonger(later.slowestPageableNs, later.slowestPageable, slowestPageableNs, slowestPageable);
    pinnedBytes = saturatingSum(pinnedBytes, later.pinnedBytes);
    pinnedNs = saturatingSum(pinnedNs, later.pinnedNs);
}

}  // namespace lanescope
