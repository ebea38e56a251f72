// Round trips of the ops, attributes and types below the tile level.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func private @paths() attributes {
// CHECK-SAME:    d = #blockscale.path<decompose>
// CHECK-SAME:    m = #blockscale.path<mma_sync>
// CHECK-SAME:    t = #blockscale.path<tcgen05>
func.func private @paths() attributes {
  d = #blockscale.path<decompose>, m = #blockscale.path<mma_sync>,
  t = #blockscale.path<tcgen05>
}

// CHECK-LABEL: func private @rows() attributes {
// CHECK-SAME:    mixed = #blockscale.type_combination<e2m3, e5m2, ue8m0, 32>
// CHECK-SAME:    mxfp4 = #blockscale.type_combination<e2m1, e2m1, ue8m0, 16>
// CHECK-SAME:    nvfp4 = #blockscale.type_combination<e2m1, e2m1, ue4m3, 16>
func.func private @rows() attributes {
  mixed = #blockscale.type_combination<e2m3, e5m2, ue8m0, 32>,
  mxfp4 = #blockscale.type_combination<e2m1, e2m1, ue8m0, 16>,
  nvfp4 = #blockscale.type_combination<e2m1, e2m1, ue4m3, 16>
}

// CHECK-LABEL: func private @instructions() attributes {
// CHECK-SAME:    i0 = #blockscale.instruction<mma_sync, 16x8x32, mxf8f6f4, e3m2, e4m3, ue8m0, 1>
// CHECK-SAME:    i1 = #blockscale.instruction<mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>
// CHECK-SAME:    i2 = #blockscale.instruction<mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue8m0, 2>
// CHECK-SAME:    i3 = #blockscale.instruction<mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
func.func private @instructions() attributes {
  i0 = #blockscale.instruction<mma_sync, 16x8x32, mxf8f6f4, e3m2, e4m3, ue8m0, 1>,
  i1 = #blockscale.instruction<mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>,
  i2 = #blockscale.instruction<mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue8m0, 2>,
  i3 = #blockscale.instruction<mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
}

