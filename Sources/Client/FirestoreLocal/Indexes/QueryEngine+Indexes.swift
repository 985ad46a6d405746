// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite

/// Executes queries with indexes. The index entries identify documents that may match; each of these documents is read
/// and checked. Documents with pending writes are added separately, as in a scan, so the result is the same as without
/// indexes.
extension QueryEngine {
  /// The cost of reading one document by its number: as much as scanning this many documents.
  private static let lookupCost = 4
  /// The cost of reading one document by its number: as much as reading this many index entries.
  private static let entriesPerLookup = 8

  /// - Returns: `nil` if no index is usable for the query, or if a scan is cheaper.
  func indexed(_ query: Query, _ data: TargetData?) throws(StoreError) -> QueryResult? {
    let collections = try collections(of: query)
    guard let first = collections.first else { return nil }
    let indexes = try database.indexes.indexes(of: first)
    guard !indexes.isEmpty, let plan = IndexPlan(query.target, indexes) else { return nil }
    var size = 0
    for collection in collections { size += try database.documents.extent(of: collection) }
    let budget = max(16, size / Self.lookupCost)

    if let limit = query.limit, let ordered = plan.ordered {
      // Tries with a small budget first, because this may read many documents if the entries do not cover all
      // conditions.
      let short = limit < budget / 4 ? min(4 * limit + 100, budget) : budget
      if let result = try streaming(ordered, query, data, collections, limit, atMost: short) { return result }
      if short == budget { return nil }
      if let found = try documents(of: plan, in: collections, atMost: budget) {
        return try reading(found, query, data, collections)
      }
      return try streaming(ordered, query, data, collections, limit, atMost: budget)
    }
    guard let found = try documents(of: plan, in: collections, atMost: budget) else { return nil }
    return try reading(found, query, data, collections)
  }

  // MARK: In order

  /// Reads each range in the query's order until it has found `limit` matching documents.
  /// - Returns: `nil` if more than `budget` documents would have to be read.
  private func streaming(
    _ candidates: [IndexCandidate], _ query: Query, _ data: TargetData?, _ collections: [CollectionNumber],
    _ limit: Int, atMost budget: Int
  ) throws(StoreError) -> QueryResult? {
    let hits = Hits(query)
    let matcher = StoredMatcher(query.target)
    /// The numbers of the documents that were read, and whether each matches.
    var read: [DocumentNumber: Bool] = [:]
    var keys: [DocumentNumber: DocumentKey] = [:]
    var entries = 0
    for collection in collections {
      let overlaid = try considerOverlaid(collection, hits)
      let path = try database.collections.path(of: collection)
      for candidate in candidates {
        var matched = 0
        var lastKey: [UInt8] = []
        try database.indexes.read(candidate.range, in: collection, isReversed: candidate.isReversed) {
          key, number throws(StoreError) in
          // A document with the same key as the last one may precede it in the query's order.
          if matched >= limit, !key.elementsEqual(lastKey) { return false }
          entries += 1
          if overlaid.contains(number) { return true }
          var isMatch = read[number]
          if isMatch == nil {
            if read.count >= budget {
              read[number] = false
              return false
            }
            isMatch = false
            try database.documents.read(number) { row throws(StoreError) in
              guard row.isFound, matcher.matches(row, in: path) else { return }
              isMatch = true
              keys[number] = row.key(in: path)
              try hits.consider(row, in: path, isAdmitted: true)
            }
            read[number] = isMatch
          }
          if isMatch == true {
            matched += 1
            if matched == limit { lastKey = Array(key) }
          }
          return true
        }
        if read.count > budget { return nil }
      }
    }
    var remoteKeys: Set<DocumentKey> = []
    var unknown: [DocumentNumber] = []
    for number in try members(of: data).numbers {
      if let key = keys[number] { remoteKeys.insert(key) } else { unknown.append(number) }
    }
    remoteKeys.formUnion(try resolve(RemoteKeys(unknown)))
    let uses = candidates.map { IndexUse($0, servesOrder: true) }
    return QueryResult(
      matches: hits.finish().documents, remoteKeys: remoteKeys, plan: .index, documentsScanned: read.count,
      entriesRead: entries, indexes: uses.unique)
  }

  // MARK: As sets

  /// The documents that an index found. They may match the query.
  private struct Found {
    /// The documents' numbers, ascending, without duplicates.
    var numbers: [DocumentNumber] = []
    var uses: [IndexUse] = []
    var entries = 0
    /// Whether all of the documents match, so that none of them has to be checked.
    var isExact = false
  }

