//===- QuantizeConstants.cpp - Constants quantised ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic of the folds: f32 on the host, and APFloat for rounding to
// narrow types.
//
//===----------------------------------------------------------------------===//

#include "ConstantFolds.h"
#include "blockscale/Dialect/IR/ScaleRules.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

/// The code of the value of `type` that is nearest to `value`, which is not
/// NaN. Saturates.
static uint8_t encode(float value, FloatType type) {
  APFloat number(value);
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  APFloat largest = APFloat::getLargest(semantics, number.isNegative());
  bool losesInfo = false;
  APFloat limit = largest;
  limit.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  if (std::abs(value) >= std::abs(limit.convertToFloat()))
    number = largest;
  else
    number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

namespace {
/// Quantizes blocks by the rules of one op.
class Quantizer {
public:
  Quantizer(QuantizeOp op, float tensorScale)
      : rule(op.getScaleRule()), element(op.getElementFormat()),
        scale(op.getScaleFormat()), tensorScale(tensorScale),
        elementType(
            cast<FloatType>(getElementTypeOrSelf(op.getElements().getType()))),
        scaleType(
            cast<FloatType>(getElementTypeOrSelf(op.getScales().getType()))) {}

  /// Quantizes a block; returns the code of its scale.
  uint8_t quantize(ArrayRef<float> x, MutableArrayRef<uint8_t> codes) const {
    float amax = 0;
    for (float value : x) {
      if (!std::isfinite(value)) {
        llvm::fill(codes, 0);
        return getScaleNaN(scale);
      }
      amax = std::max(amax, std::abs(value));
    }
    return rule ? quantizeByPower(amax, x, codes)
                : quantizeByNumber(amax, x, codes);
  }

private:
  uint8_t quantizeByPower(float amax, ArrayRef<float> x,
                          MutableArrayRef<uint8_t> codes) const {
    int64_t field =
        (llvm::bit_cast<uint32_t>(amax) + getScaleAddend(*rule, element)) >>
        kF32MantissaBits;
    auto code = std::clamp<int64_t>(field - getLargestExponent(element), 0,
                                    kLastPowerCode);
    constexpr int kBias = 127;
    // A quotient that f32 cannot hold exactly is far below the smallest
    // element.
    for (auto [value, to] : llvm::zip_equal(x, codes))
      to = encode(std::ldexp(value, kBias - static_cast<int>(code)),
                  elementType);
    return code;
  }

  uint8_t quantizeByNumber(float amax, ArrayRef<float> x,
                           MutableArrayRef<uint8_t> codes) const {
    float quotient = amax / kLargestE2M1;
    quotient /= tensorScale;
    uint8_t code = encode(quotient, scaleType);
    float divisor = static_cast<float>(decode(scale, code)) * tensorScale;
    for (auto [value, to] : llvm::zip_equal(x, codes))
      to = encode(code == 0 ? std::copysign(0.0f, value) : value / divisor,
                  elementType);
    return code;
  }

  std::optional<ScaleRule> rule;
  Format element, scale;
  float tensorScale;
  FloatType elementType, scaleType;
};
} // namespace

std::optional<QuantizedConstant>
blockscale::quantizeConstant(DenseElementsAttr x,
                             std::optional<float> tensorScale, QuantizeOp op) {
  auto elementsType = cast<ShapedType>(op.getElements().getType());
  auto scalesType = cast<ShapedType>(op.getScales().getType());
  if (!isSmall(elementsType) || !scalesType.hasStaticShape() ||
      (tensorScale && !(*tensorScale > 0 && std::isfinite(*tensorScale))))
    return std::nullopt;
  SmallVector<float> values;
  for (APFloat value : x.getValues<APFloat>())
    values.push_back(toFloat(value));
  SmallVector<uint8_t> codes(values.size()), scales;
  auto columns = static_cast<size_t>(elementsType.getShape().back());
  Quantizer quantizer(op, tensorScale.value_or(1.0f));
  for (size_t start = 0; start != values.size(); start += columns)
    for (size_t k = 0; k < columns; k += op.getBlock()) {
      size_t count = std::min<size_t>(op.getBlock(), columns - k);
      scales.push_back(
          quantizer.quantize(ArrayRef(values).slice(start + k, count),
                             MutableArrayRef(codes).slice(start + k, count)));
    }
  QuantizedConstant result = {
      makeCodes(elementsType, codes), makeCodes(scalesType, scales), {}};
  if (!op.getAmax())
    return result;
  uint32_t amax = 0;
  for (float value : values)
    amax = std::max(amax, llvm::bit_cast<uint32_t>(value) & kF32Magnitude);
  auto number = FloatAttr::get(
      Float32Type::get(op.getContext()),
      llvm::bit_cast<float>(amax > kF32Infinity ? kF32NaN : amax));
  result.amax = number;
  if (auto tensor = dyn_cast<ShapedType>(op.getAmax().getType()))
    result.amax = DenseElementsAttr::get(tensor, number);
  return result;
}

DenseElementsAttr blockscale::dequantizeConstant(
    DenseElementsAttr elements, DenseElementsAttr scales,
    std::optional<float> tensorScale, DequantizeOp op) {
  auto type = cast<ShapedType>(op.getResult().getType());
  if (!isSmall(type))
    return {};
  auto getCode = [](const APFloat &value) {
    return static_cast<unsigned>(value.bitcastToAPInt().getZExtValue());
  };
  const llvm::fltSemantics &semantics =
      cast<FloatType>(type.getElementType()).getFloatSemantics();
  int64_t columns = type.getShape().back();
  int64_t blocks = llvm::divideCeilSigned(columns, op.getBlock());
  SmallVector<APFloat> values;
  auto scaleCodes = scales.getValues<APFloat>();
  for (auto [i, code] : llvm::enumerate(elements.getValues<APFloat>())) {
    auto at = static_cast<int64_t>(i);
    int64_t block = at / columns * blocks + at % columns / op.getBlock();
    auto value = static_cast<float>(
        decode(op.getElementFormat(), getCode(code)) *
        decode(op.getScaleFormat(), getCode(scaleCodes[block])));
    if (tensorScale)
      value *= *tensorScale;
    APFloat number(value);
    bool losesInfo = false;
    number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
    values.push_back(number);
  }
  return DenseElementsAttr::get(type, values);
}
