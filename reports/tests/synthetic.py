# SPDX-License-Identifier: Apache-2.0
"""Runs that were never timed: the files of `backgauge bench` with noise as a shared machine makes it."""

import json
import pathlib
from dataclasses import dataclass, field

import numpy as np

CONTEXT = {
    "backgauge_version": "0.1.0", "commit": "0123abcd", "cpu_model": "Synthetic CPU", "isa": "avx2 fma",
    "l1_bytes": 32768, "l2_bytes": 524288, "l3_bytes": 33554432, "governor": "performance", "compiler": "gcc 12.2.0",
    "build_type": "Release", "fma_gflops_f32": 112.0, "fma_gflops_f64": 56.0, "noise_aa": 0.004,
    "read_gbps_l1": 207.0, "read_gbps_l2": 117.0, "read_gbps_l3": 98.0, "read_gbps_memory": 29.0,
    "copy_gbps_l1": 150.0, "copy_gbps_l2": 80.0, "copy_gbps_l3": 55.0, "copy_gbps_memory": 22.0,
    "machine_id": "a1b2c3d4e5", "cache_mode": "hot", "threads": 1, "work_convention": "useful",
    "terms/cpu/block_lstm_grad_v2": "accuracy class A in f16; determinism bitwise",
    "terms/eigen/block_lstm_grad_v2": "accuracy class A in f16; determinism bitwise"}

# What bench adds where something is timed in the memory of a device.
DEVICE = {"device_name": "Synthetic GPU", "device_multiprocessors": "132", "device_clock_mhz": "1980", "device_memory_clock_mhz": "2619",
          "device_driver": "580.1", "device_cuda_runtime": "13.0", "device_l2_bytes": "62914560", "device_gflops_f16": "800000",
          "device_gflops_f32": "50000", "device_copy_gbps_l2": "5000", "device_copy_gbps_memory": "3900", "device_launch_us": "3.7"}

# How large a part of the limit an implementation reaches.
SHARES = {"cpu": 0.90, "onednn": 0.82, "torch": 0.76, "tensorflow": 0.17, "eigen": 0.35, "plain": 0.02}

NINE = ["t25b16i512h512", "t25b64i512h512", "t25b64i1024h1024", "t50b32i256h256", "t100b1i256h256", "t40b13i250h250",
        "t40b32i128h128", "t40b67i650h650", "t35b20i650h650"]


@dataclass(frozen=True)
class Noise:
    """Relative sizes. `spread`: every sample; `drift`: a slow walk that a run shares; `hit`: how often a neighbour
    interferes, and by up to how much; `offset`: a process is faster or slower than another of the same program."""

    spread: float = 0.008
    drift: float = 0.015
    hit: float = 0.06
    hit_size: float = 0.4
    offset: float = 0.004


