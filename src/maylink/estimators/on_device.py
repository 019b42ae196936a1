"""What estimators share that take data on a GPU, or work there."""

from __future__ import annotations

from typing import Any, Generic, Self

from maylink.engines.choice import DeviceRequest, as_device
from maylink.engines.settings import CudaSettings
from maylink.estimators.base import Choice, Estimator, Request, State
from maylink.estimators.choices import DeviceName
from maylink.link_forms import LinksLike
from maylink.runtime.gpu import as_host, as_tensor, like


class DeviceEstimator(Estimator[Request, Choice, State], Generic[Request, Choice, State]):
    """An estimator that can work on a GPU: checks see arrays, labels come back as the data came."""

    device: DeviceName | CudaSettings = "cpu"
    _device: DeviceRequest | None = None  # during a fit

    def _fit(self, X: Any, y: Any, links: Any) -> Self:
        """Fit data in memory, on a GPU, or in chunks."""
        data = as_tensor(X)
        host = as_host(data)
        self._device = as_device(self.device, data, host)
        try:
            return super()._fit(host, y, links)
        finally:
            del self._device

    def fit_predict(self, X: Any, y: Any = None, *, links: LinksLike | None = None) -> Any:
        """Cluster the rows of X and return their clusters, as the kind of array that X is."""
        return like(super().fit_predict(X, y, links=links), X)
