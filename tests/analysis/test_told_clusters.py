"""Clusters of a table, the largest first, by the names that users see."""

import numpy as np

import maylink as ml
from maylink.analysis.told_clusters import told_clusters
from maylink.estimators.tables import number_by_size
from maylink.io.data import read_data
from maylink.views.tables import with_text_features


def test_clusters_are_told_by_words_and_texts(tmp_path):
    path = tmp_path / "texts.csv"
    texts = ["red wine"] * 3 + ["blue car"] * 5
    path.write_text("text\n" + "\n".join(texts) + "\n")
    table = with_text_features(read_data(path, texts="text", numbers=False), ["text"])
    model = ml.DPMeans(cluster_penalty=0.5, random_state=0).fit(table.X)
    number_by_size(model)
    first, second = told_clusters(model, table)
    assert (first.cluster, first.size, first.words) == ("0", 5, ["blue", "car"])
    assert (second.cluster, second.size, second.words) == ("1", 3, ["red", "wine"])
    assert set(first.examples) == {"blue car"}


def test_a_table_without_texts_tells_nothing(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(4))
    table = read_data(tmp_path / "a.npy")
    assert told_clusters(ml.DPMeans(cluster_penalty=9.0).fit(table.X), table) == []
