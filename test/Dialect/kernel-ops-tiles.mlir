// Round trips of schedules, of layouts in shared memory, and of the ops on
// accumulators that have bodies.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// CHECK-LABEL: func private @schedules() attributes {
// CHECK-SAME:    least = #blockscale.multistage_schedule<tile = [16, 8, 128], warps = [1, 1], stages = 1>
// CHECK-SAME:    most = #blockscale.multistage_schedule<tile = [256, 192, 1024], warps = [4, 2], stages = 16>
func.func private @schedules() attributes {
  least = #blockscale.multistage_schedule<tile = [16, 8, 128], warps = [1, 1], stages = 1>,
  most = #blockscale.multistage_schedule<tile = [256, 192, 1024], warps = [4, 2],
                              stages = 16>
}

// CHECK-LABEL: func private @layouts() attributes {
// CHECK-SAME:    l0 = #blockscale.tile_layout<k, slots>
// CHECK-SAME:    l1 = #blockscale.tile_layout<k, slots, swizzled>
// CHECK-SAME:    l2 = #blockscale.tile_layout<mn, bytes, swizzled>
// CHECK-SAME:    l3 = #blockscale.tile_layout<mn, padded>
// CHECK-SAME:    l4 = #blockscale.tile_layout<k, packed>
func.func private @layouts() attributes {
  l0 = #blockscale.tile_layout<k, slots>,
  l1 = #blockscale.tile_layout<k, slots, swizzled>,
  l2 = #blockscale.tile_layout<mn, bytes, swizzled>,
  l3 = #blockscale.tile_layout<mn, padded>,
  l4 = #blockscale.tile_layout<k, packed>
}

// An interleaving of 1 is not printed.

// CHECK-LABEL: func private @warps() attributes {
// CHECK-SAME:    w0 = #blockscale.warps<2x4>, w1 = #blockscale.warps<2x2, interleave = 1x4>, w2 = #blockscale.warps<1x1, interleave = 2x1>
func.func private @warps() attributes {
  w0 = #blockscale.warps<2x4, interleave = 1x1>,
  w1 = #blockscale.warps<2x2, interleave = 1x4>,
  w2 = #blockscale.warps<1x1, interleave = 2x1>
}

// Scales in the layouts `lanes` and `parts`. With `mn`,
// a row of memory is a step along K.

