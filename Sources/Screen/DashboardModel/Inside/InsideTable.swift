// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// The sections of the page about a client's internals.
package enum InsideSection: String, CaseIterable, Hashable, Sendable {
  case targets, limbo, streams, lease, cache
  /// The entries that a garbage collection would evict next.
  case leaving
  /// The pins and lifetimes.
  case kept
  case indexes
  /// The tables of the cache's database.
  case tables
  case queries
  /// The cost of the documents that were read.
  case bill
  case fields

  /// Whether the section shows statistics of the whole cache.
  package var isSurvey: Bool { self == .cache || self == .leaving || self == .tables }

  /// Whether the section needs statistics of the whole cache, at least for some rows.
  package var needsSurvey: Bool { isSurvey || self == .indexes }

  /// The next or previous section. The last section is followed by the first.
  package func next(by step: Int) -> InsideSection {
    let all = Self.allCases
    let place = all.firstIndex(of: self) ?? 0
    return all[((place + step) % all.count + all.count) % all.count]
  }
}

/// One section of the page as a table, for the screen and for commands.
package struct InsideTable: Sendable {
  package struct Column: Sendable {
    package var title: String
    package var isNumber = false
    /// Whether the column uses the remaining width.
    package var isFlexible = false
    /// The rank of the column. On narrow screens, columns with the highest rank are omitted first.
    package var rank = 0
  }

  package struct Row: Sendable {
    package var cells: [String]
    /// Whether the row shows a problem or an eviction.
    package var isNotable = false
    package var subject: InsideSubject?
    /// Details about the row. They are shown while the row is selected.
    package var detail = ""
  }

  /// - Returns: `nil` for the section about the fields of one collection.
  package static func of(
    _ section: InsideSection, _ inside: ClientInside, _ survey: CacheSurvey, _ context: InsideContext
  ) -> InsideTable? {
    var context = context
    context.contents = survey.contents
    return section.isSurvey ? of(section, survey, context) : of(section, inside, context)
  }

  /// - Returns: `nil` for other sections.
  package static func of(
    _ section: InsideSection, _ inside: ClientInside, _ context: InsideContext
  ) -> InsideTable? {
    switch section {
    case .targets: targets(of: inside, at: context.now)
    case .limbo: limbo(of: inside)
    case .kept: kept(of: inside, at: context.now)
    case .indexes: indexes(of: inside, context.contents)
    case .streams: streams(of: inside, at: context.now)
    case .lease: lease(of: inside, at: context.now)
    case .queries: queries(of: inside, context.settings.budget)
    case .bill: bill(of: inside, context)
    case .cache, .leaving, .tables, .fields: nil
    }
  }

  /// - Returns: `nil` for other sections.
  package static func of(_ section: InsideSection, _ survey: CacheSurvey, _ context: InsideContext) -> InsideTable? {
    switch section {
    case .cache: cache(survey, context)
    case .leaving: leaving(survey, context)
    case .tables: tables(of: survey)
    case .targets, .limbo, .streams, .lease, .kept, .indexes, .queries, .bill, .fields: nil
    }
  }

  package var columns: [Column]
  package var rows: [Row] = []
  /// The sentence that is shown if there are no rows.
  package var empty = ""
  /// Sentences that apply to all rows.
  package var notes: [String] = []
}

/// The subject of a row. `enter` opens it.
package enum InsideSubject: Hashable, Sendable {
  case document(DocumentKey)
  case collection(ResourcePath)
  case stream(StreamUse.Kind)
  case retention(Retention)
}

extension ReadPrice {
  /// The cost of a count of reads: `0.000723 USD`, `1.20 USD`.
  package func text(of reads: Int) -> String {
    let millionths = Int((Double(reads) * Double(self.millionths) / 100_000).rounded())
    return "\(Self.amount(millionths)) \(currency)"
  }

  /// An amount of money. Amounts below 0.01 have six decimals, other amounts have two.
  private static func amount(_ millionths: Int) -> String {
    if millionths == 0 { return "0" }
    if millionths < 10_000 { return "0." + String(1_000_000 + millionths).dropFirst() }
    let cents = (millionths + 5_000) / 10_000
    return "\(grouped(cents / 100))." + String(100 + cents % 100).dropFirst()
  }

  /// The assumed price as text.
  package var assumption: String {
    "\(text(of: 100_000)) for 100 000 reads: an assumption, as of \(asOf); [bill] in config.toml has your own"
  }
}

/// Additional data for the tables about a client's internals: the current time, the user's settings, and reference
/// counts.
package struct InsideContext: Sendable {
  /// The time to which ages are relative.
  package var now: Timestamp
  package var settings = InsideSettings()
  /// The count of reads of each target in the last minute; `nil` if they were not recorded.
  package var lastMinute: [Target: Int]?
  /// The document counts that the server last reported for collections, including those that are not cached.
  package var known: [ResourcePath: Int?] = [:]
  /// The statistics of the cache's contents; `nil` before they are first computed.
  package var contents: CacheContents?
  /// Whether the server bills reads.
  package var isBilled = true

  package init(_ now: Timestamp) { self.now = now }
}
