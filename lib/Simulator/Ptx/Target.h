//===- Target.h - The names of targets --------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Source: PTX ISA, section 11.1.2 "PTX Module Directives: .target".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_PTX_TARGET_H
#define BLOCKSCALE_LIB_SIMULATOR_PTX_TARGET_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace mlir::blockscale::sim {

/// Such as sm_90, sm_90a or sm_120f.
struct Target {
  unsigned number;
  /// 'a': of this architecture alone, 'f': of its family; else 0.
  char suffix;

  static std::optional<Target> parse(llvm::StringRef name) {
    Target target = {};
    if (!name.consume_front("sm_") || name.consumeInteger(10, target.number) ||
        (!name.empty() && name != "a" && name != "f"))
      return std::nullopt;
    target.suffix = name.empty() ? 0 : name[0];
    return target;
  }

  /// Whether it may use what only its architecture or family has.
  bool isSpecific() const { return suffix != 0; }
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_PTX_TARGET_H
