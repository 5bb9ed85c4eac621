// SPDX-License-Identifier: Apache-2.0
#include "app/cli/compareHelp.h"

namespace lanescope::cli {

std::string_view conditionsHelp() {
    return R"(Conditions of --fail-if:
  WHAT [NAME] [.MEASURE] >|>=|<|<= THRESHOLD, joined by "and"
  step                 p50 (default), p95, mean, min, max, count
  part NAME            time: compute, exposed_communication, idle, copies, ...
  kernel NAME          time (default), exposed, count
  collective NAME      time (default), exposed, count, bytes, bandwidth
  copy KIND            the same; HtoD, DtoH, DtoD, PtoP or "HtoD from pinned"
  memset               time (default), exposed, count, bytes
  range NAME           time: of a step, what belongs to the NVTX range
  slower, faster       what the comparison found of the programs; takes no threshold and needs
                       several runs a side, or --spread. "slower in PART", "slower in range
                       NAME" (idle time there) and "slower in any" ask for parts of the step
  Times, counts and bytes are per step; "exposed" is what nothing else hides.
  Names are quoted where they hold spaces, dots or <>; * in them stands for any text.
  THRESHOLD is a percentage of the baseline (3% or +3%), a difference from it if it has a
  sign (+2ms, -0.5 GB/s), or else the candidate's own number (70 ms, 40 GB/s, 1000).)";
}

std::string compareHelp() {
    return std::string(conditionsHelp()) + R"(

Exit status:
  0  no condition is met
  1  a condition is met
  2  the command line makes no sense
  3  no answer: a file cannot be read, there is nothing to compare, a condition cannot be
     evaluated, or the result cannot be written

Examples:
  lanescope compare before.sqlite after.sqlite
  lanescope compare before.sqlite after.sqlite --range "step #" --steps 5-20 --top 5
  lanescope compare main.sqlite a.sqlite b.sqlite -f html -o report.html
  lanescope compare --baseline main-*.sqlite --candidate pr-*.sqlite --fail-if slower
  lanescope compare before.sqlite after.sqlite --spread lanescope-bench-1
  lanescope compare --history runs today.sqlite --fail-if slower
  lanescope compare main.sqlite pr.sqlite --fail-if 'step.p50 > +3%' \
      --fail-if 'kernel "*flash_fwd*" > +5%' --fail-if 'copy HtoD.bandwidth < 40 GB/s')";
}

}  // namespace lanescope::cli
