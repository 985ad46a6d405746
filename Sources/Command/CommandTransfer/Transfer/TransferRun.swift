// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
package import FirestoreClientState
import FirestoreJSON
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreSync
import Foundation
import Glibc

/// An import or export that the dashboard runs. It does the same as `hearth import --keep-going` and `hearth export
/// --recursive`, and returns a summary instead of an exit status.
package struct TransferRun: Sendable {
  /// The maximum number of rejected documents that are listed in the summary.
  private static let mostNamed = 100
  /// The interval of progress reports.
  private static let interval = Duration.milliseconds(250)

  package var request: TransferRequest
  package var datastore: any Datastore
  package var database: DatabaseID
  /// The backend's name in progress files of imports; `nil` if the data is lost when the process ends.
  package var backend: String?
  /// The client whose cache is exported; `nil` without a client.
  package var client: SyncEngine?

  package init(
    request: TransferRequest, datastore: any Datastore, database: DatabaseID, backend: String? = nil,
    client: SyncEngine? = nil
  ) {
    (self.request, self.datastore, self.database, self.backend) = (request, datastore, database, backend)
    self.client = client
  }

  /// - Parameter tell: called periodically with the progress.
  package func run(_ tell: @escaping @Sendable (TransferState) -> Void) async -> TransferSummary {
    switch request {
    case .export(let paths, let file, _): await export(paths, to: file, tell)
    case .importing(let file, let path): await importing(file, into: path, tell)
    case .bundle(let contents, let file, _): await bundle(contents, into: file, tell)
    case .freezing(let path, let file, _): await freeze(path, into: file, tell)
    }
  }

  // MARK: Export

  private func export(
    _ paths: [ResourcePath]?, to file: String, _ tell: @escaping (TransferState) -> Void
  ) async -> TransferSummary {
    await write(file, tell) { target, progress in
      let job = ExportJob(roots: paths, isRecursive: true, format: TransferFormat(fileName: file))
      let (whole, _, notes) = try await unmoved()
      _ = try await job.run(at: whole, database, to: target.file, progress: progress)
      return notes
    }
  }

  /// Writes a file. It replaces an old file only when it is complete.
  /// - Parameter body: receives the file, and a closure that it must call with the document count after each document.
  ///   Returns notes.
  private func write(
    _ file: String, _ tell: @escaping (TransferState) -> Void,
    _ body: (ExportTarget, (Int) throws -> Void) async throws -> [String]
  ) async -> TransferSummary {
    let start = ContinuousClock.now
    var pace = Pace()
    var documents = 0
    var notes: [String] = []
    func account(_ end: TransferSummary.End) -> TransferSummary {
      TransferSummary(request, end, documents: documents, elapsed: .now - start, notes: notes)
    }
    do {
      let path = UserPath.absolute(file)
      guard case .file = try OutputPlace(path) else {
        throw CommandFailure(.cannotCreate, "\(file) is not a regular file.")
      }
      let target = try ExportTarget(path, OutputCompression.choose(for: path, nil, isTerminal: false))
      do {
        notes = try await body(target) { count in
          try Task.checkCancellation()
          documents = count
          guard pace.isDue() else { return }
          tell(TransferState(request, documents: count, perSecond: pace.perSecond(count)))
        }
      } catch {
        target.discard()
        throw error
      }
      try target.commit()
      return account(.complete)
    } catch {
      return account(Self.end(error))
    }
  }

  /// The database at a single read time, if the backend supports read times. Otherwise the current database.
  private func unmoved() async throws -> (any Datastore, SnapshotVersion?, notes: [String]) {
    let beginning = try await datastore.beginning(now: Timestamp(microseconds: Timestamp.now.microseconds))
    guard let beginning else {
      return (datastore, nil, ["Documents were read one after another, because this backend has no snapshots."])
    }
    return (PastDatastore(base: datastore, time: beginning, isBeginning: true), beginning, [])
  }

  // MARK: Bundle

  private func bundle(
    _ contents: BundleContents, into file: String, _ tell: @escaping (TransferState) -> Void
  ) async -> TransferSummary {
    await write(file, tell) { target, progress in
      let (whole, time, notes) = try await unmoved()
      let bytes = try await BundleJob(contents: contents, at: whole, database, readTime: time).run(progress)
      try target.file.data(String(decoding: bytes, as: UTF8.self))
      try target.file.flush()
      return notes
    }
  }

  // MARK: The cache

  private func freeze(
    _ path: ResourcePath?, into file: String, _ tell: @escaping (TransferState) -> Void
  ) async -> TransferSummary {
    await write(file, tell) { target, progress in
      guard let client else { throw CommandFailure(.unavailable, "this session has no cache.") }
      let job = CacheFreezing(path: path, isBundle: file.lowercased().hasSuffix(".bundle"), database: database)
      try await job.run(of: client, to: target.file, progress)
      return ["The file has the last known server version of each document, without pending writes."]
    }
  }

  // MARK: Import

  private func importing(
    _ file: String, into collection: ResourcePath?, _ tell: @escaping (TransferState) -> Void
  ) async -> TransferSummary {
    let start = ContinuousClock.now
    let path = UserPath.absolute(file)
    let rejects = ImportJob.rejects(of: path)
    let state = backend != nil && ImportInput.isFile(path) ? ImportJob.state(of: path) : nil
    let job = ImportJob(
      file: path, format: TransferFormat(input: path),
      rules: ImportRules(database: database, collection: collection, idField: nil), backend: backend ?? "memory",
      into: collection?.text, state: state, badDocuments: .collect(rejects), isFormatGiven: false)
    let reported = ReportedMessages()
    var pace = Pace()
    func account(_ end: TransferSummary.End, _ done: ImportProgressPoint, before: Int) -> TransferSummary {
      var notes = reported.notes
      if reported.refusedCount > 0 { notes.append("Rejected documents are in \(rejects). Fix and import them.") }
      if end != .complete, state != nil, done.documents > 0 {
        notes.append("To continue after line \(done.position.line), start the same import again.")
      }
      return TransferSummary(
        request, end, documents: done.documents - before, elapsed: .now - start, refused: reported.refused,
        refusedCount: reported.refusedCount, notes: notes)
    }
    var before = 0
    do {
      let outcome = try await job.run(
        into: { datastore }, note: { reported.notes.append($0) },
        reject: { reported.refuse($0, naming: Self.mostNamed) },
        progress: { point, fraction, first in
          before = first.documents
          try Task.checkCancellation()
          guard pace.isDue() else { return }
          tell(
            TransferState(
              request, documents: point.documents - first.documents, refused: reported.refusedCount,
              perSecond: pace.perSecond(point.documents - first.documents), fraction: fraction,
              secondsLeft: fraction.flatMap { pace.secondsLeft(from: first.fraction, at: $0) }))
        })
      if outcome.repeated > 0 {
        reported.notes.append("\(outcome.repeated.documents) replaced an earlier document with the same path.")
      }
      return account(.complete, outcome.done, before: outcome.before)
    } catch let stopped as ImportJob.Failure {
      return account(Self.end(stopped.error), stopped.done, before: before)
    } catch {
      return account(Self.end(error), ImportProgressPoint(), before: 0)
    }
  }

  private static func end(_ error: any Error) -> TransferSummary.End {
    switch error {
    case is CancellationError: .cancelled
    case _ where Task.isCancelled: .cancelled
    case let failure as CommandFailure: .failed(failure.message)
    case let status as RPCStatus: .failed("\(status)")
    case let reason as Rejection.Reason: .failed(reason.text)
    default: .failed("\(error)")
    }
  }
}

