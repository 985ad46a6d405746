// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreClientState
package import FirestoreModel
package import FirestoreSQLite
import FirestoreServer
import Foundation
import LocalSockets
import Synchronization

/// The data of a directory, which any number of processes use together. The first that comes has it open and serves it
/// to the others on a socket beside it; when that one ends, another takes its place. Open as long as this value lives.
package final class SharedData: Sendable {
  private let keeper: DataKeeper

  private init(_ keeper: DataKeeper) { self.keeper = keeper }

  deinit { keeper.close() }

  /// The data of a directory, which is opened, or attached to, if it is not in this process yet. Blocks while that is
  /// done: milliseconds, or as long as `grace` for data that somebody holds who does not answer.
  /// - Parameters:
  ///   - name: as which others see this process.
  ///   - pausesForPort: a server on a port has the data open: long reads let its connections in between, and the data is not
  ///     handed to another process that asks for it.
  ///   - waits: data that somebody holds who does not answer is not an error: it cannot be reached for now.
  ///   - grace: how long the caller waits for who shares the data but does not answer, before it is looked for on a
  ///     thread of its own, and cannot be reached for now; `nil` for the whole patience, and then by `waits`.
  ///   - patience: how long whoever holds it may take to answer.
  ///   - objection: to a database that is named here for the first time.
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

  /// By path. A directory is opened once in a process.
  private static let open = Mutex<[String: Weak]>([:])

  /// The name of the program.
  package static let processName = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "program"

  /// The random number of the data; `nil` as long as nobody has told it.
  package var instance: [UInt8]? { keeper.state.withLock { $0.instance } }

  /// What to tell a user who asks for more than whoever has the data open gives; `nil` where that is not so.
  package func durabilityWarning(_ wanted: BackendConfiguration.Durability) -> String? {
    guard wanted == .full, case .attached(let attachment)? = keeper.state.withLock({ $0.way }),
      attachment.welcome.durability != .full
    else { return nil }
    return "\(attachment.owner) has the data open, where a commit does not wait for the disk as --sync full asks."
  }

  /// Who uses the data of a directory, first the process that has it open, as that one says. Blocks for a moment.
  /// - Returns: empty where nobody has it open who shares it, or answers.
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

  /// Who uses the data, now and after each change.
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

  /// To be called before this process is stopped, as by Ctrl-Z: a stopped process answers nobody. Others can have the
  /// data when this returns, unless something goes on here for longer than the grace. Calls wait until `takeUp`.
  package func handOver(within grace: Duration = .milliseconds(500)) async { await keeper.handOver(within: grace) }

  /// To be called when this process goes on after `handOver`.
  package func takeUp() { keeper.takeUp() }

  /// Has the data open in this process. Another that has it is asked to let it go, and is attached to this one then, unless
  /// it serves the data on a port.
  /// - Parameter patience: how long that may take.
  /// - Throws: `unavailable` with the reason why it is not to be had; `cancelled`.
  package func claim(within patience: Duration = .seconds(5)) async throws(RPCStatus) {
    try await keeper.claim(until: .now + patience)
  }

  /// How calls get to the data for a while.
  package enum Access: Sendable {
    /// This process has it.
    case own(LocalBackend)
    /// Another process has it.
    case attached(to: DataMember)
  }

  /// Waits until a way to the data is over, or for cancellation.
  package typealias End = @Sendable () async -> Void

  /// The way to the data there is, or the next that comes, however long that takes.
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
        // Open as long as this value lives, which is until here.
        if error.code == .cancelled || keeper.state.withLock({ $0.isClosed }) { throw error }
        known = keeper.state.withLock { $0.generation }
      }
    }
  }
}

extension DataKeeper {
  /// Finds the first way.
  /// - Parameters:
  ///   - waits: nobody who answers is no error.
  ///   - grace: after which one who shares the data is waited for elsewhere.
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
        // One who does not share it, such as a repair, is not waited for; who has just come says in a moment that it does.
        let serves = DirectoryLock.lastHolder(of: directory)?.serves ?? true
        if ContinuousClock.now - began < (serves ? grace ?? patience : .milliseconds(30)) {
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
