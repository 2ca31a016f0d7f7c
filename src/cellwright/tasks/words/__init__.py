"""What tasks have in common that read sentences as words: features, batches, embeddings."""
