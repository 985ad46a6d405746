// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON

/// Strict reading: what is missing or of another kind is an error at its place.
extension JSONSyntax {
  func members() throws(JSONError) -> [Member] {
    guard case .object(let members) = kind else { throw error("Expected an object, found \(kindName).") }
    return members
  }

  func elements() throws(JSONError) -> [JSONSyntax] {
    guard case .array(let elements) = kind else { throw error("Expected an array, found \(kindName).") }
    return elements
  }

  func string() throws(JSONError) -> String {
    guard case .string(let string) = kind else { throw error("Expected a string, found \(kindName).") }
    return string
  }

  func integer() throws(JSONError) -> Int {
    guard case .integer(let integer) = kind else { throw error("Expected an integer, found \(kindName).") }
    return Int(integer)
  }

  func boolean() throws(JSONError) -> Bool {
    guard case .boolean(let boolean) = kind else { throw error("Expected true or false, found \(kindName).") }
    return boolean
  }

  var isNull: Bool { if case .null = kind { true } else { false } }

  func member(_ name: String) throws(JSONError) -> JSONSyntax {
    guard let value = self[name] else { throw error("Expected a member \"\(name)\".") }
    return value
  }

  func only(_ names: Set<String>) throws(JSONError) {
    for member in try members() where !names.contains(member.name) {
      throw member.value.error("Unknown member \"\(member.name)\".")
    }
  }

  func strings() throws(JSONError) -> [String] {
    var strings: [String] = []
    for element in try elements() { strings.append(try element.string()) }
    return strings
  }

  func pair() throws(JSONError) -> (JSONSyntax, JSONSyntax) {
    let elements = try elements()
    guard elements.count == 2 else { throw error("Expected two elements, found \(elements.count).") }
    return (elements[0], elements[1])
  }
}
