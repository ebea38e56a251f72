//===- PassRunning.cpp - Passes whose failures are explained --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream passes may fail without a diagnostic; then an error is added.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/PassRunning.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::blockscale;

LogicalResult blockscale::runPasses(ModuleOp module,
                                    function_ref<void(OpPassManager &)> build,
                                    bool verifies) {
  PassManager pm(module.getContext());
#ifdef NDEBUG
  // Verify once at the end: verifying after each pass takes 10% of the time.
  pm.enableVerifier(false);
#endif
  build(pm);
  bool hasError = false;
  ScopedDiagnosticHandler counter(
      module.getContext(), [&](Diagnostic &diagnostic) {
        hasError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
        return failure(); // Another handler prints it.
      });
  if (succeeded(pm.run(module)) && (!verifies || succeeded(verify(module))))
    return success();
  if (!hasError)
    emitError(module.getLoc(), "lowering failed");
  return failure();
}
