// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

@testable import FirestoreSync

extension EngineClient {
  // MARK: The books

  /// Looks at everything that the engine has said since.
  func audit() throws {
    if let violation = book.violation { throw violation }
    for event in events.takeAll() {
      switch event {
      case .answered(let number, let result): try note(number, result)
      case .snapshot(let id, let snapshot): try note(snapshot, for: id)
      case .failed(let id, let status):
        try require(isTerminated && status.code == .failedPrecondition, "listener \(id.rawValue) failed: \(status)")
      }
    }
  }

  /// Every write has one answer, which is the backend's (S3, S4).
  private func note(_ number: Int, _ result: Result<CommitResponse, RPCStatus>) throws {
    guard let write = writes[number] else { throw Violation(description: "write \(number) was answered unasked") }
    let name = "client \(index): batch \(write.batch)"
    try require(!write.isAnswered, "\(name) was answered twice")
    // The backend's refusals of the last moment are answers, also those of the same code.
    if case .failure(.terminated) = result { return try require(isTerminated, "\(name) was given up while all ran") }
    writes[number]?.isAnswered = true
    answers += 1
    switch result {
    case .success(let response):
      let version = book.version(of: write.batch)
      try require(
        version == response.commitTime, "\(name) was acknowledged at \(response.commitTime), not \(version as Any)")
    case .failure(let status) where status.code == .cancelled:
      return try require(write.isCancelled, "\(name) was cancelled, but not by the user")
    case .failure(let status):
      try require(status.code.isPermanentForWrites, "\(name) was rejected for \(status)")
      try require(
        hasInjectedRejection || book.version(of: write.batch) == nil, "\(name) was rejected although it was committed")
    }
    let earlier = writeOrder.first { writes[$0].map { !$0.isAnswered && $0.user == write.user } ?? false }
    if let earlier { try require(earlier > number, "S4: \(name) was answered before \(earlier)") }
  }

  private func note(_ snapshot: ViewSnapshot, for id: ListenerID) throws {
    let name = "listener \(id.rawValue) of client \(index)"
    for cause in snapshot.causes {
      switch cause {
      case .acknowledged(let batch), .rejected(let batch, _), .cancelled(let batch):
        let write = writes.values.first { $0.batch == batch }
        try require(write?.isAnswered ?? true, "S3: \(name) saw the end of batch \(batch) before it was signalled")
      default: break
      }
    }
    try listeners[id]?.book.note(snapshot, name)
  }

  /// While the network is off, nothing moves: documents are what was known of the backend with all that waits on top.
  func checkDocuments() async throws {
    guard !isNetworkEnabled, carried.isEmpty else { return }
    try audit()
    let waiting = writeOrder.compactMap { writes[$0] }.filter { !$0.isAnswered && $0.user == user }
    for key in ModelQueries.keys {
      let concerned = waiting.filter { $0.keys.contains(key) }
      let models = concerned.compactMap(\.model)
      guard models.count == concerned.count else { continue }
      let layers = try await engine.layers(of: key)
      let expected = LocalModel(key, over: layers.remote, models)
      try require(
        layers.local?.data.map(\.fields) == expected.fields,
        "client \(index) shows \(key) as \(layers.local as Any), not \(expected), over \(layers.remote as Any)")
      try require(
        layers.local?.hasLocalMutations ?? false == expected.isPending,
        "client \(index) is wrong about whether \(key) is pending")
    }
  }
}
