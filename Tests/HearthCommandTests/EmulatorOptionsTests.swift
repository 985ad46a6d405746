// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import Synchronization
import Testing

@testable import DashboardHost
@testable import HearthCommand

@Suite("Options of Google's emulator")
struct EmulatorOptionsTests {
  private func options(_ arguments: String...) throws -> EmulatorOptions { try EmulatorOptions.parse(arguments) }

  @Test(
    "An emulator address is a host and a port",
    arguments: [
      ("localhost:9000", "localhost", 9000), ("[::1]:8080", "::1", 8080), (":0", "127.0.0.1", 0),
      ("0.0.0.0:65535", "0.0.0.0", 65_535),
    ])
  func address(text: String, host: String, port: Int) throws {
    for name in ["--host-port", "--host_port"] {
      let address = try #require(try options(name, text).address())
      #expect(address == (host, port))
    }
  }

  @Test(
    "An invalid emulator address is rejected",
    arguments: ["8080", "localhost", "h:", "h:x", "h:65536", "h:-1", "h:٣", ""])
  func badAddress(text: String) {
    #expect(throws: (any Error).self) { try options("--host-port", text) }
  }

  @Test("Command lines that other tools use for Google's emulator are accepted")
  func tools() throws {
    let options = try options(
      "--websocket_port", "9150", "--project_id", "demo", "--single_project_mode", "--functions_emulator",
      "127.0.0.1:5001", "--seed_from_export", "seed", "--export_on_exit", "left", "--webchannel_port", "8081",
      "--database-mode", "firestore-native", "--database-edition", "standard", "--export-name", "e")

    #expect(options.importData == "seed" && options.exportOnExit == "left" && options.projectID == "demo")
    #expect(options.remarks.count == 4)
    #expect(options.remarks.allSatisfy { $0.contains("has no effect") })
    #expect(try self.options().remarks.isEmpty)
  }

  @Test(
    "Emulator options that would have no effect are rejected",
    arguments: [
      ["true"], ["--single_project_mode", "--project-id", "p", "false"], ["--single_project_mode"],
      ["--database-mode", "datastore-mode"], ["--export-name", "e"], ["--export-on-exit", "x", "--export-name", "a/b"],
      ["--export-on-exit", ""], ["--project-id", ""], ["--project-id", "a/b"],
      ["--project-id", "a b"],
    ])
  func refused(arguments: [String]) {
    #expect(throws: (any Error).self) { try EmulatorOptions.parse(arguments) }
  }

  @Test(
    "Two listening addresses are rejected", arguments: [["--port", "1"], ["--host", "h"], ["--port", "8080"]])
  func twoPlaces(arguments: [String]) throws {
    #expect(throws: (any Error).self) { try ServeCommand.parse(["--host-port", "h:1"] + arguments) }
    _ = try ServeCommand.parse(arguments)
  }

  @Test("Requests for another project are rejected or reported")
  func projects() throws {
    let remarks = Mutex<[String]>([])
    func objection(_ arguments: String..., to project: String) throws -> RPCStatus? {
      try EmulatorOptions.parse(["--project-id", "p"] + arguments).objection { text in
        remarks.withLock { $0.append(text) }
      }(DatabaseID(project: project))
    }

    #expect(try objection(to: "q") == nil)
    #expect(try objection("--single_project_mode_error", to: "p") == nil)
    #expect(remarks.withLock { $0 }.isEmpty)
    #expect(try objection("--single_project_mode_error", to: "q")?.code == .invalidArgument)
    #expect(try objection("--single_project_mode", to: "q") == nil)
    #expect(remarks.withLock { $0 }.count == 1)
  }
}
