// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TrackLayout.h"

#include <QStringList>
#include <QThread>
#include <atomic>
#include <memory>
#include <new>
#include <string_view>

#include "model/remote/RemoteTrace.h"
#include "views/text/shownText.h"

namespace lanescope::views {

namespace {

/// Maximum helper threads. More threads would wait for memory instead of helping.
constexpr int maxHelpers = 3;

/// Pieces of work, which threads process. A helper thread that starts late finds no piece left and does not use `work`,
/// which no longer exists then.
struct Pieces {
    const std::function<void(size_t)>& work;
    const size_t count;
    std::atomic<size_t> next{0};
    std::atomic<size_t> done{0};
    std::vector<char> hasFailed;  ///< By piece; set before `done` counts it.

    Pieces(const std::function<void(size_t)>& whole, size_t pieces) : work(whole), count(pieces), hasFailed(pieces) {}

    void take() {
        for (size_t piece = next++; piece < count; piece = next++) {
            try {
                work(piece);
            } catch (...) {
                hasFailed[piece] = 1;
            }
            if (++done == count) done.notify_all();
        }
    }
    void waitForOthers() const {
        for (size_t seen = done; seen < count; seen = done) done.wait(seen);
    }
};

uint64_t keyOf(LanePosition lane) { return uint64_t{lane.track} << 32 | lane.lane; }

bool holdsOwnSlices(const Track& track) {
    return std::ranges::any_of(track.lanes, [](const Lane& lane) { return lane.size() > 0 && !lane.isSummary(); });
}

bool isNumber(const QString& word) {
    return !word.isEmpty() && std::all_of(word.begin(), word.end(), [](QChar each) { return each.isDigit(); });
}

bool containsWord(const QString& name, const QString& word) {
    if (!word.contains(' ')) return name.contains(word, Qt::CaseInsensitive);
    // The number of a key is whole.
    for (qsizetype at = name.indexOf(word, 0, Qt::CaseInsensitive); at >= 0;
         at = name.indexOf(word, at + 1, Qt::CaseInsensitive)) {
        const qsizetype end = at + word.size();
        if (end >= name.size() || !name[end].isDigit()) return true;
    }
    return false;
}

/// Returns the words, each number together with its key before it: "rank 2".
QStringList wordsOf(const QString& text) {
    QStringList words;
    for (const QString& word : text.split(' ', Qt::SkipEmptyParts)) {
        if (isNumber(word) && !words.isEmpty() && !words.back().contains(' ') && !isNumber(words.back()))
            words.back() += ' ' + word;
        else
            words << word;
    }
    return words;
}

/// Returns true if any track has the key of "rank 2" with some number.
bool isKeyOf(std::span<const Track> tracks, const QString& word) {
    const QString key = word.section(' ', 0, 0) + ' ';
    return std::ranges::any_of(tracks, [&](const Track& track) {
        const QString name = toQString(track.title) + '\n' + toQString(track.subtitle);
        for (qsizetype at = name.indexOf(key, 0, Qt::CaseInsensitive); at >= 0;
             at = name.indexOf(key, at + 1, Qt::CaseInsensitive))
            if (at + key.size() < name.size() && name[at + key.size()].isDigit()) return true;
        return false;
    });
}

std::vector<bool> matchWords(std::span<const Track> tracks, const QStringList& words) {
    std::vector<bool> matches(tracks.size(), false);
    for (size_t i = 0; i < tracks.size(); ++i) {
        const QString name = toQString(tracks[i].title) + '\n' + toQString(tracks[i].subtitle);
        matches[i] =
            std::all_of(words.begin(), words.end(), [&](const QString& word) { return containsWord(name, word); });
    }
    return matches;
}

}  // namespace

SharedWork::SharedWork() { pool_.setMaxThreadCount(std::clamp(QThread::idealThreadCount() - 1, 0, maxHelpers)); }

void SharedWork::run(size_t count, const std::function<void(size_t)>& work) {
    const auto pieces = std::make_shared<Pieces>(work, count);
    for (int helper = 0; helper < pool_.maxThreadCount(); ++helper) {
        if (static_cast<size_t>(helper) + 1 >= count) break;
        try {
            if (!pool_.tryStart([pieces] { pieces->take(); })) break;
        } catch (const std::bad_alloc&) {
            // Started pieces use `work`: it is left only when all are done.
            break;
        }
    }
    pieces->take();
    pieces->waitForOthers();
    for (size_t piece = 0; piece < count; ++piece)
        if (pieces->hasFailed[piece] != 0) work(piece);
}

void TrackGeometry::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    rectangles_.clear();
    columns_.clear();
}

