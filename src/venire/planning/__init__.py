"""What a campaign will cost and give, before and while it runs."""
