"""An agent's loop around a session: it searches, calls, repeats itself, and is told so."""

from ctrag import ToolIndex, ToolSession

index = ToolIndex.from_file("ctrag/toolbox.yaml")
session = ToolSession(principal="ada", allowed=index.allowed)

query = "send an email"
session.found(query, [hit.tool for hit in index.search(query, k=3, user="ada")])
shown = session.prepare([{"role": "user", "content": "write to Omar"}], window=8_000)
print("the model sees:", ", ".join(sorted(tool.id for tool in shown.tools)))

for turn in range(1, 5):
    answer, outcome = session.call("mail/send_mail", {"to": "Omar"}, lambda tool, given: "sent")
    print(f"call {turn}: {answer}{'; taken away' if outcome.evicted else ''}")

try:
    session.check("mail/send_mail")
except ValueError as refused:
    print(refused)
