//! What is missing on a machine. A folder of our own is the whole `PATH`, so that what is not put into it
//! is not installed; a program that is too old is a script that says so.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use tercet_testbed::kafka;

use super::asking::doctor;
use crate::world::{self, say};

/// A folder that goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(kafka::unique(name));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// A program that says this, on its error stream if it fails.
    fn program(&self, name: &str, script: &str) {
        let path = self.0.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn programs_are_missing() {
    world::run(async {
        let nothing = Folder::new("doctor-nothing");
        let empty = [
            ("PATH", nothing.path()),
            ("JAVA_HOME", ""),
            ("TERCET_CACHE", nothing.path()),
            ("TERCET_POSTGRES_BIN", nothing.path()),
        ];
        let answer = doctor(&["--for", "demo"], &empty).await;
        answer.assert(
            "PROBLEM",
            "Rust",
            &["rustc is not on the PATH", "rustup.rs"],
        );
        answer.assert("PROBLEM", "C compiler", &["cc is not on the PATH", "gcc"]);
        answer.assert("PROBLEM", "PostgreSQL's server", &["there is no initdb"]);
        answer.assert_problems(3);

        let answer = doctor(&["--for", "tests"], &empty).await;
        answer.assert("PROBLEM", "Java", &["17 or newer"]);
        answer.assert("PROBLEM", "Kafka's jars", &["Maven was not found"]);
        answer.assert_problems(2);

        let answer = doctor(&["--for", "compose"], &empty).await;
        answer.assert(
            "PROBLEM",
            "Docker",
            &["docker is not on the PATH", "make demo works without"],
        );
        assert_eq!(answer.exit, 1);

        // Nobody asked for Docker or for the tests: what they lack is worth a word, no more.
        let answer = doctor(&[], &empty).await;
        answer.assert("WARNING", "Docker", &[]);
        answer.assert("WARNING", "Java", &[]);
    });
}

#[test]
fn programs_are_too_old_or_do_not_answer() {
    world::run(async {
        let old = Folder::new("doctor-old");
        old.program("rustc", "echo 'rustc 1.70.0 (90c541806 2023-05-31)'");
        old.program("cc", "echo 'cc 12.2.0'");
        old.program("java", "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2");
        old.program(
            "docker",
            "if [ $1 = compose ]; then echo 1.29.2; else echo 'Cannot connect to the Docker daemon' >&2; exit 1; fi",
        );
        old.program("initdb", "");
        old.program("postgres", "echo 'postgres (PostgreSQL) 13.4'");
        let path = [
            ("PATH", old.path()),
            ("JAVA_HOME", ""),
            ("TERCET_POSTGRES_BIN", old.path()),
        ];
        let ways = ["--for", "demo", "--for", "tests", "--for", "compose"];
        let answer = doctor(&ways, &path).await;
        answer.assert("PROBLEM", "Rust", &["1.70.0", "rustup update"]);
        answer.assert("OK", "C compiler", &[]);
        answer.assert("PROBLEM", "PostgreSQL's server", &["13.4", "15 or newer"]);
        answer.assert("PROBLEM", "Java", &["11.0.2", "17 or newer"]);
        answer.assert(
            "PROBLEM",
            "Docker",
            &["Cannot connect to the Docker daemon", "start it"],
        );
        answer.assert(
            "PROBLEM",
            "Docker Compose",
            &["1.29.2 is too old", "2.20 or newer"],
        );
        assert_eq!(answer.exit, 1);
    });
}

#[test]
fn a_port_is_taken_and_by_whom() {
    world::run(async {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let address = format!("127.0.0.1:{port}");
        let places = [("ORDER_GRPC_ADDR", address.as_str())];
        let answer = doctor(&["--for", "compose"], &places).await;
        let by = format!("pid {}", std::process::id());
        let words = [by.as_str(), "order-service wants it", "ORDER_GRPC_ADDR"];
        answer.assert("PROBLEM", &format!("port {port}"), &words);
        assert_eq!(answer.exit, 1);
    });
}

#[test]
fn a_disk_is_full_or_nearly() {
    world::run(async {
        let folder = Folder::new("doctor-disk");
        let small = Mount::tmpfs(&folder.0, "2m");
        let name = format!("disk of {}", folder.path());
        let arguments = ["--for", "tests", "--folder", folder.path()];
        if small.is_some() {
            let answer = doctor(&arguments, &[]).await;
            answer.assert("PROBLEM", &name, &["MiB of 2 MiB are free", "make room"]);
            assert_eq!(answer.exit, 1);
        } else {
            say("doctor: no right to mount a small disk here: only the threshold is moved");
        }
        drop(small);
        let answer = doctor(
            &[&arguments[..], &["--disk-min-mib", "1000000000"]].concat(),
            &[],
        )
        .await;
        answer.assert("PROBLEM", &name, &["make room"]);
        let answer = doctor(&[&arguments[..], &["--disk-min-mib", "0"]].concat(), &[]).await;
        answer.assert("OK", &name, &[]);
    });
}

/// A small disk; unmounted when it is dropped.
struct Mount(PathBuf);

impl Mount {
    /// Nothing where we may not.
    fn tmpfs(folder: &Path, size: &str) -> Option<Self> {
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(folder)
            .status();
        mounted
            .is_ok_and(|status| status.success())
            .then(|| Self(folder.to_owned()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}
