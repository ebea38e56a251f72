// Every constraint of mma_sp, and of tile_mma with metadata, broken.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected a sparse instruction of mma_sync, got kind::mxf8f6f4.scale_vec::1X of e4m3 times e4m3 with ue8m0 scales}}
func.func private @granularity() attributes {i = #blockscale.instruction<mma_sync, 16x8x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, pairs>}

// -----

// expected-error@+1 {{expected 16x8x64 for mma.sp.kind::mxf8f6f4.block_scale.scale_vec::1X, got 16x8x32}}
func.func private @shape() attributes {i = #blockscale.instruction<mma_sync, 16x8x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>}

// -----

// expected-error@+1 {{expected a sparse instruction of mma_sync, got kind::mxf4nvf4.scale_vec::4X of e2m1 times e2m1 with ue8m0 scales, which needs PTX 9.1}}
func.func private @version() attributes {i = #blockscale.instruction<mma_sync, 16x8x128, mxf4nvf4, e2m1, e2m1, ue8m0, 4, pairs>}

// -----

// expected-error@+1 {{expected the granularity 2:4 or pairs, got quads}}
func.func private @name() attributes {i = #blockscale.instruction<mma_sync, 16x8x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, quads>}

// -----

// expected-error@+1 {{expected a legal type combination, got e4m3 times e4m3 with ue8m0 scales and a block size of 16 of a sparse A, 2:4}}
func.func private @types() attributes {t = #blockscale.type_combination<e4m3, e4m3, ue8m0, 16, 2:4>}

// -----

func.func @mma_sync_m1(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %s: i32) {
  // expected-error@+1 {{'blockscale.mma_sync' op expected a dense instruction of mma_sync, got #blockscale.instruction<mma_sync, 16x8x64, mxf8f6f4, e4m3, e2m1, ue8m0, 1, 2:4>}}
  %d = blockscale.mma_sync <mma_sync, 16x8x64, mxf8f6f4, e4m3, e2m1, ue8m0, 1, 2:4> %a, %b, %c, %s[0, 0], %s[0, 0]
  return
}

// -----

func.func @mma_sp_p1(%a: vector<4xi32>, %b: vector<4xi32>, %c: vector<4xf32>, %s: i32) {
  // expected-error@+1 {{'blockscale.mma_sp' op expected a sparse instruction of mma_sync, got #blockscale.instruction<mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>}}
  %d = blockscale.mma_sp <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1> %a, %b, %c, %s, %s[0, 0], %s[0, 0]
  return
}

// -----

func.func @mma_sp_p2(%a: vector<4xi32>, %b: vector<4xi32>, %c: vector<4xf32>, %s: i32) {
  // expected-error@+1 {{expected the byte selector of b_scale to be one of 0, 2 for scale_vec::2X, got 1}}
  %d = blockscale.mma_sp <mma_sync, 16x8x128, mxf4, e2m1, e2m1, ue8m0, 2, pairs> %a, %b, %c, %s, %s[0, 0], %s[1, 0]
  return
}

// -----

func.func @tile_mma_t8_missing(%a: memref<16x128xi8, #gpu.address_space<workgroup>>, %s: i8,
                               %b: memref<8x256xi8, #gpu.address_space<workgroup>>,
                               %acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected metadata for a sparse instruction, got #blockscale.instruction<mma_sync, 16x8x64}}
  %d = blockscale.tile_mma %a, %s, %b, %s, %acc types = <e4m3, e4m3, ue8m0, 64, 2:4>
       instruction = <mma_sync, 16x8x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>
       : memref<16x128xi8, #gpu.address_space<workgroup>>, i8, memref<8x256xi8, #gpu.address_space<workgroup>>, i8,
         !blockscale.acc<16x8, #blockscale.warps<1x1>>
  return
}

// -----

func.func @tile_mma_t8_dense(%a: memref<16x128xi8, #gpu.address_space<workgroup>>, %s: i8,
                             %b: memref<8x128xi8, #gpu.address_space<workgroup>>,
                             %acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>,
                             %e: memref<2x16x16xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{'blockscale.tile_mma' op expected metadata only for a sparse instruction, got #blockscale.instruction<mma_sync, 16x8x32}}
  %d = blockscale.tile_mma %a, %s, %b, %s, %acc metadata %e types = <e4m3, e4m3, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
       : memref<16x128xi8, #gpu.address_space<workgroup>>, i8, memref<8x128xi8, #gpu.address_space<workgroup>>, i8,
         !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<2x16x16xi8, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @tile_mma_t8_shape(%a: memref<16x128xi8, #gpu.address_space<workgroup>>, %s: i8,
                             %b: memref<8x256xi8, #gpu.address_space<workgroup>>,
                             %acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>,
                             %e: memref<1x16x32xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{expected metadata of the shape C x 16 x 8 or 16, of 32 bytes for each row, got 'memref<1x16x32xi8}}
  %d = blockscale.tile_mma %a, %s, %b, %s, %acc metadata %e types = <e4m3, e4m3, ue8m0, 64, 2:4>
       instruction = <mma_sync, 16x8x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>
       : memref<16x128xi8, #gpu.address_space<workgroup>>, i8, memref<8x256xi8, #gpu.address_space<workgroup>>, i8,
         !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<1x16x32xi8, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @tile_mma_t8_memory(%a: memref<16x128xi8, #gpu.address_space<workgroup>>, %s: i8,
                              %b: memref<8x256xi8, #gpu.address_space<workgroup>>,
                              %acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>, %e: memref<2x16x16xi8>) {
  // expected-error@+1 {{expected metadata to have a static shape, the identity layout and the workgroup memory space, got 'memref<2x16x16xi8>'}}
  %d = blockscale.tile_mma %a, %s, %b, %s, %acc metadata %e types = <e4m3, e4m3, ue8m0, 64, 2:4>
       instruction = <mma_sync, 16x8x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>
       : memref<16x128xi8, #gpu.address_space<workgroup>>, i8, memref<8x256xi8, #gpu.address_space<workgroup>>, i8,
         !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<2x16x16xi8>
  return
}

// -----

// K is 256 by the scales.
func.func @tile_mma_kept(%a: memref<16x256xi8, #gpu.address_space<workgroup>>,
                         %s: memref<16x4xi8, #gpu.address_space<workgroup>>,
                         %b: memref<8x256xi8, #gpu.address_space<workgroup>>, %t: i8,
                         %acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>,
                         %e: memref<2x16x16xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{expected a to have 128 bytes per row for 128 elements, got 256}}
  %d = blockscale.tile_mma %a, %s, %b, %t, %acc metadata %e types = <e4m3, e4m3, ue8m0, 64, 2:4>
       instruction = <mma_sync, 16x8x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>
       : memref<16x256xi8, #gpu.address_space<workgroup>>, memref<16x4xi8, #gpu.address_space<workgroup>>,
         memref<8x256xi8, #gpu.address_space<workgroup>>, i8,
         !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<2x16x16xi8, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @tile_mma_t8_columns(%a: memref<16x128xi8, #gpu.address_space<workgroup>>, %s: i8,
                               %b: memref<2x8x128xi8, #gpu.address_space<workgroup>>,
                               %acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>,
                               %e: memref<2x16x16xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{expected b to have two dimensions, got 'memref<2x8x128xi8}}
  %d = blockscale.tile_mma %a, %s, %b, %s, %acc metadata %e types = <e4m3, e4m3, ue8m0, 64, 2:4>
       instruction = <mma_sync, 16x8x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4>
       : memref<16x128xi8, #gpu.address_space<workgroup>>, i8, memref<2x8x128xi8, #gpu.address_space<workgroup>>, i8,
         !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<2x16x16xi8, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @tile_mma_t8_three_columns(%a: memref<16x128xi8, #gpu.address_space<workgroup>>, %s: i8,
                                     %b: memref<4x8x64xi8, #gpu.address_space<workgroup>>,
                                     %acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>,
                                     %e: memref<2x16x16xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{expected b to have two dimensions, or two columns with rows along K, got 'memref<4x8x64xi8}}
  %d = blockscale.tile_mma %a, %s, %b, %s, %acc metadata %e types = <e4m3, e4m3, ue8m0, 64, 2:4>
       instruction = <mma_sync, 16x8x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4> {metadata_atoms}
       : memref<16x128xi8, #gpu.address_space<workgroup>>, i8, memref<4x8x64xi8, #gpu.address_space<workgroup>>, i8,
         !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<2x16x16xi8, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @tile_mma_t8_atoms(%a: memref<16x128xi8, #gpu.address_space<workgroup>>, %s: i8,
                             %b: memref<2x8x128xi8, #gpu.address_space<workgroup>>,
                             %acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>,
                             %e: memref<4x16x8xi8, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{expected metadata of the shape C x 16 x 16, of 32 bytes for each row, got 'memref<4x16x8xi8}}
  %d = blockscale.tile_mma %a, %s, %b, %s, %acc metadata %e types = <e4m3, e4m3, ue8m0, 64, 2:4>
       instruction = <mma_sync, 16x8x64, mxf8f6f4, e4m3, e4m3, ue8m0, 1, 2:4> {metadata_atoms}
       : memref<16x128xi8, #gpu.address_space<workgroup>>, i8, memref<2x8x128xi8, #gpu.address_space<workgroup>>, i8,
         !blockscale.acc<16x8, #blockscale.warps<1x1>>, memref<4x16x8xi8, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @tile_mma_t8_dense_atoms(%a: memref<16x128xi8, #gpu.address_space<workgroup>>, %s: i8,
                                   %b: memref<8x128xi8, #gpu.address_space<workgroup>>,
                                   %acc: !blockscale.acc<16x8, #blockscale.warps<1x1>>) {
  // expected-error@+1 {{expected metadata for a block-scaled instruction with metadata_atoms, got #blockscale.instruction<mma_sync, 16x8x32}}
  %d = blockscale.tile_mma %a, %s, %b, %s, %acc types = <e4m3, e4m3, ue8m0, 32>
       instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1> {metadata_atoms}
       : memref<16x128xi8, #gpu.address_space<workgroup>>, i8, memref<8x128xi8, #gpu.address_space<workgroup>>, i8,
         !blockscale.acc<16x8, #blockscale.warps<1x1>>
  return
}
