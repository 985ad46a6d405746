// SPDX-License-Identifier: Apache-2.0

#if !HEARTH_CORE
  import BenchmarkResults
  import ArgumentParser
  import Foundation
  import Hearth

  /// A client of a server in a separate process. Starts the process, which does the work and prints a report as a line
  /// of JSON. `.ci/measure clients` also starts this process.
  struct ServedClient {
    enum Work: String, CaseIterable {
      /// Listens to the collection `cities` until the backend's snapshot arrives.
      case listen
      /// Listens to a collection with one document that another client changes.
      case change
      /// Updates one document repeatedly, each time until the update is acknowledged.
      case write
    }

    enum Cache: String, CaseIterable { case memory, disk }

    static let project = "compare"
    static let collection = "cities"
    static let changing = "changes/one"
    static let changes = 1_000
    private static let writes = 2_000

    var host = "127.0.0.1"
    let port: Int
    let work: Work
    let cache: Cache

    /// The system clock's time in nanoseconds. It is the same for all processes.
    static func nanosecondsSinceEpoch() -> Int {
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    // MARK: In the client's process

    /// Does the work and prints the result.
    @MainActor func run() async throws {
      let folder = NSTemporaryDirectory() + "hearth-bench-client-\(UUID().uuidString)"
      // A failure leaves files in the temporary folder.
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let client = Firestore.firestore(
        app: FirestoreApp(name: folder, projectID: Self.project, cacheDirectory: folder))
      client.useEmulator(withHost: host, port: port)
      if cache == .memory {
        let settings = client.settings
        settings.cacheSettings = MemoryCacheSettings()
        client.settings = settings
      }
      let result =
        switch work {
        case .listen: try await listen(client)
        case .change: try await change(client)
        case .write: try await write(client)
        }
      print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
      try await client.terminate()
    }

    @MainActor private func listen(_ client: Firestore) async throws -> Result {
      let start = Start()
      var callbacks = Callbacks(client.collection(Self.collection).definition, of: "")
      let event = try await callbacks.next { !$0.snapshot.metadata.isFromCache }
      return Result(start.sample(count: event.snapshot.count))
    }

    @MainActor private func change(_ client: Firestore) async throws -> Result {
      let (stream, continuation) = AsyncThrowingStream<(number: Int, latency: Double), any Error>.makeStream()
      client.collection("changes").addSnapshotListener(includeMetadataChanges: true) { snapshot, error in
        let now = Self.nanosecondsSinceEpoch()
        guard let snapshot else { return continuation.finish(throwing: error) }
        guard !snapshot.metadata.isFromCache, let document = snapshot.documents.first,
          let number = document.get("number") as? Int, let sent = document.get("sent") as? Int
        else { return }
        continuation.yield((number, Double(now - sent) / 1e9))
      }
      let start = Start()
      var latencies: [Double] = []
      for try await (number, latency) in stream {
        if number < 0, latencies.isEmpty {
          print("ready")
          fflush(nil)
        } else if number >= 0 {
          latencies.append(latency)
        }
        if number == Self.changes - 1 { break }
      }
      return Result(start.sample(count: latencies.count), latencies)
    }

    @MainActor private func write(_ client: Firestore) async throws -> Result {
      let document = client.document("writes/\(UUID().uuidString)")
      try await document.setData(["number": -1])
      let start = Start()
      var latencies: [Double] = []
      for number in 0..<Self.writes {
        let begun = ContinuousClock.now
        try await document.updateData(["number": number])
        latencies.append(seconds(from: begun))
      }
      return Result(start.sample(count: latencies.count), latencies)
    }
  }

  extension ServedClient {
    /// - Throws: `ValidationError` if the kind of work is unknown.
    init(work: String, at address: String, cache: String) throws {
      guard let work = Work(rawValue: work) else {
        throw ValidationError("--served-client \(work): give listen, change or write.")
      }
      guard let cache = Cache(rawValue: cache) else {
        throw ValidationError("--served-client needs --cache memory or disk.")
      }
      guard let found = address.wholeMatch(of: /(.+):(\d+)/), let port = Int(found.2) else {
        throw ValidationError("--served-client needs --served-at HOST:PORT.")
      }
      self.init(host: String(found.1), port: port, work: work, cache: cache)
    }

    /// The report of a client. Google's clients report the same values, apart from processor time and allocations.
    struct Result: Codable {
      /// The number of documents received or operations timed.
      var count: Int
      var seconds: Double
      var processorSeconds: Double
      var allocations: Double
      /// The durations of single operations in seconds.
      var latencies: [Double]
      /// The peak resident memory of the process, in MB.
      var peak: Double

      init(_ sample: Sample, _ latencies: [Double] = []) {
        (count, seconds, processorSeconds) = (Int(sample.count), sample.wall, sample.cpu)
        (allocations, self.latencies, peak) = (sample.allocations, latencies, ProcessMemory.peak ?? 0)
      }

      var sample: Sample {
        Sample(wall: seconds, cpu: processorSeconds, count: Double(count), allocations: allocations)
      }

      /// The median duration and processor time of single operations. The processor time includes everything that the
      /// client did during an operation.
      var reading: Reading {
        var reading = Reading(unit: .microseconds, samples: [sample])
        reading.samples[0].wall = latencies.median * Double(count)
        reading.latencies = latencies
        reading.peak = peak
        return reading
      }
    }

    /// A client's process and its output.
    struct Started {
      fileprivate let process: Process
      fileprivate let output: FileHandle

      /// Waits until the listener has its first snapshot.
      func waitUntilReady() throws {
        var text = Data()
        while text != Data("ready\n".utf8) {
          let byte = try output.read(upToCount: 1) ?? Data()
          guard !byte.isEmpty else { throw SQLiteFloor.Failure(description: "The client ended before it was ready.") }
          text += byte
        }
      }

      func result() throws -> Result {
        let text = try output.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
          throw SQLiteFloor.Failure(description: "The client ended with \(process.terminationStatus).")
        }
        return try JSONDecoder().decode(Result.self, from: text)
      }
    }

    /// Starts the client in a separate process.
    func start() throws -> Started {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      process.arguments = [
        "--served-client", work.rawValue, "--served-at", "\(host):\(port)", "--cache", cache.rawValue,
      ]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      return Started(process: process, output: output.fileHandleForReading)
    }
  }
#endif
