"""The findings about contracts (ORG630, ORG650 to ORG689, ORG738, ORG791, ORG796 to ORG799): one row each, with the text of its page. The predicates
are in `decisions`.
"""

from __future__ import annotations

from orgkernel.diagnostics.catalog import Row
from orgkernel.diagnostics.diagnostic import Severity

_E, _W = Severity.ERROR, Severity.WARNING

BRIEF_SECTION_MISSING = Row(
    "ORG650", "brief-section-missing", _E,
    "A brief lacks one of its sections, its `id` or `ship`, or a required section is empty.",
    "Otherwise the receiver of the brief would have to guess the sender's intent. Every section is required, and `mission`, `purpose` and `done_criteria` must not be empty.",
    "Write the section. Lists, `context` and `current_task` may be empty, as in `whats_done: []`.",
)  # fmt: skip
MISSION_TOO_LONG = Row(
    "ORG651", "mission-too-long", _E,
    "The mission of a brief has more than 200 characters.",
    "A longer mission is usually several missions that the sender has not divided.",
    "Write one or two lines, and move details to `current_task` and `context`, or write several briefs.",
)  # fmt: skip
VERIFY_TRIVIAL = Row(
    "ORG652", "verify-trivial", _E,
    "The verify command of a brief verifies nothing: its exit code does not depend on the work, or it is not a command.",
    "A command that cannot fail accepts every result, and a command that cannot pass accepts none.",
    "Name a command that exits 0 only if the criteria are met, such as a test run. Put a sequence of commands into a script.",
)  # fmt: skip
CONTRACT_ID_MALFORMED = Row(
    "ORG653", "contract-id-malformed", _E,
    "An id of a contract is not a UUID of version 4.",
    "Contracts refer to one another by these ids, so two contracts must never have the same one.",
    "Write a random UUID, such as `0b8f6f3e-52b6-4c0a-9d0c-6a1f6c1f7a55`.",
)  # fmt: skip
READ_ONLY_BRIEF_ACTS = Row(
    "ORG654", "read-only-brief-acts", _E,
    "A brief owns no files, but ships, or authorizes destructive operations or changes.",
    "An empty `files_owned` means that the work only reads, which contradicts the authorization.",
    "List the files in `spec.scope.files_owned`, or remove the authorization.",
)  # fmt: skip
DONE_CLEAN_VERIFY_FAILED = Row(
    "ORG655", "done-clean-verify-failed", _E,
    "A result claims `done_clean`, but the exit code of its verify command is not 0, or is not recorded.",
    "Work that is not verified is not done.",
    "Run the verify command and record its exit code, or report `pending` or `failed`.",
)  # fmt: skip
DONE_CLEAN_REGRESSIONS = Row(
    "ORG656", "done-clean-regressions", _E,
    "A result claims `done_clean` and lists regressions.",
    "Something that worked before no longer does, so the work is not clean.",
    "Fix the regressions, or report `failed`.",
)  # fmt: skip
DONE_CLEAN_GATE_MISSING = Row(
    "ORG657", "done-clean-gate-missing", _E,
    "A result claims `done_clean`, but a required audit did not pass, or the verdict of the audits is not `satisfied`.",
    "The brief requires these audits because the verify command alone is not enough.",
    "Run the audit, or report `pending` or `failed`.",
)  # fmt: skip
DONE_CLEAN_SHIP_FAILED = Row(
    "ORG658", "done-clean-ship-failed", _E,
    "A result claims `done_clean`, but shipping failed or was frozen, or the deployment failed.",
    "The work was not delivered.",
    "Report `failed`, or `pending` with what remains to be shipped.",
)  # fmt: skip
PENDING_WITHOUT_ACTIONS = Row(
    "ORG659", "pending-without-actions", _E,
    "A result is `pending` and lists no actions.",
    "The sender cannot tell what remains to be done.",
    "List the next steps in `pending_actions`.",
)  # fmt: skip
PENDING_VERIFY_FAILED = Row(
    "ORG660", "pending-verify-failed", _W,
    "A result is `pending`, and its verify command did not exit 0.",
    "The result is accepted, because the command could depend on the missing step. But it can also hide a failure.",
    "Report `failed` if the completed part does not work.",
)  # fmt: skip
FAILED_WITHOUT_EVIDENCE = Row(
    "ORG661", "failed-without-evidence", _E,
    "A result is `failed`, but has neither the error output of the verify command nor a reason for a refusal.",
    "The next attempt needs the evidence to avoid the same failure.",
    "Record `evidence.verify_stderr`, or write `refusal_reason` if no command was run.",
)  # fmt: skip
RESULT_BRIEF_MISMATCH = Row(
    "ORG662", "result-brief-mismatch", _E,
    "A contract does not agree with the brief or other contract it belongs to.",
    "A result for another mission, another verify command or other audits proves nothing about this brief.",
    "Copy the values from the brief, and run its verify command as it is written.",
)  # fmt: skip
SELF_APPROVAL = Row(
    "ORG663", "self-approval", _E,
    "The same agent wrote the work and approved it, or asked a question in a blocker and answered it.",
    "An approval has value only if another agent or a person gives it.",
    "Let another agent or a person approve the work, or answer the question.",
)  # fmt: skip
CORRECTION_WITHOUT_ORIGINAL = Row(
    "ORG664", "correction-without-original", _E,
    "A correction does not name the result that it corrects, or names another one.",
    "Results are never changed. A correction without an original would be a second result.",
    "Write the id of the original result in `original`, or its session if it has no id.",
)  # fmt: skip
BLOCK_NOT_GENUINE = Row(
    "ORG665", "block-not-genuine", _E,
    "A blocker does not describe the problem that blocks the work.",
    "A blocker is allowed only for a missing credential, a destructive operation, additional files, or a real ambiguity.",
    "Write the `question` and your `best_guess`, or decide and continue.",
)  # fmt: skip
BLOCK_NO_FALLBACK = Row(
    "ORG666", "block-no-fallback", _E,
    "A blocker has no fallback action for the meantime.",
    "Workers never wait for an answer. The work continues while the question is open.",
    "Write in `fallback_action` what you are doing in the meantime.",
)  # fmt: skip
BLOCK_NOT_RESUMABLE = Row(
    "ORG667", "block-not-resumable", _E,
    "A blocker does not state that the work can continue without an answer.",
    "An answer might never come, and a session that depends on it would stop.",
    "Choose a fallback that needs no answer, and write `can_resume_without_answer: true`.",
)  # fmt: skip
BLOCK_IS_PREFERENCE = Row(
    "ORG668", "block-is-preference", _E,
    "A contract asks for a preference or a confirmation.",
    "The worker decides how to proceed, writes the decision to the decision log, and carries it out.",
    "Decide, write an entry in the decision log, and continue.",
)  # fmt: skip
CLOSE_COHERENCE_MISSING = Row(
    "ORG669", "close-coherence-missing", _E,
    "The close of a mission lacks its coherence check, differs from the stored results, or claims `done_clean` although a worker is not done or a blocker is open.",
    "A planner who has not compared the results of all workers with the brief has not finished.",
    "Write `consensus_score`, `regressions`, `verdict` and every worker with the status of its last report.",
)  # fmt: skip
LMC_INCOMPLETE = Row(
    "ORG670", "lmc-incomplete", _E,
    "A record of lead, manager and checker lacks a part that its mode requires, or has a part that does not belong to its mode.",
    "In mode `full` an independent checker judges every attempt, in mode `lite` the lead does, and `direct` has neither.",
    "Add the part, or choose the mode that was used.",
)  # fmt: skip
LMC_ESCALATE = Row(
    "ORG671", "lmc-escalate", _E,
    "Three attempts in a row failed, and the record does not escalate to the sender, or continues with another attempt.",
    "Work that failed three times needs another decision, not a fourth attempt.",
    "Write the sender in `escalated_to`, and stop.",
)  # fmt: skip
DECISION_INCOMPLETE = Row(
    "ORG672", "decision-incomplete", _E,
    "An entry of the decision log lacks a part, its rationale has several lines, or a worker wrote it without correcting a premise.",
    "A planner who reopens the mission later reads only the log.",
    "Write every part, and the rationale in one line. A worker also writes the premise in `corrects_premise`.",
)  # fmt: skip
LOG_SUPERSEDE_UNCITED = Row(
    "ORG673", "log-supersede-uncited", _E,
    "An entry of the decision log replaces another one without citing it.",
    "Entries are never edited. Without the citation, both entries would appear to be valid.",
    "Write the id of the old entry in `supersedes`.",
)  # fmt: skip
ILLEGAL_TERMINAL_STATE = Row(
    "ORG674", "illegal-terminal-state", _E,
    "A session ends in a state that is not one of the four allowed ones.",
    "A session ends `done_clean`, `pending` with actions, `failed` with evidence, or not done with a blocker whose fallback is running.",
    "Report `pending` or `failed` in addition to the blocker, let the sender answer it, or remove entries that are not actions.",
)  # fmt: skip
DESTRUCTIVE_NOT_AUTHORISED = Row(
    "ORG688", "destructive-not-authorised", _E,
    "A pre-flight names an operation that its brief does not authorize, or a pre-flight or a brief names one that is not in the catalog.",
    "A destructive operation cannot be undone. Only the sender may decide on it, by listing it in the brief.",
    "Let the sender list the operation in `spec.scope.destructive`, or report it as a pending action.",
)  # fmt: skip
PREFLIGHT_STEP_MISSING = Row(
    "ORG689", "preflight-step-missing", _E,
    "A pre-flight lacks one of its steps, a step is empty, or the steps are out of order.",
    "Each step is the last chance to notice that the operation would hit something else.",
    "Do the seven steps in order, and record each when it is done.",
)  # fmt: skip

