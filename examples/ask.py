"""One under-specified request of a packaged person, from its words to a checked call."""

from ctrag import Assistant
from synth.reference import split_folder

assistant = Assistant.open(split_folder("dev"), "p007")
answer = assistant.ask("what did the school lady want earlier", place="commute")

print("items:", ", ".join(one.item.id for one in answer.items))
print("tools:", ", ".join(one.tool.api for one in answer.tools))
print(f"plan: {answer.plan} (confidence {answer.confidence:.2f})")
for step in answer.trace.steps:
    print(f"  {step.name}: {', '.join(step.outputs)}")
