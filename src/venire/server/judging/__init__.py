"""The annotator's side: batches out, events in, gold checked, nothing lost."""
