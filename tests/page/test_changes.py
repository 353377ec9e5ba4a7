"""What the page does when documents change and when the server is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.running import running
from tests.page.proxy import proxying
from tests.page.test_views import wait_for
from tests.support.browser import Page
from tests.support.trees import copy_template

pytestmark = pytest.mark.browser


def test_a_change_of_the_documents_is_shown_without_a_reload(page: Page, tmp_path: Path) -> None:
    """The open view asks again. A broken edit is announced, and the last valid version stays."""
    organization = copy_template(tmp_path / "software_dev", "software_dev")
    profile = organization / "roles" / "co.yaml"
    with running(tmp_path, organization) as server:
        page.open("about:blank#")
        page.open(f"{server.url}/#/orgs/software_dev/organization")
        wait_for(page, "Commanding Officer")
        profile.write_text(
            profile.read_text().replace("Commanding Officer", "Renamed Officer"), encoding="utf-8"
        )
        wait_for(page, "Renamed Officer")


def test_a_server_that_is_gone_and_back_is_noticed(page: Page, tmp_path: Path) -> None:
    """The page says so and keeps what it showed; when the server is back, it goes on by itself."""
    organization = copy_template(tmp_path / "software_dev", "software_dev")
    with running(tmp_path, organization) as server:
        with proxying(server.url, "/") as url:
            page.open("about:blank#")
            page.open(f"{url}/#/orgs/software_dev/organization")
            wait_for(page, "Commanding Officer")
        page.wait("document.querySelector('.banner')?.innerText.includes('The server does not answer')")
        assert "Commanding Officer" in page.text()
        with proxying(server.url, "/", port=int(url.rpartition(":")[2])):
            page.wait("!document.querySelector('.banner')")
            page.run("location.hash = '#/orgs/software_dev/roles/codegen_specialist'")
            wait_for(page, "Text editor")
    page.forget()
