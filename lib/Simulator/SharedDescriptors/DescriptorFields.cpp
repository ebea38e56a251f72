//===- DescriptorFields.cpp - Bit fields of descriptors -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and prints the fields of matrix descriptors and instruction
// descriptors.
//
//===----------------------------------------------------------------------===//

#include "SharedDescriptors/DescriptorFields.h"

#include "Memory/Storage.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static uint64_t get(uint64_t word, const DescriptorField &field) {
  return word >> field.first & llvm::maskTrailingOnes<uint64_t>(field.bits);
}

uint64_t sim::getField(uint64_t word, llvm::ArrayRef<DescriptorField> fields,
                       llvm::StringRef name) {
  for (const DescriptorField &field : fields)
    if (field.name == name)
      return get(word, field);
  return 0;
}

std::string sim::printFields(uint64_t word,
                             llvm::ArrayRef<DescriptorField> fields) {
  std::string text = printHex(word) + " {";
  for (const DescriptorField &field : fields) {
    if (&field != fields.begin())
      text += ", ";
    text += field.name.str() + " " + std::to_string(get(word, field));
  }
  return text + "}";
}

uint64_t sim::getReserved(uint64_t word,
                          llvm::ArrayRef<DescriptorField> fields) {
  for (const DescriptorField &field : fields)
    word &= ~(llvm::maskTrailingOnes<uint64_t>(field.bits) << field.first);
  return word;
}
