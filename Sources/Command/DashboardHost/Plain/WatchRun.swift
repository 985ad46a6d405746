// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import CommandOptions
import CommandOutput
import Dispatch
package import FirestoreBackend
import FirestoreClientState
package import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
package import FirestoreQuery
import FirestoreSync
import FirestoreText
import Foundation
import Glibc
import Synchronization

package import class Hearth.Client
package import class Hearth.Inspection

/// A run of `hearth watch` or `get --watch`. It prints a listener's changes as lines, or its result as a table that is
/// redrawn. It ends at a goal, a timeout or a signal.
package struct WatchRun: Sendable {
  package let query: FirestoreQuery.Query
  package let includesMetadata: Bool
  package let skipsInitial: Bool
  package let isJSON: Bool
  /// Whether the result is a table that is redrawn after each change, instead of one line per change.
  package let isTable: Bool
  package let goal: EventGoal?
  package let timeout: Duration?
  /// Whether a timeout is a failure even if there is no goal.
  package let isFailureWhenLate: Bool
  /// Whether the watch may start while the server is unreachable. It then starts with the documents in the cache that
  /// the user named.
  package let startsFromCache: Bool
  /// Whether the backend is in this process.
  package let isEmbedded: Bool
  package let headless: HeadlessOptions

  package init(
    query: FirestoreQuery.Query, includesMetadata: Bool, skipsInitial: Bool, isJSON: Bool, isTable: Bool = false,
    goal: EventGoal?, timeout: Duration?, isFailureWhenLate: Bool = false, startsFromCache: Bool, isEmbedded: Bool,
    headless: HeadlessOptions
  ) {
    self.query = query
    self.includesMetadata = includesMetadata
    self.skipsInitial = skipsInitial
    self.isJSON = isJSON
    self.isTable = isTable
    self.goal = goal
    self.timeout = timeout
    self.isFailureWhenLate = isFailureWhenLate
    self.startsFromCache = startsFromCache
    self.isEmbedded = isEmbedded
    self.headless = headless
  }

  private enum End: Sendable {
    case reached
    case interrupted(Interruptions.Cause)
    case timedOut
  }

  /// Whether the client has reached the server since the start.
  private final class Contact: Sendable {
    private let flag = Atomic<Bool>(false)
    var isMade: Bool { flag.load(ordering: .relaxed) }
    func make() { flag.store(true, ordering: .relaxed) }
  }

  /// - Parameters:
  ///   - store: the configuration of the client's cache and queue.
  ///   - plan: determines how the client can be inspected.
  ///   - faults: the faults between the client and its backend. Inspection can change them.
  package func run(
    at connection: BackendConnection, _ store: LocalStoreConfiguration, inspectedAs plan: Inspection.Plan?,
    disturbedBy faults: FaultInjector
  ) async throws {
    let interruptions = Surroundings.current.interruptions()
    let causes = interruptions.causes
    let datastore = FaultyDatastore(connection.datastore, faults: faults, clock: ContinuousClock())
    let client = Client(store, datastore: datastore, inspectedAs: plan)
    let contact = Contact()
    // An open embedded backend is reachable.
    if isEmbedded { contact.make() }
    let end: End
    do {
      end = try await firstEnd(of: client, connection.database, causes, contact)
      await client.terminate()
    } catch {
      await client.terminate()
      throw error
    }
    withExtendedLifetime(interruptions) {}
    if case .timedOut = end, let timeout, !contact.isMade, !startsFromCache {
      throw CommandFailure(.unavailable, "no answer from the server within \(timeout).")
    }
    try leave(end)
  }

  private func firstEnd(
    of client: Client, _ database: DatabaseID, _ causes: AsyncStream<Interruptions.Cause>, _ contact: Contact
  ) async throws -> End {
    try await withThrowingTaskGroup(of: End?.self) { group in
      group.addTask { try await self.printChanges(of: client, database) }
      group.addTask {
        for await cause in causes { return .interrupted(cause) }
        return nil
      }
      group.addTask {
        try await self.followStatus(of: client, contact)
        return nil
      }
      if let timeout {
        group.addTask {
          // The sleep is cancelled when another event ends the run.
          try? await ContinuousClock().sleep(for: timeout)
          return .timedOut
        }
      }
      defer { group.cancelAll() }
      while let finished = try await group.next() {
        if let end = finished { return end }
      }
      return .timedOut
    }
  }

  /// Prints changes. Returns when the goal is reached, or `nil` when the client has ended.
  private func printChanges(of client: Client, _ database: DatabaseID) async throws -> End? {
    let output = OutputFile.standard()
    var progress = WatchProgress(goal)
    var isInitial = true
    let utcOffset = TimeZone.current.secondsFromGMT()
    var table = ResultTable(query, utcOffset: utcOffset)
    var drawn = 0
    let mailbox = SnapshotMailbox()
    // Metadata snapshots are needed: one of them reports that the result is in sync.
    let options = ListenerOptions(includeMetadataChanges: true)
    let listener = client.engine.listen(to: query, options: options, into: mailbox)
    defer { client.engine.stopListening(listener) }
    while let element = await mailbox.next() {
      switch element {
      case .failed(let status): throw status
      case .snapshot(let snapshot) where isTable:
        table.take(snapshot, at: .now)
        drawn = try draw(table, over: drawn, output)
        progress.finishedSnapshot(isFromCache: snapshot.isFromCache)
        if progress.isReached { return .reached }
      case .snapshot(let snapshot):
        if !(isInitial && skipsInitial) {
          for change in snapshot.changes where includesMetadata || change.kind != .metadata {
            let change = WatchedChange(change, in: snapshot, at: .now)
            if isJSON {
              try output.data(line: change.json(in: database))
            } else {
              try output.line(change.text(in: database, utcOffset: utcOffset))
            }
            progress.printed(ObservedEvent(change.kind, [change.document.key.path]))
            if progress.isReached, case .count = goal { break }
          }
        }
        if !snapshot.isFromCache { isInitial = false }
        try output.flush()
        progress.finishedSnapshot(isFromCache: snapshot.isFromCache)
        if progress.isReached { return .reached }
      }
    }
    return nil
  }

  /// Draws the table over the previous table.
  /// - Parameter drawn: the number of lines of the previous table.
  /// - Returns: the number of lines of this table.
  private func draw(_ table: ResultTable, over drawn: Int, _ output: OutputFile) throws -> Int {
    let size = TerminalSize(of: STDOUT_FILENO) ?? TerminalSize(columns: 80, rows: 24)
    let lines = table.lines(size, at: .now)
    // The program's own escape sequences: move up to the first line and erase from there.
    if drawn > 0 { try output.write(ShownText(verbatim: "\u{1B}[\(drawn)A\r\u{1B}[J")) }
    for line in lines { try output.line(line) }
    try output.flush()
    return lines.count
  }

  /// Reports when the backend becomes unreachable, and when it is reachable again.
  /// - Throws: if the backend is unreachable at the start, because the output would look like an empty collection.
  private func followStatus(of client: Client, _ contact: Contact) async throws(CommandFailure) {
    var wasOffline = false
    if let problem = client.engine.cacheProblem { headless.note(ShownText(problem.notice)) }
    for await status in client.engine.status() {
      let isOffline = status.onlineState == .offline
      if status.onlineState == .online { contact.make() }
      if isOffline, !wasOffline {
        let reason = status.watch.lastError.map { " (\($0.message))" } ?? ""
        if !contact.isMade, !startsFromCache {
          // A server that returns an error, or gets no request because credentials are missing, is not unreachable. A
          // server with another protocol never becomes reachable.
          if let error = status.watch.lastError, error.code != .unavailable || error.isForeign == true {
            throw CommandFailure(error)
          }
          throw CommandFailure(.unavailable, "the server cannot be reached\(reason).")
        }
        headless.note("the server cannot be reached\(reason); still trying.")
      } else if status.onlineState == .online, wasOffline {
        headless.note("the server can be reached again.")
      }
      if status.onlineState != .unknown { wasOffline = isOffline }
    }
  }

  /// Throws if the goal was not reached. Without a goal, a watch may end for any reason.
  private func leave(_ end: End) throws {
    if isFailureWhenLate, goal == nil, case .timedOut = end {
      throw CommandFailure(.tryAgain, "stopped after \(timeout ?? .zero).")
    }
    guard goal != nil else { return }
    switch end {
    case .reached: return
    case .interrupted(.readerGone): throw OutputFile.ClosedPipe()
    case .interrupted(.signal(let number)): throw Interrupted(signal: number)
    case .timedOut: throw CommandFailure(.tryAgain, "the event did not happen within \(timeout ?? .zero).")
    }
  }
}

/// Thrown if a signal ended a command before it was complete.
package struct Interrupted: Error {
  package let signal: Int32
  /// The exit status by the convention of shells.
  package var exitStatus: Int32 { 128 + signal }
}

/// Counts the changes printed so far, to detect when the goal is reached.
struct WatchProgress {
  let goal: EventGoal?
  private(set) var isReached = false
  private var count = 0

  init(_ goal: EventGoal?) { self.goal = goal }

  mutating func printed(_ event: ObservedEvent) {
    count += 1
    if goal?.isReached(by: event, number: count) == true { isReached = true }
  }

  mutating func finishedSnapshot(isFromCache: Bool) {
    if goal?.isReached(by: ObservedEvent(isFromCache ? .cached : .synced)) == true { isReached = true }
  }
}
