"""One file for one state: a saved model, a checkpoint of a fit, a chain.

The file is a zip archive in NumPy's ``.npz`` layout: plain arrays, and ``maylink.json`` with

* ``schema``, the version of the layout and of the names in it; a file of a later schema is refused,
* ``maylink``, the version of the library that wrote the file,
* ``kind``, what the state is, for example "model" or "checkpoint",
* ``fingerprint``, of all that decides the state (:mod:`maylink.io.fingerprint`), or null,
* ``values``, as :mod:`maylink.io.records` stores them.

No pickle is written or read, so a file cannot run code. A file is there as a whole or not at all.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.lib import format as npy

from maylink.errors import FileError, MaylinkError
from maylink.io.atomic import atomic_write
from maylink.io.records import Decoder, Encoder, KnownClasses
from maylink.version import __version__

SCHEMA = 2
DOCUMENT = "maylink.json"
KEYS = ("schema", "maylink", "kind", "fingerprint", "values")
COMPRESSION = 1  # most of what there is to gain, and quick

Tree = dict[str, Any]
"""A JSON object, as :mod:`maylink.io.records` writes it."""
Upgrade = Callable[[Tree], Tree]
"""Turns the JSON of an earlier schema into that of the present one."""


def write_state(
    path: str | Path,
    values: Mapping[str, Any],
    known: KnownClasses,
    *,
    kind: str,
    fingerprint: str | None = None,
    force: bool = True,
) -> None:
    """Write values to a file, as a whole or not at all.

    Parameters
    ----------
    path : str or Path
        The file.
    values : mapping of str to values
        Plain values, lists, tuples, mappings, arrays, sparse matrices, data frames, random
        generators, :class:`maylink.Links`, and members of the known classes.
    known : mapping of str to class
        The named tuples, dataclasses and enums that the values may hold, by name
        (:func:`maylink.io.records.classes_by_name`).
    kind : str
        What the state is; :func:`read_state` must ask for the same.
    fingerprint : str, optional
        Of all that decides the state.
    force : bool, default True
        Whether to write over a file that is there.

    Raises
    ------
    FileError
        If a value cannot be stored, or the file cannot be written. What was there before is there
        still.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from maylink.io.states import read_state, write_state
    >>> path = Path(tempfile.mkdtemp()) / "state.npz"
    >>> write_state(path, {"sweep": 3, "centers": np.eye(2)}, {}, kind="checkpoint")
    >>> read_state(path, {}, kind="checkpoint")["sweep"]
    3
    """
    encoder = Encoder(known)
    document = {
        "schema": SCHEMA,
        "maylink": __version__,
        "kind": kind,
        "fingerprint": fingerprint,
        "values": {name: encoder.encode(value, name) for name, value in values.items()},
    }
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)
    with (
        atomic_write(path, force=force) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION) as archive,
    ):
        # Members that are opened by name have no date: the same values make the same file.
        for name, array in encoder.arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, array, allow_pickle=False)
        with archive.open(DOCUMENT, "w") as member:
            member.write(text.encode())


def read_state(
    path: str | Path, known: KnownClasses, *, kind: str, fingerprint: str | None = None
) -> dict[str, Any]:
    """Read the values that :func:`write_state` has written.

    Parameters
    ----------
    path : str or Path
        The file. It is safe to read a file that someone else wrote: nothing in it is run.
    known : mapping of str to class
        The named tuples, dataclasses and enums that may be made, by name.
    kind : str
        What the state must be.
    fingerprint : str, optional
        What the fingerprint must be; None asks for none.

    Returns
    -------
    dict of str to values

    Raises
    ------
    FileError
        If the file is not there, is not such a state, is damaged, is of another schema, has another
        fingerprint, or holds what this version does not know.
    """
    with open_state(path, kind=kind, fingerprint=fingerprint) as state:
        decoder = state.decoder(known)
        values = {name: decoder.decode(tree) for name, tree in state.values.items()}
        if decoder.unknown_fields:
            raise MaylinkError(f"a field {decoder.unknown_fields[0]!r}, which is not known here")
        return values


@dataclass(frozen=True)
class OpenState:
    """A file of a state, its JSON read and its arrays not yet."""

    path: str | Path
    archive: zipfile.ZipFile
    version: str
    """The version of the library that wrote the file."""
    values: Tree
    unknown_keys: tuple[str, ...]
    """Keys of the document that a later version added."""

    def decoder(self, known: KnownClasses) -> Decoder:
        """Return what turns ``values`` back; it reads arrays when they are asked for."""
        return Decoder(self._array, known)

    def _array(self, name: str) -> np.ndarray[Any, Any]:
        with self.archive.open(f"{name}.npy") as file:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            dtype = read(file)[2]
        if dtype.hasobject:
            raise FileError(
                f"{self.path}: {name!r} holds a pickle, which could run foreign code; maylink "
                "writes none, so it is not loaded"
            )
        with self.archive.open(f"{name}.npy") as file:
            array: np.ndarray[Any, Any] = npy.read_array(file, allow_pickle=False)
            return array


@contextmanager
def open_state(
    path: str | Path, *, kind: str, fingerprint: str | None = None, upgrade: Upgrade | None = None
) -> Iterator[OpenState]:
    """Open a file of a state; whatever goes wrong with it ends in a FileError of one sentence.

    Parameters
    ----------
    path : str or Path
        The file.
    kind : str
        What the state must be.
    fingerprint : str, optional
        What the fingerprint must be; None asks for none.
    upgrade : function, optional
        Turns the JSON of an earlier schema into that of the present one; without it, only files of
        the present schema are read.

    Yields
    ------
    OpenState
    """
    version = None
    try:
        with zipfile.ZipFile(path) as archive:
            document = _document(path, archive, kind, upgrade)
            version = str(document["maylink"])
            _check(path, document, kind, fingerprint)
            unknown = tuple(key for key in document if key not in KEYS)
            yield OpenState(path, archive, version, document["values"], unknown)
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error
    except FileError:
        raise
    except MaylinkError as error:
        raise FileError(
            f"{path}: cannot be understood ({_one_line(error)}); it was written by maylink "
            f"{version}, and this is maylink {__version__}"
        ) from error
    except zipfile.BadZipFile as error:
        what = "is damaged" if zipfile.is_zipfile(path) else f"is not a saved {kind} of maylink"
        raise FileError(f"{path}: {what} ({error})") from error
    except (LookupError, ValueError, TypeError, AttributeError, EOFError) as error:
        raise FileError(f"{path}: is damaged ({_one_line(error)})") from error
    except (zlib.error, MemoryError, RuntimeError, SyntaxError, TokenError) as error:
        raise FileError(f"{path}: is damaged ({_one_line(error)})") from error


def _document(
    path: str | Path, archive: zipfile.ZipFile, kind: str, upgrade: Upgrade | None
) -> Tree:
    """Return the JSON of a file, in the present schema."""
    if DOCUMENT not in archive.namelist():
        raise FileError(f"{path}: is not a saved {kind} of maylink (there is no {DOCUMENT} in it)")
    document: Any = json.loads(archive.read(DOCUMENT))
    if not isinstance(document, dict) or not isinstance(document.get("schema"), int):
        raise FileError(f"{path}: is damaged ({DOCUMENT} names no schema)")
    schema, version = document["schema"], document.get("maylink")
    if not 1 <= schema <= SCHEMA:
        raise FileError(
            f"{path}: has schema {schema}, written by maylink {version}, and this is maylink "
            f"{__version__}, which reads up to schema {SCHEMA}; update maylink"
        )
    if schema < SCHEMA:
        if upgrade is None:
            raise FileError(
                f"{path}: has the old schema {schema}, written by maylink {version}, which this "
                f"maylink {__version__} cannot go on from; delete it to begin anew"
            )
        return upgrade(document)
    return dict(document)


def _check(path: str | Path, document: Tree, kind: str, fingerprint: str | None) -> None:
    if document["kind"] != kind:
        raise FileError(f"{path}: is a saved {document['kind']} of maylink, not a {kind}")
    if fingerprint is not None and document["fingerprint"] != fingerprint:
        raise FileError(f"{path}: is of other data, links or parameters")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
