"""What a campaign costs and gives, before it opens."""
