// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreRemote
import FirestoreWire
import SwiftProtobuf
import Testing

@Suite("Conversion between the model and the messages")
struct ConversionTests {
  @Test(
    "A document is the same after going over the wire, with every type of value and names that only differ in bytes")
  func document() throws {
    let message = try #require(Samples.document.message(in: Samples.database))
    let received = try Wire.Document(serializedBytes: message.serializedBytes() as [UInt8])
    let document = try Document(received, in: Samples.database)
    #expect(document == Samples.document)
    #expect(document.createTime == Samples.document.createTime)
    #expect(document.data?.fields.count == Samples.fields.count)
  }

  @Test("Every kind of write is the same after going over the wire", arguments: Samples.mutations)
  func mutation(_ mutation: Mutation) throws {
    let bytes: [UInt8] = try mutation.message(in: Samples.database).serializedBytes()
    #expect(try Mutation(Wire.Write(serializedBytes: bytes), in: Samples.database) == mutation)
  }

  @Test("A write that holds nothing but transforms leaves the rest of the document alone")
  func transformOnly() throws {
    let message = Wire.Write.with { write in
      write.transform.document = Samples.database.name(of: Samples.key)
      write.transform.fieldTransforms = [.with { ($0.fieldPath, $0.setToServerValue) = ("t", .requestTime) }]
    }
    let mutation = try Mutation(message, in: Samples.database)
    #expect(mutation.operation == .patch(Fields(), FieldMask([])))
    #expect(mutation.transforms == [FieldTransform(path: FieldPath("t"), operation: .serverTimestamp)])
  }

  @Test("Every query asks the same after going over the wire", arguments: Samples.queries)
  func query(_ query: Query) throws {
    let target = WatchTarget(
      id: TargetID(2), target: query.target, purpose: .limboResolution,
      resume: .readTime(Samples.version), expectedCount: 12)
    let bytes: [UInt8] = try WatchRequest.add(target).message(in: Samples.database).serializedBytes()
    guard case .add(let received) = try WatchRequest(.init(serializedBytes: bytes), in: Samples.database) else {
      Issue.record("not an addition")
      return
    }
    #expect(received.target == query.target)
    #expect(received.id == target.id)
    #expect(received.purpose == .limboResolution)
    #expect(received.resume == target.resume)
    #expect(received.expectedCount == 12)
  }

  @Test("A document target names its document")
  func documentTarget() throws {
    let query = Query(path: Samples.key.path)
    let request = WatchRequest.add(WatchTarget(id: TargetID(1), target: query.target))
    let message = request.message(in: Samples.database)
    #expect(message.addTarget.documents.documents == [Samples.database.name(of: Samples.key)])
    guard case .add(let received) = try WatchRequest(message, in: Samples.database) else {
      Issue.record("not an addition")
      return
    }
    #expect(received.target == query.target)
  }

  @Test("Labels name a write request for ever")
  func requestID() throws {
    let id = WriteRequestID(clientID: [0, 15, 255], batchID: BatchID(42))
    #expect(id.label == "000fff-42")
    #expect(WriteRequestID(label: id.label) == id)
    for label in ["", "-", "0-1", "zz-1", "00-x", "00-1-2"] { #expect(WriteRequestID(label: label) == nil) }
  }

  @Test("A name outside the database, or of something else than a document, is refused and named")
  func names() throws {
    for name in [
      "", "projects/p", "projects/q/databases/(default)/documents/a/b", "projects/p/databases/(default)/a/b",
    ] {
      #expect(throws: ModelError.self) { try DocumentKey(name: name, in: Samples.database) }
    }
    let collection = "projects/p/databases/(default)/documents/cities"
    let error = #expect(throws: ModelError.self) { try DocumentKey(name: collection, in: Samples.database) }
    #expect(error?.message.contains(collection) == true)
    #expect(try ResourceName("projects/p/databases/d").path == .root)
    #expect(try ResourceName("projects/p/databases/d/documents").text == "projects/p/databases/d/documents")
  }

  @Test("Values and filters without a type, and kinds of pipelines, are invalid arguments")
  func nonsense() throws {
    #expect(throws: ModelError.self) { try Value(Wire.Value()) }
    #expect(throws: ModelError.self) { try Value(.with { $0.fieldReferenceValue = "a" }) }
    #expect(throws: ModelError.self) { try Value(.with { $0.referenceValue = "a/b" }) }
    #expect(throws: ModelError.self) { try Value(.with { $0.timestampValue.nanos = -1 }) }
    #expect(throws: ModelError.self) { try Filter(Wire.StructuredQuery.Filter()) }
    #expect(throws: ModelError.self) { try Mutation(Wire.Write(), in: Samples.database) }
    #expect(throws: ModelError.self) { try WatchRequest(Wire.ListenRequest(), in: Samples.database) }
    #expect(throws: ModelError.self) { try Query(Wire.StructuredQuery(), parent: .root) }
  }

  @Test("Every code survives as a status message and as the end of a call", arguments: StatusCode.allCases)
  func codes(_ code: StatusCode) {
    let status = RPCStatus(code, "why")
    if code == .ok {
      #expect(RPCStatus(status.wireStatus) == nil)
    } else {
      #expect(RPCStatus(status.wireStatus) == status)
      #expect(RPCStatus(status.rpcError) == status)
    }
  }
}
