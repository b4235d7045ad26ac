use clap::{Arg, Command};

/// For each secret whose variable `X` is unset, takes the content of the file named by `X_FILE`.
/// Returns the files that could not be read.
#[expect(
    clippy::disallowed_methods,
    reason = "part of the one reader of the environment"
)]
pub(super) fn read_all(mut command: Command) -> (Command, Vec<String>) {
    let mut problems = Vec::new();
    let secrets: Vec<Arg> = command
        .get_arguments()
        .filter(|arg| arg.is_hide_env_values_set())
        .cloned()
        .collect();
    for secret in secrets {
        let Some(variable) = secret
            .get_env()
            .map(|name| name.to_string_lossy().into_owned())
        else {
            continue;
        };
        let file_variable = format!("{variable}_FILE");
        let Ok(path) = std::env::var(&file_variable) else {
            continue;
        };
        match std::fs::read_to_string(&path) {
            Ok(content) => {
                // As a default, so that the variable itself and the flag both go before it. clap
                // wants defaults to live as long as the program; settings are parsed once.
                let value: &'static str = content.trim_end_matches(['\r', '\n']).to_owned().leak();
                command = command.mut_arg(secret.get_id().clone(), |arg| {
                    arg.default_value(value)
                        .hide_default_value(true)
                        .required(false)
                });
            }
            Err(error) => problems.push(format!("{file_variable}: cannot read {path}: {error}")),
        }
    }
    (command, problems)
}
