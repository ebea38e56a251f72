//===- Types.h - The types of PTX -------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The types of PTX: those of registers and variables, and those that only
// instructions name (`.bf16x2`, `.e4m3x2`, `.ue8m0`).
//
// Source: PTX ISA, sections 5.2 "Types" and 5.2.3 "Alternate Floating-Point
// Data Formats".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_PTX_TYPES_H
#define BLOCKSCALE_LIB_SIMULATOR_PTX_TYPES_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace mlir::blockscale::sim {

/// The order is the order of the rows in the table of types.
// clang-format off
enum class Type : uint8_t {
  Pred,
  B1, B4, B8, B16, B32, B64, B128,
  U4, U8, U16, U32, U64,
  S4, S8, S16, S32, S64,
  F16, F16x2, BF16, BF16x2, TF32, F32, F32x2, F64,
  E4M3, E5M2, E3M2, E2M3, E2M1, UE8M0, UE4M3,
  E4M3x2, E5M2x2, E3M2x2, E2M3x2, E2M1x2, UE8M0x2,
  E4M3x4, E5M2x4, E3M2x4, E2M3x4, E2M1x4,
  U16x2, S16x2, U8x4, S8x4,
  B8x16, B6x16P32, B4x16P64,
};
// clang-format on

enum class TypeClass : uint8_t { Predicate, Untyped, Unsigned, Signed, Float };

/// One row of the table of types.
struct TypeInfo {
  Type type;
  /// The name behind the dot.
  std::string_view name;
  TypeClass kind;
  /// Bits of the whole value; 1 for a predicate.
  unsigned bits;
  /// How many elements a packed type has; else 1.
  unsigned elements;
  /// Whether registers and variables can be declared with it.
  bool isDeclarable;
};

const TypeInfo &getTypeInfo(Type type);

/// The type of this name (without the dot); nullopt if there is none.
std::optional<Type> lookupType(std::string_view name);

inline unsigned getBits(Type type) { return getTypeInfo(type).bits; }
/// Bytes in memory of a type that fills whole bytes.
inline unsigned getBytes(Type type) { return (getBits(type) + 7) / 8; }
inline std::string_view getName(Type type) { return getTypeInfo(type).name; }

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_PTX_TYPES_H
