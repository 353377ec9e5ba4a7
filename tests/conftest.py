"""Settings all tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "orgkernel",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("orgkernel")


@pytest.fixture(autouse=True, scope="session")
def _a_cache_of_its_own(tmp_path_factory):
    """Commands fill a cache of this run, not the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """In CI everything is installed, so a skipped test is a test that did not run: a failure."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("ORGKERNEL_REFUSE_SKIPS"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI refuses: {report.longrepr}"
    return report
