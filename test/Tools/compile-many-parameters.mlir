// Parameters of a kernel that has as many as a word has bits, before its own
// ones go, with workgroup memory behind them.

// RUN: blockscale-compile %s --target=sm_100a -o /dev/null

func.func @main(%arg0: tensor<2x1x32xf8E4M3FN>, %arg1: tensor<2x1x1xf8E8M0FNU>, %arg2: tensor<2x200x32xf8E5M2>, %arg3: tensor<2x200x1xf8E8M0FNU>, %arg4: tensor<2x1x200xf32>, %arg5: tensor<2x128x8xf8E4M3FN>, %arg6: tensor<2x4x8xf8E8M0FNU>, %arg7: tensor<2x200x128xf8E5M2>, %arg8: tensor<2x200x4xf8E8M0FNU>, %arg9: tensor<2x8x200xf32>, %arg10: tensor<1x128xf8E4M3FN>, %arg11: tensor<1x1x32x16xf8E8M0FNU>, %arg12: tensor<128x300xf8E5M2>, %arg13: tensor<3x1x32x16xf8E8M0FNU>, %arg14: tensor<1x300xf32>, %arg15: tensor<2x8x32xf8E4M3FN>, %arg16: tensor<2x1x1x32x16xf8E8M0FNU>, %arg17: tensor<2x32x1xf8E5M2>, %arg18: tensor<2x1x1x32x16xf8E8M0FNU>, %arg19: tensor<2x8x1xf32>, %arg20: tensor<2x1x512xf8E4M3FN>, %arg21: tensor<2x1x4x32x16xf8E8M0FNU>, %arg22: tensor<2x128x512xf8E5M2>, %arg23: tensor<2x1x4x32x16xf8E8M0FNU>, %arg24: tensor<2x1x128xf32>, %arg25: tensor<96x64xf8E4M3FN>, %arg26: tensor<1x1x32x16xf8E8M0FNU>, %arg27: tensor<96x300xf8E5M2>, %arg28: tensor<3x1x32x16xf8E8M0FNU>, %arg29: tensor<64x300xf32>, %arg30: tensor<2x1120x64xf8E4M3FN>, %arg31: tensor<2x1x9x32x16xf8E8M0FNU>, %arg32: tensor<2x1120x40xf8E5M2>, %arg33: tensor<2x1x9x32x16xf8E8M0FNU>, %arg34: tensor<2x64x40xf32>, %arg35: tensor<2x128x17xf8E4M3FN>, %arg36: tensor<2x1x1x32x16xf8E8M0FNU>, %arg37: tensor<2x1x128xf8E5M2>, %arg38: tensor<2x1x1x32x16xf8E8M0FNU>, %arg39: tensor<2x17x1xf32>) -> (tensor<2x1x200xf32>, tensor<2x8x200xf32>, tensor<1x300xf32>, tensor<2x8x1xf32>, tensor<2x1x128xf32>, tensor<64x300xf32>, tensor<2x64x40xf32>, tensor<2x17x1xf32>) {
  %0 = tensor.empty() : tensor<2x32x200xf8E5M2>
  %1 = linalg.transpose ins(%arg2 : tensor<2x200x32xf8E5M2>) outs(%0 : tensor<2x32x200xf8E5M2>) permutation = [0, 2, 1]
  %2 = tensor.empty() : tensor<2x1x200xf8E8M0FNU>
  %3 = linalg.transpose ins(%arg3 : tensor<2x200x1xf8E8M0FNU>) outs(%2 : tensor<2x1x200xf8E8M0FNU>) permutation = [0, 2, 1]
  %4 = blockscale.mma_scaled %arg0, %arg1, %1, %3, %arg4 : tensor<2x1x32xf8E4M3FN>, tensor<2x1x1xf8E8M0FNU>, tensor<2x32x200xf8E5M2>, tensor<2x1x200xf8E8M0FNU>, tensor<2x1x200xf32>
  %5 = tensor.empty() : tensor<2x8x128xf8E4M3FN>
  %6 = linalg.transpose ins(%arg5 : tensor<2x128x8xf8E4M3FN>) outs(%5 : tensor<2x8x128xf8E4M3FN>) permutation = [0, 2, 1]
  %7 = tensor.empty() : tensor<2x8x4xf8E8M0FNU>
  %8 = linalg.transpose ins(%arg6 : tensor<2x4x8xf8E8M0FNU>) outs(%7 : tensor<2x8x4xf8E8M0FNU>) permutation = [0, 2, 1]
  %9 = tensor.empty() : tensor<2x128x200xf8E5M2>
  %10 = linalg.transpose ins(%arg7 : tensor<2x200x128xf8E5M2>) outs(%9 : tensor<2x128x200xf8E5M2>) permutation = [0, 2, 1]
  %11 = tensor.empty() : tensor<2x4x200xf8E8M0FNU>
  %12 = linalg.transpose ins(%arg8 : tensor<2x200x4xf8E8M0FNU>) outs(%11 : tensor<2x4x200xf8E8M0FNU>) permutation = [0, 2, 1]
  %13 = blockscale.mma_scaled %6, %8, %10, %12, %arg9 : tensor<2x8x128xf8E4M3FN>, tensor<2x8x4xf8E8M0FNU>, tensor<2x128x200xf8E5M2>, tensor<2x4x200xf8E8M0FNU>, tensor<2x8x200xf32>
  %14 = blockscale.unswizzle_scales %arg11 : tensor<1x1x32x16xf8E8M0FNU> to tensor<1x4xf8E8M0FNU>
  %15 = blockscale.unswizzle_scales %arg13 : tensor<3x1x32x16xf8E8M0FNU> to tensor<300x4xf8E8M0FNU>
  %16 = tensor.empty() : tensor<4x300xf8E8M0FNU>
  %17 = linalg.transpose ins(%15 : tensor<300x4xf8E8M0FNU>) outs(%16 : tensor<4x300xf8E8M0FNU>) permutation = [1, 0]
  %18 = blockscale.mma_scaled %arg10, %14, %arg12, %17, %arg14 : tensor<1x128xf8E4M3FN>, tensor<1x4xf8E8M0FNU>, tensor<128x300xf8E5M2>, tensor<4x300xf8E8M0FNU>, tensor<1x300xf32>
  %19 = blockscale.unswizzle_scales %arg16 : tensor<2x1x1x32x16xf8E8M0FNU> to tensor<2x8x1xf8E8M0FNU>
  %20 = blockscale.unswizzle_scales %arg18 : tensor<2x1x1x32x16xf8E8M0FNU> to tensor<2x1x1xf8E8M0FNU>
  %21 = tensor.empty() : tensor<2x1x1xf8E8M0FNU>
  %22 = linalg.transpose ins(%20 : tensor<2x1x1xf8E8M0FNU>) outs(%21 : tensor<2x1x1xf8E8M0FNU>) permutation = [0, 2, 1]
  %23 = blockscale.mma_scaled %arg15, %19, %arg17, %22, %arg19 : tensor<2x8x32xf8E4M3FN>, tensor<2x8x1xf8E8M0FNU>, tensor<2x32x1xf8E5M2>, tensor<2x1x1xf8E8M0FNU>, tensor<2x8x1xf32>
  %24 = blockscale.unswizzle_scales %arg21 : tensor<2x1x4x32x16xf8E8M0FNU> to tensor<2x1x16xf8E8M0FNU>
  %25 = tensor.empty() : tensor<2x512x128xf8E5M2>
  %26 = linalg.transpose ins(%arg22 : tensor<2x128x512xf8E5M2>) outs(%25 : tensor<2x512x128xf8E5M2>) permutation = [0, 2, 1]
  %27 = blockscale.unswizzle_scales %arg23 : tensor<2x1x4x32x16xf8E8M0FNU> to tensor<2x128x16xf8E8M0FNU>
  %28 = tensor.empty() : tensor<2x16x128xf8E8M0FNU>
  %29 = linalg.transpose ins(%27 : tensor<2x128x16xf8E8M0FNU>) outs(%28 : tensor<2x16x128xf8E8M0FNU>) permutation = [0, 2, 1]
  %30 = blockscale.mma_scaled %arg20, %24, %26, %29, %arg24 : tensor<2x1x512xf8E4M3FN>, tensor<2x1x16xf8E8M0FNU>, tensor<2x512x128xf8E5M2>, tensor<2x16x128xf8E8M0FNU>, tensor<2x1x128xf32>
  %31 = tensor.empty() : tensor<64x96xf8E4M3FN>
  %32 = linalg.transpose ins(%arg25 : tensor<96x64xf8E4M3FN>) outs(%31 : tensor<64x96xf8E4M3FN>) permutation = [1, 0]
  %33 = blockscale.unswizzle_scales %arg26 : tensor<1x1x32x16xf8E8M0FNU> to tensor<64x3xf8E8M0FNU>
  %34 = blockscale.unswizzle_scales %arg28 : tensor<3x1x32x16xf8E8M0FNU> to tensor<300x3xf8E8M0FNU>
  %35 = tensor.empty() : tensor<3x300xf8E8M0FNU>
  %36 = linalg.transpose ins(%34 : tensor<300x3xf8E8M0FNU>) outs(%35 : tensor<3x300xf8E8M0FNU>) permutation = [1, 0]
  %37 = blockscale.mma_scaled %32, %33, %arg27, %36, %arg29 : tensor<64x96xf8E4M3FN>, tensor<64x3xf8E8M0FNU>, tensor<96x300xf8E5M2>, tensor<3x300xf8E8M0FNU>, tensor<64x300xf32>
  %38 = tensor.empty() : tensor<2x64x1120xf8E4M3FN>
  %39 = linalg.transpose ins(%arg30 : tensor<2x1120x64xf8E4M3FN>) outs(%38 : tensor<2x64x1120xf8E4M3FN>) permutation = [0, 2, 1]
  %40 = blockscale.unswizzle_scales %arg31 : tensor<2x1x9x32x16xf8E8M0FNU> to tensor<2x64x35xf8E8M0FNU>
  %41 = blockscale.unswizzle_scales %arg33 : tensor<2x1x9x32x16xf8E8M0FNU> to tensor<2x40x35xf8E8M0FNU>
  %42 = tensor.empty() : tensor<2x35x40xf8E8M0FNU>
  %43 = linalg.transpose ins(%41 : tensor<2x40x35xf8E8M0FNU>) outs(%42 : tensor<2x35x40xf8E8M0FNU>) permutation = [0, 2, 1]
  %44 = blockscale.mma_scaled %39, %40, %arg32, %43, %arg34 : tensor<2x64x1120xf8E4M3FN>, tensor<2x64x35xf8E8M0FNU>, tensor<2x1120x40xf8E5M2>, tensor<2x35x40xf8E8M0FNU>, tensor<2x64x40xf32>
  %45 = tensor.empty() : tensor<2x17x128xf8E4M3FN>
  %46 = linalg.transpose ins(%arg35 : tensor<2x128x17xf8E4M3FN>) outs(%45 : tensor<2x17x128xf8E4M3FN>) permutation = [0, 2, 1]
  %47 = blockscale.unswizzle_scales %arg36 : tensor<2x1x1x32x16xf8E8M0FNU> to tensor<2x17x4xf8E8M0FNU>
  %48 = tensor.empty() : tensor<2x128x1xf8E5M2>
  %49 = linalg.transpose ins(%arg37 : tensor<2x1x128xf8E5M2>) outs(%48 : tensor<2x128x1xf8E5M2>) permutation = [0, 2, 1]
  %50 = blockscale.unswizzle_scales %arg38 : tensor<2x1x1x32x16xf8E8M0FNU> to tensor<2x1x4xf8E8M0FNU>
  %51 = tensor.empty() : tensor<2x4x1xf8E8M0FNU>
  %52 = linalg.transpose ins(%50 : tensor<2x1x4xf8E8M0FNU>) outs(%51 : tensor<2x4x1xf8E8M0FNU>) permutation = [0, 2, 1]
  %53 = blockscale.mma_scaled %46, %47, %49, %52, %arg39 : tensor<2x17x128xf8E4M3FN>, tensor<2x17x4xf8E8M0FNU>, tensor<2x128x1xf8E5M2>, tensor<2x4x1xf8E8M0FNU>, tensor<2x17x1xf32>
  return %4, %13, %18, %23, %30, %37, %44, %53 : tensor<2x1x200xf32>, tensor<2x8x200xf32>, tensor<1x300xf32>, tensor<2x8x1xf32>, tensor<2x1x128xf32>, tensor<64x300xf32>, tensor<2x64x40xf32>, tensor<2x17x1xf32>
}