// CHECK-LABEL: func private @accumulators(
// CHECK-SAME:    !blockscale.acc<16x8, #blockscale.warps<1x1>>, !blockscale.acc<64x128, #blockscale.warps<4x8>>, !blockscale.acc<128x256, #blockscale.warps<1x1>>)
func.func private @accumulators(!blockscale.acc<16x8, #blockscale.warps<1x1>>,
                                !blockscale.acc<64x128, #blockscale.warps<4x8>>,
                                !blockscale.acc<128x256, #blockscale.warps<1x1>>)

//===----------------------------------------------------------------------===//
// Kernel level
//===----------------------------------------------------------------------===//

// The type of an accumulator operand is printed without the dialect's name.
// CHECK-LABEL: func @tile_mma(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<64x128xi8, #gpu.address_space<workgroup>>, %[[A_SCALE:[a-z0-9]+]]: memref<64x4xi8,
// CHECK-SAME:    %[[B:[a-z0-9]+]]: memref<32x128xi8, #gpu.address_space<workgroup>>, %[[B_SCALE:[a-z0-9]+]]: memref<32x4xi8,
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: !blockscale.acc<64x32, #blockscale.warps<2x1>>)
// CHECK:         blockscale.tile_mma %[[A]], %[[A_SCALE]], %[[B]], %[[B_SCALE]], %[[ACC]] types = <e4m3, e2m1, ue8m0, 32> instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1> : memref<64x128xi8, #gpu.address_space<workgroup>>, memref<64x4xi8, #gpu.address_space<workgroup>>, memref<32x128xi8, #gpu.address_space<workgroup>>, memref<32x4xi8, #gpu.address_space<workgroup>>, <64x32, #blockscale.warps<2x1>>
// GENERIC-LABEL: sym_name = "tile_mma"
// GENERIC:         "blockscale.tile_mma"({{.*}}) <{instruction = #blockscale.instruction<mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0>, types = #blockscale.type_combination<e4m3, e2m1, ue8m0, 32>}> :
func.func @tile_mma(%a: memref<64x128xi8, #gpu.address_space<workgroup>>,
                    %a_scale: memref<64x4xi8, #gpu.address_space<workgroup>>,
                    %b: memref<32x128xi8, #gpu.address_space<workgroup>>,
                    %b_scale: memref<32x4xi8, #gpu.address_space<workgroup>>,
                    %acc: !blockscale.acc<64x32, #blockscale.warps<2x1>>)
    -> !blockscale.acc<64x32, #blockscale.warps<2x1>> {
  %sum = blockscale.tile_mma %a, %a_scale, %b, %b_scale, %acc
         types = <e4m3, e2m1, ue8m0, 32>
         instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
         : memref<64x128xi8, #gpu.address_space<workgroup>>,
           memref<64x4xi8, #gpu.address_space<workgroup>>,
           memref<32x128xi8, #gpu.address_space<workgroup>>,
           memref<32x4xi8, #gpu.address_space<workgroup>>,
           !blockscale.acc<64x32, #blockscale.warps<2x1>>
  return %sum : !blockscale.acc<64x32, #blockscale.warps<2x1>>
}

// 64 elements of fp4 are 32 bytes if the instruction reads packed fp4.
// CHECK-LABEL: func @tile_mma_t4_packed(
// CHECK:         blockscale.tile_mma {{.*}} types = <e2m1, e2m1, ue4m3, 16> instruction = <mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
// CHECK-SAME:      : memref<32x32xi8, #gpu.address_space<workgroup>>, memref<32x4xi8,
func.func @tile_mma_t4_packed(
    %a: memref<32x32xi8, #gpu.address_space<workgroup>>,
    %a_scale: memref<32x4xi8, #gpu.address_space<workgroup>>,
    %b: memref<8x32xi8, #gpu.address_space<workgroup>>,
    %b_scale: memref<8x4xi8, #gpu.address_space<workgroup>>,
    %acc: !blockscale.acc<32x8, #blockscale.warps<1x1>>) -> !blockscale.acc<32x8, #blockscale.warps<1x1>> {
  %sum = blockscale.tile_mma %a, %a_scale, %b, %b_scale, %acc
         types = <e2m1, e2m1, ue4m3, 16>
         instruction = <mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
         : memref<32x32xi8, #gpu.address_space<workgroup>>,
           memref<32x4xi8, #gpu.address_space<workgroup>>,
           memref<8x32xi8, #gpu.address_space<workgroup>>,
           memref<8x4xi8, #gpu.address_space<workgroup>>,
           !blockscale.acc<32x8, #blockscale.warps<1x1>>
  return %sum : !blockscale.acc<32x8, #blockscale.warps<1x1>>
}

// CHECK-LABEL: func @accumulator(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: memref<3x64x32xf32>, %[[D:[a-z0-9]+]]: memref<?x?xf32>,
// CHECK-SAME:    %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: index)
// CHECK:         blockscale.acc_zero : <32x16, #blockscale.warps<2x2>>
// CHECK:         %[[ACC:.*]] = blockscale.acc_load %[[C]][%[[I]], %[[J]], %[[I]]] : memref<3x64x32xf32> -> <16x8, #blockscale.warps<1x1>>
// CHECK:         blockscale.acc_store %[[ACC]], %[[D]][%[[J]], %[[I]]] : <16x8, #blockscale.warps<1x1>>, memref<?x?xf32>
// GENERIC-LABEL: sym_name = "accumulator"
// GENERIC:         "blockscale.acc_zero"() : () -> !blockscale.acc<32x16, #blockscale.warps<2x2>>
// GENERIC:         "blockscale.acc_load"(
// GENERIC:         "blockscale.acc_store"(
func.func @accumulator(%c: memref<3x64x32xf32>, %d: memref<?x?xf32>,
                       %i: index, %j: index) {
  %zero = blockscale.acc_zero : !blockscale.acc<32x16, #blockscale.warps<2x2>>
  %acc = blockscale.acc_load %c[%i, %j, %i]
         : memref<3x64x32xf32> -> !blockscale.acc<16x8, #blockscale.warps<1x1>>
  blockscale.acc_store %acc, %d[%j, %i]
      : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<?x?xf32>
  return
}

//===----------------------------------------------------------------------===//
// Instruction level
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @mma_sync(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: vector<4xi32>, %[[B:[a-z0-9]+]]: vector<2xi32>, %[[C:[a-z0-9]+]]: vector<4xf32>,
// CHECK-SAME:    %[[A_SCALE:[a-z0-9]+]]: i32, %[[B_SCALE:[a-z0-9]+]]: i32)
// CHECK:         %[[D:.*]] = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1> %[[A]], %[[B]], %[[C]], %[[A_SCALE]][3, 1], %[[B_SCALE]][0, 2]
// CHECK:         return %[[D]] : vector<4xf32>
// GENERIC-LABEL: sym_name = "mma_sync"
// GENERIC:         "blockscale.mma_sync"({{.*}}) <{a_byte = 3 : i64, a_thread = 1 : i64, b_byte = 0 : i64, b_thread = 2 : i64, instruction = #blockscale.instruction<mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>}>
func.func @mma_sync(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                    %a_scale: i32, %b_scale: i32) -> vector<4xf32> {
  %d = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       %a, %b, %c, %a_scale[3, 1], %b_scale[0, 2]
  return %d : vector<4xf32>
}

// CHECK-LABEL: func @mma_sync_m2_largest_selectors(
// CHECK:         <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1> {{.*}}[3, 1], {{.*}}[3, 3]
// CHECK:         <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2> {{.*}}[2, 1], {{.*}}[2, 3]
// CHECK:         <mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4> {{.*}}[0, 1], {{.*}}[0, 3]
func.func @mma_sync_m2_largest_selectors(
    %a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %a_scale: i32,
    %b_scale: i32) -> vector<4xf32> {
  %0 = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
       %a, %b, %c, %a_scale[3, 1], %b_scale[3, 3]
  %1 = blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>
       %a, %b, %0, %a_scale[2, 1], %b_scale[2, 3]
  %2 = blockscale.mma_sync <mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
       %a, %b, %1, %a_scale[0, 1], %b_scale[0, 3]
  return %2 : vector<4xf32>
}

//===----------------------------------------------------------------------===//
// Memory and launches
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @packing(
// CHECK-SAME:    %[[FP4:[a-z0-9]+]]: tensor<3x16xi8>, %[[FP6:[a-z0-9]+]]: tensor<2x5x24xi8>)
// CHECK:         %[[X:.*]] = blockscale.unpack %[[FP4]] : tensor<3x16xi8> to tensor<3x32xf4E2M1FN>
// CHECK:         blockscale.pack %[[X]] : tensor<3x32xf4E2M1FN> to tensor<3x16xi8>
// CHECK:         %[[Y:.*]] = blockscale.unpack %[[FP6]] : tensor<2x5x24xi8> to tensor<2x5x32xf6E3M2FN>
// CHECK:         blockscale.pack %[[Y]] : tensor<2x5x32xf6E3M2FN> to tensor<2x5x24xi8>
// GENERIC-LABEL: sym_name = "packing"
// GENERIC:         "blockscale.unpack"(%{{[a-z0-9]+}}) : (tensor<3x16xi8>) -> tensor<3x32xf4E2M1FN>
// GENERIC:         "blockscale.pack"(%{{[a-z0-9]+}}) : (tensor<3x32xf4E2M1FN>) -> tensor<3x16xi8>
func.func @packing(%fp4: tensor<3x16xi8>, %fp6: tensor<2x5x24xi8>)
    -> (tensor<3x16xi8>, tensor<2x5x24xi8>) {
  %x = blockscale.unpack %fp4 : tensor<3x16xi8> to tensor<3x32xf4E2M1FN>
  %x_bytes = blockscale.pack %x : tensor<3x32xf4E2M1FN> to tensor<3x16xi8>
  %y = blockscale.unpack %fp6 : tensor<2x5x24xi8> to tensor<2x5x32xf6E3M2FN>
  %y_bytes = blockscale.pack %y : tensor<2x5x32xf6E3M2FN> to tensor<2x5x24xi8>
  return %x_bytes, %y_bytes : tensor<3x16xi8>, tensor<2x5x24xi8>
}

// CHECK-LABEL: func @launch(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x16xi8>, %[[D:[a-z0-9]+]]: tensor<3x32xf32>)
// CHECK:         blockscale.launch @kernels::@f blocks = [2, 3, 1] threads = [128, 1, 1] ins(%[[X]] : tensor<3x16xi8>) outs(%[[D]] : tensor<3x32xf32>) -> tensor<3x32xf32>
// CHECK:         blockscale.launch @kernels::@g blocks = [1, 1, 1] threads = [32, 1, 1] ins() outs(%{{.*}}, %{{.*}} : tensor<3x32xf32>, tensor<3x32xf32>) -> tensor<3x32xf32>, tensor<3x32xf32>
// GENERIC-LABEL: sym_name = "launch"
// GENERIC:         "blockscale.launch"({{.*}}) <{kernel = @kernels::@f, operandSegmentSizes = array<i32: 0, 1, 1>, shared = 0 : i64, staticBlocks = array<i64: 2, 3, 1>, threads = array<i64: 128, 1, 1>}>
func.func @launch(%x: tensor<3x16xi8>, %d: tensor<3x32xf32>)
    -> tensor<3x32xf32> {
  %r = blockscale.launch @kernels::@f blocks = [2, 3, 1] threads = [128, 1, 1]
       ins(%x : tensor<3x16xi8>) outs(%d : tensor<3x32xf32>)
       -> tensor<3x32xf32>
  %s:2 = blockscale.launch @kernels::@g blocks = [1, 1, 1] threads = [32, 1, 1]
         ins() outs(%r, %d : tensor<3x32xf32>, tensor<3x32xf32>)
         -> tensor<3x32xf32>, tensor<3x32xf32>
  return %s#0 : tensor<3x32xf32>
}

// CHECK-LABEL: func @launch_dynamic(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x?xi8>, %[[D:[a-z0-9]+]]: tensor<?x?xf32>, %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index)
// CHECK-NEXT:    blockscale.unpack %[[X]] : tensor<?x?xi8> to tensor<?x?xf4E2M1FN>
// CHECK-NEXT:    blockscale.launch @kernels::@f blocks = [%[[M]], 3, %[[N]]] threads = [128, 1, 1] ins(%[[X]] : tensor<?x?xi8>) outs(%[[D]] : tensor<?x?xf32>)
func.func @launch_dynamic(%x: tensor<?x?xi8>, %d: tensor<?x?xf32>, %m: index, %n: index)
    -> tensor<?x?xf32> {
  %u = blockscale.unpack %x : tensor<?x?xi8> to tensor<?x?xf4E2M1FN>
  %r = blockscale.launch @kernels::@f blocks = [%m, 3, %n] threads = [128, 1, 1]
       ins(%x : tensor<?x?xi8>) outs(%d : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: func @launch_of_the_card(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x32xi8>, %[[D:[a-z0-9]+]]: tensor<4xf32>
// CHECK:         %[[N:.*]] = blockscale.sm_count
// CHECK:         blockscale.launch @kernels::@f blocks = [2, %[[N]], 1] threads = [128, 1, 1] cluster = [2, 1, 1] tensor_maps = [#blockscale.tensor_map<"u1", sizes = #{{[a-z0-9]+}}, strides = #{{[a-z0-9]+}}, box = [4, 32], element_strides = [1, 1], swizzle = "none", fill = "zero", l2 = "none">] of [0] ins(%[[X]] : tensor<?x32xi8>) outs(%[[D]] : tensor<4xf32>) -> tensor<4xf32>
func.func @launch_of_the_card(%x: tensor<?x32xi8>, %d: tensor<4xf32>)
    -> tensor<4xf32> {
  %n = blockscale.sm_count
  %r = blockscale.launch @kernels::@f blocks = [2, %n, 1]
       threads = [128, 1, 1] cluster = [2, 1, 1]
       tensor_maps = [#blockscale.tensor_map<
           "u1", sizes = affine_map<()[m, k] -> (m, k)>,
           strides = affine_map<()[m, k] -> (k)>, box = [4, 32],
           element_strides = [1, 1], swizzle = "none", fill = "zero",
           l2 = "none">] of [0]
       ins(%x : tensor<?x32xi8>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func @tensor_map(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x32xi8>)
// CHECK:         blockscale.tensor_map %[[X]] : memref<?x32xi8> with <"u1", sizes = #{{[a-z0-9]+}}, strides = #{{[a-z0-9]+}}, box = [4, 32], element_strides = [1, 1], swizzle = "32", fill = "zero", l2 = "256", codes = 2>
func.func @tensor_map(%x: memref<?x32xi8>) -> !llvm.ptr {
  %map = blockscale.tensor_map %x : memref<?x32xi8> with #blockscale.tensor_map<
             "u1", sizes = affine_map<()[m, k] -> (m, k)>,
             strides = affine_map<()[m, k] -> (k)>, box = [4, 32],
             element_strides = [1, 1], swizzle = "32", fill = "zero", l2 = "256", codes = 2>
  return %map : !llvm.ptr
}
