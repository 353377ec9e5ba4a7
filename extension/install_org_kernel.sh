#!/usr/bin/env bash
# Install the organization layer into an Agent-Zero, upgrade it, or take it out again.
#
# Needs bash and what every image has (cp, mv, rm, mkdir, rmdir, find, grep, sed, cksum, cat, sort).
# What it writes stands in usr/organizations/lib/orgkernel_agent_zero/installed.txt, and only that is ever removed.
# It never activates anything: without usr/organizations/active.json the host behaves as if none of this were there.

set -eu
export LC_ALL=C

usage() {
    cat <<'TEXT'
usage: install_org_kernel.sh [--dry-run] [--uninstall] ROOT

Install the organization layer into the Agent-Zero that runs from ROOT (/a0 in its image), or upgrade it.

  --dry-run     say what would be done, and change nothing
  --uninstall   remove what was installed
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
        -*) usage >&2; die "there is no option $1" '' 2 ;;
        *) [ -z "$ROOT" ] || { usage >&2; die "more than one ROOT: $ROOT and $1" '' 2; }; ROOT=$1 ;;
    esac
    [ $# -eq 0 ] || shift
done
[ -n "$ROOT" ] || { usage >&2; die 'ROOT is missing' '' 2; }
[ -d "$ROOT" ] || die "$ROOT is no folder" 'name the folder Agent-Zero runs from, /a0 in its image'
ROOT=$(cd -- "$ROOT" && pwd -P)

HERE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# In a checkout, or in an installed package.
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
    die "$ROOT is no Agent-Zero: neither helpers/extension.py nor python/helpers/extension.py is there" \
        'name the folder Agent-Zero runs from, /a0 in its image'
fi

# ---- small steps ---------------------------------------------------------------------------------------------------

say() { printf '%s\n' "$*"; }

sum_of() { cksum <"$1" | sed 's/ /-/'; }

# The sum a file had when it was installed; empty when it was not. Read once, and without a process: it is asked often.
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

# Copy or write at once: whoever reads the target sees the old file or the new one.
put() {
    beside="${2%/*}/.${2##*/}.$$.new"
    { cat -- "$1" >"$beside" && mv -f -- "$beside" "$2"; } || {
        rm -f -- "$beside"
        die "$2 cannot be written" 'mend that and run this again; nothing is active that was not active before'
    }
}

clear_compiled() {
    compiled=$ROOT/${1%/*}/__pycache__
    [ -d "$compiled" ] || return 0
    module=${1##*/}
    rm -f -- "$compiled/${module%.py}".*.pyc
    rmdir -- "$compiled" 2>/dev/null || :
}

# Folders a file of ours needs that are not there yet, outer ones first.
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

# Where the selector has just read its library, it is cut down to the plans of the active role; no filter, no change.
filter_plans() {
    selectors | while IFS= read -r file; do
        name=${file#"$ROOT"/}
        if grep -q '_org_htn_allowed_plans' "$file"; then continue; fi
        if [ "$(grep -c '^ *library = _load_library(self\.agent)[[:space:]]*$' "$file")" != 1 ]; then
            say "note: $name does not filter plans, and is not of a form this can be added to; it stays as it is"
            continue
        fi
        say "${DRY_RUN:+would }add one marked line to $name, keeping $SELECTOR.before-orgkernel beside it"
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
        say "${DRY_RUN:+would }take the marked line out of $name"
        [ -z "$DRY_RUN" ] || continue
        grep -vF "$MARK" "$file" >"$file.orgkernel-new" || :
        cat -- "$file.orgkernel-new" >"$file"
        # The backup goes only when it says nothing more than the file.
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
                say "note: $1 was changed, it stays"
                return 0
            fi ;;
    esac
    [ -f "$ROOT/$1" ] || return 0
    say "${DRY_RUN:+would }remove $1"
    [ -z "$DRY_RUN" ] || return 0
    # With what an interrupted call may have left beside it.
    rm -f -- "$ROOT/$1" "$ROOT/${1%/*}/.${1##*/}".*.new || die "$ROOT/$1 cannot be removed"
    clear_compiled "$1"
}

uninstall() {
    [ -f "$ROOT/$MANIFEST" ] || { say "nothing is installed in $ROOT"; unfilter_plans; return 0; }
    # What the host calls goes first, what that calls afterwards.
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
    [ ! -f "$ROOT/$ORGANIZATIONS/active.json" ] || say "note: active.json stays; 'orgkernel org deactivate --agent-zero ROOT' removes what activation wrote"
    [ ! -d "$ROOT/$ORGANIZATIONS/reports" ] || say "note: $ORGANIZATIONS/reports holds reports, it stays"
}

# ---- installing ----------------------------------------------------------------------------------------------------

# Source and target of every file, tab between them; what the host calls comes last.
planned() {
    for file in "$PACKAGE"/runtime/*.py; do printf '%s\t%s\n' "$file" "$LIBRARY/runtime/${file##*/}"; done
    for file in "$HERE"/host/*.py; do
        # Its place is taken by the folder of that name.
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

# The lines of the list for what is planned; one process for all sums.
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
    [ -n "$PACKAGE" ] || die 'the package orgkernel does not lie beside this script' 'run it from a checkout, or with orgkernel org install'
    VERSION=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$PACKAGE/__init__.py")
    all=$(planned)
    plan='' blocked=''
    # Documents of the user stay; a file of others where code of ours has to be is an error, before anything is done.
    while IFS=$TAB read -r source target; do
        if [ -e "$ROOT/$target" ] || [ -L "$ROOT/$target" ]; then
            case $target in
                "$ORGANIZATIONS"/*.json | "$ORGANIZATIONS"/bundles/*.json)
                    if ! is_unchanged "$target" && ! cmp -s -- "$source" "$ROOT/$target"; then
                        say "note: $target is not as it was installed, it stays"
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
    [ -z "$blocked" ] || die "files of others are in the way:$blocked" 'move them away; an earlier layer of this name must go first'
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
        [ -d "$folder" ] || mkdir -p -- "$folder" 2>/dev/null || die "$folder cannot be made" 'is the target read-only?'
        [ -w "$folder" ] || die "$folder cannot be written to" 'run this as the user Agent-Zero runs as'
    done || exit 1
    # The list goes first, with what an earlier version had: after a crash everything that may be ours is known.
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
    # A document that somebody changed is still there, and stays known.
    write_manifest "$lines$NEWLINE$(stale_lines)"
    filter_plans
    say ''
    if [ -f "$ROOT/$ORGANIZATIONS/active.json" ]; then
        say 'Installed; the organization in active.json stays active. A running Agent-Zero finds new files when it is restarted.'
        return 0
    fi
    say 'Installed, and off. To switch an organization on, either'
    say "    orgkernel org activate software_dev --agent-zero '$ROOT'"
    say 'or, without orgkernel on this machine,'
    say "    cp '$ROOT/$ORGANIZATIONS/software_dev.json' '$ROOT/$ORGANIZATIONS/active.json'"
    say 'A running Agent-Zero finds new files when it is restarted.'
}

if [ -n "$UNINSTALL" ]; then uninstall; else install; fi
