#!/usr/bin/env bats
# The option tables, --help, the manual and the completion name the same commands and options; the manuals are clean.

load helpers

commands() { iosweep --list | cut -f 1; }

# The part of iosweep(1) between the heading of a command and the next one.
manual_of() {
	awk -v c="$1" '/^\.S[sh] / { on = ($1 == ".Ss" && $2 == c) } on' "$ROOT/man/iosweep.1"
}

@test "every command has a section in the manual, and every section a command" {
	diff <(commands | sort) <(awk '/^\.Sh COMMANDS/ { on = 1; next } /^\.Sh / { on = 0 } on && $1 == ".Ss" { print $2 }' \
		"$ROOT/man/iosweep.1" | sort)
}

@test "the manual has every option of every command, and no other" {
	local command
	for command in $(commands); do
		echo "== $command"
		diff <(iosweep --list "$command" | cut -f 1 | grep -v -x -e --help -e --json -e --csv -e --raw -e --format -e --columns | sort) \
			<(manual_of "$command" | sed -n 's/^\.It .*Fl -\([a-z-]*\).*/--\1/p' | grep -v -x -e --json -e --csv -e --raw | sort)
	done
}

@test "the manual says which letter and which value an option has" {
	local command name letter argument
	for command in $(commands); do
		while IFS=$'\t' read -r name letter argument _; do
			case $name in --help|--json|--csv|--raw|--format|--columns) continue ;; esac
			echo "== $command $name"
			[ "$letter" = - ] || manual_of "$command" | grep -q "^\.It Fl ${letter#-} .*Fl ${name#-}\|^\.It Fl ${letter#-}.*, Fl ${name#-}"
			[ "$argument" = - ] || manual_of "$command" | grep -q "^\.It .*Fl ${name#-} Ar "
		done < <(iosweep --list "$command")
	done
}

@test "--help of every command has its options and needs neither store nor daemon" {
	local command name
	export IOSWEEP_DB=/nonexistent/db IOSWEEP_SOCKET=/nonexistent/socket
	for command in $(commands); do
		run iosweep "$command" --help
		[ "$status" -eq 0 ]
		[[ $output == "usage: iosweep $command"* ]]
		for name in $(iosweep --list "$command" | cut -f 1); do
			echo "== $command $name"
			[[ $output == *" $name"* ]]
		done
		[ "$(iosweep help "$command")" = "$output" ]
	done
}

@test "the list of commands has a line for each" {
	local command
	run iosweep --help
	[ "$status" -eq 0 ]
	for command in $(commands); do
		grep -q "^  $command " <<<"$output"
	done
}

complete_words() { # WORD...: what completion offers for the last of them
	# shellcheck disable=SC1091
	. "$ROOT/contrib/completion/iosweep.bash"
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_iosweep
	printf '%s\n' "${COMPREPLY[@]}"
}

@test "completion offers every command, and every option of each" {
	local command
	diff <({ commands; printf '%s\n' help --help --version; } | sort) <(complete_words iosweep "" | sort)
	for command in $(commands); do
		diff <(iosweep --list "$command" | cut -f 1 | sort) <(complete_words iosweep "$command" - | sort)
	done
	[ "$(complete_words iosweep show --format m)" = markdown ]
	[ "$(complete_words iosweep sho)" = show ]
}

@test "manuals pass mandoc without a warning" {
	need mandoc
	local page
	for page in "$ROOT"/man/*.[1-8]; do
		run mandoc -Tlint -W warning "$page"
		echo "$output"
		[ "$status" -eq 0 ]
	done
}
