#!/bin/sh
# Runs a command and adds a line with its duration to a file: FILE NAME COMMAND...
# SPDX-License-Identifier: GPL-2.0-or-later
file=$1 name=$2
shift 2
mkdir -p "$(dirname "$file")"
start=$(date +%s)
"$@"
code=$?
seconds=$(($(date +%s) - start))
printf '%4d:%02d  %s\n' $((seconds / 60)) $((seconds % 60)) "$name" >>"$file"
exit $code
