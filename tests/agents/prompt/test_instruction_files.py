"""Folders as people keep them: skills, rules, scopes, and files that cannot be read."""

from pathlib import Path

import pytest

from ctrag.agents.prompt.fragments import Cut, Fragment
from ctrag.agents.prompt.instruction_files import cut_file, cut_folder
from ctrag.agents.prompt.mentions import Mentions
from ctrag.agents.prompt.scopes import about, named_files
from tests.agents.prompt.toys import TOOLS, count_words


def written(folder: Path, files: dict[str, str | bytes]) -> Cut:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return cut_folder(folder, count_words)


def by_document(cut: Cut) -> dict[str, Fragment]:
    return {one.document: one for one in cut.fragments}


GOOD = "---\nname: refunds\ndescription: Give money back\n---\n# Refunds\n\nAsk first."


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"caf\xe9", "left out: not UTF-8 at byte 4"),
        (b"# A\0B", "left out: not a text: it holds a zero byte"),
        (b"", "left out: it says nothing"),
        (b"x" * ((4 << 20) + 1), "left out: a policy has at most 4 MB"),
    ],
)
def test_a_file_that_cannot_be_read_costs_only_itself_and_is_named(
    tmp_path: Path, content: bytes, why: str
) -> None:
    cut = written(tmp_path, {"refunds/SKILL.md": GOOD, "odd/SKILL.md": content})
    assert [one.id for one in cut.fragments] == ["refunds#refunds"]
    [(file, said)] = cut.problems
    assert (file, said.startswith(why)) == ("odd/SKILL.md", True)


def test_a_link_out_of_the_folder_is_not_followed_and_said(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Keys", encoding="utf-8")
    folder = tmp_path / "skills"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "SKILL.md").symlink_to(tmp_path / "secret.md")
    (folder / "around").symlink_to(tmp_path)
    cut = written(folder, {"refunds/SKILL.md": GOOD})
    assert [one.id for one in cut.fragments] == ["refunds#refunds"]
    assert dict(cut.problems) == {
        "around": "left out: a link to a folder is not followed",
        "a/SKILL.md": "left out: a link out of the folder",
    }


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_texts_as_windows_writes_them_are_read(tmp_path: Path, encoding: str) -> None:
    text = "---\r\nname: café\r\ndescription: Löschen\r\n---\r\n# Do\r\n\r\nIt."
    [one] = written(tmp_path, {"x/SKILL.md": text.encode(encoding)}).fragments
    assert (one.document, one.about, one.text) == ("café", "Löschen", "# Do\n\nIt.")


@pytest.mark.parametrize(
    ("head", "name", "description"),
    [
        ('name: a\ndescription: "Deploy: build\ntags: [x', "a", "Deploy: build"),  # no YAML
        ("name: a\ndescription: Fill forms: read, fill", "a", "Fill forms: read, fill"),
        ("name: 2024\ndescription: [Book a room, for two]", "2024", "Book a room, for two"),
        ("name: a\r\ndescription: >-\r\n  One\r\n  two", "a", "One two"),
        ('name: "a # b"\ndescription: x', "a b", "x"),
        ("name: écrire\ndescription: x", "écrire", "x"),
        ("description: x", "folder", "x"),
    ],
)
def test_what_front_matter_says_is_read_however_it_is_written(
    tmp_path: Path, head: str, name: str, description: str
) -> None:
    cut = written(tmp_path, {"folder/SKILL.md": f"\ufeff---\n{head}\n---\n# Do\n\nIt."})
    [one] = cut.fragments
    assert (one.document, one.about, one.text) == (name, description, "# Do\n\nIt.")


def test_front_matter_that_is_never_closed_ends_with_its_keys_and_a_rule_is_no_front_matter(
    tmp_path: Path,
) -> None:
    cut = written(
        tmp_path,
        {
            "keys/SKILL.md": "---\nname: keys\ndescription: Rotate keys\n\n# Rotate",
            "line.md": "---\n\n# Between lines",
        },
    )
    found = by_document(cut)
    assert (found["keys"].about, found["keys"].text) == ("Rotate keys", "# Rotate")
    assert found["line"].text.endswith("# Between lines")
    assert [file for file, _ in cut.problems] == ["keys/SKILL.md"]


