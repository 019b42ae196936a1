"""Every estimator of the library, found by itself."""

import inspect

import maylink.estimators


def all_estimators():
    members = vars(maylink.estimators).values()
    return [member for member in members if inspect.isclass(member)]


ESTIMATORS = all_estimators()
LINKED = [cls for cls in ESTIMATORS if "links" in inspect.signature(cls.fit).parameters]
PREDICTING = [cls for cls in ESTIMATORS if hasattr(cls, "predict")]
