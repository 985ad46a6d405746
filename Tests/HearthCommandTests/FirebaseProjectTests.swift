// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import FirestoreTesting
import Foundation
import Testing

@testable import HearthCommand

@Suite("firebase.json and the Firebase CLI's arguments")
struct FirebaseProjectTests {
  private let folder = TemporaryFolder()

  init() throws { try folder.make() }

  private func write(_ text: String, _ name: String = "firebase.json") throws {
    try text.write(toFile: "\(folder.path)/\(name)", atomically: true, encoding: .utf8)
  }

  private func project(_ text: String) throws -> FirebaseProject {
    try write(text)
    return try #require(try FirebaseProject.read("\(folder.path)/firebase.json"))
  }

  @Test("Rules, indexes and address are read from firebase.json, with relative paths")
  func whole() throws {
    let project = try project(
      """
      {"$schema": "x", "firestore": {"rules": "firestore.rules", "indexes": "/etc/i.json", "location": "eur3"},
       "storage": {"rules": "s.rules"}, "functions": [],
       "emulators": {"firestore": {"host": "0.0.0.0", "port": 9000, "websocketPort": 1}, "auth": {}, "functions": {},
                     "hub": {}, "singleProjectMode": true}}
      """)
    #expect(project.databases.map(\.rules) == ["\(folder.path)/firestore.rules"])
    #expect(project.databases.map(\.indexes) == ["/etc/i.json"])
    #expect(project.host == "0.0.0.0" && project.port == 9_000)
    #expect(project.others == ["storage", "functions", "auth"])
  }

