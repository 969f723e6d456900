#!/bin/sh
# Runs steps in SQLite's shell, see run.py.
#
#     run.sh SHELL EXTENSION PROGRAM STEPS
set -eu

shell=$1 extension=$2 program=$3 steps=$4
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
mkdir "$directory/file"
path=$directory/file/app.db

mkfifo "$directory/statements" "$directory/rows" "$directory/commands" "$directory/answers"
"$shell" -batch -init /dev/null "$path" <"$directory/statements" >"$directory/rows" 2>&1 &
host=$!
"$program" "$path" <"$directory/commands" >"$directory/answers" &
other=$!
exec 3>"$directory/statements" 4<"$directory/rows" 5>"$directory/commands" 6<"$directory/answers"

# Prints a line for each row, or that there was an error.
sql() {
    printf '%s\n.print .\n' "$1" >&3
    while IFS= read -r row <&4 && [ "$row" != . ]; do
        case $row in
            *rror*near\ line*) printf '! %s\n' "$row" ;;
            *) printf '= %s\n' "$row" ;;
        esac
    done
}

hear() {
    IFS= read -r answer <&6 || true
    printf '= %s\n' "$answer"
}

# Checks the step that was read last against what is said below it.
check() {
    [ -n "$step" ] || return 0
    rest=${step#* }
    case $step in
        sql\ *) actual=$(sql "$rest;") ;;
        cpp\ *) printf '%s\n' "$rest" >&5; actual=$(hear) ;;
        hear) actual=$(hear) ;;
    esac
    case $expected in
        '! '*)
            case $actual in
                '! '*"${expected#! }"*) return 0 ;;
            esac
            ;;
        *)
            # "=" alone: no row, or an empty one.
            [ "$actual" != "= " ] || actual=
            [ "$actual" != "$expected" ] || return 0
            ;;
    esac
    printf '%s: %s\n  expected %s\n  got      %s\n' "$steps" "$step" "$expected" "$actual"
    exit 1
}

sql '.timeout 60000' >/dev/null
loading=$(sql ".load $extension")
[ -z "$loading" ] || { echo "$loading"; exit 1; }
step='' expected=
while IFS= read -r line; do
    case $line in
        '' | \#* | = | '= ') ;;
        =* | !*) expected=${expected:+$expected
}$line ;;
        *) check; step=$line expected= ;;
    esac
done <"$steps"
check

# One after the other: of two that close at once each leaves the log to the other. The shell ends
# with 1 when a statement has failed, as some must.
exec 3>&-
wait "$host" || [ $? -eq 1 ] || { echo "$shell has crashed"; exit 1; }
exec 5>&-
wait "$other" || { echo "$program ended with $?"; exit 1; }
left=$(ls "$directory/file")
[ "$left" = app.db ] || { echo "left beside the closed file: $left"; exit 1; }
