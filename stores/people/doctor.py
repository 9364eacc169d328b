"""Finding damage in the stores, and returning to the last good files.

`examine` reads every row of every store and changes nothing. `repair` takes what is damaged from
the generation before, where that is in order.
"""

import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from stores.database import StoreUnavailable, reading
from stores.errors import InputError, NotFound
from stores.files import sync
from stores.people import generations, learned_doctor
from stores.people.generations import MANIFEST, Manifest
from stores.people.items import Person, Profile
from stores.people.people_store import PeopleStore
from stores.people.store_files import PEOPLE, StoreFiles


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing that is wrong in a stores folder."""

    name: str
    """The store: `people` or an application; `manifest`, `learned`, `leftover` or
    `rights`."""
    path: Path
    problem: str
    lost: str
    """What cannot be read, in words; empty where nothing is."""
    mends: str
    """What `repair` would do; empty where it can do nothing."""


def examine(files: StoreFiles) -> list[Damage]:
    """What is wrong, the worst first; empty when all is well.

    Raises:
        FileNotFoundError: The folder holds no stores.
        StoreUnavailable: A store is locked, so it cannot be told.
    """
    root = files.root
    if not root.is_dir() or not (files.exist() or generations.others(root, set())):
        raise NotFound(f"no stores in {root}: run `ctrag import` first")
    try:
        manifest = files.manifest()
        problem = "" if (root / manifest.generation).is_dir() else "its folder is missing"
    except (OSError, ValueError) as error:
        problem = str(error)
    if problem:
        good = _last_good(files)
        mends = f"make {good.generation} the current one" if good is not None else ""
        return [Damage("manifest", root / MANIFEST, problem, "everything, until mended", mends)]
    folder = root / manifest.generation
    found = []
    for name in ("people", *manifest.apps):
        path = folder / f"{name}.duckdb"
        problem = _problem(path, name)
        if problem:
            older = _older(root, manifest, path)
            lost = "profiles and contacts" if name == "people" else f"all items of {name}"
            mends = ""
            if older is not None:
                lost += f" since {_when(older)}"
                mends = f"take it from {older.parent.name}, as it was before the {manifest.summary}"
            elif name == "people":
                mends = "make it anew with the ids of the people who have items"
            found.append(Damage(name, path, problem, lost, mends))
    keep = {manifest.generation} | ({manifest.previous} if manifest.previous else set())
    for path in [*generations.others(root, keep), *sorted(folder.glob("*.compact*"))]:
        found.append(Damage("leftover", path, "left over from a crash", "", "remove it"))
    files_here = [path for path in sorted(folder.glob("*.duckdb")) if path.is_file()]
    found += [
        Damage("learned", path, problem, lost, mends)
        for path, problem, lost, mends in learned_doctor.damaged(root)
    ]
    for path in learned_doctor.left_over(root):
        found.append(Damage("leftover", path, "left over from a crash", "", "remove it"))
    for path in (root, folder, *files_here, root / MANIFEST, *learned_doctor.rights(root)):
        if path.stat().st_mode & 0o077:
            found.append(Damage("rights", path, "others may read it", "", "make it yours alone"))
    return found


def repair(files: StoreFiles) -> list[Damage]:
    """Mend what can be mended.

    Returns:
        What is still wrong.
    """
    with generations.lease(files.root, files.timeout):
        for one in examine(files):
            if one.name == "manifest":
                good = _last_good(files)
                if good is not None:
                    generations.write_manifest(files.root, good)
        for one in examine(files):
            manifest = None if one.name == "manifest" else files.manifest()
            if manifest is None:
                continue
            if one.name == "leftover":
                shutil.rmtree(one.path) if one.path.is_dir() else one.path.unlink()
            elif one.name == "learned":
                learned_doctor.mend(one.path)
            elif one.name == "rights":
                one.path.chmod(0o700 if one.path.is_dir() else 0o600)
            else:
                older = _older(files.root, manifest, one.path)
                if older is not None:
                    _discard(one.path)
                    shutil.copy2(older, one.path)
                    one.path.chmod(0o600)
                    sync(one.path)
                elif one.name == "people":
                    _discard(one.path)
                    _anew(files, manifest)
    return examine(files)


def drop(files: StoreFiles, name: str) -> None:
    """Delete a store that is damaged, in all generations, and begin an empty one.

    Raises:
        ValueError: There is no such store, or it is in order.
    """
    with generations.lease(files.root, files.timeout):
        manifest = files.manifest()
        known = ("people", *manifest.apps)
        if name not in known:
            raise InputError(f"--drop: {name!r} is no store; there are {', '.join(known)}")
        path = files.root / manifest.generation / f"{name}.duckdb"
        if not _problem(path, name):
            raise InputError(f"--drop: the {name} store is in order; nothing was deleted")
        for folder in generations.others(files.root, set()):
            _discard(folder / path.name)
        if name == "people":
            _anew(files, manifest)
            return
        for store in files.stores_in(path.parent):
            if store.app.name == name:
                store.create()
                path.chmod(0o600)
                return
        apps = tuple(app for app in manifest.apps if app != name)  # nobody declares it any more
        generations.write_manifest(files.root, manifest.model_copy(update={"apps": apps}))


def _problem(path: Path, name: str) -> str:
    """Why a store cannot be read whole, or an empty text."""
    try:
        with reading(path, name) as connection:
            tables = connection.execute(
                "SELECT table_name FROM information_schema.tables "
                "WHERE table_catalog = current_database()"
            ).fetchall()
            for (table,) in tables:
                connection.execute(f'SELECT sum(hash(one)) FROM "{table}" AS one').fetchone()
            needed = "people" if name == "people" else "items"
            if (needed,) not in tables:
                return f"damaged (it has no table {needed})"
    except StoreUnavailable as error:
        if error.reason.startswith("locked"):
            raise
        return error.reason
    return ""


def _older(root: Path, manifest: Manifest, path: Path) -> Path | None:
    """The same store in the generation before, if it is in order."""
    if manifest.previous is None:
        return None
    older = root / manifest.previous / path.name
    return older if older.exists() and not _problem(older, path.stem) else None


def _last_good(files: StoreFiles) -> Manifest | None:
    """The manifest of the newest generation that is whole."""
    found = sorted(generations.others(files.root, set()), key=lambda one: -int(one.name[1:]))
    for folder in found:
        try:
            manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
        except (OSError, ValueError):
            continue
        names = ("people", *manifest.apps)
        if not any(_problem(folder / f"{name}.duckdb", name) for name in names):
            previous = manifest.previous
            there = previous is not None and (files.root / previous).is_dir()
            update = {"previous": previous if there else None, "counter": int(found[0].name[1:])}
            return manifest.model_copy(update=update)
    return None


def _anew(files: StoreFiles, manifest: Manifest) -> None:
    """A people store with the ids of those who have items, and nothing else of them."""
    folder = files.root / manifest.generation
    ids: dict[str, None] = {}
    for store in files.stores_in(folder):
        try:
            with reading(store.path, store.app.name) as connection:
                rows = connection.execute("SELECT DISTINCT persona_id FROM items").fetchall()
        except StoreUnavailable:
            continue
        ids |= dict.fromkeys(row[0] for row in rows)
    people = PeopleStore(folder / PEOPLE, files.timeout, files.read_timeout)
    people.create()
    now = datetime.now().replace(second=0, microsecond=0)
    people.put([Person(one, now, Profile(one)) for one in sorted(ids)])
    people.path.chmod(0o600)


def _discard(path: Path) -> None:
    """Remove a store's file and its write-ahead logs."""
    for one in (path, *path.parent.glob(f"{path.name}.wal*")):
        shutil.rmtree(one) if one.is_dir() else one.unlink(missing_ok=True)


def _when(path: Path) -> str:
    return f"{datetime.fromtimestamp(path.stat().st_mtime):%Y-%m-%d %H:%M}"
