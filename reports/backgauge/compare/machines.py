# SPDX-License-Identifier: Apache-2.0
"""Decides whether two runs may be compared, and calibrates times of different machines."""

import math

from .. import surroundings
from ..errors import CommandError
from ..run import device_of

# One and the same library (oneDNN 2.6.3, LSTM backward, T25 B16 I512 H512) reached 56 % of the FMA limit of one machine and
# 85 % of that of another: calibrated, unchanged code looked 1.5 times as fast. Smaller ratios between machines say
# nothing about the code.
SMALL_EFFECT = 0.5


def check_comparable(base, head, cross_machine):
    """Raises CommandError if the two runs did not do the same work on the same machine."""
    for run in (base, head):
        if "debug" in str(run.context.get("build_type", "")).lower():
            raise CommandError(f"{run.name}: times of a Debug build are meaningless")
    for key in ("threads", "cache_mode"):
        ours, theirs = base.context.get(key), head.context.get(key)
        if ours != theirs:
            raise CommandError(f"{key} differs: {ours} in {base.name}, {theirs} in {head.name}")
    if same_hardware(base, head):
        return
    if device_of(base) or device_of(head) or any("GPU" in each.what for each in surroundings.differences(base.context, head.context)):
        raise CommandError(f"runs of different machines: {_machine(base)} and {_machine(head)}; times on a device are compared with those on "
                           "the same one alone, and nothing calibrates them")
    if cross_machine:
        return
    raise CommandError(f"runs of different machines: {_machine(base)} and {_machine(head)}; --cross-machine calibrates "
                       f"with the measured limits; effects below {100 * SMALL_EFFECT:.0f} % stay UNCLEAR")


def same_hardware(base, head):
    """Runs without a machine_id count as runs of different machines."""
    found = surroundings.differences(base.context, head.context)
    return base.machine_id != "" and base.machine_id == head.machine_id and all(each.kind != surroundings.HARDWARE for each in found)


def apart(base, head, interleaved):
    """Differences that forbid a verdict: the same code may take another time with them, and nothing takes that out. Rounds in turns
    have the same host; limits, and so much of a host, are what calibrates different hardware."""
    found = surroundings.differences(base.context, head.context)
    if interleaved or not same_hardware(base, head):
        return [each for each in found if each.kind == surroundings.BUILD]
    return found


def _machine(run):
    gpu = device_of(run) or str(run.context.get("gpus", ""))
    named = " with ".join(filter(None, [str(run.context.get("cpu_model", "unknown")), gpu]))
    return f"{named} ({run.machine_id or 'no machine_id'})"


def calibrations(base, head, dtype):
    """{limit: factor} by which head's times are multiplied, as if its machine had base's limits.

    Both limits that bound these ops: a product of matrices is bound by one, a pass over memory by the other, and which of
    them bounds a workload may differ between the machines. A verdict needs both to agree.
    """
    fma = "fma_gflops_f64" if dtype == "f64" else "fma_gflops_f32"
    factors = {}
    for name, key in (("by FMA limit", fma), ("by copy bandwidth", "copy_gbps_memory")):
        factor = head.number(key) / base.number(key)
        if not (math.isfinite(factor) and factor > 0):
            raise CommandError(f"cannot calibrate: {key} is not in the context of both runs")
        factors[name] = factor
    return factors
