// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// What a backend holds after the commits it was asked for, and held after each of them before (PROTOCOL §3.2).
/// Versions are the backend's to choose; the model says which rules they follow.
struct BackendModel {
  struct Stored {
    var fields: Fields
    var updateTime: SnapshotVersion
    var createTime: SnapshotVersion
  }

  private(set) var documents: [DocumentKey: Stored] = [:]
  /// What became of each document, oldest first; `nil` for a deletion.
  private var history: [DocumentKey: [(version: SnapshotVersion, stored: Stored?)]] = [:]
  /// Oldest first.
  private(set) var commitTimes: [SnapshotVersion] = []
  private var lastServerTime: Timestamp?

  /// A document as it was at a version.
  func stored(_ key: DocumentKey, at version: SnapshotVersion) -> Stored? {
    history[key]?.last { $0.version <= version }?.stored
  }

  /// Whether the document ever was there.
  func knows(_ key: DocumentKey) -> Bool { history[key] != nil }

  // MARK: Commits

  /// Takes note of a commit.
  /// - Throws: `Violation` if the backend's answer is not what the mutations give.
  mutating func commit(_ mutations: [Mutation], _ answer: Result<CommitResponse, RPCStatus>) throws(Violation) {
    let response: CommitResponse? = if case .success(let response) = answer { response } else { nil }
    var evaluation = Evaluation(
      documents, serverTime: try serverTime(of: mutations, response),
      commitTime: response?.commitTime ?? SnapshotVersion(microseconds: (commitTimes.last?.microseconds ?? 1_000) + 1))
    var refusal: StatusCode? = Evaluation.excludeEachOther(mutations) ? .invalidArgument : nil
    for mutation in mutations where refusal == nil { refusal = evaluation.apply(mutation) }
    switch (refusal, answer) {
    case (let code?, .failure(let status)):
      try require(status.code == code, "\(mutations) were refused with \(status), not \(code)")
    case (let code?, .success): throw Violation(description: "\(mutations) were committed, not refused with \(code)")
    case (nil, .failure(let status)): throw Violation(description: "\(mutations) were refused: \(status)")
    case (nil, .success(let response)):
      if let last = commitTimes.last {
        try require(response.commitTime > last, "a commit at \(response.commitTime) follows one at \(last)")
      }
      try evaluation.compare(with: response)
      commitTimes.append(response.commitTime)
      for (key, stored) in evaluation.changes {
        documents[key] = stored
        history[key, default: []].append((response.commitTime, stored))
      }
    }
  }

  /// Takes note that everything was deleted.
  mutating func clear(at version: SnapshotVersion) {
    for key in documents.keys { history[key, default: []].append((version, nil)) }
    documents = [:]
    commitTimes.append(version)
  }

  /// One time for the whole commit: not after it, and after that of every commit before.
  private mutating func serverTime(
    of mutations: [Mutation], _ response: CommitResponse?
  ) throws(Violation) -> Timestamp {
    guard let response else { return Timestamp(seconds: 0) }
    var time: Timestamp?
    for (mutation, result) in zip(mutations, response.results) {
      for (transform, answer) in zip(mutation.transforms, result.transformResults) {
        guard case .serverTimestamp = transform.operation else { continue }
        guard case .timestamp(let given) = answer else {
          throw Violation(description: "a server timestamp became \(answer)")
        }
        try require(time == nil || time == given, "one commit has two server timestamps")
        time = given
      }
    }
    guard let time else { return Timestamp(seconds: 0) }
    try require(time <= response.commitTime.timestamp, "server timestamp \(time) is after \(response.commitTime)")
    if let lastServerTime { try require(time > lastServerTime, "server timestamp \(time) follows \(lastServerTime)") }
    lastServerTime = time
    return time
  }

  // MARK: Comparing

  /// - Throws: `Violation` if the backend holds something else.
  func compare(with found: Document) throws(Violation) {
    let stored = documents[found.key]
    try require(
      found.data?.fields == stored?.fields,
      "the backend has \(found.key) as \(found.data?.fields.entries as Any), not \(stored?.fields.entries as Any)")
    guard let stored else { return }
    try require(
      found.version == stored.updateTime && found.createTime == stored.createTime,
      "the backend's \(found.key) is of \(found.version as Any), created \(found.createTime as Any), not \(stored)")
  }

  func document(_ key: DocumentKey) -> Document { Self.document(key, documents[key]) }

  /// - Parameter version: when a missing document was missing.
  static func document(_ key: DocumentKey, _ stored: Stored?, at version: SnapshotVersion? = nil) -> Document {
    guard let stored else { return Document(key: key, version: version, state: .missing) }
    return Document(
      key: key, version: stored.updateTime, createTime: stored.createTime,
      state: .found(DocumentData(stored.fields)))
  }
}

