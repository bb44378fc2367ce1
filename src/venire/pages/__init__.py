"""The owner's pages. A route calls the verbs that the API calls, and renders."""
