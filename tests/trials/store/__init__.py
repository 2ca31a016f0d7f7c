"""Tests of the store and of studies."""
