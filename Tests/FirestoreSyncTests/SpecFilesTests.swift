// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import Testing

@Suite struct SpecFilesTests {
  @Test("HEARTH_SPEC has priority over specification data next to the clone")
  func named() throws {
    try withClone { clone, _ in
      let found = SpecFiles.find(environment: ["HEARTH_SPEC": "/elsewhere"], above: clone)
      #expect(found?.path == "/elsewhere")
    }
  }

  @Test(
    "The specification data is found next to the clone from any file in it",
    arguments: [[String: String](), ["HEARTH_SPEC": ""]])
  func beside(environment: [String: String]) throws {
    try withClone { clone, specs in
      let file = clone.appendingPathComponent("Tests/Deep/File.swift")
      #expect(SpecFiles.find(environment: environment, above: file)?.path == specs.path)
      try FileManager.default.removeItem(at: specs)
      #expect(SpecFiles.find(environment: environment, above: file)?.path != specs.path)
    }
  }

  @Test("Missing specification data is reported with the skipped tests")
  func notice() {
    let notice = SpecFiles.notice(for: "ordered code", isRequired: false)
    #expect(notice.contains("ordered code is not tested") && notice.contains("HEARTH_SPEC"))
    #expect(SpecFiles.notice(for: "ordered code", isRequired: true).contains("ordered code fails"))
  }

  private func withClone(_ body: (_ clone: URL, _ specs: URL) throws -> Void) throws {
    let root = TemporaryFolder()
    let specs = URL(filePath: root("shared/spec"))
    try FileManager.default.createDirectory(at: specs, withIntermediateDirectories: true)
    try body(URL(filePath: root("clone")), specs)
  }
}
