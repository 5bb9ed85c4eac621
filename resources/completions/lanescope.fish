# SPDX-License-Identifier: Apache-2.0
# Completes the command lines of lanescope and lanescope-viewer in fish. What there is to offer the programs say
# themselves; app/completion/completions.h tells how.

function __lanescope_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] --complete $words[2..-1] 2>/dev/null)
        switch $line
            case ':program *'
                set -l first (math (string replace ':program ' '' -- $line) + 2)
                __fish_complete_subcommand --commandline $words[$first..-1]
            case ':traces *'
                for ending in (string split ' ' -- (string replace ':traces ' '' -- $line))
                    __fish_complete_suffix (string replace '*' '' -- $ending)
                end
            case :files
                __fish_complete_path (commandline -ct)
            case :folders
                __fish_complete_directories (commandline -ct)
            case '*'
                printf '%s\n' $line
        end
    end
end

for program in lanescope lanescope-viewer
    complete -c $program -f -a '(__lanescope_complete)'
end
