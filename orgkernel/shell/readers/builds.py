"""Programs that build, test, lint, format and read. They are harmless, except for some of their commands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from orgkernel.diagnostics.wording import quote
from orgkernel.shell.marks import UNKNOWN
from orgkernel.shell.options import names_in, read_options
from orgkernel.shell.reader import Program, ProgramCall
from orgkernel.shell.readers.wrappers import RISKY, judge_script

_DB_DROPS: Final = re.compile(
    r"^(db:(drop|reset|purge|schema:load|migrate:reset|truncate_all|setup|wipe)(:\w+)?|migrate:(fresh|reset|refresh)|db:wipe|doctrine:(database|schema):drop|d:[ds]:d)$"
)


def _rails(call: ProgramCall) -> str | None:
    words = [word for word in call.args if not word.text.startswith("-")]
    if words and words[0].text.rsplit("/", 1)[-1] in ("artisan", "console"):
        words = words[1:]
    for word in words[:4]:
        if _DB_DROPS.match(word.text):
            call.found("drop_table", "drops or empties the database", word)
            return UNKNOWN
    verb = words[0].text if words else ""
    if verb in ("runner", "r", "console", "c", "tinker", "dbconsole"):
        call.unread("what this code does cannot be seen")
    return UNKNOWN


def _prisma(call: ProgramCall) -> str | None:
    words = [word.text for word in call.args]
    verbs = [word for word in words if not word.startswith("-")]
    if (
        verbs[:2] in (["migrate", "reset"], ["db", "drop"], ["schema", "drop"])
        or "--force-reset" in words
        or "db:drop" in verbs
        or "schema:drop" in verbs
        or "db:migrate:undo:all" in verbs
    ):
        call.found("drop_table", "drops and recreates the database")
    elif (
        verbs[:2] in (["db", "push"], ["db", "execute"])
        or "--accept-data-loss" in words
        or verbs[:1] in (["push"],)
    ):
        if "--accept-data-loss" in words:
            call.found("drop_table", "drops columns and tables that the schema does not have")
        else:
            call.unread("what this changes in the database cannot be seen")
    return UNKNOWN


def _alembic(call: ProgramCall) -> str | None:
    words = [word.text for word in call.args if not word.text.startswith("-")]
    if call.name == "flask":
        words = words[1:] if words[:1] == ["db"] else []
    parts = {part for word in words for part in re.split(r"[:-]", word)}
    flags = {word.text for word in call.args if word.text.startswith("-")}
    if (
        ("downgrade" in words and "base" in words)
        or parts & {"clean", "drop", "wipe", "reset", "dropall"}
        or (parts & {"rollback", "undo", "down"} and flags & {"--all"})
    ):
        call.found("drop_table", "drops the database or all its tables")
    elif parts & {"downgrade", "undo", "rollback", "down", "revert", "redo"} and "--sql" not in flags:
        call.unread("what the earlier schema does not hold is lost")
    return UNKNOWN


def _man(call: ProgramCall) -> str | None:
    for script in read_options(call.args, valued="PHB", long_valued=("pager", "html")).all_values(
        "P", "H", "pager", "html"
    ):
        call.script(script)
    return UNKNOWN


def _harmless(call: ProgramCall) -> str | None:
    texts = [word.text for word in call.args]
    if "--" in texts:
        rest = list(call.args[texts.index("--") + 1 :])
        if (
            rest
            and call.reader.programs.get(rest[0].text) is not None
            and (call.name in _RUNNERS or rest[0].text not in HARMLESS)
        ):
            call.run(rest)
    return UNKNOWN


_RUNNERS: Final = names_in(
    "aws-vault op doppler chamber infisical mise nix direnv dotenv granted saml2aws asdf env-cmd"
)
_RUN_OPTIONS: Final = names_in(
    "--run --command --exec -x -c --shell -ex --eval-command --cmd --build --watch-when-idle"
)


def _runner(call: ProgramCall) -> str | None:
    """A program that runs others: after `--`, as its operands, or as strings."""
    texts = [word.text for word in call.args]
    if call.name in (
        "concurrently",
        "npm-run-all",
        "run-p",
        "run-s",
        "start-server-and-test",
        "expect",
        "nodemon",
    ):
        for number, word in enumerate(call.args):
            before = texts[number - 1] if number else ""
            is_given = call.name in ("concurrently", "expect") and " " in word.text
            if not word.text.startswith("-") and (is_given or before in _RUN_OPTIONS):
                if call.name == "expect":
                    call.unread("what this script runs cannot be seen", word)
                else:
                    call.script(
                        re.sub(r"^npm:", "npm run ", word.text) if word.text.startswith("npm:") else word
                    )
        return UNKNOWN
    for number, text in enumerate(texts):
        name, equals, value = text.partition("=")
        if name in _RUN_OPTIONS and call.name in (
            "nix-shell",
            "nix",
            "gdb",
            "lldb",
            "mise",
            "direnv",
            "asdf",
        ):
            script = (
                call.args[number].but(value)
                if equals
                else call.args[number + 1]
                if number + 1 < len(texts)
                else None
            )
            if script is not None and call.name in ("gdb", "lldb"):
                runs = re.match(r"\s*(!|shell|platform shell|python|script|source)", script.text)
                if runs:
                    call.unread("what this command of the debugger runs cannot be seen", script)
            elif script is not None and call.name == "nix":
                call.run(call.args[number + 1 :])
            elif script is not None:
                call.script(script)
    if "--" in texts:
        call.run(call.args[texts.index("--") + 1 :])
    elif call.name in ("entr", "watchexec", "valgrind", "perf", "direnv"):
        options = read_options(
            call.args, valued="eiwf", long_valued=("exts", "ignore", "watch"), first_operand_ends=True
        )
        skipped = 2 if call.name == "direnv" else 1 if call.name == "perf" else 0
        words = options.operands[skipped:]
        verb = options.operands[0].text if options.operands else ""
        if words and (call.name not in ("perf", "direnv") or verb in ("stat", "record", "exec")):
            call.run([word.but(word.text.replace("/_", "x")) for word in words])
    return UNKNOWN


_DASHED: Final = ("iptables", "ip6tables", "sysctl", "route", "nginx", "httpd", "apachectl", "passwd", "sops")
_HARMLESS_VERBS: Final[Mapping[str, frozenset[str]]] = {
    "iptables": names_in("-L -S -nL -nvL -vnL --list --list-rules"),
    "ip6tables": names_in("-L -S -nL -nvL -vnL --list --list-rules"),
    "nft": names_in("list"),
    "ufw": names_in("status version show"),
    "sysctl": names_in("-a -n --all"),
    "route": names_in("-n"),
    "airflow": names_in(
        "dags tasks version info config providers plugins webserver scheduler standalone jobs"
    ),
    "prefect": names_in("version config flow-run deployment work-pool server profile"),
    "pm2": names_in(
        "list ls status logs log show describe monit start restart reload info jlist prettylist save"
    ),
    "certbot": names_in("certificates renew plugins certonly"),
    "nginx": names_in("-t -T -v -V"),
    "apachectl": names_in("configtest status fullstatus -t -S"),
    "httpd": names_in("-t -S -v"),
    "caddy": names_in("fmt validate version adapt run start reload list-modules"),
    "etcdctl": names_in("get endpoint member version watch"),
    "consul": names_in("members info catalog version validate"),
    "rabbitmqctl": names_in("status list_queues list_users list_connections list_exchanges cluster_status"),
    "supervisorctl": names_in("status start restart reread update tail avail"),
    "passwd": names_in("-S --status"),
    "skopeo": names_in("inspect list-tags copy"),
    "buildah": names_in("bud build images containers from pull push"),
    "ollama": names_in("list ls run pull serve show ps create push"),
    "defaults": names_in("read find domains"),
    "watchman": names_in("watch version get-sockname watch-list"),
    "argocd": names_in("login version cluster repo account context"),
    "flux": names_in("get check logs version reconcile"),
    "istioctl": names_in("analyze version proxy-status proxy-config validate"),
    "husky": names_in("install init add"),
    "fastlane": names_in("test tests scan lanes env action"),
    "electron-builder": names_in("build install-app-deps"),
    "sqlc": names_in("generate vet compile verify diff"),
    "op": names_in("read item signin whoami list vault"),
    "pass": names_in("show ls find grep"),
    "sops": names_in("-d --decrypt"),
    "ray": names_in("status start list summary"),
}


def _editor(call: ProgramCall) -> str | None:
    """`vim -c COMMAND`: an editor that runs commands."""
    for number, word in enumerate(call.args):
        text = word.text
        command = text[1:] if text[:1] == "+" else ""
        if text in (
            "-c",
            "--cmd",
            "-S",
            "-s",
            "--eval",
            "-l",
            "--load",
            "--script",
            "-u",
            "--luafile",
        ) and number + 1 < len(call.args):
            command = call.args[number + 1].text
        if command and not re.fullmatch(r":?(\d+|/\w+|wq?!?|qa?!?|set \w+|syntax on)", command):
            call.unread("what this command of the editor does cannot be seen", word)
    return UNKNOWN


def _unknown(call: ProgramCall) -> str | None:
    if [word.text for word in call.args] in (["--version"], ["--help"], ["-V"], ["version"], ["help"]):
        return UNKNOWN
    verb = next(
        (word.text for word in call.args if not word.text.startswith("-") or call.name in _DASHED), ""
    )
    is_risky = any(set(re.split(r"[-_:]", word.text)) & RISKY for word in call.args)
    if verb in _HARMLESS_VERBS.get(call.name, ()) and not is_risky:
        return UNKNOWN
    if call.name in ("spark-submit", "ray"):
        for word in call.args:
            if word.text.endswith((".py", ".jar", ".R")):
                judge_script(call, word)
                return UNKNOWN
    call.unread(f"unknown program {quote(call.name)}")
    return UNKNOWN


HARMLESS: Final = names_in(
    """man info help type which whereis apropos tldr file stat du df free uptime top htop btop ps pgrep pstree lsof w who last id groups
    getent locale env_ printenv lscpu lsblk lsmod lspci lsusb blkid findmnt mount_ dmesg vmstat iostat mpstat sar pidstat netstat ss ip
    ifconfig route_ ping ping6 traceroute tracepath mtr dig nslookup host whois arp nmap tcpdump iftop nethogs ethtool_ curl_ sysctl_
    hostnamectl timedatectl loginctl resolvectl networkctl cal bc dc expr factor numfmt cmp diff sdiff diff3 colordiff comm join
    md5sum sha1sum sha224sum sha256sum sha384sum sha512sum shasum b2sum cksum sum od hexdump strings look spell aspell fmt expand
    unexpand split csplit tsort ptx mkdir tree exa eza bat delta glow mdcat fzf peco zoxide z autojump ncdu duf broot nano
    code subl less most clear reset_ tput stty echo_ zip gpg gpg2 age ssh-keygen ssh-keyscan ssh-add ssh-agent scp sftp ftp_ lftp_
    dos2unix unix2dos csvcut csvstat csvgrep csvsort csvlook csvjoin csvsql in2csv xsv qsv mlr gron jo fx dasel htmlq pup xmllint
    xmlstarlet tidy pandoc pdftotext pdfinfo qpdf gs pdflatex xelatex lualatex latexmk bibtex convert magick identify mogrify_ ffmpeg
    ffprobe sox exiftool dot plantuml mmdc inkscape
    gcc g++ cc c++ clang clang++ ld ar nm objdump readelf size strip ranlib gdb lldb valgrind perf ldd pkg-config autoconf automake
    configure cmake ctest cpack ninja meson bazel bazelisk buck2 pants scons b2 swift swiftc xcodebuild xcrun kotlinc javac javap jar
    scala scalac sbt lein clj mill ghc cabal stack ocaml dune opam rustc rustup rustfmt clippy-driver go gofmt goimports golangci-lint
    staticcheck gopls dlv zig nim crystal elixir mix iex erl rebar3 dart flutter nix nix-build nix-shell nix-env nix-collect-garbage_
    nvcc tsc esbuild swc rollup vite webpack parcel turbo nx lerna rspack rsbuild tsup unbuild microbundle next nuxt astro gatsby remix
    svelte-kit ng vue vue-cli-service react-scripts expo eas cap ionic storybook sb start-storybook jest vitest mocha ava tap jasmine
    karma cypress playwright puppeteer testcafe wdio nightwatch c8 nyc eslint prettier stylelint biome oxlint standard xo tslint commitlint
    lint-staged husky_ markdownlint markdownlint-cli2 cspell alex textlint vale remark htmlhint sass less_ lessc postcss tailwindcss
    purgecss svgo terser uglifyjs babel serve http-server live-server json-server nodemon pm2_ concurrently wait-on npm-check-updates ncu
    depcheck knip madge license-checker size-limit bundlesize lighthouse lhci pa11y axe typedoc jsdoc openapi-generator-cli openapi-generator
    graphql-codegen swagger-cli spectral redocly create-react-app create-next-app create-vite degit changeset semantic-release release-it
    standard-version conventional-changelog auto-changelog git-cliff cz commitizen bump2version bumpversion bump-my-version tbump
    pytest py.test tox nox ruff black isort flake8 pylint pyflakes pycodestyle pydocstyle mypy pyright pyre basedpyright ty bandit safety
    pip-audit coverage codecov vulture radon interrogate pyupgrade autopep8 yapf autoflake pre-commit prek virtualenv pyenv_ pip-compile
    pip-sync twine_ flit cookiecutter cruft copier sphinx-build mkdocs jupyter jupyter-lab jupytext nbconvert papermill nbstripout ipython_
    streamlit gradio uvicorn gunicorn hypercorn daphne waitress-serve flask_ fastapi celery locust k6 ab wrk hey vegeta artillery siege
    dbt sqlfluff sqlfmt great_expectations dvc mlflow wandb tensorboard kedro prefect_ dagster airflow_ luigi meltano nbdime datasette
    sqlite-utils torchrun accelerate deepspeed optuna ray_ spark-submit_ kaggle huggingface-cli
    rspec rubocop brakeman reek standardrb erb_lint erblint minitest jekyll hugo eleventy hexo zola pelican mdbook
    phpunit pest phpstan psalm php-cs-fixer phpcs phpcbf pint rector phan
    dotnet msbuild nuget
    shellcheck shfmt bats hadolint yamllint actionlint ansible-lint ansible-inventory ansible-doc tflint tfsec checkov terrascan infracost
    terraform-docs trivy grype syft dive snyk gitleaks trufflehog detect-secrets semgrep codeql sonar-scanner kubeval kubeconform
    kube-score kube-linter kustomize skaffold_ tilt_ kubectx kubens stern k9s act cosign crane skopeo_ buildah_ kaniko img
    nginx apachectl_ httpd_ caddy_ haproxy_ promtool amtool logcli jaeger vegeta_ redis-benchmark pgbench_ pg_dump pg_dumpall pg_isready
    pg_config mysqldump mariadb-dump mysqlcheck mongodump mongoexport mongostat sqldiff createdb createuser initdb_ cypher-shell_
    git-lfs goreleaser ko nfpm snapcraft_ flatpak-builder dpkg-deb rpmbuild rpmlint dpkg rpm fpm makepkg codesign notarytool signtool
    asdf mise nvm fnm n_ volta rbenv pyenv sdk direnv_ stow_ chezmoi_ lazygit tig gitk say open xdg-open pbcopy pbpaste xclip xsel
    orgkernel kcat useradd adduser groupadd ssh-copy-id protoc buf grpcurl websocat jwt step mkcert cfssl certbot_ wasm-pack wasm-bindgen trunk cargo-nextest cross
    tokei cloc scc loc entr watchexec watchman_ inotifywait fswatch sw_vers system_profiler defaults_ mdfind otool lipo plutil scutil_
    cl nmake qmake make-ssl-cert ccache distcc doxygen ctags etags cscope indent clang-format clang-tidy cppcheck include-what-you-use
    gofumpt mockgen wire sqlc_ air buf_ golines templ ent_ tinygo gotestsum
    tauri electron-builder_ electron-forge_ appium detox fastlane_ pod xcpretty swiftlint swiftformat ktlint detekt
    fio_ stress stress-ng sysbench_ iperf iperf3 speedtest fc-list fc-cache nvidia-smi rocm-smi sensors acpi lshw dmidecode inxi neofetch
    fastfetch ulimit_ getconf getfacl lsattr namei pathchk mountpoint tty_ users logger_ wall_ aws-vault saml2aws granted
    bq_ snow turbo-ignore vitepress vuepress docusaurus honkit gitbook antora asciidoctor rst2html rdoc yard yardoc ri"""
)

PROGRAMS: Final[Mapping[str, Program]] = {
    **dict.fromkeys((name for name in HARMLESS if not name.endswith("_")), _harmless),
    **dict.fromkeys(("vim", "vi", "nvim", "ex", "view", "emacs", "emacsclient", "ed", "kak"), _editor), "?": _unknown,
    **dict.fromkeys(
        ("concurrently", "npm-run-all", "run-p", "run-s", "start-server-and-test", "expect", "nodemon", "gdb",
         "lldb", "entr", "watchexec", "valgrind", "perf", "direnv", "doppler", "op", "aws-vault", "chamber", "infisical",
         "env-cmd"), _runner),
    "debugger": _runner,
    "man": _man,
    **dict.fromkeys(("rails", "rake", "artisan", "symfony", "console"), _rails),
    **dict.fromkeys(("prisma", "sequelize", "sequelize-cli", "typeorm", "drizzle-kit", "mikro-orm"), _prisma),
    **dict.fromkeys(("alembic", "flask", "flyway", "liquibase", "knex", "migrate", "goose", "dbmate", "sqlx", "diesel", "atlas"), _alembic),
}  # fmt: skip
