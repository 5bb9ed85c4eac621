// SPDX-License-Identifier: Apache-2.0
//
// Adds checksums to traces that were changed after recording, such as the samples, whose paths and
// names were removed. The checksums cover the current content.
//
// usage: seal-trace FILE...

#include <cstdio>

#include "model/format/checksums.h"
#include "model/format/tables/Schema.h"
#include "tests/support/openForWriting.h"

using namespace lanescope;

namespace {

Result<void> seal(const std::filesystem::path& path) {
    {
        Result<Database> database = openForWriting(path);
        if (!database) return fail(database.error());
        if (const Result<void> announced = announceSeal(*database); !announced) return announced;
    }
    return sealPages(path);
}

}  // namespace

int main(int argc, char** argv) {
    for (int at = 1; at < argc; ++at) {
        const Result<void> sealed = seal(argv[at]);
        if (sealed) continue;
        std::fprintf(stderr, "seal-trace: %s\n", sealed.error().sentence.c_str());
        return 1;
    }
    return 0;
}
