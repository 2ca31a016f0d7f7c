"""Tests of `cellwright.run`. A package, so that its helpers do not meet those of others."""
