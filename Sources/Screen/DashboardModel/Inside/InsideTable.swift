// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// The parts of the page of a client's inside.
package enum InsideSection: String, CaseIterable, Hashable, Sendable {
  case targets, limbo, streams, lease, cache
  /// The things that a garbage collection would take next.
  case leaving
  /// The pins and lifetimes.
  case kept
  case indexes
  /// The tables of the cache's database.
  case tables
  case queries
  /// The cost of reads.
  case bill
  case fields

  /// Whether the section is about a count of the whole cache.
  package var isSurvey: Bool { self == .cache || self == .leaving || self == .tables }

  /// Whether the section shows a count of the whole cache, at least beside other things.
  package var needsSurvey: Bool { isSurvey || self == .indexes }

  /// The section behind this one, or before it; beyond the last comes the first.
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
    /// Whether the column takes the room that others leave.
    package var isFlexible = false
    /// The order in which columns are left out of a narrow screen, the highest first.
    package var rank = 0
  }

  package struct Row: Sendable {
    package var cells: [String]
    /// Whether the row tells of something that is not as it should be, or that leaves.
    package var isNotable = false
    package var subject: InsideSubject?
    /// More about the row, for whom it is selected.
    package var detail = ""
  }

  /// - Returns: `nil` for the fields, which are those of one collection.
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
  /// The sentence in place of rows.
  package var empty = ""
  /// The sentences about all rows.
  package var notes: [String] = []
}

/// The thing that a row is about, and that `enter` opens.
package enum InsideSubject: Hashable, Sendable {
  case document(DocumentKey)
  case collection(ResourcePath)
  case stream(StreamUse.Kind)
  case retention(Retention)
}

extension ReadPrice {
  /// The cost of a number of reads: `0.000723 USD`, `1.20 USD`.
  package func text(of reads: Int) -> String {
    let millionths = Int((Double(reads) * Double(self.millionths) / 100_000).rounded())
    return "\(Self.amount(millionths)) \(currency)"
  }

  /// Six digits below a hundredth, else two.
  private static func amount(_ millionths: Int) -> String {
    if millionths == 0 { return "0" }
    if millionths < 10_000 { return "0." + String(1_000_000 + millionths).dropFirst() }
    let cents = (millionths + 5_000) / 10_000
    return "\(grouped(cents / 100))." + String(100 + cents % 100).dropFirst()
  }

  /// The assumption in words.
  package var assumption: String {
    "\(text(of: 100_000)) for 100 000 reads: an assumption, as of \(asOf); [bill] in config.toml has your own"
  }
}

/// The circumstances of a table about the inside of a client: what it is compared with.
package struct InsideContext: Sendable {
  /// The time by which ages are told.
  package var now: Timestamp
  package var settings = InsideSettings()
  /// The reads of the last minute by target; `nil` where they were not followed.
  package var lastMinute: [Target: Int]?
  /// Collections that are known beside those of the cache, with the number of documents that the server last told.
  package var known: [ResourcePath: Int?] = [:]
  /// The count of the cache's indexes; `nil` before there was one.
  package var contents: CacheContents?
  /// Whether the server bills reads.
  package var isBilled = true

  package init(_ now: Timestamp) { self.now = now }
}
