//===- ElementStorage.cpp - Elements in files and buffers -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/ElementStorage.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

std::optional<ElementStorage> blockscale::getElementStorage(Type type) {
  struct Row {
    bool isFloat;
    unsigned width;
    DType dtype;
    std::optional<DType> alternative;
  };
  static constexpr Row rows[] = {
      {true, 64, DType::F8, std::nullopt}, {true, 32, DType::F4, std::nullopt},
      {false, 64, DType::I8, DType::U8},   {false, 32, DType::I4, DType::U4},
      {false, 16, DType::I2, DType::U2},   {false, 8, DType::I1, DType::U1},
      {false, 1, DType::U1, std::nullopt},
  };
  if (type.isIndex())
    return ElementStorage{DType::I8, DType::U8, 64};
  if (type.isF16())
    return ElementStorage{DType::F2, std::nullopt, 16};
  if (type.isBF16())
    return ElementStorage{DType::U2, std::nullopt, 16};
  if (getElementFormat(type) || getScaleFormat(type))
    return ElementStorage{DType::U1, std::nullopt,
                          type.getIntOrFloatBitWidth()};
  bool isSupported = type.isF32() || type.isF64() || type.isSignlessInteger();
  for (const Row &row : rows)
    if (isSupported && row.isFloat == isa<FloatType>(type) &&
        row.width == type.getIntOrFloatBitWidth())
      return ElementStorage{row.dtype, row.alternative, row.width};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// "(2, 3)", as numpy prints a shape; a dynamic size is "?".
static std::string formatShape(ArrayRef<int64_t> shape) {
  std::string text = "(";
  for (auto [i, size] : llvm::enumerate(shape))
    text += (i ? ", " : "") +
            (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// The position of element `flat` of a row-major array.
static std::string formatIndex(int64_t flat, ArrayRef<int64_t> shape) {
  return formatShape(delinearize(flat, computeStrides(shape)));
}

static std::string formatType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Checks that elements narrower than a byte have no bits above their width.
static Error checkCodes(const NpyArray &array, unsigned width, Type type) {
  if (getDTypeInfo(array.dtype).size != 1 || width == 8)
    return Error::success();
  for (auto [i, code] : llvm::enumerate(array.data))
    if (code >> width != 0)
      return Error("code " + std::to_string(code) + " at " +
                   formatIndex(i, array.shape) + " has bits above the " +
                   std::to_string(width) + " of " + formatType(type) +
                   "; expected one element per byte, not packed");
  return Error::success();
}

/// A hint for messages if a shape is that of packed elements; else empty.
static std::string explainPacking(ArrayRef<int64_t> got, RankedTensorType type,
                                  unsigned width) {
  if (width >= 8 || got.empty() || got.size() != size_t(type.getRank()) ||
      type.isDynamicDim(type.getRank() - 1) ||
      got.back() * 8 != type.getShape().back() * width)
    return "";
  return ", the shape of packed elements; expected one element per byte";
}

Error blockscale::checkArgument(const NpyArray &array, RankedTensorType type) {
  std::optional<ElementStorage> storage =
      getElementStorage(type.getElementType());
  if (!storage)
    return Error("no .npy file can hold " + formatType(type));
  if (array.dtype != storage->dtype && array.dtype != storage->alternative)
    return Error("expected dtype " +
                 std::string(getDTypeInfo(storage->dtype).code) + " for " +
                 formatType(type) + ", got " +
                 std::string(getDTypeInfo(array.dtype).code));
  bool matches = array.shape.size() == static_cast<size_t>(type.getRank());
  for (auto [got, expected] : llvm::zip(array.shape, type.getShape()))
    matches &= ShapedType::isDynamic(expected) || got == expected;
  if (!matches)
    return Error("expected shape " + formatShape(type.getShape()) + " for " +
                 formatType(type) + ", got " + formatShape(array.shape) +
                 explainPacking(array.shape, type, storage->width));
  return checkCodes(array, storage->width, type.getElementType());
}

//===----------------------------------------------------------------------===//
// Random arguments
//===----------------------------------------------------------------------===//

/// A random finite code. Scales are drawn from 2^-4 to 2^4 (ue8m0), or from all
/// finite codes without sign bit (ue4m3).
static uint64_t drawCode(Type type, bool isScale, std::mt19937_64 &engine) {
  std::optional<Format> format =
      isScale ? getScaleFormat(type) : getElementFormat(type);
  if (!format || *format == Format::UE8M0) {
    constexpr unsigned one = 127, spread = 4;
    return one - spread + engine() % (2 * spread + 1);
  }
  for (;;) {
    // Bits that the format ignores stay 0.
    const FormatInfo &info = getFormatInfo(*format);
    unsigned code = engine() & (info.signBits == 0 ? info.magnitudeMask()
                                                   : info.codeMask());
    if (std::isfinite(decode(*format, code)))
      return code;
  }
}

static uint64_t drawBits(Type type, bool isScale, std::mt19937_64 &engine) {
  if (getElementFormat(type) || getScaleFormat(type))
    return drawCode(type, isScale, engine);
  if (auto floatType = dyn_cast<FloatType>(type)) {
    // 11 bits, which every float type of at least 16 bits can hold.
    APFloat value((static_cast<int64_t>(engine() % 256) - 128) / 128.0);
    bool losesInfo;
    value.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return value.bitcastToAPInt().getZExtValue();
  }
  if (type.isInteger(1))
    return engine() & 1;
  return engine() % 16;
}

Result<NpyArray> blockscale::drawArgument(RankedTensorType type, bool areScales,
                                          std::mt19937_64 &engine) {
  std::optional<ElementStorage> storage =
      getElementStorage(type.getElementType());
  if (!storage)
    return Error("no .npy file can hold " + formatType(type));
  if (!type.hasStaticShape())
    return Error("cannot draw " + formatType(type) +
                 ": its sizes are dynamic; give a .npy file for each argument");
  Result<NpyArray> array = makeZeros(storage->dtype, type.getShape());
  if (!array)
    return array;
  unsigned size = array->elementSize();
  for (size_t offset = 0; offset != array->data.size(); offset += size) {
    uint64_t bits = drawBits(type.getElementType(), areScales, engine);
    for (unsigned byte = 0; byte != size; ++byte)
      array->data[offset + byte] = static_cast<uint8_t>(bits >> (8 * byte));
  }
  return array;
}
