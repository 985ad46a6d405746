// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol

@testable import FirestoreSync

/// What the client's documents must be, by the model.
extension ModelClient {
  /// A document with the writes of this user that wait, over what the cache has of the backend.
  func localModel(_ key: DocumentKey) throws -> LocalModel {
    LocalModel(key, over: try core!.store.remoteDocument(key), pending.compactMap { batches[$0] })
  }

  /// Every document is what the backend said, with what waits on top of it (S9).
  /// - Returns: the documents as the cache must show them.
  func checkDocuments() throws -> [Document] {
    let history = server.model
    return try ModelQueries.keys.map { key in
      let base = try core!.store.remoteDocument(key)
      if let base { try compare(base, with: history) }
      let model = LocalModel(key, over: base, pending.compactMap { batches[$0] })
      let expected = Document(
        key: key, version: model.isPending ? nil : base?.version,
        state: model.fields.map { .found(DocumentData($0)) } ?? base.flatMap { $0.exists ? nil : $0.state } ?? .missing,
        pending: model.isPending ? .local : base?.pending ?? .none)
      let shown = try core!.store.document(key)
      try require(
        shown?.data.map(\.encoded.bytes) == expected.data.map(\.encoded.bytes),
        """
        S9: client \(index) shows \(key) as \(describe(shown?.data)), not \(describe(expected.data)), \
        over \(describe(base?.data))
        """
      )
      try require(
        shown?.hasLocalMutations ?? false == model.isPending,
        "S9: client \(index) \(model.isPending ? "does not show" : "shows") \(key) as pending")
      return expected
    }
  }

  private func describe(_ data: DocumentData?) -> String {
    data.map { "\($0.fields.entries.map { "\($0.name): \($0.value)" })" } ?? "missing"
  }

  /// What the cache has of a version is what the backend had then. What it made of an acknowledgement itself was
  /// compared when that came.
  private func compare(_ base: Document, with history: BackendModel) throws {
    guard base.pending == .none, let version = base.version else { return }
    let stored = history.stored(base.key, at: version)
    switch base.state {
    case .unknown: break
    case .missing:
      try require(
        stored == nil,
        "client \(index) has \(base.key) as missing at \(version), where the backend had \(stored as Any)")
    case .found(let data):
      try require(
        stored?.updateTime == version && stored?.fields == data.fields,
        "client \(index) has \(base.key) at \(version) as \(describe(data)), the backend had \(stored as Any)")
    }
  }

  // MARK: Acknowledgements

  /// Runs a transition that may bring the answer to the oldest write, and compares what the cache makes of it.
  func answering(_ body: (inout SyncCore) throws -> Void) throws {
    var before: [DocumentKey: Document] = [:]
    let oldest = pending.first.flatMap { batches[$0] }
    for mutation in oldest?.mutations ?? [] { before[mutation.key] = try core!.store.remoteDocument(mutation.key) }
    acknowledged = nil
    try transition(body)
    guard let oldest, let (id, response) = acknowledged else { return }
    for key in Set(oldest.mutations.map(\.key)) {
      let results = zip(oldest.mutations, response.results).filter { $0.0.key == key }
      let after = try core!.store.remoteDocument(key)
      guard let expected = AcknowledgedModel(before[key], results.map { ($0.0, $0.1) }) else {
        if after != nil || setup.policy != .eager {
          try require(after == before[key], "batch \(id) was older than \(key), but made \(after as Any) of it")
        }
        continue
      }
      // What nothing refers to any more may be forgotten at once.
      if after == nil, setup.policy == .eager { continue }
      let isUnknown = if case .unknown? = after?.state { true } else { false }
      try require(
        after?.version == expected.version && after?.hasCommittedMutations == true && isUnknown == expected.isUnknown
          && (isUnknown || after?.data?.fields == expected.fields),
        "batch \(id) made \(describe(after?.data)) of \(key), not \(expected), over \(describe(before[key]?.data))")
    }
  }
}
