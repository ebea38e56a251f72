// What each level allows; nothing changes.

// RUN: split-file %s %t
// RUN: blockscale-opt %t/tile.mlir --blockscale-verify-stage=stage=tile -o %t/same.mlir
// RUN: blockscale-opt %t/tile.mlir | diff - %t/same.mlir
// RUN: blockscale-opt %t/kernel.mlir --blockscale-verify-stage=stage=kernel -o /dev/null
// RUN: blockscale-opt %t/instr.mlir --blockscale-verify-stage=stage=instr -o /dev/null
// RUN: blockscale-opt %t/nvvm.mlir --blockscale-verify-stage=stage=nvvm -o /dev/null

// Each level refuses what the one before it has.

// RUN: not blockscale-opt %t/no-path.mlir --blockscale-verify-stage=stage=tile 2>&1 | FileCheck %s --check-prefix=NO-PATH
// NO-PATH: no-path.mlir:{{[0-9:]*}}: error: 'blockscale.mma_scaled' is not allowed on the host at the stage 'tile'
// RUN: not blockscale-opt %t/lower.mlir --blockscale-verify-stage=stage=tile 2>&1 | FileCheck %s --check-prefix=LOWER
// LOWER: lower.mlir:{{[0-9:]*}}: error: 'blockscale.acc_zero' is not allowed on the host at the stage 'tile'
// RUN: not blockscale-opt %t/tile.mlir --blockscale-verify-stage=stage=kernel 2>&1 | FileCheck %s --check-prefix=TILE
// TILE: error: 'blockscale.mma_scaled' is not allowed on the host at the stage 'kernel'
// RUN: not blockscale-opt %t/host.mlir --blockscale-verify-stage=stage=kernel 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: host.mlir:{{[0-9:]*}}: error: 'memref.store' is not allowed on the host at the stage 'kernel'
// RUN: not blockscale-opt %t/kernel.mlir --blockscale-verify-stage=stage=instr 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: error: 'blockscale.acc_zero' is not allowed in a kernel at the stage 'instr'
// RUN: not blockscale-opt %t/instr.mlir --blockscale-verify-stage=stage=nvvm 2>&1 | FileCheck %s --check-prefix=INSTR
// INSTR: error: '{{.*}}' is not allowed in a kernel at the stage 'nvvm'

// RUN: not blockscale-opt %t/nvvm.mlir --blockscale-verify-stage=stage=ptx 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: unknown stage 'ptx', expected one of tile kernel instr nvvm

//--- tile.mlir
func.func @mma(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
               %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
               %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

//--- no-path.mlir
func.func @mma(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
               %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
               %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

//--- lower.mlir
func.func @lower() {
  %0 = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
  return
}

//--- host.mlir
func.func @host(%x: memref<8xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  memref.store %v, %x[%c0] : memref<8xf32>
  return
}

//--- kernel.mlir
module attributes {gpu.container_module} {
  func.func @f(%x: memref<16x8xf32>) {
    %c1 = arith.constant 1 : index
    %t = memref.alloc() : memref<4xf32>
    gpu.launch_func @kernels::@f blocks in (%c1, %c1, %c1)
        threads in (%c1, %c1, %c1) args(%x : memref<16x8xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @f(%x: memref<16x8xf32>) kernel {
      %c0 = arith.constant 0 : index
      %0 = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
      blockscale.acc_store %0, %x[%c0, %c0]
          : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
      gpu.return
    }
  }
}

//--- instr.mlir
gpu.module @kernels {
  gpu.func @step(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                 %s: i32) {
    %d = blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>
         %a, %b, %c, %s[0, 0], %s[0, 0]
    gpu.return
  }
}

//--- nvvm.mlir
gpu.module @kernels {
  llvm.func @f() attributes {nvvm.kernel} {
    nvvm.barrier0
    llvm.return
  }
}
