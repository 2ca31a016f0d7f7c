"""What is shown of frozen language models that encode sentences."""
