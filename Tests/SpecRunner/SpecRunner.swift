// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreSpec
import Foundation

/// Runs Firestore's spec tests against the sync core: real store and aggregator, scripted transport and clock.
@main
struct SpecRunner: ParsableCommand {
  enum Storage: String, ExpressibleByArgument, CaseIterable { case memory, durable, both }

  static let configuration = CommandConfiguration(
    commandName: "hearth-spec",
    abstract: "Run Firestore spec-test JSON against the sync core.",
    discussion: "Exits with 1 if a test failed and with 65 for a file that cannot be understood.")

  @Argument(help: "The directory with the *_spec_test.json files.")
  var directory: String

  @Option(help: "Where the client keeps its cache: memory, durable or both.")
  var storage = Storage.both

  @Option(help: "Only tests whose file or name contains this text.")
  var filter: String?

  @Flag(help: "Only list the tests.")
  var list = false

  func run() throws {
    let suite: SpecSuite
    do throws(SpecFormatError) {
      suite = try SpecSuite(directory: directory)
    } catch {
      FileHandle.standardError.write(Data("hearth-spec: \(error)\n".utf8))
      throw ExitCode(65)
    }
    let storages: [SpecStorage] =
      switch storage {
      case .memory: [.memory]
      case .durable: [.durable]
      case .both: [.memory, .durable]
      }
    if list {
      for test in suite.tests where test.matches(filter) {
        let reasons = storages.compactMap { storage in
          test.reasonToSkip(on: storage).map { " (\(storage.rawValue): \($0))" }
        }
        print("\(test.file): \(test.name)\(reasons.joined())")
      }
      return
    }
    let report = suite.run(on: storages, filter: filter) { print($0) }
    print(report.summary)
    if report.failed > 0 { throw ExitCode(1) }
  }
}
