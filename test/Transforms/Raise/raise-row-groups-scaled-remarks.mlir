// Block-scaled rows that name their groups, which are almost raised: other blocks, no scales, scales of y for all groups,
// two dimensions of rows, x that is chosen, too.

// DEFINE: %{edit} =
// DEFINE: %{raise} = sed -e "/RUN\|DEFINE/d; %{edit}" %s | blockscale-opt --blockscale-raise
// RUN: blockscale-opt %s --blockscale-raise 2>&1 | FileCheck %s --check-prefix=RAISED
// RAISED-NOT: remark:
// RAISED: blockscale.grouped_mma_scaled

// RUN: blockscale-opt %s --blockscale-raise=report-only 2>&1 | FileCheck %s --check-prefix=REPORT
// REPORT-NOT: remark:
// REPORT: remark: a product whose rows name their matrices stays scalar arithmetic; blockscale-raise (--raise) makes it blockscale.grouped_mma_scaled{{$}}
// REPORT-NOT: remark:

// REDEFINE: %{edit} = s/constant 32/constant 16/; s/4x2x8xf8E8/4x4x8xf8E8/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: remark: not raised to blockscale.grouped_mma_scaled: expected y_scale of type f8E8M0FNU to have blocks of 32, 64, 128 or all of K, got <rows = 1, k = 16>{{$}}
// REDEFINE: %{edit} = s/mulf %%a_value, %%b_value/mulf %%a_element, %%b_element/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=SCALES
// SCALES: remark: not raised to blockscale.grouped_mma_scaled: expected scales of blocks{{$}}
// REDEFINE: %{edit} = s/extract %%ys\[%%g, %%block, %%n\] : tensor<4x2x8xf8E8M0FNU>/extract %%common[%%block, %%n] : tensor<2x8xf8E8M0FNU>/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=COMMON
// COMMON: remark: not raised to blockscale.grouped_mma_scaled: only one of y and y_scale has the batch{{$}}
// REDEFINE: %{edit} = s/(i, m, k)/(i, j, m, k)/g; s/-> (i)>/-> (i, j)>/; s/-> (i, m)>/-> (i, j, m)>/; s/\(.parallel., \)/\1\1/; s/tensor<10x8xf32>/tensor<10x2x8xf32>/g; s/10xi32/10x2xi32/g; s/%%n = linalg.index 1/%%n = linalg.index 2/; s/%%k = linalg.index 2/%%k = linalg.index 3/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: remark: not raised to blockscale.grouped_mma_scaled: expected one dimension for block-scaled rows, got two{{$}}
// Only a part of y, or of its scales, is read: of K, of N, of groups.
// REDEFINE: %{edit} = s/4x64x8xf8/4x96x8xf8/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=PART
// REDEFINE: %{edit} = s/4x64x8xf8/4x64x9xf8/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=PART
// REDEFINE: %{edit} = s/4x64x8xf8/4x?x8xf8/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=PART
// REDEFINE: %{edit} = s/4x64x8xf8/5x64x8xf8/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=PART
// REDEFINE: %{edit} = s/4x2x8xf8/5x2x8xf8/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=PART
// REDEFINE: %{edit} = s/4x2x8xf8/4x3x8xf8/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=PART
// PART: remark: not raised to blockscale.grouped_mma_scaled: y{{(_scale)?}} of type tensor<{{.*}}> is not known to have just the sizes of N and {{.*}}K{{$}}
// REDEFINE: %{edit} = s/extf %%a :/extf %%chosen :/; s/extf %%sa :/extf %%chosen_scale :/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=CHOSEN
// CHOSEN: remark: not raised to blockscale.grouped_mma_scaled: expected only y to be chosen by numbers of groups{{$}}

func.func @scaled(%x: tensor<10x64xf8E4M3FN>, %xs: tensor<10x2xf8E8M0FNU>, %ids: tensor<10xi32>, %y: tensor<4x64x8xf8E5M2>,
                  %ys: tensor<4x2x8xf8E8M0FNU>, %common: tensor<2x8xf8E8M0FNU>, %xs_of_groups: tensor<4x10x2xf8E8M0FNU>,
                  %x_of_groups: tensor<4x10x64xf8E4M3FN>) -> tensor<10x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<10x8xf32>
  %c32 = arith.constant 32 : index
  %d = linalg.generic {indexing_maps = [affine_map<(i, m, k) -> (i, k)>, affine_map<(i, m, k) -> (i, k floordiv 32)>,
                                        affine_map<(i, m, k) -> (i)>, affine_map<(i, m, k) -> (i, m)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %xs, %ids : tensor<10x64xf8E4M3FN>, tensor<10x2xf8E8M0FNU>, tensor<10xi32>) outs(%zeros : tensor<10x8xf32>) {
  ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %id: i32, %c: f32):
    %g = arith.index_cast %id : i32 to index
    %i = linalg.index 0 : index
    %n = linalg.index 1 : index
    %k = linalg.index 2 : index
    %block = arith.divui %k, %c32 : index
    %b = tensor.extract %y[%g, %k, %n] : tensor<4x64x8xf8E5M2>
    %sb = tensor.extract %ys[%g, %block, %n] : tensor<4x2x8xf8E8M0FNU>
    %chosen = tensor.extract %x_of_groups[%g, %i, %k] : tensor<4x10x64xf8E4M3FN>
    %chosen_scale = tensor.extract %xs_of_groups[%g, %i, %block] : tensor<4x10x2xf8E8M0FNU>
    %a_element = arith.extf %a : f8E4M3FN to f32
    %a_scale = arith.extf %sa : f8E8M0FNU to f32
    %a_value = arith.mulf %a_element, %a_scale : f32
    %b_element = arith.extf %b : f8E5M2 to f32
    %b_scale = arith.extf %sb : f8E8M0FNU to f32
    %b_value = arith.mulf %b_element, %b_scale : f32
    %both = arith.mulf %a_value, %b_value : f32
    %s = arith.addf %c, %both : f32
    linalg.yield %s : f32
  } -> tensor<10x8xf32>
  return %d : tensor<10x8xf32>
}
