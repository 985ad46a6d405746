// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import DashboardHost
import DataCommands
import FirestoreAccess
import FirestoreClientState
import FirestoreJSON
import FirestoreProtocol
import FirestoreRules
import FirestoreService
import Foundation
import Glibc
import TransportSecurity

import struct Hearth.FirestoreError
import struct Hearth.IndexConfiguration

/// The security rules that `hearth serve` enforces. They are read at the start and whenever their files change.
struct ServedRules {
  let rules: AccessRules
  /// The rules files. Each applies to one database; `nil` means all databases.
  private let files: [(name: String, database: String?)]

  /// - Parameter isLoopback: whether only this machine can reach the port. If not, rejections do not name the rule that
  ///   denied the request.
  /// - Throws: `CommandFailure` if a file cannot be read, or if rules or keys are invalid.
  init(_ options: AccessOptions, isLoopback: Bool) throws {
    files =
      options.rules.map { [($0, nil)] } ?? options.databaseRules.sorted { $0.key < $1.key }.map { ($0.value, $0.key) }
    var keys: TokenReader.Keys?
    if let path = options.authKeys {
      let owner = try options.adminSecret.map(Self.secret)
      keys = try AuthKeys(file: path).keys(owner: owner)
    }
    rules = AccessRules(
      TokenReader(keys), tellsWhy: isLoopback, provesLists: options.rulesProof == .strict,
      log: { StandardError.write("hearth: \($0)") })
    for (file, database) in files {
      let (ruleset, issues) = Ruleset.compile([try Self.read(file)])
      guard let ruleset else { throw CommandFailure(.badData, Self.text(of: issues)) }
      Self.set(ruleset, for: database, in: rules)
      for issue in issues { StandardError.write("hearth: \(issue.text)") }
    }
  }

  private static func set(_ ruleset: Ruleset, for database: String?, in rules: AccessRules) {
    if let database { rules.set(.ruleset(ruleset), forDatabase: database) } else { rules.set(.ruleset(ruleset)) }
  }

  /// Reads each file again when it changes, until its watch is stopped. If the new rules are invalid, the previous
  /// rules remain in effect.
  @MainActor
  func watch() -> [FileWatch?] { files.map { watch($0.name, for: $0.database) } }

  @MainActor
  private func watch(_ file: String, for database: String?) -> FileWatch? {
    let rules = rules
    return ServedFile(file, of: "rules").watch { text in
      do throws(CommandFailure) {
        let (ruleset, issues) = Ruleset.compile([RulesFile(name: file, content: try text.get())])
        guard let ruleset else { throw CommandFailure(.badData, Self.text(of: issues)) }
        Self.set(ruleset, for: database, in: rules)
        StandardError.write("hearth: \(file) has changed. The new rules are in effect.")
        for issue in issues { StandardError.write("hearth: \(issue.text)") }
      } catch { StandardError.write("hearth: \(error.message) The previous rules remain in effect.") }
    }
  }

  private static func read(_ file: String) throws -> RulesFile {
    RulesFile(name: file, content: try ServedFile(file, of: "rules").text())
  }

  private static func secret(_ file: String) throws -> String {
    let secret = try ServedFile(file, of: "secret", protection: .fromReaders).text().trimmingCharacters(
      in: .whitespacesAndNewlines)
    if secret.utf8.count < 16 {
      throw CommandFailure(
        .badData, "The secret in \(file) is shorter than 16 characters. Create one with 'openssl rand -hex 32'.")
    }
    return secret
  }

  private static func text(of issues: [RulesIssue]) -> String {
    let errors = issues.filter(\.isError)
    let more = errors.count > 1 ? " (and \(errors.count - 1) more; 'hearth rules check' lists them)" : ""
    return (errors.first?.text ?? "The file has no rules.") + more
  }
}

/// The public keys in the file of `--auth-keys`.
private struct AuthKeys {
  /// The keys by id. The id of a key in PEM format is empty.
  private var keys: [String: RSAPublicKey] = [:]

