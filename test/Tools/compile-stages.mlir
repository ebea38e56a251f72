// What each stage of --target=cpu holds. The default is LLVM IR.

// RUN: blockscale-compile %s --target=cpu --emit=tile | FileCheck %s --check-prefix=TILE
// RUN: blockscale-compile %s --target=cpu --emit=kernel | FileCheck %s --check-prefix=KERNEL
// RUN: blockscale-compile %s --target=cpu --emit=llvm > %t.ll
// RUN: FileCheck %s --check-prefix=LLVM --input-file=%t.ll
// RUN: blockscale-compile %s --target=cpu > %t.default.ll
// RUN: diff %t.ll %t.default.ll
// RUN: blockscale-compile - --target=cpu < %s | FileCheck %s --check-prefix=LLVM

// The swizzles fold, sizes are checked, and our op is whole.
// TILE-LABEL:   func.func @main(
// TILE-NOT:       swizzle_scales
// TILE:           cf.assert
// TILE:           blockscale.mma_scaled
// TILE-NOT:       swizzle_scales

// KERNEL-LABEL: func.func @main(
// KERNEL-SAME:    memref<16x64xi8>, %{{.*}}: memref<16x2xi8>,
// KERNEL:         cf.assert
// KERNEL:         scf.for
// KERNEL-NOT:     {{blockscale\.|linalg\.|tensor<|vector<}}
// KERNEL:         return

// LLVM:         define {{.*}} @main(
func.func @main(%x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
                %y: tensor<64x?xf4E2M1FN>, %y_scale: tensor<2x?xf8E8M0FNU>,
                %acc: tensor<16x?xf32>) -> tensor<16x?xf32> {
  %swizzled = blockscale.swizzle_scales %x_scale
              : tensor<16x2xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
  %scale = blockscale.unswizzle_scales %swizzled
           : tensor<1x1x32x16xf8E8M0FNU> to tensor<16x2xf8E8M0FNU>
  %d = blockscale.mma_scaled %x, %scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<64x?xf4E2M1FN>, tensor<2x?xf8E8M0FNU>, tensor<16x?xf32>
  return %d : tensor<16x?xf32>
}
