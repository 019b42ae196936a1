"""Makes the files of docs/howto/texts.md, and scores what came out of them.

``python docs/scripts/text_data.py people``, ``texts``, ``mixed`` or ``embeddings`` writes data,
links and the truth into the current folder; ``score people labels.csv`` prints the adjusted Rand
index of labels and truth beside that of K-means, which is told the true number of clusters.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

import maylink as ml
from maylink.datasets import make_embeddings
from maylink.datasets.records import draw_records

N, SEED = 2000, 0
SYLLABLES = [first + second for first in "bdklmnrst" for second in "aeo"]


def people() -> None:
    """Write 2,000 records of 900 people, and scores of look-alike pairs, as splink has them."""
    rng = np.random.default_rng(SEED)
    records, person = draw_records(N, 900, rng=rng)
    parts = [_parts(record) for record in records]
    frame = pd.DataFrame(parts, columns=["name", "born", "town"])
    frame.insert(0, "id", [f"r{row}" for row in range(N)])
    frame["phone"] = rng.integers(200_0000, 999_9999, N)  # a new one each time: it says nothing
    frame.to_csv("people.csv", index=False)
    pairs = ml.look_alike_pairs(ml.text_features(records), per_row=5)
    pairs = pairs[rng.permutation(len(pairs))[: 2 * N]]
    same = person[pairs[:, 0]] == person[pairs[:, 1]]
    odds = np.where(same, 2.0, -2.0) + rng.normal(0.0, 1.5, len(pairs))  # one in ten is wrong
    ids = frame["id"].to_numpy()
    pd.DataFrame(
        {
            "unique_id_l": ids[pairs[:, 0]],
            "unique_id_r": ids[pairs[:, 1]],
            "match_probability": (1.0 / (1.0 + np.exp(-odds))).round(4),
        }
    ).to_csv("scores.csv", index=False)
    _write_truth("people", ids, person)


def texts() -> None:
    """Write 2,000 texts of twelve topics, and 1,000 answers, one in ten wrong."""
    rng = np.random.default_rng(SEED)
    words, topics = _vocabulary(12, rng)
    y = rng.integers(0, 12, N)
    lines = _lines(words, topics, y, 15, 40, rng)
    ids = np.array([f"t{row}" for row in range(N)])
    pd.DataFrame({"id": ids, "text": lines}).to_csv("texts.csv", index=False)
    _write_answers("texts", ids, y, rng)
    _write_truth("texts", ids, y)


def mixed() -> None:
    """Write 1,000 rows of numbers, dates, categories and notes, a tenth of the cells missing."""
    from mixed_table import make_links, make_table

    frame, y = make_table(SEED)
    rng = np.random.default_rng(SEED)
    words, topics = _vocabulary(4, rng)
    notes = pd.Series(_lines(words, topics, y, 8, 20, rng))
    frame["notes"] = notes.mask(rng.random(len(y)) < 0.1)
    frame.rename(columns={"customer": "id"}).to_csv("mixed.csv", index=False)
    links = make_links(y, SEED, frame["customer"])
    links.to_csv("mixed_links.csv", index=False)
    _write_truth("mixed", frame["customer"].to_numpy(), y)


def embeddings() -> None:
    """Write 2,000 embeddings of 384 numbers in twelve clusters, and 1,000 answers."""
    rng = np.random.default_rng(SEED)
    data = make_embeddings(N, 384, 12, apart=3.0, rng=rng)
    ids = np.array([f"e{row}" for row in range(N)])
    np.save("embeddings.npy", data.X.astype(np.float32))
    pd.DataFrame({"id": ids}).to_csv("ids.csv", index=False)
    _write_answers("embeddings", ids, data.y, rng)
    _write_truth("embeddings", ids, data.y)


def score(name: str, path: str) -> None:
    """Print how well labels agree with the truth, and how well K-means does."""
    from sklearn.cluster import KMeans

    truth = pd.read_csv(f"{name}_truth.csv").set_index("id")["cluster"]
    labels = pd.read_csv(path).set_index("id")["cluster"].reindex(truth.index)
    k = truth.nunique()
    print(f"{name}: {labels.nunique()} clusters found, {k} are true")
    print(f"  maylink                 ARI {ml.metrics.adjusted_rand(truth, labels):.3f}")
    for what, X in _views(name).items():
        found = KMeans(k, n_init=1, random_state=0).fit_predict(X)
        print(f"  K-means, {what:14} ARI {ml.metrics.adjusted_rand(truth, found):.3f}")


def _views(name: str) -> dict[str, np.ndarray]:
    """Return the rows that K-means gets: one-hot columns and numbers, and the same as we do."""
    if name == "embeddings":
        return {"embeddings": np.load("embeddings.npy")}
    if name == "mixed":
        return {"one-hot": _one_hot(pd.read_csv("mixed.csv").drop(columns=["id", "phone"]))}
    frame = pd.read_csv(f"{name}.csv", dtype={"born": str}).drop(columns="id").fillna("")
    numbers = frame.select_dtypes("number")
    words = pd.get_dummies(frame.select_dtypes(exclude="number"), dtype=float)
    spread = numbers.std().replace(0.0, 1.0)
    one_hot = np.hstack([words.to_numpy(), ((numbers - numbers.mean()) / spread).to_numpy()])
    joined = frame.select_dtypes(exclude="number").agg(" ".join, axis=1)
    return {"one-hot": one_hot, "our features": ml.text_features(joined.tolist())}


def _one_hot(frame: pd.DataFrame) -> np.ndarray:
    """Return one-hot words, dates as days, and scaled numbers, gaps at the median."""
    frame = frame.assign(
        joined=pd.to_datetime(frame["joined"]).map(pd.Timestamp.toordinal, "ignore")
    )
    numbers = frame.select_dtypes("number")
    numbers = numbers.fillna(numbers.median())
    words = pd.get_dummies(frame.select_dtypes(exclude="number").drop(columns="notes"), dtype=float)
    return np.hstack([words, (numbers - numbers.mean()) / numbers.std()])


def _parts(record: str) -> tuple[str, str, str]:
    """Take a record apart: name, date of birth, town."""
    words = record.split()
    dates = [word for word in words[2:] if word[0].isdigit()]
    towns = [word for word in words[2:] if not word[0].isdigit()]
    return " ".join(words[:2]), " ".join(dates), " ".join(towns)


def _vocabulary(n_topics: int, rng: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return words, and how often they come in each topic: a third are of the topic."""
    words = np.array(sorted({"".join(rng.choice(SYLLABLES, 3)) for _ in range(1500)}))
    common = _frequencies(words.size, rng)
    topics = [2 / 3 * common + 1 / 3 * _frequencies(words.size, rng, 60) for _ in range(n_topics)]
    return words, topics


