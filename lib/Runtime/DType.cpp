//===- DType.cpp - Element types of .npy files ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of element types of .npy files; entries out of order do not
// compile.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/DType.h"

#include <cstddef>
#include <iterator>

using namespace mlir;
using namespace mlir::blockscale;

/// In the order of `DType`: the enumerator is the row's index.
static constexpr DTypeInfo dtypeTable[] = {
    {DType::U1, "u1", 1, DTypeKind::Unsigned},
    {DType::I1, "i1", 1, DTypeKind::Signed},
    {DType::U2, "u2", 2, DTypeKind::Unsigned},
    {DType::I2, "i2", 2, DTypeKind::Signed},
    {DType::F2, "f2", 2, DTypeKind::Float},
    {DType::U4, "u4", 4, DTypeKind::Unsigned},
    {DType::I4, "i4", 4, DTypeKind::Signed},
    {DType::F4, "f4", 4, DTypeKind::Float},
    {DType::U8, "u8", 8, DTypeKind::Unsigned},
    {DType::I8, "i8", 8, DTypeKind::Signed},
    {DType::F8, "f8", 8, DTypeKind::Float},
};

static constexpr bool isIndexedByDType() {
  for (size_t i = 0; i < std::size(dtypeTable); ++i)
    if (static_cast<size_t>(dtypeTable[i].dtype) != i)
      return false;
  return true;
}
static_assert(isIndexedByDType());

const DTypeInfo &blockscale::getDTypeInfo(DType dtype) {
  return dtypeTable[static_cast<size_t>(dtype)];
}

const DTypeInfo *blockscale::lookupDType(std::string_view code) {
  for (const DTypeInfo &row : dtypeTable)
    if (row.code == code)
      return &row;
  return nullptr;
}

std::string blockscale::listDTypeCodes() {
  std::string list;
  for (const DTypeInfo &row : dtypeTable)
    list.append(list.empty() ? "" : " ").append(row.code);
  return list;
}
