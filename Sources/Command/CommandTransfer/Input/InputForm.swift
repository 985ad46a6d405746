// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreJSON
package import FirestoreModel

/// The format of a text with documents, recognized by the name and the first bytes.
package struct InputForm: Hashable, Sendable {
  package var format: TransferFormat
  package var layout: InputLayout = .documents
  /// A sentence about the recognized format; `nil` for Hearth's formats and for plain documents.
  package var note: String?
  /// The collection of the documents, if the documents are listed by id and the text names their collection; otherwise
  /// `nil`.
  package var collection: ResourcePath?
}

/// Recognizes the format of a text by its first bytes.
///
/// A format or layout in the options is never changed. A text that cannot be imported is rejected before anything is
/// written. The error names its format and suggests a command line that works.
struct InputRecognition {
  /// The name of the input in messages, such as `standard input`.
  let name: String
  /// The path of the input; `-` for standard input.
  let path: String
  /// The format in the options; `nil` if none is given.
  let format: TransferFormat?
  /// The layout in the options; `nil` if none is given.
  let layout: InputLayout?
  /// The collection in the options; `nil` if none is given.
  let collection: ResourcePath?

  /// - Parameter isAll: whether these bytes are the whole text.
  /// - Throws: `CommandFailure` for a text that cannot be imported.
  func form(of beginning: [UInt8], isAll: Bool) throws(CommandFailure) -> InputForm {
    var bytes = beginning
    if bytes.starts(with: RecordSplitter.byteOrderMark) { bytes.removeFirst(RecordSplitter.byteOrderMark.count) }
    try ForeignFile.check(bytes, of: name, place)
    let outline = Self.isJSON(bytes) ? InputOutline(bytes) : nil
    let format = self.format ?? recognizedFormat(bytes, outline)
    // The import reports the place where a damaged text ends.
    guard format == .json, let outline, !isAll || outline.end != nil else { return InputForm(format: format) }
    if let layout { return InputForm(format: .json, layout: layout) }
    if outline.value.isObject, let end = outline.end, bytes[end...].contains(UInt8(ascii: "{")) {
      return InputForm(format: .json, layout: .sequence)
    }
    return try jsonForm(outline.value)
  }

  private static func isJSON(_ bytes: [UInt8]) -> Bool {
    let first = bytes.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
    return first == UInt8(ascii: "[") || first == UInt8(ascii: "{")
  }

  // MARK: Formats

  private func recognizedFormat(_ bytes: [UInt8], _ outline: InputOutline?) -> TransferFormat {
    let named = TransferFormat(fileName: path)
    if named.delimiter != nil { return named }
    guard Self.isJSON(bytes) else {
      let isNamed = named == .json || hasNameOfLines
      let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
      if isNamed || line.isEmpty { return named }
      let delimiter = Delimiter.recognized(in: bytes)
      guard case .quoted(let sign) = delimiter, line.contains(sign) else { return named }
      return sign == UInt8(ascii: "\t") ? .tsv : .csv
    }
    guard let outline else { return named }
    if case .array = outline.value.kind { return .json }
    guard let end = outline.end else {
      // Each document of a file of lines is on one line.
      return named == .json || bytes.contains(UInt8(ascii: "\n")) || isWhole(outline.value) ? .json : named
    }
    if bytes[end...].contains(UInt8(ascii: "{")) { return bytes[..<end].contains(UInt8(ascii: "\n")) ? .json : .jsonl }
    if named == .json || bytes[..<end].contains(UInt8(ascii: "\n")) { return .json }
    return isWhole(outline.value) ? .json : .jsonl
  }

  /// Whether an object on one line is the whole input and contains documents, instead of being a document.
  private func isWhole(_ value: JSONSyntax) -> Bool {
    guard case .object(let members) = value.kind, !members.isEmpty, !DocumentEnvelope.isOne(value) else { return false }
    // A document can consist of maps only, but without `--into` it also needs a path, which no member gives.
    if collection == nil { return members.allSatisfy { $0.value.isObject || CollectionShape($0.value) == .list } }
    return !hasNameOfLines && Self.areCollections(members)
  }

  private var hasNameOfLines: Bool {
    [".jsonl", ".ndjson"].contains { path.lowercased().contains($0) }
  }

  private static func areCollections(_ members: [JSONSyntax.Member]) -> Bool {
    let shapes = members.map { CollectionShape($0.value) }
    return !shapes.contains(.other) && shapes.contains { $0 != .empty }
  }

  // MARK: Layouts of JSON

  private func jsonForm(_ root: JSONSyntax) throws(CommandFailure) -> InputForm {
    guard case .object(let members) = root.kind, !members.isEmpty else { return InputForm(format: .json) }
    if root["meta"]?["app"]?.string == "firefoo", root["data"]?.isObject == true {
      return try firefooForm(root["meta"]?["resourcePath"])
    }
    if let marked = InputLayout.markers.first(where: { root[$0]?.isObject == true }) {
      let others = members.filter { $0.name != marked }
      if !others.isEmpty { throw documentExport(marked) }
      return InputForm(
        format: .json, layout: .marked,
        note: "\(name): collections in \"\(marked)\", as node-firestore-import-export writes them.")
    }
    if DocumentEnvelope.isOne(root) { return InputForm(format: .json, layout: .single) }
    if case .array(let elements)? = root["documents"]?.kind,
      elements.first.map(DocumentEnvelope.isOne) ?? (root["nextPageToken"] != nil)
    {
      return InputForm(
        format: .json, layout: .listed, note: "\(name): a list of documents, as the REST interface returns it.")
    }
    try checkOtherFiles(root)
    return try treeForm(members)
  }

