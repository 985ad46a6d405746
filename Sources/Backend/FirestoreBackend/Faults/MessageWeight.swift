// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// The sizes of messages between a client and its backend, as google.firestore.v1 writes them, with the five bytes in
/// front of each. Names are those of a database `(default)` in a project `project`.
enum MessageWeight {
  private static let database = DatabaseID(project: "project")
  private static let names = DocumentNames(database)
  private static let front = 5

  static func bytes(_ request: WatchRequest) -> Int {
    front + WireWriter.message { $0.watchRequest(request, in: database) }.count
  }

  static func bytes(_ changes: [WatchChange]) -> Int {
    changes.reduce(0) { sum, change in sum + front + WireWriter.message { $0.watchChange(change, names) }.count }
  }

  static func bytes(_ mutations: [Mutation]) -> Int {
    front + WireWriter.message { $0.commitRequest(mutations, in: database) }.count
  }

  /// The size of a response to a write: a time for all of them, and one for each.
  static func bytes(_ response: CommitResponse) -> Int { front + 16 + 16 * response.results.count }

  static func bytes(_ documents: [Document]) -> Int {
    documents.reduce(0) { sum, document in sum + front + WireWriter.message { $0.document(document, names) }.count }
  }

  /// The size of an answer to a read: documents and names as they are written, of others what they consist of.
  static func bytes(ofAnswer answer: Any) -> Int {
    switch answer {
    case let documents as [Document]: bytes(documents)
    case let keys as [DocumentKey]: keys.reduce(front) { $0 + $1.path.text.utf8.count }
    case let names as [String]: names.reduce(front) { $0 + 2 + $1.utf8.count }
    case let pipeline as PipelineResponse:
      front + WireWriter.message { $0.executePipelineResponse(pipeline, names) }.count
    default: front
    }
  }
}
