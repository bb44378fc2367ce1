"""What every route shares: who asks, what they may, how a page is rendered, what is refused."""
