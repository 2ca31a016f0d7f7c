"""Networks and models as graphs of ONNX, with the time loop inside. Needs the extra `export`."""
