//===- ScheduleText.cpp - Numbers of schedules ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The grammar that texts of schedules share, whatever their parts are.
//
//===----------------------------------------------------------------------===//

#include "Kernels/ScheduleText.h"

using namespace mlir;
using namespace mlir::blockscale;

bool blockscale::takeNumbers(StringRef &text, StringRef name,
                             MutableArrayRef<int64_t> numbers) {
  if (!text.consume_front(name) || !text.consume_front("="))
    return false;
  for (auto [i, number] : llvm::enumerate(numbers))
    if ((i != 0 && !text.consume_front("x")) || text.starts_with("-") ||
        text.consumeInteger(10, number))
      return false;
  return text.empty() || (text.consume_front(",") && !text.empty());
}

bool blockscale::takeOptional(StringRef &text, StringRef name,
                              MutableArrayRef<int64_t> numbers) {
  return !text.starts_with(name) || takeNumbers(text, name, numbers);
}