void TrackGeometry::setView(TimeRange range, int pixelWidth) {
    if (range == range_ && pixelWidth == pixelWidth_) return;
    range_ = range;
    pixelWidth_ = pixelWidth;
    grid_.reset();
    if (pixelWidth > 0 && range.durationNs() >= pixelWidth) grid_.emplace(range, pixelWidth);
    rectangles_.clear();
    columns_.clear();
}

std::vector<PixelSlice> TrackGeometry::reduced(LanePosition lane) const {
    const Lane& reducedLane = trace_->tracks[lane.track].lanes[lane.lane];
    return grid_ ? reduceToPixels(reducedLane, *grid_) : reduceToPixels(reducedLane, range_, pixelWidth_);
}

void TrackGeometry::prepare(std::span<const LanePosition> lanes, std::span<const uint32_t> counters) {
    if (!isReady()) return;
    // Map entries first, on this thread: they do not move while others are filled.
    std::vector<std::function<void()>> missing;
    std::vector<std::pair<uint32_t, uint32_t>> missingLanes;
    std::vector<uint32_t> missingCounters;
    for (const LanePosition lane : lanes) {
        const auto [entry, isNew] = rectangles_.try_emplace(keyOf(lane));
        if (isNew) missingLanes.emplace_back(lane.track, lane.lane);
        if (isNew) missing.emplace_back([this, lane, &to = entry->second] { to = reduced(lane); });
    }
    for (const uint32_t counter : counters) {
        const auto [entry, isNew] = columns_.try_emplace(counter);
        if (isNew) missingCounters.push_back(counter);
        if (isNew)
            missing.emplace_back([this, counter, &to = entry->second] {
                to = trace_->counters[counter].extremesAt(range_, pixelWidth_);
            });
    }
    if (const auto remote = remoteOf(*trace_)) remote->expect(range_, pixelWidth_, missingLanes, missingCounters);
    sharedWork_.run(missing.size(), [&missing](size_t piece) { missing[piece](); });
}

const std::vector<PixelSlice>& TrackGeometry::rectangles(LanePosition lane) {
    const auto [entry, isNew] = rectangles_.try_emplace(keyOf(lane));
    if (isNew && isReady()) entry->second = reduced(lane);
    return entry->second;
}

const std::vector<CounterColumn>& TrackGeometry::columns(uint32_t counter) {
    const auto [entry, isNew] = columns_.try_emplace(counter);
    if (isNew && isReady()) entry->second = trace_->counters[counter].extremesAt(range_, pixelWidth_);
    return entry->second;
}

const PixelSlice* TrackGeometry::rectangleAt(LanePosition lane, float x) {
    const std::vector<PixelSlice>& all = rectangles(lane);
    const auto found =
        std::partition_point(all.begin(), all.end(), [x](const PixelSlice& each) { return each.right <= x; });
    return found != all.end() && found->left <= x ? &*found : nullptr;
}

/// The state that `rebuild` passes down the tree.
struct TrackLayout::Walk {
    bool isPinnedPart = false;
    int top = 0;
};

void TrackLayout::setTracks(std::span<const Track> tracks) {
    tracks_ = tracks;
    folded_.assign(tracks.size(), false);
    hidden_.assign(tracks.size(), false);
    pinned_.assign(tracks.size(), false);
    omitted_.clear();
    filter_.clear();
    children_.assign(tracks.size() + 1, {});
    spaceAbove_.clear();
    spaceBelow_ = 0;
    sharedPinnedBottom_ = 0;
    for (uint32_t i = 0; i < tracks.size(); ++i) {
        folded_[i] = tracks[i].isInitiallyFolded;
        children_[groupOf(i)].push_back(i);
    }
    findPreviews();
    rebuild();
}

void TrackLayout::setMetrics(const LayoutMetrics& metrics) {
    if (metrics == metrics_) return;
    metrics_ = metrics;
    rebuild();
}

