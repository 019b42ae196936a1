"""Simulated records of people, several of one person, written down with care and without."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maylink.datasets.loaders import Dataset
from maylink.datasets.texts import text_features
from maylink.errors import DatasetError

MOST = 5  # records of a person
LETTERS = "abcdefghijklmnopqrstuvwxyz"

# How often a part of a record is not as it should be.
NICKNAME, INITIAL, TYPO = 0.25, 0.05, 0.15
DATE_SWAPPED, DATE_TYPO, DATE_MISSING = 0.08, 0.08, 0.10
TOWN_MISSING, ORDER_SWAPPED = 0.15, 0.05

NICKNAMES = {
    "alexander": "alex", "andrew": "andy", "anthony": "tony", "barbara": "barb",
    "benjamin": "ben", "catherine": "kate", "charles": "charlie", "christine": "chris",
    "daniel": "dan", "deborah": "debbie", "dorothy": "dot", "edward": "ted",
    "elizabeth": "liz", "frances": "fran", "frederick": "fred", "gregory": "greg",
    "henry": "harry", "jacqueline": "jackie", "james": "jim", "jennifer": "jenny",
    "john": "jack", "joseph": "joe", "judith": "judy", "kenneth": "ken",
    "lawrence": "larry", "margaret": "maggie", "martin": "marty", "matthew": "matt",
    "michael": "mike", "nicholas": "nick", "pamela": "pam", "patricia": "pat",
    "peter": "pete", "philip": "phil", "rebecca": "becky", "richard": "dick",
    "robert": "bob", "samuel": "sam", "stephen": "steve", "susan": "sue",
    "thomas": "tom", "timothy": "tim", "victoria": "vicky", "william": "bill",
}  # fmt: skip
GIVEN = (*NICKNAMES, "alice", "clara", "emma", "eric", "grace", "helen", "irene", "karl", "laura",
         "mark", "nora", "oscar", "paul", "rose", "ruth", "simon")  # fmt: skip
# Surnames and towns are a beginning and an ending.
BEGINNINGS = ("ash", "black", "brad", "brook", "carl", "clay", "crow", "east", "fair", "green",
              "hart", "hol", "kings", "lang", "mar", "nor", "oak", "pres", "red", "stan",
              "thorn", "wal", "west", "whit")  # fmt: skip
SURNAME_ENDINGS = ("berg", "er", "field", "ford", "ham", "ley", "man", "son", "ton", "wood")
TOWN_ENDINGS = ("bridge", "bury", "mouth", "port", "ville")


class Person(NamedTuple):
    """What is true of a person."""

    given: str
    surname: str
    born: tuple[int, int, int]  # year, month, day
    town: str


def make_records(
    n: int = 2000, n_people: int = 900, *, rng: np.random.Generator | int | None = None
) -> Dataset:
    """Draw records of people, one to five of each, with slips of the pen, and their features.

    The clusters are the people. Features are the 64 leading directions of TF-IDF over two and
    three letters in a row, in rows of unit length; :func:`draw_records` gives the texts.

    Parameters
    ----------
    n : int, default 2000
        Number of records.
    n_people : int, default 900
        Number of people.
    rng : Generator or int, optional
        Source of randomness.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from maylink.datasets import make_records
    >>> make_records(200, 90, rng=0)
    Dataset(records: 200 × 64, 90 classes, simulated)
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, y = draw_records(n, n_people, rng=rng)
    letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3), min_df=2, sublinear_tf=True)
    classes = tuple(str(k) for k in range(n_people))
    return Dataset("records", text_features(texts, letters), y, classes, "simulated")


