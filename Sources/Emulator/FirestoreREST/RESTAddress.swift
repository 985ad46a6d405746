// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreProtoJSON

/// The components of a request's target, `/v1/projects/p/databases/d/documents/c/a?mask.fieldPaths=x`.
struct RESTAddress {
  /// The segments after `/v1/`, unchanged.
  let segments: [Substring]
  /// The parameters of the request, without general ones such as `alt` and `key`.
  let parameters: [(name: String, value: String)]
  /// Whether responses are formatted on several lines. As in Google's servers, this is the default, and
  /// `prettyPrint=false` turns it off.
  let isPretty: Bool
  /// The error for an unsupported parameter.
  let objection: RPCStatus?

  init(_ target: String) {
    let path = target.prefix { $0 != "?" && $0 != "#" }
    let root = RESTCall.root(of: target) ?? ""
    segments = path.dropFirst(root.count).split(separator: "/", omittingEmptySubsequences: false)
    var (parameters, isPretty, objection) = ([(name: String, value: String)](), true, RPCStatus?.none)
    let query = target.dropFirst(path.count).prefix { $0 != "#" }.dropFirst()
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = PercentEncoding.decoded(parts[0], spaces: true)
      let value = parts.count > 1 ? PercentEncoding.decoded(parts[1], spaces: true) : ""
      switch name.hasPrefix("$") ? String(name.dropFirst()) : name {
      case "prettyPrint": isPretty = value != "false" && value != "0"
      case "alt":
        if value.prefix(while: { $0 != ";" }) != "json" {
          objection = .invalid("alt=\(value.shortened) is not supported. Responses are JSON.")
        }
      case "fields" where !value.isEmpty:
        objection = .invalid(
          "The parameter 'fields' is not supported. Use 'mask.fieldPaths' to select fields of documents.")
      case "callback": objection = .invalid("The parameter 'callback' is not supported. Responses are JSON.")
      // Parameters that identify the caller are ignored.
      case "key", "access_token", "oauth_token", "quotaUser", "userIp", "uploadType", "upload_protocol", ".xgafv",
        "xgafv", "fields":
        break
      default: parameters.append((name, value))
      }
    }
    (self.parameters, self.isPretty, self.objection) = (parameters, isPretty, objection)
  }

  /// The parameters as an object: `a.b=1` is `{"a": {"b": "1"}}`, and a repeated parameter is an array.
  var fields: JSONSyntax {
    var fields = JSONSyntax(.object([]))
    for (name, value) in parameters { fields.add(value, at: name.split(separator: ".")[...]) }
    return fields
  }
}

extension JSONSyntax {
  /// The maximum depth. No field of a request is nested that deep.
  private static let mostLevels = 8

  fileprivate mutating func add(_ text: String, at path: ArraySlice<Substring>) {
    guard case .object(var members) = kind, path.count <= Self.mostLevels, let name = path.first.map(String.init) else {
      return
    }
    let index = members.firstIndex { $0.name == name }
    if path.count == 1 {
      switch index.map({ members[$0].value.kind }) {
      case .array(let elements)?:
        if let index { members[index].value.kind = .array(elements + [JSONSyntax(.string(text))]) }
      case .string(let first)?:
        if let index { members[index].value.kind = .array([JSONSyntax(.string(first)), JSONSyntax(.string(text))]) }
      default: members.append(Member(name, JSONSyntax(.string(text))))
      }
    } else if let index {
      members[index].value.add(text, at: path.dropFirst())
    } else {
      var inner = JSONSyntax(.object([]))
      inner.add(text, at: path.dropFirst())
      members.append(Member(name, inner))
    }
    kind = .object(members)
  }
}

/// Percent-encoding (RFC 3986 §2.1).
package enum PercentEncoding {
  /// Decodes a text. A percent sign without two digits is unchanged.
  /// - Parameters:
  ///   - spaces: whether a plus is a space, as in queries.
  ///   - slashes: whether to decode encoded slashes. In names with several segments, they must remain encoded.
  package static func decoded(_ text: Substring, spaces: Bool = false, slashes: Bool = true) -> String {
    String(decoding: bytes(of: Array(text.utf8)[...], spaces: spaces, slashes: slashes), as: UTF8.self)
  }

  package static func bytes(of text: ArraySlice<UInt8>, spaces: Bool = false, slashes: Bool = true) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let high = rest.first?.hexDigit, let low = rest.dropFirst().first?.hexDigit,
        slashes || high << 4 | low != UInt8(ascii: "/")
      {
        bytes.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(spaces && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return bytes
  }
}

extension UInt8 {
  fileprivate var hexDigit: UInt8? {
    switch self {
    case 0x30...0x39: self - 0x30
    case 0x41...0x46, 0x61...0x66: (self & 0xDF) - 0x37
    default: nil
    }
  }
}
