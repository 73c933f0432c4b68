# SPDX-License-Identifier: Apache-2.0
"""Classes of machines that are alike."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MachineClass:
    """Machines whose times may form one series. Virtual machines call different CPUs by one name; cache sizes and
    instruction set distinguish most of them."""

    cpu_model: str
    isa: str
    caches: tuple[str, ...]
    device: str = ""  # in whose memory something was timed, with its multiprocessors and clocks

    @property
    def text(self):
        return ", ".join(filter(None, [self.cpu_model or "unknown CPU", self.isa, self.device]))


def class_of(context):
    def word(key):
        return str(context.get(key, ""))

    device = " ".join(filter(None, [word("device_name"), *(word(f"device_{key}") for key in ("multiprocessors", "clock_mhz", "memory_clock_mhz"))]))
    return MachineClass(word("cpu_model"), word("isa"), tuple(word(f"l{level}_bytes") for level in (1, 2, 3)), device)
