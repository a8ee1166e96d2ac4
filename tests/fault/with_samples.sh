#!/usr/bin/env bash
# with_samples.sh DIR PROGRAM [ARGUMENT...]: runs the program on the volumes of make_samples.sh, which are made in DIR. The whole is one TAP stream.
set -euo pipefail
dir=$1
shift
code=0
message=$("$(dirname "$0")/make_samples.sh" "$dir" 2>&1) || code=$?
if [ $code -eq 77 ]; then
	echo "1..0 # $message"
	exit 0
elif [ $code -ne 0 ]; then
	echo "Bail out! $message"
	exit 1
fi
exec "$@" "$dir"/*.img
