"""What a person's applications hold, what tools a catalogue has, and where both are kept.

- `people`: applications, people, items, data set folders, and their DuckDB stores (`Stores`).
- `tools`: a tool catalogue in memory, in a DuckDB file or in PostgreSQL (`ToolStore`).
- `errors`: what a user can mend; `ctrag.errors` shows the tree.
- `database`: opens a DuckDB file for a moment, waits for other processes, names what is wrong.
- `files`, `compressed`: files that are replaced whole; files that may be kept as `NAME.bz2`.
- `gc_pause`: makes very many objects without looking for garbage in between.

The package stores vectors and never makes them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stores.people.app_spec import AppSpec, packaged_apps
    from stores.people.dataset import Dataset, load_dataset, load_labels
    from stores.people.items import (
        Contact,
        Item,
        LabelledPlan,
        Labels,
        Person,
        Profile,
        Request,
        Usage,
    )
    from stores.people.stores import PersonItems, Stores

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
    "AppSpec": "stores.people.app_spec",
    "Contact": "stores.people.items",
    "Dataset": "stores.people.dataset",
    "Item": "stores.people.items",
    "LabelledPlan": "stores.people.items",
    "Labels": "stores.people.items",
    "Person": "stores.people.items",
    "PersonItems": "stores.people.stores",
    "Profile": "stores.people.items",
    "Request": "stores.people.items",
    "Stores": "stores.people.stores",
    "Usage": "stores.people.items",
    "load_dataset": "stores.people.dataset",
    "load_labels": "stores.people.dataset",
    "packaged_apps": "stores.people.app_spec",
}


def __getattr__(name: str) -> Any:
    """Public names are imported when asked for: `stores.errors` must not cost a database."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'stores' has no attribute {name!r}")
