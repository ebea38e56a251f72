//===- MatrixElements.cpp - Tables of narrow elements ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types of 8 bits or fewer are decoded by a table of all their values, made
// once from the description of the format.
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixForm.h"
#include "blockscale/Support/Formats.h"

#include <cmath>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {

/// How a slot holds an element: (slot >> shift) & ((1 << bits) - 1).
struct Container {
  Type type;
  unsigned slotBits, shift, bits;
};

} // namespace

// PTX ISA, 9.7.14.5.14: with kind::mxf8f6f4 and kind::f8f6f4, e2m1 is in the
// central four bits of its byte, e3m2 and e2m3 in the low six.
static constexpr Container kContainers[] = {
    {Type::U8, 8, 0, 8},   {Type::S8, 8, 0, 8},   {Type::U4, 4, 0, 4},
    {Type::S4, 4, 0, 4},   {Type::E4M3, 8, 0, 8}, {Type::E5M2, 8, 0, 8},
    {Type::E3M2, 8, 0, 6}, {Type::E2M3, 8, 0, 6}, {Type::E2M1, 8, 2, 4},
    {Type::E2M1, 4, 0, 4},
};

static std::optional<Format> getFormat(Type type) {
  switch (type) {
  case Type::E4M3:
    return Format::E4M3;
  case Type::E5M2:
    return Format::E5M2;
  case Type::E3M2:
    return Format::E3M2;
  case Type::E2M3:
    return Format::E2M3;
  case Type::E2M1:
    return Format::E2M1;
  default:
    return std::nullopt;
  }
}

static double decodeCode(Type type, unsigned bits, unsigned code) {
  if (std::optional<Format> format = getFormat(type))
    return decode(*format, code);
  bool isSigned = getTypeInfo(type).kind == TypeClass::Signed;
  bool isNegative = isSigned && code >> (bits - 1);
  return static_cast<double>(code) - (isNegative ? 1u << bits : 0u);
}

static ElementTable makeTable(const Container &container) {
  ElementTable table = {container.type, container.slotBits, {}, 0, 0, 0, 0};
  unsigned mask = (1u << container.bits) - 1;
  for (unsigned slot = 0; slot != table.values.size(); ++slot)
    table.values[slot] = decodeCode(container.type, container.bits,
                                    slot >> container.shift & mask);

  unsigned padding = ~(mask << container.shift) & 0xFF;
  if (container.slotBits == 8)
    table.padding = padding * 0x01010101u;

  table.lowestBit = 0;
  table.top = 0;
  for (double value : table.values) {
    if (value == 0 || !std::isfinite(value))
      continue;
    table.top = std::max(table.top, std::ilogb(value));
    while (std::ldexp(value, -table.lowestBit) !=
           std::trunc(std::ldexp(value, -table.lowestBit)))
      --table.lowestBit;
  }
  if (std::optional<Format> format = getFormat(container.type))
    table.minExponent = 1 - getFormatInfo(*format).bias;
  return table;
}

const ElementTable *sim::getElementTable(Type type, unsigned slotBits) {
  static const std::vector<ElementTable> tables = [] {
    std::vector<ElementTable> all;
    for (const Container &container : kContainers)
      all.push_back(makeTable(container));
    return all;
  }();
  for (const ElementTable &table : tables)
    if (table.type == type && table.slotBits == slotBits)
      return &table;
  return nullptr;
}
