#!/usr/bin/env bash
# Looks for what Tercet needs and says what is missing. On Debian and Ubuntu, as root, it installs it.
#
#   setup.sh base    a Rust toolchain, a C compiler, PostgreSQL's server programs (15 or newer)
#   setup.sh kafka   Java and Maven, for a real Kafka (its jars are fetched once, outside the checkout)
#   setup.sh buf     buf, for `make proto`, built once by Go into Tercet's cache
set -euo pipefail

cache=${TERCET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tercet}
buf_version=v1.75.0

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

case "${1:-base}" in
  base | kafka) "${1:-base}" ;;
  buf) buf_tool ;;
  *) fail "unknown part: $1 (base, kafka or buf)" ;;
esac
