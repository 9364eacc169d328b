"""Cutting policies along their structure."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctrag.agents.prompt.fragments import LARGEST, SMALLEST, cut_text, without_duplicates
from ctrag.agents.prompt.instruction_files import MOST_BYTES, cut_file, cut_folder
from tests.agents.prompt.toys import count_words

POLICY = """# Shop policy

{intro}

## Cancel

{cancel}

## Return

{back}

### Refund

Refunds take a week.
"""


def words(word: str, number: int) -> str:
    return " ".join([word] * number)


def cut(text: str) -> dict[str, str]:
    return {one.id: one.text for one in cut_text(text, "shop", count_words)}


def test_sections_become_fragments_with_their_heading_as_id() -> None:
    parts = cut(
        POLICY.format(intro=words("hello", 250), cancel=words("stop", 300), back=words("give", 250))
    )
    assert list(parts) == ["shop#shop-policy", "shop#cancel", "shop#return"]
    assert parts["shop#return"].endswith("Refunds take a week.")  # too short to stand alone


def test_ids_stay_when_the_text_changes_and_when_another_section_does() -> None:
    before = cut(POLICY.format(intro=words("a", 250), cancel=words("b", 300), back=words("c", 250)))
    after = cut(POLICY.format(intro=words("z", 290), cancel=words("b", 300), back=words("c", 250)))
    assert list(before) == list(after)
    assert before["shop#cancel"] == after["shop#cancel"]


def test_a_section_that_shrinks_takes_the_next_one_in() -> None:
    """Ids follow the joining: the review gate keeps what was approved of both."""
    before = cut(POLICY.format(intro=words("a", 250), cancel=words("b", 250), back=words("c", 250)))
    after = cut(POLICY.format(intro=words("a", 250), cancel=words("b", 150), back=words("c", 250)))
    assert list(before) == ["shop#shop-policy", "shop#cancel", "shop#return"]
    assert list(after) == ["shop#shop-policy", "shop#cancel"]


def test_short_sections_are_joined_and_long_ones_split() -> None:
    joined = cut(POLICY.format(intro="a", cancel="b", back="c"))
    assert list(joined) == ["shop#shop-policy"]
    long = "\n\n".join(words(f"p{number}", 100) for number in range(13))
    split = cut(f"# Long\n\n{long}")
    assert list(split) == ["shop#long", "shop#long-2", "shop#long-3"]
    assert all(count_words(text) <= LARGEST for text in split.values())


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 900)), min_size=1, max_size=6))
@settings(max_examples=30, deadline=None)
def test_no_word_is_lost_no_fragment_too_long_and_ids_differ(plan: list[tuple[int, int]]) -> None:
    text = "\n\n".join(
        f"{'#' * level} Head{at}\n\n" + " ".join(f"w{at}x{n}" for n in range(size))
        for at, (level, size) in enumerate(plan)
    )
    fragments = cut_text(text, "d", count_words)
    assert [word for one in fragments for word in one.text.split()] == text.split()
    assert max(one.tokens for one in fragments) <= LARGEST
    assert len({one.id for one in fragments}) == len(fragments)


def test_neighbours_are_only_short_where_joining_would_be_too_long() -> None:
    text = f"# A\n\n{words('a', 50)}\n\n# B\n\n{words('b', 590)}\n\n# C\n\n{words('c', 250)}"
    sizes = [one.tokens for one in cut_text(text, "d", count_words)]
    assert sizes == [52, 592, 252]
    assert sizes[0] < SMALLEST


def test_a_heading_inside_a_code_fence_is_text() -> None:
    assert list(cut("# A\n\n```\n# not a heading\n```\n")) == ["shop#a"]


@pytest.mark.parametrize(
    "code",
    [
        "````md\n```sh\n# no heading\n```\n# neither\n````",
        "```\n~~~\n# no heading\n```",
        "`````\n```\n# no heading\n`````",
        "```ls``` lists files",
    ],
)
def test_code_ends_with_the_signs_that_it_began_with(code: str) -> None:
    text = f"# A\n\n{code}\n{words('a', 250)}\n\n# B\n\n{words('b', 250)}"
    assert list(cut(text)) == ["shop#a", "shop#b"]


def test_underlined_lines_are_headings() -> None:
    text = f"Shop\n====\n\n{words('a', 250)}\n\nReturns\n---\n\n{words('b', 250)}"
    assert [one.heading for one in cut_text(text, "d", count_words)] == ["Shop", "Shop > Returns"]
    for other in ("a b\nc d\n---", "- item\n---", "| a |\n---", "text\n\n---"):
        [one] = cut_text(f"# A\n\n{other}\n\nrest", "d", count_words)
        assert one.heading == "A"


def test_each_part_of_a_long_table_has_its_heads() -> None:
    head = "| Country | Days |\n|---|---|"
    rows = "\n".join(f"| Land{at} | {at} |" for at in range(400))
    parts = list(cut(f"# Times\n\n{head}\n{rows}").values())
    assert len(parts) > 2
    assert all(head in part for part in parts)
    assert sum(part.count("Land") for part in parts) == 400


def test_each_part_of_long_code_is_code_and_short_code_stays_whole() -> None:
    code = "\n\n".join(f"def f{at}(a):\n    return a + {at}" for at in range(300))
    parts = list(cut(f"# Code\n\n```python\n{code}\n```\n\n{words('end', 400)}").values())
    assert len(parts) > 3
    assert all(part.count("```") in (0, 2) for part in parts)
    assert sum(part.count("return") for part in parts) == 300
    short = "```\n" + "\n\n".join([words("x", 100)] * 4) + "\n```"
    parts = list(cut(f"# A\n\n{words('a', 400)}\n\n{short}").values())
    assert any(short in part for part in parts)


def test_near_copies_that_say_another_number_or_the_opposite_or_hold_elsewhere_are_kept() -> None:
    long = " ".join(f"w{chr(97 + at % 26)}x{chr(97 + at // 26)}" for at in range(300))
    texts = {
        "a": f"{long} refund within 30 days",
        "b": f"{long} refund within 60 days",
        "c": f"{long} do not refund within 30 days",
        "d": f"{long} refund within 30 days please",
        "e": "→ ✗",
        "f": "→ ✓",
    }
    parts = [one for name, text in texts.items() for one in cut_text(text, name, count_words)]
    found = without_duplicates(parts)
    assert found.duplicates == (("d#start", "a#start"),)
    assert [one.document for one in found.fragments] == ["a", "b", "c", "e", "f"]


def test_a_copy_for_another_place_is_no_duplicate(tmp_path: Path) -> None:
    for name in ("AGENTS.md", "CLAUDE.md", "web/AGENTS.md", "api/AGENTS.md", "api/CLAUDE.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        text = "Run the tests." if "/" not in name else "Ask for a review."
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = cut_folder(tmp_path, count_words)
    assert {one.document for one in found.fragments} == {"AGENTS", "web/AGENTS", "api/AGENTS"}


@pytest.mark.parametrize(
    "text", ["退款必须在三十天内提出。", "ご注文はお取り消しできません。", "ก", "返品"]
)
def test_scripts_without_blanks_are_cut_into_fragments_that_fit(text: str) -> None:
    fragments = cut_text(text * 3_000, "d", len)
    assert "".join(one.text for one in fragments) == text * 3_000
    assert max(one.tokens for one in fragments) <= LARGEST
    assert not text.endswith("。") or all(one.text.endswith("。") for one in fragments)


def test_name_and_front_matter_say_domain_kind_and_priority(tmp_path: Path) -> None:
    (tmp_path / "telecom-manual.md").write_text("# Guide\n\nText.", encoding="utf-8")
    (tmp_path / "tone.txt").write_text(
        "---\ndomain: all\nkind: style\npriority: 3\n---\nBe kind.", encoding="utf-8"
    )
    manual, tone = cut_folder(tmp_path, count_words).fragments
    assert (manual.domain, manual.kind, manual.priority) == ("telecom", "manual", 0)
    assert (tone.id, tone.domain, tone.kind, tone.priority) == ("tone#start", "all", "style", 3)


def test_recency_is_the_date_said_and_else_the_day_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ndate: 2025-03-04\n---\nBe kind.", encoding="utf-8")
    (tmp_path / "b.md").write_text("Say who you are.", encoding="utf-8")
    os.utime(tmp_path / "b.md", (0, 86_400))  # written on the second day of 1970
    first, second = cut_folder(tmp_path, count_words).fragments
    assert (first.recency, second.recency) == ("2025-03-04", "1970-01-02")
    os.utime(tmp_path / "b.md", (0, 0))  # a file that is written again says what it said
    assert cut_file(tmp_path / "b.md", count_words)[0].digest == second.digest


def test_what_another_fragment_says_is_left_out_and_named(tmp_path: Path) -> None:
    sentence = words("cancel pending orders only with a reason", 5)
    (tmp_path / "a.md").write_text(f"# Same\n\n{sentence}", encoding="utf-8")
    (tmp_path / "b.md").write_text(f"# Same\n\n{sentence.upper()}", encoding="utf-8")
    found = cut_folder(tmp_path, count_words)
    assert [one.id for one in found.fragments] == ["a#same"]
    assert found.duplicates == (("b#same", "a#same"),)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"caf\xe9", r"a\.md: not UTF-8 at byte 4"),
        (b"---\ndomain: x\n", r"a\.md:1: front matter: `---` opens it"),
        (b"---\npriority: high\n---\nx", r"a\.md:1: front matter: priority: "),
        (b"---\ndate: soon\n---\nx", r"a\.md:1: front matter: date: "),
        (b"---\n[\n---\nx", r"a\.md:1: front matter: not YAML"),
    ],
)
def test_a_broken_file_is_named_with_its_rule(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=problem):
        cut_file(path, count_words)


def test_a_folder_without_policies_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds no \.md, \.mdc or \.txt file, and no SKILL\.md"):
        cut_folder(tmp_path, count_words)
    with pytest.raises(FileNotFoundError, match="no such folder or file"):
        cut_folder(tmp_path / "none", count_words)


SKILL = """---
name: pdf
description: Merge, split and fill PDF files: use when the user mentions a PDF.
license: MIT
allowed-tools: [Read, Write]
metadata:
  version: "1.0"
