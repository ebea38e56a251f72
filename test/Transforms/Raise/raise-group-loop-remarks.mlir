// Loops over groups that are almost raised: each edit of the loops below, which are, has a reason.

// DEFINE: %{edit} =
// DEFINE: %{raise} = sed -e "/RUN\|DEFINE/d; %{edit}" %s | blockscale-opt --blockscale-raise
// RUN: blockscale-opt %s --blockscale-raise 2>&1 | FileCheck %s --check-prefix=RAISED
// RAISED-NOT: {{remark:|scf.for}}
// RAISED: blockscale.grouped_matmul
// RAISED-NOT: {{remark:|scf.for}}

// RUN: blockscale-opt %s --blockscale-raise=report-only 2>&1 | FileCheck %s --check-prefix=REPORT
// REPORT: remark: products of groups of rows stay a loop; blockscale-raise (--raise) makes it blockscale.grouped_matmul{{$}}
// REPORT: scf.for

// REDEFINE: %{edit} = s/%%c0 to %%c3/%%c1 to %%c3/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=FROM
// FROM: remark: not raised to blockscale.grouped_matmul: expected a loop from 0 on in steps of 1, one for each group{{$}}
// FROM: scf.for

// REDEFINE: %{edit} = s/%%c0 to %%c3/%%c0 to %%c1/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=STEPS
// STEPS: expected one step for each group of tensor<3xi32>{{$}}

// REDEFINE: %{edit} = s/3x64x24/4x64x24/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=GROUPS
// GROUPS: expected one step for each group of tensor<4x64x24xbf16>{{$}}

// REDEFINE: %{edit} = s|// then|vector.print %%size : index|
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=EFFECT
// EFFECT: expected a loop without side effects, got 'vector.print'{{$}}

// REDEFINE: %{edit} = s|return %%d :|vector.print %%last : index return %%d :|
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=USED
// USED: expected no use of the last end behind the loop{{$}}

// REDEFINE: %{edit} = s/insert_slice %%p into %%rows/insert_slice %%p into %%zeros/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=INSERT
// INSERT: expected each step to insert rows into the tensor of rank 2 that the loop carries{{$}}

// A start that is not the end before: it is carried from 1 on, or not the end of the group.
// REDEFINE: %{edit} = s/%%start = %%c0/%%start = %%c1/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=START
// REDEFINE: %{edit} = s/yield %%next, %%end/yield %%next, %%size/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=START
// REDEFINE: %{edit} = s/extract %%ends\[%%g\]/extract %%ends[%%c1]/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=START
// REDEFINE: %{edit} = s/into %%rows\[%%start, 0\]/into %%rows[%%end, 0]/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=START
// The same where the start is read: another group, another condition, another start of the first group, other ends.
// REDEFINE: %{edit} = s/subi %%h, %%c1/subi %%h, %%c3/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=START
// REDEFINE: %{edit} = s/subi %%h, %%c1/subi %%c1, %%h/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=START
// REDEFINE: %{edit} = s/maxsi %%before, %%c0/maxsi %%before, %%c1/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=START
// REDEFINE: %{edit} = s/cmpi eq, %%h, %%c0/cmpi eq, %%h, %%c1/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=START
// REDEFINE: %{edit} = s/cmpi eq, %%h/cmpi ne, %%h/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=START
// REDEFINE: %{edit} = s/cmpi eq, %%h/cmpi slt, %%h/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=START
// REDEFINE: %{edit} = s/select %%is_first, %%c0/select %%is_first, %%c1/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=START
// REDEFINE: %{edit} = s/extract %%ends\[%%safe\]/extract %%starts[%%safe]/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=START
// START: expected rows from the end of the group before, or 0, to the end of the group, both of one tensor of ends{{$}}

// REDEFINE: %{edit} = s|// last|%%q = arith.negf %%p : tensor<?x24xf32>|; s/insert_slice %%p/insert_slice %%q/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=PRODUCT
// PRODUCT: expected the rows of a product, perhaps truncated, to be inserted, got 'arith.negf'{{$}}

// REDEFINE: %{edit} = s/f32/bf16/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=SUM
// SUM: it accumulates in bf16, expected f32{{$}}

// REDEFINE: %{edit} = s/64x24xbf16/64x24xf16/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=TYPES
// TYPES: expected x and y of one type, got bf16 and f16{{$}}

// REDEFINE: %{edit} = s/i32/i64/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=ENDS
// ENDS: expected ends of type i32, got i64{{$}}

// REDEFINE: %{edit} = s|// first|%%new = tensor.splat %%i : tensor<3xi32>|; s/extract %%ends/extract %%new/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=INSIDE
// INSIDE: expected ends from outside of the loop{{$}}

// REDEFINE: %{edit} = s/slice %%x\[%%start/slice %%x[%%c0/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=ROWS
// REDEFINE: %{edit} = s/slice %%x\[%%start, 0\] \[%%size, 64\] \[1, 1\]/slice %%x[%%start, 0] [%%size, 64] [2, 1]/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: expected x and its scales to be the rows of the group, got 'tensor.extract_slice'{{$}}

// REDEFINE: %{edit} = s/slice %%y\[%%g, 0, 0\]/slice %%y[%%g, 0, 1]/; s/3x64x24/3x64x25/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=MATRIX
// MATRIX: expected y and its scales to be the matrices of the group, got 'tensor.extract_slice'{{$}}

// REDEFINE: %{edit} = s/10x64/11x64/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: expected a result with the rows of tensor<11x64xbf16>, got tensor<10x24xf32>{{$}}

