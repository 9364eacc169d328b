"""Storage of people's application data and of tool catalogues.

- `people`: applications, people, items, data set folders, and their DuckDB stores (`Stores`).
- `tools`: a tool catalogue in memory, in a DuckDB file or in PostgreSQL (`ToolStore`).
- `errors`: user errors; `ctrag.errors` shows the tree.
- `database`: opens a DuckDB file for one transaction, waits for other processes, reports faults.
- `files`, `compressed`: files that are replaced atomically; files that may be `NAME.bz2`.
- `gc_pause`: turns the garbage collector off while very many objects are created.

The package stores vectors and never computes them.
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
    """Public names are imported on first use: `stores.errors` must not import a database."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'stores' has no attribute {name!r}")