void TrackLayout::setSpaces(std::vector<int> above, int below, int pinnedBottom) {
    if (above == spaceAbove_ && below == spaceBelow_ && pinnedBottom == sharedPinnedBottom_) return;
    spaceAbove_ = std::move(above);
    spaceBelow_ = below;
    sharedPinnedBottom_ = pinnedBottom;
    rebuild();
}

uint32_t TrackLayout::parentOf(uint32_t track) const {
    if (track >= tracks_.size()) return noIndex;
    const int32_t parent = tracks_[track].parent;
    return parent >= 0 && static_cast<uint32_t>(parent) < track ? static_cast<uint32_t>(parent) : noIndex;
}

bool TrackLayout::canFold(uint32_t track) const {
    return track < tracks_.size() && (!children_[track].empty() || tracks_[track].lanes.size() > 1);
}

void TrackLayout::setFolded(uint32_t track, bool isFolded) {
    if (!canFold(track) || folded_[track] == isFolded) return;
    folded_[track] = isFolded;
    rebuild();
}

void TrackLayout::setFoldedWithin(uint32_t track, bool isFolded) {
    if (track >= tracks_.size()) return;
    std::vector<bool> isWithin(tracks_.size(), false);
    for (uint32_t each = track; each < tracks_.size(); ++each) {
        const uint32_t parent = parentOf(each);
        isWithin[each] = each == track || (parent != noIndex && isWithin[parent]);
        if (isWithin[each] && canFold(each)) folded_[each] = isFolded;
    }
    rebuild();
}

void TrackLayout::setAllFolded(bool isFolded) {
    for (uint32_t track = 0; track < folded_.size(); ++track)
        if (canFold(track)) folded_[track] = isFolded;
    rebuild();
}

bool TrackLayout::reveal(uint32_t track) {
    bool hasChanged = false;
    if (track < tracks_.size() && !filter_.empty() && !passesFilter_[track] && !isPinned(track)) {
        filter_.clear();
        hasChanged = true;
    }
    for (uint32_t each = track; each < tracks_.size(); each = parentOf(each)) {
        hasChanged = hasChanged || folded_[each] || hidden_[each] || isOmitted(each);
        folded_[each] = hidden_[each] = false;
        if (isOmitted(each)) omitted_[each] = false;
    }
    if (hasChanged) rebuild();
    return hasChanged;
}

void TrackLayout::setHidden(uint32_t track, bool isHidden) {
    if (track >= tracks_.size() || hidden_[track] == isHidden) return;
    hidden_[track] = isHidden;
    rebuild();
}

void TrackLayout::hide(const std::vector<bool>& tracks) {
    std::vector<bool> isCovered(tracks_.size(), false);
    for (uint32_t track = 0; track < tracks_.size() && track < tracks.size(); ++track) {
        const uint32_t parent = parentOf(track);
        isCovered[track] = hidden_[track] || (parent != noIndex && isCovered[parent]);
        if (isCovered[track] || !tracks[track] || pinned_[track]) continue;
        isCovered[track] = hidden_[track] = true;
    }
    rebuild();
}

void TrackLayout::setOmitted(std::vector<bool> tracks) {
    if (tracks == omitted_) return;
    omitted_ = std::move(tracks);
    rebuild();
}

std::vector<uint32_t> TrackLayout::hiddenTracks() const {
    std::vector<uint32_t> tracks;
    for (const uint32_t track : order())
        if (hidden_[track]) tracks.push_back(track);
    return tracks;
}

void TrackLayout::setPinned(uint32_t track, bool isPinned) {
    if (track >= tracks_.size() || pinned_[track] == isPinned) return;
    pinned_[track] = isPinned;
    rebuild();
}

void TrackLayout::setFilter(std::vector<bool> matches) {
    if (!matches.empty()) matches.resize(tracks_.size());
    if (matches == filter_) return;
    filter_ = std::move(matches);
    rebuild();
}

void TrackLayout::updateFilter() {
    isForcedOpen_.assign(tracks_.size(), false);
    passesFilter_ = filter_;
    if (filter_.empty()) return;
    for (uint32_t track = 0; track < tracks_.size(); ++track) {
        const uint32_t parent = parentOf(track);
        if (parent != noIndex && passesFilter_[parent]) passesFilter_[track] = true;
    }
    // Bottom-up, after the matches: tracks within a match are shown, tracks next to one are not.
    for (uint32_t track = static_cast<uint32_t>(tracks_.size()); track-- > 0;) {
        const uint32_t parent = parentOf(track);
        if (parent == noIndex || (!filter_[track] && !isForcedOpen_[track])) continue;
        isForcedOpen_[parent] = true;
        passesFilter_[parent] = true;
    }
}

