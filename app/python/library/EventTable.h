// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "app/python/library/eventColumns.h"
#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope::python {

/// The recorded events of one kind, by start. Nothing of them is kept: a batch is unpacked from the
/// trace when it is asked for, its columns on all cores.
class EventTable : public Table {
  public:
    EventTable(TracePtr trace, std::string name, uint32_t rowCount,
               std::vector<EventColumn> columns);

    int64_t rowCount() const override { return rowCount_; }
    Batch rows(int64_t first, int64_t most) const override;

  private:
    TracePtr trace_;  // what the columns read
    uint32_t rowCount_;
    std::vector<EventColumn> read_;
};

/// The events of a kind by its identifier, "kernel"; fails with the list of kinds for another name.
/// O(n), and what it does for each event is small.
Result<TablePtr> eventTable(const TracePtr& trace, std::string_view kind);

}  // namespace lanescope::python
