// --entry keeps one function and what it calls.

// RUN: blockscale-compile %s --target=cpu --emit=tile | FileCheck %s --check-prefix=ALL
// RUN: blockscale-compile %s --target=cpu --emit=tile --entry=first | FileCheck %s --check-prefix=FIRST
// RUN: blockscale-compile %s --target=cpu --emit=tile --entry=helper | FileCheck %s --check-prefix=HELPER

// RUN: %python %S/Inputs/expect.py 1 blockscale-compile %s --target=cpu --entry=none 2>&1 | FileCheck %s --check-prefix=NONE -DFILE=%s
// NONE: error: '[[FILE]]': expected a function 'none' in the module, got none
// NONE-NOT: error:

// RUN: %python %S/Inputs/expect.py 1 blockscale-compile %s --target=cpu --entry=external 2>&1 | FileCheck %s --check-prefix=EXTERNAL -DFILE=%s
// EXTERNAL: error: '[[FILE]]': function 'external' has no body
// EXTERNAL-NOT: error:

// ALL-DAG:    func.func @first
// ALL-DAG:    func.func @second
// ALL-DAG:    func.func private @helper

// FIRST-NOT:  @second
// FIRST:      func.func @first
// FIRST:      func.func private @helper
// FIRST-NOT:  @second

// HELPER-NOT: @first
// HELPER:     func.func @helper
// HELPER-NOT: @first

func.func private @external(f32) -> f32

func.func @first(%a: f32) -> f32 {
  %0 = call @helper(%a) : (f32) -> f32
  return %0 : f32
}

func.func @second(%a: f32) -> f32 {
  return %a : f32
}

func.func private @helper(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f32
  return %0 : f32
}
