"""The studio: a local page that follows trainings, searches, studies and comparisons as they run.

It reads and never writes. `found` knows what a folder holds, the `…_view` files what the page is
told of each kind, `watch` what has changed, `server` who may ask. `page/` is what the browser gets.
Nothing but the command line imports it.
"""
