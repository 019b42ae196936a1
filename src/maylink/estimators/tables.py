"""Tables of a fit: labels and predictions by the index of the data, centres by columns, names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from maylink.errors import MaylinkError
from maylink.labels import size_ranks
from maylink.link_forms import LinksLike

if TYPE_CHECKING:
    import pandas as pd

ROWS = "_index_in"  # the attribute that holds the index of the data frame of a fit


class FitTables:
    """What a fitted estimator gives as data frames; arrays are in ``labels_`` and so on."""

    labels_: Any
    n_clusters_: int
    cluster_names_: NDArray[Any]

    def labels_frame(self) -> pd.DataFrame:
        """Return the cluster of each point, with the index of the data frame of the fit.

        Returns
        -------
        DataFrame
            Column ``cluster``: the label, or the name (:meth:`name_clusters`); of estimators that
            know it also ``probability``. Rows are numbered where the fit was of an array, of
            several batches, or was saved and loaded.

        Examples
        --------
        >>> import pandas as pd
        >>> from maylink import RDPMeans
        >>> frame = pd.DataFrame({"x": [0.0, 0.2, 9.0]}, index=["Ada", "Bob", "Cyd"])
        >>> RDPMeans(cluster_penalty=2.0, random_state=0).fit(frame).labels_frame()
             cluster
        Ada        0
        Bob        0
        Cyd        1
        """
        check_is_fitted(self)
        if not isinstance(self.labels_, np.ndarray):
            raise MaylinkError(
                "labels_frame: labels of data on Dask stay there; write them by "
                "maylink.io.parquet.write_labels"
            )
        index = getattr(self, ROWS, None)
        if index is not None and len(index) != len(self.labels_):
            index = None  # of the last batch of a stream
        return self._frame_of(self.labels_, getattr(self, "responsibilities_", None), index)

    def predict_frame(self, X: Any, *, links: LinksLike | None = None) -> pd.DataFrame:
        """Return the cluster of new points, with the index of their data frame.

        Parameters
        ----------
        X, links
            As in ``predict``.

        Returns
        -------
        DataFrame
            As of :meth:`labels_frame`.
        """
        check_is_fitted(self)
        model: Any = self
        if not hasattr(model, "predict"):
            raise MaylinkError(f"predict_frame: {type(self).__name__} does not place new points")
        more = {} if links is None else {"links": links}
        index = index_of(X)
        if hasattr(model, "predict_proba"):
            probabilities = model.predict_proba(X, **more)
            return self._frame_of(probabilities.argmax(axis=1), probabilities, index)
        return self._frame_of(model.predict(X, **more), None, index)

    def centers_frame(self) -> pd.DataFrame:
        """Return the centres of the clusters, with the names of the columns of X.

        Returns
        -------
        DataFrame of shape (K, d)
            The index is the cluster: its label, or its name.
        """
        import pandas as pd

        check_is_fitted(self)
        centers = getattr(self, "cluster_centers_", None)
        if centers is None:
            raise MaylinkError(f"centers_frame: {type(self).__name__} has no cluster_centers_")
        names = getattr(self, "feature_names_in_", None)
        index = pd.Index(self._names(), name="cluster")
        return pd.DataFrame(np.asarray(centers), index=index, columns=names)

    def name_clusters(self, names: Mapping[int, str] | Sequence[str] | Literal["size"]) -> Self:
        """Give clusters names, which tables, reports, files of labels and saved models then have.

        Parameters
        ----------
        names : mapping of int to str, sequence of str, or "size"
            Names by label; one for each label; or numbers by size, the largest cluster being 0.
            Clusters that a mapping leaves out keep the names that they had.

        Returns
        -------
        self
            ``cluster_names_`` has a name for each label; ``labels_`` stays as it is.

        Examples
        --------
        >>> import numpy as np
        >>> from maylink import RDPMeans
        >>> model = RDPMeans(cluster_penalty=2.0, random_state=0)
        >>> model = model.fit(np.array([[0.0], [0.2], [9.0]])).name_clusters({1: "far"})
        >>> model.labels_frame()["cluster"].tolist()
        ['0', '0', 'far']
        """
        check_is_fitted(self)
        n = int(self.n_clusters_)
        if isinstance(names, str):
            if names != "size":
                raise MaylinkError(f"names: {names!r}; give names by label, or 'size'")
            number_by_size(self)
            return self
        if isinstance(names, Mapping):
            unknown = [label for label in names if label not in range(n)]
            if unknown:
                raise MaylinkError(f"names: there is no cluster {unknown[0]!r}, only 0 to {n - 1}")
            now = dict(enumerate(map(str, self._names()))) | dict(names)
            names = [now[label] for label in range(n)]
        chosen = [str(name) for name in names]
        if len(chosen) != n:
            raise MaylinkError(f"names: {len(chosen)} names for {n} clusters")
        twice = sorted({name for name in chosen if chosen.count(name) > 1})
        if twice:
            raise MaylinkError(f"names: {twice[0]!r} names two clusters; give each its own")
        self.cluster_names_ = np.array(chosen)
        return self

    def _names(self) -> NDArray[Any]:
        return cluster_names(self)

    def _frame_of(self, labels: Any, probabilities: Any, index: Any) -> pd.DataFrame:
        import pandas as pd

        columns = {"cluster": self._names()[np.asarray(labels)]}
        if isinstance(probabilities, np.ndarray):
            columns["probability"] = probabilities.max(axis=1)
        return pd.DataFrame(columns, index=index)


def index_of(X: Any) -> Any:
    """Return the index of a data frame, or the ids of a table that was read; None if none."""
    ids = getattr(X, "ids", None)
    if ids is not None and hasattr(X, "kinds"):
        import pandas as pd

        return pd.Index(ids, name=X.id_name)
    return X.index if hasattr(X, "iloc") and hasattr(X, "index") else None


def cluster_names(model: Any) -> NDArray[Any]:
    """Return the name of each label of a fitted model: the label itself where there is none."""
    last = model[-1] if hasattr(model, "steps") else model  # of a pipeline
    names = getattr(last, "cluster_names_", None)
    return np.arange(int(last.n_clusters_)) if names is None else np.asarray(names)


def number_by_size(model: Any, sizes: NDArray[np.int64] | None = None) -> None:
    """Name the clusters of any fitted model by their size: 0 is the largest.

    Parameters
    ----------
    model : estimator
        Fitted, its labels being 0 to K − 1.
    sizes : array of shape (K,), optional
        Points of each cluster, where labels are not in memory.
    """
    if sizes is None:
        sizes = np.bincount(model.labels_, minlength=int(model.n_clusters_))
    model.cluster_names_ = size_ranks(np.asarray(sizes))