extension BackendModel {
  /// One commit, mutation by mutation: later ones see what earlier ones did.
  private struct Evaluation {
    private struct Working {
      var fields: Fields?
      let before: Stored?
      /// Deleted within the commit, so that what follows is another document.
      var wasDeleted = false
      var wasWritten = false
    }

    private var working: [DocumentKey: Working] = [:]
    private var answers: [(key: DocumentKey, isDelete: Bool, values: [Value])] = []
    private let documents: [DocumentKey: Stored]
    private let serverTime: Timestamp
    private let commitTime: SnapshotVersion

    init(_ documents: [DocumentKey: Stored], serverTime: Timestamp, commitTime: SnapshotVersion) {
      (self.documents, self.serverTime, self.commitTime) = (documents, serverTime, commitTime)
    }

    /// Whether a write asks for what the one before it to the same document has made impossible.
    static func excludeEachOther(_ mutations: [Mutation]) -> Bool {
      let writes = mutations.filter { $0.operation != .verify }
      return writes.indices.contains { index in
        guard let earlier = writes[..<index].last(where: { $0.key == writes[index].key }) else { return false }
        let isDeletion = writes[index].operation == .delete
        return earlier.operation == .delete
          ? writes[index].precondition == .exists(true) : writes[index].precondition == .exists(false) && !isDeletion
      }
    }

    /// - Returns: why the mutation, and with it the commit, is refused.
    mutating func apply(_ mutation: Mutation) -> StatusCode? {
      let key = mutation.key
      var document = working[key] ?? Working(fields: documents[key]?.fields, before: documents[key])
      if let code = refusal(mutation.precondition, document) { return code }
      var values: [Value] = []
      switch mutation.operation {
      case .verify: break
      case .delete:
        (document.fields, document.wasDeleted, document.wasWritten) = (nil, true, true)
      case .set(let fields):
        (document.fields, values) = transformed(fields, mutation)
        document.wasWritten = true
      case .patch(let fields, let mask):
        let patched = ModelFields.patched(document.fields ?? Fields(), with: fields, at: mask)
        (document.fields, values) = transformed(patched, mutation)
        document.wasWritten = true
      }
      working[key] = document
      let isDelete = if case .delete = mutation.operation { true } else { false }
      answers.append((key, isDelete, values))
      return nil
    }

    private func transformed(_ fields: Fields, _ mutation: Mutation) -> (Fields?, [Value]) {
      let (result, values) = ModelFields.transformed(fields, by: mutation.transforms, on: .backend(time: serverTime))
      return (result, values)
    }

    private func refusal(_ precondition: Precondition, _ document: Working) -> StatusCode? {
      switch precondition {
      case .none: return nil
      case .exists(true): return document.fields == nil ? .notFound : nil
      case .exists(false):
        return document.fields == nil ? nil : .alreadyExists
      case .updateTime(let required):
        guard document.fields != nil else { return .failedPrecondition }
        let stored = document.wasWritten ? commitTime : document.before?.updateTime ?? commitTime
        if required == stored { return nil }
        return required > stored ? .invalidArgument : .failedPrecondition
      }
    }

    /// What is different afterwards; a document that ends as it began is none of it.
    var changes: [DocumentKey: Stored?] {
      var changes: [DocumentKey: Stored?] = [:]
      for (key, document) in working where isChanged(document) {
        let created = document.wasDeleted ? commitTime : document.before?.createTime ?? commitTime
        let stored = document.fields.map { Stored(fields: $0, updateTime: commitTime, createTime: created) }
        changes.updateValue(stored, forKey: key)
      }
      return changes
    }

    private func isChanged(_ document: Working) -> Bool {
      guard let before = document.before else { return document.fields != nil }
      return document.wasDeleted || document.fields != before.fields
    }

    /// - Throws: `Violation` if the answers are others.
    func compare(with response: CommitResponse) throws(Violation) {
      try require(
        response.results.count == answers.count, "\(answers.count) writes got \(response.results.count) answers")
      for (answer, result) in zip(answers, response.results) {
        guard let document = working[answer.key] else { continue }
        var version = commitTime
        if !answer.isDelete, !isChanged(document), let before = document.before { version = before.updateTime }
        try require(
          result.version == version, "a write of \(answer.key) was answered with \(result.version), not \(version)")
        try require(
          result.transformResults == answer.values,
          "transforms of \(answer.key) gave \(result.transformResults), not \(answer.values)")
      }
    }
  }
}