// REDEFINE: %{edit} = s/%%c0 to %%c3/%%c0 to %%c0/; s/3x/0x/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: expected at least one group, got tensor<0xi32>{{$}}

// REDEFINE: %{edit} = s/tensor<10x64xbf16>/tensor<10x64xbf16, 1>/g; s/tensor<?x64xbf16>/tensor<?x64xbf16, 1>/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=ENCODING
// REDEFINE: %{edit} = s/tensor<3x64x24xbf16>/tensor<3x64x24xbf16, 1>/g; s/tensor<64x24xbf16>/tensor<64x24xbf16, 1>/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=ENCODING
// ENCODING: expected tensors without encoding, got tensor<{{.*}}xbf16, 1 : i64>{{$}}

// Neither zeros nor rows of the result, and not those of the group.
// REDEFINE: %{edit} = s/fill ins(%%f0/fill ins(%%f1/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=ACC
// REDEFINE: %{edit} = s|// then|%%old = tensor.extract_slice %%rows[0, 0] [%%size, 24] [1, 1] : tensor<10x24xf32> to tensor<?x24xf32>|; s/outs(%%z/outs(%%old/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=ACC
// ACC: expected a product that starts with zeros or adds to the rows that the loop carries{{$}}

// REDEFINE: %{edit} = s/dense<0.0>/dense<-0.0>/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=INIT
// INIT: products start with zeros, so expected the loop to start with zeros, for rows of no group{{$}}

// Loops of other products, and other loops, have no remark.
// REDEFINE: %{edit} = s/bf16/f32/g
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=SILENT
// REDEFINE: %{edit} = s/slice %%y\[%%g/slice %%y[%%c1/
// RUN: %{raise} 2>&1 | FileCheck %s --check-prefix=SILENT
// SILENT-NOT: remark:
// SILENT: scf.for
func.func @main(%x: tensor<10x64xbf16>, %y: tensor<3x64x24xbf16>, %ends: tensor<3xi32>, %starts: tensor<3xi32>, %i: i32) -> tensor<10x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %f0 = arith.constant 0.0 : f32
  %f1 = arith.constant 1.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<10x24xf32>
  %d, %last = scf.for %g = %c0 to %c3 step %c1 iter_args(%rows = %zeros, %start = %c0) -> (tensor<10x24xf32>, index) {
    // first
    %end_i32 = tensor.extract %ends[%g] : tensor<3xi32>
    %end = arith.index_cast %end_i32 : i32 to index
    %size = arith.subi %end, %start : index
    // then
    %xs = tensor.extract_slice %x[%start, 0] [%size, 64] [1, 1] : tensor<10x64xbf16> to tensor<?x64xbf16>
    %yg = tensor.extract_slice %y[%g, 0, 0] [1, 64, 24] [1, 1, 1] : tensor<3x64x24xbf16> to tensor<64x24xbf16>
    %e = tensor.empty(%size) : tensor<?x24xf32>
    %z = linalg.fill ins(%f0 : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
    %p = linalg.matmul ins(%xs, %yg : tensor<?x64xbf16>, tensor<64x24xbf16>) outs(%z : tensor<?x24xf32>) -> tensor<?x24xf32>
    // last
    %next = tensor.insert_slice %p into %rows[%start, 0] [%size, 24] [1, 1] : tensor<?x24xf32> into tensor<10x24xf32>
    scf.yield %next, %end : tensor<10x24xf32>, index
  }
  return %d : tensor<10x24xf32>
}

func.func @read_start(%x: tensor<10x64xbf16>, %y: tensor<3x64x24xbf16>, %ends: tensor<3xi32>, %starts: tensor<3xi32>, %i: i32) -> tensor<10x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %f0 = arith.constant 0.0 : f32
  %f1 = arith.constant 1.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<10x24xf32>
  %result = scf.for %h = %c0 to %c3 step %c1 iter_args(%rows = %zeros) -> tensor<10x24xf32> {
    // first
    %end_i32 = tensor.extract %ends[%h] : tensor<3xi32>
    %end = arith.index_cast %end_i32 : i32 to index
    %is_first = arith.cmpi eq, %h, %c0 : index
    %before = arith.subi %h, %c1 : index
    %safe = arith.maxsi %before, %c0 : index
    %before_end = tensor.extract %ends[%safe] : tensor<3xi32>
    %before_index = arith.index_cast %before_end : i32 to index
    %start = arith.select %is_first, %c0, %before_index : index
    %size = arith.subi %end, %start : index
    // then
    %xs = tensor.extract_slice %x[%start, 0] [%size, 64] [1, 1] : tensor<10x64xbf16> to tensor<?x64xbf16>
    %yg = tensor.extract_slice %y[%h, 0, 0] [1, 64, 24] [1, 1, 1] : tensor<3x64x24xbf16> to tensor<64x24xbf16>
    %e = tensor.empty(%size) : tensor<?x24xf32>
    %z = linalg.fill ins(%f0 : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
    %p = linalg.matmul ins(%xs, %yg : tensor<?x64xbf16>, tensor<64x24xbf16>) outs(%z : tensor<?x24xf32>) -> tensor<?x24xf32>
    // last
    %next = tensor.insert_slice %p into %rows[%start, 0] [%size, 24] [1, 1] : tensor<?x24xf32> into tensor<10x24xf32>
    scf.yield %next : tensor<10x24xf32>
  }
  return %result : tensor<10x24xf32>
}