@pytest.mark.parametrize(
    "between",
    [
        "\nNever refund without an order number.\n",
        "**Note:** never refund.",
        "Note: never refund.\nAlways ask.",
        "- One rule\n- Another",
    ],
)
def test_text_between_two_lines_across_the_page_is_no_front_matter(
    tmp_path: Path, between: str
) -> None:
    text = f"---\n{between}\n---\n\n# Rest\n\nMore."
    cut = written(tmp_path, {"a.md": text})
    assert between.strip() in cut.fragments[0].text
    assert not cut.problems
    assert cut_file(tmp_path / "a.md", count_words) == list(cut.fragments)


@pytest.mark.parametrize(
    ("head", "globs", "always"),
    [
        ("globs: [*.ts, *.tsx]", ("*.ts", "*.tsx"), False),
        ("globs:\n  - *.ts\n  - !*.test.ts", ("*.ts", "!*.test.ts"), False),
        ('Globs: "*.ts"', ("*.ts",), False),
        ("applyto: '**/*.py'", ("**/*.py",), False),
        ("applyTo: '**'", (), True),
        ("globs: '**/*'\nalwaysApply: false", ("**/*",), False),
        ("always_apply: true", (), True),
        ("AlwaysApply: yes", (), True),
        ("trigger: always_on", (), True),
        ("trigger: glob\nglobs: **/*.py", ("**/*.py",), False),
        ("trigger: manual", (), False),
        ("inclusion: fileMatch\nfileMatchPattern: 'a/**'", ("a/**",), False),
        ("description: a: b\nglobs:\n- *.ts\n- 'b\nalwaysApply: true", ("*.ts", "b"), True),
    ],
)
def test_when_a_rule_holds_is_read_however_an_editor_says_it(
    tmp_path: Path, head: str, globs: tuple[str, ...], always: bool
) -> None:
    [one] = written(tmp_path, {"a.mdc": f"---\n{head}\n---\nStrict."}).fragments
    assert (one.globs, one.always, one.text) == (globs, always, "Strict.")


@pytest.mark.parametrize(
    ("text", "domain", "day"),
    [
        ("\n\n---\ndomain: shop\n---\nRule.", "shop", ""),
        ("---\ndomain: shop\n...\nRule.", "shop", ""),
        ("---\ndate: 2024-03-12T10:30:00Z\n---\nRule.", "a", "2024-03-12"),
    ],
)
def test_front_matter_may_stand_below_blank_lines_and_end_with_dots(
    tmp_path: Path, text: str, domain: str, day: str
) -> None:
    cut = written(tmp_path, {"a.md": text})
    [one] = cut.fragments
    assert (one.domain, one.text, cut.problems) == (domain, "Rule.", ())
    assert one.recency == day or not day


def test_broken_front_matter_keeps_the_lines_that_go_on_with_a_value(tmp_path: Path) -> None:
    head = "name: a\ndescription: Fill forms: read\nand sign: both\n\tallowed-tools: Read, Write"
    [one] = written(tmp_path, {"a/SKILL.md": f"---\n{head}\ntags: [x\n---\nDo."}).fragments
    assert one.about.startswith("Fill forms: read and sign")
    assert one.tools == ("Read", "Write")