std::vector<uint32_t> TrackLayout::order() const {
    std::vector<uint32_t> order;
    order.reserve(tracks_.size());
    std::vector<uint32_t> open;
    const auto push = [&](const std::vector<uint32_t>& siblings) {
        open.insert(open.end(), siblings.rbegin(), siblings.rend());
    };
    if (!children_.empty()) push(children_.back());
    while (!open.empty()) {
        order.push_back(open.back());
        open.pop_back();
        push(children_[order.back()]);
    }
    return order;
}

void TrackLayout::setOrder(std::span<const uint32_t> order) {
    std::vector<size_t> rank(tracks_.size(), order.size());
    for (size_t i = 0; i < order.size(); ++i)
        if (order[i] < rank.size()) rank[order[i]] = std::min(rank[order[i]], i);
    for (std::vector<uint32_t>& siblings : children_)
        std::ranges::stable_sort(siblings, {}, [&](uint32_t track) { return rank[track]; });
    rebuild();
}

uint32_t TrackLayout::siblingOf(uint32_t track, int direction) const {
    if (track >= tracks_.size()) return noIndex;
    const std::vector<uint32_t>& siblings = children_[groupOf(track)];
    auto at = std::find(siblings.begin(), siblings.end(), track) - siblings.begin();
    // Skips invisible siblings: one step is one visible track.
    for (at += direction; at >= 0 && at < std::ssize(siblings); at += direction) {
        const LayoutRow* row = rowOf(siblings[at]);
        if (row && pinned_[row->track] == pinned_[track]) return siblings[at];
    }
    return noIndex;
}

bool TrackLayout::areSiblings(uint32_t one, uint32_t other) const {
    return one < tracks_.size() && other < tracks_.size() && parentOf(one) == parentOf(other);
}

void TrackLayout::moveTo(uint32_t track, uint32_t sibling) {
    if (track == sibling || !areSiblings(track, sibling)) return;
    std::vector<uint32_t>& siblings = children_[groupOf(track)];
    const auto from = std::find(siblings.begin(), siblings.end(), track);
    const auto to = std::find(siblings.begin(), siblings.end(), sibling);
    from < to ? std::rotate(from, from + 1, to + 1) : std::rotate(to, from, from + 1);
    rebuild();
}

TrackArrangement TrackLayout::arrangement() const {
    TrackArrangement result{.height = metrics_.rowHeight};
    const std::vector<std::string> paths = trackPaths(tracks_);
    const std::vector<uint32_t> shown = order();
    if (!std::is_sorted(shown.begin(), shown.end()))
        for (const uint32_t track : shown) result.order.push_back(paths[track]);
    for (const uint32_t track : shown) {
        if (hidden_[track]) result.hidden.push_back(paths[track]);
        if (pinned_[track]) result.pinned.push_back(paths[track]);
        if (folded_[track] != tracks_[track].isInitiallyFolded)
            (folded_[track] ? result.folded : result.unfolded).push_back(paths[track]);
    }
    return result;
}

void TrackLayout::setArrangement(const TrackArrangement& arrangement) {
    const std::vector<std::string> paths = trackPaths(tracks_);
    std::unordered_map<std::string_view, uint32_t> byPath;
    for (uint32_t track = 0; track < paths.size(); ++track) byPath.emplace(paths[track], track);
    const auto mark = [&](const std::vector<std::string>& names, std::vector<bool>& marks, bool value) {
        for (const std::string& name : names)
            if (const auto found = byPath.find(name); found != byPath.end()) marks[found->second] = value;
    };
    hidden_.assign(tracks_.size(), false);
    pinned_.assign(tracks_.size(), false);
    for (size_t i = 0; i < tracks_.size(); ++i) folded_[i] = tracks_[i].isInitiallyFolded;
    mark(arrangement.hidden, hidden_, true);
    mark(arrangement.pinned, pinned_, true);
    mark(arrangement.folded, folded_, true);
    mark(arrangement.unfolded, folded_, false);
    std::vector<uint32_t> order;
    for (const std::string& name : arrangement.order)
        if (const auto found = byPath.find(name); found != byPath.end()) order.push_back(found->second);
    // Without an order of its own an arrangement means the trace's.
    for (std::vector<uint32_t>& siblings : children_) std::sort(siblings.begin(), siblings.end());
    setOrder(order);
}

