// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Dashboard
import DashboardModel
import FirestoreLocal
import FirestoreModel
import Foundation

import enum Hearth.PathComponent

/// The listeners of one database that come back at the next start: a file of its own below the state folder, written
/// whenever the set of open listeners changes.
struct KeptListeners {
  let path: String
  /// The file's name in messages.
  private let name: String
  private let identity: CacheIdentity
  private let database: DatabaseID
  /// The file's content; `nil` if the file must be written again.
  private var kept: [ListenerDefinition]? = []
  /// Whether nothing is written: the file holds what cannot be kept otherwise, or its failure was reported already.
  private var isRefused = false

  init(of identity: CacheIdentity, _ database: DatabaseID, in paths: Paths) {
    self.identity = identity
    self.database = database
    path = "\(paths.listenerFolder)/\(PathComponent.escaped(identity.description)).toml"
    name = paths.short(path)
  }

  /// - Returns: the listeners that were open last, and notices about what could not be read. A file with such faults is
  ///   kept under another name before it is written again.
  mutating func read() -> (definitions: [ListenerDefinition], notices: [String]) {
    guard FileManager.default.fileExists(atPath: path) else { return ([], []) }
    let file: ListenerFile
    do throws(CommandFailure) {
      file = try ListenerFile.read(path, name: name, database: database)
    } catch {
      kept = nil
      return ([], ["\(error.message) \(setAside())"])
    }
    kept = file.problems.isEmpty ? file.definitions : nil
    if file.problems.isEmpty { return (file.definitions, []) }
    return (file.definitions, file.problems + ["What could not be read of the open listeners: \(setAside())"])
  }

  /// Keeps the file's present content under another name, or gives up writing it.
  private mutating func setAside() -> String {
    for number in 1...99 {
      let suffix = number == 1 ? ".bad" : ".bad-\(number)"
      if FileManager.default.fileExists(atPath: path + suffix) { continue }
      do {
        try FileManager.default.copyItem(atPath: path, toPath: path + suffix)
        return "the file as it was is kept in \(name)\(suffix)."
      } catch {
        break
      }
    }
    isRefused = true
    return "\(name) is left as it is, so that listeners opened now do not come back: mend it, or move it away."
  }

  /// Writes the open listeners, if they are others than were written last.
  /// - Returns: a notice, once, if the file cannot be written.
  mutating func keep(_ definitions: [ListenerDefinition]) -> [String] {
    guard !isRefused, definitions != kept else { return [] }
    kept = definitions
    let (text, left) = ListenerFile.text(
      of: definitions, heading: "Listeners that hearth opens again: \(identity)", database: database)
    do throws(CommandFailure) {
      try Self.write(text, path)
    } catch {
      isRefused = true
      return ["\(error.message) The listeners that are open do not come back at the next start."]
    }
    return left.isEmpty ? [] : ["\(left.joined(separator: ", ")): not kept for the next start."]
  }

  private static func write(_ text: String, _ path: String) throws(CommandFailure) {
    let folder = OutputPlace.split(path).folder
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandFailure(.cannotCreate, "\(folder) cannot be made.")
    }
    try TextFile.write(text, to: path, mode: 0o600)
  }
}
