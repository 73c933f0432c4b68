# SPDX-License-Identifier: Apache-2.0
"""PyTorch's nn.LSTM, nn.GRU and nn.RNN: the backward alone, on the graph of a forward that is not timed. Weights stay
in PyTorch's layout; converting them from and to that of the op is not timed either."""

import sys

import protocol

DTYPES = ("float32", "float64")


class Loaded:
    """seen: what has upstream gradients; wanted: what gradients are taken for, by name."""

    def __init__(self, torch, seen, upstream, wanted, results_of, forward_results=None):
        self._torch = torch
        self._seen, self._upstream, self._wanted = seen, upstream, wanted
        self._results_of, self._forward = results_of, forward_results or {}
        self.run()
        self.outputs = list(self.results())

    def run(self):
        self._gradients = self._torch.autograd.grad(self._seen, list(self._wanted.values()), self._upstream,
                                                    retain_graph=True)

    def results(self):
        found = {name: gradient.numpy() for name, gradient in zip(self._wanted, self._gradients)}
        return self._results_of(found) | self._forward


class Peer:
    def __init__(self, threads):
        import torch
        import numpy
        torch.set_num_threads(threads)
        self._torch, self._numpy = torch, numpy
        self.version = torch.__version__

    def load(self, case):
        if case.dtype not in DTYPES:
            raise protocol.Skip(f"timed in {' and '.join(DTYPES)} only")
        if case.op == "block_lstm_grad_v2":
            return self._load_block(case)
        if case.op == "cudnn_rnn_backprop":
            return self._load_cudnn(case)
        raise protocol.Skip("has no such op")

    def _leaf(self, array):
        return self._torch.tensor(self._numpy.ascontiguousarray(array)).requires_grad_()

    def _net(self, kind, dtype, *sizes, **options):
        return getattr(self._torch.nn, kind)(*sizes, **options).to(getattr(self._torch, dtype))

    def _set(self, parameter, array):
        with self._torch.no_grad():
            parameter.copy_(self._torch.from_numpy(self._numpy.ascontiguousarray(array)))

    def _load_block(self, case):
        if case.attributes["use_peephole"]:
            raise protocol.Skip("has no peepholes")
        steps = protocol.takes_last_cs_grad(case)
        tensors, numpy = case.inputs, self._numpy
        width, units = tensors["x"].shape[2], tensors["cs_prev"].shape[1]
        if steps == 0 or tensors["x"].size == 0:
            raise protocol.Skip("has no empty sequence")
        net = self._net("LSTM", case.dtype, width, units)
        self._set(net.weight_ih_l0, tensors["w"][:width].T)
        self._set(net.weight_hh_l0, tensors["w"][width:].T)
        self._set(net.bias_ih_l0, tensors["b"])
        self._set(net.bias_hh_l0, numpy.zeros_like(tensors["b"]))
        x, h, cs = (self._leaf(array) for array in (tensors["x"][:steps], tensors["h_prev"][None], tensors["cs_prev"][None]))
        output, (_, last_cs) = net(x, (h, cs))
        upstream = [self._torch.tensor(tensors["h_grad"][:steps]), self._torch.tensor(tensors["cs_grad"][steps - 1][None])]
        wanted = {"x": x, "h": h, "cs": cs, **dict(net.named_parameters())}

        def results(found):
            x_grad = numpy.zeros_like(tensors["x"])
            x_grad[:steps] = found["x"]
            none = numpy.zeros_like(tensors["wci"])
            return {"x_grad": x_grad, "h_prev_grad": found["h"][0], "cs_prev_grad": found["cs"][0],
                    "w_grad": numpy.concatenate([found["weight_ih_l0"].T, found["weight_hh_l0"].T]),
                    "b_grad": found["bias_ih_l0"], "wci_grad": none, "wcf_grad": none, "wco_grad": none}

        return Loaded(self._torch, [output, last_cs], upstream, wanted, results)

    def _load_cudnn(self, case):
        mode, layers = case.word("mode", "lstm"), int(case.word("layers", "1"))
        if case.word("in", "linear") != "linear":
            raise protocol.Skip("has no skip_input")
        if float(case.word("drop", "0")) > 0 and layers > 1:
            raise protocol.Skip("draws dropout masks of its own")
        tensors, numpy = case.inputs, self._numpy
        width, units = tensors["input"].shape[2], tensors["input_h"].shape[2]
        if tensors["input"].size == 0:
            raise protocol.Skip("has no empty sequence")
        directions = 2 if case.word("dir", "uni") == "bi" else 1
        kind, options = {"lstm": ("LSTM", {}), "gru": ("GRU", {}), "tanh": ("RNN", {"nonlinearity": "tanh"}),
                         "relu": ("RNN", {"nonlinearity": "relu"})}[mode]
        net = self._net(kind, case.dtype, width, units, num_layers=layers, bidirectional=directions == 2, **options)
        # All matrices, W and R of every layer and direction, then all biases: params has the same order.
        order = [f"{part}_l{layer}{suffix}" for parts in (("weight_ih", "weight_hh"), ("bias_ih", "bias_hh"))
                 for layer in range(layers) for suffix in ("", "_reverse")[:directions] for part in parts]
        parameters, begin = dict(net.named_parameters()), 0
        for name in order:
            size = parameters[name].numel()
            self._set(parameters[name], tensors["params"][begin:begin + size].reshape(parameters[name].shape))
            begin += size
        lstm = mode == "lstm"
        x, h = self._leaf(tensors["input"]), self._leaf(tensors["input_h"])
        cs = self._leaf(tensors["input_c"]) if lstm else None
        output, last = net(x, (h, cs) if lstm else h)
        seen = [output, *last] if lstm else [output, last]
        names = ["output", "output_h", "output_c"][:len(seen)]
        upstream = [self._torch.tensor(tensors[f"{name}_backprop"]) for name in names]
        wanted = {"x": x, "h": h} | ({"cs": cs} if lstm else {}) | {name: parameters[name] for name in order}

        def results(found):
            states = {"input_h_backprop": found["h"]} | ({"input_c_backprop": found["cs"]} if lstm else {})
            return {"input_backprop": found["x"], **states,
                    "params_backprop": numpy.concatenate([found[name].ravel() for name in order])}

        return Loaded(self._torch, seen, upstream, wanted, results,
                      {name: tensor.detach().numpy() for name, tensor in zip(names, seen)})


if __name__ == "__main__":
    sys.exit(protocol.serve("torch", Peer))
