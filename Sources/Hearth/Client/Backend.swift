// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
package import FirestoreRemote
import Foundation

/// The server side of an app.
public struct Backend: Hashable, Sendable {
  enum Kind: Hashable {
    case embedded(directory: String)
    case inMemory(name: String?)
    case remote(RemoteCredentials)
    case datastore(CustomDatastore)
  }

  let kind: Kind

  /// The embedded backend, durable under `$XDG_DATA_HOME/hearth` (`~/.local/share/hearth`).
  public static var embedded: Backend { embedded(directory: StandardDirectories.data) }

  /// The embedded backend, durable in `backend` below a directory; the caches of its apps lie in `cache` beside it.
  /// Both are made if need be. Apps of one process that name the same directory are clients of one backend; another
  /// process finds it locked, and works offline.
  public static func embedded(directory: String) -> Backend { Backend(kind: .embedded(directory: directory)) }

  /// An embedded backend that lives in memory and is the app's own.
  public static var inMemory: Backend { Backend(kind: .inMemory(name: nil)) }

  /// An embedded backend that lives in memory as long as this process; apps that say the same name are its clients.
  public static func inMemory(named name: String) -> Backend { Backend(kind: .inMemory(name: name)) }

  /// Any other implementation of the seam, such as one that injects faults.
  /// - Parameter clock: measures every delay and timeout of the app's clients.
  package static func datastore(
    _ datastore: any Datastore, clock: any Clock<Duration> = ContinuousClock()
  ) -> Backend {
    Backend(kind: .datastore(CustomDatastore(datastore, clock)))
  }

  var clock: any Clock<Duration> {
    if case .datastore(let custom) = kind { custom.clock } else { ContinuousClock() }
  }

  func cacheDirectory(ofApp name: String) -> String? {
    guard case .embedded(let directory) = kind else { return nil }
    return URL(fileURLWithPath: directory, isDirectory: true).appendingPathComponent("cache", isDirectory: true)
      .appendingPathComponent(PathComponent.escaped(name), isDirectory: true).path
  }
}

/// A datastore with the identity that makes apps comparable.
final class CustomDatastore: Hashable, Sendable {
  let datastore: any Datastore
  let clock: any Clock<Duration>

  init(_ datastore: any Datastore, _ clock: any Clock<Duration>) {
    self.datastore = datastore
    self.clock = clock
  }

  static func == (left: CustomDatastore, right: CustomDatastore) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

enum StandardDirectories {
  /// `$XDG_DATA_HOME/hearth`. A relative path in the variable is ignored, as the XDG specification asks.
  static var data: String {
    let set = ProcessInfo.processInfo.environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return (set ?? NSHomeDirectory() + "/.local/share") + "/hearth"
  }
}

/// Names chosen by users as one component of a file path.
enum PathComponent {
  /// Letters, digits, `-` and `_` as they are, every other byte as `%XX`: no separators, no `..`, no collisions.
  static func escaped(_ name: String) -> String {
    var text = ""
    for byte in name.utf8 {
      let character = Character(UnicodeScalar(byte))
      let isPlain = byte < 128 && (character.isLetter || character.isNumber || character == "-" || character == "_")
      text += isPlain ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    return text
  }
}
