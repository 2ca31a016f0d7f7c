"""Tests of `cellwright.data`. A package, so that its fixtures do not meet those of others."""
