// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreText

/// Parts of the lines that `--json` prints. The JSON of client events is defined in `ClientPort`. The parts here exist
/// only in a dashboard.
enum ClientJSON {
  typealias Member = JSONSyntax.Member

  /// An event, a record or another object as one line.
  static func line(_ value: some JSONFormed, of type: String? = nil, in database: DatabaseID) -> String {
    let json = value.json(JSONContext(database))
    guard let type, case .object(let members) = json.kind else { return json.lineText }
    return object([Member("type", string(type))] + members).lineText
  }

  /// The internals of a client and of its cache, as one line.
  static func inside(_ inside: ClientInside, _ survey: CacheSurvey, in database: DatabaseID) -> String {
    guard case .object(let members) = inside.json(JSONContext(database)).kind else { return "" }
    return object(
      [Member("type", string("inside"))] + members + [Member("cache", survey.json(JSONContext(database)))]
    ).lineText
  }

  static func status(_ status: RPCStatus) -> JSONSyntax {
    object([Member("code", string(status.code.name)), Member("message", string(status.message))])
  }

  static func data(_ document: Document, _ database: DatabaseID) -> JSONSyntax {
    // The text of `DocumentJSON` is always valid JSON; `null` is a fallback.
    guard let fields = document.data?.fields,
      let value = try? JSONSyntax(parsing: DocumentJSON.line(of: fields, relativeTo: database))
    else { return null }
    return value
  }

  static func paths(_ mutations: [Mutation]) -> JSONSyntax { array(mutations.map { string($0.key.path.text) }) }

  static let null = JSONSyntax(.null)
  static func object(_ members: [Member]) -> JSONSyntax { JSONSyntax(.object(members)) }
  static func array(_ items: [JSONSyntax]) -> JSONSyntax { JSONSyntax(.array(items)) }
  static func string(_ text: String) -> JSONSyntax { JSONSyntax(.string(text)) }
  static func integer(_ number: Int) -> JSONSyntax { JSONSyntax(.integer(Int64(number))) }
  static func boolean(_ flag: Bool) -> JSONSyntax { JSONSyntax(.boolean(flag)) }
  static func time(_ time: Timestamp) -> JSONSyntax { string(time.toMilliseconds.rfc3339Text) }
}
