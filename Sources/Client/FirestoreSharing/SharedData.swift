// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreClientState
package import FirestoreModel
package import FirestoreSQLite
import FirestoreServer
import Foundation
import LocalSockets
import Synchronization

/// The data of a directory, which any number of processes use together. The first process to come has it open and
/// serves it to the others on a socket beside it; when that one ends, another takes its place. Open as long as this
/// value lives.
package final class SharedData: Sendable {
  private let keeper: DataKeeper

  private init(_ keeper: DataKeeper) { self.keeper = keeper }

  deinit { keeper.close() }

  /// Opens the data of a directory, or attaches to it, if it is not in this process yet. Blocks while that is done:
  /// milliseconds, or up to `grace` where the process that holds the data does not answer.
  /// - Parameters:
  ///   - name: the name by which other processes see this one.
  ///   - pausesForPort: a server on a port has the data open: long reads let its connections in between, and the data is not
  ///     handed to another process that asks for it.
  ///   - waits: data whose holder does not answer is no error: it cannot be reached for now.
  ///   - grace: the time that the caller waits for a holder that does not answer; then the search goes on in a thread of its
  ///     own, and the data cannot be reached for now. `nil` waits for the whole patience, and then goes by `waits`.
  ///   - patience: the time that the holder may take to answer.
  ///   - objection: the reason against a database that is named here for the first time.
  /// - Throws: `locked` when another process holds the directory and does not share it; `notWritable`, `notPrivate`,
  ///   `newerSchema`, `corrupt`.
  package static func open(
    _ directory: String, durability: BackendConfiguration.Durability = .normal,
    pageCacheBytes: Int = BackendConfiguration.usualPageCacheBytes, as name: String = processName,
    pausesForPort: Bool = false, waits: Bool = false, grace: Duration? = nil,
    patience: Duration = DataSearch.patience,
    report: @escaping @Sendable (String) -> Void = { _ in },
    objection: @escaping @Sendable (DatabaseID) -> RPCStatus? = { _ in nil }
  ) throws(StoreError) -> SharedData {
    let path = URL(fileURLWithPath: directory, isDirectory: true).standardizedFileURL.path
    return try open.withLock { open -> Result<SharedData, StoreError> in
      if let data = open[path]?.data { return .success(data) }
      return Result { () throws(StoreError) in
        var configuration = BackendConfiguration(
          location: .directory(path), durability: durability, isServed: true, now: { SystemClock.now }, report: report)
        configuration.pageCacheBytes = pageCacheBytes
        configuration.objection = objection
        let data = SharedData(
          DataKeeper(
            path, configuration, as: DataMember(process: getpid(), name: name), pausesForPort: pausesForPort,
            patience: patience))
        try data.keeper.find(waits: waits, grace: grace)
        open[path] = Weak(data: data)
        return data
      }
    }.get()
  }

  private struct Weak { weak var data: SharedData? }

  /// The data that is open, by path. A directory is opened once in a process.
  private static let open = Mutex<[String: Weak]>([:])

  /// The name of the program.
  package static let processName = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "program"

  /// The random number of the data; `nil` as long as it is unknown.
  package var instance: [UInt8]? { keeper.state.withLock { $0.instance } }

  /// The warning for a user who asks for more durability than the process that has the data open gives; `nil` for none.
  package func durabilityWarning(_ wanted: BackendConfiguration.Durability) -> String? {
    guard wanted == .full, case .attached(let attachment)? = keeper.state.withLock({ $0.way }),
      attachment.welcome.durability != .full
    else { return nil }
    return "\(attachment.owner) has the data open, where a commit does not wait for the disk as --sync full asks."
  }

  /// The users of a directory's data, first the process that has it open, as that process tells it. Blocks for a
  /// moment.
  /// - Returns: an empty array if no process has it open and shares it, or answers.
  package static func users(of directory: String) -> [DataMember] {
    guard case .connected(let descriptor)? = try? DataSocket(in: directory).connect() else { return [] }
    let line = OwnerLine(descriptor)
    line.send(.hello(version: SharingLine.version, DataMember(process: getpid(), name: processName)))
    var received: [UInt8] = []
    guard case .line(.welcome(let welcome)) = line.next(&received, within: 300) else { return [] }
    guard case .line(.here(let members)) = line.next(&received, within: 300) else { return [welcome.owner] }
    return [welcome.owner] + members.filter { $0.process != getpid() }
  }

  /// One database of the data.
  package func datastore(for database: DatabaseID) -> SharedDatastore { SharedDatastore(self, keeper, database) }

  package var company: DataCompany { keeper.company }

  /// The processes that use the data, now and after each change.
  package func companies() -> AsyncStream<DataCompany> {
    let (stream, continuation) = AsyncStream.makeStream(of: DataCompany.self, bufferingPolicy: .bufferingNewest(1))
    let task = Task { [keeper] in
      var last: DataCompany?
      for await _ in keeper.changes() {
        let company = keeper.company
        if company != last { continuation.yield(company) }
        last = company
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  /// Lets other processes have the data, before this one is stopped, as by Ctrl-Z: a stopped process answers no call.
  /// Others can have the data when this returns, unless some work goes on here for longer than the grace. Calls wait
  /// until `takeUp`.
  package func handOver(within grace: Duration = .milliseconds(500)) async { await keeper.handOver(within: grace) }

  /// Looks for the data again, when this process goes on after `handOver`.
  package func takeUp() { keeper.takeUp() }

  /// Opens the data in this process. Another process that has it is asked to let it go, and is attached to this one
  /// then, unless it serves the data on a port.
  /// - Parameter patience: the longest time to wait for it.
  /// - Throws: `unavailable` with the reason why the data is not to be had; `cancelled`.
  package func claim(within patience: Duration = .seconds(5)) async throws(RPCStatus) {
    try await keeper.claim(until: .now + patience)
  }

  /// The way of calls to the data for a while.
  package enum Access: Sendable {
    /// The backend of this process, which has the data open.
    case own(LocalBackend)
    /// Another process has it.
    case attached(to: DataMember)
  }

  /// Waits until a way to the data is over, or for cancellation.
  package typealias End = @Sendable () async -> Void

  /// The present way to the data, or the next that comes, however long that takes.
  /// - Throws: `cancelled`.
  package func access() async throws(RPCStatus) -> (Access, End) {
    let keeper = keeper
    var known: Int?
    while true {
      do throws(RPCStatus) {
        let passage = try await keeper.way(knowing: known)
        let end: End = { await keeper.end(of: passage) }
        switch passage.way {
        case .own(let backend): return (.own(backend), end)
        case .attached(let attachment): return (.attached(to: attachment.owner), end)
        }
      } catch {
        // The data is open as long as this value lives, which is until here.
        if error.code == .cancelled || keeper.state.withLock({ $0.isClosed }) { throw error }
        known = keeper.state.withLock { $0.generation }
      }
    }
  }
}

extension DataKeeper {
  /// Finds the first way.
  /// - Parameters:
  ///   - waits: whether a holder that does not answer is no error.
  ///   - grace: the time after which a process that shares the data is waited for elsewhere.
  fileprivate func find(waits: Bool, grace: Duration?) throws(StoreError) {
    var search = DataSearch()
    search.grace = grace
    let began = ContinuousClock.now
    while true {
      let failure: StoreError
      switch search.attempt(self) {
      case .own: return
      case .attached(let welcome, let line, let received):
        return start(attach(welcome, line, received, search.socket), from: search)
      case .nobody(let held):
        // A process that does not share the data, such as a repair, is not waited for; one that has just come announces
        // sharing in a moment.
        let serves = DirectoryLock.lastHolder(of: directory)?.serves ?? true
        let time = isClosing ? max(patience, Self.closingTime) : patience
        if ContinuousClock.now - began < (serves ? grace ?? time : .milliseconds(30)) {
          usleep(5_000)
          continue
        }
        if !serves, !waits { throw held }
        failure = held
      case .silent: failure = silenceOfHolder
      case .failed(let error): failure = error
      }
      guard waits || grace != nil, failure.kind == .locked else { throw failure }
      state.withLock { $0.reason = RPCStatus(.unavailable, failure.message) }
      return start(nil, from: search)
    }
  }
}

private enum SystemClock {
  static var now: FirestoreModel.Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return FirestoreModel.Timestamp(seconds: Int64(time.tv_sec), nanoseconds: Int32(time.tv_nsec))
  }
}
