# SPDX-License-Identifier: Apache-2.0
"""What two runs differ in besides their times, by their contexts. compare, gate and history ask here whether two runs were
measured on the same machine: the same hardware, host and build, and limits that are alike."""

import math
from dataclasses import dataclass

HARDWARE, HOST, BUILD, LIMIT = "hardware", "host", "build", "limit"

# What a time depends on, by the keys of the context.
_NAMES = {
    HARDWARE: {
        "machine_id": "machine", "cpu_model": "CPU", "isa": "instruction set", "cores": "cores", "l1_bytes": "L1 cache",
        "l2_bytes": "L2 cache", "l3_bytes": "L3 cache", "gpus": "GPUs", "device_name": "GPU", "device_capability": "GPU's capability",
        "device_multiprocessors": "GPU's multiprocessors", "device_clock_mhz": "GPU's clock", "device_memory_clock_mhz": "GPU's memory clock",
        "device_memory_bus_bits": "GPU's memory bus", "device_l2_bytes": "GPU's L2 cache", "device_memory_bytes": "GPU's memory"},
    HOST: {
        "governor": "governor", "kernel": "kernel", "libc": "C library", "gpu_driver": "GPU driver", "device_driver": "GPU driver",
        "device_cuda_of_driver": "CUDA of the driver", "device_cuda_runtime": "CUDA runtime", "device_cublaslt": "cuBLASLt"},
    BUILD: {"compiler": "compiler", "build_type": "build type"},
    # Rates that bench measured.
    LIMIT: {
        "fma_gflops_f32": "FMA limit f32", "fma_gflops_f64": "FMA limit f64", "copy_gbps_memory": "copy bandwidth",
        "device_gflops_f32": "GPU's limit f32", "device_gflops_f16": "GPU's limit f16", "device_copy_gbps_memory": "GPU's copy bandwidth"}}
# A machine that is idle or has other work stays within this; one with less memory bandwidth or a capped clock does not.
_LIMIT_RATIO = 1.25
_UNKNOWN = ("", "unknown")
_SHOWN = 3  # differences in a sentence


@dataclass(frozen=True)
class Difference:
    kind: str
    what: str
    before: str
    after: str

    @property
    def text(self):
        return f"{self.what}: {self.before} -> {self.after}"


def differences(before, after) -> list[Difference]:
    """On input two contexts. What only one of them says is not compared: older runs say less."""
    found = {}
    for kind, names in _NAMES.items():
        for key, what in names.items():
            ours, theirs = (_known(context, key, kind) for context in (before, after))
            if "" not in (ours, theirs) and _differ(ours, theirs, kind):
                found.setdefault(what, Difference(kind, what, str(ours), str(theirs)))
    if sum(each.kind == HARDWARE for each in found.values()) > 1:
        found.pop("machine", None)  # a digest of the others
    return list(found.values())


def signature(context):
    """Equal for contexts that do not differ, but for limits."""
    return tuple(_known(context, key, kind) for kind, names in _NAMES.items() if kind != LIMIT for key in names)


def _known(context, key, kind):
    """Text, or the number that a limit is; "" if it is not known."""
    text = str(context.get(key, ""))
    if kind != LIMIT:
        return "" if text in _UNKNOWN else text
    try:
        number = float(text)
    except ValueError:
        return ""
    return number if 0 < number < math.inf else ""


def _differ(ours, theirs, kind):
    return ours != theirs if kind != LIMIT else max(ours, theirs) > _LIMIT_RATIO * min(ours, theirs)


def told(found):
    """The differences in one sentence, the first ones of many."""
    texts = [each.text for each in found[:_SHOWN]]
    return "; ".join(texts + ([f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []))
