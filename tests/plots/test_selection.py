"""Choices: what is drawn, not how pretty it is."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from maylink.errors import MaylinkError
from maylink.plots import plot_selection

SELECTION = pd.DataFrame(
    {
        "family": ["gaussian"] * 3 + ["full-gaussian"] * 3,
        "data_weight": [1.0, 0.3, 0.1] * 2,
        "score": [-0.6, -0.5, -0.55, -0.5, -0.3, -0.4],
        "error": [0.03] * 6,
        "n_links": [50, 50, 100, 50, 200, 200],
        "folds": [1, 1, 2, 1, 4, 4],
        "chosen": [False] * 4 + [True, False],
    }
)
SELECTION["behind"] = -0.3 - SELECTION["score"]  # the choice has −0.3


def ring(ax):
    """Where the choice stands."""
    rings = [line for line in ax.lines if line.get_markersize() == 14 and len(line.get_xdata())]
    assert len(rings) == 1
    return float(rings[0].get_xdata()[0]), float(rings[0].get_ydata()[0])


def marks(ax, hollow):
    """Scores of the marks that are hollow, or of those that are not."""
    some = [line for line in ax.lines if line.get_marker() == "o" and line.get_markersize() == 6]
    some = [line for line in some if (line.get_markerfacecolor() == "white") == hollow]
    return sorted(float(y) for line in some for y in line.get_ydata())


def searched(**params):
    """What a search leaves, with one entry per value of the parameters."""
    size = len(next(iter(params.values())))
    rows = [dict(zip(params, row, strict=True)) for row in zip(*params.values(), strict=True)]
    return SimpleNamespace(
        cv_results_={
            "params": rows,
            **{f"param_{name}": np.array(column, object) for name, column in params.items()},
            "mean_test_score": np.linspace(-0.6, -0.4, size),
            "mean_behind_best": np.linspace(0.2, 0.0, size),
            "std_error_test_score": np.full(size, 0.02),
            "n_folds": np.array([1] + [4] * (size - 1)),
        },
        best_index_=size - 1,
        best_score_=-0.4,
        n_splits_=4,
    )


def test_the_choice_of_tvclust(ax):
    plot_selection(SimpleNamespace(selection_=SELECTION), ax=ax)
    assert ax.get_title("left") == "Held-out links chose: full covariance, data weight 0.3"
    at, score = ring(ax)
    assert score == -0.3
    assert at == pytest.approx(0.3, rel=0.1)
    assert ax.get_xscale() == "log"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.1", "0.3", "1"]
    assert marks(ax, hollow=True) == [-0.6, -0.55, -0.5, -0.5]
    assert marks(ax, hollow=False) == [-0.4, -0.3]
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["spherical covariance", "full covariance", "dropped out early", "chosen"]


def test_the_choice_of_rdp_means(ax):
    table = pd.DataFrame(
        {
            "by": ["probability", "probability", "penalty", "penalty"],
            "data_weight": [1.0, 0.3, 1.0, 1.0],
            "cluster_penalty": [8.0, 2.0, 8.0, 2.0],
            "link_scale": [np.inf, np.inf, 1.0, 1.0],
            "score": [-0.6, -0.5, -0.4, -0.3],
            "error": [0.03] * 4,
            "behind": [0.3, 0.2, 0.1, 0.0],
            "folds": [1, 4, 4, 4],
            "chosen": [False, False, False, True],
        }
    )
    plot_selection(SimpleNamespace(selection_=table), ax=ax)
    assert ax.get_title("right") == "Held-out links chose: λ = 2 alone"
    texts = [label.get_text() for label in ax.get_yticklabels()]
    assert texts == ["data weight 1", "data weight 0.3", "λ = 8 alone", "λ = 2 alone"]
    assert ring(ax) == pytest.approx((-0.3, 3.0))
    table["chosen"] = [False, True, False, False]
    ax.clear()
    plot_selection(SimpleNamespace(selection_=table), ax=ax)
    assert ax.get_title("right") == "Held-out links chose: data weight 0.3, λ = 2"


def test_nothing_was_held_out(ax):
    for table in (None, SELECTION.drop(columns="score")):
        with pytest.raises(MaylinkError, match="model: no links were held out"):
            plot_selection(SimpleNamespace(selection_=table), ax=ax)


def test_the_choice_of_a_search_need_not_lead(ax):
    model = searched(hint=[2, 4, 8, 16])
    model.best_index_, model.best_score_ = 1, float(model.cv_results_["mean_test_score"][1])
    plot_selection(model, ax=ax)
    every = marks(ax, hollow=True) + marks(ax, hollow=False)
    assert sorted(every) == pytest.approx(model.cv_results_["mean_test_score"])
    assert ring(ax)[1] == pytest.approx(model.best_score_)


def test_the_choice_of_a_search_over_a_number(ax):
    model = searched(keep=["a", "b"] * 4, hint=[2, 2, 4, 4, 8, 8, 16, 16])
    plot_selection(model, ax=ax)
    assert ring(ax)[1] == pytest.approx(-0.4)
    assert ax.get_title("left") == "Held-out links chose: keep b, hint 16"
    assert ax.get_xlabel() == "hint"
    assert ax.get_xscale() == "log"
    assert marks(ax, hollow=True) == pytest.approx([-0.6])
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == ["keep a", "keep b"]


def test_the_choice_of_a_search_over_words(ax):
    plot_selection(searched(family=["gaussian", "gamma", "poisson"]), ax=ax)
    texts = [label.get_text() for label in ax.get_yticklabels()]
    assert texts == ["family gaussian", "family gamma", "family poisson"]
    assert ring(ax) == pytest.approx((-0.4, 2.0))
    assert ax.get_title("right") == "Held-out links chose: family poisson"


def test_many_lines_are_marks_alone(ax):
    model = searched(rate=list(np.linspace(1, 2, 10)), more=[f"m{k}" for k in range(10)])
    plot_selection(model, ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "dropped out early",
        "chosen",
    ]


@pytest.mark.parametrize(
    ("chosen_by", "words"),
    [
        ("held-out links", "Held-out links chose"),
        ("neighbours", "Held-out neighbours chose"),
        ("evidence", "Held-out links told no more than a guess"),
    ],
)
def test_the_title_says_what_chose(chosen_by, words):
    ax = plot_selection(SimpleNamespace(selection_=SELECTION, chosen_by_=chosen_by))
    title = ax.get_title(loc="left") or ax.get_title(loc="right")
    assert title.startswith(words)
