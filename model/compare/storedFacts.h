// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/compare/RunSummary.h"
#include "model/trace/fields.h"

namespace lanescope::compare {

/// `visit(name, member)` for each fact of a summary that `LANESCOPE_STORED` holds, by the name that
/// it has there. A list has a row for each of its texts.
template <Of<RunSummary> S, class V>
void forEachStoredFact(S& s, V&& visit) {
    visit("contentHash", s.facts.contentHash);
    visit("stepSource", s.source);
    visit("stepKind", s.kind);
    visit("rangesPerStep", s.rangesPerStep);
    visit("stepPattern", s.pattern);
    visit("producer", s.facts.producer);
    visit("driver", s.facts.driver);
    visit("cuda", s.facts.cuda);
    visit("commandLine", s.facts.commandLine);
    visit("host", s.facts.host);
    visit("startUtcNs", s.facts.startUtcNs);
    visit("recordOptions", s.facts.recordOptions);
    visit("smClockHz", s.facts.smClockHz);
    visit("cpuLimitPercent", s.facts.cpuLimitPercent);
    visit("otherGpuProcess", s.facts.otherGpuProcesses);
    visit("worldSize", s.facts.worldSize);
    visit("kernelCount", s.facts.kernelCount);
    visit("isNvlinkPresent", s.facts.isNvlinkPresent);
    visit("hasApiCalls", s.facts.hasApiCalls);
    visit("isTruncated", s.facts.isTruncated);
    visit("nvlinkUse", s.nvlink.use);
    visit("nvlinkEvidence", s.nvlink.evidence);
    visit("nvlinkBytesPerStep", s.nvlink.bytesPerStep);
    visit("nvlinkStepEvidence", s.nvlink.stepEvidence);
    visit("nvlinkBestBytesPerSecond", s.nvlink.bestBytesPerSecond);
    visit("gpuName", s.facts.gpuNames);
}

}  // namespace lanescope::compare
