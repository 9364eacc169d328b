"""Files of tools and of applications: catalogues, OpenAPI documents, servers, a toolbox."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from attack.targets.target import Target, as_json

SERVERS: dict[str, Any] = {
    "mcpServers": {
        "files": {"command": "files-server", "args": ["--root", "/tmp"], "env": {"A": "b"}},
        "web": {"url": "https://tools.example/mcp", "headers": {"Authorization": "Bearer x"}},
    }
}
SERVERS_TOML = b"""model = "gpt"
seen = 2026-02-03T10:00:00Z

[mcp_servers.files]
command = "files-server"
args = ["--root", "/tmp"]
env = { A = "b" }
startup_timeout_sec = 20

[mcp_servers.web]
url = "https://tools.example/mcp"
bearer_token_env_var = "TOKEN"
enabled = false
"""
TOOLS: list[dict[str, Any]] = [
    {
        "name": "set_level",
        "description": "Set the level of a lamp. It is dimmed slowly.",
        "parameters": {
            "type": "object",
            "properties": {
                "level": {"type": "integer", "minimum": 0},
                "colour": {"enum": ["red", "ultramarine", None, 7]},
                "rooms": {"type": "array", "items": {"type": "string"}},
                "at": {"type": "object", "properties": {"hour": {"type": "number"}}},
            },
            "required": ["level", "colour"],
        },
    }
]
OPENAPI: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Lamps", "version": "1"},
    "servers": [{"url": "https://api.example.org/v1"}],
    "paths": {
        "/lamps/{id}": {
            "parameters": [{"$ref": "#/components/parameters/id"}],
            "put": {
                "operationId": "setLamp",
                "summary": "Set a lamp",
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Lamp"}}
                    }
                },
                "security": [{"key": []}],
                "responses": {"200": {"description": "done"}},
            },
        }
    },
    "components": {
        "parameters": {
            "id": {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
        },
        "schemas": {
            "Lamp": {
                "type": "object",
                "properties": {"level": {"type": "integer"}, "next": {"$ref": "#/x"}},
                "allOf": [{"$ref": "#/components/schemas/Lamp"}],
            }
        },
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
    },
}
APPS = b"""zoo:
  phrase: ["animal: {title}", ", fed by {keeper}"]
  like: notes
  fields:
    title: {type: string, role: title}
    keeper: {type: string, role: person, required: false}
    fed: {type: datetime, role: time}
    state: {type: string, role: state, values: [asleep, awake]}
"""
TOOLBOX = b"""zoo:
  - api: feed_animal
    description: Feeds an animal, by name
    effect: write
    does: change
    arguments:
      - {name: title, type: string, match: value, required: true, description: name, of it}
      - {name: kind, type: enum, match: value, required: false, description: food, values: [hay]}
    fails_when: there is no such animal
"""


def _servers(name: str) -> Callable[[bytes, Path], object]:
    def run(content: bytes, folder: Path) -> object:
        from ctrag.agents.server.config import Upstreams

        (folder / name).write_bytes(content)
        return Upstreams.from_file(folder / name)

    return run


def _catalogue(name: str) -> Callable[[bytes, Path], object]:
    def run(content: bytes, folder: Path) -> object:
        from ctrag.agents.catalogue.tool import load_catalogue

        file = folder / name
        file.write_bytes(content)
        return [(tool.to_json(), tool.content_hash, tool.text) for tool in load_catalogue(file)]

    return run


def _apps(content: bytes, folder: Path) -> object:
    from ctrag.assistant.context.item_text import _phrase
    from stores.people.app_spec import load_apps

    (folder / "apps.yaml").write_bytes(content)
    return [_phrase(one) for one in load_apps(folder / "apps.yaml")]


def _toolbox(content: bytes, folder: Path) -> object:
    from ctrag.toolbox import Toolbox

    (folder / "toolbox.yaml").write_bytes(content)
    return Toolbox.from_file(folder / "toolbox.yaml").to_yaml()


TARGETS = {
    "servers.json": Target((as_json(SERVERS),), _servers("servers.json")),
    "servers.yaml": Target((as_json(SERVERS),), _servers("servers.yaml")),
    "servers.toml": Target((SERVERS_TOML,), _servers("config.toml")),
    "catalogue": Target((as_json(TOOLS), as_json({"tools": TOOLS})), _catalogue("tools.json")),
    "catalogue.yaml": Target((as_json({"tools": TOOLS}),), _catalogue("tools.yaml")),
    "openapi": Target((as_json(OPENAPI),), _catalogue("openapi.json")),
    "apps.yaml": Target((APPS,), _apps),
    "toolbox": Target((TOOLBOX,), _toolbox),
}
