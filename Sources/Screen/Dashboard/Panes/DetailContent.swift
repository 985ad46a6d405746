// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import DashboardModel
package import FirestoreModel
import FirestoreQuery
import TerminalCanvas

/// The lines of the open document for each tab, without colors and layout.
package enum DetailContent {
  package struct Line {
    package enum Content {
      case field(FieldTree.Line)
      case change(FieldChange)
      case version(VersionHistory.Version)
      /// A field with its server value, its queued change and its value for listeners.
      case layers(name: String, server: Value?, queued: String?, seen: Value?)
      case fact(String, String)
      /// A line that continues the value of the line above.
      case rest(String)
      case note(String)
    }

    /// The identity of the line. It does not change when the lines around it change.
    package var id: [String]
    package var content: Content
  }

  package static func lines(of detail: Detail, in state: DashboardState) -> [Line] {
    switch detail.tab {
    case .data: detail.wraps ? data(detail).flatMap { WrappedField($0, detail, state).lines } : data(detail)
    case .diff: diff(detail, state)
    case .history: history(detail, state)
    case .overlay: overlay(detail, state)
    case .meta: meta(detail, state)
    }
  }

  private static func note(_ text: String) -> [Line] { [Line(id: ["note"], content: .note(text))] }

  private static func data(_ detail: Detail) -> [Line] { detail.fieldLines ?? fieldLines(of: detail) }

  /// The lines of the fields, or a note that explains their absence.
  static func fieldLines(of detail: Detail) -> [Line] {
    if let failure = detail.failure {
      let reason = Line(id: ["failure"], content: .note(failure.lineText(beside: detail.key)))
      guard let data = detail.local?.data else { return [reason] }
      let lines = FieldTree(folding: detail.folding, toggled: detail.toggled).lines(
        server: data.fields, local: data.fields)
      return [reason, Line(id: ["known"], content: .note("as last known:"))]
        + lines.map { Line(id: ["field"] + $0.path, content: .field($0)) }
    }
    guard let shown = detail.local ?? detail.remote else {
      if detail.isPreview { return note("no document: there are documents below it") }
      return note(detail.isLoaded ? "not in the cache" : "loading")
    }
    switch shown.state {
    case .missing where detail.remote?.exists != true: return note("the document does not exist")
    case .unknown: return note("acknowledged, but its content is not known yet")
    case .missing, .found: break
    }
    let local = shown.data?.fields
    let server = detail.hasPendingWrites && detail.isLoaded ? detail.remote?.data?.fields : local
    let lines = FieldTree(folding: detail.folding, toggled: detail.toggled).lines(server: server, local: local)
    if lines.isEmpty { return note("no fields") }
    return lines.map { Line(id: ["field"] + $0.path, content: .field($0)) }
  }

  /// The two versions that the Diff tab compares. `old` is `nil` for the first stored version.
  package static func comparedVersions(
    _ detail: Detail, _ state: DashboardState
  ) -> (old: VersionHistory.Version?, new: VersionHistory.Version?) {
    let history = state.versions.versions(of: detail.key)
    guard let last = history.indices.last else { return (nil, nil) }
    let shown = detail.version.map { id in history.firstIndex { $0.id == id } } ?? last
    guard let index = shown else { return (nil, nil) }
    guard let id = detail.base else { return (index > 0 ? history[index - 1] : nil, history[index]) }
    // The older of two versions comes first, whichever was marked.
    guard let base = history.first(where: { $0.id == id }) else { return (nil, history[index]) }
    return base.id > history[index].id ? (history[index], base) : (base, history[index])
  }

  /// The fields that differ between two versions. Returns `nil` if there is no older version and the newer one did not
  /// create the document.
  package static func changes(
    from older: VersionHistory.Version?, to newer: VersionHistory.Version
  ) -> [FieldChange]? {
    guard let old = older?.document ?? (newer.isCreation ? newer.document.before : nil) else { return nil }
    return FieldChange.between(old.data?.fields ?? Fields(), newer.document.data?.fields ?? Fields())
  }

  private static func diff(_ detail: Detail, _ state: DashboardState) -> [Line] {
    let (older, newer) = comparedVersions(detail, state)
    guard let newer else { return note(detail.version == nil ? unseen(detail) : "this version is no longer kept") }
    let isMarked = detail.base != nil
    if isMarked, older == nil { return note("the marked version is no longer kept: b marks another") }
    let head = (isMarked ? older.map { [versionLine($0)] } ?? [] : []) + [versionLine(newer)]
    let conflicts = conflictLines(detail.key, state) { $0.batch == newer.acknowledges }
    guard let changes = changes(from: older, to: newer) else {
      return head + note("the first version that was seen: no earlier one to compare it with") + conflicts
    }
    if changes.isEmpty {
      return head + note("no field differs \(isMarked ? "between the two" : "from the version before")") + conflicts
    }
    return head + changes.map { Line(id: ["change"] + $0.path.segments, content: .change($0)) } + conflicts
  }

  private static func history(_ detail: Detail, _ state: DashboardState) -> [Line] {
    let history = state.versions.versions(of: detail.key)
    if history.isEmpty { return note(unseen(detail)) }
    return history.reversed().map(versionLine)
  }

  private static func versionLine(_ version: VersionHistory.Version) -> Line {
    Line(id: ["version", "\(version.id)"], content: .version(version))
  }

  private static func unseen(_ detail: Detail) -> String {
    if !detail.isLoaded { return detail.failure?.stateText ?? "loading" }
    return detail.local?.exists == true ? "its versions are no longer kept" : "it has not existed in this session"
  }

  private static func overlay(_ detail: Detail, _ state: DashboardState) -> [Line] {
    let conflicts = conflictLines(detail.key, state) { _ in true }
    guard detail.isLoaded else { return note(detail.failure?.stateText ?? "loading") + conflicts }
    guard let mutation = detail.overlay else {
      return note("nothing is queued: listeners see the server's document") + conflicts
    }
    let server = detail.remote?.data?.fields ?? Fields()
    let seen = detail.local?.data?.fields ?? Fields()
    var lines: [Line] = []
    if case .delete = mutation.operation { lines += note("the document is deleted by a queued write") }
    let names = FieldChange.mergedNames(server, seen)
    for name in names {
      lines.append(
        Line(
          id: ["layers", name],
          content: .layers(name: name, server: server[name], queued: queued(name, mutation), seen: seen[name])))
    }
    return lines + conflicts
  }

  /// The values that this client's writes overwrote although the client had not seen them. They are listed by field,
  /// newest write first.
  private static func conflictLines(
    _ key: DocumentKey, _ state: DashboardState, where isWanted: (WriteConflict) -> Bool
  ) -> [Line] {
    let now = state.document(key)?.data?.fields
    return state.writes.conflicts.filter { $0.key == key && isWanted($0) }.reversed().flatMap { conflict in
      let time = TimeText.clock(conflict.commitTime.timestamp, offset: state.configuration.utcOffset)
      let head = Line(
        id: ["conflict", conflict.batch.description],
        content: .note("conflict: \(conflict.batch), applied \(time), replaced changes that its author had not seen"))
      return [head]
        + conflict.fields.flatMap { field in
          let id = ["conflict", conflict.batch.description] + field.path.segments
          let own =
            "\(field.mine.map { "wrote " + ValueText.short($0) } ?? "removed"), now \(text(of: now?[field.path]))"
          let others = "over \(text(of: field.theirs)), saw \(text(of: field.base))"
          return [
            Line(id: id, content: .fact(field.path.canonicalText, own)),
            Line(id: id + ["over"], content: .fact("", others)),
          ]
        }
    }
  }

  private static func text(of value: Value?) -> String { value.map(ValueText.short) ?? "nothing" }

  /// Describes the queued mutation's change of a top-level field.
  private static func queued(_ name: String, _ mutation: Mutation) -> String? {
    if let transform = mutation.transforms.first(where: { $0.path.first.equalsUTF8(name) }) {
      return transform.operation.text
    }
    switch mutation.operation {
    case .set(let fields): return fields[name].map(ValueText.short) ?? "removed"
    case .patch(let fields, let mask):
      guard let path = mask.paths.first(where: { $0.first.equalsUTF8(name) }) else { return nil }
      return fields[path].map(ValueText.short) ?? "removed"
    case .delete: return "removed"
    case .verify: return nil
    }
  }

  private static func meta(_ detail: Detail, _ state: DashboardState) -> [Line] {
    let document = detail.local ?? detail.remote
    let remote = detail.remote ?? detail.local
    var facts: [(String, String)] = [("path", detail.key.path.text)]
    let isUnknown = detail.failure != nil
    facts.append(("exists", isUnknown ? "unknown" : document.map { $0.exists ? "yes" : "no" } ?? "unknown"))
    if let time = remote?.createTime { facts.append(("created", TimeText.date(time.timestamp))) }
    if let time = remote?.version {
      facts.append((remote?.exists == true ? "updated" : "as of", TimeText.date(time.timestamp)))
    }
    if let data = document?.data { facts.append(("size", "\(grouped(data.encoded.bytes.count)) bytes encoded")) }
    if let data = document?.data { facts.append(("fields", "\(data.fields.count)")) }
    facts.append(("pending writes", pendingText(document)))
    let watching = state.listeners.filter { $0.failure == nil && watches($0, detail.key, document) }.map(\.name)
    facts.append(("listeners", watching.isEmpty ? "none" : watching.joined(separator: ", ")))
    if let batch = state.writes.batch(touching: detail.key) { facts.append(("newest write", batch.description)) }
    if let version = state.versions.newest(of: detail.key) {
      let time = TimeText.clock(version.time, offset: state.configuration.utcOffset)
      let why = [version.summary, version.why, version.batch?.description].compactMap(\.self).joined(separator: ", ")
      facts.append(("last event", "\(time) \(why)"))
      facts.append(("versions seen", "\(state.versions.versions(of: detail.key).count)"))
    }
    return facts.map { Line(id: ["fact", $0.0], content: .fact($0.0, $0.1)) }
      + state.listeners.flatMap { membership(of: detail.key, document, in: $0, state) }
  }

  /// The reasons why the document is or is not in a listener's result.
  private static func membership(
    of key: DocumentKey, _ document: Document?, in listener: ListenerRecord, _ state: DashboardState
  ) -> [Line] {
    let id = ["listener", "\(listener.tag.rawValue)"]
    if let failure = listener.failure {
      return [Line(id: id, content: .fact(listener.name, "ended: \(failure.lineText)"))]
    }
    let membership = Membership(listener, key, document, results: state.listening.results(of: listener.tag))
    let glyphs = state.configuration.glyphs
    return [Line(id: id, content: .fact(listener.name, membership.verdict))]
      + membership.reasons.enumerated().map { index, reason in
        let sign = reason.holds.map { $0 ? glyphs.check : glyphs.cross } ?? "?"
        return Line(id: id + ["\(index)"], content: .fact("", "\(sign) \(reason.text)"))
      }
  }

  private static func pendingText(_ document: Document?) -> String {
    switch document?.pending {
    case .local?: document?.exists == true ? "yes, not acknowledged" : "delete, not acknowledged"
    case .committed?: "acknowledged, the server's version has not arrived yet"
    case Document.PendingWrites.none?, nil: "no"
    }
  }

  /// Whether the current version of the document matches a listener's query.
  static func watches(_ listener: ListenerRecord, _ key: DocumentKey, _ document: Document?) -> Bool {
    if listener.query.path == key.path { return true }
    guard listener.covers(key.collection), !listener.query.path.isDocument else { return false }
    return document.map { listener.query.matches($0) } ?? false
  }
}

