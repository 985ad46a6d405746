// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A text search: the words that a document's texts must contain, or must not contain (`-word`). Case is ignored, and
/// words in quotes must be adjacent.
struct SearchQuery {
  /// The number of occurrences above which further ones have little effect on the score (the usual value in BM25).
  private static let saturation = 1.2

  private let wanted: [[String]]
  private let unwanted: [[String]]

  init(_ text: String) {
    var (wanted, unwanted) = ([[String]](), [[String]]())
    var rest = Array(text.unicodeScalars)[...]
    while let first = rest.first {
      if first.properties.isWhitespace {
        rest.removeFirst()
        continue
      }
      let isUnwanted = first == "-"
      if isUnwanted { rest.removeFirst() }
      let isQuoted = rest.first == "\""
      if isQuoted { rest.removeFirst() }
      let end = rest.firstIndex { isQuoted ? $0 == "\"" : $0.properties.isWhitespace } ?? rest.endIndex
      let phrase = Self.words(rest[..<end])
      if !phrase.isEmpty { if isUnwanted { unwanted.append(phrase) } else { wanted.append(phrase) } }
      rest = rest[end...].dropFirst(isQuoted ? 1 : 0)
    }
    (self.wanted, self.unwanted) = (wanted, unwanted)
  }

  /// The score of the texts in the fields, at any depth, above 0 and below 1; `nil` if they do not match, or if the
  /// caller has stopped waiting.
  func score(_ fields: Fields, _ work: PipelineWork) -> Double? {
    var texts: [[String]] = []
    Self.collect(.map(fields), into: &texts)
    if unwanted.contains(where: { count($0, in: texts, work) > 0 }) { return nil }
    var score = 0.0
    for phrase in wanted {
      let found = count(phrase, in: texts, work)
      if found == 0 { return nil }
      score += Double(found) / (Double(found) + Self.saturation)
    }
    return wanted.isEmpty ? nil : score / Double(wanted.count)
  }

  private func count(_ phrase: [String], in texts: [[String]], _ work: PipelineWork) -> Int {
    texts.reduce(0) { count, words in
      guard words.count >= phrase.count else { return count }
      return count
        + (0...(words.count - phrase.count)).count { start in
          work.goesOn() && words[start] == phrase[0] && words[start...].starts(with: phrase)
        }
    }
  }

  private static func collect(_ value: Value, into texts: inout [[String]]) {
    switch value {
    case .string(let text): texts.append(words(Array(text.unicodeScalars)[...]))
    case .array(let elements): for element in elements { collect(element, into: &texts) }
    case .map(let fields): for entry in fields.entries { collect(entry.value, into: &texts) }
    default: break
    }
  }

  /// The groups of adjacent letters and digits, in lower case.
  private static func words(_ scalars: ArraySlice<Unicode.Scalar>) -> [String] {
    scalars.split { !$0.properties.isAlphabetic && $0.properties.numericType == nil }.map { word in
      var text = String.UnicodeScalarView()
      text.append(contentsOf: word)
      return String(text).lowercased()
    }
  }
}
