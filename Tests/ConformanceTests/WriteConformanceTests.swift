// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreTesting
import Hearth
import Testing

/// What the writing calls send. A mobile client gives no preconditions but `exists: true` with an update: there is no
/// `create`, which is compared as the `setData` without its precondition that it is, and an update time is left out.
@Suite(.enabled(if: SpecFiles.areThere(for: "the conformance of writes")))
struct WriteConformanceTests {
  @Test(
    "setData sends the same write as create, except for the precondition",
    arguments: ConformanceFile.applicable(.create))
  func create(_ file: ConformanceFile) async throws {
    try await check(file) { document in
      try await document.setData(try UserData.dictionary(file.test["jsonData"]?.string))
    } expecting: { mutation in
      #expect(mutation.precondition == .exists(false))
      mutation.precondition = .none
    }
  }

  @Test("setData replaces the document or merges fields", arguments: ConformanceFile.applicable(.set))
  func set(_ file: ConformanceFile) async throws {
    try await check(file) { document in
      let data = try UserData.dictionary(file.test["jsonData"]?.string)
      switch file.test["option"] {
      case nil: try await document.setData(data)
      case let option? where option["all"]?.boolean == true: try await document.setData(data, merge: true)
      case let option?:
        try await document.setData(data, mergeFields: try option.list("fields").map { try FieldPath(spec: $0) })
      }
    }
  }

  @Test("updateData parses dotted keys as paths", arguments: ConformanceFile.applicable(.update))
  func update(_ file: ConformanceFile) async throws {
    try await check(file) { document in
      try await document.updateData(try UserData.dictionary(file.test["jsonData"]?.string))
    } expecting: { mutation in
      if case .updateTime = mutation.precondition { mutation.precondition = .exists(true) }
    }
  }

  @Test("updateData uses FieldPath keys unchanged", arguments: ConformanceFile.applicable(.updatePaths))
  func updatePaths(_ file: ConformanceFile) async throws {
    try await check(file) { document in
      var data: [AnyHashable: Any] = [:]
      for (json, value) in zip(file.test.list("fieldPaths"), file.test.list("jsonValues")) {
        let path = try FieldPath(spec: json)
        // A dictionary holds the same path twice only in the two spellings of a key.
        let key: AnyHashable = data[path] == nil ? path : try #require(json.list("field").first?.string)
        data[key] = try UserData.value(value.string)
      }
      try #require(data.count == file.test.list("fieldPaths").count)
      try await document.updateData(data)
    }
  }

  @Test("delete sends the document's name", arguments: ConformanceFile.applicable(.delete))
  func delete(_ file: ConformanceFile) async throws {
    try await check(file) { document in
      try await document.delete()
    } expecting: { mutation in
      mutation.precondition = .none
    }
  }

  private func check(
    _ file: ConformanceFile, _ call: nonisolated(nonsending) (DocumentReference) async throws -> Void,
    expecting adapt: (inout Mutation) -> Void = { _ in }
  ) async throws {
    let datastore = RecordingDatastore()
    let key = try DocumentKey(specName: file.test["docRefPath"])

    let error = try await datastore.record { try await call($0.document(key.path.text)) }

    if file.isError {
      expectRefusal(error)
      #expect(datastore.commits.isEmpty)
      return
    }
    #expect(error == nil)
    let request = try #require(file.test["request"])
    #expect(request["database"]?.string == specDatabase.name)
    let published = try request.list("writes").map(Mutation.init(spec:))
    var expected = published
    for index in expected.indices { adapt(&expected[index]) }
    #expect((expected != published) == (ConformanceFile.adapted[file.name] != nil), "what is adapted is named")
    #expect(datastore.commits.map { $0.map(\.withSortedTransforms) } == [expected])
  }
}

extension Mutation {
  /// Transforms of different fields have no order of their own; the files sort them.
  fileprivate var withSortedTransforms: Mutation {
    var sorted = self
    sorted.transforms.sort { $0.path < $1.path }
    return sorted
  }
}
