// SPDX-License-Identifier: Apache-2.0

/// The manual pages in this folder. They are embedded in the binary, so that no resource files are needed.
package enum ManualPages {
  /// The topic and the Markdown text of every page, in the order of the help.
  package static let sources: [(topic: String, source: [UInt8])] = [
    ("dashboard", PackageResources.Dashboard_md),
    ("commands", PackageResources.Commands_md),
    ("queries", PackageResources.Queries_md),
    ("shell", PackageResources.Shell_md),
    ("serve", PackageResources.Serve_md),
    ("emulator", PackageResources.Emulator_md),
    ("testing", PackageResources.Testing_md),
    ("mcp", PackageResources.Mcp_md),
    ("library", PackageResources.Library_md),
  ]
}
