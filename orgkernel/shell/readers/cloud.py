"""Programs that manage machines, containers, buckets, repositories and packages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from orgkernel.diagnostics.wording import quote
from orgkernel.shell.catalog import is_safeguard
from orgkernel.shell.marks import UNKNOWN, ShellWord, is_unclear
from orgkernel.shell.options import Options, names_in, read_options
from orgkernel.shell.reader import Program, ProgramCall
from orgkernel.shell.readers.files import delete_tree
from orgkernel.shell.readers.wrappers import in_container

_DELETES: Final = re.compile(
    r"^(delete|destroy|terminate|remove|purge|deregister|drop|empty|rm|rb|erase|cancel|schedule-key-deletion|batch-delete|del|release"
    r"|force-delete|wipe|uninstall|teardown|decommission|nuke|evict|reimage|rebuild)(-|$)"
)
_READS: Final = re.compile(
    r"^(describe|list|get|head|show|ls|search|query|scan|lookup|view|status|info|wait|help|version|check|validate|preview|diff|estimate"
    r"|generate|test|simulate|filter|batch-get|select|tail|watch|logs|login|print|read|whoami|dry-run|configure|config|auth|account"
    r"|presign|sts|init|decode-authorization-message|browse|top|explain|export|download|cat|du|stat|hash|plan|docs|events|history"
    r"|inspect|port|completion|components|topic|feedback|output|outputs|graph|console|fmt|assume-role|ssh-keygen|upgrade|update-kubeconfig)(-|$)"
)
_ADDS: Final = re.compile(
    r"^(create|add|start|run|invoke|tag|publish|upload|push|register|enable|attach|cp|sync|mb|apply-tags|open|build|deploy|submit|copy"
    r"|import|associate|allocate|authorize|new|link|up|watch|comment|checkout|clone|fork|merge|ready|review|rerun|request|activate|update-service|update-function-(code|configuration)|wait)(-|$)"
)
_SAFE_SERVICES: Final = re.compile(
    r"^(backup|cloudtrail|config|configservice|logs|guardduty|securityhub|audit|dlm|backup-dr|logging|monitor|rds-snapshots|inspector2?"
    r"|recoveryservices|detective|macie2|access-analyzer|sentinel|security|log-analytics|accessanalyzer)$"
)


def _words(call: ProgramCall, valued: str = "", long_valued: Sequence[str] = ()) -> tuple[Options, list[str]]:
    options = read_options(call.args, valued=valued, long_valued=long_valued)
    return options, [word.text for word in options.operands]


def _delete(call: ProgramCall, what: str, message: str, at: ShellWord | None = None) -> None:
    """A deletion of backups or records, or of another resource."""
    if is_safeguard(what) and "snapshot-" not in what[:9]:
        call.found("disable_safeguard", message, at)
    else:
        call.found("delete_resource", message, at)


_AWS_VALUED: Final = (
    "profile",
    "region",
    "output",
    "query",
    "endpoint-url",
    "cli-read-timeout",
    "filters",
    "filter",
)


def _aws(call: ProgramCall) -> str | None:
    _, words = _words(call, long_valued=_AWS_VALUED)
    everything = [word.text for word in call.args]
    flags = {text.partition("=")[0] for text in everything if text.startswith("--")}
    service, verb = (words[0] if words else ""), (words[1] if len(words) > 1 else "")
    if flags & {"--dryrun", "--dry-run", "--generate-cli-skeleton"} or "help" in words:
        return UNKNOWN
    text = " ".join(everything)
    if is_unclear(service) or is_unclear(verb):
        call.unread("the operation is only known at run time")
    elif service == "s3":
        _aws_s3(call, verb, flags, words)
    elif service in ("ses", "sesv2", "pinpoint-email") and verb.startswith("send"):
        call.found("send_email", "sends email")
    elif service in ("sns", "pinpoint", "pinpoint-sms-voice-v2", "connect") and (
        verb.startswith("send")
        or (verb == "publish" and "--phone-number" in flags)
        or verb == "start-outbound-voice-contact"
    ):
        call.found("send_sms", "sends a message")
    elif service == "sns" and verb == "publish":
        call.unread("who receives this message cannot be seen")
    elif _disables(verb, text):
        call.found(
            "disable_safeguard",
            f"disables backup, versioning, retention or audit: {quote(f'{service} {verb}')}",
        )
    elif _DELETES.match(verb):
        if (
            _SAFE_SERVICES.match(service)
            or is_safeguard(verb)
            or re.search(r"lifecycle|replication|flow-logs|alarm", verb)
        ):
            call.found("disable_safeguard", f"deletes backups or records: {quote(f'{service} {verb}')}")
        else:
            call.found("delete_resource", f"deletes a resource: {quote(f'{service} {verb}')}")
    elif verb in (
        "put-retention-policy",
        "put-bucket-lifecycle-configuration",
        "put-bucket-lifecycle",
        "put-lifecycle-policy",
    ):
        call.unread("whether this shortens a retention cannot be seen")
    elif not (_READS.match(verb) or _ADDS.match(verb) or not verb or service in ("configure", "sso", "sts")):
        call.unread(f"what {quote(f'{service} {verb}')} changes cannot be seen")
    return UNKNOWN


def _disables(verb: str, text: str) -> bool:
    if re.match(
        r"(stop-logging|disable-(?!rule)|stop-configuration-recorder|stop-backup|stop-monitoring|turn-off)",
        verb,
    ):
        return True
    if re.search(r"Status=Suspended|\"Status\"\s*:\s*\"Suspended\"", text):
        return True
    if re.search(
        r"--backup-retention-period[= ]0\b|--no-(?:is-)?(?:multi-region-trail|logging|enable-logging|deletion-protection|backup\b|include-global)",
        text,
    ):
        return True
    return bool(
        re.search(r"PointInTimeRecoveryEnabled=false|--no-point-in-time|--no-deletion-protection", text)
    )


def _aws_s3(call: ProgramCall, verb: str, flags: set[str], words: list[str]) -> None:
    if verb == "rm":
        call.found("delete_resource", "deletes objects of a bucket")
    elif verb == "rb":
        call.found("delete_resource", "deletes a bucket")
    elif verb == "sync" and "--delete" in flags:
        target = next(
            (
                word
                for word in reversed(call.args)
                if not word.text.startswith("-") and word.text not in ("s3", "sync")
            ),
            call.word,
        )
        if target.text.startswith("s3:"):
            call.found("delete_resource", "deletes objects that the source does not have", target)
        else:
            delete_tree(call, target)
    elif verb == "mv" and len(words) > 2 and words[2].startswith("s3:"):
        call.unread("whether these objects may be moved away cannot be seen")
    elif verb not in ("ls", "cp", "sync", "mb", "presign", "mv", "website"):
        call.unread(f"unknown operation {quote(verb)}")


def _gcloud(call: ProgramCall) -> str | None:
    options, words = _words(
        call,
        long_valued=(
            "project",
            "region",
            "zone",
            "format",
            "filter",
            "account",
            "impersonate-service-account",
            "command",
        ),
    )
    text = " ".join(word.text for word in call.args)
    group = " ".join(words[:3])
    if re.search(
        r"--no-(backup|enable-bin-log|deletion-protection|versioning|retained-backups)|--(no-versioning|clear-retention|clear-lifecycle)|--retention-period=0",
        text,
    ):
        call.found("disable_safeguard", "disables backup, versioning or retention")
    elif any(word in ("delete", "remove", "destroy") for word in words[1:]):
        _delete(
            call,
            group if not group.startswith(("logging", "monitoring")) else "audit",
            f"deletes a resource: {quote(group)}",
        )
    elif "rm" in words[1:3]:
        call.found("delete_resource", "deletes objects of a bucket")
    elif any(word in ("ssh",) for word in words):
        command = options.value("command")
        if command is not None:
            with call.reader.elsewhere():
                call.script(command)
    elif re.search(
        r"\b(update|patch|set|reset|stop|disable|failover|restore|set-iam-policy|clear)\b",
        " ".join(words[1:5]),
    ) and not re.search(r"^(config|components|container clusters get|auth)", group):
        call.unread(f"what {quote(group)} changes cannot be seen")
    return UNKNOWN


def _gsutil(call: ProgramCall) -> str | None:
    options = read_options(call.args, valued="oh", first_operand_ends=True)
    words = [word.text for word in options.operands]
    verb, rest = (words[0] if words else ""), words[1:]
    if verb in ("rm", "rb"):
        call.found("delete_resource", "deletes objects or a bucket")
    elif verb == "rsync" and any(re.fullmatch(r"-\w*d\w*", word) for word in rest) and "-n" not in rest:
        call.found("delete_resource", "deletes objects that the source does not have")
    elif verb in ("versioning", "retention", "lifecycle", "logging", "bucketpolicyonly") and {
        "off",
        "clear",
        "suspend",
    } & set(rest):
        call.found("disable_safeguard", f"turns off {verb}")
    elif verb in ("retention", "lifecycle") and "set" in rest:
        call.unread("whether this shortens a retention cannot be seen")
    return UNKNOWN


def _az(call: ProgramCall) -> str | None:
    _, words = _words(
        call, valued="gnosl", long_valued=("resource-group", "name", "subscription", "output", "query")
    )
    group = " ".join(words)
    if any(word in ("delete", "purge", "remove") for word in words) or "delete-batch" in words:
        text = group if not group.startswith(("monitor", "security", "backup")) else "audit"
        _delete(call, text, f"deletes a resource: {quote(group)}")
    elif re.search(r"backup protection disable|disable", group) or re.search(
        r"--(enable-delete-retention|enable-versioning)[= ]false", " ".join(w.text for w in call.args)
    ):
        call.found("disable_safeguard", "disables backup, versioning or retention")
    elif (
        not any(_READS.match(word) or _ADDS.match(word) for word in words[1:])
        and len(words) > 1
        and words[0] not in ("login", "account")
    ):
        call.unread(f"what {quote(group)} changes cannot be seen")
    return UNKNOWN


_KUBECTL_READS: Final = names_in(
    """get describe logs explain top version cluster-info api-resources api-versions config diff auth wait events port-forward proxy
    completion kustomize options plugin rollout apply create expose label annotate autoscale uncordon run scale set cp attach"""
)


def _kubectl(call: ProgramCall) -> str | None:
    options = read_options(
        call.args, valued="nfloscLk", long_valued=("namespace", "context", "cluster", "kubeconfig", "filename", "selector", "container", "output", "user"),
        first_operand_ends=True,
    )  # fmt: skip
    if not options.operands:
        return UNKNOWN
    verb, rest = options.operands[0].text, options.operands[1:]
    texts = [word.text for word in rest]
    if any(text.startswith("--dry-run") and text != "--dry-run=none" for text in texts):
        return UNKNOWN
    if verb == "exec" or (verb == "run" and "--" in texts) or verb == "debug":
        if "--" in texts:
            return in_container(call, rest[texts.index("--") + 1 :])
        inner = read_options(
            rest, valued="nc", long_valued=("namespace", "container"), first_operand_ends=True
        )
        return in_container(call, inner.operands[1:])
    if verb == "delete":
        _delete(call, " ".join(texts), "deletes resources of a cluster")
    elif verb in ("drain", "replace", "taint", "cordon", "patch", "edit"):
        if verb == "replace" and "--force" in texts:
            call.found("delete_resource", "deletes resources of a cluster and creates them anew")
        else:
            call.unread(f"what {quote(verb)} ends or overwrites in a cluster cannot be seen")
    elif verb == "apply" and "--prune" in texts:
        call.found("delete_resource", "deletes resources of a cluster that are not in the files")
    elif verb == "scale" and any(re.fullmatch(r"--replicas=0", text) for text in texts):
        call.unread("whose work this ends cannot be seen")
    elif verb == "apply" and "-" in texts and call.stdin == UNKNOWN:
        return UNKNOWN
    elif verb not in _KUBECTL_READS:
        call.unread(f"unknown operation {quote(verb)}")
    return UNKNOWN


def _helm(call: ProgramCall) -> str | None:
    options, words = _words(
        call, valued="nf", long_valued=("namespace", "kube-context", "values", "set", "version")
    )
    if words and words[0] in ("uninstall", "delete", "del", "un") and not options.has("dry-run"):
        call.found("delete_resource", "uninstalls a release with its resources")
    elif words and words[0] == "rollback" and not options.has("dry-run"):
        call.unread("what the earlier release lacks cannot be seen")
    return UNKNOWN


def _terraform(call: ProgramCall) -> str | None:
    words = [word.text for word in call.args]
    verbs = [word for word in words if not word.startswith("-")]
    verb = verbs[0] if verbs else ""
    if verb == "run-all":
        verb = verbs[1] if len(verbs) > 1 else ""
    if verb == "destroy" or (
        verb == "apply" and any(word.lstrip("-") in ("destroy", "destroy=true") for word in words)
    ):
        call.found("delete_resource", "destroys what the configuration describes")
    elif verb == "state" and {"rm", "push", "replace-provider"} & set(verbs):
        call.found("delete_resource", "removes resources from the state")
    elif verb == "workspace" and "delete" in verbs:
        call.found("delete_resource", "deletes a workspace")
    elif verb in ("apply", "taint", "force-unlock", "import", "untaint"):
        call.unread(f"what {quote(verb)} replaces or deletes cannot be seen")
    return UNKNOWN


def _machine(call: ProgramCall) -> str | None:
    """`vagrant ssh -c`, `multipass exec`, `lxc exec`, `adb shell`: a program on another machine."""
    texts = [word.text for word in call.args]
    if not texts or texts[0] not in ("ssh", "exec", "shell"):
        return _stack(call)
    with call.reader.elsewhere():
        if "-c" in texts[:-1]:
            return call.script(call.args[texts.index("-c") + 1])
        if "--" in texts:
            return call.run(call.args[texts.index("--") + 1 :])
        rest = call.args[1 if call.name == "adb" else 2 :]
        return call.script(rest[0].but(" ".join(word.text for word in rest))) if rest else None


def _stack(call: ProgramCall) -> str | None:
    """`pulumi`, `cdk`, `serverless` and the like."""
    words = [word.text for word in call.args if not word.text.startswith("-")]
    verb = words[0] if words else ""
    if verb in ("destroy", "remove", "delete", "down", "rm") or words[:2] in (
        ["stack", "rm"],
        ["apps", "destroy"],
        ["project", "rm"],
        ["env", "rm"],
    ):
        call.found("delete_resource", "destroys a deployment with its resources")
    elif any(re.fullmatch(r"[\w:-]*(destroy|delete|remove|reset)", word) for word in words[:3]):
        call.found("delete_resource", "deletes a resource")
    elif verb in ("up", "deploy", "apply", "refresh", "cancel"):
        call.unread(f"what {quote(verb)} replaces cannot be seen")
    return UNKNOWN


_RUN_VALUED: Final = (
    "name", "volume", "env", "env-file", "network", "publish", "workdir", "user", "entrypoint", "mount", "label", "restart", "memory",
    "cpus", "platform", "hostname", "add-host", "cap-add", "device", "gpus", "pull", "log-driver", "shm-size", "ulimit", "tmpfs",
)  # fmt: skip
_COMPOSE_VALUED: Final = (
    "file",
    "project-name",
    "profile",
    "env-file",
    "project-directory",
    "ansi",
    "progress",
)


def _docker(call: ProgramCall) -> str | None:
    options = read_options(
        call.args,
        valued="HlcD"[:3],
        long_valued=("host", "context", "log-level", "config"),
        first_operand_ends=True,
    )
    words = list(options.operands)
    if (
        words
        and words[0].text in ("container", "image", "volume", "network", "system", "builder", "buildx")
        and len(words) > 1
    ):
        group, verb, rest = words[0].text, words[1].text, words[2:]
    elif words and words[0].text in ("compose", "stack"):
        return _compose(call, words[1:]) if words[0].text == "compose" else _swarm(call, words[1:])
    else:
        group, verb, rest = "", words[0].text if words else "", words[1:]
    if verb in ("exec", "run", "create") and group in ("", "container"):
        inner = read_options(rest, valued="euvwpmlhnac", long_valued=_RUN_VALUED, first_operand_ends=True)
        if (entry := inner.value("entrypoint")) is not None and verb != "exec":
            return in_container(call, [entry, *inner.operands[1:]])
        return in_container(call, inner.operands[1:]) if len(inner.operands) > 1 else None
    flags = read_options(rest, longs=("force", "volumes", "all"))
    if group == "volume" and verb in ("rm", "remove", "prune"):
        call.found("delete_resource", "deletes volumes with their data")
    elif (group, verb) == ("system", "prune"):
        call.found("delete_resource", "deletes containers, networks and images that are not in use")
    elif verb == "kill":
        call.found("force_kill", "kills containers by force")
    elif verb in ("rm", "remove") and group in ("", "container"):
        if flags.has("f", "force", "v", "volumes"):
            call.found("delete_resource", "deletes containers by force, with their contents")
        else:
            call.unread("what the container holds cannot be seen")
    elif (group, verb) == ("container", "prune"):
        call.found("delete_resource", "deletes stopped containers with what they hold")
    elif (group, verb) in (("network", "rm"), ("network", "prune"), ("", "swarm"), ("", "node")):
        call.unread("who uses it cannot be seen")
    return UNKNOWN


def _compose(call: ProgramCall, words: Sequence[ShellWord]) -> str | None:
    options = read_options(words, valued="fp", long_valued=_COMPOSE_VALUED, first_operand_ends=True)
    verb, rest = (options.operands[0].text if options.operands else ""), options.operands[1:]
    flags = read_options(
        rest, valued="t", long_valued=("timeout", "rmi"), longs=("volumes", "force", "remove-orphans")
    )
    if (verb == "down" and flags.has("v", "volumes")) or (verb == "rm" and flags.has("v")):
        call.found("delete_resource", "deletes volumes with their data")
    elif verb == "kill":
        call.found("force_kill", "kills containers by force")
    elif verb in ("exec", "run"):
        inner = read_options(
            rest,
            valued="euwvp",
            long_valued=("user", "env", "workdir", "name", "entrypoint", "index", "volume"),
            first_operand_ends=True,
        )
        return in_container(call, inner.operands[1:]) if len(inner.operands) > 1 else None
    return UNKNOWN


def _compose_program(call: ProgramCall) -> str | None:
    return _compose(call, call.args)


def _swarm(call: ProgramCall, words: Sequence[ShellWord]) -> str | None:
    if words and words[0].text in ("rm", "remove", "down"):
        call.found("delete_resource", "removes a stack")
    return UNKNOWN


def _gh(call: ProgramCall) -> str | None:
    options = read_options(
        call.args, valued="XfFHRtqb", long_valued=("method", "field", "raw-field", "header", "repo", "jq", "input", "title", "body", "base", "json", "template", "limit"),
        longs=("yes", "delete-branch"),
    )  # fmt: skip
    words = [word.text for word in options.operands]
    group, verb = (words[0] if words else ""), (words[1] if len(words) > 1 else "")
    if group == "api":
        method = options.value("X", "method")
        name = method.text.upper() if method else "GET"
        sends = options.has("f", "F", "field", "raw-field", "input")
        if name == "DELETE":
            call.found("delete_resource", "deletes through the API of the host")
        elif (name != "GET" or (sends and method is None)) and verb != "graphql":
            call.unread("what this request changes cannot be seen")
        return UNKNOWN
    if verb in ("delete", "delete-asset", "rm", "remove", "unlink") or (group, verb) == ("repo", "archive"):
        call.found("delete_resource", f"deletes a {group}")
    elif (group, verb) == ("repo", "sync") and options.has("force"):
        call.found("force_push", "overwrites a branch by force")
    elif verb in ("disable", "edit", "rename", "transfer", "lock") and group in (
        "workflow",
        "repo",
        "ruleset",
    ):
        call.unread(f"what {quote(f'{group} {verb}')} changes cannot be seen")
    elif (group, verb) in (("pr", "merge"), ("pr", "close")) and options.has("d", "delete-branch"):
        call.unread("whether the branch is the task's own cannot be seen")
    return UNKNOWN


def _rclone(call: ProgramCall) -> str | None:
    options, words = _words(call, long_valued=("config", "include", "exclude", "transfers", "filter"))
    verb = words[0] if words else ""
    if options.has("n", "dry-run"):
        return UNKNOWN
    if verb in ("delete", "purge", "deletefile", "rmdirs", "cleanup", "sync", "move", "bisync", "dedupe"):
        call.found("delete_resource", "deletes files of a remote or of the target")
    return UNKNOWN


def _mc(call: ProgramCall) -> str | None:
    _, words = _words(call)
    if words[:1] in (["rm"], ["rb"]) or (
        words[:1] == ["mirror"] and any(word.text == "--remove" for word in call.args)
    ):
        call.found("delete_resource", "deletes objects or a bucket")
    elif words[:1] in (["version"], ["retention"], ["ilm"], ["legalhold"]) and {
        "suspend",
        "clear",
        "rm",
        "disable",
    } & set(words):
        call.found("disable_safeguard", "turns off versioning or retention")
    return UNKNOWN


def _vault(call: ProgramCall) -> str | None:
    _, words = _words(call)
    if words[:2] == ["audit", "disable"]:
        call.found("disable_safeguard", "disables an audit device")
    elif set(words[:3]) & {"delete", "destroy", "revoke", "disable", "seal"} or "metadata" in words[:3]:
        call.found("delete_resource", "deletes or disables secrets")
    elif words[:1] in (["write"], ["operator"]) or words[:2] == ["kv", "put"]:
        call.unread("what this overwrites cannot be seen")
    return UNKNOWN


def _ansible(call: ProgramCall) -> str | None:
    options = read_options(
        call.args, valued="imaelutMfD"[:9], long_valued=("inventory", "module-name", "args", "extra-vars", "limit", "tags", "user", "become-user"),
        longs=("check", "diff", "syntax-check", "list-hosts", "list-tasks", "become"),
    )  # fmt: skip
    if options.has("C", "check", "syntax-check", "list-hosts", "list-tasks", "version"):
        return UNKNOWN
    if call.name == "ansible":
        module, args = options.value("m", "module-name"), options.value("a", "args")
        name = module.text.rsplit(".", 1)[-1] if module else "command"
        if name in ("shell", "command", "raw") and args is not None:
            with call.reader.elsewhere():
                call.script(args)
        elif name not in ("ping", "setup", "debug", "stat", "slurp", "fetch", "gather_facts", "command"):
            if args is not None and "state=absent" in args.text:
                call.found("delete_directory", "deletes what the arguments name on other machines", args)
            else:
                call.unread("what this module changes on other machines cannot be seen")
        return UNKNOWN
    call.unread("what this playbook changes on other machines cannot be seen")
    return UNKNOWN


def _hosting(call: ProgramCall) -> str | None:
    words = [word.text for word in call.args if not word.text.startswith("-")]
    joined = " ".join(words)
    if re.search(r"(^|[\s:_-])(destroy|delete|remove|rm|reset|drop|purge)\b", joined):
        operation = (
            "drop_table"
            if re.search(r"\b(db|pg|database|d1)\b.*(reset|drop|delete)|pg:reset", joined)
            else "delete_resource"
        )
        call.found(operation, f"deletes or resets: {quote(' '.join(words[:3]))}")
    elif (
        re.search(r"\b(disable|scale|restart|deploy|promote|rollback|backups:(delete|unschedule))\b", joined)
        and "unschedule" in joined
    ):
        call.found("disable_safeguard", "stops scheduled backups")
    return UNKNOWN


PROGRAMS: Final[Mapping[str, Program]] = {
    "aws": _aws, "awslocal": _aws, "gcloud": _gcloud, "gsutil": _gsutil, "az": _az, "kubectl": _kubectl, "oc": _kubectl, "k": _kubectl,
    "helm": _helm, "terraform": _terraform, "tofu": _terraform, "terragrunt": _terraform,
    **dict.fromkeys(("pulumi", "cdk", "serverless", "sls", "sam", "eksctl", "kops", "nomad", "kind", "minikube", "copilot", "eb", "doctl", "linode-cli", "hcloud", "scw", "openstack", "ibmcloud", "juju"), _stack),
    **dict.fromkeys(("vagrant", "multipass", "lxc", "incus", "adb", "tsh", "limactl"), _machine),
    "docker": _docker, "podman": _docker, "nerdctl": _docker, "docker-compose": _compose_program, "podman-compose": _compose_program,
    "gh": _gh, "glab": _gh, "rclone": _rclone, "mc": _mc, "s3cmd": _stack, "vault": _vault, "ansible": _ansible,
    "ansible-playbook": _ansible,
    **dict.fromkeys(("heroku", "fly", "flyctl", "vercel", "netlify", "railway", "wrangler", "supabase", "firebase", "render", "pscale", "neonctl", "turso", "dokku"), _hosting),
}  # fmt: skip