def test_rules_of_every_editor_are_read_where_it_keeps_them(tmp_path: Path) -> None:
    cut = written(
        tmp_path,
        {
            ".cursorrules": "Old cursor.",
            ".clinerules": "Old cline.",
            "CLAUDE.local.md": "Mine alone.",
            ".junie/guidelines.md": "Junie.",
            ".windsurf/rules/py.md": "---\ntrigger: glob\nglobs: **/*.py\n---\nTyped.",
            ".windsurf/rules/asked.md": "---\ntrigger: manual\n---\nOn demand.",
            ".windsurf/rules/deploy.md": "---\ntrigger: model_decision\ndescription: Deploy\n---\nD.",
            ".claude/rules/api/paths.md": "---\npaths: src/api/**\n---\nVersioned.",
            ".claude/rules/general.md": "Ask before a push.",
            "web/.kiro/steering/web.md": "Hold to the grid.",
            ".roo/rules/deep/roo.txt": "Roo.",
        },
    )
    found = {name: (one.kind, one.globs, one.always) for name, one in by_document(cut).items()}
    assert found == {
        ".cursorrules": ("agents", (), True),
        ".clinerules": ("agents", (), True),
        "CLAUDE.local": ("agents", (), True),
        ".junie/guidelines": ("agents", (), True),
        ".windsurf/rules/py": ("rule", ("**/*.py",), False),
        ".windsurf/rules/asked": ("rule", (), False),
        ".windsurf/rules/deploy": ("rule", (), False),
        ".claude/rules/api/paths": ("rule", ("src/api/**",), False),
        ".claude/rules/general": ("agents", (), True),
        "web/.kiro/steering/web": ("agents", ("web/**",), False),
        ".roo/rules/deep/roo": ("agents", (), True),
    }
    assert not cut.problems
    inner = cut_folder(tmp_path / ".claude" / "rules", count_words)
    assert set(by_document(inner)) == {"general", "api/paths"}


def test_texts_below_that_are_not_read_are_said_in_one_line(tmp_path: Path) -> None:
    files = {"a.md": "A.", "eu/b.md": "B.", "us/c.md": "C.", "s/SKILL.md": GOOD, "s/d.md": "D."}
    cut = written(tmp_path, files)
    assert set(by_document(cut)) == {"a", "refunds"}
    [(file, why)] = cut.problems
    assert (file, why.partition(":")[0]) == ("eu/b.md", "not read, as 1 more below are not")


def test_an_override_stands_in_the_place_of_the_agents_file_beside_it(tmp_path: Path) -> None:
    names = ("AGENTS.md", "AGENTS.override.md", "web/AGENTS.md")
    cut = written(tmp_path, {name: f"Rule of {name}." for name in names})
    assert set(by_document(cut)) == {"AGENTS.override", "web/AGENTS"}
    assert dict(cut.problems) == {"AGENTS.md": "left out: AGENTS.override.md stands in its place"}


def test_files_that_an_agents_file_takes_in_are_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("Key.", encoding="utf-8")
    folder = tmp_path / "project"
    folder.mkdir()
    text = "# All\n\n@docs/style.md\n- @docs/none.md\n@../secret.md\n\nMail ada@x.org.\n@AGENTS.md"
    cut = written(
        folder,
        {
            "CLAUDE.md": text,
            "AGENTS.md": "Run the tests.",
            "GEMINI.md": "@AGENTS.md\n",
            "docs/style.md": "Short lines.\n@more.md\n\n```\n@more.md\n```",
            "docs/more.md": "No tabs.\n@style.md",
        },
    )
    found = by_document(cut)
    assert set(found) == {"AGENTS", "CLAUDE"}
    said = found["CLAUDE"].text
    assert "Short lines.\nNo tabs." in said
    assert "```\n@more.md\n```" in said
    assert "@docs/none.md\n@../secret.md" in said
    assert "Key." not in said
    assert "Run the tests." not in said
    assert said.count("No tabs.") == 1
    assert ("GEMINI.md", "left out: it says nothing of its own") in cut.problems


def test_names_that_can_be_no_file_stay_as_they_stand(tmp_path: Path) -> None:
    (tmp_path / "round.md").symlink_to(tmp_path / "round.md")
    text = f"@{'a' * 290}.md\n@round.md\n@docs\n@~/x.md\n@"
    (tmp_path / "docs").mkdir()
    assert written(tmp_path, {"CLAUDE.md": text}).fragments[0].text == text


def test_files_beside_a_skill_are_named_and_not_read(tmp_path: Path) -> None:
    cut = written(
        tmp_path,
        {
            "pdf/SKILL.md": "---\nname: pdf\ndescription: x\n---\n# PDF\n\nSee scripts/fill.py.",
            "pdf/scripts/fill.py": "print()",
            "pdf/references/a.md": "# Not a rule of its own",
            "pdf/LICENSE.txt": "words",
            "pdf/inner/SKILL.md": "---\nname: inner\ndescription: y\n---\n# Inner\n\nOther.",
        },
    )
    found = by_document(cut)
    assert set(found) == {"pdf", "inner"}
    named = "Files beside this skill: scripts/fill.py, references/a.md"
    assert found["pdf"].text.splitlines()[2] == named


