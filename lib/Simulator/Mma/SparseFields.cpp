//===- SparseFields.cpp - Fields of sparse metadata -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which fields are legal, and which elements they name.
//
//===----------------------------------------------------------------------===//

#include "Mma/SparseFields.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <bitset>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Whether this field is legal metadata of a chunk: two different indices, in
/// ascending order for ordered metadata and for fp8 and narrower types; for
/// tf32, the two halves of one element.
static bool isLegalField(const MmaForm &form, unsigned field) {
  unsigned first = field & 3, second = field >> 2;
  if (form.metadata->chunk == 2)
    return first % 2 == 0 && second == first + 1;
  bool isNarrowFloat =
      form.slotBits <= 8 && getTypeInfo(form.a).kind == TypeClass::Float;
  bool isOrdered = form.sparsity == Sparsity::Ordered || isNarrowFloat;
  return isOrdered ? first < second : first != second;
}

FieldCheck sim::checkField(const MmaForm &form, unsigned field,
                           const double *kept) {
  if (isLegalField(form, field))
    return FieldCheck::Legal;
  unsigned chunk = form.metadata->chunk;
  // A chunk of tf32 has one kept value, whose halves no 0b0000 names.
  if (field != 0 || chunk == 2)
    return FieldCheck::Illegal;
  bool areZeros = !kept || std::all_of(kept, kept + chunk / 2,
                                       [](double value) { return value == 0; });
  return areZeros ? FieldCheck::OfZeros : FieldCheck::Illegal;
}

static std::string formatField(unsigned field) {
  return "0b" + std::bitset<kFieldBits>(field).to_string();
}

static std::string listLegalFields(const MmaForm &form) {
  llvm::SmallVector<unsigned> legal;
  for (unsigned field = 0; field != 1u << kFieldBits; ++field)
    if (isLegalField(form, field))
      legal.push_back(field);
  std::string text;
  for (unsigned i = 0; i != legal.size(); ++i)
    text += (i == 0                  ? ""
             : i + 1 == legal.size() ? " or "
                                     : ", ") +
            formatField(legal[i]);
  return text;
}

std::string sim::describeField(const MmaForm &form, FieldCheck check,
                               unsigned row, unsigned chunk, unsigned field,
                               const std::string &where) {
  unsigned column = chunk * form.metadata->chunk;
  std::string text = "metadata: expected " + listLegalFields(form) +
                     " for the columns " + std::to_string(column) + " to " +
                     std::to_string(column + form.metadata->chunk - 1) +
                     " of row " + std::to_string(row) + ", got " +
                     formatField(field) + " in " + where;
  if (check == FieldCheck::OfZeros)
    text += ", where the kept values are 0";
  return text;
}

void sim::findPositions(const MetadataLayout &layout, unsigned chunk,
                        unsigned field, uint8_t *positions) {
  unsigned numKept = layout.chunk / 2;
  for (unsigned i = 0; i != numKept; ++i) {
    unsigned position;
    if (layout.chunk == 2) {
      position = (field & 3) / 2;
    } else {
      unsigned width = layout.chunk / 4;
      position = (field >> (2 * (i / width)) & 3) * width + i % width;
    }
    positions[i] = chunk * layout.chunk + position;
  }
}
