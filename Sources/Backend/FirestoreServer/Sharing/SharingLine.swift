// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreClientState
import FirestoreModel

/// The messages of processes that share a data directory, on its socket, besides calls: lines whose fields stand between
/// tabs. A connection for calls begins with the preface of HTTP/2 instead.
///
/// ```
/// guest ──► hearth VERSION PROCESS NAME                          who comes
/// owner ──► hearth VERSION INSTANCE DURABILITY PROCESS NAME      welcome: whose data this is
///       or  no REASON                                            and the connection ends
/// guest ──► give              it has to have the data open itself, as one does that serves it on a port
/// owner ──► no REASON         it keeps it; else it lets the data go, and the connection ends
/// owner ──► here PROCESS NAME PROCESS NAME …                     who is attached, after each change
/// guest ──► ?       owner ──► !                                  a sign of life
/// ```
/// The line of the one who comes stays as it is in every version, so that each can tell another that they differ.
package enum SharingLine: Hashable, Sendable {
  case hello(version: Int, DataMember)
  case welcome(Welcome)
  case refusal(String)
  case claim
  case here([DataMember])
  case question
  case answer

  package struct Welcome: Hashable, Sendable {
    package var version = SharingLine.version
    /// The random number that identifies the data.
    package var instance: [UInt8]
    package var durability: BackendConfiguration.Durability
    package var owner: DataMember

    package init(instance: [UInt8], durability: BackendConfiguration.Durability, owner: DataMember) {
      self.instance = instance
      self.durability = durability
      self.owner = owner
    }
  }

  /// The version of the calls and lines between processes that share data.
  package static let version = 1

  /// The most bytes of a line: room for a hundred names.
  package static let maximumBytes = 16 << 10

  private static let longestName = 80

  /// - Parameter line: the line without its end.
  package init?(_ line: some Collection<UInt8>) {
    let fields = String(decoding: line, as: UTF8.self).split(separator: "\t", omittingEmptySubsequences: false)
    let rest = fields.dropFirst().map(String.init)
    switch (fields[0], rest.count) {
    case ("hearth", 3):
      guard let version = Int(rest[0]), let member = DataMember(rest[1], rest[2]) else { return nil }
      self = .hello(version: version, member)
    case ("hearth", 5...):
      guard let version = Int(rest[0]), let instance = Hexadecimal.bytes(rest[1]),
        let durability = BackendConfiguration.Durability(rawValue: rest[2]), let owner = DataMember(rest[3], rest[4])
      else { return nil }
      var welcome = Welcome(instance: instance, durability: durability, owner: owner)
      welcome.version = version
      self = .welcome(welcome)
    case ("no", 1): self = .refusal(rest[0])
    case ("here", let count) where count.isMultiple(of: 2):
      self = .here(stride(from: 0, to: count, by: 2).compactMap { DataMember(rest[$0], rest[$0 + 1]) })
    case ("give", 0): self = .claim
    case ("?", 0): self = .question
    case ("!", 0): self = .answer
    default: return nil
    }
  }

  /// The line with its end.
  package var text: String {
    let fields: [String] =
      switch self {
      case .hello(let version, let member): ["hearth", "\(version)"] + Self.fields(member)
      case .welcome(let welcome):
        ["hearth", "\(welcome.version)", Hexadecimal.text(welcome.instance), welcome.durability.rawValue]
          + Self.fields(welcome.owner)
      case .refusal(let reason): ["no", Self.plain(reason, longest: 500)]
      case .claim: ["give"]
      case .here(let members): ["here"] + members.prefix(100).flatMap(Self.fields)
      case .question: ["?"]
      case .answer: ["!"]
      }
    return fields.joined(separator: "\t") + "\n"
  }

  private static func fields(_ member: DataMember) -> [String] {
    ["\(member.process)", plain(member.name, longest: longestName)]
  }

  /// The text without characters that would end a field or a line, or steer a terminal.
  private static func plain(_ text: String, longest: Int) -> String {
    String(
      String.UnicodeScalarView(text.unicodeScalars.prefix(longest).filter { $0.properties.generalCategory != .control })
    )
  }
}

extension DataMember {
  fileprivate init?(_ process: String, _ name: String) {
    guard let process = Int32(process) else { return nil }
    self.init(process: process, name: name)
  }
}
