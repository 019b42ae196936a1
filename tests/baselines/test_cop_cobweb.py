"""COP-COBWEB against all partitions of few points, and against a program that keeps no sums."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from maylink import Links
from maylink.baselines.category_utility import attributes_of, category_utility
from maylink.baselines.cop_cobweb import ConceptTree, COPCobweb
from maylink.baselines.neighbourhoods import neighbourhoods
from maylink.errors import InfeasibleLinksError, MaylinkError
from maylink.metrics import adjusted_rand
from reference import all_partitions
from zoo import true_links

ACUITY = 0.28
NONE = np.arange(0)


def keeps(labels, links):
    return all(
        (labels[i] == labels[j]) == (kind > 0)
        for i, j, kind in zip(links.i, links.j, links.kind, strict=True)
    )


def utility(X, labels, nominal=NONE):
    return category_utility(attributes_of(X, nominal), np.asarray(labels), ACUITY)


def best_of_all(X, links, nominal=NONE):
    """The largest utility of the partitions that keep all links."""
    attributes = attributes_of(X, nominal)
    return max(
        category_utility(attributes, np.array(labels), ACUITY)
        for labels in all_partitions(len(X))
        if keeps(labels, links)
    )


# ---------------------------------------------------------------------- brute force


@pytest.mark.parametrize("seed", range(6))
def test_never_above_the_best_of_all_partitions(seed):
    """Points without clusters: the optimum is hard to reach, and links make it harder."""
    rng = np.random.default_rng(seed)
    n = 5 + seed % 3
    X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 3, n)])
    for nominal in (NONE, np.array([2])):
        for links in (Links.empty(n), true_links(rng.integers(0, 3, n), 4, seed)):
            model = COPCobweb(nominal=nominal, acuity=ACUITY, n_init=5, random_state=seed)
            model.fit(X, links=links)
            best = best_of_all(X, links, nominal)
            assert model.category_utility_ <= best + 1e-12
            assert model.category_utility_ == pytest.approx(utility(X, model.labels_, nominal))
            assert model.objective_ == -model.category_utility_
            assert keeps(model.labels_, links)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("with_links", [False, True])
def test_the_best_of_all_partitions_is_reached_on_easy_data(seed, with_links):
    rng = np.random.default_rng(seed)
    y = np.array([0, 0, 0, 1, 1, 2, 2])
    X = 9.0 * np.eye(3)[y] + rng.normal(0.0, 0.3, (7, 3))
    links = Links.from_pairs(may=[(2, 3)], may_not=[(0, 1), (5, 6)], n=7) if with_links else None
    model = COPCobweb(acuity=ACUITY, n_init=40, random_state=seed).fit(X, links=links)
    best = best_of_all(X, links or Links.empty(7))
    assert model.category_utility_ == pytest.approx(best)
    assert (adjusted_rand(y, model.labels_) == 1.0) is not with_links


def test_categories_alone():
    """Three kinds of points, each with four categories of its own but for one slip."""
    y = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    X = 3.0 * np.arange(4) + y[:, None]
    X[0, 0] = X[7, 0]
    model = COPCobweb(nominal="all", n_init=20, random_state=0).fit(X)
    assert model.category_utility_ == pytest.approx(best_of_all(X, Links.empty(8), np.arange(4)))
    assert model.labels_.tolist() == y.tolist()
    renamed = np.array([5.0, -1.0, 2.0, 70.0, 8.0, 9.0, 11.0, 0.0, 4.0, 6.0, 1.0, 3.0])[
        X.astype(int)
    ]
    again = COPCobweb(nominal=range(4), n_init=20, random_state=0).fit(renamed)
    assert again.labels_.tolist() == y.tolist()
    assert again.category_utility_ == pytest.approx(model.category_utility_)


# ---------------------------------------------------------------------- the same without sums


class PlainCobweb:
    """The same algorithm without sums: each utility from the points, all pairs looked at.

    A cluster is a list of points, or a tuple of the two clusters that it was merged from.
    """

    def __init__(self, X, links, nominal):
        self.attributes, self.clusters, self.made = attributes_of(X, nominal), [], set()
        self.block = neighbourhoods(links).of_point.tolist()
        self.apart = {(self.block[i], self.block[j]) for i, j in links.may_not}
        self.apart |= {(j, i) for i, j in self.apart}

    def utility(self, clusters):
        """Category utility among the points of these clusters."""
        points = [i for cluster in clusters for i in points_of(cluster)]
        labels = [k for k, cluster in enumerate(clusters) for _ in points_of(cluster)]
        placed = self.attributes._replace(
            numbers=self.attributes.numbers[points], categories=self.attributes.categories[points]
        )
        return category_utility(placed, np.array(labels), ACUITY)

    def best(self, choices):
        """The first of the best, where differences of rounding are none."""
        best = choices[0]
        for choice in choices[1:]:
            if self.utility(choice) > self.utility(best) + 1e-12:
                best = choice
        return best

    def are_apart(self, one, other):
        return any((self.block[i], self.block[j]) in self.apart for i in one for j in other)

    def has_friend(self, cluster, point):
        return any(self.block[i] == self.block[point] for i in points_of(cluster))

    def put(self, cluster, point):
        """The cluster with a point more, in its friends' part, or in the part it suits better."""
        if isinstance(cluster, list):
            return [*cluster, point]
        one, other = cluster
        into_one, into_other = (self.put(one, point), other), (one, self.put(other, point))
        if self.has_friend(one, point):
            return into_one
        return into_other if self.has_friend(other, point) else self.best([into_one, into_other])

    def place(self, point):
        for at, cluster in enumerate(self.clusters):
            if self.has_friend(cluster, point):
                self.clusters[at] = self.put(cluster, point)
                return
        rest = {
            at: self.clusters[:at] + self.clusters[at + 1 :] for at in range(len(self.clusters))
        }
        added = {
            at: [*rest[at], self.put(cluster, point)]
            for at, cluster in enumerate(self.clusters)
            if not self.are_apart([point], points_of(cluster))
        }
        ranked = sorted(added, key=lambda at: -self.utility(added[at]))
        choices = {"add": added[ranked[0]]} if ranked else {}
        choices["new"] = [*self.clusters, [point]]
        if len(ranked) > 1:
            one, other = (self.clusters[at] for at in ranked[:2])
            if not self.are_apart(points_of(one), points_of(other)):
                others = [c for at, c in enumerate(self.clusters) if at not in ranked[:2]]
                choices["merge"] = [*others, self.put((one, other), point)]
        if ranked and isinstance(self.clusters[ranked[0]], tuple):
            one, other = self.put(self.clusters[ranked[0]], point)
            choices["split"] = [*rest[ranked[0]], one, other]
        self.clusters = self.best(list(choices.values()))
        self.made |= {name for name, choice in choices.items() if choice is self.clusters}

    def labels(self):
        labels = np.empty(len(self.block), np.int64)
        for k, cluster in enumerate(self.clusters):
            labels[points_of(cluster)] = k
        return labels


