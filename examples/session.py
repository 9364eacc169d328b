"""A session around an agent's loop. Runs with the bare core: `python examples/session.py`.

The agent is a fixed script: it searches, then calls one tool again and again.
"""

from pathlib import Path

from ctrag import ToolIndex, ToolSession

CATALOGUE = Path(__file__).parents[1] / "ctrag" / "toolbox.yaml"


def main() -> None:
    """Prints what is bound after the search, each call, and the refusal after the loop."""
    index = ToolIndex.from_file(CATALOGUE)
    session = ToolSession(principal="ada", allowed=index.allowed)
    query = "send an email"
    found = session.found(query, [hit.tool for hit in index.search(query, k=3, user="ada")])
    print("bound:", "mail/send_mail" in found.added)
    for _ in range(4):
        result, after = session.call(
            "mail/send_mail", {"to": "Omar"}, lambda tool, arguments: "sent"
        )
        print("call:", result, "loop" if after.loop_detected else "")
    try:
        session.check("mail/send_mail")
    except ValueError as refused:
        print("refused:", refused)


if __name__ == "__main__":
    main()
