//===- OperandInRegisters.cpp - The quantized A of wgmma ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes of its K chunks.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Problem/OperandInRegisters.h"

#include "blockscale/Support/SparseMetadata.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;

Format blockscale::getFormatInRegisters(const TypeCombination &types) {
  return types.sparsity ? types.lhs : types.rhs;
}

/// The logical elements of so many bits of the operand in registers.
static int64_t getElementsOfBits(const TypeCombination &types, int64_t bits) {
  int64_t elements =
      bits / getFormatInfo(getFormatInRegisters(types)).storedBits();
  return types.sparsity ? elements * kUnitsPerChunk / kKeptUnits : elements;
}

int64_t blockscale::getMixedInputChunk(const TypeCombination &types) {
  constexpr int64_t kByteBits = 8;
  return getElementsOfBits(types, kQuantizedChunkBytes * kByteBits);
}

int64_t blockscale::getMixedInputUnit(const TypeCombination &types,
                                      bool isDynamic) {
  constexpr int64_t kRowBits = 128;
  return std::max<int64_t>(getElementsOfBits(types, kRowBits),
                           types.blockSize * (isDynamic ? 2 : 1));
}
