#compdef lanescope lanescope-viewer
# SPDX-License-Identifier: Apache-2.0
# Completes the command lines of lanescope and lanescope-viewer in zsh. What there is to offer the programs say
# themselves; app/completion/completions.h tells how.

local line
local -a candidates
for line in "${(@f)$(${(Q)words[1]} --complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
        ':program '*)
            shift $((${line#:program } + 1)) words
            ((CURRENT -= ${line#:program } + 1))
            _normal
            return
            ;;
        ':traces '*)
            compset -P '--*='
            _files -g "(${(j:|:)${(s: :)line#:traces }})(-.)"
            return
            ;;
        :files)
            compset -P '--*='
            _files
            return
            ;;
        :folders)
            _directories
            return
            ;;
        ?*) candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
    esac
done
_describe -V value candidates
