import ArgumentParser

/// Chooses between text for people and JSON for programs.
struct JSONFlag: ParsableArguments {
    @Flag(help: "Print JSON, one object a line.")
    var json = false
}
