import ArgumentParser
import CacheWire
import Testing

@testable import cached

/// The settings about memory pressure.
@Suite("Pressure settings", .timeLimit(.minutes(5)))
struct PressureSettingsTests {
    private func resolve(
        _ arguments: [String] = [], _ environment: [String: String] = [:]
    ) async throws -> PressureSettings {
        let environment = environment.merging(["HOME": "/h"]) { $1 }
        return try Settings.resolve(DaemonOptions.parse(arguments), environment).pressure
    }

    @Test func unsetSettingsHaveTheirDefaults() async throws {
        let pressure = try await resolve()
        #expect(pressure.triggers == [.warning, .critical])
        #expect(pressure.coolDown == .seconds(10))
        #expect(pressure.keptShare(at: .warning) == 0.75)
        #expect(pressure.keptShare(at: .critical) == 0.5)
        #expect(pressure.evicts == .auto)
    }

    @Test func theEnvironmentCanSetAllOfThem() async throws {
        let pressure = try await resolve(
            [],
            [
                "CACHED_PRESSURE_WARNING": "some 100000 1000000",
                "CACHED_PRESSURE_CRITICAL": "some 1000000 4000000",
                "CACHED_PRESSURE_WARNING_KEEP": "90%",
                "CACHED_PRESSURE_CRITICAL_KEEP": "10%",
                "CACHED_PRESSURE_COOL_DOWN": "500ms", "CACHED_PRESSURE_EVICTS": "never",
            ])
        let warning = PressureTrigger(
            level: .warning, kind: .some, stall: .milliseconds(100), window: .seconds(1))
        let critical = PressureTrigger(
            level: .critical, kind: .some, stall: .seconds(1), window: .seconds(4))
        #expect(pressure.triggers == [warning, critical])
        #expect(pressure.keptShare(at: .warning) == 0.9)
        #expect(pressure.keptShare(at: .critical) == 0.1)
        #expect(pressure.evicts == .never)
        #expect(pressure.coolDown == .milliseconds(500))
    }

    @Test func optionsOverrideTheEnvironment() async throws {
        let pressure = try await resolve(
            [
                "--pressure-warning", "full 300000 2000000",
                "--pressure-critical", "full 600000 2000000",
                "--pressure-warning-keep", "80%", "--pressure-critical-keep", "0%",
                "--pressure-cool-down", "1min", "--pressure-evicts", "always",
            ],
            [
                "CACHED_PRESSURE_WARNING": "some 100000 1000000",
                "CACHED_PRESSURE_CRITICAL_KEEP": "10%", "CACHED_PRESSURE_COOL_DOWN": "500ms",
                "CACHED_PRESSURE_EVICTS": "never",
            ])
        #expect(pressure.triggers.map(\.kind) == [.full, .full])
        #expect(pressure.triggers.map(\.level) == [.warning, .critical])
        #expect(pressure.warningKeep == 0.8)
        #expect(pressure.criticalKeep == 0)
        #expect(pressure.coolDown == .seconds(60))
        #expect(pressure.evicts == .always)
    }

    @Test(arguments: [
        ("CACHED_PRESSURE_WARNING", "200000 2000000"),
        ("CACHED_PRESSURE_WARNING", "some 200000 499999"),
        ("CACHED_PRESSURE_CRITICAL", "full 200000 10000001"),
        ("CACHED_PRESSURE_CRITICAL", "full 3000000 2000000"),
        ("CACHED_PRESSURE_WARNING_KEEP", "0.75"), ("CACHED_PRESSURE_CRITICAL_KEEP", "101%"),
        ("CACHED_PRESSURE_COOL_DOWN", "10"), ("CACHED_PRESSURE_COOL_DOWN", "25h"),
        ("CACHED_PRESSURE_EVICTS", "yes"),
    ])
    func aWrongValueIsAnErrorThatNamesItsVariable(name: String, value: String) async throws {
        let failure = try #require(
            await #expect(throws: StartFailure.self) { _ = try await resolve([], [name: value]) })
        #expect(failure.exitCode == .configuration)
        #expect(failure.message.hasPrefix("\(name) in the environment is \"\(value)\", not "))
    }

    @Test func aDayIsTheLongestCoolDown() async throws {
        let pressure = try await resolve(["--pressure-cool-down", "24h"])
        #expect(pressure.coolDown == .seconds(86_400))
    }
}
