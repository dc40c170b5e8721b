"""Taking out the tenant filter or the citation check, anywhere, makes a test fail."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.faults.mutants import Mutant, citation_mutants, survives, tenant_mutants
from tests.faults.scale import LONG, SEED, note

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def some(mutants: list[Mutant], count: int) -> list[Mutant]:
    """All in a long run, else a few."""
    return mutants if LONG else random.Random(SEED).sample(mutants, count)


@pytest.mark.parametrize("mutant", some(tenant_mutants(), 1), ids=str)
def test_without_the_tenant_filter_a_test_fails(mutant: Mutant, tmp_path: Path) -> None:
    survived = survives(mutant, tmp_path)
    note("mutants", kind="tenant", mutant=str(mutant), survived=survived)
    assert not survived


@pytest.mark.parametrize("mutant", some(citation_mutants(), 1), ids=str)
def test_without_the_citation_check_a_test_fails(mutant: Mutant, tmp_path: Path) -> None:
    survived = survives(mutant, tmp_path)
    note("mutants", kind="citation", mutant=str(mutant), survived=survived)
    assert not survived


def test_the_sites_are_found() -> None:
    assert len(tenant_mutants()) > 25
    assert len(citation_mutants()) >= 4