DUPLICATE_SUBTASK = Row(
    "ORG675", "duplicate-subtask", _E,
    "Two subtasks of a plan have the same id.",
    "A dependency on this id, or a report that it is done, could mean either of them.",
    "Give one of them another id.",
)  # fmt: skip
UNKNOWN_DEPENDENCY = Row(
    "ORG676", "unknown-dependency", _E,
    "A subtask depends on a subtask that is not in the plan.",
    "It would wait forever, or start before its real dependency is done.",
    "Correct the id, or add the subtask.",
)  # fmt: skip
SELF_DEPENDENCY = Row(
    "ORG677", "self-dependency", _E,
    "A subtask depends on itself.",
    "It could never start.",
    "Remove the dependency.",
)  # fmt: skip
DEPENDENCY_CYCLE = Row(
    "ORG678", "dependency-cycle", _E,
    "Subtasks depend on one another in a cycle.",
    "Each of them waits for the next, so none can start. The finding names one shortest cycle among them.",
    "Remove one of these dependencies, or join the subtasks.",
)  # fmt: skip
SUBTASK_WITHOUT_FILES = Row(
    "ORG679", "subtask-without-files", _E,
    "A subtask lists no files and is not broad.",
    "Without its files, the planner cannot tell which subtasks can run at the same time.",
    "List the files, or write `kind: broad` if they are not known.",
)  # fmt: skip
INEXACT_FILE_PATH = Row(
    "ORG680", "inexact-file-path", _E,
    "A file of a subtask is not an exact path below the root of the project: it is empty, absolute, a glob, a folder, or leaves the project.",
    "Workers may run at the same time only if their files are disjoint, which can be checked only for exact paths.",
    "Write the path of each file from the root of the project, or write `kind: broad`.",
)  # fmt: skip
SUBTASK_KIND_CONTRADICTED = Row(
    "ORG681", "subtask-kind-contradicted", _E,
    "The kind of a subtask and its files contradict each other: a narrow one changes a package manifest or a migration, or a broad one lists files.",
    "Package manifests and migrations affect all other subtasks, so they come last and alone. The files of a broad subtask have no effect.",
    "Write `kind: terminal`, leave the kind out, or move the file to a separate subtask.",
)  # fmt: skip
HUMAN_ONLY_FILE = Row(
    "ORG682", "human-only-file", _E,
    "A subtask lists a file with the values of environment variables, such as `.env`.",
    "These files hold secrets. Only people write and read them.",
    "Remove the file, and ask a person. A template without values, such as `.env.example`, may be listed.",
)  # fmt: skip
NEEDS_WITHOUT_DOMAIN = Row(
    "ORG738", "needs-without-domain", _E,
    "A subtask lists tools that it needs, but no domain.",
    "The tools are compared with the role that takes the domain. Without a domain no role is asked, so the list would have no effect.",
    "Write the `domain` of the work, or remove `needs`.",
)  # fmt: skip
WORK_AFTER_TERMINAL = Row(
    "ORG683", "work-after-terminal", _E,
    "A subtask that is not terminal depends on a terminal one.",
    "Terminal subtasks come after all others, so it could never start.",
    "Make it terminal too, or put it into the plan of a later mission.",
)  # fmt: skip
SECRET_IN_PAYLOAD = Row(
    "ORG630", "secret-in-payload", _E,
    "A string in a contract looks like a secret: a token of a known issuer, or a random value in the place of a password.",
    "A contract is stored permanently and never changed, and everyone who works on the mission reads it. It cannot be masked, because the stored contract would then differ from the one that its author signed.",
    "Revoke the secret, and write the name of a credential instead. If the secret is in the output of a command, omit that line.",
)  # fmt: skip
OWNED_FILE_UNREADABLE = Row(
    "ORG791", "owned-file-unreadable", _E,
    "A brief owns a path or a glob that cannot be compared with others: it is empty, leaves the project, or uses other wildcards than `*`, `?`, `[…]` and `**`. Or it owns more than 200 paths.",
    "Files that cannot be compared can neither be claimed nor audited, so the hand-off would be refused.",
    "Write paths and globs from the root of the project, such as `src/search/**`.",
)  # fmt: skip
CONTRACT_TIME_WRONG = Row(
    "ORG796", "contract-time-wrong", _E,
    "A time in a contract does not exist, has no zone, is more than five minutes in the future, or is out of order.",
    "The times prove what came first. A report that ends before it starts, or a correction from before its original, is not a record of what happened.",
    "Write the time at which it happened, with its zone, such as `2026-05-17T10:00:00Z`.",
)  # fmt: skip
INVISIBLE_CHARACTER = Row(
    "ORG797", "invisible-character", _E,
    "A name, a command or a mission in a contract has a character that a reader does not see.",
    "Two names that look alike could belong to two agents, and a command could differ from the one that is shown.",
    "Remove the character. In sentences, joiners between letters of other scripts are allowed.",
)  # fmt: skip
SELF_REFERENCE = Row(
    "ORG798", "self-reference", _E,
    "A contract names itself as its parent, its original, the contract it replaces or answers, its worker or its receiver of an escalation.",
    "The reference has to lead to another contract, session or agent, which is compared with this one.",
    "Name the other contract, or leave the reference out.",
)  # fmt: skip
DONE_CLEAN_UNFINISHED = Row(
    "ORG799", "done-clean-unfinished", _E,
    "A result claims `done_clean`, but lists pending actions, or shipping that was requested was skipped or has no result.",
    "Work is left, so the session is not done.",
    "Report `pending` with these actions, or remove actions that are done.",
)  # fmt: skip

CONTRACT_ROWS: dict[str, Row] = {row.code: row for row in list(globals().values()) if isinstance(row, Row)}
