// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/GraphNodeRecorder.h"

#include <array>
#include <new>
#include <utility>

#include "capture/log/Records.h"

namespace lanescope::agent {

struct GraphNodeRecorder::Node {
    CallStacks::Entry entry;
    uint32_t stack;
    uint64_t ticks, node, original;
    uint32_t threadId;
};

namespace {

constexpr std::array callbacks{CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED};

}  // namespace

GraphNodeRecorder::GraphNodeRecorder(const CuptiLibrary& cupti, CallStacks& stacks, BurstMemory& burst,
                                     std::function<void()> wakeWriter)
    : cupti_(cupti), stacks_(stacks), rings_(burst, std::move(wakeWriter)) {}

void GraphNodeRecorder::enable(CUpti_SubscriberHandle subscriber, bool isOn) const {
    if (!cupti_.getGraphNodeId) return;
    for (const CUpti_CallbackId id : callbacks)
        cupti_.enableCallback(isOn ? 1 : 0, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
}

bool GraphNodeRecorder::isOfNode(CUpti_CallbackId id) { return id == callbacks[0] || id == callbacks[1]; }

uint64_t GraphNodeRecorder::numberOf(CUgraphNode node) const {
    uint64_t number = 0;
    return node && cupti_.getGraphNodeId(node, &number) == CUPTI_SUCCESS ? number : 0;
}

void GraphNodeRecorder::onNode(CUpti_CallbackId id, const CUpti_ResourceData& resource) {
    const auto* const graph = static_cast<const CUpti_GraphData*>(resource.resourceDescriptor);
    if (!graph || !cupti_.getGraphNodeId) return;
    const bool isCopy = id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
    const uint64_t node = numberOf(graph->node);
    const uint64_t original = isCopy ? numberOf(graph->originalNode) : uint64_t{0};
    // A copy of an unknown node has no known capture location.
    if (node == 0 || (isCopy && original == 0)) return;
    auto* const ring = rings_.ofThisThread();
    if (!ring) return;
    const uint32_t stack = isCopy ? uint32_t{0} : stacks_.number(ring->state.stacks, ring->events);
    void* const room = ring->events.reserve(sizeof(Node));
    if (!room) return;
    new (room) Node{CallStacks::Entry::Call, stack, CycleClock::now(), node, original, ring->threadId};
    rings_.commit(*ring);
}

void GraphNodeRecorder::drain(log::RecordWriter& writer, const CycleClock& clock) {
    if (!rings_.isUsed()) return;
    const uint64_t refused = rings_.drain([&](ThreadState&, const void* memory, size_t) {
        const auto kind = *static_cast<const CallStacks::Entry*>(memory);
        if (kind != CallStacks::Entry::Call) {
            stacks_.take(kind, memory);
            return;
        }
        const auto& node = *static_cast<const Node*>(memory);
        log::GraphNodeRecord record{};
        record.timestampNs = clock.eventNs(node.ticks);
        record.node = node.node;
        record.original = node.original;
        record.threadId = node.threadId;
        record.stack = stacks_.write(node.stack, writer);
        writer.write(record);
    });
    if (refused > 0 && !std::exchange(hasReportedLost_, true))
        writer.note(Severity::Warning, HealthCode::GraphLinesMissing,
                    "The program created CUDA graphs faster than they could be written; some of "
                    "their kernels have the line of the graph launch.");
}

}  // namespace lanescope::agent
