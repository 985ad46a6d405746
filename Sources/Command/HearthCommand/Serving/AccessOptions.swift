// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The options for the access to a server.
struct AccessOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Enforce these security rules, for all projects; read again when the file changes.", valueName: "file"))
  var rules: String?

  @Option(
    help: ArgumentHelp(
      "Believe tokens of users only when one of these keys has signed them: public keys of RSA as a JSON Web Key Set, as "
        + "Google publishes them for Firebase Authentication, or in PEM.", valueName: "file"))
  var authKeys: String?

  @Option(
    help: ArgumentHelp(
      "With --auth-keys: a file with the secret that administrators send as 'Authorization: Bearer SECRET'. What controls "
        + "the server asks for it, also on this machine; without a secret nobody controls it. Yours alone (chmod 600).",
      valueName: "file"))
  var adminSecret: String?

  @Option(
    help: ArgumentHelp(
      "Refuse queries that need a composite index which is not in this firestore.indexes.json, as Cloud Firestore does; "
        + "read again when the file changes.", valueName: "file"))
  var requireIndexes: String?

  @Option(
    help: ArgumentHelp(
      "Let pages of this origin use REST and WebChannel, besides those of the server's own host and of localhost: as "
        + "browsers name it, http://app.test:3000, chrome-extension://ID, or null for files and sandboxed frames, which is "
        + "every such page. More than once for more than one. What controls the server stays closed to them.",
      valueName: "origin"))
  var allowOrigin: [String] = []

  @Flag(
    help:
      "Serve a --host that others reach although there are no rules: they read and write everything, and replace no rules."
  )
  var open = false

  /// The option that the process with the data must enforce on requests; `nil` for none.
  var enforced: String? { rules != nil ? "rules" : requireIndexes != nil ? "--require-indexes" : nil }

  /// Whether a text is an origin in the spelling of browsers (RFC 6454 §6.2), since origins are compared letter by
  /// letter.
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
      throw ValidationError("--auth-keys says who users are, and nothing says what they may do: add --rules FILE.")
    }
    if adminSecret != nil, authKeys == nil {
      throw ValidationError("--admin-secret goes with --auth-keys: without it anybody may say to be an administrator.")
    }
    for origin in allowOrigin where !Self.isOrigin(origin) {
      throw ValidationError(
        "--allow-origin \(origin) is no origin: it is SCHEME://HOST or SCHEME://HOST:PORT in small letters and without a path, "
          + "as in http://app.test:3000, or null.")
    }
    if open, rules != nil {
      throw ValidationError("--open serves without rules; leave out --open or --rules.")
    }
  }
}
