"""Programs that a benchmark measures: compiled to files of a folder, and called on a CUDA card."""

import json
import subprocess

from gpu_launch import Driver, Function


def compile_program(options, name, text, *flags, is_quiet=False):
    """Writes NAME.mlir, its PTX and its launch info to `options.folder`, for `options.target`, by `options.build`."""
    base = options.folder / name
    base.with_suffix(".mlir").write_text(text)
    subprocess.run(
        [options.build / "bin" / "blockscale-compile", base.with_suffix(".mlir"), *flags, f"--target={options.target}",
         f"--launch-info={base.with_suffix('.json')}", "-o", base.with_suffix(".ptx")],
        check=True, stderr=subprocess.DEVNULL if is_quiet else None,
    )


class Card:
    """torch's CUDA card, with equal random values in each run."""

    def __init__(self, torch):
        torch.manual_seed(1)
        torch.zeros(1, device="cuda")  # Makes torch's context current, in which the driver then works.
        properties = torch.cuda.get_device_properties("cuda")
        self.torch, self.driver = torch, Driver()
        self.name, self.multiprocessors = properties.name, properties.multi_processor_count

    def load(self, base, shapes):
        """The program whose files have the path `base`, for arguments of `shapes`, which count elements."""
        return Program(self, base, shapes)


class Program:
    def __init__(self, card, base, shapes):
        self.torch = card.torch
        image, info = base.with_suffix(".ptx").read_bytes(), json.loads(base.with_suffix(".json").read_text())
        self.function = Function(card.driver, image, info, shapes, card.multiprocessors)
        self.workspace = self.torch.empty(max(self.function.workspace, 1), dtype=self.torch.uint8, device="cuda")

    def bind(self, arguments, results):
        """A function that starts all kernels on these tensors, which it keeps alive, in torch's stream."""
        addresses = [[tensor.data_ptr() for tensor in tensors] for tensors in (arguments, results)]
        launches = self.function.bind(*addresses, self.workspace.data_ptr())

        def call():
            stream = self.torch.cuda.current_stream().cuda_stream
            for launch in launches:
                launch.run(stream)

        call.kept_alive = arguments, results, self.workspace
        return call
