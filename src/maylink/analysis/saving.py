"""Saved models: a fitted estimator as one file that is safe to load and outlives versions.

The file is a zip archive in NumPy's ``.npz`` layout: plain arrays, and ``maylink.json`` with

* ``schema``, the version of this layout; a file of a later schema is refused,
* ``maylink``, the version of the library that wrote it,
* ``estimator``, the name of the class; ``parameters``; ``fitted``, what the fit found.

No pickle is written or read, so a file cannot run code. Fields that a later version of the same
schema added are left out with a warning. See :mod:`maylink.io.records` for how values are stored.
"""

from __future__ import annotations

import inspect
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy

from maylink.big.data import is_dask
from maylink.errors import FileError, MaylinkError
from maylink.io.atomic import written
from maylink.io.records import Arrays, Decoder, Encoder, warn_unknown
from maylink.version import __version__

if TYPE_CHECKING:
    from maylink.io.data import Table

SCHEMA = 1
TOLD = "maylink.json"
KEYS = ("schema", "maylink", "estimator", "parameters", "fitted")
DATA = "problem_"  # the attribute that holds the data of a fit
HIDDEN = ("_prior",)  # fitted, though its name does not say so
LEVEL = 1  # of compression: most of what there is to gain, and quick


def save(model: Any, path: str | Path, *, keep_data: bool = False, force: bool = False) -> None:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : estimator
        A fitted estimator or baseline of maylink.
    path : str or Path
        The file; ``.npz`` is the usual ending.
    keep_data : bool, default False
        Whether to store the data of the fit, too, where the model holds them; only
        :meth:`TVClust.log_joint` asks for them. Labels, links and draws are always stored.
    force : bool, default False
        Whether to write over a file that is there.

    Raises
    ------
    MaylinkError
        If the model is not fitted, or holds what cannot be saved, for example a family of your own.
    FileError
        If the file is there and ``force`` is not set, or it cannot be written. Then nothing is.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import maylink as ml
    >>> data = ml.datasets.make_pattern("moons", rng=0)
    >>> model = ml.RDPMeans(random_state=0).fit(data.X)
    >>> path = Path(tempfile.mkdtemp()) / "model.npz"
    >>> ml.save(model, path)
    >>> again = ml.load(path)
    >>> bool((again.predict(data.X) == model.predict(data.X)).all())
    True
    """
    cls: type = type(model)
    name = cls.__name__
    if known_estimators().get(name) is not cls:
        raise MaylinkError(
            f"model: a {name} cannot be saved, only maylink's own estimators can; of a pipeline or "
            "a search save the one inside"
        )
    fitted = {key: value for key, value in vars(model).items() if _is_fitted(key)}
    if "labels_" not in fitted:
        raise MaylinkError(f"model: this {name} is not fitted; call fit first")
    if not keep_data:
        fitted.pop(DATA, None)
    if is_dask(fitted.get("responsibilities_")):
        del fitted["responsibilities_"]  # made from the data whenever they are asked for
    # An array that stands in several places gets the name of the attribute that users know.
    fitted = dict(sorted(fitted.items(), key=lambda item: not isinstance(item[1], np.ndarray)))
    encoder = Encoder()
    parameters = model.get_params(deep=False)
    told = {
        "schema": SCHEMA,
        "maylink": __version__,
        "estimator": name,
        "parameters": {k: encoder.encode(v, f"parameters.{k}") for k, v in parameters.items()},
        "fitted": {k: encoder.encode(v, f"fitted.{k}") for k, v in fitted.items()},
    }
    with (
        written(path, force=force) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive,
    ):
        _write(archive, told, encoder.arrays)


def load(path: str | Path) -> Any:
    """Read a model that :func:`save` has written.

    Parameters
    ----------
    path : str or Path
        The file. It is safe to load a file that someone else wrote: nothing in it is run.

    Returns
    -------
    estimator
        As it was saved: it predicts to the bit what it did, where NumPy and SciPy are the same.

    Raises
    ------
    FileError
        If the file is not there, is not a saved model, is damaged, or is of a later schema.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            told = _told(path, archive)
            return _rebuilt(path, archive, told)
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error
    except FileError:
        raise
    except zipfile.BadZipFile as error:
        what = "is damaged" if zipfile.is_zipfile(path) else "is not a saved model of maylink"
        raise FileError(f"{path}: {what} ({error})") from error
    except (LookupError, ValueError, TypeError, AttributeError, EOFError) as error:
        raise FileError(f"{path}: is damaged ({_one_line(error)})") from error
    except (zlib.error, RecursionError, MemoryError, NotImplementedError, RuntimeError) as error:
        raise FileError(f"{path}: is damaged ({_one_line(error)})") from error


def name_columns(model: Any, columns: Sequence[str]) -> None:
    """Note the names of the columns on a model that was fitted to a plain array.

    They are saved with it, and :func:`columns_for` checks new data by them.

    Parameters
    ----------
    model : estimator
        Fitted to dense data.
    columns : sequence of str
        One name a column.
    """
    if len(columns) != model.n_features_in_:
        raise MaylinkError(
            f"columns: {len(columns)} names for the {model.n_features_in_} columns of the fit"
        )
    model.feature_names_in_ = np.array(columns, object)


