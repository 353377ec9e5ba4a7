#!/usr/bin/env bash
# Install the organization layer into an Agent-Zero, upgrade it or remove it.
#
# It needs bash and tools that every image has (cp, mv, rm, mkdir, rmdir, find, grep, sed, cksum, cat, sort).
# It lists every file it writes in usr/organizations/lib/orgkernel_agent_zero/installed.txt and removes only those.
# It never activates anything: without usr/organizations/active.json the host behaves as if nothing were installed.

set -eu
export LC_ALL=C

usage() {
    cat <<'TEXT'
Usage: install_org_kernel.sh [--dry-run] [--uninstall] ROOT

Install or upgrade the organization layer of the Agent-Zero in the folder ROOT (/a0 in its image).

  --dry-run     print what would be done and change nothing
  --uninstall   remove everything that was installed
TEXT
}

die() {
    printf 'error: %s\n' "$1" >&2
    [ -z "${2:-}" ] || printf 'help: %s\n' "$2" >&2
    exit "${3:-1}"
}

DRY_RUN=''
UNINSTALL=''
ROOT=''
while [ $# -gt 0 ]; do
    case $1 in
        --dry-run) DRY_RUN=yes ;;
        --uninstall) UNINSTALL=yes ;;
        -h | --help) usage; exit 0 ;;
        --) shift; [ $# -gt 0 ] && [ -z "$ROOT" ] && ROOT=$1 ;;
        -*) usage >&2; die "unknown option: $1" '' 2 ;;
        *) [ -z "$ROOT" ] || { usage >&2; die "more than one ROOT given: $ROOT and $1" '' 2; }; ROOT=$1 ;;
    esac
    [ $# -eq 0 ] || shift
done
[ -n "$ROOT" ] || { usage >&2; die 'ROOT is missing' '' 2; }
[ -d "$ROOT" ] || die "$ROOT is not a folder" 'pass the folder that Agent-Zero runs from (/a0 in its image)'
ROOT=$(cd -- "$ROOT" && pwd -P)

HERE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# The script runs from a checkout or from an installed package.
PACKAGE=''
for candidate in "$HERE/../orgkernel" "$HERE/../.."; do
    if [ -f "$candidate/runtime/bundle.py" ]; then
        PACKAGE=$(cd -- "$candidate" && pwd -P)
        break
    fi
done

ORGANIZATIONS=usr/organizations
LIBRARY=$ORGANIZATIONS/lib/orgkernel_agent_zero
MANIFEST=$LIBRARY/installed.txt
MARK='# orgkernel: only plans of the active role'
SELECTOR=_15_htn_plan_selector.py
TAB=$(printf '\t')
NEWLINE='
'

# ---- the generation of the host ------------------------------------------------------------------------------------

if [ -f "$ROOT/helpers/extension.py" ]; then
    GENERATION='G3 (0.9.9, 1.0 and later)'
    PLUGIN=usr/plugins/orgkernel
    SHIMS=$PLUGIN/extensions/python
elif [ -f "$ROOT/python/helpers/extension.py" ]; then
    PLUGIN=''
    if grep -q get_paths "$ROOT/python/helpers/extension.py"; then
        GENERATION='G2 (0.9.8)'
        SHIMS=usr/extensions
    else
        GENERATION='G1 (up to 0.9.7)'
        SHIMS=python/extensions
    fi
else
    die "$ROOT is not an Agent-Zero folder: helpers/extension.py and python/helpers/extension.py are missing" \
        'pass the folder that Agent-Zero runs from (/a0 in its image)'
fi

# ---- small steps ---------------------------------------------------------------------------------------------------

say() { printf '%s\n' "$*"; }

sum_of() { cksum <"$1" | sed 's/ /-/'; }

# The checksum of a file when it was installed, empty if it was not. It is needed often, so it starts no process.
SUMS=''
[ ! -f "$ROOT/$MANIFEST" ] || SUMS=$NEWLINE$(sed -n 's/^sum //p' "$ROOT/$MANIFEST")$NEWLINE
installed_sum() {
    found=''
    case $SUMS in
        *" $1$NEWLINE"*) found=${SUMS%%" $1$NEWLINE"*}; found=${found##*"$NEWLINE"} ;;
    esac
}

is_ours() { installed_sum "$1"; [ -f "$ROOT/$1" ] && [ -n "$found" ]; }

is_unchanged() { is_ours "$1" && [ "$(sum_of "$ROOT/$1")" = "$found" ]; }

# Replace a file in one step: a reader sees either the old file or the new one.
put() {
    beside="${2%/*}/.${2##*/}.$$.new"
    { cat -- "$1" >"$beside" && mv -f -- "$beside" "$2"; } || {
        rm -f -- "$beside"
        die "$2 cannot be written" 'fix the cause and run this again; nothing was activated'
    }
}

clear_compiled() {
    compiled=$ROOT/${1%/*}/__pycache__
    [ -d "$compiled" ] || return 0
    module=${1##*/}
    rm -f -- "$compiled/${module%.py}".*.pyc
    rmdir -- "$compiled" 2>/dev/null || :
}

# Missing folders that the planned files need, outer ones first.
new_folders() {
    while IFS=$TAB read -r _ target; do
        folder=$target
        while [ "$folder" != "${folder%/*}" ]; do
            folder=${folder%/*}
            [ -d "$ROOT/$folder" ] || printf '%s\n' "$folder"
        done
    done | sort -u
}

listed() { [ ! -f "$ROOT/$MANIFEST" ] || sed -n "s/^$1 //p" "$ROOT/$MANIFEST"; }

# ---- the plan filter -----------------------------------------------------------------------------------------------

selectors() {
    find "$ROOT" -maxdepth 9 -path "*/before_main_llm_call/$SELECTOR" -type f 2>/dev/null | sort
}

# Add a line after the selector reads its library: it keeps only the plans of the active role, or all without a filter.
filter_plans() {
    selectors | while IFS= read -r file; do
        name=${file#"$ROOT"/}
        if grep -q '_org_htn_allowed_plans' "$file"; then continue; fi
        if [ "$(grep -c '^ *library = _load_library(self\.agent)[[:space:]]*$' "$file")" != 1 ]; then
            say "note: $name does not filter plans by role, and its form is unknown; it was not changed"
            continue
        fi
        say "${DRY_RUN:+would }add one marked line to $name, and keep a backup in $SELECTOR.before-orgkernel"
        [ -z "$DRY_RUN" ] || continue
        [ -w "$file" ] || die "$name cannot be written"
        cp -p -- "$file" "$file.before-orgkernel"
        sed 's/^\( *\)library = _load_library(self\.agent)[[:space:]]*$/&\
\1library = {**library, "plans": {k: v for k, v in library.get("plans", {}).items() if k in self.agent.get_data("_org_htn_allowed_plans")}} if library and self.agent.get_data("_org_htn_allowed_plans") is not None else library  '"$MARK"'/' \
            "$file.before-orgkernel" >"$file.orgkernel-new"
        cat -- "$file.orgkernel-new" >"$file"
        rm -f -- "$file.orgkernel-new"
        clear_compiled "$name"
    done
}

unfilter_plans() {
    selectors | while IFS= read -r file; do
        name=${file#"$ROOT"/}
        grep -qF "$MARK" "$file" || continue
        say "${DRY_RUN:+would }remove the marked line from $name"
        [ -z "$DRY_RUN" ] || continue
        grep -vF "$MARK" "$file" >"$file.orgkernel-new" || :
        cat -- "$file.orgkernel-new" >"$file"
        # The backup is removed only if it equals the file.
        if cmp -s -- "$file" "$file.before-orgkernel"; then mv -f -- "$file.before-orgkernel" "$file"; fi
        rm -f -- "$file.orgkernel-new"
        clear_compiled "$name"
    done
}

# ---- removing ------------------------------------------------------------------------------------------------------

remove_folders() {
    sort -r | while IFS= read -r folder; do
        [ -n "$folder" ] || continue
        rm -rf -- "${ROOT:?}/$folder/__pycache__"
        rmdir -- "$ROOT/$folder" 2>/dev/null || :
    done
}

remove_file() {
    case $1 in
        "$ORGANIZATIONS"/*.json | "$ORGANIZATIONS"/bundles/*.json)
            if [ -f "$ROOT/$1" ] && ! is_unchanged "$1"; then
                say "note: $1 was changed after installation and is kept"
                return 0
            fi ;;
    esac
    [ -f "$ROOT/$1" ] || return 0
    say "${DRY_RUN:+would }remove $1"
    [ -z "$DRY_RUN" ] || return 0
    # Also remove what an interrupted run may have left beside it.
    rm -f -- "$ROOT/$1" "$ROOT/${1%/*}/.${1##*/}".*.new || die "$ROOT/$1 cannot be removed"
    clear_compiled "$1"
}

uninstall() {
    [ -f "$ROOT/$MANIFEST" ] || { say "nothing is installed in $ROOT"; unfilter_plans; return 0; }
    # Remove the files that the host calls first, then the files that those import.
    listed file | grep "^$SHIMS/" | while IFS= read -r name; do remove_file "$name"; done
    listed file | grep -v "^$SHIMS/" | while IFS= read -r name; do remove_file "$name"; done
    unfilter_plans
    if [ -f "$ROOT/$ORGANIZATIONS/status.json" ]; then
        say "${DRY_RUN:+would }remove $ORGANIZATIONS/status.json"
        [ -n "$DRY_RUN" ] || rm -f -- "$ROOT/$ORGANIZATIONS/status.json"
    fi
    if [ -z "$DRY_RUN" ]; then
        folders=$(listed folder)
        rm -f -- "$ROOT/$MANIFEST"
        printf '%s\n' "$folders" | remove_folders
        say "uninstalled from $ROOT"
    fi
    [ ! -f "$ROOT/$ORGANIZATIONS/active.json" ] || say "note: active.json is kept; to remove what activation wrote, run: orgkernel org deactivate --agent-zero ROOT"
    [ ! -d "$ROOT/$ORGANIZATIONS/reports" ] || say "note: $ORGANIZATIONS/reports holds reports and is kept"
}

# ---- installing ----------------------------------------------------------------------------------------------------

# Source and target of every file, separated by a tab. The files that the host calls come last.
planned() {
    for file in "$PACKAGE"/runtime/*.py; do printf '%s\t%s\n' "$file" "$LIBRARY/runtime/${file##*/}"; done
    for file in "$HERE"/host/*.py; do
        # The folder of the same name takes the place of runtime.py.
        [ "${file##*/}" = runtime.py ] || printf '%s\t%s\n' "$file" "$LIBRARY/${file##*/}"
    done
    for file in "$HERE"/organizations/*.json; do printf '%s\t%s\n' "$file" "$ORGANIZATIONS/${file##*/}"; done
    for file in "$HERE"/organizations/bundles/*.json; do
        printf '%s\t%s\n' "$file" "$ORGANIZATIONS/bundles/${file##*/}"
    done
    if [ -n "$PLUGIN" ]; then
        find "$HERE/plugin" -type f ! -path '*/__pycache__/*' | sort | while IFS= read -r file; do
            printf '%s\t%s\n' "$file" "$PLUGIN/${file#"$HERE"/plugin/}"
        done
    fi
    for file in "$HERE"/shims/*/*.py; do
        printf '%s\t%s\n' "$file" "$SHIMS/${file#"$HERE"/shims/}"
    done
}

# The lines of installed.txt for the planned files. One process computes all checksums.
plan_lines() {
    while IFS=$TAB read -r source _; do [ -z "$source" ] || set -- "$@" "$source"; done <<EOT
$plan
EOT
    sums=$(cksum "$@")
    while IFS=$TAB read -r _ target && read -r sum size _ <&3; do
        printf 'file %s\nsum %s-%s %s\n' "$target" "$sum" "$size" "$target"
    done <<EOT 3<<SUMS
$plan
EOT
$sums
SUMS
}

write_manifest() {
    beside=$ROOT/$MANIFEST.new
    if ! {
        printf 'version %s\n' "$VERSION" &&
            printf '%s\n' "$folders" | sed '/^$/d' | sort -u | sed 's/^/folder /' &&
            printf '%s\n' "$1"
    } >"$beside" || ! mv -f -- "$beside" "$ROOT/$MANIFEST"; then
        rm -f -- "$beside"
        die "$ROOT/$MANIFEST cannot be written"
    fi
}

stale_lines() {
    printf '%s\n' "$stale" | while IFS= read -r name; do
        if [ -n "$name" ] && is_ours "$name"; then printf 'file %s\nsum %s %s\n' "$name" "$found" "$name"; fi
    done
}

install() {
    [ -n "$PACKAGE" ] || die 'the orgkernel package is not next to this script' 'run the script from a checkout, or run: orgkernel org install'
    VERSION=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$PACKAGE/version.py")
    all=$(planned)
    plan='' blocked=''
    # Keep the user's documents. A foreign file in the place of a code file is an error, before anything is changed.
    while IFS=$TAB read -r source target; do
        if [ -e "$ROOT/$target" ] || [ -L "$ROOT/$target" ]; then
            case $target in
                "$ORGANIZATIONS"/*.json | "$ORGANIZATIONS"/bundles/*.json)
                    if ! is_unchanged "$target" && ! cmp -s -- "$source" "$ROOT/$target"; then
                        say "note: $target was changed after installation and is kept"
                        continue
                    fi ;;
                *)
                    if ! is_ours "$target" && ! cmp -s -- "$source" "$ROOT/$target"; then
                        blocked="$blocked $target"
                        continue
                    fi ;;
            esac
        fi
        plan="$plan$source$TAB$target
"
    done <<EOT
$all
EOT
    [ -z "$blocked" ] || die "other files are in the way:$blocked" 'move them away, or remove an older organization layer first'
    say "Agent-Zero $GENERATION in $ROOT, orgkernel $VERSION"

    if [ -n "$DRY_RUN" ]; then
        printf '%s' "$plan" | while IFS=$TAB read -r source target; do
            cmp -s -- "$source" "$ROOT/$target" || say "would write $target"
        done
        listed file | while IFS= read -r name; do
            printf '%s' "$all" | grep -qF "$TAB$name" || say "would remove $name"
        done
        filter_plans
        return 0
    fi

    folders="$(listed folder)
$(printf '%s' "$plan" | new_folders)"
    printf '%s' "$plan" | while IFS=$TAB read -r _ target; do
        folder=$ROOT/${target%/*}
        [ -d "$folder" ] || mkdir -p -- "$folder" 2>/dev/null || die "$folder cannot be created" 'check whether the target is read-only'
        [ -w "$folder" ] || die "$folder cannot be written to" 'run this as the user that runs Agent-Zero'
    done || exit 1
    # Write the list first, with the files of an earlier version: after a crash it names every file that may be installed.
    lines=$(plan_lines)
    stale=$(listed file | while IFS= read -r name; do
        case $NEWLINE$lines$NEWLINE in *"${NEWLINE}file $name$NEWLINE"*) ;; *) printf '%s\n' "$name" ;; esac
    done)
    write_manifest "$lines$NEWLINE$(stale_lines)"
    printf '%s' "$plan" | while IFS=$TAB read -r source target; do
        cmp -s -- "$source" "$ROOT/$target" && continue
        put "$source" "$ROOT/$target"
        clear_compiled "$target"
        say "wrote $target"
    done || exit 1
    printf '%s\n' "$stale" | while IFS= read -r name; do [ -z "$name" ] || remove_file "$name"; done
    # A document that the user changed is kept and stays in the list.
    write_manifest "$lines$NEWLINE$(stale_lines)"
    filter_plans
    say ''
    if [ -f "$ROOT/$ORGANIZATIONS/active.json" ]; then
        say 'Installed. The organization in active.json stays active. Restart a running Agent-Zero to load new files.'
        return 0
    fi
    say 'Installed. No organization is active. To activate one, run'
    say "    orgkernel org activate software_dev --agent-zero '$ROOT'"
    say 'or, if orgkernel is not installed on this machine,'
    say "    cp '$ROOT/$ORGANIZATIONS/software_dev.json' '$ROOT/$ORGANIZATIONS/active.json'"
    say 'Restart a running Agent-Zero to load new files.'
}

if [ -n "$UNINSTALL" ]; then uninstall; else install; fi
