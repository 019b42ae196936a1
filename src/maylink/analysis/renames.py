"""What earlier schemas of saved models called things, so that their files can still be read.

A rename in the library needs one entry here: in ``RENAMES``, at the last schema that has the old
name. The schema itself (:data:`maylink.io.states.SCHEMA`) is raised once for each release that
renames something.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from maylink.io.states import SCHEMA, Tree

Names = Mapping[str, str]
"""New names by old ones."""


@dataclass(frozen=True)
class SchemaRenames:
    """How the names of one schema become those of the next.

    Parameters
    ----------
    classes : mapping of old to new names
        Classes of records and enums.
    fields : mapping of a class to a mapping of old to new names
        Fields of records; the class goes by its new name.
    fitted : mapping of old to new names
        Fitted attributes, of whatever estimator.
    estimators : mapping of old to new names
        Classes of estimators and baselines.
    parameters : mapping of an estimator to a mapping of old to new names
        Parameters of estimators; the estimator goes by its new name.
    rebuild : mapping of a class to a function
        What renames cannot say of a record: takes the JSON of its fields, under their new names,
        and returns that of the next schema.
    regroup : mapping of an estimator to a function
        What renames cannot say, such as parameters that move into an object: takes the JSON of all
        parameters, under their new names, and returns that of the next schema
        (:func:`record_tree` makes a record).
    """

    classes: Names = field(default_factory=dict)
    fields: Mapping[str, Names] = field(default_factory=dict)
    fitted: Names = field(default_factory=dict)
    estimators: Names = field(default_factory=dict)
    parameters: Mapping[str, Names] = field(default_factory=dict)
    rebuild: Mapping[str, Callable[[Tree], Tree]] = field(default_factory=dict)
    regroup: Mapping[str, Callable[[Tree], Tree]] = field(default_factory=dict)


def record_tree(name: str, fields: Tree) -> Tree:
    """Return the JSON of a record, from that of its fields."""
    return {"record": name, "fields": fields}


def _with_state(fit: Tree) -> Tree:
    """Put what RDP-means keeps, labels and centres, into the state of a fit."""
    inner: Tree = {name: fit[name] for name in ("labels", "centers", "merged") if name in fit}
    outer = {name: fit[name] for name in ("objective", "trace", "status")}
    return {"state": record_tree("Clustering", inner), **outer}


def _with_inference(parameters: Tree) -> Tree:
    """Move what only one inference needs into its object, and the prior of α into α."""
    parameters = dict(parameters)
    by_inference = {
        name: {key: parameters.pop(key) for key in keys if key in parameters}
        for name, keys in (
            ("Variational", ("n_init", "truncation", "max_sweeps", "tol", "batch_size")),
            ("Gibbs", ("sampler", "n_chains", "n_warmup", "n_draws", "thin", "n_split_merge",
                       "learn_prior", "loss")),
        )
    }  # fmt: skip
    name = "Gibbs" if parameters.get("inference") == "gibbs" else "Variational"
    alpha_prior = parameters.pop("alpha_prior", None)
    if parameters.get("alpha") is None and alpha_prior is not None:
        parameters["alpha"] = alpha_prior
    return {**parameters, "inference": record_tree(name, by_inference[name])}


def _with_schedule(parameters: Tree) -> Tree:
    """Move what says how to sweep into the schedule."""
    parameters = dict(parameters)
    names = {"link_weight_rate": "rate", "order": "order", "patience": "patience",
             "max_sweeps": "max_sweeps"}  # fmt: skip
    schedule = {new: parameters.pop(old) for old, new in names.items() if old in parameters}
    return {**parameters, "schedule": record_tree("Schedule", schedule)}


RENAMES: Mapping[int, SchemaRenames] = {
    1: SchemaRenames(
        classes={
            "Candidate": "SpectralCandidate",
            "Result": "Fit",
            "Rung": "PenaltyStep",
            "Settings": "VariationalSettings",
            "Stream": "VariationalStream",
        },
        fields={
            name: {"shares": "responsibilities"}
            for name in ("VariationalPosterior", "StreamPosterior", "LinkedPosterior")
        },
        fitted={"shares_": "responsibilities_", "_prior": "prior_"},
        rebuild={"Fit": _with_state},
        regroup={
            "TVClust": _with_inference,
            "RDPMeans": _with_schedule,
            "DPMeans": _with_schedule,
        },
    ),
}
"""By the schema that has the old names."""


def upgraded(document: Tree, renames: Mapping[int, SchemaRenames] = RENAMES) -> Tree:
    """Return the JSON of a saved model of an earlier schema as the present schema writes it."""
    for schema in range(document["schema"], SCHEMA):
        if schema == 1:
            document = _in_layout_2(document)
        document = {**document, "values": _renamed_model(document["values"], renames[schema])}
    return {**document, "schema": SCHEMA}


def _in_layout_2(document: Tree) -> Tree:
    """Schema 1 knew models only, whose parts stood at the top, and one enum."""
    header = ("schema", "maylink", "estimator", "parameters", "fitted")
    values = {
        "estimator": document["estimator"],
        "parameters": {"dict": document["parameters"]},
        "fitted": {"dict": document["fitted"]},
    }
    return {
        **{key: value for key, value in document.items() if key not in header},
        "maylink": document["maylink"],
        "kind": "model",
        "fingerprint": None,
        "values": _walked(values, _status_as_enum),
    }


def _status_as_enum(tree: Tree) -> Tree:
    if set(tree) == {"status"}:
        return {"enum": "Status", "member": tree["status"]}
    return tree


def _renamed_model(values: Tree, renames: SchemaRenames) -> Tree:
    """Return the values of a saved model under their new names."""
    values = _walked(values, lambda tree: _renamed_record(tree, renames))
    estimator = renames.estimators.get(values["estimator"], values["estimator"])
    parameters = _renamed_keys(values["parameters"]["dict"], renames.parameters.get(estimator, {}))
    if estimator in renames.regroup:
        parameters = renames.regroup[estimator](parameters)
    return {
        **values,
        "estimator": estimator,
        "parameters": {"dict": parameters},
        "fitted": {"dict": _renamed_keys(values["fitted"]["dict"], renames.fitted)},
    }


def _renamed_record(tree: Tree, renames: SchemaRenames) -> Tree:
    sort = next((key for key in ("record", "enum") if key in tree), None)
    if sort is None or not isinstance(tree[sort], str):
        return tree
    name = renames.classes.get(tree[sort], tree[sort])
    tree = {**tree, sort: name}
    if sort == "record":
        fields = _renamed_keys(tree["fields"], renames.fields.get(name, {}))
        tree["fields"] = renames.rebuild.get(name, dict)(fields)
    return tree


def _renamed_keys(tree: Tree, names: Names) -> Tree:
    return {names.get(key, key): part for key, part in tree.items()}


def _walked(tree: Any, change: Callable[[Tree], Tree]) -> Any:
    """Return a tree with all objects in it changed, the inner ones first."""
    if isinstance(tree, list):
        return [_walked(part, change) for part in tree]
    if isinstance(tree, dict):
        return change({key: _walked(part, change) for key, part in tree.items()})
    return tree
