// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreText

/// `bob`, the name of a client in commands: a letter, then letters, digits, `-` and `_`.
enum StageName {
  static let longest = 12
  /// The words that stand where a name could.
  static let words = ["add", "remove"]

  static func check(_ name: String, column: Int = 1) throws(TextError) {
    func isLetter(_ character: Character) -> Bool { character.isASCII && character.isLetter }
    guard let first = name.first, isLetter(first),
      name.allSatisfy({ isLetter($0) || $0.isASCII && $0.isNumber || $0 == "-" || $0 == "_" }),
      name.count <= longest
    else {
      throw TextError(
        column: column,
        "a client's name is a letter and then letters, digits, - or _, \(longest) in all at most: bob, phone-2")
    }
    if words.contains(name) {
      throw TextError(column: column, "\(name) is a word of this command; another name tells the client apart from it")
    }
  }

  /// The longest user that is taken.
  private static let longestUser = 128

  /// A uid, as Firebase Authentication has them.
  static func check(user: String, column: Int) throws(TextError) {
    guard !user.isEmpty, user.count <= longestUser,
      user.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
    else {
      throw TextError(column: column, "a user is a uid of 1 to \(longestUser) signs without blanks")
    }
  }
}
