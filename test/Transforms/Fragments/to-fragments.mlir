// Tiles in the lanes of warps.

// RUN: blockscale-opt %s --pass-pipeline="builtin.module(blockscale-legalize,gpu.module(gpu.func(blockscale-to-fragments)),canonicalize,cse)" -split-input-file | FileCheck %s

// The example of the pass' description: the elements of lane l are in rows
// l / 4 and l / 4 + 8, and in columns 2 (l mod 4) and 2 (l mod 4) + 1.

// CHECK-LABEL: gpu.func @tile(
// CHECK-SAME:    %[[D:[a-z0-9]+]]: memref<16x8xf32>) kernel
// CHECK-DAG:     %[[LESS_8:.*]] = arith.constant -8 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG:     %[[LANE:.*]] = gpu.lane_id
// CHECK-DAG:     %[[THREAD:.*]] = gpu.thread_id x
// CHECK:         %[[WARP:.*]] = arith.divui %[[THREAD]], %[[C32]]
// CHECK-NEXT:    %[[WARP_ROW:.*]] = arith.muli %[[WARP]], %[[C16]]
// CHECK-NEXT:    %[[GROUP:.*]] = arith.divui %[[LANE]], %[[C4]]
// CHECK-NEXT:    %[[TWICE:.*]] = arith.muli %[[LANE]], %[[C2]]
// CHECK-NEXT:    %[[GROUPS:.*]] = arith.muli %[[GROUP]], %[[LESS_8]]
// CHECK-NEXT:    %[[COLUMN:.*]] = arith.addi %[[TWICE]], %[[GROUPS]]
// CHECK-NEXT:    %[[ROW:.*]] = arith.addi %[[GROUP]], %[[WARP_ROW]]
// CHECK-NEXT:    %[[GROUP_8:.*]] = arith.addi %[[GROUP]], %[[C8]]
// CHECK-NEXT:    %[[ROW_8:.*]] = arith.addi %[[GROUP_8]], %[[WARP_ROW]]
// CHECK-NEXT:    %[[IS_ROW:.*]] = arith.cmpi ult, %[[ROW]], %[[C16]]
// CHECK-NEXT:    %[[IS_COLUMN:.*]] = arith.cmpi ult, %[[COLUMN]], %[[C8]]
// CHECK-NEXT:    %[[INSIDE:.*]] = arith.andi %[[IS_ROW]], %[[IS_COLUMN]]
// CHECK-NEXT:    scf.if %[[INSIDE]] {
// CHECK-NEXT:      memref.store %[[ZERO]], %[[D]][%[[ROW]], %[[COLUMN]]]
// CHECK:         %[[COLUMN_1:.*]] = arith.addi %[[COLUMN]], %[[C1]]
// CHECK:           memref.store %[[ZERO]], %[[D]][%[[ROW]], %[[COLUMN_1]]]
// CHECK:           memref.store %[[ZERO]], %[[D]][%[[ROW_8]], %[[COLUMN]]]
// CHECK:           memref.store %[[ZERO]], %[[D]][%[[ROW_8]], %[[COLUMN_1]]]
gpu.module @kernels {
  gpu.func @tile(%a: memref<16x32xi8>, %sa: memref<16x1xi8>,
                 %b: memref<8x32xi8>, %sb: memref<8x1xi8>,
                 %d: memref<16x8xf32>) kernel {
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %c0 = arith.constant 0 : index
    blockscale.acc_store %acc, %d[%c0, %c0]
        : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Warp tiles of 32 x 40: A has two tiles, in one group, B has five, in two. One
// word of scales has the bytes of all four steps along K.

// CHECK-LABEL: gpu.func @selectors(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<64x128xi8, #gpu.address_space<workgroup>>, %[[A_SCALE:[a-z0-9]+]]: memref<64x4xi8, #gpu.address_space<workgroup>>, %[[B:[a-z0-9]+]]: memref<40x128xi8, #gpu.address_space<workgroup>>, %[[B_SCALE:[a-z0-9]+]]: memref<40x4xi8,
// CHECK:         %[[BYTES:.*]] = vector.load %[[A_SCALE]]
// CHECK-NEXT:    %[[WORDS:.*]] = vector.bitcast %[[BYTES]]
// CHECK-NEXT:    %[[SA:.*]] = vector.extract %[[WORDS]][0]
// CHECK-NOT:     vector.load %[[A_SCALE]]
// CHECK:         %[[BYTES_0:.*]] = vector.load %[[B_SCALE]]
// CHECK-NEXT:    %[[WORDS_0:.*]] = vector.bitcast %[[BYTES_0]]
// CHECK-NEXT:    %[[SB_0:.*]] = vector.extract %[[WORDS_0]][0]
// CHECK:         %[[BYTES_1:.*]] = vector.load %[[B_SCALE]]
// CHECK-NEXT:    %[[WORDS_1:.*]] = vector.bitcast %[[BYTES_1]]
// CHECK-NEXT:    %[[SB_1:.*]] = vector.extract %[[WORDS_1]][0]

// One load is a tile of A, or two of B; the next ones are 16 rows, or a step of
// 32 bytes, further. Only what a step needs is loaded before it.

// CHECK:         %[[A_0:.*]] = blockscale.load_matrix %[[A]][%[[A_AT:.*]]] code_bits = 8 : {{.*}} -> vector<4xi32>
// CHECK-NEXT:    %[[A_1:.*]] = blockscale.load_matrix %[[A]][%[[A_AT]]] + 2048 code_bits = 8 : {{.*}} -> vector<4xi32>
// CHECK:         blockscale.load_matrix %[[B]][%[[B_AT:.*]]] code_bits = 8 : {{.*}} -> vector<4xi32>
// CHECK:         blockscale.load_matrix %[[B]][%[[B_AT]]] + 2048 code_bits = 8 : {{.*}} -> vector<4xi32>
// CHECK:         %[[B_4:.*]] = blockscale.load_matrix %[[B]][%[[B_AT]]] + 4096 code_bits = 8 : {{.*}} -> vector<2xi32>
// CHECK-NEXT:    %[[D_0:.*]] = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1> %[[A_0]], %[[B_0:.*]], %{{.*}}, %[[SA]][0, 0], %[[SB_0]][0, 0]
// CHECK-NEXT:    blockscale.mma_sync {{.*}} %[[A_0]], {{.*}}, %[[SA]][0, 0], %[[SB_0]][0, 1]
// CHECK-NEXT:    blockscale.mma_sync {{.*}} %[[A_0]], {{.*}}, %[[SA]][0, 0], %[[SB_0]][0, 2]
// CHECK-NEXT:    blockscale.mma_sync {{.*}} %[[A_0]], {{.*}}, %[[SA]][0, 0], %[[SB_0]][0, 3]
// CHECK-NEXT:    blockscale.mma_sync {{.*}} %[[A_0]], %[[B_4]], {{.*}}, %[[SA]][0, 0], %[[SB_1]][0, 0]
// CHECK-NEXT:    blockscale.mma_sync {{.*}} %[[A_1]], %[[B_0]], {{.*}}, %[[SA]][0, 1], %[[SB_0]][0, 0]
// CHECK:         blockscale.load_matrix %[[A]][%[[A_AT]]] + 32 code_bits = 8
// CHECK-NEXT:    blockscale.load_matrix %[[A]][%[[A_AT]]] + 2080 code_bits = 8
// CHECK:         %[[D_1:.*]] = blockscale.mma_sync {{.*}}, %[[D_0]], %[[SA]][1, 0], %[[SB_0]][1, 0]
// CHECK:         %[[D_2:.*]] = blockscale.mma_sync {{.*}}, %[[D_1]], %[[SA]][2, 0], %[[SB_0]][2, 0]
// CHECK:         blockscale.mma_sync {{.*}}, %[[D_2]], %[[SA]][3, 0], %[[SB_0]][3, 0]
// CHECK:         blockscale.mma_sync {{.*}}, %[[SA]][3, 1], %[[SB_1]][3, 0]
// CHECK-NOT:     blockscale.
gpu.module @kernels {
  gpu.func @selectors(
      %a: memref<64x128xi8, #gpu.address_space<workgroup>>,
      %sa: memref<64x4xi8, #gpu.address_space<workgroup>>,
      %b: memref<40x128xi8, #gpu.address_space<workgroup>>,
      %sb: memref<40x4xi8, #gpu.address_space<workgroup>>,
      %c: memref<64x40xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_load %c[%c0, %c0]
           : memref<64x40xf32> -> !blockscale.acc<64x40, #blockscale.warps<2x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
           types = <e4m3, e2m1, ue8m0, 32>
           instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
           : memref<64x128xi8, #gpu.address_space<workgroup>>,
             memref<64x4xi8, #gpu.address_space<workgroup>>,
             memref<40x128xi8, #gpu.address_space<workgroup>>,
             memref<40x4xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<64x40, #blockscale.warps<2x1>>
    blockscale.acc_store %sum, %c[%c0, %c0]
        : !blockscale.acc<64x40, #blockscale.warps<2x1>>, memref<64x40xf32>
    gpu.return
  }
}

// -----

// Two scales per instruction: byte selectors 0 and 2 of each word.

// CHECK-LABEL: gpu.func @mxf4(
// CHECK:         blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2> %{{.*}}, %[[SA_0:[a-z0-9]+]][0, 0], %[[SB_0:[a-z0-9]+]][0, 0]
// CHECK:         blockscale.mma_sync {{.*}}, %[[SA_0]][2, 0], %[[SB_0]][2, 0]
// CHECK:         blockscale.mma_sync {{.*}}, %[[SA_1:[a-z0-9]+]][0, 0], %[[SB_1:[a-z0-9]+]][0, 0]
// CHECK:         blockscale.mma_sync {{.*}}, %[[SA_1]][2, 0], %[[SB_1]][2, 0]
// CHECK-NOT:     blockscale.
gpu.module @kernels {
  gpu.func @mxf4(%a: memref<16x128xi8, #gpu.address_space<workgroup>>,
                 %sa: memref<16x8xi8, #gpu.address_space<workgroup>>,
                 %b: memref<8x128xi8, #gpu.address_space<workgroup>>,
                 %sb: memref<8x8xi8, #gpu.address_space<workgroup>>,
                 %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
           types = <e2m1, e2m1, ue8m0, 32>
           instruction = <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>
           : memref<16x128xi8, #gpu.address_space<workgroup>>,
             memref<16x8xi8, #gpu.address_space<workgroup>>,
             memref<8x128xi8, #gpu.address_space<workgroup>>,
             memref<8x8xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_store %sum, %d[%c0, %c0]
        : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Two mxf4 instructions replace one with e8m0 scales of blocks of 16: each has one
// half of every block of A, and the scales of those halves, whose bytes are made
// adjacent.

// CHECK-LABEL: gpu.func @two_halves(
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant dense<0> : vector<4xi32>
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[BYTE:.*]] = arith.constant 8 : i32
// CHECK-DAG:     %[[BYTE_1:.*]] = arith.constant 65280 : i32
// CHECK-DAG:     %[[BYTE_2:.*]] = arith.constant 16711680 : i32
// CHECK-DAG:     %[[BYTES_0_3:.*]] = arith.constant -16776961 : i32
// CHECK:         %[[A:.*]] = blockscale.load_matrix {{.*}} -> vector<4xi32>
// CHECK:         %[[B:.*]] = blockscale.load_matrix {{.*}} -> vector<2xi32>
// CHECK:         %[[OUTER:.*]] = arith.andi %[[WORD:.*]], %[[BYTES_0_3]]
// CHECK-NEXT:    %[[UP:.*]] = arith.shli %[[WORD]], %[[BYTE]]
// CHECK-NEXT:    %[[NEW_2:.*]] = arith.andi %[[UP]], %[[BYTE_2]]
// CHECK-NEXT:    %[[DOWN:.*]] = arith.shrui %[[WORD]], %[[BYTE]]
// CHECK-NEXT:    %[[NEW_1:.*]] = arith.andi %[[DOWN]], %[[BYTE_1]]
// CHECK-NEXT:    %[[INNER:.*]] = arith.ori %[[NEW_2]], %[[NEW_1]]
// CHECK-NEXT:    %[[SA:.*]] = arith.ori %[[OUTER]], %[[INNER]]
// CHECK:         %[[SB_INNER:.*]] = arith.ori
// CHECK-NEXT:    %[[SB:.*]] = arith.ori %{{.*}}, %[[SB_INNER]]
// CHECK:         %[[COLUMN_16:.*]] = arith.divui %[[COLUMN:.*]], %[[C16]]
// CHECK-NEXT:    %[[HALF:.*]] = arith.remui %[[COLUMN_16]], %[[C2]]
// CHECK-NEXT:    %[[IS_EVEN:.*]] = arith.cmpi eq, %[[HALF]], %c0
// CHECK-NEXT:    %[[EVEN:.*]] = arith.select %[[IS_EVEN]], %[[A]], %[[ZERO]]
// CHECK-NEXT:    %[[D_0:.*]] = blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2> %[[EVEN]], %[[B]], %{{.*}}, %[[SA]][0, 0], %[[SB]][0, 0]
// CHECK-NEXT:    %[[IS_ODD:.*]] = arith.cmpi eq, %[[HALF]], %c1
// CHECK-NEXT:    %[[ODD:.*]] = arith.select %[[IS_ODD]], %[[A]], %[[ZERO]]
// CHECK-NEXT:    blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2> %[[ODD]], %[[B]], %[[D_0]], %[[SA]][2, 0], %[[SB]][2, 0]
gpu.module @kernels {
  gpu.func @two_halves(%a: memref<16x32xi8, #gpu.address_space<workgroup>>,
                       %sa: memref<16x4xi8, #gpu.address_space<workgroup>>,
                       %b: memref<8x32xi8, #gpu.address_space<workgroup>>,
                       %sb: memref<8x4xi8, #gpu.address_space<workgroup>>,
                       %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
           types = <e2m1, e2m1, ue8m0, 16>
           instruction = <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>
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

// Vectors that a warp shares. fp4 with fp8 is shifted to bits [5:2] of a byte; the
// two steps along K use scales 0 and 1.

// CHECK-LABEL: gpu.func @vectors(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<16x64xf8E5M2>, %[[SX:[a-z0-9]+]]: memref<16x2xi8>, %[[Y:[a-z0-9]+]]: memref<8x32xi8>, %[[SY:[a-z0-9]+]]: memref<8x2xi8>, %[[D:[a-z0-9]+]]: memref<16x8xf32>)
// CHECK-NOT:     {{vector<16|vector<8|vector<64}}
// CHECK:         memref.load %[[X]]
// CHECK:         memref.load %[[SX]]
// CHECK:         %[[BYTE:.*]] = memref.load %[[Y]]
// CHECK:         memref.load %[[SY]]
// CHECK:         %[[C:.*]] = vector.from_elements
// CHECK:         %[[SUM:.*]] = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e5m2, e2m1, ue8m0, 1> %{{.*}}, %{{.*}}, %[[C]], %[[SCALE_A:.*]][0, 0], %[[SCALE_B:.*]][0, 0]
// CHECK-NEXT:    blockscale.mma_sync {{.*}}, %[[SUM]], %[[SCALE_A]][1, 0], %[[SCALE_B]][1, 0]
// CHECK-COUNT-4: memref.store %{{.*}}, %[[D]]
// CHECK-NOT:     {{vector<16|vector<8|vector<64}}
gpu.module @kernels {
  gpu.func @vectors(%x: memref<16x64xf8E5M2>, %sx: memref<16x2xi8>,
                    %y: memref<8x32xi8>, %sy: memref<8x2xi8>,
                    %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %fp8 = arith.constant 0.0 : f8E5M2
    %byte = arith.constant 0 : i8
    %a = vector.transfer_read %x[%c0, %c0], %fp8 {in_bounds = [true, true]}
         : memref<16x64xf8E5M2>, vector<16x64xf8E5M2>
    %a_scale_bytes = vector.transfer_read %sx[%c0, %c0], %byte
                     {in_bounds = [true, true]}
                     : memref<16x2xi8>, vector<16x2xi8>
    %a_scale = vector.bitcast %a_scale_bytes
               : vector<16x2xi8> to vector<16x2xf8E8M0FNU>
    %b_bytes = vector.transfer_read %y[%c0, %c0], %byte
               {in_bounds = [true, true]} : memref<8x32xi8>, vector<8x32xi8>
    %b_t = vector.bitcast %b_bytes : vector<8x32xi8> to vector<8x64xf4E2M1FN>
    %b = vector.transpose %b_t, [1, 0]
         : vector<8x64xf4E2M1FN> to vector<64x8xf4E2M1FN>
    %b_scale_bytes = vector.transfer_read %sy[%c0, %c0], %byte
                     {in_bounds = [true, true]}
                     : memref<8x2xi8>, vector<8x2xi8>
    %b_scale_t = vector.bitcast %b_scale_bytes
                 : vector<8x2xi8> to vector<8x2xf8E8M0FNU>
    %b_scale = vector.transpose %b_scale_t, [1, 0]
               : vector<8x2xf8E8M0FNU> to vector<2x8xf8E8M0FNU>
    %c = vector.transfer_read %d[%c0, %c0], %zero {in_bounds = [true, true]}
         : memref<16x8xf32>, vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %a_scale, %b, %b_scale, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x64xf8E5M2>, vector<16x2xf8E8M0FNU>,
             vector<64x8xf4E2M1FN>, vector<2x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Elements that are truncations of bytes: bits above the code do not reach the
// registers, not even where the slot is wide enough.

// CHECK-LABEL: gpu.func @elements_in_bytes(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<16x32xi8>, %[[Y:[a-z0-9]+]]: memref<32x8xi8>,
// CHECK-DAG:     %[[BITS_6:.*]] = arith.constant 63 : i8
// CHECK-DAG:     %[[BITS_4:.*]] = arith.constant 15 : i8
// CHECK:         %[[A:.*]] = memref.load %[[X]]
// CHECK-NEXT:    %[[A_CODE:.*]] = arith.andi %[[A]], %[[BITS_6]] : i8
// CHECK-NEXT:    arith.extui %[[A_CODE]]
// CHECK-COUNT-15: arith.andi %{{.*}}, %[[BITS_6]] : i8
// CHECK:         %[[B:.*]] = memref.load %[[Y]]
// CHECK-NEXT:    %[[B_CODE:.*]] = arith.andi %[[B]], %[[BITS_4]] : i8
// CHECK-NEXT:    arith.extui %[[B_CODE]]
// CHECK-COUNT-7: arith.andi %{{.*}}, %[[BITS_4]] : i8
// CHECK:         blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e3m2, e2m1, ue8m0, 1>
gpu.module @kernels {
  gpu.func @elements_in_bytes(%x: memref<16x32xi8>, %y: memref<32x8xi8>,
                           %d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %byte = arith.constant 0 : i8
    %a_bytes = vector.transfer_read %x[%c0, %c0], %byte
               {in_bounds = [true, true]}
               : memref<16x32xi8>, vector<16x32xi8>
    %a_bits = arith.trunci %a_bytes : vector<16x32xi8> to vector<16x32xi6>
    %a = arith.bitcast %a_bits : vector<16x32xi6> to vector<16x32xf6E3M2FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b_bytes = vector.transfer_read %y[%c0, %c0], %byte
               {in_bounds = [true, true]} : memref<32x8xi8>, vector<32x8xi8>
    %b_bits = arith.trunci %b_bytes : vector<32x8xi8> to vector<32x8xi4>
    %b = arith.bitcast %b_bits : vector<32x8xi4> to vector<32x8xf4E2M1FN>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf6E3M2FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf4E2M1FN>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Splats of packed bytes are not loaded. The first element of a lane in
// A, of column c = 4 (l mod 4) along K, is the six bits of 0x4545 from bit
// 6 c - 8 ((3 c) div 4) on. The byte 0x21 along N has fp4 elements of columns l / 4
// at bit 4 n - 8 (n div 2).

// CHECK-LABEL: gpu.func @packed_splats(
// CHECK-DAG:     %[[A_BYTES:.*]] = arith.constant 17733 : i16
// CHECK-DAG:     %[[BITS_6:.*]] = arith.constant 63 : i8
// CHECK-DAG:     %[[B_BYTE:.*]] = arith.constant 33 : i16
// CHECK-DAG:     %[[BITS_4:.*]] = arith.constant 15 : i8
// CHECK-DAG:     %[[LESS_8:.*]] = arith.constant -8 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[LANE:.*]] = gpu.lane_id
// CHECK-NOT:     {{memref|vector}}.load
// CHECK:         %[[GROUP:.*]] = arith.divui %[[LANE]], %[[C4]]
// CHECK:         %[[BITS:.*]] = arith.muli %[[COLUMN:.*]], %[[C6]]
// CHECK-NEXT:    %[[THRICE:.*]] = arith.muli %[[COLUMN]], %[[C3]]
// CHECK-NEXT:    %[[A_AT:.*]] = arith.divui %[[THRICE]], %[[C4]]
// CHECK-NEXT:    %[[BEFORE:.*]] = arith.muli %[[A_AT]], %[[LESS_8]]
// CHECK-NEXT:    %[[BIT:.*]] = arith.addi %[[BITS]], %[[BEFORE]]
// CHECK-NEXT:    %[[AMOUNT:.*]] = arith.index_castui %[[BIT]] : index to i16
// CHECK-NEXT:    %[[SHIFTED:.*]] = arith.shrui %[[A_BYTES]], %[[AMOUNT]] : i16
// CHECK-NEXT:    %[[LOW:.*]] = arith.trunci %[[SHIFTED]] : i16 to i8
// CHECK-NEXT:    arith.andi %[[LOW]], %[[BITS_6]] : i8
// CHECK:         %[[A:.*]] = vector.from_elements %[[A_0:.*]], %[[A_0]], %[[A_2:.*]], %[[A_2]] : vector<4xi32>
// CHECK:         %[[BITS:.*]] = arith.muli %[[GROUP]], %[[C4]]
// CHECK-NEXT:    %[[B_AT:.*]] = arith.divui %[[GROUP]], %[[C2]]
// CHECK-NEXT:    %[[BEFORE:.*]] = arith.muli %[[B_AT]], %[[LESS_8]]
// CHECK-NEXT:    %[[BIT:.*]] = arith.addi %[[BITS]], %[[BEFORE]]
// CHECK-NEXT:    %[[AMOUNT:.*]] = arith.index_castui %[[BIT]] : index to i16
// CHECK-NEXT:    %[[SHIFTED:.*]] = arith.shrui %[[B_BYTE]], %[[AMOUNT]] : i16
// CHECK-NEXT:    %[[LOW:.*]] = arith.trunci %[[SHIFTED]] : i16 to i8
// CHECK-NEXT:    arith.andi %[[LOW]], %[[BITS_4]] : i8
// CHECK:         %[[B:.*]] = vector.from_elements %[[WORD:.*]], %[[WORD]] : vector<2xi32>
// CHECK:         blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e3m2, e2m1, ue8m0, 1> %[[A]], %[[B]],
gpu.module @kernels {
  gpu.func @packed_splats(%d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %a_bytes = arith.constant dense<0x45> : vector<16x24xi8>
    %a = vector.bitcast %a_bytes : vector<16x24xi8> to vector<16x32xf6E3M2FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b_bytes = arith.constant dense<0x21> : vector<32x4xi8>
    %b = vector.bitcast %b_bytes : vector<32x4xi8> to vector<32x8xf4E2M1FN>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf6E3M2FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf4E2M1FN>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Splats of bytes with truncated elements are constants: 0x45 has the fp6 code
// 5. Packed ones are bytes, 0x21 and 0x43.

// CHECK-LABEL: gpu.func @splats(
// CHECK-DAG:     %[[FP6:.*]] = arith.constant dense<84215045> : vector<4xi32>
// CHECK-DAG:     %[[FP8:.*]] = arith.constant dense<1010580540> : vector<2xi32>
// CHECK-DAG:     %[[FP4:.*]] = arith.constant 33 : i16
// CHECK-DAG:     %[[FP4_NK:.*]] = arith.constant 67 : i16
// CHECK:         %[[SUM:.*]] = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e3m2, e5m2, ue8m0, 1> %[[FP6]], %[[FP8]],
// CHECK-COUNT-8: arith.shrui %[[FP4]],
// CHECK:         %[[A:.*]] = vector.from_elements {{.*}} : vector<4xi32>
// CHECK-COUNT-8: arith.shrui %[[FP4_NK]],
// CHECK:         %[[B:.*]] = vector.from_elements {{.*}} : vector<2xi32>
// CHECK:         blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2> %[[A]], %[[B]], %[[SUM]],
gpu.module @kernels {
  gpu.func @splats(%d: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %a_bytes = arith.constant dense<0x45> : vector<16x32xi8>
    %a_bits = arith.trunci %a_bytes : vector<16x32xi8> to vector<16x32xi6>
    %a = arith.bitcast %a_bits : vector<16x32xi6> to vector<16x32xf6E3M2FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = arith.constant dense<0.0> : vector<16x8xf32>
    %0 = blockscale.mma_scaled %a, %sa, %b, %sb, %c
         {blockscale.path = #blockscale.path<mma_sync>}
         : vector<16x32xf6E3M2FN>, vector<16x1xf8E8M0FNU>,
           vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    %p_bytes = arith.constant dense<0x21> : vector<16x32xi8>
    %p = vector.bitcast %p_bytes : vector<16x32xi8> to vector<16x64xf4E2M1FN>
    %sp = arith.constant dense<1.0> : vector<16x2xf8E8M0FNU>
    %q_bytes = arith.constant dense<0x43> : vector<8x32xi8>
    %q_nk = vector.bitcast %q_bytes : vector<8x32xi8> to vector<8x64xf4E2M1FN>
    %q = vector.transpose %q_nk, [1, 0]
         : vector<8x64xf4E2M1FN> to vector<64x8xf4E2M1FN>
    %sq = arith.constant dense<1.0> : vector<2x8xf8E8M0FNU>
    %sum = blockscale.mma_scaled %p, %sp, %q, %sq, %0
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x64xf4E2M1FN>, vector<16x2xf8E8M0FNU>,
             vector<64x8xf4E2M1FN>, vector<2x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Lanes write what others have read, and read what others have written: all of
// them meet before and after a write.

// CHECK-LABEL: gpu.func @written_and_read(
// CHECK-SAME:    %[[D:[a-z0-9]+]]: memref<16x8xf32>) workgroup(%[[TILE:[a-z0-9]+]] :
// CHECK:         %[[ALL:.*]] = arith.constant -1 : i32
// CHECK-COUNT-4: memref.load %[[TILE]]
// CHECK-NOT:     memref.store
// CHECK:         nvvm.bar.warp.sync %[[ALL]]
// CHECK-COUNT-4: memref.store %{{.*}}, %[[TILE]]
// CHECK-NOT:     {{memref\.(load|store)}}
// CHECK:         nvvm.bar.warp.sync %[[ALL]]
// CHECK-COUNT-4: memref.load %[[TILE]]
// CHECK-NOT:     memref.store
// CHECK:         nvvm.bar.warp.sync %[[ALL]]
// CHECK-COUNT-4: memref.store %{{.*}}, %[[D]]
// CHECK-NEXT:    nvvm.bar.warp.sync %[[ALL]]
gpu.module @kernels {
  gpu.func @written_and_read(%d: memref<16x8xf32>)
      workgroup(%tile : memref<16x8xf32, #gpu.address_space<workgroup>>)
      kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = arith.constant dense<1.0> : vector<16x32xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %c = vector.transfer_read %tile[%c0, %c0], %zero {in_bounds = [true, true]}
         : memref<16x8xf32, #gpu.address_space<workgroup>>, vector<16x8xf32>
    %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
           {blockscale.path = #blockscale.path<mma_sync>}
           : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
             vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    vector.transfer_write %sum, %tile[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32, #gpu.address_space<workgroup>>
    %written = vector.transfer_read %tile[%c0, %c0], %zero
               {in_bounds = [true, true]}
               : memref<16x8xf32, #gpu.address_space<workgroup>>,
                 vector<16x8xf32>
    vector.transfer_write %written, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// ldmatrix needs rows that are aligned to 16 bytes: memory of tile_mma gets
// that, tiles and what tiles are views of, or keeps a larger alignment.

// CHECK-LABEL: gpu.func @aligned(
// CHECK-SAME:    workgroup(%{{[a-z0-9]+}} : memref<4096xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %{{[a-z0-9]+}} : memref<16x4xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %{{[a-z0-9]+}} : memref<8x128xi8, #gpu.address_space<workgroup>> {llvm.align = 128 : i64}, %{{[a-z0-9]+}} : memref<8x4xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
!a = memref<16x128xi8, #gpu.address_space<workgroup>>
!sa = memref<16x4xi8, #gpu.address_space<workgroup>>
!b = memref<8x128xi8, #gpu.address_space<workgroup>>
!sb = memref<8x4xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @aligned(%d: memref<16x8xf32>)
      workgroup(%stages : memref<4096xi8, #gpu.address_space<workgroup>>,
                %sa : !sa {llvm.align = 4 : i64},
                %b : !b {llvm.align = 128 : i64}, %sb : !sb) kernel {
    %c0 = arith.constant 0 : index
    %c2048 = arith.constant 2048 : index
    %a = memref.view %stages[%c2048][]
         : memref<4096xi8, #gpu.address_space<workgroup>> to !a
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
           types = <e4m3, e2m1, ue8m0, 32>
           instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
           : !a, !sa, !b, !sb, !blockscale.acc<16x8, #blockscale.warps<1x1>>
    blockscale.acc_store %sum, %d[%c0, %c0]
        : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Vectors that a warp shares go through loops and conditions, as what a lane
// has of them.

// CHECK-LABEL: gpu.func @control_flow(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<16x32xf8E4M3FN>, %{{[a-z0-9]+}}: memref<16x8xf32>, %[[P:[a-z0-9]+]]: i1,
// CHECK:         %[[INIT:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[LOOPED:.*]]:4 = scf.for {{.*}} iter_args(%[[ACC_0:.*]] = %[[INIT]], %[[ACC_1:.*]] = %[[INIT]], %[[ACC_2:.*]] = %[[INIT]], %[[ACC_3:.*]] = %[[INIT]]) -> (f32, f32, f32, f32) {
// CHECK:           %[[ACC:.*]] = vector.from_elements %[[ACC_0]], %[[ACC_1]], %[[ACC_2]], %[[ACC_3]]
// CHECK:           %[[SUM:.*]] = blockscale.mma_sync {{.*}} %{{.*}}, %{{.*}}, %[[ACC]],
// CHECK-NEXT:      %[[SUM_0:.*]] = vector.extract %[[SUM]][0]
// CHECK-NEXT:      %[[SUM_1:.*]] = vector.extract %[[SUM]][1]
// CHECK-NEXT:      %[[SUM_2:.*]] = vector.extract %[[SUM]][2]
// CHECK-NEXT:      %[[SUM_3:.*]] = vector.extract %[[SUM]][3]
// CHECK-NEXT:      scf.yield %[[SUM_0]], %[[SUM_1]], %[[SUM_2]], %[[SUM_3]] : f32, f32, f32, f32
// CHECK:         %[[CHOSEN:.*]]:4 = scf.if %[[P]] -> (f32, f32, f32, f32) {
// CHECK-NEXT:      %[[DOUBLED:.*]] = arith.addf %[[LOOPED]]#0, %[[LOOPED]]#0 : f32
// CHECK:           scf.yield %[[DOUBLED]], %{{.*}} : f32, f32, f32, f32
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %[[LOOPED]]#0, %[[LOOPED]]#1, %[[LOOPED]]#2, %[[LOOPED]]#3 : f32, f32, f32, f32
// CHECK:         %[[R:.*]]:5 = scf.while (%[[C:.*]] = %[[CHOSEN]]#0, %{{.*}} = %[[CHOSEN]]#3, %{{.*}}) : (f32, f32, f32, f32, index) -> (f32, f32, f32, f32, index) {
// CHECK:           scf.condition(%{{.*}}) %[[C]], %{{.*}} : f32, f32, f32, f32, index
// CHECK:           %[[SQUARED:.*]] = arith.mulf %{{.*}} : f32
// CHECK:           scf.yield %[[SQUARED]], %{{.*}} : f32, f32, f32, f32, index
// CHECK:         memref.store %[[R]]#0,
// CHECK:         memref.store %[[R]]#3,
gpu.module @kernels {
  gpu.func @control_flow(%x: memref<16x32xf8E4M3FN>, %d: memref<16x8xf32>,
                         %p: i1, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %fp8 = arith.constant 0.0 : f8E4M3FN
    %a = vector.transfer_read %x[%c0, %c0], %fp8 {in_bounds = [true, true]}
         : memref<16x32xf8E4M3FN>, vector<16x32xf8E4M3FN>
    %sa = arith.constant dense<1.0> : vector<16x1xf8E8M0FNU>
    %b = arith.constant dense<1.0> : vector<32x8xf8E5M2>
    %sb = arith.constant dense<1.0> : vector<1x8xf8E8M0FNU>
    %init = arith.constant dense<0.0> : vector<16x8xf32>
    %looped = scf.for %i = %c0 to %n step %c1 iter_args(%c = %init)
              -> vector<16x8xf32> {
      %sum = blockscale.mma_scaled %a, %sa, %b, %sb, %c
             {blockscale.path = #blockscale.path<mma_sync>}
             : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
               vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
      scf.yield %sum : vector<16x8xf32>
    }
    %chosen = scf.if %p -> vector<16x8xf32> {
      %doubled = arith.addf %looped, %looped : vector<16x8xf32>
      scf.yield %doubled : vector<16x8xf32>
    } else {
      scf.yield %looped : vector<16x8xf32>
    }
    %r:2 = scf.while (%c = %chosen, %i = %c0)
           : (vector<16x8xf32>, index) -> (vector<16x8xf32>, index) {
      %more = arith.cmpi ult, %i, %n : index
      scf.condition(%more) %c, %i : vector<16x8xf32>, index
    } do {
    ^bb0(%c: vector<16x8xf32>, %i: index):
      %squared = arith.mulf %c, %c : vector<16x8xf32>
      %next = arith.addi %i, %c1 : index
      scf.yield %squared, %next : vector<16x8xf32>, index
    }
    vector.transfer_write %r#0, %d[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// Accumulators likewise.

// CHECK-LABEL: gpu.func @accumulator_control_flow(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<16x8xf32>, %[[P:[a-z0-9]+]]: i1,
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[CHOSEN:.*]]:4 = scf.if %[[P]] -> (f32, f32, f32, f32) {
// CHECK:           %[[LOADED:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK:           scf.yield %[[LOADED]], %{{.*}} : f32, f32, f32, f32
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]] : f32, f32, f32, f32
// CHECK:         %[[LOOPED:.*]]:4 = scf.for {{.*}} iter_args(%{{.*}} = %[[CHOSEN]]#0, %{{.*}}, %[[ACC_3:.*]] = %[[CHOSEN]]#3) -> (f32, f32, f32, f32) {
// CHECK:             memref.store %[[ACC_3]],
// CHECK:           scf.yield %{{.*}} : f32, f32, f32, f32
// CHECK:         %[[R:.*]]:5 = scf.while (%[[C:.*]] = %[[LOOPED]]#0, %{{.*}}) : (f32, f32, f32, f32, index) -> (f32, f32, f32, f32, index) {
// CHECK:           scf.condition(%{{.*}}) %[[C]], %{{.*}} : f32, f32, f32, f32, index
// CHECK:           %[[AGAIN:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK:           scf.yield %[[AGAIN]], %{{.*}} : f32, f32, f32, f32, index
// CHECK:         memref.store %[[R]]#3,
gpu.module @kernels {
  gpu.func @accumulator_control_flow(%d: memref<16x8xf32>, %p: i1, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %chosen = scf.if %p -> !blockscale.acc<16x8, #blockscale.warps<1x1>> {
      %loaded = blockscale.acc_load %d[%c0, %c0]
                : memref<16x8xf32> -> !blockscale.acc<16x8, #blockscale.warps<1x1>>
      scf.yield %loaded : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    } else {
      scf.yield %zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    }
    %looped = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %chosen)
              -> !blockscale.acc<16x8, #blockscale.warps<1x1>> {
      blockscale.acc_store %acc, %d[%c0, %c0]
          : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
      %next = blockscale.acc_load %d[%c0, %c0]
              : memref<16x8xf32> -> !blockscale.acc<16x8, #blockscale.warps<1x1>>
      scf.yield %next : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    }
    %r:2 = scf.while (%acc = %looped, %i = %c0)
           : (!blockscale.acc<16x8, #blockscale.warps<1x1>>, index)
             -> (!blockscale.acc<16x8, #blockscale.warps<1x1>>, index) {
      %more = arith.cmpi ult, %i, %n : index
      scf.condition(%more) %acc, %i : !blockscale.acc<16x8, #blockscale.warps<1x1>>, index
    } do {
    ^bb0(%acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>, %i: index):
      %again = blockscale.acc_load %d[%i, %c0]
               : memref<16x8xf32> -> !blockscale.acc<16x8, #blockscale.warps<1x1>>
      %next = arith.addi %i, %c1 : index
      scf.yield %again, %next : !blockscale.acc<16x8, #blockscale.warps<1x1>>, index
    }
    blockscale.acc_store %r#0, %d[%c0, %c0]
        : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
    gpu.return
  }
}

// -----

// There is nothing to distribute: not even a lane id is created.

// CHECK-LABEL: gpu.func @none(
// CHECK-NOT:     gpu.lane_id
// CHECK:         %[[V:.*]] = vector.load
// CHECK-NEXT:    vector.store %[[V]]
gpu.module @kernels {
  gpu.func @none(%c: memref<16x8xf32>) {
    %c0 = arith.constant 0 : index
    %v = vector.load %c[%c0, %c0] : memref<16x8xf32>, vector<2x8xf32>
    vector.store %v, %c[%c0, %c0] : memref<16x8xf32>, vector<2x8xf32>
    gpu.return
  }
}
