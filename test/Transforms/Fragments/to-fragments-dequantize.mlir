// Products of operands that are dequantized to bf16 in registers.

// RUN: blockscale-opt %s --pass-pipeline="builtin.module(blockscale-legalize,gpu.module(gpu.func(blockscale-to-fragments)),canonicalize,cse)" -split-input-file | FileCheck %s

// For A, then for B, the lanes of a warp vote on the codes of scales: in the
// window; then in it or 0, where a loop looks for elements with scales of 0. Two elements of a word are shifted to
// 16 bits, with their sign: 0x9180 are bytes 0 and 1, 0xB3A2 bytes 2 and 3. e4m3
// goes up by 4, e5m2 by 5. A scale is the exponent of a factor that has the power
// of two of the format, 120 for e4m3. While instructions multiply, this thread
// looks for NaN in 16 bytes of A for each of them; then a barrier joins the
// results of all threads.

// CHECK-LABEL: gpu.func @bytes(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<16x128xi8, {{[^,]*}}, %{{[a-z0-9]+}}: memref<16x4xi8, {{[^,]*}}, %[[B:[a-z0-9]+]]: memref<8x128xi8,
// CHECK-DAG:     %[[LOW:.*]] = arith.constant 37248 : i32
// CHECK-DAG:     %[[HIGH:.*]] = arith.constant 45986 : i32
// CHECK-DAG:     %[[MASK_A:.*]] = arith.constant -2014279696 : i32
// CHECK-DAG:     %[[MASK_B:.*]] = arith.constant -1881108512 : i32
// CHECK-DAG:     %[[POWER_A:.*]] = arith.constant 1006648320 : i32
// CHECK-DAG:     %[[POWER_B:.*]] = arith.constant 939538432 : i32
// CHECK-DAG:     %[[SHIFT:.*]] = arith.constant 8388736 : i32
// CHECK-DAG:     %[[FIRST_SCALE:.*]] = arith.constant 17472 : i32
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : i32
// CHECK-DAG:     %[[C5:.*]] = arith.constant 5 : i32
// CHECK-DAG:     %[[TRUE:.*]] = arith.constant true
// CHECK-DAG:     %[[LARGEST:.*]] = arith.constant 3.40282347E+38 : f32
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[INSIDE:.*]] = nvvm.vote.sync all
// CHECK-NEXT:    %[[EXACT_A:.*]] = scf.if %[[INSIDE]] -> (i1) {
// CHECK-NEXT:      scf.yield %[[TRUE]] : i1
// CHECK-NEXT:    } else {
// CHECK:           %[[AT_MOST_ZERO:.*]] = nvvm.vote.sync all
// CHECK:           %[[HERE_INEXACT:.*]] = scf.for
// CHECK:           %[[ANY_INEXACT:.*]] = nvvm.vote.sync any %{{.*}}, %[[HERE_INEXACT]]
// CHECK-NEXT:      %[[KEPT:.*]] = arith.xori %[[ANY_INEXACT]], %[[TRUE]]
// CHECK-NEXT:      %[[OR_ZERO:.*]] = arith.andi %[[AT_MOST_ZERO]], %[[KEPT]]
// CHECK-NEXT:      scf.yield %[[OR_ZERO]]
// CHECK:         %[[INSIDE_B:.*]] = nvvm.vote.sync all
// CHECK-NEXT:    %[[EXACT_B:.*]] = scf.if %[[INSIDE_B]] -> (i1) {
// CHECK:         %[[EXACT:.*]] = arith.andi %[[EXACT_A]], %[[EXACT_B]]
// CHECK:         %[[SUMS:.*]]:5 = scf.if %[[EXACT]] -> (f32, f32, f32, f32, i1) {
// CHECK:           %[[ELEMENTS:.*]] = blockscale.load_matrix %[[A]][%{{.*}}] code_bits = 8 : {{.*}} -> vector<4xi32>
// CHECK-NEXT:      %[[CODE:.*]] = nvvm.prmt <default> %[[FIRST_SCALE]], %{{.*}}, %[[C0]]
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.muli %[[CODE]], %[[SHIFT]]
// CHECK-NEXT:      %[[FACTOR:.*]] = arith.addi %[[EXPONENTS]], %[[POWER_A]]
// CHECK-NEXT:      %[[SCALE:.*]] = llvm.bitcast %[[FACTOR]] : i32 to vector<2xbf16>
// CHECK-NEXT:      %[[WORD:.*]] = vector.extract %[[ELEMENTS]][0]
// CHECK-NEXT:      %[[PAIR:.*]] = nvvm.prmt <default> %[[LOW]], %[[WORD]], %[[C0]]
// CHECK-NEXT:      %[[SHIFTED:.*]] = arith.shli %[[PAIR]], %[[C4]]
// CHECK-NEXT:      %[[MASKED:.*]] = arith.andi %[[SHIFTED]], %[[MASK_A]]
// CHECK-NEXT:      %[[PAIR_2:.*]] = nvvm.prmt <default> %[[HIGH]], %[[WORD]], %[[C0]]
// CHECK-NEXT:      %[[SHIFTED_2:.*]] = arith.shli %[[PAIR_2]], %[[C4]]
// CHECK-NEXT:      arith.andi %[[SHIFTED_2]], %[[MASK_A]]
// CHECK:           %[[X:.*]] = llvm.bitcast %[[MASKED]] : i32 to vector<2xbf16>
// CHECK-NEXT:      %[[SCALED:.*]] = arith.mulf %[[X]], %[[SCALE]] : vector<2xbf16>
// CHECK-NEXT:      %[[A_0:.*]] = llvm.bitcast %[[SCALED]] : vector<2xbf16> to i32
// CHECK:           blockscale.load_matrix %[[B]]
// CHECK:           arith.addi %{{.*}}, %[[POWER_B]]
// CHECK:           nvvm.prmt <default> %[[LOW]]
// CHECK-NEXT:      arith.shli %{{.*}}, %[[C5]]
// CHECK-NEXT:      arith.andi %{{.*}}, %[[MASK_B]]
// CHECK:           nvvm.mma.sync A[%[[A_0]], {{.*}}, {{.*}}, {{.*}}] B[{{.*}}] C[%[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]]] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
// CHECK:           vector.load %{{.*}} {alignment = 16 : i64} : memref<2048xi8, {{.*}}>, vector<16xi8>
// CHECK:           nvvm.mma.sync
// CHECK:           vector.load %{{.*}} {alignment = 16 : i64} : memref<2048xi8, {{.*}}>, vector<16xi8>
// CHECK-COUNT-6:   nvvm.mma.sync
// CHECK-NOT:       nvvm.mma.sync
// CHECK:         } else {
// CHECK-NOT:       nvvm.mma.sync
// CHECK-COUNT-4:   vector.load %{{.*}} : memref<2048xi8, {{.*}}>, vector<16xi8>
// CHECK-COUNT-2:   vector.load %{{.*}} : memref<1024xi8, {{.*}}>, vector<16xi8>
// CHECK-NOT:       nvvm.mma.sync
// CHECK:         %[[INEXACT:.*]] = arith.xori %[[EXACT]], %[[TRUE]]
// CHECK-NEXT:    %[[FOUND:.*]] = arith.extui %[[SUMS]]#4 : i1 to i32
// CHECK-NEXT:    %[[ANY:.*]] = nvvm.barrier #nvvm.reduction<or> %[[FOUND]] -> i32
// CHECK-NEXT:    %[[IS_ANY:.*]] = arith.cmpi ne, %[[ANY]], %[[C0]]
// CHECK-NEXT:    %[[IS_SCALED:.*]] = arith.ori %[[INEXACT]], %[[IS_ANY]]
// CHECK-NEXT:    %[[LEFT_OUT:.*]] = arith.select %[[EXACT]], %[[LARGEST]], %[[ZERO]] : f32
// CHECK-NEXT:    scf.if %[[IS_SCALED]] -> (f32, f32, f32, f32) {
// CHECK:           scf.for {{.*}} = %[[SUMS]]#0,
// CHECK:             %[[HALF:.*]] = nvvm.mma.sync {{.*}} C[%[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]]]
// CHECK:             nvvm.mma.sync
// CHECK-NEXT:        %[[SUM:.*]] = llvm.extractvalue
// CHECK:             arith.maxui
// CHECK:             %[[HALFWAY:.*]] = arith.mulf %[[SUM]], %{{.*}} : f32
// CHECK-NEXT:        %[[PRODUCT:.*]] = arith.mulf %[[HALFWAY]], %{{.*}} : f32
// CHECK-NEXT:        %[[LEAST:.*]] = arith.negf %[[LEFT_OUT]]
// CHECK-NEXT:        %[[ABOVE:.*]] = llvm.intr.maxnum(%[[PRODUCT]], %[[LEAST]])
// CHECK-NEXT:        %[[FINITE:.*]] = llvm.intr.minnum(%[[ABOVE]], %[[LEFT_OUT]])
// CHECK-NEXT:        %[[REST:.*]] = arith.subf %[[PRODUCT]], %[[FINITE]]
// CHECK-NEXT:        arith.addf %{{.*}}, %[[REST]]
// CHECK:         } else {
// CHECK-NEXT:      scf.yield %[[SUMS]]#0, %[[SUMS]]#1, %[[SUMS]]#2, %[[SUMS]]#3
gpu.module @kernels {
  gpu.func @bytes(
      %a: memref<16x128xi8, #gpu.address_space<workgroup>>,
      %sa: memref<16x4xi8, #gpu.address_space<workgroup>>,
      %b: memref<8x128xi8, #gpu.address_space<workgroup>>,
      %sb: memref<8x4xi8, #gpu.address_space<workgroup>>,
      %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
           types = <e4m3, e5m2, ue8m0, 32>
           instruction = <dequant_mma, 16x8x32, bf16, e4m3, e5m2, ue8m0, 1>
           {a_layout = #blockscale.tile_layout<k, slots, swizzled>}
           : memref<16x128xi8, #gpu.address_space<workgroup>>,
             memref<16x4xi8, #gpu.address_space<workgroup>>,
             memref<8x128xi8, #gpu.address_space<workgroup>>,
             memref<8x4xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_store %sum, %d[%c0, %c0]
        : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Four pairs of nibbles come from a word and from itself, shifted: of each byte
// the second one, and the first one. They have no NaN, and their scales no
// window: there is no barrier. An element of A needs two multiplications, the first
// by 2^126. The scale is that of the lane's block of 16, as a bf16 value times
// 2^127, which makes values of A 2^7 too large, and those of B 2^-7 too small.

// CHECK-LABEL: gpu.func @nibbles(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<16x32xi8,
// CHECK-DAG:     %[[P0:.*]] = arith.constant 50304 : i32
// CHECK-DAG:     %[[P1:.*]] = arith.constant 54673 : i32
// CHECK-DAG:     %[[P2:.*]] = arith.constant 59042 : i32
// CHECK-DAG:     %[[P3:.*]] = arith.constant 63411 : i32
// CHECK-DAG:     %[[MASK:.*]] = arith.constant -2118090304 : i32
// CHECK-DAG:     %[[POWER:.*]] = arith.constant 2122350208 : i32
// CHECK-DAG:     %[[SCALE_MASK:.*]] = arith.constant 133171184 : i32
// CHECK-DAG:     %[[SCALE_POWER:.*]] = arith.constant 2130738944 : i32
// CHECK-DAG:     %[[LAST_POWER:.*]] = arith.constant 2004907904 : i32
// CHECK-DAG:     %[[BOTH:.*]] = arith.constant 257 : i32
// CHECK-DAG:     %[[ZEROS:.*]] = arith.constant 16448 : i32
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : i32
// CHECK:         %[[X_2_126:.*]] = llvm.bitcast %[[POWER]]
// CHECK-NOT:     nvvm.barrier
// CHECK:         %[[SUMS:.*]]:4 = scf.if %{{.*}} -> (f32, f32, f32, f32) {
// CHECK:           %[[ELEMENTS:.*]] = blockscale.load_matrix %[[A]][%{{.*}}] code_bits = 8
// CHECK:           %[[BYTES:.*]] = arith.muli %{{.*}}, %[[BOTH]]
// CHECK-NEXT:      %[[SELECTOR:.*]] = arith.addi %[[BYTES]], %[[ZEROS]]
// CHECK-NEXT:      %[[S:.*]] = nvvm.prmt <default> %[[SELECTOR]]
// CHECK-NEXT:      %[[S_4:.*]] = arith.shli %[[S]], %[[C4]]
// CHECK-NEXT:      %[[S_BITS:.*]] = arith.andi %[[S_4]], %[[SCALE_MASK]]
// CHECK-NEXT:      %[[S_PAIR:.*]] = llvm.bitcast %[[S_BITS]]
// CHECK-NEXT:      %[[S_2_127:.*]] = llvm.bitcast %[[SCALE_POWER]]
// CHECK-NEXT:      %[[FACTOR:.*]] = arith.mulf %[[S_PAIR]], %[[S_2_127]] : vector<2xbf16>
// CHECK-NEXT:      %[[WORD:.*]] = vector.extract %[[ELEMENTS]][0]
// CHECK-NEXT:      %[[EVEN:.*]] = arith.shli %[[WORD]], %[[C4]]
// CHECK-NEXT:      %[[PAIR:.*]] = nvvm.prmt <default> %[[P0]], %[[EVEN]], %[[WORD]]
// CHECK-NEXT:      %[[SHIFTED:.*]] = arith.shli %[[PAIR]], %[[C2]]
// CHECK-NEXT:      %[[MASKED:.*]] = arith.andi %[[SHIFTED]], %[[MASK]]
// CHECK-NEXT:      nvvm.prmt <default> %[[P1]], %[[EVEN]], %[[WORD]]
// CHECK:           %[[X:.*]] = llvm.bitcast %[[MASKED]]
// CHECK-NEXT:      %[[NUMBER:.*]] = arith.mulf %[[X]], %[[X_2_126]]
// CHECK-NEXT:      arith.mulf %[[NUMBER]], %[[FACTOR]]
// CHECK:           nvvm.prmt <default> %[[P2]], %[[EVEN]], %[[WORD]]
// CHECK:           nvvm.prmt <default> %[[P3]], %[[EVEN]], %[[WORD]]
// The factor of B has the power of its elements, too, so that one multiplication is enough.
// CHECK:           %[[S_2_112:.*]] = llvm.bitcast %[[LAST_POWER]]
// CHECK-NEXT:      %[[B_FACTOR:.*]] = arith.mulf %{{.*}}, %[[S_2_112]] : vector<2xbf16>
// CHECK:           %[[B_MASKED:.*]] = arith.andi
// CHECK:           %[[B_PAIR:.*]] = llvm.bitcast %[[B_MASKED]]
// CHECK-NEXT:      arith.mulf %[[B_PAIR]], %[[B_FACTOR]] : vector<2xbf16>
// CHECK-COUNT-4:   nvvm.mma.sync
// CHECK-NOT:       nvvm.mma.sync
// CHECK:         } else {
// Two blocks in a step: only the elements of A in the block are kept.
// CHECK-COUNT-4:   nvvm.mma.sync
// CHECK-NOT:     {{nvvm.barrier|minnum|nvvm.mma.sync}}
gpu.module @kernels {
  gpu.func @nibbles(
      %a: memref<16x32xi8, #gpu.address_space<workgroup>>,
      %sa: memref<16x4xi8, #gpu.address_space<workgroup>>,
      %b: memref<8x32xi8, #gpu.address_space<workgroup>>,
      %sb: memref<8x4xi8, #gpu.address_space<workgroup>>,
      %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
           types = <e2m1, e2m1, ue4m3, 16>
           instruction = <dequant_mma, 16x8x64, bf16_packed, e2m1, e2m1, ue4m3, 4>
           : memref<16x32xi8, #gpu.address_space<workgroup>>,
             memref<16x4xi8, #gpu.address_space<workgroup>>,
             memref<8x32xi8, #gpu.address_space<workgroup>>,
             memref<8x4xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_store %sum, %d[%c0, %c0]
        : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Packed fp4 with the other operand in bytes: of 16 elements a lane has the four at the positions of
// the other operand, two bytes. They are the low half of a word of nibbles. A is
// scanned for NaN, B is not.

// CHECK-LABEL: gpu.func @packed_beside_bytes(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<16x128xi8, {{[^,]*}}, %{{[a-z0-9]+}}: memref<16x4xi8, {{[^,]*}}, %[[B:[a-z0-9]+]]: memref<8x64xi8,
// CHECK-DAG:     %[[P0:.*]] = arith.constant 50304 : i32
// CHECK-DAG:     %[[P1:.*]] = arith.constant 54673 : i32
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : i32
// CHECK:         scf.if %{{.*}} -> (f32, f32, f32, f32, i1) {
// CHECK:           blockscale.load_matrix %[[A]]
// CHECK:           %[[BYTES:.*]] = vector.load %[[B]][%{{.*}}, %{{.*}}] {alignment = 2 : i64} : {{.*}}, vector<2xi8>
// CHECK-NEXT:      %[[ONE:.*]] = vector.bitcast %[[BYTES]] : vector<2xi8> to vector<1xi16>
// CHECK-NEXT:      %[[HALF:.*]] = vector.extract %[[ONE]][0]
// CHECK-NEXT:      %[[WORD:.*]] = arith.extui %[[HALF]] : i16 to i32
// CHECK-NEXT:      %[[EVEN:.*]] = arith.shli %[[WORD]], %[[C4]]
// CHECK-NEXT:      nvvm.prmt <default> %[[P0]], %[[EVEN]], %[[WORD]]
// CHECK:           nvvm.prmt <default> %[[P1]], %[[EVEN]], %[[WORD]]
// CHECK:           vector.load %[[B]][%{{.*}}, %{{.*}}] {alignment = 2 : i64} : {{.*}}, vector<2xi8>
// CHECK:           nvvm.mma.sync
// CHECK:           vector.load %{{.*}} : memref<2048xi8, {{.*}}>, vector<16xi8>
// CHECK-NOT:     memref<512xi8
// CHECK:         nvvm.barrier #nvvm.reduction<or>
// CHECK-NOT:     memref<512xi8
gpu.module @kernels {
  gpu.func @packed_beside_bytes(
      %a: memref<16x128xi8, #gpu.address_space<workgroup>>,
      %sa: memref<16x4xi8, #gpu.address_space<workgroup>>,
      %b: memref<8x64xi8, #gpu.address_space<workgroup>>,
      %sb: memref<8x4xi8, #gpu.address_space<workgroup>>,
      %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
           types = <e4m3, e2m1, ue8m0, 32>
           instruction = <dequant_mma, 16x8x32, bf16, e4m3, e2m1, ue8m0, 1>
           {b_layout = #blockscale.tile_layout<k, packed, swizzled>}
           : memref<16x128xi8, #gpu.address_space<workgroup>>,
             memref<16x4xi8, #gpu.address_space<workgroup>>,
             memref<8x64xi8, #gpu.address_space<workgroup>>,
             memref<8x4xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_store %sum, %d[%c0, %c0]
        : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// fp6 with padding: 16 elements are the first 12 of 16 bytes. The lane's four begin
// in its word or in that of the lane before; they are spread over bytes by two
// shifts of halves. fp6 has no NaN. 2^124 is the power of e3m2, 2^126 that of
// e2m3.

// CHECK-LABEL: gpu.func @padded(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<16x128xi8,
// CHECK-DAG:     %[[TWELVE:.*]] = arith.constant 4095 : i32
// CHECK-DAG:     %[[NEXT_TWELVE:.*]] = arith.constant 268369920 : i32
// CHECK-DAG:     %[[SIX:.*]] = arith.constant 4128831 : i32
// CHECK-DAG:     %[[NEXT_SIX:.*]] = arith.constant 1056980736 : i32
// CHECK-DAG:     %[[MASK:.*]] = arith.constant -2082438176 : i32
// CHECK-DAG:     %[[LOW:.*]] = arith.constant 37248 : i32
// CHECK-DAG:     %[[POWER_A:.*]] = arith.constant 2105572736 : i32
// CHECK-DAG:     %[[POWER_B:.*]] = arith.constant 2122350208 : i32
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : i32
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : i32
// CHECK:         %[[BF16_A:.*]] = llvm.bitcast %[[POWER_A]] : i32 to vector<2xbf16>
// CHECK:         %[[BF16_B:.*]] = llvm.bitcast %[[POWER_B]] : i32 to vector<2xbf16>
// CHECK-NOT:     nvvm.barrier
// CHECK:         scf.if %{{.*}} -> (f32, f32, f32, f32) {
// CHECK:           %[[ELEMENTS:.*]] = blockscale.load_matrix %[[A]][%{{.*}}] code_bits = 8
// CHECK:           %[[WORD:.*]] = vector.extract %[[ELEMENTS]][0]
// CHECK:           %[[BEFORE:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[WORD]],
// CHECK:           %[[BITS:.*]] = nvvm.prmt <default> %{{.*}}, %[[BEFORE]], %[[WORD]]
// CHECK-NEXT:      %[[PAIR:.*]] = arith.andi %[[BITS]], %[[TWELVE]]
// CHECK-NEXT:      %[[UP:.*]] = arith.shli %[[BITS]], %[[C4]]
// CHECK-NEXT:      %[[NEXT_PAIR:.*]] = arith.andi %[[UP]], %[[NEXT_TWELVE]]
// CHECK-NEXT:      %[[HALVES:.*]] = arith.ori %[[PAIR]], %[[NEXT_PAIR]]
// CHECK-NEXT:      %[[CODE:.*]] = arith.andi %[[HALVES]], %[[SIX]]
// CHECK-NEXT:      %[[UP_2:.*]] = arith.shli %[[HALVES]], %[[C2]]
// CHECK-NEXT:      %[[NEXT_CODE:.*]] = arith.andi %[[UP_2]], %[[NEXT_SIX]]
// CHECK-NEXT:      %[[BYTES:.*]] = arith.ori %[[CODE]], %[[NEXT_CODE]]
// CHECK-NEXT:      %[[SIGNS:.*]] = arith.shli %[[BYTES]], %[[C2]]
// CHECK-NEXT:      %[[X:.*]] = nvvm.prmt <default> %[[LOW]], %[[SIGNS]]
// CHECK-NEXT:      %[[X_3:.*]] = arith.shli %[[X]], %[[C3]]
// CHECK-NEXT:      arith.andi %[[X_3]], %[[MASK]]
// CHECK:           arith.mulf %{{.*}}, %[[BF16_A]] : vector<2xbf16>
// CHECK-NEXT:      arith.mulf {{.*}} : vector<2xbf16>
// CHECK:           arith.mulf %{{.*}}, %[[BF16_B]] : vector<2xbf16>
// CHECK:           nvvm.mma.sync
// CHECK-NOT:     nvvm.barrier
gpu.module @kernels {
  gpu.func @padded(
      %a: memref<16x128xi8, #gpu.address_space<workgroup>>,
      %sa: memref<16x4xi8, #gpu.address_space<workgroup>>,
      %b: memref<8x128xi8, #gpu.address_space<workgroup>>,
      %sb: memref<8x4xi8, #gpu.address_space<workgroup>>,
      %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
           types = <e3m2, e2m3, ue8m0, 32>
           instruction = <dequant_mma, 16x8x32, bf16, e3m2, e2m3, ue8m0, 1>
           {a_layout = #blockscale.tile_layout<k, padded>}
           : memref<16x128xi8, #gpu.address_space<workgroup>>,
             memref<16x4xi8, #gpu.address_space<workgroup>>,
             memref<8x128xi8, #gpu.address_space<workgroup>>,
             memref<8x4xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_store %sum, %d[%c0, %c0]
        : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Contiguous along N: 16 transposed bits are elements of two columns, of
// interleaved groups: 0xA280 are those of the first, 0xB391 of the second
// one. The pairs of A are swapped in lanes whose thread is 2 or 3, like those of
// B do. Columns 2 i and 2 i + 1 of the tile are column i of the groups.

// CHECK-LABEL: gpu.func @along_n(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<16x128xi8, {{[^,]*}}, %{{[a-z0-9]+}}: memref<16x4xi8, {{[^,]*}}, %[[B:[a-z0-9]+]]: memref<128x16xi8,
// CHECK-DAG:     %[[LOW:.*]] = arith.constant 37248 : i32
// CHECK-DAG:     %[[HIGH:.*]] = arith.constant 45986 : i32
// CHECK-DAG:     %[[FIRST:.*]] = arith.constant 41600 : i32
// CHECK-DAG:     %[[SECOND:.*]] = arith.constant 45969 : i32
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : i32
// CHECK:         scf.if %{{.*}} -> (f32, f32, f32, f32, f32, f32, f32, f32, i1) {
// CHECK:           %[[BIT:.*]] = arith.andi %{{.*}}, %[[C2]]
// CHECK-NEXT:      %[[IS_HIGH:.*]] = arith.cmpi ne, %[[BIT]], %[[C0]]
// CHECK-NEXT:      %[[P0:.*]] = arith.select %[[IS_HIGH]], %[[HIGH]], %[[LOW]]
// CHECK-NEXT:      %[[P1:.*]] = arith.select %[[IS_HIGH]], %[[LOW]], %[[HIGH]]
// CHECK:           blockscale.load_matrix %[[A]][%{{.*}}] code_bits = 8
// CHECK:           nvvm.prmt <default> %[[P0]]
// CHECK:           nvvm.prmt <default> %[[P1]]
// CHECK:           %[[ELEMENTS:.*]] = blockscale.load_matrix %[[B]][%[[AT:.*]]] code_bits = 16 transposed : {{.*}} -> vector<4xi32>
// CHECK:           %[[WORD:.*]] = vector.extract %[[ELEMENTS]][0]
// CHECK:           %[[SIGNS:.*]] = arith.shli %[[WORD]], %[[C2]]
// CHECK-NEXT:      nvvm.prmt <default> %[[FIRST]], %[[SIGNS]]
// CHECK:           nvvm.prmt <default> %[[SECOND]]
// CHECK-COUNT-4:   nvvm.mma.sync
// CHECK:           blockscale.load_matrix %[[B]][%[[AT]]] + 512 code_bits = 16 transposed
gpu.module @kernels {
  gpu.func @along_n(
      %a: memref<16x128xi8, #gpu.address_space<workgroup>>,
      %sa: memref<16x4xi8, #gpu.address_space<workgroup>>,
      %b: memref<128x16xi8, #gpu.address_space<workgroup>>,
      %sb: memref<16x4xi8, #gpu.address_space<workgroup>>,
      %d: memref<16x16xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x16, #blockscale.warps<1x1, interleave = 1x2>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
           types = <e4m3, e3m2, ue8m0, 32>
           instruction = <dequant_mma, 16x8x32, bf16, e4m3, e3m2, ue8m0, 1>
           {b_layout = #blockscale.tile_layout<mn, slots>}
           : memref<16x128xi8, #gpu.address_space<workgroup>>,
             memref<16x4xi8, #gpu.address_space<workgroup>>,
             memref<128x16xi8, #gpu.address_space<workgroup>>,
             memref<16x4xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<16x16, #blockscale.warps<1x1, interleave = 1x2>>
    blockscale.acc_store %sum, %d[%c0, %c0]
        : !blockscale.acc<16x16, #blockscale.warps<1x1, interleave = 1x2>>, memref<16x16xf32>
    gpu.return
  }
}

// -----

// Packed elements: four of them, in four interleaved groups. A
// multiplication copies a code to the sign and to the bits below.

// CHECK-LABEL: gpu.func @nibbles_along_m(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<64x16xi8,
// CHECK-DAG:     %[[NIBBLE_0:.*]] = arith.constant 983055 : i32
// CHECK-DAG:     %[[NIBBLE_1:.*]] = arith.constant 15728880 : i32
// CHECK-DAG:     %[[COPIES_0:.*]] = arith.constant 4160 : i32
// CHECK-DAG:     %[[COPIES_1:.*]] = arith.constant 260 : i32
// CHECK-DAG:     %[[MASK:.*]] = arith.constant -2118090304 : i32
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : i32
// CHECK-NOT:     nvvm.barrier
// CHECK:         scf.if %{{.*}} -> (f32, f32, f32, f32, f32, f32, f32, f32) {
// CHECK:           %[[ELEMENTS:.*]] = blockscale.load_matrix %[[A]][%{{.*}}] code_bits = 16 transposed : {{.*}} -> vector<4xi32>
// CHECK-NEXT:      %[[WORD:.*]] = vector.extract %[[ELEMENTS]][0]
// CHECK:           %[[CODE:.*]] = arith.andi %[[WORD]], %[[NIBBLE_0]]
// CHECK-NEXT:      %[[COPIES:.*]] = arith.muli %[[CODE]], %[[COPIES_0]]
// CHECK-NEXT:      arith.andi %[[COPIES]], %[[MASK]]
// CHECK:           %[[CODE_1:.*]] = arith.andi %[[WORD]], %[[NIBBLE_1]]
// CHECK-NEXT:      %[[TWO:.*]] = arith.muli %[[CODE_1]], %[[COPIES_1]]
// CHECK-NEXT:      arith.andi %[[TWO]], %[[MASK]]
// CHECK:           %[[NEXT:.*]] = arith.shrui %[[WORD]], %[[C8]]
// CHECK-NEXT:      arith.andi %[[NEXT]], %[[NIBBLE_0]]
// CHECK:           nvvm.mma.sync
// CHECK-NOT:     nvvm.barrier
gpu.module @kernels {
  gpu.func @nibbles_along_m(
      %a: memref<64x16xi8, #gpu.address_space<workgroup>>,
      %sa: memref<32x4xi8, #gpu.address_space<workgroup>>,
      %b: memref<8x32xi8, #gpu.address_space<workgroup>>,
      %sb: memref<8x4xi8, #gpu.address_space<workgroup>>,
      %d: memref<32x8xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<32x8, #blockscale.warps<1x1, interleave = 4x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
           types = <e2m1, e2m1, ue4m3, 16>
           instruction = <dequant_mma, 16x8x64, bf16_packed, e2m1, e2m1, ue4m3, 4>
           {a_layout = #blockscale.tile_layout<mn, slots, swizzled>}
           : memref<64x16xi8, #gpu.address_space<workgroup>>,
             memref<32x4xi8, #gpu.address_space<workgroup>>,
             memref<8x32xi8, #gpu.address_space<workgroup>>,
             memref<8x4xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<32x8, #blockscale.warps<1x1, interleave = 4x1>>
    blockscale.acc_store %sum, %d[%c0, %c0]
        : !blockscale.acc<32x8, #blockscale.warps<1x1, interleave = 4x1>>, memref<32x8xf32>
    gpu.return
  }
}

// -----

// Mixed input: A is loaded unchanged, 16 bytes of a row for each 32
// elements. Elements of B are rounded one by one, with a tensor scale: as
// bf16 without scales, in f32 with both, and to bf16.

// CHECK-LABEL: gpu.func @mixed_input(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<16x128xi8, {{[^,]*}}, %{{[a-z0-9]+}}: i8, %[[G:[a-z0-9]+]]: f32, %[[B:[a-z0-9]+]]: memref<8x32xi8,
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : i32
// CHECK-DAG:     %[[UPPER:.*]] = arith.constant -65536 : i32
// CHECK-NOT:     nvvm.vote
// CHECK:         %[[CHUNK:.*]] = vector.load %[[A]][{{.*}}] {alignment = 16 : i64} : {{.*}}, vector<16xi8>
// CHECK-NEXT:    %[[WORDS:.*]] = vector.bitcast %[[CHUNK]] : vector<16xi8> to vector<4xi32>
// CHECK-NEXT:    %[[A_0:.*]] = vector.extract %[[WORDS]][0]
// CHECK:         blockscale.load_matrix %[[B]]
// CHECK:         %[[ELEMENTS:.*]] = llvm.bitcast %{{.*}} : vector<2xbf16> to i32
// CHECK:         %[[LOW:.*]] = arith.shli %[[ELEMENTS]], %[[C16]]
// CHECK-NEXT:    %[[NUMBER:.*]] = arith.bitcast %[[LOW]] : i32 to f32
// CHECK-NEXT:    %[[SCALED:.*]] = arith.mulf %[[NUMBER]], %{{.*}} : f32
// CHECK-NEXT:    %[[TWICE:.*]] = arith.mulf %[[SCALED]], %[[G]] : f32
// CHECK-NEXT:    arith.andi %[[ELEMENTS]], %[[UPPER]]
// CHECK:         %[[BOTH:.*]] = vector.from_elements %[[TWICE]], %{{.*}} : vector<2xf32>
// CHECK-NEXT:    %[[ROUNDED:.*]] = arith.truncf %[[BOTH]] : vector<2xf32> to vector<2xbf16>
// CHECK-NEXT:    %[[B_0:.*]] = llvm.bitcast %[[ROUNDED]] : vector<2xbf16> to i32
// CHECK:         nvvm.mma.sync A[%[[A_0]], {{.*}}]  B[%[[B_0]],
gpu.module @kernels {
  gpu.func @mixed_input(
      %a: memref<16x128xi8, #gpu.address_space<workgroup>>, %sa: i8, %g: f32,
      %b: memref<8x32xi8, #gpu.address_space<workgroup>>,
      %sb: memref<8x4xi8, #gpu.address_space<workgroup>>, %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc tensor_scale %g
           types = <bf16, e2m1, ue4m3, 16>
           instruction = <dequant_mma, 16x8x64, bf16_packed, bf16, e2m1, ue4m3, 4>
           : memref<16x128xi8, #gpu.address_space<workgroup>>, i8,
             memref<8x32xi8, #gpu.address_space<workgroup>>,
             memref<8x4xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_store %sum, %d[%c0, %c0]
        : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
    gpu.return
  }
}
