"""Forty agents as careful teams write them, in many styles; made up here, to see that rules stay silent on such a tree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.claude_trees import AGENTS
from tests.support.trees import write_tree

Style = Callable[[str, list[str]], str]


def _short(name: str, points: list[str]) -> str:
    return f"You are the {name} of this team.\n\n" + "\n".join(f"- {point}" for point in points)


def _sections(name: str, points: list[str]) -> str:
    steps = "\n".join(f"{number}. {point}" for number, point in enumerate(points, 1))
    return (
        f"# {name}\n\n## Role\n\nYou work as {name}. Read `docs/style.md` first; it wins over habit.\n\n## Steps\n\n{steps}\n\n"
        "## Output\n\nWrite a summary to `reports/latest.md`. Never use the Bash tool for what a file can answer.\n\n"
        "| Level | Meaning |\n|---|---|\n| `high` | stops the release |\n| `low` | can wait |\n\n"
        "If `docs/decisions.md` exists, read it as well.\n"
    )


def _with_code(name: str, points: list[str]) -> str:
    body = "\n\n".join(f"### {point}\n\nDo it in small steps, and say why." for point in points)
    return (
        f"You are a senior {name}.\n\n{body}\n\n```bash\n# read `config/none.yaml` and run the `/none` command\n"
        "make test && ./scripts/none.sh\n```\n\n```ts\nimport { api } from './src/none.ts'\n```\n\n"
        "~~~python\nTask(subagent_type='code-reviewer', prompt='Look at it')\n~~~\n\n"
        "Create `src/feature/index.ts`, for example, and add its test next to it.\n"
    )


def _with_examples(name: str, points: list[str]) -> str:
    talks = "\n\n".join(
        f'<example>\nContext: {point}\nuser: "Please look at `src/app/none.py`"\n'
        f'assistant: "I\'ll use the Task tool to launch the {name.lower().replace(" ", "-")} agent. See `docs/none.md`."\n</example>'
        for point in points
    )
    return f"You help as {name}.\n\n{talks}\n\nAnswer in the language of the question. Consult [the guide](../../docs/style.md).\n"


def _checklist(name: str, points: list[str]) -> str:
    boxes = "\n".join(f"- [ ] {point}" for point in points)
    return (
        f"**Mission**: be the {name} everybody wants.\n\n{boxes}\n\n> Quality over speed.\n\n"
        "The service answers at `/health` and `/v1/orders`; secrets come from `$HOME/.config` and `~/.netrc`.\n"
        "Look at `src/**/*.ts`, `*.md` and `package.json`. When you are done, hand over to the **code-reviewer** agent.\n"
    )


def _protocol(name: str, points: list[str]) -> str:
    phases = "\n\n".join(
        f"## Phase {number}: {point}\n\n1. Understand.\n2. Act.\n3. Verify with `git diff`.\n\n---"
        for number, point in enumerate(points, 1)
    )
    return (
        f'{phases}\n\nReport as JSON:\n\n```json\n{{"agent": "{name}", "files": ["src/none.py"], "done": true}}\n```\n\n'
        "Do not edit files. Use Grep to find, and Read to confirm. The `test-runner` agent runs the tests.\n"
        "End with the `/release` command only when somebody asks, and follow `docs/style.md`.\n"
    )


STYLES: tuple[Style, ...] = (_short, _sections, _with_code, _with_examples, _checklist, _protocol)

# Name, description, tools, model, and what the work is made of.
_ALL = """
accessibility-auditor | Checks pages for keyboards, contrast and screen readers. Use before a page is released. | Read, Grep, Glob, WebFetch | sonnet | Walk through with the keyboard; Name each element; Cite the guideline
android-developer | Builds screens and services for Android in Kotlin. Use for anything below `android/`. | Read, Edit, Write, Bash, Grep, Glob | sonnet | Follow the architecture; Keep state out of views; Test on two sizes
api-documenter | Writes reference pages and examples for HTTP interfaces. Use after an endpoint changed. | Read, Write, Edit, Grep, Glob | haiku | Show a request; Show each error; Keep examples runnable
architect-reviewer | Judges boundaries, dependencies and names. Use for changes across packages. | Read, Grep, Glob | opus | Draw the dependencies; Find cycles; Say what will hurt later
backend-architect | Designs services, schemas and queues. Use before a service is added. | Read, Grep, Glob, WebSearch | opus | Name the data; Name the owner; Choose the dullest option
build-engineer | Keeps builds fast and repeatable. Use when a build is slow or differs between machines. | Read, Edit, Bash, Grep, Glob | inherit | Measure; Cache; Pin versions
c-pro | Writes C with care for memory and portability. Use for drivers and extensions. | Read, Edit, Write, Bash, Grep | sonnet | Check every return value; Run the sanitizer; Keep headers small
chaos-engineer | Plans experiments that break things on purpose. Use before a launch. | Read, Grep, Bash | sonnet | State the steady state; Limit the blast; Write down what happened
cloud-cost-analyst | Finds what costs too much in the cloud. Use at the end of each month. | Read, Grep, Glob, Bash | haiku | Sort by cost; Find idle things; Propose one change
code-reviewer | Reviews diffs for correctness, tests and clarity. Use PROACTIVELY after code was written. | Read, Grep, Glob, Bash | inherit | Look at the diff only; Rank findings; Praise what is good
content-editor | Edits articles for tone and length. Use when a draft is ready. | Read, Edit, Grep | haiku | Cut a third; Keep the voice; Check names
contract-tester | Keeps consumer contracts true. Use when two services disagree. | Read, Write, Edit, Bash | sonnet | Record; Replay; Compare
css-specialist | Solves layout and style problems. Use when something is misplaced on a page. | Read, Edit, Grep, Glob | sonnet | Reproduce; Reduce; Repair
customer-support-writer | Drafts answers to customers. Use for tickets that wait longer than a day. | Read, Grep, WebFetch | haiku | Thank them; Answer the question; Say what comes next
data-engineer | Builds pipelines and checks their freshness. Use when a table is late or wrong. | Read, Edit, Write, Bash, Grep, Glob | sonnet | Find the source; Make it idempotent; Alert on age
data-scientist | Answers questions with data and says how sure it is. Use for reports and experiments. | Read, Write, Bash, Grep, NotebookEdit | opus | State the question; Plot it first; Give an interval
database-tuner | Makes queries fast. Use when a query takes longer than a second. | Read, Grep, Bash | sonnet | Explain the plan; Add one index; Measure again
debugger | Finds root causes of errors and failing tests. Use when something fails and nobody knows why. | Read, Edit, Bash, Grep, Glob | sonnet | Reproduce; Bisect; Prove the cause
dependency-manager | Updates libraries and reads their changelogs. Use every Monday, or when an advisory is published. | Read, Edit, Bash, WebFetch | haiku | One at a time; Read the notes; Run everything
deployment-engineer | Ships builds to their environments. Use for rollouts and rollbacks. | Read, Edit, Bash, Grep | sonnet | Check health; Shift traffic slowly; Be ready to go back
error-detective | Reads logs and traces across services. Use during incidents. | Read, Grep, Glob, Bash | sonnet | Build a timeline; Follow one request; Name the first failure
frontend-developer | Builds components with tests. Use for changes below `web/`. | Read, Edit, Write, Bash, Grep, Glob | sonnet | Start from the design; Handle empty and error; Check the bundle
game-designer | Balances rules and levels. Use when players stop at one level. | Read, Write, Grep | opus | Look at the numbers; Change one rule; Play it
git-historian | Explains why a line is as it is. Use when somebody asks who decided that. | Read, Grep, Bash(git log:*), Bash(git blame:*) | haiku | Find the commit; Read the discussion; Tell it in three sentences
golang-pro | Writes simple, concurrent Go. Use for services in `cmd/`. | Read, Edit, Write, Bash, Grep, Glob | sonnet | Handle each error; Bound each goroutine; Benchmark
graph-analyst | Models networks of people and things. Use for questions about who is connected to whom. | Read, Write, Bash | sonnet | Choose nodes; Choose edges; Say what is left out
incident-commander | Leads the response to an outage. Use when an alert pages somebody. | Read, Grep, Glob, Agent, TodoWrite | opus | Declare it; Give roles; Write the timeline
ios-developer | Builds screens for iOS in Swift. Use for anything below `ios/`. | Read, Edit, Write, Bash, Grep, Glob | sonnet | Respect the platform; Localize; Test offline
legal-reader | Reads licenses and terms, and says what needs a lawyer. Use before a dependency is added. | Read, WebFetch, Grep | opus | Quote the clause; Say it plainly; Name who decides
ml-engineer | Trains and serves models. Use when a model is retrained or drifts. | Read, Edit, Write, Bash, Grep | sonnet | Fix the seed; Keep a baseline; Watch the inputs
network-engineer | Finds and repairs connection problems. Use when hosts cannot reach each other. | Read, Grep, Bash | sonnet | Go layer by layer; Capture; Draw the path
onboarding-guide | Shows new colleagues around the repository. Use on somebody's first days. | Read, Grep, Glob | haiku | Ask what they know; Show one path; Let them change something
performance-engineer | Profiles and speeds up hot paths. Use when a budget is exceeded. | Read, Edit, Bash, Grep, Glob | sonnet | Measure first; Change one thing; Measure again
product-manager | Turns wishes into stories that can be tested. Use when a feature is asked for. | Read, Write, Grep, WebSearch | opus | Ask for whom; Ask why now; Write what is out of scope
prompt-engineer | Improves prompts and measures them. Use when answers of a model disappoint. | Read, Write, Edit | opus | Collect failures; Change the prompt; Compare blindly
python-pro | Writes typed, tested Python. Use when a module is added or a Python error is reported. | Read, Edit, Write, Bash, Grep, Glob | sonnet | Type it; Test it; Keep functions short
refactoring-expert | Changes structure without changing behavior. Use before a feature that does not fit. | Read, Edit, Bash, Grep, Glob | sonnet | Pin the behavior; Move in small steps; Stop early
security-auditor | Looks for injections, leaked secrets and weak permissions. Use before each release. | Read, Grep, Glob, Bash | opus | Trust no input; Follow the data; Rate the risk
sql-pro | Writes and explains SQL. Use for reports and migrations. | Read, Write, Edit, Bash | sonnet | Name the grain; Avoid surprises with nulls; Show a sample
test-runner | Runs tests and explains failures. Use whenever code has changed. | Read, Bash, Grep, Glob | haiku | Run what is affected; Quote the failure; Suggest the smallest repair
"""


def kept_agents(folder: Path) -> Path:
    """A project with these agents, and the files that they refer to."""
    files = {"docs/style.md": "# Style\n", ".claude/commands/release.md": "Release it.\n"}
    for number, line in enumerate(_ALL.strip().splitlines()):
        name, description, tools, model, points = (each.strip() for each in line.split("|"))
        body = STYLES[number % len(STYLES)](name.replace("-", " ").title(), points.split("; "))
        front = f"---\nname: {name}\ndescription: {description}\ntools: {tools}\nmodel: {model}\n---\n"
        files[f"{AGENTS}/{name}.md"] = f"{front}\n{body}"
    return write_tree(folder, files)