extension DetailContent.Line {
  func matches(_ filter: RowFilter) -> Bool { filter.matches(searchText, in: document) }

  /// A document that contains only this line's field. Filters with field conditions are evaluated on it.
  private var document: [Document] {
    guard case .field(let field) = content, let value = field.local ?? field.server else { return [] }
    var fields = Fields()
    fields[FieldPath(segments: field.path)] = value
    let key = DocumentKey(unchecked: ResourcePath("lines/line"))
    return [Document(key: key, version: nil, state: .found(DocumentData(fields)))]
  }

  /// The text of the line for searches.
  var searchText: String {
    switch content {
    case .field(let field):
      field.path.joined(separator: ".") + " " + ((field.local ?? field.server).map(ValueText.short) ?? "")
    case .change(let change):
      change.path.segments.joined(separator: ".") + " "
        + [change.old, change.new].compactMap { $0.map(ValueText.short) }.joined(separator: " ")
    case .version(let version):
      [version.isLocal ? "LOCAL" : "SERVER", version.summary, version.why, version.batch?.description]
        .compactMap(\.self).joined(separator: " ")
    case .layers(let name, let server, let queued, let seen):
      [name, server.map(ValueText.short), queued, seen.map(ValueText.short)].compactMap(\.self).joined(separator: " ")
    case .fact(let name, let text): name + " " + text
    case .note(let text): text
    // A search finds the line above instead.
    case .rest: ""
    }
  }
}

extension Document {
  /// The document as it was before it was created: missing.
  fileprivate var before: Document { Document(key: key, version: nil, state: .missing) }
}
