// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreTesting
import Testing

/// One file of googleapis' conformance tests: what a call must send, or which snapshots a stream must give.
struct ConformanceFile: Sendable, CustomTestStringConvertible {
  enum Kind: String, CaseIterable, Sendable { case create, set, update, updatePaths, delete, get, query, listen }

  var name: String
  var kind: Kind
  /// What stands under the kind.
  var test: JSONSyntax

  var testDescription: String { name }
  /// Whether the call must fail and send nothing.
  var isError: Bool { test["isError"]?.boolean ?? false }

  /// All files, or the error that reading them met.
  static let all = Result { try SpecFiles.names(in: "conformance").map(ConformanceFile.init(reading:)) }

  /// The files of a kind that apply to a mobile client.
  static func applicable(_ kind: Kind) -> [ConformanceFile] {
    ((try? all.get()) ?? []).filter { $0.kind == kind && notApplicable[$0.name] == nil }
  }

  private init(reading name: String) throws {
    let file = try SpecFiles.json(name, in: "conformance")
    let test = try #require(file["tests"]?.elements?.first, "\(name) has no test")
    let kind = try #require(Kind.allCases.first { test[$0.rawValue] != nil }, "\(name) is of an unknown kind")
    self.name = name
    self.kind = kind
    self.test = try #require(test[kind.rawValue])
  }
}

extension ConformanceFile {
  /// Files about what only the libraries for servers do.
  static let notApplicable: [String: String] = [
    "listen-target-add-wrong-id": "a message about a target that is not watched is ignored (PROTOCOL §2.3)",
    "query-invalid-operator": "each operator is a method, so that a wrong one does not compile",
    "query-select": "there is no select: documents come whole",
    "query-select-empty": "there is no select: documents come whole",
    "query-select-last-wins": "there is no select: documents come whole",
    "set-merge-prefix": "the mobile SDKs allow merged fields that contain one another",
    "update-exists-false-precond": "updateData takes no precondition",
    "update-no-paths": "the mobile SDKs send an empty update, which checks that the document exists",
    "update-paths-exists-false-precond": "updateData takes no precondition",
    "update-paths-no-paths": "the mobile SDKs send an empty update, which checks that the document exists",
  ]

  /// Files that apply but for one thing, which is left out of the comparison.
  static let adapted: [String: String] = {
    let creates = [
      "create-arrayremove", "create-arrayremove-multi", "create-arrayremove-nested", "create-arrayunion",
      "create-arrayunion-multi", "create-basic", "create-complex", "create-nosplit", "create-special-chars",
      "create-st",
      "create-st-alone", "create-st-multi", "create-st-with-empty-map",
    ]
    var adapted = Dictionary(
      uniqueKeysWithValues: creates.map { ($0, "there is no create: setData sends it without the precondition") })
    adapted["update-uptime"] = "updateData takes no update time: it asks that the document exists"
    adapted["delete-time-precond"] = "delete takes no update time"
    adapted["query-offset-limit"] = "there is no offset: the rest of the query is compared"
    adapted["query-offset-limit-last-wins"] = "there is no offset: the rest of the query is compared"
    return adapted
  }()
}
