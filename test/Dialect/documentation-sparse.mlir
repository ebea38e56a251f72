// The examples in the descriptions of the ops on sparse operands.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-compile %s --target=cpu -o %t.ll

// CHECK-LABEL: func @sparse(
// CHECK:         blockscale.sparse_mma_scaled
func.func @sparse(%x: tensor<128x128xf8E4M3FN>, %metadata: tensor<128x32xi8>,
                  %x_scale: tensor<128x4xf8E8M0FNU>,
                  %y: tensor<256x64xf8E5M2>,
                  %y_scale: tensor<4x64xf8E8M0FNU>,
                  %acc: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %d = blockscale.sparse_mma_scaled %x, %metadata, %x_scale, %y, %y_scale,
       %acc {granularity = #blockscale.granularity<2:4>}
       : tensor<128x128xf8E4M3FN>, tensor<128x32xi8>,
         tensor<128x4xf8E8M0FNU>, tensor<256x64xf8E5M2>,
         tensor<4x64xf8E8M0FNU>, tensor<128x64xf32>
  return %d : tensor<128x64xf32>
}

// CHECK-LABEL: func @sparsify(
// CHECK:         blockscale.sparsify
func.func @sparsify(%v: tensor<128x256xbf16>) -> tensor<128x256xbf16> {
  %s = blockscale.sparsify %v {granularity = #blockscale.granularity<2:4>}
       : tensor<128x256xbf16>
  return %s : tensor<128x256xbf16>
}

// CHECK-LABEL: func @compress(
// CHECK:         blockscale.compress
func.func @compress(%d: tensor<128x256xf8E4M3FN>)
    -> (tensor<128x128xf8E4M3FN>, tensor<128x32xi8>) {
  %x, %metadata = blockscale.compress %d
      {granularity = #blockscale.granularity<2:4>}
      : tensor<128x256xf8E4M3FN>
      to tensor<128x128xf8E4M3FN>, tensor<128x32xi8>
  return %x, %metadata : tensor<128x128xf8E4M3FN>, tensor<128x32xi8>
}

// CHECK-LABEL: func @decompress(
// CHECK:         blockscale.decompress
func.func @decompress(%x: tensor<128x128xf4E2M1FN>,
                      %metadata: tensor<128x16xi8>)
    -> tensor<128x256xf4E2M1FN> {
  %d = blockscale.decompress %x, %metadata
       {granularity = #blockscale.granularity<pairs>}
       : tensor<128x128xf4E2M1FN>, tensor<128x16xi8>
       to tensor<128x256xf4E2M1FN>
  return %d : tensor<128x256xf4E2M1FN>
}

// CHECK-LABEL: func @tile(
// CHECK:         blockscale.tile_metadata
func.func @tile(%m: tensor<300x36xi8>) -> tensor<3x3x128x16xi8> {
  %t = blockscale.tile_metadata %m
       : tensor<300x36xi8> to tensor<3x3x128x16xi8>
  return %t : tensor<3x3x128x16xi8>
}

// CHECK-LABEL: func @untile(
// CHECK:         blockscale.untile_metadata
func.func @untile(%t: tensor<?x?x128x16xi8>, %m: index, %e: index)
    -> tensor<?x?xi8> {
  %r = blockscale.untile_metadata %t sizes(%m, %e)
       : tensor<?x?x128x16xi8> to tensor<?x?xi8>
  return %r : tensor<?x?xi8>
}
