// SPDX-License-Identifier: Apache-2.0
#include "model/load/xplane/XplaneChunk.h"

namespace lanescope {

namespace {

template <class Key, class List>
uint32_t indexIn(std::map<Key, uint32_t>& known, List& list, const Key& key) {
    const auto [found, isNew] = known.try_emplace(key, static_cast<uint32_t>(list.size()));
    if (isNew) list.push_back(key);
    return found->second;
}

}  // namespace

uint32_t XplaneChunk::thread(const JsonThread& thread) {
    return indexIn(threads_, chunk_.threads, thread);
}

uint32_t XplaneChunk::place(const JsonPlace& place) {
    return indexIn(places_, chunk_.places, place);
}

uint32_t XplaneChunk::launch(const JsonLaunch& launch) {
    return indexIn(launches_, chunk_.launches, launch);
}

void XplaneChunk::slice(JsonEventKind kind, const JsonSlice& slice) {
    chunk_.slices[static_cast<size_t>(kind)].push_back(slice);
    ++count_;
}

void XplaneChunk::work(const JsonGpuWork& work) {
    chunk_.gpuWork.push_back(work);
    ++count_;
}

void XplaneChunk::sample(const JsonCounter& counter, int64_t timeNs, double value) {
    chunk_.samples.push_back({timeNs, value, indexIn(counters_, chunk_.counters, counter)});
    ++count_;
}

void XplaneChunk::flush() {
    events_.take(chunk_, 0);
    chunk_ = ScannedChunk();
    made_.clear();
    threads_.clear();
    places_.clear();
    launches_.clear();
    counters_.clear();
    count_ = 0;
}

}  // namespace lanescope
