// Fragments of 16-bit elements: registers of a lane, which loops carry.

// RUN: blockscale-opt %s -split-input-file --pass-pipeline="builtin.module(gpu.module(gpu.func(blockscale-to-fragments)),canonicalize,cse)" | FileCheck %s

// A warp has 16 rows of A and 16 of B. A step is 32 bytes of rows, and 16 rows
// of B that is transposed, whose rows are steps along K: a lane passes a row of
// 16 bytes of one of the four matrices, in the order of its registers.

// CHECK-LABEL: gpu.func @steps(
// CHECK-SAME:    workgroup(%[[A:[a-z0-9]+]] : memref<16x64xi8, {{[^%]*}}, %[[B:[a-z0-9]+]] : memref<32x32xi8,
// CHECK:         %[[LANE:.*]] = gpu.lane_id
// CHECK:         blockscale.load_matrix %[[A]][%{{.*}}] code_bits = 8 : {{.*}} -> vector<4xi32>
// CHECK:         blockscale.load_matrix %[[B]][%{{.*}}] code_bits = 16 transposed : {{.*}} -> vector<4xi32>
// CHECK:         %[[LOOP:.*]]:16 = scf.for {{.*}} -> (i32, i32, i32, i32, i32, i32, i32, i32, f32, f32, f32, f32, f32, f32, f32, f32)
// CHECK-DAG:       blockscale.load_matrix %[[A]]
// CHECK-DAG:       blockscale.load_matrix %[[B]][%{{.*}}] + 512 code_bits = 16 transposed
// CHECK:           nvvm.mma.sync A[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] B[%{{.*}}, %{{.*}}] C[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
// CHECK:           nvvm.mma.sync
// CHECK-NOT:       nvvm.mma.sync
// CHECK:           scf.yield
gpu.module @kernels {
  gpu.func @steps(%d: memref<16x16xf32> {llvm.align = 16 : i64}, %count: index)
      workgroup(%a : memref<16x64xi8, #gpu.address_space<workgroup>>,
                %b : memref<32x32xi8, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = blockscale.acc_zero : !blockscale.acc<16x16, #blockscale.warps<1x1>>
    %first = blockscale.load_fragments %a, %b step = 0
        of !blockscale.acc<16x16, #blockscale.warps<1x1>>
        instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>
        layouts = <k, slots, swizzled>, <mn, slots, swizzled>
        : memref<16x64xi8, #gpu.address_space<workgroup>>,
          memref<32x32xi8, #gpu.address_space<workgroup>>
        -> !blockscale.fragments<8>
    %loop:2 = scf.for %i = %c0 to %count step %c1 iter_args(%step = %first, %acc = %zero)
        -> (!blockscale.fragments<8>, !blockscale.acc<16x16, #blockscale.warps<1x1>>) {
      %next = blockscale.load_fragments %a, %b step = 1
          of !blockscale.acc<16x16, #blockscale.warps<1x1>>
          instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>
          layouts = <k, slots, swizzled>, <mn, slots, swizzled>
          : memref<16x64xi8, #gpu.address_space<workgroup>>,
            memref<32x32xi8, #gpu.address_space<workgroup>>
          -> !blockscale.fragments<8>
      %sum = blockscale.fragments_mma %step, %acc
          instruction = <dequant_mma, 16x8x16, unscaled, bf16, bf16, none, 0>
          : !blockscale.fragments<8>, !blockscale.acc<16x16, #blockscale.warps<1x1>>
      scf.yield %next, %sum : !blockscale.fragments<8>, !blockscale.acc<16x16, #blockscale.warps<1x1>>
    }
    blockscale.acc_store %loop#1, %d[%c0, %c0]
        : !blockscale.acc<16x16, #blockscale.warps<1x1>>, memref<16x16xf32>
    gpu.return
  }
}

// -----

// A tile_mma of these is the same for all steps of the tile. fp16 is multiplied
// as pairs of its type.

// CHECK-LABEL: gpu.func @tile(
// CHECK-COUNT-4: blockscale.load_matrix
// CHECK:         llvm.bitcast %{{.*}} : i32 to vector<2xf16>
// CHECK:         nvvm.mma.sync
// CHECK:         nvvm.mma.sync
// CHECK-NOT:     nvvm.mma.sync
gpu.module @kernels {
  gpu.func @tile(%d: memref<16x8xf32> {llvm.align = 16 : i64})
      workgroup(%a : memref<16x64xi8, #gpu.address_space<workgroup>>,
                %b : memref<8x64xi8, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %none = arith.constant 0 : i8
    %zero = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %sum = blockscale.tile_mma %a, %none, %b, %none, %zero types = <f16, f16, none, 1> instruction =
        <dequant_mma, 16x8x16, unscaled, f16, f16, none, 0>
        {a_layout = #blockscale.tile_layout<k, slots, swizzled>, b_layout = #blockscale.tile_layout<k, slots, swizzled>}
        : memref<16x64xi8, #gpu.address_space<workgroup>>, i8, memref<8x64xi8, #gpu.address_space<workgroup>>, i8,
          !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_store %sum, %d[%c0, %c0]
        : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
    gpu.return
  }
}
