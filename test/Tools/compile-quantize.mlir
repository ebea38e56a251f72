// Conversions ask for their PTX version; arithmetic does not.

// RUN: blockscale-compile %s --target=sm_80 | FileCheck %s --check-prefix=SM80
// RUN: blockscale-compile %s --target=sm_89 | FileCheck %s --check-prefix=SM89
// RUN: not blockscale-compile %s --target=sm_89 --ptx-version=78 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: blockscale-compile %s --target=sm_120a | FileCheck %s --check-prefix=SM120

// SM80:     .version 7.0
// SM80-NOT: e4m3x2
// SM89:     .version 8.1
// SM89:     cvt.rn.satfinite.e4m3x2.f32
// OLD:      PTX 7.8 is too old for sm_89 and the instructions of this program, expected at least 8.1
// SM120:    .version 8.7
// SM120:    cvt.rn.satfinite.e4m3x2.f32
func.func @mxfp8(%x: tensor<64x64xbf16>)
    -> (tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>) {
  %c, %s = blockscale.quantize %x {block_size = 32 : i64}
      : tensor<64x64xbf16> to tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>
  return %c, %s : tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>
}