// CHECK-LABEL: func @tile_mma_t5_layouts(
// CHECK:         blockscale.tile_mma {{.*}} types = <e2m1, e3m2, ue8m0, 32> instruction = <mma_sync, 16x8x32, mxf8f6f4, e2m1, e3m2, ue8m0, 1> {a_layout = #blockscale.tile_layout<k, padded, swizzled>, a_scale_layout = #blockscale.scale_tile_layout<parts>, b_layout = #blockscale.tile_layout<mn, bytes, swizzled>, b_scale_layout = #blockscale.scale_tile_layout<lanes>} : memref<128x256xi8, #gpu.address_space<workgroup>>, memref<2x2x32x8xi8, #gpu.address_space<workgroup>>, memref<256x64xi8, #gpu.address_space<workgroup>>, memref<2x32x8xi8, #gpu.address_space<workgroup>>, <128x64, #blockscale.warps<2x2>>
// GENERIC-LABEL: sym_name = "tile_mma_t5_layouts"
// GENERIC:         "blockscale.tile_mma"({{.*}}) <{a_layout = #blockscale.tile_layout<k, padded, swizzled>, a_scale_layout = #blockscale.scale_tile_layout<parts>, b_layout = #blockscale.tile_layout<mn, bytes, swizzled>, b_scale_layout = #blockscale.scale_tile_layout<lanes>, instruction = {{[^}]*}}types =
!a = memref<128x256xi8, #gpu.address_space<workgroup>>
!sa = memref<2x2x32x8xi8, #gpu.address_space<workgroup>>
!b = memref<256x64xi8, #gpu.address_space<workgroup>>
!sb = memref<2x32x8xi8, #gpu.address_space<workgroup>>
!acc = !blockscale.acc<128x64, #blockscale.warps<2x2>>
func.func @tile_mma_t5_layouts(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %acc: !acc)
    -> !acc {
  %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
         types = <e2m1, e3m2, ue8m0, 32>
         instruction = <mma_sync, 16x8x32, mxf8f6f4, e2m1, e3m2, ue8m0, 1>
         {a_layout = #blockscale.tile_layout<k, padded, swizzled>,
          b_layout = #blockscale.tile_layout<mn, bytes, swizzled>,
          a_scale_layout = #blockscale.scale_tile_layout<parts>,
          b_scale_layout = #blockscale.scale_tile_layout<lanes>}
         : !a, !sa, !b, !sb, !acc
  return %sum : !acc
}

// With one scale for all, K is that of A: here its number of rows.

// CHECK-LABEL: func @tile_mma_t3_one_scale(
// CHECK:         blockscale.tile_mma {{.*}} {a_layout = #blockscale.tile_layout<mn, slots>} : memref<128x16xi8, #gpu.address_space<workgroup>>, i8, memref<8x128xi8, #gpu.address_space<workgroup>>, i8, <16x8, #blockscale.warps<1x1>>
!a1 = memref<128x16xi8, #gpu.address_space<workgroup>>
!b1 = memref<8x128xi8, #gpu.address_space<workgroup>>
!acc1 = !blockscale.acc<16x8, #blockscale.warps<1x1>>
func.func @tile_mma_t3_one_scale(%a: !a1, %s: i8, %b: !b1, %acc: !acc1)
    -> !acc1 {
  %sum = blockscale.tile_mma %a, %s, %b, %s, %acc types = <e4m3, e5m2, ue8m0, 32>
         instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
         {a_layout = #blockscale.tile_layout<mn, slots>}
         : !a1, i8, !b1, i8, !acc1
  return %sum : !acc1
}

// A group of 32 rows may have more than the tile, and a warp less than a group.

// CHECK-LABEL: func @tile_mma_t6_part_of_group(
// CHECK:         blockscale.tile_mma {{.*}} memref<1x32x4xi8, {{.*}}, <32x16, #blockscale.warps<2x2>>
!a2 = memref<32x128xi8, #gpu.address_space<workgroup>>
!b2 = memref<16x128xi8, #gpu.address_space<workgroup>>
!s2 = memref<1x32x4xi8, #gpu.address_space<workgroup>>
!acc2 = !blockscale.acc<32x16, #blockscale.warps<2x2>>
func.func @tile_mma_t6_part_of_group(%a: !a2, %s: !s2, %b: !b2, %acc: !acc2)
    -> !acc2 {
  %sum = blockscale.tile_mma %a, %s, %b, %s, %acc types = <e4m3, e5m2, ue8m0, 32>
         instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
         {a_scale_layout = #blockscale.scale_tile_layout<lanes>,
          b_scale_layout = #blockscale.scale_tile_layout<lanes>}
         : !a2, !s2, !b2, !s2, !acc2
  return %sum : !acc2
}

// CHECK-LABEL: func @in_bounds(
// CHECK:         %[[ACC:.*]] = blockscale.acc_load %{{.*}}[%{{.*}}, %{{.*}}] in_bounds : memref<16x8xf32> -> <16x8, #blockscale.warps<1x1>>
// CHECK:         blockscale.acc_store %[[ACC]], %{{.*}}[%{{.*}}, %{{.*}}] in_bounds : <16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
// GENERIC-LABEL: sym_name = "in_bounds"
// GENERIC:         "blockscale.acc_load"({{.*}}) <{in_bounds}>
// GENERIC:         "blockscale.acc_store"({{.*}}) <{in_bounds}>
func.func @in_bounds(%d: memref<16x8xf32>, %i: index) {
  %acc = blockscale.acc_load %d[%i, %i] in_bounds
         : memref<16x8xf32> -> !blockscale.acc<16x8, #blockscale.warps<1x1>>
  blockscale.acc_store %acc, %d[%i, %i] in_bounds
      : !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<16x8xf32>
  return
}

// CHECK-LABEL: func @bodies(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: memref<20x30xf32>, %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index)
// CHECK:         %[[ACC:.*]] = blockscale.acc_generate at(%[[I]], %[[J]]) of(%[[M]], %[[N]]) {
// CHECK-NEXT:    ^bb0(%[[ROW:.*]]: index, %[[COLUMN:.*]]: index):
// CHECK-NEXT:      %[[V:.*]] = memref.load %[[C]][%[[ROW]], %[[COLUMN]]]
// CHECK-NEXT:      blockscale.yield %[[V]] : f32
// CHECK-NEXT:    } : <16x8, #blockscale.warps<1x1>>
// CHECK:         blockscale.acc_for_each %[[ACC]] at(%[[I]], %[[J]]) of(%[[M]], %[[N]]) in_bounds {
// CHECK-NEXT:    ^bb0(%[[E:.*]]: f32, %[[ROW:.*]]: index, %[[COLUMN:.*]]: index):
// CHECK-NEXT:      memref.store %[[E]], %[[C]][%[[ROW]], %[[COLUMN]]]
// CHECK-NEXT:      blockscale.yield{{$}}
// CHECK-NEXT:    } : <16x8, #blockscale.warps<1x1>>
// GENERIC-LABEL: sym_name = "bodies"
// GENERIC:         "blockscale.acc_generate"({{.*}}) ({
// GENERIC:         "blockscale.acc_for_each"({{.*}}) <{in_bounds}> ({
func.func @bodies(%c: memref<20x30xf32>, %i: index, %j: index, %m: index,
                  %n: index) {
  %acc = blockscale.acc_generate at(%i, %j) of(%m, %n) {
  ^bb0(%row: index, %column: index):
    %v = memref.load %c[%row, %column] : memref<20x30xf32>
    blockscale.yield %v : f32
  } : !blockscale.acc<16x8, #blockscale.warps<1x1>>
  blockscale.acc_for_each %acc at(%i, %j) of(%m, %n) in_bounds {
  ^bb0(%e: f32, %row: index, %column: index):
    memref.store %e, %c[%row, %column] : memref<20x30xf32>
    blockscale.yield
  } : !blockscale.acc<16x8, #blockscale.warps<1x1>>
  return
}

// CHECK-LABEL: func @pairs(
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: !blockscale.acc<16x16, #blockscale.warps<1x1>>, %[[C:[a-z0-9]+]]: memref<20x16xf32>, %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index)
// CHECK:         blockscale.acc_for_each %[[ACC]] at(%[[I]], %[[J]]) of(%[[M]], %[[N]]) in_bounds aligned pairs {
// CHECK-NEXT:    ^bb0(%[[FIRST:.*]]: f32, %[[SECOND:.*]]: f32, %[[ROW:.*]]: index, %[[COLUMN:.*]]: index):
// CHECK-NEXT:      %[[V:.*]] = arith.mulf %[[FIRST]], %[[SECOND]] : f32
// CHECK-NEXT:      memref.store %[[V]], %[[C]][%[[ROW]], %[[COLUMN]]]
// CHECK-NEXT:      blockscale.yield{{$}}
// CHECK-NEXT:    } : <16x16, #blockscale.warps<1x1>>
// CHECK:         blockscale.acc_for_each %[[ACC]] at(%[[I]], %[[J]]) of(%[[M]], %[[N]]) pairs {
// GENERIC-LABEL: sym_name = "pairs"
// GENERIC:         "blockscale.acc_for_each"({{.*}}) <{aligned, in_bounds, pairs}> ({
// GENERIC:         "blockscale.acc_for_each"({{.*}}) <{pairs}> ({
func.func @pairs(%acc: !blockscale.acc<16x16, #blockscale.warps<1x1>>,
                 %c: memref<20x16xf32>, %i: index, %j: index, %m: index,
                 %n: index) {
  blockscale.acc_for_each %acc at(%i, %j) of(%m, %n) in_bounds aligned pairs {
  ^bb0(%first: f32, %second: f32, %row: index, %column: index):
    %v = arith.mulf %first, %second : f32
    memref.store %v, %c[%row, %column] : memref<20x16xf32>
    blockscale.yield
  } : !blockscale.acc<16x16, #blockscale.warps<1x1>>
  blockscale.acc_for_each %acc at(%i, %j) of(%m, %n) pairs {
  ^bb0(%first: f32, %second: f32, %row: index, %column: index):
    blockscale.yield
  } : !blockscale.acc<16x16, #blockscale.warps<1x1>>
  return
}

// CHECK-LABEL: func @quantized(
// CHECK:         blockscale.acc_quantize %{{.*}} at(%{{.*}}, %{{.*}}) of(%{{.*}}, %{{.*}}) to %{{.*}}, %{{.*}} {
// CHECK-NEXT:    ^bb0(%[[E:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT:      blockscale.yield %[[E]] : f32
// CHECK-NEXT:    } {block_size = 32 : i64, code_bits = 8 : i64, element = f8E4M3FN, rule = #blockscale.scale_rule<even>, scale = f8E8M0FNU} : <16x32, #blockscale.warps<1x1>>, memref<16x64xi8>, memref<1x1x32x16xi8>
// CHECK:         blockscale.acc_quantize %{{.*}} batch %{{.*}} tensor_scale(%{{.*}}) to %{{.*}}, %{{.*}} amax %{{.*}} in_bounds {
// CHECK:         } {block_size = 16 : i64, code_bits = 4 : i64, element = f4E2M1FN, scale = f8E4M3FN} : <16x32, #blockscale.warps<1x1>>, memref<2x16x32xi8>, memref<2x16x4xi8>, memref<f32>
// CHECK:         blockscale.acc_quantize %{{.*}} to %{{.*}}, %{{.*}} in_bounds pairs {
// CHECK-NEXT:    ^bb0(%[[FIRST:.*]]: f32, %[[SECOND:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// GENERIC-LABEL: sym_name = "quantized"
// GENERIC:         "blockscale.acc_quantize"({{.*}}) <{
func.func @quantized(%acc: !blockscale.acc<16x32, #blockscale.warps<1x1>>, %i: index,
                     %g: f32, %elements: memref<16x64xi8>, %atoms: memref<1x1x32x16xi8>,
                     %packed: memref<2x16x32xi8>, %scales: memref<2x16x4xi8>,
                     %amax: memref<f32>) {
  blockscale.acc_quantize %acc at(%i, %i) of(%i, %i) to %elements, %atoms {
  ^bb0(%e: f32, %row: index, %column: index):
    blockscale.yield %e : f32
  } {element = f8E4M3FN, scale = f8E8M0FNU, block_size = 32 : i64, code_bits = 8 : i64,
     rule = #blockscale.scale_rule<even>}
    : !blockscale.acc<16x32, #blockscale.warps<1x1>>, memref<16x64xi8>, memref<1x1x32x16xi8>
  blockscale.acc_quantize %acc at(%i, %i) of(%i, %i) batch %i tensor_scale(%g) to %packed, %scales
      amax %amax in_bounds {
  ^bb0(%e: f32, %row: index, %column: index):
    blockscale.yield %e : f32
  } {element = f4E2M1FN, scale = f8E4M3FN, block_size = 16 : i64, code_bits = 4 : i64}
    : !blockscale.acc<16x32, #blockscale.warps<1x1>>, memref<2x16x32xi8>, memref<2x16x4xi8>, memref<f32>
  blockscale.acc_quantize %acc at(%i, %i) of(%i, %i) to %elements, %atoms in_bounds pairs {
  ^bb0(%first: f32, %second: f32, %row: index, %column: index):
    blockscale.yield %second : f32
  } {element = f4E2M1FN, scale = f8E4M3FN, block_size = 16 : i64, code_bits = 8 : i64}
    : !blockscale.acc<16x32, #blockscale.warps<1x1>>, memref<16x64xi8>, memref<1x1x32x16xi8>
  return
}

// CHECK-LABEL: func @load_matrix(
// CHECK-SAME:    %[[TILE:[a-z0-9]+]]: memref<16x64xi8, #gpu.address_space<workgroup>>, %[[AT:[a-z0-9]+]]: index)
// CHECK-NEXT:    blockscale.load_matrix %[[TILE]][%[[AT]]] code_bits = 8 : memref<16x64xi8, #gpu.address_space<workgroup>> -> vector<2xi32>
// CHECK-NEXT:    blockscale.load_matrix %[[TILE]][%[[AT]]] + 16 code_bits = 6 transposed : memref<16x64xi8, #gpu.address_space<workgroup>> -> vector<4xi32>
// GENERIC-LABEL: sym_name = "load_matrix"
// GENERIC:         "blockscale.load_matrix"({{.*}}) <{code_bits = 8 : i64, plus = 0 : i64}>
// GENERIC:         "blockscale.load_matrix"({{.*}}) <{code_bits = 6 : i64, plus = 16 : i64, transposed}>
func.func @load_matrix(%tile: memref<16x64xi8, #gpu.address_space<workgroup>>,
                       %at: index) -> (vector<2xi32>, vector<4xi32>) {
  %0 = blockscale.load_matrix %tile[%at] code_bits = 8
       : memref<16x64xi8, #gpu.address_space<workgroup>> -> vector<2xi32>
  %1 = blockscale.load_matrix %tile[%at] + 16 code_bits = 6 transposed
       : memref<16x64xi8, #gpu.address_space<workgroup>> -> vector<4xi32>
  return %0, %1 : vector<2xi32>, vector<4xi32>
}

// CHECK-LABEL: func @launch(
// CHECK:         blockscale.launch @kernels::@f blocks = [2, 3, 1] threads = [128, 1, 1] shared = 65536 ins()
// GENERIC-LABEL: sym_name = "launch"
// GENERIC:         "blockscale.launch"({{.*}}) <{{{.*}}shared = 65536 : i64
func.func @launch(%d: tensor<3x32xf32>) -> tensor<3x32xf32> {
  %r = blockscale.launch @kernels::@f blocks = [2, 3, 1] threads = [128, 1, 1]
       shared = 65536 ins() outs(%d : tensor<3x32xf32>) -> tensor<3x32xf32>
  return %r : tensor<3x32xf32>
}

// Scales as atoms of the 32x4x4 layout, of which some are used. Types of 64 rows
// have an atom of 128.

// CHECK-LABEL: func @tile_mma_w5_blocks(
// CHECK-SAME:      %[[BLOCKS:[a-z0-9]+]]: index)
// CHECK:         blockscale.tile_mma %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{[a-z0-9]+}} blocks %[[BLOCKS]] types = <e4m3, e5m2, ue8m0, 32> instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1> {a_scale_layout = #blockscale.scale_tile_layout<atoms>, b_scale_layout = #blockscale.scale_tile_layout<atoms>} :
!a64 = memref<64x128xi8, #gpu.address_space<workgroup>>
!b256 = memref<256x128xi8, #gpu.address_space<workgroup>>
!atom = memref<1x1x32x16xi8, #gpu.address_space<workgroup>>
!atoms = memref<2x1x32x16xi8, #gpu.address_space<workgroup>>
!wide = !blockscale.acc<64x256, #blockscale.warps<2x4>>
func.func @tile_mma_w5_blocks(%a: !a64, %sa: !atom, %b: !b256, %sb: !atoms, %acc: !wide, %n: index) -> !wide {
  %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc blocks %n types = <e4m3, e5m2, ue8m0, 32>
         instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
         {a_scale_layout = #blockscale.scale_tile_layout<atoms>,
          b_scale_layout = #blockscale.scale_tile_layout<atoms>}
         : !a64, !atom, !b256, !atoms, !wide
  return %sum : !wide
}
