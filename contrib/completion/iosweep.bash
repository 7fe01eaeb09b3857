# SPDX-License-Identifier: MIT
#
# bash completion for iosweep(1).  Commands and options come from the program itself (iosweep --list), so that this file
# needs no change when one is added.

_iosweep_fields() { # COMMAND...: the first field of each line that iosweep --list prints
	"${COMP_WORDS[0]}" --list "$@" 2>/dev/null | cut -f 1
}

_iosweep_argument() { # OPTION COMMAND: the word that stands for the option's value, or nothing
	"${COMP_WORDS[0]}" --list "$2" 2>/dev/null | awk -F '\t' -v o="$1" '($1 == o || $2 == o) && $3 != "-" { print $3 }'
}

_iosweep_ids() {
	echo last
	"${COMP_WORDS[0]}" list --limit 50 --raw --columns id 2>/dev/null
}

_iosweep_values() { # the word that stands for an argument or a value
	case $1 in
	*PLAN*|*FILE*) compgen -f -- "$2" ;;
	*ID*) compgen -W "$(_iosweep_ids)" -- "$2" ;;
	*FORMAT*) compgen -W "table json csv raw markdown html" -- "$2" ;;
	*STYLE*) compgen -W "decimal binary base" -- "$2" ;;
	esac
}

_iosweep() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} takes
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_iosweep_fields) help --help --version" -- "$word")
		return
	fi
	if [ "$command" = help ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_iosweep_fields)" -- "$word")
		return
	fi
	takes=$(_iosweep_argument "$before" "$command")
	if [ -n "$takes" ]; then
		mapfile -t COMPREPLY < <(_iosweep_values "$takes" "$word")
	elif [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_iosweep_fields "$command")" -- "$word")
	else
		takes=$("${COMP_WORDS[0]}" --list 2>/dev/null | awk -F '\t' -v c="$command" '$1 == c { print $2 }')
		mapfile -t COMPREPLY < <(_iosweep_values "$takes" "$word")
	fi
}
complete -o default -o nosort -F _iosweep iosweep
