#!/usr/bin/env bash
# Runs buf from PATH, or the one that setup.sh built.
set -euo pipefail
if command -v buf >/dev/null 2>&1; then exec buf "$@"; fi
exec "${TERCET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tercet}/bin/buf" "$@"
