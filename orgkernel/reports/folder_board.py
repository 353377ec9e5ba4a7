"""Read the latest reports of a folder in stored form, so that they can be shown without a store."""

from __future__ import annotations

from orgkernel.decisions.state_view import StoredReport
from orgkernel.reports.report_folder import Unfit, list_latest, read_file
from orgkernel.runtime.utc import as_seconds


def read_latest(folder: str) -> tuple[list[StoredReport], list[tuple[str, Unfit]]]:
    """The latest report of each role in a folder, and the files that are not reports. Raises `NothingToRead`.

    A report counts as received when its file was written.
    """
    reports: list[StoredReport] = []
    unfit: list[tuple[str, Unfit]] = []
    for number, file in enumerate(list_latest(folder), 1):
        report = read_file(folder, file)
        if isinstance(report, Unfit):
            unfit.append((file.name, report))
        elif report is not None:
            written = file.identity[2] / 1e9
            unit, at = report["unit"], as_seconds(report["time"]["timestamp"]) or written
            reports.append(
                StoredReport(
                    number,
                    unit["organization"],
                    unit["role_id"],
                    "",
                    unit["agent_number"],
                    min(at, written),
                    written,
                    report["status"]["pace_level"],
                    report,
                )
            )
    return sorted(reports, key=lambda each: (each.org_id, each.role_id, each.agent_number)), unfit
