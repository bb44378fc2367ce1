"""Agreement between annotators: judgments in, figures with their intervals out."""
