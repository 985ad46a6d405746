// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import CommandTransfer
package import FirestoreInspection
package import FirestoreModel
import LocalSockets
import TerminalCanvas

/// The clients of this user's programs that may be watched.
package struct InspectablePrograms {
  package struct Entry {
    package var address: InspectionAddress
    package var find: Find
  }

  package enum Find {
    case program(InspectionGreeting, InspectionLink)
    /// A program that speaks another version of the protocol.
    case other(InspectionGreeting.Core)
    /// A process that listens and sends no greeting: it is stopped, or is no such program.
    case silent
    case stranger(UInt32)
  }

  /// The time in milliseconds to wait for a greeting.
  private static let patience: CInt = 1_500

  package let folder: InspectionFolder
  package private(set) var entries: [Entry] = []

  /// Asks the process behind every socket of the folder, and removes the sockets of processes that are gone.
  /// - Throws: for a folder in which other users could have put sockets.
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
      // Lines that are no greeting come from another program, or from another version of this one.
      guard let line = link.receive(within: patience)?.first,
        let core = try? InspectionLine.value(InspectionGreeting.Core.self, of: line)
      else { return .silent }
      guard core.hearth == InspectionGreeting.currentVersion,
        let greeting = try? InspectionLine.value(InspectionGreeting.self, of: line)
      else { return .other(core) }
      return .program(greeting, link)
    }
  }

  /// Finds the one program that a process number or a name means.
  /// - Throws: one line if there is none, or if there are several, with their numbers.
  package func entry(_ text: String) throws(CommandFailure) -> (InspectionAddress, InspectionGreeting, InspectionLink) {
    let found: [Entry]
    if let address = InspectionAddress(text) {
      found = entries.filter { $0.address == address }
    } else {
      // A command of hearth is also called without its program: `watch` for `hearth watch`.
      found = entries.filter { $0.name == text || $0.name == "hearth " + text }
    }
    if found.count > 1 {
      let list = found.map { "\($0.address) (\($0.words))" }.joined(separator: ", ")
      throw CommandFailure(.usage, "\(text): several are called so. Say which by its number: \(list)")
    }
    guard let entry = found.first else {
      let others = entries.map { "\($0.address) (\($0.name ?? "?"))" }.joined(separator: ", ")
      let list = others.isEmpty ? Self.nobody : "There are: \(others)."
      throw CommandFailure(.noInput, "\(text): no such program can be watched. \(list)")
    }
    switch entry.find {
    case .program(let greeting, let link): return (entry.address, greeting, link)
    case .other(let core):
      throw CommandFailure(
        .configuration,
        "\(core.name) \(entry.address) tells what it does in version \(core.hearth), and this hearth "
          + "reads version \(InspectionGreeting.currentVersion): use the hearth of the version that it was built with.")
    case .silent:
      throw CommandFailure(
        .unavailable, "\(entry.address) does not answer: it may be stopped (fg or kill -CONT \(entry.address.process))."
      )
    case .stranger(let user):
      throw CommandFailure(
        .permissionDenied, "\(folder.path): \(entry.address) is a process of another user (\(user)).")
    }
  }

  package static let nobody =
    "No program can be watched now. Start one with HEARTH_INSPECT=1 (a dashboard or a watch of hearth too), or set "
    + "isInspectable in its FirestoreSettings."
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
  /// A table of the programs for people; times are by this machine's clock.
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
    // The start is another program's statement, which may be absurd.
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
