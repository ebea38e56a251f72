//===- DescriptorFields.h - Bit fields of descriptors -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A descriptor is an integer of 32 or 64 bits with named fields, which tables
// define.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_DESCRIPTORFIELDS_H
#define BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_DESCRIPTORFIELDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::blockscale::sim {

struct DescriptorField {
  llvm::StringRef name;
  unsigned first, bits;
};

/// The value of the field with a name; 0 if there is no such field.
uint64_t getField(uint64_t word, llvm::ArrayRef<DescriptorField> fields,
                  llvm::StringRef name);

/// All fields with their values.
std::string printFields(uint64_t word, llvm::ArrayRef<DescriptorField> fields);

/// Bits that belong to no field.
uint64_t getReserved(uint64_t word, llvm::ArrayRef<DescriptorField> fields);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_DESCRIPTORFIELDS_H
