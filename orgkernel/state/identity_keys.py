"""The private keys of organizations and agents: files next to the checkpoints of the audit, never rows of the store.

Each organization has a folder with `organization.key`, which signs birth certificates, and `agents.jsonl`, with one
line for each agent whose key was created here. Only their owner can read them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadStore, Refused
from orgkernel.prepared_types import prepared
from orgkernel.private_files import one_at_a_time, write_new
from orgkernel.runtime.regular_files import read_regular
from orgkernel.state.certificates import SEED_BYTES, derive_did
from orgkernel.state.rows import require_id
from orgkernel.state.signing import Tokens

_FOLDER = "identities"
_MAX_BYTES = 64 * 1024 * 1024


def copy_identities(checkpoints: str, target: str) -> None:
    """Copy the keys of all organizations to the folder of checkpoints of a backup."""
    try:
        organizations = sorted(os.listdir(os.path.join(checkpoints, _FOLDER)))
    except FileNotFoundError:
        return
    for org_id in organizations:
        folder = os.path.join(checkpoints, _FOLDER, org_id)
        os.makedirs(os.path.join(target, _FOLDER, org_id), mode=0o700)
        for name in ("organization.key", "agents.jsonl"):
            with contextlib.suppress(FileNotFoundError):
                content = read_regular(os.path.join(folder, name), -1)
                write_new(os.path.join(target, _FOLDER, org_id, name), content)


class AgentKey(msgspec.Struct, frozen=True):
    """A line of the keys of agents."""

    agent_id: str
    did: str
    seed: str
    """The private key, as hexadecimal digits."""


class IdentityKeys:
    """The keys of one organization."""

    def __init__(self, checkpoints: str, org_id: str, tokens: Tokens) -> None:
        require_id("the organization", org_id)
        if os.path.basename(org_id) != org_id or org_id.startswith("."):
            raise Refused(f"the organization {quote(org_id)} cannot have a folder of keys", code="BAD_VALUE")
        self.folder = os.path.join(checkpoints, _FOLDER, org_id)
        self._tokens = tokens
        self._agents = os.path.join(self.folder, "agents.jsonl")

    def find_issuer(self) -> bytes | None:
        """The key of the organization, or None if it has none yet. Raises `BadStore` if it is damaged."""
        path = os.path.join(self.folder, "organization.key")
        try:
            content = read_regular(path, 4 * SEED_BYTES)
            seed = bytes.fromhex(content.decode("ascii").strip())
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            seed = b""
        if len(seed) != SEED_BYTES:
            raise BadStore(f"{quote(path)} is not a usable key", "restore it from a backup")
        return seed

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """One process after the other makes keys here. Raises `BadStore` if the folder cannot be written."""
        with contextlib.ExitStack() as held:
            with _raise_store_errors(self.folder):
                os.makedirs(self.folder, mode=0o700, exist_ok=True)
                held.enter_context(one_at_a_time(self.folder))
            yield

    def issuer(self) -> bytes:
        """The key of the organization, created if there is none. Within `writing`."""
        seed = self.find_issuer()
        if seed is None:
            seed = self._tokens(SEED_BYTES)
            path = os.path.join(self.folder, "organization.key")
            with _raise_store_errors(self.folder):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(f"{path}.new")
                write_new(f"{path}.new", seed.hex().encode() + b"\n")
                os.rename(f"{path}.new", path)
        return seed

    def agents(self) -> Mapping[str, AgentKey]:
        """The keys of agents that were created here, keyed by agent id. An incomplete line is ignored."""
        keys_by_agent: dict[str, AgentKey] = {}
        with contextlib.suppress(FileNotFoundError):
            for line in read_regular(self._agents, _MAX_BYTES).splitlines():
                with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
                    key = msgspec.json.decode(line, type=prepared(AgentKey))
                    keys_by_agent[key.agent_id] = key
        return keys_by_agent

    def make(self, agents: Sequence[str], revoked: Collection[str] = ()) -> dict[str, AgentKey]:
        """Create a key for each agent that has none, or whose `did:key` is `revoked`. All keys are on the disk when this
        returns. Within `writing`.

        A key that was made for a commission that then failed is used by the next one. Raises `BadStore`; then no key
        was added.
        """
        known = self.agents()
        new = {}
        for agent in dict.fromkeys(agents):
            if agent not in known or known[agent].did in revoked:
                seed = self._tokens(SEED_BYTES)
                new[agent] = AgentKey(agent, derive_did(seed), seed.hex())
        if new:
            self._append(b"".join(msgspec.json.encode(each) + b"\n" for each in new.values()))
        return {agent: new.get(agent) or known[agent] for agent in agents}

    def _append(self, lines: bytes) -> None:
        with _raise_store_errors(self.folder):
            file = os.open(self._agents, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                size = os.fstat(file).st_size
                if size and os.pread(file, 1, size - 1) != b"\n":
                    lines = b"\n" + lines
                try:
                    written = os.write(file, lines)
                    if written < len(lines):
                        raise OSError("the disk is full")
                    os.fsync(file)
                except OSError:
                    os.ftruncate(file, size)
                    raise
            finally:
                os.close(file)


@contextlib.contextmanager
def _raise_store_errors(folder: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadStore(
            f"keys cannot be written to {quote(folder)}: {error.strerror or error}",
            "nothing was stored; free some space or allow access to the folder, then try again",
        ) from None
