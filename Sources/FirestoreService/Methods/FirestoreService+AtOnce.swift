// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
package import FirestoreModel

/// Requests that one step of the backend answers: reads of a few documents as they are now, commits without a
/// transaction. Whoever runs where the backend runs is spared a task, and the changes of thread that go with it.
extension FirestoreService {
  /// What reads more than this goes the asynchronous way, which is sliced and waits for a slow client.
  private static let mostKeys = 20

  /// A method of which some requests can be answered at once.
  package enum PromptMethod: String, Sendable, CaseIterable {
    case getDocument = "GetDocument"
    case batchGetDocuments = "BatchGetDocuments"
    case commit = "Commit"
  }

  /// Answers a request in one step. Call it on the backend's executor.
  /// - Returns: the response's messages; `nil` if the request has to go the asynchronous way.
  package func answerAtOnce(_ method: PromptMethod, _ request: [UInt8]) throws(RPCStatus) -> [[UInt8]]? {
    switch method {
    case .getDocument:
      let request = try GetDocumentRequest(request)
      guard case .latest = request.consistency else { return nil }
      let (documents, _) = try read([request.key], in: request.database)
      return [try request.response(documents[0])]
    case .batchGetDocuments:
      let request = try BatchGetRequest(request)
      guard case .latest = request.consistency, request.keys.count <= Self.mostKeys else { return nil }
      let (documents, readTime) = try read(request.keys, in: request.database)
      return request.responses(documents, readTime)
    case .commit:
      let request = try CommitRequest(request)
      guard request.transaction.isEmpty else { return nil }
      let outcome = try backend.step { backend throws(RPCStatus) in
        try backend.commit(request.mutations, in: request.database)
      }
      return [request.response(outcome)]
    }
  }

  private func read(
    _ keys: [DocumentKey], in database: DatabaseID
  ) throws(RPCStatus) -> ([Document], SnapshotVersion) {
    try backend.step { backend throws(RPCStatus) in
      (try backend.lookup(keys, in: database), try backend.readTime(of: database))
    }
  }
}