  /// The format of an export by Firefoo. It contains documents by id and the path of their collection, or documents by
  /// path.
  /// - Parameter resource: the segments of the exported path.
  private func firefooForm(_ resource: JSONSyntax?) throws(CommandFailure) -> InputForm {
    var segments: [String] = []
    if case .array(let elements)? = resource?.kind { segments = elements.compactMap(\.string) }
    let path = ResourcePath(segments: segments)
    if path.isDocument {
      throw CommandFailure(
        .badData,
        "\(name) is a Firefoo export of the document \(path). Only exports of collections can be imported.")
    }
    let extent = path.isRoot ? "" : " of the collection \(path)"
    return InputForm(
      format: .json, layout: .data, note: "\(name): a Firefoo export\(extent).",
      collection: path.isRoot ? nil : path)
  }

  /// The format of an object whose members are documents, or collections of documents.
  private func treeForm(_ members: [JSONSyntax.Member]) throws(CommandFailure) -> InputForm {
    let documents = InputForm(format: .json)
    if members.contains(where: { ResourcePath($0.name).isDocument && $0.name.contains("/") }) { return documents }
    let kinds = members.map { CollectionShape($0.value) }
    guard Self.areCollections(members) else {
      guard collection != nil, let first = members.first else { throw plain(members) }
      if first.value.isObject { return documents }
      if members.contains(where: \.value.isObject) { throw plain(members) }
      return InputForm(format: .json, layout: .single, note: "\(name): one document.")
    }
    let names = members.map(\.name)
    let shown = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? ", …" : "")
    let isList = kinds.contains(.list)
    var note = "\(name): collections with \(isList ? "lists of documents" : "documents by id") (\(shown))."
    if isList { note += " The ids are in \"id\" or \"_id\", or derived; --id-field names another field." }
    if let collection, !isList {
      if !names.contains(collection.last) {
        if names.count > 1 {
          if Self.haveCommonNames(members) { return documents }
          throw ambiguous(shown, collection)
        }
        note += " If \(shown) is a document with map fields, add --layout documents."
      }
    }
    return InputForm(format: .json, layout: .collections, note: note)
  }

  private enum CollectionShape: Hashable {
    /// The object contains documents by id. A document whose fields are maps looks the same.
    case documents
    case list
    case empty
    case other

    init(_ value: JSONSyntax) {
      switch value.kind {
      case .object(let members):
        self = members.isEmpty ? .empty : members.allSatisfy(\.value.isObject) ? .documents : .other
      case .array(let elements): self = elements.allSatisfy(\.isObject) ? .list : .other
      default: self = .other
      }
    }
  }

  /// Whether several members have the same field names. Documents of a collection usually do.
  private static func haveCommonNames(_ members: [JSONSyntax.Member]) -> Bool {
    var seen: Set<String> = []
    for member in members {
      guard case .object(let inner) = member.value.kind else { continue }
      for one in inner where !seen.insert(one.name).inserted { return true }
    }
    return false
  }

  // MARK: Rejections

  private var place: String { collection.map { "--into \($0)" } ?? "--into COLLECTION" }

  private var typed: String { path == "-" ? "-" : ShellText.typed(path) }

  private func plain(_ members: [JSONSyntax.Member]) -> CommandFailure {
    let names = members.prefix(3).map(\.name).joined(separator: ", ") + (members.count > 3 ? ", …" : "")
    if members.allSatisfy(\.value.isObject) {
      return CommandFailure(
        .usage,
        "\(name) has documents by id (\(names)) and does not name their collection. "
          + "Run: hearth import \(typed) --into COLLECTION")
    }
    if members.contains(where: { CollectionShape($0.value) == .documents }) {
      let odd = members.first { CollectionShape($0.value) == .other }?.name ?? names
      return CommandFailure(
        .badData,
        "\(name) has collections of documents, but also \"\(odd)\", which is neither a collection nor a list of documents. "
          + "Remove it, and try again.")
    }
    return CommandFailure(
      .usage,
      "\(name) is one document (\(names)) and does not name its path. "
        + "Run: hearth set \(collection.map(\.text) ?? "COLLECTION")/ID -\(path == "-" ? "" : " <\(typed)")")
  }

  private func ambiguous(_ names: String, _ collection: ResourcePath) -> CommandFailure {
    CommandFailure(
      .usage,
      "\(name) is ambiguous: \(names) can be collections, or documents of \(collection) that have only maps. "
        + "For collections, run: hearth import \(typed) --layout collections --rename FROM=\(collection). "
        + "For documents, add --layout documents.")
  }

  private func documentExport(_ marked: String) -> CommandFailure {
    CommandFailure(
      .badData,
      "\(name) is the export of one document with its subcollections in \"\(marked)\", and does not name its path. "
        + "Run: jq '{COLLECTION: {ID: .}}' \(typed) | hearth import - --layout collections")
  }

  /// Rejects JSON files of Google's tools that contain no documents.
  private func checkOtherFiles(_ root: JSONSyntax) throws(CommandFailure) {
    if root["version"] != nil, let export = root["firestore"], export["metadata_file"] != nil || export["path"] != nil {
      throw CommandFailure(
        .badData,
        "\(name) belongs to an export in Google's format. Import its folder: hearth import FOLDER")
    }
    if case .array(let indexes)? = root["indexes"]?.kind, indexes.first?["fields"] != nil {
      throw CommandFailure(.badData, "\(name) has index definitions. Run: hearth cache indexes --set \(typed)")
    }
    if root["type"]?.string == "service_account" {
      throw CommandFailure(.badData, "\(name) is a service account key and contains no documents.")
    }
  }
}

extension JSONSyntax {
  var isObject: Bool { if case .object = kind { true } else { false } }
  var string: String? { if case .string(let text) = kind { text } else { nil } }
}
