// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>

#include "tests/bench/viewer_scale/TraceFileWriter.h"
#include "tests/bench/viewer_scale/TrainingSimulation.h"

using namespace lanescope;
using namespace lanescope::bench;

namespace {

/// Returns the number of written events, at least `wanted`: the last step is written completely.
Result<int64_t> generate(const std::filesystem::path& path, int64_t wanted, uint64_t seed, FileKind kind) {
    TrainingSimulation simulation(seed);
    auto writer = TraceFileWriter::create(path, kind, simulation.names());
    if (!writer) return fail(writer.error());
    StepRows rows;
    int64_t count = 0;
    while (count < wanted) {
        simulation.nextStep(rows);
        if (const auto written = writer->write(rows); !written) return fail(written.error());
        count += rows.count();
    }
    if (const auto finished = writer->finish(simulation.endNs()); !finished) return fail(finished.error());
    return count;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Writes a simulated trace of a training on two GPUs, to measure the viewer with.");
    std::string path;
    double events = 1e5;
    uint64_t seed = 1;
    bool isInternalFrame = false;
    app.add_option("file", path, "Where to write; must not exist")->required();
    app.add_option("--events", events, "How many events, at least (1e5 and the like work)")
        ->check(CLI::Range(1.0, 2e8))
        ->capture_default_str();
    app.add_option("--seed", seed, "The same seed writes the same file")->capture_default_str();
    app.add_flag("--foreign", isInternalFrame, "Without what only Lanescope writes");
    CLI11_PARSE(app, argc, argv);
    const auto count =
        generate(path, static_cast<int64_t>(events), seed, isInternalFrame ? FileKind::OtherTool : FileKind::Native);
    if (!count) {
        std::fprintf(stderr, "%s\n", count.error().sentence.c_str());
        return 1;
    }
    std::printf("%s: %lld simulated events\n", path.c_str(), static_cast<long long>(*count));
    return 0;
}
