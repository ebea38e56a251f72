"""Stand-ins for Triton and cuobjdump, which are not on every machine: what benchmarks call of them."""

import textwrap

TRITON = {
    "triton/__init__.py": """
        from . import compiler

        def jit(function):
            return function

        def compile(source, target, options):
            for name, kind in source.signature.items():
                assert kind != "constexpr" or name in source.constexprs, name
            assert set(options) == {"num_warps", "num_stages"}
            types = "-".join(str(source.constexprs[name]) for name in ("FA", "FB", "BLOCK"))
            text = f"{target.backend}-{target.arch}-{types}-{options['num_stages']}"
            return compiler.Compiled({"cubin": text.encode()})
        """,
    "triton/language.py": "constexpr = None",
    "triton/compiler.py": """
        from typing import NamedTuple

        class ASTSource(NamedTuple):
            fn: object
            signature: dict
            constexprs: dict
            attrs: dict

        class Compiled(NamedTuple):
            asm: dict
        """,
    "triton/backends/__init__.py": "",
    "triton/backends/compiler.py": """
        from typing import NamedTuple

        class GPUTarget(NamedTuple):
            backend: str
            arch: int
            warp_size: int
        """,
}

# A loop of two matrix instructions, a NOP, a spill and the branch; then one without any. Both are in a loop with a
# third matrix instruction, as that over tiles is.
CUOBJDUMP = """\
#!/bin/sh
cat <<'END'
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/                   QMMA.16832.F32.E4M3.E4M3 R4, R8, R12, R4 ;
        /*0020*/                   NOP ;
        /*0030*/                   STL [R1], R4 ;
        /*0040*/                   QMMA.16832.F32.E4M3.E4M3 R4, R8, R12, R4 ;
        /*0050*/              @!P0 BRA 0x0010 ;
        /*0060*/                   IADD3 R2, R2, 0x1, RZ ;
        /*0070*/               @P1 BRA 0x0060 ;
        /*0080*/                   QMMA.16832.F32.E4M3.E4M3 R4, R8, R12, R4 ;
        /*0090*/               @P2 BRA 0x0000 ;
        /*00a0*/                   EXIT ;
END
"""


def write_triton(folder):
    for name, text in TRITON.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))


def write_cuobjdump(folder):
    path = folder / "cuobjdump"
    path.write_text(CUOBJDUMP)
    path.chmod(0o755)
