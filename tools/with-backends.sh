#!/usr/bin/env bash
# Runs a command with a private PostgreSQL and a real Kafka, and ends both afterwards.
# Backends that are given (TERCET_TEST_POSTGRES_URL, TERCET_TEST_KAFKA_BROKERS) are used as they are.
set -euo pipefail
cache=${TERCET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tercet}
dir=$(mktemp -d); chmod 755 "$dir"
kafka_pid=; bin=
as_postgres() { if [ "$(id -u)" = 0 ]; then su postgres -s /bin/bash -c "$1"; else bash -c "$1"; fi; }
finish() {
  [ -z "$bin" ] || as_postgres "$bin/pg_ctl -D $dir/pg/data -m immediate stop" >/dev/null 2>&1 || true
  [ -z "$kafka_pid" ] || kill "$kafka_pid" 2>/dev/null || true
  rm -rf "$dir"
}
trap finish EXIT
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

if [ -z "${TERCET_TEST_POSTGRES_URL:-}" ]; then
  for bin in "${TERCET_POSTGRES_BIN:-}" /usr/lib/postgresql/*/bin; do [ -x "$bin/initdb" ] && break; done
  mkdir "$dir/pg"; if [ "$(id -u)" = 0 ]; then chown postgres "$dir/pg"; fi
  pg=$(port)
  as_postgres "$bin/initdb -D $dir/pg/data -U postgres -A trust >/dev/null"
  as_postgres "$bin/pg_ctl -D $dir/pg/data -l $dir/pg/log -o '-p $pg -k $dir/pg -c max_connections=400' -w start >/dev/null"
  export TERCET_TEST_POSTGRES_URL=postgres://postgres@127.0.0.1:$pg/postgres
else bin=; fi

if [ -z "${TERCET_TEST_KAFKA_BROKERS:-}" ]; then
  jars=$cache/kafka-4.3.1/libs
  if [ ! -e "$jars/kafka_2.13-4.3.1.jar" ]; then
    mkdir -p "$cache/kafka-4.3.1"; cp tools/kafka-pom.xml "$cache/kafka-4.3.1/pom.xml"
    (cd "$cache/kafka-4.3.1" && mvn -q -B dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=libs)
  fi
  broker=$(port); controller=$(port)
  cat > "$dir/server.properties" <<P
node.id=1
process.roles=broker,controller
listeners=PLAINTEXT://127.0.0.1:$broker,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$broker
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
controller.quorum.voters=1@127.0.0.1:$controller
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
log.dirs=$dir/kafka
P
  java -cp "$jars/*" kafka.tools.StorageTool format -t 5L6g3nShT-eMCtK--X86sw -c "$dir/server.properties" >/dev/null 2>&1
  java -Xms256m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$jars/*" kafka.Kafka "$dir/server.properties" >"$dir/kafka.log" 2>&1 </dev/null &
  kafka_pid=$!
  for _ in $(seq 120); do (exec 3<>"/dev/tcp/127.0.0.1/$broker") 2>/dev/null && break; sleep 0.5; done
  export TERCET_TEST_KAFKA_BROKERS=127.0.0.1:$broker
fi
"$@"
