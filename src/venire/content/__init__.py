"""What a judge is shown: text, entities, pages and instructions, as plain data or safe HTML."""