  private func reading(
    _ found: Found, _ query: Query, _ data: TargetData?, _ collections: [CollectionNumber]
  ) throws(StoreError) -> QueryResult {
    let hits = Hits(query, try members(of: data))
    var rest = found.numbers[...]
    var scanned = 0
    for collection in collections {
      let overlaid = try considerOverlaid(collection, hits)
      let path = try database.collections.path(of: collection)
      while let number = rest.first, number.collection == collection {
        rest.removeFirst()
        if overlaid.contains(number) { continue }
        scanned += 1
        try database.documents.read(number) { row throws(StoreError) in
          if row.isFound { try hits.consider(row, in: path, isAdmitted: found.isExact) }
        }
      }
    }
    let hints = hits.takeHints()
    let (documents, remote) = hits.finish()
    return QueryResult(
      matches: documents, hints: hints, remoteKeys: try resolve(remote), plan: .index, documentsScanned: scanned,
      entriesRead: found.entries, indexes: found.uses.unique)
  }

  /// The documents that the indexes find for at least one alternative.
  /// - Returns: `nil` if there are more than `budget` documents.
  private func documents(
    of plan: IndexPlan, in collections: [CollectionNumber], atMost budget: Int
  ) throws(StoreError) -> Found? {
    var union = Found()
    var isKnown: Set<[IndexRange]> = []
    for candidates in plan.alternatives where isKnown.insert(candidates.map(\.range)).inserted {
      guard let found = try intersection(of: candidates, in: collections, atMost: budget) else { return nil }
      union.numbers += found.numbers
      union.uses += found.uses
      union.entries += found.entries
      union.isExact = found.isExact && plan.alternatives.count == 1
      if union.numbers.count > budget { return nil }
    }
    if plan.alternatives.count > 1 {
      union.numbers.sort()
      union.numbers = union.numbers.unique
    }
    return union
  }

  /// Takes the documents of the index use that finds the fewest documents, and intersects them with the documents of
  /// index uses that cover other conditions.
  private func intersection(
    of candidates: [IndexCandidate], in collections: [CollectionNumber], atMost budget: Int
  ) throws(StoreError) -> Found? {
    var found = Found()
    var cap = min(256, budget)
    var chosen: Int?
    search: while true {
      for (index, candidate) in candidates.enumerated() {
        guard let numbers = try numbers(in: candidate.range, collections, atMost: cap, &found.entries) else { continue }
        found.numbers = numbers
        chosen = index
        break search
      }
      if cap == budget { break }
      cap = min(4 * cap, budget)
    }
    guard let chosen else { return nil }
    found.isExact = candidates[chosen].isExact
    found.uses.append(IndexUse(candidates[chosen], servesOrder: false))
    var served = Set(candidates[chosen].served)
    for (index, candidate) in candidates.enumerated() where index != chosen {
      if found.numbers.count < Self.entriesPerLookup || candidate.served.allSatisfy(served.contains) { continue }
      let worthwhile = Self.entriesPerLookup / 2 * found.numbers.count
      guard let numbers = try numbers(in: candidate.range, collections, atMost: worthwhile, &found.entries) else {
        continue
      }
      let others = Set(numbers)
      found.numbers.removeAll { !others.contains($0) }
      found.uses.append(IndexUse(candidate, servesOrder: false))
      served.formUnion(candidate.served)
    }
    return found
  }

  /// - Returns: the documents' numbers, ascending, without duplicates; `nil` if there are more than `cap` entries.
  private func numbers(
    in range: IndexRange, _ collections: [CollectionNumber], atMost cap: Int, _ entries: inout Int
  ) throws(StoreError) -> [DocumentNumber]? {
    var numbers: [DocumentNumber] = []
    for collection in collections {
      try database.indexes.collect(range, in: collection, atMost: cap + 1 - numbers.count, into: &numbers)
      if numbers.count > cap { break }
    }
    entries += numbers.count
    if numbers.count > cap { return nil }
    numbers.sort()
    return numbers.unique
  }
}

extension IndexUse {
  fileprivate init(_ candidate: IndexCandidate, servesOrder: Bool) {
    self.init(
      index: candidate.index.definition, servedFilters: candidate.served, servesOrder: servesOrder)
  }
}

extension [DocumentNumber] {
  /// A copy without duplicates; the array must be sorted.
  fileprivate var unique: [DocumentNumber] {
    var previous: DocumentNumber?
    return filter { number in
      defer { previous = number }
      return number != previous
    }
  }
}

extension [IndexUse] {
  fileprivate var unique: [IndexUse] {
    var seen: Set<IndexUse> = []
    return filter { seen.insert($0).inserted }
  }
}
