//===- TensorMapTransfer.h - The bytes of a tensor copy ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor copy is a bulk copy between a box in shared memory and a tensor. It
// keeps the bytes that it has read in the layout of shared memory; a transfer
// knows where each of them belongs.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPTRANSFER_H
#define BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPTRANSFER_H

#include "Copies/TensorMapBox.h"
#include "Memory/ElementOperation.h"

#include <optional>

namespace mlir::blockscale::sim {

struct TensorMapTransfer {
  TensorMapTransfer(const TensorMap &map, TensorBox box, bool isLoad);

  /// Reads a box from the tensor that begins at `tensor`.
  void read(const Span &tensor, std::vector<uint8_t> &bytes,
            std::vector<uint8_t> &states) const;
  /// Marks the bytes of a box as pending.
  void markPending(uint8_t *states) const;
  /// Writes a box to shared memory (a load) or to the tensor, whose first byte
  /// is at `destination`.
  void write(const std::vector<uint8_t> &bytes,
             const std::vector<uint8_t> &states, Span destination) const;

  TensorBox box;
  bool isLoad;
  uint64_t transactionBytes;
  /// The reduction of old and new elements by a store; if there is none, new
  /// elements replace old ones.
  std::optional<ElementOperation> operation;

private:
  void combine(const BoxPiece &piece, const uint8_t *bytes,
               const uint8_t *states, Span to) const;

  /// The bytes of an element outside of the tensor, repeated.
  std::array<uint8_t, 8> fill = {};
  /// The conversion of a 32-bit element by a load; null if there is none.
  uint32_t (*convert)(uint32_t bits) = nullptr;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_COPIES_TENSORMAPTRANSFER_H