  /// - Throws: `CommandFailure` for an unreadable file, or for a file without a key.
  init(file: String) throws {
    // Other users may read public keys. A user who could add one could sign as any user.
    let text = try ServedFile(file, of: "list of keys", protection: .fromWriters).text()
    if text.drop(while: \.isWhitespace).hasPrefix("{") {
      let json: JSONSyntax
      do throws(JSONError) { json = try JSONSyntax(parsing: text, numbers: .ofAnySize) } catch {
        throw CommandFailure(.badData, "\(file):\(error.line):\(error.column): \(error.reason)")
      }
      add(json)
    } else if let key = RSAPublicKey(pem: text) {
      keys[""] = key
    }
    for (id, key) in keys.sorted(by: { $0.key < $1.key }) {
      guard let weakness = key.weakness else { continue }
      throw CommandFailure(
        .badData, "The key\(id.isEmpty ? "" : " \"\(id)\"") in \(file) is weak: \(weakness).")
    }
    if keys.isEmpty {
      throw CommandFailure(
        .badData,
        "\(file) has no RSA public key. Use a JSON Web Key Set, {\"KEY-ID\": \"certificate in PEM\"}, or a PEM key."
      )
    }
  }

  private mutating func add(_ json: JSONSyntax) {
    if case .array(let elements)? = json["keys"]?.kind {
      for element in elements {
        guard case .string(let modulus)? = element["n"]?.kind, case .string(let exponent)? = element["e"]?.kind,
          let n = Base64.decodeURL(modulus), let e = Base64.decodeURL(exponent),
          let key = RSAPublicKey(modulus: n, exponent: e)
        else { continue }
        if case .string(let id)? = element["kid"]?.kind { keys[id] = key } else { keys[""] = key }
      }
    } else if case .object(let members) = json.kind {
      for member in members {
        if case .string(let pem) = member.value.kind { keys[member.name] = RSAPublicKey(pem: pem) }
      }
    }
  }

  func keys(owner: String?) -> TokenReader.Keys {
    let keys = keys
    return TokenReader.Keys(owner: owner, now: { Int64(Date().timeIntervalSince1970) }) { id, content, signature in
      // A token without a key id can be signed by any of them.
      let candidates = id.map { [keys[$0] ?? keys[""]].compactMap { $0 } } ?? Array(keys.values)
      return candidates.contains { $0.isValid(signature, of: content) }
    }
  }
}

/// The composite indexes that `hearth serve --require-indexes` requires. They are read at the start and whenever their
/// file changes.
struct RequiredIndexes {
  let indexes: ServedIndexes
  private let file: String?

  /// - Throws: `CommandFailure` if the file cannot be read or does not have the format of Google's tools.
  init(_ file: String?) throws {
    self.file = file
    indexes = ServedIndexes(
      required: try file.map { try Self.read(try ServedFile($0, of: "indexes").text(), of: $0) })
  }

  private static func read(_ text: String, of file: String) throws(CommandFailure) -> [CompositeIndex] {
    do throws(FirestoreError) {
      let configuration = try IndexConfiguration(parsing: text)
      for warning in configuration.warnings { StandardError.write("hearth: \(file), \(warning)") }
      return configuration.composites
    } catch {
      throw CommandFailure(.badData, "\(file): \(error.message)")
    }
  }

  @MainActor
  func watch() -> FileWatch? {
    guard let file else { return nil }
    let indexes = indexes
    return ServedFile(file, of: "indexes").watch { text in
      do throws(CommandFailure) {
        indexes.require(try Self.read(try text.get(), of: file))
        StandardError.write("hearth: \(file) has changed. The new indexes are in effect.")
      } catch { StandardError.write("hearth: \(error.message) The previous indexes remain in effect.") }
    }
  }
}

/// The way in which the rules decide on list requests.
enum RulesProof: String, ExpressibleByArgument, CaseIterable { case query, strict }

