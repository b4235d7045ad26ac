#!/usr/bin/env bash
# Looks for what Tercet needs and says what is missing. On Debian and Ubuntu, as root, it installs it.
#
#   setup.sh base    a Rust toolchain, a C compiler, PostgreSQL's server programs (15 or newer)
#   setup.sh kafka   Java and Maven, for a real Kafka (its jars are fetched once, outside the checkout)
#   setup.sh buf     buf, for `make proto`, built once by Go into Tercet's cache
#   setup.sh jaeger  Jaeger, for traces, built once by Go into Tercet's cache (minutes)
set -euo pipefail

cache=${TERCET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tercet}
buf_version=v1.75.0
jaeger_version=v1.76.0

have() { command -v "$1" >/dev/null 2>&1; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# install WHAT HINT PACKAGE…: by apt-get where we may, else say what to do
install() {
  local what=$1 hint=$2; shift 2
  if have apt-get && [ "$(id -u)" = 0 ]; then
    echo "setup: installing $what ($*)"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 && return
    apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@" >/dev/null && return
  fi
  fail "$what is missing. $hint"
}

postgres_dir() {
  local dir
  for dir in "${TERCET_POSTGRES_BIN:-}" /usr/lib/postgresql/*/bin /opt/homebrew/opt/postgresql*/bin /usr/local/opt/postgresql*/bin /usr/pgsql-*/bin; do
    if [ -x "$dir/initdb" ]; then echo "$dir"; return; fi
  done
  if have initdb; then dirname "$(command -v initdb)"; fi
}

base() {
  have cargo || fail "Rust is missing. Install it from https://rustup.rs, then run this again."
  have cc || install "a C compiler" "librdkafka is built from source: install gcc or clang, and make." gcc g++ make libc6-dev
  have make || install make "Install GNU make." make
  [ -n "$(postgres_dir)" ] || install "PostgreSQL's server" \
    "Install PostgreSQL 15 or newer (Debian: postgresql, macOS: brew install postgresql@17), or set TERCET_POSTGRES_BIN to the folder of initdb." postgresql
}

kafka() {
  have java || install Java "Install a Java runtime, 17 or newer." openjdk-17-jre-headless
  ls "$cache"/kafka-4.3.1/libs/kafka_2.13-4.3.1.jar >/dev/null 2>&1 && return
  have mvn || install Maven "Install Maven: it fetches Kafka's jars." maven
}

# Not called `buf`: command -v would find the function.
buf_tool() {
  have buf && return
  [ -x "$cache/bin/buf" ] && return
  have go || fail "buf is missing. Install it (https://buf.build/docs/installation) or Go, which can build it."
  echo "setup: building buf $buf_version, once (minutes)"
  GOBIN="$cache/bin" go install "github.com/bufbuild/buf/cmd/buf@$buf_version"
}

# `go install` refuses a module with replacements, so it is built from a module of its own. Into a file
# beside, renamed last: a Jaeger that is there is whole.
jaeger_tool() {
  [ -x "$cache/bin/jaeger" ] && return
  have jaeger && return
  have go || fail "Jaeger is missing. Install Go (https://go.dev/dl), which can build it, or put a jaeger (2.x) on PATH."
  echo "setup: building Jaeger $jaeger_version, once (6 to 12 minutes)"
  local package=github.com/jaegertracing/jaeger/cmd/jaeger module
  module=$(mktemp -d)
  mkdir -p "$cache/bin"
  (
    trap 'rm -rf "$module" "$cache/bin/jaeger.$$"' EXIT
    cd "$module"
    go mod init tercet.dev/jaeger 2>/dev/null
    go get -tool "$package@$jaeger_version" 2>"$module/said" || { cat "$module/said" >&2; exit 1; }
    go build -o "$cache/bin/jaeger.$$" "$package"
    mv "$cache/bin/jaeger.$$" "$cache/bin/jaeger"
  ) || fail "Jaeger could not be built."
}

case "${1:-base}" in
  base | kafka) "${1:-base}" ;;
  buf) buf_tool ;;
  jaeger) jaeger_tool ;;
  *) fail "unknown part: $1 (base, kafka, buf or jaeger)" ;;
esac
