// Instructions become calls to functions in software. What the functions
// compute is tested in test/Execution/emulate.

// RUN: blockscale-opt %s --blockscale-emulate-mma | FileCheck %s
// RUN: blockscale-opt %s --blockscale-emulate-mma --convert-scf-to-cf --convert-vector-to-llvm --convert-gpu-to-nvvm | FileCheck %s --check-prefix=NVVM --implicit-check-not=_mlir_ciface_emulated_mma_sync_mxf8

// The example of the pass' description.

// CHECK-LABEL: gpu.module @kernels
// CHECK:         gpu.func @step(%[[A:.*]]: vector<4xi32>, %[[B:.*]]: vector<2xi32>, %[[C:.*]]: vector<4xf32>, %[[SA:.*]]: i32, %[[SB:.*]]: i32,
// CHECK-DAG:       %[[A_BYTE:.*]] = arith.constant 3 : i32
// CHECK-DAG:       %[[A_THREAD:.*]] = arith.constant 1 : i32
// CHECK-DAG:       %[[B_BYTE:.*]] = arith.constant 0 : i32
// CHECK-DAG:       %[[B_THREAD:.*]] = arith.constant 2 : i32
// CHECK:           %[[D:.*]] = func.call @emulated_mma_sync_mxf8f6f4_e4m3_e2m1_ue8m0_1x(%[[A]], %[[B]], %[[C]], %[[SA]], %[[A_BYTE]], %[[A_THREAD]], %[[SB]], %[[B_BYTE]], %[[B_THREAD]])
// CHECK:           vector.store %[[D]]

// Shuffles are in no branch; the only regions are loops.

// CHECK:         func.func private @emulated_mma_sync_mxf8f6f4_e4m3_e2m1_ue8m0_1x(
// CHECK-NOT:       scf.if
// CHECK-COUNT-4:   gpu.shuffle
// CHECK:           scf.for
// CHECK-COUNT-4:     gpu.shuffle
// CHECK:             scf.for
// CHECK-NOT:           gpu.shuffle
// CHECK-COUNT-4:   arith.truncf {{.*}} : f64 to f32
// CHECK:           return

// LLVM must neither inline it nor move calls into a branch; and there is no
// wrapper for C.

// NVVM:      llvm.func internal @emulated_mma_sync_mxf8f6f4_e4m3_e2m1_ue8m0_1x(
// NVVM-SAME: passthrough = ["noinline", "convergent"]
gpu.module @kernels {
  gpu.func @step(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                 %sa: i32, %sb: i32, %out: memref<32x4xf32>) {
    %lane = gpu.lane_id
    %c0 = arith.constant 0 : index
    %d = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
         %a, %b, %c, %sa[3, 1], %sb[0, 2]
    vector.store %d, %out[%lane, %c0] : memref<32x4xf32>, vector<4xf32>
    gpu.return
  }
}

// One function for each instruction, for all users. An existing name is
// not used again.

// CHECK-LABEL: gpu.module @several
// CHECK:         gpu.func @first
// CHECK:           call @[[MXF4:emulated_mma_sync_mxf4_e2m1_e2m1_ue8m0_2x]](
// CHECK:           call @[[NVF4:emulated_mma_sync_mxf4nvf4_e2m1_e2m1_ue4m3_4x_[0-9]+]](
// CHECK:         func.func @second
// CHECK:           call @[[NVF4]](
// CHECK:         func.func private @emulated_mma_sync_mxf4nvf4_e2m1_e2m1_ue4m3_4x(i32)
// CHECK:         func.func private @[[MXF4]](
// CHECK:         func.func private @[[NVF4]](
// CHECK-NOT:     func.func
gpu.module @several {
  gpu.func @first(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                  %s: i32) {
    %d = blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>
         %a, %b, %c, %s[2, 0], %s[0, 0]
    %e = blockscale.mma_sync <mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
         %a, %b, %d, %s[0, 0], %s[0, 3]
    gpu.return
  }
  func.func @second(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                    %s: i32) -> vector<4xf32> {
    %d = blockscale.mma_sync <mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
         %a, %b, %c, %s[0, 1], %s[0, 0]
    return %d : vector<4xf32>
  }
  func.func private @emulated_mma_sync_mxf4nvf4_e2m1_e2m1_ue4m3_4x(i32)
}

// A module without instructions does not change.

// CHECK-LABEL: gpu.module @none
// CHECK-NEXT:    gpu.func @nothing() {
// CHECK-NEXT:      gpu.return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
gpu.module @none {
  gpu.func @nothing() {
    gpu.return
  }
}
