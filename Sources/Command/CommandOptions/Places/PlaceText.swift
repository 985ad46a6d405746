// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreBackend
package import FirestoreModel
import FirestoreText

/// The parts of a place as it is written on the command line: a database, a path in it, and a moment. Each may be left
/// out: `connection:prod`, `emulator:localhost:8080/cities`, `cloud:my-project/cities/SF@-10m`, `./backup/cities`,
/// `cities@-10m`.
package struct PlaceText: Equatable, Sendable {
  /// A database other than the one of the options.
  package enum Database: Equatable, Sendable {
    /// One of `connections.toml`.
    case connection(String)
    /// The address of the emulator or of `hearth serve`.
    case emulator(String)
    /// A project of Cloud Firestore, as the application's default credentials.
    case cloud(project: String)
    /// A folder of the embedded backend's data, there or not.
    case folder(String)
  }

  package var database: Database?
  /// The text behind the database; `nil` if nothing is.
  package var path: String?
  package var time: Timestamp?

  /// The forms of a place in help texts.
  package static let forms = "a path, ./FOLDER, data:FOLDER, connection:NAME, emulator:HOST:PORT or cloud:PROJECT"

  /// - Parameter isData: whether a folder holds data, which ends the folder of a text that goes on with a path.
  package init(_ text: String, isData: (String) -> Bool = LocalBackend.exists(in:)) {
    let (text, time) = Self.moment(of: text)
    self.time = time
    for (scheme, make) in Self.schemes where text.hasPrefix(scheme) {
      let rest = text.dropFirst(scheme.count)
      let name = rest.prefix { $0 != "/" }
      (database, path) = (make(String(name)), Self.path(rest.dropFirst(name.count)))
      return
    }
    if text.hasPrefix("data:") {
      (database, path) = Self.folder(String(text.dropFirst("data:".count)), isData)
    } else if text == "." || text == ".." || text.hasPrefix("./") || text.hasPrefix("../") {
      (database, path) = Self.folder(text, isData)
    } else if text.hasPrefix("/"), let beginning = Self.dataFolder(beginning: text, isData) {
      (database, path) = (.folder(beginning), Self.path(text.dropFirst(beginning.count)))
    } else {
      path = text
    }
  }

  private static let schemes: [(String, @Sendable (String) -> Database)] = [
    ("connection:", { .connection($0) }), ("emulator:", { .emulator($0) }), ("cloud:", { .cloud(project: $0) }),
  ]

  /// The longest beginning of the text that holds data, and the path behind it; without one all of it is a folder that
  /// is not there yet.
  private static func folder(_ text: String, _ isData: (String) -> Bool) -> (Database, String?) {
    guard let beginning = dataFolder(beginning: text, isData) else { return (.folder(text), nil) }
    return (.folder(beginning), path(text.dropFirst(beginning.count)))
  }

  private static func dataFolder(beginning text: String, _ isData: (String) -> Bool) -> String? {
    var beginning = text[...]
    while !beginning.isEmpty {
      if isData(String(beginning)) { return String(beginning) }
      beginning = beginning[..<(beginning.lastIndex(of: "/") ?? beginning.startIndex)]
    }
    return nil
  }

  /// - Parameter text: empty, or what begins with the slash behind a database.
  private static func path(_ text: Substring) -> String? { text.count > 1 ? String(text.dropFirst()) : nil }

  /// `cities@-10m`: what is before the last `@`, if a moment is behind it.
  private static func moment(of text: String) -> (text: String, time: Timestamp?) {
    guard let mark = text.lastIndex(of: "@"), mark > text.startIndex,
      let time = try? MomentText.parse(String(text[text.index(after: mark)...]))
    else { return (text, nil) }
    return (String(text[..<mark]), time)
  }
}

extension PlaceText.Database {
  /// The options of a source that say the same.
  package var options: [String] {
    switch self {
    case .connection(let name): ["--connection=\(name)"]
    case .emulator(let address): ["--emulator=\(address)"]
    case .cloud(let project): ["--cloud", "--project=\(project)"]
    case .folder(let folder): ["--data=\(folder)"]
    }
  }
}
