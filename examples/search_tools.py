"""A catalogue with access rules: what is found depends on who asks, and tools change meanwhile."""

import json
import tempfile
from pathlib import Path

from ctrag import ToolIndex
from ctrag.agents.catalogue.tool import CatalogueTool

CATALOGUE = {
    "tools": [
        {"name": "book_flight", "description": "Book a seat on a flight", "server": "air"},
        {"name": "cancel_flight", "description": "Cancel a booked flight", "server": "air"},
        {"name": "refund", "description": "Pay money back to a customer", "server": "billing"},
    ],
    "access": {
        "members": {"ada": {"roles": ["agent"]}, "bo": {"roles": ["agent", "cashier"]}},
        "grants": [
            {"role": "agent", "tools": ["air/*"]},
            {"role": "cashier", "tools": ["billing/refund"]},
        ],
    },
}

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "tools.json"
    path.write_text(json.dumps(CATALOGUE), encoding="utf-8")
    index = ToolIndex.from_file(path)

for user in ("ada", "bo"):
    hits = index.search("give the customer her money back", k=1, user=user)
    print(f"{user}: {hits[0].tool.id}")

index.add([CatalogueTool(name="seat_map", description="Show the free seats", server="air")])
print("new:", index.search("which seats are free", k=1, user="ada")[0].tool.id)