def columns_for(model: Any, table: Table) -> tuple[Any, str]:
    """Return the columns of a table that a model asks for, in its order, and how they were found.

    Parameters
    ----------
    model : estimator
        Fitted.
    table : Table
        New data.

    Returns
    -------
    X : DataFrame or array or CSR matrix of shape (n, d)
        A frame where the model knows the names of its columns.
    said : str
        Whether names were checked, or only how many columns there are.

    Raises
    ------
    FileError
        If a column is missing, or the number of columns is another.
    """
    import pandas as pd
    from scipy import sparse

    wanted = [str(name) for name in getattr(model, "feature_names_in_", ())]
    made_up = wanted == [f"x{at}" for at in range(len(wanted))]  # the file had no header
    missing = [name for name in wanted if name not in table.columns]
    if wanted and not missing:
        X = table.X
        if list(table.columns) != wanted:
            X = X[:, [table.columns.index(name) for name in wanted]]
        extra = len(table.columns) - len(wanted)
        more = f"; {extra} more left out" * bool(extra)
        said = f"{len(wanted)} columns found by name{more}"
    elif wanted and not made_up:
        raise FileError(
            f"columns: the model asks for {missing[0]!r}, and the data have "
            f"{', '.join(map(repr, table.columns[:8]))}; give the columns of the fit"
        )
    else:
        asked = int(model.n_features_in_)
        if len(table.columns) != asked:
            raise FileError(
                f"columns: the model was fitted to {asked}, and the data have "
                f"{len(table.columns)}; give the columns of the fit"
            )
        X, said = table.X, f"{asked} columns, as in the fit; the model knows no names to check"
    if not wanted or sparse.issparse(X):
        return X, said
    return pd.DataFrame(X, columns=wanted, copy=False), said


@cache
def known_estimators() -> Mapping[str, type]:
    """Return the classes that can be saved, by name: all estimators and all baselines."""
    from maylink import estimators
    from maylink.baselines import all_baselines

    own = {name: getattr(estimators, name) for name in estimators.__all__}
    return {**own, **all_baselines()}


def _is_fitted(name: str) -> bool:
    return name in HIDDEN or (name.endswith("_") and not name.startswith("_"))


def _write(archive: zipfile.ZipFile, told: Any, arrays: Arrays) -> None:
    # Entries that are opened by name have no date: the same model makes the same file.
    for name, array in arrays.items():
        with archive.open(f"{name}.npy", "w", force_zip64=True) as out:
            npy.write_array(out, array, allow_pickle=False)
    text = json.dumps(told, ensure_ascii=False, allow_nan=False, indent=1)
    with archive.open(TOLD, "w") as out:
        out.write(text.encode())


def _told(path: str | Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    """Return the JSON, of a schema that this version can read."""
    if TOLD not in archive.namelist():
        raise FileError(f"{path}: is not a saved model of maylink (there is no {TOLD} in it)")
    told = json.loads(archive.read(TOLD))
    if not isinstance(told, dict) or not isinstance(told.get("schema"), int):
        raise FileError(f"{path}: is damaged ({TOLD} names no schema)")
    if not 1 <= told["schema"] <= SCHEMA:
        raise FileError(
            f"{path}: has schema {told['schema']}, written by maylink {told.get('maylink')}, and "
            f"this is maylink {__version__}, which reads up to schema {SCHEMA}; update maylink"
        )
    return told


def _rebuilt(path: str | Path, archive: zipfile.ZipFile, told: dict[str, Any]) -> Any:
    cls = known_estimators().get(told["estimator"])
    version = str(told["maylink"])
    if cls is None:
        raise FileError(
            f"{path}: holds a {told['estimator']!r}, written by maylink {version}; this is maylink "
            f"{__version__}, which has none"
        )
    decoder = Decoder(lambda name: _array(path, archive, name))
    try:
        model, unknown = _decoded(cls, told, decoder)
    except FileError:
        raise
    except MaylinkError as error:
        raise FileError(
            f"{path}: cannot be understood ({_one_line(error)}); it was written by maylink "
            f"{version}, and this is maylink {__version__}"
        ) from error
    warn_unknown(path, unknown + decoder.unknown, version)
    return model


def _decoded(cls: type, told: dict[str, Any], decoder: Decoder) -> tuple[Any, list[str]]:
    """Return the model, and the fields that this version does not know."""
    known = inspect.signature(cls).parameters
    unknown = [key for key in told if key not in KEYS]
    unknown += [f"parameters.{key}" for key in told["parameters"] if key not in known]
    parameters = {k: decoder.decode(v) for k, v in told["parameters"].items() if k in known}
    model = cls(**parameters)
    for key, tree in told["fitted"].items():
        if not _is_fitted(key) or hasattr(cls, key):  # never over a method or a property
            unknown.append(f"fitted.{key}")
            continue
        setattr(model, key, decoder.decode(tree))
    _check_labels(model)
    return model, unknown


def _array(path: str | Path, archive: zipfile.ZipFile, name: str) -> Any:
    with archive.open(f"{name}.npy") as file:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        dtype = read(file)[2]
    if dtype.hasobject:
        raise FileError(
            f"{path}: {name!r} holds a pickle, which could run foreign code; maylink writes none, "
            "so it is not loaded"
        )
    with archive.open(f"{name}.npy") as file:
        return npy.read_array(file, allow_pickle=False)


def _check_labels(model: Any) -> None:
    """Refuse labels out of range: kernels trust them."""
    drawn = getattr(model, "draws_", None)
    drawn = getattr(drawn, "labels", drawn)
    for name, labels, below in (
        ("labels_", model.labels_, model.n_clusters_),
        ("draws_", drawn, model.labels_.size),
    ):
        if labels is None or labels.size == 0:
            continue
        if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= below:
            raise MaylinkError(f"{name} is out of range")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
