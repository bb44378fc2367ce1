"""What owners do and look at: studies, pools, campaigns, accounts, results, exports."""
