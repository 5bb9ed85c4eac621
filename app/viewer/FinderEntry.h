// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <functional>
#include <string>
#include <vector>

namespace lanescope::viewer {

/// One thing that can be found by its name and then done or gone to.
struct FinderEntry {
    QString text;
    QString detail;  ///< What kind of thing it is: "command", "stream", "kernel".
    QString key;     ///< The keys that do the same; may be empty.
    std::function<void()> action;
};

/// Names by the thousand, which share an action.
struct FinderNames {
    struct Name {
        std::string text;
        const char* kind = "";  ///< "kernel", "NVTX range", "CUDA API call".
    };
    std::vector<Name> names;
    std::vector<std::string> lowered;  ///< By name, for matching.
};

}  // namespace lanescope::viewer
