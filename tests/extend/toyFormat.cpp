// SPDX-License-Identifier: Apache-2.0
#include "tests/extend/toyFormat.h"

#include <sstream>

#include "model/format/GlobalId.h"
#include "model/trace/kinds/Kernel.h"

namespace lanescope {

namespace {

Result<bool> isRecognized(TraceSource& source) { return source.start().starts_with("toy trace\n"); }

Result<void> read(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    std::string text(1 << 20, '\0');
    const Result<size_t> bytes = source.read(text);
    if (!bytes) return fail(bytes.error());
    std::istringstream lines(text.substr(std::string("toy trace\n").size(), *bytes));
    const uint32_t process = builder.process(globalPid(1));
    builder.nameProcess(globalPid(1), "toy");
    std::string name;
    int64_t stream = 0, startNs = 0, endNs = 0;
    while (lines >> name >> stream >> startNs >> endNs && progress(source.fractionRead(), "toys"))
        builder.add<kinds::Kernel>({.startNs = startNs,
                                    .endNs = endNs,
                                    .stream = builder.stream(process, builder.gpu(0), 1, stream),
                                    .config = builder.launchConfig(
                                        {.demangledName = builder.intern(name), .shortName = builder.intern(name)})});
    return {};
}

}  // namespace

const TraceFormat toyFormat{"toy", "a toy trace", {".toy"}, isRecognized, read};

}  // namespace lanescope
