"""Every link of a page to a file of this repository, or to a heading, leads somewhere."""

import re

import examples
import pytest


def without_code(text):
    """The text without fenced blocks and code in a line, where brackets are no links."""
    lines, is_code = [], False
    for line in text.splitlines():
        if re.match(r"\s*```", line):
            is_code = not is_code
        elif not is_code:
            lines.append(re.sub(r"`[^`]*`", "", line))
    return "\n".join(lines)


def headings(path):
    """The anchors that GitHub makes of a page's headings; a second one of the same name ends in -1."""
    anchors, counts, is_code = set(), {}, False
    for line in path.read_text().splitlines():
        if re.match(r"\s*```", line):
            is_code = not is_code
        heading = re.match(r"#{1,6} +(.*?)\s*#*$", line)
        if is_code or not heading:
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])  # a link counts as its text
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        number = counts[anchor] = counts.get(anchor, -1) + 1
        anchors.add(f"{anchor}-{number}" if number else anchor)
    return anchors


def dead_links(path):
    """The links of a page that lead nowhere, each with what it lacks."""
    dead = []
    for target in re.findall(r"\]\(([^()\s]+)\)", without_code(path.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.exists():
            dead.append(f"{target}: no such file")
        elif anchor and anchor not in headings(file):
            dead.append(f"{target}: no such heading")
    return dead


@pytest.mark.parametrize("page", examples.PAGES, ids=lambda page: str(page.relative_to(examples.REPO)))
def test_links(page):
    assert dead_links(page) == []


def test_dead_links_are_seen(tmp_path):
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    other.write_text("# One\n\n## Two `words`, [linked](page.md)\n\n## One\n\n```text\n# Not one\n```\n")
    right = ["other.md", "other.md#one", "other.md#one-1", "other.md#two-words-linked", "#here", "https://x.org/#no"]
    wrong = ["none.md", "other.md#three", "other.md#not-one", "#there"]
    links = "".join(f"[text `code`]({target})\n" for target in right + wrong)
    page.write_text(f"# Here\n{links}`[code](none.md)`\n```text\n[block](none.md)\n```\n")
    assert [link.split(":")[0] for link in dead_links(page)] == wrong


def linked_pages(path):
    targets = re.findall(r"\]\(([^()\s#]+)(?:#[^()\s]*)?\)", without_code(path.read_text()))
    return {(path.parent / target).resolve() for target in targets if not re.match(r"[a-z]+:", target)}


def reached_from(start):
    """Pages that links lead to from a page, over any number of others."""
    reached, waiting = set(), [start]
    while waiting:
        page = waiting.pop()
        if page not in reached and page in examples.PAGES:
            reached.add(page)
            waiting += linked_pages(page)
    return reached


def test_every_page_is_reached():
    """Nobody finds a page that no other page links to."""
    assert reached_from(examples.REPO / "README.md") == set(examples.PAGES)


# Where the paths begin that pages name.
ROOTS = [examples.REPO / root for root in (".", "lib/Dialect/Transforms", "lib/Simulator")]


def missing_files(text):
    """Files and folders of the repository that a page names in code and that are not there."""
    names = re.findall(r"`((\w+)/[\w./-]*)`", text)
    names = [name for name, first in names if first != "build" and any((root / first).is_dir() for root in ROOTS)]
    return [name for name in names if not any((root / name).exists() for root in ROOTS)]


@pytest.mark.parametrize("page", examples.PAGES, ids=lambda page: str(page.relative_to(examples.REPO)))
def test_named_files(page):
    assert missing_files(page.read_text()) == []


def test_missing_files_are_seen():
    text = "`lib/None.cpp`, `docs/README.md`, `test/`, `lib/<Path>/`, `Kernels/`, `Kernels/None.h`, `a/b`"
    assert missing_files(text) == ["lib/None.cpp", "Kernels/None.h"]
