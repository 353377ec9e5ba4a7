"""Projects of CrewAI for tests, made up here: a crew in YAML with its Python, and one in JSONC."""

from __future__ import annotations

from pathlib import Path

from tests.support.trees import write_tree

CONFIG = "src/newsroom/config"

_AGENTS = """\
desk_editor:
  role: >
    Desk editor for {beat}
  goal: >
    Decide which stories about {beat} are told, and by whom
  backstory: >
    You have edited a regional paper for twenty years.
    You cut before you praise.
  llm: openai/gpt-4o
  max_iter: 20

reporter:
  role: >
    Reporter for {beat}
  goal: >
    Find out what happened about {beat}, and who says so
  backstory: |
    You call people back.
    You never quote what you did not hear.
  tools:
    - press_archive
    - phone_book
  allow_delegation: true

fact_checker:
  role: Fact checker
  goal: Compare every statement of a draft with its source
  backstory: You trust nobody, and you are polite about it.
  tools: [press_archive]
"""

_TASKS = """\
research_task:
  description: >
    Collect what is known about {topic}.
    Name the source of each statement.
  expected_output: >
    A list of statements with sources
  agent: reporter

check_task:
  description: Check each statement of the draft about {topic}.
  expected_output: The draft, with what could not be confirmed struck out
  agent: fact_checker
  context: [research_task]

publish_task:
  description: Decide whether the story is printed.
  expected_output: Yes or no, and why
"""

_PYTHON = '''\
from crewai import Agent, Crew, Process, Task
from crewai.project import CrewBase, agent, crew, task, tool

from newsroom.archive import PressArchive, PhoneBook


@CrewBase
class Newsroom:
    """Tells what happened."""

    @tool
    def press_archive(self):
        return PressArchive()

    @tool
    def phone_book(self):
        return PhoneBook()

    @agent
    def desk_editor(self) -> Agent:
        return Agent(config=self.agents_config["desk_editor"], verbose=True)

    @agent
    def reporter(self) -> Agent:
        return Agent(config=self.agents_config["reporter"])

    @agent
    def fact_checker(self) -> Agent:
        return Agent(config=self.agents_config["fact_checker"], tools=[])

    @task
    def research_task(self) -> Task:
        return Task(config=self.tasks_config["research_task"])

    @crew
    def crew(self) -> Crew:
        return Crew(
            agents=[self.reporter(), self.fact_checker()],
            tasks=self.tasks,
            process=Process.hierarchical,
            manager_agent=self.desk_editor(),
        )
'''

_JSON = """\
{
  // What the shop sends out.
  "name": "Launch crew",
  "agents": ["researcher", "writer"],
  "tasks": [
    {
      "name": "find",
      "description": "Find out who needs {product}.",
      "expected_output": "Five kinds of customers", /* no more */
      "agent": "researcher",
    },
    {
      "description": "Write the letter about {product}.",
      "expected_output": "A letter of one page",
      "agent": "writer",
      "context": ["find"]
    }
  ],
  "process": "sequential",
  "inputs": {"product": "lamps"}
}
"""


def yaml_crew(folder: Path) -> Path:
    """A hierarchical crew of three agents in YAML, with its Python, that no rule has anything to say about."""
    files = {
        f"{CONFIG}/agents.yaml": _AGENTS,
        f"{CONFIG}/tasks.yaml": _TASKS,
        "src/newsroom/crew.py": _PYTHON,
        "src/newsroom/main.py": "from newsroom.crew import Newsroom\n",
        "src/newsroom/tools/custom_tool.py": "from crewai.tools import BaseTool\n",
        "pyproject.toml": '[project]\nname = "newsroom"\n',
    }
    return write_tree(folder, files)


def json_crew(folder: Path) -> Path:
    """A sequential crew of two agents in JSONC, that no rule has anything to say about."""
    files = {
        "crew.jsonc": _JSON,
        "agents/researcher.jsonc": (
            '{\n  "role": "Researcher",\n  "goal": "Know who buys lamps",\n  "backstory": "You sold lamps.", // once\n'
            '  "tools": ["SerperDevTool", "file_read", "custom:ledger"],\n  "mcps": ["https://shop.example/mcp#orders"],\n'
            '  "settings": {"verbose": true, "max_iter": 8},\n}\n'
        ),
        "agents/writer.jsonc": '{"role": "Writer", "goal": "Write letters", "backstory": "You write plainly.", "llm": {"model": "openai/gpt-4o"}}\n',
        "tools/ledger.py": "from crewai.tools import BaseTool\n\n\nclass Ledger(BaseTool):\n    name: str = 'ledger'\n",
        "tools/__init__.py": "",
    }
    return write_tree(folder, files)
