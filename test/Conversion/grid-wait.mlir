// The wait for the previous kernel is inline assembly that clobbers memory: no
// load moves in front of it. Upstream's lowering starts the next one.

// RUN: blockscale-opt %s --convert-blockscale-to-nvvm | FileCheck %s

// CHECK-LABEL: gpu.func @k(
// CHECK:         llvm.inline_asm has_side_effects "griddepcontrol.wait;", "~{memory}" : () -> ()
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
module attributes {blockscale.target = #blockscale.target<sm_90a>} {
  gpu.module @kernels {
    gpu.func @k() kernel {
      nvvm.griddepcontrol wait
      nvvm.griddepcontrol launch_dependents
      gpu.return
    }
  }
}
