//go:build tools

// Package tools names the programs that get-bazel-remote builds, so that go.mod and go.sum pin them and all that they need.
package tools

import (
	_ "github.com/bazelbuild/remote-apis-sdks/go/cmd/remotetool"
	_ "github.com/buchgr/bazel-remote/v2"
)
