"""Content of documents and instructions for display: plain data or safe HTML."""
