"""What the kernel adds to the ranking: questions, lines, tools, and a model that the caller brings."""

from __future__ import annotations

import pytest

from orgkernel import Kernel
from tests.support.embedders import ByLetters


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return Kernel.open()


@pytest.mark.parametrize(
    "asked", [{}, {"domain": "bugfix", "text": "fix it"}, {"intent": "x", "text": "fix it"}]
)
def test_exactly_one_question_is_asked(kernel: Kernel, asked: dict[str, str]) -> None:
    """Nothing is guessed from two."""
    with pytest.raises(TypeError):
        kernel.dispatch("software_dev", **asked)


def test_an_embedder_is_asked_once_about_the_roles(kernel: Kernel) -> None:
    """Then once for each sentence; candidates say how near it finds them."""
    embedder = ByLetters()
    for _ in range(2):
        decision = kernel.dispatch("software_dev", text="Deploy the container", embedder=embedder)
        assert decision.role_id == "devops_specialist"
        assert decision.candidates[0].reasons[-1].code == "SIMILAR_MEANING"
    assert embedder.asked == [embedder.asked[0], 1, 1]
    assert embedder.asked[0] >= 8


def test_the_domain_of_the_words_chooses_the_plans(kernel: Kernel) -> None:
    """A role of three domains follows the plans of the one that the sentence is about."""
    for text, domain, plans in (
        ("Merge the pull request", "git_ops", ("git_feature_branch", "git_merge_pr")),
        ("Restart the docker container", "docker_ops", ("docker_build_deploy",)),
    ):
        decision = kernel.dispatch("software_dev", text=text)
        assert (decision.role_id, decision.domain, decision.plans) == ("devops_specialist", domain, plans)


def test_a_long_text_is_cut_in_the_answer(kernel: Kernel) -> None:
    """What is not read is not repeated."""
    assert len(kernel.dispatch("software_dev", text="fix " * 50_000).asked) == 4_000


def test_all_candidates_are_listed_on_request(kernel: Kernel) -> None:
    """Otherwise the best six."""
    text = "Write, test, fix, deploy, analyze, research and convert the data"
    some = kernel.dispatch("software_dev", text=text)
    every = kernel.dispatch("software_dev", text=text, all_considered=True)
    assert len(some.candidates) <= 6 <= len(every.candidates)
    assert every.candidates[: len(some.candidates)] == some.candidates
