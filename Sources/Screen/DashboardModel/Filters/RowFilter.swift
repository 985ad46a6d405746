// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery
package import FirestoreText
package import LinearPatterns

/// The filter that `/` means everywhere: terms that must all hold of a row.
///
///     word "two words" ^beginning ~letters /re/ field:value field:>5 field:~part field:/re/ !term
///
/// Capital letters in a word or pattern make it case-sensitive. Values are those of conditions (`ValueReader`), up to the
/// next blank, and compared as Firestore compares them: with those of their own type, and numbers as numbers.
package struct RowFilter: Hashable, Sendable {
  package struct Term: Hashable, Sendable {
    package var condition: Condition
    package var isExcluded = false

    package init(condition: Condition, isExcluded: Bool = false) {
      (self.condition, self.isExcluded) = (condition, isExcluded)
    }
  }

  package enum Condition: Hashable, Sendable {
    case contains(Word)
    /// A row that begins with a text.
    case begins(String)
    case matches(Pattern)
    case field(FieldFilter)
    case fieldContains(FieldPath, Word)
    case fieldMatches(FieldPath, Pattern)
  }

  package struct Word: Hashable, Sendable {
    package let text: String
    package let isExact: Bool

    package init(_ text: String) {
      self.text = text
      isExact = text != text.lowercased()
    }

    func isPart(of candidate: String) -> Bool {
      (isExact ? candidate : candidate.lowercased()).contains(text)
    }
  }

  package let text: String
  package let terms: [Term]

  /// A filter that every row passes.
  package static let none = RowFilter(text: "", terms: [])

  package init(text: String, terms: [Term]) {
    self.text = text
    self.terms = terms
  }

  /// - Throws: the error in the text, with its place.
  package init(_ text: String, in database: DatabaseID) throws(TextError) {
    var parser = FilterParser(text, in: database)
    self.init(text: text, terms: try parser.terms())
  }

  package var isEmpty: Bool { terms.isEmpty }

  /// - Parameters:
  ///   - text: the whole text of the row.
  ///   - documents: the documents for the conditions on fields; each condition must hold for one of them.
  package func matches(_ text: @autoclosure () -> String, in documents: @autoclosure () -> [Document] = []) -> Bool {
    if terms.isEmpty { return true }
    let (text, documents) = (text(), terms.contains(where: \.isAboutField) ? documents() : [])
    return terms.allSatisfy { $0.condition.holds(of: text, documents) != $0.isExcluded }
  }

  /// The parts of a row's text that made it pass, as ranges of its scalars.
  func hits(in text: [Unicode.Scalar]) -> [Range<Int>] {
    terms.filter { !$0.isExcluded }.compactMap(\.condition.shown).flatMap { $0.ranges(in: text) }
  }
}

extension RowFilter.Term {
  var isAboutField: Bool {
    switch condition {
    case .contains, .begins, .matches: false
    case .field, .fieldContains, .fieldMatches: true
    }
  }
}

extension RowFilter.Condition {
  package func holds(of text: String, _ documents: [Document]) -> Bool {
    switch self {
    case .contains(let word): word.isPart(of: text)
    case .begins(let start): text.hasPrefix(start)
    case .matches(let pattern): pattern.matches(text)
    case .field(let filter): documents.contains { filter.holds(of: $0) }
    case .fieldContains(let path, let word): documents.contains { $0.texts(at: path).contains { word.isPart(of: $0) } }
    case .fieldMatches(let path, let pattern):
      documents.contains { $0.texts(at: path).contains { pattern.matches($0) } }
    }
  }

  /// The pattern that the condition highlights in a row.
  fileprivate var shown: Pattern? {
    switch self {
    case .contains(let word), .fieldContains(_, let word): Pattern(literal: word.text, isExact: word.isExact)
    case .begins(let start): Pattern(literal: start, isExact: true)
    case .matches(let pattern), .fieldMatches(_, let pattern): pattern
    case .field(let filter):
      if filter.op == .equal, case .string(let text) = filter.value, !text.isEmpty {
        Pattern(literal: text, isExact: true)
      } else {
        nil
      }
    }
  }
}

extension FieldFilter {
  package func holds(of document: Document) -> Bool {
    Query(path: document.key.collection, filters: [.field(self)]).matches(document)
  }
}

extension Document {
  /// The field as text; of an array, the text of each element.
  fileprivate func texts(at path: FieldPath) -> [String] {
    switch data?[path] {
    case nil: []
    case .array(let values)?: values.prefix(100).map(Self.text)
    case let value?: [Self.text(of: value)]
    }
  }

  private static func text(of value: Value) -> String {
    if case .string(let text) = value { text } else { ColumnText.text(of: value) }
  }
}
