//===- ElementStorage.h - Elements in files and buffers ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The storage of elements of an MLIR type in .npy files, and in the buffers of
// programs compiled for the CPU, which have the same bytes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_ELEMENTSTORAGE_H
#define BLOCKSCALE_DRIVER_ELEMENTSTORAGE_H

#include "blockscale/Runtime/Npy.h"
#include "mlir/IR/BuiltinTypes.h"

#include <random>

namespace mlir::blockscale {

/// The storage of one element type.
struct ElementStorage {
  /// The dtype for writing, and the preferred one for reading.
  DType dtype;
  /// Another dtype that is accepted for reading, if the type has no signedness.
  std::optional<DType> alternative;
  /// Bits of an element that may be set: fewer than the dtype has for fp6,
  /// fp4 and i1.
  unsigned width;
};

/// The storage of `elementType`; nullopt if programs cannot have it as an
/// argument or result.
std::optional<ElementStorage> getElementStorage(Type elementType);

/// Checks that `array` can be an argument of type `type`: dtype, shape, and
/// that no code has bits above its width.
Error checkArgument(const NpyArray &array, RankedTensorType type);

/// A random argument of `type`: finite codes of narrow formats (scales near 1,
/// so that sums stay finite), floats in [-1, 1), and small integers. Codes of
/// scales (see ScaleArguments.h) have no sign bit. Dynamic sizes are an error.
Result<NpyArray> drawArgument(RankedTensorType type, bool areScales,
                              std::mt19937_64 &engine);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_ELEMENTSTORAGE_H
