#!/usr/bin/env bash
# tests/lint/version.sh - every file that names the version, or the number of the binary interface, has the same.
exec tools/dev/release --check
