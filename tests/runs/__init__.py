"""Tests of `cellwright.runs`. A package, so that its helpers do not meet those of others."""
