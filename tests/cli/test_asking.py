"""`ask`, `chat` and `session show`, through the entry point; an endpoint says the plans."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctrag.assistant.context.features import FEATURES
from ctrag.cli.ask import told

Run = Callable[..., Any]
GATE = 'read_note(title="Gate code")'
FORWARD = 'forward_mail(subject="Pallets for Monterrey", to="Omar Salcedo")'
ABOUT_MAIL = "forward the pallets mail to omar"


@pytest.fixture
def ask(ctrag: Run, people: Path, seen: None, through_endpoint: Any) -> Run:
    """`ask(text, plan, options…)` about Ada, whose plan the endpoint knows."""

    def run(text: str, plan: str, *options: object, command: str = "ask") -> Any:
        through_endpoint.answers = [plan]
        said = [text] if command == "ask" else []
        more = ("--persona", "ada", "--data", people, "--planner", "openai")
        return ctrag(command, *said, *more, *options, said="" if said else text)

    return run


def test_an_answer_is_what_a_person_wants_to_read(ask: Run) -> None:
    ran = ask("what was the gate code", GATE, "--execute")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "Gate code (Home, changed Thu 10 Apr 2025 10:00)\n4711\n"


def test_without_execute_it_is_said_what_would_be_done(ask: Run) -> None:
    assert ask(ABOUT_MAIL, FORWARD).out == (
        "Forward the mail “Pallets for Monterrey” from “Omar Salcedo” to "
        "Omar Salcedo <omar@example.mx>? (not done: --execute does it)\n"
    )


def test_a_greeting_gets_a_word(ask: Run, through_endpoint: Any) -> None:
    assert ask("good morning", "none()", "--execute").out == "Hello. What can I do for you?\n"
    assert through_endpoint.requests == []


def test_what_nothing_can_do_is_told_what_can_be_asked_for(ask: Run) -> None:
    out = ask("paint the gate", "none()", "--execute").out
    assert out.startswith("No application here can do that. Ask for something about ")


def test_the_help_says_that_requests_are_in_english(ctrag: Run) -> None:
    assert "English" in ctrag("ask", "--help").out


def test_an_explained_answer_has_context_tools_and_plan(ask: Run) -> None:
    ran = ask("what was the gate code", GATE, "--explain")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    heads = ["context", "tools", "plan", "trace"]
    assert [line for line in lines if line and line[0] != " "] == heads
    assert "  notes: Gate code; 2025-04-10 10:00; Home; 4711" in lines
    assert lines[lines.index("trace") - 1].startswith(f"  {GATE}   (confidence 0.")
    assert "\x1b" not in ran.out, "no styles without a terminal"


def test_json_has_every_part_of_the_answer(ask: Run) -> None:
    told = ask("what was the gate code", GATE, "--json", "--execute").json
    assert {"items", "tools", "plan", "confidence", "result", "trace"} <= told.keys()
    assert told["items"][0]["id"] == "ada-n1"
    assert told["plan"] == {"text": GATE, "api": "read_note", "arguments": {"title": "Gate code"}}
    assert told["result"]["status"] == "done"
    assert "4711" in told["result"]["answer"]
    assert told["asked_at"] == "2025-04-17T12:00", "the data set's clock stands still"
    assert [step["step"] for step in told["trace"]] == [
        "context.retrieve",
        "tools.search",
        "values.rank",
        "prompt.assemble",
        "planner.plan",
        "apps.execute",
    ]


def test_the_time_and_place_that_are_given_reach_the_prompt(
    ask: Run, through_endpoint: Any
) -> None:
    told = ask("gate code?", GATE, "--at", "2025-04-18T07:05", "--place", "work", "--json").json
    assert told["asked_at"] == "2025-04-18T07:05"
    assert told["result"] is None
    assert "Now: Friday 2025-04-18 07:05, work" in through_endpoint.asked()


def test_explain_prints_reasons_in_words_and_each_step(ask: Run) -> None:
    out = ask("what was the gate code", GATE, "--explain").out
    [why] = [line for line in out.splitlines()[:4] if line.startswith("      because ")]
    assert "has your “gate”, “code”" in why
    assert not any(feature.name in why for feature in FEATURES if "_" in feature.name)
    trace = out.partition("\ntrace\n")[2]
    steps = ("context.retrieve", "tools.search", "values.rank", "prompt.assemble", "planner.plan")
    for step in steps:
        assert f"  {step}  " in trace
    assert "Request: what was the gate code" in trace


def test_explained_json_has_reasons_as_numbers_and_in_words(ask: Run) -> None:
    first = ask("what was the gate code", GATE, "--explain", "--json").json["items"][0]
    assert {name for name, _ in first["reasons"]} <= {feature.name for feature in FEATURES}
    assert "has your “gate”, “code”" in first["because"]


@pytest.mark.parametrize(
    ("because", "sentence"),
    [
        (("it is a note", "it is new"), "because it is a note; it is new"),
        (("it is a note", "but it is old"), "because it is a note, but it is old"),
        (("but it is old", "but it is a song"), "but it is old and it is a song"),
    ],
)
def test_reasons_are_one_sentence(because: tuple[str, ...], sentence: str) -> None:
    assert told(because) == sentence


def outbox(ask: Run) -> str:
    return ask("/outbox\n", "none()", command="chat").out.partition("\n")[2]


def test_without_a_terminal_what_reaches_others_is_declined(ask: Run) -> None:
    ran = ask(ABOUT_MAIL, FORWARD, "--execute")
    assert ran.code == 0
    assert ran.out == "Nothing was done.\n"
    assert "to Omar Salcedo <omar@example.mx>?" in ran.err
    assert "no terminal" in ran.err
    assert outbox(ask) == ""


def test_a_declined_answer_is_still_one_json_document(ask: Run) -> None:
    assert ask(ABOUT_MAIL, FORWARD, "--execute", "--json").json["result"]["status"] == "declined"


def test_with_yes_it_is_sent(ask: Run) -> None:
    assert ask(ABOUT_MAIL, FORWARD, "--execute", "--yes").out.startswith("Sent to Omar Salcedo <")
    assert "mail mail to Omar Salcedo" in outbox(ask)


@pytest.mark.slow
def test_without_execute_nothing_is_done_whatever_is_agreed_to(ask: Run) -> None:
    assert "Sent" not in ask(ABOUT_MAIL, FORWARD, "--yes").out
    assert outbox(ask) == ""


def test_two_unusable_answers_of_the_endpoint_are_no_plan(ask: Run) -> None:
    assert "  none()   (confidence 0.00)" in ask("gate code?", "Sure! I will.", "--explain").out


def test_an_endpoint_that_refuses_is_one_line_without_the_key(
    ask: Run, through_endpoint: Any, api_key: str
) -> None:
    body = json.dumps({"error": {"message": f"bad key {api_key}"}}).encode()
    ran = ask("gate code?", (401, {"Content-Type": "application/json"}, body))
    assert (ran.code, ran.out) == (1, "")
    [line] = ran.err.splitlines()
    assert line.startswith(f"ctrag: {through_endpoint.url}: AuthenticationError: ")
    assert api_key not in ran.err


def test_the_key_stands_in_no_output(ask: Run, api_key: str) -> None:
    ran = ask("gate code?", GATE, "--json", "--explain", "--execute")
    assert api_key not in ran.out + ran.err


def test_an_unknown_planner_is_named(ask: Run) -> None:
    ran = ask("gate code?", GATE, "--planner", "magic")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "ctrag: planner: must be embedded or openai, not 'magic'\n"


def test_a_conversation_runs_plans_shows_why_and_takes_back(
    ctrag: Run, people: Path, seen: None, through_endpoint: Any, tmp_path: Path
) -> None:
    through_endpoint.answers = ['delete_note(title="Shopping")', GATE]
    said = "/why\ndrop the shopping note\n/why\n/undo\n\nwhat was the gate code\n/undo\n/nothing\n/quit\nnever\n"
    chat = ("chat", "--persona", "ada", "--data", people, "--planner", "openai", "--plans")
    ran = ctrag(*chat, said=said)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "Ada Quist, /help says what else there is."
    assert lines[1] == "Nothing was asked yet."
    assert lines[2].startswith('delete_note(title="Shopping")   (from ada-n2')
    assert "trace" in lines
    [back] = [line for line in lines if line.startswith("Taken back: ")]
    assert "Shopping" in back
    assert "4711" in ran.out
    assert any(line.startswith("undo: ") or "Taken back: import" in line for line in lines[-20:])
    assert "  /outbox   what was sent or started" in lines
    assert len(through_endpoint.requests) == 2, "after /quit nothing is asked"


def test_a_recorded_conversation_can_be_shown(
    ctrag: Run, people: Path, seen: None, through_endpoint: Any, tmp_path: Path
) -> None:
    through_endpoint.answers = [FORWARD, GATE]
    record = tmp_path / "sessions" / "chat.jsonl"
    base = ("--persona", "ada", "--data", people, "--planner", "openai", "--record", record)
    ran = ctrag("chat", *base, "--yes", said=f"{ABOUT_MAIL}\ngate code?\n/outbox\n")
    assert (ran.code, ran.err) == (0, "")
    assert "mail mail to Omar Salcedo" in ran.out
    turns = ctrag("session", "show", record, "--json").json
    assert [turn["text"] for turn in turns] == [ABOUT_MAIL, "gate code?"]
    assert [turn["status"] for turn in turns] == ["done", "done"]
    shown = ctrag("session", "show", record).out
    assert f"2025-04-17T12:00  ada: {ABOUT_MAIL}" in shown
    assert f"  plan  {GATE}   (confidence 0." in shown


def test_a_conversation_outlives_a_request_that_is_too_long_and_an_endpoint_that_fails(
    ctrag: Run, people: Path, seen: None, through_endpoint: Any
) -> None:
    through_endpoint.answers = [(401, {}, b"no"), GATE]
    ran = ctrag(
        *("chat", "--persona", "ada", "--data", people, "--planner", "openai"),
        said=f"{'so ' * 5000}\ngate code?\ngate code?\n",
    )
    assert ran.code == 0
    assert "at most 1000 characters" in ran.out
    assert "AuthenticationError" in ran.out
    assert "4711" in ran.out


def test_a_damaged_session_is_named_with_its_line(ctrag: Run, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text("{}\n")
    ran = ctrag("session", "show", path)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"ctrag: {path}:1: not a turn of a session")


@pytest.mark.slow
def test_the_embedded_planner_answers_in_a_process_of_its_own_and_says_nothing_else(
    process: Run, people: Path, seen: None, with_planner: Path
) -> None:
    code = "import sys; sys.argv[0] = 'ctrag'\nfrom ctrag.cli.main import main; main()"
    options = ("--persona", "ada", "--data", str(people), "--json", "--execute")
    ran = process(code, "ask", "what was the gate code", *options, CTRAG_THREADS="1")
    assert (ran.returncode, ran.stderr) == (0, "")
    told = json.loads(ran.stdout)
    assert told["plan"]["api"] in ("none", *(tool["api"] for tool in told["tools"]))
    assert told["result"]["status"] in ("done", "refused", "declined", "nothing")


@pytest.mark.slow
def test_the_demo_shows_plain_requests_beside_oblique_ones_and_no_scores(
    ctrag: Run, with_planner: Path
) -> None:
    from ctrag.cli.demo import PLAIN

    ran = ctrag("demo")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    said = [line for line in lines if line.startswith("“") and line.endswith("”")]
    assert {f"“{text}”" for text in PLAIN} < set(said)
    assert {text.split()[0] for text in PLAIN} == {"play", "remind", "tell"}
    assert "“hush, she's waving me in”" in said
    assert not {"context", "tools", "plan", "result", "trace"} & set(lines)
    assert "lambdamart" not in ran.out
    assert "p204-" not in ran.out
