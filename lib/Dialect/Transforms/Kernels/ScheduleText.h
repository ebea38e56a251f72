//===- ScheduleText.h - Numbers of schedules ------------------ -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_SCHEDULETEXT_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_SCHEDULETEXT_H

#include "mlir/Support/LLVM.h"

namespace mlir::blockscale {

/// Takes `name=AxB...` with so many numbers off the start of `text`, and the
/// comma behind it, if more follows. Texts of all schedules are made of such.
bool takeNumbers(StringRef &text, StringRef name,
                 MutableArrayRef<int64_t> numbers);

/// Takes `name=A` off the start of `text` if it is there; false if what is
/// there is something else behind the name.
bool takeOptional(StringRef &text, StringRef name,
                  MutableArrayRef<int64_t> numbers);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_SCHEDULETEXT_H
