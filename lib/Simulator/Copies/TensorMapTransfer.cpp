//===- TensorMapTransfer.cpp - The bytes of a tensor copy -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a tensor copy does to elements: fill outside of the tensor, rounding to
// tf32, packing of 6-bit elements, reductions.
//
//===----------------------------------------------------------------------===//

#include "Copies/TensorMapTransfer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

using Kind = BoxPiece::Kind;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Rounds to the 10 bits of a tf32's fraction, to nearest even, as an H200
/// does: there is one NaN, and subnormal values are kept.
static uint32_t roundToTF32(uint32_t bits) {
  constexpr uint32_t infinity = 0x7F800000, nan = 0x7FFFE000;
  constexpr unsigned dropped = 13;
  if ((bits & 0x7FFFFFFF) > infinity)
    return nan;
  bits += (1u << (dropped - 1)) - 1 + (bits >> dropped & 1);
  return bits >> dropped << dropped;
}

/// Subnormal values become zeros of the same sign.
static uint32_t roundAndFlush(uint32_t bits) {
  bits = roundToTF32(bits);
  return bits & 0x7F800000 ? bits : bits & 0x80000000;
}

namespace {
/// The conversion of elements by a load, for a type of the tensor map.
struct ElementRule {
  llvm::StringRef type;
  uint32_t (*convert)(uint32_t bits) = nullptr;
};
} // namespace

static constexpr ElementRule kElementRules[] = {
    {"tf32", roundToTF32},
    {"tf32ftz", roundAndFlush},
};

/// The bytes that fill elements of all floating-point types with FILL=nan, as
/// measured on an H200.
static constexpr std::array<uint8_t, 2> kNanBytes = {0xF7, 0x7F};

TensorMapTransfer::TensorMapTransfer(const TensorMap &map, TensorBox box,
                                     bool isLoad)
    : box(std::move(box)), isLoad(isLoad),
      transactionBytes(getTransactionBytes(map)) {
  for (const ElementRule &rule : kElementRules)
    if (rule.type == llvm::StringRef(map.type->name))
      convert = rule.convert;
  if (map.fill == TensorMapFill::Nan)
    for (unsigned i = 0; i != fill.size(); ++i)
      fill[i] = kNanBytes[i % kNanBytes.size()];
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

void TensorMapTransfer::read(const Span &tensor, std::vector<uint8_t> &bytes,
                             std::vector<uint8_t> &states) const {
  bytes.assign(box.size, 0);
  states.assign(box.size, 0);
  for (const BoxPiece &piece : box.pieces) {
    uint8_t *to = bytes.data() + piece.shared;
    uint8_t *toStates = states.data() + piece.shared;
    switch (piece.kind) {
    case Kind::Copy:
      std::memcpy(to, tensor.bytes + piece.global, piece.size);
      if (tensor.states)
        for (uint32_t i = 0; i != piece.size; ++i)
          toStates[i] = tensor.states[piece.global + i] & ByteUndefined;
      break;
    case Kind::Fill:
      // Pieces begin and end between elements.
      for (uint32_t i = 0; i != piece.size; ++i)
        to[i] = fill[i % fill.size()];
      continue;
    case Kind::Gap:
      std::memset(toStates, ByteUndefined, piece.size);
      continue;
    case Kind::Pack6:
      continue;
    }
    for (uint32_t i = 0; convert && i != piece.size; i += sizeof(uint32_t)) {
      uint32_t element;
      std::memcpy(&element, to + i, sizeof element);
      element = convert(element);
      std::memcpy(to + i, &element, sizeof element);
    }
  }
}

void TensorMapTransfer::markPending(uint8_t *states) const {
  for (const BoxPiece &piece : box.pieces)
    for (uint32_t i = 0; i != piece.size; ++i)
      states[piece.shared + i] |= BytePending;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static void writeRun(const uint8_t *bytes, const uint8_t *states, uint32_t size,
                     Span to) {
  std::memcpy(to.bytes, bytes, size);
  auto isUndefined = [](uint8_t state) { return (state & ByteUndefined) != 0; };
  if (states && llvm::any_of(llvm::ArrayRef(states, size), isUndefined))
    to.ensureStates();
  for (uint32_t i = 0; to.states && i != size; ++i)
    to.states[i] = states ? states[i] & ByteUndefined : 0;
}

/// Packs the low 6 bits of each byte. A packed byte with a bit of an undefined
/// byte is undefined.
static void pack6(const uint8_t *bytes, const uint8_t *states, uint32_t size,
                  Span to) {
  for (uint32_t i = 0; i != size; i += 4) {
    uint32_t bits = 0;
    for (unsigned j = 0; j != 4; ++j)
      bits |= uint32_t(bytes[i + j] & 0x3F) << 6 * j;
    uint8_t packed[3], packedStates[3];
    for (unsigned j = 0; j != 3; ++j) {
      packed[j] = bits >> 8 * j;
      // Byte j has bits of elements j and j + 1.
      packedStates[j] = states ? states[i + j] | states[i + j + 1] : 0;
    }
    writeRun(packed, packedStates, sizeof packed, to.at(i / 4 * 3));
  }
}

void TensorMapTransfer::combine(const BoxPiece &piece, const uint8_t *bytes,
                                const uint8_t *states, Span to) const {
  unsigned step = operation->getBytes();
  for (uint32_t i = 0; i != piece.size; i += step) {
    uint64_t operand = 0;
    uint8_t undefined = 0;
    std::memcpy(&operand, bytes + i, step);
    for (unsigned j = 0; states && j != step; ++j)
      undefined |= (states[i + j] & ByteUndefined) << j;
    Span element = to.at(i);
    operation->apply(element, operand, undefined);
  }
}

void TensorMapTransfer::write(const std::vector<uint8_t> &bytes,
                              const std::vector<uint8_t> &states,
                              Span destination) const {
  for (const BoxPiece &piece : box.pieces) {
    const uint8_t *from = bytes.data() + piece.shared;
    const uint8_t *fromStates =
        states.empty() ? nullptr : states.data() + piece.shared;
    Span to = destination.at(isLoad ? piece.shared : piece.global);
    if (operation)
      combine(piece, from, fromStates, to);
    else if (piece.kind == Kind::Pack6)
      pack6(from, fromStates, piece.size, to);
    else
      writeRun(from, fromStates, piece.size, to);
  }
}
