"""The owner's verbs: studies, pools, campaigns, people, decisions, exports, jobs."""
