// SPDX-License-Identifier: Apache-2.0
// Rules about embedding tables.

#include <fmt/format.h>

#include <algorithm>

#include "model/analysis/IdleCause.h"
#include "model/explain/FindingText.h"
#include "model/explain/RunFindings.h"
#include "model/explain/findingQueries.h"
#include "model/explain/kernelKinds.h"
#include "model/explain/rules.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// Minimum share of the step for updates of embedding tables to be a finding.
constexpr double minUpdateShare = 0.25;
/// Minimum time of fills, as a share of the time of the optimizer. A fill writes each row once, Adam reads and writes
/// it seven times. With fewer fills, the optimizer mostly updates other parameters than embeddings.
constexpr double minFillShare = 0.05;

bool isOptimizer(const KernelGroup& each) { return each.family == KernelFamily::Optimizer; }
bool isFill(const KernelGroup& each) { return each.family == KernelFamily::Fill; }
bool isTableUpdate(const KernelGroup& each) { return isOptimizer(each) || isFill(each); }

void findDenseEmbeddings(RunFindings& run) {
    const auto isGradient = [](const KernelGroup& each) { return each.trait == KernelTrait::SortedGradient; };
    if (std::ranges::none_of(run.kernels(), isGradient)) return;
    const auto updateNs = static_cast<double>(run.kernelNs(isOptimizer));
    if (static_cast<double>(run.kernelNs(isFill)) >= minFillShare * updateNs && updateNs > 0)
        run.addKernels(isTableUpdate, minUpdateShare);
}

}  // namespace

const Rule denseEmbeddingsRule{
    .id = "dense_embeddings",
    .title = "All rows of embedding tables are updated",
    .finds =
        "An optimizer and fills take at least 25 % of the step, next to gradients of embeddings, and fills take at "
        "least 5 % of the optimizer's time: dense gradients of large tables.",
    .advice =
        "nn.Embedding(sparse=True) with torch.optim.SparseAdam or Adagrad updates only the rows of the batch. Keep the "
        "dense optimizer for the other parameters. A fused embedding optimizer, such as that of TorchRec, needs no "
        "gradient at all.",
    .find = findDenseEmbeddings,
    .say =
        [](const FindingText& text) {
            return fmt::format(
                "The optimizer and fills of dense gradients write whole embedding tables, also rows that the batch "
                "does not use, for {}: mostly {}.",
                text.time(), text.main());
        },
    .evidence = [](const FindingText& text) { return evidenceByName(text, isTableUpdate); },
};

}  // namespace lanescope::explain
