// Rows that name their groups and are almost raised: each edit of the product below, which is, has a reason.

// DEFINE: %{edit} =
// DEFINE: %{raise} = sed -e "/RUN\|DEFINE/d; %{edit}" %s | blockscale-opt --blockscale-raise
// RUN: blockscale-opt %s --blockscale-raise 2>&1 | FileCheck %s --check-prefix=RAISED
// RAISED-NOT: remark:
// RAISED: blockscale.grouped_matmul

// RUN: blockscale-opt %s --blockscale-raise=report-only 2>&1 | FileCheck %s --check-prefix=REPORT
// REPORT: remark: a product whose rows name their matrices stays scalar arithmetic; blockscale-raise (--raise) makes it blockscale.grouped_matmul{{$}}
// REPORT: linalg.generic

// REDEFINE: %{edit} = s/mulf %%af, %%bf/mulf %%sum, %%bf/; s/%%p = /%%sum = arith.addf %%af, %%af : f32 %%p = /
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=ELEMENT
// ELEMENT: remark: not raised to blockscale.grouped_matmul: expected the product of an element of x and one of y, each extended at most{{$}}
// ELEMENT: linalg.generic

// REDEFINE: %{edit} = s/extract %%y\[%%g, %%k, %%n\]/extract %%y[%%g, %%k, %%k]/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=Y
// REDEFINE: %{edit} = s/%%n = linalg.index 1 : index/%%n = arith.constant 1 : index/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=Y
// Y: expected y to be read at K and N{{$}}

// REDEFINE: %{edit} = s/-> (i, n)>/-> (i, 0, n)>/; s/10x24xf32/10x1x24xf32/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: expected a result of one or two dimensions for rows, and N, got one that is written at (d0, d1, d2) -> (d0, 0, d1){{$}}

// REDEFINE: %{edit} = s/-> (i)>/-> (n)>/; s/tensor<10xi32>/tensor<24xi32>/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=IDS
// IDS: expected one number of a group for each row, got one that is read at (d0, d1, d2) -> (d1){{$}}

// REDEFINE: %{edit} = s/-> (i, k)>/-> (k, i)>/; s/10x64/64x10/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=X
// X: expected x to be read at rows and K, got (d0, d1, d2) -> (d2, d0){{$}}

// REDEFINE: %{edit} = s/f32/f64/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=SUM
// SUM: it accumulates in f64, expected f32{{$}}

// REDEFINE: %{edit} = s/10x64xbf16/10x64xf16/g; s/%%a: bf16/%%a: f16/; s/extf %%a : bf16/extf %%a : f16/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=TYPES
// TYPES: expected x and y of bf16 or of f16, got f16 and bf16{{$}}

// REDEFINE: %{edit} = s/i32/i16/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: expected numbers of groups of type i32 or i64, got i16{{$}}

// REDEFINE: %{edit} = s/dense<0.0>/dense<-0.0>/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=ACC
// ACC: expected an accumulator of zeros{{$}}

// REDEFINE: %{edit} = s/4x64x24/2049x64x24/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=GROUPS
// REDEFINE: %{edit} = s/4x64x24/?x64x24/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=GROUPS
// GROUPS: expected from 1 to 2048 groups, got y of type tensor<{{.*}}x64x24xbf16>{{$}}

// REDEFINE: %{edit} = s/tensor<10x/tensor<2147483648x/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: expected fewer than 2^31 rows, got 2147483648{{$}}

// Only a part of y is read.
// REDEFINE: %{edit} = s/4x64x24/4x64x25/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=WHOLE
// REDEFINE: %{edit} = s/4x64x24/4x65x24/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: expected y to have the K of x, tensor<10x64xbf16>, and the N of the result, tensor<10x24xf32>, got tensor<{{.*}}>{{$}}

// REDEFINE: %{edit} = s/tensor<10x64xbf16>/tensor<10x64xbf16, 1>/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=ENCODING
// ENCODING: expected tensors without encoding, got tensor<10x64xbf16, 1 : i64>{{$}}

// REDEFINE: %{edit} = s/x64x/x0x/g; s/10x64/10x0/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: expected sizes of at least 1, got tensor<4x0x24xbf16>{{$}}

// What does not multiply has no remark.
// REDEFINE: %{edit} = s/arith.mulf/arith.maximumf/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=SILENT
// SILENT-NOT: remark:
// SILENT: linalg.generic
func.func @main(%x: tensor<10x64xbf16>, %ids: tensor<10xi32>, %y: tensor<4x64x24xbf16>) -> tensor<10x24xf32> {
  %zeros = arith.constant dense<0.0> : tensor<10x24xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, n, k) -> (i, k)>, affine_map<(i, n, k) -> (i)>, affine_map<(i, n, k) -> (i, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
       ins(%x, %ids : tensor<10x64xbf16>, tensor<10xi32>) outs(%zeros : tensor<10x24xf32>) {
  ^bb0(%a: bf16, %id: i32, %c: f32):
    %g = arith.index_cast %id : i32 to index
    %n = linalg.index 1 : index
    %k = linalg.index 2 : index
    %b = tensor.extract %y[%g, %k, %n] : tensor<4x64x24xbf16>
    %af = arith.extf %a : bf16 to f32
    %bf = arith.extf %b : bf16 to f32
    %p = arith.mulf %af, %bf : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<10x24xf32>
  return %d : tensor<10x24xf32>
}
