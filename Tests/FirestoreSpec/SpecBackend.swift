// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// The backend that the spec scripts: it remembers what it was asked and says nothing by itself (SPEC-FORMAT §8).
struct SpecBackend: Sendable {
  private(set) var activeTargets: [TargetID: SpecTarget] = [:]
  private(set) var watchRequests = 0
  private(set) var writeRequests = 0
  /// Batches sent and not answered.
  private(set) var unanswered: [[Mutation]] = []
  private var hasHandshake = false

  mutating func receive(_ request: WatchRequest) {
    watchRequests += 1
    switch request {
    case .add(let target):
      activeTargets[target.id] = SpecTarget(
        target: target.target, purpose: target.purpose, resume: target.resume, expectedCount: target.expectedCount)
    case .remove(let id): activeTargets[id] = nil
    }
  }

  mutating func ended(_ id: TargetID) { activeTargets[id] = nil }

  mutating func watchStreamClosed() { activeTargets = [:] }

  mutating func receiveHandshake() {
    writeRequests += 1
    hasHandshake = true
  }

  mutating func receive(_ mutations: [Mutation]) {
    writeRequests += 1
    unanswered.append(mutations)
  }

  mutating func answerOldest() -> [Mutation]? { unanswered.isEmpty ? nil : unanswered.removeFirst() }

  /// - Parameter byClient: a client says goodbye with an empty request.
  mutating func writeStreamClosed(byClient: Bool) {
    if byClient, hasHandshake { writeRequests += 1 }
    hasHandshake = false
    unanswered = []
  }
}
