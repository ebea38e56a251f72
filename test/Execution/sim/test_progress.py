"""What a run that takes long tells on a terminal, and that nothing of it comes elsewhere."""

import os
import pty
import subprocess

from simulated import SIMULATOR

LONG = """.version 8.0
.target sm_80
.address_size 64
.visible .entry slow(.param .u64 out) {
  .reg .b32 %r<3>; .reg .pred %p;
  mov.u32 %r0, %ctaid.x; setp.eq.u32 %p, %r0, 0; @%p bra E;
L: add.u32 %r0, %r0, 1; setp.lt.u32 %p, %r0, 2000000000; @%p bra L;
E: ret;
}
"""


def run(folder, stderr):
    (folder / "k.ptx").write_text(LONG)
    command = [SIMULATOR, "k.ptx", "--grid=2", "--block=1", "out:o.npy:u4:1"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=stderr) as process:
        try:
            process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            process.terminate()
        return process.stdout.read()


def test_terminal(tmp_path):
    reader, writer = pty.openpty()
    assert run(tmp_path, writer) == b""
    os.close(writer)
    text = os.read(reader, 4096)
    os.close(reader)
    assert b"\r\x1b[Kslow: 1 of 2 clusters after 2 s" in text


def test_redirected(tmp_path):
    with open(tmp_path / "messages", "wb") as messages:
        assert run(tmp_path, messages) == b""
    assert (tmp_path / "messages").read_bytes() == b""
