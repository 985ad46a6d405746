// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreSQLite
import FirestoreServer
import Glibc
import LocalSockets
import Synchronization

/// One search for a connection to the data, performed by the searching thread.
struct DataSearch {
  enum Find {
    case own(LocalBackend)
    case attached(SharingLine.Welcome, OwnerConnection, received: [UInt8])
    /// The data is locked, but no process is accepting connections on its socket.
    case nobody(StoreError)
    /// A process has accepted the connection, but has not sent anything yet.
    case silent(OwnerConnection, StoreError)
    case failed(StoreError)
  }

  /// The time after which a process that has locked the data but does not share it counts as unresponsive.
  static let patience = Duration.milliseconds(1_500)

  /// The interval in milliseconds at which the search checks whether the process that it waits for was stopped.
  private static let glance: CInt = 100

  private(set) var socket: DataSocket?
  /// The maximum time to wait for the first answer from the process that has the data open. `nil` for the default of
  /// `DataKeeper`.
  var grace: Duration?

  private static func milliseconds(until deadline: ContinuousClock.Instant) -> CInt {
    CInt(clamping: Int64((deadline - .now) / .milliseconds(1)) + 1)
  }

  /// Tries to get the lock. If another process has the lock, tries to connect to the socket.
  mutating func attempt(_ keeper: DataKeeper) -> Find {
    let held: StoreError
    do throws(StoreError) {
      return .own(try keeper.open())
    } catch {
      guard error.kind == .locked else { return .failed(error) }
      held = error
    }
    do throws(StoreError) {
      if socket == nil { socket = try DataSocket(in: keeper.directory) }
    } catch { return .failed(error) }
    switch socket?.connect() {
    case nil, .nobody: return .nobody(held)
    case .stranger(let user):
      return .failed(
        StoreError(
          .notPrivate,
          "The data directory \(keeper.directory) is served by a process of another user (\(user)). Choose another "
            + "directory."
        ))
    case .connected(let descriptor): return greet(OwnerConnection(descriptor), held, keeper)
    }
  }

  private func greet(_ line: OwnerConnection, _ held: StoreError, _ keeper: DataKeeper) -> Find {
    guard line.send(.hello(version: SharingLine.version, keeper.member)) else { return .nobody(held) }
    return welcome(on: line, until: .now + (grace ?? keeper.patience), held, keeper)
  }

  /// - Parameter deadline: the time at which to stop waiting; `nil` to wait forever. The wait also ends if the process
  ///   is stopped.
  func welcome(
    on line: OwnerConnection, until deadline: ContinuousClock.Instant?, _ held: StoreError, _ keeper: DataKeeper
  ) -> Find {
    var received: [UInt8] = []
    var news = OwnerConnection.Event.silence
    repeat {
      news = line.next(&received, within: deadline.map { min(Self.glance, Self.milliseconds(until: $0)) } ?? -1)
      guard case .silence = news else { break }
      if let holder = DirectoryLock.presentHolder(of: keeper.directory), ProcessState.isStopped(holder.process) {
        break
      }
    } while deadline.map { .now < $0 } ?? true
    switch news {
    case .line(.welcome(let welcome)) where welcome.version == SharingLine.version:
      return .attached(welcome, line, received: received)
    case .line(.welcome(let welcome)):
      return .failed(
        StoreError(
          .locked,
          "\(welcome.owner) has the data open with an incompatible version of Hearth "
            + "(\(welcome.version), not \(SharingLine.version)). Use the same version, or end that process."))
    case .line(.refusal(let reason)): return .failed(StoreError(.locked, reason))
    case .silence: return .silent(line, held)
    case .line, .end: return .nobody(held)
    }
  }
}

extension DataKeeper {
  /// Opens the data, which locks it, and serves it to other processes.
  /// - Throws: `locked` if another process has the data open.
  func open() throws(StoreError) -> LocalBackend {
    let backend = try LocalBackend(
      configuration, on: ServerThread.executor,
      pause: { [weak self, pausesForPort] in
        // A long read only needs to pause for connections if there are any.
        let hasGuests = self?.state.withLock { !$0.others.isEmpty } ?? false
        if pausesForPort || hasGuests { await ServerThread.pause() } else { await Task.yield() }
      })
    var server: SocketServer?
    do throws(StoreError) {
      let socket = try DataSocket(in: directory)
      let descriptor = try socket.listen()
      let welcome = SharingLine.Welcome(
        instance: backend.instance, durability: configuration.durability, owner: member)
      server = SocketServer(
        listening: descriptor, to: socket.trustedUsers, backend: backend, welcome: welcome
      ) { [weak self] members in
        self?.change { $0.others = members }
      } onClaim: { [weak self] in
        self?.giveUp()
      }
    } catch {
      // Not an error: this process can use the data even if it cannot share it.
      configuration.report(error.message)
    }
    let isWanted = change { state in
      state.way = .own(backend)
      state.reason = nil
      state.generation += 1
      state.instance = backend.instance
      state.server = server
    }
    if !isWanted, let server {
      // The error is ignored: a remaining socket has no listener, and the next owner replaces it.
      try? DataSocket(in: directory).remove()
      server.close()
    }
    return backend
  }

