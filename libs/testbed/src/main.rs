//! `testbed exec -- CMD…`: a command with a real PostgreSQL and a real Kafka around it.

use std::ffi::OsString;
use std::process::ExitCode;

use tercet_testbed::exec;

const USAGE: &str = "\
Runs a command with a real PostgreSQL and a real Kafka, ends what was started for it, and exits with
the command's code.

Usage: testbed exec -- COMMAND [ARGUMENT…]

The command finds them in its environment. One that is set already is used as it is:
  TERCET_TEST_POSTGRES_URL     a PostgreSQL server, as a superuser
  TERCET_TEST_KAFKA_BROKERS    host:port[,host:port…]
Others:
  TERCET_POSTGRES_BIN          the folder of initdb, where it is not found by itself
  TERCET_CACHE                 where Kafka's jars are kept [default: ~/.cache/tercet]
";
const WRONG_USAGE: u8 = 64;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map_while(|it| it.to_str()).collect();
    match words.as_slice() {
        ["exec", "--", _, ..] => {}
        ["--help" | "-h" | "help", ..] | ["exec", "--help" | "-h"] => {
            #[expect(clippy::print_stdout, reason = "what was asked for")]
            {
                print!("{USAGE}");
            }
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(WRONG_USAGE);
        }
    }
    let command = arguments.get(2..).unwrap_or_default();
    exec::run(command).await.unwrap_or_else(|error| {
        eprintln!("testbed: {error:#}");
        ExitCode::FAILURE
    })
}
