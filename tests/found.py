"""Every estimator and every baseline of the library, found by themselves."""

import inspect

import maylink.estimators
from maylink.baselines import all_baselines


def all_estimators():
    members = vars(maylink.estimators).values()
    return [member for member in members if inspect.isclass(member)]


def build(cls, *, sparse=False, **parameters):
    """The estimator with those of the parameters that it has."""
    accepted = inspect.signature(cls).parameters
    model = cls(**{name: value for name, value in parameters.items() if name in accepted})
    if sparse and not model.__sklearn_tags__().input_tags.sparse:
        model.set_params(family="diagonal-gaussian")
    return model


# One family with one covariance, the columns as they are, no graph: there is little to choose.
PLAIN = {
    "family": "gaussian",
    "covariance": "spherical",
    "scale": False,
    "data_weight": 1.0,
    "neighbours": False,
}


def plain(cls, **parameters):
    """The estimator where it does not matter what "auto" would choose, at a tenth of the cost."""
    return build(cls, **(PLAIN | parameters))


ESTIMATORS = all_estimators()
LINKED = [cls for cls in ESTIMATORS if "links" in inspect.signature(cls.fit).parameters]
BASELINES = list(all_baselines().values())
PREDICTING = [cls for cls in ESTIMATORS if hasattr(cls, "predict")]
