//===- ElementStorage.h - Elements in files and buffers ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How elements of an MLIR type are kept in .npy files, and in the buffers of
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
  /// What is written, and the first choice when reading.
  DType dtype;
  /// Also taken when reading, where the type has no sign of its own.
  std::optional<DType> alternative;
  /// Bits of an element that may be set: fewer than the dtype has for fp6,
  /// fp4 and i1.
  unsigned width;
};

/// The storage of `elementType`; nullopt if programs cannot take or give it.
std::optional<ElementStorage> getElementStorage(Type elementType);

/// Checks that `array` can be an argument of type `type`: dtype, shape, and
/// that no code has bits above its width.
Error checkArgument(const NpyArray &array, RankedTensorType type);

/// A random argument of `type`: finite codes of narrow formats (scales near 1,
/// so that sums stay finite), numbers in [-1, 1) and small integers otherwise.
/// Codes that are scales (see ScaleArguments.h) have no sign bit. Dynamic sizes
/// are an error.
Result<NpyArray> drawArgument(RankedTensorType type, bool areScales,
                              std::mt19937_64 &engine);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_ELEMENTSTORAGE_H
