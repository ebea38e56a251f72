// RUN: blockscale-opt --canonicalize --split-input-file %s | FileCheck %s

// Pairs that cancel, and constants.

// CHECK-LABEL: func.func @sparsify_twice(
// CHECK-COUNT-1: blockscale.sparsify
// CHECK-NOT: blockscale.sparsify
func.func @sparsify_twice(%v: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = blockscale.sparsify %v {granularity = #blockscale.granularity<2:4>} : tensor<4x8xf32>
  %b = blockscale.sparsify %a {granularity = #blockscale.granularity<2:4>} : tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// -----

// Other pairs of elements may be kept then.
// CHECK-LABEL: func.func @sparsify_other(
// CHECK-COUNT-2: blockscale.sparsify
func.func @sparsify_other(%v: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = blockscale.sparsify %v {granularity = #blockscale.granularity<2:4>} : tensor<4x8xf32>
  %b = blockscale.sparsify %a {granularity = #blockscale.granularity<pairs>} : tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// -----

// Ties go to the lower index, NaN is the largest, and what is not kept is +0.
// CHECK-LABEL: func.func @sparsify_constant(
// CHECK: arith.constant dense<[1.000000e+00, -1.000000e+00, 0.000000e+00, 0.000000e+00, 0x7FC00000, 0.000000e+00, 0.000000e+00, 0xFF800000]> : tensor<8xf32>
func.func @sparsify_constant() -> tensor<8xf32> {
  %v = arith.constant dense<[1.0, -1.0, 1.0, -0.5, 0x7FC00000, 3.0, -2.0, 0xFF800000]> : tensor<8xf32>
  %s = blockscale.sparsify %v {granularity = #blockscale.granularity<2:4>} : tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @sparsify_pairs(
// CHECK: arith.constant dense<[0.000000e+00, 0.000000e+00, 1.000000e+00, 2.500000e+00, 0.000000e+00, 0.000000e+00, -4.000000e+00, 0.000000e+00]> : tensor<8xf32>
func.func @sparsify_pairs() -> tensor<8xf32> {
  %v = arith.constant dense<[3.0, 0.0, 1.0, 2.5, -1.5, 1.5, -4.0, 0.0]> : tensor<8xf32>
  %s = blockscale.sparsify %v {granularity = #blockscale.granularity<pairs>} : tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// Chunks: 1 and 3; none (-0 is zero): 0 and 1; 2 alone: 2 and 3; 3 alone: 0 and 3.
// CHECK-LABEL: func.func @compress_constant(
// CHECK-DAG: %[[X:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00, 0.000000e+00, 0.000000e+00, 3.000000e+00, 0.000000e+00, 0.000000e+00, 4.000000e+00]> : tensor<8xf8E4M3FN>
// CHECK-DAG: %[[M:.*]] = arith.constant dense<[77, -50]> : tensor<2xi8>
// CHECK: return %[[X]], %[[M]]
func.func @compress_constant() -> (tensor<8xf8E4M3FN>, tensor<2xi8>) {
  %d = arith.constant dense<[0.0, 1.0, 0.0, 2.0, -0.0, 0.0, -0.0, 0.0, 0.0, 0.0, 3.0, -0.0, -0.0, 0.0, 0.0, 4.0]> : tensor<16xf8E4M3FN>
  %x, %m = blockscale.compress %d {granularity = #blockscale.granularity<2:4>} : tensor<16xf8E4M3FN> to tensor<8xf8E4M3FN>, tensor<2xi8>
  return %x, %m : tensor<8xf8E4M3FN>, tensor<2xi8>
}

// -----

// The program reports it at run time.
// CHECK-LABEL: func.func @compress_too_many(
// CHECK: blockscale.compress
func.func @compress_too_many() -> (tensor<4xf8E4M3FN>, tensor<1xi8>) {
  %d = arith.constant dense<[1.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0]> : tensor<8xf8E4M3FN>
  %x, %m = blockscale.compress %d {granularity = #blockscale.granularity<2:4>} : tensor<8xf8E4M3FN> to tensor<4xf8E4M3FN>, tensor<1xi8>
  return %x, %m : tensor<4xf8E4M3FN>, tensor<1xi8>
}

// -----

// Pairs 1 and 2 of the first chunk, 0 and 3 of the second: fields 1001, 1100.
// CHECK-LABEL: func.func @decompress_constant(
// CHECK: arith.constant dense<[0.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 0.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 6.000000e+00]> : tensor<16xf4E2M1FN>
func.func @decompress_constant() -> tensor<16xf4E2M1FN> {
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 0.5, 0.0, 0.0, 6.0]> : tensor<8xf4E2M1FN>
  %m = arith.constant dense<0xC9> : tensor<1xi8>
  %d = blockscale.decompress %x, %m {granularity = #blockscale.granularity<pairs>} : tensor<8xf4E2M1FN>, tensor<1xi8> to tensor<16xf4E2M1FN>
  return %d : tensor<16xf4E2M1FN>
}

// -----

// 0110 is not legal; 0000 is, for zeros.
// CHECK-LABEL: func.func @decompress_illegal(
// CHECK: blockscale.decompress
func.func @decompress_illegal() -> tensor<8xf8E4M3FN> {
  %x = arith.constant dense<1.0> : tensor<4xf8E4M3FN>
  %m = arith.constant dense<0x46> : tensor<1xi8>
  %d = blockscale.decompress %x, %m {granularity = #blockscale.granularity<2:4>} : tensor<4xf8E4M3FN>, tensor<1xi8> to tensor<8xf8E4M3FN>
  return %d : tensor<8xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @decompress_empty(
// CHECK: arith.constant dense<[0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 0.000000e+00]> : tensor<8xf8E4M3FN>
func.func @decompress_empty() -> tensor<8xf8E4M3FN> {
  %x = arith.constant dense<[0.0, 0.0, 1.0, 2.0]> : tensor<4xf8E4M3FN>
  %m = arith.constant dense<0x40> : tensor<1xi8>
  %d = blockscale.decompress %x, %m {granularity = #blockscale.granularity<2:4>} : tensor<4xf8E4M3FN>, tensor<1xi8> to tensor<8xf8E4M3FN>
  return %d : tensor<8xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @untile_tile(
// CHECK-SAME: %[[M:.*]]: tensor<300x36xi8>
// CHECK: return %[[M]]
func.func @untile_tile(%m: tensor<300x36xi8>) -> tensor<300x36xi8> {
  %t = blockscale.tile_metadata %m : tensor<300x36xi8> to tensor<3x3x128x16xi8>
  %u = blockscale.untile_metadata %t : tensor<3x3x128x16xi8> to tensor<300x36xi8>
  return %u : tensor<300x36xi8>
}

// -----

// CHECK-LABEL: func.func @tile_untile(
// CHECK-SAME: %[[T:.*]]: tensor<2x3x128x16xi8>
// CHECK: return %[[T]]
func.func @tile_untile(%t: tensor<2x3x128x16xi8>) -> tensor<2x3x128x16xi8> {
  %u = blockscale.untile_metadata %t : tensor<2x3x128x16xi8> to tensor<384x32xi8>
  %r = blockscale.tile_metadata %u : tensor<384x32xi8> to tensor<2x3x128x16xi8>
  return %r : tensor<2x3x128x16xi8>
}

// -----

// The padding may differ.
// CHECK-LABEL: func.func @tile_untile_padding(
// CHECK: blockscale.untile_metadata
// CHECK: blockscale.tile_metadata
func.func @tile_untile_padding(%t: tensor<2x3x128x16xi8>) -> tensor<2x3x128x16xi8> {
  %u = blockscale.untile_metadata %t : tensor<2x3x128x16xi8> to tensor<383x32xi8>
  %r = blockscale.tile_metadata %u : tensor<383x32xi8> to tensor<2x3x128x16xi8>
  return %r : tensor<2x3x128x16xi8>
}

// -----

// CHECK-LABEL: func.func @tile_constant(
// CHECK: arith.constant dense<"0x0102444444444444444444444444444403044444444444444444444444444444{{(4)*}}"> : tensor<1x1x128x16xi8>
func.func @tile_constant() -> tensor<1x1x128x16xi8> {
  %m = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %t = blockscale.tile_metadata %m : tensor<2x2xi8> to tensor<1x1x128x16xi8>
  return %t : tensor<1x1x128x16xi8>
}

// -----

// CHECK-LABEL: func.func @untile_tile_dynamic(
// CHECK-SAME: %[[M:.*]]: tensor<?x?xi8>
// CHECK: return %[[M]]
func.func @untile_tile_dynamic(%m: tensor<?x?xi8>) -> tensor<?x?xi8> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %m, %c0 : tensor<?x?xi8>
  %bytes = tensor.dim %m, %c1 : tensor<?x?xi8>
  %t = blockscale.tile_metadata %m : tensor<?x?xi8> to tensor<?x?x128x16xi8>
  %u = blockscale.untile_metadata %t sizes(%rows, %bytes) : tensor<?x?x128x16xi8> to tensor<?x?xi8>
  return %u : tensor<?x?xi8>
}

// -----

// CHECK-LABEL: func.func @untile_tile_other_sizes(
// CHECK: blockscale.untile_metadata
func.func @untile_tile_other_sizes(%m: tensor<?x16xi8>, %rows: index) -> tensor<?x16xi8> {
  %t = blockscale.tile_metadata %m : tensor<?x16xi8> to tensor<1x?x128x16xi8>
  %u = blockscale.untile_metadata %t sizes(%rows) : tensor<1x?x128x16xi8> to tensor<?x16xi8>
  return %u : tensor<?x16xi8>
}

// -----

// A size that does not fit stays dynamic, and fails at run time.
// CHECK-LABEL: func.func @constant_sizes(
// CHECK: %[[U:.*]] = blockscale.untile_metadata %{{.*}} : tensor<1x3x128x16xi8> to tensor<300x9xi8>
// CHECK: tensor.cast %[[U]] : tensor<300x9xi8> to tensor<?x?xi8>
// CHECK: blockscale.untile_metadata %{{.*}} sizes(%{{.*}}) : tensor<1x3x128x16xi8> to tensor<?x9xi8>
func.func @constant_sizes(%t: tensor<1x3x128x16xi8>) -> (tensor<?x?xi8>, tensor<?x9xi8>) {
  %c300 = arith.constant 300 : index
  %c9 = arith.constant 9 : index
  %c200 = arith.constant 200 : index
  %u = blockscale.untile_metadata %t sizes(%c300, %c9) : tensor<1x3x128x16xi8> to tensor<?x?xi8>
  %v = blockscale.untile_metadata %t sizes(%c200) : tensor<1x3x128x16xi8> to tensor<?x9xi8>
  return %u, %v : tensor<?x?xi8>, tensor<?x9xi8>
}
