"""Files of earlier schemas are read under the names of today."""

from maylink.analysis.renames import RENAMES, SchemaRenames, record_tree, upgraded
from maylink.io.states import SCHEMA


def test_every_earlier_schema_has_its_renames():
    assert sorted(RENAMES) == list(range(1, SCHEMA))


def test_renames_of_every_sort_reach_every_level():
    """Names of classes, fields, attributes and parameters, and parameters that move together."""
    old = {"record": "Outer", "fields": {"a": {"list": [{"record": "Inner", "fields": {"b": 1}}]}}}
    document = {
        "schema": 1, "maylink": "0.1.0", "estimator": "OldName", "later": 3,
        "parameters": {"draws": 5, "seed": 0},
        "fitted": {"x_": old, "status_": {"status": "SAMPLED"}},
    }  # fmt: skip

    def regroup(parameters):
        inference = record_tree("Gibbs", {"n_draws": parameters.pop("n_draws")})
        return {**parameters, "inference": inference}

    renames = SchemaRenames(
        classes={"Outer": "Shell", "Status": "Ending"},
        fields={"Shell": {"a": "parts"}, "Inner": {"b": "value"}},
        fitted={"x_": "shell_"},
        estimators={"OldName": "NewName"},
        parameters={"NewName": {"draws": "n_draws"}},
        regroup={"NewName": regroup},
    )
    document = upgraded(document, {1: renames})
    assert (document["schema"], document["kind"], document["later"]) == (SCHEMA, "model", 3)
    assert document["values"]["estimator"] == "NewName"
    assert document["values"]["parameters"]["dict"] == {
        "seed": 0,
        "inference": record_tree("Gibbs", {"n_draws": 5}),
    }
    inner = {"list": [{"record": "Inner", "fields": {"value": 1}}]}
    assert document["values"]["fitted"]["dict"] == {
        "shell_": {"record": "Shell", "fields": {"parts": inner}},
        "status_": {"enum": "Ending", "member": "SAMPLED"},
    }
