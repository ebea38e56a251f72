//===- TensorMapOperands.cpp - Tensor maps of instructions ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies, stores, reductions and prefetches name a tensor map and coordinates
// in the same way.
//
//===----------------------------------------------------------------------===//

#include "Copies/TensorMapOperands.h"

#include "Copies/CopyInstructions.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

std::optional<unsigned> sim::takeTensorMode(Translator &t,
                                            Modifiers &modifiers) {
  static constexpr llvm::StringRef refused[] = {
      "im2col",         "im2col_no_offs", "im2col::w",
      "im2col::w::128", "tile::gather4",  "tile::scatter4"};
  if (std::optional<unsigned> mode = modifiers.takeOneOf(refused)) {
    t.fail("not supported in this version: tensor copies with ." +
           refused[*mode]);
    return std::nullopt;
  }
  modifiers.take("tile");
  static constexpr llvm::StringRef ranks[] = {"1d", "2d", "3d", "4d", "5d"};
  std::optional<unsigned> rank = modifiers.takeOneOf(ranks);
  if (rank)
    return *rank + 1;
  t.fail("expected a rank from .1d to .5d behind .tensor");
  return std::nullopt;
}

bool sim::takeTensorMap(Translator &t, const PtxOperand &operand, unsigned rank,
                        AddressSpace &space, int64_t &offset, Slot &base,
                        llvm::SmallVectorImpl<Slot> &coordinates) {
  if (operand.kind != PtxOperand::Kind::Address ||
      operand.elements.size() != 2) {
    t.fail(operand.location,
           "expected a tensor map and coordinates in brackets");
    return false;
  }
  PtxOperand map = operand;
  map.elements.resize(1);
  std::optional<Translator::Address> address =
      t.address(map, AddressSpace::Generic);
  if (!address)
    return false;
  space = address->space;
  offset = address->offset;
  base = address->base;
  t.sources(operand.elements[1], Type::S32, rank, coordinates);
  return !t.hasFailed();
}

const BoundTensorMap *sim::findTensorMap(Warp &warp, unsigned lane,
                                         const TensorMapUse &use) {
  std::optional<uint64_t> address =
      getLaneValue(warp, use.base, lane, "an address");
  if (!address)
    return nullptr;
  *address += use.offset;
  std::string place = printHex(*address);
  AddressSpace space = use.space;
  Span span;
  if (!warp.resolve(lane, space, *address, tensorMapBytes, tensorMapAlignment,
                    /*isStore=*/false, span))
    return nullptr;
  if (space == AddressSpace::Shared || space == AddressSpace::Local) {
    warp.fail(lane, "expected a tensor map in the parameters of the kernel, "
                    "constant or global memory, got the address " +
                        place);
    return nullptr;
  }
  const BoundTensorMap *map = warp.block.launch.tensorMaps->lookup(span.bytes);
  if (span.states &&
      llvm::any_of(llvm::ArrayRef(span.states, tensorMapBytes),
                   [](uint8_t state) { return state & ByteUndefined; }))
    map = nullptr;
  if (!map)
    warp.fail(lane, "expected a tensor map at " + place +
                        ", got other bytes: expected an address of a tmap: "
                        "parameter, or of a copy of one");
  return map;
}

const BoundTensorMap *
sim::findTensorMap(Warp &warp, unsigned lane, const TensorMapUse &use,
                   llvm::ArrayRef<Slot> slots,
                   llvm::SmallVectorImpl<int32_t> &values) {
  const BoundTensorMap *bound = findTensorMap(warp, lane, use);
  if (!bound)
    return nullptr;
  const TensorMap &map = bound->map;
  if (map.getRank() != slots.size()) {
    warp.fail(lane, "expected a tensor map of rank " +
                        llvm::Twine(slots.size()) +
                        ", as the instruction has, got rank " +
                        llvm::Twine(map.getRank()));
    return nullptr;
  }
  for (Slot slot : slots) {
    std::optional<uint64_t> value =
        getLaneValue(warp, slot, lane, "a coordinate");
    if (!value)
      return nullptr;
    values.push_back(static_cast<int32_t>(*value));
  }
  int64_t alignment = map.type->getCoordinateAlignment();
  if (values[0] % alignment == 0)
    return bound;
  warp.fail(lane, "expected a first coordinate that is a multiple of " +
                      llvm::Twine(alignment) + " with a tensor map of " +
                      llvm::StringRef(map.type->name) + ", got " +
                      llvm::Twine(values[0]));
  return nullptr;
}
