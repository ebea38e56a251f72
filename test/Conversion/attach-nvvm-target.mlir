// The target of kernels, and the checks that replace those of the NVVM dialect.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_103a --blockscale-attach-nvvm-target=ptx-version=88 --split-input-file | FileCheck %s
// RUN: sed s/sm_103a/sm_90a/ %s | not blockscale-opt --blockscale-attach-target=target=sm_90a --blockscale-attach-nvvm-target --split-input-file 2>&1 | FileCheck %s --check-prefix=SM_90A
// RUN: not blockscale-opt %s --blockscale-attach-target=target=sm_80 --blockscale-attach-nvvm-target --split-input-file 2>&1 | FileCheck %s --check-prefix=SM_80

// SM_90A:     error: 'nvvm.tcgen05.fence' op expected a chip with tcgen05, got sm_90a
// SM_90A-NOT: error
// SM_80:      error: 'nvvm.tcgen05.fence' op expected a chip with tcgen05, got sm_80
// SM_80:      error: 'nvvm.cluster.wait' op is not supported on sm_80

// CHECK-LABEL: gpu.module @tensor [#nvvm.target<chip = "sm_103a", features = "+ptx88", verifyTarget = false>]
gpu.module @tensor {
  llvm.func @fence() {
    nvvm.tcgen05.fence #nvvm.tcgen05_fence<before>
    llvm.return
  }
}

// -----

// CHECK-LABEL: gpu.module @cluster [#nvvm.target<chip = "sm_103a", features = "+ptx88">]
gpu.module @cluster {
  llvm.func @wait() {
    nvvm.cluster.wait {aligned}
    llvm.return
  }
}

// -----

// An existing target stays; the same one is not added twice.

// CHECK-LABEL: gpu.module @others [#nvvm.target<chip = "sm_90">, #nvvm.target<chip = "sm_103a", features = "+ptx88">]
// CHECK-LABEL: gpu.module @same [#nvvm.target<chip = "sm_103a", features = "+ptx88">]
gpu.module @others [#nvvm.target<chip = "sm_90">] {
}
gpu.module @same [#nvvm.target<chip = "sm_103a", features = "+ptx88">] {
}
