// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import CommandOptions
package import CommandOutput
import CommandTransfer
package import Dashboard
import DashboardModel
import Dispatch
package import FirestoreBackend
package import FirestoreClientState
import FirestoreGRPC
package import FirestoreModel
import Foundation
import Glibc
import LocalSockets
import Synchronization
import TerminalCanvas

package import class Hearth.Inspection
package import enum Hearth.InspectionPermission

/// The programs of this user whose clients can be inspected.
package struct InspectablePrograms {
  package struct Entry {
    package var address: InspectionAddress
    package var find: Find
  }

  package enum Find {
    case program(InspectionGreeting, InspectionLink)
    /// A program that uses another version of the protocol.
    case other(InspectionGreeting.Core)
    /// A process that accepts connections but sends no greeting. It is stopped, or is another kind of program.
    case silent
    case stranger(UInt32)
  }

  /// The time in milliseconds to wait for a greeting.
  private static let patience: CInt = 1_500

  package let folder: InspectionFolder
  package private(set) var entries: [Entry] = []

  /// Connects to every socket in the folder, and removes the sockets of ended processes.
  /// - Throws: if other users could have put sockets in the folder.
  package init(in folder: InspectionFolder) throws(CommandFailure) {
    self.folder = folder
    let addresses: [InspectionAddress]
    do throws(InspectionFolder.Failure) {
      addresses = try folder.entries()
    } catch {
      throw CommandFailure(.permissionDenied, error.message)
    }
    for address in addresses {
      // A folder that was removed meanwhile has no programs.
      guard let socket = try? folder.socket(address) else { continue }
      if let find = Self.look(at: socket, address) { entries.append(Entry(address: address, find: find)) }
    }
  }

  private static func look(at socket: LocalSocket, _ address: InspectionAddress) -> Find? {
    switch socket.connect() {
    case .nobody:
      if !address.isAlive { socket.remove() }
      return nil
    case .stranger(let user): return .stranger(user)
    case .connected(let descriptor):
      let link = InspectionLink(descriptor)
      // Lines that are not a greeting come from another program, or from another version of this one.
      guard let line = link.receive(within: patience)?.first,
        let core = try? InspectionLine.value(InspectionGreeting.Core.self, of: line)
      else { return .silent }
      guard core.hearth == InspectionGreeting.currentVersion,
        let greeting = try? InspectionLine.value(InspectionGreeting.self, of: line)
      else { return .other(core) }
      return .program(greeting, link)
    }
  }

  /// Finds the only program with a process number or a name.
  /// - Throws: a failure if there is no such program, or if there are several. In the latter case it lists their
  ///   process numbers.
  package func entry(_ text: String) throws(CommandFailure) -> (InspectionAddress, InspectionGreeting, InspectionLink) {
    let found: [Entry]
    if let address = InspectionAddress(text) {
      found = entries.filter { $0.address == address }
    } else {
      // A command of hearth can also be named without `hearth`: `watch` for `hearth watch`.
      found = entries.filter { $0.name == text || $0.name == "hearth " + text }
    }
    if found.count > 1 {
      let list = found.map { "\($0.address) (\($0.words))" }.joined(separator: ", ")
      throw CommandFailure(.usage, "\(text): several programs have this name. Use a number: \(list)")
    }
    guard let entry = found.first else {
      let others = entries.map { "\($0.address) (\($0.name ?? "?"))" }.joined(separator: ", ")
      let list = others.isEmpty ? Self.nobody : "Programs: \(others)."
      throw CommandFailure(.noInput, "\(text): no such program can be watched. \(list)")
    }
    switch entry.find {
    case .program(let greeting, let link): return (entry.address, greeting, link)
    case .other(let core):
      throw CommandFailure(
        .configuration,
        "\(core.name) \(entry.address) reports in format \(core.hearth), but this hearth "
          + "reads format \(InspectionGreeting.currentVersion). Use the version of hearth that matches the program.")
    case .silent:
      throw CommandFailure(
        .unavailable,
        "\(entry.address) does not answer. If it is suspended, resume it with fg or kill -CONT "
          + "\(entry.address.process).")
    case .stranger(let user):
      throw CommandFailure(
        .permissionDenied, "\(folder.path): \(entry.address) is a process of another user (\(user)).")
    }
  }

  package static let nobody =
    "No program can be watched now. Start a program, the dashboard or 'hearth watch' with HEARTH_INSPECT=1, or set "
    + "isInspectable in the program's FirestoreSettings."
}

extension InspectablePrograms.Entry {
  package var name: String? {
    switch find {
    case .program(let greeting, _): greeting.name
    case .other(let core): core.name
    case .silent: address.programName
    case .stranger: nil
    }
  }

  package var words: String {
    switch find {
    case .program(let greeting, _): SafeText.sanitized(greeting.database.text)
    case .other(let core): "version \(core.hearth)"
    case .silent: "does not answer"
    case .stranger(let user): "of user \(user)"
    }
  }
}

