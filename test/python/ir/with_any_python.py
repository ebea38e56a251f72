"""Builds, checks, prints and compiles a module; run by test_every_python.py, without packages beside blockscale."""

import sys

sys.path.insert(0, sys.argv[1])
for name in ("numpy", "pytest"):
    sys.modules[name] = None  # they are not to be imported

from blockscale import ir  # noqa: E402
from blockscale.dialects import blockscale as bs  # noqa: E402
from blockscale.dialects import func, linalg, tensor  # noqa: E402
from blockscale.gpu_code import compile_module  # noqa: E402
from blockscale.passmanager import PassManager  # noqa: E402


def parse(*texts):
    return [ir.Type.parse(text) for text in texts]


def main():
    with ir.Context(), ir.Location.file("layer.py", 1, 1):
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):

            types = parse("tensor<16x64xf32>", "tensor<64x8xf4E2M1FN>", "tensor<2x8xf8E8M0FNU>", "tensor<16x8xf32>")

            @func.FuncOp.from_py_func(*types)
            def main(x, y, y_scale, acc):
                elements, scales = bs.quantize(x, ir.Float8E4M3FNType.get(), rule="even")
                product = bs.mma_scaled(elements, scales, y, y_scale, acc)
                return linalg.exp(product, outs=[tensor.empty([16, 8], ir.F32Type.get())])

        assert module.operation.verify() and str(ir.Module.parse(str(module))) == str(module)
        wrong = bs.mma_scaled(*main.arguments, main.arguments[3], ip=False)
        try:
            wrong.owner.verify()
            raise AssertionError("expected an error")
        except ir.MLIRError as error:
            assert "layer.py" in str(error) and "expected x to be a ranked tensor" in str(error)
        names = []
        module.operation.walk(lambda op: names.append(op.name))
        PassManager.parse("builtin.module(canonicalize,cse)").run(module)
        code = compile_module(module, "sm_120a")
        assert "mma.sync.aligned" in code.code and code.launch_info.startswith("{") and not code.remarks
    print(len(names), "operations")


main()
