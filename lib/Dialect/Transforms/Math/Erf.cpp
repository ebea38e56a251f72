//===- Erf.cpp - The error function -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// erf(x) is x times a series if x is small, and 1 - e^-g if it is not:
// g = -ln(1 - erf(x)) is smooth, and its errors have little effect. Polynomials
// are least-squares fits at Chebyshev nodes. Measured by
// benchmarks/math_errors.py.
//
//===----------------------------------------------------------------------===//

#include "Math/MathEmitter.h"

using namespace mlir;
using namespace mlir::blockscale;

using FP = arith::CmpFPredicate;

/// Coefficients of erf(x) / x - 1 in x^2, for x up to 1.
static constexpr double kSmall[] = {
    0.1283791670623715,     -0.3761263847598627,   0.11283782621965069,
    -0.026865438303867173,  0.005221053391344586,  -0.000848439620828297,
    0.00011268251178075141, -9.673582407907634e-06};

/// Coefficients of g in x, for x from 1 to 4; beyond 4, erf is 1.
static constexpr double kLarge[] = {
    -0.0003032129452078536, 1.130166675405154,     0.6319370938515301,
    0.10997824494835448,    -0.026364717257268466, 0.00474022230309579,
    -0.0005927695293202296, 4.559062140447816e-05, -1.61406154884478e-06};

Value blockscale::emitErf(MathEmitter &e, Value x) {
  Value magnitude = e.abs(x);
  Value small = e.fma(magnitude, e.polynomial(e.mul(x, x), kSmall), magnitude);
  Value exponent = e.polynomial(e.clamp(magnitude, 0, 4), kLarge);
  Value large = e.sub(e.number(1), emitExp(e, e.neg(exponent)));
  Value isLarge = e.is(FP::OGT, magnitude, 1);
  return e.copySign(e.select(isLarge, large, small), x);
}
