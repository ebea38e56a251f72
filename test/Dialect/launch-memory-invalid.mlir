// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

// Launches and tensor maps that do not match memory.

// Two elements in an element of the map, for memory with a byte for each.
#map = #blockscale.tensor_map<"u1", sizes = affine_map<()[m, k] -> (m, k)>,
                              strides = affine_map<()[m, k] -> (k)>,
                              box = [4, 16], element_strides = [1, 1],
                              swizzle = "none", fill = "zero", l2 = "none", codes = 2>
func.func @launch_l4_elements(%x: tensor<32x64xf4E2M1FN>, %d: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'blockscale.launch' op expected a tensor map of one code in each element, as memory has 'tensor<32x64xf4E2M1FN>' in bytes, got 2 of #blockscale.tensor_map}}
  %0 = blockscale.launch @k::@f blocks = [2, 1, 1] threads = [32, 1, 1]
       tensor_maps = [#map] of [0]
       ins(%x : tensor<32x64xf4E2M1FN>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Packed elements of the same memory.
#map = #blockscale.tensor_map<"u6x16_align16", sizes = affine_map<()[m, k] -> (m, k)>,
                              strides = affine_map<()[m, k] -> (k)>,
                              box = [4, 128], element_strides = [1, 1],
                              swizzle = "128", fill = "zero", l2 = "none">
func.func @launch_l4_packed(%x: tensor<32x128xf6E2M3FN>, %d: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'blockscale.launch' op expected a tensor map of one code in each element, as memory has 'tensor<32x128xf6E2M3FN>' in bytes, got 1 of #blockscale.tensor_map}}
  %0 = blockscale.launch @k::@f blocks = [2, 1, 1] threads = [32, 1, 1]
       tensor_maps = [#map] of [0]
       ins(%x : tensor<32x128xf6E2M3FN>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Beyond the end.
#map = #blockscale.tensor_map<"u1", sizes = affine_map<()[m, k] -> (m, k)>,
                              strides = affine_map<()[m, k] -> (k * 2)>,
                              box = [4, 16], element_strides = [1, 1],
                              swizzle = "none", fill = "zero", l2 = "none">
func.func @launch_l4_inside(%x: tensor<32x64xi8>, %d: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'blockscale.launch' op with a tensor map of memory of 32x64 elements: expected a tensor of at most 2048 bytes, as its memory has, got 4032}}
  %0 = blockscale.launch @k::@f blocks = [2, 1, 1] threads = [32, 1, 1]
       tensor_maps = [#map] of [0]
       ins(%x : tensor<32x64xi8>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{expected an innermost size of a multiple of 16 bytes for a box, got 8 elements of 8 bits}}
#map = #blockscale.tensor_map<"u1", sizes = affine_map<()[m, k] -> (m, k)>,
                              strides = affine_map<()[m, k] -> (k)>,
                              box = [4, 8], element_strides = [1, 1],
                              swizzle = "none", fill = "zero", l2 = "none">

// -----

#map = #blockscale.tensor_map<"u1", sizes = affine_map<()[m, k] -> (m, k)>,
                              strides = affine_map<()[m, k] -> (k)>,
                              box = [4, 16], element_strides = [1, 1],
                              swizzle = "none", fill = "zero", l2 = "none">
func.func @tensor_map_m2(%x: memref<4x24xi8>) {
  // expected-error@+1 {{'blockscale.tensor_map' op with a tensor map of memory of 4x24 elements: expected a stride that is a multiple of 16 and less than 2^40 bytes for u1 in dimension 0, got 24}}
  %map = blockscale.tensor_map %x : memref<4x24xi8> with #map
  return
}

// -----

func.func @result_sizes_z1(%m: index, %r: memref<?x4x?xf32>) {
  // expected-error@+1 {{'blockscale.result_sizes' op expected a size for each of 2 dynamic sizes of 'memref<?x4x?xf32>', got 1}}
  blockscale.result_sizes %r sizes(%m) : memref<?x4x?xf32>
  return
}
