# SPDX-License-Identifier: Apache-2.0
# Completes the command lines of lanescope and lanescope-viewer in bash. What there is to offer the programs say
# themselves; app/completion/completions.h tells how. Needs the package bash-completion.

_lanescope() {
    local cur prev words cword line
    _init_completion -n =: || return
    local programWords=("${words[@]:1:cword}")
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            ':program '*)
                _command_offset $((${line#:program } + 1))
                return
                ;;
            ':traces '*)
                local endings=${line#:traces }
                endings=${endings//\*./}
                cur=${cur#--*=}
                _filedir "@(${endings// /|})"
                return
                ;;
            :files)
                cur=${cur#--*=}
                _filedir
                return
                ;;
            :folders) _filedir -d ;;
            *)
                line=${line%%$'\t'*}
                [[ $line != "$cur"* ]] || COMPREPLY+=("$line")
                ;;
        esac
    done < <("$1" --complete "${programWords[@]}" 2>/dev/null)
    # Readline replaces only what stands behind the last of these.
    local before=${cur%"${cur##*[=:]}"}
    [[ -z $before || $COMP_WORDBREAKS != *"${before: -1}"* ]] || COMPREPLY=("${COMPREPLY[@]#"$before"}")
} && complete -F _lanescope lanescope lanescope-viewer
