"""Writes what the console blocks of pages print into them: update.py PAGE.md...

For pages that show what the compiler makes, after that has changed. Blocks whose expected lines have a
`...` stay as they are, and so do pages whose examples do not run. Read the difference before you keep it.
"""

import sys
import tempfile
from pathlib import Path

import examples


def printed(block, folder):
    """The lines of the block with what its commands print now."""
    lines, code = [], 0
    for command, expected in examples.parse_console(block.text):
        # What `$?` is to the command.
        output, code = examples.run(["bash", "-c", f"(exit {code})\n{command}"], folder)
        first, *rest = command.split("\n")
        lines += ["$ " + first, *("> " + line for line in rest)]
        lines += expected if "..." in expected else [line.rstrip() for line in output.splitlines()]
    return lines


def update(page):
    lines = page.read_text().splitlines()
    blocks, changes = examples.find_blocks(page), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        examples.make_folder(folder)
        for block in blocks:
            if block.file_name:
                (folder / block.file_name).write_text(block.text)
            if block.kind == "console":
                changes.append((block.line, len(block.text.splitlines()), printed(block, folder)))
            elif block.kind == "python":
                examples.run_python(block, folder)
    # From the last one on, so that the numbers of lines stay right.
    for first, count, text in reversed(changes):
        lines[first:first + count] = text
    page.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        update(Path(argument).resolve())