def test_two_skills_of_one_name_are_both_kept(tmp_path: Path) -> None:
    other = GOOD.replace("Ask first", "Only the other team does this")
    cut = written(tmp_path, {"a/SKILL.md": GOOD, "b/SKILL.md": other})
    assert [one.document for one in cut.fragments] == ["refunds", "b"]
    assert cut.problems == (("b/SKILL.md", "another skill is named 'refunds'; this one is 'b'"),)


def test_rules_of_a_place_hold_there_and_those_of_the_root_everywhere(tmp_path: Path) -> None:
    cut = written(
        tmp_path,
        {
            "AGENTS.md": "# All\n\nRun the tests.",
            "packages/api/AGENTS.md": "# API\n\nContract tests.",
            ".claude/CLAUDE.md": "# Claude\n\nBe brief.",
            ".cursor/rules/on.mdc": "---\nalwaysApply: true\n---\nAnswer in French.",
            ".github/ts.instructions.md": '---\napplyTo: "**/*.ts,**/*.tsx"\n---\nStrict types.',
        },
    )
    found = {name: (one.globs, one.always) for name, one in by_document(cut).items()}
    assert found == {
        "AGENTS": ((), True),
        ".claude/CLAUDE": ((), True),
        ".cursor/rules/on": ((), True),
        ".github/ts.instructions": (("**/*.ts", "**/*.tsx"), False),
        "packages/api/AGENTS": (("packages/api/**",), False),
    }


@pytest.mark.parametrize(
    ("glob", "file", "fits"),
    [
        ("*.ts", "src/app.ts", True),
        ("*.ts", "src/app.tsx", False),
        ("**/*.{ts,tsx}", "web/app.tsx", True),
        ("packages/api/**", "packages/api/a/b.py", True),
        ("packages/api/**", "packages/web/b.py", False),
        ("packages/api/", "packages/api/b.py", True),
        ("db/[0-9]*.sql", "app/db/1_start.sql", True),
        ("src/?.py", "src/ab.py", False),
        ("Dockerfile*", "app/Dockerfile", True),
        ("[z-a].py", "a.py", False),  # a range that runs backwards fits nothing
        ("a" * 300, "a" * 300, False),
    ],
)
def test_globs_fit_files_as_editors_take_them(glob: str, file: str, fits: bool) -> None:
    assert about([glob], [file]) == fits


def test_a_glob_with_a_sign_of_exclamation_takes_files_out() -> None:
    globs = ("**/*.ts", "!**/*.test.ts")
    assert about(globs, ["src/app.ts"])
    assert not about(globs, ["src/app.test.ts"])
    assert about(globs, ["src/app.test.ts", "src/app.ts"])
    assert about(["!*.md"], ["a.py"])


def test_files_of_windows_and_files_without_an_extension_are_named() -> None:
    assert named_files(r"Fix src\web\app.ts in C:\shop") == ("src/web/app.ts",)
    assert named_files("Tidy the Makefile and api/Dockerfile.") == ("Makefile", "api/Dockerfile")
    assert named_files("Makefiles are old") == ()


def test_files_are_told_from_other_words_with_dots_and_slashes() -> None:
    text = "Rename ./src/app.ts, i.e. and/or move it to lib/x.test.py; see v1.2 and example."
    assert named_files(text) == ("src/app.ts", "lib/x.test.py")


def test_a_text_speaks_of_tools_by_their_names_and_not_by_plain_words() -> None:
    cancel, transfer = TOOLS[0].tool, TOOLS[4].tool
    for text in ("call cancel_order", "use shop/cancel_order", "mcp__shop__cancel_order first"):
        assert Mentions.of([text]).speaks_of(cancel)
    assert not Mentions.of(["transfer the money"]).speaks_of(transfer)
    assert Mentions.of(["then `transfer(reason)`"]).speaks_of(transfer)
    assert Mentions.of([], ["Transfer"]).speaks_of(transfer)
    assert Mentions.of([], ["mcp__shop__*"]).speaks_of(transfer)
    assert not Mentions.of([], ["mcp__air__*"]).speaks_of(transfer)
