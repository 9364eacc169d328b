"""A step's prompt: a few policy fragments and tools in place of all, under a token budget."""

import json
import tempfile
from pathlib import Path

from ctrag import PromptBuilder

POLICIES = {
    "orders.md": "# Cancelling\n\nAn order may be cancelled until it is packed. Ask why.\n"
    "\n# Returning\n\nGoods come back within 30 days, unworn, with their receipt.\n",
    "tone.md": "# Tone\n\nBe brief. Never promise a date.\n",
}
TOOLS = [
    {"name": "cancel_order", "description": "Cancel an order that is not packed yet"},
    {"name": "return_goods", "description": "Start the return of delivered goods"},
    {"name": "track_parcel", "description": "Say where a parcel is"},
]

with tempfile.TemporaryDirectory() as folder:
    policies, catalogue = Path(folder) / "policies", Path(folder) / "tools.json"
    policies.mkdir()
    for name, text in POLICIES.items():
        (policies / name).write_text(text, encoding="utf-8")
    catalogue.write_text(json.dumps(TOOLS), encoding="utf-8")
    builder = PromptBuilder.open(policies, catalogue)
    prompt = builder.build("please cancel my order", budget=600)

print("tokens:", prompt.tokens, "of 600")
print("tools in full:", ", ".join(one.name for one in prompt.tools))
print(prompt.text)