extension InspectablePrograms {
  /// A table of the programs for people. Ages are relative to this machine's clock.
  package func table(now: Timestamp) -> [ShownText] {
    if entries.isEmpty { return [] }
    var table = TextTable(["PID", "NAME", "DATABASE", "LISTENERS", "SINCE"].map { TextTable.Column(title: $0) })
    for entry in entries {
      switch entry.find {
      case .program(let greeting, _):
        table.add([
          "\(entry.address)", greeting.name, greeting.database.text, "\(greeting.listeners)",
          Self.age(from: greeting.since, to: now),
        ])
      case .other, .silent, .stranger:
        table.add(["\(entry.address)", entry.name ?? "-", "(\(entry.words))", "-", "-"])
      }
    }
    return table.lines()
  }

  private static func age(from start: Timestamp, to now: Timestamp) -> String {
    // The start time comes from another program and can be out of range.
    let (passed, isTooLong) = now.seconds.subtractingReportingOverflow(start.seconds)
    let seconds = isTooLong ? 0 : max(0, passed)
    return switch seconds {
    case ..<60: "\(seconds)s"
    case ..<3600: "\(seconds / 60)m"
    case ..<86_400: "\(seconds / 3600)h \(seconds % 3600 / 60)m"
    default: "\(seconds / 86_400)d \(seconds % 86_400 / 3600)h"
    }
  }
}

/// A program whose client is shown by a dashboard, and the connection to this program.
package struct Attachment: Sendable {
  package var program: AttachedProgram
  package var link: InspectionLink
  package var greeting: InspectionGreeting

  package init(
    _ greeting: InspectionGreeting, at address: InspectionAddress, over link: InspectionLink, allowsControl: Bool
  ) {
    program = AttachedProgram(
      process: greeting.process, client: address.client, name: greeting.name, allowsControl: allowsControl)
    self.link = link
    self.greeting = greeting
  }

  /// The program's backend, with the name that the dashboard shows.
  package var backend: ConnectedBackend {
    let kind: ConnectedBackend.Kind =
      switch greeting.backend {
      case .embedded, .other: .embedded
      case .emulator: .emulator
      case .cloud: .cloud
      }
    return ConnectedBackend(
      kind, project: greeting.database.project, database: greeting.database.database, host: greeting.host,
      isTLS: greeting.isTLS)
  }
}

/// A connection to a program that can be inspected. It has one reader. Lines that are not read yet wait in the program,
/// which is not blocked by them.
package final class InspectionLink: Sendable {
  private let descriptor: CInt
  private let queue = DispatchQueue(label: "hearth.inspection-link")
  private let received = Mutex(ReceivedLines())

  /// - Parameter descriptor: the descriptor of the connection. It is closed when this object is released.
  init(_ descriptor: CInt) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Waits for the next lines. Returns `nil` if the program has disconnected, and after `cut`.
  func next() async -> [[UInt8]]? {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: self.receive(within: -1)) }
    }
  }

  /// Blocks the thread until at least one line has arrived.
  /// - Parameter milliseconds: the timeout; negative to wait without a timeout.
  /// - Returns: `nil` if the program has disconnected, and after the timeout.
  func receive(within milliseconds: CInt) -> [[UInt8]]? {
    while true {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&entry, 1, milliseconds)
      if ready < 0, errno == EINTR { continue }
      if ready <= 0 { return nil }
      var bytes = [UInt8](repeating: 0, count: 64 << 10)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      let (lines, rest) = received.withLock { received in
        (received.take(bytes[..<count]), received.count)
      }
      if !lines.isEmpty { return lines }
      if rest > InspectionLine.longestEvent { return nil }
    }
  }

  /// - Returns: `false` if the program has disconnected or does not read.
  @discardableResult func send(_ value: some JSONFormed) -> Bool {
    let bytes = InspectionLine.bytes(value)
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
      }
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }

  /// Ends the connection. The reader then receives `nil` from `next` or `receive`.
  func cut() { shutdown(descriptor, CInt(SHUT_RDWR)) }
}

extension StorageOptions.Locations {
  /// Makes this command's client visible to `hearth attach`, which can also inject faults.
  /// - Returns: `nil` unless the user allows this with `HEARTH_INSPECT=1`.
  package func inspection(_ faults: FaultInjector = FaultInjector()) -> Inspection.Plan? {
    let environment = ProcessInfo.processInfo.environment
    guard InspectionPermission.isGiven(unlessSaid: false, environment) else { return nil }
    let (kind, host, isTLS): (InspectionGreeting.BackendKind, String?, Bool) =
      switch backend {
      case .embedded: (.embedded, nil, false)
      case .remote(let remote): (isCloud ? .cloud : .emulator, remote.endpoint.text, remote.endpoint.isTLS)
      }
    let greeting = InspectionGreeting(
      process: getpid(), name: ProgramName.ofProcess, database: database, backend: kind, host: host, isTLS: isTLS,
      since: .now)
    return Inspection.Plan(folder: InspectionFolder(environment), greeting: greeting, faults: faults)
  }
}
