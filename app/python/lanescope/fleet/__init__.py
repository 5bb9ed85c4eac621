# SPDX-License-Identifier: Apache-2.0
"""Many ranks of a job: which of them is slow, late or missing, and what it costs the others.

    lanescope fleet summaries -o fleet.sqlite --html fleet.html

Each rank's summary is read by a task of its own (`reading`), in processes of this machine or by a Dask cluster
(`running`); DuckDB joins them (`joining`), `findings` names who loses time, and `writing` and `page` lay it out.
"""


class FleetError(Exception):
    """What kept the report from being made, as a sentence."""
