# SPDX-License-Identifier: Apache-2.0
"""Many ranks of a job: the slow, late and missing ranks, and their cost to the others.

    lanescope fleet summaries -o fleet.sqlite --html fleet.html

One task per rank reads its summary (`reading`), in processes of this machine or on a Dask cluster (`running`).
DuckDB joins them (`joining`), `findings` names the ranks that lose time, and `writing` and `page` write the report.
"""


class FleetError(Exception):
    """An error that prevents the report, as a sentence."""
