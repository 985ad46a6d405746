// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol

/// The results of the last batches that left the queue, and the backend's times to answer.
struct WriteHistory: Sendable {
  private static let capacity = 64

  /// The results, newest last.
  private(set) var outcomes: [WriteOutcome] = []
  /// The times from sending to the acknowledgement, newest last.
  private(set) var roundTrips: [Duration] = []
  private var sequence = 0

  /// - Parameters:
  ///   - documents: the documents of the batch, if they are known.
  ///   - after: the time from sending to the backend's answer.
  mutating func add(
    _ batch: BatchID, _ result: Result<CommitResponse, RPCStatus>, of documents: WrittenDocuments?, after: Duration?
  ) {
    sequence += 1
    var outcome = WriteOutcome(
      sequence: sequence, batch: batch, after: after, rejection: nil, documents: documents)
    switch result {
    case .success(let response):
      outcome.commitTime = response.commitTime
      if let after { Self.add(after, to: &roundTrips) }
    case .failure(let status): outcome.rejection = status
    }
    Self.add(outcome, to: &outcomes)
  }

  private static func add<Element>(_ element: Element, to elements: inout [Element]) {
    if elements.count == capacity { elements.removeFirst() }
    elements.append(element)
  }
}