def points_of(cluster):
    return cluster if isinstance(cluster, list) else points_of(cluster[0]) + points_of(cluster[1])


@pytest.mark.parametrize("nominal", [NONE, np.array([0, 2])])
def test_against_a_program_that_keeps_no_sums(nominal):
    """Every cluster after every point, in 16 orders; each of the four changes is made."""
    made = set()
    for seed in range(16):
        rng = np.random.default_rng(seed)
        X, y = make_blobs(26, centers=4, n_features=3, cluster_std=2.0, random_state=seed)
        X[:, 0], X[:, 2] = np.digitize(X[:, 0], [-5.0, 5.0]), np.digitize(X[:, 2], [0.0])
        links = true_links(y, 3 * (seed % 4), seed)
        plain = PlainCobweb(X, links, nominal)
        tree = ConceptTree(attributes_of(X, nominal), neighbourhoods(links), ACUITY)
        placed = []
        for point in rng.permutation(26).tolist():
            plain.place(point)
            tree.place(point)
            placed.append(point)
            worth = tree.sums.worth[tree.top].sum() - tree.sums.worth[0]
            expected = len(placed) * len(tree.top) * plain.utility(plain.clusters)
            assert worth == pytest.approx(expected, abs=1e-9)
        assert adjusted_rand(plain.labels(), tree.labels()) == 1.0
        made |= plain.made
    assert made == {"add", "new", "merge", "split"}


