"""What a person's applications hold, and where it is kept.

Modules, in the order in which data flows through them:

- `errors`: what a user can mend; `ctrag.errors` shows the tree.
- `spec`: which applications there are and what their fields mean (`apps.yaml`).
- `items`: the values that move between packages: `Item`, `Person`, `Request`, `Labels`.
- `local_time`, `lines`, `item_objects`: times, lines and items as data sets spell them.
- `compressed`: files that may be kept as `NAME.bz2`.
- `dataset`: reads and writes a data set folder; a bad line is named and nothing is loaded.
- `migrations`: the stores' schema as named steps.
- `database`: opens a DuckDB file for a moment, waits for other processes, names what is wrong.
- `garbage`: makes very many objects without looking for garbage in between.
- `item_rows`: an item as a row of its application's table, with its vector, and as JSON.
- `changes`: what an API call changes, and what outbox and journal keep of it.
- `app_store`: one application's items, outbox, state and journal of changes.
- `people_store`: profiles and contacts.
- `generations`: folders of files; the next is built beside the current and swapped in by a rename.
- `store_files`: the stores of one generation, and reading them while others swap in the next.
- `bulk`: import, forgetting and schema steps, which make a generation.
- `federation`: the stores of all applications together (`Stores`): reads, writes, undo, forget.
- `tool_rows`: what every store of tools keeps and answers (`ToolStore`), ranking only what the
  caller may see: `tool_memory`, `tool_mirror` (the same, kept in a file by `tool_duckdb`) and
  `tool_postgres` (its queries are in `tool_sql`).

The package stores vectors and never makes them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stores.dataset import Dataset, load_dataset, load_labels
    from stores.federation import PersonItems, Stores
    from stores.items import Contact, Item, LabelledPlan, Labels, Person, Profile, Request, Usage
    from stores.spec import AppSpec, packaged_apps

__all__ = [
    "AppSpec",
    "Contact",
    "Dataset",
    "Item",
    "LabelledPlan",
    "Labels",
    "Person",
    "PersonItems",
    "Profile",
    "Request",
    "Stores",
    "Usage",
    "load_dataset",
    "load_labels",
    "packaged_apps",
]

_HOMES = {
    "AppSpec": "stores.spec",
    "Contact": "stores.items",
    "Dataset": "stores.dataset",
    "Item": "stores.items",
    "LabelledPlan": "stores.items",
    "Labels": "stores.items",
    "Person": "stores.items",
    "PersonItems": "stores.federation",
    "Profile": "stores.items",
    "Request": "stores.items",
    "Stores": "stores.federation",
    "Usage": "stores.items",
    "load_dataset": "stores.dataset",
    "load_labels": "stores.dataset",
    "packaged_apps": "stores.spec",
}


def __getattr__(name: str) -> Any:
    """Public names are imported when asked for: `stores.errors` must not cost a database."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'stores' has no attribute {name!r}")
