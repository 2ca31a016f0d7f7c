"""Trained models as folders in Hugging Face's manner; `runs.model_folder` opens them again."""
