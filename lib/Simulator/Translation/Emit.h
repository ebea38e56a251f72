//===- Emit.h - Steps of lanewise operations --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits the step of an operation from the operands of an instruction. The
// operation is a template over the type, and one switch here selects the
// instance.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_EMIT_H
#define BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_EMIT_H

#include "Arithmetic/Lanewise.h"
#include "Translation/Translator.h"

namespace mlir::blockscale::sim {

template <typename Op>
void emitOperation(Translator &t, llvm::ArrayRef<Slot> slots, const Op &op,
                   StepClass kind = StepClass::Arithmetic) {
  const void *form = nullptr;
  if constexpr (!std::is_empty_v<Op>)
    form = t.keep(op);
  t.emit(executeOperation<Op>, kind, slots, form);
}

/// Emits an operation for a type of one element, or of two that are packed.
template <typename Op>
void emitElements(Translator &t, Type type, llvm::ArrayRef<Slot> slots,
                  const Op &op) {
  using Result = typename Op::Result;
  if constexpr (sizeof(Result) < 8)
    if (getTypeInfo(type).elements == 2) {
      using Pair = std::conditional_t<sizeof(Result) == 2, uint32_t, uint64_t>;
      return emitOperation(t, slots, Packed<Op, Pair, 2>(op));
    }
  emitOperation(t, slots, op);
}

inline void failType(Translator &t, Type type, llvm::StringRef expected) {
  t.fail("expected a type out of " + expected + " behind " + t.current->opcode +
         ", got ." + std::string(getName(type)));
}

/// Emits Op<T>(arguments...) for the C++ type of an integer type; an error if
/// it has none of 16 to 64 bits.
template <template <typename> class Op, typename... Arguments>
void emitInteger(Translator &t, Type type, llvm::ArrayRef<Slot> slots,
                 Arguments... arguments) {
  switch (type) {
  case Type::U16:
  case Type::B16:
    return emitOperation(t, slots, Op<uint16_t>{{}, arguments...});
  case Type::U32:
  case Type::B32:
    return emitOperation(t, slots, Op<uint32_t>{{}, arguments...});
  case Type::U64:
  case Type::B64:
    return emitOperation(t, slots, Op<uint64_t>{{}, arguments...});
  case Type::S16:
    return emitOperation(t, slots, Op<int16_t>{{}, arguments...});
  case Type::S32:
    return emitOperation(t, slots, Op<int32_t>{{}, arguments...});
  case Type::S64:
    return emitOperation(t, slots, Op<int64_t>{{}, arguments...});
  default:
    return failType(t, type, "integers of 16, 32 and 64 bits");
  }
}

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_EMIT_H
