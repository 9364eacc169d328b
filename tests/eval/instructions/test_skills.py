"""`ctrag eval skills` over its packaged skills."""

import pytest

from eval.instructions.skills import run_skills


@pytest.mark.model
def test_requests_get_their_skills_and_few_others() -> None:
    found = run_skills()
    for given in ("prompt", "beside a search"):
        assert found[given]["right"] >= 90
        assert found[given]["others"] <= 5
    assert found["prompt, no floor"]["others"] > 5 * found["prompt"]["others"]
