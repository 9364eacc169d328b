"""Opening stores: a stores folder, or a data set folder whose people are imported once."""

import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ctrag.assistant.context.item_arrays import encode_items
from ctrag.errors import CtragError, InputError, NotFound, StoreUnavailable
from ctrag.models.encoder import Encoder
from ctrag.settings import cache_folder
from ctrag.toolbox import Toolbox
from stores.compressed import kept, read_kept
from stores.people.app_spec import APPS, apps_of
from stores.people.dataset import PERSONAS, QUERIES, load_dataset
from stores.people.generations import MANIFEST
from stores.people.people_store import UnknownPerson
from stores.people.stores import Stores

TOOLBOX = "toolbox.yaml"


@dataclass(frozen=True, slots=True)
class Opened:
    """Stores that hold a person."""

    stores: Stores
    toolbox: Toolbox
    """See `toolbox_of`."""
    frozen_clock: bool
    """True when the person comes from a data set, whose clock is frozen at their `now`."""


def open_stores(path: Path, person_id: str, encoder: Encoder, *, reset: bool = False) -> Opened:
    """The stores that hold a person.

    A data set folder is not changed: the person is imported into stores under the cache folder,
    keyed by the content of the data set; changes made by plans stay there until `reset`. A copy
    that is damaged is made again.

    Raises:
        FileNotFoundError: `path` is neither a stores folder nor a data set folder.
        ValueError: A line of the data set breaks a rule, nobody has that id, or `reset` is asked
            for a person in a stores folder.
    """
    if (path / MANIFEST).exists():
        if reset:
            raise InputError(
                f"--reset: {path} is a stores folder, not a copy of a data set; "
                "`ctrag undo` takes back changes there"
            )
        return Opened(Stores.open(path), toolbox_of(path), frozen_clock=False)
    if not kept(path / PERSONAS).exists():
        raise NotFound(f"{path}: neither a data set folder nor a stores folder")
    content = [path / name for name in (PERSONAS, QUERIES, TOOLBOX)]
    content += [own for own in [path / APPS] if own.exists()]
    parts = [read_kept(one) if kept(one).exists() else b"" for one in content]
    digest = sha256(b"\0".join([*parts, encoder.name.encode()])).hexdigest()[:16]
    apps = apps_of(path)
    stores = Stores(cache_folder() / "datasets" / digest, apps)
    if stores.exists():
        try:
            stores = Stores.open(stores.root, apps)
            if reset and person_id in stores.people():
                stores.forget(person_id)
            stores.people()
        except (CtragError, OSError) as error:
            if isinstance(error, StoreUnavailable) and error.reason.startswith("locked"):
                raise
            shutil.rmtree(stores.root, ignore_errors=True)  # damaged: made again below
            stores = Stores(stores.root, apps)
    if not stores.exists() or person_id not in stores.people():
        dataset = load_dataset(path)
        known = {persona.person.person_id: persona for persona in dataset.personas}
        if person_id not in known:
            raise UnknownPerson(person_id, list(known))
        stores.import_personas(
            [known[person_id]],
            lambda owned: encode_items(encoder, list(owned)),
            encoder.name,
            undoable=False,
        )
    return Opened(stores, toolbox_of(path), frozen_clock=True)


def joined_toolbox(stores: Path, data: Path) -> Toolbox:
    """A stores folder's APIs, with those of the data set's further applications replacing the
    ones that the stores have for them.

    Raises:
        ValueError: An API's name is taken by another application.
    """
    packaged = set(Toolbox.packaged().apps)
    further = [tool for tool in toolbox_of(data) if tool.app not in packaged]
    new = {tool.app for tool in further}
    return Toolbox([*(tool for tool in toolbox_of(stores) if tool.app not in new), *further])


def toolbox_of(folder: Path) -> Toolbox:
    """The `toolbox.yaml` of a data set or stores folder, or the packaged one."""
    own = folder / TOOLBOX
    return Toolbox.from_file(own) if own.exists() else Toolbox.packaged()
