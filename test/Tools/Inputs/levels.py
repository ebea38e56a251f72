"""Goes on from each level of programs: levels.py FOLDER PROGRAM... CHIP...

What a level prints is compiled to the PTX and the launch info that the program is compiled to, and printed once more
it is the same.
"""

import subprocess
import sys
from pathlib import Path

LEVELS = ("tile", "kernel", "instr", "nvvm")
folder = Path(sys.argv[1])


def compile(source, chip, *flags):
    """The output, and the launch info if there is one."""
    info = folder / "info.json"
    flags = [*flags] if any(flag.startswith("--emit") for flag in flags) else [*flags, f"--launch-info={info}"]
    done = subprocess.run(
        ["blockscale-compile", source, f"--target={chip}", *flags], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{source} for {chip} {flags}: {done.stderr}")
    return done.stdout, info.read_text() if "--launch-info" in flags[-1] else None


programs = [each for each in sys.argv[2:] if each.endswith(".mlir")]
chips = [each for each in sys.argv[2:] if not each.endswith(".mlir")]
for program in programs:
    for chip in chips:
        expected = compile(program, chip)
        for level in LEVELS:
            printed = folder / f"printed-{level}.mlir"
            printed.write_text(compile(program, chip, f"--emit={level}")[0])
            if compile(printed, chip) != expected:
                sys.exit(f"{program} for {chip}: expected the same code from the level {level}, got other code")
            again = compile(printed, chip, f"--emit={level}")[0]
            if "#loc" not in again and again != printed.read_text():
                sys.exit(f"{program} for {chip}: expected the level {level} to stay as it is, got another text")
