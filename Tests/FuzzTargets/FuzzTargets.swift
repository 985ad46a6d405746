// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A part that reads bytes of others, fuzzed with LLVM's libFuzzer: `HEARTH_FUZZ_TARGET=NAME FuzzTargets [OPTION…] [CORPUS]`.
/// With `HEARTH_FUZZ_SEEDS=FOLDER` it writes the inputs to begin with. `.ci/fuzz` builds and runs it. A trap, a hang or
/// unbounded memory is a failure.
protocol FuzzTarget {
  var seeds: [[UInt8]] { get }
  func run(_ bytes: [UInt8])
}

private nonisolated(unsafe) var target: (any FuzzTarget)?

private func make(_ name: String) throws -> (any FuzzTarget)? {
  switch name {
  case "server": try ServerFrames()
  case "calls": try ServerCalls()
  case "client": ClientFrames()
  case "headers": HeaderBlocks()
  case "messages": ResponseMessages()
  case "json", "rules", "toml", "query": TextTarget(name)
  default: nil
  }
}

private func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// Called by libFuzzer at the start.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(_: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?) -> Int32 {
  do { target = try make(variable("HEARTH_FUZZ_TARGET") ?? "") } catch { print(error) }
  guard let target else {
    print("HEARTH_FUZZ_TARGET is one of server, calls, client, headers, messages, json, rules, toml and query.")
    exit(64)
  }
  guard let folder = variable("HEARTH_FUZZ_SEEDS") else { return 0 }
  for (number, seed) in target.seeds.enumerated() {
    guard let file = fopen("\(folder)/seed-\(number)", "w") else { exit(66) }
    fwrite(seed, 1, seed.count, file)
    fclose(file)
  }
  exit(0)
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  target?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}
