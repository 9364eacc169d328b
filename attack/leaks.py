"""Searches under random access rules: nobody finds, or feels, what no grant names."""

import random

from ctrag.agents.catalogue.access import AccessRules, Grant, Principal
from ctrag.agents.catalogue.tool import CatalogueTool
from ctrag.agents.search.index import ToolIndex
from ctrag.models.encoder import Encoder
from ctrag.toolbox import Toolbox

ODD = (
    *(("*", "star", "mail"), ("x' OR '1'='1", "inject", "mail"), ("a/b", "slash", "mail")),
    *(("send_mail", "send", "mail/x"), ("%", "per cent", "mail"), ("mail/*", "weird", "")),
    ("secret_nuke", "launch the secret nuke", ""),
)
QUERIES = (
    *("send a mail to omar", "play some music", "secret_nuke", "launch nuke", "mail", "x", "a/b"),
    *("google/google_translate", "' OR 1=1 --", "*", "what is the weather", "call mum; take note"),
)
SCOPES = ("user:u", "role:r1", "role:r2", "organisation:o", "role:x:y", "organisation:*")
CALLERS = (
    *(None, Principal("u"), Principal("u", frozenset(["r1"])), Principal("u' OR '1'='1")),
    Principal("v", frozenset(["r1", "r2"])),
    Principal("v", frozenset(["x:y"]), frozenset(["o"])),
    Principal("*", frozenset(["*"]), frozenset(["*"])),
)


def tools() -> list[CatalogueTool]:
    """The packaged tools, near copies on other servers, and names that look like rules."""
    packaged = [CatalogueTool(one.api, one.description, one.app) for one in Toolbox.packaged()]
    copies = [CatalogueTool(one.name, one.description, f"{one.server}2") for one in packaged[:25]]
    every = [*packaged, *copies, *(CatalogueTool(*one) for one in ODD)]
    return list({one.id: one for one in every}.values())


def leaks(rules: int, seed: int = 3, encoder: Encoder | None = None) -> tuple[int, list[str]]:
    """Search under so many random rules, by words or with an encoder.

    Returns:
        The number of searches, and what a caller without a grant saw, in words: a tool, or, by
        words alone, another answer than that of an index which holds nothing else.
    """
    chance, every, searches = random.Random(seed), tools(), 0
    wrong: list[str] = []
    index = ToolIndex(every, encoder, access=AccessRules(), lexical_only=encoder is None)
    servers = sorted({one.server for one in every if one.server and "/" not in one.server})
    patterns = [*(f"{one}/*" for one in servers), *(one.id for one in every if "*" not in one.id)]
    for _ in range(rules):
        grants = tuple(
            Grant(chance.choice(SCOPES), chance.choice(patterns))
            for _ in range(chance.randrange(14))
        )
        who = chance.choice(CALLERS)
        index.access = AccessRules(grants)
        scopes = frozenset() if who is None else who.scopes
        granted = {grant.tool for grant in grants if grant.scope in scopes}
        alone = [one for one in every if granted & {one.id, f"{one.server}/*"}]
        visible = {one.id for one in alone}
        small = ToolIndex(alone, lexical_only=True) if alone and encoder is None else None
        for query in chance.sample(QUERIES, 5):
            searches += 1
            hits = index.find(query, 20, who).hits
            found = [hit.tool.id for hit in hits]
            if hidden := set(found) - visible:
                wrong.append(f"{who} found {sorted(hidden)[0]} by {query!r}")
            if small is not None and found != [hit.tool.id for hit in small.find(query, 20).hits]:
                wrong.append(f"{who}: what is hidden changes the answer to {query!r}")
        for tool in chance.sample(every, 5):
            if index.allowed(tool.id, who) != (tool.id in visible):
                wrong.append(f"{who} may call {tool.id}")
    return searches, wrong
