//===- Types.cpp - The types of PTX ---------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of types, with look-up by name or by enumerator.
//
//===----------------------------------------------------------------------===//

#include "Ptx/Types.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

// clang-format off
static constexpr TypeInfo kTypes[] = {
  {Type::Pred,     "pred",      TypeClass::Predicate, 1,   1,  true},
  {Type::B1,       "b1",        TypeClass::Untyped,   1,   1,  false},
  {Type::B4,       "b4",        TypeClass::Untyped,   4,   1,  false},
  {Type::B8,       "b8",        TypeClass::Untyped,   8,   1,  true},
  {Type::B16,      "b16",       TypeClass::Untyped,   16,  1,  true},
  {Type::B32,      "b32",       TypeClass::Untyped,   32,  1,  true},
  {Type::B64,      "b64",       TypeClass::Untyped,   64,  1,  true},
  {Type::B128,     "b128",      TypeClass::Untyped,   128, 1,  true},
  {Type::U4,       "u4",        TypeClass::Unsigned,  4,   1,  false},
  {Type::U8,       "u8",        TypeClass::Unsigned,  8,   1,  true},
  {Type::U16,      "u16",       TypeClass::Unsigned,  16,  1,  true},
  {Type::U32,      "u32",       TypeClass::Unsigned,  32,  1,  true},
  {Type::U64,      "u64",       TypeClass::Unsigned,  64,  1,  true},
  {Type::S4,       "s4",        TypeClass::Signed,    4,   1,  false},
  {Type::S8,       "s8",        TypeClass::Signed,    8,   1,  true},
  {Type::S16,      "s16",       TypeClass::Signed,    16,  1,  true},
  {Type::S32,      "s32",       TypeClass::Signed,    32,  1,  true},
  {Type::S64,      "s64",       TypeClass::Signed,    64,  1,  true},
  {Type::F16,      "f16",       TypeClass::Float,     16,  1,  true},
  {Type::F16x2,    "f16x2",     TypeClass::Float,     32,  2,  true},
  {Type::BF16,     "bf16",      TypeClass::Float,     16,  1,  false},
  {Type::BF16x2,   "bf16x2",    TypeClass::Float,     32,  2,  false},
  {Type::TF32,     "tf32",      TypeClass::Float,     32,  1,  false},
  {Type::F32,      "f32",       TypeClass::Float,     32,  1,  true},
  {Type::F32x2,    "f32x2",     TypeClass::Float,     64,  2,  false},
  {Type::F64,      "f64",       TypeClass::Float,     64,  1,  true},
  {Type::E4M3,     "e4m3",      TypeClass::Float,     8,   1,  false},
  {Type::E5M2,     "e5m2",      TypeClass::Float,     8,   1,  false},
  {Type::E3M2,     "e3m2",      TypeClass::Float,     6,   1,  false},
  {Type::E2M3,     "e2m3",      TypeClass::Float,     6,   1,  false},
  {Type::E2M1,     "e2m1",      TypeClass::Float,     4,   1,  false},
  {Type::UE8M0,    "ue8m0",     TypeClass::Float,     8,   1,  false},
  {Type::UE4M3,    "ue4m3",     TypeClass::Float,     8,   1,  false},
  {Type::E4M3x2,   "e4m3x2",    TypeClass::Float,     16,  2,  false},
  {Type::E5M2x2,   "e5m2x2",    TypeClass::Float,     16,  2,  false},
  {Type::E3M2x2,   "e3m2x2",    TypeClass::Float,     16,  2,  false},
  {Type::E2M3x2,   "e2m3x2",    TypeClass::Float,     16,  2,  false},
  {Type::E2M1x2,   "e2m1x2",    TypeClass::Float,     8,   2,  false},
  {Type::UE8M0x2,  "ue8m0x2",   TypeClass::Float,     16,  2,  false},
  {Type::E4M3x4,   "e4m3x4",    TypeClass::Float,     32,  4,  false},
  {Type::E5M2x4,   "e5m2x4",    TypeClass::Float,     32,  4,  false},
  {Type::E3M2x4,   "e3m2x4",    TypeClass::Float,     32,  4,  false},
  {Type::E2M3x4,   "e2m3x4",    TypeClass::Float,     32,  4,  false},
  {Type::E2M1x4,   "e2m1x4",    TypeClass::Float,     16,  4,  false},
  {Type::U16x2,    "u16x2",     TypeClass::Unsigned,  32,  2,  false},
  {Type::S16x2,    "s16x2",     TypeClass::Signed,    32,  2,  false},
  {Type::U8x4,     "u8x4",      TypeClass::Unsigned,  32,  4,  false},
  {Type::S8x4,     "s8x4",      TypeClass::Signed,    32,  4,  false},
  {Type::B8x16,    "b8x16",     TypeClass::Untyped,   128, 16, false},
  {Type::B6x16P32, "b6x16_p32", TypeClass::Untyped,   128, 16, false},
  {Type::B4x16P64, "b4x16_p64", TypeClass::Untyped,   128, 16, false},
};
// clang-format on

const TypeInfo &sim::getTypeInfo(Type type) {
  return kTypes[static_cast<unsigned>(type)];
}

std::optional<Type> sim::lookupType(std::string_view name) {
  static const llvm::StringMap<Type> types = [] {
    llvm::StringMap<Type> map;
    for (const TypeInfo &info : kTypes)
      map[info.name] = info.type;
    return map;
  }();
  auto found = types.find(name);
  if (found == types.end())
    return std::nullopt;
  return found->second;
}
