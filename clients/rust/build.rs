//! Finds libcached: in `$LIBCACHED`, by pkg-config, or else where the linker looks.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=LIBCACHED");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rustc-link-lib=dylib=cached");
    if let Ok(directory) = std::env::var("LIBCACHED") {
        println!("cargo:rustc-link-search=native={directory}");
        return;
    }
    let output = Command::new("pkg-config").args(["--libs-only-L", "cached"]).output();
    let words = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    for directory in words.split_whitespace().filter_map(|word| word.strip_prefix("-L")) {
        println!("cargo:rustc-link-search=native={directory}");
    }
}
