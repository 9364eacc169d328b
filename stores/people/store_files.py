"""The store files of one folder, and reading them while others swap in new ones."""

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
    timeout: float
    """Seconds that a write waits for others who write or read."""
    read_timeout: float
    """Seconds that a read waits for a writer."""

    def exist(self) -> bool:
        """Whether the folder holds stores, also where their manifest was lost."""
        return (self.root / generations.MANIFEST).exists() or generations.was_lost(self.root)

    def manifest(self) -> Manifest:
        """See `generations.read_manifest`."""
        return generations.read_manifest(self.root)

    def lease(self) -> AbstractContextManager[None]:
        """See `generations.lease`."""
        return generations.lease(self.root, self.timeout)

    def current(self) -> Path:
        """The current generation's folder."""
        return self.root / self.manifest().generation

    def read(self, read: Callable[[Path], _Result]) -> _Result:
        """The result of `read` on the current generation's folder.

        Where the generation is removed while it is read, the read is repeated.
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
        return PeopleStore(folder / PEOPLE, self.timeout, self.read_timeout)

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

    def unavailable(self, manifest: Manifest) -> dict[str, str]:
        """Application → reason, of the stores of a generation that are missing or damaged.

        Raises:
            StoreUnavailable: One is locked; it may well be in order.
        """
        found: dict[str, str] = {}
        for store in self.stores_in(self.root / manifest.generation):
            if store.app.name not in manifest.apps:
                continue
            try:
                store.check()
            except StoreUnavailable as error:
                if error.reason.startswith("locked"):
                    raise
                found[store.app.name] = error.reason
        return found

    def store_at(self, path: Path, app: AppSpec) -> AppStore:
        """The store of one application in one file."""
        return AppStore(path, app, self.timeout, self.read_timeout)
