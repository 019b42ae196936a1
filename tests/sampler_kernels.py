"""Inner functions of the sampler's kernels, made so that Python can call them."""

from maylink.kernels import conjugate, predictive
from maylink.kernels.compile import compiled


@compiled()
def gain(prior, clusters, k, x, sign, scratch):
    return conjugate.gain(prior, clusters, k, x, sign, scratch)


@compiled()
def put(prior, clusters, k, x, sign, change, scratch):
    return conjugate.put(prior, clusters, k, x, sign, change, scratch)


@compiled()
def gamma_ratio(a, d):
    return conjugate.gamma_ratio(a, d)


@compiled()
def log_bessel(order, x):
    return conjugate.log_bessel(order, x)


@compiled()
def refresh(prior, clusters, table, k, join):
    predictive.refresh(prior, clusters, table, k, join)