def _lines(
    words: np.ndarray,
    topics: list[np.ndarray],
    y: np.ndarray,
    shortest: int,
    longest: int,
    rng: np.random.Generator,
) -> list[str]:
    return [
        " ".join(rng.choice(words, size=rng.integers(shortest, longest), p=topics[topic]))
        for topic in y
    ]


def _frequencies(size: int, rng: np.random.Generator, used_size: int | None = None) -> np.ndarray:
    """Return how often each of so many words comes, some far more often than others."""
    used = rng.permutation(size)[:used_size]
    frequency = np.zeros(size)
    frequency[used] = 1.0 / (10.0 + np.arange(used.size))
    return frequency / frequency.sum()


def _write_answers(name: str, ids: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> None:
    links = ml.sample_links(y, rate=1000 / (N * (N - 1) / 2), accuracy=0.9, rng=rng)
    answers = np.where(links.kind == 1, "Yes", "No")
    frame = pd.DataFrame({"id_a": ids[links.i], "id_b": ids[links.j], "same": answers})
    frame.to_csv(f"{name}_answers.csv", index=False)


def _write_truth(name: str, ids: np.ndarray, y: np.ndarray) -> None:
    pd.DataFrame({"id": ids, "cluster": y}).to_csv(f"{name}_truth.csv", index=False)


if __name__ == "__main__":
    commands = {
        "people": people, "texts": texts, "mixed": mixed, "embeddings": embeddings, "score": score,
    }  # fmt: skip
    commands[sys.argv[1]](*sys.argv[2:])
