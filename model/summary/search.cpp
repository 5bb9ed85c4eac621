#include "model/summary/search.h"

#include <algorithm>
#include <string>

namespace lanescope {

namespace {

char lowerCase(char letter) {
    // Of ASCII only: names are code, and whatever else is in them must match as it is.
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool containsIgnoringCase(std::string_view text, std::string_view lowered) {
    return std::search(text.begin(), text.end(), lowered.begin(), lowered.end(),
                       [](char a, char b) { return lowerCase(a) == b; }) != text.end();
}

class Search {
  public:
    Search(const Trace& trace, std::string_view text) : trace_(trace), lowered_(text) {
        std::transform(lowered_.begin(), lowered_.end(), lowered_.begin(), lowerCase);
        isHit_.resize(trace.strings.size());
        for (StringIndex index = 0; index < trace.strings.size(); ++index)
            isHit_[index] = containsIgnoringCase(trace.strings.at(index), lowered_);
    }

    std::vector<EventRef> run() {
        findKernels();
        findMemoryOperations();
        for (uint32_t row = 0; row < trace_.apiCalls.size(); ++row)
            if (isHit_[trace_.apiCalls.name[row]]) add(trace_.apiCalls, EventKind::Api, row);
        findRanges();
        std::sort(found_.begin(), found_.end());
        std::vector<EventRef> events;
        events.reserve(found_.size());
        for (const auto& [startNs, event] : found_) events.push_back(event);
        return events;
    }

  private:
    template <class Table>
    void add(const Table& table, EventKind kind, uint32_t row) {
        found_.emplace_back(table.startNs[row], EventRef(kind, row));
    }

    void findKernels() {
        std::vector<bool> isConfigHit(trace_.launchConfigs.size());
        for (size_t index = 0; index < isConfigHit.size(); ++index) {
            const LaunchConfig& config = trace_.launchConfigs[index];
            isConfigHit[index] = isHit_[config.shortName] || isHit_[config.demangledName];
        }
        for (uint32_t row = 0; row < trace_.kernels.size(); ++row)
            if (isConfigHit[trace_.kernels.config[row]])
                add(trace_.kernels, EventKind::Kernel, row);
    }

    void findMemoryOperations() {
        bool isKindHit[memcpyKindCount];
        for (int kind = 0; kind < memcpyKindCount; ++kind) {
            const std::string label = "memcpy " + std::string(name(static_cast<MemcpyKind>(kind)));
            isKindHit[kind] = containsIgnoringCase(label, lowered_);
        }
        for (uint32_t row = 0; row < trace_.memcpys.size(); ++row)
            if (isKindHit[static_cast<size_t>(trace_.memcpys.kind[row])])
                add(trace_.memcpys, EventKind::Memcpy, row);
        if (!containsIgnoringCase("memset", lowered_)) return;
        for (uint32_t row = 0; row < trace_.memsets.size(); ++row)
            add(trace_.memsets, EventKind::Memset, row);
    }

    /// By their text; NCCL's also by type, algorithm, protocol and name of the communicator.
    void findRanges() {
        std::vector<bool> isRangeHit(trace_.nvtx.size());
        for (uint32_t row = 0; row < trace_.nvtx.size(); ++row)
            isRangeHit[row] = isHit_[trace_.nvtx.text[row]];
        for (uint32_t row = 0; row < trace_.nccl.size(); ++row) {
            const NcclFacts& facts = trace_.nccl.facts[row];
            for (const StringIndex text :
                 {facts.datatype, facts.algorithm, facts.protocol, facts.communicatorName})
                if (isHit_[text]) isRangeHit[trace_.nccl.nvtx[row]] = true;
        }
        for (uint32_t row = 0; row < trace_.nvtx.size(); ++row)
            if (isRangeHit[row]) add(trace_.nvtx, EventKind::Nvtx, row);
    }

    const Trace& trace_;
    std::string lowered_;
    std::vector<bool> isHit_;  // by string
    std::vector<std::pair<int64_t, EventRef>> found_;
};

}  // namespace

std::vector<EventRef> findEvents(const Trace& trace, std::string_view text) {
    if (text.empty()) return {};
    return Search(trace, text).run();
}

}  // namespace lanescope