/// Ranges represent a GPU or a process, and counters a process without calls and ranges.
void TrackLayout::findPreviews() {
    previews_.assign(tracks_.size(), noIndex);
    std::vector<bool> isCounter(tracks_.size(), false);
    for (uint32_t track = 0; track < tracks_.size(); ++track) {
        const Track& each = tracks_[track];
        const bool isRange = each.kind == TrackKind::StreamProjection || each.kind == TrackKind::ThreadNvtx;
        if (!isRange && each.kind != TrackKind::CounterGroup) continue;
        if (each.lanes.empty() || (isRange && each.lanes.front().size() == 0)) continue;
        for (uint32_t group = parentOf(track); group != noIndex; group = parentOf(group)) {
            const TrackKind kind = tracks_[group].kind;
            if (kind != TrackKind::Gpu && kind != TrackKind::Process) continue;
            if (previews_[group] != noIndex && (!isCounter[group] || !isRange)) continue;
            previews_[group] = track;
            isCounter[group] = !isRange;
        }
    }
}

bool TrackLayout::showsPreview(uint32_t track) const {
    if (previews_[track] == noIndex) return false;
    const std::vector<Lane>& lanes = tracks_[track].lanes;
    if (std::ranges::all_of(lanes, [](const Lane& lane) { return lane.size() == 0; })) return true;
    if (tracks_[previews_[track]].kind == TrackKind::CounterGroup) return false;
    return metrics_.previews == Previews::All ||
           (metrics_.previews == Previews::Gpus && tracks_[track].kind == TrackKind::Gpu);
}

LayoutRow TrackLayout::makeRow(uint32_t track) const {
    LayoutRow row{.track = track, .canFold = canFold(track)};
    row.isFolded = row.canFold && folded_[track] && !isForcedOpen_[track];
    // A stream has children too, but its lanes are its own kernels and stay as they are.
    row.isHeader = !children_[track].empty() && !row.isFolded && !holdsOwnSlices(tracks_[track]);
    row.laneCount = static_cast<int>(tracks_[track].lanes.size());
    row.laneHeight = metrics_.laneHeight;
    if (tracks_[track].kind == TrackKind::Counter) {
        // Two directions of one link share a track, each slightly lower than a single one.
        row.laneHeight = row.laneCount > 1 ? metrics_.counterHeight * 5 / 8 : metrics_.counterHeight;
    } else if (row.isHeader && tracks_[track].kind != TrackKind::Gpu) {
        row.laneCount = 0;  // Its calls, or the content shown while folded, are directly below it.
    } else if (row.isHeader) {
        row.laneCount = std::min(row.laneCount, 1);
        row.laneHeight = metrics_.summaryHeight;
    } else if (row.isFolded && children_[track].empty()) {
        row.laneHeight = metrics_.squeezedLaneHeight;
    }
    int lanesHeight = row.laneCount * row.laneHeight;
    if (row.isFolded && !children_[track].empty() && showsPreview(track)) {
        row.preview = previews_[track];
        row.previewHeight = metrics_.laneHeight;
        if (std::ranges::all_of(tracks_[track].lanes, [](const Lane& lane) { return lane.size() == 0; })) {
            row.laneCount = 0;
            lanesHeight = 0;
        }
        row.previewTop = lanesHeight;
        lanesHeight += row.previewHeight;
    }
    row.height = row.isHeader && row.laneCount == 0
                     ? metrics_.titleHeight
                     : std::max(metrics_.headerHeight, lanesHeight + 2 * metrics_.padding);
    row.lanesTop = (row.height - lanesHeight) / 2;
    row.previewTop += row.lanesTop;
    return row;
}

void TrackLayout::endChanges() {
    if (--openChanges_ == 0 && isStale_) layOut();
}

void TrackLayout::rebuild() {
    isStale_ = true;
    if (openChanges_ == 0) layOut();
}

