"""Taking a cell or a trained model away: a Python file, an ONNX file, a folder for a hub.

Reads `runs/` and what is below it; `api` and the command line call it.
"""