# ---------------------------------------------------------------------- links


def test_right_links_are_kept_and_help():
    with_links, without = [], []
    for seed in range(4):
        X, y = make_blobs(120, centers=4, cluster_std=2.5, random_state=seed)
        links = true_links(y, 300, seed)
        model = COPCobweb(n_init=5, random_state=seed)
        without.append(adjusted_rand(y, model.fit(X).labels_))
        labels = model.fit(X, links=links).labels_
        assert keeps(labels, links)
        with_links.append(adjusted_rand(y, labels))
    assert np.mean(with_links) > np.mean(without) + 0.2


def test_links_follow_from_links():
    """0, 1 and 2 are joined, 3 and 4 are joined, and 2 is kept from 3: so 0 is kept from 4."""
    X = np.zeros((6, 1))
    links = ([(0, 1), (1, 2), (3, 4)], [(2, 3)])
    for seed in range(20):  # whatever comes first
        labels = COPCobweb(random_state=seed).fit(X, links=links).labels_
        assert labels[:5].tolist() == [0, 0, 0, 1, 1]


def test_equal_points_are_one_cluster_unless_links_keep_them_apart():
    X = np.ones((8, 3))
    assert COPCobweb(random_state=0).fit(X).n_clusters_ == 1
    pairs = [(i, j) for i in range(4) for j in range(i)]
    model = COPCobweb(random_state=0).fit(X, links=([], pairs))
    assert model.n_clusters_ == 4
    assert model.category_utility_ == 0.0


def test_contradictory_links_are_named():
    links = Links.from_pairs(may=[(4, 1), (1, 2), (0, 3)], may_not=[(4, 2)], n=5)
    expected = r"may links join (4 – 1 – 2|2 – 1 – 4), .* keeps 2 and 4 apart; .*RDPMeans"
    model = COPCobweb()
    with pytest.raises(InfeasibleLinksError, match=expected):
        model.fit(np.eye(5), links=links)
    assert not hasattr(model, "labels_")


# ---------------------------------------------------------------------- orders and parameters


def test_the_best_of_several_orders_is_kept():
    X, _ = make_blobs(60, centers=5, cluster_std=2.0, random_state=3)
    single = [
        COPCobweb(random_state=rng).fit(X).category_utility_
        for rng in [np.random.default_rng(0)]
        for _ in range(6)
    ]
    assert len(set(single)) > 1, "the order decides"
    best = COPCobweb(n_init=6, random_state=np.random.default_rng(0)).fit(X)
    assert best.category_utility_ == max(single)


def test_acuity_is_in_standard_deviations_of_a_column():
    X, _ = make_blobs(50, centers=3, n_features=2, random_state=0)
    one, two = (COPCobweb(random_state=0).fit(X * [1.0, scale]) for scale in (1.0, 2.0**20))
    assert one.labels_.tolist() == two.labels_.tolist()
    assert COPCobweb(acuity=1e6, random_state=0).fit(X).n_clusters_ == 1, "all look the same"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nominal": [3]}, r"nominal: 3 is not the number of a column; .* 0 to 2"),
        ({"nominal": [-1]}, "nominal: -1 is not"),
        ({"nominal": [0.0]}, "nominal: 0.0 is not"),
        ({"nominal": [True]}, "nominal: True is not"),
        ({"nominal": "some"}, "nominal: 's' is not"),
        ({"nominal": 1.5}, "nominal: 1.5 is not"),
        ({"nominal": [1]}, r"nominal: X\[2, 1\] = 0.5 is not a whole number"),
        ({"acuity": 0.0}, "acuity: 0.0 is not"),
        ({"acuity": "fine"}, "acuity: 'fine' is not"),
    ],
)
def test_parameters_that_cannot_be(options, message):
    X = np.arange(12.0).reshape(4, 3)
    X[2, 1] = 0.5
    model = COPCobweb(**options)
    with pytest.raises(MaylinkError, match=f"^{message}"):
        model.fit(X)
    assert not hasattr(model, "labels_")


def test_squares_that_overflow_are_refused():
    with pytest.raises(MaylinkError, match="divide X by a constant"):
        COPCobweb().fit([[1e160], [0.0]])