void TrackLayout::layOut() {
    isStale_ = false;
    rows_.clear();
    rowOfTrack_.assign(tracks_.size(), -1);
    rowOfPreview_.assign(tracks_.size(), -1);
    updateFilter();
    Walk walk{true, 0};
    for (const uint32_t track : order())
        if (pinned_[track] && rowOfTrack_[track] < 0) addRows(track, 0, walk);
    pinnedHeight_ = walk.top = std::max(walk.top, sharedPinnedBottom_);
    walk.isPinnedPart = false;
    if (!children_.empty())
        for (const uint32_t track : children_.back()) addRows(track, 0, walk);
    const int bottom = walk.top + spaceBelow_;
    totalHeight_ = bottom == 0 ? 0 : bottom + metrics_.bottomSpace;
}

void TrackLayout::addRows(uint32_t track, int depth, Walk& walk) {
    if (hidden_[track] || rowOfTrack_[track] >= 0) return;
    // A filter also shows empty tracks.
    if (!walk.isPinnedPart && filter_.empty() && isOmitted(track)) return;
    if (!walk.isPinnedPart && !filter_.empty() && !passesFilter_[track]) return;
    LayoutRow row = makeRow(track);
    row.depth = depth;
    row.isPinned = walk.isPinnedPart;
    row.top = walk.top + (track < spaceAbove_.size() ? spaceAbove_[track] : 0);
    walk.top = row.bottom();
    rowOfTrack_[track] = static_cast<int32_t>(rows_.size());
    if (row.preview != noIndex) rowOfPreview_[row.preview] = static_cast<int32_t>(rows_.size());
    rows_.push_back(row);
    if (row.isFolded && !children_[track].empty()) return;
    for (const uint32_t child : children_[track]) addRows(child, depth + 1, walk);
}

std::span<const LayoutRow> TrackLayout::rowsBetween(int top, int bottom) const {
    const auto first =
        std::partition_point(rows_.begin(), rows_.end(), [&](const LayoutRow& row) { return row.bottom() <= top; });
    const auto last = std::partition_point(first, rows_.end(), [&](const LayoutRow& row) { return row.top < bottom; });
    return {first, last};
}

const LayoutRow* TrackLayout::rowAt(int y) const {
    const auto rows = rowsBetween(y, y + 1);
    return rows.empty() ? nullptr : &rows.front();
}

const LayoutRow* TrackLayout::rowOf(uint32_t track) const {
    if (track >= rowOfTrack_.size() || rowOfTrack_[track] < 0) return nullptr;
    return &rows_[rowOfTrack_[track]];
}

const LayoutRow* TrackLayout::visibleRowOf(uint32_t track) const {
    for (uint32_t each = track; each < tracks_.size(); each = parentOf(each))
        if (const LayoutRow* row = rowOf(each)) return row;
    return nullptr;
}

std::optional<LanePosition> TrackLayout::laneAt(int y) const {
    const LayoutRow* row = rowAt(y);
    if (!row) return std::nullopt;
    const int below = y - row->top - row->previewTop;
    if (row->preview != noIndex && below >= 0 && below < row->previewHeight) return LanePosition{row->preview, 0};
    const int offset = y - row->top - row->lanesTop;
    if (offset < 0 || offset >= row->laneCount * row->laneHeight) return std::nullopt;
    return LanePosition{row->track, static_cast<uint32_t>(offset / row->laneHeight)};
}

std::optional<LaneArea> TrackLayout::areaOf(LanePosition lane) const {
    if (const LayoutRow* row = rowOf(lane.track)) {
        if (lane.lane >= static_cast<uint32_t>(row->laneCount)) return std::nullopt;
        return LaneArea{laneTop(*row, lane.lane), row->laneHeight};
    }
    if (lane.lane != 0 || lane.track >= rowOfPreview_.size() || rowOfPreview_[lane.track] < 0) return std::nullopt;
    const LayoutRow& row = rows_[static_cast<size_t>(rowOfPreview_[lane.track])];
    return LaneArea{row.top + row.previewTop, row.previewHeight};
}

std::vector<bool> matchTracks(std::span<const Track> tracks, const QString& text) {
    const QStringList words = wordsOf(text);
    std::vector<bool> matches = matchWords(tracks, words);
    if (std::ranges::find(matches, true) != matches.end()) return matches;
    // A word that no number follows in any name is no key.
    QStringList separate;
    for (const QString& word : words) isKeyOf(tracks, word) ? separate << word : separate << word.split(' ');
    return separate == words ? matches : matchWords(tracks, separate);
}

}  // namespace lanescope::views
