// SPDX-License-Identifier: Apache-2.0
// Gradients through activations and through the blend of a GRU, in the forms that automatic differentiation gives
// without simplification (Style::through_slope, Style::blend). Mathematically they equal the forms of the equations;
// they differ in rounding, and where infinities or overflow occur.
#pragma once

#include "properties/saboteurs/work.h"

namespace backgauge::saboteurs {

// g s (1 - s)
template <class Real>
Real through_sigmoid(const Work<Real>& w, Real g, Real s) {
  if (w.style().through_slope == ThroughSlope::kFactors) return w.rounded(w.rounded(g * w.rounded(1 - s)) * s);
  const Real g_s = w.rounded(g * s);
  return w.rounded(g_s - w.rounded(g_s * s));
}

// g (1 - t^2)
template <class Real>
Real through_tanh(const Work<Real>& w, Real g, Real t) {
  const Real g_t = w.rounded(g * t);
  if (w.style().through_slope == ThroughSlope::kFactors) {
    return w.rounded(w.rounded(g + g_t) * w.rounded(1 - t));
  }
  return w.rounded(g - w.rounded(g_t * t));
}

// a (b - c)
template <class Real>
Real multiplied_out(const Work<Real>& w, Real a, Real b, Real c) {
  return w.rounded(w.rounded(a * b) - w.rounded(a * c));
}

}  // namespace backgauge::saboteurs
