// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreClientState
package import FirestoreModel
package import FirestoreSQLite
import FirestoreServer
import Foundation
import Synchronization

/// The data of a directory, which any number of processes use together. The first that comes has it open and serves it
/// to the others on a socket beside it; when that one ends, another takes its place. Open as long as this value lives.
package final class SharedData: Sendable {
  private let keeper: DataKeeper

  private init(_ keeper: DataKeeper) { self.keeper = keeper }

  deinit { keeper.close() }

  /// The data of a directory, which is opened, or attached to, if it is not in this process yet. Blocks while that is
  /// done: milliseconds, or a second and a half for data that somebody holds who does not answer.
  /// - Parameters:
  ///   - name: as which others see this process.
  ///   - pausesForPort: long reads let connections in between that lead to the backend besides the socket's.
  ///   - waits: data that somebody holds who does not answer is not an error: it cannot be reached for now.
  /// - Throws: `locked` when another process holds the directory and does not share it; `notWritable`, `notPrivate`,
  ///   `newerSchema`, `corrupt`.
  package static func open(
    _ directory: String, durability: BackendConfiguration.Durability = .normal,
    pageCacheBytes: Int = BackendConfiguration.usualPageCacheBytes, as name: String = processName,
    pausesForPort: Bool = false, waits: Bool = false, report: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(StoreError) -> SharedData {
    let path = URL(fileURLWithPath: directory, isDirectory: true).standardizedFileURL.path
    return try open.withLock { open -> Result<SharedData, StoreError> in
      if let data = open[path]?.data { return .success(data) }
      return Result { () throws(StoreError) in
        var configuration = BackendConfiguration(
          location: .directory(path), durability: durability, now: { SystemClock.now }, report: report)
        configuration.pageCacheBytes = pageCacheBytes
        let data = SharedData(
          DataKeeper(
            path, configuration, as: DataMember(process: getpid(), name: name), pausesForPort: pausesForPort))
        try data.keeper.find(waits: waits)
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

  /// What a commit survives at whoever has the data open now; `nil` while nobody is known to.
  package var durability: BackendConfiguration.Durability? {
    switch keeper.state.withLock({ $0.way }) {
    case .own: keeper.configuration.durability
    case .attached(let attachment): attachment.welcome.durability
    case nil: nil
    }
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

  /// How calls get to the data for a while.
  package enum Access: Sendable {
    /// This process has it.
    case own(LocalBackend)
    /// Over a socket with this path.
    case over(socket: String, of: DataMember)
  }

  /// The way to the data there is, or the next that comes.
  /// - Returns: also a wait for its end; `nil` for the data of this process, which has none.
  package func access() async throws(RPCStatus) -> (Access, ended: (@Sendable () async -> Void)?) {
    var known: Int?
    while true {
      do throws(RPCStatus) {
        let passage = try await keeper.way(knowing: known)
        switch passage.way {
        case .own(let backend): return (.own(backend), nil)
        case .attached(let attachment):
          let keeper = keeper
          return (
            .over(socket: attachment.address, of: attachment.owner),
            { await keeper.end(of: passage) }
          )
        }
      } catch {
        if error.code == .cancelled { throw error }
        known = keeper.state.withLock { $0.generation }
      }
    }
  }
}

extension DataKeeper {
  /// Finds the first way.
  /// - Parameter waits: nobody who answers is no error.
  fileprivate func find(waits: Bool) throws(StoreError) {
    var search = DataSearch()
    let deadline = ContinuousClock.now + .milliseconds(Int(DataSearch.patience) * 2 / 3)
    while true {
      let failure: StoreError
      switch search.attempt(self) {
      case .own: return
      case .attached(let welcome, let line, let received):
        return start(attach(welcome, line, received, search.socket), from: search)
      case .nobody(let held):
        if .now < deadline {
          usleep(10_000)
          continue
        }
        failure = held
      case .silent:
        failure = Self.silence(of: DirectoryLock.lastHolder(of: directory).map { DataMember(process: $0, name: "") })
      case .failed(let error): failure = error
      }
      guard waits, failure.kind == .locked else { throw failure }
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
