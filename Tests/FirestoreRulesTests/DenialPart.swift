// SPDX-License-Identifier: Apache-2.0

/// What a denial says of one statement: `false for 'get' @ L6`. The emulator says some of it twice, and of writes also what
/// the other of create and update would have come to; here each is said once, of the method that it is.
struct DenialPart: Hashable {
  var text: String
  var method: String
  var line: Int

  static func parts(of denial: String) -> [DenialPart] {
    denial.matches(of: /\s*(.*?) for '([a-z]+)' @ L([0-9]+)(, |$)/.dotMatchesNewlines()).map { match in
      DenialPart(text: String(match.1), method: String(match.2), line: Int(match.3) ?? 0)
    }
  }

  /// Texts that differ on purpose, by their beginnings.
  private static let differences: [(theirs: String, own: String, reason: String)] = [
    (
      "Service call error. Function: [", "Service call error. Function: [",
      "the path is a path, and what is wrong is said"
    ),
    ("Null value error.", "Service call error. Function: [get", "the document that is not there is named"),
    ("Service call error. Function: [exists]", "Service call error. At most 10", "the limit is said"),
    ("false", "evaluation error at ", "what a query leaves open is neither true nor false"),
    ("Property n is undefined", "evaluation error at ", "of several alternatives another fails first"),
    ("Equality is not defined for type CONSTRAINT_VALUE", "evaluation error at ", "there is no such type in rules"),
    ("false", "Null value error.", "a variable of the path that a query leaves open"),
    ("Variable  is not bound in path template.", "Null value error.", "the same"),
    ("Variable read error. Variable: [resource].", "Null value error.", "a document that is not there has no data"),
    ("evaluation error at ", "Property __name__ is undefined", "a query leaves open which document it finds"),
    ("Invalid regular expression pattern. Pattern: x.", "Invalid unit of duration: x.", "it is no pattern"),
    ("Duration is not valid. Seconds", "Duration is not valid: more than ten thousand years.", "the same limit"),
    ("Duration is not valid. Seconds", "Integer value is out of the", "of this the seconds are no integer"),
  ]

  /// Whether the emulator's part says the same of the same statement.
  func says(_ theirs: DenialPart) -> Bool {
    guard method == theirs.method, line == theirs.line else { return false }
    return text == theirs.text
      || Self.differences.contains { text.hasPrefix($0.own) && theirs.text.hasPrefix($0.theirs) }
  }
}
