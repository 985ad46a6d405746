// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreClientState
package import FirestoreModel
package import FirestoreSQLite
import FirestoreServer
import Foundation
import LocalSockets
import Synchronization

/// The data of a directory, shared by any number of processes. The first process opens the data and serves it to the
/// others on a socket next to the data. When that process ends, another process opens the data. This process uses the
/// data as long as this object exists.
package final class SharedData: Sendable {
  private let keeper: DataKeeper

  private init(_ keeper: DataKeeper) { self.keeper = keeper }

  deinit { keeper.close() }

  /// Opens the data of a directory or attaches to it, unless this process has already done so. Blocks for milliseconds,
  /// or for up to `grace` if the process that has the data open does not answer.
  /// - Parameters:
  ///   - name: this process's name, which other processes display.
  ///   - pausesForPort: whether a server on a port uses the data. If so, long reads pause for the server's connections,
  ///     and the data is never handed over to another process.
  ///   - waits: whether to return even if the process that has locked the data is unresponsive. The data is then
  ///     temporarily unreachable. If false, the function throws instead.
  ///   - grace: the time to wait for an unresponsive process. After that, the function returns, and a separate thread
  ///     continues the search. If `nil`, the function waits for `patience`, and then `waits` applies.
  ///   - patience: the maximum time to wait for an answer from the process that has locked the data.
  ///   - objection: returns a reason to reject a database that this process uses for the first time.
  /// - Throws: `locked` if another process has locked the directory and does not share the data; `notWritable`,
  ///   `notPrivate`, `newerSchema`, `corrupt`.
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

  /// The data that is open in this process, by path. A process opens each directory only once.
  private static let open = Mutex<[String: Weak]>([:])

  /// The name of the program.
  package static let processName = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "program"

  /// The random number that identifies the data; `nil` while unknown.
  package var instance: [UInt8]? { keeper.state.withLock { $0.instance } }

  /// A warning if the process that has the data open provides less durability than this process requested; otherwise
  /// `nil`.
  package func durabilityWarning(_ wanted: BackendConfiguration.Durability) -> String? {
    guard wanted == .full, case .attached(let attachment)? = keeper.state.withLock({ $0.way }),
      attachment.welcome.durability != .full
    else { return nil }
    return "\(attachment.owner) has the data open, but does not fsync its commits as --sync full requires."
  }

  /// The processes that use a directory's data. The process that has the data open reports them, and is listed first.
  /// Blocks briefly.
  /// - Returns: an empty array if no process has the data open. Also empty if the process that has the data open does
  ///   not share it or does not answer.
  package static func users(of directory: String) -> [DataMember] {
    guard case .connected(let descriptor)? = try? DataSocket(in: directory).connect() else { return [] }
    let line = OwnerConnection(descriptor)
    line.send(.hello(version: SharingLine.version, DataMember(process: getpid(), name: processName)))
    var received: [UInt8] = []
    guard case .line(.welcome(let welcome)) = line.next(&received, within: 300) else { return [] }
    guard case .line(.here(let members)) = line.next(&received, within: 300) else { return [welcome.owner] }
    return [welcome.owner] + members.filter { $0.process != getpid() }
  }

  /// One database of the data.
  package func datastore(for database: DatabaseID) -> SharedDatastore { SharedDatastore(self, keeper, database) }

  package var peers: DataPeers { keeper.peers }

  /// The processes that use the data. Yields them now and after each change.
  package func peerChanges() -> AsyncStream<DataPeers> {
    let (stream, continuation) = AsyncStream.makeStream(of: DataPeers.self, bufferingPolicy: .bufferingNewest(1))
    let task = Task { [keeper] in
      var last: DataPeers?
      for await _ in keeper.changes() {
        let peers = keeper.peers
        if peers != last { continuation.yield(peers) }
        last = peers
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  /// Hands the data over before this process is stopped, for example by Ctrl-Z, because a stopped process cannot answer
  /// calls. When this function returns, other processes can open the data, unless other work in this process takes
  /// longer than `grace`. Calls in this process wait until `takeUp`.
  package func handOver(within grace: Duration = .milliseconds(500)) async { await keeper.handOver(within: grace) }

  /// Resumes the use of the data when this process continues after `handOver`.
  package func takeUp() { keeper.takeUp() }

  /// Opens the data in this process. If another process has the data open, asks that process to hand the data over and
  /// to attach to this process. A process that serves the data on a port refuses the request.
  /// - Parameter patience: the maximum time to wait for the data.
  /// - Throws: `unavailable` with the reason why the data cannot be opened; `cancelled` if the task is cancelled.
  package func claim(within patience: Duration = .seconds(5)) async throws(RPCStatus) {
    try await keeper.claim(until: .now + patience)
  }

  /// The way in which this process currently reaches the data.
  package enum Access: Sendable {
    /// This process has the data open; the value is its backend.
    case own(LocalBackend)
    /// Another process has the data open.
    case attached(to: DataMember)
  }

  /// A function that waits until a connection to the data has ended, or until the task is cancelled.
  package typealias End = @Sendable () async -> Void

  /// The current connection to the data. If there is none, waits for the next connection, without a time limit.
  /// - Throws: `cancelled` if the task is cancelled.
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
        // The data is open as long as this value exists, which is until here.
        if error.code == .cancelled || keeper.state.withLock({ $0.isClosed }) { throw error }
        known = keeper.state.withLock { $0.generation }
      }
    }
  }
}

extension DataKeeper {
  /// Finds the first connection.
  /// - Parameters:
  ///   - waits: whether to return without an error if the process that has locked the data is unresponsive.
  ///   - grace: the time after which this function returns, and a separate thread continues to wait.
  fileprivate func find(waits: Bool, grace: Duration?) throws(StoreError) {
    var search = DataSearch()
    search.grace = grace
    let began = ContinuousClock.now
    while true {
      let failure: StoreError
      // Checked before the attempt as well, because the data may become free between the attempt and the later check.
      let wasClosing = isClosing
      switch search.attempt(self) {
      case .own: return
      case .attached(let welcome, let line, let received):
        return start(attach(welcome, line, received, search.socket), from: search)
      case .nobody(let held):
        // Hardly waits for a process that does not share the data, such as a repair. A process that has just started
        // will announce soon whether it shares the data.
        let serves = DirectoryLock.lastHolder(of: directory)?.serves ?? true
        let time = wasClosing || isClosing ? max(patience, Self.closingTime) : patience
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
