"""Which families there are, by name: a file of this folder each, and those that were registered."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterable
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from maylink.errors import MaylinkError, not_one_of
from maylink.families.base import Family, Statistics
from maylink.families.kinds import KINDS
from maylink.families.tails import Tails

FamilyClass = TypeVar("FamilyClass", bound=type[Family])

_REGISTERED: dict[str, type[Family]] = {}


def all_families() -> dict[str, type[Family]]:
    """Return every family by its name: those of the library, and those that were registered.

    Examples
    --------
    >>> from maylink.families import all_families
    >>> all_families()["von-mises-fisher"].__name__
    'VonMisesFisher'
    """
    return {**_of_this_folder(), **_REGISTERED}


def as_family(family: Family | str) -> Family:
    """Return the family itself, or the one of this name with its default settings.

    Examples
    --------
    >>> from maylink.families import as_family
    >>> as_family("poisson").name
    'poisson'
    """
    if isinstance(family, Family):
        return family
    families = all_families()
    if not isinstance(family, str) or family not in families:
        word = str(family).lower()
        meant = [name for name, cls in families.items() if word in cls.also_called]
        guess = f" (you may mean {meant[0]!r})" if meant else ""
        raise MaylinkError(
            f"family: {family!r} is not known{guess}; give one of {', '.join(sorted(families))}, "
            "or a Family object"
        )
    return families[family]()


def register(cls: FamilyClass) -> FamilyClass:
    """Make a family from outside the library known by its name; a decorator of its class.

    From then on it is known wherever a family is asked for by name, "auto" tries it where its
    facts say so, and models that use it can be saved and loaded. A family of the same name that was
    registered before is replaced.

    Parameters
    ----------
    cls : subclass of Family
        A frozen dataclass with a ``name``, ``kind`` and ``needs``, with the named tuples of its
        priors in ``records``, and with all methods that a family must have.

    Returns
    -------
    type
        The same class.

    Raises
    ------
    MaylinkError
        If the class lacks something, or if a name or word is another family's.

    Examples
    --------
    >>> from maylink.families import Poisson, as_family, register, unregister
    >>> @register
    ... class Clicks(Poisson):
    ...     name = "clicks"
    >>> as_family("clicks")
    Clicks(smoothing=0.3)
    >>> unregister(Clicks)
    """
    if not (isinstance(cls, type) and issubclass(cls, Family)):
        raise MaylinkError(f"register: {cls!r} is not a class that derives from Family")
    _check_facts(cls)
    _check_words(cls)
    _REGISTERED[cls.name] = cls
    return cls


def unregister(cls: type[Family]) -> None:
    """Forget a family that was registered; nothing happens to the library's own.

    Examples
    --------
    >>> from maylink.families import Poisson, all_families, unregister
    >>> unregister(Poisson)
    >>> "poisson" in all_families()
    True
    """
    _REGISTERED.pop(cls.name, None)


def covariances() -> dict[str, str]:
    """Return the names of Gaussian families by the word for their covariance, the plainest first.

    Examples
    --------
    >>> from maylink.families.registry import covariances
    >>> covariances()["diagonal"]
    'diagonal-gaussian'
    """
    gaussians = [cls for cls in all_families().values() if cls.covariance is not None]
    gaussians.sort(key=lambda cls: (cls.auto_rank is None, cls.auto_rank or 0))
    return {str(cls.covariance): cls.name for cls in gaussians}


def usual_family(kind: str) -> str:
    """Return the name of the family that data of a kind are taken as where nobody says.

    Examples
    --------
    >>> from maylink.families.registry import usual_family
    >>> usual_family("counts")
    'multinomial'
    """
    usual = [name for name, cls in all_families().items() if cls.kind == kind and cls.usual]
    return usual[-1]  # a registered one before that of the library


def check_chunks(family: Family) -> None:
    """Raise about a family that needs all data in one place."""
    for part in family.parts_in_memory():
        able = [cls.name for cls in all_families().values() if cls.in_chunks and cls.by_name]
        raise MaylinkError(
            f"family: {part.name!r} takes what it needs from all data in one place; on Dask use "
            f"one of {', '.join(repr(name) for name in sorted(able))}, or fit a sample in memory"
        )


def records() -> list[type]:
    """Return the classes that files of saved models may name: families, and what priors are."""
    return _records_of(all_families().values())


def _records_of(families: Iterable[type[Family]]) -> list[type]:
    classes = [record for cls in families for record in (cls, *cls.records)]
    return list(dict.fromkeys([Statistics, Tails, *classes]))


def _check_facts(cls: type[Family]) -> None:
    for fact in ("name", "kind", "needs"):
        if not isinstance(getattr(cls, fact, None), str):
            raise MaylinkError(f"register: {cls.__name__} has no {fact}; give it as text")
    if "name" not in vars(cls):
        raise MaylinkError(f"register: {cls.__name__} needs a name of its own, beside {cls.name!r}")
    can_be_saved: bool = is_dataclass(cls)
    if not can_be_saved:
        raise MaylinkError(
            f"register: {cls.__name__} cannot be compared and saved; make it a dataclass, with "
            "@dataclass(frozen=True) below @register"
        )
    if cls.kind not in KINDS:
        raise MaylinkError(f"register: kind: {not_one_of(cls.kind, KINDS)}")
    if inspect.isabstract(cls):
        missing = ", ".join(sorted(cls.__abstractmethods__))
        raise MaylinkError(f"register: {cls.__name__} lacks {missing}")


def _check_words(cls: type[Family]) -> None:
    """Refuse a name, a covariance or a class name that is another family's."""
    if cls.name in _of_this_folder() or cls.name == "auto":
        raise MaylinkError(f"register: the name {cls.name!r} is taken; give the family another")
    others = [other for name, other in all_families().items() if name != cls.name]
    for other in others:
        if cls.covariance is not None and cls.covariance == other.covariance:
            raise MaylinkError(
                f"register: the covariance {cls.covariance!r} is that of {other.name!r}; "
                "use another word, or None"
            )
    classes = {record.__name__: record for record in _records_of(others)}
    for record in (cls, *cls.records):
        if classes.get(record.__name__, record) is not record:
            raise MaylinkError(
                f"register: another class is called {record.__name__!r}, and saved models know "
                "classes by their names; rename it"
            )


@cache
def _of_this_folder() -> dict[str, type[Family]]:
    families = {}
    package = __name__.rpartition(".")[0]
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        members = vars(importlib.import_module(f"{package}.{module.name}")).values()
        for member in members:
            if inspect.isclass(member) and issubclass(member, Family) and "name" in vars(member):
                families[member.name] = member
    return families
