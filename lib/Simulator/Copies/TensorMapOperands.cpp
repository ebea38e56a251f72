//===- TensorMapOperands.cpp - Tensor maps of instructions ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the tensor map and the coordinates that copies, stores, reductions and
// prefetches share.
//
//===----------------------------------------------------------------------===//

#include "Copies/TensorMapOperands.h"

#include "Copies/CopyInstructions.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

std::optional<TensorCopyMode> sim::takeTensorCopyMode(Translator &t,
                                                      Modifiers &modifiers) {
  static constexpr llvm::StringRef refused[] = {"im2col", "im2col_no_offs",
                                                "im2col::w", "im2col::w::128"};
  if (std::optional<unsigned> mode = modifiers.takeOneOf(refused))
    return t.error("not supported in this version: tensor copies with ." +
                   refused[*mode]);
  TensorCopyMode mode = {};
  mode.isGather = modifiers.take("tile::gather4");
  mode.isScatter = modifiers.take("tile::scatter4");
  modifiers.take("tile");
  static constexpr llvm::StringRef ranks[] = {"1d", "2d", "3d", "4d", "5d"};
  std::optional<unsigned> rank = modifiers.takeOneOf(ranks);
  if (!rank)
    return t.error("expected a rank from .1d to .5d behind .tensor");
  mode.numCoordinates = *rank + 1;
  if (!mode.isOfRows())
    return mode;
  if (mode.numCoordinates != 2)
    return t.error(
        "expected .2d with .tile::gather4 and .tile::scatter4, got ." +
        ranks[*rank]);
  mode.numCoordinates = 1 + kFewRows;
  return mode;
}

bool sim::takeTensorMap(Translator &t, const PtxOperand &operand,
                        unsigned count, AddressSpace &space, int64_t &offset,
                        Slot &base, llvm::SmallVectorImpl<Slot> &coordinates) {
  if (operand.kind != PtxOperand::Kind::Address || operand.elements.size() != 2)
    return t.error(operand.location,
                   "expected a tensor map and coordinates in brackets");
  PtxOperand map = operand;
  map.elements.resize(1);
  space = AddressSpace::Generic;
  base = t.address(map, space, offset);
  t.sources(operand.elements[1], Type::S32, count, coordinates);
  return !t.hasFailed();
}

std::optional<BoundTensorMap> sim::findTensorMap(Warp &warp, unsigned lane,
                                                 const TensorMapUse &use) {
  std::optional<uint64_t> address =
      getLaneValue(warp, use.base, lane, "an address");
  if (!address)
    return std::nullopt;
  *address += use.offset;
  std::string addressName = printHex(*address);
  AddressSpace space = use.space;
  Span span;
  if (!warp.resolve(lane, space, *address, tensorMapBytes, tensorMapAlignment,
                    /*isStore=*/false, span))
    return std::nullopt;
  if (space == AddressSpace::Shared || space == AddressSpace::SharedCluster ||
      space == AddressSpace::Local)
    return warp.error(lane,
                      "expected a tensor map in the parameters of the kernel, "
                      "constant or global memory, got the address " +
                          addressName);
  std::optional<TensorMapFields> fields =
      readTensorMap(warp, lane, span, addressName);
  if (!fields)
    return std::nullopt;
  Result<BoundTensorMap> bound = fields->bind(*warp.block.launch.memory);
  if (bound)
    return *bound;
  return warp.error(lane, "the tensor map at " + addressName + ": " +
                              bound.message());
}

std::optional<TensorMapFields>
sim::readTensorMap(Warp &warp, unsigned lane, const Span &span,
                   const std::string &addressName) {
  std::optional<TensorMapFields> fields = TensorMapFields::read(span.bytes);
  if (span.states &&
      llvm::any_of(llvm::ArrayRef(span.states, tensorMapBytes),
                   [](uint8_t state) { return state & ByteUndefined; }))
    fields = std::nullopt;
  if (!fields)
    warp.fail(lane, "expected a tensor map at " + addressName +
                        ", got other bytes: expected an address of a tmap: "
                        "parameter, or of a copy of one");
  return fields;
}

/// Widens the box of the map to the rows of a gather4 or scatter4 copy; false
/// after a failure.
static bool widenToRows(Warp &warp, unsigned lane, TensorMap &map) {
  if (map.box[1] != 1)
    return warp.error(lane, "expected a tensor map whose box has one row with "
                            ".tile::gather4 and .tile::scatter4, got one of " +
                                llvm::Twine(map.box[1]));
  map.box[1] = kFewRows;
  map.elementStrides[1] = 1;
  return true;
}

std::optional<BoundTensorMap>
sim::findTensorMap(Warp &warp, unsigned lane, const TensorMapUse &use,
                   llvm::ArrayRef<Slot> slots,
                   llvm::SmallVectorImpl<int32_t> &values) {
  std::optional<BoundTensorMap> bound = findTensorMap(warp, lane, use);
  if (!bound)
    return std::nullopt;
  TensorMap &map = bound->map;
  size_t rank = use.isOfRows ? 2 : slots.size();
  if (map.getRank() != rank)
    return warp.error(lane, "expected a tensor map of rank " +
                                llvm::Twine(rank) +
                                ", as the instruction has, got rank " +
                                llvm::Twine(map.getRank()));
  if (use.isOfRows && !widenToRows(warp, lane, map))
    return std::nullopt;
  for (Slot slot : slots) {
    std::optional<uint64_t> value =
        getLaneValue(warp, slot, lane, "a coordinate");
    if (!value)
      return std::nullopt;
    values.push_back(static_cast<int32_t>(*value));
  }
  int64_t alignment = map.type->getCoordinateAlignment();
  if (values[0] % alignment == 0)
    return bound;
  return warp.error(lane, "expected a first coordinate that is a multiple of " +
                              llvm::Twine(alignment) +
                              " with a tensor map of " +
                              llvm::StringRef(map.type->name) + ", got " +
                              llvm::Twine(values[0]));
}
