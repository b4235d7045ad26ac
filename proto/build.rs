//! Compiles the `.proto` files with protox (no protoc needed): messages and services by prost and
//! tonic, ProtoJSON by pbjson, and the descriptor set that reflection serves.

use std::{env, error::Error, fs, path::PathBuf};

use prost::Message;

const PROTOS: &[&str] = &[
    "tercet/order/v1/order_service.proto",
    "tercet/payment/v1/payment_service.proto",
    "tercet/inventory/v1/inventory_service.proto",
    "tercet/saga/v1/saga_admin.proto",
    "tercet/saga/v1/command.proto",
    "tercet/events/v1/order_events.proto",
    "tercet/events/v1/inventory_events.proto",
    "tercet/events/v1/payment_events.proto",
    "tercet/events/v1/discarded_event.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=tercet");
    println!("cargo:rerun-if-changed=google");

    let files = protox::compile(PROTOS, ["."])?;
    let descriptors = files.encode_to_vec();
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    fs::write(out.join("tercet.binpb"), &descriptors)?;

    let mut prost = tonic_prost_build::Config::new();
    prost
        .enable_type_names()
        .compile_well_known_types()
        // Our own Timestamp renders RFC 3339 with `Z`; pbjson-types writes `+00:00`.
        .extern_path(".google.protobuf.Timestamp", "crate::wkt::Timestamp")
        .extern_path(".google.protobuf", "::pbjson_types");
    tonic_prost_build::configure().compile_fds_with_config(files, prost)?;

    pbjson_build::Builder::new()
        .register_descriptors(&descriptors)?
        .extern_path(".google.protobuf.Timestamp", "crate::wkt::Timestamp")
        .extern_path(".google.protobuf", "::pbjson_types")
        .ignore_unknown_fields()
        .ignore_unknown_enum_variants()
        .build(&[".tercet.events"])?;
    Ok(())
}