/// The notes and rejections that a running transfer has reported.
private final class ReportedMessages {
  var notes: [String] = []
  private(set) var refused: [String] = []
  private(set) var refusedCount = 0

  func refuse(_ reason: String, naming most: Int) {
    refusedCount += 1
    if refused.count < most { refused.append(reason) }
  }
}

extension TransferRun {
  /// Determines when progress is reported, and computes the rate.
  private struct Pace {
    private let start = ContinuousClock.now
    private var last: ContinuousClock.Instant?

    mutating func isDue() -> Bool {
      let now = ContinuousClock.now
      if let last, now - last < TransferRun.interval { return false }
      last = now
      return true
    }

    func perSecond(_ count: Int) -> Int {
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      return seconds > 0 ? Int(Double(count) / seconds) : 0
    }

    func secondsLeft(from first: Double, at fraction: Double) -> Int? {
      guard fraction > first else { return nil }
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      return Int((seconds / (fraction - first) * (1 - fraction)).rounded(.up))
    }
  }
}

/// Prints the progress of a long command: document count, rate and remaining time. If standard error is a terminal, the
/// progress is a single line that is overwritten.
package struct TransferProgress {
  private static let interval = Duration.milliseconds(100)

  /// The progress of an earlier run that this run continues. It is not included in the rate of this run.
  package struct Start: Hashable {
    package var documents = 0
    package var fraction = 0.0
  }

  private let isShown: Bool
  private let first: Start
  private let start = ContinuousClock.now
  private var lastShown: ContinuousClock.Instant?
  private var hasLine = false
  private let interruption: InterruptionNote?

  /// - Parameter interruption: creates, from the document count, the message that is printed if a signal ends the
  ///   command; `nil` if no partial results remain.
  package init(isQuiet: Bool, from first: Start = Start(), interruption: (@Sendable (Int) -> String)? = nil) {
    isShown = !isQuiet && isatty(STDERR_FILENO) == 1
    self.first = first
    self.interruption = interruption.map(InterruptionNote.init)
  }

  package var elapsed: Duration { .now - start }

  /// - Parameter fraction: the completed fraction; `nil` if the total is unknown.
  package mutating func show(_ documents: Int, fraction: Double? = nil) {
    interruption?.note(documents)
    guard isShown else { return }
    let now = ContinuousClock.now
    if let lastShown, now - lastShown < Self.interval { return }
    lastShown = now
    hasLine = true
    StandardError.put("\r\(Self.line(documents, fraction: fraction, after: now - start, from: first))\u{1b}[K")
  }

  /// Removes the line with the progress. Call this when the command is done.
  package mutating func end() {
    interruption?.end()
    if hasLine { StandardError.put("\r\u{1b}[K") }
    hasLine = false
  }

  package static func line(
    _ documents: Int, fraction: Double?, after elapsed: Duration, from first: Start = Start()
  ) -> String {
    let seconds = elapsed / .seconds(1)
    var line = "\(documents.documents), \(seconds > 0 ? Int(Double(documents - first.documents) / seconds) : 0)/s"
    guard let fraction, fraction > first.fraction else { return line }
    line += ", \(Int(fraction * 100)) %"
    let left = Int((seconds / (fraction - first.fraction) * (1 - fraction)).rounded(.up))
    let (minutes, rest) = left.quotientAndRemainder(dividingBy: 60)
    return line + ", \(minutes):\(rest < 10 ? "0" : "")\(rest) left"
  }

  /// The duration and the rate: `3.2 s (31250/s)`.
  package static func summary(_ documents: Int, in elapsed: Duration) -> String {
    let seconds = elapsed / .seconds(1)
    let tenths = Int((seconds * 10).rounded())
    let time = "\(tenths / 10).\(tenths % 10) s"
    // A short duration gives no meaningful rate.
    return seconds < 1 ? time : "\(time) (\(Int(Double(documents) / seconds))/s)"
  }
}
