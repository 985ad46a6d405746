// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Hearth
import Testing

/// What mobile clients do where `ConformanceFile.notApplicable` says that they differ in a request.
struct NotApplicableTests {
  @Test("An empty update is sent so that the backend checks that the document exists")
  func emptyUpdate() async throws {
    let datastore = RecordingDatastore()

    let error = try await datastore.record { try await $0.document("C/d").updateData([:]) }

    #expect(error == nil)
    let key = try #require(DocumentKey("C/d"))
    let update = Mutation(key: key, operation: .patch(Fields(), FieldMask([])), precondition: .exists(true))
    #expect(datastore.commits == [[update]])
  }

  @Test("Merged fields may overlap")
  func overlappingMergeFields() async throws {
    let datastore = RecordingDatastore()

    let error = try await datastore.record {
      try await $0.document("C/d").setData(["a": ["b": 1, "c": 2], "d": 3], mergeFields: ["a.b", "a", "a"])
    }

    #expect(error == nil)
    let key = try #require(DocumentKey("C/d"))
    let mask = FieldMask([FirestoreModel.FieldPath("a"), FirestoreModel.FieldPath(segments: ["a", "b"])])
    let fields: Fields = ["a": .map(["b": .integer(1), "c": .integer(2)])]
    #expect(datastore.commits == [[Mutation(key: key, operation: .patch(fields, mask))]])
  }
}
