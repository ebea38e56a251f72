// Accumulators that are quantized in registers.

// RUN: blockscale-opt %s --pass-pipeline="builtin.module(blockscale-attach-target{target=sm_90a},gpu.module(gpu.func(blockscale-to-fragments)),canonicalize,cse)" -split-input-file -verify-diagnostics | FileCheck %s
// RUN: blockscale-opt %s --pass-pipeline="builtin.module(blockscale-attach-target{target=sm_100a},gpu.module(gpu.func(blockscale-to-fragments)),canonicalize,cse)" -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=NATIVE

// Four lanes have pairs of four blocks in each of two rows: two exchanges for
// the largest of each block, four for the elements, and then each lane stores a
// block, and its scale.

// CHECK-LABEL: gpu.func @powers(
// CHECK-NOT:     arith.divf
// CHECK-COUNT-8: gpu.shuffle xor
// CHECK-COUNT-4: gpu.shuffle xor
// CHECK-COUNT-8: nvvm.prmt
// CHECK:         vector.store %{{.*}} {alignment = 16 : i64} : memref<16x64xi8>, vector<16xi8>
// CHECK:         memref.store %{{.*}} : memref<1x1x32x16xi8>
// CHECK-COUNT-12: gpu.shuffle xor
// CHECK-NOT:     gpu.shuffle
// CHECK:         vector.store %{{.*}} {alignment = 16 : i64} : memref<16x64xi8>, vector<16xi8>
// CHECK:         memref.store %{{.*}} : memref<1x1x32x16xi8>
// CHECK-NOT:     store
// NATIVE-LABEL: gpu.func @powers(
// NATIVE-COUNT-32: nvvm.convert.f32x2.to.f4x2
// NATIVE-NOT:    nvvm.convert
// NATIVE:        gpu.return
gpu.module @kernels {
  gpu.func @powers(%sums: memref<16x128xf32>, %elements: memref<16x64xi8>,
                   %scales: memref<1x1x32x16xi8>) {
    %c0 = arith.constant 0 : index
    %m = arith.constant 16 : index
    %n = arith.constant 128 : index
    %acc = blockscale.acc_load %sums[%c0, %c0] in_bounds
        : memref<16x128xf32> -> !blockscale.acc<16x128, #blockscale.warps<1x1>>
    blockscale.acc_quantize %acc at(%c0, %c0) of(%m, %n) to %elements, %scales in_bounds {
    ^bb0(%e: f32, %row: index, %column: index):
      blockscale.yield %e : f32
    } {element = f4E2M1FN, scale = f8E8M0FNU, block_size = 32 : i64, code_bits = 4 : i64,
       rule = #blockscale.scale_rule<rceil>}
      : !blockscale.acc<16x128, #blockscale.warps<1x1>>, memref<16x64xi8>, memref<1x1x32x16xi8>
    gpu.return
  }
}

// -----

// Each lane computes the divisor and the reciprocal of one block of four; with a
// tensor scale either quotient may be needed. Rows may end inside of the tile.

// CHECK-LABEL: gpu.func @divisors(
// CHECK:         scf.if %{{.*}} -> (i32)
// CHECK-COUNT-3: arith.divf
// CHECK-COUNT-8: gpu.shuffle idx
// CHECK-NOT:     arith.divf
// CHECK-COUNT-64: math.fma
// CHECK:         scf.if
// CHECK:           vector.store %{{.*}} {alignment = 8 : i64} : memref<10x32xi8>, vector<8xi8>
// CHECK:         } else {
// CHECK:         llvm.atomicrmw umax
gpu.module @kernels {
  gpu.func @divisors(%sums: memref<10x64xf32>, %elements: memref<10x32xi8>,
                     %scales: memref<10x4xi8>, %g: f32, %amax: memref<f32>) {
    %c0 = arith.constant 0 : index
    %m = arith.constant 10 : index
    %n = arith.constant 64 : index
    %acc = blockscale.acc_load %sums[%c0, %c0]
        : memref<10x64xf32> -> !blockscale.acc<16x64, #blockscale.warps<1x1>>
    blockscale.acc_quantize %acc at(%c0, %c0) of(%m, %n) tensor_scale(%g) to %elements, %scales
        amax %amax {
    ^bb0(%e: f32, %row: index, %column: index):
      blockscale.yield %e : f32
    } {element = f4E2M1FN, scale = f8E4M3FN, block_size = 16 : i64, code_bits = 4 : i64}
      : !blockscale.acc<16x64, #blockscale.warps<1x1>>, memref<10x32xi8>, memref<10x4xi8>, memref<f32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @narrow(%elements: memref<16x16xi8>, %scales: memref<16x1xi8>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x16, #blockscale.warps<1x1>>
    // expected-error@+1 {{'blockscale.acc_quantize' op expected whole blocks of 32 columns in each warp, got '!blockscale.acc<16x16, #blockscale.warps<1x1>>'}}
    blockscale.acc_quantize %acc at(%c0, %c0) of(%c0, %c0) to %elements, %scales {
    ^bb0(%e: f32, %row: index, %column: index):
      blockscale.yield %e : f32
    } {element = f8E4M3FN, scale = f8E8M0FNU, block_size = 32 : i64, code_bits = 8 : i64,
       rule = #blockscale.scale_rule<rceil>}
      : !blockscale.acc<16x16, #blockscale.warps<1x1>>, memref<16x16xi8>, memref<16x1xi8>
    gpu.return
  }
}

// -----

// Pairs of columns: 64 of them in each row, in lanes as in an accumulator of as
// many columns.

// CHECK-LABEL: gpu.func @pairs(
// CHECK-COUNT-32: arith.mulf
// CHECK-COUNT-8: gpu.shuffle xor
// CHECK-COUNT-8: gpu.shuffle xor
// CHECK-NOT:     gpu.shuffle
// CHECK-COUNT-2: vector.store %{{.*}} {alignment = 16 : i64} : memref<16x64xi8>, vector<16xi8>
// CHECK:         memref.store %{{.*}} : memref<16x2xi8>
// CHECK-NOT:     store
gpu.module @pairs_kernels {
  gpu.func @pairs(%sums: memref<16x128xf32>, %elements: memref<16x64xi8>, %scales: memref<16x2xi8>) {
    %c0 = arith.constant 0 : index
    %m = arith.constant 16 : index
    %n = arith.constant 128 : index
    %acc = blockscale.acc_load %sums[%c0, %c0] in_bounds
        : memref<16x128xf32> -> !blockscale.acc<16x128, #blockscale.warps<1x1>>
    blockscale.acc_quantize %acc at(%c0, %c0) of(%m, %n) to %elements, %scales in_bounds pairs {
    ^bb0(%x: f32, %y: f32, %row: index, %column: index):
      %e = arith.mulf %x, %y : f32
      blockscale.yield %e : f32
    } {element = f8E4M3FN, scale = f8E8M0FNU, block_size = 32 : i64, code_bits = 8 : i64, rule = #blockscale.scale_rule<rceil>}
      : !blockscale.acc<16x128, #blockscale.warps<1x1>>, memref<16x64xi8>, memref<16x2xi8>
    gpu.return
  }
}

// -----

// Lanes 2 apart exchange elements first, and have neighboring pairs then.

// CHECK-LABEL: gpu.func @interleaved_pairs(
// CHECK-COUNT-16: gpu.shuffle xor %{{.*}}, %c2_i32
// CHECK:         gpu.shuffle xor %{{.*}}, %c2_i32
// CHECK:         gpu.shuffle xor %{{.*}}, %c1_i32
// CHECK-COUNT-8: vector.store %{{.*}} : memref<16x32xi8>, vector<2xi8>
// CHECK:         memref.store %{{.*}} : memref<16x1xi8>
// CHECK-NOT:     store
gpu.module @interleaved_pairs_kernels {
  gpu.func @interleaved_pairs(%sums: memref<16x64xf32>, %elements: memref<16x32xi8>, %scales: memref<16x1xi8>) {
    %c0 = arith.constant 0 : index
    %m = arith.constant 16 : index
    %n = arith.constant 64 : index
    %acc = blockscale.acc_load %sums[%c0, %c0] in_bounds
        : memref<16x64xf32> -> !blockscale.acc<16x64, #blockscale.warps<1x1, interleave = 1x2>>
    blockscale.acc_quantize %acc at(%c0, %c0) of(%m, %n) to %elements, %scales in_bounds pairs {
    ^bb0(%x: f32, %y: f32, %row: index, %column: index):
      %e = arith.mulf %x, %y : f32
      blockscale.yield %e : f32
    } {element = f8E4M3FN, scale = f8E8M0FNU, block_size = 32 : i64, code_bits = 8 : i64, rule = #blockscale.scale_rule<rceil>}
      : !blockscale.acc<16x64, #blockscale.warps<1x1, interleave = 1x2>>, memref<16x32xi8>, memref<16x1xi8>
    gpu.return
  }
}