  /// Maintains a connection to the data, or searches for the data, until this process opens the data itself or stops
  /// using it. Blocks the calling thread.
  func keep(_ search: DataSearch) {
    var search = search
    search.grace = nil
    var failures: UInt32 = 0
    var began = ContinuousClock.now
    while state.withLock({ !$0.isClosed }) {
      if let attached = state.withLock({ $0.arrival.take() }) {
        stay(attached)
        (began, failures) = (.now, 0)
        continue
      }
      switch search.attempt(self) {
      case .own: return
      case .attached(let welcome, let line, let received): arrive(welcome, line, received, search.socket)
      case .silent(let line, let held):
        wait(for: line, held, search)
        began = .now
      case .nobody(let held):
        let isLong = ContinuousClock.now - began > patience
        if isLong { tell(held) }
        usleep(isLong ? 100_000 : 10_000)
      case .failed(let error):
        tell(error)
        failures += 1
        // Retries soon at first, because damage, a full disk or another version may be fixed soon.
        usleep(min(failures, 20) * 50_000)
      }
    }
  }

  private func arrive(
    _ welcome: SharingLine.Welcome, _ line: OwnerConnection, _ received: [UInt8], _ socket: DataSocket?
  ) {
    let attached = attach(welcome, line, received, socket)
    state.withLock { $0.arrival = $0.isClosed ? nil : attached }
  }

  /// Continues to wait on the same connection. If the owner was stopped and is resumed, it sends its welcome message.
  /// If the owner ends, the connection ends.
  private func wait(for line: OwnerConnection, _ held: StoreError, _ search: DataSearch) {
    // Stores the connection, so that `close` can end it.
    guard change({ $0.line = line }) else { return }
    defer { change { if $0.line === line, $0.way == nil { $0.line = nil } } }
    tell(silenceOfHolder)
    if case .attached(let welcome, let line, let received) = search.welcome(on: line, until: nil, held, self) {
      arrive(welcome, line, received, search.socket)
    }
  }

  /// Reports the reason why the data is unreachable. Reports the same reason only once.
  private func tell(_ error: StoreError) {
    let status = RPCStatus(.unavailable, error.message)
    if state.withLock({ $0.reason == status }) { return }
    change { state in
      state.reason = status
      state.generation += 1
    }
  }

  /// The error to report if the process that has locked the data does not answer. Used if the name of that process is
  /// unknown.
  var silenceOfHolder: StoreError {
    let holder = DirectoryLock.presentHolder(of: directory)
    return Self.silence(of: holder.map { DataMember(process: $0.process, name: "") })
  }

  /// - Parameter owner: the process that has the data open; `nil` if unknown.
  static func silence(of owner: DataMember?) -> StoreError {
    guard let owner else { return StoreError(.locked, "The process that has the data open does not answer.") }
    let name = owner.name.isEmpty ? "Process \(owner.process)" : "Process \(owner.process) (\(owner.name))"
    return ProcessState.isStopped(owner.process)
      ? StoreError(
        .locked,
        "\(name), which has the data open, is stopped. Continue it with 'kill -CONT \(owner.process)', or end it.")
      : StoreError(.locked, "\(name), which has the data open, does not answer. Wait for it, or end it.")
  }
}

/// The socket next to the data. The process that has the data open uses it to serve other processes of the same user.
final class DataSocket: Sendable {
  private let socket: LocalSocket

  /// - Parameter directory: an existing directory.
  init(in directory: String) throws(StoreError) {
    do throws(LocalSocketError) {
      socket = try LocalSocket(LocalBackend.socketName, in: directory)
    } catch {
      throw StoreError(.notWritable, "The data directory \(directory) cannot be opened: \(error.text).")
    }
  }

  /// The socket's path in a form that is short enough for a socket address. It is valid only in this process, and only
  /// while this object exists.
  var address: String { socket.address }

  /// The users whose processes may share the data.
  var trustedUsers: Set<UInt32> { socket.trustedUsers }

  /// Starts to listen. Replaces a socket that a process did not remove before it ended.
  /// - Precondition: this process has locked the directory.
  /// - Returns: a descriptor that the caller closes.
  /// - Throws: `notWritable` if the socket cannot be created.
  func listen() throws(StoreError) -> CInt {
    do throws(LocalSocketError) {
      return try socket.listen()
    } catch {
      throw StoreError(
        .notWritable, "The data cannot be shared with other processes: \(error.path): \(error.text).")
    }
  }

  /// Removes the socket's file.
  /// - Precondition: this process has locked the directory.
  func remove() { socket.remove() }

  /// Connects, and determines the user of the process that accepts the connection.
  func connect() -> LocalSocket.Approach { socket.connect() }
}
