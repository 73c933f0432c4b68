// SPDX-License-Identifier: Apache-2.0
#include "impl/cudnn/testing/standin/network.h"

#include <algorithm>
#include <cmath>

namespace backgauge::cudnn::standin {
namespace {

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

// Places in the vectors of a network.
struct Places {
  const Sizes& s;
  const RnnParams& p = s.params;
  std::int64_t T = s.T, B = s.B, H = p.hidden_size, D = p.directions, G = p.gates;

  std::int64_t width(std::int64_t layer) const { return p.layer_input(layer); }
  bool skips(std::int64_t layer) const { return layer == 0 && p.skip_input; }
  // Element j of a row of a step of an example.
  std::size_t row(std::int64_t pseudo_layer, std::int64_t t, std::int64_t b, std::int64_t which, std::int64_t j) const {
    return at((((pseudo_layer * T + t) * B + b) * s.rows() + which) * H + j);
  }
  std::size_t state(std::int64_t pseudo_layer, std::int64_t b, std::int64_t j) const {
    return at((pseudo_layer * B + b) * H + j);
  }
  // The step of the sequence that is the n-th of a direction.
  std::int64_t time(std::int64_t direction, std::int64_t n) const { return direction == 0 ? n : T - 1 - n; }
  static std::size_t at(std::int64_t offset) { return static_cast<std::size_t>(offset); }
};

// The factor of dropout for element k of what a direction reads from the layer below.
double factor(const Places& at, const Saved& saved, std::int64_t layer, std::int64_t direction, std::int64_t t,
              std::int64_t b, std::int64_t k) {
  if (layer == 0 || saved.keep.empty()) return 1;
  const std::int64_t mask = (layer - 1) * at.D + direction;
  const bool kept = saved.keep[Places::at(((mask * at.T + t) * at.B + b) * at.D * at.H + k)] != 0;
  return kept ? 1 / (1 - at.s.dropout) : 0;
}

// What a direction of a layer reads.
double read(const Places& at, const Saved& saved, const Values& x, std::int64_t layer, std::int64_t direction,
            std::int64_t t, std::int64_t b, std::int64_t k) {
  if (layer == 0) return x[Places::at((t * at.B + b) * at.width(0) + k)];
  const double below = saved.values[at.row((layer - 1) * at.D + k / at.H, t, b, at.G, k % at.H)];
  return below * factor(at, saved, layer, direction, t, b, k);
}

// h or c before the n-th step of a direction.
double before(const Places& at, const Saved& saved, const Values& first, std::int64_t pseudo_layer, std::int64_t n,
              std::int64_t b, std::int64_t row, std::int64_t j) {
  if (n == 0) return first[at.state(pseudo_layer, b, j)];
  return saved.values[at.row(pseudo_layer, at.time(pseudo_layer % at.D, n - 1), b, row, j)];
}

// One step of one example: its rows in `saved`.
void step(const Places& at, const Values& params, const Values& x, const States& first, std::int64_t layer,
          std::int64_t direction, std::int64_t n, std::int64_t b, Saved& saved) {
  const std::int64_t pseudo_layer = layer * at.D + direction, t = at.time(direction, n), H = at.H, G = at.G;
  Values in(Places::at(at.width(layer))), h(Places::at(H));
  for (std::size_t k = 0; k < in.size(); ++k) {
    in[k] = read(at, saved, x, layer, direction, t, b, static_cast<std::int64_t>(k));
  }
  for (std::size_t k = 0; k < h.size(); ++k) {
    h[k] = before(at, saved, first.h, pseudo_layer, n, b, G, static_cast<std::int64_t>(k));
  }
  const auto product = [&](std::int64_t offset, const Values& operand) {
    double sum = 0;
    for (std::size_t k = 0; k < operand.size(); ++k) sum += params[Places::at(offset) + k] * operand[k];
    return sum;
  };
  const RnnParams& p = at.p;
  for (std::int64_t j = 0; j < H; ++j) {
    const auto input_side = [&](std::int64_t g) {
      const double wx =
          at.skips(layer) ? in[Places::at(j)] : product(p.W(layer, direction, g) + j * p.matrix_input(layer), in);
      return wx + params[Places::at(p.bW(layer, direction, g) + j)];
    };
    const auto recurrent_side = [&](std::int64_t g) {
      return product(p.R(layer, direction, g) + j * H, h) + params[Places::at(p.bR(layer, direction, g) + j)];
    };
    const auto both_sides = [&](std::int64_t g) { return input_side(g) + recurrent_side(g); };
    const auto set = [&](std::int64_t which, double value) {
      saved.values[at.row(pseudo_layer, t, b, which, j)] = value;
    };
    switch (at.s.mode) {
      case BACKGAUGE_RNN_RELU: {
        const double a = both_sides(0);
        set(0, std::max(0.0, a));
        set(G, std::max(0.0, a));
        set(G + 1, a >= 0 ? 1 : 0);
        break;
      }
      case BACKGAUGE_RNN_TANH:
        set(0, std::tanh(both_sides(0)));
        set(G, saved.values[at.row(pseudo_layer, t, b, 0, j)]);
        break;
      case BACKGAUGE_LSTM: {
        const double i = sigmoid(both_sides(0)), f = sigmoid(both_sides(1)), m = std::tanh(both_sides(2)),
                     o = sigmoid(both_sides(3));
        const double c = f * before(at, saved, first.c, pseudo_layer, n, b, G + 1, j) + i * m;
        set(0, i);
        set(1, f);
        set(2, m);
        set(3, o);
        set(G, o * std::tanh(c));
        set(G + 1, c);
        set(G + 2, std::tanh(c));
        break;
      }
      case BACKGAUGE_GRU: {
        const double r = sigmoid(both_sides(0)), z = sigmoid(both_sides(1)), hn = recurrent_side(2);
        const double m = std::tanh(input_side(2) + r * hn);
        set(0, r);
        set(1, z);
        set(2, m);
        set(G, (1 - z) * m + z * h[Places::at(j)]);
        set(G + 1, hn);
        break;
      }
    }
  }
}

// The gradient of one unit at one step. On output the gates in `saved` are the gradients of their inputs, and returns
// the part of the gradient of the h before that bypasses the gates; dc is turned into that of the c before.
double unit_backward(const Places& at, const States& first, std::int64_t pseudo_layer, std::int64_t n, std::int64_t b,
                     std::int64_t j, double dh, double* dc, Saved& saved) {
  const std::int64_t t = at.time(pseudo_layer % at.D, n), G = at.G;
  const auto row = [&](std::int64_t which) -> double& { return saved.values[at.row(pseudo_layer, t, b, which, j)]; };
  switch (at.s.mode) {
    case BACKGAUGE_RNN_RELU: row(0) = row(G + 1) > 0 ? dh : 0; return 0;
    case BACKGAUGE_RNN_TANH: row(0) = dh * (1 - row(0) * row(0)); return 0;
    case BACKGAUGE_LSTM: {
      const double i = row(0), f = row(1), m = row(2), o = row(3), co = row(G + 2);
      const double c_before = before(at, saved, first.c, pseudo_layer, n, b, G + 1, j);
      const double d = *dc + dh * o * (1 - co * co);
      row(0) = d * m * i * (1 - i);
      row(1) = d * c_before * f * (1 - f);
      row(2) = d * i * (1 - m * m);
      row(3) = dh * co * o * (1 - o);
      *dc = d * f;
      return 0;
    }
    case BACKGAUGE_GRU: {
      const double r = row(0), z = row(1), m = row(2), hn = row(G + 1);
      const double h_before = before(at, saved, first.h, pseudo_layer, n, b, G, j);
      const double dm = dh * (1 - z) * (1 - m * m);
      row(0) = dm * hn * r * (1 - r);
      row(1) = dh * (h_before - m) * z * (1 - z);
      row(2) = dm;
      row(G + 1) = dm * r;  // of the recurrent side of the last gate
      return dh * z;
    }
  }
  return 0;
}

// The gradient of the recurrent side of a gate; but for the last of a GRU it is that of the input side.
std::int64_t recurrent_row(const Places& at, std::int64_t gate) {
  return at.s.mode == BACKGAUGE_GRU && gate == 2 ? at.G + 1 : gate;
}

}  // namespace

void forward(const Sizes& sizes, const Values& params, const Values& x, const States& first, Saved& saved, Values& y,
             States& last) {
  const Places at{sizes};
  last = first;
  for (std::int64_t layer = 0; layer < at.p.layers; ++layer) {
    for (std::int64_t direction = 0; direction < at.D; ++direction) {
      const std::int64_t pseudo_layer = layer * at.D + direction, end = at.time(direction, at.T - 1);
      for (std::int64_t n = 0; n < at.T; ++n) {
        for (std::int64_t b = 0; b < at.B; ++b) step(at, params, x, first, layer, direction, n, b, saved);
      }
      for (std::int64_t b = 0; b < at.B; ++b) {
        for (std::int64_t j = 0; j < at.H; ++j) {
          last.h[at.state(pseudo_layer, b, j)] = saved.values[at.row(pseudo_layer, end, b, at.G, j)];
          if (!last.c.empty()) {
            last.c[at.state(pseudo_layer, b, j)] = saved.values[at.row(pseudo_layer, end, b, at.G + 1, j)];
          }
        }
      }
    }
  }
  y.resize(Places::at(sizes.outputs()));
  for (std::size_t k = 0; k < y.size(); ++k) {
    const auto e = static_cast<std::int64_t>(k), d = e / at.H % at.D, tb = e / at.H / at.D;
    y[k] = saved.values[at.row((at.p.layers - 1) * at.D + d, tb / at.B, tb % at.B, at.G, e % at.H)];
  }
}

void backward_data(const Sizes& sizes, const Values& params, const States& first, const Values& dy, Saved& saved,
                   Values& dx, States& gradient) {
  const Places at{sizes};
  Values above = dy;  // the gradient of what a layer gives
  for (std::int64_t layer = at.p.layers - 1; layer >= 0; --layer) {
    const std::int64_t width = at.width(layer);
    Values below(Places::at(at.T * at.B * width));
    for (std::int64_t direction = 0; direction < at.D; ++direction) {
      const std::int64_t pseudo_layer = layer * at.D + direction;
      for (std::int64_t n = at.T - 1; n >= 0; --n) {
        const std::int64_t t = at.time(direction, n);
        for (std::int64_t b = 0; b < at.B; ++b) {
          Values dh(Places::at(at.H));
          for (std::int64_t j = 0; j < at.H; ++j) {
            const std::size_t state = at.state(pseudo_layer, b, j);
            const double whole = gradient.h[state] + above[Places::at(((t * at.B + b) * at.D + direction) * at.H + j)];
            dh[Places::at(j)] = unit_backward(at, first, pseudo_layer, n, b, j, whole,
                                              gradient.c.empty() ? nullptr : &gradient.c[state], saved);
          }
          for (std::int64_t g = 0; g < at.G; ++g) {
            for (std::int64_t j = 0; j < at.H; ++j) {
              const double da = saved.values[at.row(pseudo_layer, t, b, g, j)];
              const double dr = saved.values[at.row(pseudo_layer, t, b, recurrent_row(at, g), j)];
              for (std::int64_t k = 0; k < at.H; ++k) {
                dh[Places::at(k)] += params[Places::at(at.p.R(layer, direction, g) + j * at.H + k)] * dr;
              }
              double* to = &below[Places::at((t * at.B + b) * width)];
              if (at.skips(layer)) {
                to[j] += da;
                continue;
              }
              for (std::int64_t k = 0; k < width; ++k) {
                to[k] += params[Places::at(at.p.W(layer, direction, g) + j * width + k)] * da *
                         factor(at, saved, layer, direction, t, b, k);
              }
            }
          }
          for (std::int64_t j = 0; j < at.H; ++j) gradient.h[at.state(pseudo_layer, b, j)] = dh[Places::at(j)];
        }
      }
    }
    above = std::move(below);
  }
  dx = std::move(above);
}

void backward_weights(const Sizes& sizes, const Values& x, const States& first, const Saved& saved, Values& dparams) {
  const Places at{sizes};
  for (std::int64_t layer = 0; layer < at.p.layers; ++layer) {
    const std::int64_t width = at.p.matrix_input(layer);
    for (std::int64_t direction = 0; direction < at.D; ++direction) {
      const std::int64_t pseudo_layer = layer * at.D + direction;
      for (std::int64_t n = 0; n < at.T; ++n) {
        const std::int64_t t = at.time(direction, n);
        for (std::int64_t b = 0; b < at.B; ++b) {
          Values in(Places::at(width)), h(Places::at(at.H));
          for (std::int64_t k = 0; k < width; ++k) in[Places::at(k)] = read(at, saved, x, layer, direction, t, b, k);
          for (std::int64_t k = 0; k < at.H; ++k) {
            h[Places::at(k)] = before(at, saved, first.h, pseudo_layer, n, b, at.G, k);
          }
          for (std::int64_t g = 0; g < at.G; ++g) {
            for (std::int64_t j = 0; j < at.H; ++j) {
              const double da = saved.values[at.row(pseudo_layer, t, b, g, j)];
              const double dr = saved.values[at.row(pseudo_layer, t, b, recurrent_row(at, g), j)];
              const auto add = [&](std::int64_t offset, double value) { dparams[Places::at(offset)] += value; };
              for (std::int64_t k = 0; k < width; ++k) {
                add(at.p.W(layer, direction, g) + j * width + k, da * in[Places::at(k)]);
              }
              for (std::int64_t k = 0; k < at.H; ++k) {
                add(at.p.R(layer, direction, g) + j * at.H + k, dr * h[Places::at(k)]);
              }
              add(at.p.bW(layer, direction, g) + j, da);
              add(at.p.bR(layer, direction, g) + j, dr);
            }
          }
        }
      }
    }
  }
}

}  // namespace backgauge::cudnn::standin