@dataclass
class Synthetic:
    lines: list
    shares: dict = field(default_factory=lambda: dict(SHARES))
    rounds: int = 11
    blocks: int = 1
    seed: int = 1
    context: dict = field(default_factory=dict)
    noise: Noise = Noise()
    speed: float = 1.0  # of the whole machine
    slower: dict = field(default_factory=dict)  # (implementation, line) -> factor
    lost: float = 1.0  # up to how many times as long a call takes by the clock as on its CPU
    waits: int = 0  # of each sample
    failed: dict = field(default_factory=dict)  # (implementation, line) -> (verdict, reason)
    unjudged: frozenset = frozenset()  # implementations timed with --unjudged
    disturbed: bool = False  # every sample
    on_device: frozenset = frozenset()  # implementations in the memory of a device, which the context describes (DEVICE)
    tensors: tuple = ("x_grad", "cs_prev_grad", "h_prev_grad", "w_grad", "b_grad")

    def write(self, path):
        """Writes RUN.json at `path`, and its samples into the same folder. Returns the path."""
        random = np.random.default_rng(self.seed)
        context = self.context_of()
        samples, benchmarks = [], []
        for line in self.lines:
            drift = np.cumsum(random.normal(0, self.noise.drift / np.sqrt(self.rounds), self.rounds))
            for name, share in self.shares.items():
                samples_of, entries = self._pair(line, name, share, drift, random, context)
                samples += samples_of
                benchmarks += entries
        path = pathlib.Path(path)
        path.write_text(json.dumps({"context": context, "benchmarks": benchmarks}))
        lines = [{"schema": "backgauge.samples/1", "context": context}, *samples]
        path.with_suffix(".samples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    def context_of(self):
        return {**CONTEXT, **self.context}

    def _pair(self, line, name, share, drift, random, context):
        head = {"workload": line, "implementation": name}
        if (name, line) in self.failed:
            verdict, reason = self.failed[name, line]
            return [{**head, "suite": "nine", "verdict": verdict, "reason": reason}], []
        gflop, gigabytes, limit = work_of(line, context)
        on_device = name in self.on_device
        if on_device:
            limit = float(context["device_gflops_f32"])
        ideal = gflop / (limit * (0.6 if "b1i" in line else 1.0) * share)
        seconds = self.times(ideal * self.slower.get((name, line), 1.0), drift, random)
        clock = seconds if self.lost == 1 else seconds * (1 + (self.lost - 1) * random.random(self.rounds))
        error = round(float(random.uniform(0.2, 0.7)), 3)
        samples = [{**head, "suite": "nine", "version": "1", "round": k, "seconds": float(clock[k]), "calls": 4,
                    "fma_gflops": 0 if on_device else float(limit * self.speed * np.exp(-drift[k])), "disturbed": self.disturbed,
                    "block": self.block_of(k), "cpu_seconds": float(value), "waits": self.waits}
                   for k, value in enumerate(seconds)]
        tensors = {tensor: round(error * float(random.uniform(0.3, 1)), 3) for tensor in self.tensors}
        unjudged = name in self.unjudged
        samples.append({**head, "verdict": "UNJUDGED", "error_over_bound": None, "tensors": {}, "reason": ""} if unjudged else
                       {**head, "verdict": "PASSED", "error_over_bound": error, "tensors": tensors, "reason": ""})
        if on_device:
            samples[-1] |= {"on_device": True} | ({"above_limit": "the limit is slow"} if share > 1 else {})
        dims = line.split()[1]
        entries = [{"name": f"{name}/nine/{line.replace(' ', ',')}", "run_type": "iteration", "label": line,
                    "repetition_index": k, "iterations": 4, "real_time": float(value) * 1e3, "cpu_time": float(value) * 1e3,
                    "time_unit": "ms", "GFLOP/s": gflop / value, "GB/s": gigabytes / value,
                    "share_of_limit": gflop / value / limit, "first_call_ms": 3e3 * value, "dims": dims,
                    **({"unjudged": 1} if unjudged else {"error_over_bound": error})} for k, value in enumerate(seconds)]
        entries.append({**entries[0], "run_type": "aggregate", "aggregate_name": "median"})
        return samples, entries

    def block_of(self, k):
        return k * self.blocks // self.rounds

    def times(self, ideal, drift, random):
        noise = self.noise
        offsets = random.normal(0, noise.offset, self.blocks)[[self.block_of(k) for k in range(self.rounds)]]
        factor = np.exp(random.normal(0, noise.spread, self.rounds) + drift + offsets)
        hits = random.random(self.rounds) < noise.hit
        return ideal / self.speed * factor * np.where(hits, 1 + noise.hit_size * random.random(self.rounds), 1)


def work_of(line, context):
    """(GFLOP, GB, limit in GFLOP/s) of one call; the real ones are bench's."""
    op, dims, *_ = line.split()
    sizes = {"t": 1, **_sizes(dims)}
    cells = sizes["t"] * sizes["b"] * sizes["h"]
    limit = context["fma_gflops_f64" if "dt=f64" in line else "fma_gflops_f32"]
    if op == "lstm_block_cell_grad":
        gigabytes = 13 * 4 * cells / 1e9
        return 20 * cells / 1e9, gigabytes, 20 / 52 * context["copy_gbps_l3"]
    return 16 * cells * (sizes["i"] + sizes["h"]) / 1e9, 4 * 20 * cells / 1e9, limit


def _sizes(dims):
    sizes, name = {}, ""
    for part in dims:
        if part.isalpha():
            name, sizes[part] = part, 0
        else:
            sizes[name] = 10 * sizes[name] + int(part)
    return sizes


def block_line(dims, dtype="f32"):
    return f"block_lstm_grad_v2 {dims} peep=0 order=ifco seq={_sizes(dims)['t']} dt={dtype} data=strat:0x1"


def sweep_lines():
    """The nine shapes, sweeps in T, B and H, and the other two ops."""
    dims = [*NINE, *(f"t{t}b16i512h512" for t in (5, 10, 50, 100)), *(f"t25b{b}i512h512" for b in (1, 4, 128)),
            *(f"t25b64i{h}h{h}" for h in (128, 256, 2048))]
    lines = [block_line(d) for d in dict.fromkeys(dims)]
    lines += [f"lstm_block_cell_grad {d} peep=1 dt=f32 data=strat:0x1" for d in ("b32i512h512", "b128i1024h1024")]
    lines += [f"cudnn_rnn_backprop t25b16i512h512 mode={mode} dir=uni layers=1 in=linear dt=f64 data=strat:0x1"
              for mode in ("lstm", "gru", "tanh")]
    return lines
