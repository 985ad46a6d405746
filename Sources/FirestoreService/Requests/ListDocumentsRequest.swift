// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

struct ListDocumentsRequest {
  var parent = ""
  var collectionID = ""
  var pageSize = 0
  var pageToken = ""
  var orderBy = ""
  var mask: FieldMask?
  var consistency = RequestedConsistency.latest
  var showMissing = false

  mutating func read(_ reader: inout RequestReader) throws(RPCStatus) {
    var request = self
    try reader.fields { number, field throws(RPCStatus) in
      switch number {
      case 1: request.parent = try field.string() ?? request.parent
      case 2: request.collectionID = try field.string() ?? request.collectionID
      case 3: request.pageSize = try field.integer().map { Int(Int32(truncatingIfNeeded: $0)) } ?? request.pageSize
      case 4: request.pageToken = try field.string() ?? request.pageToken
      case 6: request.orderBy = try field.string() ?? request.orderBy
      case 7: request.mask = try field.mask() ?? request.mask
      case 8: if let id = try field.bytes() { request.consistency = .transaction(id) }
      case 10: if let time = try field.timestamp() { request.consistency = .readTime(time) }
      case 12: request.showMissing = try field.boolean() ?? request.showMissing
      default: break
      }
    }
    self = request
  }

  /// `a desc, b.c, __name__`
  func orderings() throws(RPCStatus) -> [OrderBy] {
    if orderBy.utf8.allSatisfy({ $0 == UInt8(ascii: " ") }) { return [] }
    var result: [OrderBy] = []
    for part in orderBy.split(separator: ",", omittingEmptySubsequences: false) {
      let words = part.split(separator: " ")
      guard let name = words.first, words.count <= 2 else { throw invalidOrder }
      var direction = OrderBy.Direction.ascending
      if words.count == 2 {
        switch words[1].lowercased() {
        case "asc": break
        case "desc": direction = .descending
        default: throw invalidOrder
        }
      }
      result.append(OrderBy(try FieldPath(request: String(name)), direction))
    }
    return result
  }

  private var invalidOrder: RPCStatus {
    RPCStatus(.invalidArgument, "invalid order_by: \(orderBy). It is a list such as \"a desc, __name__\".")
  }

  /// Where the page begins.
  func position(orderings count: Int) throws(RPCStatus) -> Bound? {
    if pageToken.isEmpty { return nil }
    guard let token = PageToken(pageToken), token.values.count == count else {
      throw RPCStatus(.invalidArgument, "invalid page token")
    }
    return Bound(values: token.values, isInclusive: false)
  }
}

/// The last document of a page, by its ordering values.
struct PageToken {
  let values: [Value]

  init(after document: Document, _ orderBy: [OrderBy], _ database: DatabaseID) {
    values = orderBy.map { order in
      order.path.isDocumentID ? .reference(database, document.key) : document[order.path] ?? .null
    }
  }

  init?(_ text: String) {
    guard let bytes = Hexadecimal.bytes(text) else { return nil }
    let values = try? RequestReader.read(bytes) { reader throws(RPCStatus) in
      var values: [Value] = []
      try reader.fields { number, field throws(RPCStatus) in
        if number == 1, let value = try field.value() { values.append(value) }
      }
      return values
    }
    guard let values, case .reference? = values.last else { return nil }
    self.values = values
  }

  var text: String { Hexadecimal.text(message { writer in for value in values { writer.field(1, value: value) } }) }
}

/// Bytes as text, two digits each.
enum Hexadecimal {
  static func text(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  static func bytes(_ text: String) -> [UInt8]? {
    let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }
}
