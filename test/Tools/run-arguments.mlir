// Arguments from .npy files, and what can be wrong with them: exit code 1, one
// error that names the file, nothing stored.

// RUN: rm -rf %t && mkdir -p %t/out %t/directory.npy
// DEFINE: %{run} = blockscale-run %s -o %t/out/x.npy -o %t/out/acc.npy
// DEFINE: %{fail} = %python %S/Inputs/expect.py 1 %{run}

// RUN: %python %S/Inputs/save.py %t/x.npy "arange(6, dtype='u1').reshape(2, 3)" %t/acc.npy "array([1, -2], 'f4')"
// RUN: %{run} %t/x.npy %t/acc.npy | count 0
// RUN: diff %t/x.npy %t/out/x.npy
// RUN: diff %t/acc.npy %t/out/acc.npy
// RUN: rm -r %t/out && mkdir %t/out

// RUN: %{fail} %t/none.npy %t/acc.npy 2>&1 | FileCheck %s --check-prefix=MISSING -DFILE=%t/none.npy
// MISSING: {{^}}error: '[[FILE]]': no such file or directory{{$}}
// MISSING-NOT: {{.}}

// RUN: %{fail} %t/directory.npy %t/acc.npy 2>&1 | FileCheck %s --check-prefix=DIRECTORY -DFILE=%t/directory.npy
// DIRECTORY: {{^}}error: '[[FILE]]': is a directory{{$}}
// DIRECTORY-NOT: {{.}}

// RUN: %python -c "open('%t/truncated.npy', 'wb').write(open('%t/x.npy', 'rb').read()[:-2])"
// RUN: %{fail} %t/truncated.npy %t/acc.npy 2>&1 | FileCheck %s --check-prefix=TRUNCATED -DFILE=%t/truncated.npy
// TRUNCATED: {{^}}error: '[[FILE]]': truncated data: expected 6 bytes, got 4{{$}}
// TRUNCATED-NOT: {{.}}

// RUN: echo "x" > %t/text.npy
// RUN: %{fail} %t/text.npy %t/acc.npy 2>&1 | FileCheck %s --check-prefix=TEXT -DFILE=%t/text.npy
// TEXT: {{^}}error: '[[FILE]]': not an npy file: expected it to start with 93 4e 55 4d 50 59, got 78 0a{{$}}
// TEXT-NOT: {{.}}

// RUN: %python %S/Inputs/save.py %t/shape.npy "zeros((3, 2), 'u1')"
// RUN: %{fail} %t/shape.npy %t/acc.npy 2>&1 | FileCheck %s --check-prefix=SHAPE -DFILE=%t/shape.npy
// SHAPE: {{^}}error: '[[FILE]]': argument #0: expected shape (2, 3) for tensor<2x3xf6E3M2FN>, got (3, 2){{$}}
// SHAPE-NOT: {{.}}

// RUN: %python %S/Inputs/save.py %t/rank.npy "zeros((2, 1), 'f4')"
// RUN: %{fail} %t/x.npy %t/rank.npy 2>&1 | FileCheck %s --check-prefix=RANK -DFILE=%t/rank.npy
// RANK: {{^}}error: '[[FILE]]': argument #1: expected shape (2,) for tensor<2xf32>, got (2, 1){{$}}
// RANK-NOT: {{.}}

// RUN: %python %S/Inputs/save.py %t/dtype.npy "zeros((2, 3), 'i1')"
// RUN: %{fail} %t/dtype.npy %t/acc.npy 2>&1 | FileCheck %s --check-prefix=DTYPE -DFILE=%t/dtype.npy
// DTYPE: {{^}}error: '[[FILE]]': argument #0: expected dtype u1 for tensor<2x3xf6E3M2FN>, got i1{{$}}
// DTYPE-NOT: {{.}}

// RUN: %python %S/Inputs/save.py %t/f8.npy "zeros(2, 'f8')"
// RUN: %{fail} %t/x.npy %t/f8.npy 2>&1 | FileCheck %s --check-prefix=F8 -DFILE=%t/f8.npy
// F8: {{^}}error: '[[FILE]]': argument #1: expected dtype f4 for tensor<2xf32>, got f8{{$}}
// F8-NOT: {{.}}

// RUN: %python %S/Inputs/save.py %t/fortran.npy "asfortranarray(zeros((2, 3), 'u1'))"
// RUN: %{fail} %t/fortran.npy %t/acc.npy 2>&1 | FileCheck %s --check-prefix=FORTRAN -DFILE=%t/fortran.npy
// FORTRAN: {{^}}error: '[[FILE]]': fortran order: expected 'fortran_order': False for shape (2, 3), got True{{$}}
// FORTRAN-NOT: {{.}}

// RUN: %python %S/Inputs/save.py %t/big.npy "zeros(2, '>f4')"
// RUN: %{fail} %t/x.npy %t/big.npy 2>&1 | FileCheck %s --check-prefix=BIG -DFILE=%t/big.npy
// BIG: {{^}}error: '[[FILE]]': big-endian data: expected '<f4', got '>f4'{{$}}
// BIG-NOT: {{.}}

// RUN: %python %S/Inputs/save.py %t/complex.npy "zeros(2, 'c8')"
// RUN: %{fail} %t/x.npy %t/complex.npy 2>&1 | FileCheck %s --check-prefix=COMPLEX -DFILE=%t/complex.npy
// COMPLEX: {{^}}error: '[[FILE]]': unsupported dtype: expected '<' and one of u1 i1 u2 i2 f2 u4 i4 f4 u8 i8 f8, got '<c8'{{$}}
// COMPLEX-NOT: {{.}}

// A code of 6 bits has none above them.
// RUN: %python %S/Inputs/save.py %t/code.npy "array([[0, 1, 63], [2, 64, 255]], 'u1')"
// RUN: %{fail} %t/code.npy %t/acc.npy 2>&1 | FileCheck %s --check-prefix=CODE -DFILE=%t/code.npy
// CODE: {{^}}error: '[[FILE]]': argument #0: code 64 at (1, 1) has bits above the 6 of f6E3M2FN; expected one element per byte, not packed{{$}}
// CODE-NOT: {{.}}

// RUN: ls -A %t/out | count 0
func.func @main(%x: tensor<2x3xf6E3M2FN>, %acc: tensor<2xf32>)
    -> (tensor<2x3xf6E3M2FN>, tensor<2xf32>) {
  return %x, %acc : tensor<2x3xf6E3M2FN>, tensor<2xf32>
}
