// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreGRPC
import FirestoreModel
import FirestoreSQLite
import FirestoreServer
import Glibc
import Synchronization

extension DataKeeper {
  /// The state that the thread needs to maintain a connection to the process that owns the data.
  struct Attached: Sendable {
    fileprivate let welcome: SharingLine.Welcome
    fileprivate let line: OwnerConnection
    fileprivate let socket: DataSocket
    fileprivate var attachment: Attachment
    /// The bytes that arrived after the owner's welcome message.
    fileprivate var received: [UInt8]
  }

  /// Times in milliseconds. `interval` is the time between pings to the owner. A stopped owner counts as unresponsive
  /// if it does not answer for `stopPatience`. A running owner may be busy with a long operation, so it counts as
  /// unresponsive only after `patience`.
  private static let (interval, stopPatience, patience): (CInt, CInt, CInt) = (2_000, 500, 10_000)

  /// - Returns: `nil` if this process no longer needs the data.
  func attach(
    _ welcome: SharingLine.Welcome, _ line: OwnerConnection, _ received: [UInt8], _ socket: DataSocket?
  ) -> Attached? {
    guard let socket else { return nil }
    let attachment = Attachment(welcome, over: socket)
    let isWanted = change { state in
      state.way = .attached(attachment)
      state.reason = nil
      state.generation += 1
      state.instance = welcome.instance
      state.line = line
    }
    if !isWanted { return nil }
    return Attached(welcome: welcome, line: line, socket: socket, attachment: attachment, received: received)
  }

  /// Remains attached until the owner ends, or until this process closes the data. While the owner does not answer,
  /// calls fail and the data counts as unreachable. Blocks the calling thread.
  func stay(_ attached: Attached) {
    var attached = attached
    let (owner, line) = (attached.welcome.owner, attached.line)
    var asked: ContinuousClock.Instant?
    defer { detach(attached.attachment) }
    while true {
      switch line.next(&attached.received, within: asked == nil ? Self.interval : Self.stopPatience) {
      case .end: return
      case .line(let news):
        asked = nil
        if attached.attachment.isOver {
          guard let again = attach(attached.welcome, line, attached.received, attached.socket) else { return }
          attached = again
        }
        if case .here(let members) = news {
          change { $0.others = members.filter { $0.process != self.member.process && $0 != owner } }
        }
        if case .refusal(let reason) = news { change { $0.refusal = reason } }
      case .silence:
        if attached.attachment.isOver { continue }
        guard let since = asked else {
          asked = .now
          if !line.send(.question) { return }
          continue
        }
        let isLong = ContinuousClock.now - since > .milliseconds(Int(Self.patience))
        if isLong || ProcessState.isStopped(owner.process) { suspend(attached.attachment) }
      }
    }
  }

  private func detach(_ attachment: Attachment) {
    change { state in
      state.way = nil
      state.reason = nil
      state.generation += 1
      state.line = nil
      state.others = []
    }
    // Callers wait for the next connection from now on.
    attachment.end()
  }

  /// Ends the calls to an owner that does not answer. The calls fail with an error that says so.
  private func suspend(_ attachment: Attachment) {
    let reason = RPCStatus(.unavailable, DataKeeper.silence(of: attachment.owner).message)
    change { state in
      state.way = nil
      state.reason = reason
      state.generation += 1
    }
    attachment.end()
  }
}

/// The connection to data that another process has open. Lasts as long as that process serves the data.
final class Attachment: Sendable {
  private struct State {
    var datastores: [DatabaseID: GRPCDatastore] = [:]
    var isOver = false
  }

  let welcome: SharingLine.Welcome
  private let socket: DataSocket
  private let state = Mutex(State())

  init(_ welcome: SharingLine.Welcome, over socket: DataSocket) {
    self.welcome = welcome
    self.socket = socket
  }

  var owner: DataMember { welcome.owner }

  /// Whether the owner has ended or does not answer.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// - Parameter thread: the thread that reads and writes the connections of the database's first datastore.
  /// - Returns: `nil` if the owner has ended or does not answer.
  func datastore(for database: DatabaseID, on thread: ConnectionThread) -> GRPCDatastore? {
    state.withLock { state in
      if state.isOver { return nil }
      if let known = state.datastores[database] { return known }
      let made = GRPCDatastore(
        Endpoint(socket: socket.address, called: "\(owner)"), database: database, credentials: .emulatorOwner,
        on: thread)
      state.datastores[database] = made
      return made
    }
  }

  /// Ends all calls.
  func end() {
    let datastores = state.withLock { state in
      state.isOver = true
      defer { state.datastores = [:] }
      return Array(state.datastores.values)
    }
    if datastores.isEmpty { return }
    Task { for datastore in datastores { await datastore.close() } }
  }
}

/// The connection for messages between an attached process and the owner. The connection ends as soon as the owner's
/// process ends, even if it is killed. Only one thread reads and writes, and it blocks while it waits. Any thread may
/// call `cut`.
final class OwnerConnection: Sendable {
  enum Event {
    case line(SharingLine)
    /// No line arrived in time.
    case silence
    /// The owner has ended, or sent an invalid line.
    case end
  }

  private let descriptor: CInt

  /// - Parameter descriptor: the connection's descriptor, which this object closes when it is released.
  init(_ descriptor: CInt) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// - Returns: false if the owner has ended.
  @discardableResult func send(_ line: SharingLine) -> Bool {
    let bytes = Array(line.text.utf8)
    // Drops the line, a request, if the buffer is full because the owner does not read.
    return Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)) >= 0
      || errno == EAGAIN
  }

  /// Ends the connection. The reader then receives `end`.
  func cut() { shutdown(descriptor, CInt(SHUT_RDWR)) }

  /// Waits for the next line.
  /// - Parameters:
  ///   - received: the bytes of the line that have already arrived.
  ///   - milliseconds: the time to wait; negative to wait forever.
  func next(_ received: inout [UInt8], within milliseconds: CInt) -> Event {
    while true {
      if let end = received.firstIndex(of: 0x0A) {
        let line = SharingLine(received[..<end])
        received.removeSubrange(...end)
        return line.map { .line($0) } ?? .end
      }
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let count = poll(&entry, 1, milliseconds)
      if count < 0, errno == EINTR { continue }
      if count == 0 { return .silence }
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let length = recv(descriptor, &bytes, bytes.count, 0)
      if length < 0, errno == EINTR { continue }
      guard length > 0, received.count <= SharingLine.maximumBytes else { return .end }
      received += bytes[..<length]
    }
  }
}

/// The system's information about a process.
enum ProcessState {
  /// Whether the process is stopped by a signal, for example by Ctrl-Z.
  static func isStopped(_ process: Int32) -> Bool {
    let descriptor = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0, let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else { return false }
    return [UInt8(ascii: "T"), UInt8(ascii: "t")].contains(bytes[end + 2])
  }
}
