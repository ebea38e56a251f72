//===- ZeroColumnMask.cpp - Columns of B that count as 0 ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The columns of D are split in one, two or four parts for 128, 64 or 32 rows,
// and each part has its own mask with its own start. Cases that the section
// contradicts or leaves open are refused.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/ZeroColumnMask.h"

#include "SharedDescriptors/DescriptorFields.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr DescriptorField kFields[] = {
    {"start_count_0", 0, 8},  {"start_count_1", 8, 8}, {"start_count_2", 16, 8},
    {"start_count_3", 24, 8}, {"first_span_0", 32, 1}, {"first_span_1", 33, 1},
    {"first_span_2", 34, 1},  {"first_span_3", 35, 1}, {"non_zero_mask", 39, 1},
    {"skip_span", 40, 8},     {"use_span", 48, 8},     {"column_shift", 56, 6},
};

/// The most rows of all parts together.
static constexpr unsigned kMaxM = 128;

Result<ZeroColumnMask> ZeroColumnMask::decode(uint64_t bits, unsigned m,
                                              unsigned n) {
  auto describe = [&](const std::string &text) {
    return text +
           " in a zero-column mask descriptor for M = " + std::to_string(m) +
           ", got " + printFields(bits, kFields);
  };
  auto field = [&](const std::string &name) {
    return static_cast<unsigned>(getField(bits, kFields, name));
  };
  if (getReserved(bits, kFields))
    return Error(describe("expected 0 in the reserved bits"));
  ZeroColumnMask mask;
  mask.shift = field("column_shift");
  unsigned maxShift = m == 32 ? 16 : 32;
  if (mask.shift > maxShift)
    return Error(describe("expected a column_shift of at most " +
                          std::to_string(maxShift)));
  if (!field("non_zero_mask"))
    return mask;
  // The ISA does not say whether the mask is for columns of B or of D.
  if (mask.shift)
    return Error("not supported in this version: " +
                 describe("a mask and a column_shift"));
  // The table has 0 bits where the examples of the same section have 1 bits.
  unsigned span = field("skip_span") + 1;
  if (field("use_span") + 1 != span)
    return Error("not supported in this version: " +
                 describe("a skip_span that differs from the use_span, for "
                          "which the PTX ISA is contradictory,"));
  unsigned numParts = kMaxM / m, columns = n / numParts;
  for (unsigned part = 0; part != numParts; ++part) {
    std::string number = std::to_string(part);
    unsigned start = field("start_count_" + number);
    bool isFirstZero = field("first_span_" + number);
    for (unsigned column = 0; column != columns; ++column)
      mask.zeros.push_back(((start + column) / span % 2 == 0) == isFirstZero);
  }
  return mask;
}