  @Test("Each listed database has its own rules; a single entry's rules apply to all")
  func databases() throws {
    let several = try project(
      #"{"firestore": [{"database": "(default)", "rules": "a.rules"}, {"database": "logs", "rules": "b.rules"}]}"#)
    var options = try ServeOptions.parse([])
    try options.complete(from: several)
    #expect(options.access.rules == nil && options.access.hasRules)
    #expect(options.access.databaseRules == ["(default)": "\(folder.path)/a.rules", "logs": "\(folder.path)/b.rules"])

    options = try ServeOptions.parse([])
    try options.complete(from: try project(#"{"firestore": {"rules": "a.rules"}}"#))
    #expect(options.access.rules == "\(folder.path)/a.rules" && options.access.databaseRules.isEmpty)
  }

  @Test("Transactions are optimistic unless --concurrency is pessimistic")
  func concurrency() throws {
    let usual = try ServeOptions.parse([]).access
    #expect(usual.concurrency == .optimistic && usual.enforced == nil)
    let locking = try ServeOptions.parse(["--concurrency", "pessimistic"]).access
    #expect(locking.concurrency == .pessimistic && locking.enforced == "--concurrency pessimistic")
    #expect(throws: (any Error).self) { try ServeOptions.parse(["--concurrency", "locking"]) }
  }

  @Test("Options on the command line override firebase.json")
  func options() throws {
    let project = try project(
      #"{"firestore": {"rules": "a.rules"}, "emulators": {"firestore": {"host": "::1", "port": 9000}}}"#)
    var options = try ServeOptions.parse(["--rules", "mine.rules", "--port", "1"])
    try options.complete(from: project)
    #expect(options.access.rules == "mine.rules" && options.port == 1 && options.host == "::1")
    options = try ServeOptions.parse(["--open", "--host-port", "h:2"])
    try options.complete(from: project)
    #expect(!options.access.hasRules && options.port == nil && options.host == nil)
  }

  @Test("Aliases in .firebaserc are resolved, and its default project is used")
  func aliases() throws {
    try write(#"{"projects": {"default": "demo-a", "live": "app-1"}}"#, ".firebaserc")
    let project = try project("{}")
    #expect(project.project(nil) == "demo-a" && project.project("live") == "app-1")
    #expect(project.project("other") == "other")
  }

  @Test("A bare --require-indexes uses the index file of firebase.json, or fails")
  func indexes() throws {
    var options = try ServeOptions.parse(["--require-indexes", "firebase.json"])
    try options.complete(from: try project(#"{"firestore": {"indexes": "i.json"}}"#))
    #expect(options.access.requireIndexes == "\(folder.path)/i.json")
    options = try ServeOptions.parse(["--require-indexes", "firebase.json"])
    let failure = #expect(throws: CommandFailure.self) { try options.complete(from: nil) }
    #expect(failure?.message.contains("firebase.json") == true)
  }

  @Test(
    "An invalid firebase.json is reported with line and column",
    arguments: [
      (#"{"firestore": 1}"#, ":1:15: \"firestore\" must be an object"),
      (#"{"emulators": {"firestore": {"port": "x"}}}"#, "\"port\" must be a number"),
      (#"{"emulators": {"firestore": {"port": 65536}}}"#, "\"port\" must be a number"),
      ("[]", ":1:1: The file must be an object"), ("{\n//\n oops}", ":3:2: "),
    ])
  func invalid(_ text: String, _ reason: String) throws {
    try write(text)
    let failure = #expect(throws: CommandFailure.self) { try FirebaseProject("\(folder.path)/firebase.json") }
    #expect(failure?.status == .badData && failure?.message.contains(reason) == true, "\(failure?.message ?? "")")
  }

  @Test("A missing --config file is an error, a directory without firebase.json is not")
  func absent() throws {
    #expect(throws: CommandFailure.self) { try FirebaseProject.read("\(folder.path)/none.json") }
    #expect(try FirebaseProject.read(nil) == nil)
  }

  // MARK: Arguments

  @Test(
    "The Firebase CLI's arguments are translated to Hearth's",
    arguments: [
      ("serve --only firestore --project p", "serve --project p"),
      ("serve --only=firestore,auth", "serve"),
      (
        "exec --import=seed --export-on-exit=out -- x --import",
        "exec --import-data=seed --export-on-exit=out -- x --import"
      ),
      ("exec --import-data seed --export-on-exit -- x", "exec --import-data seed --export-on-exit=seed -- x"),
      ("exec --import seed --export-on-exit --only firestore", "exec --import-data=seed --export-on-exit=seed"),
      ("serve --single_project_mode true --project-id p", "serve --single_project_mode --project-id p"),
      ("serve --single_project_mode_error=true --port 1", "serve --single_project_mode_error --port 1"),
      ("serve --require-indexes --port 1", "serve --require-indexes=firebase.json --port 1"),
      ("serve --require-indexes i.json", "serve --require-indexes=i.json"),
      ("serve --log-verbosity DEBUG", "serve"),
      ("serve --port 0 stray", "serve --port 0 stray"),
    ])
  func arguments(_ given: String, _ expected: String) throws {
    // The folder of the import exists.
    let names = { (text: String) in text.replacing("seed", with: folder.path).split(separator: " ").map(String.init) }
    #expect(try EmulatorArguments(names(given))?.words == names(expected))
  }

  @Test("Each translated argument is reported once, and other commands are unchanged")
  func remarks() throws {
    let translated = try #require(
      try EmulatorArguments(["exec", "--import", "/nowhere", "--export-on-exit", "--only", "firestore,auth", "--", "x"])
    )
    #expect(translated.words == ["exec", "--export-on-exit=/nowhere", "--", "x"])
    #expect(
      translated.remarks == [
        "--import is read as --import-data.", "Hearth serves only Firestore. --only also names auth.",
        "/nowhere does not exist yet. Nothing is imported.",
      ])
    #expect(try EmulatorArguments(["get", "--only", "x"]) == nil)
    #expect(try EmulatorArguments(["serve", "--port", "1"])?.remarks == [])
  }

  @Test(
    "Firebase CLI arguments without a folder or without Firestore are rejected",
    arguments: [["exec", "--export-on-exit", "--", "x"], ["serve", "--only", "auth"], ["serve", "--import"]])
  func rejected(_ arguments: [String]) { #expect(throws: CommandFailure.self) { try EmulatorArguments(arguments) } }
}