/// The values of `--concurrency`.
enum ConcurrencyOption: String, ExpressibleByArgument, CaseIterable {
  case optimistic, pessimistic

  var mode: ConcurrencyMode { self == .optimistic ? .optimistic : .pessimistic }
}

/// The access options of a server.
struct AccessOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Enforce these security rules for all projects. The file is reread when it changes.", valueName: "file"))
  var rules: String?

  @Option(
    help: ArgumentHelp(
      "How rules decide on a list. query: by the fields in the query, as Google's emulator does, with a warning in the "
        + "log. strict: allowed only if the query proves the rule for every document that it can find."))
  var rulesProof = RulesProof.query

  @Option(
    help: ArgumentHelp(
      "Accept user tokens only if one of these keys has signed them: RSA public keys as a JSON Web Key Set, as Google "
        + "publishes them for Firebase Authentication, or in PEM.", valueName: "file"))
  var authKeys: String?

  @Option(
    help: ArgumentHelp(
      "With --auth-keys: a file with the secret that administrators send as 'Authorization: Bearer SECRET'. Requests "
        + "that control the server need it, even from this machine. Without a secret no client can control the server. "
        + "Only you may read the file (chmod 600).",
      valueName: "file"))
  var adminSecret: String?

  @Option(
    help: ArgumentHelp(
      "Reject queries whose composite index is missing in this firestore.indexes.json, as Cloud Firestore does. The file "
        + "is reread when it changes. Default: the file that firebase.json names.", valueName: "file"))
  var requireIndexes: String?

  @Option(
    help:
      """
      Concurrency of transactions. optimistic: the commit fails if a document that the transaction read has changed. \
      pessimistic: documents that a transaction read are locked, and other writers wait for up to 15 s. A request may \
      select its mode.
      """
  )
  var concurrency = ConcurrencyOption.optimistic

  @Option(
    help: ArgumentHelp(
      "Let pages of this origin use REST and WebChannel, such as http://app.test:3000, chrome-extension://ID, or null "
        + "for all files and sandboxed frames. Pages of the server's host and of localhost always may. Repeatable. Pages "
        + "of other origins cannot control the server.",
      valueName: "origin"))
  var allowOrigin: [String] = []

  @Flag(
    help:
      "Serve without rules on a --host that other machines reach. They can read and write all data, but not set rules."
  )
  var open = false

  /// The rules files in `firebase.json` if it has several databases, by database id.
  var databaseRules: [String: String] = [:]

  var hasRules: Bool { rules != nil || !databaseRules.isEmpty }

  /// The option that the process with the open data must enforce for requests; `nil` for none.
  var enforced: String? {
    if hasRules { return "rules" }
    if requireIndexes != nil { return "--require-indexes" }
    return concurrency == .pessimistic ? "--concurrency pessimistic" : nil
  }

  /// Whether a text is an origin as browsers write it (RFC 6454 §6.2). The spelling matters, because origins are
  /// compared as text.
  static func isOrigin(_ text: String) -> Bool {
    if text == "null" { return true }
    guard let end = text.firstRange(of: "://") else { return false }
    let (scheme, host) = (text[..<end.lowerBound], text[end.upperBound...])
    return !scheme.isEmpty && !host.isEmpty && text == text.lowercased()
      && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
      && host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._:[]".contains($0)) }
  }

  func validate() throws {
    if authKeys != nil, rules == nil {
      throw ValidationError("--auth-keys needs rules that define the rights of users. Add --rules FILE.")
    }
    if adminSecret != nil, authKeys == nil {
      throw ValidationError("--admin-secret needs --auth-keys. Without keys everyone can act as an administrator.")
    }
    for origin in allowOrigin where !Self.isOrigin(origin) {
      throw ValidationError(
        "Invalid --allow-origin \(origin). Use SCHEME://HOST or SCHEME://HOST:PORT in lower case without a path, "
          + "as in http://app.test:3000, or null.")
    }
    if open, rules != nil {
      throw ValidationError("--open serves without rules. Remove --open or --rules.")
    }
  }
}