---
# PDF

Merge with qpdf.
"""


def skill(folder: Path, name: str, text: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(text, encoding="utf-8")
    return folder / name


def test_skills_are_read_from_their_folders_and_keys_without_meaning_are_counted(
    tmp_path: Path,
) -> None:
    skill(tmp_path, "pdf-tools", SKILL)
    skill(tmp_path / "more", "mail", SKILL.replace("pdf", "mail").replace("# PDF", "# Mail one"))
    cut = cut_folder(tmp_path, count_words)
    assert [one.id for one in cut.fragments] == ["mail#mail-one", "pdf#pdf"]
    pdf = cut.fragments[1]
    assert (pdf.domain, pdf.kind) == ("pdf", "skill")
    about = "Merge, split and fill PDF files: use when the user mentions a PDF."
    assert (pdf.about, pdf.text) == (about, "# PDF\n\nMerge with qpdf.")
    assert about in pdf.searched
    assert pdf.tools == ("Read", "Write")
    assert cut.ignored == (("license", 2), ("metadata", 2))


def test_a_skills_own_folder_or_file_is_enough(tmp_path: Path) -> None:
    folder = skill(tmp_path, "pdf-tools", "# PDF\n\nMerge with qpdf.")
    (folder / "reference.md").write_text("# Reference\n\nqpdf --empty", encoding="utf-8")
    for path in (folder, folder / "SKILL.md"):
        found = [one.id for one in cut_folder(path, count_words).fragments]
        assert "pdf-tools#pdf" in found
    (tmp_path / "AGENTS.md").write_text("# Style\n\nShort names.", encoding="utf-8")
    [one] = cut_folder(tmp_path / "AGENTS.md", count_words).fragments
    assert one.id == "AGENTS#style"


def test_rules_of_editors_are_read_with_globs_that_are_no_yaml(tmp_path: Path) -> None:
    rules = tmp_path / ".cursor" / "rules"
    rules.mkdir(parents=True)
    front = "---\ndescription: Tests: how to write them\nglobs: *.test.ts,*.spec.ts\nalwaysApply: false\n---"
    (rules / "tests.mdc").write_text(f"{front}\nName the claim.", encoding="utf-8")
    (tmp_path / "node_modules" / "x").mkdir(parents=True)
    (tmp_path / "node_modules" / "x" / "AGENTS.md").write_text("# Not ours", encoding="utf-8")
    cut = cut_folder(tmp_path, count_words)
    [one] = cut.fragments
    assert (one.id, one.kind, one.about) == (
        ".cursor/rules/tests#start",
        "rule",
        "Tests: how to write them",
    )
    assert (one.globs, one.always) == (("*.test.ts", "*.spec.ts"), False)
    assert cut.ignored == ()


def test_what_a_skill_means_otherwise_by_our_keys_is_ignored_and_counted(tmp_path: Path) -> None:
    text = "---\nname: a\npriority: high\ndate: soon\nkind: [x]\n---\n# A"
    cut = cut_folder(skill(tmp_path, "a", text), count_words)
    assert [one.id for one in cut.fragments] == ["a#a"]
    assert cut.ignored == (("date", 1), ("kind", 1), ("priority", 1))


def test_two_files_of_one_name_have_ids_of_their_own(tmp_path: Path) -> None:
    for name in ("a.md", "a.mdc"):
        (tmp_path / name).write_text(f"# Part\n\nOf {name}", encoding="utf-8")
    assert [one.id for one in cut_folder(tmp_path, count_words).fragments] == [
        "a#part",
        "a.mdc#part",
    ]


def test_a_policy_beyond_four_megabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    policy = tmp_path / "long.md"
    with policy.open("wb") as file:
        file.truncate(MOST_BYTES + 1)  # zeros, which would not be read as a policy either
    with pytest.raises(
        ValueError, match=r"long\.md: a policy has at most 4 MB, not 4\.0; split it"
    ):
        cut_file(policy, count_words)