def draw_records(
    n: int = 2000, n_people: int = 900, *, rng: np.random.Generator | int | None = None
) -> tuple[list[str], NDArray[np.int64]]:
    """Draw records as lines of text: name, date of birth, town.

    Slips are letters that are wrong, missing, doubled or in the wrong order, day and month swapped,
    dates or towns left out, nicknames, initials, and the surname written first.

    Parameters
    ----------
    n, n_people, rng
        As in :func:`make_records`.

    Returns
    -------
    (list of str, array of int of shape (n,))
        The records, and whose they are.

    Examples
    --------
    >>> from maylink.datasets.records import draw_records
    >>> texts, person = draw_records(6, 2, rng=1)
    >>> len(texts), sorted(set(person.tolist()))
    (6, [0, 1])
    """
    if not 1 <= n_people <= n <= MOST * n_people:
        raise DatasetError(
            f"n_people: {n_people} people have {n_people} to {MOST * max(n_people, 0)} records, "
            f"and n = {n}"
        )
    generator = np.random.default_rng(rng)
    people = [_person(generator) for _ in range(n_people)]
    whose = generator.permutation(np.repeat(np.arange(n_people), _sizes(n, n_people, generator)))
    return [_record(people[k], generator) for k in whose], whose.astype(np.int64)


def _sizes(n: int, n_people: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return how many records each has: one, and further ones by lot until nobody may have more."""
    lots = rng.permutation(np.repeat(np.arange(n_people), MOST - 1))[: n - n_people]
    return 1 + np.bincount(lots, minlength=n_people)


def _person(rng: np.random.Generator) -> Person:
    """Draw a person; some surnames and towns are far more frequent than others."""
    surname = BEGINNINGS[_skewed(len(BEGINNINGS), rng)] + str(rng.choice(SURNAME_ENDINGS))
    town = BEGINNINGS[-1 - _skewed(len(BEGINNINGS), rng)] + str(rng.choice(TOWN_ENDINGS))
    born = (int(rng.integers(1935, 2005)), int(rng.integers(1, 13)), int(rng.integers(1, 29)))
    return Person(str(rng.choice(GIVEN)), surname, born, town)


def _skewed(size: int, rng: np.random.Generator) -> int:
    """Draw a number below ``size``, small ones more often."""
    return int(size * rng.random() ** 1.5)


def _record(person: Person, rng: np.random.Generator) -> str:
    given, surname = person.given, person.surname
    if given in NICKNAMES and rng.random() < NICKNAME:
        given = NICKNAMES[given]
    if rng.random() < INITIAL:
        given = given[0]
    elif rng.random() < TYPO:
        given = mistyped(given, rng)
    if rng.random() < TYPO:
        surname = mistyped(surname, rng)
    names = [surname, given] if rng.random() < ORDER_SWAPPED else [given, surname]
    return " ".join(part for part in (*names, _date(person.born, rng), _town(person, rng)) if part)


def _date(born: tuple[int, int, int], rng: np.random.Generator) -> str:
    """Write a date of birth: right, with day and month swapped, with a wrong figure, or not."""
    year, month, day = born
    chance = rng.random()
    if chance < DATE_MISSING:
        return ""
    if chance < DATE_MISSING + DATE_SWAPPED:
        month, day = day, month
    date = f"{year:04d}-{month:02d}-{day:02d}"
    if chance > 1.0 - DATE_TYPO:
        at = int(rng.choice([2, 3, 5, 6, 8, 9]))  # not the century, not a hyphen
        date = f"{date[:at]}{rng.integers(10)}{date[at + 1 :]}"
    return date


def _town(person: Person, rng: np.random.Generator) -> str:
    if rng.random() < TOWN_MISSING:
        return ""
    return mistyped(person.town, rng) if rng.random() < TYPO else person.town


def mistyped(word: str, rng: np.random.Generator) -> str:
    """Make one slip: two letters swapped, or one left out, doubled or another."""
    at = int(rng.integers(max(1, len(word) - 1)))
    slip = int(rng.integers(4))
    if slip == 0:
        return word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]
    if slip == 1 and len(word) > 1:
        return word[:at] + word[at + 1 :]
    if slip == 2:
        return word[: at + 1] + word[at:]
    return word[:at] + LETTERS[int(rng.integers(len(LETTERS)))] + word[at + 1 :]
