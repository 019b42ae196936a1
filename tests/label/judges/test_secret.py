import copy
import pickle

import pytest

from maylink.errors import MaylinkError
from maylink.label.judges.secret import Secret

KEY = "sk-very-secret-0123"


def test_a_key_shows_nowhere_but_in_its_header():
    secret = Secret.of_environment("MY_KEY", {"MY_KEY": f" {KEY}\n"})
    assert secret.header() == {"Authorization": f"Bearer {KEY}"}
    assert KEY not in f"{secret} {secret!r} {[secret]}"
    assert secret.hidden_in(f"a {KEY} b {KEY}") == "a [key] b [key]"
    assert KEY.encode() not in pickle.dumps(secret)
    assert not copy.copy(secret).is_set
    assert not hasattr(secret, "__dict__")


def test_no_key_is_no_header():
    secret = Secret.of_environment("MY_KEY", {})
    assert not secret.is_set
    assert secret.header() == {}
    assert secret.hidden_in("text") == "text"


@pytest.mark.parametrize("value", ["two words", "sch\u00f6n-secret", "tab\tinside"])
def test_letters_that_cannot_be_sent_are_refused_without_repeating_them(value):
    with pytest.raises(MaylinkError, match="MY_KEY holds letters") as caught:
        Secret.of_environment("MY_KEY", {"MY_KEY": value})
    assert value not in str(caught.value)


@pytest.mark.parametrize("name", [KEY, "sk/abc=", "with space", ""])
def test_a_key_in_place_of_a_name_is_not_repeated(name):
    with pytest.raises(MaylinkError, match="never the key itself") as caught:
        Secret.of_environment(name, {})
    assert not name or name not in str(caught.value)


def test_a_name_that_may_be_a_key_is_not_repeated():
    with pytest.raises(MaylinkError, match="the variable that it names") as caught:
        Secret.of_environment("abcdef0123456789", {"abcdef0123456789": "with space"})
    assert "abcdef" not in str(caught.value)
