"""Where the store files of one folder are, and reading them while others swap in new ones."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from stores.database import StoreUnavailable
from stores.errors import InputError
from stores.people import generations
from stores.people.app_spec import AppSpec
from stores.people.app_store import AppStore
from stores.people.generations import Manifest
from stores.people.people_store import PeopleStore

PEOPLE = "people.duckdb"
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class StoreFiles:
    """The generations under one folder and the stores in them."""

    root: Path
    apps: tuple[AppSpec, ...]
    patience: float
    """Seconds that a write waits for others who write or read."""
    read_patience: float
    """Seconds that a read waits for a writer."""

    def exist(self) -> bool:
        """Whether the folder holds stores."""
        return (self.root / generations.MANIFEST).exists()

    def manifest(self) -> Manifest:
        """See `generations.read_manifest`."""
        return generations.read_manifest(self.root)

    def lease(self) -> AbstractContextManager[None]:
        """See `generations.lease`."""
        return generations.lease(self.root, self.patience)

    def current(self) -> Path:
        """The current generation's folder."""
        return self.root / self.manifest().generation

    def read(self, read: Callable[[Path], _Result]) -> _Result:
        """What `read` finds in the current generation's folder.

        A reader may be so slow that its generation is removed on the way: it starts again.
        """
        while True:
            folder = self.current()
            failure: StoreUnavailable | None = None
            try:
                result = read(folder)
            except StoreUnavailable as error:
                failure = error
            manifest = self.manifest()
            if folder.name in (manifest.generation, manifest.previous):
                if failure is not None:
                    raise failure
                return result

    def people_in(self, folder: Path) -> PeopleStore:
        """The people of one generation."""
        return PeopleStore(folder / PEOPLE, self.patience, self.read_patience)

    def stores_in(self, folder: Path) -> list[AppStore]:
        """The stores of one generation, in the order of the specs."""
        return [self.store_at(folder / f"{app.name}.duckdb", app) for app in self.apps]

    def store_in(self, folder: Path, app: str) -> AppStore:
        """The store of one application in one generation.

        Raises:
            ValueError: There is no such application.
        """
        for store in self.stores_in(folder):
            if store.app.name == app:
                return store
        raise InputError(f"app: {app!r} is unknown; known: {', '.join(a.name for a in self.apps)}")

    def stores(self) -> Sequence[AppStore]:
        """The stores of the current generation."""
        return self.stores_in(self.current())

    def store_at(self, path: Path, app: AppSpec) -> AppStore:
        """The store of one application in one file."""
        return AppStore(path, app, self.patience, self.read_patience)
