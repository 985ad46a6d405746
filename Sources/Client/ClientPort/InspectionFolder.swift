// SPDX-License-Identifier: Apache-2.0
import Foundation
package import LocalSockets

/// The folder with the sockets on which a user's programs can be watched: `PID.sock`, and `PID-2.sock` for the second
/// client of a process.
package struct InspectionFolder: Hashable, Sendable {
  /// The reason why a folder cannot be used. Contains the folder's name and a remedy.
  package struct Failure: Error, Hashable, Sendable {
    package var message: String

    package init(message: String) { self.message = message }
  }

  package let path: String

  package init(path: String) { self.path = path }

  /// Chooses a folder that only the user can access: in `$XDG_RUNTIME_DIR`, or in `/tmp` if this variable contains no
  /// absolute path.
  package init(_ environment: [String: String]) {
    if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") {
      path = runtime + "/hearth"
    } else {
      path = "/tmp/hearth-\(geteuid())"
    }
  }

  /// Creates the folder if it does not exist.
  /// - Throws: `Failure` if the folder cannot be created, or if other users could create files in it.
  package func prepare() throws(Failure) {
    if mkdir(path, 0o700) != 0, errno != EEXIST {
      throw Failure(message: "\(path) cannot be created: \(String(cString: strerror(errno))).")
    }
    guard try isThere() else { throw Failure(message: "\(path) was deleted again.") }
  }

  /// Whether the folder exists. Checks that only the user has access.
  /// - Throws: `Failure` if the folder belongs to another user, or if other users have access.
  package func isThere() throws(Failure) -> Bool {
    var information = stat()
    guard lstat(path, &information) == 0 else {
      if errno == ENOENT { return false }
      throw Failure(message: "\(path) cannot be examined: \(String(cString: strerror(errno))).")
    }
    guard information.st_mode & S_IFMT == S_IFDIR else {
      throw Failure(message: "\(path) is not a folder. Move it away, or set XDG_RUNTIME_DIR to another folder.")
    }
    guard information.st_uid == geteuid() else {
      throw Failure(
        message: "\(path) belongs to another user (\(information.st_uid)). Set XDG_RUNTIME_DIR to your own folder."
      )
    }
    guard information.st_mode & 0o077 == 0 else {
      throw Failure(message: "\(path) is open to other users: chmod 700 \(path), or remove it.")
    }
    return true
  }

  /// The addresses of the sockets in the folder. Some may belong to processes that have ended.
  package func entries() throws(Failure) -> [InspectionAddress] {
    guard try isThere() else { return [] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.compactMap(InspectionAddress.init(fileName:)).sorted()
  }

  package func socket(_ address: InspectionAddress) throws(LocalSocketError) -> LocalSocket {
    try LocalSocket(address.fileName, in: path)
  }
}

/// The address of an inspectable client: its process id, and its number within the process.
package struct InspectionAddress: Hashable, Comparable, Sendable, CustomStringConvertible {
  package var process: Int32
  /// The client's number, from 1, in the order in which the process opened its clients.
  package var client: Int

  package init(process: Int32, client: Int = 1) {
    self.process = process
    self.client = client
  }

  /// Parses an address; fails for any other text.
  /// - Parameter text: `4711`, or `4711-2`.
  package init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let process = Int32(parts[0]), process > 0, parts[0].first != "+" else {
      return nil
    }
    self.init(process: process)
    guard parts.count == 2 else { return }
    guard let client = Int(parts[1]), client > 1 else { return nil }
    self.client = client
  }

  init?(fileName: String) {
    guard fileName.hasSuffix(".sock") else { return nil }
    self.init(fileName.dropLast(5))
  }

  package var description: String { client == 1 ? "\(process)" : "\(process)-\(client)" }
  var fileName: String { "\(self).sock" }

  /// Whether the process is running, according to the system's process table. A zombie (ended, but not yet reaped by
  /// its parent) is not running.
  package var isAlive: Bool {
    guard kill(process, 0) == 0 || errno != ESRCH else { return false }
    guard let facts = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let state = facts[(facts.lastIndex(of: ")") ?? facts.startIndex)...].dropFirst(2).first
    else { return true }
    return !["Z", "X"].contains(state)
  }

  /// The name of the process's program in the system's process table; `nil` if the process does not exist.
  package var programName: String? {
    guard let line = try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8) else { return nil }
    return line.split(separator: "\0").first?.split(separator: "/").last.map(String.init)
  }

  package static func < (left: Self, right: Self) -> Bool {
    (left.process, left.client) < (right.process, right.client)
  }
}
