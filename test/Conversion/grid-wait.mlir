// The wait for the kernel in front is inline assembly that clobbers memory: no
// load moves in front of it. What lets the next one start is as upstream has it.

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
